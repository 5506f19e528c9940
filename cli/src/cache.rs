//! `spc cache`: what is kept of compiled kernels.

use crate::arguments::bytes;
use crate::failure::Failure;
use crate::{output, settings};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use spc::execute::{CacheEntry, cache_entries, cache_folder, clear_cache, prune_cache};

/// Show or remove compiled kernels that are kept
///
/// They lie in `~/.cache/spc`, or where SPC_CACHE says. What was not used for SPC_CACHE_DAYS (90) is removed, and so is what was used
/// least lately, where there is more than SPC_CACHE_SIZE (2GB); schedules that `spc bench --tune` found stay.
#[derive(Debug, Args)]
pub(crate) struct Cache {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// How much of what is kept; so without an argument
    List,
    /// Remove what is too old or too much now, which else is done once a day
    Prune {
        /// How much may be left; SPC_CACHE_SIZE or 2GB if not given
        #[arg(long, value_name = "BYTES", value_parser = bytes)]
        size: Option<u64>,
    },
    /// Remove all, measured schedules too
    Clear,
}

impl Cache {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let Some(folder) = cache_folder() else {
            return Err(Failure::refused("there is no folder in which compiled kernels can be kept")
                .help("SPC_CACHE names one"));
        };
        let removed = match self.what {
            None | Some(What::List) => None,
            Some(What::Prune { size }) => Some(prune_cache(size)),
            Some(What::Clear) => Some(clear_cache()),
        };
        let kept = cache_entries();
        if settings::json() {
            let removed = removed.map(|removed| json!(figures(&removed)));
            return output::print_json(json!({ "folder": folder, "kept": figures(&kept), "removed": removed }));
        }
        let mut rows = Vec::new();
        for (what, count, bytes) in kinds(&kept) {
            rows.push(vec![what.to_owned(), count.to_string(), output::bytes(bytes)]);
        }
        let mut text = format!("{}: {}\n{}", folder.display(), total(&kept), output::table(&rows, 2));
        if let Some(removed) = removed {
            text += &format!("removed: {}\n", total(&removed));
        }
        output::print(&text)
    }
}

/// What something that is kept is.
fn kind(entry: &CacheEntry) -> &'static str {
    match entry.name().split_once('-').map(|(kind, _)| kind) {
        None => "libraries of kernels",
        Some("helpers") => "what all kernels use",
        Some("tuned") => "measured schedules",
        Some("cubin") => "functions of devices",
        Some(_) => "notes",
    }
}

fn kinds(entries: &[CacheEntry]) -> Vec<(&'static str, usize, usize)> {
    let mut names: Vec<&str> = entries.iter().map(kind).collect();
    names.sort_unstable();
    names.dedup();
    let of = |name: &'static str| {
        let all = entries.iter().filter(|entry| kind(entry) == name);
        (name, all.clone().count(), all.map(|entry| entry.bytes as usize).sum())
    };
    names.into_iter().map(of).collect()
}

fn total(entries: &[CacheEntry]) -> String {
    let bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
    let things = if entries.len() == 1 { "thing" } else { "things" };
    format!("{} {things}, {}", entries.len(), output::bytes(bytes as usize))
}

fn figures(entries: &[CacheEntry]) -> Value {
    let bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
    json!({ "count": entries.len(), "bytes": bytes })
}
