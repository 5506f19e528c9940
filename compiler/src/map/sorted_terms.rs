//! Sums into long results in an order that is known: what each entry adds is written down, sorted by where it goes, and summed in
//! that order.
//!
//! ```text
//! for p in pos[i]..pos[i + 1]          launch for each p: keys[p] = crd[p]; terms[p] = x[p] * c[i]
//!     y[crd[p]] += x[p] * c[i]         sort places by keys, those with one key in their order
//!                                      launch for each share of them: y[key] = sum of terms[places[q]]
//! ```
//!
//! Copies of the result (`ordered`) take as much memory as there are copies: of a long one there would be few, and so few threads, and
//! all of them are combined for each element. What is sorted here is as long as the entries are many, whatever the result. The sums of
//! the sorted terms are those of load-balanced parts of places whose segments ascend, as of any input that has its entries so. The host chooses
//! when it launches.

use super::privatized::{COPIES, Copied};
use super::strategy::{Emit, Loop, Refused, Strategy};
use crate::format::IndexWidth;
use crate::gpu::Builder;
use crate::gpu::Refusal;
use crate::gpu::plan::{Step, bytes};
use crate::gpu::rewrite::{loaded, replace_statements};
use crate::ir::{
    ArrayElement, ArrayId, ArrayRole, BinaryOperator, Expr, Kernel, Parallel, ReduceOperator, Sharing, Statement, Type,
    VariableId,
};

/// The bytes that go over memory for each entry that is sorted: its key and its place are read and written for every eight bits of
/// a key, of which there are as many as elements of the result take.
const SORTED: u64 = 72;

/// The bytes that terms have together: more are added to copies.
const TERMS: u64 = 1 << 32;

/// Keys and places are numbers of 32 bits.
const MOST: u64 = 1 << 32;

/// Fewer copies than this leave a device idle.
const FEW_COPIES: u64 = 1 << 10;

/// What a loop adds to an array: one term, or a row of them, for each entry of an input.
struct Terms {
    array: ArrayId,
    operator: ReduceOperator,
    /// An array that has an element for each entry.
    entries: ArrayId,
    /// The number of elements of a row, where terms are rows.
    row: Option<Expr>,
    /// Whether load-balanced parts have whole entries: no two of them come by one.
    keeps_shares: bool,
}

/// Arrays with an element, or a row, for each entry.
struct Written {
    /// The elements, or rows, of the result that terms go to.
    keys: ArrayId,
    terms: ArrayId,
}

/// Sorting of what is added.
pub(super) struct SortedTerms;

impl Strategy for SortedTerms {
    fn name(&self) -> &'static str {
        "sorted terms"
    }

    fn fits<'a>(&self, builder: &mut Builder, node: &'a Loop) -> Result<Emit<'a>, Refused> {
        let terms = builder.terms(&node.parallel).ok_or(Refused::NoTermsInOrder)?;
        Ok(Box::new(move |builder| builder.sorted_or_copied(&node.parallel, &terms)))
    }
}

impl Builder {
    /// Launches for a loop that adds rounded numbers anywhere, in an order that is known: sorted, or into copies.
    fn sorted_or_copied(&mut self, parallel: &Parallel, terms: &Terms) -> Result<(), Refusal> {
        let map = self.map;
        let name = self.module.kernel.array(terms.array).name.clone();
        let what = format!(
            "what is added to {name} is written down and sorted by where it goes, where copies of {name} would move more bytes or be \
             fewer than {FEW_COPIES}"
        );
        let why = "of a long result there is memory for few copies, and each is combined for every element; either way every run \
                   gives the same bits";
        self.decide(what, why);
        let condition = self.is_sorted(parallel, terms);
        let then = self.branch(|builder| builder.sorted(parallel, terms))?;
        let otherwise = self.branch(|builder| map(builder, parallel, Some(SortedTerms.name())))?;
        self.module.steps.push(Step::Choose { condition, then, otherwise });
        Ok(())
    }

