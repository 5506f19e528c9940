use super::{Place, assert_has, examples};

const TTM: &str = "Y(i, r) = X(i, j, k) * U(k, r)";

#[test]
fn every_stage_prints() {
    let place = Place::new();
    let stage = |stage: &str| place.prints(&["compile", TTM, "-f", "X=csf", "--emit", stage]);
    assert_eq!(stage("syntax"), format!("{TTM}\n"));
    assert_has(&stage("notation"), &["sum(j, k)(X(i, j, k) * U(k, r))"]);
    assert_has(&stage("concrete"), &["parallel for all i", "for all k"]);
    assert_has(&stage("lattice"), &["for all k\n    {X(i, j, k)}"]);
    assert_has(&stage("ir"), &["kernel kernel {", "parallel v0:low..v1:high"]);
    assert_has(&stage("rust"), &["pub fn kernel("]);
    assert_eq!(place.prints(&["compile", TTM, "-f", "X=csf"]), stage("rust"));
}

#[test]
fn cuda_comes_with_the_code_of_hosts() {
    let place = Place::new();
    let line = ["compile", "C(i, j) = A(i, k) * B(k, j)", "-f", "A=csr", "-f", "B=csr", "-f", "C=csr", "--emit", "cu"];
    place.prints(&[&line[..], &["-o", "k.cu"]].concat());
    let (source, header) = (place.read("k.cu"), place.read("k.h"));
    assert_has(
        &header,
        &[
            "cudaError_t kernel(\n    size_t i_extent",
            "spc_vector *C2_crd",
            "cudaFree(C2_crd->data)",
            "cudaStream_t stream\n);",
        ],
    );
    assert_has(
        &source,
        &["#include <cuda_runtime.h>", "__global__ void", "run.scan(", "SPC_LAUNCH(spc_functions_0::kernel_on_device"],
    );
    assert_eq!(place.prints(&line), source);
    let dense = ["compile", "y(i) = A(i, j) * x(j)", "-f", "A=csc", "--emit", "cu", "-o", "dense.cu"];
    place.prints(&dense);
    assert_has(&place.read("dense.h"), &["each must be 0 before the call"]);
}

#[test]
fn cuda_prints() {
    let place = Place::new();
    let line = ["compile", TTM, "-f", "X=csf", "--target", "cuda"];
    let text = place.prints(&line);
    assert_has(&text, &["extern \"C\" __global__ void", "const u32* __restrict__ X3_crd", "threadIdx.x"]);
    assert!(!text.contains("#include"));
    assert_has(&place.prints(&[&line[..], &["--emit", "plan"]].concat()), &["launch kernel", "of r_extent lanes"]);
    assert_has(&place.prints(&["explain", TTM, "-f", "X=csf", "--target", "cuda"]), &["neighbours in a warp"]);
}

#[test]
fn the_line_of_the_design_compiles() {
    let place = Place::new();
    let line = ["compile", "Y(i,r)=X(i,j,k)*U(k,r)", "-f", "X=csf", "-f", "U=dense", "-f", "Y=dense"];
    assert_has(&place.prints(&line), &["X3_crd: &[u32]", "U: &[f64]", "Y: &mut [f64]"]);
    let line = ["compile", TTM, "-f", "X=f32 csf", "-f", "U=f32 [dense, dense]", "-f", "Y=f32 dense"];
    assert_has(&place.prints(&line), &["U: &[f32]"]);
}

#[test]
fn an_extent_can_be_part_of_the_kernel() {
    let text = Place::new().prints(&["compile", TTM, "-f", "X=csf", "--dim", "r=8"]);
    assert_has(&text, &["for r in 0..8", "[0.0; 8]"]);
    assert!(!text.contains("r_extent"));
    let message = Place::new().refuses(&["compile", TTM, "-f", "X=csf", "--dim", "q=8"]);
    assert_has(&message, &["no index `q`", "i, r, j, k"]);
}

#[test]
fn every_example_compiles() {
    let place = Place::new();
    let mut count = 0;
    for entry in std::fs::read_dir(examples()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "ti") {
            for stage in ["syntax", "notation", "concrete", "lattice", "ir", "rust"] {
                place.prints(&["compile", path.to_str().unwrap(), "--emit", stage]);
            }
            count += 1;
        }
    }
    assert!(count >= 10);
}

#[test]
fn code_goes_to_a_file() {
    let place = Place::new();
    assert_eq!(place.prints(&["compile", TTM, "-f", "X=csf", "-o", "ttm.rs"]), "");
    assert_has(&place.read("ttm.rs"), &["pub fn kernel("]);
    assert_eq!(place.prints(&["compile", TTM, "-f", "X=csf", "--check"]), "");
}

#[test]
fn problems_are_underlined() {
    let place = Place::new();
    let message = place.refuses(&["compile", TTM, "-f", "X=densse", "-f", "U=dense"]);
    assert_has(&message, &["error[E0201]", "--> -f X:1:1", "^^^^", "did you mean `dense`?", "spc explain E0201"]);
    let message = place.refuses(&["compile", "Y(i r) = X(i, j)"]);
    assert_has(&message, &["error[E0", "--> <expression>:1:5", "^"]);
    let place = place.with("k.ti", "fn f(x: csf) -> y: dense {\n    y(i) = z(i);\n    y(i) = w(i);\n}\n");
    let message = place.refuses(&["compile", "k.ti"]);
    assert_has(&message, &["--> k.ti:2:12", "--> k.ti:3:12"]);
    assert_has(&place.refuses(&["compile", "k.ti", "-f", "x=csf"]), &["a program declares its formats", "`x: FORMAT`"]);
}

#[test]
fn nothing_is_not_compiled() {
    let place =
        Place::new().with("blank.ti", "// Nothing yet.\n").with("formats.ti", "format mine = [dense, compressed];\n");
    for text in ["", "  ", "blank.ti"] {
        assert_has(&place.refuses(&["compile", text]), &["has nothing to compile", "help: write an assignment"]);
    }
    place.prints(&["compile", "formats.ti", "--check"]);
}

/// Comments have what the user wrote, and code has names of ASCII.
#[test]
fn comments_keep_their_letters() {
    let text = "/// Veličković et al., \u{202e}図.\nfn k(größe: dense) -> y: dense { y(i) = 2 * größe(i); }";
    let place = Place::new().with("k.ti", text);
    for target in [&["--target", "cuda"][..], &["--emit", "c"], &["--emit", "cu"]] {
        let printed = place.prints(&[&["compile", "k.ti"], target].concat());
        assert_has(&printed, &["Veličković et al., U+202E図."]);
        let code = printed.lines().filter(|line| !line.contains("//") && !line.trim_start().starts_with(['*', '/']));
        assert!(code.into_iter().all(str::is_ascii), "{printed}");
    }
}
