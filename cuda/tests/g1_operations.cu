#include "curve_operations.h"

namespace g16 {

std::vector<Operation> g1_operations() {
    std::vector<Operation> out = {operation<Across<Fp>::Jacobian_>("g1_jacobian_of_xyzz")};
    OfPoints<Fp, Xyzz<Fp>>::append(out, {"g1_xyzz_add", "g1_xyzz_madd", "g1_xyzz_dbl", "g1_xyzz_neg", "g1_xyzz_from"});
    OfPoints<Fp, Jacobian<Fp>>::append(
        out, {"g1_jacobian_add", "g1_jacobian_madd", "g1_jacobian_dbl", "g1_jacobian_neg", "g1_jacobian_from"});
    return out;
}

}  // namespace g16
