//! Leading singular vectors: the eigenvectors of A = M Mᵀ with the largest eigenvalues, where M is an unfolding.
//!
//! Where A is small it is formed, and all its eigenvectors with it. Else it only multiplies blocks of vectors, by two kernels: the best of the
//! span of a block and of what came of it, again and again (block Krylov subspaces with Rayleigh and Ritz's projection; the start is the
//! factor of the iteration before, and random columns as by Halko, Martinsson and Tropp, Finding Structure with Randomness, 2011).

use super::super::DecomposeError;
use super::super::algebra::{self, Eigen, times, transposed_times};
use super::super::elements::{dense, numbers};
use super::super::engine::Clock;
use super::super::kernels::{Kernels, Source};
use super::super::uniform::uniform;
use crate::distribute::message::numbers as of_message;
use crate::distribute::{Communicator, summed};
use crate::tensor::{AnyTensor, ElementType};

/// Columns that are iterated with besides those asked for: they make these converge faster.
const MORE: usize = 4;
/// How many blocks a basis has before it is cut down to its best.
const BLOCKS: usize = 5;
/// The most products with a block.
const ROUNDS: usize = 100;

/// The most rows of A that is formed of a dense matrix.
pub(super) const WHOLE: usize = 300;

/// How an unfolding lies in memory; its side is the mode whose vectors are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `T(p, i)`, fibers by rows: the side is `i`.
    Fibers,
    /// `T(p, i, s)`, nodes, coordinates, rows: the side is `i`.
    Nodes,
    /// `T(i, s)`, a dense matrix: the side is `i`.
    Rows,
    /// The same, and the side is `s`: the smaller one.
    Columns,
}

impl Form {
    /// The form in which the product of all but the root is worked on.
    pub(super) fn of_matrix(rows: usize, columns: usize) -> Self {
        if rows <= columns { Form::Rows } else { Form::Columns }
    }

    fn format(self) -> &'static str {
        match self {
            Form::Fibers => "[dense, compressed]",
            Form::Nodes => "[dense, compressed, dense]",
            Form::Rows | Form::Columns => "[dense, dense]",
        }
    }

    /// An element with a name for the index of the side.
    fn access(self, side: &str) -> String {
        match self {
            Form::Fibers => format!("T(p, {side})"),
            Form::Nodes => format!("T(p, {side}, s)"),
            Form::Rows => format!("T({side}, s)"),
            Form::Columns => format!("T(p, {side})"),
        }
    }

    fn others(self) -> &'static str {
        match self {
            Form::Fibers | Form::Columns => "p",
            Form::Nodes => "p, s",
            Form::Rows => "s",
        }
    }

    fn side(self, tensor: &AnyTensor) -> usize {
        tensor.shape()[if self == Form::Rows { 0 } else { 1 }]
    }

    /// MᵀV.
    fn forth(self, element: &str) -> Source {
        let (format, others, access) = (self.format(), self.others(), self.access("i"));
        let order = if self == Form::Nodes { " schedule { reorder(p, i, s, b); }" } else { "" };
        Source::new(format!(
            "fn forth(T: {element} {format}, V: {element} dense) -> A: {element} dense {{ \
             A({others}, b) = {access} * V(i, b); }}{order}"
        ))
    }

    /// M(MᵀV), of MᵀV.
    fn back(self, element: &str) -> Source {
        let (format, others, access) = (self.format(), self.others(), self.access("i"));
        let order = if self == Form::Nodes { " schedule { reorder(p, i, s, b); }" } else { "" };
        Source::new(format!(
            "fn back(T: {element} {format}, A: {element} dense) -> W: {element} dense {{ \
             W(i, b) = {access} * A({others}, b); }}{order}"
        ))
    }

    /// M Mᵀ.
    fn square(self, element: &str) -> Source {
        let (format, one, other) = (self.format(), self.access("i"), self.access("j"));
        let order = match self {
            Form::Fibers => " schedule { reorder(p, i, j); }",
            Form::Nodes => " schedule { reorder(p, i, j, s); }",
            Form::Rows => "",
            Form::Columns => " schedule { split(i, i0, i1, 16); reorder(i0, p, i1, j); }",
        };
        Source::new(format!(
            "fn square(T: {element} {format}) -> G: {element} dense {{ G(i, j) = {one} * {other}; }}{order}"
        ))
    }

    /// Whether A is formed. Of a dense matrix that costs as much as side / (2 · width) products with a block, and convergence often takes more.
    fn is_formed(self, side: usize, width: usize, whole: usize) -> bool {
        let is_dense = matches!(self, Form::Rows | Form::Columns);
        side <= ((BLOCKS + 1) * width).max(32) || is_dense && side <= whole.min(32 * width)
    }

    /// The kernels that `count` vectors of a side this long take.
    pub(super) fn sources(self, element: ElementType, side: usize, count: usize) -> Vec<Source> {
        let element = element.name();
        let mut sources = match self.is_formed(side, count + MORE, WHOLE) {
            true => vec![self.square(element)],
            false => vec![self.forth(element), self.back(element)],
        };
        if self == Form::Columns && !sources.contains(&self.forth(element)) {
            sources.push(self.forth(element));
        }
        sources
    }
}

