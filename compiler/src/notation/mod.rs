//! Checked index notation: names resolved, orders known, element types settled, implicit sums explicit.
//!
//! In: [`syntax::Program`](crate::syntax::Program). Out: [`Kernel`], which prints as index notation. The Einstein rule is
//! applied term by term: in `y(i) = b(i) - A(i, j) * x(j)` only the product is summed over `j`:
//!
//! ```text
//! y(i) = b(i) - A(i, j) * x(j)      →      y(i) = b(i) - sum(j)(A(i, j) * x(j))
//! ```

mod chain;
mod check;
mod chooser;
pub(crate) mod combine;
mod einstein;
mod exact;
mod gradient;
mod print;
mod recurrence;
pub(crate) mod simplify;
mod symmetry;
#[cfg(test)]
mod tests;
mod updates;
mod walk;

use crate::diagnostics::{Diagnostic, Span};
use crate::format::Format;
use crate::ir::{ElementType, Function, IndexExpr, Literal, ReduceOperator, Repetition};

pub use crate::ir::{BinaryOperator, UnaryOperator};
pub use crate::remark::Decision;
pub use crate::syntax::Stage;
pub use chain::{Chain, Link, chain};
pub(crate) use chain::{in_terms, merged, operands};
pub(crate) use check::reduction_name;
pub use check::{FormatOption, Problems, Read, check, check_expression, read_by, sparsest};
pub use gradient::{gradient, real_parameters};
pub use recurrence::{Direction, Recurrence};
pub(crate) use updates::Updates;

/// Names a tensor of a kernel: its place in [`Kernel::tensors`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorId(pub usize);

/// Names an index variable of a kernel: its place in [`Kernel::variables`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexVariable(pub usize);

/// A checked kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Where its name stands (an empty span for a bare expression).
    pub name_span: Span,
    /// The lines of its documentation.
    pub documentation: Vec<String>,
    /// The text of its visibility.
    pub visibility: String,
    /// Parameters in order, then results in order, then temporaries.
    pub tensors: Vec<Tensor>,
    /// Index variables in order of appearance. Variables of different statements are distinct, and variables that different
    /// terms sum over, also where the text uses one name for both: see [`Variable::written`].
    pub variables: Vec<Variable>,
    /// Statements, in order.
    pub statements: Vec<Assignment>,
    /// How those of [`Stage::Round`] are repeated.
    pub repeat: Option<Repetition>,
    /// The schedule block as written; its names are not resolved yet.
    pub schedule: Option<crate::syntax::Schedule>,
    /// What is probably not meant, by position.
    pub warnings: Vec<Diagnostic>,
}

/// A tensor of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// The type of its elements.
    pub element: ElementType,
    /// What a missing entry is, and what a result begins as: what is declared; else zero, but for what only updates make (`min=`)
    /// what changes nothing for the first of them.
    pub fill: Literal,
    /// Its storage; order 0 for a scalar.
    pub format: Format,
    /// The format as written, where it has a name (`csf`, `bcsr(4)`): the macro's types use it.
    pub format_name: Option<String>,
    /// Its part in the kernel.
    pub role: Role,
    /// Whether the text says how it is stored. A temporary of which it does not may never be made.
    pub declared: bool,
    /// What the text says of its size, for plans.
    pub hints: Hints,
}

/// What a text says of the size of a tensor: figures that a plan takes for true where it does not know better. They change no
/// result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hints {
    /// The stored entries.
    pub entries: Option<u64>,
    /// The fibers of the last mode in the order of storage that have entries: of a `csr` matrix, the rows.
    pub fibers: Option<u64>,
    /// The extent of each mode; empty where none are said.
    pub extents: Vec<u64>,
}

/// The part of a tensor in a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A parameter.
    Input,
    /// A result.
    Output,
    /// From a `let`.
    Temporary,
}

