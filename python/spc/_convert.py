"""Objects of other libraries as tensors and back, in the same memory where their layout is one of ours."""

from __future__ import annotations

import functools
import itertools
import re
import weakref
from typing import Any

import numpy as np

from . import _native, _warnings


ELEMENTS = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "i8": np.int8, "i16": np.int16, "i32": np.int32,
    "i64": np.int64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "bool": np.bool_,
    "c32": np.complex64, "c64": np.complex128,
}
NAMES = {np.dtype(dtype): name for name, dtype in ELEMENTS.items()}


_DTYPES = {name: np.dtype(dtype) for name, dtype in ELEMENTS.items()} | {"bf16": np.dtype(np.float32)}


def dtype_of(storage: _native.Storage) -> np.dtype:
    """The element type as NumPy has it: that of ``bf16`` is ``float32``."""
    return _DTYPES[storage.element]


def dtype_named(element: str) -> np.dtype:
    """The element type of a name of ours as NumPy has it."""
    return _DTYPES[element]


def unfolded(storage: _native.Storage) -> _native.Storage:
    """The tensor with all of its entries stored: itself, where its format has no symmetry."""
    levels, end, symmetry = storage.format.rpartition("]")
    return storage.convert(levels + end) if symmetry else storage


def label_of(storage: _native.Storage) -> str:
    """What a kernel is compiled for: the element type, the format, and a fill value that is not zero."""
    fill = storage.fill
    return f"{storage.element} {storage.format} fill {fill}" if fill else f"{storage.element} {storage.format}"


def computed(dtype: np.dtype) -> str:
    """The element type that a kernel computes with: halves are read as ``f32``."""
    return "f32" if dtype.char == "e" else NAMES[dtype]


def element(dtype: np.dtype) -> str:
    """The name of an element type of ours; an error where there is none."""
    try:
        return NAMES[dtype]
    except KeyError:
        if dtype.newbyteorder("=") in NAMES:
            raise TypeError(f"elements {dtype} are of another byte order: convert them with astype") from None
        raise TypeError(f"elements {dtype} are none of a tensor's: convert them with astype to one of "
                        f"{', '.join(map(str, NAMES))}") from None


def widened_elements(array: np.ndarray) -> np.ndarray:
    """An array whose element type is of a library beside NumPy, as ``bfloat16`` of ml_dtypes, in one of ours that has all its numbers."""
    if array.dtype.isbuiltin == 2:
        for kind in (np.uint8, np.int8, np.float32, np.complex64):
            if np.can_cast(array.dtype, kind):
                return array.astype(kind)
    return array


def _widths(*arrays: np.ndarray) -> str:
    """What a compressed level says of the widths of its coordinates and positions."""
    return "(u64, pos = u64)" if any(array.dtype.itemsize == 8 for array in arrays) else ""


def _same(*arrays: np.ndarray) -> list[np.ndarray]:
    """Index arrays of one width: the widest of them."""
    width = max((array.dtype for array in arrays), key=lambda dtype: dtype.itemsize)
    return [np.ascontiguousarray(array, dtype=width) for array in arrays]


def dense_format(array: np.ndarray) -> tuple[np.ndarray, str]:
    """An array as it lies there, and the format that this is: whose modes go from the largest stride to the least."""
    if array.flags.c_contiguous:
        return array, "dense"
    order = sorted(range(array.ndim), key=lambda mode: -array.strides[mode])
    turned = array.transpose(order)
    if turned.flags.c_contiguous:
        modes = [f"m{mode}" for mode in range(array.ndim)]
        levels = ", ".join(f"m{mode}: dense" for mode in order)
        return turned, f"({', '.join(modes)}) -> [{levels}]"
    return np.ascontiguousarray(array), "dense"


def kind_of(obj: Any) -> str | None:
    """What an object is by what it has: a sparse array of SciPy, PyData or torch, an ``"array"`` that lends its memory, or nothing of these.

    Classes of other names, and subclasses, are taken for what they have, too.
    """
    if isinstance(obj, np.ndarray):
        return "array"
    kind = type(obj)
    found = _KINDS.get(kind)
    if found is None:
        found = _KINDS[kind] = _seen(obj)
    return found or None


