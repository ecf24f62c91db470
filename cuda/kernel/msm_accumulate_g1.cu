// Multi-scalar multiplication in G1: the accumulation, which takes most of the time.

#define G16_COMPACT
#include "msm_buckets.h"

G16_MSM_DEFINE_ACCUMULATE(g1, g16::Fp, 256, 2)
