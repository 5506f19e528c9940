//! What is planned, and what must stay as it is written.

use super::sets::members;
use super::site::search;
use super::*;
use crate::{notation, stages, syntax};
use std::collections::BTreeMap;

/// Sizes of tensors by name: the shape, and the entries of sparse ones.
fn facts(tensors: &[(&str, &[u64], Option<f64>)]) -> Facts {
    let tensor = |&(name, shape, entries): &(&str, &[u64], Option<f64>)| {
        let shape = shape.iter().copied().map(Some).collect();
        (name.to_owned(), TensorFacts { shape, entries: entries.map(Known::measured), ..TensorFacts::default() })
    };
    Facts { tensors: tensors.iter().map(tensor).collect(), threads: 2, calls: f64::INFINITY, ..Facts::default() }
}

fn kernel(text: &str) -> Kernel {
    let program = syntax::parse_program(text).unwrap_or_else(|problems| panic!("{problems:?}"));
    notation::check(&program).unwrap_or_else(|problems| panic!("{problems:?}")).remove(0)
}

/// The statements of the plan, each scheduled and compiled; `as written` where there is none.
fn planned(source: &str, facts: &Facts) -> Vec<String> {
    let kernel = kernel(source);
    let Some(planned) = plan(&kernel, facts) else { return vec!["as written".to_owned()] };
    assert!(planned.cost.time < planned.written.time);
    stages::compile_notation(&planned.kernel).unwrap_or_else(|problems| panic!("{problems:?}"));
    let text = text(&planned.kernel);
    assert_eq!(super::text(&self::kernel(&text)), text, "what is printed is what is planned");
    assert_eq!(plan(&self::kernel(&text), facts), None, "a plan is best as it is written");
    let statements = planned.kernel.statements.iter();
    statements.map(|statement| planned.kernel.statement(statement).to_string()).collect()
}

const N: u64 = 10_000;

#[test]
fn chains_of_matrices_are_multiplied_from_the_vector() {
    let text = "fn f(A: csr, B: csr, x: dense) -> y: dense { y(i) = A(i, j) * B(j, k) * x(k); }";
    let sizes = facts(&[("A", &[N, N], Some(1e5)), ("B", &[N, N], Some(1e5)), ("x", &[N], None)]);
    let expected = ["let t_Bx(j): f64 [dense] = sum(k)(B(j, k) * x(k));", "y(i) = sum(j)(A(i, j) * t_Bx(j));"];
    assert_eq!(planned(text, &sizes), expected);
    let text = "fn f(A: csr, x: dense) -> y: dense { y(k) = A(i, j) * x(j) * A(i, k); }";
    let expected = ["let t_Ax(i): f64 [dense] = sum(j)(A(i, j) * x(j));", "y(k) = sum(i)(A(i, k) * t_Ax(i));"];
    assert_eq!(planned(text, &sizes), expected);
}

#[test]
fn fibers_meet_the_second_factor_and_not_entries() {
    let text = "fn f(X: csf, V: dense, W: dense) -> Y: dense { Y(i, q, r) = X(i, j, k) * V(j, q) * W(k, r); }";
    let mut sizes = facts(&[("X", &[1000, 1000, 500], Some(1e6)), ("V", &[1000, 16], None), ("W", &[500, 16], None)]);
    let x = sizes.tensors.get_mut("X").expect("it is there");
    x.distinct = [(0b001, 1000.0), (0b011, 6e4)].map(|(modes, count)| (modes, Known::measured(count))).into();
    let expected = [
        "let t_XW(i, j, r): f64 [compressed, compressed, dense] = sum(k)(X(i, j, k) * W(k, r));",
        "Y(i, q, r) = sum(j)(t_XW(i, j, r) * V(j, q));",
    ];
    assert_eq!(planned(text, &sizes), expected);
}

#[test]
fn inner_products_of_factored_tensors_are_products_of_small_matrices() {
    let text = "fn f(U: dense, V: dense, P: dense, Q: dense) -> s: f64 { s = U(i, r) * V(j, r) * P(i, q) * Q(j, q); }";
    let sizes = facts(&[("U", &[60, 8], None), ("V", &[60, 8], None), ("P", &[60, 8], None), ("Q", &[60, 8], None)]);
    let expected = [
        "let t_UP(r, q): f64 [dense, dense] = sum(i)(U(i, r) * P(i, q));",
        "let t_VQ(r, q): f64 [dense, dense] = sum(j)(V(j, r) * Q(j, q));",
        "s = sum(r, q)(t_UP(r, q) * t_VQ(r, q));",
    ];
    assert_eq!(planned(text, &sizes), expected);
}

