//! The loss over all places of a tensor, and its gradient.
//!
//! Where the part of the loss without `x` has a sum in closed form, kernels go over the stored entries alone. Else they go over all
//! places, with the tensor, the model and the derivative as dense tensors: for what memory has room for.

use super::loss::{Closed, Expression, Rest, Terms};
use super::made;
use crate::decompose::DecomposeError;
use crate::decompose::cp::CpOptions;
use crate::decompose::cp::kernels::{self, Data, Sums, call, call_with, zeros_like};
use crate::decompose::engine::Clock;
use crate::execute::{Input, Kernel};
use crate::tensor::AnyTensor;
use spc_compiler::format::Format;

/// A loss of a tensor as a function of the factors.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) data: Data,
    pub(super) sums: Sums,
    model: Kernel,
    value: (Kernel, Reads),
    derivative: (Kernel, Reads),
    /// For each mode.
    mttkrp: Vec<Kernel>,
    rest: Option<(Rest, Kernel)>,
    /// The model and the derivative, at the places of `data`.
    entries: [AnyTensor; 2],
    /// What the stored entries give to the gradient.
    partial: Vec<AnyTensor>,
    /// Of each factor where the value was asked for last: its Gram matrix, or its column sums.
    of_factors: Vec<Vec<f64>>,
}

/// Which of its two tensors a kernel of an expression reads.
#[derive(Debug, Clone, Copy)]
struct Reads {
    x: bool,
    m: bool,
}

impl Reads {
    fn inputs<'t>(self, x: &'t AnyTensor, m: &'t AnyTensor) -> Vec<&'t dyn Input> {
        let mut inputs: Vec<&dyn Input> = Vec::new();
        inputs.extend(self.x.then_some(x as &dyn Input));
        inputs.extend(self.m.then_some(m as &dyn Input));
        inputs
    }

    fn parameters(self, data: &Data) -> String {
        let parameters = [self.x.then_some("X"), self.m.then_some("M")].into_iter().flatten();
        parameters.map(|name| format!("{name}: {}", data.declaration())).collect::<Vec<_>>().join(", ")
    }
}

impl Whole {
    /// The texts of its kernels are made and compiled; `more` are compiled beside them.
    pub(super) fn new(
        x: &AnyTensor,
        terms: &Terms,
        options: &CpOptions,
        more: impl FnOnce(&str) -> Vec<String>,
    ) -> Result<(Self, std::vec::IntoIter<Kernel>), DecomposeError> {
        let data = match terms.closed {
            Some(_) => Data::of(x, options)?,
            None => dense(x, options)?,
        };
        let closed = terms.closed.as_ref();
        let (value, derivative) =
            closed.map_or((&terms.value, &terms.derivative), |closed| (&closed.value, &closed.derivative));
        let (value, reads_of_value) = value_text(&data, value, closed);
        let (derivative, reads_of_derivative) = derivative_text(&data, derivative);
        let e = data.element().name();
        let over_components = std::iter::once(data.model()).chain((0..data.order()).map(|mode| data.mttkrp(mode)));
        let builders = over_components.map(|text| data.builder(options, text));
        let others = [value, derivative].into_iter().chain(Sums::texts(data.element()));
        let others = others.chain(closed.map(|closed| rest_text(closed.rest, e))).chain(more(e));
        let builders = builders.chain(others.map(|text| options.engine.builder(text)));
        let mut kernels = options.engine.compile(builders.collect())?.into_iter();
        let whole = Self {
            model: made(&mut kernels)?,
            mttkrp: kernels.by_ref().take(data.order()).collect(),
            value: (made(&mut kernels)?, reads_of_value),
            derivative: (made(&mut kernels)?, reads_of_derivative),
            sums: Sums::new(&mut kernels).ok_or(DecomposeError::Algebra("a kernel is missing"))?,
            rest: closed.map(|closed| Ok::<_, DecomposeError>((closed.rest, made(&mut kernels)?))).transpose()?,
            entries: [data.alike()?, data.alike()?],
            partial: Vec::new(),
            of_factors: Vec::new(),
            data,
        };
        Ok((whole, kernels))
    }

    /// The loss of a model.
    pub(super) fn value(&mut self, clock: &Clock, factors: &[AnyTensor]) -> Result<f64, DecomposeError> {
        let Self { data, sums, model, value, rest, entries: [m, _], of_factors, .. } = self;
        let x = &data.tensor;
        call_with(clock, model, (x, factors, None), &[], &mut *m)?;
        let mut loss = 0.0f64;
        call(clock, &value.0, &value.1.inputs(x, m), &mut loss)?;
        let Some((rest, _)) = rest else { return Ok(loss) };
        of_factors.clear();
        for factor in factors {
            of_factors.push(match rest {
                Rest::Square => sums.gram(clock, factor)?,
                Rest::Linear => sums.magnitudes(clock, factor)?,
            });
        }
        Ok(loss + product(of_factors, None).iter().sum::<f64>())
    }