/// The surroundings of a search.
pub(super) struct Search<'a, 'e> {
    /// Kernels.
    pub kernels: &'a mut Kernels<'e>,
    /// Books the time in them.
    pub clock: &'a Clock,
    /// What random columns come from.
    pub seed: u64,
    /// The most rows of A that is formed of a dense matrix, [`WHOLE`].
    pub whole: usize,
    /// The other ranks, which have other columns of M; of M in the form [`Form::Columns`], other rows.
    pub ranks: Option<&'a dyn Communicator>,
}

impl Search<'_, '_> {
    /// At most `count` leading left singular vectors of the unfolding, orthonormal: a matrix of the mode's extent × as many, row after row.
    /// There are fewer where a side is shorter. The search begins with the columns of `start`, extent × any number.
    pub(super) fn leading(
        &mut self,
        tensor: &AnyTensor,
        form: Form,
        count: usize,
        start: Option<&[f64]>,
    ) -> Result<Vec<f64>, DecomposeError> {
        let side = form.side(tensor);
        let count = count.min(side);
        if form != Form::Columns {
            return self.eigenvectors(tensor, form, count, start.map(<[f64]>::to_vec));
        }
        // The other side's vectors, times M.
        let rows = tensor.shape()[0];
        let element = tensor.element();
        let ranks = self.ranks;
        let start = match start {
            Some(start) if !form.is_formed(side, count + MORE, self.whole) => {
                let columns = start.len() / rows.max(1);
                let kernel = self.kernels.get(&Form::Rows.forth(element.name()))?;
                let start = dense(&[rows, columns], start, element)?;
                let begun: AnyTensor = self.clock.kernel(|| kernel.call(&[tensor, &start]))?.single()?;
                Some(sum(ranks, numbers(&begun))?)
            }
            _ => None,
        };
        let vectors = self.eigenvectors(tensor, form, count, start)?;
        let kernel = self.kernels.get(&form.forth(element.name()))?;
        let vectors = dense(&[side, count], &vectors, element)?;
        let lifted: AnyTensor = self.clock.kernel(|| kernel.call(&[tensor, &vectors]))?.single()?;
        let lifted = joined(ranks, numbers(&lifted))?;
        Ok(algebra::orthonormal(&lifted, lifted.len() / count.max(1), count))
    }

    fn eigenvectors(
        &mut self,
        tensor: &AnyTensor,
        form: Form,
        count: usize,
        start: Option<Vec<f64>>,
    ) -> Result<Vec<f64>, DecomposeError> {
        let side = form.side(tensor);
        let (element, clock, ranks) = (tensor.element(), self.clock, self.ranks);
        let width = count + MORE;
        if form.is_formed(side, width, self.whole) {
            let kernel = self.kernels.get(&form.square(element.name()))?;
            let square: AnyTensor = clock.kernel(|| kernel.call(&[tensor]))?.single()?;
            let square = sum(ranks, numbers(&square))?;
            let Eigen { vectors, .. } = algebra::symmetric_eigen(&square, side)?;
            return Ok((0..side * count).map(|place| vectors[place / count * side + place % count]).collect());
        }
        let mut block: Vec<f64> = Vec::with_capacity(side * width);
        let begun = start.as_ref().map_or(0, |start| start.len() / side).min(width);
        let random = uniform(side, width - begun, self.seed, 0)?;
        for row in 0..side {
            if let Some(start) = &start {
                let columns = start.len() / side;
                block.extend(&start[row * columns..row * columns + begun]);
            }
            block.extend(random.values()[row * (width - begun)..(row + 1) * (width - begun)].iter().map(|x| x - 0.5));
        }
        let (forth, back) =
            (self.kernels.get(&form.forth(element.name()))?, self.kernels.get(&form.back(element.name()))?);
        let product = |block: &[f64]| {
            let block = dense(&[side, block.len() / side], block, element)?;
            let between: AnyTensor = clock.kernel(|| forth.call(&[tensor, &block]))?.single()?;
            let image: AnyTensor = clock.kernel(|| back.call(&[tensor, &between]))?.single()?;
            sum(ranks, numbers(&image))
        };
        let tolerance = if element == ElementType::F32 { 3e-6 } else { 1e-11 };
        krylov(product, side, count, block, tolerance)
    }
}

