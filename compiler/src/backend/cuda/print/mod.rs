//! A module as text: CUDA C for the device.
//!
//! The text stands for itself. What it uses besides the language are functions that CUDA declares without a header, its own
//! names of types, and [`helpers`] that are printed in front where they are needed.

mod batches;
mod body;
mod chunks;
mod expr;
mod helpers;
mod segments;
mod tables;
mod tiles;
mod vectors;

use self::helpers::Helpers;
use self::tables::Team;
use self::vectors::Moved;
pub(super) use self::vectors::VECTOR;
use super::reserved;
use crate::backend::legible;
use crate::backend::namer::Namer;
use crate::format::IndexWidth;
use crate::format::interleave::MOVES;
use crate::gpu::{Function, Group, Lanes, Meet, Module, Parameter, Places, Threads, WARP};
use crate::ir::{ArrayElement, ArrayId, ElementType, Expr, Kernel, ReduceOperator, Size, Type, VariableId};
use std::collections::BTreeMap;

/// The CUDA C of a module.
pub fn text(module: &Module) -> String {
    let mut helpers = Helpers::default();
    let functions: Vec<String> = module
        .functions
        .iter()
        .map(|function| Printer::new(&module.kernel, function, &mut helpers).function())
        .collect();
    let mut text = String::new();
    for line in &module.kernel.documentation {
        // A comment that ends with a backslash goes on in the next line.
        text += &format!("// {}", line.trim_start().replace('\\', "/"));
        text.truncate(text.trim_end().len());
        text += "\n";
    }
    let mut code = functions.join("\n");
    if module.scans() {
        code += "\n";
        code += &include_str!("scan.cu").replace("NAME", &module.name);
    }
    if module.sorts() {
        code += "\n";
        code += &include_str!("sort.cu").replace("NAME", &module.name);
    }
    legible(text + &helpers.text(&code) + &code)
}

/// The state of printing one function.
struct Printer<'a> {
    kernel: &'a Kernel,
    function: &'a Function,
    helpers: &'a mut Helpers,
    namer: Namer,
    dimensions: BTreeMap<u32, String>,
    lengths: BTreeMap<ArrayId, String>,
    arrays: BTreeMap<ArrayId, String>,
    variables: BTreeMap<VariableId, String>,
    /// Masks that the host computes, by their names.
    masks: Vec<(Expr, String)>,
    /// What moves where bits are gathered from the ones of such a mask, by its number.
    moves: BTreeMap<usize, Vec<String>>,
    /// The lengths of arrays that the function makes.
    extents: BTreeMap<ArrayId, String>,
    /// What a thread knows of its team, where it is in one.
    team: Option<Team>,
    /// What it has of arrays, while it goes over its elements.
    moved: Vec<Moved>,
    out: String,
    depth: usize,
}

impl<'a> Printer<'a> {
    fn new(kernel: &'a Kernel, function: &'a Function, helpers: &'a mut Helpers) -> Self {
        let mut namer = reserved::namer();
        let mut dimensions = BTreeMap::new();
        for id in function.dimensions() {
            let name = &kernel.dimension(id).name;
            let is_macro = kernel.dimension(id).size == Size::Generic;
            let wish = if is_macro { name.to_uppercase() } else { format!("{name}_extent") };
            dimensions.insert(id.0, namer.name(&wish));
        }
        let length = |id: ArrayId| format!("{}_length", kernel.array(id).name);
        let lengths = function.lengths(kernel).into_iter().map(|id| (id, namer.name(&length(id)))).collect();
        let arrays = function.arrays().into_iter().map(|(id, _)| (id, namer.name(&kernel.array(id).name))).collect();
        let masks = function.masks().into_iter().map(|mask| (namer.name(&kernel.mask_name(&mask)), mask));
        let masks: Vec<(Expr, String)> = masks.map(|(name, mask)| (mask, name)).collect();
        let named = |namer: &mut Namer, mask: usize| {
            (0..MOVES).map(|step| namer.name(&format!("{}_by_{}", masks[mask].1, 1 << step))).collect()
        };
        let moves = function.gathered().into_iter().map(|mask| (mask, named(&mut namer, mask))).collect();
        let (variables, extents) = (BTreeMap::new(), BTreeMap::new());
        let team = function.teams().map(|_| Team::new(&mut namer));
        let (moved, out) = (Vec::new(), String::new());
        Self {
            kernel,
            function,
            helpers,
            namer,
            dimensions,
            lengths,
            arrays,
            variables,
            masks,
            moves,
            extents,
            team,
            moved,
            out,
            depth: 0,
        }
    }

