//! What the statements of the loop IR are made of: a row for each, from which they are walked, renamed, checked and described.
//!
//! ```text
//! "store"   Store(array, index, value)   [writes array, expr index, expr value]   device;
//! ```
//!
//! A row has the word of the statement, its fields, and its parts in order: expressions, blocks, the variables that it declares or
//! changes, and what it does with arrays. The last word says whether functions of a device have it: `device`; `loops`, where they have
//! loops in its place; `host`, where they have none.

use super::{ArrayId, Expr, Merge, Parallel, Sharing, Statement, VariableId};
use std::fmt;

/// The effect of a statement on an array that it names, beside the reads of its expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Makes it, to the end of the block.
    Makes,
    /// Reads it.
    Reads,
    /// Writes elements.
    Writes,
    /// Appends elements.
    Appends,
    /// Changes a set of keys.
    Sets,
    /// Says how chunks share it.
    Shares,
}

impl Effect {
    /// Whether the array has other elements afterwards.
    pub fn changes(self) -> bool {
        matches!(self, Effect::Writes | Effect::Appends | Effect::Sets)
    }
}

/// The effect of a statement on a variable, beside the reads of its expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// Declares it: to the end of the block, or for its own blocks.
    Declares,
    /// Gives it another value.
    Changes,
}

/// Which of the blocks of a statement one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The only one.
    Body,
    /// That of a condition, by number.
    Branch(usize),
    /// The block for the case that no condition holds.
    Else,
    /// That of a point of a merge, by number.
    Point(usize),
    /// That of a loop for uneven work, and of one in its place.
    Uneven(usize),
}

impl fmt::Display for Place {
    /// As a step of a path: `/branch 1`; nothing for the only block.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Body => Ok(()),
            Place::Branch(number) => write!(f, "/branch {number}"),
            Place::Else => f.write_str("/else"),
            Place::Point(number) => write!(f, "/point {number}"),
            Place::Uneven(depth) => f.write_str(&"/uneven".repeat(*depth)),
        }
    }
}

