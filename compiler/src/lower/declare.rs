//! Declarations: what crosses the kernel's border, and fresh variables.

use super::{Lowering, Scope, Workspace, computed};
use crate::concrete::{self, Computed, ExtentOf, OutputStructure, Pivot, TensorId, TensorKind};
use crate::format::Role;
use crate::ir::{self, ArrayElement, ArrayRole, Initial, Source, Structure, Type};
use std::collections::BTreeMap;

impl<'a> Lowering<'a> {
    pub(super) fn new(concrete: &'a concrete::Kernel) -> Self {
        let dimensions = concrete.extents.iter().filter(|e| e.of.is_none());
        let dimension_of = |extent: &concrete::Extent| ir::Dimension {
            name: extent.name.clone(),
            written: extent.shown().to_owned(),
            size: extent.size,
        };
        let dimensions = dimensions.map(dimension_of).collect();
        let bounds = concrete.bounds.iter().map(|bound| ir::Bound {
            dimension: bound.extent.map(dimension),
            index: bound.index.map(&mut |&extent| dimension(extent)),
        });
        let bounds = bounds.collect();
        let mut documentation = concrete.documentation.clone();
        let summary = concrete.summary.iter().filter(|line| !concrete.documentation.contains(line));
        let summary: Vec<String> = summary.cloned().collect();
        if !documentation.is_empty() && !summary.is_empty() {
            documentation.push(String::new());
        }
        documentation.extend(summary);
        let kernel = ir::Kernel {
            name: concrete.name.clone(),
            documentation,
            dimensions,
            bounds,
            pivots: Vec::new(),
            tensors: Vec::new(),
            arrays: Vec::new(),
            variables: Vec::new(),
            deterministic: concrete.deterministic,
            choices: BTreeMap::new(),
            body: Vec::new(),
        };
        let mut lowering = Lowering {
            concrete,
            kernel,
            tensors: BTreeMap::new(),
            arrays: BTreeMap::new(),
            orders: BTreeMap::new(),
            workspaces: BTreeMap::new(),
            sparse: BTreeMap::new(),
            padded: super::presence::padded(concrete),
            with_bitmaps: false,
            hoisted: Vec::new(),
            lattices: Vec::new(),
        };
        lowering.declare_tensors();
        lowering.kernel.pivots = concrete.pivots.iter().filter_map(|pivot| lowering.pivot(pivot)).collect();
        lowering
    }

    fn pivot(&self, pivot: &Pivot) -> Option<ir::Pivot> {
        let id = |tensor| self.tensors.get(&tensor).copied();
        Some(ir::Pivot { output: id(pivot.result)?, input: id(pivot.operand)?, modes: pivot.modes.clone() })
    }

    fn declare_tensors(&mut self) {
        let concrete = self.concrete;
        let crossing = concrete.tensors.iter().enumerate().filter(|(_, t)| !t.kind.is_workspace());
        for (number, (id, _)) in crossing.clone().enumerate() {
            self.tensors.insert(TensorId(id), ir::TensorId(u32::try_from(number).expect("few tensors")));
        }
        for (id, tensor) in crossing {
            let source = match &tensor.kind {
                TensorKind::Input => Source::Input,
                TensorKind::SortedCopy(of) | TensorKind::Fibers(of) => Source::SortedCopy { of: self.tensors[of] },
                TensorKind::Permutation(of) => Source::Permutation { of: self.tensors[of] },
                TensorKind::Output(structure) => {
                    let (structure, initial) = match structure {
                        OutputStructure::Dense => (Structure::Dense, Initial::Filled(tensor.fill)),
                        OutputStructure::Appended => (Structure::Appended, Initial::Empty),
                        OutputStructure::Shared { access, levels } => (
                            Structure::Shared { operand: self.tensors[&access.tensor], levels: *levels },
                            Initial::Filled(tensor.fill),
                        ),
                    };
                    Source::Output { structure, initial }
                }
                TensorKind::Workspace | TensorKind::SparseWorkspace(_) => continue,
            };
            let modes = tensor.stored.as_ref().map_or(&tensor.extents, |stored| &stored.extents);
            self.kernel.tensors.push(ir::Tensor {
                name: tensor.name.clone(),
                element: tensor.element,
                format: tensor.stored.as_ref().map_or(&tensor.format, |stored| &stored.format).clone(),
                dimensions: modes.iter().map(|&extent| dimension(extent)).collect(),
                fill: tensor.delivered_fill,
                source,
                pattern: tensor.pattern.map(|other| self.tensors[&other]),
                delivered: tensor.delivered.clone(),
                listed: tensor.listed,
            });
            match tensor.kind {
                TensorKind::Permutation(of) => self.declare_permutation(TensorId(id), of),
                _ => self.declare_arrays(self.tensors[&TensorId(id)], tensor, source),
            }
        }
    }

