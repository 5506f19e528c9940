//! Other programs: where they are, and what they are started with.
//!
//! A program is known by an absolute path, starts in the root of the file system and has a fixed environment. So files beside data have no
//! say in what runs: neither `rust-toolchain.toml` and `.cargo/config.toml`, nor programs in a search path with an empty or relative entry.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The environment.
pub(crate) type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Lists of folders: what is not absolute is left out.
const PATHS: [&str; 13] = [
    "PATH",
    "HOME",
    "USERPROFILE",
    "RUSTUP_HOME",
    "CARGO_HOME",
    "LD_LIBRARY_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
    "LIBRARY_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LIB",
    "INCLUDE",
];

/// What the linkers of some systems need.
const OTHERS: [&str; 16] = [
    "SDKROOT",
    "DEVELOPER_DIR",
    "MACOSX_DEPLOYMENT_TARGET",
    "SystemRoot",
    "SystemDrive",
    "windir",
    "ComSpec",
    "ProgramData",
    "ProgramFiles",
    "ProgramFiles(x86)",
    "ProgramW6432",
    "CommonProgramFiles",
    "LOCALAPPDATA",
    "APPDATA",
    "VCINSTALLDIR",
    "WindowsSdkDir",
];

/// Chooses a toolchain. A name is one that the user has installed; a path could lead to any program.
pub(super) const TOOLCHAIN: &str = "RUSTUP_TOOLCHAIN";

/// A program, by its absolute path or by its name in the search path.
pub(crate) fn find(name: &OsStr, variable: Variables) -> Option<PathBuf> {
    let name = Path::new(name);
    if name.is_absolute() {
        return is_program(name).then(|| name.to_owned());
    }
    if name.components().count() != 1 || name.file_name().is_none() {
        return None;
    }
    let folders = variable("PATH")?;
    let absolute = env::split_paths(&folders).filter(|folder| folder.is_absolute());
    absolute.map(|folder| folder.join(name)).find(|path| is_program(path))
}

/// As [`find`], in this process's environment.
pub(crate) fn find_here(name: &str) -> Option<PathBuf> {
    find(format!("{name}{}", env::consts::EXE_SUFFIX).as_ref(), &|name| env::var_os(name))
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && is_executable(&found))
}

#[cfg(unix)]
fn is_executable(found: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(found) & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    true
}

/// The call of a program that was found.
pub(crate) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().current_dir(neutral_folder());
    for (name, value) in environment(&|name| env::var_os(name)) {
        command.env(name, value);
    }
    // What compilers of Nix are told by.
    let of_nix = |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with("NIX_"));
    command.envs(env::vars_os().filter(|(name, _)| of_nix(name)));
    command
}

/// What a program is told of the environment.
fn environment(variable: Variables) -> Vec<(&'static str, OsString)> {
    // Messages that are looked through are in one language.
    let mut all = vec![("LC_ALL", OsString::from("C"))];
    for name in PATHS {
        let Some(value) = variable(name) else { continue };
        let absolute = env::split_paths(&value).filter(|folder| folder.is_absolute());
        if let Some(value) = env::join_paths(absolute).ok().filter(|value| !value.is_empty()) {
            all.push((name, value));
        }
    }
    all.extend(OTHERS.iter().filter_map(|name| Some((*name, variable(name)?))));
    all.extend(toolchain(variable).map(|name| (TOOLCHAIN, name)));
    all
}

/// The toolchain that the environment names.
pub(super) fn toolchain(variable: Variables) -> Option<OsString> {
    let is_of_names = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let name = variable(TOOLCHAIN)?;
    let is_name = |name: &str| name.bytes().all(is_of_names) && name.bytes().any(|byte| byte != b'.');
    name.to_str().is_some_and(is_name).then_some(name)
}

/// A folder that no user can put a file into.
fn neutral_folder() -> PathBuf {
    match cfg!(windows) {
        true => env::var_os("SystemRoot").map_or_else(env::temp_dir, PathBuf::from),
        false => "/".into(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn program(folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn only_absolute_folders_are_searched() {
        let folder = tempfile::tempdir().unwrap();
        let path = program(folder.path(), "tool");
        fs::write(folder.path().join("plain"), "").unwrap();
        let with = |search: String| move |name: &str| (name == "PATH").then(|| OsString::from(&search));
        let absolute = folder.path().to_str().unwrap();
        for before in ["", ".:", ":", "bin:../x:"] {
            let variable = with(format!("{before}{absolute}"));
            assert_eq!(find("tool".as_ref(), &variable), Some(path.clone()), "{before}");
        }
        let variable = with(format!("{absolute}:."));
        // A file of this crate, which is where tests run.
        for name in ["Cargo.toml", "./Cargo.toml", "src/lib.rs", "plain", "..", ".", ""] {
            assert_eq!(find(name.as_ref(), &variable), None, "{name}");
        }
        assert_eq!(find(path.as_os_str(), &variable), Some(path));
    }

    #[test]
    fn the_environment_is_fixed() {
        let given = [
            ("PATH", "/bin::.:x:/usr/bin"),
            ("HOME", "data"),
            ("CARGO_HOME", "/home/me/.cargo"),
            ("RUSTC_WRAPPER", "/data/wrapper"),
            ("RUSTFLAGS", "-Clinker=/data/linker"),
            ("RUSTUP_TOOLCHAIN", "/data/evil"),
            ("LD_PRELOAD", "evil.so"),
        ];
        let variable = |name: &str| given.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        let expected = [("LC_ALL", "C"), ("PATH", "/bin:/usr/bin"), ("CARGO_HOME", "/home/me/.cargo")];
        assert_eq!(environment(&variable), expected.map(|(name, value)| (name, value.into())));
        for (name, is_passed) in
            [("nightly-2026-01-01", true), ("1.95", true), ("..", false), ("../evil", false), ("", false)]
        {
            assert_eq!(toolchain(&|_| Some(name.into())).is_some(), is_passed, "{name}");
        }
    }
}
