//! Three hundred names that mean something to Rust, to C++ or CUDA, to what is printed around them, or to compilers that compare
//! names: each as an index, a tensor, a temporary, a kernel or a format. All of them natively, and as CUDA C.

use spc_compiler::backend::{cuda, rust};
use spc_compiler::concrete::Target;
use spc_compiler::schedule::Options;
use spc_compiler::syntax;
use spc_tests::case::Case;
use spc_tests::emulation;
use spc_tests::engine::{Ready, Stop};
use spc_tests::harness::Skip;
use spc_tests::native;

const RUST: &str = "as async await break const continue crate dyn else enum extern final gen if impl in loop macro match mod move \
    mut override priv ref return self Self static struct super trait try type typeof unsafe unsized use virtual while yield \
    abstract become box do union raw safe macro_rules auto default \
    Some None Ok Err Vec Box Option Result String Default Clone Copy Drop Fn From Into Iterator usize isize u8 u16 u32 u64 \
    u128 i32 i64 f32 f64 c32 c64 bool char str drop core std alloc main test derive";

const CUDA: &str = "int asm template class namespace new delete this operator register signed unsigned short long float double void \
    volatile typename typedef typeid switch case goto sizeof alignas alignof constexpr decltype export friend inline mutable \
    noexcept nullptr private protected public thread_local throw using wchar_t char8_t and or not xor bitand compl co_await \
    concept requires __global__ __device__ __shared__ __syncthreads __ldg _Bool _x __x threadIdx blockIdx blockDim gridDim \
    warpSize NULL INFINITY NAN EOF atomicAdd atomicCAS atomicMax fma fmaf isnan isinf printf malloc free memcpy memset \
    assert clock dim3 float2 int2 linux unix stdin errno size_t uint32_t log2f rsqrt signbit";

const OWN: &str = "low high t t_1 t_2 chunks chunk pos crd vals parallel run run_all body combine into value length part parts total \
    lane lanes mates offset workers shared_words thread threads slot slots first first_row end_row inner place places keys row \
    rows n p q x_vals x_row i_extent j_extent A_pos A2_crd A_vals y_parts t_parts t_bitmap t_keys t_places stored owned \
    touched search_u32 search_u32_by_2 atomic_add_f64 meet_add_f64 meet_team insert_key_u32 count_key_u32 sort_by_u32 \
    mask_of_2 gather_bits scatter_bits f64_of_i32 abs_f64 kernel kernel_0 kernel_1 spc spc_kernel_0 library host abi \
    complex i i_1 i_1_1 i_2 i_2_2 j_1 j_1_1 A A_1 A_ A__2 T T_2 v v_ vv";

/// Equal to compilers that compare in composed form, other scripts, other cases, what some call letters.
const LETTERS: &str = "\u{e9} e\u{301} K \u{212a} \u{c5} \u{212b} A\u{30a} \u{3a9} \u{2126} \u{ac00} \u{1100}\u{1161} größe \
    GRÖSSE ß λ Λ д Д 漢 あ ا ن ก अ ß_ ǆ ǅ ſ ı İ ﬁ name Name NAME nAME";

