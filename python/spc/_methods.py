"""Methods of arrays that are functions of :mod:`spc._functions`, operators, and NumPy's protocols.

Functions make arrays, so :class:`spc.Array` is defined before them, and gets these methods when this module is imported.
"""

from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np

from . import _functions, array_api
from ._array import Array

_Function = Callable[..., Any]


def _of_arrays(made: Any) -> Any:
    """A decorator: a method or a property of arrays."""
    setattr(Array, (made.fget if isinstance(made, property) else made).__name__, made)
    return made


# Operators.


def _operator(function: _Function, *, swapped: bool = False) -> _Function:
    def method(self: Array, *others: Any) -> Any:
        if others and not _functions.is_operand(others[0]):
            return NotImplemented
        return function(*others, self) if swapped else function(self, *others)

    return method


_BINARY: dict[str, _Function] = {
    "add": _functions.add, "sub": _functions.subtract, "mul": _functions.multiply, "truediv": _functions.divide,
    "floordiv": _functions.floor_divide, "mod": _functions.remainder, "pow": _functions.power, "matmul": _functions.matmul,
    "and": _functions.bitwise_and, "or": _functions.bitwise_or, "xor": _functions.bitwise_xor, "lshift": _functions.left_shift,
    "rshift": _functions.right_shift,
}
for _name, _function in (_BINARY | {"divmod": _functions.divmod}).items():
    setattr(Array, f"__{_name}__", _operator(_function))
    setattr(Array, f"__r{_name}__", _operator(_function, swapped=True))
for _name, _function in {
    "lt": _functions.less, "le": _functions.less_equal, "gt": _functions.greater, "ge": _functions.greater_equal, "eq": _functions.equal,
    "ne": _functions.not_equal, "neg": _functions.negative, "pos": _functions.positive, "abs": _functions.abs, "invert": _functions.invert,
    "round": _functions.round,
}.items():
    setattr(Array, f"__{_name}__", _operator(_function))


def _in_place(function: _Function) -> _Function:
    def method(self: Array, other: Any) -> Any:
        if not _functions.is_operand(other):
            return NotImplemented
        _functions.become(self, function(self, other))
        return self

    return method


for _name, _function in _BINARY.items():
    setattr(Array, f"__i{_name}__", _in_place(_function))


# Methods with the parameters of NumPy's functions.


def _method(function: _Function) -> _Function:
    @functools.wraps(function)
    def method(self: Array, *args: Any, out: Any = None, **options: Any) -> Any:
        found = function(self, *args, **options)
        return found if out is None else _functions.written(out, found, function.__name__)

    method.__qualname__ = f"Array.{function.__name__}"
    return method


for _name in ("sum", "prod", "max", "min", "mean", "var", "std", "any", "all", "argmax", "argmin", "dot", "squeeze", "swapaxes", "diagonal", "trace",
              "conj", "round", "clip", "nonzero", "cumsum", "cumprod", "repeat", "take", "astype"):
    setattr(Array, _name, _method(getattr(_functions, _name)))
for _name, _function in {"T": _functions.transpose, "mT": _functions.matrix_transpose, "real": _functions.real, "imag": _functions.imag}.items():
    setattr(Array, _name, property(_function, doc=_function.__doc__))


# Methods with parameters of their own.


@_of_arrays
def transpose(self: Array, *axes: Any) -> Array:
    """The modes in another order; in reverse if none is given."""
    if len(axes) == 1 and not isinstance(axes[0], int):
        axes = () if axes[0] is None else tuple(axes[0])
    return _functions.transpose(self, axes or None)


@_of_arrays
def reshape(self: Array, *shape: Any, order: str = "C") -> Array:
    """The elements in row-major order in another shape, of which one extent may be -1; with the first index fastest if ``order="F"``."""
    return _functions.reshape(self, shape[0] if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)) else shape, order)


@_of_arrays
def ravel(self: Array, order: str | None = "C") -> Array:
    """The elements in row-major order, or with the first index fastest, ``"F"``."""
    return _functions.ravel(self, order)


@_of_arrays
def flatten(self: Array, order: str | None = "C") -> Array:
    """The elements in row-major order, or with the first index fastest, ``"F"``."""
    return _functions.ravel(self, order)


@_of_arrays
def set(self: Array, index: Any, value: Any) -> Array:
    """A new array with other elements at an index: ``A.set(A < 0, 0)``, ``A.set((slice(None), 3), x)``.

    :param index: what ``A[index]`` takes.
    :param value: a number, or an array that is broadcast to the shape of ``A[index]``.
    """
    return _functions.replaced(self, index, value)


@_of_arrays
def __setitem__(self: Array, index: Any, value: Any) -> None:
    _functions.assign(self, index, value)


@_of_arrays
def __contains__(self: Array, value: Any) -> bool:
    return bool(_functions.any(_functions.equal(self, value)))


# Protocols.


@_of_arrays
def __array_ufunc__(self: Array, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
    return _functions.of_ufunc(ufunc, method, inputs, options)


@_of_arrays
def __array_function__(self: Array, function: _Function, types: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return _functions.of_function(function, args, options)


@_of_arrays
def __array_namespace__(self: Array, *, api_version: str | None = None) -> Any:
    """The functions of the Python array API standard: :mod:`spc.array_api`."""
    if api_version not in (None, *array_api.VERSIONS):
        raise ValueError(f"the version {api_version!r} is none of {', '.join(array_api.VERSIONS)}")
    return array_api
