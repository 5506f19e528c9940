//! The same meaning written in several ways, and what each costs.
//!
//! A family is a product of sparse and dense operands that is summed into a result. Its writings have the factors in another order, in other
//! brackets, with sums at other places, parts as temporaries, masks that choose nothing more, operands in other formats, scalars and functions
//! that change nothing, and one more statement. The interpreter counts what each does.

use crate::data::{Entries, Random};
use crate::number::Number;
use spc::execute::interpreter::counted;
use spc::execute::{Backend, Operand, Program, ProgramOptions};
use spc::tensor::AnyTensor;
use spc_compiler::ir::ElementType;
use spc_compiler::{notation, syntax};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Results and factors: a capital names a sparse operand or result.
const PRODUCTS: [&str; 34] = [
    "y i = A ij, x j",
    "y j = A ij, x i",
    "y i = A ij, x j, z i",
    "y i = A ij, B ij, x j",
    "y i = A ij, B jk, x k",
    "y k = A ij, x i, B jk",
    "y k = A ij, x j, A ik",
    "s = A ij",
    "s = A ij, x i, z j",
    "s = A ij, B ij",
    "s = A ij, B jk, D ki",
    "s = A ij, B jk, x i, z k",
    "S ij = A ij, B ij",
    "S ij = A ij, x i, z j",
    "S ij = A ij, B ij, D ij",
    "S ij = A ij, u iq, v jq",
    "S ij = A ij, B ij, u iq, v jq",
    "S ij = A ij, u iq, w qr, v jr",
    "S ij = A ik, B kj",
    "S ij = A ij, B ik, D kj",
    "w ir = A ij, u jr",
    "w jr = A ij, u ir",
    "w ir = A ij, u jq, v qr",
    "w ir = A ij, u iq, v jq, p jr",
    "w ir = A ij, B jk, u kr",
    "w qr = A ij, u iq, v jr",
    "S ij = X ijk, x k",
    "S ik = X ijk, x j",
    "S jk = X ijk, x i",
    "y i = X ijk, x j, z k",
    "w ir = X ijk, u jr, v kr",
    "w jr = X ijk, u ir, v kr",
    "w kr = X ijk, u ir, v jr",
    "s = X ijk, x i, y j, z k",
];

/// What a sparse operand of two or three modes is stored in.
const MATRICES: [&str; 4] = ["csr", "csc", "dcsr", "coo"];
const TENSORS: [&str; 4] = [
    "csf",
    "coo",
    "(i, j, k) -> [k: compressed, j: compressed, i: compressed]",
    "(i, j, k) -> [j: compressed, i: compressed, k: compressed]",
];

/// Ways to write a family.
const WRITINGS: usize = 8;

/// The extents of modes of sparse operands, and the entries for each index of the first.
const EXTENTS: std::ops::Range<usize> = 250..400;
const DEGREE: usize = 3;

/// A tensor at indices, a letter each.
#[derive(Debug, Clone, PartialEq)]
struct Access {
    name: String,
    indices: String,
}

impl Access {
    fn parse(text: &str) -> Self {
        let (name, indices) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        Self { name: name.to_owned(), indices: indices.to_owned() }
    }

    fn is_sparse(&self) -> bool {
        self.name.starts_with(char::is_uppercase)
    }
}

impl std::fmt::Display for Access {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let indices: Vec<String> = self.indices.chars().map(String::from).collect();
        if indices.is_empty() {
            write!(out, "{}", self.name)
        } else {
            write!(out, "{}({})", self.name, indices.join(","))
        }
    }
}

/// A product, its data, and the ways to write it.
pub struct Family {
    /// The kernels: the first is the product as it stands.
    pub writings: Vec<String>,
    operands: BTreeMap<String, Operand>,
}

/// What a writing took.
#[derive(Debug)]
pub struct Measured {
    /// The kernel.
    pub text: String,
    /// The operations that the interpreter counted.
    pub work: u64,
}

