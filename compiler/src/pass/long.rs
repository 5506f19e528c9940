//! Long sums of `f32` keep what their terms add: a term that is small beside its sum is lost when both have 24 bits. So no sum takes
//! more than [`BLOCK`] terms before it is added to one of `f64`, which loses nothing of millions of them.
//!
//! What each iteration waits for is a sum of `f64` all along, which takes no longer:
//!
//! ```text
//! let t = 0.0f32                        let t = 0.0f64
//! for p in low..high: t += x[p]         for p in low..high: t += x[p] as f64
//! s[0] = t                              s[0] = t as f32
//! ```
//!
//! Sums of a row, which vectors hold twice as many of as `f32`, are added to others now and then. Short runs never are:
//!
//! ```text
//! let t = [0.0f32; 32]
//! for p in 0..entries
//!     for r in 0..32: t[r] += x[p] * C[crd[p] * R + r]
//!
//! let t = [0.0f32; 32]
//! if entries <= 64
//!     for p in 0..entries
//!         for r in 0..32: t[r] += x[p] * C[crd[p] * R + r]
//! else
//!     for block in 0..(entries + 63) / 64
//!         let from = block * 64
//!         for p in from..minimum(from + 64, entries)
//!             for r in 0..32: t[r] += x[p] * C[crd[p] * R + r]
//!         for r in 0..32: t_sums[r] += t[r] as f64
//!         t = 0
//!     for r in 0..32: t[r] = (t_sums[r] + t[r] as f64) as f32
//!     t_sums = 0
//! ```
//!
//! Loops that are longer than [`TWICE`] are not written twice: their counter says when the row is added to the others. Where several
//! loops around one another add to a row, or one that has no counter, a variable counts the terms.
//!
//! Other arrays that the kernel makes, in which terms meet anywhere, hold `f64`. So does what stands for a result that many terms are
//! added to in memory, as long as it has at most [`SHORT`] elements; of longer ones each element gets fewer terms, as a rule, and
//! what stands for them would leave the caches. Complex numbers of two `f32` are treated the same.
//!
//! ([`Expr::Fold`] and [`Statement::Folds`] say themselves that they lose nothing. Blocked sums: Higham, The Accuracy of Floating Point
//! Summation, 1993.)

use super::lanes::size;
use super::over_body;
use super::slices::divided_up;
use crate::ir::{
    ArrayElement, ArrayId, ArrayRole, BinaryOperator, ElementType, Expr, Kernel, Literal, Parallel, ReduceOperator,
    Sharing, Size, Statement, Type, VariableId, Views,
};
use crate::notation::Decision;
use std::collections::{BTreeMap, BTreeSet};

/// How many terms a sum of `f32` takes.
const BLOCK: u64 = 64;

/// Loops of at most so many iterations, a number that is known, count as one: they are written out.
const FEW: u64 = 8;

/// The most statements of a loop that is written twice.
const TWICE: usize = 80;

/// How many sums of a row are kept side by side, at most.
const ROW: u64 = 256;

/// How many elements a result has, at most, whose sums in memory are of `f64`: they stay in a second-level cache.
const SHORT: u64 = 1 << 15;

/// The kernel whose long sums lose nothing.
pub(super) fn long(kernel: Kernel) -> Kernel {
    if !has_few_bits(&kernel) {
        return kernel;
    }
    over_body(kernel, |kernel, body| {
        copies(kernel, body);
        let arrays = Arrays::of(kernel, body);
        let rows: BTreeMap<ArrayId, Expr> =
            arrays.iter().filter_map(|(id, array)| array.row().map(|length| (*id, length))).collect();
        in_rows(kernel, body, &rows);
        let mut widened = Widened::default();
        variables(kernel, body, &mut Vec::new(), &mut BTreeMap::new(), &mut widened.variables);
        let views = Views::of(body);
        let is_whole = |id: &ArrayId| {
            let source = views.source(*id);
            !rows.contains_key(&source) && arrays.get(&source).is_some_and(|array| array.is_long && !array.is_dot)
        };
        widened.arrays = (0u32..).map(ArrayId).take(kernel.arrays.len()).filter(is_whole).collect();
        widened.block(kernel, body);
        for variable in widened.variables {
            let variable = &mut kernel.variables[variable.index()];
            if let Type::Element(element) = variable.ty {
                variable.ty = Type::Element(wide(element).unwrap_or(element));
            }
        }
        for array in widened.arrays {
            let array = &mut kernel.arrays[array.index()];
            if let ArrayElement::Value(element) = array.element {
                array.element = ArrayElement::Value(wide(element).unwrap_or(element));
            }
        }
    })
}

