//! The suites' kernels, as text.
//!
//! Elementwise operations, tensor and scalar, tensor times vector and times matrix, and MTTKRP are those of Li,
//! Lakshminarasimhan, Wu, Li, Barker, *A Parallel Sparse Tensor Benchmark Suite on CPUs and GPUs* (2020), for tensors of any
//! order; the others are those of sparse linear algebra.

use spc_compiler::ir::ElementType;

/// Names for modes; `r` is the rank.
const MODES: [&str; 8] = ["i", "j", "k", "l", "m", "n", "o", "p"];
/// Names for factors.
const FACTORS: [&str; 8] = ["B", "C", "D", "E", "F", "G", "H", "K"];

/// A kernel of a suite.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SuiteKernel {
    /// What `--kernel` calls it.
    pub(crate) name: &'static str,
    /// The orders of tensors that it is for.
    orders: (usize, usize),
    /// Whether there is one for each mode.
    pub(crate) has_modes: bool,
    /// Whether it has a dense mode of a chosen length.
    pub(crate) has_rank: bool,
    /// Whether it is worth measuring in formats other than the plain ones, where none are asked for.
    pub(crate) in_all_formats: bool,
    /// The only format that it is for, where it is not for all.
    only_in: Option<&'static str>,
    /// Whether it is measured where no kernels are named.
    pub(crate) is_usual: bool,
    /// Its text.
    define: fn(&Choice) -> Definition,
}

/// Which of a kernel's forms.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice<'a> {
    /// The order of the tensor.
    pub(crate) order: usize,
    /// The mode, from 0.
    pub(crate) mode: usize,
    /// How the tensor is stored, in the language.
    pub(crate) format: &'a str,
    /// The type of all elements.
    pub(crate) element: ElementType,
    /// Whether the operand of a product with a mode has that mode last, in any format. In blocks it always has.
    pub(crate) is_last: bool,
}

/// A kernel's text, and what its parameters are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Definition {
    /// A function of the language.
    pub(crate) text: String,
    /// Its parameters, in order.
    pub(crate) parameters: Vec<(&'static str, Parameter)>,
}

/// What stands for a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parameter {
    /// The tensor.
    Tensor,
    /// The tensor with its first mode turned by one, so that few entries are where the tensor's are.
    Turned,
    /// The tensor with its modes reversed.
    Transposed,
    /// The tensor with a mode turned last.
    Last(usize),
    /// A dense tensor of random elements.
    Random,
    /// The number 2.
    Two,
}

const fn tensor(name: &'static str, has_modes: bool, has_rank: bool, define: fn(&Choice) -> Definition) -> SuiteKernel {
    SuiteKernel {
        name,
        orders: (1, MODES.len()),
        has_modes,
        has_rank,
        in_all_formats: has_modes,
        only_in: None,
        is_usual: true,
        define,
    }
}

/// An elementwise kernel beside the usual ones.
const fn other(name: &'static str, define: fn(&Choice) -> Definition) -> SuiteKernel {
    SuiteKernel { is_usual: false, ..tensor(name, false, false, define) }
}

const fn matrix(name: &'static str, has_rank: bool, define: fn(&Choice) -> Definition) -> SuiteKernel {
    SuiteKernel {
        name,
        orders: (2, 2),
        has_modes: false,
        has_rank,
        in_all_formats: true,
        only_in: None,
        is_usual: true,
        define,
    }
}

