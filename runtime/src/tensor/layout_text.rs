//! The arrays of a tensor, drawn as text: those that there are, as they are in memory.
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

use super::level_arrays::StoredLevel;
use super::{AnyTensor, Element, IndexArray, LevelArrays};
use crate::with_element;
use spc_compiler::format::{Children, Length, LevelFormat, Role, Told};
use spc_compiler::level::vacancy;
use std::fmt::Write;

/// So many positions of a level are drawn.
const MOST: usize = 24;

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

/// A line of a drawing: a cell for each column, and what the array is.
struct Line {
    name: &'static str,
    cells: Vec<String>,
    array: String,
}

/// The arrays of each level and the values, with what each takes.
pub fn layout_text(tensor: &AnyTensor) -> String {
    let mut text = String::new();
    let extents = tensor.level_extents();
    let mut parents = 1;
    // The coordinate at each position of the level before.
    let mut above: Vec<Option<usize>> = vec![None];
    let cell = |column: &Column| column.position.map_or_else(String::new, |position| value(tensor, position));
    let array = format!("{}, {}", tensor.element().name(), counted(tensor.values().bytes(), "byte"));
    let values =
        |columns: &[Column]| Line { name: "values", cells: columns.iter().map(cell).collect(), array: array.clone() };
    if tensor.order() == 0 {
        let only = Column { position: Some(0), ..Column::default() };
        text.push_str(&drawn(&[values(&[only])], false));
    }
    let levels = tensor.levels().iter().zip(&tensor.format().levels).zip(extents).enumerate();
    for (number, ((storage, level), extent)) in levels {
        let drawing = Drawing { storage, format: level.format, parents, extent, above: &above };
        let count = storage.position_count(level.format, parents, extent).unwrap_or_default();
        let summary = level.format.kind.summary;
        _ = writeln!(
            text,
            "level {}: {}, {} ({summary}), {}, {}",
            number + 1,
            level.coordinate,
            level.format,
            counted(count, "position"),
            counted(storage.bytes(), "byte"),
        );
        let columns = drawing.columns(count);
        let mut lines = drawing.lines(&columns);
        lines.extend((number + 1 == tensor.levels().len()).then(|| values(&columns)));
        text.push_str(&drawn(&lines, columns.len() > MOST));
        above = drawing.coordinates(count);
        parents = count;
    }
    let (bytes, entries) = (tensor.storage_bytes(), tensor.nnz());
    let each = if entries == 0 { String::new() } else { format!(", {:.1} an entry", bytes as f64 / entries as f64) };
    let all = tensor.shape().iter().try_fold(tensor.element().bytes(), |all, extent| all.checked_mul(*extent));
    let dense = all.map_or_else(String::new, |all| format!("; every element in order takes {all}"));
    _ = writeln!(text, "together {} for {entries} stored{each}{dense}", counted(bytes, "byte"));
    text
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

/// Lines of equally wide cells behind their names.
fn drawn(lines: &[Line], is_cut: bool) -> String {
    let shown = |line: &Line| line.cells.len().min(MOST);
    let width = lines.iter().flat_map(|line| &line.cells[..shown(line)]).map(|cell| cell.chars().count()).max();
    let width = width.unwrap_or(0).max(1);
    let widest = lines.iter().map(shown).max().unwrap_or(0);
    let mut text = String::new();
    for line in lines {
        let mut row = format!("    {:<12}", line.name);
        for cell in &line.cells[..shown(line)] {
            _ = write!(row, "{cell:>width$}  ");
        }
        if is_cut {
            row.push_str("…  ");
        }
        let to = 16 + widest * (width + 2) + if is_cut { 3 } else { 0 };
        let length = row.chars().count();
        if !line.array.is_empty() {
            _ = write!(row, "{:pad$}{}", "", line.array, pad = to.saturating_sub(length) + 2);
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

/// A level, and what is above it.
struct Drawing<'a> {
    storage: &'a LevelArrays,
    format: LevelFormat,
    /// The number of positions above.
    parents: usize,
    extent: usize,
    /// The coordinate at each of them.
    above: &'a [Option<usize>],
}

impl Drawing<'_> {
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

    fn lines(&self, columns: &[Column]) -> Vec<Line> {
        let size = |array: &IndexArray| format!("{}, {}", array.width().name(), counted(array.bytes(), "byte"));
        let number = |number: Option<usize>| number.map_or_else(String::new, |number| number.to_string());
        let count = columns.iter().filter(|column| column.position.is_some()).count();
        let coordinates = self.coordinates(count);
        let by_group = |name: &'static str, array: &IndexArray, closes: bool| {
            let mut cells: Vec<String> =
                columns.iter().map(|column| number(column.group.map(|group| array.get(group)))).collect();
            if closes {
                cells.push(number(array.last()));
            }
            Line { name, cells, array: size(array) }
        };
        let by_position = |name: &'static str, array: &IndexArray| {
            let cell = |column: &Column| number(column.position.map(|position| array.get(position)));
            Line { name, cells: columns.iter().map(cell).collect(), array: size(array) }
        };
        let crd = |array: &IndexArray| {
            let cell = |position: usize| {
                coordinates[position].map_or_else(|| "∞".to_owned(), |coordinate| coordinate.to_string())
            };
            let cells = columns.iter().map(|column| column.position.map_or_else(String::new, cell)).collect();
            Line { name: "crd", cells, array: size(array) }
        };
        let told = || {
            let cell = |column: &Column| number(column.position.and_then(|position| coordinates[position]));
            Line { name: "coordinate", cells: columns.iter().map(cell).collect(), array: String::new() }
        };
        let plain = |name: &'static str, cell: &dyn Fn(&Column) -> Option<usize>| Line {
            name,
            cells: columns.iter().map(|column| number(cell(column))).collect(),
            array: String::new(),
        };
        let mut lines = Vec::new();
        if self.parents != 1 || self.above.iter().any(Option::is_some) {
            lines.push(plain("parent", &|column| column.parent));
        }
        let name = |role: Role| self.format.array(role).map_or("", |array| array.name);
        let drawn = |role: Role, array: &IndexArray| match self.format.array(role).map(|array| array.length) {
            Some(Length::One) => Line { name: name(role), cells: vec![number(array.last())], array: size(array) },
            Some(Length::Bounds) => by_group(name(role), array, true),
            Some(Length::Parents) => by_group(name(role), array, false),
            _ if role == Role::Coordinates && matches!(self.format.kind.told, Told::Stored) => crd(array),
            _ => by_position(name(role), array),
        };
        lines.extend(self.storage.positions().map(|array| drawn(Role::Positions, array)));
        let is_told = !matches!(self.format.kind.told, Told::Stored | Told::Ends);
        // What is told of each parent is above what follows from it, what is told of each position below.
        let (above, below): (Vec<Line>, Vec<Line>) = self
            .storage
            .coordinates()
            .map(|array| drawn(Role::Coordinates, array))
            .into_iter()
            .partition(|_| matches!(self.format.kind.told, Told::First));
        lines.extend(above);
        lines.extend(is_told.then(told));
        lines.extend(below);
        lines.push(plain("position", &|column| column.position));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::{Coordinates, Duplicates, Indices, pack};
    use spc_compiler::format::Format;
    use spc_compiler::format::Vacancies;
    use spc_compiler::level::ALL;

    /// A 3 × 4 matrix with an empty row in a format.
    fn matrix(format: &Format) -> AnyTensor {
        let indices = vec![Indices::U32(vec![0, 0, 2, 2, 2]), Indices::U32(vec![1, 3, 0, 2, 3])];
        let values = vec![1.5, 2.0, 3.0, 4.0, 5.0];
        let entries = Coordinates { shape: vec![3, 4], shape_is_stated: true, indices, values };
        pack(entries, format, Duplicates::Refuse).unwrap()
    }

    #[test]
    fn rows_that_are_compressed_are_drawn_with_where_they_begin() {
        let csr = Format::of_levels([LevelFormat::DENSE, LevelFormat::COMPRESSED]);
        let expected = "\
level 1: i, dense (every coordinate, none stored), 3 positions, 0 bytes
    coordinate  0  1  2
    position    0  1  2
level 2: j, compressed (the coordinates that occur under each parent), 5 positions, 36 bytes
    parent        0         1    2
    pos           0         2    2              5    u32, 16 bytes
    crd           1    3         0    2    3         u32, 20 bytes
    position      0    1         2    3    4
    values      1.5    2         3    4    5         f64, 40 bytes
together 76 bytes for 5 stored, 15.2 an entry; every element in order takes 96
";
        assert_eq!(layout_text(&matrix(&csr)), expected);
    }

    /// All arrays of a tensor are drawn whole, for levels of every kind.
    #[test]
    fn every_number_of_every_array_is_drawn() {
        for level in ALL {
            let kind = level.kind();
            for outer in [LevelFormat::DENSE, LevelFormat::COMPRESSED, LevelFormat::COMPRESSED.nonunique()] {
                let format = Format::of_levels([outer, LevelFormat::new(kind)]);
                let indices = vec![Indices::U32(vec![0, 1, 2]), Indices::U32(vec![0, 1, 2])];
                let entries =
                    Coordinates { shape: vec![3, 3], shape_is_stated: true, indices, values: vec![7.0, 8.0, 9.0] };
                let Ok(tensor) = pack(entries, &format, Duplicates::Refuse) else { continue };
                let text = layout_text(&tensor);
                let numbers = |name: &str| -> Vec<usize> {
                    let lines = text.lines().filter(|line| line.trim_start().split("  ").next() == Some(name));
                    let cells = lines.map(|line| {
                        line.rsplit_once("    ")
                            .filter(|(_, array)| array.contains("byte"))
                            .map_or(line, |(cells, _)| cells)
                    });
                    cells.flat_map(str::split_whitespace).filter_map(|cell| cell.parse().ok()).collect()
                };
                for (level, declared) in tensor.levels().iter().zip(&format.levels) {
                    for array in declared.format.arrays() {
                        let (name, Some(held)) = (array.name, level.array(array.role)) else { continue };
                        let is_filled = matches!(declared.format.kind.vacancies, Vacancies::Filling | Vacancies::Slots);
                        let vacant = is_filled.then(|| vacancy(held.width()));
                        let held: Vec<usize> = held.iter().filter(|&number| Some(number as u64) != vacant).collect();
                        let found = numbers(name);
                        let is_there = found.windows(held.len().max(1)).any(|part| part == held) || held.is_empty();
                        assert!(is_there, "{format}: {name} {held:?} in\n{text}");
                    }
                }
                assert!(text.contains(&format!("together {} bytes", tensor.storage_bytes())), "{text}");
            }
        }
    }

    #[test]
    fn long_levels_are_cut() {
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let indices = vec![Indices::U32((0..100).collect())];
        let entries = Coordinates { shape: vec![100], shape_is_stated: true, indices, values };
        let text = layout_text(&pack(entries, &Format::csf(1), Duplicates::Refuse).unwrap());
        assert!(text.contains("…") && text.lines().all(|line| line.chars().count() < 200), "{text}");
    }
}
