/* A host in C99: prints the layout of the header's structs, and with the argument "run" uses the library a little. */
#include <stdio.h>
#include <stdlib.h>

#include "groth16.h"
#include "groth16.h" /* twice: the guard holds */

/* The alignment of a type, without C11. */
#define DEFINE_ALIGN(type) \
  struct align_##type { char before; type it; }; \
  static size_t align_of_##type(void) { return offsetof(struct align_##type, it); }
#define STRUCT(type) \
  printf("%s size %lu align %lu\n", #type, (unsigned long)sizeof(type), (unsigned long)align_of_##type())
#define FIELD(type, field) \
  printf("  %s %lu %lu\n", #field, (unsigned long)offsetof(type, field), (unsigned long)sizeof(((type *)0)->field))

DEFINE_ALIGN(groth16_device_info)
DEFINE_ALIGN(groth16_engine_options)
DEFINE_ALIGN(groth16_engine_info)
DEFINE_ALIGN(groth16_matrix)
DEFINE_ALIGN(groth16_circuit_options)
DEFINE_ALIGN(groth16_circuit_info)
DEFINE_ALIGN(groth16_bits)
DEFINE_ALIGN(groth16_pk_options)
DEFINE_ALIGN(groth16_pk_info)
DEFINE_ALIGN(groth16_scalars)
DEFINE_ALIGN(groth16_job_options)
DEFINE_ALIGN(groth16_progress)

static void print_layout(void) {
  STRUCT(groth16_device_info);
  FIELD(groth16_device_info, struct_size);
  FIELD(groth16_device_info, name);
  FIELD(groth16_device_info, uuid);
  FIELD(groth16_device_info, pci_bus_id);
  FIELD(groth16_device_info, memory_bytes);
  FIELD(groth16_device_info, free_bytes);
  FIELD(groth16_device_info, compute_major);
  FIELD(groth16_device_info, compute_minor);
  STRUCT(groth16_engine_options);
  FIELD(groth16_engine_options, struct_size);
  FIELD(groth16_engine_options, device_uuids);
  FIELD(groth16_engine_options, num_device_uuids);
  FIELD(groth16_engine_options, backend);
  FIELD(groth16_engine_options, jobs_per_device);
  FIELD(groth16_engine_options, cpu_threads);
  FIELD(groth16_engine_options, g2_placement);
  FIELD(groth16_engine_options, max_queued_jobs);
  FIELD(groth16_engine_options, host_bytes_limit);
  FIELD(groth16_engine_options, pinned_bytes_limit);
  FIELD(groth16_engine_options, device_bytes_limit);
  FIELD(groth16_engine_options, log);
  FIELD(groth16_engine_options, log_user);
  FIELD(groth16_engine_options, log_level);
  FIELD(groth16_engine_options, reserved);
  STRUCT(groth16_engine_info);
  FIELD(groth16_engine_info, struct_size);
  FIELD(groth16_engine_info, backend);
  FIELD(groth16_engine_info, num_devices);
  FIELD(groth16_engine_info, jobs_per_device);
  FIELD(groth16_engine_info, cpu_threads);
  FIELD(groth16_engine_info, host_bytes_limit);
  FIELD(groth16_engine_info, pinned_bytes_limit);
  FIELD(groth16_engine_info, device_bytes_limit);
  FIELD(groth16_engine_info, host_bytes_used);
  FIELD(groth16_engine_info, pinned_bytes_used);
  FIELD(groth16_engine_info, device_bytes_used);
  FIELD(groth16_engine_info, queued_jobs);
  FIELD(groth16_engine_info, running_jobs);
  STRUCT(groth16_matrix);
  FIELD(groth16_matrix, row_starts);
  FIELD(groth16_matrix, columns);
  FIELD(groth16_matrix, values);
  STRUCT(groth16_circuit_options);
  FIELD(groth16_circuit_options, struct_size);
  FIELD(groth16_circuit_options, path);
  FIELD(groth16_circuit_options, data);
  FIELD(groth16_circuit_options, data_len);
  FIELD(groth16_circuit_options, a);
  FIELD(groth16_circuit_options, b);
  FIELD(groth16_circuit_options, c);
  FIELD(groth16_circuit_options, num_rows);
  FIELD(groth16_circuit_options, num_inputs);
  FIELD(groth16_circuit_options, num_aux);
  STRUCT(groth16_circuit_info);
  FIELD(groth16_circuit_info, struct_size);
  FIELD(groth16_circuit_info, num_rows);
  FIELD(groth16_circuit_info, num_inputs);
  FIELD(groth16_circuit_info, num_aux);
  FIELD(groth16_circuit_info, num_terms);
  STRUCT(groth16_bits);
  FIELD(groth16_bits, words);
  FIELD(groth16_bits, count);
  STRUCT(groth16_pk_options);
  FIELD(groth16_pk_options, struct_size);
  FIELD(groth16_pk_options, path);
  FIELD(groth16_pk_options, data);
  FIELD(groth16_pk_options, data_len);
  FIELD(groth16_pk_options, circuit);
  FIELD(groth16_pk_options, a_aux);
  FIELD(groth16_pk_options, b_inputs);
  FIELD(groth16_pk_options, b_aux);
  FIELD(groth16_pk_options, format);
  FIELD(groth16_pk_options, point_checks);
  FIELD(groth16_pk_options, blake2b);
  FIELD(groth16_pk_options, progress);
  FIELD(groth16_pk_options, progress_user);
  FIELD(groth16_pk_options, vk_path);
  FIELD(groth16_pk_options, vk_data);
  FIELD(groth16_pk_options, vk_data_len);
  STRUCT(groth16_pk_info);
  FIELD(groth16_pk_info, struct_size);
  FIELD(groth16_pk_info, num_inputs);
  FIELD(groth16_pk_info, num_aux);
  FIELD(groth16_pk_info, domain_size);
  FIELD(groth16_pk_info, num_rows_added);
  FIELD(groth16_pk_info, host_bytes);
  FIELD(groth16_pk_info, device_bytes);
  FIELD(groth16_pk_info, format);
  FIELD(groth16_pk_info, unconstrained_inputs);
  STRUCT(groth16_scalars);
  FIELD(groth16_scalars, data);
  FIELD(groth16_scalars, count);
  STRUCT(groth16_job_options);
  FIELD(groth16_job_options, struct_size);
  FIELD(groth16_job_options, circuit);
  FIELD(groth16_job_options, a);
  FIELD(groth16_job_options, b);
  FIELD(groth16_job_options, c);
  FIELD(groth16_job_options, inputs);
  FIELD(groth16_job_options, aux);
  FIELD(groth16_job_options, r);
  FIELD(groth16_job_options, s);
  FIELD(groth16_job_options, scalar_form);
  FIELD(groth16_job_options, priority);
  FIELD(groth16_job_options, proof_format);
  FIELD(groth16_job_options, skip_self_check);
  FIELD(groth16_job_options, event);
  FIELD(groth16_job_options, event_user);
  STRUCT(groth16_progress);
  FIELD(groth16_progress, struct_size);
  FIELD(groth16_progress, state);
  FIELD(groth16_progress, result);
  FIELD(groth16_progress, device);
  FIELD(groth16_progress, abc_released);
  FIELD(groth16_progress, retries);
  FIELD(groth16_progress, queued_ns);
  FIELD(groth16_progress, prepare_ns);
  FIELD(groth16_progress, device_ns);
  FIELD(groth16_progress, finish_ns);
}

static void must(int holds, const char *what) {
  if (!holds) {
    char text[256];
    groth16_last_error(text, sizeof text);
    fprintf(stderr, "%s: %s\n", what, text);
    exit(1);
  }
}

/* An engine, a circuit of one row x * x = y with y public, and a key that is none. */
static void run(void) {
  static const uint64_t starts[2] = {0, 1};
  static const uint32_t x[1] = {2}, y[1] = {1};
  static const unsigned char one[32] = {1};
  groth16_engine_options options;
  groth16_circuit_options shape;
  groth16_pk_options key;
  groth16_engine *engine = NULL;
  groth16_circuit *circuit = NULL;
  groth16_pk *pk = NULL;

  must(groth16_abi_version() == ((uint32_t)GROTH16_ABI_MAJOR << 16 | GROTH16_ABI_MINOR), "another ABI");
  must(strcmp(groth16_status_name(GROTH16_E_FORMAT), "GROTH16_E_FORMAT") == 0, "status names");

  GROTH16_INIT(&options);
  options.backend = GROTH16_BACKEND_CPU;
  options.cpu_threads = 2;
  must(groth16_engine_create(&options, &engine) == GROTH16_OK, "engine");

  GROTH16_INIT(&shape);
  shape.a.row_starts = shape.b.row_starts = shape.c.row_starts = starts;
  shape.a.columns = shape.b.columns = x;
  shape.c.columns = y;
  shape.a.values = shape.b.values = shape.c.values = one;
  shape.num_rows = 1;
  shape.num_inputs = 2;
  shape.num_aux = 1;
  must(groth16_circuit_load(engine, &shape, &circuit) == GROTH16_OK, "circuit");

  GROTH16_INIT(&key);
  key.data = one;
  key.data_len = sizeof one;
  key.circuit = circuit;
  must(groth16_pk_load(engine, &key, &pk) == GROTH16_E_FORMAT && pk == NULL, "a key of 32 bytes");
  must(groth16_last_error(NULL, 0) > 0, "no message");

  groth16_engine_free(engine);
  groth16_circuit_free(circuit);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "run") == 0) {
    run();
  } else {
    print_layout();
  }
  return 0;
}
