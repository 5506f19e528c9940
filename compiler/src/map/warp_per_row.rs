//! A group of lanes for each place: loops whose iterations meet only in what they reduce into are shared out among the lanes.
//!
//! ```text
//! let t = 0                                  let t = 0
//! for p in pos[i]..pos[i + 1]                for p in pos[i]..pos[i + 1] vector
//!     t += x[p] * c[crd[p]]                      t += x[p] * c[crd[p]]
//! y[i] = t                                   if lane == 0
//!                                                y[i] = t
//! ```
//!
//! Rows that lie side by side are not shared out: a thread for each reads memory beside that of its neighbours.
//!
//! What stands outside of such loops is done by every lane where it is about variables, and by the first where it writes memory.
//! Neighbours in a group are neighbours in memory, and a place with many entries is the work of many lanes (Bell and Garland,
//! Implementing sparse matrix-vector multiplication on throughput-oriented processors, 2009, section 4.2).

use crate::gpu::chunks::chunked;
use crate::gpu::plan::Group;
use crate::gpu::rewrite::{changed, declared, loaded, only_first, updated};
use crate::ir::{ArrayId, ArrayRole, BinaryOperator, Expr, Kernel, ReduceOperator, Size, Statement, VariableId};
use std::collections::{BTreeMap, BTreeSet};

/// Loops of fewer iterations are not worth the meeting at their end.
const FEW: u64 = 8;

/// A body for each lane of a group.
pub(super) struct Grouped {
    /// What a lane does.
    pub body: Vec<Statement>,
    /// The variables that tell it its place in the group.
    pub group: Group,
    /// An array with an element for each iteration that is shared out, of all places together: or how many each place has.
    pub iterations: Option<Iterations>,
}

/// How many iterations of a loop there are.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Iterations {
    /// As many as an array has elements, over all places.
    Elements {
        /// The array.
        array: ArrayId,
        /// Whether a lane takes several at a time, as a chunk of neighbours.
        in_chunks: bool,
    },
    /// So many at each place.
    Each(Expr),
}

/// The body for one lane of a group, where there is a loop to be shared out and lanes do not have to wait for each other;
/// updates of `atomic` arrays may meet.
pub(super) fn distribute(kernel: &mut Kernel, body: &[Statement], atomic: &BTreeSet<ArrayId>) -> Option<Grouped> {
    if !is_simple(body) {
        return None;
    }
    let lane = kernel.declare_index("lane");
    let width = kernel.declare_index("width");
    let own = crate::gpu::rewrite::allocated(body);
    let written = written_outside(body, &own);
    let read = loaded(body);
    // What the first lane writes, others would read before it is there.
    if written.iter().any(|array| read.contains(array)) {
        return None;
    }
    let mut grouping = Grouping {
        kernel,
        atomic,
        own,
        read,
        lane,
        taken: BTreeSet::new(),
        written: BTreeMap::new(),
        iterations: None,
    };
    let body = grouping.block(body);
    let (taken, iterations) = (grouping.taken.len(), grouping.iterations.take());
    // Elements that lanes write in one loop, the first lane must not write beside.
    let meets =
        |array: &ArrayId| !atomic.contains(array) && (grouping.written[array] > 1 || grouping.outside(array, &body));
    if taken == 0 || grouping.written.keys().any(meets) {
        return None;
    }
    let (first, strip) = (kernel.declare_index("first"), kernel.declare_index("strip"));
    Some(Grouped { body, group: Group { lane, width, first, strip }, iterations })
}

/// Whether a loop goes through the entries of a row that lie a stride apart: beside them are those of the next places, whose
/// threads then read neighbours.
fn is_stridden(end: &Expr) -> bool {
    let mut found = false;
    end.for_each(&mut |expr| found |= matches!(expr, Expr::Search { stride, .. } if *stride != 1));
    found
}

/// Whether a body has only statements that each lane may do for itself.
fn is_simple(body: &[Statement]) -> bool {
    let own = crate::gpu::rewrite::allocated(body);
    let mut is_simple = true;
    body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            is_simple &= match statement {
                Statement::Store(..) | Statement::Reduce(..) => true,
                Statement::Fill(array, _) => own.contains(array),
                other => crate::gpu::rewrite::is_of_one_thread(other),
            };
        });
    });
    is_simple
}

