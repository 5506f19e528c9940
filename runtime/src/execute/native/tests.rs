//! Kernels as the Rust backend prints them, compiled and run.

use super::super::testing::*;
use super::*;
use crate::parallel::with_threads;
use crate::tensor::AnyTensor;
use spc_compiler::format::{Format, LevelFormat};
use spc_compiler::ir::Source;
use std::sync::LazyLock;

const SPMV: &str = "
pub fn spmv(d0: usize, _d1: usize, pos: &[u32], crd: &[u32], vals: &[f64], x: &[f64], y: &mut [f64]) {
    let chunks = parallel::Chunks::weighted(0, d0, &|i| pos[i] as usize);
    let y = chunks.owned(y, &|i| i);
    chunks.run(&|chunk| {
        let (low, high) = chunks.range(chunk);
        let mut y = y.take(chunk);
        for i in low..high {
            let mut sum = 0.0;
            for p in pos[i] as usize..pos[i + 1] as usize {
                sum += vals[p] * x[crd[p] as usize];
            }
            y[i] = sum;
        }
    });
}";

/// `y(j) = A(i, j)`: chunks of rows scatter into copies.
const SCATTER: &str = "
pub fn scatter(d0: usize, _d1: usize, pos: &[u32], crd: &[u32], vals: &[f64], y: &mut [f64], total: &mut [f64]) {
    let chunks = parallel::Chunks::weighted_per_thread(0, d0, &|i| pos[i] as usize);
    let copies = chunks.private(y, 0.0);
    let sums = chunks.partial(0.0);
    chunks.run(&|chunk| {
        let (low, high) = chunks.range(chunk);
        let body = |y: &mut [f64]| {
            let mut sum = 0.0;
            for p in pos[low] as usize..pos[high] as usize {
                y[crd[p] as usize] += vals[p];
                sum += vals[p];
            }
            sums.set(chunk, sum);
        };
        copies.with(chunk, body);
    });
    copies.combine(&|into, from| into.iter_mut().zip(from).for_each(|(to, from)| *to += from));
    for sum in sums.into_values() {
        total[0] += sum;
    }
}";

/// `B(i, j) = 2 * A(i, j)`, appended.
const APPEND: &str = "
pub fn append(d0: usize, _d1: usize, pos: &[u32], crd: &[u32], vals: &[f64],
    b_pos: &mut Vec<u32>, b_crd: &mut Vec<u32>, b_vals: &mut Vec<f64>) {
    b_pos.push(0);
    let chunks = parallel::Chunks::weighted(0, d0, &|i| pos[i] as usize);
    let positions = chunks.joined_positions::<u32>();
    let (coordinates, values) = (chunks.joined(b_crd), chunks.joined(b_vals));
    chunks.run(&|chunk| {
        let (low, high) = chunks.range(chunk);
        let (mut b_pos, mut b_crd, mut b_vals) = (positions.take(chunk), coordinates.take(chunk), values.take(chunk));
        for i in low..high {
            for p in pos[i] as usize..pos[i + 1] as usize {
                b_crd.push(crd[p]);
                b_vals.push(2.0 * vals[p]);
            }
            b_pos.push(b_crd.len() as u32);
        }
    });
    positions.join(b_pos, &coordinates.lengths());
    coordinates.join(b_crd);
    values.join(b_vals);
}";

/// A kernel on a matrix in rows.
fn on_rows(name: &str, outputs: &[(&str, Format, &[u32], Source)]) -> Kernel {
    let mut tensors = vec![("A", csr(), &[0, 1][..], Source::Input)];
    tensors.extend_from_slice(outputs);
    declare(name, &[("i", Size::Runtime), ("j", Size::Runtime)], &tensors)
}

