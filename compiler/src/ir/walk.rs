//! Walks over expressions and statements that passes and printers share.

use super::{ArrayId, Expr, Factor, Parallel, Sharing, Statement, VariableId};
use std::collections::{BTreeMap, BTreeSet};

impl Expr {
    /// Calls `visit` on every operand.
    pub fn for_each_child(&self, visit: &mut dyn FnMut(&Expr)) {
        match self {
            Expr::Index(_)
            | Expr::Bool(_)
            | Expr::Literal(_)
            | Expr::Variable(_)
            | Expr::Dimension(_)
            | Expr::Length(_) => {}
            Expr::Fold(_, term) => term.for_each_value(visit),
            Expr::Load(_, operand) | Expr::Unary(_, operand) | Expr::Cast(_, operand) => visit(operand),
            Expr::Binary(_, left, right) => {
                visit(left);
                visit(right);
            }
            Expr::Call(_, arguments) | Expr::Mask { extents: arguments, .. } => arguments.iter().for_each(visit),
            Expr::Select(a, b, c) => [a, b, c].into_iter().for_each(|operand| visit(operand)),
            Expr::Search { begin, end, value, .. } => {
                [begin, end, value].into_iter().for_each(|operand| visit(operand))
            }
        }
    }

    /// The expression with every operand replaced.
    pub fn map_children(self, replace: &mut dyn FnMut(Expr) -> Expr) -> Expr {
        let mut boxed = |operand: Box<Expr>| Box::new(replace(*operand));
        match self {
            Expr::Index(_)
            | Expr::Bool(_)
            | Expr::Literal(_)
            | Expr::Variable(_)
            | Expr::Dimension(_)
            | Expr::Length(_) => self,
            Expr::Fold(operator, term) => Expr::Fold(operator, Box::new(term.map_values(replace))),
            Expr::Load(array, index) => Expr::Load(array, boxed(index)),
            Expr::Unary(operator, operand) => Expr::Unary(operator, boxed(operand)),
            Expr::Cast(ty, operand) => Expr::Cast(ty, boxed(operand)),
            Expr::Binary(operator, left, right) => Expr::Binary(operator, boxed(left), boxed(right)),
            Expr::Call(function, arguments) => Expr::Call(function, arguments.into_iter().map(replace).collect()),
            Expr::Mask { part, extents } => Expr::Mask { part, extents: extents.into_iter().map(replace).collect() },
            Expr::Select(a, b, c) => Expr::Select(boxed(a), boxed(b), boxed(c)),
            Expr::Search { array, begin, end, value, stride, find } => {
                Expr::Search { array, begin: boxed(begin), end: boxed(end), value: boxed(value), stride, find }
            }
        }
    }

    /// Calls `visit` on the expression and everything in it, outermost first.
    pub fn for_each(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        self.for_each_child(&mut |child| child.for_each(visit));
    }

    /// Calls `visit` on the arrays whose elements, or whose length, this expression itself asks for, not what is in it.
    pub fn for_each_array(&self, visit: &mut dyn FnMut(ArrayId)) {
        match self {
            Expr::Length(array) | Expr::Load(array, _) | Expr::Search { array, .. } => visit(*array),
            Expr::Fold(_, term) => term.factors().into_iter().for_each(|factor| {
                visit(factor.values());
                if let Factor::At { run, .. } = factor {
                    visit(run);
                }
            }),
            _ => {}
        }
    }

    /// The expression with variables replaced.
    pub fn substituted(self, values: &BTreeMap<VariableId, Expr>) -> Expr {
        match self {
            Expr::Variable(variable) => values.get(&variable).cloned().unwrap_or(Expr::Variable(variable)),
            other => other.map_children(&mut |child| child.substituted(values)),
        }
    }

    /// Whether the value depends on the variable.
    pub fn uses(&self, variable: VariableId) -> bool {
        let mut found = false;
        self.for_each(&mut |expr| found |= *expr == Expr::Variable(variable));
        found
    }
}

