use super::parallel::Chunk;
use super::{ArrayValue, Counts, Fault, Machine, Options, counted, run};
use crate::execute::testing::{csr as csr_format, matrix, values, vector};
use crate::execute::{Call, interpreted};
use crate::tensor::AnyTensor;
use spc_compiler::format::resolve::Definitions;
use spc_compiler::ir::{ArrayId, Kernel, Verified, parse, verify};
use spc_compiler::notation::{FormatOption, check_expression};
use spc_compiler::{compile_notation, syntax};

fn kernel(text: &str) -> Verified<Kernel> {
    let kernel = parse(text, spc_compiler::level::named).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(kernel).unwrap_or_else(|violations| panic!("{violations:#?}"))
}

/// What the arrays hold afterwards.
fn results(text: &str, dimensions: &[u64], arrays: &[ArrayValue], seed: u64) -> Result<Vec<ArrayValue>, Fault> {
    let mut arrays = arrays.to_vec();
    run(&kernel(text), dimensions, &mut arrays, &Options { seed })?;
    Ok(arrays)
}

/// The faults of many seeds.
fn faults(text: &str, dimensions: &[u64], arrays: &[ArrayValue]) -> Vec<String> {
    let fault = |seed| results(text, dimensions, arrays, seed).err().map(|fault| fault.to_string());
    (0..60).filter_map(fault).collect()
}

fn u32s(values: &[u32]) -> ArrayValue {
    ArrayValue::U32(values.to_vec())
}

fn f64s(values: &[f64]) -> ArrayValue {
    ArrayValue::F64(values.to_vec())
}

/// y = A x, A = [1 2 0; 0 0 0; 0 3 4; 5 0 0; 0 0 6]
const SPMV: &str = "kernel spmv {
  dimension d0 i runtime
  dimension d1 j runtime
  tensor t0 A f64 [dense, compressed] (d0, d1) input
  tensor t1 x f64 [dense] (d1) input
  tensor t2 y f64 [dense] (d0) output dense overwritten
  array a0 A2_pos index(u32) positions t0 1
  array a1 A2_crd index(u32) coordinates t0 1
  array a2 A_vals f64 values t0
  array a3 x_vals f64 values t1
  array a4 y_vals f64 values t2
  variable v0 low index
  variable v1 high index
  variable v2 i index
  variable v3 p index
  variable v4 t f64 mutable
  variable v5 place index
  body {
    parallel v0..v1 in 0..d0
        work v5 -> a0[v5]
        sharing a4 owned v5 -> v5
    {
      for v2 in v0..v1 {
        let v4 = 0.0f64
        for v3 in a0[v2]..a0[v2 + 1] vector {
          v4 += a2[v3] * a3[a1[v3]]
        }
        a4[v2] = v4
      }
    }
  }
}";

fn csr() -> Vec<ArrayValue> {
    vec![
        u32s(&[0, 2, 2, 4, 5, 6]),
        u32s(&[0, 1, 1, 2, 0, 2]),
        f64s(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        f64s(&[1.0, 10.0, 100.0]),
        f64s(&[9.0; 5]),
    ]
}

#[test]
fn sparse_matrix_times_vector() {
    for seed in 0..100 {
        let arrays = results(SPMV, &[5, 3], &csr(), seed).unwrap();
        assert_eq!(arrays[4], f64s(&[21.0, 0.0, 430.0, 5.0, 600.0]));
        assert_eq!(arrays[..4], csr()[..4]);
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let text = SPMV.replace("owned v5 -> v5", "owned v5 -> v5 + 1");
    assert_eq!(faults(&text, &[5, 3], &csr()), faults(&text, &[5, 3], &csr()));
}

/// Row sums of coordinates, chunks cut between rows; rows are also counted.
const SEGMENTED: &str = "kernel segmented {
  dimension d0 i runtime
  dimension d1 j runtime
  tensor t0 A f64 [compressed(nonunique), singleton] (d0, d1) input
  tensor t1 y f64 [dense] (d0) output dense zero
  tensor t2 n i64 [] () output dense zero
  array a0 A1_pos index(u64) positions t0 0
  array a1 A1_crd index(u16) coordinates t0 0
  array a2 A2_crd index(u32) coordinates t0 1
  array a3 A_vals f64 values t0
  array a4 y_vals f64 values t1
  array a5 n_vals i64 values t2
  variable v0 low index
  variable v1 high index
  variable v2 p index mutable
  variable v3 end index
  variable v4 t f64 mutable
  variable v5 place index
  variable v6 rows i64 mutable
  variable v7 i index
  body {
    let v6 = 0i64
    parallel v0..v1 in a0[0]..a0[1]
        aligned a1
        sharing a4 owned v5 -> a1[v5]
        reducing v6 +
    {
      let v2 = v0
      while v2 < v1 {
        let v7 = a1[v2]
        let v3 = search(a1, v2, v1, v7 + 1)
        let v4 = 0.0f64
        while v2 < v3 {
          v4 += a3[v2]
          v2 = v2 + 1
        }
        a4[v7] = v4
        v6 += 1i64
      }
    }
    a5[0] = v6
  }
}";

fn coo() -> Vec<ArrayValue> {
    vec![
        ArrayValue::U64(vec![0, 7]),
        ArrayValue::U16(vec![1, 1, 1, 3, 4, 4, 6]),
        u32s(&[0, 1, 2, 0, 0, 1, 0]),
        f64s(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]),
        f64s(&[0.0; 8]),
        ArrayValue::I64(vec![0]),
    ]
}