#[test]
fn what_is_best_as_it_is_written_stays() {
    let sizes = facts(&[("X", &[1000, 1000, 500], Some(1e6)), ("B", &[1000, 16], None), ("C", &[500, 16], None)]);
    let text = "fn f(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }";
    assert_eq!(planned(text, &sizes), ["as written"]);
    let text = "fn f(S: csr, U: dense, V: dense) -> C: csr { C(i, j) = S(i, j) * U(i, r) * V(j, r); }";
    let sizes = facts(&[("S", &[N, N], Some(1e5)), ("U", &[N, 16], None), ("V", &[N, 16], None)]);
    assert_eq!(planned(text, &sizes), ["as written"]);
}

#[test]
fn other_rings_are_planned_where_they_distribute() {
    let sizes = facts(&[("A", &[N, N], Some(1e5)), ("x", &[N], None)]);
    let text = "fn f(A: csr fill inf, x: dense) -> y: dense fill inf { y(i) = min(j, k)(A(i, j) + A(j, k) + x(k)); }";
    let expected = ["let t_Ax(j): f64 [dense] fill inf = min(k)(A(j, k) + x(k));", "y(i) = min(j)(A(i, j) + t_Ax(j));"];
    assert_eq!(planned(text, &sizes), expected);
    let text = "fn f(A: bool csr, x: bool dense) -> y: bool dense { y(i) = any(j, k)(A(i, j) && A(j, k) && x(k)); }";
    let expected = ["let t_Ax(j): bool [dense] = any(k)(A(j, k) && x(k));", "y(i) = any(j)(A(i, j) && t_Ax(j));"];
    assert_eq!(planned(text, &sizes), expected);
    // Sums of whole numbers wrap around, and a product may be negative.
    let text = "fn f(A: i32 dense, x: i32 dense) -> y: i32 dense { y(i) = min(j, k)(A(i, j) + A(j, k) + x(k)); }";
    assert_eq!(planned(text, &sizes), ["as written"]);
    let text = "fn f(A: dense, x: dense) -> y: dense { y(i) = max(j, k)(A(i, j) * A(j, k) * x(k)); }";
    assert_eq!(planned(text, &sizes), ["as written"]);
}

#[test]
fn what_no_rule_covers_stays() {
    let sizes = facts(&[("A", &[N, N], Some(1e5)), ("M", &[N, N], Some(1e5)), ("x", &[N], None), ("w", &[N], None)]);
    let sentences = [
        // A missing entry is not the zero of the ring.
        "fn f(A: csr fill 1, x: dense) -> y: dense { y(i) = A(i, j) * A(j, k) * x(k); }",
        // A mask chooses terms.
        "fn f(A: csr, M: csr, x: dense) -> y: dense { y(i) = A(i, j) * A(j, k) * x(k) where M(i, j); }",
        // An index is computed, or is a value.
        "fn f(A: csr, x: dense) -> y: dense { y(i) = sum(j, k)(A(i, j) * A(j, k) * x(k) * f64(k)); }",
        // A quotient of whole numbers may not exist where it is not asked for.
        "fn f(A: i32 csr, x: i32 dense, w: i32 dense) -> y: i32 dense { y(i) = A(i, j) * A(j, k) * (x(k) / w(k)); }",
        // The schedule is of the loops that are written.
        "fn f(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * A(j, k) * x(k); } schedule { reorder(i, j, k); }",
    ];
    for text in sentences {
        assert_eq!(planned(text, &sizes), ["as written"], "{text}");
    }
}

