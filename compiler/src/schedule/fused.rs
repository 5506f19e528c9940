//! Loops that the schedule names as one: fused ones, and loops over positions.
//!
//! `fuse(i, j, f)` makes one loop of two. Where all that `i` and `j` index is dense, it goes over the coordinates of both, and
//! these are computed; else it goes over what an operand stores:
//!
//! ```text
//! for all f in 0..ni * nj         i = f / nj, j = f % nj
//! for all f in positions of A(i, j)
//! ```
//!
//! `positions(f, A, p)` asks for the latter, also for one loop, and says whose positions: `split(p, p0, p1, 256)` then cuts them in
//! blocks, `parallel(p)` or `parallel(p0)` in equal [shares](super::share).

use super::Chain;
use super::directives::Directives;
use super::extents::is_searched;
use super::is_identity;
use super::level_variables;
use super::lift::{has_sum, normalize};
use super::state::Scheduler;
use super::{Access, Computed, ExtentOf, IndexVariable, Kernel, Statement, TensorId};
use crate::diagnostics::{Diagnostic, Diagnostics, Span, codes::notation as codes};
use crate::notation;
use crate::syntax::{Directive, ExprKind};

impl Directives<'_> {
    /// The chains of a name; more than one where several terms have loops of that name.
    pub(super) fn chains(&mut self, name: &str) -> Vec<&mut Chain> {
        let chains = self.kernel.asked.chains.iter_mut();
        chains.filter(|chain| chain.is_called(name) || chain.inside.as_deref() == Some(name)).collect()
    }

    /// The loops, outermost first, of each chain or variable of a name.
    fn loops_named(&mut self, argument: &crate::syntax::Expr) -> Vec<Vec<IndexVariable>> {
        let ExprKind::Name(name) = &argument.kind else { return Vec::new() };
        let chains: Vec<Vec<IndexVariable>> =
            self.chains(&name.name).into_iter().map(|chain| chain.variables.clone()).collect();
        match chains.is_empty() {
            true => self.variables(argument).into_iter().map(|variable| vec![variable]).collect(),
            false => chains,
        }
    }

    /// `fuse(i, j, f)`
    pub(super) fn fuse(&mut self, directive: &Directive) {
        let [outer, inner, new] = &directive.arguments[..] else { return };
        let ExprKind::Name(new) = &new.kind else { return };
        let (outer, inner) = (self.loops_named(outer), self.loops_named(inner));
        let is_stored = |variable: &IndexVariable| self.is_stored(*variable);
        if outer.iter().chain(&inner).flatten().any(is_stored) {
            for outer in &outer {
                for inner in &inner {
                    let variables: Vec<IndexVariable> = outer.iter().chain(inner).copied().collect();
                    let edges = variables.windows(2).map(|pair| (pair[0], pair[1]));
                    self.kernel.asked.order.extend(edges);
                    self.remember(&new.name, variables, directive.span);
                }
            }
            // What was fused before is part of this now.
            let chains = &mut self.kernel.asked.chains;
            let is_part = |chain: &Chain| {
                !chain.is_called(&new.name) && (outer.contains(&chain.variables) || inner.contains(&chain.variables))
            };
            return chains.retain(|chain| !is_part(chain));
        }
        match (&outer[..], &inner[..]) {
            ([outer], [inner]) if outer.len() == 1 && inner.len() == 1 => {
                self.fuse_dense(directive.span, outer[0], inner[0], &new.name);
            }
            ([], _) | (_, []) => {}
            _ => self.refuse(
                directive.span,
                "a loop that several terms have on their own can't be fused".to_owned(),
                "stands for more than one loop",
                "write a kernel for each term".to_owned(),
            ),
        }
    }

    /// Whether the variable, or what is made of it, indexes something that is not dense.
    fn is_stored(&self, variable: IndexVariable) -> bool {
        let written = |id: usize| self.kernel.asked.original(IndexVariable(id)).0;
        let all = (0..self.kernel.variables.len()).map(IndexVariable);
        let stores = |id: IndexVariable| {
            self.kernel.variables[id.0].level.as_ref().is_some_and(|level| {
                let stored = &self.kernel.tensor(level.tensor).format.levels[level.level];
                !crate::level::is_located(stored.format)
            })
        };
        if stores(variable) {
            return true;
        }
        let mut made_of_it = all.filter(|&id| id == variable || self.kernel.running(id).contains(&variable));
        made_of_it.any(|id| written(id.0) < self.notation.variables.len() && is_searched(self.notation, written(id.0)))
    }

    fn remember(&mut self, name: &str, variables: Vec<IndexVariable>, span: Span) {
        self.kernel.asked.chains.push(Chain {
            names: vec![name.to_owned()],
            inside: None,
            variables,
            operand: None,
            by: None,
            is_parallel: false,
            around: Vec::new(),
            span,
        });
    }

    /// One loop over the coordinates of both.
    fn fuse_dense(&mut self, span: Span, outer: IndexVariable, inner: IndexVariable, new: &str) {
        if outer == inner || [outer, inner].iter().any(|part| self.kernel.variables[part.0].value.is_some()) {
            let name = self.kernel.variable(if outer == inner { inner } else { outer }).to_owned();
            let message = format!("`{name}` has no loop of its own to be fused");
            let help =
                "fuse loops that are neither split nor fused yet, or the parts that they were split into".to_owned();
            return self.refuse(span, message, "is computed from others, or named twice", help);
        }
        if let Some(problem) = self.problem_of_fusing(outer, inner) {
            let message = "loops of which one alone is around a part of the kernel can't be fused".to_owned();
            return self.refuse(span, message, problem, "fuse loops that are around the same".to_owned());
        }
        let extents = [outer, inner].map(|part| self.kernel.variables[part.0].extent);
        let whole = self.declare(new, ExtentOf::Product(extents[0], extents[1]));
        for (part, is_outer) in [(outer, true), (inner, false)] {
            self.kernel.variables[part.0].value = Some(Computed::Fused { whole, row: extents[1], is_outer });
        }
        let order = std::mem::take(&mut self.kernel.asked.order);
        let fused = |end: IndexVariable| if end == outer || end == inner { whole } else { end };
        let order = order.into_iter().map(|(before, after)| (fused(before), fused(after)));
        self.kernel.asked.order = order.filter(|(before, after)| before != after).collect();
    }

    /// Why two loops can't be one: all that the statement does must be inside of both.
    fn problem_of_fusing(&self, outer: IndexVariable, inner: IndexVariable) -> Option<&'static str> {
        let [statement] = &self.notation.statements[..] else {
            return Some("there are several statements");
        };
        if !self.kernel.asked.parts.found.is_empty() {
            return Some("a part that is precomputed has loops of its own");
        }
        let value = normalize(&statement.value);
        let body = match &value {
            notation::Expr::Reduce(operator, _, body) => {
                let fill = self.notation.begins_with(statement);
                let told = |part: &IndexVariable| self.kernel.loops_of(&statement.target.indices).contains(part);
                if !is_identity(*operator, fill) && ![outer, inner].iter().all(told) {
                    return Some("the result begins with something else than the reduction");
                }
                &**body
            }
            value => value,
        };
        if has_sum(body) {
            return Some("a sum inside of the expression has loops of its own");
        }
        let mut used = statement.target.indices.clone();
        body.for_each_access(&mut |access| used.extend(&access.indices));
        let running = self.kernel.loops_of(&used);
        let both = [outer, inner].iter().all(|part| running.contains(part));
        (!both).then_some("one of them is no loop of the statement")
    }

    /// `positions(f, A, p)`
    pub(super) fn positions(&mut self, directive: &Directive) {
        let [old, tensor, new] = &directive.arguments[..] else { return };
        let (ExprKind::Name(old_name), ExprKind::Name(tensor), ExprKind::Name(new)) =
            (&old.kind, &tensor.kind, &new.kind)
        else {
            return;
        };
        let tensors = &self.notation.tensors;
        // In a kernel of another statement the tensor does not occur.
        let Some(id) = tensors.iter().position(|known| known.name == tensor.name) else { return };
        if self.chains(&old_name.name).is_empty() {
            for variable in self.variables(old) {
                self.remember(&old_name.name, vec![variable], directive.span);
            }
        }
        let span = directive.span;
        for chain in self.chains(&old_name.name) {
            chain.names.push(new.name.clone());
            chain.operand = Some(TensorId(id));
            chain.span = span;
        }
    }

    /// `split(p, p0, p1, 256)` of positions.
    pub(super) fn split_positions(&mut self, directive: &Directive, name: &str, parts: [&str; 2], by: u32) {
        let span = directive.span;
        let mut problem = None;
        for chain in self.chains(name) {
            if chain.operand.is_none() {
                problem = Some("say whose positions are split: `positions(f, A, p)`, then split `p`");
            } else if chain.by.is_some() {
                problem = Some("blocks of positions are split once");
            }
            chain.by = Some(by.into());
            chain.names.push(parts[0].to_owned());
            chain.inside = Some(parts[1].to_owned());
        }
        if let Some(help) = problem {
            let message = format!("`{name}` has no coordinates that could be split");
            self.refuse(span, message, "goes over what is stored", help.to_owned());
        }
    }

    /// `parallel(p)`, `vector(p)`, `unroll(p)` of a loop over what is stored; false where the name is that of no such loop.
    pub(super) fn run_chain(&mut self, directive: &Directive, argument: &crate::syntax::Expr) -> bool {
        let ExprKind::Name(name) = &argument.kind else { return false };
        let is_parallel = directive.name.name == "parallel";
        let mut is_refused = false;
        let chains = self.chains(&name.name);
        if chains.is_empty() {
            return false;
        }
        for chain in chains {
            let is_split = chain.by.is_some() && chain.names.last() != Some(&name.name);
            is_refused |= !is_parallel || is_split;
            chain.is_parallel = true;
        }
        if is_refused {
            let message = format!("the loop over `{}` can't run like this", name.name);
            let help = "run the loop over positions, or over their blocks, in parallel".to_owned();
            self.refuse(argument.span, message, "goes over what is stored, in order", help);
        }
        true
    }

    /// The variables that a name in `reorder` stands for, as the outer loop and as the inner one.
    pub(super) fn reordered(&mut self, argument: &crate::syntax::Expr) -> Vec<IndexVariable> {
        self.loops_named(argument).into_iter().flatten().collect()
    }

    /// Notes that loops are to be inside of that over the blocks of positions of this name.
    pub(super) fn put_around(&mut self, argument: &crate::syntax::Expr, inner: &[IndexVariable]) -> bool {
        let ExprKind::Name(name) = &argument.kind else { return false };
        let mut is_around = false;
        for chain in self.chains(&name.name) {
            if chain.by.is_some() && chain.names.last() == Some(&name.name) {
                is_around = true;
                chain.around.extend(inner.iter().filter(|variable| !chain.variables.contains(variable)));
            }
        }
        is_around
    }
}

