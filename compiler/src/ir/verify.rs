//! Kernel in, verified kernel or the list of what is wrong with it out. Printers and the interpreter take
//! [`Verified`] kernels only.
//!
//! # The rules
//!
//!  1. Every id names something that the kernel declares.
//!  2. Types fit: operands of operators, conditions `bool`, places and bounds `index`, what is stored to what it is stored in.
//!  3. A variable is declared (by a `let`, a loop, `work` or `owned`) before it is used, in an enclosing block, and not
//!     again while it is in scope. Counters and places are immutable indices.
//!  4. Only mutable variables are assigned and updated.
//!  5. A local array is made by `allocate`, `view`, `numbers`, `list`, `table` or `bitmap` before it is used, in an enclosing block, and not again while it is in
//!     scope. Parameters are never made.
//!  6. Inputs, sorted copies and immutable views are not written; only local arrays are filled.
//!  7. Only lists and arrays of appended outputs are appended to; index arrays of those are written in no other way.
//!  8. While a mutable view is in scope, what it views is not touched; while another view is, it is not written. A view's scope ends
//!     with its block, or where a later statement of that block is a view of the same array and one of the two is mutable.
//!  9. What a parallel loop writes and does not make inside is named once in `sharing`, and is used as that says: `owned`
//!     arrays are not appended to or filled; `segmented` and `private` ones are only reduced into, with that operator;
//!     only segments of outputs are begun `anew`; `joined` ones, and no others, are arrays of appended outputs, and positions
//!     are of another joined array.
//! 10. A mutable variable from outside a parallel loop is not read or assigned inside; only if it is named, once, in
//!     `reducing` it is updated, with that operator.
//! 11. Parallel loops do not nest.
//! 12. The starts of `owned` parts and of segments, and the length of these, mention their place, dimensions and arrays of
//!     inputs only; `work` its place, immutable variables and arrays that the loop does not write; `aligned` is an index
//!     array that the loop does not write.
//! 13. The array parameters come first, tensor by tensor, level by level, positions before coordinates, values last; they
//!     are those that the tensor's format and source call for, and so are their elements.
//! 14. Tensors are inputs, then outputs, then sorted copies (of inputs). Each has a dimension for every mode, and each
//!     level's coordinate is made of its modes. The structure of an output fits its format: dense means every level,
//!     shared means that the first levels have the arrays of an input's and the others are dense; values start empty
//!     exactly where they are appended. Outputs alone are delivered, in a format of the same order. An input has the pattern
//!     of one before it with the same format and dimensions. A fill value, and what
//!     values are filled with, are of the tensor's element type.
//! 15. Vector loops contain no `while`, `parallel`, `push`, `extend`, `insert`, `mark`, `marked`, `sort`, `clear` or `reset`,
//!     and assign no variable from outside.
//! 16. Operators of reductions have an identity for the type they reduce.
//! 17. Names of arrays are unique.
//! 18. An `if` has a branch.
//! 19. Only lists are sorted, cleared and inserted to; only tables know the places of keys, only keys of bitmaps are marked,
//!     and nothing else mentions these; nor does what is done for the marked keys of a bitmap.
//! 20. What stands for a parallel loop where work is uneven writes the same arrays and variables, and nothing stands for it.
//!
//! What it can't see: bounds, wrapping index arithmetic, overflow of stored indices, and whether `owned` parts and segments
//! really are apart. The interpreter reports those.

mod body;
mod declarations;
mod ids;
#[cfg(test)]
mod tests;

use super::Kernel;
use std::fmt;
use std::ops::Deref;

/// Something that the verifier has passed. There is no other way to make one.
#[derive(Debug, Clone, PartialEq)]
pub struct Verified<T>(T);

impl<T> Verified<T> {
    /// What was verified; from here on it may change.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for Verified<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A broken rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The number of the rule, as the list at the head of this module has it.
    pub rule: u32,
    /// Where: a declaration, or the way to a statement such as `body/2.for/0.store`.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (rule {})", self.path, self.message, self.rule)
    }
}

impl std::error::Error for Violation {}

/// Checks a kernel.
///
/// # Errors
/// All broken rules, in the order of the kernel's text. Where ids are out of range, only those.
pub fn verify(kernel: Kernel) -> Result<Verified<Kernel>, Vec<Violation>> {
    let violations = violations(&kernel);
    if violations.is_empty() { Ok(Verified(kernel)) } else { Err(violations) }
}

/// What [`verify`] would refuse a kernel for.
pub(crate) fn violations(kernel: &Kernel) -> Vec<Violation> {
    let mut violations = ids::check(kernel);
    if violations.is_empty() {
        violations = declarations::check(kernel);
        violations.extend(body::check(kernel));
    }
    violations
}
