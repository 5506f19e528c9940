//! What holds for a whole command: how much it says, in which colours, and whether as JSON.

use clap::{Args, ColorChoice, ValueEnum};
use std::ffi::OsString;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Options that every verb has.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Settings {
    /// Print one JSON document instead of text, also for an error; times in milliseconds
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Only what was asked for, and errors: no notes, warnings and progress
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more: how each input is stored
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// When to print in colours
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t)]
    pub(crate) color: Color,
}

/// When text is printed in colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless the environment has NO_COLOR
    #[default]
    Auto,
    /// Also into files and pipes
    Always,
    /// Nowhere
    Never,
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

impl Settings {
    /// What the arguments say of it, before they are known to be right: errors in them are told so too.
    pub(crate) fn early(arguments: &[OsString]) -> Self {
        let mut settings = Self::default();
        let mut arguments = arguments.iter().skip(1).filter_map(|argument| argument.to_str()).peekable();
        while let Some(argument) = arguments.next() {
            let color = match argument {
                "--" => break,
                "--json" => {
                    settings.json = true;
                    continue;
                }
                "--color" => arguments.peek().copied(),
                other => other.strip_prefix("--color="),
            };
            settings.color = color.and_then(|color| Color::from_str(color, false).ok()).unwrap_or(settings.color);
        }
        settings
    }

    /// Has them hold from now on.
    pub(crate) fn hold(self) {
        self.color.hold();
        _ = SETTINGS.set(self);
    }
}

impl Color {
    pub(crate) fn hold(self) {
        let choice = match self {
            Color::Auto => return,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }

    pub(crate) fn of_clap(self) -> ColorChoice {
        match self {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        }
    }
}

/// Whether this process leaves notes, warnings and progress to another one.
static IS_HUSHED: AtomicBool = AtomicBool::new(false);

/// Leaves notes, warnings and progress to another process.
#[cfg(feature = "mpi")]
pub(crate) fn hush() {
    IS_HUSHED.store(true, Ordering::Relaxed);
}

/// What holds.
pub(crate) fn get() -> Settings {
    let settings = SETTINGS.get().copied().unwrap_or_default();
    match IS_HUSHED.load(Ordering::Relaxed) {
        true => Settings { quiet: true, verbose: false, ..settings },
        false => settings,
    }
}

/// Whether standard output is one JSON document.
pub(crate) fn json() -> bool {
    get().json
}

/// Whether nothing is to be said that was not asked for.
pub(crate) fn is_quiet() -> bool {
    get().quiet
}

/// Whether more is to be said.
pub(crate) fn is_verbose() -> bool {
    get().verbose
}
