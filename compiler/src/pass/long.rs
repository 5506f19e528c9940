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
//! let terms = 0
//! let from = 0
//! while from < entries
//!     let to = minimum(entries, from + (64 - terms % 64))
//!     for p in from..to
//!         for r in 0..32: t[r] += x[p] * C[crd[p] * R + r]
//!     terms = terms + (to - from)
//!     from = to
//!     if terms % 64 == 0
//!         for r in 0..32: t_sums[r] += t[r] as f64; t[r] = 0
//! if 64 <= terms
//!     for r in 0..32: t[r] = (t_sums[r] + t[r] as f64) as f32; t_sums[r] = 0
//! ```
//!
//! Other arrays that the kernel makes, in which terms meet anywhere, hold `f64`. So does what stands for a result that many terms are
//! added to in memory, as long as it has at most [`SHORT`] elements; of longer ones each element gets fewer terms, as a rule, and
//! what stands for them would leave the caches. Complex numbers of two `f32` are treated the same.
//!
//! ([`Expr::Dot`] and [`Statement::Dots`] say themselves that they lose nothing. Blocked sums: Higham, The Accuracy of Floating Point
//! Summation, 1993.)

use super::lanes::size;
use super::over_body;
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

/// How many sums of a row are kept side by side, at most.
const ROW: u64 = 256;

/// How many elements a result has, at most, whose sums in memory are of `f64`: they stay in a second-level cache.
const SHORT: u64 = 1 << 15;

