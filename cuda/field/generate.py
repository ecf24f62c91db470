#!/usr/bin/env python3
"""Writes bls12_381.h, all that belongs to the curve, from the curve's parameter x and its equation.

    generate.py            print the header
    generate.py --check F  exit 1 unless file F holds what would be printed

p and r are the polynomials of the BLS12 family at x; the generators follow Zcash's rule (the smallest abscissa, the
smaller ordinate, times the cofactor). tests/vectors.py imports the integers from here.
"""
import math
import sys

X = -0xD201000000010000
R = X**4 - X**2 + 1
P = (X - 1) ** 2 * R // 3 + X
TWO_ADICITY = ((R - 1) & -(R - 1)).bit_length() - 1
FP_WORDS, FR_WORDS = 12, 8
G1_COFACTOR = (X - 1) ** 2 // 3
G2_COFACTOR = (X**8 - 4 * X**7 + 5 * X**6 - 4 * X**4 + 6 * X**3 - 4 * X**2 - 4 * X + 13) // 9
B = 4  # y^2 = x^3 + 4 over Fp, y^2 = x^3 + 4 (1 + u) over Fp2, u^2 = -1

assert (X - 1) ** 2 * R % 3 == 0 and P.bit_length() == 381 and R.bit_length() == 255 and P % 4 == 3
assert pow(2, P - 1, P) == 1 and pow(2, R - 1, R) == 1 and TWO_ADICITY == 32


def double_and_add(k, point):
    """k times a point of y^2 = x^3 + 4 over Fp, by the textbook's affine formulas; None is infinity."""
    out = None
    for bit in bin(k)[2:]:
        for other in (out, point) if bit == "1" else (out,):
            if out is None or other is None:
                out = out or other
                continue
            (x, y), (u, v) = out, other
            slope = 3 * x * x * pow(2 * y, -1, P) if (x, y) == (u, v) else (v - y) * pow(u - x, -1, P)
            left = (slope * slope - x - u) % P
            out = (left, (slope * (x - left) - y) % P)
    return out


