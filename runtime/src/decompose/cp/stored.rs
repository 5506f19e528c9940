//! What the methods with a loss compute by kernels: the model at the stored entries, products with factors, and sums over factors.
//!
//! A method reads the tensor in one format, [`Data`], and has its factors as dense tensors of the same element type:
//!
//! ```text
//! M(i1, i2, i3) = sum(r)(A1(i1, r) * A2(i2, r) * A3(i3, r)) where X(i1, i2, i3)      the model, at the stored entries
//! D(i1, i2, i3) = …                                                                  what the loss makes of both
//! Y(i2, r) = D(i1, i2, i3) * A1(i1, r) * A3(i3, r)                                   summed up for a factor (MTTKRP)
//! ```
//!
//! These are kernels of their own, because in one nest of loops the model value would be formed again for each column.

use super::CpOptions;
use crate::decompose::engine::{Clock, indices};
use crate::decompose::start::uniform;
use crate::decompose::{DecomposeError, Factor, KTensor, Model, Start};
use crate::execute::{Input, Kernel, KernelBuilder, Targets};
use crate::tensor::{AnyTensor, Dense, ElementType, LevelStorage, Tensor, Values};
use spc_compiler::format::Format;

/// The tensor as the kernels of a method read it.
#[derive(Debug)]
pub(super) struct Data {
    /// In a format that loops walk, of elements `f32` or `f64`.
    pub(super) tensor: AnyTensor,
    /// Its modes, those of outer levels first.
    modes: Vec<usize>,
    rank: usize,
}

impl Data {
    /// A tensor, with the options of a method. It is read as it is stored, in any format that loops walk and write; other formats, and
    /// dense ones, become a tree of its entries first.
    pub(super) fn of(x: &AnyTensor, options: &CpOptions) -> Result<Self, DecomposeError> {
        let format = if is_walked(x.format()) { x.format().clone() } else { Format::csf(x.order()) };
        Self::stored(x, &format, options)
    }

    /// The same in a format.
    pub(super) fn stored(x: &AnyTensor, format: &Format, options: &CpOptions) -> Result<Self, DecomposeError> {
        let tensor = of_element(x, element(x, options)?)?.convert(format)?;
        let mut modes = format.mentioned_modes();
        modes.extend((0..x.order()).filter(|mode| !format.mentioned_modes().contains(mode)));
        Ok(Self { tensor, modes, rank: options.rank })
    }

    pub(super) fn order(&self) -> usize {
        self.tensor.order()
    }

    pub(super) fn element(&self) -> ElementType {
        self.tensor.element()
    }

    /// `f64 [compressed, compressed, compressed]`
    pub(super) fn declaration(&self) -> String {
        format!("{} {}", self.element().name(), self.tensor.format())
    }

    /// `X(i1, i2, i3)`
    pub(super) fn access(&self, tensor: &str) -> String {
        format!("{tensor}({})", indices(self.order()).join(", "))
    }

    /// A tensor with the pattern of this one, for what a kernel computes.
    pub(super) fn alike(&self) -> Result<AnyTensor, DecomposeError> {
        let count = self.tensor.values().len();
        Ok(self
            .tensor
            .with_values(Values::try_zeroed(self.element(), count).map_err(crate::tensor::InvalidTensor::from)?)?)
    }

    /// `A1: f64 dense, A3: f64 dense`: a parameter for the factor of each mode but one.
    fn parameters(&self, except: Option<usize>) -> String {
        let one = |mode: usize| format!("A{}: {} dense", mode + 1, self.element().name());
        (0..self.order()).filter(|&mode| Some(mode) != except).map(one).collect::<Vec<_>>().join(", ")
    }

    /// `A1(i1, r) * A3(i3, r)`
    fn product(&self, except: Option<usize>) -> String {
        let one = |mode: usize| format!("A{0}(i{0}, r)", mode + 1);
        (0..self.order()).filter(|&mode| Some(mode) != except).map(one).collect::<Vec<_>>().join(" * ")
    }

