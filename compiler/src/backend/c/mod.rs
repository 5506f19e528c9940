//! Loops as C.
//!
//! In: [`Verified`] kernels, after the passes of a CPU. Out: one source file of C11 with OpenMP, and its header. It needs no run time of
//! `spc`: what kernels call besides the standard library is printed in front of them. Without OpenMP the same text runs on one thread.
//!
//! A function's parameters are the extents that come with the call, then the arrays in order, each with its number of elements. What
//! a kernel appends to is an `spc_vector`. The header says of each what it holds.
//!
//! ```text
//! void spmv(size_t i_extent, size_t j_extent,
//!           const uint32_t *A2_pos, size_t A2_pos_length, …, double *y, size_t y_length);
//! ```
//!
//! C has no checks: positions and coordinates must be those of a tensor that `spc` takes.

mod body;
mod expr;
mod header;
mod helpers;
mod lanes;
mod parallel;
mod reserved;

pub use header::{Access, Parameter, parameters};
pub(super) use header::{VECTOR, access as header_access, comment};
pub(super) use reserved::functions as function_namer;

use self::helpers::Helpers;
use crate::backend::namer::Namer;
use crate::format::IndexWidth;
use crate::ir::{
    ArrayElement, ArrayId, DimensionId, ElementType, Kernel, Ordered, Size, Type, VariableId, Verified, with_loops,
};
use std::collections::BTreeMap;

/// Kernels as C.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// The declarations, for those who call the functions.
    pub header: String,
    /// The functions; it stands for itself.
    pub source: String,
    /// The names of the functions, in the order of the kernels.
    pub functions: Vec<String>,
}

/// The functions of kernels.
pub fn unit<'a>(kernels: impl IntoIterator<Item = &'a Verified<Kernel>>) -> Unit {
    let mut helpers = Helpers::default();
    let mut names = reserved::functions();
    let mut functions = Vec::new();
    let mut declarations = String::new();
    let mut code = String::new();
    for kernel in kernels {
        let name = names.name(&kernel.name);
        let kernel = with_loops(kernel);
        let mut printer = Printer::new(&kernel, &mut helpers);
        let signature = printer.signature(&name);
        let comment = header::comment(&kernel, "free");
        declarations += &format!("\n{comment}{signature};\n");
        code += &format!("\n{comment}{signature} {{\n");
        printer.depth = 1;
        printer.block(&kernel.body);
        code += &printer.finished();
        code += "}\n";
        functions.push(name);
    }
    let (source, header) = header::files(&declarations, &helpers.text(), &code);
    Unit { header, source, functions }
}

/// What stands for an array.
#[derive(Debug, Clone)]
enum Held {
    /// A pointer to its elements.
    Elements(String),
    /// A vector, as a place.
    Vector(String),
    /// The elements of a chunk before `end`, and a segment of its own behind them.
    Segments {
        /// The whole array.
        whole: String,
        /// Where the segment begins.
        end: String,
        /// The segment.
        next: String,
    },
    /// Numbers that are taken out of codes where they are read.
    Numbers {
        /// The codes.
        codes: String,
        /// Where their bits are.
        mask: String,
    },
}

/// The state of printing one function.
struct Printer<'a> {
    kernel: &'a Kernel,
    helpers: &'a mut Helpers,
    namer: Namer,
    dimensions: BTreeMap<DimensionId, String>,
    arrays: BTreeMap<ArrayId, Held>,
    /// How many elements arrays have that are no vectors.
    lengths: BTreeMap<ArrayId, String>,
    variables: BTreeMap<VariableId, String>,
    /// The names of each parameter: of the array and of its length.
    given: BTreeMap<ArrayId, Vec<String>>,
    /// The lengths of arrays that may stay in registers.
    rows: BTreeMap<ArrayId, u64>,
    /// Variables that have a value for each lane.
    vectors: Vec<VariableId>,
    /// What never holds NaN.
    ordered: Ordered,
    /// For each block around, what frees what it made.
    made: Vec<Vec<String>>,
    /// Lengths that were computed for what may come, and may not be used.
    counted: Vec<String>,
    out: String,
    depth: usize,
}

impl<'a> Printer<'a> {
    fn new(kernel: &'a Kernel, helpers: &'a mut Helpers) -> Self {
        let mut namer = reserved::namer();
        // What the texts of parallel loops and of filled arrays use.
        for word in ["n", "chunk"] {
            namer.name(word);
        }
        let mut dimensions = BTreeMap::new();
        for (number, dimension) in (0u32..).zip(&kernel.dimensions) {
            dimensions.insert(DimensionId(number), namer.name(&format!("{}_extent", dimension.name)));
        }
        let mut arrays = BTreeMap::new();
        let (mut lengths, mut given) = (BTreeMap::new(), BTreeMap::new());
        for (id, array) in kernel.parameters() {
            let name = namer.name(&array.name);
            let mut names = vec![name.clone()];
            let held = match header::access(kernel, array.role) {
                header::Access::Append => Held::Vector(format!("(*{name})")),
                _ => {
                    let length = namer.name(&format!("{name}_length"));
                    lengths.insert(id, length.clone());
                    names.push(length);
                    Held::Elements(name)
                }
            };
            given.insert(id, names);
            arrays.insert(id, held);
        }
        Self {
            kernel,
            helpers,
            namer,
            dimensions,
            arrays,
            lengths,
            variables: BTreeMap::new(),
            given,
            rows: BTreeMap::new(),
            vectors: Vec::new(),
            ordered: Ordered::of(kernel),
            made: Vec::new(),
            counted: Vec::new(),
            out: String::new(),
            depth: 0,
        }
    }

