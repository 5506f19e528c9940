//! The table of the kinds of file, and the kind that a name stands for.

use std::io;
use std::path::Path;

use super::kind::{Kind, Writer};
use super::write::invalid;
use spc_compiler::diagnostics::suggest;

/// Declares the kinds of file. A row has the documentation, the name of the variant, the known extensions, of which the first is the name of
/// the kind, and the code.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal $($other:literal)* => $code:path;)*) => {
        /// The kinds of tensor file, each told by its extension, which `.gz` may follow.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum FileType {
            $($(#[$doc])* $kind,)*
        }

        impl FileType {
            /// All kinds.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            /// The extensions by which kinds are named, for messages.
            pub const EXTENSIONS: &'static str =
                concat!($(".", $name, ", ",)* "each also with .gz");

            /// The extensions, without a dot; the first is the name of the kind.
            pub(crate) fn extensions(self) -> &'static [&'static str] {
                match self {
                    $(Self::$kind => &[$name $(, $other)*],)*
                }
            }

            /// The code that reads and writes such files.
            pub(super) fn kind(self) -> &'static dyn Kind {
                match self {
                    $(Self::$kind => &$code,)*
                }
            }
        }
    };
}

kinds! {
    /// `.tns`: FROSTT text, an entry a line.
    Tns "tns" => super::tns::Tns;
    /// `.mtx`: Matrix Market text.
    Mtx "mtx" => super::mtx::Mtx;
    /// `.npy`: one dense array as `NumPy` writes it.
    Npy "npy" => super::npy::Npy;
    /// `.npz`: an archive of arrays, or a sparse tensor of `SciPy`; with the feature `npz`.
    Npz "npz" => super::npz::Npz;
    /// `.spct`: a packed tensor with its format, in binary.
    Spct "spct" => super::spct::Spct;
    /// `.smtx`: the pattern of a matrix, text of the Deep Learning Matrix Collection; read only.
    Smtx "smtx" => super::smtx::Smtx;
    /// `.rb`, `.hb`, `.rua` and the like: a matrix of the collections of Harwell, Rutherford and Boeing; read only.
    Harwell "rb" "hb" "rua" "rsa" "rza" "rra" "pua" "psa" "pra" "pza" "cua" "csa" "cza" "cha" "cra" "iua" "isa" => super::harwell::Harwell;
    /// `.edges`, `.el`, `.wel`, `.edgelist`: the edges of a graph, a line each, as SNAP and GAP have them; read only.
    Edges "edges" "el" "wel" "edgelist" => super::table::Table::Graph;
    /// `.csv`, `.tsv`: a table with columns of indices or keys, and of values; read only.
    Csv "csv" "tsv" => super::table::Table::Columns;
    /// `.bin`: coordinates in binary, as SPLATT writes them; read only.
    Splatt "splatt" "bin" => super::splatt::Splatt;
    /// `.mat`: variables of MATLAB, version 5 of the format, sparse matrices and arrays; read only.
    Mat "mat" => super::mat::Mat;
}

impl FileType {
    /// The extension, without a dot.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.extensions()[0]
    }

    /// The names of kinds and their other extensions.
    fn names() -> impl Iterator<Item = (&'static str, Self)> {
        Self::ALL.into_iter().flat_map(|kind| kind.extensions().iter().map(move |name| (*name, kind)))
    }

    /// Whether such a file is text, with a line for each entry.
    pub(crate) fn is_text(self) -> bool {
        self.kind().text().is_some()
    }

    /// Whether such a file keeps the format of a tensor.
    #[must_use]
    pub fn keeps_format(self) -> bool {
        self.kind().writer().is_some_and(Writer::keeps_format)
    }

    /// Whether such a file is read in parts, where it is larger than the memory.
    #[must_use]
    pub fn comes_in_parts(self) -> bool {
        self.is_text() || self.kind().is_packed()
    }

    /// Why such a file is not written, of a kind that is only read.
    #[must_use]
    pub fn only_read(self) -> Option<String> {
        if self.kind().writer().is_some() {
            return None;
        }
        let written = Self::ALL.into_iter().filter(|kind| kind.kind().writer().is_some());
        let written = written.map(|kind| format!(".{}", kind.name())).collect::<Vec<_>>().join(", ");
        Some(format!("a .{} file is read and not written: write one of {written}", self.name()))
    }

    /// The writer of such files.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) for a kind that is only read.
    pub(super) fn writer(self) -> io::Result<&'static dyn Writer> {
        self.kind().writer().ok_or_else(|| invalid(self.only_read().unwrap_or_default()))
    }

    /// The kind that the name of a file says, and whether it ends in `.gz`; `None` for an unknown extension.
    ///
    /// ```
    /// use spc::io::FileType;
    /// assert_eq!(FileType::of("data/nell.tns.gz"), Some((FileType::Tns, true)));
    /// assert_eq!(FileType::of("data/nell"), None);
    /// ```
    #[must_use]
    pub fn of(path: impl AsRef<Path>) -> Option<(Self, bool)> {
        // Whatever the bytes of the rest of the name are.
        let name = Path::new(path.as_ref().file_name()?);
        let is =
            |name: &Path, extension: &str| name.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension));
        let compressed = is(name, "gz");
        let name = if compressed { Path::new(name.file_stem()?) } else { name };
        Self::names().find(|(extension, _)| is(name, extension)).map(|(_, kind)| (kind, compressed))
    }

    /// The kind of that name, `tns` or `.tns`, and whether `.gz` follows it.
    ///
    /// ```
    /// use spc::io::FileType;
    /// assert_eq!(FileType::from_name("mtx.gz"), Some((FileType::Mtx, true)));
    /// assert_eq!(FileType::from_name("doc"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<(Self, bool)> {
        let name = name.strip_prefix('.').unwrap_or(name);
        let (name, compressed) = name.strip_suffix(".gz").map_or((name, false), |name| (name, true));
        let (_, kind) = Self::names().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some((kind, compressed))
    }

    /// Why a name was not understood, and what to do.
    pub(crate) fn unknown(path: &Path) -> String {
        let message =
            format!("the name does not say what kind of file it is: known extensions are {}", Self::EXTENSIONS);
        match Self::similar(path) {
            Some(similar) => format!("{message}; did you mean `.{similar}`?"),
            None => message,
        }
    }

    /// The extension that a name was probably to have.
    #[must_use]
    pub fn similar(path: impl AsRef<Path>) -> Option<&'static str> {
        let extension = path.as_ref().extension()?.to_str()?.to_ascii_lowercase();
        suggest::similar(&extension, Self::names().map(|(name, _)| name))
    }
}
