//! Copies: operands in a storage order, or a format, that the loops can walk.
//!
//! ```text
//! C(i, j) = A(i, j) + B(i, j)        A, C: csr, B: csc
//! C(i, j) = A(i, j) + B_ij(i, j)     B_ij: csr, made by the run time before the kernel starts
//! ```
//!
//! An operand whose format loops don't walk ([`Format::is_walked`]) is read from a **stand-in**, a copy in a plain format.
//! The first loops that read a stand-in choose its order.

use super::directives::is_called;
use super::state::{Scheduler, Term};
use super::structure::Question;
use super::{Access, AskedCopy, Expr, IndexVariable, Kernel, OutputStructure, Reading, Tensor, TensorId, TensorKind};
use super::{is_identity, level_variables, simplify_expr, stored_levels, without};
use crate::format::{Coordinate, Format, Level, LevelFormat};
use crate::level::is_located;
use crate::notation::simplify::literal;
use crate::remark::{Remark, What, Why};

impl Scheduler<'_> {
    /// What `access` reads: a stand-in where loops can't walk its tensor, stored as they go best with `target`.
    pub(super) fn stand_in(&mut self, access: &Access, target: &Access) -> Access {
        let original = self.kernel.tensor(access.tensor).clone();
        let is_folded = original.format.symmetry.is_some() && self.folded != Some(access.tensor);
        if original.kind != TensorKind::Input || original.stored.is_some() || original.format.is_walked() && !is_folded
        {
            return access.clone();
        }
        if let Some(asked) = self.kernel.asked_copy(access).filter(|asked| asked.order.is_none()) {
            let message = format!("`{}` can't be read as it is stored", original.name);
            let label = format!("loops do not walk {}", original.format);
            self.refuse(asked.span, message, &label, "leave the directive out, or store it in another format");
        }
        let kind = TensorKind::SortedCopy(access.tensor);
        let made = self.kernel.tensors.iter().position(|tensor| tensor.kind == kind);
        let place = made.unwrap_or_else(|| {
            let format = self.plain_format(&original.format, access, target);
            let why = if is_folded { Why::StoredOnce } else { Why::NotWalked(original.format.to_string()) };
            self.decide(What::Converted(original.name.clone()), why);
            self.unsettled.insert(TensorId(self.kernel.tensors.len()));
            self.push_copy(access, Tensor { format, kind, ..original })
        });
        Access { tensor: TensorId(place), ..access.clone() }
    }

    /// An expression that reads stand-ins where loops can't walk a tensor.
    pub(super) fn with_stand_ins(&mut self, value: &Expr, target: &Access) -> Expr {
        let mut reads = Vec::new();
        value.for_each_access(&mut |access| reads.push(access.clone()));
        let stand_ins: Vec<(Access, Access)> =
            reads.into_iter().map(|access| (access.clone(), self.stand_in(&access, target))).collect();
        let replace = |access: &Access| {
            let found = stand_ins.iter().find(|(original, _)| original.same_place(access));
            Expr::Access(
                found.map_or_else(|| access.clone(), |(_, other)| Access { tensor: other.tensor, ..access.clone() }),
            )
        };
        value.map_accesses(&replace)
    }

    /// The expression and masks that read a copy of an operand in the order of the result, which lends its index arrays. As the operand is
    /// stored, against that order, entries would be gathered in a workspace: the copy is kept with the operand, and to make it once takes less
    /// than one such call.
    pub(super) fn lent(&mut self, target: &Access, value: &Expr, masks: &[Access]) -> Option<(Expr, Vec<Access>)> {
        let result = self.kernel.tensor(target.tensor);
        let outer = &level_variables(target, &result.format)[..stored_levels(&result.format)];
        let mut reads = masks.to_vec();
        value.for_each_access(&mut |access| reads.push(access.clone()));
        let is_sparse = |access: &&Access| !self.kernel.tensor(access.tensor).format.is_dense();
        let access = reads.iter().find(is_sparse)?.clone();
        let original = self.kernel.tensor(access.tensor).clone();
        let own = level_variables(&access, &original.format);
        let order = self.kernel.asked_order(&access);
        let is_against = original.format.mode_order().is_some()
            && outer.iter().all(|variable| access.indices.contains(variable))
            && !own.starts_with(outer);
        let is_alone = reads.iter().filter(is_sparse).all(|other| other.same_place(&access));
        let is_copied = original.kind == TensorKind::Input && original.stored.is_none() && original.pattern.is_none();
        // Loops in an order that the schedule asks for need the copy only where it asks for that as well.
        let is_free = order.is_some() || self.kernel.asked.order.is_empty() && !self.kernel.must_not_be_copied(&access);
        let is_asked = order.is_none_or(|order| order.starts_with(outer));
        // A vector is gathered in one pass over the operand, which takes less than a copy of it.
        if outer.len() < 2
            || result.delivered.is_some()
            || !(is_against && is_alone && is_copied && is_asked && is_free)
        {
            return None;
        }
        let format = self.plain_format(&original.format, &access, target);
        let copied = TensorId(self.kernel.tensors.len());
        self.push_copy(&access, Tensor { format, kind: TensorKind::SortedCopy(access.tensor), ..original.clone() });
        let replace = |other: &Access| {
            let tensor = if other.same_place(&access) { copied } else { other.tensor };
            Access { tensor, ..other.clone() }
        };
        let value = value.map_accesses(&|other| Expr::Access(replace(other)));
        let masks: Vec<Access> = masks.iter().map(replace).collect();
        let reads: Vec<Access> = reads.iter().map(replace).collect();
        let question = Question { target, reads: &reads, kernel: &self.kernel, value: &value, masks: &masks };
        if !matches!(question.decide().0, OutputStructure::Shared { .. }) {
            self.kernel.tensors.truncate(copied.0);
            return None;
        }
        let order = self.kernel.names(&level_variables(&access, &self.kernel.tensor(copied).format));
        self.decide(What::Transposed { tensor: original.name, order }, Why::LendsArrays);
        Some((value, masks))
    }

    /// Says that a result is converted, where it is.
    pub(super) fn deliver(&mut self, result: TensorId) {
        let Tensor { name, format, delivered: Some(delivered), .. } = self.kernel.tensor(result) else { return };
        let (computed, delivered) = (format.to_string(), delivered.to_string());
        let what = What::Delivered { tensor: name.clone(), computed, delivered: delivered.clone() };
        self.decide(what, Why::NotWritten(delivered));
    }

    /// A plain format for an operand: the stored levels of the result as they are where it has them, then the other modes.
    fn plain_format(&self, format: &Format, access: &Access, target: &Access) -> Format {
        let result = &self.kernel.tensor(target.tensor).format;
        let mode_of = |variable: &IndexVariable| access.indices.iter().position(|index| index == variable);
        let outer: Vec<usize> = level_variables(target, result).iter().map_while(mode_of).collect();
        let rest = format.mentioned_modes().into_iter().filter(|mode| !outer.contains(mode));
        let modes: Vec<usize> = outer.iter().copied().chain(rest).collect();
        let mut plain = format.plain(&modes);
        let stored = stored_levels(result);
        let is_distinct = (0..outer.len()).all(|place| !outer[..place].contains(&outer[place]));
        if !is_distinct {
            return format.plain(&format.mentioned_modes());
        }
        if !format.is_dense() && (1..=outer.len()).contains(&stored) {
            for (own, level) in plain.levels.iter_mut().zip(&result.levels[..stored]) {
                own.format = level.format;
            }
        }
        plain
    }

    /// Reads `access` from a copy whose levels follow `order`.
    pub(super) fn copy(&mut self, term: &mut Term, access: &Access, order: &[IndexVariable]) {
        if let Some(asked) = self.kernel.asked_copy(access).filter(|asked| asked.is_permutation) {
            match self.permuted_format(term, access, order) {
                Ok(format) => return self.permute(term, access, format),
                Err(label) => {
                    let message =
                        format!("`{}` can't be read through a permutation", self.kernel.tensor(access.tensor).name);
                    self.refuse(asked.span, message, label, "ask for a copy: `copy(A(j, i))`");
                }
            }
        }
        let own = &self.kernel.tensor(access.tensor).format;
        let storage = if level_variables(access, own) == order { searched_format } else { sorted_format };
        let format = storage(access, own, order);
        self.copy_as(term, access, format);
    }

    /// Reads `access` from a copy in a format.
    pub(super) fn copy_as(&mut self, term: &mut Term, access: &Access, format: Format) {
        let source = self.kernel.tensor(access.tensor).clone();
        if let Some(asked) = self.kernel.asked_copy(access)
            && asked.order.is_none()
        {
            let message = format!("no order of the loops reads `{}` as it is stored", source.name);
            let help = "leave the directive out, or store it, another operand or the result in another order";
            self.refuse(asked.span, message, "its levels stand against those of others", help);
        }
        if self.unsettled.contains(&access.tensor) && is_read_once(term, access) {
            let name = self.copy_name(access, &format, &source);
            let stand_in = &mut self.kernel.tensors[access.tensor.0];
            (stand_in.name, stand_in.format) = (name, format);
            return;
        }
        let original = self.kernel.original(access.tensor);
        let Tensor { format: stored, name, .. } = self.kernel.tensor(original);
        let order = level_variables(access, &format);
        let is_own = stored.mode_order().is_some() && order == level_variables(access, stored);
        let why = if is_own { Why::SearchedInFibers } else { Why::AgainstLoops };
        let what = What::Transposed { tensor: name.clone(), order: self.kernel.names(&order) };
        self.read(term, access, TensorKind::SortedCopy(original), format, Remark::new(what, why));
    }

    /// Reads the entries of `access` in the order of a format, where they are.
    fn permute(&mut self, term: &mut Term, access: &Access, format: Format) {
        let order = self.kernel.names(&level_variables(access, &format));
        let what = What::Permuted { tensor: self.kernel.tensor(access.tensor).name.clone(), order };
        self.read(term, access, TensorKind::Permutation(access.tensor), format, Remark::new(what, Why::OwnEntries));
    }

    /// The order of entries by their slices of the first of some indices; why there is none, where there is none.
    fn permuted_format(&self, term: &Term, access: &Access, order: &[IndexVariable]) -> Result<Format, &'static str> {
        let Tensor { format, kind, pattern, stored, .. } = self.kernel.tensor(access.tensor);
        if *kind != TensorKind::Input
            || pattern.is_some()
            || stored.is_some()
            || !format.lists_entries()
            || format.order < 2
        {
            return Err("its format doesn't list entries, each with all of its coordinates, as `coo` does");
        }
        let is_alone = |other: &Access| other.same_place(access) || self.kernel.tensor(other.tensor).format.is_dense();
        let mut alone = term.masks.iter().all(is_alone);
        term.value.for_each_access(&mut |other| alone &= is_alone(other));
        if !alone {
            return Err("its entries are met by those of another operand, and are searched for");
        }
        let (reduction, terms) = match &term.value {
            Expr::Reduce(operator, _, terms) => (*operator, &**terms),
            terms => (term.reduction, terms),
        };
        let missing = simplify_expr(without(&self.kernel.tensors, terms, access));
        let is_masked = term.masks.iter().any(|mask| mask.same_place(access));
        if !is_masked && !literal(&missing).is_some_and(|value| is_identity(reduction, value)) {
            return Err(
                "places without an entry count too, and are found only where entries are sorted by all indices",
            );
        }
        let modes: Vec<usize> =
            order.iter().filter_map(|variable| access.indices.iter().position(|index| index == variable)).collect();
        let is_plain = |mode: &usize| self.kernel.loops(access.indices[*mode]) == [access.indices[*mode]];
        if modes.len() != format.order || !modes.iter().all(is_plain) {
            return Err("an index is computed, or its loop is split: entries are in order by the first index alone");
        }
        let target = self.kernel.loops_of(&term.target.indices);
        let others: Vec<IndexVariable> = modes[1..].iter().map(|&mode| access.indices[mode]).collect();
        let is_of_result = |variable: &IndexVariable| target.contains(variable);
        let is_dense = self.kernel.tensor(term.target.tensor).format.is_dense();
        if !is_dense || self.kernel.loops_of(&others).iter().any(is_of_result) {
            return Err("the result is not dense, or is told by other indices than the first");
        }
        let positions = format.levels[0].format.positions();
        // The result is told by the first index: in loops over the others entries come one by one, of whatever order.
        let level = |(depth, &mode): (usize, &usize)| {
            let own = format.levels.iter().find(|level| level.coordinate == Coordinate::Mode(mode));
            let coordinates = own.map_or(positions, |level| level.format.coordinates());
            match depth {
                0 | 1 => LevelFormat::COMPRESSED.with_positions(positions),
                _ => LevelFormat::SINGLETON,
            }
            .with_coordinates(coordinates)
        };
        let levels: Vec<LevelFormat> = modes.iter().enumerate().map(level).collect();
        Ok(Format::permuted(&modes, &levels))
    }

    /// Reads `access` as a tensor of a kind and format, which is declared where it isn't yet, for a reason.
    fn read(&mut self, term: &mut Term, access: &Access, kind: TensorKind, mut format: Format, remark: Remark) {
        let original = kind.of().unwrap_or(access.tensor);
        if self.folded == Some(original) {
            format.symmetry = self.kernel.tensor(original).format.symmetry.clone();
        }
        let found = self.kernel.tensors.iter().position(|tensor| tensor.kind == kind && tensor.format == format);
        let copy = TensorId(found.unwrap_or_else(|| {
            self.remark(remark);
            let original = self.kernel.tensor(original).clone();
            self.push_copy(access, Tensor { format, kind, ..original })
        }));
        let replace = |other: &Access| {
            let tensor = if other.same_place(access) { copy } else { other.tensor };
            Access { tensor, ..other.clone() }
        };
        term.value = term.value.map_accesses(&|other| Expr::Access(replace(other)));
        term.masks = term.masks.iter().map(replace).collect();
    }

    /// Declares a copy, which still has the original's name, and says where.
    fn push_copy(&mut self, access: &Access, mut copy: Tensor) -> usize {
        copy.name = self.copy_name(access, &copy.format, &copy);
        self.kernel.tensors.push(copy);
        self.kernel.tensors.len() - 1
    }

    /// A name for a copy: the original's, and the order of its levels.
    fn copy_name(&self, access: &Access, format: &Format, copy: &Tensor) -> String {
        let original = copy.kind.of().map_or(&copy.name, |of| &self.kernel.tensor(of).name);
        let names: Vec<&str> = level_variables(access, format).iter().map(|&v| self.kernel.variable(v)).collect();
        let mut name = format!("{original}_{}", names.concat());
        while self.kernel.tensors.iter().any(|tensor| tensor.name == name) {
            name.push('_');
        }
        name
    }

    /// Says that loops rely on the order of the stand-ins that a term reads.
    pub(super) fn settle(&mut self, reads: &[Access]) {
        for access in reads {
            self.unsettled.remove(&access.tensor);
        }
    }
}

