//! In which way kernels run, and why; native code that comes with the command; what is kept.
#![cfg(unix)]

use crate::{Place, assert_has};
use serde_json::Value;
use spc::execute::catalogue;
use std::fs;
use std::path::Path;
use std::process::Command;

const RUN: [&str; 11] =
    ["run", "y(i) = A(i, j) * x(j)", "-f", "A=csr", "-f", "x=dense", "-i", "A=A.tns", "-i", "x=x.tns", "--json"];

fn place() -> Place {
    Place::new().with("A.tns", "# shape: 2 3\n1 1 2\n1 3 1\n2 2 3\n").with("x.tns", "# shape: 3\n1 1\n2 10\n3 100\n")
}

impl Place {
    fn in_cache(&self, arguments: &[&str], cache: &str) -> Command {
        let mut command = self.command(arguments);
        command.env("SPC_CACHE", self.path(cache));
        command
    }

    /// The same without a compiler.
    fn without(&self, arguments: &[&str], cache: &str) -> Command {
        let mut command = self.in_cache(arguments, cache);
        command.env("SPC_RUSTC", "/nowhere/rustc").env("PATH", "");
        command
    }
}

fn json(mut command: Command) -> Value {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The tier and why; all of them have the same result.
fn tier(command: Command) -> (String, String) {
    let ran = json(command);
    assert_eq!(ran["checksum"], 132.0, "{ran}");
    let text = |name: &str| ran[name].as_str().unwrap().to_owned();
    (text("tier"), text("tier_reason"))
}

const MISSING: &str = "there is no Rust compiler: looked for `/nowhere/rustc` (from SPC_RUSTC)";

#[test]
fn a_run_says_in_which_way_and_why() {
    let place = place();
    let is = |found: (String, String), tier: &str, parts: &[&str]| {
        assert_eq!(found.0, tier, "{}", found.1);
        assert_has(&found.1, parts);
    };
    // Nothing was compiled here yet, and this build makes machine code at once.
    is(tier(place.in_cache(&RUN, "cache")), "jit", &["the Rust compiler is at work in the background"]);
    let with = |backend| [&RUN[..], &["--backend", backend]].concat();
    is(tier(place.in_cache(&with("native"), "cache")), "rustc", &["there is a Rust compiler"]);
    is(tier(place.in_cache(&RUN, "cache")), "cached", &["it was compiled before"]);
    is(tier(place.without(&RUN, "cache")), "cached", &[MISSING, "it was compiled before"]);
    is(tier(place.without(&RUN, "none")), "jit", &[MISSING, "this build makes machine code itself"]);
    is(tier(place.without(&with("jit"), "none")), "jit", &["it was asked for"]);
    is(tier(place.in_cache(&with("interpreter"), "none")), "interpreter", &["it was asked for"]);

    let verbose = place.without(&[&RUN[..10], &["-v"]].concat(), "none").output().unwrap();
    let said = String::from_utf8(verbose.stderr).unwrap();
    assert_has(&said, &["note: the kernel ran in the tier `jit`: there is no Rust compiler"]);
    let explained = place.without(&[&["explain"], &RUN[1..10]].concat(), "cache").output().unwrap();
    assert_has(&String::from_utf8(explained.stdout).unwrap(), &["tier: cached (there is no Rust compiler"]);
}

/// A catalogue for the least processors, of the kernels of a line of the list.
fn catalogue(place: &Place, only: &str) -> std::path::PathBuf {
    let file = place.path("spc.catalogue");
    let arguments = ["catalogue", "-o", "spc.catalogue", "--level", catalogue::levels()[0], "--only", only, "--json"];
    let made = json(place.command(&arguments));
    assert!(made["kernels"].as_u64().unwrap() >= 2, "{made}");
    assert_eq!(made["bytes"].as_u64().unwrap(), fs::metadata(&file).unwrap().len());
    file
}

#[test]
fn native_code_of_the_catalogue_runs_without_a_compiler() {
    let place = place();
    let file = catalogue(&place, "y(i) = A(i, j) * x(j)");
    let with = |arguments: &[&str], file: &Path| {
        let mut command = place.without(arguments, "none");
        command.env("SPC_CATALOGUE", file);
        command
    };
    let (found, reason) = tier(with(&RUN, &file));
    assert_eq!(found, "catalogue", "{reason}");
    assert_has(&reason, &[MISSING, "its native code came with this program"]);
    assert_eq!(json(with(&RUN, &file))["backend"], "native");
    // Names do not matter, formats do.
    let renamed = RUN.map(|part| match part {
        "y(i) = A(i, j) * x(j)" => "out(row) = M(row, col) * v(col)",
        "A=csr" => "M=coo",
        "x=dense" => "v=dense",
        "A=A.tns" => "M=A.tns",
        "x=x.tns" => "v=x.tns",
        other => other,
    });
    assert_eq!(tier(with(&renamed, &file)).0, "catalogue");
    let other = renamed.map(|part| if part == "M=coo" { "M=dcsr" } else { part });
    assert_eq!(tier(with(&other, &file)).0, "jit");
    let explained = with(&[&["explain"], &RUN[1..10]].concat(), &file).output().unwrap();
    assert_has(&String::from_utf8(explained.stdout).unwrap(), &["tier: catalogue (there is no Rust compiler"]);

    // What is damaged is not loaded.
    let mut bytes = fs::read(&file).unwrap();
    let last = bytes.len() - 100;
    bytes[last] ^= 1;
    fs::write(&file, bytes).unwrap();
    assert_eq!(tier(with(&RUN, &file)).0, "jit");
    assert_eq!(tier(with(&RUN, &place.path("nowhere"))).0, "jit");
}

#[test]
fn a_catalogue_has_levels_and_kernels_of_the_list() {
    let place = place();
    let refused = place.refuses(&["catalogue", "-o", "x", "--level", "z80"]);
    assert_has(&refused, &["there is no level `z80`; there are ", catalogue::levels()[0]]);
    assert_has(&place.refuses(&["catalogue", "-o", "x", "--only", "zzz"]), &["no kernel of the list has `zzz` in it"]);
    assert!(!place.path("x").exists());
}

#[test]
fn what_is_kept_is_shown_and_removed() {
    let place = place();
    let kept = |arguments: &[&str]| json(place.in_cache(&[&["cache"], arguments, &["--json"]].concat(), "cache"));
    assert_eq!(kept(&[])["kept"]["count"], 0);
    let native = [&RUN[..], &["--backend", "native"]].concat();
    json(place.in_cache(&native, "cache"));
    let all = kept(&["list"]);
    assert!(all["kept"]["count"].as_u64().unwrap() >= 3 && all["kept"]["bytes"].as_u64().unwrap() > 1000, "{all}");
    assert_eq!(all["removed"], Value::Null);
    let text = place.in_cache(&["cache"], "cache").output().unwrap();
    assert_has(&String::from_utf8(text.stdout).unwrap(), &["libraries of kernels", "what all kernels use", "notes"]);
    // What may be in use stays.
    let pruned = kept(&["prune", "--size", "0"]);
    assert_eq!((&pruned["removed"]["count"], &pruned["kept"]), (&0.into(), &all["kept"]));
    let cleared = kept(&["clear"]);
    assert_eq!((&cleared["kept"]["count"], &cleared["removed"]), (&0.into(), &all["kept"]));
    assert_eq!(tier(place.in_cache(&native, "cache")).0, "rustc");
}

#[test]
fn limits_of_what_is_kept_are_numbers() {
    let place = place();
    let mut command = place.in_cache(&[&RUN[..], &["--backend", "native"]].concat(), "cache");
    let ran = json({
        command.env("SPC_CACHE_SIZE", "many");
        command
    });
    assert_has(ran["cache_warnings"][0].as_str().unwrap(), &["SPC_CACHE_SIZE is `many`, which is no limit"]);
}
