//! Statements as machine code.

use super::doors::{self, Wrong};
use super::expressions::factors;
use super::function::{Binding, Length, Maker, Val, memory, stored};
use super::layout::Kind;
use super::unit::Result;
use crate::execute::unsupported::Unsupported;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use spc_compiler::format::IndexWidth;
use spc_compiler::ir::{ArrayElement, ArrayId, BinaryOperator, Expr, ReduceOperator, Statement, VariableId};
use std::borrow::Cow;

/// Arrays of at most so many bytes lie on the stack, where their length is known.
const MOST_ON_STACK: u64 = 8192;

impl Maker<'_, '_> {
    /// The statements of a block: names that it declares are forgotten behind it.
    pub(super) fn block(&mut self, statements: &[Statement]) -> Result<()> {
        let (arrays, variables) = (self.arrays.clone(), self.variables.clone());
        let result = statements.iter().try_for_each(|statement| self.statement(statement));
        (self.arrays, self.variables) = (arrays, variables);
        result
    }

    fn statement(&mut self, statement: &Statement) -> Result<()> {
        match statement {
            Statement::Comment(_) => {}
            Statement::Let(id, value) => {
                let value = self.eval(value)?;
                self.declare(*id, value);
            }
            Statement::Assign(id, value) => {
                let value = self.eval(value)?;
                self.assign(*id, value)?;
                self.within.retain(|(cursor, _)| cursor != id);
            }
            Statement::Update(id, operator, value) => {
                let before = self.variable(*id)?;
                let is_ordered = self.unit.ordered.has_variable(*id);
                let after = self.updated(*operator, before, value, is_ordered, |maker| maker.variable(*id))?;
                self.assign(*id, after)?;
                self.within.retain(|(cursor, _)| cursor != id);
            }
            Statement::Store(array, index, value) => {
                let element = self.kernel.array(*array).element;
                // As Rust does: the value first.
                let value = self.eval(value)?;
                let address = self.element(*array, index)?;
                self.store_at(element, address, value);
            }
            Statement::Reduce(array, index, operator, value) => {
                let element = self.kernel.array(*array).element;
                let address = self.element(*array, index)?;
                let before = self.load_at(element, address);
                let is_ordered = self.unit.ordered.has_array(*array);
                let again = |maker: &mut Self| Ok(maker.load_at(element, address));
                let after = self.updated(*operator, before, value, is_ordered, again)?;
                self.store_at(element, address, after);
            }
            Statement::Allocate { array, length, fill } => self.allocate(*array, length, fill)?,
            Statement::Folds { totals, terms, between } => self.folds(*totals, terms, *between)?,
            Statement::Fill(array, value) => {
                let value = self.eval(value)?;
                if let Binding::Registers(parts) = self.binding(*array)? {
                    self.fill_registers(&parts, value.value);
                    return Ok(());
                }
                let words = self.element_words(self.kernel.array(*array).element, value);
                let (data, length) = self.slice(*array)?;
                self.fill(*array, data, length.value, words);
            }
            Statement::View { array, of, begin, length, .. } => self.view(*array, *of, begin, length)?,
            Statement::Numbers { array, codes, mask, below } => {
                let (mask, below) = (self.index(mask)?, self.index(below)?);
                let (data, length) = self.slice(*codes)?;
                let count = length.constant.filter(|count| *count <= MOST_ON_STACK / 8);
                let count = count.ok_or_else(|| Unsupported::new("numbers of codes of an unknown count"))?;
                let (numbers, of) = (self.stack(8 * count, 3), self.constant(self.kind(*codes).number()));
                let arguments = [of, data, length.value, mask, numbers];
                let largest = self.value_of(doors::numbers(), &arguments, I64);
                let holds = self.b.ins().icmp(IntCC::UnsignedLessThan, largest, below);
                self.require(holds, Wrong::Code, Some(*codes), largest, below);
                self.arrays.insert(*array, Binding::Slice { data: numbers, length });
            }
            Statement::List(array) => {
                let (session, number) = (self.session()?, self.constant(u64::from(array.0)));
                let parts = self.value_of(doors::list as *const u8, &[session, number], I64);
                self.arrays.insert(*array, Binding::Grown(parts));
            }
            Statement::Table { table, extent } => {
                let (factors, count) = self.shape(extent)?;
                let (session, number) = (self.session()?, self.constant(u64::from(table.0)));
                let made = self.value_of(doors::table as *const u8, &[session, number, factors, count], I64);
                let made = self.address_or_failed(made);
                self.arrays.insert(*table, Binding::Table(made));
            }
            // Ranges are searched.
            Statement::Directory { .. } => {}
            Statement::Bitmap { bitmap, extent } => {
                let extent = self.index(extent)?;
                let (session, number) = (self.session()?, self.constant(u64::from(bitmap.0)));
                let made = self.value_of(doors::bitmap as *const u8, &[session, number, extent], I64);
                let made = self.address_or_failed(made);
                self.arrays.insert(*bitmap, Binding::Bitmap { bitmap: made, extent });
            }
            Statement::Mark(array, key) => {
                let key = self.index(key)?;
                let Binding::Bitmap { bitmap, extent } = self.binding(*array)? else {
                    return Err(Unsupported::new("a set of another scope"));
                };
                let holds = self.b.ins().icmp(IntCC::UnsignedLessThan, key, extent);
                self.require(holds, Wrong::Key, Some(*array), key, extent);
                self.call(doors::mark as *const u8, &[bitmap, key], None);
            }
            Statement::Marked { variable, bitmap, body } => {
                let Binding::Bitmap { bitmap, .. } = self.binding(*bitmap)? else {
                    return Err(Unsupported::new("a set of another scope"));
                };
                let count = self.stack(8, 3);
                let keys = self.value_of(doors::drain as *const u8, &[bitmap, count], I64);
                let count = self.b.ins().load(I64, memory(), count, 0);
                let zero = self.constant(0);
                self.counted(zero, count, |maker, place| {
                    let offset = maker.times(place, 4);
                    let address = maker.b.ins().iadd(keys, offset);
                    let key = maker.load_at(ArrayElement::Index(IndexWidth::U32), address);
                    maker.declare(*variable, key);
                    maker.block(body)
                })?;
            }
            Statement::Insert { place, key, keys, table } => self.insert(*place, key, *keys, *table)?,
            Statement::Sort { keys, places, table } => {
                let of = self.constant(self.kind(*keys).number());
                let (keys, places) = (self.grown(*keys)?, self.grown(*places)?);
                let table = match table {
                    Some(table) => self.table(*table)?,
                    None => self.constant(0),
                };
                let run = self.run;
                let failed = self.value_of(doors::sort as *const u8, &[run, of, keys, places, table], I64);
                self.unless_failed(failed);
            }
            Statement::Clear(array) => {
                let parts = self.grown(*array)?;
                let zero = self.constant(0);
                self.b.ins().store(memory(), zero, parts, 8);
            }
            Statement::Reset { keys, table } => {
                let of = self.constant(self.kind(*keys).number());
                let (keys, table) = (self.grown(*keys)?, self.table(*table)?);
                self.call(doors::reset as *const u8, &[table, of, keys], None);
            }
            Statement::Push(array, value) => self.push(*array, value)?,
            Statement::Extend { array, count, fill } => {
                let fill = self.eval(fill)?;
                let words = self.element_words(self.kernel.array(*array).element, fill);
                let (factors, count) = self.shape(count)?;
                let (parts, of) = (self.grown(*array)?, self.constant(self.kind(*array).number()));
                let arguments = [self.run, parts, of, factors, count, words[0], words[1]];
                let failed = self.value_of(doors::extend as *const u8, &arguments, I64);
                self.unless_failed(failed);
            }
            Statement::For { variable, begin, end, vector, body } => {
                if *vector && self.lanes(*variable, begin, end, body)? {
                    return Ok(());
                }
                let constant = if let Expr::Index(end) = end { Some(*end) } else { None };
                let (begin, end) = (self.index(begin)?, self.index(end)?);
                let body = self.marked_before(*variable, [begin, end], body)?;
                self.ends.insert(*variable, (end, constant));
                self.counted(begin, end, |maker, place| {
                    maker.declare(*variable, Val::index(place));
                    maker.block(&body)
                })?;
                self.ends.remove(variable);
            }
            Statement::While(condition, body) => {
                let within = self.walked(condition, body)?;
                self.within.extend(within.iter().copied());
                let (head, inside, after) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
                self.b.ins().jump(head, &[]);
                self.b.switch_to_block(head);
                // Whether a loop goes on is guessed well: a part of the condition at a time takes the fewest steps.
                self.branch(condition, inside, after, &|_| true)?;
                self.b.switch_to_block(inside);
                self.b.seal_block(inside);
                self.block(body)?;
                self.b.ins().jump(head, &[]);
                self.b.seal_block(head);
                self.b.switch_to_block(after);
                self.b.seal_block(after);
                self.within.retain(|known| !within.contains(known));
            }
            Statement::Merge(_) => unreachable!("merges are loops here"),
            Statement::If(branches, otherwise) => {
                let after = self.b.create_block();
                for (condition, body) in branches {
                    let (then, next) = (self.b.create_block(), self.b.create_block());
                    self.branch(condition, then, next, &|rest| !rest.is_cheap())?;
                    self.b.switch_to_block(then);
                    self.b.seal_block(then);
                    self.block(body)?;
                    self.b.ins().jump(after, &[]);
                    self.b.switch_to_block(next);
                    self.b.seal_block(next);
                }
                self.block(otherwise)?;
                self.b.ins().jump(after, &[]);
                self.b.switch_to_block(after);
                self.b.seal_block(after);
            }
            Statement::Parallel(node) => self.parallel(node)?,
        }
        Ok(())
    }

