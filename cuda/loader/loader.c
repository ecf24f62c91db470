/* The entry points of the CUDA driver that this library uses, as trampolines into libcuda.so.1, which is opened when the
 * first of them is called. So the library loads, and can be built, where no driver is; there they answer
 * CUDA_ERROR_NO_DEVICE. The driver stays open.
 *
 * Results go to Rust as an enumeration that ends with CUDA 10.2: a number that it does not have must not get there. Such
 * results become CUDA_ERROR_UNKNOWN; cuda_loader_last_result() tells this thread the last result that was no success. */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

typedef int result; /* CUresult */
typedef int device; /* CUdevice */
typedef unsigned long long address; /* CUdeviceptr */

enum { SUCCESS = 0, NO_DEVICE = 100, NOT_FOUND = 500, UNKNOWN = 999 };

/* name, parameters, arguments */
#define ENTRIES(ENTRY)                                                                                                  \
  ENTRY(cuInit, (unsigned flags), (flags))                                                                              \
  ENTRY(cuDriverGetVersion, (int *version), (version))                                                                  \
  ENTRY(cuGetErrorName, (result error, const char **name), (error, name))                                               \
  ENTRY(cuGetErrorString, (result error, const char **text), (error, text))                                             \
  ENTRY(cuDeviceGetCount, (int *count), (count))                                                                        \
  ENTRY(cuDeviceGet, (device *out, int ordinal), (out, ordinal))                                                        \
  ENTRY(cuDeviceGetName, (char *name, int length, device dev), (name, length, dev))                                     \
  ENTRY(cuDeviceGetUuid, (void *uuid, device dev), (uuid, dev))                                                         \
  ENTRY(cuDeviceGetPCIBusId, (char *id, int length, device dev), (id, length, dev))                                     \
  ENTRY(cuDeviceGetAttribute, (int *value, int attribute, device dev), (value, attribute, dev))                         \
  ENTRY(cuDeviceTotalMem_v2, (size_t *bytes, device dev), (bytes, dev))                                                 \
  ENTRY(cuCtxCreate_v2, (void **context, unsigned flags, device dev), (context, flags, dev))                            \
  ENTRY(cuCtxDestroy_v2, (void *context), (context))                                                                    \
  ENTRY(cuCtxPushCurrent_v2, (void *context), (context))                                                                \
  ENTRY(cuCtxPopCurrent_v2, (void **context), (context))                                                                \
  ENTRY(cuCtxSynchronize, (void), ())                                                                                   \
  ENTRY(cuMemGetInfo_v2, (size_t *free, size_t *total), (free, total))                                                  \
  ENTRY(cuModuleLoadData, (void **module, const void *image), (module, image))                                          \
  ENTRY(cuModuleUnload, (void *module), (module))                                                                       \
  ENTRY(cuModuleGetFunction, (void **function, void *module, const char *name), (function, module, name))               \
  ENTRY(cuFuncSetAttribute, (void *function, int attribute, int value), (function, attribute, value))                   \
  ENTRY(cuFuncGetAttribute, (int *value, int attribute, void *function), (value, attribute, function))                  \
  ENTRY(cuMemAlloc_v2, (address *out, size_t bytes), (out, bytes))                                                      \
  ENTRY(cuMemFree_v2, (address memory), (memory))                                                                       \
  ENTRY(cuMemHostAlloc, (void **out, size_t bytes, unsigned flags), (out, bytes, flags))                                \
  ENTRY(cuMemFreeHost, (void *memory), (memory))                                                                        \
  ENTRY(cuMemHostRegister_v2, (void *memory, size_t bytes, unsigned flags), (memory, bytes, flags))                     \
  ENTRY(cuMemHostUnregister, (void *memory), (memory))                                                                  \
  ENTRY(cuMemcpyHtoDAsync_v2, (address to, const void *from, size_t bytes, void *stream), (to, from, bytes, stream))    \
  ENTRY(cuMemcpyDtoHAsync_v2, (void *to, address from, size_t bytes, void *stream), (to, from, bytes, stream))          \
  ENTRY(cuMemcpyDtoDAsync_v2, (address to, address from, size_t bytes, void *stream), (to, from, bytes, stream))        \
  ENTRY(cuMemsetD8Async, (address to, unsigned char value, size_t count, void *stream), (to, value, count, stream))     \
  ENTRY(cuStreamCreateWithPriority, (void **stream, unsigned flags, int priority), (stream, flags, priority))           \
  ENTRY(cuStreamDestroy_v2, (void *stream), (stream))                                                                   \
  ENTRY(cuStreamSynchronize, (void *stream), (stream))                                                                  \
  ENTRY(cuStreamWaitEvent, (void *stream, void *event, unsigned flags), (stream, event, flags))                         \
  ENTRY(cuEventCreate, (void **event, unsigned flags), (event, flags))                                                  \
  ENTRY(cuEventDestroy_v2, (void *event), (event))                                                                      \
  ENTRY(cuEventRecord, (void *event, void *stream), (event, stream))                                                    \
  ENTRY(cuEventQuery, (void *event), (event))                                                                           \
  ENTRY(cuEventSynchronize, (void *event), (event))                                                                     \
  ENTRY(cuEventElapsedTime, (float *milliseconds, void *start, void *end), (milliseconds, start, end))                  \
  ENTRY(cuLaunchKernel,                                                                                                 \
        (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,         \
         unsigned block_z, unsigned shared_bytes, void *stream, void **parameters, void **extra),                       \
        (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters, extra))

