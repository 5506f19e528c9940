//! The loop over the children of places, where a chunk does nothing but run through them, with what it has for itself meanwhile.

use super::warp_per_row::is_injective;
use crate::gpu::rewrite::allocated;
use crate::gpu::{Builder, private};
use crate::ir::{Expr, Parallel, Statement, Work};
use std::collections::{BTreeMap, BTreeSet};

/// The loop over what its body loops over: where a chunk only runs through the children of its places, these are the places.
///
/// ```text
/// parallel low..high in 0..n                parallel low..high in pos[0]..pos[n]
///     for p in pos[low]..pos[high]              for p in low..high
///         y[p] = 2 * x[p]                           y[p] = 2 * x[p]
/// ```
pub(super) fn descended(builder: &mut Builder, parallel: &Parallel) -> Option<Parallel> {
    let is_made = |statement: &&Statement| match statement {
        Statement::Comment(_) => true,
        Statement::Allocate { length, .. } => ![parallel.low, parallel.high].iter().any(|own| length.uses(*own)),
        _ => false,
    };
    let rest: Vec<&Statement> = parallel.body.iter().filter(|statement| !is_made(statement)).collect();
    let [Statement::For { variable, begin, end, body, vector }] = rest[..] else { return None };
    let at = |place: Expr| begin.clone().substituted(&BTreeMap::from([(parallel.low, place)]));
    let is_chunk = *begin == Expr::Variable(parallel.low) || !begin.uses(parallel.low);
    let own = [parallel.low, parallel.high];
    let is_used = own.iter().any(|variable| body.iter().any(|statement| statement.uses(*variable)));
    if is_chunk || is_used || *end != at(Expr::Variable(parallel.high)) || parallel.aligned.is_some() {
        return None;
    }
    let atomic: BTreeSet<_> = parallel.sharing.iter().filter_map(private).collect();
    let kernel = &builder.module.kernel;
    let mut apart = true;
    body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            apart &= match statement {
                Statement::Reduce(array, ..) if atomic.contains(array) => true,
                Statement::Store(array, index, _) | Statement::Reduce(array, index, ..) => {
                    allocated(&parallel.body).contains(array)
                        || *vector
                        || is_injective(kernel, *variable, begin, end, body, index)
                }
                _ => true,
            };
        });
    });
    if !apart {
        return None;
    }
    let kernel = &mut builder.module.kernel;
    let (low, high) = (kernel.declare_index("low"), kernel.declare_index("high"));
    let made = parallel.body.iter().filter(is_made).cloned();
    let inner = Statement::For {
        variable: *variable,
        begin: Expr::Variable(low),
        end: Expr::Variable(high),
        vector: false,
        body: body.clone(),
    };
    // Work before a place, where it is known for that of a child.
    let work = parallel.work.as_ref().and_then(|work| {
        let child = begin.clone().substituted(&BTreeMap::from([(parallel.low, Expr::Variable(work.place))]));
        let place = kernel.declare_index("place");
        let before = replaced(work.before.clone(), &child, &Expr::Variable(place));
        (!before.uses(work.place) && before != Expr::Variable(place)).then_some(Work { place, before, is_all: false })
    });
    let (begin, end) = (at(parallel.begin.clone()), at(parallel.end.clone()));
    let body = made.chain([inner]).collect();
    Some(Parallel {
        work,
        sharing: parallel.sharing.clone(),
        reductions: parallel.reductions.clone(),
        ..Parallel::over(begin, end, low, high, body)
    })
}

/// The expression with one in it replaced.
pub(super) fn replaced(expr: Expr, from: &Expr, to: &Expr) -> Expr {
    if expr == *from {
        return to.clone();
    }
    expr.map_children(&mut |child| replaced(child, from, to))
}
