//! Every case of the corpus and of the suites as CUDA C, in the emulation of a device, against the oracle.

use crate::corpus::{Batch, chosen, runnable};
use spc::execute::Chain;
use spc_compiler::backend::cuda::{Function, Options, Step};
use spc_compiler::concrete::Target;
use spc_compiler::ir::{BinaryOperator, Expr};
use spc_compiler::schedule;
use spc_tests::case::Case;
use spc_tests::corpus;
use spc_tests::emulation::{self, Emulated, Emulation};
use spc_tests::engine::{Ready, Stop};
use spc_tests::harness::{Skip, Suite};
use std::sync::Arc;

/// A case, what it is compiled to, and its kernels for a device.
struct Prepared {
    case: Case,
    ready: Ready,
    emulated: Emulated,
    /// Where others give the same bits in every run.
    deterministic: Option<Emulated>,
    /// Where tables have little room, what rows do that need more; in both modes.
    tight: [Option<Emulated>; 2],
    /// The same with rows of a multiple of what threads may have of them, where the case says how long they are.
    wide: Option<Ready>,
}

const PLAIN: Options = Options { deterministic: false, shared: 48 << 10 };
const DETERMINISTIC: Options = Options { deterministic: true, ..PLAIN };

/// Tables of about 32 slots a block: of one for the smallest teams.
const TIGHT: u64 = 640;

impl Prepared {
    fn all(&self) -> impl Iterator<Item = &Emulated> {
        let [tight, tight_same] = &self.tight;
        [Some(&self.emulated), self.deterministic.as_ref(), tight.as_ref(), tight_same.as_ref()].into_iter().flatten()
    }
}

/// What can be made for a device, and what can't, with the reason.
fn prepared(cases: Vec<Case>) -> (Vec<Prepared>, Vec<String>) {
    let (mut all, mut refused) = (Vec::new(), Vec::new());
    let options = schedule::Options { target: Target::Gpu, ..schedule::Options::default() };
    for (number, case) in cases.into_iter().enumerate() {
        let ready = match Ready::scheduled(&case, options) {
            Ok(ready) => ready,
            Err(Stop::Refused { message, .. } | Stop::Data(message)) => panic!("{}: {message}", case.name),
        };
        let modules = |number, options| emulation::modules(&ready.program, number, options);
        let emulated = match modules(4 * number, PLAIN) {
            Ok(emulated) => emulated,
            Err(refusal) => {
                refused.push(format!("{}: {}", case.name, refusal.what));
                continue;
            }
        };
        let deterministic = match modules(2 * number, DETERMINISTIC) {
            Ok(same) if same == emulated => None,
            Ok(_) => modules(4 * number + 1, DETERMINISTIC).ok(),
            Err(refusal) => panic!("{} has no deterministic kernels: {}", case.name, refusal.what),
        };
        let tight = [PLAIN, DETERMINISTIC].map(|options| {
            let own = 4 * number + 2 + usize::from(options.deterministic);
            let is_same = |room| modules(0, options) == modules(0, Options { shared: room, ..options });
            (!is_same(TIGHT)).then(|| modules(own, Options { shared: TIGHT, ..options }).ok()).flatten()
        });
        let wide = wide(&case).and_then(|case| Ready::scheduled(&case, options).ok());
        // Functions are for any extent: those of the case are run.
        let wide =
            wide.filter(|wide| emulation::modules(&wide.program, 4 * number, PLAIN).is_ok_and(|of| of == emulated));
        all.push(Prepared { case, ready, emulated, deterministic, tight, wide });
    }
    (all, refused)
}

/// A case with rows of 16 columns, of which threads have several, whatever their type.
fn wide(case: &Case) -> Option<Case> {
    // Its rows have two names.
    let is_square = case.name == "statements/gram_matrices";
    let is_row = |name: &str| name == "r";
    let has_rows = case.data.is_empty() && case.dims.iter().any(|(name, _)| is_row(name));
    let dims = case.dims.iter().map(|(name, extent)| (name.clone(), if is_row(name) { 16 } else { *extent }));
    (has_rows && !is_square).then(|| Case { dims: dims.collect(), ..case.clone() })
}