#define FIELD(name, parameters, arguments) result(*name) parameters;
static struct {
  ENTRIES(FIELD)
} driver;
static int is_open;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local result last = SUCCESS;

static void open_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return;
  /* ISO C has no conversion from an object pointer to a function pointer; POSIX makes them alike. */
#define LOAD(name, parameters, arguments) *(void **)&driver.name = dlsym(library, #name);
  ENTRIES(LOAD)
  is_open = 1;
}

/* Whether the results of CUDA 10.2 have this number. */
static int is_known(result code) {
  static const short known[] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 100, 101, 200, 201, 202, 205, 206, 207, 208, 209, 210, 211, 212, 213, 214, 215,
    216, 217, 218, 219, 220, 221, 300, 301, 302, 303, 304, 400, 401, 500, 600, 700, 701, 702, 703, 704, 705,
    708, 709, 710, 711, 712, 713, 714, 715, 716, 717, 718, 719, 720, 800, 801, 802, 803, 804, 900, 901, 902,
    903, 904, 905, 906, 907, 908, 909, 910, 999,
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (known[i] == code) return 1;
  }
  return 0;
}

static result give(result code) {
  if (code != SUCCESS) last = code;
  return is_known(code) ? code : UNKNOWN;
}

#define HIDDEN __attribute__((visibility("hidden")))
#define TRAMPOLINE(name, parameters, arguments)          \
  HIDDEN result name parameters;                         \
  result name parameters {                               \
    pthread_once(&once, open_driver);                    \
    if (!is_open) return give(NO_DEVICE);                \
    if (driver.name == NULL) return give(NOT_FOUND);     \
    return give(driver.name arguments);                  \
  }
ENTRIES(TRAMPOLINE)

HIDDEN result cuda_loader_last_result(void);
result cuda_loader_last_result(void) { return last; }

/* The driver's name and text of a result of this thread's, of whatever version; NULL where it has none. */
HIDDEN const char *cuda_loader_result_name(result code);
const char *cuda_loader_result_name(result code) {
  const char *name = NULL;
  pthread_once(&once, open_driver);
  if (!is_open || driver.cuGetErrorName == NULL || driver.cuGetErrorName(code, &name) != SUCCESS) return NULL;
  return name;
}
