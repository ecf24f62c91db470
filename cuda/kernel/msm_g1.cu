// Multi-scalar multiplication in G1.

#include "msm_buckets.h"

G16_MSM_DEFINE(g1, g16::Fp, 128, 3)
