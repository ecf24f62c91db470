// What differs between nvcc and a host compiler.
#ifndef G16_FIELD_PLATFORM_H
#define G16_FIELD_PLATFORM_H

#include <stdint.h>

// A product or a squaring: inlined in kernels. Elsewhere, and where a source asks for it because it holds many of them, it
// is called, or compilers would take minutes.
#if !defined(__CUDACC__)
#define G16_PRODUCT inline __attribute__((noinline))
#elif defined(G16_CALL_PRODUCTS)
#define G16_PRODUCT __host__ __device__ __noinline__
#else
#define G16_PRODUCT __host__ __device__ __forceinline__
#endif

// Translation units that define G16_COMPACT before any of these headers get code that is smaller and, where many points are
// summed, faster: see fp2.h. A case that hardly ever comes is called there, so that its code is no part of the common path.
#ifdef G16_COMPACT
#ifdef __CUDACC__
#define G16_RARE __host__ __device__ __noinline__
#else
#define G16_RARE inline __attribute__((noinline))
#endif
#else
#define G16_RARE G16_FN
#endif

#ifdef __CUDACC__
// A function of field and curve code: for device and host, always inlined.
#define G16_FN __host__ __device__ __forceinline__
#define G16_UNROLL _Pragma("unroll")
#define G16_ROLLED _Pragma("unroll 1")
#else
#define G16_FN inline __attribute__((always_inline))
#define G16_UNROLL
#define G16_ROLLED
#endif

namespace g16 {

// 16 bytes that a thread loads or stores at once.
#ifdef __CUDACC__
using Quad = uint4;
#else
struct alignas(16) Quad {
    uint32_t x, y, z, w;
};
#endif

}  // namespace g16

#endif
