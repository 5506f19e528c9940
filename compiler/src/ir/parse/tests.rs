use crate::format::{Coordinate, Format, IndexWidth, Level, LevelFormat, Order};
use crate::ir::*;
use crate::level;

fn parse(text: &str) -> Result<Kernel, ParseError> {
    crate::ir::parse(text, level::named)
}

const SPMV: &str = r#"kernel spmv {
  /// y(i) = A(i, j) * x(j)
  dimension d0 i runtime
  dimension d1 j 16
  dimension d2 "odd name" generic
  tensor t0 A f64 [dense, compressed(nonunique, u16, pos = u64)] (d0, d1) input
  tensor t1 B f32 (i, j) -> [j: dense, i: compressed, i % 4: dense, (j + 2) / 8: dense] (d0, d1) sorted t0
  tensor t2 y f64 [dense] (d0) output dense zero
  tensor t3 z u8 [] () output shared t0 0 overwritten
  array a0 A2_pos index(u64) positions t0 1
  array a1 A2_crd index(u16) coordinates t0 1
  array a2 A_vals f64 values t0
  array a3 y_vals f64 values t2
  array a4 row f64 local
  variable v0 low index
  variable v1 high index
  variable v2 i index
  variable v3 p index
  variable v4 t f64 mutable
  variable v5 flag bool mutable
  variable v6 bit bool
  body {
    parallel v0:low..v1:high in 0..d0:i
        work v2:i -> a0:A2_pos[v2:i]
        aligned a1:A2_crd
        bounded
        sharing a3:y_vals owned v3:p -> v3:p * 4
        sharing a4:row private min
        sharing a0:A2_pos joined
        sharing a1:A2_crd joined positions a0:A2_pos
        reducing v4:t +
        reducing v5:flag |
    {
      // Rows of A
      for v2:i in v0:low..v1:high {
        let v4:t = 0.0f64
        for v3:p in a0:A2_pos[v2:i]..a0:A2_pos[v2:i + 1] vector {
          v4:t += a2:A_vals[v3:p] * -1e-7f64
          v4:t min= -(a2:A_vals[v3:p] - (v4:t - v4:t))
        }
        a3:y_vals[v2:i] = v4:t
        a3:y_vals[(v2:i + 1) * 2 % d2] *= inff64
      }
      //
      if v2:i == search(a1:A2_crd, 0, length(a1:A2_crd), v0:low) && !(v5:flag || false) {
        push a1:A2_crd, minimum(v2:i, 7)
        extend a0:A2_pos, v2:i, 0
      } else if v6:bit as bool {} else {
        if v5:flag {
          v5:flag = v5:flag == true
        }
      }
    }
    while v0:low < d2 / (3 * 4) {
      allocate a4:row[d0:i] = 0.0f64
      fill a4:row = select(v5:flag, NaNf64, max(-0.0f64, pow(1.0f64, v4:t)))
      view a4:row of a3:y_vals from v2:i * 4 length 4
      view mutable a4:row of a3:y_vals from 0 length 4
      v4:t = (v2:i as f64 + v4:t as f32 as f64) as i32 as f64
      v5:flag &= (v2:i as index) < 3
    }
    parallel v0:low..v1:high in 0..1 {}
  }
}
"#;

#[test]
fn a_kernel_prints_as_it_was_read() {
    let kernel = parse(SPMV).unwrap();
    assert_eq!(kernel.to_string(), SPMV);
    assert_eq!(parse(&kernel.to_string()).unwrap(), kernel);
}

#[test]
fn names_in_bodies_may_be_left_out_and_clauses_share_a_line() {
    let short = "kernel k { dimension d0 i 3 variable v0 a index variable v1 b index
        body { parallel v0..v1 in 0..d0 work v0 -> v0 sharing a0 joined, a1 private * reducing v0 max, v1 & { }
            uneven parallel v0..v1 in 0..1 sharing a0 segmented min v0 -> v0 length d0 { } } }";
    let kernel = parse(short).unwrap();
    assert_eq!(parse(&kernel.to_string()).unwrap(), kernel);
    let Statement::Parallel(parallel) = &kernel.body[0] else { panic!("{kernel}") };
    assert_eq!((parallel.sharing.len(), parallel.reductions.len()), (2, 2));
    assert_eq!(parallel.alternatives().count(), 2);
}

