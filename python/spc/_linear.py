"""Matrices as operators of SciPy's solvers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._array import tensor


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
