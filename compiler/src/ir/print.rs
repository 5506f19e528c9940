//! The text of a kernel, complete and readable; [`parse`](super::parse()) reads it back.
//!
//! ```text
//! kernel spmv {
//!   /// y(i) = A(i, j) * x(j)
//!   dimension d0 i runtime
//!   tensor t0 A f64 [dense, compressed] (d0, d1) input
//!   array a0 A2_pos index(u32) positions t0 1
//!   variable v0 i index
//!   variable v1 t f64 mutable
//!   body {
//!     for v0:i in 0..d0:i {
//!       let v1:t = 0.0f64
//!       for v2:p in a0:A2_pos[v0:i]..a0:A2_pos[v0:i + 1] {
//! ```
//!
//! Ids are numbers; behind a colon stands the declared name, for the reader. Literals carry their element type. A line
//! break is as good as a space.

use super::precedence::{Place, infix, needs_parentheses};
use super::*;
use std::fmt::{self, Display, Formatter};

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let deterministic = if self.deterministic { " deterministic" } else { "" };
        writeln!(f, "kernel {}{deterministic} {{", Name(&self.name))?;
        for line in &self.documentation {
            line_of_text(f, 1, "///", line)?;
        }
        for (id, dimension) in (0..).map(DimensionId).zip(&self.dimensions) {
            write!(f, "  dimension {id} {} {}", Name(&dimension.name), dimension.size)?;
            if dimension.written != dimension.name {
                write!(f, " written {}", Name(&dimension.written))?;
            }
            writeln!(f)?;
        }
        for bound in &self.bounds {
            writeln!(f, "  bound {bound}")?;
        }
        for operator in self.declared_operators() {
            for definition in operator.definitions() {
                let kernel = definition.kernel();
                let Definition { element, identity, value } = definition;
                writeln!(f, "  monoid {} {element} with {identity} = {}", Name(operator.name()), kernel.show(value))?;
            }
        }
        for (id, tensor) in (0..).map(TensorId).zip(&self.tensors) {
            writeln!(f, "  tensor {id} {tensor}")?;
        }
        for Pivot { output, input, modes } in &self.pivots {
            let modes: Vec<String> = modes.iter().map(ToString::to_string).collect();
            writeln!(f, "  pivot {output} by {input} ({})", modes.join(", "))?;
        }
        for (id, array) in (0..).map(ArrayId).zip(&self.arrays) {
            writeln!(f, "  array {id} {} {} {}", Name(&array.name), array.element, array.role)?;
        }
        for (id, variable) in (0..).map(VariableId).zip(&self.variables) {
            let mutable = if variable.mutable { " mutable" } else { "" };
            writeln!(f, "  variable {id} {} {}{mutable}", Name(&variable.name), variable.ty)?;
        }
        for (counter, choice) in self.choices.iter().filter(|(_, choice)| choice.is_asked()) {
            writeln!(f, "  choice {counter} {} {choice}", Name(&choice.of))?;
        }
        f.write_str("  body ")?;
        block(f, self, 1, &self.body)?;
        f.write_str("\n}\n")
    }
}

impl Kernel {
    /// A node of this kernel as text, with the readable names of what it mentions.
    pub fn show<'a, T: ?Sized>(&'a self, node: &'a T) -> Shown<'a, T> {
        Shown { kernel: self, node }
    }
}

/// A node of a kernel that prints; see [`Kernel::show`].
#[derive(Debug)]
pub struct Shown<'a, T: ?Sized> {
    kernel: &'a Kernel,
    node: &'a T,
}

// Declarations.

/// A name: as it is where it looks like one, else in quotes.
struct Name<'a>(&'a str);

/// Whether a name needs no quotes.
pub(super) fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if is_plain(self.0) { f.write_str(self.0) } else { write!(f, "\"{}\"", escape(self.0).replace('"', "\\q")) }
    }
}

/// `text` on one line: backslashes and line breaks are written `\\`, `\n`, `\r`.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn line_of_text(f: &mut Formatter<'_>, depth: usize, mark: &str, text: &str) -> fmt::Result {
    let space = if text.is_empty() { "" } else { " " };
    writeln!(f, "{:indent$}{mark}{space}{}", "", escape(text), indent = 2 * depth)
}