def cube_root_of_unity():
    """The primitive cube root beta modulo p for which (beta x, y) = -x^2 (x, y) in G1, x^2 being the parameter's square."""
    x = next(x for x in range(1, 100) if pow(x**3 + B, (P - 1) // 2, P) == 1)
    point = double_and_add(G1_COFACTOR, (x, pow(x**3 + B, (P + 1) // 4, P)))
    base = next(b for g in range(2, 100) if (b := pow(g, (P - 1) // 3, P)) != 1)
    (wanted, ordinate) = double_and_add(X**2 % R, point)
    assert ordinate == P - point[1]
    return next(beta for beta in (base, base * base % P) if beta * point[0] % P == wanted)


def power2(a, exponent):
    """A power in Fp2, numbers being pairs (c0, c1) with u^2 = -1."""
    out = (1, 0)
    for bit in bin(exponent)[2:]:
        out = ((out[0] + out[1]) * (out[0] - out[1]) % P, 2 * out[0] * out[1] % P)
        if bit == "1":
            out = ((out[0] * a[0] - out[1] * a[1]) % P, (out[0] * a[1] + out[1] * a[0]) % P)
    return out


# psi = untwist, Frobenius, twist: (x, y) -> (c conj(x), d conj(y)) with c = (1 + u)^((1 - p) / 3), d = (1 + u)^((1 - p) / 2),
# the exponents modulo the order p^2 - 1 of Fp2's group.
PSI_X = power2((1, 1), -(P - 1) // 3 % (P * P - 1))
PSI_Y = power2((1, 1), -(P - 1) // 2 % (P * P - 1))
# The tests of kernel/import.h are exact: see there. E'(Fp2) has r times G2_COFACTOR points, E(Fp) r times G1_COFACTOR.
assert X**4 - X**2 + 1 == R and P - X == G1_COFACTOR * R and math.gcd(G1_COFACTOR, G2_COFACTOR) == 1
assert G2_COFACTOR % R != 0


def words(value, count):
    return [(value >> (32 * i)) & 0xFFFFFFFF for i in range(count)]


def literal(value, count):
    return ", ".join(f"0x{w:08x}" for w in words(value, count))


def field(name, what, modulus, count):
    radix = 1 << (32 * count)
    tables = [
        ("modulus", "The modulus.", modulus),
        ("one", "1 in Montgomery form: 2^%d modulo the modulus." % (32 * count), radix % modulus),
        ("radix_squared", "2^%d modulo the modulus: a product with it takes canonical to Montgomery form." % (64 * count), radix**2 % modulus),
        ("inverse_exponent", "The modulus less two: Fermat's exponent of an inverse.", modulus - 2),
    ]
    out = [
        f"/// {what}",
        f"struct {name} {{",
        f"    static constexpr int words = {count};",
        f"    static constexpr int bits = {modulus.bit_length()};",
        "    /// -1 / modulus modulo 2^32.",
        f"    static constexpr uint32_t negated_inverse = 0x{-pow(modulus, -1, 1 << 32) % (1 << 32):08x};",
    ]
    for function, doc, value in tables:
        out += [
            f"    /// {doc}",
            f"    G16_FN static constexpr uint32_t {function}(int i) {{",
            f"        constexpr uint32_t value[] = {{{literal(value, count)}}};",
            "        return value[i];",
            "    }",
        ]
    if name == "FrParameters":
        odd = (modulus - 1) >> TWO_ADICITY
        out += [
            f"    /// 2^two_adicity divides r - 1: the order of the largest domain.",
            f"    static constexpr int two_adicity = {TWO_ADICITY};",
            "    /// (r - 1) / 2^two_adicity: a non-residue to this power is a primitive root of unity of that order.",
            "    G16_FN static constexpr uint32_t root_exponent(int i) {",
            f"        constexpr uint32_t value[] = {{{literal(odd, count)}}};",
            "        return value[i];",
            "    }",
        ]
    return "\n".join(out + ["};"])


def endomorphisms():
    values = [
        ("beta", "A cube root of unity: (beta x, y) is -z^2 (x, y) for the points of G1.", cube_root_of_unity()),
        ("psi_x_c0", "psi(x, y) = (psi_x conj(x), psi_y conj(y)) is -z (x, y) for the points of G2.", PSI_X[0]),
        ("psi_x_c1", "The same.", PSI_X[1]),
        ("psi_y_c0", "The same.", PSI_Y[0]),
        ("psi_y_c1", "The same.", PSI_Y[1]),
    ]
    out = [
        "/// The curves' endomorphisms, elements of Fp in Montgomery form. z is the absolute value of the curve's parameter.",
        "struct Endomorphisms {",
        "    /// z, whose sign is negative in the curve's parameter.",
        f"    static constexpr uint64_t z = 0x{-X:016x};",
    ]
    for function, doc, value in values:
        out += [
            f"    /// {doc}",
            f"    G16_FN static constexpr uint32_t {function}(int i) {{",
            f"        constexpr uint32_t value[] = {{{literal((value << 384) % P, FP_WORDS)}}};",
            "        return value[i];",
            "    }",
        ]
    return "\n".join(out + ["};"])


def header():
    text = f"""// Generated by generate.py from the curve's parameter x = -0x{-X:x}; do not edit.
//
// All that belongs to BLS12-381. Numbers are little-endian 32-bit words; functions of a word's index, so that a
// constant index gives an immediate operand.
#ifndef G16_FIELD_BLS12_381_H
#define G16_FIELD_BLS12_381_H

#include "platform.h"

namespace g16 {{

{field("FpParameters", "The base field: integers modulo p.", P, FP_WORDS)}

{field("FrParameters", "The scalar field: integers modulo the groups' order r.", R, FR_WORDS)}

{endomorphisms()}

}}  // namespace g16

#endif
"""
    # Long tables are wrapped as clang-format would wrap them.
    lines = []
    for line in text.splitlines():
        if "value[] = {" in line and len(line) > 116:
            head, tail = line.split("{")
            items = tail.rstrip("};").split(", ")
            lines.append(head + "{")
            for i in range(0, len(items), 8):
                lines.append(" " * 12 + ", ".join(items[i : i + 8]) + ("," if i + 8 < len(items) else "};"))
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        with open(sys.argv[2], encoding="utf-8") as file:
            if file.read() != header():
                sys.exit(f"{sys.argv[2]} is not what generate.py prints")
    else:
        sys.stdout.write(header())
