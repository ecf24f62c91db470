// All kernels in one translation unit, for the fatbin.
#include "ntt_pass.cu"
#include "ntt_radix2.cu"
#include "ntt_tables.cu"
#include "quotient.cu"
