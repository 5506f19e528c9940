//! What never holds NaN.
//!
//! `min` and `max` pass over NaN: of a number and NaN they give the number. Processors have no such instruction, only one for
//! `if value < total { value } else { total }`, which is the same wherever the total is no NaN. That is so for totals of `min` and `max`
//! that begin with a number, whatever is combined with them.

use super::{
    ArrayElement, ArrayId, ArrayRole, ElementType, Expr, Function, Initial, Kernel, ReduceOperator, Source, Statement,
    Type, VariableId, Views,
};
use std::collections::BTreeSet;

/// The variables and arrays of floating point numbers that never hold NaN.
#[derive(Debug, Clone)]
pub struct Ordered {
    variables: BTreeSet<VariableId>,
    arrays: BTreeSet<ArrayId>,
    views: Views,
}

impl Ordered {
    /// Those of a kernel: all that nothing writes NaN to.
    pub fn of(kernel: &Kernel) -> Self {
        let is_float = |ty: Type| matches!(ty, Type::Element(element) if element.is_float());
        let begins_with_numbers = |role: ArrayRole| match role {
            ArrayRole::Local => true,
            ArrayRole::Values { tensor } => match kernel.tensor(tensor).source {
                Source::Output { initial: Initial::Filled(value), .. } => !value.is_nan(),
                Source::Output { initial: Initial::Overwritten | Initial::Empty, .. } => true,
                _ => false,
            },
            _ => false,
        };
        let variables = (0u32..).map(VariableId).zip(&kernel.variables);
        let variables = variables.filter(|(_, variable)| is_float(variable.ty)).map(|(id, _)| id).collect();
        let arrays = (0u32..).map(ArrayId).zip(&kernel.arrays);
        let is_of_numbers = |element: ArrayElement| match element {
            ArrayElement::Value(element) => element.is_float() && !element.is_stored_only(),
            ArrayElement::Index(_) => false,
        };
        let arrays = arrays.filter(|(_, array)| is_of_numbers(array.element) && begins_with_numbers(array.role));
        let arrays = arrays.map(|(id, _)| id).collect();
        let mut ordered = Ordered { variables, arrays, views: kernel.views() };
        loop {
            let mut kept = ordered.clone();
            let mut see = |statement: &Statement| kept.leave_out(statement, &ordered);
            kernel.body.iter().for_each(|statement| statement.for_each(&mut see));
            if kept.variables.len() == ordered.variables.len() && kept.arrays.len() == ordered.arrays.len() {
                return kept;
            }
            ordered = kept;
        }
    }

    /// Whether a variable never holds NaN.
    pub fn has_variable(&self, variable: VariableId) -> bool {
        self.variables.contains(&variable)
    }

    /// Whether no element of an array is ever NaN.
    pub fn has_array(&self, array: ArrayId) -> bool {
        self.arrays.contains(&self.views.source(array))
    }

    /// Leaves out what a statement may write NaN to, if what is `known` never holds it.
    fn leave_out(&mut self, statement: &Statement, known: &Ordered) {
        match statement {
            Statement::Let(variable, value) | Statement::Assign(variable, value) if !known.is_number(value) => {
                self.variables.remove(variable);
            }
            Statement::Update(variable, operator, _) if !passes_over(*operator) => {
                self.variables.remove(variable);
            }
            Statement::Reduce(array, _, operator, _) if !passes_over(*operator) => self.leave_out_array(*array),
            Statement::Folds { totals, terms, .. } if !known.is_number(terms) => self.leave_out_array(*totals),
            Statement::Store(array, _, value)
            | Statement::Fill(array, value)
            | Statement::Push(array, value)
            | Statement::Allocate { array, fill: value, .. }
            | Statement::Extend { array, fill: value, .. }
                if !known.is_number(value) =>
            {
                self.leave_out_array(*array);
            }
            _ => {}
        }
    }

    fn leave_out_array(&mut self, array: ArrayId) {
        self.arrays.remove(&self.views.source(array));
    }

    /// Whether an expression is never NaN.
    fn is_number(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Literal(value) => !value.is_nan(),
            Expr::Variable(variable) => self.has_variable(*variable),
            Expr::Load(array, _) => self.has_array(*array),
            Expr::Call(Function::Min | Function::Max, arguments) => arguments.iter().any(|value| self.is_number(value)),
            Expr::Fold(operator, _) => passes_over(*operator),
            Expr::Select(_, yes, no) => self.is_number(yes) && self.is_number(no),
            Expr::Cast(Type::Element(ElementType::F32 | ElementType::F64), value) => self.is_number(value),
            _ => false,
        }
    }
}

/// Whether a reduction by an operator leaves NaN out.
fn passes_over(operator: ReduceOperator) -> bool {
    matches!(operator, ReduceOperator::Min | ReduceOperator::Max)
}

#[cfg(test)]
mod tests {
    use super::Ordered;
    use crate::ir::{ArrayId, VariableId};

    const DECLARATIONS: &str = "kernel k {
      dimension d0 n runtime
      tensor t0 x f64 [dense] (d0) input
      tensor t1 y f64 [dense] (d0) output dense filled inff64
      array a0 x f64 values t0
      array a1 y f64 values t1
      array a2 w f64 local
      array a3 w_row f64 local
      variable v0 i index
      variable v1 t f64 mutable
      variable v2 s f64 mutable
      body {";

    /// Which variables and arrays are ordered, by their names.
    fn ordered(body: &str) -> Vec<String> {
        let kernel = crate::ir::parse(&format!("{DECLARATIONS}{body}}} }}"), crate::level::named)
            .unwrap_or_else(|error| panic!("{error}: {body}"));
        let ordered = Ordered::of(&kernel);
        let variables = (0u32..).map(VariableId).zip(&kernel.variables).filter(|(id, _)| ordered.has_variable(*id));
        let arrays = (0u32..).map(ArrayId).zip(&kernel.arrays).filter(|(id, _)| ordered.has_array(*id));
        let names = variables.map(|(_, variable)| &variable.name);
        names.chain(arrays.map(|(_, array)| &array.name)).cloned().collect()
    }

    #[test]
    fn a_total_of_minima_is_ordered_and_a_sum_is_not() {
        let body = "let v1 = inff64 let v2 = 0.0f64 for v0 in 0..d0 { v1 min= a0[v0] v2 += a0[v0] }";
        assert_eq!(ordered(body), ["t", "y", "w", "w_row"]);
    }

    #[test]
    fn what_takes_an_operand_is_not_nor_is_what_takes_that() {
        let body = "let v1 = a0[0] v1 min= a0[1] let v2 = inff64 v2 = v1";
        assert_eq!(ordered(body), ["y", "w", "w_row"]);
    }

    #[test]
    fn what_is_written_through_a_view_is_written_to_its_array() {
        let body = "allocate a2[8] = inff64 view mutable a3 of a2 from 0 length 8 a3[1] = a0[1]";
        assert_eq!(ordered(body), ["t", "s", "y"]);
        let body = "allocate a2[8] = inff64 view mutable a3 of a2 from 0 length 8 a3[1] min= a0[1]";
        assert_eq!(ordered(body), ["t", "s", "y", "w", "w_row"]);
    }
}
