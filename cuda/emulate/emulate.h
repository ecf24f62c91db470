// Kernels on the CPU: what a kernel's source needs of CUDA's words, for a host compiler.
//
// One block runs at a time; its threads are fibres of the calling thread (ucontext), which give way only at barriers and
// warp exchanges. Their order is turned around at every barrier, so a kernel that lacks one sees its data in the wrong
// state here too. A barrier that a thread misses which others wait at ends the process with a message.
#ifndef G16_EMULATE_EMULATE_H
#define G16_EMULATE_EMULATE_H

#include <stddef.h>
#include <stdint.h>

#include "../field/platform.h"

namespace g16 {
namespace emulate {

struct Index {
    uint32_t x = 0, y = 0, z = 0;
};

/// What the running thread sees as threadIdx and so on.
struct Coordinates {
    Index thread, block, block_size, grid_size;
};
Coordinates& here();

/// The block's dynamic shared memory, aligned to 16 bytes.
Quad* shared();
void barrier();
/// The value that lane `lane` of the caller's warp passes in the same call; all lanes that exist must call.
uint32_t exchange(uint32_t value, uint32_t lane);
/// The same for an address of what outlives the call after the next.
const void* exchange_address(const void* value, uint32_t lane);
/// Bit i: whether lane i of the caller's warp passes the same value in the same call; all lanes that exist must call.
uint32_t peers(uint32_t value);

/// Runs `body(argument)` for every thread of a grid of `blocks` blocks of `threads` threads.
void run(uint32_t blocks, uint32_t threads, size_t shared_bytes, void (*body)(void*), void* argument);

/// Runs a kernel with these arguments.
template <class... P, class... A>
void launch(void (*kernel)(P...), uint32_t blocks, uint32_t threads, size_t shared_bytes, A... arguments) {
    auto call = [&] { kernel((P)arguments...); };
    using Call = decltype(call);
    run(blocks, threads, shared_bytes, [](void* it) { (*static_cast<Call*>(it))(); }, &call);
}

}  // namespace emulate
}  // namespace g16

#define threadIdx (::g16::emulate::here().thread)
#define blockIdx (::g16::emulate::here().block)
#define blockDim (::g16::emulate::here().block_size)
#define gridDim (::g16::emulate::here().grid_size)

inline void __syncthreads() {
    g16::emulate::barrier();
}

inline uint32_t atomicMin(uint32_t* at, uint32_t value) {
    uint32_t old = *at;
    if (value < old) *at = value;
    return old;
}

inline uint32_t atomicAdd(uint32_t* at, uint32_t value) {
    uint32_t old = *at;
    *at = old + value;
    return old;
}

inline unsigned long long atomicMin(unsigned long long* at, unsigned long long value) {
    unsigned long long old = *at;
    if (value < old) *at = value;
    return old;
}

inline unsigned long long atomicAdd(unsigned long long* at, unsigned long long value) {
    unsigned long long old = *at;
    *at = old + value;
    return old;
}

inline uint32_t __ballot_sync(uint32_t, bool value) {
    uint32_t all = g16::emulate::peers(0), set = g16::emulate::peers(value);
    return value ? set : all & ~set;
}

inline uint32_t __shfl_sync(uint32_t, uint32_t value, uint32_t lane) {
    return g16::emulate::exchange(value, lane);
}

inline uint32_t __shfl_xor_sync(uint32_t, uint32_t value, uint32_t mask) {
    return g16::emulate::exchange(value, (threadIdx.x % 32) ^ mask);
}

inline void __syncwarp(uint32_t) {
    g16::emulate::exchange(0, 0);
}

inline int __popc(uint32_t value) {
    return __builtin_popcount(value);
}

inline int __ffs(uint32_t value) {
    return __builtin_ffs((int)value);
}

#endif
