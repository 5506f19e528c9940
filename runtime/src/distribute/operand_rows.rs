//! Dense inputs of whose rows a rank has those that it needs: which it sends, and where those that come are put.

use super::DistributeError;
use super::dense_rows::{copy_row, put_row, row_bytes};
use super::run::Local;
use crate::tensor::AnyTensor;
use spc_compiler::format::Format;

/// A dense input, of whose rows a rank has those that it needs.
pub(super) struct OperandRows {
    /// Its place in the kernel, and among the inputs.
    pub(super) place: usize,
    pub(super) input: usize,
    /// Which mode has the rows, and the bytes of an element.
    pub(super) of: (usize, usize),
    /// The renumbered index of that mode.
    pub(super) index: usize,
    /// As the rank knows it: of its own rows.
    pub(super) tensor: AnyTensor,
    /// From their owners.
    route: Route,
    /// The shape of what is here, before other modes are cut.
    pub(super) shape: Vec<usize>,
    /// Where its rows come from in the next run.
    pub(super) source: Source,
    /// Rows by their numbers, where the kernel has its elements in another order, or not all of them.
    buffer: Option<Vec<u8>>,
}

/// Where rows of an input come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// They have come already.
    Here,
    /// From their owners.
    Owners,
    /// From the owners of rows of a result: which of the feeds.
    Feed(usize),
}

impl Source {
    /// Who sends what, where owners do it so.
    fn route<'a>(self, of_owners: &'a Route, feeds: &'a [Feed]) -> &'a Route {
        match self {
            Source::Feed(feed) => &feeds[feed].route,
            Source::Here | Source::Owners => of_owners,
        }
    }
}

/// Which rows go where, those that stay here among them.
pub(super) struct Route {
    /// For each rank, which of the rows that are here it needs.
    pub(super) to: Vec<Vec<usize>>,
    /// For each rank, the numbers here of the rows that it sends.
    pub(super) from: Vec<Vec<usize>>,
}

/// How rows of a result become those of an input.
pub(super) struct Feed {
    /// Their places in the kernel.
    pub(super) result: usize,
    pub(super) input: usize,
    pub(super) route: Route,
    /// What goes to each rank in the next run.
    pub(super) messages: Vec<Vec<u8>>,
}

impl OperandRows {
    pub(super) fn of(
        local: &Local<'_>,
        (place, input, name): (usize, usize, &str),
        tensor: &AnyTensor,
        (mode, index): (usize, usize),
    ) -> Self {
        let (own, size) = (local.ranks.rank(), local.ranks.size());
        let mut route = Route { to: vec![Vec::new(); size], from: vec![Vec::new(); size] };
        for (number, &coordinate) in local.needed[index].iter().enumerate() {
            let owner = local.owner(name, index, coordinate) as usize;
            route.from[owner].push(number);
            if owner == own {
                route.to[own].push(coordinate as usize);
            }
        }
        if !local.plan.is_replicated(name) {
            let of_all = local.rows(index);
            for coordinate in of_all.shared().filter(|&coordinate| of_all.owner(coordinate) as usize == own) {
                of_all.others(coordinate).for_each(|user| route.to[user as usize].push(coordinate as usize));
            }
        }
        let mut shape = tensor.shape().to_vec();
        shape[mode] = local.needed[index].len();
        let of = (mode, tensor.element().bytes());
        let (source, tensor) = (Source::Owners, tensor.clone());
        Self { place, input, of, index, tensor, route, shape, source, buffer: None }
    }

    pub(super) fn is_coming(&self) -> bool {
        self.source != Source::Here
    }

    /// Who sends what.
    pub(super) fn route<'a>(&'a self, feeds: &'a [Feed]) -> &'a Route {
        self.source.route(&self.route, feeds)
    }

