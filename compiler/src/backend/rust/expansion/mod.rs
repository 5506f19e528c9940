//! What `tensor_kernel!` expands to.
//!
//! For `pub fn spmv(A: csr, x: dense) -> y: dense { … }`, besides a hidden module with the loops:
//!
//! ```text
//! pub fn spmv(A: &Tensor<f64, Csr>, x: &Tensor<f64, Dense<1>>) -> Result<Tensor<f64, Dense<1>>, Error>
//! pub fn spmv_into(A: &Tensor<f64, Csr>, x: &Tensor<f64, Dense<1>>, y: &mut Tensor<f64, Dense<1>>) -> Result<(), Error>
//! ```
//!
//! Only these two stand beside the user's items, and all that they name is named by absolute path; in a module of their own
//! the loops see none of the user's names, whatever those are. Extents, copies and outputs are the business of the run time's
//! `StaticKernel` and `Call`, which read the kernel's declarations.

mod generic;
mod module;
mod wrappers;

use crate::diagnostics::{self, Diagnostic, Diagnostics};
use crate::notation;
use crate::plan;
use crate::schedule;
use crate::syntax;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use std::collections::BTreeMap;

/// How many index variables a statement may have in a macro.
const MAXIMUM_INDICES: usize = 128;

/// The items of a kernel of a program; `name` is the span of its name in the user's source.
///
/// # Errors
/// What the scheduler can't do yet.
pub fn expand(kernel: &notation::Kernel, program: &syntax::Program, name: Span) -> Result<TokenStream, Diagnostics> {
    let scheduled = scheduled(kernel)?;
    if kernel.schedule.is_some() {
        // Its versions are compiled one by one: what passes can't make of loops is refused here.
        crate::compile(scheduled.clone())?;
    }
    let functions = wrappers::wrappers(kernel, name, None);
    let module = module::module(scheduled, &module_name(&kernel.name), &source(program, &kernel.name));
    Ok(quote! { #functions #module })
}

/// The loops of a kernel, by the plan that its text alone gives.
fn scheduled(kernel: &notation::Kernel) -> Result<schedule::Program, Diagnostics> {
    let planned = plan::by_text(kernel);
    let planned = planned.and_then(|planned| schedule::schedule(&planned.kernel, schedule::Options::default()).ok());
    planned.map_or_else(|| schedule::schedule(kernel, schedule::Options::default()), Ok)
}

/// The expansion of `tensor_kernel! { … }`. What is wrong with the tokens becomes `compile_error!`s at them.
pub fn expand_tokens(tokens: TokenStream) -> TokenStream {
    generic::expand(&tokens).unwrap_or_else(|| expand_concrete(tokens))
}

/// The expansion of kernels none of which is generic.
fn expand_concrete(tokens: TokenStream) -> TokenStream {
    let text = syntax::tokens::render(tokens);
    match expand_text(&text.text, &|span| text.spans_of(span).0) {
        Ok(Expansion { mut items, warnings }) => {
            items.extend(text.warnings(&warnings));
            items
        }
        Err(diagnostics) => text.compile_errors(&diagnostics.into_sorted()),
    }
}

/// What a text becomes.
#[derive(Debug, Clone)]
pub struct Expansion {
    /// The items of every kernel.
    pub items: TokenStream,
    /// What is probably not meant, by position in each kernel.
    pub warnings: Vec<Diagnostic>,
}

/// The items of every kernel of a text; `place` gives the span of a range of it.
///
/// # Errors
/// All that is wrong with the text.
pub fn expand_text(text: &str, place: &dyn Fn(diagnostics::Span) -> Span) -> Result<Expansion, Diagnostics> {
    let program = syntax::parse_program(text)?;
    let kernels = notation::check(&program)?;
    let mut problems = Diagnostics::new();
    let mut items = TokenStream::new();
    for kernel in &kernels {
        if let Some(many) = many_indices(kernel) {
            problems.push(many);
            continue;
        }
        match expand(kernel, &program, place(kernel.name_span)) {
            Ok(tokens) => items.extend(tokens),
            Err(diagnostics) => problems.extend(diagnostics),
        }
    }
    let warnings = kernels.into_iter().flat_map(|kernel| kernel.warnings).collect();
    if problems.is_empty() { Ok(Expansion { items, warnings }) } else { Err(problems) }
}

/// What is wrong with a statement of more index variables than the stack of rustc, on which macros run, has room for.
fn many_indices(kernel: &notation::Kernel) -> Option<Diagnostic> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    let of_statements =
        kernel.variables.iter().filter_map(|variable| Some((variable, variable.written.as_ref()?.statement)));
    for (variable, statement) in of_statements {
        let count = counts.entry(statement).or_default();
        *count += 1;
        if *count > MAXIMUM_INDICES {
            return Some(syntax::error::many_indices(variable.span, MAXIMUM_INDICES));
        }
    }
    None
}

/// A kernel by itself, with the formats that are defined beside it.
fn source(program: &syntax::Program, kernel: &str) -> String {
    let is_its = |item: &&syntax::Item| match item {
        syntax::Item::Kernel(other) => other.name.name == kernel,
        definition => definition.is_definition(),
    };
    syntax::Program { items: program.items.iter().filter(is_its).cloned().collect() }.to_string()
}

/// The name of a kernel's hidden module.
fn module_name(kernel: &str) -> Ident {
    super::ident(&format!("__spc_{kernel}"))
}