/// The cases of a library: the C++ compiler is the slow part.
const BATCH: usize = 24;

/// A case on the device that its batch has.
struct Emulate {
    prepared: Prepared,
    device: Arc<Emulation>,
}

impl Emulate {
    fn all(cases: &[Case]) -> Result<Vec<Emulate>, Skip> {
        let (all, refused) = prepared(cases.to_vec());
        assert!(refused.is_empty(), "what a device can't do: {refused:#?}");
        let device = emulation::compile(&all.iter().flat_map(Prepared::all).collect::<Vec<_>>())?;
        Ok(all.into_iter().map(|prepared| Emulate { prepared, device: Arc::clone(&device) }).collect())
    }

    /// Runs the case in every way that its kernels can go; where results must have the same bits, twice.
    fn check(&self) -> Result<(), String> {
        let Emulate { prepared: Prepared { ready, emulated, deterministic, tight, wide, .. }, device } = self;
        for tight in tight.iter().flatten() {
            let result = ready.run(&emulation::chain(&ready.program, tight, device));
            result.map_err(|error| format!("tight tables: {error}"))?;
        }
        let same = deterministic.as_ref().unwrap_or(emulated);
        if deterministic.is_some() {
            for (way, emulated) in ways(emulated) {
                let result = ready.run(&emulation::chain(&ready.program, &emulated, device));
                result.map_err(|error| format!("{way}: {error}"))?;
            }
        }
        for (way, emulated) in ways(same) {
            differs(ready, &emulated, device).map_err(|error| format!("{way}, deterministic: {error}"))?;
        }
        if let Some(wide) = wide {
            for (way, emulated) in ways(emulated) {
                let result = wide.run(&emulation::chain(&wide.program, &emulated, device));
                result.map_err(|error| format!("{way}, rows of 16: {error}"))?;
            }
        }
        Ok(())
    }
}

/// Cases as files with the host's code.
fn standalone(cases: &[Case]) -> Result<Vec<(Ready, Chain)>, Skip> {
    let options = schedule::Options { target: Target::Gpu, ..schedule::Options::default() };
    let ready = |case: &Case| match Ready::scheduled(case, options) {
        Ok(ready) => ready,
        Err(Stop::Refused { message, .. } | Stop::Data(message)) => panic!("{}: {message}", case.name),
    };
    let all: Vec<Ready> = cases.iter().map(ready).collect();
    let chains = emulation::standalone::compile(&all.iter().map(|ready| &ready.program).collect::<Vec<_>>())?;
    Ok(all.into_iter().zip(chains).collect())
}

/// How often [`Emulate::check`] runs a case.
fn runs(Prepared { emulated, deterministic, tight, .. }: &Prepared) -> usize {
    let of_tight = tight.iter().flatten().count();
    let of_fast = deterministic.as_ref().map_or(0, |_| ways(emulated).len());
    of_tight + of_fast + ways(deterministic.as_ref().unwrap_or(emulated)).len()
}

