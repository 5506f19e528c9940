"""Kernels, einsum strings, jit, `out=`, errors."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from conftest import matrix, quiet

import spc


@pytest.mark.parametrize("text", ["ij,jk->ik", "ij,jk", "ij->", "ij->j", "ij->ji", "ij,ij->ij", "ij,ik->jk", "ij,j", "ii", "ii->i", "iJ,J->i"])
def test_einsum_strings_as_numpy(rng, text):
    shapes = {"ii": [(5, 5)], "ii->i": [(5, 5)], "ij,jk->ik": [(4, 5), (5, 6)], "ij,jk": [(4, 5), (5, 6)], "ij,ij->ij": [(4, 5)] * 2,
              "ij,ik->jk": [(4, 5), (4, 6)], "ij,j": [(4, 5), (5,)], "iJ,J->i": [(4, 5), (5,)]}.get(text, [(4, 5)])
    arrays = [rng.random(shape) for shape in shapes]
    np.testing.assert_allclose(spc.einsum(text, *arrays), np.einsum(text, *arrays))


SCALARS = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16, np.float32, np.float64,
           np.complex64, np.complex128]


@pytest.mark.parametrize("element", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("kind", SCALARS)
def test_scalars_are_promoted_as_by_numpy(kind, element):
    a = np.arange(6).reshape(2, 3).astype(element)
    want = np.einsum(",ij->ij", kind(3), a)
    for scalar in [kind(3), np.array(3).astype(kind)]:
        got = spc.einsum(",ij->ij", scalar, a)
        np.testing.assert_allclose(got, want)
        assert got.dtype == want.dtype
    sparse = spc.einsum("ij,->ij", scipy.sparse.csr_array(a), kind(3), format="csr")
    np.testing.assert_allclose(sparse.to_numpy(), want)


PAIRS = ["int8", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64", "complex64", "complex128", "bool"]


@pytest.mark.parametrize("left", PAIRS)
def test_operands_of_several_types_are_promoted_as_by_numpy(rng, left):
    for right in PAIRS:
        a = rng.integers(0, 3, (3, 4)).astype(left)
        for text, shape in [("ij,j->i", (4,)), ("ij,ij->ij", (1, 4)), ("ij,jk->ik", (4, 2)), (",ij->ij", ())]:
            b = np.asarray(rng.integers(0, 3, shape).astype(right))
            operands = (b, a) if shape == () else (a, b)
            # NumPy's einsum has no product with a number of truth values.
            want = a * b if shape == () else np.einsum(text, a, b)
            found = spc.einsum(text, *operands)
            assert found.dtype == want.dtype
            np.testing.assert_array_equal(found, want)
    assert spc.einsum(",ij->ij", 2.5, np.ones((2, 2), np.int64)).dtype == np.float64
    assert spc.einsum(",ij->ij", 2, np.ones((2, 2), np.int8)).dtype == np.int8


def test_lists_of_labels_and_optimize_as_numpy(rng):
    a, x = rng.random((3, 4)), rng.random(4)
    np.testing.assert_allclose(spc.einsum(a, [0, 1], x, [1], [0]), a @ x)
    np.testing.assert_allclose(spc.einsum(a, [5, 2], x, [2]), np.einsum(a, [5, 2], x, [2]))
    np.testing.assert_allclose(spc.einsum(a, [..., 1], x, [1], [...]), a @ x)
    np.testing.assert_allclose(spc.einsum("ij,j->i", a, x, optimize="greedy"), a @ x)


@pytest.mark.parametrize("text, shapes", [
    ("ij,ij->ij", [(3, 4), (1, 4)]), ("ij,ij->ij", [(3, 1), (1, 4)]), ("ij,jk->ik", [(3, 1), (5, 2)]), ("...j,...j->...", [(3, 4), (1, 4)]),
    ("...ij,...j->...i", [(3, 4), (4,)]), ("i...->...", [(4,)]), ("ij->i", [(3, 1)]),
])
def test_extents_of_one_are_repeated_as_by_numpy(rng, text, shapes):
    arrays = [rng.random(shape) for shape in shapes]
    found = spc.einsum(text, *(spc.tensor(array, format="csf") if array.ndim == 2 else array for array in arrays))
    np.testing.assert_allclose(found, np.einsum(text, *arrays))


def test_an_operand_that_is_given_twice_is_one(rng):
    a = spc.tensor(matrix(rng))
    np.testing.assert_allclose(spc.einsum("ij,ij->ij", a, a, format="csr").to_numpy(), a.to_numpy() ** 2)
    np.testing.assert_allclose(spc.einsum("ij,kj->ik", a, a), a.to_numpy() @ a.to_numpy().T)
    assert spc.einsum("ij,kj->ik", a, a, ranks=2, distribute="B").shape == (12, 12)


def test_strings_do_not_warn_of_sums(rng, recwarn):
    spc.einsum("ij,k->", matrix(rng), rng.random(3))
    assert not [warning for warning in recwarn if "W0101" in str(warning.message)]


def test_kernels_are_pickled(rng):
    spmv = pickle.loads(pickle.dumps(spc.kernel("y(i) = A(i,j) * x(j)", A="csr")))
    a, x = matrix(rng), rng.random(18)
    np.testing.assert_allclose(spmv(a, x), a @ x)


@pytest.mark.parametrize("text, message", [
    ("ij,j->k", "no operand has the index `k`"), ("ij,j->ii", "twice"), ("i1,j->i", "an index is a letter"), ("...i...,j", "a second"),
    ("...ijk,j", "the tensor has 2 modes"), ("...i,j->i", "no `...`"),
    ("ij->i", "1 operands, and there are 2"),
])
def test_wrong_einsum_strings(text, message):
    with pytest.raises(spc.EinsumError, match=message) as error:
        spc.einsum(text, np.ones((2, 2)), np.ones(2))
    assert "^" in str(error.value)


@pytest.mark.parametrize("text, shapes", [
    ("...j,j->...", [(3, 4, 5), (5,)]), ("...ij,...jk->...ik", [(2, 3, 4), (2, 4, 5)]), ("...,...", [(3, 4), (4,)]), ("...", [(3, 4)]),
    ("i...->...", [(3, 4, 2)]), ("...j,j", [(5,), (5,)]),
])
def test_ellipses_as_numpy(rng, text, shapes):
    arrays = [rng.random(shape) for shape in shapes]
    np.testing.assert_allclose(spc.einsum(text, *arrays), np.einsum(text, *arrays))


def test_index_notation_by_name(rng):
    a, x = matrix(rng), rng.random(18)
    np.testing.assert_allclose(spc.einsum("y(i) = 3 * A(i,j) * x(j)", A=a, x=x), 3 * (a @ x))
    np.testing.assert_allclose(spc.einsum("y(i) = alpha * A(i,j) * x(j)", x=x, A=a, alpha=0.5), 0.5 * (a @ x))
    assert spc.einsum("s = A(i,j)", A=a) == a.sum()


@pytest.mark.parametrize("dtype, number, want", [
    ("complex64", 2j, "complex64"), ("float32", 2j, "complex64"), ("complex128", 2j, "complex128"), ("float64", 2j, "complex128"),
    ("complex64", 3, "complex64"), ("float32", 0.5, "float32"), ("int64", 2**60 + 1, "int64"), ("float64", True, "float64"),
])
def test_numbers_as_inputs(dtype, number, want):
    scaled = spc.kernel("y(i) = alpha * x(i)", backend="jit")
    made = scaled(number, np.ones(3, dtype=dtype))
    assert made.dtype == want
    np.testing.assert_array_equal(made, np.full(3, number, dtype=want))


def test_errors_have_a_caret_at_the_place():
    with pytest.raises(SyntaxError) as error:
        spc.kernel("y(i) = A(i,j * x(j)")
    assert "^" in str(error.value) and "A(i,j * x(j)" in str(error.value)
    with pytest.raises(SyntaxError, match="csrr"):
        spc.kernel("y(i) = A(i,j) * x(j)", A="csrr")


def test_wrong_calls(rng):
    spmv = spc.kernel("y(i) = A(i,j) * x(j)", A="csr")
    a = matrix(rng)
    for call, kind, message in [
        (lambda: spmv(a), TypeError, "takes 2 inputs"), (lambda: spmv(a, x=np.ones(18), z=1), TypeError, "no input 'z'"),
        (lambda: spmv(A=a), TypeError, "no value for the input 'x'"), (lambda: spmv(a, A=a), TypeError, "two values"),
        (lambda: spmv(a, np.ones(5)), ValueError, "extent"), (lambda: spmv(np.ones(3), np.ones(5)), ValueError, "modes"),
        (lambda: spmv(a, np.array(["a"] * 18)), TypeError, "elements"),
    ]:
        with pytest.raises(kind, match=message):
            call()
    with pytest.raises(SyntaxError, match="no tensor `B`"):
        spc.kernel("y(i) = A(i,j) * x(j)", B="csr")


def test_one_kernel_for_many_formats(rng):
    spmv = spc.kernel("y(i) = A(i,j) * x(j)")
    x = rng.random(18)
    for format in ["csr", "csc", "coo", "bsr"]:
        a = matrix(rng, format=format)
        np.testing.assert_allclose(quiet(lambda: spmv(a, x)), a.toarray() @ x)
    assert len(spmv._compiled) == 4
    for _ in range(3):
        spmv(a, x)
    assert len(spmv._compiled) == 4


def test_declared_formats_convert(rng):
    spmv = spc.kernel("y(i) = A(i,j) * x(j)", A="csr")
    a, x = matrix(rng, format="csc"), rng.random(18)
    np.testing.assert_allclose(spmv(a, x), a @ x)
    assert spmv(matrix(rng, index="int64").astype("float32"), x.astype("float32")).dtype == np.dtype("float32")


def test_whole_kernels_and_several_results(rng):
    both = spc.kernel("fn both(A: csr, x: dense) -> (y: dense, s: f64) { y(i) = A(i,j) * x(j); s = y(i) * y(i); }")
    a, x = matrix(rng), rng.random(18)
    y, s = both(a, x)
    np.testing.assert_allclose(y, a @ x)
    assert s == pytest.approx((y * y).sum())
    with pytest.raises(TypeError, match="f64"):
        both(a.astype("float32"), x)


def test_out(rng):
    a, x, y = matrix(rng), rng.random(18), np.full(12, 7.0)
    spmv = spc.kernel("y(i) = A(i,j) * x(j)", A="csr")
    assert spmv(a, x, out=y) is y
    np.testing.assert_allclose(y, a @ x)
    for wrong, message in [(np.zeros(11), "shape"), (np.zeros(12, "float32"), "f32"), (np.zeros((12, 1)), "stored|shape|format")]:
        before = wrong.copy()
        with pytest.raises(ValueError, match=message):
            spmv(a, x, out=wrong)
        np.testing.assert_array_equal(wrong, before)
    square = scipy.sparse.csr_array(np.eye(18))
    with pytest.raises(ValueError, match="shares memory"):
        spmv(square, x, out=x)
    y.flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        spmv(a, x, out=y)


def test_jit(rng):
    @spc.jit
    def spmv(A: "csr", x: "dense") -> "dense":
        "y(i) = A(i,j) * x(j)"

    a, x = matrix(rng), rng.random(18)
    np.testing.assert_allclose(spmv(a, x), a @ x)
    np.testing.assert_allclose(spmv(x=x, A=a), a @ x)
    assert spmv.__name__ == "spmv"
    with pytest.raises(TypeError, match="annotation"):
        @spc.jit
        def wrong(A: int):
            "y(i) = A(i)"


def test_mttkrp_of_a_tree(rng):
    dense = rng.random((5, 6, 7)) * (rng.random((5, 6, 7)) < 0.3)
    x = spc.tensor(dense, format="csf")
    b, c = rng.random((6, 4)), rng.random((7, 4))
    want = np.einsum("ijk,jr,kr->ir", dense, b, c)
    np.testing.assert_allclose(spc.einsum("ijk,jr,kr->ir", x, b, c), want)
    np.testing.assert_allclose(spc.einsum("ijk,jr,kr->ir", x.to("alto"), b, c), want)


@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_orders_without_a_copy(rng, order):
    a = np.asarray(rng.random((4, 5, 6)), order=order)
    made = spc.tensor(a)
    assert np.shares_memory(made.values, a)
    np.testing.assert_array_equal(made.to_numpy(), a)
    np.testing.assert_allclose(spc.einsum("ijk->ik", a), a.sum(1))


def test_slices_are_said(rng):
    a = rng.random((6, 8))[::2, ::2]
    kernel = spc.kernel("y(i) = A(i,j)")
    for call in [lambda: spc.einsum("ij->i", a), lambda: kernel(a), lambda: kernel(A=a, ranks=2, distribute="i"), lambda: spc.tensor(a).to_numpy().sum(1)]:
        with pytest.warns(spc.CopyWarning, match="gaps") as said:
            np.testing.assert_allclose(call(), a.sum(1))
        assert [warning.filename for warning in said] == [__file__]


def test_looking_inside(rng):
    spmv = spc.kernel("y(i) = A(i,j) * x(j)", A="csr")
    assert "fn kernel" in spmv.code("rust") or "pub fn" in spmv.code("rust")
    assert "__global__" in spmv.code("cuda")
    assert "for" in spmv.explain()
    assert "csr" in spc.explain("y(i) = A(i,j) * x(j)", A="csr") or "compressed" in spc.explain("y(i) = A(i,j) * x(j)", A="csr")
    with pytest.raises(ValueError, match="rust"):
        spmv.code("fortran")
    made = spc.tensor(matrix(rng))
    assert "compressed" in repr(made) and "<table>" in made._repr_html_() and "arrays" in made._repr_html_()


def test_results_are_the_same_in_the_interpreter(rng):
    a, x = matrix(rng), rng.random(18)
    slow = spc.kernel("y(i) = A(i,j) * x(j)", backend="interpreter")
    np.testing.assert_allclose(slow(a, x), a @ x)
    assert slow.backend == "interpreter"


@pytest.mark.parametrize("element, dtype", [("c64", "complex128"), ("i64", "int64"), ("f32", "float32"), ("u8", "uint8")])
def test_types_that_are_not_declared_are_those_of_the_inputs(rng, element, dtype):
    a = matrix(rng, dtype="int64").astype(dtype)
    a = a * 1j if dtype == "complex128" else a
    x = rng.integers(0, 3, 18).astype(dtype)
    for formats in [{"A": f"{element} csr"}, {"A": f"{element} csr", "x": f"{element} dense"}, {"A": "csr", "x": element}, {"A": "csr"}]:
        kernel = spc.kernel("y(i) = A(i,j) * x(j)", backend="jit", **formats)
        assert f"A: {element if len(formats) > 1 or ' ' in formats['A'] else 'f64'} " in kernel.explain()
        y = kernel(a, x)
        assert y.dtype == dtype
        np.testing.assert_array_equal(y, a.toarray() @ x)
    b = spc.kernel("B(i,j) = A(i,j) + A(i,j)", A=f"{element} csr", B="csr", backend="jit")(a)
    assert b.dtype == dtype and b.format == "[dense, compressed]"
    assert element in spc.explain("y(i) = A(i,j)", A=f"{element} csr")


def test_functions_of_complex_numbers_and_truth_values_take_what_is_given(rng):
    a = matrix(rng) * (1 + 2j)
    np.testing.assert_array_equal(spc.einsum("y(i) = sum(j)(im(A(i,j)))", A=a), a.imag.sum(1))
    np.testing.assert_array_equal(spc.einsum("b(i) = any(j)(A(i,j))", A=a.toarray() != 0), (a.toarray() != 0).any(1))
    with pytest.raises(SyntaxError, match="im"):
        spc.einsum("y(i) = sum(j)(im(A(i,j)))", A=a.real)
    narrow = spc.kernel("y(i) = A(i,j) * x(j)", A="csr", y="f32 dense", backend="jit")
    y = narrow(a.real.astype("float32"), np.ones(18, "float32"))
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, a.real.sum(1))


def test_numbers_of_64_bits_are_exact():
    for number, dtype in [(2**53 + 1, "int64"), (-(2**63), "int64"), (2**64 - 1, "uint64")]:
        np.testing.assert_array_equal(spc.einsum("y(i) = a * x(i)", a=number, x=np.ones(2, dtype)), np.array([number] * 2, dtype))
    assert spc.einsum("y(i) = a * x(i)", a=2**63, x=np.ones(1))[0] == 2.0**63
    with pytest.raises(OverflowError, match="float"):
        spc.einsum("y(i) = a * x(i)", a=2**70, x=np.ones(1))


@pytest.mark.parametrize("mark", ["\x1b]0;title\x07", "\x9b31m", "\u202e"])
def test_messages_have_no_characters_that_a_terminal_obeys(rng, tmp_path, mark):
    a = matrix(rng)
    for call in [
        lambda: spc.read(tmp_path / f"{mark}.mtx"), lambda: spc.write(tmp_path / f"a.{mark}", a), lambda: spc.tensor(a, format=mark),
        lambda: spc.tensor(([[0]], [1.0]), duplicates=mark), lambda: spc.einsum(f"ij{mark}->i", a), lambda: spc.kernel(f"y(i){mark} = A(i)"),
        lambda: spc.kernel("y(i) = A(i,j)", **{mark: "csr"}), lambda: spc.kernel("y(i) = A(i,j)", A=mark),
        lambda: spc.kernel("y(i) = A(i,j)")(**{mark: a}), lambda: spc.kernel("y(i) = A(i,j)", dimensions={mark: 3})(a),
        lambda: spc.kernel("y(i) = A(i,j)")(a, ranks=2, distribute=mark), lambda: spc.cp_als(np.ones((2, 2, 2)), 1, start=mark),
        lambda: spc.kernel("y(i) = A(i,j)", A="csr")(tmp_path / f"{mark}.tns", ranks=2), lambda: spc.einsum("ij->i", a, dimensions={mark: 3}),
    ]:
        with pytest.raises(Exception) as raised:
            call()
        assert not set(mark) & set(str(raised.value)) & {"\x1b", "\x07", "\x9b", "\u202e"}, raised.value


def test_results_become_inputs():
    A = scipy.sparse.random_array((40, 40), density=0.2, format="csr", rng=np.random.default_rng(5))
    step = spc.kernel("fn step(A: csr, x: dense) -> (y: dense, change: f64) { let z(j) = A(i, j) * x(i); y(i) = z(i) / max(j)(abs(z(j))); "
                      "change = max(i)(abs(y(i) - x(i))); }")
    x = np.ones(40)
    found = step.iterate(500, A, x, feed={"x": "y"}, until="change < 1e-12")
    y, change = found.results
    assert (x == 1).all() and found.is_met and found.steps == len(found.history) < 500 and change == found.history[-1] < 1e-12
    largest = np.abs(np.linalg.eigvals(A.toarray().T)).max()
    np.testing.assert_allclose(A.T @ y, largest * y, rtol=1e-9)
    short = step.iterate(2, A, x=x, feed={"x": "y"}, until="change < 1e-12")
    assert not short.is_met and short.steps == 2
    first, _ = step(A, x)
    np.testing.assert_array_equal(short.results[0], step(A, first)[0])
    for wrong in ({"feed": {"x": "w"}}, {"feed": {"A": "y"}}, {"feed": {"x": "y"}, "until": "change"}):
        with pytest.raises((ValueError, spc.SpcError, TypeError)):
            step.iterate(2, A, x, **wrong)
