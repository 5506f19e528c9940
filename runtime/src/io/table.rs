//! Tables: a line for each entry, columns that are indices, and perhaps one with the values.
//!
//! ```text
//! user,item,rating      # FromNodeId  ToNodeId
//! ann,tea,5             0   4
//! bob,tea,3             4   17
//! ```
//!
//! Fields are apart by tabs, commas, semicolons or blanks, whichever the first line has. A first line of names is known by its last field,
//! which is no number, and by columns that are asked for by name. The last of three or more columns has the values; two columns are a
//! pattern, each entry 1. `x.csv:user,item,rating` chooses columns, the last of which has the values, and `x.csv:user,item,` chooses a pattern.
//!
//! Whole numbers are indices as they are, from 0. A column with anything else has keys: they are numbered as they appear, and [`keys`] lists
//! them. In a graph (`.edges`, `.el`, `.wel`, `.edgelist`) the first two columns are vertices, numbered together; its matrix is square.
//!
//! Lines that begin with `#` or `%` are comments. Names and keys may be quoted, and `""` in quotes is a quote.
//!
//! Sources: J. Leskovec, A. Krevl, SNAP Datasets, 2014; S. Beamer, K. Asanović, D. Patterson, The GAP Benchmark Suite, 2015; RFC 4180, 2005.

use std::borrow::Cow;
use std::collections::HashMap;

use spc_compiler::diagnostics::suggest;
use spc_compiler::ir::ElementType;

use super::compressed::within;
use super::contents::{Loaded, LoadedEntries, ones};
use super::entries::{chunk_bytes, cut, quote};
use super::kind::{Asked, Bytes, Description, Kind};
use super::value::sealed::Value as Sealed;
use super::value::{self, Carrier};
use super::{Layout, ReadError, ReadErrorKind};
use crate::memory;
use crate::tensor::tasks;
use crate::with_element;

/// The kind of file.
pub(super) enum Table {
    Columns,
    Graph,
}

impl Kind for Table {
    fn begins(&self, head: &[u8]) -> bool {
        let Ok(of) = Head::of(head, None) else { return false };
        let end = head.iter().rposition(|&byte| byte == b'\n').unwrap_or(0);
        let mut lines = Lines { text: &head[..end], at: of.body }.map(|(_, line)| of.separator.fields(line)).take(20);
        let are_like = |fields: Vec<&[u8]>| fields.len() == of.width;
        match self {
            Table::Columns => of.separator != Separator::Blanks && of.width > 1 && lines.all(are_like),
            Table::Graph => {
                let are_vertices =
                    |fields: Vec<&[u8]>| fields.len() == 2 && fields.iter().all(|field| natural(field).is_some());
                of.width == 2 && of.names.is_none() && lines.all(are_vertices)
            }
        }
    }

    fn has_members(&self) -> bool {
        true
    }

    fn describe(&self, head: &[u8], member: Option<&str>) -> Result<Description, ReadError> {
        let head = Head::of(head, member)?;
        let names: Vec<String> = head.modes.iter().chain(&head.value).map(|&column| head.name(column)).collect();
        let stored = format!("table, columns {}", names.join(", "));
        let element = if head.value.is_none() { Some(ElementType::Bool) } else { None };
        let order = Some(head.modes.len());
        Ok(Description { element, computed: None, layout: Layout::Entries, order, fill: None, stored })
    }

    fn read(&self, text: &[u8], asked: &Asked<'_>) -> Result<Loaded, ReadError> {
        with_element!(asked.element, |T| self.read_as::<<T as Sealed>::Carrier>(text, asked))
    }

    fn keys(&self, file: Bytes<'_>, member: Option<&str>) -> Result<Vec<Option<Vec<String>>>, ReadError> {
        let text = &file()?[..];
        let head = Head::of(text, member)?;
        let columns = Columns::<f64>::of(text, &Head { value: None, ..head.clone() }, ElementType::F64)?;
        Ok(self.numbered(text, &head, columns.indices)?.into_iter().map(|mode| mode.keys).collect())
    }
}

