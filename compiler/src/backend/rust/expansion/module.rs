//! The hidden module of a kernel: its loops, its declarations, and what joins them; for a kernel of several statements, of
//! each that is left after fusing.
//!
//! Kernels with a vector loop, or sums over dense rows, come in one version for each extent in [`FIXED_EXTENTS`] and one for all
//! others; the call chooses. On x86-64 these are compiled for processors with AVX2, whatever the user's crate is compiled for,
//! and one more for all extents serves older ones. That takes the only `unsafe` of an expansion: the call of what is compiled
//! for a processor, once the processor has been asked. Its tokens come from a macro of another crate, so crates that forbid
//! `unsafe` can use it.

use crate::backend::rust::{Access, Options, access, element, function, ident};
use crate::concrete;
use crate::ir::{self, ArrayElement, ArrayRole, Expr, Factor, Size, Statement, Verified};
use crate::schedule;
use proc_macro2::{Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::quote;

/// The extents of vector loops and sums over rows for which a kernel has a version of its own.
pub const FIXED_EXTENTS: [usize; 4] = [8, 16, 32, 64];

/// The module of a program, whose text in the language is `source`.
pub(super) fn module(program: schedule::Program, name: &Ident, source: &str) -> TokenStream {
    let declarations = text(crate::lower::declarations(&program.interface));
    let results = &program.results;
    let links = program.kernels.into_iter().enumerate().map(|(place, kernel)| Versions::new(place, kernel));
    let links: Vec<Versions> = links.collect();
    let each = links.iter().map(Versions::link);
    let functions = links.iter().map(Versions::functions);
    quote! {
        #[doc(hidden)]
        #[allow(
            non_snake_case, unused_imports, unused_mut, unused_parens, unused_unsafe, unused_variables, unused_assignments,
            clippy::all, clippy::pedantic, clippy::restriction, clippy::nursery
        )]
        mod #name {
            use ::spc::complex::{c32, c64};
            use ::spc::half::{bf16, f16};

            pub(super) static KERNEL: ::spc::execute::StaticKernel =
                ::spc::execute::StaticKernel::new(#declarations, &[#(#results),*], &[#(#each),*], #source);
            #(#functions)*
        }
    }
}

/// The functions of one of a program's kernels: for any extent, and for fixed ones.
struct Versions {
    any: crate::Compiled,
    /// The dimension whose extent is fixed.
    fixed: Option<(usize, crate::Compiled)>,
    /// The version for older processors, where the others are for those with wide vectors.
    narrow: Option<Verified<ir::Kernel>>,
    /// Its place in the program.
    place: usize,
}

impl Versions {
    fn new(place: usize, concrete: concrete::Kernel) -> Self {
        let fixed = match concrete.vector_extents()[..] {
            [extent] => {
                let mut generic = concrete.clone();
                generic.extents[extent].size = Size::Generic;
                Some((extent, crate::compile_kernel(generic)))
            }
            _ => None,
        };
        let any = crate::compile_kernel(concrete);
        let is_wide = fixed.is_some() || gains_by_wide_vectors(&any.kernel);
        let narrow = is_wide.then(|| for_older_processors(&any.kernel));
        Self { any, fixed, narrow, place }
    }

    /// The name of one of its functions.
    fn name(&self, function: &str) -> Ident {
        ident(&format!("{function}_{}", self.place))
    }

