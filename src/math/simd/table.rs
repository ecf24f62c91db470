//! Points in memory for the lanes: each point's coordinates in rows of eight limbs, one row a component, first those of x.
//!
//! Coordinates are scaled: (x, y) stands as (u^2 x, u^3 y) with u = 2^-16, or 2^-4 (u^2 = 2^384 / R), on the isomorphic curve y^2 = x^3 + u^6 b.
//! Formulas of addition do not contain b, so nothing else knows. Then the Montgomery form of u^2 x with
//! the lanes' R is that of x with R = 2^384: abscissas are taken over as they are, and only ordinates cost a product.

use std::mem::MaybeUninit;

use super::element::{Element, mul_pair};
use super::lanes::{Lanes, Row, Task};
use crate::error::{Result, reserve};
use crate::math::curve::{Affine, CurveField};
use crate::math::field::Field;
use crate::math::fp::{Fp, MODULUS};
use crate::math::limbs;
use crate::par;

/// 2^384 / u mod p: on lanes the factor that scales an ordinate, as an element (1 / u) the one that scales it back.
struct Scale<L>(std::marker::PhantomData<L>);

impl<L: Lanes> Scale<L> {
    /// log2 of R.
    const BITS: usize = L::LIMBS * L::BITS as usize;
    const VALUE: [u64; 6] = limbs::power_of_two_mod(384 + (Self::BITS - 384) / 2, &MODULUS);
    /// What the inverse of limbs, taken with R = 2^384, lacks.
    const LACK: [u64; 6] = limbs::power_of_two_mod(384 + 2 * (Self::BITS - 384), &MODULUS);
}

/// Points, `2 D` rows each; those that are infinity hold anything.
#[derive(Debug, Default)]
pub struct Table {
    /// The rows.
    pub rows: Vec<Row>,
    /// Bit i of word j for point 64 j + i: whether it is infinity.
    infinite: Vec<u64>,
    any_infinite: bool,
}

impl Table {
    /// Takes `count` points; `point` gives them by index. On the caller's pool. 128 bytes a point in the first group, 256
    /// in the second.
    ///
    /// Errors: `NoMemory`.
    pub fn new<'a, L: Lanes, F: CurveField, const D: usize>(
        count: usize,
        point: impl Fn(usize) -> &'a Affine<F> + Sync + Send,
    ) -> Result<Self> {
        let mut rows = zeroed(count * 2 * D, "the points of a multi-scalar multiplication")?;
        let mut infinite = vec![0u64; count.div_ceil(64)];
        let words = par::piece(infinite.len(), 8);
        par::for_each_chunk_pair_rows(&mut rows, 64 * 2 * D * words, &mut infinite, words, |word, rows, infinite| {
            L::run(Fill::<L, F, _, D> { first: 64 * word, rows, infinite, point: &point, lanes: Default::default() });
        });
        let any_infinite = infinite.iter().any(|word| *word != 0);
        Ok(Self { rows, infinite, any_infinite })
    }

    /// Whether point `i` is infinity.
    #[inline(always)]
    pub fn is_infinite(&self, i: usize) -> bool {
        self.any_infinite && self.infinite[i / 64] >> (i % 64) & 1 == 1
    }
}

/// Rows of zeros, on the caller's pool: the system makes pages when they are first touched, which takes one thread as long as a
/// tenth of a multi-scalar multiplication.
///
/// Errors: `NoMemory`, for `what`.
pub fn zeroed(count: usize, what: &str) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    reserve(&mut rows, count, what)?;
    advise_huge(&mut rows);
    let size = par::piece(count, 1 << 12);
    par::for_each_chunk_mut(&mut rows.spare_capacity_mut()[..count], size, |_, piece| {
        piece.fill(MaybeUninit::new(Row([0; 8])));
    });
    // SAFETY: room for so many has been reserved, and each was written just now.
    unsafe { rows.set_len(count) };
    Ok(rows)
}

