"""Einsum strings as index notation."""

from __future__ import annotations


class EinsumError(SyntaxError):
    """An einsum string that says nothing."""


def _refuse(text: str, place: int, message: str) -> EinsumError:
    return EinsumError(f"{message}\n  {text}\n  {' ' * place}^")


def is_einsum(text: str) -> bool:
    """Whether a text is an einsum string as ``"ij,j->i"``: index notation has an equals sign."""
    return "=" not in text and "{" not in text


def translate(text: str, count: int) -> tuple[str, list[str], list[str]]:
    """The assignment that an einsum string of ``count`` operands means, the operands' names, and the indices of each.

    >>> translate("ij,j->i", 2)
    ('R(i) = T0(i, j) * T1(j)', ['T0', 'T1'], ['ij', 'j'])
    """
    if "." in text:
        raise _refuse(text, text.index("."), "an ellipsis says no number of modes: write an index for each")
    left, arrow, right = text.partition("->")
    parts: list[str] = []
    place = 0
    for part in left.split(","):
        for offset, letter in enumerate(part):
            if letter != " " and not (letter.isascii() and letter.isalpha()):
                raise _refuse(text, place + offset, f"an index is a letter, and {letter!r} is none")
        parts.append(part.replace(" ", ""))
        place += len(part) + 1
    if len(parts) != count:
        end = text.index("->") if arrow else len(text)
        raise _refuse(text, max(end - 1, 0), f"the string has {len(parts)} operands, and there are {count}")
    if arrow:
        result = right.replace(" ", "")
        start = len(left) + 2
        for offset, letter in enumerate(right):
            if letter == " ":
                continue
            if not any(letter in part for part in parts):
                raise _refuse(text, start + offset, f"no operand has the index {letter!r}")
            if right.count(letter) > 1:
                raise _refuse(text, start + offset, f"the result has the index {letter!r} twice")
    else:
        letters = "".join(parts)
        result = "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    names = [f"T{number}" for number in range(count)]

    def access(name: str, indices: str) -> str:
        return f"{name}({', '.join(map(_index, indices))})" if indices else name

    product = " * ".join(access(name, part) for name, part in zip(names, parts))
    return f"{access('R', result)} = {product}", names, parts


def _index(letter: str) -> str:
    # Tensors and indices share no names: `R` and `T0` are tensors here.
    return f"{letter}_" if letter.isupper() else letter
