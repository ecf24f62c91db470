/* groth16.h - Groth16 proofs over BLS12-381 through a split pipeline.
 * Generated from src/ffi by cbindgen: do not edit, change the sources and run `make header`.
 *
 *   groth16_engine_create, groth16_pk_load, groth16_circuit_load     once
 *   groth16_start -> (groth16_poll, groth16_wait, or the event) -> groth16_finalize -> groth16_free
 *
 * What holds for every function here
 *   Status     Fallible functions return groth16_status: 0 is success, errors are negative.
 *              On an error no out-parameter is written, except where a function says so.
 *   Message    groth16_last_error() copies the text of this thread's last failed call;
 *              a failed job keeps its own text, which groth16_finalize puts there.
 *   Threads    Call anything from any thread, also on one handle at once; but releasing a
 *              handle must come after every other use of it. After fork() the child gets
 *              GROTH16_E_FORKED from an engine made before the fork, never a hang.
 *   Ownership  A handle written to an out-parameter is yours until you pass it, once, to the
 *              free function of its type. Free functions take NULL, in any order: a job keeps
 *              alive the key and circuit that it still needs.
 *   Structs    Set up every struct that starts with struct_size by GROTH16_INIT(&s). Zero in
 *              any other field means "default", and the default is the safe choice. Fields are
 *              only ever appended: an older library refuses a newer field that is not zero
 *              (GROTH16_E_UNSUPPORTED), and a newer one takes the fields that an older caller
 *              lacks as zero. Into an out-struct the library writes min(struct_size, its own)
 *              bytes and zeroes the rest. Structs without struct_size never grow.
 *   Choices    Every integer option has named constants below; 0 is its default.
 *   Stability  Within one GROTH16_ABI_MAJOR, which is the number in the SONAME, no function,
 *              constant or field is removed, renumbered or given another meaning. */

#ifndef GROTH16_H
#define GROTH16_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__GNUC__)
#define GROTH16_API __attribute__((visibility("default")))
#define GROTH16_CHECKED __attribute__((warn_unused_result))
#else
#define GROTH16_API
#define GROTH16_CHECKED
#endif

/* Zeroes a struct that starts with struct_size, and sets that. */
#define GROTH16_INIT(p) (memset((p), 0, sizeof *(p)), (void)((p)->struct_size = sizeof *(p)))


/* Of the ABI; the number in the SONAME. */
#define GROTH16_ABI_MAJOR 1

/* Of the ABI; grows when functions, constants or fields are added. */
#define GROTH16_ABI_MINOR 0

/* The values of groth16_status. */
enum groth16_status_code
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  GROTH16_OK = 0,
  /* An argument broke its documented contract. */
  GROTH16_E_INVALID = -1,
  /* Well formed, but not in this library or on this machine. */
  GROTH16_E_UNSUPPORTED = -2,
  /* Host memory, or a host limit that you set. */
  GROTH16_E_NO_MEMORY = -3,
  /* Device memory, after every smaller plan was tried. */
  GROTH16_E_DEVICE_MEMORY = -4,
  /* No usable GPU where one was asked for. */
  GROTH16_E_NO_DEVICE = -5,
  /* The GPU or its driver failed, and no retry was left. */
  GROTH16_E_DEVICE = -6,
  /* The system refused to open or read a file. */
  GROTH16_E_IO = -7,
  /* Key, circuit, witness or proof bytes are malformed. */
  GROTH16_E_FORMAT = -8,
  /* The witness does not satisfy the circuit. */
  GROTH16_E_UNSATISFIED = -9,
  /* The proof does not verify; it is withheld. */
  GROTH16_E_SELF_CHECK = -10,
  /* max_queued_jobs jobs are waiting, or memory is short: try again when a job has ended. */
  GROTH16_E_QUEUE_FULL = -11,
  /* The time that you gave ran out. */
  GROTH16_E_TIMEOUT = -12,
  /* Output buffer; the needed size was written. */
  GROTH16_E_TOO_SMALL = -13,
  /* You asked for the work to stop. */
  GROTH16_E_CANCELLED = -14,
  /* The engine was freed before the job ran. */
  GROTH16_E_SHUTDOWN = -15,
  /* A handle made before fork() was used in the child. */
  GROTH16_E_FORKED = -16,
  /* A bug in this library; the process is still sound. */
  GROTH16_E_INTERNAL = -17,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum groth16_status_code groth16_status_code;