    /// What the run time knows of it.
    fn link(&self) -> TokenStream {
        let (declarations, run) = (self.declarations(), self.name("run"));
        quote!(::spc::execute::StaticLink::new(#declarations, #run))
    }

    fn functions(&self) -> TokenStream {
        let run = self.run();
        let any = loops(&self.any.kernel, self.name("any"));
        let Some(narrow) = &self.narrow else { return quote!(#run #any) };
        let (wide, must_ask) = (for_wide_vectors(), must_ask());
        let fixed = self.fixed.as_ref().map(|(_, fixed)| loops(&fixed.kernel, self.name("fixed")));
        let fixed = fixed.map(|fixed| quote!(#wide #fixed));
        let narrow = loops(narrow, self.name("narrow"));
        quote!(#run #wide #any #fixed #[cfg(#must_ask)] #narrow)
    }

    /// The declarations of the kernel as text, for the run time.
    fn declarations(&self) -> String {
        text((*self.any.kernel).clone())
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
        let dimensions = dimension_arguments(kernel);
        let (run, any, fixed_name) = (self.name("run"), self.name("any"), self.name("fixed"));
        let call_any = quote!(#any(#dimensions #arguments));
        let choose = match &self.fixed {
            None => quote!(#call_any;),
            Some((extent, fixed)) => {
                let dimensions = dimension_arguments(&fixed.kernel);
                let place = Literal::usize_unsuffixed(*extent);
                let sizes = FIXED_EXTENTS.map(Literal::usize_unsuffixed);
                quote! {
                    match call.dimension(#place) {
                        #(#sizes => #fixed_name::<#sizes>(#dimensions #arguments),)*
                        _ => #call_any,
                    }
                }
            }
        };
        let choose = if self.narrow.is_some() {
            let (must_ask, narrow) = (must_ask(), self.name("narrow"));
            quote! {
                #[cfg(#must_ask)]
                let is_wide = ::spc::execute::has_wide_vectors();
                #[cfg(not(#must_ask))]
                let is_wide = true;
                #[cfg(#must_ask)]
                if !is_wide {
                    #narrow(#dimensions #arguments);
                }
                if is_wide {
                    unsafe { #choose }
                }
            }
        } else {
            choose
        };
        hygienic(quote! {
            fn #run(call: &mut ::spc::execute::Call<'_>) {
                #take
                #choose
                #put
            }
        })
    }
}

/// Whether a kernel gains by wide vectors or instructions that came with them: bits of interleaved coordinates are one's affair.
/// What is gathered is loaded one by one in any case.
fn gains_by_wide_vectors(kernel: &ir::Kernel) -> bool {
    let mut found = false;
    let mut see = |statement: &Statement| {
        found |= matches!(statement, Statement::For { vector: true, .. });
        statement.for_each_expr(&mut |expr| {
            expr.for_each(&mut |expr| {
                found |= match expr {
                    Expr::Mask { .. } => true,
                    Expr::Fold(_, term) => term.factors().iter().all(|factor| matches!(factor, Factor::Run(_))),
                    _ => false,
                }
            });
        });
    };
    kernel.body.iter().for_each(|statement| statement.for_each(&mut see));
    found
}

/// The kernel without what it would do instead where work is uneven: few run this version, and everybody compiles it.
fn for_older_processors(kernel: &Verified<ir::Kernel>) -> Verified<ir::Kernel> {
    let mut kernel = ir::Kernel::clone(kernel);
    let mut all: Vec<&mut Statement> = kernel.body.iter_mut().collect();
    while let Some(statement) = all.pop() {
        if let Statement::Parallel(parallel) = statement {
            parallel.uneven = None;
        }
        all.extend(statement.blocks_mut().into_iter().flatten());
    }
    ir::verify(kernel).expect("what a target may ignore can be left out")
}

/// The attribute of a function that is compiled for what [`has_wide_vectors`] asks for.
///
/// [`has_wide_vectors`]: https://docs.rs/spc-tensor/latest/spc/execute/fn.has_wide_vectors.html
fn for_wide_vectors() -> TokenStream {
    quote!(#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi2"))])
}

/// The condition for a processor to be asked: it may lack what the user's crate is not compiled for either.
fn must_ask() -> TokenStream {
    quote!(all(target_arch = "x86_64", not(all(target_feature = "avx2", target_feature = "bmi2"))))
}

/// The declarations of a kernel as text.
fn text(mut kernel: ir::Kernel) -> String {
    kernel.body.clear();
    kernel.variables.clear();
    kernel.arrays.retain(|array| array.role != ArrayRole::Local);
    kernel.documentation.clear();
    kernel.to_string()
}

/// The function with the loops.
fn loops(kernel: &Verified<ir::Kernel>, name: Ident) -> TokenStream {
    let options = Options { parallel: quote!(::spc::parallel), name: Some(name.to_string()), comments: false };
    private(&function(kernel, &options))
}

/// A function's tokens without its documentation and `pub`.
fn private(function: &TokenStream) -> TokenStream {
    let is_start = |tree: &TokenTree| matches!(tree, TokenTree::Ident(word) if word == "fn");
    hygienic(function.clone().into_iter().skip_while(|tree| !is_start(tree)).collect())
}

/// The same tokens with mixed-site spans, so that all of them mean the same names, and none of them the user's.
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
