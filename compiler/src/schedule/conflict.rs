//! How the chunks of a parallel loop meet in each array that they write: decided here, once, for the loop as it is scheduled.
//! `spc explain` prints the answer, lowering turns it into the sharing of arrays, and a device plan reads that.
//!
//! | conflict | what a place of the range says of the elements that it writes |
//! |---|---|
//! | [`Conflict::Owned`] | which they are; no other place writes them, and they ascend with places |
//! | [`Conflict::Segments`] | in which segment they lie; segments ascend with places, and neighbours may have one in common |
//! | [`Conflict::Private`] | nothing: chunks reduce into the same elements |
//! | [`Conflict::Joined`] | they are appended |
//!
//! What chunks write together has to be combined by a monoid whose identity says that nothing was written: where there is none,
//! the loop does not run in parallel ([`NotParallel`]).

use super::level_variables;
use super::{
    Access, Computed, IndexVariable, Kernel, Output, OutputStructure, Share, Statement, Target, TensorId, TensorKind,
};
use crate::diagnostics::{Diagnostic, codes::notation as codes};
use crate::ir::ReduceOperator;
use crate::lattice::Lattice;
use crate::lattice::operands;
use crate::level;
use crate::remark::{Meeting as Said, Remark, What, Why};

/// What is cut into chunks.
#[derive(Debug, Clone, Copy)]
pub enum Range<'a> {
    /// The range of a loop.
    Loop(IndexVariable),
    /// Positions of an operand.
    Positions(&'a Share),
}

/// How chunks meet in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conflict {
    /// Each place has elements of its own.
    Owned(Told),
    /// Each place has a segment, which neighbours may share.
    Segments(Told, ReduceOperator),
    /// Chunks reduce into the same elements.
    Private(ReduceOperator),
    /// Chunks append.
    Joined,
}

/// How a place tells what it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// It has the coordinate of the result's outermost level.
    Coordinate,
    /// It is a block of coordinates of the result's outermost level, those of this variable.
    Block(IndexVariable),
    /// It numbers so many of the result's outermost levels, of which the inner one has this extent.
    Fused {
        /// One or both of the two that are fused.
        levels: usize,
        /// The extent of the inner one.
        row: usize,
    },
    /// It is above positions of the operand that the result shares its structure with.
    Structure,
    /// It is a position, below so many levels of the operand that is cut.
    Levels(usize),
}

/// How chunks meet in one tensor.
#[derive(Debug, Clone, PartialEq)]
pub struct Meeting {
    /// Its elements that a chunk writes.
    pub target: Access,
    /// How.
    pub conflict: Conflict,
}

/// Why a loop can't run in chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotParallel {
    /// What chunks would write together.
    pub tensor: TensorId,
    /// Why they can't.
    pub refused: Refused,
}

/// Why chunks can't meet in some way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// No operator combines what they write with what was there.
    NothingCombines,
    /// A place does not tell which elements it writes, or others write them too.
    NotOwned,
    /// Places do not tell segments that ascend with them.
    NotInOrder,
    /// The result is appended.
    Appended,
    /// The result is not appended.
    NotAppended,
}

impl Refused {
    fn words(self) -> &'static str {
        match self {
            Self::NothingCombines => "no operator leaves what was there at first as it is",
            Self::NotOwned => "several places of the parallel loop write one element, or in no order",
            Self::NotInOrder => "what a place writes is in no order that the place tells",
            Self::Appended => "the result is appended",
            Self::NotAppended => "the result is not appended",
        }
    }
}

impl Kernel {
    /// How the chunks of a parallel loop meet in the tensors that its body assigns and does not make, in the order of the assignments.
    ///
    /// # Errors
    /// What they would write together, and nothing combines.
    pub fn meetings(&self, range: Range<'_>, body: &Statement) -> Result<Vec<Meeting>, NotParallel> {
        let mut made = Vec::new();
        body.for_each_workspace(&mut |workspace| made.push(workspace));
        let mut targets: Vec<Vec<Access>> = Vec::new();
        body.for_each_assign(&mut |assign| {
            let target = &assign.target;
            match targets.iter_mut().find(|of_tensor| of_tensor[0].tensor == target.tensor) {
                Some(of_tensor) => of_tensor.push(target.clone()),
                None if !made.contains(&target.tensor) => targets.push(vec![target.clone()]),
                None => {}
            }
        });
        let of_targets = |targets: &Vec<Access>| self.meeting(range, body, targets).transpose();
        targets.iter().filter_map(of_targets).collect()
    }