fn threads_have_several_elements_of_long_rows() -> Result<(), Skip> {
    let options = schedule::Options { target: Target::Gpu, ..schedule::Options::default() };
    let mut all = Vec::new();
    for (number, (text, extent)) in corpus::LONG_ROWS.into_iter().enumerate() {
        let case = Case::parse("long_rows", text).expect("it is a case");
        let ready = Ready::fixed(&case, options, &[("r", extent)]).unwrap_or_else(|stop| panic!("{text}: {stop:?}"));
        let modules = |deterministic| {
            let number = 2 * number + usize::from(deterministic);
            emulation::modules(&ready.program, number, Options { deterministic, ..PLAIN }).expect("it can be made")
        };
        let both = [modules(false), modules(true)];
        let has_strips = |emulated: &Emulated| emulated.texts().any(|text| text.contains("strip++"));
        assert!(both.iter().all(has_strips), "{text}: {:#?}", both[0].texts().collect::<Vec<_>>());
        all.push((text, ready, both));
    }
    let kernels: Vec<&Emulated> = all.iter().flat_map(|(_, _, both)| both).collect();
    let device = emulation::compile(&kernels)?;
    for (text, ready, [fast, same]) in &all {
        for (way, fast) in ways(fast) {
            let result = ready.run(&emulation::chain(&ready.program, &fast, &device));
            assert_eq!(result, Ok(()), "{text}, {way}");
        }
        for (way, same) in ways(same) {
            assert_eq!(differs(ready, &same, &device), Ok(()), "{text}, {way}, deterministic");
        }
    }
    Ok(())
}

/// From one element to rows of several warps, multiples of what a thread has and others.
const RANKS: [u64; 12] = [1, 2, 5, 31, 32, 33, 48, 64, 100, 129, 200, 300];

/// Whether threads have several elements of rows of so many, in each of [`corpus::LONG_ROWS`]: two neighbours of eight bytes; where rows
/// are scattered four of them, which update whole sectors, or four neighbours of four bytes; where each entry updates its row several of a long one alone.
const HAVE_SEVERAL: [fn(u64) -> bool; 8] = [
    |rank| rank.is_multiple_of(2),
    |rank| rank > 64,
    |rank| rank.is_multiple_of(2),
    |rank| rank.is_multiple_of(16),
    |rank| rank.is_multiple_of(2),
    |rank| rank.is_multiple_of(2),
    |rank| rank.is_multiple_of(16),
    |rank| rank.is_multiple_of(4),
];

fn the_call_says_how_many_elements_of_rows_threads_have() -> Result<(), Skip> {
    let options = schedule::Options { target: Target::Gpu, ..schedule::Options::default() };
    let mut all = Vec::new();
    for (number, (text, extent)) in corpus::LONG_ROWS.into_iter().enumerate() {
        let ready = RANKS.map(|rank| {
            let text = text.replace(&format!("r={extent}"), &format!("r={rank}"));
            let case = Case::parse("ranks", &text).expect("it is a case");
            Ready::scheduled(&case, options).unwrap_or_else(|stop| panic!("{text}: {stop:?}"))
        });
        let modules = [false, true].map(|deterministic| {
            let number = 2 * number + usize::from(deterministic);
            emulation::modules(&ready[0].program, number, Options { deterministic, ..PLAIN }).expect("it can be made")
        });
        all.push((text, ready, modules));
    }
    let kernels: Vec<&Emulated> = all.iter().flat_map(|(_, _, modules)| modules).collect();
    let device = emulation::compile(&kernels)?;
    for ((text, ready, [fast, same]), have_several) in all.iter().zip(HAVE_SEVERAL) {
        for (rank, ready) in RANKS.into_iter().zip(ready) {
            device.launched();
            let result = ready.run(&emulation::chain(&ready.program, fast, &device));
            assert_eq!(result, Ok(()), "{text}, r={rank}");
            let launched = device.launched();
            let functions = fast.modules().iter().flat_map(|module| &module.functions);
            let has_strips = functions.filter(|f| f.has_strips()).any(|f| launched.contains(&f.name));
            assert_eq!(has_strips, have_several(rank), "{text}, r={rank}: {launched:?}");
            assert_eq!(differs(ready, same, &device), Ok(()), "{text}, r={rank}, deterministic");
        }
    }
    Ok(())
}

