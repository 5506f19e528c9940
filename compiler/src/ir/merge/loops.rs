//! Merges become loops that move a cursor along each list, where a target has nothing better.
//!
//! ```text
//! merge j of pA in … at A_crd[pA], pB in … at B_crd[pB]     let pA = …, pB = …
//!         where pA, pB { … } where pA { … }                 while pA < A_end && pB < B_end
//!                                                               j = minimum(A_crd[pA], B_crd[pB])
//!                                                               in_A = A_crd[pA] == j, in_B = B_crd[pB] == j
//!                                                               if in_A && in_B … else if in_A …
//!                                                               if in_A: pA += 1
//!                                                               if in_B: pB += 1
//!                                                           for pA in pA..A_end …
//!
//! merge j of pA in … at A_crd[pA], pB in … at B_crd[pB]     let uneven = 32 * the shortest < the longest
//!         where pA, pB { … }                                while pA < A_end && pB < B_end
//!                                                               j = maximum(A_crd[pA], B_crd[pB])
//!                                                               if A_crd[pA] == B_crd[pB]: …, pA += 1, pB += 1
//!                                                               else if uneven: the first below j searches it
//!                                                               else: those below j go on by one
//! ```
//!
//! An intersection looks at no more coordinates than twice those of its shortest list, if the others are searched for them.

use super::{Merge, Operands, Point, Walk};
use crate::ir::{
    ArrayElement, ArrayRole, BinaryOperator, Expr, Find, Kernel, Statement, Type, VariableId, declared, substitute,
};
use std::collections::BTreeMap;

/// The kernel with its merges as loops, for a target that has nothing better.
pub fn with_loops(kernel: &Kernel) -> Kernel {
    expanded(kernel.clone(), &|_, _| false)
}

/// The kernel with its merges as loops, but for those that a target keeps.
pub(crate) fn expanded(mut kernel: Kernel, keeps: &dyn Fn(&Kernel, &Merge) -> bool) -> Kernel {
    let mut body = std::mem::take(&mut kernel.body);
    expand(&mut kernel, &mut body, keeps);
    kernel.body = body;
    kernel
}

/// Puts loops in place of the merges of a block, but for those that a target keeps.
pub(crate) fn expand(kernel: &mut Kernel, block: &mut Vec<Statement>, keeps: &dyn Fn(&Kernel, &Merge) -> bool) {
    let mut done = Vec::with_capacity(block.len());
    for mut statement in std::mem::take(block) {
        statement.blocks_mut().into_iter().for_each(|inner| expand(kernel, inner, keeps));
        match statement {
            Statement::Merge(merge) if !keeps(kernel, &merge) => {
                Expansion { kernel: &mut *kernel, done: &mut done }.expand(merge);
            }
            other => done.push(other),
        }
    }
    *block = done;
}

/// Whether a merge is of the common coordinates of two runs, each of an array of coordinates that is only read: these can be found in
/// blocks, without a branch that can't be predicted for each coordinate that only one of them has.
pub(crate) fn is_of_two_runs(kernel: &Kernel, merge: &Merge) -> bool {
    let is_run = |walk: &Walk| walk.run.is_none() && walk.array().is_some_and(|array| kernel.is_of_input(array));
    merge.intersection().is_some() && merge.walks.len() == 2 && merge.walks.iter().all(is_run)
}

/// Lists are searched where the longest has more than this many times the coordinates of the shortest.
pub(crate) const UNEVEN: u64 = 32;

/// Variables that tell whether a list is much longer than another, and of more than two, which is the shortest.
struct Uneven {
    is_uneven: VariableId,
    shortest: Vec<VariableId>,
}

/// A merge that becomes loops, which are added to what is done.
struct Expansion<'a> {
    kernel: &'a mut Kernel,
    done: &'a mut Vec<Statement>,
}