/// A matrix with many empty rows and one that is full.
fn skewed(rows: u32, columns: u32) -> AnyTensor {
    let mut entries: Vec<(u32, u32, f64)> =
        (0..rows).filter(|row| row % 3 != 1).map(|row| (row, row * 7 % columns, f64::from(row % 10))).collect();
    entries.extend((0..columns).map(|column| (1, column, 1.0)));
    matrix([rows as usize, columns as usize], &entries, &csr())
}

/// A cache of this test's own, with nothing in it.
fn empty_cache() -> (tempfile::TempDir, Cache) {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::in_folder(Some(folder.path().to_owned()));
    (folder, cache)
}

/// A cache of this test's own, in which the helpers of kernels are: they take longer than a kernel, and are compiled once for all tests.
fn cache() -> (tempfile::TempDir, Cache) {
    static COMPILED: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
        let (folder, cache) = empty_cache();
        NativeKernel::compile_in(&cache, &own(SPMV, "helpers"), &spmv()).unwrap();
        folder
    });
    let (folder, cache) = empty_cache();
    for entry in fs::read_dir(COMPILED.path()).unwrap().map(Result::unwrap) {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| name.starts_with("helpers-")) {
            let home = folder.path().join(name);
            fs::create_dir(&home).unwrap();
            for file in fs::read_dir(entry.path()).unwrap().map(Result::unwrap) {
                fs::copy(file.path(), home.join(file.file_name())).unwrap();
            }
        }
    }
    (folder, cache)
}

/// Another text with the same meaning, so that no other test has compiled it.
fn own(text: &str, test: &str) -> String {
    format!("// {test} {}\n{text}", std::process::id())
}

#[test]
fn owned_rows() {
    let (_folder, cache) = cache();
    let kernel = spmv();
    let native = NativeKernel::compile_in(&cache, SPMV, &kernel).unwrap();
    let (a, x) = (skewed(50_000, 20_000), vector((0..20_000).map(|j| f64::from(j % 5)).collect()));
    let mut expected = vec![0.0; 50_000];
    a.for_each_entry::<f64>(|index, value| expected[index[0]] += value * (index[1] % 5) as f64).unwrap();
    for threads in [1, 3] {
        let mut call = Call::new(&kernel, &[&a, &x]).unwrap();
        with_threads(threads, || native.run(&mut call)).unwrap().unwrap();
        assert_eq!(values(&call.finish().unwrap()[0]), expected);
    }
}

#[test]
fn private_copies_and_a_sum() {
    let (_folder, cache) = cache();
    let outputs = [("y", Format::dense(1), &[1][..], DENSE_OUTPUT), ("total", Format::dense(0), &[], DENSE_OUTPUT)];
    let kernel = on_rows("scatter", &outputs);
    let native = NativeKernel::compile_in(&cache, SCATTER, &kernel).unwrap();
    let a = skewed(100_000, 1_000);
    let mut expected = vec![0.0; 1_000];
    a.for_each_entry::<f64>(|index, value| expected[index[1]] += value).unwrap();
    let mut call = Call::new(&kernel, &[&a]).unwrap();
    // Twice: outputs start from zero again.
    for _ in 0..2 {
        with_threads(3, || native.run(&mut call)).unwrap().unwrap();
    }
    let outputs = call.finish().unwrap();
    assert_eq!(values(&outputs[0]), expected);
    assert_eq!(values(&outputs[1]), [expected.iter().sum::<f64>()]);
}

#[test]
fn appended_rows() {
    let (_folder, cache) = cache();
    let kernel = on_rows("append", &[("B", csr(), &[0, 1], APPENDED)]);
    let native = NativeKernel::compile_in(&cache, APPEND, &kernel).unwrap();
    for a in [skewed(100_000, 30_000), skewed(10, 10), matrix([0, 5], &[], &csr())] {
        let mut call = Call::new(&kernel, &[&a]).unwrap();
        for _ in 0..2 {
            with_threads(3, || native.run(&mut call)).unwrap().unwrap();
        }
        let b = call.finish().unwrap().remove(0);
        let doubled: Vec<f64> = values(&a).iter().map(|value| 2.0 * value).collect();
        assert_eq!(b, a.with_values(doubled.into()).unwrap());
    }
}

