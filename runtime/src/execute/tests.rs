//! Calls: what is refused, and what comes back.

use super::testing::*;
use super::*;
use crate::tensor::{ALIGNMENT, AnyTensor, Buffer, IndexArray};
use spc_compiler::format::{Format, IndexWidth, LevelFormat};
use spc_compiler::ir::{self, Initial, Kernel, Size, Source, Structure, TensorId, Verified};
use spc_compiler::schedule;

fn a() -> AnyTensor {
    matrix([3, 4], &[(0, 1, 2.0), (0, 3, 3.0), (2, 0, 4.0)], &csr())
}

/// The message of a refused call.
fn refused(kernel: &Kernel, inputs: &[&AnyTensor], stated: &[(&str, usize)]) -> String {
    Call::with_dimensions(kernel, inputs, stated).unwrap_err().to_string()
}

#[test]
fn a_call_hands_out_arrays_and_takes_outputs_back() {
    let kernel = spmv();
    let x = vector(vec![1.0; 4]);
    let mut call = Call::new(&kernel, &[&a(), &x]).unwrap();
    assert_eq!(call.dimensions(), [3, 4]);
    assert_eq!(call.input_index::<u32>(0)[..], [0, 2, 2, 3]);
    assert_eq!(call.input_index::<u32>(1)[..], [1, 3, 0]);
    assert_eq!(call.input_values::<f64>(2)[..], [2.0, 3.0, 4.0]);
    let mut y = call.take_values::<f64>(4);
    assert_eq!(y[..], [0.0; 3]);
    y[1] = 7.0;
    call.put_values(4, y);
    let outputs = call.finish().unwrap();
    assert_eq!(outputs.len(), 1);
    assert_eq!((outputs[0].shape(), values(&outputs[0])), (&[3][..], vec![0.0, 7.0, 0.0]));
}

#[test]
fn inputs_are_shared_and_not_copied() {
    let (kernel, a, x) = (spmv(), a(), vector(vec![1.0; 4]));
    let call = Call::new(&kernel, &[&a, &x]).unwrap();
    assert_eq!(call.input_values::<f64>(2).as_ptr(), a.values_of::<f64>().unwrap().as_ptr());
}

#[test]
fn inputs_that_do_not_fit_are_refused() {
    let kernel = spmv();
    let (a, x) = (a(), vector(vec![1.0; 4]));
    assert_eq!(refused(&kernel, &[&a], &[]), "`spmv` takes 2 tensors (`A`, `x`), but gets 1");
    assert_eq!(
        refused(&kernel, &[&a, &single_precision(vec![1.0; 4])], &[]),
        "`x` is declared with elements of type f64, but the input's are f32"
    );
    assert_eq!(refused(&kernel, &[&x, &x], &[]), "`A` is declared with 2 modes, but the input has 1");
    assert_eq!(
        refused(&kernel, &[&a.convert(&Format::coo(2)).unwrap(), &x], &[]),
        "`A` is declared as [dense, compressed], but the input is stored as [compressed(nonunique), singleton]; \
         convert it with `conform`, or declare that format"
    );
    assert_eq!(
        refused(&kernel, &[&a, &vector(vec![1.0; 5])], &[]),
        "index `j` has extent 4 by mode 2 of `A`, but 5 by mode 1 of `x`"
    );
}

#[test]
fn conform_converts_what_is_stored_otherwise() {
    let (kernel, x) = (spmv(), vector(vec![1.0; 4]));
    let inputs = conform(&kernel, &[&a().convert(&Format::coo(2)).unwrap(), &x]).unwrap();
    assert_eq!(inputs[0], a());
    assert!(Call::new(&kernel, &inputs.iter().collect::<Vec<_>>()).is_ok());
    assert!(conform(&kernel, &[&x]).is_err());
}

