use super::*;
use crate::execute::{Backend, Executable};
use crate::tensor::{AnyTensor, LevelArrays, Values};
use spc_compiler::format::Format;
use spc_compiler::ir;

fn executable(arrays: &str, body: &str) -> Executable {
    let text = format!(
        "kernel tested {{
          dimension d0 i runtime
          tensor t0 x i32 [dense] (d0) input
          tensor t1 y i32 [dense] (d0) output dense zero
          array a0 x_vals i32 values t0
          array a1 y_vals i32 values t1
          {arrays}
          variable v0 i index
          body {{ {body} }}
        }}"
    );
    let kernel = ir::verify(ir::parse(&text, spc_compiler::level::named).unwrap()).unwrap();
    Executable::jit(kernel).unwrap()
}

fn run(arrays: &str, body: &str, x: Vec<i32>) -> Result<Values, Error> {
    let executable = executable(arrays, body);
    assert_eq!(executable.backend(), Backend::Jit);
    let x = AnyTensor::from_parts(vec![x.len()], Format::dense(1), vec![LevelArrays::NONE], x.into()).unwrap();
    let mut call = Call::new(executable.kernel(), &[&x])?;
    executable.run(&mut call)?;
    Ok(call.finish()?[0].values().clone())
}

#[test]
fn whole_numbers_wrap_around() {
    let negated = run("", "for v0 in 0..d0 { a1[v0] = a0[v0] / -1i32 }", vec![i32::MIN, 7]).unwrap();
    assert_eq!(negated, Values::from(vec![i32::MIN, -7]));
    let doubled = run("", "for v0 in 0..d0 { a1[v0] = a0[v0] * 2i32 }", vec![i32::MAX, 7]).unwrap();
    assert_eq!(doubled, Values::from(vec![-2, 14]));
}

#[test]
fn a_division_by_zero_is_an_error() {
    for operator in ["/", "%"] {
        let error = run("", &format!("for v0 in 0..d0 {{ a1[v0] = 1i32 {operator} a0[v0] }}"), vec![1, 0]).unwrap_err();
        assert!(matches!(error, Error::DivisionByZero { .. }), "{error}");
    }
}

#[test]
fn an_index_that_is_out_of_bounds_stops_the_kernel() {
    for body in ["for v0 in 0..d0 { a1[v0 + 1] = a0[v0] }", "for v0 in 0..d0 { a1[v0] = a0[v0 + 1] }"] {
        let message = run("", body, vec![1, 2, 3]).unwrap_err().to_string();
        assert!(message.contains("has length 3, index 3 is out of bounds"), "{message}");
    }
    let view = "view a2 of a0 from 1 length d0 for v0 in 0..d0 { a1[v0] = a2[v0] }";
    let message = run("array a2 row i32 local", view, vec![1, 2, 3]).unwrap_err().to_string();
    assert!(message.contains("x_vals is viewed from 1 for 3 elements"), "{message}");
}

#[test]
fn what_there_is_no_memory_for_is_told() {
    let body = "allocate a2[d0 * 4611686018427387904] = 0i32 a1[0] = a2[0]";
    let error = run("array a2 large i32 local", body, vec![1, 2, 3]).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("memory"), "{message}");
}

#[test]
fn code_is_made_in_milliseconds() {
    let executable = executable("", "for v0 in 0..d0 { a1[v0] = a0[v0] }");
    let kernel = executable.kernel().clone();
    let kernel = ir::verify(kernel).unwrap();
    let least = (0..5).map(|_| JitKernel::compile(&kernel).unwrap().compile_time()).min().unwrap();
    // Of a build without optimisation, on a machine that does other things.
    assert!(least < Duration::from_millis(250), "{least:?}");
}
