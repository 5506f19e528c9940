//! What a format means for a shape: the extent of each level, and how levels and modes follow from each other.

use super::InvalidTensor;
use super::column::Column;
use spc_compiler::format::{Coordinate, Format, LevelFormat, LevelKind, Map};

/// The levels of a tensor of a given shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The mode that each level stores; the first of them where it stores several, for messages.
    pub(crate) modes: Vec<usize>,
    /// The extent of each level's coordinate.
    pub(crate) extents: Vec<usize>,
    /// The format of each level.
    pub(crate) levels: Vec<LevelFormat>,
    /// The extent of each mode.
    pub(crate) shape: Vec<usize>,
    /// How levels follow from modes, where they do not store each as it is.
    map: Option<Map>,
}

/// The extent of each level's coordinate, whatever the levels are: kernels list entries in levels that no tensor has.
///
/// # Errors
/// When the format's map does not serve the shape.
pub(crate) fn level_extents(format: &Format, shape: &[usize]) -> Result<Vec<usize>, InvalidTensor> {
    Ok(Served::of(format, shape)?.extents)
}

/// What a format whose map serves a shape means for it.
struct Served {
    /// The first mode of each level.
    modes: Vec<usize>,
    /// How levels follow from modes, where they do not store each as it is.
    map: Option<Map>,
    /// The extent of each level.
    extents: Vec<usize>,
}

impl Served {
    fn of(format: &Format, shape: &[usize]) -> Result<Self, InvalidTensor> {
        if format.order != shape.len() {
            return Err(InvalidTensor::Order { format: format.to_string(), order: format.order, modes: shape.len() });
        }
        let unsupported = |reason: String| InvalidTensor::Unsupported { format: format.to_string(), reason };
        let modes = modes(format).map_err(unsupported)?;
        check_exchanged(format, shape).map_err(unsupported)?;
        if let Some(modes) = format.mode_order() {
            check_modes(&modes, format.order).map_err(unsupported)?;
            let extents = modes.iter().map(|&mode| shape[mode]).collect();
            return Ok(Self { modes, map: None, extents });
        }
        let map = Map::new(format)
            .map_err(|lost| unsupported(format!("mode {} can't be told from what the levels store", lost.mode)))?;
        let extents = computed_extents(&map, shape).map_err(|reason| match format.for_shape(shape) {
            wide if wide == *format => unsupported(reason),
            wide => unsupported(format!("{reason}; `{wide}` holds all of it")),
        })?;
        Ok(Self { modes, map: Some(map), extents })
    }
}

impl Layout {
    /// Checks that the format serves the shape and that its levels tell each mode.
    pub(crate) fn new(format: &Format, shape: &[usize]) -> Result<Self, InvalidTensor> {
        let Served { modes, map, extents } = Served::of(format, shape)?;
        check_levels(format, &extents)
            .map_err(|reason| InvalidTensor::Unsupported { format: format.to_string(), reason })?;
        let levels = format.levels.iter().map(|level| level.format).collect();
        Ok(Self { modes, extents, levels, shape: shape.to_vec(), map })
    }

    /// Levels of any kind that store modes of a shape as they are, not all of them perhaps.
    pub(crate) fn of_modes(modes: &[usize], shape: &[usize]) -> Self {
        let extents = modes.iter().map(|&mode| shape[mode]).collect();
        Self { modes: modes.to_vec(), extents, levels: Vec::new(), shape: shape.to_vec(), map: None }
    }

    /// The number of levels.
    pub(crate) fn depth(&self) -> usize {
        self.extents.len()
    }

    /// Of how many levels, from this one on, the coordinates are sorted by their interleaved bits; one for a level by itself.
    pub(crate) fn chain(&self, level: usize) -> usize {
        let is_singleton = |format: &&LevelFormat| format.kind.is_singleton();
        match self.levels.get(level) {
            Some(format) if format.morton() => 1 + self.levels[level + 1..].iter().take_while(is_singleton).count(),
            _ => 1,
        }
    }

