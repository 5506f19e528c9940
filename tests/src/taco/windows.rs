//! The windows of taco's tests, which their recorded expressions lack, as index arithmetic.
//!
//! ```text
//! c(i) = a(i) * b(i)        i | 2..8/3 | {1 5}
//!
//! c(i) = a(3 * i + 2) * sum(p0)(S0(i, p0) * b(p0))      with S0(0, 1) = S0(1, 5) = 1
//! ```

use std::collections::BTreeMap;

/// What follows from the windows of a statement, beside its text.
#[derive(Debug, Clone, Default)]
pub struct Windowed {
    /// The extents of the variables that run over windows.
    pub extents: BTreeMap<String, usize>,
    /// The matrices that stand for sets of coordinates.
    pub selections: Vec<Selection>,
}

/// A matrix with a one in each row, at a coordinate of a set.
#[derive(Debug, Clone)]
pub struct Selection {
    /// Its name.
    pub name: String,
    /// The coordinates, one a row.
    pub coordinates: Vec<usize>,
    /// The tensor of which they are taken.
    pub tensor: String,
    /// And its mode.
    pub mode: usize,
}

/// The windows of each test, from test/tests-windowing.cpp: for each of its statements in turn, how the target and then the other
/// accesses index each mode. `begin..end/stride` is taco's `i(begin, end, stride)`, `{1 3}` its `i({1, 3})`, `_` a plain index.
const TESTS: &[(&str, &[&str])] = &[
    ("sliceMultipleWays", &["2..4 | 5..7 | 1..3 | 4..6"]),
    (
        "basic",
        &[
            "_ _ | 2..4 2..4 | 4..6 4..6 | 1..3 1..3", // a sum
            "_ _ | 2..4 2..4 | 4..6 4..6 | 1..3 1..3", // a product
        ],
    ),
    ("slicedOutput", &["8..10 8..10 | 2..4 2..4 | 4..6 4..6"]),
    ("matrixMultiply", &["_ _ | 4..8 2..6 | 0..4 6..10", "_ _ | 4..8 2..6", "_ _ | 0..4 6..10", "_ _ | _ _ | _ _"]),
    ("workspace", &["_ | 2..6 | 6..10 | 0..4"]),
    ("transformations", &["_ _ | 2..4 2..4 | 4..6 4..6"]),
    ("assignment", &["2..4 3..5 | 4..6 5..7", "_ _ | 4..6 5..7", "4..6 5..7 | _ _"]),
    (
        "stride",
        &[
            "_ _ | 0..10/5 0..10/5",
            "_ _ | 0..10/5 0..10/5 | 0..10/5 0..10/5",
            "_ _ | 0..10/5 0..10/5 | 0..10/5 0..10/5",
            "_ _ | 1..5/2 2..6/2",
        ],
    ),
    ("indexSetVectors", &["_ | {1 3 5} | {1 3 5}"]),
    ("indexSetMatrices", &["_ _ | {1 3 5} {2 4 6} | {3 5 7} {4 6 8}"]),
    ("lhsIndexSet", &["{1 3 5} | _"]),
    ("compoundAssign", &["0..3 | _", "{1 3 6} | _"]),
];

/// The windows of the `turn`th statement of a test, by the name that the record gives it.
pub(super) fn of_test(source: &str, turn: usize) -> Option<Windows> {
    let name = source.split([' ', '/', '.']).skip_while(|part| *part != "windowing").nth(1)?;
    let (_, statements) = TESTS.iter().find(|(test, _)| *test == name)?;
    let accesses = statements[turn % statements.len()].split('|').map(|access| indices(access).map(window).collect());
    Some(Windows { accesses: accesses.collect(), next: 0, windowed: Windowed::default() })
}

/// The parts between spaces; a set in braces is one.
fn indices(access: &str) -> impl Iterator<Item = &str> {
    let mut in_set = false;
    let parts = access.split(move |c: char| {
        in_set = (in_set || c == '{') && c != '}';
        c == ' ' && !in_set
    });
    parts.filter(|part| !part.is_empty())
}

fn window(text: &str) -> Window {
    let number = |text: &str| text.parse().expect("the table has numbers");
    if let Some(set) = text.strip_prefix('{') {
        return Window::Set(set.trim_end_matches('}').split(' ').map(number).collect());
    }
    match text.split_once("..") {
        Some((begin, end)) => {
            let (end, stride) = end.split_once('/').unwrap_or((end, "1"));
            Window::Range { begin: number(begin), end: number(end), stride: number(stride) }
        }
        None => Window::Whole,
    }
}

#[derive(Debug, Clone)]
enum Window {
    Whole,
    Range { begin: usize, end: usize, stride: usize },
    Set(Vec<usize>),
}

/// The windows of a statement, which its accesses take one after the other.
#[derive(Debug)]
pub(super) struct Windows {
    accesses: Vec<Vec<Window>>,
    next: usize,
    pub(super) windowed: Windowed,
}

/// An access with its windows.
pub(super) struct WindowedAccess {
    pub(super) text: String,
    /// The matrices that select its coordinates, and the variables to sum over.
    factors: Vec<String>,
    bound: Vec<String>,
}

impl Windows {
    /// The next access.
    pub(super) fn access(&mut self, name: &str, variables: &[String]) -> Result<WindowedAccess, String> {
        let windows = self.accesses.get(self.next).filter(|windows| windows.len() == variables.len());
        let windows = windows.ok_or("windows that the table lacks")?.clone();
        self.next += 1;
        let (mut factors, mut bound) = (Vec::new(), Vec::new());
        let mut index = |(mode, (variable, window)): (usize, (&String, Window))| match window {
            Window::Whole => variable.clone(),
            Window::Range { begin, end, stride } => {
                self.windowed.extents.insert(variable.clone(), (end - begin).div_ceil(stride));
                if stride == 1 { format!("{variable} + {begin}") } else { format!("{stride} * {variable} + {begin}") }
            }
            Window::Set(coordinates) => {
                let place = self.windowed.selections.len();
                let (matrix, at) = (format!("S{place}"), format!("p{place}"));
                factors.push(format!("{matrix}({variable}, {at})"));
                bound.push(at.clone());
                let tensor = name.to_owned();
                self.windowed.selections.push(Selection { name: matrix, coordinates, tensor, mode });
                at
            }
        };
        let indices: Vec<String> = variables.iter().zip(windows).enumerate().map(&mut index).collect();
        Ok(WindowedAccess { factors, bound, ..WindowedAccess::plain(name, &indices) })
    }
}

impl WindowedAccess {
    /// Without windows.
    pub(super) fn plain(name: &str, indices: &[String]) -> Self {
        let list = if indices.is_empty() { String::new() } else { format!("({})", indices.join(", ")) };
        WindowedAccess { text: format!("{name}{list}"), factors: Vec::new(), bound: Vec::new() }
    }

    /// As a target: what is to be assigned there is multiplied by the matrices that select.
    pub(super) fn assigned(&self, value: String) -> String {
        if self.factors.is_empty() { value } else { format!("{} * ({value})", self.factors.join(" * ")) }
    }

    /// As an operand.
    pub(super) fn operand(&self) -> String {
        if self.factors.is_empty() {
            return self.text.clone();
        }
        format!("sum({})({} * {})", self.bound.join(", "), self.factors.join(" * "), self.text)
    }
}
