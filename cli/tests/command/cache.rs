//! Compiled kernels on disk, and the compiler: what is not the user's own, what is damaged, what hangs, who is killed.
#![cfg(unix)]

use crate::{Place, assert_has};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A kernel and its data, natively, with the result on standard output.
const RUN: [&str; 12] =
    ["run", "y(i) = A(i, j) * x(j)", "-f", "A=csr", "-f", "x=dense", "-i", "A=A.tns", "-i", "x=x.tns", "-o", "y=-"];
const RESULT: &str = "# shape: 2\n1 102\n2 30\n";

fn place() -> Place {
    Place::new().with("A.tns", "# shape: 2 3\n1 1 2\n1 3 1\n2 2 3\n").with("x.tns", "# shape: 3\n1 1\n2 10\n3 100\n")
}

impl Place {
    /// A native run in a cache of its own.
    fn native(&self, cache: &Path) -> Command {
        let mut command = self.command(&RUN);
        command.args(["--backend", "native"]).env("SPC_CACHE", cache);
        command
    }

    /// What a native run with a compiler of its own says when it fails; how long that took.
    fn with_compiler(&self, name: &str, script: &str) -> (Output, Duration) {
        let compiler = self.path(name);
        fs::write(&compiler, format!("#!/bin/sh\n{script}\n")).unwrap();
        mode(&compiler, 0o755);
        let start = Instant::now();
        let mut command = self.native(&self.path("cache"));
        (command.env("SPC_RUSTC", &compiler).env("SPC_RUSTC_TIMEOUT", "2").output().unwrap(), start.elapsed())
    }
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The standard error of a run whose result is right.
fn runs(mut command: Command) -> String {
    let output = command.output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), RESULT, "{message}");
    assert!(output.status.success(), "{message}");
    message
}

fn is_from_cache(message: &str) -> bool {
    message.contains("(compiled before)")
}

#[test]
fn a_kernel_that_was_compiled_is_found_without_the_compiler() {
    let place = place();
    let cache = place.path("cache");
    assert!(!is_from_cache(&runs(place.native(&cache))));
    let without = |cache: &Path| {
        let mut command = place.command(&RUN);
        command.env("SPC_CACHE", cache).env("SPC_RUSTC", "/nowhere/rustc").env("PATH", "/nowhere");
        command
    };
    let message = runs(without(&cache));
    assert!(is_from_cache(&message), "{message}");
    assert_has(&message, &["native on "]);
    assert_has(&runs(without(&place.path("another"))), &["jit on "]);
}

/// What is in a cache, but for the few empty files that are there to be locked.
fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let is_lock = |name: &String, bytes: u64| name.starts_with("turn-") && bytes == 0;
    let mut names: Vec<String> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().map_or(0, |found| found.len())))
        .filter(|(name, bytes)| !is_lock(name, *bytes))
        .map(|(name, _)| name)
        .collect();
    names.sort();
    names
}

/// The library of the only kernel in a cache.
fn library(cache: &Path) -> PathBuf {
    let homes = entries(cache).into_iter().map(|name| cache.join(name));
    let libraries = homes.map(|home| home.join("libspc_kernel.so")).filter(|path| path.is_file());
    let mut libraries: Vec<PathBuf> = libraries.collect();
    assert_eq!(libraries.len(), 1, "{libraries:?}");
    libraries.remove(0)
}

#[test]
fn a_folder_that_others_may_write_is_not_used() {
    let place = place();
    for (name, bits) in [("open", 0o777), ("group", 0o770), ("sticky", 0o1777)] {
        let cache = place.path(name);
        fs::create_dir(&cache).unwrap();
        mode(&cache, bits);
        let message = runs(place.native(&cache));
        let said = format!("note: compiled kernels are not kept in {}: it can be written by others", cache.display());
        assert_has(&message, &[&said, "chmod go-w"]);
        assert_eq!(message.matches("note:").count(), 1, "{message}");
        assert_eq!(entries(&cache), [""; 0]);
    }
    // So it is with a folder above it, and through links.
    let (above, link) = (place.path("open/above/cache"), place.path("link"));
    assert_has(&runs(place.native(&above)), &[&format!("{} can be written by others", place.path("open").display())]);
    symlink(place.path("open"), &link).unwrap();
    assert_has(&runs(place.native(&link)), &["open can be written by others (mode 777)"]);
    let mut command = place.command(&[&RUN[..10], &["--json"]].concat());
    let output = command.env("SPC_CACHE", &above).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_has(json["cache_warnings"][0].as_str().unwrap(), &["can be written by others"]);
    // A folder that is the user's own is used, and nothing is said.
    let own = place.path("own/cache");
    assert!(!runs(place.native(&own)).contains("note:"));
    let message = runs(place.native(&own));
    assert!(is_from_cache(&message) && !message.contains("note:"), "{message}");
}

