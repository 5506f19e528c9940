//! Reduction operators: one row each.
//!
//! A reduction operator is a commutative monoid on the values of an element type: it is associative, operands may change places
//! (both up to rounding), and an identity changes nothing. So a loop may reduce in any order, in parts, and start from the
//! identity. Everything that a stage asks about an operator is a column of its row: how the language writes it, what it starts
//! from, what it does, what distributes over it, which atomic operation a GPU has. A new operator is a variant and a row.

pub use crate::ir::constant::{LEFT, RIGHT};
use crate::ir::{BinaryOperator, ElementType, Expr, Function, Literal, Type, constant};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};

/// A reduction operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReduceOperator {
    /// `+`
    Add,
    /// `*`
    Multiply,
    /// `min`
    Min,
    /// `max`
    Max,
    /// `|`: of truth values, or of bits
    Or,
    /// `&`: of truth values, or of bits
    And,
    /// One that a text declares.
    Declared(Declared),
}

/// An operator that a text declares: `monoid join(a, b) = a + b - a * b with 0;`. It is a small value that names its declaration,
/// of which there is one in a process: equal ones are the same.
#[derive(Clone, Copy)]
pub struct Declared(&'static Declaration);

/// What a text declares an operator to be.
#[derive(Debug, PartialEq)]
struct Declaration {
    row: Monoid,
    definitions: Vec<Definition>,
    refused: Vec<(ElementType, String)>,
}

/// What a declared operator is for an element type.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The type.
    pub element: ElementType,
    /// What changes nothing.
    pub identity: Literal,
    /// What it makes of two values, which are the variables [`LEFT`] and [`RIGHT`]; made of literals, operators, functions,
    /// conversions and [`Expr::Select`].
    pub value: Expr,
}

/// The declarations of this process. They are few and small, and each is kept once, so that an operator is a value that is copied
/// and compared like a built-in one.
static DECLARATIONS: Mutex<Vec<&'static Declaration>> = Mutex::new(Vec::new());

/// Numbers of an element type to try the laws of operators on.
pub(crate) fn samples(element: ElementType) -> impl Iterator<Item = Literal> {
    let samples = [0.0, 1.0, -1.0, 2.0, -3.0, 0.5, 7.0, 100.0].into_iter();
    samples.filter_map(move |sample| Literal::new(element, sample)).filter(|sample| sample.is_exact())
}

impl ReduceOperator {
    /// The operator that is declared like this, with the element types that lack it, and why. An operator without definitions is a
    /// name: what the syntax tree has.
    pub fn declared(name: &str, definitions: Vec<Definition>, refused: Vec<(ElementType, String)>) -> Self {
        let mut all = DECLARATIONS.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |other: &&&'static Declaration| {
            other.row.sign == name && other.definitions == definitions && other.refused == refused
        };
        if let Some(known) = all.iter().find(is_it) {
            return ReduceOperator::Declared(Declared(known));
        }
        let named = all.iter().find(|other| other.row.sign == name).map(|other| other.row.sign);
        let name: &'static str = named.unwrap_or_else(|| Box::leak(name.to_owned().into_boxed_str()));
        let row = Monoid { sign: name, reduction: name, word: name, ..DECLARED };
        let declaration: &'static Declaration = Box::leak(Box::new(Declaration { row, definitions, refused }));
        all.push(declaration);
        ReduceOperator::Declared(Declared(declaration))
    }

    /// What a text declares it to be for an element type.
    pub fn definition(self, element: ElementType) -> Option<&'static Definition> {
        match self {
            ReduceOperator::Declared(Declared(declaration)) => {
                declaration.definitions.iter().find(|definition| definition.element == element)
            }
            _ => None,
        }
    }

    /// What a text declares it to be, for each element type that has it.
    pub fn definitions(self) -> &'static [Definition] {
        match self {
            ReduceOperator::Declared(Declared(declaration)) => &declaration.definitions,
            _ => &[],
        }
    }

    /// Why an element type lacks an operator that a text declares.
    pub fn refusal(self, element: ElementType) -> Option<&'static str> {
        match self {
            ReduceOperator::Declared(Declared(declaration)) => {
                let is_it = |(other, _): &&(ElementType, String)| *other == element;
                declaration.refused.iter().find(is_it).map(|(_, why)| why.as_str())
            }
            _ => None,
        }
    }

    /// Whether a text declares it.
    pub fn is_declared(self) -> bool {
        matches!(self, ReduceOperator::Declared(_))
    }
}

