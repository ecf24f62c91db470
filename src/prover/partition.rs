//! A job of the shape that one partition of a Filecoin proof has, for measurements at any size: rows given, nearly all
//! auxiliary values zero or one. There is no circuit: the key is made to fit this one job, by its trapdoor, so that its proofs
//! verify. **Like every key from a known trapdoor it is INSECURE.**

use std::sync::Arc;

use super::density::Density;
use super::key::{BELLMAN_ROOT_GENERATOR, BasePoints, InputRows, ProvingKey, Query};
use super::setup::{FixedBase, Trapdoor};
use super::synthetic::Rng;
use crate::error::{Error, Result};
use crate::formats::vk::VerifyingKey;
use crate::gpu::Gpu;
use crate::math::field::{Field, batch_inverse};
use crate::math::fp::Fp;
use crate::math::fp2::Fp2;
use crate::math::fr::{Fr, Scalar};
use crate::math::g1::G1Affine;
use crate::math::g2::G2Affine;
use crate::math::ntt::Domain;
use crate::par;

/// Inputs, the constant one included.
const INPUTS: usize = 16;
/// Of 100 auxiliary values, so many are neither zero nor one.
const OTHERS_PERCENT: u64 = 2;
/// Of 100 variables, so many are in the A query, and in the B query.
const A_PERCENT: u64 = 75;
const B_PERCENT: u64 = 50;
/// Elements that one piece of work takes from one random sequence: results do not depend on the threads.
const PIECE: usize = 1 << 12;

/// A key with one job of it.
#[derive(Debug)]
pub struct Partition {
    /// The key.
    pub key: ProvingKey,
    /// The constant one, and the other inputs.
    pub inputs: Vec<Fr>,
    /// The other variables.
    pub aux: Vec<Fr>,
    /// A w, B w and C w, all rows of the domain.
    pub rows: [Vec<Fr>; 3],
}

/// The discrete logarithms of a key's points.
struct Logarithms {
    a: Vec<Fr>,
    b: Vec<Fr>,
    ic: Vec<Fr>,
    l: Vec<Fr>,
    h: Vec<Fr>,
}

/// Makes one of 2^log_domain rows, at least 32, from a seed, on the pool of the calling thread. Its points are computed on a
/// GPU, where one is given; else a point takes some 10 us of one thread in the first group, 30 us in the second. `Invalid`
/// where the seed is unlucky.
pub fn partition(log_domain: u32, seed: u64, gpu: Option<&Gpu>) -> Result<Partition> {
    if !(5..=27).contains(&log_domain) {
        return Err(Error::invalid(format!("a partition of 2^{log_domain} rows, not 2^5 to 2^27")));
    }
    let size = 1usize << log_domain;
    let trapdoor = Trapdoor::from_seed(seed);
    let [a, b] = [1, 2].map(|index| random(size, seed + index));
    let mut c = a.clone();
    multiply(&mut c, &b);
    let inputs: Vec<Fr> = std::iter::once(Fr::ONE).chain(random(INPUTS - 1, seed + 3)).collect();
    let aux = fill(size - INPUTS, seed + 4, |rng| match rng.next_u64() % 200 {
        kind if kind < 2 * OTHERS_PERCENT => rng.fr(),
        kind if kind % 2 == 0 => Fr::ZERO,
        _ => Fr::ONE,
    });
    let values = [&inputs[..], &aux[..]].concat();
    let densities = [A_PERCENT, B_PERCENT].map(|percent| density(size, percent, seed + percent));
    let logarithms = logarithms(&trapdoor, log_domain, [&a, &b, &c], &values, &densities, seed)?;
    let key = key(&trapdoor, log_domain, &logarithms, densities, gpu)?;
    Ok(Partition { key, inputs, aux, rows: [a, b, c] })
}

