// All kernels in one translation unit, for the fatbin.
#include "msm_g1.cu"
#include "msm_g2.cu"
#include "msm_sort.cu"
#include "ntt_pass.cu"
#include "ntt_radix2.cu"
#include "ntt_tables.cu"
#include "quotient.cu"
