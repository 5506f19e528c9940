//! A file of CUDA C++ that needs no run time of `spc`: the functions of a module, and the host's steps as a function that launches them.
//!
//! In: modules. Out: one source file for `nvcc`, and its header. A kernel is called as its C is ([`crate::backend::c`]): extents, then
//! arrays, each with its number of elements; but all arrays are in the device's memory, and a stream comes last. What a call needs besides
//! it takes from the stream's memory and gives back. What the host has to know of the arrays, it waits for.
//!
//! ```text
//! make y: f64[n] = 0                      run.make(y, n); run.zero(y);
//! launch spmv for n places                SPC_LAUNCH(spmv_on_device, run.along(n, 128), …);
//! ```

use super::print;
use super::reserved;
use crate::backend::c::{Access, VECTOR, comment, element_name, function_namer, header_access};
use crate::backend::legible;
use crate::backend::namer::Namer;
use crate::gpu::{Function, Module, Parameter, SCAN_BLOCK, SCANNED, SORTED, Step, Threads, WORKERS, constant_bytes};
use crate::ir::{ArrayElement, ArrayId, BinaryOperator, DimensionId, Expr, Kernel, Size};
use std::collections::{BTreeMap, BTreeSet};

/// Kernels as CUDA C++.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// The declarations, for those who call the functions.
    pub header: String,
    /// The functions of host and device; it stands for itself.
    pub source: String,
    /// The names of the host's functions, in the order of the modules.
    pub functions: Vec<String>,
}

/// What the names of a kernel's functions on the device begin with, so that the host's function has the kernel's name.
pub fn device_name(kernel: &str) -> String {
    format!("{kernel}_on_device")
}

/// The functions of kernels, each with its name and its module, which has [`device_name`].
pub fn unit<'a>(modules: impl IntoIterator<Item = (&'a str, &'a Module)>) -> Unit {
    let modules: Vec<(&str, &Module)> = modules.into_iter().collect();
    let mut names = function_namer();
    for (_, module) in &modules {
        module.function_names().iter().for_each(|name| _ = names.name(name));
    }
    let (mut declarations, mut code, mut functions) = (String::new(), String::new(), Vec::new());
    for (number, (kernel, module)) in modules.into_iter().enumerate() {
        let name = names.name(kernel);
        let space = format!("spc_functions_{number}");
        let text = print::text(module);
        code += &format!("\nnamespace {space} {{\n\n{text}\n}} // namespace {space}\n");
        let comment = comment(&module.kernel, "cudaFree");
        let mut host = Host::new(module, &space, text.contains(print::VECTOR));
        let signature = host.signature(&name);
        declarations += &format!("\n{comment}{signature};\n");
        code += &format!("\n{comment}{signature} {{\n{}}}\n", host.body());
        functions.push(name);
    }
    Unit { header: header(&declarations), source: source(&code), functions }
}

fn header(declarations: &str) -> String {
    let text = format!(
        "#pragma once
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern \"C\" {{
#endif

/* All arrays are in the device's memory, values at multiples of 16 bytes, as cudaMalloc gives them out. Steps go into the stream in order; the status is that of what was begun, so that what goes wrong
   on the device is told by what waits for the stream. */
{VECTOR}{}
#if defined(__cplusplus)
}}
#endif
",
        declarations.replace(EXTERN, "")
    );
    legible(text)
}

/// What functions are marked with, in the source; a header has a block of them.
const EXTERN: &str = "extern \"C\" ";

fn source(code: &str) -> String {
    let text = format!(
        "/* CUDA C++. Compile it so: nvcc -O3 -arch=native -c. */
#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <utility>
#include <vector>

{VECTOR}
enum : uint64_t {{ SPC_SCANNED = {SCANNED}, SPC_SCAN_BLOCK = {SCAN_BLOCK}, SPC_SORTED = {SORTED} }};

{}{code}",
        include_str!("run.cuh")
    );
    legible(text)
}

/// The printer of a host's function.
struct Host<'a> {
    module: &'a Module,
    /// Where the functions for the device are.
    space: &'a str,
    /// Whether they move neighbours in memory as one, which have to lie well.
    moves_vectors: bool,
    namer: Namer,
    dimensions: BTreeMap<DimensionId, String>,
    /// What is given for each array: a pointer, or a vector.
    given: BTreeMap<ArrayId, String>,
    lengths: BTreeMap<ArrayId, String>,
    /// The host's own word for each array.
    arrays: BTreeMap<ArrayId, String>,
    out: String,
    depth: usize,
}

