//! What ranks compute together is what one computes, and they send what the plan says.

use super::*;
use crate::execute::{Backend, Operand, Program, ProgramOptions};
use crate::generate;
use crate::io::FileType;
use crate::tensor::{AnyTensor, Coordinates, Indices};
use spc_compiler::format::Format;
use spc_compiler::{notation, syntax};

fn kernel(text: &str) -> notation::Kernel {
    let program = syntax::parse_program(text).unwrap_or_else(|problems| panic!("{problems:?}"));
    notation::check(&program).unwrap_or_else(|problems| panic!("{problems:?}")).remove(0)
}

/// A tensor of small whole numbers, so that sums are exact in any order.
fn sparse(shape: &[usize], entries: usize, seed: u64) -> Operand {
    let mut entries = generate::uniform(shape, entries, seed).expect("it has that many places");
    entries.values.iter_mut().enumerate().for_each(|(place, value)| *value = (place % 7) as f64 - 3.0);
    entries.into()
}

fn table(shape: &[usize]) -> Operand {
    let mut table =
        AnyTensor::zeros(shape.to_vec(), Format::dense(shape.len()), spc_compiler::ir::ElementType::F64).unwrap();
    let values = table.values_mut::<f64>().unwrap();
    values.iter_mut().enumerate().for_each(|(place, value)| *value = (place % 5) as f64 - 1.0);
    table.into()
}

fn nonzeros(tensor: &AnyTensor) -> Vec<(Vec<usize>, f64)> {
    let mut entries = tensor.entries::<f64>().unwrap();
    entries.retain(|(_, value)| *value != 0.0);
    entries.sort_by(|one, other| one.0.cmp(&other.0));
    entries
}

/// Ranks that each read their part of an input from a file give what one rank gives, and send what the plan says.
fn from_a_file(
    problem: &Problem,
    inputs: &[(String, Operand)],
    dimensions: &[(String, usize)],
    tensor: &str,
    (count, expected): (usize, &[(String, AnyTensor)]),
) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.spct");
    let (_, (_, packed)) = problem.inputs().find(|(_, (name, _))| name == tensor).unwrap();
    crate::io::write_tensor(&path, packed).unwrap();
    let stored = crate::io::StoredTensor::open(&path).unwrap();
    if stored.parts(1, None).is_err() {
        return;
    }
    let text = folder.path().join("shared.tns");
    crate::io::write_tensor(&text, packed).unwrap();
    let text = crate::io::TensorFile::begin(&text, &crate::io::ReadOptions::default()).unwrap();
    let text = crate::io::TextParts::of(&text, packed.element()).map(SharedFile::from);
    let all = problem.listed(tensor).len();
    let run = |file: &SharedFile, placement: Option<&Placement>, ranks: &ThreadRank| {
        let inputs = inputs.to_vec();
        let (problem, plan) =
            Problem::of_file(&problem.kernel, inputs, file, placement, dimensions, &problem.options, ranks)?;
        let here = problem.listed(tensor).len();
        assert!(here < all || all < 100 || count == 1, "{plan}: a rank has all entries");
        let before = ranks.traffic();
        let part = problem.run(&plan, ranks)?;
        let sent = ranks.traffic().since(before).bytes;
        Ok::<_, DistributeError>((problem.gather(&plan, part, ranks)?, sent, plan))
    };
    let [(name, expected)] = expected else { panic!("one result") };
    let of_stored = SharedFile::from(stored.clone());
    for file in [Some(&of_stored), text.as_ref()].into_iter().flatten() {
        let of_parts = Placement::of_entries(tensor, packed.shape(), count);
        let mut costs = Vec::new();
        for placement in of_parts.iter().map(Some).chain([None]) {
            let results = on_threads(count, None, |ranks| run(file, placement, ranks));
            let results = results.unwrap_or_else(|error| panic!("{placement:?} on {count}: {error}"));
            let [(_, found)] = &results[0].0.as_ref().unwrap()[..] else { panic!("one result") };
            assert_eq!(nonzeros(found), nonzeros(expected), "{placement:?} on {count}");
            let plan = &results[0].2;
            let summary = plan.summary(Machine::default());
            let sent: u64 = results.iter().map(|(_, sent, _)| sent).sum();
            if expected.format().is_dense() && expected.order() > 0 && problem.place(name) > 0 {
                assert!(sent >= summary.bytes, "{plan}");
            }
            // Grids and cuts in two are the same as where one rank has seen all entries.
            let is_same = matches!(plan.placement(), Placement::Grid { .. } | Placement::Bisection { .. });
            if is_same && expected.format().is_dense() {
                let whole = problem.plan(plan.placement(), count).unwrap().summary(Machine::default());
                assert_eq!(summary, whole, "{plan}");
            }
            match placement {
                Some(_) => costs.push(summary.cost(count)),
                // The one that is chosen is the one that is best.
                None => {
                    let best = cost::Cost::best(costs.iter().copied()).unwrap();
                    assert_eq!(plan.placement(), &of_parts[best], "{} on {count}: {costs:?}", problem.kernel.name);
                }
            }
        }
    }
    if stored.value_count() == 0 {
        return;
    }
    // A rank that finds damage ends all.
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 6;
    bytes[last] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let error = on_threads(count, None, |ranks| run(&of_stored, None, ranks)).unwrap_err();
    assert!(error.to_string().contains("checksum"), "{error}");
}

/// Every placement on 1, 2, 3, 5 and 8 ranks gives what one rank gives; counts are those of the traffic.
fn check(text: &str, inputs: Vec<(&str, Operand)>, dimensions: &[(&str, usize)]) {
    let kernel = kernel(text);
    let options = ProgramOptions { backend: Some(Backend::Interpreter), ..ProgramOptions::default() };
    let inputs: Vec<(String, Operand)> = inputs.into_iter().map(|(name, operand)| (name.to_owned(), operand)).collect();
    let dimensions: Vec<(String, usize)> =
        dimensions.iter().map(|(name, extent)| ((*name).to_owned(), *extent)).collect();
    let whole = Program::new(&kernel, inputs.clone(), &dimensions, &options).unwrap().run(1).unwrap().outputs;
    let problem = Problem::new(&kernel, inputs.clone(), &dimensions, &options).unwrap();
    for count in [1, 2, 3, 5, 8] {
        if let Some(tensor) = spc_compiler::schedule::shared_input(&kernel).filter(|_| count % 3 == 2) {
            from_a_file(&problem, &inputs, &dimensions, &tensor, (count, &whole));
        }
        for plan in problem.plans(count, Machine::default()).unwrap() {
            let run = |ranks: &ThreadRank| {
                let part = problem.run(&plan, ranks)?;
                let traffic = ranks.traffic();
                Ok::<_, DistributeError>((problem.gather(&plan, part, ranks)?, traffic))
            };
            let results = on_threads(count, None, run).unwrap_or_else(|error| panic!("{text} {plan}: {error}"));
            let [(name, expected)] = &whole[..] else { panic!("one result") };
            let [(found_name, found)] = &results[0].0.as_ref().unwrap()[..] else { panic!("one result") };
            assert_eq!(name, found_name);
            assert_eq!(nonzeros(found), nonzeros(expected), "{text} {plan}");
            assert_eq!((found.shape(), found.format()), (expected.shape(), expected.format()));
            let sent: u64 = results.iter().map(|(_, traffic)| traffic.bytes).sum();
            let counted = plan.summary(Machine::default()).bytes;
            if expected.format().is_dense() && expected.order() > 0 && plan.has_rows(&problem, problem.place(name)) {
                assert_eq!(sent, counted, "{text} {plan}");
            } else {
                assert!(sent >= counted, "{text} {plan}");
            }
        }
    }
}

