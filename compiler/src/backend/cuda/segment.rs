//! A kernel's body cut into what the host does and what runs on the device.
//!
//! Each statement of the body is a step of the host (memory is made and filled), a parallel loop, which is launched, or part of
//! a launch of one thread with its neighbours. Variables that several launches share live in cells, arrays of one element.

use super::append::{self, Appended, Growth, Histories, Lengths};
use super::league::{Scratch, cell_element, constant, reads_private, take_scratch};
use super::plan::{Function, Module, Step, Threads};
use super::rewrite::{changed, declared, mentioned, replace_statements, rewrite, substituted, without_dead};
use super::{Options, Refusal};
use crate::format::Coordinate;
use crate::ir::{ArrayId, ArrayRole, Expr, Kernel, Parallel, Statement, TensorId, VariableId};
use crate::notation::Decision;
use std::collections::{BTreeMap, BTreeSet};

/// The functions and steps of a kernel.
pub(super) fn module(kernel: &Kernel, name: &str, options: Options) -> Result<Module, Refusal> {
    let declarations = Kernel { body: Vec::new(), ..kernel.clone() };
    let name_of_module = name.to_owned();
    let module = Module {
        name: name_of_module,
        kernel: declarations,
        functions: Vec::new(),
        steps: Vec::new(),
        decisions: Vec::new(),
    };
    let parts = parts(kernel)?;
    let mut builder = Builder {
        module,
        options,
        cells: BTreeMap::new(),
        views: Vec::new(),
        carried: carried(&parts),
        histories: Histories::new(),
    };
    for part in &parts {
        match part {
            Part::League(parallel) => builder.league(parallel)?,
            Part::Row(row) => {
                let parallel = builder.row(row);
                builder.league(&parallel)?;
            }
            Part::Serial(statements) => builder.serial(statements)?,
        }
    }
    let mut module = builder.module;
    let single = module.functions.len() == 1;
    for (number, function) in (1..).zip(&mut module.functions) {
        function.name = if single { name.to_owned() } else { format!("{name}_{number}") };
    }
    Ok(module)
}

/// A part of a body.
enum Part {
    /// Launched.
    League(Parallel),
    /// A vector loop, launched as well.
    Row(Statement),
    /// Statements for the host, or for one thread.
    Serial(Vec<Statement>),
}

fn parts(kernel: &Kernel) -> Result<Vec<Part>, Refusal> {
    let mut parts: Vec<Part> = Vec::new();
    for statement in &kernel.body {
        let grown = match statement {
            Statement::List(array)
            | Statement::Table { table: array, .. }
            | Statement::Bitmap { bitmap: array, .. } => Some(*array),
            _ => None,
        };
        if let Some(array) = grown {
            let what = format!("the list `{}` would grow on the device", kernel.array(array).name);
            return Err(Refusal::new(what, "use the Rust backend"));
        }
        match statement {
            Statement::Comment(_) => {}
            Statement::Parallel(parallel) if !reads_private(parallel) => {
                parts.push(Part::League((**parallel).clone()));
            }
            Statement::For { vector: true, body, .. } if is_independent(body) => {
                parts.push(Part::Row(statement.clone()))
            }
            other => {
                let statements = serialized(other.clone());
                match parts.last_mut() {
                    Some(Part::Serial(block)) => block.extend(statements),
                    _ => parts.push(Part::Serial(statements)),
                }
            }
        }
    }
    Ok(parts)
}

/// Whether the iterations of a vector loop may be threads.
fn is_independent(body: &[Statement]) -> bool {
    let own = declared(body);
    let mut is_simple = true;
    body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            is_simple &=
                !matches!(statement, Statement::Push(..) | Statement::Extend { .. } | Statement::Insert { .. });
        });
    });
    is_simple && changed(body).iter().all(|variable| own.contains(variable))
}

/// A statement in which parallel loops run from their begin to their end.
fn serialized(statement: Statement) -> Vec<Statement> {
    replace_statements(vec![statement], &mut |statement| match statement {
        Statement::Parallel(parallel) => {
            let Parallel { begin, end, low, high, body, .. } = *parallel;
            [Statement::Let(low, begin), Statement::Let(high, end)].into_iter().chain(body).collect()
        }
        other => vec![other],
    })
}

