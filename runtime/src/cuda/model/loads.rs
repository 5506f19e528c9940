//! How many loads a warp has under way at a time, by the assembly text: those of a loop's body, by how many of them wait for one
//! another.
//!
//! ```text
//! L: ld.global.u32 %r1, [%rd1];        two loads that wait for nobody, one that waits for the first:
//!    ld.global.f64 %fd1, [%rd2];       3 loads in 2 steps
//!    ld.global.f64 %fd2, [%rd3];       (%rd3 comes from %r1)
//!    @%p1 bra L;
//! ```

use std::collections::BTreeMap;

/// So many are under way at most: the lines that a multiprocessor waits for are no more.
const MOST: f64 = 16.0;

/// By function, of a module's PTX.
pub(super) fn loads_in_flight(ptx: &str) -> BTreeMap<String, f64> {
    let mut functions = BTreeMap::new();
    for part in ptx.split(".entry ").skip(1) {
        let name: String = part.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_' || *c == '$').collect();
        let body = part.find('{').map_or("", |begin| &part[begin..]);
        functions.insert(name, of_function(&body.lines().map(str::trim).collect::<Vec<_>>()));
    }
    functions
}

/// Of the inner loop that has most, or of the whole where no loop loads.
fn of_function(lines: &[&str]) -> f64 {
    let label = |line: &str| line.strip_suffix(':').map(str::to_owned);
    let labels: BTreeMap<String, usize> =
        lines.iter().enumerate().filter_map(|(place, line)| Some((label(line)?, place))).collect();
    let back = |(place, line): (usize, &&str)| {
        let to = line.trim_end_matches(';').split_whitespace().last().filter(|_| line.contains("bra"))?;
        labels.get(to).filter(|begin| **begin < place).map(|begin| (*begin, place))
    };
    let loops: Vec<(usize, usize)> = lines.iter().enumerate().filter_map(back).collect();
    let is_inner = |(begin, end): &(usize, usize)| {
        !loops.iter().any(|(other, last)| (other, last) != (begin, end) && begin <= other && last <= end)
    };
    let inner = loops.iter().filter(|of| is_inner(of)).map(|&(begin, end)| of_body(&lines[begin..=end]));
    let most = inner.max_by(|a, b| a.0.cmp(&b.0)).filter(|(loads, _)| *loads > 0);
    let (loads, steps) = most.unwrap_or_else(|| of_body(lines));
    (loads as f64 / f64::from(steps.max(1))).clamp(1.0, MOST)
}

/// How many loads there are, and how many steps they take where each waits for what its address comes from.
fn of_body(lines: &[&str]) -> (usize, u32) {
    let mut depth: BTreeMap<&str, u32> = BTreeMap::new();
    let (mut loads, mut steps) = (0, 0);
    for line in lines {
        let line = line.strip_prefix('@').and_then(|line| line.split_once(' ')).map_or(*line, |(_, rest)| rest);
        let Some((operation, operands)) = line.split_once(char::is_whitespace) else { continue };
        let mut registers = operands.split(|c: char| !(c.is_ascii_alphanumeric() || "%_.".contains(c)));
        let first = registers.by_ref().find(|name| name.starts_with('%'));
        let of = registers.filter_map(|name| depth.get(name)).max().copied().unwrap_or(0);
        let is_load = operation.starts_with("ld.global");
        loads += usize::from(is_load);
        let reached = of + u32::from(is_load);
        steps = steps.max(reached);
        if let Some(first) = first {
            depth.insert(first, reached);
        }
    }
    (loads, steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPMV: &str = "
.visible .entry rolled(.param .u64 a)
{
$L__BB0_2:
	ld.global.u32 	%r1, [%rd1];
	ld.global.f64 	%fd1, [%rd2];
	mul.wide.u32 	%rd3, %r1, 8;
	add.s64 	%rd4, %rd9, %rd3;
	ld.global.nc.f64 	%fd2, [%rd4];
	@%p1 bra 	$L__BB0_2;
	ret;
}
.visible .entry unrolled(.param .u64 a)
{
	ld.global.u32 	%r0, [%rd0];
$L__BB0_1:
$L__BB0_2:
	ld.global.u32 	%r1, [%rd1];
	ld.global.u32 	%r2, [%rd1+4];
	ld.global.f64 	%fd1, [%rd5];
	ld.global.f64 	%fd2, [%rd5+8];
	mul.wide.u32 	%rd3, %r1, 8;
	ld.global.nc.f64 	%fd3, [%rd3];
	mul.wide.u32 	%rd4, %r2, 8;
	ld.global.nc.f64 	%fd4, [%rd4];
	@%p1 bra 	$L__BB0_2;
	ld.global.f64 	%fd9, [%rd5+8];
	@%p2 bra 	$L__BB0_1;
}
.visible .entry straight(.param .u64 a)
{
	ld.global.f64 	%fd1, [%rd2];
}
";

    #[test]
    fn loads_of_the_inner_loop_by_their_steps() {
        let found = loads_in_flight(SPMV);
        let found: Vec<(&str, f64)> = found.iter().map(|(name, loads)| (name.as_str(), *loads)).collect();
        assert_eq!(found, [("rolled", 1.5), ("straight", 1.0), ("unrolled", 3.0)]);
    }
}
