"""Tensors."""

from __future__ import annotations

import html
import os
from typing import Any

import numpy as np

from . import _binsparse, _convert, _native


class Tensor(np.lib.mixins.NDArrayOperatorsMixin):
    """A sparse or dense tensor in one of spc's formats.

    Made by :func:`spc.tensor`, :func:`spc.read`, or as the result of a kernel. A tensor of a NumPy array has the elements of that array:
    what is written to the array is seen by kernels, and a tensor of an array for reading is for reading. A tensor of a sparse matrix has
    copies of its arrays, and what is done to the matrix later does not change the tensor.

    NumPy's functions and operators take a dense tensor as an array. They refuse a sparse one: write a kernel, or convert it.
    """

    __slots__ = ("_storage", "_key", "__weakref__")

    def __init__(self, storage: _native.Storage):
        self._storage = storage
        self._key = f"{storage.element} {storage.format}" + (f" fill {storage.fill}" if storage.fill else "")

    @property
    def shape(self) -> tuple[int, ...]:
        """The extent of each mode."""
        return tuple(self._storage.shape)

    @property
    def ndim(self) -> int:
        """The number of modes."""
        return len(self._storage.shape)

    @property
    def format(self) -> str:
        """The format, level by level: ``[dense, compressed]`` is ``csr``."""
        return self._storage.format

    @property
    def dtype(self) -> np.dtype:
        """The element type."""
        return np.dtype(_convert.ELEMENTS.get(self._storage.element, np.float32))

    @property
    def fill(self) -> Any:
        """What an element is that is not stored: zero, unless a format says another value, as ``"csr fill inf"``."""
        return _convert.fill_of(self._storage)

    @property
    def nnz(self) -> int:
        """The number of stored entries."""
        return self._storage.nnz

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        return self._storage.nbytes

    @property
    def values(self) -> np.ndarray:
        """The stored values, shape ``(count,)``, in the tensor's memory: what is written there is seen by kernels. For reading if they are of
        an array that is for reading, or truth values."""
        return np.asarray(memoryview(self._storage.values()))

    def arrays(self) -> list[tuple[np.ndarray | None, np.ndarray | None]]:
        """Positions and coordinates of each level, in the tensor's memory; ``None`` where a level has no such array."""
        def part(made: Any) -> np.ndarray | None:
            return None if made is None else np.asarray(memoryview(made))

        levels = self._storage.format.partition("[")[2].count(",") + 1
        found = []
        for level in range(max(levels, self.ndim)):
            try:
                found.append((part(self._storage.positions(level)), part(self._storage.coordinates(level))))
            except IndexError:
                break
        return found

    def to(self, format: str) -> "Tensor":
        """The same tensor in another format: ``"csf"``, ``"alto"``, ``"bcsr(4)"``, ``"[dense, compressed(u64, pos = u64)]"``."""
        return Tensor(self._storage.convert(format))

    def to_numpy(self) -> np.ndarray:
        """A dense array of the tensor's shape; without a copy if the tensor is ``dense``, unless it has truth values."""
        return _convert.numpy_of(self._storage)

    def to_scipy(self, *, copy: bool = True) -> Any:
        """A ``csr_array``, ``csc_array`` or ``coo_array``.

        :param copy: without a copy, it has the tensor's memory if it has that format, and its arrays are for reading.
        """
        return _convert.scipy_of(self._storage, copy)

    def to_torch(self) -> Any:
        """A tensor of torch's: strided, CSR, CSC or COO."""
        return _convert.torch_of(self._storage)

    def to_sparse(self) -> Any:
        """An array of PyData's ``sparse``: ``GCXS`` in the tensor's memory if it is csr or csc, else ``COO``."""
        return _convert.pydata_of(self._storage)

    def entries(self) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """The stored entries, sorted: an array of coordinates for each mode, shape ``(nnz,)``, and their values."""
        return _convert.entries_of(self._storage)

    def to_pandas(self, names: list[str] | None = None) -> Any:
        """The stored entries as a data frame of pandas': a column of coordinates for each mode, and ``value``.

        :param names: the names of the modes; ``i``, ``j`` and so on if not given.
        """
        import pandas

        coordinates, values = self.entries()
        names = [f"i{mode}" if self.ndim > 18 else "ijklmnopqrstuvwxyz"[mode] for mode in range(self.ndim)] if names is None else names
        if len(names) != self.ndim:
            raise ValueError(f"{len(names)} names for {self.ndim} modes")
        return pandas.DataFrame({**dict(zip(names, coordinates)), "value": values})

    def __dlpack__(self, **options: Any) -> Any:
        """A dense tensor for another library, in this memory."""
        if not self._storage.is_dense:
            raise BufferError(f"a tensor stored as {self.format} is no array: ask for .to_numpy(), or for .entries()")
        return self.to_numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes a file of the kind that its name says: ``.tns``, ``.mtx``, ``.npy``, ``.npz``, ``.spct``, each also ``.gz``; ``.h5``,
        ``.hdf5`` and ``.bsp.npz`` of the Binsparse format."""
        name = os.fspath(path)
        if name.lower().endswith((".h5", ".hdf5")):
            _binsparse.write_hdf5(name, self._storage)
        elif name.lower().endswith(".bsp.npz"):
            _binsparse.write_npz(name, self._storage)
        else:
            self._storage.write(name)

    def layout(self) -> str:
        """The arrays of each level, drawn."""
        return self._storage.layout()

    def __getitem__(self, index: Any) -> Any:
        """The element at an index of whole numbers, one for each mode, as a number of Python's: negative ones count from the end."""
        index = index if isinstance(index, tuple) else (index,)
        shape = self.shape
        if len(index) != len(shape) or not all(isinstance(place, (int, np.integer)) and not isinstance(place, bool) for place in index):
            raise IndexError(f"an element has an index of {len(shape)} whole numbers: for slices, masks and arrays as indices, "
                             "write .to_numpy()[…] or .to_scipy()[…]")
        whole = [int(place) + (extent if place < 0 else 0) for place, extent in zip(index, shape)]
        if any(not 0 <= place < extent for place, extent in zip(whole, shape)):
            raise IndexError(f"{index} is outside of the shape {shape}")
        found = self._storage.get(whole)
        return self.fill.item() if found is None else found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if not self._storage.is_dense:
            raise _refusal("NumPy takes no sparse tensor as an array")
        array = self.to_numpy()
        made = array if dtype is None else array.astype(dtype, copy=False)
        if copy is False and not np.shares_memory(made, self.values):
            raise ValueError("the array would be a copy: leave out copy=False")
        return made.copy() if copy and made is array else made

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        given = [*inputs, *options.get("out", ())]
        if not all(one._storage.is_dense for one in given if isinstance(one, Tensor)):
            raise _refusal(f"numpy.{ufunc.__name__} takes no sparse tensor")
        if any(isinstance(one, Tensor) for one in options.get("out", ())):
            raise TypeError("a tensor is not written to: write to its .values")
        return getattr(ufunc, method)(*(np.asarray(one) if isinstance(one, Tensor) else one for one in inputs), **options)

    # Whether two tensors are equal is no answer to whether they are the same object.
    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TypeError("a tensor is neither true nor false: write t is not None, t.nnz > 0 or t.to_numpy().any()")

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("a tensor without modes has no length")
        return self.shape[0]

    def __iter__(self) -> Any:
        raise TypeError("a tensor is not iterated over: write .entries() for coordinates and values, or .to_numpy()")

    __reversed__ = None

    def __contains__(self, value: Any) -> bool:
        raise TypeError("a tensor is not searched by `in`: write value in t.values for stored values, or value in t.to_numpy()")

    def __str__(self) -> str:
        return str(self._storage)

    def __repr__(self) -> str:
        return f"<spc.Tensor {self._key}, shape {self.shape}, {self.nnz} entries, {self.nbytes} bytes>"

    def _repr_html_(self) -> str:
        rows = [("shape", " × ".join(map(str, self.shape)) or "a number"), ("elements", self._storage.element),
                ("format", self.format), ("entries", f"{self.nnz:,}"), *([("others", self._storage.fill)] if self._storage.fill else []),
                ("memory", f"{self.nbytes:,} bytes")]
        # A picture takes time for all that is stored, and a part of it tells no more than text.
        arrays = f"<div style='overflow-x:auto'>{self._storage.svg()}</div>" if self.nbytes <= 4096 else f"<pre>{html.escape(self.layout())}</pre>"
        table = "".join(f"<tr><th style='text-align:left'>{name}</th><td>{html.escape(value)}</td></tr>" for name, value in rows)
        return (f"<div><table>{table}</table><pre>{html.escape(str(self))}</pre>"
                f"<details><summary>arrays</summary>{arrays}</details></div>")

    # Data of `pickle` and `copy` are copies of the arrays, by way of coordinates.
    def __reduce__(self) -> Any:
        storage = self._storage
        shape = storage.shape
        if storage.is_dense or not shape:
            return _of_dense, (self.to_numpy().copy(), storage.format)
        listed = storage.convert("coo" if len(shape) > 1 else "csf")
        coordinates = [np.array(memoryview(listed.coordinates(level))) for level in range(len(shape))]
        return _of_entries, (list(shape), coordinates, np.array(memoryview(listed.values())), storage.format, self.fill)


