//! The tensors of a suite, and what else the parts of a description have in common.

use crate::bench::data::GENERATORS;
use crate::names;
use serde::Deserialize;
use spc::generate::suite;
use std::ffi::OsString;

/// Where a tensor comes from: one of `suite`, `generator` with a shape and a number of entries, `file`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TensorSource {
    pub(super) name: Option<String>,
    suite: Option<String>,
    generator: Option<String>,
    #[serde(default)]
    pub(super) shape: Vec<usize>,
    pub(super) nnz: Option<usize>,
    file: Option<String>,
}

/// A tensor of a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    /// What it is called in reports.
    pub(super) name: String,
    /// As `spc bench` takes it.
    pub(super) text: OsString,
    pub(super) is_file: bool,
}

pub(super) fn sixteen() -> Vec<usize> {
    vec![16]
}

/// The entries of an object in their order.
pub(super) fn in_order<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<(String, String)>, D::Error> {
    let map = serde_json::Map::<String, serde_json::Value>::deserialize(from)?;
    let kernel = |(label, value): (String, serde_json::Value)| match value.as_str() {
        Some(kernel) => Ok((label, kernel.to_owned())),
        None => Err(serde::de::Error::custom(format!("`{label}` is to be the name of a kernel"))),
    };
    map.into_iter().map(kernel).collect()
}

impl TensorSource {
    /// The tensor at a scale: long modes and the number of entries grow, as those of the benchmark suite do.
    pub(super) fn at(&self, scale: f64) -> Result<Source, String> {
        let called = |name: &str| self.name.clone().unwrap_or_else(|| name.to_owned());
        let generated = |name: String, text: String| Source { name, text: text.into(), is_file: false };
        match (&self.suite, &self.generator, &self.file) {
            (Some(name), None, None) => match suite::find(name) {
                Some(_) => Ok(generated(called(name), format!("{name}:{scale}"))),
                None => {
                    let known = suite::TENSORS.iter().map(|tensor| tensor.name);
                    Err(names::refusal(format!("no tensor `{name}` is generated"), name, known, "they are"))
                }
            },
            (None, Some(generator), None) if GENERATORS.contains(&generator.as_str()) => {
                let nnz = self.nnz.ok_or("a generated tensor has `nnz`, its number of entries")?;
                if self.shape.is_empty() {
                    return Err("a generated tensor has a `shape`".to_owned());
                }
                let (shape, nnz) = thinned(&self.shape, nnz, suite::scaled(&self.shape, nnz, scale));
                let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
                let text = format!("{generator}:{}:{nnz}", shape.join("x"));
                Ok(generated(called(&text), text))
            }
            (None, Some(generator), None) => Err(format!("`{generator}` is none of {}", GENERATORS.join(", "))),
            (None, None, Some(file)) => Ok(Source { name: called(file), text: file.into(), is_file: true }),
            _ => Err("a tensor has one of `suite`, `generator` and `file`".to_owned()),
        }
    }
}

/// The highest density of a scaled tensor, unless the whole tensor is denser.
const DENSEST: f64 = 0.125;

/// A scaled shape with longer modes where there would be no room for the entries.
fn thinned(whole: &[usize], entries: usize, (mut shape, nnz): (Vec<usize>, usize)) -> (Vec<usize>, usize) {
    let places = |shape: &[usize]| shape.iter().map(|&extent| extent as f64).product::<f64>();
    let most = DENSEST.max(entries as f64 / places(whole)) * places(&shape);
    let is_scaled = |(scaled, whole): &(&mut usize, &usize)| **scaled < **whole;
    let count = shape.iter_mut().zip(whole).filter(is_scaled).count();
    if nnz as f64 > most && count > 0 {
        let factor = (nnz as f64 / most).powf(1.0 / count as f64);
        for (scaled, &whole) in shape.iter_mut().zip(whole).filter(is_scaled) {
            *scaled = ((*scaled as f64 * factor).ceil() as usize).min(whole);
        }
    }
    (shape, nnz)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaled_tensors_have_room_for_their_entries() {
        let (shape, nnz) = thinned(&[12000, 9000, 29000], 77_000_000, (vec![12, 9, 29], 77_000));
        let places: usize = shape.iter().product();
        assert!(nnz * 8 <= places && places < nnz * 12, "{shape:?}");
        // One that is denser as a whole stays so.
        assert_eq!(thinned(&[60, 70, 9], 20_000, (vec![60, 7, 9], 2000)).0, [60, 7, 9]);
    }
}
