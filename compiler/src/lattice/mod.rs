//! Merge lattices: at which coordinates of a loop something happens, and what.
//!
//! In: the body of a loop and the operands whose levels are walked by it. Out: [`Lattice`], whose points are sets of
//! operands: where exactly the operands of a point have an entry, its statement is what is left to do. For
//! `a(i) = b(i) * c(i) + d(i)` over sparse vectors:
//!
//! ```text
//! {b, c, d}   a(i) = b(i) * c(i) + d(i)
//! {b, c}      a(i) = b(i) * c(i)
//! {d}         a(i) = d(i)
//! ```
//!
//! Nothing here knows what an operator means: a point's statement is the body with the absent operands replaced by their
//! fill values and simplified, so any expression has a lattice. The idea is from Kjolstad, Kamil, Chou, Lugato, Amarasinghe, *The
//! Tensor Algebra Compiler* (2017), section 5; there points come from rules for `*` and `+`.

mod chooser;
mod region;

use crate::concrete::{
    Access, IndexVariable, Kernel, Statement, Tensor, TensorKind, absent, level_variables, simplify,
};
use crate::level::is_located;

pub use crate::ir::Operands;
pub use chooser::chooser;

/// The operands that a loop walks.
pub fn operands(kernel: &Kernel, variable: IndexVariable, body: &Statement) -> Vec<Access> {
    let mut operands: Vec<Access> = Vec::new();
    body.for_each_read(&mut |access| {
        let tensor = kernel.tensor(access.tensor);
        if tensor.kind == TensorKind::Workspace || operands.iter().any(|seen| seen.same_place(access)) {
            return;
        }
        let mut levels = level_variables(access, &tensor.format).into_iter().zip(&tensor.format.levels);
        if levels.any(|(other, level)| other == variable && !is_located(level.format)) {
            operands.push(access.clone());
        }
    });
    operands
}

/// What happens where certain operands have an entry and the others have not.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The operands that have an entry.
    pub operands: Operands,
    /// What is left to do.
    pub statement: Statement,
}

/// The points of a loop, those with more operands first.
#[derive(Debug, Clone, PartialEq)]
pub struct Lattice {
    /// The points.
    pub points: Vec<Point>,
}

impl Lattice {
    /// The lattice of a loop body over operands whose levels are walked.
    ///
    /// # Panics
    /// With more than 20 operands; the caller refuses such loops.
    pub fn new(tensors: &[Tensor], body: &Statement, operands: &[Access]) -> Self {
        assert!(operands.len() <= 20, "a lattice over {} operands", operands.len());
        let mut sets: Vec<Operands> = (0..1u64 << operands.len()).map(Operands).collect();
        sets.sort_by_key(|set| (set.count(), std::cmp::Reverse(*set)));
        let mut points: Vec<Point> = Vec::new();
        for set in sets {
            let missing = operands.iter().enumerate().filter(|(index, _)| !set.contains(*index));
            let left = missing.fold(body.clone(), |statement, (_, access)| absent(tensors, &statement, access));
            let statement = simplify(tensors, left);
            // Nothing is to be done there, but what a smaller point does must not be done instead: with the fill value inf of
            // both, `a(i) - b(i)` is inf where only `a` has no entry, and no number where neither has one.
            let hides = points.iter().any(|point| point.operands.is_subset(set));
            if (statement != Statement::Empty || hides) && !is_covered(&points, set, &statement) {
                points.push(Point { operands: set, statement });
            }
        }
        points.reverse();
        Lattice { points }
    }

    /// The statement where no operand has an entry.
    pub fn everywhere(&self) -> Option<&Statement> {
        self.points.iter().find(|point| point.operands == Operands(0)).map(|point| &point.statement)
    }

    /// The sets of operands that are walked together, one loop each, in the order of the loops.
    pub fn loops(&self) -> Vec<Operands> {
        Operands::loops(self.points.iter().map(|point| point.operands))
    }

    /// The points none of whose operands can be left out.
    pub fn minimal_points(&self) -> Vec<&Point> {
        let is_larger =
            |point: &Point, other: &Point| other.operands != point.operands && other.operands.is_subset(point.operands);
        self.points.iter().filter(|point| !self.points.iter().any(|other| is_larger(point, other))).collect()
    }

    /// The points that may occur while just these operands are walked.
    pub fn within(&self, operands: Operands) -> impl Iterator<Item = &Point> {
        self.points.iter().filter(move |point| point.operands.is_subset(operands))
    }
}

