//! Making programs up.

use super::format::Storage;
use super::index::Indices;
use super::{Expr, Let, Program, Tensor};
use crate::data::{Entries, Random};
use spc_compiler::ir::ElementType;

const NAMES: [&str; 5] = ["i", "j", "k", "l", "m"];

const UPDATES: &[&str] = &["=", "=", "=", "=", "=", "=", "=", "=", "=", "+=", "min=", "max=", "*="];

impl Program {
    /// The program of a seed.
    pub fn random(seed: u64) -> Program {
        let mut random = Random::new(seed.wrapping_mul(0x1000_0001).wrapping_add(17));
        let element =
            *random.choose(&[ElementType::F64, ElementType::F64, ElementType::F64, ElementType::F32, ElementType::I64]);
        let count = 1 + random.below(4);
        let extent = |random: &mut Random| *random.choose(&[0, 1, 1, 2, 3, 3, 4, 4, 5, 5]);
        let variables: Vec<(String, usize)> =
            NAMES[..count].iter().map(|name| ((*name).to_owned(), extent(&mut random))).collect();
        let mut target: Vec<usize> = (0..count).collect();
        random.shuffle(&mut target);
        target.truncate(random.below(count.min(3) + 1));
        let all = target.clone();
        let several = seed.is_multiple_of(2);
        let mut indices = if several { Indices::none() } else { Indices::random(&mut random) };
        if !several && random.chance(0.3) {
            indices.vary(&mut target, &all, &|variable| variables[variable].1, &mut random);
        }
        let result = match random.below(3) {
            0 => Storage::random(target.len(), &mut random),
            _ => Storage::dense(target.len()),
        };
        let mut generator = Generator {
            random,
            element,
            extents: variables.iter().map(|(_, extent)| *extent).collect(),
            target: target.clone(),
            indices,
            tensors: Vec::new(),
            shapes: Vec::new(),
            bound: None,
            lets: Vec::new(),
            several,
        };
        generator.reserve();
        let (value, mask) = generator.statement(&result);
        let meets = generator.indices.meet(&target);
        let updates = if generator.several { &UPDATES[..2] } else { UPDATES };
        let update = if meets { "+=" } else { *generator.random.choose(updates) };
        let addend = (generator.several && generator.random.chance(0.3)).then(|| generator.addend());
        let totals = generator.several && generator.random.chance(0.2);
        let (tensors, indices, lets) = (generator.tensors, generator.indices, generator.lets);
        let mut random = generator.random;
        let mut program =
            Program { element, variables, indices, tensors, target, result, update, value, mask, lets, addend, totals };
        for id in 0..program.tensors.len() {
            let density = *random.choose(&[0.0, 0.1, 0.3, 0.5, 0.9]);
            let density = if program.tensors[id].storage.is_dense() { 1.0 } else { density };
            program.tensors[id].entries = Entries::random(&program.shape(id), density, element, &mut random).stored;
        }
        program
    }
}

struct Generator {
    random: Random,
    element: ElementType,
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
}

impl Generator {
    fn statement(&mut self, result: &Storage) -> (Expr, Option<(usize, Vec<usize>)>) {
        let all: Vec<usize> = (0..self.extents.len()).filter(|variable| Some(*variable) != self.bound).collect();
        let terms = *self.random.choose(&[1, 1, 1, 2, 2, 3]);
        let mut value = self.term(&all);
        for _ in 1..terms {
            let operator = *self.random.choose(&[" + ", " - "]);
            value = Expr::Binary(operator, Box::new(value), Box::new(self.term(&all)));
        }
        let mut mask = None;
        if self.random.chance(if result.is_dense() { 0.08 } else { 0.3 }) {
            let mut indices = if self.random.chance(0.7) { self.target.clone() } else { self.some(&all, 3) };
            self.random.shuffle(&mut indices);
            self.vary(&mut indices, &all);
            if !indices.is_empty() {
                let same = result.order() == indices.len() && self.random.chance(0.6);
                let (indices, storage) = match same {
                    true => (self.target.clone(), result.clone()),
                    false => (indices.clone(), Storage::random(indices.len(), &mut self.random)),
                };
                mask = Some((self.declare(storage, &indices), indices));
            }
        }
        (value, mask)
    }

    /// What a second statement adds.
    fn addend(&mut self) -> Expr {
        let all: Vec<usize> = (0..self.extents.len()).filter(|variable| Some(*variable) != self.bound).collect();
        self.term(&all)
    }

