// gpu-bench: rates of field products, times of transforms and quotients, and ratios to published figures.
//
//     gpu-bench [LARGEST_LOG_SIZE]     26 unless given
//
// Times are device events around the launches, best of five after a warm-up.

#include <algorithm>

#include "../tests/device.h"
#include "best.h"

namespace {

using namespace g16;

/// What sppark 0.1.16 reaches on one H200 with CUDA 13.0: milliseconds of an inverse transform and one to a coset, from
/// device memory to device memory, and products a second.
const struct {
    uint32_t log_size;
    double pair_ms;
} kPublishedSppark[] = {{18, 0.148}, {20, 0.573}, {22, 2.30}, {24, 9.70}, {26, 46.8}};
const double kPublishedSpparkFp = 27.3e9, kPublishedSpparkFr = 59.7e9;

/// 32 x 32 -> 64 multiply-adds a second: on sm_80 and sm_90 32 lanes a clock and multiprocessor.
double wide_rate(const cudaDeviceProp& properties) {
    int clock_khz = 0;
    check(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0), "clock");
    return 32.0 * properties.multiProcessorCount * clock_khz * 1e3;
}

/// 2 `rounds` products a thread; each depends on the one before, so none can be left out or taken out of the loop.
template <class F>
__global__ void __launch_bounds__(256) multiply_rate(F* data, uint32_t rounds) {
    F* at = data + (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    F a = *at, b = at->twice();
#pragma unroll 1
    for (uint32_t i = 0; i < rounds; i++) {
        a = a * b;
        b = b * a;
    }
    *at = a + b;
}

template <class F>
__global__ void __launch_bounds__(256) square_rate(F* data, uint32_t rounds) {
    F* at = data + (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    F a = *at;
#pragma unroll 1
    for (uint32_t i = 0; i < 2 * rounds; i++) a = a.square();
    *at = a;
}

template <class F>
double rate(void (*kernel)(F*, uint32_t), const char* what, double wide_each, const cudaDeviceProp& properties) {
    const uint32_t blocks = properties.multiProcessorCount * 16, rounds = 500;
    std::vector<uint32_t> words((size_t)blocks * 256 * F::n);
    uint32_t state = 1;
    for (uint32_t& word : words) word = (state = state * 1664525u + 1013904223u) >> 4;
    // Top words are below 2^28, so these are reduced.
    Memory<F> data((size_t)blocks * 256);
    data.write(words.data(), data.size());
    double ms = best([&] { kernel<<<blocks, 256>>>(data.data(), rounds); });
    double per_second = 2.0 * rounds * blocks * 256 / (ms * 1e-3);
    printf("%-8s %7.2f G/s  %5.1f %% of the limit by %g wide multiply-adds each\n", what, per_second * 1e-9,
           100 * per_second * wide_each / wide_rate(properties), wide_each);
    return per_second;
}

struct Timing {
    double pair_ms, quotient_ms;
};

Timing transforms(uint32_t log_size, const Tuning& tuning, const cudaDeviceProp& properties, bool with_quotient) {
    size_t d = size_t(1) << log_size;
    Transforms plans(log_size, 7, 7, tuning);
    Memory<Fr> a(d), b(with_quotient ? d : 0), u(with_quotient ? d : 0), tables(plans.table_elements());
    Memory<uint32_t> first(1);
    check(cudaMemset(a.data(), 0x35, a.bytes()), "fill");
    if (with_quotient) check(cudaMemset(b.data(), 0x27, b.bytes()), "fill");
    Buffers buffers{&a, &b, nullptr, &u, &tables, &first};
    Plan fill = plans.tables(), pair, quotient;
    buffers.run(fill);
    plans.to_coset(pair, Buffer::a);
    plans.quotient(quotient, false);
    // The first run takes the constant vector to full-size values.
    double pair_ms = best([&] { buffers.run(pair); });
    double quotient_ms = with_quotient ? best([&] { buffers.run(quotient); }) : 0;
    double products = plans.products(true), limit_ms = products * 112 / wide_rate(properties) * 1e3;
    printf("2^%u rows 2^%u tiles 2^%u roots 2^%u: pair %.3f ms (%.2f products an element, %4.1f %% of their limit, "
           "%.0f GB/s)  quotient %.3f ms  tables %.1f MB\n",
           log_size, tuning.rows_log, tuning.tile_log, tuning.coarse_log, pair_ms, products / d, 100 * limit_ms / pair_ms,
           (pair.size() * 64.0 * d) / pair_ms * 1e-6, quotient_ms, tables.bytes() * 1e-6);
    return {pair_ms, quotient_ms};
}

}  // namespace

int main(int count, char** arguments) {
    uint32_t largest = count > 1 ? (uint32_t)atoi(arguments[1]) : 26;
    bool explore = count > 2, quick = count > 3;
    setvbuf(stdout, nullptr, _IOLBF, 0);
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0), "device");
    printf("%s, %d multiprocessors, limit %.2f T wide multiply-adds a second\n", properties.name,
           properties.multiProcessorCount, wide_rate(properties) * 1e-12);
    double fp = rate<Fp>(multiply_rate<Fp>, "Fp mul", 12 * 24 + 6, properties);
    rate<Fp>(square_rate<Fp>, "Fp sqr", 78 + 144 + 6, properties);
    double fr = rate<Fr>(multiply_rate<Fr>, "Fr mul", 8 * 14, properties);
    rate<Fr>(square_rate<Fr>, "Fr sqr", 36 + 64 + 4, properties);
    printf("RATIO fp_mul_vs_sppark_h200 %.3f\nRATIO fr_mul_vs_sppark_h200 %.3f\n", fp / kPublishedSpparkFp, fr / kPublishedSpparkFr);
    Tuning tuning = tuning_for(properties.major * 10 + properties.minor);
    std::vector<Timing> seen;
    for (const auto& published : kPublishedSppark) {
        if (quick && published.log_size != largest) continue;
        if (published.log_size <= largest) seen.push_back(transforms(published.log_size, tuning, properties, true));
    }
    if (quick) return 0;
    if (explore) {
        for (uint32_t size : {16, 18, 20, 24}) {
            for (uint32_t rows : {6, 7, 8, 9}) {
                for (uint32_t tile : {7, 8, 9, 10}) transforms(size, {rows, tile, 18}, properties, false);
            }
        }
        for (uint32_t coarse : {14, 16, 20, 24}) transforms(24, {tuning.rows_log, tuning.tile_log, coarse}, properties, false);
    }
    for (size_t i = 0; i < seen.size(); i++) {
        printf("RATIO ntt_pair_2^%u_vs_sppark_h200 %.3f\n", kPublishedSppark[i].log_size, kPublishedSppark[i].pair_ms / seen[i].pair_ms);
    }
    return 0;
}
