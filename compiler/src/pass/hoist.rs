//! Loads that a vector loop repeats move before it.
//!
//! ```text
//! for r in 0..R: t[r] += X_vals[p] * C[k * R + r]
//!
//! let X_val = X_vals[p]
//! for r in 0..R: t[r] += X_val * C[k * R + r]
//! ```

use crate::ir::{ArrayElement, ArrayId, Expr, Kernel, Statement, Type, Variable, VariableId};
use std::collections::BTreeSet;

/// The kernel with the loads of its vector loops moved before them where they do not change.
pub(super) fn hoist(mut kernel: Kernel) -> Kernel {
    let mut body = std::mem::take(&mut kernel.body);
    block(&mut kernel, &mut body);
    kernel.body = body;
    kernel
}

fn block(kernel: &mut Kernel, statements: &mut Vec<Statement>) {
    let mut done = Vec::with_capacity(statements.len());
    for mut statement in statements.drain(..) {
        statement.blocks_mut().into_iter().for_each(|inner| block(kernel, inner));
        if let Statement::For { variable, vector: true, body, .. } = &mut statement {
            let lets = loads_out_of(kernel, *variable, body);
            done.extend(lets);
        }
        done.push(statement);
    }
    *statements = done;
}

fn loads_out_of(kernel: &mut Kernel, counter: VariableId, body: &mut [Statement]) -> Vec<Statement> {
    let mut written: BTreeSet<ArrayId> = BTreeSet::new();
    let mut local: BTreeSet<VariableId> = BTreeSet::from([counter]);
    for statement in body.iter() {
        statement.for_each(&mut |inner| written.extend(inner.written_array()));
        if let Statement::Let(variable, _) = statement {
            local.insert(*variable);
        }
    }
    let mut hoisted: Vec<(Expr, VariableId)> = Vec::new();
    for statement in body.iter_mut() {
        statement.for_each_expr_mut(&mut |expr| {
            let taken = std::mem::replace(expr, Expr::Index(0));
            *expr = replace(kernel, taken, &written, &local, &mut hoisted);
        });
    }
    hoisted.into_iter().map(|(value, variable)| Statement::Let(variable, value)).collect()
}

fn replace(
    kernel: &mut Kernel,
    expr: Expr,
    written: &BTreeSet<ArrayId>,
    local: &BTreeSet<VariableId>,
    hoisted: &mut Vec<(Expr, VariableId)>,
) -> Expr {
    if let Expr::Load(array, index) = &expr {
        let changes = written.contains(array) || local.iter().any(|variable| index.uses(*variable));
        if let (false, ArrayElement::Value(element)) = (changes, kernel.array(*array).element) {
            if let Some((_, variable)) = hoisted.iter().find(|(value, _)| *value == expr) {
                return Expr::Variable(*variable);
            }
            let name = kernel.array(*array).name.trim_end_matches("_vals").to_owned() + "_val";
            let variable = VariableId(u32::try_from(kernel.variables.len()).expect("few variables"));
            kernel.variables.push(Variable { name, ty: Type::of(element), mutable: false });
            hoisted.push((expr, variable));
            return Expr::Variable(variable);
        }
    }
    expr.map_children(&mut |child| replace(kernel, child, written, local, hoisted))
}