impl fmt::Debug for Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.row.sign)
    }
}

impl PartialEq for Declared {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Declared {}

impl Hash for Declared {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.row.sign.hash(state);
    }
}

/// What an operator does with two values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Combine {
    /// `a + b`
    Operator(BinaryOperator),
    /// `min(a, b)`
    Function(Function),
    /// What a text declares.
    Defined(&'static Definition),
}

/// The value that changes nothing, for any element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Identity {
    Zero,
    One,
    /// The largest value, or infinity.
    Greatest,
    /// The least value, or negative infinity.
    Least,
    /// `true`, or all bits.
    Ones,
}

/// The element types that have an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// All but truth values.
    Numbers,
    /// Numbers with an order: all but complex ones.
    Ordered,
    /// Truth values, and whole numbers bit by bit.
    Bits,
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Monoid {
    /// The operator that the row is about; `None` for one that a text declares.
    operator: Option<ReduceOperator>,
    /// What the language writes before the `=` of an update: `+` of `+=`, `min` of `min=`. The loop IR prints it too.
    pub sign: &'static str,
    /// The word of an explicit reduction: `sum` of `sum(k)(…)`.
    pub reduction: &'static str,
    /// A word for names in generated code.
    pub word: &'static str,
    /// What a reduction by it gives.
    pub summary: &'static str,
    /// The element types that have it.
    pub domain: Domain,
    /// What changes nothing.
    identity: Identity,
    /// What it does with two numbers.
    of_numbers: Combine,
    /// What it does with two truth values, where they have it.
    of_truths: Option<Combine>,
    /// What it does with two indices, and what changes nothing then; where the loop IR has it.
    of_indices: Option<(Combine, u64)>,
    /// The operator of the language that distributes over it: `a * (b + c)` is `a * b + a * c`.
    distributes: Option<BinaryOperator>,
    /// The name of CUDA's atomic operation, for types that the device has it for.
    pub atomic: Option<&'static str>,
    /// Whether `a ⊕ a` is `a`.
    pub is_idempotent: bool,
    /// Whether it rounds, so that another order gives other bits for floating point numbers.
    pub rounds: bool,
    /// Whether NaN stays NaN: `min` and `max` leave it out.
    pub keeps_nan: bool,
    /// Whether elements are negated term by term: `-(a ⊕ b)` is `-a ⊕ -b`.
    pub takes_sign: bool,
}

use BinaryOperator as Op;
use Combine::Operator;

/// What is known of any operator that a text declares. Its definitions say the rest.
const DECLARED: Monoid = Monoid {
    operator: None,
    sign: "",
    reduction: "",
    word: "",
    summary: "what the text declares",
    domain: Domain::Numbers,
    identity: Identity::Zero,
    of_numbers: Operator(Op::Add),
    of_truths: None,
    of_indices: None,
    distributes: None,
    atomic: None,
    is_idempotent: false,
    rounds: true,
    keeps_nan: true,
    takes_sign: false,
};

