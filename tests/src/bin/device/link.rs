//! How fast bytes move: on the device, and between it and the host.

use crate::Result;
use crate::median;
use serde_json::{Value, json};
use spc::cuda::Gpu;
use spc::execute::device::{Device, Memory};
use std::time::Duration;

/// Bytes a second.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    /// Those that a copy on the device reads and writes.
    pub(crate) copy: f64,
    /// From pinned memory of the host.
    pub(crate) to_device: f64,
    /// To it.
    pub(crate) from_device: f64,
    /// Whether the host's memory could be pinned: without, links are slower.
    pinned: bool,
}

impl Link {
    /// Measures copies of so many bytes.
    pub(crate) fn measure(gpu: &Gpu, bytes: usize, repeat: usize) -> Result<Self> {
        let stream = gpu.stream()?;
        let mut host = vec![1u8; bytes];
        let pinned = stream.pin(&host);
        let (from, to) = (stream.allocate(bytes, "from")?, stream.allocate(bytes, "to")?);
        let per_second = |times: &[Duration]| bytes as f64 / median(times).as_secs_f64();
        let mut times = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..repeat.max(3) {
            times[0].push(stream.timed(&mut || stream.write(from, &host))?);
            times[1].push(stream.timed(&mut || stream.copy(from, to, bytes))?);
            times[2].push(stream.timed(&mut || stream.read(to, &mut host))?);
        }
        if pinned {
            stream.unpin(&host);
        }
        [from, to].into_iter().for_each(|memory: Memory| stream.free(memory));
        let [to_device, copy, from_device] = times;
        Ok(Self {
            copy: 2.0 * per_second(&copy),
            to_device: per_second(&to_device),
            from_device: per_second(&from_device),
            pinned,
        })
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "copy_gb_per_s": self.copy / 1e9, "host_to_device_gb_per_s": self.to_device / 1e9,
            "device_to_host_gb_per_s": self.from_device / 1e9, "pinned": self.pinned,
        })
    }

    pub(crate) fn text(&self) -> String {
        let how = if self.pinned { "pinned" } else { "NOT pinned" };
        format!(
            "a copy on the device moves {:.0} GB/s (B); from {how} memory of the host {:.1} GB/s, to it {:.1} GB/s",
            self.copy / 1e9,
            self.to_device / 1e9,
            self.from_device / 1e9
        )
    }
}
