// The kernels of multi-scalar multiplication: names and parameters. kernel/msm_plan.h says in which order they run.
//
// The method is Pippenger's with signed digits. A scalar s, 256 bits, is cut into `windows` digits of `bits` bits; all but
// the top one are made to lie in [-2^(bits-1), 2^(bits-1)) by adding the constant that has 2^(bits-1) in each of their
// places: then each window reads its digit without a carry from the one below. A digit d != 0 of scalar i makes the pair of
// key (window 2^(bits-1) + |d| - 1), a bucket, and value (index of point i, and bit 31 where d is negative). Pairs are sorted
// by key, summed up by bucket, and the buckets by window.
//
// Points are affine coordinates in Montgomery form, (0, 0) for infinity, 96 bytes (G1) or 192 (G2); scalars are 32
// little-endian bytes, below 2^255 (they need not be below r). All are aligned to 16 bytes. No kernel allocates.
#ifndef G16_KERNEL_MSM_KERNELS_H
#define G16_KERNEL_MSM_KERNELS_H

#include "../curve/jacobian.h"
#include "kernel.h"

namespace g16 {

/// A point's place and sign, and the bucket to which it goes.
struct alignas(8) Pair {
    uint32_t key, value;
};

/// A key that no pair has.
constexpr uint32_t kNoKey = 0xffffffff;

}  // namespace g16

/// Pairs of one block of the sort, its threads, and tiles that one thread adds up when their counts are.
#define G16_SORT_TILE 8192
#define G16_SORT_THREADS 512
#define G16_SORT_SEGMENT 32
/// log2 of the largest number of bins of a pass.
#define G16_SORT_BITS 11

