//! What stands before the body: dimensions, tensors, arrays, variables.

use super::{MAXIMUM_DEPTH, Parser, Result, Token};
use crate::format::{
    Coordinate, Format, IndexWidth, Level, LevelFormat, Order, Role, Symmetry, SymmetryKind, mode_name,
};
use crate::ir::*;

impl<'t> Parser<'t> {
    pub(super) fn declarations(&mut self) -> Result<()> {
        loop {
            match *self.peek()? {
                Token::Documentation(line) => {
                    self.next()?;
                    self.kernel.documentation.push(unescape(line));
                }
                Token::Comment(_) => {
                    self.next()?;
                }
                Token::Word("dimension") => self.dimension_declaration()?,
                Token::Word("bound") => self.bound_declaration()?,
                Token::Word("tensor") => self.tensor_declaration()?,
                Token::Word("pivot") => self.pivot()?,
                Token::Word("array") => self.array_declaration()?,
                Token::Word("variable") => self.variable_declaration()?,
                Token::Word("monoid") => self.monoid_declaration()?,
                Token::Word("choice") => self.choice()?,
                Token::Word("body") => return Ok(()),
                _ => return self.expected("a declaration or `body`"),
            }
        }
    }

    /// A name of anything.
    pub(super) fn name(&mut self) -> Result<String> {
        let name = match *self.peek()? {
            Token::Word(name) => name.to_owned(),
            Token::Quoted(name) => unescape(name),
            _ => return self.expected("a name"),
        };
        self.next()?;
        Ok(name)
    }

    /// The keyword and the id that the declaration must have.
    fn header(&mut self, keyword: &str, id: String) -> Result<()> {
        self.require(keyword)?;
        self.require(&id)
    }

    fn dimension_declaration(&mut self) -> Result<()> {
        self.header("dimension", format!("d{}", self.kernel.dimensions.len()))?;
        let name = self.name()?;
        let size = match *self.peek()? {
            Token::Number(_) => Size::Constant(self.number()?),
            _ => self.one_of("a size", [("runtime", Size::Runtime), ("generic", Size::Generic)])?,
        };
        let written = if self.accept("written")? { self.name()? } else { name.clone() };
        self.kernel.dimensions.push(Dimension { name, written, size });
        Ok(())
    }

    fn bound_declaration(&mut self) -> Result<()> {
        self.require("bound")?;
        let is_number = self.accept("number")?;
        let dimension = if is_number { None } else { Some(DimensionId(self.id("d", "a dimension such as `d0`")?)) };
        let (index, _) = self.index_sum()?;
        self.kernel.bounds.push(Bound { dimension, index });
        Ok(())
    }

    /// `pivot t2 by t0 (0, 0)`
    fn pivot(&mut self) -> Result<()> {
        self.require("pivot")?;
        let output = self.tensor_id()?;
        self.require("by")?;
        let input = self.tensor_id()?;
        let modes = self.list("(", ")", |parser| parser.number().map(|mode| mode as usize))?;
        self.kernel.pivots.push(Pivot { output, input, modes });
        Ok(())
    }

    /// `d0 * extent(d1) + d1`
    fn index_sum(&mut self) -> Result<IndexTree> {
        let operators = [("+", IndexOperator::Add), ("-", IndexOperator::Subtract)];
        self.index_operators(&operators, Self::index_product)
    }

    fn index_product(&mut self) -> Result<IndexTree> {
        use IndexOperator::{Divide, Multiply, Remainder};
        self.index_operators(&[("*", Multiply), ("/", Divide), ("%", Remainder)], Self::index_atom)
    }

