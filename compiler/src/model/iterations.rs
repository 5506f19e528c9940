//! How often loops run.

use super::Sizes;
use crate::concrete::{
    Access, Assign, ExtentOf, IndexVariable, Kernel, OutputStructure, Statement, TensorId, TensorKind,
};
use crate::ir::Size;
use crate::level::{is_located, is_probed};
use crate::notation::Expr;
use crate::notation::simplify::{decisive, is_identity, literal};
use std::collections::BTreeMap;

/// How often each loop of a kernel runs.
pub(super) struct Iterations<'a> {
    kernel: &'a Kernel,
    sizes: &'a Sizes,
    extents: Vec<f64>,
    /// The statements that make workspaces.
    producers: BTreeMap<TensorId, Statement>,
}

/// The index variable of each level, outermost first.
pub(super) fn levels(kernel: &Kernel, access: &Access) -> Vec<IndexVariable> {
    let order = kernel.tensor(access.tensor).format.mode_order().unwrap_or_default();
    order.into_iter().map(|mode| access.indices[mode]).collect()
}

impl<'a> Iterations<'a> {
    /// `None` where the sizes of a tensor are not known that loops walk over.
    pub(super) fn new(kernel: &'a Kernel, sizes: &'a Sizes) -> Option<Self> {
        let mut unknown = false;
        kernel.body.for_each_read(&mut |access| {
            let tensor = kernel.tensor(access.tensor);
            let is_operand = tensor.kind.is_operand();
            unknown |= is_operand && !tensor.format.is_dense() && !sizes.tensors.contains_key(&tensor.name);
        });
        let extents = extents(kernel, sizes);
        (!unknown).then_some(Self { kernel, sizes, extents, producers: BTreeMap::new() })
    }

    /// The size of an extent.
    pub(super) fn extent(&self, place: usize) -> f64 {
        self.extents[place]
    }

    /// Notes what makes a workspace.
    pub(super) fn made(&mut self, workspace: TensorId, producer: &Statement) {
        self.producers.insert(workspace, producer.clone());
    }

    /// How often a loop runs for each iteration of those around it, and whether it goes through stored coordinates.
    pub(super) fn of(&self, variable: IndexVariable, body: &Statement) -> (f64, bool) {
        let declared = &self.kernel.variables[variable.0];
        // What is computed from outer loops and has a loop is searched for.
        if declared.value.is_some() {
            return (1.0, false);
        }
        let extent = self.extents[declared.extent];
        match self.of_statement(variable, body) {
            Some(entries) if self.comes_again(variable) => (entries, true),
            Some(entries) => (entries.min(extent), true),
            None => (extent, false),
        }
    }

    /// Whether a coordinate occurs again and again in an operand that is walked, as those of blocks in Morton order do.
    fn comes_again(&self, variable: IndexVariable) -> bool {
        let mut found = false;
        self.kernel.body.for_each_read(&mut |access| {
            let format = &self.kernel.tensor(access.tensor).format;
            let depth = levels(self.kernel, access).iter().position(|&other| other == variable);
            found |= depth.is_some_and(|depth| {
                let level = format.levels[depth].format;
                !level.unique() && !level.ordered() && !is_located(level) && !is_probed(level)
            });
        });
        found
    }

    /// At how many coordinates under a parent a statement does something; `None`: at each.
    fn of_statement(&self, variable: IndexVariable, statement: &Statement) -> Option<f64> {
        match statement {
            Statement::Empty => Some(0.0),
            Statement::Forall { body, .. } => self.of_statement(variable, body),
            Statement::Where { workspace, consumer, producer } => {
                let made = self.of_statement(variable, producer);
                self.of_consumer(variable, consumer, *workspace, made)
            }
            Statement::Sequence(statements) => {
                union(statements.iter().map(|statement| self.of_statement(variable, statement)))
            }
            Statement::Assign(assign) => self.of_assign(variable, assign, None),
        }
    }

    /// The same of what reads a workspace that is made at so many coordinates.
    fn of_consumer(
        &self,
        variable: IndexVariable,
        statement: &Statement,
        workspace: TensorId,
        made: Option<f64>,
    ) -> Option<f64> {
        match statement {
            Statement::Forall { body, .. } => self.of_consumer(variable, body, workspace, made),
            Statement::Sequence(statements) => {
                union(statements.iter().map(|statement| self.of_consumer(variable, statement, workspace, made)))
            }
            Statement::Assign(assign) => self.of_assign(variable, assign, Some((workspace, made))),
            other => self.of_statement(variable, other),
        }
    }

