//! `spc grad`: the gradient of a kernel, as a kernel.

use crate::arguments::KernelArguments;
use crate::failure::Failure;
use crate::source::Source;
use crate::{output, settings};
use clap::Args;
use serde_json::json;
use spc_compiler::notation;
use std::path::PathBuf;

/// Differentiate kernels, and print what computes their gradients
///
/// The gradient of a kernel is a kernel again: `spc grad k.ti --by A,x -o k_grad.ti`. It takes the inputs of the kernel that it reads, and for
/// each result what a loss gains by it: `dy` for `y`. Its results are what the loss gains by each parameter: `dA`, `dx`. That of a sparse
/// parameter has the entries of the parameter.
#[derive(Debug, Args)]
pub(crate) struct Grad {
    #[command(flatten)]
    kernel: KernelArguments,
    /// The parameters to differentiate by; all of real numbers if not given
    #[arg(long, value_name = "A,x", value_delimiter = ',')]
    by: Vec<String>,
    /// Write to a file; `-` for the standard output
    #[arg(short, long, value_name = "FILE.ti")]
    output: Option<PathBuf>,
}

impl Grad {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let source = Source::load(&self.kernel)?;
        let mut texts = Vec::new();
        for kernel in &source.kernels {
            let by = match self.by.is_empty() {
                true => notation::real_parameters(kernel),
                false => self.by.iter().map(String::as_str).collect(),
            };
            texts.push(notation::gradient(kernel, &by).map_err(|problems| source.refuse(problems))?);
        }
        let text = texts.join("\n");
        match &self.output {
            Some(path) if path.as_os_str() != "-" => Ok(spc::io::write_text(path, &text)?),
            _ if settings::json() => {
                let kernels: Vec<String> =
                    source.kernels.iter().map(|kernel| format!("{}_grad", kernel.name)).collect();
                output::print_json(json!({ "kernels": kernels, "text": text, "warnings": source.warnings_as_json() }))
            }
            _ => output::print(&text),
        }
    }
}
