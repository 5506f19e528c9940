//! From a kernel of several statements to a chain of kernels of one statement each.
//!
//! Passes over the notation, each a kernel in and a kernel out: [`versions`] gives each statement a tensor of its own,
//! [`inline`] leaves out the temporaries that need not be made, and [`split`] cuts what is left; between them [`terms`] cuts sums, [`sampled`] masks
//! temporaries of which little is read, [`narrow`] makes
//! temporaries of parts of what would be too much for one loop nest, and [`regions`] of what reductions have of stored entries:
//!
//! ```text
//! fn step(A: csr, x: dense, b: dense) -> (y: dense, n: f64) {
//!     let p(i) = A(i, j) * x(j);
//!     y(i) = p(i);                         y(i) = sum(j)(A(i, j) * x(j)) + b(i)      fn step_y(A, x, b) -> y
//!     y(i) += b(i);               →
//!     n = y(i) * y(i);                     n = sum(i)(y(i) * y(i))                   fn step_n(y) -> n
//! }
//! ```
//!
//! A link's operands are the kernel's parameters and what links before it made; tensors of one name are one tensor.

mod inline;
mod narrow;
mod part;
mod regions;
mod sampled;
mod split;
mod terms;
#[cfg(test)]
mod tests;
mod versions;

pub(crate) use narrow::operands;
pub(crate) use terms::in_terms;

use super::{IndexVariable, Kernel, Stage, Variable};
use crate::diagnostics::Diagnostics;
use crate::ir::IndexExpr;
use crate::remark::Remark;
use std::borrow::Cow;

/// A kernel as statements that run one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    /// The kernel after fusing: each tensor is assigned by one statement.
    pub kernel: Kernel,
    /// A kernel for each of its statements, in order.
    pub links: Vec<Link>,
    /// What became of the temporaries.
    pub decisions: Vec<Remark>,
    /// What the schedule asks of temporaries and can't be had.
    pub problems: Diagnostics,
}

/// One statement as a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// The kernel: it reads parameters and results of other links, and has one result.
    pub kernel: Kernel,
    /// The index variables of [`Chain::kernel`] that its own stand for.
    pub variables: Vec<IndexVariable>,
    /// When it runs.
    pub stage: Stage,
}

/// A kernel as a chain of kernels of one statement each; with `fuse`, of as few as is not more work. A statement has at most
/// `most` sparse operands, as far as there are such parts.
pub fn chain(kernel: &Kernel, fuse: bool, most: usize) -> Chain {
    let mut problems = Diagnostics::new();
    let (mut kernel, mut decisions) = inline::inline(versions::versions(kernel), fuse, &mut problems);
    if let Cow::Owned(cut) = in_terms(&kernel) {
        kernel = cut;
    }
    if fuse {
        let (masked, remarks) = sampled::sampled(kernel);
        kernel = masked;
        decisions.extend(remarks);
    }
    let (kernel, parts) = narrow::narrow(kernel, most);
    decisions.extend(parts);
    let (kernel, apart) = regions::regions(kernel);
    decisions.extend(apart);
    let links = split::split(&kernel);
    Chain { kernel, links, decisions, problems }
}

/// The kernel with each temporary that is read once where it is read, as far as none need be made; `None` where there is none like that.
pub(crate) fn merged(kernel: &Kernel) -> Option<Kernel> {
    inline::merged(kernel)
}

/// Variables in the place of others: given ones, and copies of all that are met beside them.
struct Renaming {
    pairs: Vec<(IndexVariable, IndexVariable)>,
}

impl Renaming {
    /// The variable in the place of another; a copy is added to `table`, computed as the other is.
    fn get(&mut self, variable: IndexVariable, table: &mut Vec<Variable>) -> IndexVariable {
        if let Some(&(_, new)) = self.pairs.iter().find(|(old, _)| *old == variable) {
            return new;
        }
        let mut copy = table[variable.0].clone();
        // What counts the values of an index that is another now counts that one's.
        let is_like = |(old, _): &&(IndexVariable, IndexVariable)| table[old.0].written == copy.written;
        if let Some((_, new)) = self.pairs.iter().find(is_like).filter(|_| copy.written.is_some()) {
            copy.written = table[new.0].written.clone();
        }
        copy.value = copy.value.map(|value| {
            let value = value.replace(&mut |&made_of| {
                let new = self.get(made_of, table);
                table[new.0].value.clone().unwrap_or(IndexExpr::Variable(new))
            });
            value.map_extents(&mut |&counted| self.get(counted, table))
        });
        table.push(copy);
        let new = IndexVariable(table.len() - 1);
        self.pairs.push((variable, new));
        new
    }
}
