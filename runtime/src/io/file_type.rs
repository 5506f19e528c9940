//! Which kind of file a name stands for.

use std::path::Path;

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
    /// `.spct`: a packed tensor with its format, in binary.
    Spct,
}

impl FileType {
    /// The extensions that are known, for messages.
    pub const EXTENSIONS: &'static str = ".tns, .mtx, .npy, .spct, each also with .gz";

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
        let kinds = [("tns", Self::Tns), ("mtx", Self::Mtx), ("npy", Self::Npy), ("spct", Self::Spct)];
        let (_, kind) = kinds.into_iter().find(|(extension, _)| is(name, extension))?;
        Some((kind, compressed))
    }

    /// Why a name was not understood, and what to do.
    pub(crate) fn unknown(path: &Path) -> String {
        let name = path.to_string_lossy().to_ascii_lowercase();
        if name.ends_with(".npz") || name.ends_with(".npz.gz") {
            return "`.npz` archives are not supported yet: save each array as `.npy`".to_owned();
        }
        format!("the name does not say what kind of file it is: known extensions are {}", Self::EXTENSIONS)
    }
}
