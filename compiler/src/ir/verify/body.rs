//! The rules of statements: one walk in the order of the text, with what is in scope at each place.

use super::Violation;
use crate::ir::*;
use std::collections::BTreeSet;

pub(super) fn check(kernel: &Kernel) -> Vec<Violation> {
    let made = |array: &Array| (array.role != ArrayRole::Local).then_some(Made::Parameter);
    let mut body = Body {
        kernel,
        path: "body".to_owned(),
        violations: Vec::new(),
        variables: vec![None; kernel.variables.len()],
        arrays: kernel.arrays.iter().map(made).collect(),
        declared: Vec::new(),
        region: None,
        vector: None,
        block: 0,
    };
    body.block("body", &kernel.body);
    body.violations
}

/// A variable or a local array, to be forgotten at the end of its block.
enum Declared {
    Variable(VariableId),
    Array(ArrayId),
}

/// How an array in scope came about.
#[derive(Clone, Copy)]
enum Made {
    Parameter,
    Allocated { when: usize },
    List { when: usize },
    Table { when: usize },
    Bitmap { when: usize },
    Directory,
    View { of: ArrayId, mutable: bool, when: usize },
    Numbers,
}

/// What is done with an array.
#[derive(Clone, Copy, PartialEq)]
enum Access {
    Length,
    Read,
    Store,
    Reduce(ReduceOperator),
    Fill,
    Append,
    MutableView,
    Sort,
    Insert,
    Mark,
    LookUp,
}

impl Access {
    fn writes(self) -> bool {
        !matches!(self, Access::Length | Access::Read | Access::LookUp)
    }
}

/// The parallel loop around a statement.
#[derive(Clone, Copy)]
struct Region<'k> {
    node: &'k Parallel,
    /// What was declared when it began: later than this means inside.
    since: usize,
}

struct Body<'k> {
    kernel: &'k Kernel,
    path: String,
    violations: Vec<Violation>,
    /// For each variable in scope, how many declarations were in scope before it.
    variables: Vec<Option<usize>>,
    /// For each array in scope, how it was made.
    arrays: Vec<Option<Made>>,
    /// The declarations in scope, oldest first.
    declared: Vec<Declared>,
    region: Option<Region<'k>>,
    /// What was declared when the innermost vector loop began.
    vector: Option<usize>,
    /// What was declared when the innermost block began.
    block: usize,
}

impl<'k> Body<'k> {
    fn report(&mut self, rule: u32, message: String) {
        self.violations.push(Violation { rule, path: self.path.clone(), message });
    }

    fn name(&self, array: ArrayId) -> String {
        self.kernel.show(&array).to_string()
    }

    // Blocks and statements.

    fn block(&mut self, path: &str, body: &'k [Statement]) {
        let declared = self.declared.len();
        let around = std::mem::replace(&mut self.block, declared);
        for (number, statement) in body.iter().enumerate() {
            self.path = format!("{path}/{number}.{}", statement.keyword());
            self.statement(statement);
        }
        self.path = path.to_owned();
        self.forget(declared);
        self.block = around;
    }

    /// Ends the scope of everything but the oldest `keep` declarations.
    fn forget(&mut self, keep: usize) {
        for declared in self.declared.drain(keep..) {
            match declared {
                Declared::Variable(id) => self.variables[id.index()] = None,
                Declared::Array(id) => self.arrays[id.index()] = None,
            }
        }
    }

