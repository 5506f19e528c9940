//! A vector for each mode.

use super::super::elements::{dense, numbers, set};
use super::super::engine::Clock;
use super::super::kernels::Kernels;
use super::super::tucker::singular_vectors;
use super::{Component, DecomposeError, Method, Problem, column, points_down, text};
use crate::execute::{Input, Kernel};
use crate::tensor::AnyTensor;
use spc_compiler::format::Format;
use std::sync::Arc;

pub(super) struct General<'a> {
    problem: &'a Problem<'a>,
    clock: &'a Clock,
    /// Without components before, and with.
    first: Arc<Kernel>,
    deflating: Option<Arc<Kernel>>,
    /// Singular vectors of each mode, extent × components at most.
    singular: Vec<Vec<f64>>,
    starts: usize,
    component: usize,
    /// The vectors of each mode before and after an iteration, extent × starts.
    before: Vec<AnyTensor>,
    after: Vec<AnyTensor>,
    weights: AnyTensor,
    /// Components before: extent × components for each mode, and their weights, which are 0 for those to come.
    earlier: Vec<AnyTensor>,
    earlier_weights: AnyTensor,
}

impl<'a> General<'a> {
    pub(super) fn new(
        problem: &'a Problem<'a>,
        kernels: &mut Kernels<'_>,
        clock: &'a Clock,
    ) -> Result<Self, DecomposeError> {
        let (shape, element, options) = (problem.shape(), problem.element, problem.options);
        let (order, starts, components) = (shape.len(), options.starts + 1, options.components);
        let first = text::sweep(order, element, starts, false);
        let deflating = text::sweep(order, element, starts, true);
        let more = components > 1;
        kernels.compile([first.clone()].into_iter().chain(more.then(|| deflating.clone())))?;
        let singular = |mode: usize| {
            singular_vectors(problem.entries, mode, components, element, options.seed, None, (&mut *kernels, clock))
        };
        let singular = (0..order).map(singular).collect::<Result<_, DecomposeError>>()?;
        let matrix = |columns: usize| {
            let zeros = move |&extent: &usize| AnyTensor::zeros(vec![extent, columns], Format::dense(2), element);
            shape.iter().map(zeros).collect::<Result<Vec<AnyTensor>, _>>()
        };
        Ok(Self {
            problem,
            clock,
            first: kernels.get(&first)?,
            deflating: more.then(|| kernels.get(&deflating)).transpose()?,
            singular,
            starts,
            component: 0,
            before: matrix(starts)?,
            after: matrix(starts)?,
            weights: dense(&[starts], &vec![0.0; starts], element)?,
            earlier: matrix(components)?,
            earlier_weights: dense(&[components], &vec![0.0; components], element)?,
        })
    }
}

impl Method for General<'_> {
    fn begin(&mut self, component: usize) -> Result<(), DecomposeError> {
        self.component = component;
        for (mode, singular) in self.singular.iter().enumerate() {
            let starts = self.problem.starts(mode, component, singular, self.starts)?;
            set(&mut self.after[mode], &starts);
        }
        Ok(())
    }

    fn iterate(&mut self) -> Result<Vec<f64>, DecomposeError> {
        std::mem::swap(&mut self.before, &mut self.after);
        let kernel = match &self.deflating {
            Some(deflating) if self.component > 0 => deflating,
            _ => &self.first,
        };
        let mut inputs: Vec<&dyn Input> = vec![&self.problem.x];
        inputs.extend(self.before[1..].iter().map(|vectors| vectors as &dyn Input));
        if self.component > 0 {
            inputs.extend(self.earlier.iter().map(|vectors| vectors as &dyn Input));
            inputs.push(&self.earlier_weights);
        }
        let mut targets: Vec<&mut dyn crate::execute::Value> = Vec::new();
        for target in &mut self.after {
            targets.push(target);
        }
        targets.push(&mut self.weights);
        self.clock.kernel(|| kernel.call_into(&inputs, targets))?;
        Ok(numbers(&self.weights))
    }

    fn says(&self, _: usize) -> bool {
        true
    }

    fn component(&self, start: usize, weight: f64) -> Component {
        let mut vectors: Vec<Vec<f64>> =
            self.after.iter().map(|vectors| column(&numbers(vectors), self.starts, start)).collect();
        // The first vector takes the signs of the others.
        let mut flips = false;
        for vector in &mut vectors[1..] {
            if points_down(vector) {
                vector.iter_mut().for_each(|number| *number = -*number);
                flips = !flips;
            }
        }
        if flips {
            vectors[0].iter_mut().for_each(|number| *number = -*number);
        }
        Component { weight, vectors }
    }

    fn subtract(&mut self, number: usize, component: &Component) {
        let columns = self.problem.options.components;
        for (matrix, vector) in self.earlier.iter_mut().zip(&component.vectors) {
            super::set_column(matrix, columns, number, vector);
        }
        super::set_column(&mut self.earlier_weights, columns, number, &[component.weight]);
    }
}