/// All kernels. Elementwise ones that end with `_same` have operands of one pattern; a quotient is where its divisor has an entry.
pub(crate) const KERNELS: [SuiteKernel; 19] = [
    tensor("elementwise", false, false, elementwise),
    tensor("multiply", false, false, multiply),
    tensor("scalar", false, false, scalar),
    tensor("add", false, false, add),
    SuiteKernel { orders: (3, MODES.len()), ..tensor("ttv", true, false, ttv) },
    SuiteKernel { orders: (3, MODES.len()), ..tensor("ttm", true, true, ttm) },
    SuiteKernel { orders: (3, MODES.len()), ..tensor("mttkrp", true, true, mttkrp) },
    matrix("spmv", false, spmv),
    matrix("spmm", true, spmm),
    matrix("sddmm", true, sddmm),
    matrix("spgemm", false, spgemm),
    other("add_same", |choice| with_same("add_same", "+", Parameter::Tensor, choice)),
    other("subtract_same", |choice| with_same("subtract_same", "-", Parameter::Tensor, choice)),
    other("divide_same", |choice| with_same("divide_same", "/", Parameter::Tensor, choice)),
    other("subtract", |choice| with_same("subtract", "-", Parameter::Turned, choice)),
    other("divide", |choice| with_same("divide", "/", Parameter::Turned, choice)),
    other("scalar_add", scalar_add),
    SuiteKernel { orders: (3, MODES.len()), has_modes: true, ..other("ttv_dense", ttv_dense) },
    SuiteKernel {
        orders: (3, MODES.len()),
        has_modes: true,
        has_rank: true,
        only_in: Some("coo"),
        ..other("mttkrp_permutation", mttkrp_permutation)
    },
];

impl SuiteKernel {
    /// Whether it is for tensors of an order.
    pub(crate) fn serves(&self, order: usize) -> bool {
        (self.orders.0..=self.orders.1).contains(&order)
    }

    /// Whether it is for tensors in a format.
    pub(crate) fn suits(&self, format: &str) -> bool {
        self.only_in.is_none_or(|only| only == format)
    }

    /// Its text.
    pub(crate) fn define(&self, choice: &Choice) -> Definition {
        (self.define)(choice)
    }
}

impl Choice<'_> {
    /// `i, j, k`
    fn all(&self) -> String {
        MODES[..self.order].join(", ")
    }

    /// The same but for the mode.
    fn others(&self) -> Vec<&'static str> {
        (0..self.order).filter(|&mode| mode != self.mode).map(|mode| MODES[mode]).collect()
    }

    /// Where the tensor is stored in blocks, how it is for a product with a mode, which is last and which blocks leave out; how the
    /// result is, and one that is dense in its last mode (Li 2020: gHiCOO, HiCOO, sHiCOO).
    pub(crate) fn blocks(&self) -> Option<[String; 3]> {
        let (name, size) = self.format.split_once('(')?;
        matches!(name.trim(), "hicoo" | "ghicoo")
            .then(|| ["ghicoo", "hicoo", "shicoo"].map(|of| format!("{of}({size}")))
    }

    /// The operand of a product with a mode: its format, its indices, and what it is.
    fn operand(&self) -> (String, String, Parameter) {
        let blocks = self.blocks();
        let is_last = self.is_last || blocks.is_some();
        let format = blocks.map_or_else(|| self.format.to_owned(), |[blocks, ..]| blocks);
        match is_last {
            true => {
                let indices = [&self.others()[..], &[MODES[self.mode]]].concat().join(", ");
                (format, indices, Parameter::Last(self.mode))
            }
            false => (format, self.all(), Parameter::Tensor),
        }
    }

    /// How a result of the same kind is stored, of any order.
    fn result(&self) -> &'static str {
        if self.format == "coo" { "coo" } else { "csf" }
    }
}

fn elementwise(choice: &Choice) -> Definition {
    with_same("elementwise", "*", Parameter::Tensor, choice)
}

fn multiply(choice: &Choice) -> Definition {
    with_same("multiply", "*", Parameter::Turned, choice)
}

fn add(choice: &Choice) -> Definition {
    with_same("add", "+", Parameter::Turned, choice)
}

/// An operation with a second tensor in the same format.
fn with_same(name: &str, operator: &str, second: Parameter, choice: &Choice) -> Definition {
    let Choice { format, element, .. } = choice;
    let (all, ty) = (choice.all(), element.name());
    let mask = if operator == "/" { format!(" where Z({all})") } else { String::new() };
    let text = format!(
        "fn {name}(X: {ty} {format}, Z: {ty} {format}) -> Y: {ty} {format} {{ Y({all}) = X({all}) {operator} Z({all}){mask}; }}"
    );
    Definition { text, parameters: vec![("X", Parameter::Tensor), ("Z", second)] }
}

