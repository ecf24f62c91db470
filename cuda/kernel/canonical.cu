// Montgomery form to canonical form, for what becomes the scalars of a multi-scalar multiplication.

#include "kernels.h"

using g16::Fr;

G16_KERNEL(256, 1) g16_canonical(Fr* out, const Fr* values, uint32_t count) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    g16::store(out + i, g16::load(values + i).to_canonical());
}
