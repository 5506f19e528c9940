//! A plan as a kernel of the notation: temporaries that are made get statements of their own, before the one that reads them.

use super::normal::Product;
use super::sets::Vars;
use super::tree::{Mask, Part, Search, Tree};
use crate::diagnostics::Span;
use crate::format::{Format, LevelFormat};
use crate::notation::{
    Access, Assignment, BinaryOperator, Expr, Hints, IndexVariable, Kernel, Role, Stage, Tensor, TensorId,
};
use crate::syntax::{Schedule, parse_schedule};

/// The most letters of a name that is made of others.
const LONGEST: usize = 12;

/// A kernel that is written.
pub(super) struct Writer {
    pub kernel: Kernel,
    /// Temporaries that were made, by what tells them from others: their modes, and an order of these that goes with it.
    made: Vec<(String, TensorId, Vec<usize>, Vec<usize>)>,
    /// The copies that statements read: the number of a statement, the tensor, and the variables of its levels.
    copies: Vec<(usize, TensorId, Vec<IndexVariable>)>,
    /// The orders of loops that statements ask for.
    orders: Vec<(usize, Vec<IndexVariable>)>,
    /// What the next statement asks for.
    next: Next,
    /// When it runs, and what is made for it.
    pub(super) stage: Stage,
}

/// What a statement asks of its loops.
#[derive(Default)]
struct Next {
    /// The copies that it reads.
    read: Vec<(TensorId, Vec<IndexVariable>)>,
    /// The orders of its nests.
    orders: Vec<Vec<IndexVariable>>,
}

impl Writer {
    /// The kernel without its statements.
    pub(super) fn new(kernel: &Kernel) -> Self {
        let kernel = Kernel { statements: Vec::new(), ..kernel.clone() };
        Self {
            kernel,
            made: Vec::new(),
            copies: Vec::new(),
            orders: Vec::new(),
            next: Next::default(),
            stage: Stage::Before,
        }
    }

    /// Adds a statement.
    pub(super) fn push(&mut self, statement: Assignment) {
        let place = self.kernel.statements.len();
        let Next { read, orders } = std::mem::take(&mut self.next);
        self.copies.extend(read.into_iter().map(|(tensor, levels)| (place, tensor, levels)));
        self.orders.extend(orders.into_iter().map(|order| (place, order)));
        self.kernel.statements.push(statement);
    }

    /// The value of a tree, which is what a statement assigns, or part of it; statements are added for what is made before.
    pub(super) fn value(&mut self, search: &Search, product: &Product, tree: &Tree, target: &Access) -> Expr {
        if !tree.inside.is_empty() {
            let nests = [&tree.nest.order].into_iter().chain(tree.inside.iter().map(|(_, order)| order));
            self.next.orders.extend(nests.map(|order| order.iter().copied().map(IndexVariable).collect()));
        }
        let value = self.combination(search, product, (tree, &tree.inside), product.free(), target.span);
        let value = product.scalars.iter().rev().fold(value, |value, scalar| match value {
            Expr::Reduce(plus, variables, body) => {
                Expr::Reduce(plus, variables, Box::new(times(product, scalar.clone(), *body)))
            }
            value => times(product, scalar.clone(), value),
        });
        product.divisors.iter().fold(value, |value, divisor| {
            Expr::Binary(BinaryOperator::Divide, Box::new(value), Box::new(divisor.clone()))
        })
    }

