//! Kernels that run again and again, each round on results of the one before.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// How often kernels run on their own results: `repeat until change < 1e-6 or 100 { … x' = y; }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Repetition {
    /// What takes a result of the round before, each with that result: `("x", "y")`.
    pub feeds: Vec<(String, String)>,
    /// The most rounds; at least one is done.
    pub most: usize,
    /// A number that is made before the rounds, and says the most, too.
    pub limit: Option<String>,
    /// The rule that ends it before.
    pub until: Option<Until>,
}

/// Those of the kernels of a program that are repeated; what comes before them, and behind them, runs once.
#[derive(Debug, Clone, PartialEq)]
pub struct Rounds {
    /// The kernels, by their places in the program.
    pub kernels: Range<usize>,
    /// How often they run.
    pub repetition: Repetition,
}

/// A rule that ends a [`Repetition`], as `change < 1e-6`: a real result without modes beside a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Until {
    /// The result.
    pub result: String,
    /// How it is compared.
    pub comparison: Comparison,
    /// The number.
    pub bound: f64,
}

/// A comparison of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    /// Longer ones first: `<` begins `<=`.
    const ALL: [(&str, Self); 4] =
        [("<=", Self::LessOrEqual), (">=", Self::GreaterOrEqual), ("<", Self::Less), (">", Self::Greater)];

    /// Whether it holds.
    pub fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::Less => value < bound,
            Self::LessOrEqual => value <= bound,
            Self::Greater => value > bound,
            Self::GreaterOrEqual => value >= bound,
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = Self::ALL.iter().find(|(_, comparison)| comparison == self).map_or("", |(sign, _)| sign);
        f.write_str(sign)
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {:?}", self.result, self.comparison, self.bound)
    }
}

/// A text is no rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotARule(String);

impl fmt::Display for NotARule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.0;
        write!(f, "`{text}` is no rule: it has the form `RESULT < NUMBER`, as in `change < 1e-6`, with <, <=, > or >=")
    }
}

impl std::error::Error for NotARule {}

impl FromStr for Until {
    type Err = NotARule;

    fn from_str(text: &str) -> Result<Self, NotARule> {
        let split = || {
            let (sign, comparison) = Comparison::ALL.into_iter().find(|(sign, _)| text.contains(sign))?;
            let (result, bound) = text.split_once(sign)?;
            let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
            let (result, bound) = (result.trim(), bound.trim().parse::<f64>().ok().filter(|bound| !bound.is_nan())?);
            is_name(result).then(|| Self { result: result.to_owned(), comparison, bound })
        };
        split().ok_or_else(|| NotARule(text.to_owned()))
    }
}

/// `0..3; 100; limit; change < 1e-6; x = y, z = w`: the kernels, the most rounds, the rule and the feeds.
impl fmt::Display for Rounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rounds { kernels, repetition: Repetition { feeds, most, limit, until } } = self;
        let limit = limit.as_deref().unwrap_or_default();
        write!(f, "{}..{}; {most}; {limit}; ", kernels.start, kernels.end)?;
        until.iter().try_for_each(|until| write!(f, "{until}"))?;
        f.write_str("; ")?;
        for (place, (input, result)) in feeds.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}{input} = {result}")?;
        }
        Ok(())
    }
}

/// What [`Rounds`] print as, in a text that no person wrote.
impl FromStr for Rounds {
    type Err = NotARule;

    fn from_str(text: &str) -> Result<Self, NotARule> {
        let read = || {
            let parts: Vec<&str> = text.split(';').map(str::trim).collect();
            let [kernels, most, limit, until, feeds] = parts[..] else { return None };
            let (start, end) = kernels.split_once("..")?;
            let feed = |feed: &str| feed.split_once(" = ").map(|(input, result)| (input.to_owned(), result.to_owned()));
            let feeds = feeds.split(", ").filter(|feed| !feed.is_empty()).map(feed).collect::<Option<_>>()?;
            let until = match until {
                "" => None,
                rule => Some(rule.parse().ok()?),
            };
            let limit = (!limit.is_empty()).then(|| limit.to_owned());
            let repetition = Repetition { feeds, most: most.parse().ok()?, limit, until };
            Some(Self { kernels: start.parse().ok()?..end.parse().ok()?, repetition })
        };
        read().ok_or_else(|| NotARule(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_back() {
        assert_eq!("change<=1e-6".parse::<Until>().unwrap().to_string(), "change <= 1e-6");
        for wrong in ["change", "< 1", "change < x", "change < nan", "a b < 1", "change == 1"] {
            assert!(wrong.parse::<Until>().is_err(), "{wrong}");
        }
        for text in ["1..4; 100; ; change < 1e-6; x = y, z = w", "0..1; 3; limit; ; "] {
            assert_eq!(text.parse::<Rounds>().unwrap().to_string(), text);
        }
        assert!("0..1; 3".parse::<Rounds>().is_err());
    }
}
