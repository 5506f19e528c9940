//! `E00xx`: the text does not follow the grammar.

use super::{Code, Entry};

/// Something else was expected at this place.
pub const UNEXPECTED_TOKEN: Code = Code::error(1);
/// The text ends too early.
pub const UNEXPECTED_END: Code = Code::error(2);
/// Text follows a complete expression or format.
pub const TRAILING_TEXT: Code = Code::error(3);
/// A character that the language has no use for.
pub const UNKNOWN_CHARACTER: Code = Code::error(4);
/// A literal that is not a number.
pub const INVALID_NUMBER: Code = Code::error(5);
/// A `/*` without its `*/`.
pub const UNCLOSED_COMMENT: Code = Code::error(6);
/// A brace without its partner.
pub const UNCLOSED_DELIMITER: Code = Code::error(7);
/// Too many parentheses or operators inside one another.
pub const TOO_DEEP: Code = Code::error(8);
/// A word of the language where a name must stand.
pub const RESERVED_WORD: Code = Code::error(9);
/// A word where an element type must stand, that is none.
pub const UNKNOWN_ELEMENT_TYPE: Code = Code::error(10);
/// `name(…)(…)` where `name` is no reduction.
pub const UNKNOWN_REDUCTION: Code = Code::error(11);
/// `a < b < c`
pub const CHAINED_COMPARISON: Code = Code::error(12);
/// A range where only one index can stand.
pub const MISPLACED_RANGE: Code = Code::error(13);
/// A `///` comment before nothing that it could document.
pub const MISPLACED_DOCUMENTATION: Code = Code::error(14);
/// An einsum string that means nothing.
pub const EINSUM: Code = Code::error(15);

