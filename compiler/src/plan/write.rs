//! A plan as a kernel of the notation: temporaries that are made get statements of their own, before the one that reads them.

use super::Vars;
use super::normal::Product;
use super::tree::{Part, Search, Tree};
use crate::diagnostics::Span;
use crate::format::{Format, LevelFormat};
use crate::notation::{Access, Assignment, Expr, Hints, IndexVariable, Kernel, Role, Tensor, TensorId, in_order};

/// The most letters of a name that is made of others.
const LONGEST: usize = 12;

/// A kernel that is written.
pub(super) struct Writer {
    pub kernel: Kernel,
    /// Temporaries that were made: the text of their values with variables by number, and what their values read.
    made: Vec<(String, Vec<TensorId>, TensorId)>,
}

impl Writer {
    /// The kernel without its statements.
    pub(super) fn new(kernel: &Kernel) -> Self {
        Self { kernel: Kernel { statements: Vec::new(), ..kernel.clone() }, made: Vec::new() }
    }

    /// Adds a statement; what reads the tensor that it writes is made again.
    pub(super) fn push(&mut self, statement: Assignment) {
        let written = statement.target.tensor;
        self.made.retain(|(_, reads, _)| !reads.contains(&written));
        self.kernel.statements.push(statement);
    }

    /// The value of a tree, of which the root is read where it stands; statements are added for what is made before.
    pub(super) fn value(&mut self, search: &Search, product: &Product, tree: &Tree, open: Vars, span: Span) -> Expr {
        let value = self.combination(search, product, tree, open, span);
        product.scalars.iter().rev().fold(value, |value, scalar| match value {
            Expr::Reduce(plus, variables, body) => {
                Expr::Reduce(plus, variables, Box::new(times(product, scalar.clone(), *body)))
            }
            value => times(product, scalar.clone(), value),
        })
    }

    fn combination(&mut self, search: &Search, product: &Product, tree: &Tree, open: Vars, span: Span) -> Expr {
        let mut parts = tree.parts.clone();
        // What is sparse comes first, which loops walk.
        let rank = |part: &Part| match part {
            Part::Factor(factor) => (search.factors[*factor].live == 0, *factor),
            Part::Made(set) => (search.made(*set).result.stored == 0, set.trailing_zeros() as usize),
        };
        parts.sort_by_key(rank);
        let mut vars: Vars = 0;
        let mut value: Option<Expr> = None;
        for part in parts {
            let factor = match part {
                Part::Factor(factor) => {
                    vars |= product.factors[factor].variables;
                    product.factors[factor].expr.clone()
                }
                Part::Made(set) => {
                    let levels = &search.made(set).result.levels;
                    vars |= levels.iter().fold(0, |all, &level| all | 1 << level);
                    Expr::Access(self.temporary(search, product, set, span))
                }
            };
            value = Some(match value {
                None => factor,
                Some(value) => times(product, value, factor),
            });
        }
        let value = value.expect("a tree has parts");
        let is_reduced = |variable: &usize| (vars & !open) >> *variable & 1 == 1;
        let reduced: Vec<IndexVariable> =
            tree.nest.order.iter().copied().filter(is_reduced).map(IndexVariable).collect();
        if reduced.is_empty() { value } else { Expr::Reduce(product.ring.plus, reduced, Box::new(value)) }
    }

    /// The temporary of a set, made before if it is not there.
    fn temporary(&mut self, search: &Search, product: &Product, set: u32, span: Span) -> Access {
        let made = search.made(set);
        let indices: Vec<IndexVariable> = made.result.levels.iter().copied().map(IndexVariable).collect();
        let open = made.result.levels.iter().fold(0, |all, &level| all | 1 << level);
        let value = self.combination(search, product, &made.tree, open, span);
        let level = |level: &usize| match made.result.stored >> level & 1 == 1 {
            true => LevelFormat::COMPRESSED,
            false => LevelFormat::DENSE,
        };
        let format = Format::of_levels(made.result.levels.iter().map(level));
        let key = self.key(&indices, &value, &format);
        if let Some((.., tensor)) = self.made.iter().find(|(known, ..)| *known == key) {
            return Access::new(*tensor, indices, span);
        }
        let reads: Vec<TensorId> = value.accesses().into_iter().map(|access| access.tensor).collect();
        let tensor = Tensor {
            name: self.name(&value),
            span,
            element: product.element,
            fill: product.ring.zero,
            format,
            format_name: None,
            role: Role::Temporary,
            declared: true,
            hints: Hints::default(),
        };
        self.kernel.tensors.push(tensor);
        let id = TensorId(self.kernel.tensors.len() - 1);
        let target = Access::new(id, indices, span);
        self.kernel.statements.push(Assignment { target: target.clone(), operator: None, value, mask: None, span });
        self.made.push((key, reads, id));
        target
    }

    /// What tells a temporary from others: its value, with variables numbered as they appear.
    fn key(&self, indices: &[IndexVariable], value: &Expr, format: &Format) -> String {
        let mut seen: Vec<IndexVariable> = indices.to_vec();
        let mut value = value.clone();
        value.rename(&mut |variable| {
            let place = seen.iter().position(|other| *other == variable);
            IndexVariable(place.unwrap_or_else(|| {
                seen.push(variable);
                seen.len() - 1
            }))
        });
        value.for_each_access_mut(&mut |access| access.span = Span::default());
        format!("{format} {value:?}")
    }

    /// A name made of those of what is read.
    fn name(&self, value: &Expr) -> String {
        let names: Vec<&str> = value.accesses().iter().map(|access| &*self.kernel.tensor(access.tensor).name).collect();
        let joined: String = names.iter().map(|name| name.trim_start_matches("t_")).collect();
        let short: String = joined.chars().take(LONGEST).collect();
        let wish = format!("t_{short}");
        let is_taken = |name: &str| {
            let tensors = self.kernel.tensors.iter().any(|tensor| tensor.name == name);
            tensors || self.kernel.variables.iter().any(|variable| variable.name == name)
        };
        let numbered = (2..).map(|number| format!("{wish}_{number}"));
        [wish.clone()].into_iter().chain(numbered).find(|name| !is_taken(name)).unwrap_or(wish)
    }

    /// The kernel, its variables named apart in each statement.
    pub(super) fn finish(mut self) -> Kernel {
        let taken: Vec<&str> = self.kernel.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
        self.kernel.variables = in_order(&mut self.kernel.statements, &self.kernel.variables, &taken);
        self.kernel
    }
}

fn times(product: &Product, left: Expr, right: Expr) -> Expr {
    Expr::Binary(product.ring.times, Box::new(left), Box::new(right))
}