#[test]
fn entries_of_sparse_results_are_those_of_what_is_written() {
    // A dense temporary would give `C` an entry in each column; one that stores where the product of two has entries does not.
    let text = "fn f(A: csr, B: csr, D: csr) -> C: csr { C(i, l) = A(i, j) * B(j, k) * D(k, l); }";
    let of = |name: &'static str| (name, &[300, 300][..], Some(3e4));
    let made = planned(text, &facts(&[of("A"), of("B"), of("D")]));
    assert!(
        made.len() == 2 && made[0].starts_with("let t_") && made[0].contains(": f64 [dense, compressed] ="),
        "{made:?}"
    );
    let sizes = facts(&[("A", &[300, 300], Some(3e4)), ("B", &[300, 300], Some(3e4))]);
    // The sums of rows: without entries for those that have none, or none at all.
    let text = "fn f(A: csr, B: csr, x: dense) -> C: csr {
        C(i, j) = A(i, j) * B(i, k) * B(k, l) * x(l);
    }";
    let made = planned(text, &sizes);
    assert!(made.iter().all(|line| !line.starts_with("let") || !line.contains("f64 [dense] =")), "{made:?}");
}

#[test]
fn terms_are_planned_each_by_itself() {
    let text = "fn f(A: csr, b: dense, x: dense) -> y: dense { y(i) = b(i) - 2 * A(i, j) * A(j, k) * x(k); }";
    let sizes = facts(&[("A", &[N, N], Some(1e5)), ("b", &[N], None), ("x", &[N], None)]);
    let expected =
        ["let t_Ax(j): f64 [dense] = sum(k)(A(j, k) * x(k));", "y(i) = b(i) - sum(j)(2.0 * (A(i, j) * t_Ax(j)));"];
    assert_eq!(planned(text, &sizes), expected);
}

#[test]
fn sums_are_counted_where_what_is_around_them_needs_them() {
    let text = "fn f(X: csf, Y: csf, U: dense, V: dense, W: dense) -> s: f64 {
        s = sum(i, j, k)(X(i, j, k) * (Y(i, j, k) - sum(r)(U(i, r) * V(j, r) * W(k, r))));
    }";
    let shapes = [("X", &[100, 100, 100][..], Some(3e3)), ("Y", &[100, 100, 100], Some(3e3))];
    let factors = ["U", "V", "W"].map(|name| (name, &[100, 6][..], None));
    // A matrix for each pair of indices is no less than what 3,000 entries need.
    assert_eq!(planned(text, &facts(&[&shapes[..], &factors].concat())), ["as written"]);
}

#[test]
fn a_sum_of_products_is_not_taken_for_them() {
    let text =
        "fn f(B: csr, u: dense, v: dense, x: dense) -> z: dense { z(i) = x(j) * v(j) * u(i) - x(j) * v(j) * B(i, j); }";
    let vectors = ["u", "v", "x"].map(|name| (name, &[N][..], None));
    let sizes = facts(&[&[("B", &[N, N][..], Some(1e6))][..], &vectors].concat());
    let expected =
        ["let t_xv: f64 = sum(j)(x(j) * v(j));", "z(i) = t_xv * u(i) - sum(j_1)(x(j_1) * v(j_1) * B(i, j_1));"];
    assert_eq!(planned(text, &sizes), expected);
}

#[test]
fn what_has_entries_is_summed_apart_from_what_has_values_everywhere() {
    let text =
        "fn f(A: csr, u: dense, v: dense, x: dense) -> y: dense { y(i) = sum(j)((A(i, j) - u(i) * v(j)) * x(j)); }";
    let vectors = ["u", "v", "x"].map(|name| (name, &[N][..], None));
    let sizes = facts(&[&[("A", &[N, N][..], Some(1e5))][..], &vectors].concat());
    let expected = ["let t_vx: f64 = sum(j_1)(v(j_1) * x(j_1));", "y(i) = sum(j)(A(i, j) * x(j)) - u(i) * t_vx;"];
    assert_eq!(planned(text, &sizes), expected);
}

