// Decoding and checks of points, for a group over the field F. import_kernels.h says what each kernel does.
//
// Subgroup tests, with z the absolute value of the curve's parameter x = -z (M. Scott, "A note on group membership tests for
// G1, G2 and GT on BLS pairing-friendly curves", ePrint 2021/1130; Y. El Housni, A. Guillevic and T. Piellard, "Cofactor
// clearing and subgroup membership testing on pairing-friendly curves", ePrint 2022/352):
//   G1: phi(P) = -z^2 P, phi(x, y) = (beta x, y). The endomorphism phi + z^2 has the degree z^4 - z^2 + 1 = r, since phi^2 + phi
//       + 1 = 0, so its kernel has r points in all: it is G1, and no other point of the curve passes, of small order or not.
//   G2: psi(P) = -z P. As psi^2 - t psi + p = 0 with the trace t = x + 1, a point that passes is killed by x^2 - t x + p = p - x,
//       r times G1's cofactor, and by r times G2's. The cofactors have no common divisor, so r kills it, and G2 are all such
//       points of the twist over Fp2, since r does not divide its cofactor. generate.py asserts these numbers.
#ifndef G16_KERNEL_IMPORT_H
#define G16_KERNEL_IMPORT_H

#include "import_kernels.h"

namespace g16 {
namespace import {

constexpr uint32_t kFlags = 0xe0, kInfinity = 0x40;

G16_DEVICE void report(unsigned long long* first, uint64_t index, uint32_t kind) {
    if (kind != 0) atomicMin(first, (unsigned long long)(index << 8 | kind));
}

G16_DEVICE uint32_t swap_bytes(uint32_t word) {
#ifdef __CUDACC__
    return __byte_perm(word, 0, 0x0123);
#else
    return __builtin_bswap32(word);
#endif
}

/// Words of a big-endian number of 48 bytes, which need not be below p.
G16_DEVICE Fp words_at(const Quad* quads) {
    Fp raw = fetch(reinterpret_cast<const Fp*>(quads)), out;
    G16_UNROLL
    for (int i = 0; i < Fp::n; i++) out.word[i] = swap_bytes(raw.word[Fp::n - 1 - i]);
    return out;
}
G16_DEVICE void read(Fp& out, const Quad* quads) {
    out = words_at(quads);
}
G16_DEVICE void read(Fp2& out, const Quad* quads) {
    out.c1 = words_at(quads);
    out.c0 = words_at(quads + 3);
}

/// Whether the number of these words is below p.
G16_DEVICE bool reduced(const Fp& value) {
    Chain chain;
    chain.sub_cc(value.word[0], FpParameters::modulus(0));
    G16_UNROLL
    for (int i = 1; i < Fp::n; i++) chain.subc_cc(value.word[i], FpParameters::modulus(i));
    return chain.subc(0, 0) != 0;
}
G16_DEVICE bool reduced(const Fp2& value) {
    return reduced(value.c0) && reduced(value.c1);
}

G16_DEVICE Fp montgomery(const Fp& value) {
    return value.from_canonical();
}
G16_DEVICE Fp2 montgomery(const Fp2& value) {
    return {value.c0.from_canonical(), value.c1.from_canonical()};
}

/// y^2 = x^3 + b, b = 4 in G1 and 4 (1 + u) in G2.
G16_DEVICE Fp curve_b(const Fp&) {
    return Fp::one().twice().twice();
}
G16_DEVICE Fp2 curve_b(const Fp2&) {
    Fp four = Fp::one().twice().twice();
    return {four, four};
}
template <class F>
G16_DEVICE bool on_curve(const F& x, const F& y) {
    return y.square() == x.square() * x + curve_b(x);
}

/// The fault of a point with these coordinates: words in canonical form if `canonical`, which become Montgomery form.
template <class F>
G16_DEVICE uint32_t fault(Affine<F>& point, bool canonical) {
    if (!reduced(point.x)) return G16_FAULT_X;
    if (!reduced(point.y)) return G16_FAULT_Y;
    if (canonical) point = {montgomery(point.x), montgomery(point.y)};
    return on_curve(point.x, point.y) ? 0 : G16_FAULT_CURVE;
}

template <class F>
G16_DEVICE void decode(Affine<F>* points, const Quad* bytes, uint32_t count, uint64_t base, bool refuse_infinity,
                       unsigned long long* first) {
    uint32_t i = thread_number();
    if (i >= count) return;
    constexpr uint32_t half = sizeof(F) / 16;
    const Quad* from = bytes + (size_t)i * 2 * half;
    uint32_t flags = from[0].x & kFlags, kind = 0;
    Affine<F> point;
    read(point.x, from);
    read(point.y, from + half);
    if (flags == kInfinity) {
        uint32_t any = from[0].x ^ kInfinity;
        G16_ROLLED
        for (uint32_t q = 0; q < 2 * half; q++) any |= (q > 0 ? from[q].x : 0) | from[q].y | from[q].z | from[q].w;
        kind = any != 0 ? G16_FAULT_INFINITY_NOT_ZERO : refuse_infinity ? G16_FAULT_INFINITY : 0;
        point = Affine<F>::infinity();
    } else if (flags != 0) {
        kind = G16_FAULT_FLAGS;
    } else {
        kind = fault(point, true);
    }
    if (kind != 0) point = Affine<F>::infinity();
    put(points + i, point);
    report(first, base + i, kind);
}

template <class F>
G16_DEVICE void check(const Affine<F>* points, uint32_t count, uint64_t base, bool refuse_infinity, unsigned long long* first) {
    uint32_t i = thread_number();
    if (i >= count) return;
    Affine<F> point = fetch(points + i);
    uint32_t kind = point.is_infinity() ? (refuse_infinity ? G16_FAULT_INFINITY : 0) : fault(point, false);
    report(first, base + i, kind);
}

/// An element of Fp whose products are calls: sums of points in it are short code, for places that are rare.
struct Called {
    Fp value;