    fn statement(&mut self, statement: &'k Statement) {
        match statement {
            Statement::Comment(_) => {}
            Statement::Let(id, value) => {
                self.expr(value, self.kernel.variable(*id).ty);
                self.declare(*id);
            }
            Statement::Assign(id, value) => self.assign(*id, None, value),
            Statement::Update(id, operator, value) => self.assign(*id, Some(*operator), value),
            Statement::Store(id, index, value) => self.element(*id, index, value, Access::Store),
            Statement::Reduce(id, index, operator, value) => {
                self.reduces(*operator, self.element_type(*id));
                self.element(*id, index, value, Access::Reduce(*operator));
            }
            Statement::Allocate { array, length, fill } => {
                self.expr(length, Type::Index);
                self.expr(fill, self.element_type(*array));
                self.make(*array, Made::Allocated { when: self.declared.len() });
            }
            Statement::Folds { totals, terms, between } => {
                self.expr(terms, self.element_type(*totals));
                if !matches!(terms, Expr::Fold(..)) {
                    self.report(4, format!("{} gets totals of no terms", self.name(*totals)));
                }
                if let Some(positions) = between {
                    self.indices(*positions);
                    self.touch(*positions, Access::Read);
                }
                self.touch(*totals, Access::Fill);
            }
            Statement::Fill(id, value) => {
                self.expr(value, self.element_type(*id));
                self.touch(*id, Access::Fill);
            }
            Statement::View { array, of, begin, length, mutable } => {
                self.view(*array, *of, *mutable);
                self.expr(begin, Type::Index);
                self.expr(length, Type::Index);
                self.make(*array, Made::View { of: *of, mutable: *mutable, when: self.declared.len() });
            }
            Statement::Numbers { array, codes, mask, below } => {
                [array, codes].into_iter().for_each(|id| self.indices(*id));
                self.touch(*codes, Access::Read);
                self.expr(mask, Type::Index);
                self.expr(below, Type::Index);
                self.make(*array, Made::Numbers);
            }
            Statement::List(array) => self.make(*array, Made::List { when: self.declared.len() }),
            Statement::Table { table, extent } => {
                self.expr(extent, Type::Index);
                self.indices(*table);
                self.make(*table, Made::Table { when: self.declared.len() });
            }
            Statement::Directory { directory, positions, coordinates, extent, sought } => {
                self.expr(extent, Type::Index);
                for array in [*positions, *coordinates, *sought] {
                    self.indices(array);
                    self.touch(array, Access::Read);
                }
                self.indices(*directory);
                self.make(*directory, Made::Directory);
            }
            Statement::Bitmap { bitmap, extent } => {
                self.expr(extent, Type::Index);
                self.indices(*bitmap);
                self.make(*bitmap, Made::Bitmap { when: self.declared.len() });
            }
            Statement::Mark(bitmap, key) => {
                self.not_in_vector("mark");
                self.expr(key, Type::Index);
                self.touch(*bitmap, Access::Mark);
            }
            Statement::Insert { place, key, keys, table } => {
                self.not_in_vector("insert");
                self.expr(key, Type::Index);
                self.indices(*keys);
                self.touch(*keys, Access::Sort);
                self.touch(*table, Access::Insert);
                self.declare_place(*place);
            }
            Statement::Sort { keys, places, table } => {
                table.iter().for_each(|table| self.touch(*table, Access::Insert));
                [keys, places].into_iter().for_each(|list| self.whole_list(*list));
                if keys == places {
                    self.report(19, format!("{} is sorted, and told of itself where it stood", self.name(*keys)));
                }
            }
            Statement::Clear(list) => {
                self.not_in_vector("clear");
                self.touch(*list, Access::Sort);
            }
            Statement::Reset { keys, table } => {
                self.whole_list(*keys);
                self.touch(*table, Access::Insert);
            }
            Statement::Push(id, value) => self.append(*id, value),
            Statement::Extend { array, count, fill } => {
                self.expr(count, Type::Index);
                self.append(*array, fill);
            }
            Statement::For { .. }
            | Statement::While(..)
            | Statement::Merge(_)
            | Statement::Marked { .. }
            | Statement::If(..) => self.compound(statement),
            Statement::Parallel(node) => self.parallel(node),
        }
    }

