//! Loops over rows of constant length, several elements at a time, so that a compiler keeps the rows in registers.
//!
//! A row is an array of constant length on the stack. Compilers vectorise a loop over it, but store what comes out after each: only
//! vectors at constant places of an array become registers. So such a loop is printed as one over vectors, to be unrolled whole:
//!
//! ```text
//! for (size_t r = 0; r < 16; r++) {          SPC_ROW
//!     t[r] += X_val * C_row[r];       →      for (size_t r = 0; r < 16; r += SPC_LANES(4)) {
//! }                                              *(spc_f64x4 *)&t[r] += X_val * *(const spc_f64x4 *)&C_row[r];
//!                                            }
//! ```
//!
//! Where a compiler has no vectors, `spc_f64x4` is `double`, `SPC_LANES(4)` is 1, and it is the loop on the left. Other loops, with
//! calls, choices or numbers that are no `float` or `double`, are left to the compiler.

use super::{Held, Printer};
use crate::ir::{
    ArrayElement, ArrayId, BinaryOperator, ElementType, Expr, ReduceOperator, Rows, Size, Statement, Type, VariableId,
};

/// The bytes of a vector of the narrowest elements of a loop.
const BYTES: usize = 32;
/// A row of more vectors does not stay in registers, and unrolling it is a lot of text.
const MOST_VECTORS: u64 = 32;

