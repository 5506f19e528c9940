"""Operations on coordinates and values: what moves, chooses or orders elements, and functions that index notation does not have.

Each takes :class:`Entries`, the sorted coordinates of an array with their values and the fill value, and gives others:

    A = [[0, 5], [7, 0]]    ->    coordinates [0, 1] and [1, 0], values [5, 7], fill 0
    reshaped to (4,)        ->    coordinates [1, 2], values [5, 7], fill 0

All is done by NumPy, in time that goes with the entries.
"""

from __future__ import annotations

import math
import operator
from typing import Any, Callable, Iterable, NamedTuple, Sequence

import numpy as np

from . import _convert, _native

#: A vector with so many elements, and a matrix with so many rows or columns, is stored without a place for each: copies by columns have one, too.
VAST = 1 << 27


_ROWS = ("[dense, compressed]", "[dense, compressed(u64, pos = u64)]")


class Entries(NamedTuple):
    """The stored elements of an array: sorted coordinates of each mode, no two alike, their values, and what all others are."""

    shape: tuple[int, ...]
    coordinates: tuple[np.ndarray, ...]
    values: np.ndarray
    fill: Any


class Rows(NamedTuple):
    """The same of a matrix in compressed rows: the entries of row ``i`` are those from ``positions[i]`` to ``positions[i + 1]``."""

    shape: tuple[int, int]
    positions: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    fill: Any


def is_wide(shape: Iterable[int]) -> bool:
    """Whether coordinates need more than 32 bits."""
    return any(extent > 1 << 31 for extent in shape)


def sparse_format(shape: tuple[int, ...], sparse: Iterable[bool]) -> str:
    """The format of a result, of which some modes are stored sparsely: rows of a matrix, else a tree."""
    flags = tuple(sparse)
    if not any(flags):
        return "dense"
    compressed = "compressed(u64, pos = u64)" if is_wide(shape) else "compressed"
    if len(shape) == 2 and all(flags) and max(shape) < VAST:
        return f"[dense, {compressed}]"
    # Behind the last sparse mode, dense ones are stored as they are.
    last = max(mode for mode, flag in enumerate(flags) if flag)
    return f"[{', '.join([compressed] * (last + 1) + ['dense'] * (len(shape) - last - 1))}]"


def entries(array: Any) -> Entries:
    """The elements of an array that are stored."""
    storage = array._whole
    if storage.is_dense:
        dense = _convert.numpy_of(storage)
        coordinates = unlinear(np.arange(dense.size), dense.shape)
        return Entries(array.shape, tuple(coordinates), dense.reshape(-1), array.fill)
    if (rows := rows_of(array)) is not None:
        return listed(rows)
    coordinates, values = _convert.entries_of(storage)
    return Entries(array.shape, tuple(mode.astype(np.int64, copy=False) for mode in coordinates), values, array.fill)


def rows_of(array: Any) -> Rows | None:
    """The compressed rows of an array, if it is stored so."""
    storage = array._whole
    if storage.format not in _ROWS:
        return None
    positions, columns = (np.asarray(memoryview(each)) for each in (storage.positions(1), storage.coordinates(1)))
    return Rows(array.shape, positions, columns, _convert.values_of(storage), array.fill)


def listed(made: Rows) -> Entries:
    """Compressed rows as entries."""
    rows = np.repeat(np.arange(made.shape[0]), np.diff(made.positions))
    return Entries(made.shape, (rows, made.columns.astype(np.int64)), made.values, made.fill)


def stored(made: Entries | Rows, format: str | None = None) -> _native.Storage:
    """The storage of sorted entries, without a fill value."""
    if isinstance(made, Rows):
        text = sparse_format(made.shape, (True, True))
        width = np.int64 if "u64" in text else np.int32
        if format is not None or not text.startswith("[dense") or len(made.values) >= 1 << 31:
            return stored(listed(made), format)
        levels: list[tuple[Any, Any]] = [(None, None), (np.ascontiguousarray(made.positions, width), np.ascontiguousarray(made.columns, width))]
        return _native.Storage.of_arrays(list(made.shape), text, levels, np.ascontiguousarray(made.values))[0]
    order = len(made.shape)
    if not order:
        value = made.values[0] if len(made.values) else made.fill
        return _native.Storage.of_dense(np.asarray(value, dtype=made.values.dtype))
    plain = sparse_format(made.shape, (True,) * order)
    width = np.int64 if is_wide(made.shape) or len(made.values) >= 1 << 31 else np.int32
    values = np.ascontiguousarray(made.values)
    if format is None and order == 2 and plain.startswith("[dense") and width is np.int32:
        positions = np.searchsorted(made.coordinates[0], np.arange(made.shape[0] + 1))
        return stored(Rows(made.shape, positions, made.coordinates[1], values, made.fill))
    coordinates = [np.ascontiguousarray(mode, dtype=width) for mode in made.coordinates]
    return _native.Storage.of_entries(list(made.shape), coordinates, values, format or plain, "refuse")


def linear(coordinates: Sequence[np.ndarray], shape: Sequence[int]) -> np.ndarray:
    """The row-major place of each index."""
    size = math.prod(shape)
    if size >= 1 << 63:
        raise ValueError(f"an array of the shape {tuple(shape)} has more than 2**63 places: they have no numbers of 64 bits")
    count = len(coordinates[0]) if coordinates else 0
    found = np.zeros(count, dtype=np.int64)
    for mode, extent in zip(coordinates, shape):
        found *= extent
        found += mode
    return found


