//! Random programs: expressions, formats, shapes and data that nobody would think of.
//!
//! A program prints as a [case](crate::case), so that what fails can be kept. [`Program::shrink`] finds a smaller program that
//! fails in the same way.

mod format;
mod generate;
mod index;
mod shrink;

use crate::case::Case;
use crate::number::Number;
use format::Storage;
use spc_compiler::ir::ElementType;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The name of the result.
const TARGET: &str = "A";

/// A kernel with its data.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The type of all elements.
    element: ElementType,
    /// Index variables and their extents.
    variables: Vec<(String, usize)>,
    /// Indices that are computed from them.
    indices: index::Indices,
    tensors: Vec<Tensor>,
    target: Vec<usize>,
    result: Storage,
    /// How the result is assigned.
    update: &'static str,
    value: Expr,
    /// A tensor and its index variables.
    mask: Option<(usize, Vec<usize>)>,
    /// Temporaries, each read by what comes after it.
    lets: Vec<Let>,
    /// What a second statement adds to the result.
    addend: Option<Expr>,
    /// Whether a second result is the sum of the first.
    totals: bool,
}

/// A tensor that the program makes for itself.
#[derive(Debug, Clone, PartialEq)]
struct Let {
    tensor: usize,
    indices: Vec<usize>,
    value: Expr,
    /// Whether its format is written.
    declared: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct Tensor {
    name: String,
    storage: Storage,
    entries: BTreeMap<Vec<usize>, Number>,
}

#[derive(Debug, Clone, PartialEq)]
enum Expr {
    Literal(String),
    /// An index variable's value.
    Index(usize),
    /// A tensor at index variables.
    Access(usize, Vec<usize>),
    Negate(Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Call(&'static str, Vec<Expr>),
    /// `select(a < b, c, d)`
    Select(Box<[Expr; 4]>),
    /// `sum(k)(…)`, or another reduction
    Reduce(&'static str, Vec<usize>, Box<Expr>),
}

impl Expr {
    fn children(&self) -> Vec<&Expr> {
        match self {
            Expr::Literal(_) | Expr::Index(_) | Expr::Access(..) => Vec::new(),
            Expr::Negate(operand) | Expr::Reduce(_, _, operand) => vec![operand],
            Expr::Binary(_, left, right) => vec![left, right],
            Expr::Call(_, arguments) => arguments.iter().collect(),
            Expr::Select(parts) => parts.iter().collect(),
        }
    }

    fn children_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Expr::Literal(_) | Expr::Index(_) | Expr::Access(..) => Vec::new(),
            Expr::Negate(operand) | Expr::Reduce(_, _, operand) => vec![operand],
            Expr::Binary(_, left, right) => vec![left, right],
            Expr::Call(_, arguments) => arguments.iter_mut().collect(),
            Expr::Select(parts) => parts.iter_mut().collect(),
        }
    }

    fn for_each(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        self.children().into_iter().for_each(|child| child.for_each(visit));
    }

    fn print(&self, program: &Program, text: &mut String) {
        let mut list = |open: &str, separator: &str, parts: &[&Expr]| {
            text.push_str(open);
            for (place, part) in parts.iter().enumerate() {
                text.push_str(if place > 0 { separator } else { "" });
                part.print(program, text);
            }
            text.push(')');
        };
        match self {
            Expr::Literal(literal) => text.push_str(literal),
            Expr::Index(variable) => text.push_str(&program.variables[*variable].0),
            Expr::Access(tensor, indices) => text.push_str(&program.access(&program.tensors[*tensor].name, indices)),
            Expr::Negate(operand) => list("-(", "", &[operand]),
            Expr::Binary(operator, left, right) => list("(", operator, &[left, right]),
            Expr::Call(function, arguments) => {
                list(&format!("{function}("), ", ", &arguments.iter().collect::<Vec<_>>());
            }
            Expr::Select(parts) => {
                let [a, b, yes, no] = &**parts;
                let condition = Expr::Binary(" < ", Box::new(a.clone()), Box::new(b.clone()));
                list("select(", ", ", &[&condition, yes, no]);
            }
            Expr::Reduce(reduction, variables, body) => {
                let names: Vec<&str> = variables.iter().map(|&v| program.variables[v].0.as_str()).collect();
                list(&format!("{reduction}({})(", names.join(", ")), "", &[body]);
            }
        }
    }
}

impl Program {
    fn access(&self, name: &str, indices: &[usize]) -> String {
        let names: Vec<String> = indices.iter().map(|&index| self.index(index)).collect();
        if names.is_empty() { name.to_owned() } else { format!("{name}({})", names.join(", ")) }
    }

