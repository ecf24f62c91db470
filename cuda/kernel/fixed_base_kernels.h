// The kernels that multiply one point by many scalars: out[i] = s_i G, in affine coordinates.
//
// A table holds the 256 multiples d 256^w G, d from 0 to 255, of each of the 32 windows w of 8 bits; a product is a sum of 32
// points of it (E. F. Brickell, D. M. Gordon, K. S. McCurley and D. B. Wilson, "Fast exponentiation with precomputation", 1992)
// in XYZZ coordinates. Inverses are shared by many (P. L. Montgomery's trick).
//
// Points are affine coordinates in Montgomery form, (0, 0) for infinity; scalars are 32 little-endian bytes, any number. All
// are aligned to 16 bytes.
//
// Launches; those of no blocks are left out:
//     once a base:
//     g16_fixed_windows   blocks: 1, threads: 32
//     g16_fixed_table     blocks: 64, threads: 128
//     g16_normalise       of the table's 8192 points: blocks: 8, threads: 128, `each` 8
//     for scalars:
//     g16_fixed_base      blocks: count / G16_FIXED_THREADS rounded up, threads: G16_FIXED_THREADS
//     g16_normalise       blocks: count / (128 each) rounded up, threads: 128; `each` 1 to 64, say the power of two next below
//                         count / 2^15
// Memory: the table, 8192 points (0.8 MB in G1, 1.6 MB in G2). Workspace: zz, zzz and scratch, 144 bytes a scalar (or a point of
// the table) in G1, 288 in G2: a caller bounds it by doing its scalars in pieces, of 2^20 or more so that the device is full.
#ifndef G16_KERNEL_FIXED_BASE_KERNELS_H
#define G16_KERNEL_FIXED_BASE_KERNELS_H

#include "../curve/jacobian.h"
#include "kernel.h"

#define G16_FIXED_WINDOWS 32
#define G16_FIXED_THREADS 256

extern "C" {

// fixed_base_g1.cu, fixed_base_g2.cu: the templates of fixed_base.h

#define G16_FIXED_BASE_KERNELS(g, F)                                                                                        \
    /* table[256 w + 1] = 256^w *base. */                                                                                   \
    G16_GLOBAL void g16_fixed_windows_##g(g16::Affine<F>* table, const g16::Affine<F>* base);                               \
    /* table[256 w + d] = d table[256 w + 1], as (x / zz, y / zzz), for g16_normalise. */                                   \
    G16_GLOBAL void g16_fixed_table_##g(g16::Affine<F>* table, F* zz, F* zzz);                                              \
    /* scalars[i] times the base, as (x / zz, y / zzz): out[i] = (x, y), zz[i], zzz[i]; zz is 0 for infinity. */            \
    G16_GLOBAL void g16_fixed_base_##g(g16::Affine<F>* out, F* zz, F* zzz, const g16::Affine<F>* table,                     \
                                       const g16::Quad* scalars, uint32_t count);                                           \
    /* Makes such points affine; each thread shares one inverse among `each` of them. `scratch` has `count` elements. */    \
    G16_GLOBAL void g16_normalise_##g(g16::Affine<F>* points, const F* zz, const F* zzz, F* scratch, uint32_t count,        \
                                      uint32_t each);

G16_FIXED_BASE_KERNELS(g1, g16::Fp)
G16_FIXED_BASE_KERNELS(g2, g16::Fp2)

}  // extern "C"

#endif
