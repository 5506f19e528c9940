//! Every place of the sources that removes, renames or overwrites something on disk, and why it takes nothing from the user.

use std::fs;
use std::path::{Path, PathBuf};

/// What such a place has in its line.
const MARKS: [&str; 22] = [
    "remove_file(",
    "remove_dir(",
    "remove_dir_all(",
    "fs::rename(",
    "fs::write(",
    "fs::copy(",
    "fs::hard_link(",
    "File::create(",
    "File::create_new(",
    "OpenOptions::new()",
    "File::options()",
    "truncate(true)",
    ".set_len(",
    "open(path, \"w",
    "open(written, \"w",
    "File(written, \"w",
    "File(path, \"w",
    "os.remove(",
    "os.unlink(",
    "os.rename(",
    "os.replace(",
    "shutil.",
];

const OWN: &str = "it is in a folder that this process has made under an unguessable name";
const OURS: &str =
    "the guard has made the folder, or its mark names it and a process that is gone; other users can't write there";
const MEMORY: &str = "the length of a vector in memory";
const READS: &str = "it only reads";

/// Each place: its file, its line, how often, and the reason.
const PLACES: &[(&str, &str, usize, &str)] = &[
    // The guard, and what killed processes left.
    (
        "runtime/src/unfinished.rs",
        "let mut options = File::options();",
        2,
        "one only creates, one opens a mark to lock it",
    ),
    ("runtime/src/unfinished.rs", "Ok(kind) if kind.is_dir() => fs::remove_dir_all(entry.path()),", 1, OURS),
    ("runtime/src/unfinished.rs", "_ => fs::remove_file(entry.path()),", 1, OURS),
    ("runtime/src/unfinished.rs", "_ = fs::remove_dir_all(folder);", 1, OURS),
    // The cache.
    (
        "runtime/src/execute/cache/mod.rs",
        "fs::rename(&note, &home)",
        1,
        "there was nothing, or a note that begins with a checksum",
    ),
    ("runtime/src/execute/cache/mod.rs", "if fs::rename(&workshop.folder, &home).is_ok() {", 1, "it replaces no file"),
    (
        "runtime/src/execute/cache/mod.rs",
        "prune::is_kept(home) && fs::rename(home, gone.path().join(\"gone\")).is_ok()",
        1,
        "it has our mark",
    ),
    (
        "runtime/src/execute/cache/prune.rs",
        "File::options().append(true).open(file).ok()?.set_modified(SystemTime::now()).ok()",
        1,
        "it changes the time alone",
    ),
    (
        "runtime/src/execute/cache/trust.rs",
        "let mut options = File::options();",
        1,
        "a file to be locked, whose content stays",
    ),
    (
        "runtime/src/execute/cache/trust.rs",
        "let file = match File::options().read(true).custom_flags(flags).open(path) {",
        1,
        READS,
    ),
    (
        "runtime/src/execute/cache/trust.rs",
        "let file = match File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path) {",
        1,
        READS,
    ),
    // Texts to compile, and libraries to load.
    (
        "runtime/src/execute/native/mod.rs",
        "fs::write(&path, text).map_err(|source| NativeError::File { path, source })",
        1,
        OWN,
    ),
    ("runtime/src/execute/native/standalone.rs", "fs::write(&file, source).map_err(failure(&file))?;", 1, OWN),
    ("runtime/src/execute/native/c.rs", "fs::write(&file, self.source).map_err(failure(&file))?;", 1, OWN),
    ("runtime/src/cuda/model/library.rs", "fs::write(&path, bytes)?;", 1, OWN),
    ("runtime/src/cuda/model/library.rs", "fs::write(folder.join(name), text)?;", 1, OWN),
    ("runtime/src/cuda/model/library.rs", "fs::write(folder.join(\"kernels.cpp\"), batch)?;", 1, OWN),
    (
        "runtime/src/cuda/model/library.rs",
        "let is_kept = kept.cache.bytes(&kept.runtime).map(|bytes| fs::write(&runtime, bytes)).transpose()?.is_some();",
        1,
        OWN,
    ),
    // Files that tensors are sorted by.
    (
        "runtime/src/tensor/pack/runs.rs",
        "let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;",
        1,
        OWN,
    ),
    (
        "runtime/src/tensor/pack/assemble.rs",
        "let file = OpenOptions::new().read(true).write(true).create_new(true).open(folder.join(name))?;",
        1,
        OWN,
    ),
    // Outputs.
    (
        "runtime/src/io/write/output.rs",
        "fs::rename(self.path(), to)",
        1,
        "an output takes its name when it is complete; docs/reference/files.md says that it replaces the file of that name",
    ),
    (
        "runtime/src/io/write/output.rs",
        "fill(OpenOptions::new().write(true).open(path)?, compressed, write).map(drop)",
        1,
        "a pipe or a device, which is no file",
    ),
    ("runtime/src/io/write/output.rs", "OpenOptions::new().write(true).open(path)", 1, "the unfinished file of ranks"),
    ("runtime/src/io/write/output.rs", "OpenOptions::new().write(true).create_new(true).open(self.path())", 1, OWN),
    (
        "runtime/src/io/arrays.rs",
        "fault::operation().and_then(|()| fs::remove_file(file.path())).map_err(failed)?;",
        1,
        "factors of the model that the new one replaces in its folder; docs/reference/files.md says so",
    ),
    ("cli/src/decompose/checkpoint.rs", "_ = fs::remove_file(model);", 1, "the model that our own state file named"),
    (
        "cli/src/decompose/checkpoint.rs",
        "_ = fs::remove_file(beside(&model));",
        1,
        "what the method remembered beside that model",
    ),
    (
        "cli/src/suite/store.rs",
        "let mut file = OpenOptions::new().create(true).append(true).open(&aside).map_err(fail)?;",
        1,
        "it appends",
    ),
    (
        "cli/src/suite/store.rs",
        "let file = OpenOptions::new().create(true).append(true).open(path).map_err(fail)?;",
        1,
        "it appends",
    ),
    // Python.
    ("python/spc/_binsparse.py", "shutil.copymode(target, written)", 1, "the permissions of the file that is replaced"),
    ("python/spc/_binsparse.py", "os.replace(written, target)", 1, "an output takes its name when it is complete"),
    ("python/spc/_binsparse.py", "with _replaced(path) as written, open(written, \"wb\") as file:", 1, OWN),
    (
        "python/spc/_binsparse.py",
        "with _replaced(path) as written, _h5py().File(written, \"w\", locking=False) as file:",
        1,
        OWN,
    ),
    // No files.
    ("runtime/src/parallel/joined.rs", "unsafe { self.whole.set_len(self.length) };", 1, MEMORY),
    ("runtime/src/parallel/room.rs", "vector.set_len(length + 1);", 1, MEMORY),
    ("runtime/src/tensor/buffer.rs", "unsafe { storage.set_len(start + length) };", 1, MEMORY),
];

