"""Kernels on many ranks: threads of this process, and processes of MPI."""

import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse
from conftest import ELEMENTS, matrix, quiet

import spc

COUNTS = [1, 2, 3, 4, 7]


def cube(rng, shape=(9, 8, 7), density=0.2):
    return (rng.random(shape) < density) * rng.integers(1, 9, shape).astype("float64")


@pytest.mark.parametrize("ranks", COUNTS)
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "dcsr"])
def test_a_product_with_a_vector(rng, format, ranks):
    a = matrix(rng) if format == "dcsr" else matrix(rng, format=format)
    made = spc.tensor(a, format="dcsr") if format == "dcsr" else a
    x = rng.integers(-4, 5, 18).astype("float64")
    spmv = spc.kernel("y(i) = A(i,j) * x(j)", backend="jit")
    for distribute in [None, "A", f"A:{ranks}x1", f"A:1x{ranks}", "i"]:
        y = spmv(made, x, ranks=ranks, distribute=distribute)
        np.testing.assert_array_equal(y, a.toarray() @ x, err_msg=str(distribute))


@pytest.mark.parametrize("ranks", COUNTS)
@pytest.mark.parametrize("format", ["csf", "coo", "alto", "dcsf"])
def test_a_product_of_a_tensor_with_matrices(rng, format, ranks):
    dense = cube(rng)
    x = spc.tensor(dense).to("[compressed, compressed, compressed]" if format == "dcsf" else format)
    b, c = (rng.integers(-3, 4, (extent, 5)).astype("float64") for extent in (8, 7))
    mttkrp = spc.kernel("Y(i,r) = X(i,j,k) * B(j,r) * C(k,r)", backend="jit")
    want = np.einsum("ijk,jr,kr->ir", dense, b, c)
    for distribute in [None, "X", f"X:{ranks}x1x1", f"X:1x1x{ranks}", "i"]:
        np.testing.assert_array_equal(mttkrp(x, b, c, ranks=ranks, distribute=distribute), want, err_msg=str(distribute))
    if ranks == 4:
        np.testing.assert_array_equal(mttkrp(x, b, c, ranks=4, distribute="X:2x2x1"), want)


def test_the_same_bits(rng):
    x = spc.tensor(cube(rng, (20, 15, 10)) / 7).to("csf")
    b, c = rng.random((15, 5)), rng.random((10, 5))
    text = "Y(i,r) = X(i,j,k) * B(j,r) * C(k,r)"
    same, other = (spc.kernel(text, backend="jit", deterministic=deterministic) for deterministic in (True, False))
    for distribute in [None, "X", "X:bisection", "X:1x4x2"]:
        one = same(x, b, c, ranks=1, distribute=distribute)
        np.testing.assert_allclose(one, other(x, b, c), rtol=1e-12)
        for ranks in COUNTS:
            np.testing.assert_array_equal(same(x, b, c, ranks=ranks, distribute=distribute), one, err_msg=f"{distribute} {ranks}")
    # Sums of these values depend on their order.
    assert any((other(x, b, c, ranks=ranks, distribute="X") != one).any() for ranks in COUNTS)
    with pytest.raises(ValueError, match="computes 8 parts, of which each of 9 ranks has at least one"):
        same(x, b, c, ranks=9, distribute="X:1x4x2")


@pytest.mark.parametrize("ranks", COUNTS)
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dense"])
def test_sparse_results(rng, format, ranks):
    a, b = matrix(rng), matrix(rng, shape=(18, 9))
    product = spc.kernel("C(i,j) = A(i,k) * B(k,j)", C=format, backend="jit")
    for distribute in [None, "A", "i"]:
        c = product(a, b, ranks=ranks, distribute=distribute)
        assert isinstance(c, np.ndarray) == (format == "dense")
        np.testing.assert_array_equal(c if format == "dense" else c.to_numpy(), (a @ b).toarray(), err_msg=str(distribute))
    total = spc.kernel("C(i,j) = A(i,j) + 2 * B(i,j)", C=format, backend="jit")(a, a, ranks=ranks, distribute="i")
    np.testing.assert_array_equal(total if format == "dense" else total.to_numpy(), 3 * a.toarray())


@pytest.mark.parametrize("dtype", [*ELEMENTS, "int8", "uint16"])
def test_elements(rng, dtype):
    a = matrix(rng, dtype=dtype)
    x = rng.integers(0, 3, 18).astype(dtype)
    y = spc.kernel("y(i) = A(i,j) * x(j)", backend="jit")(a, x, ranks=3)
    assert y.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(y, a.toarray() @ x)


