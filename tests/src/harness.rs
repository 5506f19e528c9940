//! The harness of tests that run in tiers, need what a machine may lack, or are many of one kind: tests with names, and options.
//!
//! `cargo test --workspace` runs the usual tier, in minutes. The whole adds what takes longer: every case in every engine, and more
//! random programs; it is `cargo test --workspace --features spc-tests/whole`. A filter runs all that it names, in both tiers.
//!
//! Options follow `--` (`cargo test -p spc-tests -- random --times 20 --seed 7`), or as words in the variable `SPC_TESTS`
//! for all programs of a `cargo test --workspace` (`SPC_TESTS="times=20 seed=7"`). `-- --help` lists them.
//!
//! What a machine lacks is no success: such a test returns [`Skip`], and is told as ignored, with the reason.

use crate::{corpus, ledger, suite};
use clap::{Args, CommandFactory, Parser};
use libtest_mimic::{Arguments, Completion, Trial};
use spc_compiler::diagnostics::suggest;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

const HEADING: &str = "What is tested";

/// What can be asked of the tests.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = HEADING)]
pub struct Options {
    /// Runs everything, not only the usual tier; so does a filter with what it names, and the feature `whole`
    #[arg(long)]
    pub whole: bool,
    /// Verifies every case in every engine, also what the ledger has
    #[arg(long)]
    pub verify_all: bool,
    /// Writes what was verified into the ledger
    #[arg(long)]
    pub record: bool,
    /// Which results of the ledger are verified again; a number that is drawn, unless given
    #[arg(long, value_name = "N")]
    pub draw: Option<u64>,
    /// Multiplies the number of random programs, schedules and damaged inputs
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub times: u64,
    /// The first seed of random programs, schedules and damaged inputs
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Compiles kernels whose results are tested as users get them, not unoptimised with checks of overflow
    #[arg(long)]
    pub optimized: bool,
    /// Compiles CUDA C for each architecture, instead of one a case
    #[arg(long)]
    pub architectures: bool,
    /// A Python with NumPy and SciPy; else `SPC_PYTHON` says one, or it is `python3`
    #[arg(long, value_name = "PROGRAM")]
    pub python: Option<PathBuf>,
    /// A Python with NumPy and `finch-mlir`, to compare with MLIR
    #[arg(long, value_name = "PROGRAM")]
    pub finch: Option<PathBuf>,
    /// Writes good inputs for `cargo fuzz` below this folder
    #[arg(long, value_name = "FOLDER")]
    pub fuzz_inputs: Option<PathBuf>,
    /// Writes what is generated for each kernel below this folder, to compare two states of the compiler
    #[arg(long, value_name = "FOLDER")]
    pub texts: Option<PathBuf>,
    /// Says at the end which tests took longest
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub slowest: usize,
}

/// All arguments of a test program.
#[derive(Debug, Parser)]
#[command(
    disable_version_flag = true,
    override_usage = "cargo test -p PACKAGE -- [OPTIONS] [FILTER]",
    after_help = "The variable SPC_TESTS gives the same options, as words: SPC_TESTS=\"whole times=5\""
)]
struct CommandLine {
    #[command(flatten)]
    arguments: Arguments,
    #[command(flatten)]
    options: Options,
}

/// The variables of `spc` and of its tests, and of processes that tests start.
const VARIABLES: &[&str] = &[
    "SPC_TESTS",
    "SPC_PYTHON",
    "SPC_CACHE",
    "SPC_CACHE_DAYS",
    "SPC_CACHE_SIZE",
    "SPC_CATALOGUE",
    "SPC_COMMIT",
    "SPC_CHECKED_KERNELS",
    "SPC_CUSPARSE",
    "SPC_FAULT",
    "SPC_NVCC",
    "SPC_NVRTC",
    "SPC_RUSTC",
    "SPC_RUSTC_TIMEOUT",
    "SPC_EMULATION",
    "SPC_EMULATED_BYTES",
    "SPC_EMULATED_PAGEABLE",
    "SPC_EMULATED_WRONG",
    ALONE,
];

