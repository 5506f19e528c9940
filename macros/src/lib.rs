//! The macro `tensor_kernel!`; use it through the crate `spc`.
//!
//! This crate is a thin door: the compiler is an ordinary library, `spc-compiler`.

use proc_macro::TokenStream;
use proc_macro2::{Ident, Literal, Span, TokenTree};
use quote::{quote, quote_spanned};
use spc_compiler::backend::rust::Expansion;
use spc_compiler::diagnostics::{Diagnostic, line_and_column};
use spc_compiler::syntax::tokens::warning;
use std::path::{Path, PathBuf};

/// Compiles kernels in index notation to functions over typed tensors.
///
/// For each `fn name(…)` there are two functions: `name`, which returns the results, and `name_into`, which writes them
/// into tensors of the right shape, whose memory it reuses. Visibility and doc comments are kept. Both return a `Result`:
/// extents that disagree, or a result that would be too large, are errors.
///
/// ```ignore
/// spc::tensor_kernel! {
///     /// Mode-1 MTTKRP.
///     pub fn mttkrp(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }
/// }
/// let a = mttkrp(&x, &b, &c)?;
/// mttkrp_into(&x, &b, &c, &mut a)?;
/// ```
///
/// A parameter in a format is a `&Tensor<ELEMENT, FORMAT>`, a scalar its element type; a result likewise. Each format has
/// one type, however it is written: a name where there is one (`csr` and `[dense, compressed]` are both `Csr`), else
/// `Levels<…>` or `Permuted<…>`.
///
/// A kernel may be generic over the element type. Parameters and results that say no type are of it, and so are those that say `T`:
///
/// ```ignore
/// spc::tensor_kernel! {
///     fn spmv<T>(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }
///     fn scale<T: f32 | f64>(A: csr, alpha: T) -> B: csr { B(i, j) = alpha * A(i, j); }
/// }
/// let y: Tensor<f32, Dense<1>> = spmv(&a, &x)?;
/// ```
///
/// `<T>` stands for each number type that the operators take: `f64`, `f32`, `i32`, `i64`, `u8`, `c32`, `c64`. Each is a kernel of its
/// own, as if it had been written for that type; a call with another is an error of rustc that lists them. Loops that are never called
/// are compiled no further than to check them, unless the function is public in a library: list the types there.
///
/// Results begin as their fill value in both functions, whatever the operator: `y(i) += A(i, j) * x(j)` does not add to what `name_into`
/// finds in `y`. A kernel that is to add takes the addend as a parameter: `y(i) = b(i) + A(i, j) * x(j)`.
///
/// Where no input says how far an index of a result runs, the shape of what `name_into` gets does: all of `y` in
/// `y(i) = x(i + k) * w(k)`. Without it, `name` makes the largest result for which all indices stay inside.
///
/// What is probably not meant, as the index `jj` in `y(i) = A(i, jj) * x(j)`, is a warning of rustc at that index (it says that
/// something deprecated is used, as macros have no other warnings), with what to write if it is.
///
/// With the feature `cuda` of the crate `spc`, `gpu.scope(|| mttkrp(&x, &b, &c))` runs the same kernel on a GPU.
///
/// What the macro writes names the run-time crate `::spc`, as its library is called whatever the package. A crate whose `Cargo.toml` gives it
/// another name says `extern crate that_name as spc;` in its root.
///
/// `tensor_kernel!(file = "kernels/mttkrp.ti")` reads a file, relative to the folder of `Cargo.toml`, and the crate is
/// compiled again when it changes.
#[proc_macro]
pub fn tensor_kernel(tokens: TokenStream) -> TokenStream {
    let tokens = proc_macro2::TokenStream::from(tokens);
    match argument(&tokens) {
        Some((name, path)) => from_argument(&name, &path).into(),
        None => spc_compiler::backend::rust::expand_tokens(tokens).into(),
    }
}

/// `name = "…"`, which no kernel is.
fn argument(tokens: &proc_macro2::TokenStream) -> Option<(Ident, Literal)> {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    match &trees[..] {
        [TokenTree::Ident(name), TokenTree::Punct(equals), TokenTree::Literal(path)] if equals.as_char() == '=' => {
            Some((name.clone(), path.clone()))
        }
        _ => None,
    }
}

fn from_argument(name: &Ident, path: &Literal) -> proc_macro2::TokenStream {
    if name != "file" {
        return compile_error(&format!("there is no argument `{name}`; a file is `file = \"…\"`"), name.span());
    }
    let text = path.to_string();
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(file) => from_file(&folder, file, path.span()),
        None => compile_error("the path of a file is a string between plain quotes", path.span()),
    }
}

/// The kernels of a file. What is wrong with it is reported at `span`, with its place in the file.
fn from_file(folder: &Path, path: &str, span: Span) -> proc_macro2::TokenStream {
    let whole = folder.join(path);
    let text = match std::fs::read_to_string(&whole) {
        Ok(text) => text,
        Err(error) => {
            return compile_error(&format!("can't read `{path}` in the folder of Cargo.toml: {error}"), span);
        }
    };
    let items = match spc_compiler::backend::rust::expand_text(&text, &|_| span) {
        Ok(Expansion { mut items, warnings }) => {
            let warn = |found: &Diagnostic| warning(found.code, &located(path, &text, found), span);
            items.extend(warnings.iter().map(warn));
            items
        }
        Err(diagnostics) => {
            let problems = diagnostics.into_sorted();
            problems.iter().map(|problem| compile_error(&located(path, &text, problem), span)).collect()
        }
    };
    // Makes rustc look at the file again when it changes.
    let whole = Literal::string(&whole.to_string_lossy());
    quote!(#items const _: &[::core::primitive::u8] = ::core::include_bytes!(#whole);)
}

/// `mttkrp.ti:3:5: message (E0102); help`
fn located(path: &str, text: &str, problem: &Diagnostic) -> String {
    let (line, column) = line_and_column(text, problem.span.start);
    let help: String = problem.help.iter().map(|line| format!("\nhelp: {line}")).collect();
    format!("{path}:{line}:{column}: {} [{}]{help}", problem.message, problem.code)
}

fn compile_error(message: &str, span: Span) -> proc_macro2::TokenStream {
    quote_spanned!(span=> ::core::compile_error!(#message);)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_of_a_file_say_where_they_are() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/tests/kernels");
        let tokens = from_file(&folder, "wrong.ti", Span::call_site()).to_string();
        for message in [
            "wrong.ti:3:22: there is no scalar or index variable `alpha` [E0101]",
            "wrong.ti:3:30: there is no tensor `x` [E0101]",
            "include_bytes",
        ] {
            assert!(tokens.contains(message), "{message}: {tokens}");
        }
    }

    #[test]
    fn mistakes_of_a_file_say_where_they_are() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/tests/kernels");
        let tokens = from_file(&folder, "mistake.ti", Span::call_site()).to_string();
        for part in ["pub fn affine", "deprecated", "mistake.ti:2:91: the index `rwo` is nearly `row` [W0103]"] {
            assert!(tokens.contains(part), "{part}: {tokens}");
        }
        let tokens = from_file(&folder, "full.ti", Span::call_site()).to_string();
        for part in ["pub fn shift", "deprecated", "full.ti:1:44: the sparse result `B` stores every element [W0104]"] {
            assert!(tokens.contains(part), "{part}: {tokens}");
        }
    }
}
