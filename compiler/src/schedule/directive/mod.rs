//! The directives of a schedule, one file each.
//!
//! A [`Rule`] says how a directive is applied: it checks what it says against the kernel, refuses what can't be had with its place and
//! the reason, and notes the rest in [`Asked`](crate::concrete::Asked), or changes the kernel's variables at once. The scheduler
//! keeps to what is asked where that is legal, refuses it where not, and proposes the rest. What a directive is called and what its
//! arguments are is declared once, in [`topics::directives`](crate::topics::directives), which checks of the notation,
//! docs/reference/directives.md and `spc explain` follow.

mod accumulate;
mod assemble;
mod balance;
mod copy;
mod deterministic;
mod distribute;
mod fuse;
mod inline;
mod materialize;
mod output;
mod parallel;
mod plan;
mod positions;
mod precompute;
mod register_tile;
mod reorder;
mod replicate;
mod same_pattern;
mod simd;
mod split;
mod stream;
mod unroll;
mod vector;
mod walk;
mod workspace;

use super::directives::{Directives, is_called};
use super::{Computed, IndexVariable, Kernel, Run, Statement, Target, level_variables};
use crate::diagnostics::{Diagnostic, Diagnostics, Span, codes::notation as codes, suggest, words};
use crate::format::LevelFormat;
use crate::ir::{Choice, ElementType, ReduceOperator, Simd, Tile};
use crate::notation;
use crate::remark::{Remark, What, Why};
use crate::syntax::{Directive, Expr, ExprKind, Index};
use crate::topics::directives::{self, Argument};
pub(in crate::schedule) use balance::no_entries;

/// How a directive is applied.
pub(super) struct Rule {
    /// Its name.
    pub name: &'static str,
    /// Applies it.
    pub apply: fn(&mut Directives<'_>, &Directive),
    /// What may be asked for instead of what was chosen, each a text of directives: tuning tries these.
    pub neighbours: fn(&Around<'_>) -> Vec<String>,
}

/// What is around a directive when its neighbours are looked for.
pub(super) struct Around<'a> {
    /// The kernel.
    pub notation: &'a notation::Kernel,
    /// The loops that the text has names for, outermost first.
    pub loops: Vec<String>,
    /// Those in vector lanes.
    pub vectors: Vec<String>,
    /// The extent of an index, where it is known.
    pub extent: &'a dyn Fn(&str) -> Option<usize>,
    /// The complete schedule.
    pub schedule: Vec<Directive>,
}

impl Around<'_> {
    /// The directives of a name that were chosen.
    fn chosen(&self, name: &str) -> impl Iterator<Item = &Directive> {
        self.schedule.iter().filter(move |directive| directive.name.name == name)
    }
}

/// For directives that are asked for alone.
pub(super) fn no_neighbours(_: &Around<'_>) -> Vec<String> {
    Vec::new()
}

/// The order in which neighbours are tried: loops first.
const TRIED: &[&str] = &["reorder", "vector", "parallel"];

/// All schedules that differ from the chosen one by what one directive asks for.
pub(super) fn neighbours(around: &Around<'_>) -> Vec<String> {
    let first = TRIED.iter().filter_map(|name| rule(name));
    let then = RULES.iter().filter(|rule| !TRIED.contains(&rule.name));
    first.chain(then).flat_map(|rule| (rule.neighbours)(around)).collect()
}

/// Every directive.
pub(super) const RULES: &[Rule] = &[
    inline::RULE,
    materialize::RULE,
    walk::RULE,
    copy::RULE,
    assemble::RULE,
    workspace::RULE,
    accumulate::RULE,
    reorder::RULE,
    split::RULE,
    fuse::RULE,
    positions::RULE,
    precompute::RULE,
    same_pattern::RULE,
    stream::RULE,
    distribute::RULE,
    replicate::RULE,
    parallel::RULE,
    balance::RULE,
    output::RULE,
    vector::RULE,
    unroll::RULE,
    simd::RULE,
    register_tile::RULE,
    deterministic::RULE,
    plan::RULE,
];

/// The rule of a name.
pub(super) fn rule(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.name == name)
}