/// Runs a program twice, in different orders of blocks and threads: both are right, and give the same bits.
fn differs(ready: &Ready, emulated: &Emulated, device: &Arc<Emulation>) -> Result<(), String> {
    let mut results = Vec::new();
    for seed in [1, 977] {
        device.shuffle(seed);
        let tensors = ready.results(&emulation::chain(&ready.program, emulated, device))?;
        ready.check(&tensors)?;
        // Every digit is printed, and the sign of zero.
        results.push(tensors.iter().map(|tensor| format!("{:?}", tensor.values())).collect::<Vec<String>>());
    }
    if results[0] == results[1] { Ok(()) } else { Err(format!("two runs differ: {results:#?}")) }
}

fn deterministic_kernels_have_no_atomic_sums_of_floating_point_numbers() {
    let (all, _) = prepared(runnable());
    let runs: usize = all.iter().map(runs).sum();
    assert!(runs > all.len() * 3 / 2, "only {runs} runs of {} programs", all.len());
    let mut wrong = Vec::new();
    let (mut before, mut count) = (0, 0);
    for Prepared { case, emulated, deterministic, .. } in &all {
        before += emulated.texts().filter(|text| !float_atomics(text).is_empty()).count();
        for text in deterministic.as_ref().unwrap_or(emulated).texts() {
            count += 1;
            wrong.extend(float_atomics(&text).into_iter().map(|line| format!("{}: {line}", case.name)));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} kernels:\n{}", wrong.len(), wrong.join("\n"));
    assert!(before > 100, "only {before} kernels have such sums at all: they are not recognised");
}

/// The lines of a text that reduce floating point numbers atomically, other than to the smallest or largest.
fn float_atomics(text: &str) -> Vec<String> {
    let is_rounded = |ty: &str| matches!(ty, "f32" | "f64" | "c32" | "c64");
    let mut rounded: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("extern") || line.starts_with("static") {
            rounded.clear();
        }
        // Parameters of kernels, and of what they call.
        let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        rounded
            .extend(words.windows(3).filter(|three| is_rounded(three[0]) && three[1].is_empty()).map(|three| three[2]));
        rounded.extend(
            words.windows(4).filter(|four| is_rounded(four[0]) && four[2] == "__restrict__").map(|four| four[3]),
        );
        // What a block has in shared memory.
        rounded.extend(
            words
                .windows(4)
                .filter(|four| is_rounded(four[0]) && four[1].is_empty() && four[2] == "const")
                .map(|four| four[3]),
        );
        let of_helper = ["atomic_add_", "atomic_multiply_"]
            .iter()
            .any(|helper| line.match_indices(helper).any(|(at, helper)| is_rounded(&line[at + helper.len()..][..3])));
        let of_neighbours = line.contains("add_f32_by_4(") && !line.starts_with("static");
        let native = line.split("atomicAdd(&").nth(1).and_then(|rest| rest.split(['[', '-', '.']).next());
        if of_helper || of_neighbours || native.is_some_and(|array| rounded.contains(&array)) {
            found.push(line.trim().to_owned());
        }
    }
    found
}

/// What is decided whatever the data say.
struct Forced {
    in_shares: bool,
    in_tiles: bool,
    lanes: u64,
    /// The fewest threads of a team.
    team: u64,
    /// At most so many, where blocks have tiles.
    blocks: u64,
    /// Whether threads have several elements of rows.
    in_strips: bool,
    /// Whether what is added to a result is sorted.
    is_sorted: bool,
}

