/* A proving host in C99: proves random Sapling Spends and Outputs through libgroth16's split pipeline.
 *
 *   host FIXTURES SPENDS OUTPUTS
 *
 * FIXTURES is a directory that `recorder record` wrote. Each proof becomes a line on standard output,
 *
 *   proof KIND INDEX HEX queued 0.1 ms prepare 5.2 ms device 400.3 ms finish 3.1 ms total 408.7 ms
 *
 * which `recorder verify` checks; totals follow. Progress appears on standard error if that is a terminal.
 *
 *   cc -std=c99 host.c $(pkg-config --cflags --libs groth16) -o host
 */
#define _POSIX_C_SOURCE 200809L
#include <groth16.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  NUM_KINDS = 2,
  MAX_TASKS = 100000,
  IN_FLIGHT = 8, /* jobs between start and finalize: their witnesses are in memory */
  SCALAR_SIZE = 32,
  PROOF_SIZE = 192,
  PATH_SIZE = 4096
};

static const struct {
  const char *name;
  size_t num_inputs; /* public inputs and the one in front of them */
} kinds[NUM_KINDS] = {{"spend", 8}, {"output", 6}};

struct task {
  int kind;
  unsigned long index;
  unsigned char *witness; /* the file's bytes: borrowed by the job until it is terminal */
  groth16_job *job;
};

struct host {
  const char *fixtures;
  int show_progress;
  groth16_engine *engine;
  groth16_circuit *circuits[NUM_KINDS];
  groth16_pk *pks[NUM_KINDS];
  struct task *tasks;
  size_t num_tasks, started, finished;
};

/* ---- messages ---- */

static void clear_progress(const struct host *host) {
  if (host->show_progress)
    fputs("\r\033[K", stderr);
}

/* Says what went wrong; 0 for the caller to return. */
static int fail(const struct host *host, const char *format, ...) {
  va_list arguments;
  clear_progress(host);
  fputs("host: ", stderr);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  return 0;
}

/* The same for a call of the library that failed: with the status and the library's own words. */
static int fail_with(const struct host *host, groth16_status status, const char *call, const char *what) {
  char message[1024] = "";
  groth16_last_error(message, sizeof message);
  return fail(host, "%s (%s): %s: %s", call, what, groth16_status_name(status), message);
}

/* ---- witness files ---- */

static uint32_t get_u32(const unsigned char *p) {
  return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t get_u64(const unsigned char *p) {
  return get_u32(p) | (uint64_t)get_u32(p + 4) << 32;
}

/* The modulus of BLS12-381's scalar field, little-endian. */
static const unsigned char modulus[SCALAR_SIZE] = {
    0x01, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xfe, 0x5b, 0xfe, 0xff, 0x02, 0xa4, 0xbd, 0x53,
    0x05, 0xd8, 0xa1, 0x09, 0x08, 0xd8, 0x39, 0x33, 0x48, 0x7d, 0x9d, 0x29, 0x53, 0xa7, 0xed, 0x73};

/* Finds the scalars in the bytes of an iden3 .wtns file. Returns NULL, or what is wrong with it. */
static const char *parse_witness(const unsigned char *bytes, size_t len, groth16_scalars *scalars) {
  const unsigned char *header = NULL, *data = NULL;
  uint64_t data_len = 0;
  size_t at = 12;
  if (len < 12 || memcmp(bytes, "wtns", 4) != 0)
    return "not a .wtns file";
  if (get_u32(bytes + 4) != 2)
    return "not version 2";
  while (at < len) {
    uint32_t type;
    uint64_t size;
    if (len - at < 12)
      return "cut off in a section's head";
    type = get_u32(bytes + at);
    size = get_u64(bytes + at + 4);
    at += 12;
    if (size > len - at)
      return "a section is longer than the file";
    if (type == 1 && size == 4 + SCALAR_SIZE + 4) {
      header = bytes + at;
    } else if (type == 2) {
      data = bytes + at;
      data_len = size;
    }
    at += (size_t)size;
  }
  if (header == NULL || data == NULL)
    return "a section is missing";
  if (get_u32(header) != SCALAR_SIZE || memcmp(header + 4, modulus, SCALAR_SIZE) != 0)
    return "not over the scalar field of BLS12-381";
  if (data_len != (uint64_t)SCALAR_SIZE * get_u32(header + 4 + SCALAR_SIZE))
    return "the number of values and the section's size disagree";
  scalars->data = data;
  scalars->count = (size_t)data_len / SCALAR_SIZE;
  return NULL;
}

/* A whole file in memory from malloc; NULL with errno set if that fails. */
static unsigned char *read_file(const char *path, size_t *len) {
  unsigned char *bytes = NULL;
  long size;
  FILE *file = fopen(path, "rb");
  if (file == NULL)
    return NULL;
  errno = EIO;
  if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) > 0 && fseek(file, 0, SEEK_SET) == 0 &&
      (bytes = malloc((size_t)size)) != NULL) {
    *len = (size_t)size;
    if (fread(bytes, 1, *len, file) != *len) {
      free(bytes);
      bytes = NULL;
    }
  }
  fclose(file);
  return bytes;
}

