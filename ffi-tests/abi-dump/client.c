/* A client of the whole C ABI. It is frozen beside each released header, and run against every later library.
 *
 *   client KEY CIRCUIT NUM_INPUTS WITNESS TRACE
 */
#include <groth16.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      char text_[512]; \
      groth16_last_error(text_, sizeof text_); \
      fprintf(stderr, "%s:%d: not so: %s (last error: %s)\n", __FILE__, __LINE__, #condition, text_); \
      exit(1); \
    } \
  } while (0)

static unsigned char witness[1 << 20], proof[384], vk[1 << 16];
static char text[1 << 20];
static int terminals, released, progressed, logged;

static void log_line(void *user, int32_t level, const char *line) {
  (void)line;
  CHECK(user == &logged && level >= GROTH16_LOG_ERROR && level <= GROTH16_LOG_TRACE);
  logged = 1;
}

static int32_t progress(void *user, uint64_t done, uint64_t total) {
  CHECK(user == &progressed && done <= total);
  progressed = 1;
  return 0;
}

static void event(void *user, groth16_job *job, groth16_event what) {
  CHECK(user == &terminals && job != NULL);
  if (what == GROTH16_EVENT_TERMINAL) terminals++;
  if (what == GROTH16_EVENT_ABC_RELEASED) released++;
}