/// How a kernel's long sums are formed, where it has such of few bits.
pub(super) fn decisions(kernel: &Kernel) -> Vec<Decision> {
    let mut of_few = false;
    let mut see = |expr: &Expr| {
        of_few |= match expr {
            Expr::Fold(ReduceOperator::Add, term) => {
                let first = term.factors().first().and_then(|factor| value_of(kernel, factor.values()));
                first.is_some_and(|element| wide(element.computed()).is_some())
            }
            _ => false,
        };
    };
    let is_wide = |ty: Type| matches!(ty, Type::Element(ElementType::F64 | ElementType::C64));
    let mut of_many = false;
    kernel.body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            statement.for_each_expr(&mut |expr| expr.for_each(&mut see));
            of_many |= match statement {
                Statement::Update(variable, ReduceOperator::Add, Expr::Cast(..)) => {
                    is_wide(kernel.variable(*variable).ty)
                }
                Statement::Reduce(array, _, ReduceOperator::Add, Expr::Cast(..)) => {
                    is_wide(kernel.array(*array).element.ty())
                }
                _ => false,
            };
        });
    });
    let is_there = has_few_bits(kernel) && (of_few || of_many);
    is_there
        .then(|| Decision {
            what: format!("long sums are formed in f64, or in blocks of {BLOCK} terms a lane that are added up in f64"),
            why: "a sum of f32 loses terms that are small beside it".to_owned(),
        })
        .into_iter()
        .collect()
}

/// The type that loses nothing of sums of another.
fn wide(element: ElementType) -> Option<ElementType> {
    match element {
        ElementType::F32 => Some(ElementType::F64),
        ElementType::C32 => Some(ElementType::C64),
        _ => None,
    }
}

fn zero(element: ElementType) -> Expr {
    Expr::Literal(element.zero())
}

fn cast(element: ElementType, value: Expr) -> Expr {
    match value {
        Expr::Literal(Literal::Float(_, value)) => Expr::Literal(Literal::Float(element, value)),
        value => Expr::Cast(Type::Element(element), Box::new(value)),
    }
}

/// The value type of an array.
fn value_of(kernel: &Kernel, array: ArrayId) -> Option<ElementType> {
    match kernel.array(array).element {
        ArrayElement::Value(element) => Some(element),
        ArrayElement::Index(_) => None,
    }
}

/// Whether an array's values are of a type that loses terms.
fn is_of_few_bits(kernel: &Kernel, array: ArrayId) -> bool {
    value_of(kernel, array).and_then(wide).is_some()
}

fn has_few_bits(kernel: &Kernel) -> bool {
    (0u32..).map(ArrayId).take(kernel.arrays.len()).any(|array| is_of_few_bits(kernel, array))
}

/// Whether loops around a sum, with as many iterations each as are known, add more terms than one sum takes.
fn are_many(around: impl IntoIterator<Item = Option<u64>>) -> bool {
    let terms = around.into_iter().try_fold(1u64, |terms, count| Some(terms.saturating_mul(count?)));
    terms.is_none_or(|terms| terms > BLOCK)
}

/// At most how many terms a statement's blocks add to one sum, where that is known: one, if it is no loop or each of its iterations
/// has a sum of its own.
fn iterations(kernel: &Kernel, statement: &Statement) -> Option<u64> {
    match statement {
        Statement::For { vector: true, .. } => Some(1),
        Statement::For { begin: Expr::Index(begin), end, .. } => {
            let end = match end {
                Expr::Binary(BinaryOperator::Minimum, one, other) => {
                    [one, other].iter().filter_map(|end| size(kernel, end)).min()
                }
                end => size(kernel, end),
            };
            end.map(|end| end.saturating_sub(*begin))
        }
        Statement::If(..) => Some(1),
        _ => None,
    }
}

// Variables.

/// The variables that long sums are formed in.
fn variables(
    kernel: &Kernel,
    body: &[Statement],
    around: &mut Vec<Option<u64>>,
    declared: &mut BTreeMap<VariableId, usize>,
    found: &mut BTreeSet<VariableId>,
) {
    for statement in body {
        match statement {
            Statement::Let(variable, _) => {
                declared.insert(*variable, around.len());
            }
            Statement::Update(variable, ReduceOperator::Add, _) => {
                let is_few = matches!(kernel.variable(*variable).ty, Type::Element(element) if wide(element).is_some());
                let inside = &around[declared.get(variable).copied().unwrap_or(0)..];
                if is_few && are_many(inside.iter().copied()) {
                    found.insert(*variable);
                }
            }
            _ => {}
        }
        around.push(iterations(kernel, statement));
        for block in statement.blocks() {
            variables(kernel, block, around, declared, found);
        }
        around.pop();
    }
}

/// Variables and arrays that get more bits.
#[derive(Default)]
struct Widened {
    variables: BTreeSet<VariableId>,
    arrays: BTreeSet<ArrayId>,
}

impl Widened {
    fn block(&self, kernel: &Kernel, body: &mut [Statement]) {
        for statement in body {
            statement.for_each_expr_mut(&mut |expr| {
                let taken = std::mem::replace(expr, Expr::Index(0));
                *expr = self.read(kernel, taken);
            });
            self.write(kernel, statement);
            statement.blocks_mut().into_iter().for_each(|block| self.block(kernel, block));
        }
    }

    /// An expression that reads them.
    fn read(&self, kernel: &Kernel, expr: Expr) -> Expr {
        match expr.map_children(&mut |child| self.read(kernel, child)) {
            Expr::Variable(variable) if self.variables.contains(&variable) => match kernel.variable(variable).ty {
                Type::Element(element) => cast(element, Expr::Variable(variable)),
                _ => Expr::Variable(variable),
            },
            Expr::Load(array, place) if self.arrays.contains(&array) => match value_of(kernel, array) {
                Some(element) => cast(element, Expr::Load(array, place)),
                None => Expr::Load(array, place),
            },
            other => other,
        }
    }

