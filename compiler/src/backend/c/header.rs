//! What those who call a function must know: its parameters, the header, and what stands around both files.

use super::reserved::spelled;
use crate::backend::legible;
use crate::ir::{ArrayElement, ArrayRole, Initial, Kernel, Literal, Size, Source, Structure, Verified};

/// How a kernel uses an array that it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It reads it.
    Read,
    /// It writes elements of it.
    Write,
    /// It appends to it.
    Append,
}

/// An array that a function is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// What it holds.
    pub element: ArrayElement,
    /// How it is used: a pointer and a length, or a vector.
    pub access: Access,
}

/// How many extents a function is given, and its arrays, in order.
pub fn parameters(kernel: &Verified<Kernel>) -> (usize, Vec<Parameter>) {
    let extents = kernel.dimensions.iter().filter(|dimension| !matches!(dimension.size, Size::Constant(_))).count();
    let arrays = kernel.parameters();
    let arrays = arrays.map(|(_, array)| Parameter { element: array.element, access: access(kernel, array.role) });
    (extents, arrays.collect())
}

/// How a kernel uses a parameter of this role.
pub(in crate::backend) fn access(kernel: &Kernel, role: ArrayRole) -> Access {
    let tensor = role.tensor().expect("parameters belong to tensors");
    match kernel.tensor(tensor).source {
        Source::Input | Source::SortedCopy { .. } | Source::Permutation { .. } => Access::Read,
        Source::Output { structure: Structure::Appended, .. } => Access::Append,
        Source::Output { .. } => Access::Write,
    }
}

/// What a kernel does, and what each of its parameters holds; `free` gives back what it appends to.
pub(in crate::backend) fn comment(kernel: &Kernel, free: &str) -> String {
    let mut lines: Vec<String> = kernel.documentation.iter().map(|line| line.trim().to_owned()).collect();
    for dimension in &kernel.dimensions {
        match dimension.size {
            Size::Constant(size) => lines.push(format!("The extent of `{}` is {size}.", dimension.written)),
            _ => lines.push(format!(
                "{}: the extent of `{}`",
                spelled(&format!("{}_extent", dimension.name)),
                dimension.written
            )),
        }
    }
    for (_, array) in kernel.parameters() {
        let name = spelled(&array.name);
        lines.push(format!("{name}: {}", holds(kernel, &name, array.role, free)));
    }
    let lines = lines.iter().map(|line| {
        // A comment must not end inside of itself.
        let line = line.replace("*/", "* /").replace("/*", "/ *").replace('\\', "/");
        format!(" * {line}").trim_end().to_owned() + "\n"
    });
    format!("/*\n{} */\n", lines.collect::<String>())
}

fn holds(kernel: &Kernel, array: &str, role: ArrayRole, free: &str) -> String {
    let tensor = role.tensor().expect("parameters belong to tensors");
    let declared = kernel.tensor(tensor);
    let name = &declared.name;
    let what = match role {
        ArrayRole::Positions { level, .. } => {
            format!(
                "where the children of each position begin and end, one more than there are: level {level} of `{name}`"
            )
        }
        ArrayRole::Coordinates { level, .. } if declared.is_order_of_entries(level) => {
            "the positions of the entries, in order".to_owned()
        }
        ArrayRole::Coordinates { level, .. } => format!("the coordinates of level {level} of `{name}`"),
        _ => format!("the values of `{name}`, one for each position of its last level"),
    };
    match declared.source {
        Source::Input => what,
        Source::SortedCopy { of } => {
            format!("{what}: the entries of `{}` stored as {}", kernel.tensor(of).name, declared.format)
        }
        Source::Permutation { of } => {
            format!("{what}: the entries of `{}` in the order of {}", kernel.tensor(of).name, declared.format)
        }
        Source::Output { structure: Structure::Appended, .. } => {
            format!(
                "{what}; empty before the call: {{0}}. What is in it afterwards is the caller's: {free}({array}->data)"
            )
        }
        Source::Output { initial: Initial::Filled(fill), .. } => {
            format!("{what}; each must be {} before the call", number(fill))
        }
        Source::Output { .. } => format!("{what}; every one is written"),
    }
}

fn number(literal: Literal) -> String {
    match literal {
        Literal::Float(_, value) if value.fract() == 0.0 && value.abs() < 1e15 => format!("{value:.0}"),
        Literal::Float(_, value) => format!("{value:?}"),
        Literal::Integer(_, value) => value.to_string(),
    }
}

/// An array that grows, in source files and headers of C and of CUDA C++: elements in memory of `malloc`, or of a device.
pub(in crate::backend) const VECTOR: &str = "#ifndef SPC_VECTOR
#define SPC_VECTOR
/* An array that a kernel appends to. */
typedef struct {
    void *data;
    size_t length;
    size_t capacity;
} spc_vector;
#endif
";

/// The source file and the header.
pub(super) fn files(declarations: &str, helpers: &str, code: &str) -> (String, String) {
    let all = [declarations, helpers, code];
    let has = |word: &str| all.iter().any(|text| text.contains(word));
    let complex = if has("complex") { "#include <complex.h>\n#undef I\n" } else { "" };
    let vector = if has("spc_vector") { VECTOR } else { "" };
    let header = format!(
        "#pragma once
{complex}#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
#define restrict
extern \"C\" {{
#endif

{vector}{declarations}
#if defined(__cplusplus)
#undef restrict
}}
#endif
"
    );
    let vectors = "#ifdef __BMI2__\n#include <immintrin.h>\n#endif\n";
    let vectors = if has("_pext_u64") { vectors } else { "" };
    let source = format!(
        "/* C11 with OpenMP. Compile it so: cc -std=gnu11 -O3 -march=native -fopenmp -c, and link it with -lm. */
{complex}#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
{vectors}#ifdef _OPENMP
#include <omp.h>
#endif

{vector}
{helpers}{code}"
    );
    (legible(source), legible(header))
}
