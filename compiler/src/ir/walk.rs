//! Walks over expressions and statements that passes and printers share.

use super::{ArrayId, BinaryOperator, Binding, Expr, Factor, Parallel, Part, PartMut, Statement, VariableId};
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

    /// Whether nothing is lost by computing it also where it is not needed: it can't fail, and costs little.
    pub fn is_cheap(&self) -> bool {
        match self {
            Expr::Index(_) | Expr::Bool(_) | Expr::Literal(_) | Expr::Variable(_) | Expr::Dimension(_) => true,
            Expr::Unary(_, operand) => operand.is_cheap(),
            Expr::Binary(operator, left, right) => {
                use BinaryOperator::{Divide, Gather, Remainder, Scatter};
                !matches!(operator, Divide | Remainder | Gather | Scatter) && left.is_cheap() && right.is_cheap()
            }
            Expr::Select(condition, yes, no) => condition.is_cheap() && yes.is_cheap() && no.is_cheap(),
            _ => false,
        }
    }
}

impl Statement {
    /// Calls `visit` on the expressions of this statement itself, not of the blocks in it.
    pub fn for_each_expr(&self, visit: &mut dyn FnMut(&Expr)) {
        self.parts(&mut |part| {
            if let Part::Expr(expr) = part {
                visit(expr);
            }
        });
    }

    /// The same, to change them.
    pub fn for_each_expr_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        self.parts_mut(&mut |part| {
            if let PartMut::Expr(expr) = part {
                visit(expr);
            }
        });
    }

    /// The blocks of this statement.
    pub fn blocks(&self) -> Vec<&Vec<Statement>> {
        let mut blocks = Vec::new();
        self.parts(&mut |part| {
            if let Part::Block(block, _) = part {
                blocks.push(block);
            }
        });
        blocks
    }

    /// The same, to change them.
    pub fn blocks_mut(&mut self) -> Vec<&mut Vec<Statement>> {
        let mut blocks = Vec::new();
        self.parts_mut(&mut |part| {
            if let PartMut::Block(block, _) = part {
                blocks.push(block);
            }
        });
        blocks
    }

    /// Calls `visit` on the variables that this statement itself declares or changes.
    pub fn for_each_variable(&self, visit: &mut dyn FnMut(VariableId, Binding)) {
        self.parts(&mut |part| {
            if let Part::Variable(variable, binding) = part {
                visit(*variable, binding);
            }
        });
    }

    /// The same, to give them other names.
    pub fn for_each_variable_mut(&mut self, visit: &mut dyn FnMut(&mut VariableId)) {
        self.parts_mut(&mut |part| {
            if let PartMut::Variable(variable, _) = part {
                visit(variable);
            }
        });
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
        let mut written = None;
        self.parts(&mut |part| {
            if let Part::Array(array, effect) = part
                && effect.changes()
            {
                written = written.or(Some(*array));
            }
        });
        written
    }
}

impl Parallel {
    /// The loop and what it may do instead.
    pub fn alternatives(&self) -> impl Iterator<Item = &Parallel> {
        std::iter::successors(Some(self), |node| node.uneven.as_deref())
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
    bound(block, Binding::Declares)
}

/// The variables that a block changes.
pub(crate) fn changed(block: &[Statement]) -> BTreeSet<VariableId> {
    bound(block, Binding::Changes)
}

fn bound(block: &[Statement], wanted: Binding) -> BTreeSet<VariableId> {
    let mut found = BTreeSet::new();
    let mut see = |variable, binding| {
        if binding == wanted {
            found.insert(variable);
        }
    };
    block.iter().for_each(|statement| statement.for_each(&mut |statement| statement.for_each_variable(&mut see)));
    found
}
