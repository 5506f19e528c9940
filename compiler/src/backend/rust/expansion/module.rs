//! The hidden module of a kernel: its loops, its declarations, and what joins them; for a kernel of several statements, of
//! each that is left after fusing.
//!
//! Loops over rows are cut into register tiles of masked vectors, which serve rows of any length. On x86-64, kernels with such
//! loops, or with sums over dense rows, come in three versions, whatever the user's crate is compiled for, of which the call
//! chooses one: for processors with AVX2 and FMA (x86-64-v3), for those whose AVX-512 costs nothing, and for older ones. That
//! takes the only `unsafe` of an expansion: the call of what is compiled for a processor, once the processor has been asked. Its
//! tokens come from a macro of another crate, so crates that forbid `unsafe` can use it.

use crate::backend::rust::{Access, Options, access, element, function, ident};
use crate::concrete::{self, IndexVariable};
use crate::diagnostics::Span as Place;
use crate::ir::{self, ArrayElement, ArrayRole, Expr, Factor, Size, Statement, Tile, Verified};
use crate::schedule;
use proc_macro2::{Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::quote;

/// The most elements of a tile of masked vectors: registers of AVX-512 hold the sums of two.
const MOST_MASKED: u64 = 64;

/// The module of a program, whose text in the language is `source`.
pub(super) fn module(program: schedule::Program, name: &Ident, source: &str) -> TokenStream {
    let declarations = text(crate::lower::declarations(&program.interface));
    let results = &program.results;
    let rounds = program.rounds.as_ref().map(|rounds| {
        let rounds = rounds.to_string();
        quote!(.repeated(#rounds))
    });
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
                ::spc::execute::StaticKernel::new(#declarations, &[#(#results),*], &[#(#each),*], #source)#rounds;
            #(#functions)*
        }
    }
}

/// The functions of one of a program's kernels.
struct Versions {
    any: Verified<ir::Kernel>,
    /// The version for older processors, where there are others for those with wide vectors.
    narrow: Option<Verified<ir::Kernel>>,
    /// Its place in the program.
    place: usize,
}

impl Versions {
    fn new(place: usize, concrete: concrete::Kernel) -> Self {
        let has_rows = !concrete.vector_extents().is_empty();
        let whole = of_whole_rows(&concrete);
        let any = crate::compile_kernel(in_masked_tiles(concrete));
        let is_wide = has_rows || gains_by_wide_vectors(&any.kernel);
        let is_tiled = any.choices.iter().any(|choice| choice.tiled.is_some_and(|tile| tile != Tile::Whole));
        let narrow = is_wide.then(|| {
            if is_tiled {
                for_older_processors(&crate::compile_kernel(whole).kernel)
            } else {
                for_older_processors(&any.kernel)
            }
        });
        Self { any: any.kernel, narrow, place }
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
        let Some(narrow) = &self.narrow else {
            let any = loops(&self.any, self.name("any"), quote!(::spc::parallel), false);
            return quote!(#run #any);
        };
        let any = loops(&self.any, self.name("any"), quote!(::spc::parallel::fused), true);
        let widest = loops(&self.any, self.name("widest"), quote!(::spc::parallel::fused::widest), true);
        let narrow = loops(narrow, self.name("narrow"), quote!(::spc::parallel), false);
        let must_ask = must_ask();
        quote! {
            #run
            #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt"))]
            #any
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,bmi1,bmi2,fma,lzcnt")]
            #widest
            #[cfg(#must_ask)]
            #narrow
        }
    }

    /// The declarations of the kernel as text, for the run time.
    fn declarations(&self) -> String {
        text((*self.any).clone())
    }

    /// The function that takes the arrays out of a call, runs the right version, and puts outputs back.
    fn run(&self) -> TokenStream {
        let kernel = &self.any;
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
        let (run, any) = (self.name("run"), self.name("any"));
        let arguments = quote!((#dimensions #arguments));
        let choose = if self.narrow.is_some() {
            let (must_ask, widest, narrow) = (must_ask(), self.name("widest"), self.name("narrow"));
            quote! {
                #[cfg(target_arch = "x86_64")]
                match ::spc::execute::vectors() {
                    #[cfg(#must_ask)]
                    ::spc::execute::Vectors::Narrow => #narrow #arguments,
                    ::spc::execute::Vectors::Widest => unsafe { #widest #arguments },
                    _ => unsafe { #any #arguments },
                }
                #[cfg(not(target_arch = "x86_64"))]
                #any #arguments;
            }
        } else {
            quote!(#any #arguments;)
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

/// The kernel with its rows in tiles of masked vectors, but for those that its schedule says something of.
fn in_masked_tiles(mut concrete: concrete::Kernel) -> concrete::Kernel {
    let variables = 0..concrete.variables.len();
    let asked = variables.map(|place| (IndexVariable(place), Tile::Masked(MOST_MASKED), Place::default()));
    // The last word counts.
    concrete.asked.tiles.splice(0..0, asked);
    concrete
}

/// The kernel with all rows whole: loops that are short to compile.
fn of_whole_rows(concrete: &concrete::Kernel) -> concrete::Kernel {
    let mut whole = concrete.clone();
    let variables = 0..whole.variables.len();
    whole.asked.tiles.extend(variables.map(|place| (IndexVariable(place), Tile::Whole, Place::default())));
    whole
}

/// The condition for there to be a version for older processors: the user's crate is not compiled for what the others take.
fn must_ask() -> TokenStream {
    let has_all = quote!(all(
        target_feature = "avx2",
        target_feature = "bmi1",
        target_feature = "bmi2",
        target_feature = "fma",
        target_feature = "lzcnt"
    ));
    quote!(all(target_arch = "x86_64", not(#has_all)))
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
fn loops(kernel: &Verified<ir::Kernel>, name: Ident, parallel: TokenStream, vectors: bool) -> TokenStream {
    let options = Options { parallel, name: Some(name.to_string()), comments: false, vectors };
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
