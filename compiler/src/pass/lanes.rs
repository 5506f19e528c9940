//! Sums over dense rows and over runs of stored entries go in lanes: a sum in one variable waits for each addition before it
//! begins the next.
//!
//! ```text
//! for r in 0..R: t += B[i * R + r] * C[j * R + r]
//!
//! let lanes = [0; 8]
//! for block in 0..R / 8
//!     for lane in 0..8: lanes[lane] += B[i * R + block * 8 + lane] * C[j * R + block * 8 + lane]
//! for r in R / 8 * 8..R: t += B[i * R + r] * C[j * R + r]
//! for lane in 0..4: lanes[lane] += lanes[lane + 4]
//! for lane in 0..2: lanes[lane] += lanes[lane + 2]
//! t += lanes[0] + lanes[1]
//! ```
//!
//! Over stored entries there are four lanes, as most runs are short:
//!
//! ```text
//! for p in A_pos[i]..A_pos[i + 1]: t += A_vals[p] * x[A_crd[p]]
//!
//! let lanes = [0; 4]
//! let first = A_pos[i]
//! let blocks = (A_pos[i + 1] - first) / 4
//! for block in 0..blocks
//!     for lane in 0..4: lanes[lane] += A_vals[first + block * 4 + lane] * x[A_crd[first + block * 4 + lane]]
//! for p in first + blocks * 4..A_pos[i + 1]: t += A_vals[p] * x[A_crd[p]]
//! for lane in 0..2: lanes[lane] += lanes[lane + 2]
//! t += lanes[0] + lanes[1]
//! ```
//!
//! So it is with any operator that has an identity, which lanes begin with. That combines in another order, so it is done where the
//! language leaves the order open (a reduction) and where it matters: in floating point, which a target's compiler may not reorder.

use super::replacing;
use super::runs::{is_run_of_parent, walked};
use super::views::base;
use crate::ir::{
    ArrayElement, ArrayId, ArrayRole, BinaryOperator, ElementType, Expr, Kernel, Literal, ReduceOperator, Simd, Size,
    Statement, Type, VariableId,
};

/// The kernel with its innermost sums over dense rows in lanes.
pub(super) fn lanes(kernel: Kernel) -> Kernel {
    replacing(kernel, &|kernel, statement, _, done| match Sum::of(kernel, &statement) {
        Some(sum) if kernel.allows(sum.counter, Simd::Lanes) => {
            kernel.vectorized(sum.counter, Simd::Lanes);
            done.extend(sum.in_lanes(kernel));
        }
        _ => done.push(statement),
    })
}

/// `for counter in begin..end: total += term`, where elements lie side by side.
struct Sum {
    counter: VariableId,
    begin: Expr,
    end: Expr,
    /// What the term is made of: declared for each place.
    lets: Vec<(VariableId, Expr)>,
    total: VariableId,
    operator: ReduceOperator,
    identity: Literal,
    term: Expr,
    element: ElementType,
    /// How many lanes.
    count: u64,
}

impl Sum {
    fn of(kernel: &Kernel, statement: &Statement) -> Option<Sum> {
        let Statement::For { variable, begin, end, vector: false, body } = statement else { return None };
        let (last, lets) = body.split_last()?;
        let Statement::Update(total, operator, term) = last else { return None };
        let Type::Element(element) = kernel.variable(*total).ty else { return None };
        let lets = lets.iter().filter(|statement| !matches!(statement, Statement::Comment(_)));
        let lets = lets.map(|statement| match statement {
            Statement::Let(variable, value) if !kernel.variable(*variable).mutable => Some((*variable, value.clone())),
            _ => None,
        });
        let lets = lets.collect::<Option<Vec<_>>>()?;
        let parts = || lets.iter().map(|(_, value)| value).chain([term]);
        let is_row = *begin == Expr::Index(0) && lets.is_empty() && walks_rows(kernel, term, *variable);
        let count = if is_row { lane_count(element) } else { LANES_OF_RUNS };
        let enough = !is_row || size(kernel, end).is_none_or(|size| size >= count);
        let is_run = || walked(kernel, begin).is_some() && parts().any(|part| walks_entries(kernel, part, *variable));
        let identity = operator.identity(element)?;
        let takes_total = parts().any(|part| part.uses(*total));
        (element.is_rounded() && enough && !takes_total && (is_row && term.uses(*variable) || is_run())).then(|| Sum {
            counter: *variable,
            begin: begin.clone(),
            end: end.clone(),
            lets,
            total: *total,
            operator: *operator,
            identity,
            term: term.clone(),
            element,
            count,
        })
    }