#[test]
fn extents_come_from_inputs_constants_and_the_caller() {
    let output = ("Y", Format::dense(2), &[0, 1][..], DENSE_OUTPUT);
    let tensors = [("x", Format::dense(1), &[0][..], Source::Input), output];
    let kernel = declare("outer", &[("i", Size::Runtime), ("r", Size::Runtime)], &tensors);
    let x = vector(vec![1.0; 3]);
    let finished = Call::with_dimensions(&kernel, &[&x], &[("r", 2), ("i", 3)]).unwrap().finish().unwrap();
    assert_eq!(finished[0].shape(), [3, 2]);
    assert_eq!(
        refused(&kernel, &[&x], &[]),
        "no input says the extent of index `r`; state it (`--dim r=16` on the command line, a result of that extent for `…_into`)"
    );
    assert_eq!(
        refused(&kernel, &[&x], &[("r", 2), ("i", 4)]),
        "index `i` has extent 3 by mode 1 of `x`, but 4 as stated"
    );
    assert_eq!(
        refused(&kernel, &[&x], &[("q", 2)]),
        "an extent is stated for `q`, but the indices of `outer` are `i`, `r`"
    );
    assert_eq!(
        refused(&kernel, &[&x], &[("r", usize::MAX)]),
        "`Y` would have more than 2^64 values or positions; declare it with a format that stores entries only"
    );
    assert!(refused(&kernel, &[&x], &[("r", usize::MAX / 16)]).starts_with("`Y`: there is not enough memory"));
    let constant = declare("outer", &[("i", Size::Constant(16)), ("r", Size::Constant(2))], &tensors);
    assert_eq!(
        refused(&constant, &[&x], &[]),
        "index `i` has extent 16 in the kernel, which is for that extent alone, but 3 by mode 1 of `x`"
    );
    assert!(Call::new(&constant, &[&vector(vec![0.0; 16])]).is_ok());
}

#[test]
fn a_repeated_index_needs_equal_extents() {
    let a_input = ("A", csr(), &[0, 0][..], Source::Input);
    let kernel = declare("diagonal", &[("i", Size::Runtime)], &[a_input, ("y", Format::dense(1), &[0], DENSE_OUTPUT)]);
    assert!(refused(&kernel, &[&a()], &[]).contains("mode 1 of `A`"));
}

/// `Y(i, r) = A(i, j) * x(r)` at the rows of `A`, a copy of `A` by columns beside it.
fn shared_and_copied() -> Kernel {
    let csc = Format::permuted(&[1, 0], &[LevelFormat::DENSE, LevelFormat::COMPRESSED]);
    let structure = Structure::Shared { operand: TensorId(0), levels: 2 };
    let output = Source::Output { structure, initial: Initial::Overwritten };
    let semisparse = Format::of_levels([LevelFormat::DENSE, LevelFormat::COMPRESSED, LevelFormat::DENSE]);
    declare(
        "ttm",
        &[("i", Size::Runtime), ("j", Size::Runtime), ("r", Size::Runtime)],
        &[
            ("A", csr(), &[0, 1], Source::Input),
            ("x", Format::dense(1), &[2], Source::Input),
            ("Y", semisparse, &[0, 1, 2], output),
            ("A_by_j", csc, &[0, 1], Source::SortedCopy { of: TensorId(0) }),
        ],
    )
}

#[test]
fn an_output_shares_the_index_arrays_of_its_operand() {
    let (kernel, a) = (shared_and_copied(), a());
    let mut call = Call::new(&kernel, &[&a, &vector(vec![1.0, 2.0])]).unwrap();
    assert_eq!(call.input_index::<u32>(5)[..], [0, 1, 2, 2, 3]);
    assert_eq!(call.input_values::<f64>(7)[..], [4.0, 2.0, 3.0]);
    let mut values = call.take_values::<f64>(4);
    assert_eq!(values.len(), 6);
    values.copy_from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    call.put_values(4, values);
    let y = call.finish().unwrap().remove(0);
    assert_eq!(y.shape(), [3, 4, 2]);
    assert_eq!(y.entries::<f64>().unwrap()[3], (vec![0, 3, 1], 4.0));
    assert!(y.coordinates(1).unwrap().as_bytes().as_ptr() == a.coordinates(1).unwrap().as_bytes().as_ptr());
}