#[test]
fn without_sizes_only_what_is_never_dearer_replaces_the_text() {
    let unknown = Facts::default();
    let text = "fn f(A: csr, B: csr, x: dense) -> y: dense { y(i) = A(i, j) * B(j, k) * x(k); }";
    let expected = ["let t_Bx(j): f64 [dense] = sum(k)(B(j, k) * x(k));", "y(i) = sum(j)(A(i, j) * t_Bx(j));"];
    assert_eq!(planned(text, &unknown), expected);
    let text = "fn f(X: csf, V: dense, W: dense) -> Y: dense { Y(i, q, r) = X(i, j, k) * V(j, q) * W(k, r); }";
    let expected = [
        "let t_XW(i, j, r): f64 [compressed, compressed, dense] = sum(k)(X(i, j, k) * W(k, r));",
        "Y(i, q, r) = sum(j)(t_XW(i, j, r) * V(j, q));",
    ];
    assert_eq!(planned(text, &unknown), expected);
    // What is first depends on the sizes: neither is always as cheap as what is written.
    let text = "fn f(A: dense, B: dense, C: dense) -> D: dense { D(i) = A(i, j) * B(i, k) * C(j, k); }";
    assert_eq!(planned(text, &unknown), ["as written"]);
    let text = "fn f(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }";
    assert_eq!(planned(text, &unknown), ["as written"]);
}

#[test]
fn temporaries_stay_within_the_memory_that_they_may_take() {
    let text = "fn f(A: csr, B: csr, X: dense) -> Y: dense { Y(i, r) = A(i, j) * B(j, k) * X(k, r); }";
    let sizes = facts(&[("A", &[N, N], Some(1e5)), ("B", &[N, N], Some(1e5)), ("X", &[N, 16], None)]);
    assert_eq!(planned(text, &sizes).len(), 2);
    assert_eq!(planned(text, &Facts { memory: Some(1 << 20), ..sizes }), ["as written"]);
}

#[test]
fn what_is_made_once_is_read_by_all() {
    let text = "fn f(X: csf, A: dense, B: dense, C: dense) -> (MA: dense, MB: dense) {
        MA(i, r) = X(i, j, k) * B(j, r) * C(k, r);
        MB(j, r) = X(i, j, k) * A(i, r) * C(k, r);
    }";
    let mut sizes = facts(&[("X", &[1000, 1000, 500], Some(1e6))]);
    sizes.extents.insert("r".to_owned(), 16);
    let x = sizes.tensors.get_mut("X").expect("it is there");
    x.distinct = [(0b001, 1000.0), (0b011, 6e4)].map(|(modes, count)| (modes, Known::measured(count))).into();
    let expected = [
        "let t_XC(i, j, r): f64 [compressed, compressed, dense] = sum(k)(X(i, j, k) * C(k, r));",
        "MA(i, r) = sum(j)(t_XC(i, j, r) * B(j, r));",
        "MB(j, r) = sum(i)(t_XC(i, j, r) * A(i, r));",
    ];
    assert_eq!(planned(text, &sizes), expected);
    // What is written between two statements is another tensor for the second.
    let text = "fn f(A: csr, x: dense) -> (y: dense, z: dense, w: dense) {
        y(i) = A(i, j) * A(j, k) * x(k);
        z(i) = A(i, j) * A(j, k) * y(k);
        w(i) = A(i, j) * A(j, k) * x(k);
    }";
    let made = planned(text, &facts(&[("A", &[N, N], Some(1e5))]));
    assert_eq!(made.iter().filter(|line| line.starts_with("let")).count(), 2, "{made:?}");
}

#[test]
fn copies_are_asked_for_where_they_pay() {
    let text = "fn f(X: csf, U: dense, V: dense) -> Y: dense { Y(k, p, q) = X(i, j, k) * U(i, p) * V(j, q); }";
    let mut sizes = facts(&[("X", &[1000, 1000, 500], Some(1e6)), ("U", &[1000, 16], None), ("V", &[1000, 16], None)]);
    let x = sizes.tensors.get_mut("X").expect("it is there");
    let known = [(1, 1e3), (2, 1e3), (4, 500.0), (0b011, 6e4), (0b101, 1.3e5), (0b110, 1.3e5)];
    x.distinct = known.map(|(modes, count)| (modes, Known::measured(count))).into();
    let with_copy = plan(&kernel(text), &sizes).expect("there is a plan");
    assert!(super::text(&with_copy.kernel).contains("copy(X(k, "), "{}", super::text(&with_copy.kernel));
    let once = plan(&kernel(text), &Facts { calls: 1.0, ..sizes });
    assert!(once.is_none_or(|once| !super::text(&once.kernel).contains("copy")));
}

