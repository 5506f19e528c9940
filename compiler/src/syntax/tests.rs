use super::*;
use crate::diagnostics::{Code, codes::syntax as codes};
use crate::ir::ReduceOperator;

/// A tree without its spans, to compare.
fn shape(tree: &impl std::fmt::Debug) -> String {
    let text = format!("{tree:?}");
    let mut result = String::new();
    let mut rest = text.as_str();
    while let Some(start) = rest.find("Span {") {
        result.push_str(&rest[..start]);
        let end = rest[start..].find('}').map_or(rest.len(), |end| start + end + 1);
        rest = &rest[end..];
    }
    result + rest
}

fn program(text: &str) -> Program {
    parse_program(text).unwrap_or_else(|problems| panic!("{text}\n{:#?}", problems.into_sorted()))
}

/// A kernel around one statement.
fn kernel(statement: &str) -> String {
    format!("fn f(X: csf) -> A: dense {{ {statement} }}")
}

/// The codes of the errors of a text, by position.
fn codes_of(text: &str) -> Vec<Code> {
    parse_program(text)
        .err()
        .map_or(Vec::new(), |problems| problems.into_sorted().into_iter().map(|problem| problem.code).collect())
}

/// The text that the one error of a statement underlines, and its message.
fn error_of(statement: &str) -> (String, String) {
    let text = kernel(statement);
    let problems = parse_program(&text).expect_err(statement).into_sorted();
    let [problem] = problems.as_slice() else { panic!("{problems:#?}") };
    (text[problem.span.start..problem.span.end].to_owned(), problem.message.clone())
}

/// Prints canonical text and reads it back.
fn round_trip(text: &str) -> String {
    let tree = program(text);
    let printed = tree.to_string();
    assert_eq!(shape(&program(&printed)), shape(&tree), "{printed}");
    assert_eq!(program(&printed).to_string(), printed);
    printed
}

#[test]
fn the_design_s_examples_parse() {
    let text = "
/// Mode-1 MTTKRP of a third-order tensor.
fn mttkrp(X: csf, B: dense, C: dense) -> A: dense {
    A(i, r) = X(i, j, k) * B(j, r) * C(k, r);
}
/// Sparse tensor times dense matrix; the result is semi-sparse.
fn ttm(X: coo, U: dense) -> Y: [compressed(nonunique), singleton, dense] {
    Y(i, j, r) = X(i, j, k) * U(k, r);
}
format bcsr(B) = (i, j) -> [i / B: dense, j / B: compressed, i % B: dense, j % B: dense];
format coo = (i, j...) -> [i: compressed(nonunique), j...: singleton(nonunique, pos = u64)];
pub(crate) fn spmm(A: f32 bcsr(4), X: f32 dense) -> Y: f32 dense { Y(i, r) = A(i, j) * X(j, r); }
pub fn all(x: (i, j) -> [j: dense, i: compressed], alpha: f64) -> (A: dense, B: csr,) {
    let T(i, j) = select(x(i, j) > 0 && !(alpha == 1), -x(i, j), 1e-3) where x(i, j);
    A(i, j) min= T(2*i + k, 3..7) - alpha;
    A(i, i) |= any(j, k)(T(i, j) < 0x10 + i) || all(k)(true);
    B(i, j) += sum(k)(min(x(i, k), 1_000f32));
    alpha *= prod(k)(x(k, k)); alpha max= 2.; alpha &= 3;
} schedule { reorder(i, k, j); split(k, k0, k1, 32); precompute(A(i, j) * 2, i, iw); }
";
    insta::assert_snapshot!(round_trip(text));
}

#[test]
fn operators_bind_as_in_rust() {
    for (text, same) in [
        ("-a(i) * b(i)", "(-a(i)) * b(i)"),
        ("a - b - c", "(a - b) - c"),
        ("a / b * c % d", "((a / b) * c) % d"),
        ("a + b * c < d && e || f", "(((a + (b * c)) < d) && e) || f"),
        ("a || b && c", "a || (b && c)"),
        ("!a && --b == c", "(!a) && ((-(-b)) == c)"),
    ] {
        let (text, same) = (kernel(&format!("A(i) = {text};")), kernel(&format!("A(i) = {same};")));
        assert_eq!(shape(&program(&text)), shape(&program(&same)), "{text}");
    }
}