    /// A kernel of X and of all factors whose `value` may read `model`. The loop over components is innermost: as a loop around entries, as
    /// which it would be a vector loop, it reads factors by columns.
    fn at_entries(&self, result: &str, parameters: &str, value: &str) -> String {
        let loops: Vec<String> = self.modes.iter().map(|mode| format!("i{}", mode + 1)).collect();
        format!(
            "fn entries(X: {declaration}, {factors}{parameters}) -> {result}: {declaration} {{ {target} = {value}; }}
             schedule {{ reorder({loops}, r); }}",
            declaration = self.declaration(),
            factors = self.parameters(None),
            target = self.access(result),
            loops = loops.join(", "),
        )
    }

    /// `M`: the model at the stored entries, of `X` and all factors.
    pub(super) fn model(&self) -> String {
        let value = format!("sum(r)({}) where {}", self.product(None), self.access("X"));
        self.at_entries("M", "", &value)
    }

    /// `W`: each entry over what the model has there, at least `least`; of `X`, all factors and `least`.
    pub(super) fn ratio(&self) -> String {
        let value = format!("{} / max(sum(r)({}), least)", self.access("X"), self.product(None));
        self.at_entries("W", &format!(", least: {}", self.element().name()), &value)
    }

    /// `Y`: `D` times the factors of all other modes (MTTKRP), of `D` and those.
    pub(super) fn mttkrp(&self, mode: usize) -> String {
        format!(
            "fn mttkrp(D: {}, {}) -> Y: {} dense {{ Y(i{}, r) = {} * {}; }}",
            self.declaration(),
            self.parameters(Some(mode)),
            self.element().name(),
            mode + 1,
            self.access("D"),
            self.product(Some(mode)),
        )
    }

    /// A builder of a kernel over components, of which there are as many as the rank.
    pub(super) fn builder(&self, options: &CpOptions, text: String) -> KernelBuilder {
        options.engine.builder(text).dimension("r", self.rank)
    }
}

/// Whether kernels read and write a format as it is, and only what is stored.
fn is_walked(format: &Format) -> bool {
    let walked = |storage: &spc_compiler::format::Level| {
        use spc_compiler::format::LevelKind::{Compressed, Dense, Singleton};
        matches!(storage.format.kind, Dense | Compressed | Singleton)
    };
    !format.is_dense() && format.levels.iter().all(walked)
}

/// The elements of factors in kernels.
fn element(x: &AnyTensor, options: &CpOptions) -> Result<ElementType, DecomposeError> {
    match options.element {
        None if x.element() == ElementType::F32 => Ok(ElementType::F32),
        None => Ok(ElementType::F64),
        Some(element @ (ElementType::F32 | ElementType::F64)) => Ok(element),
        Some(other) => Err(DecomposeError::Element(other)),
    }
}

/// The same entries as elements of another type.
pub(super) fn of_element(x: &AnyTensor, element: ElementType) -> Result<AnyTensor, DecomposeError> {
    if x.element() == element {
        return Ok(x.clone());
    }
    Ok(x.with_values(values(&values_of(x), element))?.with_fill(element.zero()))
}

/// Calls a kernel, on the clock.
pub(super) fn call<'t>(
    clock: &Clock,
    kernel: &Kernel,
    inputs: &[&dyn Input],
    targets: impl Targets<'t>,
) -> Result<(), DecomposeError> {
    Ok(clock.kernel(|| kernel.call_into(inputs, targets))?)
}

/// Calls a kernel of one tensor and the factors of all modes but one.
pub(super) fn call_with<'t>(
    clock: &Clock,
    kernel: &Kernel,
    (tensor, factors, except): (&AnyTensor, &[AnyTensor], Option<usize>),
    more: &[&dyn Input],
    targets: impl Targets<'t>,
) -> Result<(), DecomposeError> {
    let mut inputs: Vec<&dyn Input> = vec![tensor];
    let others = factors.iter().enumerate().filter(|(mode, _)| Some(*mode) != except);
    inputs.extend(others.map(|(_, factor)| factor as &dyn Input));
    inputs.extend(more);
    call(clock, kernel, &inputs, targets)
}

/// A dense vector of an element type.
pub(super) fn vector(values: &[f64], element: ElementType) -> Result<AnyTensor, DecomposeError> {
    dense(vec![values.len()], values, element)
}

