//! Systems of linear equations with a sparse matrix: Krylov methods, incomplete factorizations, triangular solves.
//!
//! ```
//! use spc::linalg::{self, Incomplete, Stop};
//! use spc::tensor::{Csr, Tensor};
//!
//! let n = 100_usize;
//! let entries = (0..n).flat_map(|i| [(i, i.wrapping_sub(1), -1.0), (i, i, 4.0), (i, i + 1, -1.0)]);
//! let entries = entries.filter(|&(_, j, _)| j < n).map(|(i, j, value)| ([i, j], value));
//! let a: Tensor<f64, Csr> = Tensor::from_entries([n, n], entries)?;
//! let found = linalg::cg(&a, &vec![1.0; n], Some(&Incomplete::ic(&a, 0.0)?), &Stop::default())?;
//! assert!(found.converged && found.rounds < 10);
//! assert!((4.0 * found.x[50] - found.x[49] - found.x[51] - 1.0).abs() < 1e-4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Matrices are `f64`, in `csr` with positions and coordinates of 32 bits, as kernels take them: [`Tensor`](crate::Tensor) in
//! [`Csr`](crate::tensor::Csr), an [`AnyTensor`], a view. The methods are texts of the language with a `repeat`, compiled once.

use crate::execute::{Input, Kernel, Outputs, ProgramError};
use crate::tensor::AnyTensor;
use std::sync::OnceLock;

/// When a method ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Stop {
    /// The norm of the residual that is small enough, as a part of the norm of the right-hand side.
    pub tolerance: f64,
    /// The most rounds.
    pub most: usize,
}

impl Default for Stop {
    /// A residual of 10⁻⁵, and 10,000 rounds.
    fn default() -> Self {
        Self { tolerance: 1e-5, most: 10_000 }
    }
}

/// What a method has found.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The solution, or the last approximation.
    pub x: Vec<f64>,
    /// The number of rounds.
    pub rounds: usize,
    /// Whether the residual became as small as it was to be.
    pub converged: bool,
    /// The norm of the residual after each round, as a part of that of the right-hand side.
    pub history: Vec<f64>,
}

/// Which half of a matrix is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Triangle {
    /// The diagonal, and what is left of it.
    Lower,
    /// The diagonal, and what is right of it.
    Upper,
}

/// A kernel that is compiled when it is needed first.
struct Once {
    kernel: OnceLock<Kernel>,
    text: fn() -> String,
}

impl Once {
    const fn new(text: fn() -> String) -> Self {
        Self { kernel: OnceLock::new(), text }
    }

    fn get(&self) -> Result<&Kernel, ProgramError> {
        if self.kernel.get().is_none() {
            let made = Kernel::builder((self.text)()).background().compile()?;
            // Where another thread was faster, that one's stays.
            _ = self.kernel.set(made);
        }
        Ok(self.kernel.get().expect("it has just been set"))
    }
}

/// The solution of a triangular system. Of the matrix, the triangle alone is read.
///
/// # Errors
/// When the matrix is not of shape `n x n`, or a number on its diagonal is zero: the message has its place.
pub fn solve_triangular(matrix: &dyn Input, b: &[f64], triangle: Triangle) -> Result<Vec<f64>, ProgramError> {
    static LOWER: Once = Once::new(|| solve("<"));
    static UPPER: Once = Once::new(|| solve(">"));
    let kernel = match triangle {
        Triangle::Lower => &LOWER,
        Triangle::Upper => &UPPER,
    };
    vector(kernel.get()?.call(&[&matrix, &b.to_vec()])?, "x")
}

fn solve(before: &str) -> String {
    let terms = format!("sum(j)(A(i, j) * x(j) where j {before} i)");
    format!("fn solve(A: csr, b: dense) -> x: dense {{ x(i) = (b(i) - {terms}) / A(i, i); }}")
}

/// A matrix that is almost another, has entries where that has, and that one can solve with: a preconditioner.
///
/// It is `L D⁻¹ U`, where `L` and `U` are the triangles of the [factors](Incomplete::factors), both with the diagonal `D`.
#[derive(Debug, Clone, PartialEq)]
pub struct Incomplete {
    factors: AnyTensor,
}

