//! Eight elements of the base field (`D` = 1) or of its quadratic extension (`D` = 2), and points of them.
//!
//! Two types tell the bounds: an [`Element`]'s components are below 2 p, a [`Loose`] one's at most 8 p. Products take
//! either and yield elements.

use super::lanes::{Lanes, Row};

/// Components of at most 2 p, in Montgomery form with R = [`Lanes::ONE`].
#[derive(Clone, Copy)]
pub struct Element<L: Lanes, const D: usize>([L::Limbs; D]);

/// The same with components of at most 8 p.
#[derive(Clone, Copy)]
pub struct Loose<L: Lanes, const D: usize>([L::Limbs; D]);

/// A factor of a product.
pub trait Factor<L: Lanes, const D: usize> {
    /// Its components, of at most 8 p.
    fn components(&self) -> &[L::Limbs; D];
}

impl<L: Lanes, const D: usize> Factor<L, D> for Element<L, D> {
    #[inline(always)]
    fn components(&self) -> &[L::Limbs; D] {
        &self.0
    }
}

impl<L: Lanes, const D: usize> Factor<L, D> for Loose<L, D> {
    #[inline(always)]
    fn components(&self) -> &[L::Limbs; D] {
        &self.0
    }
}

/// Both components; only called where there are two.
#[inline(always)]
fn both<L: Lanes, const D: usize>(a: &[L::Limbs; D]) -> [&L::Limbs; 2] {
    [&a[0], &a[D - 1]]
}

/// Writes two products to `out`: copies of such large values cost time.
#[inline(always)]
pub fn mul_pair<L: Lanes, const D: usize>(
    out: &mut [Element<L, D>; 2],
    a: [&impl Factor<L, D>; 2],
    b: [&impl Factor<L, D>; 2],
) {
    let (a, b) = ([a[0].components(), a[1].components()], [b[0].components(), b[1].components()]);
    let [first, second] = out;
    if D == 1 {
        L::fp_mul_pair([&mut first.0[0], &mut second.0[0]], [&a[0][0], &a[1][0]], [&b[0][0], &b[1][0]]);
    } else {
        for (out, (a, b)) in [first, second].into_iter().zip(a.into_iter().zip(b)) {
            if let [real, imaginary] = &mut out.0[..] {
                L::fp2_mul([real, imaginary], both::<L, D>(a), both::<L, D>(b));
            }
        }
    }
}

/// Writes two squares to `out`.
#[inline(always)]
pub fn square_pair<L: Lanes, const D: usize>(out: &mut [Element<L, D>; 2], a: [&impl Factor<L, D>; 2]) {
    if D == 1 {
        mul_pair(out, a, a);
    } else {
        let [first, second] = out;
        for (out, a) in [first, second].into_iter().zip(a) {
            if let [real, imaginary] = &mut out.0[..] {
                L::fp2_square([real, imaginary], both::<L, D>(a.components()));
            }
        }
    }
}

impl<L: Lanes, const D: usize> Element<L, D> {
    /// Zero in every lane.
    #[inline(always)]
    pub fn zero() -> Self {
        Self([L::multiple(0); D])
    }

    /// One in every lane.
    #[inline(always)]
    pub fn one() -> Self {
        let mut one = [[0; 6]; D];
        one[0] = L::ONE;
        Self::splat(&one)
    }

    /// The element with these 384 bits, of at most 2 p, in every lane.
    #[inline(always)]
    pub fn splat(words: &[[u64; 6]; D]) -> Self {
        let mut out = Self::zero();
        for k in 0..D {
            let row = L::pack(&words[k]);
            out.0[k] = L::gather([&row; 8]);
        }
        out
    }

    /// Lane i takes the rows `at[i] .. at[i] + D` of `rows`, one a component.
    #[inline(always)]
    pub fn gather(rows: &[Row], at: &[usize; 8]) -> Self {
        let mut out = Self::zero();
        for k in 0..D {
            out.0[k] = L::gather(std::array::from_fn(|i| &rows[at[i] + k]));
        }
        out
    }

    /// The lanes as rows: row i of component k holds lane i.
    #[inline(always)]
    pub fn to_rows(self) -> [[Row; 8]; D] {
        let mut out = [[Row([0; 8]); 8]; D];
        for k in 0..D {
            out[k] = L::scatter(&self.0[k]);
        }
        out
    }

    /// `a` where the mask is set, else `b`.
    #[inline(always)]
    pub fn select(mask: u8, a: &Self, b: &Self) -> Self {
        Self(select::<L, D>(mask, &a.0, &b.0))
    }

    /// `self - other`.
    #[inline(always)]
    pub fn difference(&self, other: &Self) -> Loose<L, D> {
        self.signed_difference(0, other)
    }

    /// `self - other`, or `-self - other` where the mask is set.
    #[inline(always)]
    pub fn signed_difference(&self, negative: u8, other: &Self) -> Loose<L, D> {
        let mut out = Loose::twice_p();
        for k in 0..D {
            out.0[k] = L::signed_difference(&self.0[k], negative, &other.0[k]);
        }
        out
    }

