"""What tensors, their sources and their exports have in common: what is for reading stays so, and no change elsewhere makes a wrong number."""

import inspect

import numpy as np
import pytest
import scipy.sparse
from conftest import matrix, needs_rustc, quiet

import spc

ELEMENTS = ["float64", "float32", "int64", "uint8", "bool", "complex128"]


def for_reading(array):
    array.flags.writeable = False
    return array


def arrays_of(obj):
    """The arrays of an object, or itself."""
    if isinstance(obj, np.ndarray):
        return [obj]
    names = ["data", "indices", "indptr", "coords"]
    found = [getattr(obj, name) for name in names if hasattr(obj, name)]
    return [array for one in found for array in (one if isinstance(one, tuple) else [one])]


def exports(t):
    """Whatever a tensor gives out, by name; all of it as arrays."""
    yield "values", [t.values]
    yield "arrays", [array for pair in t.arrays() for array in pair if array is not None]
    yield "entries", [*t.entries()[0], t.entries()[1]]
    yield "to_numpy", [t.to_numpy()]
    if t.ndim == 2:
        for copy in [True, False]:
            yield f"to_scipy {copy}", arrays_of(t.to_scipy(copy=copy))
    frame = pytest.importorskip("pandas") and t.to_pandas()
    yield "to_pandas", [frame[name].to_numpy() for name in frame.columns]
    pytest.importorskip("sparse")
    yield "to_sparse", arrays_of(t.to_sparse())
    if t._storage.is_dense:
        yield "asarray", [np.asarray(t)]
        try:
            yield "dlpack", [np.from_dlpack(t)]
        except BufferError:
            pass  # a NumPy that can't say that an array is for reading


@pytest.mark.parametrize("shape", [(30,), (5, 6)])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ELEMENTS)
def test_what_is_for_reading_stays_so(rng, dtype, order, shape):
    x = for_reading(np.asarray(rng.integers(0, 2, shape), dtype=dtype, order=order))
    before = x.copy()
    t = spc.tensor(x)
    for of in [t, t.to("dense"), spc.tensor(t), *([t.to("csr")] if len(shape) == 2 else [])]:
        for name, arrays in exports(of):
            for array in arrays:
                assert not array.flags.writeable or not np.shares_memory(array, x), name
                if array.flags.writeable:
                    array[...] = 0
    np.testing.assert_array_equal(x, before)


def test_bytes_and_mapped_files_are_for_reading(tmp_path):
    text = np.arange(4.0).tobytes()
    t = spc.tensor(np.frombuffer(text))
    with pytest.raises(ValueError, match="read-only"):
        t.to_numpy()[0] = 99
    with pytest.raises(ValueError, match="read-only"):
        t.values[0] = 99
    assert memoryview(t._storage.values()).readonly
    np.ones(1000).tofile(tmp_path / "x")
    mapped = spc.tensor(np.memmap(tmp_path / "x", float, "r"))
    with pytest.raises(ValueError, match="read-only"):
        mapped.to_numpy()[0] = 5
    with pytest.raises(ValueError, match="WRITEABLE"):
        mapped.to_numpy().flags.writeable = True


def test_what_may_be_written_to_is_seen(rng):
    x = rng.random(30)
    t = spc.tensor(x)
    t.values[3] = 7
    assert x[3] == 7
    x[4] = 8
    assert t[4] == 8 and spc.einsum("i->", t) == x.sum()


@pytest.mark.parametrize("format", ["dense", "csr", "csc", "coo", "dcsr", "bcsr(2)"])
def test_results_are_the_callers(rng, format):
    a = matrix(rng)
    for given in [a, spc.tensor(a), for_reading(a.toarray())]:
        for text in ["B(i,j) = A(i,j)", "B(i,j) = 2 * A(i,j)"]:
            made = spc.einsum(text, A=given, format=format)
            before = [array.copy() for array in arrays_of(given)] if given is a else given.to_numpy().copy() if isinstance(given, spc.Tensor) else given.copy()
            for array in [made if format == "dense" else made.values, made if format == "dense" else made.to_scipy().data]:
                array[...] = 0
            after = arrays_of(given) if given is a else given.to_numpy() if isinstance(given, spc.Tensor) else given
            assert all(map(np.array_equal, before, after))