    fn index_operators(
        &mut self,
        operators: &[(&str, IndexOperator)],
        operand: fn(&mut Self) -> Result<IndexTree>,
    ) -> Result<IndexTree> {
        let (mut index, mut height) = operand(self)?;
        'operators: loop {
            for (sign, operator) in operators {
                if self.accept(sign)? {
                    let (right, right_height) = operand(self)?;
                    height = height.max(right_height) + 1;
                    if height > MAXIMUM_DEPTH {
                        return self.fail(format!("this index is deeper than {MAXIMUM_DEPTH}"));
                    }
                    index = IndexExpr::binary(*operator, index, right);
                    continue 'operators;
                }
            }
            return Ok((index, height));
        }
    }

    fn index_atom(&mut self) -> Result<IndexTree> {
        if self.accept("(")? {
            let inner = self.deeper(Self::index_sum)?;
            self.require(")")?;
            return Ok(inner);
        }
        if self.accept("extent")? {
            self.require("(")?;
            let counted = DimensionId(self.id("d", "a dimension such as `d0`")?);
            self.require(")")?;
            return Ok((IndexExpr::Extent(counted), 1));
        }
        if let Token::Number(_) = *self.peek()? {
            let number = self.number()?;
            return match i64::try_from(number) {
                Ok(number) => Ok((IndexExpr::Constant(number), 1)),
                Err(_) => self.fail(format!("{number} is no constant of an index: expected one below 2^63")),
            };
        }
        Ok((IndexExpr::Variable(DimensionId(self.id("d", "index arithmetic over dimensions")?)), 1))
    }

    fn tensor_declaration(&mut self) -> Result<()> {
        self.header("tensor", format!("t{}", self.kernel.tensors.len()))?;
        let name = self.name()?;
        let element = self.element()?;
        let format = self.format()?;
        let dimensions = self.list("(", ")", |parser| parser.id("d", "a dimension such as `d0`").map(DimensionId))?;
        let source = self.source(element)?;
        let pattern =
            if self.accept("pattern")? { Some(TensorId(self.id("t", "a tensor such as `t0`")?)) } else { None };
        let fill = if self.accept("fill")? { self.value()? } else { element.zero() };
        let delivered = if self.accept("delivered")? { Some(self.format()?) } else { None };
        let listed = if self.accept("listed")? { Some(self.reduce_operator()?) } else { None };
        self.kernel.tensors.push(Tensor {
            name,
            element,
            format,
            dimensions,
            fill,
            source,
            pattern,
            delivered,
            listed,
        });
        Ok(())
    }

    fn array_declaration(&mut self) -> Result<()> {
        self.header("array", format!("a{}", self.kernel.arrays.len()))?;
        let name = self.name()?;
        let element = if self.accept("index")? {
            self.require("(")?;
            let width = self.width()?;
            self.require(")")?;
            ArrayElement::Index(width)
        } else {
            ArrayElement::Value(self.element()?)
        };
        let role = self.role()?;
        self.kernel.arrays.push(Array { name, element, role });
        Ok(())
    }

    /// `monoid join f64 with 0.0f64 = v0:left + v1:right`
    fn monoid_declaration(&mut self) -> Result<()> {
        self.require("monoid")?;
        let name = self.name()?;
        let element = self.element()?;
        self.require("with")?;
        let identity = self.value()?;
        self.require("=")?;
        let variables = std::mem::replace(&mut self.kernel.variables, Definition::variables(element));
        let value = self.expr();
        self.kernel.variables = variables;
        let mut definitions = match self.declared.iter().position(|operator| operator.name() == name) {
            Some(known) => self.declared.remove(known).definitions().to_vec(),
            None => Vec::new(),
        };
        definitions.push(Definition { element, identity, value: value? });
        self.declared.push(ReduceOperator::declared(&name, definitions, Vec::new()));
        Ok(())
    }

    fn variable_declaration(&mut self) -> Result<()> {
        self.header("variable", format!("v{}", self.kernel.variables.len()))?;
        let name = self.name()?;
        let ty = self.ty()?;
        let mutable = self.accept("mutable")?;
        self.kernel.variables.push(Variable { name, ty, mutable });
        Ok(())
    }

    /// `choice v3 j simd lanes tile 16`
    fn choice(&mut self) -> Result<()> {
        self.next()?;
        let counter = VariableId(self.id("v", "a variable such as `v0`")?);
        let mut choice = Choice::of(self.name()?);
        if self.accept("simd")? {
            choice.simd = Some(self.one_of("how a loop is vectorized", Simd::ALL.map(|simd| (simd.name(), simd)))?);
        }
        if self.accept("whole")? {
            choice.tile = Some(Tile::Whole);
        } else if self.accept("tile")? {
            choice.tile = Some(Tile::By(self.number()?));
        } else if self.accept("overlapped")? {
            choice.tile = Some(Tile::Overlapped(self.number()?));
        } else if self.accept("masked")? {
            choice.tile = Some(Tile::Masked(self.number()?));
        }
        self.kernel.choices.insert(counter, choice);
        Ok(())
    }

    /// The number of an id with this letter, such as `v3`.
    pub(super) fn id(&mut self, letter: &str, what: &str) -> Result<u32> {
        match *self.peek()? {
            Token::Word(word) => match id_number(word, letter) {
                Some(number) => self.next().map(|_| number),
                None => self.expected(what),
            },
            _ => self.expected(what),
        }
    }

    /// `begin item, item end`
    fn list<T>(&mut self, begin: &str, end: &str, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.require(begin)?;
        let mut items = Vec::new();
        while !self.at(end)? {
            items.push(item(self)?);
            if !self.accept(",")? {
                break;
            }
        }
        self.require(end)?;
        Ok(items)
    }

    fn tensor_id(&mut self) -> Result<TensorId> {
        self.id("t", "a tensor such as `t0`").map(TensorId)
    }

    fn element(&mut self) -> Result<ElementType> {
        self.one_of("an element type", ElementType::ALL.map(|element| (element.name(), element)))
    }

    fn width(&mut self) -> Result<IndexWidth> {
        self.one_of("an index width", IndexWidth::ALL.map(|width| (width.name(), width)))
    }

    pub(super) fn ty(&mut self) -> Result<Type> {
        if self.accept("index")? {
            return Ok(Type::Index);
        }
        if self.accept("bool")? {
            return Ok(Type::Bool);
        }
        let elements = ElementType::ALL.map(|element| (element.name(), Type::of(element)));
        self.one_of("a type", elements)
    }

    fn source(&mut self, element: ElementType) -> Result<Source> {
        if self.accept("input")? {
            return Ok(Source::Input);
        }
        if self.accept("sorted")? {
            return Ok(Source::SortedCopy { of: self.tensor_id()? });
        }
        if self.accept("permutation")? {
            return Ok(Source::Permutation { of: self.tensor_id()? });
        }
        if !self.accept("output")? {
            return self.expected("`input`, `output`, `sorted` or `permutation`");
        }
        let structure = if self.accept("shared")? {
            Structure::Shared { operand: self.tensor_id()?, levels: self.count()? }
        } else {
            self.one_of("a structure", [("dense", Structure::Dense), ("appended", Structure::Appended)])?
        };
        let initial = if self.accept("filled")? {
            Initial::Filled(self.value()?)
        } else {
            let zero = Initial::Filled(element.zero());
            self.one_of(
                "`zero`, `filled`, `overwritten` or `empty`",
                [("zero", zero), ("overwritten", Initial::Overwritten), ("empty", Initial::Empty)],
            )?
        };
        Ok(Source::Output { structure, initial })
    }

    fn role(&mut self) -> Result<ArrayRole> {
        if self.accept("positions")? {
            Ok(ArrayRole::Positions { tensor: self.tensor_id()?, level: self.count()? })
        } else if self.accept("coordinates")? {
            Ok(ArrayRole::Coordinates { tensor: self.tensor_id()?, level: self.count()? })
        } else if self.accept("values")? {
            Ok(ArrayRole::Values { tensor: self.tensor_id()? })
        } else {
            self.one_of("`positions`, `coordinates`, `values` or `local`", [("local", ArrayRole::Local)])
        }
    }

    // Formats, as `Format` prints them.

    fn format(&mut self) -> Result<Format> {
        if !self.at("(")? {
            let format = Format::of_levels(self.list("[", "]", Self::level_format)?);
            let modes: Vec<String> = (0..format.order).map(mode_name).collect();
            let symmetry = self.symmetry(&modes)?;
            return Ok(format.with_symmetry(symmetry));
        }
        let modes = self.list("(", ")", Self::name)?;
        self.require("->")?;
        let levels = self.list("[", "]", |parser| {
            let coordinate = parser.coordinate(&modes)?;
            parser.require(":")?;
            Ok(Level { coordinate, format: parser.level_format()? })
        })?;
        let symmetry = self.symmetry(&modes)?;
        Ok(Format { order: modes.len(), levels, symmetry })
    }

    fn symmetry(&mut self, names: &[String]) -> Result<Option<Symmetry>> {
        for kind in SymmetryKind::ALL {
            if self.accept(kind.name())? {
                let modes = self.list("(", ")", |parser| {
                    let name = parser.name()?;
                    match names.iter().position(|mode| *mode == name) {
                        Some(mode) => Ok(mode),
                        None => parser.expected("a mode"),
                    }
                })?;
                return Ok(Some(Symmetry { kind, modes }));
            }
        }
        Ok(None)
    }

    fn level_format(&mut self) -> Result<LevelFormat> {
        let named = match self.peek()? {
            Token::Word(name) => Some(*name),
            _ => None,
        };
        let Some(kind) = named.and_then(self.levels) else { return self.expected("a level format") };
        self.next()?;
        let mut format = LevelFormat::new(kind);
        if !self.at("(")? {
            return Ok(format);
        }
        self.list("(", ")", |parser| {
            if parser.accept("nonunique")? {
                format = format.nonunique();
            } else if parser.accept("unordered")? {
                format = format.with_order(Order::Any);
            } else if parser.accept("morton")? {
                format = format.with_order(Order::Morton);
            } else if parser.accept(Role::Positions.key())? {
                parser.require("=")?;
                format = format.with_positions(parser.width()?);
            } else if let Some(count) = kind.count()
                && parser.accept(count.name)?
            {
                parser.require("=")?;
                format = format.with_count(parser.number()?);
            } else {
                let widths = IndexWidth::ALL.map(|width| (width.name(), width));
                let width = parser.one_of("`nonunique`, `unordered`, an index width or `pos`", widths)?;
                format = format.with_coordinates(width);
            }
            Ok(())
        })?;
        Ok(format)
    }

    /// An operand, or two with an operator between; deeper ones stand in parentheses.
    fn coordinate(&mut self, modes: &[String]) -> Result<Coordinate> {
        type Make = fn(Box<Coordinate>, Box<Coordinate>) -> Coordinate;
        let operators: [(&str, Make); 5] = [
            ("+", Coordinate::Add),
            ("-", Coordinate::Subtract),
            ("*", Coordinate::Multiply),
            ("/", Coordinate::Divide),
            ("%", Coordinate::Remainder),
        ];
        let left = self.coordinate_operand(modes)?;
        for (sign, make) in operators {
            if self.accept(sign)? {
                return Ok(make(Box::new(left), Box::new(self.coordinate_operand(modes)?)));
            }
        }
        Ok(left)
    }

    fn coordinate_operand(&mut self, modes: &[String]) -> Result<Coordinate> {
        match *self.peek()? {
            Token::Number(_) => self.number().map(Coordinate::Constant),
            Token::Sign("(") => self.deeper(|parser| {
                parser.next()?;
                let inner = parser.coordinate(modes)?;
                parser.require(")")?;
                Ok(inner)
            }),
            Token::Word("extent") => {
                self.next()?;
                self.require("(")?;
                let Coordinate::Mode(mode) = self.coordinate_operand(modes)? else {
                    return self.expected("a mode of the format");
                };
                self.require(")")?;
                Ok(Coordinate::Extent(mode))
            }
            Token::Word("interleave") => self.deeper(|parser| {
                parser.next()?;
                parser.list("(", ")", |parser| parser.coordinate(modes)).map(Coordinate::Interleave)
            }),
            Token::Word(word) => match modes.iter().position(|mode| mode == word) {
                Some(mode) => self.next().map(|_| Coordinate::Mode(mode)),
                None => self.expected("a mode of the format"),
            },
            _ => self.expected("a mode, a number or `(`"),
        }
    }
}

/// The number in an id with this letter.
pub(super) fn id_number(word: &str, letter: &str) -> Option<u32> {
    let digits = word.strip_prefix(letter)?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    if plain { digits.parse().ok() } else { None }
}

/// Text as it was before it was written on one line. A backslash before anything unknown stands for itself.
pub(super) fn unescape(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match (c, rest.as_str().chars().next()) {
            ('\\', Some(next @ ('\\' | 'n' | 'r' | 'q'))) => {
                rest.next();
                plain.push(match next {
                    'n' => '\n',
                    'r' => '\r',
                    'q' => '"',
                    other => other,
                });
            }
            _ => plain.push(c),
        }
    }
    plain
}

/// An index and its height.
type IndexTree = (IndexExpr<DimensionId>, usize);
