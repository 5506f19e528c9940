//! The syntax tree: what the text says, nothing resolved.

use crate::diagnostics::Span;
use crate::format::SymmetryKind;
use crate::ir::ElementType;
pub use crate::ir::{BinaryOperator, UnaryOperator};

/// A name and where it stands. One that ends in `...` is a pack: it stands for several indices, which [`packs`](super::packs) puts
/// in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

impl Ident {
    /// Whether it stands for several indices: `i...`.
    pub fn is_pack(&self) -> bool {
        self.name.ends_with(PACK)
    }
}

/// What a pack ends in.
pub const PACK: &str = "...";

/// A whole text: kernels and definitions of formats, functions and monoids, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Program {
    /// The items, in order.
    pub items: Vec<Item>,
}

/// One item of a program.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// `fn name(…) -> … { … }`
    Kernel(Kernel),
    /// `format name(B) = (i, j) -> […];`
    Format(FormatDefinition),
    /// `fn relu(v) = select(v > 0, v, 0);`
    Function(FunctionDefinition),
    /// `monoid join(a, b) = a + b - a * b with 0;`
    Monoid(MonoidDefinition),
}

impl Item {
    /// Whether kernels are written in terms of it: a format, a function, a monoid.
    pub fn is_definition(&self) -> bool {
        !matches!(self, Item::Kernel(_))
    }

    /// Its name.
    pub fn name(&self) -> &Ident {
        match self {
            Item::Kernel(kernel) => &kernel.name,
            Item::Format(definition) => &definition.name,
            Item::Function(definition) => &definition.name,
            Item::Monoid(definition) => &definition.name,
        }
    }
}

/// A function of values: a call stands for the body in parentheses, with the arguments in the places of the parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionDefinition {
    /// The lines of its `///` comment.
    pub documentation: Vec<String>,
    /// Its name.
    pub name: Ident,
    /// Names of its arguments.
    pub parameters: Vec<Ident>,
    /// What a call stands for.
    pub body: Expr,
    /// The whole.
    pub span: Span,
}

/// An operator of reductions: what it makes of two values, and the value that changes nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct MonoidDefinition {
    /// The lines of its `///` comment.
    pub documentation: Vec<String>,
    /// Its name.
    pub name: Ident,
    /// Names of the two values.
    pub parameters: Vec<Ident>,
    /// What it makes of them.
    pub body: Expr,
    /// What changes nothing.
    pub identity: Expr,
    /// The whole.
    pub span: Span,
}

/// A kernel. A bare expression on the command line becomes one whose parameters come from `-f` options.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// The lines of its `///` comment.
    pub documentation: Vec<String>,
    /// The text of its visibility (`pub`, `pub(crate)`), empty when private.
    pub visibility: String,
    /// Its name.
    pub name: Ident,
    /// Operands, in order.
    pub parameters: Vec<Parameter>,
    /// Results, in order; one or more.
    pub results: Vec<Parameter>,
    /// Statements, in order.
    pub body: Vec<Statement>,
    /// How those of [`Stage::Round`] are repeated.
    pub repeat: Option<Repeat>,
    /// The `schedule { … }` block.
    pub schedule: Option<Schedule>,
    /// From `fn` to the closing brace.
    pub span: Span,
}

/// `repeat n until change < 1e-6 or 100 { … }`: some statements of a kernel run again and again. In the next round, `x` is what `x'` is in
/// this one.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeat {
    /// The name of the number of rounds.
    pub counter: Option<Ident>,
    /// What ends it, once it holds after a round.
    pub until: Option<Expr>,
    /// The most rounds, where a number says it.
    pub most: Option<u64>,
    /// The name of that number, where one says it.
    pub limit: Option<Ident>,
    /// From `repeat` to the opening brace.
    pub span: Span,
}

/// When a statement of a kernel runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Once; of a kernel with a `repeat`, before it.
    #[default]
    Before,
    /// In each round of the kernel's `repeat`.
    Round,
    /// After the last round.
    After,
}

/// What ends the name of a value in the next round: `x'`.
pub const NEXT: char = '\'';

/// `X: f32 csf`, `alpha: f64`.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// The tensor's name.
    pub name: Ident,
    /// The element type, where one is written.
    pub element: Option<(ElementType, Span)>,
    /// The format; absent for a scalar.
    pub format: Option<FormatExpr>,
    /// The whole declaration.
    pub span: Span,
}

