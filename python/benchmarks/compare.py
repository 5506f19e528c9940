"""Kernels of spc beside SciPy, PyData `sparse` and torch, called from Python in one run.

`python benchmarks/compare.py [--nonzeros N] [--repeat N] [--markdown]`: milliseconds, the least of so many calls in turns; `cold` is the first
call in this process, with the time to compile. Libraries that are not there are left out. Threads: what each library takes by itself.
"""

from __future__ import annotations

import argparse
import importlib
import time
import warnings
from typing import Any, Callable

import numpy as np
import scipy.sparse

import spc

Case = tuple[str, dict[str, Callable[[], Any]]]


def found(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def cases(nonzeros: int) -> list[Case]:
    rng = np.random.default_rng(1)
    rows = max(nonzeros // 10, 10)
    a = scipy.sparse.random_array((rows, rows), density=nonzeros / rows**2, format="csr", rng=rng)
    a.indptr, a.indices = a.indptr.astype(np.int32), a.indices.astype(np.int32)
    b = scipy.sparse.random_array((rows, rows), density=nonzeros / rows**2, format="csr", rng=rng)
    b.indptr, b.indices = b.indptr.astype(np.int32), b.indices.astype(np.int32)
    x, dense = rng.random(rows), rng.random((rows, 16))
    left, right = rng.random((rows, 16)), rng.random((rows, 16))
    sa, sb = spc.tensor(a), spc.tensor(b)
    side = 400
    places = rng.choice(side**3, size=min(nonzeros, side**3 // 4), replace=False)
    coordinates, values = np.unravel_index(np.sort(places), (side,) * 3), rng.random(len(places))
    cube = spc.tensor((list(coordinates), values), format="csf", shape=(side,) * 3)
    f, g = rng.random((side, 16)), rng.random((side, 16))

    made: list[Case] = [
        ("y = A x", {"spc": lambda: spc.einsum("ij,j->i", sa, x), "spc, SciPy's matrix": lambda: spc.einsum("ij,j->i", a, x),
                     "SciPy": lambda: a @ x}),
        ("Y = A X, 16 columns", {"spc": lambda: spc.einsum("ij,jk->ik", sa, dense),
                                 "spc, SciPy's matrix": lambda: spc.einsum("ij,jk->ik", a, dense), "SciPy": lambda: a @ dense}),
        ("y = Aᵀ x", {"spc": lambda: spc.einsum("ij,i->j", sa, x), "spc, SciPy's matrix": lambda: spc.einsum("ij,i->j", a, x),
                      "SciPy": lambda: a.T @ x}),
        ("C = A + B", {"spc": lambda: spc.einsum("C(i,j) = A(i,j) + B(i,j)", A=sa, B=sb, format="csr"),
                       "spc, SciPy's matrix": lambda: spc.einsum("C(i,j) = A(i,j) + B(i,j)", A=a, B=b, format="csr"),
                       "SciPy": lambda: a + b}),
        ("C = A B", {"spc": lambda: spc.einsum("ij,jk->ik", sa, sb, format="csr"),
                     "spc, SciPy's matrix": lambda: spc.einsum("ij,jk->ik", a, b, format="csr"), "SciPy": lambda: a @ b}),
        ("SDDMM, 16", {"spc": lambda: spc.einsum("ij,ik,jk->ij", sa, left, right, format="csr"),
                       "spc, SciPy's matrix": lambda: spc.einsum("ij,ik,jk->ij", a, left, right, format="csr")}),
        ("MTTKRP, 16", {"spc": lambda: spc.einsum("ijk,jr,kr->ir", cube, f, g)}),
    ]
    sparse, torch = found("sparse"), found("torch")
    if sparse:
        pa, pb = sparse.GCXS.from_scipy_sparse(a), sparse.GCXS.from_scipy_sparse(b)
        ca, cb = sparse.COO.from_scipy_sparse(a), sparse.COO.from_scipy_sparse(b)
        pt = pa.T
        for (_, runs), run in zip(made, [lambda: pa @ x, lambda: pa @ dense, lambda: pt @ x, lambda: ca + cb, lambda: pa @ pb]):
            runs["PyData"] = run
    if torch:
        def tensor(m: Any) -> Any:
            return torch.sparse_csr_tensor(torch.from_numpy(m.indptr), torch.from_numpy(m.indices), torch.from_numpy(m.data), size=m.shape)
        ta, tb, tx, td = tensor(a), tensor(b), torch.from_numpy(x), torch.from_numpy(dense)
        for (_, runs), run in zip(made, [lambda: ta @ tx, lambda: ta @ td, None, lambda: ta + tb, lambda: ta @ tb]):
            if run:
                runs["torch"] = run
    return made


def timed(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nonzeros", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=15)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    columns = ["spc", "spc, SciPy's matrix", "SciPy", "PyData", "torch"]
    print(f"{options.nonzeros:,} nonzeros, f64, ms warm (cold)\n")
    print("| | " + " | ".join(columns) + " |\n|---" + "|---" * len(columns) + "|")
    for name, runs in cases(options.nonzeros):
        cold = {library: timed(run) for library, run in runs.items()}
        warm = {library: [] for library in runs}
        for _ in range(options.repeat):
            for library, run in runs.items():
                warm[library].append(timed(run))
        cells = [f"{min(warm[c]):.2f} ({cold[c]:.0f})" if c in runs else "–" for c in columns]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    small = spc.tensor(scipy.sparse.csr_array(np.eye(10)))
    plain, x, spmv = scipy.sparse.csr_array(np.eye(10)), np.ones(10), spc.kernel("y(i) = A(i,j) * x(j)")
    for label, run in [("spc.tensor", lambda: spmv(small, x)), ("SciPy's matrix", lambda: spmv(plain, x)), ("SciPy", lambda: plain @ x)]:
        run()
        print(f"a call with 10 entries, {label}: {min(timed(lambda: [run() for _ in range(1000)]) for _ in range(10)):.1f} µs")


if __name__ == "__main__":
    main()
