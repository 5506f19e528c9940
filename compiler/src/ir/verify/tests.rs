//! Kernels that pass, and for each rule changes to their text that must not.

use super::{Violation, verify};
use crate::ir::{ElementType, Type};

/// y(i) = A(i, j) * x(j), with everything that its loops can carry.
const SPMV: &str = "kernel spmv {
  dimension d0 i runtime
  dimension d1 j runtime
  tensor t0 A f64 [dense, compressed] (d0, d1) input
  tensor t1 x f64 [dense] (d1) input
  tensor t2 y f64 [dense] (d0) output dense zero
  tensor t3 s f64 [] () output dense zero
  array a0 A2_pos index(u32) positions t0 1
  array a1 A2_crd index(u32) coordinates t0 1
  array a2 A_vals f64 values t0
  array a3 x_vals f64 values t1
  array a4 y_vals f64 values t2
  array a5 s_vals f64 values t3
  array a6 row f64 local
  array a7 buffer f64 local
  variable v0 low index
  variable v1 high index
  variable v2 i index
  variable v3 p index
  variable v4 t f64 mutable
  variable v5 total f64 mutable
  variable v6 place index
  body {
    let v5 = 0.0f64
    parallel v0..v1 in 0..d0
        work v2 -> a0[v2]
        sharing a4 owned v6 -> v6
        sharing a5 private +
        reducing v5 +
    {
      allocate a7[4] = 0.0f64
      for v2 in v0..v1 {
        let v4 = 0.0f64
        for v3 in a0[v2]..a0[v2 + 1] vector {
          v4 += a2[v3] * a3[a1[v3]]
        }
        a4[v2] = v4
        a5[0] += v4
        v5 += v4
        fill a7 = 1.0f64
        view mutable a6 of a4 from v2 length 1
        a6[0] += a7[0]
      }
    }
    a5[0] = v5
  }
}";

/// Counts at the keys that are marked.
const MARKS: &str = "kernel marks {
  dimension d0 i runtime
  tensor t0 y f64 [dense] (d0) output dense zero
  array a0 y_vals f64 values t0
  array a1 keys index(u64) local
  variable v0 key index
  body {
    bitmap a1 of d0
    mark a1, 3
    marked v0 in a1 {
      a0[v0] += 1.0f64
    }
  }
}";

/// a(i) = b(i, j) * c(j), where c is looked up.
const LOOKS_UP: &str = "kernel looks_up {
  dimension d0 i runtime
  dimension d1 j runtime
  tensor t0 b f64 [dense, compressed] (d0, d1) input
  tensor t1 c f64 [compressed] (d1) input
  tensor t2 a f64 [dense] (d0) output dense zero
  array a0 b2_pos index(u32) positions t0 1
  array a1 b2_crd index(u32) coordinates t0 1
  array a2 b_vals f64 values t0
  array a3 c1_pos index(u32) positions t1 0
  array a4 c1_crd index(u32) coordinates t1 0
  array a5 c_vals f64 values t1
  array a6 a_vals f64 values t2
  array a7 c1 index(u32) local
  variable v0 i index
  variable v1 pb2 index
  variable v2 pc1 index
  variable v3 j index
  body {
    directory a7 of a4 by a3 below d1 for a1
    for v0 in 0..d0 {
      merge v3 of v1 in a0[v0]..a0[v0 + 1] at a1[v1], v2 in a3[0]..a3[1] at a4[v2] by a7[0] where v1, v2 {
        a6[v0] += a2[v1] * a5[v2]
      }
    }
  }
}";

