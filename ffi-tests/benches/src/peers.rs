//! Other libraries' multi-scalar multiplications and transforms. blst and arkworks take this library's points, the others as many
//! multiples of a generator of their own types.

use std::hint::black_box;
use std::sync::Arc;

use ark_ec::VariableBaseMSM;
use ark_ff::{BigInt, PrimeField as _};
use ark_poly::EvaluationDomain;
use groth16::math::curve::{Affine, CurveField, Jacobian};
use groth16::math::fp::Fp;
use groth16::math::fp2::Fp2;
use groth16::math::fr::{Scalar, scalar_to_le_bytes};

/// A peer's name, and one run of it.
pub type Run<'a> = (&'static str, Box<dyn FnMut() + Send + 'a>);

/// A group with its peers.
pub trait Peer: CurveField {
    const NAME: &'static str;
    /// The sum by blst, of scalars of 32 bytes, on one thread.
    fn blst(points: &[Affine<Self>], scalars: &[u8]) -> Jacobian<Self>;
    fn ark<'a>(points: &[Affine<Self>], scalars: &'a [ark_bls12_381::Fr]) -> Run<'a>;
    fn halo2(scalars: &[Scalar]) -> Run<'static>;
    fn bellman(scalars: &[Scalar]) -> Run<'static>;
}

macro_rules! blst_msm {
    ($points:ident, $scalars:ident, $scratch_size:ident, $msm:ident) => {{
        let pointers = [$points.as_ptr().cast(), std::ptr::null()];
        let bytes = [$scalars.as_ptr(), std::ptr::null()];
        let mut out = Jacobian::INFINITY;
        // SAFETY: a list of one array and a null means "contiguous"; the arrays hold as many points and 32-byte scalars
        // as is said, layouts agree, and the scratch is as large as blst asks.
        unsafe {
            let mut scratch = vec![0u64; blst::$scratch_size($points.len()).div_ceil(8)];
            blst::$msm(
                std::ptr::from_mut(&mut out).cast(),
                pointers.as_ptr(),
                $points.len(),
                bytes.as_ptr(),
                255,
                scratch.as_mut_ptr(),
            );
        }
        out
    }};
}

macro_rules! halo2_msm {
    ($scalars:ident, $point:ident) => {{
        use halo2curves::group::Curve;
        let scalars: Vec<_> = $scalars.iter().map(halo2_scalar).collect();
        let step = halo2curves::bls12381::$point::generator();
        let points: Vec<_> = std::iter::successors(Some(step), |p| Some(*p + step)).take(scalars.len()).collect();
        let mut affine = vec![Default::default(); points.len()];
        Curve::batch_normalize(&points, &mut affine);
        (
            "halo2curves",
            Box::new(move || {
                black_box(halo2curves::msm::msm_best(&scalars, &affine));
            }),
        )
    }};
}

macro_rules! bellman_msm {
    ($scalars:ident, $point:ident) => {{
        use bellman::multiexp::{Exponent, FullDensity, multiexp};
        use group::Curve;
        let exponents: Vec<Exponent<bls12_381::Scalar>> =
            $scalars.iter().map(|s| bls12_381::Scalar::from_bytes(&scalar_to_le_bytes(s)).unwrap().into()).collect();
        let step = bls12_381::$point::generator();
        let points: Vec<_> = std::iter::successors(Some(step), |p| Some(*p + step)).take(exponents.len()).collect();
        let mut affine = vec![Default::default(); points.len()];
        Curve::batch_normalize(&points, &mut affine);
        let (bases, exponents) = (Arc::new(affine), Arc::new(exponents));
        let run = move || {
            let worker = bellman::multicore::Worker::new();
            let sum = multiexp(&worker, (bases.clone(), 0), FullDensity, exponents.clone()).wait();
            let _: bls12_381::$point = black_box(sum.unwrap());
        };
        ("bellman", Box::new(run))
    }};
}

