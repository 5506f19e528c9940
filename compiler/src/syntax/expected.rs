//! From what pest expected to words: where, what else may stand there, and what to do about it. Messages never have a rule's name.

use super::error::{ONE_POINT, join};
use super::lexeme::{Kind, Lexeme};
use super::parser::Rule;
use super::recover;
use crate::diagnostics::codes::syntax as codes;
use crate::diagnostics::{Diagnostic, Span, suggest};
use crate::ir::ElementType;
use pest::error::{ErrorVariant, InputLocation};

/// Words that begin an item.
const ITEM_WORDS: &[&str] = &["fn", "format", "pub"];
/// Words of the language; none of them is a name.
const RESERVED: &[&str] = &["fn", "format", "let", "where", "schedule", "pub", "true", "false"];

/// Where an error stands among the lexemes of the text.
pub(super) struct Place<'a> {
    /// All lexemes.
    pub(super) lexemes: &'a [Lexeme<'a>],
    /// The one that was found; their number at the end of the text.
    pub(super) found: usize,
}

impl<'a> Place<'a> {
    /// The place of a byte.
    pub(super) fn new(lexemes: &'a [Lexeme<'a>], byte: usize) -> Self {
        Self { lexemes, found: lexemes.partition_point(|lexeme| lexeme.span.end <= byte) }
    }

    fn found(&self) -> Option<&'a Lexeme<'a>> {
        self.lexemes.get(self.found)
    }

    /// The text of the lexeme `back` before the one that was found; empty before the first.
    fn before(&self, back: usize) -> &'a str {
        self.found.checked_sub(back).map_or("", |index| self.lexemes[index].text)
    }

    fn previous(&self) -> Option<&'a Lexeme<'a>> {
        self.found.checked_sub(1).map(|index| &self.lexemes[index])
    }

    /// The innermost `{` that is open here.
    fn open_brace(&self) -> Option<Span> {
        let mut open = Vec::new();
        for lexeme in &self.lexemes[..self.found] {
            match lexeme.text {
                "{" => open.push(lexeme.span),
                "}" => drop(open.pop()),
                _ => {}
            }
        }
        open.pop()
    }

    /// The innermost `(` or `[` of the statement that is open here.
    fn open_bracket(&self) -> Option<&'a Lexeme<'a>> {
        let mut open = Vec::new();
        for lexeme in &self.lexemes[..self.found] {
            match lexeme.text {
                "(" | "[" => open.push(lexeme),
                ")" | "]" => drop(open.pop()),
                "{" | "}" | ";" => open.clear(),
                _ => {}
            }
        }
        open.pop()
    }
}

/// The byte at which pest stopped.
pub(super) fn position(error: &pest::error::Error<Rule>) -> usize {
    match error.location {
        InputLocation::Pos(byte) | InputLocation::Span((byte, _)) => byte,
    }
}

/// Words for an error of pest's.
pub(super) fn syntax(source: &str, place: &Place, error: &pest::error::Error<Rule>) -> Diagnostic {
    let ErrorVariant::ParsingError { positives, .. } = &error.variant else {
        // Only its guard against overflowing the stack speaks like this.
        let end = position(error).min(source.len());
        return Diagnostic::new(codes::TOO_DEEP, Span::new(end, end), "the text is nested too deeply");
    };
    let expected = Expected::new(positives, place);
    special(place, &expected).unwrap_or_else(|| unexpected(source, place, &expected))
}

/// What may stand at a place.
struct Expected {
    rules: Vec<Rule>,
    /// Phrases by rank.
    phrases: Vec<&'static str>,
}

