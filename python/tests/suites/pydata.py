"""The test suite of PyData `sparse`, run with arrays of spc in place of its own.

    python python/tests/suites/pydata.py            a table of passes and failures for each file of the suite
    python python/tests/suites/pydata.py -k dot -x  with options of pytest, and what fails

The suite is that of the installed package. Names of the namespace `sparse` are spc's here: classes make a `spc.Array`, functions are those of
`spc.array_api`, else NumPy's with arrays of spc. Tests compare shapes, element types and elements; what is stored they do not compare, as zeros
that are computed stay stored in spc. Files about the insides of `sparse` (its caches, slices of compressed arrays, DOK, numba) are left out.
"""

from __future__ import annotations

import collections
import pathlib
import sys
import warnings
from typing import Any

import numpy as np
import pytest
import sparse
from sparse.numba_backend import _utils

import spc
from spc import _functions, _structure, array_api

FILES = ["test_array_function", "test_coo", "test_dot", "test_einsum", "test_elemwise", "test_namespace"]
_random, _COO, _GCXS, _DOK = sparse.random, sparse.COO, sparse.GCXS, sparse.DOK


def ours(obj: Any, **options: Any) -> Any:
    """An object as an array of spc, which is sparse."""
    if isinstance(obj, spc.Array):
        return obj
    if isinstance(obj, (_GCXS, _DOK)):
        obj = obj.asformat("coo")
    if isinstance(obj, _COO):
        return of(obj.coords, obj.data, obj.shape, fill_value=obj.fill_value)
    if isinstance(obj, (np.ndarray, list, tuple, np.generic, int, float, complex)):
        return from_numpy(np.asarray(obj))
    return spc.tensor(obj)


def of(coords: Any, data: Any = None, shape: Any = None, has_duplicates: bool = True, sorted: bool = False, prune: bool = False, cache: bool = False,
       fill_value: Any = None, idx_dtype: Any = None) -> Any:
    if data is None:
        return ours(_COO(coords, shape=shape, fill_value=fill_value) if isinstance(coords, (dict, list)) else coords)
    coords = np.atleast_2d(np.asarray(coords))
    values = np.broadcast_to(np.asarray(data), (coords.shape[1],))
    shape = tuple(int(mode.max()) + 1 for mode in coords) if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
    if len(shape) != len(coords) and coords.size:
        raise ValueError("as many rows of coordinates as modes")
    if not shape:
        return spc.asarray(values.sum() if len(values) else values.dtype.type(fill_value or 0))
    if coords.size and ((coords < 0).any() or (coords.max(axis=1) >= shape).any()):
        raise ValueError("coordinates are outside of the shape")
    made = _structure.summed([mode.astype(np.int64) for mode in coords.reshape(len(shape), -1)], np.array(values), shape, refuses=False)
    fill = made.values.dtype.type(0 if fill_value is None else fill_value)
    array = spc._array.of_entries(made._replace(fill=fill))
    return array.prune() if prune else array


def from_numpy(x: Any, fill_value: Any = None, idx_dtype: Any = None, compressed_axes: Any = None) -> Any:
    x = np.asanyarray(x)
    fill = x.dtype.type(0 if fill_value is None else fill_value)
    if not x.ndim:
        return spc.asarray(x)
    where = np.nonzero(~_utils.equivalent(x, fill))
    return spc._array.of_entries(_structure.Entries(x.shape, where, x[where], fill))


def random(*args: Any, format: str = "coo", **options: Any) -> Any:
    options.pop("compressed_axes", None)
    return ours(_random(*args, format="coo", **options))


class _Kind(type):
    def __instancecheck__(cls, obj: Any) -> bool:
        return isinstance(obj, spc.Array)


class COO(metaclass=_Kind):
    def __new__(cls, *args: Any, **options: Any) -> Any:
        options.pop("compressed_axes", None)
        return of(*args, **options)

    from_numpy = staticmethod(from_numpy)
    from_scipy_sparse = staticmethod(ours)
    from_coo = staticmethod(ours)

    @staticmethod
    def from_iter(x: Any, shape: Any = None, fill_value: Any = None, dtype: Any = None) -> Any:
        return ours(_COO.from_iter(x, shape, fill_value, dtype))


def assert_eq(x: Any, y: Any, check_nnz: bool = True, compare_dtype: bool = True, **options: Any) -> None:
    assert x.shape == y.shape
    if compare_dtype:
        assert x.dtype == y.dtype
    found, want = (each.to_numpy() if isinstance(each, spc.Array) else each.todense() if hasattr(each, "todense") else each for each in (x, y))
    with np.errstate(all="ignore"):
        assert np.allclose(found, want, equal_nan=True, **options)


def reduce(self: Any, method: np.ufunc, axis: Any = (0,), keepdims: bool = False, **options: Any) -> Any:
    return method.reduce(self, axis=axis, keepdims=keepdims, **options)


