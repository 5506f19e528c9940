"""Tensors of other libraries, files, decompositions."""

import importlib.util
import pickle
import warnings

import numpy as np
import pytest
from conftest import matrix, quiet

import spc


def test_columns_of_coordinates():
    made = spc.tensor((([0, 2, 0], [1, 0, 1], [3, 3, 3]), [1.0, 2.0, 4.0]), shape=(3, 2, 4))
    want = np.zeros((3, 2, 4))
    want[0, 1, 3], want[2, 0, 3] = 5, 2
    np.testing.assert_array_equal(made.to_numpy(), want)
    assert made[0, 1, 3] == 5 and made[0, 0, 0] == 0 and made[-1, 0, 3] == 2
    with pytest.raises(IndexError):
        made[3, 0, 0]
    with pytest.raises(ValueError, match="from 0"):
        spc.tensor((([0, -1],), [1.0, 2.0]))
    with pytest.raises(ValueError):
        spc.tensor((([0, 5],), [1.0, 2.0]), shape=(3,))
    with pytest.raises(ValueError):
        spc.tensor((([1, 1],), [1.0, 2.0]), shape=(3,), duplicates="refuse")


def test_pandas_columns():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"user": [0, 1, 1], "item": [2, 0, 2], "rating": [5.0, 3.0, 4.0]})
    made = spc.tensor(((table["user"], table["item"]), table["rating"]))
    np.testing.assert_array_equal(made.to_numpy(), [[0, 0, 5], [3, 0, 4]])


@pytest.mark.parametrize("kind", ["COO", "GCXS"])
def test_pydata_sparse(rng, kind):
    sparse = pytest.importorskip("sparse")
    a = getattr(sparse, kind).from_numpy(matrix(rng).toarray())
    x = rng.random(18)
    np.testing.assert_allclose(quiet(lambda: spc.einsum("ij,j->i", a, x)), a.todense() @ x)
    cube = sparse.random((4, 5, 6), density=0.2, random_state=1)
    np.testing.assert_allclose(spc.einsum("ijk->ik", cube), cube.todense().sum(1))
    filled = getattr(sparse, kind).from_numpy(np.array([[1, 3.0], [1, 1]]), fill_value=1)
    assert spc.tensor(filled).fill == 1
    np.testing.assert_array_equal(spc.tensor(filled).to_numpy(), filled.todense())
    assert spc.tensor(filled).to_sparse().fill_value == 1
    assert spc.einsum("ij->", filled) == 6
    with pytest.raises(ValueError, match="fill value"):
        spc.tensor(sparse.COO.from_numpy(np.ones((2, 2), dtype=complex), fill_value=1j))


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_what_is_not_stored_is_what_the_format_says(rng, format):
    w, d = matrix(rng, format=format), rng.random(18)
    dense = np.where(w.toarray() == 0, np.inf, w.toarray())
    for declared in ["csr fill inf", "f64 csr fill inf", f"{format} fill inf"]:
        nearest = spc.kernel("e(i) = min(j)(W(i,j) + d(j))", W=declared, backend="jit")
        np.testing.assert_array_equal(nearest(w, d), (dense + d).min(1))
        np.testing.assert_array_equal(nearest(spc.tensor(w), d, ranks=2), (dense + d).min(1))
    more = spc.kernel("B(i,j) = W(i,j) + 1", W="csr fill inf", B="csr fill inf", backend="jit")(w)
    assert more.fill == np.inf and more[0, int(np.argmin(w.toarray()[0]))] == np.inf and "inf" in more._repr_html_()
    np.testing.assert_array_equal(more.to_numpy(), dense + 1)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(more)).to_numpy(), dense + 1)
    np.testing.assert_array_equal(more.to("coo").to_numpy(), dense + 1)
    # A kernel takes it as it is.
    np.testing.assert_array_equal(spc.einsum("e(i) = min(j)(B(i,j))", B=more), (dense + 1).min(1))
    for wrong in [more.to_scipy, more.to_torch if module_is_there("torch") else more.to_scipy, lambda: more.write("nothing.bsp.npz")]:
        with pytest.raises(ValueError, match="inf"):
            wrong()


