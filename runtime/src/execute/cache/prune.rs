//! What is kept is used within some time, and no more than so many bytes.
//!
//! A thing is used when it is made and when it is read; the files' times tell, to a day. What is removed is moved away first, in one step:
//! another process finds all of it or nothing, and makes anew what it does not find. Schedules that were measured stay, as they are
//! small and took long.

use super::{CHECKSUM, CacheWarning, MARK, displace, mark, trust, warn, written};
use crate::execute::hash::Fnv128;
use std::env;
use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How many bytes are kept.
const SIZE: &str = "SPC_CACHE_SIZE";
const USUAL_SIZE: u64 = 2_000_000_000;

/// For how many days something is kept that is not used.
const AGE: &str = "SPC_CACHE_DAYS";
const USUAL_DAYS: f64 = 90.0;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// What was used in this time may be in use.
const RECENT: Duration = Duration::from_secs(60 * 60);
/// Its time is that of the last removal, and there is one a day.
const PRUNED: &str = "pruned";

/// What stays in any case.
const MEASURED: &str = "tuned-";

/// How much is kept, and how long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Limits {
    pub(super) bytes: u64,
    pub(super) age: Duration,
}

impl Limits {
    /// What the environment says. A warning is kept of what makes no sense there.
    pub(super) fn of_environment() -> Limits {
        let number = |name: &'static str, usual: f64, read: &dyn Fn(&str) -> Option<f64>| {
            let Some(value) = env::var(name).ok().filter(|value| !value.is_empty()) else { return usual };
            let limit = read(value.trim()).filter(|limit| *limit >= 0.0);
            limit.unwrap_or_else(|| {
                warn(CacheWarning::Setting { name, value });
                usual
            })
        };
        let bytes = number(SIZE, USUAL_SIZE as f64, &bytes) as u64;
        let days = number(AGE, USUAL_DAYS, &|text| text.parse().ok());
        Limits { bytes, age: Duration::try_from_secs_f64(days * DAY.as_secs_f64()).unwrap_or(Duration::MAX) }
    }
}

/// `500000000`, `500MB`, `2GB`.
fn bytes(text: &str) -> Option<f64> {
    let upper = text.to_ascii_uppercase();
    let units = [("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)];
    let unit = units.iter().find_map(|(unit, factor)| Some((upper.strip_suffix(unit)?, *factor)));
    let (number, factor) = unit.unwrap_or((&upper, 1.0));
    Some(number.trim().parse::<f64>().ok()? * factor)
}

/// Something that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheEntry {
    /// Its file or folder.
    pub path: PathBuf,
    /// How large it is.
    pub bytes: u64,
    /// When it was used last, to a day.
    pub used: SystemTime,
}

impl CacheEntry {
    /// Its name in the folder.
    pub fn name(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }

    fn at(path: PathBuf, metadata: &Metadata) -> Option<CacheEntry> {
        let changed = |metadata: &Metadata| metadata.modified().ok();
        if metadata.is_file() {
            return Some(CacheEntry { path, bytes: metadata.len(), used: changed(metadata)? });
        }
        let files = fs::read_dir(&path).ok()?.flatten().filter_map(|file| file.metadata().ok());
        let used = fs::metadata(path.join(CHECKSUM)).ok().as_ref().and_then(changed).or_else(|| changed(metadata))?;
        Some(CacheEntry { bytes: files.map(|file| file.len()).sum(), path, used })
    }

    fn age(&self, now: SystemTime) -> Duration {
        now.duration_since(self.used).unwrap_or_default()
    }
}

/// All that is kept, what was used least lately first.
pub(super) fn entries(folder: &Path) -> Vec<CacheEntry> {
    let mut all: Vec<CacheEntry> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
        .filter(|(path, metadata)| trust::is_own(metadata) && looks_kept(path, metadata))
        .filter_map(|(path, metadata)| CacheEntry::at(path, &metadata))
        .collect();
    all.sort_by(|a, b| (a.used, &a.path).cmp(&(b.used, &b.path)));
    all
}

/// Whether something has our mark: a folder the file that names it, a file the checksum of the rest of it.
pub(super) fn is_kept(path: &Path) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else { return false };
    let is_whole = || {
        let text = fs::read(path).unwrap_or_default();
        let line = text.iter().position(|&byte| byte == b'\n');
        line.is_some_and(|line| Fnv128::of(&text[line + 1..]).to_string().as_bytes() == &text[..line])
    };
    trust::is_own(&metadata) && looks_kept(path, &metadata) && (metadata.is_dir() || is_whole())
}