/// Y(i, j) = A(i, j), assembled in parallel.
const COPY: &str = "kernel copy {
  dimension d0 i runtime
  dimension d1 j runtime
  tensor t0 A f64 [dense, compressed] (d0, d1) input
  tensor t1 Y f64 [dense, compressed] (d0, d1) output appended empty
  tensor t2 B f64 [compressed(nonunique), singleton] (d0, d1) sorted t0
  array a0 A2_pos index(u32) positions t0 1
  array a1 A2_crd index(u32) coordinates t0 1
  array a2 A_vals f64 values t0
  array a3 Y2_pos index(u32) positions t1 1
  array a4 Y2_crd index(u32) coordinates t1 1
  array a5 Y_vals f64 values t1
  array a6 B1_pos index(u32) positions t2 0
  array a7 B1_crd index(u32) coordinates t2 0
  array a8 B2_crd index(u32) coordinates t2 1
  array a9 B_vals f64 values t2
  variable v0 low index
  variable v1 high index
  variable v2 i index
  variable v3 p index
  body {
    push a3, 0
    parallel v0..v1 in 0..d0
        aligned a7
        sharing a3 joined positions a4
        sharing a4 joined
        sharing a5 joined
    {
      for v2 in v0..v1 {
        for v3 in a0[v2]..a0[v2 + 1] {
          push a4, a1[v3]
          extend a5, 1, 0.0f64
          a5[length(a4) - 1] = a2[v3]
        }
        push a3, length(a4)
      }
    }
  }
}";

/// Y(i, r) = X(i, k) * 2.0 over the same structure.
const SHARED: &str = "kernel shared {
  dimension d0 i runtime
  dimension d1 r runtime
  tensor t0 X f64 [compressed, dense] (d0, d1) input
  tensor t1 Y f64 [compressed, dense] (d0, d1) output shared t0 1 overwritten
  array a0 X1_pos index(u32) positions t0 0
  array a1 X1_crd index(u32) coordinates t0 0
  array a2 X_vals f64 values t0
  array a3 Y_vals f64 values t1
  body {}
}";

fn violations(text: &str) -> Vec<Violation> {
    let kernel = crate::ir::parse(text, crate::level::named).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(kernel).err().unwrap_or_default()
}

/// The rules that a kernel breaks when a piece of its text is replaced by another.
fn breaks(text: &str, old: &str, new: &str) -> Vec<u32> {
    assert!(text.contains(old), "{old}");
    let mut rules: Vec<u32> = violations(&text.replacen(old, new, 1)).iter().map(|violation| violation.rule).collect();
    rules.dedup();
    rules
}

#[test]
fn good_kernels_pass() {
    for text in [SPMV, COPY, SHARED] {
        assert_eq!(violations(text), []);
    }
}

#[test]
fn verified_kernels_can_be_taken_out_again() {
    let kernel = crate::ir::parse(SPMV, crate::level::named).unwrap();
    let verified = verify(kernel.clone()).unwrap();
    assert_eq!(verified.name, "spmv");
    assert_eq!(verified.into_inner(), kernel);
}

#[test]
fn violations_name_their_place() {
    let text = SPMV.replace("a4[v2] = v4", "a4[v2] = v2").replace("a5[0] = v5", "v9 = 1.0f64");
    let messages = |text: &str| violations(text).iter().map(Violation::to_string).collect::<Vec<_>>();
    assert_eq!(messages(&text), ["body/2.assign: v9 is not declared (rule 1)"]);
    let text = text.replace("v9 = 1.0f64", "v2 = 3");
    assert_eq!(
        messages(&text),
        [
            "body/1.parallel/1.for/2.store: `v2:i` is of type `index`, not `f64` (rule 2)",
            "body/2.assign: v2:i is not mutable (rule 4)",
            "body/2.assign: v2:i is not in scope here (rule 3)",
        ]
    );
}

#[test]
fn rule_1_ids() {
    assert_eq!(breaks(SPMV, "a4[v2] = v4", "a4[v2] = v9"), [1]);
    assert_eq!(breaks(SPMV, "in 0..d0", "in 0..d7"), [1]);
    assert_eq!(breaks(SPMV, "sharing a4", "sharing a40"), [1]);
    assert_eq!(breaks(SPMV, "(d1) input", "(d2) input"), [1]);
    assert_eq!(breaks(SPMV, "f64 values t3", "f64 values t4"), [1]);
    assert_eq!(breaks(SHARED, "shared t0", "shared t9"), [1]);
}