    /// Whether sorting what is added moves fewer bytes than copies of the result would, or there would be few of these.
    fn is_sorted(&mut self, parallel: &Parallel, terms: &Terms) -> Expr {
        let element = Expr::Index(bytes(&self.module.kernel, terms.array));
        let all = self.length_of(terms.array).times(element.clone());
        let entries = Expr::Length(terms.entries);
        let places = self.on_host(&parallel.end).minus(self.on_host(&parallel.begin));
        let copies = self.most_copies(&[Copied { array: terms.array, operator: terms.operator }], places);
        let of_copies = all.clone().times(Expr::Index(2)).times(copies);
        let is_less = entries.clone().times(Expr::Index(SORTED)).less(of_copies);
        let are_few = Expr::Index(COPIES / FEW_COPIES).less(all);
        let row = terms.row.clone().unwrap_or(Expr::Index(1));
        let fit = entries.clone().times(row.times(element)).less(Expr::Index(TERMS));
        let are_narrow = entries.less(Expr::Index(MOST)).and(self.targets(terms).less(Expr::Index(MOST)));
        Expr::binary(BinaryOperator::Or, is_less, are_few).and(fit).and(are_narrow)
    }

    /// How many elements, or rows, a result has.
    fn targets(&self, terms: &Terms) -> Expr {
        let all = self.length_of(terms.array);
        match &terms.row {
            Some(row) => {
                let row = Expr::binary(BinaryOperator::Maximum, row.clone(), Expr::Index(1));
                Expr::binary(BinaryOperator::Divide, all, row)
            }
            None => all,
        }
    }

    fn sorted(&mut self, parallel: &Parallel, terms: &Terms) -> Result<(), Refusal> {
        let entries = Expr::Length(terms.entries);
        let kernel = &mut self.module.kernel;
        let declared = kernel.array(terms.array).clone();
        let narrow = ArrayElement::Index(IndexWidth::U32);
        let mut array =
            |what: &str, element| kernel.declare_array(&format!("{}_{what}", declared.name), element, ArrayRole::Local);
        let written = Written { keys: array("keys", narrow), terms: array("terms", declared.element) };
        let places = array("places", narrow);
        // An entry that adds nothing adds what changes nothing.
        let none = self.identity_of(terms.array, terms.operator);
        let length = entries.clone().times(terms.row.clone().unwrap_or(Expr::Index(1)));
        self.module.steps.extend([
            Step::Make { array: written.keys, length: entries.clone(), fill: Some(Expr::Index(0)) },
            Step::Make { array: written.terms, length, fill: Some(none) },
        ]);
        let map = self.map;
        map(self, &written_down(parallel, terms, &written), Some(SortedTerms.name()))?;
        let most = self.targets(terms);
        self.module.steps.push(Step::Make { array: places, length: entries, fill: None });
        self.module.steps.push(Step::Sort { keys: written.keys, places, most });
        let sum = self.sum(terms, &written, places);
        map(self, &sum, Some(SortedTerms.name()))
    }