/// A program as it is, and with each other way that it can go, whatever the data say.
fn ways(emulated: &Emulated) -> Vec<(&'static str, Emulated)> {
    let mut ways = vec![("as planned", emulated.clone())];
    let way = |in_shares, in_tiles, lanes, team, blocks, in_strips, is_sorted| Forced {
        in_shares,
        in_tiles,
        lanes,
        team,
        blocks,
        in_strips,
        is_sorted,
    };
    let forced = [
        ("shares by 4 lanes", way(true, false, 4, 8, 1, false, false)),
        ("shares by 32 lanes, rows in strips", way(true, false, 32, 32, 1, true, false)),
        ("places by 8 lanes, rows in strips", way(false, false, 8, 256, 1, true, false)),
        ("shares by 8 lanes, sorted", way(true, false, 8, 8, 1, false, true)),
        ("places by 4 lanes, rows in strips, sorted", way(false, false, 4, 8, 1, true, true)),
        ("tiles of a block", way(true, true, 32, 8, 1, false, false)),
        ("tiles of three blocks, rows in strips", way(true, true, 4, 8, 3, true, false)),
    ];
    for (name, way) in forced {
        let mut other = emulated.clone();
        for module in other.modules_mut() {
            module.steps = decided(&module.steps, &way, &module.functions);
        }
        if other != *emulated && ways.iter().all(|(_, way)| *way != other) {
            ways.push((name, other));
        }
    }
    ways
}

/// Steps in which it is decided what the data would decide.
fn decided(steps: &[Step], way: &Forced, functions: &[Function]) -> Vec<Step> {
    let tiled = |step: &Step| matches!(step, Step::Launch { blocks: Some(_), .. });
    let has_tiles = |step: &Step| {
        let mut has = false;
        step.for_each(&mut |step| has |= tiled(step));
        has
    };
    let has_strips = |step: &Step| match step {
        Step::Launch { function, .. } => functions[*function].has_strips(),
        _ => false,
    };
    let one = |step: &Step| match step {
        // What some rows need besides.
        Step::Choose { condition, then, otherwise } if otherwise.is_empty() => {
            let (condition, then) = (condition.clone(), decided(then, way, functions));
            vec![Step::Choose { condition, then, otherwise: Vec::new() }]
        }
        Step::Teams { function, first, end, width, .. } => {
            let (first, end, width) = (first.clone(), end.clone(), *width.max(&way.team));
            vec![Step::Teams { function: *function, first, end, width, inner: Expr::Index(way.lanes) }]
        }
        // Threads have several elements of rows of a multiple alone.
        Step::Choose { condition, then, otherwise } if way.in_strips && asks_for_multiple(condition) => {
            let (then, otherwise) = (decided(then, way, functions), decided(otherwise, way, functions));
            vec![Step::Choose { condition: condition.clone(), then, otherwise }]
        }
        Step::Choose { then, otherwise, .. } => {
            let is_first = match () {
                () if then.iter().any(|step| matches!(step, Step::Sort { .. })) => way.is_sorted,
                () if then.iter().any(has_strips) => way.in_strips,
                () if then.iter().any(has_tiles) => way.in_tiles,
                () => way.in_shares,
            };
            decided(if is_first { then } else { otherwise }, way, functions)
        }
        Step::Launch { function, places, lanes, workers, blocks } => {
            let lanes = match functions[*function].group() {
                Some(_) => Some(Expr::Index(way.lanes)),
                None => lanes.clone(),
            };
            let blocks = blocks.as_ref().map(|_| Expr::Index(way.blocks));
            vec![Step::Launch { function: *function, places: places.clone(), lanes, workers: workers.clone(), blocks }]
        }
        other => vec![other.clone()],
    };
    steps.iter().flat_map(one).collect()
}

/// Whether a condition holds for multiples of a number.
fn asks_for_multiple(condition: &Expr) -> bool {
    let mut asks = false;
    condition.for_each(&mut |expr| asks |= matches!(expr, Expr::Binary(BinaryOperator::Remainder, ..)));
    asks
}

/// What the emulation says of a kernel after a change to its module.
fn spoiled(text: &str, spoil: &dyn Fn(&mut spc_compiler::backend::cuda::Module)) -> Result<String, Skip> {
    let case = Case::parse("spoiled", text).expect("it is a case");
    let (mut all, refused) = prepared(vec![case]);
    assert!(refused.is_empty(), "{refused:?}");
    let Prepared { ready, mut emulated, .. } = all.remove(0);
    emulated.modules_mut().iter_mut().for_each(spoil);
    let device = emulation::compile(&[&emulated])?;
    let result = ready.run(&emulation::chain(&ready.program, &emulated, &device));
    Ok(result.expect_err("what is wrong on purpose is found"))
}

