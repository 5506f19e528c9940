//! What was measured of inputs that stay on a device.

use std::sync::{Mutex, PoisonError};

/// So many numbers are kept: those that were asked for last.
const MOST: usize = 16;

/// Numbers that follow from inputs, with all that they follow from: arrays by their numbers on the device, sizes.
#[derive(Debug, Default)]
pub(super) struct Measured(Mutex<Vec<(Vec<u64>, u64)>>);

impl Measured {
    /// What was measured of these inputs.
    pub(super) fn get(&self, inputs: &[u64]) -> Option<u64> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = all.iter().position(|(other, _)| other == inputs)?;
        let found = all.remove(place);
        let number = found.1;
        all.push(found);
        Some(number)
    }

    pub(super) fn add(&self, inputs: Vec<u64>, number: u64) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() == MOST {
            all.remove(0);
        }
        all.push((inputs, number));
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Measured};

    #[test]
    fn those_that_were_asked_for_last_are_kept() {
        let measured = Measured::default();
        (0..MOST as u64).for_each(|number| measured.add(vec![number, 7], number));
        assert_eq!(measured.get(&[0, 7]), Some(0));
        measured.add(vec![99], 99);
        assert_eq!((measured.get(&[1, 7]), measured.get(&[0, 7]), measured.get(&[99])), (None, Some(0), Some(99)));
    }
}
