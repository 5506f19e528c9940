//! `E01xx` to `E05xx`: what the checks after parsing find.

use super::{Code, Entry};

/// A tensor, scalar or index variable that nothing declares.
pub const UNKNOWN_NAME: Code = Code::error(101);
/// Two things of one name.
pub const DUPLICATE_NAME: Code = Code::error(102);
/// A parameter that no statement reads.
pub const UNUSED_PARAMETER: Code = Code::error(103);
/// A result that no statement assigns.
pub const RESULT_NOT_ASSIGNED: Code = Code::error(104);
/// A statement assigns a parameter.
pub const PARAMETER_ASSIGNED: Code = Code::error(105);
/// A statement reads the tensor that it assigns.
pub const RESULT_READ: Code = Code::error(106);
/// A function that does not exist.
pub const UNKNOWN_FUNCTION: Code = Code::error(107);
/// One name for an index variable and a tensor, or for a tensor and a function.
pub const NAME_CLASH: Code = Code::error(108);
/// A tensor with different numbers of indices.
pub const ORDER_MISMATCH: Code = Code::error(109);
/// A scalar with indices.
pub const SCALAR_INDEXED: Code = Code::error(110);
/// A tensor without indices.
pub const MISSING_INDICES: Code = Code::error(111);
/// An index variable whose extent nothing gives.
pub const UNBOUND_INDEX: Code = Code::error(112);
/// An explicit sum over a variable that is not its own.
pub const REDUCTION_VARIABLE: Code = Code::error(113);
/// A mask with an index that the statement lacks.
pub const MASK_INDEX: Code = Code::error(114);
/// An index that can't be computed.
pub const INDEX_EXPRESSION: Code = Code::error(115);
/// A pack of indices of which nothing tells how many it stands for, or that stands for several numbers of them.
pub const UNKNOWN_PACK: Code = Code::error(116);
/// What follows `where` and is no truth value.
pub const CONDITION: Code = Code::error(117);
/// A temporary or a result that is read before a statement makes it.
pub const READ_BEFORE_MADE: Code = Code::error(120);
/// A temporary or a result that is assigned again.
pub const ASSIGNED_TWICE: Code = Code::error(121);
/// A temporary that no statement reads.
pub const UNUSED_TEMPORARY: Code = Code::error(122);
/// A definition of a function or a monoid that is made of something else than its parameters.
pub const DEFINITION: Code = Code::error(130);
/// A function that comes to call itself.
pub const RECURSIVE_FUNCTION: Code = Code::error(131);
/// A monoid that reduces to another value in another order, or whose identity changes something.
pub const MONOID_LAW: Code = Code::error(132);
/// What a gradient is asked for that has none.
pub const NO_GRADIENT: Code = Code::error(133);
/// A `repeat` that does not say what a round takes from the one before, and what has no rounds.
pub const REPEAT: Code = Code::error(134);

/// A named format that does not exist.
pub const UNKNOWN_FORMAT: Code = Code::error(201);
/// A level format that does not exist.
pub const UNKNOWN_LEVEL: Code = Code::error(202);
/// Wrong arguments of a named format.
pub const FORMAT_ARGUMENTS: Code = Code::error(203);
/// A property that a level does not have.
pub const LEVEL_PROPERTY: Code = Code::error(204);
/// A tensor with more or fewer indices than its format has modes.
pub const FORMAT_ORDER: Code = Code::error(205);
/// A mode that a format does not store, or stores twice.
pub const FORMAT_MODES: Code = Code::error(206);
/// A name in a format's map that is neither a mode nor an argument.
pub const FORMAT_MAP_NAME: Code = Code::error(207);
/// `...` where it has no meaning, or missing where it has one.
pub const FORMAT_VARIADIC: Code = Code::error(208);
/// A coordinate that can't be computed.
pub const FORMAT_COORDINATE: Code = Code::error(209);
/// A `singleton` level without a level that it can follow.
pub const MISPLACED_SINGLETON: Code = Code::error(210);
/// Modes that can't be exchanged.
pub const SYMMETRY: Code = Code::error(211);

