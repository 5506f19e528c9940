//! `spc`: sparse tensors, and kernels that a compiler writes for their formats.
//!
//! A kernel is a line of index notation over tensors whose storage is declared. It becomes parallel loops that visit stored entries
//! only: at run time by [`Kernel`], or with your crate by the macro [`tensor_kernel!`].
//!
//! ```
//! use spc::execute::Kernel;
//! use spc::tensor::{Csr, Dense, Tensor};
//!
//! // | 0 2 0 |
//! // | 3 0 4 |
//! let a = Tensor::<f64, Csr>::from_coo([2, 3], &[&[0, 1, 1], &[1, 0, 2]], &[2.0, 3.0, 4.0])?;
//! let x = vec![1.0, 10.0, 100.0];
//!
//! let spmv = Kernel::compile("y(i) = A(i, j) * x(j)", &[("A", "csr")])?;
//! let y: Tensor<f64, Dense<1>> = spmv.call(&[&a, &x])?.single()?;
//! assert_eq!(y.values(), [20.0, 403.0]);
//!
//! spc::tensor_kernel! { fn product(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); } }
//! assert_eq!(product(&a, &Tensor::from_vec([3], x)?)?, y);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | you have | then |
//! |---|---|
//! | entries, in any order | [`Tensor::from_entries`], [`Tensor::from_coo`] |
//! | arrays of a compressed matrix | [`Tensor::from_csr`], [`View::from_csr`](tensor::View::from_csr), which borrows them |
//! | a dense array | [`Tensor::from_vec`], [`View::from_slice`](tensor::View::from_slice), [`View::strided`](tensor::View::strided) |
//! | a matrix of `ndarray`, `nalgebra`, `nalgebra-sparse`, `sprs` or `faer` | the feature of that name: `View::try_from(&matrix)`, `Tensor::try_from(matrix)`, or the reference as an input of a [`Kernel`] |
//! | a file | [`io::read`] |
//! | a tensor, and want to see it | `println!("{a}")`, [`layout`](tensor::AnyTensor::layout), `a[[i, j]]` |
//!
//! Shapes count elements, modes and indices count from 0; messages, and indices in files, count from 1.
//!
//! * [The macro](#kernels-in-a-program) · [Kernels at run time](#kernels-at-run-time)
//! * [Formats](#formats) · [Files](#files) · [Errors](#errors) · [Safety](#safety) · [Performance](#performance) ·
//!   [Features](#features)
//!
//! | module | what is in it |
//! |---|---|
//! | [`tensor`] | tensors: [`Tensor`], whose format is a type, [`AnyTensor`](tensor::AnyTensor), whose format is data, and views |
//! | [`execute`] | kernels; at run time with the feature `compile` |
//! | [`io`] | `.tns`, `.mtx`, `.npy`, with the feature `npz` `.npz` of NumPy and SciPy, and a binary format of our own, each also with gzip |
//! | [`generate`] | random tensors from a seed: uniform, Kronecker, power law, a benchmark suite's |
//! | [`parallel`] | what generated loops call |
//! | `cuda` | kernels on a GPU; with the feature of that name |
//! | `decompose` | CP and Tucker decompositions, best rank-1 by the power method; with the feature of that name |
//! | [`measure`] | what the machine can do, and how close to that a kernel is; with the feature `compile` |
//! | [`memory`] | an allocator that has large arrays in huge pages |
//! | [`progress`] | how far reading, packing and writing are |
//! | [`compiler`] | the stages of the compiler, as data |
//!
//! # Kernels in a program
//!
//! [`tensor_kernel!`] makes a function of each kernel; rustc compiles it with the rest of the crate and underlines what is
//! wrong with it. Formats are types: a tensor in another format is refused where the call is written.
//!
//! ```
//! use spc::tensor::{Csf, Dense, Tensor};
//!
//! spc::tensor_kernel! {
//!     /// Mode-1 MTTKRP.
//!     pub fn mttkrp(X: csf, B: dense, C: dense) -> A: dense {
//!         A(i, r) = X(i, j, k) * B(j, r) * C(k, r);
//!     }
//! }
//!
//! let x = Tensor::<f64, Csf<3>>::from_entries([2, 3, 4], [([0, 1, 2], 2.0), ([1, 0, 3], 3.0), ([1, 2, 0], 4.0)])?;
//! let b = Tensor::<f64, Dense<2>>::from_fn([3, 16], |index| index[0] as f64)?;
//! let c = Tensor::<f64, Dense<2>>::from_fn([4, 16], |index| (1 + index[1]) as f64)?;
//!
//! let mut a = mttkrp(&x, &b, &c)?;
//! assert_eq!(a.get(&[1, 1]), Some(4.0 * 2.0 * 2.0));
//! mttkrp_into(&x, &b, &c, &mut a)?; // no new memory
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An index on the right alone is summed over. A missing entry is zero, and a kernel visits stored entries only. Where a
//! result is sparse, its structure is found in parallel, or shared with the operand that it follows.
//!
//! Results begin as zeros, also in `…_into` and also with `+=`: what a kernel gives depends on its inputs alone. What is to be
//! added to is an input:
//!
//! ```
//! # use spc::tensor::{Csr, Dense, Tensor};
//! spc::tensor_kernel! {
//!     fn add_product(A: csr, x: dense, b: dense) -> y: dense { y(i) = b(i) + A(i, j) * x(j); }
//! }
//! # let a = Tensor::<f64, Csr>::from_entries([2, 2], [([0, 1], 2.0)])?;
//! # let (x, b) = (Tensor::from_vec([2], vec![1.0, 10.0])?, Tensor::from_vec([2], vec![5.0, 6.0])?);
//! assert_eq!(add_product(&a, &x, &b)?.values(), [25.0, 6.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Index arithmetic
//!
//! An index is a variable, or is computed from variables and whole numbers by `+ - * / %`; a window is `3..7`, and the first
//! window of each access runs with the first window of the others. A variable that only computed indices have runs as far as all
//! of them stay inside, and a mode that only computed indices have is just long enough. A result that is passed to `…_into` can
//! say either otherwise; what then lies outside is an error.
//!
//! ```
//! # use spc::tensor::{Csr, Dense, Tensor};
//! spc::tensor_kernel! {
//!     fn convolve(x: dense, w: dense) -> y: dense { y(i) = x(i + k) * w(k); }
//!     fn product(a: dense, b: dense) -> c: dense { c(i + j) += a(i) * b(j); }
//!     fn diagonal(A: csr) -> d: dense { d(i) = A(i, i); }
//!     fn corner(A: csr) -> B: dense { B(0..2, 0..1) = A(0..2, 1..2); }
//! }
//! let (x, w) = (Tensor::from_vec([4], vec![1.0, 2.0, 3.0, 4.0])?, Tensor::from_vec([2], vec![1.0, 10.0])?);
//! assert_eq!(convolve(&x, &w)?.values(), [21.0, 32.0, 43.0]);
//! assert_eq!(product(&w, &w)?.values(), [1.0, 20.0, 100.0]);
//! let mut first = Tensor::<f64, Dense<1>>::from_vec([1], vec![0.0])?;
//! convolve_into(&x, &w, &mut first)?;
//! assert_eq!(first.values(), [21.0]);
//! # let a = Tensor::<f64, Csr>::from_entries([2, 2], [([0, 1], 2.0), ([1, 1], 3.0)])?;
//! # assert_eq!((diagonal(&a)?.values(), corner(&a)?.values()), (&[0.0, 3.0][..], &[2.0, 3.0][..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Kernels at run time
//!
//! With the feature `compile`, [`Kernel`] compiles a text with the `rustc` of the machine, and calls it with new inputs as often as
//! you like; without a compiler, the interpreter runs it. A call takes its extents from its inputs, neither copies nor converts them,
//! and costs about a microsecond besides the work. `call_into` writes into memory that is there:
//!
//! ```
//! use spc::execute::Kernel;
//! use spc::tensor::{Csr, Dense, Tensor};
//!
//! let step = Kernel::builder("y(i) = b(i) + alpha * A(i, j) * x(j)").format("A", "csr").compile()?;
//! let a = Tensor::<f64, Csr>::from_entries([2, 2], [([0, 1], 0.5), ([1, 0], 0.5)])?;
//! let (mut x, mut y) = (Tensor::<f64, Dense<1>>::zeros([2])?, Tensor::zeros([2])?);
//! for _ in 0..60 {
//!     step.call_named_into(&[("A", &a), ("x", &x), ("b", &[1.0, 1.0]), ("alpha", &1.0)], &mut y)?;
//!     std::mem::swap(&mut x, &mut y);
//! }
//! assert!((x[[0]] - 2.0).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`execute::Program`] is a kernel with its inputs, which it reads from files, packs as the kernel declares them, and takes the
//! sizes of into the loops.
//!
//! # Formats
//!
//! A format is a level for each mode, from the outermost in: `dense` (every coordinate, none stored), `compressed` (the
//! coordinates that occur under each parent), `singleton` (one coordinate for each parent), `padded` (rows filled up to one
//! width), `grouped` (to one width in each slice), `sliced` (such rows side by side), `banded` (an interval), `diagonal`, `bitmap`, `hashed`, `run`, `flagged`. Names stand for lists of levels
//! and serve any order that fits; a [`Tensor`] has the type on the right.
//!
//! | in a kernel | levels | type |
//! |---|---|---|
//! | `dense` | all `dense` | [`Dense<N>`](tensor::Dense) |
//! | `csr` | `[dense, compressed]` | [`Csr`](tensor::Csr) |
//! | `csc` | `(i, j) -> [j: dense, i: compressed]` | [`Csc`](tensor::Csc) |
//! | `dcsr` | `[compressed, compressed]` | [`Dcsr`](tensor::Dcsr) |
//! | `csf` | all `compressed`: a tree | [`Csf<N>`](tensor::Csf) |
//! | `coo` | `[compressed(nonunique), singleton, …]`: sorted coordinates | [`Coo<N>`](tensor::Coo) |
//! | `scoo` | `coo`, the last mode `dense` | [`Scoo<N>`](tensor::Scoo) |
//! | `[dense, compressed(u64, pos = u64)]` | as written, here with wide indices | [`Levels<…>`](tensor::Levels) |
//! | `ell` | `[dense, padded]`; a width that is known is `padded(width = 2)` | [`Ell<N>`](tensor::Ell) |
//! | `sell(8)` | `[dense, sliced]`: eight rows side by side | [`Sell<N, 8>`](tensor::Sell) |
//! | `(i, j, k) -> [k: compressed, …]` | modes in another order | [`Permuted<…>`](tensor::Permuted) |
//!
//! Tensors are packed in parallel from entries in any order, and converted with [`Tensor::convert`]:
//!
//! ```
//! use spc::tensor::{Coo, Csf, Tensor};
//!
//! let x = Tensor::<f64, Coo<3>>::from_entries([9, 9, 9], [([8, 1, 1], 1.0), ([0, 1, 2], 2.0)])?;
//! let tree: Tensor<f64, Csf<3>> = x.convert()?;
//! assert_eq!(tree.entries()[0], (vec![0, 1, 2], 2.0));
//! # Ok::<(), spc::tensor::PackError>(())
//! ```
//!
//! # Files
//!
//! ```
//! use spc::io::{self, ReadOptions};
//! use spc::tensor::{Csr, Tensor};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("a.mtx.gz");
//! let a = Tensor::<f64, Csr>::from_entries([2, 3], [([0, 2], 1.5), ([1, 0], -2.0)])?;
//! io::write(&path, &a.to_coordinates())?;
//! let again = Tensor::<f64, Csr>::from_coordinates(io::read_as(&path, &ReadOptions::default())?)?;
//! assert_eq!(again, a);
//! assert_eq!(io::read(&path)?, *a.as_any());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Errors
//!
//! What is wrong with a kernel is an error of the compiler, at its place in the source. What is wrong with a call is an
//! [`Error`]: extents that disagree, a result that is too large, a tensor that `…_into` can't write to. It says which tensor,
//! which index and what to do:
//!
//! ```
//! # use spc::tensor::{Csr, Dense, Tensor};
//! # spc::tensor_kernel! { fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); } }
//! # let a = Tensor::<f64, Csr>::from_entries([2, 4], [([0, 1], 2.0)])?;
//! let short = Tensor::from_vec([3], vec![1.0; 3])?;
//! let message = spmv(&a, &short).unwrap_err().to_string();
//! assert!(message.starts_with("index `j` has extent 4 by mode 2 of `A`"), "{message}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Safety
//!
//! The loops that kernels become are safe Rust, in the macro as at run time. The macro writes one `unsafe`, around the call of
//! loops that are compiled for processors with AVX2, once it has asked whether this is one; crates that forbid `unsafe` can use
//! it all the same. A tensor is valid by construction: what makes one, from entries, arrays or a file, checks it. Should an
//! index array be wrong all the same, a loop panics or gives a wrong result; it does not reach beyond an array.
//!
//! What is borrowed is not kept: a [`View`] hands out `&Tensor`, and a clone of that, or a result that shares an index
//! array with it, is a copy (`tensor/shared.rs`, `tensor/view.rs`, with the foreign libraries' elements in `tensor/foreign`).
//!
//! Else `unsafe` stands in two folders. `cuda` calls NVIDIA's driver and its compiler, with memory that it has allocated there and
//! arguments as the kernel's plan says. `execute/native` loads libraries that `rustc` has just compiled and hands arrays to
//! them. It relies on what the compiler enforces: the kernels in those libraries lie in modules that forbid unsafe code. Five
//! more files have some: `measure/processor.rs` calls loops that are compiled for several kinds of processor, once it has asked
//! which this one is, `memory.rs` is an allocator, `io/write/limit.rs` has a signal ignored, and `tensor/pack/scatter.rs` puts each entry of a matrix in a place of its own
//! among those that were counted, in memory of `tensor/buffer.rs` that need not be cleared before. The helpers that share arrays
//! among threads, [`parallel`], have little:
//! `parallel/joined.rs` copies to the ends of vectors, each time to a place that is no one else's; one instruction of
//! `parallel/bits.rs` takes interleaved bits apart, one of `parallel/bitmap.rs` takes a bit of each byte; and in what is compiled
//! for AVX-512, masked loads and gathers in `parallel/masks/wide.rs` load what lies in a slice, and gather once all coordinates are known
//! to lie in the other, `parallel/few.rs` sorts keys in registers, between arrays of their size, and `parallel/intersect.rs` loads
//! up to sixteen coordinates of a slice under a mask. Miri runs their tests with `cargo +nightly miri test -p spc-tensor parallel::`.
//!
//! # Performance
//!
//! * Loops over the last mode of dense operands (the rank in MTTKRP, the columns in SpMM) are vector loops. The macro writes a
//!   version of each kernel for 8, 16, 32 and 64 iterations, and one for any other number, which takes the row in strips of two
//!   cache lines; what is left of it is up to twice as slow. At run time the very extent is compiled in. In kernels without a
//!   vector loop, the same goes for sums over such a mode (SDDMM).
//! * On x86-64 vector loops use AVX2 where the processor has it, whatever the crate is compiled for. Kernels that are compiled
//!   at run time use all that it has; so do the macro's with `RUSTFLAGS="-C target-cpu=native"`, or `[build] rustflags` in
//!   `.cargo/config.toml`.
//! * A kernel that needs an operand in another order of modes sorts a copy of it in every call. Convert it once, and declare that
//!   format. `spc explain` says which copies a kernel makes.
//! * `…_into` saves the memory of results, which the system else has to clear page by page.
//! * Tensors of more than 4 MB ask Linux for huge pages, which random access to them is 1.5 times faster on. So can everything
//!   else in a program, with one line: [`memory::HugePages`].
//! * Loops run on the threads of the rayon pool that they are called in; [`parallel::with_threads`] makes one. Small
//!   inputs stay on one thread.
//! * Sixty kernels add 21 seconds of processor time to a release build (measure it with
//!   `cargo run --release -p spc-tensor --example compile_cost`).
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | none | tensors, files, generators, calls of kernels that were compiled before |
//! | `macros` (default) | [`tensor_kernel!`]; the compiler runs where the crate is built, and is no part of the program |
//! | `compile` | kernels as text at run time: the compiler, native code, the interpreter, streams, tuning, [`measure`] |
//! | `pretty` | `compile`, with formatted Rust text and rendered diagnostics |
//! | `cuda` | `compile`, with kernels on a GPU, also those of the macro |
//! | `decompose` | `compile`, with decompositions of sparse tensors |

// What the macro writes names this crate `spc`, also in its own tests.
extern crate self as spc;

pub mod complex;
#[cfg(feature = "cuda")]
pub mod cuda;
#[cfg(feature = "decompose")]
pub mod decompose;
#[cfg(feature = "compile")]
pub mod distribute;
#[cfg_attr(not(feature = "compile"), allow(dead_code, reason = "some is for kernels that are compiled at run time"))]
pub mod execute;
mod fault;
pub mod generate;
pub mod half;
pub mod io;
#[cfg(feature = "compile")]
pub mod linalg;
#[cfg(feature = "compile")]
pub mod measure;
pub mod memory;
pub mod parallel;
mod processor;
pub mod progress;
pub mod tensor;
mod unfinished;

pub use execute::Error;
#[cfg(feature = "compile")]
pub use execute::Kernel;
pub use spc_compiler as compiler;
pub use spc_compiler::diagnostics;
pub use spc_compiler::format::Format;
#[cfg(feature = "compile")]
pub use spc_compiler::{notation, syntax};
#[cfg(feature = "macros")]
pub use spc_macros::tensor_kernel;
pub use tensor::{ElementType, Tensor, View};
