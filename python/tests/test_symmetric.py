"""Symmetric, skew and Hermitian formats beside NumPy."""

import itertools

import numpy as np
import pytest
import scipy.sparse
import spc


def exchanged(order: int, extent: int, count: int, seed: int, kind: str = "symmetric") -> np.ndarray:
    """A dense array of few elements whose modes can be exchanged."""
    random = np.random.default_rng(seed)
    dtype = np.complex128 if kind == "hermitian" else np.float64
    made = np.zeros((extent,) * order, dtype)
    for index in np.sort(random.integers(0, extent, (count, order)), axis=1):
        value = random.integers(-8, 9) / 4 + (1j * random.integers(-8, 9) / 4 if kind == "hermitian" else 0)
        ties = len(set(index)) < order
        if ties and kind == "skew":
            continue
        for places in itertools.permutations(range(order)):
            odd = sum(one > next for one, next in itertools.combinations(places, 2)) % 2
            turned = value.real if ties and kind == "hermitian" else value
            if odd:
                turned = {"symmetric": turned, "skew": -turned, "hermitian": np.conj(turned)}[kind]
            made[tuple(index[list(places)])] = turned
    return made


def sparse(array: np.ndarray) -> spc.Array:
    where = np.nonzero(array)
    return spc.tensor(scipy.sparse.coo_array((array[where], where), shape=array.shape))


@pytest.mark.parametrize("kind", ["symmetric", "skew", "hermitian"])
@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "dcsr"])
def test_matrices_read_as_whole_ones(kind: str, layout: str) -> None:
    dense = exchanged(2, 30, 80, 1, kind)
    whole = scipy.sparse.csr_array(dense)
    a = spc.tensor(whole, format=f"{layout} {kind}")
    assert a.nnz < whole.nnz and len(a.data) == whole.nnz == a.coords.shape[1]
    x = np.random.default_rng(2).random(30)
    np.testing.assert_allclose(np.asarray(a @ x), dense @ x, atol=1e-12)
    np.testing.assert_array_equal(a.to_numpy(), dense)
    np.testing.assert_array_equal(a.to_scipy().toarray(), dense)
    np.testing.assert_array_equal((-a).to_numpy(), -dense)
    np.testing.assert_allclose(np.cos(a).to_numpy(), np.cos(dense))
    np.testing.assert_array_equal(abs(a).to_numpy(), abs(dense))
    np.testing.assert_allclose((a @ a).to_numpy(), dense @ dense, atol=1e-12)
    np.testing.assert_allclose(a.sum(), dense.sum(), atol=1e-12)
    row, column = (int(mode[5]) for mode in np.nonzero(dense))
    assert a[row, column] == dense[row, column] and a[column, row] == dense[column, row]


@pytest.mark.parametrize("order", [3, 4])
@pytest.mark.parametrize("seed", range(6))
def test_products_in_all_modes_but_one(order: int, seed: int) -> None:
    dense = exchanged(order, 6, 40, seed)
    b = np.random.default_rng(seed).random((6, 4))
    names = "ijkl"[:order]
    rest = " * ".join(f"B({name},r)" for name in names[1:])
    whole = np.einsum(f"{names},{','.join(f'{name}r' for name in names[1:])}->ir", dense, *[b] * (order - 1))
    given = sparse(dense)
    for format in ("csf symmetric", "coo symmetric"):
        kernel = spc.kernel(f"Y(i,r) = X({','.join(names)}) * {rest}", X=format, B="dense")
        np.testing.assert_allclose(np.asarray(kernel(given.to(format), b)), whole, atol=1e-10)


def test_results_are_computed_by_half() -> None:
    a = scipy.sparse.random_array((20, 15), density=0.2, rng=np.random.default_rng(3), format="csr")
    kernel = spc.kernel("C(i,j) = A(i,k) * A(j,k)", A="csr", C="csr symmetric(i, j)")
    made = kernel(a)
    assert "symmetric" in made.format
    np.testing.assert_allclose(made.to_numpy(), (a @ a.T).toarray(), atol=1e-12)


def test_what_is_not_symmetric_is_named() -> None:
    with pytest.raises(ValueError, match=r"not symmetric\(i, j\): at \(2, 1\) it is 3, and at \(1, 2\) it is 2"):
        spc.tensor(scipy.sparse.csr_array(np.array([[1.0, 2], [3, 4]])), format="csr symmetric")
    with pytest.raises(ValueError, match="extents are 2 and 3"):
        spc.tensor(scipy.sparse.csr_array(np.ones((2, 3))), format="csr symmetric")