    /// Puts what others need of it after what is in messages; and what is this rank's own into its own one.
    pub(super) fn send(&self, feeds: &mut [Feed], messages: &mut [Vec<u8>], own: &mut Vec<u8>, rank: usize) {
        let (bytes, shape) = (self.tensor.values().as_bytes(), self.tensor.shape());
        for (to, message) in messages.iter_mut().enumerate() {
            let message = if to == rank { &mut *own } else { message };
            match self.source {
                Source::Feed(feed) => message.append(&mut feeds[feed].messages[to]),
                Source::Here | Source::Owners => {
                    self.route.to[to].iter().for_each(|&row| copy_row(bytes, shape, self.of, row, message));
                }
            }
        }
    }

    /// Begins with rows, none of which has come.
    pub(super) fn begin(&mut self, local: &Local<'_>, input: &AnyTensor) {
        let cuts = local.plan.distribution.modes[self.place].iter().flatten().count();
        let is_alike = *input.format() == Format::dense(self.shape.len()) && cuts == 1;
        // Of other elements not all bytes are one.
        let is_plain = is_alike && input.element() != spc_compiler::ir::ElementType::Bool;
        self.buffer = (!is_plain).then(|| vec![0u8; self.shape[self.of.0] * row_bytes(&self.shape, self.of)]);
    }

    /// Puts the rows that a rank has sent at their places, and gives what comes after them in its message.
    pub(super) fn take<'a>(
        &mut self,
        feeds: &[Feed],
        rank: usize,
        message: &'a [u8],
        input: &mut AnyTensor,
    ) -> &'a [u8] {
        let size = row_bytes(&self.shape, self.of);
        let (shape, of) = (&self.shape, self.of);
        let numbers = &self.source.route(&self.route, feeds).from[rank];
        let (rows, rest) = message.split_at(numbers.len() * size);
        let bytes = match &mut self.buffer {
            Some(buffer) => Some(&mut buffer[..]),
            None => input.value_bytes_mut(),
        };
        if let Some(bytes) = bytes {
            let rows = rows.chunks_exact(size.max(1));
            numbers.iter().zip(rows).for_each(|(&number, row)| put_row(bytes, shape, of, number, row));
        }
        rest
    }

    /// The input as the kernel takes it, of the rows that have come so far; nothing where it is complete as it is.
    pub(super) fn made(&self, local: &Local<'_>) -> Result<Option<AnyTensor>, DistributeError> {
        let made = |buffer: &Vec<u8>| local.of_rows(self.place, buffer.clone(), (self.of.0, self.shape.clone()));
        self.buffer.as_ref().map(made).transpose()
    }

    /// Ends with all rows here.
    pub(super) fn end(&mut self) {
        self.buffer = None;
        self.source = Source::Here;
    }
}

impl Feed {
    /// Which rows of a result go where as those of an input.
    pub(super) fn of(
        local: &Local<'_>,
        (result, of_result): (usize, usize),
        (input, of_input): (usize, usize),
    ) -> Self {
        let Local { plan, ranks, needed, .. } = local;
        let mut route = Route { to: vec![Vec::new(); ranks.size()], from: vec![Vec::new(); ranks.size()] };
        for (number, coordinate) in plan.rows[of_result].owned(ranks.rank()).into_iter().enumerate() {
            plan.rows[of_input].users(coordinate).for_each(|user| route.to[user as usize].push(number));
        }
        for (number, &coordinate) in needed[of_input].iter().enumerate() {
            route.from[plan.rows[of_result].owner(coordinate) as usize].push(number);
        }
        Self { result, input, route, messages: vec![Vec::new(); ranks.size()] }
    }

    /// Takes rows of a result, `size` bytes each, one after the other.
    pub(super) fn take(&mut self, rows: &[u8], size: usize) {
        for (message, numbers) in self.messages.iter_mut().zip(&self.route.to) {
            message.clear();
            message.reserve(numbers.len() * size);
            numbers.iter().for_each(|number| message.extend_from_slice(&rows[number * size..(number + 1) * size]));
        }
    }
}
