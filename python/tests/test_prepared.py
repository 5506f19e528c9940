"""Kernels that are prepared on ranks once, and run many times: on threads, and on processes of MPI."""

import gc
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse
from conftest import ELEMENTS, matrix
from test_ranks import COUNTS, LONG, cube, on_processes, run, with_mpi

import spc


def square(rng, extent=12, dtype="float64"):
    return matrix(rng, shape=(extent, extent), dtype=dtype)


@pytest.fixture
def spmv():
    return spc.kernel("y(i) = A(i,j) * x(j)", backend="jit")


@pytest.mark.parametrize("ranks", COUNTS)
@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_other_elements(rng, spmv, format, ranks):
    a = matrix(rng, format=format)
    for distribute in [None, "A", f"A:1x{ranks}", "i"]:
        with spmv.prepare(a, x=np.ones(18), ranks=ranks, distribute=distribute) as prepared:
            np.testing.assert_array_equal(prepared(), a.sum(1))
            for _ in range(3):
                x = rng.integers(-4, 5, 18).astype("float64")
                np.testing.assert_array_equal(prepared(x=x), a @ x, err_msg=str(distribute))
            # They stay, whatever becomes of the array that was given.
            want = a @ x
            x[:] = 7
            np.testing.assert_array_equal(prepared(), want)
            np.testing.assert_array_equal(prepared(x=np.asfortranarray(x)), a @ x)


@pytest.mark.parametrize("ranks", COUNTS)
def test_results_become_inputs(rng, spmv, ranks):
    a, x = square(rng), rng.integers(-2, 3, 12).astype("float64")
    want = [x]
    for _ in range(6):
        want.append(a @ want[-1])
    for distribute in [None, "A", f"A:1x{ranks}", "A:bisection", "i"]:
        with spmv.prepare(A=a, x=x, ranks=ranks, distribute=distribute) as prepared:
            assert prepared.run() is None
            for _ in range(2):
                prepared.feed(x="y")
                prepared.run()
            np.testing.assert_array_equal(prepared.gather(), want[3])
            np.testing.assert_array_equal(prepared.gather(), want[3])
            prepared.feed(x="y")
            np.testing.assert_array_equal(prepared.iterate(3, x="y"), want[6])
            prepared.run(x=x)
            np.testing.assert_array_equal(prepared.gather(), want[1])
            np.testing.assert_array_equal(prepared.iterate(2), want[1])


def test_matrices_and_results(rng):
    x = spc.tensor(cube(rng)).to("csf")
    dense = x.to_numpy()
    mttkrp = spc.kernel("Y(i,r) = X(i,j,k) * B(j,r) * C(k,r)", backend="jit")
    b, c = (rng.integers(-3, 4, (extent, 5)).astype("float64") for extent in (8, 7))
    with mttkrp.prepare(x, b, c, ranks=3) as prepared:
        for other in [c, c + 1, 2 * c]:
            np.testing.assert_array_equal(prepared(C=other), np.einsum("ijk,jr,kr->ir", dense, b, other))
        np.testing.assert_array_equal(prepared(B=c[:1].repeat(8, 0), C=c), np.einsum("ijk,jr,kr->ir", dense, c[:1].repeat(8, 0), c))
    a, b = matrix(rng), rng.integers(1, 4, (18, 9)).astype("float64")
    product = spc.kernel("C(i,j) = A(i,k) * B(k,j)", C="csr", backend="jit")
    with product.prepare(a, b, ranks=2) as prepared:
        np.testing.assert_array_equal(prepared(B=b + 1).to_numpy(), a @ (b + 1))
        with pytest.raises(ValueError, match="rows of `C`|other shapes"):
            prepared.feed(B="C")
    with spc.kernel("s = A(i,j) * x(j)", backend="jit").prepare(a, np.ones(18), ranks=2) as prepared:
        assert prepared(x=np.arange(18.0)) == (a @ np.arange(18.0)).sum()


