//! Keys from a known trapdoor, for development and tests. **Whoever knows the trapdoor of a key can forge proofs under
//! it.** A key that anybody shall trust comes from a multi-party ceremony, never from here.

use zeroize::Zeroize;

use super::circuit::{Circuit, Matrix};
use super::key::{BELLMAN_ROOT_GENERATOR, InputRows};
use super::synthetic::Rng;
use crate::error::{Error, Result, Status};
use crate::formats::bellman_params::Params;
use crate::formats::gnark;
use crate::formats::proof::Proof;
use crate::formats::vk::VerifyingKey;
use crate::math::curve::{Affine, CurveField, Jacobian};
use crate::math::field::{Field, batch_inverse};
use crate::math::fp::Fp;
use crate::math::fp2::Fp2;
use crate::math::fr::{Fr, TWO_ADICITY};
use crate::par;

/// The secret numbers behind a key ("toxic waste"). **Whoever has them can prove anything.** Zeroised on drop.
pub struct Trapdoor {
    /// Where the polynomials are evaluated; neither zero nor in the domain.
    pub tau: Fr,
    /// Not zero.
    pub alpha: Fr,
    /// Not zero.
    pub beta: Fr,
    /// Not zero.
    pub gamma: Fr,
    /// Not zero.
    pub delta: Fr,
}

impl Trapdoor {
    /// A trapdoor that anybody can compute again from the seed: for tests.
    pub fn from_seed(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        Self { tau: rng.fr(), alpha: rng.fr(), beta: rng.fr(), gamma: rng.fr(), delta: rng.fr() }
    }

    /// A trapdoor from the system's random numbers. `Io` where it has none.
    pub fn random() -> Result<Self> {
        fn fr() -> Result<Fr> {
            let mut wide = zeroize::Zeroizing::new([0u8; 64]);
            getrandom::fill(wide.as_mut_slice())
                .map_err(|error| Error::new(Status::Io, format!("the system's random numbers: {error}")))?;
            Ok(Fr::from_wide_bytes(&wide))
        }
        Ok(Self { tau: fr()?, alpha: fr()?, beta: fr()?, gamma: fr()?, delta: fr()? })
    }
}

impl Drop for Trapdoor {
    fn drop(&mut self) {
        for secret in [&mut self.tau, &mut self.alpha, &mut self.beta, &mut self.gamma, &mut self.delta] {
            secret.zeroize();
        }
    }
}

/// A circuit's polynomials A_j, B_j, C_j (one per variable) at tau, over the domain of bellman and gnark, with the rows
/// `input_i * 0 = 0` of bellman after the circuit's or without.
struct Qap {
    a: Vec<Fr>,
    b: Vec<Fr>,
    c: Vec<Fr>,
    /// tau^d - 1.
    vanishing: Fr,
    domain_size: usize,
}

impl Qap {
    fn new(circuit: &Circuit, input_rows: InputRows, tau: Fr) -> Result<Self> {
        let rows_added = if input_rows == InputRows::PerInput { circuit.num_inputs() } else { 0 };
        let rows = (circuit.num_rows() + rows_added).max(1);
        let domain_size = rows.next_power_of_two();
        let log_domain = domain_size.trailing_zeros();
        let root = Fr::root_of_unity(BELLMAN_ROOT_GENERATOR, log_domain).ok_or_else(|| {
            Error::new(Status::Unsupported, format!("set-up: {rows} rows are more than 2^{TWO_ADICITY}"))
        })?;
        let vanishing = tau.pow(&[domain_size as u64]) - Fr::ONE;
        if tau.is_zero() || vanishing.is_zero() {
            return Err(Error::invalid("set-up: tau is zero or in the domain"));
        }
        // L_i(tau) = (tau^d - 1) / d * root^i / (tau - root^i)
        let mut powers = Vec::with_capacity(rows);
        let mut power = Fr::ONE;
        for _ in 0..rows {
            powers.push(power);
            power *= root;
        }
        let mut lagrange: Vec<Fr> = powers.iter().map(|power| tau - *power).collect();
        batch_inverse(&mut lagrange, &mut Vec::new());
        let factor = vanishing * Fr::from(domain_size as u64).inverse();
        lagrange.iter_mut().zip(&powers).for_each(|(value, power)| *value *= factor * *power);

        let column_sums = |matrix: &Matrix| {
            let mut sums = vec![Fr::ZERO; circuit.num_vars()];
            for row in 0..circuit.num_rows() {
                for (column, coefficient) in matrix.row(row) {
                    sums[column] += circuit.coefficients()[coefficient as usize] * lagrange[row];
                }
            }
            sums
        };
        let (mut a, b, c) = (column_sums(circuit.a()), column_sums(circuit.b()), column_sums(circuit.c()));
        for input in 0..rows_added {
            a[input] += lagrange[circuit.num_rows() + input];
        }
        Ok(Self { a, b, c, vanishing, domain_size })
    }

