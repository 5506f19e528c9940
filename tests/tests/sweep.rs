//! Random contractions and sums of tensors of order 1 to 3, dense and compressed levels in any mix, mode orders that disagree,
//! results of every kind: all are answered, and none wrongly.
//!
//! The programs are like those of which the taco compiler answers 261 of 350 products and 172 of 250 sums.

use spc_tests::case::Case;
use spc_tests::data::Random;
use spc_tests::engine::{Ready, Stop};
use spc_tests::harness::options;

const VARIABLES: [&str; 4] = ["i", "j", "k", "l"];

/// A tensor and its index variables.
struct Access {
    name: String,
    indices: Vec<usize>,
    format: String,
}

struct Program {
    dims: Vec<usize>,
    seed: u64,
    target: Access,
    terms: Vec<Vec<Access>>,
}

/// Dense and compressed levels, which store the modes in any order.
fn format(order: usize, random: &mut Random) -> String {
    let mut modes: Vec<usize> = (0..order).collect();
    if random.chance(0.5) {
        random.shuffle(&mut modes);
    }
    let names: Vec<String> = (0..order).map(|mode| format!("m{mode}")).collect();
    let levels: Vec<String> = modes
        .iter()
        .map(|mode| format!("m{mode}: {}", random.choose(&["dense", "compressed", "compressed"])))
        .collect();
    format!("({}) -> [{}]", names.join(", "), levels.join(", "))
}

fn some(variables: &[usize], least: usize, random: &mut Random) -> Vec<usize> {
    let mut chosen = variables.to_vec();
    random.shuffle(&mut chosen);
    chosen.truncate(least.max(1 + random.below(3)).min(variables.len()));
    chosen
}

impl Program {
    fn new(seed: u64, target: Vec<usize>, terms: Vec<Vec<Vec<usize>>>, random: &mut Random) -> Program {
        let mut count = 0;
        let mut access = |indices: Vec<usize>| {
            count += 1;
            Access { name: format!("B{count}"), format: format(indices.len(), random), indices }
        };
        let terms = terms.into_iter().map(|term| term.into_iter().map(&mut access).collect()).collect();
        let target = Access { name: "A".to_owned(), format: format(target.len(), random), indices: target };
        let dims = VARIABLES.iter().map(|_| 1 + random.below(6)).collect();
        Program { dims, seed, target, terms }
    }

    /// Two or three tensors, and a result over some of their modes.
    fn product(seed: u64) -> Program {
        let mut random = Random::new(seed);
        let variables: Vec<usize> = (0..2 + random.below(3)).collect();
        let count = 2 + random.below(2);
        let operands: Vec<Vec<usize>> = (0..count).map(|_| some(&variables, 1, &mut random)).collect();
        let mut used: Vec<usize> = operands.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let target = some(&used, 1, &mut random);
        Program::new(seed, target, vec![operands], &mut random)
    }

    /// Two or three terms, each over all modes of the result, and now and then summed over another.
    fn sum(seed: u64) -> Program {
        let mut random = Random::new(seed);
        let variables: Vec<usize> = (0..2 + random.below(2)).collect();
        let target = some(&variables, 1, &mut random);
        let mut term = || {
            let mut whole = target.clone();
            if whole.len() < 3 && random.chance(0.3) {
                whole.push(VARIABLES.len() - 1);
            }
            random.shuffle(&mut whole);
            let rest = some(&whole, 1, &mut random);
            if random.chance(0.3) { vec![whole, rest] } else { vec![whole] }
        };
        let terms = (0..2).map(|_| term()).collect::<Vec<_>>();
        let terms = if seed.is_multiple_of(3) { terms.into_iter().chain([term()]).collect() } else { terms };
        Program::new(seed, target, terms, &mut random)
    }

    fn text(&self) -> String {
        let show = |access: &Access| {
            let names: Vec<&str> = access.indices.iter().map(|&variable| VARIABLES[variable]).collect();
            format!("{}({})", access.name, names.join(", "))
        };
        let declare = |access: &Access| format!("{}: {}", access.name, access.format);
        let parameters: Vec<String> = self.terms.iter().flatten().map(declare).collect();
        let terms: Vec<String> =
            self.terms.iter().map(|term| term.iter().map(show).collect::<Vec<_>>().join(" * ")).collect();
        let dims: Vec<String> = VARIABLES.iter().zip(&self.dims).map(|(name, dim)| format!("{name}={dim}")).collect();
        format!(
            "// dims: {}\n// seed: {}\nfn sweep({}) -> {} {{\n    {} = {};\n}}\n",
            dims.join(" "),
            self.seed,
            parameters.join(", "),
            declare(&self.target),
            show(&self.target),
            terms.join(" + ")
        )
    }

    fn ready(&self) -> Result<Ready, Stop> {
        Ready::new(&Case::parse("sweep", &self.text()).expect("a program is a case"))
    }

    /// Runs the program twice. Its result may be full, as where a term is dense.
    fn run(&self) -> Result<(), String> {
        let ready = self.ready().map_err(|stop| match stop {
            Stop::Refused { message, .. } | Stop::Data(message) => message,
        })?;
        ready.interpret(self.seed).and_then(|()| ready.interpret(self.seed + 1))
    }
}

fn sweep(count: u64, program: impl Fn(u64) -> Program) {
    let mut failures = Vec::new();
    for seed in options().seeds(count, count) {
        let program = program(seed);
        if let Err(error) = program.run() {
            failures.push(format!("{}\n{}", error.lines().take(6).collect::<Vec<_>>().join("\n"), program.text()));
        }
    }
    assert!(failures.is_empty(), "{} programs:\n{}", failures.len(), failures.join("\n"));
}

fn every_product_is_answered() {
    sweep(350, Program::product);
}

fn every_sum_is_answered() {
    sweep(250, Program::sum);
}

spc_tests::tests! {
    every_product_is_answered,
    every_sum_is_answered,
}
