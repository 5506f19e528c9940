//! The kernels of the tensor benchmark suites, for every format and mode: a table that expands to cases.
//!
//! Elementwise operations, tensor and scalar, tensor times vector and times matrix, and MTTKRP are those of PASTA (Li, Ma, Wu,
//! Li, Hall, *PASTA: a parallel sparse tensor algorithm benchmark suite*, 2019); the matrix kernels are SpMV, SpMM and SDDMM.

use crate::case::Case;

const MODES: [&str; 5] = ["i", "j", "k", "l", "m"];
const DIMS: &str = "i=7 j=6 k=5 l=4 m=3 r=5";
const OPERATORS: [(&str, &str); 4] = [("add", "+"), ("subtract", "-"), ("multiply", "*"), ("divide", "/")];

/// All cases.
pub fn cases() -> Vec<Case> {
    let mut suite = Suite { element: "f64", elements: REAL, cases: Vec::new() };
    suite.tensors();
    for format in ["csr", "csc", "dcsr", "coo"] {
        suite.elementwise(2, format);
        suite.matrix(format);
    }
    suite.cases
}

/// Formats of every kind of level that holds any entries, each with a name. All serve every order.
pub const LEVEL_FORMATS: &[(&str, &str)] = &[
    ("ell", "ell"),
    ("hocfs_ell", "hocfs_ell"),
    ("hocfs", "hocfs"),
    ("padded_fibers", "(i..., k) -> [i...: compressed, k: padded]"),
    ("sell", "sell(4)"),
    ("hocfs_sell", "(i..., k) -> [i...: compressed, k: sliced(rows = 2)]"),
    ("padded_coo", "(i, j...) -> [i: padded(nonunique), j...: singleton(nonunique)]"),
    ("bitmap", "(i...) -> [i...: bitmap]"),
    ("compressed_bitmap", "(i, j...) -> [i: compressed, j...: bitmap]"),
    ("hashed", "(i...) -> [i...: hashed]"),
    ("skyline", "skyline"),
    ("compressed_banded", "(i, j...) -> [i: compressed, j...: banded]"),
    ("run", "(i..., k) -> [i...: compressed, k: run]"),
    ("run_of_rows", "(i, j...) -> [i: run, j...: compressed]"),
    ("fcoo", "fcoo"),
    ("flagged_coo", "(i, j, k...) -> [i: compressed, j: flagged(nonunique), k...: singleton(nonunique)]"),
    ("unordered", "(i, j...) -> [i: compressed(unordered), j...: compressed(unordered)]"),
];

/// The formats of the literature that are not among [`LEVEL_FORMATS`], blocks that divide no extent, and other maps.
pub const MAP_FORMATS: &[(&str, &str)] = &[
    ("hicoo", "hicoo(4)"),
    ("ghicoo", "ghicoo(2)"),
    ("shicoo", "shicoo(4)"),
    ("alto", "alto"),
    ("lco", "lco"),
    ("mcoo", "mcoo"),
    ("tiled", "tiled(4)"),
    ("bcsf", "bcsf(2)"),
    ("scoo", "scoo"),
    ("hocoo", "hocoo"),
    ("hocsr", "hocsr"),
    ("hocfs_csr", "hocfs_csr"),
    ("cfb", "cfb"),
    ("blocks_of_rows", "(i, j...) -> [i / 3: compressed, j...: compressed, i % 3: dense]"),
    ("diagonals", "(i, j, k...) -> [j - i: compressed, k...: compressed, i: compressed]"),
];

/// The tensor kernels for third-order tensors in [`LEVEL_FORMATS`] or [`MAP_FORMATS`].
pub fn formats(formats: &[(&str, &str)]) -> Vec<Case> {
    let mut suite = Suite { element: "f64", elements: REAL, cases: Vec::new() };
    for (name, format) in formats {
        let before = suite.cases.len();
        suite.elementwise(3, format);
        for mode in 0..3 {
            suite.times_vector(3, mode, format);
            suite.times_matrix(3, mode, format);
            suite.mttkrp(3, mode, format);
        }
        for case in &mut suite.cases[before..] {
            case.name = case.name.replace(format, name);
        }
    }
    suite.cases.retain(|case| !case.name.ends_with("f32"));
    suite.cases
}

/// The tensor kernels of [`cases`] in single precision, but for MTTKRP, which is among those in both.
pub fn single_precision() -> Vec<Case> {
    let mut suite = Suite { element: "f32", elements: REAL, cases: Vec::new() };
    suite.tensors();
    suite.cases.retain(|case| !case.name.contains("mttkrp"));
    suite.cases.iter_mut().for_each(|case| case.name += " in f32");
    suite.cases
}

/// The tensor kernels over complex numbers, in formats of each family.
pub fn complex() -> Vec<Case> {
    let mut suite = Suite { element: "c64", elements: &["c64"], cases: Vec::new() };
    for format in ["csf", "coo", "hicoo(4)", "(i, j...) -> [i: compressed, j...: bitmap]"] {
        suite.elementwise(3, format);
        for mode in 0..3 {
            suite.times_vector(3, mode, format);
            suite.times_matrix(3, mode, format);
        }
    }
    suite.mttkrp(3, 0, "csf");
    suite.mttkrp(3, 1, "coo");
    suite.matrix("csr");
    suite.cases.iter_mut().for_each(|case| case.name += " in c64");
    suite.cases
}

/// The element types of MTTKRP and the matrix kernels.
const REAL: &[&str] = &["f64", "f32"];

