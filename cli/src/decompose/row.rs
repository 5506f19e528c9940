//! What is known of an iteration, as it is printed and kept.

use crate::output::digits;
use crate::run::number;
use serde_json::{Map, Value, json};
use spc::decompose::Iteration;

/// An iteration, of this run or of the one before that it goes on from.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) number: usize,
    pub(super) fit: Option<f64>,
    /// What else the method measures.
    pub(super) measures: Vec<(String, f64)>,
    pub(super) time_ms: f64,
    pub(super) kernel_ms: f64,
    /// The part of that in MTTKRPs, where the method is made of these.
    pub(super) mttkrp_ms: Option<f64>,
}

impl From<&Iteration> for Row {
    fn from(iteration: &Iteration) -> Self {
        let measure = |&(name, value): &(&str, f64)| (name.to_owned(), value);
        Self {
            number: iteration.number,
            fit: iteration.fit,
            measures: iteration.measures.iter().map(measure).collect(),
            time_ms: iteration.time.as_secs_f64() * 1e3,
            kernel_ms: iteration.kernel_time.as_secs_f64() * 1e3,
            mttkrp_ms: iteration.mttkrp_time.map(|time| time.as_secs_f64() * 1e3),
        }
    }
}

impl Row {
    /// What a method is to make better: a log likelihood or a loss, else the fit, else what it measures first.
    pub(super) fn aim(&self) -> Option<(&str, f64)> {
        let measures = || self.measures.iter().map(|(name, value)| (name.as_str(), *value));
        let own = measures().find(|(name, _)| matches!(*name, "log_likelihood" | "loss"));
        own.or(self.fit.map(|fit| ("fit", fit))).or_else(|| measures().next())
    }

    /// How much that changed since another iteration; not told of values beyond the largest number.
    pub(super) fn change(&self, before: Option<&Row>) -> Option<f64> {
        Some(self.aim()?.1 - before?.aim()?.1).filter(|change| change.is_finite())
    }

    /// For a document.
    pub(super) fn json(&self) -> Value {
        let mut object = Map::new();
        object.insert("number".to_owned(), json!(self.number));
        object.insert("fit".to_owned(), self.fit.map_or(Value::Null, number));
        self.measures.iter().for_each(|(name, value)| _ = object.insert(name.clone(), number(*value)));
        object.insert("time_ms".to_owned(), json!(self.time_ms));
        object.insert("kernel_ms".to_owned(), json!(self.kernel_ms));
        self.mttkrp_ms.iter().for_each(|ms| _ = object.insert("mttkrp_ms".to_owned(), json!(ms)));
        Value::Object(object)
    }

    /// For a checkpoint: numbers are texts, which are read back to the same bits.
    pub(super) fn kept(&self) -> Value {
        let measures: Map<String, Value> =
            self.measures.iter().map(|(name, value)| (name.clone(), json!(value.to_string()))).collect();
        json!({
            "number": self.number, "fit": self.fit.map(|fit| fit.to_string()), "measures": measures,
            "time_ms": self.time_ms.to_string(), "kernel_ms": self.kernel_ms.to_string(),
            "mttkrp_ms": self.mttkrp_ms.map(|ms| ms.to_string()),
        })
    }

    /// What [`kept`](Self::kept) wrote.
    pub(super) fn of_kept(value: &Value) -> Option<Self> {
        let float = |value: &Value| value.as_str()?.parse::<f64>().ok();
        let measures = value["measures"].as_object()?.iter();
        let measures = measures.map(|(name, value)| Some((name.clone(), float(value)?))).collect::<Option<_>>()?;
        Some(Self {
            number: usize::try_from(value["number"].as_u64()?).ok()?,
            fit: if value["fit"].is_null() { None } else { Some(float(&value["fit"])?) },
            measures,
            time_ms: float(&value["time_ms"])?,
            kernel_ms: float(&value["kernel_ms"])?,
            mttkrp_ms: float(&value["mttkrp_ms"]),
        })
    }

    /// The heads of the columns that [`cells`](Self::cells) fills.
    pub(super) fn heads(&self) -> Vec<String> {
        let fit = self.fit.is_some().then(|| "fit".to_owned());
        let measures = self.measures.iter().map(|(name, _)| name.replace('_', " "));
        let around = |name: &str| std::iter::once(name.to_owned());
        around("iteration").chain(fit).chain(measures).chain(around("change")).chain(around("ms")).collect()
    }

    /// Its texts, one for each column.
    pub(super) fn cells(&self, before: Option<&Row>) -> Vec<String> {
        let change = self.change(before).map_or_else(|| "-".to_owned(), |change| format!("{change:.2e}"));
        let fit = self.fit.map(|fit| format!("{fit:.8}"));
        let measures = self.measures.iter().map(|(_, value)| measure(*value));
        let first = std::iter::once(self.number.to_string());
        first.chain(fit).chain(measures).chain([change, digits(self.time_ms)]).collect()
    }
}

/// A value of a measure: whole numbers as such, others with nine digits.
pub(super) fn measure(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e9 { format!("{value:.0}") } else { format!("{value:.8e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_back_to_the_same_bits() {
        let row = Row {
            number: 7,
            fit: Some(0.1 + 0.2),
            measures: vec![("loss".to_owned(), -1.0 / 3.0), ("none".to_owned(), f64::INFINITY)],
            time_ms: 1e-300,
            kernel_ms: 12.000000000000002,
            mttkrp_ms: Some(0.1),
        };
        let text = row.kept().to_string();
        assert_eq!(Row::of_kept(&serde_json::from_str(&text).unwrap()), Some(row.clone()));
        assert_eq!(Row::of_kept(&json!({ "number": 7 })), None);
        let without = Row { fit: None, ..row };
        assert_eq!(Row::of_kept(&without.kept()), Some(without.clone()));
        assert_eq!(without.heads(), ["iteration", "loss", "none", "change", "ms"]);
        assert_eq!(without.cells(None).len(), 5);
    }
}
