/* After a job is freed no copy of its secrets stays in the process: r, s, r s, values of the witness and of the rows,
 * canonical and in Montgomery form.
 *   secrets FIXTURE
 * The patterns come masked (see make-fixture) and are compared masked; this program wipes its own plain copies. */
#include "common.h"
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

static const unsigned char MASK = 0xa5;
static bytes masked; /* 32 bytes each */

typedef struct finding {
    unsigned long whole, limbs;
} finding;

/* Own memory that is scanned through, not scanned: holds copies of everything. */
enum { WINDOW = 1 << 16 };
static unsigned char *window;

static void wipe(void *data, size_t len) {
    memset(data, 0, len);
    __asm__ volatile("" : : "r"(data) : "memory");
}

/* Masked limbs by the low bits of their value, so that each word of memory costs one look. */
enum { SLOTS = 1 << 14 };
static uint64_t slots[SLOTS];
static uint32_t slot_pattern[SLOTS];

static uint64_t masked_limb(size_t pattern, int limb) {
    uint64_t value;
    memcpy(&value, masked.data + 32 * pattern + 8 * limb, 8);
    return value;
}

static void fill_slots(void) {
    for (size_t i = 0; i < masked.len / 32; i++) {
        for (int limb = 0; limb < 4; limb++) {
            uint64_t value = masked_limb(i, limb);
            size_t slot = value % SLOTS;
            while (slots[slot]) slot = (slot + 1) % SLOTS;
            slots[slot] = value;
            slot_pattern[slot] = (uint32_t)(i * 4 + (size_t)limb);
        }
    }
}

static uint64_t mask64(void) {
    return 0x0101010101010101ULL * MASK;
}

/* Looks at one chunk that was read from address `at`; whole copies may not straddle chunks (they overlap by 32). */
static void look(const unsigned char *chunk, size_t len, uintptr_t at, const char *name, int verbose, finding *found) {
    for (size_t i = 0; i + 8 <= len; i += 4) {
        uint64_t word;
        memcpy(&word, chunk + i, 8);
        word ^= mask64();
        for (size_t slot = word % SLOTS; slots[slot]; slot = (slot + 1) % SLOTS) {
            if (slots[slot] != word) continue;
            size_t pattern = slot_pattern[slot] / 4, limb = slot_pattern[slot] % 4;
            int whole = limb == 0 && i + 32 <= len;
            for (int k = 1; whole && k < 4; k++) {
                uint64_t next;
                memcpy(&next, chunk + i + 8 * k, 8);
                whole = (next ^ mask64()) == masked_limb(pattern, k);
            }
            found->whole += (unsigned long)whole;
            found->limbs++;
            if (verbose && (whole || limb == 3))
                printf("  %s of secret %zu%s at %p: %s\n", whole ? "a copy" : "a limb", pattern / 2,
                       pattern % 2 ? " (Montgomery)" : "", (void *)(at + i), name);
        }
    }
}

/* All memory that the process can write, but this program's masked patterns and window. */
static finding scan(int verbose) {
    finding found = {0, 0};
    FILE *maps = fopen("/proc/self/maps", "r");
    int memory = open("/proc/self/mem", O_RDONLY);
    CHECK(maps && memory >= 0);
    static char line[1024];
    while (fgets(line, sizeof line, maps)) {
        uintptr_t from, to;
        char rights[8];
        int name = 0;
        CHECK(sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s %*s %*s %*s %n", &from, &to, rights, &name) >= 3);
        line[strcspn(line, "\n")] = 0;
        if (rights[1] != 'w' || strstr(line, "[v")) continue;
        for (uintptr_t at = from; at < to; at += WINDOW - 32) {
            size_t want = to - at < WINDOW ? to - at : WINDOW;
            if ((uintptr_t)window < at + want && at < (uintptr_t)window + WINDOW) continue;
            ssize_t got = pread(memory, window, want, (off_t)at);
            if (got > 0) look(window, (size_t)got, at, line[name] ? line + name : "(anonymous)", verbose, &found);
        }
    }
    wipe(window, WINDOW);
    close(memory);
    fclose(maps);
    return found;
}

/* Plain files come straight from the system into pages that are unmapped afterwards. */
static bytes map_file(const char *dir, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    off_t len = lseek(fd, 0, SEEK_END);
    bytes out = {mmap(NULL, (size_t)len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), (size_t)len};
    CHECK(out.data != MAP_FAILED && pread(fd, out.data, (size_t)len, 0) == len);
    close(fd);
    return out;
}

static void unmap(bytes *b) {
    wipe(b->data, b->len);
    munmap(b->data, b->len);
}

typedef struct plain {
    bytes a, b, c, inputs, aux, r, s;
} plain;

static plain map_all(const char *dir) {
    plain p = {map_file(dir, "a"),      map_file(dir, "b"),   map_file(dir, "c"), map_file(dir, "inputs"),
               map_file(dir, "aux"),    map_file(dir, "r"),   map_file(dir, "s")};
    return p;
}

static void unmap_all(plain *p) {
    bytes *all[] = {&p->a, &p->b, &p->c, &p->inputs, &p->aux, &p->r, &p->s};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) unmap(all[i]);
}