impl<'a> Host<'a> {
    fn new(module: &'a Module, space: &'a str, moves_vectors: bool) -> Self {
        let kernel = &module.kernel;
        let mut namer = reserved::namer();
        for word in ["run", "stream", "places", "grid"] {
            namer.name(word);
        }
        let names = (0u32..).map(DimensionId).zip(&kernel.dimensions);
        let dimensions = names.map(|(id, dimension)| (id, namer.name(&format!("{}_extent", dimension.name)))).collect();
        let (mut given, mut lengths) = (BTreeMap::new(), BTreeMap::new());
        for (id, array) in kernel.parameters() {
            given.insert(id, namer.name(&array.name));
            lengths.insert(id, namer.name(&format!("{}_length", array.name)));
        }
        let used = used(module);
        let wish = |id: ArrayId| format!("{}_here", kernel.array(id).name);
        let arrays = used.into_iter().map(|id| (id, namer.name(&wish(id)))).collect();
        let out = String::new();
        Self { module, space, moves_vectors, namer, dimensions, given, lengths, arrays, out, depth: 1 }
    }

    fn kernel(&self) -> &'a Kernel {
        &self.module.kernel
    }

    /// `cudaError_t name(…)`
    fn signature(&self, name: &str) -> String {
        let runtime = self.dimensions.iter().filter(|(id, _)| is_given(self.kernel(), **id));
        let mut all: Vec<String> = runtime.map(|(_, dimension)| format!("size_t {dimension}")).collect();
        for (id, array) in self.kernel().parameters() {
            let (ty, name, length) = (element_name(array.element), &self.given[&id], &self.lengths[&id]);
            // Device and host agree on the parts of complex numbers, but not on how their types are called.
            let ty = if ty.contains("complex") { "void" } else { ty };
            all.push(match header_access(self.kernel(), array.role) {
                Access::Read => format!("const {ty} *{name}, size_t {length}"),
                Access::Write => format!("{ty} *{name}, size_t {length}"),
                Access::Append => format!("spc_vector *{name}"),
            });
        }
        all.push("cudaStream_t stream".to_owned());
        format!("{EXTERN}cudaError_t {name}(\n    {}\n)", all.join(",\n    "))
    }

    fn body(&mut self) -> String {
        self.line("spc_steps run(stream);");
        let arrays: Vec<(ArrayId, String)> = self.arrays.iter().map(|(id, name)| (*id, name.clone())).collect();
        let access = |id: &ArrayId| {
            self.given.get(id).map(|_| header_access(&self.module.kernel, self.module.kernel.array(*id).role))
        };
        let accesses: Vec<Option<Access>> = arrays.iter().map(|(id, _)| access(id)).collect();
        for ((id, name), access) in arrays.iter().zip(&accesses) {
            let ty = element_bytes(self.kernel(), *id);
            let held = match access {
                Some(Access::Read | Access::Write) => format!("({ty}, {}, {})", self.given[id], self.lengths[id]),
                Some(Access::Append) | None => format!("({ty})"),
            };
            self.line(&format!("spc_array {name}{held};"));
        }
        let is_value = |id: ArrayId| matches!(self.kernel().array(id).element, ArrayElement::Value(_));
        let moved = arrays.iter().zip(&accesses).filter(|((id, _), _)| is_value(*id) && self.moves_vectors);
        let given: Vec<ArrayId> = moved
            .filter(|(_, access)| matches!(access, Some(Access::Read | Access::Write)))
            .map(|((id, _), _)| *id)
            .collect();
        for id in given {
            self.line(&format!("run.lies_well({}, {});", self.given[&id], self.lengths[&id]));
        }
        self.unused();
        self.steps(&self.module.steps);
        for ((id, name), access) in arrays.iter().zip(&accesses) {
            match access {
                Some(Access::Append) => self.line(&format!("run.give({name}, {});", self.given[id])),
                Some(Access::Read | Access::Write) => {}
                None => self.line(&format!("run.release({name});")),
            }
        }
        self.line("return run.error;");
        std::mem::take(&mut self.out)
    }

    /// Parameters that no step needs are named, so that compilers do not warn; what nothing was appended to is empty.
    fn unused(&mut self) {
        let untouched: Vec<ArrayId> = self.given.keys().copied().filter(|id| !self.arrays.contains_key(id)).collect();
        for id in untouched {
            let name = self.given[&id].clone();
            match header_access(self.kernel(), self.kernel().array(id).role) {
                Access::Append => self.line(&format!("*{name} = spc_vector{{nullptr, 0, 0}};")),
                _ => self.line(&format!("(void){name}; (void){};", self.lengths[&id].clone())),
            }
        }
        let extents: Vec<String> = self
            .dimensions
            .iter()
            .filter(|(id, _)| is_given(self.kernel(), **id))
            .map(|(_, name)| format!("(void){name};"))
            .collect();
        if !extents.is_empty() {
            self.line(&extents.join(" "));
        }
    }

    fn line(&mut self, text: &str) {
        self.out += &format!("{:indent$}{text}\n", "", indent = 4 * self.depth);
    }

    fn nest(&mut self, head: &str, inside: impl FnOnce(&mut Self)) {
        self.line(&format!("{head}{{"));
        self.depth += 1;
        self.namer.enter();
        inside(self);
        self.namer.leave();
        self.depth -= 1;
        self.line("}");
    }

    fn steps(&mut self, steps: &'a [Step]) {
        steps.iter().for_each(|step| self.step(step));
    }

    fn step(&mut self, step: &'a Step) {
        match step {
            Step::Make { array, length, fill } => {
                let text = format!("run.make({}, {});", self.arrays[array], self.value(length));
                self.line(&text);
                fill.iter().for_each(|fill| self.fill(*array, fill));
            }
            Step::Fill { array, value } => self.fill(*array, value),
            Step::Launch { function, places, lanes, workers, blocks } => {
                self.launch(*function, places, lanes.as_ref(), workers.as_ref(), blocks.as_ref());
            }
            Step::Teams { function, first, end, width, inner } => self.teams(*function, [first, end, inner], *width),
            Step::Measure { array, function, places } => {
                let name = self.arrays[array].clone();
                self.line(&format!("run.make({name}, 1);"));
                self.line(&format!("run.zero({name});"));
                self.launch(*function, places, None, Some(&Expr::Index(WORKERS)), None);
                self.line(&format!("run.read({name});"));
            }
            Step::Scan { array, first } => {
                let (scan, shift) = (self.function(&self.module.scan()), self.function(&self.module.shift()));
                let text = format!("run.scan({scan}, {shift}, {}, {});", self.arrays[array], self.value(first));
                self.line(&text);
            }
            Step::Sort { keys, places, most } => {
                let names = [self.module.digits(), self.module.sort(), self.module.scan(), self.module.shift()];
                let names = names.map(|name| self.function(&name)).join(", ");
                let (keys, places) = (&self.arrays[keys], &self.arrays[places]);
                let text = format!("run.sort({names}, {keys}, {places}, {});", self.value(most));
                self.line(&text);
            }
            Step::Choose { condition, then, otherwise } => {
                let head = format!("if ({}) ", self.value(condition));
                self.nest(&head, |host| host.steps(then));
                if !otherwise.is_empty() {
                    self.nest("else ", |host| host.steps(otherwise));
                }
            }
            Step::Read { array } => self.line(&format!("run.read({});", self.arrays[array].clone())),
            Step::Lengthen { array, length } => {
                let text = format!("run.lengthen({}, {});", self.arrays[array], self.value(length));
                self.line(&text);
            }
        }
    }

    fn fill(&mut self, array: ArrayId, value: &Expr) {
        let name = self.arrays[&array].clone();
        let bytes = constant_bytes(self.kernel().array(array).element, value).expect("arrays begin as constants");
        if bytes.iter().all(|&byte| byte == 0) {
            return self.line(&format!("run.zero({name});"));
        }
        let shown = self.kernel().show(value).to_string();
        let bytes: Vec<String> = bytes.iter().map(u8::to_string).collect();
        self.nest("", |host| {
            host.line(&format!("const unsigned char element[] = {{{}}}; // {shown}", bytes.join(", ")));
            host.line(&format!("run.fill({name}, element);"));
        });
    }

    /// A function for the device.
    fn function(&self, name: &str) -> String {
        format!("{}::{name}", self.space)
    }

    fn launch(
        &mut self,
        function: usize,
        places: &Expr,
        lanes: Option<&Expr>,
        workers: Option<&Expr>,
        blocks: Option<&Expr>,
    ) {
        let function = &self.module.functions[function];
        let count = self.value(places);
        let share = function.places().and_then(|places| places.share.as_ref());
        let mut taken = share.map(|share| format!("run.shares(places, run.most({}, 1))", self.value(&share.value)));
        let most = workers.map_or("UINT64_MAX".to_owned(), |workers| self.value(workers));
        if workers.is_some() {
            taken = Some(format!("run.least({}, {most})", taken.as_deref().unwrap_or("places")));
        }
        let block = function.block;
        let lanes = lanes.map(|lanes| self.value(lanes));
        let grid = match (&function.threads, lanes) {
            (Threads::One, _) => "run.grid(1, 1, 1, 1)".to_owned(),
            (_, Some(mean)) if function.group().is_some() => format!("run.groups(places, {mean}, {block})"),
            (_, Some(lanes)) => format!("run.rows(places, {lanes}, {block})"),
            (_, None) => format!("run.along(places, {block})"),
        };
        let blocks = blocks.map(|blocks| self.value(blocks));
        let of = |host: &Self, parameter: Parameter| match parameter {
            Parameter::Workers => most.clone(),
            other => host.argument(function, other),
        };
        let arguments = self.arguments(function, &of);
        let begin = |host: &mut Self| {
            host.line(&format!("spc_grid grid = {grid};"));
            if let Some(blocks) = blocks {
                host.line(&format!("grid.blocks[0] = run.least(run.most({blocks}, 1), grid.blocks[0]);"));
            }
            host.run(function, &arguments);
        };
        if function.threads == Threads::One {
            return self.nest("", begin);
        }
        // Nothing is asked of arrays that have no places: a mean of none has no value.
        self.nest(&format!("if (uint64_t places = {count}) "), |host| {
            if let Some(taken) = taken {
                host.line(&format!("places = {taken};"));
            }
            begin(host);
        });
    }

    /// A launch of a team of so many threads for each of some rows.
    fn teams(&mut self, function: usize, [first, end, inner]: [&Expr; 3], width: u64) {
        let function = &self.module.functions[function];
        let [first, end, inner] = [first, end, inner].map(|expr| self.value(expr));
        let per_block = function.block / width;
        let arguments = self.arguments(function, &|host, parameter| match parameter {
            Parameter::First => "first".to_owned(),
            Parameter::End => "end".to_owned(),
            Parameter::Inner => "inner".to_owned(),
            other => host.argument(function, other),
        });
        self.nest("", |host| {
            host.line(&format!("const uint64_t first = {first}, end = {end};"));
            host.nest("if (first < end) ", |host| {
                host.line("uint64_t inner = 1;");
                host.line(&format!("while (inner * 2 <= run.least({inner}, {width})) inner *= 2;"));
                host.line(&format!(
                    "spc_grid grid = run.grid(run.shares(end - first, {per_block}), 1, {width}, {per_block});"
                ));
                host.run(function, &arguments);
            });
        });
    }

    fn run(&mut self, function: &Function, arguments: &str) {
        let shared = self.value(&function.shared(self.kernel()));
        if shared != "0" {
            self.line(&format!("grid.shared = {shared};"));
        }
        let name = self.function(&function.name);
        self.nest("if (run.begins(grid)) ", |host| {
            host.line(&format!("SPC_LAUNCH({name}, grid, stream, {arguments});"));
            host.line("run.began();");
        });
    }

    fn arguments(&self, function: &Function, of: &dyn Fn(&Self, Parameter) -> String) -> String {
        let arguments: Vec<String> =
            function.parameters(self.kernel()).into_iter().map(|parameter| of(self, parameter)).collect();
        arguments.join(", ")
    }

    fn argument(&self, function: &Function, parameter: Parameter) -> String {
        match parameter {
            Parameter::Mask(number) => self.value(&function.masks()[number]),
            Parameter::Move { mask, step } => format!("run.moved({}, {step})", self.value(&function.masks()[mask])),
            Parameter::Dimension(id) => self.dimensions[&id].clone(),
            Parameter::Length(array) => format!("{}.length", self.arrays[&array]),
            Parameter::Array { array, .. } => self.arrays[&array].clone(),
            Parameter::Workers | Parameter::First | Parameter::End | Parameter::Inner => {
                unreachable!("what threads of a launch are told is the launch's")
            }
        }
    }

    /// A number that the host computes.
    fn value(&self, expr: &Expr) -> String {
        match expr {
            Expr::Index(value) => value.to_string(),
            Expr::Dimension(id) => match self.kernel().dimension(*id).size {
                Size::Constant(size) => size.to_string(),
                Size::Runtime | Size::Generic => self.dimensions[id].clone(),
            },
            Expr::Length(array) => format!("{}.length", self.arrays[array]),
            Expr::Load(array, index) => format!("run.load({}, {})", self.arrays[array], self.value(index)),
            Expr::Binary(operator, left, right) => self.binary(*operator, &self.value(left), &self.value(right)),
            Expr::Search { array, begin, end, value, stride, .. } => {
                let [begin, end, value] = [begin, end, value].map(|expr| self.value(expr));
                format!("run.search({}, {begin}, {end}, {value}, {stride})", self.arrays[array])
            }
            Expr::Mask { part, extents } => {
                let extents: Vec<String> = extents.iter().map(|extent| self.value(extent)).collect();
                format!("run.mask({part}, {{{}}})", extents.join(", "))
            }
            other => unreachable!("the host can't evaluate {}", self.kernel().show(other)),
        }
    }

    fn binary(&self, operator: BinaryOperator, left: &str, right: &str) -> String {
        let call = |name: &str| format!("run.{name}({left}, {right})");
        match operator {
            BinaryOperator::Add => call("add"),
            BinaryOperator::Subtract => call("subtract"),
            BinaryOperator::Multiply => call("multiply"),
            BinaryOperator::Divide => call("divide"),
            BinaryOperator::Remainder => call("remainder"),
            BinaryOperator::Minimum => call("least"),
            BinaryOperator::Maximum => call("most"),
            BinaryOperator::Less => format!("({left} < {right})"),
            BinaryOperator::LessEqual => format!("({left} <= {right})"),
            BinaryOperator::And => format!("({left} & {right})"),
            BinaryOperator::Or => format!("({left} | {right})"),
            other => unreachable!("hosts don't compute by {other:?}"),
        }
    }
}

