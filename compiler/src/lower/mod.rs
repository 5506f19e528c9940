//! Concrete notation to loops.
//!
//! In: [`concrete::Kernel`]. Out: [`ir::Kernel`]. Each `for all` becomes the loops of its merge lattice; each access
//! becomes positions, which the level formats know how to find. Before, with `A: csr`:
//!
//! ```text
//! parallel for all i
//!     with t
//!         for all j: t += A(i, j) * x(j)
//!     then y(i) = t
//! ```
//!
//! After:
//!
//! ```text
//! parallel low..high in 0..i, load-balanced parts of A2_pos
//!     for i in low..high
//!         t = 0
//!         for pA2 in A2_pos[i]..A2_pos[i + 1]
//!             j = A2_crd[pA2]
//!             t += A_vals[pA2] * x_vals[j]
//!         y_vals[i] = t
//! ```

mod assemble;
mod bounded;
mod computed;
mod declare;
mod forall;
mod mapped;
mod merge;
mod parallel;
mod position;
mod presence;
mod region;
mod scatter;
mod share;
mod statement;

use crate::concrete::{self, Access, IndexVariable, TensorId};
use crate::ir;
use crate::lattice::Lattice;
use std::collections::BTreeMap;

/// A kernel's loops and the lattices they came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Lowered {
    /// The loops.
    pub kernel: ir::Kernel,
    /// The lattice of each loop over stored levels, as text.
    pub lattices: Vec<String>,
}

/// The loops of a scheduled kernel.
pub fn lower(kernel: &concrete::Kernel) -> Lowered {
    let mut lowering = Lowering::new(kernel);
    let mut body = lowering.open_outputs();
    lowering.versions(&kernel.body, &mut body);
    lowering.close_outputs(&mut body);
    lowering.finish(body)
}

/// The declarations of a kernel whose body is empty.
pub fn declarations(interface: &concrete::Kernel) -> ir::Kernel {
    Lowering::new(interface).finish(Vec::new()).kernel
}

/// The kernel that is being built.
struct Lowering<'a> {
    concrete: &'a concrete::Kernel,
    kernel: ir::Kernel,
    /// For each tensor of the concrete kernel that crosses the border, its id in the loop IR.
    tensors: BTreeMap<TensorId, ir::TensorId>,
    arrays: BTreeMap<ir::ArrayRole, ir::ArrayId>,
    /// For each permutation, the array of entries' positions.
    orders: BTreeMap<TensorId, ir::ArrayId>,
    /// Where each workspace lives: a variable for a scalar, else an array.
    workspaces: BTreeMap<TensorId, Workspace>,
    /// The arrays of each sparse workspace.
    sparse: BTreeMap<TensorId, scatter::Sparse>,
    /// The operands whose padding a result would store as entries.
    padded: Vec<Access>,
    /// Whether workspaces that ask for it have dense values.
    with_bitmaps: bool,
    /// Workspaces of a size known only at run time are made once, at the start of the enclosing parallel body or kernel.
    hoisted: Vec<ir::Statement>,
    lattices: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
enum Workspace {
    Scalar(ir::VariableId),
    Array(ir::ArrayId),
}

/// What is known inside some loops.
#[derive(Debug, Clone, Default)]
struct Scope {
    /// The value of each index variable whose loop is outside.
    coordinates: BTreeMap<IndexVariable, ir::Expr>,
    /// The positions of levels that were walked, for each access and level.
    positions: BTreeMap<(TensorId, Vec<IndexVariable>, usize), crate::level::Parents>,
    /// The position of the entry that was appended last to an output with dense inner levels.
    appended: Option<ir::Expr>,
    /// The output whose entry is appended when the first of its values is known, at the position `appended`.
    pending: Option<Access>,
    /// The positions that loops over operands' levels are kept to.
    kept: Vec<share::Kept>,
    /// Computed variables that are known to lie inside of their tensors.
    inside: std::collections::BTreeSet<IndexVariable>,
    /// Whether a block outside stands out over its tensor.
    stands_out: bool,
    /// The place of the entry of a sparse workspace whose values are written.
    placed: Option<ir::Expr>,
    /// A flag to be set where the sum that is being formed has a term.
    touched: Option<ir::VariableId>,
    /// For each sum that may have had no term, the flag that tells; entries of nothing but such sums are not appended.
    flags: BTreeMap<TensorId, ir::VariableId>,
    /// How often the statement is to be done, where that is not once: see [`region`].
    repeated: Option<ir::Expr>,
}

impl Scope {
    fn at(&self, variable: IndexVariable, coordinate: ir::Expr) -> Scope {
        let mut scope = self.clone();
        scope.coordinates.insert(variable, coordinate);
        scope
    }

    fn walk(&mut self, access: &Access, level: usize, parents: crate::level::Parents) {
        self.positions.insert((access.tensor, access.indices.clone(), level), parents);
    }
}

impl Lowering<'_> {
    fn report(&mut self, variable: IndexVariable, operands: &[Access], lattice: &Lattice) {
        let name = |index: usize| concrete::show_access(self.concrete, &operands[index]);
        let mut text = format!("for all {}\n", self.concrete.variable(variable));
        for point in &lattice.points {
            let names: Vec<String> = point.operands.iter().map(name).collect();
            let statement = concrete::show_statement(self.concrete, &point.statement);
            text.push_str(&format!("    {{{}}}\n", names.join(", ")));
            for line in statement.lines() {
                text.push_str(&format!("        {line}\n"));
            }
        }
        if !self.lattices.contains(&text) {
            self.lattices.push(text);
        }
    }
}