impl Expansion<'_> {
    fn expand(&mut self, merge: Merge) {
        for walk in &merge.walks {
            self.kernel.variables[walk.place.index()].mutable = true;
            self.done.push(Statement::Let(walk.place, walk.begin.clone()));
        }
        match merge.intersection() {
            Some(body) => self.intersection(&merge, body),
            None => self.union(&merge),
        }
    }

    // Intersections.

    fn intersection(&mut self, merge: &Merge, body: &[Statement]) {
        let uneven = self.uneven(merge);
        let here: Vec<VariableId> = merge.walks.iter().map(|walk| self.own_coordinate(walk)).collect();
        let mut inside: Vec<Statement> =
            here.iter().zip(&merge.walks).map(|(here, walk)| Statement::Let(*here, walk.at.clone())).collect();
        let mut common = Vec::new();
        // Of two, what is not the same is less than the other; of more, the greatest says where the others go on.
        let sought = match here[..] {
            [one, other] => {
                if merge.walks.iter().any(|walk| walk.run.is_some()) || uses(body, merge.coordinate) {
                    common.push(Statement::Let(merge.coordinate, Expr::Variable(one)));
                }
                vec![other, one]
            }
            _ => {
                inside.push(Statement::Let(merge.coordinate, combined(BinaryOperator::Maximum, &here)));
                vec![merge.coordinate; here.len()]
            }
        };
        let is_same = |pair: &[VariableId]| Expr::Variable(pair[0]).equals(Expr::Variable(pair[1]));
        let all = here.windows(2).map(is_same).reduce(Expr::and).unwrap_or(Expr::Bool(true));
        for walk in &merge.walks {
            self.run(walk, merge.coordinate, uneven.as_ref().map(|uneven| uneven.is_uneven), &mut common);
        }
        common.extend(body.iter().cloned());
        common.extend(merge.walks.iter().map(|walk| Statement::Assign(walk.place, next(walk))));
        let lists: Vec<(&Walk, VariableId, Expr)> = (merge.walks.iter().zip(&here).zip(&sought))
            .map(|((walk, here), sought)| (walk, *sought, Expr::Variable(*here).less(Expr::Variable(*sought))))
            .collect();
        let mut branches = vec![(all, common)];
        branches.extend(uneven.as_ref().map(|uneven| {
            let searched = |(walk, sought, is_below): &(&Walk, VariableId, Expr)| {
                (is_below.clone(), vec![Statement::Assign(walk.place, search(walk, Expr::Variable(*sought)))])
            };
            // The shortest goes first: then each round moves it on, or has found its coordinate in one more of the others.
            let first = uneven.shortest.iter().zip(&lists).map(|(shortest, list)| {
                let (is_below, search) = searched(list);
                (Expr::Variable(*shortest).and(is_below), search)
            });
            let searches = Statement::If(first.chain(lists.iter().map(searched)).collect(), Vec::new());
            (Expr::Variable(uneven.is_uneven), vec![searches])
        }));
        let steps = lists.iter().map(|(walk, _, is_below)| {
            let (place, next) = (Expr::Variable(walk.place), Expr::Variable(walk.place).plus(Expr::Index(1)));
            Statement::Assign(walk.place, chosen(is_below.clone(), next, place))
        });
        inside.push(Statement::If(branches, steps.collect()));
        self.done.push(Statement::While(all_left(&merge.walks), inside));
    }

    /// Whether a list is much longer than another, if they can be searched.
    fn uneven(&mut self, merge: &Merge) -> Option<Uneven> {
        let is_array = |walk: &Walk| {
            walk.array().is_some_and(|array| matches!(self.kernel.array(array).element, ArrayElement::Index(_)))
        };
        if !merge.walks.iter().all(is_array) {
            return None;
        }
        let mut lengths = Vec::new();
        for walk in &merge.walks {
            let (place, end) = (Expr::Variable(walk.place), walk.end.clone());
            let end = Expr::binary(BinaryOperator::Maximum, end, place.clone());
            let length = self.kernel.declare_index(&format!("{}_length", self.tensor_of(walk).1));
            self.done.push(Statement::Let(length, Expr::binary(BinaryOperator::Subtract, end, place)));
            lengths.push(length);
        }
        let [least, most] = [BinaryOperator::Minimum, BinaryOperator::Maximum].map(|end| combined(end, &lengths));
        let is_uneven = self.kernel.declare_variable("uneven", Type::Bool, false);
        self.done.push(Statement::Let(is_uneven, least.clone().times(Expr::Index(UNEVEN)).less(most)));
        let mut shortest = Vec::new();
        for (walk, length) in merge.walks.iter().zip(&lengths).filter(|_| lengths.len() > 2) {
            let name = format!("{}_is_shortest", self.tensor_of(walk).1);
            let flag = self.kernel.declare_variable(&name, Type::Bool, false);
            self.done.push(Statement::Let(flag, Expr::Variable(*length).equals(least.clone())));
            shortest.push(flag);
        }
        Some(Uneven { is_uneven, shortest })
    }

    // Unions, and what lies between.

    fn union(&mut self, merge: &Merge) {
        let loops = Operands::loops(merge.points.iter().map(|point| point.operands));
        for (number, walked) in loops.into_iter().enumerate() {
            let mut renamed = BTreeMap::new();
            let walks: Vec<Walk> = walked.iter().map(|list| merge.walks[list].clone()).collect();
            match &walks[..] {
                [walk] if walk.run.is_none() => self.tail(merge, walk, walked),
                _ => {
                    let is_first = number == 0;
                    let again = walks.iter().filter_map(|walk| walk.run).chain([merge.coordinate]);
                    for variable in again.filter(|_| !is_first) {
                        renamed.insert(variable, Expr::Variable(self.again(variable)));
                    }
                    self.side_by_side(merge, walked, is_first, renamed);
                }
            }
        }
    }

    /// The rest of one list, when the others are exhausted.
    fn tail(&mut self, merge: &Merge, walk: &Walk, walked: Operands) {
        let place = self.kernel.declare_index(&self.kernel.variable(walk.place).name.clone());
        let point = points_of(merge, walked).next().expect("a loop has a point");
        let mut renamed = BTreeMap::from([(walk.place, Expr::Variable(place))]);
        let mut body = Vec::new();
        if uses(&point.body, merge.coordinate) {
            let coordinate = self.again(merge.coordinate);
            body.push(Statement::Let(coordinate, walk.at.clone().substituted(&renamed)));
            renamed.insert(merge.coordinate, Expr::Variable(coordinate));
        }
        body.extend(self.copied(&point.body, renamed));
        let (begin, end) = (Expr::Variable(walk.place), walk.end.clone());
        self.done.push(Statement::For { variable: place, begin, end, vector: false, body });
    }

    /// A loop over some lists, as long as all have more.
    fn side_by_side(
        &mut self,
        merge: &Merge,
        walked: Operands,
        is_first: bool,
        mut renamed: BTreeMap<VariableId, Expr>,
    ) {
        let walks: Vec<&Walk> = walked.iter().map(|list| &merge.walks[list]).collect();
        let here: Vec<VariableId> = walks.iter().map(|walk| self.own_coordinate(walk)).collect();
        let mut inside: Vec<Statement> =
            here.iter().zip(&walks).map(|(here, walk)| Statement::Let(*here, walk.at.clone())).collect();
        let coordinate = match here[..] {
            [alone] => {
                renamed.insert(merge.coordinate, Expr::Variable(alone));
                alone
            }
            _ => {
                let coordinate = renamed.get(&merge.coordinate).and_then(as_variable).unwrap_or(merge.coordinate);
                inside.push(Statement::Let(coordinate, combined(BinaryOperator::Minimum, &here)));
                coordinate
            }
        };
        let mut present: BTreeMap<usize, Expr> = BTreeMap::new();
        for ((list, walk), here) in walked.iter().zip(&walks).zip(&here) {
            let place = Expr::Variable(walk.place);
            if let Some(run) = walk.run {
                let run = renamed.get(&run).and_then(as_variable).unwrap_or(run);
                self.run(&Walk { run: Some(run), ..(*walk).clone() }, coordinate, None, &mut inside);
                if here != &coordinate {
                    present.insert(list, place.less(Expr::Variable(run)));
                }
                continue;
            }
            let name = format!("in_{}", self.tensor_of(walk).0);
            let flag = self.kernel.declare_variable(&name, Type::Bool, false);
            inside.push(Statement::Let(flag, Expr::Variable(*here).equals(Expr::Variable(coordinate))));
            present.insert(list, Expr::Variable(flag));
        }
        let (mut branches, mut otherwise) = (Vec::new(), Vec::new());
        for point in points_of(merge, walked) {
            let mut body = point.body.clone();
            match is_first {
                true => substitute(&mut body, &renamed),
                false => body = self.copied(&body, renamed.clone()),
            }
            match point.operands.iter().filter_map(|list| present.get(&list).cloned()).reduce(Expr::and) {
                Some(condition) => branches.push((condition, body)),
                None => {
                    otherwise = body;
                    break;
                }
            }
        }
        let joined = if otherwise.is_empty() { self.joined(merge, walked, &branches) } else { None };
        let is_joined = joined.is_some();
        match joined {
            Some(joined) => inside.extend(joined),
            None if branches.is_empty() => inside.extend(otherwise),
            None => inside.push(Statement::If(branches, otherwise)),
        }
        for (list, walk) in walked.iter().zip(&walks) {
            let mut step = Statement::Assign(walk.place, next(walk));
            step.for_each_expr_mut(&mut |expr| {
                *expr = std::mem::replace(expr, Expr::Index(0)).substituted(&renamed);
            });
            // Where there is no entry, the run is empty: it ends where the cursor is.
            match present.get(&list) {
                Some(present) if is_joined => {
                    let (place, next) = (Expr::Variable(walk.place), next(walk));
                    inside.push(Statement::Assign(walk.place, chosen(present.clone(), next, place)));
                }
                Some(present) if walk.run.is_none() => {
                    inside.push(Statement::If(vec![(present.clone(), vec![step])], Vec::new()));
                }
                _ => inside.push(step),
            }
        }
        let walks: Vec<Walk> = walks.into_iter().cloned().collect();
        self.done.push(Statement::While(all_left(&walks), inside));
    }

    /// The blocks of all points as one that chooses between values: which list is next can't be guessed, and a branch that is guessed
    /// wrongly costs more than all that the points do. `None` where they do different things, or more than a few sums.
    fn joined(
        &mut self,
        merge: &Merge,
        walked: Operands,
        branches: &[(Expr, Vec<Statement>)],
    ) -> Option<Vec<Statement>> {
        let is_point = |list: usize| points_of(merge, walked).any(|point| point.operands == Operands(1u64 << list));
        let has_runs = walked.iter().any(|list| merge.walks[list].run.is_some());
        if has_runs || !walked.iter().all(is_point) || branches.len() > MOST_JOINED {
            return None;
        }
        let ((_, last), others) = branches.split_last().filter(|(_, others)| !others.is_empty())?;
        let mut joined = last.clone();
        let mut blocks: Vec<Vec<Statement>> = others.iter().map(|(_, block)| block.clone()).collect();
        let mut loaded = Vec::new();
        for block in blocks.iter_mut().chain([&mut joined]) {
            for statement in block.iter_mut() {
                statement.for_each_expr_mut(&mut |expr| self.load_first(merge, expr, &mut loaded));
            }
        }
        for ((condition, _), block) in others.iter().zip(blocks).rev() {
            if block.len() != joined.len() {
                return None;
            }
            for (statement, mut other) in joined.iter_mut().zip(block) {
                let (here, elsewhere) = (values_taken(&mut other), values_taken(statement));
                // What is left of them, the operation and what it is applied to, is the same.
                if *statement != other || here.len() != elsewhere.len() || !is_of_values(statement) {
                    return None;
                }
                if !here.iter().chain(&elsewhere).all(Expr::is_cheap) {
                    return None;
                }
                let mut values = here.into_iter().zip(elsewhere);
                statement.for_each_expr_mut(&mut |expr| {
                    let (here, elsewhere) = values.next().expect("a value for each");
                    *expr = if here == elsewhere { here } else { chosen(condition.clone(), here, elsewhere) };
                });
            }
        }
        let loads = loaded.into_iter().map(|(load, variable)| Statement::Let(variable, load));
        Some(loads.chain(joined).collect())
    }

    /// Puts variables in place of the elements at the cursors of lists, which are there whatever the others have.
    fn load_first(&mut self, merge: &Merge, expr: &mut Expr, loaded: &mut Vec<(Expr, VariableId)>) {
        let taken = std::mem::replace(expr, Expr::Index(0));
        let array = match &taken {
            Expr::Load(array, place) => {
                merge.walks.iter().any(|walk| **place == Expr::Variable(walk.place)).then_some(*array)
            }
            _ => None,
        };
        let Some(array) = array else {
            *expr = taken.map_children(&mut |mut child| {
                self.load_first(merge, &mut child, loaded);
                child
            });
            return;
        };
        let known = loaded.iter().find(|(load, _)| *load == taken).map(|(_, variable)| *variable);
        let variable = known.unwrap_or_else(|| {
            let array = self.kernel.array(array);
            let (name, ty) = (format!("{}_val", array.name.trim_end_matches("_vals")), array.element.ty());
            let variable = self.kernel.declare_variable(&name, ty, false);
            loaded.push((taken, variable));
            variable
        });
        *expr = Expr::Variable(variable);
    }

    // What both have.

    /// Declares where the run of a coordinate ends, if several places of a list may have it. It is searched where a variable says so.
    fn run(&mut self, walk: &Walk, coordinate: VariableId, searched: Option<VariableId>, out: &mut Vec<Statement>) {
        let Some(run) = walk.run else { return };
        self.kernel.variables[run.index()].mutable = true;
        out.push(Statement::Let(run, Expr::Variable(walk.place)));
        let end = Expr::Variable(run);
        let at = walk.at.clone().substituted(&BTreeMap::from([(walk.place, end.clone())]));
        let goes_on = end.clone().less(walk.end.clone()).and(at.equals(Expr::Variable(coordinate)));
        let step = Statement::While(goes_on, vec![Statement::Assign(run, end.plus(Expr::Index(1)))]);
        out.push(match searched {
            Some(searched) => {
                let next = search(walk, Expr::Variable(coordinate).plus(Expr::Index(1)));
                Statement::If(vec![(Expr::Variable(searched), vec![Statement::Assign(run, next)])], vec![step])
            }
            None => step,
        });
    }

    /// A variable for the coordinate of a list, whatever the others have.
    fn own_coordinate(&mut self, walk: &Walk) -> VariableId {
        let (_, level) = self.tensor_of(walk);
        self.kernel.declare_index(&format!("{level}_coordinate"))
    }

    /// The name of a list's tensor, and that with the number of the level.
    fn tensor_of(&self, walk: &Walk) -> (String, String) {
        let name = &self.kernel.variable(walk.place).name;
        let level = name.strip_prefix('p').unwrap_or(name).to_owned();
        let mut tensor = level.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
        walk.at.for_each(&mut |expr| {
            expr.for_each_array(&mut |array| {
                if let ArrayRole::Coordinates { tensor: of, .. } = self.kernel.array(array).role {
                    tensor.clone_from(&self.kernel.tensor(of).name);
                }
            });
        });
        (tensor, level)
    }

    /// Another variable like one.
    fn again(&mut self, variable: VariableId) -> VariableId {
        let like = self.kernel.variable(variable).clone();
        let again = self.kernel.declare_variable(&like.name, like.ty, like.mutable);
        if let Some(choice) = self.kernel.choices.get(&variable).cloned() {
            self.kernel.choices.insert(again, choice);
        }
        again
    }

    /// A block once more, with variables of its own, and others replaced.
    fn copied(&mut self, block: &[Statement], mut replaced: BTreeMap<VariableId, Expr>) -> Vec<Statement> {
        let mut block = block.to_vec();
        let own: BTreeMap<VariableId, VariableId> =
            declared(&block).into_iter().map(|variable| (variable, self.again(variable))).collect();
        replaced.extend(own.iter().map(|(variable, again)| (*variable, Expr::Variable(*again))));
        substitute(&mut block, &replaced);
        rename(&mut block, &own);
        block
    }
}

