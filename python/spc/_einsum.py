"""Einsum strings as index notation: what they mean is decided by the compiler."""

from __future__ import annotations

from collections.abc import Sequence

from . import _native


class EinsumError(SyntaxError):
    """An einsum string that says nothing."""


def is_einsum(text: str) -> bool:
    """Whether a text is an einsum string as ``"ij,j->i"``: index notation has an equals sign."""
    return "=" not in text and "{" not in text


def translate(text: str, orders: Sequence[int | None]) -> tuple[str, str, list[str], list[int]]:
    """The assignment that an einsum string means for operands of these orders (``None`` for one that is not known), the name of the
    result, the operands' names, and the number of indices of each.

    >>> translate("ij,j->i", [None, None])
    ('R(i) = A(i, j) * B(j)', 'R', ['A', 'B'], [2, 1])
    """
    try:
        notation, result, operands = _native._einsum(text, list(orders))
    except SyntaxError as error:
        raise EinsumError(str(error)) from None
    if len(operands) != len(orders):
        place = max(text.index("->") if "->" in text else len(text), 1) - 1
        message = f"the string has {len(operands)} operands, and there are {len(orders)}"
        raise EinsumError(f"{message}\n  {text}\n  {' ' * place}^")
    return notation, result, [name for name, _ in operands], [order for _, order in operands]
