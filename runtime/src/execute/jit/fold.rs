//! Terms of runs, combined.

use super::doors::Wrong;
use super::expressions::is_float;
use super::function::{Binding, Length, Maker, Val, register};
use super::lanes::{LANES, is_in_vectors, pieces, registers};
use super::unit::Result;
use crate::execute::unsupported::Unsupported;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::F64;
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::Variable;
use spc_compiler::ir::{
    ArrayElement, ArrayId, BinaryOperator, ElementType, Expr, Factor, Function, ReduceOperator, Term, Type,
};
use spc_compiler::level::vacancy;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// So many totals of a run are computed at the same time: one would wait for each addition.
const TOTALS: u64 = 4;

/// Runs of at most so many terms, if their number is known, are written out.
const MOST_WRITTEN_OUT: u64 = 64;

/// A term, with what is the same at all places computed.
enum Terms {
    Load(Factor),
    Same(Val),
    Binary(BinaryOperator, Box<Terms>, Box<Terms>),
    Call(Function, Box<Terms>, Box<Terms>),
}

impl Terms {
    /// Whether vectors compute them.
    fn are_arithmetic(&self) -> bool {
        match self {
            Terms::Load(_) | Terms::Same(_) => true,
            Terms::Binary(operator, left, right) => {
                use BinaryOperator::{Add, Divide, Multiply, Subtract};
                matches!(operator, Add | Subtract | Multiply | Divide)
                    && left.are_arithmetic()
                    && right.are_arithmetic()
            }
            Terms::Call(..) => false,
        }
    }
}

/// What is combined, and how.
struct Folded {
    operator: ReduceOperator,
    terms: Terms,
    /// The type of a term.
    ty: Type,
    /// That of a total on its way.
    wide: Type,
    /// Places where there may be nothing.
    filled: Vec<ArrayId>,
    /// The length of all runs.
    length: Length,
    /// What the terms are made of, if vectors of them are loaded and combined.
    in_vectors: Option<ElementType>,
}

/// A place of a run: an element behind what is computed.
#[derive(Clone, Copy)]
struct Place {
    base: Option<Value>,
    first: u64,
}

impl Maker<'_, '_> {
    pub(super) fn fold(&mut self, operator: ReduceOperator, term: &Term) -> Result<Val> {
        let folded = self.folded(operator, term)?;
        let known = folded.length.constant.filter(|known| *known <= MOST_WRITTEN_OUT);
        if let Some((element, length)) = folded.in_vectors.zip(known) {
            return self.total_written_out(&folded, element, length);
        }
        let zero = self.constant(0);
        self.total(&folded, zero, folded.length.value, None)
    }