/// The arrays from outside that a body writes.
fn written_outside(body: &[Statement], own: &BTreeSet<ArrayId>) -> BTreeSet<ArrayId> {
    let mut written = BTreeSet::new();
    body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| written.extend(statement.written_array()));
    });
    written.difference(own).copied().collect()
}

/// The rewriting of a body for one lane.
struct Grouping<'a> {
    kernel: &'a mut Kernel,
    atomic: &'a BTreeSet<ArrayId>,
    /// Arrays that each lane has for itself.
    own: BTreeSet<ArrayId>,
    read: BTreeSet<ArrayId>,
    lane: VariableId,
    /// The counters of the loops that are shared out.
    taken: BTreeSet<VariableId>,
    /// In how many of these each array is written.
    written: BTreeMap<ArrayId, usize>,
    iterations: Option<Iterations>,
}

/// A loop.
struct Loop<'a> {
    variable: VariableId,
    begin: &'a Expr,
    end: &'a Expr,
    is_vector: bool,
    body: &'a [Statement],
}

impl Grouping<'_> {
    fn block(&mut self, statements: &[Statement]) -> Vec<Statement> {
        let mut done = Vec::with_capacity(statements.len());
        for statement in statements {
            match statement {
                Statement::For { variable, begin, end, vector, body } => {
                    let before = self.taken.len();
                    let inner = self.block(body);
                    let is_shared_inside = self.taken.len() > before;
                    let node = Loop { variable: *variable, begin, end, is_vector: *vector, body };
                    if !is_shared_inside && self.may_share(&node) {
                        self.share(&node, &mut done);
                    } else {
                        let (begin, end) = (begin.clone(), end.clone());
                        done.push(Statement::For { variable: *variable, begin, end, vector: false, body: inner });
                    }
                }
                Statement::Store(array, ..) | Statement::Reduce(array, ..) if !self.own.contains(array) => {
                    only_first(self.lane, statement.clone(), &mut done);
                }
                other => {
                    let mut other = other.clone();
                    for inner in other.blocks_mut() {
                        *inner = self.block(&std::mem::take(inner));
                    }
                    done.push(other);
                }
            }
        }
        done
    }

    /// Whether an array is written by the first lane alone somewhere in a body that was rewritten.
    fn outside(&self, array: &ArrayId, body: &[Statement]) -> bool {
        let is_first = Expr::Variable(self.lane).equals(Expr::Index(0));
        let mut found = false;
        body.iter().for_each(|statement| {
            statement.for_each(&mut |statement| {
                if let Statement::If(branches, _) = statement
                    && branches[0].0 == is_first
                {
                    found |= branches[0].1.iter().any(|statement| statement.written_array() == Some(*array));
                }
            });
        });
        found
    }

    /// Whether the iterations of a loop may be those of different lanes.
    fn may_share(&self, node: &Loop<'_>) -> bool {
        if self.count(node).is_some_and(|count| count < FEW) || is_stridden(node.end) {
            return false;
        }
        let own = declared(node.body);
        let updated = updated(node.body);
        let foreign: BTreeSet<VariableId> = changed(node.body).difference(&own).copied().collect();
        let only_updates = foreign.iter().all(|variable| {
            updated.get(variable).is_some_and(|operator| self.identity(*variable, *operator).is_some())
                && is_only_updated(node.body, *variable)
        });
        only_updates && self.writes_apart(node)
    }

    /// The number of iterations, where it is known.
    fn count(&self, node: &Loop<'_>) -> Option<u64> {
        match (node.begin, node.end) {
            (Expr::Index(begin), Expr::Index(end)) => Some(end.saturating_sub(*begin)),
            (Expr::Index(0), Expr::Dimension(id)) => match self.kernel.dimension(*id).size {
                Size::Constant(size) => Some(size),
                Size::Runtime | Size::Generic => None,
            },
            _ => None,
        }
    }

    /// Whether no two iterations write one place, but by atomic operations.
    fn writes_apart(&self, node: &Loop<'_>) -> bool {
        let mut apart = true;
        node.body.iter().for_each(|statement| {
            statement.for_each(&mut |statement| {
                apart &= match statement {
                    Statement::Store(array, index, _) => self.is_apart(*array, index, node),
                    Statement::Reduce(array, index, ..) => {
                        self.atomic.contains(array) || self.is_apart(*array, index, node)
                    }
                    other => other.written_array().is_none(),
                };
            });
        });
        apart
    }

    /// Whether each iteration has its own elements of an array.
    fn is_apart(&self, array: ArrayId, index: &Expr, node: &Loop<'_>) -> bool {
        !self.own.contains(&array)
            && !self.read.contains(&array)
            && (node.is_vector || is_injective(self.kernel, node.variable, node.begin, node.end, node.body, index))
    }

    /// What a variable holds before anything is reduced into it.
    fn identity(&self, variable: VariableId, operator: ReduceOperator) -> Option<Expr> {
        operator.identity_of(self.kernel.variable(variable).ty)
    }

    /// The loop, shared out. What it reduces into starts from the identity: where that is not so, each lane has a variable of its
    /// own meanwhile.
    fn share(&mut self, node: &Loop<'_>, done: &mut Vec<Statement>) {
        self.taken.insert(node.variable);
        self.count_writes(node.body);
        self.iterations = self.iterations.take().or_else(|| self.iterations_of(node));
        let mut body = node.body.to_vec();
        // A lane does all of an iteration: what is marked inside is not shared out once more.
        done_by_one(&mut body);
        let mut after = Vec::new();
        for (variable, operator) in updated(node.body) {
            let identity = self.identity(variable, operator).expect("only such loops are shared out");
            if starts_from(done, variable, &identity) {
                continue;
            }
            let declared = self.kernel.variable(variable).clone();
            let own = self.kernel.declare_variable(&format!("{}_lane", declared.name), declared.ty, true);
            body = crate::gpu::rewrite::replace_statements(body, &mut |statement| match statement {
                Statement::Update(other, operator, value) if other == variable => {
                    vec![Statement::Update(own, operator, value)]
                }
                other => vec![other],
            });
            done.push(Statement::Let(own, identity));
            after.push(Statement::Update(variable, operator, Expr::Variable(own)));
        }
        let (begin, end) = (node.begin.clone(), node.end.clone());
        done.push(Statement::For { variable: node.variable, begin, end, vector: true, body });
        done.append(&mut after);
    }

    fn count_writes(&mut self, body: &[Statement]) {
        let mut arrays = BTreeSet::new();
        body.iter().for_each(|statement| {
            statement.for_each(&mut |statement| arrays.extend(statement.written_array()));
        });
        arrays.into_iter().for_each(|array| *self.written.entry(array).or_default() += 1);
    }

    /// How many iterations there are: an input's array has an element for each, or the range says it.
    fn iterations_of(&self, node: &Loop<'_>) -> Option<Iterations> {
        let mut array = None;
        node.body.iter().for_each(|statement| {
            statement.for_each(&mut |statement| {
                statement.for_each_expr(&mut |expr| {
                    expr.for_each(&mut |expr| {
                        if let Expr::Load(other, index) = expr
                            && **index == Expr::Variable(node.variable)
                            && matches!(
                                self.kernel.array(*other).role,
                                ArrayRole::Coordinates { .. } | ArrayRole::Values { .. }
                            )
                        {
                            array = array.or(Some(*other));
                        }
                    });
                });
            });
        });
        let is_range = *node.begin == Expr::Index(0) && crate::gpu::constant(node.end);
        match array {
            Some(array) if !is_range => {
                let in_chunks = chunked(self.kernel, node.variable, node.begin, node.body).is_some();
                Some(Iterations::Elements { array, in_chunks })
            }
            _ => is_range.then(|| Iterations::Each(node.end.clone())),
        }
    }
}