/// The sum of what ranks have.
pub(super) fn sum(ranks: Option<&dyn Communicator>, own: Vec<f64>) -> Result<Vec<f64>, DecomposeError> {
    let Some(ranks) = ranks else { return Ok(own) };
    Ok(summed(ranks, &own)?)
}

/// What ranks have, one after the other.
fn joined(ranks: Option<&dyn Communicator>, own: Vec<f64>) -> Result<Vec<f64>, DecomposeError> {
    let Some(ranks) = ranks else { return Ok(own) };
    Ok(ranks.gather_all(bytemuck::cast_slice(&own))?.iter().flat_map(|message| of_message(message)).collect())
}

/// The `count` leading eigenvectors of what a product multiplies by, from a block of `width` columns, `count` at least. They have converged
/// when ‖A q - θ q‖ is below the tolerance times the largest θ for each.
fn krylov(
    mut product: impl FnMut(&[f64]) -> Result<Vec<f64>, DecomposeError>,
    n: usize,
    count: usize,
    block: Vec<f64>,
    tolerance: f64,
) -> Result<Vec<f64>, DecomposeError> {
    let width = block.len() / n;
    let most = BLOCKS * width;
    let mut block = algebra::orthonormal(&block, n, width);
    let found = |ritz: &[f64]| (0..n * count).map(|place| ritz[place / count * width + place % count]).collect();
    // Vector after vector: the basis, and A times it; row after row: the projection of A.
    let (mut basis, mut images, mut small) = (Vec::new(), Vec::new(), vec![0.0; most * most]);
    let mut size = 0;
    for round in 1.. {
        let fresh = block.len() / n;
        let image = product(&block)?;
        if image.iter().any(|number| !number.is_finite()) {
            return Err(DecomposeError::Algebra("the squares of the tensor's entries are not finite"));
        }
        append_columns(&mut basis, &block, n);
        append_columns(&mut images, &image, n);
        let before = size;
        size += fresh;
        let projected = times(&basis, &image, size, n, fresh);
        for row in 0..size {
            for column in 0..fresh {
                small[row * most + before + column] = projected[row * fresh + column];
                small[(before + column) * most + row] = projected[row * fresh + column];
            }
        }
        let whole: Vec<f64> = (0..size).flat_map(|row| small[row * most..row * most + size].iter().copied()).collect();
        let Eigen { values, vectors } = algebra::symmetric_eigen(&whole, size)?;
        let best: Vec<f64> = (0..size * width).map(|place| vectors[place / width * size + place % width]).collect();
        let ritz = transposed_times(&basis, &best, size, n, width);
        let image = transposed_times(&images, &best, size, n, width);
        let open = unconverged(&ritz, &image, &values[..width], tolerance);
        if open.iter().all(|&column| column >= count) || round == ROUNDS {
            return Ok(found(&ritz));
        }
        if size + open.len() > most {
            basis.clear();
            images.clear();
            append_columns(&mut basis, &ritz, n);
            append_columns(&mut images, &image, n);
            small.fill(0.0);
            (0..width).for_each(|place| small[place * most + place] = values[place]);
            size = width;
        }
        block.clear();
        for row in 0..n {
            let residual = |&column: &usize| {
                let place = row * width + column;
                image[place] - values[column] * ritz[place]
            };
            block.extend(open.iter().map(residual));
        }
        // What rounding leaves of the basis after one pass is gone after the next.
        scale_columns(&mut block, n);
        for least in [1e-10, 0.1] {
            let columns = block.len() / n;
            let inside = times(&basis, &block, size, n, columns);
            let inside = transposed_times(&basis, &inside, size, n, columns);
            block.iter_mut().zip(inside).for_each(|(number, inside)| *number -= inside);
            block = spanning(&block, n, columns, least)?;
            if block.is_empty() {
                return Ok(found(&ritz));
            }
        }
    }
    unreachable!("the last round returns")
}

