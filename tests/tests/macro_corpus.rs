//! The corpus through `tensor_kernel!`: what users of the macro get, all in the one run of rustc that compiles this file, which
//! takes minutes: so this is in the whole.

#![allow(non_snake_case)]
// Some cases are of indices that are warned of.
#![allow(deprecated)]

use spc::complex::{c32, c64};
use spc::execute::{Vectors, most_vectors};
use spc::half::{bf16, f16};
use spc::tensor::{AnyTensor, Element, Scalar, StorageFormat, Tensor};
use spc_tests::case::Case;
use spc_tests::engine::Ready;
use spc_tests::report::check_all;
use spc_tests::{corpus, harness};
use std::process::ExitCode;

/// The results as they come, or why there are none.
type Outcome = Result<Vec<AnyTensor>, String>;

/// What a kernel takes, from a tensor of any type.
trait FromAny {
    fn from_any(any: &AnyTensor) -> Self;
}

impl<T: Element, F: StorageFormat> FromAny for Tensor<T, F> {
    fn from_any(any: &AnyTensor) -> Self {
        Tensor::try_from(any.clone()).expect("the case's formats are the macro's")
    }
}

macro_rules! scalars {
    ($($type:ident)*) => {$(
        impl FromAny for $type {
            fn from_any(any: &AnyTensor) -> Self {
                any.values_of::<$type>().expect("the case's types are the macro's")[0]
            }
        }

        impl IntoAny for $type {
            fn into_any(self) -> AnyTensor {
                Tensor::<$type, Scalar>::from(self).into_any()
            }
        }
    )*};
}
scalars!(f64 f32 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool c32 c64);

/// What a kernel gives, as a tensor of any type.
trait IntoAny {
    fn into_any(self) -> AnyTensor;
}

impl<T: Element, F: StorageFormat> IntoAny for Tensor<T, F> {
    fn into_any(self) -> AnyTensor {
        Tensor::into_any(self)
    }
}

/// What a function gives, one result or several.
trait IntoResults {
    fn into_results(self) -> Vec<AnyTensor>;
}

impl<A: IntoAny> IntoResults for A {
    fn into_results(self) -> Vec<AnyTensor> {
        vec![self.into_any()]
    }
}

impl<A: IntoAny, B: IntoAny> IntoResults for (A, B) {
    fn into_results(self) -> Vec<AnyTensor> {
        vec![self.0.into_any(), self.1.into_any()]
    }
}

impl<A: IntoAny, B: IntoAny, C: IntoAny> IntoResults for (A, B, C) {
    fn into_results(self) -> Vec<AnyTensor> {
        vec![self.0.into_any(), self.1.into_any(), self.2.into_any()]
    }
}

impl<A: IntoAny, B: IntoAny, C: IntoAny, D: IntoAny> IntoResults for (A, B, C, D) {
    fn into_results(self) -> Vec<AnyTensor> {
        vec![self.0.into_any(), self.1.into_any(), self.2.into_any(), self.3.into_any()]
    }
}

impl<A: IntoAny, B: IntoAny, C: IntoAny, D: IntoAny, E: IntoAny> IntoResults for (A, B, C, D, E) {
    fn into_results(self) -> Vec<AnyTensor> {
        vec![self.0.into_any(), self.1.into_any(), self.2.into_any(), self.3.into_any(), self.4.into_any()]
    }
}

/// Each case: its module, its file, its parameters, and the call.
macro_rules! cases {
    ($($module:ident $file:tt [$($parameter:ident),*] $call:expr;)*) => {
        $(mod $module {
            use super::{FromAny, IntoResults, Outcome};
            use spc::tensor::AnyTensor;

            spc::tensor_kernel!(file = $file);

            pub(super) fn run(inputs: &[AnyTensor]) -> Outcome {
                let mut inputs = inputs.iter();
                $(let $parameter = FromAny::from_any(inputs.next().expect("an input for each parameter"));)*
                $call.map(IntoResults::into_results).map_err(|error| error.to_string())
            }
        })*

        const CASES: &[(&str, fn(&[AnyTensor]) -> Outcome)] = &[$(($file, $module::run)),*];
    };
}

