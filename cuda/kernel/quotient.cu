// The pointwise steps of the quotient; src/math/quotient.rs has the mathematics.

#include "kernels.h"

using g16::Fr;

G16_KERNEL(256, 1) g16_product(Fr* out, const Fr* a, const Fr* b, const Fr* c, uint32_t count, uint32_t* first) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Fr product = g16::load(a + i) * g16::load(b + i);
    if (c != nullptr && product != g16::load(c + i)) atomicMin(first, i);
    g16::store(out + i, product);
}

G16_KERNEL(256, 1) g16_finish(Fr* out, const Fr* v, const Fr* u, const Fr* factors, const Fr* scale, uint32_t low_log,
                              uint32_t log_size) {
    uint32_t p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >> log_size != 0) return;
    Fr factor = g16::load(factors + (p & ((1u << low_log) - 1)));
    Fr value = factor * g16::load(v + p) - g16::load(scale) * g16::load(u + p);
    g16::store(out + g16::reverse_bits(p, log_size), value);
}