def test_numbers(rng):
    a = matrix(rng)
    assert spc.einsum("s = A(i,j)", A=a, ranks=3) == a.sum()
    scaled = spc.kernel("y(i) = alpha * A(i,j)", backend="jit")
    np.testing.assert_array_equal(scaled(3, a, ranks=3), 3 * a.toarray().sum(1))
    np.testing.assert_array_equal(scaled(0.5, a, ranks=2), 0.5 * a.toarray().sum(1))
    np.testing.assert_array_equal(scaled(2j, a.astype("complex64"), ranks=2), 2j * a.toarray().sum(1))
    large = 2**60 + 1
    np.testing.assert_array_equal(scaled(large, scipy.sparse.csr_array(np.eye(3, dtype="int64")), ranks=2), [large] * 3)


def test_ways_to_call(rng):
    a, b, x = matrix(rng), rng.random((18, 3)), rng.random(18)
    np.testing.assert_allclose(spc.einsum("ij,jk->ik", a, b, ranks=2), a @ b)
    np.testing.assert_allclose(spc.einsum("ij,jk->ik", a, b, ranks=np.int64(2), distribute="A"), a @ b)
    np.testing.assert_array_equal(spc.einsum("ij,jk->ik", a, a.T, format="csr", ranks=2).to_numpy(), (a @ a.T).toarray())
    spmv = spc.kernel("fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i,j) * x(j); } schedule { distribute(A: grid(1, 2)); }", backend="jit")
    np.testing.assert_allclose(spmv(x=x, A=a, ranks=2), a @ x)
    with pytest.raises(ValueError, match="4 cells"):
        spmv(a, x, ranks=4)
    np.testing.assert_allclose(spmv(a, x, ranks=4, distribute="i"), a @ x)

    @spc.jit(backend="interpreter")
    def product(A: "csr", x: "dense") -> "dense":
        "y(i) = A(i,j) * x(j)"

    np.testing.assert_allclose(product(a, x, ranks=3, distribute="i"), a @ x)
    ones = spc.kernel("y(i) = A(i,j)", dimensions={"i": 12}, backend="jit")
    np.testing.assert_allclose(ones(a, ranks=3), a.sum(1))


def test_wrong_calls(rng):
    a, x = matrix(rng), np.ones(18)
    spmv = spc.kernel("y(i) = A(i,j) * x(j)", backend="jit")
    for options, kind, message in [
        ({"ranks": 0}, ValueError, "1 to 1024"), ({"ranks": 1025}, ValueError, "1 to 1024"), ({"ranks": True}, TypeError, "threads"),
        ({"ranks": 2.0}, TypeError, "threads"), ({"ranks": "4"}, TypeError, "threads"), ({"distribute": "A"}, TypeError, "ranks="),
        ({"ranks": 4, "distribute": "A:3x1"}, ValueError, "4 cells"), ({"ranks": 4, "distribute": "A:4x0"}, ValueError, "no grid"),
        ({"ranks": 4, "distribute": "A:4"}, ValueError, "modes"), ({"ranks": 2, "distribute": "q"}, ValueError, "q"),
        ({"ranks": 2, "out": np.empty(12)}, TypeError, "out="),
    ]:
        with pytest.raises(kind, match=message):
            spmv(a, x, **options)
    with pytest.raises(ValueError, match="extent"):
        spmv(a, np.ones(5), ranks=2)
    with pytest.raises(TypeError, match="no value for the input 'x'"):
        spmv(A=a, ranks=2)
    # The second statement needs the result of the first.
    both = spc.kernel("fn both(A: csr, x: dense) -> (y: dense, s: f64) { y(i) = A(i,j) * x(j); s = y(i) * y(i); }")
    with pytest.raises(ValueError, match="can't be distributed"):
        both(a, x, ranks=2)
    np.testing.assert_allclose(spmv(a, x, ranks=2), a @ x)


