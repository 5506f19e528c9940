//! The user's Rust compiler: where it is, which it is, and how it is called.

use super::NativeError;
use super::external::{self, Variables};
use super::level::{self, Level};
use super::process::{self, Failure, Finished};
use super::text::HELPERS;
use crate::execute::cache::{Cache, Part, Workshop};
use crate::execute::hash::Fnv128;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// What a kernel is compiled with.
///
/// Lints are not capped: a cap would also lift `forbid(unsafe_code)`, which keeps kernels safe.
///
/// Panics unwind, so that a fault in generated code is an error and not the end of the process. Without its symbols a
/// library is 0.3 MB instead of 4.
const FLAGS: &[&str] = &["--edition=2024", "-Awarnings", "-Ccodegen-units=1", "-Cpanic=unwind", "-Cstrip=symbols"];

/// How kernels are compiled.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativeBuild {
    /// As fast as they get: what users run.
    Optimized,
    /// In a quarter of the time, with checks of overflow and of what unsafe code promises: for tests of results.
    Checked,
    /// As fast as they get on processors of a level.
    Level(Level),
}

impl Default for NativeBuild {
    /// Unit tests of this crate are tests of results; those of others say so to a program that is itself not optimised.
    fn default() -> Self {
        let is_asked = || cfg!(debug_assertions) && env::var_os("SPC_CHECKED_KERNELS").is_some();
        if cfg!(test) || is_asked() { NativeBuild::Checked } else { NativeBuild::Optimized }
    }
}

impl NativeBuild {
    /// As fast as they get on processors of a level, such as `x86-64-v3`.
    pub fn level(name: &str) -> Option<NativeBuild> {
        level::named(name).map(NativeBuild::Level)
    }

    /// The compiler's flags.
    pub(super) fn flags(self) -> impl Iterator<Item = &'static str> {
        let own: &[&str] = match self {
            NativeBuild::Optimized | NativeBuild::Level(_) => &["-Copt-level=3"],
            NativeBuild::Checked => &["-Copt-level=0", "-Coverflow-checks=on", "-Cdebug-assertions=on"],
        };
        let processor: &[&str] = match self {
            NativeBuild::Level(level) => level.flags,
            NativeBuild::Optimized | NativeBuild::Checked => &["-Ctarget-cpu=native"],
        };
        FLAGS.iter().chain(processor).chain(own).copied()
    }

    /// Flags that the compiler may not know, as they belong to LLVM or may change.
    pub(super) fn tuning(self) -> impl Iterator<Item = &'static str> {
        let own: &[&str] = match self {
            NativeBuild::Optimized | NativeBuild::Level(_) => &[WITHOUT_LONG_UNROLLING, SHARED],
            NativeBuild::Checked => &[],
        };
        let of_level = matches!(self, NativeBuild::Level(_));
        own.iter().copied().chain(if of_level { None } else { for_wide_vectors() })
    }
}

/// Loops of more than 32 steps go to the vectorizer as loops. Written out before that, those of 41 to 60 elements were too many for what
/// makes vectors of single steps: rows of 48 took five times as long as rows of 40 or 64.
const WITHOUT_LONG_UNROLLING: &str = "-Cllvm-args=-unroll-full-max-count=32";

/// Code of generic functions that the helpers have for a type is not compiled again: half of what a kernel takes to compile. Without
/// optimization that is so without being asked for.
const SHARED: &str = "-Zshare-generics=yes";

/// Compilers that are no nightly ones take flags such as [`SHARED`] where this is set.
const UNSTABLE: (&str, &str) = ("RUSTC_BOOTSTRAP", "1");

/// The helpers are compiled once, on several processors; what matters of them in a loop is inlined there.
const HELPERS_IN_PARTS: [&str; 2] = ["-Ccodegen-units=2", "-Clto=off"];

/// What is added where the processor's widest vectors cost it nothing. For those with AVX-512, compilers take half of their width,
/// which the first of them were faster with; later ones, known by what came with them, are not.
fn for_wide_vectors() -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512bf16") {
        return Some("-Ctarget-feature=-prefer-256-bit");
    }
    None
}

/// Environment variables that name the compiler, in the order in which they are asked.
const VARIABLES: [&str; 2] = ["SPC_RUSTC", "RUSTC"];

/// How many seconds the compiler may take.
const TIMEOUT: &str = "SPC_RUSTC_TIMEOUT";
const USUAL_TIMEOUT: Duration = Duration::from_secs(300);
/// To say what it is it may take no longer than this.
const VERSION_TIMEOUT: Duration = Duration::from_secs(30);

/// A Rust compiler.
#[derive(Debug, Clone)]
pub(super) struct Rustc {
    path: PathBuf,
    /// What it says of itself: the output of `rustc -vV`.
    pub(super) version: String,
    /// How long it may take.
    pub(super) limit: Duration,
}

