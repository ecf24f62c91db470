//! Constant-time building blocks on little-endian arrays of 64-bit limbs, usable in constants.

/// `a + b + carry`, and the carry out.
#[inline(always)]
pub const fn add_carry(a: u64, b: u64, carry: u64) -> (u64, u64) {
    let wide = a as u128 + b as u128 + carry as u128;
    (wide as u64, (wide >> 64) as u64)
}

/// `a - b - borrow`, and the borrow out (0 or 1).
#[inline(always)]
pub const fn sub_borrow(a: u64, b: u64, borrow: u64) -> (u64, u64) {
    let wide = (a as u128).wrapping_sub(b as u128 + borrow as u128);
    (wide as u64, (wide >> 127) as u64)
}

/// `acc + a * b + carry`, and the carry out; cannot overflow 128 bits.
#[inline(always)]
pub const fn mul_add(acc: u64, a: u64, b: u64, carry: u64) -> (u64, u64) {
    let wide = acc as u128 + a as u128 * b as u128 + carry as u128;
    (wide as u64, (wide >> 64) as u64)
}

/// `a - m` if `a >= m`, else `a`. `a` must be below `2m`.
#[inline(always)]
pub const fn reduce_once<const N: usize>(a: [u64; N], m: &[u64; N]) -> [u64; N] {
    let (difference, borrow) = sub(&a, m);
    select(borrow, a, difference)
}

/// `(a + b) mod m` for `a, b < m`, where `2m` fits the limbs.
#[inline(always)]
pub const fn add_mod<const N: usize>(a: &[u64; N], b: &[u64; N], m: &[u64; N]) -> [u64; N] {
    let mut sum = [0u64; N];
    let mut carry = 0;
    let mut i = 0;
    while i < N {
        (sum[i], carry) = add_carry(a[i], b[i], carry);
        i += 1;
    }
    reduce_once(sum, m)
}

/// `(a - b) mod m` for `a, b < m`.
#[inline(always)]
pub const fn sub_mod<const N: usize>(a: &[u64; N], b: &[u64; N], m: &[u64; N]) -> [u64; N] {
    let (difference, borrow) = sub(a, b);
    let mask = 0u64.wrapping_sub(borrow);
    let mut out = [0u64; N];
    let mut carry = 0;
    let mut i = 0;
    while i < N {
        (out[i], carry) = add_carry(difference[i], m[i] & mask, carry);
        i += 1;
    }
    out
}

/// `a - b` modulo `2^(64 N)`, and the borrow out.
#[inline(always)]
pub const fn sub<const N: usize>(a: &[u64; N], b: &[u64; N]) -> ([u64; N], u64) {
    let mut out = [0u64; N];
    let mut borrow = 0;
    let mut i = 0;
    while i < N {
        (out[i], borrow) = sub_borrow(a[i], b[i], borrow);
        i += 1;
    }
    (out, borrow)
}

/// Whether `a < b`.
pub const fn less<const N: usize>(a: &[u64; N], b: &[u64; N]) -> bool {
    sub(a, b).1 == 1
}

/// `if_one` where `choice` is 1, `if_zero` where it is 0.
#[inline(always)]
const fn select<const N: usize>(choice: u64, if_one: [u64; N], if_zero: [u64; N]) -> [u64; N] {
    let mask = 0u64.wrapping_sub(choice);
    let mut out = [0u64; N];
    let mut i = 0;
    while i < N {
        out[i] = if_zero[i] ^ (mask & (if_zero[i] ^ if_one[i]));
        i += 1;
    }
    out
}

/// `2^bits mod m`, by doubling: the Montgomery constants are derived by this.
pub const fn power_of_two_mod<const N: usize>(bits: usize, m: &[u64; N]) -> [u64; N] {
    let mut x = [0u64; N];
    x[0] = 1;
    let mut i = 0;
    while i < bits {
        x = add_mod(&x, &x, m);
        i += 1;
    }
    x
}

/// `-1 / m mod 2^64` for odd `m` (its lowest limb), by Newton's iteration.
pub const fn negated_inverse(m0: u64) -> u64 {
    let mut inverse = 1u64;
    let mut i = 0;
    while i < 6 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(m0.wrapping_mul(inverse)));
        i += 1;
    }
    inverse.wrapping_neg()
}

/// A hexadecimal number (no prefix) as limbs; digits above the limbs must be zero.
pub const fn from_hex<const N: usize>(hex: &str) -> [u64; N] {
    let digits = hex.as_bytes();
    let mut out = [0u64; N];
    let mut i = 0;
    while i < digits.len() {
        let c = digits[digits.len() - 1 - i];
        let value = if c <= b'9' { c - b'0' } else { c - b'a' + 10 };
        out[i / 16] |= (value as u64) << (4 * (i % 16));
        i += 1;
    }
    out
}

/// k times a value for k below `K`, from its limbs of `bits` bits; the top limb keeps what is above.
pub const fn multiples<const N: usize, const K: usize>(value: &[u64; N], bits: u32) -> [[u64; N]; K] {
    let mut out = [[0; N]; K];
    let mut k = 1;
    while k < K {
        let mut carry = 0;
        let mut j = 0;
        while j < N {
            let sum = out[k - 1][j] + value[j] + carry;
            carry = sum >> bits;
            out[k][j] = if j < N - 1 { sum - (carry << bits) } else { sum };
            j += 1;
        }
        k += 1;
    }
    out
}