    /// Whether each level stores a mode as it is.
    pub(crate) fn stores_modes(&self) -> bool {
        self.map.is_none()
    }

    /// What each level stores for an entry.
    pub(crate) fn stored(&self, index: &[usize]) -> Vec<usize> {
        match &self.map {
            None => self.modes.iter().map(|&mode| index[mode]).collect(),
            Some(map) => {
                let stored = |level| map.stored::<u64>(level, &|mode| index[mode] as u64, &|mode| self.extent(mode));
                (0..self.depth()).map(|level| stored(level).map_or(0, |stored| stored as usize)).collect()
            }
        }
    }

    /// The index in each mode of what each level stores; `None` at padding.
    pub(crate) fn index(&self, stored: &[usize]) -> Option<Vec<usize>> {
        let Some(map) = &self.map else {
            let mut index = vec![0; self.shape.len()];
            self.modes.iter().zip(stored).for_each(|(&mode, &coordinate)| index[mode] = coordinate);
            return Some(index);
        };
        let mode = |mode| map.mode::<u64>(mode, &|level| stored[level] as u64, &|mode| self.extent(mode));
        let index: Vec<usize> =
            (0..self.shape.len()).map(|number| mode(number).map(|index| index as usize)).collect::<Option<_>>()?;
        let inside = index.iter().zip(&self.shape).all(|(index, extent)| index < extent);
        (inside && self.stored(&index) == stored).then_some(index)
    }

    /// What a level stores for each of several entries, given their index in each mode.
    pub(crate) fn stored_column(&self, level: usize, index: &[Column]) -> Column {
        match &self.map {
            None => index[self.modes[level]].clone(),
            Some(map) => map
                .stored(level, &|mode| index[mode].clone(), &|mode| Column::Constant(self.extent(mode)))
                .expect("columns can be interleaved"),
        }
    }

    /// The index in a mode of each of several entries, given what each level stores.
    fn mode_column(&self, map: &Map, mode: usize, stored: &[Column]) -> Column {
        map.mode(mode, &|level| stored[level].clone(), &|mode| Column::Constant(self.extent(mode)))
            .expect("columns can be interleaved")
    }

    /// The index in each mode of several entries, given what each level stores for them; and where there is padding, which of
    /// them are entries. The index of padding is anything within the shape, if that has any.
    pub(crate) fn indices(&self, stored: Vec<Vec<u64>>, count: usize) -> (Vec<Vec<u64>>, Option<Vec<bool>>) {
        let Some(map) = &self.map else {
            let mut index = vec![Vec::new(); self.shape.len()];
            self.modes.iter().zip(stored).for_each(|(&mode, column)| index[mode] = column);
            return (index, None);
        };
        let stored: Vec<Column> = stored.into_iter().map(Column::of).collect();
        let index: Vec<Column> = (0..self.shape.len()).map(|mode| self.mode_column(map, mode, &stored)).collect();
        let mut is_entry = vec![true; count];
        for (column, &extent) in index.iter().zip(&self.shape) {
            let places = is_entry.iter_mut().enumerate();
            places.for_each(|(place, is_entry)| *is_entry &= column.get(place) < extent as u64);
        }
        for (level, stored) in stored.iter().enumerate() {
            let again = self.stored_column(level, &index);
            let places = is_entry.iter_mut().enumerate();
            places.for_each(|(place, is_entry)| *is_entry &= again.get(place) == stored.get(place));
        }
        let padded = is_entry.iter().any(|is_entry| !is_entry);
        let mut index: Vec<Vec<u64>> = index.into_iter().map(|column| column.into_values(count)).collect();
        if padded {
            for (column, &extent) in index.iter_mut().zip(&self.shape) {
                column.iter_mut().for_each(|index| *index = (*index).min((extent as u64).saturating_sub(1)));
            }
        }
        (index, padded.then_some(is_entry))
    }