    /// The gradient where the value was asked for last.
    pub(super) fn gradient(
        &mut self,
        clock: &Clock,
        factors: &[AnyTensor],
        gradient: &mut [AnyTensor],
    ) -> Result<(), DecomposeError> {
        if self.partial.is_empty() && self.rest.is_some() {
            self.partial = zeros_like(factors)?;
        }
        let Self { data, derivative, mttkrp, rest, entries: [m, d], partial, of_factors, .. } = self;
        call(clock, &derivative.0, &derivative.1.inputs(&data.tensor, m), &mut *d)?;
        for (mode, gradient) in gradient.iter_mut().enumerate() {
            let inputs = (&*d, factors, Some(mode));
            let Some((rest, add)) = rest else {
                call_with(clock, &mttkrp[mode], inputs, &[], gradient)?;
                continue;
            };
            call_with(clock, &mttkrp[mode], inputs, &[], &mut partial[mode])?;
            let mut others = product(of_factors, Some(mode));
            let rank = factors[mode].shape()[1];
            match rest {
                Rest::Square => {
                    others.iter_mut().for_each(|element| *element *= 2.0);
                    let others = kernels::dense(vec![rank, rank], &others, data.element())?;
                    call(clock, add, &[&partial[mode], &factors[mode], &others], gradient)?;
                }
                Rest::Linear => {
                    let others = kernels::vector(&others, data.element())?;
                    call(clock, add, &[&partial[mode], &others], gradient)?;
                }
            }
        }
        Ok(())
    }
}

/// The products of the elements of all but one.
fn product(of_factors: &[Vec<f64>], except: Option<usize>) -> Vec<f64> {
    let mut product = vec![1.0; of_factors.first().map_or(0, Vec::len)];
    for (_, of_factor) in of_factors.iter().enumerate().filter(|(mode, _)| Some(*mode) != except) {
        product.iter_mut().zip(of_factor).for_each(|(product, element)| *product *= element);
    }
    product
}

/// `v`: the sum of an expression over the places of the tensor.
fn value_text(data: &Data, value: &Expression, closed: Option<&Closed>) -> (String, Reads) {
    let reads = Reads { x: value.reads("x"), m: value.reads("m") };
    let text = value.with(&data.access("X"), &data.access("M"));
    // What is summed in closed form leaves products with `x`, each of which is summed over the stored entries by itself. Else the tensor
    // is dense, and terms without an index count at all places.
    let loops = crate::decompose::engine::indices(data.order()).join(", ");
    let (text, schedule) = match closed {
        Some(_) => (text, if reads.m { "schedule { same_pattern(X, M); }" } else { "" }),
        None => (format!("sum({loops}){text}"), ""),
    };
    (format!("fn value({}) -> v: f64 {{ v = {text}; }} {schedule}", reads.parameters(data)), reads)
}

/// `D`: an expression at the places of the tensor.
fn derivative_text(data: &Data, derivative: &Expression) -> (String, Reads) {
    let reads = Reads { x: true, m: derivative.reads("m") };
    let (x, m, d) = (data.access("X"), data.access("M"), data.access("D"));
    let text = derivative.with(&x, &m);
    let is_sparse = !data.tensor.format().is_dense();
    let schedule = if reads.m && is_sparse { "schedule { same_pattern(X, M); }" } else { "" };
    let (declaration, parameters) = (data.declaration(), reads.parameters(data));
    (format!("fn derivative({parameters}) -> D: {declaration} {{ {d} = {text} where {x}; }} {schedule}"), reads)
}

/// `G`: the gradient of all, where that of the stored entries is `Y`.
fn rest_text(rest: Rest, e: &str) -> String {
    match rest {
        Rest::Square => format!(
            "fn add(Y: {e} dense, A: {e} dense, H: {e} dense) -> G: {e} dense {{
                 G(i, r) = Y(i, r) + A(i, q) * H(q, r);
             }}"
        ),
        Rest::Linear => {
            format!("fn add(Y: {e} dense, h: {e} dense) -> G: {e} dense {{ G(i, r) = Y(i, r) + h(r); }}")
        }
    }
}

/// The tensor with an element at each place, where there is memory for it, the model and the derivative.
fn dense(x: &AnyTensor, options: &CpOptions) -> Result<Data, DecomposeError> {
    let limit = options.memory.unwrap_or_else(|| crate::memory::available() / 2);
    let size = 3 * std::mem::size_of::<f64>() as u64;
    let places = x.shape().iter().try_fold(1u64, |places, &extent| places.checked_mul(extent as u64));
    if places.and_then(|places| places.checked_mul(size)).is_none_or(|bytes| bytes > limit) {
        let count = x.shape().iter().map(|&extent| extent as f64).product::<f64>();
        return Err(DecomposeError::Option(format!(
            "this loss is computed at all places of the tensor, of which there are {count:.3e}: that takes {:.3e} bytes, \
             and {:.3e} are allowed; use the optimizer Adam, which takes samples, or a larger memory budget",
            count * size as f64,
            limit as f64
        )));
    }
    Data::stored(x, &Format::dense(x.order()), options)
}
