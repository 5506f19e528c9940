//! Loops as Rust.
//!
//! In: a [`Verified`] kernel. Out: the tokens of one safe function. Its parameters are the sizes of run-time dimensions
//! (`usize`), then the kernel's arrays in order: `&[T]` for what is read, `&mut [T]` for the values of dense and shared
//! outputs, `&mut Vec<T>` for appended arrays. Parallel loops call the helpers of the run time's `parallel` module.
//!
//! Inner loops are free of bounds checks where it matters because rows are slices of a length known at compile time; no
//! `unsafe` is printed.

mod body;
mod expansion;
mod expr;
mod reserved;
mod spelling;
mod text;
mod types;
mod vectors;

pub use expansion::{Expansion, expand, expand_text, expand_tokens};
pub use reserved::function_name;
pub use text::text;
pub use types::marker_name;

use crate::backend::namer::Namer;
use crate::ir::tables::monoid::{LEFT, RIGHT};
use crate::ir::{
    ArrayElement, ArrayId, ArrayRole, Definition, DimensionId, ElementType, Kernel, Ordered, Size, Source, Structure,
    VariableId, Verified, Views, expanded, is_of_two_runs,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use vectors::Held;

/// How to print.
#[derive(Debug, Clone)]
pub struct Options {
    /// The path of the run time's `parallel` module.
    pub parallel: TokenStream,
    /// The function's name; the kernel's when absent.
    pub name: Option<String>,
    /// Whether comments are printed, as `#[comment = "…"]` attributes that only [`text`] understands.
    pub comments: bool,
    /// Whether its helpers have vectors of the processors that the function is compiled for, and products of rows in such.
    pub vectors: bool,
}

/// The function of a kernel.
pub fn function(kernel: &Verified<Kernel>, options: &Options) -> TokenStream {
    let kernel = &expanded((**kernel).clone(), &is_of_two_runs);
    let mut printer = Printer::new(kernel, options);
    let name = function_name(options.name.as_deref().unwrap_or(&kernel.name));
    let name = match name.strip_prefix("r#") {
        Some(keyword) => Ident::new_raw(keyword, Span::mixed_site()),
        None => ident(&name),
    };
    let generics = printer.generics();
    let parameters = printer.parameters();
    printer.define_operators();
    let body = printer.block(&kernel.body);
    let functions = printer.defined.values().filter(|function| function.is_used.get()).map(|function| &function.text);
    let documentation = kernel.documentation.iter().map(|line| format!(" {}", line.trim_start()));
    quote! {
        #(#[doc = #documentation])*
        pub fn #name #generics (#parameters) {
            #(#functions)*
            #body
        }
    }
}

/// The state of printing one function.
struct Printer<'a> {
    kernel: &'a Kernel,
    options: &'a Options,
    namer: Namer,
    dimensions: BTreeMap<DimensionId, Ident>,
    arrays: BTreeMap<ArrayId, Ident>,
    variables: BTreeMap<VariableId, Ident>,
    /// Those that hold a mask, with what it takes to gather bits by it.
    masks: BTreeSet<VariableId>,
    /// Those whose elements are computed where they are read.
    numbers: BTreeSet<ArrayId>,
    /// Those that a chunk has taken its part of.
    taken: BTreeSet<ArrayId>,
    /// Those that a chunk has a copy of.
    copied: BTreeSet<ArrayId>,
    /// Those that are arrays of Rust's, on the stack or in registers.
    sized: BTreeSet<ArrayId>,
    /// Those that are slices of memory of their own.
    slices: BTreeSet<ArrayId>,
    /// For each view the array that it shows elements of.
    views: Views,
    /// What never holds NaN.
    ordered: Ordered,
    /// Rows whose elements of two bytes are converted all at once.
    converted: BTreeSet<ArrayId>,
    /// The counters of the vector loops around.
    vectors: Vec<VariableId>,
    /// The rows that are vectors of the helpers.
    held: Held,
    /// The functions of declared operators, by name and element type.
    defined: BTreeMap<(&'static str, ElementType), Function>,
}

/// A function of a declared operator.
struct Function {
    name: Ident,
    text: TokenStream,
    is_used: Cell<bool>,
}

