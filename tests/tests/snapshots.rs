//! Cases at every stage, in one snapshot each: what a reader of the compiler looks at first.

use spc_compiler::backend::{cuda, rust};
use spc_compiler::concrete::Target;
use spc_compiler::ir::Size;
use spc_compiler::schedule::{Options, schedule};
use spc_compiler::{Compiled, Program};
use spc_tests::corpus;
use spc_tests::engine::Ready;

/// One of each kind of loop, result and merge.
const SHOWN: &[&str] = &[
    "edges/scalars_only",
    "elementwise/add_csr",
    "elementwise/add_transposed",
    "elementwise/coo_union",
    "elementwise/copy_to_csf",
    "elementwise/divide_same_pattern",
    "elementwise/multiply_dcsr",
    "elementwise/select",
    "elementwise/sparse_into_dense",
    "elementwise/three_terms",
    "formats/dense_between_compressed",
    "formats/fibers_of_coordinates",
    "formats/narrow_widths",
    "masks/masked_product",
    "masks/mask_over_the_sum",
    "products/inner_product",
    "products/mttkrp_coo_mode_3",
    "products/mttkrp_csf",
    "products/sddmm_csr",
    "products/spgemm_gustavson",
    "products/spmm_csr",
    "products/spmv_coo",
    "products/spmv_csc",
    "products/spmv_csr",
    "products/ttm_semi_sparse",
    "products/ttv_csf",
    "reductions/row_sums_sparse",
    "reductions/two_sums",
];

/// Those of which CUDA C is shown that gives the same bits in every run, too.
const DETERMINISTIC: &[&str] = &["products/spmv_coo", "products/spmv_csc"];

/// What the host does, and what it launches, where every run has to give the same bits.
fn deterministic(program: &Program) -> String {
    let text = |compiled: &Compiled| match cuda::module(
        &compiled.kernel,
        None,
        cuda::Options { deterministic: true, ..cuda::Options::default() },
    ) {
        Ok(module) => format!("{}\n{}", cuda::plan_text(&module), cuda::text(&module)),
        Err(refusal) => format!("refused: {}\n", refusal.what),
    };
    program.kernels.iter().map(text).collect::<Vec<_>>().join("\n")
}

fn every_stage_reads_well() {
    let cases = corpus::cases();
    for name in SHOWN {
        let case = cases.iter().find(|case| case.name == *name).unwrap_or_else(|| panic!("there is no case {name}"));
        let Ready { notation, program, .. } = Ready::new(case).unwrap_or_else(|stop| panic!("{name}: {stop:?}"));
        let kernels = || program.kernels.iter();
        let each = |text: &dyn Fn(&Compiled) -> String| kernels().map(text).collect::<Vec<_>>().join("\n");
        let decisions =
            program.chain.decisions.iter().chain(kernels().flat_map(|compiled| &compiled.concrete.decisions));
        let decisions = decisions.filter(|decision| decision.what.is_told());
        let decisions: Vec<String> = decisions.map(|decision| format!("{}: {}", decision.what, decision.why)).collect();
        let options = Options { target: Target::Gpu, ..Options::default() };
        let for_gpu = Ready::scheduled(case, options).unwrap_or_else(|stop| panic!("{name}: {stop:?}")).program;
        let modules: Vec<_> = for_gpu
            .kernels
            .iter()
            .map(|compiled| cuda::module(&compiled.kernel, None, cuda::Options::default()))
            .collect();
        let of_modules = |text: &dyn Fn(&cuda::Module) -> String| {
            let text = |module: &Result<cuda::Module, cuda::Refusal>| match module {
                Ok(module) => text(module),
                Err(refusal) => format!("refused: {}\n", refusal.what),
            };
            modules.iter().map(text).collect::<Vec<_>>().join("\n")
        };
        let stages = [
            ("source", case.text.clone()),
            ("notation", notation.to_string()),
            ("concrete", each(&|compiled| compiled.concrete.to_string())),
            ("decisions", decisions.join("\n")),
            ("lattices", each(&|compiled| compiled.lattices.join("\n"))),
            ("ir", each(&|compiled| compiled.kernel.to_string())),
            ("rust", each(&|compiled| rust::text(&compiled.kernel))),
            ("plan", of_modules(&cuda::plan_text)),
            ("cuda", of_modules(&cuda::text)),
        ];
        let same_bits = DETERMINISTIC.contains(name).then(|| ("cuda, deterministic", deterministic(&for_gpu)));
        let text: Vec<String> = stages
            .iter()
            .chain(&same_bits)
            .map(|(stage, text)| format!("---------- {stage}\n{}\n", text.trim_end()))
            .collect();
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name.replace('/', "_"), text.join("\n"));
        });
    }
}

fn rows_of_a_known_length_are_arrays() {
    let cases = corpus::cases();
    for (name, snapshot) in [("products/mttkrp_csf", "rank_16_mttkrp_csf"), ("maps/mttkrp_alto", "rank_16_mttkrp_alto")]
    {
        let case = cases.iter().find(|case| case.name == name).expect("it is there");
        let notation = Ready::new(case).unwrap_or_else(|stop| panic!("{stop:?}")).notation;
        let mut program = schedule(&notation, Options::default()).expect("it has a schedule");
        for place in program.vector_extents() {
            program.set_size(place, Size::Constant(16));
        }
        let [kernel] = &spc_compiler::compile(program).expect("loops are as asked").kernels[..] else {
            panic!("it is one kernel")
        };
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(snapshot, rust::text(&kernel.kernel));
        });
    }
}

/// The host's code of `--emit cu`, without what all files have.
fn the_code_of_hosts_reads_well() {
    let cases = corpus::cases();
    let options = Options { target: Target::Gpu, ..Options::default() };
    for (name, snapshot) in [("products/spmv_csr", "host_spmv_csr"), ("products/spgemm_gustavson", "host_spgemm")] {
        let case = cases.iter().find(|case| case.name == name).expect("it is there");
        let program = Ready::scheduled(case, options).unwrap_or_else(|stop| panic!("{stop:?}")).program;
        let [compiled] = &program.kernels[..] else { panic!("it is one kernel") };
        let device = cuda::host::device_name(&compiled.kernel.name);
        let module = cuda::module(&compiled.kernel, Some(&device), cuda::Options::default()).expect("devices run it");
        let unit = cuda::host::unit([(compiled.kernel.name.as_str(), &module)]);
        let begin = unit.source.rfind("/*").expect("functions have comments");
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(snapshot, format!("{}\n---------- source\n{}", unit.header, &unit.source[begin..]));
        });
    }
}

spc_tests::tests! {
    the_code_of_hosts_reads_well,
    every_stage_reads_well,
    rows_of_a_known_length_are_arrays,
}
