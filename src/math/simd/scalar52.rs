//! Eight elements of the scalar field, five limbs of 52 bits, Montgomery products with R = 2^260; bounds in the module's
//! documentation.

use super::lanes::{Lanes52, Row};
use super::scalar::ScalarLanes;
use crate::math::field::Field;
use crate::math::fr::{Fr, MODULUS};
use crate::math::limbs;

const LOW: u64 = (1 << 52) - 1;

/// Limbs of a value below 36 r, in every lane another.
type Limbs<L> = [L; 5];

/// 256 bits as five limbs of 52 bits.
#[inline(always)]
const fn split(w: &[u64; 4]) -> [u64; 5] {
    [
        w[0] & LOW,
        (w[0] >> 52 | w[1] << 12) & LOW,
        (w[1] >> 40 | w[2] << 24) & LOW,
        (w[2] >> 28 | w[3] << 36) & LOW,
        w[3] >> 16,
    ]
}

/// k r for k = 0 to 31, in limbs of 52 bits.
const MULTIPLES: [[u64; 5]; 32] = limbs::multiples(&split(&MODULUS), 52);

/// -1 / r mod 2^52.
const INVERSE: u64 = limbs::negated_inverse(MODULUS[0]) & LOW;

/// 2^52 / (top limb of r + 1): the high product with it takes a top limb to a quotient by r, rounded down.
const TOP_RECIPROCAL: u64 = (1 << 52) / (MULTIPLES[1][4] + 1);

/// k r in every lane.
#[inline(always)]
fn multiple<L: Lanes52>(k: usize) -> Limbs<L> {
    let mut out = [L::splat(0); 5];
    for j in 0..5 {
        out[j] = L::splat(MULTIPLES[k][j]);
    }
    out
}

/// Takes the carries: limbs of 52 bits of the same value, which may not be negative.
#[inline(always)]
fn normalise<L: Lanes52>(mut x: Limbs<L>) -> Limbs<L> {
    let low = L::splat(LOW);
    for j in 0..4 {
        x[j + 1] = x[j + 1].add(x[j].carry());
        x[j] = x[j].and(low);
    }
    x[4].assert_bits(52);
    x
}

/// Columns of `a + b`.
#[inline(always)]
fn add<L: Lanes52>(a: &Limbs<L>, b: &Limbs<L>) -> Limbs<L> {
    let mut out = *a;
    for j in 0..5 {
        out[j] = out[j].add(b[j]);
    }
    out
}

/// Columns of `a - b + bound`.
#[inline(always)]
fn subtract<L: Lanes52>(a: &Limbs<L>, b: &Limbs<L>, bound: &Limbs<L>) -> Limbs<L> {
    let mut out = *a;
    for j in 0..5 {
        out[j] = out[j].sub(b[j]).add(bound[j]);
    }
    out
}

/// Columns of a value below 35 r, not negative, to limbs of one below 1.4 r (the quotient's factor has but six bits).
#[inline(always)]
fn reduce<L: Lanes52>(x: Limbs<L>) -> Limbs<L> {
    let mut x = normalise(x);
    let zero = L::splat(0);
    let quotient = zero.mul_high(x[4], L::splat(TOP_RECIPROCAL));
    for j in 0..5 {
        let r = L::splat(MULTIPLES[1][j]);
        x[j] = x[j].sub(zero.mul_low(quotient, r));
        if j < 4 {
            x[j + 1] = x[j + 1].sub(zero.mul_high(quotient, r));
        }
    }
    normalise(x)
}

/// The same to the residue below r.
#[inline(always)]
fn canonical<L: Lanes52>(x: Limbs<L>) -> Limbs<L> {
    let x = reduce(x);
    let mut less = x;
    let low = L::splat(LOW);
    for j in 0..5 {
        less[j] = less[j].sub(L::splat(MULTIPLES[1][j]));
    }
    for j in 0..4 {
        less[j + 1] = less[j + 1].add(less[j].carry());
        less[j] = less[j].and(low);
    }
    // The carry out is -1 where r was too much, else 0.
    let negative = less[4].carry().equal(L::splat(u64::MAX));
    let mut out = x;
    for j in 0..5 {
        out[j] = L::select(negative, x[j], less[j]);
    }
    out
}

/// The body for the constant `$i` from 0 to 4; see `eight_times` in [`super::product`].
macro_rules! five_times {
    ($i:ident => $body:expr) => {
        five_times!($i => $body; 0, 1, 2, 3, 4)
    };
    ($i:ident => $body:expr; $($value:literal),+) => {
        $({
            const $i: usize = $value;
            $body
        })+
    };
}

/// `U` Montgomery products at once, so that their chains of dependences overlap. Factors a r and b r, with a b at most 35,
/// give less than 2 r.
#[inline(always)]
fn mul<L: Lanes52, const U: usize>(a: [&Limbs<L>; U], b: [&Limbs<L>; U]) -> [Limbs<L>; U] {
    let zero = L::splat(0);
    let r = multiple::<L>(1);
    let inverse = L::splat(INVERSE);
    let mut columns = [[zero; 11]; U];
    five_times!(I => for u in 0..U {
        let columns = &mut columns[u];
        a[u][I].assert_bits(52);
        b[u][I].assert_bits(52);
        for j in 0..5 {
            columns[I + j] = columns[I + j].mul_low(a[u][I], b[u][j]);
        }
        for j in 0..5 {
            columns[I + j + 1] = columns[I + j + 1].mul_high(a[u][I], b[u][j]);
        }
        let q = zero.mul_low(columns[I], inverse);
        let carry = columns[I].mul_low(q, r[0]).carry().mul_high(q, r[0]);
        columns[I + 1] = columns[I + 1].mul_low(q, r[1]).add(carry);
        for j in 2..5 {
            columns[I + j] = columns[I + j].mul_low(q, r[j]);
        }
        for j in 1..5 {
            columns[I + j + 1] = columns[I + j + 1].mul_high(q, r[j]);
        }
    });
    let mut out = [[zero; 5]; U];
    for u in 0..U {
        for j in 0..5 {
            out[u][j] = columns[u][5 + j];
        }
        out[u] = normalise(out[u]);
    }
    out
}