#[test]
fn parentheses_are_printed_only_where_they_mean_something() {
    for (text, printed) in [
        ("(a + b) + c", "a + b + c"),
        ("a + (b + c)", "a + (b + c)"),
        ("(a * b) + (c / d)", "a * b + c / d"),
        ("(a + b) * c", "(a + b) * c"),
        ("-(a * b)", "-(a * b)"),
        ("-(a)", "-a"),
        ("-(-a)", "--a"),
        ("(a < b) == c", "(a < b) == c"),
        ("a == (b < c)", "a == (b < c)"),
        ("(a < b) && (c < d)", "a < b && c < d"),
        ("sum(k)((a + b))", "sum(k)(a + b)"),
        ("X((i + 1), (2 * i)..(n - 1))", "X(i + 1, 2 * i..n - 1)"),
        ("X()", "X()"),
    ] {
        assert_eq!(parse_statement(&format!("A(i) = {text}")).unwrap().value.to_string(), printed);
    }
}

#[test]
fn numbers_are_read_as_rust_reads_them() {
    let number = |text: &str| match parse_statement(&format!("a = {text}")).unwrap().value.kind {
        ExprKind::Number { digits, suffix } => (digits, suffix.map(ElementType::name)),
        other => panic!("{other:?}"),
    };
    for (text, digits, suffix) in [
        ("1_000", "1000", None),
        ("1e-3", "1e-3", None),
        ("1E+3f64", "1E+3", Some("f64")),
        ("2f32", "2", Some("f32")),
        ("2_u8", "2", Some("u8")),
        ("2.", "2.0", None),
        ("2.5_c64", "2.5", Some("c64")),
        ("0x1f32", "7986", None),
        ("0xff_i64", "255", Some("i64")),
        ("0b101", "5", None),
        ("0o17u8", "15", Some("u8")),
        ("0b1f32", "1", Some("f32")),
    ] {
        assert_eq!(number(text), (digits.to_owned(), suffix), "{text}");
    }
    for text in ["1.2.3", "1e", "0x", "0b2", "1.e5", "2q", "2f16", "1_f", "0o8", "2.x"] {
        let (underlined, message) = error_of(&format!("a = {text};"));
        assert_eq!((underlined.as_str(), message), (text, format!("`{text}` is not a number")));
    }
}

#[test]
fn ranges_are_no_numbers() {
    let value = |text: &str| parse_statement(&format!("a = {text}")).unwrap().value.to_string();
    assert_eq!(value("X(3..7)"), "X(3..7)");
    assert_eq!(value("X(1.0..2.)"), "X(1.0..2.0)");
    assert_eq!(value("X(i+1 .. n)"), "X(i + 1..n)");
    assert!(parse_format("(i, j...) -> [i / 4: dense, j % 4...: dense]").is_ok());
}

#[test]
fn errors_stand_at_the_exact_place() {
    for (statement, underlined, message) in [
        ("A(i) = X(i j);", "j", "expected `)`, `,` or an operator, found `j`"),
        ("A(i) = b(i) c(i);", "c", "expected `;`, `where` or an operator, found `c`"),
        ("A(i) = X(i, /* here */ );  A(i) = ;", ";", "expected an expression, found `;`"),
        ("A(i) = 1 +;", ";", "expected an expression, found `;`"),
        ("A(i) + 1;", "+", "expected an assignment such as `=`, found `+`"),
        ("let A(i) = B(i) where ;", ";", "expected an expression, found `;`"),
        ("A(i) = 1 < 2 < 3;", "<", "comparisons do not chain"),
        ("A(i) = X(_);", "_", "`_` is no name"),
    ] {
        assert_eq!(error_of(statement), (underlined.to_owned(), message.to_owned()));
    }
}