cases! {
    defined_functions_of_functions "cases/defined/functions_of_functions.ti" [A, x, m] curve(&A, &x, &m);
    defined_monoid_columns "cases/defined/monoid_columns.ti" [A, x] columns(&A, &x);
    defined_monoid_either "cases/defined/monoid_either.ti" [A, x] rows(&A, &x);
    defined_monoid_integers "cases/defined/monoid_integers.ti" [A, B, M] parity(&A, &B, &M);
    defined_monoid_into_sparse "cases/defined/monoid_into_sparse.ti" [A, B] product(&A, &B);
    defined_monoid_log_sum_exp "cases/defined/monoid_log_sum_exp.ti" [A, x] rows(&A, &x);
    defined_monoid_scatter "cases/defined/monoid_scatter.ti" [A] blocks(&A);
    defined_relu_layer "cases/defined/relu_layer.ti" [A, B, alpha] layer(&A, &B, alpha);
    edges_empty_coo "cases/edges/empty_coo.ti" [X, v] ttv(&X, &v);
    edges_empty_operand "cases/edges/empty_operand.ti" [A, B] add(&A, &B);
    edges_empty_rows "cases/edges/empty_rows.ti" [A, B] add(&A, &B);
    edges_explicit_zeros "cases/edges/explicit_zeros.ti" [A, B] add(&A, &B);
    edges_full "cases/edges/full.ti" [X, Y] add(&X, &Y);
    edges_infinities "cases/edges/infinities.ti" [a, b] sum(&a, &b);
    edges_no_columns "cases/edges/no_columns.ti" [A, x] spmv(&A, &x);
    edges_no_rows "cases/edges/no_rows.ti" [A, x] spmv(&A, &x);
    edges_no_terms "cases/edges/no_terms.ti" [A, x] spmv(&A, &x);
    edges_one_by_one "cases/edges/one_by_one.ti" [A, B] add(&A, &B);
    edges_ones "cases/edges/ones.ti" [X, B, C] mttkrp(&X, &B, &C);
    edges_rank_zero "cases/edges/rank_zero.ti" [X, U] ttm(&X, &U);
    edges_scalars_only "cases/edges/scalars_only.ti" [a, b] axpb(a, b);
    edges_single_entry "cases/edges/single_entry.ti" [X, U] ttm(&X, &U);
    edges_zero_annihilates "cases/edges/zero_annihilates.ti" [a, b] product(&a, &b);
    elementwise_add_csf "cases/elementwise/add_csf.ti" [X, Y] add(&X, &Y);
    elementwise_add_csr "cases/elementwise/add_csr.ti" [A, B] add(&A, &B);
    elementwise_add_fibers "cases/elementwise/add_fibers.ti" [X, Y] add(&X, &Y);
    elementwise_add_transposed "cases/elementwise/add_transposed.ti" [A, B] add(&A, &B);
    elementwise_coo_and_csf "cases/elementwise/coo_and_csf.ti" [X, Y] multiply(&X, &Y);
    elementwise_coo_union "cases/elementwise/coo_union.ti" [X, Y] add(&X, &Y);
    elementwise_copy_to_csf "cases/elementwise/copy_to_csf.ti" [X] copy(&X);
    elementwise_dense_and_sparse "cases/elementwise/dense_and_sparse.ti" [A, B] add(&A, &B);
    elementwise_dense_transpose "cases/elementwise/dense_transpose.ti" [A] rotate(&A);
    elementwise_divide_by_dense "cases/elementwise/divide_by_dense.ti" [A, b] divide(&A, &b);
    elementwise_divide_different_patterns "cases/elementwise/divide_different_patterns.ti" [A, B] divide(&A, &B);
    elementwise_divide_same_pattern "cases/elementwise/divide_same_pattern.ti" [A, B] divide(&A, &B);
    elementwise_empty_operand "cases/elementwise/empty_operand.ti" [A, B] add(&A, &B);
    elementwise_functions "cases/elementwise/functions.ti" [A, B] functions(&A, &B);
    elementwise_index_values "cases/elementwise/index_values.ti" [A] weighted(&A);
    elementwise_intersection_and_union "cases/elementwise/intersection_and_union.ti" [A, B, C] mixed(&A, &B, &C);
    elementwise_merge_into_dcsr "cases/elementwise/merge_into_dcsr.ti" [A, B, C] merge(&A, &B, &C);
    elementwise_multiply_csf "cases/elementwise/multiply_csf.ti" [X, Y] multiply(&X, &Y);
    elementwise_multiply_csf_coo "cases/elementwise/multiply_csf_coo.ti" [X, Y] multiply(&X, &Y);
    elementwise_multiply_dcsr "cases/elementwise/multiply_dcsr.ti" [A, B] multiply(&A, &B);
    elementwise_multiply_long_rows "cases/elementwise/multiply_long_rows.ti" [A, B] multiply(&A, &B);
    elementwise_multiply_uneven_rows "cases/elementwise/multiply_uneven_rows.ti" [A, B, D] multiply(&A, &B, &D);
    elementwise_negate "cases/elementwise/negate.ti" [A] negate(&A);
    elementwise_order_five "cases/elementwise/order_five.ti" [X, Y] add(&X, &Y);
    elementwise_remainder "cases/elementwise/remainder.ti" [A] parity(&A);
    elementwise_repeated_operand "cases/elementwise/repeated_operand.ti" [A] symmetric(&A);
    elementwise_scalar_on_stored_values "cases/elementwise/scalar_on_stored_values.ti" [X, s] shift(&X, s);
    elementwise_scaled_by_row_and_column "cases/elementwise/scaled_by_row_and_column.ti" [A, d, e] scale(&A, &d, &e);
    elementwise_select "cases/elementwise/select.ti" [A] threshold(&A);
    elementwise_sparse_into_dense "cases/elementwise/sparse_into_dense.ti" [A] affine(&A);
    elementwise_sparse_times_sum "cases/elementwise/sparse_times_sum.ti" [A, B, C] mixed(&A, &B, &C);
    elementwise_three_terms "cases/elementwise/three_terms.ti" [a, b, c] combine(&a, &b, &c);
    elementwise_transpose_csr "cases/elementwise/transpose_csr.ti" [A] transpose(&A);
    elementwise_vectors "cases/elementwise/vectors.ti" [x, y, z] add(&x, &y, &z);
    formats_delta_above_delta "cases/formats/delta_above_delta.ti" [X, x] ttv(&X, &x);
    formats_delta_above_dense "cases/formats/delta_above_dense.ti" [X] sums(&X);
    formats_delta_fibers "cases/formats/delta_fibers.ti" [X, B, C] mttkrp(&X, &B, &C);
    formats_delta_of_columns "cases/formats/delta_of_columns.ti" [A, x] transposed(&A, &x);
    formats_delta_result "cases/formats/delta_result.ti" [A, B] add(&A, &B);
    formats_delta_rows "cases/formats/delta_rows.ti" [A, x] spmv(&A, &x);
    formats_delta_times_sparse "cases/formats/delta_times_sparse.ti" [A, B] multiply(&A, &B);
    formats_delta_vector "cases/formats/delta_vector.ti" [a, b] dot(&a, &b);
    formats_dense_between_compressed "cases/formats/dense_between_compressed.ti" [X, Y] sum(&X, &Y);
    formats_fibers_of_coordinates "cases/formats/fibers_of_coordinates.ti" [X, B, C] mttkrp(&X, &B, &C);
    formats_narrow_widths "cases/formats/narrow_widths.ti" [A, x] spmv(&A, &x);
    formats_own_definition "cases/formats/own_definition.ti" [X] sum(&X);
    formats_own_list "cases/formats/own_list.ti" [A, x] spmv(&A, &x);
    formats_semi_sparse_operand "cases/formats/semi_sparse_operand.ti" [X, w] project(&X, &w);
    formats_bitmap_mask "cases/formats/bitmap_mask.ti" [M, A, B] sddmm(&M, &A, &B);
    formats_bitmap_of_blocks "cases/formats/bitmap_of_blocks.ti" [X] scale(&X);
    formats_bitmap_result "cases/formats/bitmap_result.ti" [A, B] add(&A, &B);
    formats_bitmap_spmv "cases/formats/bitmap_spmv.ti" [A, x] spmv(&A, &x);
    formats_bitmap_times_sparse "cases/formats/bitmap_times_sparse.ti" [A, B] multiply(&A, &B);
    formats_diagonal_of_columns "cases/formats/diagonal_of_columns.ti" [A, D] scale(&A, &D);
    formats_diagonal_plus_sparse "cases/formats/diagonal_plus_sparse.ti" [A, D] shift(&A, &D);
    formats_diagonal_result "cases/formats/diagonal_result.ti" [D, E] multiply(&D, &E);
    formats_diagonal_times_dense "cases/formats/diagonal_times_dense.ti" [D, X] scale(&D, &X);
    formats_diagonal_times_sparse "cases/formats/diagonal_times_sparse.ti" [D, A] scale(&D, &A);
    formats_ell_add "cases/formats/ell_add.ti" [A, B] add(&A, &B);
    formats_ell_mask "cases/formats/ell_mask.ti" [M, A, B] sddmm(&M, &A, &B);
    formats_ell_of_pairs "cases/formats/ell_of_pairs.ti" [X, v] ttv(&X, &v);
    formats_ell_of_rows "cases/formats/ell_of_rows.ti" [X, Y] inner(&X, &Y);
    formats_ell_spmv "cases/formats/ell_spmv.ti" [A, x] spmv(&A, &x);
    formats_ell_transposed "cases/formats/ell_transposed.ti" [A] transposed(&A);
    formats_fcoo_mttkrp "cases/formats/fcoo_mttkrp.ti" [X, B, C] mttkrp(&X, &B, &C);
    formats_fcoo_result "cases/formats/fcoo_result.ti" [X, Y] add(&X, &Y);
    formats_fcoo_ttm "cases/formats/fcoo_ttm.ti" [X, U] ttm(&X, &U);
    formats_hashed_gather "cases/formats/hashed_gather.ti" [A, h] multiply(&A, &h);
    formats_hashed_result "cases/formats/hashed_result.ti" [A, B] add(&A, &B);
    formats_hashed_walked "cases/formats/hashed_walked.ti" [A, x] spmv(&A, &x);
    formats_padded_at_the_edge_of_its_width "cases/formats/padded_at_the_edge_of_its_width.ti" [A, x] spmv(&A, &x);
    formats_padded_rows_of_inputs "cases/formats/padded_rows_of_inputs.ti" [A, x] spmv(&A, &x);
    formats_sliced_rows "cases/formats/sliced_rows.ti" [A, x] spmv(&A, &x);
    formats_sliced_rows_in_lanes "cases/formats/sliced_rows_in_lanes.ti" [A, x, w, z] product(&A, &x, &w, &z);
    formats_sliced_rows_of_inputs "cases/formats/sliced_rows_of_inputs.ti" [A, x] spmv(&A, &x);
    formats_sliced_fibers "cases/formats/sliced_fibers.ti" [X, B, C] mttkrp(&X, &B, &C);
    formats_sliced_and_compressed "cases/formats/sliced_and_compressed.ti" [A, B] add(&A, &B);
    formats_sliced_pattern_of_result "cases/formats/sliced_pattern_of_result.ti" [A] double(&A);
    formats_sliced_above_others "cases/formats/sliced_above_others.ti" [X, x] ttv(&X, &x);
    formats_sliced_outermost "cases/formats/sliced_outermost.ti" [A, x] spmv(&A, &x);
    formats_sliced_diagonal "cases/formats/sliced_diagonal.ti" [A, B] trace(&A, &B);
    formats_grouped_fibers "cases/formats/grouped_fibers.ti" [X, B, C] mttkrp(&X, &B, &C);
    formats_grouped_where_it_is_little "cases/formats/grouped_where_it_is_little.ti" [X, v] ttv(&X, &v);
    formats_grouped_rows_and_compressed "cases/formats/grouped_rows_and_compressed.ti" [A, B] add(&A, &B);
    formats_grouped_above_others "cases/formats/grouped_above_others.ti" [X] sum(&X);
    formats_grouped_outermost "cases/formats/grouped_outermost.ti" [A, x] product(&A, &x);
    formats_padded_fibers "cases/formats/padded_fibers.ti" [X, B, C] mttkrp(&X, &B, &C);
    formats_padded_of_fixed_width "cases/formats/padded_of_fixed_width.ti" [A, x] spmv(&A, &x);
    formats_run_of_rows "cases/formats/run_of_rows.ti" [A, B] product(&A, &B);
    formats_run_of_values "cases/formats/run_of_values.ti" [A, x] spmv(&A, &x);
    formats_run_result "cases/formats/run_result.ti" [A, B] add(&A, &B);
    formats_skyline_of_fibers "cases/formats/skyline_of_fibers.ti" [X, v] ttv(&X, &v);
    formats_skyline_plus_sparse "cases/formats/skyline_plus_sparse.ti" [A, B] add(&A, &B);
    formats_skyline_spmv "cases/formats/skyline_spmv.ti" [A, x] spmv(&A, &x);
    formats_skyline_times_sparse "cases/formats/skyline_times_sparse.ti" [A, B] multiply(&A, &B);
    formats_skyline_transposed "cases/formats/skyline_transposed.ti" [A, B] both(&A, &B);
    formats_ell_scaled "cases/formats/ell_scaled.ti" [A] scale(&A);
    formats_ell_semi_sparse "cases/formats/ell_semi_sparse.ti" [X, U] ttm(&X, &U);
    formats_fibers_of_padded_pairs_in_shares "cases/formats/fibers_of_padded_pairs_in_shares.ti" [B] kernel(&B);
    formats_rows_of_one_entry_in_shares "cases/formats/rows_of_one_entry_in_shares.ti" [B] kernel(&B);
    formats_skyline_scaled "cases/formats/skyline_scaled.ti" [A, x] scale(&A, &x);
    formats_unordered_both_ways "cases/formats/unordered_both_ways.ti" [A] both(&A);
    formats_unordered_mask "cases/formats/unordered_mask.ti" [M, A, B] sddmm(&M, &A, &B);
    formats_unordered_operand "cases/formats/unordered_operand.ti" [A, x] spmv(&A, &x);
    formats_unordered_result "cases/formats/unordered_result.ti" [A, B] add(&A, &B);
    formats_unordered_walked "cases/formats/unordered_walked.ti" [X, v] ttv(&X, &v);
    formats_wide_positions "cases/formats/wide_positions.ti" [A] scale(&A);
    maps_add_alto "cases/maps/add_alto.ti" [X, Z, c] add(&X, &Z, &c);
    maps_add_blocked_and_plain "cases/maps/add_blocked_and_plain.ti" [A, B] add(&A, &B);
    maps_alto_and_csf "cases/maps/alto_and_csf.ti" [X, Z] multiply(&X, &Z);
    maps_before_blocks "cases/maps/before_blocks.ti" [X, c, G] before(&X, &c, &G);
    maps_blocked_mask "cases/maps/blocked_mask.ti" [M, A, B] sddmm(&M, &A, &B);
    maps_columns_of_common_entries "cases/maps/columns_of_common_entries.ti" [A, B] columns(&A, &B);
    maps_inner_product_linear "cases/maps/inner_product_linear.ti" [X, Z, W] inner(&X, &Z, &W);
    maps_interleaved_blocks "cases/maps/interleaved_blocks.ti" [A, B] spmm(&A, &B);
    maps_into_blocks "cases/maps/into_blocks.ti" [A, B] add(&A, &B);
    maps_into_hicoo "cases/maps/into_hicoo.ti" [X] scale(&X);
    maps_least_of_alto "cases/maps/least_of_alto.ti" [A] least(&A);
    maps_linear_with_a_number "cases/maps/linear_with_a_number.ti" [A] total(&A);
    maps_mask_alto "cases/maps/mask_alto.ti" [M, S, A] sddmm(&M, &S, &A);
    maps_mttkrp_alto "cases/maps/mttkrp_alto.ti" [X, B, C] mttkrp(&X, &B, &C);
    maps_mttkrp_hicoo "cases/maps/mttkrp_hicoo.ti" [X, B, C] mttkrp(&X, &B, &C);
    maps_multiply_alto "cases/maps/multiply_alto.ti" [X, Z] multiply(&X, &Z);
    maps_own_map "cases/maps/own_map.ti" [A, B] multiply(&A, &B);
    maps_scale_alto "cases/maps/scale_alto.ti" [X, c] scale(&X, &c);
    maps_spmv_bcsr "cases/maps/spmv_bcsr.ti" [A, x] spmv(&A, &x);
    maps_spmv_dia "cases/maps/spmv_dia.ti" [A, x] spmv(&A, &x);
    maps_tiles "cases/maps/tiles.ti" [A, B] product(&A, &B);
    maps_ttm_semi_sparse_blocks "cases/maps/ttm_semi_sparse_blocks.ti" [X, U] ttm(&X, &U);
    maps_ttv_alto "cases/maps/ttv_alto.ti" [X, c] ttv(&X, &c);
    maps_two_orders_of_blocks "cases/maps/two_orders_of_blocks.ti" [A] symmetrized(&A);
    full_another_fill "cases/full/another_fill.ti" [A] another_fill(&A);
    full_bits "cases/full/bits.ti" [A, D] bits(&A, &D);
    full_bytes "cases/full/bytes.ti" [A, D] bytes(&A, &D);
    full_choice "cases/full/choice.ti" [A, D] choice(&A, &D);
    full_complex_numbers "cases/full/complex_numbers.ti" [A, d] complex_numbers(&A, &d);
    full_complex_single "cases/full/complex_single.ti" [A, d] complex_single(&A, &d);
    full_constant "cases/full/constant.ti" [A] constant(&A);
    full_copy_of_dense "cases/full/copy_of_dense.ti" [D] copy_of_dense(&D);
    full_declared_temporary "cases/full/declared_temporary.ti" [A, x] declared_temporary(&A, &x);
    full_either "cases/full/either.ti" [A, m] either(&A, &m);
    full_empty "cases/full/empty.ti" [A, D] empty(&A, &D);
    full_from_alto "cases/full/from_alto.ti" [A, x] from_alto(&A, &x);
    full_from_bcsr "cases/full/from_bcsr.ti" [A, x] from_bcsr(&A, &x);
    full_from_bitmap "cases/full/from_bitmap.ti" [A, x] from_bitmap(&A, &x);
    full_from_csc "cases/full/from_csc.ti" [A, x] from_csc(&A, &x);
    full_from_hashed "cases/full/from_hashed.ti" [A, x] from_hashed(&A, &x);
    full_from_run "cases/full/from_run.ti" [A, x] from_run(&A, &x);
    full_function "cases/full/function.ti" [A] function(&A);
    full_in_blocks_of_rows "cases/full/in_blocks_of_rows.ti" [A, D] in_blocks_of_rows(&A, &D);
    full_index_as_value "cases/full/index_as_value.ti" [A] index_as_value(&A);
    full_into_alto "cases/full/into_alto.ti" [A, D] into_alto(&A, &D);
    full_into_anti_diagonals "cases/full/into_anti_diagonals.ti" [A, D] into_anti_diagonals(&A, &D);
    full_into_bcsf "cases/full/into_bcsf.ti" [A, D] into_bcsf(&A, &D);
    full_into_bcsr "cases/full/into_bcsr.ti" [A, D] into_bcsr(&A, &D);
    full_into_bitmap "cases/full/into_bitmap.ti" [A, D] into_bitmap(&A, &D);
    full_into_cfb "cases/full/into_cfb.ti" [A, D] into_cfb(&A, &D);
    full_into_compressed_dense "cases/full/into_compressed_dense.ti" [A, D] into_compressed_dense(&A, &D);
    full_into_coo "cases/full/into_coo.ti" [A, D] into_coo(&A, &D);
    full_into_csb "cases/full/into_csb.ti" [A, D] into_csb(&A, &D);
    full_into_csc "cases/full/into_csc.ti" [A, D] into_csc(&A, &D);
    full_into_dcsr "cases/full/into_dcsr.ti" [A, D] into_dcsr(&A, &D);
    full_into_dia "cases/full/into_dia.ti" [A, D] into_dia(&A, &D);
    full_into_ell "cases/full/into_ell.ti" [A, D] into_ell(&A, &D);
    full_into_fcoo "cases/full/into_fcoo.ti" [A, D] into_fcoo(&A, &D);
    full_into_hashed "cases/full/into_hashed.ti" [A, D] into_hashed(&A, &D);
    full_into_hashed_twice "cases/full/into_hashed_twice.ti" [A, D] into_hashed_twice(&A, &D);
    full_into_hicoo "cases/full/into_hicoo.ti" [A, D] into_hicoo(&A, &D);
    full_into_lco "cases/full/into_lco.ti" [A, D] into_lco(&A, &D);
    full_into_mcoo "cases/full/into_mcoo.ti" [A, D] into_mcoo(&A, &D);
    full_into_narrow "cases/full/into_narrow.ti" [A, D] into_narrow(&A, &D);
    full_into_run "cases/full/into_run.ti" [A, D] into_run(&A, &D);
    full_into_scoo "cases/full/into_scoo.ti" [A, D] into_scoo(&A, &D);
    full_into_sell "cases/full/into_sell.ti" [A, D] into_sell(&A, &D);
    full_into_skyline "cases/full/into_skyline.ti" [A, D] into_skyline(&A, &D);
    full_largest_of_rows "cases/full/largest_of_rows.ti" [A, b] largest_of_rows(&A, &b);
    full_least_of_missing "cases/full/least_of_missing.ti" [A, x] least_of_missing(&A, &x);
    full_long "cases/full/long.ti" [A, d] long(&A, &d);
    full_negation "cases/full/negation.ti" [A] negation(&A);
    full_one_element "cases/full/one_element.ti" [A, D] one_element(&A, &D);
    full_order_three "cases/full/order_three.ti" [X, z] order_three(&X, &z);
    full_order_three_in_another_order "cases/full/order_three_in_another_order.ti" [X, z] order_three_in_another_order(&X, &z);
    full_outer_product_of_dense "cases/full/outer_product_of_dense.ti" [x, z] outer_product_of_dense(&x, &z);
    full_parallel_positions "cases/full/parallel_positions.ti" [A, d] parallel_positions(&A, &d);
    full_part_at_computed_indices "cases/full/part_at_computed_indices.ti" [x, z] part_at_computed_indices(&x, &z);
    full_product_of_columns_plus_constant "cases/full/product_of_columns_plus_constant.ti" [A, B] product_of_columns_plus_constant(&A, &B);
    full_product_plus_dense "cases/full/product_plus_dense.ti" [A, B, D] product_plus_dense(&A, &B, &D);
    full_quotient "cases/full/quotient.ti" [A, D] quotient(&A, &D);
    full_row_sums_plus_dense "cases/full/row_sums_plus_dense.ti" [A, b] row_sums_plus_dense(&A, &b);
    full_same_format_in_blocks "cases/full/same_format_in_blocks.ti" [A, B] same_format_in_blocks(&A, &B);
    full_single "cases/full/single.ti" [A, D] single(&A, &D);
    full_sums_of_blocks "cases/full/sums_of_blocks.ti" [x] sums_of_blocks(&x);
    full_transposed_plus_dense "cases/full/transposed_plus_dense.ti" [A, D] transposed_plus_dense(&A, &D);
    full_two_results "cases/full/two_results.ti" [A, x] two_results(&A, &x);
    full_updated "cases/full/updated.ti" [A, D] updated(&A, &D);
    full_updated_by_the_larger "cases/full/updated_by_the_larger.ti" [A, D] updated_by_the_larger(&A, &D);
    full_vector_plus_dense "cases/full/vector_plus_dense.ti" [B, C] vector_plus_dense(&B, &C);
    functions_abs "cases/functions/abs.ti" [A] absolute(&A);
    functions_index_values "cases/functions/index_values.ti" [A] moment(&A);
    functions_minimum "cases/functions/minimum.ti" [A, B] lower(&A, &B);
    functions_of_literals "cases/functions/of_literals.ti" [b] scaled(&b);
    functions_pow_and_ln "cases/functions/pow_and_ln.ti" [A] entropy(&A);
    functions_relu "cases/functions/relu.ti" [A] relu(&A);
    functions_select "cases/functions/select.ti" [A, limit] clip(&A, limit);
    functions_sqrt "cases/functions/sqrt.ti" [A] roots(&A);
    functions_upper_triangle "cases/functions/upper_triangle.ti" [A] upper(&A);
    functions_zero_only_when_computed "cases/functions/zero_only_when_computed.ti" [A] zero_only_when_computed(&A);
    indices_rows_behind_the_end "cases/indices/rows_behind_the_end.ti" [x, z] shifted(&x, &z);
    indices_rows_meet "cases/indices/rows_meet.ti" [a, b] products(&a, &b);
    indices_blocks "cases/indices/blocks.ti" [x] blocks(&x);
    indices_both_sparse "cases/indices/both_sparse.ti" [x, w] convolve(&x, &w);
    indices_constant "cases/indices/constant.ti" [A, B] row(&A, &B);
    indices_constant_of_fibers "cases/indices/constant_of_fibers.ti" [X] slice(&X);
    indices_convolution "cases/indices/convolution.ti" [x, w] convolve(&x, &w);
    indices_convolution_2d "cases/indices/convolution_2d.ti" [X, W] convolve(&X, &W);
    indices_convolution_channels "cases/indices/convolution_channels.ti" [X, W] convolve(&X, &W);
    indices_diagonal "cases/indices/diagonal.ti" [A] diagonal(&A);
    indices_diagonal_in_a_sum "cases/indices/diagonal_in_a_sum.ti" [B, D] weighted(&B, &D);
    indices_diagonal_of_columns "cases/indices/diagonal_of_columns.ti" [B] spread(&B);
    indices_difference_of_itself "cases/indices/difference_of_itself.ti" [b, C] difference(&b, &C);
    indices_diagonal_result "cases/indices/diagonal_result.ti" [d] spread(&d);
    indices_offdiagonal "cases/indices/offdiagonal.ti" [A, x] bidiagonal(&A, &x);
    indices_polynomials "cases/indices/polynomials.ti" [a, b] product(&a, &b);
    indices_remainders "cases/indices/remainders.ti" [x, z] tile(&x, &z);
    indices_reversed "cases/indices/reversed.ti" [x] reverse(&x);
    indices_row_of_coo "cases/indices/row_of_coo.ti" [A] sum_of_row(&A);
    indices_shifted_mask "cases/indices/shifted_mask.ti" [A, B] select(&A, &B);
    indices_slice_of_rows "cases/indices/slice_of_rows.ti" [X] slice(&X);
    indices_slope_of_result "cases/indices/slope_of_result.ti" [x] spread(&x);
    indices_sparse_convolution "cases/indices/sparse_convolution.ti" [x, w] convolve(&x, &w);
    indices_sparse_kernel "cases/indices/sparse_kernel.ti" [x, w] convolve(&x, &w);
    indices_sparse_stencil "cases/indices/sparse_stencil.ti" [x] second_difference(&x);
    indices_stencil "cases/indices/stencil.ti" [x] second_difference(&x);
    indices_stride "cases/indices/stride.ti" [A] every_third(&A);
    indices_stride_of_result "cases/indices/stride_of_result.ti" [a] spread(&a);
    indices_stride_of_rows "cases/indices/stride_of_rows.ti" [A] every_second(&A);
    indices_subdiagonal_result "cases/indices/subdiagonal_result.ti" [x] spread(&x);
    indices_sum_inside "cases/indices/sum_inside.ti" [x, w, b] residual(&x, &w, &b);
    indices_superdiagonal "cases/indices/superdiagonal.ti" [X] superdiagonal(&X);
    indices_trace "cases/indices/trace.ti" [A] trace(&A);
    indices_trace_of_coo "cases/indices/trace_of_coo.ti" [A] trace(&A);
    indices_two_terms "cases/indices/two_terms.ti" [x, w, z] convolve(&x, &w, &z);
    indices_two_windows "cases/indices/two_windows.ti" [a, b] overlap(&a, &b);
    indices_union_of_windows "cases/indices/union_of_windows.ti" [a, b] overlap(&a, &b);
    indices_window "cases/indices/window.ti" [A, x] window(&A, &x);
    indices_window_of_dense "cases/indices/window_of_dense.ti" [A] window(&A);
    indices_window_of_result "cases/indices/window_of_result.ti" [A] place(&A);
    indices_updated_at_computed "cases/indices/updated_at_computed.ti" [A, B] updated(&A, &B);
    indices_folded_result "cases/indices/folded_result.ti" [A, B] folded(&A, &B);
    indices_shifted_rows_of_result "cases/indices/shifted_rows_of_result.ti" [A, B, M] product(&A, &B, &M);
    indices_tropical_product "cases/indices/tropical_product.ti" [a, b] product(&a, &b);
    indices_product_of_sparse_polynomials "cases/indices/product_of_sparse_polynomials.ti" [a, b] product(&a, &b);
    indices_reversed_result "cases/indices/reversed_result.ti" [A] reversed(&A);
    indices_histogram_of_result "cases/indices/histogram_of_result.ti" [x] blocks(&x);
    indices_halves_of_a_mask "cases/indices/halves_of_a_mask.ti" [x, M] halves(&x, &M);
    indices_shifted_rows_into_fibers "cases/indices/shifted_rows_into_fibers.ti" [B] kernel(&B);
    indices_value_in_a_term_of_its_own "cases/indices/value_in_a_term_of_its_own.ti" [B0, B3, B4] kernel(&B0, &B3, &B4);
    indices_value_of_an_index_that_is_gone "cases/indices/value_of_an_index_that_is_gone.ti" [b, c] kernel(&b, &c);
    indices_value_over_an_empty_range "cases/indices/value_over_an_empty_range.ti" [B0, B3, B4] kernel(&B0, &B3, &B4);
    levels_antidiagonals "cases/levels/antidiagonals.ti" [A, x] spmv(&A, &x);
    levels_bcsr_and_csr "cases/levels/bcsr_and_csr.ti" [A, B] add(&A, &B);
    levels_bcsr_empty "cases/levels/bcsr_empty.ti" [A, x] spmv(&A, &x);
    levels_bcsr_residual "cases/levels/bcsr_residual.ti" [A, x, b] residual(&A, &x, &b);
    levels_bcsr_sampled "cases/levels/bcsr_sampled.ti" [A, B, C] sddmm(&A, &B, &C);
    levels_bcsr_scaled "cases/levels/bcsr_scaled.ti" [A, x] scale(&A, &x);
    levels_bcsr_small "cases/levels/bcsr_small.ti" [A, x] spmv(&A, &x);
    levels_bcsr_spmm "cases/levels/bcsr_spmm.ti" [A, X] spmm(&A, &X);
    levels_bcsr_spmv "cases/levels/bcsr_spmv.ti" [A, x] spmv(&A, &x);
    levels_bcsr_spmv_divides "cases/levels/bcsr_spmv_divides.ti" [A, x] spmv(&A, &x);
    levels_bcsr_sum "cases/levels/bcsr_sum.ti" [A] total(&A);
    levels_bcsr_transposed "cases/levels/bcsr_transposed.ti" [A, x] spmv(&A, &x);
    levels_blocks_of_two_modes_sum "cases/levels/blocks_of_two_modes_sum.ti" [P, Q] sum(&P, &Q);
    levels_diagonals "cases/levels/diagonals.ti" [A, x] spmv(&A, &x);
    levels_diagonals_spmm "cases/levels/diagonals_spmm.ti" [A, X] spmm(&A, &X);
    levels_diagonals_tall "cases/levels/diagonals_tall.ti" [A, x] spmv(&A, &x);
    levels_diagonals_transposed "cases/levels/diagonals_transposed.ti" [A, x] spmv(&A, &x);
    levels_hicoo_mttkrp "cases/levels/hicoo_mttkrp.ti" [X, B, C] mttkrp(&X, &B, &C);
    levels_hicoo_mttkrp_last "cases/levels/hicoo_mttkrp_last.ti" [X, B, C] mttkrp(&X, &B, &C);
    levels_hicoo_scaled "cases/levels/hicoo_scaled.ti" [X, a] scale(&X, a);
    levels_hicoo_squares "cases/levels/hicoo_squares.ti" [X] norm(&X);
    levels_hicoo_sum "cases/levels/hicoo_sum.ti" [X, Y] add(&X, &Y);
    levels_hicoo_ttv "cases/levels/hicoo_ttv.ti" [X, v] ttv(&X, &v);
    levels_hicoo_ttv_sparse "cases/levels/hicoo_ttv_sparse.ti" [X, v] ttv(&X, &v);
    levels_linear "cases/levels/linear.ti" [A, x] spmv(&A, &x);
    levels_two_levels_of_blocks "cases/levels/two_levels_of_blocks.ti" [A, x] spmv(&A, &x);
    masks_accumulate "cases/masks/accumulate.ti" [A, M, x] accumulate(&A, &M, &x);
    masks_coo "cases/masks/coo.ti" [M, u, v] sample(&M, &u, &v);
    masks_dense_values "cases/masks/dense_values.ti" [M, B] sample(&M, &B);
    masks_explicit_zero "cases/masks/explicit_zero.ti" [M, B] explicit_zero(&M, &B);
    masks_least_of_sums "cases/masks/least_of_sums_at_interleaved_coordinates.ti" [M, v] least(&M, &v);
    masks_literal "cases/masks/literal.ti" [M] pattern(&M);
    masks_many_operands "cases/masks/many_operands.ti" [A, B, C, D, E, F, G, H, M] many_operands(&A, &B, &C, &D, &E, &F, &G, &H, &M);
    masks_many_operands_of_a_sparse_result "cases/masks/many_operands_of_a_sparse_result.ti" [A, B, C, D, E, F, G, H, M] many(&A, &B, &C, &D, &E, &F, &G, &H, &M);
    masks_mask_of_another_order "cases/masks/mask_of_another_order.ti" [A, M] pick(&A, &M);
    masks_mask_over_the_sum "cases/masks/mask_over_the_sum.ti" [A, M] sums(&A, &M);
    masks_masked_product "cases/masks/masked_product.ti" [A, B, M] product(&A, &B, &M);
    masks_minimum_of_an_empty_window "cases/masks/minimum_of_an_empty_window.ti" [B, M] kernel(&B, &M);
    masks_other_sparse "cases/masks/other_sparse.ti" [M, A] sample(&M, &A);
    masks_products_of_sums "cases/masks/products_of_sums_at_computed_coordinates.ti" [M, v] scaled(&M, &v);
    masks_spgemm "cases/masks/spgemm.ti" [A, B, M] triangles(&A, &B, &M);
    masks_to_dense "cases/masks/to_dense.ti" [M, B] sample(&M, &B);
    masks_values_at_entries "cases/masks/values_at_entries.ti" [A] ones(&A);
    masks_vector_over_rows "cases/masks/vector_over_rows.ti" [m, A] vector_over_rows(&m, &A);
    masks_factors_through_a_workspace "cases/masks/factors_through_a_workspace.ti" [B, M] kernel(&B, &M);
    masks_terms_through_a_workspace "cases/masks/terms_through_a_workspace.ti" [B, M] kernel(&B, &M);
    masks_terms_of_a_sum "cases/masks/terms_of_a_sum.ti" [A, B, M] sums(&A, &B, &M);
    masks_updates "cases/masks/updates.ti" [A, x, M, N] updates(&A, &x, &M, &N);
    names_generated_names "cases/names/generated_names.ti" [chunks, high, parallel] low_high(&chunks, &high, parallel);
    names_letters_of_other_alphabets "cases/names/letters_of_other_alphabets.ti" [λ, x] größe(&λ, &x);
    names_rust_words "cases/names/rust_words.ti" [Vec, usize] rust_words(&Vec, &usize);
    operators_comparison_of_sums "cases/operators/comparison_of_sums.ti" [A, x] comparison_of_sums(&A, &x);
    operators_equalities "cases/operators/equalities.ti" [A, B] equalities(&A, &B);
    operators_index_arithmetic "cases/operators/index_arithmetic.ti" [A] index_arithmetic(&A);
    operators_index_compared "cases/operators/index_compared.ti" [A, x] index_compared(&A, &x);
    operators_integers "cases/operators/integers.ti" [A, b] integers(&A, &b);
    operators_large_literals "cases/operators/large_literals.ti" [A] large_literals(&A);
    operators_negated_call "cases/operators/negated_call.ti" [A, B] negated_call(&A, &B);
    operators_negative_literal "cases/operators/negative_literal.ti" [A] negative_literal(&A);
    operators_nested_division "cases/operators/nested_division.ti" [A, b] nested_division(&A, &b);
    operators_nested_subtraction "cases/operators/nested_subtraction.ti" [A, b, c] nested_subtraction(&A, &b, &c);
    operators_pow_of_negative "cases/operators/pow_of_negative.ti" [A] pow_of_negative(&A);
    operators_small_float "cases/operators/small_float.ti" [A] small_float(&A);
    orders_cfb "cases/orders/cfb.ti" [X, v] cfb(&X, &v);
    orders_coo_to_csf "cases/orders/coo_to_csf.ti" [X] convert(&X);
    orders_csc_to_csr "cases/orders/csc_to_csr.ti" [A] convert(&A);
    orders_csr_plus_csc "cases/orders/csr_plus_csc.ti" [A, B] add(&A, &B);
    orders_csr_to_dense "cases/orders/csr_to_dense.ti" [A] unpack(&A);
    orders_dense_column_major "cases/orders/dense_column_major.ti" [A, B] dense_column_major(&A, &B);
    orders_dense_to_csr "cases/orders/dense_to_csr.ti" [A] pack(&A);
    orders_diagonal_blocks "cases/orders/diagonal_blocks.ti" [X, A] diagonal_blocks(&X, &A);
    orders_hocsr "cases/orders/hocsr.ti" [X, v] hocsr(&X, &v);
    orders_permuted_operands "cases/orders/permuted_operands.ti" [X, Y] permuted_operands(&X, &Y);
    orders_product_of_orders "cases/orders/product_of_orders.ti" [X, A] mixed(&X, &A);
    orders_rotated_csf "cases/orders/rotated_csf.ti" [X] rotate(&X);
    orders_scoo_operand "cases/orders/scoo_operand.ti" [X, v] scoo_operand(&X, &v);
    products_bilinear_form "cases/products/bilinear_form.ti" [x, A, y] form(&x, &A, &y);
    products_contraction_csf "cases/products/contraction_csf.ti" [X, Y] contraction(&X, &Y);
    products_contraction_coo "cases/products/contraction_coo.ti" [X, Y] contraction(&X, &Y);
    products_contraction_to_order_4 "cases/products/contraction_to_order_4.ti" [X, Y] contraction(&X, &Y);
    products_contraction_of_paths "cases/products/contraction_of_paths.ti" [X, Y] contraction(&X, &Y);
    products_gemm "cases/products/gemm.ti" [A, B] gemm(&A, &B);
    products_inner_product "cases/products/inner_product.ti" [X, Y] inner(&X, &Y);
    products_kronecker_of_levels "cases/products/kronecker_of_levels.ti" [A, B] product(&A, &B);
    products_mttkrp_coo_mode_3 "cases/products/mttkrp_coo_mode_3.ti" [X, A, B] mttkrp(&X, &A, &B);
    products_mttkrp_csf "cases/products/mttkrp_csf.ti" [X, B, C] mttkrp(&X, &B, &C);
    products_mttkrp_reversed "cases/products/mttkrp_reversed.ti" [X, B, C] mttkrp(&X, &B, &C);
    products_mttkrp_sparse_factor "cases/products/mttkrp_sparse_factor.ti" [X, B, C] mttkrp(&X, &B, &C);
    products_norm_of_residual "cases/products/norm_of_residual.ti" [A, x, b] residual(&A, &x, &b);
    products_order_5 "cases/products/order_5.ti" [X, U] contract(&X, &U);
    products_outer_product "cases/products/outer_product.ti" [x, y] outer(&x, &y);
    products_sddmm_csr "cases/products/sddmm_csr.ti" [S, U, V] sddmm(&S, &U, &V);
    products_spgemm_dense "cases/products/spgemm_dense.ti" [A, B] spgemm(&A, &B);
    products_spgemm_gustavson "cases/products/spgemm_gustavson.ti" [A, B] spgemm(&A, &B);
    products_spgemm_inner "cases/products/spgemm_inner.ti" [A, B] spgemm(&A, &B);
    products_spmm_csr "cases/products/spmm_csr.ti" [A, X] spmm(&A, &X);
    products_spmm_row_major_and_column_major "cases/products/spmm_row_major_and_column_major.ti" [A, X] spmm(&A, &X);
    products_spmspv "cases/products/spmspv.ti" [A, x] spmspv(&A, &x);
    products_rows_of_any_length "cases/products/rows_of_any_length.ti" [A, x, w, z] product(&A, &x, &w, &z);
    products_short_fibers "cases/products/short_fibers.ti" [X, v] ttv(&X, &v);
    products_short_fibers_into_dense "cases/products/short_fibers_into_dense.ti" [X, v] ttv(&X, &v);
    products_short_rows "cases/products/short_rows.ti" [A, x] spmv(&A, &x);
    products_spmv_coo "cases/products/spmv_coo.ti" [A, x] spmv(&A, &x);
    products_spmv_csc "cases/products/spmv_csc.ti" [A, x] spmv(&A, &x);
    products_spmv_csr "cases/products/spmv_csr.ti" [A, x] spmv(&A, &x);
    products_spmv_transposed_bias "cases/products/spmv_transposed_bias.ti" [A, x, b, alpha] gemv(&A, &x, &b, alpha);
    products_triangles "cases/products/triangles.ti" [A] triangles(&A);
    products_trilinear_form "cases/products/trilinear_form.ti" [X, u, v, w] form(&X, &u, &v, &w);
    products_ttm_semi_sparse "cases/products/ttm_semi_sparse.ti" [X, U] ttm(&X, &U);
    products_ttm_to_sparse "cases/products/ttm_to_sparse.ti" [X, U] ttm(&X, &U);
    products_ttv_csf "cases/products/ttv_csf.ti" [X, v] ttv(&X, &v);
    products_ttv_first_mode "cases/products/ttv_first_mode.ti" [X, v] ttv(&X, &v);
    products_ttv_sparse_vector "cases/products/ttv_sparse_vector.ti" [X, v] ttv(&X, &v);
    reductions_named_in_one_term "cases/reductions/named_in_one_term.ti" [A, B, x] named(&A, &B, &x);
    reductions_accumulate "cases/reductions/accumulate.ti" [A, b] rows(&A, &b);
    reductions_bits "cases/reductions/bits.ti" [A] either(&A);
    reductions_bits_of_columns "cases/reductions/bits_of_columns.ti" [A, M] both(&A, &M);
    reductions_bytes "cases/reductions/bytes.ti" [A] rows(&A);
    reductions_column_maxima "cases/reductions/column_maxima.ti" [A, x] maxima(&A, &x);
    reductions_column_sums "cases/reductions/column_sums.ti" [A] columns(&A);
    reductions_constant_summand "cases/reductions/constant_summand.ti" [A] count(&A);
    reductions_explicit_sum "cases/reductions/explicit_sum.ti" [A] normalise(&A);
    reductions_gemv "cases/reductions/gemv.ti" [A, x, z, alpha, beta] gemv(&A, &x, &z, alpha, beta);
    reductions_integers "cases/reductions/integers.ti" [A, x] spmv(&A, &x);
    reductions_largest "cases/reductions/largest.ti" [X] largest(&X);
    reductions_mean_of_columns "cases/reductions/mean_of_columns.ti" [A] mean_of_columns(&A);
    reductions_minimum_of_nothing "cases/reductions/minimum_of_nothing.ti" [A] minimum(&A);
    reductions_minimum_of_sums "cases/reductions/minimum_of_sums.ti" [A, B] minimum(&A, &B);
    reductions_nested "cases/reductions/nested.ti" [A, B, x] nested(&A, &B, &x);
    reductions_norm_of_rows "cases/reductions/norm_of_rows.ti" [A] norms(&A);
    reductions_product_moved_and_split "cases/reductions/product_moved_and_split.ti" [D] products(&D);
    reductions_product_of_vectors "cases/reductions/product_of_vectors.ti" [x, y] product_of_vectors(&x, &y);
    reductions_residual "cases/reductions/residual.ti" [A, x, b] residual(&A, &x, &b);
    reductions_row_maxima_of_stored "cases/reductions/row_maxima_of_stored.ti" [A] maxima(&A);
    reductions_row_minima "cases/reductions/row_minima.ti" [A] minima(&A);
    reductions_row_products "cases/reductions/row_products.ti" [A] products(&A);
    reductions_row_sums "cases/reductions/row_sums.ti" [A] rows(&A);
    reductions_row_sums_sparse "cases/reductions/row_sums_sparse.ti" [A] rows(&A);
    reductions_row_sums_squared "cases/reductions/row_sums_squared.ti" [A] squares(&A);
    reductions_softmax_of_rows "cases/reductions/softmax_of_rows.ti" [A] shifted(&A);
    reductions_sparse_products "cases/reductions/sparse_products.ti" [A] products(&A);
    reductions_spread_of_rows "cases/reductions/spread_of_rows.ti" [A] spread(&A);
    reductions_three_operands_two_sparse "cases/reductions/three_operands_two_sparse.ti" [X, A, v] three_operands_two_sparse(&X, &A, &v);
    reductions_total "cases/reductions/total.ti" [X] total(&X);
    reductions_two_sums "cases/reductions/two_sums.ti" [A, B] sums(&A, &B);
    reductions_two_terms "cases/reductions/two_terms.ti" [A, B, x, z] two(&A, &B, &x, &z);
    reductions_update_by_minimum "cases/reductions/update_by_minimum.ti" [A, b] update(&A, &b);
    reductions_variance_like "cases/reductions/variance_like.ti" [A, m] variance_like(&A, &m);
    reductions_bits_transposed "cases/reductions/bits_transposed.ti" [A] bits(&A);
    reductions_least_over_outer_rows "cases/reductions/least_over_outer_rows.ti" [A] least(&A);
    regressions_exponents_are_read "cases/regressions/exponents_are_read.ti" [b] kernel(&b);
    regressions_independent_factors "cases/regressions/independent_factors.ti" [B, C, D] kernel(&B, &C, &D);
    regressions_invalid_c "cases/regressions/invalid_c.ti" [B, C, D] kernel(&B, &C, &D);
    regressions_least_after_largest "cases/regressions/least_after_largest.ti" [A] kernel(&A);
    regressions_nothing_above_a_dense_level "cases/regressions/nothing_above_a_dense_level.ti" [B] kernel(&B);
    regressions_nothing_at_a_computed_index "cases/regressions/nothing_at_a_computed_index.ti" [B] moved(&B);
    regressions_order_conflict "cases/regressions/order_conflict.ti" [B, C] kernel(&B, &C);
    regressions_permuted_dense_levels "cases/regressions/permuted_dense_levels.ti" [B] kernel(&B);
    regressions_product_into_zeros "cases/regressions/product_into_zeros.ti" [B] kernel(&B);
    regressions_product_with_an_empty_sum "cases/regressions/product_with_an_empty_sum.ti" [B0, B3, B4] kernel(&B0, &B3, &B4);
    regressions_rows_of_a_sparse_result "cases/regressions/rows_of_a_sparse_result.ti" [X, U] kernel(&X, &U);
    regressions_rows_of_blocks "cases/regressions/rows_of_blocks.ti" [X, v] rows_of_blocks(&X, &v);
    regressions_rows_of_two_products "cases/regressions/rows_of_two_products.ti" [B] kernel(&B);
    regressions_sum_over_the_middle "cases/regressions/sum_over_the_middle.ti" [B, C] kernel(&B, &C);
    regressions_sum_over_the_outer_level "cases/regressions/sum_over_the_outer_level.ti" [B] kernel(&B);
    regressions_terms_of_rows_in_slices "cases/regressions/terms_of_rows_in_slices.ti" [A, x, w, B, b, c] slices(&A, &x, &w, &B, &b, &c);
    regressions_transposed_product_with_a_sum "cases/regressions/transposed_product_with_a_sum.ti" [B, C, D] kernel(&B, &C, &D);
    regressions_vector_sum_into_an_entry "cases/regressions/vector_sum_into_an_entry.ti" [A, B, D, e] kernel(&A, &B, &D, &e);
    regions_alto "cases/regions/alto.ti" [X, x] linear(&X, &x);
    regions_bitmaps "cases/regions/bitmaps.ti" [A, x] bitmaps(&A, &x);
    regions_blocks "cases/regions/blocks.ti" [A, x, b] blocks(&A, &x, &b);
    regions_bytes_that_wrap "cases/regions/bytes_that_wrap.ti" [A] wrapped(&A);
    regions_columns_of_max "cases/regions/columns_of_max.ti" [A, x] columns(&A, &x);
    regions_complex_powers "cases/regions/complex_powers.ti" [A, b] powers(&A, &b);
    regions_coordinates "cases/regions/coordinates.ti" [A, X, x] coordinates(&A, &X, &x);
    regions_declared_operator "cases/regions/declared_operator.ti" [A, x] declared(&A, &x);
    regions_delta "cases/regions/delta.ti" [A, x] deltas(&A, &x);
    regions_diagonals "cases/regions/diagonals.ti" [A, x] diagonals(&A, &x);
    regions_fibers "cases/regions/fibers.ti" [X, x] fibers(&X, &x);
    regions_first_update "cases/regions/first_update.ti" [A, x] updates(&A, &x);
    regions_hashed "cases/regions/hashed.ti" [A, x] hashed(&A, &x);
    regions_hicoo "cases/regions/hicoo.ti" [X, x] blocks(&X, &x);
    regions_indices_of_no_operand "cases/regions/indices_of_no_operand.ti" [A, x] counts(&A, &x);
    regions_inside_of_an_expression "cases/regions/inside_of_an_expression.ti" [A, x, b] inside(&A, &x, &b);
    regions_intersection_of_operands "cases/regions/intersection_of_operands.ti" [A, B, c] intersection(&A, &B, &c);
    regions_later_modes_of_fibers "cases/regions/later_modes_of_fibers.ti" [X] fibers(&X);
    regions_matrix_product "cases/regions/matrix_product.ti" [A, B] product(&A, &B);
    regions_matrix_product_of_sums "cases/regions/matrix_product_of_sums.ti" [A, B, c] product(&A, &B, &c);
    regions_maxima "cases/regions/maxima.ti" [A, x] maxima(&A, &x);
    regions_maxima_of_empty_extent "cases/regions/maxima_of_empty_extent.ti" [A, x] maxima(&A, &x);
    regions_maxima_of_full_rows "cases/regions/maxima_of_full_rows.ti" [A, x] maxima(&A, &x);
    regions_minima_by_columns "cases/regions/minima_by_columns.ti" [A, x] minima(&A, &x);
    regions_nested_operands "cases/regions/nested_operands.ti" [A, B, x] nested(&A, &B, &x);
    regions_nested_reductions "cases/regions/nested_reductions.ti" [A, B, x] nested(&A, &B, &x);
    regions_pattern_of_a_projection "cases/regions/pattern_of_a_projection.ti" [X, G, K] evaluate(&X, &G, &K);
    regions_counts_of_entries "cases/regions/counts_of_entries.ti" [A, X, x] counts(&A, &X, &x);
    regions_padded "cases/regions/padded.ti" [A, x] padded(&A, &x);
    regions_partly_constant "cases/regions/partly_constant.ti" [A, B] partly(&A, &B);
    regions_powers "cases/regions/powers.ti" [A] powers(&A);
    regions_powers_of_outer_terms "cases/regions/powers_of_outer_terms.ti" [A, b] powers(&A, &b);
    regions_products_of_bytes "cases/regions/products_of_bytes.ti" [A] powers(&A);
    regions_products_of_zeros "cases/regions/products_of_zeros.ti" [A] products(&A);
    regions_ranks "cases/regions/ranks.ti" [A, B, C] ranks(&A, &B, &C);
    regions_sampled "cases/regions/sampled.ti" [S, A, B] sampled(&S, &A, &B);
    regions_scalar_of_a_matrix "cases/regions/scalar_of_a_matrix.ti" [A, B, C] largest(&A, &B, &C);
    regions_scalar_of_a_vector "cases/regions/scalar_of_a_vector.ti" [a] largest(&a);
    regions_sparse_result "cases/regions/sparse_result.ti" [A, x] result(&A, &x);
    regions_stored "cases/regions/stored.ti" [A] stored(&A);
    regions_sums_of_a_fill "cases/regions/sums_of_a_fill.ti" [A] filled(&A);
    regions_sums_of_no_times_infinity "cases/regions/sums_of_no_times_infinity.ti" [A, B, b, Z] full(&A, &B, &b, &Z);
    regions_sums_with_outer_terms "cases/regions/sums_with_outer_terms.ti" [A, b] shifted(&A, &b);
    regions_sums_with_outer_terms_by_columns "cases/regions/sums_with_outer_terms_by_columns.ti" [A, b] shifted(&A, &b);
    regions_truth "cases/regions/truth.ti" [A, x] truth(&A, &x);
    regions_union_of_operands "cases/regions/union_of_operands.ti" [A, B] union(&A, &B);
    regions_updates "cases/regions/updates.ti" [A, x, b] updates(&A, &x, &b);
    scalars_dot "cases/scalars/dot.ti" [x, y] dot(&x, &y);
    scalars_reciprocal "cases/scalars/reciprocal.ti" [A, alpha] reciprocal(&A, alpha);
    scalars_squared_norm_coo "cases/scalars/squared_norm_coo.ti" [X] squared_norm(&X);
    scalars_sum "cases/scalars/sum.ti" [X] total(&X);
    scatter_bytes_listed "cases/scatter/bytes_listed.ti" [A, B] difference(&A, &B);
    scatter_chain "cases/scatter/chain.ti" [A, B, D] chain(&A, &B, &D);
    scatter_columns_to_a_vector "cases/scatter/columns_to_a_vector.ti" [A] columns(&A);
    scatter_different_patterns "cases/scatter/different_patterns.ti" [A, B] hadamard(&A, &B);
    scatter_empty "cases/scatter/empty.ti" [A, B] spgemm(&A, &B);
    scatter_gram "cases/scatter/gram.ti" [A, B] gram(&A, &B);
    scatter_khatri_rao "cases/scatter/khatri_rao.ti" [A, B] khatri_rao(&A, &B);
    scatter_least_at_computed_indices "cases/scatter/least_at_computed_indices.ti" [B11, B13, B14, B15] kernel(&B11, &B13, &B14, &B15);
    scatter_kronecker "cases/scatter/kronecker.ti" [A, B] kronecker(&A, &B);
    scatter_nested_sum "cases/scatter/nested_sum.ti" [A, B, D] nested(&A, &B, &D);
    scatter_outer_rows_first "cases/scatter/outer_rows_first.ti" [x, y] outer(&x, &y);
    scatter_rotated_order_3 "cases/scatter/rotated_order_3.ti" [A] rotated(&A);
    scatter_rotated_semi_sparse "cases/scatter/rotated_semi_sparse.ti" [A] rotated(&A);
    scatter_spgemm_columns "cases/scatter/spgemm_columns.ti" [A, B] spgemm(&A, &B);
    scatter_spgemm_coordinates "cases/scatter/spgemm_coordinates.ti" [A, B] spgemm(&A, &B);
    scatter_spgemm_doubly_compressed "cases/scatter/spgemm_doubly_compressed.ti" [A, B] spgemm(&A, &B);
    scatter_spgemm_f32 "cases/scatter/spgemm_f32.ti" [A, B] spgemm(&A, &B);
    scatter_spgemm_i32 "cases/scatter/spgemm_i32.ti" [A, B] spgemm(&A, &B);
    scatter_spgemm_masked "cases/scatter/spgemm_masked.ti" [A, B, M] spgemm(&A, &B, &M);
    scatter_spgemm_of_columns "cases/scatter/spgemm_of_columns.ti" [A, B] spgemm(&A, &B);
    scatter_spgemm_of_sum "cases/scatter/spgemm_of_sum.ti" [A, B, C] spgemm(&A, &B, &C);
    scatter_spgemm_plus "cases/scatter/spgemm_plus.ti" [A, B, D] spgemm(&A, &B, &D);
    scatter_spgemm_plus_transposed "cases/scatter/spgemm_plus_transposed.ti" [A, B, D] spgemm(&A, &B, &D);
    scatter_spgemm_scaled "cases/scatter/spgemm_scaled.ti" [A, B, alpha, x] spgemm(&A, &B, alpha, &x);
    scatter_contraction_added_to_dense "cases/scatter/contraction_added_to_dense.ti" [A, B, D, alpha] added(&A, &B, &D, alpha);
    scatter_contraction_by_min_plus "cases/scatter/contraction_by_min_plus.ti" [A, B] nearest(&A, &B);
    scatter_contraction_into_dense "cases/scatter/contraction_into_dense.ti" [X, Y] contraction(&X, &Y);
    scatter_spgemm_u8 "cases/scatter/spgemm_u8.ti" [A, B] spgemm(&A, &B);
    scatter_sptc "cases/scatter/sptc.ti" [A, B] sptc(&A, &B);
    scatter_sptc_two_modes "cases/scatter/sptc_two_modes.ti" [A, B] sptc(&A, &B);
    scatter_terms_of_one_copy "cases/scatter/terms_of_one_copy.ti" [a, B, M] terms(&a, &B, &M);
    scatter_transposed "cases/scatter/transposed.ti" [A] transposed(&A);
    scatter_transposed_order_3 "cases/scatter/transposed_order_3.ti" [A] transposed(&A);
    scatter_ttm_block "cases/scatter/ttm_block.ti" [X, U] ttm(&X, &U);
    scatter_two_products "cases/scatter/two_products.ti" [A, B, D, E] two(&A, &B, &D, &E);
    scatter_sum_inside_a_sum "cases/scatter/sum_inside_a_sum.ti" [A, B, D, x] product_of_three(&A, &B, &D, &x);
    scatter_sum_beside_a_sum "cases/scatter/sum_beside_a_sum.ti" [B1, B2, B3] kernel(&B1, &B2, &B3);
    schedules_output_private "cases/schedules/output_private.ti" [A, x] spmv(&A, &x);
    schedules_output_segments "cases/schedules/output_segments.ti" [A, x] spmv(&A, &x);
    schedules_balanced_by_nonzeros "cases/schedules/balanced_by_nonzeros.ti" [A, x] spmv(&A, &x);
    schedules_balanced_by_rows "cases/schedules/balanced_by_rows.ti" [X, B, C] mttkrp(&X, &B, &C);
    schedules_split_below_a_moved_level "cases/schedules/split_below_a_moved_level.ti" [B] moved(&B);
    schedules_split_of_what_reads_nothing_there "cases/schedules/split_of_what_reads_nothing_there.ti" [A, b] shifted(&A, &b);
    schedules_split_inside_of_split "cases/schedules/split_inside_of_split.ti" [x, z] outer(&x, &z);
    schedules_tiles_of_tiles "cases/schedules/tiles_of_tiles.ti" [A, B] gemm(&A, &B);
    schedules_columns_in_tiles "cases/schedules/columns_in_tiles.ti" [A, x] spmv(&A, &x);
    schedules_convolution_in_tiles "cases/schedules/convolution_in_tiles.ti" [x, w] convolve(&x, &w);
    schedules_fused_sum "cases/schedules/fused_sum.ti" [A, x] gemv(&A, &x);
    schedules_gemm_unrolled "cases/schedules/gemm_unrolled.ti" [A, B] gemm(&A, &B);
    schedules_inner_parallel "cases/schedules/inner_parallel.ti" [X, v] ttv(&X, &v);
    schedules_loops_against_storage "cases/schedules/loops_against_storage.ti" [A, x] spmv(&A, &x);
    schedules_merged_in_tiles "cases/schedules/merged_in_tiles.ti" [A, B] dot(&A, &B);
    schedules_mttkrp_in_tiles "cases/schedules/mttkrp_in_tiles.ti" [X, B, C] mttkrp(&X, &B, &C);
    schedules_permutation_four_modes "cases/schedules/permutation_four_modes.ti" [X, B, C, D] mttkrp(&X, &B, &C, &D);
    schedules_permutation_least "cases/schedules/permutation_least.ti" [A, x] least(&A, &x);
    schedules_permutation_mttkrp "cases/schedules/permutation_mttkrp.ti" [X, B, C] mttkrp(&X, &B, &C);
    schedules_permutation_spmv "cases/schedules/permutation_spmv.ti" [A, x] product(&A, &x);
    schedules_permutation_with_wide_indices "cases/schedules/permutation_with_wide_indices.ti" [X, v, w] product(&X, &v, &w);
    schedules_precomputed_columns "cases/schedules/precomputed_columns.ti" [A, B, C] sampled(&A, &B, &C);
    schedules_precomputed_dense_rows "cases/schedules/precomputed_dense_rows.ti" [B, C] product(&B, &C);
    schedules_precomputed_factors "cases/schedules/precomputed_factors.ti" [A, b, c] scaled(&A, &b, &c);
    schedules_precomputed_fibers "cases/schedules/precomputed_fibers.ti" [X, B, C] mttkrp(&X, &B, &C);
    schedules_precomputed_inside "cases/schedules/precomputed_inside.ti" [B, C, x, b] nested(&B, &C, &x, &b);
    schedules_precomputed_product "cases/schedules/precomputed_product.ti" [A, b, c] product(&A, &b, &c);
    schedules_precomputed_rows "cases/schedules/precomputed_rows.ti" [B, C] product(&B, &C);
    schedules_precomputed_scalars "cases/schedules/precomputed_scalars.ti" [A, B, a, b] scaled(&A, &B, a, b);
    schedules_precomputed_windows "cases/schedules/precomputed_windows.ti" [x, w, v] convolve(&x, &w, &v);
    schedules_products_scattered "cases/schedules/products_scattered.ti" [A, B] product(&A, &B);
    schedules_rows_and_columns_as_one "cases/schedules/rows_and_columns_as_one.ti" [A, B] product(&A, &B);
    schedules_rows_in_parallel "cases/schedules/rows_in_parallel.ti" [A, x] gemv(&A, &x);
    schedules_rows_of_the_result_in_blocks "cases/schedules/rows_of_the_result_in_blocks.ti" [A, B] add(&A, &B);
    schedules_same_pattern_blocks "cases/schedules/same_pattern_blocks.ti" [X, Z] distance(&X, &Z);
    schedules_same_pattern_fills "cases/schedules/same_pattern_fills.ti" [X, Z] fills(&X, &Z);
    schedules_same_pattern_linear "cases/schedules/same_pattern_linear.ti" [X, Z, v] rows(&X, &Z, &v);
    schedules_same_pattern_masked "cases/schedules/same_pattern_masked.ti" [X, M, x] masked(&X, &M, &x);
    schedules_same_pattern_of_three "cases/schedules/same_pattern_of_three.ti" [X, V, W, U] step(&X, &V, &W, &U);
    schedules_same_pattern_product "cases/schedules/same_pattern_product.ti" [X, Z] tew(&X, &Z);
    schedules_same_pattern_sum "cases/schedules/same_pattern_sum.ti" [X, Z] sum(&X, &Z);
    schedules_shares_in_each_row "cases/schedules/shares_in_each_row.ti" [A, x] spmv(&A, &x);
    schedules_shares_of_a_tensor "cases/schedules/shares_of_a_tensor.ti" [X, B, C] mttkrp(&X, &B, &C);
    schedules_shares_of_entries "cases/schedules/shares_of_entries.ti" [A, x] spmv(&A, &x);
    schedules_shares_of_fibers "cases/schedules/shares_of_fibers.ti" [X, B, C] mttkrp(&X, &B, &C);
    schedules_shares_that_meet "cases/schedules/shares_that_meet.ti" [X, v] most(&X, &v);
    schedules_split_twice "cases/schedules/split_twice.ti" [A, x] spmv(&A, &x);
    schedules_spmm_tiled "cases/schedules/spmm_tiled.ti" [A, X] spmm(&A, &X);
    schedules_tiles_as_one "cases/schedules/tiles_as_one.ti" [A, B] sum(&A, &B);
    schedules_vector_of_a_split "cases/schedules/vector_of_a_split.ti" [A, x] scale(&A, &x);
    statements_conjugate_gradients "cases/statements/conjugate_gradients.ti" [A, x, r, p] conjugate_gradients(&A, &x, &r, &p);
    statements_declared_scalar "cases/statements/declared_scalar.ti" [x] declared_scalar(&x);
    statements_declared_temporary "cases/statements/declared_temporary.ti" [A, B] declared_temporary(&A, &B);
    statements_gram_matrices "cases/statements/gram_matrices.ti" [X, B, C] gram_matrices(&X, &B, &C);
    statements_infinite_factor_of_no_terms "cases/statements/infinite_factor_of_no_terms.ti" [s, B] kernel(s, &B);
    statements_masked_temporary "cases/statements/masked_temporary.ti" [A, U, V] masked_temporary(&A, &U, &V);
    statements_masked_update "cases/statements/masked_update.ti" [A, B, M] masked_update(&A, &B, &M);
    statements_many_operands "cases/statements/many_operands.ti" [A, B, C, D, E, F, G, H, I, J, K, L, M, x] many_operands(&A, &B, &C, &D, &E, &F, &G, &H, &I, &J, &K, &L, &M, &x);
    statements_normalize "cases/statements/normalize.ti" [x] normalize(&x);
    statements_one_name_two_sizes "cases/statements/one_name_two_sizes.ti" [A] one_name_two_sizes(&A);
    statements_page_rank "cases/statements/page_rank.ti" [A, x, damping, n] page_rank(&A, &x, damping, n);
    statements_product_twice "cases/statements/product_twice.ti" [A, x] product_twice(&A, &x);
    statements_product_twice_of_columns "cases/statements/product_twice_of_columns.ti" [A, x] product_twice_of_columns(&A, &x);
    statements_read_between_updates "cases/statements/read_between_updates.ti" [x, a] read_between_updates(&x, a);
    statements_results_in_another_order "cases/statements/results_in_another_order.ti" [A, x] results_in_another_order(&A, &x);
    statements_row_shares "cases/statements/row_shares.ti" [A] row_shares(&A);
    statements_row_shares_of_columns "cases/statements/row_shares_of_columns.ti" [A] row_shares_of_columns(&A);
    statements_scalars_of_scalars "cases/statements/scalars_of_scalars.ti" [x, y] scalars_of_scalars(&x, &y);
    statements_semi_sparse_temporary "cases/statements/semi_sparse_temporary.ti" [X, C, B] semi_sparse_temporary(&X, &C, &B);
    statements_temporary_as_mask "cases/statements/temporary_as_mask.ti" [A, B, D] temporary_as_mask(&A, &B, &D);
    statements_temporary_of_coordinates "cases/statements/temporary_of_coordinates.ti" [X, B] temporary_of_coordinates(&X, &B);
    statements_types_of_temporaries "cases/statements/types_of_temporaries.ti" [A, x] types_of_temporaries(&A, &x);
    statements_temporary_becomes_dense "cases/statements/temporary_becomes_dense.ti" [a, b, x] becomes_dense(&a, &b, &x);
    statements_updated_by_a_product "cases/statements/updated_by_a_product.ti" [x, y, z] updated_by_a_product(&x, &y, &z);
    statements_updated_bits "cases/statements/updated_bits.ti" [A, a, b, m] updated_bits(&A, &a, &b, &m);
    statements_updated_result "cases/statements/updated_result.ti" [A, B, x] updated_result(&A, &B, &x);
    statements_updated_sparse_result "cases/statements/updated_sparse_result.ti" [A, B, D] updated_sparse_result(&A, &B, &D);
    fibers_appended_as_asked "cases/fibers/appended_as_asked.ti" [X, U] ttm(&X, &U);
    fibers_blocks_of_two_modes "cases/fibers/blocks_of_two_modes.ti" [X, A] f(&X, &A);
    fibers_coo_empty "cases/fibers/coo_empty.ti" [X, v] ttv(&X, &v);
    fibers_coo_into_fibers "cases/fibers/coo_into_fibers.ti" [X, v] f(&X, &v);
    fibers_coo_into_rows "cases/fibers/coo_into_rows.ti" [X, v] f(&X, &v);
    fibers_coo_ttm "cases/fibers/coo_ttm.ti" [X, U] ttm(&X, &U);
    fibers_coo_ttv "cases/fibers/coo_ttv.ti" [X, v] ttv(&X, &v);
    fibers_coo_two_modes "cases/fibers/coo_two_modes.ti" [X, A] f(&X, &A);
    fibers_csf_into_coo "cases/fibers/csf_into_coo.ti" [X, U] f(&X, &U);
    fibers_flagged "cases/fibers/flagged.ti" [X, v] f(&X, &v);
    fibers_ghicoo_empty "cases/fibers/ghicoo_empty.ti" [X, v] ttv(&X, &v);
    fibers_ghicoo_of_one_block "cases/fibers/ghicoo_of_one_block.ti" [X, v] ttv(&X, &v);
    fibers_ghicoo_order_four "cases/fibers/ghicoo_order_four.ti" [X, v] ttv(&X, &v);
    fibers_ghicoo_ttm "cases/fibers/ghicoo_ttm.ti" [X, U] ttm(&X, &U);
    fibers_ghicoo_ttv "cases/fibers/ghicoo_ttv.ti" [X, v] ttv(&X, &v);
    fibers_least "cases/fibers/least.ti" [X, v] f(&X, &v);
    fibers_narrow_blocks "cases/fibers/narrow_blocks.ti" [X, v] f(&X, &v);
    fibers_permuted "cases/fibers/permuted.ti" [X, v] ttv(&X, &v);
    fibers_rows_into_coo "cases/fibers/rows_into_coo.ti" [X, v] f(&X, &v);
    fibers_shared_as_asked "cases/fibers/shared_as_asked.ti" [X, U] ttm(&X, &U);
    fill_empty_reductions "cases/fill/empty_reductions.ti" [A, D] kernel(&A, &D);
    fill_masked_results_begin_as_zero "cases/fill/masked_results_begin_as_zero.ti" [A, m, M] kernel(&A, &m, &M);
    fill_results_begin_as_zero "cases/fill/results_begin_as_zero.ti" [A, B] kernel(&A, &B);
    fill_sparse_results_of_reductions "cases/fill/sparse_results_of_reductions.ti" [A, B, D, d] kernel(&A, &B, &D, &d);
    fill_updates_begin_as_what_changes_nothing "cases/fill/updates_begin_as_what_changes_nothing.ti" [A, x] kernel(&A, &x);
    indices_one_name_in_two_terms "cases/indices/one_name_in_two_terms.ti" [A, d, x, z, w, v] kernel(&A, &d, &x, &z, &w, &v);
    names_keyword_kernel "cases/names/keyword_kernel.ti" [A, x] r#match(&A, &x);
    names_one_letter_in_two_ways "cases/names/one_letter_in_two_ways.ti" [A, x] kernel(&A, &x);
    fill_difference_of_infinities "cases/fill/difference_of_infinities.ti" [a, b] difference(&a, &b);
    fill_blocks_in_any_order "cases/fill/blocks_in_any_order.ti" [x, y, z] copied(&x, &y, &z);
    fill_copied "cases/fill/copied.ti" [A, B] both(&A, &B);
    fill_differs_from_the_result "cases/fill/differs_from_the_result.ti" [A] shifted(&A);
    fill_integers "cases/fill/integers.ti" [A] least(&A);
    fill_min_plus_product "cases/fill/min_plus_product.ti" [A, B] product(&A, &B);
    fill_least_passes_over_nan "cases/fill/least_passes_over_nan.ti" [A, X] least(&A, &X);
    fill_masked_sums "cases/fill/masked_sums.ti" [T, B] masked_sums(&T, &B);
    fill_ones "cases/fill/ones.ti" [A, B] scale(&A, &B);
    fill_products_of_ones "cases/fill/products_of_ones.ti" [A] products(&A);
    fill_shortest_paths "cases/fill/shortest_paths.ti" [G, d] step(&G, &d);
    fill_sparse_shortest_paths "cases/fill/sparse_shortest_paths.ti" [G, d] step(&G, &d);
    fill_spgemm_semirings "cases/fill/spgemm_semirings.ti" [A, B, C] products(&A, &B, &C);
    fill_sums_beside_a_fill "cases/fill/sums_beside_a_fill.ti" [A, m] rows(&A, &m);
    fill_temporaries_of_infinities "cases/fill/temporaries_of_infinities.ti" [a, b] differences(&a, &b);
    fill_under_dense_levels "cases/fill/under_dense_levels.ti" [A, B] copy(&A, &B);
    fill_union_of_maxima "cases/fill/union_of_maxima.ti" [A, B] larger(&A, &B);
    functions_angles "cases/functions/angles.ti" [A] angles(&A);
    functions_logarithms "cases/functions/logarithms.ti" [A] logarithms(&A);
    functions_rounding "cases/functions/rounding.ti" [A] rounding(&A);
    mixed_any_and_all "cases/mixed/any_and_all.ti" [A] signs(&A);
    mixed_comparison "cases/mixed/comparison.ti" [A, n] marked(&A, &n);
    mixed_counted "cases/mixed/counted.ti" [A] count(&A);
    mixed_integers_scale "cases/mixed/integers_scale.ti" [A, n, x] scale(&A, n, &x);
    mixed_narrowed "cases/mixed/narrowed.ti" [A, x] spmv(&A, &x);
    mixed_single_and_double "cases/mixed/single_and_double.ti" [A, x] spmv(&A, &x);
    mixed_sums_of_bytes "cases/mixed/sums_of_bytes.ti" [A] sums(&A);
    strips_complex "cases/strips/complex.ti" [A, B] spmm(&A, &B);
    strips_fused_temporary "cases/strips/fused_temporary.ti" [A, B] scaled(&A, &B);
    strips_masked_least "cases/strips/masked_least.ti" [A, B, m] least(&A, &B, &m);
    strips_mttkrp_coo "cases/strips/mttkrp_coo.ti" [X, B, C] mttkrp(&X, &B, &C);
    strips_several_terms "cases/strips/several_terms.ti" [A, D, B, x] terms(&A, &D, &B, &x);
    strips_spmm "cases/strips/spmm.ti" [A, B] spmm(&A, &B);
    strips_ttm "cases/strips/ttm.ti" [X, U] ttm(&X, &U);
    strips_whole_strips "cases/strips/whole_strips.ti" [X, B, C] mttkrp(&X, &B, &C);
    types_any_of_bits_coo "cases/types/any_of_bits_coo.ti" [B, A] bits(&B, &A);
    types_bool_any_all "cases/types/bool_any_all.ti" [A, B, D] rows(&A, &B, &D);
    types_bool_any_of_all "cases/types/bool_any_of_all.ti" [A, x] any(&A, &x);
    types_bool_as_mask "cases/types/bool_as_mask.ti" [M, B] sample(&M, &B);
    types_bool_bitmap "cases/types/bool_bitmap.ti" [A, B] step(&A, &B);
    types_bool_block_result "cases/types/bool_block_result.ti" [A, B] both(&A, &B);
    types_bool_blocks "cases/types/bool_blocks.ti" [A, x] step(&A, &x);
    types_bool_breadth_first "cases/types/bool_breadth_first.ti" [A, x] step(&A, &x);
    types_bool_breadth_first_by_columns "cases/types/bool_breadth_first_by_columns.ti" [A, x, seen] step(&A, &x, &seen);
    types_bool_breadth_first_sparse "cases/types/bool_breadth_first_sparse.ti" [A, x] step(&A, &x);
    types_bool_comparisons "cases/types/bool_comparisons.ti" [A, x] compare(&A, &x);
    types_bool_counts "cases/types/bool_counts.ti" [A] degrees(&A);
    types_bool_difference "cases/types/bool_difference.ti" [A, B] difference(&A, &B);
    types_bool_exclusive_transposed "cases/types/bool_exclusive_transposed.ti" [A] asymmetric(&A);
    types_bool_fill_true "cases/types/bool_fill_true.ti" [A, B] all(&A, &B);
    types_bool_indices "cases/types/bool_indices.ti" [A] band(&A);
    types_bool_masked "cases/types/bool_masked.ti" [A, x, z] differ(&A, &x, &z);
    types_bool_of_numbers "cases/types/bool_of_numbers.ti" [A, n] pattern(&A, &n);
    types_bool_padded "cases/types/bool_padded.ti" [A, x] step(&A, &x);
    types_bool_product "cases/types/bool_product.ti" [A, B] paths(&A, &B);
    types_bool_product_by_columns "cases/types/bool_product_by_columns.ti" [A, B] paths(&A, &B);
    types_bool_product_coo "cases/types/bool_product_coo.ti" [A, B] paths(&A, &B);
    types_bool_product_dense "cases/types/bool_product_dense.ti" [A, B] paths(&A, &B);
    types_bool_rows "cases/types/bool_rows.ti" [A, X] sets(&A, &X);
    types_bool_scalars "cases/types/bool_scalars.ti" [x, flip] invert(&x, flip);
    types_bool_select "cases/types/bool_select.ti" [m, a, b] choose(&m, &a, &b);
    types_bool_selects_entries "cases/types/bool_selects_entries.ti" [M, A] choose(&M, &A);
    types_bool_temporary "cases/types/bool_temporary.ti" [A, x] two_steps(&A, &x);
    types_bool_tensor "cases/types/bool_tensor.ti" [X, v] project(&X, &v);
    types_bool_union "cases/types/bool_union.ti" [A, B] union(&A, &B);
    types_bool_updated "cases/types/bool_updated.ti" [A, x] reach(&A, &x);
    types_c32_functions "cases/types/c32_functions.ti" [z] functions(&z);
    types_c32_mixed "cases/types/c32_mixed.ti" [A, x, b] mixed(&A, &x, &b);
    types_c32_spgemm_coo "cases/types/c32_spgemm_coo.ti" [A, B] spgemm(&A, &B);
    types_c32_spmm "cases/types/c32_spmm.ti" [A, X] spmm(&A, &X);
    types_c64_add "cases/types/c64_add.ti" [A, B, alpha] add(&A, &B, alpha);
    types_c64_banded "cases/types/c64_banded.ti" [A, B, x] spmv(&A, &B, &x);
    types_c64_blocks "cases/types/c64_blocks.ti" [A, X] spmm(&A, &X);
    types_c64_convolution "cases/types/c64_convolution.ti" [x, w] convolve(&x, &w);
    types_c64_divide "cases/types/c64_divide.ti" [A, B, x] divide(&A, &B, &x);
    types_c64_equal "cases/types/c64_equal.ti" [A, B] equal(&A, &B);
    types_c64_fill "cases/types/c64_fill.ti" [A] shift(&A);
    types_c64_functions "cases/types/c64_functions.ti" [z] functions(&z);
    types_c64_hermitian "cases/types/c64_hermitian.ti" [A] adjoint(&A);
    types_c64_hicoo "cases/types/c64_hicoo.ti" [X, v] ttv(&X, &v);
    types_c64_index_values "cases/types/c64_index_values.ti" [A] weighted(&A);
    types_c64_inner "cases/types/c64_inner.ti" [x, y] inner(&x, &y);
    types_c64_masked "cases/types/c64_masked.ti" [S, A, B] sddmm(&S, &A, &B);
    types_c64_mixed "cases/types/c64_mixed.ti" [A, n, w, x, z] mixed(&A, &n, &w, &x, &z);
    types_c64_mttkrp "cases/types/c64_mttkrp.ti" [X, B, C] mttkrp(&X, &B, &C);
    types_c64_of_parts "cases/types/c64_of_parts.ti" [A, B] join(&A, &B);
    types_c64_padded "cases/types/c64_padded.ti" [A, x] spmv(&A, &x);
    types_c64_parts "cases/types/c64_parts.ti" [Z] parts(&Z);
    types_c64_product_of_all "cases/types/c64_product_of_all.ti" [A, B] products(&A, &B);
    types_c64_spgemm "cases/types/c64_spgemm.ti" [A, B] spgemm(&A, &B);
    types_c64_spgemm_by_columns "cases/types/c64_spgemm_by_columns.ti" [A, B] spgemm(&A, &B);
    types_c64_spmv "cases/types/c64_spmv.ti" [A, x] spmv(&A, &x);
    types_c64_spmv_by_columns "cases/types/c64_spmv_by_columns.ti" [A, x] spmv(&A, &x);
    types_c64_temporary "cases/types/c64_temporary.ti" [A, x] gram(&A, &x);
    types_c64_updated "cases/types/c64_updated.ti" [A, b] update(&A, &b);
    types_f32 "cases/types/f32.ti" [X, B, C] mttkrp(&X, &B, &C);
    types_f32_functions "cases/types/f32_functions.ti" [A] f32_functions(&A);
    types_f32_to_integers "cases/types/f32_to_integers.ti" [x] whole(&x);
    types_bf16_by_columns "cases/types/bf16_by_columns.ti" [A, x] columns(&A, &x);
    types_bf16_mttkrp "cases/types/bf16_mttkrp.ti" [X, B, C] mttkrp(&X, &B, &C);
    types_bf16_sampled "cases/types/bf16_sampled.ti" [S, B, C] sddmm(&S, &B, &C);
    types_f16_add "cases/types/f16_add.ti" [A, B, alpha] add(&A, &B, alpha);
    types_f16_formats "cases/types/f16_formats.ti" [A, B, c] formats(&A, &B, &c);
    types_f16_min_plus "cases/types/f16_min_plus.ti" [A, x] relax(&A, &x);
    types_f16_spgemm "cases/types/f16_spgemm.ti" [A, B] spgemm(&A, &B);
    types_f16_spmv "cases/types/f16_spmv.ti" [A, x] spmv(&A, &x);
    types_f16_ttv "cases/types/f16_ttv.ti" [X, v, w] ttv(&X, &v, &w);
    types_f16_updates "cases/types/f16_updates.ti" [A, B, x] updates(&A, &B, &x);
    types_integers "cases/types/integers.ti" [A, B, C, D, E] rows(&A, &B, &C, &D, &E);
    types_integers_extreme "cases/types/integers_extreme.ti" [x, n] extreme(&x, &n);
    types_integers_mixed "cases/types/integers_mixed.ti" [A, B, x] mixed(&A, &B, &x);
    types_integers_sparse "cases/types/integers_sparse.ti" [A, B, D] product(&A, &B, &D);
    types_i32 "cases/types/i32.ti" [A, x] spmv(&A, &x);
    types_i64_divide "cases/types/i64_divide.ti" [A] halves(&A);
    types_i64_extremes "cases/types/i64_extremes.ti" [x, n] wrap(&x, &n);
    types_i64_index "cases/types/i64_index.ti" [A] positions(&A);
    types_quotients_to_integers "cases/types/quotients_to_integers.ti" [x, z] whole(&x, &z);
    types_reals_to_integers "cases/types/reals_to_integers.ti" [x] whole(&x);
    types_temporary_of_comparisons "cases/types/temporary_of_comparisons.ti" [A, x, n] comparisons(&A, &x, &n);
    types_u8_maximum "cases/types/u8_maximum.ti" [A, B] larger(&A, &B);
    types_u8_subtract "cases/types/u8_subtract.ti" [A, B] u8_subtract(&A, &B);
    types_u8_values "cases/types/u8_values.ti" [A, B] u8_values(&A, &B);
    types_widened_terms "cases/types/widened_terms.ti" [x, b, c] terms(&x, &b, &c);
    conditions_blocks "cases/conditions/blocks.ti" [X, U] rows(&X, &U);
    conditions_computed_format "cases/conditions/computed_format.ti" [A] blocked(&A);
    conditions_dense_into_sparse "cases/conditions/dense_into_sparse.ti" [A, x] forward(&A, &x);
    conditions_dense_product "cases/conditions/dense_product.ti" [A] gram(&A);
    conditions_dense_sum "cases/conditions/dense_sum.ti" [A, x] forward(&A, &x);
    conditions_divided "cases/conditions/divided.ti" [A] blocks(&A);
    conditions_fill "cases/conditions/fill.ti" [A] filled(&A);
    conditions_higher_order "cases/conditions/higher_order.ti" [X] sorted(&X);
    conditions_inner_of_sum "cases/conditions/inner_of_sum.ti" [A, B] product(&A, &B);
    conditions_into_other_formats "cases/conditions/into_other_formats.ti" [A] parts(&A);
    conditions_least "cases/conditions/least.ti" [A] least(&A);
    conditions_merged "cases/conditions/merged.ti" [A, B, C] merged(&A, &B, &C);
    conditions_of_vectors "cases/conditions/of_vectors.ti" [x, b] window(&x, &b);
    conditions_or_and_not "cases/conditions/or_and_not.ti" [A] parts(&A);
    conditions_product "cases/conditions/product.ti" [A] gram(&A);
    conditions_ranges "cases/conditions/ranges.ti" [A, B] bands(&A, &B);
    conditions_scattered_product "cases/conditions/scattered_product.ti" [A, B] product(&A, &B);
    conditions_scheduled "cases/conditions/scheduled.ti" [A, x] forward(&A, &x);
    conditions_sparse_sums "cases/conditions/sparse_sums.ti" [A] sums(&A);
    conditions_strict_lower "cases/conditions/strict_lower.ti" [A] lower(&A);
    conditions_sum_of_lower "cases/conditions/sum_of_lower.ti" [A, x] forward(&A, &x);
    conditions_temporary "cases/conditions/temporary.ti" [A] pattern(&A);
    conditions_triangles "cases/conditions/triangles.ti" [A] triangles(&A);
    conditions_two_terms "cases/conditions/two_terms.ti" [A, B, x] both(&A, &B, &x);
    conditions_update "cases/conditions/update.ti" [A] update(&A);
    conditions_upper_of_columns "cases/conditions/upper_of_columns.ti" [A] upper(&A);
    conditions_with_mask "cases/conditions/with_mask.ti" [A, M] sample(&A, &M);
    conditions_without_entries "cases/conditions/without_entries.ti" [A, M] others(&A, &M);
    extents_centered "cases/extents/centered.ti" [A, x] centered(&A, &x);
    extents_empty "cases/extents/empty.ti" [A] none(&A);
    extents_mean "cases/extents/mean.ti" [A] mean(&A);
    extents_reduced "cases/extents/reduced.ti" [A, x] bounded(&A, &x);
    extents_sparse_result "cases/extents/sparse_result.ti" [A, x] scaled(&A, &x);
    packs_by_other_tensor "cases/packs/by_other_tensor.ti" [A, B] add(&A, &B);
    packs_contraction "cases/packs/contraction.ti" [A, B, M] contract(&A, &B, &M);
    packs_no_index "cases/packs/no_index.ti" [x, v] dot(&x, &v);
    packs_outer "cases/packs/outer.ti" [a, B] outer(&a, &B);
    packs_scale_csf "cases/packs/scale_csf.ti" [X, alpha] scale(&X, alpha);
    packs_ttm "cases/packs/ttm.ti" [X, U] ttm(&X, &U);
    packs_ttv "cases/packs/ttv.ti" [X, v] ttv(&X, &v);
    argmax_first_gap "cases/argmax/first_gap.ti" [A, B] gap(&A, &B);
    argmax_formats "cases/argmax/formats.ti" [A, B, C, D, E] greatest(&A, &B, &C, &D, &E);
    argmax_inside "cases/argmax/inside.ti" [A, x, X, M] inside(&A, &x, &X, &M);
    argmax_merged "cases/argmax/merged.ti" [A, B] merged(&A, &B);
    argmax_no_values "cases/argmax/no_values.ti" [A, B] greatest(&A, &B);
    argmax_other_fill "cases/argmax/other_fill.ti" [A, B] nearest(&A, &B);
    argmax_rows "cases/argmax/rows.ti" [A] greatest(&A);
    argmax_several "cases/argmax/several.ti" [A, B, X, C] several(&A, &B, &X, &C);
    argmax_several_missing "cases/argmax/several_missing.ti" [A, B, C, X] missing(&A, &B, &C, &X);
    argmax_ties_and_nan "cases/argmax/ties_and_nan.ti" [A] greatest(&A);
    argmax_whole_numbers "cases/argmax/whole_numbers.ti" [A, B] greatest(&A, &B);
    concat_blocks "cases/concat/blocks.ti" [A, B, D] blocks(&A, &B, &D);
    concat_columns "cases/concat/columns.ti" [A, B] beside(&A, &B);
    concat_empty "cases/concat/empty.ti" [A, B] below(&A, &B);
    concat_rows "cases/concat/rows.ti" [A, B, D] below(&A, &B, &D);
    concat_tensors "cases/concat/tensors.ti" [X, Y] along(&X, &Y);
    concat_vectors "cases/concat/vectors.ti" [a, b, c] joined(&a, &b, &c);
    matricised_csr_of_csf "cases/matricised/csr_of_csf.ti" [X] unfold(&X);
    matricised_dense "cases/matricised/dense.ti" [X] unfold(&X);
    matricised_empty "cases/matricised/empty.ti" [X] unfold(&X);
    matricised_grid_of_blocks "cases/matricised/grid_of_blocks.ti" [X, v] ttv(&X, &v);
    matricised_into_coordinates "cases/matricised/into_coordinates.ti" [X] unfold(&X);
    matricised_khatri_rao "cases/matricised/khatri_rao.ti" [A, B] khatri_rao(&A, &B);
    matricised_kronecker "cases/matricised/kronecker.ti" [A, B] kronecker(&A, &B);
    matricised_kronecker_of_vectors "cases/matricised/kronecker_of_vectors.ti" [a, b, c] kronecker(&a, &b, &c);
    matricised_meeting "cases/matricised/meeting.ti" [A, x] meeting(&A, &x);
    matricised_mttkrp "cases/matricised/mttkrp.ti" [M, B, C] mttkrp(&M, &B, &C);
    matricised_other_order "cases/matricised/other_order.ti" [X] unfold(&X);
    matricised_reversed "cases/matricised/reversed.ti" [x, z] reverse(&x, &z);
    matricised_spread "cases/matricised/spread.ti" [X] unfold(&X);
    matricised_temporary "cases/matricised/temporary.ti" [X, A] through(&X, &A);
}