def unlinear(places: np.ndarray, shape: Sequence[int]) -> tuple[np.ndarray, ...]:
    """The index of each row-major place."""
    found = []
    for extent in reversed(shape):
        places, rest = np.divmod(places, max(extent, 1))
        found.append(rest)
    return tuple(reversed(found))


def ordered(made: Entries) -> Entries:
    """Entries in the order of their coordinates."""
    if len(made.values) < 2 or not made.shape:
        return made
    if math.prod(made.shape) < 1 << 63:
        places = linear(made.coordinates, made.shape)
        if (places[1:] > places[:-1]).all():
            return made
        order = np.argsort(places, kind="stable")
    else:
        order = np.lexsort(made.coordinates[::-1])
    return Entries(made.shape, tuple(mode[order] for mode in made.coordinates), made.values[order], made.fill)


def summed(coordinates: Sequence[np.ndarray], values: np.ndarray, shape: tuple[int, ...], refuses: bool) -> Entries:
    """Entries of coordinates in any order: values at the same ones are added up, or refused."""
    made = ordered(Entries(shape, tuple(coordinates), values, values.dtype.type(0)))
    count = len(made.values)
    is_first = np.zeros(count, bool)
    is_first[:1] = True
    for mode in made.coordinates:
        is_first[1:] |= mode[1:] != mode[:-1]
    begins = np.flatnonzero(is_first)
    if len(begins) == count:
        return made
    if refuses:
        place = int(np.flatnonzero(~is_first)[0])
        raise ValueError(f"the index {tuple(int(mode[place]) for mode in made.coordinates)} occurs more than once")
    added = np.add.reduceat(made.values, begins, dtype=values.dtype)
    return Entries(shape, tuple(mode[begins] for mode in made.coordinates), added, made.fill)


def _numbers(several: Sequence[Sequence[np.ndarray]], shape: Sequence[int]) -> tuple[list[np.ndarray], Callable[[np.ndarray], tuple[np.ndarray, ...]]]:
    """Numbers in the order of indices for the coordinates of several arrays, and the indices of numbers."""
    if math.prod(shape) < 1 << 63:
        return [linear(coordinates, shape) for coordinates in several], lambda places: unlinear(places, shape)
    # The places of so large a shape have no numbers: those that occur get some.
    joined = np.stack([np.concatenate([coordinates[mode] for coordinates in several]) for mode in range(len(shape))])
    known, places = np.unique(joined, axis=1, return_inverse=True)
    cuts = np.cumsum([len(coordinates[0]) for coordinates in several])[:-1]
    return np.split(places.reshape(-1), cuts), lambda places: tuple(known[:, places])


# Functions of elements.


def _spread(made: Entries, shape: tuple[int, ...]) -> tuple[list[np.ndarray], np.ndarray]:
    """The entries of an array that is broadcast."""
    behind = len(shape) - len(made.shape)
    extents = [extent if mode < behind or made.shape[mode - behind] != extent else 1 for mode, extent in enumerate(shape)]
    times = math.prod(extents)
    if times == 1:
        return [*(np.zeros(len(made.values), np.int64) for _ in range(behind)), *made.coordinates], made.values
    count = len(made.values)
    repeated = unlinear(np.tile(np.arange(times, dtype=np.int64), count), extents)
    coordinates = []
    for mode, extent in enumerate(shape):
        is_own = mode >= behind and made.shape[mode - behind] == extent
        coordinates.append(np.repeat(made.coordinates[mode - behind], times) if is_own else repeated[mode])
    return coordinates, np.repeat(made.values, times)


def mapped(node: Any) -> _native.Storage:
    """A function of the elements of several arrays: NumPy's, of the values wherever one of the sparse ones stores one."""
    shape = node.shape
    parts: dict[int, tuple[list[np.ndarray], np.ndarray, Any]] = {}
    for number, arg in enumerate(node.args):
        if getattr(arg, "is_sparse", False):
            of = entries(arg)
            parts[number] = (*_spread(of, shape), of.fill)
    numbers, indices = _numbers([coordinates for coordinates, _, _ in parts.values()], shape)
    every = np.unique(np.concatenate(numbers))
    coordinates = indices(every)
    args = []
    for number, (arg, loop) in enumerate(zip(node.args, node.function.loops)):
        if number in parts:
            _, values, fill = parts[number]
            made = np.full(len(every), fill, dtype=values.dtype)
            made[np.searchsorted(every, numbers[list(parts).index(number)])] = values
        elif getattr(arg, "ndim", 0):
            made = np.broadcast_to(arg.to_numpy(), shape)[coordinates]
        else:
            made = arg.scalar() if hasattr(arg, "_node") else arg
        args.append(made if loop is None or made.dtype == loop else made.astype(loop))
    with np.errstate(all="ignore"):
        values = np.asarray(node.function.call(*args), dtype=node.dtype)
    return stored(Entries(shape, coordinates, np.broadcast_to(values, len(every)), node.fill))


# Modes.