    /// The arrays of a permutation: those above the entries and their order are its own, coordinates and values the input's.
    fn declare_permutation(&mut self, tensor: TensorId, of: TensorId) {
        let (id, input) = (self.tensors[&tensor], self.tensors[&of]);
        let concrete::Tensor { name, format, .. } = &self.concrete.tensors[tensor.0];
        let entries = format.level_of_entries();
        for (level, stored) in format.levels[..=entries].iter().enumerate() {
            for role in Role::ALL.into_iter().filter(|role| stored.format.array(*role).is_some()) {
                let is_order = level == entries && role == Role::Coordinates;
                let (name, width) = match is_order {
                    true => (format!("{name}_order"), stored.format.positions()),
                    false => (format!("{name}{}_{}", level + 1, role.key()), stored.format.width(role)),
                };
                let role = ArrayRole::of_level(role, id, level);
                let array = self.declare_array(name, ArrayElement::Index(width), role);
                if is_order {
                    self.orders.insert(tensor, array);
                }
            }
        }
        let levels_of_input = &self.concrete.tensors[of.0].format.levels;
        for (level, stored) in format.levels.iter().enumerate().skip(entries) {
            let own = levels_of_input.iter().position(|own| own.coordinate == stored.coordinate);
            let own = own.expect("an input that lists its entries stores each mode");
            let array = self.arrays[&ArrayRole::Coordinates { tensor: input, level: own }];
            self.arrays.insert(ArrayRole::Coordinates { tensor: id, level }, array);
        }
        let values = self.arrays[&ArrayRole::Values { tensor: input }];
        self.arrays.insert(ArrayRole::Values { tensor: id }, values);
    }

    fn declare_arrays(&mut self, id: ir::TensorId, tensor: &concrete::Tensor, source: Source) {
        let is_given = matches!(source, Source::Output { structure: Structure::Shared { .. } | Structure::Dense, .. });
        let only_values = is_given || tensor.pattern.is_some();
        for (level, stored) in tensor.format.levels.iter().enumerate().filter(|_| !only_values) {
            for role in Role::ALL.into_iter().filter(|role| stored.format.array(*role).is_some()) {
                let name = format!("{}{}_{}", tensor.name, level + 1, role.key());
                let element = ArrayElement::Index(stored.format.width(role));
                self.declare_array(name, element, ArrayRole::of_level(role, id, level));
            }
        }
        let name = if tensor.format.is_dense() { tensor.name.clone() } else { format!("{}_vals", tensor.name) };
        self.declare_array(name, ArrayElement::Value(tensor.element), ArrayRole::Values { tensor: id });
    }

    pub(super) fn declare_array(&mut self, name: String, element: ArrayElement, role: ArrayRole) -> ir::ArrayId {
        let id = self.kernel.declare_array(&name, element, role);
        if role != ArrayRole::Local {
            self.arrays.insert(role, id);
        }
        id
    }

    pub(super) fn fresh(&mut self, name: impl AsRef<str>, ty: Type, mutable: bool) -> ir::VariableId {
        self.kernel.declare_variable(name.as_ref(), ty, mutable)
    }

    /// The counter of a loop over a variable, with what the schedule asks of it.
    pub(super) fn counter(
        &mut self,
        variable: crate::concrete::IndexVariable,
        name: impl AsRef<str>,
    ) -> ir::VariableId {
        let counter = self.fresh(name, Type::Index, false);
        let asked = &self.concrete.asked;
        let original = asked.original(variable);
        let of = self.concrete.variable(original).to_owned();
        let simd = asked.simd_of(variable).or(asked.simd_of(original));
        let tile = asked.tile_of(variable).or(asked.tile_of(original));
        let choice = ir::Choice { simd, tile, ..ir::Choice::of(of) };
        self.kernel.choices.insert(counter, choice);
        counter
    }

    /// The values array of a tensor that crosses the border.
    pub(super) fn values(&self, tensor: TensorId) -> ir::ArrayId {
        self.arrays[&ArrayRole::Values { tensor: self.tensors[&tensor] }]
    }

