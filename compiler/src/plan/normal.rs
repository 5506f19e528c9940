//! The normal form: a sum of products over a ring.
//!
//! A part of a statement's value is planned where it is a reduction of factors, and what combines the factors distributes over the
//! reduction. Everything else is a factor as it is, or stays around what is planned:
//!
//! ```text
//! y(i) = b(i) + alpha * sum(j)(A(i, j) * sum(k)(B(j, k) * x(k)))      →      alpha, A(i, j), B(j, k), x(k); reduced: j, k
//! ```

use super::sets::Vars;
use crate::ir::{BinaryOperator, ElementType, Literal, ReduceOperator, UnaryOperator};
use crate::notation::{Assignment, Expr, IndexVariable, Kernel, Reading, simplify};

/// Products of more factors stay as they are written: sets of them are the bits of a word, with one more for each temporary.
const MOST_FACTORS: usize = 60;

/// Products of tensors of more modes stay as they are written.
const MOST_MODES: usize = 24;

/// What reduces, and what combines factors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ring {
    pub plus: ReduceOperator,
    pub times: BinaryOperator,
    /// What changes no reduction, and makes every product itself.
    pub zero: Literal,
}

/// `reduce(reduced)(scalars * factors)`
#[derive(Debug, Clone)]
pub(super) struct Product {
    pub ring: Ring,
    pub element: ElementType,
    /// Factors without index variables.
    pub scalars: Vec<Expr>,
    /// Divisors of the sum: expressions without index variables.
    pub divisors: Vec<Expr>,
    pub factors: Vec<Factor>,
    pub reduced: Vars,
    /// Whether it is written as one sum of a product.
    pub is_flat: bool,
}

/// A factor and the index variables that it depends on.
#[derive(Debug, Clone)]
pub(super) struct Factor {
    pub expr: Expr,
    pub variables: Vars,
}

impl Ring {
    /// The ring of a reduction, where it has one. Floating point sums distribute over `min` and `max` but for NaN; those of whole
    /// numbers wrap around.
    fn of(plus: ReduceOperator, element: ElementType) -> Option<Self> {
        let times = match plus {
            ReduceOperator::Min | ReduceOperator::Max if element.is_float() => BinaryOperator::Add,
            _ => plus.distributes()?,
        };
        let zero = plus.identity(element)?;
        Some(Self { plus, times, zero })
    }

    /// The ring of which an operator combines the factors.
    fn combined_by(times: BinaryOperator, element: ElementType) -> Option<Self> {
        let plus = match times {
            BinaryOperator::Multiply => ReduceOperator::Add,
            BinaryOperator::And => ReduceOperator::Or,
            _ => return None,
        };
        Self::of(plus, element).filter(|ring| ring.times == times)
    }
}

/// Whether a statement may be planned at all: what it writes, and where, must not depend on how its value is computed.
pub(super) fn is_plain(kernel: &Kernel, statement: &Assignment) -> bool {
    let is_running = |&variable: &IndexVariable| kernel.variables[variable.0].value.is_none();
    let target = &statement.target.indices;
    let mask = statement.mask.iter().flat_map(|mask| &mask.indices);
    let reads_itself = || statement.reads().any(|access| access.tensor == statement.target.tensor);
    target.iter().all(is_running) && mask.into_iter().all(|index| target.contains(index)) && !reads_itself()
}

/// The product that an expression is, where there is one that may be planned.
pub(super) fn product(kernel: &Kernel, expr: &Expr) -> Option<Product> {
    let element = kernel.element_of(expr);
    let ring = match expr {
        Expr::Reduce(plus, ..) => Ring::of(*plus, element)?,
        Expr::Binary(times, ..) => Ring::combined_by(*times, element)?,
        _ => return None,
    };
    let is_flat = matches!(expr, Expr::Reduce(..)) && reductions(expr) == 1;
    let (scalars, divisors, factors) = (Vec::new(), Vec::new(), Vec::new());
    let mut product = Product { ring, element, scalars, divisors, factors, reduced: 0, is_flat };
    product.collect(kernel, expr)?;
    let free = product.factors.iter().fold(0, |all, factor| all | factor.variables);
    let is_planned = product.reduced != 0 && product.reduced & !free == 0 && product.factors.len() <= MOST_FACTORS;
    is_planned.then_some(product)
}