/// Takes the marks of vector loops away.
fn done_by_one(statements: &mut [Statement]) {
    for statement in statements {
        if let Statement::For { vector, .. } = statement {
            *vector = false;
        }
        statement.blocks_mut().into_iter().for_each(|block| done_by_one(block));
    }
}

/// Whether a variable is changed by one operator and not read.
fn is_only_updated(body: &[Statement], variable: VariableId) -> bool {
    let mut operators = Vec::new();
    let mut is_only = true;
    body.iter().for_each(|statement| {
        is_only &= !statement.uses(variable);
        statement.for_each(&mut |statement| match statement {
            Statement::Update(other, operator, _) if *other == variable => operators.push(*operator),
            Statement::Assign(other, _) => is_only &= *other != variable,
            _ => {}
        });
    });
    is_only && operators.windows(2).all(|pair| pair[0] == pair[1])
}

/// Whether a variable was given a value just before, and not changed since.
fn starts_from(done: &[Statement], variable: VariableId, value: &Expr) -> bool {
    let before =
        done.iter().rev().take_while(|statement| matches!(statement, Statement::Comment(_) | Statement::Let(..)));
    let mut before = before.filter_map(|statement| match statement {
        Statement::Let(other, value) if *other == variable => Some(value),
        _ => None,
    });
    before.next().is_some_and(|first| first == value)
}