    fn compound(&mut self, statement: &'k Statement) {
        let path = self.path.clone();
        match statement {
            Statement::For { variable, begin, end, vector, body } => {
                self.expr(begin, Type::Index);
                self.expr(end, Type::Index);
                let (keep, outer) = (self.declared.len(), self.vector);
                if *vector {
                    self.vector = Some(keep);
                }
                self.declare_place(*variable);
                self.block(&path, body);
                self.vector = outer;
                self.forget(keep);
            }
            Statement::Marked { variable, bitmap, body } => {
                self.not_in_vector("marked");
                self.touch(*bitmap, Access::Mark);
                let keep = self.declared.len();
                self.declare_place(*variable);
                // It can't be mentioned while it is gone through.
                let made = self.arrays[bitmap.index()].take();
                self.block(&path, body);
                self.arrays[bitmap.index()] = made;
                self.forget(keep);
            }
            Statement::While(condition, body) => {
                self.not_in_vector("while");
                self.expr(condition, Type::Bool);
                self.block(&path, body);
            }
            Statement::Merge(merge) => self.merge(&path, merge),
            Statement::If(branches, otherwise) => {
                if branches.is_empty() {
                    self.report(18, "it has no branch".to_owned());
                }
                for (number, (condition, body)) in branches.iter().enumerate() {
                    self.path.clone_from(&path);
                    self.expr(condition, Type::Bool);
                    self.block(&format!("{path}/branch {number}"), body);
                }
                self.block(&format!("{path}/else"), otherwise);
            }
            _ => {}
        }
    }

    fn merge(&mut self, path: &str, merge: &'k Merge) {
        self.not_in_vector("merge");
        if let Some(look_up) = &merge.directory {
            self.expr(&look_up.parent, Type::Index);
            self.touch(look_up.directory, Access::LookUp);
        }
        for walk in &merge.walks {
            self.expr(&walk.begin, Type::Index);
            self.expr(&walk.end, Type::Index);
        }
        for walk in &merge.walks {
            let keep = self.declared.len();
            self.declare_place(walk.place);
            self.expr(&walk.at, Type::Index);
            self.forget(keep);
        }
        if merge.walks.is_empty() || merge.walks.len() > 63 || merge.points.is_empty() {
            self.report(18, "it has no list, too many, or no point".to_owned());
        }
        for (number, point) in merge.points.iter().enumerate() {
            if point.operands.count() == 0 || !point.operands.is_subset(Operands::all(merge.walks.len().min(63))) {
                self.report(18, format!("point {number} is of no lists, or of others"));
                continue;
            }
            let keep = self.declared.len();
            for walk in point.operands.iter().map(|list| &merge.walks[list]) {
                self.declare_place(walk.place);
                walk.run.iter().for_each(|run| self.declare_place(*run));
            }
            self.declare_place(merge.coordinate);
            self.path.clone_from(&path.to_owned());
            self.block(&format!("{path}/point {number}"), &point.body);
            self.forget(keep);
        }
    }

    fn not_in_vector(&mut self, what: &str) {
        if self.vector.is_some() {
            self.report(15, format!("`{what}` stands in a vector loop"));
        }
    }

    // Expressions.

    /// An expression that should be of a type.
    fn expr(&mut self, expr: &Expr, ty: Type) {
        self.mentions(expr);
        if let Err(message) = self.kernel.expect(expr, ty) {
            self.report(2, message);
        }
    }

    /// What an expression reads must be in scope and open to it.
    fn mentions(&mut self, expr: &Expr) {
        expr.for_each(&mut |inner| match inner {
            Expr::Variable(id) => self.read(*id),
            Expr::Length(id) => self.touch(*id, Access::Length),
            other => other.for_each_array(&mut |id| self.touch(id, Access::Read)),
        });
    }

    fn reduces(&mut self, operator: ReduceOperator, ty: Type) {
        if !operator.reduces(ty) {
            self.report(16, format!("`{operator}` has no identity for `{ty}`"));
        }
    }

    // Variables.

    fn declare(&mut self, id: VariableId) {
        if self.variables[id.index()].is_some() {
            self.report(3, format!("{} is declared again while it is in scope", self.kernel.show(&id)));
        } else {
            self.variables[id.index()] = Some(self.declared.len());
            self.declared.push(Declared::Variable(id));
        }
    }

