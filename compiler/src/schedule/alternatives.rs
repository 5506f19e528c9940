//! Other schedules that a kernel could have. Which of them is the fastest depends on data and machine: tuning measures it.

use super::{IndexVariable, Kernel, Options, Program, Run, TensorKind, schedule};
use crate::level;
use crate::notation::{self, Role};
use crate::syntax::{self, Schedule};

/// Loops of more variables are not put into every order.
const MOST_REORDERED: usize = 4;
/// How long the strips are that dense rows are cut into.
const STRIPS: [usize; 4] = [16, 32, 64, 128];

/// Schedule blocks that a kernel of one statement without one could have, each by itself: loops in other orders, other loops in
/// parallel, equal shares of stored entries, and strips of dense rows, shorter than the extent that `extent` knows of an index.
/// Those that can't be kept to are left out, and so are those that need more copies of operands or make loops that another makes.
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
    let loops = Loops::of(kernel, &plain.kernels[0]);
    let mut texts = loops.orders();
    texts.extend(loops.strips(extent));
    texts.extend(loops.names.iter().skip(1).map(|name| format!("parallel({name});")));
    texts.extend(shares(kernel));

    let mut seen = vec![plain.kernels[0].to_string()];
    let mut found = Vec::new();
    for text in texts {
        let Ok(block) = syntax::parse_schedule(&format!("schedule {{ {text} }}")) else { continue };
        let changed = kernel.with_schedule(block.clone());
        let Ok(program) = schedule(&changed, options) else { continue };
        let [scheduled] = &program.kernels[..] else { continue };
        let loops = scheduled.to_string();
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

/// The loops of the default schedule by the names that the text has for them.
struct Loops {
    /// Outermost first.
    names: Vec<String>,
    /// Those in vector lanes.
    vectors: Vec<String>,
}

impl Loops {
    fn of(notation: &notation::Kernel, kernel: &Kernel) -> Self {
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
        Self { names, vectors }
    }

    fn orders(&self) -> Vec<String> {
        if self.names.len() > MOST_REORDERED {
            return Vec::new();
        }
        let orders = permutations(&self.names);
        orders.into_iter().skip(1).map(|order| format!("reorder({});", order.join(", "))).collect()
    }

    /// Rows in strips: a strip of all rows after the other, which keeps the strips of a gathered operand in the cache; or all
    /// strips of a row.
    fn strips(&self, extent: &dyn Fn(&str) -> Option<usize>) -> Vec<String> {
        let mut texts = Vec::new();
        for vector in &self.vectors {
            let others: Vec<&str> = self.names.iter().map(String::as_str).filter(|name| name != vector).collect();
            let Some((first, rest)) = others.split_first() else { continue };
            let (block, inside) = (format!("{vector}_block"), format!("{vector}_in"));
            let known = extent(vector);
            for by in STRIPS.into_iter().filter(|&by| known.map_or(by == 32, |extent| extent > by)) {
                let split = format!("split({vector}, {block}, {inside}, {by});");
                let order = |parts: &[&[&str]]| format!("{split} reorder({});", parts.concat().join(", "));
                texts.push(order(&[&[first, &block], rest, &[&inside]]));
                texts.push(order(&[&[&block], &others, &[&inside]]) + &format!(" parallel({first});"));
            }
        }
        texts
    }
}

/// All orders, the given one first.
fn permutations(names: &[String]) -> Vec<Vec<String>> {
    if names.is_empty() {
        return vec![Vec::new()];
    }
    let first = |place: usize| {
        let mut rest = names.to_vec();
        let first = rest.remove(place);
        permutations(&rest).into_iter().map(move |rest| [vec![first.clone()], rest].concat())
    };
    (0..names.len()).flat_map(first).collect()
}

/// Equal shares of the stored entries of each sparse operand.
fn shares(kernel: &notation::Kernel) -> Vec<String> {
    let mut texts = Vec::new();
    let statement = &kernel.statements[0];
    statement.value.for_each_access(&mut |access| {
        let tensor = kernel.tensor(access.tensor);
        let Some(order) = tensor.format.mode_order() else { return };
        let is_walked = tensor.format.levels.iter().any(|level| level::is_walked(level.format));
        if tensor.role != Role::Input || !is_walked || order.len() < 2 {
            return;
        }
        let names: Vec<&str> =
            order.iter().filter_map(|&mode| access.indices.get(mode)).map(|&id| kernel.variable(id)).collect();
        let mut text = String::new();
        let mut whole = names[0].to_owned();
        for (depth, name) in names.iter().enumerate().skip(1) {
            let next = format!("{}_{name}_share", names[..depth].join("_"));
            text += &format!("fuse({whole}, {name}, {next}); ");
            whole = next;
        }
        texts.push(format!("{text}positions({whole}, {}, {whole}_place); parallel({whole}_place);", tensor.name));
    });
    texts
}
