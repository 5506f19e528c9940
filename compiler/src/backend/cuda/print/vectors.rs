//! Neighbouring elements that a thread has: each array's are loaded and stored by one instruction.
//!
//! ```text
//! for strip in 0..4                          const f32_by_4 B_row = *(const f32_by_4*)(B + j * r_extent + first);
//!     let r = first + strip                  for (u64 strip = 0; strip < 4; strip++) {
//!     t[strip] += x * B[j * r_extent + r]        t[strip] += x * B_row.e[strip];
//!                                            }
//! ```
//!
//! So do lanes that share out a loop over such a row, where its length is a multiple:
//!
//! ```text
//! for r in lane..r_extent by width           for (u64 first = lane * 4; first < r_extent; first += width * 4) {
//!     t += a[i * r_extent + r]                   const f32_by_4 a_row = *(const f32_by_4*)(a + i * r_extent + first);
//!                                                …
//! ```
//!
//! Rows begin at multiples of what a thread has, and arrays where the device's memory is given out, so that vectors lie well. What is
//! read under a condition stays where it is.

use super::{Printer, element};
use crate::gpu::plan::{Group, STRIPS, VECTOR_BYTES, Vector, bytes, together, vector_of};
use crate::gpu::rewrite::{certain_loads, declared, is_of_row};
use crate::ir::{ArrayElement, ArrayId, Expr, ReduceOperator, Statement, VariableId};
use std::collections::{BTreeMap, BTreeSet};

/// What the types of neighbours that move as one begin with.
pub(in crate::backend::cuda) const VECTOR: &str = "struct alignas";

/// An array's elements that a thread has for itself while it goes over them.
pub(super) struct Moved {
    pub(super) array: ArrayId,
    /// Where the elements are, by the element that a thread is at.
    pub(super) index: Expr,
    /// What they are called: as an array, and the one that a thread is at.
    pub(super) name: String,
    pub(super) element: String,
}

/// How a body's statement leaves elements in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// They replace what was there.
    Stored,
    /// They were loaded and changed.
    Changed,
    /// They are added to what is there, by an atomic operation at the ends of a share.
    Added(ReduceOperator),
    /// They are added to what is there, at once.
    Together,
}

/// The loop over what a thread has.
pub(super) struct Over<'b> {
    vector: Vector,
    /// The element that it is at.
    element: VariableId,
    /// How many a row has.
    row: Expr,
    /// What is done with each, behind what says which it is.
    body: &'b [Statement],
    declared: BTreeSet<VariableId>,
}

impl<'b> Over<'b> {
    fn new(vector: Vector, element: VariableId, row: Expr, body: &'b [Statement]) -> Self {
        Self { vector, element, row, body, declared: declared(body) }
    }

    /// Whether all neighbours of an index are known before the loop.
    fn is_before(&self, index: &Expr) -> bool {
        is_of_row(index, self.element, &self.row) && !self.declared.iter().any(|variable| index.uses(*variable))
    }

    /// The arrays that the body writes, each with how often.
    fn written(&self) -> BTreeMap<ArrayId, usize> {
        let mut written = BTreeMap::new();
        for statement in self.body {
            statement.for_each(&mut |statement| {
                statement.written_array().into_iter().for_each(|array| *written.entry(array).or_default() += 1);
            });
        }
        written
    }

    /// The arrays that it reads, as what they are indexed by.
    fn read(&self) -> BTreeSet<ArrayId> {
        crate::gpu::rewrite::loaded(self.body)
    }
}

