//! Macro tokens as text, and back from places in the text to tokens.
//!
//! On stable Rust a macro can't ask where its tokens stand in the file, nor join two spans. So the tokens are rendered to a
//! text of our own that remembers which bytes each token became; that text is parsed like any other; and what is wrong with
//! a range of its bytes becomes a `compile_error!` whose first token carries the span of the range's first token and whose
//! last one carries that of its last: rustc underlines everything between.
//!
//! ```text
//! X ( i j )   ──render──▶   "X (i j ) "   ──parse──▶   6..7 is wrong   ──spans_of──▶   the span of `j`
//! ```

use crate::diagnostics::{Code, Diagnostic, Span};
use proc_macro2::{Delimiter, Group, Ident, Literal, Spacing, TokenStream, TokenTree};
use quote::quote_spanned;
use std::iter::Peekable;

/// The text of a macro's tokens.
#[derive(Debug, Clone)]
pub struct TokenText {
    /// The text.
    pub text: String,
    /// What each token became, by position.
    tokens: Vec<(Span, proc_macro2::Span)>,
}

/// The text of a macro's tokens. `#[doc = "…"]` becomes `///` lines again.
pub fn render(tokens: TokenStream) -> TokenText {
    let mut text = TokenText { text: String::new(), tokens: Vec::new() };
    text.stream(tokens);
    text
}

/// What makes rustc warn at `span`: on stable Rust, the use of something deprecated is all that a macro can have warned of.
pub fn warning(code: Code, message: &str, span: proc_macro2::Span) -> TokenStream {
    let name = Ident::new(&code.to_string(), span);
    let message = Literal::string(message);
    quote_spanned! {span=>
        const _: () = {
            #[deprecated(note = #message)]
            struct #name;
            let _ = #name;
        };
    }
}

impl TokenText {
    /// The spans of the first and the last token of a range of the text. An empty range, and one between tokens, belongs to
    /// the token before it. Without any tokens, the span of the macro's call.
    pub fn spans_of(&self, span: Span) -> (proc_macro2::Span, proc_macro2::Span) {
        let first = self.tokens.partition_point(|(token, _)| token.end <= span.start);
        let end = self.tokens.partition_point(|(token, _)| token.start < span.end);
        let at = |index: usize| self.tokens.get(index).map_or_else(proc_macro2::Span::call_site, |(_, span)| *span);
        if first < end {
            (at(first), at(end - 1))
        } else {
            let before = first.saturating_sub(1);
            (at(before), at(before))
        }
    }

    /// A `compile_error!` for each diagnostic, which rustc reports at the diagnostic's tokens.
    pub fn compile_errors(&self, diagnostics: &[Diagnostic]) -> TokenStream {
        diagnostics
            .iter()
            .flat_map(|diagnostic| {
                let (first, last) = self.spans_of(diagnostic.span);
                let mut message = Literal::string(&self.message(diagnostic));
                message.set_span(last);
                let mut tokens = quote_spanned!(first => ::core::compile_error!);
                tokens.extend(quote_spanned!(last => { #message }));
                tokens
            })
            .collect()
    }

    /// A warning of rustc for each diagnostic, at the diagnostic's first token.
    pub fn warnings(&self, diagnostics: &[Diagnostic]) -> TokenStream {
        let warning = |found: &Diagnostic| warning(found.code, &self.message(found), self.spans_of(found.span).0);
        diagnostics.iter().map(warning).collect()
    }

    /// The words of a diagnostic for rustc, which adds its place, but has no room for other places and labels.
    fn message(&self, diagnostic: &Diagnostic) -> String {
        let Diagnostic { code, message, label, related, help, .. } = diagnostic;
        let mut text = format!("{message} [{code}]");
        if !label.is_empty() && !message.contains(label.as_str()) {
            text.push_str(&format!("\nnote: {label}"));
        }
        for (span, words) in related {
            let place = self.source(*span);
            text.push_str(&format!("\nnote: {words}: `{place}`"));
        }
        for words in help {
            text.push_str(&format!("\nhelp: {words}"));
        }
        text
    }

    /// A range of the text, without the blanks that no one writes.
    fn source(&self, span: Span) -> String {
        let text = self.text.get(span.start..span.end).unwrap_or_default().trim();
        [" (", " )", " ,", " ;", " :"].iter().fold(text.to_owned(), |text, mark| text.replace(mark, mark.trim()))
    }

    fn stream(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '#' && self.documentation(&mut tokens) => {}
                TokenTree::Punct(punct) => {
                    self.token(&punct.as_char().to_string(), punct.span());
                    if punct.spacing() == Spacing::Alone {
                        self.text.push(' ');
                    }
                }
                TokenTree::Group(group) => self.group(group),
                // A raw identifier is a name of the language like any other.
                TokenTree::Ident(ident) => self.spaced(ident.to_string().trim_start_matches("r#"), ident.span()),
                TokenTree::Literal(literal) => self.spaced(&literal.to_string(), literal.span()),
            }
        }
    }

    fn group(&mut self, group: Group) {
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Brace => ("{", "}"),
            // What a `macro_rules!` macro passes on as one expression stays one.
            Delimiter::None if has_operator(&group) => ("(", ")"),
            Delimiter::None => return self.stream(group.stream()),
        };
        self.token(open, group.span_open());
        self.stream(group.stream());
        self.spaced(close, group.span_close());
    }

