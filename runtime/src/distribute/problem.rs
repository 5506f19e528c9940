//! A kernel with inputs, as every rank has it.

use super::DistributeError;
use super::listed::Listed;
use crate::execute::{Operand, Planning, ProgramError, ProgramOptions, Uncompiled};
use crate::tensor::AnyTensor;
use spc_compiler::format::Format;
use spc_compiler::notation::{IndexVariable, Kernel, Role};
use spc_compiler::schedule::{Distribution, Shared, distribution, replicated};
use std::collections::BTreeMap;

/// A kernel and its inputs, to be run on many ranks.
#[derive(Debug)]
pub struct Problem {
    pub(super) kernel: Kernel,
    pub(super) options: ProgramOptions,
    /// By name: dense ones row by row.
    inputs: Vec<(String, AnyTensor)>,
    /// The entries of those that are not dense.
    listed: BTreeMap<String, Listed>,
    /// Shapes of inputs and results.
    shapes: BTreeMap<String, Vec<usize>>,
    /// Extents that no input determines, by name.
    pub(super) dimensions: Vec<(String, usize)>,
}

impl Problem {
    /// Finds out the extents and brings the inputs into the declared formats.
    ///
    /// # Errors
    /// As [`Uncompiled::new`].
    pub fn new(
        kernel: &Kernel,
        inputs: Vec<(String, Operand)>,
        dimensions: &[(String, usize)],
        options: &ProgramOptions,
    ) -> Result<Self, DistributeError> {
        if kernel.repeat.is_some() {
            return Err(DistributeError::Refused {
                what: "a kernel with a `repeat` is not distributed".to_owned(),
                help: "distribute one round, and run it again and again: `Prepared::feed`".to_owned(),
            });
        }
        let options = ProgramOptions { plan: Planning::AsWritten, tuned: false, stream: None, ..options.clone() };
        let whole = Uncompiled::new(kernel, inputs, dimensions, &options)?;
        let mut listed = BTreeMap::new();
        let mut inputs = Vec::new();
        for (name, tensor) in whole.named_inputs() {
            let tensor = if tensor.format().is_dense() {
                let by_rows = tensor.convert(&Format::dense(tensor.order()));
                by_rows.map_err(|source| DistributeError::pack(name, source))?
            } else {
                let entries = Listed::of(tensor, None).map_err(|source| DistributeError::pack(name, source))?;
                listed.insert(name.to_owned(), entries);
                tensor.clone()
            };
            inputs.push((name.to_owned(), tensor));
        }
        let shapes = whole.shapes().collect();
        let dimensions = whole.dimensions();
        let mut problem = Self { kernel: kernel.clone(), options, inputs, listed, shapes, dimensions };
        // Of several statements none is distributed.
        if let [statement] = &kernel.statements[..] {
            let target = kernel.tensor(statement.target.tensor);
            if !problem.shapes.contains_key(&target.name) {
                let shape = statement.target.indices.iter().map(|&index| problem.extent(index));
                let shape = shape.collect::<Result<_, _>>()?;
                problem.shapes.insert(target.name.clone(), shape);
            }
        }
        Ok(problem)
    }

    /// The extent of an index of a result: that of the modes of inputs that it stands for, or one that is stated.
    fn extent(&self, index: IndexVariable) -> Result<usize, DistributeError> {
        let own = &self.kernel.variables[index.0];
        let accesses = self.kernel.statements.iter().flat_map(|statement| {
            let masks = statement.mask.iter();
            masks.chain(statement.value.accesses()).collect::<Vec<_>>()
        });
        let of_inputs = accesses.into_iter().find_map(|access| {
            let mode = access.indices.iter().position(|&other| self.is_alike(other, index))?;
            self.shapes.get(&self.kernel.tensor(access.tensor).name).map(|shape| shape[mode])
        });
        let stated = || self.dimensions.iter().find(|(name, _)| *name == own.name).map(|(_, extent)| *extent);
        let fixed = || own.extent.and_then(|extent| usize::try_from(extent).ok());
        of_inputs.or_else(stated).or_else(fixed).ok_or_else(|| DistributeError::Refused {
            what: format!("the extent of `{}` is known only when the kernel runs", own.name),
            help: "let each index of the result be one of an input's, or state its extent".to_owned(),
        })
    }

    /// Whether two indices are one, as they are written.
    pub(super) fn is_alike(&self, one: IndexVariable, other: IndexVariable) -> bool {
        let written = |index: IndexVariable| self.kernel.variables[index.0].written.as_ref();
        one == other || written(one).is_some() && written(one) == written(other)
    }

    /// Whether this is the name of an input.
    pub fn is_input(&self, name: &str) -> bool {
        self.inputs.iter().any(|(input, _)| input == name)
    }

    /// The inputs, each with its place in the kernel.
    pub(super) fn inputs(&self) -> impl Iterator<Item = (usize, &(String, AnyTensor))> {
        self.inputs.iter().map(|input| (self.place(&input.0), input))
    }

    /// The inputs, to be given to another problem of the kernel.
    pub(super) fn into_operands(self) -> Vec<(String, Operand)> {
        self.inputs.into_iter().map(|(name, tensor)| (name, tensor.into())).collect()
    }

    /// How the kernel runs where this is shared out.
    pub(super) fn distribution(&self, shared: &Shared) -> Result<Distribution, DistributeError> {
        distribution(&self.kernel, shared).map_err(|(what, help)| DistributeError::Refused { what, help })
    }

    /// The operands that the schedule wants on every rank.
    pub(super) fn everywhere(&self) -> Result<Vec<String>, DistributeError> {
        Ok(replicated(&self.kernel).map_err(ProgramError::Schedule)?)
    }

    pub(super) fn place(&self, name: &str) -> usize {
        let is_it = |tensor: &spc_compiler::notation::Tensor| tensor.name == name && tensor.role != Role::Temporary;
        self.kernel.tensors.iter().position(is_it).expect("inputs and results are the kernel's")
    }

    pub(super) fn listed(&self, name: &str) -> &Listed {
        &self.listed[name]
    }

    /// The entries of an input, if it is one that is not dense.
    pub(super) fn listed_of(&self, name: &str) -> Option<&Listed> {
        self.listed.get(name)
    }

    pub(super) fn shape(&self, name: &str) -> &[usize] {
        &self.shapes[name]
    }

    /// The extents of renumbered indices.
    pub(super) fn extents_of(&self, distribution: &Distribution) -> Result<Vec<usize>, DistributeError> {
        let mut extents = vec![None; distribution.indices.len()];
        for (tensor, modes) in self.kernel.tensors.iter().zip(&distribution.modes) {
            let Some(shape) = self.shapes.get(&tensor.name) else { continue };
            for (&extent, index) in shape.iter().zip(modes).filter_map(|(extent, index)| Some((extent, (*index)?))) {
                extents[index] = Some(extent);
            }
        }
        let name = |place: usize| distribution.indices[place].name.clone();
        let extent = |(place, extent): (usize, Option<usize>)| {
            extent.ok_or_else(|| ProgramError::from(crate::execute::Error::NoExtent { index: name(place) }).into())
        };
        extents.into_iter().enumerate().map(extent).collect()
    }
}
