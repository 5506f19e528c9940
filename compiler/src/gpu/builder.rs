//! A plan as it is made: the functions and steps so far, and what mappings of loops have in common.

use super::append::{Appending, Histories};
use super::plan::{Function, Module, Step, Threads, bytes};
use super::rewrite::{SMALL, changed, declared, loaded, mentioned, replace_statements, without_dead};
use super::{Options, Refusal};
use crate::format::{Coordinate, IndexWidth};
use crate::ir::{
    ArrayElement, ArrayId, ArrayRole, BinaryOperator, Expr, Kernel, Parallel, ReduceOperator, Sharing, Statement,
    TensorId, Type, VariableId,
};
use crate::notation::Decision;
use std::collections::{BTreeMap, BTreeSet};

/// How a parallel loop is mapped, by the strategies behind the one of this name, or by all.
pub(crate) type Map = fn(&mut Builder, &Parallel, Option<&str>) -> Result<(), Refusal>;

/// The module so far.
pub(crate) struct Builder {
    /// How parallel loops are mapped.
    pub map: Map,
    pub module: Module,
    pub options: Options,
    pub cells: BTreeMap<VariableId, ArrayId>,
    /// Views of the body so far, which stand in each function that uses them.
    pub views: Vec<Statement>,
    pub carried: BTreeSet<VariableId>,
    /// How results have grown so far.
    pub histories: Histories,
}

impl Builder {
    /// The array that holds a variable which several functions share.
    pub(crate) fn cell(&mut self, variable: VariableId) -> ArrayId {
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
    pub(crate) fn on_host(&mut self, expr: &Expr) -> Expr {
        let cells: BTreeMap<VariableId, Expr> =
            self.cells.iter().map(|(&variable, &cell)| (variable, Expr::load(cell, Expr::Index(0)))).collect();
        let expr = expr.clone().substituted(&cells);
        outermost(&self.module.kernel, expr)
    }

    /// Adds a function, which begins with what it needs of other functions and ends with what they need of it.
    pub(crate) fn function(&mut self, function: Function) -> Result<usize, Refusal> {
        let mut function = function;
        self.refuse_lists(&function.body)?;
        let mut body = self.views_of(&function.body);
        body.append(&mut function.body);
        crate::ir::expand(&mut self.module.kernel, &mut body, &|_, _| false);
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
    pub(crate) fn decide(&mut self, what: String, why: &str) {
        let decision = Decision { what, why: why.to_owned() };
        if !self.module.decisions.contains(&decision) {
            self.module.decisions.push(decision);
        }
    }

    /// Room for what chunks append, and where each begins.
    pub(crate) fn lengthen(&mut self, appending: &Appending, chunks: &Expr) {
        for &array in &appending.by_one {
            let length = Expr::Length(array).plus(chunks.clone());
            self.module.steps.push(Step::Lengthen { array, length });
        }
        for (offsets, arrays) in &appending.offsets {
            // Arrays that are appended to together have one length.
            self.module.steps.push(Step::Scan { array: *offsets, first: Expr::Length(arrays[0]) });
            for array in arrays {
                let length = Expr::load(*offsets, chunks.clone());
                self.module.steps.push(Step::Lengthen { array: *array, length });
            }
        }
    }

    /// The steps of one way, which are not done yet.
    pub(crate) fn branch(
        &mut self,
        steps: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<Vec<Step>, Refusal> {
        let before = std::mem::take(&mut self.module.steps);
        let done = steps(self);
        let branch = std::mem::replace(&mut self.module.steps, before);
        done.map(|()| branch)
    }

    /// The number of elements of an array, for host and device.
    pub(crate) fn length_of(&self, array: ArrayId) -> Expr {
        let view = self.views.iter().find_map(|view| match view {
            Statement::View { array: other, length, .. } if *other == array => Some(length.clone()),
            _ => None,
        });
        view.unwrap_or(Expr::Length(array))
    }

    /// The number of positions above a level of a tensor, where the kernel's arrays tell it.
    pub(crate) fn parents(&self, tensor: TensorId, level: usize) -> Option<Expr> {
        parents(&self.module.kernel, tensor, level)
    }

    pub(crate) fn bytes_of(&self, array: ArrayId) -> u64 {
        bytes(&self.module.kernel, array)
    }

    /// An array for parts of another.
    pub(crate) fn array_like(&mut self, array: ArrayId, what: &str) -> ArrayId {
        let declared = self.module.kernel.array(array).clone();
        self.module.kernel.declare_array(&format!("{}_{what}", declared.name), declared.element, ArrayRole::Local)
    }

    pub(crate) fn identity_of(&self, array: ArrayId, operator: ReduceOperator) -> Expr {
        match self.module.kernel.array(array).element {
            ArrayElement::Value(element) => Expr::Literal(operator.identity(element).unwrap_or(element.zero())),
            ArrayElement::Index(_) => Expr::Index(0),
        }
    }
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

/// The arrays that a block reads or writes.
fn touched(body: &[Statement]) -> BTreeSet<ArrayId> {
    let mut touched = loaded(body);
    body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            touched.extend(statement.written_array());
        });
    });
    touched
}