/// Gives variables that statements declare or change other names.
fn rename(block: &mut [Statement], names: &BTreeMap<VariableId, VariableId>) {
    for statement in block {
        statement.for_each_variable_mut(&mut |variable| *variable = names.get(variable).copied().unwrap_or(*variable));
        statement.blocks_mut().into_iter().for_each(|inner| rename(inner, names));
    }
}

/// More points than this are not joined.
const MOST_JOINED: usize = 7;

/// Takes the expressions out of a statement.
fn values_taken(statement: &mut Statement) -> Vec<Expr> {
    let mut values = Vec::new();
    statement.for_each_expr_mut(&mut |expr| values.push(std::mem::replace(expr, Expr::Index(0))));
    values
}

/// Whether a statement only does something with values: it declares nothing, and has no blocks.
fn is_of_values(statement: &Statement) -> bool {
    statement.blocks().is_empty() && declared(std::slice::from_ref(statement)).is_empty()
}

fn chosen(condition: Expr, yes: Expr, no: Expr) -> Expr {
    Expr::Select(Box::new(condition), Box::new(yes), Box::new(no))
}

fn uses(block: &[Statement], variable: VariableId) -> bool {
    block.iter().any(|statement| statement.uses(variable))
}

/// The points that may occur while just these lists are walked.
fn points_of(merge: &Merge, walked: Operands) -> impl Iterator<Item = &Point> {
    merge.points.iter().filter(move |point| point.operands.is_subset(walked))
}