def viewed(array: Any, axes: Sequence[int | None], shape: tuple[int, ...]) -> _native.Storage:
    """The entries of an array in other modes: of each mode of the array which one of the result it is."""
    storage = array._whole
    if axes == (1, 0) and (turned := _transposed(storage)) is not None:
        return turned
    made = entries(array)
    coordinates: list[np.ndarray | None] = [None] * len(shape)
    kept = np.ones(len(made.values), bool)
    for mode, own in zip(axes, made.coordinates):
        if mode is not None:
            if coordinates[mode] is None:
                coordinates[mode] = own
            else:
                # The same mode twice is a diagonal.
                kept &= coordinates[mode] == own
    extents = [1 if mode in axes else extent for mode, extent in enumerate(shape)]
    times = math.prod(extents)
    places = unlinear(np.tile(np.arange(times, dtype=np.int64), int(kept.sum())), extents)
    found = tuple(np.repeat(own[kept], times) if own is not None else place for own, place in zip(coordinates, places))
    return stored(ordered(Entries(shape, found, np.repeat(made.values[kept], times), made.fill)))


def _transposed(storage: _native.Storage) -> _native.Storage | None:
    """Compressed rows are the compressed columns of the transpose."""
    plain = storage.format.replace("(u64, pos = u64)", "")
    wide = "(u64, pos = u64)" if plain != storage.format else ""
    if plain == "[dense, compressed]":
        text = f"(i, j) -> [j: dense, i: compressed{wide}]"
    elif plain == "(i, j) -> [j: dense, i: compressed]" or plain == "(i1, i2) -> [i2: dense, i1: compressed]":
        text = f"[dense, compressed{wide}]"
    else:
        return None
    positions, coordinates = storage.positions(1), storage.coordinates(1)
    levels = [(None, None), (np.asarray(memoryview(positions)), np.asarray(memoryview(coordinates)))]
    return _native.Storage.of_arrays(storage.shape[::-1], text, levels, np.array(memoryview(storage.values())))[0]


def reshaped(array: Any, shape: tuple[int, ...]) -> Entries:
    """The entries in another shape, in row-major order."""
    made = entries(array)
    places = linear(made.coordinates, made.shape) if made.shape else np.zeros(len(made.values), np.int64)
    return Entries(shape, unlinear(places, shape), made.values, made.fill)


def joined(parts: Sequence[Entries], axis: int) -> Entries:
    """Arrays beside each other along a mode, all with one fill value."""
    first = parts[0]
    offsets = np.cumsum([0, *(part.shape[axis] for part in parts)])
    shape = (*first.shape[:axis], int(offsets[-1]), *first.shape[axis + 1:])
    coordinates = []
    for mode in range(len(shape)):
        moved = [part.coordinates[mode] + (offset if mode == axis else 0) for part, offset in zip(parts, offsets)]
        coordinates.append(np.concatenate(moved))
    made = Entries(shape, tuple(coordinates), np.concatenate([part.values for part in parts]), first.fill)
    return made if axis == 0 else ordered(made)


def rolled(made: Entries, shifts: dict[int, int]) -> Entries:
    """Entries that are shifted along modes, and come in again at the other end."""
    coordinates = [(mode + shifts[number]) % extent if number in shifts and extent else mode
                   for number, (mode, extent) in enumerate(zip(made.coordinates, made.shape))]
    return ordered(made._replace(coordinates=tuple(coordinates)))


def flipped(made: Entries, axes: Iterable[int]) -> Entries:
    """Entries in reverse along modes."""
    axes = set(axes)
    coordinates = [extent - 1 - mode if number in axes else mode for number, (mode, extent) in enumerate(zip(made.coordinates, made.shape))]
    return ordered(made._replace(coordinates=tuple(coordinates)))


def chosen(made: Entries, where: np.ndarray) -> Entries:
    """Those of the entries for which a mask holds."""
    return made._replace(coordinates=tuple(mode[where] for mode in made.coordinates), values=made.values[where])


def multiplied(one: Entries, other: Entries) -> Entries:
    """The Kronecker product of two arrays of one order, whose fill values are zero."""
    shape = tuple(a * b for a, b in zip(one.shape, other.shape))
    count, times = len(one.values), len(other.values)
    coordinates = tuple(np.repeat(a, times) * extent + np.tile(b, count) for a, b, extent in zip(one.coordinates, other.coordinates, other.shape))
    return ordered(Entries(shape, coordinates, np.repeat(one.values, times) * np.tile(other.values, count), one.fill))


# Indices.


def indexed(array: Any, index: Any) -> tuple[Any, bool]:
    """The entries that NumPy's index chooses, or the element, and which of both it is."""
    index = index if isinstance(index, tuple) else (index,)
    shape = array.shape
    if len(index) == 1 and getattr(index[0], "dtype", None) == bool and not index[0].ndim:
        # A mask without modes chooses all or nothing, along a new mode.
        made = _selected(array, _parts((None,), shape))
        assert isinstance(made, Entries)
        return (made if index[0] else chosen(made, np.zeros(len(made.values), bool))._replace(shape=(0, *shape))), False
    parts = _parts(index, shape)
    if len(parts) == len(shape) and all(type(part) is int for part in parts):
        found = array._whole.get(parts)
        return (array.fill if found is None else array.dtype.type(found)), True
    return _selected(array, parts), False


class _Mask(NamedTuple):
    """An array of truth values as an index of all its modes."""

    array: Any