#[test]
fn reuse_writes_into_the_memory_of_a_tensor_that_serves() {
    let kernel = spmv();
    let (a, x) = (a(), vector(vec![1.0; 4]));
    let mut old = vector(vec![9.0; 3]);
    let address = old.values_of::<f64>().unwrap().as_ptr();
    let mut call = Call::new(&kernel, &[&a, &x]).unwrap();
    call.reuse(0, &mut old).unwrap();
    let y = call.finish().unwrap().remove(0);
    assert_eq!((values(&y), y.values_of::<f64>().unwrap().as_ptr()), (vec![0.0; 3], address));

    let refused =
        |mut tensor: AnyTensor| Call::new(&kernel, &[&a, &x]).unwrap().reuse(0, &mut tensor).unwrap_err().to_string();
    assert_eq!(refused(vector(vec![0.0; 4])), "`y` can't be written to: its shape is [4], but the result's is [3]");
    assert_eq!(refused(single_precision(vec![0.0; 3])), "`y` can't be written to: its elements are f32, not f64");
    let sparse = vector(vec![0.0; 3]).convert(&Format::csf(1)).unwrap();
    assert_eq!(refused(sparse), "`y` can't be written to: it is stored as [compressed], not as [dense]");
    assert!(Call::new(&kernel, &[&a, &x]).unwrap().reuse(1, &mut vector(vec![])).is_err());
}

#[test]
fn reuse_needs_the_structure_of_the_result() {
    let (kernel, a, x) = (shared_and_copied(), a(), vector(vec![1.0, 2.0]));
    let first = Call::new(&kernel, &[&a, &x]).unwrap().finish().unwrap().remove(0);
    let mut call = Call::new(&kernel, &[&a, &x]).unwrap();
    assert!(call.reuse(0, &mut first.clone()).is_ok());
    let other = matrix([3, 4], &[(0, 1, 2.0), (0, 2, 3.0), (2, 0, 4.0)], &csr());
    let mut call = Call::new(&kernel, &[&other, &x]).unwrap();
    let message = call.reuse(0, &mut first.clone()).unwrap_err().to_string();
    assert_eq!(message, "`Y` can't be written to: its entries are at other places than the result's");
}

/// A copy of a matrix in rows whose columns and positions have these widths.
fn copy(coordinates: IndexWidth, positions: IndexWidth) -> Kernel {
    let output = ("B", csr_of(coordinates, positions), &[0, 1][..], APPENDED);
    let dimensions = [("i", Size::Runtime), ("j", Size::Runtime)];
    declare("copy", &dimensions, &[("A", csr(), &[0, 1], Source::Input), output])
}

#[test]
fn appended_arrays_become_a_tensor() {
    let (kernel, a) = (copy(IndexWidth::U8, IndexWidth::U64), a());
    let mut call = Call::new(&kernel, &[&a]).unwrap();
    let mut positions = call.take_appended::<u64>(3);
    let mut coordinates = call.take_appended::<u8>(4);
    let mut values = call.take_appended::<f64>(5);
    positions.extend([0, 2, 2, 3]);
    coordinates.extend([1, 3, 0]);
    values.extend([2.0, 3.0, 4.0]);
    call.put_appended(3, positions);
    call.put_appended(4, coordinates);
    call.put_appended(5, values);
    let b = call.finish().unwrap().remove(0);
    assert_eq!(b.convert(&csr()).unwrap(), a);
}

#[test]
fn widths_that_are_too_narrow_are_refused_with_a_remedy() {
    let wide = matrix([1, 300], &[(0, 299, 1.0)], &csr());
    assert_eq!(
        refused(&copy(IndexWidth::U8, IndexWidth::U32), &[&wide], &[]),
        "mode 2 of `B` has extent 300, more than its u8 coordinates at level 2 can tell apart; \
         declare that level with wider ones, such as `(u16)`"
    );
    let kernel = copy(IndexWidth::U16, IndexWidth::U8);
    let mut call = Call::new(&kernel, &[&wide]).unwrap();
    call.put_appended(3, vec![0u8, 255]);
    call.put_appended(4, (0..300).collect::<Vec<u16>>());
    call.put_appended(5, vec![1.0; 300]);
    assert_eq!(
        call.finish().unwrap_err().to_string(),
        "level 2 of `B` has 300 positions, more than its u8 position array can count; declare that level with `(pos = u16)`"
    );
}

