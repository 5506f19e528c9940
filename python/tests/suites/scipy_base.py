"""The tests of SciPy's sparse arrays, `scipy/sparse/tests/test_base.py`, run with arrays of spc in place of a `csr_array`.

    python python/tests/suites/scipy_base.py            a table of passes and failures
    python python/tests/suites/scipy_base.py -k slice   with options of pytest, and what fails

Names of methods that only SciPy has, as `toarray` and `multiply`, are given to arrays of spc here.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from pydata import report
from scipy.sparse.tests import test_base

import spc
from spc import _functions


def ours(obj: Any, *args: Any, **options: Any) -> Any:
    """An array of spc of what a `csr_array` is made of."""
    if isinstance(obj, spc.Array):
        return obj.copy() if not args and not options else obj.astype(options.get("dtype", args[0] if args else obj.dtype))
    made = scipy.sparse.csr_array(obj, *args, **options) if not hasattr(obj, "tocoo") or len(obj.shape) == 2 else obj
    return spc.tensor(made, format="csr")


class TestArrays(test_base.sparse_test_class()):  # type: ignore[misc]
    spcreator = staticmethod(ours)
    math_dtypes = [np.bool_, np.int_, np.float64, np.complex128]


def to_array(self: Any, order: str | None = None, out: Any = None) -> Any:
    made = self.to_numpy()
    if out is None:
        return np.array(made, order=order or "C")
    out[...] = made
    return out


def diagonal(self: Any, k: int = 0) -> Any:
    return np.diagonal(self, k).to_numpy()


def set_diagonal(self: Any, values: Any, k: int = 0) -> None:
    rows, columns = self.shape
    if k >= columns or -k >= rows:
        raise ValueError("k exceeds array dimensions")
    values = np.asarray(values)
    count = min(rows + min(k, 0), columns - max(k, 0), *(values.shape or (rows + columns,)))
    places = np.arange(count)
    self[places - min(k, 0), places + max(k, 0)] = values[:count] if values.ndim else values


def install() -> None:
    for name, method in {
        "toarray": to_array, "todense": to_array, "multiply": lambda self, other: np.multiply(self, other),
        "maximum": lambda self, other: np.maximum(self, other), "minimum": lambda self, other: np.minimum(self, other),
        "power": lambda self, n, dtype=None: np.power(self if dtype is None else self.astype(dtype), n), "conjugate": lambda self, copy=True: np.conjugate(self),
        "tocsr": lambda self, copy=False: self.to("csr").to_scipy(), "tocsc": lambda self, copy=False: self.to("csc").to_scipy(),
        "tocoo": lambda self, copy=False: self.to("coo").to_scipy(), "todok": lambda self, copy=False: self.to_scipy().todok(),
        "tolil": lambda self, copy=False: self.to_scipy().tolil(), "todia": lambda self, copy=False: self.to_scipy().todia(),
        "tobsr": lambda self, blocksize=None, copy=False: self.to_scipy().tobsr(blocksize=blocksize), "asformat": lambda self, format, copy=False: self,
        "getformat": lambda self: "csr", "diagonal": diagonal, "nanmax": lambda self, axis=None: np.nanmax(self, axis),
        "nanmin": lambda self, axis=None: np.nanmin(self, axis), "count_nonzero": lambda self, axis=None: _functions.count_nonzero(self, axis), "setdiag": set_diagonal,
        "getnnz": lambda self, axis=None: self.nnz if axis is None else _functions.count_nonzero(self, axis), "dot": lambda self, other: self * other if not np.ndim(other) else self @ other,
        **{name: lambda self, ufunc=getattr(np, name): ufunc(self) for name in (
            "sin tan arcsin arctan sinh tanh arcsinh arctanh rint sign expm1 log1p deg2rad rad2deg floor ceil trunc sqrt").split()},
    }.items():
        setattr(spc.Array, name, method)
    # There are no numbers of 128 bits.
    test_base.supported_dtypes[:] = [dtype for dtype in test_base.supported_dtypes if np.dtype(dtype) in spc._convert.NAMES]
    test_base.issparse = lambda obj: isinstance(obj, spc.Array) or scipy.sparse.issparse(obj)


def main() -> None:
    install()
    report([__file__], sys.argv[1:])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
else:
    install()
    TestArrays.init_class()
    TestArrays.is_array_test = True
