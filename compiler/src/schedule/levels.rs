//! Operands whose levels store computed coordinates, walked as they are.
//!
//! The loops run over what the levels store, and the index variables are computed from that. With `A: bcsr(4)`:
//!
//! ```text
//! for all i, j                                         y(i) += A(i, j) * x(j)
//!
//! for all i_block, i_inside, j_block, j_inside         y(i) += A(i_block, j_block, i_inside, j_inside) * x(j)
//!     where i = 4 * i_block + i_inside, j = 4 * j_block + j_inside
//! ```
//!
//! Several operands at the same indices meet in what they store, as equal coordinates in equal formats are equal indices. With
//! `X: alto, Z: alto` each meeting is one of two numbers, whatever the order of the tensors:
//!
//! ```text
//! for all i, j, k     Y(i, j, k) = X(i, j, k) * Z(i, j, k)         for all c     Y(c) = X(c) * Z(c)
//! ```
//!
//! Chou, Kjolstad, Amarasinghe, *Automatic Generation of Efficient Sparse Tensor Format Conversion Routines* (2020), call the
//! map a coordinate remapping; there it serves conversion, here computation.

use super::lift::has_sum;
use super::state::Scheduler;
use super::{
    Access, AskedWalk, Computed, Expr, Extent, ExtentOf, IndexVariable, Level, OutputStructure, Stored, Target,
    TensorId, TensorKind, Variable,
};
use super::{is_identity, simplify_expr, without};
use crate::format::{self, Coordinate, Format, Map};
use crate::ir::{ElementType, ReduceOperator, Size};
use crate::level::{ascends, is_located, is_sequential};
use crate::notation::simplify::literal;
use crate::remark::{What, Why};

/// What the loops of a statement are chosen for.
pub(super) struct Statement {
    pub target: Access,
    pub value: Expr,
    pub masks: Vec<Access>,
    pub element: ElementType,
    /// What combines it with the target, where the text says so.
    pub operator: Option<ReduceOperator>,
}