/// Words of eight elements as limbs of them, or of sixteen times them.
#[inline(always)]
fn from_words<L: Lanes52>(w: [L; 4], times_16: bool) -> Limbs<L> {
    let low = L::splat(LOW);
    let [w0, w1, w2, w3] = w;
    if times_16 {
        [
            w0.left::<4>().and(low),
            w0.right::<48>().or(w1.left::<16>()).and(low),
            w1.right::<36>().or(w2.left::<28>()).and(low),
            w2.right::<24>().or(w3.left::<40>()).and(low),
            w3.right::<12>(),
        ]
    } else {
        [
            w0.and(low),
            w0.right::<52>().or(w1.left::<12>()).and(low),
            w1.right::<40>().or(w2.left::<24>()).and(low),
            w2.right::<28>().or(w3.left::<36>()).and(low),
            w3.right::<16>(),
        ]
    }
}

/// Limbs of eight values below 2^256 as words.
#[inline(always)]
fn to_words<L: Lanes52>(l: &Limbs<L>) -> [L; 4] {
    [
        l[0].or(l[1].left::<52>()),
        l[1].right::<12>().or(l[2].left::<40>()),
        l[2].right::<24>().or(l[3].left::<28>()),
        l[3].right::<36>().or(l[4].left::<16>()),
    ]
}

impl<L: Lanes52> ScalarLanes for L {
    type Scalars = Limbs<L>;
    type Factor = Limbs<L>;
    type Bound = Limbs<L>;
    const BACKWARD: usize = 4;
    const REDUCED: usize = 2;

    #[inline(always)]
    fn load(elements: &[Fr; 8]) -> Limbs<L> {
        from_words(L::load_words(elements), false)
    }
    #[inline(always)]
    fn load_scaled(elements: &[Fr; 8]) -> Limbs<L> {
        from_words(L::load_words(elements), true)
    }
    #[inline(always)]
    fn store_elements(x: &Limbs<L>, elements: &mut [Fr; 8]) {
        L::store_words(to_words(&canonical(*x)), elements);
    }
    #[inline(always)]
    fn zeros() -> Limbs<L> {
        [L::splat(0); 5]
    }
    #[inline(always)]
    fn bound_of_values(k: usize) -> Limbs<L> {
        multiple(k)
    }
    #[inline(always)]
    fn bound_of_sums(k: usize) -> Limbs<L> {
        multiple(k)
    }
    #[inline(always)]
    fn plus(a: &Limbs<L>, b: &Limbs<L>) -> Limbs<L> {
        add(a, b)
    }
    #[inline(always)]
    fn subtract(a: &Limbs<L>, b: &Limbs<L>, bound: &Limbs<L>) -> Limbs<L> {
        subtract(a, b, bound)
    }
    #[inline(always)]
    fn normalise_scalars(x: Limbs<L>) -> Limbs<L> {
        normalise(x)
    }
    #[inline(always)]
    fn ready(x: Limbs<L>) -> Limbs<L> {
        normalise(x)
    }
    #[inline(always)]
    fn reduce_scalars(x: Limbs<L>) -> Limbs<L> {
        reduce(x)
    }
    #[inline(always)]
    fn products<const U: usize>(a: [&Limbs<L>; U], b: [&Limbs<L>; U]) -> [Limbs<L>; U] {
        mul(a, b)
    }
    fn pack_factor(x: &Fr) -> [u64; 5] {
        let sixteen = (0..4).fold(*x, |x, _| x.double());
        split(&sixteen.to_montgomery())
    }
    #[inline(always)]
    fn splat_factor(limbs: &[u64; 5]) -> Limbs<L> {
        let mut out = [L::splat(0); 5];
        for j in 0..5 {
            out[j] = L::splat(limbs[j]);
        }
        out
    }
    #[inline(always)]
    fn load_factors(rows: &[Row; 5]) -> Limbs<L> {
        let mut out = [L::splat(0); 5];
        for j in 0..5 {
            out[j] = L::load(&rows[j]);
        }
        out
    }
    #[inline(always)]
    fn factor(x: &Limbs<L>) -> Limbs<L> {
        *x
    }
    #[inline(always)]
    fn deinterleave_scalars(a: &Limbs<L>, b: &Limbs<L>) -> [Limbs<L>; 2] {
        let mut out = [*a, *b];
        for j in 0..5 {
            [out[0][j], out[1][j]] = L::deinterleave(a[j], b[j]);
        }
        out
    }
    #[inline(always)]
    fn transpose_scalars(group: &[Limbs<L>]) -> [Limbs<L>; 8] {
        let mut out = [group[0]; 8];
        for j in 0..5 {
            let mut rows = [group[0][j]; 8];
            for i in 0..8 {
                rows[i] = group[i][j];
            }
            let rows = L::transpose(rows);
            for i in 0..8 {
                out[i][j] = rows[i];
            }
        }
        out
    }
}
