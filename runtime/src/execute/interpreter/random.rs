//! splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).

pub(super) struct Random {
    state: u64,
    /// Whether each choice is the greatest that there is: iterations and chunks then come in order, and loops are not cut.
    is_greatest: bool,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed, is_greatest: false }
    }

    /// What leaves nothing to chance.
    pub(super) fn greatest() -> Self {
        Self { state: 0, is_greatest: true }
    }

    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `count`, which is not zero.
    pub(super) fn below(&mut self, count: u64) -> u64 {
        if self.is_greatest { count - 1 } else { self.next() % count }
    }

    /// A number in `begin..=end`.
    pub(super) fn between(&mut self, begin: u64, end: u64) -> u64 {
        match (end - begin).checked_add(1) {
            Some(count) => begin + self.below(count),
            None => self.next(),
        }
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }
}

/// The numbers below `count`, each once, in an order that needs no memory: a random step that has no divisor in common with
/// `count`.
pub(super) struct Shuffled {
    count: u64,
    step: u64,
    next: u64,
    left: u64,
}

impl Shuffled {
    pub(super) fn new(count: u64, random: &mut Random) -> Self {
        if count < 2 {
            return Self { count, step: 0, next: 0, left: count };
        }
        let mut step = count - random.between(1, count - 1);
        while divisor(step, count) != 1 {
            step = step % (count - 1) + 1;
        }
        Self { count, step, next: count - 1 - random.below(count), left: count }
    }
}

impl Iterator for Shuffled {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        let current = self.next;
        let until_wrap = self.count - current;
        self.next = if self.step < until_wrap { current + self.step } else { self.step - until_wrap };
        Some(current)
    }
}

/// The greatest common divisor.
fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}