_KINDS: dict[type, str] = {}


def _seen(obj: Any) -> str:
    def has(*names: str) -> bool:
        return all(hasattr(obj, name) for name in names)

    # Labelled arrays and delayed ones have arrays inside, of any kind: operators are theirs.
    if has("dims", "coords", "variable") or has("__dask_graph__"):
        return ""
    if isinstance(obj, type) or not has("shape", "dtype"):
        return "array" if not isinstance(obj, type) and has("__array_interface__") else ""
    if has("tocsr", "tocoo", "format") and not has("fill_value"):
        return "scipy"
    if has("layout", "is_sparse", "detach"):
        return "torch"
    if has("fill_value", "todense", "nnz") and has("coords", "data") or has("compressed_axes", "indptr"):
        return "pydata"
    if has("fill_value", "todense") and (has("to_coo") or has("tocoo")):
        return "pydata"
    return "array" if has("__dlpack__") or has("__array__") else ""


# Of objects that were handed in, by their identity: checked copies of their index arrays, which are there as long as the object is.
_PATTERNS: dict[int, tuple[weakref.ref[Any], _native.Pattern]] = {}


def _of_arrays(owner: Any, shape: list[int], text: str, levels: list[tuple[Any, Any]], values: Any) -> _native.Storage:
    """A tensor of the arrays of an object: of its values in place, and of a copy of its index arrays, which is made anew when they change."""
    key = id(owner)
    kept = _PATTERNS.get(key)
    known = kept[1] if kept is not None and kept[0]() is owner else None
    made, pattern = _native.Storage.of_arrays(shape, text, levels, values, known)
    if pattern is not None and type(owner).__weakrefoffset__:
        _PATTERNS[key] = (weakref.ref(owner, functools.partial(_forget, _PATTERNS, key)), pattern)
    return made


def _forget(patterns: dict[int, tuple[weakref.ref[Any], _native.Pattern]], key: int, gone: weakref.ref[Any]) -> None:
    # Another object may have the same address by now.
    if key in patterns and patterns[key][0] is gone:
        del patterns[key]


def storage(obj: Any, duplicates: str = "sum") -> _native.Storage:
    """An object as a tensor: its values are not copied where they are as one of our formats has them, else they are sorted into one."""
    if isinstance(obj, np.ndarray):
        return dense(obj)
    way = {"scipy": _scipy, "pydata": _pydata, "torch": _torch}.get(kind_of(obj) or "")
    if way is not None:
        return way(obj, duplicates)
    if hasattr(obj, "__dlpack__"):
        return dense(np.from_dlpack(obj))
    return dense(np.asarray(obj))


def dense(array: np.ndarray) -> _native.Storage:
    """An array as a dense tensor in the order in which it lies there; a slice with gaps is copied."""
    array = widened_elements(array)
    element(array.dtype)
    turned, text = dense_format(array)
    if turned.base is not array and turned is not array and not np.may_share_memory(turned, array):
        _warnings.copied("the array has gaps between its elements, and is copied: pass numpy.ascontiguousarray of it to do that once")
    return _native.Storage.of_dense(turned, None if text == "dense" else text, list(array.shape))


def _scipy(matrix: Any, duplicates: str) -> _native.Storage:
    layout = getattr(matrix, "format", None)
    shape = list(matrix.shape)
    element(matrix.dtype)
    if layout in ("csr", "csc") and len(shape) == 2:
        return _compressed(matrix, layout, shape, duplicates)
    if layout == "coo":
        coords = matrix.coords if hasattr(matrix, "coords") else (matrix.row, matrix.col)
        return _coordinates(matrix, shape, list(coords), matrix.data, duplicates)
    if layout == "bsr":
        return _blocks(matrix, shape, duplicates)
    if layout == "dia":
        return _diagonals(matrix, shape)
    if layout in ("lil", "dok"):
        _warnings.copied(f"a {layout} matrix has no arrays to borrow, and is copied: pass .tocsr() of it to do that once")
        return _scipy(matrix.tocsr() if len(shape) == 2 else matrix.tocoo(), duplicates)
    raise TypeError(f"a {type(matrix).__name__} of {len(shape)} modes is no tensor: convert it with tocoo()")