/// A dense tensor of an element type, of values row after row.
pub(super) fn dense(shape: Vec<usize>, values: &[f64], element: ElementType) -> Result<AnyTensor, DecomposeError> {
    let (format, levels) = (Format::dense(shape.len()), vec![LevelStorage::Dense; shape.len()]);
    Ok(AnyTensor::from_parts(shape, format, levels, self::values(values, element))?)
}

/// Numbers as elements of a type.
pub(super) fn values(values: &[f64], element: ElementType) -> Values {
    match element {
        ElementType::F32 => values.iter().map(|&value| value as f32).collect::<Vec<_>>().into(),
        _ => values.to_vec().into(),
    }
}

/// Zeros of the shape of each factor.
pub(super) fn zeros_like(factors: &[AnyTensor]) -> Result<Vec<AnyTensor>, DecomposeError> {
    let zeros = |one: &AnyTensor| AnyTensor::zeros(one.shape().to_vec(), Format::dense(2), one.element());
    Ok(factors.iter().map(zeros).collect::<Result<_, _>>()?)
}

/// Sums over factors, and products of them with small matrices.
#[derive(Debug)]
pub(super) struct Sums {
    magnitudes: Kernel,
    gram: Kernel,
    scale: Kernel,
}

impl Sums {
    /// What they are compiled from, for [`Sums::new`].
    pub(super) fn texts(element: ElementType) -> [String; 3] {
        let (e, wide) = (element.name(), |value: &str| match element {
            ElementType::F32 => format!("f64({value})"),
            _ => value.to_owned(),
        });
        [
            format!("fn magnitudes(A: {e} dense) -> s: f64 dense {{ s(r) = {}; }}", wide("abs(A(i, r))")),
            format!("fn gram(A: {e} dense) -> G: f64 dense {{ G(q, r) = {} * {}; }}", wide("A(i, q)"), wide("A(i, r)")),
            format!("fn scale(A: {e} dense, s: {e} dense) -> N: {e} dense {{ N(i, r) = A(i, r) * s(r); }}"),
        ]
    }

    /// Takes its kernels, in the order of the texts.
    pub(super) fn new(kernels: &mut impl Iterator<Item = Kernel>) -> Option<Self> {
        Some(Self { magnitudes: kernels.next()?, gram: kernels.next()?, scale: kernels.next()? })
    }

    /// The sum of magnitudes of each column (its 1-norm).
    pub(super) fn magnitudes(&self, clock: &Clock, factor: &AnyTensor) -> Result<Vec<f64>, DecomposeError> {
        let mut sums = Tensor::<f64, Dense<1>>::zeros([factor.shape()[1]])?;
        call(clock, &self.magnitudes, &[factor], &mut sums)?;
        Ok(sums.into_values())
    }

    /// The products of columns with each other, row after row.
    pub(super) fn gram(&self, clock: &Clock, factor: &AnyTensor) -> Result<Vec<f64>, DecomposeError> {
        let rank = factor.shape()[1];
        let mut gram = Tensor::<f64, Dense<2>>::zeros([rank, rank])?;
        call(clock, &self.gram, &[factor], &mut gram)?;
        Ok(gram.into_values())
    }

    /// The Hadamard product of the Gram matrices of all factors but one.
    pub(super) fn grams(
        &self,
        clock: &Clock,
        factors: &[AnyTensor],
        except: Option<usize>,
    ) -> Result<Vec<f64>, DecomposeError> {
        let rank = factors.first().map_or(0, |factor| factor.shape()[1]);
        let mut product = vec![1.0; rank * rank];
        for (_, factor) in factors.iter().enumerate().filter(|(mode, _)| Some(*mode) != except) {
            let gram = self.gram(clock, factor)?;
            product.iter_mut().zip(gram).for_each(|(product, element)| *product *= element);
        }
        Ok(product)
    }

    /// Scales each column.
    pub(super) fn scale(
        &self,
        clock: &Clock,
        factor: &AnyTensor,
        by: &[f64],
        into: &mut AnyTensor,
    ) -> Result<(), DecomposeError> {
        call(clock, &self.scale, &[factor, &vector(by, factor.element())?], into)
    }
}

/// Which norm the columns of a model's factors have, of which it is made one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Norm {
    /// The sum of magnitudes.
    One,
    /// The root of the sum of squares.
    Two,
}