/// The separator of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    Byte(u8),
    Blanks,
}

impl Separator {
    fn of(line: &[u8]) -> Self {
        let has = |byte: &&u8| line.contains(byte);
        let found = [b'\t', b',', b';'].iter().find(has).map(|&byte| Separator::Byte(byte));
        // Tabs beside blanks are blanks of tables that are drawn.
        found.filter(|_| !line.starts_with(b" ")).unwrap_or(Separator::Blanks)
    }

    /// The fields of a line, without the quotes around them.
    fn fields(self, line: &[u8]) -> Vec<&[u8]> {
        let mut fields = Vec::new();
        self.each(line, &mut |field| fields.push(field));
        fields
    }

    fn each<'text>(self, line: &'text [u8], take: &mut dyn FnMut(&'text [u8])) {
        let Separator::Byte(separator) = self else {
            return line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).for_each(take);
        };
        let mut rest = line;
        loop {
            let quoted = rest.trim_ascii_start().strip_prefix(b"\"").and_then(|inner| Some((inner, closing(inner)?)));
            let begin = quoted.map_or(0, |(inner, end)| rest.len() - inner.len() + end + 1);
            let end = rest[begin..].iter().position(|&byte| byte == separator).map(|place| begin + place);
            take(match quoted {
                Some((inner, end)) => &inner[..end],
                None => rest[..end.unwrap_or(rest.len())].trim_ascii(),
            });
            match end {
                Some(end) => rest = &rest[end + 1..],
                None => return,
            }
        }
    }
}

/// Where the quote is that ends a quoted field, behind the one that begins it.
fn closing(inner: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += inner.get(at..)?.iter().position(|&byte| byte == b'"')?;
        match inner.get(at + 1) {
            Some(b'"') => at += 2,
            _ => return Some(at),
        }
    }
}

/// A field as text.
fn text_of(field: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(field);
    if text.contains("\"\"") { Cow::Owned(text.replace("\"\"", "\"")) } else { text }
}

fn natural(field: &[u8]) -> Option<u64> {
    if field.is_empty() || field.len() > 18 {
        return None;
    }
    field.iter().try_fold(0_u64, |number, &byte| byte.is_ascii_digit().then(|| number * 10 + u64::from(byte - b'0')))
}

/// Lines that are neither blank nor comments, and where they begin.
#[derive(Clone)]
struct Lines<'text> {
    text: &'text [u8],
    at: usize,
}

impl<'text> Iterator for Lines<'text> {
    type Item = (usize, &'text [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let start = self.at;
            let rest = self.text.get(start..).filter(|rest| !rest.is_empty())?;
            let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
            self.at = start + length + 1;
            let line = rest[..length].strip_suffix(b"\r").unwrap_or(&rest[..length]);
            if !matches!(line.trim_ascii().first(), None | Some(b'#' | b'%')) {
                return Some((start, line));
            }
        }
    }
}

/// The head of a table, and the columns that are chosen.
#[derive(Debug, Clone)]
struct Head {
    separator: Separator,
    names: Option<Vec<String>>,
    /// The number of columns.
    width: usize,
    /// Where the first entry begins.
    body: usize,
    /// The columns of indices.
    modes: Vec<usize>,
    value: Option<usize>,
}

