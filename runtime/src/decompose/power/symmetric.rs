//! One vector for all modes of a symmetric tensor.

use super::super::elements::{dense, numbers, set};
use super::super::engine::Clock;
use super::super::entries::Scaled;
use super::super::kernels::Kernels;
use super::super::tucker::singular_vectors;
use super::{Component, DecomposeError, Method, Problem, column, points_down, set_column, text};
use crate::execute::{Input, Kernel};
use crate::tensor::{AnyTensor, Duplicates, ElementType, pack};
use spc_compiler::format::Format;
use std::sync::Arc;

/// Checks that entries are equal under all permutations of their indices, but for rounding.
///
/// # Errors
/// When extents differ, or an entry is not what the one with two indices swapped is.
pub(super) fn check(entries: &Scaled, element: ElementType) -> Result<(), DecomposeError> {
    let shape = &entries.entries.shape;
    let refuse = |message: String| Err(DecomposeError::Option(message));
    if let Some(mode) = shape.iter().position(|extent| *extent != shape[0]) {
        let (first, other) = (shape[0], shape[mode]);
        return refuse(format!(
            "the tensor is not symmetric: the extent of mode 1 is {first}, that of mode {} is {other}",
            mode + 1
        ));
    }
    let x = pack(entries.entries.clone(), &Format::csf(shape.len()), Duplicates::Sum)?;
    let tolerance = if element == ElementType::F32 { 1e-6 } else { 1e-14 };
    let mut found = None;
    x.for_each_position(|index, position| {
        // Swaps of neighbours make all permutations.
        for mode in 1..index.len() {
            if found.is_some() || index[mode - 1] == index[mode] {
                continue;
            }
            let mut swapped = index.to_vec();
            swapped.swap(mode - 1, mode);
            let other = x.locate(&swapped).map_or(0.0, |position| x.values().get_f64(position));
            let value = x.values().get_f64(position);
            // Values are at most 2.
            if (value - other).abs() > tolerance {
                found = Some((index.to_vec(), value / entries.scale, swapped, other / entries.scale));
            }
        }
    });
    let Some((index, value, swapped, other)) = found else { return Ok(()) };
    let place = |index: &[usize]| {
        let index: Vec<String> = index.iter().map(|coordinate| (coordinate + 1).to_string()).collect();
        index.join(", ")
    };
    let (index, swapped) = (place(&index), place(&swapped));
    refuse(format!("the tensor is not symmetric: the entry at ({index}) is {value}, that at ({swapped}) is {other}"))
}

pub(super) struct Symmetric<'a> {
    problem: &'a Problem<'a>,
    clock: &'a Clock,
    first: Arc<Kernel>,
    deflating: Option<Arc<Kernel>>,
    shift: Arc<Kernel>,
    singular: Vec<f64>,
    starts: usize,
    component: usize,
    /// The vectors of a step, and X vᵐ⁻¹, extent × starts.
    vectors: AnyTensor,
    products: AnyTensor,
    weights: AnyTensor,
    next: AnyTensor,
    /// The best so far, with their products and weights.
    kept: [AnyTensor; 2],
    kept_weights: Vec<f64>,
    spare: [AnyTensor; 2],
    /// 1 where a start looks for the largest weight, -1 for the least.
    signs: AnyTensor,
    shifts: Vec<f64>,
    shift_operand: AnyTensor,
    accepted: AnyTensor,
    /// Which starts the last step is taken back of.
    taken_back: Vec<bool>,
    /// Whether there was a step.
    began: bool,
    earlier: AnyTensor,
    earlier_weights: AnyTensor,
}

impl<'a> Symmetric<'a> {
    pub(super) fn new(
        problem: &'a Problem<'a>,
        kernels: &mut Kernels<'_>,
        clock: &'a Clock,
    ) -> Result<Self, DecomposeError> {
        let (element, options) = (problem.element, problem.options);
        let (order, extent, components) = (problem.shape().len(), problem.shape()[0], options.components);
        // Of even order, weights of both signs are looked for, from the same starts.
        let both = order.is_multiple_of(2);
        let starts = (options.starts + 1) * if both { 2 } else { 1 };
        let sources = [
            text::symmetric(order, element, starts, false),
            text::shift(element, starts),
            text::symmetric(order, element, starts, true),
        ];
        let more = components > 1;
        kernels.compile(sources[..if more { 3 } else { 2 }].iter().cloned())?;
        let singular =
            singular_vectors(problem.entries, 0, components, element, options.seed, None, (&mut *kernels, clock))?;
        let matrix = |columns: usize| AnyTensor::zeros(vec![extent, columns], Format::dense(2), element);
        let row = |columns: usize| AnyTensor::zeros(vec![columns], Format::dense(1), element);
        let signs: Vec<f64> = (0..starts).map(|start| if both && start % 2 == 1 { -1.0 } else { 1.0 }).collect();
        Ok(Self {
            problem,
            clock,
            first: kernels.get(&sources[0])?,
            deflating: more.then(|| kernels.get(&sources[2])).transpose()?,
            shift: kernels.get(&sources[1])?,
            singular,
            starts,
            component: 0,
            vectors: matrix(starts)?,
            products: matrix(starts)?,
            weights: row(starts)?,
            next: matrix(starts)?,
            kept: [matrix(starts)?, matrix(starts)?],
            kept_weights: vec![0.0; starts],
            spare: [matrix(starts)?, matrix(starts)?],
            signs: dense(&[starts], &signs, element)?,
            shifts: vec![0.0; starts],
            shift_operand: row(starts)?,
            accepted: row(starts)?,
            taken_back: vec![false; starts],
            began: false,
            earlier: matrix(components)?,
            earlier_weights: row(components)?,
        })
    }

