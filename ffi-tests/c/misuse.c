/* Memory at its edges: scalars, structs, strings and outputs that end where a page without access begins (or begin
 * where one ends), unaligned pointers, NULL everywhere, callers with a small stack, keys and circuits loaded and freed
 * many times.
 *   misuse FIXTURE [LOADS] */
#include "common.h"
#include <pthread.h>
#include <sys/mman.h>

/* len bytes that end exactly at a guard page, or begin right behind one. */
typedef struct guarded {
    unsigned char *map, *data;
    size_t pages;
} guarded;

static guarded guard_alloc(size_t len, int at_end) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    guarded g;
    g.pages = (len + page - 1) / page + 2;
    g.map = mmap(NULL, g.pages * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(g.map != MAP_FAILED);
    CHECK(mprotect(g.map + page, (g.pages - 2) * page, PROT_READ | PROT_WRITE) == 0);
    g.data = at_end ? g.map + (g.pages - 1) * page - len : g.map + page;
    return g;
}

static guarded guard_copy(const void *data, size_t len, int at_end) {
    guarded g = guard_alloc(len, at_end);
    if (len) memcpy(g.data, data, len);
    return g;
}

static void guard_free(guarded *g) {
    munmap(g->map, g->pages * (size_t)sysconf(_SC_PAGESIZE));
}

static void guarded_proof(const fixture *f, groth16_engine *engine, groth16_pk *pk, const groth16_circuit *circuit,
                          int at_end, size_t struct_size) {
    const bytes *sources[] = {&f->a, &f->b, &f->c, &f->inputs, &f->aux, &f->r, &f->s};
    guarded in[7];
    for (int i = 0; i < 7; i++) in[i] = guard_copy(sources[i]->data, sources[i]->len, at_end);
    groth16_job_options options = new_job(f, circuit);
    if (!circuit) {
        options.a.data = in[0].data;
        options.b.data = in[1].data;
        options.c.data = in[2].data;
    }
    options.inputs.data = in[3].data;
    options.aux.data = in[4].data;
    options.r = in[5].data;
    options.s = in[6].data;
    options.struct_size = struct_size;
    guarded struct_in = guard_copy(&options, struct_size, at_end);
    groth16_job *job = NULL;
    OK(groth16_start(engine, pk, (const groth16_job_options *)struct_in.data, &job));
    guard_free(&struct_in);
    for (int i = 5; i < 7; i++) guard_free(&in[i]); /* copied */
    OK(groth16_wait(job, -1));
    for (int i = 0; i < 5; i++) guard_free(&in[i]); /* terminal: read no more */

    groth16_progress *progress;
    guarded out = guard_alloc(sizeof *progress, at_end);
    progress = (groth16_progress *)out.data;
    GROTH16_INIT(progress);
    OK(groth16_poll(job, progress));
    CHECK(progress->state == GROTH16_DONE);
    guard_free(&out);

    size_t len = 0;
    out = guard_alloc(192, at_end);
    STATUS(GROTH16_E_TOO_SMALL, groth16_finalize(job, out.data, 191, &len));
    CHECK(len == 192);
    OK(groth16_finalize(job, out.data, 192, &len));
    CHECK(memcmp(out.data, f->proof.data, 192) == 0);
    guarded inputs = guard_copy(f->inputs.data, f->inputs.len, at_end);
    groth16_scalars public = {inputs.data, f->inputs.len / 32};
    int32_t valid = 0;
    OK(groth16_verify(pk, public, out.data, 192, &valid));
    CHECK(valid == 1);
    guard_free(&inputs);
    guard_free(&out);
    groth16_free(job);
}