fn names() -> Vec<String> {
    let long = ["l".repeat(4000), format!("{}x", "l".repeat(4000)), "é".repeat(4000)];
    let all = [RUST, CUDA, OWN, LETTERS].into_iter().flat_map(str::split_whitespace).map(str::to_owned).chain(long);
    // Those that are one name in composed form are one.
    let all = all.map(|name| syntax::normalized(&name));
    let mut names: Vec<String> = Vec::new();
    for name in all {
        let is_a_name = syntax::parse_statement(&format!("{name}({name}_x) = {name}_y({name}_x)")).is_ok();
        if is_a_name && syntax::functions().all(|function| function != name) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

mod through_the_macro {
    use spc::tensor::{AnyTensor, Coordinates, Csr, Dense, Duplicates, Indices, Tensor, pack};
    use spc_compiler::format::{Format, LevelFormat};

    spc::tensor_kernel! {
        /// Bindings can't be called so, nor functions.
        pub fn gen(Some: csr, None: dense, None_: dense) -> Ok: dense {
            Ok(Box) = Some(Box, usize) * None(usize) + Some(Box, usize) * None_(usize);
        }
        fn safe(union: csr, raw: dense) -> Err: dense { Err(chunks_1) = union(chunks_1, chunks) * raw(chunks); }
    }

    fn packed(shape: &[usize], indices: &[&[u64]], values: &[f64], format: &Format) -> AnyTensor {
        let coordinates = Coordinates {
            shape: shape.to_vec(),
            shape_is_stated: true,
            indices: indices.iter().map(|of_mode| Indices::U64(of_mode.to_vec())).collect(),
            values: values.to_vec(),
        };
        pack(coordinates, format, Duplicates::Refuse).expect("entries are distinct")
    }

    pub(super) fn names_of_the_prelude_and_keywords() {
        let rows = Format::of_levels([LevelFormat::DENSE, LevelFormat::COMPRESSED]);
        let a = packed(&[2, 2], &[&[0, 1, 1], &[0, 0, 1]], &[1.0, 2.0, 3.0], &rows);
        let x = packed(&[2], &[&[0, 1]], &[10.0, 100.0], &Format::dense(1));
        let a: Tensor<f64, Csr> = Tensor::try_from(a).expect("it is in rows");
        let x: Tensor<f64, Dense<1>> = Tensor::try_from(x).expect("it is dense");
        assert_eq!(r#gen(&a, &x, &x).expect("it runs").into_any().values_of::<f64>(), Some(&[20.0, 640.0][..]));
        assert_eq!(safe(&a, &x).expect("it runs").into_any().values_of::<f64>(), Some(&[10.0, 320.0][..]));
    }
}

/// A kernel with ten names.
fn case(number: usize, names: &[String]) -> Case {
    let [i, j, k, a, b, x, c, t, kernel, format] = names else { panic!("ten names") };
    // Temporaries, merges, reductions, rows with workspaces, results that are appended, scattered, scalar.
    let body = match number % 4 {
        0 => format!(
            "fn {kernel}({a}: {format}, {b}: csr, {x}: dense) -> {c}: dense {{
                 let {t}({i}, {j}) = {a}({i}, {j}) + {b}({i}, {j}); {c}({i}, {k}) = {t}({i}, {j}) * {x}({j}, {k}); }}"
        ),
        1 => format!(
            "fn {kernel}({a}: {format}, {b}: csr, {x}: dense) -> {c}: csr {{
                 let {t}({j}) = {x}({j}, {k}); {c}({i}, {j}) = {a}({i}, {k}) * {b}({k}, {j}) * {t}({j}); }}"
        ),
        2 => format!(
            "fn {kernel}({a}: {format}, {b}: coo, {x}: dense) -> {c}: dense {{
                 let {t} = {x}({i}, {k}); {c}({j}) = {a}({i}, {j}) * {b}({i}, {j}) * {t}; }}"
        ),
        _ => format!(
            "fn {kernel}({a}: {format}, {b}: csc, {x}: dense) -> {c}: csr {{
                 let {t}({i}, {j}) = {a}({i}, {j}) * {b}({i}, {j}); {c}({i}, {j}) = {t}({i}, {j}) + {a}({i}, {j}) * {x}({j}, {k}); }}"
        ),
    };
    Case {
        name: format!(
            "{number} ({})",
            names.iter().map(|name| name.chars().take(20).collect()).collect::<Vec<String>>().join(" ")
        ),
        text: format!("format {format} = [dense, compressed];\n{body}\n"),
        dims: vec![(i.clone(), 4), (j.clone(), 4), (k.clone(), 4)],
        seed: 1,
        ..Case::default()
    }
}