    fn in_lanes(self, kernel: &mut Kernel) -> Vec<Statement> {
        let identity = Expr::Literal(self.identity);
        let lanes = kernel.declare_array("lanes", ArrayElement::Value(self.element), ArrayRole::Local);
        let mut statements =
            vec![Statement::Allocate { array: lanes, length: Expr::Index(self.count), fill: identity }];
        let (first, blocks) = self.blocks(kernel, &mut statements);
        let whole = match &blocks {
            Expr::Index(blocks) => Expr::Index(blocks * self.count),
            blocks => blocks.clone().times(Expr::Index(self.count)),
        };
        let (block, lane) = (kernel.declare_index("block"), kernel.declare_index("lane"));
        let place = first.clone().plus(Expr::Variable(block).times(Expr::Index(self.count)));
        statements.push(Statement::For {
            variable: block,
            begin: Expr::Index(0),
            end: blocks,
            vector: false,
            body: vec![self.combine_block(lanes, lane, &place)],
        });
        if size(kernel, &self.end).is_none_or(|size| size % self.count != 0) {
            let lets = self.lets.iter().map(|(variable, value)| Statement::Let(*variable, value.clone()));
            let update = Statement::Update(self.total, self.operator, self.term.clone());
            statements.push(Statement::For {
                variable: self.counter,
                begin: first.plus(whole),
                end: self.end.clone(),
                vector: false,
                body: lets.chain([update]).collect(),
            });
        }
        // Not under a condition that there are blocks: for runs of an entry or two that took a fifth longer.
        let mut half = self.count / 2;
        while half > 1 {
            let lane = kernel.declare_index("lane");
            let other = Expr::load(lanes, Expr::Variable(lane).plus(Expr::Index(half)));
            statements.push(combine_in_lanes(lanes, lane, self.operator, half, Vec::new(), other));
            half /= 2;
        }
        let element = |lane| Expr::load(lanes, Expr::Index(lane));
        let both = self.operator.combined(self.element, element(0), element(1)).expect("it has an identity");
        statements.push(Statement::Update(self.total, self.operator, both));
        statements
    }

    /// The first place and the number of blocks, declared where they are not known.
    fn blocks(&self, kernel: &mut Kernel, statements: &mut Vec<Statement>) -> (Expr, Expr) {
        if self.begin == Expr::Index(0) {
            let blocks = match size(kernel, &self.end) {
                Some(size) => Expr::Index(size / self.count),
                None => Expr::binary(BinaryOperator::Divide, self.end.clone(), Expr::Index(self.count)),
            };
            return (Expr::Index(0), blocks);
        }
        let (first, blocks) = (kernel.declare_index("first"), kernel.declare_index("blocks"));
        statements.push(Statement::Let(first, self.begin.clone()));
        // A range may end before it begins, as shares of runs do that have nothing of one.
        let end = if is_run_of_parent(&self.begin, &self.end) {
            self.end.clone()
        } else {
            Expr::binary(BinaryOperator::Maximum, self.end.clone(), Expr::Variable(first))
        };
        let length = end.minus(Expr::Variable(first));
        statements.push(Statement::Let(blocks, Expr::binary(BinaryOperator::Divide, length, Expr::Index(self.count))));
        (Expr::Variable(first), Expr::Variable(blocks))
    }

    /// The loop over the lanes of a block that begins at a place.
    fn combine_block(&self, lanes: ArrayId, lane: VariableId, place: &Expr) -> Statement {
        let here = |expr: &Expr| in_block(expr.clone(), self.counter, place, lane);
        let lets = self.lets.iter().map(|(variable, value)| Statement::Let(*variable, here(value))).collect();
        combine_in_lanes(lanes, lane, self.operator, self.count, lets, here(&self.term))
    }
}

/// The lanes of sums over stored entries: measured best from 2 to 40 entries a row.
const LANES_OF_RUNS: u64 = 4;

/// Whether values are loaded at the counter.
fn walks_entries(kernel: &Kernel, expr: &Expr, counter: VariableId) -> bool {
    let mut found = false;
    expr.for_each(&mut |expr| {
        if let Expr::Load(array, index) = expr {
            let is_value = matches!(kernel.array(*array).element, ArrayElement::Value(_));
            found |= is_value && **index == Expr::Variable(counter);
        }
    });
    found
}

/// As many elements as a cache line has, which is one or two vectors of any processor.
fn lane_count(element: ElementType) -> u64 {
    64 / element.bytes() as u64
}

/// The number that an expression is, where it is known.
pub(super) fn size(kernel: &Kernel, expr: &Expr) -> Option<u64> {
    match expr {
        Expr::Index(size) => Some(*size),
        Expr::Dimension(id) => match kernel.dimension(*id).size {
            Size::Constant(size) => Some(size),
            Size::Runtime | Size::Generic => None,
        },
        _ => None,
    }
}

/// Whether the counter occurs only where values are loaded at `base + counter`.
fn walks_rows(kernel: &Kernel, expr: &Expr, counter: VariableId) -> bool {
    match expr {
        Expr::Load(array, index) if index.uses(counter) => {
            base(index, counter).is_some() && matches!(kernel.array(*array).element, ArrayElement::Value(_))
        }
        Expr::Variable(variable) => *variable != counter,
        expr => {
            let mut all = true;
            expr.for_each_child(&mut |child| all &= walks_rows(kernel, child, counter));
            all
        }
    }
}

/// The term at `place + lane` in place of the counter.
fn in_block(expr: Expr, counter: VariableId, place: &Expr, lane: VariableId) -> Expr {
    match expr {
        Expr::Load(array, index) => match base(&index, counter) {
            Some(base) => Expr::load(array, base.plus(place.clone()).plus(Expr::Variable(lane))),
            None => Expr::load(array, in_block(*index, counter, place, lane)),
        },
        Expr::Variable(variable) if variable == counter => place.clone().plus(Expr::Variable(lane)),
        other => other.map_children(&mut |child| in_block(child, counter, place, lane)),
    }
}

fn combine_in_lanes(
    lanes: ArrayId,
    lane: VariableId,
    operator: ReduceOperator,
    count: u64,
    mut lets: Vec<Statement>,
    value: Expr,
) -> Statement {
    lets.push(Statement::Reduce(lanes, Expr::Variable(lane), operator, value));
    Statement::For { variable: lane, begin: Expr::Index(0), end: Expr::Index(count), vector: true, body: lets }
}
