//! Plans: that they compute what the text says, and with about as little work as the best there is.
//!
//! *Lines* are those of `spc bench plans`, on small data: the plan for larger data against the dense oracle, and what the interpreter
//! does for it beside what it does for the best split by hand. The *proof* takes random products and tries every tree of
//! contractions, with each part made or fused, in every order of loops.

use spc::execute::interpreter::{Counts, counted};
use spc::execute::{Backend, Operand, Planning, Program, ProgramOptions};
use spc::tensor::AnyTensor;
use spc_compiler::ir::ElementType;
use spc_compiler::notation::{self, Kernel, Role};
use spc_compiler::syntax;
use spc_tests::compare;
use spc_tests::data::{Entries, Random};
use spc_tests::harness::{Suite, options};
use spc_tests::oracle;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The lines, each followed by its split.
const LINES: &str = include_str!("../../cli/src/bench/plans.ti");

/// A line does at most so many times as much as its split.
const LIMIT: f64 = 1.3;

/// Lines that may do more, and why.
const BEYOND: &[(&str, f64, &str)] = &[
    ("max_times", 9.5, "absent entries are gone over"),
    ("sddmm_spmm", 5.3, "for operands this small the temporary is not worth its nest"),
    ("star_cov", 2.4, "lanes count one by one here, and take the time of one"),
    ("star_join", 1.7, "lanes count one by one here, and take the time of one"),
];

fn checked(text: &str) -> Vec<Kernel> {
    let kernels = syntax::parse_program(text).and_then(|program| notation::check(&program));
    kernels.unwrap_or_else(|problems| panic!("{text}: {problems:?}"))
}

fn interpreted(plan: Planning) -> ProgramOptions {
    ProgramOptions { backend: Some(Backend::Interpreter), plan, calls: Some(1_000_000), ..ProgramOptions::default() }
}

fn program(
    kernel: &Kernel,
    inputs: &[(String, AnyTensor)],
    dimensions: &[(String, usize)],
    plan: Planning,
) -> Result<Program, String> {
    let inputs = inputs.iter().map(|(name, tensor)| (name.clone(), Operand::Tensor(tensor.clone()))).collect();
    Program::new(kernel, inputs, dimensions, &interpreted(plan)).map_err(|error| format!("{}: {error}", kernel.name))
}

/// Runs a program in the interpreter, and counts what that does.
fn run(program: &Program) -> Result<(Vec<AnyTensor>, Counts), String> {
    let (outcome, counts) = counted(|| program.run(1));
    let outputs = outcome.map_err(|error| error.to_string())?.outputs;
    Ok((outputs.into_iter().map(|(_, tensor)| tensor).collect(), counts))
}

/// Checks results against the oracle's.
fn check(
    kernel: &Kernel,
    inputs: &[Entries],
    extents: &[(String, usize)],
    results: &[AnyTensor],
) -> Result<(), String> {
    let outputs = kernel.tensors.iter().filter(|tensor| tensor.role == Role::Output);
    let expected = oracle::evaluate(kernel, inputs, extents);
    for ((tensor, expected), result) in outputs.zip(&expected).zip(results) {
        compare::check(expected, tensor.fill, result).map_err(|error| format!("{}: {error}", tensor.name))?;
    }
    Ok(())
}

/// How large data are: for the oracle, which goes over every index, or for counts.
#[derive(Clone, Copy, PartialEq)]
enum Size {
    Small,
    Larger,
}

/// A line and its split.
#[derive(Clone)]
struct Line {
    kernel: Kernel,
    split: Kernel,
    on: String,
    stated: Vec<String>,
}

fn lines() -> Vec<Line> {
    let kernels = checked(LINES);
    let pairs = kernels.chunks_exact(2).map(|pair| {
        let on = pair[0].documentation.iter().find_map(|line| line.trim().strip_prefix("on ")).unwrap_or("dense");
        let (on, stated) = on.split_once(": ").unwrap_or((on, ""));
        let stated = stated.split(", ").filter_map(|text| Some(text.split_once('=')?.0.to_owned())).collect();
        Line { kernel: pair[0].clone(), split: pair[1].clone(), on: on.to_owned(), stated }
    });
    pairs.collect()
}

