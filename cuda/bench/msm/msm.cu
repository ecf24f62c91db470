// gpu-msm-bench: times of multi-scalar multiplications, everything on the device, and ratios to published figures.
//
//     gpu-msm-bench [LARGEST_LOG_SIZE [WHAT [BLOCKS THREADS]]]     26 unless given; WHAT sweep: other bits of a digit as well,
//     quick: uniform scalars in G1 alone; BLOCKS of THREADS a multiprocessor: the shape of the accumulation in G1
//
// Times are device events around all launches, best of four after a warm-up.

#define G16_CALL_PRODUCTS
#include <algorithm>
#include <map>
#include <string>

#include "../../tests/msm_device.h"

namespace {

using namespace g16;

/// What sppark 0.1.16 reaches on one H200 with CUDA 13.0, points and scalars on the device, in milliseconds.
const struct {
    uint32_t log_size;
    double ms;
} kPublishedSppark[] = {{16, 8.35}, {18, 20.4}, {20, 24.2}, {22, 54.3}, {24, 156.7}, {26, 562}};
/// Products of Fp that the chip does a second with the code of field/ and nothing else.
const double kProductRate = 27.3e9;
const uint32_t kBaseLog = 21;

enum Distribution { uniform, witness, equal, two_values, hot_bucket, small, distributions };
const char* const kNames[] = {"uniform", "witness", "equal", "two values", "hot bucket", "small"};

__global__ void fill(uint32_t* scalars, uint32_t count, uint32_t distribution) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    uint32_t* out = scalars + 8 * (size_t)i;
    uint64_t of = distribution == equal ? 0 : distribution == two_values ? i % 2 : i, dice = mixed(99, i) % 100;
    for (uint32_t w = 0; w < 8; w++) out[w] = (uint32_t)(mixed(1, 8 * of + w) >> 32);
    out[7] &= 0x3fffffff;
    if (distribution == hot_bucket) out[0] = out[1] = 0x00070007;
    bool zero = distribution == witness && dice < 90, short_one = distribution == small || (distribution == witness && dice < 95);
    for (uint32_t w = 1; w < 8; w++) out[w] = zero || short_one ? 0 : out[w];
    if (zero) out[0] = dice < 45;
    if (distribution == small) out[0] &= 0xffff;
}

struct Timer {
    cudaEvent_t from, to;
    Timer() {
        check(cudaEventCreate(&from), "event");
        check(cudaEventCreate(&to), "event");
    }
    template <class Run>
    double of(Run run) {
        float out;
        check(cudaEventRecord(from), "record");
        run();
        check(cudaEventRecord(to), "record");
        check(cudaEventSynchronize(to), "kernels");
        check(cudaEventElapsedTime(&out, from, to), "time");
        return out;
    }
};

/// Points of which every 2^kBaseLog are the same, each in another place of memory.
template <class F>
Memory<Affine<F>> points(size_t count) {
    size_t some = std::min(count, size_t(1) << kBaseLog);
    Memory<Affine<F>> base = generated_points<F>(some), out(count);
    for (size_t at = 0; at < count; at += some) {
        check(cudaMemcpy(out.data() + at, base.data(), some * sizeof(Affine<F>), cudaMemcpyDeviceToDevice), "copy");
    }
    return out;
}

template <class F>
class Bench {
  public:
    Bench(uint32_t largest, const MsmTuning& tuning) : tuning_(tuning), points_(points<F>(size_t(1) << largest)), scalars_(8ull << largest) {
        buffers_.points = points_.data();
        buffers_.scalars = scalars_.data();
        buffers_.picks = nullptr;
    }

