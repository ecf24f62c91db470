// Multiples of one point, for a group over the field F. fixed_base_kernels.h says what each kernel does.
#ifndef G16_KERNEL_FIXED_BASE_H
#define G16_KERNEL_FIXED_BASE_H

#include "fixed_base_kernels.h"

namespace g16 {
namespace fixed {

template <class F>
G16_DEVICE void windows(Affine<F>* table, const Affine<F>* base) {
    uint32_t window = threadIdx.x;
    if (blockIdx.x > 0 || window >= G16_FIXED_WINDOWS) return;
    Xyzz<F> sum = Xyzz<F>::from(fetch(base));
    G16_ROLLED
    for (uint32_t step = 0; step < 8 * window; step++) sum = sum.twice();
    put(table + 256 * window + 1, sum.is_infinity() ? Affine<F>::infinity() : sum.to_affine());
}

template <class F>
G16_DEVICE void table(Affine<F>* out, F* zz, F* zzz) {
    uint32_t at = thread_number(), digit = at % 256;
    if (at >= 256 * G16_FIXED_WINDOWS) return;
    Affine<F> from = fetch(out + at - digit + 1);
    Xyzz<F> sum = Xyzz<F>::infinity();
    G16_ROLLED
    for (uint32_t mask = 128; mask > 0; mask /= 2) {
        sum = sum.twice();
        if (digit & mask) sum = sum + from;
    }
    // The point that others read stays as it is: its zz is one.
    if (digit != 1) put(out + at, Affine<F>{sum.x, sum.y});
    put(zz + at, sum.zz);
    put(zzz + at, sum.zzz);
}

template <class F>
G16_DEVICE void multiply(Affine<F>* out, F* zz, F* zzz, const Affine<F>* table, const Quad* scalars, uint32_t count) {
    uint32_t i = thread_number();
    bool mine = i < count;
    const uint32_t* words = reinterpret_cast<const uint32_t*>(scalars + 2 * (size_t)(mine ? i : 0));
    Xyzz<F> sum = Xyzz<F>::infinity();
    G16_ROLLED
    for (uint32_t window = 0; window < G16_FIXED_WINDOWS; window++) {
        // The warps of a block go in step, so that they find the loop's code in the instruction caches.
        __syncthreads();
        uint32_t digit = words[window / 4] >> (8 * (window % 4)) & 0xff;
        if (digit != 0) sum = sum + fetch(table + 256 * window + digit);
    }
    if (!mine) return;
    put(out + i, Affine<F>{sum.x, sum.y});
    put(zz + i, sum.zz);
    put(zzz + i, sum.zzz);
}

template <class F>
G16_DEVICE void normalise(Affine<F>* points, const F* zz, const F* zzz, F* scratch, uint32_t count, uint32_t each) {
    // A thread's points lie a stride apart, so that neighbours in a warp are neighbours in memory.
    uint32_t thread = thread_number(), stride = gridDim.x * blockDim.x;
    F product = F::one();
    G16_ROLLED
    for (uint32_t j = 0; j < each; j++) {
        uint64_t i = thread + (uint64_t)j * stride;
        if (i >= count) break;
        put(scratch + i, product);
        F next = fetch(zzz + i);
        if (!next.is_zero()) product = product * next;
    }
    F inverse = product.inverse();
    G16_ROLLED
    for (uint32_t j = each; j-- > 0;) {
        uint64_t i = thread + (uint64_t)j * stride;
        if (i >= count) continue;
        F here = fetch(zzz + i);
        if (here.is_zero()) {
            put(points + i, Affine<F>::infinity());
            continue;
        }
        F own = inverse * fetch(scratch + i);
        inverse = inverse * here;
        // zz / zzz is 1 / z, where zz = z^2 and zzz = z^3.
        F z = fetch(zz + i) * own;
        put(&points[i].x, fetch(&points[i].x) * z.square());
        put(&points[i].y, fetch(&points[i].y) * own);
    }
}

}  // namespace fixed
}  // namespace g16

/// The kernels of group `g` over the field F; of the blocks of the products a multiprocessor holds `blocks` at once.
#define G16_FIXED_BASE_DEFINE(g, F, blocks)                                                                                 \
    G16_KERNEL(32, 1) g16_fixed_windows_##g(g16::Affine<F>* table, const g16::Affine<F>* base) {                            \
        g16::fixed::windows(table, base);                                                                                   \
    }                                                                                                                       \
    G16_KERNEL(128, 1) g16_fixed_table_##g(g16::Affine<F>* table, F* zz, F* zzz) {                                          \
        g16::fixed::table(table, zz, zzz);                                                                                  \
    }                                                                                                                       \
    G16_KERNEL(G16_FIXED_THREADS, blocks)                                                                                   \
    g16_fixed_base_##g(g16::Affine<F>* out, F* zz, F* zzz, const g16::Affine<F>* table, const g16::Quad* scalars,           \
                       uint32_t count) {                                                                                    \
        g16::fixed::multiply(out, zz, zzz, table, scalars, count);                                                          \
    }                                                                                                                       \
    G16_KERNEL(128, 2)                                                                                                      \
    g16_normalise_##g(g16::Affine<F>* points, const F* zz, const F* zzz, F* scratch, uint32_t count, uint32_t each) {       \
        g16::fixed::normalise(points, zz, zzz, scratch, count, each);                                                       \
    }

#endif
