/* Eight threads start, poll, wait, cancel, finalize and free jobs in every state, on one engine after another.
 *   storm FIXTURE SECONDS [SEED] */
#include "common.h"
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 8, LEFT = 3 };

typedef struct shared {
    const fixture *f;
    groth16_engine *engine;
    groth16_circuit *circuit;
    groth16_pk *pk;
    double until;
    atomic_ulong proofs, refused, cancelled, callbacks;
} shared;

typedef struct worker {
    pthread_t thread;
    shared *all;
    uint64_t rng;
    /* Jobs that are alive when the engine is freed. */
    groth16_job *left[LEFT];
} worker;

static void check_result(shared *all, groth16_job *job) {
    unsigned char proof[192];
    size_t len = 0;
    groth16_status status = groth16_finalize(job, proof, sizeof proof, &len);
    if (status == GROTH16_OK) {
        CHECK(len == 192 && memcmp(proof, all->f->proof.data, 192) == 0);
        atomic_fetch_add(&all->proofs, 1);
    } else {
        CHECK(status == GROTH16_E_CANCELLED || status == GROTH16_E_SHUTDOWN);
        atomic_fetch_add(&all->cancelled, 1);
    }
}

/* NULL where the queue is full. */
static groth16_job *start(shared *all, groth16_job_options *options) {
    groth16_job *job = NULL;
    groth16_status status = groth16_start(all->engine, all->pk, options, &job);
    if (status == GROTH16_E_QUEUE_FULL) {
        CHECK(job == NULL);
        atomic_fetch_add(&all->refused, 1);
        return NULL;
    }
    OK(status);
    return job;
}

static void nap(uint64_t *rng) {
    static const long longest[] = {1, 1000, 100000, 2000000};
    struct timespec t = {0, (long)random_below(rng, (uint64_t)longest[random_below(rng, 4)])};
    nanosleep(&t, NULL);
}

/* The callback's own job: freed there or left to the thread. */
typedef struct ticket {
    shared *all;
    int frees;
    atomic_int events, done;
} ticket;

static void on_event(void *user, groth16_job *job, groth16_event event) {
    ticket *t = user;
    groth16_progress progress;
    GROTH16_INIT(&progress);
    OK(groth16_poll(job, &progress));
    if (event == GROTH16_EVENT_ABC_RELEASED) {
        CHECK(atomic_fetch_add(&t->events, 1) == 0 && progress.abc_released);
        /* A call that could wait is refused, not hung. */
        groth16_circuit *circuit = NULL;
        groth16_circuit_options options;
        GROTH16_INIT(&options);
        STATUS(GROTH16_E_INVALID, groth16_circuit_load(t->all->engine, &options, &circuit));
        return;
    }
    CHECK(event == GROTH16_EVENT_TERMINAL && progress.state >= GROTH16_DONE);
    check_result(t->all, job);
    if (t->frees) groth16_free(job);
    atomic_fetch_add(&t->all->callbacks, 1);
    atomic_store(&t->done, 1);
}

static void with_events(worker *w, groth16_job_options *options) {
    ticket t = {.all = w->all, .frees = (int)random_below(&w->rng, 2)};
    options->event = on_event;
    options->event_user = &t;
    groth16_job *job = start(w->all, options);
    if (!job) return;
    /* A callback that frees may already have run: then the handle is gone. */
    if (!t.frees) {
        nap(&w->rng);
        if (random_below(&w->rng, 2)) groth16_cancel(job);
        groth16_free(job);
        CHECK(atomic_load(&t.done));
    }
    while (!atomic_load(&t.done)) sched_yield();
}

static void *helper(void *argument) {
    groth16_job *job = argument;
    groth16_progress progress;
    int32_t last = 0;
    for (;;) {
        GROTH16_INIT(&progress);
        OK(groth16_poll(job, &progress));
        CHECK(progress.state >= last);
        last = progress.state;
        if (last >= GROTH16_DONE) return NULL;
        groth16_status status = groth16_wait(job, 50000);
        CHECK(status == GROTH16_OK || status == GROTH16_E_TIMEOUT);
    }
}