    /// The factors and temporaries of a tree multiplied and summed up, with sums for the temporaries that are inside.
    fn combination(
        &mut self,
        search: &Search,
        product: &Product,
        (tree, inside): (&Tree, &[(usize, Vec<usize>)]),
        open: Vars,
        span: Span,
    ) -> Expr {
        let mut vars: Vars = 0;
        let mut value: Option<Expr> = None;
        for part in search.ordered(&tree.parts) {
            let factor = match part {
                Part::Factor(factor) => {
                    vars |= product.factors[factor].variables;
                    let expr = product.factors[factor].expr.clone();
                    if let (Expr::Access(access), Some((_, levels))) =
                        (&expr, search.copied.iter().find(|(copied, _)| *copied == factor))
                    {
                        self.next.read.push((access.tensor, levels.iter().copied().map(IndexVariable).collect()));
                    }
                    expr
                }
                Part::Made(number) if inside.iter().any(|(other, _)| *other == number) => {
                    let made = search.made(number);
                    let own = made.result.levels.iter().fold(0, |all, &level| all | 1 << level);
                    vars |= own;
                    self.combination(search, product, (&made.tree, inside), own, span)
                }
                Part::Made(number) => {
                    let next = std::mem::take(&mut self.next);
                    let access = self.temporary(search, product, number, span);
                    self.next = next;
                    vars |= access.indices.iter().fold(0, |all, index| all | 1 << index.0);
                    Expr::Access(access)
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

    /// A temporary, made before if it is not there.
    fn temporary(&mut self, search: &Search, product: &Product, number: usize, span: Span) -> Access {
        let node = search.node(number);
        if let Some((_, tensor, modes, arrangement)) = self.made.iter().find(|(key, ..)| *key == node.key) {
            let place = |mode: &usize| arrangement.iter().position(|variable| variable == mode).unwrap_or_default();
            let indices = modes.iter().map(|mode| IndexVariable(node.arrangement[place(mode)])).collect();
            return Access::new(*tensor, indices, span);
        }
        let made = search.made(number);
        let modes = made.result.levels.clone();
        let open = modes.iter().fold(0, |all, &level| all | 1 << level);
        let value = self.combination(search, product, (&made.tree, &[]), open, span);
        let next = std::mem::take(&mut self.next);
        let mask = made.mask.as_ref().map(|mask| self.mask(product, mask, span));
        self.next = next;
        let access = self.make(product, &modes, made.result.stored, value, mask, span);
        self.made.push((node.key, access.tensor, modes, node.arrangement));
        access
    }

    /// What chooses the entries of a temporary.
    fn mask(&mut self, product: &Product, mask: &Mask, span: Span) -> Access {
        let Expr::Access(whole) = &product.factors[mask.factor].expr else { unreachable!("masks are accesses") };
        if mask.is_whole {
            return whole.clone();
        }
        let key = format!("pattern {whole:?} {:?}", mask.levels);
        let indices = || mask.levels.iter().copied().map(IndexVariable).collect();
        if let Some((_, tensor, ..)) = self.made.iter().find(|(known, ..)| *known == key) {
            return Access::new(*tensor, indices(), span);
        }
        let reduced = whole.indices.iter().copied().filter(|index| !mask.levels.contains(&index.0)).collect();
        let value = Expr::Reduce(product.ring.plus, reduced, Box::new(Expr::Access(whole.clone())));
        let stored = mask.levels.iter().fold(0, |all, &level| all | 1 << level);
        let access = self.make(product, &mask.levels, stored, value, None, span);
        self.made.push((key, access.tensor, mask.levels.clone(), mask.levels.clone()));
        access
    }

    /// A new temporary.
    fn make(
        &mut self,
        product: &Product,
        modes: &[usize],
        stored: Vars,
        value: Expr,
        mask: Option<Access>,
        span: Span,
    ) -> Access {
        let level = |level: &usize| match stored >> level & 1 == 1 {
            true => LevelFormat::COMPRESSED,
            false => LevelFormat::DENSE,
        };
        let tensor = Tensor {
            name: self.name(&value),
            span,
            element: product.element,
            fill: product.ring.zero,
            format: Format::of_levels(modes.iter().map(level)),
            format_name: None,
            role: Role::Temporary,
            declared: true,
            hints: Hints::default(),
        };
        self.kernel.tensors.push(tensor);
        let indices = modes.iter().copied().map(IndexVariable).collect();
        let target = Access::new(TensorId(self.kernel.tensors.len() - 1), indices, span);
        self.push(Assignment { target: target.clone(), operator: None, value, mask, stage: self.stage, span });
        target
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

    /// The kernel, its variables named apart in each statement, with a schedule that asks for copies.
    pub(super) fn finish(mut self) -> Kernel {
        let before: Vec<Vec<IndexVariable>> =
            self.kernel.statements.iter().map(|statement| statement.variables(&self.kernel.variables)).collect();
        self.kernel.renumber_variables();
        let names = |statement: usize, variables: &[IndexVariable]| {
            let after = self.kernel.statements[statement].variables(&self.kernel.variables);
            let own = |variable: &IndexVariable| before[statement].iter().position(|other| other == variable);
            let names = variables.iter().filter_map(own).map(|place| self.kernel.variable(after[place]));
            names.collect::<Vec<_>>().join(", ")
        };
        let copies = self.copies.iter().map(|(statement, tensor, levels)| {
            let name = &self.kernel.tensor(*tensor).name;
            (*statement, format!("copy({name}({})); ", names(*statement, levels)))
        });
        let orders = self.orders.iter();
        let orders = orders.map(|(statement, order)| (*statement, format!("reorder({}); ", names(*statement, order))));
        let asked: Vec<(usize, String)> = copies.chain(orders).collect();
        let mut schedule = String::new();
        for statement in 0..self.kernel.statements.len() {
            let own: String = asked.iter().filter(|(of, _)| *of == statement).map(|(_, text)| text.as_str()).collect();
            if !own.is_empty() {
                let target = self.kernel.statements[statement].target.tensor;
                schedule.push_str(&format!("on {} {{ {own}}} ", self.kernel.tensor(target).name));
            }
        }
        if let Ok(copies) = parse_schedule(&format!("schedule {{ {schedule}}}"))
            && !schedule.is_empty()
        {
            let own = self.kernel.schedule.take();
            let directives = own.into_iter().flat_map(|own| own.directives).chain(copies.directives).collect();
            self.kernel.schedule = Some(Schedule { directives, span: copies.span });
        }
        self.kernel
    }
}

fn times(product: &Product, left: Expr, right: Expr) -> Expr {
    Expr::Binary(product.ring.times, Box::new(left), Box::new(right))
}
