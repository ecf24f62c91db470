// A driver in front of the machine's own, built as libcuda.so.1, whose calls fail as tests want: what cuda/emulate/driver.cc does
// without a GPU, on one. All else is passed on. A device that is lost here works on underneath, so that one of several can be lost, and
// be there again for the next test. Of the environment it reads
//
//     G16_DRIVER   the path of the machine's driver
//     G16_FAULT    NAME,AFTER,TIMES,RESULT,LOSES: what g16_driver_fail is told at the start, for programs that call no hook
//
// and tests call what hooks.h has.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "../loader/entries.h"
#include "hooks.h"

namespace {

enum { success = 0, out_of_memory = 2, no_device = 100, not_found = 500 };

struct Driver {
#define FIELD(name, parameters, arguments) result(*name) parameters;
    ENTRIES(FIELD)
};

struct Allocation {
    int device;
    size_t bytes;
};

struct State : Hooks {
    Driver real = {};
    bool is_open = false;
    std::map<void*, int> contexts;
    std::map<address, Allocation> memory;

    State() {
        const char* path = getenv("G16_DRIVER");
        void* library = path != nullptr ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
        if (library == nullptr) {
            fprintf(stderr, "G16_DRIVER: %s\n", path == nullptr ? "not set" : dlerror());
            return;
        }
#define LOAD(name, parameters, arguments) real.name = reinterpret_cast<decltype(real.name)>(dlsym(library, #name));
        ENTRIES(LOAD)
        is_open = true;
        char name[64] = "";
        int loses = 0;
        const char* wanted = getenv("G16_FAULT");
        if (wanted != nullptr &&
            sscanf(wanted, "%63[^,],%ld,%ld,%d,%d", name, &fault.after, &fault.times, &fault.result, &loses) == 5) {
            fault.name = name;
            fault.loses = loses != 0;
        }
    }
};

State& state() {
    static State* it = new State;
    return *it;
}

/// Devices of the contexts that are the calling thread's.
thread_local std::vector<int> current;

int current_device() {
    return current.empty() ? -1 : current.back();
}

/// What a call answers before it does anything; counts it.
int enter(const char* name) {
    State& all = state();
    std::lock_guard<std::mutex> guard(all.lock);
    if (!all.is_open) return no_device;
    return all.enter(name, current_device());
}

/// Takes so much of a device's account, unless a test has left less.
bool take(int device, size_t bytes) {
    State& all = state();
    size_t free = 0, total = 0;
    if (all.real.cuMemGetInfo_v2(&free, &total) != success) return true;
    std::lock_guard<std::mutex> guard(all.lock);
    Device& one = all.devices[device];
    if (one.hogged > 0 && one.used + one.hogged + bytes > total) return false;
    one.used += bytes;
    return true;
}

void give(int device, size_t bytes) {
    std::lock_guard<std::mutex> guard(state().lock);
    state().devices[device].used -= bytes;
}

}  // namespace

Hooks& hooks() {
    return state();
}

#define REAL(name) (state().real.name)
#define ENTER                                              \
    if (int failed = enter(__func__); failed != success) { \
        return failed;                                     \
    }

extern "C" {

#define PASSED_ON(name, parameters, arguments)                    \
    result name parameters {                                      \
        ENTER                                                     \
        return REAL(name) ? REAL(name) arguments : (int)not_found; \
    }
OTHER_ENTRIES(PASSED_ON)

#define RELEASED(name, parameters, arguments)                                       \
    result name parameters {                                                        \
        return state().is_open && REAL(name) ? REAL(name) arguments : (int)no_device; \
    }
RELEASE_ENTRIES(RELEASED)

result cuCtxCreate_v2(void** context, unsigned flags, device dev) {
    ENTER
    {
        std::lock_guard<std::mutex> guard(state().lock);
        if (int lost = state().devices[dev].lost; lost != success) return lost;
    }
    int code = REAL(cuCtxCreate_v2)(context, flags, dev);
    if (code != success) return code;
    current.push_back(dev);
    std::lock_guard<std::mutex> guard(state().lock);
    state().contexts[*context] = dev;
    return success;
}

result cuCtxDestroy_v2(void* context) {
    {
        std::lock_guard<std::mutex> guard(state().lock);
        state().contexts.erase(context);
    }
    return REAL(cuCtxDestroy_v2)(context);
}

result cuCtxPushCurrent_v2(void* context) {
    int code = REAL(cuCtxPushCurrent_v2)(context);
    if (code != success) return code;
    std::lock_guard<std::mutex> guard(state().lock);
    current.push_back(state().contexts[context]);
    return success;
}

result cuCtxPopCurrent_v2(void** context) {
    if (!current.empty()) current.pop_back();
    return REAL(cuCtxPopCurrent_v2)(context);
}

result cuMemGetInfo_v2(size_t* free, size_t* total) {
    ENTER
    int code = REAL(cuMemGetInfo_v2)(free, total);
    std::lock_guard<std::mutex> guard(state().lock);
    const Device& one = state().devices[current_device()];
    if (code != success || one.hogged == 0) return code;
    size_t left = *total - std::min(*total, one.used + one.hogged);
    *free = std::min(*free, left);
    return success;
}

result cuMemAlloc_v2(address* out, size_t bytes) {
    ENTER
    int on = current_device();
    if (!take(on, bytes)) return out_of_memory;
    int code = REAL(cuMemAlloc_v2)(out, bytes);
    if (code != success) {
        give(on, bytes);
        return code;
    }
    std::lock_guard<std::mutex> guard(state().lock);
    state().memory[*out] = {on, bytes};
    return success;
}

result cuMemFree_v2(address memory) {
    {
        std::lock_guard<std::mutex> guard(state().lock);
        auto found = state().memory.find(memory);
        if (found != state().memory.end()) {
            state().devices[found->second.device].used -= found->second.bytes;
            state().memory.erase(found);
        }
    }
    return REAL(cuMemFree_v2)(memory);
}

result cuMemHostRegister_v2(void* memory, size_t bytes, unsigned flags) {
    ENTER
    int code = REAL(cuMemHostRegister_v2)(memory, bytes, flags);
    std::lock_guard<std::mutex> guard(state().lock);
    if (code == success) state().registered.emplace(memory, nullptr);
    return code;
}

result cuMemHostUnregister(void* memory) {
    {
        std::lock_guard<std::mutex> guard(state().lock);
        state().registered.erase(memory);
    }
    return REAL(cuMemHostUnregister)(memory);
}

result cuMemcpyDtoHAsync_v2(void* to, address from, size_t bytes, void* stream) {
    ENTER
    int code = REAL(cuMemcpyDtoHAsync_v2)(to, from, bytes, stream);
    if (code != success) return code;
    long bit;
    {
        std::lock_guard<std::mutex> guard(state().lock);
        bit = state().flipped(bytes);
    }
    if (bit < 0) return code;
    code = REAL(cuStreamSynchronize)(stream);
    static_cast<unsigned char*>(to)[bit / 8] ^= (unsigned char)(1 << bit % 8);
    return code;
}

}  // extern "C"
