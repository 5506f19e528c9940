//! The methods for a Tucker decomposition.

use super::super::elements::{dense, kernel_element, numbers, set};
use super::super::engine::Clock;
use super::super::entries::Scaled;
use super::super::kernels::{Kernels, Source};
use super::super::observe::{Monotone, finite, low_fit};
use super::super::{Fitted, Iteration, Model, Observer, Step, Stopped, TuckerTensor, algebra};
use super::subspace::{Form, Search, WHOLE, completed, sum};
use super::tree::{Tree, rooted};
use super::{DecomposeError, Factor, TuckerMethod, TuckerOptions};
use crate::distribute::message::numbers as of_message;
use crate::distribute::{Communicator, in_slices};
use crate::tensor::{AnyTensor, Coordinates, ElementType, LevelArrays};
use spc_compiler::format::{Format, LevelFormat};
use std::borrow::Cow;
use std::time::{Duration, Instant};

/// On one rank, which has all entries, or on one of many, which has some.
pub(super) fn run(
    (entries, own): (Scaled, ElementType),
    method: TuckerMethod,
    options: &TuckerOptions,
    ranks: Option<&dyn Communicator>,
    observe: Observer<'_, TuckerTensor>,
) -> Result<Fitted<TuckerTensor>, DecomposeError> {
    let begin = Instant::now();
    let element = kernel_element(own, options.element)?;
    let shape = &entries.entries.shape;
    let starts = options.start.as_deref().map(|start| orthonormal_start(start, shape, &options.ranks)).transpose()?;
    let order = shape.len();
    let is_whole = |mode: usize| method != TuckerMethod::Hosvd && options.ranks[mode] == shape[mode];
    let method_run = Run {
        is_whole: (0..order).map(is_whole).collect(),
        entries,
        element,
        ranks: options.ranks.clone(),
        others: ranks,
        kernels: Kernels::new(&options.engine),
        clock: Clock::default(),
        seed: options.seed,
        factors: (0..order).map(|_| None).collect(),
    };
    if method_run.entries.norm == 0.0 {
        return method_run.of_zeros(observe, begin);
    }
    match method {
        TuckerMethod::Hosvd => method_run.hosvd(observe, begin),
        TuckerMethod::StHosvd => method_run.st_hosvd(observe, begin),
        TuckerMethod::Hooi => method_run.hooi(starts, options, observe, begin),
    }
}

/// Orthonormal bases of the factors that a run starts from.
fn orthonormal_start(start: &[Factor], shape: &[usize], ranks: &[usize]) -> Result<Vec<Vec<f64>>, DecomposeError> {
    if start.len() != shape.len() {
        let (found, order) = (start.len(), shape.len());
        return Err(DecomposeError::Start(format!("there are {found} factors to start from, for {order} modes")));
    }
    let one = |(mode, factor): (usize, &Factor)| {
        let (expected, number) = ([shape[mode], ranks[mode]], mode + 1);
        if factor.shape() != expected {
            let found = factor.shape();
            let message = format!(
                "the factor of mode {number} is {} x {}, and {} x {} is needed",
                found[0], found[1], expected[0], expected[1]
            );
            return Err(DecomposeError::Start(message));
        }
        if let Some(place) = factor.values().iter().position(|value| !value.is_finite()) {
            let (row, column, value) = (place / expected[1] + 1, place % expected[1] + 1, factor.values()[place]);
            let message = format!("the factor of mode {number} has the element {value} at ({row}, {column})");
            return Err(DecomposeError::Start(message));
        }
        Ok(algebra::orthonormal(factor.values(), expected[0], expected[1]))
    };
    start.iter().enumerate().map(one).collect()
}

/// The factor of a mode, as it is and as kernels read it.
#[derive(Debug)]
struct Basis {
    matrix: Vec<f64>,
    operand: AnyTensor,
}

/// The slices of a tree's root that have entries.
struct Slices {
    /// Those of this rank, whose tree it is.
    own: Vec<usize>,
    /// Those of all ranks, in their order.
    all: Vec<usize>,
}