impl Kernel {
    /// Notes which copies that the schedule asks for the loops read.
    pub(super) fn keep_copies(&mut self) {
        let mut kept = Vec::new();
        self.body.for_each_read(&mut |access| {
            let tensor = self.tensor(access.tensor);
            let is_it = |asked: &AskedCopy| match tensor.kind {
                TensorKind::SortedCopy(_) => !asked.is_permutation,
                TensorKind::Permutation(_) => asked.is_permutation,
                _ => false,
            };
            let asked = self.asked_copy(access).filter(is_it);
            let order = self.asked_order(access);
            if order.is_some_and(|order| order == level_variables(access, &tensor.format)) {
                kept.extend(asked.map(|asked| asked.span));
            }
        });
        kept.into_iter().for_each(|span| self.asked.keep(span));
    }

    /// What the schedule asks of copies of an operand where it is read with these indices.
    pub(super) fn asked_copy(&self, access: &Access) -> Option<AskedCopy> {
        let tensor = self.original(access.tensor);
        let is_it = |asked: &&AskedCopy| {
            asked.tensor == tensor && asked.order.as_ref().is_none_or(|order| self.in_order(access, order).is_some())
        };
        // Where `i` and `i_1` are both meant by `i`, what says `i_1` itself comes first.
        let says = |asked: &&AskedCopy| {
            let is_said = |index: &IndexVariable| {
                asked.order.as_ref().is_some_and(|order| order.iter().any(|name| name == self.variable(*index)))
            };
            access.indices.iter().all(is_said)
        };
        let mut found = self.asked.copies.iter().filter(is_it);
        found.clone().find(says).or_else(|| found.next()).cloned()
    }

