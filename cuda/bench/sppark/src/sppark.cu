// sppark's multi-scalar multiplication in G1 as functions in C. What stands around it is as in the crate's own example,
// poc/msm-cuda, but for points and scalars that are in device memory.

#include <cuda.h>

#include <ff/bls12-381.hpp>

#include <ec/jacobian_t.hpp>
#include <ec/xyzz_t.hpp>

typedef jacobian_t<fp_t> point_t;
typedef xyzz_t<fp_t> bucket_t;
typedef bucket_t::affine_t affine_t;
typedef fr_t scalar_t;

#include <msm/pippenger.cuh>

#ifndef __CUDA_ARCH__

namespace {

/// Device memory, in the form that msm_t::invoke takes without a copy.
template <class T>
struct Resident {
    const T* data;
    const T& operator[](size_t i) const { return data[i]; }
};

}  // namespace

template <class T>
struct is_device_ptr<Resident<T>> {
    static const bool value = true;
};

using Msm = msm_t<bucket_t, point_t, affine_t, scalar_t>;
static_assert(sizeof(affine_t::mem_t) == 96, "x and y");

/// For `count` points.
extern "C" void* sppark_msm_new(size_t count) {
    return new Msm(nullptr, count);
}
extern "C" void sppark_msm_free(void* msm) {
    delete static_cast<Msm*>(msm);
}
/// result (x, y, z) = the sum of scalars times points, which are in device memory: 96 bytes (x, y) in Montgomery form, and
/// 32 canonical ones. Returns when it is done; 0 if it worked.
extern "C" int sppark_msm_run(void* msm, void* result, const void* points, const void* scalars, size_t count) {
    point_t out;
    RustError error = static_cast<Msm*>(msm)->invoke(out, Resident<affine_t>{static_cast<const affine_t*>(points)}, count,
                                                     Resident<scalar_t>{static_cast<const scalar_t*>(scalars)}, false);
    memcpy(result, &out, sizeof(out));
    return error.code;
}

#endif