#[test]
fn segments_of_coordinates() {
    for seed in 0..100 {
        let text = SEGMENTED.replace("A f64 [compressed(nonunique)", "A f64 [compressed(nonunique, u16, pos = u64)");
        let arrays = results(&text, &[8, 3], &coo(), seed).unwrap();
        assert_eq!(arrays[4], f64s(&[0.0, 6.0, 0.0, 4.0, 11.0, 0.0, 7.0, 0.0]));
        assert_eq!(arrays[5], ArrayValue::I64(vec![4]));
    }
}

/// The same without a cut between rows: a chunk combines what it has of its first row and its last.
fn cut_anywhere() -> String {
    let anywhere = SEGMENTED.replace("[compressed(nonunique)", "[compressed(nonunique, u16, pos = u64)");
    let anywhere = anywhere.replace("aligned a1", "").replace("a4[v7] = v4", "a4[v7] += v4");
    anywhere.replace("owned v5 -> a1[v5]", "segmented + v5 -> a1[v5] length 1")
}

#[test]
fn segments_that_chunks_share_are_combined() {
    for seed in 0..100 {
        let arrays = results(&cut_anywhere(), &[8, 3], &coo(), seed).unwrap();
        assert_eq!(arrays[4], f64s(&[0.0, 6.0, 0.0, 4.0, 11.0, 0.0, 7.0, 0.0]));
    }
}

#[test]
fn a_chunk_that_writes_behind_the_segment_that_it_may_share_is_reported() {
    let text = cut_anywhere().replace("a4[v7] += v4", "a4[v7] += v4 a4[(v7 + 2) % 8] += v4");
    let faults = faults(&text, &[8, 3], &coo());
    assert!(faults.iter().any(|fault| fault.contains("owns y_vals[")), "{faults:#?}");
}

#[test]
fn either_of_two_loops_runs_where_work_may_be_uneven() {
    let other = "uneven parallel v0..v1 in 0..d0 sharing a4 owned v5 -> v5 { for v2 in v0..v1 { a4[v2] = 7.0f64 } }";
    let end = SPMV.rmatch_indices('}').nth(2).map(|(at, _)| at).unwrap();
    let text = format!("{} {other} {}", &SPMV[..=end], &SPMV[end + 1..]);
    let found: std::collections::BTreeSet<String> =
        (0..50).map(|seed| format!("{:?}", results(&text, &[5, 3], &csr(), seed).unwrap()[4])).collect();
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn a_chunk_that_leaves_its_segment_is_reported() {
    let text =
        SEGMENTED.replace("[compressed(nonunique)", "[compressed(nonunique, u16, pos = u64)").replace("aligned a1", "");
    let faults = faults(&text, &[8, 3], &coo());
    assert!(faults.iter().any(|fault| fault.contains("owns") && fault.contains("y_vals[1]")), "{faults:#?}");
}

/// Entries above a bound, assembled by chunks that are joined.
const FILTER: &str = "kernel filter {
  dimension d0 i runtime
  dimension d1 j runtime
  tensor t0 A f64 [dense, compressed] (d0, d1) input
  tensor t1 Y f64 [dense, compressed] (d0, d1) output appended empty
  array a0 A2_pos index(u32) positions t0 1
  array a1 A2_crd index(u32) coordinates t0 1
  array a2 A_vals f64 values t0
  array a3 Y2_pos index(u32) positions t1 1
  array a4 Y2_crd index(u32) coordinates t1 1
  array a5 Y_vals f64 values t1
  variable v0 low index
  variable v1 high index
  variable v2 i index
  variable v3 p index
  body {
    push a3, 0
    parallel v0..v1 in 0..d0
        sharing a3 joined positions a4, a4 joined, a5 joined
    {
      for v2 in v0..v1 {
        for v3 in a0[v2]..a0[v2 + 1] {
          if a2[v3] > 1.5f64 {
            push a4, a1[v3]
            extend a5, 1, 0.0f64
            a5[length(a4) - 1] = a2[v3]
          }
        }
        push a3, length(a4)
      }
    }
  }
}";