    /// What a statement writes to them.
    fn write(&self, kernel: &Kernel, statement: &mut Statement) {
        let (element, value) = match statement {
            Statement::Let(variable, value)
            | Statement::Assign(variable, value)
            | Statement::Update(variable, _, value)
                if self.variables.contains(variable) =>
            {
                let Type::Element(element) = kernel.variable(*variable).ty else { return };
                (element, value)
            }
            Statement::Store(array, _, value)
            | Statement::Reduce(array, _, _, value)
            | Statement::Fill(array, value)
            | Statement::Push(array, value)
            | Statement::Extend { array, fill: value, .. }
            | Statement::Allocate { array, fill: value, .. }
                if self.arrays.contains(array) =>
            {
                let Some(element) = value_of(kernel, *array) else { return };
                (element, value)
            }
            _ => return,
        };
        let Some(element) = wide(element) else { return };
        *value = cast(element, std::mem::replace(value, Expr::Index(0)));
    }
}

// Arrays that the kernel makes.

/// What is known of an array that the kernel makes.
#[derive(Default)]
struct Local {
    /// Its length, if it is a row of few sums.
    length: Option<Expr>,
    /// Whether long sums are formed in it.
    is_long: bool,
    /// Whether it is a factor of sums, or gets them.
    is_dot: bool,
    /// Whether something else is done with it than to begin, to add in vector loops and to read it behind them.
    is_other: bool,
}

impl Local {
    /// Its length, if it is a row that is added to others now and then.
    fn row(&self) -> Option<Expr> {
        self.length.clone().filter(|_| self.is_long && !self.is_dot && !self.is_other)
    }
}

/// Looks at all statements.
struct Arrays<'k> {
    kernel: &'k Kernel,
    views: Views,
    found: BTreeMap<ArrayId, Local>,
    /// How many loops there are around each array's making.
    made: BTreeMap<ArrayId, usize>,
}

impl Arrays<'_> {
    fn of(kernel: &Kernel, body: &[Statement]) -> BTreeMap<ArrayId, Local> {
        let views = Views::of(body);
        let mut arrays = Arrays { kernel, views, found: BTreeMap::new(), made: BTreeMap::new() };
        arrays.block(body, &mut Vec::new());
        arrays.found
    }

    fn block(&mut self, body: &[Statement], around: &mut Vec<Option<u64>>) {
        for (place, statement) in body.iter().enumerate() {
            self.statement(statement, around);
            if let Statement::Allocate { array, .. } | Statement::Fill(array, _) = statement
                && self.found.contains_key(array)
            {
                let region = region(body, place, *array, &self.views);
                let is_mixed = body[region.clone()].iter().any(|inner| reads(inner, *array, &self.views))
                    || is_viewed_around(&body[region.clone()], *array, &self.views, true);
                let reduces_outside = body[place + 1..]
                    .iter()
                    .skip(region.len())
                    .any(|inner| reduces(inner, *array, &self.views) && !opens(inner, *array));
                if is_mixed || reduces_outside {
                    self.found.entry(*array).or_default().is_other = true;
                }
            }
            around.push(iterations(self.kernel, statement));
            statement.blocks().into_iter().for_each(|block| self.block(block, around));
            around.pop();
        }
    }

    fn statement(&mut self, statement: &Statement, around: &[Option<u64>]) {
        let is_few = |array: ArrayId| is_of_few_bits(self.kernel, array);
        match statement {
            Statement::Allocate { array, length, fill } if is_few(*array) => {
                let is_generic = match length {
                    Expr::Dimension(id) => self.kernel.dimension(*id).size == Size::Generic,
                    _ => false,
                };
                let is_row = is_generic || size(self.kernel, length).is_some_and(|length| (1..=ROW).contains(&length));
                let length = (is_row && is_zero(fill)).then(|| length.clone());
                self.made.insert(*array, around.len());
                self.found.insert(*array, Local { length, ..Local::default() });
            }
            Statement::List(array) if is_few(*array) => {
                self.made.insert(*array, around.len());
                self.found.insert(*array, Local::default());
            }
            Statement::Reduce(array, _, operator, _) => {
                let source = self.views.source(*array);
                let since = self.made.get(&source).copied().unwrap_or(0);
                let Some(local) = self.found.get_mut(&source) else { return };
                let inside = &around[since.min(around.len())..];
                // A vector loop adds one term to each sum.
                if *operator == ReduceOperator::Add {
                    local.is_long |= are_many(inside.iter().copied());
                } else {
                    local.is_other = true;
                }
            }
            Statement::Fill(array, value) if !is_zero(value) => self.is_other(*array),
            Statement::Store(array, ..) => self.is_other(*array),
            Statement::Folds { totals, .. } => self.is_dot(*totals),
            Statement::Parallel(node) => {
                for node in node.alternatives() {
                    node.sharing.iter().for_each(|(array, _)| self.is_other(*array));
                }
            }
            _ => {}
        }
        let mut dots = Vec::new();
        statement.for_each_expr(&mut |expr| {
            expr.for_each(&mut |expr| {
                if let Expr::Fold(_, term) = expr {
                    dots.extend(term.factors().iter().flat_map(|factor| [factor.run(), factor.values()]));
                }
            });
        });
        dots.into_iter().for_each(|array| self.is_dot(array));
    }

    fn is_other(&mut self, array: ArrayId) {
        if let Some(local) = self.found.get_mut(&self.views.source(array)) {
            local.is_other = true;
        }
    }

    fn is_dot(&mut self, array: ArrayId) {
        if let Some(local) = self.found.get_mut(&self.views.source(array)) {
            local.is_dot = true;
        }
    }
}

