//! A kernel on many machines: which of its indices can be renumbered by what a rank has, so that a rank needs some rows of the other
//! operands and not all of them.
//!
//! Ranks share out either the stored entries of one input, or the range of one index of the result. Each runs the kernel as it is, on
//! smaller tensors:
//!
//! ```text
//! entries of X     A(i, r) = X(i, j, k) * B(j, r) * C(k, r)      a rank with some entries needs the rows of B and C at their j and k,
//!                                                                and adds to the rows of A at their i
//! range of i       C(i, j) = A(i, j) + B(i, j)                   a rank has the rows of all tensors in its part of the range
//! ```
//!
//! The first is right where results of parts are combined to that of the whole, as for [streams](super::stream); the second wherever the
//! index stands for one mode of the result and of operands, and is nothing else.

use super::directive::{choice, named};
use super::stream::{Stream, refusal, stream};
use crate::diagnostics::Diagnostics;
use crate::notation::{Access, Expr, IndexVariable, Kernel, Reading, Role, TensorId};
use crate::syntax::{Directive, ExprKind};

/// What ranks share out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shared {
    /// The stored entries of an input.
    Entries(String),
    /// The range of an index of the result.
    Range(String),
}

/// What a schedule says that ranks share out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// What is shared out.
    pub shared: Shared,
    /// How entries are.
    pub sharing: Sharing,
}

/// How entries are shared out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sharing {
    /// As many in each, in the order of storage.
    Evenly,
    /// By so many parts of each mode.
    Grid(Vec<u64>),
    /// In two, again and again.
    Bisection,
}

/// How a kernel runs on many ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// What is shared out.
    pub shared: Shared,
    /// The indices that are renumbered on each rank. Of a shared range it is one.
    pub indices: Vec<Renumbered>,
    /// For each tensor of the kernel and each of its modes: which of `indices` it belongs to.
    pub modes: Vec<Vec<Option<usize>>>,
    /// How results of ranks become one; nothing where each has rows of its own.
    pub combine: Option<Stream>,
}

/// An index that is renumbered on each rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renumbered {
    /// Its name.
    pub name: String,
    /// All names that the text has for it.
    pub names: Vec<String>,
}

/// What the schedule of a kernel says that ranks share out, if it does.
///
/// # Errors
/// When the kernel can't be distributed so.
pub fn placed(kernel: &Kernel) -> Result<Option<Placed>, Diagnostics> {
    let directives = kernel.schedule.iter().flat_map(|schedule| &schedule.directives);
    let mut found = directives.filter(|directive| directive.name.name == "distribute");
    let Some(directive) = found.next() else { return Ok(None) };
    let second = found.next().map(|second| (second, "it is distributed twice", "ranks share out one thing"));
    if let Some((second, message, help)) = second {
        return Err(refusal(second, message.to_owned(), help.to_owned()).into());
    }
    placement(kernel, directive).map(Some).map_err(|(message, help)| refusal(directive, message, help).into())
}

/// The inputs that the schedule of a kernel wants on every rank as a whole.
///
/// # Errors
/// When one is no input, or its entries are shared out.
pub fn replicated(kernel: &Kernel) -> Result<Vec<String>, Diagnostics> {
    let shared = placed(kernel)?.map(|placed| placed.shared);
    let directives = kernel.schedule.iter().flat_map(|schedule| &schedule.directives);
    let mut names = Vec::new();
    for directive in directives.filter(|directive| directive.name.name == "replicate") {
        let refuse = |message: String, help: &str| Err(refusal(directive, message, help.to_owned()).into());
        let [argument] = &directive.arguments[..] else {
            return refuse(format!("`{directive}` names no input"), "write `replicate(B)`");
        };
        let name = argument.to_string();
        if !kernel.tensors.iter().any(|tensor| tensor.name == name && tensor.role == Role::Input) {
            return refuse(format!("`{name}` is no input"), "inputs are replicated: write `replicate(B)`");
        }
        if shared == Some(Shared::Entries(name.clone())) {
            return refuse(format!("the entries of `{name}` are shared out"), "leave out one of the two directives");
        }
        names.push(name);
    }
    Ok(names)
}

