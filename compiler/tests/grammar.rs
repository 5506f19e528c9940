//! `src/syntax/parser.rs` is what pest makes of `src/syntax/grammar.pest`.
//!
//! It is kept in the tree so that a build needs neither pest's generator nor what that depends on: a third of all crates, and a
//! C compiler. After a change of the grammar, `INSTA_UPDATE=always cargo test -p spc-tensor-compiler --test main grammar` writes it anew.

const HEADER: &str = "\
//! Made by pest from `grammar.pest`: see `tests/grammar.rs`. Do not edit.

#![allow(missing_docs, unreachable_pub, dead_code, non_camel_case_types, unused_qualifications, clippy::all)]

/// The grammar of the language.
pub(super) struct Grammar;

";

#[test]
fn the_parser_is_that_of_the_grammar() {
    let input = quote::quote! {
        #[grammar = "syntax/grammar.pest"]
        struct Grammar;
    };
    let tokens = pest_generator::derive_parser(input, false);
    let text = prettyplease::unparse(&syn::parse2(tokens).expect("pest prints Rust"));
    let expected = format!("{HEADER}{text}");
    crate::assert_made("src/syntax/parser.rs", &expected, "grammar");
}
