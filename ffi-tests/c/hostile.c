/* Files and structs with absurd counts, under a limit of the address space (`ulimit -v`): each answers with a status,
 * fast, and the engine proves on.
 *   hostile FIXTURE */
#include "common.h"

static void put32be(unsigned char *at, uint32_t value) {
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* The offset of each section's count in a key of bellman's form. */
static int counts(const bytes *key, size_t offsets[6]) {
    size_t at = 864;
    for (int i = 0; i < 6; i++) {
        offsets[i] = at;
        const unsigned char *p = key->data + at;
        size_t count = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
        at += 4 + count * (i == 5 ? 192 : 96);
    }
    return at == key->len;
}

static void quick(double begin) {
    CHECK(seconds_now() - begin < 2.0);
}

static void hostile_keys(const fixture *f, groth16_engine *engine, const groth16_circuit *circuit) {
    static const uint32_t absurd[] = {0xffffffff, 0x80000000, 0x7fffffff, 0x01000000, 0};
    size_t offsets[6];
    CHECK(counts(&f->key, offsets));
    unsigned char *copy = malloc(f->key.len);
    for (int section = 0; section < 6; section++) {
        for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
            memcpy(copy, f->key.data, f->key.len);
            put32be(copy + offsets[section], absurd[i]);
            groth16_pk_options options;
            GROTH16_INIT(&options);
            options.data = copy;
            options.data_len = f->key.len;
            options.circuit = circuit;
            options.point_checks = GROTH16_CHECK_NOTHING;
            groth16_pk *pk = NULL;
            double begin = seconds_now();
            CHECK(groth16_pk_load(engine, &options, &pk) != GROTH16_OK && !pk);
            quick(begin);
        }
    }
    free(copy);
}

/* A sparse file of 64 GiB whose first count is honest about it. */
static void huge_file(const fixture *f, groth16_engine *engine) {
    char path[] = "/tmp/groth16-hostile-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    unsigned char head[868];
    memcpy(head, f->key.data, 864);
    put32be(head + 864, 0x20000000); /* 2^29 points, 48 GiB */
    if (write(fd, head, sizeof head) == (ssize_t)sizeof head && ftruncate(fd, (off_t)64 << 30) == 0) {
        groth16_pk_options options;
        GROTH16_INIT(&options);
        options.path = path;
        options.point_checks = GROTH16_CHECK_NOTHING;
        groth16_pk *pk = NULL;
        double begin = seconds_now();
        groth16_status status = groth16_pk_load(engine, &options, &pk);
        CHECK((status == GROTH16_E_NO_MEMORY || status == GROTH16_E_FORMAT) && !pk);
        quick(begin);
    }
    close(fd);
    unlink(path);
}

static void hostile_circuits(const fixture *f, groth16_engine *engine) {
    unsigned char *copy = malloc(f->r1cs.len);
    /* Every aligned 32-bit word of the head, one at a time. */
    for (size_t at = 8; at < 120 && at + 4 <= f->r1cs.len; at += 4) {
        memcpy(copy, f->r1cs.data, f->r1cs.len);
        memset(copy + at, 0xff, 4);
        groth16_circuit_options options;
        GROTH16_INIT(&options);
        options.data = copy;
        options.data_len = f->r1cs.len;
        groth16_circuit *circuit = NULL;
        double begin = seconds_now();
        groth16_status status = groth16_circuit_load(engine, &options, &circuit);
        CHECK((status == GROTH16_OK) == (circuit != NULL));
        quick(begin);
        groth16_circuit_free(circuit);
    }
    free(copy);
    /* Matrices without terms but with very many variables. */
    static const uint64_t starts[2] = {0, 0};
    groth16_circuit_options options;
    GROTH16_INIT(&options);
    options.a.row_starts = options.b.row_starts = options.c.row_starts = starts;
    options.num_rows = 1;
    options.num_inputs = 1;
    static const uint64_t many[] = {0xfffffffe, 0xffffffff, UINT64_MAX, UINT64_MAX - 1, (uint64_t)1 << 63};
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        options.num_aux = many[i];
        groth16_circuit *circuit = NULL;
        double begin = seconds_now();
        groth16_status status = groth16_circuit_load(engine, &options, &circuit);
        CHECK((status == GROTH16_OK) == (circuit != NULL));
        quick(begin);
        if (circuit) {
            /* As the source of densities it must not take memory that its numbers alone ask for. */
            groth16_pk_options key;
            GROTH16_INIT(&key);
            key.data = f->key.data;
            key.data_len = f->key.len;
            key.circuit = circuit;
            groth16_pk *pk = NULL;
            CHECK(groth16_pk_load(engine, &key, &pk) != GROTH16_OK && !pk);
            quick(begin);
        }
        groth16_circuit_free(circuit);
    }
}

static void hostile_buffers(groth16_engine *engine) {
    static const size_t sizes[] = {(size_t)2 << 30, (size_t)1 << 40, SIZE_MAX >> 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        groth16_buffer *buffer = NULL;
        groth16_status status = groth16_buffer_alloc(engine, sizes[i], &buffer);
        CHECK((status == GROTH16_E_NO_MEMORY || status == GROTH16_E_INVALID) && !buffer);
    }
    groth16_engine_options options;
    GROTH16_INIT(&options);
    options.cpu_threads = 1024; /* stacks of 4 GiB */
    groth16_engine *many = NULL;
    groth16_status status = groth16_engine_create(&options, &many);
    CHECK(status == GROTH16_E_NO_MEMORY && !many);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    fixture f = load_fixture(argv[1]);
    groth16_engine *engine = new_engine(2, 0);
    groth16_circuit *circuit = new_circuit(engine, &f);
    groth16_pk *pk = new_pk(engine, &f, circuit);
    hostile_keys(&f, engine, circuit);
    huge_file(&f, engine);
    hostile_circuits(&f, engine);
    hostile_buffers(engine);
    groth16_job_options options = new_job(&f, circuit);
    groth16_job *job = NULL;
    OK(groth16_start(engine, pk, &options, &job));
    unsigned char proof[192];
    size_t len = 0;
    OK(groth16_finalize(job, proof, sizeof proof, &len));
    CHECK(memcmp(proof, f.proof.data, sizeof proof) == 0);
    groth16_free(job);
    groth16_pk_free(pk);
    groth16_circuit_free(circuit);
    groth16_engine_free(engine);
    free_fixture(&f);
    puts("hostile: absurd counts, sizes and threads are refused, and a proof after them");
    return 0;
}
