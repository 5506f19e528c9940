"""Functions of arrays, with the names and the meaning that they have in NumPy.

Functions of elements, products, sums and changes of modes make expressions (:mod:`spc._expression`); what chooses or orders elements is done
at once, on coordinates (:mod:`spc._structure`), or by NumPy where an array is dense. ``np.exp(A)``, ``np.concatenate([A, B])`` and the
methods and operators of arrays come here.
"""

from __future__ import annotations

import builtins
import functools
import math
import operator
from typing import Any, Callable, Iterable, Sequence

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from . import _convert, _einsum, _expression, _native, _structure
from ._array import COPIED, Array, of_entries, of_numpy, own_index, plain_index, tensor
from ._expression import Contract, Function, Map, View

_PLAIN = frozenset([bool, int, float, complex])


# Operands.

_OPERANDS = (Array, np.ndarray, np.generic, list, tuple, bool, int, float, complex)


def is_sparse_object(value: Any) -> bool:
    """Whether an object of another library is a sparse array."""
    return not isinstance(value, np.ndarray) and _convert.kind_of(value) not in (None, "array")


def is_operand(value: Any) -> bool:
    """Whether an operator takes a value: an array of ours, of NumPy's or of another library, a list, or a number."""
    return isinstance(value, _OPERANDS) or _convert.kind_of(value) is not None


def operand(value: Any) -> Any:
    """An operand: an array of ours, a number of NumPy's, or one of Python's, whose type follows that of the others."""
    if isinstance(value, (Array, np.generic)) or type(value) in _PLAIN:
        return value if getattr(value, "dtype", None) is None or value.dtype.isbuiltin == 1 else _convert.widened_elements(np.asarray(value))[()]
    if isinstance(value, np.ndarray):
        value = _convert.widened_elements(value)
        if not value.ndim:
            return value[()]
        # A small array is copied, so that an expression of it can wait.
        if value.nbytes <= COPIED or not (value.flags.c_contiguous or value.flags.f_contiguous):
            _convert.element(value.dtype)
            return Array(_native.Storage.of_dense(np.array(value, order="C")))
    if isinstance(value, (list, tuple)):
        return of_numpy(np.array(listed(value)))
    return tensor(value)


def array(value: Any) -> Any:
    """An operand as an array of ours."""
    if type(value) is Array:
        return value
    made = operand(value)
    return made if isinstance(made, Array) else of_numpy(np.asarray(made))


def listed(value: Any) -> Any:
    """Nested lists with numbers in place of arrays of one element."""
    if isinstance(value, (list, tuple)):
        return [listed(each) for each in value]
    return value.to_numpy() if isinstance(value, Array) else value


def _made(found: Any) -> Any:
    """An array of what :mod:`spc._structure` gives: entries, or a dense array."""
    return of_entries(found) if isinstance(found, _structure.Entries) else of_numpy(found)


def _numpy(value: Any) -> Any:
    """A dense array as NumPy has it, in its memory, for reading."""
    return _convert.numpy_of(value._storage, value.fill if value.is_sparse else 0) if isinstance(value, Array) else value


def asarray(obj: Any, dtype: Any = None, *, copy: bool | None = None, device: str | None = None) -> Array:
    """An array of anything: lists, numbers, NumPy arrays, and whatever :func:`tensor` takes.

    >>> spc.asarray([[0, 1.5], [2, 0]]).shape
    (2, 2)

    The elements are copied, so that later changes of the object are of no matter. With ``copy=False`` a NumPy array is borrowed.
    """
    if device not in (None, "cpu"):
        raise ValueError(f"arrays are in main memory, the device 'cpu', not {device!r}")
    if isinstance(obj, Array):
        made = obj.copy() if copy else obj
    elif is_sparse_object(obj):
        if copy is False:
            raise ValueError("the entries of sparse arrays are always copied: leave out copy=False")
        made = tensor(obj)
    elif copy is False:
        made = tensor(np.asarray(obj, copy=False))
    else:
        given = obj if isinstance(obj, np.ndarray) else listed(obj)
        made = of_numpy(np.array(given, dtype=dtype, order="C"))
    return made if dtype is None else astype(made, dtype, copy=False)


# Functions of elements.


def apply(ufunc: np.ufunc, *values: Any) -> Any:
    """A function of NumPy's of the elements of operands, which are broadcast."""
    args = [value if type(value) is Array else operand(value) for value in values]
    function = _expression.function_of(ufunc, tuple([type(arg) if type(arg) in _PLAIN else arg.dtype for arg in args]))
    try:
        numbers = [loop.type(arg) if type(arg) in _PLAIN else arg for arg, loop in zip(args, function.loops)]
    except OverflowError:
        if ufunc not in _expression.COMPARISONS:
            raise
        # The type of the other does not hold this number; they are compared all the same.
        return apply(ufunc, *(np.asarray(arg)[()] if type(arg) in _PLAIN else arg for arg in args))
    return _map(function, numbers)


def _map(function: Function, args: Sequence[Any]) -> Any:
    shapes = [arg.shape for arg in args]
    shape = shapes[0] if len(shapes) == 1 else _expression.broadcast(shapes)
    return Array._of_node(Map(function, tuple(args), shape))


def _mapped(name: str, call: Callable[..., Any], value: Any, dtype: np.dtype | None = None) -> Any:
    """A function of elements that is no ufunc."""
    made = array(value)
    return _map(Function(name, call, [made.dtype], dtype or made.dtype), [made])


def astype(value: Any, dtype: Any, copy: bool = True) -> Any:
    """The same elements in another type."""
    made, dtype = array(value), np.dtype(dtype)
    _convert.element(dtype)
    if made.dtype == dtype:
        return made.copy() if copy else made
    return _map(_expression.cast(made.dtype, dtype), [made])


def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """The elements of ``x`` where a condition holds, else those of ``y``; with only a condition, the places where it holds."""
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("where takes a condition and two operands, or a condition only")
    condition, x, y = array(condition), operand(x), operand(y)
    condition = condition if condition.dtype.kind == "b" else astype(condition, bool)
    dtype = np.result_type(*(each if type(each) in _PLAIN else each.dtype for each in (x, y)))
    x, y = (dtype.type(each) if type(each) in _PLAIN else each for each in (x, y))
    return _map(_where(dtype), [condition, x, y])


@functools.lru_cache(64)
def _where(dtype: np.dtype) -> Function:
    return Function("where", np.where, [np.dtype(bool), dtype, dtype], dtype)


def clip(value: Any, min: Any = None, max: Any = None, **options: Any) -> Any:
    """The elements, those below ``min`` and above ``max`` replaced by these."""
    min, max = options.pop("a_min", min), options.pop("a_max", max)
    _no_more(options)
    made = array(value)
    if min is not None:
        made = apply(np.maximum, made, min)
    return made._same() if max is None else apply(np.minimum, made, max)


def round(value: Any, decimals: int = 0, out: None = None) -> Any:
    """The elements rounded to a number of decimals, halves to the even neighbour."""
    made = array(value)
    if made.dtype.kind in "iub" and decimals >= 0:
        return made._same() if made.dtype.kind != "b" else astype(made, np.float16)
    return _mapped(f"round({decimals})", lambda values: np.round(values, decimals), made)


def real(value: Any) -> Any:
    """The real parts."""
    made = array(value)
    return made._same() if made.dtype.kind != "c" else _mapped("real", lambda values: np.real(values), made, made.dtype.type(0).real.dtype)


def imag(value: Any) -> Any:
    """The imaginary parts: zeros of real arrays."""
    made = array(value)
    return _mapped("imag", lambda values: np.imag(values), made, made.dtype.type(0).imag.dtype)