/// Whether an index differs in all iterations of a loop: it is its counter, or a coordinate that only one entry has, with
/// something added that is the same in all, or the number of a row of which an inner loop takes the elements.
pub(super) fn is_injective(
    kernel: &Kernel,
    counter: VariableId,
    begin: &Expr,
    end: &Expr,
    body: &[Statement],
    index: &Expr,
) -> bool {
    let mut differing = BTreeSet::from([counter]);
    differing.extend(unique_coordinates(kernel, counter, begin, end, body));
    let own = declared(body);
    let is_same = |expr: &Expr| !expr.uses(counter) && own.iter().all(|variable| !expr.uses(*variable));
    let differs = |expr: &Expr| matches!(expr, Expr::Variable(variable) if differing.contains(variable));
    let row = |expr: &Expr, element: &Expr| {
        let Expr::Binary(BinaryOperator::Multiply, place, extent) = expr else { return false };
        differs(place) && is_below(body, element, extent)
    };
    match index {
        Expr::Variable(_) => differs(index),
        Expr::Binary(BinaryOperator::Add, left, right) => {
            differs(left) && is_same(right) || is_same(left) && differs(right) || row(left, right)
        }
        _ => false,
    }
}

/// Whether an expression counts from zero to an extent, in a loop of a body.
fn is_below(body: &[Statement], element: &Expr, extent: &Expr) -> bool {
    let mut found = false;
    body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            if let Statement::For { variable, begin: Expr::Index(0), end, .. } = statement {
                found |= *element == Expr::Variable(*variable) && end == extent;
            }
        });
    });
    found
}

/// Variables of a body that hold coordinates of which no two children of one parent have the same, where the loop runs over such.
fn unique_coordinates(
    kernel: &Kernel,
    counter: VariableId,
    begin: &Expr,
    end: &Expr,
    body: &[Statement],
) -> Vec<VariableId> {
    let (Expr::Load(positions, first), Expr::Load(other, next)) = (begin, end) else { return Vec::new() };
    if positions != other || **next != (**first).clone().plus(Expr::Index(1)) {
        return Vec::new();
    }
    let ArrayRole::Positions { tensor, level } = kernel.array(*positions).role else { return Vec::new() };
    if !kernel.tensor(tensor).format.levels[level].format.unique() {
        return Vec::new();
    }
    let coordinates = ArrayRole::Coordinates { tensor, level };
    let is_coordinate = |value: &Expr| {
        matches!(value, Expr::Load(array, index)
            if kernel.array(*array).role == coordinates && **index == Expr::Variable(counter))
    };
    body.iter()
        .filter_map(|statement| match statement {
            Statement::Let(variable, value) if is_coordinate(value) => Some(*variable),
            _ => None,
        })
        .collect()
}
