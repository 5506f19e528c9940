//! The Einstein rule, bare expressions and what is refused, on small texts.

use super::{FormatOption, Kernel, Problems, check, check_expression, sparsest};
use crate::diagnostics::Code;
use crate::diagnostics::codes::Entry;
use crate::diagnostics::codes::notation::NO_GRADIENT;
use crate::format::resolve::Definitions;
use crate::plan;
use crate::schedule::{Options, schedule};
use crate::syntax::{parse_parameter_format, parse_program, parse_statement};

fn bare(expression: &str, formats: &[(&str, &str)]) -> Result<Kernel, Problems> {
    let statement = parse_statement(expression).expect(expression);
    let option = |(name, text): &(&str, &str)| FormatOption::new(*name, parse_parameter_format(text).expect(text));
    check_expression(&statement, &formats.iter().map(option).collect::<Vec<_>>(), &Definitions::prelude())
}

fn statement(expression: &str, formats: &[(&str, &str)]) -> String {
    let kernel = bare(expression, formats).unwrap_or_else(|problems| panic!("{expression}: {problems:?}"));
    kernel.statement(&kernel.statements[0]).to_string()
}

fn codes(expression: &str, formats: &[(&str, &str)]) -> Vec<Code> {
    let problems = bare(expression, formats).expect_err(expression);
    let all = problems.expression.iter().chain(problems.options.iter().flat_map(|option| option.iter()));
    all.map(|problem| problem.code).collect()
}

fn program_codes(text: &str) -> Vec<u16> {
    let scheduled = |kernel: &Kernel| schedule(kernel, Options::default()).map(drop);
    let found = check(&parse_program(text).expect(text)).and_then(|kernels| kernels.iter().try_for_each(scheduled));
    let found = found.expect_err(text);
    found.into_sorted().into_iter().map(|problem| problem.code.number).collect()
}

/// The element types of all tensors, in order.
fn elements(expression: &str, formats: &[(&str, &str)]) -> Vec<&'static str> {
    let kernel = bare(expression, formats).unwrap_or_else(|problems| panic!("{expression}: {problems:?}"));
    kernel.tensors.iter().map(|tensor| tensor.element.name()).collect()
}

#[test]
fn types_are_inferred_where_nothing_says_them() {
    assert_eq!(elements("y(i) = X(i, j)", &[("X", "i64 csf")]), ["i64", "i64"]);
    assert_eq!(elements("Y(i, r) = X(i, j) * B(j, r)", &[("X", "i64 csr")]), ["i64"; 3]);
    assert_eq!(elements("Y(i, j) = X(i, j)", &[("X", "u64 csr"), ("Y", "csr")]), ["u64"; 2]);
    assert_eq!(elements("y(i) = A(i, j) * x(j)", &[("A", "c64 csr")]), ["c64", "f64", "c64"]);
    assert_eq!(elements("b(i) = x(i) > 0", &[]), ["f64", "bool"]);
    assert_eq!(elements("b(i) = f && x(i)", &[("x", "bool dense")]), ["bool"; 3]);
    // What is said holds, and so does the default where it can.
    assert_eq!(elements("y(i) = A(i, j) * x(j)", &[("A", "f32 csr")]), ["f32", "f64", "f64"]);
    assert_eq!(elements("y(i) = X(i, j)", &[("X", "i32 csr")]), ["i32", "f64"]);
    assert_eq!(elements("y(i) = f64(X(i, j)) * x(j)", &[("X", "i64 csr")]), ["i64", "f64", "f64"]);
    assert_eq!(elements("p(i) = argmax(j)(X(i, j))", &[("X", "csr")]), ["f64", "f64"]);
    assert_eq!(codes("y(i) = X(i, j)", &[("X", "i64 csr"), ("y", "f64 dense")]), [Code::error(404)]);
    assert_eq!(codes("y(i) = X(i, j) * x(j)", &[("X", "i64 csr"), ("x", "f32 dense")]), [Code::error(404)]);
}

