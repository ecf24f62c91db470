// The naive transform: one level a launch, one butterfly a thread, each twiddle computed anew.

#include "kernels.h"

using g16::Fr;

/// (primitive 2^log_order-th root)^j.
static G16_DEVICE Fr root_power(const Fr* domain, uint32_t log_order, uint32_t j) {
    Fr power = Fr::one();
    G16_ROLLED
    for (uint32_t bit = 0; bit < log_order; bit++) {
        if ((j >> bit) & 1) power = power * g16::load(domain + G16_DOMAIN_ROOTS + log_order - bit);
    }
    return power;
}

G16_KERNEL(256, 1) g16_radix2_inverse(Fr* data, const Fr* domain, uint32_t level, uint32_t pairs) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    uint32_t half = 1u << level, j = i & (half - 1);
    Fr* at = data + (((size_t)(i >> level)) << (level + 1)) + j;
    Fr a = g16::load(at), b = g16::load(at + half);
    Fr twiddle = root_power(domain, level + 1, (2 * half - j) & (2 * half - 1));
    g16::store(at, a + b);
    g16::store(at + half, (a - b) * twiddle);
}

G16_KERNEL(256, 1) g16_radix2_forward(Fr* data, const Fr* domain, uint32_t level, uint32_t pairs) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    uint32_t half = 1u << level, j = i & (half - 1);
    Fr* at = data + (((size_t)(i >> level)) << (level + 1)) + j;
    Fr a = g16::load(at), b = g16::load(at + half) * root_power(domain, level + 1, j);
    g16::store(at, a + b);
    g16::store(at + half, a - b);
}

G16_KERNEL(256, 1) g16_shift(Fr* data, const Fr* factors, uint32_t count) {
    uint32_t p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < count) g16::store(data + p, g16::load(factors + p) * g16::load(data + p));
}
