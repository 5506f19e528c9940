//! A kernel without the names that its writer has chosen.
//!
//! ```text
//! kernel spmv { dimension d0 i …, array a2 A_vals … }   →   kernel kernel { dimension d0 d0 …, array a2 a2 … }
//! ```
//!
//! Two kernels that do the same with parameters in the same order are one text then.

use super::{Kernel, Statement};

impl Kernel {
    /// The same kernel, where everything is called by its place and nothing is said to readers.
    #[must_use]
    pub fn without_names(mut self) -> Kernel {
        self.name = "kernel".to_owned();
        self.documentation.clear();
        for (place, dimension) in self.dimensions.iter_mut().enumerate() {
            dimension.name = format!("d{place}");
            dimension.written.clone_from(&dimension.name);
        }
        let tensors = self.tensors.iter_mut().map(|tensor| &mut tensor.name);
        tensors.enumerate().for_each(|(place, name)| *name = format!("t{place}"));
        let arrays = self.arrays.iter_mut().map(|array| &mut array.name);
        arrays.enumerate().for_each(|(place, name)| *name = format!("a{place}"));
        let variables = self.variables.iter_mut().map(|variable| &mut variable.name);
        variables.enumerate().for_each(|(place, name)| *name = format!("v{place}"));
        without_comments(&mut self.body);
        self
    }
}

fn without_comments(block: &mut Vec<Statement>) {
    block.retain(|statement| !matches!(statement, Statement::Comment(_)));
    block.iter_mut().flat_map(Statement::blocks_mut).for_each(without_comments);
}