@pytest.mark.parametrize("ranks", [2, 4, 64])
def test_placements(rng, ranks):
    x = spc.tensor(cube(rng), format="csf")
    mttkrp = spc.kernel("Y(i,r) = X(i,j,k) * B(j,r) * C(k,r)", backend="jit")
    found = mttkrp.placements(x, np.ones((8, 5)), C=np.ones((7, 5)), ranks=ranks)
    assert {"X", "i", f"X:{ranks}x1x1"} <= {placement["distribute"] for placement in found}
    assert [placement["modelled_seconds"] for placement in found] == sorted(placement["modelled_seconds"] for placement in found)
    equal = next(placement for placement in found if placement["distribute"] == "X")
    assert equal["imbalance"] <= -(-x.nnz // ranks) / (x.nnz / ranks) and equal["messages"] > 0
    with pytest.raises(ValueError, match="one rank"):
        mttkrp.placements(x, np.ones((8, 5)), np.ones((7, 5)), ranks=0)


@pytest.mark.parametrize("ranks", COUNTS)
def test_a_decomposition(rng, ranks):
    factors = [rng.random((extent, 2)) for extent in (9, 8, 7)]
    x = np.einsum("ir,jr,kr->ijk", *factors)
    want = spc.cp_als(x, 2, iterations=20, tolerance=0)
    found = spc.cp_als(x, 2, iterations=20, tolerance=0, ranks=ranks)
    np.testing.assert_allclose(found.weights, want.weights, rtol=1e-6)
    np.testing.assert_allclose(found.to_numpy(), want.to_numpy(), rtol=1e-6, atol=1e-9)
    assert found.stopped == "iterations" and len(found.fits) == 20
    with pytest.raises(ValueError, match="weights"):
        spc.cp_als(x, 2, weights=np.ones_like(x), ranks=ranks)
    with pytest.raises(ValueError, match="start"):
        spc.cp_als(x, 2, start="zero", ranks=ranks)


@pytest.mark.parametrize("ranks", COUNTS)
def test_a_decomposition_of_a_file(rng, tmp_path, ranks):
    x = rng.random((9, 8, 7)) * (rng.random((9, 8, 7)) < 0.5)
    want = spc.cp_als(x, 2, iterations=5, tolerance=0)
    for name in ["x.tns", "x.spct", "x.tns.gz", "x.npy"]:
        path = tmp_path / name
        spc.write(path, x if name.endswith("npy") else spc.tensor(x, format="coo"))
        for given in [path, str(path)]:
            found = spc.cp_als(given, 2, iterations=5, tolerance=0, ranks=ranks)
            np.testing.assert_allclose(found.fits, want.fits, rtol=1e-9)
    np.testing.assert_allclose(spc.cp_als(path, 2, iterations=5, tolerance=0).fits, want.fits)
    (tmp_path / "bad.tns").write_text("1 1 1 1\n1 1 y 2\n")
    with pytest.raises((OSError, ValueError), match="bad.tns:2:5"):
        spc.cp_als(tmp_path / "bad.tns", 2, ranks=ranks)
    with pytest.raises(OSError, match="none.tns"):
        spc.cp_als(tmp_path / "none.tns", 2, ranks=ranks)


@pytest.mark.parametrize("ranks", COUNTS)
def test_a_tucker_decomposition(rng, tmp_path, ranks):
    x = rng.random((9, 8, 7)) * (rng.random((9, 8, 7)) < 0.5)
    want = spc.tucker(x, [3, 2, 2], iterations=5, tolerance=0)
    path = tmp_path / "x.tns"
    spc.write(path, spc.tensor(x, format="coo"))
    for given in [x, path, str(path)]:
        found = spc.tucker(given, [3, 2, 2], iterations=5, tolerance=0, on_ranks=ranks)
        np.testing.assert_allclose(found.to_numpy(), want.to_numpy(), atol=1e-7)
        np.testing.assert_allclose(found.fits, want.fits, rtol=1e-9)
    np.testing.assert_allclose(spc.tucker(path, [3, 2, 2], iterations=5, tolerance=0).fits, want.fits)
    for sequential in [True, False]:
        want = spc.hosvd(x, [3, 2, 2], sequential=sequential)
        np.testing.assert_allclose(spc.hosvd(x, [3, 2, 2], sequential=sequential, on_ranks=ranks).fits, want.fits, rtol=1e-9)
    with pytest.raises(ValueError, match="3 modes"):
        spc.tucker(x, [3, 2], on_ranks=ranks)
    with pytest.raises(OSError, match="none.tns"):
        spc.tucker(tmp_path / "none.tns", [3, 2, 2], on_ranks=ranks)
    with pytest.raises(TypeError, match="on_ranks='4'"):
        spc.tucker(x, [3, 2, 2], on_ranks="4")


@pytest.mark.parametrize("ranks", [1, 3, 4])
@pytest.mark.parametrize("deterministic", [False, True])
def test_an_input_in_a_file(rng, tmp_path, ranks, deterministic):
    dense, x = matrix(rng).toarray(), rng.integers(-4, 5, 18).astype("float64")
    dense[-1, -1] = 1  # A text says no shape.
    a = scipy.sparse.csr_array(dense)
    for name in ["a.mtx", "a.tns", "a.spct", "a.mtx.gz"]:
        spc.write(tmp_path / name, spc.tensor(a, format="coo"))
        for formats in [{"A": "csr"}, {"A": "f64 coo"}, {}]:
            spmv = spc.kernel("y(i) = A(i,j) * x(j)", backend="jit", deterministic=deterministic, **formats)
            for distribute in ["A", f"A:{ranks}x1", f"A:1x{ranks}", "i", "A:bisection", None]:
                y = spmv(str(tmp_path / name), x, ranks=ranks, distribute=distribute)
                np.testing.assert_array_equal(y, a @ x, err_msg=f"{name} {formats} {distribute}")
        with spmv.prepare(tmp_path / name, x, ranks=ranks, distribute="A") as prepared:
            assert prepared.placement["distribute"] == "A"
            np.testing.assert_array_equal(prepared(x=2 * x), 2 * (a @ x))
    whole = spc.kernel("fn f(A: csr, x: dense) -> y: dense { y(i) = A(i,j) * x(j); }", backend="jit")
    np.testing.assert_array_equal(whole(tmp_path / "a.tns", x, ranks=ranks, distribute="A"), a @ x)
    assert whole.placements(tmp_path / "a.tns", x, ranks=4)
    with pytest.raises(OSError, match="none.tns"):
        whole(tmp_path / "none.tns", x, ranks=ranks, distribute="A")
    with pytest.raises(ValueError, match="no grid|modes"):
        whole(tmp_path / "a.tns", x, ranks=ranks, distribute="A:4")
    with pytest.raises(ValueError, match="extent"):
        whole(tmp_path / "a.tns", x[1:], ranks=ranks, distribute="A")


def run(program, **options):
    return subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=120, **options)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_ranks_of_few_threads_and_after_a_fork():
    made = run("""
import numpy as np, os, spc
a = np.eye(600)
f = spc.kernel("C(i,k) = A(i,j) * B(j,k)", A="csr", backend="jit")
a = spc.tensor(a, format="csr")
for count in [1, 2, None]:
    spc.set_threads(count)
    for ranks in [1, 2, 9]:
        assert (f(a, np.eye(600), ranks=ranks) == np.eye(600)).all()
child = os.fork()
if child == 0:
    os._exit(0 if (f(a, np.eye(600), ranks=3) == np.eye(600)).all() else 1)
assert os.waitpid(child, 0)[1] == 0
print("done")
""")
    assert made.stdout == "done\n", made.stderr