    G16_FN static Called zero() { return {Fp::zero()}; }
    G16_FN static Called one() { return {Fp::one()}; }
    G16_FN friend Called operator+(const Called& a, const Called& b) { return {a.value + b.value}; }
    G16_FN friend Called operator-(const Called& a, const Called& b) { return {a.value - b.value}; }
    G16_RARE friend Called operator*(Called a, Called b) { return {a.value * b.value}; }
    G16_FN Called square() const { return *this * *this; }
    G16_FN Called twice() const { return *this + *this; }
    G16_FN Called operator-() const { return {-value}; }
    G16_FN bool is_zero() const { return value.is_zero(); }
};

/// A sum is rare beside doublings: it is of copies, so that its code and its operands stay out of their way.
G16_DEVICE_CALLED G1Jacobian add_rarely(G1Jacobian a, G1Jacobian b) {
    using Point = Jacobian<Called>;
    Point sum = Point{{a.x}, {a.y}, {a.z}} + Point{{b.x}, {b.y}, {b.z}};
    return {sum.x.value, sum.y.value, sum.z.value};
}
G16_DEVICE_CALLED G2Jacobian add_rarely(G2Jacobian sum, G2Affine p) {
    return sum + p;
}

/// z p, from p in both forms. All threads of the block call, and go in step, so that they find the code in the instruction
/// caches.
template <class F, class P>
G16_DEVICE Jacobian<F> times_z(Jacobian<F> sum, const P& p) {
    bool idle = sum.is_infinity();
    G16_ROLLED
    for (int bit = 62; bit >= 0; bit--) {
        __syncthreads();
        if (idle) continue;
        sum = sum.twice();
        if ((Endomorphisms::z >> bit) & 1) sum = add_rarely(sum, p);
    }
    return sum;
}

#define G16_CONSTANT(name)                                                         \
    G16_DEVICE Fp name() {                                                         \
        Fp out;                                                                    \
        G16_UNROLL                                                                 \
        for (int i = 0; i < Fp::n; i++) out.word[i] = Endomorphisms::name(i);      \
        return out;                                                                \
    }
G16_CONSTANT(beta)
G16_CONSTANT(psi_x_c0)
G16_CONSTANT(psi_x_c1)
G16_CONSTANT(psi_y_c0)
G16_CONSTANT(psi_y_c1)
#undef G16_CONSTANT

/// Whether the finite point `q` is -(x, y).
template <class F>
G16_DEVICE bool is_negative(const Jacobian<F>& q, const F& x, const F& y) {
    if (q.is_infinity()) return false;
    F zz = q.z.square();
    return q.x == x * zz && (q.y + y * zz * q.z).is_zero();
}

/// Whether the endomorphism acts on `p` as it does in the subgroup.
G16_DEVICE bool inside(const Affine<Fp>& p) {
    // One loop for both products with z, since its code is long.
    Jacobian<Fp> q = Jacobian<Fp>::from(p);
    G16_ROLLED
    for (int i = 0; i < 2; i++) q = times_z(q, Jacobian<Fp>(q));
    return is_negative(q, beta() * p.x, p.y);
}
G16_DEVICE bool inside(const Affine<Fp2>& p) {
    Jacobian<Fp2> q = times_z(Jacobian<Fp2>::from(p), p);
    Fp2 x = Fp2{psi_x_c0(), psi_x_c1()} * Fp2{p.x.c0, -p.x.c1}, y = Fp2{psi_y_c0(), psi_y_c1()} * Fp2{p.y.c0, -p.y.c1};
    return is_negative(q, x, y);
}

template <class F>
G16_DEVICE void subgroup(const Affine<F>* points, uint32_t count, uint64_t base, unsigned long long* first) {
    uint32_t i = thread_number();
    Affine<F> point = i < count ? fetch(points + i) : Affine<F>::infinity();
    bool good = inside(point) || point.is_infinity();
    if (!good) report(first, base + i, G16_FAULT_SUBGROUP);
}

}  // namespace import
}  // namespace g16

/// The kernels of group `g` over the field F; of the blocks of the subgroup test a multiprocessor holds `blocks` at once.
#define G16_IMPORT_DEFINE(g, F, blocks)                                                                                     \
    G16_KERNEL(G16_IMPORT_THREADS, 2)                                                                                       \
    g16_import_##g(g16::Affine<F>* points, const g16::Quad* bytes, uint32_t count, uint64_t base, uint32_t refuse_infinity, \
                   unsigned long long* first) {                                                                             \
        g16::import::decode(points, bytes, count, base, refuse_infinity != 0, first);                                       \
    }                                                                                                                       \
    G16_KERNEL(G16_IMPORT_THREADS, 2)                                                                                       \
    g16_check_##g(const g16::Affine<F>* points, uint32_t count, uint64_t base, uint32_t refuse_infinity,                    \
                  unsigned long long* first) {                                                                              \
        g16::import::check(points, count, base, refuse_infinity != 0, first);                                               \
    }                                                                                                                       \
    G16_KERNEL(G16_SUBGROUP_THREADS, blocks)                                                                                \
    g16_subgroup_##g(const g16::Affine<F>* points, uint32_t count, uint64_t base, unsigned long long* first) {              \
        g16::import::subgroup(points, count, base, first);                                                                  \
    }

#endif