#[test]
fn spans_end_with_the_last_token() {
    let text = "y ( i ) /* a */ = x(i) /* b */ * 2 // c\n where M ( i ) /* d */ ; // e";
    let statement = parse_statement(text).unwrap();
    let at = |span: Span| &text[span.start..span.end];
    assert_eq!(at(statement.target.span), "y ( i )");
    assert_eq!(at(statement.operator_span), "=");
    assert_eq!(at(statement.value.span), "x(i) /* b */ * 2");
    assert_eq!(at(statement.mask.unwrap().span), "M ( i )");
    let ExprKind::Binary(_, left, _) = statement.value.kind else { panic!() };
    assert_eq!(at(left.span), "x(i)");
    let grouped = parse_statement("y = (a + b) * c").unwrap().value.span;
    assert_eq!((grouped.start, grouped.end), (4, 15));
}

#[test]
fn every_broken_statement_is_reported() {
    let text = "fn f(X: csf -> A: dense { A(i) = X(i; A(i) = ; A(i) = 1; }
        fn g(X: csf) -> A: dense { A(i) = X(i) }
        frmat x = 3;
        fn h(X: csf) -> A: dense { A(i) = 1.2.3 * X(i); A(i) = @; } schedule { parallel i; fuse(; }";
    let codes: Vec<u16> = codes_of(text).into_iter().map(|code| code.number).collect();
    assert_eq!(codes, [1, 1, 1, 1, 1, 5, 4, 1, 1]);
}

#[test]
fn a_text_without_items_is_an_empty_program() {
    for text in ["", "  \n", "// nothing\n", "/* /* nested */ */", "\u{FEFF}", "//! inner\n//// four"] {
        assert_eq!(parse_program(text).unwrap(), Program { items: Vec::new() });
    }
}

#[test]
fn documentation_belongs_to_the_next_item() {
    let text = "/// One.\n///\n///  Two.\n//// no\n// no\nformat a = () -> [];\n/// Three.\npub(in a :: b) fn f() -> A: f64 { A = 1; }";
    let printed = round_trip(text);
    assert!(
        printed.starts_with(
            "/// One.\n///\n///  Two.\nformat a = () -> [];\n\n/// Three.\npub(in a::b) fn f() -> A: f64 {"
        )
    );
}

#[test]
fn arguments_of_the_command_line_parse() {
    let printed = |text| parse_statement(text).map(|statement| statement.to_string()).ok();
    assert_eq!(printed("Y(i,r)=X(i,j,k)*U(k,r)").unwrap(), "Y(i, r) = X(i, j, k) * U(k, r)");
    assert_eq!(printed(" y(i)+=x(i) where M(i) ; ").unwrap(), "y(i) += x(i) where M(i)");
    assert_eq!(printed("a min = x(i)").unwrap(), "a min= x(i)");
    assert_eq!(printed("min = x(i)").unwrap(), "min = x(i)");
    for text in ["f32 [compressed, dense]", "csf", "bcsr(4)", "f64", "(i,j)->[j: dense, i: compressed]", "c32 csr"] {
        assert!(parse_parameter_format(text).is_ok(), "{text}");
    }
    let (element, format) = parse_parameter_format(" f32 hicoo(128) ").unwrap();
    assert_eq!((element.unwrap().0, format.unwrap().to_string()), (ElementType::F32, "hicoo(128)".to_owned()));
    assert_eq!(parse_parameter_format("f64").unwrap().1, None);
}

#[test]
fn text_after_an_argument_is_an_error() {
    let code = |problems: Diagnostics| problems.into_sorted()[0].code;
    for text in ["a(i) = b(i) c(i)", "a(i) = 1 * 1e-3 1", "a(i) = b(i))", "a = b where c 1"] {
        assert_eq!(code(parse_statement(text).unwrap_err()), codes::UNEXPECTED_TOKEN, "{text}");
    }
    for text in ["a = b; c", "a = b;;"] {
        assert_eq!(code(parse_statement(text).unwrap_err()), codes::TRAILING_TEXT, "{text}");
    }
    // Behind a format, `fill` may stand.
    assert_eq!(code(parse_parameter_format("[dense] x").unwrap_err()), codes::UNEXPECTED_TOKEN);
    assert_eq!(code(parse_parameter_format("[dense] fill 1 x").unwrap_err()), codes::TRAILING_TEXT);
    assert_eq!(code(parse_format("bcsr(4) x").unwrap_err()), codes::TRAILING_TEXT);
    assert_eq!(code(parse_parameter_format("half csf").unwrap_err()), codes::UNKNOWN_ELEMENT_TYPE);
    for text in ["", " ", "a(i) =", "a(i) = sum(k)("] {
        assert_eq!(code(parse_statement(text).unwrap_err()), codes::UNEXPECTED_END, "{text}");
    }
    for text in ["", "f32 [dense,"] {
        assert_eq!(code(parse_parameter_format(text).unwrap_err()), codes::UNEXPECTED_END, "{text}");
    }
}

#[test]
fn depth_is_limited_without_overflowing_the_stack() {
    let many = |text: &str, count: usize| text.repeat(count);
    for value in [
        many("(", 20_000) + "x" + &many(")", 20_000),
        many("(", 20_000),
        many("-", 20_000) + "x",
        "x".to_owned() + &many(" + x", 20_000),
        many("/* ", 20_000) + &many("*/ ", 20_000) + "x",
        many("/* ", 20_000) + "x",
        many("!-", 5_000),
        many("x * (", 5_000),
        many("sum(k)(", 5_000) + "x" + &many(")", 5_000),
        many("min(x, ", 5_000) + "x" + &many(")", 5_000),
        many("X(", 5_000) + "i" + &many(")", 5_000),
        many("[", 5_000),
    ] {
        let problems = parse_program(&kernel(&format!("A = {value};"))).unwrap_err();
        assert!(problems.iter().all(|problem| problem.message.len() < 200));
    }
    assert!(parse_statement(&format!("A = {}", many("(", 20_000))).is_err());
    for braces in ["{", "}", "fn f() -> {", "schedule {"] {
        assert!(parse_program(&many(braces, 500)).is_err());
    }
    assert!(parse_format(&(many("(", 20_000) + &many(")", 20_000))).is_err());
}

/// Fifty thousand of whatever can stand inside of itself, on the stack of a thread.
#[test]
fn nothing_nests_without_a_limit() {
    const COUNT: usize = 4_000;
    let nested = |open: &str, inner: &str, close: &str| open.repeat(COUNT) + inner + &close.repeat(COUNT);
    let expressions = [
        ("(", "x", ")"),
        ("-(", "x", ")"),
        ("-", "x", ""),
        ("! ", "x", ""),
        ("x + ", "x", ""),
        ("exp(", "x", ")"),
        ("A(", "i", ")"),
        ("sum(k)(", "x", ")"),
        ("select(x > 0, ", "x", ", 0)"),
        ("x(i / ", "2", ")"),
        ("x**", "x", ""),
        ("x[", "i", "]"),
    ];
    let programs = [
        ("/*", "", "*/"),
        ("/*", "", ""),
        ("// \r/*", "", "*/"),
        ("\"\\\"\"/*", "", "*/"),
        ("{", "", "}"),
        ("fn f(x: (i) -> [i: ", "dense", "])"),
        ("schedule { on y ", "", "}"),
        ("pub(in ", "x", ")"),
    ];
    let formats =
        [("[", "dense", "]"), ("(i) -> [", "i: dense", "]"), ("csr(", "u8", ")"), ("(", "i", ") -> [i: dense]")];
    let directives = [("parallel(", "i", ")"), ("simd(j: ", "lanes", ")"), ("on y {", "parallel(i);", "}")];
    let all = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        for (open, inner, close) in expressions {
            assert!(parse_statement(&format!("y(i) = {}", nested(open, inner, close))).is_err(), "{open}");
        }
        for (open, inner, close) in programs {
            let text = nested(open, inner, close);
            assert!(holds_items(&text) && parse_program(&text).is_err(), "{open}");
        }
        for (open, inner, close) in formats {
            assert!(parse_format(&nested(open, inner, close)).is_err(), "{open}");
        }
        for (open, inner, close) in directives {
            assert!(parse_schedule(&format!("schedule {{ {}; }}", nested(open, inner, close))).is_err(), "{open}");
        }
    });
    all.unwrap().join().unwrap();
    let problems = parse_program(&"/*".repeat(50_000)).unwrap_err().into_sorted();
    assert_eq!(problems.iter().map(|problem| problem.code).collect::<Vec<_>>(), [codes::TOO_DEEP]);
    assert!(parse_program(&("/*".repeat(MAXIMUM_NESTING) + &"*/".repeat(MAXIMUM_NESTING))).is_ok());
}

