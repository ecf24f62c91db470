// Multiples of one point in G2.

#define G16_COMPACT
#include "fixed_base.h"

G16_FIXED_BASE_DEFINE(g2, g16::Fp2, 1)
