//! Passes on small bodies, as text before and after.

use super::{
    children::children, codes::codes, directories::directories, dots::dots, flatten::flatten, hoist::hoist,
    lanes::lanes, long::long, masks::masks, merges::merges, neighbours::neighbours, overwritten::overwritten,
    runs::runs, slices::slices, strips::strips, tidy::tidy, views::views,
};
use crate::ir::{Kernel, verify, with_loops};
use insta::assert_snapshot;

const DECLARATIONS: &str = "kernel k {
  dimension d0 n runtime
  dimension d1 R runtime
  dimension d2 S generic
  tensor t0 A f64 [dense, compressed] (d0, d0) input
  tensor t1 B f64 [dense, dense] (d0, d1) input
  tensor t2 Y f64 [dense, dense] (d0, d1) output dense zero
  array a0 A2_pos index(u32) positions t0 1
  array a1 A2_crd index(u32) coordinates t0 1
  array a2 A_vals f64 values t0
  array a3 B f64 values t1
  array a4 Y f64 values t2
  array a5 w f64 local
  variable v0 i index
  variable v1 p index
  variable v2 r index
  variable v3 t f64 mutable
  variable v4 b bool
  variable v5 m index mutable
  variable v6 j index
  variable v7 c bool
  variable v8 low index
  variable v9 high index
  body {";

/// The body after a pass.
///
/// # Panics
/// When the kernel is not valid before or after it.
fn after(pass: fn(Kernel) -> Kernel, body: &str) -> String {
    after_in(DECLARATIONS, pass, body)
}

/// A kernel of which this is the body, after a pass.
fn whole_after_in(declarations: &str, pass: fn(Kernel) -> Kernel, body: &str) -> String {
    let kernel = crate::ir::parse(&format!("{declarations}{body}}} }}"), crate::level::named)
        .unwrap_or_else(|error| panic!("{error}: {body}"));
    let before = verify(kernel).unwrap_or_else(|violations| panic!("{violations:?}: {body}")).into_inner();
    verify(pass(before)).unwrap_or_else(|violations| panic!("{violations:?}: {body}")).to_string()
}

fn after_in(declarations: &str, pass: fn(Kernel) -> Kernel, body: &str) -> String {
    let text = whole_after_in(declarations, pass, body);
    let start = text.find("  body {").expect("a kernel has a body");
    text[start..].lines().filter_map(|line| line.strip_prefix("    ")).collect::<Vec<_>>().join("\n")
}

mod tidying {
    use super::*;

    #[test]
    fn variables_that_are_not_read_go_and_so_does_what_only_they_read() {
        assert_snapshot!(after(tidy, "let v6 = a1[0] let v0 = v6 a4[0] = 1.0f64"), @"a4:Y[0] = 1.0f64");
    }

    #[test]
    fn what_is_read_stays() {
        assert_snapshot!(after(tidy, "let v0 = a1[0] a4[v0] = 1.0f64"), @r"
        let v0:i = a1:A2_crd[0]
        a4:Y[v0:i] = 1.0f64
        ");
    }

    #[test]
    fn a_sum_that_is_not_read_goes_with_its_loop() {
        assert_snapshot!(after(tidy, "let v3 = 0.0f64 for v1 in 0..d0 { v3 += a2[v1] } a4[0] = 1.0f64"), @"a4:Y[0] = 1.0f64");
    }

    #[test]
    fn a_sum_that_is_read_in_its_own_loop_stays() {
        assert_snapshot!(after(tidy, "let v3 = 0.0f64 for v1 in 0..d0 { v3 += a2[v1] a4[v1] = v3 }"), @r"
        let v3:t = 0.0f64
        for v1:p in 0..d0:n {
          v3:t += a2:A_vals[v1:p]
          a4:Y[v1:p] = v3:t
        }
        ");
    }

    #[test]
    fn a_variable_is_declared_where_it_gets_a_value_that_is_read() {
        assert_snapshot!(after(tidy, "let v3 = 0.0f64 a4[1] = 1.0f64 v3 = a2[0] a4[0] = v3"), @r"
        a4:Y[1] = 1.0f64
        let v3:t = a2:A_vals[0]
        a4:Y[0] = v3:t
        ");
    }

    #[test]
    fn a_first_value_that_may_be_read_stays() {
        for body in [
            "let v3 = 0.0f64 v3 = a2[0] + v3 a4[0] = v3",
            "let v3 = 0.0f64 if d0 < 3 { v3 = a2[0] } a4[0] = v3",
            "let v3 = 0.0f64 for v1 in 0..d0 { v3 = a2[v1] } a4[0] = v3",
            "let v3 = 0.0f64 v3 += a2[0] a4[0] = v3",
            "let v3 = 0.0f64 a4[1] = v3 v3 = a2[0] a4[0] = v3",
        ] {
            assert_eq!(after(tidy, body), after(|kernel| kernel, body));
        }
    }

    #[test]
    fn names_for_names_and_for_truth_values_are_replaced() {
        assert_snapshot!(after(tidy, "let v6 = a1[0] let v0 = v6 let v4 = true if v4 && v0 < 3 { a4[v0] = 1.0f64 }"), @r"
        let v6:j = a1:A2_crd[0]
        if v6:j < 3 {
          a4:Y[v6:j] = 1.0f64
        }
        ");
    }

    #[test]
    fn a_variable_that_changes_is_not_replaced() {
        assert_snapshot!(
            after(tidy, "let v5 = a1[0] let v0 = v5 v5 = v5 + 1 a4[v0] = 1.0f64 a4[v5] = 2.0f64"), @r"
        let v5:m = a1:A2_crd[0]
        let v0:i = v5:m
        v5:m = v5:m + 1
        a4:Y[v0:i] = 1.0f64
        a4:Y[v5:m] = 2.0f64
        ");
    }

    #[test]
    fn a_condition_that_holds_ends_the_branches() {
        let body =
            "let v0 = a1[0] if v0 < 3 { a4[0] = 1.0f64 } else if true { a4[1] = 1.0f64 } else { a4[2] = 1.0f64 }";
        assert_snapshot!(after(tidy, body), @r"
        let v0:i = a1:A2_crd[0]
        if v0:i < 3 {
          a4:Y[0] = 1.0f64
        } else {
          a4:Y[1] = 1.0f64
        }
        ");
    }

    #[test]
    fn a_condition_that_never_holds_goes() {
        assert_snapshot!(after(tidy, "if false { a4[0] = 1.0f64 } else { a4[2] = 1.0f64 }"), @"a4:Y[2] = 1.0f64");
    }

    #[test]
    fn an_empty_branch_stays_before_others_that_it_shields() {
        assert_snapshot!(after(tidy, "if d0 < 3 { } else if d0 < 5 { a4[1] = 1.0f64 } else if d0 < 7 { }"), @r"
        if d0:n < 3 {} else if d0:n < 5 {
          a4:Y[1] = 1.0f64
        }
        ");
    }

    #[test]
    fn loops_that_do_nothing_go_with_their_comments() {
        let body = "// every i\n for v0 in 0..d0 { // every j\n for v1 in 0..d0 { } } // every r\n for v2 in 0..d1 { a4[v2] = 1.0f64 }";
        assert_snapshot!(after(tidy, body), @r"
        // every r
        for v2:r in 0..d1:R {
          a4:Y[v2:r] = 1.0f64
        }
        ");
    }

    #[test]
    fn cursors_that_are_read_stay() {
        assert_snapshot!(after(tidy, "let v5 = 0 while v5 < d0 { v5 = v5 + 1 } a4[0] = 1.0f64"), @r"
        let v5:m = 0
        while v5:m < d0:n {
          v5:m = v5:m + 1
        }
        a4:Y[0] = 1.0f64
        ");
    }

    #[test]
    fn a_reduction_across_chunks_is_a_use() {
        let body = "let v3 = 0.0f64 parallel v8..v9 in 0..d0 sharing a4 private + reducing v3 + { v3 += 1.0f64 a4[0] += 1.0f64 }";
        assert_snapshot!(after(tidy, body), @r"
        let v3:t = 0.0f64
        parallel v8:low..v9:high in 0..d0:n
            sharing a4:Y private +
            reducing v3:t +
        {
          v3:t += 1.0f64
          a4:Y[0] += 1.0f64
        }
        ");
    }
}

mod hoisting {
    use super::*;

    #[test]
    fn loads_that_do_not_change_move_before_a_vector_loop() {
        assert_snapshot!(after(hoist, "for v1 in 0..d0 { for v2 in 0..d1 vector { a4[v2] += a2[v1] * a3[v2] * a2[v1] } }"), @r"
        for v1:p in 0..d0:n {
          let v10:A_val = a2:A_vals[v1:p]
          for v2:r in 0..d1:R vector {
            a4:Y[v2:r] += v10:A_val * a3:B[v2:r] * v10:A_val
          }
        }
        ");
    }

    #[test]
    fn what_the_loop_writes_stays() {
        assert_snapshot!(after(hoist, "for v1 in 0..d0 { for v2 in 0..d1 vector { a4[v2] = a4[v1] + 1.0f64 } }"), @r"
        for v1:p in 0..d0:n {
          for v2:r in 0..d1:R vector {
            a4:Y[v2:r] = a4:Y[v1:p] + 1.0f64
          }
        }
        ");
    }

    #[test]
    fn what_depends_on_the_loop_stays() {
        assert_snapshot!(
            after(hoist, "for v2 in 0..d1 vector { let v6 = a1[v2] a4[v2] = a3[v6] + a3[v2 + 1] }"), @r"
        for v2:r in 0..d1:R vector {
          let v6:j = a1:A2_crd[v2:r]
          a4:Y[v2:r] = a3:B[v6:j] + a3:B[v2:r + 1]
        }
        ");
    }

    #[test]
    fn loops_that_are_no_vectors_are_left_alone() {
        assert_snapshot!(after(hoist, "for v1 in 0..d0 { for v2 in 0..d1 { a4[v2] += a2[v1] } }"), @r"
        for v1:p in 0..d0:n {
          for v2:r in 0..d1:R {
            a4:Y[v2:r] += a2:A_vals[v1:p]
          }
        }
        ");
    }

    #[test]
    fn indices_are_not_hoisted_by_themselves() {
        assert_snapshot!(after(hoist, "for v2 in 0..d1 vector { a4[v2] += a3[a1[0] + v2] + a3[a1[0]] }"), @r"
        let v10:B_val = a3:B[a1:A2_crd[0]]
        for v2:r in 0..d1:R vector {
          a4:Y[v2:r] += a3:B[a1:A2_crd[0] + v2:r] + v10:B_val
        }
        ");
    }

    #[test]
    fn a_load_that_is_not_made_for_certain_stays() {
        assert_snapshot!(
            after(hoist, "for v1 in 0..d0 { for v2 in 0..d1 vector { if v1 < 3 { a4[v2] += a2[v1] } } }"), @r"
        for v1:p in 0..d0:n {
          for v2:r in 0..d1:R vector {
            if v1:p < 3 {
              a4:Y[v2:r] += a2:A_vals[v1:p]
            }
          }
        }
        ");
    }

    #[test]
    fn what_a_branch_writes_stays() {
        let body = "for v2 in 0..d1 vector { if v2 < 3 { a4[0] = 1.0f64 } a4[v2] = a4[0] }";
        assert_snapshot!(after(hoist, body), @r"
        for v2:r in 0..d1:R vector {
          if v2:r < 3 {
            a4:Y[0] = 1.0f64
          }
          a4:Y[v2:r] = a4:Y[0]
        }
        ");
    }

    #[test]
    fn what_a_branch_declares_stays_there() {
        assert_snapshot!(
            after(hoist, "for v2 in 0..d1 vector { if v2 < 3 { let v6 = a1[v2] a4[v6] = a4[0] + a2[v6] } }"), @r"
        for v2:r in 0..d1:R vector {
          if v2:r < 3 {
            let v6:j = a1:A2_crd[v2:r]
            a4:Y[v6:j] = a4:Y[0] + a2:A_vals[v6:j]
          }
        }
        ");
    }
}

mod sums_of_products {
    use super::*;

    const RUN: &str = "for v0 in 0..d0 { let v3 = 0.0f64 for v1 in a0[v0]..a0[v0 + 1] {";

    #[test]
    fn a_run_times_what_an_input_has_at_its_coordinates_is_one() {
        let body = format!("{RUN} let v6 = a1[v1] v3 += a2[v1] * a3[v6] }} a4[v0] = v3 }}");
        assert_snapshot!(after(dots, &body), @r"
        for v0:i in 0..d0:n {
          let v3:t = 0.0f64
          let v10:first = a0:A2_pos[v0:i]
          let v11:entries = a0:A2_pos[v0:i + 1] - v10:first
          view a6:A_run of a2:A_vals from v10:first length v11:entries
          view a7:A2_crd_run of a1:A2_crd from v10:first length v11:entries
          v3:t += fold(+, (a6:A_run * a3:B at a7:A2_crd_run))
          a4:Y[v0:i] = v3:t
        }
        ");
    }

    #[test]
    fn a_share_of_a_run_may_end_before_it_begins() {
        let body = "let v3 = 0.0f64 for v1 in maximum(a0[0], 3)..minimum(a0[1], 5) { v3 += a2[v1] } a4[0] = v3";
        assert_snapshot!(after(dots, body), @r"
        let v3:t = 0.0f64
        let v10:first = maximum(a0:A2_pos[0], 3)
        let v11:entries = maximum(minimum(a0:A2_pos[1], 5), v10:first) - v10:first
        view a6:A_run of a2:A_vals from v10:first length v11:entries
        v3:t += fold(+, a6:A_run)
        a4:Y[0] = v3:t
        ");
    }

    #[test]
    fn two_dense_rows_are_one() {
        let body = "let v3 = 0.0f64 for v2 in 0..d1 { v3 += a3[v2] * a3[d1 + v2] } a4[0] = v3";
        assert_snapshot!(after(dots, body), @r"
        let v3:t = 0.0f64
        view a6:B_row of a3:B from 0 length d1:R
        view a7:B_row_2 of a3:B from d1:R length d1:R
        v3:t += fold(+, (a6:B_row * a7:B_row_2))
        a4:Y[0] = v3:t
        ");
    }

    #[test]
    fn a_term_is_any_tree_of_loads_and_operators() {
        for (update, fold) in [
            ("v3 += a2[v1] + a3[v6]", "v3:t += fold(+, (a6:A_run + a3:B at a7:A2_crd_run))"),
            ("v3 += a2[v1] * 2.0f64", "v3:t += fold(+, (a6:A_run * same(2.0f64)))"),
            ("v3 min= a2[v1] + a3[v6]", "v3:t min= fold(min, (a6:A_run + a3:B at a7:A2_crd_run))"),
            ("v3 max= min(a2[v1], a3[v6])", "v3:t max= fold(max, min(a6:A_run, a3:B at a7:A2_crd_run))"),
            ("v3 *= -a2[v1]", "v3:t *= fold(*, (same(-0.0f64) - a6:A_run))"),
        ] {
            let text = after(dots, &format!("{RUN} let v6 = a1[v1] {update} }} a4[v0] = v3 }}"));
            assert!(text.contains(fold), "{text}");
        }
    }

    #[test]
    fn what_is_no_tree_of_loads_and_operators_stays() {
        for term in ["sqrt(a2[v1])", "a2[v1] * a3[v6 * d1]", "a2[v1] * a4[v6]", "a2[v1] * a2[v1 + 1]"] {
            let body = format!("{RUN} let v6 = a1[v1] v3 += {term} }} a4[v0] = v3 }}");
            assert!(!after(dots, &body).contains("fold(+, "), "{term}");
        }
        let of_total = format!("{RUN} v3 += a2[v1] * v3 }} a4[v0] = v3 }}");
        assert!(!after(dots, &of_total).contains("fold(+, "));
        let of_no_run = "let v3 = 0.0f64 for v1 in 1..d0 { v3 += a2[v1] } a4[0] = v3";
        assert!(!after(dots, of_no_run).contains("fold(+, "));
        let of_two = "let v3 = 0.0f64 for v1 in 0..2 { v3 += a2[v1] } a4[0] = v3";
        assert!(!after(dots, of_two).contains("fold(+, "));
    }

    #[test]
    fn a_run_of_what_is_written_later_in_the_block_stays() {
        let body = "let v3 = 0.0f64 for v1 in a0[0]..a0[1] { v3 += a4[v1] } a4[0] = v3";
        assert!(!after(dots, body).contains("fold(+, "));
    }
}

mod sums_of_slices {
    use super::*;

    /// A loop over rows of slices of eight, with what is done with each sum.
    fn loop_over_rows(then: &str) -> String {
        let first = "a0[v0 / 8] + v0 % 8";
        let end = format!("{first} + (a0[v0 / 8 + 1] - a0[v0 / 8])");
        format!(
            "parallel v8..v9 in 0..d0 work v1 -> a0[v1 / 8] sharing a4 owned v6 -> v6 {{
                for v0 in v8..v9 {{
                    let v3 = 0.0f64
                    for v2 in 0..(filling(a1, {first}, {end}, 4294967295; 8) - ({first})) / 8 {{
                        let v1 = {first} + v2 * 8
                        let v6 = a1[v1]
                        v3 += a2[v1] * a3[v6]
                    }}
                    {then}
                }}
            }}"
        )
    }

    fn after_slices(body: &str) -> String {
        after_in(&DECLARATIONS.replacen("[dense, compressed]", "[dense, sliced]", 1), slices, body)
    }

    #[test]
    fn all_rows_of_a_slice_are_summed_at_once() {
        assert_snapshot!(after_slices(&loop_over_rows("a4[v0] = v3")), @r"
        parallel v8:low..v9:high in 0..(d0:n + 7) / 8
            work v1:p -> a0:A2_pos[v1:p]
            sharing a4:Y owned v6:j -> v6:j * 8
        {
          for v10:slice in v8:low..v9:high {
            let v11:begin = a0:A2_pos[v10:slice]
            let v12:entries = a0:A2_pos[v10:slice + 1] - v11:begin
            view a6:A_slice of a2:A_vals from v11:begin length v12:entries
            view a7:A2_crd_slice of a1:A2_crd from v11:begin length v12:entries
            allocate a8:sums[8] = 0.0f64
            folds a8:sums = fold(+, (a6:A_slice * a3:B at filled a7:A2_crd_slice))
            let v13:first = v10:slice * 8
            for v0:i in v13:first..minimum(v13:first + 8, d0:n) {
              let v3:t = a8:sums[v0:i - v13:first]
              a4:Y[v0:i] = v3:t
            }
          }
        }
        ");
    }

    #[test]
    fn sums_that_do_not_begin_at_zero_stay() {
        let body = loop_over_rows("a4[v0] = v3");
        assert!(!after_slices(&body.replace("0.0f64", "1.0f64")).contains("dots "));
        assert!(!after_slices(&body.replace("v2 * 8", "v2 * 4")).contains("dots "));
        assert!(!after_slices(&body.replace("a2[v1] * a3[v6]", "a2[v1]")).contains("dots "), "filling is no entry");
    }
}

mod sums_of_neighbours {
    use super::*;

    const LOOP: &str = "parallel v8..v9 in 0..d0 sharing a4 owned v6 -> v6 {
        for v0 in v8..v9 { let v3 = 0.0f64 for v1 in a0[v0]..a0[v0 + 1] { v3 += a2[v1] * a3[a1[v1]] }";

    #[test]
    fn sums_that_are_stored_side_by_side_are_formed_where_they_are_stored() {
        assert_snapshot!(after(neighbours, &format!("{LOOP} a4[v0] = v3 }} }}")), @r"
        parallel v8:low..v9:high in 0..d0:n
            sharing a4:Y owned v6:j -> v6:j
        {
          let v10:count = v9:high - v8:low
          view a6:A2_pos_run of a0:A2_pos from v8:low length v10:count + 1
          view a7:A_run of a2:A_vals from 0 length a6:A2_pos_run[v10:count]
          view a8:A2_crd_run of a1:A2_crd from 0 length a6:A2_pos_run[v10:count]
          view mutable a9:Y_run of a4:Y from v8:low length v10:count
          folds a9:Y_run = fold(+, (a7:A_run * a3:B at a8:A2_crd_run)) between a6:A2_pos_run
        }
        ");
    }

    #[test]
    fn what_more_is_done_with_sums_is_done_behind_them() {
        assert_snapshot!(after(neighbours, &format!("{LOOP} a4[v0] = v3 * a3[v0] }} }}")), @r"
        parallel v8:low..v9:high in 0..d0:n
            sharing a4:Y owned v6:j -> v6:j
        {
          for v10:block in 0..(maximum(v9:high, v8:low) - v8:low + 63) / 64 {
            let v11:first = v8:low + v10:block * 64
            let v12:count = minimum(v9:high - v11:first, 64)
            view a6:A2_pos_run of a0:A2_pos from v11:first length v12:count + 1
            view a7:A_run of a2:A_vals from 0 length a6:A2_pos_run[v12:count]
            view a8:A2_crd_run of a1:A2_crd from 0 length a6:A2_pos_run[v12:count]
            allocate a9:sums[64] = 0.0f64
            view mutable a10:sums_run of a9:sums from 0 length v12:count
            folds a10:sums_run = fold(+, (a7:A_run * a3:B at a8:A2_crd_run)) between a6:A2_pos_run
            for v0:i in v11:first..v11:first + v12:count {
              let v3:t = a10:sums_run[v0:i - v11:first]
              a4:Y[v0:i] = v3:t * a3:B[v0:i]
            }
          }
        }
        ");
    }

    #[test]
    fn sums_of_other_loops_stay() {
        let stays = |body: &str| assert!(!after(neighbours, body).contains("dots "), "{body}");
        // It is not known how many neighbours there are.
        stays(
            &LOOP
                .replace("for v0 in", "for v2 in v8..v9 { for v0 in")
                .replace("v8..v9 { let", "a0[v2]..a0[v2 + 1] { let")
                .replace("a1[v1]] }", "a1[v1]] } a4[v0] = v3 } } }"),
        );
        // The runs do not begin where others end.
        stays(&format!("{} a4[v0] = v3 }} }}", LOOP.replace("a0[v0 + 1]", "a0[v0 + 2]")));
        // The sum does not begin at zero.
        stays(&format!("{} a4[v0] = v3 }} }}", LOOP.replace("0.0f64", "1.0f64")));
        stays(&format!("{} a4[v0] = v3 }} }}", LOOP.replace("0.0f64", "0.0f64 v3 += 1.0f64")));
    }
}

mod viewing {
    use super::*;

    #[test]
    fn rows_get_a_name() {
        assert_snapshot!(after(views, "for v0 in 0..d0 { for v2 in 0..d1 vector { a4[v0 * d1 + v2] += a3[v0 * d1 + v2] } }"), @r"
        for v0:i in 0..d0:n {
          view a6:B_row of a3:B from v0:i * d1:R length d1:R
          view mutable a7:Y_row of a4:Y from v0:i * d1:R length d1:R
          for v2:r in 0..d1:R vector {
            a7:Y_row[v2:r] += a6:B_row[v2:r]
          }
        }
        ");
    }

    #[test]
    fn a_loop_that_is_no_vector_has_no_rows() {
        assert_snapshot!(after(views, "for v2 in 0..d1 { a4[v2] += 1.0f64 }"), @r"
        for v2:r in 0..d1:R {
          a4:Y[v2:r] += 1.0f64
        }
        ");
    }

    #[test]
    fn two_places_in_one_array_are_no_row() {
        assert_snapshot!(after(views, "for v2 in 0..d1 vector { a4[v2] = a3[v2] + a3[d1 + v2] }"), @r"
        view mutable a6:Y_row of a4:Y from 0 length d1:R
        for v2:r in 0..d1:R vector {
          a6:Y_row[v2:r] = a3:B[v2:r] + a3:B[d1:R + v2:r]
        }
        ");
    }

    #[test]
    fn a_base_that_changes_in_the_loop_makes_no_row() {
        assert_snapshot!(after(views, "for v2 in 0..d1 vector { let v6 = a1[v2] a4[v2] = a3[v6 + v2] }"), @r"
        view a6:A2_crd_row of a1:A2_crd from 0 length d1:R
        view mutable a7:Y_row of a4:Y from 0 length d1:R
        for v2:r in 0..d1:R vector {
          let v6:j = a6:A2_crd_row[v2:r]
          a7:Y_row[v2:r] = a3:B[v6:j + v2:r]
        }
        ");
    }

    #[test]
    fn strides_and_gathers_are_no_rows() {
        assert_snapshot!(after(views, "for v2 in 0..d1 vector { a4[v2] = a3[v2 * d0] + a3[a1[v2]] }"), @r"
        view a6:A2_crd_row of a1:A2_crd from 0 length d1:R
        view mutable a7:Y_row of a4:Y from 0 length d1:R
        for v2:r in 0..d1:R vector {
          a7:Y_row[v2:r] = a3:B[v2:r * d0:n] + a3:B[a6:A2_crd_row[v2:r]]
        }
        ");
    }

    #[test]
    fn a_local_row_of_an_extent_that_the_target_knows_needs_no_view() {
        assert_snapshot!(after(views, "allocate a5[d2] = 0.0f64 for v2 in 0..d2 vector { a5[v2] += a3[v2] } a4[0] = a5[0]"), @r"
        allocate a5:w[d2:S] = 0.0f64
        view a6:B_row of a3:B from 0 length d2:S
        for v2:r in 0..d2:S vector {
          a5:w[v2:r] += a6:B_row[v2:r]
        }
        a4:Y[0] = a5:w[0]
        ");
    }

    #[test]
    fn what_is_used_later_in_the_block_is_not_viewed() {
        assert_snapshot!(after(views, "for v2 in 0..d1 vector { a4[v2] = a3[v2] } a4[0] += 1.0f64"), @r"
        view a6:B_row of a3:B from 0 length d1:R
        for v2:r in 0..d1:R vector {
          a4:Y[v2:r] = a6:B_row[v2:r]
        }
        a4:Y[0] += 1.0f64
        ");
    }

    #[test]
    fn a_view_ends_where_the_next_one_begins() {
        let body = "for v2 in 0..16 vector { a4[v0 * d1 + v2] += a3[v2] } for v2 in 0..16 vector { a4[v0 * d1 + 16 + v2] += a3[v2] }";
        let text = after(views, &format!("for v0 in 0..d0 {{ {body} }}"));
        assert_eq!(text.matches("view mutable").count(), 2, "{text}");
        // Where the second can't be viewed, as something else follows, neither can the first.
        let text = after(views, &format!("for v0 in 0..d0 {{ {body} a4[0] += 1.0f64 }}"));
        assert_eq!(text.matches("view mutable").count(), 0, "{text}");
    }

    #[test]
    fn branches_keep_their_rows_to_themselves() {
        assert_snapshot!(after(views, "for v2 in 0..d1 vector { if v2 < 3 { a4[v2] = a3[v2] } }"), @r"
        for v2:r in 0..d1:R vector {
          if v2:r < 3 {
            a4:Y[v2:r] = a3:B[v2:r]
          }
        }
        ");
    }
}

#[test]
fn tidy_code_stays_as_it_is() {
    let body = "for v0 in 0..d0 { let v4 = true let v6 = v0 if v4 { a4[v6] = 1.0f64 } }";
    let once = after(tidy, body);
    assert_eq!(after(|kernel| tidy(tidy(kernel)), body), once);
}

mod sums_in_lanes {
    use super::*;

    #[test]
    fn a_sum_over_rows_runs_in_lanes_and_what_is_left_of_the_row_does_not() {
        let sum = "let v3 = 0.0f64 for v2 in 0..d1 { v3 += a3[v0 * d1 + v2] * a2[v2] }";
        assert_snapshot!(after(lanes, &format!("for v0 in 0..d0 {{ {sum} a4[v0] = v3 }}")), @r"
        for v0:i in 0..d0:n {
          let v3:t = 0.0f64
          allocate a6:lanes[8] = 0.0f64
          for v10:block in 0..d1:R / 8 {
            for v11:lane in 0..8 vector {
              a6:lanes[v11:lane] += a3:B[v0:i * d1:R + v10:block * 8 + v11:lane] * a2:A_vals[v10:block * 8 + v11:lane]
            }
          }
          for v2:r in d1:R / 8 * 8..d1:R {
            v3:t += a3:B[v0:i * d1:R + v2:r] * a2:A_vals[v2:r]
          }
          for v12:lane in 0..4 vector {
            a6:lanes[v12:lane] += a6:lanes[v12:lane + 4]
          }
          for v13:lane in 0..2 vector {
            a6:lanes[v13:lane] += a6:lanes[v13:lane + 2]
          }
          v3:t += a6:lanes[0] + a6:lanes[1]
          a4:Y[v0:i] = v3:t
        }
        ");
    }

    #[test]
    fn a_sum_over_stored_entries_runs_in_four_lanes() {
        let body = "let v3 = 0.0f64 for v1 in a0[0]..a0[1] { let v6 = a1[v1] v3 += a2[v1] * a3[v6] } a4[0] = v3";
        assert_snapshot!(after(lanes, body), @r"
        let v3:t = 0.0f64
        allocate a6:lanes[4] = 0.0f64
        let v10:first = a0:A2_pos[0]
        let v11:blocks = (a0:A2_pos[1] - v10:first) / 4
        for v12:block in 0..v11:blocks {
          for v13:lane in 0..4 vector {
            let v6:j = a1:A2_crd[v10:first + v12:block * 4 + v13:lane]
            a6:lanes[v13:lane] += a2:A_vals[v10:first + v12:block * 4 + v13:lane] * a3:B[v6:j]
          }
        }
        for v1:p in v10:first + v11:blocks * 4..a0:A2_pos[1] {
          let v6:j = a1:A2_crd[v1:p]
          v3:t += a2:A_vals[v1:p] * a3:B[v6:j]
        }
        for v14:lane in 0..2 vector {
          a6:lanes[v14:lane] += a6:lanes[v14:lane + 2]
        }
        v3:t += a6:lanes[0] + a6:lanes[1]
        a4:Y[0] = v3:t
        ");
    }

    #[test]
    fn other_loops_stay() {
        for stays in [
            // The elements do not lie side by side.
            "let v3 = 0.0f64 for v2 in 0..d1 { v3 += a3[v2 * d1] }",
            "let v3 = 0.0f64 for v2 in 0..d1 { v3 += a3[a1[v2]] }",
            // There are too few.
            "let v3 = 0.0f64 for v2 in 0..7 { v3 += a3[v2] }",
        ] {
            let text = after(lanes, stays);
            assert!(!text.contains("lane"), "{text}");
        }
    }
}

mod flattening {
    use super::*;

    #[test]
    fn children_whose_parent_is_not_read_are_one_range() {
        let inner = "for v1 in a0[v0]..a0[v0 + 1] { a4[v1] = a2[v1] }";
        assert_snapshot!(after(flatten, &format!("for v0 in 2..d0 {{ {inner} }}")), @r"
        for v1:p in a0:A2_pos[2]..a0:A2_pos[d0:n] {
          a4:Y[v1:p] = a2:A_vals[v1:p]
        }
        ");
    }

    #[test]
    fn parents_that_do_more_stay() {
        for stays in [
            "for v0 in 0..d0 { for v1 in a0[v0]..a0[v0 + 1] { a4[v0] = a2[v1] } }",
            "for v0 in 0..d0 { let v3 = 0.0f64 for v1 in a0[v0]..a0[v0 + 1] { v3 += a2[v1] } a4[v0] = v3 }",
            "for v0 in 0..d0 { for v1 in a0[v0]..a0[v0 + 2] { a4[v1] += a2[v1] } }",
            "for v0 in 0..d0 { for v1 in a1[v0]..a1[v0 + 1] { a4[v1] = a2[v1] } }",
        ] {
            let text = after(flatten, stays);
            assert!(text.contains("for v0:i in 0..d0:n"), "{text}");
        }
    }
}

mod ranges_of_children {
    use super::*;

    #[test]
    fn a_loop_whose_chunks_ask_for_children_alone_is_cut_at_children() {
        let body = "parallel v8..v9 in 2..d0 work v6 -> a0[v6] sharing a4 owned v0 -> a0[v0] {
            for v1 in a0[v8]..a0[v9] { a4[v1] = a2[v1] }
        }";
        assert_snapshot!(after(children, body), @r"
        parallel v10:low..v11:high in a0:A2_pos[2]..a0:A2_pos[d0:n]
            sharing a4:Y owned v0:i -> v0:i
        {
          for v1:p in v10:low..v11:high {
            a4:Y[v1:p] = a2:A_vals[v1:p]
          }
        }
        ");
    }

    #[test]
    fn a_chunk_ends_behind_its_beginning() {
        let body = "parallel v8..v9 in 2..d0 sharing a4 owned v0 -> a0[v0] {
            let v6 = a0[v8]
            for v1 in 0..maximum(a0[v9], v6) - v6 { a4[v6 + v1] = a2[v6 + v1] }
        }";
        assert_snapshot!(after(children, body), @r"
        parallel v10:low..v11:high in a0:A2_pos[2]..a0:A2_pos[d0:n]
            sharing a4:Y owned v0:i -> v0:i
        {
          for v1:p in 0..v11:high - v10:low {
            a4:Y[v10:low + v1:p] = a2:A_vals[v10:low + v1:p]
          }
        }
        ");
    }

    #[test]
    fn chunks_that_ask_for_parents_too_stay() {
        for stays in [
            "parallel v8..v9 in 2..d0 sharing a4 owned v0 -> v0 { for v1 in a0[v8]..a0[v9] { a4[v8] += a2[v1] } }",
            "parallel v8..v9 in 2..d0 sharing a4 owned v0 -> v0 { for v1 in a0[v8]..a0[v9] { a4[v1] = a2[v1] } }",
            "parallel v8..v9 in 2..d0 work v6 -> v6 + a0[v6] sharing a4 owned v0 -> a0[v0] {
                for v1 in a0[v8]..a0[v9] { a4[v1] = a2[v1] }
            }",
            "parallel v8..v9 in 2..d0 sharing a4 owned v0 -> a1[v0] { for v1 in a1[v8]..a1[v9] { a4[v1] = a2[v1] } }",
        ] {
            let text = after(children, stays);
            assert!(text.contains("in 2..d0:n"), "{text}");
        }
    }
}

mod masking {
    use super::*;

    #[test]
    fn masks_are_computed_once_before_all_loops() {
        let body = "for v1 in 0..d0 {
            let v0 = gather(v1, mask(0; d0, d1))
            let v6 = gather(v1, mask(1; d0, d1))
            a4[v0] = a3[v6 + scatter(v1, mask(0; d0, d1))]
        }";
        assert_snapshot!(after(masks, body), @r"
        let v10:n_bits = mask(0; d0:n, d1:R)
        let v11:R_bits = mask(1; d0:n, d1:R)
        for v1:p in 0..d0:n {
          let v0:i = gather(v1:p, v10:n_bits)
          let v6:j = gather(v1:p, v11:R_bits)
          a4:Y[v0:i] = a3:B[v6:j + scatter(v1:p, v10:n_bits)]
        }
        ");
    }
}

mod codes_in_eights {
    use super::*;

    const CODED: &str = "kernel k {
      dimension d0 i runtime
      dimension d1 j runtime
      dimension d2 R runtime
      tensor t0 X f64 (i, j) -> [interleave(i, j): compressed(u64)] (d0, d1) input
      tensor t1 B f64 [dense, dense] (d1, d2) input
      tensor t2 x f64 [dense] (d1) input
      tensor t3 Y f64 [dense, dense] (d0, d2) output dense zero
      tensor t4 y f64 [dense] (d0) output dense zero
      array a0 X1_pos index(u32) positions t0 0
      array a1 X1_crd index(u64) coordinates t0 0
      array a2 X_vals f64 values t0
      array a3 B f64 values t1
      array a4 x f64 values t2
      array a5 Y f64 values t3
      array a6 y f64 values t4
      array a7 X1_crd_run index(u64) local
      array a8 X_run f64 local
      array a9 B_row f64 local
      array a10 Y_row f64 local
      variable v0 low index
      variable v1 high index
      variable v2 entries index
      variable v3 entry index
      variable v4 code index
      variable v5 i index
      variable v6 j index
      variable v7 r index
      variable v8 X_val f64
      variable v9 i_bits index
      variable v10 j_bits index
      body {";

    /// The loop over codes in a chunk that shares a result so.
    fn chunk(sharing: &str, inner: &str) -> String {
        format!(
            "let v9 = mask(0; d0, d1)
            let v10 = mask(1; d0, d1)
            parallel v0..v1 in a0[0]..a0[1] sharing {sharing} {{
              let v2 = v1 - v0
              view a7 of a1 from v0 length v2
              view a8 of a2 from v0 length v2
              for v3 in 0..v2 {{
                let v4 = a7[v3]
                let v5 = gather(v4, v9)
                let v6 = gather(v4, v10)
                let v8 = a8[v3]
                {inner}
              }}
            }}"
        )
    }

    #[test]
    fn what_numbers_lead_to_is_found_to_be_there_for_eight_codes() {
        let rows = "view a9 of a3 from v6 * 16 length 16
            view mutable a10 of a5 from v5 * 16 length 16
            for v7 in 0..16 vector { a10[v7] += v8 * a9[v7] }";
        assert_snapshot!(after_in(CODED, codes, &chunk("a5 private +", rows)), @r"
        let v9:i_bits = mask(0; d0:i, d1:j)
        let v10:j_bits = mask(1; d0:i, d1:j)
        parallel v0:low..v1:high in a0:X1_pos[0]..a0:X1_pos[1]
            sharing a5:Y private +
        {
          let v2:entries = v1:high - v0:low
          view a7:X1_crd_run of a1:X1_crd from v0:low length v2:entries
          view a8:X_run of a2:X_vals from v0:low length v2:entries
          let v11:eights = v2:entries / 8
          for v12:eight in 0..v11:eights {
            view a11:X1_crd_eight of a7:X1_crd_run from v12:eight * 8 length 8
            view a12:X_eight of a8:X_run from v12:eight * 8 length 8
            numbers a13:i_eight of a11:X1_crd_eight at v9:i_bits below length(a5:Y) / 16
            numbers a14:j_eight of a11:X1_crd_eight at v10:j_bits below length(a3:B) / 16
            for v13:place in 0..8 {
              let v5:i = a13:i_eight[v13:place]
              let v6:j = a14:j_eight[v13:place]
              let v8:X_val = a12:X_eight[v13:place]
              view a9:B_row of a3:B from v6:j * 16 length 16
              view mutable a10:Y_row of a5:Y from v5:i * 16 length 16
              for v7:r in 0..16 vector {
                a10:Y_row[v7:r] += v8:X_val * a9:B_row[v7:r]
              }
            }
          }
          for v3:entry in v11:eights * 8..v2:entries {
            let v4:code = a7:X1_crd_run[v3:entry]
            let v5:i = gather(v4:code, v9:i_bits)
            let v6:j = gather(v4:code, v10:j_bits)
            let v8:X_val = a8:X_run[v3:entry]
            view a9:B_row of a3:B from v6:j * 16 length 16
            view mutable a10:Y_row of a5:Y from v5:i * 16 length 16
            for v7:r in 0..16 vector {
              a10:Y_row[v7:r] += v8:X_val * a9:B_row[v7:r]
            }
          }
        }
        ");
    }

    #[test]
    fn codes_that_are_needed_besides_are_read_besides() {
        let besides = "view a9 of a3 from v6 * 16 length 16 a6[0] += a9[0] let v7 = v3 + v4";
        let text = after_in(CODED, codes, &chunk("a6 private +", besides));
        let [entry, code] = ["let v3:entry = v12:eight * 8 + v13:place", "let v4:code = a11:X1_crd_eight[v13:place]"];
        assert!(text.contains(entry) && text.contains(code), "{text}");
    }

    #[test]
    fn loops_stay_where_no_bound_is_known_to_be_enough() {
        let of_run_time = "view a9 of a3 from v6 * d2 length d2 a6[0] += a9[0]";
        let long = "view a9 of a3 from v6 * 32 length 32 for v7 in 0..32 vector { a6[0] += a9[v7] }";
        let under_a_condition = "if v8 > 0.0f64 { view a9 of a3 from v6 * 16 length 16 a6[0] += a9[0] }";
        let elsewhere = "view a9 of a3 from (v6 + 1) * 16 length 16 a6[0] += a9[0]";
        for inner in [of_run_time, long, under_a_condition, elsewhere] {
            let body = chunk("a6 private +", inner);
            assert_eq!(after_in(CODED, codes, &body), after_in(CODED, |kernel| kernel, &body));
        }
        let of_a_part = chunk("a5 owned v11 -> v11", "view mutable a10 of a5 from v5 * 16 length 16 a10[0] += v8")
            .replace("let v6 = gather(v4, v10)", "");
        let declared = CODED.replace("body {", "variable v11 place index\n body {");
        assert_eq!(after_in(&declared, codes, &of_a_part), after_in(&declared, |kernel| kernel, &of_a_part));
    }
}

mod strips_of_rows {
    use super::*;

    /// A product of a sparse matrix with a dense one whose rows have so many elements.
    fn product(length: &str) -> String {
        format!(
            "allocate a5[{length}] = 0.0f64
            for v0 in 0..d0 {{
              fill a5 = 0.0f64
              for v1 in a0[v0]..a0[v0 + 1] {{
                for v2 in 0..{length} vector {{ a5[v2] += a2[v1] * a3[a1[v1] * {length} + v2] }}
              }}
              for v2 in 0..{length} vector {{ a4[v0 * {length} + v2] = a5[v2] }}
            }}"
        )
    }

    #[test]
    fn rows_of_an_unknown_length_are_cut_once_for_all() {
        assert_snapshot!(after(strips, &product("d1")), @r"
        allocate a5:w[8] = 0.0f64
        let v10:r_strips = maximum((d1:R + 63) / 64, 1)
        let v11:r_width = (d1:R + (v10:r_strips * 8 - 1)) / (v10:r_strips * 8) * 8
        for v12:r_strip in 0..v10:r_strips {
          let v13:r_first = v12:r_strip * v11:r_width
          let v14:r_left = minimum(d1:R - v13:r_first, v11:r_width)
          if 32 < v14:r_left {
            let v15:r_second = v13:r_first + (v14:r_left - 32)
            for v0:i in 0..d0:n {
              allocate a6:w_tile[32] = 0.0f64
              allocate a7:w_second[32] = 0.0f64
              for v1:p in a0:A2_pos[v0:i]..a0:A2_pos[v0:i + 1] {
                for v2:r in 0..32 vector {
                  a6:w_tile[v2:r] += a2:A_vals[v1:p] * a3:B[a1:A2_crd[v1:p] * d1:R + v13:r_first + v2:r]
                }
                for v2:r in 0..32 vector {
                  a7:w_second[v2:r] += a2:A_vals[v1:p] * a3:B[a1:A2_crd[v1:p] * d1:R + v15:r_second + v2:r]
                }
              }
              for v2:r in 0..32 vector {
                a4:Y[v0:i * d1:R + v13:r_first + v2:r] = a6:w_tile[v2:r]
              }
              for v2:r in 0..32 vector {
                a4:Y[v0:i * d1:R + v15:r_second + v2:r] = a7:w_second[v2:r]
              }
            }
          } else if 16 < v14:r_left {
            let v16:r_second = v13:r_first + (v14:r_left - 16)
            for v0:i in 0..d0:n {
              allocate a8:w_tile_2[16] = 0.0f64
              allocate a9:w_second_2[16] = 0.0f64
              for v1:p in a0:A2_pos[v0:i]..a0:A2_pos[v0:i + 1] {
                for v2:r in 0..16 vector {
                  a8:w_tile_2[v2:r] += a2:A_vals[v1:p] * a3:B[a1:A2_crd[v1:p] * d1:R + v13:r_first + v2:r]
                }
                for v2:r in 0..16 vector {
                  a9:w_second_2[v2:r] += a2:A_vals[v1:p] * a3:B[a1:A2_crd[v1:p] * d1:R + v16:r_second + v2:r]
                }
              }
              for v2:r in 0..16 vector {
                a4:Y[v0:i * d1:R + v13:r_first + v2:r] = a8:w_tile_2[v2:r]
              }
              for v2:r in 0..16 vector {
                a4:Y[v0:i * d1:R + v16:r_second + v2:r] = a9:w_second_2[v2:r]
              }
            }
          } else if 7 < v14:r_left {
            let v17:r_second = v13:r_first + (v14:r_left - 8)
            for v0:i in 0..d0:n {
              allocate a10:w_tile_3[8] = 0.0f64
              allocate a11:w_second_3[8] = 0.0f64
              for v1:p in a0:A2_pos[v0:i]..a0:A2_pos[v0:i + 1] {
                for v2:r in 0..8 vector {
                  a10:w_tile_3[v2:r] += a2:A_vals[v1:p] * a3:B[a1:A2_crd[v1:p] * d1:R + v13:r_first + v2:r]
                }
                for v2:r in 0..8 vector {
                  a11:w_second_3[v2:r] += a2:A_vals[v1:p] * a3:B[a1:A2_crd[v1:p] * d1:R + v17:r_second + v2:r]
                }
              }
              for v2:r in 0..8 vector {
                a4:Y[v0:i * d1:R + v13:r_first + v2:r] = a10:w_tile_3[v2:r]
              }
              for v2:r in 0..8 vector {
                a4:Y[v0:i * d1:R + v17:r_second + v2:r] = a11:w_second_3[v2:r]
              }
            }
          } else {
            for v0:i in 0..d0:n {
              fill a5:w = 0.0f64
              for v1:p in a0:A2_pos[v0:i]..a0:A2_pos[v0:i + 1] {
                for v2:r in 0..v14:r_left vector {
                  a5:w[v2:r] += a2:A_vals[v1:p] * a3:B[a1:A2_crd[v1:p] * d1:R + v13:r_first + v2:r]
                }
              }
              for v2:r in 0..v14:r_left vector {
                a4:Y[v0:i * d1:R + v13:r_first + v2:r] = a5:w[v2:r]
              }
            }
          }
        }
        ");
    }

    #[test]
    fn masked_tiles_are_as_wide_as_what_is_left() {
        let masked = DECLARATIONS.replace("variable v0", "choice v2 r masked 16 variable v0");
        assert_snapshot!(after_in(&masked, strips, &product("d1")), @r"
        allocate a5:w[8] = 0.0f64
        let v10:r_strips = maximum((d1:R + 15) / 16, 1)
        let v11:r_width = (d1:R + (v10:r_strips * 8 - 1)) / (v10:r_strips * 8) * 8
        for v12:r_strip in 0..v10:r_strips {
          let v13:r_first = v12:r_strip * v11:r_width
          let v14:r_left = minimum(d1:R - v13:r_first, v11:r_width)
          if 8 < v14:r_left {
            let v15:r_lanes = minimum(v14:r_left, 16)
            for v0:i in 0..d0:n {
              allocate a6:w_tile[16] = 0.0f64
              for v1:p in a0:A2_pos[v0:i]..a0:A2_pos[v0:i + 1] {
                for v2:r in 0..v15:r_lanes vector {
                  a6:w_tile[v2:r] += a2:A_vals[v1:p] * a3:B[a1:A2_crd[v1:p] * d1:R + v13:r_first + v2:r]
                }
              }
              for v2:r in 0..v15:r_lanes vector {
                a4:Y[v0:i * d1:R + v13:r_first + v2:r] = a6:w_tile[v2:r]
              }
            }
          } else {
            let v16:r_lanes = minimum(v14:r_left, 8)
            for v0:i in 0..d0:n {
              allocate a7:w_tile_2[8] = 0.0f64
              for v1:p in a0:A2_pos[v0:i]..a0:A2_pos[v0:i + 1] {
                for v2:r in 0..v16:r_lanes vector {
                  a7:w_tile_2[v2:r] += a2:A_vals[v1:p] * a3:B[a1:A2_crd[v1:p] * d1:R + v13:r_first + v2:r]
                }
              }
              for v2:r in 0..v16:r_lanes vector {
                a4:Y[v0:i * d1:R + v13:r_first + v2:r] = a7:w_tile_2[v2:r]
              }
            }
          }
        }
        ");
    }

    #[test]
    fn rows_in_memory_are_in_masked_tiles_too() {
        let masked = DECLARATIONS.replace("variable v0", "choice v2 r masked 64 variable v0");
        let body =
            "for v1 in 0..a0[d0] { for v2 in 0..d1 vector { a4[a1[v1] * d1 + v2] += a2[v1] * a3[a1[v1] * d1 + v2] } }";
        assert_eq!(after(strips, body), after(|kernel| kernel, body));
        let text = after_in(&masked, strips, body);
        assert_eq!(text.matches("minimum(v14:r_left, ").count(), 5, "{text}");
        // What vectors do not hold, and what adds nothing, stays.
        for other in [body.replace("a2[v1] *", "sqrt(a2[v1]) * sqrt(a3[v2]) *"), body.replace("+=", "=")] {
            assert_eq!(after_in(&masked, strips, &other), after_in(&masked, |kernel| kernel, &other));
        }
    }

    #[test]
    fn long_rows_are_cut_and_a_short_rest_goes_with_the_last_strip() {
        assert_snapshot!(after(strips, &product("300")), @r"
        allocate a5:w[172] = 0.0f64
        for v0:i in 0..d0:n {
          for v10:r_strip in 0..1 {
            let v11:r_first = v10:r_strip * 128
            allocate a6:w_strip[128] = 0.0f64
            for v1:p in a0:A2_pos[v0:i]..a0:A2_pos[v0:i + 1] {
              for v2:r in 0..128 vector {
                a6:w_strip[v2:r] += a2:A_vals[v1:p] * a3:B[a1:A2_crd[v1:p] * 300 + v11:r_first + v2:r]
              }
            }
            for v2:r in 0..128 vector {
              a4:Y[v0:i * 300 + v11:r_first + v2:r] = a6:w_strip[v2:r]
            }
          }
          let v11:r_first = 128
          fill a5:w = 0.0f64
          for v1:p in a0:A2_pos[v0:i]..a0:A2_pos[v0:i + 1] {
            for v2:r in 0..172 vector {
              a5:w[v2:r] += a2:A_vals[v1:p] * a3:B[a1:A2_crd[v1:p] * 300 + v11:r_first + v2:r]
            }
          }
          for v2:r in 0..172 vector {
            a4:Y[v0:i * 300 + v11:r_first + v2:r] = a5:w[v2:r]
          }
        }
        ");
    }

    #[test]
    fn rows_of_a_length_that_the_target_knows_stay_whole() {
        for length in ["d2", "64", "128", "192"] {
            let body = product(length);
            assert_eq!(after(strips, &body), after(|kernel| kernel, &body));
        }
    }

    #[test]
    fn what_happens_once_for_a_row_is_not_repeated() {
        for statement in ["a4[0] += 1.0f64", "v3 += a2[0]", "v3 += a5[0]", "for v6 in 0..d0 vector { a4[v6] = 1.0f64 }"]
        {
            let body = product("d1").replace("for v1 in", &format!("{statement} for v1 in"));
            let body = format!("let v3 = 0.0f64 {body}");
            assert_eq!(after(strips, &body), after(|kernel| kernel, &body), "{statement}");
        }
    }

    #[test]
    fn tiles_that_read_operands_and_add_to_a_result_collect_terms_first() {
        // The terms of a tile are in a local row before the result is written, which may lie where the operand does.
        let body = product("d1").replace("a4[v0 * d1 + v2] = a5[v2]", "a4[v0 * d1 + v2] += a5[v2] * a3[v2]");
        let text = after(strips, &body);
        let both = text.lines().filter(|line| line.contains("a4:Y[") && line.contains("a3:B[")).count();
        // Fewer elements than the least tile has are a loop of a length that is not known.
        assert!(text.matches("Y_terms_").count() > 0 && both == 1, "{text}");
    }
}

mod runs_of_entries {
    use super::*;

    #[test]
    fn arrays_that_are_walked_side_by_side_are_viewed() {
        let body = "for v0 in 0..d0 { for v1 in a0[v0]..a0[v0 + 1] { a4[a1[v1]] += a2[v1] } }";
        assert_snapshot!(after(runs, body), @r"
        for v0:i in 0..d0:n {
          let v10:first = a0:A2_pos[v0:i]
          let v11:entries = a0:A2_pos[v0:i + 1] - v10:first
          view a6:A2_crd_run of a1:A2_crd from v10:first length v11:entries
          view a7:A_run of a2:A_vals from v10:first length v11:entries
          for v12:entry in 0..v11:entries {
            a4:Y[a6:A2_crd_run[v12:entry]] += a7:A_run[v12:entry]
          }
        }
        ");
    }

    #[test]
    fn shares_of_runs_may_end_before_they_begin() {
        let body = "let v8 = 1 let v9 = 3 for v0 in 0..d0 {
            for v1 in maximum(a0[v0], v8)..minimum(a0[v0 + 1], v9) { a4[v1] = a2[v1] }
        }";
        assert_snapshot!(after(runs, body), @r"
        let v8:low = 1
        let v9:high = 3
        for v0:i in 0..d0:n {
          let v10:first = maximum(a0:A2_pos[v0:i], v8:low)
          let v11:entries = maximum(minimum(a0:A2_pos[v0:i + 1], v9:high), v10:first) - v10:first
          view a6:A_run of a2:A_vals from v10:first length v11:entries
          view mutable a7:Y_run of a4:Y from v10:first length v11:entries
          for v12:entry in 0..v11:entries {
            a7:Y_run[v12:entry] = a6:A_run[v12:entry]
          }
        }
        ");
    }

    #[test]
    fn where_a_run_ends_the_next_begins() {
        let body = "let v8 = 1 let v9 = 3 for v0 in v8..v9 {
            let v6 = a0[v0 + 1] - a0[v0]
            a4[v0] = a3[v6]
        }";
        assert_snapshot!(after(runs, body), @r"
        let v8:low = 1
        let v9:high = 3
        let v10:entries = maximum(v9:high, v8:low) - v8:low
        view a6:A2_pos_run of a0:A2_pos from v8:low length v10:entries + 1
        let v12:A2_begin = a6:A2_pos_run[0]
        view mutable a7:Y_run of a4:Y from v8:low length v10:entries
        for v11:entry in 0..v10:entries {
          let v13:A2_end = a6:A2_pos_run[v11:entry + 1]
          let v6:j = v13:A2_end - v12:A2_begin
          a7:Y_run[v11:entry] = a3:B[v6:j]
          v12:A2_begin = v13:A2_end
        }
        ");
    }

    #[test]
    fn segments_that_chunks_share_are_not_viewed_as_one() {
        let body = "let v8 = 1 let v9 = 3 for v0 in v8..v9 {
            let v6 = a0[v0 + 1] - a0[v0]
            a4[v0] += a3[v6]
        }";
        assert_eq!(after(runs, body), after(|kernel| kernel, body));
    }

    #[test]
    fn loops_that_ask_where_they_are_stay() {
        for body in [
            "for v1 in a0[v0]..a0[v0 + 1] { a4[v1 + 1] += a2[v1] }",
            "for v1 in a0[v0]..a0[v0 + 1] { if v1 < 3 { a4[0] += a2[v1] } }",
            "for v1 in a0[v0]..a0[v0 + 1] { a4[v1] = a4[0] + a2[v1] }",
            "for v1 in a0[v0]..a0[v0 + 1] { a4[v1] = a2[v1] } a4[0] = 1.0f64",
            "for v1 in 0..d0 { a4[v1] = a2[v1] }",
        ] {
            let body = format!("for v0 in 0..d0 {{ {body} }}");
            assert_eq!(after(runs, &body), after(|kernel| kernel, &body));
        }
    }
}

mod values_out_of_loops {
    use super::*;

    #[test]
    fn the_value_at_a_place_moves_before_the_loops_inside() {
        let body = "for v1 in a0[0]..a0[1] {
            let v0 = a1[v1]
            // all of B's row
            for v6 in 0..d1 { a4[v6] += a2[v1] * a3[v0 * d1 + v6] }
        }";
        assert_snapshot!(after(hoist, body), @r"
        for v1:p in a0:A2_pos[0]..a0:A2_pos[1] {
          let v0:i = a1:A2_crd[v1:p]
          let v10:A_val = a2:A_vals[v1:p]
          // all of B's row
          for v6:j in 0..d1:R {
            a4:Y[v6:j] += v10:A_val * a3:B[v0:i * d1:R + v6:j]
          }
        }
        ");
    }

    #[test]
    fn what_the_kernel_writes_stays() {
        let body = "for v1 in a0[0]..a0[1] { for v6 in 0..d1 { a4[v6] += a4[v1] } }";
        assert_eq!(after(hoist, body), after(|kernel| kernel, body));
    }
}

mod merges {
    use super::*;

    fn merged(pass: fn(Kernel) -> Kernel, body: &str) -> String {
        let more = "  variable v10 q index\n  variable v11 last index\n  variable v12 s index\n  body {";
        after_in(&DECLARATIONS.replace("  body {", more).replace("m index mutable", "m index"), pass, body)
    }

    fn as_loops(kernel: Kernel) -> Kernel {
        with_loops(&kernel)
    }

    const BOTH: &str = "merge v6 of v5 in a0[0]..3 at a1[v5], v10 in a0[1]..7 at a1[v10]";

    #[test]
    fn of_which_only_common_coordinates_matter_stay() {
        let body = format!("{BOTH} where v5, v10 {{ a4[v6] += a2[v5] * a2[v10] }}");
        assert_snapshot!(merged(merges, &body), @r"
        merge v6:j of v5:m in a0:A2_pos[0]..3 at a1:A2_crd[v5:m], v10:q in a0:A2_pos[1]..7 at a1:A2_crd[v10:q] where v5:m, v10:q {
          a4:Y[v6:j] += a2:A_vals[v5:m] * a2:A_vals[v10:q]
        }
        ");
    }

    #[test]
    fn of_common_coordinates_step_or_search() {
        let body = format!("{BOTH} where v5, v10 {{ a4[v6] += a2[v5] * a2[v10] }}");
        assert_snapshot!(merged(as_loops, &body), @r"
        let v5:m = a0:A2_pos[0]
        let v10:q = a0:A2_pos[1]
        let v13:m_length = maximum(3, v5:m) - v5:m
        let v14:q_length = maximum(7, v10:q) - v10:q
        let v15:uneven = minimum(v13:m_length, v14:q_length) * 32 < maximum(v13:m_length, v14:q_length)
        while v5:m < 3 && v10:q < 7 {
          let v16:m_coordinate = a1:A2_crd[v5:m]
          let v17:q_coordinate = a1:A2_crd[v10:q]
          if v16:m_coordinate == v17:q_coordinate {
            let v6:j = v16:m_coordinate
            a4:Y[v6:j] += a2:A_vals[v5:m] * a2:A_vals[v10:q]
            v5:m = v5:m + 1
            v10:q = v10:q + 1
          } else if v15:uneven {
            if v16:m_coordinate < v17:q_coordinate {
              v5:m = search(a1:A2_crd, v5:m + 1, 3, v17:q_coordinate)
            } else if v17:q_coordinate < v16:m_coordinate {
              v10:q = search(a1:A2_crd, v10:q + 1, 7, v16:m_coordinate)
            }
          } else {
            v5:m = select(v16:m_coordinate < v17:q_coordinate, v5:m + 1, v5:m)
            v10:q = select(v17:q_coordinate < v16:m_coordinate, v10:q + 1, v10:q)
          }
        }
        ");
    }

    #[test]
    fn of_sums_are_loops_and_what_is_left_of_each() {
        let body = format!(
            "{BOTH} where v5, v10 {{ a4[v6] += a2[v5] * a2[v10] }} where v5 {{ a4[v6] += a2[v5] }} where v10 {{ a4[0] += a2[v10] }}"
        );
        assert_snapshot!(merged(merges, &body), @r"
        let v5:m = a0:A2_pos[0]
        let v10:q = a0:A2_pos[1]
        while v5:m < 3 && v10:q < 7 {
          let v13:m_coordinate = a1:A2_crd[v5:m]
          let v14:q_coordinate = a1:A2_crd[v10:q]
          let v6:j = minimum(v13:m_coordinate, v14:q_coordinate)
          let v15:in_A = v13:m_coordinate == v6:j
          let v16:in_A = v14:q_coordinate == v6:j
          let v17:A_val = a2:A_vals[v5:m]
          let v18:A_val = a2:A_vals[v10:q]
          a4:Y[select(v15:in_A && v16:in_A, v6:j, select(v15:in_A, v6:j, 0))] += select(v15:in_A && v16:in_A, v17:A_val * v18:A_val, select(v15:in_A, v17:A_val, v18:A_val))
          v5:m = select(v15:in_A, v5:m + 1, v5:m)
          v10:q = select(v16:in_A, v10:q + 1, v10:q)
        }
        for v19:m in v5:m..3 {
          let v20:j = a1:A2_crd[v19:m]
          a4:Y[v20:j] += a2:A_vals[v19:m]
        }
        for v21:q in v10:q..7 {
          a4:Y[0] += a2:A_vals[v21:q]
        }
        ");
    }

    #[test]
    fn of_runs_find_their_ends() {
        let body = "merge v6 of v5..v11 in 0..3 at a1[v5], v10..v12 in 3..7 at a1[v10] where v5, v10 {
            for v1 in v5..v11 { a4[v6] += a2[v1] }
        } where v10 {
            for v1 in v10..v12 { a4[v6] += a2[v1] }
        }";
        assert_snapshot!(merged(merges, body), @r"
        let v5:m = 0
        let v10:q = 3
        while v5:m < 3 && v10:q < 7 {
          let v13:m_coordinate = a1:A2_crd[v5:m]
          let v14:q_coordinate = a1:A2_crd[v10:q]
          let v6:j = minimum(v13:m_coordinate, v14:q_coordinate)
          let v11:last = v5:m
          while v11:last < 3 && a1:A2_crd[v11:last] == v6:j {
            v11:last = v11:last + 1
          }
          let v12:s = v10:q
          while v12:s < 7 && a1:A2_crd[v12:s] == v6:j {
            v12:s = v12:s + 1
          }
          if v5:m < v11:last && v10:q < v12:s {
            for v1:p in v5:m..v11:last {
              a4:Y[v6:j] += a2:A_vals[v1:p]
            }
          } else if v10:q < v12:s {
            for v1:p in v10:q..v12:s {
              a4:Y[v6:j] += a2:A_vals[v1:p]
            }
          }
          v5:m = v11:last
          v10:q = v12:s
        }
        while v10:q < 7 {
          let v17:q_coordinate = a1:A2_crd[v10:q]
          let v15:s = v10:q
          while v15:s < 7 && a1:A2_crd[v15:s] == v17:q_coordinate {
            v15:s = v15:s + 1
          }
          for v18:p in v10:q..v15:s {
            a4:Y[v17:q_coordinate] += a2:A_vals[v18:p]
          }
          v10:q = v15:s
        }
        ");
    }

    #[test]
    fn of_other_numbers_than_coordinates_are_not_searched() {
        let body = "merge v6 of v5 in 0..3 at a1[v5] / 2, v10 in 3..7 at a1[v10] where v5, v10 { a4[v6] += a2[v5] }";
        let text = merged(as_loops, body);
        assert!(!text.contains("search") && text.contains("while"), "{text}");
    }
}

mod long_sums {
    use super::*;

    fn few() -> String {
        DECLARATIONS.replace("f64", "f32")
    }

    #[test]
    fn one_sum_has_more_bits() {
        let body = "let v3 = 0.0f32 for v1 in 0..a0[d0] { v3 += a2[v1] } a4[0] = v3";
        assert_snapshot!(after_in(&few(), long, body), @r"
        let v3:t = 0.0f64
        for v1:p in 0..a0:A2_pos[d0:n] {
          v3:t += a2:A_vals[v1:p] as f64
        }
        a4:Y[0] = v3:t as f32
        ");
    }

    #[test]
    fn a_row_of_sums_is_added_to_one_of_more_bits() {
        let body = "allocate a5[16] = 0.0f32
            for v1 in 0..a0[1] { for v2 in 0..16 vector { a5[v2] += a2[v1] } }
            for v2 in 0..16 vector { a4[v2] = a5[v2] }";
        assert_snapshot!(after_in(&few(), long, body), @r"
        allocate a6:w_sums[16] = 0.0f64
        allocate a5:w[16] = 0.0f32
        let v11:last = a0:A2_pos[1]
        if v11:last <= 64 {
          for v1:p in 0..v11:last {
            for v2:r in 0..16 vector {
              a5:w[v2:r] += a2:A_vals[v1:p]
            }
          }
        } else {
          for v12:block in 0..(v11:last + 63) / 64 {
            let v13:from = v12:block * 64
            for v1:p in v13:from..minimum(v13:from + 64, v11:last) {
              for v2:r in 0..16 vector {
                a5:w[v2:r] += a2:A_vals[v1:p]
              }
            }
            for v14:lane in 0..16 vector {
              a6:w_sums[v14:lane] += a5:w[v14:lane] as f64
            }
            fill a5:w = 0.0f32
          }
          for v15:lane in 0..16 vector {
            a5:w[v15:lane] = (a6:w_sums[v15:lane] + a5:w[v15:lane] as f64) as f32
          }
          fill a6:w_sums = 0.0f64
        }
        for v2:r in 0..16 vector {
          a4:Y[v2:r] = a5:w[v2:r]
        }
        ");
    }

    #[test]
    fn a_short_result_is_summed_in_more_bits() {
        let body = "parallel v8..v9 in 0..d0 sharing a4 private + { for v1 in v8..v9 { a4[a1[v1]] += a2[v1] } }";
        assert_snapshot!(after_in(&few(), long, body), @r"
        if length(a4:Y) <= 32768 {
          allocate a6:Y_sums[length(a4:Y)] = 0.0f64
          parallel v8:low..v9:high in 0..d0:n
              sharing a6:Y_sums private +
          {
            for v1:p in v8:low..v9:high {
              a6:Y_sums[a1:A2_crd[v1:p]] += a2:A_vals[v1:p] as f64
            }
          }
          for v10:place in 0..length(a4:Y) vector {
            a4:Y[v10:place] += a6:Y_sums[v10:place] as f32
          }
        } else {
          parallel v8:low..v9:high in 0..d0:n
              sharing a4:Y private +
          {
            for v1:p in v8:low..v9:high {
              a4:Y[a1:A2_crd[v1:p]] += a2:A_vals[v1:p]
            }
          }
        }
        ");
    }

    #[test]
    fn a_short_result_that_is_asked_how_long_it_is_is_summed_in_more_bits() {
        let body = "parallel v8..v9 in 0..d0 sharing a4 private + {
            for v1 in v8..v9 { if a1[v1] < length(a4) { a4[a1[v1]] += a2[v1] } } }";
        let text = after_in(&few(), long, body);
        assert!(text.contains("< length(a6:Y_sums)") && text.contains("a6:Y_sums[a1:A2_crd[v1:p]] += "), "{text}");
    }

    #[test]
    fn sums_of_f64_and_of_few_terms_stay() {
        for (declarations, body) in [
            (DECLARATIONS.to_owned(), "let v3 = 0.0f64 for v1 in 0..a0[d0] { v3 += a2[v1] } a4[0] = v3"),
            (few(), "let v3 = 0.0f32 for v1 in 0..8 { v3 += a2[v1] } a4[0] = v3"),
            (few(), "parallel v8..v9 in 0..d0 sharing a4 owned v6 -> v6 { for v0 in v8..v9 { a4[v0] += a2[v0] } }"),
        ] {
            assert_eq!(after_in(&declarations, long, body), after_in(&declarations, |kernel| kernel, body));
        }
    }
}

mod operands_walked_from_their_roots {
    use super::*;

    const OPERANDS: &str = "kernel k {
      dimension d0 n runtime
      tensor t0 A f64 [dense, compressed] (d0, d0) input
      tensor t1 x f64 [compressed] (d0) input
      tensor t2 y f64 [dense] (d0) output dense zero
      array a0 A2_pos index(u32) positions t0 1
      array a1 A2_crd index(u32) coordinates t0 1
      array a2 A_vals f64 values t0
      array a3 x1_pos index(u32) positions t1 0
      array a4 x1_crd index(u32) coordinates t1 0
      array a5 x_vals f64 values t1
      array a6 y_vals f64 values t2
      variable v0 i index
      variable v1 p index
      variable v2 q index
      variable v3 j index
      body {";

    fn looked_up(body: &str) -> String {
        after_in(OPERANDS, directories, body)
    }

    const ROW: &str = "v1 in a0[v0]..a0[v0 + 1] at a1[v1]";
    const ROOT: &str = "v2 in a3[0]..a3[1] at a4[v2]";

    #[test]
    fn have_directories_before_the_loop() {
        let expected = "
        directory a7:x1 of a4:x1_crd by a3:x1_pos below d0:n for a1:A2_crd
        for v0:i in 0..d0:n {
          merge v3:j of v1:p in a0:A2_pos[v0:i]..a0:A2_pos[v0:i + 1] at a1:A2_crd[v1:p], v2:q in a3:x1_pos[0]..a3:x1_pos[1] at a4:x1_crd[v2:q] by a7:x1[0] where v1:p, v2:q {
            a6:y_vals[v0:i] += a2:A_vals[v1:p]
          }
        }
        ";
        let lines = |text: &str| {
            text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>()
        };
        let meets = |one: &str, other: &str| {
            looked_up(&format!("for v0 in 0..d0 {{ merge v3 of {one}, {other} where v1, v2 {{ a6[v0] += a2[v1] }} }}"))
        };
        assert_eq!(lines(&meets(ROW, ROOT)), lines(expected));
        // Whichever comes first.
        assert_eq!(lines(&meets(ROOT, ROW)), lines(expected));
    }

    #[test]
    fn have_none_where_nothing_is_looked_up_again() {
        for body in [
            format!("merge v3 of {}, {ROOT} where v1, v2 {{ a6[0] += a2[v1] }}", ROOT.replace("v2", "v1")),
            format!(
                "for v0 in 0..d0 {{ merge v3 of {ROW}, {} where v1, v2 {{ a6[v0] += a2[v1] }} }}",
                ROW.replace("v1", "v2")
            ),
            format!(
                "for v0 in 0..d0 {{ merge v3 of {ROW}, v2 in a3[0]..v0 at a4[v2] where v1, v2 {{ a6[v0] += a2[v1] }} }}"
            ),
        ] {
            assert!(!looked_up(&body).contains("directory"), "{body}");
        }
    }
}

mod overwriting {
    use super::*;

    const DECLARATIONS: &str = "kernel k {
      dimension d0 n runtime
      dimension d1 R 4
      tensor t0 A f64 [dense, compressed] (d0, d0) input
      tensor t1 C f64 [dense, compressed] (d0, d0) output shared t0 2 zero
      tensor t2 Y f64 [dense, dense] (d0, d1) output dense zero
      array a0 A2_pos index(u32) positions t0 1
      array a1 A2_crd index(u32) coordinates t0 1
      array a2 A_vals f64 values t0
      array a3 C_vals f64 values t1
      array a4 Y f64 values t2
      variable v0 i index
      variable v1 p index
      variable v2 r index
      variable v3 low index
      variable v4 high index
      variable v5 place index
      variable v6 row index
      variable v7 t f64 mutable
      body {";

    /// Which of the outputs C and Y are overwritten, and whether segments begin anew.
    fn found(body: &str) -> (bool, bool, bool) {
        let text = whole_after_in(DECLARATIONS, overwritten, body);
        let has = |of: &str| text.lines().any(|line| line.contains(of) && line.contains("overwritten"));
        (has("t1 C"), has("t2 Y"), text.contains(" anew"))
    }

    const ROWS: &str = "for v0 in 0..d0 { for v2 in 0..4 { a4[v0 * 4 + v2] = 1.0f64 } }";

    #[test]
    fn what_loops_over_all_places_store_to_is_overwritten() {
        assert_eq!(found(ROWS), (false, true, false));
        // The order of the loops does not matter, nor does what follows.
        assert_eq!(found("for v2 in 0..4 { for v0 in 0..d0 { a4[v0 * 4 + v2] = 1.0f64 } }"), (false, true, false));
        assert_eq!(found(&format!("{ROWS} a4[0] += 2.0f64")), (false, true, false));
        let entries = "for v0 in 0..d0 { for v1 in a0[v0]..a0[v0 + 1] { a3[v1] = a2[v1] } }";
        assert_eq!(found(entries), (true, false, false));
        let named = "for v0 in 0..d0 { let v6 = v0 for v2 in 0..4 { let v5 = v6 * 4 + v2 a4[v5] = 1.0f64 } }";
        assert_eq!(found(named), (false, true, false));
        let both = format!("if d0 < 5 {{ {ROWS} }} else {{ {ROWS} }}");
        assert_eq!(found(&both), (false, true, false));
    }

    #[test]
    fn what_some_places_are_left_out_of_is_not() {
        for body in [
            "",
            "for v0 in 0..d0 { for v2 in 0..3 { a4[v0 * 4 + v2] = 1.0f64 } }",
            "for v0 in 1..d0 { for v2 in 0..4 { a4[v0 * 4 + v2] = 1.0f64 } }",
            "for v0 in 0..d0 { for v2 in 0..4 { a4[v0 * 5 + v2] = 1.0f64 } }",
            "for v0 in 0..d0 { for v2 in 0..4 { a4[v0 * 4 + v2] += 1.0f64 } }",
            "for v0 in 0..d0 { for v2 in 0..4 { if v0 < v2 { a4[v0 * 4 + v2] = 1.0f64 } } }",
            // A loop beside may have no iteration.
            "for v0 in 0..d0 { for v2 in 0..4 { for v1 in 0..d0 { a4[v0 * 4 + v2] = 1.0f64 } } }",
            // What was there is read, before or in another iteration.
            "let v7 = a4[0] for v0 in 0..d0 { for v2 in 0..4 { a4[v0 * 4 + v2] = v7 } }",
            "for v0 in 0..d0 { for v2 in 0..4 { a4[v0 * 4 + v2] = a4[0] } }",
            "for v0 in 0..d0 { for v2 in 0..4 { a4[v0 * 4 + v2] = 1.0f64 } a4[0] += 1.0f64 }",
            "for v0 in 0..d0 { for v1 in a0[v0]..a0[v0 + 1] { a4[v1] = a2[v1] } }",
            "for v0 in 0..d0 { for v2 in a0[v0]..a0[v0] { a3[v2] = a2[v2] } }",
        ] {
            assert_eq!(found(body), (false, false, false), "{body}");
        }
        let one = format!("if d0 < 5 {{ {ROWS} }} else {{ }}");
        assert_eq!(found(&one), (false, false, false));
    }

    #[test]
    fn loops_for_uneven_work_begin_anew() {
        let even = "parallel v3..v4 in 0..d0 sharing a4 owned v5 -> v5 * 4 {
            for v0 in v3..v4 { for v2 in 0..4 { a4[v0 * 4 + v2] = 1.0f64 } } }";
        assert_eq!(found(even), (false, true, false));
        let uneven = |sharing: &str, what: &str| {
            format!("{even} uneven parallel v3..v4 in a0[0]..a0[d0] sharing a4 {sharing} {{ {what} }}")
        };
        let segments = "segmented + v5 -> v5 length 4";
        assert_eq!(found(&uneven(segments, "a4[v3] += 1.0f64")), (false, true, true));
        // What a loop for uneven work stores is what the other stores.
        assert_eq!(found(&uneven("owned v5 -> v5", "a4[v3] = 1.0f64")), (false, true, false));
        assert_eq!(found(&uneven("owned v5 -> v5", "a4[v3] += 1.0f64")), (false, false, false));
        // Not the identity.
        assert_eq!(found(&uneven("segmented * v5 -> v5 length 4", "a4[v3] *= 1.0f64")), (false, false, false));
        assert_eq!(found(&uneven("private +", "a4[v3] += 1.0f64")), (false, false, false));
        // A later loop adds to what is there.
        let later = format!("{ROWS} parallel v3..v4 in 0..d0 sharing a4 {segments} {{ a4[v3] += 1.0f64 }}");
        assert_eq!(found(&later), (false, true, false));
    }
}