static void guarded_load(const fixture *f, groth16_engine *engine, int at_end) {
    guarded data = guard_copy(f->r1cs.data, f->r1cs.len, at_end);
    groth16_circuit_options circuit_options;
    GROTH16_INIT(&circuit_options);
    circuit_options.data = data.data;
    circuit_options.data_len = f->r1cs.len;
    groth16_circuit *circuit = NULL;
    OK(groth16_circuit_load(engine, &circuit_options, &circuit));
    guard_free(&data);

    data = guard_copy(f->key.data, f->key.len, at_end);
    groth16_pk_options options;
    GROTH16_INIT(&options);
    options.data = data.data;
    options.data_len = f->key.len;
    options.circuit = circuit;
    groth16_pk *pk = NULL;
    OK(groth16_pk_load(engine, &options, &pk));
    guard_free(&data);
    groth16_pk_free(pk);

    guarded path = guard_copy(f->key_path, strlen(f->key_path) + 1, at_end);
    options.data = NULL;
    options.data_len = 0;
    options.path = (const char *)path.data;
    OK(groth16_pk_load(engine, &options, &pk));
    guard_free(&path);

    size_t len = 0;
    STATUS(GROTH16_E_TOO_SMALL, groth16_pk_get_vk(pk, NULL, 0, &len));
    guarded out = guard_alloc(len, at_end);
    OK(groth16_pk_get_vk(pk, out.data, len, &len));
    CHECK(memcmp(out.data, f->key.data, len) == 0);
    guard_free(&out);

    guarded_proof(f, engine, pk, circuit, at_end, sizeof(groth16_job_options));
    guarded_proof(f, engine, pk, NULL, at_end, sizeof(groth16_job_options));
    /* An older caller's struct ends before the event. */
    guarded_proof(f, engine, pk, circuit, at_end, offsetof(groth16_job_options, event));
    groth16_pk_free(pk);
    groth16_circuit_free(circuit);
}

/* Messages are cut to any buffer, to the byte. */
static void messages(int at_end) {
    STATUS(GROTH16_E_INVALID, groth16_engine_create(NULL, NULL));
    size_t len = groth16_last_error(NULL, 0);
    for (size_t cap = 0; cap <= len + 2; cap++) {
        guarded out = guard_alloc(cap, at_end);
        CHECK(groth16_last_error((char *)out.data, cap) == len);
        if (cap) CHECK(strlen((char *)out.data) == (len < cap - 1 ? len : cap - 1));
        guard_free(&out);
    }
}

/* Scalars at odd addresses. */
static void unaligned(const fixture *f, groth16_engine *engine, groth16_pk *pk) {
    groth16_job_options options = new_job(f, NULL);
    const bytes *sources[] = {&f->a, &f->b, &f->c, &f->inputs, &f->aux};
    groth16_scalars *fields[] = {&options.a, &options.b, &options.c, &options.inputs, &options.aux};
    unsigned char *copies[5];
    for (int i = 0; i < 5; i++) {
        copies[i] = malloc(sources[i]->len + 1);
        memcpy(copies[i] + 1, sources[i]->data, sources[i]->len);
        fields[i]->data = copies[i] + 1;
    }
    groth16_job *job = NULL;
    OK(groth16_start(engine, pk, &options, &job));
    unsigned char proof[193];
    size_t len = 0;
    OK(groth16_finalize(job, proof + 1, 192, &len));
    CHECK(memcmp(proof + 1, f->proof.data, 192) == 0);
    groth16_free(job);
    for (int i = 0; i < 5; i++) free(copies[i]);
}