impl Line {
    /// The shape of sparse operands and the part of places that have entries.
    fn sparse(&self, size: Size) -> (&'static [usize], f64) {
        match (self.on.as_str(), size) {
            ("third", Size::Small) => (&[5, 4, 6], 0.3),
            ("third", Size::Larger) => (&[40, 30, 50], 0.03),
            ("fourth", Size::Small) => (&[4, 3, 4, 3], 0.3),
            ("fourth", Size::Larger) => (&[20, 8, 15, 16], 0.05),
            ("fifth", Size::Small) => (&[3, 3, 2, 3, 2], 0.3),
            ("fifth", Size::Larger) => (&[12, 10, 9, 6, 4], 0.06),
            ("ratings", Size::Small) => (&[6, 5], 0.3),
            ("ratings", Size::Larger) => (&[90, 40], 0.2),
            ("graph", Size::Larger) => (&[70, 70], 0.1),
            (_, Size::Larger) => (&[80, 80], 0.06),
            (_, Size::Small) => (&[6, 6], 0.3),
        }
    }

    /// The extents of index variables by name.
    fn extents(&self, size: Size) -> Vec<(String, usize)> {
        let mut extents = BTreeMap::new();
        let ranks = if size == Size::Small { 2..4 } else { 8..10 };
        for (name, extent) in self.stated.iter().zip(ranks.cycle()) {
            let modes = if size == Size::Small { 4 } else { 20 };
            let is_rank = self.on != "dense" || ["r", "q"].contains(&name.as_str());
            extents.insert(name.clone(), if is_rank { extent } else { modes });
        }
        for statement in &self.kernel.statements {
            for access in statement.value.accesses() {
                if !self.kernel.tensor(access.tensor).format.is_dense() {
                    let shape = self.sparse(size).0;
                    let names = access.indices.iter().map(|index| self.kernel.variable(*index).to_owned());
                    extents.extend(names.zip(shape.iter().copied()));
                }
            }
        }
        extents.into_iter().collect()
    }

    fn inputs(&self, size: Size) -> Result<Vec<Entries>, String> {
        let extents: BTreeMap<String, usize> = self.extents(size).into_iter().collect();
        let (sparse, density) = self.sparse(size);
        let mut random = Random::new(11);
        let parameters = self.kernel.tensors.iter().enumerate().filter(|(_, tensor)| tensor.role == Role::Input);
        let entries = parameters.map(|(id, tensor)| {
            if !tensor.format.is_dense() {
                return Ok(Entries::random(sparse, density, tensor.element, &mut random));
            }
            let accesses = self.kernel.statements.iter().flat_map(|statement| statement.value.accesses());
            let access = accesses.into_iter().find(|access| access.tensor.0 == id).ok_or("it is not read")?;
            let extent = |index: &notation::IndexVariable| extents.get(self.kernel.variable(*index)).copied();
            let shape: Option<Vec<usize>> = access.indices.iter().map(extent).collect();
            let shape = shape.ok_or_else(|| format!("{} has no shape", tensor.name))?;
            Ok(Entries::random(&shape, 1.0, tensor.element, &mut random))
        });
        entries.collect()
    }

    fn packed(&self, inputs: &[Entries]) -> Result<Vec<(String, AnyTensor)>, String> {
        let parameters = self.kernel.tensors.iter().filter(|tensor| tensor.role == Role::Input);
        let packed = parameters.zip(inputs).map(|(tensor, entries)| {
            let packed =
                entries.pack(tensor.element, &tensor.format, tensor.fill).map_err(|error| error.to_string())?;
            Ok((tensor.name.clone(), packed))
        });
        packed.collect()
    }