    /// beta A_j + alpha B_j + C_j.
    fn combined(&self, trapdoor: &Trapdoor) -> Vec<Fr> {
        let ab = self.a.iter().zip(&self.b).map(|(a, b)| trapdoor.beta * *a + trapdoor.alpha * *b);
        ab.zip(&self.c).map(|(ab, c)| ab + *c).collect()
    }
}

/// The discrete logarithms of a key's points.
struct KeyScalars {
    h: Vec<Fr>,
    /// Of all variables, as `b`.
    a: Vec<Fr>,
    b: Vec<Fr>,
    ic: Vec<Fr>,
    l: Vec<Fr>,
}

impl KeyScalars {
    /// `Invalid` where a number of the trapdoor is zero or unlucky.
    fn new(circuit: &Circuit, input_rows: InputRows, trapdoor: &Trapdoor) -> Result<Self> {
        let secrets = [trapdoor.alpha, trapdoor.beta, trapdoor.gamma, trapdoor.delta];
        if secrets.iter().any(Field::is_zero) {
            return Err(Error::invalid("set-up: alpha, beta, gamma or delta is zero"));
        }
        let qap = Qap::new(circuit, input_rows, trapdoor.tau)?;
        let combined = qap.combined(trapdoor);
        let (inputs, aux) = combined.split_at(circuit.num_inputs());
        let scaled = |values: &[Fr], factor: Fr| values.iter().map(|value| *value * factor).collect::<Vec<Fr>>();
        let inverse_delta = trapdoor.delta.inverse();
        let mut h = Vec::with_capacity(qap.domain_size - 1);
        let mut power = qap.vanishing * inverse_delta;
        for _ in 1..qap.domain_size {
            h.push(power);
            power *= trapdoor.tau;
        }
        let (ic, l) = (scaled(inputs, trapdoor.gamma.inverse()), scaled(aux, inverse_delta));
        Ok(Self { h, a: qap.a, b: qap.b, ic, l })
    }
}

fn verifying_key(trapdoor: &Trapdoor, ic: &[Fr], g1: &FixedBase<Fp>, g2: &FixedBase<Fp2>) -> VerifyingKey {
    let fixed1 = g1.mul(&[trapdoor.alpha, trapdoor.beta, trapdoor.delta]);
    let fixed2 = g2.mul(&[trapdoor.beta, trapdoor.gamma, trapdoor.delta]);
    VerifyingKey {
        alpha1: fixed1[0],
        beta1: fixed1[1],
        beta2: fixed2[0],
        gamma2: fixed2[1],
        delta1: fixed1[2],
        delta2: fixed2[2],
        ic: g1.mul(ic),
    }
}

