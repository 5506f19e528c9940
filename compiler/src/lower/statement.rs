//! Statements that are not loops, and expressions.

use super::{Lowering, Scope, Workspace};
use crate::concrete::{Access, Assign, Expr, OutputStructure, Reading, Run, Statement, TensorId, TensorKind};
use crate::ir::{self, ElementType, Type};
use crate::notation::{BinaryOperator, UnaryOperator};

impl Lowering<'_> {
    pub(super) fn statement(&mut self, statement: &Statement, scope: &Scope, out: &mut Vec<ir::Statement>) {
        if let Some(target) = scope.pending.as_ref().filter(|_| self.promises_a_term(statement, scope)) {
            let mut entry = Vec::new();
            self.append_pending(target, scope, &mut entry);
            self.statement(statement, &Scope { pending: None, ..scope.clone() }, &mut entry);
            return self.guard(statement, scope, entry, out);
        }
        let is_term = matches!(statement, Statement::Assign(_) | Statement::Forall { run: Run::Vector, .. });
        if let Some(flag) = scope.touched.filter(|_| is_term) {
            self.touch(flag, statement, scope, out);
            return self.statement(statement, &Scope { touched: None, ..scope.clone() }, out);
        }
        if let Some(target) = self.missing_entry(statement, scope) {
            let mut entry = Vec::new();
            let inside = match self.promises_a_term(statement, scope) {
                true => self.append_block(&target, scope, &mut entry),
                false => self.expect_block(&target, scope, &mut entry),
            };
            self.statement(statement, &inside, &mut entry);
            return self.guard(statement, scope, entry, out);
        }
        if let Some(target) = self.missing_block(statement, scope) {
            return self.scatter_block(&target, statement, scope, out);
        }
        match statement {
            Statement::Empty => {}
            Statement::Sequence(statements) => {
                for statement in statements {
                    self.statement(statement, scope, out);
                }
            }
            Statement::Assign(assign) => self.assign(assign, scope, out),
            Statement::Where { workspace, consumer, producer } => {
                self.with_workspace(*workspace, consumer, producer, scope, out);
            }
            Statement::Forall { variable, run, body } => self.forall(*variable, *run, body, scope, out),
        }
    }

    fn with_workspace(
        &mut self,
        workspace: TensorId,
        consumer: &Statement,
        producer: &Statement,
        scope: &Scope,
        out: &mut Vec<ir::Statement>,
    ) {
        if let TensorKind::SparseWorkspace(collect) = self.concrete.tensor(workspace).kind {
            return self.with_sparse_workspace(workspace, collect, consumer, producer, scope, out);
        }
        self.open_workspace(workspace, out);
        let touched = self.needs_touched_flag(consumer, producer, scope).then(|| {
            let flag = self.fresh("touched", Type::Bool, true);
            out.push(ir::Statement::Let(flag, ir::Expr::Bool(false)));
            flag
        });
        let producer_scope = Scope { touched, appended: None, pending: None, repeated: None, ..scope.clone() };
        self.statement(producer, &producer_scope, out);
        if let Workspace::Scalar(variable) = self.workspaces[&workspace]
            && has_parallel_loop(consumer)
        {
            let total = self.final_value(variable, out);
            self.workspaces.insert(workspace, Workspace::Scalar(total));
        }
        let mut scope = scope.clone();
        if let Some(flag) = touched {
            let flag = if has_parallel_loop(consumer) { self.final_value(flag, out) } else { flag };
            scope.flags.insert(workspace, flag);
        }
        self.statement(consumer, &scope, out);
    }

    /// An immutable variable for what a mutable one holds now: parallel loops read no others.
    fn final_value(&mut self, variable: ir::VariableId, out: &mut Vec<ir::Statement>) -> ir::VariableId {
        let declaration = &self.kernel.variables[variable.index()];
        let total = self.fresh(format!("{}_total", declaration.name), declaration.ty, false);
        out.push(ir::Statement::Let(total, ir::Expr::Variable(variable)));
        total
    }

    fn assign(&mut self, assign: &Assign, scope: &Scope, out: &mut Vec<ir::Statement>) {
        let target = &assign.target;
        if self.sparse.contains_key(&target.tensor) {
            return self.scatter(assign, scope, out);
        }
        let is_entry = self.is_appended(target.tensor) && scope.appended.is_none();
        // An entry is appended only where a condition on indices holds.
        let value = match self.choice_of(assign).filter(|_| is_entry) {
            Some((_, value)) => self.expr(value, scope),
            None => self.expr(&assign.value, scope),
        };
        let value = self.repeated(assign, value, scope, out);
        if let Some(Workspace::Scalar(variable)) = self.workspaces.get(&target.tensor).copied() {
            out.push(match assign.operator {
                Some(operator) => ir::Statement::Update(variable, operator, value),
                None => ir::Statement::Assign(variable, value),
            });
            return;
        }
        if is_entry {
            let mut entry = Vec::new();
            self.append_coordinates(target, scope, &mut entry);
            entry.push(ir::Statement::Push(self.values(target.tensor), value));
            return self.guard(&Statement::Assign(assign.clone()), scope, entry, out);
        }
        let (array, index) = self.place(target, scope);
        out.push(match assign.operator {
            Some(operator) => ir::Statement::Reduce(array, index, operator, value),
            None => ir::Statement::Store(array, index, value),
        });
    }

    pub(super) fn is_appended(&self, tensor: TensorId) -> bool {
        self.concrete.tensor(tensor).kind == TensorKind::Output(OutputStructure::Appended)
    }

    pub(super) fn expr(&self, expr: &Expr, scope: &Scope) -> ir::Expr {
        match expr {
            Expr::Literal(literal) => ir::Expr::Literal(*literal),
            Expr::Access(access) if access.reads == Reading::Stored => self.holds_entry(access, scope),
            Expr::Access(access) => self.read(access, scope),
            Expr::Index(variable, element) => {
                ir::Expr::Cast(Type::of(*element), Box::new(self.coordinate(scope, *variable)))
            }
            // A mark of a condition that chooses.
            Expr::Cast(ElementType::Bool, operand) => self.expr(operand, scope),
            // What is stored is rounded then.
            Expr::Cast(element, operand) if element.is_stored_only() => self.expr(operand, scope),
            Expr::Cast(element, operand) => ir::Expr::Cast(Type::of(*element), Box::new(self.expr(operand, scope))),
            Expr::Unary(operator, operand) => match (operator, self.expr(operand, scope)) {
                (UnaryOperator::Not, ir::Expr::Bool(value)) => ir::Expr::Bool(!value),
                (operator, operand) => ir::Expr::Unary(*operator, Box::new(operand)),
            },
            Expr::Binary(operator, left, right) => match (operator, self.expr(left, scope), self.expr(right, scope)) {
                (BinaryOperator::And, ir::Expr::Bool(true), other)
                | (BinaryOperator::And, other, ir::Expr::Bool(true))
                | (BinaryOperator::Or, ir::Expr::Bool(false), other)
                | (BinaryOperator::Or, other, ir::Expr::Bool(false)) => other,
                (BinaryOperator::And, ir::Expr::Bool(false), _) | (BinaryOperator::And, _, ir::Expr::Bool(false)) => {
                    ir::Expr::Bool(false)
                }
                (BinaryOperator::Or, ir::Expr::Bool(true), _) | (BinaryOperator::Or, _, ir::Expr::Bool(true)) => {
                    ir::Expr::Bool(true)
                }
                (operator, left, right) => ir::Expr::binary(*operator, left, right),
            },
            Expr::Call(function, arguments) => {
                ir::Expr::Call(*function, arguments.iter().map(|argument| self.expr(argument, scope)).collect())
            }
            Expr::Select(condition, yes, no) => match self.expr(condition, scope) {
                ir::Expr::Bool(true) => self.expr(yes, scope),
                ir::Expr::Bool(false) => self.expr(no, scope),
                condition => ir::Expr::Select(
                    Box::new(condition),
                    Box::new(self.expr(yes, scope)),
                    Box::new(self.expr(no, scope)),
                ),
            },
            Expr::Reduce(..) => unreachable!("the scheduler turns sums into loops"),
        }
    }

    pub(super) fn read(&self, access: &Access, scope: &Scope) -> ir::Expr {
        if let Some(Workspace::Scalar(variable)) = self.workspaces.get(&access.tensor) {
            return ir::Expr::Variable(*variable);
        }
        let (array, index) = self.place(access, scope);
        ir::Expr::load(array, index)
    }
}

fn has_parallel_loop(statement: &Statement) -> bool {
    match statement {
        Statement::Empty | Statement::Assign(_) => false,
        Statement::Forall { run: Run::Parallel | Run::ParallelOr(_), .. } => true,
        Statement::Forall { body, .. } => has_parallel_loop(body),
        Statement::Where { consumer, producer, .. } => has_parallel_loop(consumer) || has_parallel_loop(producer),
        Statement::Sequence(statements) => statements.iter().any(has_parallel_loop),
    }
}