/// Defines a walk over a statement's own expressions, by references of one kind.
macro_rules! each_expr {
    ($(#[$doc:meta])* $name:ident, $iter:ident $(, $mutable:tt)?) => {
        $(#[$doc])*
        pub fn $name(&$($mutable)? self, visit: &mut dyn FnMut(&$($mutable)? Expr)) {
            match self {
                Statement::Comment(_)
                | Statement::List(_)
                | Statement::Sort { .. }
                | Statement::Clear(_)
                | Statement::Marked { .. }
                | Statement::Reset { .. } => {}
                Statement::Let(_, e)
                | Statement::Assign(_, e)
                | Statement::Update(_, _, e)
                | Statement::Fill(_, e)
                | Statement::Folds { terms: e, .. }
                | Statement::Push(_, e)
                | Statement::While(e, _)
                | Statement::Table { extent: e, .. }
                | Statement::Directory { extent: e, .. }
                | Statement::Bitmap { extent: e, .. }
                | Statement::Mark(_, e)
                | Statement::Insert { key: e, .. } => visit(e),
                Statement::Store(_, index, value) | Statement::Reduce(_, index, _, value) => {
                    visit(index);
                    visit(value);
                }
                Statement::Allocate { length, fill, .. } => {
                    visit(length);
                    visit(fill);
                }
                Statement::View { begin, length, .. } => {
                    visit(begin);
                    visit(length);
                }
                Statement::Numbers { mask, below, .. } => {
                    visit(mask);
                    visit(below);
                }
                Statement::Extend { count, fill, .. } => {
                    visit(count);
                    visit(fill);
                }
                Statement::For { begin, end, .. } => {
                    visit(begin);
                    visit(end);
                }
                Statement::Merge(merge) => {
                    merge.walks.$iter().for_each(|walk| {
                        visit(&$($mutable)? walk.begin);
                        visit(&$($mutable)? walk.end);
                        visit(&$($mutable)? walk.at);
                    });
                    merge.directory.$iter().for_each(|look_up| visit(&$($mutable)? look_up.parent));
                }
                Statement::If(branches, _) => branches.$iter().for_each(|(condition, _)| visit(condition)),
                Statement::Parallel(parallel) => parallel.$name(visit),
            }
        }
    };
}

/// Defines a walk over the expressions that say how a parallel range is cut and shared.
macro_rules! each_expr_of_range {
    ($(#[$doc:meta])* $name:ident, $iter:ident $(, $mutable:tt)?) => {
        $(#[$doc])*
        pub fn $name(&$($mutable)? self, visit: &mut dyn FnMut(&$($mutable)? Expr)) {
            visit(&$($mutable)? self.begin);
            visit(&$($mutable)? self.end);
            self.work.$iter().for_each(|work| visit(&$($mutable)? work.before));
            for (_, sharing) in self.sharing.$iter() {
                match sharing {
                    Sharing::Owned { start, .. } => visit(start),
                    Sharing::Segmented { start, length, .. } => [start, length].into_iter().for_each(&mut *visit),
                    Sharing::Private(_) | Sharing::Joined { .. } => {}
                }
            }
            self.uneven.$iter().for_each(|other| other.$name(visit));
        }
    };
}

/// Defines what gives a statement's blocks.
macro_rules! blocks {
    ($(#[$doc:meta])* $name:ident, $iter:ident, $bodies:ident $(, $mutable:tt)?) => {
        $(#[$doc])*
        pub fn $name(&$($mutable)? self) -> Vec<&$($mutable)? Vec<Statement>> {
            match self {
                Statement::For { body, .. }
                | Statement::While(_, body)
                | Statement::Marked { body, .. } => vec![body],
                Statement::Merge(merge) => merge.points.$iter().map(|point| &$($mutable)? point.body).collect(),
                Statement::If(branches, otherwise) => {
                    branches.$iter().map(|(_, body)| body).chain(std::iter::once(otherwise)).collect()
                }
                Statement::Parallel(parallel) => parallel.$bodies(),
                _ => Vec::new(),
            }
        }
    };
}

impl Statement {
    each_expr! {
        /// Calls `visit` on the expressions of this statement itself, not of the blocks in it.
        for_each_expr, iter
    }

    each_expr! {
        /// The same, to change them.
        for_each_expr_mut, iter_mut, mut
    }

    blocks! {
        /// The blocks of this statement.
        blocks, iter, bodies
    }

    blocks! {
        /// The same, to change them.
        blocks_mut, iter_mut, bodies_mut, mut
    }

    /// Calls `visit` on the variables that this statement itself declares or changes, to give them other names.
    pub fn for_each_variable_mut(&mut self, visit: &mut dyn FnMut(&mut VariableId)) {
        match self {
            Statement::Let(variable, _)
            | Statement::Assign(variable, _)
            | Statement::Update(variable, ..)
            | Statement::For { variable, .. }
            | Statement::Marked { variable, .. }
            | Statement::Insert { place: variable, .. } => visit(variable),
            Statement::Merge(merge) => {
                for walk in &mut merge.walks {
                    visit(&mut walk.place);
                    walk.run.iter_mut().for_each(&mut *visit);
                }
                visit(&mut merge.coordinate);
            }
            Statement::Parallel(parallel) => parallel.for_each_variable_mut(visit),
            _ => {}
        }
    }

    /// Calls `visit` on this statement and all in its blocks, outermost first.
    pub fn for_each(&self, visit: &mut dyn FnMut(&Statement)) {
        visit(self);
        for block in self.blocks() {
            block.iter().for_each(|statement| statement.for_each(visit));
        }
    }

    /// Whether the value of a variable matters to this statement or one in its blocks.
    pub fn uses(&self, variable: VariableId) -> bool {
        let mut found = false;
        self.for_each(&mut |statement| statement.for_each_expr(&mut |expr| found |= expr.uses(variable)));
        found
    }

    /// The array that this statement itself changes.
    pub fn written_array(&self) -> Option<ArrayId> {
        match self {
            Statement::Store(array, ..)
            | Statement::Reduce(array, ..)
            | Statement::Fill(array, _)
            | Statement::Folds { totals: array, .. }
            | Statement::Push(array, _)
            | Statement::Extend { array, .. }
            | Statement::Insert { keys: array, .. }
            | Statement::Sort { keys: array, .. }
            | Statement::Reset { keys: array, .. }
            | Statement::Mark(array, _)
            | Statement::Marked { bitmap: array, .. }
            | Statement::Clear(array) => Some(*array),
            _ => None,
        }
    }
}

impl Parallel {
    each_expr_of_range! {
        /// Calls `visit` on the expressions that say how the range is cut and shared.
        for_each_expr, iter
    }

    each_expr_of_range! {
        /// The same, to change them.
        for_each_expr_mut, iter_mut, mut
    }

    /// The loop and what it may do instead.
    pub fn alternatives(&self) -> impl Iterator<Item = &Parallel> {
        std::iter::successors(Some(self), |node| node.uneven.as_deref())
    }

    fn for_each_variable_mut(&mut self, visit: &mut dyn FnMut(&mut VariableId)) {
        visit(&mut self.low);
        visit(&mut self.high);
        self.work.iter_mut().for_each(|work| visit(&mut work.place));
        for (_, sharing) in &mut self.sharing {
            if let Sharing::Owned { place, .. } | Sharing::Segmented { place, .. } = sharing {
                visit(place);
            }
        }
        self.reductions.iter_mut().for_each(|(variable, _)| visit(variable));
        self.uneven.iter_mut().for_each(|other| other.for_each_variable_mut(visit));
    }

    /// What a chunk does, and what one of the loop for uneven work does.
    fn bodies(&self) -> Vec<&Vec<Statement>> {
        self.alternatives().map(|node| &node.body).collect()
    }

    fn bodies_mut(&mut self) -> Vec<&mut Vec<Statement>> {
        let mut bodies = vec![&mut self.body];
        bodies.extend(self.uneven.iter_mut().flat_map(|other| other.bodies_mut()));
        bodies
    }
}

/// Replaces variables by expressions, everywhere in a block.
pub(crate) fn substitute(block: &mut [Statement], values: &BTreeMap<VariableId, Expr>) {
    for statement in block {
        statement.for_each_expr_mut(&mut |expr| {
            *expr = std::mem::replace(expr, Expr::Index(0)).substituted(values);
        });
        statement.blocks_mut().into_iter().for_each(|inner| substitute(inner, values));
    }
}

/// The variables that a block declares.
pub(crate) fn declared(block: &[Statement]) -> BTreeSet<VariableId> {
    let mut declared = BTreeSet::new();
    for statement in block {
        statement.for_each(&mut |statement| match statement {
            Statement::Let(variable, _)
            | Statement::For { variable, .. }
            | Statement::Marked { variable, .. }
            | Statement::Insert { place: variable, .. } => {
                declared.insert(*variable);
            }
            Statement::Merge(merge) => declared.extend(merge.declared()),
            Statement::Parallel(parallel) => declared.extend([parallel.low, parallel.high]),
            _ => {}
        });
    }
    declared
}