def test_truth_values_of_results_are_the_callers(rng):
    a = matrix(rng)
    found = spc.kernel("b(i) = any(j)(A(i,j) > 4)", A="csr", b="bool dense")(a)
    np.testing.assert_array_equal(found, (a.toarray() > 4).any(1))
    found[0] = not found[0]


def test_matrices_of_results_change_in_place(rng):
    a = matrix(rng)
    c = spc.einsum("ij,kj->ik", a, a, format="csr")
    want = c.to_numpy()
    s = c.to_scipy()
    s.data[::2] = 0
    s.eliminate_zeros()
    s.resize((5, 5))
    np.testing.assert_array_equal(c.to_numpy(), want)


def twice(matrix):
    """Several changes of a matrix in place, each as a function."""
    yield "eliminate_zeros", lambda: (matrix.data.reshape(-1).__setitem__(slice(None, None, 2), 0), matrix.eliminate_zeros())
    yield "resize", lambda: matrix.resize((6, 8))
    yield "sum_duplicates", lambda: matrix.sum_duplicates()
    yield "setdiag", lambda: matrix.setdiag(3)
    yield "imul", lambda: matrix.__imul__(2)
    if hasattr(matrix, "sort_indices"):
        yield "reversed", lambda: reverse(matrix)
        yield "sort_indices", lambda: matrix.sort_indices()
        yield "indices", lambda: matrix.indices.__setitem__(slice(None), 0)
        yield "indptr", lambda: matrix.indptr.__setitem__(slice(1, None), matrix.indptr[-1])


def reverse(matrix):
    """Reverses the entries of each row in place."""
    for begin, end in zip(matrix.indptr, matrix.indptr[1:]):
        matrix.indices[begin:end] = matrix.indices[begin:end][::-1].copy()
        matrix.data[begin:end] = matrix.data[begin:end][::-1].copy()
    matrix.has_sorted_indices = False


CHANGES = ["eliminate_zeros", "resize", "sum_duplicates", "setdiag", "imul", "reversed", "sort_indices", "indices", "indptr"]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "dia"])
def test_a_tensor_does_not_change_with_its_matrix(rng, format, change):
    a, x = matrix(rng, format=format), rng.random(18)
    made = {text: quiet(lambda text=text: spc.tensor(a, format=text)) for text in [None, "csr", "coo", "dcsr", "dense"]}
    want = a.toarray()
    changes = dict(twice(a))
    if change not in changes or format == "dia" and change != "imul":
        pytest.skip("it does not have this")
    try:
        quiet(changes[change])
    except (NotImplementedError, AttributeError):
        pytest.skip("it does not have this")
    for t in made.values():
        np.testing.assert_array_equal(t.to_numpy(), want)
        np.testing.assert_allclose(spc.einsum("ij,j->i", t, x), want @ x)
        assert spc.einsum("ij->", t) == want.sum() and (t.to_scipy() != scipy.sparse.csr_array(want)).nnz == 0


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr"])
def test_a_matrix_that_is_handed_in_again_is_as_it_is_now(rng, format, change):
    a = matrix(rng, format=format)
    spmv = spc.kernel("y(i) = A(i,j) * x(j)")
    changes = dict(twice(a))
    if change not in changes:
        pytest.skip("it does not have this")
    for body in [lambda: None, changes[change]]:
        try:
            quiet(body)
        except (NotImplementedError, AttributeError):
            pytest.skip("it does not have this")
        for _ in range(2):
            x = rng.random(a.shape[1])
            np.testing.assert_allclose(quiet(lambda x=x: spmv(a, x)), a.toarray() @ x)


