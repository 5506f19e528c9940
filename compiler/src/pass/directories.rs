//! Operands that each iteration of a loop walks from their roots get directories of their levels.
//!
//! ```text
//! for i in 0..n                                        directory B1 of B1_crd by B1_pos below k_extent for A2_crd
//!     merge k of pA2 in A2_pos[i]..pA2_end at …,       for i in 0..n
//!             pB1 in B1_pos[0]..pB1_end at …               merge k of pA2 in A2_pos[i]..pA2_end at …,
//!         …                                                        pB1 in B1_pos[0]..pB1_end at … by B1[0]
//!                                                              …
//! ```
//!
//! The other operand is walked once by all iterations, so its coordinates are as many as are looked for. What a directory costs is made up
//! by them: a target makes it only as large as they allow. So is each level below, whose parents were found so.

use super::over_body;
use crate::format::Coordinate;
use crate::ir::{ArrayId, ArrayRole, Expr, Kernel, LookUp, Statement, VariableId, Walk, is_of_two_runs};
use crate::notation::Decision;
use std::collections::{BTreeMap, BTreeSet};

/// The kernel with directories before the loops that look things up.
pub(super) fn directories(kernel: Kernel) -> Kernel {
    // A variable that copies of a block define in two ways is none of them.
    let mut definitions: BTreeMap<VariableId, Option<Expr>> = BTreeMap::new();
    let mut see = |statement: &Statement| {
        if let Statement::Let(variable, value) = statement {
            let known = definitions.entry(*variable).or_insert_with(|| Some(value.clone()));
            *known = known.take().filter(|known| known == value);
        }
    };
    kernel.body.iter().for_each(|statement| statement.for_each(&mut see));
    let is_fixed = |variable: &VariableId| !kernel.variable(*variable).mutable;
    let definitions = definitions.into_iter().filter(|(variable, _)| is_fixed(variable));
    let definitions = definitions.filter_map(|(variable, value)| Some((variable, value?))).collect();
    over_body(kernel, |kernel, body| before_loops(kernel, &definitions, body))
}

/// The levels that have directories, with the reason.
pub(super) fn decisions(kernel: &Kernel) -> Vec<Decision> {
    let mut found: Vec<Decision> = Vec::new();
    let mut see = |statement: &Statement| {
        let Statement::Directory { coordinates, sought, .. } = statement else { return };
        let ArrayRole::Coordinates { tensor, level } = kernel.array(*coordinates).role else { return };
        let Some(other) = kernel.array(*sought).role.tensor() else { return };
        let [name, other] = [tensor, other].map(|tensor| kernel.tensor(tensor).name.clone());
        found.push(Decision {
            what: format!("coordinates of {other} are looked up in a directory of level {} of {name}", level + 1),
            why: format!("each iteration of the outer loop begins at the root of {name}; they are searched for where a directory would have more than 8 slots for each of them"),
        });
    };
    kernel.body.iter().for_each(|statement| statement.for_each(&mut see));
    found
}

/// Puts directories before the outermost loops of a block, and of the blocks of its branches.
fn before_loops(kernel: &mut Kernel, definitions: &BTreeMap<VariableId, Expr>, block: &mut Vec<Statement>) {
    for mut statement in std::mem::take(block) {
        if matches!(statement, Statement::If(..)) {
            statement.blocks_mut().into_iter().for_each(|inner| before_loops(kernel, definitions, inner));
        } else {
            let mut lookups = LookUps { kernel, definitions, found: BTreeSet::new(), made: Vec::new() };
            statement.blocks_mut().into_iter().for_each(|inner| lookups.in_block(inner));
            block.append(&mut lookups.made);
        }
        block.push(statement);
    }
}

/// What is looked up in a loop.
struct LookUps<'a> {
    kernel: &'a mut Kernel,
    /// What immutable variables are.
    definitions: &'a BTreeMap<VariableId, Expr>,
    /// The places of operands that are walked from their roots.
    found: BTreeSet<VariableId>,
    /// Statements that make directories.
    made: Vec<Statement>,
}

/// The children of a parent.
struct Children {
    positions: ArrayId,
    parent: Expr,
    /// One more than the largest coordinate that one may have, where these are a mode's.
    extent: Option<Expr>,
}

impl LookUps<'_> {
    fn in_block(&mut self, block: &mut [Statement]) {
        for statement in block {
            if let Statement::Merge(merge) = statement
                && is_of_two_runs(self.kernel, merge)
            {
                merge.directory = self.look_up(&mut merge.walks);
            }
            statement.blocks_mut().into_iter().for_each(|inner| self.in_block(inner));
        }
    }

    /// The directory of the operand that begins at its root, which becomes the second.
    fn look_up(&mut self, walks: &mut [Walk]) -> Option<LookUp> {
        let [one, other] = walks else { return None };
        let children = [&*one, &*other].map(|walk| self.children(walk));
        let is_from_root =
            children.each_ref().map(|children| match children.as_ref().map(|children| &children.parent) {
                Some(Expr::Index(_)) => true,
                Some(Expr::Variable(place)) => self.found.contains(place),
                _ => false,
            });
        let [one, other] = children;
        let Children { positions, parent, extent } = match is_from_root {
            [false, true] => other?,
            [true, false] => {
                walks.swap(0, 1);
                one?
            }
            _ => return None,
        };
        let extent = extent?;
        self.found.insert(walks[1].place);
        let (sought, coordinates_of) = (walks[0].array()?, walks[1].array()?);
        let made = self.made.iter().find_map(|statement| match statement {
            Statement::Directory { directory, coordinates, sought: other, .. } => {
                (*coordinates == coordinates_of && *other == sought).then_some(*directory)
            }
            _ => None,
        });
        let directory = made.unwrap_or_else(|| self.make(coordinates_of, positions, extent, sought));
        Some(LookUp { directory, parent })
    }

    fn make(&mut self, coordinates: ArrayId, positions: ArrayId, extent: Expr, sought: ArrayId) -> ArrayId {
        let of = self.kernel.array(coordinates);
        let (name, element) = (of.name.trim_end_matches("_crd").to_owned(), of.element);
        let directory = self.kernel.declare_array(&name, element, ArrayRole::Local);
        self.made.push(Statement::Directory { directory, positions, coordinates, extent, sought });
        directory
    }

    /// Whose children a walk is over, where it is over all of one parent's.
    fn children(&self, walk: &Walk) -> Option<Children> {
        let ArrayRole::Coordinates { tensor, level } = self.kernel.array(walk.array()?).role else { return None };
        let (begin, end) = (self.defined(&walk.begin), self.defined(&walk.end));
        let (Expr::Load(positions, parent), Expr::Load(other, next)) = (begin, end) else { return None };
        let is_whole = positions == other && **next == parent.clone().plus(Expr::Index(1));
        let is_level = self.kernel.array(*positions).role == ArrayRole::Positions { tensor, level };
        let tensor = self.kernel.tensor(tensor);
        let extent = match tensor.format.levels[level].coordinate {
            Coordinate::Mode(mode) => Some(Expr::Dimension(tensor.dimensions[mode])),
            _ => None,
        };
        (is_whole && is_level).then(|| Children { positions: *positions, parent: (**parent).clone(), extent })
    }

    fn defined<'e>(&'e self, expr: &'e Expr) -> &'e Expr {
        match expr {
            Expr::Variable(variable) => self.definitions.get(variable).unwrap_or(expr),
            _ => expr,
        }
    }
}