@pytest.mark.parametrize("dtype", [*ELEMENTS, "int8"])
def test_elements_and_numbers(rng, dtype):
    a = matrix(rng, dtype=dtype)
    scaled = spc.kernel("y(i) = alpha * A(i,j) * x(j)", backend="jit")
    x = np.ones(18, dtype)
    with scaled.prepare(3, a, x, ranks=2) as prepared:
        for alpha in [1, 2, np.array(3, dtype)]:
            y = prepared(alpha=alpha)
            assert y.dtype == np.dtype(dtype)
            np.testing.assert_array_equal(y, np.asarray(alpha, dtype) * (a @ x))
        if np.dtype(dtype).kind == "i":
            with pytest.raises(ValueError, match="2.5"):
                prepared(alpha=2.5)
        with pytest.raises(ValueError, match="of f16"):
            prepared(x=np.ones(18, "float16"))
        np.testing.assert_array_equal(prepared(x=2 * x), 6 * (a @ x))


def test_the_same_bits(rng):
    a, x = matrix(rng, shape=(30, 30)) / 7, rng.random(30)
    spmv = spc.kernel("y(i) = A(i,j) * x(j)", backend="jit", deterministic=True)
    found = []
    for ranks in [1, 2, 3]:
        with spmv.prepare(a, np.ones(30), ranks=ranks, distribute="A") as prepared:
            np.testing.assert_array_equal(prepared(x=x), spmv(a, x, ranks=ranks, distribute="A"))
            found.append(prepared.iterate(4, x="y"))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_allclose(found[0], a @ (a @ (a @ (a @ x))))


def test_the_placement(rng, spmv):
    a, x = square(rng), np.ones(12)
    with spmv.prepare(a, x, ranks=4) as prepared:
        assert prepared.placement == spmv.placements(a, x, ranks=4)[0]
    with spmv.prepare(a, x, ranks=4, distribute="A:2x2") as prepared:
        assert prepared.placement["distribute"] == "A:2x2" and "A:2x2" in repr(prepared)


def test_wrong_calls(rng, spmv):
    a, x = square(rng), rng.integers(0, 4, 12).astype("float64")
    for options, kind, message in [
        ({"ranks": 0}, ValueError, "1 to 1024"), ({"ranks": "4"}, TypeError, "threads"), ({"ranks": 4, "distribute": "A:3x1"}, ValueError, "4 cells"),
        ({"ranks": 2, "q": 1}, TypeError, "no input 'q'"),
    ]:
        with pytest.raises(kind, match=message):
            spmv.prepare(a, x, **options)
    with spmv.prepare(a, x, ranks=2) as prepared:
        for body, kind, message in [
            (lambda: prepared.gather(), ValueError, "no result yet"), (lambda: prepared.feed(x="y"), ValueError, "no result yet"),
            (lambda: prepared(x=x[1:]), ValueError, r"`x` is \[12\] of f64, and not \[11\]"), (lambda: prepared(x=x.astype("float32")), ValueError, "of f32"),
            (lambda: prepared(A=a), ValueError, "`A` is sparse"), (lambda: prepared(q=x), TypeError, "no input 'q'"),
            (lambda: prepared(y=x), TypeError, "no input 'y'"), (lambda: prepared(x="1"), TypeError, "`x`"),
            (lambda: prepared.iterate(0), ValueError, "once"), (lambda: prepared.iterate(2.0), TypeError, "integer"),
        ]:
            with pytest.raises(kind, match=message):
                body()
        # None of that has changed anything.
        np.testing.assert_array_equal(prepared(), a @ x)
        for results, message in [({"x": "z"}, "no result `z`"), ({"z": "y"}, "no input `z`"), ({"A": "y"}, "`A` is sparse")]:
            with pytest.raises(ValueError, match=message):
                prepared.feed(**results)
        np.testing.assert_array_equal(prepared(), a @ x)
    prepared.close()
    for body in [prepared, prepared.run, prepared.gather, lambda: prepared.feed(x="y")]:
        with pytest.raises(ValueError, match="is closed"):
            body()
    # The second of two that do not fit leaves the first as it was.
    both = spc.kernel("y(i) = A(i,j) * x(j) * w(i)", backend="jit")
    with both.prepare(a, x, np.ones(12), ranks=2) as prepared, pytest.raises(ValueError, match="`w`"):
        prepared(x=2 * x, w=np.ones(3))
    with both.prepare(a, x, np.ones(12), ranks=2) as prepared:
        with pytest.raises(ValueError, match="`w`"):
            prepared(x=2 * x, w=np.ones(3))
        np.testing.assert_array_equal(prepared(), a @ x)