#[test]
fn sums_are_inside_of_loops_where_temporaries_would_be_large() {
    let text = "fn f(X: csf, U: dense, V: dense, W: dense) -> Y: dense {
        Y(l, p, q, r) = X(i, j, k, l) * U(i, p) * V(j, q) * W(k, r);
    }";
    let mut sizes = facts(&[
        ("X", &[183, 2400, 887, 1410], Some(1.4e6)),
        ("U", &[183, 4], None),
        ("V", &[2400, 4], None),
        ("W", &[887, 4], None),
    ]);
    let x = sizes.tensors.get_mut("X").expect("it is there");
    // Modes i, j, k, l.
    let known =
        [(0b1001, 4e4), (0b1011, 3e5), (0b0011, 4e4), (0b0111, 1.3e6), (0b1110, 1.2e6), (0b0110, 1e6), (0b0101, 1e5)];
    x.distinct = known.map(|(modes, count)| (modes, Known::measured(count))).into();
    let expected = ["Y(l, p, q, r) = sum(i)(sum(j)(sum(k)(X(i, j, k, l) * W(k, r)) * V(j, q)) * U(i, p));"];
    assert_eq!(planned(text, &sizes), expected);
    let fused = plan(&kernel(text), &sizes).expect("there is a plan");
    let orders =
        ["copy(X(l, i, j, k));", "reorder(l, i, p, q, r);", "reorder(l, i, j, q, r);", "reorder(l, i, j, k, r);"];
    let text = super::text(&fused.kernel);
    assert!(orders.iter().all(|order| text.contains(order)), "{text}");
    assert!(fused.others.iter().any(|other| other.cost.memory > 1e6 && other.text.contains("let t_")), "{fused:?}");
}

#[test]
fn what_is_around_a_product_keeps_its_variables() {
    let text = "fn f(A: csr, B: csr) -> y: dense { y(i) = min(j)(sum(k)(A(i, k) * B(k, j))); }";
    let sizes = facts(&[("A", &[N, N], Some(1e5)), ("B", &[N, N], Some(1e5))]);
    assert_eq!(planned(text, &sizes), ["as written"]);
    let text = "fn f(A: csr, x: dense, b: dense) -> s: f64 { s = max(i)(b(i) - sum(j, k)(A(i, j) * A(j, k) * x(k))); }";
    let expected =
        ["let t_Ax(j): f64 [dense] = sum(k)(A(j, k) * x(k));", "s = max(i)(b(i) - sum(j)(A(i, j) * t_Ax(j)));"];
    assert_eq!(planned(text, &facts(&[("A", &[N, N], Some(1e5)), ("x", &[N], None)])), expected);
}

/// Small relations over the variables of a kernel, and what there is to know of them.
fn counted(kernel: &Kernel, random: &mut impl FnMut(u64) -> u64) -> (Vec<Vec<Vec<u64>>>, Facts) {
    let product = normal::product(kernel, &kernel.statements[0].value).expect("it is a product");
    let extents: Vec<u64> = kernel.variables.iter().map(|_| 1 + random(4)).collect();
    let (mut relations, mut sizes) = (Vec::new(), facts(&[]));
    for factor in &product.factors {
        let Expr::Access(access) = &factor.expr else { unreachable!("factors are accesses") };
        let own: Vec<usize> = access.indices.iter().map(|index| index.0).collect();
        let mut entries: Vec<Vec<u64>> = vec![Vec::new()];
        for &variable in &own {
            let longer =
                |entry: &Vec<u64>| (0..extents[variable]).map(|c| [&entry[..], &[c]].concat()).collect::<Vec<_>>();
            entries = entries.iter().flat_map(longer).collect();
        }
        let density = 1 + random(4);
        entries.retain(|_| random(4) < density);
        let mut known = TensorFacts {
            shape: own.iter().map(|&variable| Some(extents[variable])).collect(),
            entries: Some(Known::measured(entries.len() as f64)),
            ..TensorFacts::default()
        };
        for modes in 1..(1u32 << own.len()) {
            let mut counts: BTreeMap<Vec<u64>, f64> = BTreeMap::new();
            for entry in &entries {
                let under =
                    entry.iter().enumerate().filter(|(mode, _)| modes >> mode & 1 == 1).map(|(_, c)| *c).collect();
                *counts.entry(under).or_default() += 1.0;
            }
            let largest = counts.values().copied().fold(0.0, f64::max);
            let norm = counts.values().map(|count| count * count).sum::<f64>().sqrt();
            known.distinct.insert(modes, Known::measured(counts.len() as f64));
            known.degrees.insert(modes, Degrees { mean: 0.0, largest, norm });
        }
        sizes.tensors.insert(kernel.tensor(access.tensor).name.clone(), known);
        relations.push(entries);
    }
    (relations, sizes)
}