impl Printer<'_> {
    /// What a loop goes over, where that is what a thread has of a row.
    pub(super) fn over<'b>(&self, counter: VariableId, body: &'b [Statement]) -> Option<Over<'b>> {
        let lane = self.function.places()?.row()?;
        let vector = lane.vector.filter(|vector| vector.counter == counter)?;
        Some(Over::new(vector, lane.element, lane.row.clone(), &body[1..]))
    }

    /// The same of what a lane of a group takes at a time, of a loop over `0..end`.
    pub(super) fn over_shared<'b>(
        &self,
        group: Group,
        counter: VariableId,
        end: &Expr,
        body: &'b [Statement],
    ) -> Option<Over<'b>> {
        let own: Vec<(ArrayId, Expr)> =
            certain_loads(body).into_iter().filter(|(_, index)| index.uses(counter)).collect();
        let is_well = |(array, index): &(ArrayId, Expr)| is_of_row(index, counter, end) && self.is_movable(*array);
        let widest = own.iter().map(|(array, _)| bytes(self.kernel, *array)).max()?;
        let count = vector_of(widest).filter(|_| own.iter().all(is_well))?;
        let vector = Vector { counter: group.strip, first: group.first, count };
        let over = Over::new(vector, counter, end.clone(), body);
        over.written().is_empty().then_some(over)
    }

    /// A loop that lanes share out, by neighbours where the length of the row is a multiple; behind it, the same by elements has to follow.
    pub(super) fn shared_vectors(&mut self, group: Group, over: &Over<'_>, at_each: &dyn Fn(&mut Self)) {
        let (count, end) = (over.vector.count, self.operand(&over.row));
        let [lane, width] = [group.lane, group.width].map(|variable| self.variables[&variable].clone());
        self.nest(&format!("if ({end} % {count} == 0)"), |printer| {
            let first = printer.declare_variable(group.first);
            let head = format!("for (u64 {first} = {lane} * {count}; {first} < {end}; {first} += {width} * {count})");
            printer.nest(&head, at_each);
        });
        self.line("else {");
        self.depth += 1;
    }

    /// A loop over the neighbours that a thread has.
    pub(super) fn vector_loop(&mut self, over: &Over<'_>) {
        let (vector, body) = (over.vector, over.body);
        let first = BTreeMap::from([(over.element, Expr::Variable(vector.first))]);
        let at_first = |index: &Expr| index.clone().substituted(&first);
        let counter = self.scoped_name(vector.counter);
        let (written, read) = (over.written(), over.read());
        for (array, index) in self.loads(over, &written) {
            let name = self.moved_name(array);
            let (ty, place) = (self.vector_type(array, vector.count), self.place(array, &at_first(&index)));
            self.line(&format!("const {ty} {name} = *(const {ty}*)({place});"));
            self.moved.push(Moved { array, index, element: format!("{name}.e[{counter}]"), name });
        }
        let mut left = Vec::new();
        for statement in body {
            let (Statement::Store(array, index, _) | Statement::Reduce(array, index, ..)) = statement else { continue };
            let is_alone = written.get(array) == Some(&1) && !read.contains(array);
            if !is_alone || !over.is_before(index) || !self.is_movable(*array) || self.stored_only(*array).is_some() {
                continue;
            }
            let Some(how) = self.left(statement, vector.count) else { continue };
            let name = self.moved_name(*array);
            let ty = self.vector_type(*array, vector.count);
            match how {
                Left::Changed => {
                    let place = self.place(*array, &at_first(index));
                    self.line(&format!("{ty} {name} = *(const {ty}*)({place});"));
                }
                Left::Stored | Left::Added(_) | Left::Together => self.line(&format!("{ty} {name};")),
            }
            let element = format!("{name}.e[{counter}]");
            left.push((how, Moved { array: *array, index: index.clone(), name, element }));
        }
        self.over_elements(over, &left);
        for (how, moved) in left {
            let index = at_first(&moved.index);
            self.leave(vector.count, how, &moved, &index);
        }
        self.moved.clear();
    }

    /// What the body does for each element.
    fn over_elements(&mut self, over: &Over<'_>, left: &[(Left, Moved)]) {
        self.namer.enter();
        let counter = self.declare_variable(over.vector.counter);
        self.line("#pragma unroll");
        self.nest(&format!("for (u64 {counter} = 0; {counter} < {}; {counter}++)", over.vector.count), |printer| {
            if printer.needs(over, left) {
                let first = printer.variables[&over.vector.first].clone();
                let element = printer.declare_variable(over.element);
                printer.line(&format!("const u64 {element} = {first} + {counter};"));
            }
            for statement in over.body {
                let of = |array: &ArrayId| left.iter().find(|(_, moved)| moved.array == *array);
                match statement {
                    Statement::Store(array, _, value) if of(array).is_some() => {
                        let value = printer.stored(*array, value);
                        let element = of(array).map_or("", |(_, moved)| &moved.element);
                        printer.line(&format!("{element} = {value};"));
                    }
                    Statement::Reduce(array, _, operator, value) if of(array).is_some() => {
                        let value = printer.expr(value);
                        let (how, element) =
                            of(array).map_or((Left::Stored, ""), |(how, moved)| (*how, &moved.element));
                        match how {
                            Left::Changed => {
                                let ty = printer.kernel.array(*array).element.ty();
                                printer.update(element, *operator, ty, &value);
                            }
                            Left::Stored | Left::Added(_) | Left::Together => {
                                printer.line(&format!("{element} = {value};"));
                            }
                        }
                    }
                    other => printer.statement(other),
                }
            }
        });
        self.namer.leave();
    }

    /// Whether the body still asks for the number of an element, besides where it is in memory.
    fn needs(&self, over: &Over<'_>, left: &[(Left, Moved)]) -> bool {
        let mut needs = false;
        for statement in over.body {
            let is_left = match statement {
                Statement::Store(array, ..) | Statement::Reduce(array, ..) => {
                    left.iter().any(|(_, moved)| moved.array == *array)
                }
                _ => false,
            };
            statement.for_each(&mut |inner| match inner {
                Statement::Store(_, _, value) | Statement::Reduce(_, _, _, value) if is_left => {
                    needs |= self.asks(value, over.element);
                }
                inner => inner.for_each_expr(&mut |expr| needs |= self.asks(expr, over.element)),
            });
        }
        needs
    }

    /// Whether an expression asks for a variable elsewhere than in what was moved.
    fn asks(&self, expr: &Expr, variable: VariableId) -> bool {
        if *expr == Expr::Variable(variable) {
            return true;
        }
        let is_moved = matches!(expr, Expr::Load(array, index) if self.moved_of(*array, index).is_some());
        let mut asks = false;
        if !is_moved {
            expr.for_each_child(&mut |child| asks |= self.asks(child, variable));
        }
        asks
    }

    /// What a load becomes of an array whose elements a thread has.
    pub(super) fn moved_of(&self, array: ArrayId, index: &Expr) -> Option<String> {
        let moved = self.moved.iter().find(|moved| moved.array == array && moved.index == *index)?;
        Some(moved.element.clone())
    }

    /// The unconditional loads of neighbours in a body.
    fn loads(&self, over: &Over<'_>, written: &BTreeMap<ArrayId, usize>) -> Vec<(ArrayId, Expr)> {
        let mut moved: Vec<(ArrayId, Expr)> = Vec::new();
        for load in certain_loads(over.body) {
            let (array, index) = (load.0, &load.1);
            let is_well = over.is_before(index) && !written.contains_key(&array) && self.is_movable(array);
            if is_well && !moved.contains(&load) {
                moved.push(load);
            }
        }
        moved
    }

    /// The name that a variable of a loop will have.
    pub(super) fn scoped_name(&mut self, variable: VariableId) -> String {
        self.namer.enter();
        let name = self.namer.name(&self.kernel.variable(variable).name);
        self.namer.leave();
        name
    }

    /// Whether neighbours in an array can be moved as one: it is the device's own, and lies well.
    fn is_movable(&self, array: ArrayId) -> bool {
        let is_value = matches!(self.kernel.array(array).element, ArrayElement::Value(_));
        is_value && self.function.arrays().iter().any(|(other, _)| *other == array)
    }

    /// How a statement leaves elements; `None` where each is updated for itself.
    fn left(&self, statement: &Statement, count: u64) -> Option<Left> {
        match statement {
            Statement::Store(..) => Some(Left::Stored),
            Statement::Reduce(array, ..) if !self.function.atomic.contains(array) => Some(Left::Changed),
            Statement::Reduce(array, _, operator, _) => {
                let is_owned = self.function.owned.iter().any(|owned| owned.array == *array);
                let is_together = count == STRIPS && together(self.kernel, *array, *operator);
                is_owned.then_some(Left::Added(*operator)).or(is_together.then_some(Left::Together))
            }
            _ => None,
        }
    }

    /// Puts what a thread has where it belongs.
    fn leave(&mut self, count: u64, how: Left, moved: &Moved, index: &Expr) {
        let (ty, place) = (self.vector_type(moved.array, count), self.place(moved.array, index));
        let name = &moved.name;
        let operator = match how {
            Left::Added(operator) => operator,
            Left::Together => {
                let add = self.helpers.add_neighbours();
                return self.line(&format!("{add}({place}, {name});"));
            }
            Left::Stored | Left::Changed => return self.line(&format!("*({ty}*)({place}) = {name};")),
        };
        let held = self.kernel.array(moved.array).element;
        self.define(operator, held.ty());
        let update = self.helpers.atomic(operator, held);
        let Some(owned) = self.function.owned.iter().find(|owned| owned.array == moved.array).copied() else { return };
        let [begin, end] = [owned.begin, owned.end].map(|bound| self.variables[&bound].clone());
        let index = self.operand(index);
        self.namer.enter();
        let (there, n) = (self.moved_name(moved.array), self.namer.name("n"));
        self.namer.leave();
        let each = format!("for (u64 {n} = 0; {n} < {count}; {n}++)");
        self.line(&format!("if ({index} >= {begin} && {index} < {end}) {{"));
        self.depth += 1;
        self.line(&format!("{ty} {there} = *(const {ty}*)({place});"));
        self.line("#pragma unroll");
        self.nest(&each, |printer| {
            printer.update(&format!("{there}.e[{n}]"), operator, held.ty(), &format!("{name}.e[{n}]"));
        });
        self.line(&format!("*({ty}*)({place}) = {there};"));
        self.depth -= 1;
        let at_once = count == STRIPS && together(self.kernel, moved.array, operator);
        self.nest("} else", |printer| {
            if at_once {
                let add = printer.helpers.add_neighbours();
                return printer.line(&format!("{add}({place}, {name});"));
            }
            printer.line("#pragma unroll");
            printer.line(&format!("{each} {update}({place} + {n}, {name}.e[{n}]);"));
        });
    }

    /// The address of an element.
    fn place(&mut self, array: ArrayId, index: &Expr) -> String {
        let name = self.arrays[&array].clone();
        format!("{name} + {}", self.operand(index))
    }

    pub(super) fn moved_name(&mut self, array: ArrayId) -> String {
        self.namer.name(&format!("{}_row", self.kernel.array(array).name))
    }

    /// The type of so many neighbours.
    pub(super) fn vector_type(&mut self, array: ArrayId, count: u64) -> String {
        let held = self.kernel.array(array).element;
        let (part, bytes) = (element(held), held.bytes() as u64 * count);
        self.helpers.add(format!("{part}_by_{count}"), |name| {
            let lies = bytes.min(VECTOR_BYTES);
            format!("{VECTOR}({lies}) {name} {{\n    {part} e[{count}];\n}};\n")
        })
    }
}
