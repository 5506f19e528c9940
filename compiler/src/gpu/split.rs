//! A kernel's body cut into what the host does and what runs on the device.
//!
//! Each statement of the body is a step of the host (memory is made and filled), a parallel loop, which is launched, or part of
//! a launch of one thread with its neighbours. Variables that several launches share live in cells, arrays of one element.

use super::append::{self, Appended, Growth, Histories, Lengths};
use super::builder::{Builder, Map, Scratch, constant, private, take_scratch};
use super::plan::{Function, Module, Step, Threads};
use super::rewrite::{changed, declared, loaded, mentioned, replace_statements, rewrite};
use super::{Options, Refusal};
use crate::ir::{ArrayId, ArrayRole, Expr, Kernel, Parallel, Statement, VariableId};
use std::collections::{BTreeMap, BTreeSet};

/// The functions and steps of a kernel.
pub(crate) fn module(kernel: &Kernel, name: &str, options: Options, map: Map) -> Result<Module, Refusal> {
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
        map,
        module,
        options,
        cells: BTreeMap::new(),
        views: Vec::new(),
        carried: carried(&parts),
        histories: Histories::new(),
    };
    for part in &parts {
        match part {
            Part::Grid(parallel) => map(&mut builder, parallel, None)?,
            Part::Row(row) => {
                let parallel = builder.row(row);
                map(&mut builder, &parallel, None)?;
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
    Grid(Parallel),
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
                parts.push(Part::Grid((**parallel).clone()));
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
            Part::Grid(parallel) => vec![Statement::Parallel(Box::new(parallel.clone()))],
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

impl Builder {
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
                None,
                &mut self.histories,
            )?;
            for (offsets, _) in &parts.offsets {
                self.module.steps.push(Step::Make {
                    array: *offsets,
                    length: Expr::Index(2),
                    fill: Some(Expr::Index(0)),
                });
            }
            self.one_thread(parts.count.clone(), "counts what is appended")?;
            self.lengthen(&parts, &Expr::Index(1));
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
}

fn is_literal(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(_) | Expr::Index(_) | Expr::Bool(_))
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

/// Whether a body reads what several chunks update: each would see its own part alone.
pub(crate) fn reads_private(parallel: &Parallel) -> bool {
    let read = loaded(&parallel.body);
    parallel.sharing.iter().filter_map(private).any(|array| read.contains(&array))
}