#[test]
fn results_are_as_sparse_as_their_expressions() {
    let of = |expression: &str, formats: &[(&str, &str)]| {
        let kernel = bare(expression, formats).unwrap();
        let result = kernel.tensors.last().unwrap();
        sparsest(&kernel, result).map(|format| format.to_string())
    };
    let format = |text: &str| Some(text.to_owned());
    let csr = "[dense, compressed]";
    assert_eq!(of("B(i, j) = 2 * A(i, j)", &[("A", "csr")]), format(csr));
    assert_eq!(of("C(i, k) = A(i, j) * B(j, k)", &[("A", "csr"), ("B", "csr")]), format(csr));
    assert_eq!(of("C(i, j) = A(i, j) * x(i) * y(j)", &[("A", "dcsr")]), format("[compressed, compressed]"));
    assert_eq!(of("B(j, i) = A(i, j)", &[("A", "csr")]).map(|format| format.contains("compressed")), Some(true));
    assert_eq!(of("y(i) = A(i, j) * x(j)", &[("A", "csr")]), None);
    assert_eq!(of("Y(i, r) = X(i, j, k) * B(j, r) * C(k, r)", &[("X", "csf")]), None);
    assert_eq!(of("B(i, j) = A(i, j) + 1", &[("A", "csr")]), None);
    assert_eq!(of("B(i, j) = A(i, j) + x(j)", &[("A", "csr")]), None);
    assert_eq!(of("B(i, j) = exp(A(i, j))", &[("A", "csr")]), None);
    assert_eq!(of("B(i, j) = X(i, j)", &[]), None);
}

#[test]
fn infinity_is_a_number_where_nothing_has_its_name() {
    assert_eq!(statement("y(i) = max(x(i), -inf)", &[]), "y(i) = max(x(i), -inf);");
    assert_eq!(statement("y(i) min= inf", &[("y", "f32 dense")]), "y(i) min= inf;");
    assert_eq!(elements("y(i) = inf * x(i)", &[("inf", "f64")]), ["f64"; 3]);
    assert_eq!(codes("y(i) = min(x(i), inf)", &[("x", "i64 dense")]), [Code::error(303)]);
    let text = "fn f(a) = max(a, -inf);\nfn k(x: dense) -> y: dense { let t(i) = f(x(i)); y(i) = t(i) + inf; }";
    assert!(check(&parse_program(text).unwrap()).is_ok());
}

#[test]
fn each_additive_term_has_its_own_sum() {
    assert_eq!(statement("y(i) = b(i) - A(i, j) * x(j)", &[]), "y(i) = b(i) - sum(j)(A(i, j) * x(j));");
    assert_eq!(statement("a = b(i) * c(i)", &[]), "a = sum(i)(b(i) * c(i));");
    assert_eq!(statement("a = -(b(i) + c(j))", &[]), "a = -(sum(i)(b(i)) + sum(j)(c(j)));");
    assert_eq!(
        statement("y(i) = A(i, j) + (B(i, j) - C(i, k, j))", &[]),
        "y(i) = sum(j)(A(i, j)) + (sum(j_1)(B(i, j_1)) - sum(k, j_2)(C(i, k, j_2)));"
    );
}

#[test]
fn a_term_without_sums_at_its_root_is_summed_as_a_whole() {
    assert_eq!(statement("y(i) = A(i, j) * (x(j) + z(j))", &[]), "y(i) = sum(j)(A(i, j) * (x(j) + z(j)));");
    assert_eq!(statement("y(i) = sqrt(A(i, j)) + x(i)", &[]), "y(i) = sum(j)(sqrt(A(i, j))) + x(i);");
    assert_eq!(
        statement("y(i) = select(A(i, j) < 2, x(j), 1)", &[]),
        "y(i) = sum(j)(select(A(i, j) < 2.0, x(j), 1.0));"
    );
    assert_eq!(statement("y(i) = x(i) / (A(i, j) + 1)", &[]), "y(i) = sum(j)(x(i) / (A(i, j) + 1.0));");
}