    /// The order of levels in which the schedule wants a copy of what is read.
    pub(super) fn asked_order(&self, access: &Access) -> Option<Vec<IndexVariable>> {
        let asked = self.asked_copy(access)?;
        self.in_order(access, asked.order.as_ref()?)
    }

    /// Whether an operand must be read from a copy that is not made yet.
    pub(super) fn must_be_copied(&self, access: &Access) -> bool {
        let format = &self.tensor(access.tensor).format;
        // In its own order a copy has fibers, where the operand has coordinates side by side.
        let is_other = |order: Vec<IndexVariable>| {
            order != level_variables(access, format)
                || searched_format(access, format, &order) != sorted_format(access, format, &order)
        };
        self.asked_order(access).is_some_and(is_other)
    }

    /// Whether it must not be.
    pub(super) fn must_not_be_copied(&self, access: &Access) -> bool {
        self.reads_result(access) || self.asked_copy(access).is_some_and(|asked| asked.order.is_none())
    }

    /// Whether an access reads what a recurrence has assigned of its sparse result.
    pub(super) fn reads_result(&self, access: &Access) -> bool {
        matches!(access.reads, Reading::ValueOf(tensor) if matches!(self.tensor(tensor).kind, TensorKind::Output(_)))
    }

    /// The indices of an access in the order of their names, where these are all of them.
    fn in_order(&self, access: &Access, names: &[String]) -> Option<Vec<IndexVariable>> {
        let without_blanks = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>();
        let mut left = access.indices.clone();
        let mut order = Vec::new();
        for name in names {
            let wanted = without_blanks(name);
            let place = |is_it: &dyn Fn(&str) -> bool| left.iter().position(|&index| is_it(self.variable(index)));
            let exact = place(&|own| without_blanks(own) == wanted);
            order.push(left.remove(exact.or_else(|| place(&|own| is_called(own, name)))?));
        }
        left.is_empty().then_some(order)
    }
}