def nan_to_num(value: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """The elements with numbers in place of NaN and infinities."""
    return _mapped(f"nan_to_num({nan}, {posinf}, {neginf})", lambda values: np.nan_to_num(values, nan=nan, posinf=posinf, neginf=neginf), value)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """The elements as places of a function that is linear between points ``xp``, where it is ``fp``."""
    made, xp, fp = array(x), _numpy(array(xp)), _numpy(array(fp))
    made = made if made.dtype == np.float64 else astype(made, np.float64)
    dtype = np.dtype(np.complex128 if fp.dtype.kind == "c" else np.float64)
    return _map(Function("interp", lambda values: np.interp(values, xp, fp, left, right, period), [None], dtype), [made])


def divmod(x: Any, y: Any) -> Any:
    """Quotients, rounded down, and remainders."""
    return apply(np.floor_divide, x, y), apply(np.remainder, x, y)


def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Whether elements are equal up to a tolerance."""
    a, b = array(a), array(b)
    function = Function(f"isclose({rtol}, {atol}, {equal_nan})", lambda x, y: np.isclose(x, y, rtol, atol, equal_nan), [None, None], np.dtype(bool))
    return _map(function, [a, b])


def allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements are equal up to a tolerance."""
    return bool(all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Whether two arrays have one shape and equal elements."""
    a1, a2 = array(a1), array(a2)
    if a1.shape != a2.shape:
        return False
    same = apply(np.equal, a1, a2)
    if equal_nan and a1.dtype.kind in "fc" and a2.dtype.kind in "fc":
        same = apply(np.logical_or, same, apply(np.logical_and, apply(np.isnan, a1), apply(np.isnan, a2)))
    return bool(all(same))


def _of(ufunc: np.ufunc) -> Callable[..., Any]:
    def function(*values: Any) -> Any:
        return apply(ufunc, *values)

    function.__name__ = function.__qualname__ = ufunc.__name__
    function.__doc__ = f"``numpy.{ufunc.__name__}`` of the elements."
    return function


add, subtract, multiply, divide = map(_of, (np.add, np.subtract, np.multiply, np.true_divide))
floor_divide, remainder, negative, positive, invert = map(_of, (np.floor_divide, np.remainder, np.negative, np.positive, np.invert))
bitwise_and, bitwise_or, bitwise_xor = map(_of, (np.bitwise_and, np.bitwise_or, np.bitwise_xor))
left_shift, right_shift, abs, conj = map(_of, (np.left_shift, np.right_shift, np.absolute, np.conjugate))
less, less_equal, greater, greater_equal, equal, not_equal = map(
    _of, (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal))


def power(x: Any, y: Any) -> Any:
    """The elements to a power; a square is a product, as in NumPy."""
    if type(y) in (int, float) and y == 2 and isinstance(x, Array) and (x.dtype.kind in "fc" or type(y) is int) and x.dtype.kind != "b":
        return apply(np.square, x)
    return apply(np.power, x, y)


# Products.


def _contract(args: Sequence[Any], labels: Sequence[Sequence[int]], result: Sequence[int], dtype: np.dtype, call: Callable[..., Any]) -> Any:
    # What a kernel does not convert, NumPy does before.
    args = tuple([arg if arg._dtype is dtype or _expression.is_converted(arg._dtype, dtype) else astype(arg, dtype) for arg in args])
    made = Contract(args, tuple(map(tuple, labels)), tuple(result), dtype, call)
    for place, arg in enumerate(args):
        # The sum of all elements adds those that are not stored by itself.
        if arg._is_sparse and arg.fill and dtype.char not in "?e" and np.isfinite(arg.fill) and (len(args) > 1 or result):
            return _apart(made, place)
    return Array._of_node(made)


def _apart(whole: Contract, place: int) -> Any:
    """A product with an array that has a fill value: of what differs from it, and of the fill value. Only entries are visited.

        sum(j)(A(i,j) * x(j))  =  sum(j)((A(i,j) - fill) * x(j)) + fill * sum(j)(x(j))
    """
    labels, result, dtype = list(whole.labels), whole.result, whole.dtype
    args = [astype(arg, dtype, copy=False) for arg in whole.args]
    filled, own = args.pop(place), labels.pop(place)
    difference = apply(np.subtract, filled, filled.fill)
    first = _contract((*args[:place], difference, *args[place:]), (*labels[:place], own, *labels[place:]), result, dtype, whole.dense_call)
    longest: dict[int, int] = {}
    for arg, of_arg in zip(args, labels):
        for label, extent in zip(of_arg, arg.shape):
            longest[label] = builtins.max(longest.get(label, 1), extent) if extent else 0
    # An index that the others do not have is summed over as often as it has values.
    times = math.prod(whole.extents[label] for label in set(own) if label not in result and longest.get(label, 1) == 1)
    with np.errstate(all="ignore"):
        scale = dtype.type(filled.fill) * dtype.type(times)
    if not args:
        return apply(np.add, first, scale)
    kept = [label for label in result if label in longest]
    text = _letters([*labels, kept])
    rest = _contract(args, labels, kept, dtype, lambda *arrays: np.einsum(f"{','.join(text[:-1])}->{text[-1]}", *arrays).astype(dtype, copy=False))
    rest = reshape(rest, [longest[label] if label in longest else 1 for label in result])
    return apply(np.add, first, apply(np.multiply, rest, scale))


def _letters(labels: Sequence[Sequence[int]]) -> list[str]:
    """Labels as the letters of an einsum string."""
    every = {label: _einsum.LETTERS[number] for number, label in enumerate(dict.fromkeys(label for each in labels for label in each))}
    return ["".join(every[label] for label in each) for each in labels]


def _promoted(*args: Any) -> np.dtype:
    first = args[0]._dtype
    for arg in args:
        if arg._dtype is not first:
            break
    else:
        return first
    return np.result_type(*(arg.dtype for arg in args))


def _common(a: int, b: int, what: str) -> None:
    if a != b:
        raise ValueError(f"{what} takes operands of one extent, not {a} and {b}")


def matmul(x: Any, y: Any) -> Any:
    """The matrix product, of stacks of matrices where there are more than two modes."""
    a, b = array(x), array(y)
    if not a.ndim or not b.ndim:
        raise ValueError("matmul takes arrays of one mode or more: write * for a product with a number")
    _common(a.shape[-1], b.shape[-2 if b.ndim > 1 else 0], "matmul")
    left, right, result = _matmul_labels(a.ndim, b.ndim)
    return _contract((a, b), (left, right), result, _promoted(a, b), np.matmul)


@functools.lru_cache(256)
def _matmul_labels(m: int, n: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """The labels of operands of these orders, and those of the product."""
    batch = builtins.max(m, n, 2) - 2
    row, inner, column = batch, batch + 1, batch + 2
    left = (*range(batch - (m - 2), batch), row, inner) if m > 1 else (inner,)
    right = (*range(batch - (n - 2), batch), inner, column) if n > 1 else (inner,)
    return left, right, (*range(batch), *((row,) if m > 1 else ()), *((column,) if n > 1 else ()))


def dot(a: Any, b: Any) -> Any:
    """``numpy.dot``: over the last mode of one and the second to last of the other."""
    a, b = array(a), array(b)
    if not a.ndim or not b.ndim:
        return apply(np.multiply, a, b)
    return matmul(a, b) if a.ndim <= 2 and b.ndim <= 2 else tensordot(a, b, ([a.ndim - 1], [builtins.max(b.ndim - 2, 0)]))


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """The sum of products over modes of both: so many of the last and first, or two sequences of modes."""
    a, b = array(a), array(b)
    of_a: Sequence[int]
    of_b: Sequence[int]
    if isinstance(axes, (int, np.integer)):
        if axes < 0 or axes > builtins.min(a.ndim, b.ndim):
            raise ValueError(f"axes={axes}: the operands have {a.ndim} and {b.ndim} modes")
        of_a, of_b = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        of_a, of_b = ([each] if isinstance(each, (int, np.integer)) else list(each) for each in axes)
    of_a, of_b = normalize_axis_tuple(of_a, a.ndim), normalize_axis_tuple(of_b, b.ndim)
    if len(of_a) != len(of_b):
        raise ValueError(f"{len(of_a)} and {len(of_b)} modes are summed over: as many of one as of the other")
    left, right = list(range(a.ndim)), list(range(a.ndim, a.ndim + b.ndim))
    for mine, other in zip(of_a, of_b):
        _common(a.shape[mine], b.shape[other], "tensordot")
        right[other] = left[mine]
    result = [label for mode, label in enumerate(left) if mode not in of_a] + [label for mode, label in enumerate(right) if mode not in of_b]
    return _contract((a, b), (left, right), result, _promoted(a, b), lambda x, y: np.tensordot(x, y, (of_a, of_b)))


def outer(a: Any, b: Any, out: None = None) -> Any:
    """All products of an element of one with one of the other."""
    a, b = reshape(array(a), (-1,)), reshape(array(b), (-1,))
    return _contract((a, b), ([0], [1]), [0, 1], _promoted(a, b), np.outer)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The sum of products of the conjugate of one with the other, along one mode of both."""
    a, b = array(x1), array(x2)
    if not -builtins.min(a.ndim, b.ndim) <= axis < builtins.max(a.ndim, b.ndim) or not a.ndim or not b.ndim:
        raise ValueError(f"axis={axis}: the operands have {a.ndim} and {b.ndim} modes")
    if axis >= 0 and a.ndim != b.ndim:
        raise ValueError(f"axis={axis} of operands with {a.ndim} and {b.ndim} modes: count from the last, -1")
    order = builtins.max(a.ndim, b.ndim)
    place = axis % order
    left, right = list(range(order - a.ndim, order)), list(range(order - b.ndim, order))
    _common(a.shape[place - order], b.shape[place - order], "vecdot")
    a = conj(a) if a.dtype.kind == "c" else a
    result = [label for label in range(order) if label != place]

    def call(x: np.ndarray, y: np.ndarray) -> Any:
        return np.sum(np.multiply(x, y), axis=place, dtype=np.result_type(x, y))

    return _contract((a, b), (left, right), result, _promoted(a, b), call)


def vdot(a: Any, b: Any) -> Any:
    """The sum of products of all elements, those of the first conjugated."""
    return vecdot(reshape(array(a), (-1,)), reshape(array(b), (-1,)))


def inner(a: Any, b: Any) -> Any:
    """The sum of products over the last mode of both."""
    a, b = array(a), array(b)
    return apply(np.multiply, a, b) if not a.ndim or not b.ndim else tensordot(a, b, ([a.ndim - 1], [b.ndim - 1]))


def kron(a: Any, b: Any) -> Any:
    """The Kronecker product."""
    a, b = array(a), array(b)
    order = builtins.max(a.ndim, b.ndim)
    a, b = (reshape(each, (1,) * (order - each.ndim) + each.shape) for each in (a, b))
    if a.is_sparse and b.is_sparse and not a.fill and not b.fill:
        dtype = _promoted(a, b)
        return of_entries(_structure.multiplied(*(_structure.entries(astype(each, dtype, copy=False)) for each in (a, b))))
    spread = tuple(extent for each in a.shape for extent in (each, 1)), tuple(extent for each in b.shape for extent in (1, each))
    return reshape(apply(np.multiply, reshape(a, spread[0]), reshape(b, spread[1])), tuple(m * n for m, n in zip(a.shape, b.shape)))


def einsum(*operands: Any, optimize: Any = None, out: None = None, dtype: Any = None, **options: Any) -> Any:
    """``numpy.einsum``, of a string or of lists of labels: the sum of products over the labels that the result does not have."""
    _no_more(options)
    if dtype is not None:
        text, given = _einsum.text_of(operands)
        return einsum(text, *(astype(each, dtype, copy=False) for each in given), optimize=optimize)
    text, given = _einsum.text_of(operands)
    args = [array(value) for value in given]
    left, arrow, right = text.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(args):
        raise ValueError(f"{text!r} has {len(terms)} operands, and there are {len(args)}")
    numbers: dict[str, int] = {}
    longest = builtins.max((arg.ndim - len(term.replace("...", "")) for term, arg in zip(terms, args) if "..." in term), default=0)
    labels = [_labels(term, arg.ndim, longest, numbers) for term, arg in zip(terms, args)]
    if arrow:
        result = _labels(right, len(right.replace("...", "")) + (longest if "..." in right else 0), longest, numbers)
        unknown = [letter for letter in right.replace("...", "") if letter not in left]
        if unknown:
            raise ValueError(f"{text!r}: no operand has the index {unknown[0]!r}")
    else:
        counted = left.replace("...", "").replace(",", "")
        result = [*range(-longest, 0), *(numbers[letter] for letter in sorted(set(counted)) if counted.count(letter) == 1)]
    if len(set(result)) < len(result):
        raise ValueError(f"{text!r}: the result has an index twice")
    return _contract(args, labels, result, _promoted(*args), lambda *arrays: np.einsum(text, *arrays, optimize=len(arrays) > 2))


def _labels(term: str, order: int, longest: int, numbers: dict[str, int]) -> list[int]:
    """The labels of an operand: letters from 0 on, those of an ellipsis below."""
    before, dots, behind = term.partition("...")
    if not (before + behind).isalpha() and before + behind:
        raise ValueError(f"{term!r}: an index is a letter")
    count = order - len(before) - len(behind)
    if count < 0 or count and not dots:
        raise ValueError(f"the indices {term!r} do not fit an operand of {order} modes")
    own = {letter: numbers.setdefault(letter, len(numbers)) for letter in before + behind}
    return [*(own[letter] for letter in before), *range(-count, 0), *(own[letter] for letter in behind)]


# Modes.


def _view(value: Any, axes: Sequence[int | None], shape: Sequence[int], call: Callable[..., Any]) -> Any:
    return Array._of_node(View(value, axes, tuple(shape), call))


def transpose(a: Any, axes: Any = None) -> Any:
    """The modes in another order; in reverse if none is given."""
    made = array(a)
    axes = tuple(range(made.ndim))[::-1] if axes is None else normalize_axis_tuple(axes, made.ndim)
    if len(axes) != made.ndim:
        raise ValueError(f"axes={axes} are not the {made.ndim} modes")
    if axes == tuple(range(made.ndim)):
        return made._same()
    places = [axes.index(mode) for mode in range(made.ndim)]
    return _view(made, places, [made.shape[mode] for mode in axes], lambda x: np.transpose(x, axes))


def matrix_transpose(x: Any, /) -> Any:
    """The last two modes exchanged."""
    made = array(x)
    if made.ndim < 2:
        raise ValueError(f"a matrix has two modes or more, and the array {made.ndim}")
    return swapaxes(made, -1, -2)


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Two modes exchanged."""
    made = array(a)
    axes = list(range(made.ndim))
    axis1, axis2 = normalize_axis_index(axis1, made.ndim), normalize_axis_index(axis2, made.ndim)
    axes[axis1], axes[axis2] = axes[axis2], axes[axis1]
    return transpose(made, axes)


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Modes at other places, the rest in order."""
    made = array(a)
    source, destination = normalize_axis_tuple(source, made.ndim), normalize_axis_tuple(destination, made.ndim)
    if len(source) != len(destination):
        raise ValueError("as many modes as places")
    order = [mode for mode in range(made.ndim) if mode not in source]
    for place, mode in sorted(zip(destination, source)):
        order.insert(place, mode)
    return transpose(made, order)


def expand_dims(a: Any, axis: Any) -> Any:
    """New modes of one index."""
    made = array(a)
    axes = (axis,) if isinstance(axis, (int, np.integer)) else tuple(axis)
    new = normalize_axis_tuple(axes, made.ndim + len(axes))
    rest = iter(range(made.ndim))
    order = [None if mode in new else next(rest) for mode in range(made.ndim + len(new))]
    shape = [1 if mode is None else made.shape[mode] for mode in order]
    return _view(made, [order.index(mode) for mode in range(made.ndim)], shape, lambda x: np.reshape(x, shape)) if new else made._same()


def squeeze(a: Any, axis: Any = None) -> Any:
    """Without modes of one index: all, or some."""
    made = array(a)
    gone = (tuple(mode for mode, extent in enumerate(made.shape) if extent == 1) if axis is None
            else normalize_axis_tuple(axis, made.ndim))
    wrong = [mode for mode in gone if made.shape[mode] != 1]
    if wrong:
        raise ValueError(f"the mode {wrong[0]} has {made.shape[wrong[0]]} indices: only one of a single index is left out")
    if not gone:
        return made._same()
    kept = [mode for mode in range(made.ndim) if mode not in gone]
    shape = [made.shape[mode] for mode in kept]
    return _view(made, [None if mode in gone else kept.index(mode) for mode in range(made.ndim)], shape, lambda x: np.reshape(x, shape))


def broadcast_to(array_: Any, shape: Any) -> Any:
    """The elements repeated along modes of one index, and along new ones."""
    made = array(array_)
    shape = tuple(shape) if not isinstance(shape, (int, np.integer)) else (shape,)
    behind = len(shape) - made.ndim
    if behind < 0 or builtins.any(extent not in (1, wanted) for extent, wanted in zip(made.shape, shape[behind:])):
        raise ValueError(f"an array of the shape {made.shape} is not broadcast to {shape}")
    if shape == made.shape:
        return made._same()
    axes = [mode + behind if extent == shape[mode + behind] else None for mode, extent in enumerate(made.shape)]
    return _view(made, axes, shape, lambda x: np.broadcast_to(x, shape))


def broadcast_arrays(*arrays: Any) -> Any:
    """The arrays, each broadcast to the shape of all."""
    made = [array(each) for each in arrays]
    shape = np.broadcast_shapes(*(each.shape for each in made))
    return tuple(broadcast_to(each, shape) for each in made)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The elements with equal indices in two modes, as the last mode; those ``offset`` beside if that is not 0."""
    made = array(a)
    if made.ndim < 2:
        raise ValueError(f"a diagonal is of two modes, and the array has {made.ndim}")
    axis1, axis2 = normalize_axis_index(axis1, made.ndim), normalize_axis_index(axis2, made.ndim)
    if axis1 == axis2:
        raise ValueError("a diagonal is of two different modes")
    rows, columns = made.shape[axis1], made.shape[axis2]
    begin = (builtins.max(-offset, 0), builtins.max(offset, 0))
    length = builtins.max(builtins.min(rows - begin[0], columns - begin[1]), 0)
    if not made.is_sparse:
        return of_numpy(np.diagonal(_numpy(made), offset, axis1, axis2))
    if offset or rows != columns:
        index: list[Any] = [slice(None)] * made.ndim
        index[axis1], index[axis2] = slice(begin[0], begin[0] + length), slice(begin[1], begin[1] + length)
        made = made[tuple(index)]
    kept = [mode for mode in range(made.ndim) if mode not in (axis1, axis2)]
    axes = [kept.index(mode) if mode in kept else len(kept) for mode in range(made.ndim)]
    return _view(made, axes, [*(made.shape[mode] for mode in kept), length], lambda x: np.diagonal(x, 0, axis1, axis2))


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: None = None) -> Any:
    """The sum of a diagonal."""
    return sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


def reshape(a: Any, shape: Any, order: str = "C", *, copy: bool | None = None) -> Any:
    """The elements in another shape, of which one extent may be -1: in row-major order, ``"C"``, or with the first index fastest, ``"F"``."""
    made = array(a)
    if order == "F":
        # The same in row-major order, of modes in reverse.
        shape = tuple(shape) if not isinstance(shape, (int, np.integer)) else (int(shape),)
        return transpose(reshape(transpose(made), shape[::-1]))
    if order != "C":
        raise ValueError(f"order={order!r}: say 'C' or 'F'")
    shape = tuple(map(operator.index, shape)) if not isinstance(shape, (int, np.integer)) else (int(shape),)
    known = math.prod(extent for extent in shape if extent != -1)
    if shape.count(-1) == 1 and known:
        shape = tuple(made.size // known if extent == -1 else extent for extent in shape)
    if builtins.any(extent < 0 for extent in shape) or math.prod(shape) != made.size:
        raise ValueError(f"an array of the shape {made.shape} has {made.size} elements, which do not fit the shape {shape}")
    if shape == made.shape:
        return made._same()
    if not made.is_sparse:
        return of_numpy(_numpy(made).reshape(shape))
    return of_entries(_structure.reshaped(made, shape))


def ravel(a: Any, order: str | None = "C") -> Any:
    """The elements in row-major order, or with the first index fastest, ``"F"``."""
    return reshape(a, (-1,), order or "C")


def _structural(value: Any, dense: Callable[[np.ndarray], Any], sparse: Callable[[_structure.Entries], _structure.Entries]) -> Any:
    made = array(value)
    return of_entries(sparse(_structure.entries(made))) if made.is_sparse else of_numpy(dense(_numpy(made)))


def _together(arrays: Iterable[Any]) -> list[Any]:
    """Arrays of one element type, and with one fill value where one of them is sparse."""
    made = [array(each) for each in arrays]
    if not made:
        raise ValueError("there is no array to be put beside others")
    dtype = _promoted(*made)
    return [astype(each, dtype, copy=False) for each in made]


def concatenate(arrays: Iterable[Any], axis: int | None = 0, out: None = None, **options: Any) -> Any:
    """Arrays beside each other along a mode; as vectors if that is None."""
    dtype = options.pop("dtype", None)
    _no_more(options)
    made = _together(arrays)
    if dtype is not None:
        made = [astype(each, dtype, copy=False) for each in made]
    if axis is None:
        made, axis = [reshape(each, (-1,)) for each in made], 0
    axis = normalize_axis_index(axis, made[0].ndim)
    rest = {(*each.shape[:axis], *each.shape[axis + 1:]) for each in made}
    if len(rest) > 1 or len({each.ndim for each in made}) > 1:
        raise ValueError(f"arrays of the shapes {', '.join(str(each.shape) for each in made)} do not fit beside each other along the mode {axis}")
    fills = [each.fill for each in made if each.is_sparse]
    is_sparse = len(fills) == len(made) and builtins.all(fill == fills[0] or fill != fill and fills[0] != fills[0] for fill in fills)
    if not is_sparse:
        return of_numpy(np.concatenate([_numpy(each) for each in made], axis))
    if axis == 0 and made[0].ndim == 2 and (rows := _native._rows_below([each._whole for each in made])) is not None:
        return Array(rows, fills[0])
    return of_entries(_structure.joined([_structure.entries(each) for each in made], axis))


def stack(arrays: Iterable[Any], axis: int = 0, out: None = None, **options: Any) -> Any:
    """Arrays of one shape along a new mode."""
    made = [array(each) for each in arrays]
    if len({each.shape for each in made}) > 1:
        raise ValueError("arrays of several shapes are not stacked")
    return concatenate([expand_dims(each, axis) for each in made], normalize_axis_index(axis, made[0].ndim + 1) if made else 0, **options)


def vstack(tup: Iterable[Any], **options: Any) -> Any:
    """Arrays below each other."""
    return concatenate([atleast_2d(each) for each in tup], 0, **options)


def hstack(tup: Iterable[Any], **options: Any) -> Any:
    """Arrays beside each other."""
    made = [array(each) for each in tup]
    return concatenate(made, 1 if made and made[0].ndim > 1 else 0, **options)


def atleast_2d(value: Any) -> Any:
    """An array with two modes at least."""
    made = array(value)
    return reshape(made, (1,) * (2 - made.ndim) + made.shape) if made.ndim < 2 else made


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Elements that are shifted along modes, and come in again at the other end."""
    made = array(a)
    if axis is None:
        return reshape(roll(reshape(made, (-1,)), shift, 0), made.shape)
    axes = normalize_axis_tuple(axis, made.ndim, allow_duplicate=True)
    by_mode: dict[int, int] = {}
    for each, mode in zip(*np.broadcast_arrays(np.atleast_1d(shift), axes)):
        by_mode[int(mode)] = by_mode.get(int(mode), 0) + int(each)
    return _structural(made, lambda x: np.roll(x, shift, axis), lambda x: _structure.rolled(x, by_mode))


def flip(m: Any, axis: Any = None) -> Any:
    """Elements in reverse along modes."""
    made = array(m)
    axes = tuple(range(made.ndim)) if axis is None else normalize_axis_tuple(axis, made.ndim)
    return _structural(made, lambda x: np.flip(x, axes), lambda x: _structure.flipped(x, axes))


def diag(v: Any, k: int = 0) -> Any:
    """A square matrix with a vector as its diagonal ``k``, or the diagonal of a matrix."""
    made = array(v)
    if made.ndim == 2:
        return diagonal(made, k)
    if made.ndim != 1:
        raise ValueError(f"a diagonal is a vector or of a matrix, and the array has {made.ndim} modes")
    of = _structure.entries(made if made.is_sparse and not made.fill else of_numpy(_numpy(made)))
    extent, (places,) = made.shape[0] + builtins.abs(k), of.coordinates
    zero = made.dtype.type(0)
    return of_entries(_structure.Entries((extent, extent), (places + builtins.max(-k, 0), places + builtins.max(k, 0)), of.values, zero))


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """The parts of an array along a mode: so many of nearly one length, or those between places."""
    made = array(ary)
    axis = normalize_axis_index(axis, made.ndim)
    extent = made.shape[axis]
    if isinstance(indices_or_sections, (int, np.integer)):
        cuts = [len(part) for part in np.array_split(np.arange(extent), indices_or_sections)]
        places = np.cumsum([0, *cuts]).tolist()
    else:
        places = [0, *map(int, indices_or_sections), extent]
    return [made[(*[slice(None)] * axis, slice(begin, end))] for begin, end in zip(places, places[1:])]


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """The parts of an array along a mode: so many of one length, or those between places."""
    made = array(ary)
    if isinstance(indices_or_sections, (int, np.integer)) and made.shape[axis] % indices_or_sections:
        raise ValueError(f"{made.shape[axis]} indices are not {indices_or_sections} parts of one length")
    return array_split(made, indices_or_sections, axis)


# Further from the diagonal than any element.
_FAR = 1 << 62


def _triangle(value: Any, below: int, above: int, dense: Callable[[np.ndarray], np.ndarray]) -> Any:
    """The elements whose distance from the diagonal is ``below`` at least, and less than ``above``."""
    made = array(value)
    if made.ndim < 2:
        raise ValueError(f"a triangle is of two modes, and the array has {made.ndim}")
    if made.is_sparse and made.fill:
        made = of_numpy(_numpy(made))
    if made.is_sparse and made.ndim == 2:
        rows = _native._rows_between(made._whole, (0, made.shape[0]), (0, made.shape[1]), (below, above))
        if rows is not None:
            return Array(rows)

    def chosen(x: _structure.Entries) -> _structure.Entries:
        distances = x.coordinates[-1] - x.coordinates[-2]
        return _structure.chosen(x, (distances >= below) & (distances < above))

    return _structural(made, dense, chosen)


def tril(m: Any, /, k: int = 0) -> Any:
    """The lower triangle, from the diagonal ``k`` on."""
    return _triangle(m, -_FAR, operator.index(k) + 1, lambda x: np.tril(x, k))


def triu(m: Any, /, k: int = 0) -> Any:
    """The upper triangle, from the diagonal ``k`` on."""
    return _triangle(m, operator.index(k), _FAR, lambda x: np.triu(x, k))


def pad(array_: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Any:
    """The array with a constant around it: ``pad_width`` elements before and behind each mode, or pairs of them."""
    made = array(array_)
    if mode != "constant" or np.ndim(constant_values):
        return _fallback(np.pad, (made, pad_width), {"mode": mode, "constant_values": constant_values} if mode == "constant" else {"mode": mode})
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(mode, pad_width.get(mode - made.ndim, 0)) for mode in range(made.ndim)]
        pad_width = [each if isinstance(each, (tuple, list)) else (each, each) for each in pad_width]
    made, constant = made._same(), made.dtype.type(constant_values)
    for axis, widths in enumerate(np.broadcast_to(pad_width, (made.ndim, 2)).tolist()):
        parts = [made]
        for width, place in zip(widths, (0, 2)):
            if width:
                shape = (*made.shape[:axis], width, *made.shape[axis + 1:])
                parts.insert(place, _constant(made, shape, constant))
        made = concatenate(parts, axis) if len(parts) > 1 else made
    return made


def _constant(like: Any, shape: tuple[int, ...], value: Any) -> Any:
    """An array of one value: of entries, if the array that it is put beside is sparse and has another fill value."""
    if not like.is_sparse:
        return of_numpy(np.full(shape, value))
    if value == like.fill:
        return of_entries(nothing(shape, like.dtype)._replace(fill=like.fill))
    places = _structure.unlinear(np.arange(math.prod(shape)), shape)
    return of_entries(_structure.Entries(shape, places, np.full(len(places[0]), value), like.fill))


def take(a: Any, indices: Any, axis: int | None = None, **options: Any) -> Any:
    """The elements at indices of a mode."""
    _no_more(options)
    made = array(a)
    if axis is None:
        made, axis = reshape(made, (-1,)), 0
    index = [slice(None)] * made.ndim
    indices = indices if isinstance(indices, Array) else np.asarray(indices)
    index[normalize_axis_index(axis, made.ndim)] = indices  # type: ignore[call-overload]
    found = made[tuple(index)]
    return found if isinstance(found, Array) else array(found)


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """Along a mode the elements at indices, which are others for each fiber."""
    made, indices = array(arr), _numpy(array(indices))
    if axis is None:
        made, axis = reshape(made, (-1,)), 0
    axis = normalize_axis_index(axis, made.ndim)
    shape = np.broadcast_shapes(*(each[:axis] + (1,) + each[axis + 1:] for each in (made.shape, indices.shape)))
    indices = np.broadcast_to(indices, shape[:axis] + (indices.shape[axis],) + shape[axis + 1:])
    made = broadcast_to(made, shape[:axis] + (made.shape[axis],) + shape[axis + 1:])
    places = [indices if mode == axis else np.arange(extent).reshape([-1 if other == mode else 1 for other in range(made.ndim)])
              for mode, extent in enumerate(made.shape)]
    return made[tuple(np.broadcast_arrays(*places))]


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each element so often."""
    made = array(a)
    if axis is None:
        made, axis = reshape(made, (-1,)), 0
    axis = normalize_axis_index(axis, made.ndim)
    counts = np.broadcast_to(_numpy(array(repeats)), (made.shape[axis],))
    if counts.dtype.kind not in "iu":
        raise TypeError(f"elements are repeated a whole number of times, not {counts.dtype}")
    return take(made, np.repeat(np.arange(made.shape[axis]), counts), axis)


def tile(a: Any, reps: Any) -> Any:
    """The array so often along each mode."""
    made = array(a)
    times = tuple(reps) if isinstance(reps, (list, tuple)) else (int(reps),)
    order = builtins.max(made.ndim, len(times))
    made, times = reshape(made, (1,) * (order - made.ndim) + made.shape), (1,) * (order - len(times)) + times
    for mode, count in enumerate(times):
        if count != 1:
            made = take(made, np.tile(np.arange(made.shape[mode]), count), mode)
    return made


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The differences of neighbours along a mode, ``n`` times."""
    made = array(a)._same()
    axis = normalize_axis_index(axis, made.ndim)
    ends = [array(each) for each in (prepend, append) if each is not None]
    if ends:
        shape = (*made.shape[:axis], 1, *made.shape[axis + 1:])
        ends = [broadcast_to(each, shape) if each.ndim < made.ndim else each for each in ends]
        made = concatenate([*(ends[:1] if prepend is not None else []), made, *(ends[-1:] if append is not None else [])], axis)
    for _ in range(n):
        front, back = [slice(None)] * made.ndim, [slice(None)] * made.ndim
        front[axis], back[axis] = slice(1, None), slice(None, -1)
        made = apply(np.not_equal if made.dtype.kind == "b" else np.subtract, made[tuple(front)], made[tuple(back)])
    return made


def replaced(made: Any, index: Any, value: Any) -> Any:
    """A new array with other elements at an index."""
    if not made.is_sparse:
        dense = np.array(_numpy(made))
        dense[plain_index(index)] = plain_index(value)
        return of_numpy(dense)
    value = operand(listed(value) if isinstance(value, (list, tuple)) else value)
    if not getattr(value, "ndim", 0):
        # As in NumPy, a number is converted to the element type, if it has the number.
        number = np.empty((), made.dtype)
        number[()] = value.scalar() if isinstance(value, Array) else value
        if isinstance(index, Array) and index.is_sparse and index.dtype.kind == "b" and index.shape == made.shape:
            found = where(index, number[()], made)
            return found.prune() if number == made.fill else found
        news: Any = number[()]
    else:
        with np.errstate(all="ignore"):
            news = _structure.entries(value) if value.is_sparse else _numpy(value)
    found = _structure.assigned(made, own_index(index), news)
    return of_entries(found, None if isinstance(found, _structure.Rows) else made._whole.format)


def assign(made: Any, index: Any, value: Any) -> None:
    """Other elements at an index of an array, which gets new contents."""
    if made.is_sparse:
        made._become(replaced(made, index, value))
    else:
        elements = plain_index(value)
        made._to_write()[plain_index(index)] = elements


def become(made: Any, found: Any) -> None:
    """An array gets the elements of another of this shape, whose type is converted as by NumPy's functions with ``out=``."""
    if found.shape != made.shape:
        raise ValueError(f"an array of the shape {made.shape} does not get elements of the shape {found.shape}")
    if not np.can_cast(found.dtype, made.dtype, "same_kind"):
        raise TypeError(f"an array of {made.dtype} does not get elements {found.dtype}: write a new array, or astype")
    made._become(astype(found, made.dtype, copy=False))


# Reductions.


def _axes(axis: Any, order: int) -> tuple[int, ...]:
    return tuple(range(order)) if axis is None else normalize_axis_tuple(axis, order)


def _kept(made: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    return expand_dims(made, axes) if keepdims and axes else made


def _begun(ufunc: np.ufunc, found: Any, initial: Any) -> Any:
    """A reduction that begins with a value."""
    return found if initial is None else apply(ufunc, found, initial)


def _restricted(a: Any, where_: Any, identity: Any) -> Any:
    """The elements that a mask chooses for a reduction, and its identity elsewhere."""
    made = array(a)
    if where_ is None or where_ is True:
        return made
    return where(broadcast_to(array(where_), np.broadcast_shapes(made.shape, array(where_).shape)), made, made.dtype.type(identity))


def sum(a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False, initial: Any = None, where: Any = None) -> Any:
    """The sum over modes, of whole numbers in at least 64 bits."""
    made = _restricted(a, where, 0)
    axes = _axes(axis, made.ndim)
    dtype = _total(made.dtype) if dtype is None else np.dtype(dtype)
    if dtype.kind == "b" or made.dtype.kind == "c" != dtype.kind or made.dtype.kind == "f" and dtype.kind in "iu":
        made = astype(made, dtype, copy=False)
    labels = tuple(range(made.ndim))
    found = _contract((made,), (labels,), [mode for mode in labels if mode not in axes], dtype, lambda x: np.sum(x, axis=axes, dtype=dtype))
    return _begun(np.add, _kept(found, axes, keepdims), initial)


def _total(dtype: np.dtype) -> np.dtype:
    """The element type of a sum, as NumPy has it."""
    if dtype.kind in "bi" and dtype.itemsize < 8:
        return np.dtype(np.int64)
    return np.dtype(np.uint64) if dtype.kind == "u" else dtype


def _reduction(ufunc: np.ufunc, a: Any, axis: Any, keepdims: bool, dtype: np.dtype) -> Any:
    made = array(a)
    axes = _axes(axis, made.ndim)
    if not made.is_sparse:
        return of_numpy(ufunc.reduce(_numpy(made), axis=axes, dtype=None if dtype.kind == "b" else dtype, keepdims=keepdims))
    return _kept(_made(_structure.reduced(ufunc, _structure.fibers(made, axes), axes, dtype)) if axes else astype(made, dtype), axes, keepdims)


def prod(a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False, initial: Any = None, where: Any = None) -> Any:
    """The product over modes, of whole numbers in at least 64 bits."""
    made = _restricted(a, where, 1)
    found = _reduction(np.multiply, made, axis, keepdims, _total(made.dtype) if dtype is None else np.dtype(dtype))
    return _begun(np.multiply, found, initial)


def _extreme(ufunc: np.ufunc, a: Any, axis: Any, keepdims: bool, initial: Any, where_: Any) -> Any:
    if where_ is not None and where_ is not True and initial is None:
        raise ValueError("a greatest or least element of those that where= chooses begins with initial=")
    made = _restricted(a, where_, initial)
    return _begun(ufunc, _reduction(ufunc, made, axis, keepdims, made.dtype), initial)


def max(a: Any, axis: Any = None, out: None = None, keepdims: bool = False, initial: Any = None, where: Any = None) -> Any:
    """The greatest element over modes; NaN if there is one."""
    return _extreme(np.maximum, a, axis, keepdims, initial, where)


def min(a: Any, axis: Any = None, out: None = None, keepdims: bool = False, initial: Any = None, where: Any = None) -> Any:
    """The least element over modes; NaN if there is one."""
    return _extreme(np.minimum, a, axis, keepdims, initial, where)


def any(a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None) -> Any:
    """Whether an element is not zero, over modes."""
    return _reduction(np.logical_or, _restricted(a, where, 0), axis, keepdims, np.dtype(bool))


def all(a: Any, axis: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None) -> Any:
    """Whether no element is zero, over modes."""
    return _reduction(np.logical_and, _restricted(a, where, 1), axis, keepdims, np.dtype(bool))


def _without_nan(a: Any, instead: Any) -> Any:
    """The elements, with a number in place of NaN."""
    made = array(a)
    return made if made.dtype.kind not in "fc" else where(apply(np.isnan, made), made.dtype.type(instead), made)


def nansum(a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """The sum over modes of the elements that are not NaN."""
    return sum(_without_nan(a, 0), axis, dtype, None, keepdims)


def nanprod(a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """The product over modes of the elements that are not NaN."""
    return prod(_without_nan(a, 1), axis, dtype, None, keepdims)


def nanmax(a: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """The greatest element over modes of those that are not NaN."""
    return _extreme(np.fmax, a, axis, keepdims, None, None)


def nanmin(a: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """The least element over modes of those that are not NaN."""
    return _extreme(np.fmin, a, axis, keepdims, None, None)


def nanmean(a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """The mean over modes of the elements that are not NaN."""
    made = array(a)
    if made.dtype.kind not in "fc":
        return mean(made, axis, dtype, None, keepdims)
    counts = sum(apply(np.equal, made, made), axis, keepdims=keepdims)
    return astype(apply(np.true_divide, nansum(made, axis, dtype, None, keepdims), counts), dtype or made.dtype, copy=False)


def nanvar(a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """The variance over modes of the elements that are not NaN."""
    return _variance(np.nanvar, array(a), axis, dtype, ddof, keepdims)


def nanstd(a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """The standard deviation over modes of the elements that are not NaN."""
    return apply(np.sqrt, nanvar(a, axis, dtype, None, ddof, keepdims))


def nanargmax(a: Any, axis: Any = None, out: None = None, *, keepdims: bool = False) -> Any:
    """The index of the first greatest element that is not NaN."""
    return argmax(_without_nan(a, -np.inf), axis, keepdims=keepdims)


def nanargmin(a: Any, axis: Any = None, out: None = None, *, keepdims: bool = False) -> Any:
    """The index of the first least element that is not NaN."""
    return argmin(_without_nan(a, np.inf), axis, keepdims=keepdims)


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """How many elements are not zero, over modes."""
    made = array(a)
    return sum(made if made.dtype.kind == "b" else apply(np.not_equal, made, 0), axis=axis, keepdims=keepdims)


def mean(a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """The mean over modes."""
    made = array(a)
    dtype = np.dtype(dtype) if dtype is not None else made.dtype if made.dtype.kind in "fc" else np.dtype(np.float64)
    count = math.prod(made.shape[mode] for mode in _axes(axis, made.ndim))
    inner = np.dtype(np.float32) if dtype.char == "e" else dtype
    found = apply(np.true_divide, sum(made, axis, inner, keepdims=keepdims), inner.type(count))
    return astype(found, dtype, copy=False)


def var(a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: float = 0, keepdims: bool = False, *, correction: float | None = None) -> Any:
    """The variance over modes: the mean of squared distances from the mean, of ``count - ddof``."""
    return _variance(np.var, array(a), axis, dtype, ddof if correction is None else correction, keepdims)


def _variance(call: Callable[..., Any], made: Any, axis: Any, dtype: Any, ddof: float, keepdims: bool) -> Any:
    axes = _axes(axis, made.ndim)
    if not made.is_sparse:
        with np.errstate(all="ignore"):
            return of_numpy(np.asarray(call(_numpy(made), axis=axes, dtype=dtype, ddof=ddof, keepdims=keepdims)))
    dtype = np.dtype(dtype) if dtype is not None else made.dtype if made.dtype.kind in "fc" else np.dtype(np.float64)
    # As in NumPy, halves are summed up with more digits.
    inner = np.dtype(np.float32) if dtype.char == "e" else dtype
    found = _made(_structure.variance(_structure.fibers(made, axes), axes, ddof, inner, skips_nan=call is np.nanvar))
    return _kept(astype(found, dtype.type(0).real.dtype, copy=False), axes, keepdims)


def std(a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: float = 0, keepdims: bool = False, *, correction: float | None = None) -> Any:
    """The standard deviation over modes: the square root of :func:`var`."""
    return apply(np.sqrt, var(a, axis, dtype, None, ddof, keepdims, correction=correction))


def _best(a: Any, axis: Any, keepdims: bool, is_least: bool) -> Any:
    made = array(a)
    if not made.is_sparse:
        return of_numpy(np.asarray((np.argmin if is_least else np.argmax)(_numpy(made), axis=axis, keepdims=keepdims)))
    axes = _axes(axis, made.ndim)
    return _kept(_made(_structure.best(_structure.entries(made), axes, is_least)), axes, keepdims)


def argmax(a: Any, axis: int | None = None, out: None = None, *, keepdims: bool = False) -> Any:
    """The index of the first greatest element along a mode, or its row-major place among all."""
    return _best(a, axis, keepdims, is_least=False)


def argmin(a: Any, axis: int | None = None, out: None = None, *, keepdims: bool = False) -> Any:
    """The index of the first least element along a mode, or its row-major place among all."""
    return _best(a, axis, keepdims, is_least=True)


def _cumulative(call: Callable[..., Any], a: Any, axis: Any, dtype: Any) -> Any:
    # Whatever is summed up is everywhere behind the first entry.
    return of_numpy(call(_numpy(array(a)), axis=axis, dtype=dtype))


def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
    """The sums up to each element along a mode: a dense array."""
    return _cumulative(np.cumsum, a, axis, dtype)


def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Any:
    """The products up to each element along a mode: a dense array."""
    return _cumulative(np.cumprod, a, axis, dtype)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """``numpy.linalg.norm``: of vectors by order, of matrices 'fro', 1, -1, inf and -inf."""
    made = array(x)
    if axis is None and (ord is None or made.ndim == 1):
        made, axes = (reshape(made, (-1,)), (0,)) if not keepdims else (made, tuple(range(made.ndim)))
    else:
        axes = _axes(axis, made.ndim)
    sizes = apply(np.absolute, made if made.dtype.kind in "fc" else astype(made, float))
    if len(axes) == 2 and ord not in (None, "fro"):
        if ord not in (1, -1, np.inf, -np.inf):
            raise ValueError(f"ord={ord!r}: of sparse matrices there are 'fro', 1, -1, inf and -inf; write svds for others")
        inner, outer_ = axes if builtins.abs(ord) == 1 else axes[::-1]
        made = (max if ord > 0 else min)(sum(sizes, inner, keepdims=True), outer_, keepdims=True)
        return made if keepdims else squeeze(made, axes)
    if ord in (None, 2, "fro"):
        return apply(np.sqrt, sum(apply(np.square, sizes), axes, keepdims=keepdims))
    if ord in (np.inf, -np.inf):
        return (max if ord > 0 else min)(sizes, axes, keepdims=keepdims)
    if ord == 0:
        return astype(count_nonzero(sizes, axes, keepdims=keepdims), sizes.dtype)
    return apply(np.power, sum(sizes if ord == 1 else apply(np.power, sizes, ord), axes, keepdims=keepdims), 1 / ord)


def matrix_power(a: Any, n: int) -> Any:
    """The product of so many of a square matrix."""
    made = array(a)
    if made.ndim != 2 or made.shape[0] != made.shape[1] or n < 1:
        return _fallback(np.linalg.matrix_power, (made, n), {}, "linalg.matrix_power")
    found = None
    while n:
        if n & 1:
            found = made._same() if found is None else matmul(found, made)
        n >>= 1
        if n:
            made = matmul(made, made).compute()
    return found


# Searching and orders.


def nonzero(a: Any) -> tuple[Any, ...]:
    """The indices of elements that are not zero: an array for each mode."""
    made = array(a)
    if not made.ndim:
        raise ValueError("an array without modes has no indices: write reshape(a, (1,))")
    return tuple(of_numpy(mode.astype(np.int64)) for mode in _structure.true_places(made))


def argwhere(a: Any) -> Any:
    """The indices of elements that are not zero, in rows."""
    return of_numpy(np.stack(_structure.true_places(array(a)), axis=-1).astype(np.int64))


def sort(a: Any, axis: int | None = -1, *, descending: bool = False, stable: bool = True, kind: Any = None, order: None = None) -> Any:
    """The elements in order along a mode."""
    made = array(a)
    if axis is None:
        made, axis = reshape(made, (-1,)), 0
    axis = normalize_axis_index(axis, made.ndim)

    def dense(x: np.ndarray) -> np.ndarray:
        found = np.sort(x, axis=axis, stable=True)
        return np.flip(found, axis) if descending else found

    return _structural(made, dense, lambda x: _structure.sorted_along(x, axis, descending))


def argsort(a: Any, axis: int | None = -1, *, descending: bool = False, stable: bool = True, kind: Any = None, order: None = None) -> Any:
    """The indices that put the elements in order along a mode: a dense array."""
    made = array(a)
    if axis is None:
        made, axis = reshape(made, (-1,)), 0
    dense = _numpy(made)
    if not descending:
        return of_numpy(np.argsort(dense, axis=axis, stable=True))
    # Equal elements stay in order.
    found = np.flip(np.argsort(np.flip(dense, axis), axis=axis, stable=True), axis)
    return of_numpy(dense.shape[axis] - 1 - found)


def unique(ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: None = None, *,
           equal_nan: bool = True, sorted: bool = True) -> Any:
    """The distinct elements in order, with the number of each at its places, and how often each is there, where asked for."""
    made = array(ar)
    if axis is not None or return_index:
        return _fallback(np.unique, (made,), dict(return_index=return_index, return_inverse=return_inverse, return_counts=return_counts, axis=axis,
                                                  equal_nan=equal_nan))
    values, counts, inverse = _structure.unique(_structure.entries(made), equal_nan)
    numbers = of_entries(inverse) if made.is_sparse else of_numpy(inverse.values.reshape(made.shape))
    found = [of_numpy(values), *([numbers] if return_inverse else []), *([of_numpy(counts)] if return_counts else [])]
    return tuple(found) if len(found) > 1 else found[0]


# NumPy's protocols.


_UFUNCS: dict[np.ufunc, Callable[..., Any]] = {np.matmul: matmul, np.vecdot: vecdot, np.power: power, np.divmod: divmod}
_REDUCTIONS: dict[np.ufunc, Callable[..., Any]] = {
    np.add: sum, np.multiply: prod, np.maximum: max, np.minimum: min, np.logical_and: all, np.logical_or: any}


def _no_more(options: dict[str, Any]) -> None:
    left = {name: value for name, value in options.items() if value is not None and value is not np._NoValue}
    if left:
        raise TypeError(f"arrays of spc take no {next(iter(left))}= here")


def of_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A call of a ufunc of NumPy's with an array of ours among its operands."""
    outs = options.pop("out", None)
    if not builtins.all(is_operand(value) for value in inputs):
        return NotImplemented
    found = _called(ufunc, method, inputs, options)
    if outs is None:
        return found
    for out, made in zip(outs, found if isinstance(found, tuple) else (found,)):
        written(out, made, ufunc.__name__)
    return outs if len(outs) > 1 else outs[0]


def written(out: Any, made: Any, name: str) -> Any:
    """A result in ``out=``: an array of ours, which becomes the result, or of NumPy's, which it is written to."""
    if isinstance(out, Array):
        become(out, made)
    elif isinstance(out, np.ndarray):
        np.copyto(out, made.to_numpy(), casting="same_kind")
    elif out is not None:
        raise TypeError(f"{name}: out= is an array of spc's or of NumPy's, not {type(out).__name__}")
    return out


def _called(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    if method == "__call__" and not builtins.any(key in options for key in ("where", "axes", "axis", "signature", "keepdims")):
        dtype = options.get("dtype")
        inputs = inputs if dtype is None else tuple(astype(array(value), dtype, copy=False) for value in inputs)
        if ufunc in _UFUNCS:
            return _UFUNCS[ufunc](*inputs)
        if ufunc.signature is None and ufunc.nout == 1:
            return apply(ufunc, *inputs)
        if ufunc.signature is None and ufunc.nin == 1:
            made = array(inputs[0])
            loop, *dtypes = ufunc.resolve_dtypes((made.dtype, *(None,) * ufunc.nout))
            parts = (Function(f"{ufunc.__name__} {place}", functools.partial(_part, ufunc, place), [loop], dtype) for place, dtype in enumerate(dtypes))
            return tuple(_map(part, [made]) for part in parts)
    elif method == "reduce" and ufunc in _REDUCTIONS and options.get("where", True) is True:
        allowed = {name: options[name] for name in ("axis", "dtype", "keepdims", "initial") if options.get(name) is not None or name == "axis" and name in options}
        return _REDUCTIONS[ufunc](*inputs, **({"axis": 0} | allowed))
    elif method == "outer" and not options:
        a, b = map(array, inputs)
        return apply(ufunc, reshape(a, a.shape + (1,) * b.ndim), b)
    return _fallback(getattr(ufunc, method), inputs, options, ufunc.__name__)


def _part(ufunc: np.ufunc, place: int, values: Any) -> Any:
    """One of the results of a function that has several."""
    return ufunc(values)[place]


def _refused(what: str) -> Any:
    raise TypeError(f"{what}: write .to_numpy() of the sparse array where a dense one is meant, or .to_scipy()")


def _fallback(function: Callable[..., Any], args: Any, options: Any, name: str | None = None) -> Any:
    """A function of NumPy's that has no form for sparse arrays, of dense ones."""
    name = name or getattr(function, "__name__", str(function))

    def plain(value: Any) -> Any:
        if isinstance(value, Array):
            return _refused(f"numpy.{name} takes no sparse array") if value.is_sparse else _numpy(value)
        return type(value)(map(plain, value)) if type(value) in (list, tuple) else value

    found = function(*map(plain, args), **{name: plain(value) for name, value in options.items()})
    return _wrapped(found)


def _wrapped(found: Any) -> Any:
    if isinstance(found, (np.ndarray, np.generic)) and found.dtype in _convert.NAMES:
        return of_numpy(np.asarray(found))
    return type(found)(map(_wrapped, found)) if type(found) in (list, tuple) else found


def shape_of(a: Any) -> tuple[int, ...]:
    return array(a).shape


def full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None, **options: Any) -> Any:
    """An array of one value: it is the fill value, and nothing is stored, if the array is sparse."""
    made = array(a)
    shape, dtype = tuple(made.shape if shape is None else shape), made.dtype if dtype is None else np.dtype(dtype)
    if not made.is_sparse or not shape:
        return of_numpy(np.full(shape, fill_value, dtype))
    return of_entries(nothing(shape, dtype)._replace(fill=dtype.type(fill_value)))


def zeros_like(a: Any, dtype: Any = None, shape: Any = None, **options: Any) -> Any:
    """Zeros, of which none is stored if the array is sparse."""
    return full_like(a, 0, dtype, shape)


def ones_like(a: Any, dtype: Any = None, shape: Any = None, **options: Any) -> Any:
    """Ones, which are the fill value if the array is sparse."""
    return full_like(a, 1, dtype, shape)


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    getattr(np, name): globals()[name] for name in (
        "sum prod max min mean var std any all argmax argmin cumsum cumprod count_nonzero where clip round real imag nan_to_num isclose allclose "
        "array_equal interp dot tensordot outer inner vdot kron einsum transpose matrix_transpose swapaxes moveaxis expand_dims squeeze broadcast_to "
        "broadcast_arrays diagonal trace reshape ravel concatenate stack vstack hstack atleast_2d roll flip tril triu take take_along_axis repeat "
        "tile diff nonzero argwhere sort argsort unique astype nansum nanprod nanmax nanmin nanmean nanvar nanstd nanargmax nanargmin pad diag split array_split zeros_like ones_like full_like").split()
    if hasattr(np, name)
} | {
    np.shape: shape_of, np.ndim: lambda a: array(a).ndim, np.size: lambda a, axis=None: array(a).size if axis is None else array(a).shape[axis],
    np.linalg.norm: norm, np.copy: lambda a, **_: array(a).copy(), np.iscomplexobj: lambda x: x.dtype.kind == "c",
    np.isrealobj: lambda x: x.dtype.kind != "c", np.fliplr: lambda m: flip(m, 1), np.flipud: lambda m: flip(m, 0),
    np.amax: max, np.amin: min, np.nancumsum: lambda a, axis=None, dtype=None: cumsum(_without_nan(a, 0), axis, dtype),
    np.linalg.matrix_power: matrix_power, np.empty_like: zeros_like,
    np.result_type: lambda *values: np.result_type(*(value.dtype if isinstance(value, Array) else value for value in values)),
    np.can_cast: lambda from_, to, casting="safe": np.can_cast(from_.dtype, to, casting),
}


def nothing(shape: Any, dtype: Any) -> _structure.Entries:
    shape, dtype = tuple(shape), np.dtype(dtype)
    return _structure.Entries(shape, tuple(np.zeros(0, np.int64) for _ in shape), np.zeros(0, dtype), dtype.type(0))


def of_function(function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A call of a function of NumPy's with an array of ours among its arguments."""
    made = _FUNCTIONS.get(function)
    if made is None:
        return _fallback(function, args, options)
    out = options.pop("out", None)
    options = {name: value for name, value in options.items() if value is not np._NoValue}
    found = made(*args, **options)
    return found if out is None else written(out, found, function.__name__)