    /// Writes `///` lines for what follows a `#`, where that is `[doc = "…"]`, and takes it.
    fn documentation(&mut self, tokens: &mut Peekable<proc_macro2::token_stream::IntoIter>) -> bool {
        let Some(TokenTree::Group(group)) = tokens.peek() else { return false };
        let Some((lines, span)) = documentation(group) else { return false };
        tokens.next();
        for line in lines.lines().chain(lines.is_empty().then_some("")) {
            if !self.text.is_empty() && !self.text.ends_with('\n') {
                self.text.push('\n');
            }
            // A fourth slash would make it a plain comment.
            let blank = if line.starts_with('/') { " " } else { "" };
            self.token(&format!("///{blank}{line}"), span);
            self.text.push('\n');
        }
        true
    }

    fn spaced(&mut self, token: &str, span: proc_macro2::Span) {
        self.token(token, span);
        self.text.push(' ');
    }

    fn token(&mut self, token: &str, span: proc_macro2::Span) {
        // Two marks that meet only here must not begin a comment.
        if self.text.ends_with('/') && token.starts_with(['/', '*']) {
            self.text.push(' ');
        }
        let start = self.text.len();
        self.text.push_str(token);
        self.tokens.push((Span::new(start, self.text.len()), span));
    }
}

fn has_operator(group: &Group) -> bool {
    let mut tokens = group.stream().into_iter();
    // One operator before one operand binds tightly enough.
    tokens.next();
    tokens.any(|token| matches!(token, TokenTree::Punct(_)))
}

/// The text of `[doc = "…"]`, and where it stands.
fn documentation(group: &Group) -> Option<(String, proc_macro2::Span)> {
    let mut tokens = group.stream().into_iter();
    match (group.delimiter(), tokens.next(), tokens.next(), tokens.next(), tokens.next()) {
        (
            Delimiter::Bracket,
            Some(TokenTree::Ident(doc)),
            Some(TokenTree::Punct(equals)),
            Some(TokenTree::Literal(literal)),
            None,
        ) if doc == "doc" && equals.as_char() == '=' => Some((string(&literal)?, literal.span())),
        _ => None,
    }
}

/// The value of a string literal, raw or not; `None` for another literal.
fn string(literal: &Literal) -> Option<String> {
    let text = literal.to_string();
    if let Some(raw) = text.strip_prefix('r') {
        let raw = raw.trim_matches('#');
        return Some(raw.strip_prefix('"')?.strip_suffix('"')?.to_owned());
    }
    let quoted = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut value = String::with_capacity(quoted.len());
    let mut rest = quoted.chars();
    while let Some(character) = rest.next() {
        value.extend(if character == '\\' { unescape(&mut rest) } else { Some(character) });
    }
    Some(value)
}

