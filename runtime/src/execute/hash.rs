//! A hash that is the same in every version of every program, which the standard library's is not.

use std::fmt;

/// FNV-1a of 128 bits (Fowler, Noll & Vo). Each piece is followed by its length, so that pieces don't run together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fnv128(u128);

const OFFSET: u128 = 0x6c62272e07bb014262b821756295c58d;
const PRIME: u128 = 0x0000000001000000000000000000013b;

impl Default for Fnv128 {
    fn default() -> Self {
        Fnv128(OFFSET)
    }
}

impl Fnv128 {
    /// The hash of one piece.
    pub(crate) fn of(piece: &[u8]) -> Self {
        let mut hash = Self::default();
        hash.write(piece);
        hash
    }

    /// Adds a piece.
    pub(crate) fn write(&mut self, piece: &[u8]) {
        self.bytes(piece);
        self.bytes(&(piece.len() as u64).to_le_bytes());
    }

    /// A hash that was printed.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        u128::from_str_radix(text, 16).ok().map(Fnv128)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(PRIME);
        }
    }
}

impl fmt::Display for Fnv128 {
    /// 32 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_hash_as_published() {
        // The test vectors of its authors.
        for (text, hash) in [
            ("", 0x6c62272e07bb014262b821756295c58d),
            ("a", 0xd228cb696f1a8caf78912b704e4a8964),
            ("foobar", 0x343e1662793c64bf6f0d3597ba446f18),
        ] {
            let mut fnv = Fnv128::default();
            fnv.bytes(text.as_bytes());
            assert_eq!(fnv.0, hash);
        }
    }

    #[test]
    fn pieces_do_not_run_together() {
        let (mut left, mut right) = (Fnv128::of(b"ab"), Fnv128::of(b"a"));
        left.write(b"c");
        right.write(b"bc");
        assert_ne!(left, right);
        assert_eq!(left.to_string().len(), 32);
        assert_eq!(Fnv128::parse(&left.to_string()), Some(left));
        assert_eq!(Fnv128::parse("none"), None);
    }
}