impl Head {
    fn of(text: &[u8], member: Option<&str>) -> Result<Self, ReadError> {
        let begin = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let mut lines = Lines { text, at: begin };
        let Some((start, line)) = lines.next() else {
            return Err(ReadError::new(
                ReadErrorKind::Header,
                "the table has no line: nothing says how many modes it has",
            ));
        };
        let separator = Separator::of(line);
        let first = separator.fields(line);
        let width = first.len();
        let fail = |kind, message: String| ReadError::new(kind, message).at(text, start);
        let is_number = |field: &[u8]| value::parse::<f64>(field, ElementType::F64).is_ok();
        // Keys alone tell nothing: tables that are apart by commas or tabs have names by custom.
        let is_text = !first.iter().any(|field| is_number(field));
        let is_head =
            member.is_some_and(|member| {
                !member.is_empty() && member.split(',').all(|name| natural(name.as_bytes()).is_none())
            }) || (if width > 2 { !is_number(first[width - 1]) } else { is_text && separator != Separator::Blanks });
        let names = is_head.then(|| first.iter().map(|name| text_of(name).into_owned()).collect::<Vec<_>>());
        let body = if is_head { lines.at } else { start };
        let (modes, value) = match member {
            None if width > 2 => ((0..width - 1).collect(), Some(width - 1)),
            None => ((0..width).collect(), None),
            Some(member) => {
                let mut columns: Vec<&str> = member.split(',').collect();
                let value = columns.pop().filter(|name| !name.is_empty());
                let column = |name: &str| {
                    column(name, names.as_deref(), width).map_err(|message| fail(ReadErrorKind::Header, message))
                };
                let modes = columns.into_iter().map(column).collect::<Result<Vec<_>, _>>()?;
                (modes, value.map(column).transpose()?)
            }
        };
        if modes.is_empty() || modes.len() + usize::from(value.is_some()) < 2 && width < 2 {
            let message =
                format!("{width} column: a table has a column for each index, and perhaps one for the values");
            return Err(fail(ReadErrorKind::FieldCount, message));
        }
        Ok(Self { separator, names, width, body, modes, value })
    }

    fn name(&self, column: usize) -> String {
        self.names.as_ref().map_or_else(|| (column + 1).to_string(), |names| names[column].clone())
    }
}

/// The place of a column, given by its name or by its number from 1.
fn column(name: &str, names: Option<&[String]>, width: usize) -> Result<usize, String> {
    if let Some(place) = names.and_then(|names| names.iter().position(|known| known == name)) {
        return Ok(place);
    }
    match (natural(name.as_bytes()), names) {
        (Some(number @ 1..), _) if number <= width as u64 => Ok(number as usize - 1),
        (None, Some(names)) => {
            let similar = suggest::similar(name, names.iter().map(String::as_str));
            let hint = similar.map_or_else(String::new, |similar| format!("; did you mean `{similar}`?"));
            Err(format!("there is no column `{name}`: there are {}{hint}", names.join(", ")))
        }
        _ => Err(format!("there is no column `{name}`: there are {width}, numbered from 1")),
    }
}

/// The columns of a table, numbers where all fields of one are indices.
struct Columns<C> {
    indices: Vec<Option<Vec<u64>>>,
    values: Vec<C>,
    count: usize,
}

impl<C: Carrier> Columns<C> {
    fn of(text: &[u8], head: &Head, element: ElementType) -> Result<Self, ReadError> {
        let cuts = cut(text, head.body, chunk_bytes(text));
        let chunks = tasks::map(&tasks::ranges(cuts.len(), 1), &|range| {
            let (from, to) = cuts[range.start];
            Self::of_lines(text, Lines { text: &text[..to], at: from }, head, element)
        });
        let chunks = chunks.into_iter().collect::<Result<Vec<_>, _>>()?;
        let count = chunks.iter().map(|chunk| chunk.count).sum();
        let mut all = Self { indices: Vec::new(), values: memory::try_room(count)?, count };
        for mode in 0..head.modes.len() {
            let mut column = memory::try_room(count)?;
            let are_numbers = chunks.iter().all(|chunk| chunk.indices[mode].is_some());
            if are_numbers {
                chunks.iter().filter_map(|chunk| chunk.indices[mode].as_ref()).for_each(|part| column.extend(part));
            }
            all.indices.push(are_numbers.then_some(column));
        }
        chunks.into_iter().for_each(|chunk| all.values.extend(chunk.values));
        Ok(all)
    }