/// A bellman parameter file for `circuit` whose secrets are those of `trapdoor` (see the warning above). It takes some
/// 10 us of one thread for every point in the first group and 30 us in the second.
///
/// `Invalid` where a number of the trapdoor is zero or unlucky, or where an auxiliary variable is in no row, so that
/// the key would have a point at infinity, which bellman's readers refuse.
pub fn setup(circuit: &Circuit, trapdoor: &Trapdoor) -> Result<Params> {
    // Before memory is taken for all of them: a small file can declare 2^32 variables.
    if circuit.num_aux() > circuit.num_terms() {
        return Err(Error::invalid(format!(
            "set-up: {} auxiliary variables but {} terms: some are in no row",
            circuit.num_aux(),
            circuit.num_terms()
        )));
    }
    let KeyScalars { h, a, b, ic, l } = KeyScalars::new(circuit, InputRows::PerInput, trapdoor)?;
    // In A every input is dense; a variable that is not dense has the polynomial zero.
    let [a, b] = [a, b].map(|all| all.into_iter().filter(|value| !value.is_zero()).collect::<Vec<Fr>>());
    check_scalars(circuit, &ic, &l, &a, &b)?;

    let g1 = FixedBase::<Fp>::new(h.len() + l.len() + a.len() + b.len() + ic.len() + 3);
    let g2 = FixedBase::<Fp2>::new(b.len() + 3);
    let vk = verifying_key(trapdoor, &ic, &g1, &g2);
    Ok(Params { vk, h: g1.mul(&h), l: g1.mul(&l), a: g1.mul(&a), b_g1: g1.mul(&b), b_g2: g2.mul(&b) })
}

/// The same as gnark makes it: without rows for the inputs, with infinity for the variables that are in no row, and the
/// verifying key by itself. For tests.
pub fn setup_gnark(circuit: &Circuit, trapdoor: &Trapdoor) -> Result<(gnark::pk::Params, VerifyingKey)> {
    let KeyScalars { h, a, b, ic, l } = KeyScalars::new(circuit, InputRows::None, trapdoor)?;
    let wires = |all: &[Fr]| {
        let mut words = vec![0u64; all.len().div_ceil(64)];
        let dense = all.iter().enumerate().filter(|(_, value)| !value.is_zero());
        dense.clone().for_each(|(wire, _)| words[wire / 64] |= 1 << (wire % 64));
        (words, dense.map(|(_, value)| *value).collect::<Vec<Fr>>())
    };
    let ((a_wires, a), (b_wires, b)) = (wires(&a), wires(&b));
    let g1 = FixedBase::<Fp>::new(h.len() + l.len() + a.len() + b.len() + ic.len() + 3);
    let g2 = FixedBase::<Fp2>::new(b.len() + 3);
    let vk = verifying_key(trapdoor, &ic, &g1, &g2);
    let params = gnark::pk::Params {
        log_domain: (h.len() + 1).trailing_zeros(),
        alpha1: vk.alpha1,
        beta1: vk.beta1,
        delta1: vk.delta1,
        beta2: vk.beta2,
        delta2: vk.delta2,
        a: g1.mul(&a),
        b_g1: g1.mul(&b),
        h: g1.mul(&h),
        l: g1.mul(&l),
        b_g2: g2.mul(&b),
        num_wires: circuit.num_vars(),
        a_wires,
        b_wires,
    };
    Ok((params, vk))
}

/// Refuses scalars of key points that are zero, and a tau at which a polynomial that is not zero vanishes.
fn check_scalars(circuit: &Circuit, ic: &[Fr], l: &[Fr], a: &[Fr], b: &[Fr]) -> Result<()> {
    if let Some(index) = l.iter().position(Field::is_zero) {
        return Err(Error::invalid(format!("set-up: auxiliary variable {index} is in no row")));
    }
    let densities = circuit.densities();
    let count = |density: &Option<super::density::Density>| density.as_ref().map_or(0, |density| density.count());
    let a_count = circuit.num_inputs() + count(&densities.a_aux);
    let b_count = count(&densities.b_inputs) + count(&densities.b_aux);
    if ic.iter().any(Field::is_zero) || a.len() != a_count || b.len() != b_count {
        return Err(Error::invalid("set-up: tau is a root of one of the circuit's polynomials"));
    }
    Ok(())
}

/// The proof that every right prover makes from this witness (constant one, inputs, aux) with this r and s under
/// bellman's key of this trapdoor: three scalars computed from the trapdoor, times the generators. It shares no step with
/// a prover. `Unsatisfied` names the first row that the witness breaks.
pub fn expected_proof(circuit: &Circuit, trapdoor: &Trapdoor, witness: &[Fr], r: Fr, s: Fr) -> Result<Proof> {
    expected_proof_with(circuit, InputRows::PerInput, trapdoor, witness, r, s)
}

