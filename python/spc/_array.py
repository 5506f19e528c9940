"""Arrays: sparse or dense, with values or as an expression."""

from __future__ import annotations

import html
import math
import operator
import os
import sys
import threading
import types
import weakref
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from . import _binsparse, _convert, _expression, _native, _structure

#: NumPy arrays of at most this size in bytes are copied when an expression waits for its values; larger ones are computed with at once.
COPIED = 1 << 20


class _Locks:
    """Expressions are computed by one thread at a time; kernels run on all processors."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self.expressions = threading.RLock()


_LOCKS = _Locks()
if hasattr(os, "register_at_fork"):
    # A thread that computes is not there in the child, and would never release the lock.
    os.register_at_fork(after_in_child=_LOCKS.renew)


class Array:
    """A sparse or dense array with any number of modes, in one of spc's formats.

    Made by :func:`spc.asarray`, :func:`spc.tensor`, :func:`spc.read`, by kernels, and by operations on arrays:

    >>> A = spc.tensor(scipy.sparse.random_array((1000, 800), density=0.01))
    >>> U, V = spc.asarray(np.ones((1000, 16))), spc.asarray(np.ones((800, 16)))
    >>> y = (A * (U @ V.T)).sum(axis=1)
    >>> y.shape, y.dtype
    ((1000,), dtype('float64'))
    >>> y.to_numpy()[:3]                                                   # computes it, in one loop over the entries of A

    An operation is done when a value is needed: by :meth:`to_numpy`, ``float(…)``, ``print``, a kernel, or :meth:`compute`. Shapes and element
    types are known before. Operators, functions and promotion are NumPy's; a result is sparse where the patterns of operands say so. What is
    not stored is :attr:`fill`: 1 in ``np.exp(A)``.

    ``A[A < 0] = 0`` and ``A += B`` give the array new contents; no other array changes. ``B = A.set(A < 0, 0)`` makes another one.
    """

    __slots__ = ("_stored", "_unfolded", "_node", "_written", "_fill", "_label", "_is_lent", "_waiting", "_shape", "_ndim", "_dtype", "_sparse", "_is_sparse", "__weakref__")

    _stored: _native.Storage | None
    #: A storage in a symmetric format, and the one with all entries, once that was needed.
    _unfolded: tuple[_native.Storage, _native.Storage]
    _node: _expression.Node | None
    #: The elements of a dense array after an assignment, until the storage is needed: no other object has this memory.
    _written: np.ndarray | None
    _fill: Any
    _label: str | None
    _is_lent: bool
    _waiting: list[weakref.ref[Array]] | None
    _shape: tuple[int, ...]
    _ndim: int
    _dtype: np.dtype
    _sparse: tuple[bool, ...]
    _is_sparse: bool

    if TYPE_CHECKING:
        # Operators and methods that are functions of arrays: :mod:`spc._methods` sets them.
        __add__: Callable[[Any], Array]
        __radd__: Callable[[Any], Array]
        __sub__: Callable[[Any], Array]
        __rsub__: Callable[[Any], Array]
        __mul__: Callable[[Any], Array]
        __rmul__: Callable[[Any], Array]
        __truediv__: Callable[[Any], Array]
        __rtruediv__: Callable[[Any], Array]
        __floordiv__: Callable[[Any], Array]
        __rfloordiv__: Callable[[Any], Array]
        __mod__: Callable[[Any], Array]
        __rmod__: Callable[[Any], Array]
        __pow__: Callable[[Any], Array]
        __rpow__: Callable[[Any], Array]
        __matmul__: Callable[[Any], Array]
        __rmatmul__: Callable[[Any], Array]
        __and__: Callable[[Any], Array]
        __or__: Callable[[Any], Array]
        __xor__: Callable[[Any], Array]
        __lshift__: Callable[[Any], Array]
        __rshift__: Callable[[Any], Array]
        __lt__: Callable[[Any], Array]
        __le__: Callable[[Any], Array]
        __gt__: Callable[[Any], Array]
        __ge__: Callable[[Any], Array]
        __eq__: Callable[[Any], Array]  # type: ignore[assignment]
        __ne__: Callable[[Any], Array]  # type: ignore[assignment]
        __neg__: Callable[[], Array]
        __pos__: Callable[[], Array]
        __abs__: Callable[[], Array]
        __invert__: Callable[[], Array]
        sum: Callable[..., Array]
        prod: Callable[..., Array]
        max: Callable[..., Array]
        min: Callable[..., Array]
        mean: Callable[..., Array]
        var: Callable[..., Array]
        std: Callable[..., Array]
        any: Callable[..., Array]
        all: Callable[..., Array]
        argmax: Callable[..., Array]
        argmin: Callable[..., Array]
        dot: Callable[..., Array]
        squeeze: Callable[..., Array]
        swapaxes: Callable[..., Array]
        diagonal: Callable[..., Array]
        trace: Callable[..., Array]
        conj: Callable[..., Array]
        round: Callable[..., Array]
        clip: Callable[..., Array]
        nonzero: Callable[..., tuple[Array, ...]]
        cumsum: Callable[..., Array]
        cumprod: Callable[..., Array]
        repeat: Callable[..., Array]
        take: Callable[..., Array]
        astype: Callable[..., Array]
        transpose: Callable[..., Array]
        reshape: Callable[..., Array]
        ravel: Callable[..., Array]
        flatten: Callable[..., Array]
        set: Callable[[Any, Any], Array]
        T: Array
        mT: Array
        real: Array
        imag: Array
        __setitem__: Callable[[Any, Any], None]
        __contains__: Callable[[Any], bool]
        __array_ufunc__: Callable[..., Any]
        __array_function__: Callable[..., Any]
        __array_namespace__: Callable[..., Any]

    def __init__(self, storage: _native.Storage, fill: Any = None, is_lent: bool = False):
        self._stored, self._is_lent = storage, is_lent
        self._node = self._written = self._fill = self._label = self._waiting = None
        self._shape = shape = tuple(storage.shape)
        self._ndim, self._is_sparse = len(shape), not storage.is_dense
        self._sparse = (self._is_sparse,) * len(shape)
        self._dtype = _convert.dtype_of(storage)
        if fill is not None and fill:
            self._set_fill(fill)

    @classmethod
    def _of_node(cls, node: _expression.Node) -> Array:
        """An expression: it waits for its operands where no other code can change them."""
        made = cls.__new__(cls)
        made._node, made._is_lent = node, False
        made._stored = made._written = made._fill = made._label = made._waiting = None
        made._shape, made._ndim, made._dtype = node.shape, len(node.shape), node.dtype
        made._sparse = node.sparse
        made._is_sparse = True in node.sparse
        made._wait()
        return made

    def _wait(self) -> None:
        """Notes in the operands that this expression reads them. It is computed at once if others can change one of them."""
        node = self._node
        assert node is not None
        is_now = node.is_large
        for arg in node.args:
            if isinstance(arg, Array):
                if arg._is_lent:
                    is_now |= not self._copies(arg)
                elif arg._waiting is None:
                    arg._waiting = [weakref.ref(self)]
                else:
                    arg._note(self)
        if is_now:
            self.compute()

    def _same(self) -> Array:
        """Another array with these contents, without a copy: an assignment to one does not change the other."""
        made = Array.__new__(Array)
        if self._node is None:
            self._storage
        for slot in _CONTENTS:
            setattr(made, slot, getattr(self, slot))
        made._written, made._shape, made._ndim, made._dtype, made._waiting = None, self._shape, self._ndim, self._dtype, None
        if made._node is not None:
            made._wait()
        else:
            made._share(self)
        return made

    def _share(self, other: Array) -> None:
        """Remembers that another array, and all that share its memory, share that of this one: what is lent of one is lent of all."""
        if self._is_lent:
            return
        known = [] if other._waiting is None else [array for each in other._waiting if (array := each()) is not None]
        for array in [other, *known]:
            if array is not self and array._stored is self._stored:
                array._note(self)
                self._note(array)

    def _become(self, made: Array) -> None:
        """Takes the contents of another array of this shape and element type. Expressions that read this array read what it was."""
        if made is self:
            return
        with _LOCKS.expressions:
            readers = [other for known in self._waiting or () if (other := known()) is not None and other._node is not None]
            if readers:
                old = self._same()
                for other in readers:
                    node = other._node
                    assert node is not None
                    node.args = tuple(old if arg is self else arg for arg in node.args)
                    old._note(other)
            self._written = None
            for slot in _CONTENTS:
                setattr(self, slot, getattr(made, slot))
            self._waiting = None
            if self._node is not None:
                self._wait()
            else:
                self._share(made)

    def _to_write(self) -> np.ndarray:
        """The elements of a dense array, in memory that nothing else has or reads."""
        if self._written is None or self._waiting:
            written = np.array(_convert.numpy_of(self._storage), order="C")
            self._become(Array(self._storage))
            self._stored, self._written, self._label, self._waiting = None, written, None, None
        return self._written

    def _copies(self, lent: Array) -> bool:
        """Whether this expression waits with a copy of an operand that others can change: where the copy is the least work."""
        node = self._node
        assert node is not None
        if lent.size * lent.dtype.itemsize > COPIED and (self._is_sparse or self.size <= 2 * lent.size):
            return False
        copy = lent._snapshot()
        node.args = tuple(copy if arg is lent else arg for arg in node.args)
        return True

    def _note(self, reader: Array) -> None:
        """Remembers an expression that reads this array, or an array in the same memory."""
        waiting = self._waiting
        if waiting is None:
            waiting = self._waiting = []
        elif len(waiting) > 64:
            waiting = self._waiting = [known for known in waiting if (other := known()) is not None and self._is_read_by(other)]
        waiting.append(weakref.ref(reader))

    def _is_read_by(self, other: Array) -> bool:
        return other._node is not None or other._stored is self._stored

    def _snapshot(self) -> Array:
        values = np.array(_convert.values_of(self._storage))
        return Array(self._storage.with_values(values), self.fill if self.is_sparse else None)

    def _lend(self) -> _native.Storage:
        """The storage, of which others get the memory to write to: expressions that read it are computed before."""
        storage = self._storage
        if not self._is_lent:
            self._is_lent = True
            for known in self._waiting or ():
                other = known()
                if other is not None and other._node is not None:
                    other.compute()
                elif other is not None and other._stored is storage:
                    other._lend()
            self._waiting = None
        return storage

    def _set_fill(self, fill: Any) -> None:
        self._fill = self._dtype.type(fill)
        if not self._is_unnamed:
            assert self._stored is not None
            self._stored = self._stored.with_fill(fill.real.item())

    @property
    def _is_unnamed(self) -> bool:
        """Whether the storage does not know the fill value: it has no complex numbers for that."""
        return bool(self._dtype.kind == "c" and self.fill.imag) if self._is_sparse else False

    @property
    def _storage(self) -> _native.Storage:
        if self._stored is None:
            if self._written is not None:
                self._stored, self._written = _expression.dense_storage(self._written), None
            else:
                self.compute()
        assert self._stored is not None
        return self._stored

    @property
    def _whole(self) -> _native.Storage:
        """The storage with all entries: where the format is symmetric, a copy, which is kept."""
        storage = self._storage
        if storage.format.endswith("]"):
            return storage
        found = getattr(self, "_unfolded", None)
        if found is None or found[0] is not storage:
            found = self._unfolded = storage, _convert.unfolded(storage)
        return found[1]

    @property
    def _key(self) -> str:
        """What a kernel is compiled for."""
        if self._label is None:
            self._label = _convert.label_of(self._storage)
        return self._label

    # Expressions.

    def compute(self) -> Array:
        """The array itself, with values: an expression is computed, by one kernel where that is possible."""
        if self._node is None:
            return self
        # What one thread computes may be a part of what another one does.
        with _LOCKS.expressions:
            node = self._node
            if node is not None:
                self._stored = _expression.evaluate(self)
                self._node = None
                self._is_sparse = not self._stored.is_dense
                self._sparse = (self._is_sparse,) * self._ndim
                if node.fill is not None and node.fill and self._is_sparse:
                    self._set_fill(node.fill)
        return self

    def explain(self) -> str:
        """How the expression is computed: its text in index notation, the loops, and what was decided and why."""
        with _LOCKS.expressions:
            return _expression.explain(self)

    # What is known at once.

    # These are asked for several times in an operation, and `attrgetter` takes half the time of a method.
    shape = property(operator.attrgetter("_shape"), doc="The extent of each mode.")
    ndim = property(operator.attrgetter("_ndim"), doc="The number of modes.")
    dtype = property(operator.attrgetter("_dtype"), doc="The element type.")
    sparse = property(operator.attrgetter("_sparse"), doc="Of each mode, whether only some of its indices are stored.")
    is_sparse = property(operator.attrgetter("_is_sparse"), doc="Whether elements are left out: those that are :attr:`fill`.")

    @property
    def size(self) -> int:
        """The number of elements, stored or not."""
        return math.prod(self._shape)

    @property
    def fill(self) -> Any:
        """What an element is that is not stored: zero, unless a format says another value, as ``"csr fill inf"``, or an operation makes
        one, as ``np.exp``."""
        if self._fill is None:
            if self._node is None:
                self._fill = _convert.fill_of(self._storage)
            else:
                self._fill = _expression.zero(self._dtype) if self._node.fill is None else self._node.fill
        return self._fill

    fill_value = fill

    @property
    def device(self) -> str:
        return "cpu"

    def to_device(self, device: str, *, stream: Any = None) -> Array:
        if device != "cpu":
            raise ValueError(f"arrays are in main memory, the device 'cpu', not {device!r}")
        return self

    # What is stored.

    @property
    def format(self) -> str:
        """The format, level by level: ``[dense, compressed]`` is ``csr``."""
        return self._storage.format

    @property
    def nnz(self) -> int:
        """The number of stored entries; of a symmetric format, without those that follow from them."""
        return self._storage.nnz

    @property
    def density(self) -> float:
        """The part of the elements that is stored."""
        return self.nnz / self.size if self.size else 0.0

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        return self._storage.nbytes

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return self.dtype.itemsize

    @property
    def values(self) -> np.ndarray:
        """The stored values, shape ``(count,)``, in the array's memory: what is written there is seen by kernels. For reading if they are of
        an array that is for reading, or truth values."""
        if self._whole is not self._storage:
            every = _convert.values_of(self._whole)
            every.flags.writeable = False
            return every
        return _convert.values_of(self._lend()) if self._storage.element != "bf16" else np.asarray(memoryview(self._lend().values()))

    data = values

    @property
    def coords(self) -> np.ndarray:
        """The coordinates of the stored entries, shape ``(ndim, nnz)``, sorted."""
        coordinates, _ = _convert.entries_of(self._whole)
        return np.stack(coordinates) if coordinates else np.zeros((0, self.nnz), np.int64)

    def arrays(self) -> list[tuple[np.ndarray | None, np.ndarray | None]]:
        """Positions and coordinates of each level, in the array's memory; ``None`` where a level has no such array."""
        def part(made: Any) -> np.ndarray | None:
            return None if made is None else np.asarray(memoryview(made))

        levels = self._storage.format.partition("[")[2].partition("]")[0].count(",") + 1
        found = []
        for level in range(max(levels, self.ndim)):
            try:
                found.append((part(self._storage.positions(level)), part(self._storage.coordinates(level))))
            except IndexError:
                break
        return found

    def sum_duplicates(self) -> Array:
        """The array itself: no coordinate is stored twice."""
        return self.compute()

    def prune(self, eps: float = 0) -> Array:
        """The array without the entries that differ from :attr:`fill` by ``eps`` at most."""
        if not self.is_sparse:
            return self._same()
        made = _structure.entries(self)
        with np.errstate(all="ignore"):
            if made.values.dtype.kind == "b":
                where = made.values != made.fill
            else:
                where = (made.values != made.fill) & ~(abs(made.values - made.fill) <= eps)
        return self._same() if where.all() else of_entries(_structure.chosen(made, where), self._whole.format)

    def eliminate_zeros(self) -> Array:
        """The array without the entries that are :attr:`fill`."""
        return self.prune()

    # Other forms.

    def to(self, format: str) -> Array:
        """The same array in another format: ``"csf"``, ``"alto"``, ``"bcsr(4)"``, ``"[dense, compressed(u64, pos = u64)]"``.

        Coordinates beyond 32 bits are stored in 64, also where a named format says 32.
        """
        format = _convert.widened(format, self._shape)
        if self._is_unnamed:
            return Array(_structure.stored(_structure.entries(self), format), self.fill)
        if (turned := self._turned(format)) is not None:
            return Array(turned)
        made = self._storage.convert(format)
        # Where the format has the same values in this order, both have them.
        is_shared = np.may_share_memory(_convert.values_of(made), _convert.values_of(self._storage))
        if is_shared:
            self._lend()
        return Array(made, is_lent=is_shared)

    def _turned(self, format: str) -> _native.Storage | None:
        """The rows of a transpose that is not computed yet, if these are asked for: they are made of the matrix itself."""
        node = self._node
        if not isinstance(node, _expression.View) or node.axes != (1, 0) or len(self._shape) != 2 or _native._format(format, 2) != "[dense, compressed]":
            return None
        (matrix,) = node.args
        return None if matrix._node is not None or matrix._is_unnamed else _native._rows_transposed(matrix._storage)

    def copy(self) -> Array:
        """The same elements in new memory."""
        return self._snapshot()

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Array:
        return self._snapshot()

    def to_numpy(self) -> np.ndarray:
        """A NumPy array of this shape; without a copy if the array is ``dense``, unless it has truth values."""
        return _convert.numpy_of(self._storage if self.is_sparse else self._lend(), self.fill if self.is_sparse else 0)

    todense = to_numpy

    def to_scipy(self, *, copy: bool = True) -> Any:
        """A ``csr_array``, ``csc_array`` or ``coo_array``.

        :param copy: without a copy, it has the array's memory if it has that format, and its arrays are for reading.
        """
        self._zeros_elsewhere("SciPy")
        return _convert.scipy_of(self._storage, copy)

    def _zeros_elsewhere(self, library: str) -> None:
        if self._is_unnamed:
            raise ValueError(f"elements that are not stored are {self.fill}, and {library} has zeros there: ask for .to_numpy() or .entries()")

    def to_torch(self) -> Any:
        """A tensor of torch's: strided, CSR, CSC or COO."""
        self._zeros_elsewhere("torch")
        return _convert.torch_of(self._lend())

    def to_sparse(self) -> Any:
        """An array of PyData's ``sparse``: ``GCXS`` in the array's memory if it is csr or csc, else ``COO``."""
        return _convert.pydata_of(self._lend(), self.fill)

    def entries(self) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """The stored entries, sorted: an array of coordinates for each mode, shape ``(nnz,)``, and their values."""
        return _convert.entries_of(self._lend())

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

    def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None,
                   copy: bool | None = None) -> Any:
        """A dense array for another library, in this memory."""
        if self.is_sparse:
            raise BufferError(f"an array stored as {self.format} has no memory that others can read: ask for .to_numpy(), or for .entries()")
        return self.to_numpy().__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

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

    # Elements.

    def __getitem__(self, index: Any) -> Any:
        """The elements that NumPy's index chooses: whole numbers, slices, ``None``, ``...``, arrays of whole numbers, masks.

        One whole number for each mode gives an element, a number of NumPy's; any other index a new array.
        """
        if not self.is_sparse:
            elements = self._written if self._written is not None else _convert.numpy_of(self._storage)
            made = elements[plain_index(index)]
            return made if isinstance(made, np.generic) else of_numpy(made)
        found, is_element = _structure.indexed(self, own_index(index))
        if is_element:
            return found
        return Array(found, self.fill) if isinstance(found, _native.Storage) else of_entries(found)

    def scalar(self) -> Any:
        """The element of an array without modes, as a number of NumPy's."""
        if self.size != 1:
            raise TypeError(f"an array of the shape {self.shape} is no number: only one with a single element is")
        found = self._storage.get([0] * self.ndim)
        return self.fill if found is None else self.dtype.type(found)

    def item(self, *index: int) -> Any:
        """An element as a number of Python's: that of an array of one element, or the one at an index."""
        return (self[index] if index else self.scalar()).item()

    def tolist(self) -> Any:
        """All elements as lists of Python's."""
        return self.to_numpy().tolist()

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("an array of several elements is neither true nor false: write A is not None, A.nnz > 0, A.any() or A.all()")
        return bool(self.scalar())

    def __float__(self) -> float:
        return float(self.scalar())

    def __int__(self) -> int:
        return int(self.scalar())

    def __complex__(self) -> complex:
        return complex(self.scalar())

    def __index__(self) -> int:
        if self.ndim or self.dtype.kind not in "iu":
            raise TypeError("only an array of whole numbers without modes is an index")
        return int(self.scalar())

    def __format__(self, text: str) -> str:
        return format(self.scalar(), text) if not self.ndim else format(str(self), text)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("an array without modes has no length")
        return self.shape[0]

    def __iter__(self) -> Any:
        if not self.ndim:
            raise TypeError("an array without modes is not iterated over")
        self.compute()
        return (self[number] for number in range(len(self)))

    def __reversed__(self) -> Any:
        return iter([self[number] for number in range(len(self) - 1, -1, -1)])

    # Equality is that of elements.
    __hash__ = None  # type: ignore[assignment]

    # NumPy.

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if self.is_sparse and _is_left_by_scipy(sys._getframe(1)):
            # SciPy leaves a product or a quotient to the other operand where that is no array.
            made = np.empty((), object)
            made[()] = self
            return made
        if self.is_sparse:
            raise TypeError("NumPy would make a dense array of a sparse one: write .to_numpy() where that is meant, .to_scipy() or .to_sparse() for "
                            "other libraries, or compute with the array itself")
        array = self.to_numpy()
        made = array if dtype is None else array.astype(dtype, copy=False)
        if copy is False and not np.shares_memory(made, self.values):
            raise ValueError("the array would be a copy: leave out copy=False")
        return made.copy() if copy and made is array else made

    # SciPy's solvers take what has these.

    def matvec(self, x: Any) -> np.ndarray:
        """The product with a vector."""
        return (self @ np.asarray(x).reshape(-1)).to_numpy()

    def rmatvec(self, x: Any) -> np.ndarray:
        """The product of the conjugate transpose with a vector."""
        return (self.T @ np.asarray(x).reshape(-1).conj()).to_numpy().conj()

    def matmat(self, x: Any) -> np.ndarray:
        """The product with a dense matrix."""
        return (self @ np.asarray(x)).to_numpy()

    def rmatmat(self, x: Any) -> np.ndarray:
        """The product of the conjugate transpose with a dense matrix."""
        return (self.T @ np.asarray(x).conj()).to_numpy().conj()

    # What is read.

    def __str__(self) -> str:
        return str(self.scalar()) if not self.ndim else str(self._storage)

    def __repr__(self) -> str:
        if not self.ndim:
            return f"<spc.Array {self.dtype} {self.scalar()}>"
        if self._node is not None:
            kind = "sparse" if self.is_sparse else "dense"
            return f"<spc.Array {self.dtype}, shape {self.shape}, a {kind} expression: ask for .compute(), or .explain()>"
        return f"<spc.Array {self._key}, shape {self.shape}, {self.nnz} entries, {self.nbytes} bytes>"

    def _repr_html_(self) -> str:
        rows = [("shape", " × ".join(map(str, self.shape)) or "a number"), ("elements", self._storage.element),
                ("format", self.format), ("entries", f"{self.nnz:,}"), *([("others", self._storage.fill)] if self._storage.fill else []),
                ("memory", f"{self.nbytes:,} bytes")]
        # A picture takes time for all that is stored, and a part of it tells no more than text.
        arrays = f"<div style='overflow-x:auto'>{self._storage.svg()}</div>" if self.nbytes <= 4096 else f"<pre>{html.escape(self.layout())}</pre>"
        table = "".join(f"<tr><th style='text-align:left'>{name}</th><td>{html.escape(value)}</td></tr>" for name, value in rows)
        return (f"<div><table>{table}</table><pre>{html.escape(str(self))}</pre>"
                f"<details><summary>arrays</summary>{arrays}</details></div>")

    # Data of `pickle` are copies of the arrays, by way of coordinates.
    def __reduce__(self) -> Any:
        if not self.is_sparse or not self.ndim:
            return _of_dense, (np.array(_convert.numpy_of(self._storage)), self.format)
        coordinates, values = _convert.entries_of(self._storage)
        return _of_entries, (list(self.shape), [np.array(mode) for mode in coordinates], np.array(values), self.format, self.fill)


