//! What a declaration says of a tensor's size.

use super::declaration::Declaration;
use super::problems::Problems;
use crate::diagnostics::{Diagnostic, codes::notation as codes, words};
use crate::format::Format;
use crate::notation::Hints;
use crate::syntax::{Hint, HintKind};

/// The hints of a declaration, where they fit the format and one another.
pub(super) fn check(declaration: &Declaration<'_>, format: &Format, problems: &mut Problems) -> Hints {
    let mut hints = Hints::default();
    let written: &[Hint] = declaration.format.map_or(&[], |format| &format.hints);
    for (place, hint) in written.iter().enumerate() {
        let earlier = written[..place].iter().find(|earlier| earlier.kind == hint.kind);
        let found = match earlier {
            Some(earlier) => Err(refused(hint, format!("`{}` is said twice", hint.kind.name()))
                .related(earlier.span, "said first here")
                .help("keep one of them")),
            None => add(&mut hints, hint, format),
        };
        if let Err(problem) = found {
            problems.push(declaration.origin, problem);
        }
    }
    hints
}

fn refused(hint: &Hint, message: String) -> Diagnostic {
    Diagnostic::new(codes::WRONG_HINT, hint.span, message)
}

/// Adds a hint to those before.
fn add(hints: &mut Hints, hint: &Hint, format: &Format) -> Result<(), Diagnostic> {
    let name = hint.kind.name();
    let numbers = hint.numbers.iter().map(|(text, span)| {
        whole(text).ok_or_else(|| {
            Diagnostic::new(codes::WRONG_HINT, *span, format!("`{text}` is no number of {}", counted(hint.kind)))
                .label("not a whole number")
                .help(format!("write a whole number without a type, as `{name}{}`", example(hint.kind)))
        })
    });
    let numbers: Vec<u64> = numbers.collect::<Result<_, _>>()?;
    match hint.kind {
        HintKind::Extents if numbers.len() != format.order => {
            let given = words::count(numbers.len(), "extent");
            let message = format!("{given} for a tensor of {}", words::count(format.order, "mode"));
            return Err(refused(hint, message).label("needs one for each mode"));
        }
        HintKind::Extents => hints.extents = numbers,
        HintKind::Order => match numbers.first() {
            Some(&number) if number == format.order as u64 => {}
            _ => {
                let modes = words::count(format.order, "mode");
                return Err(refused(hint, format!("the tensor has {modes} here")).label("another number of modes"));
            }
        },
        _ if format.is_dense() => {
            let message = format!("`{name}` is said of a dense tensor, which stores every element");
            return Err(refused(hint, message).help("say `extent(…)` for its size, or declare a sparse format"));
        }
        HintKind::Fibers if format.order < 2 => {
            return Err(refused(hint, "a tensor of one mode is one fiber".to_owned()).help("leave `fibers` out"));
        }
        HintKind::Fibers => hints.fibers = numbers.first().copied(),
        HintKind::Entries => hints.entries = numbers.first().copied(),
    }
    if let (Some(fibers), Some(entries)) = (hints.fibers, hints.entries)
        && fibers > entries
    {
        let message = format!("{fibers} fibers can't have entries where there are {entries}");
        return Err(refused(hint, message).help("fibers without entries do not count"));
    }
    let places = hints.extents.iter().map(|&extent| extent as f64).product::<f64>();
    if let Some(entries) = hints.entries.filter(|&entries| !hints.extents.is_empty() && entries as f64 > places) {
        let message = format!("{entries} entries have no room in {places} places");
        return Err(refused(hint, message).label("more than the product of the extents"));
    }
    Ok(())
}

/// `1e6`, `20_000`
fn whole(text: &str) -> Option<u64> {
    let number: f64 = text.replace('_', "").parse().ok()?;
    (number.fract() == 0.0 && (0.0..=9e15).contains(&number)).then_some(number as u64)
}

fn counted(kind: HintKind) -> &'static str {
    match kind {
        HintKind::Entries => "entries",
        HintKind::Fibers => "fibers",
        HintKind::Extents => "coordinates",
        HintKind::Order => "modes",
    }
}

fn example(kind: HintKind) -> &'static str {
    match kind {
        HintKind::Extents => "(1000, 500)",
        HintKind::Order => " 3",
        HintKind::Entries | HintKind::Fibers => " 1e6",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{notation, syntax};

    fn checked(declared: &str) -> Result<Hints, String> {
        let text = format!("fn f(X: {declared}) -> s: f64 {{ s = sum(i, j)(X(i, j)); }}");
        let kernels = syntax::parse_program(&text).and_then(|program| notation::check(&program));
        match kernels {
            Ok(kernels) => Ok(kernels[0].tensors[0].hints.clone()),
            Err(found) => Err(found.into_sorted().into_iter().map(|problem| problem.message).collect()),
        }
    }

    #[test]
    fn hints_are_read_in_any_order_and_printed() {
        let hints = checked("f32 csr fill inf extent(1000, 5e3) nnz 1_000_000 fibers 2e2").unwrap();
        assert_eq!((hints.entries, hints.fibers, &hints.extents[..]), (Some(1_000_000), Some(200), &[1000, 5000][..]));
        assert_eq!(hints.to_string(), " nnz 1000000 fibers 200 extent(1000, 5000)");
        assert_eq!(checked("dense extent(3, 4)").unwrap().extents, [3, 4]);
        assert_eq!(checked("csr").unwrap(), Hints::default());
        let text = "fn f(X: csr nnz 1e6 fibers 2e4) -> s: f64 { s = sum(i, j)(X(i, j)); }";
        let program = syntax::parse_program(text).unwrap();
        assert!(program.to_string().contains("X: csr nnz 1e6 fibers 2e4"), "{program}");
        let kernels = notation::check(&program).unwrap();
        let again = notation::check(&syntax::parse_program(&kernels[0].to_string()).unwrap()).unwrap();
        assert_eq!(again[0].tensors[0].hints, kernels[0].tensors[0].hints);
    }

    #[test]
    fn what_can_not_be_is_refused() {
        for (declared, message) in [
            ("csr nnz 1.5", "`1.5` is no number of entries"),
            ("csr nnz 1e30", "`1e30` is no number of entries"),
            ("csr nnz 5u8", "`5u8` is no number of entries"),
            ("csr nnz 5 nnz 6", "`nnz` is said twice"),
            ("csr extent(5)", "1 extent for a tensor of 2 modes"),
            ("csr nnz 30 extent(5, 5)", "30 entries have no room in 25 places"),
            ("csr extent(5, 5) nnz 30", "30 entries have no room in 25 places"),
            ("csr nnz 30 fibers 31", "31 fibers can't have entries where there are 30"),
            ("csr order 3", "the tensor has 2 modes here"),
            ("dense nnz 30", "`nnz` is said of a dense tensor, which stores every element"),
        ] {
            assert_eq!(checked(declared), Err(message.to_owned()), "{declared}");
        }
        assert!(checked("csr nnz").is_err() && checked("csr fibers()").is_err() && checked("csr nnz -3").is_err());
    }
}