#[test]
fn rule_2_types() {
    assert_eq!(breaks(SPMV, "a5[0] += v4", "a5[0.0f64] += v4"), [2]);
    assert_eq!(breaks(SPMV, "a5[0] += v4", "a5[0] += 1"), [2]);
    assert_eq!(breaks(SPMV, "a5[0] += v4", "if v4 {}"), [2]);
    assert_eq!(breaks(SPMV, "a2[v3] *", "-a1[v3] *"), [2]);
    assert_eq!(breaks(SPMV, "a2[v3] *", "(1 < 2) *"), [2]);
    assert_eq!(breaks(SPMV, "a2[v3] *", "sqrt(1.0f64, 2.0f64) *"), [2]);
    assert_eq!(breaks(SPMV, "a2[v3] *", "minimum(v4, v4) *"), [2]);
    assert_eq!(breaks(SPMV, "a2[v3] *", "300u8 as f64 *"), [2]);
    assert_eq!(breaks(SPMV, "a2[v3] *", "true as f64 *"), [2]);
    assert_eq!(breaks(SPMV, "a2[v3] *", "search(a2, 0, 1, 2) as f64 *"), [2]);
    assert_eq!(breaks(SPMV, "row f64 local", "row f32 local").first(), Some(&2));
    assert_eq!(breaks(SPMV, "in 0..d0", "in 0..true"), [2]);
}

#[test]
fn rule_2_truth_values() {
    let mut kernel = crate::ir::parse(SPMV, crate::level::named).unwrap();
    kernel.variables[4].ty = Type::Element(ElementType::Bool);
    let violations = verify(kernel).unwrap_err();
    assert!(
        violations.iter().any(|violation| violation.rule == 2 && violation.path == "variable v4"),
        "{violations:?}"
    );
}

#[test]
fn rule_3_scopes_of_variables() {
    assert_eq!(breaks(SPMV, "a5[0] = v5", "a5[0] = v4"), [3]);
    assert_eq!(breaks(SPMV, "let v5 = 0.0f64", "let v5 = v5"), [3]);
    assert_eq!(breaks(SPMV, "for v3 in", "for v2 in"), [3]);
    assert_eq!(breaks(SPMV, "owned v6 -> v6", "owned v6 -> v2 + v6"), [3, 12]);
    assert_eq!(breaks(SPMV, "v3 p index", "v3 p index mutable"), [3]);
}

#[test]
fn rule_4_mutability() {
    assert_eq!(breaks(SPMV, "v4 t f64 mutable", "v4 t f64"), [4]);
    assert_eq!(breaks(SPMV, "v5 total f64 mutable", "v5 total f64"), [4]);
}

#[test]
fn rule_5_scopes_of_arrays() {
    assert_eq!(breaks(SPMV, "allocate a7[4] = 0.0f64", ""), [5]);
    assert_eq!(breaks(SPMV, "a5[0] = v5", "a5[0] = a7[0]"), [5]);
    assert_eq!(breaks(SPMV, "fill a7", "allocate a7[2] = 0.0f64 fill a7"), [5]);
    assert_eq!(breaks(SPMV, "allocate a7[4]", "allocate a7[1] = 0.0f64 allocate a5[4]"), [5]);
}

#[test]
fn rule_6_what_is_only_read() {
    assert_eq!(breaks(SPMV, "a5[0] = v5", "a3[0] = v5"), [6]);
    assert_eq!(breaks(SPMV, "view mutable", "view"), [6]);
    assert_eq!(breaks(SPMV, "a5[0] = v5", "fill a5 = v5"), [6]);
    assert_eq!(breaks(SPMV, "a5[0] = v5", "view mutable a6 of a3 from 0 length 1"), [6]);
    assert_eq!(breaks(COPY, "push a3, 0", "a9[0] = 1.0f64"), [6]);
}

