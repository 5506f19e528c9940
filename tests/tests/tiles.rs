//! Rows of any length in register tiles: the interpreter and native code against the oracle, for each family of formats, element type
//! and operator, with lengths that are known when the kernel is compiled and lengths that are not.

use spc::execute::Chain;
use spc_compiler::schedule;
use spc_tests::case::Case;
use spc_tests::engine::Ready;
use spc_tests::harness::{Failure, Suite, options};
use spc_tests::native;

/// Kernels over rows of `R` elements: a name, the extents of other indices, and the text.
const KERNELS: [(&str, &str, &str); 22] = [
    (
        "mttkrp_csf",
        "i=5 j=6 k=7",
        "fn f(X: f64 csf, B: f64 dense, C: f64 dense) -> A: f64 dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }",
    ),
    (
        "mttkrp_csf_2",
        "i=5 j=6 k=7",
        "fn f(X: f32 csf, A: f32 dense, C: f32 dense) -> B: f32 dense { B(j, r) = X(i, j, k) * A(i, r) * C(k, r); }",
    ),
    (
        "mttkrp_coo",
        "i=5 j=6 k=7",
        "fn f(X: f64 coo, B: f64 dense, C: f64 dense) -> A: f64 dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }",
    ),
    (
        "mttkrp_coo_3",
        "i=5 j=6 k=7",
        "fn f(X: i32 coo, A: i32 dense, B: i32 dense) -> C: i32 dense { C(k, r) = X(i, j, k) * A(i, r) * B(j, r); }",
    ),
    (
        "mttkrp_alto",
        "i=5 j=6 k=7",
        "fn f(X: f64 alto, B: f64 dense, C: f64 dense) -> A: f64 dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }",
    ),
    (
        "mttkrp_hicoo",
        "i=5 j=6 k=7",
        "fn f(X: f64 hicoo(2), B: f64 dense, C: f64 dense) -> A: f64 dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }",
    ),
    (
        "mttkrp_complex",
        "i=4 j=3 k=5",
        "fn f(X: c64 csf, B: c64 dense, C: c64 dense) -> A: c64 dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }",
    ),
    (
        "mttkrp_deterministic",
        "i=5 j=6 k=7",
        "fn f(X: f64 csf, B: f64 dense, C: f64 dense) -> A: f64 dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }\nschedule { deterministic(); }",
    ),
    (
        "ttm_csf",
        "i=5 j=6 k=7",
        "fn f(X: f64 csf, U: f64 dense) -> Y: f64 [compressed, compressed, dense] { Y(i, j, r) = X(i, j, k) * U(k, r); }",
    ),
    ("ttm_coo", "i=5 j=6 k=7", "fn f(X: f32 coo, U: f32 dense) -> Y: f32 scoo { Y(i, j, r) = X(i, j, k) * U(k, r); }"),
    ("spmm_csr", "i=5 j=9", "fn f(A: f64 csr, X: f64 dense) -> Y: f64 dense { Y(i, r) = A(i, j) * X(j, r); }"),
    ("spmm_csc", "i=5 j=9", "fn f(A: f64 csc, X: f64 dense) -> Y: f64 dense { Y(i, r) = A(i, j) * X(j, r); }"),
    (
        "spmm_balanced",
        "i=5 j=9",
        "fn f(A: f32 csr, X: f32 dense) -> Y: f32 dense { Y(i, r) = A(i, j) * X(j, r); }\nschedule { parallel(i: balanced(A)); }",
    ),
    (
        "spmm_added",
        "i=5 j=9",
        "fn f(A: f64 csr, X: f64 dense, Z: f64 dense) -> Y: f64 dense { Y(i, r) = Z(i, r) - 2 * A(i, j) * X(j, r); }",
    ),
    (
        "spmm_min_plus",
        "i=5 j=9",
        "fn f(A: f64 csr fill inf, X: f64 dense) -> Y: f64 dense { Y(i, r) min= A(i, j) + X(j, r); }",
    ),
    ("spmm_max_times", "i=5 j=9", "fn f(A: i64 csr, X: i64 dense) -> Y: i64 dense { Y(i, r) max= A(i, j) * X(j, r); }"),
    ("spmm_or_and", "i=5 j=9", "fn f(A: bool csr, X: bool dense) -> Y: bool dense { Y(i, r) |= A(i, j) && X(j, r); }"),
    ("spmm_bits", "i=5 j=9", "fn f(A: u8 csr, X: u8 dense) -> Y: u8 dense { Y(i, r) |= A(i, j) & X(j, r); }"),
    (
        "two_results",
        "i=5 j=9",
        "fn f(A: f64 csr, X: f64 dense) -> (Y: f64 dense, Z: f64 dense) { Y(i, r) = A(i, j) * X(j, r); Z(i, r) = 3 * A(i, j) * X(j, r); }",
    ),
    (
        "sddmm",
        "i=5 j=9",
        "fn f(S: f64 csr, A: f64 dense, B: f64 dense) -> Y: f64 csr { Y(i, j) = S(i, j) * A(i, r) * B(j, r); }",
    ),
    ("product", "i=5 j=9", "fn f(A: f64 dense, B: f64 dense) -> C: f64 dense { C(i, r) = A(i, j) * B(j, r); }"),
    ("gram", "i=9 s=3", "fn f(A: f32 dense, B: f32 dense) -> G: f32 dense { G(s, r) = A(i, s) * B(i, r); }"),
];

