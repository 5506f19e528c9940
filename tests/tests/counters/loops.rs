//! Generated kernels: what is counted from traces of the machine code, against what their loops say, which is counted here entry by
//! entry, from the tensors alone.

use super::model;
use spc::cuda::model::{Kind, Predicted, PredictedLaunch, Predictions};
use spc::execute::{Backend, Operand, Outcome, Program, ProgramOptions};
use spc::generate;
use spc::tensor::{Coordinates, Indices};
use spc_compiler::{notation, syntax};
use spc_tests::harness::Skip;
use std::collections::{BTreeMap, BTreeSet};

/// Kernels of the suite, and others; the first operand is sparse.
const KERNELS: [&str; 12] = [
    "fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }",
    "fn spmv_coo(A: coo, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }",
    "fn transposed(A: csr, x: dense) -> y: dense { y(j) = A(i, j) * x(i); }",
    "fn residual(A: csr, x: dense, b: dense) -> y: dense { y(i) = b(i) - A(i, j) * x(j); }",
    "fn spmm(A: csr, B: dense) -> Y: dense { Y(i, r) = A(i, j) * B(j, r); }",
    "fn sddmm(A: csr, B: dense, C: dense) -> Y: csr { Y(i, j) = A(i, j) * B(i, r) * C(j, r); }",
    "fn scaled(A: csr) -> B: csr { B(i, j) = 2 * A(i, j); }",
    "fn norms(A: csr) -> y: dense { y(i) = A(i, j) * A(i, j); }",
    "fn ttv(A: csf, x: dense) -> Y: dense { Y(i, j) = A(i, j, k) * x(k); }",
    "fn ttm(A: csf, B: dense) -> Y: dense { Y(i, j, r) = A(i, j, k) * B(k, r); }",
    "fn mttkrp(A: csf, B: dense, C: dense) -> Y: dense { Y(i, r) = A(i, j, k) * B(j, r) * C(k, r); }",
    "fn total(A: csr) -> s: f64 { s = A(i, j); }",
];

pub(super) fn kernel(text: &str) -> notation::Kernel {
    let program = syntax::parse_program(text).expect("it parses");
    notation::check(&program).expect("it is right").remove(0)
}

/// The sparse operand of a kernel, and random others.
pub(super) fn operands(kernel: &notation::Kernel, entries: &Coordinates<f64>) -> Vec<(String, Operand)> {
    let inputs = kernel.tensors.iter().filter(|tensor| tensor.role == notation::Role::Input);
    let operand = |(seed, tensor): (u64, &notation::Tensor)| {
        let operand = if seed == 1 { entries.clone().into() } else { Operand::Random { seed } };
        (tensor.name.clone(), operand)
    };
    (1..).zip(inputs).map(operand).collect()
}

pub(super) fn options(predictions: &Predictions) -> ProgramOptions {
    ProgramOptions { backend: Some(Backend::Cuda), model: Some(predictions.clone()), ..ProgramOptions::default() }
}

