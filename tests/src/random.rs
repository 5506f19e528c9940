//! Random programs: expressions, formats, shapes and data that no person would write.
//!
//! A program prints as a [case](crate::case), so that what fails can be kept. [`Program::shrink`] finds a smaller program that
//! fails in the same way.

mod algebra;
mod format;
pub mod forms;
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
    /// The type of the results, and of most operands.
    element: ElementType,
    /// Index variables and their extents.
    variables: Vec<(String, usize)>,
    /// Indices that are computed from them.
    indices: index::Indices,
    tensors: Vec<Tensor>,
    result: Storage,
    /// Temporaries, each read by what comes after it.
    lets: Vec<Let>,
    /// What assigns the result, and what then updates it.
    statements: Vec<Statement>,
    /// Whether a second result is the sum of the first.
    totals: bool,
}

/// `A(…) operator= value where mask`
#[derive(Debug, Clone, PartialEq)]
struct Statement {
    target: Vec<usize>,
    update: &'static str,
    value: Expr,
    mask: Option<Mask>,
    condition: Vec<Comparison>,
}

/// `i < j + 1`, or with a number alone on the right `i < 2`.
#[derive(Debug, Clone, PartialEq)]
struct Comparison {
    left: usize,
    operator: &'static str,
    right: Option<usize>,
    number: usize,
    /// Whether it must hold beside those before it, or instead of them.
    is_and: bool,
}

/// A tensor and its indices.
type Mask = (usize, Vec<usize>);

