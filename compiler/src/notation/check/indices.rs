//! The index variables of a kernel while it is checked.

use crate::notation::{Assignment, IndexVariable, Variable};
use crate::syntax::Ident;

/// The variables so far, and what names stand for in the statement at hand.
#[derive(Default)]
pub(super) struct Indices {
    pub(super) variables: Vec<Variable>,
    free: Vec<IndexVariable>,
    bound: Vec<IndexVariable>,
}

impl Indices {
    /// Names stand for nothing: a statement begins.
    pub(super) fn begin_statement(&mut self) {
        self.free.clear();
        self.bound.clear();
    }

    /// The variable of a name: of the innermost reduction that binds it, else one of the whole statement.
    pub(super) fn resolve(&mut self, name: &Ident) -> IndexVariable {
        self.bound(&name.name).or_else(|| self.free(&name.name)).unwrap_or_else(|| {
            let variable = self.declare(name);
            self.free.push(variable);
            variable
        })
    }

    /// The variable of that name that is bound by no explicit reduction.
    pub(super) fn free(&self, name: &str) -> Option<IndexVariable> {
        self.free.iter().copied().find(|variable| self.variables[variable.0].name == name)
    }

    /// The variable of that name that a reduction around here binds.
    pub(super) fn bound(&self, name: &str) -> Option<IndexVariable> {
        self.bound.iter().rev().copied().find(|variable| self.variables[variable.0].name == name)
    }

    /// Enters a reduction.
    pub(super) fn bind(&mut self, name: &Ident) -> IndexVariable {
        let variable = self.declare(name);
        self.bound.push(variable);
        variable
    }

    /// Leaves the reduction that bound the last `number` variables.
    pub(super) fn unbind(&mut self, number: usize) {
        self.bound.truncate(self.bound.len() - number);
    }

    fn declare(&mut self, name: &Ident) -> IndexVariable {
        self.variables.push(Variable { name: name.name.clone(), span: name.span });
        IndexVariable(self.variables.len() - 1)
    }
}

/// Numbers the variables by their first appearance, in each statement the left-hand side first, drops those that do not
/// appear, and gives each a name of its own in its statement: `k`, `k_1`. No two statements share a variable.
pub(in crate::notation) fn in_order(
    statements: &mut [Assignment],
    variables: &[Variable],
    taken: &[&str],
) -> Vec<Variable> {
    let mut all = Vec::new();
    for statement in statements {
        let own = statement.variables();
        let first = all.len();
        statement.rename(&mut |variable| {
            IndexVariable(first + own.iter().position(|&other| other == variable).unwrap_or_default())
        });
        all.extend(distinct(own.iter().map(|variable| variables[variable.0].clone()).collect(), taken));
    }
    all
}

/// The variables of a statement, each with a name that no other one has.
fn distinct(mut variables: Vec<Variable>, taken: &[&str]) -> Vec<Variable> {
    let written: Vec<String> = variables.iter().map(|variable| variable.name.clone()).collect();
    for place in 1..variables.len() {
        let name = written[place].clone();
        let used = |candidate: &str, variables: &[Variable]| {
            variables[..place].iter().any(|earlier| earlier.name == candidate)
        };
        let free = |candidate: &String| {
            !used(candidate, &variables) && !written.contains(candidate) && !taken.contains(&candidate.as_str())
        };
        if used(&name, &variables) {
            let fresh = (1..).map(|number| format!("{name}_{number}")).find(free);
            variables[place].name = fresh.unwrap_or(name);
        }
    }
    variables
}