impl Product {
    /// Adds an expression's factors; `None` where there is one that must stay where it is.
    fn collect(&mut self, kernel: &Kernel, expr: &Expr) -> Option<()> {
        match expr {
            Expr::Reduce(plus, variables, body) if *plus == self.ring.plus => {
                self.reduced |= set(kernel, variables)?;
                self.collect(kernel, body)
            }
            Expr::Binary(times, left, right) if *times == self.ring.times => {
                self.collect(kernel, left)?;
                self.collect(kernel, right)
            }
            Expr::Unary(UnaryOperator::Negate, operand) if self.is_linear() => {
                self.scalars.push(Expr::Literal(Literal::new(self.element, -1.0)?));
                self.collect(kernel, operand)
            }
            Expr::Binary(BinaryOperator::Divide, left, right) if self.is_linear() && self.is_divisor(kernel, right) => {
                self.divisors.push((**right).clone());
                self.collect(kernel, left)
            }
            factor => {
                let free = factor.free_variables(&|variable| kernel.running(&[variable]));
                let variables = set(kernel, &free)?;
                is_movable(kernel, factor, self.ring.zero).then_some(())?;
                match variables {
                    0 => self.scalars.push(factor.clone()),
                    _ => self.factors.push(Factor { expr: factor.clone(), variables }),
                }
                Some(())
            }
        }
    }

    /// Whether it is a sum of products of numbers that are rounded.
    fn is_linear(&self) -> bool {
        self.ring.plus == ReduceOperator::Add && self.element.is_rounded()
    }

    /// Whether all terms may be divided by an expression behind their sum.
    fn is_divisor(&self, kernel: &Kernel, expr: &Expr) -> bool {
        let free = expr.free_variables(&|variable| kernel.running(&[variable]));
        free.is_empty() && is_movable(kernel, expr, self.ring.zero)
    }

    /// The variables of the result.
    pub(super) fn free(&self) -> Vars {
        self.factors.iter().fold(0, |all, factor| all | factor.variables) & !self.reduced
    }
}

fn reductions(expr: &Expr) -> usize {
    usize::from(matches!(expr, Expr::Reduce(..))) + expr.children().into_iter().map(reductions).sum::<usize>()
}

/// Variables as a set; `None` where there are too many in the kernel, or one is computed.
fn set(kernel: &Kernel, variables: &[IndexVariable]) -> Option<Vars> {
    variables.iter().try_fold(0, |all, &variable| {
        let is_plain = variable.0 < Vars::BITS as usize && kernel.variables[variable.0].value.is_none();
        is_plain.then(|| all | 1 << variable.0)
    })
}

/// Whether a factor may be formed in other loops: it has a value everywhere that costs nothing to know, it is the zero of the ring
/// where a sparse operand has no entry, and it is no position.
fn is_movable(kernel: &Kernel, factor: &Expr, zero: Literal) -> bool {
    let missing = |access: &crate::notation::Access| kernel.tensor(access.tensor).missing();
    let is_sparse = factor.accesses().into_iter().any(|access| kernel.is_sparse(access));
    let is_zero = || simplify::known(factor, &missing).is_some_and(|known| known.equals(zero));
    !has_fixed_part(kernel, factor) && (!is_sparse || is_zero())
}

fn has_fixed_part(kernel: &Kernel, expr: &Expr) -> bool {
    let is_fixed = match expr {
        Expr::Index(..) | Expr::Reduce(..) => true,
        // A value that is not asked for may have no quotient.
        Expr::Binary(BinaryOperator::Divide | BinaryOperator::Remainder, left, _) => {
            !kernel.element_of(left).is_rounded()
        }
        Expr::Access(access) => access.reads != Reading::Value || access.indices.len() > MOST_MODES,
        _ => false,
    };
    is_fixed || expr.children().into_iter().any(|child| has_fixed_part(kernel, child))
}