def _parts(index: tuple[Any, ...], shape: tuple[int, ...]) -> list[Any]:
    """An index with one part for each mode, and None for each new one."""
    given = [_part(part) for part in index]
    count = sum(part.array.ndim if isinstance(part, _Mask) else part is not None and part is not Ellipsis for part in given)
    if sum(part is Ellipsis for part in given) > 1:
        raise IndexError("an index has one ellipsis at most")
    if count > len(shape):
        raise IndexError(f"an index of {count} parts is too long for {len(shape)} modes")
    place = next((number for number, part in enumerate(given) if part is Ellipsis), len(given))
    left = [slice(None)] * (len(shape) - count)
    if not left and _has_arrays(given[:place]) and _has_arrays(given[place + 1:]):
        # Arrays on both sides are no neighbours, also where there is no mode between them.
        left = given[place:place + 1]
    given[place:place + 1] = left
    found: list[Any] = []
    mode = 0
    for part in given:
        if part is None or part is Ellipsis:
            found.append(part)
            continue
        if isinstance(part, _Mask):
            # As in NumPy, an empty mask fits any mode.
            if not all(own in (0, extent) for own, extent in zip(part.array.shape, shape[mode:])):
                raise IndexError(f"a mask of the shape {part.array.shape} does not fit the modes from {mode} on of the shape {shape}")
            found += _places(part.array)
            mode += part.array.ndim
            continue
        extent = shape[mode]
        if type(part) is int:
            if not -extent <= part < extent:
                raise IndexError(f"the index {part} is outside of the mode {mode}, which has {extent} elements")
            part %= extent
        elif isinstance(part, np.ndarray):
            part = _within(part, mode, extent)
        found.append(part)
        mode += 1
    return found


def _has_arrays(parts: list[Any]) -> bool:
    """Whether some parts of an index are arrays, or whole numbers, which are arrays beside these."""
    return any(type(part) is int or isinstance(part, (np.ndarray, _Mask)) for part in parts)


def _part(part: Any) -> Any:
    """A part of an index: a whole number, a slice, None, an ellipsis, an array of whole numbers, or a mask."""
    if part is None or part is Ellipsis or isinstance(part, slice):
        return part
    if hasattr(part, "_node") and part.dtype.kind == "b" and part.ndim:
        return _Mask(part)
    if isinstance(part, (bool, np.bool_)) or getattr(part, "dtype", None) == bool and not part.ndim:
        raise IndexError("a truth value is no index: write an array of truth values, or A[None]")
    if hasattr(part, "_node") or isinstance(part, (list, tuple)) or getattr(part, "ndim", 0):
        array = part.to_numpy() if hasattr(part, "_node") else np.asarray(part)
        if array.dtype.kind == "b":
            return _Mask(array)
        if array.size and array.dtype.kind not in "iu":
            raise IndexError(f"an array of indices has whole numbers or truth values, not {array.dtype}")
        return array.astype(np.int64, copy=False) if array.ndim else int(array)
    try:
        return operator.index(part)
    except TypeError:
        raise IndexError(f"an index is a whole number, a slice, None, ..., or an array of whole numbers or truth values, not {part!r}") from None


def _places(mask: Any) -> list[np.ndarray]:
    found = true_places(mask) if hasattr(mask, "_node") else np.nonzero(mask)
    return [mode.astype(np.int64) for mode in found]


def _within(array: np.ndarray, mode: int, extent: int) -> np.ndarray:
    if not array.size:
        return array
    least, greatest = array.min(), array.max()
    if least < -extent or greatest >= extent:
        wrong = (array < -extent) | (array >= extent)
        raise IndexError(f"the index {array[wrong].flat[0]} is outside of the mode {mode}, which has {extent} elements")
    return np.where(array < 0, array + extent, array) if least < 0 else array


def true_places(array: Any) -> tuple[np.ndarray, ...]:
    """The coordinates of elements that are not zero."""
    if array.is_sparse and not array.fill:
        made = entries(array)
        where = made.values != 0
        return tuple(mode[where] for mode in made.coordinates)
    return np.nonzero(array.to_numpy())


def _selected(array: Any, parts: list[Any]) -> Entries | _native.Storage:
    """The entries at an index of whole numbers, slices, arrays, and None for new modes."""
    if (stored := _stored_rows(array, parts)) is not None:
        return stored
    is_advanced = any(isinstance(part, np.ndarray) for part in parts)
    if is_advanced:
        # A whole number beside arrays is one of them.
        parts = [np.asarray(part) if type(part) is int else part for part in parts]
    made, parts = _rows(array, parts)
    shape = made.shape
    kept = np.ones(len(made.values), bool)
    modes: list[tuple[np.ndarray, int] | str] = []
    arrays: list[tuple[np.ndarray, np.ndarray, int]] = []
    mode = 0
    for part in parts:
        if part is Ellipsis:
            modes.append("gap")
            continue
        if part is None:
            modes.append((np.zeros(len(made.values), np.int64), 1))
            continue
        own, extent = made.coordinates[mode], shape[mode]
        if isinstance(part, slice):
            start, stop, step = part.indices(extent)
            count = len(range(start, stop, step))
            if (start, step, count) != (0, 1, extent):
                own = own - start
                if step != 1:
                    own, rest = np.divmod(own, step)
                    kept &= rest == 0
                kept &= (own >= 0) & (own < count)
            modes.append((own, count))
        elif isinstance(part, np.ndarray):
            arrays.append((own, part, extent))
            modes.append("array")
        else:
            kept &= own == part
        mode += 1
    if not kept.all():
        made = chosen(made, kept)
        modes = [each if isinstance(each, str) else (each[0][kept], each[1]) for each in modes]
        arrays = [(own[kept], part, extent) for own, part, extent in arrays]
    if not arrays:
        return ordered(Entries(tuple(extent for _, extent in modes), tuple(own for own, _ in modes), made.values, made.fill))
    return _gathered(made, modes, arrays)