    fn test(&self) -> Result<(), String> {
        let stated = |size| -> Vec<(String, usize)> {
            self.extents(size).into_iter().filter(|(name, _)| self.stated.contains(name)).collect()
        };
        let larger = self.packed(&self.inputs(Size::Larger)?)?;
        let planned = program(&self.kernel, &larger, &stated(Size::Larger), Planning::Best)?;
        let split = program(&self.split, &larger, &stated(Size::Larger), Planning::AsWritten)?;
        let ((_, line), (_, by_hand)) = (run(&planned)?, run(&split)?);
        let kernel = planned.planned().map_or(&self.kernel, |planned| &planned.kernel);

        let small = self.inputs(Size::Small)?;
        let again = program(kernel, &self.packed(&small)?, &stated(Size::Small), Planning::AsWritten)?;
        let text = spc_compiler::plan::text(kernel);
        check(&self.kernel, &small, &self.extents(Size::Small), &run(&again)?.0)
            .map_err(|error| format!("{error}\n{text}"))?;

        let beyond = BEYOND.iter().find(|(name, ..)| *name == self.kernel.name);
        let limit = beyond.map_or(LIMIT, |(_, limit, _)| *limit);
        if line.total() as f64 > limit * by_hand.total() as f64 {
            let split = spc_compiler::plan::text(&self.split);
            let ratio = line.total() as f64 / by_hand.total() as f64;
            return Err(format!("{ratio:.2} times what the split does: {line:?}\n{text}\n{by_hand:?}\n{split}"));
        }
        Ok(())
    }
}

/// A factor of a random product.
struct Factor {
    indices: Vec<usize>,
    format: &'static str,
    entries: Entries,
}

/// A random product: `t(…) = f0(…) * f1(…) * …`.
struct Product {
    extents: Vec<usize>,
    factors: Vec<Factor>,
    target: Vec<usize>,
}

/// A set of factors, a bit each.
type Set = u32;

/// Numbers of coordinates, by indices and factors.
type Tuples = BTreeMap<(u32, Set), u64>;

/// What starting a loop nest is worth: with less work than this, plans do not matter.
const START: u64 = 500;

/// A way to write a part.
#[derive(Clone)]
struct Expression {
    text: String,
    /// The parts that are made before.
    made: Vec<Set>,
    /// Its indices.
    free: Vec<usize>,
    /// The factors whose entries bound the loops over them.
    live: Set,
    /// The loop nests inside: the indices of each, and the factors whose entries bound its loops.
    nests: Vec<(Vec<usize>, Set)>,
}

/// None is a letter of other names.
const NAMES: [&str; 5] = ["i", "j", "k", "l", "p"];

impl Product {
    /// A product of so many factors over so many indices, which a loop nest over all goes through in `most` steps at most.
    fn random(seed: u64, factors: usize, indices: usize, most: usize) -> Self {
        let random = &mut Random::new(seed);
        let mut extents: Vec<usize> = (0..indices).map(|_| 2 + random.below(39)).collect();
        while extents.iter().product::<usize>() > most {
            let place = random.below(indices);
            extents[place] = (extents[place] / 2).max(2);
        }
        let mut made: Vec<Factor> = Vec::new();
        for place in 0..factors {
            let mut own: Vec<usize> = (0..indices).collect();
            random.shuffle(&mut own);
            own.truncate(1 + random.below(3.min(indices)));
            // Every index is one of some factor.
            if place + 1 == factors {
                let missing = |index: &usize| made.iter().all(|factor| !factor.indices.contains(index));
                let missing: Vec<usize> = (0..indices).filter(missing).collect();
                own.retain(|index| !missing.contains(index));
                own.splice(0..0, missing);
                own.truncate(3);
            }
            let shape: Vec<usize> = own.iter().map(|&index| extents[index]).collect();
            let is_sparse = random.chance(0.5);
            let density = if is_sparse { *random.choose(&[0.01, 0.05, 0.2, 0.5, 1.0]) } else { 1.0 };
            let format = match (is_sparse, own.len()) {
                (false, _) => "dense",
                (true, 1) => "[compressed]",
                (true, 2) => *random.choose(&["csr", "[compressed, compressed]", "csc"]),
                (true, _) => "csf",
            };
            let mut entries = Entries::random(&shape, density, ElementType::F64, random);
            if entries.stored.is_empty() {
                entries = Entries::random(&shape, 1.0, ElementType::F64, random);
            }
            made.push(Factor { indices: own, format, entries });
        }
        let used: Vec<usize> =
            (0..indices).filter(|index| made.iter().any(|factor| factor.indices.contains(index))).collect();
        let mut target: Vec<usize> = used.into_iter().filter(|_| random.chance(0.4)).collect();
        target.truncate(3);
        Self { extents, factors: made, target }
    }

