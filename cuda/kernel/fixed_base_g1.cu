// Multiples of one point in G1.

#define G16_COMPACT
#include "fixed_base.h"

G16_FIXED_BASE_DEFINE(g1, g16::Fp, 2)
