//! The schedules that measuring found, and kernels of which they are: see [`tune`](super::tune).

use super::cache::Cache;
use super::hash::Fnv128;
use super::{Backend, Operand, ProgramOptions};
use crate::parallel;
use spc_compiler::concrete;
use spc_compiler::notation;
use spc_compiler::syntax::{self, Expr, ExprKind, Schedule};

/// The schedule that is remembered for a kernel without one of its own, or for what a plan made of it, with operands of these sizes.
pub(super) fn remembered(kernel: &notation::Kernel, sizes: &Sizes, options: &ProgramOptions) -> Option<Schedule> {
    let is_measured = options.backend != Some(Backend::Interpreter) && options.stream.is_none();
    let asks = options.tuned && !options.deterministic && is_measured;
    asks.then(|| Memory::of_environment().recall(kernel, &key(kernel, sizes, options)))?
}

/// How large a kernel's operands are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sizes {
    /// The extents of the default schedule, with their names.
    pub(super) extents: Vec<(String, usize)>,
    /// How many entries each sparse input has.
    pub(super) entries: Vec<usize>,
}

impl Sizes {
    pub(super) fn of(kernel: &concrete::Kernel, extents: &[usize], operands: &[Option<Operand>]) -> Self {
        let names = kernel.extents.iter().map(|extent| extent.name.clone());
        let sparse = kernel.tensors.iter().zip(operands).filter(|(tensor, _)| !tensor.format.is_dense());
        let entries = sparse.filter_map(|(_, operand)| operand.as_ref()?.entries()).collect();
        Self { extents: names.zip(extents.iter().copied()).collect(), entries }
    }

    pub(super) fn extent(&self, name: &str) -> Option<usize> {
        self.extents.iter().find(|(known, _)| known == name).map(|(_, extent)| *extent)
    }
}

/// What must agree for a schedule to be remembered: what a kernel does, where, and about how large its operands are.
pub(super) fn key(kernel: &notation::Kernel, sizes: &Sizes, options: &ProgramOptions) -> Fnv128 {
    let digits = |number: usize| usize::BITS - number.leading_zeros();
    let extents: Vec<u32> = sizes.extents.iter().map(|(_, extent)| digits(*extent)).collect();
    let entries: Vec<u32> = sizes.entries.iter().map(|&count| digits(count)).collect();
    // A plan's own schedule is a part of the plan.
    let names = Names::of(kernel);
    let planned =
        kernel.schedule.as_ref().map(|schedule| renamed(schedule, &|name| names.neutral_name(name)).to_string());
    let lines = [
        concat!("spc ", env!("CARGO_PKG_VERSION")).to_owned(),
        format!("{:?} {}", options.target(), parallel::threads()),
        names.neutral(kernel).to_string(),
        planned.unwrap_or_default(),
        format!("{extents:?} {entries:?}"),
    ];
    Fnv128::of(lines.join("\n").as_bytes())
}

/// Where schedules are kept.
pub(super) struct Memory {
    cache: Cache,
}

impl Memory {
    pub(super) fn of_environment() -> Self {
        Self { cache: Cache::of_environment() }
    }

    /// Keeps a schedule, or that none is better than the default. Names are kept as numbers.
    pub(super) fn keep(&self, kernel: &notation::Kernel, key: &Fnv128, schedule: Option<&Schedule>) {
        let names = Names::of(kernel);
        let text = schedule
            .map_or_else(String::new, |schedule| renamed(schedule, &|name| names.neutral_name(name)).to_string());
        self.cache.keep_note(&format!("tuned-{key}"), &text);
    }

    fn recall(&self, kernel: &notation::Kernel, key: &Fnv128) -> Option<Schedule> {
        let text = self.cache.note(&format!("tuned-{key}"))?;
        let schedule = syntax::parse_schedule(&text).ok()?;
        let names = Names::of(kernel);
        Some(renamed(&schedule, &|name| names.own_name(name)))
    }
}

/// The names of a kernel, and those that stand for them where names don't matter.
struct Names {
    /// Own, neutral.
    pairs: Vec<(String, String)>,
}