#[test]
fn products_of_matrices() {
    let a = || ("A", sparse(&[40, 30], 150, 1));
    let x = || ("x", table(&[30]));
    check("fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }", vec![a(), x()], &[]);
    check(
        "fn spmm(A: csr, B: dense) -> C: dense { C(i, r) = A(i, j) * B(j, r); }",
        vec![a(), ("B", table(&[30, 6]))],
        &[],
    );
    check("fn spmv(A: csc, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }", vec![a(), x()], &[]);
    let sddmm = "fn sddmm(A: csr, B: dense, C: dense) -> D: csr { D(i, j) = A(i, j) * B(i, r) * C(j, r); }";
    check(sddmm, vec![a(), ("B", table(&[40, 4])), ("C", table(&[30, 4]))], &[]);
    let b = sparse(&[30, 25], 120, 2);
    check("fn spgemm(A: csr, B: csr) -> C: csr { C(i, l) = A(i, k) * B(k, l); }", vec![a(), ("B", b)], &[]);
    let square = sparse(&[30, 30], 120, 3);
    let form = "fn form(A: csr, x: dense) -> s: f64 { s = x(i) * A(i, j) * x(j); }";
    check(form, vec![("A", square), x()], &[]);
}

#[test]
fn kernels_of_tensors() {
    let x = || ("X", sparse(&[20, 15, 25], 300, 4));
    for format in ["csf", "coo", "hicoo(4)", "alto"] {
        let mttkrp = "fn mttkrp(X: F, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }";
        check(&mttkrp.replace('F', format), vec![x(), ("B", table(&[15, 4])), ("C", table(&[25, 4]))], &[]);
    }
    let second = "fn mttkrp(X: csf, A: dense, C: dense) -> B: dense { B(j, r) = X(i, j, k) * A(i, r) * C(k, r); }";
    check(second, vec![x(), ("A", table(&[20, 4])), ("C", table(&[25, 4]))], &[]);
    check("fn ttv(X: csf, v: dense) -> Y: csr { Y(i, j) = X(i, j, k) * v(k); }", vec![x(), ("v", table(&[25]))], &[]);
    check("fn ttv(X: csf, v: dense) -> Y: dense { Y(i, j) = X(i, j, k) * v(k); }", vec![x(), ("v", table(&[25]))], &[]);
    let ttm = "fn ttm(X: csf, U: dense) -> Y: [compressed, compressed, dense] { Y(i, j, r) = X(i, j, k) * U(k, r); }";
    check(ttm, vec![x(), ("U", table(&[25, 3]))], &[]);
}

/// What ranks read of a file is the whole, also behind masks, where operands are on every rank, and where there are few entries.
#[test]
fn parts_of_files_are_the_whole() {
    let a = |entries| ("A", sparse(&[9, 8], entries, 7));
    let x = || ("X", sparse(&[20, 15, 25], 300, 4));
    let spmv = "fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
    let masked = "fn masked(M: csr, A: csr, B: csr) -> C: csr { C(i, l) = A(i, k) * B(k, l) where M(i, l); }";
    let whole = "fn mttkrp(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); } schedule { replicate(B); }";
    for (text, counts, inputs) in [
        (whole, [1, 4], vec![x(), ("B", table(&[15, 4])), ("C", table(&[25, 4]))]),
        (spmv, [3, 7], vec![a(1), ("x", table(&[8]))]),
        (spmv, [3, 7], vec![a(0), ("x", table(&[8]))]),
        (masked, [3, 7], vec![("M", sparse(&[9, 7], 40, 9)), a(30), ("B", sparse(&[8, 7], 30, 2))]),
    ] {
        let kernel = kernel(text);
        let options = ProgramOptions { backend: Some(Backend::Interpreter), ..ProgramOptions::default() };
        let inputs: Vec<(String, Operand)> =
            inputs.into_iter().map(|(name, operand)| (name.to_owned(), operand)).collect();
        let one = Program::new(&kernel, inputs.clone(), &[], &options).unwrap().run(1).unwrap().outputs;
        let problem = Problem::new(&kernel, inputs.clone(), &[], &options).unwrap();
        let tensor = SharedFile::input(&kernel, None).unwrap();
        for count in counts {
            from_a_file(&problem, &inputs, &[], &tensor, (count, &one));
        }
    }
}

/// Lines of equal coordinates are one entry, however entries are shared out: the square of their sum is not the sum of their squares.
#[test]
fn lines_of_one_entry_stay_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tns");
    let line = |number: usize| format!("{} {} {}\n", number * 7 % 3 + 1, number * 5 % 2 + 1, number % 4);
    std::fs::write(&path, (0..60).map(line).collect::<String>()).unwrap();
    let options = ProgramOptions { backend: Some(Backend::Interpreter), ..ProgramOptions::default() };
    let file = crate::io::TensorFile::begin(&path, &crate::io::ReadOptions::default()).unwrap();
    let shared = SharedFile::of(&file, spc_compiler::ir::ElementType::F64).unwrap().unwrap();
    let kernel = kernel("fn squares(A: coo order 2) -> s: f64 { s = A(i, j) * A(i, j); }");
    let entries: Operand = file
        .contents::<f64>()
        .map(|contents| match contents {
            crate::io::Contents::Entries(filled) => filled.entries.into(),
            crate::io::Contents::Tensor(tensor) => tensor.into(),
        })
        .unwrap();
    let one = Program::new(&kernel, vec![("A".to_owned(), entries)], &[], &options).unwrap().run(1).unwrap().outputs;
    for placement in [None, Some("A"), Some("A:2x2"), Some("A:bisection")] {
        let placement = placement.map(|placement| Placement::parse(placement, &|_| true).unwrap());
        let run = |options: &ProgramOptions, own: &ThreadRank| {
            let (problem, plan) =
                Problem::of_file(&kernel, Vec::new(), &shared, placement.as_ref(), &[], options, own)?;
            problem.run(&plan, own).and_then(|part| problem.gather(&plan, part, own))
        };
        let found = on_threads(4, None, |own| run(&options, own)).unwrap().swap_remove(0).unwrap();
        assert_eq!(nonzeros(&found[0].1), nonzeros(&one[0].1), "{placement:?}");
        let refuse = ProgramOptions { duplicates: crate::tensor::Duplicates::Refuse, ..options.clone() };
        assert!(on_threads(4, None, |own| run(&refuse, own)).is_err(), "{placement:?}");
    }
}

