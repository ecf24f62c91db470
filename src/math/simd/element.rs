//! Eight elements of the base field (`D` = 1) or of its quadratic extension (`D` = 2), and points of them.
//!
//! Two types tell the bounds: an [`Element`]'s components are below 2 p, a [`Loose`] one's at most 8 p. Products take
//! either and yield elements.

use super::lanes::{Lanes, Row};
use super::product::{MULTIPLES, multiple, normalise, reduce, split};
use crate::math::fp::MODULUS;
use crate::math::limbs;

/// Components of eight limbs of 52 bits each, at most 2 p, in Montgomery form with R = 2^416.
#[derive(Clone, Copy, Debug)]
pub struct Element<L, const D: usize>([[L; 8]; D]);

/// The same with components of at most 8 p.
#[derive(Clone, Copy, Debug)]
pub struct Loose<L, const D: usize>([[L; 8]; D]);

/// A factor of a product.
pub trait Factor<L, const D: usize> {
    /// Its components, of at most 8 p.
    fn components(&self) -> &[[L; 8]; D];
}

impl<L, const D: usize> Factor<L, D> for Element<L, D> {
    #[inline(always)]
    fn components(&self) -> &[[L; 8]; D] {
        &self.0
    }
}

impl<L, const D: usize> Factor<L, D> for Loose<L, D> {
    #[inline(always)]
    fn components(&self) -> &[[L; 8]; D] {
        &self.0
    }
}

/// One in Montgomery form.
const ONE: [u64; 8] = split(&limbs::power_of_two_mod(416, &MODULUS));

/// Both components; only called where there are two.
#[inline(always)]
fn both<L, const D: usize>(a: &[[L; 8]; D]) -> [&[L; 8]; 2] {
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
                L::fp2_mul([real, imaginary], both(a), both(b));
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
                L::fp2_square([real, imaginary], both(a.components()));
            }
        }
    }
}

impl<L: Lanes, const D: usize> Element<L, D> {
    /// Zero in every lane.
    #[inline(always)]
    pub fn zero() -> Self {
        Self([[L::splat(0); 8]; D])
    }

    /// One in every lane.
    #[inline(always)]
    pub fn one() -> Self {
        let mut out = Self::zero();
        for j in 0..8 {
            out.0[0][j] = L::splat(ONE[j]);
        }
        out
    }

    /// The element, whose limbs are those of Montgomery forms below p with R = 2^416, in every lane.
    #[inline(always)]
    pub fn splat(limbs: &[[u64; 8]; D]) -> Self {
        let mut out = Self::zero();
        for k in 0..D {
            for j in 0..8 {
                out.0[k][j] = L::splat(limbs[k][j]);
            }
        }
        out
    }

    /// Lane i takes the rows `at[i] .. at[i] + D` of `rows`, one a component.
    #[inline(always)]
    pub fn gather(rows: &[Row], at: &[usize; 8]) -> Self {
        let mut out = Self::zero();
        for k in 0..D {
            let mut lanes = [L::splat(0); 8];
            for i in 0..8 {
                lanes[i] = L::load(&rows[at[i] + k]);
            }
            out.0[k] = L::transpose(lanes);
            out.0[k][7].assert_bits(18);
        }
        out
    }

    /// The lanes as rows: row i of component k holds lane i.
    #[inline(always)]
    pub fn to_rows(self) -> [[Row; 8]; D] {
        let mut out = [[Row([0; 8]); 8]; D];
        for k in 0..D {
            let lanes = L::transpose(self.0[k]);
            for i in 0..8 {
                lanes[i].store(&mut out[k][i]);
            }
        }
        out
    }

    /// `a` where the mask is set, else `b`.
    #[inline(always)]
    pub fn select(mask: u8, a: &Self, b: &Self) -> Self {
        Self(select(mask, &a.0, &b.0))
    }

    /// `self - other`.
    #[inline(always)]
    pub fn difference(&self, other: &Self) -> Loose<L, D> {
        self.signed_difference(0, other)
    }

    /// `self - other`, or `-self - other` where the mask is set.
    #[inline(always)]
    pub fn signed_difference(&self, negative: u8, other: &Self) -> Loose<L, D> {
        let bound = multiple::<L>(2);
        let mut out = self.0;
        for k in 0..D {
            for j in 0..8 {
                let signed = L::select(negative, bound[j].sub(out[k][j]), out[k][j]);
                out[k][j] = signed.sub(other.0[k][j]).add(bound[j]);
            }
            out[k] = normalise(out[k]);
        }
        Loose(out)
    }