fn placement(kernel: &Kernel, directive: &Directive) -> Result<Placed, (String, String)> {
    let is_written =
        "write `distribute(X)`, `distribute(X: grid(4, 2, 1))`, `distribute(X: bisection)` or `distribute(i)`";
    let unread = || (format!("`{directive}` says nothing that ranks share out"), is_written.to_owned());
    let [shared] = &directive.arguments[..] else { return Err(unread()) };
    let ExprKind::Name(shared) = &shared.kind else { return Err(unread()) };
    let tensor = kernel.tensors.iter().find(|tensor| tensor.name == shared.name && tensor.role == Role::Input);
    let sharing = match choice(directive, 0).map(named) {
        None => Sharing::Evenly,
        Some(Some((name, None))) if name == "bisection" => Sharing::Bisection,
        Some(Some((name, Some(parts)))) if name == "grid" => {
            let parts = parts.iter().map(|part| part.parse().ok().filter(|parts| *parts > 0));
            Sharing::Grid(parts.collect::<Option<Vec<u64>>>().ok_or_else(unread)?)
        }
        Some(_) => return Err(unread()),
    };
    if tensor.is_none() && sharing == Sharing::Bisection {
        let what = format!("`{}` is no input whose entries could be cut in two", shared.name);
        return Err((what, is_written.to_owned()));
    }
    if let Sharing::Grid(parts) = &sharing {
        let order = tensor.map_or(1, |tensor| tensor.format.order);
        if tensor.is_none() || parts.len() != order {
            let what = format!("a grid over {} modes, and `{}` has {order}", parts.len(), shared.name);
            return Err((what, "a grid says the parts of each mode of an input, 1 where it is not cut".to_owned()));
        }
    }
    let shared = match tensor {
        Some(_) => Shared::Entries(shared.name.clone()),
        None => Shared::Range(shared.name.clone()),
    };
    distribution(kernel, &shared)?;
    Ok(Placed { shared, sharing })
}

/// The input whose entries are best shared out: the sparse one of most modes, of which results of parts make that of the whole.
pub fn shared_input(kernel: &Kernel) -> Option<String> {
    let inputs = kernel.tensors.iter().filter(|tensor| tensor.role == Role::Input && !tensor.format.is_dense());
    let possible = inputs.filter(|tensor| stream(kernel, &tensor.name, 1).is_ok());
    possible.max_by_key(|tensor| tensor.format.order).map(|tensor| tensor.name.clone())
}

/// The indices of the result whose range can be shared out.
pub fn shared_ranges(kernel: &Kernel) -> Vec<String> {
    let [statement] = &kernel.statements[..] else { return Vec::new() };
    let names = statement.target.indices.iter().map(|&index| kernel.variable(index).to_owned());
    names.filter(|name| distribution(kernel, &Shared::Range(name.clone())).is_ok()).collect()
}

/// How a kernel runs on ranks that share something out.
///
/// # Errors
/// Why it can't, and what to do about it.
pub fn distribution(kernel: &Kernel, shared: &Shared) -> Result<Distribution, (String, String)> {
    let [statement] = &kernel.statements[..] else {
        let help = "make a kernel of each statement, and distribute them one after the other";
        return Err(("a kernel of several statements is not distributed".to_owned(), help.to_owned()));
    };
    if statement.is_recurrent() {
        let help = "a recurrence has an order, in which ranks would wait for each other";
        return Err(("a kernel that reads its own result is not distributed".to_owned(), help.to_owned()));
    }
    if kernel.has_symmetric() {
        return Err(super::stream::symmetric());
    }
    let uses = Uses::of(kernel);
    match shared {
        Shared::Entries(name) => {
            let combine = stream(kernel, name, 1)?;
            let tensor = TensorId(kernel.tensors.iter().position(|tensor| tensor.name == *name).expect("it streams"));
            let read: Vec<&Access> = uses.accesses.iter().copied().filter(|access| access.tensor == tensor).collect();
            // Only what an entry decides is nothing at all other coordinates.
            let is_decided = |variable: &IndexVariable| read.iter().any(|access| access.indices.contains(variable));
            let is_renumbered = |class: &Class| class.is_plain && class.variables.iter().all(is_decided);
            Ok(uses.distribution(shared.clone(), &is_renumbered, Some(combine)))
        }
        Shared::Range(name) => {
            let target = &statement.target;
            let is_it = |index: &&IndexVariable| kernel.variable(**index) == name;
            let Some(index) = target.indices.iter().find(is_it) else {
                let names = target.indices.iter().map(|&index| format!("`{}`", kernel.variable(index)));
                let names = names.collect::<Vec<_>>().join(", ");
                let help = match target.indices.is_empty() {
                    true => "the result has none: share out the entries of an input".to_owned(),
                    false => format!("the result has {names}"),
                };
                return Err((format!("`{name}` is no index of the result"), help));
            };
            let is_renumbered = |class: &Class| class.is_plain && class.variables == [*index];
            let of = uses.distribution(shared.clone(), &is_renumbered, None);
            if of.indices.is_empty() {
                let help = "share out an index that stands alone for a mode, with a range of its own, or the entries of an input";
                return Err((format!("parts of the range of `{name}` are not computed alone"), help.to_owned()));
            }
            Ok(of)
        }
    }
}