def _refusal(what: str) -> TypeError:
    return TypeError(f"{what}: write a kernel, as spc.einsum(\"C(i,j) = A(i,j) + 2 * B(i,j)\", A=a, B=b, format=\"csr\"), "
                     "or convert it by .to_numpy(), .to_scipy() or .to_sparse()")


def _of_dense(array: np.ndarray, format: str) -> Tensor:
    return Tensor(_convert.dense(np.ascontiguousarray(array)).convert(format))


def _of_entries(shape: list[int], coordinates: list[np.ndarray], values: np.ndarray, format: str, fill: Any = 0) -> Tensor:
    made = _native.Storage.of_entries(shape, coordinates, values, format, "sum")
    return Tensor(made.with_fill(np.asarray(fill).item()) if fill != 0 else made)


def tensor(obj: Any, format: str | None = None, *, shape: tuple[int, ...] | None = None, duplicates: str = "sum") -> Tensor:
    """A tensor of an object of another library, checked once; pass it to kernels instead of the object.

    :param obj: an array or a matrix of NumPy, SciPy (csr, csc, coo, bsr, dia), PyData ``sparse`` (COO, GCXS) or torch; or
        ``(coordinates, values)`` with a column of coordinates for each mode (arrays, pandas or polars columns) and ``shape``.
        A dense array is borrowed: writing to it changes the tensor. The arrays of a sparse matrix are copied.
    :param format: the format that it is converted to; that of the object's own arrays if not given.
    :param shape: the extents of entries; one more than the largest coordinate if not given.
    :param duplicates: what several entries of one index are: ``"sum"`` or ``"refuse"``.
    """
    if isinstance(obj, Tensor):
        made = obj._storage
    elif isinstance(obj, tuple) and len(obj) == 2 and isinstance(obj[0], (tuple, list)):
        columns, values = obj
        columns = [_column(column, None) for column in columns]
        values = _column(values, np.float64)
        if any(len(column) != len(values) for column in columns):
            raise ValueError(f"columns of {[len(column) for column in columns]} coordinates do not fit {len(values)} values")
        if any(len(column) and column.min() < 0 for column in columns):
            raise ValueError("coordinates count from 0: one is negative")
        extents = [int(column.max()) + 1 if len(column) else 0 for column in columns] if shape is None else list(shape)
        if len(extents) != len(columns):
            raise ValueError(f"the shape {shape} has another number of modes than the {len(columns)} columns")
        return Tensor(_native.Storage.of_entries(extents, columns, values, format or ("csr" if len(columns) == 2 else "csf"), duplicates))
    else:
        made = _convert.storage(obj, duplicates)
    if shape is not None and tuple(made.shape) != tuple(shape):
        raise ValueError(f"the object has the shape {tuple(made.shape)}, not {tuple(shape)}")
    made = made if format is None else made.convert(format)
    # A sparse matrix moves its values when its pattern changes.
    return Tensor(made if made.is_dense else made.owned())