    /// The loop over sorted places that sums the terms of each key.
    fn sum(&mut self, terms: &Terms, written: &Written, places: ArrayId) -> Parallel {
        let kernel = &mut self.module.kernel;
        let element = kernel.array(terms.array).element;
        let [low, high, first, key] = ["low", "high", "first", "target"].map(|name| kernel.declare_index(name));
        let place = kernel.declare_variable("place", Type::Index, true);
        let at = |array| Expr::load(array, Expr::Variable(place));
        let is_same =
            Expr::Variable(place).less(Expr::Variable(high)).and(at(written.keys).equals(Expr::Variable(key)));
        let next = Statement::Assign(place, Expr::Variable(place).plus(Expr::Index(1)));
        let row = |number: Expr| match &terms.row {
            Some(row) => number.times(row.clone()),
            None => number,
        };
        let none = Expr::Literal(match element {
            ArrayElement::Value(element) => terms.operator.identity(element).unwrap_or(element.zero()),
            ArrayElement::Index(_) => unreachable!("what is rounded is no index"),
        });
        let mut begin = Vec::new();
        let mut of_key = vec![Statement::Let(key, at(written.keys))];
        match &terms.row {
            None => {
                let sum = kernel.declare_variable("sum", element.ty(), true);
                let term = Expr::load(written.terms, at(places));
                let add = Statement::Update(sum, terms.operator, term);
                of_key.extend([
                    Statement::Let(sum, none),
                    Statement::While(is_same, vec![add, next]),
                    Statement::Reduce(terms.array, Expr::Variable(key), terms.operator, Expr::Variable(sum)),
                ]);
            }
            Some(extent) => {
                let sums = kernel.declare_array("sums", element, ArrayRole::Local);
                let from = kernel.declare_index("from");
                let mut each = |body: &dyn Fn(Expr) -> Statement| {
                    let counter = kernel.declare_index("n");
                    let body = vec![body(Expr::Variable(counter))];
                    let (begin, end) = (Expr::Index(0), extent.clone());
                    Statement::For { variable: counter, begin, end, vector: true, body }
                };
                let add = each(&|n| {
                    let term = Expr::load(written.terms, row(Expr::Variable(from)).plus(n.clone()));
                    Statement::Reduce(sums, n, terms.operator, term)
                });
                let all = each(&|n| {
                    let to = row(Expr::Variable(key)).plus(n.clone());
                    Statement::Reduce(terms.array, to, terms.operator, Expr::load(sums, n))
                });
                begin.push(Statement::Allocate { array: sums, length: extent.clone(), fill: none.clone() });
                let of_place = vec![Statement::Let(from, at(places)), add, next];
                of_key.extend([Statement::Fill(sums, none), Statement::While(is_same, of_place), all]);
            }
        }
        begin.push(Statement::Let(place, Expr::Variable(low)));
        begin.push(Statement::While(Expr::Variable(place).less(Expr::Variable(high)), of_key));
        let segmented = Sharing::Segmented {
            place: first,
            start: row(Expr::load(written.keys, Expr::Variable(first))),
            length: terms.row.clone().unwrap_or(Expr::Index(1)),
            operator: terms.operator,
            anew: false,
        };
        Parallel {
            sharing: vec![(terms.array, segmented)],
            ..Parallel::over(Expr::Index(0), Expr::Length(written.keys), low, high, begin)
        }
    }

    /// What a loop adds to the one array that it updates, where that is one term for each entry at most.
    fn terms(&self, parallel: &Parallel) -> Option<Terms> {
        let [(array, Sharing::Private(operator))] = parallel.sharing[..] else { return None };
        let is_ordered = self.is_ordered(self.module.kernel.array(array).element.ty(), operator);
        if !is_ordered || !parallel.reductions.is_empty() || parallel.aligned.is_some() {
            return None;
        }
        let is_only =
            |parallel: &Parallel| updates(&parallel.body, array) == 1 && !loaded(&parallel.body).contains(&array);
        let range = Range::Between(Expr::Variable(parallel.low), Expr::Variable(parallel.high));
        let seeking = Seeking { kernel: &self.module.kernel, array };
        let found = seeking.block(&parallel.body, &range, None).filter(|_| is_only(parallel))?;
        let (entries, row) = found;
        let is_kept = |uneven: &Parallel| {
            let of_entries = innermost(&uneven.body, array);
            of_entries.is_some_and(|inner| {
                seeking.entries(inner.body, inner.counter) == Some(entries) && inner.is_cut(uneven)
            })
        };
        let uneven = parallel.uneven.as_deref();
        if uneven.is_some_and(|uneven| !is_only(uneven) || uneven.sharing != parallel.sharing) {
            return None;
        }
        let keeps_shares = uneven.is_some_and(is_kept);
        Some(Terms { array, operator, entries, row, keeps_shares })
    }
}

