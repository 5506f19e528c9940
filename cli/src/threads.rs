//! The threads that commands run on.

use crate::failure::{Failure, note};

/// Does something on so many threads; on as many as the machine has processors where `asked` is 0. Says so where fewer work.
pub(crate) fn on<R: Send>(asked: usize, body: impl FnOnce() -> R + Send) -> Result<R, Failure> {
    let most = spc::parallel::most_threads();
    if asked > most {
        note(format!("{most} threads work, not {asked}: more would only wait for each other"));
    }
    spc::parallel::with_threads(asked, body).map_err(|error| {
        let threads = match asked.min(most) {
            0 => "the threads".to_owned(),
            1 => "a thread".to_owned(),
            threads => format!("{threads} threads"),
        };
        Failure::refused(format!("{threads} can't be started: {error}"))
            .help("with `--threads`, or RAYON_NUM_THREADS in the environment, fewer are started")
    })
}