fn is_zero(value: &Expr) -> bool {
    matches!(value, Expr::Literal(literal) if literal.is_zero())
}

/// Whether a statement, or one in it, adds to an array.
fn reduces(statement: &Statement, array: ArrayId, views: &Views) -> bool {
    let mut found = false;
    statement.for_each(&mut |inner| found |= matches!(inner, Statement::Reduce(to, ..) if views.source(*to) == array));
    found
}

/// Whether a statement, or one in it, reads an array.
fn reads(statement: &Statement, array: ArrayId, views: &Views) -> bool {
    let mut found = false;
    statement.for_each(&mut |inner| {
        inner.for_each_expr(&mut |expr| {
            expr.for_each(&mut |expr| found |= matches!(expr, Expr::Load(of, _) if views.source(*of) == array));
        });
    });
    found
}

/// Whether a statement, or one in it, makes an array ready.
fn opens(statement: &Statement, array: ArrayId) -> bool {
    let mut found = false;
    statement.for_each(&mut |inner| {
        found |= matches!(inner, Statement::Allocate { array: to, .. } | Statement::Fill(to, _) if *to == array);
    });
    found
}

/// Whether an array has a view where there are loops, which count its terms and then touch it.
fn is_viewed_around(body: &[Statement], array: ArrayId, views: &Views, is_counted: bool) -> bool {
    let is_view = |statement: &Statement| matches!(statement, Statement::View { of, .. } if views.source(*of) == array);
    let is_loop = |statement: &Statement| !matches!(statement, Statement::For { vector: true, .. });
    let is_around = |statement: &Statement| {
        !statement.blocks().is_empty() && is_loop(statement) && reduces(statement, array, views)
    };
    let is_here = body.iter().any(is_view) && (is_counted || body.iter().any(is_around));
    let inside = body.iter().filter(|statement| is_loop(statement)).flat_map(Statement::blocks);
    is_here || inside.into_iter().any(|block| is_viewed_around(block, array, views, false))
}

/// The statements that add to an array which one of their block makes ready; none where another in between does.
fn region(body: &[Statement], opening: usize, array: ArrayId, views: &Views) -> std::ops::Range<usize> {
    let first = opening + 1;
    let rest = &body[first..];
    let next = rest.iter().position(|statement| opens(statement, array)).unwrap_or(rest.len());
    let last = rest[..next].iter().rposition(|statement| reduces(statement, array, views));
    first..last.map_or(first, |last| first + last + 1)
}

// Results that terms are added to in memory.

/// Lets chunks add to sums of more bits than a short result has.
fn copies(kernel: &mut Kernel, body: &mut [Statement]) {
    for statement in body.iter_mut() {
        let Statement::Parallel(node) = statement else {
            statement.blocks_mut().into_iter().for_each(|block| copies(kernel, block));
            continue;
        };
        let results: Vec<ArrayId> = node.sharing.iter().map(|(array, _)| *array).collect();
        let results: Vec<ArrayId> = results.into_iter().filter(|array| is_summed(kernel, node, *array)).collect();
        if results.is_empty() {
            continue;
        }
        let is_short =
            |array: &ArrayId| Expr::binary(BinaryOperator::LessEqual, Expr::Length(*array), Expr::Index(SHORT));
        let are_short = results.iter().map(is_short).reduce(Expr::and).expect("there is one");
        let few = std::mem::replace(statement, Statement::Comment(String::new()));
        let wide = of_more_bits(kernel, &few, &results);
        *statement = Statement::If(vec![(are_short, wide)], vec![few]);
    }
}

/// Whether a parallel loop does nothing with a result but add to it, many terms to an element.
fn is_summed(kernel: &Kernel, node: &Parallel, array: ArrayId) -> bool {
    let is_result = kernel.array(array).role.tensor().is_some_and(|tensor| kernel.is_output(tensor));
    let is_few = is_of_few_bits(kernel, array);
    let is_kept = |node: &Parallel| {
        let sharing = node.sharing.iter().find(|(other, _)| *other == array).map(|(_, sharing)| sharing);
        let comes_together = match sharing {
            Some(Sharing::Private(operator) | Sharing::Segmented { operator, .. }) => *operator == ReduceOperator::Add,
            Some(Sharing::Owned { .. }) => true,
            _ => false,
        };
        comes_together && {
            let views = Views::of(&node.body);
            let mut is_added_to = true;
            let is_it = |other: ArrayId| views.source(other) == array;
            node.body.iter().for_each(|statement| {
                statement.for_each(&mut |inner| {
                    is_added_to &= match inner {
                        Statement::Reduce(other, _, operator, _) => !is_it(*other) || *operator == ReduceOperator::Add,
                        Statement::View { .. } => true,
                        other => !other.written_array().is_some_and(is_it),
                    };
                    inner.for_each_expr(&mut |expr| {
                        expr.for_each(&mut |expr| match expr {
                            // What stands for it is as long.
                            Expr::Load(other, _) => is_added_to &= !is_it(*other),
                            Expr::Fold(_, term) => {
                                is_added_to &=
                                    !term.factors().iter().any(|factor| is_it(factor.run()) || is_it(factor.values()));
                            }
                            _ => {}
                        });
                    });
                });
            });
            is_added_to
        }
    };
    let is_long = |node: &Parallel| {
        let is_copied = node.sharing.contains(&(array, Sharing::Private(ReduceOperator::Add)));
        is_copied || is_repeated(kernel, &node.body, array)
    };
    is_result && is_few && node.alternatives().all(is_kept) && node.alternatives().any(is_long)
}