    /// A counter, or a place of a parallel loop.
    fn declare_place(&mut self, id: VariableId) {
        let Variable { ty, mutable, .. } = self.kernel.variable(id);
        if *mutable || *ty != Type::Index {
            self.report(3, format!("{} is a place, but not an immutable index", self.kernel.show(&id)));
        }
        self.declare(id);
    }

    /// Whether the variable is in scope; reports it if not.
    fn in_scope(&mut self, id: VariableId) -> Option<usize> {
        let when = self.variables[id.index()];
        if when.is_none() {
            self.report(3, format!("{} is not in scope here", self.kernel.show(&id)));
        }
        when
    }

    fn read(&mut self, id: VariableId) {
        let Some(when) = self.in_scope(id) else { return };
        let outside = self.region.is_some_and(|region| when < region.since);
        if outside && self.kernel.variable(id).mutable {
            let name = self.kernel.show(&id);
            self.report(10, format!("{name} is mutable and from outside the parallel loop, but is read inside"));
        }
    }

    /// `id = value` or `id operator= value`
    fn assign(&mut self, id: VariableId, operator: Option<ReduceOperator>, value: &Expr) {
        let Variable { ty, mutable, .. } = *self.kernel.variable(id);
        self.expr(value, ty);
        if let Some(operator) = operator {
            self.reduces(operator, ty);
        }
        let name = self.kernel.show(&id);
        if !mutable {
            self.report(4, format!("{name} is not mutable"));
        }
        let Some(when) = self.in_scope(id) else { return };
        if operator.is_none() && self.vector.is_some_and(|since| when < since) {
            self.report(15, format!("{name} is from outside the vector loop, but is assigned inside"));
        }
        let Some(region) = self.region.filter(|region| when < region.since) else { return };
        match region.node.reductions.iter().find(|(reduced, _)| *reduced == id) {
            Some((_, expected)) if operator == Some(*expected) => {}
            Some((_, expected)) => self.report(10, format!("{name} is only updated with `{expected}` inside")),
            None => self.report(10, format!("{name} is from outside the parallel loop, but is not in `reducing`")),
        }
    }

    // Arrays.

    fn element_type(&self, array: ArrayId) -> Type {
        self.kernel.array(array).element.ty()
    }

    /// `array[index] = value` and `array[index] operator= value`
    fn element(&mut self, array: ArrayId, index: &Expr, value: &Expr, access: Access) {
        self.expr(index, Type::Index);
        self.expr(value, self.element_type(array));
        self.touch(array, access);
    }

    fn append(&mut self, array: ArrayId, value: &Expr) {
        self.not_in_vector("append");
        self.expr(value, self.element_type(array));
        self.touch(array, Access::Append);
    }

    /// An array that must hold indices.
    fn indices(&mut self, array: ArrayId) {
        if self.element_type(array) != Type::Index {
            self.report(2, format!("{} holds values, not indices", self.name(array)));
        }
    }

    /// A list of indices that changes as a whole.
    fn whole_list(&mut self, list: ArrayId) {
        self.not_in_vector("sort");
        self.indices(list);
        self.touch(list, Access::Sort);
    }

    /// Ends the views of an array that stand in the same block and would be in the way of another that begins there.
    fn end_views(&mut self, of: ArrayId, is_mutable: bool) {
        for place in self.block..self.declared.len() {
            let Declared::Array(view) = self.declared[place] else { continue };
            let is_viewed = self.arrays.iter().any(|made| matches!(made, Some(Made::View { of, .. }) if *of == view));
            let is_in_the_way = match self.arrays[view.index()] {
                Some(Made::View { of: viewed, mutable, .. }) => viewed == of && (mutable || is_mutable),
                _ => false,
            };
            if is_in_the_way && !is_viewed {
                self.arrays[view.index()] = None;
            }
        }
    }

    fn view(&mut self, array: ArrayId, of: ArrayId, mutable: bool) {
        self.end_views(of, mutable);
        self.touch(of, if mutable { Access::MutableView } else { Access::Read });
        let (own, viewed) = (self.kernel.array(array).element, self.kernel.array(of).element);
        if own != viewed {
            self.report(2, format!("{} has elements `{own}`, but what it views has `{viewed}`", self.name(array)));
        }
    }

