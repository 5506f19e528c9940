//! The launches that a model has predicted so far.

use super::counts::Counts;
use super::description::Description;
use super::occupancy::{Occupancy, Taken};
use super::predict::Time;
use super::replay::Traffic;
use crate::execute::device::Grid;
use std::sync::{Arc, Mutex, PoisonError};

/// What a model says of the kernels that run by it: a GPU, and the launches so far. Clones are the same one.
#[derive(Debug, Clone)]
pub struct Predictions(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    description: Description,
    /// Blocks of a launch are traced until so many events are about what was traced; others run without.
    budget: u64,
    so_far: Mutex<Predicted>,
}

/// What was predicted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Predicted {
    /// The launches, in order.
    pub launches: Vec<PredictedLaunch>,
    /// Bytes that were copied to the device.
    pub brought: u64,
    /// Bytes that were copied from it.
    pub taken: u64,
}

/// A launch, and what is predicted of it.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedLaunch {
    /// The function.
    pub function: String,
    /// The CUDA C that it is in.
    pub text: Arc<str>,
    /// Its blocks.
    pub grid: Grid,
    /// What it takes of a multiprocessor.
    pub takes: Taken,
    /// What a multiprocessor has at a time.
    pub occupancy: Occupancy,
    /// What was counted.
    pub counts: Counts,
    /// What the caches were asked for.
    pub traffic: Traffic,
    /// The arrays that it touches.
    pub touched: Vec<Touched>,
    /// Whether it finds out what need not be found out again of the same inputs: it is no part of a call's time.
    pub is_once: bool,
    /// The time.
    pub time: Time,
}

/// What of an array a launch touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched {
    /// The array.
    pub array: String,
    /// Its bytes.
    pub bytes: u64,
    /// Sectors of 32 bytes that some block touches.
    pub sectors: u64,
}

/// So many events are traced of a launch, about: some seconds.
const BUDGET: u64 = 150_000_000;

impl Predictions {
    /// For a GPU.
    pub fn on(description: Description) -> Self {
        Self(Arc::new(Shared { description, budget: BUDGET, so_far: Mutex::default() }))
    }

    /// The same with another number of events that are traced of a launch, about: more of them take longer.
    #[must_use]
    pub fn tracing(self, budget: u64) -> Self {
        Self(Arc::new(Shared { description: self.0.description.clone(), budget, so_far: Mutex::default() }))
    }

    /// The GPU.
    pub fn description(&self) -> &Description {
        &self.0.description
    }

    pub(super) fn budget(&self) -> u64 {
        self.0.budget
    }

    /// What was predicted since this was asked for last.
    pub fn take(&self) -> Predicted {
        std::mem::take(&mut self.0.so_far.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn note(&self, what: impl FnOnce(&mut Predicted)) {
        what(&mut self.0.so_far.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl PartialEq for Predictions {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Predictions {}

impl Predicted {
    /// The time of all launches but those that are done once for the same inputs, in seconds.
    pub fn seconds(&self) -> f64 {
        self.launches.iter().filter(|launch| !launch.is_once).map(|launch| launch.time.seconds).sum()
    }
}

impl PredictedLaunch {
    /// The bytes that it has to move at least: of all sectors that it touches, once.
    pub fn compulsory(&self) -> u64 {
        self.touched.iter().map(|touched| touched.sectors * super::counts::SECTOR).sum()
    }
}
