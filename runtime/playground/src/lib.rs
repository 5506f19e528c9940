//! The playground: a page in a browser, and what answers it.
//!
//! [`answer`] takes a question as JSON and gives the answer as JSON: messages with their places, the kernel at every stage, drawings of the
//! operands' arrays, the result by the interpreter, and which elements the loops touched, in order. It has no files, no network and no state. `spc play`
//! serves [`PAGE`] and asks this crate itself; a folder of static files asks it as WebAssembly (`wasm` beside it). The page is the same.
//!
//! ```text
//! {"text": "y(i) = A(i, j) * x(j)",     answer     {"messages": [], "tensors": […], "stages": {"ir": …, "rust": …},
//!  "formats": {"A": "csr"}}            ────────▶    "operands": [{"name": "A", "svg": …}], "trace": {"steps": […]}}
//! ```

#![forbid(unsafe_code)]

mod messages;
mod numbers;
mod operands;
mod page;
mod question;
mod run;
mod shown;
mod source;
mod stages;

pub use page::{File, PAGE};
pub use question::Question;

use messages::{Messages, Part};
use serde_json::{Value, json};
use spc::execute::with_stack_for;
use spc_compiler::notation;
use spc_compiler::plan::{self, Facts};

/// The most bytes of a question.
pub const LARGEST: usize = 1 << 16;

/// The answer to a question, both as JSON. What can't be read is answered by a message, as what is wrong with a text.
pub fn answer(question: &str) -> String {
    let refuse = |message: String| json!({ "messages": [{ "severity": "error", "message": message }] }).to_string();
    if question.len() > LARGEST {
        return refuse(format!("a question has {LARGEST} bytes at most, and this one has {}", question.len()));
    }
    match serde_json::from_str::<Question>(question) {
        Ok(question) => answered(&question).to_string(),
        Err(error) => refuse(format!("this is no question of the playground: {error}")),
    }
}

fn answered(question: &Question) -> Value {
    let mut messages = Messages::default();
    let mut answer = json!({ "declares": spc_compiler::syntax::holds_items(&question.text) });
    match source::kernels(question) {
        Ok(kernels) => {
            let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
            answer["kernels"] = json!(names);
            let asked = kernels.iter().find(|kernel| Some(&kernel.name) == question.kernel.as_ref());
            match asked.or(kernels.first()) {
                Some(kernel) => with_stack_for(kernel, || of_kernel(kernel, question, &mut answer, &mut messages)),
                None => messages
                    .error(Part::Text, "there is no kernel yet: write an assignment, or `fn name(…) -> … { … }`"),
            }
        }
        Err(found) => {
            answer["tensors"] = json!(source::named(question));
            found.into_iter().for_each(|(part, found)| messages.found(part, question, found));
        }
    }
    answer["messages"] = messages.into();
    answer
}

fn of_kernel(kernel: &notation::Kernel, question: &Question, answer: &mut Value, messages: &mut Messages) {
    answer["kernel"] = json!(kernel.name);
    answer["tensors"] = source::tensors(kernel);
    let of_plans = plan::ruled_out(kernel, &Facts::stated(kernel, &[]));
    messages.found(Part::Text, question, of_plans.into_iter().chain(kernel.warnings.iter().cloned()).collect());
    let (stages, found) = stages::texts(kernel);
    answer["stages"] = stages;
    match found {
        Some(found) => messages.found(Part::Text, question, found),
        None => run::run(kernel, question, answer, messages),
    }
}