    fn make(&mut self, array: ArrayId, made: Made) {
        if self.kernel.array(array).role != ArrayRole::Local {
            self.report(5, format!("{} is a parameter, but is made here", self.name(array)));
        } else if self.arrays[array.index()].is_some() {
            self.report(5, format!("{} is made again while it is in scope", self.name(array)));
        } else {
            self.arrays[array.index()] = Some(made);
            self.declared.push(Declared::Array(array));
        }
    }

    /// Checks what is done with an array against its scope, its role, the views of it and the parallel loop around.
    fn touch(&mut self, array: ArrayId, access: Access) {
        let Some(made) = self.arrays[array.index()] else {
            return self.report(5, format!("{} is not in scope here", self.name(array)));
        };
        if let Some((rule, message)) = self.forbidden(array, made, access) {
            self.report(rule, message);
        }
        self.views_allow(array, access);
        if let Some(region) = self.region {
            self.sharing_allows(region, array, access);
        }
    }

    /// Why an array can't be used so, whatever stands around.
    fn forbidden(&self, array: ArrayId, made: Made, access: Access) -> Option<(u32, String)> {
        let name = self.name(array);
        match (made, access) {
            (Made::Table { .. }, Access::Insert) => return None,
            (Made::Table { .. }, _) => return Some((19, format!("{name} is a table, but is used as an array"))),
            (_, Access::Insert) => return Some((19, format!("{name} is used as a table, but is none"))),
            (Made::Bitmap { .. }, Access::Mark) => return None,
            (Made::Bitmap { .. }, _) => return Some((19, format!("{name} is a bitmap, but is used as an array"))),
            (_, Access::Mark) => return Some((19, format!("{name} is used as a bitmap, but is none"))),
            (Made::Directory, Access::LookUp) => return None,
            (Made::Directory, _) => return Some((19, format!("{name} is a directory, but is used as an array"))),
            (_, Access::LookUp) => return Some((19, format!("{name} is used as a directory, but is none"))),
            (Made::List { .. }, _) => return None,
            (_, Access::Sort) => {
                return Some((19, format!("{name} is sorted, cleared or inserted to, but is no list")));
            }
            _ if !access.writes() => return None,
            _ => {}
        }
        let role = self.kernel.array(array).role;
        let Some(tensor) = role.tensor() else {
            return match made {
                _ if access == Access::Append => Some((7, format!("{name} is local and can't grow"))),
                Made::View { mutable: false, .. } => Some((6, format!("{name} is a view that is not mutable"))),
                Made::Numbers => Some((6, format!("{name} holds the numbers of codes, which are not written"))),
                _ => None,
            };
        };
        let Source::Output { structure, .. } = self.kernel.tensor(tensor).source else {
            return Some((6, format!("{name} belongs to a tensor that is not an output")));
        };
        let is_values = matches!(role, ArrayRole::Values { .. });
        match (structure == Structure::Appended, access) {
            (_, Access::Fill) => Some((6, format!("{name} is filled, but is not local"))),
            (false, Access::Append) => Some((7, format!("{name} does not belong to an appended output"))),
            (true, access) if access != Access::Append && !is_values => {
                Some((7, format!("{name} is an index array of an appended output, and only appended to")))
            }
            _ => None,
        }
    }

    fn views_allow(&mut self, array: ArrayId, access: Access) {
        let blocking = |made: &Option<Made>| match made {
            Some(Made::View { of, mutable, .. }) => *of == array && (*mutable || access.writes()),
            _ => false,
        };
        if let Some(view) = self.arrays.iter().position(blocking) {
            let view = self.name(ArrayId(view as u32));
            self.report(8, format!("{} is used while its view {view} is in scope", self.name(array)));
        }
    }