const BY_COLUMNS: &str =
    "// dims: i=4 j=60\n// seed: 3\nfn spmv(A: csc, x: dense) -> y: dense {\n    y(i) = A(i, j) * x(j);\n}\n";

fn an_update_that_is_not_atomic_is_found() -> Result<(), Skip> {
    let spoil = |module: &mut spc_compiler::backend::cuda::Module| {
        module.functions.iter_mut().for_each(|function| function.atomic.clear());
    };
    let message = spoiled(BY_COLUMNS, &spoil)?;
    assert!(message.contains("RACE") && message.contains("on y"), "{message}");
    Ok(())
}

fn what_is_short_and_gets_many_updates_is_summed_in_tiles() -> Result<(), Skip> {
    let case = Case::parse("short", &BY_COLUMNS.replace("i=4 j=60", "i=2 j=9000")).expect("it is a case");
    let Prepared { ready, emulated, .. } = prepared(vec![case]).0.remove(0);
    let mut only_tiles = emulated;
    for module in only_tiles.modules_mut() {
        assert_eq!(module.steps.len(), 1, "{:?}", module.steps);
        let Step::Choose { otherwise, .. } = &mut module.steps[0] else { panic!("{:?}", module.steps) };
        // A run without tiles would leave the result as it is.
        otherwise.clear();
    }
    let device = emulation::compile(&[&only_tiles])?;
    assert_eq!(ready.run(&emulation::chain(&ready.program, &only_tiles, &device)), Ok(()));
    Ok(())
}

fn what_goes_to_long_results_is_sorted() -> Result<(), Skip> {
    // More keys than a block sorts. Of the first result there would be one copy, which takes more than sorting; the others are sorted
    // because they are told to.
    let long =
        "// dims: i=70000 j=4\n// density: A=0.02\nfn m(A: csc, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
    let repeated =
        "// dims: i=300 j=60\n// density: A=0.3\nfn m(A: csc, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
    let rows = "// dims: i=20 j=30 k=300 r=5\n// density: X=0.03\n\
                fn m(X: coo, B: dense, C: dense) -> A: dense { A(k, r) = X(i, j, k) * B(j, r) * C(i, r); }";
    let cases = [long, repeated, rows].map(|text| Case::parse("sorted", text).expect("it is a case"));
    let mut all = prepared(cases.to_vec()).0;
    let way =
        Forced { in_shares: false, in_tiles: false, lanes: 4, team: 8, blocks: 1, in_strips: false, is_sorted: true };
    for prepared in &mut all[1..] {
        let emulated = prepared.deterministic.as_mut().unwrap_or(&mut prepared.emulated);
        for module in emulated.modules_mut() {
            module.steps = decided(&module.steps, &way, &module.functions);
        }
    }
    let kernels: Vec<&Emulated> = all.iter().flat_map(Prepared::all).collect();
    let device = emulation::compile(&kernels)?;
    let sorted = all.iter().map(|Prepared { ready, emulated, deterministic, .. }| {
        let emulated = deterministic.as_ref().unwrap_or(emulated);
        device.launched();
        assert_eq!(differs(ready, emulated, &device), Ok(()));
        let names: Vec<String> = emulated.modules().iter().map(|module| module.sort()).collect();
        device.launched().iter().filter(|name| names.contains(name)).count()
    });
    // Twice, for each eight bits of a key.
    assert_eq!(sorted.collect::<Vec<usize>>(), [2 * 3, 2 * 2, 2 * 2]);
    Ok(())
}