impl Incomplete {
    /// The incomplete factorization of a matrix into triangles, ILU(0).
    ///
    /// # Errors
    /// When the matrix is not of shape `n x n`, or a pivot is zero or not stored: the message has its place.
    pub fn ilu(matrix: &dyn Input) -> Result<Self, ProgramError> {
        static ILU: Once = Once::new(|| {
            "fn ilu(A: csr) -> F: csr {
                 F(i, j) = A(i, j) - sum(k)(F(i, k) * F(k, j) / F(k, k) where k < i && k < j) where A(i, j);
             }"
            .to_owned()
        });
        Self { factors: ILU.get()?.call(&[&matrix])?.take("F")? }.checked()
    }

    /// The incomplete Cholesky factorization of a symmetric positive definite matrix, IC(0), of which the lower triangle is read. The
    /// diagonal is multiplied by `1 + shift` first, which makes a factorization possible where it is not.
    ///
    /// # Errors
    /// As [`Incomplete::ilu`].
    pub fn ic(matrix: &dyn Input, shift: f64) -> Result<Self, ProgramError> {
        static IC: Once = Once::new(|| {
            "fn ic(A: csr, shift: f64) -> L: csr {
                 let T(i, j): csr = A(i, j) * select(i == j, 1 + shift, 1) where A(i, j) && j <= i;
                 L(i, j) = T(i, j) - sum(k)(L(i, k) * L(j, k) / L(k, k) where k < j && j <= i) where T(i, j);
             }"
            .to_owned()
        });
        static BOTH: Once = Once::new(|| {
            "fn both(L: csr) -> F: csr {
                 let U(j, i): csr = L(i, j) where L(i, j) && j < i;
                 F(i, j) = L(i, j) + U(i, j);
             }"
            .to_owned()
        });
        let lower: AnyTensor = IC.get()?.call(&[&matrix, &shift])?.take("L")?;
        Self { factors: BOTH.get()?.call(&[&lower])?.take("F")? }.checked()
    }

    /// Both triangles, with one diagonal.
    pub fn factors(&self) -> &AnyTensor {
        &self.factors
    }

    /// The solution of both triangular systems.
    ///
    /// # Errors
    /// When `b` has another length, or a number on the diagonal is zero.
    pub fn solve(&self, b: &[f64]) -> Result<Vec<f64>, ProgramError> {
        static SOLVE: Once = Once::new(|| {
            let solve = with("z", "y", "b");
            format!("fn solve(F: csr, b: dense) -> z: dense {{ {} }}", solve.replace("let z(i): dense", "z(i)"))
        });
        vector(SOLVE.get()?.call(&[&self.factors, &b.to_vec()])?, "z")
    }

    /// The same, where every pivot can be divided by.
    fn checked(self) -> Result<Self, ProgramError> {
        let rows = self.factors.shape()[0];
        self.solve(&vec![1.0; rows]).map(|_| self)
    }
}

/// Statements that solve with a preconditioner `F`: `to` is the solution for `from`.
fn with(to: &str, between: &str, from: &str) -> String {
    format!(
        "let {between}(i): dense = ({from}(i) - sum(j)(F(i, j) * {between}(j) where j < i)) / F(i, i);
         let {to}(i): dense = {between}(i) - sum(j)(F(i, j) * {to}(j) where j > i) / F(i, i);"
    )
}

/// Conjugate gradients, for a symmetric positive definite matrix, with a preconditioner that is [symmetric](Incomplete::ic).
///
/// # Errors
/// When the matrix is not of shape `n x n`, or the method breaks down: a norm is no number.
pub fn cg(
    matrix: &dyn Input,
    b: &[f64],
    preconditioner: Option<&Incomplete>,
    stop: &Stop,
) -> Result<Solution, ProgramError> {
    static PLAIN: Once = Once::new(|| conjugate_gradients("", "let z0(i): dense = r(i);", "let z(i): dense = r'(i);"));
    static WITH: Once = Once::new(|| conjugate_gradients("F: csr, ", &with("z0", "y0", "r"), &with("z", "y", "r'")));
    run(if preconditioner.is_some() { &WITH } else { &PLAIN }, matrix, b, preconditioner, stop)
}

