// Multi-scalar multiplication in G2: the accumulation, which takes most of the time.

#define G16_COMPACT
#include "msm_buckets.h"

G16_MSM_DEFINE_ACCUMULATE(g2, g16::Fp2, 128, 2)