    /// `void name(…)`
    fn signature(&self, name: &str) -> String {
        let mut all: Vec<String> = Vec::new();
        for (id, dimension) in &self.dimensions {
            if !matches!(self.kernel.dimension(*id).size, Size::Constant(_)) {
                all.push(format!("size_t {dimension}"));
            }
        }
        for (id, array) in self.kernel.parameters() {
            let ty = element_name(array.element);
            all.push(match (&self.arrays[&id], header::access(self.kernel, array.role)) {
                (Held::Elements(name), header::Access::Read) => {
                    format!("const {ty} *restrict {name}, size_t {}", self.lengths[&id])
                }
                (Held::Elements(name), _) => format!("{ty} *restrict {name}, size_t {}", self.lengths[&id]),
                (Held::Vector(name), _) => format!("spc_vector *{}", name.trim_matches(['(', '*', ')'])),
                (Held::Segments { .. } | Held::Numbers { .. }, _) => unreachable!("parameters are whole arrays"),
            });
        }
        let all = if all.is_empty() { "void".to_owned() } else { all.join(",\n    ") };
        format!("void {name}(\n    {all}\n)")
    }

    /// The body, without lengths that nothing uses; parameters that it does not use are named, so that compilers do not warn.
    fn finished(&self) -> String {
        let uses = |name: &str, text: &str| {
            let is_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            text.split(|c| !is_of_word(c)).filter(|word| *word == name).count()
        };
        let mut text = String::new();
        for line in self.out.lines() {
            let unused =
                |name: &String| line.contains(&format!("const size_t {name} = ")) && uses(name, &self.out) == 1;
            if !self.counted.iter().any(unused) {
                text += line;
                text.push('\n');
            }
        }
        let extents =
            self.dimensions.iter().filter(|(id, _)| !matches!(self.kernel.dimension(**id).size, Size::Constant(_)));
        let arrays = self.kernel.parameters().filter_map(|(id, _)| self.given.get(&id));
        let names = extents.map(|(_, name)| name).chain(arrays.flatten());
        let unused: String =
            names.filter(|name| uses(name, &text) == 0).map(|name| format!(" (void){name};")).collect();
        if unused.is_empty() { text } else { format!("   {unused}\n{text}") }
    }

    fn line(&mut self, text: &str) {
        let indent = if text.starts_with('#') { 0 } else { 4 * self.depth };
        self.out += &format!("{:indent$}{text}\n", "");
    }

    /// A line that ends in `{`, and what stands between it and its `}`.
    fn nest(&mut self, head: &str, inside: impl FnOnce(&mut Self)) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        self.namer.enter();
        inside(self);
        self.namer.leave();
        self.depth -= 1;
        self.line("}");
    }

    fn declare_variable(&mut self, id: VariableId) -> String {
        let name = self.namer.name(&self.kernel.variable(id).name);
        self.variables.insert(id, name.clone());
        name
    }

    fn declare_array(&mut self, id: ArrayId) -> String {
        let name = self.namer.name(&self.kernel.array(id).name);
        self.arrays.insert(id, Held::Elements(name.clone()));
        name
    }
}

/// The type of an array's elements.
pub(super) fn element_name(held: ArrayElement) -> &'static str {
    match held {
        ArrayElement::Index(IndexWidth::U8) => "uint8_t",
        ArrayElement::Index(IndexWidth::U16) => "uint16_t",
        ArrayElement::Index(IndexWidth::U32) => "uint32_t",
        ArrayElement::Index(IndexWidth::U64) => "uint64_t",
        ArrayElement::Value(element) => value_name(element),
    }
}

/// The type of values as they are stored.
fn value_name(element: ElementType) -> &'static str {
    match element {
        ElementType::F64 => "double",
        ElementType::F32 => "float",
        ElementType::I8 => "int8_t",
        ElementType::I16 => "int16_t",
        ElementType::I32 => "int32_t",
        ElementType::I64 => "int64_t",
        ElementType::U8 => "uint8_t",
        ElementType::U16 | ElementType::F16 | ElementType::BF16 => "uint16_t",
        ElementType::U32 => "uint32_t",
        ElementType::U64 => "uint64_t",
        ElementType::Bool => "bool",
        ElementType::C32 => "float complex",
        ElementType::C64 => "double complex",
    }
}

/// The type of a variable.
fn type_name(ty: Type) -> &'static str {
    match ty {
        Type::Index => "size_t",
        Type::Bool => "bool",
        Type::Element(element) => value_name(element.computed()),
    }
}
