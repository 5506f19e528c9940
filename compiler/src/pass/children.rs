//! The range of a parallel loop becomes that of children, where its chunks ask for nothing else.
//!
//! ```text
//! parallel low..high in 0..n, work place -> X3_pos[X2_pos[place]]
//!     for p2 in X2_pos[low]..X2_pos[high]
//!         …
//!
//! parallel low..high in X2_pos[0]..X2_pos[n], work place -> X3_pos[place]
//!     for p2 in low..high
//!         …
//! ```
//!
//! Chunks of equal work may then begin at any child. A mode with few coordinates, or one of which most entries have, would else
//! be cut into few chunks, or uneven ones.

use super::replacing;
use crate::ir::{ArrayRole, BinaryOperator, Expr, Kernel, Parallel, Sharing, Statement, VariableId};
use crate::notation::Decision;

/// The kernel with its parallel loops over children where they can be.
pub(super) fn children(kernel: Kernel) -> Kernel {
    replacing(kernel, &|kernel, statement, _, done| {
        done.push(match statement {
            Statement::Parallel(parallel) => {
                let over = first_child(kernel, &parallel).and_then(|first| over(kernel, &first, &parallel));
                Statement::Parallel(over.map_or(parallel, Box::new))
            }
            other => other,
        });
    })
}

/// The loops of a kernel whose chunks begin at children, with the reason.
pub(super) fn decisions(kernel: &Kernel) -> Vec<Decision> {
    let mut found: Vec<Decision> = Vec::new();
    let mut see = |statement: &Statement| {
        let Statement::Parallel(node) = statement else { return };
        let Expr::Load(array, _) = node.begin else { return };
        let ArrayRole::Positions { tensor, level: above @ 1.. } = kernel.array(array).role else { return };
        let mut searches = false;
        for_each_expr(&node.body, &mut |expr| searches |= matches!(expr, Expr::Search { .. }));
        // Those of load-balanced parts find out whose children they have.
        if searches {
            return;
        }
        let uneven =
            if node.uneven.is_none() { "; they are all the same work, so that no chunk is uneven" } else { "" };
        found.push(Decision {
            what: format!("chunks begin at any place of level {} of {}", above + 1, kernel.tensor(tensor).name),
            why: format!("nothing in the loop asks what is above a place{uneven}"),
        });
    };
    kernel.body.iter().for_each(|statement| statement.for_each(&mut see));
    found
}

/// The first child of the place that a chunk begins with, if the chunk asks for it; the innermost, if for several.
fn first_child(kernel: &Kernel, parallel: &Parallel) -> Option<Expr> {
    let mut first: Option<Expr> = None;
    let mut depth = 0;
    for_each_expr(&parallel.body, &mut |expr| {
        if let Some(below) = levels_below(kernel, expr, parallel.low)
            && below > depth
        {
            (first, depth) = (Some(expr.clone()), below);
        }
    });
    first
}

/// How many levels below a place its children are that an expression is the first of; `None` where it is something else.
fn levels_below(kernel: &Kernel, expr: &Expr, place: VariableId) -> Option<usize> {
    match expr {
        Expr::Variable(variable) if *variable == place => Some(0),
        Expr::Load(array, parent) => match kernel.array(*array).role {
            ArrayRole::Positions { tensor, .. } if !kernel.is_output(tensor) => {
                levels_below(kernel, parent, place).map(|levels| levels + 1)
            }
            _ => None,
        },
        _ => None,
    }
}

/// The loop over children, of which `first` is that of its lower bound; `None` where it asks for parents too.
fn over(kernel: &mut Kernel, first: &Expr, parallel: &Parallel) -> Option<Parallel> {
    if parallel.aligned.is_some() {
        return None;
    }
    let first_of = |place: &Expr| with(first.clone(), &Expr::Variable(parallel.low), place);
    // What asks for a place's first child asks for a place.
    let of_child = |expr: &Expr, place: VariableId| {
        let (parent, child) = (Expr::Variable(place), Expr::Variable(parallel.low));
        let expr = with(expr.clone(), &first_of(&parent), &child);
        (!expr.uses(place)).then(|| with(expr, &child, &parent))
    };
    let mut over = parallel.clone();
    (over.begin, over.end) = (first_of(&parallel.begin), first_of(&parallel.end));
    if let Some(work) = &mut over.work {
        work.before = of_child(&work.before, work.place)?;
    }
    if over.work.as_ref().is_none_or(|work| work.before == Expr::Variable(work.place)) {
        // No child is more work than another.
        (over.work, over.uneven) = (None, None);
    }
    for (_, sharing) in &mut over.sharing {
        if let Sharing::Owned { place, start } | Sharing::Segmented { place, start, .. } = sharing {
            *start = of_child(start, *place)?;
        }
    }
    let (low, high) = (kernel.declare_index("low"), kernel.declare_index("high"));
    (over.low, over.high) = (low, high);
    for (parent, child) in [(parallel.low, low), (parallel.high, high)] {
        let first = first_of(&Expr::Variable(parent));
        change(&mut over.body, &mut |expr| with(expr, &first, &Expr::Variable(child)));
        if over.body.iter().any(|statement| statement.uses(parent)) {
            return None;
        }
    }
    tidy(kernel, &mut over);
    Some(over)
}

/// Uses the bounds of a loop for what is the same.
fn tidy(kernel: &Kernel, over: &mut Parallel) {
    let (low, high) = (Expr::Variable(over.low), Expr::Variable(over.high));
    // No chunk ends before it begins.
    let end = Expr::binary(BinaryOperator::Maximum, high.clone(), low.clone());
    change(&mut over.body, &mut |expr| with(expr, &end, &high));
    let mut same = Vec::new();
    over.body.retain(|statement| match statement {
        Statement::Let(variable, value) if *value == low && !kernel.variable(*variable).mutable => {
            same.push(Expr::Variable(*variable));
            false
        }
        _ => true,
    });
    for other in &same {
        change(&mut over.body, &mut |expr| with(expr, other, &low));
        // Where the upper bound was compared with the name of the lower.
        change(&mut over.body, &mut |expr| with(expr, &end, &high));
    }
}

/// The expression with another in each place where `old` is.
fn with(expr: Expr, old: &Expr, new: &Expr) -> Expr {
    if expr == *old {
        return new.clone();
    }
    expr.map_children(&mut |child| with(child, old, new))
}

fn change(body: &mut [Statement], replace: &mut dyn FnMut(Expr) -> Expr) {
    for statement in body {
        statement.for_each_expr_mut(&mut |expr| *expr = replace(std::mem::replace(expr, Expr::Index(0))));
        statement.blocks_mut().into_iter().for_each(|inner| change(inner, replace));
    }
}

fn for_each_expr(body: &[Statement], visit: &mut dyn FnMut(&Expr)) {
    for statement in body {
        statement.for_each(&mut |statement| statement.for_each_expr(&mut |expr| expr.for_each(visit)));
    }
}