    /// Makes a workspace, which holds its fill value, and says where it lives.
    pub(super) fn open_workspace(&mut self, tensor: TensorId, out: &mut Vec<ir::Statement>) {
        let declaration = self.concrete.tensor(tensor);
        let fill = ir::Expr::Literal(declaration.fill);
        if declaration.extents.is_empty() {
            let variable = self.fresh(declaration.name.clone(), Type::of(declaration.element), true);
            self.workspaces.insert(tensor, Workspace::Scalar(variable));
            out.push(ir::Statement::Let(variable, fill));
            return;
        }
        let element = ArrayElement::Value(declaration.element);
        let array = self.declare_array(declaration.name.clone(), element, ArrayRole::Local);
        self.workspaces.insert(tensor, Workspace::Array(array));
        let length =
            declaration.extents.iter().fold(ir::Expr::Index(1), |product, &extent| product.times(self.size(extent)));
        let is_static = match length {
            ir::Expr::Index(0..=MOST_ON_STACK) => true,
            _ => declaration.extents.iter().all(|&e| self.concrete.extents[e].size != ir::Size::Runtime),
        };
        let allocate = ir::Statement::Allocate { array, length, fill: fill.clone() };
        if is_static {
            out.push(allocate);
        } else {
            self.hoisted.push(allocate);
            out.push(ir::Statement::Fill(array, fill));
        }
    }

    /// The size of an extent.
    pub(super) fn size(&self, extent: usize) -> ir::Expr {
        match self.concrete.extents[extent].of {
            Some(ExtentOf::Level(tensor, level)) => return self.extent_of_level(tensor, level),
            Some(ExtentOf::Blocks { extent, by }) => {
                let rounded_up = self.size(extent).plus(ir::Expr::Index(by - 1));
                return ir::Expr::binary(ir::BinaryOperator::Divide, rounded_up, ir::Expr::Index(by));
            }
            Some(ExtentOf::Inside(size)) => return ir::Expr::Index(size),
            Some(ExtentOf::Product(outer, inner)) => return self.size(outer).times(self.size(inner)),
            None => {}
        }
        match self.concrete.extents[extent].size {
            ir::Size::Constant(size) => ir::Expr::Index(size),
            ir::Size::Runtime | ir::Size::Generic => ir::Expr::Dimension(dimension(extent)),
        }
    }

    pub(super) fn finish(mut self, body: Vec<ir::Statement>) -> super::Lowered {
        let mut all = std::mem::take(&mut self.hoisted);
        all.extend(body);
        self.kernel.body = all;
        super::Lowered { kernel: self.kernel, lattices: self.lattices }
    }

    /// The value of an index variable.
    pub(super) fn coordinate(&self, scope: &Scope, variable: concrete::IndexVariable) -> ir::Expr {
        self.known_coordinate(scope, variable).expect("the loop over an index variable encloses its uses")
    }

    /// The scope with those variables that an index is made of and that are computed themselves.
    fn with_parts(&self, index: &ir::IndexExpr<concrete::IndexVariable>, scope: &Scope) -> Scope {
        let mut all = scope.clone();
        for part in index.variables() {
            if self.concrete.variables[part.0].value.is_some()
                && let Some(value) = self.known_coordinate(scope, part)
            {
                all.coordinates.insert(part, value);
            }
        }
        all
    }

    /// The value of an index variable, where it is known already.
    pub(super) fn known_coordinate(&self, scope: &Scope, variable: concrete::IndexVariable) -> Option<ir::Expr> {
        let bound = scope.coordinates.get(&variable).cloned();
        bound.or_else(|| match self.concrete.variables[variable.0].value.as_ref()? {
            Computed::Index { index, .. } => {
                let size = |counted: concrete::IndexVariable| self.size(self.concrete.variables[counted.0].extent);
                computed::value(index, &self.with_parts(index, scope), &size)
            }
            Computed::Fused { whole, row, is_outer } => {
                let operator = if *is_outer { ir::BinaryOperator::Divide } else { ir::BinaryOperator::Remainder };
                Some(ir::Expr::binary(operator, self.known_coordinate(scope, *whole)?, self.size(*row)))
            }
            Computed::Mode { tensor, mode, used, levels, .. } => {
                let is_known = used.iter().all(|&level| self.known_coordinate(scope, levels[level]).is_some());
                is_known.then(|| self.index_in_mode(*tensor, *mode, levels, scope))
            }
        })
    }
}

/// Workspaces of so many elements cost nothing to make where they are used.
const MOST_ON_STACK: u64 = 1024;

/// An extent as a dimension of the loop IR.
pub(super) fn dimension(extent: usize) -> ir::DimensionId {
    ir::DimensionId(u32::try_from(extent).expect("few extents"))
}
