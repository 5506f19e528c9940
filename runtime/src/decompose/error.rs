//! What can keep a decomposition from being made.

use crate::distribute::CommunicationError;
use crate::execute::ProgramError;
use crate::io::{ReadError, WriteError};
use crate::tensor::{InvalidTensor, PackError};
use spc_compiler::ir::ElementType;
use std::path::PathBuf;

/// Why a tensor can't be decomposed as asked. Messages count modes from 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecomposeError {
    /// A kernel can't be compiled or run.
    #[error(transparent)]
    Kernel(#[from] ProgramError),
    /// The tensor can't be stored as a method needs it.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// A factor or a core is no valid tensor.
    #[error(transparent)]
    Invalid(#[from] InvalidTensor),
    /// A file of a model can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file of a model can't be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Files hold no model, or not the one that is asked for.
    #[error("{}: {problem}", .path.display())]
    File {
        /// The folder, archive or file.
        path: PathBuf,
        /// What is wrong, in words.
        problem: String,
    },
    /// Ranks can't go on together.
    #[error(transparent)]
    Communication(#[from] CommunicationError),
    /// The system refuses threads.
    #[error("there are no such threads: {0}")]
    Threads(std::io::Error),
    /// The order of the tensor is outside of what a method does.
    #[error("the tensor has {found} modes, and a decomposition takes {least} to {most}")]
    Order {
        /// The number of its modes.
        found: usize,
        /// The least that the method takes.
        least: usize,
        /// The most.
        most: usize,
    },
    /// The elements are no real numbers.
    #[error("the tensor has elements {}, and a decomposition takes real numbers", .0.name())]
    Element(ElementType),
    /// Absent entries are not zero.
    #[error("entries that are not stored have the value {0}, and a decomposition takes 0: convert the tensor")]
    Fill(String),
    /// A value is not a number, or is infinite.
    #[error("the entry at {} is {value}: a decomposition takes finite values", one_based(.index))]
    NotFinite {
        /// Where it is, counted from 0.
        index: Vec<usize>,
        /// The value.
        value: f64,
    },
    /// A value is less than zero, in a method for what is not.
    #[error("the entry at {} is {}: {method} takes values that are not negative", one_based(.index), number(*.value))]
    Negative {
        /// Where it is, counted from 0.
        index: Vec<usize>,
        /// The value.
        value: f64,
        /// The method.
        method: &'static str,
    },
    /// A value is outside of the domain of a loss.
    #[error("the entry at {} is {}: the {loss} loss takes {}", one_based(.index), number(*.value), domain(*.least, *.most))]
    Domain {
        /// Where it is, counted from 0.
        index: Vec<usize>,
        /// The value.
        value: f64,
        /// The name of the loss.
        loss: &'static str,
        /// The least that the loss takes.
        least: f64,
        /// The most.
        most: f64,
    },
    /// The value of a loss at an entry is not finite where a run starts.
    #[error(
        "the loss at {} is {loss}, where the entry is {} and the start has {}: give data that the loss is defined for, or start elsewhere",
        one_based(.index),
        number(*.value),
        number(*.model)
    )]
    Loss {
        /// Where it is, counted from 0.
        index: Vec<usize>,
        /// The entry.
        value: f64,
        /// What the model has there.
        model: f64,
        /// The value of the loss.
        loss: f64,
    },
    /// What a method measures is no finite number, so that it can't tell whether it converges.
    #[error(
        "iteration {iteration}: the {} is {value}, so the run does not converge: start elsewhere (another seed, or factors), choose a smaller rank, or factors of f64",
        .measure.replace('_', " ")
    )]
    Diverged {
        /// The iteration, from 1.
        iteration: usize,
        /// What is measured.
        measure: &'static str,
        /// Its value.
        value: f64,
    },
    /// Dense algebra fails.
    #[error("{0}: start elsewhere (another seed, or factors), choose a smaller rank, or factors of f64")]
    Algebra(&'static str),
    /// An option has a value that makes no sense, said in words.
    #[error("{0}")]
    Option(String),
    /// Factors that a method is to start from do not fit the tensor, said in words.
    #[error("{0}")]
    Start(String),
    /// A model has parts that do not fit, or does not fit what it is compared with, said in words.
    #[error("{0}")]
    Model(String),
}

/// A number without the many zeros of one that is very small or very large.
fn number(value: f64) -> String {
    let is_usual = value == 0.0 || (1e-5..1e15).contains(&value.abs());
    if is_usual { value.to_string() } else { format!("{value:e}") }
}

fn domain(least: f64, most: f64) -> String {
    if most == f64::INFINITY { format!("values from {least} up") } else { format!("values from {least} to {most}") }
}

fn one_based(index: &[usize]) -> String {
    let index: Vec<String> = index.iter().map(|coordinate| (coordinate + 1).to_string()).collect();
    format!("({})", index.join(", "))
}