    fn line(&mut self, text: &str) {
        let indent = 4 * self.depth;
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
        self.arrays.insert(id, name.clone());
        name
    }

    fn function(mut self) -> String {
        let function = self.function;
        let mut comment = function.comment.clone();
        if let Some(first) = comment.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        self.line(&format!("// {comment}."));
        let bounds = match function.threads {
            Threads::One => String::new(),
            // Registers of a batch of sums are worth spilling a few: with twice as many warps, more rows are under way.
            Threads::Each(_) if self.has_batches() => format!(" __launch_bounds__({})", function.block),
            Threads::Each(_) | Threads::Teams(_) => {
                // One block a multiprocessor is all that is asked for: for more, registers are spilled, and where nothing is said,
                // the compiler spills a few to have more.
                format!(" __launch_bounds__({}, 1)", function.block)
            }
        };
        self.line(&format!("extern \"C\" __global__ void{bounds} {}(", function.name));
        let parameters = self.parameters();
        let last = parameters.len().saturating_sub(1);
        for (number, parameter) in parameters.iter().enumerate() {
            let comma = if number == last { "" } else { "," };
            self.line(&format!("    {parameter}{comma}"));
        }
        self.nest(")", |printer| match &function.threads {
            Threads::One => printer.block(&function.body),
            Threads::Each(places) => printer.places(places),
            Threads::Teams(teams) => printer.teams(*teams),
        });
        self.out
    }

    fn parameters(&self) -> Vec<String> {
        let text = |parameter: Parameter| match parameter {
            Parameter::Dimension(id) => format!("u64 {}", self.dimensions[&id.0]),
            Parameter::Length(id) => format!("u64 {}", self.lengths[&id]),
            Parameter::Workers => "u64 workers".to_owned(),
            Parameter::Mask(number) => format!("u64 {}", self.masks[number].1),
            Parameter::Move { mask, step } => format!("u64 {}", self.moves[&mask][step]),
            Parameter::First | Parameter::End | Parameter::Inner => {
                self.team.as_ref().map_or(String::new(), |team| team.parameter(parameter))
            }
            Parameter::Array { array, writes } => {
                let constant = if writes { "" } else { "const " };
                let ty = element(self.kernel.array(array).element);
                format!("{constant}{ty}* __restrict__ {}", self.arrays[&array])
            }
        };
        self.function.parameters(self.kernel).into_iter().map(text).collect()
    }

    /// What the threads of a range do.
    fn places(&mut self, places: &Places) {
        if let (Some(Lanes::Segments(segments)), Some(share)) = (&places.lanes, &places.share) {
            return self.segments(places, share, segments);
        }
        let tiles = self.begin_tiles();
        // Lanes lie along the first axis of a block, then places do along the second.
        let own = if places.lanes.is_some() { "y" } else { "x" };
        let number = format!("(u64)blockIdx.x * blockDim.{own} + threadIdx.{own}");
        let mut leave = Vec::new();
        match &places.lanes {
            Some(Lanes::Row(lane)) => {
                let name = self.declare_variable(lane.variable);
                self.line(&format!("const u64 {name} = (u64)blockIdx.y * blockDim.x + threadIdx.x;"));
                if lane.ends {
                    leave.push(format!("{name} >= {}", self.operand(&lane.extent)));
                }
            }
            Some(Lanes::Group(group)) => self.group(*group),
            Some(Lanes::Segments(_)) | None => {}
        }
        for total in &self.function.totals {
            let name = self.declare_variable(total.variable);
            let ty = self.kernel.variable(total.variable).ty;
            let identity = self.identity(total.operator, ty);
            self.line(&format!("{} {name} = {identity};", type_name(ty)));
        }
        let size = places.share.as_ref().map(|share| {
            let value = self.expr(&share.value);
            let size = self.declare_variable(share.size);
            self.line(&format!("const u64 {size} = {value};"));
            size
        });
        // So many places lie between those of neighbours.
        let scaled = |number: &str, is_sum: bool| match &size {
            Some(size) if is_sum => format!("({number}) * {size}"),
            Some(size) => format!("{number} * {size}"),
            None => number.to_owned(),
        };
        let begin = |printer: &mut Self, number: &str| match places.begin {
            Expr::Index(0) => number.to_owned(),
            _ => format!("{} + {number}", printer.expr(&places.begin)),
        };
        if let Some(worker) = places.worker {
            let worker = self.declare_variable(worker);
            self.line(&format!("const u64 {worker} = {number};"));
            if places.workers.is_none() {
                self.line(&format!("const u64 workers = (u64)gridDim.x * blockDim.{own};"));
            }
            // Threads that have to meet at the end go through no place instead.
            let mut is_one: String = match tiles.is_some() {
                true => leave.drain(..).map(|condition| format!("{} && ", condition.replace(" >= ", " < "))).collect(),
                false => String::new(),
            };
            if !leave.is_empty() {
                self.line(&format!("if ({}) return;", leave.join(" || ")));
            }
            let (first, step) = (begin(self, &scaled(&worker, false)), scaled("workers", false));
            let end = self.operand(&places.end);
            if places.workers.is_some() {
                is_one += &format!("{worker} < workers && ");
            }
            self.namer.enter();
            let place = self.declare_variable(places.place);
            self.nest(&format!("for (u64 {place} = {first}; {is_one}{place} < {end}; {place} += {step})"), |printer| {
                printer.block(&printer.function.body);
            });
            self.namer.leave();
        } else {
            let first = begin(self, &scaled(&number, true));
            let place = self.declare_variable(places.place);
            self.line(&format!("const u64 {place} = {first};"));
            leave.insert(0, format!("{place} >= {}", self.operand(&places.end)));
            self.line(&format!("if ({}) return;", leave.join(" || ")));
            self.block(&self.function.body);
        }
        self.combine_totals();
        if let Some(tiles) = tiles {
            self.end_tiles(&tiles);
        }
    }