struct Suite {
    /// The element type of most kernels.
    element: &'static str,
    /// Those of MTTKRP and the matrix kernels.
    elements: &'static [&'static str],
    cases: Vec<Case>,
}

impl Suite {
    fn tensors(&mut self) {
        for order in 3..=5 {
            for format in ["coo", "csf"] {
                self.elementwise(order, format);
                for mode in 0..order {
                    self.times_vector(order, mode, format);
                    self.times_matrix(order, mode, format);
                    self.mttkrp(order, mode, format);
                }
            }
        }
    }

    fn case(&mut self, name: String, headers: &[&str], signature: &str, statement: &str) {
        let kernel = name.split('-').next().expect("a name has a first word");
        let headers: String = headers.iter().map(|header| format!("// {header}\n")).collect();
        let seed = self.cases.len() + 1;
        let text =
            format!("// dims: {DIMS}\n// seed: {seed}\n{headers}fn {kernel}({signature} {{\n    {statement};\n}}\n");
        self.cases.push(Case::parse(&format!("suite/{name}"), &text).expect("the table makes cases"));
    }

    /// Of one pattern into a sparse result, of different patterns into a dense one, and with a scalar.
    fn elementwise(&mut self, order: usize, format: &str) {
        let (element, at) = (self.element, MODES[..order].join(", "));
        for (name, operator) in OPERATORS {
            self.case(
                format!("{name}-{order}-{format}"),
                &["pattern Y: X"],
                &format!("X: {element} {format}, Y: {element} {format}) -> Z: {element} {format}"),
                &format!("Z({at}) = X({at}) {operator} Y({at}) where X({at})"),
            );
            self.case(
                format!("{name}-scalar-{order}-{format}"),
                &["data s: ()=2.5"],
                &format!("X: {element} {format}, s: {element}) -> Z: {element} {format}"),
                &format!("Z({at}) = X({at}) {operator} s where X({at})"),
            );
            if name != "divide" {
                self.case(
                    format!("{name}-dense-{order}-{format}"),
                    &[],
                    &format!("X: {element} {format}, Y: {element} {format}) -> Z: {element} dense"),
                    &format!("Z({at}) = X({at}) {operator} Y({at})"),
                );
            }
        }
    }

    fn times_vector(&mut self, order: usize, mode: usize, format: &str) {
        let (element, at) = (self.element, MODES[..order].join(", "));
        let rest = without(order, mode).join(", ");
        for result in [format, "dense"] {
            self.case(
                format!("ttv-{order}-{}-{format}-{result}", MODES[mode]),
                &[],
                &format!("X: {element} {format}, v: {element} dense) -> Y: {element} {result}"),
                &format!("Y({rest}) = X({at}) * v({})", MODES[mode]),
            );
        }
    }

    fn times_matrix(&mut self, order: usize, mode: usize, format: &str) {
        let (element, at) = (self.element, MODES[..order].join(", "));
        let mut indices = MODES[..order].to_vec();
        indices[mode] = "r";
        let rest = without(order, mode);
        let last = rest.len() - 1;
        let level = |place: usize| match (format, place) {
            ("csf", _) => "compressed",
            (_, 0) => "compressed(nonunique)",
            (_, place) if place == last => "singleton",
            _ => "singleton(nonunique)",
        };
        let levels: Vec<String> = (0..rest.len()).map(|place| format!("{}: {}", rest[place], level(place))).collect();
        let semi_sparse = format!("({}) -> [{}, r: dense]", indices.join(", "), levels.join(", "));
        for (name, result) in [("sparse", semi_sparse.as_str()), ("dense", "dense")] {
            self.case(
                format!("ttm-{order}-{}-{format}-{name}", MODES[mode]),
                &[],
                &format!("X: {element} {format}, U: {element} dense) -> Y: {element} {result}"),
                &format!("Y({}) = X({at}) * U({}, r)", indices.join(", "), MODES[mode]),
            );
        }
    }

    fn mttkrp(&mut self, order: usize, mode: usize, format: &str) {
        let at = MODES[..order].join(", ");
        for element in self.elements {
            let factors = without(order, mode);
            let parameters: Vec<String> =
                factors.iter().map(|factor| format!("{}: {element} dense", factor.to_uppercase())).collect();
            let product: Vec<String> =
                factors.iter().map(|factor| format!("{}({factor}, r)", factor.to_uppercase())).collect();
            self.case(
                format!("mttkrp-{order}-{}-{format}-{element}", MODES[mode]),
                &[],
                &format!("X: {element} {format}, {}) -> A: {element} dense", parameters.join(", ")),
                &format!("A({}, r) = X({at}) * {}", MODES[mode], product.join(" * ")),
            );
        }
    }

    fn matrix(&mut self, format: &str) {
        for element in self.elements {
            self.case(
                format!("spmv-{format}-{element}"),
                &[],
                &format!("X: {element} {format}, v: {element} dense) -> y: {element} dense"),
                "y(i) = X(i, j) * v(j)",
            );
            self.case(
                format!("spmm-{format}-{element}"),
                &[],
                &format!("X: {element} {format}, U: {element} dense) -> Y: {element} dense"),
                "Y(i, r) = X(i, j) * U(j, r)",
            );
            self.case(
                format!("sddmm-{format}-{element}"),
                &[],
                &format!("X: {element} {format}, U: {element} dense, V: {element} dense) -> Y: {element} {format}"),
                "Y(i, j) = X(i, j) * U(i, r) * V(j, r)",
            );
        }
    }
}

fn without(order: usize, mode: usize) -> Vec<&'static str> {
    (0..order).filter(|&other| other != mode).map(|other| MODES[other]).collect()
}
