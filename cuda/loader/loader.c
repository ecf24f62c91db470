/* The entry points of the CUDA driver that this library uses, as trampolines into libcuda.so.1, which is opened when the
 * first of them is called. So the library loads, and can be built, where no driver is; there they answer
 * CUDA_ERROR_NO_DEVICE. The driver stays open.
 *
 * Results go to Rust as an enumeration that ends with CUDA 10.2: a number that it does not have must not get there. Such
 * results become CUDA_ERROR_UNKNOWN; cuda_loader_last_result() tells this thread the last result that was no success. */
#include <dlfcn.h>
#include <pthread.h>

#include "entries.h"

enum { SUCCESS = 0, NO_DEVICE = 100, NOT_FOUND = 500, UNKNOWN = 999 };

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