#[test]
fn rule_7_what_grows() {
    assert_eq!(breaks(SPMV, "a5[0] = v5", "push a5, v5"), [7]);
    assert_eq!(breaks(COPY, "push a3, 0", "a3[0] = 0"), [7]);
    assert_eq!(breaks(SPMV, "fill a7 = 1.0f64", "push a7, 1.0f64"), [7]);
}

#[test]
fn rule_8_views() {
    let again = "view mutable a7_2 of a4 from v2 length 1";
    let two = SPMV
        .replace("  variable v0", "  array a8 a7_2 f64 local\n  variable v0")
        .replace("a6[0] += a7[0]", &again.replace("a7_2", "a8"));
    assert_eq!(violations(&two), []);
    // The first is no longer there.
    assert_eq!(
        breaks(&two, "view mutable a8 of a4 from v2 length 1", "view mutable a8 of a4 from v2 length 1 a6[0] += a7[0]"),
        [5]
    );
    // One in a block inside does not end one around it.
    assert_eq!(
        breaks(
            &two,
            "view mutable a8 of a4 from v2 length 1",
            "if true { view mutable a8 of a4 from v2 length 1 } a6[0] += a7[0]"
        ),
        [8]
    );
    assert_eq!(breaks(SPMV, "a6[0] += a7[0]", "a4[0] += a7[0]"), [8]);
    assert_eq!(breaks(SPMV, "a6[0] += a7[0]", "a6[0] += a4[0]"), [8]);
    assert_eq!(
        breaks(SPMV, "view mutable a6 of a4 from v2 length 1\n        a6[0]", "view a6 of a4 from v2 length 1 a4[0]"),
        [8]
    );
}

#[test]
fn rule_9_sharing() {
    assert_eq!(breaks(SPMV, "sharing a4 owned v6 -> v6", ""), [9]);
    assert_eq!(breaks(SPMV, "sharing a5 private +", "sharing a5 private max"), [9]);
    assert_eq!(breaks(SPMV, "a5[0] += v4", "a5[0] = v4"), [9]);
    assert_eq!(breaks(SPMV, "a5[0] += v4", "v4 += a5[0]"), [9]);
    assert_eq!(breaks(SPMV, "sharing a4", "sharing a5 private + sharing a4"), [9]);
    assert_eq!(breaks(SPMV, "sharing a5 private +", "sharing a5 joined"), [9]);
    assert_eq!(breaks(COPY, "sharing a5 joined", "sharing a5 private +"), [9]);
    assert_eq!(breaks(COPY, "joined positions a4", "joined positions a3"), [9]);
    assert_eq!(breaks(COPY, "sharing a5 joined", "sharing a5 joined positions a4"), [9]);
}

#[test]
fn rule_9_segments() {
    let segmented =
        SPMV.replace("owned v6 -> v6", "segmented + v6 -> v6 length 1").replace("a4[v2] = v4", "a4[v2] += v4");
    assert_eq!(violations(&segmented), []);
    assert_eq!(breaks(&segmented, "a4[v2] += v4", "a4[v2] = v4"), [9]);
    assert_eq!(breaks(&segmented, "a4[v2] += v4", "a4[v2] max= v4"), [9]);
    assert_eq!(breaks(&segmented, "length 1\n", "length v5 as index\n"), [12]);
    assert_eq!(breaks(&segmented, "segmented + v6 -> v6", "segmented + v6 -> length(a5)"), [12]);
    assert_eq!(breaks(&segmented, "segmented +", "segmented |"), [16, 9]);
    assert_eq!(violations(&segmented.replace("v6 -> v6 length 1", "v6 -> v6 length 1 anew")), []);
    let of_local = segmented
        .replace("      allocate a7[4] = 0.0f64\n", "")
        .replace("let v5 = 0.0f64", "let v5 = 0.0f64\n    allocate a7[4] = 0.0f64")
        .replace("sharing a5 private +", "sharing a5 private +\n        sharing a7 segmented + v6 -> v6 length 1")
        .replace("fill a7 = 1.0f64", "a7[v2] += v4")
        .replace("a6[0] += a7[0]", "a6[0] += v4");
    assert_eq!(violations(&of_local), []);
    assert_eq!(breaks(&of_local, "a7 segmented + v6 -> v6 length 1", "a7 segmented + v6 -> v6 length 1 anew"), [9]);
}

