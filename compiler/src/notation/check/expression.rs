//! A bare expression of the command line, with `-f` options for its formats.

use super::option::FormatOption;
use super::problems::Problems;
use super::{call, concat, declaration, extents, index_arrays, kernel, packs, summaries, uses};
use crate::diagnostics::{Diagnostic, Span, codes::notation as codes, suggest};
use crate::format::resolve::Definitions;
use crate::ir::ElementType;
use crate::notation::{Kernel, Role};
use crate::syntax::Statement;

/// A tensor or scalar that a bare expression reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// Its name.
    pub name: String,
    /// How many indices the text has for it.
    pub order: usize,
    /// Whether it stands as an index of another: it is stored as `map`, with one mode more.
    pub is_index: bool,
}

/// The tensors and scalars that a bare expression reads, in order of appearance.
pub fn read_by(statement: &Statement) -> Vec<Read> {
    let mut expanded = [summaries::without(statement)];
    let arrays = index_arrays::expand(&mut expanded, &may_be_tensor);
    let uses = uses::of_statement(&expanded[0]);
    let order = |name: &str| uses.iter().filter(|used| used.name.name == name).map(|used| used.order).max();
    let declarations = declaration::of_statement(&expanded[0], &[]);
    let read = declarations.iter().filter(|declaration| declaration.role == Role::Input);
    let read = read.map(|declaration| {
        let (name, is_index) = (declaration.name.to_owned(), arrays.contains(declaration.name));
        Read { order: order(&name).unwrap_or(0) - usize::from(is_index), name, is_index }
    });
    read.collect()
}

/// Whether a name that nothing declares may be that of a tensor: it is like that of no function.
fn may_be_tensor(name: &str) -> bool {
    ![concat::CONCAT, extents::EXTENT].contains(&name) && call::meant(name, None).is_none()
}

/// Checks a bare expression: the kernel `kernel`, whose parameters are what the right-hand side reads, in order of
/// appearance, and whose result is what it assigns. What no option names is dense, or a scalar where it has no indices. The
/// names of formats are those of `definitions`.
///
/// Elements of which no option says the type are `f64`. Where that does not go together with the one type that options say of operands, as
/// `i64` or `c64`, they are of that type. The result is `f64` where that holds every value of its expression, else of the type of its
/// expression.
///
/// # Errors
/// Every problem of the expression and of the options, each list for the text it belongs to.
pub fn check_expression(
    statement: &Statement,
    options: &[FormatOption],
    definitions: &Definitions<'_>,
) -> Result<Kernel, Problems> {
    let operands = options.iter().filter(|option| option.name != statement.target.name.name);
    let said: Vec<ElementType> = operands.filter_map(|option| Some(option.element?.0)).collect();
    let checked = check_with(statement, options, definitions, ElementType::F64);
    match (checked, said.first()) {
        (Err(problems), Some(&only)) if said.iter().all(|said| *said == only) => {
            check_with(statement, options, definitions, only).map_err(|_| problems)
        }
        (checked, _) => checked,
    }
}

/// The same, where elements of operands are of a type if no option says another.
fn check_with(
    statement: &Statement,
    options: &[FormatOption],
    definitions: &Definitions<'_>,
    usual: ElementType,
) -> Result<Kernel, Problems> {
    let mut problems = Problems::new(options.len());
    let mut statement = statement.clone();
    let declared = |name: &str| {
        let option = options.iter().find(|option| option.name == name)?;
        option.format.as_ref().and_then(|format| packs::order(Some(format), definitions))
    };
    packs::expand(std::slice::from_mut(&mut statement), &declared, &mut problems.expression);
    if !problems.is_empty() {
        return Err(problems);
    }
    let has_one = |name: &str| options.iter().any(|option| option.name == name);
    let body = summaries::expand(vec![statement.clone()]);
    let made: Vec<Statement> = body.iter().filter(|statement| statement.is_let).cloned().collect();
    let mut body = concat::expand(body, has_one(concat::CONCAT), &mut problems.expression);
    if !problems.is_empty() {
        return Err(problems);
    }
    extents::calls(&mut body, has_one(extents::EXTENT));
    let is_tensor = |name: &str| has_one(name) || may_be_tensor(name);
    let index_arrays = index_arrays::expand(&mut body, &is_tensor);
    let whole = match &body[..] {
        [one] => one.clone(),
        _ => {
            let mut sum = concat::as_sum(&summaries::without(&statement));
            index_arrays::expand(std::slice::from_mut(&mut sum), &is_tensor);
            sum
        }
    };
    let statement = &whole;
    let mut declarations = declaration::of_statement(statement, options);
    declarations.extend(made.iter().map(declaration::of_let));
    let undeclared = declarations.iter_mut().filter(|it| it.role == Role::Input && it.element.is_none());
    let undeclared = undeclared.filter(|it| !index_arrays.contains(it.name));
    undeclared.filter(|_| usual != ElementType::F64).for_each(|it| it.element = Some((usual, it.span)));
    for (place, option) in options.iter().enumerate() {
        let known = declarations.iter().map(|declaration| declaration.name);
        if options[..place].iter().any(|earlier| earlier.name == option.name) {
            problems.options[place].push(given_twice(option));
        } else if !known.clone().any(|name| name == option.name) {
            problems.options[place].push(unknown_option(option, known));
        }
    }
    let source = kernel::Source {
        name: "kernel",
        name_span: Span::new(statement.span.start, statement.span.start),
        documentation: &[],
        visibility: "pub",
        body: &body,
        index_arrays: &index_arrays,
        repetition: None,
        schedule: None,
    };
    let kernel = kernel::check(&source, &declarations, definitions, &mut problems);
    kernel.filter(|_| problems.is_empty()).ok_or(problems)
}

fn given_twice(option: &FormatOption) -> Diagnostic {
    Diagnostic::new(codes::DUPLICATE_NAME, option.span(), format!("the format of `{}` is given twice", option.name))
        .label("given again")
        .help("remove one of the options")
}

fn unknown_option<'a>(option: &FormatOption, known: impl Iterator<Item = &'a str> + Clone) -> Diagnostic {
    let message = format!("the expression has no tensor `{}`", option.name);
    let unknown = Diagnostic::new(codes::UNKNOWN_NAME, option.span(), message).label("a format for nothing");
    match suggest::similar(&option.name, known.clone()) {
        Some(close) => unknown.help(format!("did you mean `{close}`?")),
        None => unknown.help(format!("its tensors are {}", crate::diagnostics::words::list(known))),
    }
}