#[test]
fn a_kernel_may_be_declarations_only() {
    let kernel = parse("kernel k { dimension d0 n runtime body {} }").unwrap();
    assert!(kernel.body.is_empty());
    assert_eq!(kernel.dimensions.len(), 1);
}

#[test]
fn errors_say_where_and_what() {
    let error = |text: &str| parse(text).unwrap_err().to_string();
    assert_eq!(error("kernel k {\n  variable v1 x index body {} }"), "2:12: expected `v0`, found `v1`");
    assert_eq!(error("kernel k { body { let v0 = } }"), "1:28: expected an expression, found `}`");
    assert_eq!(error("kernel k { body { let v0 = 1 < 2 < 3 } }"), "1:34: expected a statement or `}`, found `<`");
    assert_eq!(
        error("kernel k { variable v0 i index body { let v0:j = 1 } }"),
        "1:46: expected `i`, the name of v0, found `j`"
    );
    assert_eq!(error("kernel k { body {} } x"), "1:22: expected the end of the text, found `x`");
    assert_eq!(error("kernel k { body { let v0 = é } }"), "1:28: `é` means nothing here");
    assert_eq!(error("kernel \"k"), "1:8: this quote is not closed in its line");
    assert_eq!(
        error("kernel k { body { let v0 = 99999999999999999999 } }"),
        "1:28: `99999999999999999999` is not an index: expected a number below 2^64"
    );
}

#[test]
fn deep_text_is_refused() {
    let body = |text: String| parse(&format!("kernel k {{ body {{ {text} }} }}")).unwrap_err().message;
    let deep = 100_000;
    assert!(body(format!("let v0 = {}", "(".repeat(deep))).contains("deeper"));
    assert!(body(format!("let v0 = {}", "- ".repeat(deep))).contains("deeper"));
    assert!(body(format!("let v0 = 1{}", " + 1".repeat(deep))).contains("deeper"));
    assert!(body(format!("let v0 = 1{}", " as f64".repeat(deep))).contains("deeper"));
    assert!(body(format!("let v0 = {}", "a0[".repeat(deep))).contains("deeper"));
    assert!(body("while true {".repeat(deep)).contains("deeper"));
}

#[test]
fn pieces_of_a_kernel_are_refused_without_a_crash() {
    for (end, _) in SPMV.char_indices() {
        if !SPMV[end..].trim().is_empty() {
            assert!(parse(&SPMV[..end]).is_err(), "{end}");
        }
        let _ = parse(&format!("{}{}", &SPMV[..end], SPMV.get(end + 3..).unwrap_or_default()));
    }
}

#[test]
fn literals_come_back_by_bits() {
    let mut random = Random(7);
    for _ in 0..20_000 {
        let bits = random.next();
        let literals = [
            Literal::Float(ElementType::F64, f64::from_bits(bits)),
            Literal::Float(ElementType::F32, f32::from_bits(bits as u32).into()),
            Literal::Integer(ElementType::I64, (bits as i64).into()),
            Literal::Integer(ElementType::I32, (bits as i32).into()),
            Literal::Integer(ElementType::U8, (bits as u8).into()),
        ];
        for literal in literals {
            let mut kernel = Kernel::empty();
            kernel.body = vec![Statement::Let(VariableId(0), Expr::Literal(literal))];
            assert_eq!(parse(&kernel.to_string()).unwrap(), kernel, "{literal}");
        }
    }
}

#[test]
fn random_kernels_come_back() {
    for seed in 0..600 {
        let kernel = Random(seed).kernel();
        let text = kernel.to_string();
        let again = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(again, kernel, "{text}");
    }
}