@pytest.mark.parametrize("element, dtype, fill", [("i32", "int32", -3), ("f32", "float32", 0.1), ("bool", "bool", True), ("u8", "uint8", 200)])
def test_fill_values_of_elements(element, dtype, fill):
    format = f"{element} [compressed] fill {str(fill).lower()}"
    t = spc.kernel("B(i) = A(i)", A=format, B=format, backend="jit")(
        spc.tensor(([np.array([1, 3])], np.array([1, 0], dtype=dtype)), shape=(5,)))
    assert t.fill == np.dtype(dtype).type(fill) and t.dtype == dtype
    want = np.full(5, fill, dtype=dtype)
    want[[1, 3]] = 1, 0
    np.testing.assert_array_equal(t.to_numpy(), want)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(t)).to_numpy(), want)


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("shape, rows", [
    *(((4, 5, 6), rows) for rows in [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]), ((3, 4, 2, 5), (1, 3)), ((3, 4, 2, 5), (0, 1, 2)),
    ((2, 3, 2, 2, 3), (4,)),
])
def test_arrays_of_pydata_with_modes_as_rows(rng, shape, rows, index):
    sparse = pytest.importorskip("sparse")
    a = sparse.GCXS.from_coo(sparse.random(shape, density=0.3, random_state=1), compressed_axes=rows)
    a.indptr, a.indices = a.indptr.astype(index), a.indices.astype(index)
    with warnings.catch_warnings():
        warnings.simplefilter("error", spc.CopyWarning)
        t = spc.tensor(a)
    np.testing.assert_array_equal(t.to_numpy(), a.todense())
    letters = "abcde"[: len(shape)]
    for mode, letter in enumerate(letters):
        x = rng.random(shape[mode])
        np.testing.assert_allclose(spc.einsum(f"{letters},{letter}->{letters.replace(letter, '')}", a, x),
                                   np.tensordot(a.todense(), x, (mode, 0)))
    back = t.to_sparse()
    assert isinstance(back, sparse.GCXS) and tuple(back.compressed_axes) == rows and np.shares_memory(back.data, t.values)
    np.testing.assert_array_equal(back.todense(), a.todense())
    np.testing.assert_array_equal(t.to("csf").to_numpy(), a.todense())
    assert isinstance(t.to("csf").to_sparse(), sparse.COO)


def module_is_there(name):
    return importlib.util.find_spec(name) is not None


def test_torch(rng):
    torch = pytest.importorskip("torch")
    dense = torch.from_numpy(matrix(rng).toarray())
    x = torch.from_numpy(rng.random(18))
    want = (dense @ x).numpy()
    for a in [dense, dense.to_sparse_csr(), dense.to_sparse_csc(), dense.to_sparse_coo().coalesce()]:
        np.testing.assert_allclose(spc.einsum("ij,j->i", a, x), want)
        back = spc.tensor(a).to_torch()
        np.testing.assert_array_equal(back.to_dense().numpy() if back.layout is not torch.strided else back.numpy(), dense.numpy())


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dcsr", "csf", "alto", "hicoo(4)", "ell", "bcsr(4)", "dense", "dia"])
def test_conversions(rng, format):
    a = matrix(rng, shape=(12, 16))
    made = spc.tensor(a).to(format)
    np.testing.assert_array_equal(made.to_numpy(), a.toarray())
    np.testing.assert_array_equal(made.to_scipy().toarray(), a.toarray())
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(made)).to_numpy(), a.toarray())


@pytest.mark.parametrize("name", ["a.tns", "a.mtx", "a.mtx.gz", "a.spct", "a.npy"])
def test_files(rng, tmp_path, name):
    a = matrix(rng)
    spc.write(tmp_path / name, a)
    np.testing.assert_array_equal(spc.read(tmp_path / name).to_numpy()[:12, :18], a.toarray())
    with pytest.raises(OSError):
        spc.read(tmp_path / "none.mtx")
    with pytest.raises(OSError):
        spc.write(tmp_path / "a.unknown", a)


def test_cp_and_tucker(rng):
    factors = [rng.random((extent, 2)) for extent in (6, 7, 8)]
    dense = np.einsum("ar,br,cr->abc", *factors)
    found = spc.cp_als(spc.tensor(dense, format="csf"), 2, iterations=200, tolerance=1e-9)
    assert found.fit > 0.999
    np.testing.assert_allclose(found.to_numpy(), dense, atol=0.05)
    assert [factor.shape for factor in found.factors] == [(6, 2), (7, 2), (8, 2)]
    assert spc.cp_nonnegative(dense, 2).factors[0].min() >= 0
    assert spc.cp_apr(np.round(dense * 3), 2).weights.shape == (2,)
    model = spc.tucker(dense, [2, 2, 2])
    assert model.fit > 0.999 and model.core.shape == (2, 2, 2)
    np.testing.assert_allclose(model.to_numpy(), dense, atol=1e-6)
    np.testing.assert_allclose(spc.hosvd(dense, [2, 2, 2]).to_numpy(), dense, atol=1e-6)
    assert spc.power(dense).weights.shape == (1,)
    with pytest.raises(ValueError):
        spc.cp_als(dense, 0)
    with pytest.raises(ValueError):
        spc.tucker(dense, [9, 2, 2])
