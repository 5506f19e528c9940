"""Matrices as operators of SciPy's solvers, and triangular solves."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ._array import tensor
from ._kernel import Kernel, kernel


def aslinearoperator(matrix: Any) -> Any:
    """A matrix as a ``scipy.sparse.linalg.LinearOperator``: products with vectors and matrices from both sides are compiled kernels.

    :param matrix: a matrix that :func:`spc.tensor` takes, of shape ``(m, n)``; its indices are checked once. Solvers take an
        :class:`spc.Array` as it is, too.
    """
    from scipy.sparse.linalg import LinearOperator

    a = tensor(matrix)
    if a.ndim != 2:
        raise ValueError(f"an operator is a matrix, and the tensor has {a.ndim} modes")
    dtype = a.dtype if a.dtype.kind in "fc" else np.dtype(np.float64)
    return LinearOperator(a.shape, dtype=dtype, matvec=a.matvec, rmatvec=a.rmatvec, matmat=a.matmat, rmatmat=a.rmatmat)


def spsolve_triangular(A: Any, b: Any, lower: bool = True, unit_diagonal: bool = False) -> np.ndarray:
    """The solution ``x`` of ``A @ x = b`` for a triangular matrix, as ``scipy.sparse.linalg.spsolve_triangular`` gives it.

    :param A: a sparse matrix that :func:`spc.tensor` takes, of shape ``(n, n)``. Only the triangle is read, whatever is stored beside it.
    :param b: right-hand sides, of shape ``(n,)`` or ``(n, m)``.
    :param lower: whether the triangle is the lower one.
    :param unit_diagonal: whether the diagonal is ones, and is not read.
    :returns: an array of the shape of ``b``.
    :raises ValueError: where a number on the diagonal is zero or not stored; the message names its place.
    """
    a, b = tensor(A), np.asarray(b)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError(f"a triangular matrix is square, and the shape is {a.shape}")
    if b.ndim not in (1, 2) or b.shape[0] != a.shape[0]:
        raise ValueError(f"right-hand sides have the shape {a.shape[:1]} or ({a.shape[0]}, m), and here {b.shape}")
    dtype = np.result_type(a.dtype, b.dtype)
    dtype = dtype if dtype.kind in "fc" else np.dtype(np.float64)
    a = a if a.dtype == dtype else a.astype(dtype)
    return _triangular(b.ndim, bool(lower), bool(unit_diagonal))(A=a, b=b.astype(dtype, copy=False))


@functools.lru_cache(maxsize=8)
def _triangular(order: int, lower: bool, unit_diagonal: bool) -> Kernel:
    column, comes_before = ("", ", r")[order - 1], "<" if lower else ">"
    rest = f"b(i{column}) - sum(j)(A(i, j) * x(j{column}) where j {comes_before} i)"
    return kernel(f"x(i{column}) = {rest}" if unit_diagonal else f"x(i{column}) = ({rest}) / A(i, i)", A="csr")
