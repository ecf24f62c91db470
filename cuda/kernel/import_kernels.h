// The kernels that take a key's points to device form, check them, and checksum what was uploaded.
//
// Encoded points are Zcash's uncompressed form: coordinates as big-endian canonical numbers, of an extension element c1 before
// c0; 96 bytes in G1 (x, y), 192 in G2 (x.c1, x.c0, y.c1, y.c0). The three top bits of the first byte are flags: 0x40 is
// infinity, all other bits zero; 0x80 and 0x20 belong to the compressed form. Device form is affine coordinates in Montgomery
// form, (0, 0) for infinity, the memory of blst_p1_affine and blst_p2_affine. All are aligned to 16 bytes.
//
// What is wrong with a point is reported in *first, a u64 that must be 2^64 - 1 before: the smallest (index << 8 | kind), index
// = base + the point's position in the call, below 2^56. So sections may be imported in pieces, and the pieces' launches
// may run in any order. The first of these kinds that applies is a point's:
enum G16Fault {
    /// Flags of the compressed form, or infinity of it.
    G16_FAULT_FLAGS = 1,
    /// Infinity whose other bits are not all zero.
    G16_FAULT_INFINITY_NOT_ZERO = 2,
    /// x, or a part of it, is not below p.
    G16_FAULT_X = 3,
    /// y, or a part of it, is not below p.
    G16_FAULT_Y = 4,
    /// The coordinates are on no point of the curve (also: both zero, though the flag of infinity is not set).
    G16_FAULT_CURVE = 5,
    /// Infinity, which the caller refuses.
    G16_FAULT_INFINITY = 6,
    /// On the curve, but outside of the subgroup of order r.
    G16_FAULT_SUBGROUP = 7
};
// Launches: threads as said, blocks: count over those, rounded up; none where count is 0.
#ifndef G16_KERNEL_IMPORT_KERNELS_H
#define G16_KERNEL_IMPORT_KERNELS_H

#include "../curve/jacobian.h"
#include "kernel.h"

/// Threads of the kernels below: of those of one test a point, and of the subgroup test.
#define G16_IMPORT_THREADS 128
#define G16_SUBGROUP_THREADS 256

extern "C" {

// import_g1.cu, import_g2.cu: the templates of import.h

#define G16_IMPORT_KERNELS(g, F)                                                                                            \
    /* points[i] = the point that `bytes` encode, 4 words a 16 bytes, for i below count: with all checks but the subgroup's.*/ \
    /* A wrong point becomes infinity. `refuse_infinity`: 1 if infinity is a fault. Threads: G16_IMPORT_THREADS.          */ \
    G16_GLOBAL void g16_import_##g(g16::Affine<F>* points, const g16::Quad* bytes, uint32_t count, uint64_t base,           \
                                   uint32_t refuse_infinity, unsigned long long* first);                                    \
    /* The same checks of points in device form, whose coordinates may be any words; they stay as they are. Threads:      */ \
    /* G16_IMPORT_THREADS. */                                                                                               \
    G16_GLOBAL void g16_check_##g(const g16::Affine<F>* points, uint32_t count, uint64_t base, uint32_t refuse_infinity,    \
                                  unsigned long long* first);                                                               \
    /* Whether points in device form, on the curve, lie in the subgroup; infinity does. Exact: no point outside passes.   */ \
    /* Threads: G16_SUBGROUP_THREADS. */                                                                                    \
    G16_GLOBAL void g16_subgroup_##g(const g16::Affine<F>* points, uint32_t count, uint64_t base, unsigned long long* first);

G16_IMPORT_KERNELS(g1, g16::Fp)
G16_IMPORT_KERNELS(g2, g16::Fp2)

// checksum.cu

/// Adds the checksum of `count` words to *sum, which starts at 0: over the 64-bit words v_j (two words each, little-endian; an
/// odd last word is followed by zero), modulo 2^64,
///     sum of (v_j ^ v_j >> 32) ((j + first) 0x9e3779b97f4a7c15 | 1)
/// A single wrong word is always seen, and words in the wrong places nearly always. Where data comes in pieces, `first` is
/// the 64-bit word at which this one begins; every piece but the last has an even count. `words` is aligned to 8 bytes. Threads:
/// 256, shared bytes: 2048, blocks: any number from one, e.g. 8 a multiprocessor or count / 512, whichever is less. On a host:
///     for (j = 0; j < n; j++) sum += (v[j] ^ v[j] >> 32) * ((j + first) * 0x9e3779b97f4a7c15 | 1);
G16_GLOBAL void g16_checksum(unsigned long long* sum, const uint32_t* words, uint64_t count, uint64_t first);

}  // extern "C"

#endif