/// A product of sparse matrices, of these sizes and densities.
fn product(dims: &str, density: &str) -> Case {
    let text = format!("// dims: {dims}\n// density: {density}\n");
    let kernel = "fn spgemm(A: csr, B: csr) -> C: csr {\n    C(i, j) = A(i, k) * B(k, j);\n}\n";
    Case::parse("product", &(text + kernel)).expect("it is a case")
}

fn rows_go_where_their_keys_have_room() -> Result<(), Skip> {
    // Rows of few keys, of many, of as many as a table has slots, and none.
    let sparse = product("i=40 k=40 j=60", "A=0.08 B=0.1");
    let crowded = product("i=12 k=40 j=200", "A=0.15 B=0.1");
    let full = product("i=30 k=30 j=32", "A=0.1 B=1");
    let empty = product("i=5 k=4 j=6", "A=0 B=0.5");
    let all = prepared(vec![sparse, crowded, full, empty]).0;
    let kernels: Vec<&Emulated> = all.iter().flat_map(Prepared::all).collect();
    let device = emulation::compile(&kernels)?;
    let mut launches = Vec::new();
    for prepared in &all {
        let tight = prepared.tight.iter().flatten();
        for (tight, wide) in tight.zip([Some(&prepared.emulated), prepared.deterministic.as_ref()]) {
            for emulated in [Some(tight), wide].into_iter().flatten() {
                device.launched();
                assert_eq!(differs_if_deterministic(prepared, emulated, &device), Ok(()));
                launches.push(ways_of_rows(emulated, &device.launched()));
            }
        }
    }
    // For each product: tight and wide tables, then the same where sums are in order. Teams that counted, and wrote; threads that
    // counted, and wrote.
    let by_product: Vec<&[[usize; 4]]> = launches.chunks(4).collect();
    let [sparse, crowded, full, empty] = by_product[..] else { panic!("{launches:?}") };
    assert_eq!((sparse[0], sparse[1]), ([3, 2, 0, 1], [1, 2, 0, 0]));
    assert_eq!((crowded[0], crowded[1]), ([1, 0, 1, 1], [2, 2, 0, 0]));
    assert_eq!((full[0], full[1]), ([2, 2, 1, 0], [2, 1, 0, 0]));
    assert_eq!((empty[0], empty[1]), ([1, 1, 0, 0], [1, 1, 0, 0]));
    assert!(by_product.iter().all(|four| four[..2] == four[2..]), "{launches:?}");
    Ok(())
}

/// Runs a program, and twice where it is said to give the same bits.
fn differs_if_deterministic(prepared: &Prepared, emulated: &Emulated, device: &Arc<Emulation>) -> Result<(), String> {
    let is_same = [prepared.deterministic.as_ref(), prepared.tight[1].as_ref()].contains(&Some(emulated));
    if is_same {
        differs(&prepared.ready, emulated, device)?;
        device.launched();
    }
    prepared.ready.run(&emulation::chain(&prepared.ready.program, emulated, device))
}

/// How often teams counted and wrote, and then threads for rows that no table had room for.
fn ways_of_rows(emulated: &Emulated, launched: &[String]) -> [usize; 4] {
    let mut counts = [0; 4];
    for function in emulated.modules().iter().flat_map(|module| &module.functions) {
        let writes = usize::from(function.comment.starts_with("writes"));
        let times = launched.iter().filter(|name| **name == function.name).count();
        match (function.teams().is_some(), function.comment.contains("too much for a table")) {
            (true, _) => counts[writes] += times,
            (false, true) => counts[2 + writes] += times,
            (false, false) => {}
        }
    }
    counts
}