/// Where a model comes from: weights and factors as they are in kernels.
#[derive(Debug)]
pub(super) struct Snapshot<'a> {
    pub(super) weights: &'a [f64],
    pub(super) factors: &'a [AnyTensor],
    pub(super) norm: Norm,
}

impl Model<KTensor> for Snapshot<'_> {
    /// Columns of norm one, components from the largest weight, no weight below zero.
    fn model(&self) -> KTensor {
        let mut weights = self.weights.to_vec();
        let mut columns: Vec<Vec<f64>> = self.factors.iter().map(values_of).collect();
        for (mode, factor) in columns.iter_mut().enumerate() {
            for (component, weight) in weights.iter_mut().enumerate() {
                let norm = self.norm.of(factor.iter().skip(component).step_by(self.weights.len()));
                *weight *= norm;
                let sign = if mode + 1 == self.factors.len() && *weight < 0.0 { -1.0 } else { 1.0 };
                *weight *= sign;
                let scale = if norm > 0.0 { sign / norm } else { 1.0 };
                factor.iter_mut().skip(component).step_by(self.weights.len()).for_each(|element| *element *= scale);
            }
        }
        let mut places: Vec<usize> = (0..weights.len()).collect();
        places.sort_by(|&one, &other| weights[other].total_cmp(&weights[one]));
        let arranged = |factor: &Vec<f64>, rows: usize| {
            let elements = factor.chunks(weights.len()).flat_map(|row| places.iter().map(|&place| row[place]));
            Factor::from_vec([rows, weights.len()], elements.collect()).expect("as many elements as before")
        };
        let factors = columns.iter().zip(self.factors).map(|(factor, of)| arranged(factor, of.shape()[0])).collect();
        let weights = places.iter().map(|&place| weights[place]).collect();
        KTensor::new(weights, factors).expect("factors have a column for each weight")
    }
}

impl Norm {
    fn of<'v>(self, values: impl Iterator<Item = &'v f64>) -> f64 {
        match self {
            Norm::One => values.map(|value| value.abs()).sum(),
            Norm::Two => values.map(|value| value * value).sum::<f64>().sqrt(),
        }
    }
}

/// The values of a tensor as `f64`.
fn values_of(tensor: &AnyTensor) -> Vec<f64> {
    (0..tensor.values().len()).map(|position| tensor.values().get_f64(position)).collect()
}

/// Where a method starts: weights and factors, of uniform random numbers or of a model that fits the tensor.
pub(super) fn start(
    shape: &[usize],
    options: &CpOptions,
    method: &str,
) -> Result<(Vec<f64>, Vec<Factor>), DecomposeError> {
    match &options.start {
        Start::Random { seed } => {
            let factor = |(mode, &extent): (usize, &usize)| uniform(extent, options.rank, *seed, mode);
            let factors = shape.iter().enumerate().map(factor).collect::<Result<_, _>>()?;
            Ok((vec![1.0; options.rank], factors))
        }
        Start::Hosvd { .. } => Err(DecomposeError::Start(format!(
            "{method} starts from random factors or from a model: singular vectors have values of both signs"
        ))),
        Start::Model(model) => {
            if model.shape() != shape || model.rank() != options.rank {
                let (found, rank) = (model.shape(), model.rank());
                let wanted = options.rank;
                return Err(DecomposeError::Start(format!(
                    "the start is of shape {found:?} and has {rank} components, but the tensor is of shape {shape:?} \
                     and {wanted} are asked for"
                )));
            }
            let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
            if !finite(model.weights()) || !model.factors().iter().all(|factor| finite(factor.values())) {
                return Err(DecomposeError::Start("the start has values that are not finite".to_owned()));
            }
            Ok((model.weights().to_vec(), model.factors().to_vec()))
        }
    }
}

/// Options that make no sense for any method.
pub(super) fn check(options: &CpOptions) -> Result<(), DecomposeError> {
    if options.rank == 0 {
        return Err(DecomposeError::Option("a decomposition has at least one component".to_owned()));
    }
    if options.tolerance.is_nan() || options.tolerance < 0.0 {
        let message = format!("the tolerance is {}, but it is a number that is not negative", options.tolerance);
        return Err(DecomposeError::Option(message));
    }
    Ok(())
}