/// Cases in which no operand has some index of the result, whose extent the macro's functions do not take.
const WITHOUT_EXTENT: [&str; 17] = [
    "edges/constant_result",
    "formats/skyline_row",
    "full/dense_rows_repeated",
    "full/rows_repeated",
    "full/slices_repeated",
    "functions/diagonal",
    "indices/constants_meet",
    "indices/halves",
    "indices/one_entry",
    "indices/updated_where_made_at_variables",
    "matricised/fold_back",
    "operators/bits",
    "orders/diagonal_stored_before_what_it_is_made_of",
    "orders/fibers_of_a_diagonal",
    "reductions/broadcast",
    "scalars/literal_everywhere",
    "statements/index_of_its_own",
];

fn function(case: &Case) -> Option<fn(&[AnyTensor]) -> Outcome> {
    let file = format!("cases/{}.ti", case.name);
    CASES.iter().find(|(name, _)| *name == file).map(|(_, run)| *run)
}

fn check(case: &Case) -> Result<(), String> {
    let Some(run) = function(case) else {
        assert!(WITHOUT_EXTENT.contains(&case.name.as_str()), "{} is not in the list above", case.name);
        return Ok(());
    };
    let ready = Ready::new(case).unwrap_or_else(|stop| panic!("{}: {stop:?}", case.name));
    run(&ready.tensors).and_then(|results| ready.check(&results))
}

fn cases() -> impl Iterator<Item = Case> {
    corpus::cases().into_iter().filter(|case| case.refused.is_none())
}

/// For the whole process, which then has those of the processor again.
fn all_are_right_with(most: Vectors) {
    most_vectors(most);
    let all: Vec<Case> = cases().collect();
    check_all(&all, |case| &case.name, check);
    most_vectors(Vectors::Widest);
}

fn main() -> ExitCode {
    harness::main(env!("CARGO_TARGET_TMPDIR"), |suite| {
        suite.alone("macro::all_are_right_without_wide_vectors", || all_are_right_with(Vectors::Narrow));
        suite.alone("macro::all_are_right_without_the_widest_vectors", || all_are_right_with(Vectors::Wide));
        for case in cases() {
            suite.test(format!("macro::{}", case.name), move || check(&case));
        }
    })
}
