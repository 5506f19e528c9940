//! Cases: a kernel in a `.ti` file, and in its first comments what it runs on and what to check.
//!
//! ```text
//! // dims: i=4 j=5                       the extent of each index variable; A2_size=9 that of a mode with computed indices
//! // seed: 7                             of the random data; 1 unless given
//! // density: X=0.3                      the share of places with an entry; 0.4 for sparse operands, 1 for dense ones
//! // data X: (0, 1)=1.5 (2, 0)=-2        instead of random data; a scalar is `()=3`
//! // pattern Y: X                        Y has entries where X has, none of them zero
//! // skip native: why                    not with this engine
//! // refused: E0430                      the compiler says this, and nothing runs
//! // warns: W0104                        the compiler says this too
//! fn spmv(X: csr, x: dense) -> y: dense { y(i) = X(i, j) * x(j); }
//! ```
//!
//! A case is one kernel. Names of index variables that a later stage splits (`j_1`) take the extent of the name they come from.

use crate::data::{Entries, Random, for_each_index};
use crate::number::Number;
use crate::oracle::Extents;
use spc_compiler::ir::ElementType;
use spc_compiler::notation::{Kernel, Role, Tensor, Variable};
use std::collections::BTreeMap;

/// A case as written.
#[derive(Debug, Clone, Default)]
pub struct Case {
    /// Its path below the corpus, without the ending.
    pub name: String,
    /// The kernel, without the header.
    pub text: String,
    /// The extents of index variables.
    pub dims: Vec<(String, usize)>,
    /// What random data start from.
    pub seed: u64,
    /// The share of places with an entry, by tensor.
    pub density: BTreeMap<String, f64>,
    /// Entries of tensors that are not random.
    pub data: BTreeMap<String, BTreeMap<Vec<usize>, String>>,
    /// Tensors that have entries where another one has.
    pub patterns: BTreeMap<String, String>,
    /// Engines that don't run it, each with the reason.
    pub skips: BTreeMap<String, String>,
    /// The code of the diagnostic that refuses it.
    pub refused: Option<String>,
    /// The codes of its warnings.
    pub warns: Vec<String>,
}

/// What lines of a header begin with.
const KEYS: [&str; 7] = ["dims", "seed", "density", "data", "pattern", "skip", "refused"];

impl Case {
    /// Reads a case.
    ///
    /// # Errors
    /// What is wrong with its header.
    pub fn parse(name: &str, text: &str) -> Result<Case, String> {
        let mut case = Case { name: name.to_owned(), seed: 1, ..Case::default() };
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next_if(|line| line.starts_with("// ") && line.contains(": ")) {
            let (key, value) = line[3..].split_once(": ").unwrap_or((&line[3..], ""));
            case.directive(key, value.trim()).ok_or_else(|| format!("{name}: what does `{line}` mean?"))?;
        }
        case.text = lines.collect::<Vec<_>>().join("\n") + "\n";
        Ok(case)
    }

    /// Reads the header of a file that may have other comments too, and several kernels; the text stays whole.
    ///
    /// # Errors
    /// Which line of the header does not say what it should.
    pub fn of_file(name: &str, text: &str) -> Result<Case, String> {
        let mut case = Case { name: name.to_owned(), text: text.to_owned(), seed: 1, ..Case::default() };
        let comments = text.lines().take_while(|line| line.trim().is_empty() || line.starts_with("//"));
        for line in comments.filter_map(|line| line.strip_prefix("// ")) {
            let Some((key, value)) = line.split_once(": ") else { continue };
            if KEYS.contains(&key.split(' ').next().unwrap_or_default()) && key.split(' ').count() <= 2 {
                case.directive(key, value.trim()).ok_or_else(|| format!("what does `// {line}` mean?"))?;
            }
        }
        Ok(case)
    }

    fn directive(&mut self, key: &str, value: &str) -> Option<()> {
        match key.split_once(' ').unwrap_or((key, "")) {
            ("dims", "") => {
                for (name, extent) in assignments(value) {
                    self.dims.push((name.to_owned(), extent.parse().ok()?));
                }
            }
            ("seed", "") => self.seed = value.parse().ok()?,
            ("density", "") => {
                for (name, density) in assignments(value) {
                    self.density.insert(name.to_owned(), density.parse().ok()?);
                }
            }
            ("data", tensor) => {
                self.data.insert(tensor.to_owned(), entries(value)?);
            }
            ("pattern", tensor) => {
                self.patterns.insert(tensor.to_owned(), value.to_owned());
            }
            ("skip", engine) => {
                self.skips.insert(engine.to_owned(), value.to_owned());
            }
            ("warns", "") => self.warns.extend(value.split_whitespace().map(str::to_owned)),
            ("refused", "") => self.refused = Some(value.to_owned()),
            _ => return None,
        }
        Some(())
    }