static void nulls(groth16_engine *engine, groth16_pk *pk, const groth16_circuit *circuit) {
    groth16_job_options job_options;
    GROTH16_INIT(&job_options);
    groth16_job *job = (groth16_job *)0x1;
    STATUS(GROTH16_E_INVALID, groth16_start(NULL, pk, &job_options, &job));
    STATUS(GROTH16_E_INVALID, groth16_start(engine, NULL, &job_options, &job));
    STATUS(GROTH16_E_INVALID, groth16_start(engine, pk, NULL, &job));
    STATUS(GROTH16_E_INVALID, groth16_start(engine, pk, &job_options, NULL));
    STATUS(GROTH16_E_INVALID, groth16_start(engine, pk, &job_options, &job));
    CHECK(job == (groth16_job *)0x1);
    job_options.inputs.count = 3; /* with data NULL */
    STATUS(GROTH16_E_INVALID, groth16_start(engine, pk, &job_options, &job));
    job_options.inputs.count = SIZE_MAX / 16;
    STATUS(GROTH16_E_INVALID, groth16_start(engine, pk, &job_options, &job));
    job_options.struct_size = 3;
    STATUS(GROTH16_E_INVALID, groth16_start(engine, pk, &job_options, &job));
    size_t len = 0;
    int32_t valid = 0;
    groth16_scalars none = {NULL, 0};
    STATUS(GROTH16_E_INVALID, groth16_poll(NULL, NULL));
    STATUS(GROTH16_E_INVALID, groth16_wait(NULL, -1));
    STATUS(GROTH16_E_INVALID, groth16_finalize(NULL, NULL, 0, &len));
    STATUS(GROTH16_E_INVALID, groth16_verify(NULL, none, NULL, 0, &valid));
    CHECK(groth16_verify(pk, none, NULL, 0, &valid) != GROTH16_OK);
    STATUS(GROTH16_E_INVALID, groth16_verify(pk, none, NULL, 192, &valid));
    STATUS(GROTH16_E_INVALID, groth16_engine_get_info(engine, NULL));
    STATUS(GROTH16_E_INVALID, groth16_engine_get_info(NULL, NULL));
    STATUS(GROTH16_E_INVALID, groth16_pk_get_info(NULL, NULL));
    STATUS(GROTH16_E_INVALID, groth16_circuit_get_info(circuit, NULL));
    STATUS(GROTH16_E_INVALID, groth16_pk_get_vk(pk, NULL, 0, NULL));
    STATUS(GROTH16_E_INVALID, groth16_engine_metrics(engine, NULL, 0, NULL));
    STATUS(GROTH16_E_INVALID, groth16_engine_trace(engine, NULL));
    STATUS(GROTH16_E_INVALID, groth16_buffer_alloc(engine, 0, NULL));
    groth16_buffer *buffer = NULL;
    STATUS(GROTH16_E_INVALID, groth16_buffer_alloc(engine, 0, &buffer));
    STATUS(GROTH16_E_INVALID, groth16_buffer_alloc(engine, SIZE_MAX, &buffer));
    CHECK(groth16_buffer_alloc(engine, (size_t)1 << 60, &buffer) != GROTH16_OK && !buffer);
    CHECK(groth16_buffer_data(NULL) == NULL && groth16_engine_memory_pressure(NULL) == 0);
    groth16_free(NULL);
    groth16_cancel(NULL);
    groth16_pk_free(NULL);
    groth16_circuit_free(NULL);
    groth16_buffer_free(NULL);
    groth16_engine_free(NULL);
}

typedef struct call {
    const fixture *f;
    groth16_engine *engine;
    groth16_pk *pk;
} call;

/* All calls, from a thread with the smallest stack that a coroutine or a Go thread may have. */
static void *small_stack(void *argument) {
    const call *c = argument;
    groth16_circuit *circuit = new_circuit(c->engine, c->f);
    groth16_pk *pk = new_pk(c->engine, c->f, circuit);
    groth16_job_options options = new_job(c->f, circuit);
    groth16_job *job = NULL;
    OK(groth16_start(c->engine, pk, &options, &job));
    unsigned char proof[192];
    size_t len = 0;
    OK(groth16_finalize(job, proof, sizeof proof, &len));
    CHECK(memcmp(proof, c->f->proof.data, 192) == 0);
    int32_t valid = 0;
    OK(groth16_verify(pk, scalars(&c->f->inputs), proof, len, &valid));
    CHECK(valid);
    groth16_free(job);
    STATUS(GROTH16_E_TOO_SMALL, groth16_engine_metrics(c->engine, NULL, 0, &len));
    OK(groth16_engine_trace(c->engine, "/dev/null"));
    groth16_pk_free(pk);
    groth16_circuit_free(circuit);
    groth16_engine_free(new_engine(1, 1));
    return NULL;
}

static void on_small_stack(call *c, size_t size) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    CHECK(pthread_attr_setstacksize(&attributes, size) == 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, &attributes, small_stack, c) == 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

int main(int argc, char **argv) {
    CHECK(argc >= 2);
    fixture f = load_fixture(argv[1]);
    int loads = argc > 2 ? atoi(argv[2]) : 200;
    groth16_engine *engine = new_engine(2, 0);
    for (int at_end = 0; at_end < 2; at_end++) {
        guarded_load(&f, engine, at_end);
        messages(at_end);
    }
    groth16_circuit *circuit = new_circuit(engine, &f);
    groth16_pk *pk = new_pk(engine, &f, circuit);
    unaligned(&f, engine, pk);
    nulls(engine, pk, circuit);
    call c = {&f, engine, pk};
    on_small_stack(&c, 64 << 10);
    for (int i = 0; i < loads; i++) groth16_pk_free(new_pk(engine, &f, circuit));
    groth16_pk_free(pk);
    groth16_circuit_free(circuit);
    groth16_engine_free(engine);
    free_fixture(&f);
    printf("misuse: guard pages, odd addresses, NULLs, a stack of 64 KiB, %d loads of a key\n", loads);
    return 0;
}