/// Whether loops may add many terms to one element of an array: those whose counter does not say which.
fn is_repeated(kernel: &Kernel, body: &[Statement], array: ArrayId) -> bool {
    let mut lets: BTreeMap<VariableId, Vec<&Expr>> = BTreeMap::new();
    let mut begins: BTreeMap<ArrayId, (ArrayId, &Expr)> = BTreeMap::new();
    body.iter().for_each(|statement| see_places(statement, &mut lets, &mut begins));
    let mut found = false;
    let mut around = Vec::new();
    each_sum(kernel, body, &mut around, &mut |to, index, around| {
        let mut known = BTreeSet::new();
        tell(index, &lets, &mut known);
        let mut of = to;
        while let Some((source, begin)) = begins.get(&of) {
            tell(begin, &lets, &mut known);
            of = *source;
        }
        let repeated = around.iter().filter(|(counters, _)| counters.is_disjoint(&known)).map(|(_, count)| *count);
        found |= of == array && are_many(repeated);
    });
    found
}

fn see_places<'s>(
    statement: &'s Statement,
    lets: &mut BTreeMap<VariableId, Vec<&'s Expr>>,
    begins: &mut BTreeMap<ArrayId, (ArrayId, &'s Expr)>,
) {
    match statement {
        Statement::Let(variable, value) => lets.entry(*variable).or_default().push(value),
        Statement::View { array, of, begin, .. } => _ = begins.insert(*array, (*of, begin)),
        _ => {}
    }
    statement.blocks().into_iter().flatten().for_each(|inner| see_places(inner, lets, begins));
}

/// The variables that say what an expression is.
fn tell(expr: &Expr, lets: &BTreeMap<VariableId, Vec<&Expr>>, known: &mut BTreeSet<VariableId>) {
    match expr {
        // Many numbers have one quotient.
        Expr::Binary(BinaryOperator::Divide | BinaryOperator::Remainder, ..) => {}
        Expr::Variable(variable) => {
            if known.insert(*variable)
                && let Some(values) = lets.get(variable)
            {
                values.iter().for_each(|value| tell(value, lets, known));
            }
        }
        other => other.for_each_child(&mut |child| tell(child, lets, known)),
    }
}

/// Loops around a sum: their counters, and how many iterations they have.
type Around = [(BTreeSet<VariableId>, Option<u64>)];

/// Visits what adds to arrays, with the loops around.
fn each_sum(
    kernel: &Kernel,
    body: &[Statement],
    around: &mut Vec<(BTreeSet<VariableId>, Option<u64>)>,
    visit: &mut dyn FnMut(ArrayId, &Expr, &Around),
) {
    for statement in body {
        if let Statement::Reduce(array, index, ReduceOperator::Add, _) = statement {
            visit(*array, index, around);
        }
        let counters = match statement {
            Statement::For { variable, .. } | Statement::Marked { variable, .. } => BTreeSet::from([*variable]),
            Statement::Merge(merge) => merge.declared().collect(),
            Statement::While(_, inner) => {
                let steps = inner.iter().filter_map(|statement| match statement {
                    Statement::Assign(variable, _) | Statement::Update(variable, ..) => Some(*variable),
                    _ => None,
                });
                steps.collect()
            }
            _ => BTreeSet::new(),
        };
        let count = match statement {
            Statement::If(..) => Some(1),
            statement => iterations(kernel, statement),
        };
        around.push((counters, count));
        statement.blocks().into_iter().for_each(|block| each_sum(kernel, block, around, visit));
        around.pop();
    }
}

/// The same loop with sums of more bits, which are added to the results when it is done.
fn of_more_bits(kernel: &mut Kernel, node: &Statement, results: &[ArrayId]) -> Vec<Statement> {
    let views = Views::of(std::slice::from_ref(node));
    let mut renamed: BTreeMap<ArrayId, ArrayId> = BTreeMap::new();
    let (mut before, mut behind) = (Vec::new(), Vec::new());
    for &result in results {
        let few = value_of(kernel, result).expect("values");
        let element = wide(few).expect("few bits");
        let shown: Vec<ArrayId> =
            (0u32..).map(ArrayId).take(kernel.arrays.len()).filter(|id| views.source(*id) == result).collect();
        for array in shown {
            let name = format!("{}_sums", kernel.array(array).name.trim_end_matches("_vals"));
            renamed.insert(array, kernel.declare_array(&name, ArrayElement::Value(element), ArrayRole::Local));
        }
        let sums = renamed[&result];
        before.push(Statement::Allocate { array: sums, length: Expr::Length(result), fill: zero(element) });
        let place = kernel.declare_index("place");
        let sum = cast(few, Expr::load(sums, Expr::Variable(place)));
        behind.push(Statement::For {
            variable: place,
            begin: Expr::Index(0),
            end: Expr::Length(result),
            vector: true,
            body: vec![Statement::Reduce(result, Expr::Variable(place), ReduceOperator::Add, sum)],
        });
    }
    let mut node = node.clone();
    rename(kernel, &mut node, &renamed);
    before.into_iter().chain([node]).chain(behind).collect()
}

