//! Native code that comes with a program: kernels that many need, compiled beforehand for levels of processors.
//!
//! [`build`] makes a file of the kernels that a list names (`native/catalogue.txt`), with a library of them for each level. It is looked
//! for where `SPC_CATALOGUE` says, where the program [says](set_path), or beside the program as `spc.catalogue`, and only where there is no
//! Rust compiler. A kernel is found by the hash of the text that would be compiled for it, in which everything is called by its place: the code
//! is what that compiler would give for the level, whatever tensors and indices are called.

use super::native::catalogue as libraries;
use super::native::level;
use super::{Backend, Kernel, NativeError, Planning, ProgramError};
use spc_compiler::ir;
use std::path::PathBuf;

/// The list of kernels.
const LIST: &str = include_str!("native/catalogue.txt");

/// Numbers of columns that kernels are compiled for; none for any other.
const RANKS: [Option<usize>; 5] = [Some(8), Some(16), Some(32), Some(64), None];

const ELEMENTS: [&str; 2] = ["f64", "f32"];

/// What can't be in a catalogue, or be made one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// A kernel of the list does not compile.
    #[error("`{kernel}`: {source}")]
    Kernel {
        /// What it computes.
        kernel: String,
        /// Why not.
        source: Box<ProgramError>,
    },
    /// There is no such level of processors.
    #[error("there is no level `{name}`; there are {}", level::names().join(", "))]
    Level {
        /// What was asked for.
        name: String,
    },
    /// The list has no such kernel.
    #[error("no kernel of the list has `{only}` in it")]
    Nothing {
        /// What was asked for.
        only: String,
    },
    /// The compiler refused them.
    #[error(transparent)]
    Native(#[from] NativeError),
}

/// Where a catalogue is, from now on; `SPC_CATALOGUE` counts more. This has to be said before the first kernel is looked for.
pub fn set_path(path: impl Into<PathBuf>) {
    libraries::set_path(path.into());
}

/// The levels of processors that catalogues are made for on this machine, the least first.
pub fn levels() -> Vec<&'static str> {
    level::names()
}

/// The bytes of a catalogue for some levels, all if none is named: of all kernels of the list, or of those whose lines contain `only`.
/// Also says of how many kernels.
///
/// # Errors
/// When there is no Rust compiler, or no such level or kernel.
pub fn build(levels: &[String], only: Option<&str>) -> Result<(Vec<u8>, usize), CatalogueError> {
    let names =
        if levels.is_empty() { self::levels().iter().map(|&name| name.to_owned()).collect() } else { levels.to_vec() };
    let level = |name: &String| level::named(name).ok_or_else(|| CatalogueError::Level { name: name.clone() });
    let levels = names.iter().map(level).collect::<Result<Vec<_>, _>>()?;
    let mut kernels = Vec::new();
    for line in lines().filter(|line| only.is_none_or(|only| line.contains(only))) {
        kernels.extend(of_line(line, &ELEMENTS, &RANKS)?);
    }
    if kernels.is_empty() {
        return Err(CatalogueError::Nothing { only: only.unwrap_or_default().to_owned() });
    }
    Ok(libraries::build(kernels, &levels)?)
}

fn lines() -> impl Iterator<Item = &'static str> {
    LIST.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The loops of a line, for each element type and number of columns: planned by their text, and as they are written.
fn of_line(line: &str, elements: &[&str], ranks: &[Option<usize>]) -> Result<Vec<ir::Kernel>, CatalogueError> {
    let mut columns = line.split(';').map(str::trim);
    let (statement, formats) = (columns.next().unwrap_or_default(), columns.next().unwrap_or_default());
    let ranks = if columns.next() == Some("R") { ranks } else { &[None] };
    let mut all = Vec::new();
    for formats in alternatives(formats) {
        for &element in elements {
            for &rank in ranks {
                for plan in [Planning::AsWritten, Planning::Best] {
                    let compiled = compiled(statement, &formats, element, rank, plan);
                    let fault =
                        |source| CatalogueError::Kernel { kernel: statement.to_owned(), source: Box::new(source) };
                    all.extend(compiled.map_err(fault)?);
                }
            }
        }
    }
    Ok(all)
}

/// `A=csr|csc` are two, `A=csr Z=csr | A=coo Z=coo` as well.
fn alternatives(formats: &str) -> Vec<Vec<(&str, &str)>> {
    let mut all: Vec<Vec<(&str, &str)>> = Vec::new();
    for part in formats.split('|') {
        let mut named: Vec<(&str, &str)> = part.split_whitespace().filter_map(|one| one.split_once('=')).collect();
        if named.is_empty()
            && let Some(&(name, _)) = all.first().and_then(|first| first.first())
        {
            named.push((name, part.trim()));
        }
        all.push(named);
    }
    all
}

fn compiled(
    statement: &str,
    formats: &[(&str, &str)],
    element: &str,
    rank: Option<usize>,
    plan: Planning,
) -> Result<Vec<ir::Kernel>, ProgramError> {
    let mut builder = Kernel::builder(statement).backend(Backend::Interpreter).plan(plan);
    for name in tensors(statement) {
        let format = formats.iter().find(|(named, _)| *named == name).map(|(_, format)| *format);
        let format = format.or_else(|| statement.contains(&format!("{name}(")).then_some("dense"));
        builder = builder.format(name, format!("{element} {}", format.unwrap_or_default()).trim_end());
    }
    if let Some(rank) = rank {
        builder = builder.dimension("r", rank);
    }
    let kernel = builder.compile()?;
    Ok(kernel.compiled().kernels.iter().map(|compiled| (*compiled.kernel).clone()).collect())
}

/// The names of the tensors of a statement: what stands before parentheses, and what is no index.
fn tensors(statement: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut depth = 0;
    let is_name = |character: char| character.is_alphanumeric() || character == '_';
    let mut rest = statement;
    while let Some(character) = rest.chars().next() {
        let length = rest.find(|character| !is_name(character)).unwrap_or(rest.len());
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if length > 0 && depth == 0 && !all.contains(&&rest[..length]) => all.push(&rest[..length]),
            _ => {}
        }
        rest = &rest[length.max(character.len_utf8())..];
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_alternatives() {
        assert_eq!(alternatives("A=csr|csc"), [[("A", "csr")], [("A", "csc")]]);
        assert_eq!(alternatives("A=coo Z=coo | A=csr"), [vec![("A", "coo"), ("Z", "coo")], vec![("A", "csr")]]);
    }

    #[test]
    fn tensors_are_what_is_no_index() {
        assert_eq!(tensors("z(i) = alpha * x(i) + y(i)"), ["z", "alpha", "x", "y"]);
        assert_eq!(tensors("C(i, k) = A(i, j) * B(j, k)"), ["C", "A", "B"]);
    }

    #[test]
    fn each_line_compiles() {
        for line in lines() {
            assert!(!of_line(line, &["f64"], &[None]).unwrap().is_empty(), "{line}");
        }
    }
}