/// Whether the extent comes with a call.
fn is_given(kernel: &Kernel, id: DimensionId) -> bool {
    !matches!(kernel.dimension(id).size, Size::Constant(_))
}

/// The bytes of an array's element.
fn element_bytes(kernel: &Kernel, array: ArrayId) -> String {
    let ty = element_name(kernel.array(array).element);
    match ty {
        "float complex" => "2 * sizeof(float)".to_owned(),
        "double complex" => "2 * sizeof(double)".to_owned(),
        ty => format!("sizeof({ty})"),
    }
}

/// The arrays that steps have to do with, and those that are appended to.
fn used(module: &Module) -> BTreeSet<ArrayId> {
    let mut used = BTreeSet::new();
    let of_expr = |expr: &Expr, used: &mut BTreeSet<ArrayId>| {
        expr.for_each(&mut |expr| {
            if let Expr::Load(array, _) | Expr::Length(array) | Expr::Search { array, .. } = expr {
                used.insert(*array);
            }
        });
    };
    let of_function = |place: usize, used: &mut BTreeSet<ArrayId>| {
        let function = &module.functions[place];
        for parameter in function.parameters(&module.kernel) {
            if let Parameter::Array { array, .. } | Parameter::Length(array) = parameter {
                used.insert(array);
            }
        }
        of_expr(&function.shared(&module.kernel), used);
        function.places().and_then(|places| places.share.as_ref()).iter().for_each(|share| of_expr(&share.value, used));
    };
    let mut see = |step: &Step| match step {
        Step::Make { array, length, .. } | Step::Lengthen { array, length } => {
            used.insert(*array);
            of_expr(length, &mut used);
        }
        Step::Fill { array, .. } | Step::Read { array } => _ = used.insert(*array),
        Step::Launch { function, places, lanes, workers, blocks } => {
            of_function(*function, &mut used);
            of_expr(places, &mut used);
            [lanes, workers, blocks].into_iter().flatten().for_each(|expr| of_expr(expr, &mut used));
        }
        Step::Teams { function, first, end, inner, .. } => {
            of_function(*function, &mut used);
            [first, end, inner].into_iter().for_each(|expr| of_expr(expr, &mut used));
        }
        Step::Measure { array, function, places } => {
            used.insert(*array);
            of_function(*function, &mut used);
            of_expr(places, &mut used);
        }
        Step::Scan { array, first } => {
            used.insert(*array);
            of_expr(first, &mut used);
        }
        Step::Sort { keys, places, most } => {
            used.extend([*keys, *places]);
            of_expr(most, &mut used);
        }
        Step::Choose { condition, .. } => of_expr(condition, &mut used),
    };
    module.steps.iter().for_each(|step| step.for_each(&mut see));
    let appended =
        module.kernel.parameters().filter(|(_, array)| header_access(&module.kernel, array.role) == Access::Append);
    used.extend(appended.map(|(id, _)| id));
    used
}
