//! Formats by name and by map, and what they are refused for.

use super::{Definitions, Orders, check_definition, orders, resolve};
use crate::format::{Format, prelude};
use crate::syntax::{FormatExpr, parse_parameter_format, parse_program};

fn format(text: &str) -> FormatExpr {
    parse_parameter_format(text).expect(text).1.expect(text)
}

fn resolved(text: &str, order: usize) -> String {
    match resolve(&format(text), order, &Definitions::prelude()) {
        Ok(format) => format.to_string(),
        Err(found) => panic!("{text}: {found:?}"),
    }
}

fn codes(text: &str, order: usize) -> Vec<u16> {
    let found = resolve(&format(text), order, &Definitions::prelude()).expect_err(text);
    found.into_sorted().into_iter().map(|problem| problem.code.number).collect()
}

#[test]
fn the_prelude_has_no_problems() {
    for definition in prelude::definitions() {
        assert!(
            check_definition(definition).is_empty(),
            "{}: {:?}",
            definition.name.name,
            check_definition(definition)
        );
        assert!(!definition.documentation.is_empty(), "{}", definition.name.name);
    }
}

#[test]
fn named_formats_serve_every_order() {
    assert_eq!(resolve(&format("dense"), 0, &Definitions::prelude()), Ok(Format::dense(0)));
    for order in 1..5 {
        assert_eq!(resolve(&format("dense"), order, &Definitions::prelude()), Ok(Format::dense(order)));
        assert_eq!(resolve(&format("csf"), order, &Definitions::prelude()), Ok(Format::csf(order)));
        assert_eq!(resolve(&format("coo"), order, &Definitions::prelude()), Ok(Format::coo(order)));
    }
    assert_eq!(resolved("csr", 2), "[dense, compressed]");
    assert_eq!(resolved("csc", 2), "(i, j) -> [j: dense, i: compressed]");
    assert_eq!(resolved("scoo", 3), "[compressed(nonunique), singleton, dense]");
    assert_eq!(resolved("scoo", 2), "[compressed, dense]");
    assert_eq!(resolved("cfb", 3), "(i, j, k) -> [(i * extent(j)) + j: compressed(u64), k: compressed]");
    assert_eq!(resolved("hocsr", 3), "[dense, dense, compressed]");
    assert_eq!(resolved("ell", 2), "[dense, padded]");
    assert_eq!(resolved("hocfs_ell", 3), "[compressed, compressed, grouped]");
    assert_eq!(resolved("hocfs", 3), "[compressed, compressed, grouped(limit = 2)]");
    assert_eq!(codes("[dense, grouped(limit = 0)]", 2), [204]);
    assert_eq!(resolved("fcoo", 3), "[compressed(nonunique), singleton, flagged]");
    assert_eq!(resolved("structured(2, 4)", 2), "(i, j) -> [i: dense, j / 4: dense, j % 4: padded(width = 2, u8)]");
}

#[test]
fn maps_keep_their_arithmetic() {
    assert_eq!(resolved("bcsr(4)", 2), "(i, j) -> [i / 4: dense, j / 4: compressed, i % 4: dense, j % 4: dense]");
    assert_eq!(
        resolved("hicoo(128)", 3),
        "(i, j, k) -> [i / 128: compressed(nonunique, morton), j / 128: singleton(nonunique, unordered), \
         k / 128: singleton(unordered), i % 128: compressed(nonunique, u8), j % 128: singleton(nonunique, u8), k % 128: singleton(u8)]"
    );
    // One coordinate is in order by itself.
    assert_eq!(resolved("mcoo", 1), "[compressed]");
    assert_eq!(resolved("alto", 2), "(i, j) -> [interleave(i, j): compressed(u64)]");
    assert_eq!(resolved("lco", 3), "(i, j, k) -> [(((i * extent(j)) + j) * extent(k)) + k: compressed(u64)]");
    assert_eq!(
        resolved("(i, j) -> [linear(i / 2, j % 4): dense, i % 2: dense, j / 4: dense]", 2),
        "(i, j) -> [((i / 2) * 4) + (j % 4): dense, i % 2: dense, j / 4: dense]"
    );
}

#[test]
fn what_has_no_inverse_is_refused() {
    assert_eq!(codes("(i, j) -> [i + j: compressed]", 2), [206]);
    assert_eq!(codes("(i, j) -> [i / 4: dense, j: dense, i % 2: dense]", 2), [206]);
    assert_eq!(codes("(i, j) -> [i * j: dense, j: dense]", 2), [209]);
    assert_eq!(codes("(i, j) -> [i * 0: dense, j: dense]", 2), [206]);
    assert_eq!(codes("(i, j) -> [(j - i) / 2: dense, j: dense]", 2), [209]);
    assert_eq!(codes("(i, j) -> [interleave(j - i, i): dense]", 2), [209]);
    assert_eq!(codes("(i, j) -> [interlave(i, j): dense]", 2), [209]);
    assert_eq!(codes("(i, j) -> [interleave(): dense, i: dense, j: dense]", 2), [209]);
    assert_eq!(codes("(i, j) -> [i * extent(j + 1) + j: dense]", 2), [209]);
    assert_eq!(codes("(i, j) -> [linear(i, j / 2): dense, j % 2: dense]", 2), [209]);
    assert_eq!(codes("(i, j) -> [i: compressed(nonunique), j: singleton(morton)]", 2), [204]);
}