#[test]
fn a_kernel_is_compiled_once() {
    let (folder, cache) = cache();
    let kernel = spmv();
    let text = own(SPMV, "a_kernel_is_compiled_once");
    let first = NativeKernel::compile_in(&cache, &text, &kernel).unwrap();
    assert!(!first.from_cache());
    assert!(NativeKernel::compile_in(&cache, &text, &kernel).unwrap().from_cache());
    // As another process would find it.
    loaded().clear();
    let again = NativeKernel::compile_in(&cache, &text, &kernel).unwrap();
    assert!(again.from_cache());
    println!("compiled in {:?}, found in {:?}", first.compile_time(), again.compile_time());
    let damage = |folder: &std::path::Path| {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            for file in fs::read_dir(&entry).into_iter().flatten().map(|file| file.unwrap().path()) {
                // Anew, for what is loaded must not be changed.
                fs::remove_file(&file).unwrap();
                fs::write(&file, "damaged").unwrap();
            }
        }
    };
    damage(folder.path());
    loaded().clear();
    assert!(!NativeKernel::compile_in(&cache, &text, &kernel).unwrap().from_cache());
}

#[test]
fn how_a_kernel_is_compiled_is_part_of_its_key() {
    let (_folder, cache) = cache();
    let output = ("y", Format::dense(1), &[0][..], DENSE_OUTPUT);
    let kernel = declare("twice", &[("i", Size::Runtime)], &[("x", Format::dense(1), &[0][..], Source::Input), output]);
    let text = "pub fn twice(d0: usize, _: &[f64], y: &mut [f64]) { y[0] = f64::from(d0 as u8 * 2) }";
    let text = own(text, "how_a_kernel_is_compiled");
    let compile = |build| NativeKernel::compile_all_in(&cache, &[(&text, &kernel)], build).unwrap().remove(0);
    let run = |native: &NativeKernel| {
        let x = vector(vec![0.0; 200]);
        let mut call = Call::new(&kernel, &[&x]).unwrap();
        native.run(&mut call).map(|_| values(&call.finish().unwrap()[0])[0])
    };
    let (checked, optimized) = (compile(NativeBuild::Checked), compile(NativeBuild::Optimized));
    assert!(!checked.from_cache() && !optimized.from_cache());
    assert!(run(&checked).unwrap_err().to_string().contains("overflow"));
    assert_eq!(run(&optimized).unwrap(), 144.0);
}

/// What has a right checksum, and is no library, or one with other kernels.
#[test]
fn a_library_that_does_not_load_is_compiled_anew() {
    let (folder, cache) = cache();
    let kernel = spmv();
    let text = own(SPMV, "a_library_that_does_not_load");
    let compile = |kernels: &[(&str, &Kernel)]| {
        loaded().clear();
        NativeKernel::compile_all_in(&cache, kernels, NativeBuild::default()).unwrap().remove(0)
    };
    compile(&[(&text, &kernel)]);
    let homes = || -> std::collections::BTreeSet<PathBuf> {
        let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.join("kernel_0.rs").is_file()).collect()
    };
    let single = homes().pop_first().unwrap();
    let both = [(text.as_str(), &kernel), (text.as_str(), &kernel)];
    compile(&both);
    let two = homes().into_iter().find(|home| *home != single).unwrap();
    let name = |home: &std::path::Path| {
        let files = fs::read_dir(home).unwrap().map(|file| file.unwrap().path());
        files.into_iter().find(|file| file.to_str().unwrap().contains("spc_kernel.")).unwrap()
    };
    let replace = |home: &std::path::Path, bytes: &[u8]| {
        fs::write(home.join("checksum"), Fnv128::of(bytes).to_string()).unwrap();
        fs::write(name(home), bytes).unwrap();
    };
    replace(&two, &fs::read(name(&single)).unwrap());
    assert!(!compile(&both).from_cache(), "it lacks a kernel");
    assert!(compile(&both).from_cache());
    replace(&single, b"no library at all");
    assert!(!compile(&[(&text, &kernel)]).from_cache());
    assert!(compile(&[(&text, &kernel)]).from_cache());
    let said = crate::execute::cache_warnings().into_iter().map(|warning| warning.to_string());
    let said = said.filter(|said| said.starts_with(folder.path().to_str().unwrap())).collect::<Vec<_>>();
    assert!(said.len() == 2 && said[0].ends_with("can't be loaded: it was made anew"), "{said:?}");
}

