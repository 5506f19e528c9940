//! The tensor as the methods with a loss read it, and their kernels at its stored entries.
//!
//! A method reads the tensor in one format, [`Stored`], and has its factors as dense tensors of the same element type:
//!
//! ```text
//! M(i1, i2, i3) = sum(r)(A1(i1, r) * A2(i2, r) * A3(i3, r)) where X(i1, i2, i3)      the model, at the stored entries
//! D(i1, i2, i3) = …                                                                  what the loss makes of both
//! Y(i2, r) = D(i1, i2, i3) * A1(i1, r) * A3(i3, r)                                   summed up for a factor (MTTKRP)
//! ```
//!
//! These are kernels of their own, because in one nest of loops the model value would be formed again for each column.

use super::CpOptions;
use super::batch::Batch;
use crate::decompose::DecomposeError;
use crate::decompose::elements::{kernel_element, of_element};
use crate::decompose::engine::indices;
use crate::tensor::{AnyTensor, ElementType, InvalidTensor, Values};
use spc_compiler::format::Format;

/// The tensor as the kernels of a method read it.
#[derive(Debug)]
pub(super) struct Stored {
    /// In a format that loops walk, of elements `f32` or `f64`.
    pub(super) tensor: AnyTensor,
    /// Its modes, those of outer levels first.
    modes: Vec<usize>,
    rank: usize,
}

impl Stored {
    /// A tensor, with the options of a method. It is read as it is stored, in any format that loops walk and write; other formats, and
    /// dense ones, become a tree of its entries first.
    pub(super) fn of(x: &AnyTensor, options: &CpOptions) -> Result<Self, DecomposeError> {
        let format = if is_walked(x.format()) { x.format().clone() } else { Format::csf(x.order()) };
        Self::in_format(x, &format, options)
    }

    /// The same in a format.
    pub(super) fn in_format(x: &AnyTensor, format: &Format, options: &CpOptions) -> Result<Self, DecomposeError> {
        let tensor = of_element(x, kernel_element(x.element(), options.element)?)?.convert(format)?;
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
        let zeros = Values::try_zeroed(self.element(), count).map_err(InvalidTensor::from)?;
        Ok(self.tensor.with_values(zeros)?)
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
    fn mttkrp(&self, mode: usize) -> String {
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

    /// The kernel of a text whose `r` goes over components, by its place in a batch.
    pub(super) fn add(&self, batch: &mut Batch<'_>, text: String) -> usize {
        batch.add_text(text, &[("r", self.rank)])
    }

    /// The MTTKRP of each mode, by its place in a batch.
    pub(super) fn add_mttkrps(&self, batch: &mut Batch<'_>) -> Vec<usize> {
        (0..self.order()).map(|mode| self.add(batch, self.mttkrp(mode))).collect()
    }
}

/// Whether kernels read and write a format as it is, and only what is stored.
fn is_walked(format: &Format) -> bool {
    let walked = |level: &spc_compiler::format::Level| {
        let kind = level.format.kind;
        kind.is_dense() || kind.is_compressed() || kind.is_singleton()
    };
    !format.is_dense() && format.levels.iter().all(walked)
}