fn scalar(choice: &Choice) -> Definition {
    let Choice { format, element, .. } = choice;
    let (all, ty) = (choice.all(), element.name());
    let text =
        format!("fn scalar(X: {ty} {format}, alpha: {ty}) -> Y: {ty} {format} {{ Y({all}) = X({all}) * alpha; }}");
    Definition { text, parameters: vec![("X", Parameter::Tensor), ("alpha", Parameter::Two)] }
}

/// At the stored entries alone.
fn scalar_add(choice: &Choice) -> Definition {
    let Choice { format, element, .. } = choice;
    let (all, ty) = (choice.all(), element.name());
    let text = format!(
        "fn scalar_add(X: {ty} {format}, alpha: {ty}) -> Y: {ty} {format} {{ Y({all}) = X({all}) + alpha where X({all}); }}"
    );
    Definition { text, parameters: vec![("X", Parameter::Tensor), ("alpha", Parameter::Two)] }
}

fn ttv(choice: &Choice) -> Definition {
    let Choice { element, mode, .. } = *choice;
    let (format, all, operand) = choice.operand();
    let (ty, others, index) = (element.name(), choice.others().join(", "), MODES[mode]);
    let result = choice.blocks().map_or_else(|| choice.result().to_owned(), |[_, result, _]| result);
    let text = format!(
        "fn ttv(X: {ty} {format}, v: {ty} dense) -> Y: {ty} {result} {{ Y({others}) = X({all}) * v({index}); }}"
    );
    Definition { text, parameters: vec![("X", operand), ("v", Parameter::Random)] }
}

/// With a dense result, as the matrix of Yang, Li and Li 2019.
fn ttv_dense(choice: &Choice) -> Definition {
    let Choice { element, mode, .. } = *choice;
    let (format, all, operand) = choice.operand();
    let (ty, others, index) = (element.name(), choice.others().join(", "), MODES[mode]);
    let text = format!(
        "fn ttv_dense(X: {ty} {format}, v: {ty} dense) -> Y: {ty} dense {{ Y({others}) = X({all}) * v({index}); }}"
    );
    Definition { text, parameters: vec![("X", operand), ("v", Parameter::Random)] }
}

/// The result is semi-sparse: dense in its last mode.
fn ttm(choice: &Choice) -> Definition {
    let Choice { element, mode, .. } = *choice;
    let (format, all, operand) = choice.operand();
    let (ty, index, others) = (element.name(), MODES[mode], choice.others());
    let result = match (choice.blocks(), choice.result()) {
        (Some([.., semi_sparse]), _) => semi_sparse,
        (None, "coo") => "scoo".to_owned(),
        (None, _) => format!("[{}, dense]", vec!["compressed"; others.len()].join(", ")),
    };
    let others = others.join(", ");
    let text = format!(
        "fn ttm(X: {ty} {format}, U: {ty} dense) -> Y: {ty} {result} {{ Y({others}, r) = X({all}) * U({index}, r); }}"
    );
    Definition { text, parameters: vec![("X", operand), ("U", Parameter::Random)] }
}

fn mttkrp(choice: &Choice) -> Definition {
    let Choice { format, element, mode, .. } = *choice;
    let (all, ty, index) = (choice.all(), element.name(), MODES[mode]);
    let mut parameters = vec![("X", Parameter::Tensor)];
    let (mut declared, mut factors) = (format!("X: {ty} {format}"), String::new());
    for (name, other) in FACTORS.into_iter().zip(choice.others()) {
        parameters.push((name, Parameter::Random));
        declared.push_str(&format!(", {name}: {ty} dense"));
        factors.push_str(&format!(" * {name}({other}, r)"));
    }
    let text = format!("fn mttkrp({declared}) -> A: {ty} dense {{ A({index}, r) = X({all}){factors}; }}");
    Definition { text, parameters }
}