#else
typedef int32_t groth16_status_code;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/* The values of groth16_state. */
enum groth16_state_code
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  GROTH16_QUEUED = 0,
  /* Evaluating or splitting scalars, or waiting for the device. */
  GROTH16_PREPARING = 1,
  GROTH16_ON_DEVICE = 2,
  /* Only G2 MSM and epilogue are left; the device serves other jobs. */
  GROTH16_FINISHING = 3,
  /* From here on, terminal. */
  GROTH16_DONE = 16,
  GROTH16_FAILED = 17,
  GROTH16_CANCELLED = 18,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum groth16_state_code groth16_state_code;
#else
typedef int32_t groth16_state_code;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/* The values of groth16_event. */
enum groth16_event_code
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /* a, b, c may be freed or reused: when they were copied, or, where a GPU reads them in groth16_buffers, just before
   * TERMINAL. */
  GROTH16_EVENT_ABC_RELEASED = 1,
  /* Every input may be freed; the state is final. */
  GROTH16_EVENT_TERMINAL = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum groth16_event_code groth16_event_code;
#else
typedef int32_t groth16_event_code;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/* Where kernels run. */
enum groth16_backend
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /* GPUs if there are any, else the CPU. */
  GROTH16_BACKEND_AUTO = 0,
  GROTH16_BACKEND_GPU = 1,
  GROTH16_BACKEND_CPU = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum groth16_backend groth16_backend;
#else
typedef uint32_t groth16_backend;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/* Where the G2 MSM runs. */
enum groth16_g2_placement
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  GROTH16_G2_AUTO = 0,
  GROTH16_G2_CPU = 1,
  GROTH16_G2_DEVICE = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum groth16_g2_placement groth16_g2_placement;
#else
typedef uint32_t groth16_g2_placement;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/* How much is logged; 0 is the default, GROTH16_LOG_INFO. */
enum groth16_log_level
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  GROTH16_LOG_ERROR = 1,
  GROTH16_LOG_WARN = 2,
  GROTH16_LOG_INFO = 3,
  GROTH16_LOG_DEBUG = 4,
  GROTH16_LOG_TRACE = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum groth16_log_level groth16_log_level;
#else
typedef int32_t groth16_log_level;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/* The form of a key file. */
enum groth16_format
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  GROTH16_FORMAT_AUTO = 0,
  /* Parameters of bellman, Zcash and Filecoin. */
  GROTH16_FORMAT_BELLMAN = 1,
  GROTH16_FORMAT_ZKEY = 2,
  GROTH16_FORMAT_GNARK = 3,
  GROTH16_FORMAT_ARKWORKS = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum groth16_format groth16_format;
#else
typedef int32_t groth16_format;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/* What is checked of a key's points. */
enum groth16_point_checks
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /* On the curve and in the subgroup of prime order. */
  GROTH16_CHECK_SUBGROUP = 0,
  GROTH16_CHECK_ON_CURVE = 1,
  GROTH16_CHECK_NOTHING = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum groth16_point_checks groth16_point_checks;
#else
typedef int32_t groth16_point_checks;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/* How a job's scalars are encoded. */
enum groth16_scalar_form
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /* The value itself, below the group order. */
  GROTH16_SCALARS_CANONICAL = 0,
  /* The value times 2^256 modulo the group order, as blst_fr. */
  GROTH16_SCALARS_MONTGOMERY = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum groth16_scalar_form groth16_scalar_form;
#else
typedef int32_t groth16_scalar_form;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/* How a proof is written. */
enum groth16_proof_format
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /* A, B, C compressed: 192 bytes, as Zcash and Filecoin use them. */
  GROTH16_PROOF_COMPRESSED = 0,
  /* A, B, C uncompressed: 384 bytes. */
  GROTH16_PROOF_UNCOMPRESSED = 1,
  /* snarkjs's JSON, no NUL at the end. */
  GROTH16_PROOF_JSON = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum groth16_proof_format groth16_proof_format;
#else
typedef int32_t groth16_proof_format;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/* Page-locked host memory. */
typedef struct groth16_buffer groth16_buffer;

/* R1CS matrices: immutable, shareable. */
typedef struct groth16_circuit groth16_circuit;

/* Devices, worker threads, queue. */
typedef struct groth16_engine groth16_engine;