/// Runs a kernel, with `r` of 32 where it has that.
fn run(text: &str, entries: &Coordinates<f64>, options: &ProgramOptions) -> Outcome {
    let kernel = kernel(text);
    let dimensions = if text.contains(", r)") { vec![("r".to_owned(), 32)] } else { Vec::new() };
    let program = Program::new(&kernel, operands(&kernel, entries), &dimensions, options);
    program.and_then(|program| program.run(1)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn tensor_for(text: &str) -> Coordinates<f64> {
    let shape: &[usize] = if text.contains("csf") { &[40, 30, 50] } else { &[150, 90] };
    generate::uniform(shape, 1500, 3).expect("so many fit")
}

/// Lanes that load from an array, in all launches but those that only measure.
fn lanes(predicted: &Predicted, array: &str, kind: Kind) -> u64 {
    let launches = predicted.launches.iter().filter(|launch| !launch.is_once);
    launches.flat_map(|launch| launch.counts.sites_of(array, kind)).map(|site| site.lanes).sum()
}

pub(super) fn results_are_those_of_the_interpreter_and_counts_hold_together() -> Result<(), Skip> {
    let predictions = model("h200")?;
    for text in KERNELS {
        let entries = tensor_for(text);
        let made = run(text, &entries, &options(&predictions));
        let predicted = predictions.take();
        let backend = Some(Backend::Interpreter);
        let truth = run(text, &entries, &ProgramOptions { backend, ..ProgramOptions::default() });
        for ((name, made), (_, expected)) in made.outputs.iter().zip(&truth.outputs) {
            let (made, expected) = (made.to_coordinates::<f64>().unwrap(), expected.to_coordinates::<f64>().unwrap());
            assert_eq!(made.indices, expected.indices, "{text}: {name}");
            for (made, expected) in made.values.iter().zip(&expected.values) {
                assert!((made - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{text}: {made} {expected}");
            }
        }
        assert!(!predicted.launches.is_empty() && predicted.seconds() > 0.0, "{text}");
        assert!((made.run_times[0].as_secs_f64() - predicted.seconds()).abs() < 1e-3, "{text}: {:?}", made.run_times);
        predicted.launches.iter().for_each(|launch| hold_together(text, launch));
    }
    Ok(())
}

/// What is so whatever a kernel does.
fn hold_together(text: &str, launch: &PredictedLaunch) {
    let totals = launch.counts.totals;
    assert_eq!((totals.traced, totals.traced_events), (totals.blocks, totals.events), "{text}");
    assert_eq!(totals.unknown, 0, "{text}");
    let mut lanes = totals.lane_blocks;
    for site in &launch.counts.sites {
        let size = site.size as u64;
        lanes += site.lanes;
        assert!(site.runs <= site.lanes && site.lanes <= 32 * site.runs, "{text}: {site:?}");
        assert!(site.distinct <= site.lanes || !site.kind.is_global(), "{text}: {site:?}");
        if site.kind.is_global() {
            assert!(site.useful == site.distinct * size && site.useful <= 32 * site.sectors, "{text}: {site:?}");
            assert!(site.sectors <= site.lanes * (size.div_ceil(32) + 1), "{text}: {site:?}");
            assert!(site.lines <= site.sectors && site.sectors <= 4 * site.lines, "{text}: {site:?}");
            assert!(site.array.is_some(), "{text}: {site:?}");
        }
    }
    assert!(lanes <= totals.events, "{text}: what is left are warp operations: {totals:?}");
    let traffic = launch.traffic;
    assert!(traffic.missed <= traffic.loaded && traffic.memory_in <= traffic.l2, "{text}: {traffic:?}");
    let touched: u64 = launch.touched.iter().map(|touched| touched.sectors).sum();
    assert_eq!(touched, traffic.distinct, "{text}: two ways to count sectors");
    assert!(launch.time.seconds > 0.0 && launch.time.imbalance >= 1.0 - 1e-9, "{text}: {:?}", launch.time);
}

/// An index of an entry.
pub(super) fn index(entries: &Coordinates<f64>, mode: usize, entry: usize) -> usize {
    match &entries.indices[mode] {
        Indices::U32(indices) => indices[entry] as usize,
        Indices::U64(indices) => indices[entry] as usize,
    }
}

/// The entries of each row.
fn rows(entries: &Coordinates<f64>, count: usize) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new(); count];
    (0..entries.values.len()).for_each(|entry| rows[index(entries, 0, entry)].push(index(entries, 1, entry)));
    rows.iter_mut().for_each(|row| row.sort_unstable());
    rows
}

/// Sectors of elements at these places.
fn sectors(places: &BTreeSet<usize>, size: usize) -> u64 {
    places.iter().map(|place| place * size / 32).collect::<BTreeSet<_>>().len() as u64
}

pub(super) fn a_product_with_a_vector_touches_what_its_loops_say() -> Result<(), Skip> {
    let predictions = model("a100")?;
    let entries = tensor_for(KERNELS[0]);
    run(KERNELS[0], &entries, &options(&predictions));
    let predicted = predictions.take();
    let launch = predicted.launches.iter().find(|launch| !launch.is_once).expect("it was launched");
    let (wide, high) = (launch.grid.threads[0] as usize, launch.grid.threads[1] as usize);
    assert!(wide <= 32 && wide * high == 128, "groups of lanes take rows");
    // Each group of a warp has a row, and its lanes four entries each, which begin at multiples of four and of which some may be others'.
    let rows = rows(&entries, 150);
    let first: Vec<usize> = rows.iter().scan(0, |sum, row| Some(std::mem::replace(sum, *sum + row.len()))).collect();
    let (mut runs, mut lanes, mut of_values, mut of_columns) = (0, 0, 0, 0);
    let (mut runs_of_x, mut lanes_of_x, mut of_x) = (0, 0, 0);
    let all: Vec<usize> = (0..150).collect();
    for warp in all.chunks(32 / wide) {
        let turns = warp.iter().map(|&row| chunks(first[row], rows[row].len()).div_ceil(wide)).max().unwrap_or(0);
        for turn in 0..turns {
            let of_row = |&row: &usize| {
                let begin = first[row] / 4 * 4;
                let mine = turn * wide..chunks(first[row], rows[row].len()).min((turn + 1) * wide);
                mine.map(move |chunk| (row, begin + 4 * chunk))
            };
            let active: Vec<(usize, usize)> = warp.iter().flat_map(of_row).collect();
            let places = |from: usize, to: usize| {
                active.iter().flat_map(|&(_, begin)| begin + from..begin + to).collect::<BTreeSet<usize>>()
            };
            runs += 1;
            lanes += active.len() as u64;
            of_values += sectors(&places(0, 2), 8) + sectors(&places(2, 4), 8);
            of_columns += sectors(&places(0, 4), 4);
            for strip in 0..4 {
                let own = |&(row, begin): &(usize, usize)| {
                    (begin + strip).checked_sub(first[row]).and_then(|place| rows[row].get(place)).copied()
                };
                let columns: Vec<usize> = active.iter().filter_map(own).collect();
                runs_of_x += u64::from(!columns.is_empty());
                lanes_of_x += columns.len() as u64;
                of_x += sectors(&columns.into_iter().collect(), 8);
            }
        }
    }
    let counted = |array: &str| {
        let sites: Vec<_> = launch.counts.sites_of(array, Kind::Load).collect();
        let sum = |of: fn(&spc::cuda::model::Site) -> u64| sites.iter().map(|site| of(site)).sum::<u64>();
        (sum(|site| site.runs), sum(|site| site.lanes), sum(|site| site.sectors))
    };
    // Two values are one load, and four coordinates are.
    assert_eq!(counted("A_vals"), (2 * runs, 2 * lanes, of_values));
    assert_eq!(counted("A2_crd"), (runs, lanes, of_columns));
    assert_eq!(counted("x"), (runs_of_x, lanes_of_x, of_x));
    assert_eq!(lanes_of_x, 1500);
    Ok(())
}

/// How many chunks of four entries, from multiples of four on, have entries of a row.
fn chunks(first: usize, count: usize) -> usize {
    if count == 0 { 0 } else { (first + count).div_ceil(4) - first / 4 }
}

pub(super) fn rows_of_factors_are_whole_sectors() -> Result<(), Skip> {
    let predictions = model("h100")?;
    let sum = |predicted: &Predicted, array: &str| {
        let sites = predicted.launches.iter().flat_map(|launch| launch.counts.sites_of(array, Kind::Load));
        sites.map(|site| site.sectors).sum::<u64>()
    };
    // 32 elements of 8 bytes, which begin where a sector does: eight sectors for each entry. A lane has two of them, so that a warp works
    // at two rows; where both are at one column it is the same sectors.
    let entries = tensor_for(KERNELS[4]);
    run(KERNELS[4], &entries, &options(&predictions));
    let predicted = predictions.take();
    let rows = rows(&entries, 150);
    let of_pair = |pair: &[Vec<usize>]| {
        let turns = pair.iter().map(Vec::len).max().unwrap_or(0);
        let at = |turn: usize| pair.iter().filter_map(|row| row.get(turn)).collect::<BTreeSet<_>>().len();
        (0..turns).map(at).sum::<usize>() as u64
    };
    let columns: u64 = rows.chunks(2).map(of_pair).sum();
    assert_eq!((lanes(&predicted, "B", Kind::Load), sum(&predicted, "B")), (1500 * 16, columns * 8));
    let entries = tensor_for(KERNELS[10]);
    run(KERNELS[10], &entries, &options(&predictions));
    let predicted = predictions.take();
    let fiber = |entry| (index(&entries, 0, entry), index(&entries, 1, entry));
    let fibers: BTreeSet<(usize, usize)> = (0..1500).map(fiber).collect();
    assert_eq!(lanes(&predicted, "C", Kind::Load), 1500 * 16);
    assert_eq!(lanes(&predicted, "B", Kind::Load), fibers.len() as u64 * 16);
    run(KERNELS[9], &entries, &options(&predictions));
    assert_eq!(lanes(&predictions.take(), "B", Kind::Load), 1500 * 16);
    Ok(())
}

pub(super) fn every_entry_is_loaded_once() -> Result<(), Skip> {
    let predictions = model("h100")?;
    for place in [1, 2, 6, 11] {
        run(KERNELS[place], &tensor_for(KERNELS[place]), &options(&predictions));
        assert_eq!(lanes(&predictions.take(), "A_vals", Kind::Load), 1500, "{}", KERNELS[place]);
    }
    // Each chunk of entries once for each row, or fiber, that has some of it.
    for place in [0, 3, 7, 8] {
        let entries = tensor_for(KERNELS[place]);
        let mut counts: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        for entry in 0..entries.values.len() {
            let row = (0..entries.shape.len() - 1).map(|mode| index(&entries, mode, entry)).collect();
            *counts.entry(row).or_default() += 1;
        }
        let (all, _) = counts.values().fold((0, 0), |(all, first), count| (all + chunks(first, *count), first + count));
        run(KERNELS[place], &entries, &options(&predictions));
        assert_eq!(lanes(&predictions.take(), "A_vals", Kind::Load), 2 * all as u64, "{}", KERNELS[place]);
    }
    Ok(())
}

/// A matrix of 5000 rows of which all but every thousandth are empty, and one row of 400 entries.
pub(super) fn runs_of_empty_rows_are_one_search() -> Result<(), Skip> {
    let predictions = model("h100")?;
    let places: Vec<(usize, usize)> =
        (0..400).map(|j| (2500, j)).chain((0..5).map(|row| (1000 * row, 7 * row))).collect();
    let indices = [0, 1].map(|mode| {
        let of_mode = places.iter().map(|&(i, j)| [i, j][mode] as u32);
        Indices::U32(of_mode.collect())
    });
    let values = (0..places.len()).map(|place| place as f64 + 1.0).collect();
    let entries = Coordinates { shape: vec![5000, 400], shape_is_stated: true, indices: indices.into(), values };
    let made = run(KERNELS[0], &entries, &options(&predictions));
    let predicted = predictions.take();
    let truth =
        run(KERNELS[0], &entries, &ProgramOptions { backend: Some(Backend::Interpreter), ..Default::default() });
    let [made, truth] = [made, truth].map(|outcome| outcome.outputs[0].1.to_coordinates::<f64>().unwrap());
    for (made, expected) in made.values.iter().zip(&truth.values) {
        assert!((made - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{made} {expected}");
    }
    let launch = predicted.launches.iter().find(|launch| !launch.is_once).expect("it was launched");
    assert!(launch.counts.sites_of("y", Kind::Atomic).next().is_some(), "shares of entries are what runs");
    let runs: u64 = launch.counts.sites_of("A2_pos", Kind::Load).map(|site| site.runs).sum();
    assert!(runs < 1000, "{runs} loads of positions, for 5000 rows of which 6 have entries");
    Ok(())
}
