//! A drawing of a tensor: the arrays of each level beside the level's code, as they are in memory, and the values.
//!
//! A [`Drawing`] is what there is to show, in rows of cells; [`Drawing::text`] and [`Drawing::svg`] print it, and decide nothing.
//!
//! ```text
//! level 1: i, dense (every coordinate, none stored), 3 positions, 0 bytes
//!     coordinate  0  1  2
//!     position    0  1  2
//! level 2: j, compressed (the coordinates that occur under each parent), 3 positions, 28 bytes
//!     parent      0  1  2
//!     pos         0  1  1  3      u32, 16 bytes
//!     crd         1     0  2      u32, 12 bytes
//!     position    0     1  2
//!     values      2     3  4      f64, 24 bytes
//! ```

mod svg;
#[cfg(test)]
mod tests;
mod text;

use super::level_arrays::StoredLevel;
use super::{AnyTensor, Element, IndexArray, LevelArrays};
use crate::with_element;
use spc_compiler::format::{Children, Length, LevelFormat, Role, Told};
use spc_compiler::level::vacancy;

/// So many positions of a level are drawn.
const MOST: usize = 24;

/// What is drawn of a tensor.
///
/// ```
/// use spc::tensor::{Csr, Drawing, Tensor};
///
/// let a = Tensor::<f64, Csr>::from_entries([2, 3], [([0, 1], 2.0), ([1, 0], 3.0)])?;
/// let drawing = Drawing::of(a.as_any());
/// assert!(drawing.text().contains("    crd         1  0 "));
/// assert!(drawing.svg().starts_with("<svg ") && drawing.description().contains("crd: 1, 0"));
/// # Ok::<(), spc::tensor::PackError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawing {
    /// The format and the shape.
    pub title: String,
    /// The levels, from the outermost in. A tensor without modes has none.
    pub levels: Vec<DrawnLevel>,
    /// The values, in the columns of the last level.
    pub values: DrawnRow,
    /// What all arrays take together.
    pub total: String,
}

/// A level of a drawing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnLevel {
    /// What it stores: an index, or an expression of indices.
    pub coordinate: String,
    /// Its code in the language, as `compressed(nonunique)`.
    pub code: String,
    /// What its kind stores, in a few words.
    pub summary: String,
    /// How many positions it has, and what its arrays take.
    pub size: String,
    /// Its rows, from above.
    pub rows: Vec<DrawnRow>,
    /// Whether not all positions are drawn.
    pub is_cut: bool,
}

/// A row of a drawing: an array, or what follows from the arrays of levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnRow {
    /// What it is called: `pos`, `crd`, `values`, `parent`, …
    pub name: &'static str,
    /// A cell for each column.
    pub cells: Vec<DrawnCell>,
    /// The type and the size of the array; nothing where the row is none.
    pub array: String,
    /// What the array is for; nothing for values, and where the row is no array.
    pub role: Option<Role>,
}

/// A cell of a drawing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DrawnCell {
    /// What stands in it; nothing where there is a gap.
    pub text: String,
    /// Where in the array it lies, if it is an element of one.
    pub place: Option<usize>,
}

impl DrawnRow {
    /// Whether the row is an array of the tensor.
    pub fn is_array(&self) -> bool {
        !self.array.is_empty()
    }
}

/// A column of a drawing.
#[derive(Debug, Clone, Copy, Default)]
struct Column {
    /// The parent, or the slice of parents, that begins here.
    group: Option<usize>,
    /// The parent that is named here.
    parent: Option<usize>,
    /// The position; none where a parent has no children.
    position: Option<usize>,
}

/// The arrays of each level and the values, with what each takes, as text.
pub fn layout_text(tensor: &AnyTensor) -> String {
    Drawing::of(tensor).text()
}

