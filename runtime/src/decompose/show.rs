//! Models as text.

use super::Factor;
use std::fmt;

/// A matrix of at most so many rows, and as many columns, is shown in full.
const TABLE: usize = 12;
/// So many rows and columns of a larger one are shown.
const HEAD: usize = 8;

/// `4 × 3 × 2`.
pub(super) fn shape(shape: &[usize]) -> String {
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" × ")
}

/// Each factor, under its number and shape.
pub(super) fn factors(f: &mut fmt::Formatter<'_>, factors: &[Factor]) -> fmt::Result {
    for (mode, factor) in factors.iter().enumerate() {
        write!(f, "\nfactor {}, {}", mode + 1, shape(factor.shape()))?;
        matrix(f, factor.values(), factor.shape()[0], factor.shape()[1])?;
    }
    Ok(())
}

/// A line for each row.
pub(super) fn matrix(f: &mut fmt::Formatter<'_>, values: &[f64], rows: usize, columns: usize) -> fmt::Result {
    let shown = |count: usize| if count <= TABLE { count } else { HEAD };
    let (high, wide) = (shown(rows), shown(columns));
    let cells: Vec<Vec<String>> =
        (0..high).map(|row| (0..wide).map(|column| number(values[row * columns + column])).collect()).collect();
    let widths: Vec<usize> =
        (0..wide).map(|column| cells.iter().map(|row| row[column].len()).max().unwrap_or(0)).collect();
    let more = if wide < columns { format!("  … {} more", columns - wide) } else { String::new() };
    for row in &cells {
        let padded: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
        write!(f, "\n{}", (padded.join("  ") + &more).trim_end())?;
    }
    if high < rows { write!(f, "\n… {} more", rows - high) } else { Ok(()) }
}

/// The first elements of a dense tensor with their indices, from 0.
pub(super) fn entries(f: &mut fmt::Formatter<'_>, values: &[f64], shape: &[usize]) -> fmt::Result {
    for (place, &value) in values.iter().take(HEAD).enumerate() {
        let mut rest = place;
        let mut index: Vec<String> = Vec::with_capacity(shape.len());
        for extent in shape.iter().rev() {
            index.push((rest % extent).to_string());
            rest /= extent;
        }
        index.reverse();
        write!(f, "\n({}) {}", index.join(", "), number(value))?;
    }
    if values.len() > HEAD { write!(f, "\n… {} more", values.len() - HEAD) } else { Ok(()) }
}

/// Six digits, as many as tell something: `0.333333`, `12`, `1.5e-7`.
fn number(value: f64) -> String {
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    match exponent.parse::<i32>() {
        Ok(power @ -4..=5) => trimmed(&format!("{value:.*}", (5 - power) as usize)),
        _ => format!("{}e{exponent}", trimmed(digits)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits() {
        let cases = [
            (0.0, "0"),
            (1.0 / 3.0, "0.333333"),
            (-12.0, "-12"),
            (123456.7, "123457"),
            (999999.7, "1e6"),
            (0.00012345678, "0.000123457"),
            (1.5e-7, "1.5e-7"),
            (-2.0e20, "-2e20"),
            (100.0, "100"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn of_large_factors_the_head_is_shown() {
        let factor = Factor::from_fn([30, 13], |index| index[0] as f64).unwrap();
        let model = super::super::KTensor::new(vec![1.0; 13], vec![factor]).unwrap();
        let text = model.to_string();
        assert!(
            text.starts_with(
                "K-tensor 30, 13 components\nweights\n1  1  1  1  1  1  1  1  … 5 more\nfactor 1, 30 × 13\n0  0"
            ),
            "{text}"
        );
        assert!(text.ends_with("\n7  7  7  7  7  7  7  7  … 5 more\n… 22 more"), "{text}");
    }
}