/* One proof, from start to free. */
typedef struct groth16_job groth16_job;

/* A proving key: immutable, shareable. */
typedef struct groth16_pk groth16_pk;

/* 0 is success, errors are negative: see groth16_status_code. */
typedef int32_t groth16_status;

/* A GPU that the library can use. Texts end with a NUL. */
typedef struct groth16_device_info {
  size_t struct_size;
  char name[64];
  char uuid[40];
  char pci_bus_id[24];
  uint64_t memory_bytes;
  uint64_t free_bytes;
  int32_t compute_major;
  int32_t compute_minor;
} groth16_device_info;

/* Called on library threads and inside calls of yours, perhaps several at once; may call groth16_status_name only. text is one line without a
 * line feed, valid during the call. */
typedef void (*groth16_log_fn)(void *user, int32_t level, const char *text);

/* How an engine is built. */
typedef struct groth16_engine_options {
  size_t struct_size;
  /* default: all devices; with none, the CPU. C strings as nvidia-smi writes them, each once */
  const char *const *device_uuids;
  size_t num_device_uuids;
  /* GROTH16_BACKEND_... */
  uint32_t backend;
  /* slots that share one device, at most 64; default 2 */
  uint32_t jobs_per_device;
  /* one pool for all CPU work, at most 1024; default: all cores that the process may run on */
  uint32_t cpu_threads;
  /* GROTH16_G2_... */
  uint32_t g2_placement;
  /* beyond it GROTH16_E_QUEUE_FULL; default 64 */
  uint64_t max_queued_jobs;
  /* memory that keys and jobs may take; a job that does not fit beside what is in use is GROTH16_E_QUEUE_FULL, one
   * that never fits GROTH16_E_NO_MEMORY; default: nine tenths of what is free at creation, limits of control groups
   * included */
  uint64_t host_bytes_limit;
  /* memory that buffers may take, besides what host_bytes_limit leaves them; 0: no limit of their own */
  uint64_t pinned_bytes_limit;
  /* of each GPU, for keys, jobs and working memory; default: nine tenths of what is free at creation */
  uint64_t device_bytes_limit;
  groth16_log_fn log;
  void *log_user;
  /* GROTH16_LOG_...; default GROTH16_LOG_INFO */
  int32_t log_level;
  int32_t reserved;
} groth16_engine_options;

/* What an engine is and does; limits of 0 are none. */
typedef struct groth16_engine_info {
  size_t struct_size;
  /* GROTH16_BACKEND_GPU or GROTH16_BACKEND_CPU */
  uint32_t backend;
  /* GPUs */
  uint32_t num_devices;
  uint32_t jobs_per_device;
  uint32_t cpu_threads;
  /* in force */
  uint64_t host_bytes_limit;
  uint64_t pinned_bytes_limit;
  uint64_t device_bytes_limit;
  uint64_t host_bytes_used;
  uint64_t pinned_bytes_used;
  uint64_t device_bytes_used;
  uint64_t queued_jobs;
  uint64_t running_jobs;
} groth16_engine_info;

/* Compressed rows; column 0 is the constant one, then inputs, then aux. */
typedef struct groth16_matrix {
  /* num_rows + 1: where each row's terms start, then the number of terms */
  const uint64_t *row_starts;
  const uint32_t *columns;
  /* 32 bytes each, little-endian canonical */
  const void *values;
} groth16_matrix;

/* Where a circuit comes from. */
typedef struct groth16_circuit_options {
  size_t struct_size;
  /* an iden3 .r1cs file over the BLS12-381 scalar field, or ... */
  const char *path;
  /* ... its bytes, or ... */
  const void *data;
  size_t data_len;
  /* ... the matrices, copied before the call returns */
  struct groth16_matrix a;
  struct groth16_matrix b;
  struct groth16_matrix c;
  uint64_t num_rows;
  /* the constant one included */
  uint64_t num_inputs;
  uint64_t num_aux;
} groth16_circuit_options;

/* What a circuit holds; num_inputs counts the constant one, num_terms the terms of all matrices, zeros included. */
typedef struct groth16_circuit_info {
  size_t struct_size;
  uint64_t num_rows;
  uint64_t num_inputs;
  uint64_t num_aux;
  uint64_t num_terms;
} groth16_circuit_info;