def _column(column: Any, dtype: Any) -> np.ndarray:
    array = np.ascontiguousarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    if array.dtype == object:
        raise TypeError("a column has objects, not numbers: convert it with astype")
    if dtype is None and array.dtype.kind not in "iu":
        raise TypeError(f"coordinates are whole numbers, not {array.dtype}")
    return array


def read(path: str | os.PathLike[str], format: str | None = None) -> Tensor:
    """The tensor that a file holds: ``.tns``, ``.mtx``, ``.npy``, ``.npz``, ``.spct``, each also ``.gz``; a matrix as ``csr`` and others as
    ``csf`` unless the file or ``format`` says another format. Files of the Binsparse format are ``.h5``, ``.hdf5`` and ``.npz``."""
    name = os.fspath(path)
    if name.lower().endswith((".h5", ".hdf5")):
        made = _binsparse.read_hdf5(name)
    elif name.lower().endswith(".npz") and (found := _binsparse.read_npz(name)) is not None:
        made = found
    else:
        made = _native.Storage.read(name)
    return Tensor(made if format is None else made.convert(format))


def write(path: str | os.PathLike[str], obj: Any) -> None:
    """Writes a tensor, or an object that :func:`tensor` takes, to a file of the kind that its name says."""
    tensor(obj).write(path)
