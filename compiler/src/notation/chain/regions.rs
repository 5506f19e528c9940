//! Reductions whose terms are all alike where sparse operands have no entry, in two parts: that over the entries, and what the others
//! come to.
//!
//! The loops over the entries are then those of a sum: in vector lanes, by a load-balanced partition of the entries. What is left is known without
//! the entries, in closed form ([`region`](crate::lattice::Lattice::region)). With `A: csr`:
//!
//! ```text
//! y(i) = max(j)(A(i, j) * x(j));     →     y_part(i) = max(j)(select(stored(A(i, j)), A(i, j) * x(j), -inf));
//!                                          y(i) = max(y_part(i), max(j)(select(stored(A(i, j)), -inf, 0.0)));
//! ```
//!
//! Where no order of loops has the result's indices outside, as in a product of matrices by rows, or it has none, the entries are counted first:
//!
//! ```text
//! Y(i, j) = max(k)(A(i, k) * B(k, j));     →     Y_part(i, j) = max(k)(…);
//!                                                Y_stored(i, j) = sum(k)(select(stored(A(i, k)) && stored(B(k, j)), 1, 0));
//!                                                Y(i, j) = max(Y_part(i, j), select(Y_stored(i, j) < sum(k)(1), 0.0, -inf));
//! ```

use super::part::{self, name};
use crate::format::Format;
use crate::ir::{ElementType, Literal, ReduceOperator};
use crate::level::is_located;
use crate::notation::simplify::{literal, simplify, with_missing};
use crate::notation::{
    Access, Assignment, BinaryOperator, Expr, IndexVariable, Kernel, Reading, Role, Tensor, TensorId, combine,
};
use crate::remark::{ClosedForm, Remark, Why};

/// With more sparse operands than this in a reduction, it stays whole: which sets of them matter is tried.
const MOST_OPERANDS: usize = 6;

/// The kernel with such reductions in two parts, and the reasons.
pub(super) fn regions(kernel: Kernel) -> (Kernel, Vec<Remark>) {
    part::cut_off(kernel, |kernel, statement| {
        let Some(region) = Region::of(kernel, statement) else { return Vec::new() };
        let made = region.split(kernel, statement);
        let whys = [region.why(kernel)].into_iter().chain(std::iter::repeat(Why::CountsEntries));
        made.into_iter().zip(whys).collect()
    })
}

/// A reduction with terms that are all alike where operands have no entry.
struct Region {
    operator: ReduceOperator,
    variables: Vec<IndexVariable>,
    body: Expr,
    /// Where terms may differ: a truth value made of whether operands have entries.
    support: Expr,
    /// The operands that it asks for.
    operands: Vec<Access>,
    /// A term anywhere else.
    constant: Expr,
    identity: Literal,
    /// Whether loops over the result's indices can be outside of all others.
    is_nested: bool,
}