/// Asks the system for large pages behind a vector that has just been reserved: its rows are read in random order, and
/// translations of small pages would miss. Only a hint.
fn advise_huge(rows: &mut Vec<Row>) {
    #[cfg(target_os = "linux")]
    {
        let page = 4096;
        let start = rows.as_ptr().addr().next_multiple_of(page) - rows.as_ptr().addr();
        let bytes = rows.capacity() * size_of::<Row>();
        if bytes >= (4 << 20) + start {
            // SAFETY: the range lies within the vector's allocation; the advice changes no contents.
            unsafe {
                let first = rows.as_mut_ptr().byte_add(start).cast();
                libc::madvise(first, (bytes - start) & !(page - 1), libc::MADV_HUGEPAGE);
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = rows;
}

struct Fill<'t, L, F, P, const D: usize> {
    first: usize,
    rows: &'t mut [Row],
    infinite: &'t mut [u64],
    point: &'t P,
    lanes: std::marker::PhantomData<(L, F)>,
}

impl<'a, L: Lanes, F: CurveField, P: Fn(usize) -> &'a Affine<F>, const D: usize> Task for Fill<'_, L, F, P, D> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let mut scale = [[0; 6]; D];
        scale[0] = Scale::<L>::VALUE;
        let scale = Element::<L, D>::splat(&scale);
        // Sixteen ordinates on their way.
        let mut ordinates = [Row([0; 8]); 32];
        for (block, rows) in self.rows.chunks_mut(16 * 2 * D).enumerate() {
            let count = rows.len() / (2 * D);
            for i in 0..count {
                let index = 16 * block + i;
                let point = (self.point)(self.first + index);
                let (x, y) = (point.x.components(), point.y.components());
                for k in 0..D {
                    rows[2 * D * i + k] = L::pack(&x[k].0);
                    ordinates[D * i + k] = L::pack(&y[k].0);
                }
                self.infinite[index / 64] |= u64::from(point.is_infinity()) << (index % 64);
            }
            let at = |half: usize| std::array::from_fn(|i| D * (8 * half + i));
            let (low, high) = (Element::gather(&ordinates, &at(0)), Element::gather(&ordinates, &at(1)));
            let mut scaled = [low, high];
            mul_pair(&mut scaled, [&low, &high], [&scale, &scale]);
            let scaled = scaled.map(|y| y.to_rows());
            for i in 0..count {
                for k in 0..D {
                    rows[2 * D * i + D + k] = scaled[i / 8][k][i % 8];
                }
            }
        }
    }
}

/// The point that the rows `rows[..2 D]` hold.
pub fn read<L: Lanes, F: CurveField, const D: usize>(rows: &[Row]) -> Affine<F> {
    let component = |k: usize| Fp(limbs::reduce_once(L::unpack(&rows[k]), &MODULUS));
    let unscaled = |k: usize| component(D + k) * Fp(Scale::<L>::VALUE);
    if D == 1 {
        Affine { x: F::from_components([component(0), Fp::ZERO]), y: F::from_components([unscaled(0), Fp::ZERO]) }
    } else {
        Affine {
            x: F::from_components([component(0), component(1)]),
            y: F::from_components([unscaled(0), unscaled(1)]),
        }
    }
}

/// The inverses of all lanes of both elements, none of which may be zero.
#[inline(always)]
pub fn invert<L: Lanes, F: CurveField, const D: usize>(a: &[Element<L, D>; 2]) -> [Element<L, D>; 2] {
    let mut out = *a;
    mul_pair(&mut out, [&a[0], &a[0]], [&a[1], &a[1]]);
    let (all, others) = out[0].lane_products();
    let all = Element::splat(&inverse::<L, F, D>(&all.to_rows().map(|rows| rows[0])));
    mul_pair(&mut out, [&all, &all], [&others, &others]);
    let inverse = out[0];
    mul_pair(&mut out, [&inverse, &inverse], [&a[1], &a[0]]);
    out
}

/// The inverse of one element, both with the lanes' R.
fn inverse<L: Lanes, F: CurveField, const D: usize>(rows: &[Row; D]) -> [[u64; 6]; D] {
    let mut parts = [Fp::ZERO; 2];
    for k in 0..D {
        parts[k] = Fp(limbs::reduce_once(L::unpack(&rows[k]), &MODULUS));
    }
    let inverse = F::from_components(parts).inverse().components();
    let mut out = [[0; 6]; D];
    for k in 0..D {
        out[k] = (inverse[k] * Fp(Scale::<L>::LACK)).0;
    }
    out
}