/// Orthonormal columns that span those of a matrix, columns of norm 1 at most, but for directions in which squares are `least` or less.
fn spanning(matrix: &[f64], rows: usize, columns: usize, least: f64) -> Result<Vec<f64>, DecomposeError> {
    let Eigen { values, vectors } =
        algebra::symmetric_eigen(&transposed_times(matrix, matrix, rows, columns, columns), columns)?;
    let kept = values.iter().filter(|&&value| value > least).count();
    let scaled = |place: usize| vectors[place / kept * columns + place % kept] / values[place % kept].sqrt();
    let directions: Vec<f64> = (0..columns * kept).map(scaled).collect();
    Ok(times(matrix, &directions, rows, columns, kept))
}

/// Divides columns by their norms.
fn scale_columns(matrix: &mut [f64], rows: usize) {
    let columns = matrix.len() / rows;
    let mut squares = vec![0.0; columns];
    for row in matrix.chunks_exact(columns) {
        squares.iter_mut().zip(row).for_each(|(square, number): (&mut f64, &f64)| *square += number * number);
    }
    for row in matrix.chunks_exact_mut(columns) {
        row.iter_mut().zip(&squares).for_each(|(number, square)| *number /= square.sqrt().max(f64::MIN_POSITIVE));
    }
}

/// The columns whose image is not yet their multiple.
fn unconverged(vectors: &[f64], images: &[f64], values: &[f64], tolerance: f64) -> Vec<usize> {
    let width = values.len();
    let mut squares = vec![0.0; width];
    for (vector, image) in vectors.chunks_exact(width).zip(images.chunks_exact(width)) {
        for (column, square) in squares.iter_mut().enumerate() {
            *square += (image[column] - values[column] * vector[column]).powi(2);
        }
    }
    let most = tolerance * values.first().map_or(0.0, |value| value.abs());
    (0..width).filter(|&column| squares[column].sqrt() > most).collect()
}

/// Appends the columns of a matrix of `rows` rows to vectors one after the other.
fn append_columns(vectors: &mut Vec<f64>, matrix: &[f64], rows: usize) {
    let columns = matrix.len() / rows;
    for column in 0..columns {
        vectors.extend((0..rows).map(|row| matrix[row * columns + column]));
    }
}

