//! Extents that follow from computed indices, as they are written, beside what enumeration finds: the largest with which no index leaves its mode.

use spc::execute::{Backend, Kernel};
use spc::tensor::{Dense, Tensor};
use spc_tests::data::Random;
use spc_tests::harness::options;

/// An index over `i` and `k`, which is not sized by anything else and which is.
enum Index {
    I,
    K,
    Number(i64),
    Negated(Box<Index>),
    Binary(char, Box<Index>, Box<Index>),
}

impl Index {
    fn random(random: &mut Random, depth: usize) -> Self {
        let number =
            |random: &mut Random, from: usize, below: usize| Index::Number((from + random.below(below)) as i64);
        if depth == 0 {
            return match random.below(5) {
                0 => Index::K,
                1 => number(random, 0, 9),
                _ => Index::I,
            };
        }
        let part = |random: &mut Random| Box::new(Self::random(random, depth - 1));
        match random.below(8) {
            0 => Index::Negated(part(random)),
            1 | 2 => Index::Binary('+', part(random), part(random)),
            3 => Index::Binary('-', part(random), part(random)),
            4 => Index::Binary('-', Box::new(number(random, 0, 12)), part(random)),
            5 if random.chance(0.5) => Index::Binary('*', Box::new(number(random, 0, 4)), part(random)),
            5 => Index::Binary('*', part(random), Box::new(number(random, 1, 3))),
            6 => Index::Binary('/', part(random), Box::new(number(random, 1, 4))),
            _ => Index::Binary('%', part(random), Box::new(number(random, 1, 5))),
        }
    }

    fn text(&self, random: &mut Random) -> String {
        let text = match self {
            Index::I => "i".to_owned(),
            Index::K => "k".to_owned(),
            Index::Number(number) => number.to_string(),
            Index::Negated(of) => format!("-({})", of.text(random)),
            Index::Binary(operator, left, right) => {
                let (left, right) = (left.text(random), right.text(random));
                match operator {
                    '+' => format!("{left} + {right}"),
                    '-' => format!("{left} - ({right})"),
                    _ => format!("({left}) {operator} ({right})"),
                }
            }
        };
        if random.chance(0.2) { format!("({text})") } else { text }
    }

    fn at(&self, i: i64, k: i64) -> i64 {
        match self {
            Index::I => i,
            Index::K => k,
            Index::Number(number) => *number,
            Index::Negated(of) => -of.at(i, k),
            Index::Binary(operator, left, right) => {
                let (left, right) = (left.at(i, k), right.at(i, k));
                match operator {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    '/' => left.div_euclid(right),
                    _ => left.rem_euclid(right),
                }
            }
        }
    }
}

const CAP: i64 = 200;

fn extents_are_those_that_enumeration_finds() {
    let mut random = Random::new(11);
    let (mut found, mut refused) = (0, 0);
    for _ in 0..options().count(400, 2000) {
        let depth = 1 + random.below(3);
        let indices = [Index::random(&mut random, depth), Index::random(&mut random, 1)];
        let texts = indices.each_ref().map(|index| index.text(&mut random));
        let extents = [1 + random.below(12), 1 + random.below(12)];
        let columns = 1 + random.below(3);
        let text = format!("Y(i, k) = A({}, {}) + 0 * w(k)", texts[0], texts[1]);
        // What divides, and what may be below zero, is refused by the language.
        let Ok(kernel) = Kernel::builder(&text).backend(Backend::Interpreter).compile() else { continue };
        let elements: Vec<f64> = (0..extents[0] * extents[1]).map(|place| place as f64).collect();
        let a = Tensor::<f64, Dense<2>>::from_vec(extents, elements).expect("it fits");
        let w = vec![1.0; columns];
        let is_inside = |i: i64| {
            (0..columns as i64).all(|k| {
                indices.iter().zip(extents).all(|(index, extent)| (0..extent as i64).contains(&index.at(i, k)))
            })
        };
        let expected = (0..CAP).find(|&i| !is_inside(i)).unwrap_or(CAP);
        let what = format!("{text} with {extents:?} and {columns}");
        match kernel.call(&[&a, &w]) {
            Ok(outputs) => {
                let y: Tensor<f64, Dense<2>> = outputs.single().expect("one result");
                assert_eq!(y.shape(), [expected as usize, columns], "{what}");
                for i in 0..expected {
                    for k in 0..columns as i64 {
                        let place = indices[0].at(i, k) * extents[1] as i64 + indices[1].at(i, k);
                        assert_eq!(y.values()[(i * columns as i64 + k) as usize], place as f64, "{what} at {i}, {k}");
                    }
                }
                found += 1;
            }
            // An index that bounds nothing, or one that begins outside.
            Err(_) => {
                assert!(expected == 0 || expected == CAP, "{what}: {expected}");
                refused += 1;
            }
        }
    }
    assert!(found > 60 && refused > 20, "{found} found, {refused} refused");
}

spc_tests::tests! {
    extents_are_those_that_enumeration_finds,
}