/// Where the tensor lists its entries, by another mode than the first they are read in the order of that mode (Phipps and Kolda 2019).
fn mttkrp_permutation(choice: &Choice) -> Definition {
    let Definition { text, parameters } = mttkrp(choice);
    let mut text = text.replacen("mttkrp", "mttkrp_permutation", 1);
    if choice.mode > 0 {
        let order = [&[MODES[choice.mode]], &choice.others()[..]].concat().join(", ");
        text.push_str(&format!(" schedule {{ copy(X({order}): permutation); }}"));
    }
    Definition { text, parameters }
}

fn spmv(choice: &Choice) -> Definition {
    let (format, ty) = (choice.format, choice.element.name());
    let text = format!("fn spmv(A: {ty} {format}, x: {ty} dense) -> y: {ty} dense {{ y(i) = A(i, j) * x(j); }}");
    Definition { text, parameters: vec![("A", Parameter::Tensor), ("x", Parameter::Random)] }
}

fn spmm(choice: &Choice) -> Definition {
    let (format, ty) = (choice.format, choice.element.name());
    let text = format!("fn spmm(A: {ty} {format}, X: {ty} dense) -> Y: {ty} dense {{ Y(i, r) = A(i, j) * X(j, r); }}");
    Definition { text, parameters: vec![("A", Parameter::Tensor), ("X", Parameter::Random)] }
}

fn sddmm(choice: &Choice) -> Definition {
    let (format, ty) = (choice.format, choice.element.name());
    let text = format!(
        "fn sddmm(A: {ty} {format}, B: {ty} dense, C: {ty} dense) -> Y: {ty} {format} \
         {{ Y(i, j) = A(i, j) * B(i, r) * C(j, r); }}"
    );
    let parameters = vec![("A", Parameter::Tensor), ("B", Parameter::Random), ("C", Parameter::Random)];
    Definition { text, parameters }
}

/// With its own transpose, which fits also where the matrix is not square.
fn spgemm(choice: &Choice) -> Definition {
    let (format, ty) = (choice.format, choice.element.name());
    let text =
        format!("fn spgemm(A: {ty} {format}, B: {ty} {format}) -> C: {ty} {format} {{ C(i, j) = A(i, k) * B(k, j); }}");
    Definition { text, parameters: vec![("A", Parameter::Tensor), ("B", Parameter::Transposed)] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spc_compiler::{compile_notation, notation, syntax};

    #[test]
    fn every_form_of_every_kernel_compiles() {
        let mut count = 0;
        for kernel in &KERNELS {
            for order in (1..=5).filter(|&order| kernel.serves(order)) {
                for format in if order == 2 { &["csr", "coo"][..] } else { &["csf", "coo", "hicoo(8)"] } {
                    if !kernel.in_all_formats && *format == "hicoo(8)" || !kernel.suits(format) {
                        continue;
                    }
                    for mode in if kernel.has_modes { 0..order } else { 0..1 } {
                        let choice = Choice { order, mode, format, element: ElementType::F32, is_last: false };
                        let Definition { text, parameters } = kernel.define(&choice);
                        let kernels = syntax::parse_program(&text).and_then(|program| notation::check(&program));
                        let kernels = kernels.unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
                        compile_notation(&kernels[0]).unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
                        assert_eq!(kernels[0].name, kernel.name);
                        let inputs = kernels[0].tensors.iter().filter(|tensor| tensor.role == notation::Role::Input);
                        assert!(inputs.map(|input| &input.name).eq(parameters.iter().map(|(name, _)| name)));
                        count += 1;
                    }
                }
            }
        }
        assert_eq!(count, 10 * 10 + 3 * 3 * 12 + 4 * 2 + 2 * 12 + 12);
    }

    #[test]
    fn operands_of_compared_formats_differ_in_the_format_alone() {
        for kernel in KERNELS.iter().filter(|kernel| kernel.has_modes && kernel.only_in.is_none()) {
            for mode in 0..3 {
                let parameters = ["coo", "csf", "hicoo(8)", "cfb"].map(|format| {
                    let choice = Choice { order: 3, mode, format, element: ElementType::F64, is_last: true };
                    kernel.define(&choice).parameters
                });
                assert!(
                    parameters.iter().all(|other| *other == parameters[0]),
                    "{} {mode}: {parameters:?}",
                    kernel.name
                );
            }
        }
    }
}
