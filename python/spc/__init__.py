"""spc: sparse tensor kernels, compiled for the formats of their operands.

>>> import numpy as np, scipy.sparse, spc
>>> A = scipy.sparse.random_array((4, 3), density=0.5, format="csr")
>>> x = np.ones(3)
>>> y = spc.einsum("ij,j->i", A, x)
>>> y = spc.einsum("y(i) = A(i,j) * x(j)", A=A, x=x)
>>> spmv = spc.kernel("y(i) = A(i,j) * x(j)", A="csr")
>>> spmv(A, x, out=y).shape
(4,)

An :class:`Array` computes with operators and NumPy's functions, in one kernel for an expression:

>>> T = spc.tensor(A)
>>> (T * 2 + T @ np.ones((3, 3))).sum(axis=0).shape
(3,)

Arrays go in and come out without a copy. Those of a SciPy matrix are checked when they are first seen; each later call reads the
indices once, to see whether they are the ones that were checked. An object of :func:`spc.tensor` is checked once and for all: do not
change its indices. No array may be changed by another thread while a kernel runs.
"""

import importlib as _importlib
import os as _os

from . import _methods, _native, array_api, linalg  # noqa: F401: arrays get methods
from ._array import Array, Tensor, read, tensor, write
from ._binsparse import BinsparseError
from ._decompose import CP, Tucker, cp_als, cp_apr, cp_nonnegative, hosvd, power, tucker
from ._einsum import EinsumError
from ._functions import asarray
from ._gradient import Gradient
from ._kernel import Iterated, Kernel, einsum, explain, indices, jit, kernel
from .linalg import aslinearoperator
from ._native import SpcError, get_threads, set_threads
from ._prepared import Prepared
from ._table import Table, from_table
from ._warnings import CopyWarning, InterpreterWarning

__version__ = _native.__version__

# Native code of common kernels, where the package was built with some: for machines without a Rust compiler.
_catalogue = _os.path.join(_os.path.dirname(__file__), "spc.catalogue")
if _os.path.exists(_catalogue):
    _native._set_catalogue(_catalogue)

if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_native._after_fork)


def __getattr__(name: str) -> object:
    # Operators of frameworks, which are imported when they are first asked for.
    if name in ("jax", "torch"):
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Array", "BinsparseError", "CP", "CopyWarning", "EinsumError", "Gradient", "InterpreterWarning", "Iterated", "Kernel", "Prepared", "SpcError", "Table", "Tensor", "Tucker",
    "array_api", "asarray", "aslinearoperator", "cp_als", "cp_apr", "cp_nonnegative", "einsum", "explain", "from_table", "get_threads", "hosvd", "indices", "jit",
    "kernel", "linalg", "power", "read", "set_threads", "tensor", "tucker", "write",
]
