//! Files of tensors and texts, `-` for the standard streams among them.

use crate::failure::Failure;
use crate::{names, output};
use clap::Args;
use spc::io::{self, FileType, ReadOptions, TensorFile};
use spc::tensor::AnyTensor;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What the standard input is called.
pub(crate) const STDIN: &str = "<stdin>";

/// A kind of file, and whether it is compressed by gzip.
pub(crate) type Kind = (FileType, bool);

/// Which kinds of file the standard streams have.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct InputKind {
    /// File type of standard input, or of a file whose name does not tell, as `tns` or `mtx`
    #[arg(long, value_name = "KIND", value_parser = kind)]
    pub(crate) from: Option<Kind>,
    /// The first index of each mode in a .tns file: 1, or 0 as some programs write it
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u8).range(0..=1))]
    pub(crate) base: Option<u8>,
}

/// Which kinds of file the standard streams have.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct OutputKind {
    /// The kind of file that `-`, the standard output, and names that do not say it have, also with .gz; tns for `-` if not given
    #[arg(long, value_name = "KIND", value_parser = kind)]
    pub(crate) to: Option<Kind>,
}

/// Reads the name of a kind of file.
pub(crate) fn kind(name: &str) -> Result<Kind, String> {
    let names = FileType::ALL.map(FileType::name);
    let unknown = || names::refusal(format!("there is no kind of file `{name}`"), name, names, "they are");
    FileType::from_name(name).ok_or_else(unknown)
}

impl InputKind {
    /// Opens a file as far as says how it stores its tensor, or reads the standard input.
    pub(crate) fn begin(self, path: &OsStr) -> Result<TensorFile, Failure> {
        self.open(path, None)
    }

    /// Whether indices count from 0.
    pub(crate) fn is_from_zero(self) -> bool {
        self.base == Some(0)
    }

    /// The same where the shape may be known.
    pub(crate) fn open(self, path: &OsStr, shape: Option<Vec<usize>>) -> Result<TensorFile, Failure> {
        let asked = self.from.map(|(kind, _)| kind);
        if path == "-" {
            let Some(kind) = asked else {
                let failure = Failure::refused("the standard input does not say what kind of file it is");
                let kinds = FileType::ALL.map(FileType::name).join(", ");
                return Err(failure.help(format!("`--from KIND` says it; kinds are {kinds}")));
            };
            take_stdin("a tensor")?;
            let options = ReadOptions { shape, file_type: Some(kind), from_zero: self.is_from_zero() };
            return Ok(TensorFile::of_stream(&mut std::io::stdin().lock(), STDIN, &options)?);
        }
        let path = Path::new(path);
        let file_type = asked.filter(|_| FileType::of(path).is_none());
        Ok(TensorFile::begin(path, &ReadOptions { shape, file_type, from_zero: self.is_from_zero() })?)
    }
}

/// Who reads the standard input, which is there once.
static READS_STDIN: OnceLock<&str> = OnceLock::new();

fn take_stdin(what: &'static str) -> Result<(), Failure> {
    match READS_STDIN.set(what) {
        Ok(()) => Ok(()),
        Err(_) => {
            let first = READS_STDIN.get().copied().unwrap_or_default();
            let failure = Failure::usage(format!("`-` is the standard input, which already is {first}"));
            Err(failure.help("give one of them as a file"))
        }
    }
}

/// The text of a program: of a file, or for `-` of the standard input, which may be asked for again.
pub(crate) fn program_text(path: &str) -> Result<String, Failure> {
    static TEXT: OnceLock<String> = OnceLock::new();
    if path != "-" {
        return std::fs::read_to_string(path).map_err(|error| Failure::file(path, error));
    }
    if TEXT.get().is_none() {
        take_stdin("the program")?;
        let mut text = String::new();
        std::io::stdin().lock().read_to_string(&mut text).map_err(|error| Failure::file(STDIN, error))?;
        _ = TEXT.set(text);
    }
    Ok(TEXT.get().cloned().unwrap_or_default())
}

/// Where something is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Destination {
    /// The standard output.
    Stdout(Kind),
    /// A file.
    File(PathBuf, Kind),
}

impl OutputKind {
    fn kind_of(self, path: &OsStr) -> Option<Kind> {
        FileType::of(path).or(self.to)
    }

    /// Where `path` is, and of which kind; `-` is the standard output.
    pub(crate) fn destination(self, path: &OsStr) -> Result<Destination, Failure> {
        if let Some(message) = self.kind_of(path).and_then(|(kind, _)| kind.only_read()) {
            return Err(Failure::refused(format!("{}: {message}", path.display())));
        }
        if path == "-" {
            return Ok(Destination::Stdout(self.to.unwrap_or((FileType::Tns, false))));
        }
        let Some(kind) = self.kind_of(path) else {
            let message = format!("{}: the name does not say what kind of file it is to be", path.display());
            let failure = Failure::refused(message);
            return Err(match FileType::similar(path) {
                Some(similar) => failure.help(format!("did you mean `.{similar}`?")),
                None => failure.help(format!(
                    "known extensions are {}; `--to KIND` says it for other names",
                    FileType::EXTENSIONS
                )),
            });
        };
        Ok(Destination::File(PathBuf::from(path), kind))
    }
}

impl Destination {
    pub(crate) fn kind(&self) -> FileType {
        match self {
            Destination::Stdout((kind, _)) | Destination::File(_, (kind, _)) => *kind,
        }
    }

    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self, Destination::Stdout(_))
    }

    /// What messages call it.
    pub(crate) fn name(&self) -> String {
        match self {
            Destination::Stdout(_) => "the standard output".to_owned(),
            Destination::File(path, _) => path.display().to_string(),
        }
    }

    /// Writes a tensor there; `states_fill` where its fill value is to be stated also where it is zero.
    pub(crate) fn write(&self, tensor: &AnyTensor, states_fill: bool) -> Result<(), Failure> {
        let write = |out: &mut dyn std::io::Write, kind| match states_fill {
            true => io::write_tensor_stating_fill_to(out, kind, tensor),
            false => io::write_tensor_to(out, kind, tensor),
        };
        match self {
            Destination::Stdout(kind) => output::with_stdout(|out| write(out, *kind)),
            Destination::File(path, kind) => Ok(io::write_with(path, |out| write(out, *kind))?),
        }
    }

    /// Writes a list of entries there.
    pub(crate) fn write_entries<T: io::Value>(&self, entries: &spc::tensor::Coordinates<T>) -> Result<(), Failure> {
        match self {
            Destination::Stdout(kind) => output::with_stdout(|out| io::write_to(out, *kind, entries)),
            Destination::File(path, kind) => Ok(io::write_with(path, |out| io::write_to(out, *kind, entries))?),
        }
    }
}
