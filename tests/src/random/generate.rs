//! Making programs up.

use super::algebra::Algebra;
use super::format::Storage;
use super::index::Indices;
use super::{Comparison, Expr, Let, Mask, Program, Statement, TARGET, Tensor};
use crate::data::{Entries, Random, for_each_index};
use crate::number::Number;
use spc_compiler::ir::ElementType;
use std::collections::BTreeMap;

const NAMES: [&str; 5] = ["i", "j", "k", "l", "m"];

const ELEMENTS: &[ElementType] = &[
    ElementType::F64,
    ElementType::F64,
    ElementType::F64,
    ElementType::F64,
    ElementType::F32,
    ElementType::I64,
    ElementType::I32,
    ElementType::U8,
    ElementType::I8,
    ElementType::I16,
    ElementType::U16,
    ElementType::U32,
    ElementType::U64,
    ElementType::C64,
    ElementType::C32,
    ElementType::Bool,
];

/// How a statement that may only be the first assigns.
const FIRST: &[&str] = &["=", "=", "=", "=", "=", "=", "=", "=", "+=", "min=", "max=", "*="];
const BITS: &[&str] = &["|=", "&="];
const LATER: &[&str] = &["+=", "+=", "min=", "max=", "*="];
/// Of what has no order.
const UNORDERED: &[&str] = &["+=", "+=", "*="];
/// Of truth values.
const TRUTHS: &[&str] = &["|=", "|=", "&="];

/// Values that arithmetic does not keep as others.
const WILD: &[f64] = &[f64::INFINITY, f64::NEG_INFINITY, f64::NAN];

impl Program {
    /// The program of a seed.
    pub fn random(seed: u64) -> Program {
        let mut random = Random::new(seed.wrapping_mul(0x1000_0001).wrapping_add(17));
        let element = *random.choose(ELEMENTS);
        let algebra = Algebra::random(element, &mut random);
        let count = 1 + random.below(4);
        let mut extents: Vec<usize> = (0..count).map(|_| *random.choose(&[0, 1, 1, 2, 3, 3, 4, 4, 5, 5])).collect();
        let several = random.chance(0.5);
        let mut indices = if random.chance(0.6) { Indices::none() } else { Indices::random(&mut random) };
        if count < 4 && !indices.compute() && random.chance(0.02) {
            // The edge of what eight bits tell apart.
            extents[random.below(count)] = 255 + usize::from(random.chance(0.5));
        }
        if count == 1 && !indices.compute() && random.chance(0.01) {
            // And sixteen.
            extents[0] = 65_535 + usize::from(random.chance(0.5));
        }
        let mut target: Vec<usize> = (0..count).collect();
        random.shuffle(&mut target);
        target.truncate(random.below(count.min(3) + 1));
        let all = target.clone();
        if !several && random.chance(0.3) {
            indices.vary(&mut target, &all, &|variable| extents[variable], &mut random);
        }
        let is_computed = target != all;
        let mut result = match random.below(3) {
            0 | 1 if is_computed => Storage::random(target.len(), &mut random),
            0 => Storage::random(target.len(), &mut random),
            _ => Storage::dense(target.len()),
        };
        result.fill = if target.is_empty() { None } else { algebra.fill_of_result(&mut random) };
        let mut generator = Generator {
            random,
            element,
            algebra,
            extents,
            target,
            indices,
            tensors: Vec::new(),
            shapes: Vec::new(),
            bound: None,
            lets: Vec::new(),
            several,
            is_wild: false,
            is_monotone: false,
        };
        generator.is_wild = generator.may_be_wild();
        generator.is_monotone = generator.several && generator.algebra.is_extremal() && generator.random.chance(0.5);
        generator.reserve();
        let statements = generator.statements(&result);
        let totals = generator.several && element != ElementType::Bool && generator.random.chance(0.2);
        let Generator { mut random, extents, indices, tensors, lets, is_wild, .. } = generator;
        let variables = NAMES.iter().map(|name| (*name).to_owned()).zip(extents).collect();
        let mut program = Program { element, variables, indices, tensors, result, lets, statements, totals };
        for id in 0..program.tensors.len() {
            program.tensors[id].entries = program.entries(id, is_wild, &mut random);
        }
        program
    }