impl Scheduler<'_> {
    /// The statement with operands read level by level, where that is better than to read them from copies.
    pub(super) fn by_levels(&mut self, statement: Statement) -> Statement {
        let drivers = self.drivers(&statement);
        let Some(driver) = drivers.first().cloned() else { return statement };
        let format = self.kernel.tensor(driver.tensor).format.clone();
        let Ok(map) = Map::new(&format) else { return statement };
        let asked = self
            .kernel
            .asked
            .walks
            .iter()
            .find(|walk| walk.tensors.contains(&self.kernel.original(driver.tensor)))
            .cloned();
        let names = asked.as_ref().and_then(|walk| walk.names.clone()).unwrap_or_default();
        let levels = self.level_variables_of(&driver, &format, &names);
        if let Some(walk) = asked {
            self.kernel.asked.keep(walk.span);
            let computed = levels.iter().filter(|level| self.kernel.variables[level.0].level.is_some()).count();
            if !names.is_empty() && names.len() != computed {
                let message = format!(
                    "{} levels of `{}` have names of their own",
                    computed,
                    self.kernel.tensor(driver.tensor).name
                );
                let help = "name all levels that store a computed coordinate, outermost first, or none";
                self.refuse(walk.span, message, "names another number of levels", help);
            }
        }
        self.compute_modes(&driver, &format, &map, &levels);
        self.explain_walk(&drivers, &format, &levels);
        let viewed: Vec<TensorId> = drivers.iter().map(|driver| driver.tensor).collect();
        let target = self.target_by_levels(&statement.target, &driver, &levels);
        for &tensor in &viewed {
            self.view_by_levels(tensor, &format, &map, &levels);
        }
        let by_level = |access: &Access| match viewed.contains(&access.tensor) {
            true => Access { indices: levels.clone(), ..access.clone() },
            false => access.clone(),
        };
        let replaced = statement.value.map_accesses(&|access| Expr::Access(by_level(access)));
        let masks = statement.masks.iter().map(by_level).collect();
        let value = match replaced {
            Expr::Reduce(operator, reduced, body) => {
                let reduced = self.kernel.loops_of(&reduced);
                let others = levels.iter().filter(|level| !reduced.contains(level));
                let mut all: Vec<IndexVariable> = reduced.iter().chain(others).copied().collect();
                all.retain(|&variable| self.kernel.is_reduced(variable, &target));
                if all.is_empty() { *body } else { Expr::Reduce(operator, all, body) }
            }
            value => value,
        };
        Statement { target, value, masks, element: statement.element, operator: statement.operator }
    }

    /// The result as what its levels store, where these are a driver's: all of them, or those above its fibers, and dense ones.
    fn target_by_levels(&mut self, target: &Access, driver: &Access, levels: &[IndexVariable]) -> Access {
        let shares_all = target.indices == driver.indices && !self.is_dense(target.tensor);
        let result = self.kernel.tensor(target.tensor);
        let format = result.delivered.clone().unwrap_or_else(|| result.format.clone());
        let (true, Ok(map)) = (shares_all || self.shares_prefix(driver, target), Map::new(&format)) else {
            return target.clone();
        };
        let variables = format.levels.iter().enumerate().map(|(number, level)| match level.coordinate {
            Coordinate::Mode(mode) => target.indices[mode],
            _ => levels[number],
        });
        let indices: Vec<IndexVariable> = variables.collect();
        self.view_by_levels(target.tensor, &format, &map, &indices);
        Access { indices, ..target.clone() }
    }

    fn explain_walk(&mut self, drivers: &[Access], format: &Format, levels: &[IndexVariable]) {
        let name = |driver: &Access| self.kernel.original_name(driver.tensor);
        let tensors: Vec<String> = drivers.iter().map(name).collect();
        let why = match (tensors.len(), format.mode_order()) {
            (1, None) => Why::OthersDense,
            (1, Some(_)) => Why::AnyOrder,
            _ => Why::SameCoordinates,
        };
        let is_computed = |level: &IndexVariable| self.kernel.variables[level.0].level.is_some();
        let computed: Vec<IndexVariable> = levels.iter().copied().filter(is_computed).collect();
        self.decide(What::Walked { tensors, format: format.to_string(), levels: self.kernel.names(&computed) }, why);
    }

    /// The operands that are to be walked by their levels: the only ones that are not dense, which decide where there is anything to
    /// do. There are several where all are at the same indices, and stored alike.
    pub(super) fn drivers(&self, statement: &Statement) -> Vec<Access> {
        let is_own = |operator: ReduceOperator| statement.operator.is_none_or(|own| own == operator);
        let body = match &statement.value {
            Expr::Reduce(operator, _, body) if is_own(*operator) => body,
            value => value,
        };
        if has_sum(body) {
            return Vec::new();
        }
        let mut drivers: Vec<Access> = Vec::new();
        let mut add = |access: &Access| {
            if !self.is_dense(access.tensor) && !drivers.iter().any(|other| other.same_place(access)) {
                drivers.push(access.clone());
            }
        };
        statement.masks.iter().for_each(&mut add);
        body.for_each_access(&mut add);
        let is_forbidden = |walk: &AskedWalk| {
            walk.names.is_none()
                && drivers.iter().any(|driver| walk.tensors.contains(&self.kernel.original(driver.tensor)))
        };
        let is_symmetric = |driver: &Access| self.kernel.tensor(driver.tensor).format.symmetry.is_some();
        let is_good = !self.kernel.asked.walks.iter().any(is_forbidden)
            && !drivers.iter().any(is_symmetric)
            && drivers.iter().all(|driver| self.is_driver(driver, statement))
            && self.meet_in_levels(&drivers)
            && self.decide_together(&drivers, statement);
        if is_good { drivers } else { Vec::new() }
    }

    /// Whether loops can go through what an operand stores, and find all else from that.
    fn is_driver(&self, driver: &Access, statement: &Statement) -> bool {
        let tensor = self.kernel.tensor(driver.tensor);
        // A loop over positions is cut anywhere, but coordinates that are told one after the other begin at a parent.
        let is_cut = |level: &format::Level| is_sequential(level.format);
        let is_asked = |mode: usize| self.kernel.asked.parallel.contains(&driver.indices[mode]);
        let is_cut_there = |level: &format::Level| {
            is_cut(level) && !matches!(level.coordinate, Coordinate::Mode(mode) if !is_asked(mode))
        };
        let is_walkable = tensor.format.levels.iter().all(|level| is_walkable(&level.format))
            && !tensor.format.levels.first().is_some_and(is_cut)
            && !tensor.format.levels.iter().any(is_cut_there);
        let is_plain = driver.indices.iter().all(|index| self.kernel.variables[index.0].value.is_none());
        let target = self.kernel.tensor(statement.target.tensor);
        let shares = statement.target.indices == driver.indices && target.delivered.as_ref() == Some(&tensor.format)
            || self.shares_prefix(driver, &statement.target);
        // Slots of a hash table are shared by no result.
        let has_slots = tensor.format.levels.iter().any(|level| level.format.kind.has_vacancies());
        let is_in_order = tensor.format.levels.iter().all(|level| ascends(level.format));
        let is_read = match tensor.format.mode_order() {
            _ if !matches!(tensor.kind, TensorKind::Input | TensorKind::Fibers(_)) => false,
            None => is_in_order || shares && !has_slots || self.takes_any_order(statement),
            Some(_) => !tensor.format.is_walked() && self.takes_any_order(statement),
        };
        let is_written = self.is_dense(statement.target.tensor) || shares;
        is_read && is_walkable && is_plain && is_written
    }

    /// Whether operands have entries at the same indices where they store the same coordinates, and loops find out where these are.
    fn meet_in_levels(&self, operands: &[Access]) -> bool {
        let Some((first, others)) = operands.split_first() else { return false };
        let format = &self.kernel.tensor(first.tensor).format;
        let is_alike =
            |other: &Access| other.indices == first.indices && self.kernel.tensor(other.tensor).format == *format;
        // What is found by counting may lie outside of the tensors, where a loop of the one alone would have to leave it out.
        let is_merged =
            |level: &format::Level| ascends(level.format) && !is_located(level.format) && !is_sequential(level.format);
        others.is_empty()
            || self.kernel.target == Target::Cpu && others.iter().all(is_alike) && format.levels.iter().all(is_merged)
    }

    /// Whether values may be combined with a dense result in any order, the first with what it holds before.
    fn takes_any_order(&self, statement: &Statement) -> bool {
        let reduction = match (statement.operator, &statement.value) {
            (Some(operator), _) | (None, &Expr::Reduce(operator, ..)) => operator,
            _ if statement.element == ElementType::Bool => return false,
            _ => ReduceOperator::Add,
        };
        let target = self.kernel.tensor(statement.target.tensor);
        target.format.is_dense() && is_identity(reduction, target.fill)
    }

    /// Whether loops over an operand may come by the same element of a dense result again, where nothing else does.
    pub(super) fn comes_again(&self, access: &Access, structure: &OutputStructure) -> bool {
        let levels = &self.kernel.tensor(access.tensor).format.levels;
        *structure == OutputStructure::Dense && levels.iter().any(|level| !ascends(level.format))
    }

    fn is_dense(&self, tensor: TensorId) -> bool {
        self.kernel.tensor(tensor).format.is_dense()
    }

    /// Whether there is nothing to do where no operand has an entry.
    fn decide_together(&self, operands: &[Access], statement: &Statement) -> bool {
        let fill = self.kernel.tensor(statement.target.tensor).fill;
        let is_masked = |access: &Access| statement.masks.iter().any(|mask| mask.same_place(access));
        let without = |value, access| without(&self.kernel.tensors, &value, access);
        let missing = || literal(&simplify_expr(operands.iter().fold(statement.value.clone(), without)));
        operands.iter().any(is_masked) || missing().is_some_and(|value| value.equals(fill))
    }

    /// A variable for each level: the mode's own where it stores a mode.
    fn level_variables_of(&mut self, access: &Access, format: &Format, names: &[String]) -> Vec<IndexVariable> {
        let mut variables = Vec::with_capacity(format.levels.len());
        let mut names = names.iter();
        for (number, level) in format.levels.iter().enumerate() {
            variables.push(match &level.coordinate {
                Coordinate::Mode(mode) => access.indices[*mode],
                coordinate => {
                    let asked = names.next().cloned();
                    let name = asked.unwrap_or_else(|| self.name_of_level(coordinate, access, number));
                    let mut modes = Vec::new();
                    coordinate.for_each_mode(&mut |mode| modes.push(access.indices[mode]));
                    let level = Level { tensor: access.tensor, level: number, made_of: modes };
                    let extent = Extent {
                        name: name.clone(),
                        written: Vec::new(),
                        size: Size::Runtime,
                        of: Some(ExtentOf::Level(access.tensor, number)),
                    };
                    self.kernel.extents.push(extent);
                    let extent = self.kernel.extents.len() - 1;
                    self.kernel.variables.push(Variable {
                        name,
                        extent,
                        value: None,
                        has_loop: false,
                        level: Some(level),
                        share: None,
                    });
                    IndexVariable(self.kernel.variables.len() - 1)
                }
            });
        }
        variables
    }

    fn name_of_level(&self, coordinate: &Coordinate, access: &Access, level: usize) -> String {
        let of = |mode: &Coordinate, what: &str| match mode {
            Coordinate::Mode(mode) => Some(format!("{}_{what}", self.kernel.variable(access.indices[*mode]))),
            _ => None,
        };
        let name = match coordinate {
            Coordinate::Divide(mode, _) => of(mode, "block"),
            Coordinate::Remainder(mode, _) => of(mode, "inside"),
            _ => None,
        };
        let mut name =
            name.unwrap_or_else(|| format!("{}{}_coordinate", self.kernel.tensor(access.tensor).name, level + 1));
        while self.kernel.variables.iter().any(|variable| variable.name == name) {
            name.push('_');
        }
        name
    }

    /// Computes the index variables that no level stores.
    fn compute_modes(&mut self, access: &Access, format: &Format, map: &Map, levels: &[IndexVariable]) {
        for (mode, variable) in access.indices.iter().enumerate() {
            if levels.contains(variable) {
                continue;
            }
            let used = map.levels_of(mode);
            // Stored coordinates are those of entries; what is found by counting may lie outside of the tensor, unless there
            // are entries at all that is stored inside.
            let guarded = used.iter().max().is_some_and(|&level| is_located(format.levels[level].format));
            let levels = levels.to_vec();
            let value = Computed::Mode { tensor: access.tensor, mode, used, levels, guarded };
            self.kernel.variables[variable.0].value = Some(value);
        }
    }

    /// Declares a tensor as one whose modes are its levels.
    fn view_by_levels(&mut self, tensor: TensorId, format: &Format, map: &Map, levels: &[IndexVariable]) {
        let extents = levels.iter().map(|level| self.kernel.variables[level.0].extent).collect();
        let tensor = &mut self.kernel.tensors[tensor.0];
        let modes = std::mem::replace(&mut tensor.extents, extents);
        tensor.stored = Some(Stored { format: format.clone(), map: map.clone(), extents: modes });
        tensor.format = Format::of_levels(format.levels.iter().map(|level| level.format));
        tensor.delivered = None;
    }
}

/// Whether loops know how to walk or locate a level.
fn is_walkable(level: &format::LevelFormat) -> bool {
    let kind = level.kind;
    kind.is_dense()
        || kind.is_compressed()
        || kind.is_singleton()
        || kind.vacancies == format::Vacancies::Slots
        || is_sequential(*level)
}