/// A place for a number of an element type that a kernel computes.
pub(super) fn scalar(element: ElementType) -> AnyTensor {
    dense(Vec::new(), &[0.0], element).expect("a number is a tensor")
}

#[cfg(test)]
pub(super) mod testing {
    //! Tensors and starts that scripts in other languages can make too.

    use super::*;
    use crate::decompose::Start;
    use crate::execute::Backend;
    use crate::tensor::{Coordinates, Duplicates, Indices, pack};
    use spc_compiler::format::resolve::{Definitions, resolve};
    use spc_compiler::syntax;

    /// Index by index: `(5i + 3j + 7k + 2l) % 4` where `(i + 2j + 3k + l) % 3` is not 0, indices from 0; further modes count as the first.
    pub(in crate::decompose::cp) fn counts(shape: &[usize]) -> AnyTensor {
        sparse(shape, |index| {
            let sum = |by: [usize; 4]| index.iter().zip(by.iter().cycle()).map(|(at, by)| at * by).sum::<usize>();
            if sum([1, 2, 3, 1]) % 3 == 0 { 0.0 } else { (sum([5, 3, 7, 2]) % 4) as f64 }
        })
    }

    /// A tensor of a model of this rank, whose components have indices of their own in each mode.
    pub(in crate::decompose::cp) fn planted(shape: &[usize], rank: usize, scale: f64) -> AnyTensor {
        sparse(shape, |index| {
            let element = |mode: usize, at: usize, component: usize| {
                let of_component = at * rank / shape[mode] == component;
                if of_component { 1.0 + ((at * 7 + mode * 3) % 5) as f64 / 4.0 } else { 0.0 }
            };
            let product =
                |component| (0..shape.len()).map(|mode| element(mode, index[mode], component)).product::<f64>();
            (0..rank).map(|component| scale * (component + 1) as f64 * product(component)).sum()
        })
    }

    fn sparse(shape: &[usize], value: impl Fn(&[usize]) -> f64) -> AnyTensor {
        let count: usize = shape.iter().product();
        let mut entries = (vec![Vec::new(); shape.len()], Vec::new());
        for place in 0..count {
            let mut rest = place;
            let mut index = vec![0; shape.len()];
            for (at, extent) in index.iter_mut().zip(shape).rev() {
                (*at, rest) = (rest % extent, rest / extent);
            }
            let value = value(&index);
            if value != 0.0 {
                entries.0.iter_mut().zip(&index).for_each(|(column, &at)| column.push(at as u32));
                entries.1.push(value);
            }
        }
        let (indices, values) = (entries.0.into_iter().map(Indices::U32).collect(), entries.1);
        let entries = Coordinates { shape: shape.to_vec(), shape_is_stated: true, indices, values };
        pack(entries, &Format::csf(shape.len()), Duplicates::Refuse).unwrap()
    }

    /// Factors of `((7i + 5r + 3n) % 11 + 1) / 12` for row i, column r and mode n, all from 0.
    pub(in crate::decompose::cp) fn start_of(shape: &[usize], rank: usize) -> Start {
        let factor = |(mode, &extent): (usize, &usize)| {
            let element = |at: &[usize]| ((at[0] * 7 + at[1] * 5 + mode * 3) % 11 + 1) as f64 / 12.0;
            Factor::from_fn([extent, rank], element).unwrap()
        };
        Start::Model(KTensor::new(vec![1.0; rank], shape.iter().enumerate().map(factor).collect()).unwrap())
    }

    pub(in crate::decompose::cp) fn from(x: &AnyTensor, rank: usize) -> CpOptions {
        CpOptions { start: start_of(x.shape(), rank), ..CpOptions::new(rank) }
    }

    pub(in crate::decompose::cp) fn interpreted(options: &CpOptions) -> CpOptions {
        let mut options = options.clone();
        options.engine.backend = Some(Backend::Interpreter);
        options
    }

    pub(in crate::decompose::cp) fn format(text: &str, order: usize) -> Format {
        resolve(&syntax::parse_format(text).unwrap(), order, &Definitions::prelude()).unwrap()
    }
}