/// `count` values of random sequences.
fn fill(count: usize, seed: u64, value: impl Fn(&mut Rng) -> Fr + Sync) -> Vec<Fr> {
    let mut out = vec![Fr::ZERO; count];
    par::for_each_chunk_mut(&mut out, PIECE, |start, chunk| {
        let mut rng = Rng::new(seed.wrapping_mul(0x9e37_79b9) ^ (start as u64) << 20);
        chunk.iter_mut().for_each(|out| *out = value(&mut rng));
    });
    out
}

fn random(count: usize, seed: u64) -> Vec<Fr> {
    fill(count, seed, Rng::fr)
}

fn multiply(out: &mut [Fr], by: &[Fr]) {
    par::for_each_chunk_mut(out, PIECE, |start, chunk| {
        chunk.iter_mut().zip(&by[start..]).for_each(|(out, by)| *out *= *by);
    });
}

/// All inputs, and so many of 100 of the others.
fn density(count: usize, percent: u64, seed: u64) -> Density {
    let mut rng = Rng::new(seed);
    (0..count).map(|i| i < INPUTS || rng.next_u64() % 100 < percent).collect()
}

/// Random ones for all points but those of the constant one, which make sums over the witness equal to the rows'
/// polynomials at tau.
fn logarithms(
    trapdoor: &Trapdoor,
    log_domain: u32,
    rows: [&[Fr]; 3],
    values: &[Fr],
    densities: &[Density; 2],
    seed: u64,
) -> Result<Logarithms> {
    let domain = Domain::new(log_domain, BELLMAN_ROOT_GENERATOR)?;
    let vanishing = trapdoor.tau.pow(&[1 << log_domain]) - Fr::ONE;
    if vanishing.is_zero() {
        return Err(Error::invalid("partition: tau lies in the domain"));
    }
    let weights = lagrange(&domain, trapdoor.tau, vanishing);
    let [a_tau, b_tau, c_tau] = rows.map(|row| dot(&weights, row));
    let masked = |seed: u64, density: &Density| {
        let mut all = random(values.len(), seed);
        all.iter_mut().enumerate().filter(|(i, _)| !density.get(*i)).for_each(|(_, value)| *value = Fr::ZERO);
        all
    };
    let (mut a, mut b) = (masked(seed + 10, &densities[0]), masked(seed + 11, &densities[1]));
    for (all, total) in [(&mut a, a_tau), (&mut b, b_tau)] {
        all[0] = Fr::ZERO;
        all[0] = total - dot(all, values);
    }
    let (mut ic, l) = (random(INPUTS, seed + 12), random(values.len() - INPUTS, seed + 13));
    // beta a(tau) + alpha b(tau) + c(tau) is the sum of gamma ic over the inputs and of delta l over the others.
    let total = trapdoor.beta * a_tau + trapdoor.alpha * b_tau + c_tau;
    ic[0] = Fr::ZERO;
    let others = trapdoor.gamma * dot(&ic, &values[..INPUTS]) + trapdoor.delta * dot(&l, &values[INPUTS..]);
    ic[0] = (total - others) * trapdoor.gamma.inverse();
    let mut h = vec![Fr::ZERO; domain.size() - 1];
    let first = vanishing * trapdoor.delta.inverse();
    par::for_each_chunk_mut(&mut h, PIECE, |start, chunk| {
        let mut power = first * trapdoor.tau.pow(&[start as u64]);
        for out in chunk {
            *out = power;
            power *= trapdoor.tau;
        }
    });
    Ok(Logarithms { a, b, ic, l, h })
}

/// The Lagrange polynomials at tau: w^i (tau^d - 1) / (d (tau - w^i)).
fn lagrange(domain: &Domain, tau: Fr, vanishing: Fr) -> Vec<Fr> {
    let mut out = vec![Fr::ZERO; domain.size()];
    let factor = vanishing * domain.inverse_size();
    let root = domain.root();
    par::for_each_chunk_mut(&mut out, PIECE, |start, chunk| {
        let mut element = domain.element(start as u64);
        let mut elements = Vec::with_capacity(chunk.len());
        for out in chunk.iter_mut() {
            elements.push(element);
            *out = tau - element;
            element *= root;
        }
        batch_inverse(chunk, &mut Vec::with_capacity(elements.len()));
        chunk.iter_mut().zip(elements).for_each(|(out, element)| *out *= element * factor);
    });
    out
}