    /// The program of a seed whose first statement is one reduction, by any operator, over all that its target leaves: terms are often
    /// the same wherever operands have no entry.
    pub fn reduction(seed: u64) -> Program {
        let mut program = Program::random(seed);
        let mut random = Random::new(seed.wrapping_mul(0x2000_0003).wrapping_add(5));
        program.statements.truncate(1);
        program.totals = false;
        let mut value = String::new();
        program.statements[0].value.print(&program, &mut value);
        let target = program.access(TARGET, &program.statements[0].target);
        let has = |text: &str, name: &str| text.split(|c: char| !c.is_alphanumeric()).any(|word| word == name);
        let mut bound = Vec::new();
        program.statements[0].value.for_each(&mut |expr| {
            bound.extend(if let Expr::Reduce(_, variables, _) = expr { variables.clone() } else { Vec::new() });
        });
        let names = program.variables.iter().enumerate();
        let free = names.filter(|(_, (name, _))| has(&value, name) && !has(&target, name));
        let variables: Vec<usize> = free.map(|(id, _)| id).filter(|id| !bound.contains(id)).collect();
        if variables.is_empty() {
            return program;
        }
        let is_long = program.variables.iter().any(|(_, extent)| *extent > 20);
        let reductions: &[&str] = match program.element {
            ElementType::Bool => &["any", "all"],
            element if element.is_complex() && is_long => &["sum"],
            element if element.is_complex() => &["sum", "prod"],
            element if element.is_float() && is_long => &["sum", "min", "max", "max"],
            element if element.is_float() => &["sum", "min", "max", "max", "prod"],
            // The number of a place must fit in the type.
            _ if variables.iter().map(|&id| program.variables[id].1).product::<usize>() <= 127 => {
                &["sum", "min", "max", "prod", "any", "all", "argmax", "argmin"]
            }
            _ => &["sum", "min", "max", "prod", "any", "all"],
        };
        if random.chance(0.7) {
            program.result = Storage { fill: program.result.fill, ..Storage::dense(program.result.order()) };
        }
        let first = &mut program.statements[0];
        let body = std::mem::replace(&mut first.value, Expr::Literal(String::new()));
        first.update = "=";
        first.value = Expr::Reduce(random.choose::<&str>(reductions), variables, Box::new(body));
        program
    }

    fn entries(&self, id: usize, is_wild: bool, random: &mut Random) -> BTreeMap<Vec<usize>, Number> {
        let (shape, Tensor { storage, element, .. }) = (self.shape(id), &self.tensors[id]);
        let density = *random.choose(&[0.0, 0.1, 0.3, 0.5, 0.9]);
        let density = match storage.is_dense() {
            true => 1.0,
            false if shape.iter().product::<usize>() > 10_000 => density / 100.0,
            false => density,
        };
        let mut entries = Entries::random(&shape, density, *element, random).stored;
        if is_wild && element.is_float() {
            for value in entries.values_mut() {
                if random.chance(0.15) {
                    *value = Number::of(*element, *random.choose(WILD));
                }
            }
        }
        if element.is_integer() && random.chance(0.1) {
            // Sums of these wrap around.
            let (_, extreme) = element.extremes().expect("integers have a largest");
            let extreme = Number::of_literal(extreme);
            entries.values_mut().for_each(|value| *value = if random.chance(0.3) { extreme } else { *value });
        }
        if storage.is_dense() || random.chance(0.5) {
            return entries;
        }
        // The last of each mode, which is where widths end.
        let last: Vec<usize> = shape.iter().map(|extent| extent.saturating_sub(1)).collect();
        let is_there = |index: &[usize]| index.iter().zip(&last).any(|(index, last)| index == last);
        for_each_index(&shape, &mut |index| {
            if is_there(index) && shape.iter().any(|&extent| extent > 200) && random.chance(0.5) {
                entries.entry(index.to_vec()).or_insert(Number::of(*element, 1.0));
            }
        });
        entries
    }
}

struct Generator {
    random: Random,
    element: ElementType,
    algebra: Algebra,
    extents: Vec<usize>,
    target: Vec<usize>,
    indices: Indices,
    tensors: Vec<Tensor>,
    shapes: Vec<Vec<usize>>,
    /// The variable that only explicit sums use.
    bound: Option<usize>,
    lets: Vec<Let>,
    /// Whether there may be several statements.
    several: bool,
    /// Whether values may be infinite or NaN.
    is_wild: bool,
    /// Whether infinities of both signs shall not meet, whose sum is open.
    is_monotone: bool,
}