/* Bit i is (words[i / 64] >> (i % 64)) & 1. */
typedef struct groth16_bits {
  const uint64_t *words;
  size_t count;
} groth16_bits;

/* Long work reports here, from a library thread: done of total, in bytes. A result other than 0 stops the work with
 * GROTH16_E_CANCELLED. */
typedef int32_t (*groth16_progress_fn)(void *user, uint64_t done, uint64_t total);

/* Where a key comes from and what is checked of it. */
typedef struct groth16_pk_options {
  size_t struct_size;
  /* a file, or ... */
  const char *path;
  /* ... bytes, copied before the call returns */
  const void *data;
  size_t data_len;
  /* gives the densities that bellman files lack, or ... */
  const struct groth16_circuit *circuit;
  /* ... the densities themselves: which aux variables have a nonzero coefficient in A, which inputs and which aux
   * variables in B; default (count 0): all */
  struct groth16_bits a_aux;
  struct groth16_bits b_inputs;
  struct groth16_bits b_aux;
  /* GROTH16_FORMAT_... */
  int32_t format;
  /* GROTH16_CHECK_...; less than the default only for a file that you trust, or with ... */
  int32_t point_checks;
  /* ... its expected BLAKE2b-512 digest, 64 bytes */
  const uint8_t *blake2b;
  groth16_progress_fn progress;
  void *progress_user;
  /* for GROTH16_FORMAT_GNARK, whose files lack it: the verifying key that was made with this key, as gnark writes it, in a
   * file, or ... */
  const char *vk_path;
  /* ... bytes. Without it no proof of this key can be verified: a job must ask to skip the self-check */
  const void *vk_data;
  size_t vk_data_len;
} groth16_pk_options;

/* What a key holds. */
typedef struct groth16_pk_info {
  size_t struct_size;
  /* the constant one included */
  uint64_t num_inputs;
  uint64_t num_aux;
  uint64_t domain_size;
  /* rows input_i * 0 = 0 that the key's form adds to those of the circuit */
  uint64_t num_rows_added;
  uint64_t host_bytes;
  uint64_t device_bytes;
  /* GROTH16_FORMAT_... */
  int32_t format;
  /* 1 if a public input has no influence (its point in IC is infinity): any value of it verifies. Always 0 for
   * GROTH16_FORMAT_BELLMAN, whose files are refused with such a point, and where no verifying key is known */
  int32_t unconstrained_inputs;
} groth16_pk_info;

/* Scalars of 32 bytes each, little-endian. */
typedef struct groth16_scalars {
  const void *data;
  size_t count;
} groth16_scalars;

/* What a job tells: see groth16_event_code. */
typedef int32_t groth16_event;

/* Called on a library thread with no lock held, perhaps before groth16_start has returned. ABC_RELEASED at most once
 * and before TERMINAL; TERMINAL exactly once for every started job. It may call start, poll, cancel and last_error;
 * at TERMINAL also finalize and free of this job, whose handle the thread in start must then not use. Other calls
 * that could wait answer GROTH16_E_INVALID there. Return quickly. */
typedef void (*groth16_event_fn)(void *user, struct groth16_job *job, groth16_event event);

/* What a job proves and how. */
typedef struct groth16_job_options {
  size_t struct_size;
  /* with it a, b, c stay empty; else they are the evaluations of all rows of the key, those that its form adds
   * included */
  const struct groth16_circuit *circuit;
  struct groth16_scalars a;
  struct groth16_scalars b;
  /* may stay empty: then a wrong witness is found by the self-check only */
  struct groth16_scalars c;
  /* the first is one */
  struct groth16_scalars inputs;
  struct groth16_scalars aux;
  /* 32 bytes each, canonical, copied; default: the system's random numbers */
  const uint8_t *r;
  const uint8_t *s;
  /* GROTH16_SCALARS_... */
  int32_t scalar_form;
  /* higher goes first; among equals, first in first out. A job that has waited for 5 minutes gets one of any four
   * starts, oldest first, unless a job of INT32_MAX waits */
  int32_t priority;
  /* GROTH16_PROOF_... */
  int32_t proof_format;
  /* 0: the proof is verified before DONE */
  int32_t skip_self_check;
  groth16_event_fn event;
  void *event_user;
} groth16_job_options;

/* Where a job is: see groth16_state_code. A job only moves down that list; one that is retried stays where it had come to. */
typedef int32_t groth16_state;

