//! Expressions. Each function gives the expression with its height, which is what is limited: a long sum is as deep a tree
//! as many parentheses.

use super::declarations::id_number;
use super::{MAXIMUM_DEPTH, Parser, Result, Token};
use crate::ir::precedence::{Place, Precedence, infix};
use crate::ir::*;

/// An expression and its height.
type Tree = (Expr, usize);

impl<'t> Parser<'t> {
    pub(super) fn expr(&mut self) -> Result<Expr> {
        Ok(self.tree(Precedence::Or)?.0)
    }

    /// An expression in a pair of brackets, or behind an operator before its operand.
    fn inner(&mut self, loosest: Precedence) -> Result<Tree> {
        self.deeper(|parser| parser.tree(loosest))
    }

    /// A node over others that are `height` high.
    fn node(&mut self, expr: Expr, height: usize) -> Result<Tree> {
        if height < MAXIMUM_DEPTH {
            Ok((expr, height + 1))
        } else {
            self.fail(format!("this expression is deeper than {MAXIMUM_DEPTH}"))
        }
    }

    /// An expression that holds together at least as tightly as `loosest`.
    fn tree(&mut self, loosest: Precedence) -> Result<Tree> {
        let mut left = self.unary()?;
        let mut tightest = Precedence::Atom;
        loop {
            if self.at("as")? && loosest <= Precedence::Cast {
                self.next()?;
                let ty = self.ty()?;
                left = self.node(Expr::Cast(ty, Box::new(left.0)), left.1)?;
                continue;
            }
            let Some((operator, own)) = self.operator_ahead()? else { return Ok(left) };
            // A looser operator ends the operand; a comparison can't be the operand of another.
            if own < loosest || Place::Left(own).loosest() > tightest {
                return Ok(left);
            }
            self.next()?;
            let right = self.deeper(|parser| parser.tree(own.tighter()))?;
            left = self.node(Expr::binary(operator, left.0, right.0), left.1.max(right.1))?;
            tightest = own;
        }
    }

    fn operator_ahead(&mut self) -> Result<Option<(BinaryOperator, Precedence)>> {
        let Token::Sign(sign) = *self.peek()? else { return Ok(None) };
        let found = BinaryOperator::INFIX.into_iter().find_map(|operator| {
            let (own_sign, own) = infix(operator)?;
            (own_sign == sign).then_some((operator, own))
        });
        Ok(found)
    }

    /// What recurs is in small functions: a deep expression has many of their frames.
    fn unary(&mut self) -> Result<Tree> {
        if self.accept("!")? {
            return self.operand_of(UnaryOperator::Not);
        }
        if !self.accept("-")? {
            return self.atom();
        }
        match self.negative_literal()? {
            Some(literal) => Ok((Expr::Literal(literal), 1)),
            None => self.operand_of(UnaryOperator::Negate),
        }
    }

    fn operand_of(&mut self, operator: UnaryOperator) -> Result<Tree> {
        let (operand, height) = self.inner(Precedence::Prefix)?;
        self.node(Expr::Unary(operator, Box::new(operand)), height)
    }

    /// A literal behind `-`: `-3i32` is one, `-(3i32)` an operator.
    fn negative_literal(&mut self) -> Result<Option<Literal>> {
        if self.tokens.is_joined()
            && let Token::Number(text) | Token::Word(text) = *self.peek()?
            && let Some(literal) = literal(text, true)
        {
            self.next()?;
            return Ok(Some(literal));
        }
        Ok(None)
    }

    fn atom(&mut self) -> Result<Tree> {
        match *self.peek()? {
            Token::Number(text) => self.number_of(text),
            Token::Sign("(") => self.parentheses(),
            Token::Word(word) => match id_number(word, "a") {
                Some(number) => self.load(number),
                None => self.word(word),
            },
            _ => self.expected("an expression"),
        }
    }

    fn number_of(&mut self, text: &str) -> Result<Tree> {
        match literal(text, false) {
            Some(literal) => self.next().map(|_| (Expr::Literal(literal), 1)),
            None => Ok((Expr::Index(self.number()?), 1)),
        }
    }

    fn parentheses(&mut self) -> Result<Tree> {
        self.next()?;
        let inner = self.inner(Precedence::Or)?;
        self.require(")")?;
        Ok(inner)
    }

    /// `a0[v0]`
    fn load(&mut self, array: u32) -> Result<Tree> {
        let array = self.named(ArrayId(array))?;
        self.require("[")?;
        let (index, height) = self.inner(Precedence::Or)?;
        self.require("]")?;
        self.node(Expr::load(array, index), height)
    }