    fn of_lines(text: &[u8], lines: Lines<'_>, head: &Head, element: ElementType) -> Result<Self, ReadError> {
        let mut all = Self { indices: vec![Some(Vec::new()); head.modes.len()], values: Vec::new(), count: 0 };
        let mut fields: Vec<&[u8]> = Vec::with_capacity(head.width);
        for (start, line) in lines {
            fields.clear();
            head.separator.each(line, &mut |field| fields.push(field));
            let fail = |kind, message: String, field: &[u8]| {
                let column = field.as_ptr() as usize - line.as_ptr() as usize;
                ReadError::new(kind, message).at(text, start + column)
            };
            if fields.len() != head.width {
                let message = format!("{} fields, where the first line has {}", fields.len(), head.width);
                return Err(fail(ReadErrorKind::FieldCount, message, line));
            }
            for (column, &mode) in all.indices.iter_mut().zip(&head.modes) {
                if fields[mode].is_empty() {
                    let message = format!("there is no index in the column {}", head.name(mode));
                    return Err(fail(ReadErrorKind::Index, message, fields[mode]));
                }
                match (column.as_mut(), natural(fields[mode])) {
                    (Some(numbers), Some(number)) => numbers.push(number),
                    _ => *column = None,
                }
            }
            if let Some(value) = head.value {
                let found = value::parse(fields[value], element).map_err(|_| {
                    let message = format!(
                        "{} in the column {} is no number of {element}: choose columns by `FILE:NAME,NAME,VALUES`",
                        quote(fields[value]),
                        head.name(value)
                    );
                    fail(ReadErrorKind::Value, message, fields[value])
                })?;
                all.values.push(found);
            }
            all.count += 1;
        }
        Ok(all)
    }
}

/// The indices of a mode, and the keys that they stand for.
struct Mode {
    indices: Vec<u64>,
    keys: Option<Vec<String>>,
}

/// Keys, numbered as they appear.
#[derive(Default)]
struct Dictionary<'text> {
    numbers: HashMap<&'text [u8], u64>,
    keys: Vec<String>,
}

impl<'text> Dictionary<'text> {
    fn number(&mut self, key: &'text [u8]) -> u64 {
        *self.numbers.entry(key).or_insert_with(|| {
            self.keys.push(text_of(key).into_owned());
            self.keys.len() as u64 - 1
        })
    }
}

impl Table {
    /// The columns of indices, those with keys numbered.
    fn numbered(&self, text: &[u8], head: &Head, columns: Vec<Option<Vec<u64>>>) -> Result<Vec<Mode>, ReadError> {
        let is_graph = matches!(self, Table::Graph) && columns.len() >= 2;
        // Vertices are numbers or keys, both ends alike.
        let have_keys = |mode: usize| match is_graph && mode < 2 {
            true => columns[..2].iter().any(Option::is_none),
            false => columns[mode].is_none(),
        };
        let keyed: Vec<usize> = (0..columns.len()).filter(|&mode| have_keys(mode)).collect();
        let dictionary_of = |mode: usize| if is_graph && mode == 1 { 0 } else { mode };
        let mut dictionaries: Vec<Dictionary<'_>> = columns.iter().map(|_| Dictionary::default()).collect();
        let mut numbers: Vec<Vec<u64>> = vec![Vec::new(); columns.len()];
        if !keyed.is_empty() {
            for (_, line) in (Lines { text, at: head.body }) {
                let fields = head.separator.fields(line);
                for &mode in &keyed {
                    numbers[mode].push(dictionaries[dictionary_of(mode)].number(fields[head.modes[mode]]));
                }
            }
        }
        let modes =
            columns.into_iter().enumerate().map(|(mode, column)| match column.filter(|_| !keyed.contains(&mode)) {
                Some(indices) => Mode { indices, keys: None },
                None => {
                    let keys = Some(dictionaries[dictionary_of(mode)].keys.clone());
                    Mode { indices: std::mem::take(&mut numbers[mode]), keys }
                }
            });
        Ok(modes.collect())
    }