impl Generator {
    fn may_be_wild(&mut self) -> bool {
        let sums = self.target.len() < self.extents.len() && !self.algebra.is_extremal();
        self.element.is_float() && self.random.chance(if sums || self.several { 0.1 } else { 0.4 })
    }

    fn statements(&mut self, result: &Storage) -> Vec<Statement> {
        let target = self.target.clone();
        let (value, mask) = self.statement(result);
        let meets = self.indices.meet(&target);
        let update = match self.algebra.reduction() {
            Some(reduction) if meets || self.random.chance(0.8) => reduction,
            _ if meets => "+=",
            _ if self.element == ElementType::Bool => *self.random.choose(TRUTHS),
            _ if self.element.is_complex() && self.random.chance(0.5) => *self.random.choose(UNORDERED),
            _ if self.element.is_complex() => "=",
            _ if self.element.is_integer() && self.random.chance(0.2) => *self.random.choose(BITS),
            _ => *self.random.choose(FIRST),
        };
        let condition = self.condition(&target, &value, mask.is_some());
        let mut statements = vec![Statement { target, update: self.bounded(update), value, mask, condition }];
        while self.several && statements.len() < 3 && self.random.chance(0.35) {
            let mut target = self.target.clone();
            if self.random.chance(0.2) {
                let extents = self.extents.clone();
                self.indices.vary_within(&mut target, &|variable| extents[variable], &mut self.random);
            }
            let (value, mask) = self.statement(result);
            let update = match self.algebra.reduction() {
                Some(reduction) if self.random.chance(0.6) => reduction,
                _ if self.element == ElementType::Bool => *self.random.choose(TRUTHS),
                _ if self.element.is_complex() => *self.random.choose(UNORDERED),
                _ if self.element.is_integer() && self.random.chance(0.2) => *self.random.choose(BITS),
                _ => *self.random.choose(LATER),
            };
            let condition = self.condition(&target, &value, mask.is_some());
            statements.push(Statement { target, update: self.bounded(update), value, mask, condition });
        }
        statements
    }

    /// Now and then, what chooses elements or terms by the indices of a statement.
    fn condition(&mut self, target: &[usize], value: &Expr, has_mask: bool) -> Vec<Comparison> {
        let mut variables: Vec<usize> = target.iter().copied().filter(|index| *index < NAMES.len()).collect();
        value.for_each(&mut |expr| {
            let own = match expr {
                Expr::Access(_, indices) => indices.clone(),
                _ => Vec::new(),
            };
            variables.extend(own.into_iter().filter(|index| *index < NAMES.len() && Some(*index) != self.bound));
        });
        variables.sort_unstable();
        variables.dedup();
        if variables.is_empty() || !self.random.chance(0.2) {
            return Vec::new();
        }
        let count = 1 + self.random.below(2);
        let comparison = |random: &mut Random| Comparison {
            left: *random.choose(&variables),
            operator: random.choose::<&str>(&["<", "<=", ">", ">=", "==", "!="]),
            right: random.chance(0.7).then(|| *random.choose(&variables)),
            number: random.below(3),
            is_and: has_mask || random.chance(0.8),
        };
        (0..count).map(|_| comparison(&mut self.random)).collect()
    }

    /// Whether a loop is so long that products of its numbers leave the range of any type, in one order of factors or another.
    fn is_long(&self) -> bool {
        self.extents.iter().any(|&extent| extent > 20)
    }

