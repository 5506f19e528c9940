//! Rows of any length, in the vectors of any processor, beside loops one by one.

use spc::execute::{Vectors, most_vectors};
use spc::tensor::{Alto, Csf, Csr, Dense, Tensor};
use spc::tensor_kernel;

tensor_kernel! {
    fn spmm(A: csr, X: dense) -> Y: dense { Y(i, r) = A(i, j) * X(j, r); }

    fn spmm_single(A: f32 csr, X: f32 dense) -> Y: f32 dense { Y(i, r) = A(i, j) * X(j, r); }

    fn mttkrp(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }

    // Results of f64 and operands of f32, in one vector.
    fn mttkrp_mixed(X: f32 csf, B: f32 dense, C: f32 dense) -> A: f64 dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }

    fn mttkrp_mode_2(X: f32 csf, B: f32 dense, C: f32 dense) -> A: f32 dense { A(j, r) = X(i, j, k) * B(i, r) * C(k, r); }

    fn mttkrp_alto(X: alto, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }

    fn shortest(A: dense, X: dense) -> Y: dense { Y(i, r) = min(j)(A(i, j) + X(j, r)); }

    fn quotients(A: csr, X: dense, w: dense) -> Y: dense { Y(i, r) = sum(j)(A(i, j) * (w(r) - X(j, r) / 4)); }

    fn sampled(A: f32 csr, B: f32 dense, C: f32 dense) -> Y: f32 csr { Y(i, j) = A(i, j) * B(i, r) * C(j, r); }
}

/// Around the lengths of all tiles and strips.
const RANKS: [usize; 31] = [
    0, 1, 2, 7, 8, 9, 10, 15, 16, 17, 20, 24, 25, 31, 32, 33, 40, 47, 48, 49, 63, 64, 65, 72, 100, 127, 128, 129, 200,
    300, 1100,
];

const SHAPE: [usize; 3] = [5, 7, 6];

/// Whole numbers, whose sums are exact in any order.
fn number(place: usize) -> f64 {
    (place * 7 % 11) as f64 - 4.0
}

fn entries() -> Vec<([usize; 3], f64)> {
    let all = (0..210).filter(|place| place * 5 % 3 != 0);
    all.map(|place| ([place / 42, place / 6 % 7, place % 6], number(place) + 0.5)).collect()
}

fn pairs() -> Vec<([usize; 2], f64)> {
    (0..35).filter(|place| place % 4 != 1).map(|place| ([place / 7, place % 7], number(place))).collect()
}

fn rows(extent: usize, rank: usize) -> Tensor<f64, Dense<2>> {
    Tensor::from_fn([extent, rank], |at| number(at[0] * rank + 3 * at[1])).unwrap()
}

fn single(tensor: &Tensor<f64, Dense<2>>) -> Tensor<f32, Dense<2>> {
    Tensor::from_fn(tensor.shape(), |at| tensor[[at[0], at[1]]] as f32).unwrap()
}

/// A dense result by its definition.
fn expected(extent: usize, rank: usize, terms: &dyn Fn(&mut [f64], usize)) -> Vec<f64> {
    (0..extent)
        .flat_map(|_| vec![0.0; rank])
        .collect::<Vec<f64>>()
        .chunks_mut(rank.max(1))
        .enumerate()
        .flat_map(|(row, numbers)| {
            terms(numbers, row);
            numbers.to_vec()
        })
        .collect()
}

fn check(rank: usize) {
    let [i, j, k] = SHAPE;
    let matrix = Tensor::<f64, Csr>::from_entries([i, j], pairs()).unwrap();
    let matrix_single =
        Tensor::<f32, Csr>::from_entries([i, j], pairs().into_iter().map(|(at, value)| (at, value as f32))).unwrap();
    let tensor = Tensor::<f64, Csf<3>>::from_entries(SHAPE, entries()).unwrap();
    let listed = Tensor::<f64, Alto<3>>::from_entries(SHAPE, entries()).unwrap();
    let of_single = entries().into_iter().map(|(at, value)| (at, value as f32));
    let tensor_single = Tensor::<f32, Csf<3>>::from_entries(SHAPE, of_single).unwrap();
    let [of_i, of_j, of_k] = SHAPE.map(|extent| rows(extent, rank));
    let widened = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect::<Vec<_>>();

    let product = expected(i, rank, &|row, of| {
        for ([i, j], value) in pairs() {
            (0..rank).filter(|_| i == of).for_each(|r| row[r] += value * of_j[[j, r]]);
        }
    });
    assert_eq!(spmm(&matrix, &of_j).unwrap().values(), product, "spmm {rank}");
    let found = spmm_single(&matrix_single, &single(&of_j)).unwrap();
    assert_eq!(widened(found.values()), product, "spmm_single {rank}");

    let first = expected(i, rank, &|row, of| {
        for ([i, j, k], value) in entries() {
            (0..rank).filter(|_| i == of).for_each(|r| row[r] += value * of_j[[j, r]] * of_k[[k, r]]);
        }
    });
    assert_eq!(mttkrp(&tensor, &of_j, &of_k).unwrap().values(), first, "mttkrp {rank}");
    assert_eq!(mttkrp_alto(&listed, &of_j, &of_k).unwrap().values(), first, "mttkrp_alto {rank}");
    let found = mttkrp_mixed(&tensor_single, &single(&of_j), &single(&of_k)).unwrap();
    assert_eq!(found.values(), first, "mttkrp_mixed {rank}");

    let second = expected(j, rank, &|row, of| {
        for ([i, j, k], value) in entries() {
            (0..rank).filter(|_| j == of).for_each(|r| row[r] += value * of_i[[i, r]] * of_k[[k, r]]);
        }
    });
    let found = mttkrp_mode_2(&tensor_single, &single(&of_i), &single(&of_k)).unwrap();
    assert_eq!(widened(found.values()), second, "mttkrp_mode_2 {rank}");

    let all = rows(i, j);
    let lengths = expected(i, rank, &|row, of| {
        row.fill(f64::INFINITY);
        (0..j).for_each(|j| (0..rank).for_each(|r| row[r] = row[r].min(all[[of, j]] + of_j[[j, r]])));
    });
    assert_eq!(shortest(&all, &of_j).unwrap().values(), lengths, "shortest {rank}");

    let weights = Tensor::from_vec([rank], (0..rank).map(number).collect::<Vec<f64>>()).unwrap();
    let differences = expected(i, rank, &|row, of| {
        for ([i, j], value) in pairs() {
            (0..rank).filter(|_| i == of).for_each(|r| row[r] += value * (number(r) - of_j[[j, r]] / 4.0));
        }
    });
    assert_eq!(quotients(&matrix, &of_j, &weights).unwrap().values(), differences, "quotients {rank}");

    let samples: Vec<f64> = pairs()
        .into_iter()
        .map(|([i, j], value)| value * (0..rank).map(|r| of_i[[i, r]] * of_j[[j, r]]).sum::<f64>())
        .collect();
    let found = sampled(&matrix_single, &single(&of_i), &single(&of_j)).unwrap();
    assert_eq!(widened(found.values()), samples, "sampled {rank}");
    assert_eq!(k, of_k.shape()[0]);
}

#[test]
fn rows_of_any_length() {
    // Other tests get the same from either.
    for most in [Vectors::Narrow, Vectors::Wide, Vectors::Widest] {
        most_vectors(most);
        RANKS.into_iter().for_each(check);
    }
}