# What two arrays of the same contents have in common.
_CONTENTS = ("_stored", "_node", "_fill", "_label", "_is_lent", "_sparse", "_is_sparse")

# Operators of SciPy's matrices that leave their work to the other operand. `*` of the older classes is another product than ours.
_LEFT = frozenset(["__matmul__", "__rmatmul__", "__truediv__", "__rtruediv__"])


def _is_left_by_scipy(frame: types.FrameType | None) -> bool:
    """Whether an operator of a matrix of SciPy's asks what its other operand is."""
    while frame is not None and frame.f_globals.get("__name__", "").startswith("scipy.sparse."):
        if frame.f_code.co_name in _LEFT:
            return True
        frame = frame.f_back
    return False


#: The name that arrays had before one could compute with them.
Tensor = Array


def of_numpy(made: np.ndarray) -> Array:
    """A dense array in memory of its own."""
    made = _convert.widened_elements(np.asarray(made))
    _convert.element(made.dtype)
    own = made if made.flags.owndata and made.flags.c_contiguous else np.array(made, order="C")
    return Array(_expression.dense_storage(own))


def of_entries(made: _structure.Entries | _structure.Rows, format: str | None = None) -> Array:
    """A sparse array of sorted entries."""
    return Array(_structure.stored(made, format), made.fill)