fn rename(kernel: &Kernel, statement: &mut Statement, renamed: &BTreeMap<ArrayId, ArrayId>) {
    statement.for_each_expr_mut(&mut |expr| {
        let taken = std::mem::replace(expr, Expr::Index(0));
        *expr = with_lengths(taken, renamed);
    });
    match statement {
        Statement::Reduce(array, _, _, value) => {
            if let Some(to) = renamed.get(array) {
                let element = value_of(kernel, *to).expect("values");
                *array = *to;
                *value = cast(element, std::mem::replace(value, Expr::Index(0)));
            }
        }
        Statement::View { array, of, .. } => {
            for array in [array, of] {
                *array = renamed.get(array).copied().unwrap_or(*array);
            }
        }
        Statement::Parallel(node) => {
            let mut next = Some(&mut **node);
            while let Some(node) = next {
                for (array, _) in &mut node.sharing {
                    *array = renamed.get(array).copied().unwrap_or(*array);
                }
                next = node.uneven.as_deref_mut();
            }
        }
        _ => {}
    }
    statement.blocks_mut().into_iter().flatten().for_each(|inner| rename(kernel, inner, renamed));
}

/// The same with the lengths of other arrays.
fn with_lengths(expr: Expr, of: &BTreeMap<ArrayId, ArrayId>) -> Expr {
    match expr {
        Expr::Length(array) => Expr::Length(of.get(&array).copied().unwrap_or(array)),
        other => other.map_children(&mut |child| with_lengths(child, of)),
    }
}

// Rows of sums.

/// Adds sums of rows to others now and then.
fn in_rows(kernel: &mut Kernel, body: &mut Vec<Statement>, rows: &BTreeMap<ArrayId, Expr>) {
    let mut made = Vec::new();
    rows_in_block(kernel, body, rows, &mut made);
    body.splice(0..0, made);
}

fn rows_in_block(
    kernel: &mut Kernel,
    body: &mut Vec<Statement>,
    rows: &BTreeMap<ArrayId, Expr>,
    made: &mut Vec<Statement>,
) {
    for statement in body.iter_mut() {
        let is_parallel = matches!(statement, Statement::Parallel(_));
        for block in statement.blocks_mut() {
            if is_parallel {
                in_rows(kernel, block, rows);
            } else {
                rows_in_block(kernel, block, rows, made);
            }
        }
    }
    let mut place = 0;
    while place < body.len() {
        let views = Views::of(body);
        let (arrays, region) = opened(body, place, rows, &views);
        place += arrays.len().max(1);
        if arrays.is_empty() {
            continue;
        }
        let is_looped = body[region.clone()].iter().any(|statement| !statement.blocks().is_empty());
        if region.is_empty() || !is_looped {
            continue;
        }
        let mut inside: Vec<Statement> = body.drain(region.clone()).collect();
        let row = Rows::new(kernel, &arrays, rows);
        let is_single = row.cut(kernel, &mut inside, &views);
        let was_full = if is_single { None } else { row.block(kernel, &mut inside, &views) };
        if is_single || was_full.is_some() {
            made.extend(row.making(kernel));
        }
        if let Some(was_full) = was_full {
            inside.insert(0, Statement::Let(row.terms, Expr::Index(0)));
            inside.push(Statement::If(vec![(was_full, row.finish(kernel))], Vec::new()));
            if !inside.iter().any(|statement| statement.uses(row.terms)) {
                inside.remove(0);
            }
        }
        let length = inside.len();
        body.splice(region.start..region.start, inside);
        place = region.start + length;
    }
}

/// The rows that are made ready from a place on, one after the other, and to which the same statements add; and these statements.
fn opened(
    body: &[Statement],
    place: usize,
    rows: &BTreeMap<ArrayId, Expr>,
    views: &Views,
) -> (Vec<ArrayId>, std::ops::Range<usize>) {
    let row = |statement: &Statement| match statement {
        Statement::Allocate { array, .. } | Statement::Fill(array, _) if rows.contains_key(array) => Some(*array),
        _ => None,
    };
    let Some(first) = row(&body[place]) else { return (Vec::new(), place..place) };
    let own = region(body, place, first, views);
    let mut arrays = vec![first];
    for (opening, statement) in body.iter().enumerate().skip(place + 1) {
        let Some(next) = row(statement) else { break };
        let other = region(body, opening, next, views);
        let is_with = |statement: &Statement| reduces(statement, next, views) == reduces(statement, first, views);
        if other.end != own.end || !body[other].iter().all(is_with) {
            break;
        }
        arrays.push(next);
    }
    let first = (place + arrays.len()).min(own.end.max(place + 1));
    (arrays, first..own.end.max(first))
}

/// Rows of sums that the same loops add to, with those that they are added to.
struct Rows {
    rows: Vec<Row>,
    /// How many terms came.
    terms: VariableId,
}