#[test]
fn levels_take_properties() {
    assert_eq!(
        resolved("[compressed(nonunique, u16, pos = u64), singleton(u8)]", 2),
        "[compressed(nonunique, u16, pos = u64), singleton(u8)]"
    );
    assert_eq!(resolved("[dense, compressed(unordered)]", 2), "[dense, compressed(unordered)]");
    assert_eq!(codes("[dense(u16), compressed]", 2), [204]);
    assert_eq!(resolved("[dense, padded]", 2), "[dense, padded]");
    assert_eq!(resolved("[dense, padded(width = 4, u8)]", 2), "[dense, padded(width = 4, u8)]");
    assert_eq!(resolved("[bitmap, diagonal, hashed(u8), banded(pos = u64), run, flagged]", 6).matches(',').count(), 5);
    assert_eq!(codes("[dense, padded(width = 0)]", 2), [204]);
    assert_eq!(resolved("sell(8)", 2), "[dense, sliced]");
    assert_eq!(resolved("sell(4)", 3), "[dense, dense, sliced(rows = 4)]");
    assert_eq!(codes("[dense, sliced(rows = 0)]", 2), [204]);
    assert_eq!(codes("[dense, sliced(rows = 1025)]", 2), [204]);
    assert_eq!(codes("[dense, sliced(width = 2)]", 2), [204]);
    assert_eq!(codes("[dense, padded(rows = 2)]", 2), [204]);
    assert_eq!(codes("[dense, sliced(nonunique)]", 2), [204]);
    assert_eq!(codes("[dense, padded(width = u8)]", 2), [204]);
    assert_eq!(codes("[dense, padded(4)]", 2), [204]);
    assert_eq!(codes("[dense, compressed(width = 4)]", 2), [204]);
    assert_eq!(codes("[bitmap(u8), hashed(nonunique)]", 2), [204, 204]);
    assert_eq!(codes("[flagged(pos = u8), padded(unordered)]", 2), [204, 204]);
    assert_eq!(codes("[compressed(nonuniq), singleton(pos = u8)]", 2), [204, 204]);
    assert_eq!(codes("[compressed(pos = u128), compressed(width = u8)]", 2), [204, 204]);
}

#[test]
fn what_stores_no_tensor_is_refused() {
    assert_eq!(codes("[singleton, dense]", 2), [210]);
    assert_eq!(codes("[bitmap, singleton]", 2), [210]);
    assert_eq!(codes("[compressed, singleton]", 2), [210]);
    assert_eq!(codes("[diagonal, dense]", 2), [210]);
    assert_eq!(codes("[run, diagonal]", 2), [210]);
    assert_eq!(codes("(i, j) -> [i: dense, i: compressed]", 2), [206, 206]);
    assert_eq!(codes("(i, j) -> [i: dense, j / 4: compressed]", 2), [206]);
    assert_eq!(codes("(i, j) -> [i: dense, j: compressed, 3: dense]", 2), [209]);
    assert_eq!(codes("bcsr(0)", 2), [209]);
}

#[test]
fn names_and_arguments_are_checked() {
    assert_eq!(codes("crs", 2), [201]);
    assert_eq!(codes("[dense, compresed]", 2), [202]);
    assert_eq!(codes("[dense, csr]", 2), [202]);
    assert_eq!(codes("csr", 3), [205]);
    assert_eq!(codes("bcsr", 2), [203]);
    assert_eq!(codes("csr(4)", 2), [203]);
    assert_eq!(codes("(i, j) -> [i: dense, k: dense]", 2), [207]);
    assert_eq!(codes("(i, j...) -> [i: dense, j: dense]", 2), [208]);
    assert_eq!(codes("(i..., j...) -> [i...: dense, j...: dense]", 2), [208]);
    assert_eq!(codes("(i, j) -> [i...: dense, j: dense]", 2), [208]);
}

#[test]
fn programs_define_their_own() {
    let text = "format blocks(B, W) = (i, j) -> [i / B: dense, j: compressed(W), i % B: dense];";
    let program = parse_program(text).expect(text);
    let definitions = Definitions::of_program(&program);
    let resolved = resolve(&format("blocks(8, u16)"), 2, &definitions).expect("is fine");
    assert_eq!(resolved.to_string(), "(i, j) -> [i / 8: dense, j: compressed(u16), i % 8: dense]");
    assert!(resolve(&format("blocks(u16, 8)"), 2, &definitions).is_err());
    assert_eq!(orders(&format("blocks(8, u16)"), &definitions), Some(Orders { minimum: 2, variadic: false }));
}