impl Display for Bound {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.dimension {
            Some(dimension) => write!(f, "{dimension}")?,
            None => f.write_str("number")?,
        }
        write!(f, " {}", self.index.show(&DimensionId::to_string))
    }
}

impl Display for Size {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Size::Runtime => f.write_str("runtime"),
            Size::Constant(size) => write!(f, "{size}"),
            Size::Generic => f.write_str("generic"),
        }
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Type::Index => f.write_str("index"),
            Type::Bool => f.write_str("bool"),
            Type::Element(element) => write!(f, "{element}"),
        }
    }
}

impl Display for ArrayElement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ArrayElement::Index(width) => write!(f, "index({})", width.name()),
            ArrayElement::Value(element) => write!(f, "{element}"),
        }
    }
}

impl Display for ArrayRole {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ArrayRole::Positions { tensor, level } => write!(f, "positions {tensor} {level}"),
            ArrayRole::Coordinates { tensor, level } => write!(f, "coordinates {tensor} {level}"),
            ArrayRole::Values { tensor } => write!(f, "values {tensor}"),
            ArrayRole::Local => f.write_str("local"),
        }
    }
}

impl Display for Tensor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let dimensions: Vec<String> = self.dimensions.iter().map(DimensionId::to_string).collect();
        let Self { element, format, fill, source, .. } = self;
        write!(f, "{} {element} {format} ({}) {source}", Name(&self.name), dimensions.join(", "))?;
        self.pattern.map_or(Ok(()), |other| write!(f, " pattern {other}"))?;
        if *fill != element.zero() {
            write!(f, " fill {fill}")?;
        }
        self.delivered.as_ref().map_or(Ok(()), |delivered| write!(f, " delivered {delivered}"))?;
        self.listed.map_or(Ok(()), |operator| write!(f, " listed {operator}"))
    }
}

impl Display for Source {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Source::Input => f.write_str("input"),
            Source::SortedCopy { of } => write!(f, "sorted {of}"),
            Source::Permutation { of } => write!(f, "permutation {of}"),
            Source::Output { structure, initial } => {
                match structure {
                    Structure::Dense => f.write_str("output dense")?,
                    Structure::Shared { operand, levels } => write!(f, "output shared {operand} {levels}")?,
                    Structure::Appended => f.write_str("output appended")?,
                }
                match initial {
                    Initial::Filled(literal) if *literal == literal.zero() => f.write_str(" zero"),
                    Initial::Filled(literal) => write!(f, " filled {literal}"),
                    Initial::Overwritten => f.write_str(" overwritten"),
                    Initial::Empty => f.write_str(" empty"),
                }
            }
        }
    }
}

// Operators and literals.

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Literal::Float(element, value) if value.is_nan() && value.to_bits() != f64::NAN.to_bits() => {
                write!(f, "NaN({}){element}", value.to_bits())
            }
            Literal::Float(element @ (ElementType::F32 | ElementType::C32), value)
                if f64::from(value as f32) == value =>
            {
                write!(f, "{:?}{element}", value as f32)
            }
            Literal::Float(element, value) => write!(f, "{value:?}{element}"),
            Literal::Integer(element, value) => write!(f, "{value}{element}"),
        }
    }
}

// Mentions of declared things.

fn mention(f: &mut Formatter<'_>, id: impl Display, name: Option<&String>) -> fmt::Result {
    write!(f, "{id}")?;
    match name {
        Some(name) if is_plain(name) => write!(f, ":{name}"),
        _ => Ok(()),
    }
}

impl Display for Shown<'_, VariableId> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        mention(f, self.node, self.kernel.variables.get(self.node.index()).map(|variable| &variable.name))
    }
}

impl Display for Shown<'_, ArrayId> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        mention(f, self.node, self.kernel.arrays.get(self.node.index()).map(|array| &array.name))
    }
}

impl Display for Shown<'_, DimensionId> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        mention(f, self.node, self.kernel.dimensions.get(self.node.index()).map(|dimension| &dimension.name))
    }
}

// Expressions.

