"""The functions of the Python array API standard, for sparse and dense arrays.

>>> import spc.array_api as xp
>>> A = xp.asarray([[0.0, 2.0], [3.0, 0.0]])
>>> xp.sum(xp.multiply(A, A), axis=0)

``A.__array_namespace__()`` is this module. Arrays that are created here are dense, but for ``zeros``, ``zeros_like`` and ``eye`` with
``sparse=True``; results are sparse where operands are. https://data-apis.org/array-api/latest
"""

from __future__ import annotations

import functools
import math
from typing import Any, Callable, NamedTuple, Sequence

import numpy as np

from . import _convert, _expression, _functions, _structure
from ._array import Array, of_entries, of_numpy, tensor
from ._functions import (
    argmax, argmin, argsort, asarray, broadcast_to, concatenate, count_nonzero, cumprod, cumsum, diff, einsum, expand_dims, flip, imag, matmul,
    matrix_transpose, max, mean, min, moveaxis, nonzero, pad, prod, real, repeat, reshape, roll, round, sort, squeeze, stack, sum, take,
    take_along_axis, tensordot, tile, transpose, tril, triu, vecdot, where)

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")
__array_api_version__ = VERSIONS[-1]

# Constants.

e, inf, nan, newaxis, pi = math.e, math.inf, math.nan, None, math.pi

# Element types.

