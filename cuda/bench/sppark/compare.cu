// gpu-sppark-bench: multi-scalar multiplications in G1 beside the crate sppark's, in one process, on the same points and scalars.
//
//     gpu-sppark-bench [LARGEST_LOG_SIZE]     26 unless given
//
// Times are a host's clock around a call that returns when the result is there, best of five after a warm-up, the two in turn.

#define G16_CALL_PRODUCTS
#include <algorithm>
#include <chrono>

#include "../../tests/msm_device.h"

extern "C" {
void* sppark_msm_new(size_t count);
void sppark_msm_free(void* msm);
int sppark_msm_run(void* msm, void* result, const void* points, const void* scalars, size_t count);
}

namespace {

using namespace g16;

__global__ void fill(uint32_t* words, uint64_t count) {
    uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (i < count) words[i] = (uint32_t)(mixed(1, i) >> (i % 8 == 7 ? 34 : 32));
}

template <class Run>
double time(Run run) {
    auto from = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - from).count();
}

G1Affine affine(const G1Jacobian& p) {
    return p.is_infinity() ? G1Affine::infinity() : p.to_affine();
}

}  // namespace

int main(int count, char** arguments) {
    uint32_t largest = count > 1 ? (uint32_t)atoi(arguments[1]) : 26, some = 1u << 20;
    setvbuf(stdout, nullptr, _IOLBF, 0);
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0), "device");
    printf("%s\n", properties.name);
    // Of the points every 2^20th is the same, each in another place of memory.
    Memory<G1Affine> base = generated_points<Fp>(some), points((size_t)1 << largest);
    for (size_t at = 0; at < points.size(); at += some) {
        check(cudaMemcpy(points.data() + at, base.data(), some * sizeof(G1Affine), cudaMemcpyDeviceToDevice), "copy");
    }
    Memory<uint32_t> scalars((size_t)8 << largest);
    fill<<<(uint32_t)(scalars.size() / 256), 256>>>(scalars.data(), scalars.size());
    wait();
    MsmTuning tuning = msm_tuning(false, properties.major * 10 + properties.minor, properties.multiProcessorCount);
    for (uint32_t log_size = 20; log_size <= largest; log_size += 2) {
        uint32_t n = 1u << log_size;
        MsmBuffers<Fp> buffers;
        Msm plan(false, false, n, false, tuning);
        buffers.reserve(plan);
        buffers.points = points.data(), buffers.scalars = scalars.data(), buffers.picks = nullptr;
        MsmLaunches launches = plan.launches();
        void* msm = sppark_msm_new(n);
        G1Jacobian theirs;
        double ours_ms = 1e30, theirs_ms = 1e30;
        for (int i = 0; i < 6; i++) {
            int code = 0;
            double ours = time([&] { buffers.run(launches), wait(); });
            double other = time([&] { code = sppark_msm_run(msm, &theirs, points.data(), scalars.data(), n); });
            if (code != 0) stop("sppark", "failed");
            if (i > 0) ours_ms = std::min(ours_ms, ours), theirs_ms = std::min(theirs_ms, other);
        }
        sppark_msm_free(msm);
        bool same = affine(buffers.result.read()[0]) == affine(theirs);
        printf("2^%u: %.3f ms, sppark %.3f ms, results %s\n", log_size, ours_ms, theirs_ms, same ? "equal" : "DIFFER");
        if (!same) return 1;
        printf("RATIO g1_msm_2^%u_vs_sppark %.3f\n", log_size, theirs_ms / ours_ms);
    }
    return 0;
}