impl Shown<'_, Expr> {
    fn operand(&self, f: &mut Formatter<'_>, operand: &Expr, place: Place) -> fmt::Result {
        let shown = self.kernel.show(operand);
        if needs_parentheses(operand, place) { write!(f, "({shown})") } else { write!(f, "{shown}") }
    }

    fn call(&self, f: &mut Formatter<'_>, name: &str, arguments: &[&Expr]) -> fmt::Result {
        write!(f, "{name}(")?;
        for (n, argument) in arguments.iter().enumerate() {
            let separator = if n == 0 { "" } else { ", " };
            write!(f, "{separator}{}", self.kernel.show(*argument))?;
        }
        f.write_str(")")
    }
}

impl Display for Shown<'_, Term> {
    /// What is between two terms stands in parentheses, always.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kernel = self.kernel;
        match self.node {
            Term::Load(Factor::Run(run)) => write!(f, "{}", kernel.show(run)),
            Term::Load(Factor::At { of, run, filled }) => {
                let at = if *filled { "at filled" } else { "at" };
                write!(f, "{} {at} {}", kernel.show(of), kernel.show(run))
            }
            Term::Same(value) => write!(f, "same({})", kernel.show(&**value)),
            Term::Binary(operator, left, right) => {
                write!(f, "({} {} {})", kernel.show(&**left), operator.symbol(), kernel.show(&**right))
            }
            Term::Call(function, left, right) => {
                write!(f, "{}({}, {})", function.name(), kernel.show(&**left), kernel.show(&**right))
            }
        }
    }
}

impl Display for Shown<'_, Expr> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kernel = self.kernel;
        match self.node {
            Expr::Index(value) => write!(f, "{value}"),
            Expr::Bool(value) => write!(f, "{value}"),
            Expr::Literal(literal) => write!(f, "{literal}"),
            Expr::Variable(id) => write!(f, "{}", kernel.show(id)),
            Expr::Dimension(id) => write!(f, "{}", kernel.show(id)),
            Expr::Length(array) => write!(f, "length({})", kernel.show(array)),
            Expr::Load(array, index) => write!(f, "{}[{}]", kernel.show(array), kernel.show(&**index)),
            Expr::Unary(operator, operand) => {
                f.write_str(match operator {
                    UnaryOperator::Negate => "-",
                    UnaryOperator::Not => "!",
                })?;
                self.operand(f, operand, Place::Unary)
            }
            Expr::Binary(operator, left, right) => match infix(*operator) {
                Some((sign, own)) => {
                    self.operand(f, left, Place::Left(own))?;
                    write!(f, " {sign} ")?;
                    self.operand(f, right, Place::Right(own))
                }
                None => self.call(f, operator.symbol(), &[left, right]),
            },
            Expr::Call(function, arguments) => self.call(f, function.name(), &arguments.iter().collect::<Vec<_>>()),
            Expr::Select(condition, one, other) => self.call(f, "select", &[condition, one, other]),
            Expr::Cast(ty, operand) => {
                self.operand(f, operand, Place::Cast)?;
                write!(f, " as {ty}")
            }
            Expr::Search { array, begin, end, value, stride, find } => {
                write!(f, "{}({}, ", find.name(), kernel.show(array))?;
                write!(f, "{}, {}, {}", kernel.show(&**begin), kernel.show(&**end), kernel.show(&**value))?;
                if *stride == 1 { write!(f, ")") } else { write!(f, "; {stride})") }
            }
            Expr::Fold(operator, term) => write!(f, "fold({operator}, {})", kernel.show(&**term)),
            Expr::Mask { part, extents } => {
                let extents: Vec<String> = extents.iter().map(|extent| kernel.show(extent).to_string()).collect();
                write!(f, "mask({part}; {})", extents.join(", "))
            }
        }
    }
}

// Statements.

impl Display for Shown<'_, Statement> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        statement(f, self.kernel, 0, self.node)
    }
}

/// Statements in braces, of which the closing one stands `depth` steps in.
fn block(f: &mut Formatter<'_>, kernel: &Kernel, depth: usize, body: &[Statement]) -> fmt::Result {
    if body.is_empty() {
        return f.write_str("{}");
    }
    f.write_str("{\n")?;
    for inner in body {
        statement(f, kernel, depth + 1, inner)?;
    }
    write!(f, "{:indent$}}}", "", indent = 2 * depth)
}

