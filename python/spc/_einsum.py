"""Einsum strings as index notation: what they mean is decided by the compiler, what their operands are promoted to by NumPy."""

from __future__ import annotations

import operator
import re
from typing import Any, NamedTuple, Sequence

import numpy as np

from . import _convert, _native


class EinsumError(SyntaxError):
    """An einsum string that says nothing."""


LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def is_einsum(text: str) -> bool:
    """Whether a text is an einsum string as ``"ij,j->i"``: index notation has an equals sign."""
    return "=" not in text and "{" not in text


def text_of(operands: Sequence[Any]) -> tuple[str, list[Any]]:
    """The string and the operands of an einsum, which has lists of labels in place of the string: ``einsum(A, [0, 1], x, [1], [0])``."""
    if not operands:
        raise ValueError("einsum takes a string and operands, or operands with lists of labels")
    if isinstance(operands[0], str):
        return operands[0], list(operands[1:])
    given, lists = list(operands[0:-1:2]), list(operands[1::2])
    known: dict[int, str] = {}

    def text(labels: Any) -> str:
        return "".join("..." if label is Ellipsis else known.setdefault(operator.index(label), LETTERS[len(known)]) for label in labels)

    if len(operands) % 2:
        result = operands[-1]
        # In the order of the labels, which an implicit result is sorted by.
        for label in sorted({label for each in lists for label in each if label is not Ellipsis}):
            text([label])
        return f"{','.join(map(text, lists))}->{text(result)}", given
    for label in sorted({label for each in lists for label in each if label is not Ellipsis}):
        text([label])
    return ",".join(map(text, lists)), given


def order(operand: Any) -> int | None:
    """The number of modes of an operand, if it says so."""
    return 0 if isinstance(operand, (bool, int, float, complex)) else getattr(operand, "ndim", None)


class Operands(NamedTuple):
    """What the notation of an einsum string depends on, beside the string."""

    #: Of each operand the order, where the string has an ellipsis.
    orders: tuple[int | None, ...]
    #: The element type that each is converted to in the kernel, if to one.
    casts: tuple[str | None, ...]
    #: The modes of one index.
    ones: tuple[tuple[int, ...], ...]
    #: The first operand that is the same object.
    same: tuple[int, ...]
    #: The element type of the result, where operands have several, or truth values.
    element: str | None

    @classmethod
    def of(cls, operands: tuple[Any, ...], has_ellipsis: bool, merges: bool) -> Operands:
        orders = tuple(order(operand) if has_ellipsis else None for operand in operands)
        kinds = [type(operand) if isinstance(operand, (bool, int, float, complex)) and not isinstance(operand, np.generic)
                 else getattr(operand, "dtype", None) for operand in operands]
        dtypes = {kind for kind in kinds if isinstance(kind, np.dtype)}
        is_known = all(kind in _convert.NAMES if isinstance(kind, np.dtype) else isinstance(kind, type) for kind in kinds)
        casts: tuple[str | None, ...] = (None,) * len(operands)
        element = None
        if is_known and dtypes and (len(dtypes) > 1 or len(dtypes) < len(set(kinds))):
            common = np.result_type(*(kind(0) if isinstance(kind, type) else kind for kind in kinds))
            element = _convert.element(common)
            casts = tuple(None if kind == common else _convert.computed(common) for kind in kinds)
        elif is_known and dtypes == {np.dtype(bool)}:
            element = "bool"
        shapes = [getattr(operand, "shape", ()) for operand in operands]
        ones = tuple(tuple(mode for mode, extent in enumerate(shape) if extent == 1) if 1 in shape else () for shape in shapes)
        identities = [id(operand) for operand in operands]
        same = tuple(identities.index(each) for each in identities) if merges else tuple(range(len(operands)))
        return cls(orders, casts, ones, same, element)

    def given(self, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        """The operands that the kernel takes. A number of NumPy's is one of Python's, of the element type that the kernel declares."""
        return tuple(_plain(operand) for number, operand in enumerate(operands) if self.same[number] == number)


def _plain(operand: Any) -> Any:
    is_scalar = isinstance(operand, np.generic) or type(operand) is np.ndarray and operand.ndim == 0
    return np.asarray(operand) if is_scalar else operand


class Translation(NamedTuple):
    text: str
    result: str
    order: int
    #: The number of indices of each operand.
    counts: list[int]


def translate(text: str, said: Operands) -> Translation:
    """The assignment that an einsum string means.

    >>> translate("ij,j->i", Operands.of((A, x), False, True)).text       # of whole numbers and floats
    'R(i) = f64(A(i, j)) * B(j)'
    """
    try:
        notation, result, operands = _native._einsum(text, list(said.orders))
    except SyntaxError as error:
        raise EinsumError(str(error)) from None
    if len(operands) != len(said.orders):
        place = max(text.index("->") if "->" in text else len(text), 1) - 1
        message = f"the string has {len(operands)} operands, and there are {len(said.orders)}"
        raise EinsumError(f"{message}\n  {text}\n  {' ' * place}^")
    counts = [count for _, count in operands]
    target, _, product = notation.partition(" = ")
    accesses = [_access(factor) for factor in product.split(" * ")]
    if [len(indices) for _, indices in accesses] != counts:
        raise EinsumError(f"{text!r} is read as {notation!r}, which is no product of its operands")
    # An index of one value in this operand, and of more in another, is 0 here.
    longer = {index for (_, indices), ones in zip(accesses, said.ones) for mode, index in enumerate(indices) if mode not in ones}
    factors = []
    for (_, indices), ones, cast, same in zip(accesses, said.ones, said.casts, said.same):
        at = ["0" if mode in ones and index in longer else index for mode, index in enumerate(indices)]
        name = accesses[same][0]
        access = f"{name}({', '.join(at)})" if at else name
        factors.append(f"{cast}({access})" if cast else access)
    of_result = _access(target)[1]
    if said.element == "bool":
        summed = sorted({index for _, indices in accesses for index in indices} - set(of_result))
        inner = " && ".join(factors)
        return Translation(f"{target} = any({', '.join(summed)})({inner})" if summed else f"{target} = {inner}", result, len(of_result), counts)
    return Translation(f"{target} = {' * '.join(factors)}", result, len(of_result), counts)


def _access(text: str) -> tuple[str, list[str]]:
    name, _, indices = text.partition("(")
    return name, re.findall(r"\w+", indices)