fn halo2_scalar(scalar: &Scalar) -> halo2curves::bls12381::Fr {
    use halo2curves::ff::PrimeField;
    halo2curves::bls12381::Fr::from_repr(scalar_to_le_bytes(scalar).into()).unwrap()
}

fn ark_fp(x: &Fp) -> ark_bls12_381::Fq {
    ark_bls12_381::Fq::from_bigint(BigInt(x.to_canonical())).unwrap()
}

pub fn ark_scalars(scalars: &[Scalar]) -> Vec<ark_bls12_381::Fr> {
    scalars.iter().map(|s| ark_bls12_381::Fr::from_bigint(BigInt(*s)).unwrap()).collect()
}

impl Peer for Fp {
    const NAME: &'static str = "g1";
    fn blst(points: &[Affine<Self>], scalars: &[u8]) -> Jacobian<Self> {
        blst_msm!(points, scalars, blst_p1s_mult_pippenger_scratch_sizeof, blst_p1s_mult_pippenger)
    }
    fn ark<'a>(points: &[Affine<Self>], scalars: &'a [ark_bls12_381::Fr]) -> Run<'a> {
        let convert = |p: &Affine<Self>| ark_bls12_381::G1Affine::new_unchecked(ark_fp(&p.x), ark_fp(&p.y));
        let points: Vec<_> = points.iter().map(convert).collect();
        (
            "ark",
            Box::new(move || {
                let _ = black_box(ark_bls12_381::G1Projective::msm(&points, scalars).unwrap());
            }),
        )
    }
    fn halo2(scalars: &[Scalar]) -> Run<'static> {
        halo2_msm!(scalars, G1)
    }
    fn bellman(scalars: &[Scalar]) -> Run<'static> {
        bellman_msm!(scalars, G1Projective)
    }
}

impl Peer for Fp2 {
    const NAME: &'static str = "g2";
    fn blst(points: &[Affine<Self>], scalars: &[u8]) -> Jacobian<Self> {
        blst_msm!(points, scalars, blst_p2s_mult_pippenger_scratch_sizeof, blst_p2s_mult_pippenger)
    }
    fn ark<'a>(points: &[Affine<Self>], scalars: &'a [ark_bls12_381::Fr]) -> Run<'a> {
        let fq2 = |x: &Fp2| ark_bls12_381::Fq2::new(ark_fp(&x.c0), ark_fp(&x.c1));
        let convert = |p: &Affine<Self>| ark_bls12_381::G2Affine::new_unchecked(fq2(&p.x), fq2(&p.y));
        let points: Vec<_> = points.iter().map(convert).collect();
        (
            "ark",
            Box::new(move || {
                let _ = black_box(ark_bls12_381::G2Projective::msm(&points, scalars).unwrap());
            }),
        )
    }
    fn halo2(scalars: &[Scalar]) -> Run<'static> {
        halo2_msm!(scalars, G2)
    }
    fn bellman(scalars: &[Scalar]) -> Run<'static> {
        bellman_msm!(scalars, G2Projective)
    }
}

/// Transforms of these values over the domain of 2^log elements.
pub fn transforms(scalars: &[Scalar], log: u32) -> Vec<Run<'static>> {
    let mut ark_values = ark_scalars(scalars);
    let domain = ark_poly::Radix2EvaluationDomain::<ark_bls12_381::Fr>::new(1 << log).unwrap();
    let mut halo2_values: Vec<_> = scalars.iter().map(halo2_scalar).collect();
    let omega = {
        use halo2curves::ff::PrimeField;
        let root = halo2curves::bls12381::Fr::ROOT_OF_UNITY;
        (log..halo2curves::bls12381::Fr::S).fold(root, |root, _| root.square())
    };
    vec![
        ("ark", Box::new(move || domain.fft_in_place(&mut ark_values))),
        ("halo2curves", Box::new(move || halo2curves::fft::best_fft(&mut halo2_values, omega, log))),
    ]
}