/// Set in the process that runs one test alone.
const ALONE: &str = "SPC_TEST_ALONE";

/// Why a test could not run on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skip(pub String);

impl Skip {
    /// There is no C++ compiler.
    pub fn without_cpp() -> Skip {
        Skip("there is no C++ compiler (g++)".to_owned())
    }

    /// There is no Rust compiler to compile kernels with.
    pub fn without_rustc() -> Skip {
        Skip("there is no Rust compiler (rustc)".to_owned())
    }
}

/// What keeps a test from success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It could not run.
    Skip(Skip),
    /// Something is wrong.
    Wrong(String),
}

impl From<Skip> for Failure {
    fn from(skip: Skip) -> Self {
        Failure::Skip(skip)
    }
}

impl From<String> for Failure {
    fn from(wrong: String) -> Self {
        Failure::Wrong(wrong)
    }
}

/// What a test returns; a panic is a failure too.
pub trait Outcome {
    /// The same for the harness.
    fn result(self) -> Result<(), Failure>;
}

impl Outcome for () {
    fn result(self) -> Result<(), Failure> {
        Ok(())
    }
}

impl<E: Into<Failure>> Outcome for Result<(), E> {
    fn result(self) -> Result<(), Failure> {
        self.map_err(Into::into)
    }
}

static OPTIONS: OnceLock<Options> = OnceLock::new();

/// How long each test took that did not panic.
static TIMES: Mutex<Vec<(Duration, String)>> = Mutex::new(Vec::new());

/// The options of this process.
pub fn options() -> &'static Options {
    OPTIONS.get_or_init(|| Options { times: 1, seed: 1, ..Options::default() })
}

impl Options {
    /// So many of what is random: `usual`, in the whole `all`, times what is asked for.
    pub fn count(&self, usual: u64, all: u64) -> u64 {
        self.times * if self.whole { all } else { usual }
    }

    /// The items of a list that run: all in the whole, else every `share`-th.
    pub fn sample<T>(&self, all: Vec<T>, share: usize) -> Vec<T> {
        let runs = |place: usize| self.whole || place.is_multiple_of(share);
        all.into_iter().enumerate().filter(|(place, _)| runs(*place)).map(|(_, one)| one).collect()
    }

    /// The number that says which results of the ledger are verified again: the same in the whole run.
    pub fn draw(&self) -> u64 {
        static DRAWN: OnceLock<u64> = OnceLock::new();
        *DRAWN.get_or_init(|| self.draw.unwrap_or_else(|| u64::from(RandomState::new().hash_one(0) as u16)))
    }

    /// The seeds of so many.
    pub fn seeds(&self, usual: u64, all: u64) -> std::ops::Range<u64> {
        self.seed..self.seed + self.count(usual, all)
    }

    /// The Python that can do `check`.
    ///
    /// # Errors
    /// There is none.
    pub fn python_for(&self, check: &str, what: &str) -> Result<PathBuf, Skip> {
        let named = self.python.clone().or_else(|| std::env::var_os("SPC_PYTHON").map(PathBuf::from));
        let python = named.unwrap_or_else(|| "python3".into());
        let answer = Command::new(&python).args(["-c", check]).output();
        match answer.is_ok_and(|output| output.status.success()) {
            true => Ok(python),
            false => Err(Skip(format!("`{}` is no Python with {what} (--python, SPC_PYTHON)", python.display()))),
        }
    }
}

/// The tests of a program.
pub struct Suite {
    arguments: Arguments,
    trials: Vec<Trial>,
}

impl Suite {
    /// Adds a test of the usual tier.
    pub fn test<O: Outcome>(&mut self, name: impl Into<String>, test: impl FnOnce() -> O + Send + 'static) {
        let name = name.into();
        self.trials.push(Trial::ignorable_test(name.clone(), move || {
            let start = Instant::now();
            let result = test().result();
            TIMES.lock().expect("no test panics here").push((start.elapsed(), name));
            match result {
                Ok(()) => Ok(Completion::Completed),
                Err(Failure::Skip(Skip(reason))) => Ok(Completion::ignored_with(reason)),
                Err(Failure::Wrong(message)) => Err(message.into()),
            }
        }));
    }