#[test]
fn rule_10_variables_from_outside() {
    assert_eq!(breaks(SPMV, "v5 += v4", "v5 = v4"), [10]);
    assert_eq!(breaks(SPMV, "v5 += v4", "v5 max= v4"), [10]);
    assert_eq!(breaks(SPMV, "v5 += v4", "v4 = v5"), [10]);
    assert_eq!(breaks(SPMV, "reducing v5 +", ""), [10]);
    assert_eq!(breaks(SPMV, "reducing v5 +", "reducing v5 +, v5 +"), [10]);
}

#[test]
fn rule_11_nesting() {
    assert_eq!(breaks(SPMV, "fill a7 = 1.0f64", "parallel v3..v6 in 0..1 {}"), [11]);
}

#[test]
fn rule_12_clauses() {
    assert_eq!(breaks(SPMV, "owned v6 -> v6", "owned v6 -> length(a5)"), [12]);
    assert_eq!(breaks(SPMV, "let v5 =", "let v6 = 0 let v5 =").first(), Some(&3));
    assert_eq!(breaks(SPMV, "work v2 -> a0[v2]", "work v2 -> length(a4)"), [12]);
    assert_eq!(breaks(SPMV, "work v2 -> a0[v2]", "work v2 -> v5 as index"), [12]);
    assert_eq!(breaks(COPY, "aligned a7", "aligned a2"), [12]);
    assert_eq!(breaks(COPY, "aligned a7", "aligned a3"), [12]);
}

#[test]
fn rule_13_parameters() {
    assert_eq!(breaks(SPMV, "A2_pos index(u32)", "A2_pos index(u64)"), [13]);
    assert_eq!(breaks(SPMV, "positions t0 1", "coordinates t0 1"), [13]);
    assert_eq!(breaks(SPMV, "row f64 local", "row f64 values t2").first(), Some(&13));
    assert_eq!(breaks(SHARED, "array a3 Y_vals f64 values t1", ""), [13]);
    assert_eq!(breaks(SHARED, "f64 values t0", "f32 values t0"), [13]);
}

#[test]
fn rule_14_tensors() {
    assert_eq!(breaks(SPMV, "(d0, d1) input", "(d0, d1) sorted t1"), [14]);
    assert_eq!(breaks(SPMV, "(d1) input", "(d1, d1) input"), [14]);
    assert_eq!(breaks(SPMV, "(d1) input", "(d1) input pattern t0"), [14]);
    assert_eq!(breaks(SPMV, "(d1) input", "(d1) input pattern t1"), [14]);
    assert_eq!(breaks(SHARED, "[compressed, dense] (d0, d1) input", "(i) -> [i: compressed] (d0, d1) input"), [14]);
    assert_eq!(breaks(SHARED, "shared t0 1", "shared t0 3"), [14]);
    assert_eq!(breaks(SHARED, "shared t0 1", "shared t0 0"), [14]);
    assert_eq!(breaks(SHARED, "shared t0 1", "shared t1 1"), [14]);
    assert_eq!(breaks(SHARED, "overwritten", "empty"), [14]);
    assert_eq!(breaks(COPY, "empty", "zero"), [14]);
    assert_eq!(breaks(COPY, "sorted t0", "sorted t1"), [14]);
    assert_eq!(breaks(SPMV, "y f64 [dense]", "y f64 [compressed]").first(), Some(&14));
}