/// How often a block writes an array.
fn updates(block: &[Statement], array: ArrayId) -> usize {
    let mut count = 0;
    block.iter().for_each(|statement| {
        statement.for_each(&mut |statement| count += usize::from(statement.written_array() == Some(array)));
    });
    count
}

/// What runs of a loop go through that are apart: no two come by one place.
enum Range {
    /// Places from one to another.
    Between(Expr, Expr),
    /// The children of a place, of which the counter of a loop is the number.
    Children(VariableId),
}

impl Range {
    /// Whether a loop goes through it.
    fn is(&self, kernel: &Kernel, from: &Expr, to: &Expr) -> bool {
        match self {
            Range::Between(begin, end) => (from, to) == (begin, end),
            Range::Children(parent) => {
                let (Expr::Load(positions, first), Expr::Load(other, next)) = (from, to) else { return false };
                let parent = Expr::Variable(*parent);
                let is_positions = matches!(kernel.array(*positions).role, ArrayRole::Positions { .. });
                is_positions && positions == other && **first == parent && **next == parent.plus(Expr::Index(1))
            }
        }
    }
}

/// Looks for the one update of an array.
struct Seeking<'a> {
    kernel: &'a Kernel,
    array: ArrayId,
}

impl Seeking<'_> {
    /// The array that has an element for each place that a block with the update comes by, none of them twice, and the extent of the
    /// row that is added there, if it is a row; `loop_body` is that of the innermost loop so far.
    fn block(
        &self,
        block: &[Statement],
        range: &Range,
        loop_body: Option<&[Statement]>,
    ) -> Option<(ArrayId, Option<Expr>)> {
        let place = block.iter().position(|statement| updates(std::slice::from_ref(statement), self.array) > 0)?;
        match &block[place] {
            Statement::For { variable, begin, end, vector: false, body } if range.is(self.kernel, begin, end) => {
                self.block(body, &Range::Children(*variable), Some(body))
            }
            Statement::For { variable, begin: Expr::Index(0), end, vector: true, body } => {
                let Range::Children(counter) = range else { return None };
                let is_straight =
                    body.iter().all(|statement| matches!(statement, Statement::Let(..) | Statement::Reduce(..)));
                let index = index_of(body, self.array)?;
                let (key, element) = in_row(index, end)?;
                let is_row = is_straight && *element == Expr::Variable(*variable) && is_outer(key, body, *variable);
                let entries = self.entries(loop_body?, *counter)?;
                is_row.then(|| (entries, Some(end.clone())))
            }
            Statement::While(condition, body) => {
                // From run to run: each begins where the one before has ended.
                let Range::Between(begin, end) = range else { return None };
                let Expr::Binary(BinaryOperator::Less, at, _) = condition else { return None };
                let Expr::Variable(at) = **at else { return None };
                let Some(Statement::Assign(counter, Expr::Variable(next))) = body.last() else { return None };
                let begins = block[..place].contains(&Statement::Let(at, begin.clone()));
                let goes_on = *condition == Expr::Variable(at).less(end.clone()) && *counter == at;
                let inside = Range::Between(Expr::Variable(at), Expr::Variable(*next));
                (begins && goes_on).then(|| self.block(body, &inside, loop_body))?
            }
            Statement::If(branches, otherwise) => {
                let mut blocks = branches.iter().map(|(_, block)| block).chain([otherwise]);
                blocks.find_map(|block| self.block(block, range, loop_body))
            }
            Statement::Reduce(..) => {
                let Range::Children(counter) = range else { return None };
                Some((self.entries(loop_body?, *counter)?, None))
            }
            _ => None,
        }
    }

    /// An array of an input that a block reads at a place.
    fn entries(&self, block: &[Statement], place: VariableId) -> Option<ArrayId> {
        let mut found = None;
        block.iter().for_each(|statement| {
            statement.for_each(&mut |statement| {
                statement.for_each_expr(&mut |expr| {
                    expr.for_each(&mut |expr| {
                        if let Expr::Load(array, index) = expr
                            && **index == Expr::Variable(place)
                            && matches!(
                                self.kernel.array(*array).role,
                                ArrayRole::Coordinates { .. } | ArrayRole::Values { .. }
                            )
                        {
                            found = found.or(Some(*array));
                        }
                    });
                });
            });
        });
        found
    }
}

