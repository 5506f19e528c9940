//! Ways through an expression.

use super::{
    Access, Assignment, BinaryOperator, Expr, IndexVariable, Kernel, Reading, Tensor, TensorId, UnaryOperator,
    Variable, running,
};
use crate::diagnostics::Span;
use crate::format::Format;
use crate::ir::{ElementType, IndexExpr, Literal};

impl Expr {
    /// The type of its value, where the tensors have these.
    pub fn element(&self, of: &dyn Fn(TensorId) -> ElementType) -> ElementType {
        match self {
            Expr::Literal(literal) => literal.element(),
            Expr::Access(access) if access.reads == Reading::Stored => ElementType::Bool,
            Expr::Access(access) => of(access.values()),
            Expr::Index(_, element) | Expr::Cast(element, _) => element.computed(),
            Expr::Binary(operator, left, _) if operator.is_arithmetic() => left.element(of),
            Expr::Unary(UnaryOperator::Not, _) | Expr::Binary(..) => ElementType::Bool,
            Expr::Unary(_, operand) | Expr::Reduce(_, _, operand) | Expr::Select(_, operand, _) => operand.element(of),
            Expr::Call(function, arguments) => function.result(arguments[0].element(of)),
        }
    }

    /// Calls `visit` on every access, in reading order.
    pub fn for_each_access(&self, visit: &mut dyn FnMut(&Access)) {
        match self {
            Expr::Access(access) => visit(access),
            Expr::Literal(_) | Expr::Index(..) => {}
            _ => self.children().into_iter().for_each(|child| child.for_each_access(visit)),
        }
    }

    /// Calls `change` on every access, in reading order.
    pub fn for_each_access_mut(&mut self, change: &mut dyn FnMut(&mut Access)) {
        match self {
            Expr::Access(access) => change(access),
            _ => self.children_mut().into_iter().for_each(|child| child.for_each_access_mut(change)),
        }
    }

    /// The same expression with every operand replaced.
    pub fn map_children(&self, replace: &dyn Fn(&Expr) -> Expr) -> Expr {
        match self {
            Expr::Literal(_) | Expr::Access(_) | Expr::Index(..) => self.clone(),
            Expr::Unary(operator, operand) => Expr::Unary(*operator, Box::new(replace(operand))),
            Expr::Cast(element, operand) => Expr::Cast(*element, Box::new(replace(operand))),
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

    /// The operands of the outermost operator, in order.
    pub fn children(&self) -> Vec<&Expr> {
        match self {
            Expr::Literal(_) | Expr::Access(_) | Expr::Index(..) => Vec::new(),
            Expr::Unary(_, a) | Expr::Cast(_, a) | Expr::Reduce(_, _, a) => vec![a],
            Expr::Binary(_, a, b) => vec![a, b],
            Expr::Call(_, arguments) => arguments.iter().collect(),
            Expr::Select(condition, a, b) => vec![condition, a, b],
        }
    }

    /// The same with [`Expr::children`] for writing.
    pub fn children_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Expr::Literal(_) | Expr::Access(_) | Expr::Index(..) => Vec::new(),
            Expr::Unary(_, a) | Expr::Cast(_, a) | Expr::Reduce(_, _, a) => vec![a],
            Expr::Binary(_, a, b) => vec![a, b],
            Expr::Call(_, arguments) => arguments.iter_mut().collect(),
            Expr::Select(condition, a, b) => vec![condition, a, b],
        }
    }

    /// Every access, in order of appearance.
    pub fn accesses(&self) -> Vec<&Access> {
        match self {
            Expr::Access(access) => vec![access],
            _ => self.children().into_iter().flat_map(Expr::accesses).collect(),
        }
    }

    /// Adds the conditions that `&&` joins.
    pub(crate) fn conjuncts<'e>(&'e self, parts: &mut Vec<&'e Expr>) {
        match self {
            Expr::Binary(BinaryOperator::And, left, right) => {
                left.conjuncts(parts);
                right.conjuncts(parts);
            }
            part => parts.push(part),
        }
    }

    /// Calls `visit` on every index variable where it occurs, bound or free.
    pub fn for_each_variable(&self, visit: &mut dyn FnMut(IndexVariable)) {
        match self {
            Expr::Access(access) => access.indices.iter().copied().for_each(visit),
            Expr::Index(variable, _) => visit(*variable),
            Expr::Reduce(_, variables, body) => {
                variables.iter().copied().for_each(&mut *visit);
                body.for_each_variable(visit);
            }
            _ => self.children().into_iter().for_each(|child| child.for_each_variable(visit)),
        }
    }

    /// The index variables that occur and that no reduction inside binds, in order of appearance; `expand` says what an index is
    /// made of.
    pub fn free_variables(&self, expand: &dyn Fn(IndexVariable) -> Vec<IndexVariable>) -> Vec<IndexVariable> {
        let mut free = Vec::new();
        self.collect_free(expand, &mut Vec::new(), &mut free);
        free
    }

    fn collect_free(
        &self,
        expand: &dyn Fn(IndexVariable) -> Vec<IndexVariable>,
        bound: &mut Vec<IndexVariable>,
        free: &mut Vec<IndexVariable>,
    ) {
        let mut occurs = |variable: IndexVariable| {
            let made_of = expand(variable);
            // What is computed from a bound variable is known inside only.
            let is_inner = made_of.iter().any(|part| bound.contains(part));
            for part in made_of {
                let is_known = bound.contains(&part) || free.contains(&part);
                if !is_known && (!is_inner || part != variable) {
                    free.push(part);
                }
            }
        };
        match self {
            Expr::Access(access) => access.indices.iter().copied().for_each(occurs),
            Expr::Index(variable, _) => occurs(*variable),
            Expr::Reduce(_, variables, body) => {
                let outer = bound.len();
                bound.extend(variables);
                body.collect_free(expand, bound, free);
                bound.truncate(outer);
            }
            _ => self.children().into_iter().for_each(|child| child.collect_free(expand, bound, free)),
        }
    }

    /// Puts `rename(v)` for every index variable `v`, bound or free.
    pub fn rename(&mut self, rename: &mut impl FnMut(IndexVariable) -> IndexVariable) {
        match self {
            Expr::Access(access) => access.rename(rename),
            Expr::Index(variable, _) => *variable = rename(*variable),
            Expr::Reduce(_, variables, _) => variables.iter_mut().for_each(|variable| *variable = rename(*variable)),
            _ => {}
        }
        self.children_mut().into_iter().for_each(|child| child.rename(rename));
    }

    /// The expression with each access replaced.
    pub fn map_accesses(&self, replace: &dyn Fn(&Access) -> Expr) -> Expr {
        match self {
            Expr::Access(access) => replace(access),
            _ => self.map_children(&|child| child.map_accesses(replace)),
        }
    }
}