#[test]
fn arrays_that_are_not_a_tensor_are_reported() {
    let (kernel, a) = (copy(IndexWidth::U32, IndexWidth::U32), a());
    for (positions, coordinates, values) in
        [(vec![], vec![], vec![]), (vec![0u32, 1, 1, 2], vec![1u32], vec![2.0]), (vec![0, 0, 0, 1], vec![2], vec![])]
    {
        let mut call = Call::new(&kernel, &[&a]).unwrap();
        call.put_appended(3, positions);
        call.put_appended(4, coordinates);
        call.put_appended(5, values);
        assert!(matches!(call.finish(), Err(Error::Output { tensor, .. }) if tensor == "B"));
    }
}

#[test]
#[should_panic(expected = "array 4 (`y_vals`) of kernel `spmv` does not hold f32")]
fn taking_an_array_of_another_type_panics() {
    let kernel = spmv();
    Call::new(&kernel, &[&a(), &vector(vec![1.0; 4])]).unwrap().take_values::<f32>(4);
}

#[test]
fn a_u8_array_holds_indices_or_values() {
    let kernel = copy(IndexWidth::U8, IndexWidth::U8);
    let mut call = Call::new(&kernel, &[&a()]).unwrap();
    call.put_appended(4, vec![1u8]);
    let array = call.take_appended::<u8>(4);
    assert_eq!(array, [1]);
    let same: Buffer<u8> = array.into();
    assert_eq!(IndexArray::from(same).width(), IndexWidth::U8);
}

/// `B = 2 * A` in rows, on the arrays of `A`.
const DOUBLE: &str = "kernel double {
  dimension d0 i runtime
  dimension d1 j runtime
  tensor t0 A f64 [dense, compressed] (d0, d1) input
  tensor t1 B f64 [dense, compressed] (d0, d1) output shared t0 2 zero
  array a0 A2_pos index(u32) positions t0 1
  array a1 A2_crd index(u32) coordinates t0 1
  array a2 A_vals f64 values t0
  array a3 B_vals f64 values t1
  variable v0 p index
  body { for v0 in 0..length(a3) { a3[v0] += 2.0f64 * a2[v0] } }
}";

/// The same, appended.
const APPENDED_DOUBLE: &str = "kernel double {
  dimension d0 i runtime
  dimension d1 j runtime
  tensor t0 A f64 [dense, compressed] (d0, d1) input
  tensor t1 B f64 [dense, compressed] (d0, d1) output appended empty
  array a0 A2_pos index(u32) positions t0 1
  array a1 A2_crd index(u32) coordinates t0 1
  array a2 A_vals f64 values t0
  array a3 B2_pos index(u32) positions t1 1
  array a4 B2_crd index(u32) coordinates t1 1
  array a5 B_vals f64 values t1
  variable v0 i index
  variable v1 p index
  body {
    push a3, 0
    for v0 in 0..d0 {
      for v1 in a0[v0]..a0[v0 + 1] { push a4, a1[v1] push a5, 2.0f64 * a2[v1] }
      push a3, length(a4)
    }
  }
}";

fn verified(text: &str) -> Verified<Kernel> {
    let kernel = ir::parse(text, spc_compiler::level::named).unwrap_or_else(|error| panic!("{error}"));
    ir::verify(kernel).unwrap_or_else(|violations| panic!("{violations:?}"))
}

#[test]
fn the_interpreter_runs_calls() {
    for text in [DOUBLE, APPENDED_DOUBLE] {
        let executable = Executable::new(verified(text), None, Backend::Interpreter).unwrap();
        assert_eq!((executable.backend().name(), executable.native().is_none()), ("interpreter", true));
        let a = a();
        let mut call = Call::new(executable.kernel(), &[&a]).unwrap();
        // Twice: outputs are made new.
        for _ in 0..2 {
            executable.run(&mut call).unwrap();
        }
        let b = call.finish().unwrap().remove(0);
        assert_eq!(b, a.with_values(vec![4.0, 6.0, 8.0].into()).unwrap());
    }
}

