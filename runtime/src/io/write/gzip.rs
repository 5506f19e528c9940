//! Compression by all threads.

use std::io::{self, Write};
use std::mem;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::tensor::tasks;

/// How much text a member of the file holds.
const MEMBER: usize = 1 << 20;

/// Compresses what is written to it: a gzip file of many members, which threads make side by side. Every reader of gzip
/// takes their contents as one.
pub(super) struct GzipWriter<W> {
    out: W,
    pending: Vec<u8>,
    batch: usize,
    empty: bool,
}

impl<W: Write> GzipWriter<W> {
    pub(super) fn new(out: W) -> Self {
        let batch = 4 * MEMBER * rayon::current_num_threads();
        Self { out, pending: Vec::new(), batch, empty: true }
    }

    /// Compresses what is left.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.compress()?;
        if self.empty {
            self.out.write_all(&member(&[])?)?;
        }
        Ok(self.out)
    }

    fn compress(&mut self) -> io::Result<()> {
        let text = mem::take(&mut self.pending);
        let parts = tasks::ranges(text.len(), MEMBER);
        let members = tasks::map(&parts, &|part| member(&text[part])).into_iter().collect::<io::Result<Vec<_>>>()?;
        self.empty &= members.is_empty();
        members.iter().try_for_each(|member| self.out.write_all(member))
    }
}

fn member(text: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text)?;
    encoder.finish()
}

impl<W: Write> Write for GzipWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() >= self.batch {
            self.compress()?;
        }
        Ok(bytes.len())
    }

    /// Does nothing: what is pending is written by [`finish`](GzipWriter::finish).
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
