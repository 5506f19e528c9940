"""Decompositions of sparse tensors, by compiled kernels."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any, Iterator, Sequence

import numpy as np

from . import _convert, _native, _ranks, _structure
from ._array import read, tensor


class _Model:
    """What both kinds of models have."""

    factors: list[np.ndarray]
    fits: list[float | None]

    @property
    def fit(self) -> float | None:
        """The last fit that is known."""
        return next((fit for fit in reversed(self.fits) if fit is not None), None)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tensor."""
        return tuple(len(factor) for factor in self.factors)

    def at(self, coordinates: Sequence[Any]) -> np.ndarray:
        """The elements of the model at some places, given as an array of indices for each mode; no others are made."""
        raise NotImplementedError

    def norm(self) -> float:
        """The Frobenius norm of the model, which is not formed."""
        raise NotImplementedError

    def fit_of(self, x: Any) -> float:
        """1 - ‖X - M‖ / ‖X‖ of a tensor of this shape, in time that goes with its entries."""
        x = tensor(x)
        if x.shape != self.shape:
            raise ValueError(f"the model has the shape {self.shape}, and the tensor {x.shape}")
        if x.is_sparse and x.fill:
            raise ValueError(f"elements that are not stored are {x.fill}: only zeros are counted as missing")
        of = _structure.entries(x)
        square = float(np.vdot(of.values, of.values).real)
        if not square:
            raise ValueError("the fit of a tensor of zeros is not defined")
        inner = float(np.vdot(of.values, self.at(of.coordinates)).real)
        return 1 - float(np.sqrt(max(square - 2 * inner + self.norm() ** 2, 0) / square))

    def _checked(self, coordinates: Sequence[Any]) -> list[np.ndarray]:
        places = [np.asarray(each) for each in coordinates]
        if len(places) != len(self.factors):
            raise ValueError(f"indices of {len(places)} modes, and the model has {len(self.factors)}")
        return places


