"""What is made again and again is released again."""

import gc
import os
import sys
import tracemalloc
import weakref

import numpy as np
import pytest
import scipy.sparse
from conftest import resident

import spc

ROWS = 2000


@pytest.fixture(scope="module")
def a():
    """A matrix of which each array has 80 or 160 kilobytes."""
    rng = np.random.default_rng(5)
    rows = np.sort(np.argsort(rng.random((ROWS, 100)), axis=1)[:, :10].astype("int32"), axis=1)
    return scipy.sparse.csr_array((rng.random(10 * ROWS), rows.reshape(-1), np.arange(0, 10 * ROWS + 1, 10, dtype="int32")), shape=(ROWS, ROWS))


SPMV = spc.kernel("y(i) = A(i,j) * x(j)", A="csr", backend="jit")
DOUBLE = spc.kernel("B(i,j) = 2 * A(i,j)", B="csr", backend="jit")


def refused(body, kind):
    with pytest.raises(kind):
        body()


def wrong_indices(a, x):
    wrong = a.copy()
    wrong.indices[5] = -1
    refused(lambda: SPMV(wrong, x), ValueError)


def assignments(a, x):
    t = spc.tensor(a)
    waiting = t * 2
    t[3, :5] = 7
    t[t > 0.5] = 0
    t += t
    same = t.reshape(t.shape)
    dense = spc.asarray(x)
    for place in range(3):
        dense[place] = dense[place + 1] + waiting.nnz + same.nnz


WORK = {
    "dense results": lambda a, x: SPMV(a, x),
    "sparse results": lambda a, x: DOUBLE(a),
    "written results": lambda a, x: SPMV(a, x, out=np.empty(ROWS)),
    "results of threads that are ranks": lambda a, x: SPMV(a, x, ranks=3),
    "sparse results of threads that are ranks": lambda a, x: DOUBLE(a, ranks=2),
    "placements": lambda a, x: SPMV.placements(a, x, ranks=4),
    "tensors": lambda a, x: spc.tensor(a).values.sum(),
    "converted tensors": lambda a, x: spc.tensor(a, format="csc"),
    "tensors of entries": lambda a, x: spc.tensor((a.tocoo().coords, a.data), shape=a.shape),
    "matrices of SciPy's": lambda a, x: DOUBLE(a).to_scipy().T,
    "arrays": lambda a, x: spc.tensor(x).to_numpy(),
    "arrays by DLPack": lambda a, x: np.from_dlpack(spc.tensor(x)),
    "arrays of levels": lambda a, x: DOUBLE(a).arrays(),
    "entries": lambda a, x: DOUBLE(a).entries(),
    "inputs of another format": lambda a, x: SPMV(spc.tensor(a, format="csc").to("csr"), x),
    "extents that disagree": lambda a, x: refused(lambda: SPMV(a, x[:-1]), ValueError),
    "extents that disagree on ranks": lambda a, x: refused(lambda: SPMV(a, x[:-1], ranks=2), ValueError),
    "no such placement": lambda a, x: refused(lambda: SPMV(a, x, ranks=2, distribute="A:3x1"), ValueError),
    "elements of another type": lambda a, x: refused(lambda: SPMV(a, x.astype(object)), TypeError),
    "wrong indices": wrong_indices,
    "results that do not fit": lambda a, x: refused(lambda: SPMV(a, x, out=np.empty(ROWS + 1)), ValueError),
    "wrong texts": lambda a, x: refused(lambda: spc.kernel("y(i) = A(i,j * x(j)"), SyntaxError),
    "kernels": lambda a, x: spc.kernel("y(i) = 3 * A(i,j) * x(j)", A="csr", backend="interpreter"),
    "assignments": assignments,
    "parts of rows": lambda a, x: np.concatenate([np.tril(spc.tensor(a)[:100, 5:]), spc.tensor(a)[[5, 7], 5:]]).T.to("csr"),
    "expressions": lambda a, x: ((spc.tensor(a) * x + spc.tensor(a)) @ spc.asarray(x)).to_numpy(),
    "decompositions": lambda a, x: spc.cp_als(x[:1000].reshape(10, 10, 10), 2, iterations=2),
}