    /// Makes sure that what the header says of inputs can be theirs.
    ///
    /// # Errors
    /// What can't.
    pub fn check_data(&self, kernel: &Kernel) -> Result<(), String> {
        for tensor in kernel.tensors.iter().filter(|tensor| tensor.role == Role::Input) {
            for (index, text) in self.data.get(&tensor.name).into_iter().flatten() {
                if Number::parse(tensor.element, text).is_none() {
                    return Err(format!("{text} is no {} of `{}`", tensor.element.name(), tensor.name));
                }
                if index.len() != tensor.format.order {
                    return Err(format!(
                        "{index:?} is no index of `{}`, of order {}",
                        tensor.name, tensor.format.order
                    ));
                }
            }
        }
        Ok(())
    }

    /// The inputs of a kernel, in order.
    pub fn inputs(&self, kernel: &Kernel) -> Vec<Entries> {
        let extents = Extents::of(kernel, &[], &self.extents(&kernel.variables));
        let mut random = Random::new(self.seed);
        let mut made: Vec<(&str, Entries)> = Vec::new();
        for (id, tensor) in kernel.tensors.iter().enumerate().filter(|(_, tensor)| tensor.role == Role::Input) {
            let like = self.patterns.get(&tensor.name).and_then(|like| made.iter().find(|(name, _)| name == like));
            let entries = match like {
                Some((_, like)) => like.with_nonzeros(tensor.element, &mut random),
                None => self.input(tensor, extents.shape(id), &mut random),
            };
            made.push((&tensor.name, entries));
        }
        made.into_iter().map(|(_, entries)| entries).collect()
    }

    fn input(&self, tensor: &Tensor, shape: Vec<usize>, random: &mut Random) -> Entries {
        if let Some(stored) = self.data.get(&tensor.name) {
            let number = |text: &String| {
                Number::parse(tensor.element, text)
                    .unwrap_or_else(|| panic!("{text} is no {} of `{}`", tensor.element.name(), tensor.name))
            };
            let stored = stored.iter().map(|(index, text)| (index.clone(), number(text))).collect();
            return Entries { shape, stored };
        }
        if let (true, Some((&extent, own))) = (tensor.format.is_map(), shape.split_last()) {
            let (mut stored, is_truth) = (BTreeMap::new(), tensor.element == ElementType::Bool);
            for_each_index(own, &mut |index| {
                let index = index.iter().copied().chain([random.below(extent)]).collect();
                stored.insert(
                    index,
                    Number::parse(tensor.element, if is_truth { "true" } else { "1" }).expect("a number"),
                );
            });
            return Entries { shape, stored };
        }
        let usual = if tensor.is_sparse() { 0.4 } else { 1.0 };
        let density = self.density.get(&tensor.name).copied().unwrap_or(usual);
        Entries::random(&shape, density, tensor.element, random).of_symmetry(&tensor.format)
    }

    /// The extent of each variable of a kernel, and those of modes that are stated as `A2_size`.
    pub fn extents(&self, variables: &[Variable]) -> Vec<(String, usize)> {
        let find = |name: &str| self.dims.iter().find(|(known, _)| known == name).map(|&(_, extent)| extent);
        let of = |variable: &Variable| {
            let name = &variable.name;
            // A name may have been numbered twice.
            let numbered = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_').len();
            let shorter = |&length: &usize| Some(numbered(&name[..length])).filter(|&shorter| shorter < length);
            let mut stems = std::iter::successors(Some(name.len()), shorter);
            stems.find_map(|length| find(&name[..length])).map(|extent| (name.clone(), extent))
        };
        let sizes = self.dims.iter().filter(|(name, _)| name.ends_with("_size")).cloned();
        variables.iter().filter_map(of).chain(sizes).collect()
    }
}

/// `a=1 b=2`
fn assignments(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split_whitespace().filter_map(|word| word.split_once('='))
}

/// `(0, 1)=1.5 (2, 0)=-2`
fn entries(text: &str) -> Option<BTreeMap<Vec<usize>, String>> {
    let mut entries = BTreeMap::new();
    for entry in text.split('(').skip(1) {
        let (index, value) = entry.split_once(")=")?;
        let index: Option<Vec<usize>> =
            index.split(',').map(str::trim).filter(|index| !index.is_empty()).map(|index| index.parse().ok()).collect();
        entries.insert(index?, value.trim().to_owned());
    }
    Some(entries)
}