def _stored_rows(array: Any, parts: list[Any]) -> _native.Storage | None:
    """Rows and a range of columns of a matrix in compressed rows, of which nothing else is looked at."""
    if len(parts) != 2 or len(array.shape) != 2 or not isinstance(parts[1], slice):
        return None
    rows, (count, width) = parts[0], array.shape
    first, last, step = parts[1].indices(width)
    columns = first, max(first, last)
    if step != 1:
        return None
    storage = array._whole
    if isinstance(rows, slice):
        first, last, step = rows.indices(count)
        if step == 1:
            return _native._rows_between(storage, (first, max(first, last)), columns)
        rows = np.arange(first, last, step)
    if not isinstance(rows, np.ndarray) or rows.ndim != 1:
        return None
    made = _native._rows_taken(storage, np.ascontiguousarray(rows))
    return made if made is None or columns == (0, width) else _native._rows_between(made, (0, len(rows)), columns)


def _rows(array: Any, parts: list[Any]) -> tuple[Entries, list[Any]]:
    """The entries of the rows that an index of a matrix in compressed rows begins with, and the rest of the index."""
    made = rows_of(array)
    if made is None or parts[0] is None or len(parts) < 2 or parts[1] is None or parts[1] is Ellipsis:
        return entries(array), parts
    first, second = parts[:2]
    if isinstance(first, np.ndarray) and (first.ndim != 1 or isinstance(second, np.ndarray)):
        return entries(array), parts
    if isinstance(first, (slice, np.ndarray)):
        return listed(taken(made, first)), [slice(None), *parts[1:]]
    return listed(taken(made, slice(first, first + 1))), [0, *parts[1:]]


def taken(made: Rows, rows: slice | np.ndarray) -> Rows:
    """Some of the rows, in any order."""
    count, positions = made.shape[0], made.positions
    if isinstance(rows, slice):
        begin, end, step = rows.indices(count)
        if step == 1:
            end = max(begin, end)
            cut = slice(positions[begin], positions[end])
            return Rows((end - begin, made.shape[1]), positions[begin:end + 1] - positions[begin], made.columns[cut], made.values[cut].copy(), made.fill)
        rows = np.arange(begin, end, step)
    begins = positions[rows]
    lengths = positions[rows + 1] - begins
    ends = np.append(0, np.cumsum(lengths, dtype=np.int64))
    places = np.arange(ends[-1]) + np.repeat(begins - ends[:-1], lengths)
    return Rows((len(rows), made.shape[1]), ends, made.columns[places], made.values[places], made.fill)


def _together(arrays: list[np.ndarray]) -> Sequence[np.ndarray]:
    """Arrays of indices, broadcast."""
    try:
        return np.broadcast_arrays(*arrays)
    except ValueError:
        raise IndexError(f"arrays of indices of the shapes {', '.join(str(array.shape) for array in arrays)} are not broadcast to one") from None


def _gathered(made: Entries, modes: list[Any], arrays: list[tuple[np.ndarray, np.ndarray, int]]) -> Entries:
    """Entries at arrays of indices, which are broadcast: each entry as often as its index occurs."""
    wanted = _together([part for _, part, _ in arrays])
    shape, extents = wanted[0].shape, [extent for _, _, extent in arrays]
    sought, found = _numbers([[each.reshape(-1) for each in wanted], [own for own, _, _ in arrays]], extents)[0]
    order = np.argsort(sought, kind="stable")
    first, last = (np.searchsorted(sought[order], found, side) for side in ("left", "right"))
    times = last - first
    # The place in `order` of each copy of each entry.
    begins = np.repeat(first - np.concatenate([[0], np.cumsum(times)[:-1]]) if len(times) else first, times)
    places = order[begins + np.arange(int(times.sum()))]
    new = list(zip(unlinear(places, shape), shape)) if shape else []
    # NumPy has the modes of arrays where they are, if they are neighbours, else in front.
    numbers = [number for number, each in enumerate(modes) if each == "array"]
    is_together = numbers[-1] - numbers[0] == len(numbers) - 1
    at = sum(each != "array" for each in modes[:numbers[0]]) if is_together else 0
    rest = [(np.repeat(each[0], times), each[1]) for each in modes if not isinstance(each, str)]
    every = [*rest[:at], *new, *rest[at:]]
    return ordered(Entries(tuple(extent for _, extent in every), tuple(own for own, _ in every), np.repeat(made.values, times), made.fill))


