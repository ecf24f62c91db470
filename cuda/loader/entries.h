/* The entry points of the CUDA driver that this library uses: name, parameters, arguments. */
#ifndef CUDA_LOADER_ENTRIES_H
#define CUDA_LOADER_ENTRIES_H

#include <stddef.h>

typedef int result; /* CUresult */
typedef int device; /* CUdevice */
typedef unsigned long long address; /* CUdeviceptr */

/* What makes a context, ends it, and makes it a thread's. */
#define CONTEXT_ENTRIES(ENTRY)                                                                                          \
  ENTRY(cuCtxCreate_v2, (void **context, unsigned flags, device dev), (context, flags, dev))                            \
  ENTRY(cuCtxDestroy_v2, (void *context), (context))                                                                    \
  ENTRY(cuCtxPushCurrent_v2, (void *context), (context))                                                                \
  ENTRY(cuCtxPopCurrent_v2, (void **context), (context))

/* What is asked of memory, the device's and the host's. */
#define MEMORY_ENTRIES(ENTRY)                                                                                           \
  ENTRY(cuMemGetInfo_v2, (size_t *free, size_t *total), (free, total))                                                  \
  ENTRY(cuMemAlloc_v2, (address *out, size_t bytes), (out, bytes))                                                      \
  ENTRY(cuMemFree_v2, (address memory), (memory))                                                                       \
  ENTRY(cuMemHostRegister_v2, (void *memory, size_t bytes, unsigned flags), (memory, bytes, flags))                     \
  ENTRY(cuMemHostUnregister, (void *memory), (memory))                                                                  \
  ENTRY(cuMemcpyDtoHAsync_v2, (void *to, address from, size_t bytes, void *stream), (to, from, bytes, stream))

/* What gives something back, or only tells: nothing goes on after an error of these. */
#define RELEASE_ENTRIES(ENTRY)                                                                                          \
  ENTRY(cuDriverGetVersion, (int *version), (version))                                                                  \
  ENTRY(cuGetErrorName, (result error, const char **name), (error, name))                                               \
  ENTRY(cuGetErrorString, (result error, const char **text), (error, text))                                             \
  ENTRY(cuModuleUnload, (void *module), (module))                                                                       \
  ENTRY(cuMemFreeHost, (void *memory), (memory))                                                                        \
  ENTRY(cuStreamDestroy_v2, (void *stream), (stream))                                                                   \
  ENTRY(cuEventDestroy_v2, (void *event), (event))

/* The rest. */
#define OTHER_ENTRIES(ENTRY)                                                                                            \
  ENTRY(cuInit, (unsigned flags), (flags))                                                                              \
  ENTRY(cuDeviceGetCount, (int *count), (count))                                                                        \
  ENTRY(cuDeviceGet, (device *out, int ordinal), (out, ordinal))                                                        \
  ENTRY(cuDeviceGetName, (char *name, int length, device dev), (name, length, dev))                                     \
  ENTRY(cuDeviceGetUuid, (void *uuid, device dev), (uuid, dev))                                                         \
  ENTRY(cuDeviceGetPCIBusId, (char *id, int length, device dev), (id, length, dev))                                     \
  ENTRY(cuDeviceGetAttribute, (int *value, int attribute, device dev), (value, attribute, dev))                         \
  ENTRY(cuDeviceTotalMem_v2, (size_t *bytes, device dev), (bytes, dev))                                                 \
  ENTRY(cuCtxSynchronize, (void), ())                                                                                   \
  ENTRY(cuModuleLoadData, (void **module, const void *image), (module, image))                                          \
  ENTRY(cuModuleGetFunction, (void **function, void *module, const char *name), (function, module, name))               \
  ENTRY(cuFuncSetAttribute, (void *function, int attribute, int value), (function, attribute, value))                   \
  ENTRY(cuFuncGetAttribute, (int *value, int attribute, void *function), (value, attribute, function))                  \
  ENTRY(cuMemHostAlloc, (void **out, size_t bytes, unsigned flags), (out, bytes, flags))                                \
  ENTRY(cuMemcpyHtoDAsync_v2, (address to, const void *from, size_t bytes, void *stream), (to, from, bytes, stream))    \
  ENTRY(cuMemcpyDtoDAsync_v2, (address to, address from, size_t bytes, void *stream), (to, from, bytes, stream))        \
  ENTRY(cuMemsetD8Async, (address to, unsigned char value, size_t count, void *stream), (to, value, count, stream))     \
  ENTRY(cuStreamCreateWithPriority, (void **stream, unsigned flags, int priority), (stream, flags, priority))           \
  ENTRY(cuStreamSynchronize, (void *stream), (stream))                                                                  \
  ENTRY(cuStreamWaitEvent, (void *stream, void *event, unsigned flags), (stream, event, flags))                         \
  ENTRY(cuEventCreate, (void **event, unsigned flags), (event, flags))                                                  \
  ENTRY(cuEventRecord, (void *event, void *stream), (event, stream))                                                    \
  ENTRY(cuEventQuery, (void *event), (event))                                                                           \
  ENTRY(cuEventSynchronize, (void *event), (event))                                                                     \
  ENTRY(cuEventElapsedTime, (float *milliseconds, void *start, void *end), (milliseconds, start, end))                  \
  ENTRY(cuLaunchKernel,                                                                                                 \
        (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,         \
         unsigned block_z, unsigned shared_bytes, void *stream, void **parameters, void **extra),                       \
        (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters, extra))

#define ENTRIES(ENTRY) CONTEXT_ENTRIES(ENTRY) MEMORY_ENTRIES(ENTRY) RELEASE_ENTRIES(ENTRY) OTHER_ENTRIES(ENTRY)

#endif
