//! A place in a text, and the few steps that readers take from it.

/// A place in a text. Behind the last byte, everything looks like a line end.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'text> {
    text: &'text [u8],
    at: usize,
}

/// No entry has more fields.
const MOST_FIELDS: usize = 1000;

/// What separates the fields of a line.
#[inline(always)]
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0b | 0x0c)
}

/// What ends a line. A carriage return does so too: between it and a line feed there is then a blank line.
#[inline(always)]
pub(crate) fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

impl<'text> Cursor<'text> {
    pub(super) fn new(text: &'text [u8], at: usize) -> Self {
        Self { text, at }
    }

    /// The place, in bytes from the start of the text.
    #[inline(always)]
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The next byte; a line feed at the end of the text.
    #[inline(always)]
    pub(super) fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(b'\n')
    }

    /// Whether a field ends here.
    #[inline(always)]
    pub(super) fn at_field_end(&self) -> bool {
        let next = self.peek();
        is_line_end(next) || is_blank(next)
    }

    /// Whether the line ends here, or all that follows is a comment.
    #[inline(always)]
    pub(super) fn at_line_end(&self, comment: u8) -> bool {
        let next = self.peek();
        is_line_end(next) || next == comment
    }

    #[inline(always)]
    pub(super) fn skip_blanks(&mut self) {
        while is_blank(self.peek()) {
            self.at += 1;
        }
    }

    /// Goes behind the next line end.
    pub(super) fn skip_line(&mut self) {
        let rest = &self.text[self.at.min(self.text.len())..];
        self.at += rest.iter().position(|&byte| is_line_end(byte)).map_or(rest.len(), |length| length + 1);
    }

    /// Goes to the first field of the next line that has one, over comments and blank lines; false at the end.
    #[inline(always)]
    pub(super) fn find_entry(&mut self, comment: u8) -> bool {
        loop {
            self.skip_blanks();
            match self.text.get(self.at) {
                None => return false,
                Some(&byte) if is_line_end(byte) => self.at += 1,
                Some(&byte) if byte == comment => self.skip_line(),
                Some(_) => return true,
            }
        }
    }

    /// A whole number in decimal digits, if there is one that 64 bits hold; goes behind its digits.
    #[inline(always)]
    pub(super) fn natural(&mut self) -> Option<u64> {
        let start = self.at;
        let mut value = 0_u64;
        loop {
            let digit = self.peek().wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            self.at += 1;
        }
        match self.at - start {
            0 => None,
            1..=19 => Some(value), // 19 nines fit
            _ => long_natural(&self.text[start..self.at]),
        }
    }

    /// An integer of at most 18 digits that is a whole field, but not `-0`; goes behind it, or nowhere.
    #[inline(always)]
    pub(super) fn small_integer(&mut self) -> Option<i64> {
        let start = self.at;
        let negative = self.peek() == b'-';
        self.at += usize::from(negative);
        let first_digit = self.at;
        let value = self.natural();
        let digits = self.at - first_digit;
        match value {
            Some(value) if digits <= 18 && self.at_field_end() && !(negative && value == 0) => {
                let value = value as i64; // at most 18 digits
                Some(if negative { -value } else { value })
            }
            _ => {
                self.at = start;
                None
            }
        }
    }

    /// The bytes up to the end of the field; goes behind them.
    #[inline(always)]
    pub(super) fn field(&mut self) -> &'text [u8] {
        let start = self.at;
        while !self.at_field_end() {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// As [`rest_of_line`](Self::rest_of_line); goes behind the line.
    pub(super) fn line(&mut self, comment: u8) -> Vec<&'text [u8]> {
        let fields = self.rest_of_line(comment);
        self.skip_line();
        fields
    }

    /// The fields from here to the end of the line or a comment; of a line that is no entry, the first of too many.
    pub(super) fn rest_of_line(&mut self, comment: u8) -> Vec<&'text [u8]> {
        let mut fields = Vec::new();
        self.skip_blanks();
        while !self.at_line_end(comment) && fields.len() <= MOST_FIELDS {
            fields.push(self.field());
            self.skip_blanks();
        }
        fields
    }
}

/// A whole number that is written with an exponent, as `1e+03`.
#[cold]
pub(super) fn exponential(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field).ok().filter(|text| text.contains(['e', 'E']))?;
    let value = text.parse::<f64>().ok().filter(|value| text.as_bytes()[0].is_ascii_digit() && value.fract() == 0.0)?;
    (value < (1_u64 << f64::MANTISSA_DIGITS) as f64).then_some(value as u64)
}

#[cold]
fn long_natural(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}