/// The one of some choices that an expression names, or a problem.
fn names_of<T: Copy, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
    said: &Expr,
    found: &mut Diagnostics,
) -> Option<T> {
    let own = match &said.kind {
        ExprKind::Name(own) => own.name.as_str(),
        _ => "",
    };
    let chosen = all.into_iter().find(|choice| name(*choice) == own);
    if chosen.is_none() {
        let names = || all.into_iter().map(name);
        let message = "there is no such choice";
        let problem = Diagnostic::new(codes::DIRECTIVE_ARGUMENTS, said.span, message).label("not a choice");
        found.push(match suggest::similar(own, names()) {
            Some(close) => problem.help(format!("did you mean `{close}`?")),
            None => problem.help(format!("the choices are {}", words::list(names()))),
        });
    }
    chosen
}

/// Calls `visit` on each parallel loop: its variable and body. None is inside of another.
fn each_parallel(statement: &Statement, visit: &mut dyn FnMut(IndexVariable, &Statement)) {
    statement.for_each_loop(&mut |variable, run, body| {
        if matches!(run, Run::Parallel | Run::ParallelOr(_)) {
            visit(variable, body);
        }
    });
}

/// Refuses what no parallel loop keeps to.
pub(super) fn check(kernel: &Kernel, found: &mut Diagnostics) {
    balance::check(kernel, found);
    output::check(kernel, found);
}

/// Whether a directive is about operands and results, which are settled before loops.
pub(super) fn is_of_operands(name: &str) -> bool {
    matches!(name, "walk" | "copy" | "assemble" | "workspace")
}

/// What is said of an argument.
pub(super) fn choice(directive: &Directive, place: usize) -> Option<&Expr> {
    directive.choices.iter().find(|(of, _)| *of == place).map(|(_, value)| value)
}

/// A name, and what stands in parentheses behind it, where something does.
pub(super) fn named(expr: &Expr) -> Option<(String, Option<Vec<String>>)> {
    let text = |index: &Index| match index {
        Index::Expr(index) => index.to_string(),
        Index::Range { start, end, .. } => format!("{start}..{end}"),
    };
    match &expr.kind {
        ExprKind::Name(name) => Some((name.name.clone(), None)),
        ExprKind::Access(access) => Some((access.name.name.clone(), Some(access.indices.iter().map(text).collect()))),
        ExprKind::Call(name, arguments) => {
            Some((name.name.clone(), Some(arguments.iter().map(ToString::to_string).collect())))
        }
        _ => None,
    }
}

/// What directives ask for that the scheduler must come by: the name, what is said where it does not, and the remedy.
const PROMISES: &[(&str, &str, &str)] = &[
    ("inline", "there is no such temporary", "name a tensor that `let` declares"),
    ("materialize", "there is no such temporary", "name a tensor that `let` declares"),
    (
        "walk",
        "its stored levels are not walked",
        "all other operands must be dense, or stored alike and read at the same indices, and the result dense or stored alike",
    ),
    (
        "copy",
        "no loops read such a copy",
        "name the indices of the operand as a statement has them, in another order than that of its levels",
    ),
    ("assemble", "no statement makes this result so", "name the result of a statement"),
    (
        "workspace",
        "there is no such workspace for entries in any order",
        "`spc compile --emit schedule` prints the workspaces that there are",
    ),
    (
        "accumulate",
        "nothing is accumulated over this loop",
        "name a loop that reduces, and in which the result does not change with the loops inside of it but for a vector",
    ),
    (
        "parallel",
        "there are no shares of this operand",
        "the operand must be the only one that is walked by the outermost loop, in levels that follow each other",
    ),
    (
        "split",
        "these rows are not gone through in chunks",
        "take the rows of a dense result which an outer loop over stored levels comes by again, or leave out the `walk`",
    ),
];

