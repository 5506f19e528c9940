//! Made by pest from `grammar.pest`: see `tests/grammar.rs`. Do not edit.

#![allow(missing_docs, unreachable_pub, dead_code, non_camel_case_types, unused_qualifications, clippy::all)]

/// The grammar of the language.
pub(super) struct Grammar;

#[allow(dead_code, non_camel_case_types, clippy::upper_case_acronyms)]
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Rule {
    ///End-of-input
    EOI,
    r#WHITESPACE,
    r#COMMENT,
    r#line_comment,
    r#block_comment,
    r#program,
    r#statement_argument,
    r#parameter_format,
    r#format_argument,
    r#schedule_argument,
    r#recovered_program,
    r#orphan,
    r#lexemes,
    r#lexeme,
    r#item,
    r#documentation,
    r#kernel,
    r#repeat,
    r#visibility,
    r#scope,
    r#path,
    r#results,
    r#parameter_list,
    r#parameter,
    r#declaration,
    r#fill,
    r#hint,
    r#fill_value,
    r#schedule,
    r#scoped,
    r#directive,
    r#directive_argument,
    r#choice,
    r#definition,
    r#name_list,
    r#format,
    r#symmetry,
    r#map,
    r#levels,
    r#named,
    r#map_mode,
    r#map_level,
    r#level,
    r#argument_list,
    r#argument,
    r#setting,
    r#function,
    r#monoid,
    r#words_ahead,
    r#statement,
    r#next,
    r#bare_statement,
    r#assignment,
    r#condition,
    r#access,
    r#index_list,
    r#index,
    r#pack,
    r#expression,
    r#operand,
    r#group,
    r#call,
    r#assign_operator,
    r#assign,
    r#add_assign,
    r#multiply_assign,
    r#or_assign,
    r#and_assign,
    r#min_assign,
    r#max_assign,
    r#named_assign,
    r#binary_operator,
    r#or,
    r#and,
    r#bit_or,
    r#bit_and,
    r#equal,
    r#not_equal,
    r#less_equal,
    r#greater_equal,
    r#less,
    r#greater,
    r#add,
    r#subtract,
    r#multiply,
    r#divide,
    r#remainder,
    r#negate,
    r#not,
    r#word,
    r#name,
    r#reserved,
    r#fn_keyword,
    r#format_keyword,
    r#let_keyword,
    r#where_keyword,
    r#schedule_keyword,
    r#pub_keyword,
    r#in_keyword,
    r#monoid_keyword,
    r#with_keyword,
    r#repeat_word,
    r#until_word,
    r#or_word,
    r#next_word,
    r#on_word,
    r#fill_word,
    r#symmetric_word,
    r#skew_word,
    r#hermitian_word,
    r#nnz_word,
    r#fibers_word,
    r#order_word,
    r#extent_word,
    r#min_word,
    r#max_word,
    r#boolean,
    r#element_type,
    r#number,
    r#suffix,
    r#radix,
    r#decimal,
    r#digits,
    r#exponent,
    r#bad_number,
    r#opening,
    r#closing,
    r#unclosed_comment,
    r#punctuation,
    r#unknown,
    r#lparen,
    r#rparen,
    r#lbracket,
    r#rbracket,
    r#lbrace,
    r#rbrace,
    r#body_open,
    r#orphan_open,
    r#comma,
    r#colon,
    r#semicolon,
    r#arrow,
    r#ellipsis,
    r#range,
    r#path_separator,
}
impl Rule {
    pub fn all_rules() -> &'static [Rule] {
        &[
            Rule::r#WHITESPACE,
            Rule::r#COMMENT,
            Rule::r#line_comment,
            Rule::r#block_comment,
            Rule::r#program,
            Rule::r#statement_argument,
            Rule::r#parameter_format,
            Rule::r#format_argument,
            Rule::r#schedule_argument,
            Rule::r#recovered_program,
            Rule::r#orphan,
            Rule::r#lexemes,
            Rule::r#lexeme,
            Rule::r#item,
            Rule::r#documentation,
            Rule::r#kernel,
            Rule::r#repeat,
            Rule::r#visibility,
            Rule::r#scope,
            Rule::r#path,
            Rule::r#results,
            Rule::r#parameter_list,
            Rule::r#parameter,
            Rule::r#declaration,
            Rule::r#fill,
            Rule::r#hint,
            Rule::r#fill_value,
            Rule::r#schedule,
            Rule::r#scoped,
            Rule::r#directive,
            Rule::r#directive_argument,
            Rule::r#choice,
            Rule::r#definition,
            Rule::r#name_list,
            Rule::r#format,
            Rule::r#symmetry,
            Rule::r#map,
            Rule::r#levels,
            Rule::r#named,
            Rule::r#map_mode,
            Rule::r#map_level,
            Rule::r#level,
            Rule::r#argument_list,
            Rule::r#argument,
            Rule::r#setting,
            Rule::r#function,
            Rule::r#monoid,
            Rule::r#words_ahead,
            Rule::r#statement,
            Rule::r#next,
            Rule::r#bare_statement,
            Rule::r#assignment,
            Rule::r#condition,
            Rule::r#access,
            Rule::r#index_list,
            Rule::r#index,
            Rule::r#pack,
            Rule::r#expression,
            Rule::r#operand,
            Rule::r#group,
            Rule::r#call,
            Rule::r#assign_operator,
            Rule::r#assign,
            Rule::r#add_assign,
            Rule::r#multiply_assign,
            Rule::r#or_assign,
            Rule::r#and_assign,
            Rule::r#min_assign,
            Rule::r#max_assign,
            Rule::r#named_assign,
            Rule::r#binary_operator,
            Rule::r#or,
            Rule::r#and,
            Rule::r#bit_or,
            Rule::r#bit_and,
            Rule::r#equal,
            Rule::r#not_equal,
            Rule::r#less_equal,
            Rule::r#greater_equal,
            Rule::r#less,
            Rule::r#greater,
            Rule::r#add,
            Rule::r#subtract,
            Rule::r#multiply,
            Rule::r#divide,
            Rule::r#remainder,
            Rule::r#negate,
            Rule::r#not,
            Rule::r#word,
            Rule::r#name,
            Rule::r#reserved,
            Rule::r#fn_keyword,
            Rule::r#format_keyword,
            Rule::r#let_keyword,
            Rule::r#where_keyword,
            Rule::r#schedule_keyword,
            Rule::r#pub_keyword,
            Rule::r#in_keyword,
            Rule::r#monoid_keyword,
            Rule::r#with_keyword,
            Rule::r#repeat_word,
            Rule::r#until_word,
            Rule::r#or_word,
            Rule::r#next_word,
            Rule::r#on_word,
            Rule::r#fill_word,
            Rule::r#symmetric_word,
            Rule::r#skew_word,
            Rule::r#hermitian_word,
            Rule::r#nnz_word,
            Rule::r#fibers_word,
            Rule::r#order_word,
            Rule::r#extent_word,
            Rule::r#min_word,
            Rule::r#max_word,
            Rule::r#boolean,
            Rule::r#element_type,
            Rule::r#number,
            Rule::r#suffix,
            Rule::r#radix,
            Rule::r#decimal,
            Rule::r#digits,
            Rule::r#exponent,
            Rule::r#bad_number,
            Rule::r#opening,
            Rule::r#closing,
            Rule::r#unclosed_comment,
            Rule::r#punctuation,
            Rule::r#unknown,
            Rule::r#lparen,
            Rule::r#rparen,
            Rule::r#lbracket,
            Rule::r#rbracket,
            Rule::r#lbrace,
            Rule::r#rbrace,
            Rule::r#body_open,
            Rule::r#orphan_open,
            Rule::r#comma,
            Rule::r#colon,
            Rule::r#semicolon,
            Rule::r#arrow,
            Rule::r#ellipsis,
            Rule::r#range,
            Rule::r#path_separator,
        ]
    }
}
#[allow(clippy::all)]
impl ::pest::Parser<Rule> for Grammar {
    fn parse<'i>(
        rule: Rule,
        input: &'i str,
    ) -> ::std::result::Result<
        ::pest::iterators::Pairs<'i, Rule>,
        ::pest::error::Error<Rule>,
    > {
        mod rules {
            #![allow(clippy::upper_case_acronyms)]
            pub mod hidden {
                use super::super::Rule;
                #[inline]
                #[allow(dead_code, non_snake_case, unused_variables)]
                pub fn skip(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    if state.atomicity() == ::pest::Atomicity::NonAtomic {
                        state
                            .sequence(|state| {
                                state
                                    .repeat(|state| super::visible::WHITESPACE(state))
                                    .and_then(|state| {
                                        state
                                            .repeat(|state| {
                                                state
                                                    .sequence(|state| {
                                                        super::visible::COMMENT(state)
                                                            .and_then(|state| {
                                                                state.repeat(|state| super::visible::WHITESPACE(state))
                                                            })
                                                    })
                                            })
                                    })
                            })
                    } else {
                        Ok(state)
                    }
                }
            }
            pub mod visible {
                use super::super::Rule;
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#WHITESPACE(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .atomic(
                            ::pest::Atomicity::Atomic,
                            |state| {
                                self::r#PATTERN_WHITE_SPACE(state)
                                    .or_else(|state| { state.match_string("\u{feff}") })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#COMMENT(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .atomic(
                            ::pest::Atomicity::Atomic,
                            |state| {
                                self::r#line_comment(state)
                                    .or_else(|state| { self::r#block_comment(state) })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#line_comment(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .sequence(|state| {
                            state
                                .match_string("//")
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state
                                        .lookahead(
                                            false,
                                            |state| {
                                                state
                                                    .sequence(|state| {
                                                        state
                                                            .match_string("/")
                                                            .and_then(|state| { super::hidden::skip(state) })
                                                            .and_then(|state| {
                                                                state.lookahead(false, |state| { state.match_string("/") })
                                                            })
                                                    })
                                            },
                                        )
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state
                                        .sequence(|state| {
                                            state
                                                .optional(|state| {
                                                    state
                                                        .sequence(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#NEWLINE(state) })
                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                .and_then(|state| { self::r#ANY(state) })
                                                        })
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            super::hidden::skip(state)
                                                                                .and_then(|state| {
                                                                                    state
                                                                                        .sequence(|state| {
                                                                                            state
                                                                                                .lookahead(false, |state| { self::r#NEWLINE(state) })
                                                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                                                .and_then(|state| { self::r#ANY(state) })
                                                                                        })
                                                                                })
                                                                        })
                                                                })
                                                        })
                                                })
                                        })
                                })
                        })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#block_comment(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .sequence(|state| {
                            state
                                .match_string("/*")
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state
                                        .sequence(|state| {
                                            state
                                                .optional(|state| {
                                                    self::r#block_comment(state)
                                                        .or_else(|state| {
                                                            state
                                                                .sequence(|state| {
                                                                    state
                                                                        .lookahead(
                                                                            false,
                                                                            |state| {
                                                                                state
                                                                                    .match_string("/*")
                                                                                    .or_else(|state| { state.match_string("*/") })
                                                                            },
                                                                        )
                                                                        .and_then(|state| { super::hidden::skip(state) })
                                                                        .and_then(|state| { self::r#ANY(state) })
                                                                })
                                                        })
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            super::hidden::skip(state)
                                                                                .and_then(|state| {
                                                                                    self::r#block_comment(state)
                                                                                        .or_else(|state| {
                                                                                            state
                                                                                                .sequence(|state| {
                                                                                                    state
                                                                                                        .lookahead(
                                                                                                            false,
                                                                                                            |state| {
                                                                                                                state
                                                                                                                    .match_string("/*")
                                                                                                                    .or_else(|state| { state.match_string("*/") })
                                                                                                            },
                                                                                                        )
                                                                                                        .and_then(|state| { super::hidden::skip(state) })
                                                                                                        .and_then(|state| { self::r#ANY(state) })
                                                                                                })
                                                                                        })
                                                                                })
                                                                        })
                                                                })
                                                        })
                                                })
                                        })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| { state.match_string("*/") })
                        })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#program(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#program,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#SOI(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .sequence(|state| {
                                                        state
                                                            .optional(|state| {
                                                                self::r#item(state)
                                                                    .and_then(|state| {
                                                                        state
                                                                            .repeat(|state| {
                                                                                state
                                                                                    .sequence(|state| {
                                                                                        super::hidden::skip(state)
                                                                                            .and_then(|state| { self::r#item(state) })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#EOI(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#statement_argument(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#statement_argument,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#SOI(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#bare_statement(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.optional(|state| { self::r#semicolon(state) })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#EOI(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#parameter_format(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#parameter_format,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#SOI(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#declaration(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#EOI(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#format_argument(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#format_argument,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#SOI(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#format(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#EOI(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#schedule_argument(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#schedule_argument,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#SOI(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#schedule(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#EOI(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#recovered_program(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#recovered_program,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#SOI(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .sequence(|state| {
                                                        state
                                                            .optional(|state| {
                                                                self::r#item(state)
                                                                    .or_else(|state| { self::r#orphan(state) })
                                                                    .and_then(|state| {
                                                                        state
                                                                            .repeat(|state| {
                                                                                state
                                                                                    .sequence(|state| {
                                                                                        super::hidden::skip(state)
                                                                                            .and_then(|state| {
                                                                                                self::r#item(state)
                                                                                                    .or_else(|state| { self::r#orphan(state) })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#EOI(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#orphan(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#orphan,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#orphan_open(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .sequence(|state| {
                                                        state
                                                            .optional(|state| {
                                                                self::r#statement(state)
                                                                    .and_then(|state| {
                                                                        state
                                                                            .repeat(|state| {
                                                                                state
                                                                                    .sequence(|state| {
                                                                                        super::hidden::skip(state)
                                                                                            .and_then(|state| { self::r#statement(state) })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#rbrace(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.optional(|state| { self::r#schedule(state) })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#lexemes(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#lexemes,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#SOI(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .sequence(|state| {
                                                        state
                                                            .optional(|state| {
                                                                self::r#lexeme(state)
                                                                    .and_then(|state| {
                                                                        state
                                                                            .repeat(|state| {
                                                                                state
                                                                                    .sequence(|state| {
                                                                                        super::hidden::skip(state)
                                                                                            .and_then(|state| { self::r#lexeme(state) })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#EOI(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#lexeme(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    let state = state.check_stack_limit()?;
                    self::r#documentation(state)
                        .or_else(|state| { self::r#number(state) })
                        .or_else(|state| { self::r#bad_number(state) })
                        .or_else(|state| { self::r#word(state) })
                        .or_else(|state| { self::r#opening(state) })
                        .or_else(|state| { self::r#closing(state) })
                        .or_else(|state| { self::r#semicolon(state) })
                        .or_else(|state| { self::r#unclosed_comment(state) })
                        .or_else(|state| { self::r#punctuation(state) })
                        .or_else(|state| { self::r#unknown(state) })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#item(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#item,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .sequence(|state| {
                                                state
                                                    .optional(|state| {
                                                        self::r#documentation(state)
                                                            .and_then(|state| {
                                                                state
                                                                    .repeat(|state| {
                                                                        state
                                                                            .sequence(|state| {
                                                                                super::hidden::skip(state)
                                                                                    .and_then(|state| { self::r#documentation(state) })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                self::r#definition(state)
                                                    .or_else(|state| { self::r#monoid(state) })
                                                    .or_else(|state| { self::r#function(state) })
                                                    .or_else(|state| { self::r#kernel(state) })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#documentation(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#documentation,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("///")
                                                        .and_then(|state| {
                                                            state.lookahead(false, |state| { state.match_string("/") })
                                                        })
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            state
                                                                                .lookahead(false, |state| { self::r#NEWLINE(state) })
                                                                                .and_then(|state| { self::r#ANY(state) })
                                                                        })
                                                                })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#kernel(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#kernel,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .optional(|state| { self::r#visibility(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#fn_keyword(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#name(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#lparen(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.optional(|state| { self::r#parameter_list(state) })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#rparen(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#arrow(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#results(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#lbrace(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .sequence(|state| {
                                                        state
                                                            .optional(|state| {
                                                                self::r#statement(state)
                                                                    .and_then(|state| {
                                                                        state
                                                                            .repeat(|state| {
                                                                                state
                                                                                    .sequence(|state| {
                                                                                        super::hidden::skip(state)
                                                                                            .and_then(|state| { self::r#statement(state) })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .optional(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                self::r#repeat(state)
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state
                                                                            .sequence(|state| {
                                                                                state
                                                                                    .optional(|state| {
                                                                                        self::r#statement(state)
                                                                                            .and_then(|state| {
                                                                                                state
                                                                                                    .repeat(|state| {
                                                                                                        state
                                                                                                            .sequence(|state| {
                                                                                                                super::hidden::skip(state)
                                                                                                                    .and_then(|state| { self::r#statement(state) })
                                                                                                            })
                                                                                                    })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#rbrace(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.optional(|state| { self::r#schedule(state) })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#repeat(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#repeat,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#repeat_word(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .optional(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                state
                                                                    .lookahead(false, |state| { self::r#until_word(state) })
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| { self::r#name(state) })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .optional(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                self::r#until_word(state)
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| { self::r#expression(state) })
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| { self::r#or_word(state) })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                self::r#number(state)
                                                    .or_else(|state| { self::r#name(state) })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#lbrace(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .sequence(|state| {
                                                        state
                                                            .optional(|state| {
                                                                self::r#statement(state)
                                                                    .and_then(|state| {
                                                                        state
                                                                            .repeat(|state| {
                                                                                state
                                                                                    .sequence(|state| {
                                                                                        super::hidden::skip(state)
                                                                                            .and_then(|state| { self::r#statement(state) })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#rbrace(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#visibility(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#visibility,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#pub_keyword(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .optional(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                self::r#lparen(state)
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| { self::r#scope(state) })
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| { self::r#rparen(state) })
                                                            })
                                                    })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#scope(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#scope,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#in_keyword(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#path(state) })
                                    })
                                    .or_else(|state| { self::r#path(state) })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#path(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#path,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#word(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .sequence(|state| {
                                                        state
                                                            .optional(|state| {
                                                                state
                                                                    .sequence(|state| {
                                                                        self::r#path_separator(state)
                                                                            .and_then(|state| { super::hidden::skip(state) })
                                                                            .and_then(|state| { self::r#word(state) })
                                                                    })
                                                                    .and_then(|state| {
                                                                        state
                                                                            .repeat(|state| {
                                                                                state
                                                                                    .sequence(|state| {
                                                                                        super::hidden::skip(state)
                                                                                            .and_then(|state| {
                                                                                                state
                                                                                                    .sequence(|state| {
                                                                                                        self::r#path_separator(state)
                                                                                                            .and_then(|state| { super::hidden::skip(state) })
                                                                                                            .and_then(|state| { self::r#word(state) })
                                                                                                    })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#results(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#results,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#lparen(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#parameter_list(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#rparen(state) })
                                    })
                                    .or_else(|state| { self::r#parameter(state) })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#parameter_list(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .sequence(|state| {
                            self::r#parameter(state)
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state
                                        .sequence(|state| {
                                            state
                                                .optional(|state| {
                                                    state
                                                        .sequence(|state| {
                                                            self::r#comma(state)
                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                .and_then(|state| { self::r#parameter(state) })
                                                        })
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            super::hidden::skip(state)
                                                                                .and_then(|state| {
                                                                                    state
                                                                                        .sequence(|state| {
                                                                                            self::r#comma(state)
                                                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                                                .and_then(|state| { self::r#parameter(state) })
                                                                                        })
                                                                                })
                                                                        })
                                                                })
                                                        })
                                                })
                                        })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state.optional(|state| { self::r#comma(state) })
                                })
                        })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#parameter(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#parameter,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#name(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#colon(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#declaration(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#declaration(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#declaration,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#element_type(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .optional(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                self::r#format(state)
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state.optional(|state| { self::r#fill(state) })
                                                                    })
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state
                                                                            .sequence(|state| {
                                                                                state
                                                                                    .optional(|state| {
                                                                                        self::r#hint(state)
                                                                                            .and_then(|state| {
                                                                                                state
                                                                                                    .repeat(|state| {
                                                                                                        state
                                                                                                            .sequence(|state| {
                                                                                                                super::hidden::skip(state)
                                                                                                                    .and_then(|state| { self::r#hint(state) })
                                                                                                            })
                                                                                                    })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                    })
                                    .or_else(|state| {
                                        state
                                            .sequence(|state| {
                                                self::r#format(state)
                                                    .and_then(|state| { super::hidden::skip(state) })
                                                    .and_then(|state| {
                                                        state.optional(|state| { self::r#fill(state) })
                                                    })
                                                    .and_then(|state| { super::hidden::skip(state) })
                                                    .and_then(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                state
                                                                    .optional(|state| {
                                                                        self::r#hint(state)
                                                                            .and_then(|state| {
                                                                                state
                                                                                    .repeat(|state| {
                                                                                        state
                                                                                            .sequence(|state| {
                                                                                                super::hidden::skip(state)
                                                                                                    .and_then(|state| { self::r#hint(state) })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#fill(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#fill,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#fill_word(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#fill_value(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#hint(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#hint,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#nnz_word(state)
                                            .or_else(|state| { self::r#fibers_word(state) })
                                            .or_else(|state| { self::r#order_word(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#number(state) })
                                    })
                                    .or_else(|state| {
                                        state
                                            .sequence(|state| {
                                                self::r#extent_word(state)
                                                    .and_then(|state| { super::hidden::skip(state) })
                                                    .and_then(|state| { self::r#lparen(state) })
                                                    .and_then(|state| { super::hidden::skip(state) })
                                                    .and_then(|state| { self::r#number(state) })
                                                    .and_then(|state| { super::hidden::skip(state) })
                                                    .and_then(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                state
                                                                    .optional(|state| {
                                                                        state
                                                                            .sequence(|state| {
                                                                                self::r#comma(state)
                                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                                    .and_then(|state| { self::r#number(state) })
                                                                            })
                                                                            .and_then(|state| {
                                                                                state
                                                                                    .repeat(|state| {
                                                                                        state
                                                                                            .sequence(|state| {
                                                                                                super::hidden::skip(state)
                                                                                                    .and_then(|state| {
                                                                                                        state
                                                                                                            .sequence(|state| {
                                                                                                                self::r#comma(state)
                                                                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                                                                    .and_then(|state| { self::r#number(state) })
                                                                                                            })
                                                                                                    })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                                    .and_then(|state| { super::hidden::skip(state) })
                                                    .and_then(|state| {
                                                        state.optional(|state| { self::r#comma(state) })
                                                    })
                                                    .and_then(|state| { super::hidden::skip(state) })
                                                    .and_then(|state| { self::r#rparen(state) })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#fill_value(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#fill_value,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .optional(|state| { self::r#negate(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                self::r#number(state)
                                                    .or_else(|state| { self::r#boolean(state) })
                                                    .or_else(|state| { self::r#call(state) })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#schedule(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#schedule,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#schedule_keyword(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#lbrace(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .sequence(|state| {
                                                        state
                                                            .optional(|state| {
                                                                self::r#scoped(state)
                                                                    .or_else(|state| { self::r#directive(state) })
                                                                    .and_then(|state| {
                                                                        state
                                                                            .repeat(|state| {
                                                                                state
                                                                                    .sequence(|state| {
                                                                                        super::hidden::skip(state)
                                                                                            .and_then(|state| {
                                                                                                self::r#scoped(state)
                                                                                                    .or_else(|state| { self::r#directive(state) })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#rbrace(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#scoped(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#scoped,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#on_word(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#name(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#lbrace(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .sequence(|state| {
                                                        state
                                                            .optional(|state| {
                                                                self::r#directive(state)
                                                                    .and_then(|state| {
                                                                        state
                                                                            .repeat(|state| {
                                                                                state
                                                                                    .sequence(|state| {
                                                                                        super::hidden::skip(state)
                                                                                            .and_then(|state| { self::r#directive(state) })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#rbrace(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#directive(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#directive,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#name(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#lparen(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .optional(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                self::r#directive_argument(state)
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state
                                                                            .sequence(|state| {
                                                                                state
                                                                                    .optional(|state| {
                                                                                        state
                                                                                            .sequence(|state| {
                                                                                                self::r#comma(state)
                                                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                                                    .and_then(|state| { self::r#directive_argument(state) })
                                                                                            })
                                                                                            .and_then(|state| {
                                                                                                state
                                                                                                    .repeat(|state| {
                                                                                                        state
                                                                                                            .sequence(|state| {
                                                                                                                super::hidden::skip(state)
                                                                                                                    .and_then(|state| {
                                                                                                                        state
                                                                                                                            .sequence(|state| {
                                                                                                                                self::r#comma(state)
                                                                                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                                                                                    .and_then(|state| { self::r#directive_argument(state) })
                                                                                                                            })
                                                                                                                    })
                                                                                                            })
                                                                                                    })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state.optional(|state| { self::r#comma(state) })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#rparen(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#semicolon(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#directive_argument(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .sequence(|state| {
                            self::r#expression(state)
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state.optional(|state| { self::r#choice(state) })
                                })
                        })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#choice(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#choice,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#colon(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#expression(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#definition(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#definition,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#format_keyword(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#name(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .optional(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                self::r#lparen(state)
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state.optional(|state| { self::r#name_list(state) })
                                                                    })
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| { self::r#rparen(state) })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#assign(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                self::r#map(state)
                                                    .or_else(|state| { self::r#levels(state) })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#semicolon(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#name_list(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .sequence(|state| {
                            self::r#name(state)
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state
                                        .sequence(|state| {
                                            state
                                                .optional(|state| {
                                                    state
                                                        .sequence(|state| {
                                                            self::r#comma(state)
                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                .and_then(|state| { self::r#name(state) })
                                                        })
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            super::hidden::skip(state)
                                                                                .and_then(|state| {
                                                                                    state
                                                                                        .sequence(|state| {
                                                                                            self::r#comma(state)
                                                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                                                .and_then(|state| { self::r#name(state) })
                                                                                        })
                                                                                })
                                                                        })
                                                                })
                                                        })
                                                })
                                        })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state.optional(|state| { self::r#comma(state) })
                                })
                        })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#format(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#format,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#map(state)
                                            .or_else(|state| { self::r#levels(state) })
                                            .or_else(|state| { self::r#named(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.optional(|state| { self::r#symmetry(state) })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#symmetry(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#symmetry,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#symmetric_word(state)
                                            .or_else(|state| { self::r#skew_word(state) })
                                            .or_else(|state| { self::r#hermitian_word(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .optional(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                self::r#lparen(state)
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| { self::r#name_list(state) })
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| { self::r#rparen(state) })
                                                            })
                                                    })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#map(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#map,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#lparen(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .optional(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                self::r#map_mode(state)
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state
                                                                            .sequence(|state| {
                                                                                state
                                                                                    .optional(|state| {
                                                                                        state
                                                                                            .sequence(|state| {
                                                                                                self::r#comma(state)
                                                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                                                    .and_then(|state| { self::r#map_mode(state) })
                                                                                            })
                                                                                            .and_then(|state| {
                                                                                                state
                                                                                                    .repeat(|state| {
                                                                                                        state
                                                                                                            .sequence(|state| {
                                                                                                                super::hidden::skip(state)
                                                                                                                    .and_then(|state| {
                                                                                                                        state
                                                                                                                            .sequence(|state| {
                                                                                                                                self::r#comma(state)
                                                                                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                                                                                    .and_then(|state| { self::r#map_mode(state) })
                                                                                                                            })
                                                                                                                    })
                                                                                                            })
                                                                                                    })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state.optional(|state| { self::r#comma(state) })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#rparen(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#arrow(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#lbracket(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .optional(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                self::r#map_level(state)
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state
                                                                            .sequence(|state| {
                                                                                state
                                                                                    .optional(|state| {
                                                                                        state
                                                                                            .sequence(|state| {
                                                                                                self::r#comma(state)
                                                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                                                    .and_then(|state| { self::r#map_level(state) })
                                                                                            })
                                                                                            .and_then(|state| {
                                                                                                state
                                                                                                    .repeat(|state| {
                                                                                                        state
                                                                                                            .sequence(|state| {
                                                                                                                super::hidden::skip(state)
                                                                                                                    .and_then(|state| {
                                                                                                                        state
                                                                                                                            .sequence(|state| {
                                                                                                                                self::r#comma(state)
                                                                                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                                                                                    .and_then(|state| { self::r#map_level(state) })
                                                                                                                            })
                                                                                                                    })
                                                                                                            })
                                                                                                    })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state.optional(|state| { self::r#comma(state) })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#rbracket(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#levels(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#levels,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#lbracket(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .optional(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                self::r#level(state)
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state
                                                                            .sequence(|state| {
                                                                                state
                                                                                    .optional(|state| {
                                                                                        state
                                                                                            .sequence(|state| {
                                                                                                self::r#comma(state)
                                                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                                                    .and_then(|state| { self::r#level(state) })
                                                                                            })
                                                                                            .and_then(|state| {
                                                                                                state
                                                                                                    .repeat(|state| {
                                                                                                        state
                                                                                                            .sequence(|state| {
                                                                                                                super::hidden::skip(state)
                                                                                                                    .and_then(|state| {
                                                                                                                        state
                                                                                                                            .sequence(|state| {
                                                                                                                                self::r#comma(state)
                                                                                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                                                                                    .and_then(|state| { self::r#level(state) })
                                                                                                                            })
                                                                                                                    })
                                                                                                            })
                                                                                                    })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state.optional(|state| { self::r#comma(state) })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#rbracket(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#named(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#named,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#name(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.optional(|state| { self::r#argument_list(state) })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#map_mode(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#map_mode,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#name(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.optional(|state| { self::r#ellipsis(state) })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#map_level(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#map_level,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#expression(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.optional(|state| { self::r#ellipsis(state) })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#colon(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#level(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#level(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#level,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#name(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.optional(|state| { self::r#argument_list(state) })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#argument_list(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .sequence(|state| {
                            self::r#lparen(state)
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state
                                        .optional(|state| {
                                            state
                                                .sequence(|state| {
                                                    self::r#argument(state)
                                                        .and_then(|state| { super::hidden::skip(state) })
                                                        .and_then(|state| {
                                                            state
                                                                .sequence(|state| {
                                                                    state
                                                                        .optional(|state| {
                                                                            state
                                                                                .sequence(|state| {
                                                                                    self::r#comma(state)
                                                                                        .and_then(|state| { super::hidden::skip(state) })
                                                                                        .and_then(|state| { self::r#argument(state) })
                                                                                })
                                                                                .and_then(|state| {
                                                                                    state
                                                                                        .repeat(|state| {
                                                                                            state
                                                                                                .sequence(|state| {
                                                                                                    super::hidden::skip(state)
                                                                                                        .and_then(|state| {
                                                                                                            state
                                                                                                                .sequence(|state| {
                                                                                                                    self::r#comma(state)
                                                                                                                        .and_then(|state| { super::hidden::skip(state) })
                                                                                                                        .and_then(|state| { self::r#argument(state) })
                                                                                                                })
                                                                                                        })
                                                                                                })
                                                                                        })
                                                                                })
                                                                        })
                                                                })
                                                        })
                                                        .and_then(|state| { super::hidden::skip(state) })
                                                        .and_then(|state| {
                                                            state.optional(|state| { self::r#comma(state) })
                                                        })
                                                })
                                        })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| { self::r#rparen(state) })
                        })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#argument(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#argument,
                            |state| {
                                self::r#setting(state)
                                    .or_else(|state| { self::r#name(state) })
                                    .or_else(|state| { self::r#number(state) })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#setting(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#setting,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#name(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#assign(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                self::r#name(state)
                                                    .or_else(|state| { self::r#number(state) })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#function(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#function,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .lookahead(
                                                true,
                                                |state| {
                                                    state
                                                        .sequence(|state| {
                                                            state
                                                                .match_string("fn")
                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                .and_then(|state| { self::r#words_ahead(state) })
                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                .and_then(|state| { state.match_string("(") })
                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                .and_then(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            state
                                                                                .optional(|state| {
                                                                                    state
                                                                                        .sequence(|state| {
                                                                                            state
                                                                                                .lookahead(
                                                                                                    false,
                                                                                                    |state| {
                                                                                                        state
                                                                                                            .match_string(")")
                                                                                                            .or_else(|state| { state.match_string("{") })
                                                                                                            .or_else(|state| { state.match_string(";") })
                                                                                                    },
                                                                                                )
                                                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                                                .and_then(|state| { self::r#ANY(state) })
                                                                                        })
                                                                                        .and_then(|state| {
                                                                                            state
                                                                                                .repeat(|state| {
                                                                                                    state
                                                                                                        .sequence(|state| {
                                                                                                            super::hidden::skip(state)
                                                                                                                .and_then(|state| {
                                                                                                                    state
                                                                                                                        .sequence(|state| {
                                                                                                                            state
                                                                                                                                .lookahead(
                                                                                                                                    false,
                                                                                                                                    |state| {
                                                                                                                                        state
                                                                                                                                            .match_string(")")
                                                                                                                                            .or_else(|state| { state.match_string("{") })
                                                                                                                                            .or_else(|state| { state.match_string(";") })
                                                                                                                                    },
                                                                                                                                )
                                                                                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                                                                                .and_then(|state| { self::r#ANY(state) })
                                                                                                                        })
                                                                                                                })
                                                                                                        })
                                                                                                })
                                                                                        })
                                                                                })
                                                                        })
                                                                })
                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                .and_then(|state| { state.match_string(")") })
                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                .and_then(|state| { state.match_string("=") })
                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                .and_then(|state| {
                                                                    state.lookahead(false, |state| { state.match_string("=") })
                                                                })
                                                        })
                                                },
                                            )
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#fn_keyword(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#name(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#lparen(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.optional(|state| { self::r#name_list(state) })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#rparen(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#assign(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#expression(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#semicolon(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#monoid(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#monoid,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .lookahead(
                                                true,
                                                |state| {
                                                    state
                                                        .sequence(|state| {
                                                            state
                                                                .match_string("monoid")
                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                .and_then(|state| { self::r#words_ahead(state) })
                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                .and_then(|state| { state.match_string("(") })
                                                        })
                                                },
                                            )
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#monoid_keyword(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#name(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#lparen(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.optional(|state| { self::r#name_list(state) })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#rparen(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#assign(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#expression(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#with_keyword(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#fill_value(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#semicolon(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#words_ahead(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .sequence(|state| {
                            self::r#XID_START(state)
                                .or_else(|state| { state.match_string("_") })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state
                                        .sequence(|state| {
                                            state
                                                .optional(|state| {
                                                    self::r#XID_CONTINUE(state)
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            super::hidden::skip(state)
                                                                                .and_then(|state| { self::r#XID_CONTINUE(state) })
                                                                        })
                                                                })
                                                        })
                                                })
                                        })
                                })
                        })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#statement(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#statement,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .sequence(|state| {
                                                self::r#let_keyword(state)
                                                    .and_then(|state| { super::hidden::skip(state) })
                                                    .and_then(|state| { self::r#access(state) })
                                                    .and_then(|state| { super::hidden::skip(state) })
                                                    .and_then(|state| {
                                                        state
                                                            .optional(|state| {
                                                                state
                                                                    .sequence(|state| {
                                                                        self::r#colon(state)
                                                                            .and_then(|state| { super::hidden::skip(state) })
                                                                            .and_then(|state| { self::r#declaration(state) })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .or_else(|state| { self::r#next(state) })
                                            .or_else(|state| { self::r#access(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#assignment(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#semicolon(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#next(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#next,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .lookahead(
                                                true,
                                                |state| {
                                                    state
                                                        .sequence(|state| {
                                                            state
                                                                .match_string("next")
                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                .and_then(|state| { self::r#words_ahead(state) })
                                                        })
                                                },
                                            )
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#next_word(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#access(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#bare_statement(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#bare_statement,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#access(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#assignment(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#assignment(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .sequence(|state| {
                            self::r#assign_operator(state)
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| { self::r#expression(state) })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state
                                        .optional(|state| {
                                            state
                                                .sequence(|state| {
                                                    self::r#where_keyword(state)
                                                        .and_then(|state| { super::hidden::skip(state) })
                                                        .and_then(|state| { self::r#condition(state) })
                                                })
                                        })
                                })
                        })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#condition(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#condition, |state| { self::r#expression(state) })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#access(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#access,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#name(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.optional(|state| { self::r#index_list(state) })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#index_list(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#index_list,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#lparen(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .optional(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                self::r#index(state)
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state
                                                                            .sequence(|state| {
                                                                                state
                                                                                    .optional(|state| {
                                                                                        state
                                                                                            .sequence(|state| {
                                                                                                self::r#comma(state)
                                                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                                                    .and_then(|state| { self::r#index(state) })
                                                                                            })
                                                                                            .and_then(|state| {
                                                                                                state
                                                                                                    .repeat(|state| {
                                                                                                        state
                                                                                                            .sequence(|state| {
                                                                                                                super::hidden::skip(state)
                                                                                                                    .and_then(|state| {
                                                                                                                        state
                                                                                                                            .sequence(|state| {
                                                                                                                                self::r#comma(state)
                                                                                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                                                                                    .and_then(|state| { self::r#index(state) })
                                                                                                                            })
                                                                                                                    })
                                                                                                            })
                                                                                                    })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state.optional(|state| { self::r#comma(state) })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#rparen(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#index(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#index,
                            |state| {
                                self::r#pack(state)
                                    .or_else(|state| {
                                        state
                                            .sequence(|state| {
                                                self::r#expression(state)
                                                    .and_then(|state| { super::hidden::skip(state) })
                                                    .and_then(|state| {
                                                        state
                                                            .optional(|state| {
                                                                state
                                                                    .sequence(|state| {
                                                                        self::r#range(state)
                                                                            .and_then(|state| { super::hidden::skip(state) })
                                                                            .and_then(|state| { self::r#expression(state) })
                                                                    })
                                                            })
                                                    })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#pack(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#pack,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .lookahead(
                                                true,
                                                |state| {
                                                    state
                                                        .sequence(|state| {
                                                            self::r#words_ahead(state)
                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                .and_then(|state| { state.match_string("...") })
                                                        })
                                                },
                                            )
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#name(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#ellipsis(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#expression(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#expression,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#operand(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .sequence(|state| {
                                                        state
                                                            .optional(|state| {
                                                                state
                                                                    .sequence(|state| {
                                                                        self::r#binary_operator(state)
                                                                            .and_then(|state| { super::hidden::skip(state) })
                                                                            .and_then(|state| { self::r#operand(state) })
                                                                    })
                                                                    .and_then(|state| {
                                                                        state
                                                                            .repeat(|state| {
                                                                                state
                                                                                    .sequence(|state| {
                                                                                        super::hidden::skip(state)
                                                                                            .and_then(|state| {
                                                                                                state
                                                                                                    .sequence(|state| {
                                                                                                        self::r#binary_operator(state)
                                                                                                            .and_then(|state| { super::hidden::skip(state) })
                                                                                                            .and_then(|state| { self::r#operand(state) })
                                                                                                    })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#operand(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#operand,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .sequence(|state| {
                                                state
                                                    .optional(|state| {
                                                        self::r#negate(state)
                                                            .or_else(|state| { self::r#not(state) })
                                                            .and_then(|state| {
                                                                state
                                                                    .repeat(|state| {
                                                                        state
                                                                            .sequence(|state| {
                                                                                super::hidden::skip(state)
                                                                                    .and_then(|state| {
                                                                                        self::r#negate(state)
                                                                                            .or_else(|state| { self::r#not(state) })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                self::r#number(state)
                                                    .or_else(|state| { self::r#boolean(state) })
                                                    .or_else(|state| { self::r#call(state) })
                                                    .or_else(|state| { self::r#group(state) })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#group(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#group,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#lparen(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#expression(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#rparen(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#call(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#call,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#name(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .optional(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                self::r#index_list(state)
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state
                                                                            .optional(|state| {
                                                                                state
                                                                                    .sequence(|state| {
                                                                                        self::r#body_open(state)
                                                                                            .and_then(|state| { super::hidden::skip(state) })
                                                                                            .and_then(|state| { self::r#expression(state) })
                                                                                            .and_then(|state| { super::hidden::skip(state) })
                                                                                            .and_then(|state| {
                                                                                                state
                                                                                                    .optional(|state| {
                                                                                                        state
                                                                                                            .sequence(|state| {
                                                                                                                self::r#where_keyword(state)
                                                                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                                                                    .and_then(|state| { self::r#condition(state) })
                                                                                                            })
                                                                                                    })
                                                                                            })
                                                                                            .and_then(|state| { super::hidden::skip(state) })
                                                                                            .and_then(|state| { self::r#rparen(state) })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#assign_operator(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#assign_operator,
                            |state| {
                                self::r#assign(state)
                                    .or_else(|state| { self::r#add_assign(state) })
                                    .or_else(|state| { self::r#multiply_assign(state) })
                                    .or_else(|state| { self::r#or_assign(state) })
                                    .or_else(|state| { self::r#and_assign(state) })
                                    .or_else(|state| { self::r#min_assign(state) })
                                    .or_else(|state| { self::r#max_assign(state) })
                                    .or_else(|state| { self::r#named_assign(state) })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#assign(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#assign,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .match_string("=")
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.lookahead(false, |state| { state.match_string("=") })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#add_assign(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#add_assign, |state| { state.match_string("+=") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#multiply_assign(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#multiply_assign,
                            |state| { state.match_string("*=") },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#or_assign(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#or_assign, |state| { state.match_string("|=") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#and_assign(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#and_assign, |state| { state.match_string("&=") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#min_assign(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#min_assign,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#min_word(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#assign(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#max_assign(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#max_assign,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#max_word(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#assign(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#named_assign(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#named_assign,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .lookahead(
                                                true,
                                                |state| {
                                                    state
                                                        .sequence(|state| {
                                                            self::r#words_ahead(state)
                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                .and_then(|state| { state.match_string("=") })
                                                                .and_then(|state| { super::hidden::skip(state) })
                                                                .and_then(|state| {
                                                                    state.lookahead(false, |state| { state.match_string("=") })
                                                                })
                                                        })
                                                },
                                            )
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#name(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#assign(state) })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#binary_operator(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#binary_operator,
                            |state| {
                                self::r#or(state)
                                    .or_else(|state| { self::r#and(state) })
                                    .or_else(|state| { self::r#equal(state) })
                                    .or_else(|state| { self::r#not_equal(state) })
                                    .or_else(|state| { self::r#less_equal(state) })
                                    .or_else(|state| { self::r#greater_equal(state) })
                                    .or_else(|state| { self::r#less(state) })
                                    .or_else(|state| { self::r#greater(state) })
                                    .or_else(|state| { self::r#bit_or(state) })
                                    .or_else(|state| { self::r#bit_and(state) })
                                    .or_else(|state| { self::r#add(state) })
                                    .or_else(|state| { self::r#subtract(state) })
                                    .or_else(|state| { self::r#multiply(state) })
                                    .or_else(|state| { self::r#divide(state) })
                                    .or_else(|state| { self::r#remainder(state) })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#or(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#or, |state| { state.match_string("||") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#and(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#and, |state| { state.match_string("&&") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#bit_or(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#bit_or,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .match_string("|")
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .lookahead(
                                                        false,
                                                        |state| {
                                                            state
                                                                .match_string("|")
                                                                .or_else(|state| { state.match_string("=") })
                                                        },
                                                    )
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#bit_and(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#bit_and,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .match_string("&")
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .lookahead(
                                                        false,
                                                        |state| {
                                                            state
                                                                .match_string("&")
                                                                .or_else(|state| { state.match_string("=") })
                                                        },
                                                    )
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#equal(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#equal, |state| { state.match_string("==") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#not_equal(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#not_equal, |state| { state.match_string("!=") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#less_equal(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#less_equal, |state| { state.match_string("<=") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#greater_equal(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#greater_equal,
                            |state| { state.match_string(">=") },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#less(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#less, |state| { state.match_string("<") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#greater(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#greater, |state| { state.match_string(">") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#add(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#add, |state| { state.match_string("+") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#subtract(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#subtract,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .match_string("-")
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.lookahead(false, |state| { state.match_string(">") })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#multiply(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#multiply, |state| { state.match_string("*") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#divide(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#divide, |state| { state.match_string("/") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#remainder(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#remainder, |state| { state.match_string("%") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#negate(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#negate,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .match_string("-")
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.lookahead(false, |state| { state.match_string(">") })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#not(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#not,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .match_string("!")
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.lookahead(false, |state| { state.match_string("=") })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#word(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#word,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    self::r#XID_START(state)
                                                        .or_else(|state| { state.match_string("_") })
                                                        .and_then(|state| {
                                                            state.repeat(|state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                        .and_then(|state| {
                                                            state.optional(|state| { state.match_string("'") })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#name(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#name,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .lookahead(
                                                            false,
                                                            |state| {
                                                                state
                                                                    .sequence(|state| {
                                                                        self::r#reserved(state)
                                                                            .or_else(|state| { state.match_string("_") })
                                                                            .and_then(|state| {
                                                                                state
                                                                                    .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                                            })
                                                                    })
                                                            },
                                                        )
                                                        .and_then(|state| { self::r#word(state) })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#reserved(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#reserved,
                            |state| {
                                state
                                    .match_string("fn")
                                    .or_else(|state| { state.match_string("format") })
                                    .or_else(|state| { state.match_string("let") })
                                    .or_else(|state| { state.match_string("where") })
                                    .or_else(|state| { state.match_string("schedule") })
                                    .or_else(|state| { state.match_string("pub") })
                                    .or_else(|state| { state.match_string("true") })
                                    .or_else(|state| { state.match_string("false") })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#fn_keyword(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#fn_keyword,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("fn")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#format_keyword(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#format_keyword,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("format")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#let_keyword(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#let_keyword,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("let")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#where_keyword(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#where_keyword,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("where")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#schedule_keyword(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#schedule_keyword,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("schedule")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#pub_keyword(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#pub_keyword,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("pub")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#in_keyword(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#in_keyword,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("in")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#monoid_keyword(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#monoid_keyword,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("monoid")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#with_keyword(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#with_keyword,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("with")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#repeat_word(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#repeat_word,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("repeat")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#until_word(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#until_word,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("until")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#or_word(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#or_word,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("or")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#next_word(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#next_word,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("next")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#on_word(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#on_word,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("on")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#fill_word(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#fill_word,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("fill")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#symmetric_word(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#symmetric_word,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("symmetric")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#skew_word(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#skew_word,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("skew")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#hermitian_word(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#hermitian_word,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("hermitian")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#nnz_word(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#nnz_word,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("nnz")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#fibers_word(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#fibers_word,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("fibers")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#order_word(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#order_word,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("order")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#extent_word(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#extent_word,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("extent")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#min_word(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#min_word,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("min")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#max_word(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#max_word,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("max")
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#boolean(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#boolean,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("true")
                                                        .or_else(|state| { state.match_string("false") })
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#element_type(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#element_type,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("f64")
                                                        .or_else(|state| { state.match_string("f32") })
                                                        .or_else(|state| { state.match_string("f16") })
                                                        .or_else(|state| { state.match_string("bf16") })
                                                        .or_else(|state| { state.match_string("i8") })
                                                        .or_else(|state| { state.match_string("i16") })
                                                        .or_else(|state| { state.match_string("i32") })
                                                        .or_else(|state| { state.match_string("i64") })
                                                        .or_else(|state| { state.match_string("u8") })
                                                        .or_else(|state| { state.match_string("u16") })
                                                        .or_else(|state| { state.match_string("u32") })
                                                        .or_else(|state| { state.match_string("u64") })
                                                        .or_else(|state| { state.match_string("bool") })
                                                        .or_else(|state| { state.match_string("c32") })
                                                        .or_else(|state| { state.match_string("c64") })
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(false, |state| { self::r#XID_CONTINUE(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#number(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#number,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    self::r#radix(state)
                                                        .or_else(|state| { self::r#decimal(state) })
                                                        .and_then(|state| {
                                                            state.optional(|state| { self::r#suffix(state) })
                                                        })
                                                        .and_then(|state| {
                                                            state
                                                                .lookahead(
                                                                    false,
                                                                    |state| {
                                                                        self::r#XID_CONTINUE(state)
                                                                            .or_else(|state| {
                                                                                state
                                                                                    .sequence(|state| {
                                                                                        state
                                                                                            .match_string(".")
                                                                                            .and_then(|state| {
                                                                                                state.lookahead(false, |state| { state.match_string(".") })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    },
                                                                )
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#suffix(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#suffix,
                            |state| {
                                state
                                    .match_string("f64")
                                    .or_else(|state| { state.match_string("f32") })
                                    .or_else(|state| { state.match_string("i8") })
                                    .or_else(|state| { state.match_string("i16") })
                                    .or_else(|state| { state.match_string("i32") })
                                    .or_else(|state| { state.match_string("i64") })
                                    .or_else(|state| { state.match_string("u8") })
                                    .or_else(|state| { state.match_string("u16") })
                                    .or_else(|state| { state.match_string("u32") })
                                    .or_else(|state| { state.match_string("u64") })
                                    .or_else(|state| { state.match_string("c32") })
                                    .or_else(|state| { state.match_string("c64") })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#radix(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#radix,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .match_string("0x")
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .sequence(|state| {
                                                        state
                                                            .optional(|state| {
                                                                state
                                                                    .match_string("_")
                                                                    .and_then(|state| {
                                                                        state
                                                                            .repeat(|state| {
                                                                                state
                                                                                    .sequence(|state| {
                                                                                        super::hidden::skip(state)
                                                                                            .and_then(|state| { state.match_string("_") })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| { self::r#ASCII_HEX_DIGIT(state) })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .sequence(|state| {
                                                        state
                                                            .optional(|state| {
                                                                self::r#ASCII_HEX_DIGIT(state)
                                                                    .or_else(|state| { state.match_string("_") })
                                                                    .and_then(|state| {
                                                                        state
                                                                            .repeat(|state| {
                                                                                state
                                                                                    .sequence(|state| {
                                                                                        super::hidden::skip(state)
                                                                                            .and_then(|state| {
                                                                                                self::r#ASCII_HEX_DIGIT(state)
                                                                                                    .or_else(|state| { state.match_string("_") })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                    })
                                    .or_else(|state| {
                                        state
                                            .sequence(|state| {
                                                state
                                                    .match_string("0o")
                                                    .and_then(|state| { super::hidden::skip(state) })
                                                    .and_then(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                state
                                                                    .optional(|state| {
                                                                        state
                                                                            .match_string("_")
                                                                            .and_then(|state| {
                                                                                state
                                                                                    .repeat(|state| {
                                                                                        state
                                                                                            .sequence(|state| {
                                                                                                super::hidden::skip(state)
                                                                                                    .and_then(|state| { state.match_string("_") })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                                    .and_then(|state| { super::hidden::skip(state) })
                                                    .and_then(|state| { self::r#ASCII_OCT_DIGIT(state) })
                                                    .and_then(|state| { super::hidden::skip(state) })
                                                    .and_then(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                state
                                                                    .optional(|state| {
                                                                        self::r#ASCII_OCT_DIGIT(state)
                                                                            .or_else(|state| { state.match_string("_") })
                                                                            .and_then(|state| {
                                                                                state
                                                                                    .repeat(|state| {
                                                                                        state
                                                                                            .sequence(|state| {
                                                                                                super::hidden::skip(state)
                                                                                                    .and_then(|state| {
                                                                                                        self::r#ASCII_OCT_DIGIT(state)
                                                                                                            .or_else(|state| { state.match_string("_") })
                                                                                                    })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                    })
                                    .or_else(|state| {
                                        state
                                            .sequence(|state| {
                                                state
                                                    .match_string("0b")
                                                    .and_then(|state| { super::hidden::skip(state) })
                                                    .and_then(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                state
                                                                    .optional(|state| {
                                                                        state
                                                                            .match_string("_")
                                                                            .and_then(|state| {
                                                                                state
                                                                                    .repeat(|state| {
                                                                                        state
                                                                                            .sequence(|state| {
                                                                                                super::hidden::skip(state)
                                                                                                    .and_then(|state| { state.match_string("_") })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                                    .and_then(|state| { super::hidden::skip(state) })
                                                    .and_then(|state| { self::r#ASCII_BIN_DIGIT(state) })
                                                    .and_then(|state| { super::hidden::skip(state) })
                                                    .and_then(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                state
                                                                    .optional(|state| {
                                                                        self::r#ASCII_BIN_DIGIT(state)
                                                                            .or_else(|state| { state.match_string("_") })
                                                                            .and_then(|state| {
                                                                                state
                                                                                    .repeat(|state| {
                                                                                        state
                                                                                            .sequence(|state| {
                                                                                                super::hidden::skip(state)
                                                                                                    .and_then(|state| {
                                                                                                        self::r#ASCII_BIN_DIGIT(state)
                                                                                                            .or_else(|state| { state.match_string("_") })
                                                                                                    })
                                                                                            })
                                                                                    })
                                                                            })
                                                                    })
                                                            })
                                                    })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#decimal(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#decimal,
                            |state| {
                                state
                                    .sequence(|state| {
                                        self::r#digits(state)
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state
                                                    .optional(|state| {
                                                        state
                                                            .sequence(|state| {
                                                                state
                                                                    .match_string(".")
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state
                                                                            .lookahead(
                                                                                false,
                                                                                |state| {
                                                                                    state
                                                                                        .match_string(".")
                                                                                        .or_else(|state| { self::r#XID_START(state) })
                                                                                        .or_else(|state| { state.match_string("_") })
                                                                                },
                                                                            )
                                                                    })
                                                                    .and_then(|state| { super::hidden::skip(state) })
                                                                    .and_then(|state| {
                                                                        state.optional(|state| { self::r#digits(state) })
                                                                    })
                                                            })
                                                    })
                                            })
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.optional(|state| { self::r#exponent(state) })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#digits(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .sequence(|state| {
                            self::r#ASCII_DIGIT(state)
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state
                                        .sequence(|state| {
                                            state
                                                .optional(|state| {
                                                    self::r#ASCII_DIGIT(state)
                                                        .or_else(|state| { state.match_string("_") })
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            super::hidden::skip(state)
                                                                                .and_then(|state| {
                                                                                    self::r#ASCII_DIGIT(state)
                                                                                        .or_else(|state| { state.match_string("_") })
                                                                                })
                                                                        })
                                                                })
                                                        })
                                                })
                                        })
                                })
                        })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#exponent(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .sequence(|state| {
                            state
                                .match_insensitive("e")
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state
                                        .optional(|state| {
                                            state
                                                .match_string("+")
                                                .or_else(|state| { state.match_string("-") })
                                        })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| {
                                    state
                                        .sequence(|state| {
                                            state
                                                .optional(|state| {
                                                    state
                                                        .match_string("_")
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            super::hidden::skip(state)
                                                                                .and_then(|state| { state.match_string("_") })
                                                                        })
                                                                })
                                                        })
                                                })
                                        })
                                })
                                .and_then(|state| { super::hidden::skip(state) })
                                .and_then(|state| { self::r#digits(state) })
                        })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#bad_number(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#bad_number,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    self::r#ASCII_DIGIT(state)
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    self::r#XID_CONTINUE(state)
                                                                        .or_else(|state| {
                                                                            state
                                                                                .sequence(|state| {
                                                                                    state
                                                                                        .match_string(".")
                                                                                        .and_then(|state| {
                                                                                            state.lookahead(false, |state| { state.match_string(".") })
                                                                                        })
                                                                                })
                                                                        })
                                                                })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#opening(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#opening,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .match_string("(")
                                                .or_else(|state| { state.match_string("[") })
                                                .or_else(|state| { state.match_string("{") })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#closing(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#closing,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .match_string(")")
                                                .or_else(|state| { state.match_string("]") })
                                                .or_else(|state| { state.match_string("}") })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#unclosed_comment(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#unclosed_comment,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("/*")
                                                        .and_then(|state| {
                                                            state.repeat(|state| { self::r#ANY(state) })
                                                        })
                                                })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#punctuation(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#punctuation,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .match_string("...")
                                                .or_else(|state| { state.match_string("..=") })
                                                .or_else(|state| { state.match_string("..") })
                                                .or_else(|state| { state.match_string("->") })
                                                .or_else(|state| { state.match_string("=>") })
                                                .or_else(|state| { state.match_string("==") })
                                                .or_else(|state| { state.match_string("!=") })
                                                .or_else(|state| { state.match_string("<=") })
                                                .or_else(|state| { state.match_string(">=") })
                                                .or_else(|state| { state.match_string("&&") })
                                                .or_else(|state| { state.match_string("||") })
                                                .or_else(|state| { state.match_string("+=") })
                                                .or_else(|state| { state.match_string("-=") })
                                                .or_else(|state| { state.match_string("*=") })
                                                .or_else(|state| { state.match_string("/=") })
                                                .or_else(|state| { state.match_string("%=") })
                                                .or_else(|state| { state.match_string("|=") })
                                                .or_else(|state| { state.match_string("&=") })
                                                .or_else(|state| { state.match_string("::") })
                                                .or_else(|state| { state.match_string("+") })
                                                .or_else(|state| { state.match_string("-") })
                                                .or_else(|state| { state.match_string("*") })
                                                .or_else(|state| { state.match_string("/") })
                                                .or_else(|state| { state.match_string("%") })
                                                .or_else(|state| { state.match_string("<") })
                                                .or_else(|state| { state.match_string(">") })
                                                .or_else(|state| { state.match_string("!") })
                                                .or_else(|state| { state.match_string("=") })
                                                .or_else(|state| { state.match_string(":") })
                                                .or_else(|state| { state.match_string(",") })
                                                .or_else(|state| { state.match_string(".") })
                                                .or_else(|state| { state.match_string("|") })
                                                .or_else(|state| { state.match_string("&") })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#unknown(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#unknown,
                            |state| {
                                state
                                    .atomic(
                                        ::pest::Atomicity::Atomic,
                                        |state| {
                                            state
                                                .sequence(|state| {
                                                    state
                                                        .match_string("\"")
                                                        .and_then(|state| {
                                                            state
                                                                .repeat(|state| {
                                                                    state
                                                                        .sequence(|state| {
                                                                            state
                                                                                .match_string("\\")
                                                                                .and_then(|state| { self::r#ANY(state) })
                                                                        })
                                                                        .or_else(|state| {
                                                                            state
                                                                                .sequence(|state| {
                                                                                    state
                                                                                        .lookahead(
                                                                                            false,
                                                                                            |state| {
                                                                                                state
                                                                                                    .match_string("\"")
                                                                                                    .or_else(|state| { self::r#NEWLINE(state) })
                                                                                            },
                                                                                        )
                                                                                        .and_then(|state| { self::r#ANY(state) })
                                                                                })
                                                                        })
                                                                })
                                                        })
                                                        .and_then(|state| { state.match_string("\"") })
                                                })
                                                .or_else(|state| { self::r#ANY(state) })
                                        },
                                    )
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#lparen(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#lparen, |state| { state.match_string("(") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#rparen(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#rparen, |state| { state.match_string(")") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#lbracket(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#lbracket, |state| { state.match_string("[") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#rbracket(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#rbracket, |state| { state.match_string("]") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#lbrace(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#lbrace, |state| { state.match_string("{") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#rbrace(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#rbrace, |state| { state.match_string("}") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#body_open(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#body_open, |state| { state.match_string("(") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#orphan_open(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#orphan_open, |state| { state.match_string("{") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#comma(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#comma, |state| { state.match_string(",") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#colon(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#colon,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .match_string(":")
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.lookahead(false, |state| { state.match_string(":") })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#semicolon(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#semicolon, |state| { state.match_string(";") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#arrow(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#arrow, |state| { state.match_string("->") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#ellipsis(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::r#ellipsis, |state| { state.match_string("...") })
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#range(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#range,
                            |state| {
                                state
                                    .sequence(|state| {
                                        state
                                            .match_string("..")
                                            .and_then(|state| { super::hidden::skip(state) })
                                            .and_then(|state| {
                                                state.lookahead(false, |state| { state.match_string(".") })
                                            })
                                    })
                            },
                        )
                }
                #[inline]
                #[allow(non_snake_case, unused_variables)]
                pub fn r#path_separator(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .rule(
                            Rule::r#path_separator,
                            |state| { state.match_string("::") },
                        )
                }
                #[inline]
                #[allow(dead_code, non_snake_case, unused_variables)]
                pub fn ANY(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.skip(1)
                }
                #[inline]
                #[allow(dead_code, non_snake_case, unused_variables)]
                pub fn EOI(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.rule(Rule::EOI, |state| state.end_of_input())
                }
                #[inline]
                #[allow(dead_code, non_snake_case, unused_variables)]
                pub fn SOI(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.start_of_input()
                }
                #[inline]
                #[allow(dead_code, non_snake_case, unused_variables)]
                pub fn ASCII_DIGIT(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.match_range('0'..'9')
                }
                #[inline]
                #[allow(dead_code, non_snake_case, unused_variables)]
                pub fn ASCII_BIN_DIGIT(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.match_range('0'..'1')
                }
                #[inline]
                #[allow(dead_code, non_snake_case, unused_variables)]
                pub fn ASCII_OCT_DIGIT(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.match_range('0'..'7')
                }
                #[inline]
                #[allow(dead_code, non_snake_case, unused_variables)]
                pub fn ASCII_HEX_DIGIT(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .match_range('0'..'9')
                        .or_else(|state| state.match_range('a'..'f'))
                        .or_else(|state| state.match_range('A'..'F'))
                }
                #[inline]
                #[allow(dead_code, non_snake_case, unused_variables)]
                pub fn NEWLINE(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state
                        .match_string("\n")
                        .or_else(|state| state.match_string("\r\n"))
                        .or_else(|state| state.match_string("\r"))
                }
                #[inline]
                #[allow(dead_code, non_snake_case, unused_variables)]
                fn PATTERN_WHITE_SPACE(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.match_char_by(::pest::unicode::PATTERN_WHITE_SPACE)
                }
                #[inline]
                #[allow(dead_code, non_snake_case, unused_variables)]
                fn XID_CONTINUE(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.match_char_by(::pest::unicode::XID_CONTINUE)
                }
                #[inline]
                #[allow(dead_code, non_snake_case, unused_variables)]
                fn XID_START(
                    state: ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                ) -> ::pest::ParseResult<
                    ::std::boxed::Box<::pest::ParserState<'_, Rule>>,
                > {
                    state.match_char_by(::pest::unicode::XID_START)
                }
            }
            pub use self::visible::*;
        }
        ::pest::state(
            input,
            |state| {
                match rule {
                    Rule::r#WHITESPACE => rules::r#WHITESPACE(state),
                    Rule::r#COMMENT => rules::r#COMMENT(state),
                    Rule::r#line_comment => rules::r#line_comment(state),
                    Rule::r#block_comment => rules::r#block_comment(state),
                    Rule::r#program => rules::r#program(state),
                    Rule::r#statement_argument => rules::r#statement_argument(state),
                    Rule::r#parameter_format => rules::r#parameter_format(state),
                    Rule::r#format_argument => rules::r#format_argument(state),
                    Rule::r#schedule_argument => rules::r#schedule_argument(state),
                    Rule::r#recovered_program => rules::r#recovered_program(state),
                    Rule::r#orphan => rules::r#orphan(state),
                    Rule::r#lexemes => rules::r#lexemes(state),
                    Rule::r#lexeme => rules::r#lexeme(state),
                    Rule::r#item => rules::r#item(state),
                    Rule::r#documentation => rules::r#documentation(state),
                    Rule::r#kernel => rules::r#kernel(state),
                    Rule::r#repeat => rules::r#repeat(state),
                    Rule::r#visibility => rules::r#visibility(state),
                    Rule::r#scope => rules::r#scope(state),
                    Rule::r#path => rules::r#path(state),
                    Rule::r#results => rules::r#results(state),
                    Rule::r#parameter_list => rules::r#parameter_list(state),
                    Rule::r#parameter => rules::r#parameter(state),
                    Rule::r#declaration => rules::r#declaration(state),
                    Rule::r#fill => rules::r#fill(state),
                    Rule::r#hint => rules::r#hint(state),
                    Rule::r#fill_value => rules::r#fill_value(state),
                    Rule::r#schedule => rules::r#schedule(state),
                    Rule::r#scoped => rules::r#scoped(state),
                    Rule::r#directive => rules::r#directive(state),
                    Rule::r#directive_argument => rules::r#directive_argument(state),
                    Rule::r#choice => rules::r#choice(state),
                    Rule::r#definition => rules::r#definition(state),
                    Rule::r#name_list => rules::r#name_list(state),
                    Rule::r#format => rules::r#format(state),
                    Rule::r#symmetry => rules::r#symmetry(state),
                    Rule::r#map => rules::r#map(state),
                    Rule::r#levels => rules::r#levels(state),
                    Rule::r#named => rules::r#named(state),
                    Rule::r#map_mode => rules::r#map_mode(state),
                    Rule::r#map_level => rules::r#map_level(state),
                    Rule::r#level => rules::r#level(state),
                    Rule::r#argument_list => rules::r#argument_list(state),
                    Rule::r#argument => rules::r#argument(state),
                    Rule::r#setting => rules::r#setting(state),
                    Rule::r#function => rules::r#function(state),
                    Rule::r#monoid => rules::r#monoid(state),
                    Rule::r#words_ahead => rules::r#words_ahead(state),
                    Rule::r#statement => rules::r#statement(state),
                    Rule::r#next => rules::r#next(state),
                    Rule::r#bare_statement => rules::r#bare_statement(state),
                    Rule::r#assignment => rules::r#assignment(state),
                    Rule::r#condition => rules::r#condition(state),
                    Rule::r#access => rules::r#access(state),
                    Rule::r#index_list => rules::r#index_list(state),
                    Rule::r#index => rules::r#index(state),
                    Rule::r#pack => rules::r#pack(state),
                    Rule::r#expression => rules::r#expression(state),
                    Rule::r#operand => rules::r#operand(state),
                    Rule::r#group => rules::r#group(state),
                    Rule::r#call => rules::r#call(state),
                    Rule::r#assign_operator => rules::r#assign_operator(state),
                    Rule::r#assign => rules::r#assign(state),
                    Rule::r#add_assign => rules::r#add_assign(state),
                    Rule::r#multiply_assign => rules::r#multiply_assign(state),
                    Rule::r#or_assign => rules::r#or_assign(state),
                    Rule::r#and_assign => rules::r#and_assign(state),
                    Rule::r#min_assign => rules::r#min_assign(state),
                    Rule::r#max_assign => rules::r#max_assign(state),
                    Rule::r#named_assign => rules::r#named_assign(state),
                    Rule::r#binary_operator => rules::r#binary_operator(state),
                    Rule::r#or => rules::r#or(state),
                    Rule::r#and => rules::r#and(state),
                    Rule::r#bit_or => rules::r#bit_or(state),
                    Rule::r#bit_and => rules::r#bit_and(state),
                    Rule::r#equal => rules::r#equal(state),
                    Rule::r#not_equal => rules::r#not_equal(state),
                    Rule::r#less_equal => rules::r#less_equal(state),
                    Rule::r#greater_equal => rules::r#greater_equal(state),
                    Rule::r#less => rules::r#less(state),
                    Rule::r#greater => rules::r#greater(state),
                    Rule::r#add => rules::r#add(state),
                    Rule::r#subtract => rules::r#subtract(state),
                    Rule::r#multiply => rules::r#multiply(state),
                    Rule::r#divide => rules::r#divide(state),
                    Rule::r#remainder => rules::r#remainder(state),
                    Rule::r#negate => rules::r#negate(state),
                    Rule::r#not => rules::r#not(state),
                    Rule::r#word => rules::r#word(state),
                    Rule::r#name => rules::r#name(state),
                    Rule::r#reserved => rules::r#reserved(state),
                    Rule::r#fn_keyword => rules::r#fn_keyword(state),
                    Rule::r#format_keyword => rules::r#format_keyword(state),
                    Rule::r#let_keyword => rules::r#let_keyword(state),
                    Rule::r#where_keyword => rules::r#where_keyword(state),
                    Rule::r#schedule_keyword => rules::r#schedule_keyword(state),
                    Rule::r#pub_keyword => rules::r#pub_keyword(state),
                    Rule::r#in_keyword => rules::r#in_keyword(state),
                    Rule::r#monoid_keyword => rules::r#monoid_keyword(state),
                    Rule::r#with_keyword => rules::r#with_keyword(state),
                    Rule::r#repeat_word => rules::r#repeat_word(state),
                    Rule::r#until_word => rules::r#until_word(state),
                    Rule::r#or_word => rules::r#or_word(state),
                    Rule::r#next_word => rules::r#next_word(state),
                    Rule::r#on_word => rules::r#on_word(state),
                    Rule::r#fill_word => rules::r#fill_word(state),
                    Rule::r#symmetric_word => rules::r#symmetric_word(state),
                    Rule::r#skew_word => rules::r#skew_word(state),
                    Rule::r#hermitian_word => rules::r#hermitian_word(state),
                    Rule::r#nnz_word => rules::r#nnz_word(state),
                    Rule::r#fibers_word => rules::r#fibers_word(state),
                    Rule::r#order_word => rules::r#order_word(state),
                    Rule::r#extent_word => rules::r#extent_word(state),
                    Rule::r#min_word => rules::r#min_word(state),
                    Rule::r#max_word => rules::r#max_word(state),
                    Rule::r#boolean => rules::r#boolean(state),
                    Rule::r#element_type => rules::r#element_type(state),
                    Rule::r#number => rules::r#number(state),
                    Rule::r#suffix => rules::r#suffix(state),
                    Rule::r#radix => rules::r#radix(state),
                    Rule::r#decimal => rules::r#decimal(state),
                    Rule::r#digits => rules::r#digits(state),
                    Rule::r#exponent => rules::r#exponent(state),
                    Rule::r#bad_number => rules::r#bad_number(state),
                    Rule::r#opening => rules::r#opening(state),
                    Rule::r#closing => rules::r#closing(state),
                    Rule::r#unclosed_comment => rules::r#unclosed_comment(state),
                    Rule::r#punctuation => rules::r#punctuation(state),
                    Rule::r#unknown => rules::r#unknown(state),
                    Rule::r#lparen => rules::r#lparen(state),
                    Rule::r#rparen => rules::r#rparen(state),
                    Rule::r#lbracket => rules::r#lbracket(state),
                    Rule::r#rbracket => rules::r#rbracket(state),
                    Rule::r#lbrace => rules::r#lbrace(state),
                    Rule::r#rbrace => rules::r#rbrace(state),
                    Rule::r#body_open => rules::r#body_open(state),
                    Rule::r#orphan_open => rules::r#orphan_open(state),
                    Rule::r#comma => rules::r#comma(state),
                    Rule::r#colon => rules::r#colon(state),
                    Rule::r#semicolon => rules::r#semicolon(state),
                    Rule::r#arrow => rules::r#arrow(state),
                    Rule::r#ellipsis => rules::r#ellipsis(state),
                    Rule::r#range => rules::r#range(state),
                    Rule::r#path_separator => rules::r#path_separator(state),
                    Rule::EOI => rules::EOI(state),
                }
            },
        )
    }
}