impl Drawing {
    /// The drawing of a tensor, which takes time for all of its positions.
    pub fn of(tensor: &AnyTensor) -> Self {
        let mut levels = Vec::new();
        let mut columns = vec![Column { position: Some(0), ..Column::default() }];
        let mut parents = 1;
        // The coordinate at each position of the level before.
        let mut above: Vec<Option<usize>> = vec![None];
        let extents = tensor.level_extents();
        for ((storage, level), extent) in tensor.levels().iter().zip(&tensor.format().levels).zip(extents) {
            let drawn = Level { storage, format: level.format, parents, extent, above: &above };
            let count = storage.position_count(level.format, parents, extent).unwrap_or_default();
            columns = drawn.columns(count);
            levels.push(DrawnLevel {
                coordinate: level.coordinate.to_string(),
                code: level.format.to_string(),
                summary: level.format.kind.summary.to_owned(),
                size: format!("{}, {}", counted(count, "position"), counted(storage.bytes(), "byte")),
                rows: drawn.rows(&columns),
                is_cut: columns.len() > MOST,
            });
            above = drawn.coordinates(count);
            parents = count;
        }
        let shape: Vec<String> = tensor.shape().iter().map(usize::to_string).collect();
        let shape = if shape.is_empty() { "a scalar".to_owned() } else { shape.join(" × ") };
        Self {
            title: format!("{}, {shape}, {}", tensor.format(), tensor.element().name()),
            levels,
            values: values(tensor, &columns),
            total: total(tensor),
        }
    }
}

/// The row of values.
fn values(tensor: &AnyTensor, columns: &[Column]) -> DrawnRow {
    let cell = |column: &Column| {
        let text = column.position.map_or_else(String::new, |position| value(tensor, position));
        DrawnCell { text, place: column.position }
    };
    let array = format!("{}, {}", tensor.element().name(), counted(tensor.values().bytes(), "byte"));
    DrawnRow { name: "values", cells: columns.iter().map(cell).collect(), array, role: None }
}

/// What all arrays take together.
fn total(tensor: &AnyTensor) -> String {
    let (bytes, entries) = (tensor.storage_bytes(), tensor.nnz());
    let each = if entries == 0 { String::new() } else { format!(", {:.1} an entry", bytes as f64 / entries as f64) };
    let all = tensor.shape().iter().try_fold(tensor.element().bytes(), |all, extent| all.checked_mul(*extent));
    let dense = all.map_or_else(String::new, |all| format!("; every element in order takes {all}"));
    format!("together {} for {entries} stored{each}{dense}", counted(bytes, "byte"))
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn value(tensor: &AnyTensor, position: usize) -> String {
    fn of<T: Element>(values: Option<&[T]>, position: usize) -> String {
        values.and_then(|values| values.get(position)).map(ToString::to_string).unwrap_or_default()
    }
    with_element!(tensor.element(), |T| of::<T>(tensor.values_of::<T>(), position))
}

/// A level, and what is above it.
struct Level<'a> {
    storage: &'a LevelArrays,
    format: LevelFormat,
    /// The number of positions above.
    parents: usize,
    extent: usize,
    /// The coordinate at each of them.
    above: &'a [Option<usize>],
}

