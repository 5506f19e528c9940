//! What the assembler reports of functions.

/// What one function takes of a device.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Usage {
    /// The function.
    pub function: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of a thread's stack.
    pub stack: u32,
    /// Bytes that are stored because registers did not suffice.
    pub spill_stores: u32,
    /// Bytes that are loaded again.
    pub spill_loads: u32,
    /// Bytes of a block's shared memory.
    pub shared: u32,
}

impl Usage {
    /// What a log says of every function that was compiled for an architecture, by name.
    pub(super) fn of_log(log: &str) -> Vec<Usage> {
        let mut all: Vec<Usage> = Vec::new();
        for line in log.lines() {
            if let Some(rest) = line.split("entry function '").nth(1) {
                let function = rest.split('\'').next().unwrap_or_default().to_owned();
                all.push(Usage { function, ..Usage::default() });
            }
            let Some(usage) = all.last_mut() else { continue };
            let before = |what: &str| number_before(line, what);
            usage.stack = before(" bytes stack frame").unwrap_or(usage.stack);
            usage.spill_stores = before(" bytes spill stores").unwrap_or(usage.spill_stores);
            usage.spill_loads = before(" bytes spill loads").unwrap_or(usage.spill_loads);
            usage.registers = before(" registers").unwrap_or(usage.registers);
            usage.shared = before(" bytes smem").unwrap_or(usage.shared);
        }
        all.sort_by(|a, b| a.function.cmp(&b.function));
        all
    }
}

/// The number that stands before some words.
fn number_before(line: &str, what: &str) -> Option<u32> {
    let end = line.find(what)?;
    line[..end].rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read() {
        let log = "ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'b' for 'sm_90'
ptxas info    : Function properties for b
ptxas         .     8 bytes stack frame, 4 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 30 registers, used 1 barriers, 64 bytes smem
ptxas info    : Compiling entry function 'a' for 'sm_90'
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 0 barriers\n";
        let usage = |function: &str, registers, stack, spill_stores, spill_loads, shared| Usage {
            function: function.to_owned(),
            registers,
            stack,
            spill_stores,
            spill_loads,
            shared,
        };
        assert_eq!(Usage::of_log(log), [usage("a", 10, 0, 0, 0, 0), usage("b", 30, 8, 4, 16, 64)]);
    }
}
