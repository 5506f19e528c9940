//! Work grows with what is stored: each kernel of the examples and of the book, on sparse tensors of two sizes with as many entries a row,
//! counted in the interpreter. One that makes a dense product where a sparse result is asked for takes sixteen times as long for four
//! times as many rows.

use spc::execute::interpreter::counted;
use spc::execute::{Backend, Operand, Program, ProgramOptions};
use spc::generate;
use spc::tensor::AnyTensor;
use spc_compiler::format::resolve::Definitions;
use spc_compiler::notation::{self, FormatOption, Role};
use spc_compiler::syntax;
use std::fs;
use std::path::{Path, PathBuf};

/// Each extent, and how many entries there are for each index of the first mode.
const SIZES: [usize; 2] = [24, 96];
const DEGREE: usize = 3;

/// How much faster than what is stored the work may grow: four times as much is stored in sparse tensors, sixteen in dense matrices.
const MOST: f64 = 2.0;

/// What grows faster, and why.
const FASTER: [(&str, &str); 3] = [
    ("examples/convolution.ti 2 spread", "each entry is spread over a dense window, which is as long as a mode here"),
    ("examples/cp_als.ti 0 mode_1", "multiplies by a matrix of rank by rank, and the rank is as long as a mode here"),
    ("examples/cp_als.ti 1 fit", "multiplies by a matrix of rank by rank, as well"),
];

spc_tests::tests! { work_grows_with_what_is_stored, a_dense_product_is_found }

fn work_grows_with_what_is_stored() {
    let mut measured = 0;
    let mut wrong = Vec::new();
    for (origin, kernel) in kernels() {
        let Some(growth) = growth(&kernel) else { continue };
        measured += 1;
        let is_known = FASTER.iter().any(|(name, _)| *name == origin);
        if (growth > MOST) != is_known {
            wrong.push(format!("{origin}: {growth:.1} times as fast as what is stored"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(measured >= 40, "{measured} kernels were measured");
}

fn a_dense_product_is_found() {
    let head = "fn f(A: csr, Q: dense, K: dense) -> C: csr";
    let sampled = format!("{head} {{ C(i, j) = A(i, j) * exp(sum(k)(Q(i, k) * K(j, k))); }}");
    let whole = "let T(i, j): dense = Q(i, k) * K(j, k); C(i, j) = A(i, j) * exp(T(i, j));";
    let dense = format!("{head} {{ {whole} }} schedule {{ plan(as_written); materialize(T); }}");
    let of = |text: &str| growth(&of_program(text)[0]).expect("it runs");
    let (sampled, dense) = (of(&sampled), of(&dense));
    assert!(sampled <= MOST && dense > MOST, "{sampled} {dense}");
}

/// By how much more the work grows than what is stored; nothing where no operand is sparse, or the operands do not go together.
fn growth(kernel: &notation::Kernel) -> Option<f64> {
    let [few, many] = SIZES.map(|size| work(kernel, size));
    let ((work, stored), (more_work, more_stored)) = (few?, many?);
    Some((more_work / work) / (more_stored / stored))
}

/// The interpreter's work, and the bytes of operands and results.
fn work(kernel: &notation::Kernel, size: usize) -> Option<(f64, f64)> {
    let inputs: Vec<&notation::Tensor> = kernel.tensors.iter().filter(|tensor| tensor.role == Role::Input).collect();
    if inputs.iter().all(|tensor| tensor.format.is_dense()) {
        return None;
    }
    let operand = |(seed, tensor): (usize, &&notation::Tensor)| {
        let shape = vec![size; tensor.format.order];
        let operand = match tensor.format.order {
            0 => Operand::Scalar(2.0),
            _ if tensor.format.is_dense() => {
                Operand::Tensor(generate::random_dense(&shape, tensor.element, seed as u64).ok()?)
            }
            1 => generate::uniform(&shape, size / DEGREE, seed as u64).ok()?.into(),
            _ => generate::uniform(&shape, DEGREE * size, seed as u64).ok()?.into(),
        };
        Some((tensor.name.clone(), operand))
    };
    let operands = inputs.iter().enumerate().map(operand).collect::<Option<Vec<_>>>()?;
    let options = ProgramOptions { backend: Some(Backend::Interpreter), ..ProgramOptions::default() };
    let program = Program::new(kernel, operands, &[], &options).ok()?;
    let (outcome, counts) = counted(|| program.run(1));
    let outcome = outcome.ok()?;
    let bytes = |tensor: &AnyTensor| tensor.storage_bytes() as f64;
    let inputs: f64 = program.inputs().map(|(_, tensor)| bytes(tensor)).sum();
    let results: f64 = outcome.outputs.iter().map(|(_, tensor)| bytes(tensor)).sum();
    Some((counts.total() as f64, inputs + results))
}

/// All kernels, each with where it stands.
fn kernels() -> Vec<(String, notation::Kernel)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut all = Vec::new();
    for path in files(&root.join("examples"), "ti") {
        all.extend(named(&root, &path, of_program(&read(&path))));
    }
    let mut pages = files(&root.join("docs"), "md");
    pages.push(root.join("README.md"));
    for path in pages {
        let text = read(&path);
        let programs = text.split("```spc\n").skip(1).filter_map(|block| Some(block.split_once("```")?.0));
        all.extend(named(&root, &path, programs.flat_map(of_program).collect()));
        let commands = text.lines().filter_map(|line| line.strip_prefix("$ spc "));
        all.extend(named(&root, &path, commands.filter_map(of_command).collect()));
    }
    all
}

fn named(root: &Path, path: &Path, kernels: Vec<notation::Kernel>) -> Vec<(String, notation::Kernel)> {
    let file = path.strip_prefix(root).unwrap_or(path).display().to_string();
    let name = |(place, kernel): (usize, notation::Kernel)| (format!("{file} {place} {}", kernel.name), kernel);
    kernels.into_iter().enumerate().map(name).collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files of a folder and of those in it, in order.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())).flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => found.extend(files(&path, extension)),
            false if path.extension().is_some_and(|found| found == extension) => found.push(path),
            false => {}
        }
    }
    found.sort();
    found
}

/// The kernels of a program; none where the text is a part of one.
fn of_program(text: &str) -> Vec<notation::Kernel> {
    syntax::parse_program(text).and_then(|program| notation::check(&program)).unwrap_or_default()
}

/// The kernel of a command: an expression between quotes, and the formats behind it.
fn of_command(line: &str) -> Option<notation::Kernel> {
    let text = line.split('\'').nth(1).filter(|text| text.contains('='))?;
    let mut options = Vec::new();
    for option in line.split(" -f ").skip(1) {
        let (tensor, format) = option.split_once('=')?;
        let format = match format.strip_prefix('\'') {
            Some(quoted) => quoted.split('\'').next()?,
            None => format.split(' ').next()?,
        };
        options.push(FormatOption::new(tensor, syntax::parse_parameter_format(format).ok()?));
    }
    let statement = syntax::parse_statement(text).ok()?;
    notation::check_expression(&statement, &options, &Definitions::of_program(&syntax::Program::default())).ok()
}
