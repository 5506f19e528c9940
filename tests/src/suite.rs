//! The kernels that tensor benchmark suites are made of, over every mode, order, format and element type that the project
//! promises, as [cases](Case).
//!
//! The text of each is generated here, so that none can be forgotten; the corpus shows what they look like.

use crate::case::Case;
use crate::data::{Entries, Random};
use spc_compiler::ir::ElementType;

/// Index variables of tensors with their extents; `r` is the rank of factor matrices.
const INDICES: [(&str, usize); 5] = [("i", 3), ("j", 4), ("k", 3), ("l", 2), ("m", 3)];
const RANK: usize = 5;

/// The orders of tensors.
const ORDERS: [usize; 3] = [3, 4, 5];

/// The formats of sparse tensors and of matrices.
const TENSOR_FORMATS: [&str; 2] = ["coo", "csf"];
const MATRIX_FORMATS: [&str; 4] = ["csr", "csc", "dcsr", "coo"];

const ELEMENTS: [ElementType; 2] = [ElementType::F64, ElementType::F32];

/// The operators of elementwise kernels and their names.
const OPERATORS: [(&str, &str); 4] = [("+", "add"), ("-", "subtract"), ("*", "multiply"), ("/", "divide")];

/// All kernels of the suites.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for element in ELEMENTS {
        for format in TENSOR_FORMATS {
            for order in ORDERS {
                let tensor = Sparse { element, format, order };
                cases.extend((0..order).flat_map(|mode| tensor.products(mode)));
                cases.extend(tensor.elementwise());
                cases.extend(tensor.with_scalar());
            }
        }
        cases.extend(MATRIX_FORMATS.into_iter().flat_map(|format| matrix_kernels(element, format)));
    }
    for (seed, case) in (1..).zip(&mut cases) {
        case.seed = seed;
    }
    cases
}

/// The kinds of kernel that a sparse tensor is an operand of.
#[derive(Clone, Copy)]
struct Sparse {
    element: ElementType,
    format: &'static str,
    order: usize,
}