/// The same, without reading all of a file.
fn looks_kept(path: &Path, metadata: &Metadata) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    if metadata.is_dir() {
        return fs::read_to_string(path.join(MARK)).is_ok_and(|text| text == mark(name));
    }
    metadata.is_file() && is_keyed(name) && begins_with_a_checksum(path)
}

/// Whether a name ends with what something is known by.
fn is_keyed(name: &str) -> bool {
    name.rsplit_once('-').is_some_and(|(_, key)| is_sum(key.as_bytes()))
}

fn is_sum(text: &[u8]) -> bool {
    text.len() == 32 && text.iter().all(u8::is_ascii_hexdigit)
}

fn begins_with_a_checksum(path: &Path) -> bool {
    let mut line = Vec::new();
    let read = File::open(path).and_then(|file| file.take(33).read_to_end(&mut line));
    read.is_ok() && line.strip_suffix(b"\n").is_some_and(is_sum)
}

/// Whether a note can be written here: there is nothing yet, or another, which may be damaged.
pub(super) fn may_replace(path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => metadata.len() == 0 || begins_with_a_checksum(path),
        Ok(_) => false,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Removes what is too old, and of the rest what was used least lately, until there is no more than the limit. Gives what was removed.
pub(super) fn prune(folder: &Path, limits: Limits, now: SystemTime) -> Vec<CacheEntry> {
    let all = entries(folder);
    let mut kept: u64 = all.iter().map(|entry| entry.bytes).sum();
    let mut removed = Vec::new();
    for entry in all {
        let age = entry.age(now);
        let is_to_go = age > limits.age || kept > limits.bytes;
        let may_go = age > RECENT && !entry.name().starts_with(MEASURED);
        if is_to_go && may_go && displace(folder, &entry.path) {
            kept -= entry.bytes;
            removed.push(entry);
        }
    }
    removed
}

/// The same, once a day.
pub(super) fn prune_daily(folder: &Path) {
    let mark = folder.join(PRUNED);
    let age = fs::metadata(&mark).and_then(|mark| mark.modified()).ok().and_then(|time| time.elapsed().ok());
    if age.is_none_or(|age| age > DAY) {
        // Where it can't be written, nothing can be removed either.
        if written(&mark, b"").is_ok() || touched(&mark).is_some() {
            prune(folder, Limits::of_environment(), SystemTime::now());
        }
    }
}

/// Notes that something is used.
pub(super) fn used(file: &Path, metadata: &Metadata) {
    let age = metadata.modified().ok().and_then(|time| time.elapsed().ok());
    if age.is_some_and(|age| age > DAY) {
        _ = touched(file);
    }
}

fn touched(file: &Path) -> Option<()> {
    File::options().append(true).open(file).ok()?.set_modified(SystemTime::now()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(60 * 60);

    /// A name as things have it in the cache.
    fn keyed(name: &str) -> String {
        format!("{name}-{}", Fnv128::of(b"key"))
    }

    /// A folder with things of so many bytes more than their marks, which were used so long ago: folders, and files of names with `-`.
    fn folder(things: &[(&str, usize, Duration)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes, age) in things {
            let file = if name.ends_with('-') {
                let path = folder.path().join(keyed(name.trim_end_matches('-')));
                let text = vec![0; *bytes];
                let head = format!("{}\n", Fnv128::of(&text));
                fs::write(&path, [head.as_bytes(), &text].concat()).unwrap();
                path
            } else {
                let path = folder.path().join(name);
                fs::create_dir(&path).unwrap();
                fs::write(path.join(MARK), mark(name)).unwrap();
                fs::write(path.join("library"), vec![0; bytes - 1]).unwrap();
                fs::write(path.join(CHECKSUM), "0").unwrap();
                path.join(CHECKSUM)
            };
            File::options().append(true).open(file).unwrap().set_modified(SystemTime::now() - *age).unwrap();
        }
        folder
    }

    fn left(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = entries(folder).iter().map(|entry| entry.name().to_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_was_used_least_lately_goes_first() {
        let things = [
            ("a", 100, 50 * HOUR),
            ("b", 100, 40 * HOUR),
            ("c", 100, 2 * HOUR),
            ("note-", 10, 60 * HOUR),
            ("d", 100, HOUR / 2),
        ];
        let folder = folder(&things);
        let limits = |bytes| Limits { bytes, age: 100 * DAY };
        let prune = |bytes| prune(folder.path(), limits(bytes), SystemTime::now()).len();
        let head = mark("a").len() as u64;
        assert_eq!((prune(443 + 4 * head), left(folder.path()).len()), (0, 5));
        assert_eq!((prune(205 + 2 * head), left(folder.path())), (3, vec!["c".to_owned(), "d".to_owned()]));
        // What may be in use stays.
        assert_eq!((prune(0), left(folder.path())), (1, vec!["d".to_owned()]));
    }

    #[test]
    fn what_is_old_goes_and_what_was_measured_stays() {
        let folder = folder(&[("a", 10, 20 * DAY), ("b", 10, 5 * DAY), ("tuned-", 10, 500 * DAY)]);
        let limits = Limits { bytes: u64::MAX, age: 10 * DAY };
        let removed = prune(folder.path(), limits, SystemTime::now());
        assert_eq!(removed.iter().map(CacheEntry::name).collect::<Vec<_>>(), ["a"]);
        assert_eq!(left(folder.path()), ["b".to_owned(), keyed("tuned")]);
    }

    #[test]
    fn what_has_no_mark_is_neither_removed_nor_replaced() {
        let folder = folder(&[("a", 10, 500 * DAY)]);
        let key = Fnv128::of(b"key").to_string();
        let files = ["thesis.txt", &keyed("compiler"), &keyed("cubin"), "note-2024-12"];
        for (file, text) in files.iter().zip(["mine", "mine", &format!("{key}\nmine"), "mine"]) {
            fs::write(folder.path().join(file), text).unwrap();
        }
        let folders = ["photos", &key, &keyed("helpers"), "building-1-2"];
        for name in folders {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("thesis.txt"), "mine").unwrap();
        }
        // A mark that was copied.
        fs::copy(folder.path().join("a").join(MARK), folder.path().join("photos").join(MARK)).unwrap();
        let all = files.iter().map(|file| folder.path().join(file));
        let all: Vec<PathBuf> = all.chain(folders.map(|name| folder.path().join(name))).collect();
        for path in &all {
            File::open(path).unwrap().set_modified(SystemTime::now() - 500 * DAY).unwrap();
        }
        let removed = prune(folder.path(), Limits { bytes: 0, age: DAY }, SystemTime::now());
        assert_eq!(removed.iter().map(CacheEntry::name).collect::<Vec<_>>(), ["a"]);
        for path in &all {
            assert!(!displace(folder.path(), path));
            let text = fs::read_to_string(if path.is_dir() { path.join("thesis.txt") } else { path.clone() });
            assert!(text.unwrap().ends_with("mine"), "{}", path.display());
        }
        assert!(!may_replace(&all[0]) && !may_replace(&all[1]) && !may_replace(&all[5]));
    }

    #[test]
    fn there_is_one_a_day() {
        let folder = folder(&[("a", 10, 500 * DAY)]);
        prune_daily(folder.path());
        assert!(left(folder.path()).is_empty());
        let next = self::folder(&[("b", 10, 500 * DAY)]);
        fs::rename(next.path().join("b"), folder.path().join("b")).unwrap();
        prune_daily(folder.path());
        assert_eq!(left(folder.path()), ["b"]);
    }

    #[test]
    fn use_is_noted() {
        let folder = folder(&[("cubin-", 10, 3 * DAY)]);
        let file = folder.path().join(keyed("cubin"));
        used(&file, &fs::metadata(&file).unwrap());
        assert!(fs::metadata(&file).unwrap().modified().unwrap().elapsed().unwrap() < HOUR);
    }

    #[test]
    fn sizes_have_units() {
        let read = |text| bytes(text);
        assert_eq!([read("500"), read("1.5kb"), read("2 GB"), read("3MB")], [500.0, 1500.0, 2e9, 3e6].map(Some));
        assert_eq!([read("many"), read("MB"), read("")], [None; 3]);
    }
}