@dataclass(frozen=True)
class CP(_Model):
    """A sum of rank-1 tensors: X ≈ Σᵣ weights[r] · factors[0][:, r] ∘ factors[1][:, r] ∘ …

    ``weights, factors = model`` takes it apart, as other libraries have it.
    """

    weights: np.ndarray
    """Shape ``(rank,)``, from the largest."""
    factors: list[np.ndarray]
    """A matrix for each mode, shape ``(extent, rank)``."""
    fits: list[float | None]
    """1 - ‖X - M‖ / ‖X‖ after each iteration, where the method knows it."""
    stopped: str
    """Why it ended: ``tolerance``, ``iterations``."""

    def __iter__(self) -> Iterator[Any]:
        return iter((self.weights, self.factors))

    @property
    def rank(self) -> int:
        """The number of components."""
        return len(self.weights)

    def at(self, coordinates: Sequence[Any]) -> np.ndarray:
        found = 1
        for factor, places in zip(self.factors, self._checked(coordinates)):
            found = found * factor[places]
        return found @ self.weights

    def norm(self) -> float:
        gram = np.outer(self.weights, self.weights.conj())
        for factor in self.factors:
            gram = gram * (factor.T @ factor.conj())
        return float(np.sqrt(max(gram.sum().real, 0)))

    def normalized(self, order: float = 2, *, into: int | None = None) -> CP:
        """The same model, whose factors have columns of length 1 in a norm of this order.

        :param into: the mode whose factor takes the weights, which are ones then; without it they are the weights, none of them negative.
        """
        lengths = [np.linalg.norm(factor, order, axis=0) for factor in self.factors]
        factors = [np.divide(factor, length, out=np.zeros_like(factor), where=length != 0) for factor, length in zip(self.factors, lengths)]
        weights = self.weights * np.prod(lengths, axis=0)
        if into is not None:
            factors[into] = factors[into] * weights
            return replace(self, weights=np.ones_like(weights), factors=factors)
        if weights.dtype.kind != "c":
            factors[0] = np.where(weights < 0, -factors[0], factors[0])
            weights = abs(weights)
        return replace(self, weights=weights, factors=factors)

    def arranged(self, order: Sequence[int] | None = None) -> CP:
        """The components in an order; without one normalized, from the largest weight."""
        model = self.normalized() if order is None else self
        order = np.argsort(-abs(model.weights), kind="stable") if order is None else np.asarray(order)
        return replace(model, weights=model.weights[order], factors=[factor[:, order] for factor in model.factors])

    def fixed_signs(self) -> CP:
        """The same model, where the largest element of each column is positive: of a component all but at most one column."""
        factors = [factor.copy() for factor in self.factors]
        for component in range(self.rank):
            columns = [factor[:, component] for factor in factors]
            negative = [column for column in columns if len(column) and column[np.argmax(abs(column))].real < 0]
            for column in negative[: len(negative) // 2 * 2]:
                np.negative(column, out=column)
        return replace(self, factors=factors)

    def score(self, other: CP, *, penalizes_weights: bool = True) -> tuple[float, list[int]]:
        """How alike two models are, from 0 to 1: the mean over pairs of components of the product of cosines of their columns, and, of
        each of these components, the one of ``other`` that it is paired with.

        The most alike pair comes first, then that of those left. With ``penalizes_weights`` each counts less by the relative difference of
        the weights.
        """
        if self.shape != other.shape:
            raise ValueError(f"the models have the shapes {self.shape} and {other.shape}")
        if self.rank > other.rank:
            raise ValueError(f"the other model has {other.rank} components, and this one {self.rank}")
        one, two = self.normalized(), other.normalized()
        alike = np.ones((one.rank, two.rank))
        for mine, theirs in zip(one.factors, two.factors):
            alike *= abs(mine.T @ theirs.conj())
        if penalizes_weights:
            largest = np.maximum.outer(one.weights, two.weights)
            apart = abs(np.subtract.outer(one.weights, two.weights))
            alike *= 1 - np.divide(apart, largest, out=np.zeros_like(apart), where=largest != 0)
        pairs, left = [0] * one.rank, alike.copy()
        for _ in range(one.rank):
            row, column = np.unravel_index(np.argmax(left), left.shape)
            pairs[int(row)] = int(column)
            left[row], left[:, column] = -1, -1
        return float(np.mean([alike[row, column] for row, column in enumerate(pairs)])), pairs

    def to_numpy(self) -> np.ndarray:
        """The model as a dense array."""
        letters = "abcdefgh"[: len(self.factors)]
        return np.einsum(",".join(["z", *(letter + "z" for letter in letters)]) + "->" + letters, self.weights, *self.factors)


@dataclass(frozen=True)
class Tucker(_Model):
    """A core times an orthonormal matrix along each mode: X ≈ core ×₁ factors[0] ×₂ factors[1] …

    ``core, factors = model`` takes it apart, as other libraries have it.
    """

    core: np.ndarray
    """Shape ``ranks``."""
    factors: list[np.ndarray]
    """A matrix for each mode, shape ``(extent, rank)``."""
    fits: list[float | None]
    """1 - ‖X - M‖ / ‖X‖ after each iteration."""
    stopped: str
    """Why it ended."""

    def __iter__(self) -> Iterator[Any]:
        return iter((self.core, self.factors))

    @property
    def ranks(self) -> tuple[int, ...]:
        """The shape of the core."""
        return self.core.shape

    def at(self, coordinates: Sequence[Any]) -> np.ndarray:
        places = np.broadcast_arrays(*self._checked(coordinates))
        shape, flat = places[0].shape, [each.reshape(-1) for each in places]
        found = np.empty(flat[0].size, np.result_type(self.core, *self.factors))
        # The rows that are multiplied stay in the cache.
        part = max(1, (1 << 16) // max(self.core.size // max(self.core.shape[0], 1), 1))
        for begin in range(0, len(found), part):
            rows = [factor[each[begin:begin + part]] for factor, each in zip(self.factors, flat)]
            made = np.tensordot(rows[0], self.core, (1, 0))
            for row in rows[1:]:
                made = np.einsum("pr,pr...->p...", row, made)
            found[begin:begin + part] = made
        return found.reshape(shape)

    def norm(self) -> float:
        made = self.core
        for mode, factor in enumerate(self.factors):
            made = np.moveaxis(np.tensordot(factor.conj().T @ factor, made, (1, mode)), 0, mode)
        return float(np.sqrt(max(np.vdot(self.core, made).real, 0)))

    def project(self, x: Any) -> np.ndarray:
        """The core of another tensor of this shape in the same factors: X ×₁ factors[0]ᵀ ×₂ factors[1]ᵀ …"""
        made = tensor(x)
        if made.shape != self.shape:
            raise ValueError(f"the model has the shape {self.shape}, and the tensor {made.shape}")
        for factor in self.factors:
            # Each product takes the first mode, and adds one at the end.
            made = np.tensordot(made, np.ascontiguousarray(factor.conj()), (0, 0))
        return made.to_numpy()

    def to_numpy(self) -> np.ndarray:
        """The model as a dense array."""
        made = self.core
        for mode, factor in enumerate(self.factors):
            made = np.moveaxis(np.tensordot(factor, made, (1, mode)), 0, mode)
        return made


def _cp(x: Any, method: str, asked: dict[str, Any], weights: Any = None) -> CP:
    return _of(CP, _native._cp(tensor(x)._storage, method, asked, _weights(weights)))


def _asked_of_cp(rank: int, iterations: int, tolerance: float, seed: int, start: str) -> dict[str, Any]:
    """The options of CP as the native half takes them."""
    if start not in ("random", "hosvd"):
        raise ValueError(f"start={start!r}: say 'random' or 'hosvd'")
    return {"rank": rank, "iterations": iterations, "tolerance": tolerance, "seed": seed, "hosvd": start == "hosvd"}


def _weights(weights: Any) -> _native.Storage | None:
    return None if weights is None else tensor(weights)._storage


def _for_ranks(x: Any) -> _native.Storage | _native.SharedFile:
    """A tensor, or a file of which each rank reads its part, if it can be."""
    if not _ranks.is_path(x):
        return tensor(x)._storage
    return _native._shared_file(os.fspath(x)) or read(x)._storage


def _of(kind: Any, found: Any) -> Any:
    first, factors, fits, stopped = found
    return kind(_convert.numpy_of(first), [_convert.numpy_of(factor) for factor in factors], fits, stopped)


def cp_als(x: Any, rank: int, *, iterations: int = 50, tolerance: float = 1e-4, seed: int = 0, start: str = "random",
           weights: Any = None, ranks: Any = None) -> CP:
    """CP by alternating least squares, of a tensor with 3 to 8 modes; ``weights``, of its shape, says which entries count.

    ``ranks`` is how many threads share the entries out, or a communicator of mpi4py's, whose processes all call this with the same tensor
    and options; each gets the model. Ranks take no ``weights``. ``x`` may be the path of a file, of which each rank reads its part where
    it is a ``.tns`` or ``.spct`` file that is not compressed: none has all of it.
    """
    if ranks is None:
        return _cp(read(x) if _ranks.is_path(x) else x, "als", _asked_of_cp(rank, iterations, tolerance, seed, start), weights)
    ranks = _ranks.checked(ranks)
    with _ranks.agreed(ranks):
        asked = _asked_of_cp(rank, iterations, tolerance, seed, start)
        given, weights = _for_ranks(x), _weights(weights)
    return _of(CP, _native._cp_on(given, asked, weights, ranks))


def cp_nonnegative(x: Any, rank: int, *, iterations: int = 50, tolerance: float = 1e-4, seed: int = 0, start: str = "random") -> CP:
    """CP whose factors have no negative value, by hierarchical least squares."""
    return _cp(x, "nonnegative", _asked_of_cp(rank, iterations, tolerance, seed, start))


def cp_apr(x: Any, rank: int, *, iterations: int = 50, tolerance: float = 1e-4, seed: int = 0, start: str = "random") -> CP:
    """CP of counts, by alternating Poisson regression."""
    return _cp(x, "apr", _asked_of_cp(rank, iterations, tolerance, seed, start))


def tucker(x: Any, ranks: Sequence[int], *, iterations: int = 50, tolerance: float = 1e-4, seed: int = 0, on_ranks: Any = None) -> Tucker:
    """Tucker by orthogonal iteration, with a core of the shape ``ranks``.

    ``on_ranks`` is how many threads share the slices out, or a communicator of mpi4py's: as ``ranks`` of :func:`cp_als`, also with the path of a
    file as ``x``.
    """
    return _tucker(x, "hooi", ranks, iterations, tolerance, seed, on_ranks)


def hosvd(x: Any, ranks: Sequence[int], *, sequential: bool = True, seed: int = 0, on_ranks: Any = None) -> Tucker:
    """Tucker by a singular value decomposition for each mode, one after the other or each of the tensor itself; ``on_ranks`` as in
    :func:`tucker`."""
    return _tucker(x, "st_hosvd" if sequential else "hosvd", ranks, 1, 0.0, seed, on_ranks)


def _tucker(x: Any, method: str, ranks: Sequence[int], iterations: int, tolerance: float, seed: int, on_ranks: Any) -> Tucker:
    def asked() -> dict[str, Any]:
        return {"method": method, "ranks": list(ranks), "iterations": iterations, "tolerance": tolerance, "seed": seed}

    if on_ranks is None:
        return _of(Tucker, _native._tucker((read(x) if _ranks.is_path(x) else tensor(x))._storage, asked()))
    on_ranks = _ranks.checked(on_ranks, "on_ranks")
    with _ranks.agreed(on_ranks):
        given, options = _for_ranks(x), asked()
    return _of(Tucker, _native._tucker_on(given, options, on_ranks))


def power(x: Any, components: int = 1, *, iterations: int = 100, tolerance: float = 1e-8, starts: int = 5, seed: int = 0,
          symmetric: bool = False) -> CP:
    """The best rank-1 tensors, one after the other, by the power method with deflation."""
    return _of(CP, _native._power(tensor(x)._storage, components, iterations, tolerance, starts, seed, symmetric))