extern "C" {

// msm_sort.cu: a radix sort of two stable passes; counts[window][tile][bin] become places

/// planes[j count + i] = word j of scalars[i] plus the eight words of `offset`.
G16_GLOBAL void g16_msm_recode(uint32_t* planes, const g16::Quad* scalars, uint32_t count, uint32_t offset0, uint32_t offset1,
                               uint32_t offset2, uint32_t offset3, uint32_t offset4, uint32_t offset5, uint32_t offset6,
                               uint32_t offset7);
/// Counts the pairs that the scalars of each tile give in windows [first, ...), by the lowest log_bins bits of their keys.
/// Block w tiles + t does tile t of window first + w.
G16_GLOBAL void g16_msm_count_digits(uint32_t* counts, const uint32_t* planes, uint32_t count, uint32_t tiles, uint32_t first,
                                     uint32_t windows, uint32_t bits, uint32_t log_bins);
/// Counts pairs that the first pass has sorted by bits [shift, shift + log_bins) of their keys; those of window w are
/// pairs[starts[w]..starts[w + 1]).
G16_GLOBAL void g16_msm_count_pairs(uint32_t* counts, const g16::Pair* pairs, const uint32_t* starts, uint32_t tiles,
                                    uint32_t shift, uint32_t log_bins);
/// sums[w][s][bin] = the counts of tiles [32 s, 32 s + 32) of window w.
G16_GLOBAL void g16_msm_segment_sums(uint32_t* sums, const uint32_t* counts, uint32_t windows, uint32_t tiles,
                                     uint32_t segments, uint32_t log_bins);
/// sums[w][s][bin] becomes what stands in the segments before s, totals[w][bin] the whole.
G16_GLOBAL void g16_msm_segment_starts(uint32_t* sums, uint32_t* totals, uint32_t windows, uint32_t segments,
                                       uint32_t log_bins);
/// totals[i] becomes the sum of those before i; starts[w] the place of window w's first pair, starts[windows] the number of
/// pairs. One block of 1024 threads.
G16_GLOBAL void g16_msm_totals(uint32_t* totals, uint32_t* starts, uint32_t windows, uint32_t log_bins);
/// counts[w][t][bin] becomes the place of that tile's first pair in that bin.
G16_GLOBAL void g16_msm_places(uint32_t* counts, const uint32_t* sums, const uint32_t* totals, uint32_t windows,
                               uint32_t tiles, uint32_t segments, uint32_t log_bins);
/// Makes the pairs and puts them in their places; `picks` gives point i's index where it is not null.
G16_GLOBAL void g16_msm_scatter_digits(g16::Pair* out, const uint32_t* planes, const uint32_t* picks, const uint32_t* places,
                                       uint32_t count, uint32_t tiles, uint32_t first, uint32_t windows, uint32_t bits,
                                       uint32_t log_bins);
G16_GLOBAL void g16_msm_scatter_pairs(g16::Pair* out, const g16::Pair* pairs, const uint32_t* starts, const uint32_t* places,
                                      uint32_t tiles, uint32_t shift, uint32_t log_bins);
/// pairs[i] = (0, picks[i]), or (0, i) where `picks` is null; *total = count: all points go to one bucket.
G16_GLOBAL void g16_msm_list(g16::Pair* pairs, uint32_t* total, const uint32_t* picks, uint32_t count);

// msm_g1.cu, msm_g2.cu: the templates of msm_buckets.h

#define G16_MSM_KERNELS(g, F)                                                                                               \
    /* Makes `count` buckets infinite: zeros. */                                                                           \
    G16_GLOBAL void g16_msm_clear_##g(g16::Xyzz<F>* buckets, uint32_t count);                                               \
    /* Sums up pairs[0..*total): each thread an equal share, at least `least` pairs, whatever their buckets. A bucket that */ \
    /* begins in a thread's share is stored; what the share adds to one that began before becomes heads[thread] with its   */ \
    /* key, else kNoKey. */                                                                                                 \
    G16_GLOBAL void g16_msm_accumulate_##g(g16::Xyzz<F>* buckets, g16::Xyzz<F>* heads, uint32_t* head_keys,                 \
                                           const g16::Affine<F>* points, const g16::Pair* pairs, const uint32_t* total,     \
                                           uint32_t least);                                                                 \
    /* Adds heads to their buckets, `fan` a thread; those of a bucket that began in an earlier share become out[thread].  */ \
    G16_GLOBAL void g16_msm_join_##g(g16::Xyzz<F>* buckets, const g16::Xyzz<F>* heads, const uint32_t* head_keys,           \
                                     uint32_t count, g16::Xyzz<F>* out, uint32_t* out_keys, uint32_t fan);                  \
    /* For each chunk t of 2^log_chunk buckets B_0, B_1, ...: nodes[t] = sum B_j, nodes[chunks + t] = sum (j + 1) B_j. */   \
    G16_GLOBAL void g16_msm_reduce_##g(g16::Xyzz<F>* nodes, const g16::Xyzz<F>* buckets, uint32_t chunks,                   \
                                       uint32_t log_chunk);                                                                 \
    /* One level of a binary tree over the chunks, with `parts` numbers a node: out[q][i] = in[q][2 i] + in[q][2 i + 1] for */ \
    /* q below parts, out[parts][i] = in[0][2 i + 1], i below `nodes` (of all windows together). So when one node is left, */ \
    /* part 2 + h is the sum of the odd nodes of level h. */                                                                \
    G16_GLOBAL void g16_msm_merge_##g(g16::Xyzz<F>* out, const g16::Xyzz<F>* in, uint32_t nodes, uint32_t parts);           \
    /* sums[w] = part 1 + 2^log_chunk (part 2 + 2 part 3 + 4 part 4 + ...) of window w; parts[q][w]. A block a window, of 4  */ \
    /* threads in G1, 12 in G2. */                                                                                          \
    G16_GLOBAL void g16_msm_window_##g(g16::Xyzz<F>* sums, const g16::Xyzz<F>* parts, uint32_t windows, uint32_t levels,    \
                                       uint32_t log_chunk);                                                                 \
    /* *result = sum of 2^(w bits) sums[w]. 4 or 12 threads. */                                                             \
    G16_GLOBAL void g16_msm_result_##g(g16::Jacobian<F>* result, const g16::Xyzz<F>* sums, uint32_t windows, uint32_t bits);

G16_MSM_KERNELS(g1, g16::Fp)
G16_MSM_KERNELS(g2, g16::Fp2)

}  // extern "C"

#endif
