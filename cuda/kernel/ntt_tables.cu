// Tables of powers that the transforms read. All are small, see plan.h; they are made on the device.

#include "kernels.h"

using g16::Fr;

G16_KERNEL(32, 1) g16_domain(Fr* domain, uint32_t generator, uint32_t shift, uint32_t log_size) {
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    using Parameters = g16::FrParameters;
    uint32_t exponent[Fr::n];
    for (int i = 0; i < Fr::n; i++) exponent[i] = Parameters::root_exponent(i);
    Fr root = Fr::from(generator).power_of_words(exponent);
    for (int i = Parameters::two_adicity; i >= 0; i--) {
        g16::store(domain + G16_DOMAIN_ROOTS + i, root);
        root = root.square();
    }
    Fr one = Fr::one(), half = one.twice().inverse(), inverse_size = one;
    for (uint32_t i = 0; i < log_size; i++) inverse_size = inverse_size * half;
    Fr g = Fr::from(shift), vanishing = one;
    Fr back = g.inverse();
    for (uint32_t i = 0; i < 32; i++) {
        if (i == log_size) vanishing = g - one;
        g16::store(domain + G16_DOMAIN_SHIFT + i, g);
        g16::store(domain + G16_DOMAIN_UNSHIFT + i, back);
        g = g.square();
        back = back.square();
    }
    g16::store(domain + G16_DOMAIN_ONE, one);
    g16::store(domain + G16_DOMAIN_INVERSE_SIZE, inverse_size);
    g16::store(domain + G16_DOMAIN_QUOTIENT_SCALE, inverse_size * vanishing.inverse());
}

G16_KERNEL(256, 1) g16_root_powers(Fr* out, const Fr* domain, uint32_t log_order, uint32_t count) {
    uint32_t j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= count) return;
    Fr power = Fr::one();
    G16_ROLLED
    for (uint32_t bit = 0; bit < log_order; bit++) {
        if ((j >> bit) & 1) power = power * g16::load(domain + G16_DOMAIN_ROOTS + log_order - bit);
    }
    g16::store(out + j, power);
}

G16_KERNEL(256, 1) g16_shift_powers(Fr* out, const Fr* powers, const Fr* scale, uint32_t top, uint32_t count) {
    uint32_t j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= count) return;
    Fr power = g16::load(scale);
    G16_ROLLED
    for (uint32_t bit = 0; bit < 32; bit++) {
        if ((j >> bit) & 1) power = power * g16::load(powers + top - bit);
    }
    g16::store(out + j, power);
}

G16_KERNEL(256, 1) g16_twists(Fr* out, const Fr* domain, uint32_t rows_log, uint32_t inner, uint32_t order, uint32_t split,
                              uint32_t inverse, const Fr* powers, uint32_t above, uint32_t count) {
    uint32_t j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= count) return;
    uint32_t frequency = g16::reverse_bits(j >> inner, rows_log), exponent = j & ((1u << inner) - 1);
    if (!split) {
        exponent *= frequency;
        if (inverse) exponent = (0u - exponent) & ((1u << order) - 1);
    }
    Fr twist = Fr::one();
    G16_ROLLED
    for (uint32_t bit = 0; bit < order; bit++) {
        if ((exponent >> bit) & 1) twist = twist * g16::load(domain + G16_DOMAIN_ROOTS + order - bit);
    }
    G16_ROLLED
    for (uint32_t bit = 0; bit < rows_log && powers != nullptr; bit++) {
        if ((frequency >> bit) & 1) twist = twist * g16::load(powers + above + bit);
    }
    g16::store(out + j, twist);
}