/// Memory that threads have for themselves.
pub(crate) struct Scratch {
    /// An array of all threads.
    pub array: ArrayId,
    /// The length of a thread's part.
    pub length: Expr,
    /// What it holds at first, where threads do not fill it themselves.
    pub fill: Option<Expr>,
}

/// Gives every array that a thread allocates, unless it is small, a part of one in the device's memory. Those that are `kept` are
/// not filled for each place.
pub(crate) fn take_scratch(
    kernel: &mut Kernel,
    body: &mut Vec<Statement>,
    worker: Expr,
    kept: &BTreeSet<ArrayId>,
) -> Result<Vec<Scratch>, Refusal> {
    let mut scratch = Vec::new();
    let mut unknown = None;
    let statements = std::mem::take(body);
    *body = replace_statements(statements, &mut |statement| match statement {
        Statement::Allocate { array, length: Expr::Index(length), fill } if length <= SMALL => {
            vec![Statement::Allocate { array, length: Expr::Index(length), fill }]
        }
        Statement::Allocate { array, length, fill } => {
            let declared = kernel.array(array).clone();
            if !constant(&length) {
                unknown = Some(declared.name.clone());
            }
            let all = kernel.declare_array(&format!("{}_scratch", declared.name), declared.element, ArrayRole::Local);
            let is_kept = kept.contains(&array) && constant(&fill);
            let first = is_kept.then(|| fill.clone());
            scratch.push(Scratch { array: all, length: length.clone(), fill: first });
            let begin = worker.clone().times(length.clone());
            let view = Statement::View { array, of: all, begin, length, mutable: true };
            std::iter::once(view).chain((!is_kept).then_some(Statement::Fill(array, fill))).collect()
        }
        other => vec![other],
    });
    match unknown {
        Some(name) => Err(Refusal::new(
            format!("the length of the temporary `{name}` is known only where it is made"),
            "use the Rust backend",
        )),
        None => Ok(scratch),
    }
}

pub(crate) fn private((array, sharing): &(ArrayId, Sharing)) -> Option<ArrayId> {
    matches!(sharing, Sharing::Private(_) | Sharing::Segmented { .. }).then_some(*array)
}

/// The element of a cell that holds a variable.
pub(crate) fn cell_element(ty: Type) -> ArrayElement {
    match ty {
        Type::Index => ArrayElement::Index(IndexWidth::U64),
        Type::Bool => ArrayElement::Value(crate::ir::ElementType::Bool),
        Type::Element(element) => ArrayElement::Value(element),
    }
}

/// Steps that a plan has room for.
pub(crate) fn constant(expr: &Expr) -> bool {
    let mut is_constant = true;
    expr.for_each(&mut |expr| is_constant &= !matches!(expr, Expr::Variable(_) | Expr::Load(..) | Expr::Search { .. }));
    is_constant
}

/// A part of a number, between two others.
pub(crate) fn clamped(number: Expr, part: u64, least: u64, most: u64) -> Expr {
    let even = Expr::binary(BinaryOperator::Divide, number, Expr::Index(part));
    let upper = Expr::binary(BinaryOperator::Minimum, even, Expr::Index(most));
    Expr::binary(BinaryOperator::Maximum, upper, Expr::Index(least))
}