    /// Sets the elements of an array to totals.
    pub(super) fn folds(&mut self, totals: ArrayId, terms: &Expr, between: Option<ArrayId>) -> Result<()> {
        let Expr::Fold(operator, term) = terms else { return Err(Unsupported::new("totals of no terms")) };
        let folded = self.folded(*operator, term)?;
        let count = self.length(totals)?;
        let element = self.kernel.array(totals).element;
        let zero = self.constant(0);
        let Some(positions) = between else {
            let is_there = self.b.ins().icmp_imm_s(IntCC::NotEqual, count, 0);
            let length = folded.length.value;
            self.require(is_there, Wrong::Runs, Some(totals), count, length);
            let rest = self.b.ins().urem(length, count);
            let is_multiple = self.b.ins().icmp_imm_s(IntCC::Equal, rest, 0);
            self.require(is_multiple, Wrong::Runs, Some(totals), count, length);
            return self.counted(zero, count, |maker, place| {
                let total = maker.total(&folded, place, length, Some(count))?;
                let address = maker.element_at(totals, place)?;
                maker.store_at(element, address, total);
                Ok(())
            });
        };
        let bounds = self.length(positions)?;
        let expected = self.b.ins().iadd_imm_s(count, 1);
        let holds = self.b.ins().icmp(IntCC::Equal, bounds, expected);
        self.require(holds, Wrong::Runs, Some(totals), count, bounds);
        self.counted(zero, count, |maker, place| {
            let next = maker.b.ins().iadd_imm_s(place, 1);
            // There is one more of them than of the totals.
            let (begin, end) = (maker.load_run(positions, place)?.value, maker.load_run(positions, next)?.value);
            let ascends = maker.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, begin, end);
            let fits = maker.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, folded.length.value);
            let holds = maker.b.ins().band(ascends, fits);
            maker.require(holds, Wrong::Runs, Some(positions), begin, end);
            let total = maker.total(&folded, begin, end, None)?;
            let address = maker.element_at(totals, place)?;
            maker.store_at(element, address, total);
            Ok(())
        })
    }

    fn folded(&mut self, operator: ReduceOperator, term: &Term) -> Result<Folded> {
        let factors = term.factors();
        let Some(first) = factors.first() else { return Err(Unsupported::new("terms that load nothing")) };
        let ArrayElement::Value(element) = self.kernel.array(first.values()).element else {
            return Err(Unsupported::new("a reduction of indices"));
        };
        let length = self.run_length(first.run())?;
        for factor in &factors[1..] {
            let other = self.run_length(factor.run())?;
            let is_known = length.constant.is_some() && length.constant == other.constant;
            if other.is != length.is && !is_known {
                let holds = self.b.ins().icmp(IntCC::Equal, length.value, other.value);
                self.require(holds, Wrong::Runs, Some(factor.run()), length.value, other.value);
            }
        }
        let ty = Type::of(element);
        let is_wide = operator == ReduceOperator::Add && is_float(ty);
        let filled = factors.iter().filter_map(|factor| match factor {
            Factor::At { run, filled: true, .. } => Some(*run),
            _ => None,
        });
        let filled = filled.collect();
        let wide = if is_wide { Type::Element(ElementType::F64) } else { ty };
        let are_loaded = |factor: &&Factor| match factor {
            Factor::Run(run) => {
                let is_one = self.kernel.array(*run).element == ArrayElement::Value(element);
                is_one && matches!(self.arrays.get(run), Some(Binding::Slice { .. }))
            }
            Factor::At { .. } => false,
        };
        let are_loaded = factors.iter().all(|factor| are_loaded(&factor));
        let is_combined = matches!(operator, ReduceOperator::Add | ReduceOperator::Multiply)
            || matches!(operator, ReduceOperator::Min | ReduceOperator::Max);
        let terms = self.terms(term)?;
        let in_vectors =
            (are_loaded && is_combined && is_in_vectors(element) && terms.are_arithmetic()).then_some(element);
        Ok(Folded { operator, terms, ty, wide, filled, length, in_vectors })
    }

    fn run_length(&mut self, run: ArrayId) -> Result<Length> {
        match self.slice(run) {
            Ok((_, length)) => Ok(length),
            Err(_) => Ok(Length::of(self.length(run)?)),
        }
    }

    fn terms(&mut self, term: &Term) -> Result<Terms> {
        Ok(match term {
            Term::Load(factor) => Terms::Load(*factor),
            Term::Same(value) => Terms::Same(self.eval(value)?),
            Term::Binary(operator, left, right) => {
                Terms::Binary(*operator, Box::new(self.terms(left)?), Box::new(self.terms(right)?))
            }
            Term::Call(function, left, right) => {
                Terms::Call(*function, Box::new(self.terms(left)?), Box::new(self.terms(right)?))
            }
        })
    }

    /// The total of the places from one up to another, which lie within the runs, in steps of one or more.
    fn total(&mut self, folded: &Folded, begin: Value, end: Value, step: Option<Value>) -> Result<Val> {
        let identity = self.identity(folded.operator, folded.wide)?;
        let total = self.b.declare_var(register(folded.wide));
        self.b.def_var(total, identity.value);
        let mut rest = begin;
        if step.is_none() && folded.filled.is_empty() {
            rest = self.total_of_many(folded, [begin, end], total, identity.value)?;
        }
        match step {
            None => self.counted(rest, end, |maker, place| maker.add_filled_term(folded, total, place))?,
            Some(step) => {
                // In steps that are known when it runs.
                let next = self.b.declare_var(cranelift_codegen::ir::types::I64);
                self.b.def_var(next, begin);
                let (head, inside, after) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
                self.b.ins().jump(head, &[]);
                self.b.switch_to_block(head);
                let place = self.b.use_var(next);
                let goes_on = self.b.ins().icmp(IntCC::UnsignedLessThan, place, end);
                self.b.ins().brif(goes_on, inside, &[], after, &[]);
                self.b.switch_to_block(inside);
                self.b.seal_block(inside);
                self.add_filled_term(folded, total, place)?;
                let further = self.b.ins().iadd(place, step);
                self.b.def_var(next, further);
                self.b.ins().jump(head, &[]);
                self.b.seal_block(head);
                self.b.switch_to_block(after);
                self.b.seal_block(after);
            }
        }
        let total = Val::new(folded.wide, self.b.use_var(total));
        self.cast(folded.ty, total)
    }

    /// Adds what is computed several at a time to a total. Gives the place of the first term that is left: fewer are than at a time.
    fn total_of_many(
        &mut self,
        folded: &Folded,
        [begin, end]: [Value; 2],
        total: Variable,
        identity: Value,
    ) -> Result<Value> {
        let Folded { operator, wide, .. } = *folded;
        let (single, element) = (register(wide), folded.in_vectors);
        // Two pieces of vectors, or as many single numbers.
        let (width, types) = match element {
            Some(_) => (2 * LANES, registers(wide, LANES).repeat(2)),
            None => (TOTALS, vec![single; TOTALS as usize]),
        };
        let length = self.b.ins().isub(end, begin);
        let whole = self.b.ins().band_imm_s(length, -(width as i64));
        let rest = self.b.ins().iadd(begin, whole);
        let (many, few) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(whole, many, &[], few, &[]);
        self.b.switch_to_block(many);
        self.b.seal_block(many);
        let totals: Vec<Variable> = types.iter().map(|ty| self.b.declare_var(*ty)).collect();
        for (part, ty) in totals.iter().zip(&types) {
            let identity = self.splat(*ty, identity);
            self.b.def_var(*part, identity);
        }
        self.stepped(begin, rest, width, |maker, place| {
            let Some(element) = element else {
                for (further, part) in totals.iter().enumerate() {
                    let place = maker.b.ins().iadd_imm_s(place, further as i64);
                    maker.add_term(folded, *part, place)?;
                }
                return Ok(());
            };
            let (one, other) = totals.split_at(totals.len() / 2);
            for (parts, first) in [(one, 0), (other, LANES)] {
                maker.add_lanes(folded, element, LANES, parts, Place { base: Some(place), first })?;
            }
            Ok(())
        })?;
        let all = self.all(folded, &totals, wide)?;
        let before = Val::new(wide, self.b.use_var(total));
        let after = self.combine_ordered(operator, before, all)?;
        self.b.def_var(total, after.value);
        self.b.ins().jump(few, &[]);
        self.b.switch_to_block(few);
        self.b.seal_block(few);
        Ok(rest)
    }

    /// The total of a known number of terms in vectors. Each lane adds few: it needs no wider type.
    fn total_written_out(&mut self, folded: &Folded, element: ElementType, length: u64) -> Result<Val> {
        let ty = folded.ty;
        let identity = self.identity(folded.operator, ty)?.value;
        let mut declared: BTreeMap<(u64, u64), Vec<Variable>> = BTreeMap::new();
        for (number, (first, count)) in pieces(length).enumerate() {
            // The next piece does not wait for this one.
            let which = (count, number as u64 % 2);
            if let Entry::Vacant(entry) = declared.entry(which) {
                let mut parts = Vec::new();
                for ty in registers(ty, count) {
                    let part = self.b.declare_var(ty);
                    let identity = self.splat(ty, identity);
                    self.b.def_var(part, identity);
                    parts.push(part);
                }
                entry.insert(parts);
            }
            self.add_lanes(folded, element, count, &declared[&which], Place { base: None, first })?;
        }
        let parts: Vec<Variable> = declared.into_values().rev().flatten().collect();
        match parts.is_empty() {
            true => Ok(Val::new(ty, identity)),
            false => self.all(folded, &parts, ty),
        }
    }

    /// Totals of one type, combined: vectors, of which all lanes are, and single numbers behind them.
    fn all(&mut self, folded: &Folded, totals: &[Variable], ty: Type) -> Result<Val> {
        let values: Vec<Value> = totals.iter().map(|total| self.b.use_var(*total)).collect();
        let (vectors, mut singles): (Vec<Value>, Vec<Value>) =
            values.into_iter().partition(|value| self.b.func.dfg.value_type(*value).is_vector());
        if let Some(all) = vectors.into_iter().reduce(|all, next| self.combine_lanes(folded.operator, all, next)) {
            let lanes = self.b.func.dfg.value_type(all).lane_count();
            singles.extend((0..lanes as u8).map(|lane| self.b.ins().extractlane(all, lane)));
        }
        let mut singles = singles.into_iter().map(|value| Val::new(ty, value));
        let Some(first) = singles.next() else { return self.identity(folded.operator, ty) };
        singles.try_fold(first, |all, next| self.combine_ordered(folded.operator, all, next))
    }

    /// Adds the terms of a piece to totals.
    fn add_lanes(
        &mut self,
        folded: &Folded,
        element: ElementType,
        count: u64,
        totals: &[Variable],
        place: Place,
    ) -> Result<()> {
        let before: Vec<Value> = totals.iter().map(|total| self.b.use_var(*total)).collect();
        let is_wider = before.len() > registers(Type::Element(element), count).len();
        let after: Vec<Value> = match &folded.terms {
            Terms::Binary(BinaryOperator::Multiply, one, other)
                if folded.operator == ReduceOperator::Add && !is_wider =>
            {
                let one = self.term_lanes(one, element, count, place)?;
                let other = self.term_lanes(other, element, count, place)?;
                let lanes = one.into_iter().zip(other).zip(before);
                lanes.map(|((one, other), before)| self.product_added(one, other, before)).collect()
            }
            terms => {
                let mut lanes = self.term_lanes(terms, element, count, place)?;
                if is_wider {
                    lanes = self.cast_lanes(&lanes);
                }
                let lanes = before.into_iter().zip(lanes);
                lanes.map(|(before, term)| self.combine_lanes(folded.operator, before, term)).collect()
            }
        };
        totals.iter().zip(after).for_each(|(total, after)| self.b.def_var(*total, after));
        Ok(())
    }

    fn term_lanes(&mut self, term: &Terms, element: ElementType, count: u64, place: Place) -> Result<Vec<Value>> {
        match term {
            Terms::Load(Factor::Run(run)) => {
                let (mut row, _) = self.slice(*run)?;
                if let Some(base) = place.base {
                    let offset = self.times(base, element.bytes() as u64);
                    row = self.b.ins().iadd(row, offset);
                }
                Ok(self.load_vectors(element, count, row, place.first))
            }
            Terms::Same(value) => {
                let types = registers(Type::Element(element), count);
                Ok(types.into_iter().map(|ty| self.splat(ty, value.value)).collect())
            }
            Terms::Binary(operator, left, right) => {
                let left = self.term_lanes(left, element, count, place)?;
                let right = self.term_lanes(right, element, count, place)?;
                let lanes = left.into_iter().zip(right);
                let combined: Option<Vec<Value>> =
                    lanes.map(|(left, right)| self.arithmetic(*operator, left, right)).collect();
                combined.ok_or_else(|| Unsupported::new("terms that vectors do not compute"))
            }
            _ => Err(Unsupported::new("terms that vectors do not compute")),
        }
    }

    /// Adds the term at a place, unless there is none.
    fn add_filled_term(&mut self, folded: &Folded, total: Variable, place: Value) -> Result<()> {
        if folded.filled.is_empty() {
            return self.add_term(folded, total, place);
        }
        let after = self.b.create_block();
        for run in &folded.filled {
            let ArrayElement::Index(width) = self.kernel.array(*run).element else {
                return Err(Unsupported::new("places that are values"));
            };
            let found = self.load_run(*run, place)?.value;
            let filling = self.constant(vacancy(width));
            let is_filling = self.b.ins().icmp(IntCC::Equal, found, filling);
            let next = self.b.create_block();
            self.b.ins().brif(is_filling, after, &[], next, &[]);
            self.b.switch_to_block(next);
            self.b.seal_block(next);
        }
        self.add_term(folded, total, place)?;
        self.b.ins().jump(after, &[]);
        self.b.switch_to_block(after);
        self.b.seal_block(after);
        Ok(())
    }

    fn add_term(&mut self, folded: &Folded, total: Variable, place: Value) -> Result<()> {
        let is_double = register(folded.ty) == F64;
        if folded.operator == ReduceOperator::Add
            && is_float(folded.ty)
            && is_double
            && let Terms::Binary(BinaryOperator::Multiply, one, other) = &folded.terms
        {
            let (one, other) = (self.term(one, place)?, self.term(other, place)?);
            let before = Val::new(folded.wide, self.b.use_var(total));
            let after = self.multiply_add(one, other, before);
            self.b.def_var(total, after.value);
            return Ok(());
        }
        let term = self.term(&folded.terms, place)?;
        let term = self.cast(folded.wide, term)?;
        let before = Val::new(folded.wide, self.b.use_var(total));
        let after = self.combine_ordered(folded.operator, before, term)?;
        self.b.def_var(total, after.value);
        Ok(())
    }

    fn term(&mut self, term: &Terms, place: Value) -> Result<Val> {
        match term {
            Terms::Load(Factor::Run(run)) => self.load_run(*run, place),
            Terms::Load(Factor::At { of, run, .. }) => {
                let at = self.load_run(*run, place)?.value;
                self.load_place(*of, at)
            }
            Terms::Same(value) => Ok(*value),
            Terms::Binary(operator, left, right) => {
                let (left, right) = (self.term(left, place)?, self.term(right, place)?);
                self.binary(*operator, left, right)
            }
            Terms::Call(function, left, right) => {
                let (left, right) = (self.term(left, place)?, self.term(right, place)?);
                self.function(*function, &[left, right])
            }
        }
    }

    /// An element of a run, which is there.
    fn load_run(&mut self, run: ArrayId, place: Value) -> Result<Val> {
        let Ok((data, _)) = self.slice(run) else { return self.load_place(run, place) };
        let offset = self.times(place, self.bytes(run));
        let address = self.b.ins().iadd(data, offset);
        Ok(self.load_at(self.kernel.array(run).element, address))
    }
}