macro_rules! part {
    ($(#[$doc:meta])* $part:ident $(, $mutable:tt)?) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub enum $part<'a> {
            /// An expression.
            Expr(&'a $($mutable)? Expr),
            /// A variable that it declares or changes.
            Variable(&'a $($mutable)? VariableId, Binding),
            /// An array that it names.
            Array(&'a $($mutable)? ArrayId, Effect),
            /// A block.
            Block(&'a $($mutable)? Vec<Statement>, Place),
        }
    };
}

part! {
    /// A part of a statement.
    Part
}

part! {
    /// The same, to change it.
    PartMut, mut
}

/// Visits the parts of a row.
macro_rules! visit {
    ($v:ident $p:ident $i:ident $n:ident:) => {};
    ($v:ident $p:ident $i:ident $n:ident: $kind:ident $f:ident $(, $($rest:tt)*)?) => {
        visit!(@ $v $p $i $n $kind $f);
        $(visit!($v $p $i $n: $($rest)*);)?
    };
    (@ $v:ident $p:ident $i:ident $n:ident expr $f:ident) => { $v($p::Expr($f)) };
    (@ $v:ident $p:ident $i:ident $n:ident block $f:ident) => { $v($p::Block($f, Place::Body)) };
    (@ $v:ident $p:ident $i:ident $n:ident otherwise $f:ident) => { $v($p::Block($f, Place::Else)) };
    (@ $v:ident $p:ident $i:ident $n:ident branches $f:ident) => {
        for (number, (condition, body)) in $f.$i().enumerate() {
            $v($p::Expr(condition));
            $v($p::Block(body, Place::Branch(number)));
        }
    };
    (@ $v:ident $p:ident $i:ident $n:ident nested $f:ident) => { $f.$n($v) };
    (@ $v:ident $p:ident $i:ident $n:ident declares $f:ident) => { $v($p::Variable($f, Binding::Declares)) };
    (@ $v:ident $p:ident $i:ident $n:ident changes $f:ident) => { $v($p::Variable($f, Binding::Changes)) };
    (@ $v:ident $p:ident $i:ident $n:ident makes $f:ident) => { $v($p::Array($f, Effect::Makes)) };
    (@ $v:ident $p:ident $i:ident $n:ident reads $f:ident) => { $v($p::Array($f, Effect::Reads)) };
    (@ $v:ident $p:ident $i:ident $n:ident writes $f:ident) => { $v($p::Array($f, Effect::Writes)) };
    (@ $v:ident $p:ident $i:ident $n:ident appends $f:ident) => { $v($p::Array($f, Effect::Appends)) };
    (@ $v:ident $p:ident $i:ident $n:ident sets $f:ident) => { $v($p::Array($f, Effect::Sets)) };
    (@ $v:ident $p:ident $i:ident $n:ident may_read $f:ident) => {
        $f.$i().for_each(|array| $v($p::Array(array, Effect::Reads)))
    };
    (@ $v:ident $p:ident $i:ident $n:ident may_set $f:ident) => {
        $f.$i().for_each(|array| $v($p::Array(array, Effect::Sets)))
    };
}

macro_rules! operations {
    ($($word:literal $name:ident $fields:tt [$($parts:tt)*] $device:ident;)*) => {
        impl Statement {
            /// The word for this kind of statement, as in paths such as `body/2.for/0.store`.
            pub fn keyword(&self) -> &'static str {
                match self {
                    $(Statement::$name { .. } => $word,)*
                }
            }

            /// Calls `visit` on the parts of this statement, not on those of what is in its blocks.
            pub fn parts<'a>(&'a self, visit: &mut dyn FnMut(Part<'a>)) {
                match self {
                    $(Statement::$name $fields => { visit!(visit Part iter parts: $($parts)*); })*
                }
            }

            /// The same, to change them.
            pub fn parts_mut<'a>(&'a mut self, visit: &mut dyn FnMut(PartMut<'a>)) {
                match self {
                    $(Statement::$name $fields => { visit!(visit PartMut iter_mut parts_mut: $($parts)*); })*
                }
            }
        }

        /// All statements.
        pub const OPERATIONS: &[Operation] = &[
            $(Operation { keyword: $word, name: stringify!($name), parts: stringify!($($parts)*), device: stringify!($device) },)*
        ];
    };
}

/// A kind of statement.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// The word for it.
    pub keyword: &'static str,
    /// The variant in Rust.
    pub name: &'static str,
    /// Its parts: `writes array, expr index, expr value`.
    pub parts: &'static str,
    /// `device` where functions of a GPU have it, `loops` where they have loops in its place, `host` where they have none.
    pub device: &'static str,
}

operations! {
    "comment"   Comment(_text)                          []                                                          device;
    "let"       Let(variable, value)                    [declares variable, expr value]                             device;
    "assign"    Assign(variable, value)                 [changes variable, expr value]                              device;
    "update"    Update(variable, _operator, value)      [changes variable, expr value]                              device;
    "store"     Store(array, index, value)              [writes array, expr index, expr value]                      device;
    "reduce"    Reduce(array, index, _operator, value)  [writes array, expr index, expr value]                      device;
    "allocate"  Allocate { array, length, fill }        [makes array, expr length, expr fill]                       device;
    "folds"     Folds { totals, terms, between }        [writes totals, expr terms, may_read between]               host;
    "fill"      Fill(array, value)                      [writes array, expr value]                                  device;
    "view"      View { array, of, begin, length, .. }   [makes array, reads of, expr begin, expr length]            device;
    "numbers"   Numbers { array, codes, mask, below }   [makes array, reads codes, expr mask, expr below]           host;
    "list"      List(array)                             [makes array]                                               host;
    "table"     Table { table, extent }                 [makes table, expr extent]                                  host;
    "directory" Directory { directory, positions, coordinates, extent, sought }
                [makes directory, reads positions, reads coordinates, reads sought, expr extent]                    host;
    "insert"    Insert { place, key, keys, table }      [declares place, expr key, sets keys, sets table]           device;
    "sort"      Sort { keys, places, table }            [sets keys, sets places, may_set table]                     device;
    "clear"     Clear(array)                            [sets array]                                                host;
    "reset"     Reset { keys, table }                   [sets keys, sets table]                                     device;
    "bitmap"    Bitmap { bitmap, extent }               [makes bitmap, expr extent]                                 host;
    "mark"      Mark(bitmap, key)                       [sets bitmap, expr key]                                     host;
    "marked"    Marked { variable, bitmap, body }       [declares variable, sets bitmap, block body]                host;
    "push"      Push(array, value)                      [appends array, expr value]                                 host;
    "extend"    Extend { array, count, fill }           [appends array, expr count, expr fill]                      host;
    "for"       For { variable, begin, end, body, .. }  [declares variable, expr begin, expr end, block body]       device;
    "while"     While(condition, body)                  [expr condition, block body]                                device;
    "merge"     Merge(merge)                            [nested merge]                                              loops;
    "if"        If(branches, otherwise)                 [branches branches, otherwise otherwise]                    device;
    "parallel"  Parallel(parallel)                      [nested parallel]                                           loops;
}

macro_rules! nested_parts {
    ($parts:ident $part:ident $iter:ident $flat:ident $($mutable:tt)?) => {
        impl Merge {
            fn $parts<'a>(&'a $($mutable)? self, visit: &mut dyn FnMut($part<'a>)) {
                for walk in self.walks.$iter() {
                    visit($part::Variable(&$($mutable)? walk.place, Binding::Declares));
                    walk.run.$iter().for_each(|run| visit($part::Variable(run, Binding::Declares)));
                    visit($part::Expr(&$($mutable)? walk.begin));
                    visit($part::Expr(&$($mutable)? walk.end));
                    visit($part::Expr(&$($mutable)? walk.at));
                }
                visit($part::Variable(&$($mutable)? self.coordinate, Binding::Declares));
                for look_up in self.directory.$iter() {
                    visit($part::Array(&$($mutable)? look_up.directory, Effect::Reads));
                    visit($part::Expr(&$($mutable)? look_up.parent));
                }
                for (number, point) in self.points.$iter().enumerate() {
                    visit($part::Block(&$($mutable)? point.body, Place::Point(number)));
                }
            }
        }

        impl Parallel {
            fn $parts<'a>(&'a $($mutable)? self, visit: &mut dyn FnMut($part<'a>)) {
                self.$flat(0, visit);
            }

            fn $flat<'a>(&'a $($mutable)? self, depth: usize, visit: &mut dyn FnMut($part<'a>)) {
                visit($part::Expr(&$($mutable)? self.begin));
                visit($part::Expr(&$($mutable)? self.end));
                visit($part::Variable(&$($mutable)? self.low, Binding::Declares));
                visit($part::Variable(&$($mutable)? self.high, Binding::Declares));
                for work in self.work.$iter() {
                    visit($part::Variable(&$($mutable)? work.place, Binding::Declares));
                    visit($part::Expr(&$($mutable)? work.before));
                }
                self.aligned.$iter().for_each(|array| visit($part::Array(array, Effect::Reads)));
                for (array, sharing) in self.sharing.$iter() {
                    visit($part::Array(array, Effect::Shares));
                    match sharing {
                        Sharing::Owned { place, start } => {
                            visit($part::Variable(place, Binding::Declares));
                            visit($part::Expr(start));
                        }
                        Sharing::Segmented { place, start, length, .. } => {
                            visit($part::Variable(place, Binding::Declares));
                            visit($part::Expr(start));
                            visit($part::Expr(length));
                        }
                        Sharing::Joined { positions_of } => {
                            positions_of.$iter().for_each(|other| visit($part::Array(other, Effect::Shares)));
                        }
                        Sharing::Private(_) => {}
                    }
                }
                self.reductions.$iter().for_each(|(variable, _)| visit($part::Variable(variable, Binding::Changes)));
                visit($part::Block(&$($mutable)? self.body, if depth == 0 { Place::Body } else { Place::Uneven(depth) }));
                self.uneven.$iter().for_each(|other| other.$flat(depth + 1, visit));
            }
        }
    };
}

nested_parts!(parts Part iter parts_at);
nested_parts!(parts_mut PartMut iter_mut parts_at_mut mut);
