//! What `tensor_kernel!` expands to.
//!
//! For `pub fn spmv(A: csr, x: dense) -> y: dense { … }`, besides hidden helpers:
//!
//! ```text
//! pub fn spmv(A: &Tensor<f64, Csr>, x: &Tensor<f64, Dense<1>>) -> Result<Tensor<f64, Dense<1>>, Error>
//! pub fn spmv_into(A: &Tensor<f64, Csr>, x: &Tensor<f64, Dense<1>>, y: &mut Tensor<f64, Dense<1>>) -> Result<(), Error>
//! ```
//!
//! Kernels with a vector loop come in one version for each extent in [`FIXED_EXTENTS`] and one for all others; the call
//! chooses. Extents, copies and outputs are the business of the run time's `Call`, which reads the kernel's declarations.

use super::reserved::is_keyword;
use super::types::tensor_type;
use super::{Access, Options, access, element, function, ident};
use crate::concrete;
use crate::diagnostics;
use crate::diagnostics::Diagnostics;
use crate::ir::{self, ArrayElement, ArrayRole, Size};
use crate::notation::{self, Role};
use crate::syntax;
use proc_macro2::{Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::quote;

/// The extents of vector loops for which a kernel has a version of its own.
pub const FIXED_EXTENTS: [usize; 4] = [8, 16, 32, 64];

/// The items of a kernel; `name` is the span of its name in the user's source.
///
/// # Errors
/// What the scheduler can't do yet.
pub fn expand(kernel: &notation::Kernel, name: Span) -> Result<TokenStream, Diagnostics> {
    let concrete = concrete::schedule(kernel, concrete::Options::default())?;
    let versions = Versions::new(kernel, concrete);
    let wrappers = wrappers(kernel, name);
    Ok(quote! { #wrappers #versions })
}

/// The functions of one kernel: for any extent, and for fixed ones.
struct Versions {
    any: crate::Compiled,
    fixed: Option<(usize, crate::Compiled)>,
    stem: String,
}

impl Versions {
    fn new(kernel: &notation::Kernel, concrete: concrete::Kernel) -> Self {
        let fixed = match concrete.vector_extents()[..] {
            [extent] => {
                let mut generic = concrete.clone();
                generic.extents[extent].size = Size::Generic;
                Some((extent, crate::compile(generic)))
            }
            _ => None,
        };
        Self { any: crate::compile(concrete), fixed, stem: kernel.name.clone() }
    }

    fn options(name: String) -> Options {
        Options { parallel: quote!(::spc::parallel), name: Some(name), comments: false }
    }

    /// The declarations of the kernel as text, for the run time.
    fn declarations(&self) -> String {
        let mut declared = (*self.any.kernel).clone();
        declared.body.clear();
        declared.variables.clear();
        declared.arrays.retain(|array| array.role != ArrayRole::Local);
        declared.documentation.clear();
        declared.to_string()
    }

    /// The function that takes the arrays out of a call, runs the right version, and puts outputs back.
    fn run(&self) -> TokenStream {
        let kernel = &self.any.kernel;
        let mut take = TokenStream::new();
        let mut put = TokenStream::new();
        let mut arguments = TokenStream::new();
        for (id, array) in kernel.parameters() {
            let name = ident(&format!("a{}", id.0));
            let place = Literal::usize_unsuffixed(id.index());
            let ty = element(array.element);
            match access(kernel, array.role) {
                Access::Read => {
                    let input = match array.element {
                        ArrayElement::Index(_) => ident("input_index"),
                        ArrayElement::Value(_) => ident("input_values"),
                    };
                    take.extend(quote!(let #name = call.#input::<#ty>(#place);));
                    arguments.extend(quote!(&#name[..],));
                }
                Access::Write => {
                    take.extend(quote!(let mut #name = call.take_values::<#ty>(#place);));
                    put.extend(quote!(call.put_values(#place, #name);));
                    arguments.extend(quote!(&mut #name[..],));
                }
                Access::Append => {
                    take.extend(quote!(let mut #name = call.take_appended::<#ty>(#place);));
                    put.extend(quote!(call.put_appended(#place, #name);));
                    arguments.extend(quote!(&mut #name,));
                }
            }
        }
        let any = ident(&self.function_name(false));
        let dimensions = dimension_arguments(kernel);
        let call_any = quote!(#any(#dimensions #arguments));
        let choose = match &self.fixed {
            None => quote!(#call_any;),
            Some((extent, fixed)) => {
                let ranked = ident(&self.function_name(true));
                let dimensions = dimension_arguments(&fixed.kernel);
                let place = Literal::usize_unsuffixed(*extent);
                let sizes = FIXED_EXTENTS.map(Literal::usize_unsuffixed);
                quote! {
                    match call.dimension(#place) {
                        #(#sizes => #ranked::<#sizes>(#dimensions #arguments),)*
                        _ => #call_any,
                    }
                }
            }
        };
        let name = ident(&format!("__spc_{}_run", self.stem));
        hygienic(quote! {
            #[doc(hidden)]
            #[allow(non_snake_case)]
            fn #name(call: &mut ::spc::execute::Call<'_>) {
                #take
                #choose
                #put
            }
        })
    }

    fn function_name(&self, fixed: bool) -> String {
        format!("__spc_{}_{}", self.stem, if fixed { "fixed" } else { "any" })
    }
}

impl quote::ToTokens for Versions {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let allow = quote! {
            #[doc(hidden)]
            #[allow(non_snake_case, unused_mut, unused_parens, unused_variables, clippy::all, clippy::pedantic)]
        };
        let any = private(&function(&self.any.kernel, &Self::options(self.function_name(false))));
        let fixed = self.fixed.as_ref().map(|(_, fixed)| {
            let fixed = private(&function(&fixed.kernel, &Self::options(self.function_name(true))));
            quote!(#allow #fixed)
        });
        let declarations = self.declarations();
        let declaration = ident(&format!("__spc_{}_declaration", self.stem));
        let run = self.run();
        tokens.extend(quote! {
            #[doc(hidden)]
            fn #declaration() -> &'static ::spc::execute::Declaration {
                static DECLARATION: ::std::sync::LazyLock<::spc::execute::Declaration> =
                    ::std::sync::LazyLock::new(|| ::spc::execute::Declaration::parse(#declarations));
                &DECLARATION
            }
            #run
            #allow
            #any
            #fixed
        });
    }
}

/// A function's tokens without its documentation and `pub`, its local names out of reach of the user's.
fn private(function: &TokenStream) -> TokenStream {
    let is_start = |tree: &TokenTree| matches!(tree, TokenTree::Ident(word) if word == "fn");
    hygienic(function.clone().into_iter().skip_while(|tree| !is_start(tree)).collect())
}

/// The same tokens with mixed-site spans.
fn hygienic(tokens: TokenStream) -> TokenStream {
    let respan = |tree: TokenTree| {
        let mut tree = match tree {
            TokenTree::Group(group) => TokenTree::Group(Group::new(group.delimiter(), hygienic(group.stream()))),
            other => other,
        };
        tree.set_span(Span::mixed_site());
        tree
    };
    tokens.into_iter().map(respan).collect()
}

fn dimension_arguments(kernel: &ir::Kernel) -> TokenStream {
    let runtime = kernel.dimensions.iter().enumerate().filter(|(_, dimension)| dimension.size == Size::Runtime);
    let places = runtime.map(|(place, _)| Literal::usize_unsuffixed(place));
    quote!(#(call.dimension(#places),)*)
}

/// The functions that users call.
fn wrappers(kernel: &notation::Kernel, name_span: Span) -> TokenStream {
    let name = user_ident(&kernel.name, name_span);
    let into = Ident::new(&format!("{}_into", kernel.name), name_span);
    let visibility: TokenStream = kernel.visibility.parse().unwrap_or_default();
    let documentation = kernel.documentation.iter().map(|line| format!(" {}", line.trim_start()));
    let documentation_into = format!(" [`{}`], reusing the memory of its results.", kernel.name);
    let inputs: Vec<&notation::Tensor> = kernel.tensors.iter().filter(|t| t.role == Role::Input).collect();
    let outputs: Vec<&notation::Tensor> = kernel.tensors.iter().filter(|t| t.role == Role::Output).collect();
    let parameters: Vec<TokenStream> = inputs.iter().map(|tensor| parameter(tensor)).collect();
    let arguments: Vec<TokenStream> = inputs.iter().map(|tensor| argument(tensor)).collect();
    let results: Vec<TokenStream> = outputs.iter().map(|tensor| value_type(tensor)).collect();
    let result = if let [one] = &results[..] { one.clone() } else { quote!((#(#results),*)) };
    let takes: Vec<TokenStream> = outputs
        .iter()
        .map(|tensor| {
            let ty = value_type(tensor);
            quote!(<#ty as ::spc::execute::Value>::from_output(outputs.next()))
        })
        .collect();
    let all = match &takes[..] {
        [one] => one.clone(),
        several => quote!(::core::result::Result::Ok((#(#several?),*))),
    };
    let declaration = ident(&format!("__spc_{}_declaration", kernel.name));
    let run = ident(&format!("__spc_{}_run", kernel.name));
    let targets: Vec<Ident> = outputs.iter().map(|tensor| user_ident(&tensor.name, Span::call_site())).collect();
    let places = (0..targets.len()).map(Literal::usize_unsuffixed);
    let allow = quote!(#[allow(non_snake_case, clippy::too_many_arguments)]);
    quote! {
        #(#[doc = #documentation])*
        ///
        /// # Errors
        /// When the tensors' extents disagree, or a result would be too large.
        #allow
        #visibility fn #name(#(#parameters),*) -> ::core::result::Result<#result, ::spc::execute::Error> {
            let mut call = #declaration().call(&[#(#arguments),*])?;
            #run(&mut call);
            let mut outputs = call.finish()?.into_iter();
            #all
        }

        #[doc = #documentation_into]
        ///
        /// # Errors
        /// As there; also when a result has another shape than the kernel gives it.
        #allow
        #visibility fn #into(
            #(#parameters,)*
            #(#targets: &mut #results),*
        ) -> ::core::result::Result<(), ::spc::execute::Error> {
            let mut call = #declaration().call(&[#(#arguments),*])?;
            #(<#results as ::spc::execute::Value>::reuse(&mut call, #places, #targets)?;)*
            #run(&mut call);
            let mut outputs = call.finish()?.into_iter();
            #(*#targets = #takes?;)*
            ::core::result::Result::Ok(())
        }
    }
}

fn parameter(tensor: &notation::Tensor) -> TokenStream {
    let name = user_ident(&tensor.name, Span::call_site());
    let ty = value_type(tensor);
    if tensor.format.order == 0 { quote!(#name: #ty) } else { quote!(#name: &#ty) }
}

fn argument(tensor: &notation::Tensor) -> TokenStream {
    let name = user_ident(&tensor.name, Span::call_site());
    if tensor.format.order == 0 { quote!(&::spc::execute::scalar(#name)) } else { quote!(#name.as_any()) }
}

/// A name of the user's; what Rust keeps for itself becomes a raw identifier.
fn user_ident(name: &str, span: Span) -> Ident {
    match name {
        "self" | "Self" | "super" | "crate" => Ident::new(&format!("{name}_"), span),
        _ if is_keyword(name) => Ident::new_raw(name, span),
        _ => Ident::new(name, span),
    }
}

/// A scalar's element type, or a tensor's type.
fn value_type(tensor: &notation::Tensor) -> TokenStream {
    if tensor.format.order == 0 {
        let element = ident(tensor.element.name());
        quote!(#element)
    } else {
        tensor_type(tensor)
    }
}

/// The expansion of `tensor_kernel! { … }`. What is wrong with the tokens becomes `compile_error!`s at them.
pub fn expand_tokens(tokens: TokenStream) -> TokenStream {
    let text = syntax::tokens::render(tokens);
    match expand_text(&text.text, &|span| text.spans_of(span).0) {
        Ok(items) => items,
        Err(diagnostics) => text.compile_errors(&diagnostics.into_sorted()),
    }
}

/// The items of every kernel of a text; `place` gives the span of a range of it.
///
/// # Errors
/// All that is wrong with the text.
pub fn expand_text(text: &str, place: &dyn Fn(diagnostics::Span) -> Span) -> Result<TokenStream, Diagnostics> {
    let kernels = notation::check(&syntax::parse_program(text)?)?;
    let mut problems = Diagnostics::new();
    let mut items = TokenStream::new();
    for kernel in &kernels {
        match expand(kernel, place(kernel.name_span)) {
            Ok(tokens) => items.extend(tokens),
            Err(diagnostics) => problems.extend(diagnostics),
        }
    }
    if problems.is_empty() { Ok(items) } else { Err(problems) }
}