#[test]
fn what_belongs_to_another_user_is_not_used() {
    let place = place();
    let cache = place.path("cache");
    runs(place.native(&cache));
    let other = Some(4321);
    if chown(library(&cache), other, None).is_err() {
        return println!("0 runs: only root can give files away");
    }
    let message = runs(place.native(&cache));
    assert_has(&message, &["libspc_kernel.so belongs to another user (uid 4321): it was made anew"]);
    assert!(!is_from_cache(&message));
    assert!(is_from_cache(&runs(place.native(&cache))));
    chown(library(&cache).parent().unwrap(), other, None).unwrap();
    assert!(!is_from_cache(&runs(place.native(&cache))));
    // As root has it with another user's home.
    chown(&cache, other, None).unwrap();
    let said = format!("not kept in {}: it belongs to another user (uid 4321)", cache.display());
    assert_has(&runs(place.native(&cache)), &[&said]);
    fs::create_dir(place.path("home")).unwrap();
    chown(place.path("home"), other, None).unwrap();
    let mut command = place.native(&cache);
    command.env_remove("SPC_CACHE").env_remove("XDG_CACHE_HOME").env("HOME", place.path("home"));
    assert_has(&runs(command), &["home/.cache/spc", "belongs to another user (uid 4321)"]);
    assert_eq!(entries(&place.path("home")), [""; 0]);
}

#[test]
fn what_is_damaged_or_replaced_is_compiled_anew() {
    let place = place();
    let cache = place.path("cache");
    runs(place.native(&cache));
    let library = library(&cache);
    let whole = fs::read(&library).unwrap();
    for replace in [
        &|| fs::write(&library, &whole[..whole.len() / 2]).unwrap() as _,
        &|| fs::remove_file(&library).unwrap(),
        &|| mode(&library, 0o666),
        &|| {
            fs::rename(&library, place.path("elsewhere.so")).unwrap();
            symlink(place.path("elsewhere.so"), &library).unwrap();
        },
        &|| fs::remove_dir_all(library.parent().unwrap()).unwrap(),
    ] as [&dyn Fn(); 5]
    {
        replace();
        assert!(!is_from_cache(&runs(place.native(&cache))));
        assert!(is_from_cache(&runs(place.native(&cache))));
    }
    // What is not ours stays, and a kernel is compiled each time.
    fs::remove_dir_all(library.parent().unwrap()).unwrap();
    fs::write(library.parent().unwrap(), "a file").unwrap();
    for _ in 0..2 {
        assert!(!is_from_cache(&runs(place.native(&cache))));
        assert_eq!(fs::read_to_string(library.parent().unwrap()).unwrap(), "a file");
    }
}