    /// The shape that a tensor has wherever it is accessed.
    fn shape(&self, tensor: usize) -> Vec<usize> {
        let mut shape = Vec::new();
        self.for_each_access(&mut |name, indices| {
            if name == self.tensors[tensor].name {
                shape = indices.iter().map(|&index| self.extent(index)).collect();
            }
        });
        shape
    }

    /// Calls `visit` with the tensor's name and the indices of each access, the target first.
    fn for_each_access(&self, visit: &mut dyn FnMut(&str, &[usize])) {
        visit(TARGET, &self.target);
        for value in self.lets.iter().map(|made| &made.value).chain([&self.value]).chain(&self.addend) {
            value.for_each(&mut |expr| {
                if let Expr::Access(tensor, indices) = expr {
                    visit(&self.tensors[*tensor].name, indices);
                }
            });
        }
        self.mask.iter().for_each(|(tensor, indices)| visit(&self.tensors[*tensor].name, indices));
    }

    /// The tensors that the statements read, temporaries among them.
    fn read(&self) -> Vec<usize> {
        fn collect(expr: &Expr, read: &mut Vec<usize>) {
            expr.for_each(&mut |expr| {
                read.extend(if let Expr::Access(tensor, _) = expr { Some(*tensor) } else { None })
            });
        }
        let mut read: Vec<usize> = self.mask.iter().map(|(tensor, _)| *tensor).collect();
        [&self.value].into_iter().chain(&self.addend).for_each(|value| collect(value, &mut read));
        for made in self.lets.iter().rev() {
            if read.contains(&made.tensor) {
                collect(&made.value, &mut read);
            }
        }
        read.sort_unstable();
        read.dedup();
        read
    }

    /// The parameters that the statements read.
    fn used(&self) -> Vec<usize> {
        let mut used = self.read();
        used.retain(|&tensor| self.lets.iter().all(|made| made.tensor != tensor));
        used
    }

    /// The program as a case.
    pub fn case_text(&self) -> String {
        let mut text = "// dims:".to_owned();
        for (name, extent) in self.variables.iter().chain(&self.sizes()) {
            _ = write!(text, " {name}={extent}");
        }
        text.push('\n');
        for &tensor in &self.used() {
            let Tensor { name, entries, .. } = &self.tensors[tensor];
            _ = write!(text, "// data {name}:");
            for (index, value) in entries {
                let index: Vec<String> = index.iter().map(usize::to_string).collect();
                _ = write!(text, " ({})={value}", index.join(", "));
            }
            text.push_str(" \n");
        }
        text + &self.kernel_text()
    }

    fn kernel_text(&self) -> String {
        let printed = |value: &Expr| {
            let mut text = String::new();
            value.print(self, &mut text);
            text
        };
        let element = self.element.name();
        let declare = |name: &str, storage: &Storage| match storage.order() {
            0 => format!("{name}: {element}"),
            _ => format!("{name}: {element} {storage}"),
        };
        let parameters: Vec<String> = self
            .used()
            .iter()
            .map(|&tensor| declare(&self.tensors[tensor].name, &self.tensors[tensor].storage))
            .collect();
        let mask = self
            .mask
            .iter()
            .map(|(tensor, indices)| format!(" where {}", self.access(&self.tensors[*tensor].name, indices)));
        let mut results = declare(TARGET, &self.result);
        if self.totals {
            results = format!("({results}, total: {element})");
        }
        let mut text = format!("fn kernel({}) -> {results} {{\n", parameters.join(", "));
        let read = self.read();
        for made in self.lets.iter().filter(|made| read.contains(&made.tensor)) {
            let Tensor { name, storage, .. } = &self.tensors[made.tensor];
            let format = match (made.declared, storage.order()) {
                (false, _) => String::new(),
                (true, 0) => format!(": {element}"),
                (true, _) => format!(": {element} {storage}"),
            };
            _ = writeln!(text, "    let {}{format} = {};", self.access(name, &made.indices), printed(&made.value));
        }
        let target = self.access(TARGET, &self.target);
        _ = writeln!(text, "    {target} {} {}{};", self.update, printed(&self.value), mask.collect::<String>(),);
        if let Some(addend) = &self.addend {
            _ = writeln!(text, "    {target} += {};", printed(addend));
        }
        if self.totals {
            _ = writeln!(text, "    total = {target};");
        }
        text + "}\n"
    }

    /// The program as a case, read from its text.
    pub fn case(&self, name: &str) -> Case {
        Case::parse(name, &self.case_text()).expect("a program prints as a case")
    }
}