/// One statement and the line break behind it.
fn statement(f: &mut Formatter<'_>, kernel: &Kernel, depth: usize, node: &Statement) -> fmt::Result {
    if let Statement::Comment(text) = node {
        return line_of_text(f, depth, "//", text);
    }
    write!(f, "{:indent$}", "", indent = 2 * depth)?;
    let variable = |id| kernel.show::<VariableId>(id);
    let array = |id| kernel.show::<ArrayId>(id);
    let expr = |e| kernel.show::<Expr>(e);
    match node {
        Statement::Comment(_) => Ok(()),
        Statement::Let(id, value) => write!(f, "let {} = {}", variable(id), expr(value)),
        Statement::Assign(id, value) => write!(f, "{} = {}", variable(id), expr(value)),
        Statement::Update(id, operator, value) => write!(f, "{} {operator}= {}", variable(id), expr(value)),
        Statement::Store(id, index, value) => write!(f, "{}[{}] = {}", array(id), expr(index), expr(value)),
        Statement::Reduce(id, index, operator, value) => {
            write!(f, "{}[{}] {operator}= {}", array(id), expr(index), expr(value))
        }
        Statement::Allocate { array: id, length, fill } => {
            write!(f, "allocate {}[{}] = {}", array(id), expr(length), expr(fill))
        }
        Statement::Folds { totals, terms, between } => {
            write!(f, "folds {} = {}", array(totals), expr(terms))?;
            between.iter().try_for_each(|positions| write!(f, " between {}", array(positions)))
        }
        Statement::Fill(id, value) => write!(f, "fill {} = {}", array(id), expr(value)),
        Statement::View { array: id, of, begin, length, mutable } => {
            let mutable = if *mutable { "mutable " } else { "" };
            write!(f, "view {mutable}{} of {} from {} length {}", array(id), array(of), expr(begin), expr(length))
        }
        Statement::Numbers { array: id, codes, mask, below } => {
            write!(f, "numbers {} of {} at {} below {}", array(id), array(codes), expr(mask), expr(below))
        }
        Statement::List(id) => write!(f, "list {}", array(id)),
        Statement::Table { table, extent } => write!(f, "table {} of {}", array(table), expr(extent)),
        Statement::Insert { place, key, keys, table } => {
            write!(f, "insert {} = {} in {} by {}", variable(place), expr(key), array(keys), array(table))
        }
        Statement::Sort { keys, places, table } => {
            write!(f, "sort {} from {}", array(keys), array(places))?;
            table.as_ref().map_or(Ok(()), |table| write!(f, " by {}", array(table)))
        }
        Statement::Clear(id) => write!(f, "clear {}", array(id)),
        Statement::Reset { keys, table } => write!(f, "reset {} by {}", array(keys), array(table)),
        Statement::Directory { directory, positions, coordinates, extent, sought } => {
            let [directory, positions, coordinates, sought] = [directory, positions, coordinates, sought].map(array);
            let extent = expr(extent);
            write!(f, "directory {directory} of {coordinates} by {positions} below {extent} for {sought}")
        }
        Statement::Bitmap { bitmap, extent } => write!(f, "bitmap {} of {}", array(bitmap), expr(extent)),
        Statement::Mark(id, key) => write!(f, "mark {}, {}", array(id), expr(key)),
        Statement::Marked { variable: id, bitmap, body } => {
            write!(f, "marked {} in {} ", variable(id), array(bitmap))?;
            block(f, kernel, depth, body)
        }
        Statement::Push(id, value) => write!(f, "push {}, {}", array(id), expr(value)),
        Statement::Extend { array: id, count, fill } => {
            write!(f, "extend {}, {}, {}", array(id), expr(count), expr(fill))
        }
        Statement::For { variable: id, begin, end, vector, body } => {
            let vector = if *vector { "vector " } else { "" };
            write!(f, "for {} in {}..{} {vector}", variable(id), expr(begin), expr(end))?;
            block(f, kernel, depth, body)
        }
        Statement::While(condition, body) => {
            write!(f, "while {} ", expr(condition))?;
            block(f, kernel, depth, body)
        }
        Statement::Merge(merge) => merging(f, kernel, depth, merge),
        Statement::If(branches, otherwise) => branching(f, kernel, depth, branches, otherwise),
        Statement::Parallel(node) => parallel(f, kernel, depth, node),
    }?;
    f.write_str("\n")
}