fn conjugate_gradients(parameter: &str, first: &str, next: &str) -> String {
    format!(
        "fn cg(A: csr, {parameter}b: dense, goal: f64, most: i64) -> (x: dense, rounds: i64) {{
             x(i) = 0 * b(i);
             let r(i) = b(i);
             {first}
             let p(i) = z0(i);
             let rz = r(i) * z0(i);
             repeat rounds until norm2(i)(r'(i)) / goal <= 1 or most {{
                 let q(i): dense = A(i, j) * p(j);
                 let alpha = rz / sum(i)(p(i) * q(i));
                 x'(i) = x(i) + alpha * p(i);
                 r'(i) = r(i) - alpha * q(i);
                 {next}
                 rz' = r'(i) * z(i);
                 p'(i) = z(i) + rz' / rz * p(i);
             }}
         }}"
    )
}

/// Stabilized biconjugate gradients, for any matrix and preconditioner.
///
/// # Errors
/// As [`cg`].
pub fn bicgstab(
    matrix: &dyn Input,
    b: &[f64],
    preconditioner: Option<&Incomplete>,
    stop: &Stop,
) -> Result<Solution, ProgramError> {
    static PLAIN: Once = Once::new(|| biconjugate("", "let ph(i): dense = p(i);", "let sh(i): dense = s(i);"));
    static WITH: Once = Once::new(|| biconjugate("F: csr, ", &with("ph", "pm", "p"), &with("sh", "sm", "s")));
    run(if preconditioner.is_some() { &WITH } else { &PLAIN }, matrix, b, preconditioner, stop)
}

fn biconjugate(parameter: &str, of_p: &str, of_s: &str) -> String {
    format!(
        "fn bicgstab(A: csr, {parameter}b: dense, goal: f64, most: i64) -> (x: dense, rounds: i64) {{
             x(i) = 0 * b(i);
             let r(i) = b(i);
             let p(i) = b(i);
             let rho = b(i) * b(i);
             repeat rounds until norm2(i)(r'(i)) / goal <= 1 or most {{
                 {of_p}
                 let v(i): dense = A(i, j) * ph(j);
                 let alpha = rho / sum(i)(b(i) * v(i));
                 let s(i): dense = r(i) - alpha * v(i);
                 {of_s}
                 let t(i): dense = A(i, j) * sh(j);
                 let tt = t(i) * t(i);
                 let omega = select(tt > 0, sum(i)(t(i) * s(i)) / tt, 0);
                 x'(i) = x(i) + alpha * ph(i) + omega * sh(i);
                 r'(i) = s(i) - omega * t(i);
                 rho' = b(i) * r'(i);
                 let beta = select(omega != 0, rho' / rho * (alpha / omega), 0);
                 p'(i) = r'(i) + beta * (p(i) - omega * v(i));
             }}
         }}"
    )
}

fn run(
    kernel: &Once,
    matrix: &dyn Input,
    b: &[f64],
    preconditioner: Option<&Incomplete>,
    stop: &Stop,
) -> Result<Solution, ProgramError> {
    let norm = b.iter().map(|value| value * value).sum::<f64>().sqrt();
    if norm == 0.0 {
        return Ok(Solution { x: vec![0.0; b.len()], rounds: 0, converged: true, history: Vec::new() });
    }
    let (b, goal, most) = (b.to_vec(), stop.tolerance * norm, i64::try_from(stop.most).unwrap_or(i64::MAX));
    let mut inputs: Vec<&dyn Input> = vec![&matrix];
    inputs.extend(preconditioner.map(|preconditioner| &preconditioner.factors as &dyn Input));
    inputs.extend([&b as &dyn Input, &goal, &most]);
    let found = kernel.get()?.call(&inputs)?;
    let rounds = found.rounds().cloned().unwrap_or_default();
    let history = rounds.history.iter().map(|part| part * stop.tolerance).collect();
    Ok(Solution { x: vector(found, "x")?, rounds: rounds.steps, converged: rounds.is_met, history })
}

