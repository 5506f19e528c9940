//! The two sides of a row in turn, and medians.

use crate::Failure;
use crate::cases::Case;
use crate::generated::Generated;
use crate::hand::Scalar;
use spc::execute::Call;
use spc::tensor::AnyTensor;
use std::time::{Duration, Instant};

/// Short runs are repeated until they took so long together.
const ENOUGH: Duration = Duration::from_millis(100);

/// But no more often.
const MOST: usize = 501;

/// How long something took, each time; ascending.
#[derive(Debug, Clone, Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn of(mut times: Vec<Duration>) -> Self {
        times.sort();
        Self(times)
    }

    fn at(&self, quantile: f64) -> f64 {
        let place = (quantile * (self.0.len() - 1) as f64).round() as usize;
        self.0[place].as_secs_f64() * 1e3
    }

    /// The median, in milliseconds.
    pub(crate) fn median(&self) -> f64 {
        self.at(0.5)
    }

    /// The least, in milliseconds.
    pub(crate) fn least(&self) -> f64 {
        self.at(0.0)
    }

    /// The distance between the quartiles, as a part of the median.
    pub(crate) fn spread(&self) -> f64 {
        (self.at(0.75) - self.at(0.25)) / self.median()
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }
}

/// How long `body` takes, `count` times, after it has run once.
pub(crate) fn repeated(count: usize, mut body: impl FnMut() -> Result<(), Failure>) -> Result<Times, Failure> {
    body()?;
    let once = |_| {
        let start = Instant::now();
        body().map(|()| start.elapsed())
    };
    Ok(Times::of((0..count).map(once).collect::<Result<_, _>>()?))
}

/// How long the generated kernel took, and the loop by hand where there is one.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    /// The generated kernel.
    pub(crate) generated: Times,
    /// The loop by hand.
    pub(crate) hand: Option<Times>,
    /// The median of the ratios of neighbouring runs.
    pub(crate) ratio: Option<f64>,
}

/// Runs the two sides in turn, `repeat` times at least, and says whether their results agree.
pub(crate) fn both<T: Scalar>(kernel: &Generated, case: &Case<T>, repeat: usize) -> Result<(Pair, bool), Failure> {
    let inputs: Vec<&AnyTensor> = case.inputs.iter().collect();
    let mut call = Call::new(&kernel.kernel, &inputs)?;
    kernel.native.run(&mut call)?;
    let mut result = call.finish()?.remove(0);
    let mut by_hand = vec![T::ZERO; result.values().len()];
    let agrees = case.hand.as_ref().is_none_or(|hand| {
        hand(&mut by_hand);
        agree(result.values_of().unwrap_or_default(), &by_hand)
    });
    // Both results lie in memory that has been touched: to map it is not the kernel's time.
    let mut call = Call::new(&kernel.kernel, &inputs)?;
    call.reuse(0, &mut result)?;
    let (mut generated, mut hand) = (Vec::new(), Vec::new());
    let start = Instant::now();
    while generated.len() < repeat || (start.elapsed() < ENOUGH && generated.len() < MOST) {
        // Who goes first changes, so that a rhythm of the machine's does not always meet the same side.
        let hand_first = generated.len() % 2 == 1;
        let mut run_by_hand = || hand.extend(case.hand.as_ref().map(|hand| hand(&mut by_hand)));
        if hand_first {
            run_by_hand();
        }
        generated.push(kernel.native.run(&mut call)?);
        if !hand_first {
            run_by_hand();
        }
    }
    let ratios = generated.iter().zip(&hand).map(|(generated, hand)| generated.as_secs_f64() / hand.as_secs_f64());
    let mut ratios: Vec<f64> = ratios.collect();
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios.get(ratios.len() / 2).copied();
    let hand = case.hand.is_some().then(|| Times::of(hand));
    Ok((Pair { generated: Times::of(generated), hand, ratio }, agrees))
}

/// Whether the values are the same but for the order of additions.
fn agree<T: Scalar>(generated: &[T], by_hand: &[T]) -> bool {
    let largest = by_hand.iter().fold(0.0, |largest: f64, value| largest.max(value.to_f64().abs()));
    let tolerance = largest * if T::TYPE.name() == "f32" { 1e-4 } else { 1e-11 };
    let near = |(left, right): (&T, &T)| (left.to_f64() - right.to_f64()).abs() <= tolerance;
    generated.len() == by_hand.len() && generated.iter().zip(by_hand).all(near)
}
