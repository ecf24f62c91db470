// Points as (x, y, zz, zzz): sums with affine points cost 8 products and 2 squarings.
#ifndef G16_CURVE_XYZZ_H
#define G16_CURVE_XYZZ_H

#include "affine.h"

namespace g16 {

/// The point (x / zz, y / zzz) with zz^3 = zzz^2; zz = 0 is infinity. All sums are complete: equal, opposite and
/// infinite points give what they should. Formulas: Explicit-Formulas Database, "XYZZ coordinates", add-2008-s,
/// madd-2008-s, dbl-2008-s-1, mdbl-2008-s-1 (a = 0).
template <class F>
struct Xyzz {
    F x, y, zz, zzz;

    G16_FN static Xyzz infinity() { return {F::zero(), F::zero(), F::zero(), F::zero()}; }
    G16_FN static Xyzz from(const Affine<F>& p) {
        if (p.is_infinity()) return infinity();
        return {p.x, p.y, F::one(), F::one()};
    }
    G16_FN bool is_infinity() const { return zz.is_zero(); }
    G16_FN Xyzz operator-() const { return {x, -y, zz, zzz}; }

    /// Twice a finite affine point. No point of order two lies on the curves, so y is not zero.
    G16_FN static Xyzz twice(const Affine<F>& p) {
        F u = p.y.twice();
        F v = u.square(), w = u * v;
        return doubled(p.x, p.y, v, w, v, w);
    }
    G16_FN Xyzz twice() const {
        if (is_infinity()) return infinity();
        F u = y.twice();
        F v = u.square(), w = u * v;
        return doubled(x, y, v, w, v * zz, w * zzz);
    }

    G16_FN friend Xyzz operator+(const Xyzz& p, const Affine<F>& q) {
        if (q.is_infinity()) return p;
        if (p.is_infinity()) return from(q);
        F dx = q.x * p.zz - p.x, dy = q.y * p.zzz - p.y;
        if (dx.is_zero()) return dy.is_zero() ? twice_rarely(Affine<F>(q)) : infinity();
        F pp = dx.square(), ppp = dx * pp;
        return sum(p.x, p.y, dy, pp, ppp, p.zz * pp, p.zzz * ppp);
    }
    G16_FN friend Xyzz operator+(const Xyzz& p, const Xyzz& q) {
        if (q.is_infinity()) return p;
        if (p.is_infinity()) return q;
        F ux = p.x * q.zz, uy = p.y * q.zzz;
        F dx = q.x * p.zz - ux, dy = q.y * p.zzz - uy;
        if (dx.is_zero()) return dy.is_zero() ? twice_rarely(Xyzz(p)) : infinity();
        F pp = dx.square(), ppp = dx * pp;
        return sum(ux, uy, dy, pp, ppp, p.zz * q.zz * pp, p.zzz * q.zzz * ppp);
    }

    /// The coordinates; one inversion.
    G16_FN Affine<F> to_affine() const {
        F inverse = zzz.inverse();
        // zz / zzz is 1 / z, where zz = z^2 and zzz = z^3.
        F z = zz * inverse;
        return {x * z.square(), y * inverse};
    }

  private:
    /// Of a copy, so that the sums' operands stay in registers.
    G16_RARE static Xyzz twice_rarely(Affine<F> p) { return twice(p); }
    G16_RARE static Xyzz twice_rarely(Xyzz p) { return p.twice(); }
    G16_FN static Xyzz doubled(const F& x, const F& y, const F& v, const F& w, const F& zz, const F& zzz) {
        F s = x * v, xx = x.square();
        F m = xx.twice() + xx;
        F x3 = m.square() - s.twice();
        return {x3, m * (s - x3) - w * y, zz, zzz};
    }
    G16_FN static Xyzz sum(const F& ux, const F& uy, const F& dy, const F& pp, const F& ppp, const F& zz, const F& zzz) {
        F q = ux * pp;
        F x3 = dy.square() - ppp - q.twice();
        return {x3, dy * (q - x3) - uy * ppp, zz, zzz};
    }
};

using G1Xyzz = Xyzz<Fp>;
using G2Xyzz = Xyzz<Fp2>;

}  // namespace g16

#endif
