//! A kernel at every stage, as `spc compile --emit STAGE` and `spc explain` print it.

use serde_json::{Map, Value, json};
use spc_compiler::concrete::{self, Target};
use spc_compiler::diagnostics::Diagnostics;
use spc_compiler::plan::{self, Facts, Planned};
use spc_compiler::{Compiled, Program, backend, explanation, notation, pass, schedule};

/// The texts by the names of stages, as far as the kernel gets, and why it gets no further.
pub(crate) fn texts(kernel: &notation::Kernel) -> (Value, Option<Diagnostics>) {
    let mut texts = Map::new();
    texts.insert("notation".to_owned(), json!(format!("{kernel}\n")));
    let planned = planned(kernel);
    let whole = planned.as_ref().map_or(kernel, |planned| &planned.kernel);
    let result = for_processor(whole, planned.as_ref(), &mut texts).and_then(|()| for_gpu(whole, &mut texts));
    (Value::Object(texts), result.err())
}

/// The plan for a kernel of which the text is all that is known.
fn planned(kernel: &notation::Kernel) -> Option<Planned> {
    plan::wanted(kernel)?;
    plan::plan(kernel, &Facts::stated(kernel, &[]))
}

fn scheduled(kernel: &notation::Kernel, target: Target) -> Result<schedule::Program, Diagnostics> {
    schedule::schedule(kernel, schedule::Options { target, ..schedule::Options::default() })
}

fn for_processor(
    whole: &notation::Kernel,
    planned: Option<&Planned>,
    texts: &mut Map<String, Value>,
) -> Result<(), Diagnostics> {
    let program = scheduled(whole, Target::Cpu)?;
    let nests: Vec<String> = program.kernels.iter().map(concrete::Kernel::to_string).collect();
    let mut explained = planned.map(|planned| explanation::plan(planned) + "\n").unwrap_or_default();
    explained.push_str(&explanation::program(whole, &program));
    texts.insert("concrete".to_owned(), json!(nests.join("\n")));
    let compiled = spc_compiler::compile(program)?;
    compiled.kernels.iter().for_each(|one| explanation::decisions(&pass::decisions(&one.kernel), &mut explained));
    texts.insert("explain".to_owned(), json!(explained));
    let record = schedule::text(&compiled.record());
    texts.insert("schedule".to_owned(), json!(if planned.is_some() { format!("{whole} {record}") } else { record }));
    let mut put =
        |name: &str, text: &dyn Fn(&Compiled) -> String| texts.insert(name.to_owned(), joined(&compiled, text));
    put("lattice", &|one| one.lattices.join("\n"));
    put("ir", &|one| one.kernel.to_string());
    put("rust", &|one| backend::rust::text(&one.kernel));
    let unit = backend::c::unit(compiled.kernels.iter().map(|one| &one.kernel));
    texts.insert("c".to_owned(), json!(unit.source));
    Ok(())
}

fn for_gpu(whole: &notation::Kernel, texts: &mut Map<String, Value>) -> Result<(), Diagnostics> {
    let compiled = spc_compiler::compile(scheduled(whole, Target::Gpu)?)?;
    let module = |one: &Compiled, text: fn(&backend::cuda::Module) -> String| match backend::cuda::module(
        &one.kernel,
        None,
        backend::cuda::Options::default(),
    ) {
        Ok(module) => text(&module),
        Err(refusal) => format!("// `{}` can't be compiled for CUDA: {}\n", one.kernel.name, refusal.what),
    };
    texts.insert("cuda".to_owned(), joined(&compiled, &|one| module(one, backend::cuda::text)));
    texts.insert("plan".to_owned(), joined(&compiled, &|one| module(one, backend::cuda::plan_text)));
    Ok(())
}

fn joined(program: &Program, text: &dyn Fn(&Compiled) -> String) -> Value {
    json!(program.kernels.iter().map(text).collect::<Vec<_>>().join("\n"))
}
