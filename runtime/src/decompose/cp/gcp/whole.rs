//! The loss over all places of a tensor, and its gradient.
//!
//! Where the part of the loss without `x` has a sum in closed form, kernels go over the stored entries alone. Else they go over all
//! places, with the tensor, the model and the derivative as dense tensors: for what memory has room for.

use super::loss::{Closed, Expression, Reads, Rest, Terms};
use crate::decompose::DecomposeError;
use crate::decompose::cp::CpOptions;
use crate::decompose::cp::batch::{Batch, Compiled};
use crate::decompose::cp::columns::{Columns, Size, product};
use crate::decompose::cp::stored::Stored;
use crate::decompose::elements::{self, zeros};
use crate::decompose::engine::indices;
use crate::memory::budget;
use crate::tensor::AnyTensor;
use spc_compiler::format::Format;

/// A loss of a tensor as a function of the factors; kernels are places in a batch.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) data: Stored,
    pub(super) columns: Columns,
    model: usize,
    value: (usize, Reads),
    derivative: (usize, Reads),
    /// For each mode.
    mttkrp: Vec<usize>,
    rest: Option<(Rest, usize)>,
    /// The model and the derivative, at the places of `data`.
    entries: [AnyTensor; 2],
    /// What the stored entries give to the gradient.
    partial: Vec<AnyTensor>,
    /// Of each factor where the value was asked for last: its Gram matrix, or its column sums.
    of_factors: Vec<Vec<f64>>,
}

impl Whole {
    /// Adds its kernels to a batch.
    pub(super) fn new(
        x: &AnyTensor,
        terms: &Terms,
        options: &CpOptions,
        batch: &mut Batch<'_>,
    ) -> Result<Self, DecomposeError> {
        let data = match terms.closed {
            Some(_) => Stored::of(x, options)?,
            None => dense(x, options)?,
        };
        let closed = terms.closed.as_ref();
        let (value, derivative) =
            closed.map_or((&terms.value, &terms.derivative), |closed| (&closed.value, &closed.derivative));
        let (value, reads_of_value) = value_text(&data, value, closed);
        let (derivative, reads_of_derivative) = at_entries(&data, derivative);
        let element = data.element();
        let rest = closed.map(|closed| (closed.rest, batch.add_text(rest_text(closed.rest, element.name()), &[])));
        Ok(Self {
            columns: Columns::new(batch, options.rank, element, Size::Sum)?,
            model: data.add(batch, data.model()),
            mttkrp: data.add_mttkrps(batch),
            value: (batch.add_text(value, &[]), reads_of_value),
            derivative: (batch.add_text(derivative, &[]), reads_of_derivative),
            rest,
            entries: [data.alike()?, data.alike()?],
            partial: if closed.is_some() { zeros(x.shape(), options.rank, element)? } else { Vec::new() },
            of_factors: Vec::new(),
            data,
        })
    }

    /// The loss of a model.
    pub(super) fn value(&mut self, compiled: &Compiled, factors: &[AnyTensor]) -> Result<f64, DecomposeError> {
        let Self { data, columns, model, value, rest, entries: [m, _], of_factors, .. } = self;
        let x = &data.tensor;
        compiled.call_with(*model, (x, factors, None), &[], &mut *m)?;
        let mut loss = 0.0f64;
        compiled.call(value.0, &value.1.inputs(x, m), &mut loss)?;
        let Some((rest, _)) = rest else { return Ok(loss) };
        of_factors.clear();
        for factor in factors {
            of_factors.push(match rest {
                Rest::Square => columns.gram(compiled, factor)?,
                Rest::Linear => columns.sizes(compiled, factor)?,
            });
        }
        Ok(loss + product(of_factors, None).iter().sum::<f64>())
    }

    /// The gradient where the value was asked for last.
    pub(super) fn gradient(
        &mut self,
        compiled: &Compiled,
        factors: &[AnyTensor],
        gradient: &mut [AnyTensor],
    ) -> Result<(), DecomposeError> {
        let Self { data, derivative, mttkrp, rest, entries: [m, d], partial, of_factors, .. } = self;
        compiled.call(derivative.0, &derivative.1.inputs(&data.tensor, m), &mut *d)?;
        for (mode, gradient) in gradient.iter_mut().enumerate() {
            let inputs = (&*d, factors, Some(mode));
            let Some((rest, add)) = rest else {
                compiled.call_with(mttkrp[mode], inputs, &[], gradient)?;
                continue;
            };
            compiled.call_with(mttkrp[mode], inputs, &[], &mut partial[mode])?;
            let mut others = product(of_factors, Some(mode));
            let rank = factors[mode].shape()[1];
            match rest {
                Rest::Square => {
                    others.iter_mut().for_each(|element| *element *= 2.0);
                    let others = elements::dense(&[rank, rank], &others, data.element())?;
                    compiled.call(*add, &[&partial[mode], &factors[mode], &others], gradient)?;
                }
                Rest::Linear => {
                    let others = elements::dense(&[rank], &others, data.element())?;
                    compiled.call(*add, &[&partial[mode], &others], gradient)?;
                }
            }
        }
        Ok(())
    }
}