    fn read_as<C: Carrier>(&self, text: &[u8], asked: &Asked<'_>) -> Result<Loaded, ReadError> {
        let (element, head) = (asked.element, Head::of(text, asked.member)?);
        let columns = Columns::<C>::of(text, &head, element)?;
        let (count, values) = (columns.count, columns.values);
        let modes = self.numbered(text, &head, columns.indices)?;
        let mut shape: Vec<usize> =
            modes.iter().map(|mode| mode.indices.iter().max().map_or(0, |&largest| largest as usize + 1)).collect();
        if matches!(self, Table::Graph) && shape.len() >= 2 {
            let vertices = shape[0].max(shape[1]);
            shape[..2].fill(vertices);
        }
        let shape_is_stated = asked.shape.is_some();
        match asked.shape {
            Some(stated) if stated.len() == shape.len() => shape = stated.to_vec(),
            Some(stated) => {
                let message = format!("the table has {} modes, and the stated shape {}", shape.len(), stated.len());
                return Err(ReadError::new(ReadErrorKind::Shape, message));
            }
            None => {}
        }
        let indices = modes.into_iter().zip(&shape).enumerate();
        let indices = indices.map(|(mode, (column, &extent))| within(column.indices, mode, extent));
        let indices = indices.collect::<Result<_, _>>()?;
        let values = if head.value.is_some() { value::uncarried(values, element)? } else { ones(count, element)? };
        Ok(Loaded::Entries(LoadedEntries { shape, shape_is_stated, indices, values, fill: None }))
    }
}

#[cfg(test)]
mod tests {
    use crate::io::{FileType, ReadOptions, TensorFile};
    use spc_compiler::ir::ElementType;

    /// The shape, and indices and values.
    type Found = (Vec<usize>, Vec<(Vec<u64>, f64)>);