# These compile kernels in each call.
SLOW = ["results of threads that are ranks", "sparse results of threads that are ranks", "placements", "decompositions"]


# The bytes of Python's smallest object.
LEAST = object().__sizeof__()


def kept(work, calls):
    """The bytes of Python objects that each of some rounds of calls keeps, at least.

    What is kept once is no leak. A round also keeps some hundred bytes however many calls it has: rounds of 20 calls would
    not tell these from an object in each call.
    """
    tracemalloc.start()
    try:
        rounds = []
        for _ in range(6):
            for _ in range(calls):
                work()
            gc.collect()
            rounds.append(tracemalloc.get_traced_memory()[0])
        return np.diff(rounds).min()
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("calls", [50, 200])
def test_the_smallest_leak_is_seen(calls):
    leaked = []
    assert kept(lambda: leaked.append(object()), calls) >= LEAST * calls
    assert kept(object, calls) < LEAST * calls


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the system does not say how much memory a process has")
@pytest.mark.parametrize("what", WORK)
def test_nothing_grows(a, what):
    x, work = np.ones(ROWS), WORK[what]
    counted = lambda: [sys.getrefcount(thing) for thing in (a.data, a.indices, a.indptr, x)]
    for _ in range(20):
        work(a, x)
    counts, grown = counted(), []
    # What grows once, as the heaps of threads do, is no leak: a leak grows in each round.
    while not grown or grown[-1] >= 5 << 20 and len(grown) < 3:
        before = resident()
        for _ in range(100 if what in SLOW else 400):
            work(a, x)
        grown.append(resident() - before)
    # The indices of each call would be 32 megabytes, its values 64, a vector 6; or a quarter of that.
    assert grown[-1] < 5 << 20, grown
    calls = 50 if what in SLOW else 200
    assert kept(lambda: work(a, x), calls) < LEAST * calls
    assert counted() == counts


@pytest.mark.parametrize("way", [
    lambda x: spc.tensor(x).to_numpy(),
    lambda x: spc.tensor(x).to_numpy().T,
    lambda x: spc.tensor(x).values,
    lambda x: spc.tensor(spc.tensor(x)),
    lambda x: spc.tensor(x)._storage,
    lambda x: np.from_dlpack(spc.tensor(x)),
    lambda x: memoryview(spc.tensor(x)._storage.values()),
])
def test_owners_are_released_with_the_last_that_has_their_arrays(a, way):
    copy = a.data.copy()
    gone = weakref.ref(copy)
    made = way(copy)
    del copy
    gc.collect()
    assert gone() is not None
    del made
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("way", [lambda a: spc.tensor(a), lambda a: spc.tensor(a).to_scipy(), lambda a: SPMV(a, np.ones(ROWS))])
def test_nothing_keeps_the_arrays_of_a_matrix(a, way):
    copy = a.copy()
    gone = [weakref.ref(array) for array in (copy.data, copy.indices, copy.indptr)]
    made = way(copy)
    del copy
    gc.collect()
    assert [one() for one in gone] == [None] * 3 and made is not None


@pytest.mark.parametrize("body", [
    lambda a, x: SPMV(a, x), lambda a, x: SPMV(a, x, ranks=3), lambda a, x: refused(lambda: SPMV(a, x[:-1]), ValueError),
    lambda a, x: refused(lambda: SPMV(a, x[:-1], ranks=2), ValueError), lambda a, x: refused(lambda: SPMV(a, x, ranks=2, distribute="q"), ValueError),
    lambda a, x: DOUBLE(a).to_scipy(), lambda a, x: spc.aslinearoperator(a) @ x,
])
def test_a_call_keeps_no_input(a, body):
    copy, x = a.copy(), np.ones(ROWS)
    gone = [weakref.ref(array) for array in (copy.data, copy.indices, copy.indptr, x)]
    body(copy, x)
    del copy, x
    gc.collect()
    assert [one() for one in gone] == [None] * 4


def test_results_live_without_what_they_were_made_of(a):
    made = DOUBLE(a)
    values, back = made.values, made.to_scipy()
    del made
    gc.collect()
    np.testing.assert_array_equal(values, 2 * a.data)
    np.testing.assert_array_equal(back.indices, a.indices)
