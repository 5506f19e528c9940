//! The text that the compiler prints for every case and target: computed once, for the digests in the snapshot and for the ledger.

use crate::corpus::runnable;
use spc_compiler::backend::{cuda, rust};
use spc_compiler::concrete::Target;
use spc_compiler::schedule::Options;
use spc_compiler::{Compiled, Program};
use spc_tests::case::Case;
use spc_tests::engine;
use spc_tests::ledger::digest;
use spc_tests::report::check_all;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

/// Loops, plans and text for a CPU.
pub(crate) fn rust_text(case: &Case, extents: &[(&str, u64)]) -> Option<String> {
    let program = engine::program(case, Options::default(), extents).ok()?;
    Some(of_kernels(&program, |compiled| format!("{}\n{}", compiled.concrete, rust::text(&compiled.kernel))))
}

/// Plan and text for a GPU: of usual kernels, and of those whose results have the same bits each time.
pub(crate) fn cuda_texts(case: &Case) -> Option<[String; 2]> {
    let program = engine::program(case, Options { target: Target::Gpu, ..Options::default() }, &[]).ok()?;
    Some([false, true].map(|deterministic| {
        let options = cuda::Options { deterministic, ..cuda::Options::default() };
        of_kernels(&program, |compiled| match cuda::module(&compiled.kernel, None, options) {
            Ok(module) => format!("{}\n{}", cuda::plan_text(&module), cuda::text(&module)),
            Err(refusal) => format!("refused: {}\n", refusal.what),
        })
    }))
}

fn of_kernels(program: &Program, text: impl Fn(&Compiled) -> String) -> String {
    program.kernels.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// The texts of a case.
#[derive(Debug, Clone, Default)]
pub(crate) struct Printed {
    pub(crate) rust: Option<String>,
    pub(crate) cuda: Option<[String; 2]>,
}

/// Of all cases that run, by name.
pub(crate) fn all() -> &'static BTreeMap<String, Printed> {
    static ALL: OnceLock<BTreeMap<String, Printed>> = OnceLock::new();
    ALL.get_or_init(|| {
        let made = Mutex::new(BTreeMap::new());
        check_all(
            &runnable(),
            |case| &case.name,
            |case| {
                let printed = Printed { rust: rust_text(case, &[]), cuda: cuda_texts(case) };
                made.lock().expect("nothing panics with it").insert(case.name.clone(), printed);
                Ok(())
            },
        );
        made.into_inner().expect("nothing panics with it")
    })
}

/// The digest of all that a result of an engine depends on; see [`spc_tests::ledger`].
pub(crate) fn digest_for(engine: &str, case: &Case) -> u64 {
    let printed = &all()[&case.name];
    // C and the JIT print the loops of which Rust is another form.
    let (sources, texts): (&str, Vec<&str>) = match engine {
        "native" => (env!("SOURCES_OF_NATIVE"), printed.rust.iter().map(String::as_str).collect()),
        "c" => (env!("SOURCES_OF_C"), printed.rust.iter().map(String::as_str).collect()),
        "jit" => (env!("SOURCES_OF_JIT"), printed.rust.iter().map(String::as_str).collect()),
        "emulated" => (env!("SOURCES_OF_EMULATED"), printed.cuda.iter().flatten().map(String::as_str).collect()),
        "cu" => (env!("SOURCES_OF_CU"), printed.cuda.iter().flatten().map(String::as_str).collect()),
        _ => panic!("`{engine}` has no entries in the ledger"),
    };
    let case = format!("{case:?}");
    digest([sources, &case].into_iter().chain(texts).map(str::as_bytes))
}