/// The variables that are declared in one part and used in others.
fn carried(parts: &[Part]) -> BTreeSet<VariableId> {
    let mut declaring: BTreeMap<VariableId, usize> = BTreeMap::new();
    let mut carried = BTreeSet::new();
    for (number, part) in parts.iter().enumerate() {
        let block = match part {
            Part::League(parallel) => vec![Statement::Parallel(Box::new(parallel.clone()))],
            Part::Row(row) => vec![row.clone()],
            Part::Serial(statements) => statements.clone(),
        };
        declared(&block).into_iter().for_each(|variable| {
            declaring.insert(variable, number);
        });
        let foreign = |variable: &VariableId| declaring.get(variable).is_some_and(|&other| other != number);
        carried.extend(mentioned(&block).into_iter().filter(foreign));
    }
    carried
}

/// The module so far.
pub(super) struct Builder {
    pub module: Module,
    pub options: Options,
    cells: BTreeMap<VariableId, ArrayId>,
    /// Views of the body so far, which stand in each function that uses them.
    pub views: Vec<Statement>,
    carried: BTreeSet<VariableId>,
    /// How results have grown so far.
    pub histories: Histories,
}

impl Builder {
    /// The array that holds a variable which several functions share.
    pub(super) fn cell(&mut self, variable: VariableId) -> ArrayId {
        if let Some(&cell) = self.cells.get(&variable) {
            return cell;
        }
        let declared = self.module.kernel.variable(variable).clone();
        let cell = self.module.kernel.declare_array(
            &format!("{}_cell", declared.name),
            cell_element(declared.ty),
            ArrayRole::Local,
        );
        self.cells.insert(variable, cell);
        cell
    }

    /// An expression that the host can evaluate. What all coordinates of an outermost level lie between needs no load.
    pub(super) fn on_host(&mut self, expr: &Expr) -> Expr {
        let cells: BTreeMap<VariableId, Expr> =
            self.cells.iter().map(|(&variable, &cell)| (variable, Expr::load(cell, Expr::Index(0)))).collect();
        let expr = substituted(expr.clone(), &cells);
        outermost(&self.module.kernel, expr)
    }

    /// A vector loop as a parallel one.
    fn row(&mut self, row: &Statement) -> Parallel {
        let kernel = &mut self.module.kernel;
        let (low, high) = (kernel.declare_index("low"), kernel.declare_index("high"));
        let Statement::For { variable, begin, end, body, .. } = row.clone() else { unreachable!("rows are loops") };
        let places =
            Statement::For { variable, begin: Expr::Variable(low), end: Expr::Variable(high), vector: false, body };
        Parallel::over(begin, end, low, high, vec![places])
    }

    /// What stands between launches.
    fn serial(&mut self, statements: &[Statement]) -> Result<(), Refusal> {
        let mut pending = Vec::new();
        for statement in statements {
            let step = match statement {
                Statement::Let(variable, value) if self.carried.contains(variable) && is_literal(value) => {
                    let array = self.cell(*variable);
                    Some(Step::Make { array, length: Expr::Index(1), fill: Some(value.clone()) })
                }
                Statement::Allocate { array, length, fill } if constant(length) && is_literal(fill) => {
                    Some(Step::Make { array: *array, length: length.clone(), fill: Some(fill.clone()) })
                }
                Statement::Fill(array, value) if is_literal(value) && !self.is_view(*array) => {
                    Some(Step::Fill { array: *array, value: value.clone() })
                }
                _ => None,
            };
            match (step, statement) {
                (Some(step), _) => {
                    self.one(std::mem::take(&mut pending))?;
                    self.module.steps.push(step);
                }
                (None, Statement::View { .. }) => self.views.push(statement.clone()),
                (None, _) => pending.push(statement.clone()),
            }
        }
        self.one(pending)
    }

    fn is_view(&self, array: ArrayId) -> bool {
        self.views.iter().any(|view| matches!(view, Statement::View { array: other, .. } if *other == array))
    }

    /// A launch of one thread.
    fn one(&mut self, statements: Vec<Statement>) -> Result<(), Refusal> {
        if statements.iter().all(|statement| matches!(statement, Statement::Comment(_))) {
            return Ok(());
        }
        let appended = self.appended(&statements);
        let mut body = statements;
        if let Some(pushes) = straight(&body, &appended) {
            body = self.push_straight(body, &pushes);
        } else if !appended.is_empty() {
            let chunk = Expr::Index(0);
            let parts = append::take_apart(
                &mut self.module.kernel,
                &body,
                &appended,
                Lengths::OfArray,
                &chunk,
                &mut self.histories,
            )?;
            for (offsets, _) in &parts.offsets {
                self.module.steps.push(Step::Make {
                    array: *offsets,
                    length: Expr::Index(2),
                    fill: Some(Expr::Index(0)),
                });
            }
            self.one_thread(parts.count, "counts what is appended")?;
            self.lengthen(&parts.offsets, &Expr::Index(1));
            body = parts.write;
        }
        self.one_thread(body, "one thread: what is left to do in order")
    }

