// The quadratic extension of the base field.
#ifndef G16_FIELD_FP2_H
#define G16_FIELD_FP2_H

#include "element.h"

namespace g16 {

/// c0 + c1 u with u^2 = -1; the layout of blst_fp2.
struct Fp2 {
    Fp c0, c1;

    G16_FN static Fp2 zero() { return {Fp::zero(), Fp::zero()}; }
    G16_FN static Fp2 one() { return {Fp::one(), Fp::zero()}; }

    G16_FN friend Fp2 operator+(const Fp2& a, const Fp2& b) { return {a.c0 + b.c0, a.c1 + b.c1}; }
    G16_FN friend Fp2 operator-(const Fp2& a, const Fp2& b) { return {a.c0 - b.c0, a.c1 - b.c1}; }
    /// Karatsuba: three products.
    G16_PRODUCT friend Fp2 operator*(const Fp2& a, const Fp2& b) {
#if defined(__CUDA_ARCH__) && defined(G16_COMPACT)
        // One product's code for all three: sums of points would not fit the instruction caches.
        Fp x = a.c0, y = b.c0, first, second, third;
        G16_ROLLED
        for (int i = 0; i < 3; i++) {
            third = x * y;
            if (i == 0) first = third, x = a.c1, y = b.c1;
            if (i == 1) second = third, x = a.c0 + a.c1, y = b.c0 + b.c1;
        }
        return {first - second, third - first - second};
#endif
        Fp low = a.c0 * b.c0, high = a.c1 * b.c1;
        Fp both = (a.c0 + a.c1) * (b.c0 + b.c1);
        return {low - high, both - low - high};
    }
    /// (c0 + c1)(c0 - c1) + 2 c0 c1 u: two products.
    G16_PRODUCT Fp2 square() const {
#if defined(__CUDA_ARCH__) && defined(G16_COMPACT)
        Fp x = c0 + c1, y = c0 - c1, first, second;
        G16_ROLLED
        for (int i = 0; i < 2; i++) {
            second = x * y;
            if (i == 0) first = second, x = c0, y = c1;
        }
        return {first, second + second};
#endif
        Fp real = (c0 + c1) * (c0 - c1);
        Fp half = c0 * c1;
        return {real, half + half};
    }
    G16_FN Fp2 operator-() const { return {-c0, -c1}; }
    G16_FN Fp2 twice() const { return *this + *this; }
    G16_FN bool is_zero() const { return c0.is_zero() && c1.is_zero(); }
    G16_FN friend bool operator==(const Fp2& a, const Fp2& b) { return a.c0 == b.c0 && a.c1 == b.c1; }
    G16_FN friend bool operator!=(const Fp2& a, const Fp2& b) { return !(a == b); }
    /// The conjugate over the norm; zero for zero.
    G16_FN Fp2 inverse() const {
        Fp norm = (c0.square() + c1.square()).inverse();
        return {c0 * norm, -(c1 * norm)};
    }
};
static_assert(sizeof(Fp2) == 96, "the layout of blst_fp2");

}  // namespace g16

#endif
