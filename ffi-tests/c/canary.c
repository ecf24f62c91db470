/* Faults that the sanitizers must report: proof that they are on.
 *   canary FIXTURE overflow | undefined | leak | leak-jobs */
#include "common.h"

/* Several: the last one may still be named by stack that nobody uses any more. */
__attribute__((noinline)) static void lose_jobs(const fixture *f, groth16_engine *engine, groth16_circuit *circuit) {
    groth16_pk *pk = new_pk(engine, f, circuit);
    groth16_job_options options = new_job(f, circuit);
    for (int i = 0; i < 4; i++) {
        groth16_job *job = NULL;
        OK(groth16_start(engine, pk, &options, &job));
        OK(groth16_wait(job, -1));
    }
    groth16_pk_free(pk);
}

int main(int argc, char **argv) {
    CHECK(argc == 3);
    fixture f = load_fixture(argv[1]);
    groth16_engine *engine = new_engine(1, 0);
    groth16_circuit *circuit = new_circuit(engine, &f);
    if (strcmp(argv[2], "overflow") == 0) {
        volatile unsigned char *key = f.key.data;
        key[f.key.len] = 1;
    } else if (strcmp(argv[2], "undefined") == 0) {
        volatile int large = 0x7fffffff;
        large += argc;
    } else if (strcmp(argv[2], "leak") == 0) {
        /* What only the library allocates. */
        circuit = NULL;
    } else {
        lose_jobs(&f, engine, circuit);
    }
    groth16_circuit_free(circuit);
    groth16_engine_free(engine);
    free_fixture(&f);
    return 0;
}