    fn all(&self) -> Set {
        (1 << self.factors.len()) - 1
    }

    fn indices(&self, set: Set) -> Vec<usize> {
        let of = |index: &usize| {
            (0..self.factors.len()).any(|f| set >> f & 1 == 1 && self.factors[f].indices.contains(index))
        };
        (0..self.extents.len()).filter(of).collect()
    }

    /// The indices of a part that the rest or the target needs.
    fn result(&self, set: Set) -> Vec<usize> {
        if set == self.all() {
            return self.target.clone();
        }
        let rest = self.indices(self.all() & !set);
        self.indices(set).into_iter().filter(|index| self.target.contains(index) || rest.contains(index)).collect()
    }

    fn name(&self, set: Set) -> String {
        if set.count_ones() == 1 { format!("f{}", set.trailing_zeros()) } else { format!("t{set}") }
    }

    fn access(&self, set: Set) -> String {
        let single = (set.count_ones() == 1).then(|| self.factors[set.trailing_zeros() as usize].indices.clone());
        let indices = single.unwrap_or_else(|| self.result(set));
        let names: Vec<&str> = indices.iter().map(|&index| NAMES[index]).collect();
        if names.is_empty() { self.name(set) } else { format!("{}({})", self.name(set), names.join(", ")) }
    }

    /// The expressions of a part, with the parts of it that are made before.
    fn expressions(&self, set: Set) -> Vec<Expression> {
        let members: Vec<Set> =
            (0..self.factors.len()).map(|factor| 1 << factor).filter(|one| set & one != 0).collect();
        let flat: Vec<String> = members.iter().map(|&one| self.access(one)).collect();
        let mut found = vec![Expression {
            text: flat.join(" * "),
            made: Vec::new(),
            free: self.indices(set),
            live: set & self.sparse(),
            nests: Vec::new(),
        }];
        if members.len() == 1 {
            return found;
        }
        let mut left = (set - 1) & set;
        while left != 0 {
            let right = set & !left;
            if left & members[0] != 0 {
                for a in self.operands(left) {
                    for b in self.operands(right) {
                        let mut free = [&a.free[..], &b.free].concat();
                        free.sort_unstable();
                        free.dedup();
                        found.push(Expression {
                            text: format!("{} * {}", a.text, b.text),
                            made: [&a.made[..], &b.made].concat(),
                            free,
                            live: a.live | b.live,
                            nests: [&a.nests[..], &b.nests].concat(),
                        });
                    }
                }
            }
            left = (left - 1) & set;
        }
        found
    }

