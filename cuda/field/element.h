// An element of a prime field, and the two that BLS12-381 has.
#ifndef G16_FIELD_ELEMENT_H
#define G16_FIELD_ELEMENT_H

#include "bls12_381.h"
#include "montgomery.h"

namespace g16 {

/// An element in Montgomery form, x 2^(32 words) modulo the modulus, as little-endian 32-bit words; that is the layout of
/// blst_fr and blst_fp. Always reduced, unless a function says otherwise.
template <class P>
struct alignas(16) Element {
    using Parameters = P;
    using Math = Montgomery<P>;
    static constexpr int n = P::words;

    uint32_t word[n];

    G16_FN static Element zero() {
        Element out;
        G16_UNROLL
        for (int i = 0; i < n; i++) out.word[i] = 0;
        return out;
    }
    G16_FN static Element one() {
        Element out;
        G16_UNROLL
        for (int i = 0; i < n; i++) out.word[i] = P::one(i);
        return out;
    }
    /// The element with a small canonical value.
    G16_FN static Element from(uint32_t value) {
        Element out = zero();
        out.word[0] = value;
        return out.from_canonical();
    }
    /// Takes the words of a canonical number below R, which need not be reduced, to Montgomery form.
    G16_FN Element from_canonical() const {
        Element factor;
        G16_UNROLL
        for (int i = 0; i < n; i++) factor.word[i] = P::radix_squared(i);
        return factor * *this;
    }
    /// The canonical number's words.
    G16_FN Element to_canonical() const {
        Element factor = zero();
        factor.word[0] = 1;
        return factor * *this;
    }

    G16_FN friend Element operator+(const Element& a, const Element& b) {
        Element out;
        Math::add(out.word, a.word, b.word);
        return out;
    }
    G16_FN friend Element operator-(const Element& a, const Element& b) {
        Element out;
        Math::subtract(out.word, a.word, b.word);
        return out;
    }
    /// `a` must be reduced; `b` may be any number below R.
    G16_PRODUCT friend Element operator*(const Element& a, const Element& b) {
        Element out = multiply_unreduced(a, b);
        Math::reduce_once(out.word, out.word);
        return out;
    }
    /// The same, below twice the modulus.
    G16_PRODUCT static Element multiply_unreduced(const Element& a, const Element& b) {
        Element out;
        Math::multiply_unreduced(out.word, a.word, b.word);
        return out;
    }
    G16_PRODUCT Element square() const {
        uint32_t wide[2 * n];
        Math::square_wide(wide, word);
        Element out;
        Math::reduce_wide(out.word, wide);
        Math::reduce_once(out.word, out.word);
        return out;
    }
    G16_FN Element operator-() const {
        return zero() - *this;
    }
    G16_FN Element twice() const {
        return *this + *this;
    }
    G16_FN bool is_zero() const {
        uint32_t any = 0;
        G16_UNROLL
        for (int i = 0; i < n; i++) any |= word[i];
        return any == 0;
    }
    G16_FN friend bool operator==(const Element& a, const Element& b) {
        uint32_t any = 0;
        G16_UNROLL
        for (int i = 0; i < n; i++) any |= a.word[i] ^ b.word[i];
        return any == 0;
    }
    G16_FN friend bool operator!=(const Element& a, const Element& b) {
        return !(a == b);
    }

    /// This to the power `exponent`, by squarings and products from the top; variable time.
    G16_FN Element power(uint64_t exponent) const {
        Element out = one();
        G16_ROLLED
        for (int bit = 63; bit >= 0; bit--) {
            out = out.square();
            if ((exponent >> bit) & 1) out = out * *this;
        }
        return out;
    }
    /// The inverse, or zero for zero: Fermat's, bits() squarings and about half as many products.
    G16_FN Element inverse_fermat() const {
        uint32_t exponent[n];
        G16_UNROLL
        for (int i = 0; i < n; i++) exponent[i] = P::inverse_exponent(i);
        return power_of_words(exponent);
    }
    /// This to a power of n words.
    G16_FN Element power_of_words(const uint32_t* exponent) const {
        Element out = one();
        G16_ROLLED
        for (int i = 32 * n - 1; i >= 0; i--) {
            out = out.square();
            if ((exponent[i / 32] >> (i % 32)) & 1) out = out * *this;
        }
        return out;
    }
    G16_FN Element inverse() const {
        return inverse_fermat();
    }
};

/// The base field of BLS12-381: 12 words.
using Fp = Element<FpParameters>;
/// The scalar field of BLS12-381: 8 words.
using Fr = Element<FrParameters>;
static_assert(sizeof(Fp) == 48 && sizeof(Fr) == 32, "the layout of blst_fp and blst_fr");

}  // namespace g16

#endif