impl Printer<'_> {
    /// Prints a loop over the elements of a row, if it is one of this kind.
    pub(super) fn row_loop(&mut self, variable: VariableId, [begin, end]: [&Expr; 2], body: &[Statement]) -> bool {
        let Some(length) = self.constant(end).filter(|_| *begin == Expr::Index(0)) else { return false };
        let Some(lanes) = self.lanes(variable, length, body) else { return false };
        self.helpers.lanes();
        self.line("SPC_ROW");
        self.namer.enter();
        let name = self.declare_variable(variable);
        self.nest(&format!("for (size_t {name} = 0; {name} < {length}; {name} += SPC_LANES({lanes}))"), |printer| {
            for statement in body {
                printer.of_lanes(statement, variable, lanes);
            }
        });
        self.namer.leave();
        true
    }

    /// Fills a row.
    pub(super) fn fill_row(&mut self, array: ArrayId, value: &str) -> bool {
        let (Some(length), ArrayElement::Value(element)) = (self.rows.get(&array), self.kernel.array(array).element)
        else {
            return false;
        };
        let Some(lanes) = fitting(*length, element.bytes()).filter(|_| is_real(element)) else { return false };
        let (length, ty) = (*length, self.vector_type(element, lanes));
        let place = self.element(array, "n");
        self.line("SPC_ROW");
        self.line(&format!(
            "for (size_t n = 0; n < {length}; n += SPC_LANES({lanes})) *({ty} *)&{place} = SPC_EACH({value}, {ty});"
        ));
        true
    }

    fn constant(&self, length: &Expr) -> Option<u64> {
        match length {
            Expr::Index(length) => Some(*length),
            Expr::Dimension(id) => match self.kernel.dimension(*id).size {
                Size::Constant(size) => Some(size),
                _ => None,
            },
            _ => None,
        }
    }

    /// How many elements a vector of a loop has, if its body is such that vectors do what it does.
    fn lanes(&self, variable: VariableId, length: u64, body: &[Statement]) -> Option<u64> {
        let rows = Rows::of(self.kernel, variable, body)?;
        let are_sums = rows.reductions.iter().all(|(_, operator)| *operator == ReduceOperator::Add);
        let are_elements = rows.arrays.iter().all(|array| matches!(self.arrays.get(array), Some(Held::Elements(_))));
        let has_row = rows.arrays.iter().any(|array| self.rows.contains_key(array));
        let narrowest = rows.elements.iter().map(|element| element.bytes()).min()?;
        fitting(length, narrowest).filter(|_| are_sums && are_elements && has_row && rows.functions.is_empty())
    }

    /// A statement of such a loop.
    fn of_lanes(&mut self, statement: &Statement, variable: VariableId, lanes: u64) {
        let in_each = |printer: &mut Self, value: &Expr| {
            let (text, is_vector) = printer.lane_value(value, variable, lanes);
            let ty = printer.element_of(value).map(|element| printer.vector_type(element, lanes));
            match ty.filter(|_| !is_vector) {
                Some(ty) => format!("SPC_EACH({text}, {ty})"),
                None => text,
            }
        };
        match statement {
            Statement::Let(own, value) => {
                let ty = self.element_of(value).map(|element| self.vector_type(element, lanes)).unwrap_or_default();
                let value = in_each(self, value);
                let name = self.declare_variable(*own);
                self.vectors.push(*own);
                self.line(&format!("const {ty} {name} = {value};"));
            }
            Statement::Store(array, index, value) => {
                let (place, value) = (self.lane_place(*array, index, lanes), in_each(self, value));
                self.line(&format!("{place} = {value};"));
            }
            Statement::Reduce(array, index, _, value) => {
                let (place, (value, _)) =
                    (self.lane_place(*array, index, lanes), self.lane_value(value, variable, lanes));
                self.line(&format!("{place} += {value};"));
            }
            Statement::Comment(text) => self.comment(text),
            _ => unreachable!("other statements are not taken"),
        }
    }

    fn lane_place(&mut self, array: ArrayId, index: &Expr, lanes: u64) -> String {
        let index = self.expr(index);
        let element = self.element(array, &index);
        match self.kernel.array(array).element {
            ArrayElement::Value(of) => format!("*({} *)&{element}", self.vector_type(of, lanes)),
            ArrayElement::Index(_) => unreachable!("indices are not taken"),
        }
    }

    /// A value, and whether it is a vector; else it is one number for all lanes.
    fn lane_value(&mut self, expr: &Expr, variable: VariableId, lanes: u64) -> (String, bool) {
        let is_steady = !expr.uses(variable) && self.vectors.iter().all(|vector| !expr.uses(*vector));
        let text = match expr {
            _ if is_steady => format!("({})", self.expr(expr)),
            Expr::Load(array, index) => self.lane_place(*array, index, lanes),
            Expr::Unary(_, operand) => format!("-({})", self.lane_value(operand, variable, lanes).0),
            Expr::Binary(operator, left, right) => {
                let sign = match operator {
                    BinaryOperator::Add => "+",
                    BinaryOperator::Subtract => "-",
                    BinaryOperator::Multiply => "*",
                    _ => "/",
                };
                let [left, right] = [left, right].map(|operand| {
                    let text = self.lane_value(operand, variable, lanes).0;
                    if matches!(**operand, Expr::Binary(..)) && !text.starts_with('(') {
                        format!("({text})")
                    } else {
                        text
                    }
                });
                format!("{left} {sign} {right}")
            }
            Expr::Cast(Type::Element(to), operand) => {
                let ty = self.vector_type(*to, lanes);
                format!("SPC_CONVERT({}, {ty})", self.lane_value(operand, variable, lanes).0)
            }
            other => self.expr(other),
        };
        (text, !is_steady)
    }

    fn vector_type(&mut self, element: ElementType, lanes: u64) -> String {
        self.helpers.vector(element, lanes)
    }
}

/// How many elements of a row a vector has: so many that the row has no rest.
fn fitting(length: u64, bytes: usize) -> Option<u64> {
    let most = (BYTES / bytes.max(1)) as u64;
    let lanes = [most, most / 2, most / 4].into_iter().find(|lanes| *lanes > 1 && length.is_multiple_of(*lanes))?;
    (length / lanes <= MOST_VECTORS).then_some(lanes)
}

fn is_real(element: ElementType) -> bool {
    matches!(element, ElementType::F64 | ElementType::F32)
}