/// The same under a key of any form.
pub fn expected_proof_with(
    circuit: &Circuit,
    input_rows: InputRows,
    trapdoor: &Trapdoor,
    witness: &[Fr],
    r: Fr,
    s: Fr,
) -> Result<Proof> {
    if let Some(row) = circuit.evaluate(witness)?.first_unsatisfied() {
        return Err(Error::new(Status::Unsatisfied, format!("the witness breaks row {row}")));
    }
    let qap = Qap::new(circuit, input_rows, trapdoor.tau)?;
    let combined = qap.combined(trapdoor);
    let dot = |values: &[Fr], from: usize| {
        values.iter().zip(witness).skip(from).fold(Fr::ZERO, |sum, (value, weight)| sum + *value * *weight)
    };
    let (a_tau, b_tau, c_tau) = (dot(&qap.a, 0), dot(&qap.b, 0), dot(&qap.c, 0));
    let delta = trapdoor.delta;
    let a = trapdoor.alpha + a_tau + r * delta;
    let b = trapdoor.beta + b_tau + s * delta;
    // h(tau) (tau^d - 1) = a(tau) b(tau) - c(tau)
    let quotient = a_tau * b_tau - c_tau;
    let c = (dot(&combined, circuit.num_inputs()) + quotient) * delta.inverse() + s * a + r * b - r * s * delta;
    Ok(Proof {
        a: Fp::GENERATOR.mul(&a.to_canonical()).to_affine(),
        b: Fp2::GENERATOR.mul(&b.to_canonical()).to_affine(),
        c: Fp::GENERATOR.mul(&c.to_canonical()).to_affine(),
    })
}

/// Multiples of the generator by windows: `table[w][k - 1]` is `k 2^(w bits)` times it.
pub struct FixedBase<F> {
    bits: usize,
    table: Vec<Vec<Affine<F>>>,
}

impl<F: CurveField> FixedBase<F> {
    /// A table that pays for about `count` multiplications.
    pub fn new(count: usize) -> Self {
        // Each window costs 2^bits additions once and one addition per multiplication.
        let bits = (count.max(1).ilog2() as usize).saturating_sub(2).clamp(4, 12);
        let windows = 256usize.div_ceil(bits);
        let bases: Vec<Jacobian<F>> = {
            let mut base = Jacobian::from(F::GENERATOR);
            let mut next = || {
                let current = base;
                (0..bits).for_each(|_| base = base.double());
                current
            };
            (0..windows).map(|_| next()).collect()
        };
        let table = par::map(windows, |window| {
            let mut multiples = Vec::with_capacity((1 << bits) - 1);
            let mut sum = bases[window];
            for _ in 1..1usize << bits {
                multiples.push(sum);
                sum += bases[window];
            }
            Jacobian::batch_to_affine(&multiples)
        });
        Self { bits, table }
    }

    /// The generator times each scalar; on the pool of the calling thread.
    pub fn mul(&self, scalars: &[Fr]) -> Vec<Affine<F>> {
        let mut out = vec![Affine::INFINITY; scalars.len()];
        par::for_each_chunk_mut(&mut out, par::piece(scalars.len(), 16).min(1024), |start, chunk| {
            let products: Vec<_> = (start..start + chunk.len()).map(|i| self.mul_one(&scalars[i])).collect();
            chunk.copy_from_slice(&Jacobian::batch_to_affine(&products));
        });
        out
    }

    fn mul_one(&self, scalar: &Fr) -> Jacobian<F> {
        let limbs = scalar.to_canonical();
        let mut sum = Jacobian::INFINITY;
        for (window, multiples) in self.table.iter().enumerate() {
            let (limb, shift) = (window * self.bits / 64, window * self.bits % 64);
            let above = limbs.get(limb + 1).filter(|_| shift > 0).map_or(0, |next| next << (64 - shift));
            let digit = ((limbs[limb] >> shift) | above) & ((1 << self.bits) - 1);
            if let Some(multiple) = (digit as usize).checked_sub(1).and_then(|index| multiples.get(index)) {
                sum += *multiple;
            }
        }
        sum
    }
}
