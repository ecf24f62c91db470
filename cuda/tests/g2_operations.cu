#include "curve_operations.h"

namespace g16 {

std::vector<Operation> g2_operations() {
    std::vector<Operation> out = {operation<Across<Fp2>::Jacobian_>("g2_jacobian_of_xyzz")};
    OfPoints<Fp2, Xyzz<Fp2>>::append(out, {"g2_xyzz_add", "g2_xyzz_madd", "g2_xyzz_dbl", "g2_xyzz_neg", "g2_xyzz_from"});
    OfPoints<Fp2, Jacobian<Fp2>>::append(
        out, {"g2_jacobian_add", "g2_jacobian_madd", "g2_jacobian_dbl", "g2_jacobian_neg", "g2_jacobian_from"});
    return out;
}

}  // namespace g16