    /// `-self` where the mask is set.
    #[inline(always)]
    pub fn negate_where(&self, negative: u8) -> Self {
        let bound = multiple::<L>(2);
        let mut out = self.0;
        for k in 0..D {
            for j in 0..8 {
                out[k][j] = L::select(negative, bound[j].sub(out[k][j]), out[k][j]);
            }
            out[k] = normalise(out[k]);
        }
        Self(out)
    }

    /// `self - other`, reduced.
    #[inline(always)]
    pub fn minus(&self, other: &Self) -> Self {
        let bound = multiple::<L>(3);
        let mut out = self.0;
        for k in 0..D {
            for j in 0..8 {
                out[k][j] = out[k][j].sub(other.0[k][j]).add(bound[j]);
            }
            out[k] = reduce(out[k]);
        }
        Self(out)
    }

    /// `self - 2 a - d`, reduced, for d the difference of an element and a, or zero as 2 p.
    #[inline(always)]
    pub fn third_abscissa(&self, a: &Self, d: &Loose<L, D>) -> Self {
        // As d is a' - a + 2 p, or 2 p, this is self - a - a' + 5 p, or self - 2 a + 5 p: between p and 7 p.
        let bound = multiple::<L>(7);
        let mut out = self.0;
        for k in 0..D {
            for j in 0..8 {
                let twice = a.0[k][j].add(a.0[k][j]);
                out[k][j] = out[k][j].sub(twice).sub(d.0[k][j]).add(bound[j]);
            }
            out[k] = reduce(out[k]);
        }
        Self(out)
    }

    /// `2 self`.
    #[inline(always)]
    pub fn double(&self) -> Loose<L, D> {
        let mut out = self.0;
        for k in 0..D {
            for j in 0..8 {
                out[k][j] = out[k][j].add(out[k][j]);
            }
            out[k] = normalise(out[k]);
        }
        Loose(out)
    }

    /// `3 self`.
    #[inline(always)]
    pub fn triple(&self) -> Loose<L, D> {
        let mut out = self.0;
        for k in 0..D {
            for j in 0..8 {
                out[k][j] = out[k][j].add(out[k][j]).add(out[k][j]);
            }
            out[k] = normalise(out[k]);
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
    fn exchange(&self, shift: u64) -> Self {
        let index = L::load(&Row(std::array::from_fn(|i| i as u64 ^ shift)));
        let mut out = self.0;
        for k in 0..D {
            for j in 0..8 {
                out[k][j] = out[k][j].lookup(index);
            }
        }
        Self(out)
    }
}

impl<L: Lanes, const D: usize> Loose<L, D> {
    /// `a` where the mask is set, else `b`.
    #[inline(always)]
    pub fn select(mask: u8, a: &Self, b: &Self) -> Self {
        Self(select(mask, &a.0, &b.0))
    }

    /// Zero, as 2 p, in every lane.
    #[inline(always)]
    pub fn twice_p() -> Self {
        Self([multiple::<L>(2); D])
    }

    /// Lanes that may be zero modulo p, of values of at most 4 p; others are not. Wrong once in 2^50 lanes.
    #[inline(always)]
    pub fn suspects(&self) -> u8 {
        let mut mask = 0;
        for k in 0..5 {
            mask |= self.0[0][0].equal(L::splat(MULTIPLES[k][0]));
        }
        mask
    }

    /// Lanes that are zero modulo p, of values of at most 4 p.
    #[inline(always)]
    pub fn zeros(&self) -> u8 {
        let mut mask = 0xff;
        for component in &self.0 {
            let mut found = 0;
            for multiple in MULTIPLES.iter().take(5) {
                let mut all = 0xff;
                for j in 0..8 {
                    all &= component[j].equal(L::splat(multiple[j]));
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
fn select<L: Lanes, const D: usize>(mask: u8, a: &[[L; 8]; D], b: &[[L; 8]; D]) -> [[L; 8]; D] {
    let mut out = *b;
    for k in 0..D {
        for j in 0..8 {
            out[k][j] = L::select(mask, a[k][j], b[k][j]);
        }
    }
    out
}

/// Eight finite points.
#[derive(Clone, Copy, Debug)]
pub struct Points<L, const D: usize> {
    /// The abscissas.
    pub x: Element<L, D>,
    /// The ordinates.
    pub y: Element<L, D>,
}
