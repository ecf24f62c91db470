// Carries out the launches of msm_plan.h, on a GPU or in the emulator, and makes points whose multiples are known.
#ifndef G16_TESTS_MSM_DEVICE_H
#define G16_TESTS_MSM_DEVICE_H

#include "../kernel/msm_kernels.h"
#include "../kernel/msm_plan.h"
#include "device.h"
#include "random.h"

namespace g16 {

/// What generator multiple the point `i` of generated_points is: from 1 to 2^31.
G16_FN uint32_t multiple(uint64_t i) {
    return 1 + (uint32_t)(mixed(7, i) >> 33);
}

template <class F>
constexpr bool kIsG2 = sizeof(F) == sizeof(Fp2);

template <class F>
Affine<F> generator();

/// out[i] = multiple(first + i) * generator.
template <class F>
Memory<Affine<F>> generated_points(size_t count);

/// The kernels' table for the group over F.
template <class F>
struct MsmKernels;

#define G16_MSM_TABLE(g, F)                                                                                            \
    template <>                                                                                                        \
    struct MsmKernels<F> {                                                                                             \
        template <class Call>                                                                                          \
        static void with(MsmKernel kernel, Call call) {                                                                \
            switch (kernel) {                                                                                          \
                case MsmKernel::recode: return call(g16_msm_recode);                                                   \
                case MsmKernel::count_digits: return call(g16_msm_count_digits);                                       \
                case MsmKernel::count_pairs: return call(g16_msm_count_pairs);                                         \
                case MsmKernel::segment_sums: return call(g16_msm_segment_sums);                                       \
                case MsmKernel::segment_starts: return call(g16_msm_segment_starts);                                   \
                case MsmKernel::totals: return call(g16_msm_totals);                                                   \
                case MsmKernel::places: return call(g16_msm_places);                                                   \
                case MsmKernel::scatter_digits: return call(g16_msm_scatter_digits);                                   \
                case MsmKernel::scatter_pairs: return call(g16_msm_scatter_pairs);                                     \
                case MsmKernel::list: return call(g16_msm_list);                                                       \
                case MsmKernel::clear: return call(g16_msm_clear_##g);                                                 \
                case MsmKernel::accumulate: return call(g16_msm_accumulate_##g);                                       \
                case MsmKernel::join: return call(g16_msm_join_##g);                                                   \
                case MsmKernel::reduce: return call(g16_msm_reduce_##g);                                               \
                case MsmKernel::merge: return call(g16_msm_merge_##g);                                                 \
                case MsmKernel::window: return call(g16_msm_window_##g);                                               \
                case MsmKernel::result: return call(g16_msm_result_##g);                                               \
            }                                                                                                          \
        }                                                                                                              \
    };
G16_MSM_TABLE(g1, Fp)
G16_MSM_TABLE(g2, Fp2)

/// Buffers of one MSM over the group over F.
template <class F>
struct MsmBuffers {
    const void* points;
    const void* scalars;
    const void* picks;
    Memory<Jacobian<F>> result{1};
    Memory<Quad> workspace;

    void reserve(const Msm& plan) {
        size_t quads = plan.workspace_bytes() / 16;
        if (workspace.size() < quads) workspace = Memory<Quad>(0), workspace = Memory<Quad>(quads);
    }

    uint64_t value(const MsmArgument& argument) const {
        if (argument.kind != MsmArgument::address) return argument.value;
        uint64_t base = 0;
        switch (argument.buffer) {
            case MsmBuffer::points: base = (uint64_t)points; break;
            case MsmBuffer::scalars: base = (uint64_t)scalars; break;
            case MsmBuffer::picks: base = (uint64_t)picks; break;
            case MsmBuffer::result: base = (uint64_t)result.data(); break;
            case MsmBuffer::workspace:
                base = (uint64_t)workspace.data();
                if (argument.value > workspace.bytes()) stop("plan", "names memory that is not there");
        }
        return base + argument.value;
    }

    void run(const MsmLaunches& launches) const {
        for (const MsmLaunch& launch : launches) run(launch);
    }
    void run(const MsmLaunch& launch) const {
        std::vector<uint64_t> values;
        for (const MsmArgument& argument : launch.arguments) values.push_back(value(argument));
#ifdef __CUDACC__
        std::vector<void*> pointers;
        for (uint64_t& one : values) pointers.push_back(&one);
        MsmKernels<F>::with(launch.kernel, [&](auto kernel) {
            if (launch.shared_bytes > 48 << 10) {
                check(cudaFuncSetAttribute((const void*)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           (int)launch.shared_bytes), "shared");
            }
            check(cudaLaunchKernel((const void*)kernel, dim3(launch.blocks), dim3(launch.threads), pointers.data(),
                                   launch.shared_bytes, 0), name(launch.kernel));
        });
#else
        MsmKernels<F>::with(launch.kernel, [&](auto kernel) { emulated(kernel, launch, values.data()); });
#endif
    }

#ifndef __CUDACC__
    template <class T>
    static T convert(uint64_t value) {
        if constexpr (std::is_pointer_v<T>) return reinterpret_cast<T>(value);
        else return (T)value;
    }
    template <class... P, size_t... I>
    static void spread(void (*kernel)(P...), const MsmLaunch& launch, const uint64_t* values, std::index_sequence<I...>) {
        emulate::launch(kernel, launch.blocks, launch.threads, launch.shared_bytes, convert<P>(values[I])...);
    }
    template <class... P>
    static void emulated(void (*kernel)(P...), const MsmLaunch& launch, const uint64_t* values) {
        if (launch.arguments.size() != sizeof...(P)) stop(name(launch.kernel), "wrong number of arguments");
        spread(kernel, launch, values, std::make_index_sequence<sizeof...(P)>());
    }
#endif
};

}  // namespace g16

#endif