def _compressed(matrix: Any, layout: str, shape: list[int], duplicates: str) -> _native.Storage:
    indptr, indices, data = matrix.indptr, matrix.indices, matrix.data
    widths = _widths(indptr, indices)
    text = {"csr": f"[dense, compressed{widths}]", "csc": f"(i, j) -> [j: dense, i: compressed{widths}]"}[layout]
    if indptr.dtype != indices.dtype:
        indptr, indices = _same(indptr, indices)
    # Arrays may be longer than what they hold.
    count = int(indptr[-1]) if len(indptr) else 0
    if len(indices) != count and 0 <= count <= min(len(indices), len(data)):
        indices, data = indices[:count], data[:count]
    levels = [(None, None), (indptr, indices)]
    try:
        return _of_arrays(matrix, shape, text, levels, data)
    except ValueError:
        if duplicates == "refuse" or not _is_shuffled(matrix):
            raise
    _warnings.copied(f"the indices of the {layout} matrix are not sorted, or occur twice, and are copied in each call: call "
         "sum_duplicates() on it to do that once")
    matrix = matrix.copy()
    matrix.sum_duplicates()
    indptr, indices = _same(matrix.indptr, matrix.indices)
    levels = [(None, None), (indptr, indices)]
    return _native.Storage.of_arrays(shape, text, levels, matrix.data)[0]


def _is_shuffled(matrix: Any) -> bool:
    """Whether the indices are in range, and all that is wrong with them is their order."""
    indptr, indices = matrix.indptr, matrix.indices
    extent = matrix.shape[1] if matrix.format == "csr" else matrix.shape[0]
    if not (len(indptr) and indptr[0] == 0 and (np.diff(indptr) >= 0).all() and indptr[-1] <= len(indices)):
        return False
    used = indices[: indptr[-1]]
    return len(matrix.data) >= len(used) and (not len(used) or bool(used.min() >= 0 and used.max() < extent))


def _coordinates(owner: Any, shape: list[int], coords: list[np.ndarray], values: np.ndarray, duplicates: str) -> _native.Storage:
    """Coordinates in any order: without a copy where they are sorted."""
    coords = _same(*coords)
    wide = coords[0].dtype.itemsize == 8
    if len(shape) == 1:
        text = f"[compressed{'(u64, pos = u64)' if wide else ''}]"
    else:
        first = "compressed(nonunique, u64, pos = u64)" if wide else "compressed(nonunique)"
        rest = ["singleton(nonunique, u64)" if wide else "singleton(nonunique)"] * (len(shape) - 1)
        text = f"[{', '.join([first, *rest])}]"
    positions = np.array([0, len(values)], dtype=coords[0].dtype)
    levels = [(positions, coords[0]), *((None, array) for array in coords[1:])]
    values = np.ascontiguousarray(values)
    try:
        return _of_arrays(owner, shape, text, levels, values)
    except ValueError:
        for mode, (array, extent) in enumerate(zip(coords, shape)):
            if len(array) and (array.min() < 0 or array.max() >= extent):
                raise
            if len(array) != len(values):
                raise ValueError(f"mode {mode + 1} has {len(array)} coordinates for {len(values)} values") from None
    _warnings.copied("the coordinates are not sorted, or occur twice, and are copied: make a tensor of them once, with spc.tensor")
    return _native.Storage.of_entries(shape, coords, values, text, duplicates)


def _blocks(matrix: Any, shape: list[int], duplicates: str) -> _native.Storage:
    rows, columns = matrix.blocksize
    widths = _widths(matrix.indptr, matrix.indices)
    text = f"(i, j) -> [i / {rows}: dense, j / {columns}: compressed{widths}, i % {rows}: dense, j % {columns}: dense]"
    if rows == 1 and columns == 1:
        text = f"[dense, compressed{widths}]"
    indptr, indices = _same(matrix.indptr, matrix.indices)
    levels: list[tuple[Any, Any]] = [(None, None), (indptr, indices)]
    if rows != 1 or columns != 1:
        levels += [(None, None), (None, None)]
    try:
        return _of_arrays(matrix, shape, text, levels, np.ascontiguousarray(matrix.data).reshape(-1))
    except ValueError:
        _warnings.copied("the blocks of the bsr matrix are not sorted, or occur twice, and are copied: call sum_duplicates() on it once")
        return _scipy(matrix.tocsr(), duplicates)


