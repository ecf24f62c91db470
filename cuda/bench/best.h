// The clock of the benches of kernels.
#ifndef G16_BENCH_BEST_H
#define G16_BENCH_BEST_H

#include <algorithm>

#include "../tests/device.h"

/// Best of five after a warm-up, in milliseconds.
template <class Run>
double best(Run run) {
    using g16::check;
    cudaEvent_t from, to;
    check(cudaEventCreate(&from), "event");
    check(cudaEventCreate(&to), "event");
    float out = 1e30f;
    for (int i = 0; i < 6; i++) {
        check(cudaEventRecord(from), "record");
        run();
        check(cudaEventRecord(to), "record");
        check(cudaEventSynchronize(to), "kernels");
        float time;
        check(cudaEventElapsedTime(&time, from, to), "time");
        if (i > 0) out = std::min(out, time);
    }
    return out;
}

#endif
