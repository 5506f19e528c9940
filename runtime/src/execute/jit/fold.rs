//! Terms of runs, combined.

use super::doors::Wrong;
use super::expressions::is_float;
use super::function::{Maker, Val, register};
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

/// So many totals of a run are computed at the same time: one would wait for each addition.
const TOTALS: u64 = 4;

/// A term, with what is the same at all places computed.
enum Terms {
    Load(Factor),
    Same(Val),
    Binary(BinaryOperator, Box<Terms>, Box<Terms>),
    Call(Function, Box<Terms>, Box<Terms>),
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
    length: Value,
}

impl Maker<'_, '_> {
    pub(super) fn fold(&mut self, operator: ReduceOperator, term: &Term) -> Result<Val> {
        let folded = self.folded(operator, term)?;
        let zero = self.constant(0);
        self.total(&folded, zero, folded.length, None)
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
            self.require(is_there, Wrong::Runs, Some(totals), count, folded.length);
            let rest = self.b.ins().urem(folded.length, count);
            let is_multiple = self.b.ins().icmp_imm_s(IntCC::Equal, rest, 0);
            self.require(is_multiple, Wrong::Runs, Some(totals), count, folded.length);
            return self.counted(zero, count, |maker, place| {
                let total = maker.total(&folded, place, folded.length, Some(count))?;
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
            let (begin, end) = (maker.load_place(positions, place)?.value, maker.load_place(positions, next)?.value);
            let ascends = maker.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, begin, end);
            let fits = maker.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, folded.length);
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
        let length = self.length(first.run())?;
        for factor in &factors[1..] {
            let other = self.length(factor.run())?;
            if other != length {
                let holds = self.b.ins().icmp(IntCC::Equal, length, other);
                self.require(holds, Wrong::Runs, Some(factor.run()), length, other);
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
        Ok(Folded { operator, terms: self.terms(term)?, ty, wide, filled, length })
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
        let ty = register(folded.wide);
        let count = if step.is_none() && folded.filled.is_empty() { TOTALS } else { 1 };
        let totals: Vec<Variable> = (0..count).map(|_| self.b.declare_var(ty)).collect();
        for total in &totals {
            self.b.def_var(*total, identity.value);
        }
        let mut rest = begin;
        if count > 1 {
            let length = self.b.ins().isub(end, begin);
            let whole = self.b.ins().band_imm_s(length, -(TOTALS as i64));
            rest = self.b.ins().iadd(begin, whole);
            self.stepped(begin, rest, TOTALS, |maker, place| {
                for (further, total) in totals.iter().enumerate() {
                    let place = maker.b.ins().iadd_imm_s(place, further as i64);
                    maker.add_term(folded, *total, place)?;
                }
                Ok(())
            })?;
        }
        match step {
            None => self.counted(rest, end, |maker, place| maker.add_filled_term(folded, totals[0], place))?,
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
                self.add_filled_term(folded, totals[0], place)?;
                let further = self.b.ins().iadd(place, step);
                self.b.def_var(next, further);
                self.b.ins().jump(head, &[]);
                self.b.seal_block(head);
                self.b.switch_to_block(after);
                self.b.seal_block(after);
            }
        }
        let mut all = Val::new(folded.wide, self.b.use_var(totals[0]));
        for total in &totals[1..] {
            let total = Val::new(folded.wide, self.b.use_var(*total));
            all = self.combine_ordered(folded.operator, all, total)?;
        }
        self.cast(folded.ty, all)
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
