// Numbers that depend on the architecture.
#ifndef G16_TUNING_TUNING_H
#define G16_TUNING_TUNING_H

#include <stdint.h>

namespace g16 {

struct Tuning {
    /// log2 of the rows of a tile, at most: 5 to 9.
    uint32_t rows_log;
    /// log2 of the elements of a tile, 3 to 10; a block has an eighth as many threads. A tile takes 36
    /// bytes of shared memory an element.
    uint32_t tile_log;
    /// log2 of the entries of the table of roots.
    uint32_t coarse_log;
};

/// By compute capability, major * 10 + minor.
inline Tuning tuning_for(uint32_t capability) {
    (void)capability;
    return {9, 10, 18};
}

}  // namespace g16

#endif
