//! What a suite is, as data: tensors, kernels, formats, and what its paper observed.

use super::experiments::{Experiment, check_kernels};
use super::observe::{Measure, Observation};
use super::tensors::{Source, TensorSource, in_order, sixteen};
use crate::arguments;
use crate::failure::{Failure, Place, Problem};
use crate::names;
use serde::Deserialize;
use spc_compiler::ir::ElementType;
use std::path::Path;

/// The suites that are known by name.
pub(super) const KNOWN: [(&str, &str); 5] = [
    ("li2020", include_str!("descriptions/li2020.json")),
    ("li2016", include_str!("descriptions/li2016.json")),
    ("chen2024", include_str!("descriptions/chen2024.json")),
    ("phipps2019", include_str!("descriptions/phipps2019.json")),
    ("yang2019", include_str!("descriptions/yang2019.json")),
];

/// A suite.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Description {
    pub(super) name: String,
    pub(super) title: String,
    /// Whose suite it is.
    #[serde(default)]
    pub(super) paper: String,
    /// The scale of generated tensors, where none is asked for.
    #[serde(default = "one")]
    pub(super) scale: f64,
    #[serde(default)]
    pub(super) tensors: Vec<TensorSource>,
    /// The kernels by the names that the paper has for them.
    #[serde(deserialize_with = "in_order")]
    pub(super) kernels: Vec<(String, String)>,
    pub(super) formats: Vec<String>,
    /// Where the mode of a product with one mode is in its operand, of any format.
    #[serde(default)]
    pub(super) product_mode: ProductMode,
    #[serde(default = "f64_only")]
    pub(super) elements: Vec<String>,
    /// The modes of products with a mode, from 1; all if none are said.
    #[serde(default)]
    pub(super) modes: Vec<usize>,
    #[serde(default = "sixteen")]
    pub(super) ranks: Vec<usize>,
    /// The orders of modes that storage is counted for, as `jki`, beside that of the tensor.
    #[serde(default)]
    pub(super) orders: Vec<String>,
    #[serde(default)]
    pub(super) observations: Vec<Observation>,
    /// Measurements beside each kernel in each format on each tensor.
    #[serde(default)]
    pub(super) experiments: Vec<Experiment>,
    /// The paper's figures of rates; a panel for each kernel if there are none.
    #[serde(default)]
    pub(super) figures: Vec<Figure>,
}

/// Charts side by side, as a figure of the paper has them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Figure {
    pub(super) name: String,
    #[serde(default)]
    pub(super) measure: Measure,
    pub(super) panels: Vec<Panel>,
}

/// A chart: the mean of some kernels on each tensor.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Panel {
    pub(super) name: String,
    pub(super) kernels: Vec<String>,
}

/// Where the mode of a product with one mode is in its operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ProductMode {
    /// Where the tensor has it.
    #[default]
    Own,
    /// Last: the modes are exchanged before the clock starts.
    Last,
}

/// By which part extents and numbers of entries may differ from those that a paper prints, which are rounded.
const ROUNDED: f64 = 0.06;

/// The name that papers have for a tensor of these extents, in any order, and this number of entries; nothing where several would do.
pub(super) fn recognised(shape: &[usize], entries: usize) -> Option<String> {
    let is_about = |given: usize, printed: usize| (given as f64 - printed as f64).abs() <= ROUNDED * printed as f64;
    let sorted = |shape: &[usize]| {
        let mut extents = shape.to_vec();
        extents.sort_unstable();
        extents
    };
    let own = sorted(shape);
    let is_same = |tensor: &&TensorSource| {
        let printed = sorted(&tensor.shape);
        let extents = own.iter().zip(&printed).all(|(&given, &printed)| is_about(given, printed));
        printed.len() == own.len() && extents && tensor.nnz.is_some_and(|nnz| is_about(entries, nnz))
    };
    let known = KNOWN.into_iter().filter_map(|(name, text)| Description::parse(name, text).ok());
    let tensors: Vec<TensorSource> = known.flat_map(|description| description.tensors).collect();
    let mut names: Vec<String> = tensors
        .iter()
        .filter(is_same)
        .filter_map(|tensor| tensor.name.as_ref())
        .map(|name| name.to_lowercase())
        .collect();
    names.sort();
    names.dedup();
    let [only] = &names[..] else { return None };
    tensors.iter().filter_map(|tensor| tensor.name.clone()).find(|name| name.to_lowercase() == *only)
}

fn one() -> f64 {
    1.0
}

fn f64_only() -> Vec<String> {
    vec!["f64".to_owned()]
}

impl Description {
    /// The suite of a name, or of a file; with its text.
    pub(super) fn load(name: &str) -> Result<(Self, String), Failure> {
        if let Some((_, text)) = KNOWN.into_iter().find(|(known, _)| *known == name) {
            return Self::parse(name, text).map(|description| (description, text.to_owned()));
        }
        let path = Path::new(name);
        if !path.exists() && path.extension().is_none() && !name.contains('/') {
            let known = KNOWN.into_iter().map(|(known, _)| known);
            let failure = names::unknown(format!("there is no suite `{name}`"), name, known, "they are");
            return Err(failure.help("a file describes any other: FILE.json"));
        }
        let text = std::fs::read_to_string(path).map_err(|error| Failure::file(name, error))?;
        Ok((Self::parse(name, &text)?, text))
    }

