//! The extents of a call's dimensions.

use super::bounds;
use super::error::{Error, ExtentSource};
use crate::memory;
use crate::tensor::{self, AnyTensor};
use spc_compiler::format::{Coordinate, Format, Role};
use spc_compiler::ir::{DimensionId, Kernel, Size, Source, Structure, Tensor};
use spc_compiler::level;

/// An extent, and the place where it was met first.
type Found = Option<(usize, ExtentSource)>;

/// The extent of each dimension, from constants, the inputs' shapes and what the caller states; where these say nothing, as
/// wished, and what computed indices need.
pub(super) fn extents(
    kernel: &Kernel,
    inputs: &[(&Tensor, &AnyTensor)],
    stated: &[(&str, usize)],
    wished: &[(&str, usize)],
) -> Result<Vec<usize>, Error> {
    let constant = |size: Size| match size {
        Size::Constant(extent) => Some((usize::try_from(extent).unwrap_or(usize::MAX), ExtentSource::Kernel)),
        Size::Runtime | Size::Generic => None,
    };
    let mut found: Vec<Found> = kernel.dimensions.iter().map(|dimension| constant(dimension.size)).collect();
    for (declared, input) in inputs {
        for (mode, (&dimension, &extent)) in declared.dimensions.iter().zip(input.shape()).enumerate() {
            meet(kernel, &mut found, dimension, extent, || ExtentSource::Mode { tensor: declared.name.clone(), mode })?;
        }
    }
    for &(name, extent) in stated {
        let mut any = false;
        for (id, dimension) in (0u32..).map(DimensionId).zip(&kernel.dimensions) {
            if dimension.name == name {
                any = true;
                meet(kernel, &mut found, id, extent, || ExtentSource::Stated)?;
            }
        }
        if !any {
            let known = kernel.dimensions.iter().map(|dimension| format!("`{}`", dimension.written)).collect();
            return Err(Error::NoSuchIndex { kernel: kernel.name.clone(), name: name.to_owned(), known });
        }
    }
    let mut sizes: Vec<Option<usize>> = found.iter().map(|found| found.as_ref().map(|(extent, _)| *extent)).collect();
    for (size, dimension) in sizes.iter_mut().zip(&kernel.dimensions) {
        if size.is_none() {
            *size = wished.iter().find(|(name, _)| *name == dimension.name).map(|&(_, extent)| extent);
        }
    }
    let bounds = bounds::of_kernel(kernel);
    bounds::infer(&bounds, &mut sizes);
    let settled = |(size, dimension): (Option<usize>, &spc_compiler::ir::Dimension)| {
        size.ok_or_else(|| Error::NoExtent { index: dimension.written.clone() })
    };
    let extents: Vec<usize> = sizes.into_iter().zip(&kernel.dimensions).map(settled).collect::<Result<_, _>>()?;
    bounds::check(&bounds, &extents, &|place| (&kernel.dimensions[place].written, kernel.dimensions[place].size))?;
    Ok(extents)
}

/// Notes an extent, or checks that it is what was noted before.
fn meet(
    kernel: &Kernel,
    found: &mut [Found],
    dimension: DimensionId,
    extent: usize,
    source: impl Fn() -> ExtentSource,
) -> Result<(), Error> {
    match &found[dimension.index()] {
        None => found[dimension.index()] = Some((extent, source())),
        Some((known, _)) if *known == extent => {}
        Some((known, first)) => {
            return Err(Error::Extents {
                index: kernel.dimension(dimension).written.clone(),
                first: first.clone(),
                first_extent: *known,
                second: source(),
                second_extent: extent,
            });
        }
    }
    Ok(())
}

/// Checks that there is memory for what a kernel appends to an output whatever its entries are: positions and values under dense
/// levels, as many as these have coordinates. Else it would append them one by one until there is none.
fn check_appended(declared: &Tensor, extents: &[usize]) -> Result<(), Error> {
    let tensor = || declared.name.clone();
    let check = |count: usize, size: usize| {
        memory::check_room(count, size).map_err(|source| Error::Memory { tensor: tensor(), source })
    };
    // Of levels whose coordinates are stored, one is enough for those below.
    let mut parents = 1usize;
    for (level, &extent) in declared.format.levels.iter().zip(extents) {
        if level.format.kind.is_dense() {
            parents = parents.checked_mul(extent).ok_or_else(|| Error::TooLarge { tensor: tensor() })?;
            continue;
        }
        if level.format.array(Role::Positions).is_some() {
            check(parents.saturating_add(1), level.format.positions().bytes())?;
        }
        parents = parents.min(1);
    }
    check(parents, declared.element.bytes())
}

/// Checks that each output can be stored in its formats with these extents, and that the coordinates which a kernel appends fit
/// into the width of their arrays.
pub(super) fn check_outputs(kernel: &Kernel, extents: &[usize]) -> Result<(), Error> {
    for declared in &kernel.tensors {
        let Source::Output { structure, .. } = declared.source else { continue };
        let shape: Vec<usize> = declared.dimensions.iter().map(|dimension| extents[dimension.index()]).collect();
        let level_extents = |format: &Format| {
            tensor::level_extents(format, &shape)
                .map_err(|source| Error::Shape { tensor: declared.name.clone(), source })
        };
        if let Some(format) = &declared.delivered {
            level_extents(format)?;
        }
        let extents = level_extents(&declared.format)?;
        if structure == Structure::Appended {
            check_appended(declared, &extents)?;
        }
        let levels = declared.format.levels.iter().zip(extents).enumerate();
        for (number, (level, extent)) in levels.filter(|_| structure == Structure::Appended) {
            let width = level.format.coordinates();
            if level::is_appended(level.format) && extent as u64 > width.maximum().saturating_add(1) {
                let coordinate = match &level.coordinate {
                    Coordinate::Mode(mode) => format!("mode {}", mode + 1),
                    computed => format!("`{computed}`"),
                };
                return Err(Error::CoordinateWidth {
                    tensor: declared.name.clone(),
                    level: number,
                    coordinate,
                    extent,
                    width,
                });
            }
        }
    }
    Ok(())
}
