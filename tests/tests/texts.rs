//! What is generated for every kernel of the corpus and of the suites, as one digest a kernel and target: a change that moves
//! decisions about leaves all of them, and one that changes code shows how far it reaches.
//!
//! `--texts FOLDER` writes the texts themselves, to compare those of two commits by `diff -r`.

use crate::printed::{self, cuda_texts, rust_text};
use spc_tests::case::Case;
use spc_tests::harness::options;
use spc_tests::ledger::hash;
use spc_tests::report::check_all;
use spc_tests::{corpus, suite};
use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;

/// The extents that kernels of the suites are compiled for too: one of a register tile, and one with a remainder.
const RANKS: [u64; 2] = [16, 24];

/// An array on the stack that is handed to a function which is not compiled into the kernel: it would lie in memory, and loops would go
/// by single elements.
fn handed_over(text: &str) -> Option<&str> {
    let mut declarations = text.split("let ").skip(1);
    // Names occur in several functions, and as slices too.
    declarations.find_map(|rest| {
        let (name, value) = rest.strip_prefix("mut ").unwrap_or(rest).split_once(" = ")?;
        let until_next = || value.split(&format!("let mut {name} =")).next().unwrap_or(value);
        let is_filled = || until_next().split(&format!("let {name} =")).next()?.find(&format!(" {name}.fill("));
        value.starts_with('[').then(is_filled).flatten().map(|_| name)
    })
}

fn generated_code_is_as_it_was() {
    let cases: Vec<(String, Case, bool)> = corpus::cases()
        .into_iter()
        .map(|case| (format!("corpus/{}", case.name), case, false))
        .chain(suite::cases().into_iter().map(|case| (format!("suite/{}", case.name), case, true)))
        .collect();
    let lines = Mutex::new(BTreeMap::new());
    let texts = options().texts.as_ref();
    check_all(
        &cases,
        |(name, ..)| name,
        |(name, case, is_of_suite)| {
            let known = printed::all().get(&case.name);
            let rust = known.map_or_else(|| rust_text(case, &[]), |printed| printed.rust.clone());
            let [cuda, deterministic] = known
                .map_or_else(|| cuda_texts(case), |printed| printed.cuda.clone())
                .map_or([None, None], |texts| texts.map(Some));
            let mut all = vec![
                ("rust".to_owned(), rust),
                ("cuda".to_owned(), cuda),
                ("cuda, deterministic".to_owned(), deterministic),
            ];
            if *is_of_suite && case.dims.iter().any(|(name, _)| name == "r") {
                all.extend(RANKS.map(|rank| (format!("rust, r = {rank}"), rust_text(case, &[("r", rank)]))));
            }
            for (target, text) in all.iter().filter_map(|(target, text)| Some((target, text.as_ref()?))) {
                if let Some(folder) = texts {
                    let path = folder.join(format!("{}.{target}.txt", name.replace(['/', ' '], "_")));
                    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
                }
                if let Some(array) = handed_over(text).filter(|_| target.starts_with("rust")) {
                    return Err(format!("{name} ({target}): `{array}` is filled by a function\n{text}"));
                }
                let line = format!("{name} ({target}): {:016x}", hash(text.bytes()));
                lines.lock().expect("nothing panics with it").insert((name.clone(), target.clone()), line);
            }
            Ok(())
        },
    );
    if texts.is_some() {
        return;
    }
    let lines: Vec<String> = lines.into_inner().expect("nothing panics with it").into_values().collect();
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("generated_code", lines.join("\n"));
    });
}

spc_tests::tests! {
    generated_code_is_as_it_was,
}