/// A row of sums, and those that it is added to.
struct Row {
    array: ArrayId,
    sums: ArrayId,
    length: Expr,
}

impl Rows {
    fn new(kernel: &mut Kernel, arrays: &[ArrayId], lengths: &BTreeMap<ArrayId, Expr>) -> Self {
        let rows = arrays.iter().map(|array| Row::new(kernel, *array, lengths[array].clone())).collect();
        Rows { rows, terms: kernel.declare_variable("terms", Type::Index, true) }
    }

    /// Makes those that they are added to, which are zero but between the first time and the end.
    fn making(&self, kernel: &Kernel) -> Vec<Statement> {
        self.rows.iter().map(|row| row.making(kernel)).collect()
    }

    /// Whether a statement adds to one of them.
    fn reduced_by(&self, statement: &Statement, views: &Views) -> bool {
        self.rows.iter().any(|row| reduces(statement, row.array, views))
    }

    /// Adds the rows to the others.
    fn add_up(&self, kernel: &mut Kernel) -> Vec<Statement> {
        self.rows.iter().flat_map(|row| row.add_up(kernel)).collect()
    }

    /// Gives the rows all that was added to the others.
    fn finish(&self, kernel: &mut Kernel) -> Vec<Statement> {
        self.rows.iter().flat_map(|row| row.finish(kernel)).collect()
    }

    /// Cuts the only loop that adds to the rows, if it is short: blocks behind the first are rare, and have a loop of their own.
    /// Whether it is.
    fn cut(&self, kernel: &mut Kernel, body: &mut Vec<Statement>, views: &Views) -> bool {
        let adding = body.iter().filter(|statement| self.reduced_by(statement, views)).count();
        let inside = match body.last() {
            Some(Statement::For { vector: false, body, .. }) => body,
            Some(Statement::While(Expr::Binary(BinaryOperator::Less, counter, end), body))
                if matches!(**counter, Expr::Variable(_)) && is_fixed(end, body) =>
            {
                body
            }
            _ => return false,
        };
        let mut count = 0;
        inside.iter().for_each(|statement| statement.for_each(&mut |_| count += 1));
        if adding != 1 || count > TWICE || !self.is_innermost(kernel, inside, views) {
            return false;
        }
        let last = body.pop();
        let mut name = |kernel: &mut Kernel, name: &str, value: Expr| match value {
            value @ (Expr::Index(_) | Expr::Dimension(_)) => value,
            Expr::Variable(variable) if !kernel.variable(variable).mutable => Expr::Variable(variable),
            value => {
                let id = kernel.declare_index(name);
                body.push(Statement::Let(id, value));
                Expr::Variable(id)
            }
        };
        let up_to =
            |from: Expr, end: &Expr| Expr::binary(BinaryOperator::Minimum, from.plus(Expr::Index(BLOCK)), end.clone());
        let mut of_block = Vec::new();
        let (is_short, first, blocks) = match last {
            Some(Statement::For { variable, begin, end, body: inside, .. }) => {
                let (begin, end) = (name(kernel, "first", begin), name(kernel, "last", end));
                let part = |begin: Expr, end: Expr| {
                    let body = inside.clone();
                    Statement::For { variable, begin, end, vector: false, body }
                };
                let [block, from] = ["block", "from"].map(|name| kernel.declare_index(name));
                let place = begin.clone().plus(Expr::Variable(block).times(Expr::Index(BLOCK)));
                of_block.push(Statement::Let(from, place));
                of_block.push(part(Expr::Variable(from), up_to(Expr::Variable(from), &end)));
                of_block.extend(self.add_up(kernel));
                let blocks = Statement::For {
                    variable: block,
                    begin: Expr::Index(0),
                    end: divided_up(end.clone().minus(begin.clone()), BLOCK),
                    vector: false,
                    body: of_block,
                };
                let most = begin.clone().plus(Expr::Index(BLOCK));
                (Expr::binary(BinaryOperator::LessEqual, end.clone(), most), part(begin, end), blocks)
            }
            Some(Statement::While(Expr::Binary(operator, counter, end), inside)) => {
                let end = name(kernel, "last", *end);
                let part =
                    |end: Expr| Statement::While(Expr::binary(operator, (*counter).clone(), end), inside.clone());
                let to = kernel.declare_index("to");
                of_block.push(Statement::Let(to, up_to((*counter).clone(), &end)));
                of_block.push(part(Expr::Variable(to)));
                of_block.extend(self.add_up(kernel));
                let is_left = Expr::binary(operator, (*counter).clone(), end.clone());
                let most = (*counter).clone().plus(Expr::Index(BLOCK));
                let is_short = Expr::binary(BinaryOperator::LessEqual, end.clone(), most);
                (is_short, part(end), Statement::While(is_left, of_block))
            }
            _ => unreachable!("looked at before"),
        };
        let blocks = std::iter::once(blocks).chain(self.finish(kernel)).collect();
        body.push(Statement::If(vec![(is_short, vec![first])], blocks));
        true
    }