impl Family {
    /// The family of a seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9) ^ 0x00c1_1ff5);
        let product = *random.choose(&PRODUCTS);
        let (target, factors) = product.split_once('=').expect("a product has a result");
        let target = Access::parse(target);
        let factors: Vec<Access> = factors.split(',').map(Access::parse).collect();
        let letters: BTreeSet<char> = factors.iter().flat_map(|factor| factor.indices.chars()).collect();
        let is_mode = |letter: char| factors.iter().any(|factor| factor.is_sparse() && factor.indices.contains(letter));
        let extents: BTreeMap<char, usize> = letters
            .iter()
            .map(|&letter| {
                (
                    letter,
                    if is_mode(letter) { EXTENTS.start + random.below(EXTENTS.len()) } else { 4 + random.below(6) },
                )
            })
            .collect();
        let mut operands = BTreeMap::new();
        for factor in &factors {
            if !operands.contains_key(&factor.name) {
                operands.insert(factor.name.clone(), operand(factor, &extents, &mut random));
            }
        }
        operands.insert("one".to_owned(), Operand::Scalar(1.0));
        let mut writings = vec![Writing::plain(&target, &factors).text(&mut random, true)];
        for _ in 1..WRITINGS {
            let text = Writing::random(&target, &factors, &mut random).text(&mut random, false);
            if !writings.contains(&text) {
                writings.push(text);
            }
        }
        Self { writings, operands }
    }

    /// What each writing takes, those that are refused aside.
    ///
    /// # Errors
    /// Writings whose results differ.
    pub fn measure(&self) -> Result<Vec<Measured>, String> {
        let mut measured = Vec::new();
        let mut first: Option<(String, BTreeMap<Vec<usize>, f64>)> = None;
        for text in &self.writings {
            let kernel = syntax::parse_program(text).and_then(|program| notation::check(&program));
            let kernel = kernel.map_err(|problems| format!("{text}\n{problems:?}"))?.remove(0);
            let read = kernel.tensors.iter().filter(|tensor| tensor.role == notation::Role::Input);
            let operands = read.map(|tensor| (tensor.name.clone(), self.operands[&tensor.name].clone())).collect();
            let options = ProgramOptions {
                backend: Some(Backend::Interpreter),
                calls: Some(1_000_000),
                ..ProgramOptions::default()
            };
            let program = Program::new(&kernel, operands, &[], &options).map_err(|error| format!("{text}\n{error}"))?;
            let (outcome, counts) = counted(|| program.run(1));
            let outputs = outcome.map_err(|error| format!("{text}\n{error}"))?.outputs;
            let values = values(&outputs[0].1);
            match &first {
                None => first = Some((text.clone(), values)),
                Some((other, expected)) if !are_close(expected, &values) => {
                    return Err(format!("these differ:\n{other}\n{text}"));
                }
                Some(_) => {}
            }
            measured.push(Measured { text: text.clone(), work: counts.total() });
        }
        Ok(measured)
    }
}

/// The values of a tensor that are not zero.
fn values(tensor: &AnyTensor) -> BTreeMap<Vec<usize>, f64> {
    let number = |value: Number| match value {
        Number::F64(value) => value,
        other => panic!("{other} is no f64"),
    };
    Entries::of(tensor)
        .stored
        .into_iter()
        .map(|(index, value)| (index, number(value)))
        .filter(|(_, value)| *value != 0.0)
        .collect()
}

fn are_close(one: &BTreeMap<Vec<usize>, f64>, other: &BTreeMap<Vec<usize>, f64>) -> bool {
    let all: BTreeSet<&Vec<usize>> = one.keys().chain(other.keys()).collect();
    let value = |of: &BTreeMap<Vec<usize>, f64>, index: &Vec<usize>| of.get(index).copied().unwrap_or(0.0);
    all.into_iter().all(|index| {
        let (one, other) = (value(one, index), value(other, index));
        (one - other).abs() <= 1e-6 * one.abs().max(other.abs()).max(1.0)
    })
}

fn operand(factor: &Access, extents: &BTreeMap<char, usize>, random: &mut Random) -> Operand {
    let shape: Vec<usize> = factor.indices.chars().map(|letter| extents[&letter]).collect();
    let seed = random.bits();
    match factor.is_sparse() {
        true => spc::generate::uniform(&shape, DEGREE * shape[0], seed).expect("there are places").into(),
        false => Operand::Tensor(spc::generate::random_dense(&shape, ElementType::F64, seed).expect("it is small")),
    }
}

/// An expression.
#[derive(Debug, Clone)]
enum Expr {
    Factor(Access),
    Times(Box<Expr>, Box<Expr>),
    Sum(String, Box<Expr>),
    /// Something around that changes nothing, with the expression at each `$`.
    Around(&'static str, Box<Expr>),
}

impl Expr {
    fn free(&self) -> BTreeSet<char> {
        match self {
            Expr::Factor(access) => access.indices.chars().collect(),
            Expr::Times(left, right) => &left.free() | &right.free(),
            Expr::Sum(over, body) => body.free().into_iter().filter(|letter| !over.contains(*letter)).collect(),
            Expr::Around(_, body) => body.free(),
        }
    }

    fn is_sparse(&self) -> bool {
        match self {
            Expr::Factor(access) => access.is_sparse(),
            Expr::Times(left, right) => left.is_sparse() || right.is_sparse(),
            Expr::Sum(_, body) | Expr::Around(_, body) => body.is_sparse(),
        }
    }
}

impl std::fmt::Display for Expr {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Expr::Factor(access) => write!(out, "{access}"),
            Expr::Times(left, right) => write!(out, "({left} * {right})"),
            Expr::Sum(over, body) => {
                let over: Vec<String> = over.chars().map(String::from).collect();
                write!(out, "sum({})({body})", over.join(","))
            }
            Expr::Around(what, body) => write!(out, "{}", what.replace('$', &body.to_string())),
        }
    }
}