/// The table, in the order in which one is looked for.
static MONOIDS: [Monoid; 6] = [
    Monoid {
        operator: Some(ReduceOperator::Add),
        sign: "+",
        reduction: "sum",
        word: "add",
        summary: "the sum over indices",
        domain: Domain::Numbers,
        identity: Identity::Zero,
        of_numbers: Operator(Op::Add),
        of_truths: None,
        of_indices: Some((Operator(Op::Add), 0)),
        distributes: Some(Op::Multiply),
        atomic: Some("atomicAdd"),
        is_idempotent: false,
        rounds: true,
        keeps_nan: true,
        takes_sign: true,
    },
    Monoid {
        operator: Some(ReduceOperator::Multiply),
        sign: "*",
        reduction: "prod",
        word: "multiply",
        summary: "the product over indices",
        domain: Domain::Numbers,
        identity: Identity::One,
        of_numbers: Operator(Op::Multiply),
        of_truths: None,
        of_indices: Some((Operator(Op::Multiply), 1)),
        distributes: None,
        atomic: None,
        is_idempotent: false,
        rounds: true,
        keeps_nan: true,
        takes_sign: false,
    },
    Monoid {
        operator: Some(ReduceOperator::Min),
        sign: "min",
        reduction: "min",
        word: "min",
        summary: "the least value over indices",
        domain: Domain::Ordered,
        identity: Identity::Greatest,
        of_numbers: Combine::Function(Function::Min),
        of_truths: None,
        of_indices: Some((Operator(Op::Minimum), u64::MAX)),
        distributes: None,
        atomic: Some("atomicMin"),
        is_idempotent: true,
        rounds: false,
        keeps_nan: false,
        takes_sign: false,
    },
    Monoid {
        operator: Some(ReduceOperator::Max),
        sign: "max",
        reduction: "max",
        word: "max",
        summary: "the largest value over indices",
        domain: Domain::Ordered,
        identity: Identity::Least,
        of_numbers: Combine::Function(Function::Max),
        of_truths: None,
        of_indices: Some((Operator(Op::Maximum), 0)),
        distributes: None,
        atomic: Some("atomicMax"),
        is_idempotent: true,
        rounds: false,
        keeps_nan: false,
        takes_sign: false,
    },
    Monoid {
        operator: Some(ReduceOperator::Or),
        sign: "|",
        reduction: "any",
        word: "or",
        summary: "whether any is true; of whole numbers, the bits that any has",
        domain: Domain::Bits,
        identity: Identity::Zero,
        of_numbers: Operator(Op::BitOr),
        of_truths: Some(Operator(Op::Or)),
        of_indices: None,
        distributes: Some(Op::And),
        atomic: Some("atomicOr"),
        is_idempotent: true,
        rounds: false,
        keeps_nan: true,
        takes_sign: false,
    },
    Monoid {
        operator: Some(ReduceOperator::And),
        sign: "&",
        reduction: "all",
        word: "and",
        summary: "whether all are true; of whole numbers, the bits that all have",
        domain: Domain::Bits,
        identity: Identity::Ones,
        of_numbers: Operator(Op::BitAnd),
        of_truths: Some(Operator(Op::And)),
        of_indices: None,
        distributes: Some(Op::Or),
        atomic: Some("atomicAnd"),
        is_idempotent: true,
        rounds: false,
        keeps_nan: true,
        takes_sign: false,
    },
];

impl Identity {
    fn of(self, element: ElementType) -> Option<Literal> {
        match self {
            Identity::Zero => Some(element.zero()),
            Identity::One => Literal::new(element, 1.0),
            Identity::Greatest => element.extremes().map(|(_, greatest)| greatest),
            Identity::Least => element.extremes().map(|(least, _)| least),
            Identity::Ones => element.ones(),
        }
    }
}

impl Domain {
    /// Whether values of an element type have the operator.
    pub fn has(self, element: ElementType) -> bool {
        match self {
            Domain::Numbers => element != ElementType::Bool,
            Domain::Ordered => element.is_float() || element.is_integer(),
            Domain::Bits => element == ElementType::Bool || element.is_integer(),
        }
    }
}

impl ReduceOperator {
    /// The operators of the language, in the order of the table.
    pub const ALL: [ReduceOperator; 6] = [
        ReduceOperator::Add,
        ReduceOperator::Multiply,
        ReduceOperator::Min,
        ReduceOperator::Max,
        ReduceOperator::Or,
        ReduceOperator::And,
    ];