impl Slices {
    fn of(tree: &Tree, ranks: Option<&dyn Communicator>) -> Result<Self, DecomposeError> {
        let own = tree.slices();
        let Some(ranks) = ranks else { return Ok(Self { all: own.clone(), own }) };
        let message: Vec<u64> = own.iter().map(|&slice| slice as u64).collect();
        let all = ranks.gather_all(bytemuck::cast_slice(&message))?;
        let all = all.iter().flat_map(|message| of_message::<u64>(message)).map(|slice| slice as usize).collect();
        Ok(Self { own, all })
    }
}

struct Run<'e> {
    entries: Scaled,
    element: ElementType,
    /// The extents of the core.
    ranks: Vec<usize>,
    /// For each mode, whether it has as many vectors as rows: any orthonormal ones do, so that it has no factor before the model is made.
    is_whole: Vec<bool>,
    /// All ranks, where the work is shared: each has the subtrees of some slices of a tree's root, and every rank has all factors.
    others: Option<&'e dyn Communicator>,
    kernels: Kernels<'e>,
    clock: Clock,
    seed: u64,
    factors: Vec<Option<Basis>>,
}

impl Run<'_> {
    fn shape(&self) -> &[usize] {
        &self.entries.entries.shape
    }

    /// The tensor as a tree; where there are other ranks, some slices of its root.
    fn tree(&self, modes: Vec<usize>) -> Result<Tree, DecomposeError> {
        Tree::new(&*slices(&self.entries.entries, modes[0], self.others)?, modes, &self.is_whole, self.element)
    }

    /// The other modes by their extents, and this one last: its fibers are the leaves.
    fn fibers_of(&self, mode: usize) -> Result<Tree, DecomposeError> {
        let mut modes = rooted(self.shape(), mode, &self.is_whole);
        modes.rotate_left(1);
        self.tree(modes)
    }

    fn set_factor(&mut self, mode: usize, matrix: Vec<f64>) -> Result<(), DecomposeError> {
        match &mut self.factors[mode] {
            Some(basis) => {
                set(&mut basis.operand, &matrix);
                basis.matrix = matrix;
            }
            none => {
                let shape = [self.entries.entries.shape[mode], self.ranks[mode]];
                let operand = dense(&shape, &matrix, self.element)?;
                *none = Some(Basis { matrix, operand });
            }
        }
        Ok(())
    }

    /// The factor of a mode, which has been found, if the mode has one.
    fn operand(&self, mode: usize) -> Result<Option<AnyTensor>, DecomposeError> {
        if self.is_whole[mode] {
            return Ok(None);
        }
        let basis = self.factors[mode].as_ref();
        Ok(Some(basis.ok_or(DecomposeError::Algebra("there is no factor yet"))?.operand.clone()))
    }

    /// Takes the leading vectors of an unfolding for the factor of a mode, if it has one. Its rows are those of some slices, of all if these are not given.
    fn lead(
        &mut self,
        mode: usize,
        tensor: &AnyTensor,
        form: Form,
        slices: Option<&Slices>,
    ) -> Result<(), DecomposeError> {
        if self.is_whole[mode] {
            return Ok(());
        }
        let (extent, rank) = (self.shape()[mode], self.ranks[mode]);
        let everywhere: Slices;
        let slices = match slices {
            Some(slices) => slices,
            None => {
                everywhere = Slices { own: (0..extent).collect(), all: (0..extent).collect() };
                &everywhere
            }
        };
        let start: Option<Vec<f64>> = self.factors[mode].as_ref().map(|basis| {
            let row = |&row: &usize| basis.matrix[row * rank..(row + 1) * rank].iter().copied();
            slices.own.iter().flat_map(row).collect()
        });
        let seed = self.seed.wrapping_add(mode as u64);
        let mut search =
            Search { kernels: &mut self.kernels, clock: &self.clock, seed, whole: WHOLE, ranks: self.others };
        let vectors = search.leading(tensor, form, rank, start.as_deref())?;
        let matrix = completed(&vectors, &slices.all, extent, rank, self.seed, mode)?;
        self.set_factor(mode, matrix)
    }

    /// The leading vectors of the tensor's own unfolding.
    fn lead_by_fibers(&mut self, mode: usize) -> Result<(), DecomposeError> {
        let tree = self.fibers_of(mode)?;
        self.lead(mode, tree.fibers(), Form::Fibers, None)
    }

    /// Forms the products of levels, from below, with the factors of their modes.
    fn multiply(&mut self, tree: &mut Tree, levels: impl Iterator<Item = usize>) -> Result<(), DecomposeError> {
        for level in levels {
            let factor = self.operand(tree.modes[level])?;
            tree.multiply(level, factor.as_ref(), &self.ranks, &mut self.kernels, &self.clock)?;
        }
        Ok(())
    }

    /// The core of a tree whose products but the root's are formed.
    fn core(&mut self, tree: &Tree) -> Result<Core, DecomposeError> {
        let factor = self.operand(tree.modes[0])?;
        let core = tree.core(factor.as_ref(), &self.ranks, &mut self.kernels, &self.clock)?;
        let numbers = sum(self.others, numbers(&core))?;
        let square = numbers.chunks(1024).map(|part| part.iter().map(|value| value * value).sum::<f64>()).sum::<f64>();
        if !square.is_finite() {
            return Err(DecomposeError::Algebra("the core is not finite"));
        }
        let norm = self.entries.norm;
        let fit = 1.0 - (norm * norm - square).max(0.0).sqrt() / norm;
        Ok(Core { numbers, modes: tree.modes.clone(), scale: self.entries.scale, fit })
    }

    fn hosvd(
        mut self,
        observe: Observer<'_, TuckerTensor>,
        begin: Instant,
    ) -> Result<Fitted<TuckerTensor>, DecomposeError> {
        let order = self.ranks.len();
        let prepared = begin.elapsed();
        let iteration = Instant::now();
        for mode in 0..order {
            self.lead_by_fibers(mode)?;
        }
        let mut tree = self.tree((0..order).rev().collect())?;
        self.multiply(&mut tree, (1..order).rev())?;
        let core = self.core(&tree)?;
        self.once(core, prepared, iteration, observe)
    }

    fn st_hosvd(
        mut self,
        observe: Observer<'_, TuckerTensor>,
        begin: Instant,
    ) -> Result<Fitted<TuckerTensor>, DecomposeError> {
        let order = self.ranks.len();
        let mut modes: Vec<usize> = (0..order).rev().collect();
        modes.sort_by_key(|&mode| !self.is_whole[mode]);
        let mut tree = self.tree(modes)?;
        self.kernels.compile(tree.sources(&self.ranks, 0..order))?;
        let prepared = begin.elapsed().saturating_sub(self.kernels.time);
        let iteration = Instant::now();
        for level in (1..order).rev() {
            let form = if level + 1 == order { Form::Fibers } else { Form::Nodes };
            self.lead(tree.modes[level], &tree.operand(level), form, None)?;
            self.multiply(&mut tree, std::iter::once(level))?;
        }
        self.lead_root(&tree)?;
        let core = self.core(&tree)?;
        self.once(core, prepared, iteration, observe)
    }

    /// The form in which the product of all but the root is worked on. Where ranks have some of its rows, sums over rows are over ranks, too.
    fn form_of_root(&self, rows: usize, columns: usize) -> Form {
        if self.others.is_some() { Form::Columns } else { Form::of_matrix(rows, columns) }
    }

    /// Takes the leading vectors of the tensor times all factors but that of the root.
    fn lead_root(&mut self, tree: &Tree) -> Result<(), DecomposeError> {
        let rows = tree.rows();
        let form = self.form_of_root(rows.shape()[0], rows.shape()[1]);
        let slices = Slices::of(tree, self.others)?;
        self.lead(tree.modes[0], &rows, form, Some(&slices))
    }

    fn hooi(
        mut self,
        starts: Option<Vec<Vec<f64>>>,
        options: &TuckerOptions,
        observe: Observer<'_, TuckerTensor>,
        begin: Instant,
    ) -> Result<Fitted<TuckerTensor>, DecomposeError> {
        let order = self.ranks.len();
        // A tree for each factor; that of the last has the core.
        let mut roots: Vec<usize> = (0..order).filter(|&mode| !self.is_whole[mode]).collect();
        if roots.is_empty() {
            roots.push(0);
        }
        let last = roots[roots.len() - 1];
        let mut trees = Trees::new(&self, options.memory, &roots)?;
        self.kernels.compile(trees.sources(&self, last))?;
        let is_started = starts.is_some();
        for (mode, start) in starts.into_iter().flatten().enumerate() {
            self.set_factor(mode, start)?;
        }
        let runs = options.done < options.iterations;
        if !is_started {
            // The first update of the first mode reads the factors of the others alone.
            for &mode in roots.iter().skip(usize::from(runs)) {
                self.lead_by_fibers(mode)?;
            }
        }
        let prepared = begin.elapsed().saturating_sub(self.kernels.time);
        self.clock.taken();
        let mut iterations: Vec<Iteration> = Vec::new();
        let mut monotone = Monotone::new("fit");
        let mut stopped = Stopped::Iterations;
        let mut core = None;
        for number in options.done + 1..=options.iterations {
            let iteration = Instant::now();
            for &mode in &roots {
                let mut tree = trees.take(&self, mode)?;
                self.multiply(&mut tree, (1..order).rev())?;
                self.lead_root(&tree)?;
                if mode == last {
                    core = Some(self.core(&tree)?);
                }
                trees.put_back(mode, tree);
            }
            let fit = core.as_ref().map_or(0.0, |core: &Core| core.fit);
            let residual = (1.0 - fit) * self.entries.norm / self.entries.scale;
            let previous = iterations.last().and_then(|iteration| iteration.fit);
            finite(number, Some(fit), &[])?;
            let rounding = if self.element == ElementType::F32 { 1e-5 } else { 1e-11 };
            monotone.see(number, (1.0 - fit) * (1.0 - fit), rounding, fit);
            iterations.push(Iteration {
                number,
                fit: Some(fit),
                measures: vec![("residual", residual)],
                time: iteration.elapsed(),
                kernel_time: self.clock.taken().kernels,
                mttkrp_time: None,
            });
            if let (Some(core), Some(iteration)) = (&core, iterations.last())
                && observe(&Step { iteration, model: &Current { core, run: &self } }).is_break()
            {
                stopped = Stopped::Observer;
                break;
            }
            if previous.is_some_and(|previous| (fit - previous).abs() < options.tolerance) {
                stopped = Stopped::Tolerance;
                break;
            }
        }
        let core = match core {
            Some(core) => core,
            None => {
                let mut tree = trees.take(&self, last)?;
                self.multiply(&mut tree, (1..order).rev())?;
                self.core(&tree)?
            }
        };
        let model = self.model(&core)?;
        let low = low_fit(iterations.last().and_then(|last| last.fit), stopped, options.done + iterations.len());
        Ok(Fitted {
            model,
            iterations,
            stopped,
            compile_time: self.kernels.time,
            prepare_time: prepared,
            notes: Vec::new(),
            warnings: monotone.warning().into_iter().chain(low).collect(),
            state: None,
        })
    }

    /// What a method without iterations gives.
    fn once(
        self,
        core: Core,
        prepare_time: Duration,
        begin: Instant,
        observe: Observer<'_, TuckerTensor>,
    ) -> Result<Fitted<TuckerTensor>, DecomposeError> {
        let residual = (1.0 - core.fit) * self.entries.norm / self.entries.scale;
        let iteration = Iteration {
            number: 1,
            fit: Some(core.fit),
            measures: vec![("residual", residual)],
            time: begin.elapsed(),
            kernel_time: self.clock.taken().kernels,
            mttkrp_time: None,
        };
        let step = Step { iteration: &iteration, model: &Current { core: &core, run: &self } };
        let stopped = if observe(&step).is_break() { Stopped::Observer } else { Stopped::Iterations };
        let (model, compile_time) = (self.model(&core)?, self.kernels.time);
        let (notes, warnings) = (Vec::new(), Vec::new());
        let iterations = vec![iteration];
        Ok(Fitted { model, iterations, stopped, compile_time, prepare_time, notes, warnings, state: None })
    }

    /// A tensor of zeros: a core of zeros, any orthonormal factors.
    fn of_zeros(
        mut self,
        observe: Observer<'_, TuckerTensor>,
        begin: Instant,
    ) -> Result<Fitted<TuckerTensor>, DecomposeError> {
        let order = self.ranks.len();
        for mode in 0..order {
            let matrix = completed(&[], &[], self.shape()[mode], self.ranks[mode], self.seed, mode)?;
            self.set_factor(mode, matrix)?;
        }
        let core = Core {
            numbers: vec![0.0; self.ranks.iter().product()],
            modes: (0..order).collect(),
            scale: self.entries.scale,
            fit: 1.0,
        };
        self.once(core, begin.elapsed(), begin, observe)
    }

    fn model(&self, core: &Core) -> Result<TuckerTensor, DecomposeError> {
        let mut core = core.tensor(&self.ranks)?;
        let mut factors = Vec::new();
        for (mode, basis) in self.factors.iter().enumerate() {
            let matrix = match basis {
                _ if self.is_whole[mode] => turned(&mut core, mode)?,
                Some(basis) => basis.matrix.clone(),
                None => Vec::new(),
            };
            factors.push(Factor::from_vec([self.shape()[mode], self.ranks[mode]], matrix)?);
        }
        TuckerTensor::new(core, factors)
    }
}