/// An index variable: one that runs over its extent, or one that is computed from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name; the text of its value where it is computed.
    pub name: String,
    /// The name that the text has for it, in one of its statements; `None` for windows and for what is computed.
    pub written: Option<Written>,
    /// Where it first appears.
    pub span: Span,
    /// How it is computed, where it is: `2*i + k` of `x(2*i + k)`. The variables in it run over their extents.
    pub value: Option<IndexExpr<IndexVariable>>,
    /// Its extent, where the text fixes it, as that of a window does.
    pub extent: Option<u64>,
    /// The mode for whose extent it stands, where the text says that: `A, 1` of `extent(A, 1)`.
    pub mode: Option<String>,
}

impl Variable {
    /// What the text has in the parentheses of `extent(…)` for the extent of this variable.
    pub(crate) fn counted(&self) -> Option<&str> {
        self.mode.as_deref().or(self.written.as_ref().map(|written| written.name.as_str()))
    }
}

/// An index as written. Variables of one name in one statement run over one range, though the sums of different terms are over
/// variables of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The name.
    pub name: String,
    /// The number of the statement in the text.
    pub statement: usize,
}

/// `target operator= value where mask`
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// What is assigned.
    pub target: Access,
    /// `None`: assigned. Else combined with what was there.
    pub operator: Option<ReduceOperator>,
    /// The right-hand side, with every reduction explicit.
    pub value: Expr,
    /// Compute only at the stored coordinates of this tensor.
    pub mask: Option<Access>,
    /// When it runs.
    pub stage: Stage,
    /// The whole statement.
    pub span: Span,
}

/// A tensor at index variables, one a mode, all distinct. `x(2*i + k)` and the second index of `A(i, i)` are variables that are
/// computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Access {
    /// Which tensor.
    pub tensor: TensorId,
    /// Its index variables in mode order.
    pub indices: Vec<IndexVariable>,
    /// What of it is meant.
    pub reads: Reading,
    /// Where.
    pub span: Span,
}

/// What of a place in a tensor is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// The value there.
    Value,
    /// The value of another tensor of the same pattern: the access says only where it is.
    ValueOf(TensorId),
    /// Whether there is an entry, as a `bool`.
    Stored,
}

/// A checked expression. Operands of one operator have one type; conversions are explicit.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A constant.
    Literal(Literal),
    /// A tensor's element.
    Access(Access),
    /// An index variable's value, as an element of this type.
    Index(IndexVariable, ElementType),
    /// An operator before one operand.
    Unary(UnaryOperator, Box<Expr>),
    /// An operator between two operands. Comparisons give `bool`.
    Binary(BinaryOperator, Box<Expr>, Box<Expr>),
    /// A conversion, as Rust's `as`; of real numbers to complex ones too. Truth values are not converted: see
    /// [`Expr::Select`].
    Cast(ElementType, Box<Expr>),
    /// A function.
    Call(Function, Vec<Expr>),
    /// The second where the first (a `bool`) is true, else the third.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A reduction over index variables.
    Reduce(ReduceOperator, Vec<IndexVariable>, Box<Expr>),
}

impl Kernel {
    /// Whether a tensor goes from one round of a `repeat` to the next, ends it, or is made in another stage than it is read in.
    pub(crate) fn crosses(&self, tensor: TensorId) -> bool {
        let Some(repeat) = &self.repeat else { return false };
        let name = &self.tensor(tensor).name;
        let is_fed = repeat.feeds.iter().any(|(old, new)| [old, new].contains(&name));
        let is_rule =
            repeat.until.as_ref().is_some_and(|until| until.result == *name) || repeat.limit.as_ref() == Some(name);
        let made = self.statements.iter().find(|made| made.target.tensor == tensor).map(|made| made.stage);
        let is_read_elsewhere = |reader: &Assignment| {
            made.is_some_and(|made| made != reader.stage) && reader.reads().any(|access| access.tensor == tensor)
        };
        is_fed || is_rule || self.statements.iter().any(is_read_elsewhere)
    }

    /// The type of an expression's value.
    pub fn element_of(&self, expr: &Expr) -> ElementType {
        expr.element(&|tensor| self.tensor(tensor).element.computed())
    }

