#!/usr/bin/env python3
"""Writes the vectors that gpu-test and emulate-test check: inputs and the results of Python's integers.

    vectors.py OUT

Nothing here is shared with the device code but the curve's parameter. Field elements stand in Montgomery form, points by
coordinates. File: b"G16V", then sections of: name (32 bytes, padded with zeros), four parameters, words a case of input,
of output, cases, all inputs, all outputs; every number is a little-endian uint32.
"""
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "field"))
from generate import FP_WORDS, FR_WORDS, G1_COFACTOR, G2_COFACTOR, P, R, TWO_ADICITY, words

rng = random.Random(20)


class Prime:
    """A prime field with the form its elements have on the device."""

    def __init__(self, name, modulus, count):
        self.name, self.modulus, self.count = name, modulus, count
        self.radix = 1 << (32 * count)

    def montgomery(self, x):
        return words(x * self.radix % self.modulus, self.count)

    def raw(self, x):
        return words(x, self.count)

    def zoo(self):
        """Canonical values whose forms are extreme: small, large, powers of two, all ones, in either form."""
        m, bits = self.modulus, self.modulus.bit_length()
        values = [0, 1, 2, 3, m - 1, m - 2, (m - 1) // 2, (m + 1) // 2]
        values += [1 << k for k in range(0, bits - 1, 31)] + [(1 << k) - 1 for k in range(1, bits, 32)]
        values += [(1 << (bits - 1)) - 1, m & ~0xFFFFFFFF, m - (1 << 32), m >> 32]
        back = pow(self.radix, -1, m)
        return [v % m for v in values] + [v * back % m for v in values]

    def random(self):
        return rng.randrange(self.modulus)


FP, FR = Prime("fp", P, FP_WORDS), Prime("fr", R, FR_WORDS)
sections = []


def section(name, cases, parameters=(0, 0, 0, 0)):
    """cases: pairs of word lists, of one shape."""
    head = struct.pack("<32s4I3I", name.encode(), *parameters, len(cases[0][0]), len(cases[0][1]), len(cases))
    body = b"".join(struct.pack(f"<{len(c[side])}I", *c[side]) for side in (0, 1) for c in cases)
    sections.append(head + body)


def prime_sections(f):
    m, zoo = f.modulus, f.zoo()
    pairs = [(a, b) for a in zoo for b in zoo[::3]] + [(f.random(), f.random()) for _ in range(300)]
    pairs += [(a, a) for a in zoo] + [(a, -a % m) for a in zoo]
    mont = f.montgomery
    two = {"mul": lambda a, b: a * b, "add": lambda a, b: a + b, "sub": lambda a, b: a - b}
    for name, op in two.items():
        section(f"{f.name}_{name}", [(mont(a) + mont(b), mont(op(a, b))) for a, b in pairs])
    ones = zoo + [f.random() for _ in range(300)]
    one = {"sqr": lambda a: a * a, "neg": lambda a: -a, "dbl": lambda a: 2 * a}
    for name, op in one.items():
        section(f"{f.name}_{name}", [(mont(a), mont(op(a))) for a in ones])
    some = zoo + [f.random() for _ in range(30)]
    section(f"{f.name}_inv", [(mont(a), mont(pow(a, -1, m) if a else 0)) for a in some])
    section(f"{f.name}_to", [(mont(a), f.raw(a)) for a in ones])
    # A second factor, and a canonical number, may be any number of that many words.
    top = f.radix - 1
    anything = [0, 1, m - 1, m, m + 1, 2 * m - 1, 2 * m, top, top - 1, f.radix >> 1] + [rng.randrange(f.radix) for _ in range(100)]
    section(f"{f.name}_from", [(f.raw(a), mont(a % m)) for a in anything])
    back = pow(f.radix, -1, m)
    wide = [(a, b) for a in zoo for b in anything[:10]] + [(f.random(), b) for b in anything]
    section(f"{f.name}_mul_any", [(mont(a) + f.raw(b), mont(a * b * back)) for a, b in wide])


# Fp2 as pairs (c0, c1), u^2 = -1.
def add2(a, b):
    return ((a[0] + b[0]) % P, (a[1] + b[1]) % P)


def sub2(a, b):
    return ((a[0] - b[0]) % P, (a[1] - b[1]) % P)


def mul2(a, b):
    return ((a[0] * b[0] - a[1] * b[1]) % P, (a[0] * b[1] + a[1] * b[0]) % P)


def inv2(a):
    norm = (a[0] * a[0] + a[1] * a[1]) % P
    back = pow(norm, -1, P) if norm else 0
    return (a[0] * back % P, -a[1] * back % P)


def mont2(a):
    return FP.montgomery(a[0]) + FP.montgomery(a[1])


def fp2_sections():
    zoo = FP.zoo()
    numbers = [(a, b) for a in zoo[:24:2] for b in zoo[1:24:3]] + [(a, 0) for a in zoo] + [(0, a) for a in zoo]
    numbers += [(FP.random(), FP.random()) for _ in range(100)]
    others = numbers[1:] + numbers[:1]
    for name, op in {"mul": mul2, "add": add2, "sub": sub2}.items():
        section(f"fp2_{name}", [(mont2(a) + mont2(b), mont2(op(a, b))) for a, b in zip(numbers, others)])
    section("fp2_sqr", [(mont2(a), mont2(mul2(a, a))) for a in numbers])
    section("fp2_neg", [(mont2(a), mont2(sub2((0, 0), a))) for a in numbers])
    section("fp2_inv", [(mont2(a), mont2(inv2(a))) for a in numbers[::8] + [(0, 0)]])


class Curve:
    """y^2 = x^3 + b over Fp or Fp2; points are (x, y) or None, by the textbook's affine formulas."""

    def __init__(self, name, field):
        self.name = name
        if field == 1:
            self.zero, self.one, self.b, self.cofactor = 0, 1, 4, G1_COFACTOR
            self.mul, self.add, self.sub = lambda a, b: a * b % P, lambda a, b: (a + b) % P, lambda a, b: (a - b) % P
            self.inv, self.mont, self.random = lambda a: pow(a, -1, P), FP.montgomery, FP.random
        else:
            self.zero, self.one, self.b, self.cofactor = (0, 0), (1, 0), (4, 4), G2_COFACTOR
            self.mul, self.add, self.sub = mul2, add2, sub2
            self.inv, self.mont, self.random = inv2, mont2, lambda: (FP.random(), FP.random())
        self.generator = self.find_generator()

    def sum(self, p, q):
        if p is None or q is None:
            return p or q
        if p[0] == q[0]:
            if p[1] != q[1] or p[1] == self.zero:
                return None
            square = self.mul(p[0], p[0])
            slope = self.mul(self.add(self.add(square, square), square), self.inv(self.add(p[1], p[1])))
        else:
            slope = self.mul(self.sub(q[1], p[1]), self.inv(self.sub(q[0], p[0])))
        x = self.sub(self.sub(self.mul(slope, slope), p[0]), q[0])
        return (x, self.sub(self.mul(slope, self.sub(p[0], x)), p[1]))

    def neg(self, p):
        return p and (p[0], self.sub(self.zero, p[1]))

    def times(self, k, p):
        out = None
        for bit in bin(k)[2:]:
            out = self.sum(out, out)
            if bit == "1":
                out = self.sum(out, p)
        return out

    def root(self, a):
        """The smaller square root of a, or None; p = 3 modulo 4."""
        if self.one == 1:
            y = pow(a, (P + 1) // 4, P)
            return min(y, P - y) if y * y % P == a else None
        # sqrt of a0 + a1 u through the norm.
        norm = pow((a[0] * a[0] + a[1] * a[1]) % P, (P + 1) // 4, P)
        for sign in (norm, -norm):
            c0 = pow((a[0] + sign) * pow(2, -1, P) % P, (P + 1) // 4, P)
            if c0:
                y = (c0, a[1] * pow(2 * c0, -1, P) % P)
                if mul2(y, y) == a:
                    return min(y, sub2((0, 0), y), key=lambda v: (v[1], v[0]))
        return None

    def find_generator(self):
        for x in range(100):
            x = x if self.one == 1 else (x, 0)
            y = self.root(self.add(self.mul(self.mul(x, x), x), self.b))
            if y is not None:
                g = self.times(self.cofactor, (x, y))
                if g is not None:
                    assert self.times(R, g) is None
                    return g
        raise AssertionError("no generator")

    def affine(self, p):
        return self.mont(self.zero) * 2 if p is None else self.mont(p[0]) + self.mont(p[1])

    def xyzz(self, p, z):
        if p is None:
            # Infinity is zz = 0, whatever the other coordinates are.
            return self.mont(z) * 2 + self.mont(self.zero) * 2
        zz = self.mul(z, z)
        zzz = self.mul(zz, z)
        return sum((self.mont(v) for v in (self.mul(p[0], zz), self.mul(p[1], zzz), zz, zzz)), [])

    def jacobian(self, p, z):
        if p is None:
            return self.mont(z) * 2 + self.mont(self.zero)
        zz = self.mul(z, z)
        return self.mont(self.mul(p[0], zz)) + self.mont(self.mul(p[1], self.mul(zz, z))) + self.mont(z)

    def sections(self):
        g = self.generator
        multiples = [None, g, self.neg(g)] + [self.times(rng.randrange(R), g) for _ in range(5)]
        pairs = [(p, q) for p in multiples for q in multiples] + [(p, self.neg(p)) for p in multiples]
        z = lambda: rng.choice([self.one, self.random(), self.random()])
        for form, make in (("xyzz", self.xyzz), ("jacobian", self.jacobian)):
            name = f"{self.name}_{form}"
            section(f"{name}_add", [(make(p, z()) + make(q, z()), self.affine(self.sum(p, q))) for p, q in pairs])
            section(f"{name}_madd", [(make(p, z()) + self.affine(q), self.affine(self.sum(p, q))) for p, q in pairs])
            section(f"{name}_dbl", [(make(p, z()), self.affine(self.sum(p, p))) for p in multiples])
            section(f"{name}_neg", [(make(p, z()), self.affine(self.neg(p))) for p in multiples])
            section(f"{name}_from", [(self.affine(p), self.affine(p)) for p in multiples])
        section(f"{self.name}_jacobian_of_xyzz", [(self.xyzz(p, z()), self.affine(p)) for p in multiples])


def msm_section(curve, multiples, scalars, summed=False):
    """One MSM of the points k G (None for infinity) and scalars; where `summed`, all scalars are one."""
    g, cache = curve.generator, {}
    for k in set(multiples):
        cache[k] = None if k is None else curve.times(k % R, g)
    total = sum(k * s for k, s in zip(multiples, scalars) if k is not None) % R
    points = [w for k in multiples for w in curve.affine(cache[k])]
    raw = [w for s in scalars for w in words(s, FR_WORDS)]
    section(f"{curve.name}_msm", [(points + raw, curve.affine(curve.times(total, g) if total else None))],
            (len(multiples), int(summed), 0, 0))


def msm_sections(curve):
    some = [None, 1, -1, 2, 3, 5, R - 2, 7]
    for count in (0, 1, 2, 3, 31, 32, 33, 64, 65, 129):
        multiples = [rng.randrange(1, 40) for _ in range(count)]
        msm_section(curve, multiples, [rng.randrange(R) for _ in range(count)])
        msm_section(curve, multiples, [1] * count, True)
    for zoo in FR.zoo()[:24], [0] * 9, [R - 1] * 9, [(R - 1) // 2] * 9, [1] * 9, [R, R + 1, (1 << 255) - 1, R - 1]:
        msm_section(curve, [rng.choice(some) for _ in zoo], zoo)
    msm_section(curve, [None], [5])
    msm_section(curve, [None] * 4, [R - 1] * 4)
    msm_section(curve, [3, -3] * 20, [12345] * 40)
    msm_section(curve, [3, -3] * 20, [1] * 40, True)
    msm_section(curve, [4] * 50, [R - 5] * 50)


def reverse(i, bits):
    return int(bin(i)[2:].zfill(bits)[::-1], 2) if bits else 0


def dft(values, root):
    """sum_j values[j] root^(i j) for every i: by the definition up to 64 values, else by halves."""
    n = len(values)
    if n <= 64:
        powers = [pow(root, i, R) for i in range(n)]
        return [sum(v * powers[i * j % n] for j, v in enumerate(values)) % R for i in range(n)]
    even, odd = dft(values[::2], root * root % R), dft(values[1::2], root * root % R)
    out, power = [0] * n, 1
    for i in range(n // 2):
        t = odd[i] * power % R
        out[i], out[i + n // 2] = (even[i] + t) % R, (even[i] - t) % R
        power = power * root % R
    return out


def product(f, g):
    """The product of two polynomials, by one product of integers (Kronecker)."""
    width = 72
    big = lambda h: int.from_bytes(b"".join(c.to_bytes(width, "little") for c in h), "little")
    count = len(f) + len(g) - 1
    data = (big(f) * big(g)).to_bytes(count * width, "little")
    return [int.from_bytes(data[i * width : (i + 1) * width], "little") % R for i in range(count)]


def flat(values):
    return [w for v in values for w in FR.montgomery(v)]


def transform_sections(bits, generator):
    d = 1 << bits
    root = pow(generator, (R - 1) >> bits, R)
    back, places = pow(root, -1, R), [reverse(i, bits) for i in range(d)]
    zoo = FR.zoo()
    for kind in range(3 if bits < 8 else 1):
        values = [[FR.random(), zoo[(i + 3 * bits) % len(zoo)], R - 1][kind] for i in range(d)]
        coefficients = dft(values, back)
        section("ntt_inverse", [(flat(values), flat([coefficients[p] for p in places]))], (bits, generator, 0, 0))
        section("ntt_forward", [(flat([values[p] for p in places]), flat(dft(values, root)))], (bits, generator, 0, 0))
        scale = pow(d, -1, R)
        shifted = [c * scale * pow(7, i, R) % R for i, c in enumerate(coefficients)]
        section("ntt_coset", [(flat(values), flat(dft(shifted, root)))], (bits, generator, 7, 0))
    quotient_sections(bits, generator, back)


def quotient_sections(bits, generator, back):
    d, scale = 1 << bits, pow(1 << bits, -1, R)
    for kind in range(4 if bits < 8 else 2):
        a, b = ([FR.random() if kind % 2 == 0 or i % 3 else R - 1 for i in range(d)] for _ in range(2))
        if kind == 2:  # fewer rows than the domain has elements
            a, b = ([v if i < d - d // 3 else 0 for i, v in enumerate(w)] for w in (a, b))
        c, first = [x * y % R for x, y in zip(a, b)], 0xFFFFFFFF
        polynomial = lambda w: [v * scale % R for v in dft(w, back)]
        both = product(polynomial(a), polynomial(b))
        h = both[d:] + [0]
        # (a b - c) is divisible, c being a b on the domain.
        assert all((both[i] + (both[i + d] if i + d < len(both) else 0) - v) % R == 0 for i, v in enumerate(polynomial(c)))
        if kind == 1:
            first = rng.randrange(d)
            c = [v if i < first or (i > first and i % 2) else (v + 1) % R for i, v in enumerate(c)]
        section("quotient", [(flat(a) + flat(b) + flat(c), flat(h))], (bits, generator, generator, first))


def swapped(data):
    """Bytes as the little-endian words that a device reads."""
    return list(struct.unpack(f"<{len(data) // 4}I", data))


def r1cs_section(rows, variables, lengths, added, more, ones):
    """One matrix: `lengths` gives a row's terms, `ones` the part of the coefficients that are 1 or -1."""
    zoo = FR.zoo()
    table = [1, R - 1] + zoo[:20] + [FR.random() for _ in range(10)]
    w = [1] + [rng.choice(zoo) if i % 3 else FR.random() for i in range(variables - 1)]
    starts, columns, indices, out = [0], [], [], []
    for row in range(rows):
        total = 0
        for _ in range(lengths(row)):
            column = rng.randrange(variables)
            index = rng.randrange(2) if rng.random() < ones else rng.randrange(len(table))
            columns.append(column)
            indices.append(index)
            total += table[index] * w[column]
        starts.append(len(columns))
        out.append(total % R)
    size = rows + added + more
    out += w[:added] + [0] * more
    # The kernels never read the coefficients 1 and -1.
    raw = FR.raw((1 << 256) - 1) * 2 + flat(table[2:])
    section("r1cs", [(starts + columns + indices + flat(w) + raw, flat(out))], (rows, len(columns), variables, added | size << 16))


def split_section(count, inputs, kinds):
    """`kinds` draws a value; the densities are any."""
    w = [kinds(i) for i in range(count)]
    sets = [range(inputs, count)] + [[i for i in range(count) if rng.random() < part] for part in (0.7, 0.3)]
    words64 = (count + 63) // 64
    bitmaps = [words(sum(1 << i for i in members), 2 * words64) for members in sets[1:]]
    out = []
    for members in sets:
        points = list(enumerate(members))
        ones = [point for point, i in points if w[i] == 1]
        rest = [(point, w[i]) for point, i in points if w[i] > 1]
        out += [len(ones), len(rest)] + ones + [point for point, _ in rest] + [v for _, s in rest for v in FR.raw(s)]
    section("split", [(flat(w) + bitmaps[0] + bitmaps[1], out)], (count, inputs, 0, 0))


FAULTS = {name: i + 1 for i, name in enumerate(["flags", "infinity not zero", "x", "y", "curve", "infinity", "subgroup"])}


def import_section(curve):
    parts = 1 if curve.one == 1 else 2
    split = lambda v: [v] if parts == 1 else [v[1], v[0]]
    encode = lambda numbers: b"".join(n.to_bytes(48, "big") for n in numbers)
    numbers = lambda p: split(p[0]) + split(p[1])
    infinity = b"\x40" + bytes(96 * parts - 1)
    cases = [(infinity, 0, None)]
    add = lambda data, fault, point=None: cases.append((bytes(data), FAULTS[fault] if fault else 0, point))
    order = R * curve.cofactor
    outside = []
    x = 3
    while len(outside) < 3:
        x += 1
        y = curve.root(curve.add(curve.mul(curve.mul(abscissa := x if parts == 1 else (x, 1), abscissa), abscissa), curve.b))
        if y is not None:
            outside.append((abscissa, y))
    assert all(curve.times(order, p) is None for p in outside)
    good = [curve.generator, curve.neg(curve.generator)] + [curve.times(rng.randrange(R), curve.generator) for _ in range(4)]
    # Of the cofactor's order, and of each small prime order there is; alone and beside a good point.
    cofactor = [curve.times(R, p) for p in outside]
    outside += cofactor
    for prime in (3, 11, 10177, 859267, 52437899) if parts == 1 else (13, 23, 2713, 11953, 262069):
        rest = order
        while rest % prime == 0:
            rest //= prime
        for p in outside[:3]:
            p = curve.times(rest, p)
            while p is not None and curve.times(prime, p) is not None:
                p = curve.times(prime, p)
            if p is not None:
                outside += [p, curve.neg(p), curve.sum(p, good[3]), curve.sum(p, good[0])]
                break
        else:
            raise AssertionError(f"no point of order {prime}")
    if parts == 1:
        outside += [(0, 2), (0, P - 2)]
    for p in good:
        add(encode(numbers(p)), None, p)
    for p in outside:
        assert curve.times(R, p) is not None
        add(encode(numbers(p)), "subgroup", p)
    base = numbers(good[4])
    for i in range(2 * parts):
        fault = "x" if i < parts else "y"
        for wrong in (P, P + 1, P + 2**32, (1 << 381) - 1):
            add(encode(base[:i] + [wrong] + base[i + 1 :]), fault)
            add(encode([wrong] * (i + 1) + base[i + 1 :]), "x")
        for delta in (1, P - 1):
            add(encode(base[:i] + [(base[i] + delta) % P] + base[i + 1 :]), "curve")
        add(encode(base[:i] + [0] + base[i + 1 :]), "curve")
    add(encode(base[parts:] + base[:parts]), "curve")
    add(bytes(96 * parts), "curve")
    for flags in range(0x20, 0x100, 0x20):
        data = bytearray(encode(base))
        data[0] |= flags
        add(data, "infinity not zero" if flags == 0x40 else "flags")
        data = bytearray(96 * parts)
        data[0] = flags
        if flags != 0x40:
            add(data, "flags")
    for at in range(0, 96 * parts, 13):
        data = bytearray(infinity)
        data[at] |= 1 << (at % 5)
        add(data, "infinity not zero")
    data = bytearray(infinity)
    data[-1] |= 1
    add(data, "infinity not zero")
    section(f"{curve.name}_import", [(swapped(data), [kind] + curve.affine(point)) for data, kind, point in cases])


def fixed_base_section(curve):
    scalars = [0, 1, 2, 255, 256, R - 1, R, R + 1, (R - 1) // 2, (1 << 256) - 1] + [1 << k for k in range(7, 256, 62)]
    scalars += [rng.randrange(R) for _ in range(5)]
    base = curve.times(rng.randrange(R), curve.generator)
    points = [curve.times(s % R, base) if s % R else None for s in scalars]
    raw = [w for s in scalars for w in words(s, FR_WORDS)]
    section(f"{curve.name}_fixed_base", [(curve.affine(base) + raw, [w for p in points for w in curve.affine(p)])], (len(scalars), 0, 0, 0))


def checksum_section(count):
    data = [rng.randrange(1 << 32) for _ in range(count)]
    total = 0
    for j in range((count + 1) // 2):
        v = data[2 * j] | (data[2 * j + 1] << 32 if 2 * j + 1 < count else 0)
        total += (v ^ v >> 32) * (j * 0x9E3779B97F4A7C15 % (1 << 64) | 1)
    section("checksum", [(data, words(total % (1 << 64), 2))])


def circuit_sections():
    for rows, lengths, ones in (
        (1, lambda row: 0, 0), (1, lambda row: 1, 1), (5, lambda row: row, 0.5), (33, lambda row: row % 3, 0.9),
        (40, lambda row: 100 if row == 7 else row % 2, 0.2), (3, lambda row: 1500 if row == 1 else 1, 0.5),
        (700, lambda row: 1 + row % 2, 0.9), (1100, lambda row: 0, 0), (60, lambda row: 17 * (row % 4), 0.5),
    ):
        r1cs_section(rows, rng.randrange(9, 60), lengths, rows % 4, rows % 7, ones)
    witness = lambda i: rng.choice([0, 0, 1, 1, 1, 2, R - 1, FR.random()])
    for count, inputs in ((0, 0), (1, 0), (1, 1), (2, 1), (33, 4), (64, 32), (65, 65), (130, 40), (1025, 3)):
        split_section(count, inputs, witness)
    for value in (0, 1, R - 1):
        split_section(70, 2, lambda i: value)
    for count in (1, 2, 3, 64, 777):
        checksum_section(count)


def main():
    for f in (FP, FR):
        prime_sections(f)
    fp2_sections()
    for curve in (Curve("g1", 1), Curve("g2", 2)):
        curve.sections()
        msm_sections(curve)
        import_section(curve)
        fixed_base_section(curve)
    circuit_sections()
    assert TWO_ADICITY == 32
    for bits in range(12):
        for generator in (7, 5) if bits <= 7 else (7,):
            transform_sections(bits, generator)
    with open(sys.argv[1], "wb") as file:
        file.write(b"G16V" + b"".join(sections))


if __name__ == "__main__":
    main()