#[test]
fn other_operators_reduce_the_whole_right_hand_side() {
    assert_eq!(statement("y(i) += A(i, j) + b(i)", &[]), "y(i) += sum(j)(A(i, j)) + b(i);");
    assert_eq!(statement("y(i) min= A(i, j) + x(j)", &[]), "y(i) min= min(j)(A(i, j) + x(j));");
    assert_eq!(statement("y(i) max= x(i)", &[]), "y(i) max= x(i);");
    assert_eq!(statement("y(i) *= A(i, j)", &[]), "y(i) *= prod(j)(A(i, j));");
}

#[test]
fn explicit_sums_bind_their_own_variables() {
    assert_eq!(statement("y(i) = 2 * sum(k)(A(i, k))", &[]), "y(i) = 2.0 * sum(k)(A(i, k));");
    assert_eq!(statement("a = sum(k)(b(k)) * sum(k)(c(k))", &[]), "a = sum(k)(b(k)) * sum(k_1)(c(k_1));");
    assert_eq!(statement("y(i) = sum(k)(A(i, k)) * x(j)", &[]), "y(i) = sum(j)(sum(k)(A(i, k)) * x(j));");
    assert_eq!(codes("a = sum(k)(b(k)) * c(k)", &[]), [Code::error(113)]);
    assert_eq!(codes("a(k) = sum(k)(b(k))", &[]), [Code::error(113)]);
    assert_eq!(codes("a = sum(k)(sum(k)(b(k)))", &[]), [Code::error(113)]);
    assert_eq!(codes("a = sum(k, l)(b(k))", &[]), [Code::error(112)]);
}

#[test]
fn variables_are_numbered_by_appearance() {
    let kernel = bare("A(i, r) = X(i, j, k) * B(j, r) * C(k, r)", &[("X", "csf")]).expect("is fine");
    let names: Vec<&str> = kernel.variables.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["i", "r", "j", "k"]);
    assert_eq!(
        kernel.to_string(),
        "pub fn kernel(X: f64 [compressed, compressed, compressed], B: f64 [dense, dense], C: f64 [dense, dense]) -> A: f64 \
         [dense, dense] {\n    A(i, r) = sum(j, k)(X(i, j, k) * B(j, r) * C(k, r));\n}"
    );
}

#[test]
fn bare_names_are_scalars_unless_they_index() {
    let kernel = bare("y(i) = alpha * A(i, j) * j + beta", &[("beta", "f64")]).expect("is fine");
    assert_eq!(
        kernel.tensors.iter().map(|tensor| (tensor.name.as_str(), tensor.format.order)).collect::<Vec<_>>(),
        [("alpha", 0), ("A", 2), ("beta", 0), ("y", 1)]
    );
    assert_eq!(kernel.statement(&kernel.statements[0]).to_string(), "y(i) = sum(j)(alpha * A(i, j) * j) + beta;");
}

#[test]
fn literals_take_the_type_of_the_tensors() {
    assert_eq!(statement("y(i) = 2 * x(i) + 1e-3", &[]), "y(i) = 2.0 * x(i) + 0.001;");
    let integer = [("x", "i32 dense"), ("y", "i32 dense")];
    assert_eq!(statement("y(i) = 1_000 * x(i) - -0x10", &integer), "y(i) = 1000 * x(i) - -16;");
    assert_eq!(codes("y(i) = 2.5 * x(i)", &integer), [Code::error(303)]);
    assert_eq!(codes("y(i) = sqrt(x(i))", &integer), [Code::error(302)]);
    assert_eq!(codes("y(i) = 300 * x(i)", &[("x", "u8 dense"), ("y", "u8 dense")]), [Code::error(303)]);
    assert_eq!(codes("y(i) |= x(i)", &[]), [Code::error(302)]);
    assert_eq!(codes("y(i) = x(i)", &[("y", "f32 dense")]), [Code::error(404)]);
}