def _diagonals(matrix: Any, shape: list[int]) -> _native.Storage:
    # SciPy has diagonals by columns, our `dia` by rows.
    _warnings.copied("the diagonals of a dia matrix lie by columns, and are copied to compressed rows: make a tensor of it once, with spc.tensor")
    return _scipy(matrix.tocsr(), "sum")


def _pydata(array: Any, duplicates: str) -> _native.Storage:
    fill = getattr(array, "fill_value", 0)
    # The least that is asked of a fill value is that it is the same number again.
    if fill != 0 and (np.iscomplexobj(fill) or fill != fill):
        raise ValueError(f"the array has the fill value {fill}: spc takes real numbers")
    return _pydata_entries(array, duplicates) if fill == 0 else _pydata_entries(array, duplicates).with_fill(np.asarray(fill).item())


def _pydata_entries(array: Any, duplicates: str) -> _native.Storage:
    shape = list(array.shape)
    is_compressed = hasattr(array, "compressed_axes")
    if not is_compressed and hasattr(array, "coords"):
        return _coordinates(array, shape, list(array.coords), array.data, duplicates)
    if is_compressed and len(shape) == 2:
        layout = "csr" if tuple(array.compressed_axes) == (0,) else "csc"
        widths = _widths(array.indptr, array.indices)
        text = {"csr": f"[dense, compressed{widths}]", "csc": f"(i, j) -> [j: dense, i: compressed{widths}]"}[layout]
        indptr, indices = _same(array.indptr, array.indices)
        return _of_arrays(array, shape, text, [(None, None), (indptr, indices)], array.data)
    if is_compressed and len(shape) > 2 and array.compressed_axes is not None:
        indptr, indices = _same(array.indptr, array.indices)
        text = _matricised(tuple(map(int, array.compressed_axes)), len(shape), _widths(indptr, indices))
        return _of_arrays(array, shape, text, [(None, None), (indptr, indices)], array.data)
    return _pydata_entries(array.tocoo() if hasattr(array, "tocoo") else array.to_coo(), duplicates)


def _matricised(rows: tuple[int, ...], order: int, widths: str) -> str:
    """The format of a GCXS array: a compressed matrix whose rows are some modes, and whose columns are the others."""
    def together(modes: list[int]) -> str:
        text = f"m{modes[0]}"
        for number, mode in enumerate(modes[1:]):
            text = f"{f'({text})' if number else text} * extent(m{mode}) + m{mode}"
        return text

    columns = [mode for mode in range(order) if mode not in rows]
    modes = ", ".join(f"m{mode}" for mode in range(order))
    return f"({modes}) -> [{together(list(rows))}: dense, {together(columns)}: compressed{widths}]"


@functools.lru_cache(1024)
def _rows_of(format: str, order: int) -> tuple[int, ...] | None:
    """The modes that are rows, where a format is that of a GCXS array."""
    if not 2 < order <= 8 or format.count(":") != 2:
        return None
    all_rows = (rows for count in range(1, order) for rows in itertools.combinations(range(order), count))
    return next((rows for rows in all_rows if _native._format(_matricised(rows, order, ""), order) == format), None)