    /// An update, but for products of too many numbers.
    fn bounded(&self, update: &'static str) -> &'static str {
        let may_multiply = self.element.is_integer() || !self.is_long();
        if update == "*=" && !may_multiply { "+=" } else { update }
    }

    fn statement(&mut self, result: &Storage) -> (Expr, Option<Mask>) {
        let all = self.all();
        let terms = *self.random.choose(&[1, 1, 1, 2, 2, 3]);
        let mut value = self.term(&all);
        for _ in 1..terms {
            let other = self.term(&all);
            value = self.algebra.sum(value, other, &mut self.random);
        }
        let chance = if result.is_dense() { 0.15 } else { 0.3 };
        let mask = self.random.chance(chance).then(|| self.mask(&all, result));
        (value, mask.flatten())
    }

    /// The variables that no explicit sum has for its own.
    fn all(&self) -> Vec<usize> {
        (0..self.extents.len()).filter(|&variable| Some(variable) != self.bound).collect()
    }

    fn mask(&mut self, all: &[usize], result: &Storage) -> Option<Mask> {
        let is_target = self.random.chance(0.7);
        let target = self.target.clone();
        let mut indices = if is_target || all.is_empty() { target.clone() } else { self.some(all, 3) };
        self.random.shuffle(&mut indices);
        self.vary(&mut indices, all);
        if indices.is_empty() {
            return None;
        }
        let same = result.order() == indices.len() && self.random.chance(0.6);
        let (indices, storage) = match same {
            true => (target, Storage { fill: None, ..result.clone() }),
            false => (indices.clone(), Storage::random(indices.len(), &mut self.random)),
        };
        Some((self.declare(storage, &indices), indices))
    }

    /// A temporary over some of the variables, and what it is.
    fn temporary(&mut self, indices: Vec<usize>) -> Expr {
        let mut inside = indices.clone();
        if self.element != ElementType::Bool && self.random.chance(0.5) {
            let more: Vec<usize> = self.all().into_iter().filter(|other| !inside.contains(other)).collect();
            inside.extend(more.first());
        }
        inside.retain(|variable| Some(*variable) != self.bound);
        let value = if inside.is_empty() { Expr::Access(self.scalar(), Vec::new()) } else { self.term(&inside) };
        let mask = (!indices.is_empty() && self.random.chance(0.15)).then(|| {
            let storage = Storage::random(indices.len(), &mut self.random);
            (self.declare(storage, &indices), indices.clone())
        });
        let storage = Storage::random(indices.len(), &mut self.random);
        let name = format!("T{}", self.tensors.len());
        let tensor = self.add(name, self.element, storage, &indices);
        let declared = self.random.chance(0.3);
        self.lets.push(Let { tensor, indices: indices.clone(), value, mask, declared });
        Expr::Access(tensor, indices)
    }

    /// Some of the variables, in any order.
    fn some(&mut self, variables: &[usize], most: usize) -> Vec<usize> {
        let mut chosen = variables.to_vec();
        self.random.shuffle(&mut chosen);
        chosen.truncate(1 + self.random.below(most));
        if self.random.chance(0.6) {
            chosen.sort_unstable();
        }
        chosen
    }

    fn add(&mut self, name: String, element: ElementType, storage: Storage, indices: &[usize]) -> usize {
        self.shapes.push(self.shape(indices));
        self.tensors.push(Tensor { name, element, storage, entries: Default::default() });
        self.tensors.len() - 1
    }

    /// A new parameter.
    fn declare(&mut self, mut storage: Storage, indices: &[usize]) -> usize {
        let name = format!("{}{}", if storage.order() == 0 { "s" } else { "B" }, self.tensors.len());
        let mut element = if self.random.chance(0.12) { *self.random.choose(ELEMENTS) } else { self.element };
        if element.is_float() && self.random.chance(0.08) {
            element = *self.random.choose(&[ElementType::F16, ElementType::BF16]);
        }
        // Only a part of a complex number is a real one; truth values stay among themselves.
        if element.is_complex() && !self.element.is_complex() || self.element == ElementType::Bool {
            element = self.element;
        }
        if storage.order() > 0 {
            storage.fill = self.algebra.fill(element, &mut self.random);
        }
        self.add(name, element, storage, indices)
    }

    /// A tensor where it is read, as a value of the result's type.
    fn read(&mut self, tensor: usize, indices: Vec<usize>) -> Expr {
        let access = Expr::Access(tensor, indices);
        let widens = self.tensors[tensor].element.widens(self.element);
        let converts = self.tensors[tensor].element != self.element && (!widens || self.random.chance(0.5));
        if converts { Expr::Cast(self.element, Box::new(access)) } else { access }
    }

    fn term(&mut self, variables: &[usize]) -> Expr {
        let factors = *self.random.choose(&[1, 1, 2, 2, 3]);
        let mut value = self.factor(variables, 2);
        for _ in 1..factors {
            let operator = self.algebra.product();
            value = Expr::Binary(operator, Box::new(value), Box::new(self.factor(variables, 2)));
        }
        value
    }

    fn factor(&mut self, variables: &[usize], depth: usize) -> Expr {
        let simple = depth == 0;
        if self.element == ElementType::Bool {
            return self.truth(variables, depth);
        }
        if self.is_monotone && self.random.chance(0.9) {
            return match self.random.below(4) {
                0 if !simple => {
                    let function = *self.random.choose(&["min", "max"]);
                    Expr::Call(function, (0..2).map(|_| self.factor(variables, depth - 1)).collect())
                }
                1 => Expr::Literal(self.literal()),
                _ => self.operand(variables),
            };
        }
        if self.is_monotone {
            let scalar = self.scalar();
            return self.read(scalar, Vec::new());
        }
        match self.random.below(24) {
            0 => Expr::Literal(self.literal()),
            1 if !simple && self.element.is_signed() => Expr::Negate(Box::new(self.factor(variables, depth - 1))),
            2..=4 if !simple => {
                let operator = match self.element.is_integer() && self.random.chance(0.2) {
                    true => *self.random.choose(&[" | ", " & "]),
                    false => *self.random.choose(&[" + ", " - ", " + ", " * "]),
                };
                let left = self.factor(variables, depth - 1);
                Expr::Binary(operator, Box::new(left), Box::new(self.factor(variables, depth - 1)))
            }
            5 if !simple => self.quotient(variables, depth - 1),
            6 if !simple => self.call(variables, depth - 1),
            7 if !simple => {
                let mut part = || self.factor(variables, 0);
                Expr::Select(Box::new([part(), part(), part(), part()]))
            }
            8 | 9 if !simple && self.bound.is_some() => self.sum(variables),
            10 if !variables.is_empty() && self.random.chance(0.3) => Expr::Extent(*self.random.choose(variables)),
            10 if !variables.is_empty() => Expr::Index(*self.random.choose(variables)),
            11 => {
                let scalar = self.scalar();
                self.read(scalar, Vec::new())
            }
            _ => self.operand(variables),
        }
    }

    /// A factor of truth values.
    fn truth(&mut self, variables: &[usize], depth: usize) -> Expr {
        let simple = depth == 0;
        match self.random.below(24) {
            0 => Expr::Literal(if self.random.chance(0.5) { "true" } else { "false" }.to_owned()),
            1 if !simple => Expr::Negate(Box::new(self.truth(variables, depth - 1))),
            2..=5 if !simple => {
                let operator = *self.random.choose(&[" && ", " || ", " && ", " || ", " != "]);
                let left = self.truth(variables, depth - 1);
                Expr::Binary(operator, Box::new(left), Box::new(self.truth(variables, depth - 1)))
            }
            6 if !simple => {
                let mut part = || self.truth(variables, 0);
                Expr::Select(Box::new([part(), part(), part(), part()]))
            }
            7 | 8 if !simple && self.bound.is_some() => self.sum(variables),
            9 if !variables.is_empty() => {
                let index = Expr::Index(*self.random.choose(variables));
                Expr::Binary(" <= ", Box::new(index), Box::new(Expr::Literal("2".to_owned())))
            }
            10 => Expr::Access(self.scalar(), Vec::new()),
            _ => self.operand(variables),
        }
    }

    fn literal(&mut self) -> String {
        let literals: &[&str] =
            if self.element.is_float() { &["2", "0.5", "1", "1.5", "0"] } else { &["2", "1", "3", "0"] };
        (*self.random.choose(literals)).to_owned()
    }

    fn quotient(&mut self, variables: &[usize], depth: usize) -> Expr {
        let numerator = self.factor(variables, depth);
        let divisor = Expr::Literal(if self.element.is_float() { "4" } else { "3" }.to_owned());
        let operator = if self.element.is_complex() || self.random.chance(0.8) { " / " } else { " % " };
        Expr::Binary(operator, Box::new(numerator), Box::new(divisor))
    }

    fn call(&mut self, variables: &[usize], depth: usize) -> Expr {
        if self.element.is_complex() {
            let function = *self.random.choose(&["conj", "re", "im", "abs"]);
            // What it is applied to may be real.
            let argument = Expr::Cast(self.element, Box::new(self.factor(variables, depth)));
            return Expr::Cast(self.element, Box::new(Expr::Call(function, vec![argument])));
        }
        let function = *self.random.choose(&["min", "max", "abs"]);
        let count = if function == "abs" { 1 } else { 2 };
        Expr::Call(function, (0..count).map(|_| self.factor(variables, depth)).collect())
    }

    /// Now and then, keeps a variable for explicit sums.
    fn reserve(&mut self) {
        let free: Vec<usize> = (0..self.extents.len()).filter(|variable| !self.target.contains(variable)).collect();
        if !free.is_empty() && self.extents.len() > 1 && self.random.chance(0.4) {
            self.bound = Some(*self.random.choose(&free));
        }
    }

    /// An explicit sum, over the variable that is kept for them.
    fn sum(&mut self, variables: &[usize]) -> Expr {
        let Some(bound) = self.bound.take() else { return self.operand(variables) };
        let mut indices = if variables.is_empty() { Vec::new() } else { self.some(variables, 2) };
        indices.push(bound);
        self.random.shuffle(&mut indices);
        let storage = Storage::random(indices.len(), &mut self.random);
        let tensor = self.declare(storage, &indices);
        let mut body = self.read(tensor, indices);
        let has_order = self.element.is_float() || self.element.is_integer();
        if has_order && self.random.chance(0.2) {
            self.bound = Some(bound);
            let reduction = *self.random.choose(&["argmax", "argmin"]);
            return Expr::Reduce(reduction, vec![bound], Box::new(body));
        }
        if self.random.chance(0.6) {
            let mut inside = variables.to_vec();
            inside.push(bound);
            let operator = match self.element {
                ElementType::Bool => *self.random.choose(&[" && ", " || "]),
                _ => *self.random.choose(&[self.algebra.product(), " * ", " + ", " - "]),
            };
            body = Expr::Binary(operator, Box::new(body), Box::new(self.factor(&inside, 1)));
        }
        self.bound = Some(bound);
        let reductions: &[&str] = match self.element {
            ElementType::Bool => &["any", "any", "all"],
            element if element.is_complex() && self.is_long() => &["sum"],
            element if element.is_float() && self.is_long() => &["sum", "sum", "sum", "min", "max"],
            element if element.is_complex() => &["sum", "sum", "prod"],
            element if element.is_float() => &["sum", "sum", "sum", "min", "max", "prod"],
            _ => &["sum", "sum", "sum", "min", "max", "prod", "any", "all"],
        };
        let reduction = *self.random.choose(reductions);
        Expr::Reduce(reduction, vec![bound], Box::new(body))
    }

    fn scalar(&mut self) -> usize {
        let known: Vec<usize> = (0..self.tensors.len()).filter(|&id| self.tensors[id].storage.order() == 0).collect();
        if !known.is_empty() && self.random.chance(0.5) {
            return *self.random.choose(&known);
        }
        self.declare(Storage::dense(0), &[])
    }

    /// A tensor; now and then one that was there already.
    fn operand(&mut self, variables: &[usize]) -> Expr {
        if variables.is_empty() {
            let scalar = self.scalar();
            return self.read(scalar, Vec::new());
        }
        let mut indices = self.some(variables, 4);
        if self.several && self.lets.len() < 3 && self.random.chance(0.3) {
            return self.temporary(indices);
        }
        self.vary(&mut indices, variables);
        let shape = self.shape(&indices);
        let known: Vec<usize> = (0..self.tensors.len()).filter(|&id| self.shapes[id] == shape).collect();
        if !known.is_empty() && self.random.chance(0.15) {
            let known = *self.random.choose(&known);
            return self.read(known, indices);
        }
        let storage = Storage::random(indices.len(), &mut self.random);
        let tensor = self.declare(storage, &indices);
        self.read(tensor, indices)
    }

    fn shape(&self, indices: &[usize]) -> Vec<usize> {
        indices.iter().map(|&index| self.indices.extent(index, &|variable| self.extents[variable])).collect()
    }

    /// Now and then, makes some indices of an access computed.
    fn vary(&mut self, indices: &mut [usize], variables: &[usize]) {
        self.indices.vary(indices, variables, &|variable| self.extents[variable], &mut self.random);
    }
}