    /// What a part can be in an expression: made before, or a sum inside.
    fn operands(&self, set: Set) -> Vec<Expression> {
        let kept = self.result(set);
        let summed = |mut inside: Expression| {
            let (kept, summed): (Vec<usize>, Vec<usize>) = inside.free.iter().partition(|index| kept.contains(index));
            let names: Vec<&str> = summed.into_iter().map(|index| NAMES[index]).collect();
            if names.is_empty() {
                return Expression { text: format!("({})", inside.text), ..inside };
            }
            inside.nests.push((inside.free.clone(), inside.live));
            Expression { text: format!("sum({})({})", names.join(", "), inside.text), free: kept, ..inside }
        };
        let inside = self.expressions(set);
        let mut found = match set.count_ones() {
            // A factor by itself, whose sum may be taken with the others'; else the part made before.
            1 => inside.clone(),
            _ => vec![Expression {
                text: self.access(set),
                made: vec![set],
                free: kept.clone(),
                live: 0,
                nests: Vec::new(),
            }],
        };
        // A single factor is summed inside only where there is something to sum.
        let is_new = |one: &Expression| set.count_ones() > 1 || one.free.iter().any(|index| !kept.contains(index));
        found.extend(inside.into_iter().filter(is_new).map(summed));
        found
    }

    /// The factors that store entries.
    fn sparse(&self) -> Set {
        let is_sparse = |factor: &usize| self.factors[*factor].format != "dense";
        (0..self.factors.len()).filter(is_sparse).fold(0, |all, factor| all | 1 << factor)
    }

    /// How many coordinates of some indices the entries of some factors have in common.
    fn tuples(&self, indices: &[usize], live: Set, known: &mut Tuples) -> u64 {
        let vars = indices.iter().fold(0, |all, index| all | 1u32 << index);
        if let Some(&count) = known.get(&(vars, live)) {
            return count;
        }
        let factors: Vec<&Factor> = (0..self.factors.len())
            .filter(|factor| live >> factor & 1 == 1)
            .map(|factor| &self.factors[factor])
            .collect();
        let mut all: Vec<usize> = factors.iter().flat_map(|factor| &factor.indices).chain(indices).copied().collect();
        all.sort_unstable();
        all.dedup();
        let patterns: Vec<BTreeSet<Vec<usize>>> =
            factors.iter().map(|factor| factor.entries.stored.keys().cloned().collect()).collect();
        let mut found: BTreeSet<Vec<usize>> = BTreeSet::new();
        let mut place = vec![0; self.extents.len()];
        let total: usize = all.iter().map(|&index| self.extents[index]).product();
        for number in 0..total {
            let mut rest = number;
            for &index in &all {
                place[index] = rest % self.extents[index];
                rest /= self.extents[index];
            }
            let at = |indices: &[usize]| indices.iter().map(|&index| place[index]).collect::<Vec<usize>>();
            if factors.iter().zip(&patterns).all(|(factor, pattern)| pattern.contains(&at(&factor.indices))) {
                found.insert(at(indices));
            }
        }
        known.insert((vars, live), found.len() as u64);
        found.len() as u64
    }

    /// What the loops of an expression in an order do at least: an iteration is a step.
    fn steps(&self, expression: &Expression, order: &[usize], known: &mut Tuples) -> u64 {
        let own = (expression.free.clone(), expression.live);
        let mut steps = 0;
        for (indices, live) in expression.nests.iter().chain([&own]) {
            let own: Vec<usize> = order.iter().copied().filter(|index| indices.contains(index)).collect();
            steps += self.tuples(&own, *live, known);
        }
        steps
    }

    fn declaration(&self, set: Set) -> String {
        if set.count_ones() == 1 {
            return format!("{}: {}", self.name(set), self.factors[set.trailing_zeros() as usize].format);
        }
        format!("{}: {}", self.name(set), if self.result(set).is_empty() { "f64" } else { "dense" })
    }

    /// A statement as a kernel, with a schedule behind it.
    fn statement(&self, set: Set, expression: &str, made: &[Set], schedule: &str) -> String {
        let is_own = |one: &Set| expression.contains(&format!("{}(", self.name(*one)));
        let factors = (0..self.factors.len()).map(|factor| 1 << factor).filter(|one| set & one != 0).filter(is_own);
        let mut inputs: Vec<Set> = factors.chain(made.iter().copied()).collect();
        inputs.sort_unstable();
        inputs.dedup();
        let inputs: Vec<String> = inputs.into_iter().map(|one| self.declaration(one)).collect();
        let result = self.declaration(set).replace(&self.name(set), "out");
        let target = self.access(set).replace(&self.name(set), "out");
        format!("fn product({}) -> {result} {{ {target} = {expression}; }} {schedule}", inputs.join(", "))
    }

