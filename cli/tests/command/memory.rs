//! Arrays that follow from extents, where there is no memory for them, and kernels too deep for a stack.

use super::{Place, assert_has};

const ENGINES: [&str; 2] = ["interpreter", "native"];

#[test]
fn a_workspace_too_large_for_memory_is_refused_with_its_shape() {
    const WIDEST: &str = "fn widest(A: csr, B: [dense, compressed(u64)]) -> s: dense {
    s(i) = max(k)(sum(j)(A(i, j) * B(j, k)));
} schedule { precompute(A(i, j) * B(j, k), k, kw); }";
    let place = Place::new()
        .with("widest.ti", WIDEST)
        .with("A.tns", "# shape: 3 5\n1 1 1\n2 3 2\n")
        .with("B.tns", "# shape: 5 1099511627776\n1 1 1\n3 2 2\n")
        .with("C.tns", "# shape: 5 7\n1 1 1\n3 2 2\n")
        .with("long.tns", "# shape: 4000000000 5\n1 1 1\n2 3 2\n")
        .with("wide.tns", "# shape: 5 4000000000\n1 1 1\n3 2 2\n");
    const SQUARES: &str = "fn squares(A: dcsr, B: dcsr) -> s: f64 {
    let T(i, k): dense = A(i, j) * B(j, k);
    s = T(i, k) * T(i, k);
}";
    let place = place.with("squares.ti", SQUARES);
    for engine in ENGINES {
        let run = |b: &'static str| ["run", "widest.ti", "-i", "A=A.tns", "-i", b, "--backend", engine];
        assert!(place.prints(&run("B=C.tns")).contains("s(1)  = 4"));
        let message = place.refuses(&run("B=B.tns"));
        assert_has(&message, &["`widest`", "1099511627776 elements of 8 bytes, 8796093022208 bytes", "schedule"]);
        let run = ["run", "squares.ti", "-i", "A=long.tns", "-i", "B=wide.tns", "--backend", engine];
        assert_has(&place.refuses(&run), &["`T`", "128000000000000000000 bytes", "memory"]);
    }
}

#[test]
fn positions_that_no_memory_holds_are_refused_at_once() {
    let place = Place::new().with("A.tns", "# shape: 4000000000000000000 5\n1 1 1\n2 3 2\n");
    for engine in ENGINES {
        for (to, bytes) in [
            ("y=[dense, compressed]", "16000000000000000004 bytes"),
            ("y=[dense, compressed(pos = u64)]", "32000000000000000008 bytes"),
        ] {
            let from = "A=[compressed(u64), compressed]";
            let run = ["run", "y(i, j) = A(i, j)", "-f", from, "-f", to, "-i", "A=A.tns", "--backend", engine];
            assert_has(&place.refuses(&run), &["`y`", bytes, "memory"]);
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn copies_and_results_that_outgrow_memory_end_a_kernel_and_not_the_process() {
    let limited = super::durable::limited;
    let place = Place::new().with("few.tns", "# shape: 4000\n1 1\n7 2\n");
    place.prints(&["generate", "uniform", "--shape", "4000x300000000", "--nnz", "50000", "-o", "A.tns"]);
    place.prints(&["generate", "uniform", "--shape", "4000x300", "--nnz", "50000", "-o", "B.tns"]);
    place.prints(&["generate", "uniform", "--shape", "15000", "--nnz", "15000", "-o", "x.tns"]);
    for engine in ENGINES {
        // The result has 2.4 GB, and so has each copy of it.
        let scatter = "y(j) = A(i, j)";
        let run = |a: &'static str| ["run", scatter, "-f", "A=csr", "-i", a, "--threads", "5", "--backend", engine];
        place.prints(&run("A=B.tns"));
        let (status, message) = limited(&place, "ulimit -v 6500000", &run("A=A.tns"));
        assert_eq!(status, Some(1), "{engine}: {message}");
        assert_has(&message, &["memory", "300000", "bytes together", "fewer threads"]);
    }
    for threads in ["1", "3"] {
        // 225 million entries, appended to arrays that grow.
        let run = |x: &'static str| {
            let product = "y(i, j) = x(i) * x(j)";
            let formats = ["-f", "x=[compressed]", "-f", "y=[compressed, compressed]"];
            [&["run", product][..], &formats, &["-i", x, "--threads", threads, "--backend", "native"]].concat()
        };
        place.prints(&run("x=few.tns"));
        let (status, message) = limited(&place, "ulimit -v 2500000", &run("x=x.tns"));
        assert_eq!(status, Some(1), "{threads}: {message}");
        assert_has(&message, &["there is not enough memory here", "bytes together"]);
    }
}

/// A kernel of tensors of some order.
fn copy(order: usize, format: &str) -> String {
    let indices: Vec<String> = (0..order).map(|index| format!("i{index}")).collect();
    let indices = indices.join(", ");
    format!("fn copy(x: {format}) -> y: {format} {{ y({indices}) = x({indices}); }}")
}

#[cfg(target_os = "linux")]
#[test]
fn deep_kernels_need_no_more_stack_than_there_is() {
    let limited = super::durable::limited;
    for format in ["dense", "csf", "coo"] {
        let place = Place::new().with("copy.ti", &copy(200, format)).with("deeper.ti", &copy(513, format));
        let (status, message) = limited(&place, "ulimit -s 1024", &["compile", "copy.ti"]);
        assert_eq!(status, Some(0), "{format}: {message}");
        let (status, message) = limited(&place, "ulimit -s 1024", &["compile", "deeper.ti"]);
        assert_eq!(status, Some(1), "{format}: {message}");
        assert_has(&message, &["E0008", "at most 512 index variables"]);
    }
    let place = Place::new().with("copy.ti", &copy(200, "dense"));
    let extents: Vec<String> = (0..200).map(|index| format!("i{index}=1")).collect();
    let dimensions = extents.iter().flat_map(|extent| ["--dim", extent.as_str()]);
    let run: Vec<&str> =
        ["run", "copy.ti", "-i", "x=ones", "--backend", "interpreter"].into_iter().chain(dimensions).collect();
    let (status, message) = limited(&place, "ulimit -s 1024", &run);
    assert_eq!(status, Some(0), "{message}");
}