impl Names {
    fn of(kernel: &notation::Kernel) -> Self {
        let mut pairs: Vec<(String, String)> = Vec::new();
        let tensors = kernel.tensors.iter().enumerate().map(|(id, tensor)| (tensor.name.clone(), format!("t{id}")));
        let variables = kernel.variables.iter().enumerate().map(|(id, known)| (known.name.clone(), format!("i{id}")));
        for pair in tensors.chain(variables) {
            if !pairs.iter().any(|(own, _)| *own == pair.0) {
                pairs.push(pair);
            }
        }
        Self { pairs }
    }

    fn neutral_name(&self, own: &str) -> String {
        let pair = self.pairs.iter().find(|(name, _)| name == own);
        pair.map_or_else(|| own.to_owned(), |(_, neutral)| neutral.clone())
    }

    fn own_name(&self, neutral: &str) -> String {
        let pair = self.pairs.iter().find(|(_, name)| name == neutral);
        pair.map_or_else(|| neutral.to_owned(), |(own, _)| own.clone())
    }

    /// The kernel without any name of its own.
    fn neutral(&self, kernel: &notation::Kernel) -> notation::Kernel {
        let mut neutral = kernel.clone();
        (neutral.name, neutral.visibility) = ("kernel".to_owned(), String::new());
        neutral.documentation.clear();
        neutral.tensors.iter_mut().for_each(|tensor| tensor.name = self.neutral_name(&tensor.name));
        neutral.variables.iter_mut().for_each(|variable| variable.name = self.neutral_name(&variable.name));
        neutral
    }
}

/// A schedule with other names.
fn renamed(schedule: &Schedule, name: &dyn Fn(&str) -> String) -> Schedule {
    let argument = |argument: &Expr| match &argument.kind {
        ExprKind::Name(ident) => {
            let ident = syntax::Ident { name: name(&ident.name), span: ident.span };
            Expr { kind: ExprKind::Name(ident), ..argument.clone() }
        }
        _ => argument.clone(),
    };
    let directive = |directive: &syntax::Directive| syntax::Directive {
        arguments: directive.arguments.iter().map(argument).collect(),
        ..directive.clone()
    };
    Schedule { directives: schedule.directives.iter().map(directive).collect(), span: schedule.span }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(text: &str) -> notation::Kernel {
        notation::check(&syntax::parse_program(text).unwrap()).unwrap().remove(0)
    }

    fn sizes(entries: usize) -> Sizes {
        Sizes { extents: vec![("i".to_owned(), 100)], entries: vec![entries] }
    }

    #[test]
    fn a_schedule_is_remembered_for_kernels_that_differ_in_names() {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory { cache: Cache::in_folder(Some(folder.path().to_owned())) };
        let first = kernel("fn spmm(A: csr, X: dense) -> Y: dense { Y(i, r) = A(i, j) * X(j, r); }");
        let second = kernel("fn product(A: csr, X: dense) -> C: dense { C(m, n) = A(m, k) * X(k, n); }");
        let options = ProgramOptions::default();
        let place = |kernel, entries| key(kernel, &sizes(entries), &options);
        assert_eq!(memory.recall(&first, &place(&first, 900)), None);

        let schedule =
            syntax::parse_schedule("schedule { split(r, r_block, r_in, 16); reorder(i, r_block, j, r_in); }");
        memory.keep(&first, &place(&first, 900), schedule.as_ref().ok());
        let found = memory.recall(&second, &place(&second, 1000)).unwrap();
        assert_eq!(
            found.to_string(),
            "schedule {\n    split(n, r_block, r_in, 16);\n    reorder(m, r_block, k, r_in);\n}"
        );
        assert_eq!(memory.recall(&second, &place(&second, 2000)), None, "a larger operand");
        let other = kernel("fn product(A: coo, X: dense) -> C: dense { C(m, n) = A(m, k) * X(k, n); }");
        assert_eq!(memory.recall(&other, &place(&other, 900)), None, "another format");

        memory.keep(&first, &place(&first, 900), None);
        assert_eq!(memory.recall(&first, &place(&first, 900)), None);
    }
}