def test_what_fails_closes(rng):
    a = scipy.sparse.csr_array(np.eye(40, dtype="int64"))
    quotient = spc.kernel("y(i) = A(i,j) / x(j)", backend="jit")
    with quotient.prepare(a, np.ones(40, "int64"), ranks=3) as prepared:
        np.testing.assert_array_equal(prepared(), np.ones(40))
        # One rank finds it, and the others wait for that one.
        with pytest.raises(ValueError, match="by zero"):
            prepared(x=np.arange(40))
        for body in [prepared, prepared.gather]:
            with pytest.raises(ValueError, match="is closed, since a call of it failed"):
                body()
        assert prepared.placement["distribute"]


def test_one_call_at_a_time(rng):
    slow = spc.kernel("s = A(i,j) * B(j,k) * C(k,l)", A="csr", backend="interpreter")
    a = spc.tensor(np.ones((100, 100)), format="csr")
    with slow.prepare(a, np.ones((100, 100)), np.ones((100, 100)), ranks=2) as prepared:
        found: list[float] = []
        other = threading.Thread(target=lambda: found.append(prepared()))
        other.start()
        refused = 0
        while other.is_alive():
            try:
                prepared.run()
            except spc.SpcError as error:
                assert "one call at a time" in str(error)
                refused += 1
            time.sleep(0.01)
        other.join()
        assert found == [1e8] and refused > 0
    with slow.prepare(a, np.ones((100, 100)), np.ones((100, 100)), ranks=2) as prepared:
        threads = [threading.Thread(target=lambda: found.append(spc.einsum("ij->", np.ones((3, 3))))) for _ in range(3)]
        for thread in threads:
            thread.start()
        assert prepared() == 1e8
        for thread in threads:
            thread.join()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="threads are counted in /proc")
def test_no_thread_is_left():
    # In a process of its own: threads that other tests have left may end at any time.
    made = run("""
import gc, time, numpy as np, scipy.sparse, spc

def count_of_threads():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("Threads:"))

def settled(most):
    end = time.monotonic() + 10
    while count_of_threads() > most and time.monotonic() < end:
        time.sleep(0.01)
    return count_of_threads()

a, x = scipy.sparse.eye_array(12, format="csr"), np.ones(12)
f = spc.kernel("y(i) = A(i,j) * x(j)", backend="jit")
with f.prepare(a, x, ranks=2) as prepared:
    prepared()
# The threads that calculate stay; those of the two ranks end.
before = settled(count_of_threads() - 2)
for ending in ["close", "with", "drop", "error"] * 3:
    prepared = f.prepare(a, x, ranks=3)
    assert count_of_threads() >= before + 3
    if ending == "close":
        prepared.close()
    elif ending == "with":
        with prepared:
            prepared()
    elif ending == "error":
        try:
            with prepared:
                1 / 0
        except ZeroDivisionError:
            pass
    del prepared
    gc.collect()
    assert settled(before) <= before, ending
""")
    assert made.returncode == 0, made.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork():
    made = run("""
import numpy as np, os, scipy.sparse, spc
a = scipy.sparse.eye_array(20, format="csr")
f = spc.kernel("y(i) = A(i,j) * x(j)", backend="jit")
prepared = f.prepare(a, np.ones(20), ranks=3)
prepared()
child = os.fork()
if child == 0:
    try:
        prepared()
    except spc.SpcError as error:
        assert "forked" in str(error)
        with f.prepare(a, np.ones(20), ranks=3) as again:
            right = (again() == 1).all()
        del prepared
        os._exit(0 if right else 1)
    os._exit(2)
assert os.waitpid(child, 0)[1] == 0
assert (prepared(x=np.full(20, 3.0)) == 3).all()
# It is still open when Python ends.
print("done")
""")
    assert made.stdout == "done\n" and made.returncode == 0, made.stderr


def test_interrupts():
    made = run(LONG + """
import threading
prepared = f.prepare(a, b, b, ranks=2)
threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    prepared()
except KeyboardInterrupt:
    took = time.monotonic() - start
    try:
        prepared()
    except ValueError as error:
        assert "interrupted" in str(error)
        time.sleep(1)
        before = time.process_time()
        time.sleep(1)
        print("interrupted" if took < 10 and time.process_time() - before < 0.5 else "goes on", flush=True)
# Between runs, too: these are short.
eye = scipy.sparse.eye_array(50, format="csr")
prepared = spc.kernel("y(i) = A(i,j) * x(j)", backend="jit").prepare(eye, np.ones(50), ranks=2)
threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    prepared.iterate(10**9, x="y")
except KeyboardInterrupt:
    print("between", flush=True)
os._exit(0)
""")
    assert made.stdout == "interrupted\nbetween\n", made.stderr


