//! Calls each kernel of the rows once, natively and as machine code of the JIT, for callgrind to count the instructions of each call:
//! `tests/tests/instructions.rs` starts it. Prints what is called, a line each, in order.

use spc::execute::{Call, Chain, Error, NativeBuild};
use spc::tensor::AnyTensor;
use spc_compiler::Program;
use spc_tests::native;
use spc_tests::rows::ROWS;

/// Tensors are smaller than those of which the time is measured.
const SMALLER: usize = 50;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // callgrind knows no wider vectors.
    let build = NativeBuild::level("x86-64-v3").ok_or("only for x86-64")?;
    let kernels = ROWS.iter().map(|row| row.kernel()).collect::<Result<Vec<_>, _>>()?;
    let programs: Vec<&Program> = kernels.iter().map(|kernel| kernel.compiled()).collect();
    let natives = native::compile_as(build, &programs).map_err(|skip| skip.0)?;
    for ((row, kernel), native) in ROWS.iter().zip(&kernels).zip(&natives) {
        let inputs = row.operands(kernel, SMALLER)?;
        let inputs: Vec<&AnyTensor> = inputs.iter().collect();
        let jit = Chain::jit(kernel.compiled())?;
        for (engine, chain) in [("native", native), ("jit", &jit)] {
            let [link] = chain.links() else { return Err(format!("{}: not one kernel", row.name).into()) };
            let mut call = Call::new(link.kernel(), &inputs)?;
            counted(&mut || link.run(&mut call).map(|_| ()))?;
            println!("{engine}: {}", row.name);
        }
    }
    Ok(())
}

/// A call that callgrind counts: its instructions are in a file of their own afterwards.
fn counted(call: &mut dyn FnMut() -> Result<(), Error>) -> Result<(), Error> {
    request(ZERO);
    request(START);
    let done = call();
    request(DUMP);
    request(STOP);
    done
}

/// The client requests of callgrind, as `callgrind.h` numbers them.
const DUMP: usize = 0x4354_0000;
const ZERO: usize = DUMP + 1;
const START: usize = DUMP + 4;
const STOP: usize = DUMP + 5;

/// Asks valgrind for something. Elsewhere these instructions do nothing.
#[cfg(target_arch = "x86_64")]
fn request(what: usize) {
    let arguments = [what, 0, 0, 0, 0, 0];
    // SAFETY: `rdi` is turned by 128 bits together, and `rbx` is exchanged with itself. valgrind, which knows these instructions, reads
    // the arguments and writes to `rdx`.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") 0usize => _,
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn request(_: usize) {}
