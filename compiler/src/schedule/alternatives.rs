//! Other schedules that a kernel could have. Which of them is the fastest depends on data and machine: tuning measures it.

use super::directive::{self, Around};
use super::{IndexVariable, Kernel, Options, Program, Run, TensorKind, schedule};
use crate::notation;
use crate::syntax::{self, Schedule};

/// Schedule blocks that a kernel of one statement without one could have, each by itself: what the rules of directives know to ask for
/// instead of what was chosen. Loops in other orders, other loops in parallel, load-balanced partitions, and strips of dense
/// rows, shorter than the extent that `extent` knows of an index; other storages of workspaces and ways to make a result. Those that can't be kept to are left out, and so are those that need more copies of operands or make loops that another makes.
///
/// ```
/// use spc_compiler::schedule::{Options, alternatives};
/// use spc_compiler::{notation, syntax};
///
/// let text = "fn spmm(A: csr, X: dense) -> Y: dense { Y(i, r) = A(i, j) * X(j, r); }";
/// let kernels = notation::check(&syntax::parse_program(text).unwrap()).unwrap();
/// let found = alternatives(&kernels[0], Options::default(), &|_| None);
/// let strips = "schedule {\n    split(r, r_block, r_in, 32);\n    reorder(i, r_block, j, r_in);\n}";
/// assert!(found.iter().any(|schedule| schedule.to_string() == strips));
/// ```
pub fn alternatives(
    kernel: &notation::Kernel,
    options: Options,
    extent: &dyn Fn(&str) -> Option<usize>,
) -> Vec<Schedule> {
    if kernel.schedule.is_some() || kernel.statements.len() != 1 {
        return Vec::new();
    }
    let Some(plain) = schedule(kernel, options).ok().filter(|program| program.kernels.len() == 1) else {
        return Vec::new();
    };
    let (names, vectors) = loops(kernel, &plain.kernels[0]);
    let record = super::record(&plain.chain, plain.kernels.iter().map(|kernel| (kernel, &[][..])));
    let block = syntax::parse_schedule(&super::text(&record)).map_or(Vec::new(), |block| block.directives);
    let texts = directive::neighbours(&Around { notation: kernel, loops: names, vectors, extent, schedule: block });

    let loops = |kernel: &Kernel| {
        let asked = &kernel.asked;
        let simd: Vec<_> = asked.simd.iter().map(|(variable, simd, _)| (*variable, *simd)).collect();
        let tiles: Vec<_> = asked.tiles.iter().map(|(variable, tile, _)| (*variable, *tile)).collect();
        (kernel.to_string(), simd, tiles)
    };
    let mut seen = vec![loops(&plain.kernels[0])];
    let mut found = Vec::new();
    for text in texts {
        let Ok(block) = syntax::parse_schedule(&format!("schedule {{ {text} }}")) else { continue };
        let changed = kernel.with_schedule(block.clone());
        let Ok(program) = schedule(&changed, options) else { continue };
        let [scheduled] = &program.kernels[..] else { continue };
        let loops = loops(scheduled);
        if copies(&program) <= copies(&plain) && !seen.contains(&loops) {
            seen.push(loops);
            found.push(block);
        }
    }
    found
}

/// How many operands are copied in another order.
fn copies(program: &Program) -> usize {
    let tensors = program.kernels.iter().flat_map(|kernel| &kernel.tensors);
    tensors.filter(|tensor| matches!(tensor.kind, TensorKind::SortedCopy(_))).count()
}

/// The loops of the default schedule by the names that the text has for them, outermost first; and those in vector lanes.
fn loops(notation: &notation::Kernel, kernel: &Kernel) -> (Vec<String>, Vec<String>) {
    let (mut names, mut vectors) = (Vec::new(), Vec::new());
    kernel.body.for_each_loop(&mut |IndexVariable(id), run, _| {
        let Some(variable) = notation.variables.get(id) else { return };
        if !names.contains(&variable.name) {
            names.push(variable.name.clone());
        }
        if run == Run::Vector && !vectors.contains(&variable.name) {
            vectors.push(variable.name.clone());
        }
    });
    (names, vectors)
}