/// Index variables that have one range: they stand for one mode of some tensor, or have one name in the text.
#[derive(Debug)]
struct Class {
    variables: Vec<IndexVariable>,
    /// Whether they say where entries are, and nothing else: no number is made of them, and no other index.
    is_plain: bool,
}

/// What a kernel does with its indices.
struct Uses<'a> {
    kernel: &'a Kernel,
    accesses: Vec<&'a Access>,
    classes: Vec<Class>,
}

impl<'a> Uses<'a> {
    fn of(kernel: &'a Kernel) -> Self {
        let mut accesses = Vec::new();
        for statement in &kernel.statements {
            accesses.push(&statement.target);
            accesses.extend(&statement.mask);
            accesses.extend(statement.value.accesses());
        }
        let mut of = Self { kernel, accesses, classes: Vec::new() };
        let all = (0..kernel.variables.len()).map(IndexVariable);
        let number = |variable: &IndexVariable| of.is_number(*variable);
        of.classes = all.map(|variable| Class { is_plain: !number(&variable), variables: vec![variable] }).collect();
        for one in (0..kernel.variables.len()).map(IndexVariable) {
            for other in (0..one.0).map(IndexVariable) {
                if crate::notation::alike(&kernel.variables, one, other) || of.share_a_mode(one, other) {
                    of.unite(one, other);
                }
            }
        }
        of
    }

    /// Whether a variable is more than a place: a number in the expression, part of a computed index, or computed itself.
    fn is_number(&self, variable: IndexVariable) -> bool {
        fn counts(expr: &Expr, variable: IndexVariable) -> bool {
            matches!(expr, Expr::Index(index, _) if *index == variable)
                || expr.children().into_iter().any(|child| counts(child, variable))
        }
        let own = &self.kernel.variables[variable.0];
        let in_others = self.kernel.variables.iter().filter_map(|other| other.value.as_ref());
        own.value.is_some()
            || own.extent.is_some()
            || in_others
                .into_iter()
                .any(|value| value.variables().contains(&variable) || value.extents().contains(&variable))
            || self.kernel.statements.iter().any(|statement| counts(&statement.value, variable))
    }

    /// Whether two variables stand for the same mode of a tensor.
    fn share_a_mode(&self, one: IndexVariable, other: IndexVariable) -> bool {
        let place = |access: &Access, variable| access.indices.iter().position(|&index| index == variable);
        self.accesses.iter().any(|first| {
            place(first, one).is_some_and(|mode| {
                self.accesses.iter().any(|second| second.tensor == first.tensor && second.indices[mode] == other)
            })
        })
    }

    fn unite(&mut self, one: IndexVariable, other: IndexVariable) {
        let (one, other) = (self.class(one), self.class(other));
        if one != other {
            let class = self.classes.remove(one.max(other));
            let into = &mut self.classes[one.min(other)];
            into.variables.extend(class.variables);
            into.is_plain &= class.is_plain;
        }
    }

    fn class(&self, variable: IndexVariable) -> usize {
        self.classes.iter().position(|class| class.variables.contains(&variable)).expect("every variable has a class")
    }

