"""Kernels as functions of plain arrays, for frameworks whose operators take no sparse tensors.

A sparse operand comes in as its arrays of indices and its values, and sizes that no array has come as a list of integers:

    y(i) = A(i,j) * x(j)   with a CSR matrix A   →   (indptr, indices, values, x), [rows, columns] → (y,)

The gradient of such a function is one of the same kind, so it has a gradient, too.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, Callable, Iterator, NamedTuple, Sequence

import numpy as np

from . import _convert, _native
from ._array import Array
from ._kernel import Kernel, indices


class Operand(NamedTuple):
    """How an operand is stored: ``dense``, ``csr``, ``csc``, ``coo``, or ``map``, an array of indices."""

    kind: str
    order: int

    @property
    def is_sparse(self) -> bool:
        return self.kind in ("csr", "csc", "coo")

    @property
    def arrays(self) -> int:
        return {"csr": 3, "csc": 3, "coo": 2}.get(self.kind, 1)

    @property
    def sizes(self) -> int:
        """How many integers say the shape: that of a dense operand is known, and an array of indices has the extent of the mode it indexes."""
        return {"dense": 0, "map": 1}.get(self.kind, self.order)

    @property
    def format(self) -> str:
        return {"map": "map", "coo": "coo" if self.order > 1 else "csf"}.get(self.kind, self.kind)


class Result(NamedTuple):
    """How a result is stored: as an operand, or, with ``like``, as values of the entries of an input."""

    operand: Operand
    like: str | None

    @property
    def arrays(self) -> int:
        return 1 if self.like else self.operand.arrays


class Source(NamedTuple):
    """Where a gradient has an input from: an ``input``, what the loss gains by a ``result``, or by one with the entries of an input (``like``)."""

    kind: str
    name: str


# How an index array is kept from call to call: by what it is (kind and sizes), its arrays, and what makes it.
Keep = Callable[[Any, Sequence[np.ndarray], Callable[[], _native.Storage]], _native.Storage]

_LEVELS = {
    "csr": "[dense, compressed{}]",
    "csc": "(i, j) -> [j: dense, i: compressed{}]",
}


class Flat:
    """A kernel for operands that are stored in some way, as a function of arrays."""

    def __init__(self, text: str, formats: dict[str, str], operands: dict[str, Operand], *, likes: dict[str, str] | None = None,
                 dimensions: dict[str, int] | None = None, backend: str | None = None, deterministic: bool = False, warns: bool = True):
        likes = likes or {}
        for result, name in likes.items():
            if name not in operands or not operands[name].is_sparse:
                raise TypeError(f"`{result}` has the entries of `{name}`, which is no sparse operand")
        self.text, self.operands, self._likes = text, operands, likes
        self._options: dict[str, Any] = {"dimensions": dimensions, "backend": backend, "deterministic": deterministic}
        if "{" not in text:
            formats = formats | {result: operands[name].format for result, name in likes.items()}
        self.kernel = Kernel(text, formats, warns=warns, **self._options)
        self.results = {name: self._result(name) for name in self.kernel.results}
        said = repr((text, sorted(formats.items()), sorted(operands.items()), sorted(likes.items()), sorted((dimensions or {}).items()),
                     backend, deterministic))
        self.digest = hashlib.sha256(said.encode()).hexdigest()[:16]
        self._rules = _Rules(text, self.kernel, dimensions or {})
        self._gradients: dict[Any, tuple[Flat, list[Source]]] = {}

    def _result(self, name: str) -> Result:
        _, format, order = self.kernel._declared[name]
        if name in self._likes:
            return Result(self.operands[self._likes[name]], self._likes[name])
        levels = format.partition("[")[2].rstrip("]").split(", ") if order else []
        if all(level.endswith("dense") for level in levels):
            return Result(Operand("dense", order), None)
        for kind in ("csr", "csc", "coo"):
            if order == 2 or kind == "coo" and order > 2:
                if _native._format(kind, order) == format:
                    return Result(Operand(kind, order), None)
        raise TypeError(f"the result `{name}` is {format}: here results are dense, csr, csc, coo, or \"like\" an input")

    @property
    def arrays(self) -> list[tuple[str, int]]:
        """The arrays that it takes: the name of an operand, and the number of the array of it. Values are the last."""
        return [(name, number) for name, operand in self.operands.items() for number in range(operand.arrays)]

    def values(self, name: str) -> int:
        """The place of the values of an operand among the arrays."""
        return self.arrays.index((name, self.operands[name].arrays - 1))

    def _by_operand(self, arrays: Sequence[Any], sizes: Sequence[Any]) -> Iterator[tuple[str, Operand, Sequence[Any], Sequence[Any]]]:
        array = size = 0
        for name, operand in self.operands.items():
            yield name, operand, arrays[array:array + operand.arrays], sizes[size:size + operand.sizes]
            array, size = array + operand.arrays, size + operand.sizes

    def of(self, name: str, arrays: Sequence[Any], sizes: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """The arrays and sizes of an operand."""
        return next((own, known) for found, _, own, known in self._by_operand(arrays, sizes) if found == name)

    def run(self, arrays: Sequence[np.ndarray], sizes: Sequence[int], keep: Keep | None = None) -> list[np.ndarray]:
        """The arrays of the results, one after another."""
        values = [_given(name, operand, own, known, keep) for name, operand, own, known in self._by_operand(arrays, sizes)]
        kernel, inputs = self.kernel._for(tuple(values), {})
        found: list[np.ndarray] = []
        for (name, result), storage in zip(self.results.items(), kernel.call(inputs)):
            if result.operand.kind == "dense":
                found.append(_convert.numpy_of(storage))
            elif result.like:
                entries = len(self.of(result.like, arrays, sizes)[0][-1])
                stored = _convert.values_of(storage)
                if len(stored) != entries:
                    raise ValueError(f"`{name}` has {len(stored)} entries, and `{result.like}` {entries}: they have not the same entries")
                found.append(stored)
            elif result.operand.kind == "coo":
                coordinates, stored = _convert.entries_of(storage)
                found += [np.stack(coordinates).astype(np.int64), stored]
            else:
                coordinates, positions = _convert._indices(storage, 1)
                found += [positions.astype(np.int64), coordinates.astype(np.int64), _convert.values_of(storage)]
        return found

    def elements(self, dtypes: dict[str, np.dtype]) -> dict[str, np.dtype]:
        """The element types of results, for element types of operands."""
        declared = self._formats(dtypes) if not self.kernel._is_whole else {}
        return {name: np.dtype(_convert._DTYPES[declared[name].split()[0] if declared else self.kernel._declared[name][0]])
                for name in self.results}

    def shapes(self, arrays: Sequence[Sequence[Any]], sizes: Sequence[Any]) -> dict[str, tuple[Any, ...]]:
        """The shapes of results, for shapes of the arrays.

        They follow from the notation, so that extents may be symbols; where indices are computed, integers are needed.
        """
        known = {name: _shape(operand, own, each) for name, operand, own, each in self._by_operand(arrays, sizes)}
        rules = {name: self._rules.of(name, result.operand.order) for name, result in self.results.items()}
        if all(rule is not None for rule in rules.values()):
            return {name: tuple(known[step[0]][step[1]] if isinstance(step, tuple) else step for step in rule or ())
                    for name, rule in rules.items()}
        examples = [_example(operand, np.dtype(np.float64), tuple(map(int, known[name]))) for name, operand in self.operands.items()]
        kernel = Kernel(self.text, self.kernel._formats, warns=False, **{**self._options, "backend": "interpreter"})
        if kernel._is_whole:
            examples = [_example(operand, _convert.dtype_named(kernel._declared[name][0]), tuple(map(int, known[name])))
                        for name, operand in self.operands.items()]
        made, inputs = kernel._for(tuple(examples), {})
        return {name: tuple(storage.shape) for name, storage in zip(self.results, made.call(inputs))}

    def _formats(self, dtypes: dict[str, np.dtype]) -> dict[str, str]:
        examples = [_example(operand, dtypes[name], (1,) * operand.order) for name, operand in self.operands.items()]
        inputs, _ = self.kernel._inputs(examples)
        return dict(self.kernel._formats_for(inputs))

    def gradient(self, by: tuple[str, ...], dtypes: dict[str, np.dtype]) -> tuple[Flat, list[Source]]:
        """The gradient by some inputs, and where it has its inputs from. Its results are in the order of ``by``."""
        key = by, tuple(dtypes.items())
        made = self._gradients.get(key)
        if made is None:
            made = self._gradients[key] = self._gradient(by, dtypes)
        return made

    def _gradient(self, by: tuple[str, ...], dtypes: dict[str, np.dtype]) -> tuple[Flat, list[Source]]:
        formats = [] if self.kernel._is_whole else list(self._formats(dtypes).items())
        text = _native._gradient(self.text, formats, list(by))
        probe = Kernel(text, {}, backend="interpreter", dimensions=None if self.kernel._is_whole else self._options["dimensions"], warns=False)
        sources, operands = [], {}
        for name in probe.inputs:
            if name in self.operands:
                source, operand = Source("input", name), self.operands[name]
            else:
                # Where the kernel has a tensor of that name, it has a number behind it.
                result = name[1:] if name[1:] in self.results else re.sub(r"_[0-9]+$", "", name)[1:]
                source = Source("like" if self.results[result].like else "result", result)
                operand = self.results[result].operand
            sources.append(source)
            operands[name] = operand
        likes = {result: name for result, name in zip(probe.results, by) if self.operands[name].is_sparse}
        # An input that the gradient does not read gives its entries no less.
        for name in likes.values():
            if name not in operands:
                raise TypeError(f"the gradient by `{name}` does not read its entries")
        options = self._options | ({"dimensions": None} if self.kernel._is_whole else {})
        return Flat(text, {}, operands, likes=likes, warns=False, **options), sources

    def __repr__(self) -> str:
        return f"<Flat {self.text!r} of {', '.join(f'{name}: {operand.kind}' for name, operand in self.operands.items())}>"


def _shape(operand: Operand, arrays: Sequence[Sequence[Any]], sizes: Sequence[Any]) -> tuple[Any, ...]:
    if operand.kind == "dense":
        return tuple(arrays[0])
    return (*arrays[0], sizes[0]) if operand.kind == "map" else tuple(sizes)


def _given(name: str, operand: Operand, arrays: Sequence[np.ndarray], sizes: Sequence[int], keep: Keep | None) -> Any:
    """An operand as a kernel takes it."""
    if operand.kind == "dense":
        return arrays[0]
    *pattern, values = arrays if operand.is_sparse else (*arrays, None)

    def make() -> _native.Storage:
        try:
            return _pattern(operand, pattern, list(sizes))
        except (ValueError, IndexError, TypeError) as error:
            raise type(error)(f"`{name}`: {error}") from None

    made = keep((operand, tuple(sizes)), pattern, make) if keep else make()
    return Array(made if values is None else made.with_values(values))


def _pattern(operand: Operand, arrays: Sequence[np.ndarray], sizes: list[int]) -> _native.Storage:
    """A tensor of checked copies of index arrays, with indices of 32 bits where they fit. Values are one byte each, and of no meaning."""
    if operand.kind == "map":
        return indices(arrays[0], sizes[0])._storage
    if operand.kind == "coo":
        coordinates = [np.ascontiguousarray(each) for each in arrays[0]]
        if not len(coordinates[0]):
            return _example(operand, np.dtype(np.int8), tuple(sizes))._storage
        text = _entries(len(sizes), _convert._widths(*coordinates))
        values = np.ones(len(coordinates[0]), np.int8)
        positions = np.array([0, len(values)], coordinates[0].dtype)
        made, _ = _native.Storage.of_arrays(sizes, text, [(positions, coordinates[0]), *((None, each) for each in coordinates[1:])], values)
    else:
        indptr, coordinates_ = arrays
        values = np.ones(len(coordinates_), np.int8)
        text = _LEVELS[operand.kind].format(_convert._widths(indptr, coordinates_))
        made, _ = _native.Storage.of_arrays(sizes, text, [(None, None), tuple(_convert._same(indptr, coordinates_))], values)
    if max(sizes) <= 1 << 32:
        made = made.convert(operand.format)
    if made.nnz != len(values):
        raise ValueError("an entry occurs more than once")
    return made


def _entries(order: int, widths: str) -> str:
    """The format of an array of coordinates for each mode, sorted."""
    if order == 1:
        return f"[compressed{widths}]"
    wide = ", u64" if widths else ""
    first = f"compressed(nonunique{wide}{', pos = u64' if wide else ''})"
    return f"[{', '.join([first, *[f'singleton(nonunique{wide})'] * (order - 1)])}]"


def _example(operand: Operand, dtype: np.dtype, shape: tuple[int, ...]) -> Any:
    """An operand without entries, or of zeros."""
    if operand.kind == "dense":
        return np.zeros(shape, dtype)
    if operand.kind == "map":
        return indices(np.zeros(shape[:-1], np.int64), shape[-1])
    return Array(_native.Storage.of_entries(list(shape), [np.empty(0, np.int64)] * operand.order, np.empty(0, dtype),
                                            _convert.widened(operand.format, shape), "sum"))


_NAME = re.compile(r"[A-Za-z_]\w*")
_ACCESS = re.compile(r"([A-Za-z_]\w*)\s*\(")

# An extent: a mode of an input, or a number.
Rule = tuple[str, int] | int


class _Statement(NamedTuple):
    left: str
    indices: list[str]
    accesses: list[tuple[str, list[str]]]


class _Rules:
    """From which modes of inputs the extents of results are, as far as the notation says it by plain indices."""

    def __init__(self, text: str, kernel: Kernel, dimensions: dict[str, int]):
        self._inputs = {name: kernel._declared[name][2] for name in kernel.inputs}
        self._dimensions, self._statements = dimensions, list(_statements(text))

    def of(self, tensor: str, order: int) -> list[Rule] | None:
        found = [self._extent(tensor, mode, ()) for mode in range(order)]
        return None if any(rule is None for rule in found) else found  # type: ignore[return-value]

    def _extent(self, tensor: str, mode: int, above: tuple[Any, ...]) -> Rule | None:
        if tensor in self._inputs:
            return tensor, mode
        if (tensor, mode) in above:
            return None
        found: Rule | None = None
        for statement in self._statements:
            if statement.left != tensor:
                continue
            if mode >= len(statement.indices):
                return None
            index = statement.indices[mode]
            access = _ACCESS.match(index)
            if access and access.group(1) in self._inputs and _closing(index, access.end() - 1) == len(index) - 1:
                found = found or (access.group(1), -1)
            elif not _NAME.fullmatch(index):
                return None
            elif index in self._dimensions:
                found = found or self._dimensions[index]
            else:
                found = found or next(filter(None, self._of_index(statement, index, (*above, (tensor, mode)))), None)
        return found

    def _of_index(self, statement: _Statement, index: str, above: tuple[Any, ...]) -> Iterator[Rule | None]:
        for tensor, accessed in statement.accesses:
            for mode, each in enumerate(accessed):
                if each == index and (tensor in self._inputs or any(tensor == other.left for other in self._statements)):
                    yield self._extent(tensor, mode, above)


def _closing(text: str, opening: int) -> int:
    depth = 0
    for place in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place
    return len(text)


def _parts(text: str) -> list[str]:
    """What is between commas, outside of parentheses."""
    depth, parts = 0, [""]
    for each in text:
        depth += {"(": 1, ")": -1}.get(each, 0)
        if each == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += each
    return [part.strip() for part in parts]


def _statements(text: str) -> Iterator[_Statement]:
    text = re.sub(r"//[^\n]*", "", text)
    body = text[text.index("{") + 1:text.rindex("}")] if "{" in text else text
    for statement in body.split(";"):
        statement = re.sub(r"^\s*let\b", "", statement).strip()
        name = _NAME.match(statement)
        if name is None:
            continue
        rest, own = statement[name.end():].lstrip(), []
        if rest.startswith("("):
            end = _closing(rest, 0)
            own, rest = _parts(rest[1:end]), rest[end + 1:]
        accesses = [(found.group(1), _parts(rest[found.end():_closing(rest, found.end() - 1)])) for found in _ACCESS.finditer(rest)]
        yield _Statement(name.group(), own, accesses)


class Operation:
    """What operators of every framework have: a kernel, whose operands are stored as they come."""

    def __init__(self, kernel: str | Kernel, formats: dict[str, str], dimensions: dict[str, int] | None, backend: str | None, deterministic: bool):
        if isinstance(kernel, Kernel):
            formats = kernel._formats | formats
            dimensions = dict(kernel._dimensions) | (dimensions or {})
            backend, deterministic, kernel = backend or kernel._backend, deterministic or kernel._deterministic, kernel._text
        self._text, self._options = kernel, {"dimensions": dimensions, "backend": backend, "deterministic": deterministic}
        self._likes = {name: format.removeprefix("like ").strip() for name, format in formats.items() if format.startswith("like ")}
        self._formats = {name: format for name, format in formats.items() if name not in self._likes}
        # Wrong texts and formats are refused here.
        self._kernel = Kernel(kernel, {} if "{" in kernel else self._formats, **self._options)
        self.inputs, self.results = self._kernel.inputs, self._kernel.results
        for result, name in self._likes.items():
            if result not in self.results or name not in self.inputs:
                raise TypeError(f"{result}=\"like {name}\" is for a result and an input")

    def __reduce__(self) -> Any:
        likes = {name: f"like {other}" for name, other in self._likes.items()}
        return type(self), (self._text, self._formats | likes, *self._options.values())

    def _given(self, args: tuple[Any, ...], named: dict[str, Any], extents: dict[str, Any]) -> dict[str, Any]:
        if not named and len(args) != len(self.inputs):
            raise TypeError(f"the operator takes {len(self.inputs)} inputs ({', '.join(self.inputs)}), and got {len(args)}")
        for name in extents:
            if name not in self._kernel._maps:
                raise TypeError(f"extents= is for arrays of indices, and `{name}` is none")
        return dict(zip(self.inputs, self._kernel._ordered(args, named)))

    def _extent(self, name: str, given: dict[str, Any], extents: dict[str, Any]) -> Any:
        """The extent of the mode that an array holds indices of."""
        if name in extents:
            return extents[name]
        for other, mode in self._kernel._maps[name][1]:
            if other not in self._kernel._maps:
                return given[other].shape[mode]
        raise TypeError(f"`{name}` holds indices of a mode that no input has: say its extent, extents={{{name!r}: …}}")

    def _made(self, operands: tuple[Operand, ...]) -> Flat:
        """The kernel for operands that are stored in these ways."""
        formats = {name: format for name, format in self._formats.items() if name in self.results}
        return Flat(self._text, formats, dict(zip(self.inputs, operands)), likes=self._likes, **self._options)