    /// Lets the loops that add to the rows add them to the others now and then; gives whether they have, or `None` where there are few
    /// terms.
    fn block(&self, kernel: &mut Kernel, body: &mut [Statement], views: &Views) -> Option<Expr> {
        let mut adding: Vec<&mut Statement> =
            body.iter_mut().filter(|statement| self.reduced_by(statement, views)).collect();
        if let [Statement::For { variable, begin, end, vector: false, body }] = &mut adding[..]
            && self.is_innermost(kernel, body, views)
        {
            let at = |place: &Expr| Expr::binary(BinaryOperator::Divide, place.clone(), Expr::Index(BLOCK));
            let was_full = match begin {
                Expr::Index(0) => at_least(end.clone(), BLOCK),
                begin => at(begin).less(at(end)),
            };
            let is_full = rest(*variable).equals(Expr::Index(BLOCK - 1));
            body.insert(0, Statement::If(vec![(is_full, self.add_up(kernel))], Vec::new()));
            return Some(was_full);
        }
        let mut counts = false;
        for statement in adding {
            counts |= self.count(kernel, statement, views);
        }
        counts.then(|| at_least(Expr::Variable(self.terms), BLOCK))
    }

    /// Whether there are no loops in a loop's body that add many terms, and it does so itself.
    fn is_innermost(&self, kernel: &Kernel, body: &[Statement], views: &Views) -> bool {
        body.iter().filter(|statement| self.reduced_by(statement, views)).all(|statement| {
            !is_loop(kernel, statement)
                && statement.blocks().into_iter().all(|block| self.is_innermost(kernel, block, views))
        })
    }

    /// Counts terms in the innermost loops that add to the rows. Whether there is one.
    fn count(&self, kernel: &mut Kernel, statement: &mut Statement, views: &Views) -> bool {
        let mut counts = false;
        for inner in statement.blocks_mut().into_iter().flatten() {
            if self.reduced_by(inner, views) {
                counts |= self.count(kernel, inner, views);
            }
        }
        if counts || !is_loop(kernel, statement) {
            return counts;
        }
        for block in statement.blocks_mut() {
            let next = Expr::binary(BinaryOperator::Add, Expr::Variable(self.terms), Expr::Index(1));
            let is_full = rest(self.terms).equals(Expr::Index(0));
            let add_up = Statement::If(vec![(is_full, self.add_up(kernel))], Vec::new());
            block.splice(0..0, [Statement::Assign(self.terms, next), add_up]);
        }
        true
    }
}

impl Row {
    fn new(kernel: &mut Kernel, array: ArrayId, length: Expr) -> Row {
        let element = value_of(kernel, array).and_then(wide).expect("few bits");
        let name = format!("{}_sums", kernel.array(array).name.trim_end_matches("_vals"));
        let sums = kernel.declare_array(&name, ArrayElement::Value(element), ArrayRole::Local);
        Row { array, sums, length }
    }

    fn making(&self, kernel: &Kernel) -> Statement {
        let fill = zero(value_of(kernel, self.sums).expect("values"));
        Statement::Allocate { array: self.sums, length: self.length.clone(), fill }
    }

    fn add_up(&self, kernel: &mut Kernel) -> Vec<Statement> {
        let element = value_of(kernel, self.array).expect("values");
        let lane = kernel.declare_index("lane");
        let place = || Expr::Variable(lane);
        let more = cast(wide(element).expect("few bits"), Expr::load(self.array, place()));
        let add = Statement::Reduce(self.sums, place(), ReduceOperator::Add, more);
        vec![self.each(lane, add), Statement::Fill(self.array, zero(element))]
    }

    fn finish(&self, kernel: &mut Kernel) -> Vec<Statement> {
        let element = value_of(kernel, self.array).expect("values");
        let more = wide(element).expect("few bits");
        let lane = kernel.declare_index("lane");
        let place = || Expr::Variable(lane);
        let own = cast(more, Expr::load(self.array, place()));
        let all = Expr::binary(BinaryOperator::Add, Expr::load(self.sums, place()), own);
        let give = Statement::Store(self.array, place(), cast(element, all));
        vec![self.each(lane, give), Statement::Fill(self.sums, zero(more))]
    }

    fn each(&self, lane: VariableId, statement: Statement) -> Statement {
        let (begin, end) = (Expr::Index(0), self.length.clone());
        Statement::For { variable: lane, begin, end, vector: true, body: vec![statement] }
    }
}

/// Whether statements change nothing that an expression is made of.
fn is_fixed(expr: &Expr, body: &[Statement]) -> bool {
    let mut is_fixed = true;
    body.iter().for_each(|statement| {
        statement.for_each(&mut |inner| {
            is_fixed &= match inner {
                Statement::Assign(variable, _) | Statement::Update(variable, ..) => !expr.uses(*variable),
                _ => true,
            };
        });
    });
    is_fixed
}

/// Whether it is a loop that adds many terms to a sum.
fn is_loop(kernel: &Kernel, statement: &Statement) -> bool {
    match statement {
        Statement::For { vector: true, .. } | Statement::If(..) => false,
        other => !other.blocks().is_empty() && iterations(kernel, other).is_none_or(|count| count > FEW),
    }
}

/// What is left of a number when blocks are taken from it.
fn rest(number: VariableId) -> Expr {
    Expr::binary(BinaryOperator::Remainder, Expr::Variable(number), Expr::Index(BLOCK))
}

fn at_least(number: Expr, least: u64) -> Expr {
    Expr::binary(BinaryOperator::LessEqual, Expr::Index(least), number)
}