impl Sparse {
    fn indices(self) -> Vec<&'static str> {
        INDICES[..self.order].iter().map(|(name, _)| *name).collect()
    }

    /// `name_format_order_element`
    fn name(self, kernel: &str) -> String {
        format!("{kernel}_{}_{}_{}", self.format, self.order, self.element.name())
    }

    /// TTV, TTM and MTTKRP over a mode.
    fn products(self, mode: usize) -> Vec<Case> {
        let Sparse { element, format, .. } = self;
        let (element, all) = (element.name(), self.indices());
        let (x, n) = (all.join(", "), all[mode]);
        let others: Vec<&str> = all.iter().copied().filter(|&index| index != n).collect();
        let rest = others.join(", ");
        let replaced: Vec<&str> = all.iter().map(|&index| if index == n { "r" } else { index }).collect();
        let replaced = replaced.join(", ");
        let semisparse = semisparse(format, &replaced, &others);
        let ordinal = mode + 1;

        let name = self.name(&format!("ttv_{ordinal}"));
        let ttv = format!(
            "fn {name}(X: {element} {format}, v: {element} dense) -> Y: {element} {format} {{ \
             Y({rest}) = X({x}) * v({n}); }}"
        );
        let ttm = |kind: &str, result: &str| {
            let name = self.name(&format!("ttm_{kind}_{ordinal}"));
            let text = format!(
                "fn {name}(X: {element} {format}, U: {element} dense) -> Y: {element} {result} {{ \
                 Y({replaced}) = X({x}) * U({n}, r); }}"
            );
            case(&name, text)
        };
        vec![case(&name, ttv), ttm("semisparse", &semisparse), ttm("dense", "dense"), self.mttkrp(mode)]
    }

    fn mttkrp(self, mode: usize) -> Case {
        let (element, format, all) = (self.element.name(), self.format, self.indices());
        let name = self.name(&format!("mttkrp_{}", mode + 1));
        let factors: Vec<String> = all.iter().map(|index| format!("F{index}")).collect();
        let others = || (0..self.order).filter(|&other| other != mode);
        let parameters: String = others().map(|other| format!(", {}: {element} dense", factors[other])).collect();
        let product: String = others().map(|other| format!(" * {}({}, r)", factors[other], all[other])).collect();
        let text = format!(
            "fn {name}(X: {element} {format}{parameters}) -> {result}: {element} dense {{ \
             {result}({n}, r) = X({x}){product}; }}",
            result = factors[mode],
            n = all[mode],
            x = all.join(", "),
        );
        case(&name, text)
    }

    /// Two tensors, element by element: into a dense tensor, and at the entries of both into a sparse one.
    fn elementwise(self) -> Vec<Case> {
        let (element, format, x) = (self.element.name(), self.format, self.indices().join(", "));
        let mut cases = Vec::new();
        for (operator, word) in OPERATORS {
            let kernel = |kind: &str, result: &str, mask: &str| {
                let name = self.name(&format!("{word}_{kind}"));
                let text = format!(
                    "fn {name}(X: {element} {format}, Y: {element} {format}) -> Z: {element} {result} {{ \
                     Z({x}) = X({x}) {operator} Y({x}){mask}; }}"
                );
                case(&name, text)
            };
            if operator != "/" {
                cases.push(self.with_same_pattern(kernel("same_pattern", "dense", "")));
                cases.push(kernel("different_patterns", "dense", ""));
            }
            cases.push(self.with_same_pattern(kernel("stored", format, &format!(" where X({x})"))));
        }
        cases
    }

    /// Every stored entry and a number.
    fn with_scalar(self) -> Vec<Case> {
        let (element, format, x) = (self.element.name(), self.format, self.indices().join(", "));
        let kernel = |(operator, word): (&str, &str)| {
            let name = self.name(&format!("{word}_scalar"));
            let text = format!(
                "fn {name}(X: {element} {format}, alpha: {element}) -> Y: {element} {format} {{ \
                 Y({x}) = X({x}) {operator} alpha where X({x}); }}"
            );
            let mut case = case(&name, text);
            case.data.insert("alpha".to_owned(), [(Vec::new(), 2.5)].into());
            case
        };
        OPERATORS.into_iter().map(kernel).collect()
    }

    /// The same places have an entry in both operands, and no entry of the second is zero.
    fn with_same_pattern(self, mut case: Case) -> Case {
        let shape: Vec<usize> = INDICES[..self.order].iter().map(|(_, extent)| *extent).collect();
        let mut random = Random::new(self.order as u64);
        let first = Entries::random(&shape, 0.4, self.element, &mut random).stored;
        let second = first.keys().map(|index| (index.clone(), (1 + random.below(8)) as f64 / 4.0)).collect();
        case.data.insert("X".to_owned(), first);
        case.data.insert("Y".to_owned(), second);
        case
    }
}

/// Semi-sparse as the operand is sparse, with the mode `r` dense and stored last.
fn semisparse(format: &str, modes: &str, sparse: &[&str]) -> String {
    let level = |(place, index): (usize, &&str)| match (format, place) {
        ("csf", _) => format!("{index}: compressed, "),
        (_, 0) => format!("{index}: compressed(nonunique), "),
        (_, place) if place + 1 < sparse.len() => format!("{index}: singleton(nonunique), "),
        _ => format!("{index}: singleton, "),
    };
    let levels: String = sparse.iter().enumerate().map(level).collect();
    format!("({modes}) -> [{levels}r: dense]")
}

/// SpMV, SpMM and SDDMM.
fn matrix_kernels(element: ElementType, format: &str) -> Vec<Case> {
    let element = element.name();
    let kernel = |kernel: &str, rest: &str| {
        let name = format!("{kernel}_{format}_{element}");
        case(&name, format!("fn {name}{rest}"))
    };
    vec![
        kernel(
            "spmv",
            &format!("(A: {element} {format}, x: {element} dense) -> y: {element} dense {{ y(i) = A(i, j) * x(j); }}"),
        ),
        kernel(
            "spmm",
            &format!(
                "(A: {element} {format}, X: {element} dense) -> Y: {element} dense {{ Y(i, r) = A(i, j) * X(j, r); }}"
            ),
        ),
        kernel(
            "sddmm",
            &format!(
                "(S: {element} {format}, A: {element} dense, B: {element} dense) -> Y: {element} {format} {{ \
                 Y(i, j) = S(i, j) * A(i, k) * B(k, j); }}"
            ),
        ),
    ]
}

fn case(name: &str, text: String) -> Case {
    let dims = INDICES.into_iter().chain([("r", RANK)]).map(|(name, extent)| (name.to_owned(), extent)).collect();
    Case { name: name.to_owned(), text: text + "\n", dims, seed: 1, ..Case::default() }
}
