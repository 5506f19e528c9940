"""Solvers, beside SciPy's and NumPy's."""

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import spc
from spc import linalg


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
    x = linalg.spsolve_triangular(scipy.sparse.csr_array(a).asformat(format), b, lower=lower)
    assert x.shape == b.shape
    np.testing.assert_allclose(a @ x, b, atol=1e-9 * np.abs(x).max())
    np.testing.assert_allclose(x, scipy.sparse.linalg.spsolve_triangular(scipy.sparse.csr_array(a), b, lower=lower), rtol=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64"])
def test_types(rng, dtype):
    a = scipy.sparse.csr_array(triangle(rng, 12, True, "float64" if dtype == "int64" else dtype))
    b = rng.integers(1, 5, 12).astype(dtype)
    x = linalg.spsolve_triangular(a, b)
    assert x.dtype == np.result_type(a.dtype, b.dtype)
    np.testing.assert_allclose(x, np.linalg.solve(a.toarray().astype("complex128"), b), rtol=1e-3)


def test_whole_numbers_have_fractions():
    x = linalg.spsolve_triangular(scipy.sparse.csr_array([[2, 0], [1, 4]]), np.array([1, 1]))
    np.testing.assert_array_equal(x, [0.5, 0.125])


def test_the_diagonal_may_be_ones(rng):
    a = triangle(rng, 20, True)
    x = linalg.spsolve_triangular(scipy.sparse.csr_array(a), np.ones(20), unit_diagonal=True)
    np.fill_diagonal(a, 1)
    np.testing.assert_allclose(a @ x, np.ones(20), atol=1e-9 * np.abs(x).max())


def test_what_lies_beside_the_triangle_is_not_read(rng):
    a = triangle(rng, 20, True) + np.triu(rng.random((20, 20)), 1)
    x = linalg.spsolve_triangular(scipy.sparse.csr_array(a), np.ones(20))
    np.testing.assert_allclose(np.tril(a) @ x, np.ones(20), atol=1e-9 * np.abs(x).max())


@pytest.mark.parametrize("lower", [True, False])
def test_the_gradient_of_a_solve_is_a_solve_with_the_transpose(rng, lower):
    a, b, dx = triangle(rng, 20, lower), rng.random(20), rng.random(20)
    comes_before = "<" if lower else ">"
    solve = spc.kernel(f"x(i) = (b(i) - sum(j)(A(i, j) * x(j) where j {comes_before} i)) / A(i, i)", A="csr")
    da, db = solve.grad("A", "b")(A=scipy.sparse.csr_array(a), b=b, dx=dx)
    want = np.linalg.solve(a.T, dx)
    np.testing.assert_allclose(db, want, rtol=1e-9, atol=1e-9 * np.abs(want).max())
    full = -np.outer(want, np.linalg.solve(a, b)) * (a != 0)
    np.testing.assert_allclose(da.to_numpy(), full, rtol=1e-9, atol=1e-9 * np.abs(full).max())


@pytest.mark.parametrize("pivot", ["stored", "missing"])
def test_a_zero_pivot_is_an_error(pivot):
    a = scipy.sparse.csr_array(([1.0, 2.0, 0.0, 1.0], ([0, 1, 2, 3], [0, 1, 2, 3])), shape=(4, 4))
    if pivot == "missing":
        a.eliminate_zeros()
    with pytest.raises(ValueError, match=r"A\(2, 2\)"):
        linalg.spsolve_triangular(a, np.ones(4))


def test_shapes():
    assert linalg.spsolve_triangular(scipy.sparse.csr_array((0, 0)), np.zeros(0)).shape == (0,)
    with pytest.raises(ValueError, match="square"):
        linalg.spsolve_triangular(scipy.sparse.csr_array((2, 3)), np.zeros(2))
    with pytest.raises(ValueError, match="right-hand sides"):
        linalg.spsolve_triangular(scipy.sparse.eye_array(2, format="csr"), np.zeros(3))


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


@pytest.mark.parametrize("seed", range(40))
def test_random_sparse_recurrences(seed):
    """Results that have the entries of a mask, made of elements of their own, against loops over dense arrays."""
    rng = np.random.default_rng(1000 + seed)
    extent = int(rng.integers(1, 10))
    format = ["csr", "csc", "dcsr", "dense"][rng.integers(4)]
    has_entry = np.ones((extent, extent), bool) if format == "dense" else rng.random((extent, extent)) < 0.5
    a = rng.integers(1, 4, (extent, extent)) / 4 * has_entry
    terms = [
        ("F(i, k) * F(k, j)", "k < i && k < j", lambda f, i, j, k: f[i, k] * f[k, j] if k < i and k < j else 0),
        ("F(i, k) * F(j, k)", "k < j && j < i", lambda f, i, j, k: f[i, k] * f[j, k] if k < j < i else 0),
        ("F(k, k)", "k < i && k < j", lambda f, i, j, k: f[k, k] if k < i and k < j else 0),
        ("F(k, j) * A(i, k)", "k <= i - 1", lambda f, i, j, k: f[k, j] * a[i, k] if k < i else 0),
        ("F(i, k) / 2", "k + 1 == j", lambda f, i, j, k: f[i, k] / 2 if k + 1 == j else 0),
    ]
    # The second and the last two come before in the order of rows alone; rows that are stored are not searched beside entries of another.
    fitting = [terms[0], terms[2]] if format == "csc" else [*terms[:3], terms[4]] if format == "dcsr" else terms
    chosen = [fitting[place] for place in rng.choice(len(fitting), size=2, replace=False)]
    sums = " - ".join(f"sum(k)({body} where {condition})" for body, condition, _ in chosen)
    text = f"F(i, j) = A(i, j) - {sums}" + ("" if format == "dense" else " where A(i, j)")

    want = np.zeros_like(a)
    order = [(i, j) for i in range(extent) for j in range(extent)]
    for i, j in sorted(order, key=lambda place: place[::-1]) if format == "csc" else order:
        if has_entry[i, j]:
            want[i, j] = a[i, j] - sum(term(want, i, j, k) for *_, term in chosen for k in range(extent))
    got = spc.kernel(text, A=format, F=format, backend="jit")(spc.tensor(a, format=format))
    np.testing.assert_allclose(got if format == "dense" else got.to_numpy(), want, rtol=1e-9, atol=1e-9, err_msg=f"{text} {format}")


def grid(extent, dtype="float64"):
    """The Laplacian of a square of points, which is positive definite."""
    row = scipy.sparse.diags_array([-1.0, 4.0, -1.0], offsets=[-1, 0, 1], shape=(extent, extent))
    beside = scipy.sparse.diags_array([-1.0, -1.0], offsets=[-1, 1], shape=(extent, extent))
    one = scipy.sparse.eye_array(extent)
    return (scipy.sparse.kron(one, row) + scipy.sparse.kron(beside, one)).tocsr().astype(dtype)


def skewed(rng, extent, dtype):
    """A matrix that is not symmetric, with a large diagonal."""
    a = scipy.sparse.random_array((extent, extent), density=0.1, rng=rng, format="csr").astype(dtype)
    return (a * (1j if np.dtype(dtype).kind == "c" else 1) + scipy.sparse.eye_array(extent) * 2.0).astype(dtype).tocsr()


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64"])
def test_incomplete_factors_agree_with_the_matrix_where_it_has_entries(rng, dtype):
    a = skewed(rng, 40, "float64" if dtype == "int64" else dtype)
    a = scipy.sparse.csr_array((a.toarray() * 8).astype(dtype)) if dtype == "int64" else a
    m = linalg.ilu(a)
    f = m.factors.to_numpy()
    assert m.shape == a.shape and m.factors.nnz == a.nnz and np.all((f != 0) <= (a.toarray() != 0))
    product = np.tril(f) @ np.diag(1 / np.diag(f)) @ np.triu(f)
    np.testing.assert_allclose(product[a.toarray() != 0], a.toarray()[a.toarray() != 0], rtol=1e-4 if dtype == "float32" else 1e-10)
    b = rng.random((40, 3)).astype(f.dtype)
    for sides in (b, b[:, 0].copy()):
        np.testing.assert_allclose(m @ sides, np.linalg.solve(product, sides), rtol=1e-3 if dtype == "float32" else 1e-9)


def test_incomplete_cholesky_is_ilu_of_a_symmetric_matrix():
    a = grid(12)
    np.testing.assert_allclose(linalg.ic(a).factors.to_numpy(), linalg.ilu(a).factors.to_numpy(), rtol=1e-12)
    # What lies above the diagonal is not read.
    np.testing.assert_array_equal(linalg.ic(scipy.sparse.tril(a)).factors.to_numpy(), linalg.ic(a).factors.to_numpy())
    full = scipy.sparse.csr_array(grid(4).toarray() + 1e-300)
    l = np.tril(linalg.ic(full).factors.to_numpy())
    np.testing.assert_allclose(l / np.sqrt(np.diag(l)), np.linalg.cholesky(full.toarray()), atol=1e-12)


def test_pivots_of_factorizations_are_checked():
    with pytest.raises(ValueError, match=r"the pivot of row 1 is -1"):
        linalg.ic(scipy.sparse.diags_array([1.0, -1.0, 2.0]).tocsr())
    with pytest.raises(ValueError, match="the pivot of row 0 is zero or not stored"):
        linalg.ilu(scipy.sparse.csr_array([[0.0, 1.0], [1.0, 0.0]]))
    with pytest.raises(ValueError, match=r"F\(0, 0\)"):
        linalg.ilu(scipy.sparse.csr_array(([0.0, 1.0, 1.0, 1.0], ([0, 0, 1, 1], [0, 1, 0, 1]))))
    weak = scipy.sparse.csr_array(np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(ValueError, match="shift"):
        linalg.ic(weak)
    assert linalg.ic(weak, shift=2.0).factors.to_numpy()[0, 0] == 3.0
    with pytest.raises(ValueError, match="square"):
        linalg.ilu(scipy.sparse.csr_array((2, 3)))
    with pytest.raises(ValueError, match="complex"):
        linalg.ic(scipy.sparse.eye_array(3, dtype="complex128").tocsr())


METHODS = [linalg.cg, linalg.bicgstab, linalg.gmres]


@pytest.mark.parametrize("factorization", [None, linalg.ic, linalg.ilu])
@pytest.mark.parametrize("method", METHODS)
def test_methods_solve(rng, method, factorization):
    a, b = grid(20), rng.random(400)
    m = None if factorization is None else factorization(a)
    seen = []
    found = method(a, b, rtol=1e-10, M=m, callback=lambda x: seen.append(np.linalg.norm(b - a @ x)))
    x, info = found
    assert info == 0 and x is found.x and "converged" in found.message
    np.testing.assert_allclose(a @ x, b, atol=1e-8)
    assert len(found.history) == len(seen) + 1
    np.testing.assert_allclose(found.history[1:], seen, rtol=1e-3, atol=1e-8)
    if m is not None:
        assert len(found.history) < 0.7 * len(method(a, b, rtol=1e-10).history)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("method", METHODS[1:])
def test_methods_solve_other_types(rng, method, dtype):
    a = skewed(rng, 60, dtype)
    b = rng.random(60).astype(dtype)
    for m in (None, linalg.ilu(a)):
        x, info = method(a, b, M=m)
        assert info == 0 and x.dtype == dtype
        np.testing.assert_allclose(a @ x, b, atol=1e-3)


def test_conjugate_gradients_of_a_hermitian_matrix(rng):
    a = grid(8).astype("complex128")
    a = a + 0.5j * scipy.sparse.triu(a, 1) - 0.5j * scipy.sparse.tril(a, -1) + scipy.sparse.eye_array(64)
    b = rng.random(64) + 1j * rng.random(64)
    x, info = linalg.cg(a.tocsr(), b, rtol=1e-10)
    assert info == 0
    np.testing.assert_allclose(a @ x, b, atol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_methods_end(rng, method):
    a, b = grid(20), rng.random(400)
    short = method(a, b, rtol=1e-12, maxiter=3)
    assert short.info == 3 and len(short.history) == 4 and "not converged in 3 iterations" in short.message
    # It goes on from where it has ended.
    assert method(a, b, short.x, rtol=1e-8).history[0] == pytest.approx(short.history[-1], rel=1e-3)
    assert method(a, b, method(a, b, rtol=1e-12).x).history.shape == (1,)
    assert method(a, np.zeros(400)).info == 0
    assert method(scipy.sparse.csr_array((0, 0)), np.zeros(0)).x.shape == (0,)
    wrong = b.copy()
    wrong[5] = np.nan
    lost = method(a, wrong)
    assert lost.info == -1 and "the residual is nan after 0 iterations" in lost.message
    # A singular matrix, for which there is no solution.
    none = method(scipy.sparse.diags_array([1.0, 1.0, 0.0]).tocsr(), np.ones(3), maxiter=50)
    assert none.info != 0 and none.history[-1] >= 0.9
    with pytest.raises(ValueError, match="right-hand side"):
        method(a, np.zeros(3))
    with pytest.raises(ValueError, match="x0"):
        method(a, b, np.zeros(3))
    with pytest.raises(ValueError, match="square"):
        method(scipy.sparse.csr_array((2, 3)), np.zeros(2))
    with pytest.raises(TypeError, match="M @ r"):
        method(a, b, M=3)


def test_few_vectors_are_kept(rng):
    a, b = grid(12), rng.random(144)
    for restart in (1, 3, 500):
        assert linalg.gmres(a, b, restart=restart).info == 0
    with pytest.raises(ValueError, match="restart"):
        linalg.gmres(a, b, restart=0)


def test_operators_are_matrices_and_preconditioners(rng):
    a, b = grid(12), rng.random(144)
    m = linalg.ic(a)
    for operator in (spc.tensor(a), a.toarray(), scipy.sparse.linalg.aslinearoperator(a), a.tocoo()):
        np.testing.assert_allclose(a @ linalg.cg(operator, b, rtol=1e-10, M=m).x, b, atol=1e-8)
    ours = scipy.sparse.linalg.LinearOperator((144, 144), matvec=lambda r: r / 4, dtype="float64")
    assert linalg.cg(a, b, M=ours).info == 0
    x, info = scipy.sparse.linalg.cg(a, b, M=m, rtol=1e-10)
    assert info == 0
    np.testing.assert_allclose(a @ x, b, atol=1e-8)


def test_histories_are_drawn(rng):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    found = linalg.cg(grid(6), rng.random(36))
    axes = found.plot(pyplot.figure().subplots())
    np.testing.assert_array_equal(axes.get_lines()[0].get_ydata(), found.history)


def test_a_given_pattern_holds_the_whole_factorization():
    """A line factors as a direct method does, where a mask has the entries that elimination fills in."""
    a = grid(6).toarray()
    pattern = np.tril(a != 0)
    for k in range(len(a)):
        below = np.flatnonzero(pattern[:, k])
        pattern[np.ix_(below, below)] |= np.tril(np.ones((len(below), len(below)), bool))
    text = "L(i, j) = A(i, j) - sum(k)(L(i, k) * L(j, k) / L(k, k) where k < j && j <= i) where P(i, j)"
    mask = scipy.sparse.csr_array(pattern.astype("float64"))
    factor = spc.kernel(text, A="csr", P="csr", L="csr")(A=scipy.sparse.csr_array(a), P=mask)
    assert factor.nnz == mask.nnz > np.tril(a != 0).sum()
    f = factor.to_numpy()
    np.testing.assert_allclose(f @ np.diag(1 / np.diag(f)) @ f.T, a, atol=1e-12)
