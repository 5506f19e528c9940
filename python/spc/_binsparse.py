"""Files of the Binsparse format (version 0.1): groups of HDF5, and archives of NumPy's.

A header says how a tensor is stored, level by level from the outermost in; predefined names stand for levels:

    CSR = dense(sparse(element))        pointers_to_1, indices_1, values
    COO = sparse of rank 2(element)     indices_0, indices_1, values
    CSC = CSR of the transpose

A ``dense`` level of rank r is r levels ``dense`` of ours, a ``sparse`` one of rank 1 is ``compressed``, of rank r it is coordinates: so arrays
become those of a tensor as they are, and back.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
from typing import Any, Callable, Iterator

import numpy as np

from . import _convert, _native

VERSION = "0.1.0"
HEADER = "binsparse"

_ELEMENT = {"level_desc": "element"}


def _level(kind: str, rank: int, inner: dict[str, Any]) -> dict[str, Any]:
    return {"level_desc": kind, "rank": rank, "level": inner}


_DENSE, _SPARSE = _level("dense", 1, _ELEMENT), _level("sparse", 1, _ELEMENT)
_COO = _level("sparse", 2, _ELEMENT)
#: Of each predefined format the levels, and which mode each of their dimensions is.
PREDEFINED: dict[str, tuple[dict[str, Any], list[int] | None]] = {
    "DVEC": (_DENSE, None), "CVEC": (_SPARSE, None),
    "DMATR": (_level("dense", 1, _DENSE), None), "DMATC": (_level("dense", 1, _DENSE), [1, 0]),
    "CSR": (_level("dense", 1, _SPARSE), None), "CSC": (_level("dense", 1, _SPARSE), [1, 0]),
    "DCSR": (_level("sparse", 1, _SPARSE), None), "DCSC": (_level("sparse", 1, _SPARSE), [1, 0]),
    "COOR": (_COO, None), "COOC": (_COO, [1, 0]),
}
_ALIASES = {"DMAT": "DMATR", "COO": "COOR"}
_TYPES = {"float64": "float64", "float32": "float32", "bint8": "uint8"} | {
    f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}


class BinsparseError(ValueError):
    """A file says that it is of the Binsparse format, and is none that can be read."""


def read_npz(path: str) -> _native.Storage | None:
    """The tensor of an archive, if that is of this format."""
    with np.load(path, allow_pickle=False) as archive:
        if HEADER not in archive.files:
            return None
        return storage(json.loads(str(archive[HEADER].item())), lambda name: archive[name])


def read_hdf5(path: str) -> _native.Storage:
    """The tensor of the root of an HDF5 file."""
    with _h5py().File(path, "r") as file:
        if HEADER not in file.attrs:
            raise BinsparseError(f"{path} has no attribute {HEADER!r} at its root: it is no file of the Binsparse format")
        return storage(json.loads(file.attrs[HEADER]), lambda name: np.asarray(file[name][()]))


@contextlib.contextmanager
def _replaced(path: str) -> Iterator[str]:
    """A file to write that takes the name when it is complete: the old one, if any, stays until then."""
    target = os.path.realpath(path)
    with tempfile.TemporaryDirectory(prefix=".spc-", suffix=".tmp", dir=os.path.dirname(target)) as folder:
        written = os.path.join(folder, os.path.basename(target))
        yield written
        if os.path.exists(target):
            shutil.copymode(target, written)
        os.replace(written, target)


def write_npz(path: str, made: _native.Storage) -> None:
    """Writes an archive of this format."""
    header, arrays = parts(made)
    with _replaced(path) as written, open(written, "wb") as file:
        np.savez(file, **arrays, **{HEADER: np.asarray(json.dumps({HEADER: header}))})


def write_hdf5(path: str, made: _native.Storage) -> None:
    """Writes an HDF5 file."""
    header, arrays = parts(made)
    # A compiler that is started meanwhile has the open file too, and would keep its lock. No other program knows this file yet.
    with _replaced(path) as written, _h5py().File(written, "w", locking=False) as file:
        for name, array in arrays.items():
            file.create_dataset(name, data=array)
        file.attrs[HEADER] = json.dumps({HEADER: header})


def _h5py() -> Any:
    try:
        import h5py
    except ImportError:
        raise ImportError("files of HDF5 need the package h5py: pip install h5py, or write an archive with the name .bsp.npz") from None
    return h5py


def _levels(descriptor: Any) -> list[tuple[str, int]]:
    """Of each level its kind and rank, outermost first."""
    found = []
    while True:
        if not isinstance(descriptor, dict) or descriptor.get("level_desc") not in ("element", "dense", "sparse"):
            raise BinsparseError(f"a level is described as dense, sparse or element, not {descriptor!r}")
        if descriptor["level_desc"] == "element":
            return found
        rank = descriptor.get("rank")
        if not isinstance(rank, int) or rank < 1:
            raise BinsparseError(f"a level has a rank of 1 or more, not {rank!r}")
        found.append((descriptor["level_desc"], rank))
        descriptor = descriptor.get("level")


def _array(header: dict[str, Any], get: Callable[[str], np.ndarray], name: str, count: int | None = None) -> np.ndarray:
    """An array of a file, in the element type that its header says."""
    try:
        declared, raw = header["data_types"][name], get(name)
    except (KeyError, TypeError):
        raise BinsparseError(f"there is no array {name!r}, or its type is not said") from None
    is_iso = re.fullmatch(r"iso\[(.*)\]", declared)
    inner = is_iso.group(1) if is_iso else declared
    is_complex = re.fullmatch(r"complex\[(float32|float64)\]", inner)
    plain = is_complex.group(1) if is_complex else inner
    if plain not in _TYPES or raw.ndim != 1:
        raise BinsparseError(f"the array {name!r} of {raw.ndim} modes and type {declared!r} is none that can be read")
    array = np.ascontiguousarray(raw, dtype=_TYPES[plain])
    if is_complex:
        if len(array) % 2:
            raise BinsparseError(f"the complex numbers of {name!r} are not pairs")
        array = array.view("complex64" if plain == "float32" else "complex128")
    if plain == "bint8":
        array = array != 0
    if is_iso:
        if len(array) != 1 or count is None:
            raise BinsparseError(f"the array {name!r} of one value for all has {len(array)} values")
        array = np.full(count, array[0])
    if count is not None and len(array) != count:
        raise BinsparseError(f"the array {name!r} has {len(array)} elements, but {count} are stored")
    return array


def storage(document: Any, get: Callable[[str], np.ndarray]) -> _native.Storage:
    """The tensor that a header and its arrays describe."""
    header = document.get(HEADER) if isinstance(document, dict) else None
    if not isinstance(header, dict):
        raise BinsparseError(f"there is no object {HEADER!r} in the header")
    version = str(header.get("version", ""))
    if not version.startswith("0.1"):
        raise BinsparseError(f"the file is of version {version!r}, and 0.1 is what can be read")
    name = _ALIASES.get(header.get("format"), header.get("format"))
    if name == "custom":
        custom = header.get("custom")
        descriptor, transpose = (custom.get("level"), custom.get("transpose")) if isinstance(custom, dict) else (None, None)
    elif name in PREDEFINED:
        descriptor, transpose = PREDEFINED[name]
    else:
        raise BinsparseError(f"the format {name!r} is none of {', '.join(PREDEFINED)}")
    if header.get("structure") is not None:
        raise BinsparseError(f"the structure {header['structure']!r} is not read: write the whole matrix")
    if header.get("fill") is True and _array(header, get, "fill_value", 1)[0] != 0:
        raise BinsparseError("the fill value is not zero")
    shape, count = [int(extent) for extent in header.get("shape", ())], int(header.get("number_of_stored_values", -1))
    levels = _levels(descriptor)
    order = list(transpose) if transpose is not None else list(range(len(shape)))
    if sum(rank for _, rank in levels) != len(shape) or sorted(order) != list(range(len(shape))):
        raise BinsparseError(f"the levels or the transpose do not fit the {len(shape)} modes")
    return _assembled(header, get, levels, order, shape, count)


def _assembled(header: dict[str, Any], get: Callable[[str], np.ndarray], levels: list[tuple[str, int]], order: list[int],
               shape: list[int], count: int) -> _native.Storage:
    values = _array(header, get, "values", count)
    if all(kind == "dense" for kind, _ in levels):
        dense = values.reshape([shape[mode] for mode in order]).transpose(np.argsort(order)) if shape else values.reshape(())
        return _convert.dense(dense)
    depth, found = 0, []
    for kind, rank in levels:
        if kind == "sparse":
            found += [_array(header, get, f"indices_{dimension}") for dimension in range(depth, depth + rank)]
            found.append(_array(header, get, f"pointers_to_{depth}") if depth else np.array([0, len(found[-rank])]))
        depth += rank
    wide = any(array.dtype.itemsize == 8 for array in found) and any(len(array) and array.max() >= 1 << 31 for array in found)
    dtype = np.int64 if wide else np.int32
    found, arrays, texts = [np.ascontiguousarray(array, dtype=dtype) for array in found], [], []
    for kind, rank in levels:
        if kind == "dense":
            arrays += [(None, None)] * rank
            texts += ["dense"] * rank
            continue
        coordinates, positions, found = found[:rank], found[rank], found[rank + 1:]
        arrays += [(positions, coordinates[0]), *((None, array) for array in coordinates[1:])]
        texts += _sparse_texts(rank, wide)
    return _native.Storage.of_arrays(shape, _text(texts, order), arrays, values)[0]


def _sparse_texts(rank: int, wide: bool) -> list[str]:
    if rank == 1:
        return ["compressed(u64, pos = u64)" if wide else "compressed"]
    first = "compressed(nonunique, u64, pos = u64)" if wide else "compressed(nonunique)"
    return [first, *["singleton(nonunique, u64)" if wide else "singleton(nonunique)"] * (rank - 2), "singleton(u64)" if wide else "singleton"]


def _text(texts: list[str], order: list[int]) -> str:
    if order == list(range(len(order))):
        return f"[{', '.join(texts)}]"
    modes = ", ".join(f"m{mode}" for mode in range(len(order)))
    return f"({modes}) -> [{', '.join(f'm{mode}: {text}' for mode, text in zip(order, texts))}]"


def _structure(format: str) -> tuple[list[tuple[str, int]], list[int]] | None:
    """The levels of a format and their modes, if this format can say them."""
    head, arrow, body = format.partition("->")
    body = (body if arrow else head).strip()
    texts = re.findall(r"(?:(\w+): )?(dense|compressed|singleton)(?:\(([^)]*)\))?(?:, |\]$)", body.removeprefix("["))
    rebuilt = ", ".join(f"{mode}: {kind}" if mode else kind for mode, kind, _ in texts)
    if rebuilt != re.sub(r"\([^)]*\)", "", body).strip("[]"):
        return None
    names = re.findall(r"\w+", head) if arrow else []
    if arrow and sorted(names) != sorted(mode for mode, _, _ in texts):
        return None
    order = [names.index(mode) for mode, _, _ in texts] if arrow else list(range(len(texts)))
    levels: list[tuple[str, int]] = []
    is_nonunique = False
    for _, kind, properties in texts:
        words = {word.strip() for word in properties.split(",")} - {"", "u64", "u32", "pos = u64", "pos = u32", "nonunique"}
        if words:
            return None
        if kind == "singleton":
            if not levels or levels[-1][0] != "sparse" or not is_nonunique:
                return None
            levels[-1] = ("sparse", levels[-1][1] + 1)
        elif is_nonunique and levels[-1][1] == 1:
            # The same coordinate several times, each with a level below: no level of this format.
            return None
        else:
            levels.append(("sparse" if kind == "compressed" else "dense", 1))
        is_nonunique = "nonunique" in properties
    return levels, order


def parts(made: _native.Storage) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the arrays of a tensor; of one in another format than these, those of rows, or of a tree."""
    _convert.zeros_elsewhere(made, "a Binsparse file of spc's")
    structure = _structure(made.format)
    if structure is None:
        made = made.convert("csr" if len(made.shape) == 2 else "csf")
        structure = _structure(made.format)
        assert structure is not None
    levels, order = structure
    values = np.asarray(memoryview(made.values()))
    if made.element in ("f16", "bf16"):
        raise TypeError(f"the Binsparse format has no elements {made.element}: convert the tensor first")
    arrays, depth = {}, 0
    for kind, rank in levels:
        if kind == "sparse":
            for dimension in range(depth, depth + rank):
                arrays[f"indices_{dimension}"] = np.asarray(memoryview(made.coordinates(dimension)))
            if depth:
                arrays[f"pointers_to_{depth}"] = np.asarray(memoryview(made.positions(depth)))
        depth += rank
    types = {name: array.dtype.name for name, array in arrays.items()}
    arrays["values"], types["values"] = _encoded(values)
    descriptor: dict[str, Any] = _ELEMENT
    for kind, rank in reversed(levels):
        descriptor = _level(kind, rank, descriptor)
    transpose = order if order != sorted(order) else None
    header = {"version": VERSION, "shape": list(made.shape), "number_of_stored_values": len(values), "data_types": types}
    name = next((name for name, known in PREDEFINED.items() if known == (descriptor, transpose)), None)
    if name is not None:
        return header | {"format": name}, arrays
    custom = {"level": descriptor} | ({} if transpose is None else {"transpose": transpose})
    return header | {"format": "custom", "custom": custom}, arrays


def _encoded(values: np.ndarray) -> tuple[np.ndarray, str]:
    if values.dtype == np.bool_:
        return values.view(np.uint8), "bint8"
    if values.dtype.kind == "c":
        part = np.dtype("float32" if values.dtype == np.complex64 else "float64")
        return values.view(part), f"complex[{part.name}]"
    return values, values.dtype.name
