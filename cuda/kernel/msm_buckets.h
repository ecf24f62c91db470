// Sums of points by bucket, and of buckets by window, for a group over the field F. msm_kernels.h says what each kernel does.
#ifndef G16_KERNEL_MSM_BUCKETS_H
#define G16_KERNEL_MSM_BUCKETS_H

#include "msm_kernels.h"

namespace g16 {
namespace msm {

/// All of each bucket, though zz = 0 says it all: neighbouring threads write neighbouring words, and who reads a bucket whole
/// reads nothing that was never written.
template <class F>
G16_DEVICE void clear(Xyzz<F>* buckets, uint32_t count) {
    constexpr uint32_t each = sizeof(Xyzz<F>) / sizeof(Quad);
    Quad* quads = reinterpret_cast<Quad*>(buckets);
    size_t at = (size_t)blockIdx.x * blockDim.x * each + threadIdx.x, end = (size_t)count * each;
    for (uint32_t i = 0; i < each; i++, at += blockDim.x) {
        if (at < end) quads[at] = {0, 0, 0, 0};
    }
}

template <class F>
G16_DEVICE void accumulate(Xyzz<F>* buckets, Xyzz<F>* heads, uint32_t* head_keys, const Affine<F>* points, const Pair* pairs,
                           const uint32_t* total, uint32_t least) {
    uint32_t thread = thread_number(), threads = gridDim.x * blockDim.x, count = *total;
    uint32_t share = count / threads + (count % threads != 0);
    if (share < least) share = least;
    uint64_t begin = (uint64_t)thread * share;
    uint32_t left = begin >= count ? 0 : count - begin < share ? (uint32_t)(count - begin) : share;
    const Pair* from = pairs + begin;
    Pair next = left > 0 ? from[0] : Pair{kNoKey, 0};
    uint32_t key = next.key;
    bool continued = left > 0 && begin > 0 && from[-1].key == key;
    head_keys[thread] = continued ? key : kNoKey;
    Xyzz<F>* to = continued ? heads + thread : buckets + key;
    Xyzz<F> sum = Xyzz<F>::infinity();
    G16_ROLLED
    for (uint32_t i = 0; i < share; i++) {
        // The warps of a block go in step, so that they find the loop's code in the instruction caches.
        __syncthreads();
        if (i >= left) continue;
        Pair pair = next;
        Affine<F> point = fetch(points + (pair.value & 0x7fffffff));
        if (i + 1 < left) next = from[i + 1];
        if (pair.key != key) {
            put(to, sum);
            sum = Xyzz<F>::infinity();
            key = pair.key;
            to = buckets + key;
        }
        if (pair.value >> 31) point.y = -point.y;
        sum = sum + point;
    }
    if (left > 0) put(to, sum);
}

template <class F>
G16_DEVICE void join(Xyzz<F>* buckets, const Xyzz<F>* heads, const uint32_t* head_keys, uint32_t count, Xyzz<F>* out,
                     uint32_t* out_keys, uint32_t fan) {
    uint32_t thread = thread_number();
    uint64_t begin = (uint64_t)thread * fan, end = begin + fan < count ? begin + fan : count;
    if (begin >= end) return;
    uint32_t key = head_keys[begin];
    // The heads of a bucket follow one another without a gap.
    bool continued = key != kNoKey && begin > 0 && head_keys[begin - 1] == key;
    out_keys[thread] = continued ? key : kNoKey;
    Xyzz<F> sum = Xyzz<F>::infinity();
    if (key != kNoKey && !continued) sum = fetch(buckets + key);
    Xyzz<F>* to = continued ? out + thread : buckets + key;
    G16_ROLLED
    for (uint64_t i = begin; i < end; i++) {
        uint32_t next = head_keys[i];
        if (next != key) {
            if (key != kNoKey) put(to, sum);
            key = next;
            if (key == kNoKey) continue;
            to = buckets + key;
            sum = fetch(to);
        }
        if (key != kNoKey) sum = sum + fetch(heads + i);
    }
    if (key != kNoKey) put(to, sum);
}

template <class F>
G16_DEVICE void reduce(Xyzz<F>* nodes, const Xyzz<F>* buckets, uint32_t chunks, uint32_t log_chunk) {
    uint32_t chunk = thread_number();
    if (chunk >= chunks) return;
    const Xyzz<F>* from = buckets + ((size_t)chunk << log_chunk);
    Xyzz<F> plain = Xyzz<F>::infinity(), weighted = plain;
    // Two steps a bucket share one sum of two points: its code would not fit the instruction caches twice.
    G16_ROLLED
    for (uint32_t step = 2u << log_chunk; step-- > 0;) {
        bool odd = step % 2 == 1;
        Xyzz<F> left = odd ? fetch(from + step / 2) : weighted;
        left = left + plain;
        if (odd) plain = left;
        else weighted = left;
    }
    put(nodes + chunk, plain);
    put(nodes + chunks + chunk, weighted);
}

template <class F>
G16_DEVICE void merge(Xyzz<F>* out, const Xyzz<F>* in, uint32_t nodes, uint32_t parts) {
    uint32_t thread = thread_number();
    if (thread >= nodes * (parts + 1)) return;
    uint32_t part = thread / nodes, node = thread % nodes;
    if (part == parts) return put(out + thread, fetch(in + 2 * (size_t)node + 1));
    const Xyzz<F>* from = in + 2 * ((size_t)part * nodes + node);
    put(out + thread, fetch(from) + fetch(from + 1));
}

/// The value of each of the first `count` lanes.
template <int count>
G16_DEVICE void gather(Fp (&out)[count], const Fp& mine) {
#ifdef __CUDACC__
    G16_UNROLL
    for (int lane = 0; lane < count; lane++) {
        G16_UNROLL
        for (int i = 0; i < Fp::n; i++) out[lane].word[i] = __shfl_sync((1u << count) - 1, mine.word[i], lane);
    }
#else
    for (int lane = 0; lane < count; lane++) out[lane] = *static_cast<const Fp*>(emulate::exchange_address(&mine, lane));
    __syncwarp((1u << count) - 1);
#endif
}

/// The number of those given that `which` names.
G16_DEVICE Fp choose(uint32_t which, const Fp& a, const Fp& b, const Fp& c, const Fp& d) {
    Fp out;
    G16_UNROLL
    for (int i = 0; i < Fp::n; i++) {
        uint32_t low = which & 1 ? b.word[i] : a.word[i], high = which & 1 ? d.word[i] : c.word[i];
        out.word[i] = which & 2 ? high : low;
    }
    return out;
}

/// p[i] = a_i b_i: four threads, each one of the products.
G16_DEVICE void products(Fp (&p)[4], const Fp& a0, const Fp& b0, const Fp& a1, const Fp& b1, const Fp& a2, const Fp& b2,
                         const Fp& a3, const Fp& b3) {
    uint32_t which = threadIdx.x;
    gather(p, choose(which, a0, a1, a2, a3) * choose(which, b0, b1, b2, b3));
}

/// The same of twelve threads: each one of the three products of Karatsuba's rule.
G16_DEVICE void products(Fp2 (&p)[4], const Fp2& a0, const Fp2& b0, const Fp2& a1, const Fp2& b1, const Fp2& a2, const Fp2& b2,
                         const Fp2& a3, const Fp2& b3) {
    uint32_t which = threadIdx.x / 3, part = threadIdx.x % 3;
    Fp2 a = {choose(which, a0.c0, a1.c0, a2.c0, a3.c0), choose(which, a0.c1, a1.c1, a2.c1, a3.c1)};
    Fp2 b = {choose(which, b0.c0, b1.c0, b2.c0, b3.c0), choose(which, b0.c1, b1.c1, b2.c1, b3.c1)};
    Fp all[12];
    gather(all, choose(part, a.c0, a.c1, a.c0 + a.c1, a.c0) * choose(part, b.c0, b.c1, b.c0 + b.c1, b.c0));
    G16_UNROLL
    for (int i = 0; i < 4; i++) {
        p[i] = {all[3 * i] - all[3 * i + 1], all[3 * i + 2] - all[3 * i] - all[3 * i + 1]};
    }
}

/// Arithmetic of a few threads together (four in G1, twelve in G2): each holds all values, and takes one of the products that
/// can be had at once. The tail of a multi-scalar multiplication is one long chain of doublings, so what counts is its depth:
/// three products for a doubling, four for a sum.
template <class F>
struct Together {
    /// 2^count p.
    G16_DEVICE static Xyzz<F> twice(Xyzz<F> p, uint32_t count) {
        if (p.is_infinity()) return p;
        G16_ROLLED
        for (uint32_t i = 0; i < count; i++) {
            F q[4], u = p.y.twice();
            products(q, u, u, p.x, p.x, u, u, p.x, p.x);
            F v = q[0], m = q[1].twice() + q[1];
            products(q, u, v, p.x, v, m, m, v, p.zz);
            F w = q[0], s = q[1];
            p.zz = q[3];
            p.x = q[2] - s.twice();
            products(q, m, s - p.x, w, p.y, w, p.zzz, m, m);
            p.y = q[0] - q[1];
            p.zzz = q[2];
        }
        return p;
    }
    G16_DEVICE static Xyzz<F> add(const Xyzz<F>& a, const Xyzz<F>& b) {
        if (a.is_infinity()) return b;
        if (b.is_infinity()) return a;
        F q[4];
        products(q, a.x, b.zz, b.x, a.zz, a.y, b.zzz, b.y, a.zzz);
        F ux = q[0], uy = q[2], dx = q[1] - q[0], dy = q[3] - q[2];
        if (dx.is_zero()) return dy.is_zero() ? twice(a, 1) : Xyzz<F>::infinity();
        products(q, dx, dx, dy, dy, a.zz, b.zz, a.zzz, b.zzz);
        F pp = q[0], dy2 = q[1], zzz = q[3];
        products(q, dx, pp, ux, pp, q[2], pp, dx, dx);
        F ppp = q[0], v = q[1];
        Xyzz<F> out;
        out.zz = q[2];
        out.x = dy2 - ppp - v.twice();
        products(q, dy, v - out.x, uy, ppp, zzz, ppp, dx, dx);
        out.y = q[0] - q[1];
        out.zzz = q[2];
        return out;
    }
};

template <class F>
G16_DEVICE void window(Xyzz<F>* sums, const Xyzz<F>* parts, uint32_t windows, uint32_t levels, uint32_t log_chunk) {
    using Few = Together<F>;
    const Xyzz<F>* from = parts + blockIdx.x;
    Xyzz<F> sum = Xyzz<F>::infinity();
    G16_ROLLED
    for (uint32_t level = levels + 1; level-- > 0;) {
        // The last round adds part 1, which the chunks' numbers have not weighted.
        uint32_t part = 1 + level;
        uint32_t doublings = level == levels ? 0 : level > 0 ? 1 : log_chunk;
        sum = Few::add(Few::twice(sum, doublings), fetch(from + (size_t)part * windows));
    }
    if (threadIdx.x == 0) put(sums + blockIdx.x, sum);
}

template <class F>
G16_DEVICE void result(Jacobian<F>* out, const Xyzz<F>* sums, uint32_t windows, uint32_t bits) {
    using Few = Together<F>;
    Xyzz<F> sum = Xyzz<F>::infinity();
    G16_ROLLED
    for (uint32_t i = windows; i-- > 0;) sum = Few::add(Few::twice(sum, bits), fetch(sums + i));
    if (threadIdx.x == 0) put(out, Jacobian<F>::from(sum));
}

}  // namespace msm
}  // namespace g16