/// All entries, or where there are other ranks, those in this one's share of the slices of a mode.
fn slices<'e>(
    entries: &'e Coordinates<f64>,
    mode: usize,
    ranks: Option<&dyn Communicator>,
) -> Result<Cow<'e, Coordinates<f64>>, DecomposeError> {
    Ok(match ranks {
        None => Cow::Borrowed(entries),
        Some(ranks) => Cow::Owned(in_slices(entries, mode, ranks)?),
    })
}

/// The leading left singular vectors of the unfolding of a tensor along a mode, of which there may be entries on other ranks: a matrix of its extent × `count`, or as many as there are,
/// row after row.
pub(in super::super) fn singular_vectors(
    entries: &Scaled,
    mode: usize,
    count: usize,
    element: ElementType,
    seed: u64,
    ranks: Option<&dyn Communicator>,
    (kernels, clock): (&mut Kernels<'_>, &Clock),
) -> Result<Vec<f64>, DecomposeError> {
    let none = vec![false; entries.entries.shape.len()];
    let mut modes = rooted(&entries.entries.shape, mode, &none);
    modes.rotate_left(1);
    let tree = Tree::new(&*slices(&entries.entries, modes[0], ranks)?, modes, &none, element)?;
    Search { kernels, clock, seed, whole: WHOLE, ranks }.leading(tree.fibers(), Form::Fibers, count, None)
}

/// The core as a tree makes it, and what it says of the fit.
#[derive(Debug)]
struct Core {
    numbers: Vec<f64>,
    modes: Vec<usize>,
    scale: f64,
    fit: f64,
}

impl Core {
    /// In the order of the modes, and as large as the tensor was.
    fn tensor(&self, ranks: &[usize]) -> Result<AnyTensor, DecomposeError> {
        let order = ranks.len();
        let format = Format::permuted(&self.modes, &vec![LevelFormat::DENSE; order]);
        let values: Vec<f64> = self.numbers.iter().map(|number| number / self.scale).collect();
        let levels = vec![LevelArrays::NONE; order];
        let core = AnyTensor::from_parts(ranks.to_vec(), format, levels, values.into())?;
        Ok(core.convert(&Format::dense(order))?)
    }
}

/// The left singular vectors of the unfolding of a core along a mode: turns the core by them, so that its product with them is what it was.
fn turned(core: &mut AnyTensor, mode: usize) -> Result<Vec<f64>, DecomposeError> {
    let shape = core.shape().to_vec();
    let (extent, inner) = (shape[mode], shape[mode + 1..].iter().product::<usize>());
    let mut values = numbers(core);
    let mut square = vec![0.0; extent * extent];
    // Of each index before the mode, a matrix with a row for each index of it.
    for rows in values.chunks(extent * inner) {
        let mut part = vec![0.0; extent * extent];
        algebra::times_transposed_into(rows, rows, inner, &mut part);
        square.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
    }
    let vectors = algebra::symmetric_eigen(&square, extent)?.vectors;
    for rows in values.chunks_mut(extent * inner) {
        rows.copy_from_slice(&algebra::transposed_times(&vectors, rows, extent, extent, inner));
    }
    set(core, &values);
    Ok(vectors)
}

/// The model as an observer may ask for it.
struct Current<'a, 'e> {
    core: &'a Core,
    run: &'a Run<'e>,
}

impl std::fmt::Debug for Current<'_, '_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Current").field("core", self.core).finish_non_exhaustive()
    }
}