    /// Marks the keys of a whole run in one call, where a loop over it begins with a key and its mark. Gives what is left of the body.
    fn marked_before<'b>(
        &mut self,
        counter: VariableId,
        [begin, end]: [Value; 2],
        body: &'b [Statement],
    ) -> Result<Cow<'b, [Statement]>> {
        let [key @ Statement::Let(variable, Expr::Load(keys, at)), Statement::Mark(set, of), rest @ ..] = body else {
            return Ok(body.into());
        };
        let Binding::Slice { data, length } = self.binding(*keys)? else { return Ok(body.into()) };
        let ArrayElement::Index(_) = self.kernel.array(*keys).element else { return Ok(body.into()) };
        if **at != Expr::Variable(counter) || *of != Expr::Variable(*variable) {
            return Ok(body.into());
        }
        let Binding::Bitmap { bitmap, extent } = self.binding(*set)? else {
            return Err(Unsupported::new("a set of another scope"));
        };
        let is_empty = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, begin, end);
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, length.value);
        let holds = self.b.ins().bor(is_empty, fits);
        self.require(holds, Wrong::Index, Some(*keys), end, length.value);
        let of = self.constant(self.kind(*keys).number());
        let largest = self.value_of(doors::mark_all as *const u8, &[bitmap, of, data, begin, end, extent], I64);
        let holds = self.b.ins().icmp(IntCC::UnsignedLessThan, largest, extent);
        let holds = self.b.ins().bor(is_empty, holds);
        self.require(holds, Wrong::Key, Some(*set), largest, extent);
        Ok(std::iter::once(key).chain(rest).cloned().collect::<Vec<Statement>>().into())
    }

    /// The arrays that a loop reads at its cursors before these go on, each with the cursor, after a check that they have elements up to
    /// the ends of the loop's condition: then what it reads needs none.
    fn walked(&mut self, condition: &Expr, body: &[Statement]) -> Result<Vec<(VariableId, ArrayId)>> {
        let mut ends: Vec<(VariableId, &Expr)> = Vec::new();
        let mut open = vec![condition];
        while let Some(condition) = open.pop() {
            match condition {
                Expr::Binary(BinaryOperator::And, one, other) => open.extend([&**other, &**one]),
                Expr::Binary(BinaryOperator::Less, cursor, end) => match (&**cursor, &**end) {
                    (Expr::Variable(cursor), Expr::Index(_) | Expr::Dimension(_)) => ends.push((*cursor, end)),
                    (Expr::Variable(cursor), Expr::Variable(last)) if !self.kernel.variable(*last).mutable => {
                        ends.push((*cursor, end));
                    }
                    _ => {}
                },
                _ => {}
            }
        }
        let mut walked = Vec::new();
        for statement in body {
            let Statement::Let(_, Expr::Load(array, place)) = statement else { break };
            let Some((cursor, end)) = ends.iter().find(|(cursor, _)| **place == Expr::Variable(*cursor)) else { break };
            let Binding::Slice { length, .. } = self.binding(*array)? else { continue };
            let (place, end) = (self.index(place)?, self.index(end)?);
            let is_empty = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, place, end);
            let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, length.value);
            let holds = self.b.ins().bor(is_empty, fits);
            self.require(holds, Wrong::Index, Some(*array), end, length.value);
            walked.push((*cursor, *array));
        }
        Ok(walked)
    }

    /// Goes to one block or the other. The second of two conditions is evaluated alone, and only where it decides, if `is_alone` says so.
    fn branch(
        &mut self,
        condition: &Expr,
        then: Block,
        otherwise: Block,
        is_alone: &dyn Fn(&Expr) -> bool,
    ) -> Result<()> {
        let condition = match condition {
            Expr::Binary(operator @ (BinaryOperator::And | BinaryOperator::Or), first, rest) if is_alone(rest) => {
                let open = self.b.create_block();
                match operator {
                    BinaryOperator::And => self.branch(first, open, otherwise, is_alone)?,
                    _ => self.branch(first, then, open, is_alone)?,
                }
                self.b.switch_to_block(open);
                self.b.seal_block(open);
                return self.branch(rest, then, otherwise, is_alone);
            }
            condition => self.eval(condition)?.value,
        };
        self.b.ins().brif(condition, then, &[], otherwise, &[]);
        Ok(())
    }

    /// For each place, ascending.
    pub(super) fn counted(
        &mut self,
        begin: Value,
        end: Value,
        body: impl FnOnce(&mut Self, Value) -> Result<()>,
    ) -> Result<()> {
        self.stepped(begin, end, 1, body)
    }

    /// The same in steps: up to the last that begins before the end.
    pub(super) fn stepped(
        &mut self,
        begin: Value,
        end: Value,
        step: u64,
        body: impl FnOnce(&mut Self, Value) -> Result<()>,
    ) -> Result<()> {
        // The condition is at the end: one branch an iteration.
        let (inside, after) = (self.b.create_block(), self.b.create_block());
        let place = self.b.append_block_param(inside, I64);
        let begins = self.b.ins().icmp(IntCC::UnsignedLessThan, begin, end);
        self.b.ins().brif(begins, inside, &[begin.into()], after, &[]);
        self.b.switch_to_block(inside);
        // Behind a loop that may have no iteration, nothing of the loop is there.
        let (arrays, variables) = (self.arrays.clone(), self.variables.clone());
        let done = body(self, place);
        (self.arrays, self.variables) = (arrays, variables);
        done?;
        let next = self.b.ins().iadd_imm_s(place, step as i64);
        let goes_on = self.b.ins().icmp(IntCC::UnsignedLessThan, next, end);
        self.b.ins().brif(goes_on, inside, &[next.into()], after, &[]);
        self.b.seal_block(inside);
        self.b.switch_to_block(after);
        self.b.seal_block(after);
        Ok(())
    }

    /// What a place holds after an update by a value. `again` reads it once the value is computed.
    fn updated(
        &mut self,
        operator: ReduceOperator,
        before: Val,
        value: &Expr,
        is_ordered: bool,
        again: impl FnOnce(&mut Self) -> Result<Val>,
    ) -> Result<Val> {
        if let Some((one, other)) = factors(operator, before.ty, value) {
            let (one, other) = (self.eval(one)?, self.eval(other)?);
            let before = again(self)?;
            return Ok(self.multiply_add(one, other, before));
        }
        let value = self.eval(value)?;
        let before = again(self)?;
        if is_ordered { self.combine_ordered(operator, before, value) } else { self.combine(operator, before, value) }
    }

    /// The factors of a length, as words, and how many they are.
    fn shape(&mut self, length: &Expr) -> Result<(Value, Value)> {
        fn factors<'e>(length: &'e Expr, found: &mut Vec<&'e Expr>) {
            match length {
                Expr::Binary(BinaryOperator::Multiply, one, other) => {
                    factors(one, found);
                    factors(other, found);
                }
                other => found.push(other),
            }
        }
        let mut found = Vec::new();
        factors(length, &mut found);
        let values = found.into_iter().map(|factor| self.index(factor)).collect::<Result<Vec<Value>>>()?;
        let count = self.constant(values.len() as u64);
        Ok((self.words(&values), count))
    }

    fn fill(&mut self, array: ArrayId, data: Value, length: Value, words: [Value; 2]) {
        let of = self.constant(self.kind(array).number());
        self.call(doors::fill as *const u8, &[data, length, of, words[0], words[1]], None);
    }

    fn allocate(&mut self, array: ArrayId, length: &Expr, fill: &Expr) -> Result<()> {
        let element = self.kernel.array(array).element;
        let fill = self.eval(fill)?;
        let known = self.length_of(length)?;
        let bytes = self.bytes(array);
        if let Some(count) = known.constant.filter(|count| *count <= MOST_ON_STACK / bytes) {
            if self.in_registers(array, count, fill) {
                return Ok(());
            }
            let data = self.stack(count * bytes, 4);
            match self.fill_row(element, data, count, fill) {
                true => {}
                false if count <= 16 => {
                    for place in 0..count {
                        let address = self.b.ins().iadd_imm_s(data, (place * bytes) as i64);
                        self.store_at(element, address, fill);
                    }
                }
                false => {
                    let words = self.element_words(element, fill);
                    self.fill(array, data, known.value, words);
                }
            }
            self.arrays.insert(array, Binding::Slice { data, length: known });
            return Ok(());
        }
        let words = self.element_words(element, fill);
        let (factors, count) = self.shape(length)?;
        let (session, number) = (self.session()?, self.constant(u64::from(array.0)));
        let arguments = [session, number, factors, count, words[0], words[1]];
        let parts = self.value_of(doors::allocate as *const u8, &arguments, I64);
        let parts = self.address_or_failed(parts);
        let data = self.b.ins().load(I64, memory(), parts, 0);
        self.arrays.insert(array, Binding::Slice { data, length: known });
        Ok(())
    }

    fn view(&mut self, array: ArrayId, of: ArrayId, begin: &Expr, length: &Expr) -> Result<()> {
        let begin = self.index(begin)?;
        let length = self.length_of(length)?;
        if length.is.1 > 0 {
            // What is added to must not wrap around.
            let holds = self.b.ins().icmp(IntCC::UnsignedLessThan, length.is.0, length.value);
            self.require(holds, Wrong::View, Some(of), begin, length.value);
        }
        let data = self.run_at(of, begin, length)?;
        self.arrays.insert(array, Binding::Slice { data, length });
        Ok(())
    }

    fn grown(&mut self, array: ArrayId) -> Result<Value> {
        match self.binding(array)? {
            Binding::Grown(parts) => Ok(parts),
            _ => Err(Unsupported::new("a list that is none")),
        }
    }

    fn table(&mut self, array: ArrayId) -> Result<Value> {
        match self.binding(array)? {
            Binding::Table(table) => Ok(table),
            _ => Err(Unsupported::new("a table of another scope")),
        }
    }

    fn push(&mut self, array: ArrayId, value: &Expr) -> Result<()> {
        let value = self.eval(value)?;
        let parts = self.grown(array)?;
        let length = self.b.ins().load(I64, memory(), parts, 8);
        let room = self.b.ins().load(I64, memory(), parts, 16);
        let has_room = self.b.ins().icmp(IntCC::UnsignedLessThan, length, room);
        let (full, ready) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(full);
        self.b.ins().brif(has_room, ready, &[], full, &[]);
        self.b.switch_to_block(full);
        self.b.seal_block(full);
        let (run, of) = (self.run, self.constant(self.kind(array).number()));
        let failed = self.value_of(doors::grow as *const u8, &[run, parts, of], I64);
        self.unless_failed(failed);
        self.b.ins().jump(ready, &[]);
        self.b.switch_to_block(ready);
        self.b.seal_block(ready);
        let data = self.b.ins().load(I64, memory(), parts, 0);
        let offset = self.times(length, self.bytes(array));
        let address = self.b.ins().iadd(data, offset);
        self.store_at(self.kernel.array(array).element, address, value);
        let longer = self.b.ins().iadd_imm_s(length, 1);
        self.b.ins().store(memory(), longer, parts, 8);
        Ok(())
    }

    fn insert(&mut self, place: VariableId, key: &Expr, keys: ArrayId, table: ArrayId) -> Result<()> {
        let ArrayElement::Index(width) = self.kernel.array(keys).element else {
            return Err(Unsupported::new("keys that are values"));
        };
        let key = self.index(key)?;
        let narrow = self.narrowed(key, stored(width));
        let key = self.widened(narrow);
        let (run, keys, table) = (self.run, self.grown(keys)?, self.table(table)?);
        let door = match Kind::of(ArrayElement::Index(width)) {
            Kind::One => doors::insert_8 as *const u8,
            Kind::Two => doors::insert_16 as *const u8,
            Kind::Four => doors::insert_32 as *const u8,
            _ => doors::insert_64 as *const u8,
        };
        let found = self.value_of(door, &[run, table, keys, key], I64);
        let failed = self.b.ins().icmp_imm_s(IntCC::Equal, found, -1);
        self.unless_failed(failed);
        self.declare(place, Val::index(found));
        Ok(())
    }

    pub(super) fn whole(data: Value, length: Value) -> Binding {
        Binding::Slice { data, length: Length::of(length) }
    }
}
