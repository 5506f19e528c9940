//! Statements as CUDA C.

use super::helpers::wrapping_name;
use super::{Printer, element, type_name};
use crate::gpu::chunks::chunked;
use crate::gpu::plan::{Group, UNROLLED};
use crate::gpu::rewrite::{updated, writes};
use crate::ir::{BinaryOperator, Combine, Expr, ReduceOperator, Statement, Type, VariableId};

impl Printer<'_> {
    /// The statements of a block, whose scope the caller opens.
    pub(super) fn block(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    pub(super) fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Comment(text) => self.line(&format!("// {text}")),
            Statement::Let(variable, value) => {
                let value = self.expr(value);
                let declared = self.kernel.variable(*variable);
                let constant = if declared.mutable { "" } else { "const " };
                let ty = type_name(declared.ty);
                let name = self.declare_variable(*variable);
                self.line(&format!("{constant}{ty} {name} = {value};"));
            }
            Statement::Assign(variable, value) => {
                let name = self.variables[variable].clone();
                match value {
                    Expr::Binary(BinaryOperator::Add, first, step)
                        if **first == Expr::Variable(*variable)
                            && self.kernel.variable(*variable).ty == Type::Index =>
                    {
                        match **step {
                            Expr::Index(1) => self.line(&format!("{name}++;")),
                            _ => {
                                let step = self.expr(step);
                                self.line(&format!("{name} += {step};"));
                            }
                        }
                    }
                    value => {
                        let value = self.expr(value);
                        self.line(&format!("{name} = {value};"));
                    }
                }
            }
            Statement::Update(variable, operator, value) => {
                let (name, ty) = (self.variables[variable].clone(), self.kernel.variable(*variable).ty);
                let value = self.expr(value);
                self.update(&name, *operator, ty, &value);
            }
            Statement::Store(array, index, value) => {
                let (name, index, value) = (self.arrays[array].clone(), self.expr(index), self.stored(*array, value));
                self.line(&format!("{name}[{index}] = {value};"));
            }
            Statement::Reduce(array, index, operator, value) => {
                let (name, index) = (self.arrays[array].clone(), self.expr(index));
                let value = self.expr(value);
                let held = self.kernel.array(*array).element;
                let place = format!("{name}[{index}]");
                if !self.function.atomic.contains(array) {
                    return self.update(&place, *operator, held.ty(), &value);
                }
                self.define(*operator, held.ty());
                let update = self.helpers.atomic(*operator, held);
                let atomically = format!("{update}(&{place}, {value});");
                match self.function.owned.iter().find(|owned| owned.array == *array) {
                    Some(owned) => {
                        let [begin, end] = [owned.begin, owned.end].map(|bound| self.variables[&bound].clone());
                        self.line(&format!("if ({index} >= {begin} && {index} < {end}) {{"));
                        self.depth += 1;
                        self.update(&place, *operator, held.ty(), &value);
                        self.depth -= 1;
                        self.nest("} else", |printer| printer.line(&atomically));
                    }
                    None => self.line(&atomically),
                }
            }
            Statement::Allocate { array, length, fill } => {
                let (length, fill) = (self.operand(length), self.stored(*array, fill));
                let ty = element(self.kernel.array(*array).element);
                let name = self.declare_array(*array);
                self.line(&format!("{ty} {name}[{length}];"));
                self.extents.insert(*array, length.clone());
                self.fill(&name, &length, &fill);
            }
            Statement::Fill(array, value) => {
                let (name, value) = (self.arrays[array].clone(), self.stored(*array, value));
                let length = self.extents.get(array).unwrap_or_else(|| &self.lengths[array]).clone();
                self.fill(&name, &length, &value);
            }
            Statement::View { array, of, begin, length, mutable } => {
                let of = self.arrays[of].clone();
                let begin = self.expr(begin);
                let length = self.operand(length);
                let constant = if *mutable { "" } else { "const " };
                let ty = element(self.kernel.array(*array).element);
                let name = self.declare_array(*array);
                self.extents.insert(*array, length);
                let of = if begin == "0" { of } else { format!("{of} + {begin}") };
                self.line(&format!("{constant}{ty}* {name} = {of};"));
            }
            Statement::For { variable, begin, end, vector: true, body } if self.team.is_some() => {
                self.shared_loop(*variable, begin, end, body);
            }
            Statement::For { variable, begin, end, vector, body } => {
                if let Some(over) = self.over(*variable, body) {
                    return self.vector_loop(&over);
                }
                if let Some(group) = self.function.group().filter(|_| !*vector)
                    && let Some(batch) = self.batch(group, *variable, body)
                {
                    return self.batches(&batch, (begin, end), body);
                }
                self.counted_loop(*variable, (begin, end), *vector, body);
            }
            Statement::While(condition, body) => {
                let condition = self.expr(condition);
                self.nest(&format!("while ({condition})"), |printer| printer.block(body));
            }
            Statement::If(branches, otherwise) => self.branches(branches, otherwise),
            Statement::Reset { table, .. } => self.empty_table(*table),
            Statement::Insert { place, key, table, .. } => self.insert(*place, key, *table),
            Statement::Sort { table: Some(table), .. } => self.sort(*table),
            other => unreachable!("functions of a device have no `{}`", other.keyword()),
        }
    }

    /// A loop with a counter, of which the lanes of a group share the iterations out where it is a vector loop.
    pub(super) fn counted_loop(
        &mut self,
        variable: VariableId,
        (begin, end): (&Expr, &Expr),
        vector: bool,
        body: &[Statement],
    ) {
        let group = self.function.group().filter(|_| vector);
        if let Some(group) = group
            && let Some(arrays) = chunked(self.kernel, variable, begin, body)
        {
            self.chunks(group, (variable, begin, end), body, &arrays);
            return self.meet(group, body);
        }
        let by_vectors = group.filter(|_| *begin == Expr::Index(0));
        let over = by_vectors.and_then(|group| Some((group, self.over_shared(group, variable, end, body)?)));
        let has_rest = over.is_some();
        if let Some((group, over)) = over {
            self.shared_vectors(group, &over, &|printer| printer.vector_loop(&over));
        }
        let is_steady = self.is_steady(end);
        let (mut begin, mut end) = (self.at_least_sum(begin, group.is_some()), self.operand(end));
        let mut step = String::from("++");
        if let Some(group) = group {
            let lane = self.variables[&group.lane].clone();
            begin = if begin == "0" { lane } else { format!("{begin} + {lane}") };
            step = format!(" += {}", self.variables[&group.width]);
        }
        self.namer.enter();
        let name = self.declare_variable(variable);
        if !is_steady {
            let once = self.namer.name(&format!("{name}_end"));
            begin += &format!(", {once} = {end}");
            end = once;
        }
        if group.is_some() {
            self.line(&format!("#pragma unroll {UNROLLED}"));
        }
        self.nest(&format!("for (u64 {name} = {begin}; {name} < {end}; {name}{step})"), |printer| {
            printer.block(body);
        });
        self.namer.leave();
        if has_rest {
            self.depth -= 1;
            self.line("}");
        }
        if let Some(group) = group {
            self.meet(group, body);
        }
    }

    /// Text of an expression, to which something is added where `is_summand`.
    fn at_least_sum(&mut self, expr: &Expr, is_summand: bool) -> String {
        if is_summand { self.operand(expr) } else { self.expr(expr) }
    }

    /// What the lanes of a group do after a loop of which each has done a part.
    pub(super) fn meet(&mut self, group: Group, body: &[Statement]) {
        let half = format!("{} / 2", self.variables[&group.width]);
        for (variable, operator) in updated(body) {
            self.combine(variable, operator, "mates", &half);
        }
        if writes(body) {
            self.line("__syncwarp(mates);");
        }
    }

    /// Whether an expression costs little and is the same at every time that a loop asks for it.
    pub(super) fn is_steady(&self, expr: &Expr) -> bool {
        let written = |array| self.function.arrays().contains(&(array, true));
        let mut is_steady = true;
        expr.for_each(&mut |expr| {
            is_steady &= match expr {
                Expr::Search { .. } => false,
                Expr::Variable(variable) => !self.kernel.variable(*variable).mutable,
                Expr::Load(array, _) => self.arrays.contains_key(array) && !written(*array),
                _ => true,
            }
        });
        is_steady
    }

    fn branches(&mut self, branches: &[(Expr, Vec<Statement>)], otherwise: &[Statement]) {
        for (number, (condition, body)) in branches.iter().enumerate() {
            let condition = self.expr(condition);
            let word = if number == 0 { "if" } else { "} else if" };
            self.line(&format!("{word} ({condition}) {{"));
            self.inside(body);
        }
        if !otherwise.is_empty() {
            self.line("} else {");
            self.inside(otherwise);
        }
        self.line("}");
    }

    fn inside(&mut self, body: &[Statement]) {
        self.depth += 1;
        self.namer.enter();
        self.block(body);
        self.namer.leave();
        self.depth -= 1;
    }

    fn fill(&mut self, name: &str, length: &str, value: &str) {
        self.namer.enter();
        let n = self.namer.name("n");
        self.namer.leave();
        self.line(&format!("for (u64 {n} = 0; {n} < {length}; {n}++) {name}[{n}] = {value};"));
    }

    pub(super) fn update(&mut self, place: &str, operator: ReduceOperator, ty: Type, value: &str) {
        let is_integer = matches!(ty, Type::Element(element) if element.is_integer());
        match operator.combine(ty) {
            Some(Combine::Operator(binary))
                if binary.printed().is_some() && !(is_integer && wrapping_name(binary).is_some()) =>
            {
                self.line(&format!("{place} {operator}= {value};"));
            }
            _ => {
                let combined = self.combined(operator, ty, place, value);
                self.line(&format!("{place} = {combined};"));
            }
        }
    }
}
