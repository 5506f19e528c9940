//! The index variables of a kernel while it is checked.

use crate::diagnostics::Span;
use crate::ir::{IndexExpr, IndexOperator};
use crate::notation::{Assignment, IndexVariable, Kernel, Variable, Written, running};
use crate::syntax::{Expr, ExprKind, Ident, Index, Statement};
use std::collections::BTreeMap;

/// The variables so far, and what names stand for in the statement at hand.
#[derive(Default)]
pub(super) struct Indices {
    pub(super) variables: Vec<Variable>,
    free: Vec<IndexVariable>,
    bound: Vec<IndexVariable>,
    /// The variables of windows: the `n`th window of each access runs with the `n`th of the others.
    windows: Vec<IndexVariable>,
    /// The variables that stand for the extents of names.
    counted: Vec<IndexVariable>,
    /// The indices that statements have in modes of tensors.
    modes: BTreeMap<(String, usize), Written>,
    /// The first variable of the statement.
    begin: usize,
    /// How many statements there are so far.
    statements: usize,
}

/// An extent that a text asks for.
pub(super) struct Counted {
    name: String,
    written: Written,
    mode: Option<String>,
    span: Span,
}

impl Indices {
    /// Names stand for nothing: a statement begins.
    pub(super) fn begin_statement(&mut self) {
        self.free.clear();
        self.bound.clear();
        self.windows.clear();
        self.counted.clear();
        self.begin = self.variables.len();
        self.statements += 1;
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

    /// Another variable of the same extent, one for each use; no reduction but its own binds it.
    pub(super) fn like(&mut self, counted: Counted) -> IndexVariable {
        let Counted { name, written, mode, span } = counted;
        self.push(Variable { name, written: Some(written), span, value: None, extent: None, mode })
    }

    /// The variable that stands for an extent in computed indices: the same for all of a statement's, so that equal indices are seen to
    /// be equal.
    pub(super) fn extent(&mut self, counted: Counted) -> IndexVariable {
        let is_it = |variable: &IndexVariable| {
            let known = &self.variables[variable.0];
            known.written.as_ref() == Some(&counted.written) && known.mode == counted.mode
        };
        let known = self.counted.iter().copied().find(is_it);
        known.unwrap_or_else(|| {
            let variable = self.like(counted);
            self.counted.push(variable);
            variable
        })
    }

    /// The extent of an index of the statement.
    pub(super) fn of_index(&self, name: &Ident) -> Counted {
        let written = Written { name: name.name.clone(), statement: self.statements };
        Counted { name: name.name.clone(), written, mode: None, span: name.span }
    }

    /// The extent of a mode, counted from 1, of a tensor, which is that of an index that some statement has there.
    pub(super) fn of_mode(&self, tensor: &Ident, mode: usize) -> Option<Counted> {
        let written = self.modes.get(&(tensor.name.clone(), mode))?.clone();
        let mode = Some(format!("{}, {mode}", tensor.name));
        Some(Counted { name: written.name.clone(), written, mode, span: tensor.span })
    }

    /// Remembers which indices the statements of a body have in the modes of tensors.
    pub(super) fn note_modes(&mut self, body: &[Statement]) {
        for (place, statement) in body.iter().enumerate() {
            super::extents::for_each_access(statement, &mut |access| {
                for (mode, index) in access.indices.iter().enumerate() {
                    if let Index::Expr(Expr { kind: ExprKind::Name(name), .. }) = index {
                        let written = Written { name: name.name.clone(), statement: place + 1 };
                        self.modes.entry((access.name.name.clone(), mode + 1)).or_insert(written);
                    }
                }
            });
        }
    }

    fn declare(&mut self, name: &Ident) -> IndexVariable {
        let written = Written { name: name.name.clone(), statement: self.statements };
        let (name, span) = (name.name.clone(), name.span);
        self.push(Variable { name, written: Some(written), span, value: None, extent: None, mode: None })
    }

    fn push(&mut self, variable: Variable) -> IndexVariable {
        self.variables.push(variable);
        IndexVariable(self.variables.len() - 1)
    }

    /// The variable that has a computed value; the same for the same value in one statement.
    pub(super) fn computed(&mut self, value: IndexExpr<IndexVariable>, span: Span) -> IndexVariable {
        let found = self.variables[self.begin..].iter().position(|variable| variable.value.as_ref() == Some(&value));
        match found {
            Some(place) => IndexVariable(self.begin + place),
            None => {
                let name = text(&value, &self.variables);
                self.push(Variable { name, written: None, span, value: Some(value), extent: None, mode: None })
            }
        }
    }

    /// A variable with the value of another, which is none of `taken`.
    pub(super) fn copy(&mut self, of: IndexVariable, taken: &[IndexVariable], span: Span) -> IndexVariable {
        let mut value = self.value(of);
        loop {
            let variable = self.computed(value.clone(), span);
            if !taken.contains(&variable) {
                return variable;
            }
            value = IndexExpr::binary(IndexOperator::Add, value, IndexExpr::Constant(0));
        }
    }

    /// The variable of the `place`th window of an access, and the extent that it has already, where that differs.
    pub(super) fn window(&mut self, place: usize, extent: u64, span: Span) -> (IndexVariable, Option<u64>) {
        if let Some(&variable) = self.windows.get(place) {
            let known = self.variables[variable.0].extent;
            return (variable, known.filter(|&known| known != extent));
        }
        let name = "w".to_owned();
        let variable = self.push(Variable { name, written: None, span, value: None, extent: Some(extent), mode: None });
        self.windows.push(variable);
        (variable, None)
    }

    /// The value of a variable: itself, unless it is computed.
    pub(super) fn value(&self, variable: IndexVariable) -> IndexExpr<IndexVariable> {
        self.variables[variable.0].value.clone().unwrap_or(IndexExpr::Variable(variable))
    }

    /// What a computed variable is made of.
    pub(super) fn running(&self, variables: &[IndexVariable]) -> Vec<IndexVariable> {
        running(&self.variables, variables)
    }
}

/// Numbers the variables by their first appearance, in each statement the left-hand side first, drops those that do not
/// appear, and gives each a name of its own in its statement: `k`, `k_1`. No two statements share a variable.
pub(super) fn in_order(statements: &mut [Assignment], variables: &[Variable], taken: &[&str]) -> Vec<Variable> {
    let mut all = Vec::new();
    for statement in statements {
        let own = statement.variables(variables);
        let first = all.len();
        let mut place = |variable: IndexVariable| {
            IndexVariable(first + own.iter().position(|&other| other == variable).unwrap_or_default())
        };
        statement.rename(&mut place);
        let copies: Vec<Variable> = own.iter().map(|variable| variables[variable.0].clone()).collect();
        all.extend(distinct(copies, taken).into_iter().map(|variable| {
            let value = variable.value.as_ref().map(|value| value.map(&mut |&made_of| place(made_of)));
            Variable { value, ..variable }
        }));
    }
    named_by_value(all)
}

impl Kernel {
    /// Numbers and names the variables as those of a text are, after statements have come or gone.
    pub(crate) fn renumber_variables(&mut self) {
        let taken: Vec<&str> = self.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
        self.variables = in_order(&mut self.statements, &self.variables, &taken);
    }
}

/// Gives computed variables the text of their value as a name.
pub(in crate::notation) fn named_by_value(mut variables: Vec<Variable>) -> Vec<Variable> {
    for place in 0..variables.len() {
        if let Some(value) = &variables[place].value {
            variables[place].name = text(value, &variables);
        }
    }
    variables
}

/// The text of a computed index; `3..7` for a window.
fn text(value: &IndexExpr<IndexVariable>, variables: &[Variable]) -> String {
    if let IndexExpr::Binary(IndexOperator::Add, window, start) = value
        && let (IndexExpr::Variable(window), IndexExpr::Constant(start)) = (&**window, &**start)
        && let Some(extent) = variables[window.0].extent
    {
        return format!("{start}..{}", start.saturating_add_unsigned(extent));
    }
    let counted = value.extents();
    let name = |id: &IndexVariable| {
        let variable = &variables[id.0];
        let written = variable.counted().filter(|_| counted.contains(id));
        written.unwrap_or(&variable.name).to_owned()
    };
    value.show(&name).to_string()
}

/// The variables of a statement, each with a name that no other one has.
fn distinct(mut variables: Vec<Variable>, taken: &[&str]) -> Vec<Variable> {
    let computed: Vec<bool> = variables.iter().map(|variable| variable.value.is_some()).collect();
    let written: Vec<String> = variables.iter().map(|variable| variable.name.clone()).collect();
    for place in (1..variables.len()).filter(|&place| !computed[place]) {
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
