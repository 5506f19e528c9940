"""Tensors and other libraries: what goes in comes out, in the same memory where that is said."""

import json

import numpy as np
import pytest
import scipy.sparse
from conftest import ELEMENTS, matrix, quiet

import spc

FORMATS = ["csr", "csc", "coo", "dcsr", "dense", "(i, j) -> [j: compressed, i: compressed]", "(i, j) -> [j: dense, i: dense]"]
BINSPARSE = {"csr": "CSR", "csc": "CSC", "coo": "COOR", "dcsr": "DCSR", "dense": "DMATR",
             "(i, j) -> [j: compressed, i: compressed]": "DCSC", "(i, j) -> [j: dense, i: dense]": "DMATC"}


def test_dense_tensors_are_lent_by_dlpack(rng):
    t = spc.tensor(rng.random((3, 4)))
    array = np.from_dlpack(t)
    assert np.shares_memory(array, t.values) and np.array_equal(array, t.to_numpy())
    assert np.array_equal(spc.tensor(Lender(array)).to_numpy(), array)
    with pytest.raises(BufferError, match="entries"):
        np.from_dlpack(spc.tensor(matrix(rng)))


class Lender:
    """An array that is known by its protocol alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dense", "alto"])
def test_entries_and_pandas(rng, format):
    a = matrix(rng)
    t = spc.tensor(a).to(format)
    (rows, columns), values = t.entries()
    dense = np.zeros(a.shape)
    dense[rows, columns] = values
    assert np.array_equal(dense, a.toarray())
    pandas = pytest.importorskip("pandas")
    frame = t.to_pandas()
    assert list(frame.columns) == ["i", "j", "value"] and len(frame) == len(values)
    again = spc.tensor(([frame["i"], frame["j"]], frame["value"]), shape=a.shape)
    assert np.array_equal(again.to_numpy(), a.toarray())
    assert isinstance(frame, pandas.DataFrame)
    with pytest.raises(ValueError, match="2 modes"):
        t.to_pandas(["row"])


def test_polars_columns(rng):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"i": [1, 0, 1], "j": [2, 1, 2], "v": [1.0, 2.0, 3.0]})
    t = spc.tensor(([frame["i"], frame["j"]], frame["v"]), shape=(2, 3))
    assert np.array_equal(t.to_numpy(), [[0, 2, 0], [0, 0, 4]])


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dcsr"])
def test_pydata_and_back(rng, format):
    sparse = pytest.importorskip("sparse")
    a = matrix(rng)
    t = spc.tensor(a).to(format)
    made = t.to_sparse()
    assert isinstance(made, sparse.GCXS if format in ("csr", "csc") else sparse.COO)
    assert np.array_equal(made.todense(), a.toarray())
    if format in ("csr", "csc"):
        assert np.shares_memory(made.data, t.values)
    assert np.array_equal(quiet(lambda: spc.tensor(made).to_numpy()), a.toarray())


def test_pydata_of_three_modes(rng):
    sparse = pytest.importorskip("sparse")
    x = sparse.random((5, 6, 7), density=0.2, random_state=1)
    for made in [x, sparse.GCXS.from_coo(x)]:
        t = quiet(lambda made=made: spc.tensor(made, format="csf"))
        assert np.array_equal(t.to_sparse().todense(), x.todense())


@pytest.mark.parametrize("suffix", [".h5", ".bsp.npz"])
@pytest.mark.parametrize("dtype", [*ELEMENTS, "bool", "complex64", "int8"])
@pytest.mark.parametrize("format", FORMATS)
def test_binsparse_files(rng, tmp_path, format, dtype, suffix):
    if suffix == ".h5":
        pytest.importorskip("h5py")
    a = matrix(rng, dtype="float64")
    dense = a.toarray().astype(dtype)
    t = spc.tensor(dense).to(format)
    path = tmp_path / f"a{suffix}"
    t.write(path)
    again = spc.read(path)
    assert again.dtype == np.dtype(dtype) and np.array_equal(again.to_numpy(), dense)
    assert again.format.count("compressed") == t.format.count("compressed")
    assert header(path)["format"] == BINSPARSE[format]


def test_binsparse_file_stays_until_the_new_one_is_complete(tmp_path, monkeypatch):
    path = tmp_path / "a.bsp.npz"
    spc.write(path, np.eye(2))
    before = path.read_bytes()

    def fails(file, **arrays):
        file.write(b"half")
        raise OSError("no more room")

    monkeypatch.setattr(np, "savez", fails)
    with pytest.raises(OSError, match="no more room"):
        spc.write(path, np.ones((2, 2)))
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def header(path):
    if path.suffix == ".h5":
        import h5py
        with h5py.File(path) as file:
            return json.loads(file.attrs["binsparse"])["binsparse"]
    with np.load(path) as archive:
        return json.loads(str(archive["binsparse"]))["binsparse"]


@pytest.mark.parametrize("format", ["csf", "coo", "[dense, compressed, compressed]", "(i, j, k) -> [k: compressed, i: dense, j: compressed]",
                                    "(i, j, k) -> [j: compressed(nonunique), k: singleton, i: dense]", "alto", "dense"])
def test_binsparse_of_three_modes(rng, tmp_path, format):
    x = (rng.random((4, 5, 6)) < 0.3) * rng.random((4, 5, 6))
    path = tmp_path / "x.bsp.npz"
    spc.tensor(x).to(format).write(path)
    assert np.array_equal(spc.read(path).to_numpy(), x)
    assert header(path)["format"] == "custom"


def test_binsparse_of_vectors(rng, tmp_path):
    x = (rng.random(40) < 0.3) * rng.random(40)
    for format, name in [("csf", "CVEC"), ("dense", "DVEC")]:
        path = tmp_path / f"{format}.bsp.npz"
        spc.tensor(x).to(format).write(path)
        assert header(path)["format"] == name and np.array_equal(spc.read(path).to_numpy(), x)


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dcsr", "dense", "csf"])
def test_binsparse_files_are_those_of_the_reference(rng, tmp_path, format):
    reference = pytest.importorskip("binsparse")
    if format == "csf":
        x = (rng.random((4, 5, 6)) < 0.3) * rng.random((4, 5, 6))
    else:
        x = matrix(rng).toarray()
    spc.tensor(x).to(format).write(tmp_path / "a.bsp.npz")
    loaded = reference.load_binsparse(tmp_path / "a.bsp.npz")
    assert tuple(loaded.shape) == x.shape
    reference.save_binsparse(loaded, tmp_path / "b.npz")
    assert np.array_equal(spc.read(tmp_path / "b.npz").to_numpy(), x)


def test_what_the_reference_stores_in_short(tmp_path):
    """One value for all, and indices of one byte."""
    arrays = {"pointers_to_1": np.array([0, 1, 3], "u1"), "indices_1": np.array([1, 0, 2], "u1"), "values": np.array([2.5])}
    types = {"pointers_to_1": "uint8", "indices_1": "uint8", "values": "iso[float64]"}
    described = {"version": "0.1.0", "format": "CSR", "shape": [2, 3], "number_of_stored_values": 3, "data_types": types}
    path = tmp_path / "a.bsp.npz"

    def write(**changed):
        np.savez(path, **arrays, binsparse=np.asarray(json.dumps({"binsparse": {**described, **changed}})))

    write()
    assert np.array_equal(spc.read(path).to_numpy(), [[0, 2.5, 0], [2.5, 0, 2.5]])
    for changed, message in [({"version": "3.0.0"}, "version"), ({"format": "ELL"}, "ELL"), ({"structure": "symmetric_lower"}, "structure"),
                             ({"shape": [2, 3, 4]}, "3 modes"), ({"number_of_stored_values": 4, "data_types": {**types, "values": "float64"}}, "4 are stored"),
                             ({"data_types": {}}, "indices|values"), ({"format": "custom", "custom": {"level": {"level_desc": "tree"}}}, "tree")]:
        write(**changed)
        with pytest.raises(spc.BinsparseError, match=message):
            spc.read(path)
    write(shape=[2, 2])
    with pytest.raises(ValueError, match="extent 2"):
        spc.read(path)
    np.savez(tmp_path / "plain.npz", a=np.ones(3))
    scipy.sparse.save_npz(tmp_path / "s.npz", scipy.sparse.csr_array(np.eye(3)))
    assert np.array_equal(spc.read(tmp_path / "s.npz").to_numpy(), np.eye(3))


def test_tensors_show_their_arrays(rng):
    shown = spc.tensor(matrix(rng))._repr_html_()
    assert "[dense, compressed]" in shown and "<details>" in shown and "bytes" in shown
    small = spc.tensor(scipy.sparse.csr_array(np.eye(3)))._repr_html_()
    assert "<svg" in small and "data-cell=\"2.crd.2\"" in small


@pytest.mark.parametrize("name, kind", [("bfloat16", "float32"), ("float8_e4m3fn", "float32"), ("float8_e5m2", "float32"), ("int4", "int8"), ("uint4", "uint8")])
def test_element_types_of_ml_dtypes_are_widened(rng, name, kind):
    dtype = np.dtype(getattr(pytest.importorskip("ml_dtypes"), name))
    x = rng.integers(0, 4, (3, 4)).astype(dtype)
    want = x.astype(kind)
    v = np.arange(4.0)
    for found in [spc.asarray(x), spc.tensor(x), spc.tensor(x, format="csr"), spc.asarray(np.zeros((3, 4), kind)) + x, spc.tensor(x.T).T]:
        assert found.dtype == kind and np.array_equal(found.to_numpy(), want)
    np.testing.assert_array_equal(spc.einsum("ij,j->i", x, v), want @ v)
    np.testing.assert_array_equal(spc.kernel("y(i) = A(i,j) * x(j)")(x.astype(kind).astype(dtype), v), want @ v)
    np.testing.assert_array_equal((spc.tensor(want, format="csr") * x[1, 1] + x).to_numpy(), want * want[1, 1] + want)
    np.testing.assert_array_equal((x @ spc.asarray(v)).to_numpy() if name == "bfloat16" else want @ v, want @ v)


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_operators_of_scipys_matrices_take_arrays(rng, format, kind):
    dense, other = matrix(rng, (12, 12)).toarray(), matrix(rng, (12, 12)).toarray()
    s = getattr(scipy.sparse, f"{format}_{kind}")(scipy.sparse.csr_array(dense))
    t = spc.tensor(other, format="csr")
    for found, want in quiet(lambda: [(s @ t, dense @ other), (t @ s, other @ dense), (s + t, dense + other), (s - t, dense - other), (t - s, other - dense),
                                      (t * s, other * dense)]):
        assert isinstance(found, spc.Array) and found.is_sparse
        np.testing.assert_array_equal(found.to_numpy(), want)
    # For SciPy's matrices `*` is another product than for its arrays, and for ours.
    with pytest.raises(TypeError, match="to_scipy"):
        s * t
    np.testing.assert_array_equal(s @ spc.asarray(other), dense @ other)
