//! What C takes as a name: what C++ and CUDA take, so that one text may stand in a header of either, and what C has besides.

use crate::backend::namer::{Namer, Target};
use crate::backend::words::{BUILT_IN, KEYWORDS};

/// What the headers define, or generated code uses.
const OWN: &[&str] = &[
    "CMPLX", "CMPLXF", "I", "cabs", "cabsf", "cexp", "cexpf", "cimag", "cimagf", "complex", "conj", "conjf", "creal",
    "crealf", "csqrt", "csqrtf", "inline", "qsort", "abort",
];

/// What the standard library and the system's have under short names: a function of a kernel must not take their place.
const FUNCTIONS: &[&str] = &[
    "abort",
    "accept",
    "access",
    "advance",
    "alarm",
    "atexit",
    "atof",
    "atoi",
    "atol",
    "bind",
    "brk",
    "bsearch",
    "chdir",
    "chmod",
    "chown",
    "close",
    "connect",
    "creat",
    "daemon",
    "div",
    "drand48",
    "dup",
    "dup2",
    "exit",
    "fclose",
    "fflush",
    "fgets",
    "fopen",
    "fork",
    "fputs",
    "fread",
    "fseek",
    "ftell",
    "fwrite",
    "gamma",
    "getc",
    "getenv",
    "getpid",
    "gets",
    "index",
    "ioctl",
    "isalpha",
    "isatty",
    "isdigit",
    "j0",
    "j1",
    "jn",
    "kill",
    "ldiv",
    "link",
    "listen",
    "lrand48",
    "lseek",
    "main",
    "mkdir",
    "mmap",
    "nice",
    "open",
    "pause",
    "perror",
    "pipe",
    "poll",
    "putc",
    "puts",
    "qsort",
    "raise",
    "rand",
    "random",
    "read",
    "recv",
    "remove",
    "rename",
    "rewind",
    "rindex",
    "rmdir",
    "sbrk",
    "scanf",
    "seed48",
    "select",
    "send",
    "setenv",
    "signal",
    "significand",
    "sleep",
    "socket",
    "srand",
    "srandom",
    "stat",
    "strcat",
    "strchr",
    "strcmp",
    "strcpy",
    "swab",
    "sync",
    "system",
    "time",
    "times",
    "tmpfile",
    "truncate",
    "umask",
    "unlink",
    "usleep",
    "wait",
    "write",
    "y0",
    "y1",
    "yn",
];

/// What C keeps for compilers, what OpenMP begins its names with, and what is printed in front of kernels.
fn is_reserved(word: &str) -> bool {
    let is_of_compilers = word.starts_with("__") || word.starts_with('_') && word[1..].starts_with(char::is_uppercase);
    is_of_compilers || word.starts_with("spc_") || word.starts_with("SPC_") || word.starts_with("omp_")
}

const TARGET: Target = Target { reserved: &[KEYWORDS, BUILT_IN, OWN], is_reserved, ascii: true };

const FUNCTION: Target = Target { reserved: &[KEYWORDS, BUILT_IN, OWN, FUNCTIONS], is_reserved, ascii: true };

/// How a name of an array or an extent is spelled where it is a parameter.
pub(super) fn spelled(name: &str) -> String {
    TARGET.identifier(name)
}

/// Gives out names of what is in a function.
pub(super) fn namer() -> Namer {
    Namer::new(TARGET)
}

/// Gives out names of functions.
pub(in crate::backend) fn functions() -> Namer {
    Namer::new(FUNCTION)
}
