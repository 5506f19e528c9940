//! Tokens as text.

use super::{Options, function};
use crate::ir::{Kernel, Verified};
use quote::quote;

/// The function of a kernel as Rust; with the feature `pretty` formatted, comments included. `parallel` in it is the run time's module.
#[cfg(not(feature = "pretty"))]
pub fn text(kernel: &Verified<Kernel>) -> String {
    let options = Options { parallel: quote!(parallel), name: None, comments: false, vectors: false };
    function(kernel, &options).to_string()
}

/// The function of a kernel as formatted Rust, comments included. `parallel` in it is the run time's module.
#[cfg(feature = "pretty")]
pub fn text(kernel: &Verified<Kernel>) -> String {
    let options = Options { parallel: quote!(parallel), name: None, comments: true, vectors: false };
    let tokens = function(kernel, &options);
    match syn::parse2::<syn::File>(tokens.clone()) {
        Ok(file) => prettyplease::unparse(&file),
        Err(error) => panic!("a bug in spc: the generated Rust is not valid: {error}\n{tokens}"),
    }
}