#[test]
fn what_is_just_within_the_limits_parses() {
    let nested = |count: usize| format!("A = {}x{}", "-(".repeat(count), ")".repeat(count));
    assert!(parse_statement(&nested(MAXIMUM_NESTING)).is_ok());
    assert!(parse_statement(&nested(MAXIMUM_NESTING + 1)).is_err());
    let sum = |terms: usize| format!("A = x{}", " + x".repeat(terms - 1));
    assert!(parse_statement(&sum(MAXIMUM_DEPTH)).unwrap().to_string().len() > MAXIMUM_DEPTH);
    let problems = parse_statement(&sum(MAXIMUM_DEPTH + 2)).unwrap_err().into_sorted();
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].code, codes::TOO_DEEP);
}

#[test]
fn examples_of_explanations_are_wrong_and_correct() {
    for entry in crate::diagnostics::all().filter(|entry| entry.code.number < 100) {
        let example = |heading: &str| {
            let (_, rest) = entry.explanation.split_once(heading).unwrap();
            let lines = rest.lines().skip(1).take_while(|line| line.is_empty() || line.starts_with("    "));
            lines.map(|line| line.get(4..).unwrap_or("")).collect::<Vec<_>>().join("\n")
        };
        let check = |text: &str| {
            let is_program = text.contains("fn ");
            let problems = if is_program { parse_program(text).err() } else { parse_statement(text).err() };
            problems.map_or(Vec::new(), Diagnostics::into_sorted)
        };
        let wrong = check(&example("\nWrong:\n"));
        assert_eq!(wrong.first().map(|problem| problem.code), Some(entry.code), "{} {wrong:#?}", entry.code);
        assert_eq!(check(&example("\nCorrect:\n")), [], "{}", entry.code);
    }
}