enum kind { PROVED, GIVEN_ROWS, IN_BUFFER, CANCELLED, UNSATISFIED, KINDS };
static const char *const NAMES[] = {"proved", "given rows", "in a buffer", "cancelled", "unsatisfied"};

/* One that is cancelled is so after `delay` microseconds. */
static void one_job(const char *dir, groth16_engine *engine, groth16_pk *pk, groth16_circuit *circuit, enum kind kind,
                    unsigned delay) {
    plain p = map_all(dir);
    groth16_job_options options;
    GROTH16_INIT(&options);
    if (kind == GIVEN_ROWS) {
        options.a = scalars(&p.a);
        options.b = scalars(&p.b);
        options.c = scalars(&p.c);
    } else {
        options.circuit = circuit;
    }
    if (kind == UNSATISFIED) p.aux.data[0] ^= 2;
    options.inputs = scalars(&p.inputs);
    options.aux = scalars(&p.aux);
    options.r = p.r.data;
    options.s = p.s.data;
    groth16_buffer *buffer = NULL;
    if (kind == IN_BUFFER) {
        OK(groth16_buffer_alloc(engine, p.aux.len, &buffer));
        memcpy(groth16_buffer_data(buffer), p.aux.data, p.aux.len);
        options.aux.data = groth16_buffer_data(buffer);
    }
    groth16_job *job = NULL;
    OK(groth16_start(engine, pk, &options, &job));
    if (kind == CANCELLED) {
        usleep(delay);
        groth16_cancel(job);
    }
    unsigned char proof[192];
    size_t len;
    groth16_status status = groth16_finalize(job, proof, sizeof proof, &len);
    if (kind == CANCELLED) CHECK(status == GROTH16_OK || status == GROTH16_E_CANCELLED);
    else STATUS(kind == UNSATISFIED ? GROTH16_E_UNSATISFIED : GROTH16_OK, status);
    groth16_free(job);
    groth16_buffer_free(buffer);
    unmap_all(&p);
}

/* Single limbs are told, not counted as faults: they are what registers spilled into stack that is used again. */
static unsigned long report(const char *when) {
    finding found = scan(0);
    printf("  %-20s %lu copies, %lu single limbs\n", when, found.whole, found.limbs - 4 * found.whole);
    if (found.whole) scan(1);
    return found.whole;
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    setvbuf(stdout, NULL, _IOLBF, 0);
    masked = read_file(argv[1], "masked");
    window = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(window != MAP_FAILED);
    fill_slots();
    fixture f = {.key = {0}};
    snprintf(f.key_path, sizeof f.key_path, "%s/key.params", argv[1]);
    f.r1cs = read_file(argv[1], "circuit.r1cs");

    /* The scan finds what is there. In a child, since a scan that finds something leaves it in its own stack. */
    pid_t child = fork();
    if (child == 0) {
        map_all(argv[1]);
        _exit(scan(0).whole >= masked.len / 64 / 2 ? 0 : 1);
    }
    int outcome = 1;
    CHECK(waitpid(child, &outcome, 0) == child && outcome == 0);
    plain p = map_all(argv[1]);
    unmap_all(&p);
    CHECK(scan(0).limbs == 0);

    unsigned long left = 0;
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        printf("%u threads\n", threads);
        groth16_engine *engine = new_engine(threads, 0);
        groth16_circuit *circuit = new_circuit(engine, &f);
        groth16_pk *pk = new_pk(engine, &f, circuit);
        for (int kind = 0; kind < KINDS; kind++) {
            for (unsigned i = 0; i < 8; i++) one_job(argv[1], engine, pk, circuit, (enum kind)kind, (1u << i) * 50 - 50);
            left += report(NAMES[kind]);
        }
        groth16_pk_free(pk);
        groth16_circuit_free(circuit);
        groth16_engine_free(engine);
        left += report("the engine freed");
    }
    if (left) {
        printf("secrets: copies of secrets stay in memory\n");
        return 1;
    }
    puts("secrets: no copy stays");
    return 0;
}