/// Where each rank needs all entries, the kernel says so.
#[test]
fn kernels_without_a_shared_input_have_no_parts() {
    for text in [
        "fn sum(A: csr, B: csr) -> C: csr { C(i, j) = A(i, j) + B(i, j); }",
        "fn square(A: csr) -> C: csr { C(i, j) = A(i, k) * A(k, j); }",
        "fn chain(A: csr, x: dense) -> y: dense { let t(i) = A(i, j) * x(j); y(i) = t(i) * t(i); }",
        "fn outer(u: dense, v: dense) -> C: dense { C(i, j) = u(i) * v(j); }",
    ] {
        assert_eq!(SharedFile::input(&kernel(text), None), None, "{text}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tns");
    std::fs::write(&path, "1 1 2\n3 2 1\n").unwrap();
    let file = crate::io::TensorFile::begin(&path, &crate::io::ReadOptions::default()).unwrap();
    let file = SharedFile::of(&file, spc_compiler::ir::ElementType::F64).unwrap().unwrap();
    let kernel = kernel("fn sum(A: csr, B: csr) -> C: csr { C(i, j) = A(i, j) + B(i, j); }");
    let range = Placement::Range { index: "i".to_owned() };
    for (placement, expected) in [(None, "`sum` has no input"), (Some(&range), "`i` needs all entries")] {
        let inputs = || vec![("B".to_owned(), sparse(&[3, 2], 3, 1))];
        let run = |own: &ThreadRank| {
            Problem::of_file(&kernel, inputs(), &file, placement, &[], &ProgramOptions::default(), own).map(|_| ())
        };
        let error = on_threads(2, None, run).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// More ranks than parts of a file.
#[test]
fn ranks_without_entries() {
    let text = "fn mttkrp(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }";
    let kernel = kernel(text);
    let options = ProgramOptions { backend: Some(Backend::Interpreter), ..ProgramOptions::default() };
    let x = sparse(&[20, 15, 25], 9, 4);
    let inputs = [("X", x), ("B", table(&[15, 4])), ("C", table(&[25, 4]))];
    let inputs: Vec<(String, Operand)> = inputs.into_iter().map(|(name, operand)| (name.to_owned(), operand)).collect();
    let whole = Program::new(&kernel, inputs.clone(), &[], &options).unwrap().run(1).unwrap().outputs;
    let problem = Problem::new(&kernel, inputs.clone(), &[], &options).unwrap();
    from_a_file(&problem, &inputs, &[], "X", (64, &whole));
}

/// What is said of entries of sparse results before a run is about what is sent in one, and a placement that sends none is taken.
#[test]
fn entries_of_results_are_estimated() {
    let x = || sparse(&[60, 50, 40], 3000, 3);
    let (a, b) = (sparse(&[80, 60], 900, 7), sparse(&[60, 70], 800, 8));
    let ttv = "fn ttv(X: csf, v: dense) -> Y: csr { Y(i, k) = X(i, j, k) * v(j); }";
    let ttm = "fn ttm(X: csf, U: dense) -> Y: [compressed, compressed, dense] { Y(i, k, r) = X(i, j, k) * U(j, r); }";
    let spgemm = "fn spgemm(A: csr, B: csr) -> C: csr { C(i, l) = A(i, k) * B(k, l); }";
    let kernels = [
        (ttv, "X", vec![("X", x()), ("v", table(&[50]))]),
        (ttm, "X", vec![("X", x()), ("U", table(&[50, 6]))]),
        (spgemm, "A", vec![("A", a), ("B", b)]),
    ];
    for (text, shared, inputs) in kernels {
        let inputs = inputs.into_iter().map(|(name, operand)| (name.to_owned(), operand)).collect();
        let options = ProgramOptions { backend: Some(Backend::Interpreter), ..ProgramOptions::default() };
        let problem = Problem::new(&kernel(text), inputs, &[], &options).unwrap();
        for ranks in [2, 4, 7] {
            for placement in Placement::of_entries(shared, problem.shape(shared), ranks) {
                let plan = problem.plan(&placement, ranks).unwrap();
                let run = |own: &ThreadRank| {
                    let mut prepared = problem.prepare(&plan, own)?;
                    let before = own.traffic();
                    prepared.run()?;
                    Ok::<_, DistributeError>(own.traffic().since(before).bytes)
                };
                let sent: u64 = on_threads(ranks, None, run).unwrap().iter().sum();
                let dense: u64 = problem
                    .inputs()
                    .map(|(place, (name, _))| {
                        let is_sent = plan.is_sent(place, name) && problem.kernel.tensors[place].format.is_dense();
                        if is_sent { plan.summary(Machine::default()).bytes } else { 0 }
                    })
                    .sum();
                let (sent, estimated) = (sent - dense, plan.summary(Machine::default()).entries);
                assert_eq!(sent == 0, estimated == 0, "{plan}: {sent} and {estimated}");
                // A single row may have few entries or many, and zeros of dense rows are not sent.
                let is_about = |one: u64, other: u64| one <= 3 * other + 5000;
                assert!(is_about(sent, estimated) && is_about(estimated, sent), "{plan}: {sent} and {estimated}");
            }
        }
        let best = problem.plans(4, Machine::default()).unwrap().remove(0);
        assert_eq!(best.summary(Machine::default()).entries, 0, "{best}");
    }
}

#[test]
fn other_reductions_and_sums() {
    let a = || ("A", sparse(&[40, 30], 150, 5));
    let least = "fn least(A: csr, x: dense) -> y: dense { y(i) = min(j)(A(i, j) * x(j)); }";
    if let Ok(kernels) = notation::check(&syntax::parse_program(least).unwrap()) {
        assert!(!kernels.is_empty());
        let problem = Problem::new(
            &kernels[0],
            vec![(a().0.to_owned(), a().1), ("x".to_owned(), table(&[30]))],
            &[],
            &ProgramOptions::default(),
        );
        // What an entry that is missing gives is zero, which is no identity of `min`: only the range of `i` can be shared out.
        let placements: Vec<String> = problem
            .unwrap()
            .plans(3, Machine::default())
            .unwrap()
            .iter()
            .map(|plan| plan.placement().to_string())
            .collect();
        assert_eq!(placements, ["i"]);
    }
    check(least, vec![a(), ("x", table(&[30]))], &[]);
    check(
        "fn sum(A: csr, B: csr) -> C: csr { C(i, j) = A(i, j) + B(i, j); }",
        vec![a(), ("B", sparse(&[40, 30], 100, 6))],
        &[],
    );
    check(
        "fn both(A: csr, B: csr) -> C: csr { C(i, j) = A(i, j) * B(i, j); }",
        vec![a(), ("B", sparse(&[40, 30], 400, 6))],
        &[],
    );
    check("fn scaled(A: csr) -> C: csr { C(i, j) = 2 * A(i, j); }", vec![a()], &[]);
    check(
        "fn outer(u: dense, v: dense) -> C: dense { C(i, j) = u(i) * v(j); }",
        vec![("u", table(&[9])), ("v", table(&[7]))],
        &[],
    );
    let shortest = "fn step(A: csr fill inf, d: dense) -> e: dense { e(i) = min(j)(A(i, j) + d(j)); }";
    check(shortest, vec![a(), ("d", table(&[30]))], &[]);
}

#[test]
fn more_ranks_than_entries() {
    let one = ("A", sparse(&[3, 3], 1, 7));
    check("fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }", vec![one, ("x", table(&[3]))], &[]);
    let none = ("A", sparse(&[3, 3], 0, 7));
    check("fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }", vec![none, ("x", table(&[3]))], &[]);
}

/// Where no index is cut, a rank still has its share of the entries alone.
#[test]
fn entries_that_no_index_cuts() {
    let x = || ("X", sparse(&[40], 25, 8));
    check("fn moment(X: csf) -> s: f64 { s = X(i) * i; }", vec![x()], &[]);
    check("fn shifted(X: csf, b: dense) -> y: dense { y(r) = X(r + m) * b(m); }", vec![x(), ("b", table(&[4]))], &[]);
    check("fn trace(A: csr) -> s: f64 { s = A(i, i); }", vec![("A", sparse(&[30, 30], 300, 9))], &[]);
}

/// Blocks of results have places of rows that are others', and windows an index that has no name.
#[test]
fn results_in_blocks_and_windows() {
    let a = || ("A", sparse(&[41, 30], 150, 5));
    check("fn rows(A: csf) -> y: bcsf(2) { y(i) = A(i, j); }", vec![a()], &[]);
    check("fn copy(A: csr) -> B: bcsr(2) { B(i, j) = A(i, j); }", vec![a()], &[]);
    let window = "fn window(b: csf) -> y: dense { y(2..6) = b(2..6); }";
    check(window, vec![("b", sparse(&[6], 4, 3))], &[("y1_size", 6)]);
}

/// Formats that say where coordinates can be are not numbered anew.
#[test]
fn formats_that_tie_coordinates() {
    let mut band = generate::uniform(&[20, 20], 100, 4).unwrap();
    band.indices[1] = band.indices[0].clone();
    let diagonal = "fn copy(A: [dense, diagonal]) -> B: dense { B(i, j) = A(i, j); }";
    check(diagonal, vec![("A", band.into())], &[]);
    let mut pairs = generate::uniform(&[20, 24], 1, 4).unwrap();
    let places: Vec<(u32, u32)> = (0..20).flat_map(|row| (0..24).map(move |column| (row, column))).collect();
    let chosen: Vec<(u32, u32)> = places.into_iter().filter(|(row, column)| (column + row) % 4 < 2).collect();
    pairs.values = vec![1.5; chosen.len()];
    pairs.indices = vec![
        Indices::U32(chosen.iter().map(|place| place.0).collect()),
        Indices::U32(chosen.iter().map(|place| place.1).collect()),
    ];
    let structured = "fn rows(A: structured(2, 4), x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
    check(structured, vec![("A", pairs.into()), ("x", table(&[24]))], &[]);
}

/// Modes of which nothing as long as they are can be made.
#[test]
fn long_modes() {
    let text = "fn rows(A: [compressed(u64), compressed(u64)]) -> y: [compressed(u64)] { y(i) = A(i, j); }";
    let long = |row: u64| (row << 50) + 1;
    let entries = Coordinates {
        shape: vec![1 << 60, 5],
        shape_is_stated: true,
        indices: vec![Indices::U64((0..9).map(long).collect()), Indices::U64((0..9).map(|row| row % 5).collect())],
        values: (0..9).map(|row| f64::from(row) + 1.0).collect(),
    };
    check(text, vec![("A", entries.clone().into())], &[]);
    // Rows that several ranks have entries of.
    let rows = (0..9).map(|entry| long(entry / 3)).collect();
    let few = Coordinates { indices: vec![Indices::U64(rows), entries.indices[1].clone()], ..entries.clone() };
    let copy = "fn copy(A: [compressed(u64), compressed(u64)]) -> B: [compressed(u64), compressed(u64)] { B(i, j) = A(i, j); }";
    check(copy, vec![("A", few.into())], &[]);
    let inputs = vec![("A".to_owned(), Operand::from(entries))];
    let problem = Problem::new(&kernel(text), inputs, &[], &ProgramOptions::default()).unwrap();
    let error = problem.plan(&Placement::Range { index: "i".to_owned() }, 2).unwrap_err().to_string();
    assert!(error.contains("share out the entries"), "{error}");
    let shares = Placement::Shares { tensor: "A".to_owned() };
    let error = problem.plan(&shares, 1 << 40).unwrap_err().to_string();
    assert!(error.contains("are too many"), "{error}");
}

/// What the schedule wants on every rank is not sent, dense or sparse.
#[test]
fn operands_on_every_rank() {
    let tables = || [("B", table(&[15, 4])), ("C", table(&[25, 4]))];
    let x = || ("X", sparse(&[20, 15, 25], 300, 4));
    let mttkrp = "fn mttkrp(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }";
    let asked = |names: &str| format!("{mttkrp} schedule {{ {names} }}");
    for names in ["replicate(B);", "replicate(B); replicate(C);", "distribute(X: grid(1, 1, 1)); replicate(C);"] {
        let text = asked(names);
        if !names.contains("grid") {
            check(&text, [vec![x()], tables().into()].concat(), &[]);
        }
        let inputs = [vec![x()], tables().into()].concat();
        let inputs = inputs.into_iter().map(|(name, operand)| (name.to_owned(), operand)).collect();
        let problem = Problem::new(&kernel(&text), inputs, &[], &ProgramOptions::default()).unwrap();
        let ranks = if names.contains("grid") { 1 } else { 4 };
        let plan = problem.plan(&Placement::Shares { tensor: "X".to_owned() }, ranks).unwrap();
        let whole = if names.contains("B") { 15 } else { 0 } + if names.contains("C") { 25 } else { 0 };
        assert_eq!(plan.summary(Machine::default()).replicated, whole * 4 * 8, "{names}");
        let sent: u64 = plan.counts().iter().map(|counts| counts.sent).sum();
        assert_eq!(sent == 0, names.contains("C"), "{names}");
    }
    let b = sparse(&[30, 25], 120, 2);
    let spgemm = "fn spgemm(A: csr, B: csr) -> C: csr { C(i, l) = A(i, k) * B(k, l); } schedule { replicate(B); }";
    check(spgemm, vec![("A", sparse(&[40, 30], 150, 1)), ("B", b)], &[]);
    for (names, expected) in [
        ("replicate(A);", "`A` is no input"),
        ("replicate(X); distribute(X);", "the entries of `X` are shared out"),
        ("replicate(B, C);", "replicate"),
    ] {
        let program = syntax::parse_program(&asked(names)).unwrap();
        let said = match notation::check(&program) {
            Ok(kernels) => {
                let options = spc_compiler::schedule::Options::default();
                spc_compiler::schedule::schedule(&kernels[0], options).unwrap_err()
            }
            Err(problems) => problems,
        };
        assert!(format!("{said:?}").contains(expected), "{names}: {said:?}");
    }
}

/// A format that does not come in parts is read as a whole.
#[test]
fn files_that_do_not_come_in_parts() {
    let text = "fn spmv(A: ell, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
    let inputs = vec![("A".to_owned(), sparse(&[40, 30], 150, 1)), ("x".to_owned(), table(&[30]))];
    let options = ProgramOptions { backend: Some(Backend::Interpreter), ..ProgramOptions::default() };
    let kernel = kernel(text);
    let whole = Program::new(&kernel, inputs.clone(), &[], &options).unwrap().run(1).unwrap().outputs;
    let problem = Problem::new(&kernel, inputs.clone(), &[], &options).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (_, (_, packed)) = problem.inputs().find(|(_, (name, _))| name == "A").unwrap();
    crate::io::write_tensor(folder.path().join("a.spct"), packed).unwrap();
    let stored = crate::io::StoredTensor::open(folder.path().join("a.spct")).unwrap();
    assert!(stored.parts(2, None).is_err());
    let (file, placement) = (SharedFile::from(stored), Placement::Shares { tensor: "A".to_owned() });
    let run = |own: &ThreadRank| {
        let (problem, plan) = Problem::of_file(&kernel, inputs.clone(), &file, Some(&placement), &[], &options, own)?;
        problem.run(&plan, own).and_then(|part| problem.gather(&plan, part, own))
    };
    let found = on_threads(3, None, run).unwrap().swap_remove(0).unwrap();
    assert_eq!(nonzeros(&found[0].1), nonzeros(&whole[0].1));
}

/// A file that says no fill value has the declared one: what ranks read of it are the entries that a conversion takes.
#[test]
fn files_without_a_fill_value() {
    let text = "fn least(A: csr fill inf, x: dense) -> y: dense { y(i) min= A(i, j) + x(j); }";
    let kernel = kernel(text);
    let options = ProgramOptions { backend: Some(Backend::Interpreter), ..ProgramOptions::default() };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.spct");
    // Places of rows that are stored as a whole hold zeros.
    let Operand::Entries(entries) = sparse(&[40, 30], 150, 1) else { panic!("it is a list of entries") };
    let level = |format: Format| format.levels[0].format;
    let format = Format::of_levels([level(Format::csf(1)), level(Format::dense(1))]);
    let zero = spc_compiler::ir::ElementType::F64.zero();
    let packed = entries.pack(&format, crate::tensor::Duplicates::Refuse, zero).unwrap();
    crate::io::write_tensor(&path, &packed).unwrap();
    let stored = crate::io::StoredTensor::open(&path).unwrap();
    let inputs = vec![("A".to_owned(), stored.clone().into()), ("x".to_owned(), table(&[30]))];
    let whole = Program::new(&kernel, inputs.clone(), &[], &options).unwrap().run(1).unwrap().outputs;
    let file = SharedFile::from(stored);
    for placement in ["A", "A:2x2"] {
        let placement = Placement::parse(placement, &|_| true).unwrap();
        let run = |own: &ThreadRank| {
            let (problem, plan) =
                Problem::of_file(&kernel, inputs.clone(), &file, Some(&placement), &[], &options, own)?;
            problem.run(&plan, own).and_then(|part| problem.gather(&plan, part, own))
        };
        let found = on_threads(4, None, run).unwrap().swap_remove(0).unwrap();
        assert_eq!(nonzeros(&found[0].1), nonzeros(&whole[0].1), "{placement}");
    }
}

/// A range that cuts no sparse input leaves all its entries to each rank.
#[test]
fn a_range_of_columns_is_no_way_to_share_entries() {
    let text = "fn mttkrp(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }";
    let inputs = [("X", sparse(&[200, 150, 250], 30_000, 4)), ("B", table(&[150, 8])), ("C", table(&[250, 8]))];
    let inputs = inputs.into_iter().map(|(name, operand)| (name.to_owned(), operand)).collect();
    let problem = Problem::new(&kernel(text), inputs, &[], &ProgramOptions::default()).unwrap();
    let plans = problem.plans(8, Machine::default()).unwrap();
    let range = plans.iter().find(|plan| plan.placement().to_string() == "r").unwrap();
    assert!(range.counts().iter().all(|counts| counts.entries == 30_000), "{:?}", range.counts());
    assert_ne!(plans[0].placement().to_string(), "r");
    // The first sends least of those that are about as fast.
    let summaries: Vec<Summary> = plans.iter().map(|plan| plan.summary(Machine::default())).collect();
    let least = summaries.iter().map(|summary| summary.time).fold(f64::INFINITY, f64::min);
    assert!(summaries[0].time <= 2.0 * least);
    let is_close = |summary: &&Summary| summary.time <= 2.0 * least && summary.imbalance <= 2.0;
    let brought = |summary: &Summary| summary.bytes + 7 * summary.replicated;
    assert!(summaries.iter().filter(is_close).all(|summary| brought(summary) >= brought(&summaries[0])));
}

#[test]
fn what_can_not_be_distributed_says_why() {
    let text = "fn chain(A: csr, x: dense) -> y: dense { let t(i) = A(i, j) * x(j); y(i) = t(i) * t(i); }";
    let inputs = vec![("A".to_owned(), sparse(&[5, 5], 9, 1)), ("x".to_owned(), table(&[5]))];
    let problem = Problem::new(&kernel(text), inputs, &[], &ProgramOptions::default()).unwrap();
    let error = problem.plans(2, Machine::default()).unwrap_err().to_string();
    assert!(error.contains("`chain` can't be distributed"), "{error}");
    let error = problem.plan(&Placement::Shares { tensor: "A".to_owned() }, 2).unwrap_err().to_string();
    assert!(error.contains("several statements"), "{error}");
    // Two entries at once, and rows that are read as columns.
    let inputs = vec![("A".to_owned(), sparse(&[5, 5], 9, 1))];
    let square = kernel("fn square(A: csr) -> C: csr { C(i, j) = A(i, k) * A(k, j); }");
    let problem = Problem::new(&square, inputs, &[], &ProgramOptions::default()).unwrap();
    let error = problem.plans(2, Machine::default()).unwrap_err().to_string();
    assert!(error.contains("`square` can't be distributed"), "{error}");
}

/// In parts, any number of ranks gives the same bits, whatever is shared out; as many shares as there are ranks do not.
#[test]
fn parts_give_the_same_bits() {
    let noise = |shape: &[usize], entries, seed| Operand::from(generate::uniform(shape, entries, seed).unwrap());
    let options =
        ProgramOptions { backend: Some(Backend::Interpreter), deterministic: true, ..ProgramOptions::default() };
    let x = || ("X", noise(&[20, 15, 25], 900, 4));
    let a = || ("A", noise(&[40, 30], 300, 1));
    let thirds = |shape: &[usize]| {
        let Operand::Tensor(mut table) = table(shape) else { panic!("a tensor") };
        table.values_mut::<f64>().unwrap().iter_mut().for_each(|value| *value = (*value + 1.7) / 3.0);
        Operand::from(table)
    };
    let tables = || [("B", thirds(&[15, 4])), ("C", thirds(&[25, 4]))];
    let mttkrp = "fn mttkrp(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }";
    let mut differ = 0;
    for (text, inputs) in [
        (mttkrp, [vec![x()], tables().into()].concat()),
        (&mttkrp.replace("csf", "alto"), [vec![x()], tables().into()].concat()),
        ("fn total(X: coo order 3) -> s: f64 { s = X(i, j, k); }", vec![x()]),
        ("fn spmv(A: csc, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }", vec![a(), ("x", thirds(&[30]))]),
        (
            "fn spgemm(A: csr, B: csr) -> C: csr { C(i, l) = A(i, k) * B(k, l); }",
            vec![a(), ("B", noise(&[30, 25], 200, 2))],
        ),
    ] {
        let kernel = kernel(text);
        let inputs = inputs.iter().map(|(name, operand)| ((*name).to_owned(), operand.clone())).collect();
        let problem = Problem::new(&kernel, inputs, &[], &options).unwrap();
        let bits = |results: Vec<Option<Vec<(String, AnyTensor)>>>| {
            let (_, tensor) = results.into_iter().flatten().next().unwrap().remove(0);
            tensor.values().as_bytes().to_vec()
        };
        for plan in problem.plans(12, Machine::default()).unwrap() {
            let part = |own: &ThreadRank| problem.run(&plan, own).and_then(|part| problem.gather(&plan, part, own));
            let on = |ranks| bits(on_threads(ranks, None, |own| in_parts(12, own, part)).unwrap().concat());
            let one = on(1);
            for ranks in [2, 3, 4, 7, 12] {
                assert_eq!(on(ranks), one, "{text} {plan}, {ranks} ranks");
            }
        }
        let shares = |ranks| {
            let plan = problem.plans(ranks, Machine::default()).unwrap();
            let plan = plan.into_iter().find(|plan| matches!(plan.placement(), Placement::Shares { .. })).unwrap();
            let run = |own: &ThreadRank| problem.run(&plan, own).and_then(|part| problem.gather(&plan, part, own));
            bits(on_threads(ranks, None, run).unwrap())
        };
        differ += usize::from(shares(2) != shares(3));
    }
    assert!(differ > 0, "sums of these values do not depend on their order");
}

/// The same of parts that each read their part of a file, and choose where entries go.
#[test]
fn parts_of_files_give_the_same_bits() {
    let options =
        ProgramOptions { backend: Some(Backend::Interpreter), deterministic: true, ..ProgramOptions::default() };
    let kernel = kernel("fn spmv(A: csc, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tns");
    let entries = Operand::from(generate::uniform(&[40, 30], 300, 1).unwrap());
    let inputs = vec![("A".to_owned(), entries), ("x".to_owned(), Operand::Random { seed: 2 })];
    let problem = Problem::new(&kernel, inputs, &[], &options).unwrap();
    let (_, (_, packed)) = problem.inputs().find(|(_, (name, _))| name == "A").unwrap();
    crate::io::write_tensor(&path, packed).unwrap();
    let file = crate::io::TensorFile::begin(&path, &crate::io::ReadOptions::default()).unwrap();
    let file = SharedFile::of(&file, packed.element()).unwrap().unwrap();
    let part = |own: &ThreadRank| {
        let others = vec![("x".to_owned(), Operand::Random { seed: 2 })];
        let (problem, plan) = Problem::of_file(&kernel, others, &file, None, &[], &options, own)?;
        problem.run(&plan, own).and_then(|part| problem.gather(&plan, part, own))
    };
    let on = |ranks| {
        let results = on_threads(ranks, None, |own| in_parts(12, own, part)).unwrap().concat();
        results.into_iter().flatten().next().unwrap().remove(0).1.values().as_bytes().to_vec()
    };
    let one = on(1);
    for ranks in [2, 3, 7, 12] {
        assert_eq!(on(ranks), one, "{ranks} ranks");
    }
}

/// Files that ranks write together are those that one writes of the gathered result, and what is told of it is the same. Gives how many
/// were written so.
fn written(text: &str, inputs: Vec<(&str, Operand)>) -> usize {
    written_on(&[1, 2, 3, 4, 7], text, inputs)
}

fn written_on(ranks: &[usize], text: &str, inputs: Vec<(&str, Operand)>) -> usize {
    let kernel = kernel(text);
    let options = ProgramOptions { backend: Some(Backend::Interpreter), ..ProgramOptions::default() };
    let inputs = inputs.into_iter().map(|(name, operand)| (name.to_owned(), operand)).collect();
    let problem = Problem::new(&kernel, inputs, &[], &options).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    for &ranks in ranks {
        for plan in problem.plans(ranks, Machine::default()).unwrap() {
            let gather = |own: &ThreadRank| problem.run(&plan, own).and_then(|part| problem.gather(&plan, part, own));
            let expected = on_threads(ranks, None, gather).unwrap().swap_remove(0).unwrap();
            let [(name, expected)] = &expected[..] else { panic!("one result") };
            let kinds = [
                (FileType::Tns, true),
                (FileType::Mtx, expected.order() <= 2),
                (FileType::Npy, expected.format().is_dense()),
            ];
            let kinds = kinds.into_iter().filter(|(_, is_possible)| *is_possible);
            let file = |(file_type, _): (FileType, bool)| ResultFile {
                name: name.clone(),
                path: folder.path().join(format!("y.{}", file_type.name())),
                file_type,
            };
            let files: Vec<ResultFile> = kinds.map(file).collect();
            let write = |own: &ThreadRank| {
                let (part, written) =
                    problem.run(&plan, own).and_then(|part| problem.write(&plan, part, &files, own))?;
                Ok::<_, DistributeError>((written, problem.gather(&plan, part, own)?))
            };
            let results = on_threads(ranks, None, write).unwrap_or_else(|error| panic!("{text} {plan}: {error}"));
            let (of, left) = &results[0];
            let [of] = &of[..] else {
                assert_eq!(left.as_ref().unwrap().len(), 1, "{text} {plan}");
                continue;
            };
            assert!(left.as_ref().unwrap().is_empty());
            assert_eq!((&of.shape[..], of.stored, &of.format), (expected.shape(), expected.nnz(), expected.format()));
            let all = expected.entries::<f64>().unwrap();
            assert_eq!(of.sum, all.iter().map(|(_, value)| value).sum::<f64>().into(), "{text} {plan}");
            let first: Vec<_> =
                of.first.iter().cloned().zip(of.first_values.as_slice::<f64>().unwrap().iter().copied()).collect();
            assert_eq!(first, all[..all.len().min(5)], "{text} {plan}");
            for ResultFile { path, .. } in &files {
                let one = path.with_file_name(format!("one.{}", path.extension().unwrap().display()));
                crate::io::write_tensor(&one, expected).unwrap();
                let (one, found) = (std::fs::read(one).unwrap(), std::fs::read(path).unwrap());
                assert!(one == found, "{text} {plan} on {ranks}: {}", String::from_utf8_lossy(&found));
                std::fs::remove_file(path).unwrap();
            }
            count += 1;
        }
    }
    count
}

#[test]
#[cfg(unix)]
fn dense_results_are_written_by_all_ranks() {
    let a = || ("A", sparse(&[40, 30], 150, 1));
    let x = || ("X", sparse(&[20, 15, 25], 300, 4));
    let tables = || [("B", table(&[15, 4])), ("C", table(&[25, 4]))];
    for format in ["csr", "csc", "coo"] {
        let spmv = "fn spmv(A: F, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
        assert!(written(&spmv.replace('F', format), vec![a(), ("x", table(&[30]))]) >= 5);
    }
    let mttkrp = "fn mttkrp(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }";
    assert!(written(mttkrp, [vec![x()], tables().into()].concat()) >= 5);
    // Rows along the last mode, and elements here and there.
    let turned = "fn turned(X: csf, B: dense, C: dense) -> A: dense { A(r, i) = X(i, j, k) * B(j, r) * C(k, r); }";
    assert!(written(turned, [vec![x()], tables().into()].concat()) >= 5);
    let ttv = "fn ttv(X: csf, v: dense) -> Y: dense { Y(i, j) = X(i, j, k) * v(k); }";
    assert!(written(ttv, vec![x(), ("v", table(&[25]))]) >= 5);
    let ttm = "fn ttm(X: csf, U: dense) -> Y: dense { Y(i, r, j) = X(i, j, k) * U(k, r); }";
    assert!(written(ttm, vec![x(), ("U", table(&[25, 3]))]) >= 5);
    let shortest = "fn step(A: csr fill inf, d: dense) -> e: dense { e(i) = min(j)(A(i, j) + d(j)); }";
    assert!(written(shortest, vec![a(), ("d", table(&[30]))]) >= 5);
    // More ranks than rows, and nothing at all.
    let spmv = "fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
    for entries in [1, 0] {
        written(spmv, vec![("A", sparse(&[3, 3], entries, 7)), ("x", table(&[3]))]);
    }
    // What each rank has as a whole, or is stored in another order, is gathered.
    let square = || ("A", sparse(&[30, 30], 120, 3));
    let form = "fn form(A: csr, x: dense) -> s: f64 { s = x(i) * A(i, j) * x(j); }";
    assert_eq!(written(form, vec![square(), ("x", table(&[30]))]), 0);
    assert_eq!(written("fn copy(A: csr) -> B: tiled(4) { B(i, j) = A(i, j); }", vec![square()]), 0);
}

#[test]
#[cfg(unix)]
fn sparse_results_are_written_by_all_ranks() {
    let a = || ("A", sparse(&[40, 30], 150, 1));
    let b = || ("B", sparse(&[40, 30], 400, 6));
    for format in ["csr", "csc", "coo", "dcsr", "alto", "csr fill 2"] {
        let of = |text: &str| text.replace('F', format);
        let sddmm = of("fn sddmm(A: csr, B: dense, C: dense) -> D: F { D(i, j) = A(i, j) * B(i, r) * C(j, r); }");
        if format != "csr fill 2" {
            let tables = [("B", table(&[40, 4])), ("C", table(&[30, 4]))];
            assert!(written(&sddmm, [vec![a()], tables.into()].concat()) >= 5, "{format}");
        }
        let sum = of("fn sum(A: F, B: F) -> C: F { C(i, j) = A(i, j) + B(i, j); }");
        let sum = sum.replace("-> C: csr fill 2", "-> C: csr fill 4");
        assert!(written(&sum, vec![a(), b()]) >= 5, "{format}");
    }
    let spgemm = "fn spgemm(A: csr, B: csr) -> C: csr { C(i, l) = A(i, k) * B(k, l); }";
    assert!(written(spgemm, vec![a(), ("B", sparse(&[30, 25], 120, 2))]) >= 5);
    let x = || ("X", sparse(&[20, 15, 25], 300, 4));
    let scaled = "fn scaled(X: csf) -> Y: csf { Y(i, j, k) = 2 * X(i, j, k); }";
    assert!(written(scaled, vec![x()]) >= 5);
    assert!(written("fn scaled(A: csr) -> C: csr { C(i, j) = 2 * A(i, j); }", vec![("A", sparse(&[3, 3], 0, 7))]) >= 5);
    // Formats that store more than the entries are gathered.
    let ttm = "fn ttm(X: csf, U: dense) -> Y: [compressed, compressed, dense] { Y(i, j, r) = X(i, j, k) * U(k, r); }";
    assert_eq!(written(ttm, vec![x(), ("U", table(&[25, 3]))]), 0);
}

#[test]
#[cfg(unix)]
fn what_cannot_be_written_leaves_files_as_they_were() {
    let kernel = kernel("fn scaled(A: csr) -> C: csr { C(i, j) = 2 * A(i, j); }");
    let options = ProgramOptions { backend: Some(Backend::Interpreter), ..ProgramOptions::default() };
    let problem = Problem::new(&kernel, vec![("A".to_owned(), sparse(&[40, 30], 150, 1))], &[], &options).unwrap();
    let plan = problem.plan(&Placement::Shares { tensor: "A".to_owned() }, 4).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("c.tns")).unwrap();
    let write = |path: &std::path::Path, file_type| {
        let file = ResultFile { name: "C".to_owned(), path: path.to_owned(), file_type };
        let of_rank = |own: &ThreadRank| {
            let (part, written) = problem
                .run(&plan, own)
                .and_then(|part| problem.write(&plan, part, std::slice::from_ref(&file), own))?;
            Ok::<_, DistributeError>((written.len(), problem.gather(&plan, part, own)?.map(|results| results.len())))
        };
        on_threads(4, None, of_rank).map(|mut all| all.swap_remove(0))
    };
    for (name, expected) in [("no/c.tns", "cannot write: No such file"), ("c.tns", "cannot write: is a directory")] {
        let path = folder.path().join(name);
        let error = write(&path, FileType::Tns).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{}: {expected}", path.display())), "{error}");
    }
    // Devices take what one rank writes, and so do kinds that do not come in parts.
    assert_eq!(write("/dev/null".as_ref(), FileType::Tns).unwrap(), (0, Some(1)));
    assert_eq!(write(&folder.path().join("c.npy"), FileType::Npy).unwrap(), (0, Some(1)));
    let spmv = self::kernel("fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }");
    let inputs = vec![("A".to_owned(), sparse(&[40, 30], 150, 1)), ("x".to_owned(), table(&[30]))];
    let of_rows = Problem::new(&spmv, inputs, &[], &options).unwrap();
    let shares = of_rows.plan(&Placement::Shares { tensor: "A".to_owned() }, 4).unwrap();
    let gathered = |files: &[ResultFile]| {
        let of_rank = |own: &ThreadRank| {
            let (part, _) = of_rows.run(&shares, own).and_then(|part| of_rows.write(&shares, part, files, own))?;
            of_rows.gather(&shares, part, own)
        };
        on_threads(4, None, of_rank).unwrap().swap_remove(0).unwrap()
    };
    let null = ResultFile { name: "y".to_owned(), path: "/dev/null".into(), file_type: FileType::Tns };
    assert_eq!(gathered(&[null]), gathered(&[]));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    // What a kind can't hold is said when it is written.
    let kernel = self::kernel("fn scaled(X: csf) -> Y: csf { Y(i, j, k) = 2 * X(i, j, k); }");
    let problem = Problem::new(&kernel, vec![("X".to_owned(), sparse(&[9, 8, 7], 50, 1))], &[], &options).unwrap();
    let plan = problem.plan(&Placement::Shares { tensor: "X".to_owned() }, 3).unwrap();
    let path = folder.path().join("y.mtx");
    std::fs::write(&path, "before").unwrap();
    let files = [ResultFile { name: "Y".to_owned(), path: path.clone(), file_type: FileType::Mtx }];
    let said = std::sync::Mutex::new(Vec::new());
    let of_rank = |own: &ThreadRank| {
        let written = problem.run(&plan, own).and_then(|part| problem.write(&plan, part, &files, own));
        said.lock().unwrap().push(written.as_ref().err().map(ToString::to_string));
        own.gather_all(&[])?;
        written.map(|_| ())
    };
    let error = on_threads(3, None, of_rank).unwrap_err().to_string();
    assert!(error.starts_with(&path.display().to_string()) && error.contains("this tensor has order 3"), "{error}");
    assert_eq!(*said.lock().unwrap(), vec![Some(error); 3]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// Most of so many ranks have nothing to write.
#[test]
#[cfg(unix)]
fn many_ranks_write_little() {
    let a = || ("A", sparse(&[40, 30], 150, 1));
    let spmv = "fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
    assert!(written_on(&[64], spmv, vec![a(), ("x", table(&[30]))]) >= 1);
    let scaled = "fn scaled(A: csr) -> C: csc { C(i, j) = 2 * A(i, j); }";
    assert!(written_on(&[64], scaled, vec![("A", sparse(&[40, 30], 20, 1))]) >= 1);
    assert!(written_on(&[64], scaled, vec![("A", sparse(&[3, 3], 0, 7))]) >= 1);
}

/// Parts are ranks to what writes.
#[test]
#[cfg(unix)]
fn parts_write_the_same_bytes() {
    let options =
        ProgramOptions { backend: Some(Backend::Interpreter), deterministic: true, ..ProgramOptions::default() };
    let kernel = kernel("fn spgemm(A: csr, B: csr) -> C: csc { C(i, l) = A(i, k) * B(k, l); }");
    let noise = |shape: &[usize], entries, seed| Operand::from(generate::uniform(shape, entries, seed).unwrap());
    let inputs = vec![("A".to_owned(), noise(&[40, 30], 300, 1)), ("B".to_owned(), noise(&[30, 25], 200, 2))];
    let problem = Problem::new(&kernel, inputs, &[], &options).unwrap();
    let plan = problem.plan(&Placement::Shares { tensor: "A".to_owned() }, 12).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.tns");
    let files = [ResultFile { name: "C".to_owned(), path: path.clone(), file_type: FileType::Tns }];
    let part = |own: &ThreadRank| problem.run(&plan, own).and_then(|part| problem.write(&plan, part, &files, own));
    let on = |ranks| {
        let all = on_threads(ranks, None, |own| in_parts(12, own, part)).unwrap();
        let all: Vec<_> = all.into_iter().flatten().collect();
        assert!(all.iter().all(|(_, written)| written.len() == 1));
        (std::fs::read(&path).unwrap(), all[0].1[0].sum)
    };
    let one = on(1);
    for ranks in [2, 3, 7, 12] {
        assert!(on(ranks) == one, "{ranks} ranks");
    }
}