/// What changes nothing around an expression.
const AROUND: [&str; 4] = ["one * $", "$ * one", "-(-$)", "$ / one"];

/// A kernel to be written.
struct Writing {
    target: Access,
    factors: Vec<Access>,
    lets: Vec<String>,
    value: Expr,
    mask: Option<Access>,
    totals: bool,
}

impl Writing {
    fn plain(target: &Access, factors: &[Access]) -> Self {
        let value = factors
            .iter()
            .cloned()
            .map(Expr::Factor)
            .reduce(|left, right| Expr::Times(Box::new(left), Box::new(right)));
        Self {
            target: target.clone(),
            factors: factors.to_vec(),
            lets: Vec::new(),
            value: value.expect("a product has factors"),
            mask: None,
            totals: false,
        }
    }

    fn random(target: &Access, factors: &[Access], random: &mut Random) -> Self {
        let mut writing = Self::plain(target, factors);
        let mut parts: Vec<Expr> = factors.iter().cloned().map(Expr::Factor).collect();
        random.shuffle(&mut parts);
        let result: BTreeSet<char> = target.indices.chars().collect();
        while parts.len() > 1 {
            let one = random.below(parts.len() - 1);
            let (left, right) = (parts.remove(one), parts.remove(one));
            let mut made = Expr::Times(Box::new(left), Box::new(right));
            let rest = parts.iter().fold(result.clone(), |all, part| &all | &part.free());
            let own: String = made.free().into_iter().filter(|letter| !rest.contains(letter)).collect();
            if !own.is_empty() && random.chance(0.6) {
                made = Expr::Sum(own, Box::new(made));
            }
            if random.chance(0.2) {
                made = Expr::Around(random.choose::<&'static str>(&AROUND), Box::new(made));
            }
            if !parts.is_empty() && random.chance(0.25) {
                let rest = parts.iter().fold(result.clone(), |all, part| &all | &part.free());
                made = writing.made_before(made, &rest);
            }
            parts.insert(one, made);
        }
        writing.value = parts.remove(0);
        let summed: String = writing.value.free().into_iter().filter(|letter| !result.contains(letter)).collect();
        if !summed.is_empty() && random.chance(0.5) {
            writing.value = Expr::Sum(summed, Box::new(writing.value));
        }
        let same = |factor: &&Access| factor.is_sparse() && factor.indices == target.indices;
        if random.chance(0.3) {
            writing.mask = factors.iter().find(same).cloned();
        }
        writing.totals = target.is_sparse() && random.chance(0.15);
        writing
    }

    /// A temporary of a part, over the indices that the rest has.
    fn made_before(&mut self, part: Expr, rest: &BTreeSet<char>) -> Expr {
        let indices: String = part.free().intersection(rest).collect();
        let name = format!("{}{}", if part.is_sparse() { "T" } else { "t" }, self.lets.len());
        let access = Access { name, indices };
        self.lets.push(format!("let {access} = {part};"));
        Expr::Factor(access)
    }

    fn text(&self, random: &mut Random, is_first: bool) -> String {
        let mut parameters: Vec<String> = Vec::new();
        for factor in &self.factors {
            let format = match (factor.is_sparse(), factor.indices.len()) {
                (false, _) => "dense",
                (true, 2) if is_first => MATRICES[0],
                (true, 2) => random.choose::<&'static str>(&MATRICES),
                (true, _) if is_first => TENSORS[0],
                (true, _) => random.choose::<&'static str>(&TENSORS),
            };
            let name = format!("{}: ", factor.name);
            if !parameters.iter().any(|known| known.starts_with(&name)) {
                parameters.push(name + format);
            }
        }
        let mut body: String = self.lets.iter().map(|made| format!("{made} ")).collect();
        let mask = self.mask.iter().map(|mask| format!(" where {mask}")).collect::<String>();
        _ = write!(body, "{} = {}{mask};", self.target, self.value);
        if body.contains("one") {
            parameters.push("one: f64".to_owned());
        }
        let format = match (self.target.is_sparse(), self.target.indices.len()) {
            (true, _) => "csr",
            (false, 0) => "f64",
            (false, _) => "dense",
        };
        let mut results = format!("{}: {format}", self.target.name);
        if self.totals {
            results += ", total: f64";
            _ = write!(body, " total = {};", self.target);
        }
        format!("fn f({}) -> ({results}) {{ {body} }}", parameters.join(", "))
    }
}