/// A function with too few or too many arguments.
pub const ARGUMENT_COUNT: Code = Code::error(301);
/// A function or an operator that the element type lacks.
pub const UNDEFINED_FOR_TYPE: Code = Code::error(302);
/// A literal that the element type can't hold.
pub const LITERAL_OUT_OF_RANGE: Code = Code::error(303);
/// A truth value where a number must stand.
pub const CONDITION_AS_VALUE: Code = Code::error(304);
/// A number where a truth value must stand.
pub const VALUE_AS_CONDITION: Code = Code::error(305);
/// A division by a missing entry.
pub const DIVISION_BY_MISSING: Code = Code::error(306);
/// An element of the result that is assigned several times.
pub const ASSIGNED_AGAIN: Code = Code::error(309);
/// `stored` of something else than a place in a tensor.
pub const STORED_OF_VALUE: Code = Code::error(310);

/// A hint on the size of a tensor that can't be.
pub const WRONG_HINT: Code = Code::error(311);

/// Values that meet at a computed index of a result whose fill value takes part.
pub const COMPUTED_RESULT_NOT_YET: Code = Code::error(402);
/// Operands of different element types.
pub const MIXED_ELEMENTS: Code = Code::error(404);
/// A mask with an index that only some terms sum over.
pub const SUMMED_MASK_NOT_YET: Code = Code::error(407);
/// More sparse operands than one merge lattice can hold.
pub const TOO_MANY_OPERANDS: Code = Code::error(410);

/// A directive that does not exist.
pub const UNKNOWN_DIRECTIVE: Code = Code::error(501);
/// A directive with wrong arguments.
pub const DIRECTIVE_ARGUMENTS: Code = Code::error(502);
/// A directive that a kernel can't keep to.
pub const SCHEDULE_REFUSED: Code = Code::error(503);

