// Import of points in G1.

#define G16_COMPACT
#include "import.h"

G16_IMPORT_DEFINE(g1, g16::Fp, 2)
