// The kernels: names and parameters. The host fills a table of them, whatever launches it.
//
// All elements are Fr in Montgomery form, 32 bytes, aligned to 16. No kernel allocates; out-of-range threads do nothing.
#ifndef G16_KERNEL_KERNELS_H
#define G16_KERNEL_KERNELS_H

#include "kernel.h"

/// Positions in the table `domain`, in elements.
enum G16Domain {
    /// [i] is the primitive 2^i-th root of unity, i from 0 to 32.
    G16_DOMAIN_ROOTS = 0,
    /// [i] is shift^(2^i) and shift^-(2^i), i below 32.
    G16_DOMAIN_SHIFT = 33,
    G16_DOMAIN_UNSHIFT = 65,
    G16_DOMAIN_ONE = 97,
    /// 1 / d.
    G16_DOMAIN_INVERSE_SIZE = 98,
    /// 1 / (d (shift^d - 1)).
    G16_DOMAIN_QUOTIENT_SCALE = 99,
    G16_DOMAIN_SIZE = 100
};

/// log2 of the entries of the table `small`, and so of the rows of the largest tile.
#define G16_SMALL_LOG 9
/// Threads of a pass's block, at most, and blocks that a multiprocessor must be able to hold at once: the register budget.
#ifndef G16_PASS_THREADS
#define G16_PASS_THREADS 128
#define G16_PASS_BLOCKS 4
#endif

extern "C" {

// ntt_tables.cu

/// Fills `domain`, for d = 2^log_size: one thread. `generator` is the non-residue that the roots of unity are powers of,
/// `shift` the coset's; the shift must lie outside the domain.
G16_GLOBAL void g16_domain(g16::Fr* domain, uint32_t generator, uint32_t shift, uint32_t log_size);
/// out[j] = (primitive 2^log_order-th root)^j for j below count, at most 2^log_order.
G16_GLOBAL void g16_root_powers(g16::Fr* out, const g16::Fr* domain, uint32_t log_order, uint32_t count);
/// out[j] = scale * product of powers[top - i] over the bits i of j, for j below count: with powers[i] = g^(2^i) that is
/// g to the bit reversal of j in top + 1 bits.
G16_GLOBAL void g16_shift_powers(g16::Fr* out, const g16::Fr* powers, const g16::Fr* scale, uint32_t top, uint32_t count);
/// The table `twists` of a pass (ntt_pass.cu), count entries: entry row << inner | n is w^n, or w^(+-reverse(row) n) if not
/// `split`, w the root of order 2^order, times, where `powers` is given, g^(reverse(row) 2^above); powers[i] = g^(2^i).
/// The sign is that of the inverse if `inverse`.
G16_GLOBAL void g16_twists(g16::Fr* out, const g16::Fr* domain, uint32_t rows_log, uint32_t inner, uint32_t order, uint32_t split,
                           uint32_t inverse, const g16::Fr* powers, uint32_t above, uint32_t count);

// ntt_radix2.cu: the first rung, one level a launch; it serves the smallest domains

/// One level of the inverse transform, natural to bit-reversed order, in blocks of 2^(level + 1); levels descend.
G16_GLOBAL void g16_radix2_inverse(g16::Fr* data, const g16::Fr* domain, uint32_t level, uint32_t pairs);
/// One level of the forward transform, bit-reversed to natural order; levels ascend.
G16_GLOBAL void g16_radix2_forward(g16::Fr* data, const g16::Fr* domain, uint32_t level, uint32_t pairs);
/// data[p] *= factors[p].
G16_GLOBAL void g16_shift(g16::Fr* data, const g16::Fr* factors, uint32_t count);

// ntt_pass.cu: see there for what a pass is

/// Elements below 2 r become elements below 2 r; if `last`, reduced ones. `twists` are those of the pass and the direction.
G16_GLOBAL void g16_inverse_pass(g16::Fr* data, uint32_t rows_log, uint32_t columns_log, uint32_t low,
                                 const g16::Fr* small, const g16::Fr* coarse, uint32_t coarse_log,
                                 const g16::Fr* twists);
G16_GLOBAL void g16_forward_pass(g16::Fr* data, uint32_t rows_log, uint32_t columns_log, uint32_t low,
                                 const g16::Fr* small, const g16::Fr* coarse, uint32_t coarse_log,
                                 const g16::Fr* twists, uint32_t last);
/// The passes over contiguous elements, low = 0. `mode` is a sum of 1: inverse, 2: factors, 4: forward, 8: reduce, in
/// this order; factors are those of the row.
G16_GLOBAL void g16_contiguous_pass(g16::Fr* data, uint32_t rows_log, uint32_t columns_log, uint32_t mode,
                                    const g16::Fr* small, const g16::Fr* factors);

// quotient.cu

/// out[i] = a[i] b[i] for i below count; out may be a or b. Where `c` is given and differs from that, *first becomes at
/// most i.
G16_GLOBAL void g16_product(g16::Fr* out, const g16::Fr* a, const g16::Fr* b, const g16::Fr* c, uint32_t count,
                            uint32_t* first);
/// out[bit reversal of p] = v[p] factors[p mod 2^low_log] - u[p] *scale, for p below 2^log_size; `out` must overlap neither
/// `v` nor `u`.
G16_GLOBAL void g16_finish(g16::Fr* out, const g16::Fr* v, const g16::Fr* u, const g16::Fr* factors, const g16::Fr* scale,
                           uint32_t low_log, uint32_t log_size);

}  // extern "C"

#endif
