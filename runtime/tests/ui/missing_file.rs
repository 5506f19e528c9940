//! A file that is not there.

spc::tensor_kernel!(file = "kernels/none.ti");

fn main() {}