/// Whoever names a folder of data as the cache, or has one where files are temporary, loses nothing.
#[test]
fn what_the_user_has_stays() {
    let place = place();
    let (cache, temporary, shared) = (place.path("cache"), place.path("tmp"), place.path("shared"));
    let mut all = Vec::new();
    for folder in [&cache, &temporary] {
        fs::create_dir(folder).unwrap();
        mode(folder, 0o700);
        let key = "0123456789abcdef".repeat(2);
        let names = ["note-2024-12", "damaged-4294967-1", "building-1-2", "spc-building-0a-4294967-3", "photos"];
        for name in names.into_iter().chain([key.as_str(), &format!("helpers-{key}")]) {
            fs::create_dir(folder.join(name)).unwrap();
            fs::write(folder.join(name).join("thesis.txt"), "mine").unwrap();
            all.push(folder.join(name));
        }
        for name in ["note-1-2", ".y.tns.4294967-0.spc.tmp", "turn-2024", "pruned", &format!("compiler-{key}")] {
            fs::write(folder.join(name), "mine").unwrap();
            all.push(folder.join(name));
        }
    }
    fs::create_dir(&shared).unwrap();
    mode(&shared, 0o777);
    let old = std::time::SystemTime::now() - Duration::from_secs(500 * 24 * 60 * 60);
    let native = |cache: &Path| {
        all.iter().for_each(|path| fs::File::open(path).unwrap().set_modified(old).unwrap());
        let mut command = place.native(cache);
        command.env("TMPDIR", &temporary).env("SPC_CACHE_DAYS", "1").env("SPC_CACHE_SIZE", "0");
        command
    };
    for cache in [&cache, &shared] {
        runs(native(cache));
        place.prints(&["convert", "A.tns", "tmp/A.spct"]);
    }
    for arguments in [["cache", "prune"], ["cache", "clear"]] {
        let output = place.command(&arguments).env("SPC_CACHE", &cache).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    for path in all {
        let file = if path.is_dir() { path.join("thesis.txt") } else { path };
        assert_eq!(fs::read_to_string(&file).ok().as_deref(), Some("mine"), "{}", file.display());
    }
}

#[test]
fn without_a_usable_folder_kernels_are_compiled_all_the_same() {
    let place = place().with("file", "");
    for cache in ["file", "file/below"] {
        assert_has(&runs(place.native(&place.path(cache))), &["note: compiled kernels are not kept in", "file"]);
    }
    let mut command = place.native(Path::new(""));
    command.env_remove("XDG_CACHE_HOME").env("HOME", place.path("file"));
    assert_has(&runs(command), &["file/.cache/spc"]);
    // A read-only file system, where there is one to which root can't write.
    if Path::new("/proc/self").is_dir() {
        assert_has(&runs(place.native(Path::new("/proc/spc"))), &["not kept in /proc/spc"]);
    }
}

/// A disk with so little room that the compiler can't write its library there.
#[test]
fn a_full_disk_stops_no_run() {
    let place = place();
    let disk = place.path("disk");
    fs::create_dir(&disk).unwrap();
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=128k,mode=700", "tmpfs"]).arg(&disk).stderr(Stdio::null());
    if !mount.status().is_ok_and(|status| status.success()) {
        return println!("0 runs: file systems can't be mounted");
    }
    let outputs = [place.native(&disk).output(), place.native(&disk).output()];
    let left = entries(&disk);
    _ = Command::new("umount").arg(&disk).status();
    for output in outputs.map(Result::unwrap) {
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), RESULT, "{message}");
    }
    assert!(left.iter().all(|name| !name.starts_with(".spc-")), "{left:?}");
}

#[test]
fn compilers_that_do_no_good_are_clear_errors() {
    let place = place();
    let as_rustc = "[ \"$1\" = -vV ] && exec rustc -vV";
    for (name, script, expected) in [
        ("hangs", format!("{as_rustc}; sleep 100"), "took longer than 2 s to compile the kernel; SPC_RUSTC_TIMEOUT"),
        ("writes", format!("{as_rustc}; yes >&2"), "it wrote more than 16 MiB"),
        ("nothing", format!("{as_rustc}; exit 0"), "wrote no library"),
        ("killed", format!("{as_rustc}; kill -9 $$"), "signal: 9"),
        (
            "rubbish",
            format!("{as_rustc}; while [ $# -gt 1 ]; do [ \"$1\" = -o ] && echo no > \"$2\"; shift; done"),
            "can't be loaded",
        ),
        ("asked", "sleep 100".to_owned(), "asked -vV` (it took longer than 2 s)"),
        ("endless", "yes".to_owned(), "endless -vV` (it wrote more than 16 MiB)"),
    ] {
        let (output, time) = place.with_compiler(name, &script);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}: {message}");
        assert_has(&message, &["error: ", expected]);
        assert!(time < Duration::from_secs(60), "{name} took {time:?}");
        let left = entries(&place.path("cache"));
        assert!(left.iter().all(|name| name.starts_with("compiler-")), "{name} left {left:?}");
    }
    fs::create_dir(place.path("folder")).unwrap();
    for compiler in ["folder", "A.tns"] {
        let mut command = place.native(&place.path("cache"));
        let output = command.env("SPC_RUSTC", place.path(compiler)).output().unwrap();
        assert_has(&String::from_utf8(output.stderr).unwrap(), &["there is no Rust compiler", compiler]);
    }
    let output = place.native(&place.path("cache")).env("SPC_RUSTC_TIMEOUT", "soon").output().unwrap();
    assert_has(&String::from_utf8(output.stderr).unwrap(), &["SPC_RUSTC_TIMEOUT is `soon`", "a number of seconds"]);
}