impl Level<'_> {
    /// Where the children of each parent, or of each slice of parents, begin and end; what has no array for that is told by its
    /// numbers.
    fn groups(&self, count: usize) -> Vec<(usize, usize)> {
        let even = |size: usize| (0..self.parents).map(|parent| (parent * size, (parent + 1) * size)).collect();
        match (self.format.kind.children, self.storage.positions()) {
            (Children::Every, _) => even(self.extent),
            (Children::One, _) => even(1),
            (Children::Flags, Some(flags)) => {
                let begins: Vec<usize> = (0..count).filter(|&place| flags.get(place) == 1).collect();
                let ends = begins.iter().skip(1).copied().chain([count]);
                begins.iter().copied().zip(ends).collect()
            }
            (Children::Bounded | Children::Slices, Some(positions)) => {
                (1..positions.len()).map(|next| (positions.get(next - 1), positions.get(next))).collect()
            }
            _ => even(count.checked_div(self.parents).unwrap_or(0)),
        }
    }

    fn columns(&self, count: usize) -> Vec<Column> {
        let rows = match self.format.kind.children {
            Children::Slices => self.format.count().unwrap_or(1) as usize,
            _ => 1,
        };
        let mut columns = Vec::new();
        for (group, (begin, end)) in self.groups(count).into_iter().enumerate() {
            let first = Some(group);
            if begin == end {
                columns.push(Column { group: first, parent: Some(group * rows), position: None });
            }
            columns.extend((begin..end).map(|position| {
                let is_first = position == begin;
                let side_by_side = rows > 1 && position - begin < rows * 2;
                Column {
                    group: first.filter(|_| is_first),
                    parent: (is_first || side_by_side).then_some(group * rows + (position - begin) % rows),
                    position: Some(position),
                }
            }));
        }
        columns
    }

    /// The coordinate at each position, where it has one.
    fn coordinates(&self, count: usize) -> Vec<Option<usize>> {
        let mut coordinates = vec![None; count];
        // Each slice is drawn as one row, in the order of positions.
        let by_position = matches!(self.format.kind.told, Told::Stored);
        let Some(array) = self.storage.coordinates().filter(|_| by_position) else {
            if !self.format.kind.is_run() {
                let level = StoredLevel::new(self.format, self.storage, self.extent);
                for parent in 0..self.parents {
                    let above = self.above.get(parent).copied().flatten();
                    level.each_position(parent, above, &mut |coordinate, position| coordinates[position] = coordinate);
                }
            }
            return coordinates;
        };
        let vacant = self.format.kind.has_vacancies().then(|| vacancy(array.width()));
        for (place, coordinate) in coordinates.iter_mut().zip(array.iter()) {
            *place = Some(coordinate).filter(|&coordinate| Some(coordinate as u64) != vacant);
        }
        coordinates
    }

    fn rows(&self, columns: &[Column]) -> Vec<DrawnRow> {
        let mut rows = Vec::new();
        if self.parents != 1 || self.above.iter().any(Option::is_some) {
            rows.push(plain("parent", columns, |column| column.parent));
        }
        let count = columns.iter().filter(|column| column.position.is_some()).count();
        let coordinates = self.coordinates(count);
        rows.extend(self.storage.positions().map(|array| self.array(Role::Positions, array, columns, &coordinates)));
        let told = self.format.kind.told;
        let coordinate = |column: &Column| column.position.and_then(|position| coordinates[position]);
        let is_told = !matches!(told, Told::Stored | Told::Ends);
        let told_row = is_told.then(|| plain("coordinate", columns, coordinate));
        let stored =
            self.storage.coordinates().map(|array| self.array(Role::Coordinates, array, columns, &coordinates));
        // What is told of each parent is above what follows from it, what is told of each position below.
        match told {
            Told::First => rows.extend(stored.into_iter().chain(told_row)),
            _ => rows.extend(told_row.into_iter().chain(stored)),
        }
        rows.push(plain("position", columns, |column| column.position));
        rows
    }

    /// The row of an array.
    fn array(&self, role: Role, array: &IndexArray, columns: &[Column], coordinates: &[Option<usize>]) -> DrawnRow {
        let declared = self.format.array(role);
        let at = |place: Option<usize>| DrawnCell {
            text: place.map_or_else(String::new, |place| array.get(place).to_string()),
            place,
        };
        let last = array.len().checked_sub(1);
        let crd = |column: &Column| {
            let text = |position: usize| coordinates[position].map_or_else(|| "∞".to_owned(), |crd| crd.to_string());
            DrawnCell { text: column.position.map_or_else(String::new, text), place: column.position }
        };
        let by_group = columns.iter().map(|column| at(column.group));
        let cells = match declared.map(|declared| declared.length) {
            Some(Length::One) => vec![at(last)],
            Some(Length::Bounds) => by_group.chain([at(last)]).collect(),
            Some(Length::Parents) => by_group.collect(),
            _ if role == Role::Coordinates && matches!(self.format.kind.told, Told::Stored) => {
                columns.iter().map(crd).collect()
            }
            _ => columns.iter().map(|column| at(column.position)).collect(),
        };
        let size = format!("{}, {}", array.width().name(), counted(array.bytes(), "byte"));
        DrawnRow { name: declared.map_or("", |declared| declared.name), cells, array: size, role: Some(role) }
    }
}

/// A row of what follows from arrays.
fn plain(name: &'static str, columns: &[Column], number: impl Fn(&Column) -> Option<usize>) -> DrawnRow {
    let cell = |column: &Column| {
        let text = number(column).map_or_else(String::new, |number| number.to_string());
        DrawnCell { text, place: None }
    };
    DrawnRow { name, cells: columns.iter().map(cell).collect(), array: String::new(), role: None }
}
