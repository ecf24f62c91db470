/* Proofs one after another, keys and engines now and then; memory must not grow.
 *   soak FIXTURE [PROOFS, default 1000] [KIB that memory may grow by, default 1024] */
#include "common.h"
#include <malloc.h>

/* Resident memory in KiB, after what the allocator keeps has gone back to the system. */
static long resident(void) {
    malloc_trim(0);
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file);
    long all = 0, resident = 0;
    CHECK(fscanf(file, "%ld %ld", &all, &resident) == 2);
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Handles that the process holds. */
static int count_entries(const char *dir) {
    char command[128];
    snprintf(command, sizeof command, "/proc/self/%s", dir);
    int count = 0;
    char name[160];
    for (int i = 0; i < 4096; i++) {
        snprintf(name, sizeof name, "%s/%d", command, i);
        count += access(name, F_OK) == 0;
    }
    return count;
}

static void on_event(void *user, groth16_job *job, groth16_event event) {
    (void)job;
    *(volatile int *)user += event == GROTH16_EVENT_TERMINAL;
}

static void prove(const fixture *f, groth16_engine *engine, groth16_pk *pk, groth16_circuit *circuit, int i) {
    groth16_job_options options = new_job(f, i % 2 ? circuit : NULL);
    volatile int terminal = 0;
    options.event = on_event;
    options.event_user = (void *)&terminal;
    options.proof_format = i % 3;
    groth16_job *job = NULL;
    OK(groth16_start(engine, pk, &options, &job));
    if (i % 10 == 9) groth16_cancel(job);
    unsigned char proof[4096];
    size_t len = 0;
    groth16_status status = groth16_finalize(job, proof, sizeof proof, &len);
    CHECK(status == GROTH16_OK || (i % 10 == 9 && status == GROTH16_E_CANCELLED));
    CHECK(status || i % 3 || memcmp(proof, f->proof.data, 192) == 0);
    groth16_free(job);
    CHECK(terminal == 1);
}

int main(int argc, char **argv) {
    CHECK(argc >= 2);
    setvbuf(stdout, NULL, _IOLBF, 0);
    int proofs = argc > 2 ? atoi(argv[2]) : 1000;
    long bound = argc > 3 ? atol(argv[3]) : 1024;
    fixture f = load_fixture(argv[1]);
    groth16_engine *engine = new_engine(2, 0);
    groth16_circuit *circuit = new_circuit(engine, &f);
    groth16_pk *pk = new_pk(engine, &f, circuit);
    long warm = 0;
    int files = 0;
    double begin = seconds_now();
    for (int i = 0; i < proofs; i++) {
        prove(&f, engine, pk, circuit, i);
        if (i % 50 == 49) {
            groth16_pk *other = new_pk(engine, &f, circuit);
            groth16_pk_free(pk);
            pk = other;
            groth16_engine *short_lived = new_engine(2, 0);
            groth16_engine_free(short_lived);
        }
        if ((i + 1) % 100) continue;
        long now = resident();
        printf("%6d proofs %7.1f s %8ld KiB resident\n", i + 1, seconds_now() - begin, now);
        if (i + 1 == 200 || (warm == 0 && i + 1 == proofs)) {
            warm = now;
            files = count_entries("fd");
        }
    }
    long growth = resident() - warm;
    int more_files = count_entries("fd") - files;
    /* What ran is kept for the trace, up to 2^14 entries: some 600 bytes a proof. */
    long kept = (long)(proofs > 200 ? (proofs < 3000 ? proofs : 3000) - 200 : 0) * 600 / 1024;
    printf("soak: %ld KiB more than after 200 proofs, of them %ld KiB of trace; allowed %ld more\n", growth, kept, bound);
    groth16_pk_free(pk);
    groth16_circuit_free(circuit);
    groth16_engine_free(engine);
    free_fixture(&f);
    return growth > bound + kept || more_files != 0;
}