#[test]
fn appended_parts_are_joined_in_order() {
    let given = [&csr()[..3], &[u32s(&[]), u32s(&[]), f64s(&[])]].concat();
    for seed in 0..100 {
        let arrays = results(FILTER, &[5, 3], &given, seed).unwrap();
        assert_eq!(arrays[3], u32s(&[0, 1, 1, 3, 4, 5]));
        assert_eq!(arrays[4], u32s(&[1, 1, 2, 0, 2]));
        assert_eq!(arrays[5], f64s(&[2.0, 3.0, 4.0, 5.0, 6.0]));
    }
}

/// y = Aᵀ 1: every chunk scatters anywhere, into a view of a row.
const SCATTER: &str = "kernel scatter {
  dimension d0 i runtime
  dimension d1 j runtime
  tensor t0 A f64 [dense, compressed] (d0, d1) input
  tensor t1 y f64 [dense] (d1) output dense zero
  array a0 A2_pos index(u32) positions t0 1
  array a1 A2_crd index(u32) coordinates t0 1
  array a2 A_vals f64 values t0
  array a3 y_vals f64 values t1
  array a4 row f64 local
  array a5 counts index(u8) local
  variable v0 low index
  variable v1 high index
  variable v2 i index
  variable v3 p index
  variable v4 place index
  body {
    allocate a5[d1] = 0
    parallel v0..v1 in 0..d0
        sharing a3 private +
        sharing a5 private +
    {
      view mutable a4 of a3 from 0 length d1
      for v2 in v0..v1 {
        for v3 in a0[v2]..a0[v2 + 1] {
          a4[a1[v3]] += a2[v3]
          a5[a1[v3]] += 1
        }
      }
    }
    for v2 in 0..d1 {
      a3[v2] += a5[v2] as f64 * 1000.0f64
    }
  }
}";

#[test]
fn private_copies_are_added() {
    let given = [&csr()[..3], &[f64s(&[100.0, 0.0, 0.0])]].concat();
    for seed in 0..100 {
        let arrays = results(SCATTER, &[5, 3], &given, seed).unwrap();
        assert_eq!(arrays[3], f64s(&[2106.0, 2005.0, 2010.0]));
    }
}

#[test]
fn chunks_that_scatter_into_an_owned_array_are_reported() {
    let text = SCATTER.replace("a3 private +", "a3 owned v4 -> v4 * d1 / d0");
    let given = [&csr()[..3], &[f64s(&[0.0; 3])]].concat();
    let faults = faults(&text, &[5, 3], &given);
    assert!(faults.iter().any(|fault| fault.contains("chunk")), "{faults:#?}");
    assert!(
        faults
            .iter()
            .all(|fault| fault.contains("row[") && fault.starts_with("body/1.parallel/1.for/0.for/0.reduce: "))
    );
}

#[test]
fn starts_that_do_not_ascend_are_reported() {
    let text = SPMV.replace("owned v5 -> v5", "owned v5 -> d0 - v5");
    let faults = faults(&text, &[5, 3], &csr());
    assert!(faults.iter().any(|fault| fault.contains("y_vals") && fault.contains("does not ascend")), "{faults:#?}");
}

#[test]
fn work_that_does_not_ascend_is_reported() {
    let text = SPMV.replace("work v5 -> a0[v5]", "work v5 -> d0 - v5");
    assert_eq!(
        faults(&text, &[5, 3], &csr()).iter().find(|fault| fault.contains("place 5")).map(String::as_str),
        Some("body/0.parallel: the work before place 5 is 0, less than 5 further ahead")
    );
}