impl Rustc {
    /// The compiler that the environment names, else the one in the search path. `variable` reads the environment.
    pub(super) fn find(cache: &Cache, variable: Variables) -> Result<Rustc, NativeError> {
        let limit = limit(variable)?;
        for name in VARIABLES {
            if let Some(compiler) = variable(name).filter(|compiler| !compiler.is_empty()) {
                let is_relative = Path::new(&compiler).components().count() > 1 && !Path::new(&compiler).is_absolute();
                let wrong = if is_relative { ": write an absolute path" } else { "" };
                let looked = format!("`{}` (from {name}{wrong})", compiler.display());
                let path = external::find(&compiler, variable).ok_or(NativeError::NoCompiler { looked })?;
                return Rustc::at(path, limit, cache);
            }
        }
        let name = format!("rustc{}", env::consts::EXE_SUFFIX);
        let looked = "`rustc` in the search path".to_owned();
        let path = external::find(name.as_ref(), variable).ok_or(NativeError::NoCompiler { looked })?;
        Rustc::at(path, limit, cache)
    }

    /// The compiler in this file. To ask it for its version takes longer than all else that a cached kernel needs, so the
    /// answer is kept as long as the file stays the same. (Behind the file may be `rustup`, whose choice of a compiler may
    /// change when the user sets another default. That does no harm: a kernel from another compiler is as good.)
    fn at(path: PathBuf, limit: Duration, cache: &Cache) -> Result<Rustc, NativeError> {
        let note = identity(&path).map(|identity| format!("compiler-{identity}"));
        let known = note.as_ref().and_then(|note| cache.note(note));
        let known = known.as_deref().and_then(|known| known.split_once('\n'));
        if let Some((program, version)) = known.filter(|(program, _)| Path::new(program).is_file()) {
            return Ok(Rustc { path: program.into(), version: version.to_owned(), limit });
        }
        let refused = |reason| NativeError::NoCompiler { looked: format!("`{} -vV` ({reason})", path.display()) };
        let version = answer(&path, &["-vV"], limit).map_err(refused)?;
        let path = chosen(&path, limit).unwrap_or(path);
        if let (Some(note), Some(program)) = (note, path.to_str()) {
            cache.keep_note(&note, &format!("{program}\n{version}"));
        }
        Ok(Rustc { path, version, limit })
    }

    /// Compiles the text in a folder to the library there. Kernels are linked to the helpers in a file.
    pub(super) fn compile(
        &self,
        workshop: &Workshop,
        part: Part,
        helpers: Option<&Path>,
        build: NativeBuild,
    ) -> Result<(), NativeError> {
        let library = workshop.library(part);
        let mut arguments: Vec<OsString> = match part {
            Part::Kernels => vec!["--crate-type=cdylib".into(), "--crate-name=spc_kernel".into()],
            Part::Helpers => vec!["--crate-type=rlib".into(), format!("--crate-name={HELPERS}").into()],
        };
        if part == Part::Helpers {
            arguments.extend(HELPERS_IN_PARTS.map(OsString::from));
        }
        if let Some(helpers) = helpers {
            let mut named = OsString::from(format!("{HELPERS}="));
            named.push(helpers);
            arguments.extend(["--extern".into(), named]);
        }
        arguments.extend(["-o".into(), library.clone().into(), workshop.source(part).into()]);
        let mut output = self.call(workshop, &arguments, build, &build.tuning().collect::<Vec<_>>())?;
        if !output.status.success() && build.tuning().next().is_some() {
            // Another version of LLVM may not know these names.
            output = self.call(workshop, &arguments, build, &[])?;
        }
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.success() {
            true if library.is_file() => Ok(()),
            true => Err(self.refused(format!("it ended as if all were well, and wrote no library\n{said}"))),
            false if output.status.code().is_some() && !said.trim().is_empty() => Err(self.refused(said.into_owned())),
            false => Err(self.refused(format!("{}\n{said}", output.status))),
        }
    }

    fn call(
        &self,
        workshop: &Workshop,
        arguments: &[OsString],
        build: NativeBuild,
        more: &[&str],
    ) -> Result<Finished, NativeError> {
        let command = || {
            let mut command = external::command(&self.path);
            command.args(build.flags()).args(more).args(arguments);
            if more.iter().any(|flag| flag.starts_with("-Z")) {
                command.env(UNSTABLE.0, UNSTABLE.1);
            }
            // What it leaves when it is killed is removed with the folder.
            for name in ["TMPDIR", "TMP", "TEMP"] {
                command.env(name, workshop.folder());
            }
            command
        };
        process::run_in_place(&command, self.limit).map_err(|failure| match failure {
            Failure::TimeLimit(limit) => {
                NativeError::TimeLimit { compiler: self.path.clone(), limit: limit.as_secs_f64() }
            }
            failure => self.refused(failure.to_string()),
        })
    }

    fn refused(&self, output: String) -> NativeError {
        NativeError::Compile { compiler: self.path.clone(), output: output.trim_end().to_owned() }
    }
}

