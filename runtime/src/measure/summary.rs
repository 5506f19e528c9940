//! What repeated measurements say.

/// Quantiles of repeated measurements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// The least.
    pub least: f64,
    /// A quarter is not above it.
    pub lower: f64,
    /// Half are not above it.
    pub median: f64,
    /// A quarter is not below it.
    pub upper: f64,
    /// How many there are.
    pub count: usize,
}

impl Summary {
    /// Of measurements in any order; zeros of none. Between two measurements quantiles are interpolated.
    pub fn of(mut measurements: Vec<f64>) -> Self {
        measurements.sort_by(f64::total_cmp);
        let at = |quantile: f64| {
            let place = quantile * measurements.len().saturating_sub(1) as f64;
            let (below, above) = (place.floor() as usize, place.ceil() as usize);
            let get = |place: usize| measurements.get(place).copied().unwrap_or(0.0);
            get(below) + (get(above) - get(below)) * place.fract()
        };
        Self { least: at(0.0), lower: at(0.25), median: at(0.5), upper: at(0.75), count: measurements.len() }
    }

    /// The distance between the quartiles, as a part of the median.
    pub fn spread(&self) -> f64 {
        if self.median == 0.0 { 0.0 } else { (self.upper - self.lower) / self.median }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_interpolated() {
        let summary = Summary::of(vec![4.0, 1.0, 2.0, 3.0]);
        let expected = Summary { least: 1.0, lower: 1.75, median: 2.5, upper: 3.25, count: 4 };
        assert_eq!((summary, summary.spread()), (expected, 0.6));
        assert_eq!(Summary::of(vec![7.0]).median, 7.0);
        assert_eq!(Summary::of(Vec::new()), Summary { least: 0.0, lower: 0.0, median: 0.0, upper: 0.0, count: 0 });
    }
}