/// A storage format as written.
#[derive(Debug, Clone, PartialEq)]
pub struct FormatExpr {
    /// The value of a missing entry, where one is written: a number, `true`, `false`, `inf` or `nan`, with or without a `-`.
    pub fill: Option<Box<Expr>>,
    /// What is said of the tensor's size, for plans.
    pub hints: Vec<Hint>,
    /// Which modes may be exchanged, where the text says it.
    pub symmetry: Option<SymmetryExpr>,
    /// What it says.
    pub kind: FormatExprKind,
    /// Where.
    pub span: Span,
}

/// `symmetric(i, j)`
#[derive(Debug, Clone, PartialEq)]
pub struct SymmetryExpr {
    /// What becomes of a value when modes are exchanged.
    pub kind: SymmetryKind,
    /// The modes; none where all are meant.
    pub modes: Vec<Ident>,
    /// The whole of it.
    pub span: Span,
}

/// `nnz 1e6`, `extent(1000, 500)`: what a plan may take for true of a tensor. It changes no result.
#[derive(Debug, Clone, PartialEq)]
pub struct Hint {
    /// What it is about.
    pub kind: HintKind,
    /// The numbers as they are written.
    pub numbers: Vec<(String, Span)>,
    /// The whole hint.
    pub span: Span,
}

/// What a hint is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HintKind {
    /// The stored entries.
    Entries,
    /// The fibers of the last mode in the order of storage that have entries.
    Fibers,
    /// The extent of each mode.
    Extents,
    /// How many modes there are, which is no estimate: it tells for how many indices `i...` stands.
    Order,
}

impl HintKind {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            HintKind::Entries => "nnz",
            HintKind::Fibers => "fibers",
            HintKind::Extents => "extent",
            HintKind::Order => "order",
        }
    }
}

/// The three ways to write a format.
#[derive(Debug, Clone, PartialEq)]
pub enum FormatExprKind {
    /// `[dense, compressed]`: a level for each mode, in order.
    Levels(Vec<LevelExpr>),
    /// `(i, j) -> [j: dense, i: compressed]`
    Map(FormatMap),
    /// `csf`, `bcsr(4)`
    Named {
        /// The format's name.
        name: Ident,
        /// Its arguments.
        arguments: Vec<FormatArgument>,
    },
}

/// `(i, j...) -> [i: dense, j...: compressed]`
#[derive(Debug, Clone, PartialEq)]
pub struct FormatMap {
    /// The tensor's modes.
    pub modes: Vec<MapMode>,
    /// What each level stores, outermost first.
    pub levels: Vec<MapLevel>,
}

/// A mode of a map; with `...` it stands for any number of modes, none included.
#[derive(Debug, Clone, PartialEq)]
pub struct MapMode {
    /// Its name.
    pub name: Ident,
    /// Whether `...` follows.
    pub variadic: bool,
}

/// `i / B: dense`; with `...` after the coordinate, one level for each mode the name stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct MapLevel {
    /// The coordinate that the level stores, in terms of the modes.
    pub coordinate: Expr,
    /// Whether `...` follows the coordinate.
    pub variadic: bool,
    /// How it is stored.
    pub level: LevelExpr,
}

/// `compressed(nonunique, u16)`
#[derive(Debug, Clone, PartialEq)]
pub struct LevelExpr {
    /// The level format's name.
    pub name: Ident,
    /// What stands in the parentheses.
    pub arguments: Vec<FormatArgument>,
    /// The whole.
    pub span: Span,
}

/// An argument of a format or level: a word, a number, or `word = word` and `word = number`.
#[derive(Debug, Clone, PartialEq)]
pub enum FormatArgument {
    /// `nonunique`, `u16`, `B`
    Word(Ident),
    /// `128`
    Number(u64, Span),
    /// `pos = u64`, `width = 2`: a word and a word or number
    Setting(Ident, Box<FormatArgument>),
}

impl FormatArgument {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            FormatArgument::Word(word) => word.span,
            FormatArgument::Number(_, span) => *span,
            FormatArgument::Setting(key, value) => key.span.to(value.span()),
        }
    }
}