LONG = """
import numpy as np, os, scipy.sparse, signal, spc, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell may have had ignored
f = spc.kernel("s = A(i,j) * B(j,k) * C(k,l)", A="csr", backend="interpreter")
a, b = spc.tensor(np.ones((900, 900)), format="csr"), np.ones((900, 900))
"""


def test_interrupts():
    program = LONG + """
print("begins", flush=True)
try:
    f(a, b, b, ranks=2)
except KeyboardInterrupt:
    # The kernels of the ranks end soon, too.
    time.sleep(1)
    before = time.process_time()
    time.sleep(1)
    print("interrupted" if time.process_time() - before < 0.5 else "goes on", flush=True)
os._exit(0)
"""
    made = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert made.stdout.readline() == "begins\n"
    time.sleep(1)
    start = time.monotonic()
    made.send_signal(signal.SIGINT)
    try:
        said, _ = made.communicate(timeout=60)
    finally:
        made.kill()
    assert said == "interrupted\n"
    assert time.monotonic() - start < 10


def missing_of_mpi():
    if shutil.which("mpirun") is None:
        return "there is no mpirun"
    found = subprocess.run([sys.executable, "-c", "from mpi4py import MPI"], capture_output=True)
    return None if found.returncode == 0 else "there is no mpi4py, or no library of MPI"


