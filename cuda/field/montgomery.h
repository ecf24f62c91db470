// Montgomery arithmetic modulo an odd number of `words` (an even number) 32-bit words.
//
// Products are operand scanning with two accumulators (coarsely integrated operand scanning, C. K. Koc, T. Acar and
// B. S. Kaliski, "Analyzing and comparing Montgomery multiplication algorithms", 1996): `even` holds the products at
// even positions, `odd` those at odd ones and stands one word higher. So a row of 32 x 32 products is two chains of
// 64-bit multiply-adds that overlap nowhere, each of which ptxas makes one IMAD.WIDE. The arrangement is that of
// N. Emmart, J. Luitjens, C. Weems and C. Woolley, "Optimizing modular multiplication for NVIDIA's Maxwell GPUs", 2016.
//
// Bounds. A row leaves (T + a b_i + m modulus) / 2^32, which is below a + modulus where T is. So with R = 2^(32 words):
// if a is below the modulus then b may be *any* number below R, the accumulators stay below 2 modulus < R and so does
// the result, before its last subtraction.
#ifndef G16_FIELD_MONTGOMERY_H
#define G16_FIELD_MONTGOMERY_H

#include "chain.h"

namespace g16 {

template <class Parameters>
struct Montgomery {
    static constexpr int n = Parameters::words;
    static_assert(n % 2 == 0, "rows are two chains of pairs");
    static_assert(Parameters::bits < 32 * n, "twice the modulus must fit");

    /// out = value - modulus if that is not negative, else value; value below 2 modulus. They may be one array.
    G16_FN static void reduce_once(uint32_t* out, const uint32_t* value) {
        Chain chain;
        uint32_t less[n];
        less[0] = chain.sub_cc(value[0], Parameters::modulus(0));
        G16_UNROLL
        for (int i = 1; i < n; i++) less[i] = chain.subc_cc(value[i], Parameters::modulus(i));
        bool negative = chain.subc(0, 0) != 0;
        G16_UNROLL
        for (int i = 0; i < n; i++) out[i] = negative ? value[i] : less[i];
    }

    /// out = a + b, all reduced.
    G16_FN static void add(uint32_t* out, const uint32_t* a, const uint32_t* b) {
        Chain chain;
        uint32_t sum[n];
        sum[0] = chain.add_cc(a[0], b[0]);
        G16_UNROLL
        for (int i = 1; i < n - 1; i++) sum[i] = chain.addc_cc(a[i], b[i]);
        sum[n - 1] = chain.addc(a[n - 1], b[n - 1]);
        reduce_once(out, sum);
    }

    /// out = a - b, all reduced.
    G16_FN static void subtract(uint32_t* out, const uint32_t* a, const uint32_t* b) {
        difference(out, a, b, [](int i) { return Parameters::modulus(i); });
    }

    /// Word i of twice the modulus.
    G16_FN static constexpr uint32_t double_modulus(int i) {
        return Parameters::modulus(i) << 1 | (i > 0 ? Parameters::modulus(i - 1) >> 31 : 0);
    }

    /// out = a + b modulo twice the modulus, all below that. The sum may have one bit more than n words.
    G16_FN static void add_lazy(uint32_t* out, const uint32_t* a, const uint32_t* b) {
        Chain up, down;
        uint32_t sum[n], less[n];
        sum[0] = up.add_cc(a[0], b[0]);
        G16_UNROLL
        for (int i = 1; i < n; i++) sum[i] = up.addc_cc(a[i], b[i]);
        uint32_t top = up.addc(0, 0);
        less[0] = down.sub_cc(sum[0], double_modulus(0));
        G16_UNROLL
        for (int i = 1; i < n; i++) less[i] = down.subc_cc(sum[i], double_modulus(i));
        bool negative = down.subc(top, 0) != 0;
        G16_UNROLL
        for (int i = 0; i < n; i++) out[i] = negative ? sum[i] : less[i];
    }

    /// out = a - b modulo twice the modulus, all below that.
    G16_FN static void subtract_lazy(uint32_t* out, const uint32_t* a, const uint32_t* b) {
        difference(out, a, b, [](int i) { return double_modulus(i); });
    }

    /// out = a - b, plus the number that word(i) gives if that is negative.
    template <class Word>
    G16_FN static void difference(uint32_t* out, const uint32_t* a, const uint32_t* b, Word word) {
        Chain chain, back;
        uint32_t value[n];
        value[0] = chain.sub_cc(a[0], b[0]);
        G16_UNROLL
        for (int i = 1; i < n; i++) value[i] = chain.subc_cc(a[i], b[i]);
        uint32_t mask = chain.subc(0, 0);
        out[0] = back.add_cc(value[0], word(0) & mask);
        G16_UNROLL
        for (int i = 1; i < n - 1; i++) out[i] = back.addc_cc(value[i], word(i) & mask);
        out[n - 1] = back.addc(value[n - 1], word(n - 1) & mask);
    }