int main(int argc, char **argv) {
  groth16_engine *engine = NULL;
  groth16_circuit *circuit = NULL;
  groth16_pk *pk = NULL;
  groth16_job *job = NULL, *second = NULL;
  groth16_buffer *buffer = NULL;
  size_t len = 0, count, devices = 0;
  const size_t num_inputs = argc == 6 ? (size_t)atoi(argv[3]) : 0;
  int32_t valid = -1;
  FILE *file;
  groth16_engine_options engine_options;
  groth16_engine_info engine_info;
  groth16_circuit_options circuit_options;
  groth16_circuit_info circuit_info;
  groth16_pk_options pk_options;
  groth16_pk_info pk_info;
  groth16_job_options options;
  groth16_progress now;
  groth16_scalars inputs;

  CHECK(num_inputs > 0);
  CHECK(groth16_abi_version() >> 16 == GROTH16_ABI_MAJOR && (groth16_abi_version() & 0xffff) >= GROTH16_ABI_MINOR);
  CHECK(groth16_version()[0] != 0 && strcmp(groth16_status_name(GROTH16_E_FORMAT), "GROTH16_E_FORMAT") == 0);
  CHECK(groth16_device_count(&devices) == GROTH16_OK);

  GROTH16_INIT(&engine_options);
  engine_options.backend = GROTH16_BACKEND_CPU;
  engine_options.jobs_per_device = 1;
  engine_options.cpu_threads = 2;
  engine_options.g2_placement = GROTH16_G2_CPU;
  engine_options.max_queued_jobs = 4;
  engine_options.host_bytes_limit = 1 << 30;
  engine_options.log = log_line;
  engine_options.log_user = &logged;
  engine_options.log_level = GROTH16_LOG_TRACE;
  CHECK(groth16_engine_create(&engine_options, &engine) == GROTH16_OK && logged);
  GROTH16_INIT(&engine_info);
  CHECK(groth16_engine_get_info(engine, &engine_info) == GROTH16_OK);
  CHECK(engine_info.backend == GROTH16_BACKEND_CPU && engine_info.cpu_threads == 2 && engine_info.host_bytes_limit == 1 << 30);

  GROTH16_INIT(&circuit_options);
  circuit_options.path = argv[2];
  CHECK(groth16_circuit_load(engine, &circuit_options, &circuit) == GROTH16_OK);
  GROTH16_INIT(&circuit_info);
  CHECK(groth16_circuit_get_info(circuit, &circuit_info) == GROTH16_OK && circuit_info.num_inputs == num_inputs);

  GROTH16_INIT(&pk_options);
  pk_options.path = "/no/such/key";
  CHECK(groth16_pk_load(engine, &pk_options, &pk) == GROTH16_E_IO && pk == NULL);
  CHECK(groth16_last_error(text, sizeof text) > 0 && strstr(text, "/no/such/key") != NULL);
  pk_options.path = argv[1];
  pk_options.circuit = circuit;
  pk_options.format = GROTH16_FORMAT_BELLMAN;
  pk_options.point_checks = GROTH16_CHECK_SUBGROUP;
  pk_options.progress = progress;
  pk_options.progress_user = &progressed;
  CHECK(groth16_pk_load(engine, &pk_options, &pk) == GROTH16_OK && progressed);
  GROTH16_INIT(&pk_info);
  CHECK(groth16_pk_get_info(pk, &pk_info) == GROTH16_OK);
  CHECK(pk_info.num_inputs == num_inputs && pk_info.format == GROTH16_FORMAT_BELLMAN && pk_info.unconstrained_inputs == 0);
  CHECK(groth16_pk_get_vk(pk, NULL, 0, &len) == GROTH16_E_TOO_SMALL && len > 0 && len <= sizeof vk);
  CHECK(groth16_pk_get_vk(pk, vk, sizeof vk, &len) == GROTH16_OK);

  CHECK((file = fopen(argv[4], "rb")) != NULL);
  count = (fread(witness, 1, sizeof witness, file) - 76) / 32;
  fclose(file);
  CHECK(count == circuit_info.num_inputs + circuit_info.num_aux);
  CHECK(groth16_buffer_alloc(engine, 32 * count, &buffer) == GROTH16_OK);
  memcpy(groth16_buffer_data(buffer), witness + 76, 32 * count);

  GROTH16_INIT(&options);
  options.circuit = circuit;
  options.inputs.data = witness + 76;
  options.inputs.count = num_inputs;
  options.aux.data = (unsigned char *)groth16_buffer_data(buffer) + 32 * num_inputs;
  options.aux.count = count - num_inputs;
  options.event = event;
  options.event_user = &terminals;
  inputs = options.inputs;
  CHECK(groth16_start(engine, pk, &options, &job) == GROTH16_OK);
  options.proof_format = GROTH16_PROOF_UNCOMPRESSED;
  options.event = NULL;
  options.event_user = NULL;
  CHECK(groth16_start(engine, pk, &options, &second) == GROTH16_OK);
  groth16_buffer_free(buffer);

  CHECK(groth16_wait(job, -1) == GROTH16_OK);
  GROTH16_INIT(&now);
  CHECK(groth16_poll(job, &now) == GROTH16_OK && now.state == GROTH16_DONE && now.result == GROTH16_OK);
  CHECK(now.device_ns > 0 && now.finish_ns > 0);
  CHECK(groth16_finalize(job, proof, sizeof proof, &len) == GROTH16_OK && len == 192);
  CHECK(groth16_verify(pk, inputs, proof, len, &valid) == GROTH16_OK && valid == 1);
  CHECK(groth16_finalize(second, proof, sizeof proof, &len) == GROTH16_OK && len == 384);
  CHECK(groth16_verify(pk, inputs, proof, len, &valid) == GROTH16_OK && valid == 1);
  inputs.count--;
  CHECK(groth16_verify(pk, inputs, proof, len, &valid) == GROTH16_E_INVALID);
  groth16_free(second);
  CHECK(groth16_start(engine, pk, &options, &second) == GROTH16_OK);
  groth16_cancel(second);
  groth16_free(second);
  groth16_free(job);
  CHECK(terminals == 1 && released <= 1);

  CHECK(groth16_engine_metrics(engine, text, sizeof text, &len) == GROTH16_OK && len > 0);
  CHECK(groth16_engine_trace(engine, argv[5]) == GROTH16_OK);
  CHECK(groth16_engine_memory_pressure(engine) == 0);
  groth16_pk_free(pk);
  groth16_circuit_free(circuit);
  groth16_engine_free(engine);
  return 0;
}