/* ---- keys and circuits ---- */

struct loading {
  const char *kind;
  int show;
};

static int32_t show_loading(void *user, uint64_t done, uint64_t total) {
  const struct loading *loading = user;
  if (loading->show && total > 0)
    fprintf(stderr, "\r\033[Kloading the key of %s: %3.0f %%", loading->kind, 100.0 * (double)done / (double)total);
  return 0; /* go on */
}

static int load_kind(struct host *host, int kind) {
  char path[PATH_SIZE];
  groth16_circuit_options circuit;
  groth16_pk_options pk;
  groth16_status status;
  struct loading loading;

  snprintf(path, sizeof path, "%s/%s.r1cs", host->fixtures, kinds[kind].name);
  GROTH16_INIT(&circuit);
  circuit.path = path;
  status = groth16_circuit_load(host->engine, &circuit, &host->circuits[kind]);
  if (status != GROTH16_OK)
    return fail_with(host, status, "groth16_circuit_load", path);

  loading.kind = kinds[kind].name;
  loading.show = host->show_progress;
  snprintf(path, sizeof path, "%s/%s.params", host->fixtures, kinds[kind].name);
  GROTH16_INIT(&pk);
  pk.path = path;
  pk.format = GROTH16_FORMAT_BELLMAN;
  pk.circuit = host->circuits[kind]; /* bellman's keys leave points out where the circuit has zeros */
  pk.progress = show_loading;
  pk.progress_user = &loading;
  status = groth16_pk_load(host->engine, &pk, &host->pks[kind]);
  clear_progress(host);
  if (status != GROTH16_OK)
    return fail_with(host, status, "groth16_pk_load", path);
  return 1;
}

static int set_up(struct host *host) {
  groth16_engine_options options;
  groth16_status status;
  int kind;
  GROTH16_INIT(&options);
  status = groth16_engine_create(&options, &host->engine);
  if (status != GROTH16_OK)
    return fail_with(host, status, "groth16_engine_create", "default options");
  for (kind = 0; kind < NUM_KINDS; kind++) {
    size_t i = 0;
    while (i < host->num_tasks && host->tasks[i].kind != kind)
      i++;
    if (i < host->num_tasks && !load_kind(host, kind))
      return 0;
  }
  return 1;
}

/* ---- proofs ---- */

/* Starts the next task. 1: started, or the queue is full and something in flight will make room. */
static int start_next(struct host *host, int *queue_full) {
  struct task *task = &host->tasks[host->started];
  const size_t num_inputs = kinds[task->kind].num_inputs;
  char path[PATH_SIZE];
  const char *wrong;
  size_t len = 0;
  groth16_scalars scalars;
  groth16_job_options options;
  groth16_status status;

  snprintf(path, sizeof path, "%s/%s-%lu.wtns", host->fixtures, kinds[task->kind].name, task->index);
  task->witness = read_file(path, &len);
  if (task->witness == NULL)
    return fail(host, "%s: %s", path, strerror(errno));
  wrong = parse_witness(task->witness, len, &scalars);
  if (wrong == NULL && scalars.count < num_inputs)
    wrong = "fewer values than public inputs";
  if (wrong != NULL)
    return fail(host, "%s: %s", path, wrong);

  GROTH16_INIT(&options);
  options.circuit = host->circuits[task->kind];
  options.inputs.data = scalars.data;
  options.inputs.count = num_inputs;
  options.aux.data = (const unsigned char *)scalars.data + num_inputs * SCALAR_SIZE;
  options.aux.count = scalars.count - num_inputs;
  status = groth16_start(host->engine, host->pks[task->kind], &options, &task->job);
  *queue_full = status == GROTH16_E_QUEUE_FULL && host->started > host->finished;
  if (*queue_full) {
    free(task->witness);
    task->witness = NULL;
    return 1;
  }
  if (status != GROTH16_OK)
    return fail_with(host, status, "groth16_start", path);
  host->started++;
  return 1;
}

/* Shows where the jobs in flight are. */
static int show_jobs(const struct host *host) {
  size_t i, queued = 0, running = 0, done = 0;
  for (i = host->finished; i < host->started; i++) {
    groth16_progress progress;
    groth16_status status;
    GROTH16_INIT(&progress);
    status = groth16_poll(host->tasks[i].job, &progress);
    if (status != GROTH16_OK)
      return fail_with(host, status, "groth16_poll", kinds[host->tasks[i].kind].name);
    queued += progress.state == GROTH16_QUEUED;
    running += progress.state > GROTH16_QUEUED && progress.state < GROTH16_DONE;
    done += progress.state >= GROTH16_DONE;
  }
  fprintf(stderr, "\r\033[K%lu of %lu proofs; in flight: %lu queued, %lu running, %lu done",
          (unsigned long)host->finished, (unsigned long)host->num_tasks, (unsigned long)queued,
          (unsigned long)running, (unsigned long)done);
  return 1;
}