#[test]
fn many_libraries_are_told_apart() {
    let (_folder, cache) = cache();
    let output = ("y", Format::dense(1), &[0][..], DENSE_OUTPUT);
    let kernel = declare("fill", &[("i", Size::Runtime)], &[("x", Format::dense(1), &[0][..], Source::Input), output]);
    let compile = |number: usize| {
        let text = format!("pub fn fill(d0: usize, _: &[f64], y: &mut [f64]) {{ y.fill((d0 + {number}) as f64) }}");
        NativeKernel::compile_in(&cache, &text, &kernel).unwrap()
    };
    let natives: Vec<NativeKernel> = (0..5).map(compile).collect();
    for (number, native) in natives.iter().enumerate() {
        let x = vector(vec![0.0; 3]);
        let mut call = Call::new(&kernel, &[&x]).unwrap();
        native.run(&mut call).unwrap();
        assert_eq!(values(&call.finish().unwrap()[0]), [(3 + number) as f64; 3]);
    }
}

#[test]
fn kernels_may_be_called_as_keywords() {
    let (_folder, cache) = cache();
    let mut kernel = spmv();
    for (name, function) in [("gen", "r#gen"), ("match", "r#match"), ("super", "super_"), ("Some", "Some")] {
        kernel.name = name.to_owned();
        NativeKernel::compile_in(&cache, &SPMV.replace("fn spmv", &format!("fn {function}")), &kernel).unwrap();
    }
}

#[test]
fn without_a_cache_kernels_are_compiled_all_the_same() {
    let kernel = spmv();
    let text = own(SPMV, "without_a_cache");
    let native = NativeKernel::compile_in(&Cache::in_folder(None), &text, &kernel).unwrap();
    let mut call = Call::new(&kernel, &[&skewed(10, 10), &vector(vec![1.0; 10])]).unwrap();
    assert!(native.run(&mut call).is_ok());
}

#[test]
fn a_panic_is_an_error() {
    let (_folder, cache) = cache();
    let kernel = spmv();
    let text = own(&SPMV.replace("y[i] = sum", "y[i + 1_000_000] = sum"), "a_panic_is_an_error");
    let native = NativeKernel::compile_in(&cache, &text, &kernel).unwrap();
    for rows in [10, 50_000] {
        let a = skewed(rows, 100);
        let mut call = Call::new(&kernel, &[&a, &vector(vec![1.0; 100])]).unwrap();
        for _ in 0..2 {
            let error = with_threads(3, || native.run(&mut call)).unwrap().unwrap_err().to_string();
            assert!(error.starts_with("kernel `spmv` stopped: panicked at "), "{error}");
            assert!(error.contains("index out of bounds"), "{error}");
        }
    }
}

#[test]
fn text_that_does_not_compile_is_an_error() {
    let (_folder, cache) = cache();
    for text in ["pub fn spmv() {}", "pub fn other"] {
        let error = NativeKernel::compile_in(&cache, text, &spmv()).unwrap_err();
        assert!(matches!(&error, NativeError::Compile { output, .. } if output.contains("error")), "{error}");
        assert!(!error.is_missing_compiler());
    }
}

