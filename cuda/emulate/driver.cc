// The entry points of the CUDA driver that the library uses, over the emulator: built as libcuda.so.1, it lets the library
// find GPUs where there is none, so that all above the driver is tested without one. Work is done when it is asked for, so
// streams and events only keep the order that the calls have.
//
// It is strict where a driver is not: an address must lie in what was allocated, for the whole length, and new memory holds
// no zeros. Of the environment it reads
//
//     G16_EMULATED_DEVICES   how many GPUs there are; default 1
//     G16_EMULATED_BYTES     memory of each; default 256 MiB
//
// and tests call what hooks.h has.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "../kernel/fixed_base_kernels.h"
#include "../kernel/import_kernels.h"
#include "../kernel/kernels.h"
#include "../kernel/msm_kernels.h"
#include "../kernel/r1cs_kernels.h"
#include "../kernel/split_kernels.h"
#include "hooks.h"

namespace {

enum Result {
    success = 0, invalid_value = 1, out_of_memory = 2, invalid_device = 101, invalid_context = 201, invalid_handle = 400,
    not_found = 500, illegal_address = 700, already_registered = 712, not_registered = 713, launch_failed = 719
};
using Address = unsigned long long;

struct Context {
    int device;
};

struct Allocation {
    int device;
    size_t bytes;
};

struct State : Hooks {
    /// The emulator runs one kernel at a time.
    std::mutex kernels;
    std::map<Address, Allocation> memory;
    /// Dynamic shared memory that was allowed to kernels; others have 48 KiB.
    std::map<void*, unsigned> shared;
};

State& state() {
    static State* it = [] {
        auto* made = new State;
        const char* count = getenv("G16_EMULATED_DEVICES");
        const char* bytes = getenv("G16_EMULATED_BYTES");
        int devices = count != nullptr ? atoi(count) : 1;
        for (int i = 0; i < devices; i++) made->devices[i].bytes = bytes != nullptr ? strtoull(bytes, nullptr, 10) : 256 << 20;
        return made;
    }();
    return *it;
}

thread_local std::vector<Context*> current;

int current_device() {
    return current.empty() ? -1 : current.back()->device;
}

/// What a call answers before it does anything; counts it.
int enter(const char* name, bool needs_context) {
    State& all = state();
    std::lock_guard<std::mutex> guard(all.lock);
    if (needs_context && current.empty()) {
        all.calls++;
        return invalid_context;
    }
    return all.enter(name, current_device());
}

/// Whether `bytes` bytes from an address on were allocated on the current device.
bool is_there(Address address, size_t bytes) {
    State& all = state();
    std::lock_guard<std::mutex> guard(all.lock);
    auto next = all.memory.upper_bound(address);
    if (next == all.memory.begin()) return false;
    auto& [start, piece] = *--next;
    return piece.device == current.back()->device && address - start + bytes <= piece.bytes;
}

/// A kernel by its parameters as the driver gets them.
using Call = void (*)(uint32_t blocks, uint32_t threads, size_t shared, void** parameters);

template <class T>
T parameter(void* from) {
    if constexpr (std::is_pointer_v<T>) return reinterpret_cast<T>(*static_cast<uint64_t*>(from));
    else return *static_cast<T*>(from);
}

template <class... P, size_t... I>
void spread(void (*kernel)(P...), uint32_t blocks, uint32_t threads, size_t shared, void** from, std::index_sequence<I...>) {
    g16::emulate::launch(kernel, blocks, threads, shared, parameter<P>(from[I])...);
}

template <class... P>
void call(void (*kernel)(P...), uint32_t blocks, uint32_t threads, size_t shared, void** from) {
    spread(kernel, blocks, threads, shared, from, std::make_index_sequence<sizeof...(P)>());
}

template <auto kernel>
void called(uint32_t blocks, uint32_t threads, size_t shared, void** parameters) {
    call(kernel, blocks, threads, shared, parameters);
}

const std::map<std::string, Call>& kernels() {
#define KERNEL(name) {#name, called<name>}
#define GROUP(g)                                                                                                        \
    KERNEL(g16_fixed_windows_##g), KERNEL(g16_fixed_table_##g), KERNEL(g16_fixed_base_##g), KERNEL(g16_normalise_##g),     \
        KERNEL(g16_import_##g), KERNEL(g16_check_##g), KERNEL(g16_subgroup_##g), KERNEL(g16_msm_clear_##g), KERNEL(g16_msm_accumulate_##g), KERNEL(g16_msm_join_##g), KERNEL(g16_msm_reduce_##g),       \
        KERNEL(g16_msm_merge_##g), KERNEL(g16_msm_window_##g), KERNEL(g16_msm_result_##g)
    static const std::map<std::string, Call> all = {
        KERNEL(g16_domain), KERNEL(g16_root_powers), KERNEL(g16_shift_powers), KERNEL(g16_twists), KERNEL(g16_radix2_inverse),
        KERNEL(g16_radix2_forward), KERNEL(g16_shift), KERNEL(g16_inverse_pass), KERNEL(g16_forward_pass),
        KERNEL(g16_contiguous_pass), KERNEL(g16_product), KERNEL(g16_finish), KERNEL(g16_msm_recode),
        KERNEL(g16_msm_count_digits), KERNEL(g16_msm_count_pairs), KERNEL(g16_msm_segment_sums), KERNEL(g16_msm_segment_starts),
        KERNEL(g16_msm_totals), KERNEL(g16_msm_places), KERNEL(g16_msm_scatter_digits), KERNEL(g16_msm_scatter_pairs),
        KERNEL(g16_msm_list), KERNEL(g16_checksum), KERNEL(g16_r1cs_tiles), KERNEL(g16_r1cs_rows), KERNEL(g16_r1cs_join),
        KERNEL(g16_r1cs_tail), KERNEL(g16_split_masks), KERNEL(g16_split_places), KERNEL(g16_split_scatter),
        KERNEL(g16_to_canonical), KERNEL(g16_read_scalars), GROUP(g1), GROUP(g2)};
    return all;
}

using Clock = std::chrono::steady_clock;

}  // namespace

Hooks& hooks() {
    return state();
}

#define ENTER(needs_context)                                              \
    if (int failed = enter(__func__, needs_context); failed != success) { \
        return failed;                                                    \
    }

extern "C" {

int cuInit(unsigned) {
    ENTER(false);
    return success;
}

int cuDriverGetVersion(int* version) {
    *version = 13000;
    return success;
}

int cuGetErrorName(int error, const char** name) {
    static const std::map<int, const char*> names = {
        {invalid_value, "CUDA_ERROR_INVALID_VALUE"}, {out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY"},
        {illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {launch_failed, "CUDA_ERROR_LAUNCH_FAILED"}};
    auto found = names.find(error);
    *name = found == names.end() ? nullptr : found->second;
    return *name == nullptr ? invalid_value : success;
}

int cuGetErrorString(int error, const char** text) {
    return cuGetErrorName(error, text);
}

int cuDeviceGetCount(int* count) {
    ENTER(false);
    *count = (int)state().devices.size();
    return success;
}

int cuDeviceGet(int* out, int ordinal) {
    ENTER(false);
    if (ordinal < 0 || (size_t)ordinal >= state().devices.size()) return invalid_device;
    *out = ordinal;
    return success;
}

int cuDeviceGetName(char* name, int length, int device) {
    ENTER(false);
    snprintf(name, length, "Emulated GPU %d", device);
    return success;
}

int cuDeviceGetUuid(void* uuid, int device) {
    ENTER(false);
    memset(uuid, 0xe0, 16);
    static_cast<unsigned char*>(uuid)[15] = (unsigned char)device;
    return success;
}

int cuDeviceGetPCIBusId(char* id, int length, int device) {
    ENTER(false);
    snprintf(id, length, "0000:%02x:00.0", device);
    return success;
}

int cuDeviceGetAttribute(int* value, int attribute, int) {
    ENTER(false);
    enum { multiprocessors = 16, major = 75, minor = 76 };
    *value = attribute == major ? 9 : attribute == minor ? 0 : attribute == multiprocessors ? 1 : 0;
    return success;
}

int cuDeviceTotalMem_v2(size_t* bytes, int device) {
    ENTER(false);
    *bytes = state().devices[device].bytes;
    return success;
}

int cuCtxCreate_v2(void** context, unsigned, int device) {
    ENTER(false);
    if (int lost = state().devices[device].lost; lost != success) return lost;
    *context = new Context{device};
    current.push_back(static_cast<Context*>(*context));
    return success;
}

int cuCtxDestroy_v2(void* context) {
    {
        std::lock_guard<std::mutex> guard(state().lock);
        std::erase_if(state().registered, [&](const auto& entry) { return entry.second == context; });
    }
    delete static_cast<Context*>(context);
    return success;
}

int cuCtxPushCurrent_v2(void* context) {
    current.push_back(static_cast<Context*>(context));
    return success;
}

int cuCtxPopCurrent_v2(void** context) {
    if (current.empty()) return invalid_context;
    *context = current.back();
    current.pop_back();
    return success;
}

int cuCtxSynchronize(void) {
    ENTER(true);
    return success;
}

int cuMemGetInfo_v2(size_t* free, size_t* total) {
    ENTER(true);
    std::lock_guard<std::mutex> guard(state().lock);
    const Device& device = state().devices[current.back()->device];
    *total = device.bytes;
    *free = device.bytes - device.used - device.hogged;
    return success;
}

int cuModuleLoadData(void** module, const void*) {
    ENTER(true);
    *module = &state();
    return success;
}

int cuModuleUnload(void*) {
    return success;
}

int cuModuleGetFunction(void** function, void*, const char* name) {
    ENTER(true);
    auto found = kernels().find(name);
    if (found == kernels().end()) return not_found;
    *function = reinterpret_cast<void*>(found->second);
    return success;
}

int cuFuncSetAttribute(void* function, int attribute, int value) {
    ENTER(true);
    enum { max_dynamic_shared_size = 8 };
    if (attribute != max_dynamic_shared_size || value < 0 || value > 227 << 10) return invalid_value;
    std::lock_guard<std::mutex> guard(state().lock);
    state().shared[function] = (unsigned)value;
    return success;
}

int cuFuncGetAttribute(int* value, int, void*) {
    ENTER(true);
    *value = 0;
    return success;
}

int cuMemAlloc_v2(Address* out, size_t bytes) {
    ENTER(true);
    if (bytes == 0) return invalid_value;
    State& all = state();
    int device = current.back()->device;
    {
        std::lock_guard<std::mutex> guard(all.lock);
        Device& one = all.devices[device];
        if (bytes > one.bytes - one.used - one.hogged) return out_of_memory;
        one.used += bytes;
    }
    void* start = aligned_alloc(256, (bytes + 255) / 256 * 256);
    memset(start, 0xa5, bytes);
    std::lock_guard<std::mutex> guard(all.lock);
    *out = reinterpret_cast<Address>(start);
    all.memory[*out] = {device, bytes};
    return success;
}

int cuMemFree_v2(Address memory) {
    State& all = state();
    std::lock_guard<std::mutex> guard(all.lock);
    auto found = all.memory.find(memory);
    if (found == all.memory.end()) return invalid_value;
    all.devices[found->second.device].used -= found->second.bytes;
    all.memory.erase(found);
    free(reinterpret_cast<void*>(memory));
    return success;
}

int cuMemHostAlloc(void** out, size_t bytes, unsigned) {
    ENTER(true);
    *out = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    return *out != nullptr ? success : out_of_memory;
}

int cuMemFreeHost(void* memory) {
    free(memory);
    return success;
}

int cuMemHostRegister_v2(void* memory, size_t bytes, unsigned) {
    ENTER(true);
    if (memory == nullptr || bytes == 0) return invalid_value;
    std::lock_guard<std::mutex> guard(state().lock);
    return state().registered.emplace(memory, current.back()).second ? success : already_registered;
}

int cuMemHostUnregister(void* memory) {
    std::lock_guard<std::mutex> guard(state().lock);
    return state().registered.erase(memory) == 1 ? success : not_registered;
}

int cuMemcpyHtoDAsync_v2(Address to, const void* from, size_t bytes, void*) {
    ENTER(true);
    if (!is_there(to, bytes)) return invalid_value;
    memcpy(reinterpret_cast<void*>(to), from, bytes);
    return success;
}

int cuMemcpyDtoHAsync_v2(void* to, Address from, size_t bytes, void*) {
    ENTER(true);
    if (!is_there(from, bytes)) return invalid_value;
    memcpy(to, reinterpret_cast<void*>(from), bytes);
    State& all = state();
    std::lock_guard<std::mutex> guard(all.lock);
    if (long bit = all.flipped(bytes); bit >= 0) static_cast<unsigned char*>(to)[bit / 8] ^= (unsigned char)(1 << bit % 8);
    return success;
}

int cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void*) {
    ENTER(true);
    if (!is_there(to, bytes) || !is_there(from, bytes)) return invalid_value;
    memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
    return success;
}

int cuMemsetD8Async(Address to, unsigned char value, size_t count, void*) {
    ENTER(true);
    if (!is_there(to, count)) return invalid_value;
    memset(reinterpret_cast<void*>(to), value, count);
    return success;
}

int cuStreamCreateWithPriority(void** stream, unsigned, int) {
    ENTER(true);
    *stream = new char;
    return success;
}

int cuStreamDestroy_v2(void* stream) {
    delete static_cast<char*>(stream);
    return success;
}

int cuStreamSynchronize(void*) {
    ENTER(true);
    return success;
}

int cuStreamWaitEvent(void*, void*, unsigned) {
    ENTER(true);
    return success;
}

int cuEventCreate(void** event, unsigned) {
    ENTER(true);
    *event = new Clock::time_point;
    return success;
}

int cuEventDestroy_v2(void* event) {
    delete static_cast<Clock::time_point*>(event);
    return success;
}

int cuEventRecord(void* event, void*) {
    ENTER(true);
    *static_cast<Clock::time_point*>(event) = Clock::now();
    return success;
}

int cuEventQuery(void*) {
    ENTER(true);
    return success;
}

int cuEventSynchronize(void*) {
    ENTER(true);
    return success;
}

int cuEventElapsedTime(float* milliseconds, void* start, void* end) {
    ENTER(true);
    auto took = *static_cast<Clock::time_point*>(end) - *static_cast<Clock::time_point*>(start);
    *milliseconds = std::chrono::duration<float, std::milli>(took).count();
    return success;
}

int cuLaunchKernel(void* function, unsigned grid, unsigned, unsigned, unsigned block, unsigned, unsigned, unsigned shared,
                   void*, void** parameters, void**) {
    ENTER(true);
    if (grid == 0 || block == 0 || block > 1024) return invalid_value;
    {
        std::lock_guard<std::mutex> guard(state().lock);
        auto allowed = state().shared.find(function);
        if (shared > (allowed == state().shared.end() ? 48u << 10 : allowed->second)) return invalid_value;
    }
    std::lock_guard<std::mutex> guard(state().kernels);
    reinterpret_cast<Call>(function)(grid, block, shared, parameters);
    return success;
}

}  // extern "C"