/// The character that an escape stands for, past its backslash; `None` for a line that goes on.
fn unescape(rest: &mut std::str::Chars) -> Option<char> {
    match rest.next()? {
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        '0' => Some('\0'),
        'x' => code_point(&rest.by_ref().take(2).collect::<String>()),
        'u' => {
            let digits: String = rest.by_ref().skip(1).take_while(|&c| c != '}').filter(|&c| c != '_').collect();
            code_point(&digits)
        }
        '\n' => {
            *rest = rest.as_str().trim_start().chars();
            None
        }
        other => Some(other),
    }
}

fn code_point(digits: &str) -> Option<char> {
    u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse_program;
    use std::str::FromStr;

    fn text(source: &str) -> TokenText {
        render(TokenStream::from_str(source).unwrap())
    }

    /// The texts of the first and last token of a range. (Outside of a macro all spans are alike.)
    fn tokens<'a>(text: &'a TokenText, part: &str) -> Vec<&'a str> {
        let start = text.text.find(part).unwrap();
        let span = Span::new(start, start + part.len());
        let covered = text.tokens.iter().filter(|(token, _)| token.end > span.start && token.start < span.end);
        covered.map(|(token, _)| &text.text[token.start..token.end]).collect()
    }

    #[test]
    fn rendered_tokens_parse_like_the_text_they_came_from() {
        let sources = [
            "fn f(X: csf, y: f32 [compressed(nonunique, pos = u64), dense]) -> (A: (i, j...) -> [i / 4: dense, j...: dense]) {
                A(i) = -3 * X(2*i+k, 3..7) - 1e-3 + 2f32 * 1_000 / 0x10;
                A(i) min= !(X(i)<-1 && y(i)>=2.) || true; A(i)|=any(j)(X(j)!=-y(j)); A(i)&=1; A(i)*=-1;
                let t = sum(j, k)(X(j)*-y(k)) where y(i);
            } schedule { split(i, i0, i1, 32); parallel(i0); }",
            "/// One.\n///\n///   \"Two\" \\ // three\n/** Four\n five */ #[doc = r\"six\"]\npub(in a::b) fn f() -> A: f64 { A=1; }
             pub(crate) fn g() -> A: f64 { A = 1; } format bcsr(B) = (i, j) -> [i / B: dense, j % B: dense];",
        ];
        for source in sources {
            let rendered = text(source);
            let program =
                parse_program(&rendered.text).unwrap_or_else(|problems| panic!("{}\n{problems:#?}", rendered.text));
            let expected = source.replace("/** Four\n five */ #[doc = r\"six\"]", "/// Four\n/// five\n///six");
            assert_eq!(program.to_string(), parse_program(&expected).unwrap().to_string(), "{}", rendered.text);
        }
    }

    #[test]
    fn ranges_of_the_text_are_ranges_of_tokens() {
        let rendered = text("/// Doc.\nfn f(X: csf) -> A: dense { A(i) += X(i j); }");
        assert_eq!(rendered.text, "/// Doc.\nfn f (X : csf ) -> A : dense {A (i ) += X (i j ) ; } ");
        assert_eq!(tokens(&rendered, "j"), ["j"]);
        assert_eq!(tokens(&rendered, "+="), ["+", "="]);
        assert_eq!(tokens(&rendered, "X (i j )"), ["X", "(", "i", "j", ")"]);
        assert_eq!(tokens(&rendered, "/// Doc."), ["/// Doc."]);
        for span in [(0, 0), (9, 9), (1_000, 1_000), (0, 1_000)] {
            rendered.spans_of(Span::new(span.0, span.1));
        }
        text("").spans_of(Span::new(0, 0));
    }

    #[test]
    fn an_expression_from_a_macro_by_example_stays_one() {
        let inner = TokenStream::from_str("a + b").unwrap();
        let group = Group::new(Delimiter::None, inner);
        let name = Group::new(Delimiter::None, TokenStream::from_str("X").unwrap());
        assert_eq!(render(quote::quote!(A = #name * #group;)).text, "A = X * (a + b ) ; ");
    }

    #[test]
    fn each_diagnostic_becomes_a_compile_error() {
        let source = "fn f(X: csf) -> A: dense { A(i) = X(i j); A(i) = B(i) < 1 < 2; }";
        let rendered = text(source);
        let problems = parse_program(&rendered.text).unwrap_err().into_sorted();
        insta::assert_snapshot!(rendered.compile_errors(&problems).to_string());
    }
}
