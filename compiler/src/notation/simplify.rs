//! What is left of an expression where some of it is constant.
//!
//! A missing entry is its tensor's fill value, which is a constant that takes part by the algebra of the operators: zero
//! changes no sum and annihilates products, infinity changes no minimum and annihilates sums, and so on. Whatever it is
//! combined with, also with NaN:
//!
//! ```text
//! t + X(i, j) * v(j)    X has no entry, fill 0      →      t
//! min(t, X(i, j) + v(j))    X has no entry, fill inf      →      t
//! ```

use super::{Access, BinaryOperator, Expr, Reading, UnaryOperator};
use crate::ir::{ElementType, Function, Literal, ReduceOperator, constant};

/// The value of an expression whose missing entries are known; `None` where it depends on stored values.
pub(crate) fn known(expr: &Expr, missing: &dyn Fn(&Access) -> Option<Literal>) -> Option<Literal> {
    literal(&simplify(with_missing(expr, missing)))
}

/// The expression with the fill value for each access that is missing.
pub(crate) fn with_missing(expr: &Expr, missing: &dyn Fn(&Access) -> Option<Literal>) -> Expr {
    expr.map_accesses(&|access| match (missing(access), access.reads) {
        (None, _) => Expr::Access(access.clone()),
        (Some(_), Reading::Stored) => Expr::Literal(constant::truth(false)),
        (Some(fill), _) => Expr::Literal(fill),
    })
}

/// The operands of an expression that it is constant without: where one of them is missing, whatever the others have. Those of a
/// product of what is zero elsewhere, both; of a sum of lengths that are infinite elsewhere, both; of a sum of what is zero elsewhere,
/// none.
pub(crate) fn decisive<'a>(expr: &'a Expr, fill: &dyn Fn(&Access) -> Literal) -> Vec<&'a Expr> {
    let mut operands = expr.children();
    operands.retain(|operand| {
        let mut inside: Vec<*const Access> = Vec::new();
        operand.for_each_access(&mut |access| inside.push(access));
        known(expr, &|access| inside.contains(&(access as *const Access)).then(|| fill(access))).is_some()
    });
    operands
}

/// The condition on indices and entries under which an expression is something else than a constant that is nothing, and what it
/// is then: of `select(i > j, A(i, j), 0)`.
pub(crate) fn choice<'e>(expr: &'e Expr, is_nothing: &dyn Fn(Literal) -> bool) -> Option<(&'e Expr, &'e Expr)> {
    match expr {
        Expr::Select(condition, value, nothing)
            if literal(nothing).is_some_and(is_nothing) && chooses_places(condition) =>
        {
            Some((condition, value))
        }
        _ => None,
    }
}

/// Whether such a condition leaves out terms of sums or elements, for whatever is nothing there.
pub(crate) fn has_choice(expr: &Expr, fill: Literal) -> bool {
    match expr {
        Expr::Reduce(operator, _, body) => {
            choice(body, &|nothing| is_identity(*operator, nothing)).is_some() || has_choice(body, fill)
        }
        Expr::Cast(_, operand) => has_choice(operand, fill),
        _ => choice(expr, &|nothing| fill.equals(nothing) || fill.is_zero() && nothing.is_zero()).is_some(),
    }
}

/// Whether a condition chooses places: where indices and entries alone tell whether it holds, or where it is marked as the condition of a
/// `where`, by a conversion that changes nothing.
fn chooses_places(condition: &Expr) -> bool {
    match condition {
        Expr::Access(access) => access.reads == Reading::Stored,
        Expr::Cast(ElementType::Bool, _) => true,
        Expr::Call(..) | Expr::Reduce(..) => false,
        _ => condition.children().into_iter().all(chooses_places),
    }
}

/// The literal that an expression is.
pub(crate) fn literal(expr: &Expr) -> Option<Literal> {
    match expr {
        Expr::Literal(literal) => Some(*literal),
        _ => None,
    }
}