/// Reports what directives ask for and no kernel does.
pub(super) fn unkept(chain: &notation::Chain, kernels: &[Kernel]) -> Diagnostics {
    let notation = &chain.kernel;
    let mut found = Diagnostics::new();
    let directives = notation.schedule.iter().flat_map(|schedule| &schedule.directives);
    for directive in directives {
        let name = directive.name.name.as_str();
        let is_kept = kernels.iter().any(|kernel| kernel.asked.kept.contains(&directive.span));
        let is_none = || choice(directive, 0).and_then(named).is_some_and(|(way, _)| way == "none");
        let is_wanted = match name {
            "walk" | "copy" => !is_none(),
            "parallel" => choice(directive, 0).is_some() && !is_none(),
            "split" => {
                let is_it = |kernel: &Kernel| kernel.asked.chunks.iter().any(|chunks| chunks.span == directive.span);
                kernels.iter().any(is_it)
            }
            "inline" | "materialize" => !is_temporary(chain, directive),
            _ => true,
        };
        let promise = PROMISES.iter().find(|(of, ..)| *of == name);
        if let Some((_, label, help)) = promise.filter(|_| is_wanted && !is_kept) {
            let problem =
                Diagnostic::new(codes::SCHEDULE_REFUSED, directive.span, format!("`{directive}` can't be kept to"));
            found.push(problem.label(*label).help(*help));
        }
        found.extend(unknown_loops(notation, kernels, directive));
        found.extend(refused(kernels, directive));
    }
    found
}

/// Why a loop can't be as a directive asks.
struct Refusal {
    message: String,
    label: &'static str,
    help: String,
}

/// Refuses what is asked of single loops, where no loop can be so.
fn refused(kernels: &[Kernel], directive: &Directive) -> Option<Diagnostic> {
    let mut refusals = Vec::new();
    for kernel in kernels {
        let simd = kernel.asked.simd.iter().filter(|(.., span)| *span == directive.span);
        refusals.extend(simd.map(|&(variable, simd, _)| simd::refusal(kernel, variable, simd)));
        let tiles = kernel.asked.tiles.iter().filter(|(.., span)| *span == directive.span);
        refusals.extend(tiles.map(|&(variable, ..)| register_tile::refusal(kernel, variable)));
    }
    if refusals.iter().any(Option::is_none) {
        return None;
    }
    let Refusal { message, label, help } = refusals.into_iter().flatten().next()?;
    Some(Diagnostic::new(codes::SCHEDULE_REFUSED, directive.span, message).label(label).help(help))
}

/// Reports what is asked of single loops and passes did not make of any, given each kernel with what they made of its loops. What
/// could be told before is refused by then.
pub fn unmade<'a>(chain: &notation::Chain, kernels: impl Iterator<Item = (&'a Kernel, &'a [Choice])>) -> Diagnostics {
    let mut spans: Vec<(Span, bool)> = Vec::new();
    let mut see = |span: Span, is_made: bool| match spans.iter_mut().find(|(other, _)| *other == span) {
        Some((_, some)) => *some |= is_made,
        None => spans.push((span, is_made)),
    };
    for (kernel, choices) in kernels.filter(|(kernel, _)| kernel.target == Target::Cpu) {
        let asked = &kernel.asked;
        let some = |variable: IndexVariable, is_it: &dyn Fn(&Choice) -> bool| {
            choices.iter().any(|choice| choice.of == kernel.variable(variable) && is_it(choice))
        };
        for &(variable, simd, span) in asked.simd.iter().filter(|(of, simd, _)| asked.simd_of(*of) == Some(*simd)) {
            see(span, simd == Simd::None || some(variable, &|choice| choice.vectorized == Some(simd)));
        }
        for &(variable, tile, span) in asked.tiles.iter().filter(|(of, tile, _)| asked.tile_of(*of) == Some(*tile)) {
            see(span, tile == Tile::Whole || some(variable, &|choice| choice.tiled == Some(tile)));
        }
    }
    let mut found = Diagnostics::new();
    let directives = chain.kernel.schedule.iter().flat_map(|schedule| &schedule.directives);
    for directive in directives.filter(|directive| spans.contains(&(directive.span, false))) {
        let (label, help) = match directive.name.name.as_str() {
            "simd" => (
                "no loop can be expanded like this",
                "an accumulator must hold the total, and terms combine values of one run or dense row with what is read at its \
                 coordinates; ask for `none`, or leave the choice to the compiler",
            ),
            _ => (
                "no rows are reduced into, each element apart from the others",
                "tiles are of loops which reduce into a row that is accumulated; leave it out",
            ),
        };
        let message = format!("`{directive}` can't be kept to");
        found.push(Diagnostic::new(codes::SCHEDULE_REFUSED, directive.span, message).label(label).help(help));
    }
    found
}

