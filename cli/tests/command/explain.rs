use super::{Place, assert_has, examples};

#[test]
fn decisions_have_reasons() {
    let file = examples().join("mttkrp.ti");
    let text = Place::new().prints(&["explain", file.to_str().unwrap()]);
    assert_has(
        &text,
        &[
            "MTTKRP of a third-order tensor",
            "A(i, r) = sum(j, k)(X(i, j, k) * B(j, r) * C(k, r))",
            "parallel for all i",
            "* sum over k first, then multiply by B(j, r)\n      ",
        ],
    );
    let text = Place::new().prints(&["explain", "y(i) = A(i, j) * x(j)", "-f", "A=csc"]);
    assert_has(&text, &["for all"]);
    let text = Place::new().prints(&["explain", "y(i) = A(i, j) * x(j)", "-f", "A=csr"]);
    assert_has(&text, &["* sums of A * x over entries of A are taken in vector lanes\n      "]);
    let sddmm = ["explain", "Y(i, j) = A(i, j) * B(i, r) * C(j, r)", "-f", "A=csr", "-f", "Y=csr"];
    assert_has(&Place::new().prints(&sddmm), &["* sums of B * C over dense rows are taken in vector lanes\n      "]);
}

#[test]
fn codes_are_expanded() {
    let place = Place::new();
    let text = place.prints(&["explain", "E0102"]);
    assert_has(&text, &["E0102: ", "Wrong:", "Correct:"]);
    assert_eq!(place.prints(&["explain", "e0102"]), text);
    assert_has(&place.prints(&["explain"]), &["E0102  ", "spc explain CODE"]);
    assert_has(&place.refuses(&["explain", "E9999"]), &["no error code E9999", "lists all codes"]);
    assert_has(&place.refuses(&["explain", "E12"]), &["four digits"]);
}