def test_index_arrays_are_never_shared(rng):
    sparse = pytest.importorskip("sparse")
    a = matrix(rng)
    for given in [a, a.tocsc(), a.tocoo(), a.tobsr(blocksize=(3, 2)), sparse.COO.from_scipy_sparse(a), sparse.GCXS.from_scipy_sparse(a)]:
        t = spc.tensor(given)
        mine = [array for pair in t.arrays() for array in pair if array is not None]
        assert mine and not any(np.shares_memory(one, other) for one in [*mine, t.values] for other in arrays_of(given))
        assert not any(array.flags.writeable for array in mine)


def test_values_that_are_written_are_seen_where_kernels_keep_copies(rng):
    """A kernel that reads a tensor in another format keeps a copy of it from the second call on."""
    a, b = spc.tensor(matrix(rng)), spc.tensor(matrix(rng))
    a, b = a.to("dcsr"), b.to("dcsr")
    product = spc.kernel("C(i,k) = A(i,j) * B(k,j)", A="dcsr", B="dcsr", C="dense")
    transposed = spc.kernel("C(i,j) = A(i,j) + B(j,i)", A="dcsr", B="dcsr", C="dcsr")
    square = spc.tensor(matrix(rng, shape=(12, 12))).to("dcsr")
    for step in range(4):
        for _ in range(3):
            np.testing.assert_allclose(product(a, b), a.to_numpy() @ b.to_numpy().T)
            np.testing.assert_allclose(transposed(square, square).to_numpy(), square.to_numpy() + square.to_numpy().T)
        for t in [a, b, square]:
            t.values[step] += 1


@pytest.mark.parametrize("backend", ["jit", pytest.param("native", marks=needs_rustc), "interpreter"])
def test_bytes_of_truth_values_are_as_in_numpy(backend):
    picked = spc.kernel("fn k(x: bool dense) -> s: f64 { s = select(x(i), 1.0, 0.0); }", backend=backend)
    counted = spc.kernel("fn k(x: bool dense) -> n: i64 { n += i64(x(i)); }", backend=backend)
    for given in [np.array([200, 0, 1, 2], np.uint8).view(bool), np.array([True, False, True, True])]:
        t = spc.tensor(given)
        given.view(np.uint8)[0] = 7
        for of in [t, given]:
            assert picked(of) == counted(of) == 3
    assert list(t.to_numpy().view(np.uint8)) == [1, 0, 1, 1]
    made = spc.tensor(scipy.sparse.csr_array((np.array([200, 1], np.uint8).view(bool), [0, 1], [0, 1, 2]), shape=(2, 2)))
    assert list(made.values.view(np.uint8)) == [1, 1]
    entries = spc.tensor((([0, 1],), np.array([200, 0], np.uint8).view(bool)), shape=(2,))
    assert entries[0] and not entries[1]


NUMBERS = [("complex128", 1 + 2j), ("complex64", 1 - 2j), ("int64", 2**53 + 1), ("int64", -(2**63)), ("uint64", 2**64 - 1), ("bool", True),
           ("float64", 0.1), ("float32", 0.5), ("int8", -128), ("float16", 1.5)]


@pytest.mark.parametrize("dtype, number", NUMBERS)
def test_elements_are_exact(dtype, number):
    x = np.zeros((2, 3), dtype)
    x[1, 2] = number
    for t in [spc.tensor(x), spc.tensor(x, format="csr"), spc.tensor(x).to("coo")]:
        assert t[1, 2] == number and type(t[1, 2]) is type(x[1, 2]) and t[0, 0] == 0 and type(t[0, 0]) is type(x[0, 0])
        assert t.item(1, 2) == number and type(t.item(1, 2)) is type(x[1, 2].item())
        assert t[-1, -1] == number and t.to_numpy()[1, 2] == number
        # Neither SciPy nor numba has halves.
        if dtype != "float16":
            assert t.to_scipy().toarray()[1, 2] == number and t.to_sparse()[1, 2] == number
        assert spc.einsum("B(i,j) = A(i,j)", A=t, format="coo")[1, 2] == number
    assert spc.tensor((([1],), np.array([number], dtype)), shape=(2,))[1] == number