/// `X: f64 dense, M: f64 dense`
fn parameters(reads: Reads, data: &Stored) -> String {
    reads.names().map(|name| format!("{name}: {}", data.declaration())).collect::<Vec<_>>().join(", ")
}

/// `v`: the sum of an expression over the places of the tensor.
fn value_text(data: &Stored, value: &Expression, closed: Option<&Closed>) -> (String, Reads) {
    let reads = Reads::of(value);
    let text = value.with(&data.access("X"), &data.access("M"));
    // What is summed in closed form leaves a product with `x`, which is summed over the stored entries. Else the tensor is dense, and terms
    // without an index count at all places.
    let loops = indices(data.order()).join(", ");
    let (text, schedule) = match closed {
        Some(_) => (text, if reads.m { "schedule { same_pattern(X, M); }" } else { "" }),
        None => (format!("sum({loops}){text}"), ""),
    };
    (format!("fn value({}) -> v: f64 {{ v = {text}; }} {schedule}", parameters(reads, data)), reads)
}

/// `D`: an expression at the places of the tensor, with what it reads.
pub(super) fn at_entries(data: &Stored, derivative: &Expression) -> (String, Reads) {
    let reads = Reads { x: true, ..Reads::of(derivative) };
    let (x, m, d) = (data.access("X"), data.access("M"), data.access("D"));
    let text = derivative.with(&x, &m);
    let is_sparse = !data.tensor.format().is_dense();
    let schedule = if reads.m && is_sparse { "schedule { same_pattern(X, M); }" } else { "" };
    let (declaration, parameters) = (data.declaration(), parameters(reads, data));
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
fn dense(x: &AnyTensor, options: &CpOptions) -> Result<Stored, DecomposeError> {
    let limit = budget(options.memory);
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
    Stored::in_format(x, &Format::dense(x.order()), options)
}

#[cfg(test)]
mod tests {
    use super::super::Loss;
    use super::*;
    use crate::decompose::Start;
    use crate::decompose::cp::testing::{counts, format, from, interpreted};
    use crate::tensor::ElementType;

    fn rayleigh() -> Loss {
        Loss::Given {
            value: "2 * ln(m + 1e-10) + 0.78539816339744830962 * pow(x / (m + 1e-10), 2)".to_owned(),
            derivative: "2 / (m + 1e-10) - 1.57079632679489661923 * x * x / pow(m + 1e-10, 3)".to_owned(),
            least: Some(0.0),
        }
    }

    /// pyttb 1.8.6: `gcp.fg.evaluate` of `handles.gaussian` and so on; of each gradient the first element, the last, and the sum of
    /// squares.
    fn expected() -> [(Loss, f64, [[f64; 3]; 3]); 5] {
        [
            (
                Loss::Gaussian,
                102.18555993602108,
                [
                    [-6.640190972222222, -4.984656314300412, 166.34771752386152],
                    [-5.983667695473252, -2.3622685185185186, 180.68490043604865],
                    [-8.864655671296296, -2.8762538580246915, 199.8999639039286],
                ],
            ),
            (
                Loss::Poisson,
                111.44172790794558,
                [
                    [-56.108541140285624, -23.341980614762818, 4450.662407960144],
                    [-19.66961408647594, -5.776217366448914, 1857.995692159223],
                    [-27.535332995531395, -6.4189463553151285, 3108.0890564355973],
                ],
            ),
            (
                Loss::Bernoulli,
                109.84970382538054,
                [
                    [-56.40447828111359, -23.592407884247933, 4579.9598267425135],
                    [-20.426617407882553, -6.160814216297992, 1996.1641659938318],
                    [-28.621817317965046, -7.1685311583763065, 3296.8435014173597],
                ],
            ),
            (
                Loss::BernoulliLogit,
                37.66455458768435,
                [
                    [-1.8336301152799352, -1.679027196520083, 15.44473034004018],
                    [-1.549732565490756, -0.5078665749536186, 17.098475700379712],
                    [-2.821946203724896, -0.34872316946511983, 16.476543283247263],
                ],
            ),
            (
                rayleigh(),
                9225.547632287002,
                [
                    [-102516.49548933757, -11217.77845583925, 10704180573.829115],
                    [-5028.265336840943, -1621.83863107218, 568786212.8190999],
                    [-18237.206743469753, -767.0811650526075, 1525470767.137054],
                ],
            ),
        ]
    }

    fn factors_of(options: &CpOptions, element: ElementType) -> Vec<AnyTensor> {
        let Start::Model(model) = &options.start else { panic!("starts from a model") };
        let factors = model.factors().iter();
        factors.map(|factor| elements::dense(factor.shape(), factor.values(), element).unwrap()).collect()
    }

    fn whole(x: &AnyTensor, loss: &Loss, options: &CpOptions) -> Result<(Whole, Compiled), DecomposeError> {
        let mut batch = Batch::new(&options.engine);
        let whole = Whole::new(x, &loss.terms()?, options, &mut batch)?;
        Ok((whole, batch.compile()?))
    }

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance * expected.abs().max(1e-3), "{found} is not {expected}");
    }

    #[test]
    fn losses_and_gradients_are_pyttb_s() {
        let x = counts(&[5, 4, 3]);
        let options = interpreted(&from(&x, 2));
        for (loss, value, gradients) in expected() {
            for stored in ["csf", "coo", "alto", "bcsf(2)"] {
                let x = x.convert(&format(stored, 3)).unwrap();
                let (mut whole, compiled) = whole(&x, &loss, &options).unwrap();
                let factors = factors_of(&options, ElementType::F64);
                let mut gradient = factors.clone();
                close(whole.value(&compiled, &factors).unwrap(), value, 1e-12);
                whole.gradient(&compiled, &factors, &mut gradient).unwrap();
                for (found, [first, last, squares]) in gradient.iter().zip(gradients) {
                    let found = found.values_of::<f64>().unwrap();
                    close(found[0], first, 1e-11);
                    close(found[found.len() - 1], last, 1e-11);
                    close(found.iter().map(|element| element * element).sum(), squares, 1e-11);
                }
            }
        }
    }

    #[test]
    fn gradients_are_those_of_finite_differences() {
        for shape in [&[3, 2, 4][..], &[2, 3, 2, 2]] {
            let x = counts(shape);
            let options = interpreted(&from(&x, 3));
            for (loss, ..) in expected() {
                let (mut whole, compiled) = whole(&x, &loss, &options).unwrap();
                let factors = factors_of(&options, ElementType::F64);
                let mut gradient = factors.clone();
                whole.value(&compiled, &factors).unwrap();
                whole.gradient(&compiled, &factors, &mut gradient).unwrap();
                for (mode, at) in [(0, 0), (1, 4), (2, 3), (shape.len() - 1, 5)] {
                    let mut at_step = |step: f64| {
                        let mut moved = factors.clone();
                        moved[mode].values_mut::<f64>().unwrap()[at] += step;
                        whole.value(&compiled, &moved).unwrap()
                    };
                    let difference = (at_step(1e-6) - at_step(-1e-6)) / 2e-6;
                    close(gradient[mode].values().get_f64(at), difference, 1e-5);
                }
            }
        }
    }

    #[test]
    fn single_precision_is_near() {
        let x = counts(&[5, 4, 3]);
        let options = CpOptions { element: Some(ElementType::F32), ..interpreted(&from(&x, 2)) };
        for (loss, value, gradients) in expected() {
            let (mut whole, compiled) = whole(&x, &loss, &options).unwrap();
            let factors = factors_of(&options, ElementType::F32);
            let mut gradient = factors.clone();
            close(whole.value(&compiled, &factors).unwrap(), value, 1e-5);
            whole.gradient(&compiled, &factors, &mut gradient).unwrap();
            close(gradient[0].values().get_f64(0), gradients[0][0], 1e-4);
        }
    }

    #[test]
    fn a_loss_at_all_places_of_a_large_tensor_is_refused() {
        let entries = [([0usize, 0, 0], 1.0), ([99_999, 99_999, 99_999], 1.0)];
        let x = crate::tensor::Tensor::<f64, crate::tensor::Csf<3>>::from_entries([100_000; 3], entries).unwrap();
        let error = whole(x.as_any(), &Loss::Bernoulli, &CpOptions::new(2)).unwrap_err().to_string();
        assert!(error.contains("1.000e15") && error.contains("Adam"), "{error}");
    }
}