/* Three threads use one handle; it is freed after them. */
static void shared_handle(worker *w, groth16_job_options *options) {
    groth16_job *job = start(w->all, options);
    if (!job) return;
    pthread_t helpers[2];
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&helpers[i], NULL, helper, job) == 0);
    if (random_below(&w->rng, 2)) {
        nap(&w->rng);
        groth16_cancel(job);
    }
    check_result(w->all, job);
    for (int i = 0; i < 2; i++) pthread_join(helpers[i], NULL);
    groth16_free(job);
}

/* The scalars lie in a buffer that is freed while the job may still read it. */
static void in_buffer(worker *w, groth16_job_options *options) {
    groth16_buffer *buffer = NULL;
    const bytes *aux = &w->all->f->aux;
    OK(groth16_buffer_alloc(w->all->engine, aux->len, &buffer));
    memcpy(groth16_buffer_data(buffer), aux->data, aux->len);
    options->aux.data = groth16_buffer_data(buffer);
    groth16_job *job = start(w->all, options);
    groth16_buffer_free(buffer);
    if (!job) return;
    if (random_below(&w->rng, 4) == 0) groth16_cancel(job);
    check_result(w->all, job);
    groth16_free(job);
}

static int32_t cancel_some_time(void *user, uint64_t done, uint64_t total) {
    CHECK(done <= total);
    return random_below(user, 3) == 0;
}

static void load_keys(worker *w) {
    groth16_pk_options options;
    GROTH16_INIT(&options);
    const fixture *f = w->all->f;
    options.data = f->key.data;
    options.data_len = f->key.len;
    options.circuit = w->all->circuit;
    options.progress = cancel_some_time;
    options.progress_user = &w->rng;
    groth16_pk *pk = NULL;
    groth16_status status = groth16_pk_load(w->all->engine, &options, &pk);
    CHECK(status == GROTH16_OK || (status == GROTH16_E_CANCELLED && !pk));
    groth16_pk_free(pk);
    groth16_circuit_free(new_circuit(w->all->engine, f));
}

static void look(worker *w) {
    shared *all = w->all;
    groth16_engine_info info;
    GROTH16_INIT(&info);
    OK(groth16_engine_get_info(all->engine, &info));
    groth16_pk_info pk_info;
    GROTH16_INIT(&pk_info);
    OK(groth16_pk_get_info(all->pk, &pk_info));
    groth16_circuit_info circuit_info;
    GROTH16_INIT(&circuit_info);
    OK(groth16_circuit_get_info(all->circuit, &circuit_info));
    CHECK(circuit_info.num_aux == pk_info.num_aux);
    (void)groth16_engine_memory_pressure(all->engine);
    size_t len = 0;
    STATUS(GROTH16_E_TOO_SMALL, groth16_engine_metrics(all->engine, NULL, 0, &len));
    char *text = malloc(len + 4096);
    OK(groth16_engine_metrics(all->engine, text, len + 4096, &len));
    free(text);
    if (random_below(&w->rng, 16) == 0) OK(groth16_engine_trace(all->engine, "/dev/null"));
    int32_t valid = 0;
    OK(groth16_verify(all->pk, scalars(&all->f->inputs), all->f->proof.data, all->f->proof.len, &valid));
    CHECK(valid == 1);
}

