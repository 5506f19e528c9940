//! Functions and reductions of other languages, and what is written here.

use super::parse_without_hints;
use crate::syntax::{Access, Expr, ExprKind, Index, functions};

/// What stands here for a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Here {
    /// A function, or a reduction where the name is that of one.
    Name(&'static str),
    /// An expression of the arguments `a`, `b` and `c`.
    Expression(&'static str),
    /// Whatever else there is to say; code in it is a whole expression or statement.
    Words(&'static str),
}

use Here::*;

const TABLE: &[(&[&str], Here)] = &[
    (&["log", "loge"], Name("ln")),
    (&["lb"], Name("log2")),
    (&["lg"], Name("log10")),
    (&["power"], Name("pow")),
    (&["arcsin"], Name("asin")),
    (&["arccos"], Name("acos")),
    (&["arctan"], Name("atan")),
    (&["arctan2"], Name("atan2")),
    (&["arcsinh", "arsinh"], Name("asinh")),
    (&["arccosh", "arcosh"], Name("acosh")),
    (&["arctanh", "artanh"], Name("atanh")),
    (&["fabs", "absolute", "magnitude", "modulus"], Name("abs")),
    (&["minimum", "fmin", "amin"], Name("min")),
    (&["maximum", "fmax", "amax"], Name("max")),
    (&["ite", "ternary", "if", "iif", "ifelse", "if_else", "choose"], Name("select")),
    (&["signum", "sgn"], Name("sign")),
    (&["real"], Name("re")),
    (&["imag"], Name("im")),
    (&["conjugate"], Name("conj")),
    (&["rint", "nearbyint"], Name("round")),
    (&["fix"], Name("trunc")),
    (&["ceiling"], Name("ceil")),
    (&["product"], Name("prod")),
    (&["total", "reduce_sum"], Name("sum")),
    (&["int", "long", "int64"], Name("i64")),
    (&["int32"], Name("i32")),
    (&["float", "double", "float64"], Name("f64")),
    (&["float32", "single"], Name("f32")),
    (&["log1p", "ln1p", "ln_1p"], Expression("ln(1 + a)")),
    (&["expm1", "exp_m1"], Expression("exp(a) - 1")),
    (&["exp2"], Expression("pow(2, a)")),
    (&["exp10"], Expression("pow(10, a)")),
    (&["square", "sq", "sqr"], Expression("a * a")),
    (&["cube"], Expression("a * a * a")),
    (&["rsqrt", "inversesqrt"], Expression("1 / sqrt(a)")),
    (&["recip", "reciprocal", "inv"], Expression("1 / a")),
    (&["neg", "negative"], Expression("-a")),
    (&["hypot"], Expression("sqrt(a * a + b * b)")),
    (&["mod", "fmod", "rem", "remainder"], Expression("a % b")),
    (&["add", "plus"], Expression("a + b")),
    (&["sub", "subtract", "minus"], Expression("a - b")),
    (&["mul", "multiply", "times"], Expression("a * b")),
    (&["div", "divide", "true_divide"], Expression("a / b")),
    (&["clip", "clamp"], Expression("min(max(a, b), c)")),
    (&["relu"], Expression("max(a, 0)")),
    (&["sigmoid", "logistic", "expit"], Expression("1 / (1 + exp(-a))")),
    (&["softplus"], Expression("max(a, 0) + ln(1 + exp(-abs(a)))")),
    (&["sec"], Expression("1 / cos(a)")),
    (&["csc", "cosec"], Expression("1 / sin(a)")),
    (&["cot", "cotan"], Expression("1 / tan(a)")),
    (&["frac", "fract"], Expression("a - trunc(a)")),
    (&["isnan", "is_nan"], Expression("select(a != a, 1, 0)")),
    (&["angle", "arg", "phase"], Expression("atan2(im(a), re(a))")),
    (&["heaviside", "step"], Expression("select(a > 0, 1, 0)")),
    (&["mean", "average", "avg"], Words("a mean is over indices: `mean(i)(x(i))`")),
    (&["var", "variance"], Words("a variance is over indices: `var(i)(x(i))`")),
    (&["std", "stddev"], Words("a standard deviation is the root of a variance: `sqrt(var(i)(x(i)))`")),
    (&["norm", "norm2", "l2", "nrm2"], Words("a norm is over indices: `norm2(i)(x(i))`")),
    (&["norm1", "l1", "asum"], Words("a norm is made of a sum: `sum(i)(abs(x(i)))`")),
    (
        &["count", "count_nonzero", "nnz", "len_nonzero"],
        Words("what is counted is a sum of ones: `sum(i)(select(x(i) != 0, 1, 0))`"),
    ),
    (
        &["len", "length", "size", "shape", "numel", "dim"],
        Words("the length of a mode is that of its index: `extent(i)`, as in `sum(i)(x(i)) / extent(i)`"),
    ),
    (
        &["dot", "inner", "vdot", "tensordot", "matmul", "mm", "mv", "spmv", "gemm"],
        Words(
            "a product is written with indices, and is summed over those that the result lacks: `y(i) = A(i, j) * x(j)`",
        ),
    ),
    (&["outer", "kron"], Words("a product is written with indices: `C(i, j) = x(i) * z(j)`")),
    (&["transpose", "permute", "swapaxes"], Words("modes are exchanged by the order of indices: `B(i, j) = A(j, i)`")),
    (&["trace", "tr"], Words("the diagonal is an index twice: `t = A(i, i)`")),
    (&["diag", "diagonal"], Words("the diagonal is an index twice: `d(i) = A(i, i)`")),
    (
        &["cumsum", "scan", "prefix"],
        Words("a sum of all that is before is chosen by its indices: `y(i) = x(j) where j <= i`"),
    ),
    (
        &["hstack", "vstack", "stack", "cat", "concatenate", "append"],
        Words("tensors are joined along an index: `C(i, j) = concat(j, A(i, j), B(i, j))`"),
    ),
    (
        &["softmax"],
        Words(
            "softmax is over indices, of the entries that a mask chooses: `P(i, j) = softmax(j)(S(i, j)) where S(i, j)`",
        ),
    ),
    (&["logsumexp", "lse"], Words("it is over indices: `logsumexp(i)(x(i))`")),
    (
        &["sort", "argsort", "sorted", "unique", "median", "quantile", "percentile", "topk"],
        Words("nothing sorts values: `max(i)(x(i))` and `argmax(i)(x(i))` are the greatest value and its place"),
    ),
    (
        &["grad", "gradient", "diff", "derivative", "jacobian", "hessian"],
        Words("`spc grad FILE --by A,x` makes the gradient of a kernel, as a kernel"),
    ),
    (
        &["erf", "erfc", "gamma", "lgamma", "digamma", "beta", "bessel", "sinc"],
        Words("there are no special functions: compute their values outside and pass them as a tensor"),
    ),
    (&["rand", "randn", "random", "normal", "uniform"], Words("there are no random numbers: pass them as a tensor")),
    (
        &["zeros", "ones", "full", "eye", "identity", "arange", "range", "linspace"],
        Words(
            "a number stands for a tensor of it, and an index for its value: `y(i) = 2 * i + x(i)`, `C(i, j) = select(i == j, A(i, j), 0)`",
        ),
    ),
];

fn find(name: &str) -> Option<Here> {
    TABLE.iter().find(|(names, _)| names.contains(&name)).map(|(_, here)| *here)
}

/// Our name of a function that other languages call otherwise.
pub(crate) fn function(name: &str) -> Option<&'static str> {
    match find(name)? {
        Name(name) => Some(name).filter(|name| functions().any(|known| known == *name)),
        _ => None,
    }
}

/// What to write for a call of a function, or a reduction, of another language.
pub(crate) fn instead(name: &str, call: Option<&Access>) -> Option<String> {
    match find(name)? {
        Name(name) => Some(format!("did you mean `{name}`?")),
        Words(words) => Some(words.to_owned()),
        Expression(text) => {
            let given: Vec<Expr> = call.iter().flat_map(|call| &call.indices).filter_map(expression).collect();
            let written = with_arguments(text, &given).unwrap_or_else(|| text.to_owned());
            Some(format!("write `{written}`"))
        }
    }
}

fn expression(index: &Index) -> Option<Expr> {
    match index {
        Index::Expr(expr) => Some(expr.clone()),
        Index::Range { .. } => None,
    }
}

/// The expression with arguments in the places of `a`, `b` and `c`, if there are as many.
fn with_arguments(text: &str, given: &[Expr]) -> Option<String> {
    let mut expr = parse_without_hints(&format!("y = {text}")).ok()?.value;
    place(&mut expr, given)?;
    Some(expr.to_string())
}

fn place(expr: &mut Expr, given: &[Expr]) -> Option<()> {
    match &mut expr.kind {
        ExprKind::Name(name) => {
            let place = ["a", "b", "c"].iter().position(|known| *known == name.name)?;
            *expr = given.get(place)?.clone();
            Some(())
        }
        ExprKind::Unary(_, operand) => place(operand, given),
        ExprKind::Binary(_, left, right) => place(left, given).and(place(right, given)),
        ExprKind::Call(_, arguments) => arguments.iter_mut().try_for_each(|argument| place(argument, given)),
        _ => Some(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::resolve::Definitions;
    use crate::notation::FormatOption;
    use crate::notation::check_expression;
    use crate::syntax::{parse_parameter_format, parse_statement};

    fn compiles(text: &str) -> bool {
        let statement = parse_statement(text).unwrap_or_else(|problems| panic!("{text}: {:?}", problems.into_sorted()));
        let complex = || FormatOption::new("z", parse_parameter_format("c64 dense").unwrap());
        let options: Vec<FormatOption> = text.contains("re(").then(complex).into_iter().collect();
        check_expression(&statement, &options, &Definitions::prelude()).map(|_| ()).is_ok()
    }

    #[test]
    fn no_name_stands_twice_or_is_ours() {
        let names: Vec<&str> = TABLE.iter().flat_map(|(names, _)| *names).copied().collect();
        for (place, name) in names.iter().enumerate() {
            assert!(!names[..place].contains(name), "{name}");
            assert!(!functions().any(|known| known == *name), "{name}");
        }
    }

    #[test]
    fn what_is_said_of_each_name_compiles() {
        for (names, here) in TABLE {
            match here {
                Name(name) => {
                    let is_reduction =
                        crate::ir::ReduceOperator::ALL.iter().any(|known| known.row().reduction == *name);
                    assert!(functions().any(|known| known == *name) || is_reduction, "{name}");
                }
                Expression(text) => {
                    let element = if text.contains("re(") { "z(i)" } else { "x(i) + 1" };
                    let call = format!("y(i) = {}({element}, u(i) - 1, v(i))", names[0]);
                    let Ok(statement) = parse_statement(&call) else { continue };
                    let ExprKind::Access(access) = &statement.value.kind else { panic!("{call}") };
                    let said = instead(names[0], Some(access)).unwrap();
                    let line = format!("y(i) = {}", said.trim_start_matches("write `").trim_end_matches('`'));
                    assert!(!line.contains("(a") && compiles(&line), "{line}");
                }
                Words(words) => {
                    for code in words.split('`').skip(1).step_by(2).filter(|code| code.contains('(')) {
                        let line = if code.contains(" = ") { code.to_owned() } else { format!("f = {code} + x(i)") };
                        assert!(compiles(&line), "{line}");
                    }
                }
            }
        }
    }

    #[test]
    fn arguments_take_their_places() {
        let said = |text: &str| {
            let statement = parse_statement(text).unwrap();
            let ExprKind::Access(access) = &statement.value.kind else { panic!("{text}") };
            instead(&access.name.name, Some(access)).unwrap()
        };
        assert_eq!(said("y(i) = log1p(x(i) - 1)"), "write `ln(1 + (x(i) - 1))`");
        assert_eq!(said("y(i) = square(x(i) + 1)"), "write `(x(i) + 1) * (x(i) + 1)`");
        assert_eq!(said("y(i) = clip(x(i), 0, 1)"), "write `min(max(x(i), 0), 1)`");
        assert_eq!(said("y(i) = clip(x(i))"), "write `min(max(a, b), c)`");
        assert_eq!(said("y(i) = log(x(i))"), "did you mean `ln`?");
    }
}