#[test]
fn chunks_that_append_more_than_they_have_work_are_reported() {
    let given = [&csr()[..3], &[u32s(&[]), u32s(&[]), f64s(&[])]].concat();
    let bounded = |clauses: &str| FILTER.replace("sharing a3", &format!("{clauses} bounded sharing a3"));
    assert_eq!(faults(&bounded("work v2 -> a0[v2]"), &[5, 3], &given), Vec::<String>::new());
    // A row has two entries.
    let faults = faults(&bounded(""), &[5, 3], &given);
    assert!(faults.iter().any(|fault| fault.contains("of 1 units of work appends 2 elements")), "{faults:#?}");
}

/// A kernel of one statement over some arrays of every kind.
fn small(statement: &str) -> Result<Vec<ArrayValue>, String> {
    let text = format!(
        "kernel small {{
          dimension d0 n runtime
          tensor t0 x i32 [dense] (d0) input
          tensor t1 y i32 [dense] (d0) output dense zero
          tensor t2 Y f32 [compressed(u8)] (d0) output appended empty
          tensor t3 b bool [] () output dense zero
          array a0 x_vals i32 values t0
          array a1 y_vals i32 values t1
          array a2 Y1_pos index(u32) positions t2 0
          array a3 Y1_crd index(u8) coordinates t2 0
          array a4 Y_vals f32 values t2
          array a5 b_vals bool values t3
          array a6 part i32 local
          array a7 seen index(u8) local
          variable v0 i index
          variable v1 f f32 mutable
          variable v2 low index
          variable v3 high index
          body {{ {statement} }}
        }}"
    );
    let arrays = [
        ArrayValue::I32(vec![7, -3, i32::MAX]),
        ArrayValue::I32(vec![0; 3]),
        u32s(&[]),
        ArrayValue::U8(vec![]),
        ArrayValue::F32(vec![]),
        ArrayValue::Bool(vec![false]),
    ];
    results(&text, &[3], &arrays, 1).map_err(|fault| fault.to_string())
}

#[test]
fn faults_name_what_and_where() {
    let fault = |statement: &str| small(statement).unwrap_err();
    assert_eq!(
        fault("for v0 in 0..d0 + 1 { a1[v0] = 1i32 }"),
        "body/0.for/0.store: y_vals has length 3, index 3 is out of bounds"
    );
    assert_eq!(
        fault("if false {} else { a1[0] = a0[d0 * 2] }"),
        "body/0.if/else/0.store: x_vals has length 3, index 6 is out of bounds"
    );
    assert_eq!(fault("push a3, 256"), "body/0.push: Y1_crd: index 256 does not fit in 8 bits");
    assert_eq!(fault("allocate a7[2] = 200 a7[1] += 100"), "body/1.reduce: seen: index 300 does not fit in 8 bits");
    assert_eq!(fault("let v0 = d0 - 4"), "body/0.let: index arithmetic wraps: 3 - 4");
    assert_eq!(fault("let v0 = 9 % (d0 - 3)"), "body/0.let: index arithmetic wraps: 9 % 0");
    assert_eq!(fault("a1[0] = a0[0] / a1[0]"), "body/0.store: 7 is divided by zero");
    assert_eq!(
        fault("view a6 of a0 from 2 length 2"),
        "body/0.view: x_vals has length 3, a view of 2 from 2 is out of bounds"
    );
    assert_eq!(
        fault("view a6 of a0 from 1 length 2 a1[0] = a6[2]"),
        "body/1.store: part has length 2, index 2 is out of bounds"
    );
    assert_eq!(
        fault("allocate a6[18446744073709551615] = 0i32"),
        "body/0.allocate: part: there is no memory for 18446744073709551615 elements of 4 bytes, \
         73786976294838206460 bytes together"
    );
    assert_eq!(fault("let v0 = search(a2, 0, 1, 3)"), "body/0.let: Y1_pos has length 0, index 0 is out of bounds");
}

