//! The macro `tensor_kernel!`; use it through the crate `spc`.
//!
//! This crate is a thin door: the compiler is an ordinary library, `spc-compiler`.

use proc_macro::TokenStream;
use proc_macro2::{Literal, Span};
use quote::{quote, quote_spanned};
use std::path::{Path, PathBuf};

/// Compiles kernels in index notation to functions over typed tensors.
///
/// For each `fn name(…)` there are two functions: `name`, which returns the results, and `name_into`, which writes them
/// into tensors of the right shape. Visibility and doc comments are kept. Both return a `Result`: extents that disagree, or a
/// result that would be too large, are errors.
///
/// ```ignore
/// spc::tensor_kernel! {
///     /// Mode-1 MTTKRP.
///     pub fn mttkrp(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }
/// }
/// let a = mttkrp(&x, &b, &c)?;
/// ```
///
/// `tensor_kernel!(file = "kernels/mttkrp.ti")` reads a file, relative to the folder of `Cargo.toml`, and the crate is
/// compiled again when it changes.
#[proc_macro]
pub fn tensor_kernel(tokens: TokenStream) -> TokenStream {
    let tokens = proc_macro2::TokenStream::from(tokens);
    match file_argument(&tokens) {
        Some((path, span)) => from_file(&path, span).into(),
        None => spc_compiler::backend::rust::expand_tokens(tokens).into(),
    }
}

/// The path in `file = "…"`.
fn file_argument(tokens: &proc_macro2::TokenStream) -> Option<(String, Span)> {
    let trees: Vec<proc_macro2::TokenTree> = tokens.clone().into_iter().collect();
    let [name, equals, proc_macro2::TokenTree::Literal(path)] = &trees[..] else { return None };
    let is_file = name.to_string() == "file" && equals.to_string() == "=";
    let text = path.to_string();
    let path_text = text.strip_prefix('"')?.strip_suffix('"')?;
    is_file.then(|| (path_text.to_owned(), path.span()))
}

fn from_file(path: &str, span: Span) -> proc_macro2::TokenStream {
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let whole = folder.join(path);
    let text = match std::fs::read_to_string(&whole) {
        Ok(text) => text,
        Err(error) => return compile_error(&format!("can't read `{}`: {error}", whole.display()), span),
    };
    let items = match spc_compiler::backend::rust::expand_text(&text, &|_| span) {
        Ok(items) => items,
        Err(diagnostics) => {
            let problems = diagnostics.into_sorted();
            problems.iter().map(|problem| compile_error(&located(&whole, &text, problem), span)).collect()
        }
    };
    // Makes rustc look at the file again when it changes.
    let whole = Literal::string(&whole.to_string_lossy());
    quote!(#items const _: &[u8] = ::core::include_bytes!(#whole);)
}

/// `mttkrp.ti:3:5: message (E0102); help`
fn located(path: &Path, text: &str, problem: &spc_compiler::diagnostics::Diagnostic) -> String {
    let before = text.get(..problem.span.start).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let help: String = problem.help.iter().map(|line| format!("\nhelp: {line}")).collect();
    format!("{}:{line}:{column}: {} [{}]{help}", path.display(), problem.message, problem.code)
}

fn compile_error(message: &str, span: Span) -> proc_macro2::TokenStream {
    quote_spanned!(span=> ::core::compile_error!(#message);)
}
