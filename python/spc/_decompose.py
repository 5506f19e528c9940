"""Decompositions of sparse tensors, by compiled kernels."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np

from . import _convert, _native, _ranks
from ._tensor import read, tensor


@dataclass(frozen=True)
class CP:
    """A sum of rank-1 tensors: X ≈ Σᵣ weights[r] · factors[0][:, r] ∘ factors[1][:, r] ∘ …"""

    weights: np.ndarray
    """Shape ``(rank,)``, from the largest."""
    factors: list[np.ndarray]
    """A matrix for each mode, shape ``(extent, rank)``."""
    fits: list[float | None]
    """1 - ‖X - M‖ / ‖X‖ after each iteration, where the method knows it."""
    stopped: str
    """Why it ended: ``tolerance``, ``iterations``."""

    @property
    def fit(self) -> float | None:
        """The last fit that is known."""
        return next((fit for fit in reversed(self.fits) if fit is not None), None)

    def to_numpy(self) -> np.ndarray:
        """The model as a dense array."""
        letters = "abcdefgh"[: len(self.factors)]
        return np.einsum(",".join(["z", *(letter + "z" for letter in letters)]) + "->" + letters, self.weights, *self.factors)


@dataclass(frozen=True)
class Tucker:
    """A core times an orthonormal matrix along each mode: X ≈ core ×₁ factors[0] ×₂ factors[1] …"""

    core: np.ndarray
    """Shape ``ranks``."""
    factors: list[np.ndarray]
    """A matrix for each mode, shape ``(extent, rank)``."""
    fits: list[float | None]
    """1 - ‖X - M‖ / ‖X‖ after each iteration."""
    stopped: str
    """Why it ended."""

    @property
    def fit(self) -> float | None:
        """The last fit that is known."""
        return next((fit for fit in reversed(self.fits) if fit is not None), None)

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
