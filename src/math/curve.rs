//! Points of a short Weierstrass curve y^2 = x^3 + b, for any base field.

use super::field::Field;
use super::fp::Fp;
use super::fr::Scalar;

/// What a base field brings along so that its curve's points can be added: complete formulas, which take equal,
/// opposite and infinite points.
pub trait CurveField: Field {
    /// The degree over the prime field; measured tables are indexed by it.
    const DEGREE: usize;
    /// The curve's constant b.
    const B: Self;
    /// The generator of the subgroup of order r that the standard fixes.
    const GENERATOR: Affine<Self>;

    /// `p + q`.
    fn point_add(p: &Jacobian<Self>, q: &Jacobian<Self>) -> Jacobian<Self>;
    /// `p + q`, `q` affine.
    fn point_add_affine(p: &Jacobian<Self>, q: &Affine<Self>) -> Jacobian<Self>;
    /// `p + p`.
    fn point_double(p: &Jacobian<Self>) -> Jacobian<Self>;
    /// The components over the prime field; the second is zero in degree 1.
    fn components(&self) -> [Fp; 2];
    /// The element of these components; the second is ignored in degree 1.
    fn from_components(components: [Fp; 2]) -> Self;
    /// Whether a point of the curve lies in the subgroup of order r.
    fn in_subgroup(p: &Affine<Self>) -> bool;
}

/// A point by its coordinates; (0, 0), which no curve here contains, stands for infinity (the layout of
/// `blst_p1_affine` and `blst_p2_affine`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Affine<F> {
    /// The abscissa.
    pub x: F,
    /// The ordinate.
    pub y: F,
}

/// A point (x / z^2, y / z^3); z = 0 is infinity (the layout of `blst_p1` and `blst_p2`). Equality compares points,
/// not coordinates.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Jacobian<F> {
    /// x z^2.
    pub x: F,
    /// y z^3.
    pub y: F,
    /// The denominator.
    pub z: F,
}

impl<F: CurveField> Affine<F> {
    /// The neutral element.
    pub const INFINITY: Self = Self { x: F::ZERO, y: F::ZERO };

    /// Whether this is the neutral element.
    #[inline(always)]
    pub fn is_infinity(&self) -> bool {
        self.x.is_zero() && self.y.is_zero()
    }

    /// Whether the coordinates satisfy the curve's equation, or this is infinity.
    pub fn is_on_curve(&self) -> bool {
        self.is_infinity() || self.y.square() == self.x.square() * self.x + F::B
    }

    /// Whether the point, which must be on the curve, lies in the subgroup of order r.
    pub fn is_in_subgroup(&self) -> bool {
        self.is_infinity() || F::in_subgroup(self)
    }

    /// `scalar * self` by double and add; variable time.
    pub fn mul(&self, scalar: &Scalar) -> Jacobian<F> {
        Jacobian::from(*self).mul(scalar)
    }
}

impl<F: CurveField> std::ops::Neg for Affine<F> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { x: self.x, y: -self.y }
    }
}

impl<F: CurveField> Jacobian<F> {
    /// The neutral element.
    pub const INFINITY: Self = Self { x: F::ZERO, y: F::ZERO, z: F::ZERO };

    /// Whether this is the neutral element.
    pub fn is_infinity(&self) -> bool {
        self.z.is_zero()
    }

    /// `self + self`.
    pub fn double(&self) -> Self {
        F::point_double(self)
    }

    /// `scalar * self` by double and add; variable time. The scalar need not be below r.
    pub fn mul(&self, scalar: &Scalar) -> Self {
        let mut product = Self::INFINITY;
        for limb in scalar.iter().rev() {
            for bit in (0..64).rev() {
                product = product.double();
                if (limb >> bit) & 1 == 1 {
                    product += *self;
                }
            }
        }
        product
    }

    /// The same point by its coordinates; one inversion.
    pub fn to_affine(&self) -> Affine<F> {
        let inverse = self.z.inverse();
        let square = inverse.square();
        Affine { x: self.x * square, y: self.y * square * inverse }
    }

    /// Many points by their coordinates; one inversion in all.
    pub fn batch_to_affine(points: &[Self]) -> Vec<Affine<F>> {
        let mut inverses: Vec<F> = points.iter().map(|p| p.z).collect();
        super::field::batch_inverse(&mut inverses, &mut Vec::with_capacity(points.len()));
        let coordinates = |(p, inverse): (&Self, &F)| {
            let square = inverse.square();
            Affine { x: p.x * square, y: p.y * square * *inverse }
        };
        points.iter().zip(&inverses).map(coordinates).collect()
    }
}

impl<F: CurveField> Default for Jacobian<F> {
    fn default() -> Self {
        Self::INFINITY
    }
}

impl<F: CurveField> From<Affine<F>> for Jacobian<F> {
    fn from(p: Affine<F>) -> Self {
        if p.is_infinity() { Self::INFINITY } else { Self { x: p.x, y: p.y, z: F::ONE } }
    }
}

impl<F: CurveField> PartialEq for Jacobian<F> {
    fn eq(&self, other: &Self) -> bool {
        if self.is_infinity() || other.is_infinity() {
            return self.is_infinity() && other.is_infinity();
        }
        let (s, t) = (self.z.square(), other.z.square());
        self.x * t == other.x * s && self.y * t * other.z == other.y * s * self.z
    }
}

impl<F: CurveField> Eq for Jacobian<F> {}

impl<F: CurveField> std::ops::Add for Jacobian<F> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        F::point_add(&self, &other)
    }
}

impl<F: CurveField> std::ops::AddAssign for Jacobian<F> {
    fn add_assign(&mut self, other: Self) {
        *self = F::point_add(self, &other);
    }
}

impl<F: CurveField> std::ops::AddAssign<Affine<F>> for Jacobian<F> {
    fn add_assign(&mut self, other: Affine<F>) {
        *self = F::point_add_affine(self, &other);
    }
}

impl<F: CurveField> std::ops::Neg for Jacobian<F> {
    type Output = Self;
    fn neg(self) -> Self {
        Self { x: self.x, y: -self.y, z: self.z }
    }
}

impl<F: CurveField> std::iter::Sum for Jacobian<F> {
    fn sum<I: Iterator<Item = Self>>(points: I) -> Self {
        points.fold(Self::INFINITY, |sum, p| sum + p)
    }
}
