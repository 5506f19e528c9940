//! What a `schedule` block asks for.

use super::{Access, Expr, IndexVariable, TensorId};
use crate::diagnostics::Span;
use crate::ir::Choice;

/// What a schedule block asks for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Asked {
    /// Each pair's first is an outer loop of its second.
    pub order: Vec<(IndexVariable, IndexVariable)>,
    /// The loops to run in parallel instead of the outermost.
    pub parallel: Vec<IndexVariable>,
    /// The loop to run in vector lanes.
    pub vector: Vec<IndexVariable>,
    /// The loops to write out.
    pub unrolled: Vec<IndexVariable>,
    /// What is asked of single loops.
    pub choices: Vec<(IndexVariable, Choice)>,
    /// Loops over what is stored that have names of their own.
    pub chains: Vec<Chain>,
    /// What is computed before it is used.
    pub parts: Parts,
    /// Variables of workspaces' own loops, each with the one of the statement that it stands for.
    pub renamed: Vec<(IndexVariable, IndexVariable)>,
}

impl Asked {
    /// What is asked of the loop over a variable.
    pub(crate) fn choice(&self, variable: IndexVariable) -> Option<Choice> {
        let variable = self.original(variable);
        self.choices.iter().find(|(other, _)| *other == variable).map(|(_, choice)| *choice)
    }

    /// What is asked of the loop over a variable, to say more.
    pub(crate) fn choice_mut(&mut self, variable: IndexVariable) -> &mut Choice {
        let known = self.choices.iter().position(|(other, _)| *other == variable);
        let place = known.unwrap_or_else(|| {
            self.choices.push((variable, Choice::default()));
            self.choices.len() - 1
        });
        &mut self.choices[place].1
    }

    /// The variable of the statement that one stands for.
    pub(crate) fn original(&self, variable: IndexVariable) -> IndexVariable {
        let renamed = self.renamed.iter().find(|(new, _)| *new == variable);
        renamed.map_or(variable, |&(_, old)| self.original(old))
    }
}

/// Loops over what is stored that the schedule names as one.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    /// What it is called: after fusing, after positions were asked for, and the blocks of these.
    pub names: Vec<String>,
    /// What the loop inside of a block is called.
    pub inside: Option<String>,
    /// The loops, outermost first.
    pub variables: Vec<IndexVariable>,
    /// Whose positions it goes over.
    pub operand: Option<TensorId>,
    /// How many positions a block has.
    pub by: Option<u64>,
    /// Whether its shares run in parallel.
    pub is_parallel: bool,
    /// Loops that are to be inside of that over its blocks.
    pub around: Vec<IndexVariable>,
    /// The directive that says most of it.
    pub span: Span,
}

impl Chain {
    /// Whether there is a loop over its positions, which must then be had.
    pub(crate) fn is_wanted(&self) -> bool {
        self.operand.is_some() || self.is_parallel
    }

    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name)
    }
}

/// A part of a statement that is computed into a workspace before it is used.
#[derive(Debug, Clone, PartialEq)]
pub struct Precomputed {
    /// The workspace as it is read.
    pub read: Access,
    /// The workspace as it is written.
    pub written: Access,
    /// What is written, with the sums that go with it.
    pub value: Expr,
    /// The same over the variables that the workspace is read at.
    pub part: Expr,
    /// Those, and what is computed from them, each with what is in its place where the workspace is written.
    pub renamed: Vec<(IndexVariable, IndexVariable)>,
    /// The variables whose loops are outside of the workspace.
    pub outside: Vec<IndexVariable>,
    /// Parts of this part.
    pub inside: Vec<Precomputed>,
    /// The part in the directive.
    pub span: Span,
}

impl Precomputed {
    /// Whether it and its own parts are over some dense variables alone.
    pub(crate) fn is_block(&self, dense: &[IndexVariable]) -> bool {
        let is_own = self.read.indices.iter().all(|variable| dense.contains(variable));
        is_own && self.inside.iter().all(|part| part.is_block(dense))
    }
}

/// What a schedule wants in workspaces.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parts {
    /// What is left of the right-hand side: it reads the workspaces.
    pub rest: Option<Expr>,
    /// The parts that it reads.
    pub parts: Vec<Precomputed>,
    /// What is outside of each workspace, parts of parts included.
    pub outside: Vec<(TensorId, Vec<IndexVariable>)>,
    /// The directives that were carried out.
    pub found: Vec<Span>,
}