#[test]
fn the_interpreter_writes_into_reused_memory() {
    let executable = Executable::new(verified(DOUBLE), None, Backend::Interpreter).unwrap();
    let a = a();
    let mut old = a.with_values(vec![9.0, 9.0, 9.0].into()).unwrap();
    let address = old.values_of::<f64>().unwrap().as_ptr();
    let mut call = Call::new(executable.kernel(), &[&a]).unwrap();
    call.reuse(0, &mut old).unwrap();
    executable.run(&mut call).unwrap();
    let b = call.finish().unwrap().remove(0);
    assert_eq!((values(&b), b.values_of::<f64>().unwrap().as_ptr()), (vec![4.0, 6.0, 8.0], address));
}

#[test]
fn memory_that_grew_is_reused() {
    let (kernel, a) = (copy(IndexWidth::U32, IndexWidth::U32), a());
    let old = a.clone().convert(&csr()).unwrap();
    let mut call = Call::new(&kernel, &[&a]).unwrap();
    // Shared with `a`: that stays as it is.
    call.reuse(0, &mut { old }).unwrap();
    assert_eq!(call.take_appended::<f64>(5).capacity(), 0);
    let own = matrix([3, 4], &[(0, 1, 2.0), (0, 3, 3.0), (2, 0, 4.0)], &csr());
    let address = own.values_of::<f64>().unwrap().as_ptr();
    call.reuse(0, &mut { own }).unwrap();
    let values = call.take_appended::<f64>(5);
    // What was aligned within its memory begins behind it.
    let offset = address.addr().wrapping_sub(values.as_ptr().addr());
    assert!(offset < ALIGNMENT && values.is_empty() && values.capacity() >= 3);
    assert_eq!(a.nnz(), 3);
}

#[test]
fn native_code_and_the_interpreter_agree() {
    let text = "pub fn double(_: usize, _: usize, _: &[u32], _: &[u32], a: &[f64], b: &mut [f64]) {
        b.iter_mut().zip(a).for_each(|(b, a)| *b += 2.0 * a);
    }";
    let (native, reason) = Executable::native_if_possible(verified(DOUBLE), text).unwrap();
    assert!(reason.is_none());
    assert_eq!(native.backend(), Backend::Native);
    let interpreter = Executable::new(verified(DOUBLE), Some(text), Backend::Interpreter).unwrap();
    let outputs = [native, interpreter].map(|executable| {
        let a = a();
        let mut call = Call::new(executable.kernel(), &[&a]).unwrap();
        executable.run(&mut call).unwrap();
        call.finish().unwrap()
    });
    assert_eq!(outputs[0], outputs[1]);
}

#[test]
fn executables_refuse_what_they_can_not_run() {
    let message = Executable::new(verified(DOUBLE), None, Backend::Native).unwrap_err().to_string();
    assert_eq!(message, "`double` can't run natively without its Rust text; run it in the interpreter");
    let executable = Executable::new(verified(DOUBLE), None, Backend::Interpreter).unwrap();
    let (other, a) = (verified(APPENDED_DOUBLE), a());
    let error = executable.run(&mut Call::new(&other, &[&a]).unwrap()).unwrap_err();
    assert!(matches!(error, Error::WrongCall { .. }));
    let beyond =
        Executable::new(verified(&DOUBLE.replace("a2[v0]", "a2[v0 + 1]")), None, Backend::Interpreter).unwrap();
    let message = beyond.run(&mut Call::new(beyond.kernel(), &[&a]).unwrap()).unwrap_err().to_string();
    assert!(message.starts_with("kernel `double` does what it must not, at body/"), "{message}");
}

/// `Y(i, j) = X(i, j) + Z(i, j)`, all of them csr.
fn sum(schedule: &str) -> spc_compiler::notation::Kernel {
    let text = format!("fn sum(X: csr, Z: csr) -> Y: csr {{ Y(i, j) = X(i, j) + Z(i, j); }} {schedule}");
    let program = spc_compiler::syntax::parse_program(&text).unwrap();
    spc_compiler::notation::check(&program).unwrap().remove(0)
}

