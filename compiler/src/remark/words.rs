//! The words of all decisions and reasons.

use super::{Assembly, ClosedForm, Entries, Meeting, Storage, What, Why, Work};
use crate::ir::{Simd, Tile};
use std::fmt::{Display, Formatter, Result};

impl Display for What {
    #[rustfmt::skip]
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            What::Inlined(name) => write!(f, "{name} is inlined: it is computed where it is read"),
            What::Sampled(name, mask) => write!(f, "{name} is computed only where {mask} has entries"),
            What::Materialized(name, None) => write!(f, "{name} is made first, stored as a scalar"),
            What::Materialized(name, Some(format)) => write!(f, "{name} is made first, stored as {format}"),
            What::CutOff(name) => write!(f, "{name} is made first"),
            What::AtOnce(variable) => {
                write!(f, "every {variable} at which no operand has an entry is taken at once, behind the loop over the others")
            }
            What::Walked { tensors, format, .. } if tensors.len() == 1 => {
                write!(f, "walk {} as it is stored: {format}", tensors[0])
            }
            What::Walked { tensors, format, .. } => {
                write!(f, "walk {} side by side as they are stored: {format}", tensors.join(", "))
            }
            What::InFibers(name) => write!(f, "read {name} by its fibers, found once and kept"),
            What::Converted(name) => write!(f, "read {name} from a copy in a plain format"),
            What::WalkedOnce(name) => write!(f, "the stored entries of {name} are walked once"),
            What::Transposed { tensor, order } => write!(f, "read {tensor} from a copy sorted by {}", order.join(", ")),
            What::Permuted { tensor, order } => {
                let first = order.first().map_or("", String::as_str);
                write!(f, "read the entries of {tensor} in the order of {first} through a permutation, found once and kept")
            }
            What::SamePattern(first, second) => write!(f, "walk {first} for {second} too"),
            What::Assembled(name, Assembly::Dense) => write!(f, "{name} is updated in place"),
            What::Assembled(name, Assembly::Shared(operand)) => {
                write!(f, "{name} shares the index arrays of {operand}")
            }
            What::Assembled(name, Assembly::Appended) => write!(f, "{name} is appended"),
            What::Delivered { tensor, computed, .. } => {
                write!(f, "compute {tensor} as {computed}, and convert it when it is complete")
            }
            What::Entries(name, Entries::InOrder) => write!(f, "entries of {name} come in order"),
            What::Entries(name, Entries::Through { outer, inner }) => {
                let (outer, inner) = (outer.join(", "), inner.join(", "));
                write!(f, "entries of {name} come in order of {outer}, and through a workspace over {inner}")
            }
            What::Entries(name, Entries::Listed) => {
                write!(f, "entries of {name} are listed as they come, and sorted when all are there")
            }
            What::Workspace { name, storage: Storage::Flags, .. } => {
                write!(f, "{name} has dense values and flags of its entries, which give them in order")
            }
            What::Workspace { name, storage: Storage::Bitmap(most), .. } => write!(
                f,
                "{name} has dense values and a bitmap of its entries, which gives them in order; where its values would \
                 take more than {} MB for each thread, a hash accumulator finds them",
                most >> 20
            ),
            What::Workspace { name, storage: Storage::Table, .. } => {
                write!(f, "a hash accumulator finds the entries of {name}; it is direct where keys are small, else hashed")
            }
            What::Workspace { name, storage: Storage::List, .. } => {
                write!(f, "{name} is a list that is sorted, where equal keys then meet")
            }
            What::Vector(variable) => {
                write!(f, "the loop over {variable} is innermost and runs in vector lanes")
            }
            What::Simd(variable, Simd::None) => write!(f, "the loop over {variable} reduces one term after the other"),
            What::Simd(variable, Simd::Lanes) => write!(f, "the loop over {variable} reduces in vector lanes"),
            What::Simd(variable, Simd::Segmented) => {
                write!(f, "the loop over {variable} is a segmented reduction: runs that lie one behind the other reduce together")
            }
            What::Simd(variable, Simd::SideBySide) => {
                write!(f, "loops over {variable} that lie side by side reduce together, one in each lane")
            }
            What::Tiled(variable, Tile::Whole) => write!(f, "rows over {variable} stay whole"),
            What::Tiled(variable, Tile::By(width)) => {
                write!(f, "rows over {variable} are taken in register tiles of {width}, and what is left")
            }
            What::Tiled(variable, Tile::Overlapped(width)) => {
                write!(f, "rows over {variable} are taken in strips of up to {width}, each of two register tiles that overlap")
            }
            What::Tiled(variable, Tile::Masked(width)) => {
                write!(f, "rows over {variable} are taken in strips of up to {width}, each a register tile of masked vectors")
            }
            What::Unused(directive) => write!(f, "`{directive}` changes nothing"),
            What::BlockSums(variables) => {
                write!(f, "keep a sum for each {} while the blocks are walked, each once", variables.join(", "))
            }
            What::Chunks { rows, by, outer, .. } => {
                write!(f, "go through {rows} in chunks of {by}, and through {outer} for each")
            }
            What::ReducedFirst { variable, is_sum: true, factors } => {
                write!(f, "sum over {variable} first, then multiply by {}", factors.join(" * "))
            }
            What::ReducedFirst { variable, is_sum: false, factors } => {
                write!(f, "reduce over {variable} first, then combine with {}", factors.join(" and "))
            }
            What::FormedBefore { factors, variable } => {
                write!(f, "form {} before the loop over {variable}", factors.join(" * "))
            }
            What::Precomputed { part, over, outside } => {
                write!(f, "form {part}")?;
                if !over.is_empty() {
                    write!(f, " over {}", over.join(", "))?;
                }
                f.write_str(" in a workspace, ")?;
                match outside.is_empty() {
                    true => f.write_str("before all loops"),
                    false => write!(f, "inside of the loops over {}", outside.join(", ")),
                }
            }
            What::Parallel { variable, .. } => write!(f, "the loop over {variable} runs in parallel"),
            What::Serial(variable) => write!(f, "the loop over {variable} does not run in parallel"),
            What::Shares { operand, of_entries: Some(_), .. } => {
                write!(f, "a load-balanced partition of the stored entries of {operand} runs in parallel")
            }
            What::Shares { operand, by: None, .. } => {
                write!(f, "a load-balanced partition of the positions of {operand} runs in parallel")
            }
            What::Shares { operand, by: Some(by), .. } => {
                write!(f, "a load-balanced partition of the blocks of {by} positions of {operand} runs in parallel")
            }
            What::BalancedWhereUneven { variable, operand } => write!(
                f,
                "where chunks of {variable} are uneven, a load-balanced partition of the stored entries of {operand} runs instead"
            ),
            What::Accumulated { variable, name, .. } => write!(f, "what the loop over {variable} reduces is kept in {name}"),
            What::Reordered(loops) => write!(f, "loops over {}, outermost first", loops.join(", ")),
            What::Copied { tensor, order } => write!(f, "read {tensor} from a copy with levels {}", order.join(", ")),
            What::Meeting(name, meeting) => write_meeting(name, *meeting, f),
            What::Deterministic => f.write_str("results have the same bits on any number of threads"),
        }
    }
}