/// The lengths of rows: around each width of a tile, and beyond the longest strip.
fn ranks() -> impl Iterator<Item = u64> {
    let around = [24, 25, 31, 32, 33, 48, 49, 63, 64, 65, 100, 127, 129, 257, 449];
    [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17].into_iter().chain(around)
}

/// Widths that a schedule may ask for.
const ASKED: [&str; 7] = ["overlapped(64)", "overlapped(24)", "overlapped(5)", "overlapped(1)", "16", "3", "none"];

fn case((name, extents, text): (&str, &str, &str), rank: u64) -> Case {
    Case::parse(name, &format!("// dims: {extents} r={rank}\n{text}")).expect("the header is right")
}

fn fixed(case: &Case, extents: &[(&str, u64)]) -> Ready {
    let ready = Ready::fixed(case, schedule::Options::default(), extents);
    ready.unwrap_or_else(|stop| panic!("{}: {stop:?}", case.name))
}

fn interpret(kernel: (&str, &str, &str), is_known: bool) -> Result<(), String> {
    ranks().try_for_each(|rank| {
        let case = case(kernel, rank);
        let extents: &[(&str, u64)] = if is_known { &[("r", rank)] } else { &[] };
        fixed(&case, extents).interpret(case.seed).map_err(|wrong| format!("{rank} elements: {wrong}"))
    })
}

/// One program for rows of any length, as users get it.
fn run(kernel: (&str, &str, &str)) -> Result<(), Failure> {
    let all: Vec<(u64, Ready)> = ranks().map(|rank| (rank, fixed(&case(kernel, rank), &[]))).collect();
    let chains = native::compile_optimized(&[&all[0].1.program]).map_err(Failure::Skip)?;
    let check = |chain: &Chain, rank: u64, ready: &Ready| {
        ready.run(chain).map_err(|wrong| Failure::Wrong(format!("{rank} elements: {wrong}")))
    };
    all.iter().try_for_each(|(rank, ready)| check(&chains[0], *rank, ready))
}

/// A program for each of some lengths.
fn run_known(kernel: (&str, &str, &str)) -> Result<(), Failure> {
    let all: Vec<(u64, Ready)> =
        [10, 48, 130, 300].into_iter().map(|rank| (rank, fixed(&case(kernel, rank), &[("r", rank)]))).collect();
    let programs: Vec<_> = all.iter().map(|(_, ready)| &ready.program).collect();
    let chains = native::compile_optimized(&programs).map_err(Failure::Skip)?;
    all.iter().zip(&chains).try_for_each(|((rank, ready), chain)| {
        ready.run(chain).map_err(|wrong| Failure::Wrong(format!("{rank} elements: {wrong}")))
    })
}

/// As a schedule asks, with lengths that are known and not.
fn asked(width: &str) -> Result<(), String> {
    for &(name, extents, text) in KERNELS.iter().filter(|(name, ..)| ["mttkrp_csf", "spmm_csr"].contains(name)) {
        let text = match text.strip_suffix(" }").filter(|_| text.contains("schedule")) {
            Some(open) => format!("{open} register_tile(r, {width}); }}"),
            None => format!("{text}\nschedule {{ register_tile(r, {width}); }}"),
        };
        for rank in [1, 4, 5, 7, 16, 24, 25, 33, 63, 64, 65, 129] {
            let case = case((name, extents, &text), rank);
            // A loop over one element is none.
            for known in [&[][..], &[("r", rank)]].into_iter().filter(|known| rank > 1 || known.is_empty()) {
                let wrong = |wrong| format!("{name}, {rank} elements, {known:?}: {wrong}");
                fixed(&case, known).interpret(case.seed).map_err(wrong)?;
            }
        }
    }
    Ok(())
}

/// Adds the tests of this module.
pub(crate) fn tests(suite: &mut Suite) {
    for kernel in KERNELS {
        suite.test(format!("tiles::interpreter {}", kernel.0), move || interpret(kernel, false));
        suite.test(format!("tiles::interpreter {} known", kernel.0), move || interpret(kernel, true));
    }
    // The usual tier runs a kernel of each family natively.
    let others =
        ["mttkrp_csf_2", "mttkrp_coo_3", "mttkrp_deterministic", "ttm_coo", "spmm_csc", "spmm_bits", "spmm_max_times"];
    for kernel in KERNELS.into_iter().filter(|(name, ..)| options().whole || !others.contains(name)) {
        suite.test(format!("tiles::native {}", kernel.0), move || run(kernel));
    }
    for kernel in
        KERNELS.into_iter().filter(|(name, ..)| ["mttkrp_csf", "mttkrp_hicoo", "spmm_added", "gram"].contains(name))
    {
        suite.test(format!("tiles::native {} known", kernel.0), move || run_known(kernel));
    }
    for width in ASKED {
        suite.test(format!("tiles::asked {width}"), move || asked(width));
    }
}
