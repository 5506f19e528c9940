//! The content of a file whose name does not tell its kind.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::FileType;

/// So much of a file is looked at.
const HEAD: u64 = 1 << 16;

/// Kinds of file that are not read here: how they begin, their name, and what reads them.
const OTHERS: &[(&[u8], &str, &str)] = &[
    (b"\x89HDF\r\n\x1a\n", "HDF5", "the Python package reads Binsparse files of that kind by `spc.read`"),
    (b"MATLAB 7.3 MAT-file", "MATLAB 7.3, which is HDF5", "save it by `save -v7`"),
    (b"PAR1", "Parquet", "write its columns as .tns by `pandas.read_parquet`"),
    (b"BZh", "bzip2", "decompress it by `bunzip2`"),
    (b"\xfd7zXZ\0", "xz", "decompress it by `unxz`"),
    (b"\x28\xb5\x2f\xfd", "Zstandard", "decompress it by `unzstd`"),
    (b"ktensor", "a `ktensor` of the Tensor Toolbox", "write `full(K)` as a `sptensor`"),
];

/// What a file looks like and what reads it, as the end of a sentence; nothing where it looks like nothing known.
pub(super) fn looks_like(path: &Path) -> Option<String> {
    if !path.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return None;
    }
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    if head.starts_with(&[0x1f, 0x8b]) {
        let mut text = Vec::new();
        // The end of the compressed bytes is cut off.
        _ = MultiGzDecoder::new(&head[..]).take(HEAD).read_to_end(&mut text);
        head = text;
    }
    of_bytes(&head)
}

fn of_bytes(head: &[u8]) -> Option<String> {
    if let Some(kind) = FileType::ALL.into_iter().find(|kind| kind.kind().begins(head)) {
        return Some(format!("it looks like a .{} file: `--from {}` reads it so", kind.name(), kind.name()));
    }
    let (_, name, remedy) = OTHERS.iter().find(|(begin, ..)| head.starts_with(begin))?;
    Some(format!("it looks like {name}: {remedy}"))
}

#[cfg(test)]
mod tests {
    use super::of_bytes;

    #[test]
    fn content_tells_the_kind() {
        let kind = |head: &[u8]| of_bytes(head).unwrap_or_default();
        assert_eq!(kind(b"%%matrixmarket MATRIX"), "it looks like a .mtx file: `--from mtx` reads it so");
        assert_eq!(kind(b"# c\n1 2 3.5\n2 1 -1e3\n1 1"), "it looks like a .tns file: `--from tns` reads it so");
        assert_eq!(kind(b"\x93NUMPY\x01\0"), "it looks like a .npy file: `--from npy` reads it so");
        assert_eq!(kind(b"sptensor\n2\n1 1\n0\n"), "it looks like a .tns file: `--from tns` reads it so");
        let toolbox = "it looks like a `ktensor` of the Tensor Toolbox: write `full(K)` as a `sptensor`";
        assert_eq!(kind(b"ktensor\n2\n2 3\n1\n2.0\n"), toolbox);
        assert_eq!(kind(b"BZh91AY"), "it looks like bzip2: decompress it by `bunzip2`");
        // The extent of a line is no index, a word is no number, and 0 is no index.
        for other in [&b"1 2 3\n1 2\n"[..], b"a b c\n", b"0 1 2\n", b"", b"7\n"] {
            assert_eq!(of_bytes(other), None, "{other:?}");
        }
    }
}