    /// The chain acc[0..count) += a[0], a[2], ... times b; the carry that comes out is left in `chain`.
    G16_FN static void row(Chain& chain, uint32_t* acc, const uint32_t* a, uint32_t b, int count) {
        acc[0] = chain.mad_lo_cc(a[0], b, acc[0]);
        acc[1] = chain.madc_hi_cc(a[0], b, acc[1]);
        G16_UNROLL
        for (int j = 2; j < count; j += 2) {
            acc[j] = chain.madc_lo_cc(a[j], b, acc[j]);
            acc[j + 1] = chain.madc_hi_cc(a[j], b, acc[j + 1]);
        }
    }

    /// acc[0..n) = the chain above and two words higher, plus a[0], a[2], ... times b, plus the carry in `chain`.
    G16_FN static void row_shifted(Chain& chain, uint32_t* acc, const uint32_t* a, uint32_t b) {
        G16_UNROLL
        for (int j = 0; j < n - 2; j += 2) {
            acc[j] = chain.madc_lo_cc(a[j], b, acc[j + 2]);
            acc[j + 1] = chain.madc_hi_cc(a[j], b, acc[j + 3]);
        }
        acc[n - 2] = chain.madc_lo_cc(a[n - 2], b, 0);
        acc[n - 1] = chain.madc_hi(a[n - 2], b, 0);
    }

    /// acc[0..n) = a[0], a[2], ... times b, without carries.
    G16_FN static void row_first(uint32_t* acc, const uint32_t* a, uint32_t b) {
        G16_UNROLL
        for (int j = 0; j < n; j += 2) mul_wide(acc[j], acc[j + 1], a[j], b);
    }

    /// Whether the modulus is 1 - 2^32 modulo 2^64, as r is: then two of its words cost no products.
    static constexpr bool sparse = Parameters::modulus(0) == 1 && Parameters::modulus(1) == 0xffffffff;

    /// Adds that multiple of the modulus which makes the lowest word, even[0], zero.
    G16_FN static void cancel(uint32_t* even, uint32_t* odd) {
        if constexpr (sparse) return cancel_sparse(even, odd);
        uint32_t m = mul_lo(even[0], Parameters::negated_inverse), modulus[n + 1];
        load_modulus(modulus);
        Chain chain;
        row(chain, odd, modulus + 1, m, n);
        row(chain, even, modulus, m, n);
        odd[n - 1] = chain.addc(odd[n - 1], 0);
    }

    /// The same for a sparse modulus. With e = even[0]: m = -e, m modulus(0) = m, and m modulus(1) = 2^32 m - m has the
    /// low word e and the high word m - (e != 0).
    G16_FN static void cancel_sparse(uint32_t* even, uint32_t* odd) {
        uint32_t e = even[0];
        Chain negate;
        uint32_t m = negate.sub_cc(0, e);
        uint32_t high = negate.subc(m, 0);
        Chain upper;
        odd[0] = upper.add_cc(odd[0], e);
        odd[1] = upper.addc_cc(odd[1], high);
        G16_UNROLL
        for (int j = 2; j < n; j += 2) {
            odd[j] = upper.madc_lo_cc(Parameters::modulus(j + 1), m, odd[j]);
            odd[j + 1] = upper.madc_hi_cc(Parameters::modulus(j + 1), m, odd[j + 1]);
        }
        Chain lower;
        even[0] = lower.add_cc(e, m);
        even[1] = lower.addc_cc(even[1], 0);
        G16_UNROLL
        for (int j = 2; j < n; j += 2) {
            even[j] = lower.madc_lo_cc(Parameters::modulus(j), m, even[j]);
            even[j + 1] = lower.madc_hi_cc(Parameters::modulus(j), m, even[j + 1]);
        }
        odd[n - 1] = lower.addc(odd[n - 1], 0);
    }

    G16_FN static void load_modulus(uint32_t* modulus) {
        G16_UNROLL
        for (int i = 0; i < n; i++) modulus[i] = Parameters::modulus(i);
    }

    /// The sum of both accumulators; even[0] is zero already: even = the number that both stand for, divided by 2^32.
    G16_FN static void merge(uint32_t* even, const uint32_t* odd) {
        Chain chain;
        even[0] = chain.add_cc(even[0], odd[1]);
        G16_UNROLL
        for (int i = 1; i < n - 1; i++) even[i] = chain.addc_cc(even[i], odd[i + 1]);
        even[n - 1] = chain.addc(even[n - 1], 0);
    }

    /// One word of b: both accumulators one word lower, plus a b, plus what makes the lowest word vanish.
    G16_FN static void step(uint32_t* even, uint32_t* odd, const uint32_t* a, uint32_t b, bool first) {
        Chain chain;
        if (first) {
            row_first(odd, a + 1, b);
            row_first(even, a, b);
        } else {
            even[0] = chain.add_cc(even[0], odd[1]);
            row_shifted(chain, odd, a + 1, b);
            row(chain, even, a, b, n);
            odd[n - 1] = chain.addc(odd[n - 1], 0);
        }
        cancel(even, odd);
    }

