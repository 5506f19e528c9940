//! The parser that pest makes of `grammar.pest`.

#![allow(missing_docs, unreachable_pub)]

/// The grammar of the language.
#[derive(pest_derive::Parser)]
#[grammar = "syntax/grammar.pest"]
pub(super) struct Grammar;