    /// The array behind a view, as far as views were made inside the parallel loop; `None` if that is an array made inside.
    fn outside(&self, array: ArrayId, since: usize) -> Option<ArrayId> {
        let mut array = array;
        // A view is younger than what it views, so this ends.
        loop {
            match self.arrays[array.index()] {
                Some(Made::View { of, when, .. }) if when >= since => array = of,
                Some(Made::Allocated { when } | Made::List { when } | Made::Table { when } | Made::Bitmap { when })
                    if when >= since =>
                {
                    return None;
                }
                _ => return Some(array),
            }
        }
    }

    fn sharing_allows(&mut self, region: Region<'k>, array: ArrayId, access: Access) {
        let Some(root) = self.outside(array, region.since) else { return };
        let name = self.name(root);
        let problem = match region.node.sharing.iter().find(|(shared, _)| *shared == root) {
            None if access.writes() => format!("{name} is from outside the parallel loop, but is not in `sharing`"),
            Some((_, Sharing::Owned { .. }))
                if access == Access::Append || (access == Access::Fill && array == root) =>
            {
                format!("{name} is owned, but is filled or grows as a whole")
            }
            Some((_, Sharing::Private(operator) | Sharing::Segmented { operator, .. }))
                if ![Access::Length, Access::MutableView, Access::Reduce(*operator)].contains(&access) =>
            {
                let how = if self.is_segmented(region, root) { "segmented" } else { "private" };
                format!("{name} is {how}, and only reduced into with `{operator}`")
            }
            _ => return,
        };
        self.report(9, problem);
    }

    fn is_segmented(&self, region: Region<'k>, array: ArrayId) -> bool {
        let mut entries = region.node.sharing.iter();
        entries.any(|(shared, how)| *shared == array && matches!(how, Sharing::Segmented { .. }))
    }

    // Parallel loops.

    fn parallel(&mut self, node: &'k Parallel) {
        let path = self.path.clone();
        self.not_in_vector("parallel");
        if self.region.is_some() {
            return self.report(11, "it stands in a parallel loop".to_owned());
        }
        self.expr(&node.begin, Type::Index);
        self.expr(&node.end, Type::Index);
        self.clauses(node);
        let keep = self.declared.len();
        self.region = Some(Region { node, since: keep });
        self.declare_place(node.low);
        self.declare_place(node.high);
        self.block(&path, &node.body);
        self.region = None;
        self.forget(keep);
        self.path = path;
        node.uneven.iter().for_each(|other| self.uneven(node, other));
    }

    /// What runs instead where work is uneven does the same, as far as can be seen.
    fn uneven(&mut self, node: &'k Parallel, other: &'k Parallel) {
        let path = self.path.clone();
        self.path = format!("{path}/uneven");
        let arrays = |node: &Parallel| node.sharing.iter().map(|(array, _)| *array).collect::<BTreeSet<_>>();
        let variables =
            |node: &Parallel| node.reductions.iter().map(|(variable, _)| *variable).collect::<BTreeSet<_>>();
        if arrays(node) != arrays(other) || variables(node) != variables(other) {
            self.report(20, "it writes other arrays or variables than the loop that it stands for".to_owned());
        }
        if other.uneven.is_some() {
            self.report(20, "there is but one loop for uneven work".to_owned());
        }
        self.parallel(other);
        self.path = path;
    }

    fn clauses(&mut self, node: &'k Parallel) {
        if let Some(Work { place, before, .. }) = &node.work {
            self.at_place(*place, before);
            self.work_reads(node, before);
        }
        if let Some(array) = node.aligned {
            self.touch(array, Access::Read);
            if self.element_type(array) != Type::Index || is_shared(node, array) {
                self.report(12, format!("{} is not an index array that the loop only reads", self.name(array)));
            }
        }
        for (number, (array, sharing)) in node.sharing.iter().enumerate() {
            if node.sharing[..number].iter().any(|(earlier, _)| earlier == array) {
                self.report(9, format!("{} is named twice in `sharing`", self.name(*array)));
            }
            self.sharing(node, *array, sharing);
        }
        for (number, (variable, operator)) in node.reductions.iter().enumerate() {
            let name = self.kernel.show(variable);
            if node.reductions[..number].iter().any(|(earlier, _)| earlier == variable) {
                self.report(10, format!("{name} is named twice in `reducing`"));
            }
            if !self.kernel.variable(*variable).mutable {
                self.report(4, format!("{name} is not mutable"));
            }
            self.in_scope(*variable);
            self.reduces(*operator, self.kernel.variable(*variable).ty);
        }
    }