#[test]
fn operands_are_converted_where_nothing_is_lost() {
    let single = [("x", "f32 dense")];
    assert_eq!(statement("y(i) = x(i) * z(i)", &single), "y(i) = f64(x(i)) * z(i);");
    assert_eq!(statement("y(i) = 2 * x(i) - z(i)", &single), "y(i) = f64(2.0 * x(i)) - z(i);");
    assert_eq!(
        statement("y(i) = A(i, j) * x(j)", &[("A", "f32 csr"), single[0]]),
        "y(i) = sum(j)(f64(A(i, j) * x(j)));"
    );
    assert_eq!(
        statement("y(i) = f64(i) + select(i < 2, x(i), 1)", &single),
        "y(i) = i + f64(select(i < 2, x(i), 1.0));"
    );
    let integers = [("x", "i64 dense")];
    assert_eq!(codes("y(i) = x(i) * z(i)", &[integers[0], ("z", "f64 dense")]), [Code::error(404)]);
    assert_eq!(statement("y(i) = f64(x(i)) * z(i)", &integers), "y(i) = f64(x(i)) * z(i);");
    assert_eq!(codes("y(i) = 1.5 * x(i)", &integers), [Code::error(303)]);
}

/// The codes of an expression's warnings.
fn warnings(expression: &str, formats: &[(&str, &str)]) -> Vec<String> {
    let kernel = bare(expression, formats).unwrap_or_else(|problems| panic!("{expression}: {problems:?}"));
    kernel.warnings.iter().map(|warning| warning.code.to_string()).collect()
}

#[test]
fn a_sparse_result_that_is_full_is_warned_of() {
    let sparse = [("X", "csr"), ("Y", "csr")];
    for fine in [
        "Y(i, j) = -X(i, j)",
        "Y(i, j) = 2 * X(i, j) + sqrt(abs(X(i, j)))",
        "Y(i, j) = X(i, j) + 1 where X(i, j)",
        "Y(i, j) = min(X(i, j), 1)",
        "Y(i, j) = select(X(i, j) > 0.5, 1, 0)",
        "Y(i, j) = X(i, j) / d(j)",
        "Y(i, j) = d(i) where X(i, j)",
        "Y(i, i) = d(i)",
        "Y(0, 1) = d(2)",
    ] {
        assert_eq!(warnings(fine, &sparse[usize::from(!fine.contains('X'))..]), [""; 0], "{fine}");
    }
    for full in [
        "Y(i, j) = X(i, j) + 1",
        "Y(i, j) = exp(X(i, j))",
        "Y(i, j) = X(i, j) + B(i, j)",
        "Y(i, j) = max(X(i, j), 1)",
        "Y(i + 1, j) = X(i, j) + 1",
        "Y(i, j) = B(i, j)",
    ] {
        assert_eq!(warnings(full, &sparse[usize::from(!full.contains('X'))..]), ["W0104"], "{full}");
    }
    assert_eq!(warnings("Y(i, _j) = d(i)", &[("Y", "csr")]), ["W0104"]);
    assert_eq!(warnings("Y(i, _j) = d(i)", &[("Y", "csr"), ("d", "[compressed]")]), ["W0104"]);
    assert_eq!(warnings("Y(i, _j) = d(i)", &[]), [""; 0]);
}

#[test]
fn missing_entries_do_not_divide() {
    let sparse = [("X", "csr"), ("Y", "csr"), ("Z", "csr")];
    assert_eq!(codes("Z(i, j) = X(i, j) / Y(i, j)", &sparse), [Code::error(306)]);
    assert!(bare("Z(i, j) = X(i, j) / Y(i, j) where X(i, j)", &sparse).is_ok());
    assert!(bare("Z(i, j) = X(i, j) / (1 + Y(i, j))", &sparse).is_ok());
    assert_eq!(codes("z(i) = x(i) / sum(j)(Y(i, j))", &[("Y", "csr")]), [Code::error(306)]);
}