    fn of_assign(
        &self,
        variable: IndexVariable,
        assign: &Assign,
        workspace: Option<(TensorId, Option<f64>)>,
    ) -> Option<f64> {
        let changes_nothing = |expr: &Expr| {
            assign.operator.zip(literal(expr)).is_some_and(|(operator, value)| is_identity(operator, value))
        };
        let of = |expr: &Expr| self.of_expr(variable, expr, workspace);
        let of_value = match &assign.value {
            Expr::Select(condition, yes, no) if changes_nothing(no) => intersection([of(condition), of(yes)]),
            // What is done elsewhere is done at once.
            Expr::Select(_, yes, no) if changes_nothing(yes) && of(no).is_none() => Some(1.0),
            value => of(value),
        };
        let of_masks = assign.masks.iter().map(|mask| self.of_access(variable, mask, None));
        let value = intersection(of_masks.chain([of_value]));
        // A sparse result has the entries that it has.
        match self.of_result(variable, &assign.target) {
            Some(entries) if value.is_some() => Some(entries),
            _ => value,
        }
    }

    fn of_result(&self, variable: IndexVariable, target: &Access) -> Option<f64> {
        match &self.kernel.tensor(target.tensor).kind {
            TensorKind::Output(OutputStructure::Appended | OutputStructure::Shared { .. }) => {
                self.children(variable, target)
            }
            _ => None,
        }
    }

    fn of_expr(&self, variable: IndexVariable, expr: &Expr, workspace: Option<(TensorId, Option<f64>)>) -> Option<f64> {
        let of = |expr: &Expr| self.of_expr(variable, expr, workspace);
        match expr {
            Expr::Access(access) => self.of_access(variable, access, workspace),
            Expr::Literal(_) | Expr::Index(..) => None,
            Expr::Reduce(_, _, body) => of(body),
            Expr::Unary(_, operand) | Expr::Cast(_, operand) => of(operand),
            Expr::Binary(..) | Expr::Call(..) => {
                match decisive(expr, &|access| self.kernel.tensor(access.values()).fill) {
                    none if none.is_empty() => union(expr.children().into_iter().map(of)),
                    all => intersection(all.into_iter().map(of)),
                }
            }
            Expr::Select(_, yes, no) => union([of(yes), of(no)]),
        }
    }

    fn of_access(
        &self,
        variable: IndexVariable,
        access: &Access,
        workspace: Option<(TensorId, Option<f64>)>,
    ) -> Option<f64> {
        if let Some((tensor, made)) = workspace
            && tensor == access.tensor
        {
            return made;
        }
        match &self.kernel.tensor(access.tensor).kind {
            TensorKind::Workspace | TensorKind::SparseWorkspace(_) => {
                let producer = self.producers.get(&access.tensor)?;
                self.of_statement(variable, producer)
            }
            _ => self.children(variable, access),
        }
    }

    /// The mean number of coordinates of a variable under a parent, where a tensor stores them; `None` where it does not, so that
    /// it has something at each.
    fn children(&self, variable: IndexVariable, access: &Access) -> Option<f64> {
        let tensor = self.kernel.tensor(access.tensor);
        let variables = levels(self.kernel, access);
        let depth = variables.iter().position(|&other| other == variable)?;
        let level = tensor.format.levels[depth].format;
        if is_located(level) || is_probed(level) {
            return None;
        }
        if let Some(&children) = self.sizes.children.get(&(tensor.name.clone(), depth)) {
            return Some(children);
        }
        let size = self.sizes.tensors.get(&tensor.name)?;
        let parents = if depth == 0 { 1.0 } else { size.levels.get(depth - 1)?.entries };
        let entries = size.levels.get(depth)?.entries;
        Some(if parents == 0.0 { 0.0 } else { entries / parents })
    }
}

/// Each extent, as the shapes of tensors say it.
fn extents(kernel: &Kernel, sizes: &Sizes) -> Vec<f64> {
    let constant = |size: Size| if let Size::Constant(extent) = size { extent as f64 } else { 0.0 };
    let mut extents: Vec<f64> = kernel.extents.iter().map(|extent| constant(extent.size)).collect();
    for tensor in &kernel.tensors {
        let Some(size) = sizes.tensors.get(&tensor.name) else { continue };
        let places = tensor.stored.as_ref().map_or(&tensor.extents, |stored| &stored.extents);
        for (&place, &extent) in places.iter().zip(&size.shape) {
            extents[place] = extent as f64;
        }
    }
    for place in 0..extents.len() {
        match kernel.extents[place].of {
            Some(ExtentOf::Level(tensor, level)) => {
                let size = sizes.tensors.get(&kernel.tensor(tensor).name);
                extents[place] = size.and_then(|size| size.levels.get(level)).map_or(1.0, |level| level.extent);
            }
            Some(ExtentOf::Blocks { extent, by }) => extents[place] = (extents[extent] / by as f64).ceil(),
            Some(ExtentOf::Inside(by)) => extents[place] = by as f64,
            Some(ExtentOf::Product(outer, inner)) => extents[place] = extents[outer] * extents[inner],
            None => {}
        }
    }
    extents
}

/// Where one of several has something: nowhere more often than their sum.
fn union(parts: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    parts.into_iter().try_fold(0.0, |sum, part| Some(sum + part?))
}

/// Where all of several have something: nowhere more often than the least.
fn intersection(parts: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    parts.into_iter().flatten().reduce(f64::min)
}