impl<'a> Printer<'a> {
    fn new(kernel: &'a Kernel, options: &'a Options) -> Self {
        let mut namer = reserved::namer();
        let mut dimensions = BTreeMap::new();
        for (number, dimension) in (0u32..).zip(&kernel.dimensions) {
            let wish = match dimension.size {
                Size::Generic => dimension.name.to_uppercase(),
                Size::Runtime | Size::Constant(_) => format!("{}_extent", dimension.name),
            };
            dimensions.insert(DimensionId(number), ident(&namer.name(&wish)));
        }
        let mut arrays = BTreeMap::new();
        for (id, array) in kernel.parameters() {
            arrays.insert(id, ident(&namer.name(&array.name)));
        }
        Self {
            kernel,
            options,
            namer,
            dimensions,
            arrays,
            variables: BTreeMap::new(),
            masks: BTreeSet::new(),
            numbers: BTreeSet::new(),
            taken: BTreeSet::new(),
            copied: BTreeSet::new(),
            sized: BTreeSet::new(),
            slices: BTreeSet::new(),
            views: kernel.views(),
            ordered: Ordered::of(kernel),
            converted: BTreeSet::new(),
            vectors: Vec::new(),
            held: if options.vectors { Held::of(kernel) } else { Held::default() },
            defined: BTreeMap::new(),
        }
    }

    /// Functions for the operators that the text declares: `fn join(left: f64, right: f64) -> f64 { … }`. Those that are used are printed.
    fn define_operators(&mut self) {
        for operator in self.kernel.declared_operators() {
            for definition in operator.definitions() {
                let Definition { element, value, .. } = definition;
                let ty = ident(element.name());
                let name = ident(&self.namer.name(&format!("{}_{ty}", operator.name())));
                let kernel = definition.kernel();
                let mut printer = Printer::new(&kernel, self.options);
                let (left, right) = (printer.declare_variable(LEFT), printer.declare_variable(RIGHT));
                let value = printer.expr(value);
                let text = quote!(fn #name(#left: #ty, #right: #ty) -> #ty { #value });
                let function = Function { name, text, is_used: Cell::new(false) };
                self.defined.insert((operator.name(), *element), function);
            }
        }
    }

    fn generics(&self) -> TokenStream {
        let names: Vec<&Ident> = self.sized(Size::Generic).collect();
        if names.is_empty() { TokenStream::new() } else { quote!(<#(const #names: usize),*>) }
    }

    fn sized(&self, size: Size) -> impl Iterator<Item = &Ident> {
        self.dimensions.iter().filter(move |(id, _)| self.kernel.dimension(**id).size == size).map(|(_, name)| name)
    }

    fn parameters(&self) -> TokenStream {
        let dimensions = self.sized(Size::Runtime).map(|name| quote!(#name: usize));
        let arrays = self.kernel.parameters().map(|(id, array)| {
            let name = &self.arrays[&id];
            let element = element(array.element);
            match access(self.kernel, array.role) {
                Access::Read => quote!(#name: &[#element]),
                Access::Write => quote!(#name: &mut [#element]),
                Access::Append => {
                    let vec = self.std_path("vec", "Vec");
                    quote!(#name: &mut #vec<#element>)
                }
            }
        });
        let all = dimensions.chain(arrays);
        quote!(#(#all),*)
    }

    /// A name of the standard library: short for readers, by its full path where it may meet the user's names.
    fn std_path(&self, module: &str, name: &str) -> TokenStream {
        let (module, name) = (ident(module), ident(name));
        if self.options.comments { quote!(#name) } else { quote!(::std::#module::#name) }
    }

    fn declare_variable(&mut self, id: VariableId) -> Ident {
        let name = ident(&self.namer.name(&self.kernel.variable(id).name));
        self.variables.insert(id, name.clone());
        name
    }

    fn declare_array(&mut self, id: ArrayId) -> Ident {
        let name = ident(&self.namer.name(&self.kernel.array(id).name));
        self.arrays.insert(id, name.clone());
        name
    }
}

/// How a kernel uses an array parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    Append,
}

/// How a kernel uses a parameter of this role.
pub(crate) fn access(kernel: &Kernel, role: ArrayRole) -> Access {
    let tensor = role.tensor().expect("parameters belong to tensors");
    match kernel.tensor(tensor).source {
        Source::Input | Source::SortedCopy { .. } | Source::Permutation { .. } => Access::Read,
        Source::Output { structure: Structure::Appended, .. } => Access::Append,
        Source::Output { .. } => Access::Write,
    }
}

/// The Rust type of an array's elements.
pub(crate) fn element(element: ArrayElement) -> Ident {
    ident(match element {
        ArrayElement::Index(width) => width.name(),
        ArrayElement::Value(element) => element.name(),
    })
}

/// An identifier; mixed-site, so that names of the user's code can't capture it.
pub(crate) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}