impl Expected {
    fn new(rules: &[Rule], place: &Place) -> Self {
        let rules = completed(rules, place);
        let mut ranked: Vec<(u8, &'static str)> = rules.iter().filter_map(|&rule| phrase(rule)).collect();
        ranked.sort_unstable();
        ranked.dedup();
        if ranked.iter().any(|&(_, phrase)| phrase == "an expression") {
            ranked.retain(|&(_, phrase)| !["`(`", "a number", "a name"].contains(&phrase));
        }
        // After a name a list may always follow, and after an index a range: say so only where nothing else may.
        let after_name = place.previous().is_some_and(|lexeme| lexeme.kind == Kind::Word);
        let noise = |phrase: &str| (phrase == "`(`" && after_name) || phrase == "`..`";
        if ranked.iter().any(|&(_, phrase)| !noise(phrase)) {
            ranked.retain(|&(_, phrase)| !noise(phrase));
        }
        // Where the text may end, more may follow too.
        if ranked.len() > 1 {
            ranked.retain(|&(_, phrase)| phrase != "the end");
        }
        Self { rules, phrases: ranked.into_iter().map(|(_, phrase)| phrase).collect() }
    }

    fn has(&self, rule: Rule) -> bool {
        self.rules.contains(&rule)
    }

    fn says(&self, phrase: &str) -> bool {
        self.phrases.contains(&phrase)
    }

    fn list(&self) -> String {
        let phrases: Vec<String> = self.phrases.iter().map(|&phrase| phrase.to_owned()).collect();
        join(&phrases, "or")
    }
}

/// The rules that may stand at a place, where pest names the whole that begins there, or the part that it begins with.
fn completed(rules: &[Rule], place: &Place) -> Vec<Rule> {
    let mut rules = rules.to_vec();
    if rules.iter().any(|rule| matches!(rule, Rule::item | Rule::program | Rule::recovered_program)) {
        rules.extend([Rule::fn_keyword, Rule::format_keyword, Rule::monoid_keyword, Rule::pub_keyword]);
    }
    // Only directives begin with a name in a block that may end here.
    if rules.contains(&Rule::rbrace) && rules.contains(&Rule::name) {
        rules.retain(|&rule| rule != Rule::name);
        rules.push(Rule::directive);
    }
    // A statement as an argument: an empty one lacks more than a name, and none needs its semicolon.
    if rules == [Rule::name] && place.lexemes.is_empty() {
        rules = vec![Rule::statement_argument];
    }
    if rules.contains(&Rule::EOI) {
        rules.retain(|&rule| rule != Rule::semicolon);
    }
    rules
}

/// Kinds of error that have a code of their own.
fn special(place: &Place, expected: &Expected) -> Option<Diagnostic> {
    let found = place.found();
    let at_statement = expected.has(Rule::rbrace) && (expected.has(Rule::statement) || expected.has(Rule::directive));
    if at_statement && (found.is_none() || recover::begins_item(place.lexemes, place.found)) {
        let brace = place.open_brace()?;
        let problem = Diagnostic::new(codes::UNCLOSED_DELIMITER, brace, "this `{` is not closed").label("not closed");
        return Some(match found {
            Some(lexeme) => problem.related(lexeme.span, "here the next item begins"),
            None => problem,
        });
    }
    if let Some(lexeme) = found.filter(|lexeme| lexeme.kind == Kind::Documentation) {
        return Some(misplaced_documentation(lexeme.span));
    }
    if let (None, Some(lexeme)) = (found, place.previous().filter(|lexeme| lexeme.kind == Kind::Documentation)) {
        return Some(misplaced_documentation(lexeme.span));
    }
    let found = found?;
    if found.text == "_" {
        let problem = Diagnostic::new(codes::RESERVED_WORD, found.span, "`_` is no name");
        return Some(problem.label("a name must stand here").help("add a letter: `_i`"));
    }
    // What is assigned begins a statement, not a format.
    let is_statement = expected.has(Rule::assign_operator) || expected.has(Rule::assign);
    if let Some(problem) = unknown_element_type(place, found).filter(|_| !is_statement) {
        return Some(problem);
    }
    let name_expected = expected.rules.iter().any(|&rule| is_name(rule));
    if name_expected && RESERVED.contains(&found.text) && found.text != "where" {
        let problem = Diagnostic::new(
            codes::RESERVED_WORD,
            found.span,
            format!("`{}` is a word of the language, not a name", found.text),
        );
        return Some(problem.label("a name must stand here").help("choose another name"));
    }
    None
}

fn misplaced_documentation(span: Span) -> Diagnostic {
    Diagnostic::new(codes::MISPLACED_DOCUMENTATION, span, "this documentation comment documents nothing")
        .label("no kernel or format follows it")
        .help("a plain comment begins with `//`")
}

/// `X: float csf`, `X: f16 [dense]`: a word is followed by what begins a format.
fn unknown_element_type(place: &Place, found: &Lexeme) -> Option<Diagnostic> {
    let previous = place.previous().filter(|lexeme| lexeme.kind == Kind::Word)?;
    let declared = place.found == 1 || place.before(2) == ":";
    let begins_format = found.text == "[" || (found.kind == Kind::Word && !RESERVED.contains(&found.text));
    if !declared || !begins_format || ElementType::from_name(previous.text).is_some() {
        return None;
    }
    let names = ElementType::ALL.map(|element| element.name());
    let list = names.map(|name| format!("`{name}`"));
    let problem = Diagnostic::new(
        codes::UNKNOWN_ELEMENT_TYPE,
        previous.span,
        format!("there is no element type `{}`", previous.text),
    )
    .label("not an element type");
    let other = match previous.text {
        "float" | "single" => Some("f32"),
        "double" => Some("f64"),
        "int" => Some("i32"),
        "long" | "isize" => Some("i64"),
        "byte" | "char" => Some("u8"),
        text => suggest::similar(text, names),
    };
    Some(match other {
        Some(other) => problem.help(format!("there is an element type `{other}`")),
        None => problem.help(format!("the element types are {}", join(&list, "and"))),
    })
}

/// The general message: what was expected, what was found.
fn unexpected(source: &str, place: &Place, expected: &Expected) -> Diagnostic {
    let list = expected.list();
    let end = place.lexemes.last().map_or(0, |lexeme| lexeme.span.end);
    let problem = match place.found() {
        None if place.lexemes.is_empty() => {
            Diagnostic::new(codes::UNEXPECTED_END, Span::new(0, 0), format!("expected {list}, but there is no text"))
        }
        None => {
            let message = format!("expected {list}, but the text ends");
            Diagnostic::new(codes::UNEXPECTED_END, Span::new(end, end), message).label(format!("expected {list}"))
        }
        Some(found) if expected.phrases == ["the end"] => {
            Diagnostic::new(codes::TRAILING_TEXT, found.span, format!("expected the end, found {}", name(found)))
                .label("the text is complete before this")
        }
        Some(found) => {
            let message = format!("expected {list}, found {}", name(found));
            match missing_at_end_of_line(source, place, expected) {
                Some(span) => Diagnostic::new(codes::UNEXPECTED_TOKEN, span, message)
                    .label(format!("expected {list}"))
                    .related(found.span, "found this"),
                None => Diagnostic::new(codes::UNEXPECTED_TOKEN, found.span, message).label(format!("expected {list}")),
            }
        }
    };
    let bracket = place.open_bracket().filter(|_| expected.says("`)`") || expected.says("`]`"));
    let far = |lexeme: &&Lexeme| place.previous().is_none_or(|previous| previous.span != lexeme.span);
    let problem = match bracket.filter(far) {
        Some(lexeme) => problem.related(lexeme.span, "opened here"),
        None => problem,
    };
    let help = match missing_at_end_of_line(source, place, expected) {
        None => hint(place, expected),
        Some(_) => expected.says("`;`").then(|| "end the statement with `;`".to_owned()),
    };
    match help {
        Some(help) => problem.help(help),
        None => problem,
    }
}

/// Where a mark is missing at the end of a line, the error belongs there and not to the next line's first word.
fn missing_at_end_of_line(source: &str, place: &Place, expected: &Expected) -> Option<Span> {
    let (previous, found) = (place.previous()?, place.found()?);
    let line_ends = source.get(previous.span.end..found.span.start)?.contains('\n');
    let mark = expected.says("`;`") || expected.says("`,`");
    (mark && (line_ends || found.text == "}")).then(|| Span::new(previous.span.end, previous.span.end))
}

/// What to do about it, where the cause is likely.
fn hint(place: &Place, expected: &Expected) -> Option<String> {
    let found = place.found()?;
    let operator = expected.says("an operator");
    let keyword = |words: &[&'static str]| {
        let word = (found.kind == Kind::Word).then(|| suggest::similar(found.text, words.iter().copied()))?;
        word.map(|word| format!("there is a similar word: `{word}`"))
    };
    let fixed = |text: &str| Some(text.to_owned());
    if expected.says("`fn`") && expected.says("`format`") {
        let words: &[&str] =
            if expected.says("`schedule`") { &["schedule", "fn", "format", "monoid", "pub"] } else { ITEM_WORDS };
        return keyword(words).or_else(|| match found.text {
            "func" | "function" | "def" | "kernel" => fixed("a kernel begins with `fn`"),
            "schedule" => fixed("a schedule stands after a kernel's closing brace, once"),
            "}" => fixed("this `}` closes nothing"),
            _ => None,
        });
    }
    if expected.says("`where`")
        && let Some(help) = keyword(&["where"])
    {
        return Some(help);
    }
    match found.text {
        "schedule" => fixed("the schedule stands after the kernel's closing brace: `fn … { … } schedule { … }`"),
        "format" if place.before(1) == "pub" => fixed("format definitions take no `pub`"),
        "{" if expected.has(Rule::or_word) => fixed("say the most rounds: `repeat until change < 1e-6 or 100 { … }`"),
        _ if place.before(1) == "repeat" => fixed("a kernel has one `repeat`, and none stands in another"),
        "{" if expected.says("`->`") => fixed("a kernel names its results: `-> A: dense`"),
        "=" if operator => fixed("a comparison is written `==`; an assignment stands at the start of a statement"),
        "-=" => fixed("write `+=` and negate the right-hand side"),
        "/=" | "%=" => fixed("the assignments are `=`, `+=`, `*=`, `min=`, `max=`, `|=` and `&=`"),
        "." if place.previous().is_some_and(|previous| previous.kind == Kind::Number) => fixed(ONE_POINT),
        "." => fixed("a number begins with a digit: `0.5`"),
        "..=" => fixed("a range leaves out its end: write `3..8` for 3 to 7"),
        "[" if place.previous().is_some_and(|previous| previous.kind == Kind::Word) && !expected.has(Rule::levels) => {
            fixed("indices stand in parentheses: `X(i, j)`")
        }
        ":" if expected.says("`]`") => {
            fixed("to say which coordinate a level stores, name the modes first: `(i, j) -> [j: dense, i: compressed]`")
        }
        _ if expected.has(Rule::colon) && place.before(2) == "->" => fixed("a result has a name: `-> A: dense`"),
        _ if operator && (matches!(found.kind, Kind::Word | Kind::Number) || found.text == "(") => fixed(match () {
            () if expected.says("`;`") => "a product needs `*`; a statement ends with `;`",
            () if expected.has(Rule::EOI) => "a product needs `*`",
            () => "a product needs `*`, a list needs `,`",
        }),
        _ => None,
    }
}

/// How a message calls a lexeme.
fn name(lexeme: &Lexeme) -> String {
    format!("`{}`", lexeme.text)
}

/// Whether a name may stand where this rule was expected.
fn is_name(rule: Rule) -> bool {
    use Rule::*;
    matches!(
        rule,
        name | parameter | access | index | pack | operand | expression | call | map_mode | named | level | argument
    )
}

/// What people call the beginning of a rule, and its place in a list; `None` for what is not worth a mention.
fn phrase(rule: Rule) -> Option<(u8, &'static str)> {
    use Rule::*;
    Some(match rule {
        semicolon => (0, "`;`"),
        rparen => (1, "`)`"),
        rbracket => (2, "`]`"),
        rbrace => (3, "`}`"),
        comma => (4, "`,`"),
        colon => (5, "`:`"),
        arrow => (6, "`->`"),
        lparen | index_list => (7, "`(`"),
        lbracket => (8, "`[`"),
        lbrace => (9, "`{`"),
        assign => (10, "`=`"),
        ellipsis => (11, "`...`"),
        range => (12, "`..`"),
        path_separator => (13, "`::`"),
        fn_keyword => (20, "`fn`"),
        format_keyword => (21, "`format`"),
        pub_keyword | visibility => (23, "`pub`"),
        where_keyword => (23, "`where`"),
        let_keyword => (24, "`let`"),
        schedule_keyword | schedule => (25, "`schedule`"),
        until_word => (26, "`until`"),
        or_word => (26, "`or`"),
        in_keyword => (26, "`in`"),
        scope | path | word => (27, "a scope such as `crate`"),
        assign_operator | add_assign | multiply_assign | or_assign | and_assign | min_assign | max_assign
        | min_word | max_word | named_assign => (30, "an assignment such as `=`"),
        binary_operator | or | and | equal | not_equal | less_equal | greater_equal | less | greater | add
        | subtract | multiply | divide | remainder | bit_or | bit_and => (31, "an operator"),
        definition => (21, "`format`"),
        monoid | monoid_keyword => (22, "`monoid`"),
        with_keyword => (24, "`with`"),
        function => (20, "`fn`"),
        kernel => (20, "`fn`"),
        statement | bare_statement | statement_argument => (41, "a statement"),
        directive | scoped | on_word => (42, "a directive such as `parallel(i)`"),
        parameter => (43, "a parameter such as `X: csf`"),
        results => (44, "a result such as `A: dense`"),
        element_type => (45, "an element type"),
        declaration | format | named | parameter_format | format_argument => (46, "a format"),
        levels | map => (47, "levels such as `[dense, compressed]`"),
        map_level => (48, "a level such as `i: dense`"),
        level => (49, "a level such as `compressed`"),
        map_mode => (50, "a mode such as `i`"),
        argument | setting | choice => (51, "an argument"),
        access => (52, "a tensor such as `A(i, j)`"),
        index | pack => (53, "an index"),
        expression | operand | group | call | boolean | negate | not => (54, "an expression"),
        fill | fill_word => (14, "`fill`"),
        symmetry | symmetric_word | skew_word | hermitian_word => return None,
        number | fill_value => (55, "a number"),
        // Wherever a statement may stand, these may, too.
        repeat | next => return None,
        name => (56, "a name"),
        EOI => (60, "the end"),
        _ => return None,
    })
}