    /// How chunks meet in a tensor; `None` for what is no memory of the kernel's: sums in variables.
    fn meeting(&self, range: Range<'_>, body: &Statement, targets: &[Access]) -> Result<Option<Meeting>, NotParallel> {
        let [.., target] = targets else { return Ok(None) };
        let target = target.clone();
        let tensor = target.tensor;
        let operator =
            || self.combining(range, body, tensor).ok_or(NotParallel { tensor, refused: Refused::NothingCombines });
        let told = |target: &Access| match range {
            Range::Loop(variable) => self.told_by(variable, body, target),
            Range::Positions(share) => self.told_in_share(share, target),
        };
        let asked = self.asked.output_of(tensor).map(|(output, _)| output);
        let refuse = |refused| Err(NotParallel { tensor, refused });
        let told = match &self.tensor(tensor).kind {
            TensorKind::Output(OutputStructure::Appended) => {
                return match asked {
                    None | Some(Output::Joined) => Ok(Some(Meeting { target, conflict: Conflict::Joined })),
                    Some(_) => refuse(Refused::Appended),
                };
            }
            TensorKind::Output(_) => told(&target).filter(|own| targets.iter().all(|other| told(other) == Some(*own))),
            TensorKind::Workspace if !target.indices.is_empty() => None,
            _ => return Ok(None),
        };
        let conflict = match (asked, told) {
            (None | Some(Output::Owned), Some((told, true))) => Conflict::Owned(told),
            (Some(Output::Owned), _) => return refuse(Refused::NotOwned),
            (Some(Output::Segments), Some((Told::Structure, _)) | None) => return refuse(Refused::NotInOrder),
            (Some(Output::Segments), Some((told, _))) | (None, Some((told, false))) => {
                Conflict::Segments(told, operator()?)
            }
            (None | Some(Output::Private), _) => Conflict::Private(operator()?),
            (Some(Output::Joined), _) => return refuse(Refused::NotAppended),
        };
        Ok(Some(Meeting { target, conflict }))
    }

    /// The operator by which a tensor is combined that several chunks write.
    fn combining(&self, range: Range<'_>, body: &Statement, tensor: TensorId) -> Option<ReduceOperator> {
        if let Range::Positions(Share { operator: Some(operator), .. }) = range {
            return Some(*operator);
        }
        let mut operator = None;
        body.for_each_assign(&mut |assign| {
            if assign.target.tensor == tensor {
                operator = operator.or(assign.operator);
            }
        });
        operator.or_else(|| body.operator_that_keeps(tensor, self.tensor(tensor).fill))
    }

    /// What a place of a loop's range tells of a result, and whether it is the only one that tells it.
    fn told_by(&self, variable: IndexVariable, body: &Statement, target: &Access) -> Option<(Told, bool)> {
        let tensor = self.tensor(target.tensor);
        if let TensorKind::Output(OutputStructure::Shared { access, .. }) = &tensor.kind {
            let outermost = level_variables(access, &self.tensor(access.tensor).format).first().copied();
            return (outermost == Some(variable)).then_some((Told::Structure, true));
        }
        let levels = level_variables(target, &tensor.format);
        let outermost = *levels.first()?;
        if outermost == variable {
            return self.comes_in_order(variable, body).then_some((Told::Coordinate, true));
        }
        let part = |index: Option<&IndexVariable>| match self.variables[index?.0].value {
            Some(Computed::Fused { whole, row, is_outer }) if whole == variable => Some((row, is_outer)),
            _ => None,
        };
        if let Some((row, true)) = part(Some(&outermost)) {
            let levels = 1 + usize::from(part(levels.get(1)).is_some());
            return Some((Told::Fused { levels, row }, levels == 2));
        }
        self.is_block_of(variable, outermost).then_some((Told::Block(outermost), true))
    }

    /// The same for a position of an operand.
    fn told_in_share(&self, share: &Share, target: &Access) -> Option<(Told, bool)> {
        let operand = &self.tensor(share.access.tensor).format;
        let depth = share.levels.end;
        // Where blocks begin, the loops outside tell.
        if share.by.is_some() && share.levels.start > 0 {
            return None;
        }
        match &self.tensor(target.tensor).kind {
            // An element is found by the position, and those ascend whatever the coordinates do.
            TensorKind::Output(OutputStructure::Shared { access, levels }) if access.same_place(&share.access) => {
                let own = (*levels).min(depth);
                (own > 0).then_some((Told::Levels(own), own == depth))
            }
            TensorKind::Output(OutputStructure::Dense) => {
                let own = level_variables(target, &self.tensor(target.tensor).format);
                let of_operand = level_variables(&share.access, operand);
                let told = own.iter().zip(&of_operand).zip(&operand.levels[..depth]);
                let told =
                    told.take_while(|((own, other), level)| own == other && level::ascends(level.format)).count();
                let is_unique = operand.levels[..depth].iter().all(|level| level.format.unique());
                (told > 0).then_some((Told::Levels(told), told == depth && is_unique))
            }
            _ => None,
        }
    }