/// Which processes work in a folder.
#[cfg(target_os = "linux")]
fn at_work(folder: &Path) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let lines = processes.filter_map(|process| fs::read(process.join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(folder.to_str().unwrap()) && line.contains("rustc")).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn who_is_killed_leaves_nothing_that_harms() {
    let place = place();
    let cache = place.path("cache");
    let start = Instant::now();
    runs(place.native(&place.path("first")));
    let mut whole = start.elapsed().max(Duration::from_millis(100));
    let mut seed = u64::from(std::process::id()) | 1;
    println!("seed {seed}");
    let (mut killed, mut had_left) = (0, 0);
    for round in 0..24 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let part = (seed >> 40) as f64 / f64::from(1 << 24);
        let mut command = place.native(&cache);
        let mut running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole.mul_f64(part));
        running.kill().unwrap();
        let is_done = running.wait().unwrap().success();
        killed += usize::from(!is_done);
        had_left += usize::from(cache.is_dir() && entries(&cache).iter().any(|name| name.starts_with(".spc-")));
        let end = Instant::now() + Duration::from_secs(10);
        while !at_work(&cache).is_empty() {
            assert!(Instant::now() < end, "after {round} kills: {:?}", at_work(&cache));
            std::thread::sleep(Duration::from_millis(20));
        }
        // Each kernel that is there is whole.
        if round % 6 == 5 {
            runs(place.native(&cache));
            let left = entries(&cache);
            assert!(
                left.iter().all(|name| !name.contains('-')
                    || ["compiler-", "helpers-", "compiled-", "pruned"].iter().any(|kept| name.starts_with(kept))),
                "{left:?}"
            );
            assert!(is_from_cache(&runs(place.native(&cache))));
            library(&cache);
        }
        // The next one compiles anew, and the machine may be faster by now.
        if is_done || round % 6 == 5 {
            fs::remove_dir_all(&cache).unwrap();
            whole = whole.mul_f64(if is_done { part.max(0.5) } else { 1.0 });
        }
    }
    assert!(killed >= 10 && had_left > 0, "{killed} of 24 were killed, {had_left} while they compiled");
}

#[test]
fn processes_that_compile_the_same_do_not_disturb_each_other() {
    let place = place();
    let cache = place.path("cache");
    let running: Vec<_> =
        (0..4).map(|_| place.native(&cache).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()).collect();
    for running in running {
        let output = running.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), RESULT, "{}", String::from_utf8_lossy(&output.stderr));
    }
    library(&cache);
    assert!(is_from_cache(&runs(place.native(&cache))));
}

#[test]
fn a_cache_that_is_removed_meanwhile_is_made_again() {
    let place = place();
    let cache = place.path("cache");
    let mut running = place.native(&cache).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while running.try_wait().unwrap().is_none() {
        _ = fs::remove_dir_all(&cache);
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = running.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), RESULT, "{}", String::from_utf8_lossy(&output.stderr));
    runs(place.native(&cache));
    assert!(is_from_cache(&runs(place.native(&cache))));
}

/// The system refuses more: root it does not, so another user runs where this one can become another.
#[test]
#[cfg(target_os = "linux")]
fn threads_that_can_not_be_started_are_a_clear_error() {
    let place = place();
    mode(place.folder.path(), 0o777);
    let limited = |user: &[&str], arguments: &[&str]| {
        let shell =
            [user, &["bash", "-c", "ulimit -u 1; exec \"$@\"", "bash", env!("CARGO_BIN_EXE_spc")], arguments].concat();
        Command::new(shell[0]).args(&shell[1..]).current_dir(place.folder.path()).output()
    };
    let other = ["setpriv", "--reuid=54321", "--clear-groups"];
    let Ok(output) = limited(&other, &["convert", "A.tns", "B.spct", "--format", "csr"]) else {
        return println!("0 runs: there is no setpriv");
    };
    let message = String::from_utf8(output.stderr).unwrap();
    if message.contains("setpriv") || message.contains("Permission denied") {
        return println!("0 runs: {message}");
    }
    assert_has(&message, &["error: the threads can't be started", "= help: "]);
    let output = limited(&other, &[&RUN[..], &["--threads", "5"]].concat()).unwrap();
    assert_has(&String::from_utf8(output.stderr).unwrap(), &["error: 5 threads can't be started"]);
}

#[test]
fn threads_are_as_many_as_make_sense() {
    let place = place();
    let cache = place.path("cache");
    runs(place.native(&cache));
    for asked in ["3000", "99999999999"] {
        let mut command = place.native(&cache);
        command.args(["--threads", asked]);
        let start = Instant::now();
        assert_has(&runs(command), &["note: ", &format!("threads work, not {asked}")]);
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    }
    for usual in ["3000", "99999999999", "99999999999999999999999999", "0", "-1", "many", ""] {
        let mut command = place.native(&cache);
        command.env("RAYON_NUM_THREADS", usual);
        runs(command);
    }
    for asked in [1, 2, 3, 7, 64, 200] {
        let mut command = place.native(&cache);
        command.args(["--threads", &asked.to_string()]);
        assert!(!runs(command).contains("threads work, not"));
    }
    assert_has(&place.fails(&[&RUN[..], &["--threads", "0"]].concat(), 2), &["--threads"]);
}