def install() -> None:
    """Puts arrays of spc in the place of those of `sparse`."""
    own = {
        "COO": COO, "GCXS": COO, "DOK": COO, "SparseArray": COO, "random": random, "as_coo": ours, "asCOO": ours,
        "asarray": lambda obj, dtype=None, **_: ours(obj) if dtype is None else ours(obj).astype(dtype),
        "asnumpy": lambda a, **_: a.to_numpy() if isinstance(a, spc.Array) else np.asarray(a),
        "elemwise": lambda function, *args, **options: function(*args, **options),
        "diagonalize": lambda a, axis=0: _functions.diag(a) if a.ndim == 1 else NotImplemented,
        "dot": np.dot, "matmul": np.matmul, "can_cast": np.can_cast, "result_type": np.result_type, "ones_like": np.ones_like,
        "zeros_like": np.zeros_like, "full_like": np.full_like, "interp": np.interp, "unstack": lambda x, axis=0: array_api.unstack(x, axis=axis),
        "tensordot": lambda a, b, axes=2, return_type=None: np.tensordot(a, b, axes),
        "eye": lambda *args, **options: _eye(*args, **options),
        "zeros": lambda shape, dtype=float, **_: array_api.zeros(shape, dtype=dtype, sparse=True),
        "ones": lambda shape, dtype=float, **_: array_api.ones_like(array_api.zeros(shape, dtype=dtype, sparse=True)),
        "full": lambda shape, fill_value, dtype=None, **_: array_api.full_like(
            array_api.zeros(shape, dtype=dtype or np.asarray(fill_value).dtype, sparse=True), fill_value),
        "nanreduce": lambda x, method, identity=None, **options: method.reduce(_functions._without_nan(x, method.identity), **options),
    }
    for name in sparse.__all__:
        function = own.get(name) or getattr(array_api, name, None) or getattr(_functions, name, None) or getattr(np, name, None)
        if function is not None and not (isinstance(function, type) and issubclass(function, np.generic)):
            setattr(sparse, name, function)
    for module in (sparse, sparse.numba_backend):
        for name in ("COO", "GCXS", "DOK", "SparseArray", "random"):
            setattr(module, name, own[name])
    import sparse.numba_backend._compressed as compressed

    compressed.GCXS = COO
    _utils.assert_eq, _utils.assert_gcxs_slicing = assert_eq, lambda s, x: None
    for name, method in {
        "asformat": lambda self, format, **_: self, "maybe_densify": lambda self, *_, **__: self.to_numpy(), "reduce": reduce,
        "to_scipy_sparse": spc.Array.to_scipy, "tocsr": lambda self: self.to("csr").to_scipy(), "tocsc": lambda self: self.to("csc").to_scipy(),
        "isinf": lambda self: np.isinf(self), "isnan": lambda self: np.isnan(self), "broadcast_to": lambda self, shape: np.broadcast_to(self, shape),
        "enable_caching": lambda self: self, "change_compressed_axes": lambda self, axes: self, "tocoo": lambda self: self,
        "linear_loc": lambda self: _structure.linear(self.coords, self.shape), "compressed_axes": (0,),
    }.items():
        setattr(spc.Array, name, method)


def _eye(N: int, M: int | None = None, k: int = 0, dtype: Any = float, **_: Any) -> Any:
    return array_api.eye(N, M, k=k, dtype=dtype, sparse=True)


class Counts:
    """A plugin that counts, and keeps what failed."""

    def __init__(self) -> None:
        self.counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        self.reasons: collections.Counter[str] = collections.Counter()

    def pytest_runtest_logreport(self, report: Any) -> None:
        file = pathlib.Path(report.fspath).stem
        if report.when == "call" or report.outcome != "passed":
            self.counts[file]["skipped" if report.outcome == "skipped" else report.outcome] += 1
        if report.failed:
            said = str(report.longrepr.reprcrash.message if hasattr(report.longrepr, "reprcrash") else report.longrepr)
            self.reasons[f"{file}::{report.nodeid.split('::')[-1].partition('[')[0]}: {said.splitlines()[0][:110]}"] += 1

    def table(self) -> str:
        lines = ["| file | passed | failed | left out by it |", "|---|--:|--:|--:|"]
        total: collections.Counter[str] = collections.Counter()
        for file, counts in self.counts.items():
            total += counts
            lines.append(f"| `{file}` | {counts['passed']} | {counts['failed']} | {counts['skipped']} |")
        share = total["passed"] / max(total["passed"] + total["failed"], 1)
        return "\n".join([*lines, f"| all | {total['passed']} | {total['failed']} | {total['skipped']} |", "", f"{share:.1%} pass"])


def report(files: list[str], options: list[str]) -> None:
    """Runs files of tests, and prints how many pass: without options as a table, and what fails. `--least 4000` ends with an error where fewer pass."""
    counts = Counts()
    least = int(options[1]) if options[:1] == ["--least"] else 0
    options = options[2:] if least else options
    quiet = [] if options else ["--tb=no", "-qq", "--no-header", "--no-summary"]
    pytest.main([*files, "-p", "no:cacheprovider", "-W", "ignore", *quiet, *options], plugins=[counts])
    print("\n" + counts.table())
    if not options:
        print("\nWhat fails, how often and why:\n")
        for reason, count in counts.reasons.most_common():
            print(f"{count:5} {reason}")
    passed = sum(each["passed"] for each in counts.counts.values())
    if passed < least:
        sys.exit(f"error: {passed} tests pass, and {least} are to")


def main() -> None:
    install()
    folder = pathlib.Path(sparse.__file__).parent / "numba_backend/tests"
    report([str(folder / f"{name}.py") for name in FILES], sys.argv[1:])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