    fn distribution(
        &self,
        shared: Shared,
        is_renumbered: &dyn Fn(&Class) -> bool,
        combine: Option<Stream>,
    ) -> Distribution {
        // A tensor whose values are read at the places of another has the same entries: it is not cut by itself. Nor is one whose format
        // depends on what its coordinates are.
        let ties = |access: &Access| self.kernel.tensor(access.tensor).format.ties_coordinates();
        let reads_of = |access: &&&Access| access.reads != Reading::Value || ties(access);
        let plain: Vec<&Class> = self
            .classes
            .iter()
            .filter(|class| {
                let of_others = self.accesses.iter().filter(reads_of);
                let mut indices = of_others.flat_map(|access| &access.indices);
                is_renumbered(class) && !indices.any(|index| class.variables.contains(index))
            })
            .collect();
        let renumbered = |class: &&Class| {
            let names = class.variables.iter().map(|&variable| self.kernel.variable(variable).to_owned());
            let mut names: Vec<String> = names.collect();
            names.dedup();
            Renumbered { name: names[0].clone(), names }
        };
        let mode_of = |tensor: usize, mode: usize| {
            let access = self.accesses.iter().find(|access| access.tensor == TensorId(tensor))?;
            plain.iter().position(|class| class.variables.contains(&access.indices[mode]))
        };
        let of_tensor = |(place, tensor): (usize, &crate::notation::Tensor)| {
            (0..tensor.format.order).map(|mode| mode_of(place, mode)).collect()
        };
        let modes = self.kernel.tensors.iter().enumerate().map(of_tensor).collect();
        Distribution { shared, indices: plain.iter().map(renumbered).collect(), modes, combine }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{notation, syntax};

    fn kernel(text: &str) -> Kernel {
        let program = syntax::parse_program(text).unwrap_or_else(|problems| panic!("{problems:?}"));
        notation::check(&program).unwrap_or_else(|problems| panic!("{problems:?}")).remove(0)
    }

    fn of_entries(text: &str, tensor: &str) -> Vec<Vec<Option<usize>>> {
        distribution(&kernel(text), &Shared::Entries(tensor.to_owned())).unwrap().modes
    }

    #[test]
    fn what_an_entry_decides_is_renumbered() {
        let mttkrp = "fn mttkrp(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }";
        let modes = of_entries(mttkrp, "X");
        let [i, j, k] = modes[0][..] else { panic!("{modes:?}") };
        assert!(i.is_some() && j.is_some() && k.is_some());
        assert_eq!(modes[1..], [vec![j, None], vec![k, None], vec![i, None]]);
    }

    #[test]
    fn indices_of_one_mode_are_renumbered_together() {
        let modes = of_entries("fn form(A: csr, x: dense) -> s: f64 { s = x(i) * A(i, j) * x(j); }", "A");
        assert_eq!(modes, [vec![Some(0), Some(0)], vec![Some(0)], vec![]]);
    }

    #[test]
    fn what_a_sum_of_others_runs_over_is_whole() {
        let text = "fn norm(A: csr, B: dense) -> y: dense { y(i) = A(i, j) * sum(k)(B(k, j)) * sum(l, m)(B(l, m)); }";
        let modes = of_entries(text, "A");
        assert_eq!(modes[0], [Some(0), None]);
        assert_eq!(modes[1], [None, None]);
    }

    #[test]
    fn computed_indices_and_numbers_are_not_renumbered() {
        let windows = "fn windows(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j + 1); }";
        assert_eq!(of_entries(windows, "A")[0], [Some(0), None]);
        let numbers = "fn moment(A: csr) -> y: dense { y(i) = A(i, j) * j; }";
        assert_eq!(of_entries(numbers, "A")[0], [Some(0), None]);
    }

    #[test]
    fn ranges_are_of_indices_that_stand_alone() {
        let sum = kernel("fn sum(A: csr, B: csr) -> C: csr { C(i, j) = A(i, j) + B(i, j); }");
        assert_eq!(shared_ranges(&sum), ["i", "j"]);
        assert!(shared_input(&sum).is_none());
        let square = kernel("fn square(A: csr) -> C: csr { C(i, j) = A(i, k) * A(k, j); }");
        assert!(shared_ranges(&square).is_empty());
        let (message, _) = distribution(&square, &Shared::Range("i".to_owned())).unwrap_err();
        assert_eq!(message, "parts of the range of `i` are not computed alone");
        assert!(distribution(&square, &Shared::Range("k".to_owned())).is_err());
    }
}
