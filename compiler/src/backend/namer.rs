//! Names for generated code: readable, valid in the target, and never one name for two things in scope.

use std::collections::BTreeSet;

/// A name is not longer than so many letters: what follows helps no reader, and compilers have limits of their own.
const LONGEST: usize = 128;

/// What a target takes as a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    /// Words that it keeps for itself, or that generated code uses.
    pub(super) reserved: &'static [&'static [&'static str]],
    /// More of them, by how they are spelled.
    pub(super) is_reserved: fn(&str) -> bool,
    /// Whether names are of ASCII alone: other letters become their numbers.
    pub(super) ascii: bool,
}

impl Target {
    /// A name as an identifier of the target, which may be one that the target keeps for itself.
    pub(super) fn identifier(&self, wish: &str) -> String {
        let mut identifier = String::new();
        for c in wish.chars() {
            match c {
                c if c.is_ascii_alphanumeric() || (!self.ascii && is_one_letter(c)) => identifier.push(c),
                c if c.is_alphanumeric() => identifier += &format!("u{:x}", u32::from(c)),
                _ => identifier.push('_'),
            }
            if identifier.len() >= LONGEST {
                break;
            }
        }
        if identifier.chars().next().is_none_or(|first| first.is_numeric()) || identifier.chars().all(|c| c == '_') {
            identifier.insert(0, 'v');
        }
        identifier
    }

    fn keeps(&self, word: &str) -> bool {
        self.reserved.iter().any(|words| words.contains(&word)) || (self.is_reserved)(word)
    }
}

/// Whether a letter is an identifier's, and spelled in one way only: targets that take other letters compare names in Unicode's
/// composed form, in which a name may become equal to another that is spelled differently. Of the many alphabets, these
/// need no tables.
fn is_one_letter(c: char) -> bool {
    let is_of_these = matches!(
        c,
        '\u{c0}'..='\u{24f}'
            | '\u{386}'
            | '\u{388}'..='\u{3ff}'
            | '\u{400}'..='\u{481}'
            | '\u{48a}'..='\u{52f}'
            | '\u{1e00}'..='\u{1eff}'
            | '\u{3041}'..='\u{3096}'
            | '\u{30a1}'..='\u{30fa}'
            | '\u{4e00}'..='\u{9fa5}'
            | '\u{ac00}'..='\u{d7a3}'
    );
    is_of_these && c.is_alphabetic()
}

/// Gives out names, scope by scope.
#[derive(Debug)]
pub(super) struct Namer {
    target: Target,
    scopes: Vec<BTreeSet<String>>,
}

impl Namer {
    /// A namer for a target.
    pub(super) fn new(target: Target) -> Self {
        Self { target, scopes: vec![BTreeSet::new()] }
    }

    /// Names given from here on are free again after [`Namer::leave`].
    pub(super) fn enter(&mut self) {
        self.scopes.push(BTreeSet::new());
    }

    /// Ends the innermost scope.
    pub(super) fn leave(&mut self) {
        self.scopes.pop();
    }

    /// A name like `wish` that nothing in scope has.
    pub(super) fn name(&mut self, wish: &str) -> String {
        let mut stem = self.target.identifier(wish);
        if self.target.keeps(&stem) {
            stem.push('_');
        }
        let is_taken = |name: &str| self.scopes.iter().any(|scope| scope.contains(name));
        let mut name = stem.clone();
        let mut count = 1;
        while is_taken(&name) {
            count += 1;
            name = format!("{stem}_{count}");
        }
        self.scopes.last_mut().expect("the outermost scope is never left").insert(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(reserved: &'static [&'static [&'static str]], ascii: bool) -> Namer {
        Namer::new(Target { reserved, is_reserved: |word| word.starts_with("__"), ascii })
    }

    #[test]
    fn a_name_that_is_free_is_given_as_it_is() {
        let mut namer = of(&[], false);
        assert_eq!([namer.name("A2_pos"), namer.name("x")], ["A2_pos", "x"]);
    }

    #[test]
    fn letters_become_numbers_where_names_are_of_ascii() {
        assert_eq!(of(&[], false).name("größe"), "größe");
        assert_eq!(of(&[], true).name("größe"), "gruf6udfe");
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        let mut namer = of(&[], false);
        assert_eq!(
            [namer.name("t"), namer.name("t"), namer.name("t_2"), namer.name("t")],
            ["t", "t_2", "t_2_2", "t_3"]
        );
    }

    #[test]
    fn reserved_words_are_avoided() {
        let mut namer = of(&[&["fn"], &["type"]], false);
        assert_eq!(namer.name("__x"), "__x_");
        assert_eq!([namer.name("fn"), namer.name("type"), namer.name("type")], ["fn_", "type_", "type__2"]);
    }

    #[test]
    fn what_an_inner_scope_named_is_free_behind_it() {
        let mut namer = of(&[], false);
        namer.name("i");
        namer.enter();
        assert_eq!([namer.name("i"), namer.name("j")], ["i_2", "j"]);
        namer.leave();
        assert_eq!([namer.name("i"), namer.name("j")], ["i_2", "j"]);
    }

    #[test]
    fn a_name_is_an_identifier() {
        let mut namer = of(&[], false);
        assert_eq!([namer.name("2x"), namer.name("a-b"), namer.name("_"), namer.name("")], ["v2x", "a_b", "v_", "v"]);
        assert_eq!(namer.name("länge"), "länge");
    }

    /// The Kelvin sign is a K, and the letters of a Korean syllable are the syllable, when a compiler compares them.
    #[test]
    fn letters_that_may_become_others_are_told_apart() {
        let mut namer = of(&[], false);
        assert_eq!([namer.name("K"), namer.name("\u{212a}")], ["K", "u212a"]);
        assert_eq!([namer.name("\u{ac00}"), namer.name("\u{1100}\u{1161}")], ["\u{ac00}", "u1100u1161"]);
        assert_eq!([namer.name("\u{e9}"), namer.name("e\u{301}"), namer.name("e_")], ["\u{e9}", "e_", "e__2"]);
        // Letters to some, and no part of a name to compilers.
        assert_eq!([namer.name("x\u{b2}"), namer.name("\u{24d0}"), namer.name("\u{37a}")], ["xub2", "u24d0", "u37a"]);
    }

    #[test]
    fn long_names_are_cut_and_told_apart() {
        let (mut namer, long) = (of(&[], false), "ab".repeat(2000));
        let names = [namer.name(&long), namer.name(&format!("{long}x"))];
        assert!(names.iter().all(|name| name.len() < LONGEST + 10) && names[0] != names[1], "{names:?}");
    }
}
