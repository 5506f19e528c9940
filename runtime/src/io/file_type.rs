//! Which kind of file a name stands for.

use std::path::Path;

use spc_compiler::diagnostics::suggest;

/// The kinds of tensor file, each told by its extension, which `.gz` may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileType {
    /// `.tns`: FROSTT text, an entry a line.
    Tns,
    /// `.mtx`: Matrix Market text.
    Mtx,
    /// `.npy`: one dense array as `NumPy` writes it.
    Npy,
    /// `.npz`: an archive of arrays, or a sparse tensor of `SciPy`; with the feature `npz`.
    Npz,
    /// `.spct`: a packed tensor with its format, in binary.
    Spct,
}

impl FileType {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Tns, Self::Mtx, Self::Npy, Self::Npz, Self::Spct];

    /// The extensions that are known, for messages.
    pub const EXTENSIONS: &'static str = ".tns, .mtx, .npy, .npz, .spct, each also with .gz";

    /// The extension, without a dot.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tns => "tns",
            Self::Mtx => "mtx",
            Self::Npy => "npy",
            Self::Npz => "npz",
            Self::Spct => "spct",
        }
    }

    /// Whether such a file is text.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Tns | Self::Mtx)
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
        Self::ALL.into_iter().find(|kind| is(name, kind.name())).map(|kind| (kind, compressed))
    }

    /// The kind of that name, `tns` or `.tns`, and whether `.gz` follows it.
    ///
    /// ```
    /// use spc::io::FileType;
    /// assert_eq!(FileType::from_name("mtx.gz"), Some((FileType::Mtx, true)));
    /// assert_eq!(FileType::from_name("csv"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<(Self, bool)> {
        let name = name.strip_prefix('.').unwrap_or(name);
        let (name, compressed) = name.strip_suffix(".gz").map_or((name, false), |name| (name, true));
        let kind = Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))?;
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
        suggest::similar(&extension, Self::ALL.map(Self::name))
    }
}
