"""Kernels of spc beside SciPy, PyData `sparse`, torch and finch-tensor, called from Python in one run.

`python benchmarks/compare.py [--nonzeros N] [--repeat N] [--only NAME]`: a table of milliseconds, f64. *First* is what a script waits for:
to import the library, to make its matrix, and one call; of spc with nothing compiled before on this machine (an empty cache). *Warm* is the
least of so many calls after that. Libraries that are not there are left out, and so is what a library has no function for. Threads: what
each library takes by itself.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import warnings
from typing import Any, Callable

import numpy as np
import scipy.sparse

LIBRARIES = {"spc": "spc", "spc, SciPy's matrix": "spc", "SciPy": "scipy.sparse", "PyData": "sparse", "torch": "torch", "finch": "finch"}
SIDE = 400


def matrix(nonzeros: int, seed: int) -> Any:
    rows = max(nonzeros // 10, 10)
    made = scipy.sparse.random_array((rows, rows), density=nonzeros / rows**2, format="csr", rng=np.random.default_rng(seed))
    made.indptr, made.indices = made.indptr.astype(np.int32), made.indices.astype(np.int32)
    return made


class Inputs:
    """Operands that every library makes its own of."""

    def __init__(self, nonzeros: int):
        rng = np.random.default_rng(1)
        self.a, self.b = matrix(nonzeros, 1), matrix(nonzeros, 2)
        rows = self.a.shape[0]
        self.x, self.dense = rng.random(rows), rng.random((rows, 16))
        self.left, self.right = rng.random((rows, 16)), rng.random((rows, 16))
        places = np.sort(rng.choice(SIDE**3, size=min(nonzeros, SIDE**3 // 4), replace=False))
        self.places, self.values = [np.ascontiguousarray(mode) for mode in np.unravel_index(places, (SIDE,) * 3)], rng.random(len(places))
        self.v, self.f, self.g = rng.random(SIDE), rng.random((SIDE, 16)), rng.random((SIDE, 16))


Make = Callable[[Inputs], Callable[[], Any]]


def of_spc(text: str, *names: str, format: str | None = None, plain: bool = False) -> Make:
    def make(given: Inputs) -> Callable[[], Any]:
        import spc
        cube = ((given.places, given.values), {"format": "csf", "shape": (SIDE,) * 3})
        made = []
        for name in names:
            if name == "cube":
                made.append(spc.tensor(cube[0], **cube[1]))
            else:
                value = getattr(given, name)
                made.append(spc.tensor(value) if name in ("a", "b") and not plain else value)
        return lambda: spc.einsum(text, *made, format=format)
    return make


def of_torch(run: Callable[..., Any], *names: str) -> Make:
    def make(given: Inputs) -> Callable[[], Any]:
        import torch
        made = []
        for name in names:
            value = getattr(given, name)
            if scipy.sparse.issparse(value):
                parts = (torch.from_numpy(part) for part in (value.indptr, value.indices, value.data))
                made.append(torch.sparse_csr_tensor(*parts, size=value.shape))
            else:
                made.append(torch.from_numpy(value))
        return lambda: run(torch, *made)
    return make


def of_pydata(run: Callable[..., Any], *names: str, coo: bool = False) -> Make:
    def make(given: Inputs) -> Callable[[], Any]:
        import sparse
        made = []
        for name in names:
            if name == "cube":
                made.append(sparse.COO(np.stack(given.places), given.values, shape=(SIDE,) * 3))
                continue
            value = getattr(given, name)
            if scipy.sparse.issparse(value):
                value = (sparse.COO if coo else sparse.GCXS).from_scipy_sparse(value)
            made.append(value)
        return lambda: run(sparse, *made)
    return make


def of_finch(run: Callable[..., Any], *names: str) -> Make:
    def make(given: Inputs) -> Callable[[], Any]:
        import finch
        finch.set_default_scheduler(ctx=finch.COMPILE_NUMBA)
        made = []
        for name in names:
            value = getattr(given, name)
            if scipy.sparse.issparse(value):
                value = scipy.sparse.csr_array((value.data, value.indices.astype(np.int64), value.indptr.astype(np.int64)), shape=value.shape)
                value = finch.asarray(value)
            made.append(value)
        return lambda: run(finch, *made)
    return make


def of_scipy(run: Callable[..., Any], *names: str) -> Make:
    return lambda given: lambda: run(*(getattr(given, name) for name in names))


def both(text: str, *names: str, format: str | None = None) -> dict[str, Make]:
    return {"spc": of_spc(text, *names, format=format), "spc, SciPy's matrix": of_spc(text, *names, format=format, plain=True)}


CASES: dict[str, dict[str, Make]] = {
    "y = A x": {
        **both("ij,j->i", "a", "x"), "SciPy": of_scipy(lambda a, x: a @ x, "a", "x"),
        "PyData": of_pydata(lambda _, a, x: a @ x, "a", "x"), "torch": of_torch(lambda _, a, x: a @ x, "a", "x"),
        "finch": of_finch(lambda f, a, x: f.matmul(a, x), "a", "x")},
    "Y = A X, 16 columns": {
        **both("ij,jk->ik", "a", "dense"), "SciPy": of_scipy(lambda a, x: a @ x, "a", "dense"),
        "PyData": of_pydata(lambda _, a, x: a @ x, "a", "dense"), "torch": of_torch(lambda _, a, x: a @ x, "a", "dense"),
        "finch": of_finch(lambda f, a, x: f.matmul(a, x), "a", "dense")},
    "y = Aᵀ x": {
        **both("ij,i->j", "a", "x"), "SciPy": of_scipy(lambda a, x: a.T @ x, "a", "x"),
        "PyData": of_pydata(lambda _, a, x: a.T @ x, "a", "x"), "torch": of_torch(lambda _, a, x: a.t() @ x, "a", "x")},
    "C = A + B": {
        **both("C(i,j) = A(i,j) + B(i,j)", "a", "b", format="csr"), "SciPy": of_scipy(lambda a, b: a + b, "a", "b"),
        "PyData": of_pydata(lambda _, a, b: a + b, "a", "b", coo=True), "torch": of_torch(lambda _, a, b: a + b, "a", "b")},
    "C = A B": {
        **both("ij,jk->ik", "a", "b", format="csr"), "SciPy": of_scipy(lambda a, b: a @ b, "a", "b"),
        "PyData": of_pydata(lambda _, a, b: a @ b, "a", "b"), "torch": of_torch(lambda _, a, b: a @ b, "a", "b")},
    "SDDMM, 16": {
        **both("ij,ik,jk->ij", "a", "left", "right", format="csr"),
        "torch": of_torch(lambda t, a, l, r: t.sparse.sampled_addmm(a, l, r.t(), beta=0.0) * a, "a", "left", "right")},
    "TTV, last mode": {
        "spc": of_spc("ijk,k->ij", "cube", "v", format="[compressed, compressed]"),
        "PyData": of_pydata(lambda s, x, v: s.tensordot(x, v, axes=([2], [0])), "cube", "v")},
    "MTTKRP, 16": {
        "spc": of_spc("ijk,jr,kr->ir", "cube", "f", "g"),
        "PyData": of_pydata(lambda s, x, f, g: s.einsum("ijk,jr,kr->ir", x, f, g), "cube", "f", "g")},
}


def timed(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1e3


def is_there(library: str) -> bool:
    return importlib.util.find_spec(LIBRARIES[library].partition(".")[0]) is not None


def measured(case: str, library: str, options: argparse.Namespace) -> str:
    """A cell: each library has a process of its own, as threads of one that wait for work keep processors from the next."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, __file__, "--nonzeros", str(options.nonzeros), "--repeat", str(options.repeat), "--one", case, library]
        told = subprocess.run(command, env={**os.environ, "SPC_CACHE": cache}, capture_output=True, text=True)
    if told.returncode != 0:
        print(f"{case}, {library}: {told.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return "fails"
    first, warm = (float(word) for word in told.stdout.split())
    return f"{warm:.2f} ({first:.0f})"


def one(case: str, library: str, options: argparse.Namespace) -> None:
    given, runs = Inputs(options.nonzeros), []
    first = timed(lambda: (importlib.import_module(LIBRARIES[library]), runs.append(CASES[case][library](given)), runs[0]()))
    if library.startswith("spc"):
        # The compiler is at work behind the first calls.
        for kernel in made_by_spc():
            kernel.settle()
    once = timed(runs[0])
    print(first, min([once] + [timed(runs[0]) for _ in range(options.repeat if once < 5000 else 0)]))


def made_by_spc() -> list[Any]:
    from spc import _kernel
    made = (value if isinstance(value, _kernel.Kernel) else value[0] for value in _kernel._CACHE.values())
    return [kernel for kernel in made if kernel._last is not None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nonzeros", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--only", help="cases with this in their name")
    parser.add_argument("--one", nargs=2, metavar=("CASE", "LIBRARY"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.one:
        return one(*options.one, options)
    columns = [library for library in LIBRARIES if is_there(library)]
    print(f"{options.nonzeros:,} nonzeros, f64, ms warm (first)\n")
    print("| | " + " | ".join(columns) + " |\n|---" + "|--:" * len(columns) + "|")
    for case, libraries in CASES.items():
        if options.only is None or options.only in case:
            cells = (measured(case, library, options) if library in libraries else "–" for library in columns)
            print(f"| {case} | " + " | ".join(cells) + " |", flush=True)
    small_calls()


def small_calls() -> None:
    import spc
    small = spc.tensor(scipy.sparse.csr_array(np.eye(10)))
    plain, x, spmv = scipy.sparse.csr_array(np.eye(10)), np.ones(10), spc.kernel("y(i) = A(i,j) * x(j)")
    spmv(small, x), spmv(plain, x), spmv.settle()
    print()
    for label, run in [("spc.tensor", lambda: spmv(small, x)), ("SciPy's matrix", lambda: spmv(plain, x)), ("SciPy", lambda: plain @ x)]:
        print(f"a call with 10 entries, {label}: {min(timed(lambda: [run() for _ in range(1000)]) for _ in range(10)):.1f} µs")


if __name__ == "__main__":
    main()