/// What a compiler says of itself.
fn answer(path: &Path, question: &[&str], limit: Duration) -> Result<String, String> {
    let command = || {
        let mut command = external::command(path);
        command.args(question);
        command
    };
    match process::run(&command, limit.min(VERSION_TIMEOUT)) {
        Ok(Finished { status, stdout, .. }) if status.success() => Ok(String::from_utf8_lossy(&stdout).into_owned()),
        Ok(Finished { status, .. }) => Err(status.to_string()),
        Err(failure) => Err(failure.to_string()),
    }
}

/// The compiler that `rustup` chooses, where it is behind a path: to choose takes it as long as a compiler takes to read a kernel.
fn chosen(path: &Path, limit: Duration) -> Option<PathBuf> {
    let program = path.canonicalize().ok()?;
    if program.file_stem()? != "rustup" {
        return None;
    }
    let root = answer(path, &["--print", "sysroot"], limit).ok()?;
    let compiler = Path::new(root.trim_end()).join("bin").join(format!("rustc{}", env::consts::EXE_SUFFIX));
    compiler.is_file().then_some(compiler)
}

/// How long the compiler may take.
fn limit(variable: Variables) -> Result<Duration, NativeError> {
    let Some(value) = variable(TIMEOUT).filter(|value| !value.is_empty()) else { return Ok(USUAL_TIMEOUT) };
    let value = value.to_string_lossy();
    let seconds = value.trim().parse::<f64>().ok().filter(|&seconds| seconds > 0.0);
    let expected = "a number of seconds above 0";
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds.min(1e9)).ok())
        .filter(|limit| !limit.is_zero())
        .ok_or_else(|| NativeError::Setting { name: TIMEOUT, value: value.clone().into_owned(), expected })
}

/// What changes when a file does.
fn identity(path: &Path) -> Option<String> {
    let path = path.canonicalize().ok()?;
    let metadata = fs::metadata(&path).ok()?;
    let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let mut hash = Fnv128::default();
    hash.write(path.as_os_str().as_encoded_bytes());
    hash.write(&changed.as_nanos().to_le_bytes());
    hash.write(&metadata.len().to_le_bytes());
    // What was noted before programs started in a neutral folder is not used.
    hash.write(b"neutral");
    hash.write(external::toolchain(&|name| env::var_os(name)).unwrap_or_default().as_encoded_bytes());
    Some(hash.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(variables: &[(&str, &str)]) -> String {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
        match Rustc::find(&Cache::in_folder(None), &variable) {
            Err(error) if error.is_missing_compiler() => error.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_compiler_that_is_not_there_is_named() {
        let remedy = "install one (https://rustup.rs) or name it in SPC_RUSTC";
        let nothing = "there is no Rust compiler: looked for";
        assert_eq!(looked(&[]), format!("{nothing} `rustc` in the search path; {remedy}"));
        assert_eq!(looked(&[("PATH", "/nowhere")]), format!("{nothing} `rustc` in the search path; {remedy}"));
        assert_eq!(looked(&[("RUSTC", "none"), ("SPC_RUSTC", "")]), format!("{nothing} `none` (from RUSTC); {remedy}"));
        let relative = "`./none` (from SPC_RUSTC: write an absolute path)";
        assert_eq!(looked(&[("SPC_RUSTC", "./none")]), format!("{nothing} {relative}; {remedy}"));
        assert_eq!(looked(&[("SPC_RUSTC", "/bin/none")]), format!("{nothing} `/bin/none` (from SPC_RUSTC); {remedy}"));
    }

    #[test]
    fn a_program_that_is_no_compiler_is_not_taken_for_one() {
        let program = tempfile::NamedTempFile::new().unwrap();
        #[cfg(unix)]
        fs::set_permissions(program.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let path = program.path().to_str().unwrap();
        assert!(looked(&[("SPC_RUSTC", path)]).contains(&format!("`{path} -vV`")));
    }

    #[test]
    fn the_time_limit_is_a_number_of_seconds() {
        let of = |value: &'static str| limit(&move |name| (name == TIMEOUT).then(|| value.into()));
        assert_eq!((of("").unwrap(), of("0.5").unwrap()), (USUAL_TIMEOUT, Duration::from_millis(500)));
        for wrong in ["0", "-1", "soon", "NaN", "1e-30"] {
            let error = of(wrong).map(|limit| limit.is_zero());
            let is_refused = matches!(&error, Err(error) if error.to_string().contains("SPC_RUSTC_TIMEOUT is"));
            assert!(is_refused, "{wrong}: {error:?}");
        }
        assert!(of("inf").unwrap() > USUAL_TIMEOUT);
    }

    #[test]
    fn the_answer_to_what_a_compiler_is_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(Some(folder.path().to_owned()));
        let first = Rustc::find(&cache, &|name| env::var_os(name)).unwrap();
        assert!(first.version.contains("host: "));
        let notes = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(notes, 1);
        assert_eq!(Rustc::find(&cache, &|name| env::var_os(name)).unwrap().version, first.version);
    }
}
