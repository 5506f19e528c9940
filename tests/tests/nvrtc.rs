//! What is printed for CUDA goes through NVIDIA's run-time compiler, where that is found: it needs no GPU.

use spc::cuda::Nvrtc;
use spc_compiler::Compiled;
use spc_compiler::backend::cuda;
use spc_compiler::concrete::Target;
use spc_compiler::schedule::Options;
use spc_tests::case::Case;
use spc_tests::emulation::standalone;
use spc_tests::engine::Ready;
use spc_tests::harness::{Skip, options};
use spc_tests::{corpus, suite};
use std::process::Command;

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
    // Batches of sums ask for more warps than their registers leave room for.
    ("suite/sddmm-csc-f32", 16),
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

/// Kernels whose host does all that hosts do: it scans, sorts, measures, chooses, launches teams, reads and lengthens; and truth values in C.
const FILES: [&str; 9] = [
    "products/spmv_csr",
    "products/mttkrp_csf",
    "products/spgemm_gustavson",
    "products/ttm_semi_sparse",
    "products/sddmm_csr",
    "scatter/two_products",
    "formats/fcoo_ttm",
    "reductions/row_minima",
    "types/bool_any_all",
];

/// What `spc compile --emit cu` prints, by NVIDIA's compiler of files.
fn files_with_the_host_code_compile() -> Result<(), Skip> {
    let nvcc = std::env::var_os("SPC_NVCC").unwrap_or_else(|| "nvcc".into());
    if Command::new(&nvcc).arg("--version").output().is_err() {
        return Err(Skip("there is no nvcc (SPC_NVCC)".to_owned()));
    }
    let options = Options { target: Target::Gpu, ..Options::default() };
    let cases: Vec<Case> =
        corpus::cases().into_iter().chain(suite::cases()).filter(|case| case.refused.is_none()).collect();
    assert!(FILES.iter().all(|name| cases.iter().any(|case| case.name == *name)));
    let named = cases.iter().filter(|case| FILES.contains(&case.name.as_str()));
    // And some of all others.
    let chosen: Vec<&Case> = named.chain(cases.iter().step_by(cases.len() / 12)).collect();
    let readies: Vec<Ready> = chosen
        .iter()
        .map(|case| Ready::scheduled(case, options).unwrap_or_else(|stop| panic!("{}: {stop:?}", case.name)))
        .collect();
    let kernels: Vec<&Compiled> = readies.iter().flat_map(|ready| &ready.program.kernels).collect();
    let modules = standalone::modules(&kernels);
    let unit = cuda::host::unit(kernels.iter().map(|compiled| compiled.kernel.name.as_str()).zip(&modules));
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("files can be written");
    write("k.cu", &unit.source);
    write("k.h", &unit.header);
    // What the header says is what the file has, in C++ and in C.
    write("both.cu", "#include \"k.h\"\n#include \"k.cu\"\n");
    write("c.c", "#include \"k.h\"\nint main(void) { return 0; }\n");
    for arguments in [["-arch=sm_90", "-O1", "both.cu"], ["-x", "c", "c.c"]] {
        let output = Command::new(&nvcc).args(["-c", "-o", "k.o"]).args(arguments).current_dir(folder.path()).output();
        let output = output.expect("nvcc runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

spc_tests::tests! {
    files_with_the_host_code_compile,
    [whole] every_kernel_compiles_for_an_architecture,
    the_shown_kernels_compile_for_all_architectures,
    [whole] several_elements_of_a_long_row_are_in_registers,
}