/// The expression with constants worked in.
pub(crate) fn simplify(expr: Expr) -> Expr {
    match expr {
        Expr::Literal(_) | Expr::Access(_) | Expr::Index(..) => expr,
        Expr::Unary(operator, operand) => {
            let operand = simplify(*operand);
            let value = literal(&operand).and_then(|operand| constant::unary(operator, operand));
            value.map_or(Expr::Unary(operator, Box::new(operand)), Expr::Literal)
        }
        Expr::Cast(element, operand) => {
            let operand = simplify(*operand);
            let value = literal(&operand).and_then(|operand| constant::cast(element, operand));
            value.map_or(Expr::Cast(element, Box::new(operand)), Expr::Literal)
        }
        Expr::Binary(operator, left, right) => binary(operator, simplify(*left), simplify(*right)),
        Expr::Call(function, arguments) => call(function, arguments.into_iter().map(simplify).collect()),
        Expr::Select(condition, yes, no) => select(simplify(*condition), simplify(*yes), simplify(*no)),
        Expr::Reduce(operator, variables, body) => match simplify(*body) {
            // However many there are.
            Expr::Literal(literal) if is_identity(operator, literal) => Expr::Literal(literal),
            body => Expr::Reduce(operator, variables, Box::new(body)),
        },
    }
}

/// The expression without what changes nothing: `x + 0`, `1 * x`, `x / 1`, `-(-x)`. No operand that is there is left out.
pub(crate) fn plain(expr: &Expr) -> Expr {
    match expr.map_children(&plain) {
        Expr::Unary(UnaryOperator::Negate, operand) => match *operand {
            Expr::Unary(UnaryOperator::Negate, inner) => *inner,
            operand => Expr::Unary(UnaryOperator::Negate, Box::new(operand)),
        },
        Expr::Binary(operator, left, right) => {
            let is_neutral = |effect: Effect| matches!(effect, Effect::Neutral);
            match (literal(&left), literal(&right)) {
                (Some(left), None) if is_neutral(effect_on_the_left(operator, left)) => *right,
                (None, Some(right)) if is_neutral(effect_on_the_right(operator, right)) => *left,
                _ => Expr::Binary(operator, left, right),
            }
        }
        other => other,
    }
}

/// Whether there is a sum in an expression.
pub(crate) fn has_sum(expr: &Expr) -> bool {
    let mut found = matches!(expr, Expr::Reduce(..));
    found |= expr.children().into_iter().any(has_sum);
    found
}

/// Reductions merged with those by the same operator directly inside them, and signs moved into sums.
pub(crate) fn normalize(expr: &Expr) -> Expr {
    let expr = expr.map_children(&|child| normalize(child));
    match expr {
        Expr::Reduce(operator, mut variables, body) => match *body {
            Expr::Reduce(inner, more, body) if inner == operator => {
                variables.extend(more);
                Expr::Reduce(operator, variables, body)
            }
            body => Expr::Reduce(operator, variables, Box::new(body)),
        },
        Expr::Unary(UnaryOperator::Negate, operand) => match *operand {
            Expr::Reduce(ReduceOperator::Add, variables, body) => {
                Expr::Reduce(ReduceOperator::Add, variables, Box::new(Expr::Unary(UnaryOperator::Negate, body)))
            }
            operand => Expr::Unary(UnaryOperator::Negate, Box::new(operand)),
        },
        other => other,
    }
}

/// Whether reducing by the value changes nothing.
pub(crate) fn is_identity(operator: ReduceOperator, literal: Literal) -> bool {
    operator.is_identity(literal)
}

/// What a constant does to whatever an operator combines it with.
enum Effect {
    /// The other operand is the result.
    Neutral,
    /// The other operand with a `-` is the result.
    Negates,
    /// This is the result.
    Annihilates(Literal),
    /// It takes part.
    None,
}