impl Region {
    fn of(kernel: &Kernel, statement: &Assignment) -> Option<Region> {
        let Expr::Reduce(operator, variables, body) = &statement.value else { return None };
        let (operator, target) = (*operator, kernel.tensor(statement.target.tensor));
        let is_plain = |index: &IndexVariable| kernel.variables[index.0].value.is_none();
        let is_simple = statement.mask.is_none()
            && statement.operator.is_none_or(|own| own == operator)
            && target.format.is_dense()
            && target.format.mode_order().is_some()
            && statement.target.indices.iter().chain(variables).all(is_plain);
        let is_closed = operator.is_idempotent(target.element)
            || matches!(operator, ReduceOperator::Add | ReduceOperator::Multiply);
        if !is_simple || !is_closed {
            return None;
        }
        let identity = operator.identity(target.element)?;
        let operands = operands(kernel, body, variables);
        let are_plain = operands.iter().all(|access| access.indices.iter().all(is_plain));
        if operands.is_empty() || operands.len() > MOST_OPERANDS || !are_plain {
            return None;
        }
        let without = |present: usize| {
            let is_missing = |access: &Access| {
                let place = operands.iter().position(|operand| operand.same_place(access))?;
                (present >> place & 1 == 0).then(|| kernel.tensor(access.tensor).fill)
            };
            simplify(with_missing(body, &is_missing))
        };
        let constant = without(0);
        let is_identity = literal(&constant).is_some_and(|value| operator.is_identity(value));
        let reads_index = |value: &Expr| {
            let free = value.free_variables(&|variable| kernel.running(&[variable]));
            variables.iter().any(|variable| free.contains(variable))
        };
        if is_identity || reads_index(&constant) || has_reduction(&constant) {
            return None;
        }
        // The sets of operands that must have an entry for a term to differ; a larger set must not make it the same again.
        let sets = 1usize << operands.len();
        let differs: Vec<bool> = (0..sets).map(|set| without(set) != constant).collect();
        let is_upward = (0..sets).all(|set| !differs[set] || (0..operands.len()).all(|more| differs[set | 1 << more]));
        if !is_upward {
            return None;
        }
        let is_least = |set: &usize| (0..operands.len()).all(|one| set >> one & 1 == 0 || !differs[set & !(1 << one)]);
        let least: Vec<usize> = (0..sets).filter(|set| differs[*set]).filter(is_least).collect();
        let all_of = |set: &usize| {
            let members = operands.iter().enumerate().filter(|(place, _)| set >> place & 1 == 1);
            members.map(|(_, operand)| operand.stored()).reduce(|all, one| both(BinaryOperator::And, all, one))
        };
        let support = least.iter().filter_map(all_of).reduce(|any, all| both(BinaryOperator::Or, any, all))?;
        let of_set = |set: usize| operands.iter().enumerate().filter(move |(place, _)| set >> place & 1 == 1);
        let used = least.iter().fold(0, |used, set| used | set);
        // Where one operand has an entry, and another that is walked along an index need not, there is a term at each value of that.
        let has = |set: usize, variable: &IndexVariable| of_set(set).any(|(_, of)| of.indices.contains(variable));
        if variables.iter().any(|variable| has(used, variable) && !least.iter().all(|set| has(*set, variable))) {
            return None;
        }
        let operands: Vec<Access> = of_set(used).map(|(_, operand)| operand.clone()).collect();
        let is_power = operator == ReduceOperator::Multiply && !literal(&constant).is_some_and(Literal::is_zero);
        let is_nested = are_nested(kernel, &statement.target.indices, &operands);
        if is_power && !is_nested {
            return None;
        }
        // The outermost loop of a scalar goes through all values of an index, unless entries are counted.
        let is_nested = is_nested && (is_power || !statement.target.indices.is_empty());
        let (variables, body) = (variables.clone(), (**body).clone());
        Some(Region { operator, variables, body, support, operands, constant, identity, is_nested })
    }

    /// The statements that make the parts; the statement itself combines them.
    fn split(&self, kernel: &mut Kernel, statement: &mut Assignment) -> Vec<Assignment> {
        let of = statement.target.tensor;
        let element = kernel.tensor(of).element;
        let assigned = |target: &Access, value: Expr| Assignment {
            target: target.clone(),
            operator: None,
            value,
            mask: None,
            stage: statement.stage,
            span: statement.span,
        };
        let identity = || Box::new(Expr::Literal(self.identity));
        let constant = || Box::new(self.constant.clone());
        let reduce =
            |operator: ReduceOperator, body: Expr| Expr::Reduce(operator, self.variables.clone(), Box::new(body));
        let support = || Box::new(self.support.clone());

        let part = temporary(kernel, &statement.target, "part", element, self.identity);
        let entries = Expr::Select(support(), Box::new(self.body.clone()), identity());
        let mut made = vec![assigned(&part, reduce(self.operator, entries))];
        let rest = if self.is_nested {
            let value = reduce(self.operator, Expr::Select(support(), identity(), constant()));
            with_own_variables(kernel, value)
        } else {
            let index = ElementType::I64;
            let number = |element: ElementType, value: f64| {
                Box::new(Expr::Literal(Literal::new(element, value).unwrap_or(element.zero())))
            };
            let stored = temporary(kernel, &statement.target, "stored", index, index.zero());
            let counted = Expr::Select(support(), number(index, 1.0), number(index, 0.0));
            made.push(assigned(&stored, reduce(ReduceOperator::Add, counted)));
            // A product of extents may be more than a whole number can be; sums of whole numbers wrap around as it does.
            let wraps = self.operator == ReduceOperator::Add && !element.is_rounded();
            let number_type = if wraps || self.variables.len() == 1 { index } else { ElementType::F64 };
            let extent = |variable: &IndexVariable| {
                let counted = Expr::Reduce(ReduceOperator::Add, vec![*variable], number(number_type, 1.0));
                with_own_variables(kernel, counted)
            };
            let extents: Vec<Expr> = self.variables.iter().map(extent).collect();
            let all = extents.into_iter().reduce(|all, one| both(BinaryOperator::Multiply, all, one));
            let all = all.unwrap_or(*number(number_type, 1.0));
            let stored = match number_type {
                ElementType::I64 => Expr::Access(stored),
                other => Expr::Cast(other, Box::new(Expr::Access(stored))),
            };
            let is_less = || both(BinaryOperator::Less, stored.clone(), all.clone());
            let absent = match self.operator {
                ReduceOperator::Add => {
                    let absent = both(BinaryOperator::Subtract, all.clone(), stored.clone());
                    both(BinaryOperator::Multiply, self.constant.clone(), Expr::Cast(element, Box::new(absent)))
                }
                _ => self.constant.clone(),
            };
            // No times what is not finite is no number.
            let is_finite = !element.is_rounded() || literal(&self.constant).is_some_and(Literal::is_finite);
            match self.operator == ReduceOperator::Add && is_finite {
                true => absent,
                false => Expr::Select(Box::new(is_less()), Box::new(absent), identity()),
            }
        };
        statement.value = combine::combine(self.operator, element, Expr::Access(part), rest);
        made
    }