    /// `-self` where the mask is set.
    #[inline(always)]
    pub fn negate_where(&self, negative: u8) -> Self {
        let mut out = Self::zero();
        for k in 0..D {
            out.0[k] = L::negate_where(&self.0[k], negative);
        }
        out
    }

    /// `self - other`, reduced.
    #[inline(always)]
    pub fn minus(&self, other: &Self) -> Self {
        let mut out = Self::zero();
        for k in 0..D {
            out.0[k] = L::minus(&self.0[k], &other.0[k]);
        }
        out
    }

    /// `self - 2 a - d`, reduced, for d the difference of an element and a, or zero as 2 p.
    #[inline(always)]
    pub fn third_abscissa(&self, a: &Self, d: &Loose<L, D>) -> Self {
        // As d is a' - a + 2 p, or 2 p, this is self - a - a' + 5 p, or self - 2 a + 5 p: between p and 7 p.
        let mut out = Self::zero();
        for k in 0..D {
            out.0[k] = L::third_abscissa(&self.0[k], &a.0[k], &d.0[k]);
        }
        out
    }

    /// `2 self`.
    #[inline(always)]
    pub fn double(&self) -> Loose<L, D> {
        let mut out = self.0;
        for k in 0..D {
            for j in 0..L::LIMBS {
                out[k][j] = out[k][j].add(out[k][j]);
            }
            out[k] = L::normalise(out[k]);
        }
        Loose(out)
    }

    /// `3 self`.
    #[inline(always)]
    pub fn triple(&self) -> Loose<L, D> {
        let mut out = self.0;
        for k in 0..D {
            for j in 0..L::LIMBS {
                out[k][j] = out[k][j].add(out[k][j]).add(out[k][j]);
            }
            out[k] = L::normalise(out[k]);
        }
        Loose(out)
    }

    /// The product of the lanes of every group of two, four and eight, in every lane of it; and the other lanes' product.
    #[inline(always)]
    pub fn lane_products(&self) -> (Self, Self) {
        let [mut others, mut all] = [Self::one(), *self];
        for shift in [1, 2, 4] {
            let partner = all.exchange(shift);
            let mut products = [others; 2];
            mul_pair(&mut products, [&others, &all], [&partner, &partner]);
            [others, all] = products;
        }
        (all, others)
    }

    /// Lane i takes lane `i ^ shift`.
    #[inline(always)]
    fn exchange(&self, shift: usize) -> Self {
        let mut out = self.0;
        for k in 0..D {
            for j in 0..L::LIMBS {
                out[k][j] = out[k][j].exchange(shift);
            }
        }
        Self(out)
    }
}

impl<L: Lanes, const D: usize> Loose<L, D> {
    /// `a` where the mask is set, else `b`.
    #[inline(always)]
    pub fn select(mask: u8, a: &Self, b: &Self) -> Self {
        Self(select::<L, D>(mask, &a.0, &b.0))
    }

    /// Zero, as 2 p, in every lane.
    #[inline(always)]
    pub fn twice_p() -> Self {
        Self([L::multiple(2); D])
    }

    /// Lanes that may be zero modulo p, of values of at most 4 p; others are not. Wrong once in 2^50 lanes.
    #[inline(always)]
    pub fn suspects(&self) -> u8 {
        let mut mask = 0;
        for k in 0..5 {
            mask |= self.0[0][0].equal(L::multiple(k)[0]);
        }
        mask
    }

    /// Lanes that are zero modulo p, of values of at most 4 p.
    #[inline(always)]
    pub fn zeros(&self) -> u8 {
        let mut mask = 0xff;
        for component in &self.0 {
            let mut found = 0;
            for k in 0..5 {
                let multiple = L::multiple(k);
                let mut all = 0xff;
                for j in 0..L::LIMBS {
                    all &= component[j].equal(multiple[j]);
                }
                found |= all;
            }
            mask &= found;
        }
        mask
    }
}

impl<L: Lanes, const D: usize> From<Element<L, D>> for Loose<L, D> {
    #[inline(always)]
    fn from(element: Element<L, D>) -> Self {
        Self(element.0)
    }
}

#[inline(always)]
fn select<L: Lanes, const D: usize>(mask: u8, a: &[L::Limbs; D], b: &[L::Limbs; D]) -> [L::Limbs; D] {
    let mut out = *b;
    for k in 0..D {
        for j in 0..L::LIMBS {
            out[k][j] = L::select(mask, a[k][j], b[k][j]);
        }
    }
    out
}

/// Eight finite points.
#[derive(Clone, Copy)]
pub struct Points<L: Lanes, const D: usize> {
    /// The abscissas.
    pub x: Element<L, D>,
    /// The ordinates.
    pub y: Element<L, D>,
}
