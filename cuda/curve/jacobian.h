// Points as (x, y, z), the form that the CPU side computes with.
#ifndef G16_CURVE_JACOBIAN_H
#define G16_CURVE_JACOBIAN_H

#include "xyzz.h"

namespace g16 {

/// The point (x / z^2, y / z^3); z = 0 is infinity (the layout of blst_p1 and blst_p2). All sums are complete. Formulas:
/// Explicit-Formulas Database, "Jacobian coordinates with a4=0", add-1998-cmo-2, madd and dbl-2009-l.
template <class F>
struct Jacobian {
    F x, y, z;

    G16_FN static Jacobian infinity() { return {F::zero(), F::zero(), F::zero()}; }
    G16_FN static Jacobian from(const Affine<F>& p) {
        if (p.is_infinity()) return infinity();
        return {p.x, p.y, F::one()};
    }
    /// The same point; four products. The denominator z = zzz zz of the result need not be that of the argument.
    G16_FN static Jacobian from(const Xyzz<F>& p) {
        // With z' = zz zzz = z^5: x' = x z'^2 / zz = x zz^4 and y' = y z'^3 / zzz = y zzz^4, as z' = z^5.
        F zz2 = p.zz.square(), zzz2 = p.zzz.square();
        return {p.x * zz2.square(), p.y * zzz2.square(), p.zz * p.zzz};
    }
    G16_FN bool is_infinity() const { return z.is_zero(); }
    G16_FN Jacobian operator-() const { return {x, -y, z}; }

    G16_FN Jacobian twice() const {
        F a = x.square(), b = y.square();
        F c = b.square();
        F d = ((x + b).square() - a - c).twice();
        F e = a.twice() + a;
        F x3 = e.square() - d.twice();
        return {x3, e * (d - x3) - c.twice().twice().twice(), (y * z).twice()};
    }

    G16_FN friend Jacobian operator+(const Jacobian& p, const Affine<F>& q) {
        if (q.is_infinity()) return p;
        if (p.is_infinity()) return from(q);
        F zz = p.z.square();
        F dx = q.x * zz - p.x, dy = q.y * zz * p.z - p.y;
        if (dx.is_zero()) return dy.is_zero() ? twice_rarely(Jacobian(p)) : infinity();
        return sum(p.x, p.y, dx, dy, p.z);
    }
    G16_FN friend Jacobian operator+(const Jacobian& p, const Jacobian& q) {
        if (q.is_infinity()) return p;
        if (p.is_infinity()) return q;
        F pzz = p.z.square(), qzz = q.z.square();
        F ux = p.x * qzz, uy = p.y * qzz * q.z;
        F dx = q.x * pzz - ux, dy = q.y * pzz * p.z - uy;
        if (dx.is_zero()) return dy.is_zero() ? twice_rarely(Jacobian(p)) : infinity();
        return sum(ux, uy, dx, dy, p.z * q.z);
    }

    /// The coordinates; one inversion.
    G16_FN Affine<F> to_affine() const {
        F inverse = z.inverse();
        F square = inverse.square();
        return {x * square, y * square * inverse};
    }

  private:
    /// Of a copy, so that the sums' operands stay in registers.
    G16_RARE static Jacobian twice_rarely(Jacobian p) { return p.twice(); }
    G16_FN static Jacobian sum(const F& ux, const F& uy, const F& dx, const F& dy, const F& z) {
        F hh = dx.square();
        F hhh = dx * hh, v = ux * hh;
        F x3 = dy.square() - hhh - v.twice();
        return {x3, dy * (v - x3) - uy * hhh, z * dx};
    }
};

using G1Jacobian = Jacobian<Fp>;
using G2Jacobian = Jacobian<Fp2>;

}  // namespace g16

#endif