    fn why(&self, kernel: &Kernel) -> Why {
        Why::SameElsewhere {
            operands: self.operands.iter().map(|access| kernel.access(access).to_string()).collect(),
            value: kernel.expression(&self.constant).to_string(),
            closed: match self.operator {
                ReduceOperator::Add => ClosedForm::Times,
                ReduceOperator::Multiply => ClosedForm::Power,
                _ => ClosedForm::Once,
            },
        }
    }
}

fn both(operator: BinaryOperator, left: Expr, right: Expr) -> Expr {
    Expr::Binary(operator, Box::new(left), Box::new(right))
}

/// The operands of a reduction's terms that may have no entry for some values of its variables, each once.
fn operands(kernel: &Kernel, body: &Expr, variables: &[IndexVariable]) -> Vec<Access> {
    fn collect(kernel: &Kernel, expr: &Expr, variables: &[IndexVariable], found: &mut Vec<Access>) {
        match expr {
            Expr::Access(access) => {
                let is_over = kernel.running(&access.indices).iter().any(|variable| variables.contains(variable));
                if kernel.is_sparse(access) && is_over && !found.iter().any(|seen| seen.same_place(access)) {
                    found.push(Access { reads: Reading::Value, ..access.clone() });
                }
            }
            Expr::Reduce(..) => {}
            _ => expr.children().into_iter().for_each(|child| collect(kernel, child, variables, found)),
        }
    }
    let mut found = Vec::new();
    collect(kernel, body, variables, &mut found);
    found
}

fn has_reduction(value: &Expr) -> bool {
    matches!(value, Expr::Reduce(..)) || value.children().into_iter().any(has_reduction)
}

/// Whether loops over some indices, and inside of them over all others of the operands, walk the operands as they are stored.
fn are_nested(kernel: &Kernel, outside: &[IndexVariable], operands: &[Access]) -> bool {
    let mut edges: Vec<(IndexVariable, IndexVariable)> = Vec::new();
    let mut all: Vec<IndexVariable> = outside.to_vec();
    for operand in operands {
        let format = &kernel.tensor(operand.tensor).format;
        let Some(order) = format.mode_order().filter(|_| format.is_walked()) else { return false };
        let levels: Vec<IndexVariable> = order.into_iter().map(|mode| operand.indices[mode]).collect();
        for depth in (0..levels.len()).filter(|&depth| !is_located(format.levels[depth].format)) {
            edges.extend(levels[..depth].iter().map(|&outer| (outer, levels[depth])));
        }
        all.extend(levels.into_iter().filter(|variable| !all.contains(variable)).collect::<Vec<_>>());
    }
    for &outer in outside {
        edges.extend(all.iter().filter(|variable| !outside.contains(variable)).map(|&inner| (outer, inner)));
    }
    while !all.is_empty() {
        let is_free =
            |variable: &IndexVariable| !edges.iter().any(|(outer, inner)| inner == variable && all.contains(outer));
        let Some(place) = all.iter().position(is_free) else { return false };
        all.remove(place);
    }
    true
}

/// A dense temporary over the indices of a target.
fn temporary(kernel: &mut Kernel, of: &Access, what: &str, element: ElementType, fill: Literal) -> Access {
    let assigned = kernel.tensor(of.tensor).clone();
    let tensor = Tensor {
        name: name(kernel, &format!("{}_{what}", assigned.name)),
        element,
        fill,
        format: Format::dense(of.indices.len()),
        format_name: None,
        role: Role::Temporary,
        declared: false,
        ..assigned
    };
    kernel.tensors.push(tensor);
    Access::new(TensorId(kernel.tensors.len() - 1), of.indices.clone(), of.span)
}

/// The expression with variables of its own in its reduction, which run over the same extents.
fn with_own_variables(kernel: &mut Kernel, mut value: Expr) -> Expr {
    let Expr::Reduce(_, variables, _) = &value else { return value };
    let pairs: Vec<(IndexVariable, IndexVariable)> = variables
        .clone()
        .into_iter()
        .map(|variable| {
            kernel.variables.push(kernel.variables[variable.0].clone());
            (variable, IndexVariable(kernel.variables.len() - 1))
        })
        .collect();
    let own = |variable| pairs.iter().find(|(old, _)| *old == variable).map_or(variable, |(_, new)| *new);
    value.rename(&mut |variable| own(variable));
    value
}