    /// out = a b / R below 2 modulus: `a` reduced, `b` any number below R.
    G16_FN static void multiply_unreduced(uint32_t* out, const uint32_t* a, const uint32_t* b) {
        uint32_t even[n], odd[n];
        G16_UNROLL
        for (int i = 0; i < n; i += 2) {
            step(even, odd, a, b[i], i == 0);
            step(odd, even, a, b[i + 1], false);
        }
        merge(even, odd);
        G16_UNROLL
        for (int i = 0; i < n; i++) out[i] = even[i];
    }

    /// even = the 2n words a^2 of a reduced number; the products of different words are taken once and doubled.
    G16_FN static void square_wide(uint32_t* even, const uint32_t* a) {
        uint32_t odd[2 * n];
        G16_UNROLL
        for (int i = 0; i < 2 * n; i++) even[i] = odd[i] = 0;
        G16_UNROLL
        for (int i = 0; i < n - 1; i++) {
            // a[i] a[j] for j = i + 2, i + 4, ... stand at even positions, those for j = i + 1, i + 3, ... at odd ones.
            square_chain(even, a, i, i + 2, 2 * i + 2);
            square_chain(odd, a, i, i + 1, 2 * i);
        }
        Chain join;
        even[1] = join.add_cc(even[1], odd[0]);
        G16_UNROLL
        for (int i = 2; i < 2 * n - 1; i++) even[i] = join.addc_cc(even[i], odd[i - 1]);
        even[2 * n - 1] = join.addc(even[2 * n - 1], odd[2 * n - 2]);
        Chain twice;
        even[1] = twice.add_cc(even[1], even[1]);
        G16_UNROLL
        for (int i = 2; i < 2 * n - 1; i++) even[i] = twice.addc_cc(even[i], even[i]);
        even[2 * n - 1] = twice.addc(even[2 * n - 1], even[2 * n - 1]);
        Chain diagonal;
        even[0] = diagonal.mad_lo_cc(a[0], a[0], even[0]);
        even[1] = diagonal.madc_hi_cc(a[0], a[0], even[1]);
        G16_UNROLL
        for (int i = 1; i < n; i++) {
            even[2 * i] = diagonal.madc_lo_cc(a[i], a[i], even[2 * i]);
            even[2 * i + 1] = diagonal.madc_hi_cc(a[i], a[i], even[2 * i + 1]);
        }
    }

    /// acc[at..] += a[i] a[j] for j = first, first + 2, ... A chain either opens a new pair of words, out of which
    /// nothing carries, or ends where the one before it ended and carries into an untouched word.
    G16_FN static void square_chain(uint32_t* acc, const uint32_t* a, int i, int first, int at) {
        if (first >= n) return;
        Chain chain;
        acc[at] = chain.mad_lo_cc(a[first], a[i], acc[at]);
        acc[at + 1] = chain.madc_hi_cc(a[first], a[i], acc[at + 1]);
        int last = first;
        G16_UNROLL
        for (int j = first + 2; j < n; j += 2) {
            at += 2;
            last = j;
            acc[at] = chain.madc_lo_cc(a[j], a[i], acc[at]);
            acc[at + 1] = chain.madc_hi_cc(a[j], a[i], acc[at + 1]);
        }
        if (last == n - 2 && i > 0) acc[at + 2] = chain.addc(acc[at + 2], 0);
    }

    /// out = wide / R below 2 modulus, for the 2n words of a number below R times the modulus.
    G16_FN static void reduce_wide(uint32_t* out, const uint32_t* wide) {
        uint32_t even[n], odd[n];
        G16_UNROLL
        for (int i = 0; i < n; i++) {
            even[i] = wide[i];
            odd[i] = 0;
        }
        cancel(even, odd);
        G16_UNROLL
        for (int i = 1; i < n; i++) {
            if (i % 2 == 1) shift_and_cancel(odd, even);
            else shift_and_cancel(even, odd);
        }
        merge(even, odd);
        Chain chain;
        out[0] = chain.add_cc(even[0], wide[n]);
        G16_UNROLL
        for (int i = 1; i < n - 1; i++) out[i] = chain.addc_cc(even[i], wide[n + i]);
        out[n - 1] = chain.addc(even[n - 1], wide[2 * n - 1]);
    }

    /// Both accumulators one word lower, plus what makes the lowest word vanish.
    G16_FN static void shift_and_cancel(uint32_t* even, uint32_t* odd) {
        Chain chain;
        even[0] = chain.add_cc(even[0], odd[1]);
        uint32_t m = mul_lo(even[0], Parameters::negated_inverse), modulus[n + 1];
        load_modulus(modulus);
        row_shifted(chain, odd, modulus + 1, m);
        row(chain, even, modulus, m, n);
        odd[n - 1] = chain.addc(odd[n - 1], 0);
    }
};

}  // namespace g16

#endif
