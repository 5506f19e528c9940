//! A run in the interpreter, on what the question says.

use crate::messages::{Messages, Part};
use crate::operands::{self, Given};
use crate::question::Question;
use crate::shown;
use serde_json::{Map, Value, json};
use spc::execute::interpreter::{Touch, Trace, traced};
use spc::execute::{Backend, Operand, Program, ProgramError, ProgramOptions};
use spc::tensor::AnyTensor;
use spc_compiler::ir::Source;
use spc_compiler::notation::Kernel;
use spc_compiler::schedule;
use std::collections::BTreeMap;

/// The most elements of which the page shows how they are touched.
const TOUCHES: usize = 4000;

/// Runs a kernel that can be scheduled; adds operands, results and the trace to the answer.
pub(crate) fn run(kernel: &Kernel, question: &Question, answer: &mut Value, messages: &mut Messages) {
    let Ok(scheduled) = schedule::schedule(kernel, schedule::Options::default()) else { return };
    let Given { extents, texts, operands } = operands::given(kernel, &scheduled.interface, question, messages);
    // Also if something is wrong with them: the page has a field for each, in which it can be mended.
    answer["extents"] = extents.into_iter().map(|(name, size)| (name, json!(size))).collect::<Map<_, _>>().into();
    answer["data"] = texts.into_iter().map(|(name, text)| (name, json!(text))).collect::<Map<_, _>>().into();
    let Some(operands) = operands else { return };
    // The page keeps the extents of indices that an earlier text had.
    let is_known = |name: &str| scheduled.interface.extents.iter().any(|extent| extent.is_called(name));
    let stated = question.extents.iter().filter(|(name, _)| is_known(name));
    let stated: Vec<(String, usize)> = stated.map(|(name, size)| (name.clone(), *size)).collect();
    if let Err(error) = of_operands(kernel, operands, &stated, answer) {
        match error {
            ProgramError::Schedule(found) => messages.found(Part::Text, question, found),
            ProgramError::Pack { ref tensor, .. } => messages.error(Part::Data(tensor.clone()), &error.to_string()),
            error => messages.error(Part::Extents, &error.to_string()),
        }
    }
}

fn of_operands(
    kernel: &Kernel,
    operands: Vec<(String, Operand)>,
    stated: &[(String, usize)],
    answer: &mut Value,
) -> Result<(), ProgramError> {
    let options =
        ProgramOptions { backend: Some(Backend::Interpreter), memory: Some(1 << 24), ..ProgramOptions::default() };
    let program = Program::new(kernel, operands, stated, &options)?;
    let operands: Vec<(&str, &AnyTensor)> = program.inputs().collect();
    answer["operands"] = operands.iter().map(|(name, tensor)| shown::tensor(name, tensor)).collect();
    let (outcome, trace) = traced(TOUCHES, || program.run(1));
    let outcome = outcome?;
    answer["results"] = outcome.outputs.iter().map(|(name, tensor)| shown::tensor(name, tensor)).collect();
    let kernels = &program.compiled().kernels;
    // What loops write into another format and hand over as this one is in other places.
    let is_as_written = |name: &str| {
        let mut written = kernels.iter().flat_map(|compiled| &compiled.kernel.tensors);
        written.any(|tensor| {
            tensor.name == name && matches!(tensor.source, Source::Output { .. }) && tensor.delivered.is_none()
        })
    };
    let outputs =
        outcome.outputs.iter().filter(|(name, _)| is_as_written(name)).map(|(name, tensor)| (name.as_str(), tensor));
    answer["trace"] = steps(&trace, &operands.into_iter().chain(outputs).collect());
    Ok(())
}

/// The elements that were touched, each once, and in which order: twice the place in the list, and one more where it was written.
fn steps(trace: &Trace, tensors: &BTreeMap<&str, &AnyTensor>) -> Value {
    let mut places: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let mut cells: Vec<Value> = Vec::new();
    let mut steps: Vec<usize> = Vec::new();
    for touch in &trace.touches {
        let Some(cell) = tensors.get(touch.tensor.as_str()).and_then(|tensor| cell(touch, tensor)) else { continue };
        let place = *places.entry((&touch.tensor, cell)).or_insert_with_key(|(tensor, cell)| {
            cells.push(json!([tensor, cell]));
            cells.len() - 1
        });
        steps.push(2 * place + usize::from(touch.is_written));
    }
    json!({ "cells": cells, "steps": steps, "is_cut": trace.is_cut })
}

/// What a drawing calls an element.
fn cell(touch: &Touch, tensor: &AnyTensor) -> Option<String> {
    let place = touch.place;
    let Some((role, level)) = touch.index_array else { return Some(format!("values.{place}")) };
    let name = tensor.format().levels.get(level)?.format.array(role)?.name;
    Some(format!("{}.{name}.{place}", level + 1))
}