fn merging(f: &mut Formatter<'_>, kernel: &Kernel, depth: usize, merge: &Merge) -> fmt::Result {
    write!(f, "merge {} of ", kernel.show(&merge.coordinate))?;
    for (number, Walk { place, run, begin, end, at }) in merge.walks.iter().enumerate() {
        let comma = if number == 0 { "" } else { ", " };
        write!(f, "{comma}{}", kernel.show(place))?;
        run.iter().try_for_each(|run| write!(f, "..{}", kernel.show(run)))?;
        write!(f, " in {}..{} at {}", kernel.show(begin), kernel.show(end), kernel.show(at))?;
    }
    if let Some(look_up) = &merge.directory {
        write!(f, " by {}[{}]", kernel.show(&look_up.directory), kernel.show(&look_up.parent))?;
    }
    for point in &merge.points {
        let places = point.operands.iter().map(|list| kernel.show(&merge.walks[list].place).to_string());
        write!(f, " where {} ", places.collect::<Vec<String>>().join(", "))?;
        block(f, kernel, depth, &point.body)?;
    }
    Ok(())
}

fn branching(
    f: &mut Formatter<'_>,
    kernel: &Kernel,
    depth: usize,
    branches: &[(Expr, Vec<Statement>)],
    otherwise: &[Statement],
) -> fmt::Result {
    for (n, (condition, body)) in branches.iter().enumerate() {
        write!(f, "{}if {} ", if n == 0 { "" } else { " else " }, kernel.show(condition))?;
        block(f, kernel, depth, body)?;
    }
    match (branches.is_empty(), otherwise.is_empty()) {
        (false, true) => Ok(()),
        (no_branch, _) => {
            f.write_str(if no_branch { "if else " } else { " else " })?;
            block(f, kernel, depth, otherwise)
        }
    }
}

/// A parallel loop: its clauses, one a line, then its body.
fn parallel(f: &mut Formatter<'_>, kernel: &Kernel, depth: usize, node: &Parallel) -> fmt::Result {
    let Parallel { begin, end, low, high, work, aligned, is_bounded, sharing, reductions, body, uneven } = node;
    let (low, high) = (kernel.show(low), kernel.show(high));
    write!(f, "parallel {low}..{high} in {}..{}", kernel.show(begin), kernel.show(end))?;
    let mut clauses = Vec::new();
    if let Some(Work { place, before, is_all }) = work {
        let all = if *is_all { "all " } else { "" };
        clauses.push(format!("work {all}{} -> {}", kernel.show(place), kernel.show(before)));
    }
    if let Some(array) = aligned {
        clauses.push(format!("aligned {}", kernel.show(array)));
    }
    if *is_bounded {
        clauses.push("bounded".to_owned());
    }
    for (array, how) in sharing {
        clauses.push(format!("sharing {} {}", kernel.show(array), kernel.show(how)));
    }
    for (variable, operator) in reductions {
        clauses.push(format!("reducing {} {operator}", kernel.show(variable)));
    }
    for clause in &clauses {
        write!(f, "\n{:indent$}{clause}", "", indent = 2 * depth + 4)?;
    }
    if clauses.is_empty() {
        f.write_str(" ")?;
    } else {
        write!(f, "\n{:indent$}", "", indent = 2 * depth)?;
    }
    block(f, kernel, depth, body)?;
    uneven.as_ref().map_or(Ok(()), |other| {
        f.write_str(" uneven ")?;
        parallel(f, kernel, depth, other)
    })
}

impl Display for Shown<'_, Sharing> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kernel = self.kernel;
        match self.node {
            Sharing::Owned { place, start } => write!(f, "owned {} -> {}", kernel.show(place), kernel.show(start)),
            Sharing::Segmented { place, start, length, operator, anew } => {
                let (place, start, length) = (kernel.show(place), kernel.show(start), kernel.show(length));
                let anew = if *anew { " anew" } else { "" };
                write!(f, "segmented {operator} {place} -> {start} length {length}{anew}")
            }
            Sharing::Private(operator) => write!(f, "private {operator}"),
            Sharing::Joined { positions_of: None } => f.write_str("joined"),
            Sharing::Joined { positions_of: Some(array) } => write!(f, "joined positions {}", kernel.show(array)),
        }
    }
}
