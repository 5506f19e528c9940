//! What is known of a GPU, as lines of text: `multiprocessors = 132   # where that is from`.

use std::path::Path;

/// The GPUs that are described here.
pub const NAMES: [&str; 4] = ["h100", "h200", "a100", "v100"];

const TEXTS: [&str; 4] = [
    include_str!("gpus/h100.gpu"),
    include_str!("gpus/h200.gpu"),
    include_str!("gpus/a100.gpu"),
    include_str!("gpus/v100.gpu"),
];

/// A GPU, as far as the model asks.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// What it is called.
    pub name: String,
    /// What it is compiled for: 90 of `sm_90`.
    pub architecture: u32,
    /// Multiprocessors.
    pub multiprocessors: usize,
    /// Clocks a second, in 10⁹.
    pub clock_ghz: f64,
    /// Bytes that its memory moves, in 10⁹ a second, as a copy does.
    pub memory_gbs: f64,
    /// Bytes that its second-level cache gives, in 10⁹ a second.
    pub l2_gbs: f64,
    /// Bytes that the second-level cache holds before it slows down.
    pub l2_bytes: usize,
    /// Bytes of a multiprocessor's first-level cache together with its shared memory.
    pub l1_bytes: usize,
    /// Bytes of shared memory of a multiprocessor.
    pub shared_bytes: usize,
    /// Clocks until a load is there: from the first level,
    pub l1_clocks: f64,
    /// from the second,
    pub l2_clocks: f64,
    /// from memory.
    pub memory_clocks: f64,
    /// What a launch takes besides, in 10⁻⁶ seconds.
    pub launch_us: f64,
    /// The most warps of a multiprocessor.
    pub warps: usize,
    /// The most blocks of a multiprocessor.
    pub blocks: usize,
}

/// Why there is no description.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DescriptionError {
    /// No GPU of that name, and no file.
    #[error("there is no GPU `{0}`, and no file of that name with a description; known are {known}", known = NAMES.join(", "))]
    Unknown(String),
    /// A line says nothing.
    #[error("line {line}: {what}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// A property is missing.
    #[error("it does not say `{0}`")]
    Missing(&'static str),
}

impl Description {
    /// A GPU that is described here: `h100`, `h200`, `a100` or `v100`.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn named(name: &str) -> Result<Self, DescriptionError> {
        let place = NAMES.iter().position(|known| known.eq_ignore_ascii_case(name));
        place.map_or_else(|| Err(DescriptionError::Unknown(name.to_owned())), |place| Self::parse(TEXTS[place]))
    }

    /// One of these, or that of a file.
    ///
    /// # Errors
    /// There is neither, or the file describes no GPU.
    pub fn find(name: &str) -> Result<Self, DescriptionError> {
        match (Self::named(name), std::fs::read_to_string(Path::new(name))) {
            (Ok(found), _) => Ok(found),
            (Err(_), Ok(text)) => Self::parse(&text),
            (Err(unknown), Err(_)) => Err(unknown),
        }
    }

    /// A GPU, by lines `property = value`; what follows `#` is a comment.
    ///
    /// # Errors
    /// A line is none, or a property is missing.
    pub fn parse(text: &str) -> Result<Self, DescriptionError> {
        let mut lines = Lines::of(text)?;
        let described = Self {
            name: lines.text("name")?,
            architecture: lines.number("architecture")? as u32,
            multiprocessors: lines.number("multiprocessors")? as usize,
            clock_ghz: lines.number("clock_ghz")?,
            memory_gbs: lines.number("memory_gbs")?,
            l2_gbs: lines.number("l2_gbs")?,
            l2_bytes: lines.number("l2_bytes")? as usize,
            l1_bytes: lines.number("l1_bytes")? as usize,
            shared_bytes: lines.number("shared_bytes")? as usize,
            l1_clocks: lines.number("l1_clocks")?,
            l2_clocks: lines.number("l2_clocks")?,
            memory_clocks: lines.number("memory_clocks")?,
            launch_us: lines.number("launch_us")?,
            warps: lines.number("warps")? as usize,
            blocks: lines.number("blocks")? as usize,
        };
        lines.end().map(|()| described)
    }

    /// What its memory copies, in bytes a second.
    pub fn bandwidth(&self) -> f64 {
        self.memory_gbs * 1e9
    }

    /// Clocks a second.
    pub fn hertz(&self) -> f64 {
        self.clock_ghz * 1e9
    }
}

/// The properties that a text has and that nobody has asked for yet, each with its line.
struct Lines<'a>(Vec<(usize, &'a str, &'a str)>);

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Result<Self, DescriptionError> {
        let mut lines: Vec<(usize, &str, &str)> = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            let said = text.split('#').next().unwrap_or_default().trim();
            if said.is_empty() {
                continue;
            }
            let wrong = |what: &str| DescriptionError::Line { line, what: what.to_owned() };
            let (property, value) = said.split_once('=').ok_or_else(|| wrong("it is no `property = value`"))?;
            if lines.iter().any(|(_, other, _)| *other == property.trim()) {
                return Err(wrong("this property was given before"));
            }
            lines.push((line, property.trim(), value.trim()));
        }
        Ok(Self(lines))
    }

    fn take(&mut self, property: &'static str) -> Result<(usize, &'a str), DescriptionError> {
        let place = self.0.iter().position(|(_, other, _)| *other == property);
        let (line, _, value) = self.0.remove(place.ok_or(DescriptionError::Missing(property))?);
        Ok((line, value))
    }

    fn text(&mut self, property: &'static str) -> Result<String, DescriptionError> {
        Ok(self.take(property)?.1.to_owned())
    }

    fn number(&mut self, property: &'static str) -> Result<f64, DescriptionError> {
        let (line, value) = self.take(property)?;
        let number = value.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
        number.ok_or_else(|| DescriptionError::Line { line, what: format!("`{value}` is no number above zero") })
    }

    fn end(&self) -> Result<(), DescriptionError> {
        match self.0.first() {
            None => Ok(()),
            Some((line, property, _)) => {
                Err(DescriptionError::Line { line: *line, what: format!("nothing is known of `{property}`") })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_names_are_described() {
        for name in NAMES {
            let found = Description::named(name).unwrap();
            assert!(found.name.to_lowercase().starts_with(name) && found.l2_bytes > found.l1_bytes, "{found:?}");
        }
        assert_eq!(Description::find("gtx").unwrap_err(), DescriptionError::Unknown("gtx".to_owned()));
    }

    #[test]
    fn what_is_wrong_with_a_description_is_said() {
        let with = |from: &str, to: &str| Description::parse(&TEXTS[0].replace(from, to)).unwrap_err().to_string();
        assert_eq!(with("clock_ghz = 1.9 ", "clock_ghz = fast "), "line 5: `fast` is no number above zero");
        assert_eq!(with("clock_ghz = 1.9 ", "clock_ghz = -1 "), "line 5: `-1` is no number above zero");
        assert_eq!(with("clock_ghz = 1.9 ", "clock 1.9"), "line 5: it is no `property = value`");
        assert_eq!(with("warps = 64", ""), "it does not say `warps`");
        assert_eq!(with("warps = 64", "warps = 64\ncolour = 3"), "line 16: nothing is known of `colour`");
        assert_eq!(with("warps = 64", "warps = 64\nwarps = 64"), "line 16: this property was given before");
    }
}