/// The kernel whose long sums lose nothing.
pub(super) fn long(kernel: Kernel) -> Kernel {
    let is_short = |element: &ElementType| wide(*element).is_some();
    let values = kernel.arrays.iter().filter_map(|array| match array.element {
        ArrayElement::Value(element) => Some(element),
        ArrayElement::Index(_) => None,
    });
    if !values.collect::<Vec<_>>().iter().any(is_short) {
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
            Expr::Dot(factors) => factors.first().is_some_and(|factor| {
                matches!(kernel.array(factor.values()).element, ArrayElement::Value(element) if wide(element).is_some())
            }),
            _ => false,
        };
    };
    let is_wide = |ty: Type| matches!(ty, Type::Element(ElementType::F64 | ElementType::C64));
    let has_few = kernel
        .arrays
        .iter()
        .any(|array| matches!(array.element, ArrayElement::Value(element) if wide(element).is_some()));
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
    let is_there = has_few && (of_few || of_many);
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
                let terms = inside.iter().try_fold(1u64, |terms, count| count.map(|count| terms.saturating_mul(count)));
                if is_few && terms.is_none_or(|terms| terms > BLOCK) {
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
        let is_few = |array: ArrayId| value_of(self.kernel, array).is_some_and(|element| wide(element).is_some());
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
                let terms = inside.iter().try_fold(1u64, |terms, count| count.map(|count| terms.saturating_mul(count)));
                if *operator == ReduceOperator::Add {
                    local.is_long |= terms.is_none_or(|terms| terms > BLOCK);
                } else {
                    local.is_other = true;
                }
            }
            Statement::Fill(array, value) if !is_zero(value) => self.is_other(*array),
            Statement::Store(array, ..) => self.is_other(*array),
            Statement::Dots { sums, .. } => self.is_dot(*sums),
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
                if let Expr::Dot(factors) = expr {
                    dots.extend(factors.iter().flat_map(|factor| [factor.run(), factor.values()]));
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
fn copies(kernel: &mut Kernel, body: &mut Vec<Statement>) {
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
    let is_few = value_of(kernel, array).is_some_and(|element| wide(element).is_some());
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
                            Expr::Load(other, _) | Expr::Length(other) => is_added_to &= !is_it(*other),
                            Expr::Dot(factors) => {
                                is_added_to &=
                                    !factors.iter().any(|factor| is_it(factor.run()) || is_it(factor.values()));
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
        let terms = repeated.fold(Some(1u64), |terms, count| Some(terms?.saturating_mul(count?)));
        found |= of == array && terms.is_none_or(|terms| terms > BLOCK);
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
            Statement::Intersect { walks, .. } => walks.iter().map(|walk| walk.place).collect(),
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
        let opened = match &body[place] {
            Statement::Allocate { array, .. } | Statement::Fill(array, _) if rows.contains_key(array) => Some(*array),
            _ => None,
        };
        place += 1;
        let Some(array) = opened else { continue };
        let views = Views::of(body);
        let region = region(body, place - 1, array, &views);
        let is_looped = body[region.clone()].iter().any(|statement| !statement.blocks().is_empty());
        if region.is_empty() || !is_looped {
            continue;
        }
        let mut inside: Vec<Statement> = body.drain(region.clone()).collect();
        let row = Row::new(kernel, array, rows[&array].clone(), made);
        let counts = row.block(kernel, &mut inside, &views);
        if !counts {
            body.splice(region.start..region.start, inside);
            continue;
        }
        inside.insert(0, Statement::Let(row.terms, Expr::Index(0)));
        inside.push(row.finish(kernel));
        let length = inside.len();
        body.splice(region.start..region.start, inside);
        place = region.start + length;
    }
}

/// A row of sums, and those that it is added to.
struct Row {
    array: ArrayId,
    sums: ArrayId,
    length: Expr,
    /// How many terms came.
    terms: VariableId,
}

impl Row {
    /// `made` gets what makes the others, which are zero but between the first time and the end.
    fn new(kernel: &mut Kernel, array: ArrayId, length: Expr, made: &mut Vec<Statement>) -> Row {
        let element = value_of(kernel, array).and_then(wide).expect("few bits");
        let name = format!("{}_sums", kernel.array(array).name.trim_end_matches("_vals"));
        let sums = kernel.declare_array(&name, ArrayElement::Value(element), ArrayRole::Local);
        let terms = kernel.declare_variable("terms", Type::Index, true);
        made.push(Statement::Allocate { array: sums, length: length.clone(), fill: zero(element) });
        Row { array, sums, length, terms }
    }

    /// Counts terms in the innermost loops that add to the row. Whether there is one.
    fn block(&self, kernel: &mut Kernel, body: &mut Vec<Statement>, views: &Views) -> bool {
        let mut counts = false;
        let mut done = Vec::with_capacity(body.len());
        for mut statement in std::mem::take(body) {
            if !reduces(&statement, self.array, views) || statement.blocks().is_empty() {
                done.push(statement);
                continue;
            }
            let is_loop = match &statement {
                Statement::For { vector: true, .. } | Statement::If(..) => false,
                other => iterations(kernel, other).is_none_or(|count| count > FEW),
            };
            let mut inner = false;
            for block in statement.blocks_mut() {
                inner |= self.block(kernel, block, views);
            }
            counts |= inner || is_loop;
            match statement {
                Statement::For { variable, begin, end, vector: false, body } if is_loop && !inner => {
                    done.extend(self.in_blocks(kernel, variable, begin, end, body));
                }
                mut other => {
                    if is_loop && !inner {
                        for block in other.blocks_mut() {
                            block.splice(0..0, self.count(kernel));
                        }
                    }
                    done.push(other);
                }
            }
        }
        *body = done;
        counts
    }

    /// A loop over parts of a range.
    fn in_blocks(
        &self,
        kernel: &mut Kernel,
        variable: VariableId,
        begin: Expr,
        end: Expr,
        body: Vec<Statement>,
    ) -> Vec<Statement> {
        let from = kernel.declare_variable("from", Type::Index, true);
        let to = kernel.declare_index("to");
        let [first, last, terms] = [from, to, self.terms].map(Expr::Variable);
        let (end, mut statements) = match end {
            end @ (Expr::Variable(_) | Expr::Index(_) | Expr::Dimension(_)) => (end, Vec::new()),
            end => {
                let id = kernel.declare_index("end");
                (Expr::Variable(id), vec![Statement::Let(id, end)])
            }
        };
        statements.push(Statement::Let(from, begin));
        let rest = Expr::Index(BLOCK).minus(self.rest());
        let bound = Expr::binary(BinaryOperator::Minimum, end.clone(), first.clone().plus(rest));
        let counted = Expr::binary(BinaryOperator::Add, terms, last.clone().minus(first.clone()));
        let inside = vec![
            Statement::Let(to, bound),
            Statement::For { variable, begin: first.clone(), end: last.clone(), vector: false, body },
            Statement::Assign(self.terms, counted),
            Statement::Assign(from, last),
            self.add_up(kernel),
        ];
        statements.push(Statement::While(first.less(end), inside));
        statements
    }

    /// Counts one term.
    fn count(&self, kernel: &mut Kernel) -> [Statement; 2] {
        let next = Expr::binary(BinaryOperator::Add, Expr::Variable(self.terms), Expr::Index(1));
        [Statement::Assign(self.terms, next), self.add_up(kernel)]
    }

    /// How many terms the row has.
    fn rest(&self) -> Expr {
        Expr::binary(BinaryOperator::Remainder, Expr::Variable(self.terms), Expr::Index(BLOCK))
    }

    /// Adds the row to the others, if it has enough terms.
    fn add_up(&self, kernel: &mut Kernel) -> Statement {
        let is_full = self.rest().equals(Expr::Index(0));
        let element = value_of(kernel, self.array).expect("values");
        let lane = kernel.declare_index("lane");
        let place = || Expr::Variable(lane);
        let more = cast(wide(element).expect("few bits"), Expr::load(self.array, place()));
        let body = vec![
            Statement::Reduce(self.sums, place(), ReduceOperator::Add, more),
            Statement::Store(self.array, place(), zero(element)),
        ];
        Statement::If(vec![(is_full, vec![self.each(lane, body)])], Vec::new())
    }

    /// Gives the row all that was added to the others.
    fn finish(&self, kernel: &mut Kernel) -> Statement {
        let element = value_of(kernel, self.array).expect("values");
        let more = wide(element).expect("few bits");
        let lane = kernel.declare_index("lane");
        let place = || Expr::Variable(lane);
        let own = cast(more, Expr::load(self.array, place()));
        let all = Expr::binary(BinaryOperator::Add, Expr::load(self.sums, place()), own);
        let body = vec![
            Statement::Store(self.array, place(), cast(element, all)),
            Statement::Store(self.sums, place(), zero(more)),
        ];
        let was_full = Expr::binary(BinaryOperator::LessEqual, Expr::Index(BLOCK), Expr::Variable(self.terms));
        Statement::If(vec![(was_full, vec![self.each(lane, body)])], Vec::new())
    }

    fn each(&self, lane: VariableId, body: Vec<Statement>) -> Statement {
        let (begin, end) = (Expr::Index(0), self.length.clone());
        Statement::For { variable: lane, begin, end, vector: true, body }
    }
}