    /// Whether positions of an operand that a share is of tell the elements of a target each for itself: no two of them write one.
    pub(super) fn is_apart_in_share(&self, share: &Share, target: &Access) -> bool {
        self.told_in_share(share, target).is_some_and(|(_, is_own)| is_own)
    }

    /// Whether the coordinates of a loop ascend with the places of its range: unless it goes through the positions of one operand whose
    /// coordinates do not.
    fn comes_in_order(&self, variable: IndexVariable, body: &Statement) -> bool {
        let walked = operands(self, variable, body);
        let [walked] = &walked[..] else { return true };
        let format = &self.tensor(walked.tensor).format;
        let depth = level_variables(walked, format).iter().position(|other| *other == variable);
        let Some(own) = depth.map(|depth| format.levels[depth].format) else { return true };
        let is_everywhere = || Lattice::new(&self.tensors, body, std::slice::from_ref(walked)).everywhere().is_some();
        level::ascends(own) || level::is_probed(own) || is_everywhere()
    }
}

impl Meeting {
    /// What is said of it; `None` where the plan for a device says more.
    pub(super) fn remark(&self, kernel: &Kernel, range: Range<'_>) -> Option<Remark> {
        let tensor = kernel.tensor(self.target.tensor);
        let TensorKind::Output(_) = tensor.kind else { return None };
        let index = |variable| kernel.variable(variable).to_owned();
        let (meeting, why) = match (self.conflict, range) {
            (Conflict::Private(_) | Conflict::Joined, _) if kernel.target == Target::Gpu => return None,
            (Conflict::Joined, _) => (Said::Joined, Why::InOrder),
            (Conflict::Owned(_), Range::Positions(_)) => (Said::OwnedByShares, Why::OwnElement),
            (Conflict::Segments(..), Range::Positions(_)) => (Said::Segments, Why::SortedByResult),
            (Conflict::Private(_), Range::Positions(_)) => (Said::Copies, Why::AllMeet),
            (Conflict::Owned(told), Range::Loop(variable)) => {
                let variable = index(variable);
                let why = match told {
                    Told::Block(_) => Why::GoesThroughBlocks(variable),
                    Told::Fused { .. } => Why::NumbersBothLevels(variable),
                    Told::Coordinate | Told::Structure | Told::Levels(_) => Why::IsOutermostLevel(variable),
                };
                (Said::Owned, why)
            }
            (Conflict::Segments(Told::Coordinate | Told::Block(_), _), _) => (Said::RowsAtEnds, Why::Asked),
            (Conflict::Segments(..), Range::Loop(variable)) => {
                (Said::RowsAtEnds, Why::NumbersOutermostLevel(index(variable)))
            }
            (Conflict::Private(operator), Range::Loop(variable)) => {
                let is_outermost = level_variables(&self.target, &tensor.format).first() == Some(&variable);
                let variable = index(variable);
                match operator {
                    _ if is_outermost => (Said::Copies, Why::ComesInAnyOrder(variable)),
                    ReduceOperator::Add => {
                        (Said::CopiesAdded, Why::SamePlacesWritten { variable, result: tensor.name.clone() })
                    }
                    operator => {
                        let why = Why::SamePlacesWritten { variable, result: tensor.name.clone() };
                        (Said::CopiesReduced(operator), why)
                    }
                }
            }
        };
        let is_asked = kernel.asked.output_of(self.target.tensor).is_some();
        Some(Remark::new(What::Meeting(tensor.name.clone(), meeting), if is_asked { Why::Asked } else { why }))
    }
}

impl NotParallel {
    /// What is said of a loop that stays serial.
    pub(super) fn remark(&self, kernel: &Kernel, variable: IndexVariable) -> Remark {
        let tensor = kernel.tensor(self.tensor);
        let (result, fill) = (tensor.name.clone(), tensor.fill.text());
        Remark::new(What::Serial(kernel.variable(variable).to_owned()), Why::NothingCombines { result, fill })
    }

    /// The error, where it is the schedule that can't be had.
    pub(super) fn problem(&self, kernel: &Kernel) -> Option<Diagnostic> {
        let (output, span) = kernel.asked.output_of(self.tensor)?;
        let name = &kernel.tensor(self.tensor).name;
        let message = format!("chunks can't write `{name}` as {}", output.name());
        let problem = Diagnostic::new(codes::SCHEDULE_REFUSED, span, message);
        Some(problem.label(self.refused.words()).help(match self.refused {
            Refused::Appended => "leave it out, or ask for `joined`",
            _ => "leave it out, or ask for another: `spc explain` says what is done without it",
        }))
    }
}