@with_mpi
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_processes(count):
    program = """
b = scipy.sparse.random_array((40, 40), density=0.2, format="csr", rng=rng)
for deterministic in [False, True]:
    f = spc.kernel("y(i) = A(i,j) * x(j)", backend="jit", deterministic=deterministic)
    for distribute in [None, "A", "A:bisection", "i"]:
        with f.prepare(b, np.zeros(40), ranks=world, distribute=distribute) as prepared, \\
                f.prepare(A=a, x=x, ranks=world) as other:
            assert world.allgather(prepared.placement)[0] == prepared.placement
            for scale in [1, 2]:
                y = prepared(x=scale * x)
                assert (y is None) == (rank > 0)
                assert rank or np.allclose(y, scale * (b @ x))
            z = other()
            assert rank or np.allclose(z, a @ x)
            prepared.feed(x="y")
            prepared.run()
            z = prepared.gather()
            assert rank or np.allclose(z, b @ (b @ (2 * x)))
            z = prepared.iterate(3, x="y")
            assert rank or np.allclose(z, b @ b @ b @ b @ (2 * x))
            if rank == 0:
                with f.prepare(b, 2 * x, ranks=size, distribute=distribute) as threads:
                    threads.run()
                    threads.feed(x="y")
                    assert np.array_equal(threads.iterate(3, x="y"), z)
            world.Barrier()
if rank == 0:
    print("done")
"""
    assert on_processes(program, count) == "done\n"


@with_mpi
def test_a_process_that_fails():
    program = """
def check(body, own, others, goes_on):
    said, took = told(body)
    for number, error in enumerate(said):
        assert (own if number == 2 else others) in error, said
    assert took < 60, took
    if goes_on:
        y = prepared(x=x)
        assert rank or np.allclose(y, a @ x)
    y = spmv(a, x, ranks=world)  # the communicator goes on
    assert rank or np.allclose(y, a @ x)

prepared = spmv.prepare(a, x, ranks=world)
check(lambda: prepared(x=x if rank != 2 else x[:-1]), "rank 2 calls", "rank 2 calls", True)
check(lambda: prepared(**{"x" if rank != 2 else "q": x}), "TypeError: there is no input 'q'", "SpcError: rank 2 has stopped: TypeError", True)
check(lambda: prepared() if rank != 2 else prepared.feed(x="y"), "rank 2 calls", "rank 2 calls", True)
check(lambda: prepared() if rank != 2 else spmv(a, x, ranks=world), "rank 2 calls", "rank 2 calls", True)
check(lambda: prepared(x=x[:-1]), "ValueError: `x`", "ValueError: `x`", True)
check(lambda: prepared.feed(x="y"), "ValueError: `y` and `x`", "ValueError: `y` and `x`", True)
check(lambda: spmv.prepare(a, x if rank != 2 else x[1:], ranks=world), "ValueError", "SpcError: rank 2 has stopped", True)
check(lambda: spmv.prepare(a, x, ranks=world, distribute="A:3x1"), "ValueError: a grid", "ValueError: a grid", True)
if rank == 2:
    prepared.close()
check(lambda: prepared(), "ValueError: the prepared kernel is closed", "SpcError: rank 2 has stopped: ValueError", False)
with spmv.prepare(a, x, ranks=world) as again:
    done(again)
"""
    assert on_processes(program) == "done\n"


@with_mpi
def test_one_process_is_interrupted():
    program = """
signal.signal(signal.SIGINT, signal.default_int_handler)
b = scipy.sparse.eye_array(40, format="csr")
prepared = spmv.prepare(b, np.ones(40), ranks=world)
if rank == 1:
    threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
said, took = told(lambda: prepared.iterate(10**9, x="y"))
assert said[1].startswith("KeyboardInterrupt"), said
assert all("rank 1 has stopped" in error for number, error in enumerate(said) if number != 1), said
said, took = told(prepared)
assert all("is closed" in error for error in said), said
with spmv.prepare(a, x, ranks=world) as again:
    done(again)
"""
    assert on_processes(program) == "done\n"