/// Whether a term reads the tensor of an access with these indices only.
fn is_read_once(term: &Term, access: &Access) -> bool {
    let is_it = |other: &Access| other.tensor != access.tensor || other.same_place(access);
    let mut once = term.masks.iter().all(is_it);
    term.value.for_each_access(&mut |other| once &= is_it(other));
    once
}

/// The storage of a copy of an operand whose levels follow `order`: the same kinds of level where they make sense in any
/// order (dense only outermost, or coordinates throughout), else compressed fibers.
pub(super) fn sorted_format(access: &Access, format: &Format, order: &[IndexVariable]) -> Format {
    let place = |variable: IndexVariable| order.iter().position(|&v| v == variable).expect("every variable has a loop");
    let mut modes: Vec<usize> = (0..format.order).collect();
    modes.sort_by_key(|&mode| place(access.indices[mode]));
    let as_compressed = |level: &Level| match (level.format.kind, &level.coordinate) {
        // In another order an index has any number of them below it.
        (kind, _) if kind.is_singleton() && format.is_map() && !modes.is_sorted() => {
            LevelFormat::COMPRESSED.with_coordinates(level.format.coordinates())
        }
        (kind, _) if kind.is_dense() || kind.is_compressed() || kind.is_singleton() => level.format,
        // What others hold in one order they may not hold, or fill up otherwise, in another.
        (_, Coordinate::Mode(mode)) => format.plain_level(*mode).with_unique(level.format.unique()),
        _ => LevelFormat::COMPRESSED,
    };
    let formats: Vec<_> = format.levels.iter().map(as_compressed).collect();
    let dense_inside = formats.iter().skip(1).any(|level| is_located(*level));
    if !dense_inside {
        return Format::permuted(&modes, &formats);
    }
    let widths = |level: LevelFormat, depth: usize| {
        level.with_coordinates(formats[depth].coordinates()).with_positions(formats[depth].positions())
    };
    let compressed: Vec<_> = (0..formats.len()).map(|depth| widths(LevelFormat::COMPRESSED, depth)).collect();
    Format::permuted(&modes, &compressed)
}

/// The storage of a copy that a loop may have to search: as [`sorted_format`], but fibers where that has coordinates side by side.
pub(super) fn searched_format(access: &Access, format: &Format, order: &[IndexVariable]) -> Format {
    let sorted = sorted_format(access, format, order);
    let plain = |level: &Level| level.format.kind.is_compressed() || level.format.kind.is_singleton();
    if format.order < 3 || !sorted.levels.iter().all(plain) {
        return sorted;
    }
    let modes: Vec<usize> = sorted.mode_order().unwrap_or_default();
    let fibers = |level: &Level| {
        let widths = LevelFormat::COMPRESSED.with_coordinates(level.format.coordinates());
        widths.with_positions(level.format.positions())
    };
    Format::permuted(&modes, &sorted.levels.iter().map(fibers).collect::<Vec<_>>())
}
