// Import of points in G2.

#define G16_COMPACT
#include "import.h"

G16_IMPORT_DEFINE(g2, g16::Fp2, 1)