/// The element that a block adds to, of an array.
fn index_of(block: &[Statement], array: ArrayId) -> Option<&Expr> {
    block.iter().find_map(|statement| match statement {
        Statement::Reduce(other, index, ..) if *other == array => Some(index),
        _ => None,
    })
}

/// The number of a row, and the element of it, that an index is.
fn in_row<'e>(index: &'e Expr, extent: &Expr) -> Option<(&'e Expr, &'e Expr)> {
    let Expr::Binary(BinaryOperator::Add, row, element) = index else { return None };
    let Expr::Binary(BinaryOperator::Multiply, number, length) = &**row else { return None };
    (**length == *extent).then_some((&**number, &**element))
}

/// Whether an expression is the same in all iterations of a loop.
fn is_outer(expr: &Expr, body: &[Statement], counter: VariableId) -> bool {
    !expr.uses(counter) && crate::gpu::rewrite::declared(body).iter().all(|variable| !expr.uses(*variable))
}

/// A loop over entries.
struct Inner<'b> {
    counter: VariableId,
    begin: &'b Expr,
    end: &'b Expr,
    body: &'b [Statement],
}

impl Inner<'_> {
    /// Whether shares are cut between its places: those of a loop further out may have a part of one.
    fn is_cut(&self, shares: &Parallel) -> bool {
        self.begin.uses(shares.low) && self.end.uses(shares.high)
    }
}

/// The innermost loop around the update of an array, but for one over a row.
fn innermost(block: &[Statement], array: ArrayId) -> Option<Inner<'_>> {
    let statement = block.iter().find(|statement| updates(std::slice::from_ref(*statement), array) > 0)?;
    let within = statement.blocks().into_iter().find_map(|inner| innermost(inner, array));
    match statement {
        Statement::For { variable, begin, end, vector: false, body } => {
            within.or(Some(Inner { counter: *variable, begin, end, body }))
        }
        _ => within,
    }
}

/// The loop that writes down what it adds, and where that goes.
fn written_down(parallel: &Parallel, terms: &Terms, written: &Written) -> Parallel {
    let uneven = parallel.uneven.as_ref().filter(|_| terms.keeps_shares);
    let uneven = uneven.map(|uneven| Box::new(written_down(uneven, terms, written)));
    let counter = innermost(&parallel.body, terms.array).map(|inner| inner.counter);
    let place = Expr::Variable(counter.expect("there is a loop over entries"));
    let stored = |body: Vec<Statement>| {
        replace_statements(body, &mut |statement| match (statement, &terms.row) {
            (Statement::Reduce(array, index, _, value), None) if array == terms.array => vec![
                Statement::Store(written.keys, place.clone(), index),
                Statement::Store(written.terms, place.clone(), value),
            ],
            (Statement::Reduce(array, index, _, value), Some(extent)) if array == terms.array => {
                let Some((_, element)) = in_row(&index, extent) else { return Vec::new() };
                let to = place.clone().times(extent.clone()).plus(element.clone());
                vec![Statement::Store(written.terms, to, value)]
            }
            (other, _) => vec![other],
        })
    };
    let of_rows = replace_statements(parallel.body.clone(), &mut |statement| {
        let index = match &statement {
            Statement::For { body, .. } => index_of(body, terms.array),
            _ => None,
        };
        let key = index.zip(terms.row.as_ref()).and_then(|(index, extent)| Some(in_row(index, extent)?.0.clone()));
        let key = key.map(|key| Statement::Store(written.keys, place.clone(), key));
        key.into_iter().chain([statement]).collect()
    });
    Parallel { sharing: Vec::new(), body: stored(of_rows), uneven, ..parallel.clone() }
}
