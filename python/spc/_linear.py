"""Matrices as operators of SciPy's solvers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._kernel import Kernel
from ._tensor import Tensor, tensor

_KERNELS: dict[str, Kernel] = {}


def _kernel(text: str) -> Kernel:
    made = _KERNELS.get(text)
    if made is None:
        made = _KERNELS[text] = Kernel(text, {})
    return made


def aslinearoperator(matrix: Any) -> Any:
    """A matrix as a ``scipy.sparse.linalg.LinearOperator``: products with vectors and matrices from both sides are compiled kernels.

    :param matrix: a matrix that :func:`spc.tensor` takes, of shape ``(m, n)``; its indices are checked once.
    """
    from scipy.sparse.linalg import LinearOperator

    a: Tensor = tensor(matrix)
    if a.ndim != 2:
        raise ValueError(f"an operator is a matrix, and the tensor has {a.ndim} modes")
    dtype = a.dtype if a.dtype.kind in "fc" else np.dtype(np.float64)

    def product(text: str) -> Any:
        run = _kernel(text)

        def apply(x: np.ndarray) -> np.ndarray:
            wanted = np.result_type(x.dtype, dtype)
            return run(a, np.ascontiguousarray(x, dtype=wanted))

        return apply

    is_complex = a.dtype.kind == "c"
    backwards, backwards_all = product("y(j) = A(i,j) * x(i)"), product("Y(j,k) = A(i,j) * X(i,k)")
    return LinearOperator(
        a.shape, dtype=dtype,
        matvec=lambda x: product("y(i) = A(i,j) * x(j)")(np.asarray(x).reshape(-1)),
        matmat=product("Y(i,k) = A(i,j) * X(j,k)"),
        rmatvec=(lambda x: backwards(np.conj(x).reshape(-1)).conj()) if is_complex else (lambda x: backwards(np.asarray(x).reshape(-1))),
        rmatmat=(lambda x: backwards_all(np.conj(x)).conj()) if is_complex else backwards_all,
    )
