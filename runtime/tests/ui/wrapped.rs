//! A kernel that a macro by example writes: the message stands at what the caller gave.

macro_rules! products {
    ($($name:ident: $format:ident;)*) => {
        spc::tensor_kernel! {
            $(fn $name(A: $format, x: dense) -> y: dense { y(i) = A(i, j) * x(j); })*
        }
    };
}

products! {
    rows: csr;
    columns: cscc;
}

fn main() {}
