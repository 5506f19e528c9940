//! What is written reads back as it was.

use proptest::prelude::*;

use super::rows;
use crate::io::{ReadOptions, Value, read_as, write};
use crate::tensor::{Coordinates, Indices};

/// Entries of any order from 1 to `orders`, some of them with indices of 64 bits.
fn entries<T: Value>(orders: usize, values: impl Strategy<Value = T>) -> impl Strategy<Value = Coordinates<T>> {
    let values = prop::collection::vec(values, 0..40);
    let shape = prop::collection::vec(prop_oneof![1_usize..6, 1_usize..100_000, Just(1 << 40)], 1..=orders);
    (shape, values, any::<u64>()).prop_map(|(shape, values, seed)| {
        let mut state = seed | 1;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 20
        };
        let mode = |&extent: &usize| {
            let indices: Vec<u64> = (0..values.len()).map(|_| random() % extent as u64).collect();
            match indices.iter().map(|&index| u32::try_from(index)).collect() {
                Ok(narrow) => Indices::U32(narrow),
                Err(_) => Indices::U64(indices),
            }
        };
        let indices = shape.iter().map(mode).collect();
        Coordinates { shape, shape_is_stated: true, indices, values }
    })
}

/// Index and value as text, in the order in which files have them.
fn sorted<T: Value>(entries: &Coordinates<T>) -> Vec<(Vec<u64>, String)> {
    let values = entries.values.iter().map(|value| format!("{value:?}"));
    let mut sorted: Vec<_> = rows(entries).into_iter().zip(values).collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    sorted
}

fn check<T: Value>(entries: &Coordinates<T>, name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write(&path, entries).unwrap();
    let stated = ReadOptions { shape: Some(entries.shape.clone()), file_type: None, from_zero: false };
    let found = read_as::<T>(&path, &stated).unwrap();
    assert_eq!(found.shape, entries.shape);
    assert_eq!(
        rows(&found).into_iter().zip(found.values.iter().map(|value| format!("{value:?}"))).collect::<Vec<_>>(),
        sorted(entries)
    );
}

/// Doubles of every size, and those that are not finite.
fn doubles() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>(), -100.0..100.0, (-1000_i32..1000).prop_map(f64::from), Just(f64::NAN), Just(-0.0)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn tns_f64(x in entries(5, doubles())) {
        check(&x, "x.tns");
        check(&x, "x.tns.gz");
    }

    #[test]
    fn tns_f32(x in entries(3, any::<f32>())) {
        check(&x, "x.tns");
    }

    #[test]
    fn tns_i64(x in entries(3, any::<i64>())) {
        check(&x, "x.tns");
    }

    #[test]
    fn tns_u8(x in entries(3, any::<u8>())) {
        check(&x, "x.tns.gz");
    }

    #[test]
    fn mtx(mut x in entries(2, doubles())) {
        if x.shape.len() == 1 {
            x.shape.push(1);
            x.indices.push(Indices::U32(vec![0; x.values.len()]));
        }
        check(&x, "x.mtx");
        check(&x, "x.mtx.gz");
    }

    #[test]
    fn mtx_i32(mut x in entries(2, any::<i32>())) {
        prop_assume!(x.shape.len() == 2);
        x.shape_is_stated = true;
        check(&x, "x.mtx");
    }
}

#[test]
fn many_entries_in_no_order() {
    let count = 100_000_u64;
    let scattered = |factor: u64, extent: u64| Indices::U64((0..count).map(|entry| entry * factor % extent).collect());
    let indices = vec![scattered(7919, 301), scattered(104_729, 1 << 40), scattered(31, 17)];
    let values = (0..count).map(|entry| entry as f64 / 8.0).collect();
    let x = Coordinates { shape: vec![301, 1 << 40, 17], shape_is_stated: true, indices, values };
    check(&x, "x.tns");
    check(&x, "x.tns.gz");
    let wide = Coordinates { shape: vec![1 << 62; 3], ..x.clone() };
    check(&wide, "wide.tns");
}

#[test]
fn npy() {
    let x = Coordinates {
        shape: vec![2, 3, 2],
        shape_is_stated: true,
        indices: vec![super::narrow(&[1, 0]), super::narrow(&[2, 0]), super::narrow(&[1, 1])],
        values: vec![-0.0, 2.5],
    };
    check(&x, "x.npy");
    check(&x, "x.npy.gz");
    let scalar = Coordinates { shape: vec![], shape_is_stated: true, indices: vec![], values: vec![7_i64] };
    check(&scalar, "x.npy");
}