/// The sources below a folder that are no tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if (name.ends_with(".rs") || name.ends_with(".py")) && name != "tests.rs" && name != "testing.rs" {
            found.push(path);
        }
    }
}

#[test]
fn what_removes_or_overwrites_is_listed_with_its_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for folder in
        ["compiler/src", "runtime/src", "runtime/capi/src", "macros/src", "cli/src", "python/src", "python/spc"]
    {
        sources(&root.join(folder), &mut files);
    }
    assert!(files.len() > 500, "{}", files.len());
    let mut found = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        // Tests of a file are its end.
        let end = text.find("\nmod tests {").unwrap_or(text.len());
        let file = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let lines = text[..end].lines().map(str::trim).filter(|line| !line.starts_with("//"));
        let lines = lines.filter(|line| MARKS.iter().any(|mark| line.contains(mark)));
        found.extend(lines.map(|line| (file.clone(), line.to_owned())));
    }
    let mut listed: Vec<(String, String)> = Vec::new();
    for (file, line, times, reason) in PLACES {
        assert!(!reason.is_empty());
        listed.extend(std::iter::repeat_n(((*file).to_owned(), (*line).to_owned()), *times));
    }
    found.sort();
    listed.sort();
    let missing: Vec<_> = found.iter().filter(|place| !listed.contains(place)).collect();
    let gone: Vec<_> = listed.iter().filter(|place| !found.contains(place)).collect();
    assert!(missing.is_empty(), "say why these take nothing from the user, in PLACES: {missing:#?}");
    assert!(gone.is_empty(), "these are no more: {gone:#?}");
    assert_eq!(found, listed);
}