/// Random trees (a linear congruential generator decides), printed and read back.
#[test]
fn random_trees_survive_printing() {
    let mut choices = Choices(1);
    for _ in 0..2_000 {
        let statement = choices.statement();
        let printed = statement.to_string();
        let read = parse_statement(&printed).unwrap_or_else(|problems| panic!("{printed}\n{problems:#?}"));
        assert_eq!(shape(&read), shape(&statement), "{printed}");
    }
}

/// Texts that nearly follow the grammar give diagnostics within the text, and no panic.
#[test]
fn damaged_texts_are_refused_in_place() {
    let whole = include_str!("../../tests/errors/syntax/misspelt_words.ti").replace("whre", "where");
    let extra =
        ["(", ")", "{", "}", ";", ",", "fn", "format x", "///", "/*", "*/", "1.2.3", "é", "\"", "sum(k)(", "..", " "];
    let mut choices = Choices(7);
    for _ in 0..2_000 {
        let mut text = whole.clone();
        for _ in 0..=choices.below(3) {
            let boundaries: Vec<usize> = text.char_indices().map(|(index, _)| index).collect();
            let start = boundaries[choices.below(boundaries.len())];
            let end = boundaries.iter().copied().find(|&end| end >= start + choices.below(4)).unwrap_or(text.len());
            text.replace_range(start..end, extra[choices.below(extra.len())]);
        }
        match parse_program(&text) {
            Ok(program) => assert_eq!(shape(&parse_program(&program.to_string()).unwrap()), shape(&program)),
            Err(problems) => {
                let problems = problems.into_sorted();
                assert!(!problems.is_empty());
                for problem in &problems {
                    assert!(problem.span.start <= problem.span.end && problem.span.end <= text.len(), "{text}");
                    assert!(!problem.message.contains("something else"), "no words for what is expected: {text}");
                }
            }
        }
    }
}