    /// The declaration of a tensor.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.0]
    }

    /// The name of an index variable.
    pub fn variable(&self, id: IndexVariable) -> &str {
        &self.variables[id.0].name
    }

    /// The same with another schedule.
    pub fn with_schedule(&self, schedule: crate::syntax::Schedule) -> Self {
        Self { schedule: Some(schedule), ..self.clone() }
    }

    /// Whether a statement with this target may write entries of a sparse tensor in another order than that of its levels, which
    /// computed indices tell.
    pub fn scatters(&self, target: &Access) -> bool {
        let value = |index: IndexVariable| self.variables[index.0].value.as_ref();
        scatters(target, &self.tensor(target.tensor).format, &value, &|one, other| alike(&self.variables, *one, *other))
    }

    /// What the target of a statement that assigns it holds before, as far as that can be seen: its fill value. Where a reduction
    /// is assigned to every element of a dense tensor, it may begin as what the reduction does, which then needs no place of its
    /// own.
    pub fn begins_with(&self, statement: &Assignment) -> Literal {
        let target = self.tensor(statement.target.tensor);
        let is_plain = |index: &IndexVariable| self.variables[index.0].value.is_none();
        let own = &statement.target.indices;
        let chooses_terms = |mask: &Access| self.running(&mask.indices).iter().any(|variable| !own.contains(variable));
        let assigns_all = statement.operator.is_none()
            && own.iter().all(is_plain)
            && statement.mask.as_ref().is_none_or(chooses_terms)
            && target.format.is_dense()
            && target.format.mode_order().is_some();
        match &statement.value {
            Expr::Reduce(operator, ..) if assigns_all => operator.identity(target.element).unwrap_or(target.fill),
            _ => target.fill,
        }
    }

    /// The sparse results that store every element, as the right-hand side leaves none out: see
    /// [`FULL_RESULT`](crate::diagnostics::codes::warnings::FULL_RESULT).
    pub fn full_results(&self) -> Vec<TensorId> {
        let mut full = Vec::new();
        for (place, statement) in self.statements.iter().enumerate() {
            let target = statement.target.tensor;
            let updates = self.statements[..place].iter().any(|before| before.target.tensor == target);
            let is_result = self.tensor(target).is_sparse() && self.tensor(target).role == Role::Output;
            if is_result && check::fills(statement, &self.tensors, updates) && !full.contains(&target) {
                full.push(target);
            }
        }
        full
    }

    /// The variables that run over their extents and that `variables` are made of, each once.
    pub fn running(&self, variables: &[IndexVariable]) -> Vec<IndexVariable> {
        running(&self.variables, variables)
    }
}

/// Whether entries of a tensor that is assigned at these indices may come in another order than that of its levels; `value` is
/// how an index is computed, and `alike` whether two variables have one extent.
pub(crate) fn scatters<'v>(
    target: &Access,
    format: &Format,
    value: &dyn Fn(IndexVariable) -> Option<&'v IndexExpr<IndexVariable>>,
    alike: &dyn Fn(&IndexVariable, &IndexVariable) -> bool,
) -> bool {
    let mut computed = target.indices.iter().filter_map(|&index| value(index)).peekable();
    let is_sparse = !format.is_dense();
    let has_dense = || format.levels.iter().any(|level| level.format.kind.is_dense());
    is_sparse && computed.peek().is_some() && (has_dense() || !computed.all(|value| value.ascends(alike).is_some()))
}

/// Whether the text says that two variables have one extent.
pub(crate) fn alike(table: &[Variable], one: IndexVariable, other: IndexVariable) -> bool {
    let written = |variable: IndexVariable| table[variable.0].written.as_ref();
    one == other || written(one).is_some() && written(one) == written(other)
}

/// The variables that run over their extents and that `variables` are made of, each once.
fn running(table: &[Variable], variables: &[IndexVariable]) -> Vec<IndexVariable> {
    let mut found = Vec::new();
    for &variable in variables {
        let made_of = table[variable.0].value.as_ref().map_or(vec![variable], IndexExpr::variables);
        found.extend(made_of.into_iter().filter(|variable| !found.contains(variable)).collect::<Vec<_>>());
    }
    found
}
