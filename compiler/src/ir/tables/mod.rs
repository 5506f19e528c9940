//! Tables that every stage reads: what is a row here is spelled nowhere else.

pub mod element;
pub mod monoid;
pub mod operator;

pub use element::{ElementKind, ElementType};
pub use monoid::{Combine, Definition, Domain, Monoid, ReduceOperator};
pub use operator::{BinaryOperator, Precedence, UnaryOperator};