    fn one_thread(&mut self, body: Vec<Statement>, comment: &str) -> Result<(), Refusal> {
        let mut body = body;
        let scratch = take_scratch(&mut self.module.kernel, &mut body, Expr::Index(0), &BTreeSet::new())?;
        for Scratch { array, length, fill } in scratch {
            let length = self.on_host(&length);
            self.module.steps.push(Step::Make { array, length, fill });
        }
        let function = self.function(Function {
            name: String::new(),
            comment: comment.to_owned(),
            threads: Threads::One,
            body,
            atomic: BTreeSet::new(),
            owned: Vec::new(),
            tiles: Vec::new(),
            tables: Vec::new(),
            block: 1,
            totals: Vec::new(),
        })?;
        let places = Expr::Index(1);
        self.module.steps.push(Step::Launch { function, places, lanes: None, workers: None, blocks: None });
        Ok(())
    }

    /// The results that statements append to, with what the elements of each are positions of.
    fn appended(&self, statements: &[Statement]) -> Vec<Appended> {
        let mut arrays = BTreeSet::new();
        statements.iter().for_each(|statement| {
            statement.for_each(&mut |statement| {
                if let Statement::Push(array, _) | Statement::Extend { array, .. } = statement
                    && self.module.kernel.array(*array).role != ArrayRole::Local
                {
                    arrays.insert(*array);
                }
            });
        });
        arrays.into_iter().map(|array| (array, None)).collect()
    }

    /// A body that appends a known number of elements, after room for them was made.
    fn push_straight(&mut self, body: Vec<Statement>, pushes: &BTreeMap<ArrayId, u64>) -> Vec<Statement> {
        for (array, count) in pushes {
            self.histories.entry(*array).or_default().push(Growth::By(*count));
            let length = Expr::Length(*array).plus(Expr::Index(*count));
            self.module.steps.push(Step::Lengthen { array: *array, length });
        }
        let mut rest = pushes.clone();
        let length = |rest: &BTreeMap<ArrayId, u64>, array: ArrayId| {
            let still = rest.get(&array).copied().unwrap_or(0);
            Expr::Length(array).minus(Expr::Index(still))
        };
        let mut done = Vec::with_capacity(body.len());
        for mut statement in body {
            rewrite(std::slice::from_mut(&mut statement), &mut |expr| match expr {
                Expr::Length(array) => length(&rest, array),
                other => other,
            });
            done.push(match statement {
                Statement::Push(array, value) => {
                    let place = length(&rest, array);
                    rest.entry(array).and_modify(|rest| *rest -= 1);
                    Statement::Store(array, place, value)
                }
                other => other,
            });
        }
        done
    }

    /// Adds a function, which begins with what it needs of other functions and ends with what they need of it.
    pub(super) fn function(&mut self, function: Function) -> Result<usize, Refusal> {
        let mut function = function;
        self.refuse_lists(&function.body)?;
        let mut body = self.views_of(&function.body);
        body.append(&mut function.body);
        let own = declared(&body);
        let (mentioned, changed) = (mentioned(&body), changed(&body));
        let is_total = |variable: &VariableId| function.totals.iter().any(|total| total.variable == *variable);
        let mut begin = Vec::new();
        let mut end = Vec::new();
        for variable in self.carried.clone() {
            if is_total(&variable) || !mentioned.contains(&variable) && !own.contains(&variable) {
                continue;
            }
            let cell = self.cell(variable);
            if own.contains(&variable) {
                self.make_cell(cell);
            } else {
                begin.push(Statement::Let(variable, Expr::load(cell, Expr::Index(0))));
            }
            if function.threads == Threads::One && (own.contains(&variable) || changed.contains(&variable)) {
                end.push(Statement::Store(cell, Expr::Index(0), Expr::Variable(variable)));
            }
        }
        begin.append(&mut body);
        begin.append(&mut end);
        function.body = without_dead(&self.module.kernel, begin, &function.results());
        self.module.functions.push(function);
        Ok(self.module.functions.len() - 1)
    }

