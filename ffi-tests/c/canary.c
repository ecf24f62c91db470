/* Faults that the sanitizers must report: proof that they are on.
 *   canary FIXTURE overflow | undefined | leak | leak-key */
#include "common.h"

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
        groth16_pk *pk = new_pk(engine, &f, circuit);
        CHECK(pk);
    }
    groth16_circuit_free(circuit);
    groth16_engine_free(engine);
    free_fixture(&f);
    return 0;
}
