// What kernels are written with: either nvcc's own words, or those of the emulator for a host compiler.
#ifndef G16_KERNEL_KERNEL_H
#define G16_KERNEL_KERNEL_H

#include "../field/element.h"

#ifdef __CUDACC__
#define G16_GLOBAL __global__
#define G16_KERNEL(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks)
/// `name` points to the block's dynamic shared memory.
#define G16_SHARED(name) extern __shared__ ::g16::Quad name[]
#define G16_DEVICE __device__ __forceinline__
/// For code that is rare beside what calls it.
#define G16_DEVICE_CALLED inline __device__ __noinline__
#else
#include "../emulate/emulate.h"
#define G16_GLOBAL
#define G16_KERNEL(threads, blocks) extern "C" void
#define G16_SHARED(name) ::g16::Quad* name = ::g16::emulate::shared()
#define G16_DEVICE inline
#define G16_DEVICE_CALLED inline __attribute__((noinline))
#endif

namespace g16 {

/// The element at `from`, as two loads of 16 bytes.
G16_DEVICE Fr load(const Fr* from) {
    const Quad* quads = reinterpret_cast<const Quad*>(from);
    Quad low = quads[0], high = quads[1];
    return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
}

G16_DEVICE void store(Fr* to, const Fr& value) {
    Quad* quads = reinterpret_cast<Quad*>(to);
    quads[0] = {value.word[0], value.word[1], value.word[2], value.word[3]};
    quads[1] = {value.word[4], value.word[5], value.word[6], value.word[7]};
}

/// A value of 16 k bytes, by loads of 16.
template <class T>
G16_DEVICE T fetch(const T* from) {
    T out;
    const Quad* quads = reinterpret_cast<const Quad*>(from);
    uint32_t* words = reinterpret_cast<uint32_t*>(&out);
    G16_UNROLL
    for (int i = 0; i < (int)(sizeof(T) / 16); i++) {
        Quad quad = quads[i];
        words[4 * i] = quad.x;
        words[4 * i + 1] = quad.y;
        words[4 * i + 2] = quad.z;
        words[4 * i + 3] = quad.w;
    }
    return out;
}

template <class T>
G16_DEVICE void put(T* to, const T& value) {
    Quad* quads = reinterpret_cast<Quad*>(to);
    const uint32_t* words = reinterpret_cast<const uint32_t*>(&value);
    G16_UNROLL
    for (int i = 0; i < (int)(sizeof(T) / 16); i++) {
        quads[i] = {words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]};
    }
}

G16_DEVICE uint32_t thread_number() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

/// Starts a copy of 16 bytes to shared memory, which is there after wait_copies() and a barrier.
G16_DEVICE void copy_async(Quad* shared, const Quad* from) {
#ifdef __CUDACC__
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"((uint32_t)__cvta_generic_to_shared(shared)), "l"(__cvta_generic_to_global(from))
                 : "memory");
#else
    *shared = *from;
#endif
}

/// Waits for the calling thread's copies.
G16_DEVICE void wait_copies() {
#ifdef __CUDACC__
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/// `value`, below 2^bits, with its bits in reverse; bits from 0 to 32.
G16_DEVICE uint32_t reverse_bits(uint32_t value, uint32_t bits) {
    if (bits == 0) return 0;
#ifdef __CUDACC__
    return __brev(value) >> (32 - bits);
#else
    uint32_t out = 0;
    for (uint32_t i = 0; i < bits; i++) out |= ((value >> i) & 1) << (bits - 1 - i);
    return out;
#endif
}

}  // namespace g16

#endif