#[test]
fn bounds_are_never_less_than_what_there_is() {
    let texts = [
        "fn f(A: csr, B: csr, C: csr) -> s: f64 { s = A(i, j) * B(j, k) * C(k, i); }",
        "fn f(A: csr, B: csr, C: csr) -> s: f64 { s = A(i, j) * B(j, k) * C(k, l); }",
        "fn f(A: csf, B: csr, C: csr) -> s: f64 { s = A(i, j, k) * B(j, l) * C(l, k); }",
        "fn f(A: csf, B: csf) -> s: f64 { s = A(i, j, k) * B(k, j, l); }",
    ];
    let mut state = 1u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for number in 0..4000 {
        let kernel = kernel(texts[number % texts.len()]);
        let (relations, sizes) = counted(&kernel, &mut random);
        let product = normal::product(&kernel, &kernel.statements[0].value).expect("it is a product");
        let of =
            Place { kernel: &kernel, statement: &kernel.statements[0], place: (0, 0), product: &product, around: &[] };
        let known = Sizes { extents: estimate::extents(&kernel, &sizes, &[]), facts: Cow::Borrowed(&sizes) };
        let search = search(of, &known).expect("all is known");
        // The join of all relations.
        let mut joined: Vec<Vec<Option<u64>>> = vec![vec![None; kernel.variables.len()]];
        for (relation, factor) in relations.iter().zip(&product.factors) {
            let Expr::Access(access) = &factor.expr else { unreachable!("factors are accesses") };
            let mut longer = Vec::new();
            for tuple in &joined {
                for entry in relation {
                    let mut tuple = tuple.clone();
                    let agrees =
                        access.indices.iter().zip(entry).all(|(index, c)| *tuple[index.0].get_or_insert(*c) == *c);
                    longer.extend(agrees.then_some(tuple));
                }
            }
            joined = longer;
        }
        let (all, everything) = ((1 << product.factors.len()) - 1, (1u64 << kernel.variables.len()) - 1);
        for vars in 1..=everything {
            let of_vars = |tuple: &Vec<Option<u64>>| members(vars).map(|variable| tuple[variable]).collect::<Vec<_>>();
            let mut places: Vec<_> = joined.iter().map(of_vars).collect();
            places.sort_unstable();
            places.dedup();
            let size = search.of.size(vars, all);
            assert!(places.len() as f64 <= size.bound + 1e-6, "{} of {size:?}: {vars:b} {sizes:?}", places.len());
            assert!(size.estimate <= size.bound + 1e-6, "{size:?}");
        }
    }
}

#[test]
fn names_and_the_order_of_factors_do_not_matter() {
    let sizes = facts(&[("A", &[N, N], Some(1e5)), ("B", &[N, N], Some(3e5)), ("X", &[N, 16], None)]);
    let cost = |text: &str| plan(&kernel(text), &sizes).expect("there is a plan").cost;
    let first = cost("fn f(A: csr, B: csr, X: dense) -> Y: dense { Y(i, r) = A(i, j) * B(j, k) * X(k, r); }");
    for other in [
        "fn f(A: csr, B: csr, X: dense) -> Y: dense { Y(z, y) = A(z, c) * B(c, a) * X(a, y); }",
        "fn f(A: csr, B: csr, X: dense) -> Y: dense { Y(i, r) = X(k, r) * B(j, k) * A(i, j); }",
        "fn f(A: csr, B: csr, X: dense) -> Y: dense { Y(i, r) = sum(j)(A(i, j) * sum(k)(X(k, r) * B(j, k))); }",
    ] {
        let other = cost(other);
        assert!((first.operations / other.operations - 1.0).abs() < 1e-9, "{first:?} {other:?}");
        assert!((first.time / other.time - 1.0).abs() < 1e-9, "{first:?} {other:?}");
    }
}

