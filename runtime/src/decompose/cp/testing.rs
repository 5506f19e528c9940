//! Tensors and starts that scripts in other languages can make too.

use super::CpOptions;
use crate::decompose::{Factor, KTensor, Start};
use crate::execute::Backend;
use crate::tensor::{AnyTensor, Coordinates, Duplicates, Indices, pack};
use spc_compiler::format::Format;
use spc_compiler::format::resolve::{Definitions, resolve};
use spc_compiler::syntax;

/// Index by index: `(5i + 3j + 7k + 2l) % 4` where `(i + 2j + 3k + l) % 3` is not 0, indices from 0; further modes count as the first.
pub(super) fn counts(shape: &[usize]) -> AnyTensor {
    sparse(shape, |index| {
        let sum = |by: [usize; 4]| index.iter().zip(by.iter().cycle()).map(|(at, by)| at * by).sum::<usize>();
        if sum([1, 2, 3, 1]) % 3 == 0 { 0.0 } else { (sum([5, 3, 7, 2]) % 4) as f64 }
    })
}

/// A tensor of a model of this rank, whose components have indices of their own in each mode.
pub(super) fn planted(shape: &[usize], rank: usize, scale: f64) -> AnyTensor {
    sparse(shape, |index| {
        let element = |mode: usize, at: usize, component: usize| {
            let of_component = at * rank / shape[mode] == component;
            if of_component { 1.0 + ((at * 7 + mode * 3) % 5) as f64 / 4.0 } else { 0.0 }
        };
        let product = |component| (0..shape.len()).map(|mode| element(mode, index[mode], component)).product::<f64>();
        (0..rank).map(|component| scale * (component + 1) as f64 * product(component)).sum()
    })
}

fn sparse(shape: &[usize], value: impl Fn(&[usize]) -> f64) -> AnyTensor {
    let count: usize = shape.iter().product();
    let mut entries = (vec![Vec::new(); shape.len()], Vec::new());
    for place in 0..count {
        let mut rest = place;
        let mut index = vec![0; shape.len()];
        for (at, extent) in index.iter_mut().zip(shape).rev() {
            (*at, rest) = (rest % extent, rest / extent);
        }
        let value = value(&index);
        if value != 0.0 {
            entries.0.iter_mut().zip(&index).for_each(|(column, &at)| column.push(at as u32));
            entries.1.push(value);
        }
    }
    let (indices, values) = (entries.0.into_iter().map(Indices::U32).collect(), entries.1);
    let entries = Coordinates { shape: shape.to_vec(), shape_is_stated: true, indices, values };
    pack(entries, &Format::csf(shape.len()), Duplicates::Refuse).unwrap()
}

/// Factors of `((7i + 5r + 3n) % 11 + 1) / 12` for row i, column r and mode n, all from 0.
pub(super) fn start_of(shape: &[usize], rank: usize) -> Start {
    let factor = |(mode, &extent): (usize, &usize)| {
        let element = |at: &[usize]| ((at[0] * 7 + at[1] * 5 + mode * 3) % 11 + 1) as f64 / 12.0;
        Factor::from_fn([extent, rank], element).unwrap()
    };
    Start::Model(KTensor::new(vec![1.0; rank], shape.iter().enumerate().map(factor).collect()).unwrap())
}

pub(super) fn from(x: &AnyTensor, rank: usize) -> CpOptions {
    CpOptions { start: start_of(x.shape(), rank), ..CpOptions::new(rank) }
}

pub(super) fn interpreted(options: &CpOptions) -> CpOptions {
    let mut options = options.clone();
    options.engine.backend = Some(Backend::Interpreter);
    options
}

pub(super) fn format(text: &str, order: usize) -> Format {
    resolve(&syntax::parse_format(text).unwrap(), order, &Definitions::prelude()).unwrap()
}
