//! Kernels that are generic over the element type.
//!
//! `fn spmv<T>(A: csr, x: dense) -> y: dense { … }` is compiled once for each element type, as a kernel of that type would be: what
//! passes do depends on it. Parameters and results that say no type, and those that say `T`, are of it.
//!
//! ```text
//! pub fn spmv<T: Element>(A: &Tensor<T, Csr>, x: &Tensor<T, Dense<1>>) -> Result<Tensor<T, Dense<1>>, Error>
//! mod __spc_spmv { pub trait Element { fn kernel() -> &'static StaticKernel }    impl Element for f64 { … }   … }
//! ```
//!
//! `<T>` is every number type that the operators take, `<T: f32 | f64>` those that are listed. rustc compiles the loops of a type for
//! which they are never called only where the function can be called from other crates.

use super::wrappers::{self, OfParameter};
use super::{module, module_name, source};
use crate::backend::rust::types::element_type;
use crate::diagnostics::Diagnostic;
use crate::ir::ElementType;
use crate::schedule;
use crate::syntax::tokens::{TokenText, render};
use crate::{notation, syntax};
use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

/// The types that `<T>` stands for, where the operators take them.
fn numbers() -> impl Iterator<Item = ElementType> {
    ElementType::ALL.into_iter().filter(|element| *element != ElementType::Bool && !element.is_stored_only())
}

/// A generic kernel among the tokens of a macro.
struct Generic {
    /// Up to its name.
    head: Vec<TokenTree>,
    parameter: Ident,
    /// Those that are listed.
    types: Option<Vec<Ident>>,
    /// Its parameters and what follows.
    tail: Vec<TokenTree>,
}

/// The expansion of tokens some of whose kernels are generic; `None` where none is.
pub(super) fn expand(tokens: &TokenStream) -> Option<TokenStream> {
    let items = items(tokens.clone());
    let (mut generic, mut others, mut formats) = (Vec::new(), Vec::new(), Vec::new());
    for item in items {
        match parse(&item) {
            Some(found) => generic.push(found),
            None => {
                if matches!(item.last(), Some(TokenTree::Punct(last)) if last.as_char() == ';') {
                    formats.extend(item.clone());
                }
                others.extend(item);
            }
        }
    }
    if generic.is_empty() {
        return None;
    }
    let mut expanded = super::expand_concrete(others.into_iter().collect());
    for kernel in generic {
        expanded.extend(match kernel {
            Ok(kernel) => kernel.expand(&formats),
            Err(error) => error,
        });
    }
    Some(expanded)
}

/// The items: kernels with their schedules, and definitions of formats.
fn items(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut items: Vec<Vec<TokenTree>> = vec![Vec::new()];
    let mut is_after_body = false;
    for tree in tokens {
        let (mut ends, mut begins) = (false, false);
        match &tree {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => is_after_body = true,
            TokenTree::Ident(word) if is_after_body && word == "schedule" => {}
            TokenTree::Punct(punct) if punct.as_char() == ';' => ends = true,
            _ => begins = std::mem::take(&mut is_after_body),
        }
        if begins {
            items.push(Vec::new());
        }
        if let Some(last) = items.last_mut() {
            last.push(tree);
        }
        if ends {
            is_after_body = false;
            items.push(Vec::new());
        }
    }
    items.retain(|item| !item.is_empty());
    items
}

