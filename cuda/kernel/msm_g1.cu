// Multi-scalar multiplication in G1: all but the accumulation.

#define G16_COMPACT
#include "msm_buckets.h"

G16_MSM_DEFINE(g1, g16::Fp)