/// The table.
pub(crate) const ENTRIES: &[Entry] = &[
    Entry {
        code: UNKNOWN_NAME,
        title: "a name that nothing declares",
        explanation: "
Every tensor and every scalar of a kernel is a parameter or a result, and every index variable stands as an index of some
tensor. In a `-f NAME=FORMAT` option, `NAME` is a tensor of the expression.

Wrong:

    fn product(A: csr, x: dense) -> y: dense {
        y(i) = A(i, j) * z(j);
    }

Correct:

    fn product(A: csr, x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }
",
    },
    Entry {
        code: DUPLICATE_NAME,
        title: "one name for two things",
        explanation: "
The parameters and results of a kernel have different names, as have the kernels of a file, the named formats (those that
every program has included), and the modes and arguments of one format.

Wrong:

    fn product(A: csr, A: dense) -> y: dense {
        y(i) = A(i, j);
    }

Correct:

    fn sums(A: csr) -> y: dense {
        y(i) = A(i, j);
    }
",
    },
    Entry {
        code: UNUSED_PARAMETER,
        title: "a parameter that no statement reads",
        explanation: "
A parameter that no statement reads has no order, so the kernel can't say what to pass for it. Often a name is misspelt.

Wrong:

    fn product(A: csr, x: dense, z: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }

Correct:

    fn product(A: csr, x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }
",
    },
    Entry {
        code: RESULT_NOT_ASSIGNED,
        title: "a result that no statement assigns",
        explanation: "
Each result, after the `->`, stands on the left-hand side of a statement.

Wrong:

    fn product(A: csr, x: dense) -> y: dense {
    }

Correct:

    fn product(A: csr, x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }
",
    },
    Entry {
        code: PARAMETER_ASSIGNED,
        title: "a parameter on the left-hand side",
        explanation: "
A kernel reads its parameters and writes its results. What stands on a left-hand side is declared after the `->`.

Wrong:

    fn scale(A: csr, B: csr) -> C: csr {
        B(i, j) = 2 * A(i, j);
        C(i, j) = B(i, j);
    }

Correct:

    fn scale(A: csr) -> B: csr {
        B(i, j) = 2 * A(i, j);
    }
",
    },
    Entry {
        code: RESULT_READ,
        title: "a statement that reads what it assigns",
        explanation: "
A statement reads the tensor that it assigns only at elements that come before the one that is assigned: a condition says so, as in
`x(i) = b(i) - sum(j)(L(i, j) * x(j) where j < i)`. With `j > i`, the loop goes from the last element back. `=` assigns the tensor; a sparse one
has the entries of a mask: `F(i, j) = A(i, j) - sum(k)(F(i, k) * F(k, j) where k < i && k < j) where A(i, j)`.

Else there is nothing to read. A result begins anew with each call, as zero: what it held before is a parameter of another name. Behind a
statement that assigns it, `+=` adds to what that has made, and `*=`, `min=` and `max=` combine in other ways.

Wrong:

    fn product(A: csr, x: dense) -> y: dense {
        y(i) = y(i) + A(i, j) * x(j);
    }

Correct:

    fn product(A: csr, x: dense, y0: dense) -> y: dense {
        y(i) = y0(i) + A(i, j) * x(j);
    }
",
    },
    Entry {
        code: UNKNOWN_FUNCTION,
        title: "no such function",
        explanation: "
A name with values in parentheses is a function: one that every program has, as `min`, `max`, `abs`, `sqrt`, `exp`, `ln`, `pow` and `select`
are, or one that the file defines. docs/reference/words.md has all.

Wrong:

    fn logarithms(x: dense) -> y: dense {
        y(i) = log(x(i));
    }

Correct:

    fn logarithms(x: dense) -> y: dense {
        y(i) = ln(x(i));
    }
",
    },
    Entry {
        code: NAME_CLASH,
        title: "one name for things of different kinds",
        explanation: "
A name is a tensor or an index variable, not both, and no tensor is named like a function.

Wrong:

    fn scale(A: csr, i: f64) -> B: csr {
        B(i, j) = i * A(i, j);
    }

Correct:

    fn scale(A: csr, alpha: f64) -> B: csr {
        B(i, j) = alpha * A(i, j);
    }
",
    },
    Entry {
        code: ORDER_MISMATCH,
        title: "a tensor with different numbers of indices",
        explanation: "
A tensor has one order: every access has the same number of indices.

Wrong:

    fn product(A: csf, x: dense) -> y: dense {
        y(i) = A(i, j) * x(j) + A(i);
    }

Correct:

    fn product(A: csf, x: dense) -> y: dense {
        y(i) = A(i, j) * x(j) + A(i, j);
    }
",
    },
    Entry {
        code: SCALAR_INDEXED,
        title: "a scalar with indices",
        explanation: "
A parameter or a result that is declared by an element type alone is a scalar. A tensor's declaration has a format.

Wrong:

    fn product(A: csr, x: f64) -> y: dense {
        y(i) = A(i, j) * x(j);
    }

Correct:

    fn product(A: csr, x: f64 dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }
",
    },
    Entry {
        code: MISSING_INDICES,
        title: "a tensor without indices",
        explanation: "
A tensor is read and written at indices, one for each mode. A scalar is declared by its element type alone.

Wrong:

    fn scale(A: csr, alpha: dense) -> B: csr {
        B(i, j) = alpha * A(i, j);
    }

Correct:

    fn scale(A: csr, alpha: f64) -> B: csr {
        B(i, j) = alpha * A(i, j);
    }
",
    },
    Entry {
        code: UNBOUND_INDEX,
        title: "an index variable without an extent",
        explanation: "
An index variable runs over the extent of a tensor's mode. A reduction's variable is an index of some tensor inside the
reduction.

Wrong:

    fn total(x: dense) -> t: f64 {
        t = sum(i, k)(x(i) * k);
    }

Correct:

    fn total(x: dense) -> t: f64 {
        t = sum(i)(x(i) * i);
    }
",
    },
    Entry {
        code: REDUCTION_VARIABLE,
        title: "a reduction's variable with a meaning outside",
        explanation: "
The variables of a reduction, as `k` in `sum(k)(…)`, belong to it alone: they stand neither on the left-hand side, nor
elsewhere in the same term, nor in a reduction around it. Another term may sum over an index of that name.

Wrong:

    fn sums(A: csr, x: dense) -> y: dense {
        y(i) = sum(k)(A(i, k)) * x(k);
    }

Correct:

    fn sums(A: csr, x: dense) -> y: dense {
        y(i) = sum(k)(A(i, k) * x(k));
    }
",
    },
    Entry {
        code: MASK_INDEX,
        title: "a mask with an index of its own",
        explanation: "
`where M(i, j)` computes only where `M` stores an entry. Its indices are those of the left-hand side, or variables that the
right-hand side sums over.

Wrong:

    fn sampled(B: dense, M: csr) -> A: csr {
        A(i, j) = B(i, j) where M(i, k);
    }

Correct:

    fn sampled(B: dense, M: csr) -> A: csr {
        A(i, j) = B(i, j) where M(i, j);
    }
",
    },
    Entry {
        code: INDEX_EXPRESSION,
        title: "an index that can't be computed",
        explanation: "
An index is an index variable, or is computed from index variables and whole numbers by `+ - * / %`; products and divisors
are constants. A window `3..7` is an index, too: the first window of each access runs with the first of the others. Every
index must lie inside its mode.

Wrong:

    fn neighbours(x: dense, z: dense) -> y: dense {
        y(i) = x(i - 1) + z(i);
    }

Correct:

    fn neighbours(x: dense, z: dense) -> y: dense {
        y(i) = x(i) + z(i + 1);
    }
",
    },
    Entry {
        code: UNKNOWN_PACK,
        title: "a pack of indices of unknown length",
        explanation: "
`i...` stands for as many indices as a tensor has modes there, and for as many everywhere in its statement. Formats of one order tell
how many (`csr`, `[dense, compressed]`), `order 3` behind a format, an access to the tensor that is written without a pack, and files of
inputs on the command line.

Wrong:

    fn scale(X: csf, a: f64) -> Y: dense {
        Y(i...) = X(i...) * a;
    }

Correct:

    fn scale(X: csf order 3, a: f64) -> Y: dense {
        Y(i...) = X(i...) * a;
    }
",
    },
    Entry {
        code: CONDITION,
        title: "no condition behind `where`",
        explanation: "
`where` chooses coordinates: by comparing index expressions (`i < j`, `i + 1 == j`, `i % 2 == 0`) or values (`abs(A(i, j)) > 0.1`), by whether
tensors have an entry there (`M(i, j)`), and by `&&`, `||` and `!` of such. A sparse result stores nothing where it does not hold. `select`
chooses values: it gives a zero that is stored.

Wrong:

    fn positive(A: csr) -> B: csr {
        B(i, j) = A(i, j) where max(A(i, j), 0);
    }

Correct:

    fn positive(A: csr) -> B: csr {
        B(i, j) = A(i, j) where A(i, j) > 0;
    }
",
    },
    Entry {
        code: READ_BEFORE_MADE,
        title: "something is read before it is made",
        explanation: "
Statements run in the order in which they are written. What one reads, one before it must have assigned.

Wrong:

    fn normalize(x: dense) -> y: dense {
        y(i) = x(i) / sqrt(n);
        let n = x(i) * x(i);
    }

Correct:

    fn normalize(x: dense) -> y: dense {
        let n = x(i) * x(i);
        y(i) = x(i) / sqrt(n);
    }
",
    },
    Entry {
        code: ASSIGNED_TWICE,
        title: "something is assigned twice",
        explanation: "
A result or a temporary is assigned by one statement with `=`. Later ones may update it, with `+=` or another operator.

Wrong:

    fn two(A: csr, B: csr, x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
        y(i) = B(i, j) * x(j);
    }

Correct:

    fn two(A: csr, B: csr, x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
        y(i) += B(i, j) * x(j);
    }
",
    },
    Entry {
        code: UNUSED_TEMPORARY,
        title: "a temporary that is not used",
        explanation: "
A `let` makes something for the statements after it. One that none reads is a mistake: a name is misspelt, or it should be a
result.

Wrong:

    fn product(A: csr, x: dense) -> y: dense {
        let n = x(i) * x(i);
        y(i) = A(i, j) * x(j);
    }

Correct:

    fn product(A: csr, x: dense) -> (y: dense, n: f64) {
        n = x(i) * x(i);
        y(i) = A(i, j) * x(j);
    }
",
    },
    Entry {
        code: DEFINITION,
        title: "a definition that is more than an expression of its parameters",
        explanation: "
A call of a function stands for its body, with the arguments in the places of the parameters. The body is made of these, of
numbers and of calls. It reads no tensor and reduces over no index: what it needs is handed to it. A monoid has two parameters.

Wrong:

    fn scaled(v) = alpha * v;
    fn double(x: dense, alpha: f64) -> y: dense {
        y(i) = scaled(x(i));
    }

Correct:

    fn scaled(alpha, v) = alpha * v;
    fn double(x: dense, alpha: f64) -> y: dense {
        y(i) = scaled(alpha, x(i));
    }
",
    },
    Entry {
        code: RECURSIVE_FUNCTION,
        title: "a function that calls itself",
        explanation: "
A call of a function stands for its body. One that comes to call itself, directly or through others, would stand for an expression
without an end.

Wrong:

    fn power(v) = v * power(v);
    fn f(x: dense) -> y: dense {
        y(i) = power(x(i));
    }

Correct:

    fn cube(v) = v * v * v;
    fn f(x: dense) -> y: dense {
        y(i) = cube(x(i));
    }
",
    },
    Entry {
        code: MONOID_LAW,
        title: "a monoid that depends on the order",
        explanation: "
A reduction forms parts of its values apart and in any order, each part beginning with the identity, and combines the parts. So
what a monoid makes of two values must be the same when they change places (commutative), when three of them are grouped in another
way (associative), and a value combined with the identity must be that value. This is tried on some values of each element type; the
message has values for which it does not hold. Differences by rounding do not count.

Wrong:

    monoid less(a, b) = a - b with 0;
    fn f(x: dense) -> s: f64 {
        s = less(i)(x(i));
    }

Correct:

    monoid either(a, b) = a + b - a * b with 0;
    fn f(x: dense) -> s: f64 {
        s = either(i)(x(i));
    }
",
    },
    Entry {
        code: NO_GRADIENT,
        title: "no gradient",
        explanation: "
`spc grad` differentiates sums, products, quotients, functions, `select`, and reductions by `sum`, `min` and `max`, by parameters of real
numbers. Other reductions and updates, remainders, bits and complex numbers have no derivative here. Comparisons, masks, `stored`, indices
and conversions to integers are constants.

Wrong:

    fn product(x: dense) -> p: f64 {
        p = prod(i)(x(i));
    }

Correct:

    fn product(x: dense) -> p: f64 {
        let s = sum(i)(ln(x(i)));
        p = exp(s);
    }
",
    },
    Entry {
        code: REPEAT,
        title: "a repetition that says not enough",
        explanation: "
`repeat until RULE or MOST { … }` runs its statements again and again, until the rule holds or that often. `x' = …` says what `x` is in the next
round: `x` has a value before the first one, is not assigned otherwise in a round, and is stored alike each time. The rule is a
comparison of numbers without modes. Behind the `repeat`, `x` is what the last round has made of it.

Wrong:

    fn halve(x: f64) -> y: f64 {
        repeat until x < 1 or 100 {
            y = x / 2;
        }
    }

Correct:

    fn halve(x: f64) -> y: f64 {
        repeat until x < 1 or 100 {
            x' = x / 2;
        }
        y = x;
    }
",
    },
    Entry {
        code: UNKNOWN_FORMAT,
        title: "no such format",
        explanation: "
A named format is one that every program has (`dense`, `csr`, `csc`, `dcsr`, `coo`, `csf`, …) or one that the file defines by
`format`. A level format such as `compressed` stands in a list, with one for each mode: `[dense, compressed]`.

Wrong:

    fn product(A: crs, x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }

Correct:

    fn product(A: csr, x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }
",
    },
    Entry {
        code: UNKNOWN_LEVEL,
        title: "no such level format",
        explanation: "
In a format's brackets stand level formats: `dense` (every coordinate), `compressed` (the coordinates that occur under each
position of the level above) and `singleton` (one coordinate for each position of the level above).

Wrong:

    fn product(A: [dense, sparse], x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }

Correct:

    fn product(A: [dense, compressed], x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }
",
    },
    Entry {
        code: FORMAT_ARGUMENTS,
        title: "wrong arguments of a format",
        explanation: "
A named format takes as many arguments as its definition has, and of the same kinds: a number where the definition uses it
in a coordinate, a word where it uses it as a property of a level.

Wrong:

    format narrow(W) = (i, j) -> [i: dense, j: compressed(W)];

    fn product(A: narrow, x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }

Correct:

    format narrow(W) = (i, j) -> [i: dense, j: compressed(W)];

    fn product(A: narrow(u16), x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }
",
    },
    Entry {
        code: LEVEL_PROPERTY,
        title: "a property that a level does not have",
        explanation: "
A level that stores coordinates takes the width of them (`u8`, `u16`, `u32`, `u64`), one that stores positions takes theirs
too, as in `pos = u64`. `compressed` and `singleton` levels may be `nonunique` or `unordered`, `padded` and `flagged` levels
`nonunique`. A `padded` level takes the length of its rows, as in `width = 2`, a `sliced` level how many lie side by side, from 1 to 1024, as in
`rows = 8`, a `grouped` level up to how many places for each entry it fills a group of rows up, as in `limit = 2`. A `dense` level stores nothing and takes none.

Wrong:

    fn product(A: [dense(u16), compressed], x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }

Correct:

    fn product(A: [dense, compressed(u16)], x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }
",
    },
    Entry {
        code: FORMAT_ORDER,
        title: "more or fewer indices than the format has modes",
        explanation: "
A list of levels, and most maps, are for tensors of one order. `dense`, `coo` and `csf` serve every order.

Wrong:

    fn product(X: csr, x: dense) -> Y: dense {
        Y(i, j) = X(i, j, k) * x(k);
    }

Correct:

    fn product(X: csf, x: dense) -> Y: dense {
        Y(i, j) = X(i, j, k) * x(k);
    }
",
    },
    Entry {
        code: FORMAT_MODES,
        title: "a mode that a format does not store once",
        explanation: "
The levels of a format store each mode once: as it is, or as a quotient and a remainder, as `i / 4` and `i % 4`. Else an
entry's coordinates could not be told from what is stored.

Wrong:

    fn product(A: (i, j) -> [i: dense, i: compressed], x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }

Correct:

    fn product(A: (i, j) -> [i: dense, j: compressed], x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }
",
    },
    Entry {
        code: FORMAT_MAP_NAME,
        title: "an unknown name in a format",
        explanation: "
The coordinates in a format's brackets are made of its modes, which are declared before the `->`, its arguments, which are
declared after its name, and numbers.

Wrong:

    fn product(A: (i, j) -> [i: dense, k: compressed], x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }

Correct:

    fn product(A: (i, j) -> [i: dense, j: compressed], x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }
",
    },
    Entry {
        code: FORMAT_VARIADIC,
        title: "`...` in the wrong place",
        explanation: "
A mode that `...` follows stands for any number of modes. One mode of a map may be such; the level that stores it has `...`
too and stands for as many levels.

Wrong:

    format rows = (i, j...) -> [i: dense, j: compressed];

Correct:

    format rows = (i, j...) -> [i: dense, j...: compressed];
",
    },
    Entry {
        code: FORMAT_COORDINATE,
        title: "not a coordinate",
        explanation: "
What a level stores is made of modes and whole numbers by `+`, `-`, `*`, `/` and `%`. At least one mode occurs in it, and what
divides is a constant other than zero.

Wrong:

    format blocks = (i, j) -> [i / 0: dense, j: compressed, i % 4: dense];

Correct:

    format blocks = (i, j) -> [i / 4: dense, j: compressed, i % 4: dense];
",
    },
    Entry {
        code: MISPLACED_SINGLETON,
        title: "a `singleton` level that can't stand where it does",
        explanation: "
A `singleton` level holds exactly one coordinate for each position of the level above. So the level above must hold a
position for each entry: it is `nonunique`, as the levels of `coo` are. A `dense` level or a level that holds each coordinate
once has room for only one entry below each.

Wrong:

    fn product(A: [compressed, singleton], x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }

Correct:

    fn product(A: [compressed(nonunique), singleton], x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }
",
    },
    Entry {
        code: SYMMETRY,
        title: "modes that can't be exchanged",
        explanation: "
`csr symmetric(i, j)` stores the entries with `i <= j` of a matrix with `A(i, j) = A(j, i)`. In parentheses stand two modes or more, each once:
those of a named format are `i`, `j`, `k`, …, in order. The format has a level that lists entries. A result of such a format is
made of something that stays what it is when its indices are exchanged.

Wrong:

    fn product(A: csr symmetric(i, k), x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }

Correct:

    fn product(A: csr symmetric(i, j), x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }
",
    },
    Entry {
        code: ARGUMENT_COUNT,
        title: "a function with too few or too many arguments",
        explanation: "
Most functions take one argument, `min`, `max`, `pow`, `atan2` and `complex` two, `select` three: a condition, the value where it
holds, and the value where it does not.

Wrong:

    fn relu(x: dense) -> y: dense {
        y(i) = max(x(i));
    }

Correct:

    fn relu(x: dense) -> y: dense {
        y(i) = max(x(i), 0);
    }
",
    },
    Entry {
        code: UNDEFINED_FOR_TYPE,
        title: "a function or an operator that the element type lacks",
        explanation: "
`sqrt`, `exp`, `sin` and others are functions of floating point numbers; `|=`, `&=`, `any` and `all` combine truth values and the
bits of whole numbers; `u8` has no negative values; complex numbers have no order.

Wrong:

    fn roots(x: i32 dense) -> y: i32 dense {
        y(i) = sqrt(x(i));
    }

Correct:

    fn roots(x: f32 dense) -> y: f32 dense {
        y(i) = sqrt(x(i));
    }
",
    },
    Entry {
        code: LITERAL_OUT_OF_RANGE,
        title: "a literal that the element type can't hold",
        explanation: "
A literal takes the type of what it is combined with, unless a suffix names another, as in `2f32`. A whole-number type holds no
fractions and has a largest value.

Wrong:

    fn scale(x: i32 dense) -> y: i32 dense {
        y(i) = 2.5 * x(i);
    }

Correct:

    fn scale(x: f64 dense) -> y: f64 dense {
        y(i) = 2.5 * x(i);
    }
",
    },
    Entry {
        code: CONDITION_AS_VALUE,
        title: "a truth value where a number must stand",
        explanation: "
Comparisons, `&&`, `||` and `!` give truth values, and tensors of `bool` hold them. They stand in the first argument of `select`;
as a number they are written `f64(…)`, which is 0 or 1.

Wrong:

    fn positive(A: csr) -> B: csr {
        B(i, j) = A(i, j) > 0;
    }

Correct:

    fn positive(A: csr) -> B: csr {
        B(i, j) = select(A(i, j) > 0, 1, 0);
    }
",
    },
    Entry {
        code: VALUE_AS_CONDITION,
        title: "a number where a truth value must stand",
        explanation: "
The first argument of `select`, and the operands of `&&`, `||` and `!`, are comparisons or elements of `bool`. A number is no
truth value by itself.

Wrong:

    fn pattern(A: csr) -> B: csr {
        B(i, j) = select(A(i, j), 1, 0);
    }

Correct:

    fn pattern(A: csr) -> B: csr {
        B(i, j) = select(A(i, j) != 0, 1, 0);
    }
",
    },
    Entry {
        code: DIVISION_BY_MISSING,
        title: "a division by missing entries",
        explanation: "
An entry that a sparse tensor does not store is zero, and most entries are. A quotient by such a tensor has no finite value
at nearly every coordinate. `where` restricts the statement to the coordinates at which a tensor stores entries. It is about the statement as a
whole: a quotient inside of an explicit reduction, or one term of several, is made by a statement of its own,
`let q(i, k) = b(i) / A(i, k) where A(i, k);`. A division of whole numbers by the literal zero is refused too.

Wrong:

    fn ratio(A: csr, B: csr) -> C: csr {
        C(i, j) = A(i, j) / B(i, j);
    }

Correct:

    fn ratio(A: csr, B: csr) -> C: csr {
        C(i, j) = A(i, j) / B(i, j) where B(i, j);
    }
",
    },
    Entry {
        code: ASSIGNED_AGAIN,
        title: "an element of the result that is assigned several times",
        explanation: "
Where the index of a result is computed from several variables, or by a division, several values meet in one element. Say
how they are reduced: `+=` adds them.

Wrong:

    fn polynomials(a: dense, b: dense) -> c: dense {
        c(i + j) = a(i) * b(j);
    }

Correct:

    fn polynomials(a: dense, b: dense) -> c: dense {
        c(i + j) += a(i) * b(j);
    }
",
    },
    Entry {
        code: STORED_OF_VALUE,
        title: "`stored` of a value",
        explanation: "
`stored` asks whether a tensor has an entry at a place, whatever its value is. What is computed has no entries.

Wrong:

    fn count(A: csr) -> n: i64 {
        n = sum(i, j)(i64(stored(2 * A(i, j))));
    }

Correct:

    fn count(A: csr) -> n: i64 {
        n = sum(i, j)(i64(stored(A(i, j))));
    }
",
    },
    Entry {
        code: WRONG_HINT,
        title: "a hint that no tensor can keep",
        explanation: "
Behind its format a declaration may say how large a tensor is expected to be: `nnz 1e6`, its stored entries; `fibers 2e4`, the
fibers of the mode that is stored last which have entries; `extent(1000, 500)`, the extent of each mode. Plans that are made
without the data are for these figures; results never depend on them. They are whole numbers, each is said once, and they fit
one another: no more fibers than entries, no more entries than places, an extent for each mode. A dense tensor stores every
element, so it has extents only.

Wrong:

    fn product(A: csr nnz 500 extent(10, 10), x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }

Correct:

    fn product(A: csr nnz 50 extent(10, 10), x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }
",
    },
    Entry {
        code: COMPUTED_RESULT_NOT_YET,
        title: "values that meet in a result with another fill value",
        explanation: "
Where several values come to one computed index of a result, an entry is what they are together. The fill value of the
result is what no value changes: zero for `+=`, one for `*=`, infinity for `min=`. With another, there is no telling whether it
takes part. A dense result may be assigned by a statement before: then the values come to what that has left.

Wrong:

    fn blocks(x: [compressed] fill 2) -> s: [compressed] fill 2 {
        s(i / 2) += x(i);
    }

Correct:

    fn blocks(x: [compressed]) -> s: [compressed] {
        s(i / 2) += x(i);
    }
",
    },
    Entry {
        code: MIXED_ELEMENTS,
        title: "a conversion that may lose something",
        explanation: "
An operator computes in the type of its operands. Where they differ, one is converted to the type of the other if that holds
all its values: `u8` to `i16`, `u32` and `f32`, `i32` to `i64`, `i32` and `f32` to `f64`, real to complex; `spc explain u8` lists
them. Every other conversion is written, as a function with the name of the type: it is Rust's `as`.

Wrong:

    fn product(A: csr, x: f32 dense) -> y: f32 dense {
        y(i) = A(i, j) * x(j);
    }

Correct:

    fn product(A: csr, x: f32 dense) -> y: f32 dense {
        y(i) = f32(A(i, j) * x(j));
    }
",
    },
    Entry {
        code: SUMMED_MASK_NOT_YET,
        title: "a mask over an index that only some terms sum over",
        explanation: "
A mask over an index that is summed chooses what is summed. Where all terms are summed over that index, it chooses for all of
them; where some are not, it would mean something else for these. Write a statement for each term.

Wrong:

    fn residual(A: dense, b: dense, M: csr) -> y: dense {
        y(i) = b(i) - A(i, j) where M(i, j);
    }

Correct:

    fn residual(A: dense, b: dense, M: csr) -> y: dense {
        y(i) = b(i);
        y(i) += -A(i, j) where M(i, j);
    }
",
    },
    Entry {
        code: TOO_MANY_OPERANDS,
        title: "too many sparse operands",
        explanation: "
Sparse operands of one statement are merged, with a case for each set of them that may have an entry. With more than twelve
the code would grow beyond use. Parts of a value are then made first, as temporaries, but for those of a quotient behind a mask:
elsewhere they may not be defined. Make such parts yourself.

Wrong:

    fn total(A: csf, B: csf, C: csf, D: csf, E: csf, F: csf, G: csf, H: csf, I: csf, J: csf, K: csf, L: csf, M: csf, N: csf) -> y: dense {
        y(i) = (A(i) + B(i) + C(i) + D(i) + E(i) + F(i) + G(i) + H(i) + I(i) + J(i) + K(i) + L(i) + M(i)) / N(i) where N(i);
    }

Correct:

    fn total(A: csf, B: csf, C: csf, D: csf, E: csf, F: csf, G: csf, H: csf, I: csf, J: csf, K: csf, L: csf, M: csf, N: csf) -> y: dense {
        let T(i) = A(i) + B(i) + C(i) + D(i) + E(i) + F(i) + G(i) + H(i) + I(i) + J(i) + K(i) + L(i) + M(i);
        y(i) = T(i) / N(i) where N(i);
    }
",
    },
    Entry {
        code: UNKNOWN_DIRECTIVE,
        title: "no such directive",
        explanation: "
Among the directives of a schedule are `reorder`, `split`, `fuse`, `positions`, `parallel`, `vector`, `unroll`, `precompute`,
`stream`, `distribute` and `same_pattern`; docs/reference/directives.md has all, and `spc explain` explains each by its name.

Wrong:

    fn product(A: csr, x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }
    schedule { paralel(i); }

Correct:

    fn product(A: csr, x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }
",
    },
    Entry {
        code: DIRECTIVE_ARGUMENTS,
        title: "wrong arguments of a directive",
        explanation: "
A directive takes index variables that exist, new names, tensors or numbers, each in its place: `reorder(i, k, j)`,
`split(k, k0, k1, 32)`, `fuse(i, j, f)`, `positions(f, X, p)`, `parallel(p)`, `vector(r)`, `unroll(k1)`, `stream(X, 16)`,
`same_pattern(X, Z)`.

Wrong:

    fn product(A: csr, x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }
    schedule { split(j, j0, 32); }

Correct:

    fn product(A: csr, x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }
",
    },
    Entry {
        code: SCHEDULE_REFUSED,
        title: "a directive that the kernel can't keep to",
        explanation: "
Each directive has a condition. A loop runs in vector lanes where it is innermost and its index is dense wherever it stands; a
loop is written out where it has few iterations and their number is known; an order of loops must leave the entries of a
sparse result in order; a loop that is split has not been split before. What is precomputed is a part of a right-hand side,
and where the result stores entries, it is a sum as a whole. A tensor comes in parts where the result is made of those of
parts. Inputs have the same pattern that are stored alike and read in the order in which they are stored.

Wrong:

    fn product(A: csr, x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }
    schedule { unroll(j); }

Correct:

    fn product(A: csr, x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }
    schedule { split(i, i0, i1, 4); unroll(i1); }
",
    },
];
