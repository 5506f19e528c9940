//! What a GPU would do, without one: kernels run on the processor, their memory accesses are counted warp by warp, and a model of a
//! GPU predicts the time. Nothing here is measured; every time is a prediction.
//!
//! ```text
//! CUDA C ──g++──▶ emulation, which traces ──▶ counts of a launch ──▶ caches ──▶ predicted time
//! ```
//!
//! | file | what it does |
//! |---|---|
//! | `emulation/` | CUDA C on the processor; `count.inc` counts, `races.inc` (of the tests) looks for faults |
//! | `library` | compiles a module with its counters, by `g++` |
//! | `counts` | what was counted of a launch |
//! | `description` | what is known of a GPU, as text |
//! | `cache`, `replay` | caches of sectors, and blocks that take turns in front of them |
//! | `occupancy` | how many blocks a multiprocessor has at a time |
//! | `loads` | how many loads of a warp are under way at a time, by the assembly text |
//! | `predict` | the time of a launch, and what limits it |
//! | `counted` | a [`Device`](crate::execute::device::Device) of all that |
//! | `log` | the launches so far, for those who ask |
//!
//! ```no_run
//! use spc::cuda::model::{Description, Predictions};
//! use spc::execute::{Backend, Operand, Program, ProgramOptions};
//! # let kernels = spc_compiler::notation::check(&spc_compiler::syntax::parse_program("fn f(x: dense) -> y: dense { y(i) = x(i); }").unwrap()).unwrap();
//!
//! let predictions = Predictions::on(Description::named("h200")?);
//! let options = ProgramOptions { backend: Some(Backend::Cuda), model: Some(predictions.clone()), ..ProgramOptions::default() };
//! let inputs = vec![("x".to_owned(), Operand::Ones)];
//! Program::new(&kernels[0], inputs, &[("i".to_owned(), 1 << 20)], &options)?.run(1)?;
//! for launch in predictions.take().launches {
//!     println!("{}: predicted {:.2} µs, limited by {}", launch.function, launch.time.seconds * 1e6, launch.time.limit);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cache;
mod counted;
mod counts;
mod description;
mod error;
mod library;
mod loads;
mod log;
mod occupancy;
mod predict;
mod replay;

pub use cache::Cache;
pub use counted::Counted;
pub use counts::{Counts, Kind, Site, Totals};
pub use description::{Description, DescriptionError, NAMES};
pub use error::ModelError;

pub use log::{Predicted, PredictedLaunch, Predictions, Touched};
pub use occupancy::{Occupancy, Taken};
pub use predict::{Limit, Time};
pub use replay::Traffic;