    /// An index expression over a place that is declared for it alone.
    fn at_place(&mut self, place: VariableId, expr: &Expr) {
        let keep = self.declared.len();
        self.declare_place(place);
        self.expr(expr, Type::Index);
        self.forget(keep);
    }

    fn work_reads(&mut self, node: &Parallel, before: &Expr) {
        let mut problems = Vec::new();
        before.for_each(&mut |inner| match inner {
            Expr::Variable(id) if self.kernel.variable(*id).mutable => {
                problems.push(format!("{} is mutable", self.kernel.show(id)));
            }
            other => other.for_each_array(&mut |id| {
                if is_shared(node, id) {
                    problems.push(format!("{} is written by the loop", self.name(id)));
                }
            }),
        });
        problems.into_iter().for_each(|problem| self.report(12, format!("`work`: {problem}")));
    }

    fn sharing(&mut self, node: &'k Parallel, array: ArrayId, sharing: &'k Sharing) {
        let role = self.kernel.array(array).role;
        let appended = role.tensor().is_some_and(|tensor| is_appended(self.kernel, tensor));
        // Whether it may be written at all.
        self.touch(array, if appended { Access::Append } else { Access::MutableView });
        let name = self.name(array);
        match sharing {
            Sharing::Joined { positions_of } => {
                if !appended {
                    self.report(9, format!("{name} is joined, but not of an appended output"));
                }
                let joined = |other: &ArrayId| {
                    let mut entries = node.sharing.iter();
                    *other != array && entries.any(|(id, how)| id == other && matches!(how, Sharing::Joined { .. }))
                };
                match positions_of {
                    Some(other) if !joined(other) => {
                        self.report(9, format!("{name} holds positions of {}, which is not joined", self.name(*other)));
                    }
                    Some(_) if self.element_type(array) != Type::Index => {
                        self.report(9, format!("{name} holds values, not positions"));
                    }
                    _ => {}
                }
            }
            _ if appended => self.report(9, format!("{name} is of an appended output, but not joined")),
            Sharing::Private(operator) => self.reduces(*operator, self.element_type(array)),
            Sharing::Owned { place, start } => {
                self.at_place(*place, start);
                self.start_reads(*place, start);
            }
            Sharing::Segmented { place, start, length, operator, anew } => {
                self.reduces(*operator, self.element_type(array));
                if *anew && self.kernel.array(array).role == ArrayRole::Local {
                    self.report(9, format!("{name} is of no output, and is not begun anew"));
                }
                self.at_place(*place, start);
                self.expr(length, Type::Index);
                [start, length].into_iter().for_each(|expr| self.start_reads(*place, expr));
            }
        }
    }

    fn start_reads(&mut self, place: VariableId, start: &Expr) {
        let mut problems = Vec::new();
        start.for_each(&mut |inner| match inner {
            Expr::Variable(id) if *id != place => problems.push(self.kernel.show(id).to_string()),
            other => other.for_each_array(&mut |id| {
                if !self.kernel.is_of_input(id) {
                    problems.push(self.name(id));
                }
            }),
        });
        for problem in problems {
            self.report(12, format!("a part's start: {problem} is not its place, a dimension or an array of an input"));
        }
    }
}

fn is_shared(node: &Parallel, array: ArrayId) -> bool {
    node.sharing.iter().any(|(shared, _)| *shared == array)
}

fn is_appended(kernel: &Kernel, tensor: TensorId) -> bool {
    matches!(kernel.tensor(tensor).source, Source::Output { structure: Structure::Appended, .. })
}