#[test]
fn the_design_s_examples_pass() {
    let text = "
        fn mttkrp(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }
        fn ttm(X: coo, U: dense) -> Y: [compressed(nonunique), singleton, dense] { Y(i, j, r) = X(i, j, k) * U(k, r); }
        format blocks(B) = (i, j) -> [i / B: dense, j / B: compressed, i % B: dense, j % B: dense];
        fn spmm(A: f32 blocks(4), X: f32 dense) -> Y: f32 dense { Y(i, r) = A(i, j) * X(j, r); }";
    assert_eq!(check(&parse_program(text).expect(text)).map(|kernels| kernels.len()), Ok(3));
}

#[test]
fn what_is_printed_is_read_again() {
    let text = "
        /// Twice a product.
        ///
        /// And more.
        pub(crate) fn f(A: f32 csc, x: f32 [compressed(u16)], alpha: f32, M: i32 coo) -> y: f32 dense {
            y(i) += -alpha * (A(i, j) - 2.5) * x(j) - (x(i) - A(i, j))
                + pow(abs(x(i)), 2) * select(!(x(i) < 1) && x(i) != i || false, -1, x(k) / 3) where M(i);
        }";
    let kernels = check(&parse_program(text).expect(text)).expect(text);
    let printed = kernels[0].to_string();
    let again = check(&parse_program(&printed).expect(&printed)).expect(&printed);
    assert_eq!(again[0].to_string(), printed);
    insta::assert_snapshot!(printed, @r"
    /// Twice a product.
    ///
    /// And more.
    pub(crate) fn f(A: f32 (i, j) -> [j: dense, i: compressed], x: f32 [compressed(u16)], alpha: f32, M: i32 [compressed]) -> y: f32 [dense] {
        y(i) += sum(j)(-alpha * (A(i, j) - 2.5) * x(j)) - (x(i) - sum(j_1)(A(i, j_1))) + sum(k)(pow(abs(x(i)), 2.0) * select(!(x(i) < 1.0) && x(i) != i || false, -1.0, x(k) / 3.0)) where M(i);
    }
    ");
}

#[test]
fn every_problem_is_reported_at_once() {
    let text = "fn f(A: csr, B: scr, unused: dense) -> (y: dense, z: dense) { y(i) = A(i) * w(i) + sqr(B(i, j)); }";
    assert_eq!(program_codes(text), [201, 103, 104, 205, 101, 107]);
}

/// The program under a line `Wrong:` or `Correct:` of an explanation.
fn example(explanation: &str, heading: &str) -> String {
    let lines = explanation.lines().skip_while(|line| *line != heading).skip(1);
    let example = lines.take_while(|line| line.is_empty() || line.starts_with("    "));
    example.map(|line| format!("{}\n", line.trim())).collect()
}

#[test]
fn the_examples_of_explanations_are_what_they_say() {
    // `spc grad` alone says that there is no gradient.
    let of_checks = |entry: &&Entry| entry.code != NO_GRADIENT;
    for entry in crate::diagnostics::codes::notation::ENTRIES.iter().filter(of_checks) {
        let wrong = example(entry.explanation, "Wrong:");
        assert!(program_codes(&wrong).contains(&entry.code.number), "{}: {:?}", entry.code, program_codes(&wrong));
        let correct = example(entry.explanation, "Correct:");
        let program = parse_program(&correct).expect(&correct);
        assert_eq!(check(&program).err(), None, "{}:\n{correct}", entry.code);
    }
}

#[test]
fn the_examples_of_warnings_are_what_they_say() {
    for entry in crate::diagnostics::codes::warnings::ENTRIES {
        let warnings = |heading| {
            let kernels = check(&parse_program(&example(entry.explanation, heading)).expect(heading)).expect(heading);
            let of_plans = |kernel: &Kernel| plan::ruled_out(kernel, &plan::Facts::stated(kernel, &[]));
            let all = kernels.into_iter().flat_map(|kernel| of_plans(&kernel).into_iter().chain(kernel.warnings));
            all.map(|warning| warning.code).collect::<Vec<_>>()
        };
        assert!(warnings("Wrong:").contains(&entry.code), "{}", entry.code);
        assert_eq!(warnings("Correct:"), [], "{}", entry.code);
    }
}