    /// The operands of a kernel: factors as they are, parts that are made as ones.
    fn operands_of(&self, kernel: &Kernel) -> Result<Vec<(String, Operand)>, String> {
        let parameters = kernel.tensors.iter().filter(|tensor| tensor.role == Role::Input);
        let operand = |tensor: &notation::Tensor| {
            let made = |number: &str| number.parse::<usize>().map_err(|error| error.to_string());
            let operand = match tensor.name.strip_prefix('f') {
                Some(number) => {
                    let packed = self.factors[made(number)?].entries.pack(tensor.element, &tensor.format, tensor.fill);
                    Operand::Tensor(packed.map_err(|error| error.to_string())?)
                }
                None if tensor.format.order == 0 => Operand::Scalar(1.0),
                None => Operand::Ones,
            };
            Ok((tensor.name.clone(), operand))
        };
        parameters.map(operand).collect()
    }

    /// What the interpreter does for a text; `None` where it can't be scheduled so.
    fn work(&self, text: &str) -> Option<u64> {
        let kernel = &checked(text)[0];
        let inputs = self.operands_of(kernel).ok()?;
        let used = |index: &usize| kernel.variables.iter().any(|variable| variable.name == NAMES[*index]);
        let extents = (0..self.extents.len()).filter(used).map(|index| (NAMES[index].to_owned(), self.extents[index]));
        let program =
            Program::new(kernel, inputs, &extents.collect::<Vec<_>>(), &interpreted(Planning::AsWritten)).ok()?;
        run(&program).ok().map(|(_, counts)| counts.total())
    }

    /// The least work for a part over all trees, made or fused, and orders of loops; and the statements that it takes. What goes
    /// through more places than the best does work is left out: an iteration is a step at least.
    fn least(&self, set: Set, known: &mut BTreeMap<Set, (u64, String)>, tuples: &mut Tuples) -> (u64, String) {
        if set.count_ones() == 1 && set != self.all() {
            return (0, String::new());
        }
        if let Some(found) = known.get(&set) {
            return found.clone();
        }
        let mut ways: Vec<(u64, Expression, String)> = Vec::new();
        for expression in self.expressions(set) {
            let made = expression.made.clone();
            let already = made.iter().fold(0u64, |sum, &part| sum.saturating_add(self.least(part, known, tuples).0));
            let mut indices: Vec<usize> = self.indices(set);
            indices.retain(|&index| expression.text.contains(NAMES[index]));
            let steps = self.steps(&expression, &indices, tuples);
            ways.push((already.saturating_add(steps), expression.clone(), String::new()));
            let mut add = |order: &[usize]| {
                let names: Vec<&str> = order.iter().map(|&index| NAMES[index]).collect();
                let schedule = format!("schedule {{ reorder({}); }}", names.join(", "));
                ways.push((already.saturating_add(steps), expression.clone(), schedule));
            };
            if indices.len() > 1 {
                for_each_order(&mut indices, 0, &mut add);
            }
        }
        ways.sort_by_key(|(steps, ..)| *steps);
        let mut best = (u64::MAX, String::new());
        for (steps, expression, order) in ways {
            if steps >= best.0 {
                break;
            }
            let before: Vec<(u64, String)> =
                expression.made.iter().map(|&part| self.least(part, known, tuples)).collect();
            let already = before.iter().fold(0u64, |sum, (work, _)| sum.saturating_add(*work));
            let text = self.statement(set, &expression.text, &expression.made, &order);
            if let Some(work) = self.work(&text)
                && already.saturating_add(work) < best.0
            {
                let all = before.iter().map(|(_, text)| text.as_str()).chain([text.as_str()]);
                best = (already + work, all.collect::<Vec<_>>().join("\n"));
            }
        }
        known.insert(set, best.clone());
        best
    }