    /// What the table says about it.
    pub fn row(self) -> &'static Monoid {
        match self {
            ReduceOperator::Declared(Declared(declaration)) => &declaration.row,
            _ => MONOIDS.iter().find(|row| row.operator == Some(self)).expect("every operator has a row"),
        }
    }

    /// The operator of an explicit reduction: of `sum` in `sum(k)(…)`.
    pub fn from_reduction(name: &str) -> Option<Self> {
        MONOIDS.iter().find(|row| row.reduction == name).and_then(|row| row.operator)
    }

    /// The operator whose update is written like this before the `=`.
    pub fn from_sign(sign: &str) -> Option<Self> {
        MONOIDS.iter().find(|row| row.sign == sign).and_then(|row| row.operator)
    }

    /// Its sign or name: `+`, `min`.
    pub fn name(self) -> &'static str {
        self.row().sign
    }

    /// The value that changes nothing; `None` for an element type the operator is not defined for.
    pub fn identity(self, element: ElementType) -> Option<Literal> {
        let row = self.row();
        match self {
            ReduceOperator::Declared(_) => self.definition(element).map(|definition| definition.identity),
            _ if row.domain.has(element) => row.identity.of(element),
            _ => None,
        }
    }

    /// The index that changes nothing, where indices have the operator.
    pub fn index_identity(self) -> Option<u64> {
        self.row().of_indices.map(|(_, identity)| identity)
    }

    /// What changes nothing, as an expression of the loop IR.
    pub fn identity_of(self, ty: Type) -> Option<Expr> {
        match ty {
            Type::Index => self.index_identity().map(Expr::Index),
            Type::Bool => self.identity(ElementType::Bool).map(|identity| Expr::Bool(identity.is_one())),
            Type::Element(element) => self.identity(element).map(Expr::Literal),
        }
    }

    /// Whether a value changes nothing.
    pub fn is_identity(self, value: Literal) -> bool {
        self.identity(value.element()).is_some_and(|identity| identity.equals(value))
    }

    /// What it does with two values of a type; `None` for a type that it is not defined for.
    pub fn combine(self, ty: Type) -> Option<Combine> {
        let row = self.row();
        if self.is_declared() {
            let element = match ty {
                Type::Index => return None,
                Type::Bool => ElementType::Bool,
                Type::Element(element) => element,
            };
            return self.definition(element).map(Combine::Defined);
        }
        match ty {
            Type::Index => row.of_indices.map(|(combine, _)| combine),
            Type::Bool => row.of_truths,
            Type::Element(element) => row.domain.has(element).then_some(row.of_numbers),
        }
    }

    /// The operator that distributes over it: an operand of it that does not change in a reduction may as well be combined with
    /// the result.
    pub fn distributes(self) -> Option<BinaryOperator> {
        self.row().distributes
    }

    /// Whether a value combined with itself is that value. Of an operator that a text declares, samples tell.
    pub fn is_idempotent(self, element: ElementType) -> bool {
        match self.definition(element) {
            Some(Definition { value, .. }) => {
                let stays =
                    |sample: Literal| constant::defined(value, sample, sample).is_some_and(|it| it.equals(sample));
                samples(element).all(stays)
            }
            None => self.row().is_idempotent,
        }
    }

    /// Whether another order gives other bits.
    pub fn is_ordered(self, element: ElementType) -> bool {
        element.is_rounded() && self.row().rounds
    }

    /// Whether combining what chunks have, the identity where one has nothing, keeps every value of an element type.
    pub fn keeps_all(self, element: ElementType) -> bool {
        self.row().keeps_nan || !element.is_float()
    }

    /// An operator that values of a type have, for where each element is written once and it does not matter which.
    pub fn of_any(element: ElementType) -> ReduceOperator {
        if element == ElementType::Bool { ReduceOperator::Or } else { ReduceOperator::Add }
    }

    /// An operator that starts from `fill` and keeps every other value as it is, for elements that are written at most once.
    pub fn that_keeps(fill: Literal) -> Option<ReduceOperator> {
        let keeps = |operator: &ReduceOperator| operator.keeps_all(fill.element()) && operator.is_identity(fill);
        ReduceOperator::ALL.into_iter().find(keeps)
    }

    /// Whether values of this type can be reduced with it.
    pub fn reduces(self, ty: Type) -> bool {
        self.combine(ty).is_some()
    }

    /// What it makes of two constants of one type; `None` where the type lacks the operator.
    pub fn of(self, left: Literal, right: Literal) -> Option<Literal> {
        match self.combine(Type::of(left.element()))? {
            Combine::Operator(operator) => constant::binary(operator, left, right),
            Combine::Function(function) => constant::call(function, &[left, right]),
            Combine::Defined(definition) => constant::defined(&definition.value, left, right),
        }
    }
}

impl fmt::Display for ReduceOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_each_operator_and_identities_change_nothing() {
        for operator in ReduceOperator::ALL {
            assert_eq!(operator.row().operator, Some(operator));
            assert_eq!(ReduceOperator::from_reduction(operator.row().reduction), Some(operator));
            assert_eq!(ReduceOperator::from_sign(operator.name()), Some(operator));
            for element in ElementType::ALL {
                let Some(identity) = operator.identity(element) else { continue };
                for value in [element.zero(), Literal::new(element, 1.0).expect("every type has a one")] {
                    let combined = operator.of(identity, value);
                    assert_eq!(combined, operator.of(value, identity), "{operator} {element}");
                    assert!(combined.is_some_and(|combined| combined.equals(value)), "{operator} {element}");
                    let is_same = operator.of(value, value).is_some_and(|twice| twice.equals(value));
                    assert!(is_same || !operator.row().is_idempotent, "{operator} {element}");
                }
            }
        }
    }
}