/// Kernels that are well-formed as text, not as programs. The generator is splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    fn one<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    fn yes(&mut self) -> bool {
        self.below(2) == 0
    }

    fn many<T>(&mut self, most: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| make(self)).collect()
    }

    fn text(&mut self) -> String {
        self.one(&["i", "in", "v3", "_x1", "", "two words", "q\"uo\\te", "\\n", "é", " blank ", "a\nb\r", "//", "/ x"])
            .to_owned()
    }

    fn kernel(&mut self) -> Kernel {
        Kernel {
            name: self.text(),
            documentation: self.many(3, Self::text),
            dimensions: self.many(3, |r| {
                let constant = Size::Constant(r.next());
                Dimension { name: r.text(), written: r.text(), size: r.one(&[Size::Runtime, Size::Generic, constant]) }
            }),
            bounds: self.many(2, |r| Bound {
                dimension: (r.below(4) > 0).then_some(DimensionId(r.next() as u32)),
                index: IndexExpr::binary(
                    IndexOperator::Add,
                    IndexExpr::Variable(DimensionId(r.next() as u32)),
                    IndexExpr::Constant(r.below(9) as i64),
                ),
            }),
            pivots: self.many(2, |r| Pivot {
                output: TensorId(r.next() as u32),
                input: TensorId(r.next() as u32),
                modes: r.many(3, |r| r.below(4)),
            }),
            tensors: self.many(3, Self::tensor),
            arrays: self.many(4, |r| Array { name: r.text(), element: r.array_element(), role: r.role() }),
            variables: self.many(4, |r| Variable { name: r.text(), ty: r.ty(), mutable: r.yes() }),
            deterministic: self.yes(),
            choices: BTreeMap::from([(
                self.variable(),
                Choice {
                    of: self.text(),
                    simd: if self.yes() { Some(self.one(&Simd::ALL)) } else { None },
                    tile: Some(match (self.yes(), self.yes()) {
                        (true, true) => Tile::Whole,
                        (true, false) => Tile::Masked(self.next()),
                        (false, true) => Tile::By(self.next()),
                        (false, false) => Tile::Overlapped(self.next()),
                    }),
                    ..Choice::default()
                },
            )]),
            body: self.block(4),
        }
    }

    fn tensor(&mut self) -> Tensor {
        let order = self.below(4);
        let format = if self.yes() {
            Format::of_levels((0..order).map(|_| self.level_format()))
        } else {
            let level = |r: &mut Self| Level { coordinate: r.coordinate(order.max(1), 2), format: r.level_format() };
            Format {
                order: order.max(1),
                levels: self.many(4, level).into_iter().chain([level(self)]).collect(),
                symmetry: None,
            }
        };
        let structure = self.one(&[
            Structure::Dense,
            Structure::Appended,
            Structure::Shared { operand: TensorId(self.0 as u32), levels: order },
        ]);
        let element = self.one(&ElementType::ALL);
        let other = Some(self.literal()).filter(|literal| *literal != literal.zero());
        let filled = [element.zero(), other.unwrap_or(element.zero())].map(Initial::Filled);
        let initial = self.one(&[filled[0], filled[1], Initial::Overwritten, Initial::Empty]);
        let fill = if self.yes() { self.literal() } else { element.zero() };
        let source = [Source::Input, Source::SortedCopy { of: TensorId(3) }, Source::Output { structure, initial }];
        Tensor {
            name: self.text(),
            element,
            fill,
            dimensions: (0..format.order).map(|_| DimensionId(self.next() as u32)).collect(),
            format,
            source: self.one(&source),
            pattern: if self.yes() { Some(TensorId(self.next() as u32)) } else { None },
            delivered: if self.yes() { Some(Format::csf(2)) } else { None },
            listed: if self.yes() { Some(self.one(&ReduceOperator::ALL)) } else { None },
        }
    }

    fn level_format(&mut self) -> LevelFormat {
        let (unique, ordered) = (self.yes(), self.yes());
        let widths = [self.one(&IndexWidth::ALL), self.one(&IndexWidth::ALL)];
        let level = self.one(&[LevelFormat::DENSE, LevelFormat::COMPRESSED, LevelFormat::SLICED.with_count(3)]);
        let level = level.with_unique(unique).with_coordinates(widths[0]).with_positions(widths[1]);
        if ordered { level } else { level.with_order(Order::Any) }
    }

    fn coordinate(&mut self, order: usize, depth: usize) -> Coordinate {
        if depth == 0 || self.yes() {
            let mode = self.0 as usize % order;
            return self.one(&[Coordinate::Mode(mode), Coordinate::Constant(self.0), Coordinate::Extent(mode)]);
        }
        let mut operand = || Box::new(self.coordinate(order, depth - 1));
        let (a, b) = (operand(), operand());
        match self.below(6) {
            5 => Coordinate::Interleave(vec![*a, *b]),
            0 => Coordinate::Add(a, b),
            1 => Coordinate::Subtract(a, b),
            2 => Coordinate::Multiply(a, b),
            3 => Coordinate::Divide(a, b),
            _ => Coordinate::Remainder(a, b),
        }
    }

    fn array_element(&mut self) -> ArrayElement {
        if self.yes() {
            ArrayElement::Index(self.one(&IndexWidth::ALL))
        } else {
            ArrayElement::Value(self.one(&ElementType::ALL))
        }
    }

    fn role(&mut self) -> ArrayRole {
        let (tensor, level) = (TensorId(self.below(4) as u32), self.below(4));
        let tensors = [
            ArrayRole::Positions { tensor, level },
            ArrayRole::Coordinates { tensor, level },
            ArrayRole::Values { tensor },
            ArrayRole::Local,
        ];
        self.one(&tensors)
    }

    fn ty(&mut self) -> Type {
        let element = Type::of(self.one(&ElementType::ALL));
        self.one(&[Type::Index, Type::Bool, element])
    }

    fn array(&mut self) -> ArrayId {
        ArrayId(self.below(6) as u32)
    }

    fn variable(&mut self) -> VariableId {
        VariableId(self.below(6) as u32)
    }

    fn operator(&mut self) -> ReduceOperator {
        self.one(&ReduceOperator::ALL)
    }

    fn literal(&mut self) -> Literal {
        let bits = self.next();
        let small = i128::from(bits as i64 % 100);
        self.one(&[
            Literal::Float(ElementType::F64, f64::from_bits(bits)),
            Literal::Float(ElementType::F64, small as f64),
            Literal::Float(ElementType::F32, f64::from(small as f32 / 8.0)),
            Literal::Float(ElementType::C32, f64::from(small as f32 / 10.0)),
            Literal::Float(ElementType::C64, f64::from_bits(bits)),
            Literal::Integer(ElementType::I32, small),
            Literal::Integer(ElementType::I64, (bits as i64).into()),
            Literal::Integer(ElementType::U8, small.abs()),
            Literal::Integer(ElementType::Bool, small & 1),
        ])
    }

    fn expr(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return match self.below(6) {
                0 => Expr::Index(self.next()),
                1 => Expr::Bool(self.yes()),
                2 => Expr::Literal(self.literal()),
                3 => Expr::Variable(self.variable()),
                4 => Expr::Dimension(DimensionId(self.below(5) as u32)),
                _ => Expr::Length(self.array()),
            };
        }
        let inner = |r: &mut Self| {
            let less = r.below(depth);
            Box::new(r.expr(less))
        };
        let binary = BinaryOperator::ALL;
        match self.below(11) {
            0 => Expr::Load(self.array(), inner(self)),
            1 => Expr::Unary(self.one(&[UnaryOperator::Negate, UnaryOperator::Not]), inner(self)),
            2..=4 => Expr::Binary(self.one(&binary), inner(self), inner(self)),
            5 => Expr::Call(self.one(&Function::ALL), self.many(3, |r| *inner(r))),
            6 => Expr::Select(inner(self), inner(self), inner(self)),
            7 => Expr::Cast(self.ty(), inner(self)),
            8 => Expr::Mask { part: self.below(5), extents: self.many(3, |r| *inner(r)) },
            9 => Expr::Fold(self.operator(), Box::new(self.term(depth))),
            _ => Expr::Search {
                array: self.array(),
                begin: inner(self),
                end: inner(self),
                value: inner(self),
                stride: 1 + self.below(3) as u64,
                find: self.one(&Find::ALL),
            },
        }
    }

    fn term(&mut self, depth: usize) -> Term {
        let below = |r: &mut Self| {
            let less = r.below(depth);
            Box::new(r.term(less))
        };
        match if depth == 0 { self.below(2) } else { self.below(5) } {
            0 => Term::Load(Factor::Run(self.array())),
            1 => Term::Load(Factor::At { of: self.array(), run: self.array(), filled: self.yes() }),
            2 => Term::Same(Box::new(self.expr(depth - 1))),
            3 => {
                let operators = [BinaryOperator::Add, BinaryOperator::Multiply, BinaryOperator::BitOr];
                Term::Binary(self.one(&operators), below(self), below(self))
            }
            _ => Term::Call(self.one(&[Function::Min, Function::Max]), below(self), below(self)),
        }
    }

    fn block(&mut self, depth: usize) -> Vec<Statement> {
        self.many(4, |r| r.statement(depth))
    }

    fn statement(&mut self, depth: usize) -> Statement {
        let kinds = if depth == 0 { 16 } else { 21 };
        let less = depth.saturating_sub(1);
        match self.below(kinds) {
            0 => Statement::Comment(self.text()),
            1 => Statement::Let(self.variable(), self.expr(4)),
            2 => Statement::Assign(self.variable(), self.expr(4)),
            3 => Statement::Update(self.variable(), self.operator(), self.expr(4)),
            4 => Statement::Store(self.array(), self.expr(3), self.expr(4)),
            5 => Statement::Reduce(self.array(), self.expr(3), self.operator(), self.expr(4)),
            6 => Statement::Allocate { array: self.array(), length: self.expr(3), fill: self.expr(3) },
            7 if self.yes() => {
                let (totals, terms) = (self.array(), self.expr(3));
                Statement::Folds { totals, terms, between: self.yes().then(|| self.array()) }
            }
            7 => Statement::Fill(self.array(), self.expr(3)),
            8 if self.yes() => {
                Statement::Numbers { array: self.array(), codes: self.array(), mask: self.expr(3), below: self.expr(3) }
            }
            8 => Statement::View {
                array: self.array(),
                of: self.array(),
                begin: self.expr(3),
                length: self.expr(3),
                mutable: self.yes(),
            },
            9 if self.yes() => Statement::Push(self.array(), self.expr(3)),
            9 => Statement::Extend { array: self.array(), count: self.expr(3), fill: self.expr(3) },
            10 => Statement::List(self.array()),
            11 => Statement::Table { table: self.array(), extent: self.expr(3) },
            12 => {
                Statement::Insert { place: self.variable(), key: self.expr(3), keys: self.array(), table: self.array() }
            }
            13 => Statement::Sort { keys: self.array(), places: self.array(), table: self.yes().then(|| self.array()) },
            14 if self.yes() => Statement::Bitmap { bitmap: self.array(), extent: self.expr(3) },
            14 if self.yes() => Statement::Directory {
                directory: self.array(),
                positions: self.array(),
                coordinates: self.array(),
                extent: self.expr(3),
                sought: self.array(),
            },
            14 => Statement::Clear(self.array()),
            15 if self.yes() => Statement::Mark(self.array(), self.expr(3)),
            15 => Statement::Reset { keys: self.array(), table: self.array() },
            16 => Statement::For {
                variable: self.variable(),
                begin: self.expr(3),
                end: self.expr(3),
                vector: self.yes(),
                body: self.block(less),
            },
            17 if self.yes() => {
                let walks: Vec<Walk> = (0..=self.below(3)).map(|list| self.walk(VariableId(list as u32))).collect();
                let coordinate = self.variable();
                let directory = self.yes().then(|| LookUp { directory: self.array(), parent: self.expr(3) });
                let count = walks.len();
                let points = self.many(2, |r| Point {
                    operands: Operands(1 + r.below((1 << count) - 1) as u64),
                    body: r.block(less),
                });
                Statement::Merge(Merge { walks, coordinate, points, directory })
            }
            17 => Statement::While(self.expr(3), self.block(less)),
            18 => Statement::Marked { variable: self.variable(), bitmap: self.array(), body: self.block(less) },
            19 => Statement::If(self.many(3, |r| (r.expr(3), r.block(less))), self.block(less)),
            _ => Statement::Parallel(Box::new(Parallel {
                begin: self.expr(3),
                end: self.expr(3),
                low: self.variable(),
                high: self.variable(),
                work: self.yes().then(|| Work { place: self.variable(), before: self.expr(3), is_all: self.yes() }),
                aligned: self.yes().then(|| self.array()),
                is_bounded: self.yes(),
                sharing: self.many(3, |r| (r.array(), r.sharing())),
                reductions: self.many(2, |r| (r.variable(), r.operator())),
                body: self.block(less),
                uneven: None,
            })),
        }
    }

    fn walk(&mut self, place: VariableId) -> Walk {
        let run = self.yes().then(|| self.variable());
        Walk { place, run, begin: self.expr(3), end: self.expr(3), at: self.expr(3) }
    }

    fn sharing(&mut self) -> Sharing {
        match self.below(5) {
            4 => Sharing::Segmented {
                place: self.variable(),
                start: self.expr(3),
                length: self.expr(2),
                operator: self.operator(),
                anew: self.yes(),
            },
            0 => Sharing::Owned { place: self.variable(), start: self.expr(3) },
            1 => Sharing::Private(self.operator()),
            2 => Sharing::Joined { positions_of: None },
            _ => Sharing::Joined { positions_of: Some(self.array()) },
        }
    }
}