/// The parts of an item that is a generic kernel; an error where these are wrong.
fn parse(item: &[TokenTree]) -> Option<Result<Generic, TokenStream>> {
    let is_punct =
        |tree: Option<&TokenTree>, mark: char| matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == mark);
    let function = item.iter().position(|tree| matches!(tree, TokenTree::Ident(word) if word == "fn"))?;
    let open = function + 2;
    if !is_punct(item.get(open), '<') {
        return None;
    }
    let refuse = |tree: Option<&TokenTree>| {
        let span = tree.map_or_else(Span::call_site, TokenTree::span);
        let message = "a kernel is generic over one element type: `<T>`, or `<T: f32 | f64>` for some";
        Some(Err(quote_spanned!(span=> ::core::compile_error!(#message);)))
    };
    let Some(TokenTree::Ident(parameter)) = item.get(open + 1) else { return refuse(item.get(open + 1)) };
    let mut place = open + 2;
    let mut types = None;
    if is_punct(item.get(place), ':') {
        let mut listed = Vec::new();
        loop {
            match item.get(place + 1) {
                Some(TokenTree::Ident(word)) if ElementType::from_name(&word.to_string()).is_some() => {
                    listed.push(word.clone());
                }
                other => return refuse(other),
            }
            place += 2;
            if !is_punct(item.get(place), '|') {
                break;
            }
        }
        types = Some(listed);
    }
    if !is_punct(item.get(place), '>') {
        return refuse(item.get(place));
    }
    let (head, tail) = (item[..open].to_vec(), item[place + 1..].to_vec());
    Some(Ok(Generic { head, parameter: parameter.clone(), types, tail }))
}

/// A kernel of one element type.
struct Instance {
    element: ElementType,
    text: TokenText,
    program: syntax::Program,
    kernel: notation::Kernel,
    scheduled: schedule::Program,
}

impl Generic {
    fn expand(&self, formats: &[TokenTree]) -> TokenStream {
        let listed = self.types.as_ref().map(|types| {
            let element = |word: &Ident| ElementType::from_name(&word.to_string());
            types.iter().filter_map(element).collect::<Vec<_>>()
        });
        let types = listed.clone().unwrap_or_else(|| numbers().collect());
        let mut instances: Vec<Instance> = Vec::new();
        let mut refused = None;
        for element in types {
            if instances.iter().any(|instance| instance.element == element) {
                continue;
            }
            match self.instance(formats, element) {
                Ok(instance) => instances.push(instance),
                // What is written for this type is to be one.
                Err(errors) if listed.is_some() => return errors,
                Err(errors) => refused = refused.or(Some(errors)),
            }
        }
        let Some(first) = instances.first() else { return refused.unwrap_or_default() };
        let of_parameter = OfParameter { parameter: self.parameter.clone(), names: self.names(formats) };
        let name = &first.kernel.name;
        let place = first.text.spans_of(first.kernel.name_span).0;
        let functions = wrappers::wrappers(&first.kernel, place, Some(&of_parameter));
        let warnings = first.text.warnings(&first.kernel.warnings);
        let module = module_name(name);
        let known: Vec<&str> = instances.iter().map(|instance| instance.element.name()).collect();
        let message = format!("`{name}` takes no elements of type `{{Self}}`");
        let note = format!("it is compiled for {}", known.join(", "));
        let each = instances.into_iter().map(|instance| {
            let (element, kernels) = (element_type(instance.element), module_name(instance.element.name()));
            let text = source(&instance.program, &instance.kernel.name);
            let loops = module::module(instance.scheduled, &kernels, &text);
            quote! {
                #loops
                impl Element for #element {
                    #[inline]
                    fn kernel() -> &'static ::spc::execute::StaticKernel {
                        &#kernels::KERNEL
                    }
                }
            }
        });
        let (trait_message, trait_note) = (Literal::string(&message), Literal::string(&note));
        quote! {
            #functions
            #[doc(hidden)]
            #[allow(non_snake_case)]
            mod #module {
                #[diagnostic::on_unimplemented(message = #trait_message, label = "not one of its element types", note = #trait_note)]
                pub trait Element: ::spc::tensor::Element + ::spc::execute::Value {
                    #[doc(hidden)]
                    fn kernel() -> &'static ::spc::execute::StaticKernel;
                }
                #(#each)*
            }
            #warnings
        }
    }

    /// The kernel for an element type; or what is wrong with it, as errors of rustc.
    fn instance(&self, formats: &[TokenTree], element: ElementType) -> Result<Instance, TokenStream> {
        let text = render(self.tokens(formats, element));
        let refuse = |found: crate::diagnostics::Diagnostics| {
            let mut found = found.into_sorted();
            let add = |problem: &mut Diagnostic| {
                problem.message += &format!(" (where `{}` is {})", self.parameter, element.name())
            };
            found.iter_mut().for_each(add);
            text.compile_errors(&found)
        };
        let mut program = syntax::parse_program(&text.text).map_err(refuse)?;
        for item in &mut program.items {
            let syntax::Item::Kernel(kernel) = item else { continue };
            for parameter in kernel.parameters.iter_mut().chain(&mut kernel.results) {
                parameter.element.get_or_insert((element, parameter.span));
            }
        }
        let mut kernels = notation::check(&program).map_err(refuse)?;
        let Some(kernel) = kernels.pop() else { return Err(TokenStream::new()) };
        let scheduled = super::scheduled(&kernel).map_err(refuse)?;
        Ok(Instance { element, text, program, kernel, scheduled })
    }

    /// The tokens of the kernel for an element type.
    fn tokens(&self, formats: &[TokenTree], element: ElementType) -> TokenStream {
        let tail = self.tail.iter().cloned().collect();
        formats.iter().chain(&self.head).cloned().chain(replaced(tail, &self.parameter, element)).collect()
    }

    /// The names of parameters and results of the type: those whose types differ between two instances, or who say none.
    fn names(&self, formats: &[TokenTree]) -> Vec<String> {
        let parsed = |element| syntax::parse_program(&render(self.tokens(formats, element)).text).ok();
        let declared = |program: Option<syntax::Program>| {
            let items = program.map(|program| program.items).unwrap_or_default();
            let kernel = items.into_iter().find_map(|item| match item {
                syntax::Item::Kernel(kernel) => Some(kernel),
                _ => None,
            });
            let all = kernel.map(|kernel| kernel.parameters.into_iter().chain(kernel.results).collect::<Vec<_>>());
            all.unwrap_or_default()
        };
        let pairs = declared(parsed(ElementType::F64)).into_iter().zip(declared(parsed(ElementType::F32)));
        let element = |parameter: &syntax::Parameter| parameter.element.map(|(element, _)| element);
        let is_of_type = pairs.filter(|(one, other)| element(one).is_none() || element(one) != element(other));
        is_of_type.map(|(one, _)| syntax::normalized(&one.name.name)).collect()
    }
}

/// The tokens with the name of a type instead of the parameter's.
fn replaced(tokens: TokenStream, parameter: &Ident, element: ElementType) -> TokenStream {
    let replace = |tree| match tree {
        TokenTree::Ident(word) if word == *parameter => TokenTree::Ident(Ident::new(element.name(), word.span())),
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), replaced(group.stream(), parameter, element));
            inner.set_span(group.span());
            TokenTree::Group(inner)
        }
        other => other,
    };
    tokens.into_iter().map(replace).collect()
}
