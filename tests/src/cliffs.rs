//! The same meaning written in several ways, and what each costs.
//!
//! A family is an expression of sparse and dense operands. Its writings follow from it by laws of algebra: operands of sums and products in
//! another order and other brackets, factors within sums or before them, products of sums as sums of products, parts as temporaries, masks
//! that choose nothing more, operands in other formats, scalars and functions that change nothing, and one more statement. The interpreter
//! counts what each does.

use crate::data::{Entries, Random};
use crate::number::Number;
use spc::execute::interpreter::counted;
use spc::execute::{Backend, Operand, Program, ProgramOptions};
use spc::tensor::AnyTensor;
use spc_compiler::ir::ElementType;
use spc_compiler::{notation, syntax};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Results and expressions: a capital names a sparse operand or result, and what has no sum is summed over indices that the result lacks.
const FAMILIES: [&str; 61] = [
    "y i = A ij * x j",
    "y j = A ij * x i",
    "y i = A ij * x j * z i",
    "y i = A ij * B ij * x j",
    "y i = A ij * B jk * x k",
    "y k = A ij * x i * B jk",
    "y k = A ij * x j * A ik",
    "s = A ij",
    "s = A ij * x i * z j",
    "s = A ij * B ij",
    "s = A ij * B jk * D ki",
    "s = A ij * B jk * x i * z k",
    "S ij = A ij * B ij",
    "S ij = A ij * x i * z j",
    "S ij = A ij * B ij * D ij",
    "S ij = A ij * u iq * v jq",
    "S ij = A ij * B ij * u iq * v jq",
    "S ij = A ij * u iq * w qr * v jr",
    "S ij = A ik * B kj",
    "S ij = A ij * B ik * D kj",
    "w ir = A ij * u jr",
    "w jr = A ij * u ir",
    "w ir = A ij * u jq * v qr",
    "w ir = A ij * u iq * v jq * p jr",
    "w ir = A ij * B jk * u kr",
    "w qr = A ij * u iq * v jr",
    "S ij = X ijk * x k",
    "S ik = X ijk * x j",
    "S jk = X ijk * x i",
    "y i = X ijk * x j * z k",
    "w ir = X ijk * u jr * v kr",
    "w jr = X ijk * u ir * v kr",
    "w kr = X ijk * u ir * v jr",
    "s = X ijk * x i * y j * z k",
    "S ij = A ij + B ij",
    "S ij = A ij + B ij - D ij",
    "S ij = A ij * ( B ij + D ij )",
    "S ij = A ij * ( x i + z j )",
    "S ij = A ij / x i",
    "S ij = A ij / ( x i * z j )",
    "S ij = A ij * sum q ( u iq * v jq ) + B ij",
    "S ij = A ij * exp ( sum q ( u iq * v jq ) )",
    "S ij = sum k ( A ik * B kj ) + D ij",
    "S ij = sum k ( ( A ik + B ik ) * D kj )",
    "S ij = sum k ( X ijk * x k ) + A ij",
    "y i = sum j ( A ij * x j ) + z i",
    "y i = z i - sum j ( A ij * x j )",
    "y i = z i * sum j ( A ij * x j ) + sum j ( B ij * x j )",
    "y i = sum j ( ( A ij + B ij ) * x j )",
    "y i = sum j ( ( A ij + x i * z j ) * p j )",
    "y i = sum j ( A ij * x j ) / ( 2 + sum j ( abs ( A ij ) ) )",
    "y i = sum j ( abs ( A ij ) )",
    "y i = max j ( A ij * x j )",
    "w ir = sum j ( ( A ij - B ij ) * u jr )",
    "w ir = sum j ( A ij * exp ( x i + z j ) * u jr )",
    "w ir = sum jk ( ( X ijk + Y ijk ) * u jr * v kr )",
    "s = sum ij ( A ij * ( A ij - sum q ( u iq * v jq ) ) )",
    "s = sum ij ( abs ( A ij - B ij ) )",
    "s = sum i ( z i * sum j ( A ij * x j ) )",
    "s = max ij ( A ij * B ij )",
    "s = sum ijk ( X ijk * ( Y ijk - sum r ( u ir * v jr * p kr ) ) )",
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

/// The extents of modes of sparse operands, by the number of modes of the largest, and the entries for each index of the first. There is
/// enough to do that what is done once for each loop does not count.
const EXTENTS: [std::ops::Range<usize>; 2] = [1000..1500, 80..120];
const DEGREE: [usize; 2] = [4, 30];

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
        let family = *random.choose(&FAMILIES);
        let (target, value) = family.split_once(" = ").expect("a family has a result");
        let target = Access::parse(target);
        let value = Expr::parse(value);
        let factors = value.factors();
        let kind = usize::from(factors.iter().any(|factor| factor.indices.len() > 2));
        let modes = EXTENTS[kind].clone();
        let letters: BTreeSet<char> = factors.iter().flat_map(|factor| factor.indices.chars()).collect();
        let is_mode = |letter: char| factors.iter().any(|factor| factor.is_sparse() && factor.indices.contains(letter));
        let extents: BTreeMap<char, usize> = letters
            .iter()
            .map(|&letter| {
                (letter, if is_mode(letter) { modes.start + random.below(modes.len()) } else { 4 + random.below(6) })
            })
            .collect();
        let mut operands = BTreeMap::new();
        for factor in &factors {
            if !operands.contains_key(&factor.name) {
                operands.insert(factor.name.clone(), operand(factor, &extents, DEGREE[kind], &mut random));
            }
        }
        operands.insert("one".to_owned(), Operand::Scalar(1.0));
        let plain = Writing { target, factors, lets: Vec::new(), value, mask: None, totals: false };
        let mut writings = vec![plain.text(&mut random, true)];
        for _ in 1..WRITINGS {
            let text = plain.rewritten(&mut random).text(&mut random, false);
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

fn operand(factor: &Access, extents: &BTreeMap<char, usize>, degree: usize, random: &mut Random) -> Operand {
    let shape: Vec<usize> = factor.indices.chars().map(|letter| extents[&letter]).collect();
    let seed = random.bits();
    match factor.is_sparse() {
        true => spc::generate::uniform(&shape, degree * shape[0], seed).expect("there are places").into(),
        false => Operand::Tensor(spc::generate::random_dense(&shape, ElementType::F64, seed).expect("it is small")),
    }
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
enum Expr {
    Factor(Access),
    Number(&'static str),
    /// Two operands of `+`, `-`, `*` or `/`.
    Both(char, Box<Expr>, Box<Expr>),
    /// A reduction over indices.
    Reduce(&'static str, String, Box<Expr>),
    /// Something around, with the expression at each `$`.
    Around(&'static str, Box<Expr>),
}

type Words = std::iter::Peekable<std::str::Split<'static, char>>;

use Expr::{Around, Both, Factor, Reduce};

fn both(operator: char, left: Expr, right: Expr) -> Expr {
    Both(operator, Box::new(left), Box::new(right))
}

fn sum(over: String, body: Expr) -> Expr {
    if over.is_empty() { body } else { Reduce("sum", over, Box::new(body)) }
}

impl Expr {
    /// The expression of words: operators, brackets, `sum` with its indices, functions, numbers, and names with their indices.
    fn parse(text: &'static str) -> Self {
        let mut words = text.split(' ').peekable();
        let expr = Self::terms(&mut words);
        assert!(words.next().is_none(), "{text}");
        expr
    }

    fn terms(words: &mut Words) -> Self {
        let mut left = Self::product(words);
        while let Some(operator) = words.next_if(|word| ["+", "-"].contains(word)) {
            left = both(operator.chars().next().expect("an operator"), left, Self::product(words));
        }
        left
    }

    fn product(words: &mut Words) -> Self {
        let mut left = Self::operand(words);
        while let Some(operator) = words.next_if(|word| ["*", "/"].contains(word)) {
            left = both(operator.chars().next().expect("an operator"), left, Self::operand(words));
        }
        left
    }

    fn operand(words: &mut Words) -> Self {
        let in_brackets = |words: &mut Words| {
            assert_eq!(words.next(), Some("("));
            let inner = Self::terms(words);
            assert_eq!(words.next(), Some(")"));
            inner
        };
        match words.next().expect("an operand") {
            "(" => {
                let inner = Self::terms(words);
                assert_eq!(words.next(), Some(")"));
                inner
            }
            name @ ("sum" | "max") => {
                let over = words.next().expect("indices").to_owned();
                Reduce(name, over, Box::new(in_brackets(words)))
            }
            "abs" => Around("abs($)", Box::new(in_brackets(words))),
            "exp" => Around("exp($)", Box::new(in_brackets(words))),
            number if number.starts_with(char::is_numeric) => Expr::Number(number),
            name => {
                let indices = words.next_if(|word| word.chars().all(char::is_lowercase)).unwrap_or_default();
                Factor(Access { name: name.to_owned(), indices: indices.to_owned() })
            }
        }
    }

    fn children(&self) -> Vec<&Expr> {
        match self {
            Factor(_) | Expr::Number(_) => Vec::new(),
            Both(_, left, right) => vec![left, right],
            Reduce(_, _, body) | Around(_, body) => vec![body],
        }
    }

    fn children_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Factor(_) | Expr::Number(_) => Vec::new(),
            Both(_, left, right) => vec![left, right],
            Reduce(_, _, body) | Around(_, body) => vec![body],
        }
    }

    fn factors(&self) -> Vec<Access> {
        match self {
            Factor(access) => vec![access.clone()],
            _ => self.children().into_iter().flat_map(Expr::factors).collect(),
        }
    }

    fn free(&self) -> BTreeSet<char> {
        match self {
            Factor(access) => access.indices.chars().collect(),
            Reduce(_, over, body) => body.free().into_iter().filter(|letter| !over.contains(*letter)).collect(),
            _ => self.children().into_iter().flat_map(Expr::free).collect(),
        }
    }

    /// Whether an index is in it, free or not.
    fn has(&self, letter: char) -> bool {
        self.factors().iter().any(|factor| factor.indices.contains(letter))
    }

    /// Whether it is zero wherever sparse operands are, those that `counts` alone.
    fn vanishes(&self, counts: &dyn Fn(&Access) -> bool) -> bool {
        match self {
            Factor(access) => access.is_sparse() && counts(access),
            Expr::Number(_) | Reduce("max", ..) | Around("exp($)", _) => false,
            Both('+' | '-', left, right) => left.vanishes(counts) && right.vanishes(counts),
            Both('*', left, right) => left.vanishes(counts) || right.vanishes(counts),
            Both(_, body, _) | Reduce(_, _, body) | Around(_, body) => body.vanishes(counts),
        }
    }

    fn size(&self) -> usize {
        1 + self.children().into_iter().map(Expr::size).sum::<usize>()
    }

    /// The part of a number, counted from above.
    fn part(&mut self, number: usize) -> &mut Expr {
        let mut before = 1;
        if number == 0 {
            return self;
        }
        for child in self.children_mut() {
            let size = child.size();
            if number < before + size {
                return child.part(number - before);
            }
            before += size;
        }
        unreachable!("an expression has as many parts as its size")
    }

    /// What is the same by a law of algebra, if the law of this number says something of it.
    fn by_law(&self, law: usize, random: &mut Random) -> Option<Expr> {
        let again = |expr: &Expr| expr.clone();
        match (law, self) {
            (0, Both(operator @ ('+' | '*'), left, right)) => Some(both(*operator, again(right), again(left))),
            (1, Both(outer @ ('+' | '*'), left, third)) => match &**left {
                Both(inner, first, second) if inner == outer => {
                    Some(both(*outer, again(first), both(*outer, again(second), again(third))))
                }
                _ => None,
            },
            // Factors to both sides, and out of both.
            (2, Both('*', factor, terms)) => match &**terms {
                Both(operator @ ('+' | '-'), left, right) => {
                    Some(both(*operator, both('*', again(factor), again(left)), both('*', again(factor), again(right))))
                }
                _ => None,
            },
            (3, Both(operator @ ('+' | '-'), left, right)) => match (&**left, &**right) {
                (Both('*', one, left), Both('*', other, right)) if one == other => {
                    Some(both('*', again(one), both(*operator, again(left), again(right))))
                }
                _ => None,
            },
            // What does not have the indices of a sum goes before it, and into it.
            (4, Reduce("sum", over, body)) => match &**body {
                Both('*', left, right) => {
                    let (free, others) = (left.free(), right.free());
                    let inner: String = over.chars().filter(|letter| !free.contains(letter)).collect();
                    let outer: String = over.chars().filter(|letter| free.contains(letter)).collect();
                    (!inner.is_empty() && inner.chars().all(|letter| others.contains(&letter)))
                        .then(|| sum(outer, both('*', again(left), sum(inner, again(right)))))
                }
                Both(operator @ ('+' | '-'), left, right)
                    if over.chars().all(|letter| left.free().contains(&letter) && right.free().contains(&letter)) =>
                {
                    Some(both(*operator, sum(over.clone(), again(left)), sum(over.clone(), again(right))))
                }
                Reduce("sum", inner, body) => Some(sum(format!("{over}{inner}"), again(body))),
                _ => None,
            },
            (5, Both('*', factor, summed)) => match &**summed {
                Reduce("sum", over, body) if !over.chars().any(|letter| factor.has(letter)) => {
                    Some(sum(over.clone(), both('*', again(factor), again(body))))
                }
                _ => None,
            },
            (6, Both('-', left, right)) => Some(both('+', again(left), Around("-$", right.clone()))),
            (6, Both('/', left, right)) => Some(both('*', again(left), Around("1 / $", right.clone()))),
            (7, _) => Some(Around(random.choose::<&'static str>(&AROUND), Box::new(again(self)))),
            (8, Factor(access)) if !access.is_sparse() => Some(Around("($ + $) / 2", Box::new(again(self)))),
            _ => None,
        }
    }
}

impl std::fmt::Display for Expr {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Factor(access) => write!(out, "{access}"),
            Expr::Number(number) => write!(out, "{number}"),
            Both(operator, left, right) => write!(out, "({left} {operator} {right})"),
            Reduce(name, over, body) => {
                let over: Vec<String> = over.chars().map(String::from).collect();
                write!(out, "{name}({})({body})", over.join(","))
            }
            Around(what, body) => write!(out, "({})", what.replace('$', &body.to_string())),
        }
    }
}

/// What changes nothing around an expression.
const AROUND: [&str; 7] = ["one * $", "$ * one", "-(-$)", "$ / one", "$ + 0", "1 * $", "$ / 1"];

/// How many laws there are, and how many are tried for a writing.
const LAWS: usize = 9;
const TRIED: usize = 40;

/// A kernel to be written.
#[derive(Debug, Clone)]
struct Writing {
    target: Access,
    factors: Vec<Access>,
    lets: Vec<String>,
    value: Expr,
    mask: Option<Access>,
    totals: bool,
}

impl Writing {
    fn rewritten(&self, random: &mut Random) -> Self {
        let mut writing = self.clone();
        let result: BTreeSet<char> = self.target.indices.chars().collect();
        let summed: String = writing.value.free().into_iter().filter(|letter| !result.contains(letter)).collect();
        writing.value = sum(summed.clone(), writing.value);
        for _ in 0..TRIED {
            let law = random.below(LAWS);
            // What adds something is as rare as what moves something.
            if (law >= 7 && !random.chance(0.1)) || (law == 2 && !random.chance(0.3)) {
                continue;
            }
            let number = random.below(writing.value.size());
            let part = writing.value.part(number);
            if let Some(other) = part.by_law(law, random) {
                *part = other;
            }
        }
        for _ in 0..2 {
            let number = random.below(writing.value.size());
            if number > 0 && random.chance(0.3) {
                let part = writing.value.part(number);
                if !matches!(part, Factor(_) | Expr::Number(_)) {
                    let made = std::mem::replace(part, Expr::Number("0"));
                    let access = writing.made_before(made);
                    *writing.value.part(number) = Factor(access);
                }
            }
        }
        if random.chance(0.5)
            && matches!(&writing.value, Reduce(_, over, body) if matches!(**body, Both('*', ..)) && *over == summed)
        {
            let Reduce(_, _, body) = writing.value else { unreachable!("it is a sum") };
            writing.value = *body;
        }
        if random.chance(0.3) {
            let chosen = |factor: &&Access| factor.is_sparse() && factor.indices == self.target.indices;
            let vanishes = |factor: &&Access| self.value.vanishes(&|access| access == *factor);
            writing.mask = self.factors.iter().filter(chosen).find(vanishes).cloned();
        }
        writing.totals = self.target.is_sparse() && random.chance(0.15);
        writing
    }

    /// A temporary of a part.
    fn made_before(&mut self, part: Expr) -> Access {
        let indices: String = part.free().into_iter().collect();
        let name = format!("{}{}", if part.vanishes(&|_| true) { "T" } else { "t" }, self.lets.len());
        let access = Access { name, indices };
        self.lets.push(format!("let {access} = {part};"));
        access
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
