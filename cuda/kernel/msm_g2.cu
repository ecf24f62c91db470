// Multi-scalar multiplication in G2: all but the accumulation.

#define G16_COMPACT
#include "msm_buckets.h"

G16_MSM_DEFINE(g2, g16::Fp2)
