"""Every format × element × index width, against SciPy and NumPy."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from conftest import ELEMENTS, matrix, quiet

import spc

FORMATS = ["csr", "csc", "coo", "bsr", "dia"]


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("dtype", ELEMENTS)
@pytest.mark.parametrize("format", FORMATS)
def test_product_with_a_vector(rng, format, dtype, index):
    a = matrix(rng, dtype=dtype, format=format, index=index)
    x = rng.integers(-4, 5, a.shape[1]).astype(dtype)
    y = quiet(lambda: spc.einsum("ij,j->i", a, x))
    assert y.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(y, a.toarray() @ x)


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("format", FORMATS)
def test_there_and_back(rng, format, index):
    a = matrix(rng, format=format, index=index)
    made = quiet(lambda: spc.tensor(a))
    assert made.shape == a.shape
    np.testing.assert_array_equal(made.to_numpy(), a.toarray())
    np.testing.assert_array_equal(made.to_scipy().toarray(), a.toarray())


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr"])
def test_tensors_have_the_widths_of_matrices(rng, format, index):
    a = matrix(rng, format=format, index=index)
    with warnings.catch_warnings():
        warnings.simplefilter("error", spc.CopyWarning)
        made = spc.tensor(a)
    if format in ("csr", "csc"):
        for copy in [True, False]:
            back = made.to_scipy(copy=copy)
            assert back.format == format and back.indices.dtype == np.dtype(index)
            assert np.shares_memory(back.data, made.values) != copy


@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, scipy.sparse.lil_matrix])
def test_arrays_and_matrices(rng, kind):
    a = kind(matrix(rng).toarray())
    b = rng.random((18, 4))
    np.testing.assert_allclose(quiet(lambda: spc.einsum("ij,jk->ik", a, b)), a.toarray() @ b)


class Mine(scipy.sparse.csr_matrix):
    """A subclass in a module that is not SciPy's."""


def test_subclasses_are_taken_for_what_they_have(rng):
    a, x = Mine(matrix(rng)), rng.random(18)
    np.testing.assert_allclose(spc.einsum("ij,j->i", a, x), a @ x)
    np.testing.assert_array_equal(spc.tensor(a).to_numpy(), a.toarray())


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dcsr"])
def test_sparse_results(rng, format):
    a, b = matrix(rng), matrix(rng, shape=(18, 9))
    c = spc.einsum("ij,jk->ik", a, b, format=format)
    np.testing.assert_array_equal(c.to_numpy(), (a @ b).toarray())
    assert (c.to_scipy() != a @ b).nnz == 0


def test_sums_of_sparse_matrices(rng):
    a, b = matrix(rng), matrix(rng)
    c = spc.einsum("C(i,j) = A(i,j) + 2 * B(i,j)", A=a, B=b, format="csr")
    np.testing.assert_array_equal(c.to_numpy(), a.toarray() + 2 * b.toarray())


def test_unsorted_indices_are_said_and_right(rng):
    a = matrix(rng)
    order = np.concatenate([np.arange(a.indptr[row], a.indptr[row + 1])[::-1] for row in range(a.shape[0])])
    shuffled = scipy.sparse.csr_array((a.data[order], a.indices[order], a.indptr), shape=a.shape)
    x = rng.random(18)
    with pytest.warns(spc.CopyWarning, match="not sorted"):
        y = spc.einsum("ij,j->i", shuffled, x)
    np.testing.assert_allclose(y, a.toarray() @ x)
    assert not shuffled.has_sorted_indices  # the user's matrix is as it was


def test_duplicates_are_summed_or_refused():
    a = scipy.sparse.csr_array((np.ones(3), np.array([1, 1, 0], dtype=np.int32), np.array([0, 2, 3], dtype=np.int32)), shape=(2, 2))
    with pytest.warns(spc.CopyWarning):
        np.testing.assert_array_equal(spc.tensor(a).to_numpy(), [[0, 2], [1, 0]])
    with pytest.raises(ValueError):
        spc.tensor(a, duplicates="refuse")


@pytest.mark.parametrize("wrong", [-1, 99])
def test_wrong_indices_are_refused(rng, wrong):
    a = matrix(rng)
    a.indices[3] = wrong
    with pytest.raises(ValueError, match="18"):
        spc.einsum("ij,j->i", a, rng.random(18))


def test_a_change_in_place_is_seen(rng):
    a, x = matrix(rng), rng.random(18)
    spc.einsum("ij,j->i", a, x)
    place = int(a.indptr[1])
    a.indices[place] = 17 if a.indices[place] != 17 else 16
    with pytest.warns(spc.CopyWarning):
        np.testing.assert_allclose(spc.einsum("ij,j->i", a, x), a.toarray() @ x)
    a.indices[0] = 1000
    with pytest.raises(ValueError):
        spc.einsum("ij,j->i", a, x)


def test_empty_matrices():
    for shape in [(0, 3), (3, 0), (3, 3)]:
        a = scipy.sparse.csr_array(shape)
        np.testing.assert_array_equal(spc.einsum("ij,j->i", a, np.ones(shape[1])), np.zeros(shape[0]))


def test_solvers(rng):
    from scipy.sparse.linalg import cg, svds

    dense = rng.random((30, 30)) * (rng.random((30, 30)) < 0.2)
    a = scipy.sparse.csr_array(dense @ dense.T + 30 * np.eye(30))
    operator = spc.aslinearoperator(a)
    x, info = cg(operator, np.ones(30), rtol=1e-10)
    assert info == 0
    np.testing.assert_allclose(a @ x, np.ones(30), atol=1e-6)
    b = matrix(rng)
    operator = spc.aslinearoperator(b)
    np.testing.assert_allclose(operator.T @ np.ones(12), b.T @ np.ones(12))
    np.testing.assert_allclose(operator @ np.eye(18), b.toarray())
    assert svds(operator, k=2)[1] == pytest.approx(svds(b, k=2)[1])