    /// A literal.
    pub(super) fn value(&mut self) -> Result<Literal> {
        match self.inner(Precedence::Prefix)? {
            (Expr::Literal(literal), _) => Ok(literal),
            _ => self.expected("a literal"),
        }
    }

    fn word(&mut self, word: &str) -> Result<Tree> {
        if let Some(number) = id_number(word, "v") {
            return self.named(VariableId(number)).map(|id| (Expr::Variable(id), 1));
        }
        if let Some(number) = id_number(word, "d") {
            return self.named(DimensionId(number)).map(|id| (Expr::Dimension(id), 1));
        }
        match word {
            "true" | "false" => self.next().map(|_| (Expr::Bool(word == "true"), 1)),
            "NaN" => self.nan(),
            "length" => {
                self.next()?;
                self.require("(")?;
                let array = self.array()?;
                self.require(")")?;
                Ok((Expr::Length(array), 1))
            }
            "search" => self.search(Find::Element),
            "filling" => self.search(Find::Filling),
            "mask" => self.mask(),
            "fold" => self.fold(),
            _ => match literal(word, false) {
                Some(literal) => self.next().map(|_| (Expr::Literal(literal), 1)),
                None => self.call(word),
            },
        }
    }

    /// `NaN(bits)f64`
    fn nan(&mut self) -> Result<Tree> {
        self.next()?;
        self.require("(")?;
        let value = f64::from_bits(self.number()?);
        self.require(")")?;
        let element = self.one_of("`f32` or `f64`", [("f32", ElementType::F32), ("f64", ElementType::F64)])?;
        Ok((Expr::Literal(Literal::Float(element, value)), 1))
    }

    fn search(&mut self, find: Find) -> Result<Tree> {
        self.next()?;
        self.require("(")?;
        let array = self.array()?;
        let mut parts = Vec::new();
        let mut height = 0;
        for _ in 0..3 {
            self.require(",")?;
            let (part, own) = self.inner(Precedence::Or)?;
            parts.push(Box::new(part));
            height = height.max(own);
        }
        let stride = if self.accept(";")? { self.number()? } else { 1 };
        self.require(")")?;
        match <[Box<Expr>; 3]>::try_from(parts) {
            Ok([begin, end, value]) => self.node(Expr::Search { array, begin, end, value, stride, find }, height),
            Err(_) => self.expected("three places"),
        }
    }

    /// `fold(+, (a0 * a1 at a2))`
    fn fold(&mut self) -> Result<Tree> {
        self.next()?;
        self.require("(")?;
        let operator = self.reduce_operator()?;
        self.require(",")?;
        let (term, height) = self.term()?;
        self.require(")")?;
        self.node(Expr::Fold(operator, Box::new(term)), height)
    }

    /// A term and its height.
    fn term(&mut self) -> Result<(Term, usize)> {
        self.deeper(|parser| {
            let word = match *parser.peek()? {
                Token::Sign("(") => {
                    parser.next()?;
                    let left = parser.term()?;
                    let Some((operator, _)) = parser.operator_ahead()? else {
                        return parser.expected("an operator between terms");
                    };
                    parser.next()?;
                    let right = parser.term()?;
                    parser.require(")")?;
                    let height = left.1.max(right.1) + 1;
                    return Ok((Term::Binary(operator, Box::new(left.0), Box::new(right.0)), height));
                }
                Token::Word(word) => word,
                _ => return parser.expected("a term"),
            };
            if word == "same" {
                parser.next()?;
                parser.require("(")?;
                let (value, height) = parser.inner(Precedence::Or)?;
                parser.require(")")?;
                return Ok((Term::Same(Box::new(value)), height));
            }
            if let Some(function) = Function::ALL.into_iter().find(|function| function.name() == word) {
                parser.next()?;
                parser.require("(")?;
                let left = parser.term()?;
                parser.require(",")?;
                let right = parser.term()?;
                parser.require(")")?;
                let height = left.1.max(right.1) + 1;
                return Ok((Term::Call(function, Box::new(left.0), Box::new(right.0)), height));
            }
            let of = parser.array()?;
            if !parser.accept("at")? {
                return Ok((Term::Load(Factor::Run(of)), 0));
            }
            let filled = parser.accept("filled")?;
            Ok((Term::Load(Factor::At { of, run: parser.array()?, filled }), 0))
        })
    }

    /// `mask(1; d0, d1)`
    fn mask(&mut self) -> Result<Tree> {
        self.next()?;
        self.require("(")?;
        let number = self.number()?;
        let Ok(part) = usize::try_from(number) else { return self.expected("the place of an extent") };
        self.require(";")?;
        let (extents, height) = self.arguments()?;
        self.require(")")?;
        self.node(Expr::Mask { part, extents }, height)
    }