/// Whether one of the smaller points does the same, and no other smaller point would be taken before it.
fn is_covered(smaller: &[Point], set: Operands, statement: &Statement) -> bool {
    let below = || smaller.iter().filter(|point| point.operands.is_subset(set));
    let all = below().fold(Operands(0), |all, point| all.union(point.operands));
    below().any(|point| point.operands == all && point.statement == *statement)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::concrete::Kernel;
    use crate::schedule::{Options, schedule};
    use crate::{notation, syntax};

    /// The lattice of `y(i) = …` over sparse vectors, as sets of their names: its points, and its loops.
    fn lattice(value: &str) -> (Vec<String>, Vec<String>) {
        let text = format!(
            "fn k(a: [compressed], b: [compressed], c: [compressed], x: dense) -> y: dense {{
                y(i) = {value} + 0 * a(i) * b(i) * c(i) * x(i);
            }}"
        );
        let program = syntax::parse_program(&text).unwrap_or_else(|problems| panic!("{problems:?}"));
        let kernels = notation::check(&program).unwrap_or_else(|problems| panic!("{problems:?}"));
        let program = schedule(&kernels[0], Options::default()).unwrap_or_else(|problems| panic!("{problems:?}"));
        let kernel = program.single().expect("one statement is one kernel");
        let Statement::Forall { body, .. } = &kernel.body else { panic!("{kernel}") };
        let operands = operands(kernel, body);
        let names = |set: Operands| -> String {
            set.iter().map(|operand| kernel.tensor(operands[operand].tensor).name.as_str()).collect()
        };
        let lattice = Lattice::new(&kernel.tensors, body, &operands);
        let points = lattice.points.iter().map(|point| names(point.operands)).collect();
        (points, lattice.loops().into_iter().map(names).collect())
    }

    fn operands(kernel: &Kernel, body: &Statement) -> Vec<Access> {
        let mut operands: Vec<Access> = Vec::new();
        body.for_each_read(&mut |access| {
            let is_sparse = !kernel.tensor(access.tensor).format.is_dense();
            if is_sparse && !operands.iter().any(|seen| seen.same_place(access)) {
                operands.push(access.clone());
            }
        });
        operands.sort_by_key(|access| access.tensor);
        operands
    }

    #[track_caller]
    fn check(value: &str, points: &[&str], loops: &[&str]) {
        assert_eq!(lattice(value), (own(points), own(loops)), "{value}");
    }

    fn own(sets: &[&str]) -> Vec<String> {
        sets.iter().map(|set| (*set).to_owned()).collect()
    }

    #[test]
    fn a_product_has_one_point() {
        check("a(i) * b(i) * c(i)", &["abc"], &["abc"]);
    }

    #[test]
    fn a_sum_has_a_point_for_each_set() {
        let sets = ["abc", "ab", "ac", "bc", "a", "b", "c"];
        check("a(i) + b(i) + c(i)", &sets, &sets);
    }

    #[test]
    fn points_of_products_and_sums_are_those_of_their_terms() {
        check("a(i) * b(i) + c(i)", &["abc", "ab", "c"], &["abc", "ab", "c"]);
        check("a(i) * (b(i) + c(i))", &["abc", "ab", "ac"], &["abc", "ab", "ac"]);
        check("a(i) + a(i) * b(i) * c(i)", &["abc", "a"], &["abc", "a"]);
    }

    #[test]
    fn what_a_smaller_point_does_needs_no_point() {
        check("a(i) * x(i)", &["a"], &["a"]);
        check("a(i) + x(i)", &["a", ""], &["a", ""]);
    }

    #[test]
    fn two_points_are_walked_together_while_both_may_come() {
        // Neither {a, b} nor {b, c} holds the other: at first all three are walked.
        check("a(i) * b(i) + b(i) * c(i)", &["abc", "ab", "bc"], &["abc", "ab", "bc"]);
    }

    #[test]
    fn minimal_points_are_what_there_must_be() {
        let body = Statement::Empty;
        let points = [0b111, 0b011, 0b100].map(|set| Point { operands: Operands(set), statement: body.clone() });
        let lattice = Lattice { points: points.into() };
        let minimal: Vec<Operands> = lattice.minimal_points().iter().map(|point| point.operands).collect();
        assert_eq!(minimal, [Operands(0b011), Operands(0b100)]);
    }

    #[test]
    fn sets_know_their_members() {
        let set = Operands(0b101);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 2]);
        assert_eq!((set.count(), set.contains(1), set.contains(2)), (2, false, true));
        assert!(set.is_subset(Operands::all(3)) && !Operands::all(3).is_subset(set));
        assert_eq!(set.union(Operands(0b010)), Operands::all(3));
    }
}
