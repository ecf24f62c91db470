// Points of y^2 = x^3 + b by their coordinates. No formula here uses b.
#ifndef G16_CURVE_AFFINE_H
#define G16_CURVE_AFFINE_H

#include "../field/fp2.h"

namespace g16 {

/// (x, y); (0, 0), which lies on neither curve, stands for infinity (the layout of blst_p1_affine and blst_p2_affine).
template <class F>
struct Affine {
    using Field = F;
    F x, y;

    G16_FN static Affine infinity() { return {F::zero(), F::zero()}; }
    G16_FN bool is_infinity() const { return x.is_zero() && y.is_zero(); }
    G16_FN Affine operator-() const { return {x, -y}; }
    G16_FN friend bool operator==(const Affine& p, const Affine& q) { return p.x == q.x && p.y == q.y; }
};

using G1Affine = Affine<Fp>;
using G2Affine = Affine<Fp2>;

}  // namespace g16

#endif
