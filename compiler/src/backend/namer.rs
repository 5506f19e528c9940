//! Names for generated code: readable, valid in the target, and never one name for two things in scope.

use std::collections::BTreeSet;

/// Gives out names, scope by scope.
#[derive(Debug)]
pub struct Namer {
    reserved: BTreeSet<&'static str>,
    /// Whether names are to be of ASCII alone.
    ascii: bool,
    scopes: Vec<BTreeSet<String>>,
}

impl Namer {
    /// A namer that avoids the target's reserved words.
    pub fn new(reserved: &[&'static str]) -> Self {
        Self { reserved: reserved.iter().copied().collect(), ascii: false, scopes: vec![BTreeSet::new()] }
    }

    /// The same for a target whose names are of ASCII: other letters become their numbers.
    pub fn of_ascii(reserved: &[&'static str]) -> Self {
        Self { ascii: true, ..Self::new(reserved) }
    }

    /// Names given from here on are free again after [`Namer::leave`].
    pub fn enter(&mut self) {
        self.scopes.push(BTreeSet::new());
    }

    /// Ends the innermost scope.
    pub fn leave(&mut self) {
        self.scopes.pop();
    }

    /// A name like `wish` that nothing in scope has.
    pub fn name(&mut self, wish: &str) -> String {
        let mut stem = String::new();
        for c in wish.chars() {
            match c {
                c if c.is_ascii_alphanumeric() || (c.is_alphanumeric() && !self.ascii) => stem.push(c),
                c if c.is_alphanumeric() => stem += &format!("u{:x}", u32::from(c)),
                _ => stem.push('_'),
            }
        }
        if stem.chars().next().is_none_or(|first| first.is_numeric()) || stem.chars().all(|c| c == '_') {
            stem.insert(0, 'v');
        }
        if self.reserved.contains(stem.as_str()) {
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

    #[test]
    fn a_name_that_is_free_is_given_as_it_is() {
        let mut namer = Namer::new(&[]);
        assert_eq!([namer.name("A2_pos"), namer.name("x")], ["A2_pos", "x"]);
    }

    #[test]
    fn letters_become_numbers_where_names_are_of_ascii() {
        assert_eq!(Namer::new(&[]).name("größe"), "größe");
        assert_eq!(Namer::of_ascii(&[]).name("größe"), "gruf6udfe");
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        let mut namer = Namer::new(&[]);
        assert_eq!(
            [namer.name("t"), namer.name("t"), namer.name("t_2"), namer.name("t")],
            ["t", "t_2", "t_2_2", "t_3"]
        );
    }

    #[test]
    fn reserved_words_are_avoided() {
        let mut namer = Namer::new(&["fn", "type"]);
        assert_eq!([namer.name("fn"), namer.name("type"), namer.name("type")], ["fn_", "type_", "type__2"]);
    }

    #[test]
    fn what_an_inner_scope_named_is_free_behind_it() {
        let mut namer = Namer::new(&[]);
        namer.name("i");
        namer.enter();
        assert_eq!([namer.name("i"), namer.name("j")], ["i_2", "j"]);
        namer.leave();
        assert_eq!([namer.name("i"), namer.name("j")], ["i_2", "j"]);
    }

    #[test]
    fn a_name_is_an_identifier() {
        let mut namer = Namer::new(&[]);
        assert_eq!([namer.name("2x"), namer.name("a-b"), namer.name("_"), namer.name("")], ["v2x", "a_b", "v_", "v"]);
        assert_eq!(namer.name("länge"), "länge");
    }
}