/// What is asked of single loops, for `spc explain`.
pub(super) fn remarks(kernel: &Kernel) -> Vec<Remark> {
    let name = |variable: IndexVariable| kernel.variable(variable).to_owned();
    let simd = kernel.asked.simd.iter().filter(|(of, simd, _)| kernel.asked.simd_of(*of) == Some(*simd));
    let simd = simd.filter(|(of, ..)| !is_extent_alone(kernel, *of));
    let simd = simd.map(|&(variable, simd, _)| What::Simd(name(variable), simd));
    let tiles = kernel.asked.tiles.iter().filter(|(of, tile, _)| kernel.asked.tile_of(*of) == Some(*tile));
    let tiles = tiles.map(|&(variable, tile, _)| What::Tiled(name(variable), tile));
    let remark = |what: What| match kernel.target {
        Target::Cpu => Remark::new(what, Why::Asked),
        Target::Gpu => Remark::new(What::Unused(what.directive().unwrap_or_default()), Why::ThreadsAreLanes),
    };
    simd.chain(tiles).map(remark).collect()
}

/// Whether a variable stands for an extent: of computed indices, where nothing runs over it, or as `sum(i)(1)` is one.
fn is_extent_alone(kernel: &Kernel, of: IndexVariable) -> bool {
    let (mut has_loop, mut is_counted) = (false, false);
    kernel.body.for_each_loop(&mut |variable, _, body| {
        if variable == of {
            has_loop = true;
            let mut has_place = false;
            body.for_each_read(&mut |access| has_place |= kernel.loops_of(&access.indices).contains(&of));
            is_counted |= !has_place && crate::lattice::operands(kernel, variable, body).is_empty();
        }
    });
    if is_counted {
        return true;
    }
    let variables = || (0..kernel.variables.len()).map(IndexVariable);
    let counts = |variable: IndexVariable| match &kernel.variables[variable.0].value {
        Some(Computed::Index { index, .. }) => index.extents().contains(&of),
        _ => false,
    };
    !has_loop && variables().any(counts)
}

/// What passes made of loops as it would be asked for. A word is said where it holds for all loops of a name that it can hold for, so
/// that passes which are asked for it make the same.
pub(super) fn made(kernel: &Kernel, choices: &[Choice]) -> Vec<Remark> {
    let mut names: Vec<&str> = Vec::new();
    choices.iter().for_each(|choice| {
        if !names.contains(&choice.of.as_str()) {
            names.push(&choice.of);
        }
    });
    let mut found = Vec::new();
    for name in names {
        let own = || choices.iter().filter(|choice| choice.of == name);
        let is_made = |simd: Simd| own().any(|choice| choice.vectorized == Some(simd));
        let is_reduced = || {
            let variables = (0..kernel.variables.len()).map(IndexVariable);
            variables.into_iter().any(|of| kernel.variable(of) == name && !reductions(kernel, of).is_empty())
        };
        // Parts of runs that are taken together run in lanes.
        let simd = match [Simd::SideBySide, Simd::Segmented, Simd::Lanes].map(is_made) {
            [true, true, _] => None,
            [true, ..] => Some(Simd::SideBySide),
            [_, true, _] => Some(Simd::Segmented),
            [.., true] => Some(Simd::Lanes),
            _ => is_reduced().then_some(Simd::None),
        };
        let mut tiles: Vec<Tile> = own().filter_map(|choice| choice.tiled).collect();
        tiles.dedup();
        let tile = if tiles.len() == 1 { tiles.pop() } else { None };
        found.extend(simd.map(|simd| Remark::new(What::Simd(name.to_owned(), simd), Why::Vectorized(simd))));
        found.extend(tile.map(|tile| Remark::new(What::Tiled(name.to_owned(), tile), Why::Registers(tile))));
    }
    found
}

/// The innermost loops over a variable that reduce into one value: by which operator, of which elements, and the levels they walk.
fn reductions(kernel: &Kernel, of: IndexVariable) -> Vec<(ReduceOperator, ElementType, Vec<LevelFormat>)> {
    let mut found = Vec::new();
    kernel.body.for_each_loop(&mut |variable, run, body| {
        let Statement::Assign(assign) = body else { return };
        let Some(operator) = assign.operator else { return };
        if kernel.asked.original(variable) != of && variable != of || run == Run::Vector {
            return;
        }
        let walked = crate::lattice::operands(kernel, variable, body);
        let levels = walked.iter().filter_map(|access| {
            let format = &kernel.tensor(access.tensor).format;
            format.mode_order()?;
            let level = level_variables(access, format).iter().position(|other| *other == variable)?;
            Some(format.levels[level].format)
        });
        found.push((operator, kernel.tensor(assign.target.tensor).element, levels.collect()));
    });
    found
}