impl Model<TuckerTensor> for Current<'_, '_> {
    fn model(&self) -> TuckerTensor {
        self.run.model(self.core).expect("the core has as many elements as the ranks say, and each mode has a factor")
    }
}

/// A tree rooted at each mode that is updated, as many as there is room for.
struct Trees {
    kept: Vec<Option<Tree>>,
    keeps: Vec<bool>,
}

impl Trees {
    fn new(run: &Run<'_>, memory: Option<u64>, roots: &[usize]) -> Result<Self, DecomposeError> {
        let most = crate::memory::budget(memory);
        let order = run.ranks.len();
        let mut trees = Self { kept: (0..order).map(|_| None).collect(), keeps: vec![false; order] };
        let mut taken = 0;
        for &mode in roots {
            let tree = run.tree(rooted(run.shape(), mode, &run.is_whole))?;
            taken += tree.bytes(&run.ranks);
            // To make one anew takes all ranks, so all keep the same.
            let is_over = f64::from(u8::from(taken > most));
            if sum(run.others, vec![is_over])? != [0.0] {
                break;
            }
            trees.keeps[mode] = true;
            trees.kept[mode] = Some(tree);
        }
        Ok(trees)
    }

    fn take(&mut self, run: &Run<'_>, mode: usize) -> Result<Tree, DecomposeError> {
        self.kept[mode].take().map_or_else(|| run.tree(rooted(run.shape(), mode, &run.is_whole)), Ok)
    }

    fn put_back(&mut self, mode: usize, tree: Tree) {
        self.kept[mode] = self.keeps[mode].then_some(tree);
    }

    /// All kernels of an iteration, of trees that are there; others follow when they are needed.
    fn sources(&self, run: &Run<'_>, last: usize) -> Vec<Source> {
        let mut sources = Vec::new();
        for tree in self.kept.iter().flatten() {
            let mode = tree.modes[0];
            let first = usize::from(mode != last);
            sources.extend(tree.sources(&run.ranks, first..tree.modes.len()));
            if run.is_whole[mode] {
                continue;
            }
            let rows = tree.nodes(0);
            let columns: usize = tree.modes[1..].iter().map(|&mode| run.ranks[mode]).product();
            let form = run.form_of_root(rows, columns);
            let side = if form == Form::Rows { rows } else { columns };
            sources.extend(form.sources(run.element, side, run.ranks[mode].min(side)));
        }
        sources
    }
}