    fn file(name: &str, member: &str, text: &str) -> (tempfile::TempDir, TensorFile) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let path = if member.is_empty() { path } else { format!("{}:{member}", path.display()).into() };
        let file = TensorFile::open(path, &ReadOptions::default()).unwrap();
        (folder, file)
    }

    fn read(name: &str, member: &str, text: &str) -> Result<Found, String> {
        let (folder, file) = file(name, member, text);
        let entries = file.contents::<f64>().and_then(|contents| contents.into_coordinates());
        let entries =
            entries.map_err(|error| error.to_string().replace(&format!("{}/", folder.path().display()), ""))?;
        let index = |entry| entries.indices.iter().map(|mode| mode.at(entry)).collect();
        let listed = (0..entries.values.len()).map(|entry| (index(entry), entries.values[entry])).collect();
        Ok((entries.shape, listed))
    }

    fn listed(entries: &[(&[u64], f64)]) -> Vec<(Vec<u64>, f64)> {
        entries.iter().map(|(index, value)| (index.to_vec(), *value)).collect()
    }

    const RATINGS: &str = "user,item,rating,day\nann,\"tea, \"\"green\"\"\",5,3\nbob,milk,3.5,0\r\nann,milk,-1,2\n";

    #[test]
    fn names_choose_columns_and_keys_are_numbered() {
        let expected = (vec![2, 2], listed(&[(&[0, 0], 5.0), (&[1, 1], 3.5), (&[0, 1], -1.0)]));
        assert_eq!(read("r.csv", "user,item,rating", RATINGS).unwrap(), expected);
        assert_eq!(read("r.csv", "1,2,3", RATINGS).unwrap(), expected);
        let three = read("r.csv", "item,day,user,rating", RATINGS).unwrap();
        assert_eq!(three, (vec![2, 4, 2], listed(&[(&[0, 3, 0], 5.0), (&[1, 0, 1], 3.5), (&[1, 2, 0], -1.0)])));
        let pattern = read("r.csv", "item,day,", RATINGS).unwrap();
        assert_eq!(pattern, (vec![2, 4], listed(&[(&[0, 3], 1.0), (&[1, 0], 1.0), (&[1, 2], 1.0)])));
        let (_folder, file) = file("r.csv", "user,day,item,rating", RATINGS);
        let words = |words: [&str; 2]| Some(words.map(str::to_owned).to_vec());
        assert_eq!(file.keys().unwrap(), [words(["ann", "bob"]), None, words(["tea, \"green\"", "milk"])]);
        assert_eq!(file.stored().unwrap(), "table, columns user, day, item, rating");
    }

    #[test]
    fn tables_without_names() {
        let expected = (vec![3, 2], listed(&[(&[0, 1], 2.5), (&[2, 0], 1e3)]));
        for text in
            ["0,1,2.5\n2,0,1e3\n", "0\t1\t2.5\n2\t0\t1e3", "# c\n\n0;1;2.5\n% c\n2;0;1e3\n", "  0 1  2.5\n2 0 1e3\n"]
        {
            assert_eq!(read("x.tsv", "", text).unwrap(), expected, "{text}");
        }
        assert_eq!(read("x.csv", "2,1,3", "0,1,2.5\n2,0,1e3\n").unwrap().0, [2, 3]);
        assert_eq!(read("x.csv", "", "from,to\n3,1\n").unwrap(), (vec![4, 2], listed(&[(&[3, 1], 1.0)])));
    }

    #[test]
    fn graphs_are_square() {
        let snap = "# Directed graph\n# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n0\t4\n4\t1\n";
        assert_eq!(read("g.edges", "", snap).unwrap(), (vec![5, 5], listed(&[(&[0, 4], 1.0), (&[4, 1], 1.0)])));
        let (_folder, file) = file("g.edges", "", snap);
        assert_eq!((file.element().unwrap(), file.order().unwrap()), (Some(ElementType::Bool), Some(2)));
        let weighed = read("g.wel", "", "0 2 0.5\n1 0 2\n").unwrap();
        assert_eq!(weighed, (vec![3, 3], listed(&[(&[0, 2], 0.5), (&[1, 0], 2.0)])));
        let named = read("g.el", "", "a b\nb c\nc 7\n").unwrap();
        assert_eq!(named, (vec![4, 4], listed(&[(&[0, 1], 1.0), (&[1, 2], 1.0), (&[2, 3], 1.0)])));
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let message = |member: &str, text: &str| read("x.csv", member, text).unwrap_err();
        assert!(message("", "0,1,2\n1,1\n").ends_with("x.csv:2:1: 2 fields, where the first line has 3"));
        let value = message(
            "",
            RATINGS.replace(",day", "").replace("-1,2", "x").replace(",3\n", "\n").replace(",0\r", "").as_str(),
        );
        assert!(value.contains("'x' in the column rating is no number of f64"), "{value}");
        assert!(message("", "0,1,2\n0,,3\n").contains("2:3: there is no index in the column 2"));
        assert!(
            message("user,item,ratng", RATINGS)
                .contains("no column `ratng`: there are user, item, rating, day; did you mean `rating`?")
        );
        assert!(message("1,9,2", "0,1,2\n").contains("no column `9`: there are 3, numbered from 1"));
        assert!(message("", "# nothing\n").contains("no line"));
        assert!(message("", "1\n2\n").contains("1 column"));
    }

    #[test]
    fn content_suggests_the_kind() {
        let looks = |text: &str| {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), text).unwrap();
            crate::io::probe::looks_like(file.path()).unwrap_or_default()
        };
        assert!(looks("# SNAP\n0\t1\n0\t2\n").contains("--from edges"));
        assert!(looks("0 1\n0 2\n").contains("--from edges"));
        assert!(looks("0,1,2\n0,2,1\n").contains("--from csv"));
        assert!(looks(RATINGS).contains("--from csv"));
        assert_eq!(FileType::of("x.wel.gz"), Some((FileType::Edges, true)));
    }
}
