//! What a kernel gives.

use crate::execute::{ProgramError, Repeated, Value};
use crate::tensor::AnyTensor;
use std::ops::Index;
use std::sync::Arc;

/// The results of a call, in the order of their declaration.
#[derive(Debug, Clone)]
pub struct Outputs {
    names: Arc<[String]>,
    /// `None` for what has been taken.
    tensors: Vec<Option<AnyTensor>>,
    rounds: Option<Repeated>,
}

impl Outputs {
    pub(super) fn new(names: Arc<[String]>, tensors: Vec<AnyTensor>, rounds: Option<Repeated>) -> Self {
        Self { names, tensors: tensors.into_iter().map(Some).collect(), rounds }
    }

    /// How the rounds went, where the kernel has a `repeat`.
    pub fn rounds(&self) -> Option<&Repeated> {
        self.rounds.as_ref()
    }

    /// The result of a name, unless it has been taken.
    pub fn get(&self, name: &str) -> Option<&AnyTensor> {
        self.tensors.get(self.place(name)?)?.as_ref()
    }

    /// The results that have not been taken, with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &AnyTensor)> {
        let named = self.names.iter().zip(&self.tensors);
        named.filter_map(|(name, tensor)| Some((name.as_str(), tensor.as_ref()?)))
    }

    /// Takes the result of a name: as a [`Tensor`](crate::Tensor) of the type that it has, an [`AnyTensor`], or the number that a
    /// scalar is.
    ///
    /// # Errors
    /// When there is no such result, it has been taken, or it has another type.
    pub fn take<V: Value>(&mut self, name: &str) -> Result<V, ProgramError> {
        let known = || self.iter().map(|(name, _)| name.to_owned()).collect();
        let found = self.place(name).filter(|&place| self.tensors[place].is_some());
        let Some(place) = found else {
            return Err(ProgramError::NoSuchResult { name: name.to_owned(), known: known() });
        };
        typed(name, self.tensors[place].take())
    }

    /// The only result, as by [`take`](Outputs::take).
    ///
    /// # Errors
    /// When there are several, or it has another type.
    pub fn single<V: Value>(mut self) -> Result<V, ProgramError> {
        match &self.names[..] {
            [name] => typed(name, self.tensors[0].take()),
            names => Err(ProgramError::NotOneResult { names: names.to_vec() }),
        }
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }
}

fn typed<V: Value>(name: &str, tensor: Option<AnyTensor>) -> Result<V, ProgramError> {
    let Some(tensor) = tensor else {
        return Err(ProgramError::NoSuchResult { name: name.to_owned(), known: Vec::new() });
    };
    let found = (tensor.element(), tensor.format().clone());
    V::from_output(tensor).map_err(|_| ProgramError::ResultType {
        tensor: name.to_owned(),
        found: format!("elements {} stored as {}", found.0.name(), found.1),
        expected: std::any::type_name::<V>(),
    })
}

impl Index<&str> for Outputs {
    type Output = AnyTensor;

    /// # Panics
    /// When there is no result of that name, or it has been taken.
    fn index(&self, name: &str) -> &AnyTensor {
        self.get(name).unwrap_or_else(|| panic!("there is no result `{name}`"))
    }
}

/// Where results go: `&mut y` for one, `(&mut y, &mut z)` and so on for several, a vector of `&mut dyn Value` for any number.
pub trait Targets<'t> {
    /// One for each result, in order.
    fn targets(self) -> Vec<&'t mut dyn Value>;
}

impl<'t, V: Value> Targets<'t> for &'t mut V {
    fn targets(self) -> Vec<&'t mut dyn Value> {
        vec![self]
    }
}

impl<'t> Targets<'t> for Vec<&'t mut dyn Value> {
    fn targets(self) -> Vec<&'t mut dyn Value> {
        self
    }
}

macro_rules! tuples {
    ($($($type:ident)*;)*) => {$(
        impl<'t, $($type: Value),*> Targets<'t> for ($(&'t mut $type,)*) {
            #[allow(non_snake_case)]
            fn targets(self) -> Vec<&'t mut dyn Value> {
                let ($($type,)*) = self;
                vec![$($type),*]
            }
        }
    )*};
}
tuples! { A B; A B C; A B C D; A B C D E; A B C D E F; }
