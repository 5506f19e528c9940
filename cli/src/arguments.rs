//! Arguments that several verbs have, and how they are read.

use crate::names;
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use spc_compiler::format::taco;
use spc_compiler::ir::ElementType;
use spc_compiler::syntax::normalized;
use std::ffi::{OsStr, OsString};

/// `NAME=TEXT`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    /// What stands before the first `=`.
    pub(crate) name: String,
    /// What stands after it.
    pub(crate) text: String,
}

/// Reads `NAME=TEXT`.
pub(crate) fn named(argument: &str) -> Result<Named, String> {
    let (name, text) = argument.split_once('=').ok_or_else(|| without_equals(argument))?;
    let (name, text) = (name.trim(), text.trim());
    if name.is_empty() || text.is_empty() {
        return Err("it has the form NAME=…, with something on both sides".to_owned());
    }
    Ok(Named { name: normalized(name), text: text.to_owned() })
}

/// What is wrong with an argument that has no `=`. With a `:` it may be one of taco's: `A:ds:1,0`, `A:a.mtx`.
fn without_equals(argument: &str) -> String {
    let form = "it has the form NAME=…, as in `X=x.tns`";
    let Some((name, text)) = argument.split_once(':').filter(|(name, text)| !name.is_empty() && !text.is_empty())
    else {
        return form.to_owned();
    };
    let (letters, modes) = text.split_once(':').map_or((text, None), |(letters, modes)| (letters, Some(modes)));
    let modes: Option<Option<Vec<usize>>> =
        modes.map(|modes| modes.split(',').map(|mode| mode.trim().parse().ok()).collect());
    let format = match modes {
        Some(None) => None,
        modes => taco(letters, modes.flatten().as_deref()),
    };
    match format {
        Some(format) if format.contains(' ') => format!("{form}; taco's `{argument}` is `'{name}={format}'`"),
        Some(format) => format!("{form}; taco's `{argument}` is `{name}={format}`"),
        None => format!("{form}; did you mean `{name}={text}`?"),
    }
}

/// Reads `NAME=FORMAT`.
pub(crate) fn named_format(argument: &str) -> Result<Named, String> {
    match named(argument) {
        // A `=` in parentheses belongs to the format.
        Ok(named) if !named.name.contains(['[', '(', ',']) => Ok(named),
        Err(error) if argument.contains(':') => Err(error),
        _ => Err(format!("it has the form NAME=…, which says what is stored so, as in `A={argument}`")),
    }
}

/// Reads the formats of a verb that has one tensor only, which needs no name.
pub(crate) fn nameless_format(argument: &str) -> Result<String, String> {
    match named_format(argument) {
        Ok(Named { name, text }) => {
            Err(format!("there is one tensor only, which needs no name: `{text}` and not `{name}={text}`"))
        }
        Err(_) => Ok(argument.to_owned()),
    }
}

/// Reads the name of an element type.
pub(crate) fn element(name: &str) -> Result<ElementType, String> {
    let names = ElementType::ALL.map(ElementType::name);
    let unknown = || names::refusal(format!("there is no element type `{name}`"), name, names, "the element types are");
    ElementType::from_name(name).ok_or_else(unknown)
}

/// `NAME=TEXT`, where the text may name a file, in whatever bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedFile {
    /// What stands before the first `=`.
    pub(crate) name: String,
    /// What stands after it.
    pub(crate) text: OsString,
}

/// Reads `NAME=FILE`.
pub(crate) fn named_file() -> impl TypedValueParser<Value = NamedFile> {
    OsStringValueParser::new().try_map(|argument| of_file(&argument))
}

fn of_file(argument: &OsStr) -> Result<NamedFile, String> {
    if let Some(argument) = argument.to_str() {
        return named(argument).map(|Named { name, text }| NamedFile { name, text: text.into() });
    }
    let (name, text) = cut(argument).ok_or("it has the form NAME=…, as in `X=x.tns`")?;
    Ok(NamedFile { name: normalized(name.trim()), text: text.to_owned() })
}

/// Cuts a text that is not UTF-8 at its first `=`.
#[cfg(unix)]
fn cut(argument: &OsStr) -> Option<(&str, &OsStr)> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = argument.as_bytes();
    let place = bytes.iter().position(|&byte| byte == b'=')?;
    Some((std::str::from_utf8(&bytes[..place]).ok()?, OsStr::from_bytes(&bytes[place + 1..])))
}

#[cfg(not(unix))]
fn cut(_argument: &OsStr) -> Option<(&str, &OsStr)> {
    None
}

/// Reads `NAME=EXTENT`.
pub(crate) fn dimension(argument: &str) -> Result<(String, usize), String> {
    let Named { name, text } = named(argument).map_err(|_| "it has the form INDEX=EXTENT, as in `r=16`")?;
    let extent = text.parse().map_err(|_| format!("`{text}` is not an extent: a whole number from 0 on"))?;
    Ok((name, extent))
}