    fn parse(origin: &str, text: &str) -> Result<Self, Failure> {
        let parsed = serde_json::from_str::<Self>(text).map_err(|error| {
            let place = Place {
                file: Some(origin.to_owned()),
                line: Some(error.line()).filter(|&line| line > 0),
                column: Some(error.column()),
            };
            let problem = Problem { place: Some(place), ..Problem::new("file", format!("{origin}: {error}")) };
            Failure::Refused(problem.into()).help("`docs/suite.md` says what a description has")
        })?;
        parsed.check().map_err(|reason| Failure::file(origin, reason))?;
        Ok(parsed)
    }

    /// Refuses what names nothing.
    fn check(&self) -> Result<(), String> {
        check_kernels(&self.kernels)?;
        self.elements.iter().try_for_each(|name| arguments::element(name).map(drop))?;
        if self.kernels.is_empty() || self.formats.is_empty() || self.elements.is_empty() || self.ranks.is_empty() {
            return Err("a suite has kernels, formats, elements and ranks, at least one of each".to_owned());
        }
        if !(self.scale > 0.0 && self.scale <= 1000.0) {
            return Err(format!("{} is no scale: a number above 0, at most 1000", self.scale));
        }
        self.experiments.iter().try_for_each(Experiment::check)?;
        let labels: Vec<&str> = self.kernels.iter().map(|(label, _)| label.as_str()).collect();
        for observation in &self.observations {
            match &observation.experiment {
                None => observation.check(&labels)?,
                Some(name) => match self.experiments.iter().find(|experiment| experiment.name == *name) {
                    Some(experiment) => observation.check(&experiment.labels())?,
                    None => {
                        return Err(format!("the observation `{}` is of no experiment of the suite", observation.says));
                    }
                },
            }
        }
        let panels = || self.figures.iter().flat_map(|figure| &figure.panels);
        let drawn = panels().flat_map(|panel| &panel.kernels);
        if let Some(kernel) = drawn.into_iter().find(|kernel| !labels.contains(&kernel.as_str())) {
            return Err(names::refusal(
                format!("no kernel of the suite is called `{kernel}`"),
                kernel,
                labels,
                "they are",
            ));
        }
        self.tensors.iter().try_for_each(|tensor| tensor.at(1.0).map(drop))
    }

    /// The element types.
    pub(super) fn element_types(&self) -> Vec<ElementType> {
        self.elements.iter().filter_map(|name| arguments::element(name).ok()).collect()
    }

    /// The tensors at a scale.
    pub(super) fn sources(&self, scale: f64) -> Result<Vec<Source>, Failure> {
        self.tensors.iter().map(|tensor| tensor.at(scale).map_err(Failure::refused)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_suites_are_good() {
        for (name, _) in KNOWN {
            let (description, _) = Description::load(name).unwrap_or_else(|failure| panic!("{name}: {failure}"));
            assert_eq!(description.name, name);
            assert!(!description.sources(0.01).unwrap().is_empty() && !description.observations.is_empty());
        }
        assert_eq!(Description::load("li2020").unwrap().0.tensors.len(), 15);
    }

    #[test]
    fn tensors_of_papers_are_recognised_by_extents_and_entries() {
        assert_eq!(recognised(&[12_092, 9_184, 28_818], 76_879_419).as_deref(), Some("nell2"));
        // In another order, as its file has it.
        assert_eq!(recognised(&[183, 24, 1_140, 1_717], 3_309_490).as_deref(), Some("Uber_Pickups"));
        assert_eq!(recognised(&[6_040, 3_952, 31], 1_000_209).as_deref(), Some("ratings-m1"));
        assert_eq!(recognised(&[12_092, 9_184, 28_818], 1_000), None);
        assert_eq!(recognised(&[12_092, 9_184], 76_879_419), None);
    }

    #[test]
    fn wrong_descriptions_say_where() {
        let good = r#"{"name": "a", "title": "b", "kernels": {"T": "ttv"}, "formats": ["csf"], "tensors": [TENSOR]}"#;
        let with = |tensor: &str| Description::parse("a.json", &good.replace("TENSOR", tensor));
        let sources =
            with(r#"{"generator": "uniform", "shape": [2000, 10], "nnz": 100}"#).unwrap().sources(0.5).unwrap();
        assert_eq!(sources[0].text, "uniform:1000x10:50");
        let message = |tensor: &str| with(tensor).unwrap_err().to_string();
        assert!(message(r#"{"suite": "irrX"}"#).contains("irrX"));
        assert!(message(r#"{"shape": [3]}"#).contains("one of"));
        assert!(message(r#"{"sweet": "irrS"}"#).contains("unknown field"));
        let wrong = good.replace("TENSOR", "").replace("ttv", "tv");
        assert!(Description::parse("a.json", &wrong).unwrap_err().to_string().contains("no kernel `tv`"));
    }
}
