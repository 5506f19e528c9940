//! The kernels: an iteration is one call.

use super::super::engine::indices;
use super::super::kernels::Source;
use spc_compiler::ir::ElementType;

/// An update of each mode in turn: the tensor times the vectors of all other modes, for several starts `t` at once, less what components `c`
/// before have, normalised. Where there are none before, the kernel has no `F` and `w`.
///
/// ```text
/// let S1(i1, t) = X(i1, i2, i3) * A2(i2, t) * A3(i3, t);
/// let V1(i1, t) = S1(i1, t) - sum(c)(F1(i1, c) * w(c) * B2(c, t) * B3(c, t));       B2(c, t) = F2(i2, c) * A2(i2, t), …
/// U1(i1, t) = V1(i1, t) / sqrt(sum(i1)(V1(i1, t) * V1(i1, t)));
/// ```
pub(super) fn sweep(order: usize, element: ElementType, starts: usize, deflates: bool) -> Source {
    let (e, index) = (element.name(), indices(order));
    let all = index.join(", ");
    let mut parameters = vec![format!("X: {e} csf")];
    parameters.extend((2..=order).map(|mode| format!("A{mode}: {e} dense")));
    if deflates {
        parameters.extend((1..=order).map(|mode| format!("F{mode}: {e} dense")));
        parameters.push(format!("w: {e} dense"));
    }
    let mut lines = Vec::new();
    let common = |name: &str, from: &str, mode: usize| {
        let i = &index[mode - 1];
        format!("let {name}{mode}(c, t): {e} dense = F{mode}({i}, c) * {from}{mode}({i}, t);")
    };
    if deflates {
        lines.extend((2..=order).map(|mode| common("B", "A", mode)));
    }
    for mode in 1..=order {
        let i = &index[mode - 1];
        let others = || (1..=order).filter(move |&other| other != mode);
        let vector = |other: usize| format!("{}{other}({}, t)", if other < mode { "U" } else { "A" }, index[other - 1]);
        let product: Vec<String> = others().map(vector).collect();
        let name = if deflates { "S" } else { "V" };
        lines.push(format!("let {name}{mode}({i}, t): {e} dense = X({all}) * {};", product.join(" * ")));
        if deflates {
            let small = |other: usize| format!("{}{other}(c, t)", if other < mode { "C" } else { "B" });
            let product: Vec<String> = others().map(small).collect();
            lines.push(format!("let P{mode}(c, t): {e} dense = w(c) * {};", product.join(" * ")));
            lines.push(format!(
                "let V{mode}({i}, t): {e} dense = S{mode}({i}, t) - sum(c)(F{mode}({i}, c) * P{mode}(c, t));"
            ));
        }
        lines.push(format!("let n{mode}(t): {e} dense = V{mode}({i}, t) * V{mode}({i}, t);"));
        lines.push(format!("U{mode}({i}, t) = select(n{mode}(t) > 0, V{mode}({i}, t) / sqrt(n{mode}(t)), 0);"));
        if deflates && mode < order {
            lines.push(common("C", "U", mode));
        }
    }
    lines.push(format!("l(t) = sqrt(n{order}(t));"));
    let mut results: Vec<String> = (1..=order).map(|mode| format!("U{mode}: {e} dense")).collect();
    results.push(format!("l: {e} dense"));
    Source::new(format!(
        "fn sweep({}) -> ({}) {{\n    {}\n}}",
        parameters.join(", "),
        results.join(", "),
        lines.join("\n    ")
    ))
    .with("t", starts)
}

/// A symmetric tensor less the components before, times one vector for all modes but the first: W = X vᵐ⁻¹, and l = X vᵐ.
pub(super) fn symmetric(order: usize, element: ElementType, starts: usize, deflates: bool) -> Source {
    let (e, index) = (element.name(), indices(order));
    let vectors: Vec<String> = index[1..].iter().map(|index| format!("V({index}, t)")).collect();
    let (all, vectors) = (index.join(", "), vectors.join(" * "));
    let (earlier, lines) = if deflates {
        let power = vec!["B(c, t)"; order - 1].join(" * ");
        let lines = format!(
            "let S(i, t): {e} dense = sum({})(X({}) * {vectors});
    let B(c, t): {e} dense = F(i, c) * V(i, t);
    let P(c, t): {e} dense = w(c) * {power};
    W(i, t) = S(i, t) - sum(c)(F(i, c) * P(c, t));",
            index[1..].join(", "),
            all.replacen("i1", "i", 1)
        );
        (format!(", F: {e} dense, w: {e} dense"), lines)
    } else {
        (String::new(), format!("W(i1, t) = X({all}) * {vectors};"))
    };
    Source::new(format!(
        "fn symmetric(X: {e} csf, V: {e} dense{earlier}) -> (W: {e} dense, l: {e} dense) {{
    {lines}
    l(t) = V(i, t) * W(i, t);
}}"
    ))
    .with("t", starts)
}

/// The next vectors: the new `V`, `W` where `k` is 1, else the kept ones, which become the kept ones; and ±W + αV, normalised.
pub(super) fn shift(element: ElementType, starts: usize) -> Source {
    let e = element.name();
    Source::new(format!(
        "fn shift(V: {e} dense, W: {e} dense, K: {e} dense, L: {e} dense, k: {e} dense, s: {e} dense, a: {e} dense)
    -> (M: {e} dense, N: {e} dense, Y: {e} dense) {{
    M(i, t) = select(k(t) > 0, V(i, t), K(i, t));
    N(i, t) = select(k(t) > 0, W(i, t), L(i, t));
    let Z(i, t): {e} dense = s(t) * N(i, t) + a(t) * M(i, t);
    let n(t): {e} dense = Z(i, t) * Z(i, t);
    Y(i, t) = select(n(t) > 0, Z(i, t) / sqrt(n(t)), M(i, t));
}}"
    ))
    .with("t", starts)
}