#[test]
fn a_program_walks_inputs_of_one_pattern_once() {
    let x = matrix([3, 4], &[(0, 1, 2.0), (0, 3, 3.0), (2, 0, 4.0)], &csr());
    let same = matrix([3, 4], &[(0, 1, 10.0), (0, 3, 20.0), (2, 0, 30.0)], &csr());
    let other = matrix([3, 4], &[(0, 1, 10.0), (0, 2, 20.0), (2, 0, 30.0)], &csr());
    let options = ProgramOptions { backend: Some(Backend::Interpreter), ..ProgramOptions::default() };
    let program = |z: &AnyTensor| {
        let inputs = [("X", &x), ("Z", z)].map(|(name, tensor)| (name.to_owned(), Operand::Tensor(tensor.clone())));
        Program::new(&sum(""), inputs.into(), &[], &options).unwrap()
    };
    let result = |program: &Program| program.run(1).unwrap().outputs.remove(0).1;
    let (together, apart) = (program(&same), program(&other));
    let is_shared = |program: &Program| program.compiled().kernels[0].kernel.tensors[1].pattern.is_some();
    assert_eq!((is_shared(&together), is_shared(&apart)), (true, false));
    assert_eq!(values(&result(&together)), [12.0, 23.0, 34.0]);
    assert_eq!(values(&result(&apart)), [12.0, 20.0, 3.0, 34.0]);
    // One copy of the index arrays is left.
    let crd: Vec<_> =
        together.inputs().map(|(_, input)| input.coordinates(1).unwrap().as_u32().unwrap().as_ptr()).collect();
    assert_eq!(crd[0], crd[1]);
}

#[test]
fn inputs_must_have_the_pattern_that_is_said() {
    let concrete = schedule::schedule(&sum("schedule { same_pattern(X, Z); }"), schedule::Options::default()).unwrap();
    let compiled = spc_compiler::compile(concrete).unwrap();
    let chain = Chain::new(&compiled, Backend::Interpreter).unwrap();
    let x = matrix([3, 4], &[(0, 1, 2.0), (0, 3, 3.0), (2, 0, 4.0)], &csr());
    let other = matrix([3, 4], &[(0, 1, 10.0), (0, 2, 20.0), (2, 0, 30.0)], &csr());
    let message = chain.run(&[&x, &other], &[], 1).unwrap_err().to_string();
    let expected =
        "`Z` has entries at other places than `X`, but the schedule says `same_pattern(X, Z)`; leave that out";
    assert_eq!(message, expected);
    let sum = chain.run(&[&x, &x], &[], 1).unwrap().outputs.remove(0).1;
    assert_eq!(values(&sum), [4.0, 6.0, 8.0]);
}

#[test]
fn a_kernel_changes_when_its_native_code_is_there() {
    // No other process has compiled it.
    let factor = f64::from(std::process::id());
    let kernel = |term: &str| {
        let text = format!("fn f(x: dense) -> s: f64 {{ s = sum(i)({factor:.1} * {term}); }}");
        crate::execute::Kernel::builder(text).background().compile().unwrap()
    };
    let changing = kernel("x(i)");
    let sum = || {
        let mut sum = 0.0;
        changing.call_into(&[&[1.0, 2.0]], &mut sum).unwrap();
        sum
    };
    assert_eq!(sum(), 3.0 * factor);
    changing.settle();
    assert_eq!((changing.tier(), changing.backend()), (Tier::Rustc, Backend::Native));
    assert_eq!(changing.tier_reason(), "there is a Rust compiler");
    assert_eq!(sum(), 3.0 * factor);
    // What is there is taken at once, and a compiler that is at work is ended with the kernel.
    assert_eq!(kernel("x(i)").tier(), Tier::Cached);
    drop(kernel("x(i) * x(i)"));
}

#[test]
fn one_compiler_is_at_work_at_a_time_in_order() {
    let factor = f64::from(std::process::id());
    let kernel = |number: usize| {
        let text = format!("fn f(x: dense) -> s: f64 {{ s = sum(i)({factor:.1} * x(i) + {number}); }}");
        crate::execute::Kernel::builder(text).background().compile().unwrap()
    };
    let mut kernels: Vec<_> = (1..6).map(kernel).collect();
    // A kernel that is dropped is left out, whether its turn has come or not.
    drop(kernels.remove(0));
    drop(kernels.remove(2));
    kernels[2].settle();
    assert_eq!(kernels.iter().map(|kernel| kernel.tier()).collect::<Vec<_>>(), [Tier::Rustc; 3]);
}