struct Choices(u64);

impl Choices {
    fn below(&mut self, count: usize) -> usize {
        // D. E. Knuth's MMIX generator.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }

    fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    fn ident(&mut self) -> Ident {
        Ident {
            name: self.of(&["i", "j", "X", "alpha", "_t", "min1", "fnord", "ß"]).to_owned(), span: Span::default()
        }
    }

    fn access(&mut self, depth: usize) -> Access {
        let count = self.below(4);
        let indices = (0..count)
            .map(|_| match self.below(5) {
                0 => Index::Range { start: self.expr(depth), end: self.expr(depth), span: Span::default() },
                _ => Index::Expr(self.expr(depth)),
            })
            .collect();
        Access { name: self.ident(), indices, span: Span::default() }
    }

    fn expr(&mut self, depth: usize) -> Expr {
        let kind = match self.below(if depth == 0 { 3 } else { 9 }) {
            0 => ExprKind::Number {
                digits: self.of(&["0", "17", "2.5", "1e-3", "2.0"]).to_owned(),
                suffix: self.of(&[None, None, Some(ElementType::F32), Some(ElementType::U8)]),
            },
            1 => ExprKind::Bool(self.below(2) == 0),
            2 => ExprKind::Name(self.ident()),
            3 => ExprKind::Access(self.access(depth - 1)),
            4 => ExprKind::Unary(self.of(&[UnaryOperator::Negate, UnaryOperator::Not]), Box::new(self.expr(depth - 1))),
            5 => {
                let functions: Vec<&str> = functions().collect();
                let name = Ident { name: self.of(&functions).to_owned(), span: Span::default() };
                let count = self.below(4);
                ExprKind::Call(name, (0..count).map(|_| self.expr(depth - 1)).collect())
            }
            6 => {
                let count = self.below(3);
                let variables = (0..count).map(|_| self.ident()).collect();
                let operator = self.of(&ReduceOperator::ALL);
                let place = matches!(operator, ReduceOperator::Min | ReduceOperator::Max) && self.below(2) == 0;
                ExprKind::Reduce { operator, place, variables, body: Box::new(self.expr(depth - 1)) }
            }
            _ => {
                let operator = self.of(&BinaryOperator::INFIX);
                ExprKind::Binary(operator, Box::new(self.expr(depth - 1)), Box::new(self.expr(depth - 1)))
            }
        };
        Expr { kind, span: Span::default() }
    }

    /// What can follow `where` and is no tensor.
    fn comparison(&mut self) -> Expr {
        let (left, right) = (Box::new(self.expr(2)), Box::new(self.expr(2)));
        Expr { kind: ExprKind::Binary(BinaryOperator::NotEqual, left, right), span: Span::default() }
    }

    fn statement(&mut self) -> Statement {
        let operators = ReduceOperator::ALL.map(AssignOperator::Reduce);
        Statement {
            is_let: false,
            target: self.access(1),
            element: None,
            format: None,
            operator: if self.below(2) == 0 { AssignOperator::Assign } else { self.of(&operators) },
            operator_span: Span::default(),
            value: self.expr(5),
            mask: if self.below(3) == 0 { Some(self.access(1)) } else { None },
            condition: if self.below(3) == 0 { Some(self.comparison()) } else { None },
            stage: Stage::Before,
            span: Span::default(),
        }
    }
}