def _torch(obj: Any, duplicates: str) -> _native.Storage:
    import torch

    if obj.device.type != "cpu":
        raise TypeError(f"the tensor is on {obj.device}: move it with .cpu()")
    tensor = obj.detach()
    shape = list(tensor.shape)
    if tensor.layout is torch.strided:
        return dense(tensor.numpy())
    if tensor.layout is torch.sparse_coo:
        coordinates = tensor._indices().numpy()
        return _coordinates(obj, shape, list(coordinates), tensor._values().numpy(), duplicates)
    if tensor.layout in (torch.sparse_csr, torch.sparse_csc) and len(shape) == 2:
        if tensor.layout is torch.sparse_csr:
            indptr, indices, text = tensor.crow_indices().numpy(), tensor.col_indices().numpy(), "[dense, compressed{}]"
        else:
            indptr, indices = tensor.ccol_indices().numpy(), tensor.row_indices().numpy()
            text = "(i, j) -> [j: dense, i: compressed{}]"
        return _of_arrays(
            obj, shape, text.format(_widths(indptr, indices)), [(None, None), (indptr, indices)], tensor.values().numpy())
    raise TypeError(f"a torch tensor of layout {tensor.layout} is none that spc reads: convert it with to_sparse_csr()")


def values_of(storage: _native.Storage) -> np.ndarray:
    """The stored values, in the tensor's memory; those of ``bf16`` as ``float32``."""
    values = np.asarray(memoryview(storage.values()))
    if values.dtype.char in "qQ":
        # A buffer calls its elements `long long`, which NumPy has as a second type of 64 bits.
        return values.view(dtype_of(storage))
    return (values.astype(np.uint32) << 16).view(np.float32) if storage.element == "bf16" else values


def widened(format: str, shape: tuple[int, ...]) -> str:
    """A format with coordinates of 64 bits, where those of 32 are too narrow for a shape, and it says nothing of them."""
    if not shape or max(shape) <= 1 << 32:
        return format
    text = _native._format(format, len(shape))

    def wide(found: re.Match[str]) -> str:
        kind, properties = found.group(1), [each for each in (found.group(2) or "()")[1:-1].split(", ") if each]
        if any(each.startswith("u") and each[1:].isdigit() for each in properties):
            return found.group()
        return f"{kind}({', '.join([*properties, 'u64', *(['pos = u64'] if kind == 'compressed' else [])])})"

    return re.sub(r"\b(compressed|singleton)(\([^)]*\))?", wide, text)


def numpy_of(storage: _native.Storage, fill: Any = 0) -> np.ndarray:
    """A tensor as an array: in its memory if it is dense in the order of the modes.

    :param fill: what elements are that are not stored, if the storage does not know: it has no complex numbers for that.
    """
    shape = storage.plain_shape
    if shape is None:
        if isinstance(fill, np.complexfloating) and fill.imag:
            coordinates, values = entries_of(storage)
            made = np.full(storage.shape, fill)
            made[coordinates] = values
            return made
        storage = storage.convert("dense")
        shape = storage.shape
    values = values_of(storage)
    if storage.element == "bool":
        # Kernels rely on the bytes of truth values.
        values = values.copy()
    return values if len(shape) == 1 else values.reshape(shape)


def fill_of(storage: _native.Storage) -> Any:
    """What an element is that is not stored."""
    kind, text = np.dtype(ELEMENTS.get(storage.element, np.float32)).type, storage.fill
    if text is None or kind is np.bool_:
        return kind(text == "true")
    return kind(float(text) if issubclass(kind, np.inexact) else int(text))


def is_named(fill: Any) -> bool:
    """Whether a format can say that elements which are not stored have this value: a real number."""
    return bool(fill == fill and not fill.imag)


def zeros_elsewhere(storage: _native.Storage, library: str) -> None:
    if storage.fill is not None and not storage.is_dense:
        raise ValueError(f"elements that are not stored are {storage.fill}, and {library} has zeros there: ask for .to_numpy() or .entries()")