class _Region(NamedTuple):
    """The places that an index chooses: the shape of what it gives, and of each mode of the array how indices there become its own."""

    shape: tuple[int, ...]
    modes: list[int | _Slice | _Gather]

    def places(self, at: Sequence[np.ndarray], count: int) -> list[np.ndarray]:
        """The coordinates in the array of places in the region."""
        found = []
        for part in self.modes:
            if isinstance(part, _Slice):
                found.append(at[part.axis] * part.step + part.start)
            elif isinstance(part, _Gather):
                found.append(part.indices[tuple(at[axis] for axis in part.axes)] if part.axes else np.full(count, part.indices[()]))
            else:
                found.append(np.full(count, part, np.int64))
        return found

    def is_repeated(self, shape: Sequence[int]) -> bool:
        """Whether arrays of indices have one place several times."""
        gathers = [(part.indices.reshape(-1), extent) for part, extent in zip(self.modes, shape) if isinstance(part, _Gather)]
        if not gathers:
            return False
        (numbers,), _ = _numbers([[indices for indices, _ in gathers]], [extent for _, extent in gathers])
        return len(np.unique(numbers)) < len(numbers)

    def holds(self, made: Entries) -> np.ndarray:
        """Of each entry, whether its place is in the region."""
        kept = np.ones(len(made.values), bool)
        gathers: list[tuple[np.ndarray, np.ndarray, int]] = []
        for part, own, extent in zip(self.modes, made.coordinates, made.shape):
            if isinstance(part, _Slice):
                distance = own - part.start
                kept &= distance % part.step == 0
                kept &= (distance // part.step >= 0) & (distance // part.step < part.count)
            elif isinstance(part, _Gather):
                gathers.append((part.indices.reshape(-1), own, extent))
            else:
                kept &= own == part
        if gathers:
            wanted, mine = _numbers([[each[0] for each in gathers], [each[1] for each in gathers]], [each[2] for each in gathers])[0]
            kept &= np.isin(mine, wanted)
        return kept


class _Slice(NamedTuple):
    """A mode of an array along an axis of a region."""

    axis: int
    start: int
    step: int
    count: int


class _Gather(NamedTuple):
    """A mode of an array whose indices are those of an array along axes of a region."""

    axes: tuple[int, ...]
    indices: np.ndarray


def _region(parts: list[Any], shape: tuple[int, ...]) -> _Region:
    """The places of an index of whole numbers, slices, arrays, and None for new modes."""
    is_advanced = any(isinstance(part, np.ndarray) for part in parts)
    if is_advanced:
        parts = [np.asarray(part) if type(part) is int else part for part in parts]
    arrays = _together([part for part in parts if isinstance(part, np.ndarray)]) if is_advanced else []
    gathered = arrays[0].shape if is_advanced else ()
    numbers = [number for number, part in enumerate(parts) if isinstance(part, np.ndarray)]
    is_together = is_advanced and numbers[-1] - numbers[0] == len(numbers) - 1
    extents: list[int] = []
    if is_advanced and not is_together:
        extents += gathered
    axes: tuple[int, ...] = tuple(range(len(gathered)))
    found: list[int | _Slice | _Gather] = []
    own = iter(shape)
    every = iter(arrays)
    for number, part in enumerate(parts):
        if part is Ellipsis:
            continue
        if part is None:
            extents.append(1)
        elif isinstance(part, slice):
            start, stop, step = part.indices(next(own))
            count = len(range(start, stop, step))
            found.append(_Slice(len(extents), start, step, count))
            extents.append(count)
        elif isinstance(part, np.ndarray):
            next(own)
            if is_together and number == numbers[0]:
                axes = tuple(range(len(extents), len(extents) + len(gathered)))
                extents += gathered
            found.append(_Gather(axes, next(every)))
        else:
            next(own)
            found.append(part)
    return _Region(tuple(extents), found)


def assigned(array: Any, index: Any, news: Any) -> Entries | Rows:
    """The entries of an array with others at an index: a number, an array of NumPy's, or entries, which are broadcast."""
    index = index if isinstance(index, tuple) else (index,)
    if len(index) == 1 and (isinstance(index[0], bool) or getattr(index[0], "dtype", None) == bool and not index[0].ndim):
        # A truth value chooses all or nothing.
        index = (slice(None),) * len(array.shape) if index[0] else (slice(0),)
    region = _region(_parts(index, array.shape), array.shape)
    rows, first = rows_of(array), region.modes[0]
    if rows is not None and math.prod(region.shape) and not isinstance(first, _Gather):
        # Other rows stay as they are.
        ends = (first, first) if isinstance(first, int) else (first.start, first.start + first.step * max(first.count - 1, 0))
        begin, end = min(ends), min(max(ends) + 1, rows.shape[0])
        if (begin, end) != (0, rows.shape[0]):
            inner = listed(taken(rows, slice(begin, end)))
            moved = first - begin if isinstance(first, int) else first._replace(start=first.start - begin)
            return _spliced(rows, begin, end, _with(inner, region._replace(modes=[moved, *region.modes[1:]]), news))
    return _with(entries(array), region, news)


def _spliced(rows: Rows, begin: int, end: int, made: Entries) -> Rows:
    """Compressed rows with others in place of some."""
    first, last = rows.positions[begin], rows.positions[end]
    inner = np.searchsorted(made.coordinates[0], np.arange(end - begin + 1)) + first
    positions = np.concatenate([rows.positions[:begin], inner, rows.positions[end + 1:] + (inner[-1] - last)])
    columns = np.concatenate([rows.columns[:first], made.coordinates[1].astype(rows.columns.dtype), rows.columns[last:]])
    return Rows(rows.shape, positions, columns, np.concatenate([rows.values[:first], made.values, rows.values[last:]]), rows.fill)


def _with(made: Entries, region: _Region, news: Any) -> Entries:
    """Entries with others in a region; those that are the fill value are left out."""
    dtype = made.values.dtype
    if isinstance(news, Entries) and (not _is_same(news.fill, made.fill) or region.is_repeated(made.shape)):
        news = _whole(news).values.reshape(news.shape)
    shape = region.shape
    own = np.shape(news) if not isinstance(news, Entries) else news.shape
    if own and not shape:
        raise ValueError(f"an element is set to a number, not to an array of the shape {own}")
    extra = max(len(own) - len(shape), 0)
    if any(extent != 1 for extent in own[:extra]) or any(
            extent not in (1, wanted) for extent, wanted in zip(own[extra:][::-1], shape[::-1])):
        raise ValueError(f"elements of the shape {own} are not broadcast to the shape {shape} of the index")
    if isinstance(news, Entries):
        given = Entries(own[extra:], news.coordinates[extra:], news.values, news.fill)
        at, values = _spread(given, shape)
    elif not np.ndim(news) and _is_same(news, made.fill):
        at, values = [np.zeros(0, np.int64)] * len(shape), np.zeros(0, dtype)
    else:
        dense = np.broadcast_to(np.reshape(news, own[extra:]), shape).reshape(-1)
        with np.errstate(all="ignore"):
            dense = dense.astype(dtype)
        at, values = list(unlinear(np.arange(len(dense)), shape)), dense
    coordinates = region.places(at, len(values))
    if any(isinstance(part, _Gather) for part in region.modes):
        # Of elements that are assigned to one place, the last stays.
        (numbers,), _ = _numbers([coordinates], made.shape)
        places = len(numbers) - 1 - np.unique(numbers[::-1], return_index=True)[1]
        coordinates, values = [mode[places] for mode in coordinates], values[places]
    values = values.astype(dtype, copy=False)
    rest = chosen(made, ~region.holds(made))
    kept = values != made.fill if made.fill == made.fill else values == values
    every = [np.concatenate([mode, new[kept]]) for mode, new in zip(rest.coordinates, coordinates)]
    return ordered(Entries(made.shape, tuple(every), np.concatenate([rest.values, values[kept]]), made.fill))


def _is_same(one: Any, other: Any) -> bool:
    """Whether two numbers are the same, or both NaN."""
    return bool(one == other or one != one and other != other)


# Reductions.


def fibers(array: Any, axes: tuple[int, ...]) -> Entries | Rows:
    """The entries that are reduced over some modes: compressed rows, where these are the groups."""
    rows = rows_of(array) if axes == (1,) else None
    return entries(array) if rows is None else rows


def _groups(made: Entries | Rows, axes: tuple[int, ...]) -> tuple[Any, np.ndarray, tuple[int, ...], tuple[np.ndarray, ...]]:
    """Entries in the order of the modes that stay, where each group begins, and the shape and the coordinates of the groups."""
    if isinstance(made, Rows):
        used = np.flatnonzero(made.positions[1:] > made.positions[:-1])
        return made, made.positions[used], made.shape[:1], (used,)
    kept = [mode for mode in range(len(made.shape)) if mode not in axes]
    order = (*kept, *axes)
    turned = made
    if order != tuple(range(len(order))):
        turned = ordered(Entries(tuple(made.shape[mode] for mode in order), tuple(made.coordinates[mode] for mode in order), made.values, made.fill))
    shape = turned.shape[:len(kept)]
    count = len(turned.values)
    is_first = np.zeros(count, bool)
    is_first[:1] = True
    for mode in turned.coordinates[:len(kept)]:
        is_first[1:] |= mode[1:] != mode[:-1]
    begins = np.flatnonzero(is_first)
    return turned, begins, shape, tuple(mode[begins] for mode in turned.coordinates[:len(kept)])


def _result(shape: tuple[int, ...], coordinates: tuple[np.ndarray, ...], values: np.ndarray, rest: Any) -> Entries | np.ndarray:
    """What groups are reduced to: sparse if it has two modes or more, or is very long."""
    if len(shape) >= 2 or math.prod(shape) >= VAST:
        return Entries(shape, coordinates, values, rest)
    dense = np.full(shape, rest, dtype=values.dtype)
    if shape:
        dense[coordinates] = values
    elif len(values):
        dense[()] = values[0]
    return dense


def reduced(ufunc: np.ufunc, made: Entries | Rows, axes: tuple[int, ...], dtype: np.dtype) -> Entries | np.ndarray:
    """A reduction over modes by NumPy's function: of the entries, and of the others together."""
    size = math.prod(made.shape[mode] for mode in axes)
    turned, begins, shape, coordinates = _groups(made, axes)
    values = turned.values if ufunc in (np.logical_and, np.logical_or) else turned.values.astype(dtype, copy=False)
    counts = np.diff(np.append(begins, len(values)))
    with np.errstate(all="ignore"):
        rest = _repeated(ufunc, made.fill, size, dtype)
        found = ufunc.reduceat(values, begins, dtype=dtype) if len(begins) else np.zeros(0, dtype)
        missing = size - counts
        others = missing > 0
        if others.any() and not (ufunc is np.add and not made.fill):
            found[others] = ufunc(found[others], _repeated(ufunc, made.fill, missing[others], dtype)).astype(dtype)
    return _result(shape, coordinates, found, rest)


def _repeated(ufunc: np.ufunc, fill: Any, count: Any, dtype: np.dtype) -> Any:
    """The reduction of so many elements that are not stored."""
    if np.ndim(count) == 0 and not count:
        # An error where the reduction has no identity, as in NumPy.
        return ufunc.reduce(np.zeros(0, dtype), dtype=dtype)
    if ufunc is np.add:
        return np.multiply(dtype.type(fill), np.asarray(count).astype(dtype), dtype=dtype)[()]
    if ufunc is np.multiply:
        return np.power(dtype.type(fill), np.asarray(count).astype(dtype), dtype=dtype)[()]
    return dtype.type(bool(fill)) if dtype.kind == "b" else dtype.type(fill)


def variance(made: Entries | Rows, axes: tuple[int, ...], correction: float, dtype: np.dtype, skips_nan: bool) -> Entries | np.ndarray:
    """The variance over modes: the mean square distance of entries from the mean, and of the others together."""
    size = math.prod(made.shape[mode] for mode in axes)
    turned, begins, shape, coordinates = _groups(made, axes)
    values, fill = turned.values.astype(dtype, copy=False), dtype.type(made.fill)
    lengths = np.diff(np.append(begins, len(values)))

    def total(each: np.ndarray) -> np.ndarray:
        return np.add.reduceat(each, begins) if len(begins) else each[:0]

    with np.errstate(all="ignore"):
        missing = (size - lengths).astype(values.real.dtype)
        is_number = values == values if skips_nan else np.ones(len(values), bool)
        counts = total(is_number.astype(values.real.dtype)) + missing
        means = (total(np.where(is_number, values, 0)) + np.where(missing > 0, missing * fill, 0)) / counts
        squares = np.where(is_number, np.abs(values - np.repeat(means, lengths)) ** 2, 0)
        found = total(squares) + np.where(missing > 0, missing * np.abs(fill - means) ** 2, 0)
        divisors = np.maximum(counts - correction, 0)
        rest = found.dtype.type(0 if size and fill == fill and abs(fill) != np.inf else np.nan) / found.dtype.type(max(size - correction, 0))
        return _result(shape, coordinates, (found / divisors).astype(found.dtype), rest)


def best(made: Entries, axes: tuple[int, ...], is_least: bool) -> Entries | np.ndarray:
    """The place of the first least or greatest element over modes; of several modes the row-major one. NaN comes first, as in NumPy."""
    size = math.prod(made.shape[mode] for mode in axes)
    if not size:
        raise ValueError("there is no place of a greatest or least element among none")
    turned, begins, shape, coordinates = _groups(made, axes)
    own = linear(turned.coordinates[len(shape):], turned.shape[len(shape):])
    values, count = turned.values, len(turned.values)
    lengths = np.diff(np.append(begins, count))
    group = np.repeat(np.arange(len(begins)), lengths)
    greatest = (np.minimum if is_least else np.maximum).reduceat(values, begins) if len(begins) else values
    is_it = (values == greatest[group]) | ((values != values) & (greatest != greatest)[group])
    first = np.minimum.reduceat(np.where(is_it, own, size), begins) if len(begins) else own
    # The first place without an entry is the first whose number is not that of its entry.
    within = np.arange(count) - np.repeat(begins, lengths)
    gap = np.minimum.reduceat(np.where(own != within, within, size), begins) if len(begins) else own
    gap = np.minimum(gap, lengths)
    fill = made.fill
    is_better = (fill < greatest if is_least else fill > greatest) | ((fill != fill) & (greatest == greatest))
    is_equal = (greatest == fill) | ((fill != fill) & (greatest != greatest))
    found = np.where(is_better, gap, np.where(is_equal, np.minimum(gap, first), first))
    found = np.where(lengths < size, found, first)
    return _result(shape, coordinates, found.astype(np.int64), np.int64(0))


# Orders.


def sorted_along(made: Entries, axis: int, descending: bool) -> Entries:
    """Elements in order along a mode: entries below the fill value, the others, and entries above it."""
    turned, begins, shape, _ = _groups(made, (axis,))
    extent = made.shape[axis]
    lengths = np.diff(np.append(begins, len(turned.values)))
    group = np.repeat(np.arange(len(begins)), lengths)
    # NaN is the last, which is what NumPy's order has.
    order = np.lexsort((turned.values, group))
    values = turned.values[order]
    place = np.arange(len(values)) - np.repeat(begins, lengths)
    above = _is_above(values, made.fill)
    place = place + np.where(above, extent - np.repeat(lengths, lengths), 0)
    if descending:
        place = extent - 1 - place
    coordinates = list(mode[order] for mode in turned.coordinates[:len(shape)])
    coordinates.insert(axis, place)
    return ordered(Entries(made.shape, tuple(coordinates), values, made.fill))


def _is_above(values: np.ndarray, fill: Any) -> np.ndarray:
    if fill != fill:
        return np.zeros(len(values), bool)
    return (values > fill) | (values != values) if values.dtype.kind != "c" else np.array([np.sort([value, fill])[0] == fill for value in values], bool)


def _whole(made: Entries) -> Entries:
    """All elements as entries."""
    dense = np.full(made.shape, made.fill, dtype=made.values.dtype)
    dense[made.coordinates] = made.values
    return Entries(made.shape, unlinear(np.arange(dense.size), made.shape), dense.reshape(-1), made.fill)


def unique(made: Entries, equal_nan: bool) -> tuple[np.ndarray, np.ndarray, Entries]:
    """The distinct elements in order, how often each is there, and the number of its value at each place."""
    missing = math.prod(made.shape) - len(made.values)
    if missing and not equal_nan and made.fill != made.fill:
        # Each NaN is distinct.
        made, missing = _whole(made), 0
    every = np.append(made.values, made.fill) if missing else made.values
    values, numbers, counts = np.unique(every, return_inverse=True, return_counts=True, equal_nan=equal_nan)
    numbers = numbers.reshape(-1)
    rest = np.int64(0)
    if missing:
        rest = np.int64(numbers[-1])
        counts[rest] += missing - 1
        numbers = numbers[:-1]
    return values, counts, made._replace(values=numbers.astype(np.int64), fill=rest)
