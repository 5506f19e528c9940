//! The corpus through `tensor_kernel!`: what users of the macro get, all in the one run of rustc that compiles this file, which
//! takes minutes: so this is in the whole.

#![allow(non_snake_case)]
// Some cases are of indices that are warned of.
#![allow(deprecated)]

use spc::complex::{c32, c64};
use spc::execute::{Vectors, most_vectors};
use spc::half::{bf16, f16};
use spc::tensor::{AnyTensor, Element, Scalar, StorageFormat, Tensor};
use spc_tests::case::Case;
use spc_tests::engine::Ready;
use spc_tests::harness::Skip;
use spc_tests::report::check_all;
use spc_tests::{corpus, harness, ledger};
use std::process::ExitCode;

/// The results as they come, or why there are none.
type Outcome = Result<Vec<AnyTensor>, String>;

/// What a kernel takes, from a tensor of any type.
trait FromAny {
    fn from_any(any: &AnyTensor) -> Self;
}

impl<T: Element, F: StorageFormat> FromAny for Tensor<T, F> {
    fn from_any(any: &AnyTensor) -> Self {
        Tensor::try_from(any.clone()).expect("the case's formats are the macro's")
    }
}

macro_rules! scalars {
    ($($type:ident)*) => {$(
        impl FromAny for $type {
            fn from_any(any: &AnyTensor) -> Self {
                any.values_of::<$type>().expect("the case's types are the macro's")[0]
            }
        }

        impl IntoAny for $type {
            fn into_any(self) -> AnyTensor {
                Tensor::<$type, Scalar>::from(self).into_any()
            }
        }
    )*};
}
scalars!(f64 f32 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool c32 c64);

/// What a kernel gives, as a tensor of any type.
trait IntoAny {
    fn into_any(self) -> AnyTensor;
}

impl<T: Element, F: StorageFormat> IntoAny for Tensor<T, F> {
    fn into_any(self) -> AnyTensor {
        Tensor::into_any(self)
    }
}

/// What a function gives, one result or several.
trait IntoResults {
    fn into_results(self) -> Vec<AnyTensor>;
}

impl<A: IntoAny> IntoResults for A {
    fn into_results(self) -> Vec<AnyTensor> {
        vec![self.into_any()]
    }
}

macro_rules! results {
    ($(($($result:ident)*))*) => {$(
        impl<$($result: IntoAny),*> IntoResults for ($($result),*) {
            fn into_results(self) -> Vec<AnyTensor> {
                let ($($result),*) = self;
                vec![$($result.into_any()),*]
            }
        }
    )*};
}
results!((A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H));

/// Each case: its module, its file, the digest for the ledger, its parameters, and the call.
macro_rules! cases {
    ($($module:ident $file:tt $digest:literal [$($parameter:ident),*] $call:expr;)*) => {
        $(mod $module {
            use super::{FromAny, IntoResults, Outcome};
            use spc::tensor::AnyTensor;

            spc::tensor_kernel!(file = $file);

            pub(super) fn run(inputs: &[AnyTensor]) -> Outcome {
                let mut inputs = inputs.iter();
                $(let $parameter = FromAny::from_any(inputs.next().expect("an input for each parameter"));)*
                $call.map(IntoResults::into_results).map_err(|error| error.to_string())
            }
        })*

        /// The name of each case, its digest and its function.
        const CASES: &[(&str, u64, Run)] = &[$(($file, $digest, $module::run)),*];
    };
}

type Run = fn(&[AnyTensor]) -> Outcome;

// Made by the build script of `cases/`: those that the ledger does not have, and a sample of those that it has.
include!(concat!(env!("OUT_DIR"), "/macro_cases.rs"));

fn check(case: &Case) -> Result<(), String> {
    let file = format!("cases/{}.ti", case.name);
    let &(_, digest, run) = CASES.iter().find(|(name, ..)| *name == file).expect("cases are those of the list");
    let ready = Ready::new(case).unwrap_or_else(|stop| panic!("{}: {stop:?}", case.name));
    run(&ready.tensors).and_then(|results| ready.check(&results)).map_err(|error| {
        match SAMPLE.contains(&file.as_str()) {
            true => format!(
                "{error}\nThe ledger says that this was verified. tests/verified.txt: macro {} {digest:016x}",
                case.name
            ),
            false => error,
        }
    })?;
    ledger::note("macro", &case.name, digest);
    Ok(())
}

fn cases() -> impl Iterator<Item = Case> {
    let is_here = |case: &Case| CASES.iter().any(|(file, ..)| *file == format!("cases/{}.ti", case.name));
    corpus::cases().into_iter().filter(is_here)
}

/// For the whole process, which then has those of the processor again.
fn all_are_right_with(most: Vectors) {
    most_vectors(most);
    let all: Vec<Case> = cases().collect();
    check_all(&all, |case| &case.name, check);
    most_vectors(Vectors::Widest);
}

fn main() -> ExitCode {
    harness::main(env!("CARGO_TARGET_TMPDIR"), |suite| {
        suite.test("macro::the_ledger_has_the_others", || -> Result<(), Skip> { Err(Skip(CHOICE.to_owned())) });
        suite.alone("macro::all_are_right_without_wide_vectors", || all_are_right_with(Vectors::Narrow));
        suite.alone("macro::all_are_right_without_the_widest_vectors", || all_are_right_with(Vectors::Wide));
        for case in cases() {
            suite.test(format!("macro::{}", case.name), move || check(&case));
        }
    })
}