bool, int8, int16, int32, int64 = map(np.dtype, ("bool", "int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = map(np.dtype, ("uint8", "uint16", "uint32", "uint64"))
float32, float64, complex64, complex128 = map(np.dtype, ("float32", "float64", "complex64", "complex128"))

_DTYPES = {str(dtype): dtype for dtype in (
    bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, complex64, complex128)}
_KINDS = {
    "bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f", "complex floating": "c", "numeric": "iufc"}


class _Info:
    """What there is to know of this namespace."""

    def capabilities(self) -> dict[str, Any]:
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        return "cpu"

    def devices(self) -> list[str]:
        return ["cpu"]

    def default_dtypes(self, *, device: str | None = None) -> dict[str, np.dtype]:
        return {"real floating": float64, "complex floating": complex128, "integral": int64, "indexing": int64}

    def dtypes(self, *, device: str | None = None, kind: Any = None) -> dict[str, np.dtype]:
        kinds = (kind,) if isinstance(kind, str) else kind
        letters = "biufc" if kinds is None else "".join(_KINDS[each] for each in kinds)
        return {name: dtype for name, dtype in _DTYPES.items() if dtype.kind in letters}


def __array_namespace_info__() -> _Info:
    return _Info()


def can_cast(from_: Any, to: Any, /) -> Any:
    """Whether an element type is converted to another by promotion."""
    return np.can_cast(from_.dtype if isinstance(from_, Array) else from_, to)


class FloatInfo(NamedTuple):
    """What a type of floating-point numbers holds."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype


def finfo(type: Any, /) -> FloatInfo:
    """What a type of floating-point numbers holds."""
    found = np.finfo(type.dtype if isinstance(type, Array) else type)
    return FloatInfo(found.bits, float(found.eps), float(found.max), float(found.min), float(found.smallest_normal), found.dtype)


def iinfo(type: Any, /) -> Any:
    """What a type of whole numbers holds."""
    return np.iinfo(type.dtype if isinstance(type, Array) else type)


def isdtype(dtype: Any, kind: Any) -> Any:
    """Whether an element type is another, or of a kind as ``"integral"``."""
    return np.isdtype(dtype, kind)


def result_type(*arrays_and_dtypes: Any) -> np.dtype:
    """The element type of operations on all of these."""
    return np.result_type(*(each.dtype if isinstance(each, Array) else each for each in arrays_and_dtypes))


def astype(x: Array, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Array:
    """The same elements in another type."""
    return _functions.astype(x, dtype, copy=copy).to_device(device or "cpu")


# Creation.


def _created(made: np.ndarray, device: Any) -> Array:
    if device not in (None, "cpu"):
        raise ValueError(f"arrays are in main memory, the device 'cpu', not {device!r}")
    return of_numpy(made)


def _shape(shape: Any) -> tuple[int, ...]:
    return (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(shape)


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Array:
    return _created(np.arange(0, start, step, dtype=dtype) if stop is None else np.arange(start, stop, step, dtype=dtype), device)


def linspace(start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: Any = True) -> Array:
    return _created(np.linspace(start, stop, num, dtype=dtype, endpoint=endpoint), device)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    return _created(np.full(_shape(shape), fill_value, dtype=dtype), device)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    return _created(np.ones(_shape(shape), dtype=dtype), device)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None, sparse: Any = False) -> Array:
    """Zeros; with ``sparse=True`` none of them is stored."""
    shape = _shape(shape)
    if sparse and shape:
        return of_entries(_functions.nothing(shape, dtype or float64))
    return _created(np.zeros(shape, dtype=dtype), device)


empty = zeros


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None, sparse: Any = False) -> Array:
    """Ones on a diagonal; with ``sparse=True`` only they are stored."""
    n_cols = n_rows if n_cols is None else n_cols
    if not sparse:
        return _created(np.eye(n_rows, n_cols, k, dtype=dtype or float64), device)
    begin = (k < 0) * -k, (k > 0) * k
    count = np.arange(np.clip(np.minimum(n_rows - begin[0], n_cols - begin[1]), 0, None))
    values = np.ones(len(count), dtype or float64)
    return of_entries(_structure.Entries((n_rows, n_cols), (count + begin[0], count + begin[1]), values, values.dtype.type(0)))


def full_like(x: Array, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of one value: it is the fill value, and nothing is stored, if the array is sparse."""
    return _functions.full_like(x, fill_value, dtype).to_device(device or "cpu")


def ones_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Ones, which are the fill value if the array is sparse."""
    return full_like(x, 1, dtype=dtype, device=device)


def zeros_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Zeros, of which none is stored if the array is sparse."""
    return full_like(x, 0, dtype=dtype, device=device)


empty_like = zeros_like


def from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> Array:
    """An array of what lends its memory by DLPack, borrowed unless ``copy=True``."""
    made = tensor(np.from_dlpack(x))
    return made.copy() if copy else made


def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Array]:
    return list(map(of_numpy, np.meshgrid(*map(_functions._numpy, arrays), indexing=indexing)))


# Functions of elements.


def _elementwise(ufunc: np.ufunc) -> Callable[..., Array]:
    if ufunc.nin == 1:
        def unary(x: Any, /) -> Array:
            return _functions.apply(ufunc, x)

        made: Callable[..., Array] = unary
    else:
        def binary(x1: Any, x2: Any, /) -> Array:
            return _functions.apply(ufunc, x1, x2)

        made = binary
    made.__name__ = made.__qualname__ = ufunc.__name__
    made.__doc__ = f"``numpy.{ufunc.__name__}`` of the elements."
    return made


for _name in ("abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift "
              "bitwise_xor copysign cos cosh divide equal exp expm1 floor_divide greater greater_equal hypot isfinite isinf isnan "
              "less less_equal log log1p log2 log10 logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply negative "
              "nextafter not_equal positive pow reciprocal remainder sign signbit sin sinh square sqrt subtract tan tanh").split():
    globals()[_name] = _elementwise(getattr(np, _name))


def _rounded(ufunc: np.ufunc) -> Callable[..., Array]:
    inner = _elementwise(ufunc)

    def function(x: Any, /) -> Array:
        # Whole numbers are what they are.
        return x if x.dtype.kind in "iu" else inner(x)

    function.__name__ = function.__qualname__ = ufunc.__name__
    function.__doc__ = inner.__doc__
    return function


ceil, floor, trunc = map(_rounded, (np.ceil, np.floor, np.trunc))


def conj(x: Any, /) -> Array:
    """The conjugates; real elements stay."""
    return _functions.conj(x)


def clip(x: Any, /, min: Any = None, max: Any = None) -> Array:
    """The elements, those below ``min`` and above ``max`` replaced by these, in the type of ``x``."""
    limits = [None if each is None else each if isinstance(each, Array) else np.asarray(each, dtype=x.dtype)[()] for each in (min, max)]
    return astype(_functions.clip(x, *limits), x.dtype, copy=False)


# Statistics.


def std(x: Array, /, *, axis: Any = None, correction: float = 0.0, keepdims: Any = False) -> Array:
    return _functions.std(x, axis=axis, correction=correction, keepdims=keepdims)


def var(x: Array, /, *, axis: Any = None, correction: float = 0.0, keepdims: Any = False) -> Array:
    return _functions.var(x, axis=axis, correction=correction, keepdims=keepdims)


def all(x: Array, /, *, axis: Any = None, keepdims: Any = False) -> Array:
    return _functions.all(x, axis=axis, keepdims=keepdims)


def any(x: Array, /, *, axis: Any = None, keepdims: Any = False) -> Array:
    return _functions.any(x, axis=axis, keepdims=keepdims)


def _cumulative(call: Callable[..., Array], identity: int) -> Callable[..., Array]:
    def function(x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: Any = False) -> Array:
        if axis is None:
            if x.ndim != 1:
                raise ValueError(f"axis= says along which of the {x.ndim} modes")
            axis = 0
        made = call(x, axis=axis, dtype=_functions._total(x.dtype) if dtype is None else dtype)
        if not include_initial:
            return made
        axis %= made.ndim
        return concat([full((*made.shape[:axis], 1, *made.shape[axis + 1:]), identity, dtype=made.dtype), made], axis=axis)

    return function


cumulative_sum, cumulative_prod = _cumulative(cumsum, 0), _cumulative(cumprod, 1)

# Modes.


def concat(arrays: Sequence[Array], /, *, axis: int | None = 0) -> Array:
    """Arrays beside each other along a mode."""
    return concatenate(arrays, axis)


def permute_dims(x: Array, /, axes: Sequence[int]) -> Array:
    """The modes in another order."""
    return transpose(x, axes)


def broadcast_arrays(*arrays: Array) -> list[Array]:
    """The arrays, each broadcast to the shape of all."""
    return list(_functions.broadcast_arrays(*arrays))


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The parts of an array along a mode."""
    made = moveaxis(x, axis, 0)
    return tuple(made[number, ...] for number in range(made.shape[0]))


# Searching and sets.


def searchsorted(x1: Array, x2: Array, /, *, side: str = "left", sorter: Array | None = None) -> Array:
    """Where elements would be put in a sorted vector, which is dense."""
    sorter = None if sorter is None else _functions._numpy(sorter)
    return of_numpy(np.asarray(np.searchsorted(_functions._numpy(x1), _functions._numpy(x2), side=side, sorter=sorter)))  # type: ignore[call-overload]


class UniqueAll(NamedTuple):
    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    values: Array
    inverse_indices: Array


def unique_values(x: Array, /) -> Array:
    return _functions.unique(x, equal_nan=False)


def unique_counts(x: Array, /) -> UniqueCounts:
    return UniqueCounts(*_functions.unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x: Array, /) -> UniqueInverse:
    return UniqueInverse(*_functions.unique(x, return_inverse=True, equal_nan=False))


def unique_all(x: Array, /) -> UniqueAll:
    """The distinct elements, where the first of each is, and what :func:`unique_counts` and :func:`unique_inverse` give."""
    values, inverse, counts = _functions.unique(x, return_inverse=True, return_counts=True, equal_nan=False)
    flat = _functions._numpy(reshape(inverse, (-1,)))
    return UniqueAll(values, of_numpy(np.unique(flat, return_index=True)[1]), inverse, counts)


def isin(x1: Any, x2: Any, /, *, invert: Any = False) -> Array:
    """Whether elements are among those of another array."""
    known = _functions._numpy(unique_values(_functions.array(x2)))
    made = _functions.array(x1)
    call = lambda values: np.isin(values, known, invert=invert)  # noqa: E731
    return _functions._map(_expression.Function("isin", call, [None], bool), [made])


def _dense(module: str, name: str) -> Any:
    """A function of NumPy's of dense arrays. Of sparse matrices, ``scipy.sparse.linalg`` has decompositions."""
    function = getattr(getattr(np, module), name)

    @functools.wraps(function)
    def dense(*args: Any, **options: Any) -> Any:
        return _functions._fallback(function, args, options, f"{module}.{name}")

    return staticmethod(dense)


class linalg:
    """The standard's extension ``linalg``. Products and norms are of sparse arrays too, decompositions of dense ones."""

    matmul: Any = staticmethod(matmul)
    matrix_transpose: Any = staticmethod(matrix_transpose)
    tensordot: Any = staticmethod(tensordot)
    vecdot: Any = staticmethod(vecdot)

    @staticmethod
    def diagonal(x: Array, /, *, offset: int = 0) -> Array:
        return _functions.diagonal(x, offset, -2, -1)

    @staticmethod
    def trace(x: Array, /, *, offset: int = 0, dtype: Any = None) -> Array:
        return _functions.trace(x, offset, -2, -1, dtype)

    @staticmethod
    def outer(x1: Array, x2: Array, /) -> Array:
        return _functions.outer(x1, x2)

    @staticmethod
    def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
        return _functions._fallback(np.linalg.cross, (x1, x2), {"axis": axis})

    @staticmethod
    def vector_norm(x: Array, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Array:
        if axis is None and not keepdims:
            x, axis = reshape(x, (-1,)), 0
        axes = tuple(range(x.ndim)) if axis is None else axis
        if isinstance(axes, tuple) and len(axes) != 1:
            rest = [mode for mode in range(x.ndim) if mode not in [each % x.ndim for each in axes]]
            flat = reshape(transpose(x, [*rest, *axes]), (*(x.shape[mode] for mode in rest), -1))
            found = _functions.norm(flat, ord, -1)
            return expand_dims(found, axes) if keepdims else found
        return _functions.norm(x, ord, axes if isinstance(axes, int) else axes[0], keepdims)

    @staticmethod
    def matrix_norm(x: Array, /, *, keepdims: Any = False, ord: Any = "fro") -> Array:
        if ord in (2, -2, "nuc"):
            return _functions._fallback(np.linalg.matrix_norm, (x,), {"keepdims": keepdims, "ord": ord})
        return _functions.norm(x, ord, (-2, -1), keepdims)


for _name in "cholesky det eigh eigvalsh inv matrix_power matrix_rank pinv qr slogdet solve svd svdvals".split():
    setattr(linalg, _name, _dense("linalg", _name))


class fft:
    """The standard's extension ``fft``, of dense arrays."""


    @staticmethod
    def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
        return _created(np.fft.fftfreq(n, d).astype(dtype or float64), device)

    @staticmethod
    def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
        return _created(np.fft.rfftfreq(n, d).astype(dtype or float64), device)


for _name in "fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftshift ifftshift".split():
    setattr(fft, _name, _dense("fft", _name))