#[test]
fn long_products_are_planned_in_little_time() {
    for count in [8, 12, 20] {
        let tensors: Vec<String> = (0..count).map(|number| format!("A{number}: csr")).collect();
        let factors: Vec<String> = (0..count).map(|number| format!("A{number}(i{number}, i{})", number + 1)).collect();
        let text = format!(
            "fn f({}, x: dense) -> y: dense {{ y(i0) = {} * x(i{count}); }}",
            tensors.join(", "),
            factors.join(" * ")
        );
        let kernel = kernel(&text);
        let mut sizes = facts(&[("x", &[N], None)]);
        for number in 0..count {
            sizes.tensors.extend(facts(&[(&format!("A{number}"), &[N, N], Some(1e5))]).tensors);
        }
        let plan = plan(&kernel, &sizes).expect("there is a plan");
        assert_eq!(plan.kernel.statements.len(), count, "{}", super::text(&plan.kernel));
        assert!(plan.cost.operations < 1e7 && plan.written.operations > 1e9, "{:?}", plan.cost);
        let site = &sites(&kernel, &sizes)[0];
        let most = 3 * tree::MOST_VISITED;
        assert!(site.searches[0].visited < most, "{} nests for {count} factors", site.searches[0].visited);
    }
}

#[test]
fn schedules_say_whether_there_is_a_plan() {
    let text = |schedule: &str| {
        let hints = "A: csr nnz 1e6 extent(1e5, 1e5), x: dense";
        kernel(&format!(
            "fn f({hints}) -> y: dense {{ y(i) = A(i, j) * A(j, k) * A(k, l) * x(l); }} schedule {{ {schedule} }}"
        ))
    };
    let of =
        |kernel: &Kernel| (plan(kernel, &Facts::stated(kernel, &[])), ruled_out(kernel, &Facts::stated(kernel, &[])));
    let (planned, warning) = of(&text("deterministic();"));
    assert!(planned.is_some_and(|planned| planned.kernel.statements.len() == 3) && warning.is_none());
    let (planned, warning) = of(&text("plan(as_written);"));
    assert!(
        planned.is_none()
            && warning.is_some_and(|warning| warning.code == crate::diagnostics::codes::warnings::RULED_OUT)
    );
    let (planned, warning) = of(&text("plan(memory: 1000);"));
    assert!(planned.is_none() && warning.is_none());
    let (planned, _) = of(&text("plan(memory: 4e6);"));
    assert!(planned.is_some_and(|planned| planned.cost.memory <= 4e6));
}

#[test]
fn temporaries_that_are_to_be_kept_are_made() {
    let chain = |schedule: &str| {
        let text = "fn f(A: csr, x: dense, b: dense) -> n: f64 { let p(i) = A(i, j) * x(j); n = p(i) * b(i); }";
        notation::chain(&kernel(&format!("{text} {schedule}")), true, 8)
    };
    assert_eq!(chain("").links.len(), 1);
    let kept = chain("schedule { plan(keep(p)); }");
    assert!(kept.links.len() == 2 && kept.problems.is_empty());
    assert!(!chain("schedule { plan(keep(q)); }").problems.is_empty());
}

#[test]
fn products_of_sparse_matrices_are_made_first_where_few_entries_meet() {
    const M: u64 = 20_000;
    let text = "fn f(A: csr, B: csr, C: csr) -> Y: csr { Y(i, l) = A(i, j) * B(j, k) * C(k, l); }";
    let mut sizes = facts(&[("A", &[M, M], Some(4e4)), ("B", &[M, M], Some(2.5e4)), ("C", &[M, M], Some(2e4))]);
    // All rows of A have an entry in a column in which B has a row of thousands; what B and C share is spread evenly.
    for (name, rows, columns) in [("A", 283.0, 20_002.0), ("B", 5003.0, 300.0), ("C", 200.0, 250.0)] {
        let of = sizes.tensors.get_mut(name).expect("it is there");
        let degrees = |norm| Degrees { mean: 2.0, largest: norm, norm };
        of.degrees = [(0b01, degrees(rows)), (0b10, degrees(columns))].into();
    }
    let expected = [
        "let t_BC(j, l): f64 [dense, compressed] = sum(k)(B(j, k) * C(k, l));",
        "Y(i, l) = sum(j)(A(i, j) * t_BC(j, l));",
    ];
    assert_eq!(planned(text, &sizes), expected);
}