fn binary(operator: BinaryOperator, left: Expr, right: Expr) -> Expr {
    let (a, b) = (literal(&left), literal(&right));
    // A product with a known zero is zero also where the other factor is infinite.
    let zero = |side: Option<Literal>| side.filter(|side| operator == BinaryOperator::Multiply && side.is_zero());
    // A divisor is never missing; where it is a sum over nothing, the zero above it is still known.
    let is_quotient = matches!(operator, BinaryOperator::Divide | BinaryOperator::Remainder);
    let quotient = a.filter(|a| is_quotient && a.is_zero());
    if let Some(zero) = zero(a).or(zero(b)).or(quotient) {
        return Expr::Literal(zero);
    }
    let folded = a.zip(b).and_then(|(a, b)| constant::binary(operator, a, b));
    let on_the_left = a.map_or(Effect::None, |a| effect_on_the_left(operator, a));
    let on_the_right = b.map_or(Effect::None, |b| effect_on_the_right(operator, b));
    match (folded, on_the_left, on_the_right) {
        (Some(literal), ..) => Expr::Literal(literal),
        (_, Effect::Annihilates(literal), _) | (_, _, Effect::Annihilates(literal)) => Expr::Literal(literal),
        (_, Effect::Neutral, _) => right,
        (_, _, Effect::Neutral) => left,
        (_, Effect::Negates, _) => Expr::Unary(UnaryOperator::Negate, Box::new(right)),
        _ => Expr::Binary(operator, Box::new(left), Box::new(right)),
    }
}

/// What `literal operator e` is for any `e`.
fn effect_on_the_left(operator: BinaryOperator, literal: Literal) -> Effect {
    use BinaryOperator::*;
    match operator {
        Add | Multiply | And | Or | BitAnd | BitOr => effect_on_the_right(operator, literal),
        // Bytes have no negative, and 0 - 0 of floating point numbers is not -0.
        Subtract if literal.is_zero() && literal.element().is_integer() && literal.element().is_signed() => {
            Effect::Negates
        }
        Subtract if literal.is_infinite() => Effect::Annihilates(literal),
        _ => Effect::None,
    }
}

/// What `e operator literal` is for any `e`.
fn effect_on_the_right(operator: BinaryOperator, literal: Literal) -> Effect {
    use BinaryOperator::*;
    let truth = constant::is_true(literal);
    match operator {
        Add | Subtract if literal.is_zero() => Effect::Neutral,
        Add if literal.is_infinite() => Effect::Annihilates(literal),
        Subtract if literal.is_infinite() => {
            constant::unary(UnaryOperator::Negate, literal).map_or(Effect::None, Effect::Annihilates)
        }
        Multiply if literal.is_zero() => Effect::Annihilates(literal),
        Multiply | Divide if literal.is_one() => Effect::Neutral,
        And if truth == Some(true) => Effect::Neutral,
        And if truth == Some(false) => Effect::Annihilates(literal),
        Or if truth == Some(false) => Effect::Neutral,
        Or if truth == Some(true) => Effect::Annihilates(literal),
        // Of the bits, those of a zero are none, and those of the identity of `&` are all.
        BitAnd if is_identity(ReduceOperator::And, literal) => Effect::Neutral,
        BitAnd if literal.is_zero() => Effect::Annihilates(literal),
        BitOr if literal.is_zero() => Effect::Neutral,
        BitOr if is_identity(ReduceOperator::And, literal) => Effect::Annihilates(literal),
        _ => Effect::None,
    }
}

fn call(function: Function, mut arguments: Vec<Expr>) -> Expr {
    let literals: Option<Vec<Literal>> = arguments.iter().map(literal).collect();
    if let Some(value) = literals.and_then(|literals| constant::call(function, &literals)) {
        return Expr::Literal(value);
    }
    // What changes no minimum is the largest there is, which is every maximum.
    let (neutral, annihilates) = match function {
        Function::Min => (ReduceOperator::Min, ReduceOperator::Max),
        Function::Max => (ReduceOperator::Max, ReduceOperator::Min),
        _ => return Expr::Call(function, arguments),
    };
    let place = |operator: ReduceOperator| {
        arguments.iter().position(|argument| literal(argument).is_some_and(|value| is_identity(operator, value)))
    };
    match (place(annihilates), place(neutral)) {
        (Some(place), _) => arguments.swap_remove(place),
        (None, Some(place)) => arguments.swap_remove(1 - place),
        (None, None) => Expr::Call(function, arguments),
    }
}

fn select(condition: Expr, yes: Expr, no: Expr) -> Expr {
    let same = literal(&yes).zip(literal(&no)).is_some_and(|(yes, no)| yes.equals(no));
    match literal(&condition).and_then(constant::is_true) {
        Some(true) => yes,
        Some(false) => no,
        None if same => yes,
        None => Expr::Select(Box::new(condition), Box::new(yes), Box::new(no)),
    }
}