MISSING = missing_of_mpi()
with_mpi = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))

HEAD = """
import mpi4py
mpi4py.rc.thread_level = "funneled"
from mpi4py import MPI
import numpy as np, os, scipy.sparse, signal, spc, threading, time
world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
rng = np.random.default_rng(3)
a = scipy.sparse.random_array((50, 40), density=0.2, format="csr", rng=rng)
x = rng.random(40)
spmv = spc.kernel("y(i) = A(i,j) * x(j)", backend="jit")

def told(body):
    "The exceptions that a call raises, by rank, and how long the slowest rank took."
    start = time.monotonic()
    try:
        body()
        error = "none"
    except BaseException as raised:
        error = f"{type(raised).__name__}: {raised}"
    return world.allgather(error), max(world.allgather(time.monotonic() - start))

def done(call):
    "The communicator can still be used: a product is right."
    y = call()
    assert rank or np.allclose(y, a @ x)
    if rank == 0:
        print("done")

"""


def on_processes(program, count=4, ends=True):
    options = ["--oversubscribe", "--allow-run-as-root"]
    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout
    command = ["mpirun", "-n", str(count), *(options if "Open MPI" in version else []), sys.executable, "-W", "ignore", "-c"]
    process = subprocess.Popen([*command, HEAD + program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        said, errors = process.communicate(timeout=180)
    finally:
        process.kill()
    assert process.returncode == 0 or not ends, errors
    return said


@with_mpi
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_processes(count, tmp_path):
    program = f"FOLDER = {str(tmp_path)!r}" + """
for distribute in [None, "A", f"A:{size}x1", "i"]:
    y = spmv(a, x, ranks=world, distribute=distribute)
    assert (y is None) == (rank > 0)
    if rank == 0:
        assert np.allclose(y, a @ x)
        assert np.array_equal(y, spmv(a, x, ranks=size, distribute=distribute))
c = spc.einsum("ij,kj->ik", a, a, format="csr", ranks=world)
assert (c is None) if rank else abs(c.to_scipy() - a @ a.T).max() < 1e-12
dense = rng.random((6, 5, 4))
model = spc.cp_als(dense, 2, iterations=5, tolerance=0, ranks=world)
assert all(np.array_equal(other, model.weights) for other in world.allgather(model.weights))
if rank == 0:
    same = spc.cp_als(dense, 2, iterations=5, tolerance=0, ranks=size)
    assert np.array_equal(same.weights, model.weights) and all(map(np.array_equal, same.factors, model.factors))
core = spc.tucker(dense, [2, 2, 2], iterations=5, tolerance=0, on_ranks=world)
assert all(np.array_equal(other, core.core) for other in world.allgather(core.core))
if rank == 0:
    assert np.array_equal(spc.tucker(dense, [2, 2, 2], iterations=5, tolerance=0, on_ranks=size).core, core.core)
# Each process reads its part of a file.
path = os.path.join(FOLDER, "x.tns")
if rank == 0:
    spc.write(path, spc.tensor(dense * (dense < 0.5), format="coo"))
world.Barrier()
of_file = spc.cp_als(path, 2, iterations=5, tolerance=0, ranks=world)
of_all = spc.cp_als(dense * (dense < 0.5), 2, iterations=5, tolerance=0, ranks=world)
assert np.allclose(of_file.fits, of_all.fits, atol=1e-9)
of_file, of_all = (spc.tucker(x, [2, 2, 2], iterations=5, tolerance=0, on_ranks=world) for x in (path, dense * (dense < 0.5)))
assert np.allclose(of_file.fits, of_all.fits, atol=1e-9)
if rank == 0:
    spc.write(os.path.join(FOLDER, "a.spct"), spc.tensor(a))
world.Barrier()
for distribute in ["A", f"A:{size}x1"]:
    y = spmv(os.path.join(FOLDER, "a.spct"), x, ranks=world, distribute=distribute)
    assert (y is None) if rank else np.allclose(y, a @ x)
    with spmv.prepare(os.path.join(FOLDER, "a.spct"), x, ranks=world, distribute=distribute) as prepared:
        y = prepared(x=2 * x)
        assert (y is None) if rank else np.allclose(y, 2 * (a @ x))
# Parts of all processes, each with a call of its own.
part = world.Split(rank % 2, rank)
y = spmv(a, x * (rank % 2 + 1), ranks=part)
assert (y is None) if part.Get_rank() else np.allclose(y, a @ x * (rank % 2 + 1))
assert np.allclose(spmv(a, x, ranks=MPI.COMM_SELF), a @ x)
if rank == 0:
    print("done")
"""
    assert on_processes(program, count) == "done\n"


@with_mpi
def test_messages_that_go_in_pieces():
    program = """
count = 3_000_001
a = scipy.sparse.diags_array(np.arange(1.0, count + 1), format="csr")
y = spmv(a, np.ones(count), ranks=world, distribute="i")
if rank == 0:
    assert np.array_equal(y, np.arange(1.0, count + 1))
    print("done")
"""
    assert on_processes(program, 2) == "done\n"


@with_mpi
def test_what_one_process_fails_by_all_are_told(tmp_path):
    program = f"FOLDER = {str(tmp_path)!r}" + """
def check(body, own, others):
    said, took = told(body)
    for number, error in enumerate(said):
        assert (own if number == 2 else others) in error, said
    assert took < 60, took
    y = spmv(a, x, ranks=world)  # they go on together
    assert rank or np.allclose(y, a @ x)

# Before the first message: an input, a text.
check(lambda: spmv(a, x if rank != 2 else x[:-1], ranks=world), "ValueError", "SpcError: rank 2 has stopped: ValueError")
check(lambda: spc.einsum("ij,j->i", a, x if rank != 2 else a, ranks=world), "ValueError", "SpcError: rank 2 has stopped: ValueError")
check(lambda: spc.cp_als(np.ones((3, 3, 3)), 2, start="random" if rank != 2 else "zero", ranks=world), "ValueError", "rank 2 has stopped")
# All see that one makes another call.
check(lambda: spmv(a, x, ranks=world, distribute="i" if rank == 2 else "A"), "rank 2 calls", "rank 2 calls")
check(lambda: spc.cp_als(np.ones((3, 3, 3 + rank // 2)), 2, ranks=world), "rank 2 calls", "rank 2 calls")
check(lambda: spc.tucker(np.ones((3, 3, 3)), [2, 2, 2], seed=rank // 2, on_ranks=world), "rank 2 calls", "rank 2 calls")
# Between messages: one has no compiler.
if rank == 2:
    os.environ.update(PATH="", SPC_RUSTC="", SPC_CACHE=os.path.join(FOLDER, "nothing"))
native = spc.kernel("y(i) = A(i,j) * x(j)", backend="native")
check(lambda: native(a, x, ranks=world, distribute="A"), "SpcError", "SpcError: rank 2 has stopped")
# What all fail by is no other's fault.
check(lambda: spmv(a, x, ranks=world, distribute="A:3x1"), "ValueError: a grid", "ValueError: a grid")

def long():
    with spc._ranks.agreed(world):
        if rank == 2:
            raise ValueError("é" * 3000)
    spmv(a, x, ranks=world)

check(long, "ValueError: éé", "SpcError: rank 2 has stopped: ValueError: éé")
if rank == 0:
    print("done")
"""
    assert on_processes(program) == "done\n"


@with_mpi
def test_one_process_is_interrupted():
    program = """
def late(signals):
    time.sleep(1)
    for _ in range(signals):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.5)

signal.signal(signal.SIGINT, signal.default_int_handler)
f = spc.kernel("s = A(i,j) * B(j,k) * C(k,l)", A="csr", backend="interpreter")
big, b = spc.tensor(np.ones((60, 60)), format="csr"), np.ones((60, 60))
if rank == 1:
    threading.Thread(target=late, args=(1,)).start()
def again():
    while True:
        f(big, b, b, ranks=world)
said, took = told(again)
assert said[1].startswith("KeyboardInterrupt"), said
assert all("rank 1 has stopped" in error for number, error in enumerate(said) if number != 1), said
done(lambda: spmv(a, x, ranks=world))
"""
    assert on_processes(program) == "done\n"


@with_mpi
def test_a_process_that_waits_for_another_is_interrupted():
    program = """
signal.signal(signal.SIGINT, signal.default_int_handler)
if rank == 0:
    time.sleep(60)
threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    spmv(a, x, ranks=world)
except KeyboardInterrupt as error:
    print(error.__notes__, time.monotonic() - start < 20, flush=True)
world.Abort(1)
"""
    assert on_processes(program, 2, ends=False) == "['other ranks were not told, and may wait for this one: end them'] True\n"