/// The elements of a dense result.
fn vector(mut results: Outputs, name: &str) -> Result<Vec<f64>, ProgramError> {
    let tensor: AnyTensor = results.take(name)?;
    Ok(tensor.values_of::<f64>().map(<[f64]>::to_vec).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::{Csr, Tensor};

    type Entries = Vec<([usize; 2], f64)>;

    /// A matrix of a grid, with other numbers above the diagonal where it is not to be symmetric.
    fn matrix(side: usize, above: f64) -> (Tensor<f64, Csr>, Entries) {
        let n = side * side;
        let mut entries = Vec::new();
        for i in 0..n {
            entries.push(([i, i], 4.1));
            for j in [i + 1, i + side].into_iter().filter(|&j| j < n && (j != i + 1 || j % side != 0)) {
                entries.push(([i, j], above));
                entries.push(([j, i], -1.0));
            }
        }
        (Tensor::from_entries([n, n], entries.clone()).unwrap(), entries)
    }

    /// The norm of `b - A x` as a part of that of `b`.
    fn residual(a: &Entries, x: &[f64], b: &[f64]) -> f64 {
        let mut r = b.to_vec();
        a.iter().for_each(|([i, j], value)| r[*i] -= value * x[*j]);
        let norm = |of: &[f64]| of.iter().map(|value| value * value).sum::<f64>().sqrt();
        norm(&r) / norm(b)
    }

    #[test]
    fn methods_converge_and_preconditioners_help() {
        let ((symmetric, entries), (other, others)) = (matrix(12, -1.0), matrix(12, -0.7));
        let b: Vec<f64> = (0..144).map(|place| f64::from(place % 7) - 2.0).collect();
        let stop = Stop { tolerance: 1e-10, most: 500 };
        let (ic, ilu) = (Incomplete::ic(&symmetric, 0.0).unwrap(), Incomplete::ilu(&other).unwrap());
        for (a, found, helped) in [
            (&entries, cg(&symmetric, &b, None, &stop), cg(&symmetric, &b, Some(&ic), &stop)),
            (&others, bicgstab(&other, &b, None, &stop), bicgstab(&other, &b, Some(&ilu), &stop)),
        ] {
            let (found, helped) = (found.unwrap(), helped.unwrap());
            for solution in [&found, &helped] {
                assert!(solution.converged && residual(a, &solution.x, &b) < 1e-9, "{}", solution.rounds);
                assert_eq!(solution.history.len(), solution.rounds);
                assert!(*solution.history.last().unwrap() <= 1e-10);
            }
            assert!(helped.rounds < found.rounds, "{} and {}", helped.rounds, found.rounds);
        }
        let few = cg(&symmetric, &b, None, &Stop { tolerance: 1e-10, most: 3 }).unwrap();
        assert_eq!((few.rounds, few.converged, few.history.len()), (3, false, 3));
        let nothing = cg(&symmetric, &[0.0; 144], None, &stop).unwrap();
        assert_eq!((nothing.rounds, nothing.converged, nothing.x[7]), (0, true, 0.0));
    }

    #[test]
    fn triangles_are_solved_with() {
        let (a, entries) = matrix(5, -0.5);
        let b: Vec<f64> = (0..25).map(f64::from).collect();
        for (triangle, keeps) in
            [(Triangle::Lower, i64::is_negative as fn(i64) -> bool), (Triangle::Upper, i64::is_positive)]
        {
            let x = solve_triangular(&a, &b, triangle).unwrap();
            let mut r = b.clone();
            for ([i, j], value) in &entries {
                if i == j || keeps(*j as i64 - *i as i64) {
                    r[*i] -= value * x[*j];
                }
            }
            assert!(r.iter().all(|value| value.abs() < 1e-12), "{triangle:?}");
        }
        let singular: Tensor<f64, Csr> = Tensor::from_entries([2, 2], [([0, 0], 1.0), ([1, 0], 2.0)]).unwrap();
        for message in [
            solve_triangular(&singular, &[1.0, 1.0], Triangle::Lower).unwrap_err().to_string(),
            Incomplete::ilu(&singular).unwrap_err().to_string(),
        ] {
            assert!(message.contains("(1, 1)"), "{message}");
        }
        assert!(cg(&a, &[1.0; 3], None, &Stop::default()).unwrap_err().to_string().contains("extent"));
    }
}