    /// Adds a test that the whole runs, and a filter that names it.
    pub fn whole<O: Outcome>(&mut self, name: impl Into<String>, test: impl FnOnce() -> O + Send + 'static) {
        match options().whole {
            true => self.test(name, test),
            false => self.test(name, || -> Result<(), Skip> { Err(Skip("it is in the whole (--whole)".to_owned())) }),
        }
    }

    /// Adds a test that has a process of its own: it changes, or measures, what belongs to a process.
    pub fn alone<O: Outcome>(&mut self, name: impl Into<String>, test: impl FnOnce() -> O + Send + 'static) {
        if std::env::var_os(ALONE).is_some() {
            return self.test(name, test);
        }
        let name = name.into();
        self.test(name.clone(), move || again(&name, |_| {}));
    }

    /// Whether a test of this name would run.
    pub fn selects(&self, name: &str) -> bool {
        !self.arguments.is_filtered_out(&Trial::test(name, || Ok(())))
    }
}

/// Runs a test of this program again in a process of its own, which `prepare` may change.
///
/// # Errors
/// Why it could not run.
///
/// # Panics
/// When it fails.
pub fn again(name: &str, prepare: impl FnOnce(&mut Command)) -> Result<(), Skip> {
    let program = std::env::current_exe().expect("a test knows its program");
    let mut command = Command::new(program);
    command.args(["--exact", name, "--test-threads=1"]);
    // What runs here may be of a part; there it is named.
    let Options { whole, times, seed, optimized, .. } = options();
    command.args([format!("--times={times}"), format!("--seed={seed}")]);
    command
        .args(whole.then_some("--whole"))
        .args(optimized.then_some("--optimized"))
        .env_remove("SPC_TESTS")
        .env(ALONE, "1");
    prepare(&mut command);
    let output = command.output().expect("the test starts");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("running 1 test"), "in a process of its own:\n{said}");
    if said.contains(" 1 passed;") { Ok(()) } else { Err(Skip(ignored(&said).to_owned())) }
}

/// The reason for which a test was ignored, from what the harness prints.
fn ignored(said: &str) -> &str {
    let reason = said.lines().find_map(|line| line.split_once("... ignored (")?.1.strip_suffix(')'));
    reason.unwrap_or_default()
}

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// What a panic of `body` says, as an error; nothing of it is printed.
///
/// # Errors
/// What the panic says.
pub fn without_panics<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    let before = IS_QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(body));
    IS_QUIET.set(before);
    result.map_err(|panic| {
        let message = panic.downcast_ref::<String>().cloned();
        let message = message.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        format!("panic: {}", message.unwrap_or_default())
    })
}

/// Runs the tests that `register` adds. Kernels are kept below `folder`, which is the `target` folder's.
pub fn main(folder: &str, register: impl FnOnce(&mut Suite)) -> ExitCode {
    if let Some(unknown) = unknown_variable() {
        eprintln!("error: {unknown}");
        return ExitCode::from(2);
    }
    let mut words: Vec<OsString> = std::env::args_os().take(1).collect();
    let of_variable = std::env::var("SPC_TESTS").unwrap_or_default();
    words.extend(of_variable.split_whitespace().map(|word| format!("--{}", word.trim_start_matches("--")).into()));
    words.extend(std::env::args_os().skip(1));
    let CommandLine { arguments, mut options } = CommandLine::parse_from(words);
    // What is named, runs; a process that runs one test again is told.
    let is_named = arguments.filter.is_some() && std::env::var_os(ALONE).is_none();
    let (slowest, record) = (options.slowest, options.record);
    options.whole |= cfg!(feature = "whole") || is_named;
    options.verify_all |= options.whole;
    _ = OPTIONS.set(options);
    if std::env::var_os("SPC_CACHE").is_none() {
        // SAFETY: no other thread is there yet.
        unsafe { std::env::set_var("SPC_CACHE", PathBuf::from(folder).join("kernels")) };
    }
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !IS_QUIET.get() {
            usual(panic);
        }
    }));
    let mut suite = Suite { arguments, trials: Vec::new() };
    register(&mut suite);
    let conclusion = libtest_mimic::run(&suite.arguments, suite.trials);
    tell_slowest(slowest);
    if record && let Err(error) = ledger::record(is_case) {
        eprintln!("error: {}: {error}", ledger::file().display());
        return ExitCode::FAILURE;
    }
    conclusion.exit_code()
}

