// A checksum of uploaded memory; import_kernels.h has its formula.

#include "import_kernels.h"

G16_KERNEL(256, 1) g16_checksum(unsigned long long* sum, const uint32_t* words, uint64_t count, uint64_t first) {
    G16_SHARED(shared);
    uint64_t* sums = reinterpret_cast<uint64_t*>(shared);
    uint64_t whole = count / 2, step = (uint64_t)gridDim.x * blockDim.x, mine = 0;
    const uint64_t* values = reinterpret_cast<const uint64_t*>(words);
    for (uint64_t j = g16::thread_number(); j < whole + count % 2; j += step) {
        uint64_t value = j < whole ? values[j] : words[count - 1];
        mine += (value ^ value >> 32) * ((j + first) * 0x9e3779b97f4a7c15ull | 1);
    }
    sums[threadIdx.x] = mine;
    __syncthreads();
    for (uint32_t half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(sum, (unsigned long long)sums[0]);
}