#[test]
fn elements_compute_as_in_rust() {
    let one = |expression: &str| match small(&format!("a1[0] = {expression}")).unwrap().swap_remove(1) {
        ArrayValue::I32(values) => values[0],
        other => panic!("{other:?}"),
    };
    assert_eq!(one("a0[2] + 1i32"), i32::MIN);
    assert_eq!(one("a0[1] / 2i32"), -1);
    assert_eq!(one("a0[1] % 2i32"), -1);
    assert_eq!(one("-2147483648i32 / -1i32"), i32::MIN);
    assert_eq!(one("max(abs(a0[1]), 2i32)"), 3);
    assert_eq!(one("NaNf64 as i32 + 1e20f64 as i32"), i32::MAX);
    assert_eq!(one("select(a0[1] < 0i32 && !(d0 == 0), 1i32, 2i32)"), 1);
    assert_eq!(one("(200u8 + 100u8) as i32"), 44);
    assert_eq!(one("(16777216.0f32 + 1.0f32) as i32"), 16_777_216);
    assert_eq!(one("-(7i32) - -3i32 * 2i32"), -1);
    assert_eq!(one("search(a3, 0, 0, 5) as i32"), 0);
    assert_eq!(one("(d0 > 2) as i32"), 1);
    assert_eq!(one("maximum(d0, 9) as i32 + minimum(d0, 9) as i32"), 12);
}

#[test]
fn truth_values_are_stored() {
    assert_eq!(small("a5[0] |= 1bool").unwrap()[5], ArrayValue::Bool(vec![true]));
    assert_eq!(small("a5[0] = (d0 == 3) as bool").unwrap()[5], ArrayValue::Bool(vec![true]));
}

#[test]
fn appended_values_are_single_precision() {
    let arrays = small("let v1 = 0.1f32 v1 *= 3.0f32 extend a4, 2, v1 a4[1] min= 0.25f32").unwrap();
    assert_eq!(arrays[4], ArrayValue::F32(vec![0.1 * 3.0, 0.25]));
}

#[test]
fn empty_and_reversed_ranges_run_nothing() {
    let arrays = small("for v0 in 3..1 vector { a1[9] = 1i32 } parallel v2..v3 in 5..2 { let v0 = a0[9] as index }");
    assert_eq!(arrays.unwrap()[1], ArrayValue::I32(vec![0; 3]));
}

#[test]
fn vector_loops_see_every_place_once() {
    let arrays = small("for v0 in 0..d0 vector { a1[v0] += a0[v0] + 1i32 }").unwrap();
    assert_eq!(arrays[1], ArrayValue::I32(vec![8, -2, i32::MIN]));
    let mut random = super::random::Random::new(3);
    for count in 0..70 {
        let mut places: Vec<u64> = super::random::Shuffled::new(count, &mut random).collect();
        places.sort_unstable();
        assert!(places.into_iter().eq(0..count));
    }
}

#[test]
fn calls_are_checked() {
    let message =
        |dimensions: &[u64], arrays: &[ArrayValue]| results(SPMV, dimensions, arrays, 0).unwrap_err().to_string();
    assert_eq!(message(&[5], &csr()), "call of spmv: 1 dimensions for 2");
    assert_eq!(message(&[5, 3], &csr()[1..]), "call of spmv: 4 arrays for 5");
    let mut arrays = csr();
    arrays.swap(0, 2);
    assert_eq!(message(&[5, 3], &arrays), "call of spmv: A2_pos holds index(u32), but was given otherwise");
    let constant = SPMV.replace("j runtime", "j 4");
    assert_eq!(
        results(&constant, &[5, 3], &csr(), 0).unwrap_err().to_string(),
        "call of spmv: dimension j is 4, not 3"
    );
    let given = [&csr()[..3], &[u32s(&[0]), u32s(&[]), f64s(&[])]].concat();
    assert_eq!(
        results(FILTER, &[5, 3], &given, 0).unwrap_err().to_string(),
        "call of filter: Y2_pos is appended to, but does not start empty"
    );
}

#[test]
fn a_chunk_that_reads_the_part_of_another_is_reported() {
    let text = SPMV.replace("a4[v2] = v4", "a4[v2] = v4 + a4[(v2 + 1) % d0]");
    let faults = faults(&text, &[5, 3], &csr());
    assert!(!faults.is_empty());
    assert!(faults.iter().all(|fault| fault.contains("y_vals[")), "{faults:#?}");
}

#[test]
fn races_are_found_without_any_declared_sharing() {
    let kernel = kernel(SPMV);
    let y = ArrayId(4);
    let mut machine = Machine::new(&kernel, &[5, 3], &mut csr(), 0);
    let mut touch = |number: usize, index: u64, writes: bool| {
        machine.chunk = Some(Chunk::undeclared(number));
        let element = machine.place(y, index).unwrap();
        let result = if writes { machine.check_write(y, element) } else { machine.check_read(y, element) };
        result.err().map(|problem| problem.into_fault().message)
    };
    assert_eq!(touch(0, 1, true), None);
    assert_eq!(touch(0, 1, false), None);
    assert_eq!(touch(1, 2, true), None);
    assert_eq!(touch(1, 1, true).as_deref(), Some("chunk 1 (1..2) writes y_vals[1], which chunk 0 wrote"));
    assert_eq!(touch(2, 2, false).as_deref(), Some("chunk 2 (2..3) reads y_vals[2], which chunk 1 wrote"));
}

