//! `W01xx`: programs with a meaning that is probably not what was meant.

use super::{Code, Entry};

/// An index that one factor of a product has alone, and that is summed over.
pub const LONE_INDEX: Code = Code::warning(101);
/// An index of a result that no operand has.
pub const REPEATED_RESULT: Code = Code::warning(102);
/// An index that is summed over and has nearly the name of another.
pub const SIMILAR_INDEX: Code = Code::warning(103);
/// A sparse result that stores every element, or all along an index.
pub const FULL_RESULT: Code = Code::warning(104);

/// A reduction that visits every value of an index of a sparse operand.
pub const EVERY_COORDINATE: Code = Code::warning(105);

/// A schedule that rules out a plan which is ten times cheaper.
pub const RULED_OUT: Code = Code::warning(106);

/// A sum over an index that only a function has.
pub const SUM_OF_FUNCTION: Code = Code::warning(107);

/// A dense temporary that is read only where a sparse tensor has entries.
pub const READ_IN_PART: Code = Code::warning(108);

pub(crate) const ENTRIES: &[Entry] = &[
    Entry {
        code: LONE_INDEX,
        title: "an index in one factor only",
        explanation: r"
An index that only the right-hand side has is summed over. Where it stands in one factor of a product alone, that factor is
summed by itself, and the sum multiplied with the rest: that is seldom meant, and often a misspelt index. If it is meant, an
explicit reduction says so. A plain row sum, `y(i) = A(i, j)`, and one with a scalar factor need no such words.

Wrong:

    fn f(A: csr, x: dense) -> y: dense { y(i) = A(i, jj) * x(j); }

Correct:

    fn f(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }
    fn g(A: csr, x: dense) -> y: dense { y(i) = sum(j)(A(i, j)) * sum(k)(x(k)); }
",
    },
    Entry {
        code: REPEATED_RESULT,
        title: "an index of a result that no operand has",
        explanation: r"
Every element of the result along such an index is the same, and nothing but a stated extent tells how many there are. That is
seldom meant. If it is, a name that begins with an underscore says so. A constant or a scalar for all elements needs no such
words.

Wrong:

    fn f(A: csr, x: dense) -> Y: dense { Y(i, z) = A(i, j) * x(j); }

Correct:

    fn f(A: csr, x: dense) -> Y: dense { Y(i, _z) = A(i, j) * x(j); }
",
    },
    Entry {
        code: SIMILAR_INDEX,
        title: "two indices of nearly one name",
        explanation: r"
An index is summed over that no other operand has, and its name is one letter off that of another index of the statement. That is
probably a slip of the pen. If both are meant, an explicit reduction says so, or a name that differs in more.

Wrong:

    fn f(A: csr, x: dense, b: dense) -> y: dense { y(row) = A(row, col) * x(col) + b(rwo); }

Correct:

    fn f(A: csr, x: dense, b: dense) -> y: dense { y(row) = A(row, col) * x(col) + b(row); }
",
    },
    Entry {
        code: FULL_RESULT,
        title: "a sparse result that is full",
        explanation: r"
A sparse result stores an element wherever some operand has one, and wherever the right-hand side is not its fill value though
sparse operands have none. Where nothing leaves a coordinate out, all are stored, each with its indices: that takes more memory and
time than a dense result would. It is so where a dense operand or a constant is added, where all operands are dense, and, for all
along an index, where no operand has that index. `where` restricts the statement to the coordinates at which a tensor stores
entries.

Wrong:

    fn shift(A: csr) -> B: csr { B(i, j) = A(i, j) + 1; }

Correct:

    fn shift(A: csr) -> B: csr { B(i, j) = A(i, j) + 1 where A(i, j); }
    fn shift_all(A: csr) -> B: dense { B(i, j) = A(i, j) + 1; }
",
    },
    Entry {
        code: EVERY_COORDINATE,
        title: "a reduction over every coordinate",
        explanation: r"
Where a sparse operand of a reduction has no entry, a term is made of its fill value and the rest. Terms that change nothing are left
out, and terms that are all the same come to something at once: both cost nothing. Here they differ from each other, so that each
value of the index is visited. With a fill value that makes them change nothing, the stored entries are enough: no path between two
places has the length infinity, not 0. There is no warning where a dense operand has as many elements anyhow.

Wrong:

    fn nearest(A: csr, x: dense) -> y: dense fill inf { y(i) = min(j)(A(i, j) + x(j)); }

Correct:

    fn nearest(A: csr fill inf, x: dense) -> y: dense fill inf { y(i) = min(j)(A(i, j) + x(j)); }
",
    },
    Entry {
        code: RULED_OUT,
        title: "a schedule that rules out a much cheaper plan",
        explanation: r"
Sums are pushed into products, and temporaries made, where that is less work: `y = A * B * x` is two products of a matrix with a
vector. A schedule that is about the loops of a statement leaves the statement as it is written, and so does `plan(as_written)`.
Where that is ten times the work of the plan that would be taken otherwise, it is probably not meant. The plan can be written down:
`spc explain` prints it.

Wrong:

    fn f(A: csr nnz 1e6 extent(1e5, 1e5), B: csr nnz 1e7 extent(1e5, 1e5), x: dense) -> y: dense { y(i) = A(i, j) * B(j, k) * B(k, l) * x(l); }
    schedule { plan(as_written); }

Correct:

    fn f(A: csr nnz 1e6 extent(1e5, 1e5), B: csr nnz 1e7 extent(1e5, 1e5), x: dense) -> y: dense {
        let s(k) = B(k, l) * x(l);
        let t(j) = B(j, k) * s(k);
        y(i) = A(i, j) * t(j);
    }
    schedule { plan(as_written); }
",
    },
    Entry {
        code: SUM_OF_FUNCTION,
        title: "a sum around a function",
        explanation: r"
An index that the left-hand side lacks is summed over in each term as a whole: `f = sqrt(A(i, j) * A(i, j))` adds the roots, which are
absolute values, and is not the norm of `A`. Where the index stands inside of a function alone, either may be meant, so the sum is
written. There is no warning for `+=`, which says what is added, nor for `abs` of an element.

Wrong:

    fn norm(A: csr) -> f: f64 { f = sqrt(A(i, j) * A(i, j)); }

Correct:

    fn norm(A: csr) -> f: f64 { f = sqrt(sum(i, j)(A(i, j) * A(i, j))); }
    fn absolute(A: csr) -> f: f64 { f = sum(i, j)(sqrt(A(i, j) * A(i, j))); }
",
    },
    Entry {
        code: READ_IN_PART,
        title: "a dense temporary that is read at few places",
        explanation: r"
A temporary is declared in a dense format, so its sum is formed for all indices. Every statement reads it only where a sparse tensor has
entries. Without the format, the compiler forms the sum only there.

Wrong:

    fn f(A: csr, Q: dense, K: dense) -> E: csr {
        let S(i, j): dense = Q(i, k) * K(j, k);
        E(i, j) = S(i, j) / (1 + abs(S(i, j))) where A(i, j);
    }

Correct:

    fn f(A: csr, Q: dense, K: dense) -> E: csr {
        let S(i, j) = Q(i, k) * K(j, k);
        E(i, j) = S(i, j) / (1 + abs(S(i, j))) where A(i, j);
    }
",
    },
];