fn dot(left: &[Fr], right: &[Fr]) -> Fr {
    let pieces = left.len().div_ceil(PIECE);
    let sums = par::map(pieces, |piece| {
        let range = piece * PIECE..left.len().min((piece + 1) * PIECE);
        left[range.clone()].iter().zip(&right[range]).fold(Fr::ZERO, |sum, (left, right)| sum + *left * *right)
    });
    sums.into_iter().fold(Fr::ZERO, |sum, value| sum + value)
}

/// Multiples of the generators.
struct Multiples<'a> {
    g1: FixedBase<Fp>,
    g2: FixedBase<Fp2>,
    gpu: Option<&'a Gpu>,
}

impl Multiples<'_> {
    fn g1(&self, values: &[Fr]) -> Result<Vec<G1Affine>> {
        self.gpu.map_or_else(|| Ok(self.g1.mul(values)), |gpu| gpu.multiples_g1(&canonical(values)))
    }

    fn g2(&self, values: &[Fr]) -> Result<Vec<G2Affine>> {
        self.gpu.map_or_else(|| Ok(self.g2.mul(values)), |gpu| gpu.multiples_g2(&canonical(values)))
    }
}

fn canonical(values: &[Fr]) -> Vec<Scalar> {
    let mut out = vec![Scalar::default(); values.len()];
    par::for_each_chunk_mut(&mut out, PIECE, |start, chunk| {
        chunk.iter_mut().zip(&values[start..]).for_each(|(out, value)| *out = value.to_canonical());
    });
    out
}

fn key(
    trapdoor: &Trapdoor,
    log_domain: u32,
    logarithms: &Logarithms,
    densities: [Density; 2],
    gpu: Option<&Gpu>,
) -> Result<ProvingKey> {
    let Logarithms { a, b, ic, l, h } = logarithms;
    let [a_density, b_density] = densities.map(Arc::new);
    let dense = |all: &[Fr], density: &Density| density.members().map(|i| all[i]).collect::<Vec<Fr>>();
    let (a, b) = (dense(a, &a_density), dense(b, &b_density));
    let on_cpu = |count: usize| if gpu.is_some() { 1 } else { count };
    let g1 = FixedBase::new(on_cpu(h.len() + l.len() + a.len() + b.len()));
    let of = Multiples { g1, g2: FixedBase::new(on_cpu(b.len())), gpu };
    let fixed1 = of.g1(&[trapdoor.alpha, trapdoor.beta, trapdoor.delta])?;
    let fixed2 = of.g2(&[trapdoor.beta, trapdoor.gamma, trapdoor.delta])?;
    let (alpha1, beta1, delta1) = (fixed1[0], fixed1[1], fixed1[2]);
    let (beta2, gamma2, delta2) = (fixed2[0], fixed2[1], fixed2[2]);
    Ok(ProvingKey {
        base: BasePoints { alpha1, beta1, beta2, delta1, delta2 },
        vk: Some(VerifyingKey { alpha1, beta1, beta2, gamma2, delta1, delta2, ic: of.g1(ic)? }),
        num_inputs: INPUTS,
        num_aux: l.len(),
        input_rows: InputRows::PerInput,
        root_generator: BELLMAN_ROOT_GENERATOR,
        log_domain,
        h: of.g1(h)?,
        l: of.g1(l)?,
        a: Query { points: of.g1(&a)?, density: a_density },
        b1: Query { points: of.g1(&b)?, density: Arc::clone(&b_density) },
        b2: Query { points: of.g2(&b)?, density: b_density },
    })
}
