//! Each kernel as a line of the language, with its operands and its loop by hand.

use crate::Failure;
use crate::hand::{self, Scalar};
use spc::generate::random_dense;
use spc::tensor::{AnyTensor, Coordinates, Duplicates, pack};
use spc_compiler::format::{Format, LevelFormat};
use std::sync::Arc;
use std::time::Duration;

/// A tensor to measure on: a matrix as CSR, more modes as compressed sparse fibers.
pub(crate) struct Data {
    /// What it is called in the report.
    pub(crate) name: String,
    /// Its entries.
    pub(crate) tensor: AnyTensor,
}

impl Data {
    pub(crate) fn new<T: Scalar>(name: String, entries: Coordinates<T>) -> Result<Self, Failure> {
        let format = match entries.shape.len() {
            2 => Format::of_levels([LevelFormat::DENSE, LevelFormat::COMPRESSED]),
            order @ 3..=5 => Format::csf(order),
            order => return Err(format!("{name}: there are no kernels for tensors of order {order}").into()),
        };
        Ok(Self { name, tensor: pack(entries, &format, Duplicates::Sum)? })
    }
}

/// A loop by hand: writes the values of the result and says how long it took.
pub(crate) type Hand<T> = Arc<dyn Fn(&mut [T]) -> Duration + Send + Sync>;

/// One kernel on one tensor.
#[derive(Clone)]
pub(crate) struct Case<T> {
    /// What it is called in the report.
    pub(crate) name: String,
    /// The kernel.
    pub(crate) source: String,
    /// Whether it is compiled for the extents of its vector loops.
    pub(crate) constant_extents: bool,
    /// Its operands.
    pub(crate) inputs: Vec<AnyTensor>,
    /// The same by hand, where that is written.
    pub(crate) hand: Option<Hand<T>>,
}

/// Names for modes, `r` excepted, which is the rank.
const MODES: [&str; 5] = ["i", "j", "k", "l", "m"];
const FACTORS: [&str; 4] = ["B", "C", "D", "E"];

/// All cases of a tensor.
pub(crate) fn cases<T: Scalar>(data: &Data) -> Result<Vec<Case<T>>, Failure> {
    let x = &data.tensor;
    if x.order() == 2 { matrix_cases(x) } else { tensor_cases(x) }
}

fn matrix_cases<T: Scalar>(a: &AnyTensor) -> Result<Vec<Case<T>>, Failure> {
    let ty = T::TYPE.name();
    let (rows, columns) = (a.shape()[0], a.shape()[1]);
    let vector = random_dense(&[columns], T::TYPE, 3)?;
    let right = random_dense(&[columns, 32], T::TYPE, 4)?;
    let left = random_dense(&[rows, 32], T::TYPE, 5)?;
    let spmm = format!("fn spmm(A: {ty} csr, X: {ty} dense) -> Y: {ty} dense {{ Y(i, r) = A(i, j) * X(j, r); }}");
    let mut cases = vec![
        case(
            "SpMV".to_owned(),
            format!("fn spmv(A: {ty} csr, x: {ty} dense) -> y: {ty} dense {{ y(i) = A(i, j) * x(j); }}"),
            [a, &vector],
            |inputs, y| hand::ttv(&inputs[0], &inputs[1], y),
        ),
        case("SpMM 32".to_owned(), spmm, [a, &right], |inputs, y| hand::ttm::<T, 32>(&inputs[0], &inputs[1], y)),
        case(
            "SDDMM 32".to_owned(),
            format!(
                "fn sddmm(A: {ty} csr, B: {ty} dense, C: {ty} dense) -> Y: {ty} csr \
                 {{ Y(i, j) = A(i, j) * B(i, r) * C(j, r); }}"
            ),
            [a, &left, &right],
            |inputs, y| hand::sddmm::<T, 32>(&inputs[0], &inputs[1], &inputs[2], y),
        ),
    ];
    cases.push(unknown_extents(&cases[1]));
    Ok(cases)
}

