//! Walks over expressions that several stages need.

use super::{Access, Expr, IndexVariable, Kernel};
use crate::ir::{ElementType, Literal};

impl Access {
    /// Whether both name the same element: the same tensor at the same index variables.
    pub fn same_place(&self, other: &Access) -> bool {
        self.tensor == other.tensor && self.indices == other.indices
    }
}

impl Expr {
    /// Calls `visit` on every access, in reading order.
    pub fn for_each_access(&self, visit: &mut dyn FnMut(&Access)) {
        match self {
            Expr::Access(access) => visit(access),
            Expr::Literal(_) | Expr::Index(..) => {}
            _ => self.for_each_child(&mut |child| child.for_each_access(visit)),
        }
    }

    /// Calls `visit` on every operand.
    pub fn for_each_child(&self, visit: &mut dyn FnMut(&Expr)) {
        match self {
            Expr::Literal(_) | Expr::Access(_) | Expr::Index(..) => {}
            Expr::Unary(_, operand) | Expr::Reduce(_, _, operand) => visit(operand),
            Expr::Binary(_, left, right) => {
                visit(left);
                visit(right);
            }
            Expr::Call(_, arguments) => arguments.iter().for_each(visit),
            Expr::Select(condition, yes, no) => {
                visit(condition);
                visit(yes);
                visit(no);
            }
        }
    }

    /// The same expression with every operand replaced.
    pub fn map_children(&self, replace: &dyn Fn(&Expr) -> Expr) -> Expr {
        match self {
            Expr::Literal(_) | Expr::Access(_) | Expr::Index(..) => self.clone(),
            Expr::Unary(operator, operand) => Expr::Unary(*operator, Box::new(replace(operand))),
            Expr::Binary(operator, left, right) => {
                Expr::Binary(*operator, Box::new(replace(left)), Box::new(replace(right)))
            }
            Expr::Call(function, arguments) => Expr::Call(*function, arguments.iter().map(replace).collect()),
            Expr::Select(condition, yes, no) => {
                Expr::Select(Box::new(replace(condition)), Box::new(replace(yes)), Box::new(replace(no)))
            }
            Expr::Reduce(operator, variables, body) => {
                Expr::Reduce(*operator, variables.clone(), Box::new(replace(body)))
            }
        }
    }

    /// The free index variables, in order of appearance.
    pub fn free_variables(&self) -> Vec<IndexVariable> {
        let mut found = Vec::new();
        self.collect_free(&mut Vec::new(), &mut found);
        found
    }

    fn collect_free(&self, bound: &mut Vec<IndexVariable>, found: &mut Vec<IndexVariable>) {
        let mut see = |variable: &IndexVariable| {
            if !bound.contains(variable) && !found.contains(variable) {
                found.push(*variable);
            }
        };
        match self {
            Expr::Access(access) => access.indices.iter().for_each(&mut see),
            Expr::Index(variable, _) => see(variable),
            Expr::Reduce(_, variables, body) => {
                let outer = bound.len();
                bound.extend(variables);
                body.collect_free(bound, found);
                bound.truncate(outer);
            }
            _ => self.for_each_child(&mut |child| child.collect_free(bound, found)),
        }
    }

    /// The element type of the value; `None` for a comparison.
    pub fn element(&self, kernel: &dyn Fn(&Access) -> ElementType) -> Option<ElementType> {
        match self {
            Expr::Literal(literal) => Some(literal.element()),
            Expr::Access(access) => Some(kernel(access)),
            Expr::Index(_, element) => Some(*element),
            Expr::Unary(_, operand) | Expr::Reduce(_, _, operand) => operand.element(kernel),
            Expr::Binary(operator, left, _) if operator.is_arithmetic() => left.element(kernel),
            Expr::Binary(..) => None,
            Expr::Call(_, arguments) => arguments.first()?.element(kernel),
            Expr::Select(_, yes, _) => yes.element(kernel),
        }
    }

    /// The expression with each access replaced; where `replace` gives `None`, by zero of type `element`.
    pub fn map_accesses_typed(&self, element: ElementType, replace: &dyn Fn(&Access) -> Option<Access>) -> Expr {
        match self {
            Expr::Access(access) => match replace(access) {
                Some(access) => Expr::Access(access),
                None => Expr::Literal(Literal::new(element, 0.0).unwrap_or(Literal::Float(element, 0.0))),
            },
            _ => self.map_children(&|child| child.map_accesses_typed(element, replace)),
        }
    }
}

impl crate::syntax::BinaryOperator {
    /// Whether it gives a value rather than a truth value.
    pub fn is_arithmetic(self) -> bool {
        use crate::syntax::BinaryOperator::*;
        matches!(self, Add | Subtract | Multiply | Divide | Remainder)
    }
}

impl Kernel {
    /// The element type of an access.
    pub fn element(&self, access: &Access) -> ElementType {
        self.tensor(access.tensor).element
    }
}