@pytest.mark.parametrize("dtype, number", [("int64", 2**53 + 1), ("uint64", 2**64 - 1), ("bool", True), ("int8", -3), ("float32", 0.1)])
def test_fill_values_are_exact(dtype, number):
    sparse = pytest.importorskip("sparse")
    number = np.dtype(dtype).type(number)
    t = spc.tensor(sparse.COO.from_numpy(np.array([0, number, number], dtype), fill_value=number))
    assert t.fill == number and t[1] == number and t.to_sparse().fill_value == number
    np.testing.assert_array_equal(t.to_numpy(), np.array([0, number, number], dtype))


def test_wrong_indices_are_refused(rng):
    t = spc.tensor(matrix(rng))
    for index in [(True, True), (0, 1, 2), (0, 1.0), 12, (0, -19), np.ones(5, bool), (..., ...), "a", [[99]]]:
        with pytest.raises(IndexError):
            t[index]


REFUSED = [
    ("np.asarray(t)", "to_numpy"), ("np.array([t, t])", "to_numpy"), ("bool(t)", "A.any"), ("not t", "A.any"), ("hash(t)", "unhashable"),
    ("{t}", "unhashable"), ("np.linalg.svd(t)", "to_scipy"), ("np.add.accumulate(t)", "to_numpy"),
    ("np.add(t, 1j, out=t)", "astype"), ("dict(t)", ""), ("np.fft.fft(t)", "to_numpy"),
]


@pytest.mark.parametrize("text, message", REFUSED)
def test_what_would_be_dense_in_silence_is_refused(rng, text, message):
    with pytest.raises((TypeError, ValueError), match=message):
        eval(text, {"np": np, "t": spc.tensor(matrix(rng))})


@pytest.mark.parametrize("text", [
    "t + t", "2 * t", "t @ np.ones(3)", "np.ones(3) @ t", "-t", "t == t", "t > 0.5", "np.log1p(t)", "np.sum(t)", "np.asarray(t)", "np.array([t, t])",
    "np.concatenate([t, t])", "np.dot(t, np.ones(3))", "np.asarray(t, dtype='f4')", "np.array(t)", "np.add.reduce(t)", "np.mean(t, axis=0)", "len(t)",
    "np.shape(t)", "np.add(t, 1, out=np.ones((3, 3)))", "np.array(t, copy=True)",
])
@pytest.mark.parametrize("order", ["C", "F"])
def test_numpy_takes_dense_tensors_as_arrays(rng, text, order):
    x = np.asarray(rng.random((3, 3)), order=order)
    found, want = (eval(text, {"np": np, "t": t}) for t in [spc.tensor(x), x])
    np.testing.assert_array_equal(found, want)


def test_arrays_of_dense_tensors_share_memory_where_asked(rng):
    x = rng.random((3, 3))
    t = spc.tensor(x)
    assert np.shares_memory(np.asarray(t), x) and not np.shares_memory(np.array(t, copy=True), x)
    names = {"np": np, "t": t}
    exec("t += 1", names)
    assert names["t"] is t and np.array_equal(t.to_numpy(), x + 1) and not np.shares_memory(np.asarray(t), x)
    for text in ["np.add(t, 1j, out=t)", "bool(t)", "hash(t)", "t.__setitem__(0, 1j)"]:
        with pytest.raises((TypeError, ValueError)):
            eval(text, {"np": np, "t": t})
    assert len(spc.tensor(np.ones((0, 3)))) == 0
    with pytest.raises(TypeError):
        len(spc.tensor(np.array(1.0)))


def test_there_is_no_protocol_that_python_makes_up():
    """What has `__getitem__` is iterated and searched by Python, unless it says otherwise."""
    for name in ["__iter__", "__contains__", "__reversed__", "__bool__", "__len__", "__eq__", "__array__", "__array_ufunc__", "__hash__"]:
        assert inspect.getattr_static(spc.Tensor, name) is not inspect.getattr_static(object, name, "absent")
