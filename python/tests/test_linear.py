"""Triangular solves, beside SciPy's and NumPy's."""

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.linalg import spsolve_triangular

import spc


def triangle(rng, extent, lower, dtype="float64"):
    dense = rng.integers(-4, 5, (extent, extent)) * (rng.random((extent, extent)) < 0.3)
    np.fill_diagonal(dense, 4 + rng.random(extent))
    return (np.tril if lower else np.triu)(dense / 4).astype(dtype)


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
@pytest.mark.parametrize("columns", [None, 1, 5, 40])
@pytest.mark.parametrize("lower", [True, False])
def test_as_scipy(rng, lower, columns, format):
    a = triangle(rng, 30, lower)
    b = rng.random(30 if columns is None else (30, columns))
    x = spc.spsolve_triangular(scipy.sparse.csr_array(a).asformat(format), b, lower=lower)
    assert x.shape == b.shape
    np.testing.assert_allclose(a @ x, b, atol=1e-9 * np.abs(x).max())
    np.testing.assert_allclose(x, spsolve_triangular(scipy.sparse.csr_array(a), b, lower=lower), rtol=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64"])
def test_types(rng, dtype):
    a = scipy.sparse.csr_array(triangle(rng, 12, True, "float64" if dtype == "int64" else dtype))
    b = rng.integers(1, 5, 12).astype(dtype)
    x = spc.spsolve_triangular(a, b)
    assert x.dtype == np.result_type(a.dtype, b.dtype)
    np.testing.assert_allclose(x, np.linalg.solve(a.toarray().astype("complex128"), b), rtol=1e-3)


def test_whole_numbers_have_fractions():
    x = spc.spsolve_triangular(scipy.sparse.csr_array([[2, 0], [1, 4]]), np.array([1, 1]))
    np.testing.assert_array_equal(x, [0.5, 0.125])


def test_the_diagonal_may_be_ones(rng):
    a = triangle(rng, 20, True)
    x = spc.spsolve_triangular(scipy.sparse.csr_array(a), np.ones(20), unit_diagonal=True)
    np.fill_diagonal(a, 1)
    np.testing.assert_allclose(a @ x, np.ones(20), atol=1e-9 * np.abs(x).max())


def test_what_lies_beside_the_triangle_is_not_read(rng):
    a = triangle(rng, 20, True) + np.triu(rng.random((20, 20)), 1)
    x = spc.spsolve_triangular(scipy.sparse.csr_array(a), np.ones(20))
    np.testing.assert_allclose(np.tril(a) @ x, np.ones(20), atol=1e-9 * np.abs(x).max())


@pytest.mark.parametrize("pivot", ["stored", "missing"])
def test_a_zero_pivot_is_an_error(pivot):
    a = scipy.sparse.csr_array(([1.0, 2.0, 0.0, 1.0], ([0, 1, 2, 3], [0, 1, 2, 3])), shape=(4, 4))
    if pivot == "missing":
        a.eliminate_zeros()
    with pytest.raises(ValueError, match=r"A\(2, 2\)"):
        spc.spsolve_triangular(a, np.ones(4))


def test_shapes():
    assert spc.spsolve_triangular(scipy.sparse.csr_array((0, 0)), np.zeros(0)).shape == (0,)
    with pytest.raises(ValueError, match="square"):
        spc.spsolve_triangular(scipy.sparse.csr_array((2, 3)), np.zeros(2))
    with pytest.raises(ValueError, match="right-hand sides"):
        spc.spsolve_triangular(scipy.sparse.eye_array(2, format="csr"), np.zeros(3))


@pytest.mark.parametrize("seed", range(40))
def test_random_recurrences(seed):
    """Text against loops over dense arrays that share nothing with the package."""
    rng = np.random.default_rng(seed)
    extent, columns = int(rng.integers(1, 14)), int(rng.integers(1, 20))
    falls = bool(rng.integers(2))
    gap = int(rng.integers(3))
    only = bool(rng.integers(4) == 0)
    has_columns = bool(rng.integers(2))
    least = bool(rng.integers(3) == 0)
    # A falling order is that of rows which are not stored.
    formats = ["csr", "csc", "dense"] + ([] if falls else ["coo", "dcsr", "ell", "bcsr(2)"])
    format = formats[rng.integers(len(formats))]
    a = rng.integers(-2, 3, (extent, extent)) / 2 * (rng.random((extent, extent)) < 0.5)
    w = rng.integers(-2, 3, extent) / 2
    b = rng.integers(-3, 4, (extent, columns) if has_columns else extent).astype(float)

    step = gap + 1
    condition = f"j == i {'+' if falls else '-'} {step}" if only else f"j {'>' if falls else '<'} i {'+' if falls else '-'} {gap}"
    column = ", r" if has_columns else ""
    term = f"A(i, j) * w(j) * x(j{column})"
    if least:
        text = f"x(i{column}) = min(b(i{column}), min(j)(w(j) + x(j{column}) where {condition}))"
    else:
        text = f"x(i{column}) = b(i{column}) - sum(j)({term} where {condition})"

    want = np.zeros_like(b)
    for i in range(extent)[:: -1 if falls else 1]:
        chosen = [j for j in range(extent) if (abs(i - j) == step if only else abs(i - j) > gap) and (j > i) == falls and j != i]
        if least:
            want[i] = np.min([b[i], *(w[j] + want[j] for j in chosen)], axis=0)
        else:
            want[i] = b[i] - sum(a[i, j] * w[j] * want[j] for j in chosen)
    given = {"b": b, "w": w} | ({} if least else {"A": spc.tensor(a, format=format)})
    got = spc.kernel(text, **({} if least else {"A": format}), backend="jit")(**given)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12, err_msg=f"{text} {format}")
