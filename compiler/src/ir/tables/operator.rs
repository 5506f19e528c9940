//! Operators of expressions: how each is written and how tightly it binds, one row each, for the parser and the printer of the
//! language, those of the loop IR, and the printers of Rust and CUDA.

/// Operators before one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `-`, of a value
    Negate,
    /// `!`, of a `bool`
    Not,
}

/// How tightly an expression holds together, loosest first: Rust's order.
///
/// The loop IR lets `&` bind as `&&` does and `|` as `||`, as its text is printed as Rust and as C, which disagree about these:
/// see [`BinaryOperator::printed`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Precedence {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `== != < <= > >=`; these do not chain.
    Comparison,
    /// `|`
    BitOr,
    /// `&`
    BitAnd,
    /// `+ -`
    Sum,
    /// `* / %`
    Product,
    /// `a as f64`, in the loop IR
    Cast,
    /// `-a !a`
    Prefix,
    /// Names, numbers, calls, parentheses.
    Atom,
}

impl Precedence {
    /// All of them, loosest first.
    const ALL: [Precedence; 10] = {
        use Precedence::*;
        [Or, And, Comparison, BitOr, BitAnd, Sum, Product, Cast, Prefix, Atom]
    };

    /// The next tighter one; that of an atom is its own.
    pub fn tighter(self) -> Self {
        Self::ALL.into_iter().find(|other| *other > self).unwrap_or(Precedence::Atom)
    }
}

macro_rules! operators {
    (infix { $($(#[$doc:meta])* $operator:ident $sign:literal $precedence:ident;)* } functions { $($(#[$of_indices:meta])* $function:ident $name:literal;)* }) => {
        /// Operators between two operands of one type.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum BinaryOperator {
            $($(#[$doc])* $operator,)*
            $($(#[$of_indices])* $function,)*
        }

        impl BinaryOperator {
            /// Those that stand between their operands: the language's.
            pub const INFIX: [BinaryOperator; [$($sign),*].len()] = [$(BinaryOperator::$operator),*];

            /// All of them: the language's, and those of indices that the loop IR prints as functions.
            pub const ALL: [BinaryOperator; [$($sign,)* $($name),*].len()] =
                [$(BinaryOperator::$operator,)* $(BinaryOperator::$function),*];

            /// As written: a sign, or the name of one that prints as a function.
            pub fn symbol(self) -> &'static str {
                match self {
                    $(BinaryOperator::$operator => $sign,)*
                    $(BinaryOperator::$function => $name,)*
                }
            }

            /// How tightly it binds in the language. Operators of one precedence group from the left, but for comparisons, which do
            /// not chain.
            pub fn precedence(self) -> Precedence {
                match self {
                    $(BinaryOperator::$operator => Precedence::$precedence,)*
                    $(BinaryOperator::$function => Precedence::Atom,)*
                }
            }
        }
    };
}

operators! {
    infix {
    /// `+`
    Add "+" Sum;
    /// `-`
    Subtract "-" Sum;
    /// `*`
    Multiply "*" Product;
    /// `/`
    Divide "/" Product;
    /// `%`
    Remainder "%" Product;
    /// `==`, gives `bool`
    Equal "==" Comparison;
    /// `!=`, gives `bool`
    NotEqual "!=" Comparison;
    /// `<`, gives `bool`
    Less "<" Comparison;
    /// `<=`, gives `bool`
    LessEqual "<=" Comparison;
    /// `>`, gives `bool`
    Greater ">" Comparison;
    /// `>=`, gives `bool`
    GreaterEqual ">=" Comparison;
    /// `&&`, of `bool`
    And "&&" And;
    /// `||`, of `bool`
    Or "||" Or;
    /// `&`, of integers
    BitAnd "&" BitAnd;
    /// `|`, of integers
    BitOr "|" BitOr;
    }
    functions {
    /// `minimum`, of indices
    Minimum "minimum";
    /// `maximum`, of indices
    Maximum "maximum";
    /// `gather`, of indices: the bits of the first at the ones of the second, side by side
    Gather "gather";
    /// `scatter`, of indices: the lowest bits of the first, at the ones of the second
    Scatter "scatter";
    /// `rank`, of indices: how many of the lowest bits of the first, as many as the second says and fewer than 64, are ones
    Rank "rank";
    }
}

impl BinaryOperator {
    /// The operator of the language that is written like this.
    pub fn from_symbol(symbol: &str) -> Option<Self> {
        Self::INFIX.into_iter().find(|operator| operator.symbol() == symbol)
    }

    /// Whether it gives a number: not a comparison, `&&` or `||`.
    pub fn is_arithmetic(self) -> bool {
        use Precedence::*;
        !matches!(self.precedence(), Comparison | And | Or)
    }

    /// How tightly it binds where the loop IR, Rust and C are printed: as loosely as in any of them. `None` for one that prints as
    /// a function.
    pub fn printed(self) -> Option<Precedence> {
        match self.precedence() {
            Precedence::Atom => None,
            Precedence::BitAnd => Some(Precedence::And),
            Precedence::BitOr => Some(Precedence::Or),
            precedence => Some(precedence),
        }
    }

    /// The loosest that may stand on its left without parentheses.
    pub fn left(self) -> Precedence {
        match self.precedence() {
            Precedence::Comparison => Precedence::Comparison.tighter(),
            precedence => precedence,
        }
    }

    /// The loosest that may stand on its right without parentheses.
    pub fn right(self) -> Precedence {
        self.precedence().tighter()
    }
}

impl UnaryOperator {
    /// As written.
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOperator::Negate => "-",
            UnaryOperator::Not => "!",
        }
    }
}
