//! What is printed for CUDA goes through NVIDIA's run-time compiler, where that is found: it needs no GPU.

use spc::cuda::Nvrtc;
use spc_compiler::Compiled;
use spc_compiler::backend::cuda;
use spc_compiler::concrete::Target;
use spc_compiler::schedule::Options;
use spc_tests::case::Case;
use spc_tests::engine::Ready;
use spc_tests::harness::{Skip, options};
use spc_tests::{corpus, suite};

/// From Turing to Blackwell.
const ARCHITECTURES: [&str; 4] = ["sm_75", "sm_80", "sm_90", "sm_100"];

/// The text of each kernel of a case that can be made for a device; where it has to give the same bits in every run, too, if that
/// differs.
fn texts(case: &Case) -> Vec<String> {
    let options = Options { target: Target::Gpu, ..Options::default() };
    texts_of(&Ready::scheduled(case, options).unwrap_or_else(|stop| panic!("{}: {stop:?}", case.name)))
}

fn texts_of(ready: &Ready) -> Vec<String> {
    let of_kernel = |compiled: &Compiled| {
        let text = |deterministic| {
            let module =
                cuda::module(&compiled.kernel, None, cuda::Options { deterministic, ..cuda::Options::default() });
            // What assigns what is there already launches nothing.
            module.ok().filter(|module| !module.functions.is_empty()).map(|module| cuda::text(&module))
        };
        let (first, second) = (text(false), text(true));
        let is_same = first == second;
        [first, second.filter(|_| !is_same)]
    };
    ready.program.kernels.iter().flat_map(of_kernel).flatten().collect()
}

/// What is wrong with a text for an architecture: it does not compile, or registers are spilled.
fn fault(nvrtc: &Nvrtc, text: &str, architecture: &str, allowed: u32) -> Option<String> {
    match nvrtc.compile(text, "case.cu", architecture) {
        Err(error) => Some(error.to_string()),
        Ok(compiled) => {
            assert!(!compiled.cubin.is_empty() && compiled.ptx.contains(".entry") && !compiled.usage.is_empty());
            let spilled = compiled.usage.iter().filter(|usage| usage.spill_stores > allowed);
            let spilled: Vec<String> = spilled.map(|usage| format!("{usage:?}")).collect();
            (!spilled.is_empty()).then(|| format!("{architecture} spills: {}", spilled.join(", ")))
        }
    }
}

/// Kernels that spill registers all the same, on some architecture, and how many bytes of a thread at most: each is something to
/// improve in the generated code.
const SPILLS: &[(&str, u32)] = &[
    ("levels/hicoo_mttkrp", 40),
    ("suite/ttm-4-j-csf-dense", 80),
    ("suite/ttm-5-j-csf-dense", 80),
    ("suite/ttm-5-k-csf-dense", 64),
    ("suite/ttm-5-l-csf-dense", 80),
    ("scatter/least_at_computed_indices", 32),
    ("scatter/two_products", 320),
];

fn allowed_spill(case: &Case) -> u32 {
    SPILLS.iter().find(|(name, _)| *name == case.name).map_or(0, |(_, bytes)| *bytes)
}

/// The architectures to compile a case for: one, always the same whatever other cases there are; all of them with
/// `--architectures`, which takes four times as long.
fn architectures(case: &Case) -> &'static [&'static str] {
    if options().architectures {
        return &ARCHITECTURES;
    }
    let sum: usize = case.name.bytes().map(usize::from).sum();
    std::slice::from_ref(&ARCHITECTURES[sum % ARCHITECTURES.len()])
}

fn every_kernel_compiles_for_an_architecture() -> Result<(), Skip> {
    let nvrtc = spc_tests::nvrtc()?;
    let mut cases = corpus::cases();
    cases.extend(suite::cases());
    cases.retain(|case| case.refused.is_none());
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in &cases {
        for text in texts(case) {
            count += 1;
            let fault = |architecture: &&str| fault(&nvrtc, &text, architecture, allowed_spill(case));
            let faults = architectures(case).iter().filter_map(fault);
            wrong.extend(faults.map(|fault| format!("{}: {fault}", case.name)));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} kernels:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 600, "only {count} kernels were compiled");
    Ok(())
}

fn the_shown_kernels_compile_for_all_architectures() -> Result<(), Skip> {
    let nvrtc = spc_tests::nvrtc()?;
    let shown = ["products/mttkrp_csf", "products/spmv_csr", "products/spmv_csc", "products/ttm_semi_sparse"];
    for case in corpus::cases().iter().filter(|case| shown.contains(&case.name.as_str())) {
        for text in texts(case) {
            for architecture in ARCHITECTURES {
                assert_eq!(fault(&nvrtc, &text, architecture, 0), None, "{}", case.name);
            }
        }
    }
    Ok(())
}

fn several_elements_of_a_long_row_are_in_registers() -> Result<(), Skip> {
    let nvrtc = spc_tests::nvrtc()?;
    let options = Options { target: Target::Gpu, ..Options::default() };
    for (number, (text, extent)) in corpus::LONG_ROWS.into_iter().enumerate() {
        let case = Case::parse("long_rows", text).expect("it is a case");
        let ready = Ready::fixed(&case, options, &[("r", extent)]).unwrap_or_else(|stop| panic!("{text}: {stop:?}"));
        for text in texts_of(&ready) {
            let fault = fault(&nvrtc, &text, ARCHITECTURES[number % ARCHITECTURES.len()], 0);
            assert_eq!(fault, None, "{text}");
        }
        // The same where only the call knows how long rows are.
        let ready = Ready::scheduled(&case, options).unwrap_or_else(|stop| panic!("{text}: {stop:?}"));
        for text in texts_of(&ready) {
            let has_strips = |name: &str| {
                let mut functions = text.split("extern \"C\"");
                functions.any(|function| function.contains(&format!(" {name}(")) && function.contains("strip++"))
            };
            for architecture in ARCHITECTURES {
                let compiled = nvrtc.compile(&text, "case.cu", architecture).unwrap_or_else(|error| panic!("{error}"));
                let mut strips = compiled.usage.iter().filter(|usage| has_strips(&usage.function)).peekable();
                assert!(strips.peek().is_some(), "{text}");
                assert!(strips.all(|usage| usage.stack == 0), "{architecture}: {:?}\n{text}", compiled.usage);
            }
        }
    }
    Ok(())
}

spc_tests::tests! {
    [whole] every_kernel_compiles_for_an_architecture,
    the_shown_kernels_compile_for_all_architectures,
    [whole] several_elements_of_a_long_row_are_in_registers,
}
