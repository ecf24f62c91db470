/* What cgo needs around groth16.h: calls that answer status and message together, and callbacks into Go. */
#ifndef GROTH16_GO_SHIM_H
#define GROTH16_GO_SHIM_H

#include <groth16.h>
#include <stdlib.h>

/* message is from malloc and the caller's; NULL on success and where memory ran out. */
typedef struct {
  groth16_status status;
  char *message;
} shim_result;

/* groth16_last_error is per thread, and a goroutine may change threads between two calls of C: each function below
 * makes its call and fetches the message in one go. */
static inline shim_result shim_done(groth16_status status) {
  shim_result result = {status, NULL};
  if (status != GROTH16_OK) {
    const size_t cap = groth16_last_error(NULL, 0) + 1;
    result.message = malloc(cap);
    if (result.message != NULL)
      groth16_last_error(result.message, cap);
  }
  return result;
}

/* Exported by callbacks.go. user is a cgo.Handle, an integer: it is never a pointer variable of Go's, whose collector
 * would take it for a bad pointer. */
extern void goGroth16Event(uintptr_t user, int32_t event);
extern int32_t goGroth16Progress(uintptr_t user, uint64_t done, uint64_t total);
extern void goGroth16Log(uintptr_t user, int32_t level, char *text);

static void shim_event(void *user, groth16_job *job, groth16_event event) {
  (void)job;
  goGroth16Event((uintptr_t)user, event);
}

static int32_t shim_progress(void *user, uint64_t done, uint64_t total) {
  return goGroth16Progress((uintptr_t)user, done, total);
}

static void shim_log(void *user, int32_t level, const char *text) {
  goGroth16Log((uintptr_t)user, level, (char *)text);
}

/* ---- calls with callbacks: user is 0 or a handle, set in a copy of the options ---- */

static inline shim_result shim_engine_create(const groth16_engine_options *options, uintptr_t user,
                                             groth16_engine **engine) {
  groth16_engine_options with = *options;
  if (user != 0) {
    with.log = shim_log;
    with.log_user = (void *)user;
  }
  return shim_done(groth16_engine_create(&with, engine));
}

static inline shim_result shim_pk_load(groth16_engine *engine, const groth16_pk_options *options, uintptr_t user,
                                       groth16_pk **pk) {
  groth16_pk_options with = *options;
  if (user != 0) {
    with.progress = shim_progress;
    with.progress_user = (void *)user;
  }
  return shim_done(groth16_pk_load(engine, &with, pk));
}

static inline shim_result shim_start(groth16_engine *engine, groth16_pk *pk, const groth16_job_options *options,
                                     uintptr_t user, groth16_job **job) {
  groth16_job_options with = *options;
  if (user != 0) {
    with.event = shim_event;
    with.event_user = (void *)user;
  }
  return shim_done(groth16_start(engine, pk, &with, job));
}

/* ---- calls without ---- */

static inline shim_result shim_device_count(size_t *count) {
  return shim_done(groth16_device_count(count));
}

static inline shim_result shim_device_get(size_t index, groth16_device_info *info) {
  return shim_done(groth16_device_get(index, info));
}

static inline shim_result shim_engine_get_info(const groth16_engine *engine, groth16_engine_info *info) {
  return shim_done(groth16_engine_get_info(engine, info));
}

static inline shim_result shim_engine_metrics(const groth16_engine *engine, char *buf, size_t cap, size_t *len) {
  return shim_done(groth16_engine_metrics(engine, buf, cap, len));
}

static inline shim_result shim_engine_trace(const groth16_engine *engine, const char *path) {
  return shim_done(groth16_engine_trace(engine, path));
}

static inline shim_result shim_circuit_load(groth16_engine *engine, const groth16_circuit_options *options,
                                            groth16_circuit **circuit) {
  return shim_done(groth16_circuit_load(engine, options, circuit));
}

static inline shim_result shim_circuit_get_info(const groth16_circuit *circuit, groth16_circuit_info *info) {
  return shim_done(groth16_circuit_get_info(circuit, info));
}

static inline shim_result shim_pk_get_info(const groth16_pk *pk, groth16_pk_info *info) {
  return shim_done(groth16_pk_get_info(pk, info));
}

static inline shim_result shim_pk_get_vk(const groth16_pk *pk, void *buf, size_t cap, size_t *len) {
  return shim_done(groth16_pk_get_vk(pk, buf, cap, len));
}

static inline shim_result shim_buffer_alloc(groth16_engine *engine, size_t size, groth16_buffer **buffer) {
  return shim_done(groth16_buffer_alloc(engine, size, buffer));
}

static inline shim_result shim_poll(const groth16_job *job, groth16_progress *progress) {
  return shim_done(groth16_poll(job, progress));
}

static inline shim_result shim_finalize(const groth16_job *job, void *proof, size_t cap, size_t *len) {
  return shim_done(groth16_finalize(job, proof, cap, len));
}

static inline shim_result shim_verify(const groth16_pk *pk, groth16_scalars inputs, const void *proof, size_t len,
                                      int32_t *valid) {
  return shim_done(groth16_verify(pk, inputs, proof, len, valid));
}

#endif