impl Access {
    /// A tensor at index variables, with its own values.
    pub fn new(tensor: TensorId, indices: Vec<IndexVariable>, span: Span) -> Self {
        Self { tensor, indices, reads: Reading::Value, span }
    }

    /// The tensor whose value is meant.
    pub fn values(&self) -> TensorId {
        match self.reads {
            Reading::ValueOf(tensor) => tensor,
            Reading::Value | Reading::Stored => self.tensor,
        }
    }

    /// Whether there is an entry at the place.
    pub fn stored(&self) -> Expr {
        Expr::Access(Access { reads: Reading::Stored, ..self.clone() })
    }

    /// Whether both name the same place: the same tensor at the same index variables.
    pub fn same_place(&self, other: &Access) -> bool {
        self.tensor == other.tensor && self.indices == other.indices
    }

    /// Puts `rename(v)` for every index variable `v`.
    pub fn rename(&mut self, rename: &mut impl FnMut(IndexVariable) -> IndexVariable) {
        self.indices.iter_mut().for_each(|variable| *variable = rename(*variable));
    }
}

impl Assignment {
    /// The index variables that occur, in order of appearance; before a computed one, those that it is made of. Behind them all, those
    /// of which computed ones take the extents.
    pub fn variables(&self, table: &[Variable]) -> Vec<IndexVariable> {
        let mut variables = self.loops(table);
        let counted = |variable: &IndexVariable| table[variable.0].value.as_ref().map(IndexExpr::extents);
        let counted: Vec<IndexVariable> = variables.iter().filter_map(counted).flatten().collect();
        counted.into_iter().for_each(|variable| {
            if !variables.contains(&variable) {
                variables.push(variable)
            }
        });
        variables
    }

    fn loops(&self, table: &[Variable]) -> Vec<IndexVariable> {
        let mut variables = Vec::new();
        let mut note = |variable: IndexVariable| {
            for variable in running(table, &[variable]).into_iter().chain([variable]) {
                if !variables.contains(&variable) {
                    variables.push(variable);
                }
            }
        };
        self.target.indices.iter().copied().for_each(&mut note);
        self.value.for_each_variable(&mut note);
        self.mask.iter().flat_map(|mask| &mask.indices).copied().for_each(&mut note);
        variables
    }

    /// What is read: operands in reading order, then the mask.
    pub fn reads(&self) -> impl Iterator<Item = &Access> {
        self.value.accesses().into_iter().chain(&self.mask)
    }

    /// Calls `change` on the target and on everything that is read.
    pub fn for_each_access_mut(&mut self, change: &mut dyn FnMut(&mut Access)) {
        change(&mut self.target);
        self.value.for_each_access_mut(change);
        self.mask.iter_mut().for_each(change);
    }

    /// Puts `rename(v)` for every index variable `v`, bound or free.
    pub fn rename(&mut self, rename: &mut impl FnMut(IndexVariable) -> IndexVariable) {
        self.target.rename(rename);
        self.value.rename(rename);
        self.mask.iter_mut().for_each(|mask| mask.rename(rename));
    }
}

impl Tensor {
    /// Whether entries may be missing: some level does not hold every coordinate.
    pub fn is_sparse(&self) -> bool {
        is_sparse(&self.format)
    }
}

impl Tensor {
    /// What an entry is that may be missing; `None` where every entry is there.
    pub fn missing(&self) -> Option<Literal> {
        self.is_sparse().then_some(self.fill)
    }
}

impl Kernel {
    /// Whether entries of an access may be missing.
    pub fn is_sparse(&self, access: &Access) -> bool {
        self.tensor(access.tensor).is_sparse()
    }
}

fn is_sparse(format: &Format) -> bool {
    format.levels.iter().any(|level| !level.format.kind.is_dense())
}
