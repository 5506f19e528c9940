"""Operations on arrays beside SciPy, in one process.

`python benchmarks/arrays.py [--nonzeros 1000 10000 100000 1000000]`: for each number of entries a table of microseconds, f64, the least of
several calls after the Rust compiler is done, and SciPy's time over ours. `taskset -c 0` before it is for one thread. Matrices have ten entries
in a row. First comes the memory that `(A * (U @ V.T)).sum(axis=1)` takes beside its operands.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from typing import Any, Callable

import numpy as np
import scipy.sparse

import spc
from spc import _expression


def matrix(nonzeros: int, seed: int) -> Any:
    rows = max(nonzeros // 10, 10)
    made = scipy.sparse.random_array((rows, rows), density=nonzeros / rows**2, format="csr", rng=np.random.default_rng(seed))
    made.indptr, made.indices = made.indptr.astype(np.int32), made.indices.astype(np.int32)
    made.sort_indices()
    return made


def cases(nonzeros: int) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    s, r = matrix(nonzeros, 1), matrix(nonzeros, 2)
    a, b, rows = spc.tensor(s), spc.tensor(r), s.shape[0]
    rng = np.random.default_rng(3)
    x, many = rng.random(rows), rng.random((rows, 16))
    some = rng.integers(0, rows, rows // 10)
    return {
        "A + B": (lambda: (a + b).compute(), lambda: s + r),
        "A * B": (lambda: (a * b).compute(), lambda: s * r),
        "A * x": (lambda: (a * x).compute(), lambda: s * x),
        "2 * A": (lambda: (2 * a).compute(), lambda: 2 * s),
        "A @ x": (lambda: (a @ x).compute(), lambda: s @ x),
        "A.T @ x": (lambda: (a.T @ x).compute(), lambda: s.T @ x),
        "A @ X, 16 columns": (lambda: (a @ many).compute(), lambda: s @ many),
        "A @ B": (lambda: (a @ b).compute(), lambda: s @ r),
        # Our products have sorted rows, SciPy's only when they are sorted.
        "A @ B, rows sorted": (lambda: (a @ b).compute(), lambda: sorted_rows(s @ r)),
        "(2 * A - A * B) @ x": (lambda: ((2 * a - a * b) @ x).compute(), lambda: (2 * s - s * r) @ x),
        "A.sum()": (lambda: float(a.sum()), lambda: float(s.sum())),
        "A.sum(axis=0)": (lambda: a.sum(axis=0).compute(), lambda: s.sum(axis=0)),
        "A.sum(axis=1)": (lambda: a.sum(axis=1).compute(), lambda: s.sum(axis=1)),
        "A.max(axis=1)": (lambda: a.max(axis=1).compute(), lambda: s.max(axis=1)),
        "A.argmax(axis=1)": (lambda: a.argmax(axis=1).compute(), lambda: s.argmax(axis=1)),
        "log1p(A)": (lambda: np.log1p(a).compute(), lambda: np.log1p(s)),
        "A > 0.5": (lambda: (a > 0.5).compute(), lambda: s > 0.5),
        "A.T as rows": (lambda: a.T.to("csr"), lambda: s.T.tocsr()),
        "A[10:20]": (lambda: a[10:20], lambda: s[10:20]),
        "A[rows], a tenth": (lambda: a[some], lambda: s[some]),
        "A[:, :n // 2]": (lambda: a[:, :rows // 2], lambda: s[:, :rows // 2]),
        "A below B": (lambda: np.concatenate([a, b]), lambda: scipy.sparse.vstack([s, r], format="csr")),
        "tril(A)": (lambda: np.tril(a), lambda: scipy.sparse.tril(s, format="csr")),
    }


def sorted_rows(made: Any) -> Any:
    made.sort_indices()
    return made


def timed(run: Callable[[], Any], seconds: float = 0.3) -> float:
    """The least of the times of some calls, in microseconds."""
    run()
    best, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end or best == np.inf:
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def sampled_memory(rows: int, rank: int) -> None:
    """The memory of a sampled product, of which the dense one would have rows² elements."""
    s = matrix(rows * 10, 1)
    rng = np.random.default_rng(0)
    a, u, v = spc.tensor(s), spc.asarray(rng.random((rows, rank))), spc.asarray(rng.random((rows, rank)))
    # Another matrix of the same formats: what the compiler takes is not counted.
    small = spc.tensor(matrix(1000, 1))
    thin = spc.asarray(np.ones((100, rank)))
    (small * (thin @ thin.T)).sum(axis=1).compute()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    y = (a * (u @ v.T)).sum(axis=1).to_numpy()
    took = time.perf_counter() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    i, j = s.nonzero()
    assert np.allclose(y, np.bincount(i, s.data * (u.to_numpy()[i] * v.to_numpy()[j]).sum(1), minlength=rows))
    print(f"(A * (U @ V.T)).sum(axis=1), {rows:,} × {rows:,}, {s.nnz:,} entries, rank {rank}: {took * 1e3:.0f} ms, "
          f"{grown:.1f} MB beside operands; the dense product has {rows * rows * 8 / 1e9:.0f} GB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nonzeros", type=int, nargs="+", default=[1000, 10_000, 100_000, 1_000_000])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sampled_memory(100_000, 16)
    tables = {count: cases(count) for count in options.nonzeros}
    for table in tables.values():
        for ours, _ in table.values():
            ours(), ours()
    for plan in list(_expression._PLANS.values()):
        plan.kernel.settle()
    print("\n| | " + " | ".join(f"{count:,}" for count in tables) + " |\n|---" + "|--:" * len(tables) + "|")
    ratios = []
    for name in next(iter(tables.values())):
        cells = []
        for table in tables.values():
            ours, theirs = map(timed, table[name])
            ratios.append(theirs / ours)
            cells.append(f"{ours:,.0f} µs ({theirs / ours:.2f})")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print(f"\ngeometric mean of SciPy's time over ours: {np.exp(np.log(ratios).mean()):.2f}")


if __name__ == "__main__":
    main()
