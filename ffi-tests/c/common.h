/* What the programs here share: checks, the fixture's files (see make-fixture), engines and keys. */
#ifndef COMMON_H
#define COMMON_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <groth16.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                                   \
    do {                                                                                   \
        if (!(condition)) fail(__FILE__, __LINE__, #condition);                            \
    } while (0)

#define OK(call)                                                                           \
    do {                                                                                   \
        groth16_status ok_status_ = (call);                                                \
        if (ok_status_ != GROTH16_OK) fail_status(__FILE__, __LINE__, #call, ok_status_);  \
    } while (0)

#define STATUS(wanted, call)                                                               \
    do {                                                                                   \
        groth16_status got_status_ = (call);                                               \
        if (got_status_ != (wanted)) fail_status(__FILE__, __LINE__, #call, got_status_);  \
    } while (0)

static _Noreturn void fail(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
    abort();
}

static _Noreturn void fail_status(const char *file, int line, const char *what, groth16_status status) {
    char text[512] = "";
    groth16_last_error(text, sizeof text);
    fprintf(stderr, "%s:%d: %s: %s: %s\n", file, line, what, groth16_status_name(status), text);
    abort();
}

typedef struct bytes {
    unsigned char *data;
    size_t len;
} bytes;

typedef struct fixture {
    char key_path[512];
    bytes key, r1cs, inputs, aux, a, b, c, r, s, proof;
} fixture;

static bytes read_file(const char *dir, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(2);
    }
    fseek(file, 0, SEEK_END);
    bytes out = {NULL, (size_t)ftell(file)};
    rewind(file);
    out.data = malloc(out.len);
    CHECK(out.data && fread(out.data, 1, out.len, file) == out.len);
    fclose(file);
    return out;
}

static fixture load_fixture(const char *dir) {
    fixture f;
    snprintf(f.key_path, sizeof f.key_path, "%s/key.params", dir);
    f.key = read_file(dir, "key.params");
    f.r1cs = read_file(dir, "circuit.r1cs");
    f.inputs = read_file(dir, "inputs");
    f.aux = read_file(dir, "aux");
    f.a = read_file(dir, "a");
    f.b = read_file(dir, "b");
    f.c = read_file(dir, "c");
    f.r = read_file(dir, "r");
    f.s = read_file(dir, "s");
    f.proof = read_file(dir, "proof");
    return f;
}

static void free_fixture(fixture *f) {
    bytes *all[] = {&f->key, &f->r1cs, &f->inputs, &f->aux, &f->a, &f->b, &f->c, &f->r, &f->s, &f->proof};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]->data);
}

static groth16_engine *new_engine(uint32_t threads, uint64_t queue) {
    groth16_engine_options options;
    GROTH16_INIT(&options);
    options.backend = GROTH16_BACKEND_CPU;
    options.cpu_threads = threads;
    options.max_queued_jobs = queue;
    groth16_engine *engine = NULL;
    OK(groth16_engine_create(&options, &engine));
    return engine;
}

static groth16_circuit *new_circuit(groth16_engine *engine, const fixture *f) {
    groth16_circuit_options options;
    GROTH16_INIT(&options);
    options.data = f->r1cs.data;
    options.data_len = f->r1cs.len;
    groth16_circuit *circuit = NULL;
    OK(groth16_circuit_load(engine, &options, &circuit));
    return circuit;
}

static groth16_pk *new_pk(groth16_engine *engine, const fixture *f, const groth16_circuit *circuit) {
    groth16_pk_options options;
    GROTH16_INIT(&options);
    options.path = f->key_path;
    options.circuit = circuit;
    groth16_pk *pk = NULL;
    OK(groth16_pk_load(engine, &options, &pk));
    return pk;
}

static groth16_scalars scalars(const bytes *b) {
    groth16_scalars out = {b->data, b->len / 32};
    return out;
}

/* A job over the circuit, or over evaluated rows where there is none. */
static groth16_job_options new_job(const fixture *f, const groth16_circuit *circuit) {
    groth16_job_options options;
    GROTH16_INIT(&options);
    options.circuit = circuit;
    if (!circuit) {
        options.a = scalars(&f->a);
        options.b = scalars(&f->b);
        options.c = scalars(&f->c);
    }
    options.inputs = scalars(&f->inputs);
    options.aux = scalars(&f->aux);
    options.r = f->r.data;
    options.s = f->s.data;
    return options;
}

/* xorshift64*, for choices only. */
static uint64_t random_below(uint64_t *state, uint64_t bound) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (*state * 0x2545f4914f6cdd1dULL >> 33) % bound;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#endif