    /// What a thread has to know of its group.
    fn group(&mut self, group: Group) {
        let (lane, width) = (self.declare_variable(group.lane), self.declare_variable(group.width));
        self.line(&format!("const u64 {lane} = threadIdx.x, {width} = blockDim.x;"));
        let all = format!("({width} == {WARP} ? 0xffffffffu : (1u << {width}) - 1)");
        self.line(&format!("const u32 mates = {all} << threadIdx.y * {width} % {WARP};"));
    }

    /// Combines what lanes have of a variable, for each of them; `half` is half their number.
    fn combine(&mut self, variable: VariableId, operator: ReduceOperator, mates: &str, half: &str) {
        let name = self.variables[&variable].clone();
        let ty = self.kernel.variable(variable).ty;
        let other = self.helpers.shuffled("xor", mates, ty, &name);
        self.nest(&format!("for (int offset = {half}; offset > 0; offset /= 2)"), |printer| {
            printer.update(&name, operator, ty, &other);
        });
    }

    /// A warp combines what its threads have, and one of them goes on.
    fn combine_totals(&mut self) {
        let worker = self.function.places().and_then(|places| places.worker);
        let worker = worker.map_or("0".to_owned(), |worker| self.variables[&worker].clone());
        for total in self.function.totals.clone() {
            self.combine(total.variable, total.operator, "0xffffffffu", &(WARP / 2).to_string());
            let name = self.variables[&total.variable].clone();
            let array = self.arrays[&total.meet.array()].clone();
            let left = match total.meet {
                Meet::Cell(cell) => {
                    self.define(total.operator, self.kernel.array(cell).element.ty());
                    let update = self.helpers.atomic(total.operator, self.kernel.array(cell).element);
                    format!("{update}(&{array}[0], {name});")
                }
                Meet::Parts(_) => format!("{array}[{worker} / {WARP}] = {name};"),
            };
            self.line(&format!("if (threadIdx.x % {WARP} == 0) {left}"));
        }
    }

    /// What a reduction starts from.
    fn identity(&mut self, operator: ReduceOperator, ty: Type) -> String {
        match ty {
            Type::Bool => operator.identity(ElementType::Bool).expect(REDUCED).is_one().to_string(),
            Type::Element(element) => operator.identity(element).map(expr::literal).expect(REDUCED),
            Type::Index => match operator.index_identity().expect(REDUCED) {
                u64::MAX => "~0ull".to_owned(),
                identity => identity.to_string(),
            },
        }
    }
}

/// What the verifier sees to.
const REDUCED: &str = "verified reductions have identities";

/// The name of the type of an array's elements.
fn element(element: ArrayElement) -> &'static str {
    match element {
        ArrayElement::Index(IndexWidth::U8) => "u8",
        ArrayElement::Index(IndexWidth::U16) => "u16",
        ArrayElement::Index(IndexWidth::U32) => "u32",
        ArrayElement::Index(IndexWidth::U64) => "u64",
        ArrayElement::Value(element) => element.name(),
    }
}

/// The name of a variable's type.
fn type_name(ty: Type) -> &'static str {
    match ty {
        Type::Index => "u64",
        Type::Bool => "bool",
        Type::Element(element) => element.name(),
    }
}
