use super::{Place, assert_has, examples};

const SPMV: &str = "y(i) = A(i, j) * x(j)";

fn place() -> Place {
    Place::new().with("a.tns", "1 1 2\n1 3 1\n2 2 3\n").with("x.tns", "1 1\n2 10\n3 100\n")
}

fn run<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["run", SPMV, "-f", "A=csr"], more].concat()
}

#[test]
fn missing_files_and_inputs() {
    let place = place();
    assert_has(&place.refuses(&run(&["-i", "A=b.tns", "-i", "x=ones"])), &["b.tns", "No such file"]);
    assert_has(&place.refuses(&run(&["-i", "A=a.tns"])), &["no input for `x`", "-i x=FILE"]);
    assert_has(&place.refuses(&["run", "no.ti"]), &["no.ti", "No such file"]);
    assert_has(&place.refuses(&["run", "nothing"]), &["no file `nothing`", "assignment"]);
    assert_has(&place.refuses(&run(&["-i", "A=a.dat", "-i", "x=ones"])), &["a.dat", ".tns"]);
}

#[test]
fn unknown_names() {
    let place = place();
    let message = place.refuses(&run(&["-i", "A=a.tns", "-i", "X=ones"]));
    assert_has(&message, &["no parameter `X`", "did you mean `x`?"]);
    let message = place.refuses(&run(&["-i", "A=a.tns", "-i", "x=ones", "--dim", "jj=3"]));
    assert_has(&message, &["no index `jj`", "did you mean `j`?"]);
    let message = place.refuses(&run(&["-i", "A=a.tns", "-i", "x=ones", "--dim", "rank=3"]));
    assert_has(&message, &["no index `rank`", "its indices are `i`, `j`"]);
    let message = place.refuses(&run(&["-i", "A=a.tns", "-i", "x=ones", "-o", "Y=y.tns"]));
    assert_has(&message, &["no result `Y`", "did you mean `y`?"]);
    let message = place.refuses(&run(&["-i", "A=a.tns", "-i", "A=a.tns", "-i", "x=ones"]));
    assert_has(&message, &["`A` is given twice"]);
    let file = examples().join("spmv.ti");
    let message = place.refuses(&["run", file.to_str().unwrap(), "--kernel", "spvm", "-i", "A=a.tns"]);
    assert_has(&message, &["no kernel `spvm`", "did you mean `spmv`?"]);
    let message = place.refuses(&["run", file.to_str().unwrap(), "-i", "A=a.tns"]);
    assert_has(&message, &["6 kernels", "--kernel", "spmv_coo"]);
}

#[test]
fn shapes_that_do_not_fit() {
    let place = place()
        .with("b.tns", "1 1 1 5\n")
        .with("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 4 1\n1 1 2\n");
    let message = place.refuses(&run(&["-i", "A=b.tns", "-i", "x=ones"]));
    assert_has(&message, &["`A`", "2 modes", "3"]);
    let message = place.refuses(&run(&["-i", "A=a.tns", "-i", "x=x.tns", "--dim", "j=2"]));
    assert_has(&message, &["`A`", "mode 2", "3", "extent 2", "`j`", "as stated", "--dim j=3"]);
    // The matrix states four columns; the vector reaches further.
    let place = place.with("x.tns", "5 1\n");
    let message = place.refuses(&run(&["-i", "A=a.mtx", "-i", "x=x.tns"]));
    assert_has(&message, &["`x`", "at 5", "extent 4", "mode 2 of `A`"]);
    let message = place.refuses(&run(&["-i", "A=a.mtx", "-i", "x=ones", "--dim", "j=5"]));
    assert_has(&message, &["`j`", "extent 5 as stated", "4 by mode 2 of `A`"]);
}

#[test]
fn extents_that_nothing_says() {
    let message =
        place().refuses(&["run", "Y(i, r) = A(i, j) * X(j, r)", "-f", "A=csr", "-i", "A=a.tns", "-i", "X=random"]);
    assert_has(&message, &["`r`", "--dim r="]);
}

#[test]
fn operands_that_are_none() {
    let place = place();
    assert_has(&place.refuses(&run(&["-i", "A=a.tns", "-i", "x=2.5"])), &["`x` is a tensor of order 1", "2.5"]);
    assert_has(&place.refuses(&run(&["-i", "A=random", "-i", "x=ones"])), &["`A`", "dense", "spc generate"]);
    assert_has(&place.refuses(&run(&["-i", "A=a.tns", "-i", "x=random:x"])), &["`x` is not a seed"]);
    let place = place.with("a.tns", "1 1 2\n1 zwei 1\n");
    assert_has(&place.refuses(&run(&["-i", "A=a.tns", "-i", "x=ones"])), &["a.tns:2:3"]);
}

#[test]
fn results_that_can_not_be_written() {
    let place = place();
    let message = place.refuses(&run(&["-i", "A=a.tns", "-i", "x=ones", "-o", "y=nowhere/y.tns"]));
    assert_has(&message, &["nowhere/y.tns"]);
    let message = place.refuses(&run(&["-i", "A=a.tns", "-i", "x=ones", "-o", "y=y.dat"]));
    assert_has(&message, &["y.dat", "known extensions"]);
    assert!(!place.path("y.dat").exists());
}

#[test]
fn wrong_usage_is_status_two() {
    let place = place();
    for arguments in [
        &["run"][..],
        &["fly"],
        &["run", SPMV, "-i", "A"],
        &["run", SPMV, "--dim", "r=x"],
        &["run", SPMV, "--repeat", "0"],
        &["run", SPMV, "--backend", "gpu"],
        &["compile", SPMV, "--emit", "asm"],
        &["convert", "a.tns", "a.mtx", "--format", "csr"],
        &["generate", "uniform", "--shape", "3x", "--nnz", "1", "-o", "x.tns"],
    ] {
        place.fails(arguments, 2);
    }
    let both = run(&["-i", "A=a.tns", "-i", "x=ones", "--json", "-o", "y=-"]);
    let output = place.spc(&both);
    assert_eq!(output.status.code(), Some(2));
    assert_has(&String::from_utf8(output.stdout).unwrap(), &["`--json` and a result both want the standard output"]);
}

#[test]
fn a_gpu_that_is_missing_is_said() {
    let place = place();
    let run = ["run", SPMV, "--backend", "cuda", "-i", "A=a.tns", "-i", "x=ones"];
    // A folder without a driver comes first; a machine that has one anyway has a device of that number or not.
    let said = place.refuses(&[&run[..], &["--device", "4096"]].concat());
    assert!(said.contains("no CUDA driver") || said.contains("no CUDA device 4096"), "{said}");
    assert_has(&said, &["help: "]);
}