/// Whether a loop over a variable runs in vector lanes.
fn has_vector_loop(kernel: &Kernel, of: IndexVariable) -> bool {
    let mut found = false;
    kernel.body.for_each_loop(&mut |variable, run, _| {
        found |= run == Run::Vector && (variable == of || kernel.asked.original(variable) == of);
    });
    found
}

/// Whether what a directive names is a temporary, of which it was decided whether it is made.
fn is_temporary(chain: &notation::Chain, directive: &Directive) -> bool {
    let Some(ExprKind::Name(name)) = directive.arguments.first().map(|of| &of.kind) else { return false };
    chain.decisions.iter().any(|remark| {
        matches!(&remark.what, What::Inlined(of) | What::Materialized(of, _) | What::CutOff(of) if *of == name.name)
    })
}

/// Numbered loops that no term has.
fn unknown_loops(notation: &notation::Kernel, kernels: &[Kernel], directive: &Directive) -> Vec<Diagnostic> {
    let declared = directives::ALL.iter().find(|declared| declared.name == directive.name.name);
    let kinds = declared.map_or(&[][..], |declared| declared.arguments);
    let mut found = Vec::new();
    for (place, argument) in directive.arguments.iter().enumerate() {
        let is_old = matches!(
            kinds.get(place).or(kinds.last()),
            Some(Argument::Old | Argument::OldOr | Argument::ChosenOld | Argument::Olds)
        );
        let ExprKind::Name(name) = &argument.kind else { continue };
        let is_numbered = name.name.rsplit_once('_').is_some_and(|(_, number)| number.parse::<u32>().is_ok());
        let is_known = notation.variables.iter().any(|variable| variable.name == name.name)
            || kernels.iter().flat_map(|kernel| &kernel.variables).any(|variable| variable.name == name.name)
            || kernels.iter().flat_map(|kernel| &kernel.asked.chains).any(|chain| chain.is_called(&name.name));
        if is_old && is_numbered && !is_known {
            let message = format!("there is no loop `{}`", name.name);
            let problem = Diagnostic::new(codes::SCHEDULE_REFUSED, name.span, message).label("no term has it");
            found.push(problem.help("`spc compile --emit concrete` prints all loops"));
        }
    }
    found
}

impl Directives<'_> {
    /// Applies a directive; checking the notation has reported an unknown one.
    pub(super) fn apply(&mut self, directive: &Directive) {
        if let Some(rule) = rule(&directive.name.name) {
            (rule.apply)(self, directive);
        }
    }

    /// The tensor of a name; in a kernel of another statement it does not occur.
    pub(super) fn tensor(&self, name: &str) -> Option<super::TensorId> {
        self.notation.tensors.iter().position(|known| known.name == name).map(super::TensorId)
    }

    /// Whether a directive names a loop that is not there: those over stored levels, or chunks of rows, may come.
    pub(super) fn waits(&self, directive: &Directive) -> bool {
        let declared = directives::ALL.iter().find(|declared| declared.name == directive.name.name);
        let kinds = declared.map_or(&[][..], |declared| declared.arguments);
        directive.arguments.iter().enumerate().any(|(place, argument)| {
            let kind = kinds.get(place).or(kinds.last());
            let is_old = matches!(kind, Some(Argument::Old | Argument::OldOr | Argument::ChosenOld | Argument::Olds));
            let ExprKind::Name(name) = &argument.kind else { return false };
            let variables = self.kernel.variables.iter();
            let is_chain = |chain: &super::Chain| {
                chain.is_called(&name.name) || chain.inside.as_deref() == Some(name.name.as_str())
            };
            is_old
                && !variables.into_iter().any(|variable| is_called(&variable.name, &name.name))
                && !self.kernel.asked.chains.iter().any(is_chain)
        })
    }
}
