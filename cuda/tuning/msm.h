// Numbers of multi-scalar multiplication that depend on the architecture, or on measurements on one.
#ifndef G16_TUNING_MSM_H
#define G16_TUNING_MSM_H

#include <stdint.h>

namespace g16 {

struct MsmTuning {
    /// Bits of a digit, 2 to 23, by the number of scalars: [i] for up to 2^i of them.
    uint8_t bits[32];
    /// log2 of the buckets that one thread of the first level of reduction adds up, at most; no more than what leaves this
    /// many threads: as many as the device holds at once, since each takes long.
    uint32_t log_chunk, chunks;
    /// Blocks, at most, and threads a block (those that its kernel is compiled for, or fewer) of the accumulation. Several
    /// times what the device holds at once, since multiprocessors do not all take the same time.
    uint32_t blocks, threads;
    /// Pairs that a thread of it takes at least; and those above which there are twice as many blocks.
    uint32_t least, many;
    /// Heads that a thread of a join takes.
    uint32_t fan;
    /// Windows that are sorted and added up together, at most: the workspace grows with them.
    uint32_t windows;
};

/// By compute capability, major * 10 + minor, and multiprocessors.
inline MsmTuning msm_tuning(bool g2, uint32_t capability, uint32_t multiprocessors) {
    MsmTuning out = {{4, 4, 4, 4, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11, 12, 13, 13, 15, 15, 16, 18, 18, 19, 20, 20, 20, 22, 22, 22, 22, 22},
                     5, 256 * multiprocessors, 8 * multiprocessors, 256, 16, 512, 4, 128};
    if (g2) out.threads = 128;
    // Others than these have 99 KiB of shared memory a block, which a scatter of ten bits exceeds.
    bool roomy = capability == 80 || capability == 90 || capability == 100;
    for (uint8_t& bits : out.bits) bits = bits > 19 && !roomy ? 19 : bits;
    return out;
}

}  // namespace g16

#endif