    fn extent(&self, mode: usize) -> u64 {
        self.shape[mode] as u64
    }
}

/// The first mode of each level.
fn modes(format: &Format) -> Result<Vec<usize>, String> {
    let mode = |(number, coordinate): (usize, &Coordinate)| {
        let mut modes = Vec::new();
        coordinate.for_each_mode(&mut |mode| modes.push(mode));
        let first = modes.first().copied();
        coordinate.for_each_extent(&mut |mode| modes.push(mode));
        match (first, modes.iter().find(|&&mode| mode >= format.order)) {
            (_, Some(mode)) => Err(format!("level {number} stores mode {mode}, which there is not")),
            (None, None) => Err(format!("level {number} stores `{coordinate}`, which is no mode")),
            (Some(mode), None) => Ok(mode),
        }
    };
    format.levels.iter().map(|level| &level.coordinate).enumerate().map(mode).collect()
}

/// Whether each mode is stored once.
fn check_modes(modes: &[usize], order: usize) -> Result<(), String> {
    for mode in 0..order {
        match modes.iter().filter(|&&other| other == mode).count() {
            0 => return Err(format!("no level stores mode {mode}")),
            1 => {}
            _ => return Err(format!("two levels store mode {mode}")),
        }
    }
    Ok(())
}

/// The extent of each level, where the shape has room for the map.
fn computed_extents(map: &Map, shape: &[usize]) -> Result<Vec<usize>, String> {
    let extents = map.level_extents(&|mode| shape[mode] as u64).map_err(|unfit| unfit.to_string())?;
    extents.into_iter().map(|extent| usize::try_from(extent).map_err(|error| error.to_string())).collect()
}

/// Whether modes that may be exchanged have one extent.
fn check_exchanged(format: &Format, shape: &[usize]) -> Result<(), String> {
    let Some(symmetry) = &format.symmetry else { return Ok(()) };
    if symmetry.modes.len() < 2 || symmetry.modes.iter().any(|&mode| mode >= shape.len()) {
        return Err(format!("`{symmetry}` does not name two modes or more of the tensor"));
    }
    match symmetry.modes.windows(2).find(|pair| shape[pair[0]] != shape[pair[1]]) {
        None => Ok(()),
        Some(pair) => Err(format!(
            "its modes {} and {} can be exchanged, but their extents are {} and {}",
            pair[0] + 1,
            pair[1] + 1,
            shape[pair[0]],
            shape[pair[1]]
        )),
    }
}

/// Whether each level's format makes sense where it is.
fn check_levels(format: &Format, extents: &[usize]) -> Result<(), String> {
    for (number, level) in format.levels.iter().enumerate() {
        if !level.format.has_sense() {
            return Err(format!("level {number} can't be `{}`", level.format));
        }
        if level.format.kind.is_diagonal() {
            let above = number.checked_sub(1).map(|above| (format.levels[above].format.kind, extents[above]));
            check_diagonal(number, extents[number], above)?;
        }
    }
    Ok(())
}

/// Whether each position above a diagonal level has one coordinate, which is a coordinate of the level too. `above` is the
/// kind and the extent of the level above.
fn check_diagonal(level: usize, extent: usize, above: Option<(LevelKind, usize)>) -> Result<(), String> {
    match above {
        None => Err("a `diagonal` level has the coordinate of the level above it, but is the outermost".to_owned()),
        Some((kind, _)) if kind.is_run() => {
            Err(format!("level {level} is `diagonal`, but a run, as the level above it has, has several coordinates"))
        }
        Some((_, above)) if above > extent => Err(format!(
            "level {level} is `diagonal` and has extent {extent}, less than {above}, that of the level above it"
        )),
        Some(_) => Ok(()),
    }
}

/// Whether positions of a level follow from the prefixes of keys alone, and each is one entry, or padding of a map, or the parent of
/// such.
pub(super) fn follows(kind: LevelKind) -> bool {
    kind.is_dense() || kind.is_compressed() || kind.is_singleton()
}