def scipy_of(storage: _native.Storage, copy: bool) -> Any:
    """A tensor as a sparse array of SciPy's: in new memory, or for reading in that of the tensor if it is csr, csc or coo."""
    import scipy.sparse

    zeros_elsewhere(storage, "SciPy")

    def part(array: np.ndarray) -> np.ndarray:
        if copy:
            return array.copy()
        # SciPy moves values when it changes a pattern in place, and that of the tensor would stay.
        array.flags.writeable = False
        return array

    text, shape = storage.format, tuple(storage.shape)
    plain = text.replace("(u64, pos = u64)", "")
    if len(shape) == 2 and plain == "[dense, compressed]":
        made = scipy.sparse.csr_array((part(values_of(storage)), *map(part, _indices(storage, 1))), shape=shape, copy=False)
    elif len(shape) == 2 and plain in ("(i, j) -> [j: dense, i: compressed]", "(i1, i2) -> [i2: dense, i1: compressed]"):
        made = scipy.sparse.csc_array((part(values_of(storage)), *map(part, _indices(storage, 1))), shape=shape, copy=False)
    else:
        if not _is_coordinates(text, len(shape)):
            is_narrow = len(shape) == 2 and max(shape) <= 1 << 32
            return scipy_of(storage.convert("csr" if is_narrow else widened("coo" if len(shape) > 1 else "csf", shape)), copy)
        coordinates = tuple(part(np.asarray(memoryview(storage.coordinates(level)))) for level in range(len(shape)))
        made = scipy.sparse.coo_array((part(values_of(storage)), coordinates), shape=shape, copy=False)
    made.has_canonical_format = True
    return made


def _is_coordinates(format: str, order: int) -> bool:
    """Whether there is an array of coordinates for each mode, with an element for each entry."""
    if order == 1:
        return format.startswith("[compressed")
    wide = format.replace("u64, pos = u64", "u64").replace("nonunique, u64", "nonunique").replace("singleton(u64)", "singleton")
    levels = ["compressed(nonunique)", *["singleton(nonunique)"] * (order - 2), "singleton"]
    return wide == f"[{', '.join(levels)}]"


def _indices(storage: _native.Storage, level: int) -> tuple[np.ndarray, np.ndarray]:
    positions = np.asarray(memoryview(storage.positions(level)))
    coordinates = np.asarray(memoryview(storage.coordinates(level)))
    return coordinates, positions


def entries_of(storage: _native.Storage) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """Coordinates of each mode and values, sorted."""
    order = len(storage.shape)
    if order == 0:
        return (), values_of(storage)
    if not _is_coordinates(storage.format, order):
        storage = storage.convert(widened("coo" if order > 1 else "csf", tuple(storage.shape)))
    return tuple(np.asarray(memoryview(storage.coordinates(level))) for level in range(order)), values_of(storage)


def pydata_of(storage: _native.Storage, fill: Any) -> Any:
    """A tensor as one of PyData's: GCXS in its memory if it has one of its formats, else COO."""
    import sparse

    plain, shape = storage.format.replace("(u64, pos = u64)", ""), tuple(storage.shape)
    if len(shape) == 2 and plain in ("[dense, compressed]", "(i, j) -> [j: dense, i: compressed]"):
        indices, positions = _indices(storage, 1)
        axis = 0 if plain == "[dense, compressed]" else 1
        return sparse.GCXS((values_of(storage), indices, positions), shape=shape, compressed_axes=(axis,), fill_value=fill)
    rows = _rows_of(plain, len(shape))
    if rows is not None:
        indices, positions = _indices(storage, 1)
        return sparse.GCXS((values_of(storage), indices, positions), shape=shape, compressed_axes=rows, fill_value=fill)
    coordinates, values = entries_of(storage)
    return sparse.COO(np.stack(coordinates), values, shape=shape, has_duplicates=False, sorted=True, fill_value=fill)


def torch_of(storage: _native.Storage) -> Any:
    """A tensor as one of torch's: dense, csr, or coo."""
    import torch

    if storage.is_dense:
        array = numpy_of(storage)
        # torch has no arrays for reading.
        return torch.from_numpy(array if array.flags.writeable else array.copy())
    zeros_elsewhere(storage, "torch")
    made = scipy_of(storage, copy=True)
    if made.format in ("csr", "csc"):
        of_parts = torch.sparse_csr_tensor if made.format == "csr" else torch.sparse_csc_tensor
        return of_parts(*map(torch.from_numpy, (made.indptr, made.indices, made.data)), size=made.shape)
    coordinates = np.stack([np.asarray(array, dtype=np.int64) for array in made.coords])
    return torch.sparse_coo_tensor(torch.from_numpy(coordinates), torch.from_numpy(made.data), size=made.shape, is_coalesced=True)
