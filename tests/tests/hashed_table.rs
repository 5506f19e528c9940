//! Workspaces whose table is hashed: the modes they are over are longer than a table that has a place for each coordinate.

use spc::execute::{Backend, Chain, Error};
use spc::tensor::{AnyTensor, Coordinates, Duplicates, Indices, pack};
use spc_compiler::format::{Format, LevelFormat};
use spc_compiler::{compile_notation, notation, syntax};
use spc_tests::data::Random;
use spc_tests::harness::Skip;
use std::collections::BTreeMap;

/// Longer than any direct table.
const LONG: usize = (1 << 22) * 3 + 7;

type Matrix = BTreeMap<(usize, usize), f64>;

/// Entries in some columns; those of different rows meet in many.
fn matrix(rows: usize, columns: usize, random: &mut Random) -> Matrix {
    let some: Vec<usize> = (0..40).map(|_| random.below(columns)).chain([0, columns - 1]).collect();
    let entry = |row: usize, random: &mut Random| ((row, *random.choose(&some)), (1 + random.below(8)) as f64);
    (0..rows).flat_map(|row| (0..9).map(move |_| row)).map(|row| entry(row, random)).collect()
}

fn csr(entries: &Matrix, shape: [usize; 2]) -> AnyTensor {
    let column =
        |of: &dyn Fn(&(usize, usize)) -> usize| Indices::U64(entries.keys().map(|key| of(key) as u64).collect());
    let coordinates = Coordinates {
        shape: shape.to_vec(),
        shape_is_stated: true,
        indices: vec![column(&|key| key.0), column(&|key| key.1)],
        values: entries.values().copied().collect(),
    };
    pack(coordinates, &Format::of_levels([LevelFormat::DENSE, LevelFormat::COMPRESSED]), Duplicates::Refuse)
        .expect("entries are distinct")
}

fn rows_of_products_may_be_long() -> Result<(), Skip> {
    let mut random = Random::new(11);
    let a = matrix(30, 25, &mut random);
    let b = matrix(25, LONG, &mut random);
    let mut expected = Matrix::new();
    for (&(i, k), left) in &a {
        for (&(_, j), right) in b.range((k, 0)..(k + 1, 0)) {
            *expected.entry((i, j)).or_insert(0.0) += left * right;
        }
    }
    let text = "fn product(A: csr, B: csr) -> C: csr { C(i, j) = A(i, k) * B(k, j); }";
    let kernel =
        notation::check(&syntax::parse_program(text).expect("it parses")).expect("it means something").remove(0);
    let program = compile_notation(&kernel).expect("it compiles");
    let ir = program.single().expect("one kernel").kernel.to_string();
    assert!(ir.contains("table"), "no table finds entries:\n{ir}");
    let inputs = [csr(&a, [30, 25]), csr(&b, [25, LONG])];
    for backend in [Backend::Interpreter, Backend::Native] {
        let chain = match Chain::new(&program, backend) {
            Err(Error::Native(error)) if error.is_missing_compiler() => return Err(Skip::without_rustc()),
            other => other.expect("it compiles"),
        };
        let outcome = chain.run(&inputs.iter().collect::<Vec<_>>(), &[], 1).expect("it runs");
        let (_, result) = &outcome.outputs[0];
        let mut found = Matrix::new();
        result.for_each_position(|index, position| {
            _ = found.insert((index[0], index[1]), result.values().get_f64(position));
        });
        assert!(found == expected, "{backend:?}: {} entries, not {}", found.len(), expected.len());
    }
    Ok(())
}

spc_tests::tests! {
    rows_of_products_may_be_long,
}