#[test]
fn rule_15_vector_loops() {
    assert_eq!(breaks(SPMV, "v4 += a2[v3]", "while false {} v4 += a2[v3]"), [15]);
    assert_eq!(breaks(SPMV, "v4 += a2[v3]", "v4 = a2[v3]"), [15]);
    assert_eq!(breaks(COPY, "a0[v2 + 1] {", "a0[v2 + 1] vector {"), [15]);
    assert_eq!(breaks(SPMV, "a5[0] = v5", "for v2 in 0..1 vector { parallel v0..v1 in 0..1 {} }"), [15]);
}

#[test]
fn rule_16_reductions() {
    assert_eq!(breaks(SPMV, "v4 += a2", "v4 |= a2"), [16]);
    assert_eq!(breaks(SPMV, "a6[0] += a7[0]", "a6[0] &= a7[0]"), [16]);
    assert_eq!(breaks(SPMV, "private +", "private |"), [9, 16].iter().copied().rev().collect::<Vec<_>>());
}

#[test]
fn rule_17_names() {
    assert_eq!(breaks(SPMV, "a7 buffer", "a7 row"), [17]);
}

#[test]
fn rule_18_branches() {
    assert_eq!(breaks(SPMV, "a5[0] = v5", "if else {}"), [18]);
}

#[test]
fn rule_20_uneven_work() {
    let other =
        "uneven parallel v0..v1 in 0..d0 sharing a4 private + sharing a5 private + reducing v5 + { a4[v0] += 1.0f64 }";
    let uneven = SPMV.replace("    }\n    a5[0] = v5", &format!("    }} {other}\n    a5[0] = v5"));
    assert_eq!(violations(&uneven), []);
    assert_eq!(breaks(&uneven, "sharing a4 private +", ""), [20, 9]);
    assert_eq!(breaks(&uneven, "reducing v5 + { a4", "{ a4"), [20]);
    let again =
        "+= 1.0f64 } uneven parallel v0..v1 in 0..d0 sharing a4 private + sharing a5 private + reducing v5 + {}";
    assert_eq!(breaks(&uneven, "+= 1.0f64 }", again), [20]);
    assert_eq!(breaks(&uneven, "a4[v0] += 1.0f64", "a4[v9] += 1.0f64"), [1]);
}

#[test]
fn all_problems_come_at_once() {
    let text = SPMV.replace("a5[0] += v4", "a5[0] = v4").replace("A2_pos index(u32)", "A2_pos index(u64)");
    let rules: Vec<u32> = violations(&text).iter().map(|violation| violation.rule).collect();
    assert_eq!(rules, [13, 9]);
}

#[test]
fn rule_19_bitmaps() {
    assert_eq!(violations(MARKS), []);
    assert_eq!(breaks(MARKS, "mark a1, 3", "mark a0, 3"), [19]);
    assert_eq!(breaks(MARKS, "mark a1, 3", "a1[0] = 3"), [19]);
    assert_eq!(breaks(MARKS, "a0[v0] += 1.0f64", "mark a1, v0"), [5]);
    assert_eq!(breaks(MARKS, "marked v0 in a1 {", "marked v0 in a0 {"), [19, 5]);
    assert_eq!(breaks(MARKS, "mark a1, 3", "for v0 in 0..d0 vector { mark a1, v0 }"), [15]);
    assert_eq!(breaks(MARKS, "bitmap a1 of d0", ""), [5]);
}

#[test]
fn rule_19_directories() {
    assert_eq!(violations(LOOKS_UP), []);
    assert_eq!(breaks(LOOKS_UP, "by a7[0]", "by a4[0]"), [19]);
    assert_eq!(breaks(LOOKS_UP, "a5[v2]\n", "a5[a7[v2]]\n"), [19]);
    assert_eq!(breaks(LOOKS_UP, "a7[0]", "a7[true]"), [2]);
    assert_eq!(breaks(LOOKS_UP, "directory a7 of a4 by a3 below d1 for a1", ""), [5]);
    assert_eq!(breaks(LOOKS_UP, "directory a7 of a4", "directory a7 of a5"), [2]);
}