/// Kernels as the compiler lowers them: their text comes back, and how loops are cut changes nothing.
#[test]
fn lowered_kernels_do_the_same_however_they_are_cut() {
    let a = matrix([5, 4], &[(0, 1, 2.0), (0, 3, 3.0), (2, 0, 4.0), (3, 0, 5.0), (3, 2, 6.0)], &csr_format());
    let b = matrix([5, 4], &[(0, 1, 1.0), (1, 2, 7.0), (3, 3, 8.0)], &csr_format());
    let x = vector(vec![1.0, 10.0, 100.0, 1000.0]);
    // Expression, operands in CSR, inputs, values of the result.
    type Case<'a> = (&'a str, &'a [&'a str], &'a [&'a AnyTensor], &'a [f64]);
    let cases: [Case; 6] = [
        ("y(i) = A(i, j) * x(j)", &["A"], &[&a, &x], &[3020.0, 0.0, 4.0, 605.0, 0.0]),
        ("y(j) = A(i, j)", &["A"], &[&a], &[9.0, 2.0, 6.0, 3.0]),
        ("C(i, j) = A(i, j) + B(i, j)", &["A", "B", "C"], &[&a, &b], &[3.0, 3.0, 7.0, 4.0, 5.0, 6.0, 8.0]),
        ("C(i, j) = A(i, j) * x(j)", &["A", "C"], &[&a, &x], &[20.0, 3000.0, 4.0, 5.0, 600.0]),
        ("C(j, i) = A(i, j)", &["A", "C"], &[&a], &[4.0, 5.0, 2.0, 6.0, 3.0]),
        ("s = A(i, j) * B(i, j)", &["A", "B"], &[&a, &b], &[2.0]),
    ];
    for (text, sparse, inputs, expected) in cases {
        let kernel = lowered(text, sparse);
        let again = parse(&kernel.to_string(), spc_compiler::level::named)
            .unwrap_or_else(|error| panic!("{error}\n{}", *kernel));
        assert_eq!(again, *kernel);
        for seed in 0..40 {
            let mut call = Call::new(&kernel, inputs).unwrap();
            interpreted::run(&kernel, &mut call, &Options { seed })
                .unwrap_or_else(|error| panic!("{error}\n{}", *kernel));
            assert_eq!(values(&call.finish().unwrap()[0]), expected, "seed {seed} of {}", *kernel);
        }
    }
}

/// A kernel of index notation, with the named tensors in compressed rows.
fn lowered(text: &str, sparse: &[&str]) -> Verified<Kernel> {
    let statement = syntax::parse_statement(text).unwrap();
    let format = syntax::parse_parameter_format("csr").unwrap();
    let options: Vec<_> = sparse.iter().map(|name| FormatOption::new(*name, format.clone())).collect();
    compile_notation(&check_expression(&statement, &options, &Definitions::prelude()).unwrap())
        .unwrap()
        .kernels
        .remove(0)
        .kernel
}

#[test]
fn what_a_kernel_does_is_counted() {
    let text = "kernel double {
      dimension d0 i runtime
      tensor t0 x f64 [dense] (d0) input
      tensor t1 y f64 [dense] (d0) output dense zero
      array a0 x_vals f64 values t0
      array a1 y_vals f64 values t1
      variable v0 i index
      body { for v0 in 0..d0 { a1[v0] = 2.0f64 * a0[v0] + 1.0f64 } }
    }";
    let kernel = kernel(text);
    let once = || {
        let mut arrays = [ArrayValue::F64(vec![1.0, 2.0, 3.0]), ArrayValue::F64(vec![0.0; 3])];
        run(&kernel, &[3], &mut arrays, &Options::default()).unwrap();
    };
    let each = Counts { operations: 6, updates: 3, walked: 3, filled: 0 };
    let ((_, inner), outer) = counted(|| {
        once();
        counted(once)
    });
    assert_eq!(inner, each);
    assert_eq!((outer.operations, outer.total()), (12, 2 * each.total()), "what runs inside counts outside, too");
}