    fn text(&self) -> String {
        let flat = self.expressions(self.all()).swap_remove(0);
        self.statement(self.all(), &flat.text, &[], "")
    }

    /// How many times the least work the plan does, once its result is right; and both texts.
    fn ratio(&self) -> Result<(f64, String), String> {
        let text = self.text();
        let kernel = &checked(&text)[0];
        let used = |index: &usize| kernel.variables.iter().any(|variable| variable.name == NAMES[*index]);
        let extents = (0..self.extents.len()).filter(used).map(|index| (NAMES[index].to_owned(), self.extents[index]));
        let extents: Vec<(String, usize)> = extents.collect();
        let program = Program::new(kernel, self.operands_of(kernel)?, &extents, &interpreted(Planning::Best));
        let program = program.map_err(|error| format!("{text}: {error}"))?;
        let (results, counts) = run(&program)?;
        let mut inputs: Vec<Entries> = Vec::new();
        for tensor in kernel.tensors.iter().filter(|tensor| tensor.role == Role::Input) {
            let number: usize = tensor.name[1..].parse().map_err(|_| "it is a factor".to_owned())?;
            inputs.push(self.factors[number].entries.clone());
        }
        let plan = program.planned().map_or_else(|| text.clone(), |planned| spc_compiler::plan::text(&planned.kernel));
        check(kernel, &inputs, &extents, &results).map_err(|error| format!("{text}\n{plan}\n{error}"))?;
        let (least, best) = self.least(self.all(), &mut BTreeMap::new(), &mut Tuples::new());
        let ratio = (counts.total() + START) as f64 / (least + START) as f64;
        let entries: Vec<usize> = self.factors.iter().map(|factor| factor.entries.stored.len()).collect();
        Ok((ratio, format!("{text}\n{extents:?} {entries:?}\nplan, {counts:?}:\n{plan}\nbest, {least}:\n{best}\n")))
    }
}

/// Calls `visit` on every order of some indices.
fn for_each_order(indices: &mut [usize], from: usize, visit: &mut impl FnMut(&[usize])) {
    if from == indices.len() {
        return visit(indices);
    }
    for place in from..indices.len() {
        indices.swap(from, place);
        for_each_order(indices, from + 1, visit);
        indices.swap(from, place);
    }
}

/// So many of a hundred plans may do more than twice the least work. Most that do have a sum inside of one factor, or a sorted copy,
/// which costs nothing here.
const BEYOND_TWICE: u64 = 20;

/// Tries all plans of some products. None may do ten times the least work.
fn proof(seeds: std::ops::Range<u64>, factors: usize, indices: usize, most: usize) -> Result<(), String> {
    let count = seeds.end - seeds.start;
    let mut report = String::new();
    let (mut over_two, mut over_ten) = (0, 0);
    for seed in seeds {
        let product = Product::random(seed, factors, indices, most);
        let (ratio, texts) = product.ratio().map_err(|error| format!("seed {seed}: {error}"))?;
        if ratio > 2.0 {
            _ = writeln!(report, "seed {seed}: {ratio:.2} times the least\n{texts}");
            over_two += 1;
        }
        over_ten += u64::from(ratio > 10.0);
    }
    println!("{factors} factors: {} of {count} plans do at most twice the least work", count - over_two);
    if over_ten > 0 || over_two > (count * BEYOND_TWICE).div_ceil(100) {
        return Err(format!(
            "{over_two} of {count} plans do more than twice the least work, {over_ten} ten times\n{report}"
        ));
    }
    Ok(())
}

/// Adds the tests of this module.
pub(crate) fn tests(suite: &mut Suite) {
    for line in lines() {
        suite.test(format!("plans::line {}", line.kernel.name), move || line.test());
    }
    let seeds = options().seeds(12, 100);
    suite.test("plans::proof 2 factors, 3 indices", move || proof(seeds, 2, 3, 4000));
}