static void *storm(void *argument) {
    worker *w = argument;
    shared *all = w->all;
    while (seconds_now() < all->until) {
        groth16_job_options options = new_job(all->f, random_below(&w->rng, 2) ? all->circuit : NULL);
        options.priority = (int32_t)random_below(&w->rng, 3);
        options.skip_self_check = (int32_t)random_below(&w->rng, 2);
        groth16_job *job;
        switch (random_below(&w->rng, 8)) {
        case 0:
        case 1: /* a proof, or one that is freed in whatever state it is */
            if (!(job = start(all, &options))) break;
            if (random_below(&w->rng, 2)) check_result(all, job);
            else nap(&w->rng);
            groth16_free(job);
            break;
        case 2: /* cancelled, twice, in whatever state it is */
            if (!(job = start(all, &options))) break;
            nap(&w->rng);
            groth16_cancel(job);
            groth16_cancel(job);
            OK(groth16_wait(job, -1));
            check_result(all, job);
            groth16_free(job);
            break;
        case 3: with_events(w, &options); break;
        case 4: shared_handle(w, &options); break;
        case 5: in_buffer(w, &options); break;
        case 6: look(w); break;
        default: load_keys(w); break;
        }
    }
    for (int i = 0; i < LEFT; i++) {
        groth16_job_options options = new_job(all->f, i % 2 ? all->circuit : NULL);
        w->left[i] = start(all, &options);
    }
    return NULL;
}

static void round_of(shared *all, uint64_t seed) {
    static const uint64_t queues[] = {2, 8, 64};
    all->engine = new_engine((uint32_t)(1 + seed % 3), queues[seed % 3]);
    all->circuit = new_circuit(all->engine, all->f);
    all->pk = new_pk(all->engine, all->f, all->circuit);
    worker workers[THREADS];
    memset(workers, 0, sizeof workers);
    for (int i = 0; i < THREADS; i++) {
        workers[i].all = all;
        workers[i].rng = seed * 1000 + (uint64_t)i + 1;
        CHECK(pthread_create(&workers[i].thread, NULL, storm, &workers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
    /* Key, circuit and engine go before the jobs that need them. */
    groth16_pk_free(all->pk);
    groth16_circuit_free(all->circuit);
    groth16_engine_free(all->engine);
    for (int i = 0; i < THREADS; i++) {
        for (int k = 0; k < LEFT; k++) {
            groth16_job *job = workers[i].left[k];
            if (!job) continue;
            OK(groth16_wait(job, 0));
            check_result(all, job);
            groth16_cancel(job);
            groth16_free(job);
        }
    }
}

/* One proof on every number of threads that once was too many somewhere. */
static void thread_counts(const fixture *f) {
    static const uint32_t counts[] = {1, 127, 128, 129, 256, 1024};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        groth16_engine *engine = new_engine(counts[i], 0);
        groth16_circuit *circuit = new_circuit(engine, f);
        groth16_pk *pk = new_pk(engine, f, circuit);
        groth16_job_options options = new_job(f, circuit);
        groth16_job *job = NULL;
        OK(groth16_start(engine, pk, &options, &job));
        unsigned char proof[192];
        size_t len = 0;
        OK(groth16_finalize(job, proof, sizeof proof, &len));
        CHECK(len == sizeof proof && memcmp(proof, f->proof.data, sizeof proof) == 0);
        groth16_free(job);
        groth16_pk_free(pk);
        groth16_circuit_free(circuit);
        groth16_engine_free(engine);
    }
}

int main(int argc, char **argv) {
    CHECK(argc >= 3);
    fixture f = load_fixture(argv[1]);
    /* With few rows only: on few cores a thousand threads mostly look for work. */
    if (f.a.len <= 64 * 32) thread_counts(&f);
    double seconds = atof(argv[2]);
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    shared all = {.f = &f};
    double begin = seconds_now();
    uint64_t rounds = 0;
    do {
        all.until = seconds_now() + (seconds < 8 ? seconds / 4 : 2);
        round_of(&all, seed + rounds++);
    } while (seconds_now() < begin + seconds);
    printf("storm: %" PRIu64 " engines, %lu proofs, %lu refused, %lu cancelled, %lu freed or told by callbacks\n", rounds,
           atomic_load(&all.proofs), atomic_load(&all.refused), atomic_load(&all.cancelled),
           atomic_load(&all.callbacks));
    CHECK(atomic_load(&all.proofs) > 0 && atomic_load(&all.cancelled) > 0 && atomic_load(&all.callbacks) > 0);
    free_fixture(&f);
    return 0;
}
