"""Kernels as functions of JAX: under ``jit``, with gradients in reverse mode, and ``vmap``.

>>> import jax.numpy as jnp, spc.jax
>>> from jax.experimental.sparse import BCOO
>>> spmm = spc.jax.op("Y(i,r) = A(i,j) * X(j,r)")
>>> A = BCOO.fromdense(jnp.eye(3))
>>> jax.jit(spmm)(A, jnp.ones((3, 2))).shape
(3, 2)

A compiled function of JAX calls the kernel back through Python (``jax.pure_callback``). Operands are read where JAX has them, and results are
copied once.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Callable, NamedTuple, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.sparse import BCOO, BCSR

from . import _convert
from ._flat import Flat, Operand, Operation
from ._kernel import Kernel

__all__ = ["Op", "op"]


def op(kernel: str | Kernel, *, dimensions: dict[str, int] | None = None, backend: str | None = None, deterministic: bool = False,
       **formats: str) -> Op:
    """A kernel as a function of JAX arrays, which is differentiable in reverse mode as often as its notation is.

    :param kernel: index notation, a whole kernel with declared formats, or what :func:`spc.kernel` made.
    :param formats: ``S="like A"`` for a result with the entries of an input, else results are dense. Operands are taken as they come: arrays,
        ``BCOO`` and ``BCSR`` without batch and dense modes.
    """
    return Op(kernel, formats, dimensions, backend, deterministic)


class Op(Operation):
    """A function of JAX arrays on the CPU; see :func:`spc.jax.op`.

    It is called with inputs by position or by name. The mode that an array of indices, as ``dst`` in ``y(dst(e)) += …``, holds indices of has
    its extent from another input, or from ``extents={"dst": n}``.

    The values of a ``BCOO`` have a gradient where it has its entries. One whose indices are not sorted or not unique is sorted in each call.
    """

    def __init__(self, kernel: str | Kernel, formats: dict[str, str], dimensions: dict[str, int] | None, backend: str | None, deterministic: bool):
        super().__init__(kernel, formats, dimensions, backend, deterministic)
        self._flats: dict[tuple[Operand, ...], Flat] = {}

    def __call__(self, *args: Any, extents: dict[str, int] | None = None, **named: Any) -> Any:
        given = self._given(args, named, extents or {})
        parts = {name: _parts(name, value, name in self._kernel._maps, given) for name, value in given.items()}
        sizes = tuple(int(size) for name, part in parts.items() for size in (
            part.sizes if part.operand.kind != "map" else (self._extent(name, given, extents or {}),)))
        arrays = [array for part in parts.values() for array in part.arrays]
        flat = self._flat(tuple(part.operand for part in parts.values()))
        results: list[Any] = []
        for (_, result), made in zip(flat.results.items(), _function(_Said(flat, sizes))(*arrays)):
            if not result.like:
                results.append(made)
                continue
            like = given[result.like]
            if isinstance(like, BCSR):
                results.append(BCSR((made, like.indices, like.indptr), shape=like.shape, indices_sorted=True, unique_indices=True))
            else:
                results.append(BCOO((made, like.indices), shape=like.shape, indices_sorted=like.indices_sorted, unique_indices=like.unique_indices))
        return results[0] if len(results) == 1 else tuple(results)

    def _flat(self, operands: tuple[Operand, ...]) -> Flat:
        made = self._flats.get(operands)
        if made is None:
            made = self._made(operands)
            for name, result in made.results.items():
                if result.operand.is_sparse and not result.like:
                    raise TypeError(f"the result `{name}` has entries that JAX can't count before it runs: say {name}=\"like …\", with an "
                                    "input that has them, or let it be dense")
            # Functions that JAX has compiled are those of the first kernel of its text.
            made = self._flats[operands] = _FLATS.setdefault(made.digest, made)
        return made

    def settle(self) -> Op:
        """Waits for the Rust compiler where it is at work in the background, so that later calls run what it makes."""
        def each(flat: Flat) -> None:
            flat.kernel.settle()
            for gradient, _ in list(flat._gradients.values()):
                each(gradient)

        for flat in list(self._flats.values()):
            each(flat)
        return self

    def __repr__(self) -> str:
        return f"<spc.jax.Op {self._text.strip()!r}>"


_FLATS: dict[str, Flat] = {}


class _Parts(NamedTuple):
    operand: Operand
    arrays: tuple[Any, ...]
    sizes: tuple[int, ...]


def _parts(name: str, value: Any, is_map: bool, given: dict[str, Any]) -> _Parts:
    """An input as its arrays."""
    if isinstance(value, (BCOO, BCSR)):
        if value.n_batch or value.n_dense:
            raise TypeError(f"`{name}` has {value.n_batch} batch modes and {value.n_dense} dense ones: spc.jax takes none")
        if isinstance(value, BCSR):
            return _Parts(Operand("csr", 2), (value.indptr, value.indices, value.data), tuple(value.shape))
        return _Parts(Operand("coo", value.ndim), (value.indices, value.data), tuple(value.shape))
    if isinstance(value, (bool, int, float, complex)):
        # A number is of the type of the arrays beside it.
        dtypes = [other.dtype for other in given.values() if hasattr(other, "dtype") and jnp.issubdtype(other.dtype, jnp.inexact)]
        value = jnp.asarray(value, jnp.result_type(*dtypes) if dtypes else None)
    value = jnp.asarray(value)
    if is_map:
        if not jnp.issubdtype(value.dtype, jnp.integer):
            raise TypeError(f"`{name}` is an array of indices, and its elements are {value.dtype}")
        return _Parts(Operand("map", value.ndim + 1), (value,), ())
    return _Parts(Operand("dense", value.ndim), (value,), ())


def _element(name: str, array: Any) -> np.dtype:
    dtype = np.dtype(array.dtype)
    if dtype not in _convert.NAMES:
        raise TypeError(f"`{name}` has elements {dtype}, which spc.jax does not take: convert it with astype")
    return dtype


@dataclasses.dataclass(frozen=True, eq=False)
class _Said:
    """A kernel and the sizes that no array has: what is known when JAX traces."""

    flat: Flat
    sizes: tuple[int, ...]

    def __hash__(self) -> int:
        return hash((self.flat.digest, self.sizes))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Said) and (self.flat.digest, self.sizes) == (other.flat.digest, other.sizes)


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class _By:
    """The inputs that gradients are wanted by."""

    names: tuple[str, ...]


def _dtypes(flat: Flat, arrays: Sequence[Any]) -> dict[str, np.dtype]:
    return {name: _element(name, arrays[flat.values(name)]) for name in flat.operands}


@functools.lru_cache(1024)
def _function(said: _Said, of_gradient: bool = False) -> Callable[..., tuple[Any, ...]]:
    """The function of arrays, which knows its gradient."""
    flat, sizes = said.flat, said.sizes

    def run(*arrays: Any) -> tuple[Any, ...]:
        elements = flat.elements(_dtypes(flat, arrays))
        given = [array.shape[::-1] if kind == "coo" else array.shape for array, kind in zip(arrays, kinds)]
        shapes = flat.shapes(given, sizes)
        wanted = tuple(jax.ShapeDtypeStruct(arrays[flat.values(result.like)].shape if result.like else shapes[name],
                                            jax.dtypes.canonicalize_dtype(elements[name])) for name, result in flat.results.items())

        def call(*arrays: Any) -> tuple[np.ndarray, ...]:
            made = _called(flat, sizes, [np.asarray(array) for array in arrays], of_gradient)
            return tuple(np.asarray(array, want.dtype) for array, want in zip(made, wanted))

        return tuple(jax.pure_callback(call, wanted, *arrays, vmap_method="sequential"))

    # Coordinates are an array of entries × modes in JAX.
    kinds = [flat.operands[name].kind if number == 0 else "" for name, number in flat.arrays]
    function = jax.custom_vjp(run)

    def forward(*arrays: Any) -> Any:
        by = tuple(name for name in flat.operands
                   if arrays[flat.values(name)].perturbed and jnp.issubdtype(arrays[flat.values(name)].value.dtype, jnp.floating))
        values = tuple(array.value for array in arrays)
        return function(*values), (values, _By(by))

    def backward(kept: Any, gained: Any) -> tuple[Any, ...]:
        arrays, by = kept
        found: list[Any] = [None] * len(arrays)
        if not by.names:
            return tuple(found)
        gained = [jnp.zeros(each.shape, each.dtype) if isinstance(each, jax.custom_derivatives.SymbolicZero) else each for each in gained]
        gradient, sources = flat.gradient(by.names, _dtypes(flat, arrays))
        own: list[Any] = []
        known: list[int] = []
        for source in sources:
            result = flat.results.get(source.name)
            name = source.name if source.kind == "input" else result.like if result is not None else None
            given, shape = flat.of(name, arrays, sizes) if name else ((), ())
            value = () if source.kind == "input" else (gained[list(flat.results).index(source.name)],)
            own += (*given[:-1], *value) if value else given
            known += shape
        for name, made in zip(by.names, _function(_Said(gradient, tuple(known)), True)(*own)):
            found[flat.values(name)] = made
        return tuple(found)

    function.defvjp(forward, backward, symbolic_zeros=True)
    return function


def _called(flat: Flat, sizes: tuple[int, ...], arrays: list[np.ndarray], of_gradient: bool) -> list[np.ndarray]:
    """The results for arrays of JAX: coordinates are sorted, duplicates summed, and padding is ignored."""
    groups: dict[str, tuple[np.ndarray, np.ndarray] | None] = {}
    for name, operand in flat.operands.items():
        if operand.kind != "coo":
            continue
        place = flat.values(name)
        shape = flat.of(name, arrays, sizes)[1]
        arrays[place - 1], arrays[place], groups[name] = _sorted(arrays[place - 1], arrays[place], shape)
    found = flat.run([array if array.flags.c_contiguous else array.copy() for array in arrays], sizes)
    for number, (name, result) in enumerate(flat.results.items()):
        group = groups.get(result.like or "")
        if group is None:
            continue
        if not of_gradient and len(group[1]) != len(found[number]):
            raise ValueError(f"`{result.like}` has duplicate entries, so `{name}` can't have its entries: call sum_duplicates() on it")
        spread = np.zeros(len(group[0]), found[number].dtype)
        spread[group[0]] = found[number][group[1]]
        found[number] = spread
    return found


def _sorted(coordinates: np.ndarray, values: np.ndarray,
            shape: Sequence[int]) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray] | None]:
    """Sorted coordinates, modes × entries, with their values, and where these are from unless it is as given: the entries within the shape, as
    a mask, and the place of each of them."""
    coordinates = coordinates.T.astype(np.int64)
    within = ((coordinates >= 0) & (coordinates < np.array(shape)[:, None])).all(0)
    places = np.ravel_multi_index(tuple(np.where(within, coordinates, 0)), tuple(shape)) if coordinates.shape[1] else np.zeros(0, np.int64)
    if within.all() and (np.diff(places) > 0).all():
        return coordinates, values, None
    unique, of_each = np.unique(places[within], return_inverse=True)
    sums = np.zeros(len(unique), values.dtype)
    np.add.at(sums, of_each, values[within])
    return np.stack(np.unravel_index(unique, tuple(shape))), sums, (within, of_each)
