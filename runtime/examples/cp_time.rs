//! How long iterations of CP-ALS take: `cargo run --release -p spc-tensor --features decompose --example cp_time -- X.tns --rank 16`.

use spc::decompose::{AlsOptions, CpMethod, CpOptions, NonnegativeOptions, cp};
use std::error::Error;
use std::ops::ControlFlow;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1)
    };
    let path = arguments.first().ok_or("a tensor file is missing")?;
    let x = spc::io::read(path)?;
    let mut options = CpOptions::new(value("--rank").map_or(Ok(16), |text| text.parse())?);
    options.iterations = value("--iterations").map_or(Ok(20), |text| text.parse())?;
    options.tolerance = 0.0;
    options.memory = value("--memory").map(|text| text.parse()).transpose()?;
    let method = match value("--method").map(String::as_str) {
        Some("nonnegative") => CpMethod::Nonnegative(NonnegativeOptions::default()),
        Some("max") => CpMethod::Als(AlsOptions { normalise_by_max: true, ..AlsOptions::default() }),
        _ => CpMethod::Als(AlsOptions::default()),
    };
    let fitted = cp(&x, &method, &options, &mut |_| ControlFlow::Continue(()))?;
    let mut times: Vec<_> = fitted.iterations.iter().map(|one| (one.time, one.kernel_time)).collect();
    times.sort();
    let milliseconds = |place: usize| times.get(place).map_or(f64::NAN, |(time, _)| time.as_secs_f64() * 1e3);
    let (least, median) = (milliseconds(0), milliseconds(times.len() / 2));
    let seconds = |of: &dyn Fn(&(Duration, Duration)) -> Duration| times.iter().map(of).sum::<Duration>().as_secs_f64();
    let share = 100.0 * seconds(&|(_, kernels)| *kernels) / seconds(&|(time, _)| *time);
    let fit = fitted.fit().unwrap_or(f64::NAN);
    let prepare = fitted.prepare_time.as_secs_f64() * 1e3;
    fitted.notes.iter().for_each(|note| println!("{note}"));
    println!(
        "{path}: fit {fit:.6}, {median:.3} ms an iteration (least {least:.3}), {share:.0}% in kernels, prepared in {prepare:.0} ms"
    );
    Ok(())
}