/// `format bcsr(B) = (i, j) -> [i / B: dense, …];`
#[derive(Debug, Clone, PartialEq)]
pub struct FormatDefinition {
    /// The lines of its `///` comment.
    pub documentation: Vec<String>,
    /// Its name.
    pub name: Ident,
    /// Names of its arguments.
    pub parameters: Vec<Ident>,
    /// What it stands for.
    pub map: FormatMap,
    /// The whole.
    pub span: Span,
}

/// `A(i, r) += X(i, j, k) * B(j, r) where M(i, j);`, or `let T(i, j): f32 csr = …;`
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// Whether it begins with `let`.
    pub is_let: bool,
    /// What is assigned.
    pub target: Access,
    /// The element type of a `let`, where one is written.
    pub element: Option<(ElementType, Span)>,
    /// The format of a `let`, where one is written.
    pub format: Option<FormatExpr>,
    /// How.
    pub operator: AssignOperator,
    /// Where the operator stands.
    pub operator_span: Span,
    /// The right-hand side.
    pub value: Expr,
    /// The tensor after `where`.
    pub mask: Option<Access>,
    /// What else must hold there: `i < j`.
    pub condition: Option<Expr>,
    /// When it runs.
    pub stage: Stage,
    /// The whole statement.
    pub span: Span,
}

/// How a statement updates its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssignOperator {
    /// `=`
    Assign,
    /// `+=`, `min=`, …
    Reduce(crate::ir::ReduceOperator),
}

impl AssignOperator {
    /// `=`, or the sign for combining with what was there.
    pub fn of(operator: Option<crate::ir::ReduceOperator>) -> Self {
        operator.map_or(AssignOperator::Assign, AssignOperator::Reduce)
    }
}

/// `A(i, 3..7)`; a scalar has no indices.
#[derive(Debug, Clone, PartialEq)]
pub struct Access {
    /// The tensor's name.
    pub name: Ident,
    /// Its indices, in mode order.
    pub indices: Vec<Index>,
    /// The whole.
    pub span: Span,
}

/// One index of an access.
#[derive(Debug, Clone, PartialEq)]
pub enum Index {
    /// `i`, `2*i + k`
    Expr(Expr),
    /// `3..7`: a window
    Range {
        /// First index.
        start: Expr,
        /// One past the last.
        end: Expr,
        /// The whole.
        span: Span,
    },
}

impl Directive {
    /// Whether it is `plan(as_written)`.
    pub fn is_as_written(&self) -> bool {
        let argument = self.arguments.first().filter(|_| self.choices.iter().all(|(place, _)| *place != 0));
        self.name.name == "plan"
            && argument.is_some_and(|of| matches!(&of.kind, ExprKind::Name(name) if name.name == "as_written"))
    }

    /// The temporary that `plan(keep(T))` has made, whatever plans do with the rest.
    pub fn kept(&self) -> Option<&Ident> {
        let [Expr { kind, .. }] = &self.arguments[..] else { return None };
        let of = match kind {
            ExprKind::Call(name, arguments) if name.name == "keep" => {
                arguments.first().filter(|_| arguments.len() == 1)
            }
            ExprKind::Access(Access { name, indices, .. }) if name.name == "keep" => match &indices[..] {
                [Index::Expr(of)] => Some(of),
                _ => None,
            },
            _ => None,
        };
        match &of?.kind {
            ExprKind::Name(name) if self.name.name == "plan" => Some(name),
            _ => None,
        }
    }
}

/// An expression and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it says.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

impl Expr {
    /// The expressions that it is made of, but for those in the parentheses of an access.
    pub fn children(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Number { .. } | ExprKind::Bool(_) | ExprKind::Name(_) | ExprKind::Access(_) => Vec::new(),
            ExprKind::Unary(_, operand) => vec![operand],
            ExprKind::Binary(_, left, right) => vec![left, right],
            ExprKind::Call(_, arguments) => arguments.iter().collect(),
            ExprKind::Reduce { body, .. } => vec![body],
        }
    }

    /// The same, to be changed.
    pub fn children_mut(&mut self) -> Vec<&mut Expr> {
        match &mut self.kind {
            ExprKind::Number { .. } | ExprKind::Bool(_) | ExprKind::Name(_) | ExprKind::Access(_) => Vec::new(),
            ExprKind::Unary(_, operand) => vec![operand],
            ExprKind::Binary(_, left, right) => vec![left, right],
            ExprKind::Call(_, arguments) => arguments.iter_mut().collect(),
            ExprKind::Reduce { body, .. } => vec![body],
        }
    }

    /// Visits every name that may be a tensor's, those among indices too.
    pub(crate) fn for_each_name_mut(&mut self, visit: &mut dyn FnMut(&mut Ident)) {
        match &mut self.kind {
            ExprKind::Name(name) => visit(name),
            ExprKind::Access(access) => access.for_each_name_mut(visit),
            _ => self.children_mut().into_iter().for_each(|child| child.for_each_name_mut(visit)),
        }
    }
}