/// Reads a number of bytes: `500000000`, `500MB`, `4GiB`.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: f64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => f64::from(1 << 10),
        "mib" => f64::from(1 << 20),
        "gib" => f64::from(1 << 30),
        "tib" => (1u64 << 40) as f64,
        _ => return Err(format!("`{unit}` is no unit of bytes: they are kB, MB, GB, TB, KiB, MiB, GiB, TiB")),
    };
    match number.parse::<f64>() {
        Ok(number) => Ok((number * factor) as u64),
        Err(_) => Err("it is a number of bytes, as `500000000`, `500MB` or `4GiB`".to_owned()),
    }
}

/// Reads `100x200x50`.
pub(crate) fn shape(argument: &str) -> Result<Shape, String> {
    let extent = |part: &str| part.trim().parse::<usize>();
    let extents = argument.split(['x', '×', ',']).map(extent).collect::<Result<Vec<_>, _>>();
    extents.map(Shape).map_err(|_| "a shape is extents with `x` between them, as in `100x200x50`".to_owned())
}

/// The extent of each mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape(pub(crate) Vec<usize>);

/// Reads `1,0.5,0`.
pub(crate) fn numbers(argument: &str) -> Result<Numbers, String> {
    let numbers = argument.split(',').map(|part| part.trim().parse::<f64>()).collect::<Result<Vec<_>, _>>();
    numbers.map(Numbers).map_err(|_| "these are numbers with `,` between them, as in `1,0.5,0`".to_owned())
}

/// A list of numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Numbers(pub(crate) Vec<f64>);

impl Numbers {
    /// One for each mode, where one is said for all.
    pub(crate) fn for_modes(&self, order: usize) -> Vec<f64> {
        if let [number] = self.0[..] { vec![number; order] } else { self.0.clone() }
    }
}

/// Where formats beside the known ones have their names from.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FormatsArguments {
    /// A `.ti` file whose `format` definitions can be named as formats
    #[arg(long = "formats", value_name = "FILE")]
    pub(crate) definitions: Option<String>,
}

/// Which kernel, and its formats.
#[derive(Debug, Clone, Args)]
pub(crate) struct KernelArguments {
    /// A `.ti` file, `-` for the standard input, kernels as such a file has them, or an assignment in index notation such as
    /// 'y(i) = A(i, j) * x(j)'
    #[arg(value_name = "FILE|EXPR")]
    pub(crate) program: String,
    /// How a tensor of an expression is stored: `X=csf`, `X='f32 [compressed, dense]'`; if not given as its file says, which is
    /// `csr` or `csf` for a list of entries, and else dense
    #[arg(short = 'f', long = "format", value_name = "NAME=FORMAT", value_parser = named_format)]
    pub(crate) formats: Vec<Named>,
    #[command(flatten)]
    pub(crate) named: FormatsArguments,
    /// The kernel of a file that has several
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    /// Take warnings for errors
    #[arg(long)]
    pub(crate) strict: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_at_the_first_equals_sign() {
        assert_eq!(named("X = a=b"), Ok(Named { name: "X".to_owned(), text: "a=b".to_owned() }));
        assert!(named("X").is_err() && named("=x").is_err() && named("X=").is_err());
        for (taco, ours) in [
            ("A:ds", "`A=csr`"),
            ("A:ds:1,0", "`A=csc`"),
            ("A:sd:1,0", "`'A=(i, j) -> [j: compressed, i: dense]'`"),
            ("A:a.mtx", "`A=a.mtx`"),
        ] {
            assert!(named(taco).is_err_and(|message| message.contains(ours)), "{taco}: {:?}", named(taco));
        }
    }

    #[test]
    fn bytes_have_units() {
        assert_eq!(bytes("512"), Ok(512));
        assert_eq!(bytes("1.5kB"), Ok(1500));
        assert_eq!(bytes("2 GiB"), Ok(2 << 30));
        assert!(bytes("2 bits").is_err() && bytes("").is_err() && bytes("-3").is_err());
    }

    #[test]
    fn numbers_are_a_list_or_one_for_all() {
        assert_eq!(numbers("1, 0.5,2e-1"), Ok(Numbers(vec![1.0, 0.5, 0.2])));
        assert!(numbers("1,x").is_err() && numbers("").is_err());
        assert_eq!(Numbers(vec![2.0]).for_modes(3), [2.0; 3]);
        assert_eq!(Numbers(vec![2.0, 1.0]).for_modes(3), [2.0, 1.0]);
    }

    #[test]
    fn shapes_are_extents() {
        assert_eq!(shape("100x200x50"), Ok(Shape(vec![100, 200, 50])));
        assert_eq!(shape("7"), Ok(Shape(vec![7])));
        assert!(shape("").is_err() && shape("3x").is_err() && shape("3x-1").is_err());
        assert_eq!(dimension("r=16"), Ok(("r".to_owned(), 16)));
        assert!(dimension("r=1.5").is_err());
    }
}