    /// Expressions up to a closing parenthesis, and the height of the highest.
    fn arguments(&mut self) -> Result<(Vec<Expr>, usize)> {
        let mut arguments = Vec::new();
        let mut height = 0;
        while !self.at(")")? {
            let (argument, own) = self.inner(Precedence::Or)?;
            arguments.push(argument);
            height = height.max(own);
            if !self.accept(",")? {
                break;
            }
        }
        Ok((arguments, height))
    }

    /// A function of expressions.
    fn call(&mut self, word: &str) -> Result<Tree> {
        let function = Function::ALL.into_iter().find(|function| function.name() == word);
        let is_named = |operator: &BinaryOperator| infix(*operator).is_none() && operator.symbol() == word;
        let operator = BinaryOperator::ALL.into_iter().find(is_named);
        if function.is_none() && operator.is_none() && word != "select" {
            return self.expected("an expression");
        }
        self.next()?;
        self.require("(")?;
        let (arguments, height) = self.arguments()?;
        let expr = match (function, operator) {
            (Some(function), _) => Expr::Call(function, arguments),
            (None, None) => match <[Expr; 3]>::try_from(arguments) {
                Ok([condition, one, other]) => Expr::Select(Box::new(condition), Box::new(one), Box::new(other)),
                Err(_) => return self.expected("three arguments of `select`"),
            },
            (None, Some(operator)) => match <[Expr; 2]>::try_from(arguments) {
                Ok([left, right]) => Expr::binary(operator, left, right),
                Err(_) => return self.expected(&format!("two arguments of `{word}`")),
            },
        };
        self.require(")")?;
        self.node(expr, height)
    }

    // Mentions.

    /// An array, with or without its name.
    pub(super) fn array(&mut self) -> Result<ArrayId> {
        let what = "an array such as `a0`";
        match *self.peek()? {
            Token::Word(word) => match id_number(word, "a") {
                Some(number) => self.named(ArrayId(number)),
                None => self.expected(what),
            },
            _ => self.expected(what),
        }
    }

    /// A variable, with or without its name.
    pub(super) fn variable(&mut self) -> Result<VariableId> {
        let what = "a variable such as `v0`";
        match *self.peek()? {
            Token::Word(word) => match id_number(word, "v") {
                Some(number) => self.named(VariableId(number)),
                None => self.expected(what),
            },
            _ => self.expected(what),
        }
    }

    /// Takes an id and the name behind it, which must be that of its declaration.
    fn named<I: Declared>(&mut self, id: I) -> Result<I> {
        self.next()?;
        if !self.accept(":")? {
            return Ok(id);
        }
        let declared = id.declared_name(&self.kernel).map(str::to_owned);
        match (*self.peek()?, declared) {
            (Token::Word(found), Some(name)) if found == name => self.next().map(|_| id),
            (_, Some(name)) => self.expected(&format!("`{name}`, the name of {id}")),
            (_, None) => self.fail(format!("{id} is not declared, so it has no name")),
        }
    }
}

/// An id of something that has a name.
trait Declared: fmt::Display + Copy {
    fn declared_name(self, kernel: &Kernel) -> Option<&str>;
}

impl Declared for VariableId {
    fn declared_name(self, kernel: &Kernel) -> Option<&str> {
        kernel.variables.get(self.index()).map(|variable| variable.name.as_str())
    }
}

impl Declared for ArrayId {
    fn declared_name(self, kernel: &Kernel) -> Option<&str> {
        kernel.arrays.get(self.index()).map(|array| array.name.as_str())
    }
}

impl Declared for DimensionId {
    fn declared_name(self, kernel: &Kernel) -> Option<&str> {
        kernel.dimensions.get(self.index()).map(|dimension| dimension.name.as_str())
    }
}

/// The literal that a word or number with a suffix stands for: `0.5f32`, `3i64`, `inff64`, `NaNf32`.
fn literal(text: &str, negative: bool) -> Option<Literal> {
    let (digits, element) = ElementType::ALL.into_iter().find_map(|element| {
        let digits = text.strip_suffix(element.name())?;
        (!digits.is_empty()).then_some((digits, element))
    })?;
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit());
    if !is_number && !(element.is_rounded() && (digits == "inf" || (digits == "NaN" && !negative))) {
        return None;
    }
    let text = if negative { format!("-{digits}") } else { digits.to_owned() };
    match element {
        // Rounded once, to the type that it has.
        ElementType::F32 | ElementType::C32 => {
            text.parse::<f32>().ok().map(|value| Literal::Float(element, value.into()))
        }
        ElementType::F64 | ElementType::C64 => text.parse().ok().map(|value| Literal::Float(element, value)),
        _ => text.parse().ok().map(|value| Literal::Integer(element, value)),
    }
}