/// Spreads rows over the coordinates that they belong to, and adds random columns up to the rank; orthonormal, the largest element of each
/// column positive.
pub(super) fn completed(
    vectors: &[f64],
    coordinates: &[usize],
    extent: usize,
    rank: usize,
    seed: u64,
    mode: usize,
) -> Result<Vec<f64>, DecomposeError> {
    let columns = if coordinates.is_empty() { 0 } else { vectors.len() / coordinates.len() };
    let mut matrix: Vec<f64> = match columns < rank {
        true => uniform(extent, rank, seed, mode)?.into_values(),
        false => vec![0.0; extent * rank],
    };
    matrix.iter_mut().for_each(|number| *number -= if columns < rank { 0.5 } else { 0.0 });
    for row in 0..extent {
        matrix[row * rank..row * rank + columns].fill(0.0);
    }
    for (from, &row) in coordinates.iter().enumerate() {
        let columns = from * columns..(from + 1) * columns;
        matrix[row * rank..row * rank + columns.len()].copy_from_slice(&vectors[columns]);
    }
    let matrix = algebra::orthonormal(&matrix, extent, rank);
    Ok(algebra::positive(matrix, extent, rank))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decompose::Engine;
    use crate::execute::Backend;
    use crate::tensor::{Coordinates, Duplicates, Indices, pack};
    use spc_compiler::format::{Format, LevelFormat};

    fn wave(place: usize) -> f64 {
        (place as f64 * 0.7).sin() + 0.01 * ((place * place) % 7) as f64
    }

    /// How far the columns are from an orthonormal basis.
    fn skew(matrix: &[f64], rows: usize, columns: usize) -> f64 {
        let square = transposed_times(matrix, matrix, rows, columns, columns);
        let one = |place: usize| f64::from(u8::from(place.is_multiple_of(columns + 1)));
        square.iter().enumerate().fold(0.0, |most, (place, value)| (value - one(place)).abs().max(most))
    }

    #[test]
    fn krylov_finds_the_eigenvectors_of_a_diagonal_matrix() {
        let n = 200;
        let value = |row: usize| 1.0 / (1.0 + row as f64).powi(2);
        let product = |block: &[f64]| {
            let columns = block.len() / n;
            Ok(block.iter().enumerate().map(|(place, number)| number * value(place / columns)).collect())
        };
        let block = (0..n * 7).map(wave).collect();
        let vectors = krylov(product, n, 3, block, 1e-11).unwrap();
        for column in 0..3 {
            assert!((vectors[column * 3 + column].abs() - 1.0).abs() < 1e-12, "{}", vectors[column * 3 + column]);
        }
        assert!(skew(&vectors, n, 3) < 1e-12);
    }

    #[test]
    fn krylov_survives_a_matrix_of_low_rank_and_one_of_zeros() {
        let n = 100;
        for rank in [0, 1, 5] {
            let product = |block: &[f64]| {
                let columns = block.len() / n;
                let image = |(place, number): (usize, &f64)| if place / columns < rank { *number } else { 0.0 };
                Ok(block.iter().enumerate().map(image).collect())
            };
            let vectors = krylov(product, n, 3, (0..n * 7).map(wave).collect(), 1e-11).unwrap();
            assert!(skew(&vectors, n, 3) < 1e-12);
            let inside: f64 = (0..rank * 3).map(|place| vectors[place].powi(2)).sum();
            assert!((inside - rank.min(3) as f64).abs() < 1e-12, "{rank}: {inside}");
        }
    }

    /// Sides above and below what is formed give the same span.
    #[test]
    fn all_forms_find_the_same() {
        let engine = Engine { backend: Some(Backend::Interpreter), ..Engine::default() };
        let (mut kernels, clock) = (Kernels::new(&engine), Clock::default());
        let mut search = Search { kernels: &mut kernels, clock: &clock, seed: 1, whole: WHOLE, ranks: None };
        let (rows, columns) = (60, 45);
        // Rank three and a little noise.
        let element = |i: usize, s: usize| {
            let part = |r: usize| wave(i * (r + 2)) * wave(s + 11 * r) / (1 + r) as f64;
            part(0) + part(1) + part(2) + 1e-3 * wave(i * columns + s)
        };
        let matrix: Vec<f64> = (0..rows * columns).map(|place| element(place / columns, place % columns)).collect();
        let flat: Vec<f64> = (0..rows * columns).map(|place| element(place % rows, place / rows)).collect();
        let t = dense(&[rows, columns], &matrix, ElementType::F64).unwrap();
        let turned = dense(&[columns, rows], &flat, ElementType::F64).unwrap();
        let indices =
            |of: fn(usize) -> usize| Indices::U32((0..rows * columns).map(|place| of(place) as u32).collect());
        let sparse = Coordinates {
            shape: vec![columns, rows],
            shape_is_stated: true,
            indices: vec![indices(|place| place / 60), indices(|place| place % 60)],
            values: flat,
        };
        let csr = Format::of_levels([LevelFormat::DENSE, LevelFormat::COMPRESSED]);
        let fibers = pack(sparse, &csr, Duplicates::Sum).unwrap();
        let expected = search.leading(&t, Form::Columns, 3, None).unwrap();
        assert!(skew(&expected, rows, 3) < 1e-12);
        let formed = search.leading(&t, Form::Rows, 3, None).unwrap();
        search.whole = 0;
        let found = [
            formed,
            search.leading(&t, Form::Columns, 3, Some(&expected)).unwrap(),
            search.leading(&t, Form::Rows, 3, None).unwrap(),
            search.leading(&t, Form::Rows, 3, Some(&expected)).unwrap(),
            search.leading(&fibers, Form::Fibers, 3, None).unwrap(),
            search.eigenvectors(&turned, Form::Columns, 3, None).unwrap(),
        ];
        for found in found {
            assert!(skew(&found, rows, 3) < 1e-12);
            let cosines = transposed_times(&expected, &found, rows, 3, 3);
            assert!((cosines.iter().map(|cosine| cosine * cosine).sum::<f64>() - 3.0).abs() < 1e-11, "{cosines:?}");
        }
    }

    #[test]
    fn empty_slices_have_rows_of_zeros_and_missing_columns_are_random() {
        let vectors = [1.0, 0.0, 0.0, 1.0];
        let spread = completed(&vectors, &[1, 3], 5, 2, 0, 0).unwrap();
        assert_eq!(
            spread.iter().map(|number| number.round()).collect::<Vec<_>>(),
            [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
        );
        let more = completed(&vectors, &[1, 3], 5, 4, 0, 0).unwrap();
        assert!(skew(&more, 5, 4) < 1e-14);
        assert!((more[4] - 1.0).abs() < 1e-15 && (more[13] - 1.0).abs() < 1e-15, "{more:?}");
        assert!(skew(&completed(&[], &[], 3, 3, 0, 0).unwrap(), 3, 3) < 1e-14);
    }
}
