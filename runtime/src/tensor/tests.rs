//! The types of formats by name, and those that maps spell.

use super::mapped::*;
use super::named::*;
use super::{Compressed, DenseLevel, Mode, Nonunique, Singleton, StorageFormat, Tensor, Unique, Unordered};
use spc_compiler::format;

#[test]
fn types_are_what_the_prelude_says() {
    fn same<F: StorageFormat>(name: &str, arguments: &[u64]) {
        let expected = format::named(name, arguments, F::ORDER).unwrap();
        assert_eq!(F::format(), expected, "{name} of order {}", F::ORDER);
    }
    fn of_order<const N: usize>() {
        same::<Dense<N>>("dense", &[]);
        same::<Csf<N>>("csf", &[]);
        same::<Coo<N>>("coo", &[]);
        same::<Hocoo<N>>("hocoo", &[]);
        same::<Mcoo<N>>("mcoo", &[]);
        same::<Lco<N>>("lco", &[]);
        same::<Alto<N>>("alto", &[]);
        same::<Ell<N>>("ell", &[]);
        same::<Sell<N, 8>>("sell", &[8]);
        same::<Tiled<N, 4>>("tiled", &[4]);
        same::<Bcsf<N, 4>>("bcsf", &[4]);
        same::<Hicoo<N, 128>>("hicoo", &[128]);
        same::<Skyline<N>>("skyline", &[]);
        same::<HocfsCsr<N>>("hocfs_csr", &[]);
        same::<HocfsEll<N>>("hocfs_ell", &[]);
        same::<Hocfs<N>>("hocfs", &[]);
        same::<Hocsr<N>>("hocsr", &[]);
    }
    fn of_higher_order<const N: usize>() {
        of_order::<N>();
        same::<Scoo<N>>("scoo", &[]);
        same::<Cfb<N>>("cfb", &[]);
        same::<Fcoo<N>>("fcoo", &[]);
        same::<Ghicoo<N, 128>>("ghicoo", &[128]);
        same::<Shicoo<N, 1>>("shicoo", &[1]);
        same::<Diagonal<N>>("diagonal", &[]);
    }
    of_order::<1>();
    of_higher_order::<2>();
    of_higher_order::<3>();
    of_higher_order::<5>();
    same::<Csr>("csr", &[]);
    same::<Csc>("csc", &[]);
    same::<Dcsr>("dcsr", &[]);
    same::<Bcsr<4>>("bcsr", &[4]);
    same::<Csb<128>>("csb", &[128]);
    same::<Dia>("dia", &[]);
    same::<Structured<2, 4>>("structured", &[2, 4]);
}

#[test]
fn spelled_types_are_the_named_ones() {
    type Blocks = Mapped<
        2,
        (
            (Quotient<Mode<0>, Constant<4>>, DenseLevel),
            (Quotient<Mode<1>, Constant<4>>, Compressed),
            (Remainder<Mode<0>, Constant<4>>, DenseLevel),
            (Remainder<Mode<1>, Constant<4>>, DenseLevel),
        ),
    >;
    assert_eq!(Blocks::format(), Bcsr::<4>::format());
    type Coded = Mapped<3, ((Interleaved<(Mode<0>, Mode<1>, Mode<2>)>, Compressed<Unique, u64>),)>;
    assert_eq!(Coded::format(), Alto::<3>::format());
    type Linear = Mapped<2, ((Sum<Product<Mode<0>, Extent<1>>, Mode<1>>, Compressed<Unique, u64>),)>;
    assert_eq!(Linear::format(), Lco::<2>::format());
    type Curve = super::Levels<(Morton<Compressed<Nonunique>>, Singleton<Unique, u32, Unordered>)>;
    assert_eq!(Curve::format(), Mcoo::<2>::format());
}

#[test]
fn tensors_of_mapped_types_hold_their_entries() {
    let entries = [([0, 4], 1.0), ([6, 2], 2.0), ([6, 6], 3.0)];
    let blocked = Tensor::<f64, Bcsr<4>>::from_entries([7, 7], entries).unwrap();
    assert_eq!((blocked.get(&[6, 2]), blocked.get(&[6, 3]), blocked.get(&[0, 0])), (Some(2.0), Some(0.0), None));
    let coded = blocked.convert::<Alto<2>>().unwrap();
    assert_eq!((coded.nnz(), coded.to_dense_vec()), (3, blocked.to_dense_vec()));
    assert_eq!(coded.convert::<Hicoo<2, 2>>().unwrap().convert::<Dia>().unwrap().get(&[6, 6]), Some(3.0));
}