fn an_update_beside_a_key_that_is_not_atomic_is_found() -> Result<(), Skip> {
    let spoil = |module: &mut spc_compiler::backend::cuda::Module| {
        module.functions.iter_mut().filter(|function| !function.tables.is_empty()).for_each(|function| {
            function.atomic.clear();
        });
    };
    let text = "// dims: i=3 j=9 k=20\n// density: A=1 B=0.5\nfn spgemm(A: csr, B: csr) -> C: csr {\n    C(i, j) = A(i, k) * B(k, j);\n}\n";
    let message = spoiled(text, &spoil)?;
    assert!(message.contains("RACE") && message.contains("on __shared__"), "{message}");
    Ok(())
}

fn what_was_measured_of_inputs_is_not_measured_again() -> Result<(), Skip> {
    let text = "// dims: i=40 j=30\nfn spmv(A: csr, x: dense) -> y: dense {\n    y(i) = A(i, j) * x(j);\n}\n";
    let parsed = |text: &str| Case::parse("measured", text).expect("it is a case");
    let cases = vec![parsed(text), parsed(&text.replace("i=40", "i=50"))];
    let all = prepared(cases).0;
    let Prepared { ready, emulated, .. } = &all[0];
    let device = emulation::compile(&[emulated])?;
    device.keep_inputs();
    let chain = emulation::chain(&ready.program, emulated, &device);
    let launches = |ready: &Ready| {
        assert_eq!(ready.run(&chain), Ok(()));
        device.launched().len()
    };
    // Its own operands twice, then others of the same program.
    assert_eq!([&all[0], &all[0], &all[1], &all[0]].map(|prepared| launches(&prepared.ready)), [2, 1, 2, 1]);
    Ok(())
}

fn an_update_of_a_tile_that_is_not_atomic_is_found() -> Result<(), Skip> {
    let spoil = |module: &mut spc_compiler::backend::cuda::Module| {
        let way = Forced {
            in_shares: true,
            in_tiles: true,
            lanes: 32,
            team: 8,
            blocks: 2,
            in_strips: false,
            is_sorted: false,
        };
        module.steps = decided(&module.steps, &way, &module.functions);
        for function in &mut module.functions {
            function.tiles.iter().for_each(|tile| _ = function.atomic.remove(&tile.tile));
        }
    };
    let message = spoiled(BY_COLUMNS, &spoil)?;
    assert!(message.contains("RACE") && message.contains("on __shared__"), "{message}");
    Ok(())
}

fn a_write_beyond_an_array_is_found() -> Result<(), Skip> {
    use spc_compiler::backend::cuda::Threads;
    let spoil = |module: &mut spc_compiler::backend::cuda::Module| {
        for function in &mut module.functions {
            if let Threads::Each(places) = &mut function.threads {
                places.end = places.end.clone().plus(Expr::Index(1));
            }
        }
    };
    let message = spoiled(BY_COLUMNS, &spoil)?;
    assert!(message.contains("OUT OF BOUNDS"), "{message}");
    Ok(())
}

/// Adds the tests of this module.
pub(crate) fn tests(suite: &mut Suite) {
    own_tests(suite);
    let cases = chosen(suite, "emulated");
    Batch::add_all(suite, "emulated", &cases, BATCH, Emulate::all, Emulate::check);
    let cases = chosen(suite, "cu");
    Batch::add_all(suite, "cu", &cases, BATCH, standalone, |(ready, chain)| ready.run(chain));
}

spc_tests::tests! {
    fn own_tests;
    threads_have_several_elements_of_long_rows,
    [whole] the_call_says_how_many_elements_of_rows_threads_have,
    [whole] deterministic_kernels_have_no_atomic_sums_of_floating_point_numbers,
    an_update_that_is_not_atomic_is_found,
    what_is_short_and_gets_many_updates_is_summed_in_tiles,
    what_goes_to_long_results_is_sorted,
    rows_go_where_their_keys_have_room,
    an_update_beside_a_key_that_is_not_atomic_is_found,
    what_was_measured_of_inputs_is_not_measured_again,
    an_update_of_a_tile_that_is_not_atomic_is_found,
    a_write_beyond_an_array_is_found,
}
