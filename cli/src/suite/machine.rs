//! What is known of the machine.

use super::figures::{Facts, Measured, PointLine};
use spc::measure::{Machine, caches};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{SystemTime, UNIX_EPOCH};

/// What the system tells, without what is to be measured.
pub(super) fn facts(device: Option<String>) -> Facts {
    let text = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpu = text("/proc/cpuinfo")
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": ").map(|(_, name)| name.trim().to_owned()))
        .unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let kernel = text("/proc/sys/kernel/osrelease");
    Facts {
        cpu,
        frequency: frequency(&text),
        memory: memory(&text),
        processors: std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get),
        caches: caches().iter().map(|cache| (cache.level, cache.bytes)).collect(),
        system: format!("{} {}", std::env::consts::OS, kernel.trim()).trim().to_owned(),
        rustc: spc::execute::rust_compiler().unwrap_or_else(|| "none".to_owned()),
        spc: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("SPC_COMMIT").unwrap_or("unknown").to_owned(),
        date: date(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())),
        command: std::env::args().collect::<Vec<_>>().join(" "),
        device,
        measured: Vec::new(),
    }
}

/// The frequency of the processor in MHz.
fn frequency(text: &dyn Fn(&str) -> String) -> Option<f64> {
    let highest = text("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq").trim().parse::<f64>();
    let now = || {
        text("/proc/cpuinfo").lines().find_map(|line| line.strip_prefix("cpu MHz")?.split_once(": ")?.1.parse().ok())
    };
    highest.ok().map(|kilohertz| kilohertz / 1e3).or_else(now)
}

/// The bytes of main memory.
fn memory(text: &dyn Fn(&str) -> String) -> Option<usize> {
    let kilobytes = text("/proc/meminfo")
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?.trim().parse::<usize>().ok());
    kilobytes.map(|kilobytes| 1024 * kilobytes)
}

/// A short name that tells machines apart: processor, how many, caches, system.
pub(super) fn name(facts: &Facts) -> String {
    let Facts { cpu, processors, caches, .. } = facts;
    let hash = hashed(&(cpu, processors, caches));
    format!("{cpu} x{processors} ({:04x})", hash & 0xFFFF)
}

/// A number for something that is to agree.
pub(super) fn hashed(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// A number for this program: another build has another.
pub(super) fn program() -> u64 {
    let bytes = std::env::current_exe().and_then(std::fs::read);
    bytes.map_or_else(|_| hashed(&(env!("CARGO_PKG_VERSION"), option_env!("SPC_COMMIT"))), |bytes| hashed(&bytes))
}

/// What was measured, in 1e9 a second.
pub(super) fn measured(machine: &Machine) -> Measured {
    let giga = |rate: f64| rate / 1e9;
    let finite = |rate: f64| Some(giga(rate)).filter(|rate| rate.is_finite());
    let point = |point: &spc::measure::Point| PointLine {
        footprint: point.footprint,
        triad: giga(point.triad),
        read: giga(point.read),
        gather: point.gather.map(giga),
    };
    Measured {
        threads: machine.threads(),
        gflops: [finite(machine.flops(8)), finite(machine.flops(4))],
        points: machine.points().iter().map(point).collect(),
    }
}

/// The day and minute of a number of seconds since 1970, in UTC (Howard Hinnant, *chrono-compatible low-level date algorithms*).
fn date(seconds: u64) -> String {
    let (days, seconds) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + 400 * era + later;
    format!("{year}-{month:02}-{day:02} {:02}:{:02} UTC", seconds / 3600, seconds / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_400 + 3661), "2000-02-29 01:01 UTC");
        assert_eq!(date(1_798_761_599), "2026-12-31 23:59 UTC");
    }

    #[test]
    fn machines_have_names() {
        let facts = facts(None);
        assert!(!facts.cpu.is_empty() && facts.processors > 0);
        assert_ne!(name(&facts), name(&Facts { processors: facts.processors + 1, ..facts.clone() }));
    }
}