    /// Best of `rounds`, in milliseconds; `detail` prints what each kernel takes.
    double run(uint32_t log_size, Distribution distribution, const MsmTuning& tuning, bool detail, bool sum = false) {
        uint32_t count = 1u << log_size;
        fill<<<(count + 255) / 256, 256>>>(scalars_.data(), count, distribution);
        Msm plan(kIsG2<F>, sum, count, false, tuning);
        buffers_.reserve(plan);
        MsmLaunches launches = plan.launches();
        double best = 1e30;
        for (int i = 0; i < 5; i++) {
            double ms = timer_.of([&] { buffers_.run(launches); });
            if (i > 0) best = std::min(best, ms);
        }
        double pairs = (double)count * plan.windows();
        double products = pairs * (kIsG2<F> ? 28 : 10) + 2.0 * plan.buckets() * (kIsG2<F> ? 40 : 14);
        printf("%s %s 2^%u %-10s bits %2u chunk 2^%u: %8.3f ms  %.2f G additions/s  %.0f %% of the product rate  workspace %.2f GB\n",
               kIsG2<F> ? "G2" : "G1", sum ? "sum" : "MSM", log_size, kNames[distribution], plan.bits(), tuning.log_chunk, best,
               sum ? count / best * 1e-6 : pairs / best * 1e-6, sum ? 0 : 100 * products / (best * 1e-3) / kProductRate,
               plan.workspace_bytes() * 1e-9);
        if (detail) print_kernels(launches);
        return best;
    }
    void sweep(uint32_t log_size, std::initializer_list<int> bits, std::initializer_list<int> chunks) {
        for (int b : bits) {
            for (int chunk : chunks) {
                MsmTuning tuning = tuning_;
                for (uint8_t& entry : tuning.bits) entry = (uint8_t)b;
                tuning.log_chunk = (uint32_t)chunk, tuning.chunks = 1;
                run(log_size, uniform, tuning, false);
            }
        }
    }
    const MsmTuning& tuning() const { return tuning_; }

  private:
    void print_kernels(const MsmLaunches& launches) {
        std::map<std::string, double> times;
        for (const MsmLaunch& launch : launches) times[name(launch.kernel)] += timer_.of([&] { buffers_.run(launch); });
        for (const auto& [kernel, ms] : times) printf("    %-24s %8.3f ms\n", kernel.c_str() + 8, ms);
    }
    MsmTuning tuning_;
    Memory<Affine<F>> points_;
    Memory<uint32_t> scalars_;
    MsmBuffers<F> buffers_;
    Timer timer_;
};

template <class F>
void skewed(Bench<F>& bench, uint32_t log_size, double uniform_ms) {
    double worst = 0;
    for (int d = witness; d < distributions; d++) worst = std::max(worst, bench.run(log_size, (Distribution)d, bench.tuning(), false));
    printf("RATIO %s_msm_2^%u_worst_skewed_vs_uniform %.3f\n", kIsG2<F> ? "g2" : "g1", log_size, worst / uniform_ms);
}

}  // namespace

int main(int count, char** arguments) {
    uint32_t largest = count > 1 ? (uint32_t)atoi(arguments[1]) : 26;
    bool sweep = count > 2 && strcmp(arguments[2], "sweep") == 0, quick = count > 2 && strcmp(arguments[2], "quick") == 0;
    setvbuf(stdout, nullptr, _IOLBF, 0);
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0), "device");
    printf("%s, %d multiprocessors\n", properties.name, properties.multiProcessorCount);
    uint32_t capability = properties.major * 10 + properties.minor;
    {
        MsmTuning tuning = msm_tuning(false, capability, properties.multiProcessorCount);
        if (count > 4) {
            tuning.blocks = (uint32_t)atoi(arguments[3]) * properties.multiProcessorCount;
            tuning.threads = (uint32_t)atoi(arguments[4]);
        }
        Bench<Fp> bench(largest, tuning);
        for (const auto& published : kPublishedSppark) {
            if (published.log_size > largest) continue;
            double ms = bench.run(published.log_size, uniform, bench.tuning(), true);
            printf("RATIO g1_msm_2^%u_vs_sppark_h200 %.3f\n", published.log_size, published.ms / ms);
            if (published.log_size % 4 == 0 && !quick) skewed(bench, published.log_size, ms);
        }
        bench.run(std::min(largest, 20u), uniform, bench.tuning(), true, true);
        if (sweep) {
            bench.sweep(16, {11, 12, 13, 14}, {1, 2, 3});
            bench.sweep(18, {13, 14, 15, 16}, {2, 3, 4});
            bench.sweep(20, {15, 16, 17, 18}, {3, 4, 5});
            if (largest >= 22) bench.sweep(22, {18, 19, 20}, {4, 5, 6});
            if (largest >= 24) bench.sweep(24, {19, 20, 22}, {5, 6});
        }
    }
    if (quick) return 0;
    uint32_t largest2 = std::min(largest, 20u);
    Bench<Fp2> bench(largest2, msm_tuning(true, capability, properties.multiProcessorCount));
    for (uint32_t log_size = 16; log_size <= largest2; log_size += 2) {
        double ms = bench.run(log_size, uniform, bench.tuning(), true);
        if (log_size == largest2) skewed(bench, log_size, ms);
    }
    bench.run(largest2, uniform, bench.tuning(), true, true);
    if (sweep) bench.sweep(20, {13, 15, 16}, {3, 4, 5});
    return 0;
}