fn tensor_cases<T: Scalar>(x: &AnyTensor) -> Result<Vec<Case<T>>, Failure> {
    let (ty, last) = (T::TYPE.name(), x.order() - 1);
    let (modes, fiber_modes) = (MODES[..=last].join(", "), MODES[..last].join(", "));
    let last_mode = MODES[last];
    let vector = random_dense(&[x.shape()[last]], T::TYPE, 3)?;
    let matrix = random_dense(&[x.shape()[last], 16], T::TYPE, 4)?;
    let compressed = vec!["compressed"; last].join(", ");
    let mut cases = vec![
        case(
            "TTV".to_owned(),
            format!(
                "fn ttv(X: {ty} csf, v: {ty} dense) -> Y: {ty} csf {{ Y({fiber_modes}) = X({modes}) * v({last_mode}); }}"
            ),
            [x, &vector],
            |inputs, y| hand::ttv(&inputs[0], &inputs[1], y),
        ),
        case(
            "TTM 16".to_owned(),
            format!(
                "fn ttm(X: {ty} csf, U: {ty} dense) -> Y: {ty} [{compressed}, dense] \
                 {{ Y({fiber_modes}, r) = X({modes}) * U({last_mode}, r); }}"
            ),
            [x, &matrix],
            |inputs, y| hand::ttm::<T, 16>(&inputs[0], &inputs[1], y),
        ),
    ];
    for rank in [16, 32] {
        cases.extend(mttkrp_cases(x, rank)?);
    }
    Ok(cases)
}

/// MTTKRP over each mode; over the first also for a rank that is not known when it is compiled.
fn mttkrp_cases<T: Scalar>(x: &AnyTensor, rank: usize) -> Result<Vec<Case<T>>, Failure> {
    let mut cases = Vec::new();
    for mode in 0..x.order() {
        let others: Vec<usize> = (0..x.order()).filter(|&other| other != mode).collect();
        let factor = |&other: &usize| random_dense(&[x.shape()[other], rank], T::TYPE, other as u64);
        let factors = others.iter().map(factor).collect::<Result<Vec<_>, _>>()?;
        let inputs = std::iter::once(x).chain(&factors);
        let (name, source) = (format!("MTTKRP {rank} mode {}", mode + 1), mttkrp_source::<T>(mode, &others));
        if mode > 0 {
            cases.push(Case { name, source, constant_extents: true, inputs: inputs.cloned().collect(), hand: None });
            continue;
        }
        let mut known = case(name, source, inputs, mttkrp_by_hand::<T>(rank));
        known.name = format!("MTTKRP {rank}");
        cases.push(unknown_extents(&known));
        cases.insert(0, known);
    }
    Ok(cases)
}

fn mttkrp_by_hand<T: Scalar>(rank: usize) -> fn(&[AnyTensor], &mut [T]) -> Duration {
    match rank {
        16 => |inputs, a| hand::mttkrp::<T, 16>(&inputs[0], &inputs[1..], a),
        _ => |inputs, a| hand::mttkrp::<T, 32>(&inputs[0], &inputs[1..], a),
    }
}

/// `fn mttkrp(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }` over any mode.
fn mttkrp_source<T: Scalar>(mode: usize, others: &[usize]) -> String {
    let (ty, modes) = (T::TYPE.name(), MODES[..=others.len()].join(", "));
    let factors = || FACTORS.iter().zip(others);
    let parameters: String = factors().map(|(factor, _)| format!(", {factor}: {ty} dense")).collect();
    let product: String = factors().map(|(factor, &other)| format!(" * {factor}({}, r)", MODES[other])).collect();
    let target = MODES[mode];
    format!("fn mttkrp(X: {ty} csf{parameters}) -> A: {ty} dense {{ A({target}, r) = X({modes}){product}; }}")
}

fn case<'a, T: Scalar>(
    name: String,
    source: String,
    inputs: impl IntoIterator<Item = &'a AnyTensor>,
    hand: impl Fn(&[AnyTensor], &mut [T]) -> Duration + Send + Sync + 'static,
) -> Case<T> {
    let inputs: Vec<AnyTensor> = inputs.into_iter().cloned().collect();
    let shared = inputs.clone();
    let hand: Hand<T> = Arc::new(move |result| hand(&shared, result));
    Case { name, source, constant_extents: true, inputs, hand: Some(hand) }
}

/// The same for extents that come with the call.
fn unknown_extents<T: Scalar>(known: &Case<T>) -> Case<T> {
    Case { name: format!("{} at run time", known.name), constant_extents: false, ..known.clone() }
}