impl Access {
    /// Visits its name and those among its indices that may be tensors'.
    pub(crate) fn for_each_name_mut(&mut self, visit: &mut dyn FnMut(&mut Ident)) {
        visit(&mut self.name);
        for index in &mut self.indices {
            match index {
                Index::Expr(expr) => expr.for_each_name_mut(visit),
                Index::Range { start, end, .. } => {
                    start.for_each_name_mut(visit);
                    end.for_each_name_mut(visit);
                }
            }
        }
    }
}

impl Statement {
    /// Visits every name that may be a tensor's, first that of the target.
    pub(crate) fn for_each_name_mut(&mut self, visit: &mut dyn FnMut(&mut Ident)) {
        self.target.for_each_name_mut(visit);
        self.value.for_each_name_mut(visit);
        self.mask.iter_mut().for_each(|mask| mask.for_each_name_mut(visit));
        self.condition.iter_mut().for_each(|condition| condition.for_each_name_mut(visit));
    }
}

/// The kinds of expression.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// `3`, `1e-3`, `2f32`: the text is kept until the element type is known.
    Number {
        /// Digits, without underscores and suffix.
        digits: String,
        /// A suffix such as `f32`.
        suffix: Option<ElementType>,
    },
    /// `true`, `false`
    Bool(bool),
    /// A bare name: an index variable or a scalar.
    Name(Ident),
    /// `X(i, j)`
    Access(Access),
    /// `-a`, `!a`
    Unary(UnaryOperator, Box<Expr>),
    /// `a + b`
    Binary(BinaryOperator, Box<Expr>, Box<Expr>),
    /// `min(a, b)`, `sqrt(a)`, `select(c, a, b)`: any call whose name is a function's.
    Call(Ident, Vec<Expr>),
    /// `sum(k)(…)`: an explicit reduction.
    Reduce {
        /// The operator: `sum` is addition.
        operator: crate::ir::ReduceOperator,
        /// Whether the index is meant at which the reduction has its value: `argmin` of `min`, `argmax` of `max`.
        place: bool,
        /// Over which index variables.
        variables: Vec<Ident>,
        /// Of what.
        body: Box<Expr>,
    },
}

/// The name of the call that stands for `value where condition` in a reduction. It is a word of the language, so that no function has it.
pub(crate) const WHERE: &str = "where";

/// The words of reductions that give an index, each with the operator whose value is looked for.
pub(crate) const PLACES: [(&str, crate::ir::ReduceOperator); 2] =
    [("argmin", crate::ir::ReduceOperator::Min), ("argmax", crate::ir::ReduceOperator::Max)];

/// The words that are made of several reductions: they are calls, of their variables and then of what they are of.
pub(crate) const SUMMARIES: [&str; 5] = ["mean", "var", "norm2", "logsumexp", "softmax"];

/// `schedule { split(k, k0, k1, 32); parallel(p); }`
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// The directives, in order.
    pub directives: Vec<Directive>,
    /// The whole block.
    pub span: Span,
}

/// One directive: a name, arguments (names, numbers, accesses), and what is said of some of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Directive {
    /// The tensor that is made by the statement which it is said of: `y` in `on y { … }`; of all statements where there is none.
    pub scope: Option<Ident>,
    /// Which.
    pub name: Ident,
    /// Its arguments.
    pub arguments: Vec<Expr>,
    /// What follows a colon, each with the place of the argument that it is said of: `lanes(8)` in `simd(j: lanes(8))`.
    pub choices: Vec<(usize, Expr)>,
    /// The whole.
    pub span: Span,
}