/// A tensor that the program makes for itself.
#[derive(Debug, Clone, PartialEq)]
struct Let {
    tensor: usize,
    indices: Vec<usize>,
    value: Expr,
    mask: Option<Mask>,
    /// Whether its format is written.
    declared: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct Tensor {
    name: String,
    element: ElementType,
    storage: Storage,
    entries: BTreeMap<Vec<usize>, Number>,
}

#[derive(Debug, Clone, PartialEq)]
enum Expr {
    Literal(String),
    /// An index variable's value.
    Index(usize),
    /// How many values it has.
    Extent(usize),
    /// A tensor at index variables.
    Access(usize, Vec<usize>),
    Negate(Box<Expr>),
    /// `f32(…)`
    Cast(ElementType, Box<Expr>),
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
            Expr::Literal(_) | Expr::Index(_) | Expr::Extent(_) | Expr::Access(..) => Vec::new(),
            Expr::Negate(operand) | Expr::Cast(_, operand) | Expr::Reduce(_, _, operand) => vec![operand],
            Expr::Binary(_, left, right) => vec![left, right],
            Expr::Call(_, arguments) => arguments.iter().collect(),
            Expr::Select(parts) => parts.iter().collect(),
        }
    }

    fn children_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Expr::Literal(_) | Expr::Index(_) | Expr::Extent(_) | Expr::Access(..) => Vec::new(),
            Expr::Negate(operand) | Expr::Cast(_, operand) | Expr::Reduce(_, _, operand) => vec![operand],
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
            Expr::Extent(variable) => text.push_str(&format!("extent({})", program.variables[*variable].0)),
            Expr::Access(tensor, indices) => text.push_str(&program.access(&program.tensors[*tensor].name, indices)),
            Expr::Negate(operand) => {
                list(if program.element == ElementType::Bool { "!(" } else { "-(" }, "", &[operand])
            }
            Expr::Cast(element, operand) => list(&format!("{}(", element.name()), "", &[operand]),
            Expr::Binary(operator, left, right) => list("(", operator, &[left, right]),
            Expr::Call(function, arguments) => {
                list(&format!("{function}("), ", ", &arguments.iter().collect::<Vec<_>>());
            }
            Expr::Select(parts) => {
                let [a, b, yes, no] = &**parts;
                let has_order = program.element.is_float() || program.element.is_integer();
                let operator = if has_order { " < " } else { " == " };
                let condition = Expr::Binary(operator, Box::new(a.clone()), Box::new(b.clone()));
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
        self.statements.iter().for_each(|statement| visit(TARGET, &statement.target));
        let lets = self.lets.iter().map(|made| (&made.value, &made.mask));
        for (value, mask) in lets.chain(self.statements.iter().map(|statement| (&statement.value, &statement.mask))) {
            value.for_each(&mut |expr| {
                if let Expr::Access(tensor, indices) = expr {
                    visit(&self.tensors[*tensor].name, indices);
                }
            });
            mask.iter().for_each(|(tensor, indices)| visit(&self.tensors[*tensor].name, indices));
        }
    }

    /// The tensors that the statements read, temporaries among them.
    fn read(&self) -> Vec<usize> {
        fn collect(value: &Expr, mask: &Option<Mask>, read: &mut Vec<usize>) {
            value.for_each(&mut |expr| {
                read.extend(if let Expr::Access(tensor, _) = expr { Some(*tensor) } else { None })
            });
            read.extend(mask.iter().map(|(tensor, _)| *tensor));
        }
        let mut read = Vec::new();
        self.statements.iter().for_each(|statement| collect(&statement.value, &statement.mask, &mut read));
        for made in self.lets.iter().rev() {
            if read.contains(&made.tensor) {
                collect(&made.value, &made.mask, &mut read);
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
        let declare = |name: &str, element: ElementType, storage: &Storage| match storage.order() {
            0 => format!("{name}: {}", element.name()),
            _ => format!("{name}: {} {storage}", element.name()),
        };
        let parameter = |&tensor: &usize| {
            let Tensor { name, element, storage, .. } = &self.tensors[tensor];
            declare(name, *element, storage)
        };
        let parameters: Vec<String> = self.used().iter().map(parameter).collect();
        let mask = |mask: &Option<Mask>| match mask {
            Some((tensor, indices)) => format!(" where {}", self.access(&self.tensors[*tensor].name, indices)),
            None => String::new(),
        };
        let mut results = declare(TARGET, self.element, &self.result);
        if self.totals {
            results = format!("({results}, total: {})", self.element.name());
        }
        let mut text = format!("fn kernel({}) -> {results} {{\n", parameters.join(", "));
        let read = self.read();
        for made in self.lets.iter().filter(|made| read.contains(&made.tensor)) {
            let Tensor { name, element, storage, .. } = &self.tensors[made.tensor];
            let format = match (made.declared, storage.order()) {
                (false, _) => String::new(),
                (true, 0) => format!(": {}", element.name()),
                (true, _) => format!(": {} {storage}", element.name()),
            };
            let target = self.access(name, &made.indices);
            _ = writeln!(text, "    let {target}{format} = {}{};", printed(&made.value), mask(&made.mask));
        }
        for Statement { target, update, value, mask: chosen, condition } in &self.statements {
            let target = self.access(TARGET, target);
            let mut chosen = mask(chosen);
            for comparison in condition {
                let joint = match (chosen.is_empty(), comparison.is_and) {
                    (true, _) => " where ",
                    (false, true) => " && ",
                    (false, false) => " || ",
                };
                chosen = format!("{chosen}{joint}{}", self.comparison(comparison));
            }
            _ = writeln!(text, "    {target} {update} {}{chosen};", printed(value));
        }
        if self.totals {
            let target = self.access(TARGET, &self.statements[0].target);
            _ = writeln!(text, "    total = {target};");
        }
        text + "}\n"
    }

    fn comparison(&self, comparison: &Comparison) -> String {
        let Comparison { left, operator, right, number, .. } = comparison;
        let name = |variable: &usize| self.variables[*variable].0.clone();
        let right = right.as_ref().map_or(String::new(), |right| format!("{} + ", name(right)));
        format!("{} {operator} {right}{number}", name(left))
    }

    /// The program as a case, read from its text.
    pub fn case(&self, name: &str) -> Case {
        Case::parse(name, &self.case_text()).expect("a program prints as a case")
    }
}