/// The accumulation of group `g` over the field F; blocks of `threads`, of which a multiprocessor holds `blocks` at once.
#define G16_MSM_DEFINE_ACCUMULATE(g, F, threads, blocks)                                                                    \
    G16_KERNEL(threads, blocks)                                                                                              \
    g16_msm_accumulate_##g(g16::Xyzz<F>* buckets, g16::Xyzz<F>* heads, uint32_t* head_keys, const g16::Affine<F>* points,   \
                           const g16::Pair* pairs, const uint32_t* total, uint32_t least) {                                 \
        g16::msm::accumulate(buckets, heads, head_keys, points, pairs, total, least);                                       \
    }

/// The other kernels.
#define G16_MSM_DEFINE(g, F)                                                                                                \
    G16_KERNEL(256, 1) g16_msm_clear_##g(g16::Xyzz<F>* buckets, uint32_t count) {                                           \
        g16::msm::clear(buckets, count);                                                                                    \
    }                                                                                                                       \
    G16_KERNEL(128, 2)                                                                                                      \
    g16_msm_join_##g(g16::Xyzz<F>* buckets, const g16::Xyzz<F>* heads, const uint32_t* head_keys, uint32_t count,           \
                     g16::Xyzz<F>* out, uint32_t* out_keys, uint32_t fan) {                                                 \
        g16::msm::join(buckets, heads, head_keys, count, out, out_keys, fan);                                               \
    }                                                                                                                       \
    G16_KERNEL(128, 2)                                                                                                      \
    g16_msm_reduce_##g(g16::Xyzz<F>* nodes, const g16::Xyzz<F>* buckets, uint32_t chunks, uint32_t log_chunk) {             \
        g16::msm::reduce(nodes, buckets, chunks, log_chunk);                                                                \
    }                                                                                                                       \
    G16_KERNEL(128, 2)                                                                                                      \
    g16_msm_merge_##g(g16::Xyzz<F>* out, const g16::Xyzz<F>* in, uint32_t nodes, uint32_t parts) {                          \
        g16::msm::merge(out, in, nodes, parts);                                                                             \
    }                                                                                                                       \
    G16_KERNEL(32, 1)                                                                                                       \
    g16_msm_window_##g(g16::Xyzz<F>* sums, const g16::Xyzz<F>* parts, uint32_t windows, uint32_t levels,                    \
                       uint32_t log_chunk) {                                                                                \
        g16::msm::window(sums, parts, windows, levels, log_chunk);                                                          \
    }                                                                                                                       \
    G16_KERNEL(32, 1)                                                                                                       \
    g16_msm_result_##g(g16::Jacobian<F>* out, const g16::Xyzz<F>* sums, uint32_t windows, uint32_t bits) {                  \
        g16::msm::result(out, sums, windows, bits);                                                                         \
    }

#endif
