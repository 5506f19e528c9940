//! The native half of the Python package `spc-tensor`: `spc._native`. What users see of it is in `spc/`.
//!
//! | file | what is in it |
//! |---|---|
//! | `borrow` | arrays of Python's as arrays of ours, in the same memory |
//! | `pattern` | checked copies of index arrays |
//! | `tensor` | tensors, their arrays as buffers of Python's, files |
//! | `kernel` | kernels, calls, code |
//! | `decompose` | CP, Tucker and the power method |
//! | `ranks` | kernels and decompositions on many ranks, threads or processes of MPI |
//! | `threads` | threads for kernels, also after a fork |
//! | `errors` | exceptions |

mod borrow;
mod decompose;
mod errors;
mod kernel;
mod pattern;
mod ranks;
mod rows;
mod tensor;
mod threads;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("SpcError", module.py().get_type::<errors::SpcError>())?;
    module.add_class::<tensor::Storage>()?;
    module.add_class::<tensor::Array>()?;
    module.add_class::<pattern::Pattern>()?;
    module.add_class::<kernel::Kernel>()?;
    module.add_class::<ranks::problem::Problem>()?;
    module.add_class::<ranks::prepared::Prepared>()?;
    module.add_function(wrap_pyfunction!(kernel::_einsum, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::_names, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::_gradient, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::_set_catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(tensor::_format, module)?)?;
    module.add_function(wrap_pyfunction!(rows::_rows_taken, module)?)?;
    module.add_function(wrap_pyfunction!(rows::_rows_between, module)?)?;
    module.add_function(wrap_pyfunction!(rows::_rows_below, module)?)?;
    module.add_function(wrap_pyfunction!(rows::_rows_transposed, module)?)?;
    module.add_function(wrap_pyfunction!(threads::set_threads, module)?)?;
    module.add_function(wrap_pyfunction!(threads::get_threads, module)?)?;
    module.add_function(wrap_pyfunction!(threads::_after_fork, module)?)?;
    module.add_function(wrap_pyfunction!(decompose::_cp, module)?)?;
    module.add_function(wrap_pyfunction!(decompose::_tucker, module)?)?;
    module.add_function(wrap_pyfunction!(decompose::_power, module)?)?;
    module.add_class::<ranks::decompose::SharedFile>()?;
    module.add_function(wrap_pyfunction!(ranks::decompose::_shared_file, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::problem::_takes_parts, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::decompose::_cp_on, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::decompose::_tucker_on, module)?)?;
    module.add_function(wrap_pyfunction!(ranks::_stopped, module)?)
}