/// Every name as an index, in a third of the other parts, and beside its neighbours.
fn cases() -> Vec<Case> {
    let names = names();
    assert!(names.len() > 300, "{} of the names are names in the language", names.len());
    let cyclic = |begin: usize| -> Vec<String> { names.iter().cycle().skip(begin).take(10).cloned().collect() };
    (0..names.len().div_ceil(3)).map(|number| case(number, &cyclic(3 * number))).collect()
}

/// Cases that are compiled, and how many the language refuses.
fn ready(target: Target) -> Vec<(Case, Ready)> {
    let options = Options { target, ..Options::default() };
    let mut refused = Vec::new();
    let mut all = Vec::new();
    for case in cases() {
        match Ready::scheduled(&case, options) {
            Ok(ready) => all.push((case, ready)),
            Err(Stop::Refused { message, .. } | Stop::Data(message)) => {
                refused.push(format!("{}: {message}", case.name))
            }
        }
    }
    assert!(refused.is_empty(), "{} are refused:\n{}", refused.len(), refused.join("\n"));
    all
}

fn all_names_run_natively() -> Result<(), Skip> {
    let all = ready(Target::Cpu);
    let kernels: Vec<&Ready> = all.iter().map(|(_, ready)| ready).collect();
    let chains = native::compile(&kernels)?;
    for ((case, ready), chain) in all.iter().zip(&chains) {
        ready.run(chain).unwrap_or_else(|error| panic!("{}: {error}\n{}", case.name, texts(ready)));
    }
    Ok(())
}

fn texts(ready: &Ready) -> String {
    ready.program.kernels.iter().map(|compiled| rust::text(&compiled.kernel)).collect()
}

fn all_names_run_on_an_emulated_device() -> Result<(), Skip> {
    let all = ready(Target::Gpu);
    let modules = |(number, (case, ready)): (usize, &(Case, Ready))| {
        emulation::modules(&ready.program, number, cuda::Options::default())
            .unwrap_or_else(|refusal| panic!("{}: {}", case.name, refusal.what))
    };
    let emulated: Vec<_> = all.iter().enumerate().map(modules).collect();
    assert!(emulated.iter().flat_map(|emulated| emulated.texts()).all(|text| is_ascii_but_for_comments(&text)));
    let device = emulation::compile(&emulated.iter().collect::<Vec<_>>())?;
    for ((case, ready), emulated) in all.iter().zip(&emulated) {
        let chain = emulation::chain(&ready.program, emulated, &device);
        ready.run(&chain).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    }
    Ok(())
}

/// Comments have the user's words as they are.
fn is_ascii_but_for_comments(text: &str) -> bool {
    let mut rest = text;
    while let Some(begin) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        let end = if rest[begin..].starts_with("//") { "\n" } else { "*/" };
        if !rest[..begin].is_ascii() {
            return false;
        }
        rest = rest[begin..].split_once(end).map_or("", |(_, rest)| rest);
    }
    rest.is_ascii()
}

/// With the names of kernels too, which the emulation replaces.
fn all_names_compile_for_a_device() -> Result<(), Skip> {
    let nvrtc = spc_tests::nvrtc()?;
    for (case, ready) in ready(Target::Gpu) {
        for compiled in &ready.program.kernels {
            let module = cuda::module(&compiled.kernel, None, cuda::Options::default()).expect("a device can do it");
            let text = cuda::text(&module);
            assert!(is_ascii_but_for_comments(&text));
            nvrtc.compile(&text, "names.cu", "sm_80").unwrap_or_else(|error| panic!("{}: {error}\n{text}", case.name));
        }
    }
    Ok(())
}

use through_the_macro::names_of_the_prelude_and_keywords;

spc_tests::tests! {
    names_of_the_prelude_and_keywords,
    all_names_run_natively,
    [whole] all_names_run_on_an_emulated_device,
    all_names_compile_for_a_device,
}