def plain_index(index: Any) -> Any:
    """An index with arrays of ours, and sparse ones of other libraries, as arrays of NumPy's."""
    if isinstance(index, tuple):
        return tuple(map(plain_index, index))
    index = own_index(index)
    return index.to_numpy() if isinstance(index, Array) else index


_COMMON = frozenset([int, slice, type(None), type(...), np.ndarray, list])


def own_index(index: Any) -> Any:
    """An index with sparse arrays of other libraries as arrays of ours."""
    if type(index) in _COMMON or isinstance(index, Array):
        return index
    if isinstance(index, tuple):
        return tuple(map(own_index, index))
    return index if _convert.kind_of(index) in (None, "array") else tensor(index)


def _of_dense(array: np.ndarray, format: str) -> Array:
    made = _convert.dense(np.ascontiguousarray(array))
    return Array(made if made.format == format else made.convert(format))


def _of_entries(shape: list[int], coordinates: list[np.ndarray], values: np.ndarray, format: str, fill: Any = 0) -> Array:
    return Array(_native.Storage.of_entries(shape, coordinates, values, format, "sum"), fill)


def tensor(obj: Any, format: str | None = None, *, shape: tuple[int, ...] | None = None, duplicates: str = "sum") -> Array:
    """An array of an object of another library, checked once; pass it to kernels instead of the object.

    :param obj: an array or a matrix of NumPy, SciPy (csr, csc, coo, bsr, dia), PyData ``sparse`` (COO, GCXS) or torch; or
        ``(coordinates, values)`` with a column of coordinates for each mode (arrays, pandas or polars columns) and ``shape``.
        A dense array is borrowed: writing to it changes the tensor. The arrays of a sparse matrix are copied.
    :param format: the format that it is converted to; that of the object's own arrays if not given.
    :param shape: the extents of entries; one more than the largest coordinate if not given.
    :param duplicates: what several entries of one index are: ``"sum"`` or ``"refuse"``.
    """
    lender = None
    if isinstance(obj, Array):
        if format is None and shape in (None, obj.shape):
            return obj
        made, lender = obj._storage, obj
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
        text = _convert.widened(format, tuple(extents)) if format else _structure.sparse_format(tuple(extents), [True] * len(extents))
        return Array(_native.Storage.of_entries(extents, columns, values, text, duplicates))
    else:
        made = _convert.storage(obj, duplicates)
    if shape is not None and tuple(made.shape) != tuple(shape):
        raise ValueError(f"the object has the shape {tuple(made.shape)}, not {tuple(shape)}")
    if lender is not None:
        return lender if format is None else lender.to(format)
    if made.is_dense and format is None:
        return Array(made, is_lent=True)
    made = made if format is None else made.convert(_convert.widened(format, tuple(made.shape)))
    # A sparse matrix moves its values when its pattern changes.
    return Array(made if made.is_dense else made.owned(), is_lent=made.is_dense)


def _column(column: Any, dtype: Any) -> np.ndarray:
    array = np.ascontiguousarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    if array.dtype == object:
        raise TypeError("a column has objects, not numbers: convert it with astype")
    if dtype is None and array.dtype.kind not in "iu":
        raise TypeError(f"coordinates are whole numbers, not {array.dtype}")
    return array


def read(path: str | os.PathLike[str], format: str | None = None) -> Array:
    """The array that a file holds: ``.tns``, ``.mtx``, ``.npy``, ``.npz``, ``.spct``, each also ``.gz``; a matrix as ``csr`` and others as
    ``csf`` unless the file or ``format`` says another format. Files of the Binsparse format are ``.h5``, ``.hdf5`` and ``.npz``."""
    name = os.fspath(path)
    if name.lower().endswith((".h5", ".hdf5")):
        made = _binsparse.read_hdf5(name)
    elif name.lower().endswith(".npz") and (found := _binsparse.read_npz(name)) is not None:
        made = found
    else:
        made = _native.Storage.read(name)
    return Array(made if format is None else made.convert(format))


def write(path: str | os.PathLike[str], obj: Any) -> None:
    """Writes a tensor, or an object that :func:`tensor` takes, to a file of the kind that its name says."""
    tensor(obj).write(path)