/* Where a job is. Times are nanoseconds; that of a phase that has not ended counts up to now. */
typedef struct groth16_progress {
  size_t struct_size;
  groth16_state state;
  /* GROTH16_OK until the job has failed */
  groth16_status result;
  /* index, or -1 for the CPU or before one was chosen */
  int64_t device;
  uint32_t abc_released;
  uint32_t retries;
  uint64_t queued_ns;
  uint64_t prepare_ns;
  uint64_t device_ns;
  uint64_t finish_ns;
} groth16_progress;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/* GROTH16_ABI_MAJOR << 16 | GROTH16_ABI_MINOR of the library that is loaded; compare it with the header's. */
GROTH16_API uint32_t groth16_abi_version(void);

/* The library's version, such as "0.1.0"; a static string. */
GROTH16_API const char *groth16_version(void);

/* The name of a status, such as "GROTH16_E_FORMAT"; a static string, also for numbers that are no status. */
GROTH16_API const char *groth16_status_name(groth16_status status);

/* Copies the text of this thread's last failed call into buf: at most cap - 1 bytes, and a NUL. Returns the length of
 * the whole text without its NUL, so that buf NULL with cap 0 asks for it. Successful calls leave the text alone. */
GROTH16_API
size_t groth16_last_error(char *buf,
                          size_t cap);

/* How many GPUs the library can use; 0 without a GPU, a driver, or a build for them. */
GROTH16_API GROTH16_CHECKED groth16_status groth16_device_count(size_t *count);

/* One of the devices; index is below their count. free_bytes takes a context on the device for a moment, some tenths of a
 * second. */
GROTH16_API
GROTH16_CHECKED
groth16_status groth16_device_get(size_t index,
                                  struct groth16_device_info *info);

/* Starts an engine. options may be NULL for all defaults. */
GROTH16_API
GROTH16_CHECKED
groth16_status groth16_engine_create(const struct groth16_engine_options *options,
                                     struct groth16_engine **engine);

/* Takes no more jobs, ends those on a device, fails the rest with GROTH16_E_SHUTDOWN, joins all threads. When it
 * returns, each job is terminal and each callback has returned. Jobs, keys, circuits and buffers stay yours: poll, finalize
 * and verify still work on them. Not from a callback: there it does nothing. In a forked child every free function
 * returns without touching anything. */
GROTH16_API
void groth16_engine_free(struct groth16_engine *engine);

/* What an engine is and does now. */
GROTH16_API
GROTH16_CHECKED
groth16_status groth16_engine_get_info(const struct groth16_engine *engine,
                                       struct groth16_engine_info *info);

/* Prometheus text, no NUL at the end: queue depth, device busy and idle time, per-phase histograms, memory. *len is
 * written on OK and on GROTH16_E_TOO_SMALL; the text may grow between two calls. */
GROTH16_API
GROTH16_CHECKED
groth16_status groth16_engine_metrics(const struct groth16_engine *engine,
                                      char *buf,
                                      size_t cap,
                                      size_t *len);

/* Writes the timeline of what ran where to a file, as a Chrome trace (JSON) that Perfetto opens: the newest 16384
 * stages, a few thousand jobs. */
GROTH16_API
GROTH16_CHECKED
groth16_status groth16_engine_trace(const struct groth16_engine *engine,
                                    const char *path);

/* How many memory-hungry CPU phases (G2 MSMs) run now: a host that synthesises on the same cores may yield while it
 * is not 0. A relaxed load; call it as often as you like. 0 for NULL. */
GROTH16_API
uint32_t groth16_engine_memory_pressure(const struct groth16_engine *engine);

/* Loads a circuit and checks it. */
GROTH16_API
GROTH16_CHECKED
groth16_status groth16_circuit_load(struct groth16_engine *engine,
                                    const struct groth16_circuit_options *options,
                                    struct groth16_circuit **circuit);

/* What a circuit holds. */
GROTH16_API
GROTH16_CHECKED
groth16_status groth16_circuit_get_info(const struct groth16_circuit *circuit,
                                        struct groth16_circuit_info *info);

/* Releases a circuit; jobs that need it keep it alive. */
GROTH16_API void groth16_circuit_free(struct groth16_circuit *circuit);

/* Loads a key on the engine's threads and checks it. The file of path stays open: while no job uses the key its points may
 * leave memory for others, and a job that needs them waits until they are read again; it fails with GROTH16_E_IO if they
 * cannot be. */