/// Each beside a kernel that compiles: it is for the unsafe code that it is refused.
#[test]
fn text_that_is_not_safe_is_refused() {
    let (_folder, cache) = cache();
    NativeKernel::compile_in(&cache, SPMV, &spmv()).unwrap();
    for (text, reason) in [
        ("fn f() { unsafe { std::hint::unreachable_unchecked() } }", "usage of an `unsafe` block"),
        ("#[allow(unsafe_code)] fn f() { unsafe {} }", "incompatible with previous forbid"),
        ("std::arch::global_asm!(\"\");", "usage of `core::arch::global_asm`"),
        ("#[unsafe(no_mangle)] pub fn f() {}", "declaration of a `no_mangle` function"),
        ("} mod outside { fn f() { unsafe {} }", "unexpected closing delimiter"),
    ] {
        let error = NativeKernel::compile_in(&cache, &format!("{SPMV}\n{text}"), &spmv()).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    let mut named = spmv();
    named.name = "spmv(); std::hint::unreachable_unchecked".to_owned();
    assert!(matches!(NativeKernel::compile_in(&cache, SPMV, &named), Err(NativeError::Name { .. })));
}

#[test]
fn constants_are_not_handed_over_and_generics_are_refused() {
    let (_folder, cache) = cache();
    let output = ("y", Format::dense(1), &[0][..], DENSE_OUTPUT);
    let tensors = [("x", Format::of_levels([LevelFormat::COMPRESSED]), &[1][..], Source::Input), output];
    let kernel = declare("fill", &[("r", Size::Constant(8)), ("i", Size::Runtime)], &tensors);
    let text = "pub fn fill(d1: usize, _: &[u32], _: &[u32], _: &[f64], y: &mut [f64]) { y.fill(d1 as f64) }";
    let native = NativeKernel::compile_in(&cache, text, &kernel).unwrap();
    let x = vector(vec![0.0; 5]).convert(&tensors[0].1).unwrap();
    let mut call = Call::new(&kernel, &[&x]).unwrap();
    native.run(&mut call).unwrap();
    assert_eq!(values(&call.finish().unwrap()[0]), [5.0; 8]);

    let generic = declare("fill", &[("r", Size::Generic), ("i", Size::Runtime)], &tensors);
    let error = NativeKernel::compile_in(&cache, text, &generic).unwrap_err().to_string();
    assert!(error.contains("generic in the extent of `r`"), "{error}");
}

#[test]
fn a_call_of_another_kernel_is_refused() {
    let (_folder, cache) = cache();
    let native = NativeKernel::compile_in(&cache, SPMV, &spmv()).unwrap();
    let kernel = on_rows("append", &[("B", csr(), &[0, 1], APPENDED)]);
    let a = skewed(10, 10);
    let error = native.run(&mut Call::new(&kernel, &[&a]).unwrap()).unwrap_err().to_string();
    assert_eq!(error, "this is a call of `append`, not of `spmv` with the same declarations");
}

/// What kernels compute with is what the host computes with, to the last bit.
#[test]
fn complex_numbers_are_those_of_the_host() {
    macro_rules! agree {
        ($part:ident, $host:ident) => {{
            let parts: [$part; 11] =
                [0.0, -0.0, 1.0, -2.5, 0.1, 1e30, -1e-30, $part::MAX, $part::INFINITY, $part::NEG_INFINITY, $part::NAN];
            let same = |a: complex::Complex<$part>, b: crate::complex::$host, what: &str| {
                let is_same =
                    |ours: $part, hosts: $part| ours.to_bits() == hosts.to_bits() || ours.is_nan() && hosts.is_nan();
                assert!(is_same(a.re, b.re) && is_same(a.im, b.im), "{what}: {a:?}, not {b:?}");
            };
            for (re, im) in parts.into_iter().flat_map(|re| parts.map(|im| (re, im))) {
                let (a, b) = (complex::$host::new(re, im), crate::complex::$host::new(re, im));
                same(a.conj(), b.conj(), "conj");
                same(-a, -b, "-");
                assert!(a.norm() == b.norm() || a.norm().is_nan());
                for (re, im) in parts.into_iter().flat_map(|re| parts.map(|im| (re, im))) {
                    let (c, d) = (complex::$host::new(re, im), crate::complex::$host::new(re, im));
                    same(a + c, b + d, "+");
                    same(a - c, b - d, "-");
                    same(a * c, b * d, &format!("{b} * {d}"));
                    let (mut sum, mut product) = ((a, b), (a, b));
                    (sum.0 += c, sum.1 += d);
                    same(sum.0, sum.1, "+=");
                    (product.0 *= c, product.1 *= d);
                    same(product.0, product.1, "*=");
                    assert_eq!(a == c, b == d);
                }
            }
        }};
    }
    agree!(f32, c32);
    agree!(f64, c64);
}

/// The helpers that loops spend their time in.
const LOOPS: &str = "
pub fn spmv(d0: usize, d1: usize, pos: &[u32], crd: &[u32], vals: &[f64], x: &[f64], y: &mut [f64]) {
    parallel::run(vals).times(parallel::at(x, crd)).sums_between(pos, y);
    let mut set = parallel::Bitmap::new(d1);
    let directory = parallel::Directory::new(pos, crd, d1, crd.len());
    for i in 1..d0 {
        let (above, here) = (pos[i - 1] as usize..pos[i] as usize, pos[i] as usize..pos[i + 1] as usize);
        for (p, q) in parallel::intersection(crd, above.clone(), crd, here.clone()) {
            parallel::add_product(&mut y[i], vals[p], vals[q]);
        }
        for (p, _) in parallel::intersection_in((&directory, i), crd, above, crd, here.clone()) {
            set.mark(crd[p] as usize);
        }
        for j in set.drain() {
            y[i] += x[j];
        }
        y[i] += parallel::run(&vals[here.clone()]).times(parallel::at(x, &crd[here])).sum();
    }
}";

/// Compilers that share generic code call it where it was compiled before, in the library of the helpers: what the standard library has
/// for iterating is then a call in each step, unless it says that it is to be inlined.
#[test]
fn loops_call_nothing_that_iterates() {
    let (text, kernel) = (own(LOOPS, "loops_call_nothing"), spmv());
    for level in level::LEVELS {
        let (folder, cache) = empty_cache();
        let build = NativeBuild::Level(level);
        NativeKernel::compile_all_in(&cache, &[(&text, &kernel)], build).unwrap();
        let folders: Vec<PathBuf> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_dir())
            .collect();
        let find = |name: &str| folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file()).unwrap();
        let helpers = find("libspc_helpers.rlib");
        let assembly = folder.path().join("kernel.s");
        let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut command = std::process::Command::new(compiler);
        command.env("RUSTC_BOOTSTRAP", "1").args(build.flags()).args(build.tuning());
        command.args(["--crate-type=cdylib", "--crate-name=spc_kernel", "--emit=asm", "--extern"]);
        command.arg(format!("spc_helpers={}", helpers.display())).arg("-o").arg(&assembly).arg(find("library.rs"));
        assert!(command.status().unwrap().success());
        let text = fs::read_to_string(assembly).unwrap();
        // Addresses of functions of other crates come from a table, at the call or before a loop.
        let words = ["call", "jmp", "bl ", "b "];
        let is_call = |line: &&str| {
            words.iter().any(|word| line.trim_start().starts_with(word)) || line.to_lowercase().contains("got")
        };
        let calls: Vec<&str> = text.lines().filter(is_call).collect();
        let iterates =
            |line: &&&str| ["4core5array", "4core4iter", "5slice4iter"].iter().any(|part| line.contains(part));
        let found: Vec<_> = calls.iter().filter(iterates).collect();
        assert!(calls.len() > 10 && found.is_empty(), "{}: {found:#?}", level.name);
    }
}