/// The table.
pub(crate) const ENTRIES: &[Entry] = &[
    Entry {
        code: UNEXPECTED_TOKEN,
        title: "unexpected text",
        explanation: "
The text does not follow the grammar: at the place that is underlined, something else must stand. The message lists
what may stand there. Often the cause is just before it: a comma, an operator or a semicolon that is missing.

Wrong:

    fn product(X: csr, y: dense) -> z: dense {
        z(i) = X(i j) * y(j);
    }

Correct:

    fn product(X: csr, y: dense) -> z: dense {
        z(i) = X(i, j) * y(j);
    }
",
    },
    Entry {
        code: UNEXPECTED_END,
        title: "the text ends too early",
        explanation: "
The text ends where more must follow: an operand after an operator, a closing parenthesis, a kernel's body.

Wrong:

    fn product(X: csr, y: dense) -> z: dense

Correct:

    fn product(X: csr, y: dense) -> z: dense {
        z(i) = X(i, j) * y(j);
    }
",
    },
    Entry {
        code: TRAILING_TEXT,
        title: "text after the end",
        explanation: "
An expression or a format on the command line is complete, yet more text follows. A command line takes one statement;
several of them go into a `.ti` file.

Wrong:

    y(i) = A(i, j) * x(j); z(i) = y(i)

Correct:

    y(i) = A(i, j) * x(j);
",
    },
    Entry {
        code: UNKNOWN_CHARACTER,
        title: "a character that has no meaning here",
        explanation: "
The language has no use for this character. Names are made of letters, digits and underscores; operators are
`+ - * / % == != < <= > >= && || !`; there are no strings.

Wrong:

    fn power(A: csr) -> B: csr {
        B(i, j) = A(i, j) ^ 2;
    }

Correct:

    fn power(A: csr) -> B: csr {
        B(i, j) = pow(A(i, j), 2);
    }
",
    },
    Entry {
        code: INVALID_NUMBER,
        title: "not a number",
        explanation: "
A literal begins like a number but is none. Numbers are written as in Rust: `12`, `1_000`, `0x1f`, `2.5`, `1e-3`, and
with an element type `2f32`. Sizes and arguments of formats are whole numbers below 2^64.

Wrong:

    fn scale(A: csr) -> B: csr {
        B(i, j) = 1.2.3 * A(i, j);
    }

Correct:

    fn scale(A: csr) -> B: csr {
        B(i, j) = 1.23 * A(i, j);
    }
",
    },
    Entry {
        code: UNCLOSED_COMMENT,
        title: "a comment that does not end",
        explanation: "
A comment that begins with `/*` ends with `*/`. Comments nest: each `/*` inside needs its own `*/`.

Wrong:

    /* Doubles every entry.
    fn double(A: csr) -> B: csr {
        B(i, j) = 2 * A(i, j);
    }

Correct:

    /* Doubles every entry. */
    fn double(A: csr) -> B: csr {
        B(i, j) = 2 * A(i, j);
    }
",
    },
    Entry {
        code: UNCLOSED_DELIMITER,
        title: "a brace that is not closed",
        explanation: "
A `{` has no `}`: the next kernel or format begins, or the text ends, before the block does.

Wrong:

    fn double(A: csr) -> B: csr {
        B(i, j) = 2 * A(i, j);

    fn triple(A: csr) -> B: csr {
        B(i, j) = 3 * A(i, j);
    }

Correct:

    fn double(A: csr) -> B: csr {
        B(i, j) = 2 * A(i, j);
    }

    fn triple(A: csr) -> B: csr {
        B(i, j) = 3 * A(i, j);
    }
",
    },
    Entry {
        code: TOO_DEEP,
        title: "nested too deeply",
        explanation: "
Brackets may stand inside one another 64 deep, and so may comments; an expression may be 256 operators deep. A sum of `n` terms is `n`
operators deep. Give parts of the expression names with `let`. A statement may have 512 index variables, as each may be a
loop within the others; in the macro, which runs on the stack of rustc, it may have 128.

Wrong:

    y(i) = ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((x(i)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))

Correct:

    y(i) = x(i)
",
    },
    Entry {
        code: RESERVED_WORD,
        title: "a word of the language used as a name",
        explanation: "
`fn`, `format`, `let`, `where`, `schedule`, `pub`, `true` and `false` are words of the language. Tensors, index variables,
kernels and formats need other names.

Wrong:

    fn apply(format: csr, x: dense) -> y: dense {
        y(i) = format(i, j) * x(j);
    }

Correct:

    fn apply(matrix: csr, x: dense) -> y: dense {
        y(i) = matrix(i, j) * x(j);
    }
",
    },
    Entry {
        code: UNKNOWN_ELEMENT_TYPE,
        title: "no such element type",
        explanation: "
Before a format stands an element type: `f64` (what a tensor has when none is written), `f32`, `i8`, `i16`, `i32`, `i64`,
`u8`, `u16`, `u32`, `u64`, `bool`, `c32` (complex of two `f32`) or `c64` (complex of two `f64`); or `f16` or `bf16`, which are
stored in two bytes and computed with as `f32`.

Wrong:

    fn double(A: float csr) -> B: f32 csr {
        B(i, j) = 2 * A(i, j);
    }

Correct:

    fn double(A: f32 csr) -> B: f32 csr {
        B(i, j) = 2 * A(i, j);
    }
",
    },
    Entry {
        code: UNKNOWN_REDUCTION,
        title: "no such reduction",
        explanation: "
A name, a list of index variables and an expression in parentheses, as in `sum(k)(A(i, k))`, is a reduction over
these variables. The reductions are `sum`, `prod`, `min`, `max`, `any` and `all`. An access or a call has one list only.

Wrong:

    fn total(A: csr) -> t: f64 {
        t = total(i, j)(A(i, j));
    }

Correct:

    fn total(A: csr) -> t: f64 {
        t = sum(i, j)(A(i, j));
    }
",
    },
    Entry {
        code: CHAINED_COMPARISON,
        title: "comparisons in a chain",
        explanation: "
`a < b < c` would compare a truth value with `c`. As in Rust, comparisons do not chain: join two of them by `&&`, or say
with parentheses what is meant.

Wrong:

    fn within(A: csr) -> B: bool dense {
        B(i, j) = 0 < A(i, j) < 1;
    }

Correct:

    fn within(A: csr) -> B: bool dense {
        B(i, j) = 0 < A(i, j) && A(i, j) < 1;
    }
",
    },
    Entry {
        code: MISPLACED_RANGE,
        title: "a range where a value must stand",
        explanation: "
A range such as `3..7` is a window of a tensor's mode and stands only as an index of an access. Functions take values;
a reduction takes names of index variables.

Wrong:

    fn clamp(x: dense) -> y: dense {
        y(i) = min(0..1, x(i));
    }

Correct:

    fn clamp(x: dense) -> y: dense {
        y(i) = min(1, x(i));
    }
",
    },
    Entry {
        code: MISPLACED_DOCUMENTATION,
        title: "a documentation comment that documents nothing",
        explanation: "
A `///` comment belongs to the kernel or format that follows it. Elsewhere, write a plain `//` comment.

Wrong:

    fn double(A: csr) -> B: csr {
        /// Twice the entry.
        B(i, j) = 2 * A(i, j);
    }

Correct:

    fn double(A: csr) -> B: csr {
        // Twice the entry.
        B(i, j) = 2 * A(i, j);
    }
",
    },
    Entry {
        code: EINSUM,
        title: "an einsum string that means nothing",
        explanation: "
In an einsum string each letter is an index, operands have commas between them, and the indices of the result follow an arrow, each
once and each one that an operand has. Without an arrow the result has the letters that occur once, in the order of the alphabet. `...`
stands for the modes that are left, of one operand or of several, and of the result.

Wrong:

    ij,j->k

Correct:

    ij,j->i
",
    },
];