impl Scheduler<'_> {
    /// Puts the loops over positions that the schedule asks for around what they are to go over.
    pub(super) fn cut_asked(&mut self, body: &mut Statement, found: &mut Diagnostics) {
        let chains = self.kernel.asked.chains.clone();
        let mut names: Vec<&Chain> = Vec::new();
        for chain in chains.iter().filter(|chain| chain.is_wanted()) {
            if !names.iter().any(|other| other.names == chain.names) {
                names.push(chain);
            }
        }
        for named in names {
            let same = chains.iter().filter(|chain| chain.names == named.names);
            let results: Vec<Result<(), &str>> = same.filter_map(|chain| self.cut_chain(body, chain)).collect();
            let problem = match results.iter().find_map(|result| result.err()) {
                Some(problem) => problem,
                None if results.is_empty() => "no operand stores these indices in levels that follow each other",
                None => continue,
            };
            let name = named.names.last().map_or("", String::as_str);
            let message = format!("there is no loop `{name}` over positions");
            let help = "positions are of one operand's levels, all that is done is done at its entries, and partial sums may be added";
            found.push(Diagnostic::new(codes::SCHEDULE_REFUSED, named.span, message).label(problem).help(help));
        }
    }

    /// Puts the loop over a chain's positions into a statement; `None` where it has no such loops.
    fn cut_chain(&mut self, statement: &mut Statement, chain: &Chain) -> Option<Result<(), &'static str>> {
        match statement {
            Statement::Empty | Statement::Assign(_) => None,
            Statement::Where { consumer, producer, .. } => {
                let in_producer = self.cut_chain(producer, chain);
                in_producer.or_else(|| self.cut_chain(consumer, chain))
            }
            Statement::Sequence(statements) => statements.iter_mut().find_map(|inner| self.cut_chain(inner, chain)),
            Statement::Forall { variable, body, .. } => {
                let begins = chain.variables.first() == Some(variable) || chain.around.contains(variable);
                if !begins {
                    return self.cut_chain(body, chain);
                }
                let mut loops = vec![*variable];
                body.for_each_loop(&mut |variable, _, _| loops.push(variable));
                if !chain.variables.iter().all(|variable| loops.contains(variable)) {
                    return self.cut_chain(body, chain);
                }
                Some(self.cut_here(statement, chain))
            }
        }
    }

    fn cut_here(&mut self, statement: &mut Statement, chain: &Chain) -> Result<(), &'static str> {
        let mut reads: Vec<Access> = Vec::new();
        statement.for_each_read(&mut |access| reads.push(access.clone()));
        let levels = reads.into_iter().find_map(|access| {
            let levels = self.kernel.levels_of(&access, chain)?;
            Some((access, levels))
        });
        let (access, levels) = levels.ok_or("no operand stores these indices in levels that follow each other")?;
        let levels = self.kernel.shareable_levels(&access, levels.start, levels.end - 1);
        let levels = levels.ok_or("a level has no positions of its own")?;
        let share = self.kernel.share(statement, &access, levels, chain.by)?;
        let name = chain.names.last().cloned().unwrap_or_default();
        let shares = self.declare_share(name, share.clone());
        self.put_share_around(statement, shares, &share);
        if chain.is_parallel {
            self.kernel.asked.parallel.push(shares);
        }
        Ok(())
    }
}

impl Kernel {
    /// The levels of an operand that a chain is over.
    fn levels_of(&self, access: &Access, chain: &Chain) -> Option<std::ops::Range<usize>> {
        let tensor = self.tensor(access.tensor);
        let is_it = match (&tensor.kind, chain.operand) {
            (_, None) => true,
            (kind, Some(id)) => kind.of().unwrap_or(access.tensor) == id,
        };
        let is_walked = is_it && !tensor.kind.is_workspace() && tensor.format.mode_order().is_some();
        let variables = is_walked.then(|| level_variables(access, &tensor.format))?;
        let start = variables.windows(chain.variables.len()).position(|levels| levels == chain.variables)?;
        Some(start..start + chain.variables.len())
    }
}
