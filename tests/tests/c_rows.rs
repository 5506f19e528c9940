//! Rows of constant length in C: with the vectors of a compiler and without them the same text gives what plain loops give, and no
//! compiler warns of it.

use spc::execute::{Backend, Kernel};
use spc_compiler::backend::c;
use spc_tests::harness::Skip;
use std::process::Command;

spc_tests::tests!(rows_are_vectors_or_plain_numbers, other_loops_stay_as_they_are);

/// Two slices of a few fibers, one of them long enough for sums in parts; small whole numbers, so that sums are exact.
const MAIN: &str = r#"
enum { SLICES = 2, FIBERS = 4, LONG = 200, ENTRIES = 3 + LONG };
int main(void) {
    static const uint32_t p1[] = {0, SLICES}, c1[] = {0, 2}, p2[] = {0, 3, FIBERS}, c2[] = {0, 1, 4, 2}, p3[] = {0, 1, 2, 2 + LONG, ENTRIES};
    static uint32_t c3[ENTRIES];
    static ELEMENT x[ENTRIES], b[5 * COLUMNS], c[LONG * COLUMNS], a[3 * COLUMNS], wanted[3 * COLUMNS];
    for (uint32_t n = 0; n < ENTRIES; n++) {
        c3[n] = n >= 2 && n < 2 + LONG ? n - 2 : 7;
        x[n] = (ELEMENT)(n % 3 + 1);
    }
    for (int n = 0; n < 5 * COLUMNS; n++) b[n] = (ELEMENT)(n % 7 - 3);
    for (int n = 0; n < LONG * COLUMNS; n++) c[n] = (ELEMENT)(n % 5 - 2);
    for (uint32_t s = 0; s < SLICES; s++)
        for (uint32_t f = p2[s]; f < p2[s + 1]; f++)
            for (uint32_t e = p3[f]; e < p3[f + 1]; e++)
                for (uint32_t r = 0; r < COLUMNS; r++) wanted[c1[s] * COLUMNS + r] += x[e] * b[c2[f] * COLUMNS + r] * c[c3[e] * COLUMNS + r];
    mttkrp(3, 5, LONG, p1, 2, c1, SLICES, p2, SLICES + 1, c2, FIBERS, p3, FIBERS + 1, c3, ENTRIES, x, ENTRIES, b, 5 * COLUMNS, c, LONG * COLUMNS,
           a, 3 * COLUMNS);
    for (int n = 0; n < 3 * COLUMNS; n++) {
        if (a[n] != wanted[n]) return fprintf(stderr, "element %d is %g, not %g\n", n, (double)a[n], (double)wanted[n]), 1;
    }
    return 0;
}
"#;

fn text(element: &str, columns: usize) -> String {
    let text = format!(
        "fn mttkrp(X: {element} csf, B: {element} dense, C: {element} dense) -> A: {element} dense {{
            A(i, r) = X(i, j, k) * B(j, r) * C(k, r);
        }}"
    );
    let kernel = Kernel::builder(text).dimension("r", columns).backend(Backend::Interpreter).compile().unwrap();
    c::unit(kernel.compiled().kernels.iter().map(|compiled| &compiled.kernel)).source
}

fn rows_are_vectors_or_plain_numbers() -> Result<(), Skip> {
    let folder = tempfile::tempdir().unwrap();
    for (element, columns) in [("f64", 8), ("f64", 10), ("f64", 24), ("f32", 8), ("f32", 12), ("f32", 24)] {
        let source = text(element, columns);
        assert!(source.contains("SPC_ROW\n"), "{element}, {columns} columns: no row in\n{source}");
        let plain = source.replace("#if defined(__clang__) || defined(__GNUC__) && __GNUC__ >= 9", "#if 0");
        assert_ne!(plain, source);
        for text in [source, plain] {
            let (file, program) = (folder.path().join("rows.c"), folder.path().join("rows"));
            let element = if element == "f64" { "double" } else { "float" };
            let before = format!("#define ELEMENT {element}\n#define COLUMNS {columns}\n");
            std::fs::write(&file, format!("{before}{text}{MAIN}")).unwrap();
            let mut command = Command::new("cc");
            command.args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"]);
            let compiled = command.arg(&file).arg("-o").arg(&program).arg("-lm").output();
            let compiled = compiled.map_err(|_| Skip::without_cpp())?;
            assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
            let ran = Command::new(&program).output().unwrap();
            assert!(ran.status.success(), "{element}, {columns}: {}", String::from_utf8_lossy(&ran.stderr));
        }
    }
    Ok(())
}

fn other_loops_stay_as_they_are() {
    // Rows of 7 have a rest.
    assert!(!text("f64", 7).contains("SPC_ROW"));
}
