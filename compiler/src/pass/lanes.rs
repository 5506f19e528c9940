//! Sums over dense rows run in lanes: a sum in one variable waits for each addition before it begins the next.
//!
//! ```text
//! for r in 0..R: t += B[i * R + r] * C[j * R + r]
//!
//! let lanes = [0; 8]
//! for block in 0..R / 8:
//!     for lane in 0..8: lanes[lane] += B[i * R + block * 8 + lane] * C[j * R + block * 8 + lane]
//! for r in R / 8 * 8..R: t += B[i * R + r] * C[j * R + r]
//! for lane in 0..4: lanes[lane] += lanes[lane + 4]
//! for lane in 0..2: lanes[lane] += lanes[lane + 2]
//! t += lanes[0] + lanes[1]
//! ```
//!
//! That adds in another order, so it is done where the language leaves the order open (a sum) and where it matters: in floating
//! point, which a target's compiler may not reorder.

use super::views::base;
use crate::ir::{
    Array, ArrayElement, ArrayId, ArrayRole, BinaryOperator, ElementType, Expr, Kernel, Literal, ReduceOperator, Size,
    Statement, Type, Variable, VariableId,
};

/// The kernel with its innermost sums over dense rows in lanes.
pub(super) fn lanes(mut kernel: Kernel) -> Kernel {
    let mut body = std::mem::take(&mut kernel.body);
    block(&mut kernel, &mut body);
    kernel.body = body;
    kernel
}

fn block(kernel: &mut Kernel, statements: &mut Vec<Statement>) {
    let mut done = Vec::with_capacity(statements.len());
    for mut statement in statements.drain(..) {
        statement.blocks_mut().into_iter().for_each(|inner| block(kernel, inner));
        match Sum::of(kernel, &statement) {
            Some(sum) => done.extend(sum.in_lanes(kernel)),
            None => done.push(statement),
        }
    }
    *statements = done;
}

/// `for counter in 0..end: total += term`, where elements lie side by side.
struct Sum {
    counter: VariableId,
    end: Expr,
    total: VariableId,
    term: Expr,
    element: ElementType,
}

impl Sum {
    fn of(kernel: &Kernel, statement: &Statement) -> Option<Sum> {
        let Statement::For { variable, begin: Expr::Index(0), end, vector: false, body } = statement else {
            return None;
        };
        let [Statement::Update(total, ReduceOperator::Add, term)] = &body[..] else { return None };
        let Type::Element(element) = kernel.variable(*total).ty else { return None };
        let enough = size(kernel, end).is_none_or(|size| size >= lane_count(element));
        (element.is_rounded() && enough && term.uses(*variable) && walks_rows(kernel, term, *variable)).then(|| Sum {
            counter: *variable,
            end: end.clone(),
            total: *total,
            term: term.clone(),
            element,
        })
    }

    fn in_lanes(self, kernel: &mut Kernel) -> Vec<Statement> {
        let count = lane_count(self.element);
        let zero = Expr::Literal(Literal::Float(self.element, 0.0));
        let lanes = declare_array(kernel, self.element);
        let (blocks, whole) = match size(kernel, &self.end) {
            Some(size) => (Expr::Index(size / count), Expr::Index(size / count * count)),
            None => {
                let blocks = Expr::binary(BinaryOperator::Divide, self.end.clone(), Expr::Index(count));
                (blocks.clone(), blocks.times(Expr::Index(count)))
            }
        };
        let (block, lane) = (declare_index(kernel, "block"), declare_index(kernel, "lane"));
        let first = Expr::Variable(block).times(Expr::Index(count));
        let term = in_block(self.term.clone(), self.counter, &first, lane);
        let mut statements = vec![
            Statement::Allocate { array: lanes, length: Expr::Index(count), fill: zero },
            Statement::For {
                variable: block,
                begin: Expr::Index(0),
                end: blocks,
                vector: false,
                body: vec![add_in_lanes(lanes, lane, count, term)],
            },
        ];
        if size(kernel, &self.end).is_none_or(|size| size % count != 0) {
            statements.push(Statement::For {
                variable: self.counter,
                begin: whole,
                end: self.end.clone(),
                vector: false,
                body: vec![Statement::Update(self.total, ReduceOperator::Add, self.term.clone())],
            });
        }
        let mut half = count / 2;
        while half > 1 {
            let lane = declare_index(kernel, "lane");
            let other = Expr::load(lanes, Expr::Variable(lane).plus(Expr::Index(half)));
            statements.push(add_in_lanes(lanes, lane, half, other));
            half /= 2;
        }
        let element = |lane| Expr::load(lanes, Expr::Index(lane));
        let both = Expr::binary(BinaryOperator::Add, element(0), element(1));
        statements.push(Statement::Update(self.total, ReduceOperator::Add, both));
        statements
    }
}

/// As many elements as a cache line has, which is one or two vectors of any processor.
fn lane_count(element: ElementType) -> u64 {
    64 / element.bytes() as u64
}

/// The number that an expression is, where it is known.
fn size(kernel: &Kernel, expr: &Expr) -> Option<u64> {
    match expr {
        Expr::Index(size) => Some(*size),
        Expr::Dimension(id) => match kernel.dimension(*id).size {
            Size::Constant(size) => Some(size),
            Size::Runtime | Size::Generic => None,
        },
        _ => None,
    }
}

/// Whether the counter occurs only where values are loaded at `base + counter`.
fn walks_rows(kernel: &Kernel, expr: &Expr, counter: VariableId) -> bool {
    match expr {
        Expr::Load(array, index) if index.uses(counter) => {
            base(index, counter).is_some() && matches!(kernel.array(*array).element, ArrayElement::Value(_))
        }
        Expr::Variable(variable) => *variable != counter,
        expr => {
            let mut all = true;
            expr.for_each_child(&mut |child| all &= walks_rows(kernel, child, counter));
            all
        }
    }
}

/// The term at `first + lane` in place of the counter.
fn in_block(expr: Expr, counter: VariableId, first: &Expr, lane: VariableId) -> Expr {
    match &expr {
        Expr::Load(array, index) => match base(index, counter) {
            Some(base) => Expr::load(*array, base.plus(first.clone()).plus(Expr::Variable(lane))),
            None => expr,
        },
        _ => expr.map_children(&mut |child| in_block(child, counter, first, lane)),
    }
}

fn add_in_lanes(lanes: ArrayId, lane: VariableId, count: u64, value: Expr) -> Statement {
    let update = Statement::Reduce(lanes, Expr::Variable(lane), ReduceOperator::Add, value);
    Statement::For { variable: lane, begin: Expr::Index(0), end: Expr::Index(count), vector: true, body: vec![update] }
}

fn declare_array(kernel: &mut Kernel, element: ElementType) -> ArrayId {
    let id = ArrayId(u32::try_from(kernel.arrays.len()).expect("few arrays"));
    let mut name = "lanes".to_owned();
    let mut count = 1;
    while kernel.arrays.iter().any(|array| array.name == name) {
        count += 1;
        name = format!("lanes_{count}");
    }
    kernel.arrays.push(Array { name, element: ArrayElement::Value(element), role: ArrayRole::Local });
    id
}

fn declare_index(kernel: &mut Kernel, name: &str) -> VariableId {
    let id = VariableId(u32::try_from(kernel.variables.len()).expect("few variables"));
    kernel.variables.push(Variable { name: name.to_owned(), ty: Type::Index, mutable: false });
    id
}