    /// X vᵐ⁻¹ and X vᵐ of the vectors.
    fn multiply(&mut self) -> Result<Vec<f64>, DecomposeError> {
        let mut inputs: Vec<&dyn Input> = vec![&self.problem.x, &self.vectors];
        let kernel = match &self.deflating {
            Some(deflating) if self.component > 0 => {
                inputs.extend([&self.earlier as &dyn Input, &self.earlier_weights]);
                deflating
            }
            _ => &self.first,
        };
        let targets = (&mut self.products, &mut self.weights);
        self.clock.kernel(|| kernel.call_into(&inputs, targets))?;
        Ok(numbers(&self.weights))
    }

    /// Takes back what made a weight worse, and steps on.
    fn step(&mut self, accepted: &[f64]) -> Result<(), DecomposeError> {
        set(&mut self.accepted, accepted);
        set(&mut self.shift_operand, &self.shifts);
        let [vectors, products] = &self.kept;
        let inputs: [&dyn Input; 7] =
            [&self.vectors, &self.products, vectors, products, &self.accepted, &self.signs, &self.shift_operand];
        let [kept_vectors, kept_products] = &mut self.spare;
        let targets = (kept_vectors, kept_products, &mut self.next);
        self.clock.kernel(|| self.shift.call_into(&inputs, targets))?;
        std::mem::swap(&mut self.vectors, &mut self.next);
        std::mem::swap(&mut self.kept, &mut self.spare);
        Ok(())
    }
}

impl Method for Symmetric<'_> {
    fn begin(&mut self, component: usize) -> Result<(), DecomposeError> {
        self.component = component;
        let (extent, repeat) = (self.problem.shape()[0], self.starts / (self.problem.options.starts + 1));
        let count = self.starts / repeat;
        let starts = self.problem.starts(0, component, &self.singular, count)?;
        let columns: Vec<Vec<f64>> = (0..count).map(|start| column(&starts, count, start)).collect();
        let row = |row: usize| {
            let columns = &columns;
            (0..self.starts).map(move |start| columns[start / repeat][row])
        };
        let vectors: Vec<f64> = (0..extent).flat_map(row).collect();
        set(&mut self.vectors, &vectors);
        self.shifts.fill(0.0);
        self.began = false;
        Ok(())
    }

    fn iterate(&mut self) -> Result<Vec<f64>, DecomposeError> {
        if !self.began {
            self.kept_weights = self.multiply()?;
            self.began = true;
            self.step(&vec![1.0; self.starts])?;
        }
        let weights = self.multiply()?;
        let signs = numbers(&self.signs);
        let norm = self.problem.entries.norm;
        let rounding = norm * if self.problem.element == ElementType::F32 { 1e-6 } else { 1e-13 };
        for start in 0..self.starts {
            let shift = &mut self.shifts[start];
            self.taken_back[start] = signs[start] * (weights[start] - self.kept_weights[start]) < -rounding;
            if self.taken_back[start] {
                *shift = (2.0 * *shift).max(0.5 * self.kept_weights[start].abs()).max(1e-3 * norm);
            } else {
                self.kept_weights[start] = weights[start];
                *shift = if *shift > 1e-6 * norm { 0.5 * *shift } else { 0.0 };
            }
        }
        let accepted: Vec<f64> = self.taken_back.iter().map(|&back| f64::from(u8::from(!back))).collect();
        self.step(&accepted)?;
        let order = self.problem.shape().len();
        let one = |start: usize| if order % 2 == 1 { self.kept_weights[start].abs() } else { self.kept_weights[start] };
        Ok((0..self.starts).map(one).collect())
    }

    fn says(&self, start: usize) -> bool {
        !self.taken_back[start]
    }

    fn component(&self, start: usize, weight: f64) -> Component {
        let mut vector = column(&numbers(&self.kept[0]), self.starts, start);
        let order = self.problem.shape().len();
        let flips = if order % 2 == 1 { self.kept_weights[start] < 0.0 } else { points_down(&vector) };
        if flips {
            vector.iter_mut().for_each(|number| *number = -*number);
        }
        Component { weight, vectors: vec![vector; order] }
    }

    fn subtract(&mut self, number: usize, component: &Component) {
        let columns = self.problem.options.components;
        set_column(&mut self.earlier, columns, number, &component.vectors[0]);
        set_column(&mut self.earlier_weights, columns, number, &[component.weight]);
    }
}
