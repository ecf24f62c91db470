// Numbers that follow from a seed and a position.
#ifndef G16_TESTS_RANDOM_H
#define G16_TESTS_RANDOM_H

#include "../field/platform.h"

namespace g16 {

/// The number that a seed and a position give: SplitMix64 (S. Vigna).
G16_FN uint64_t mixed(uint64_t seed, uint64_t i) {
    uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

}  // namespace g16

#endif
