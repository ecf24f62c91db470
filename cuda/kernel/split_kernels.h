// The kernels that split a witness by what its values cost: zeros nothing, ones an addition, the rest a multi-scalar
// multiplication. For each of the queries L, A and B, in ascending order of the variables:
//     ones       indices of the points whose scalar is one           (a sum of points with `picks`, msm_plan.h)
//     picks      indices of the points whose scalar is neither 0 nor 1
//     scalars    those scalars, canonical, 32 little-endian bytes     (a multi-scalar multiplication with `picks`)
// A query's points are numbered by the rank of their variable among the query's members: in L the auxiliary variables, so
// variable - num_inputs; in A and B the members of a bitmap of variables, bit i % 64 of word i / 64 (u64, here as pairs of
// u32, low half first), with `ranks`: members before each word of 64. A null bitmap means that every variable is a member.
// Bits from `count` on are not read.
//
// `w` has `count` elements (inputs, then auxiliary variables), below 2^31 of them, in Montgomery form, reduced.
//
// Launches, in this order, with tiles = count / G16_SPLIT_TILE rounded up (none if count is 0, but set `counts` to zero):
//     g16_split_masks      blocks: tiles, threads: G16_SPLIT_THREADS, shared bytes: G16_SPLIT_SHARED
//     g16_split_places     blocks: 6, threads: 1024, shared bytes: 4 * 33
//     g16_split_scatter    blocks: tiles, threads: G16_SPLIT_THREADS, shared bytes: G16_SPLIT_SHARED
// All three queries are done at once: the witness is read once, and of the second time only what is neither 0 nor 1.
//
// Workspace: masks, 8 (count / 32 rounded up) bytes; places, 24 tiles bytes. Each list must have room for its query's
// members. The workspace tells which values are 0 and 1: as secret as the witness, and wiped by its owner.
#ifndef G16_KERNEL_SPLIT_KERNELS_H
#define G16_KERNEL_SPLIT_KERNELS_H

#include "kernel.h"

/// Variables of a block, and its threads.
#define G16_SPLIT_TILE 1024
#define G16_SPLIT_THREADS 256
/// Places for each 32 variables, six lists and one of what is neither 0 nor 1, and that list.
#define G16_SPLIT_SHARED (4 * (7 * 33 + G16_SPLIT_TILE))

/// The queries' lists: [query][kind], queries L, A, B; kinds ones, rest.
enum G16SplitColumn { G16_SPLIT_ONES = 0, G16_SPLIT_REST = 1, G16_SPLIT_L = 0, G16_SPLIT_A = 2, G16_SPLIT_B = 4, G16_SPLIT_COLUMNS = 6 };

extern "C" {

/// masks[2 k] and masks[2 k + 1]: which of the variables [32 k, 32 k + 32) are one, and which are neither zero nor one;
/// places[column][tile] = how many entries the tile has in that list.
G16_GLOBAL void g16_split_masks(uint32_t* masks, uint32_t* places, const g16::Fr* w, uint32_t count, uint32_t num_inputs,
                                const uint32_t* a_bits, const uint32_t* b_bits);
/// places[column][tile] becomes the sum of the tiles before, counts[column] that of all.
G16_GLOBAL void g16_split_places(uint32_t* places, uint32_t* counts, uint32_t tiles);
/// Fills the lists. A query whose three pointers are null is left out.
G16_GLOBAL void g16_split_scatter(const uint32_t* masks, const uint32_t* places, const g16::Fr* w, uint32_t count,
                                  uint32_t num_inputs, const uint32_t* a_bits, const uint32_t* a_ranks,
                                  const uint32_t* b_bits, const uint32_t* b_ranks, uint32_t* l_ones, uint32_t* l_picks,
                                  g16::Fr* l_scalars, uint32_t* a_ones, uint32_t* a_picks, g16::Fr* a_scalars,
                                  uint32_t* b_ones, uint32_t* b_picks, g16::Fr* b_scalars);
/// out[i] = the canonical number of in[i], 32 little-endian bytes, for i below count; out may be in. Blocks: count / 256
/// rounded up, threads: 256. For the coefficients of h.
G16_GLOBAL void g16_to_canonical(g16::Fr* out, const g16::Fr* in, uint32_t count);
/// Makes elements of scalars as a host gives them, in place: any 32 little-endian bytes, of a canonical number or else of
/// Montgomery form. One that is not below r becomes zero, and *first at most its index. Blocks and threads as above.
G16_GLOBAL void g16_read_scalars(g16::Fr* values, uint32_t count, uint32_t is_canonical, uint32_t* first);

}  // extern "C"

#endif
