"""What runs a kernel: code of the Rust compiler, machine code made at once, a catalogue."""

import os
import subprocess
import sys

import pytest

from conftest import needs_rustc

BEGIN = """
import warnings
warnings.simplefilter("error")
import numpy as np, scipy.sparse, spc
rng = np.random.default_rng(1)
A = scipy.sparse.random_array((300, 200), density=0.1, format="csr", rng=rng)
x = rng.random(200)
f = spc.kernel("y(i) = 2 * A(i,j) * x(j)", **options)
def check():
    assert np.allclose(f(A, x), 2 * (A @ x))
"""


def run(tmp_path, code, options="{}", **environment):
    # The cache is used only if no other user can write there.
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700, exist_ok=True)
    known = {**os.environ, "SPC_CACHE": str(cache), **environment}
    text = f"options = {options}\n{BEGIN}\n{code}"
    done = subprocess.run([sys.executable, "-c", text], env=known, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


NO_COMPILER = {"PATH": "", "SPC_RUSTC": ""}


def test_without_a_compiler_machine_code_runs(tmp_path):
    told = run(tmp_path, "check(); print(f.tier, f.backend)", **NO_COMPILER)
    assert told == ["jit", "jit"]


def test_all_kinds_of_kernels_run_without_a_compiler(tmp_path):
    code = """
C = spc.einsum("ij,kj->ik", A, A, format="csr")
assert abs(C.to_scipy() - A @ A.T).max() < 1e-12
S = spc.einsum("C(i,j) = A(i,j) + B(i,j)", A=A, B=3 * A, format="csr")
assert abs(S.to_scipy() - 4 * A).max() < 1e-12
X = spc.tensor(([[0, 1, 2], [1, 0, 1], [2, 2, 0]], [1.0, 2.0, 3.0]), shape=(3, 2, 3), format="csf")
B, C = rng.random((2, 7)), rng.random((3, 7))
assert np.allclose(spc.einsum("ijk,jr,kr->ir", X, B, C), np.einsum("ijk,jr,kr->ir", X.to_numpy(), B, C))
assert spc.einsum("n = argmax(i, j)(A(i, j))", A=A, format=None) == A.toarray().argmax()
fit = spc.cp_als(X, rank=2, iterations=5)
print("fine")
"""
    assert run(tmp_path, code, **NO_COMPILER) == ["fine"]


@pytest.mark.skipif("SPC_TEST_CATALOGUE" not in os.environ, reason="SPC_TEST_CATALOGUE names no catalogue with y(i) = A(i, j) * x(j)")
def test_kernels_of_a_catalogue_are_native(tmp_path):
    code = f"""
spc._native._set_catalogue({os.environ.get("SPC_TEST_CATALOGUE")!r})
g = spc.kernel("z(p) = M(p,q) * w(q)")
assert np.allclose(g(A, x), A @ x)
check()
print(g.tier, g.backend, f.tier)
"""
    assert run(tmp_path, code, **NO_COMPILER) == ["catalogue", "native", "jit"]


@needs_rustc
def test_a_kernel_begins_as_machine_code_and_goes_on_as_native_code(tmp_path):
    code = "check(); first = f.tier; f.settle(); check(); print(first, f.tier)"
    assert run(tmp_path, code) == ["jit", "rustc"]
    assert run(tmp_path, code) == ["cached", "cached"]


@needs_rustc
def test_what_is_deterministic_or_native_waits(tmp_path):
    for options in ["{'deterministic': True}", "{'backend': 'native'}"]:
        (tier,) = run(tmp_path, "check(); print(f.tier)", options)
        assert tier in ("rustc", "cached")
    assert run(tmp_path, "check(); print(f.tier)", "{'backend': 'jit'}") == ["jit"]


@needs_rustc
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_beside_a_compiler_at_work(tmp_path):
    code = """
import os
check()
warnings.simplefilter("ignore")
child = os.fork()
if child == 0:
    check()
    g = spc.kernel("z(j) = A(i,j) * w(i)")
    assert np.allclose(g(A, np.ones(300)), A.sum(axis=0))
    # What was made before the fork is dropped here: its thread is not.
    del f
    os._exit(7)
_, status = os.waitpid(child, 0)
f.settle()
check()
print(os.waitstatus_to_exitcode(status), f.tier)
"""
    assert run(tmp_path, code) == ["7", "rustc"]


@needs_rustc
def test_kernels_that_are_dropped_are_compiled_no_more(tmp_path):
    code = """
for factor in range(2, 30):
    g = spc.kernel(f"y(i) = {factor} * A(i,j) * x(j)")
    assert np.allclose(g(A, x), factor * (A @ x))
check()
f.settle()
print(f.tier)
"""
    assert run(tmp_path, code) == ["rustc"]