/// Whether all lists have more.
fn all_left(walks: &[Walk]) -> Expr {
    let is_left = |walk: &Walk| Expr::Variable(walk.place).less(walk.end.clone());
    walks.iter().map(is_left).reduce(Expr::and).expect("a loop walks something")
}

/// The first place behind that of a list whose coordinate is not below another.
fn search(walk: &Walk, value: Expr) -> Expr {
    Expr::Search {
        array: walk.array().expect("what is searched is an array"),
        begin: Box::new(Expr::Variable(walk.place).plus(Expr::Index(1))),
        end: Box::new(walk.end.clone()),
        value: Box::new(value),
        stride: 1,
        find: Find::Element,
    }
}

/// Where a list goes on behind the coordinate that it has.
fn next(walk: &Walk) -> Expr {
    walk.run.map_or_else(|| Expr::Variable(walk.place).plus(Expr::Index(1)), Expr::Variable)
}

fn combined(operator: BinaryOperator, variables: &[VariableId]) -> Expr {
    let all = variables.iter().map(|variable| Expr::Variable(*variable));
    all.reduce(|one, other| Expr::binary(operator, one, other)).expect("a merge walks something")
}

fn as_variable(expr: &Expr) -> Option<VariableId> {
    match expr {
        Expr::Variable(variable) => Some(*variable),
        _ => None,
    }
}