fn write_meeting(name: &str, meeting: Meeting, f: &mut Formatter<'_>) -> Result {
    match meeting {
        Meeting::Joined => write!(f, "chunks append entries of {name} each on its own"),
        Meeting::Owned => write!(f, "chunks own distinct parts of {name}"),
        Meeting::OwnedByShares => write!(f, "parts write distinct elements of {name}"),
        Meeting::RowsAtEnds => {
            write!(f, "chunks write {name} in order, and combine their boundary rows alone where they share them")
        }
        Meeting::Segments => {
            write!(f, "parts write {name} in order, and combine their boundary segments alone")
        }
        Meeting::Copies => write!(f, "{name} is privatized: each thread has a copy, and the copies are combined"),
        Meeting::CopiesAdded => {
            write!(f, "{name} is privatized: each thread sums into its copy, and the copies are added")
        }
        Meeting::CopiesReduced(operator) => {
            write!(f, "{name} is privatized: each thread reduces by `{operator}` into its copy, and so are the copies")
        }
    }
}

impl Work {
    fn would_be_done(self) -> &'static str {
        match self {
            Work::Sum => "its sum would be formed",
            Work::Functions => "its functions would be computed",
        }
    }
}

impl Display for Why {
    #[rustfmt::skip]
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Why::Asked => f.write_str("the schedule asks for it"),
            Why::Vectorized(Simd::None) => f.write_str("its terms are no vectors, or the order of them is kept"),
            Why::Vectorized(Simd::Lanes) => f.write_str("terms lie one behind the other, and combine in any order"),
            Why::Vectorized(Simd::Segmented) => {
                f.write_str("runs lie one behind the other, and short ones fill a vector together")
            }
            Why::Vectorized(Simd::SideBySide) => f.write_str("entries of rows that lie side by side are one vector"),
            Why::Registers(Tile::Whole) => f.write_str("they are short, or known to fit into registers"),
            Why::Registers(Tile::By(_) | Tile::Overlapped(_) | Tile::Masked(_)) => f.write_str("accumulators of a tile fit into registers"),
            Why::ThreadsAreLanes => f.write_str("a GPU's threads are its lanes"),
            Why::NotStoredEachTime => f.write_str("the result is stored once, when the loop is done"),
            Why::LevelsInOrder => {
                f.write_str("levels that are walked or appended come in their order, then those of the result")
            }
            Why::PositionsAsked => f.write_str("the schedule asks for a loop over them"),
            Why::FewOperations => {
                f.write_str("it takes a few operations on what is loaded anyway; to store it and read it again would cost more")
            }
            Why::OnceThere(Work::Sum) => f.write_str("it is read once, and its sum is formed no more often there"),
            Why::OnceThere(Work::Functions) => {
                f.write_str("it is read once, and its functions are computed no more often there")
            }
            Why::NotFused => f.write_str("nothing is fused"),
            Why::Crosses => f.write_str("other rounds of the `repeat`, or what is before or behind them, read it"),
            Why::FormatDeclared => f.write_str("its format is declared"),
            Why::Masked => f.write_str("a mask chooses its entries"),
            Why::ComputedWhereMade => f.write_str("its indices are computed where it is made"),
            Why::OwnIndex => f.write_str("nothing but it says how large one of its indices is"),
            Why::CountsIndex => f.write_str("it takes the extent of an index that is computed where it is read"),
            Why::Recurrent => f.write_str("an element is made of others that come before it"),
            Why::Compared => f.write_str("its values are compared with one of them, and might be rounded differently in two loops"),
            Why::ReadWhereScattered => f.write_str("where it is read, entries come to computed indices in any order"),
            Why::IsMask => f.write_str("it is a mask: which entries it has counts"),
            Why::ReadAtComputed(work) => write!(
                f, "it is read at a computed index, where {} again for each way to get there", work.would_be_done()
            ),
            Why::RepeatedOver(work, variable) => write!(
                f, "it is read inside of the loop over {variable}, where {} again each time", work.would_be_done()
            ),
            Why::ReadTimes(work, count) => {
                write!(f, "it is read {count} times, and {} again each time", work.would_be_done())
            }
            Why::TooLong => f.write_str("the statement that reads it would get too long"),
            Why::TooManyMeet => f.write_str("too many sparse operands would meet in one loop nest"),
            Why::SameElsewhere { operands, value, closed } => {
                write!(f, "where {} has no entry, every term is {value}: ", operands.join(" or "))?;
                f.write_str(match closed {
                    ClosedForm::Once => "these count once, if there are any",
                    ClosedForm::Times => "these add that times their number",
                    ClosedForm::Power => "these multiply by its power",
                })
            }
            Why::SameWithoutEntries => {
                f.write_str("what is done there is the same for each: once, times their number, or to its power")
            }
            Why::ReadThere => f.write_str("no other element of it is read"),
            Why::CountsEntries => f.write_str("how many terms are stored tells how many are not"),
            Why::FormedAgain => f.write_str("its sum would be formed again for each entry that it is a part of"),
            Why::TooManyCases(count) => {
                write!(f, "{count} sparse operands would have too many cases in one loop nest")
            }
            Why::OthersDense => f.write_str(
                "all other operands are dense, so their elements are found from computed indices; no copy is needed",
            ),
            Why::AnyOrder => f.write_str(
                "all other operands and the result are dense, so its entries may come in any order; no copy is needed",
            ),
            Why::SameCoordinates => f.write_str(
                "entries at the same indices store the same coordinates, so they meet in these; no copy is needed",
            ),
            Why::StoredOnce => f.write_str(
                "it stores one of the entries that follow from each other, and all are needed here, in the order of the loops",
            ),
            Why::Exchanges(1) => f.write_str("an entry stands for those with its indices exchanged, which make the same update"),
            Why::Exchanges(count) => {
                write!(f, "an entry stands for those with its indices exchanged: together they make {count} updates")
            }
            Why::NotWalked(format) => write!(f, "loops do not walk {format}"),
            Why::AgainstLoops => f.write_str(
                "its storage order is against the order of the loops; searching it at every step would cost more",
            ),
            Why::LendsArrays => f.write_str("the result shares the index arrays of the copy, which is made once and kept"),
            Why::OwnEntries => f.write_str(
                "chunks of the result have entries of their own in that order, and coordinates and values are not copied",
            ),
            Why::SearchedInFibers => {
                f.write_str("loops search it, which takes less time in fibers than in coordinates side by side")
            }
            Why::SamePlaces => f.write_str("they have the same pattern: entries at the same places"),
            Why::AllDense => f.write_str("every level of the result is dense"),
            Why::EntriesOf(name) => write!(f, "the result has an entry where {name} has one"),
            Why::EntryForEachFiber => f.write_str(
                "the result has an entry for each fiber, so that its memory is laid out before; coordinates in fibers and values are not copied",
            ),
            Why::NoStructure => f.write_str("no operand has the structure of the result"),
            Why::NotWritten(format) => write!(f, "loops do not write {format}"),
            Why::Steps { in_order, through, listed } => {
                let ways = [("in order", in_order), ("through a workspace", through), ("as a list", listed)];
                for (place, (way, steps)) in ways.into_iter().enumerate() {
                    f.write_str(if place == 0 { "" } else { ", " })?;
                    match steps.is_finite() {
                        true => write!(f, "{way} about {steps:.1e} steps")?,
                        false => write!(f, "{way} not possible")?,
                    }
                }
                Ok(())
            }
            Why::Collected { terms, entries, bitmap, table, list } => {
                write!(f, "about {terms:.0} terms meet in {entries:.0} entries each time: ")?;
                if bitmap.is_finite() {
                    write!(f, "{bitmap:.0} steps with a bitmap, ")?;
                }
                write!(f, "{table:.0} with a table, {list:.0} with a list")
            }
            Why::NothingGrows => f.write_str("threads of a device have no lists that grow"),
            Why::DenseAlong(name) => write!(
                f, "wherever {name} is an index, it is dense; adjacent elements are computed together"
            ),
            Why::ConstantBlocks => f.write_str(
                "blocks are of a constant size, so the sums of their rows stay in registers or close to them",
            ),
            Why::ComesAgain { outer, rows } => write!(
                f,
                "every {outer} comes by the same {rows}: a chunk stays in the cache, and threads have chunks of their own"
            ),
            Why::FactorIsFixed => {
                f.write_str("the factor does not change in the sum, so it is applied once to the result")
            }
            Why::ProductIsFixed => f.write_str("the product does not change in the loop"),
            Why::Outermost => {
                f.write_str("it is the outermost loop; its range is cut into chunks of equal work")
            }
            Why::OutermostRuns => f.write_str(
                "they are the outermost loop; runs of equal coordinates may be cut, so a long one keeps no thread waiting",
            ),
            Why::WholeValues(name) => write!(
                f, "a chunk has whole values of {name}, of which one may have most entries, or there are few; each call weighs"
            ),
            Why::InOrder => f.write_str("entries come in order, so joining the chunks' arrays gives the result"),
            Why::ComesInAnyOrder(name) => write!(f, "{name} comes in any order"),
            Why::IsOutermostLevel(name) => write!(f, "{name} is its outermost level"),
            Why::NumbersOutermostLevel(name) => write!(f, "{name} numbers its outermost level with another"),
            Why::NumbersBothLevels(name) => write!(f, "{name} numbers its two outermost levels"),
            Why::NothingCombines { result, fill } => write!(
                f, "chunks of it would write the same places of {result}, and no operator leaves its first value {fill} as it is"
            ),
            Why::GoesThroughBlocks(name) => write!(f, "{name} goes through the blocks of its outermost level"),
            Why::SamePlacesWritten { variable, result } => {
                write!(f, "chunks of {variable} write the same places of {result}")
            }
            Why::OwnElement => f.write_str("each position has its own element"),
            Why::SortedByResult => f.write_str("entries are sorted by the indices of the result"),
            Why::AllMeet => f.write_str("entries of all shares meet in the same places"),
            Why::CutByWork => f.write_str(
                "the work alone says how parallel loops are cut, and sums of chunks are added in the order of the chunks",
            ),
        }
    }
}