/* Prints the proof of the oldest task, which is terminal, and frees its job. */
static int finish_oldest(struct host *host) {
  struct task *task = &host->tasks[host->finished];
  unsigned char proof[PROOF_SIZE];
  groth16_progress progress;
  groth16_status status;
  size_t i, len = 0;
  char what[64];
  const double ms = 1e-6;

  snprintf(what, sizeof what, "%s %lu", kinds[task->kind].name, task->index);
  status = groth16_finalize(task->job, proof, sizeof proof, &len);
  if (status != GROTH16_OK)
    return fail_with(host, status, "groth16_finalize", what);
  GROTH16_INIT(&progress);
  status = groth16_poll(task->job, &progress);
  if (status != GROTH16_OK)
    return fail_with(host, status, "groth16_poll", what);
  groth16_free(task->job);
  task->job = NULL;
  free(task->witness);
  task->witness = NULL;
  host->finished++;

  clear_progress(host);
  printf("proof %s ", what);
  for (i = 0; i < len; i++)
    printf("%02x", proof[i]);
  printf(" queued %.1f ms prepare %.1f ms device %.1f ms finish %.1f ms total %.1f ms\n",
         (double)progress.queued_ns * ms, (double)progress.prepare_ns * ms, (double)progress.device_ns * ms,
         (double)progress.finish_ns * ms,
         (double)(progress.queued_ns + progress.prepare_ns + progress.device_ns + progress.finish_ns) * ms);
  if (fflush(stdout) != 0)
    return fail(host, "standard output: %s", strerror(errno));
  return 1;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Keeps up to IN_FLIGHT jobs started and finalizes them in order. */
static int prove_all(struct host *host) {
  const int64_t tick_ns = 20 * 1000 * 1000;
  const double begin = now();
  double seconds;
  while (host->finished < host->num_tasks) {
    int queue_full = 0;
    groth16_status status;
    while (!queue_full && host->started < host->num_tasks && host->started - host->finished < IN_FLIGHT)
      if (!start_next(host, &queue_full))
        return 0;
    if (host->show_progress && !show_jobs(host))
      return 0;
    status = groth16_wait(host->tasks[host->finished].job, tick_ns);
    if (status == GROTH16_OK) {
      if (!finish_oldest(host))
        return 0;
    } else if (status != GROTH16_E_TIMEOUT) {
      return fail_with(host, status, "groth16_wait", kinds[host->tasks[host->finished].kind].name);
    }
  }
  seconds = now() - begin;
  printf("%lu proofs in %.2f s: %.2f proofs per second\n", (unsigned long)host->finished, seconds,
         (double)host->finished / seconds);
  if (fflush(stdout) != 0)
    return fail(host, "standard output: %s", strerror(errno));
  return 1;
}

/* Releases everything, wherever the host stopped; NULL is fine for every free function. */
static void tear_down(struct host *host) {
  size_t i;
  for (i = 0; i < host->num_tasks; i++) {
    groth16_free(host->tasks[i].job); /* returns once the library is done with the witness */
    free(host->tasks[i].witness);
  }
  free(host->tasks);
  for (i = 0; i < NUM_KINDS; i++) {
    groth16_pk_free(host->pks[i]);
    groth16_circuit_free(host->circuits[i]);
  }
  groth16_engine_free(host->engine);
}

/* A number up to MAX_TASKS, or -1. */
static long parse_count(const char *text) {
  char *end;
  const long count = strtol(text, &end, 10);
  return *text == '\0' || *end != '\0' || count < 0 || count > MAX_TASKS ? -1 : count;
}

int main(int argc, char **argv) {
  struct host host;
  long counts[NUM_KINDS], i;
  int kind, ok;
  memset(&host, 0, sizeof host);
  counts[0] = argc == 4 ? parse_count(argv[2]) : -1;
  counts[1] = argc == 4 ? parse_count(argv[3]) : -1;
  if (counts[0] < 0 || counts[1] < 0 || counts[0] + counts[1] == 0) {
    fprintf(stderr, "usage: host FIXTURES SPENDS OUTPUTS\n");
    return 2;
  }
  host.fixtures = argv[1];
  host.show_progress = isatty(STDERR_FILENO);
  if (strlen(host.fixtures) > PATH_SIZE - 64) {
    fail(&host, "the path of the fixtures is too long");
    return 2;
  }
  host.tasks = calloc((size_t)(counts[0] + counts[1]), sizeof *host.tasks);
  if (host.tasks == NULL) {
    fail(&host, "out of memory");
    return 1;
  }
  for (kind = 0; kind < NUM_KINDS; kind++)
    for (i = 0; i < counts[kind]; i++) {
      host.tasks[host.num_tasks].kind = kind;
      host.tasks[host.num_tasks++].index = (unsigned long)i;
    }
  if (host.show_progress)
    fprintf(stderr, "libgroth16 %s\n", groth16_version());
  ok = set_up(&host) && prove_all(&host);
  tear_down(&host);
  return ok ? 0 : 1;
}