GROTH16_API
GROTH16_CHECKED
groth16_status groth16_pk_load(struct groth16_engine *engine,
                               const struct groth16_pk_options *options,
                               struct groth16_pk **pk);

/* What a key holds. */
GROTH16_API
GROTH16_CHECKED
groth16_status groth16_pk_get_info(const struct groth16_pk *pk,
                                   struct groth16_pk_info *info);

/* The verifying key in bellman's encoding; GROTH16_E_INVALID where it is not known (a gnark key without it). *len is
 * written on OK and on GROTH16_E_TOO_SMALL; buf NULL with cap 0 asks the size. */
GROTH16_API
GROTH16_CHECKED
groth16_status groth16_pk_get_vk(const struct groth16_pk *pk,
                                 void *buf,
                                 size_t cap,
                                 size_t *len);

/* Releases a key; jobs that need it keep it alive. */
GROTH16_API void groth16_pk_free(struct groth16_pk *pk);

/* Allocates size bytes, zeroed, at a page's edge. Optional: a GPU reads a, b and c straight from there, where all that are
 * given lie in buffers; the CPU then touches none of them. A job whose scalars lie wholly inside one finds that out by
 * address and keeps it alive. For an engine on GPUs the memory is page-locked, which takes some 0.2 s a GB, so keep buffers
 * for many jobs; where the system refuses to lock it, scalars are copied as from anywhere. */
GROTH16_API
GROTH16_CHECKED
groth16_status groth16_buffer_alloc(struct groth16_engine *engine,
                                    size_t size,
                                    struct groth16_buffer **buffer);

/* Where the bytes are; NULL for NULL. */
GROTH16_API void *groth16_buffer_data(struct groth16_buffer *buffer);

/* Releases a buffer. Its bytes are gone at once, or when the last job that reads them has ended; the engine keeps the room
 * for the next of its size. */
GROTH16_API
void groth16_buffer_free(struct groth16_buffer *buffer);

/* Checks sizes and queues the job; never waits for a device. Engine, pk and circuit must belong together. The option
 * struct is read before this returns; the scalars are borrowed and must not change until released. c may stay empty. */
GROTH16_API
GROTH16_CHECKED
groth16_status groth16_start(struct groth16_engine *engine,
                             struct groth16_pk *pk,
                             const struct groth16_job_options *options,
                             struct groth16_job **job);

/* Where a job is; never waits for work. */
GROTH16_API
GROTH16_CHECKED
groth16_status groth16_poll(const struct groth16_job *job,
                            struct groth16_progress *progress);

/* GROTH16_OK once terminal, whatever the result; timeout_ns 0 only looks, below 0 waits for ever. A wait in another
 * thread is a use: do not free under it. */
GROTH16_API
GROTH16_CHECKED
groth16_status groth16_wait(const struct groth16_job *job,
                            int64_t timeout_ns);

/* Asks: the job becomes terminal soon, perhaps still DONE. */
GROTH16_API void groth16_cancel(struct groth16_job *job);

/* Waits until the job is terminal (it joins the G2 MSM), then copies the proof out; may be repeated. In the callback,
 * and once poll or wait said terminal, it returns at once. If the job failed it returns why, and sets the message.
 * *len is written on OK and on GROTH16_E_TOO_SMALL; proof NULL with cap 0 asks the size. */
GROTH16_API
GROTH16_CHECKED
groth16_status groth16_finalize(const struct groth16_job *job,
                                void *proof,
                                size_t cap,
                                size_t *len);

/* Releases a job in any state. Cancels if need be; returns only when the library is done with the job's scalars and
 * its callback. In a callback it never waits: there it is for the job whose TERMINAL event it is; any other job's
 * scalars must then live until that job's own TERMINAL event, which still comes, with the freed handle as a mere number. */
GROTH16_API
void groth16_free(struct groth16_job *job);

/* Verifies a proof in a form that a job can give (told by its length) for canonical inputs, of which the first is
 * one. *valid is 1 or 0; bytes that are no proof are GROTH16_E_FORMAT. */
GROTH16_API
GROTH16_CHECKED
groth16_status groth16_verify(const struct groth16_pk *pk,
                              struct groth16_scalars inputs,
                              const void *proof,
                              size_t len,
                              int32_t *valid);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* GROTH16_H */