fn is_case(name: &str) -> bool {
    static NAMES: OnceLock<BTreeSet<String>> = OnceLock::new();
    let all = || corpus::cases().into_iter().chain(suite::cases()).map(|case| case.name.replace(' ', "_"));
    NAMES.get_or_init(|| all().collect()).contains(name)
}

/// Prints the tests that took longest, the slowest first.
fn tell_slowest(count: usize) {
    let mut times = std::mem::take(&mut *TIMES.lock().expect("no test panics here"));
    times.sort_unstable_by(|one, other| other.cmp(one));
    for (time, name) in times.iter().take(count) {
        println!("{:8.2} s  {name}", time.as_secs_f64());
    }
}

/// The options and variables that people may set: what CONTRIBUTING.md has to say something of.
pub fn settings() -> Vec<String> {
    let command = CommandLine::command();
    let own = command.get_arguments().filter(|argument| argument.get_help_heading() == Some(HEADING));
    let options = own.filter_map(|argument| argument.get_long()).map(|name| format!("--{name}"));
    let is_internal = |name: &&&str| **name == ALONE || name.starts_with("SPC_EMULAT");
    options.chain(VARIABLES.iter().filter(|name| !is_internal(name)).map(|name| (*name).to_owned())).collect()
}

/// What is wrong with the environment: a variable that nothing reads.
fn unknown_variable() -> Option<String> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let unknown = |name: &String| name.starts_with("SPC_") && !VARIABLES.contains(&name.as_str());
    let name = names.filter(unknown).min()?;
    let like = suggest::similar(&name, VARIABLES.iter().copied());
    let like = like.map_or(String::new(), |like| format!("; did you mean `{like}`?"));
    Some(format!(
        "nothing reads the variable `{name}`{like}\nOptions of the tests are arguments behind `--`, or words in SPC_TESTS; `-- --help` lists them."
    ))
}

/// The name of a test of a module.
pub fn name(module: &str, test: &str) -> String {
    // Without the program's name.
    module.split_once("::").map_or(test.to_owned(), |(_, module)| format!("{module}::{test}"))
}

/// Defines `tests`, or a function that `fn` names, which adds the functions of a module to a [`Suite`], each under its own name;
/// `[whole]` and `[alone]` go before the name of one that is added by [`Suite::whole`] or [`Suite::alone`].
#[macro_export]
macro_rules! tests {
    ($($([$how:ident])? $test:ident),* $(,)?) => {
        /// Adds the tests of this module.
        pub(crate) fn tests(suite: &mut $crate::harness::Suite) {
            $($crate::tests!(@ suite, $test $(, $how)?);)*
        }
    };
    (fn $function:ident; $($([$how:ident])? $test:ident),* $(,)?) => {
        fn $function(suite: &mut $crate::harness::Suite) {
            $($crate::tests!(@ suite, $test $(, $how)?);)*
        }
    };
    (@ $suite:ident, $test:ident) => {
        $suite.test($crate::harness::name(module_path!(), stringify!($test)), $test)
    };
    (@ $suite:ident, $test:ident, $how:ident) => {
        $suite.$how($crate::harness::name(module_path!(), stringify!($test)), $test)
    };
}
