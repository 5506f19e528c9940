//! The functions that users call.

use super::module_name;
use crate::backend::rust::reserved::{parameter_ident, user_ident};
use crate::backend::rust::types::{value_type, value_type_of};
use crate::notation::{Kernel, Role, Tensor};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// Which parameters and results are of the type that the kernel is generic over, by name.
pub(super) struct OfParameter {
    /// How the type is called.
    pub(super) parameter: Ident,
    pub(super) names: Vec<String>,
}

impl OfParameter {
    /// Whether a tensor is.
    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }
}

/// The two functions of a kernel; `name_span` is the span of its name in the user's source. `generic` says which tensors are of the
/// type that it is generic over, where it is.
pub(super) fn wrappers(kernel: &Kernel, name_span: Span, generic: Option<&OfParameter>) -> TokenStream {
    let value_type = |tensor: &Tensor| match generic.filter(|generic| generic.has(&tensor.name)) {
        Some(OfParameter { parameter, .. }) => value_type_of(tensor, quote!(#parameter)),
        None => value_type(tensor),
    };
    let name = user_ident(&kernel.name, name_span);
    let into = Ident::new(&format!("{}_into", kernel.name), name_span);
    let visibility: TokenStream = kernel.visibility.parse().unwrap_or_default();
    let module = module_name(&kernel.name);
    let documentation = documentation(kernel);
    let documentation_into = format!(
        " [`{}`], reusing the memory of its results. What they hold before does not matter, also for `+=`.",
        kernel.name
    );
    let of_role = |role: Role| kernel.tensors.iter().filter(move |tensor| tensor.role == role);
    let parameters: Vec<TokenStream> =
        of_role(Role::Input).map(|tensor| parameter(kernel, tensor, &value_type)).collect();
    let arguments: Vec<TokenStream> = of_role(Role::Input).map(|tensor| argument(kernel, tensor)).collect();
    let types: Vec<TokenStream> = of_role(Role::Output).map(value_type).collect();
    let targets: Vec<Ident> = of_role(Role::Output).map(|tensor| binding(kernel, tensor)).collect();
    let (generics, program) = match generic {
        Some(OfParameter { parameter, .. }) => {
            (quote!(<#parameter: #module::Element>), quote!(<#parameter as #module::Element>::kernel()))
        }
        None => (TokenStream::new(), quote!(#module::KERNEL)),
    };
    let (result, value) = match &types[..] {
        [one] => (one.clone(), quote!(#program.run(&[#(#arguments),*])?.next::<#one>()?)),
        _ => {
            let results = Ident::new("results", Span::mixed_site());
            let each = types.iter().map(|ty| quote!(#results.next::<#ty>()?));
            let run = quote!(let mut #results = #program.run(&[#(#arguments),*])?;);
            (quote!((#(#types),*)), quote!({ #run (#(#each),*) }))
        }
    };
    // One of the two is often not used.
    let allow = quote!(#[allow(dead_code, non_snake_case, clippy::too_many_arguments, clippy::type_complexity)]);
    // The user's own name for the type makes clippy think that all of it is the user's.
    let allow = if generic.is_some() { quote!(#allow #[allow(clippy::needless_question_mark)]) } else { allow };
    quote! {
        #(#[doc = #documentation])*
        ///
        /// # Errors
        /// When the tensors' extents disagree, or a result would be too large.
        #allow
        #visibility fn #name #generics(#(#parameters),*) -> ::core::result::Result<#result, ::spc::execute::Error> {
            ::core::result::Result::Ok(#value)
        }

        #[doc = #documentation_into]
        ///
        /// # Errors
        /// As there; also when a result has another shape than the kernel gives it, or its entries at other places.
        #allow
        #visibility fn #into #generics(
            #(#parameters,)*
            #(#targets: &mut #types),*
        ) -> ::core::result::Result<(), ::spc::execute::Error> {
            #program.run_into(&[#(#arguments),*], &mut [#(#targets),*])
        }
    }
}

/// What the user wrote, and the notation.
fn documentation(kernel: &Kernel) -> Vec<String> {
    let written = kernel.documentation.iter().map(|line| format!(" {line}"));
    let blank = if kernel.documentation.is_empty() { None } else { Some(String::new()) };
    let statements = kernel.statements.iter().map(|statement| format!(" {}", kernel.statement(statement)));
    let code = [" ```text".to_owned()].into_iter().chain(statements).chain([" ```".to_owned()]);
    written.chain(blank).chain(code).collect()
}

/// The name of a tensor's parameter.
fn binding(kernel: &Kernel, tensor: &Tensor) -> Ident {
    let is_another = |name: &str| kernel.tensors.iter().any(|other| other.name == name);
    parameter_ident(&tensor.name, &is_another, Span::call_site())
}

fn parameter(kernel: &Kernel, tensor: &Tensor, value_type: &dyn Fn(&Tensor) -> TokenStream) -> TokenStream {
    let name = binding(kernel, tensor);
    let ty = value_type(tensor);
    if tensor.format.order == 0 { quote!(#name: #ty) } else { quote!(#name: &#ty) }
}

fn argument(kernel: &Kernel, tensor: &Tensor) -> TokenStream {
    let name = binding(kernel, tensor);
    if tensor.format.order == 0 { quote!(&::spc::execute::scalar(#name)) } else { quote!(#name.as_any()) }
}