    fn make_cell(&mut self, cell: ArrayId) {
        let mut is_made = false;
        self.module.steps.iter().for_each(|step| {
            step.for_each(&mut |step| is_made |= matches!(step, Step::Make { array, .. } if *array == cell));
        });
        if !is_made {
            self.module.steps.push(Step::Make { array: cell, length: Expr::Index(1), fill: None });
        }
    }

    /// The views that a body uses.
    fn views_of(&self, body: &[Statement]) -> Vec<Statement> {
        let mut used: Vec<Statement> = Vec::new();
        let mut touched = touched(body);
        for view in self.views.iter().rev() {
            if let Statement::View { array, of, .. } = view
                && touched.contains(array)
            {
                touched.insert(*of);
                used.insert(0, view.clone());
            }
        }
        used
    }

    fn refuse_lists(&self, body: &[Statement]) -> Result<(), Refusal> {
        let mut list = None;
        body.iter().for_each(|statement| {
            statement.for_each(&mut |statement| {
                if let Statement::List(array)
                | Statement::Table { table: array, .. }
                | Statement::Bitmap { bitmap: array, .. } = statement
                {
                    list = list.or(Some(*array));
                }
            });
        });
        let Some(list) = list else { return Ok(()) };
        let what = format!("the list `{}` would grow on the device", self.module.kernel.array(list).name);
        Err(Refusal::new(what, "use the Rust backend, or ask for a dense result"))
    }

    /// Keeps why something is as it is.
    pub(super) fn decide(&mut self, what: String, why: &str) {
        let decision = Decision { what, why: why.to_owned() };
        if !self.module.decisions.contains(&decision) {
            self.module.decisions.push(decision);
        }
    }
}

fn is_literal(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(_) | Expr::Index(_) | Expr::Bool(_))
}

/// What the positions of all parents begin and end with needs no load: there are as many as coordinates.
fn outermost(kernel: &Kernel, expr: Expr) -> Expr {
    let expr = expr.map_children(&mut |child| outermost(kernel, child));
    let Expr::Load(array, index) = &expr else { return expr };
    let ArrayRole::Positions { tensor, level } = kernel.array(*array).role else { return expr };
    if !kernel.tensor(tensor).format.levels[level].format.kind.is_compressed() || kernel.is_output(tensor) {
        return expr;
    }
    match &**index {
        Expr::Index(0) => Expr::Index(0),
        index if parents(kernel, tensor, level).as_ref() == Some(index) => {
            positions(kernel, tensor, level).unwrap_or(expr)
        }
        _ => expr,
    }
}

/// The number of positions above a level of a tensor.
fn parents(kernel: &Kernel, tensor: TensorId, level: usize) -> Option<Expr> {
    level.checked_sub(1).map_or(Some(Expr::Index(1)), |above| positions(kernel, tensor, above))
}

/// The number of positions of a level of a tensor, where the kernel's arrays tell it.
fn positions(kernel: &Kernel, tensor: TensorId, level: usize) -> Option<Expr> {
    let own = &kernel.tensor(tensor).format.levels[level];
    match (own.format.kind, &own.coordinate) {
        (kind, Coordinate::Mode(mode)) if kind.is_dense() => {
            let extent = Expr::Dimension(kernel.tensor(tensor).dimensions[*mode]);
            Some(parents(kernel, tensor, level)?.times(extent))
        }
        (kind, _) if kind.is_compressed() => {
            let coordinates = ArrayRole::Coordinates { tensor, level };
            kernel.parameters().find(|(_, array)| array.role == coordinates).map(|(array, _)| Expr::Length(array))
        }
        _ => None,
    }
}

/// How many elements each array gets, where that is known: nothing is appended in loops or under conditions.
fn straight(body: &[Statement], appended: &[Appended]) -> Option<BTreeMap<ArrayId, u64>> {
    let mut pushes: BTreeMap<ArrayId, u64> = BTreeMap::new();
    for statement in body {
        match statement {
            Statement::Push(array, _) => *pushes.entry(*array).or_default() += 1,
            other => {
                let mut appends = false;
                other.for_each(&mut |statement| {
                    appends |= matches!(statement, Statement::Push(..) | Statement::Extend { .. });
                });
                if appends {
                    return None;
                }
            }
        }
    }
    let is_result = |array: &ArrayId| appended.iter().any(|(other, _)| other == array);
    (!pushes.is_empty() && pushes.keys().all(is_result)).then_some(pushes)
}

/// The arrays that a block reads or writes.
fn touched(body: &[Statement]) -> BTreeSet<ArrayId> {
    let mut touched = super::rewrite::loaded(body);
    body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            touched.extend(statement.written_array());
        });
    });
    touched
}