    /// A temporary over some of the variables, and what it is.
    fn temporary(&mut self, indices: Vec<usize>) -> Expr {
        let mut inside = indices.clone();
        if self.random.chance(0.5) {
            let more: Vec<usize> = (0..self.extents.len()).filter(|other| !inside.contains(other)).collect();
            inside.extend(more.first());
        }
        inside.retain(|variable| Some(*variable) != self.bound);
        let value = if inside.is_empty() { Expr::Access(self.scalar(), Vec::new()) } else { self.term(&inside) };
        let storage = Storage::random(indices.len(), &mut self.random);
        self.shapes.push(self.shape(&indices));
        self.tensors.push(Tensor { name: format!("T{}", self.tensors.len()), storage, entries: Default::default() });
        let tensor = self.tensors.len() - 1;
        let declared = self.random.chance(0.3);
        self.lets.push(Let { tensor, indices: indices.clone(), value, declared });
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

    fn declare(&mut self, storage: Storage, indices: &[usize]) -> usize {
        self.shapes.push(self.shape(indices));
        let name = format!("{}{}", if storage.order() == 0 { "s" } else { "B" }, self.tensors.len());
        self.tensors.push(Tensor { name, storage, entries: Default::default() });
        self.tensors.len() - 1
    }

    fn term(&mut self, variables: &[usize]) -> Expr {
        let factors = *self.random.choose(&[1, 1, 2, 2, 3]);
        let mut value = self.factor(variables, 2);
        for _ in 1..factors {
            value = Expr::Binary(" * ", Box::new(value), Box::new(self.factor(variables, 2)));
        }
        value
    }

    fn factor(&mut self, variables: &[usize], depth: usize) -> Expr {
        let simple = depth == 0;
        match self.random.below(24) {
            0 => Expr::Literal(self.literal()),
            1 if !simple => Expr::Negate(Box::new(self.factor(variables, depth - 1))),
            2..=4 if !simple => {
                let operator = *self.random.choose(&[" + ", " - ", " + ", " * "]);
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
            10 => Expr::Index(*self.random.choose(variables)),
            11 => Expr::Access(self.scalar(), Vec::new()),
            _ => self.operand(variables),
        }
    }

    fn literal(&mut self) -> String {
        let literals: &[&str] =
            if self.element == ElementType::I64 { &["2", "1", "3", "0"] } else { &["2", "0.5", "1", "1.5", "0"] };
        (*self.random.choose(literals)).to_owned()
    }

    fn quotient(&mut self, variables: &[usize], depth: usize) -> Expr {
        let numerator = self.factor(variables, depth);
        let divisor = Expr::Literal(if self.element == ElementType::I64 { "3" } else { "4" }.to_owned());
        let operator = if self.random.chance(0.8) { " / " } else { " % " };
        Expr::Binary(operator, Box::new(numerator), Box::new(divisor))
    }

    fn call(&mut self, variables: &[usize], depth: usize) -> Expr {
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
        let mut indices = self.some(variables, 2);
        indices.push(bound);
        self.random.shuffle(&mut indices);
        let storage = Storage::random(indices.len(), &mut self.random);
        let mut body = Expr::Access(self.declare(storage, &indices), indices);
        if self.random.chance(0.6) {
            let mut inside = variables.to_vec();
            inside.push(bound);
            let operator = *self.random.choose(&[" * ", " * ", " + ", " - "]);
            body = Expr::Binary(operator, Box::new(body), Box::new(self.factor(&inside, 1)));
        }
        self.bound = Some(bound);
        let reduction = *self.random.choose(&["sum", "sum", "sum", "min", "max", "prod"]);
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
        let mut indices = self.some(variables, 4);
        if self.several && self.lets.len() < 3 && self.random.chance(0.3) {
            return self.temporary(indices);
        }
        self.vary(&mut indices, variables);
        let shape = self.shape(&indices);
        let known: Vec<usize> = (0..self.tensors.len()).filter(|&id| self.shapes[id] == shape).collect();
        if !known.is_empty() && self.random.chance(0.15) {
            return Expr::Access(*self.random.choose(&known), indices);
        }
        let storage = Storage::random(indices.len(), &mut self.random);
        Expr::Access(self.declare(storage, &indices), indices)
    }

    fn shape(&self, indices: &[usize]) -> Vec<usize> {
        indices.iter().map(|&index| self.indices.extent(index, &|variable| self.extents[variable])).collect()
    }

    /// Now and then, makes some indices of an access computed.
    fn vary(&mut self, indices: &mut [usize], variables: &[usize]) {
        self.indices.vary(indices, variables, &|variable| self.extents[variable], &mut self.random);
    }
}
