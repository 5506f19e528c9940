"""Assignment to elements of arrays: NumPy's answers, and no other array that changes."""

import warnings

import numpy as np
import pytest
from test_arrays import DTYPES, FORMATS, REFUSED, both, compare, data, index_of, shape_of

import spc


def assigned(array, index, value):
    """An array after an assignment, or the exception."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            array[index] = value
        except REFUSED as error:
            return error
    return array


@pytest.mark.parametrize("seed", range(400))
def test_random_assignments_as_numpy(seed):
    rng = np.random.default_rng(seed)
    shape = shape_of(rng, int(rng.integers(1, 4)))
    ours, dense = both(rng, shape)
    dense = dense.copy()
    before, kept = ours * ours.dtype.type(1), dense.copy()
    for _ in range(int(rng.integers(1, 4))):
        index = dense > 1 if dense.dtype.kind != "c" and rng.random() < 0.15 else index_of(rng, shape)
        chosen = dense[index].shape
        kind = rng.integers(5)
        if kind == 0:
            given = want = [0, 3, True, 2.5][rng.integers(4)]
        elif kind == 1 and chosen:
            given = want = data(rng, chosen[1:], dense.dtype)
        elif kind == 2:
            given, want = spc.asarray(dense.dtype.type(2)), dense.dtype.type(2)
        elif kind == 3 and chosen and len(chosen) in FORMATS:
            want = data(rng, chosen, str(rng.choice(DTYPES)) if dense.dtype.kind == "c" else dense.dtype)
            given = spc.tensor(want, format=str(rng.choice(FORMATS[len(chosen)])))
        else:
            given = want = data(rng, (1, *chosen) if not isinstance(index, np.ndarray) and chosen else chosen, dense.dtype)
        if isinstance(index, np.ndarray) and rng.integers(2):
            index = spc.asarray(index) if rng.integers(2) else ours > 1 if dense.dtype.kind != "c" else index
        found = assigned(ours, index, given)
        dense = assigned(dense, index.to_numpy() if isinstance(index, spc.Array) else index, want)
        if isinstance(dense, Exception):
            assert isinstance(found, REFUSED) or "boolean array indexing" in str(dense), dense
            return
        if isinstance(found, Exception):
            raise found
        compare(ours, dense, 1e-9, f"seed {seed}")
    compare(before, kept, 1e-9, f"seed {seed}: what was made before")


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dense", "csr fill 3"])
def test_only_the_assigned_array_changes(rng, format):
    dense = data(rng, (30, 20), "float64", 0.2) + (3 if "fill" in format else 0)
    a = spc.tensor(dense.copy(), format="csr" if "fill" in format else format)
    if "fill" in format:
        a = (spc.tensor(dense - 3, format="csr").eliminate_zeros() + 3).compute()
    b, waiting, again, values = a, a * 2, a @ np.ones(20), a.to_numpy()
    same = [a.reshape(30, 20), a.transpose(0, 1), np.broadcast_to(a, (30, 20)), a.round(3), a.real, np.squeeze(a), a.prune(-1), a.copy(), a[:],
            np.positive(a), np.clip(a, None, None), np.pad(a, 0), np.tile(a, 1), np.diff(a, 0), np.max(a, axis=()), np.expand_dims(a, ())]
    a[3, :] = 7
    a[a == 7] += 1
    a[[1, 2], [3, 4]] = -1
    want = dense.copy()
    want[3, :] = 8
    want[[1, 2], [3, 4]] = -1
    assert b is a
    np.testing.assert_array_equal(b.to_numpy(), want)
    for number, other in enumerate([waiting / 2, *same, spc.asarray(values)]):
        np.testing.assert_array_equal(other.to_numpy(), dense, err_msg=str(number))
    np.testing.assert_allclose(again.to_numpy(), dense.sum(axis=1))
    # And the other way: what is made of it is an array of its own.
    for number, other in enumerate(same):
        other[0, 0] = 99
        assert other[0, 0] == 99 and a[0, 0] == want[0, 0], number


def test_operators_in_place_change_the_object(rng):
    dense = data(rng, (6, 5), "float64")
    a, x = spc.tensor(dense, format="csr"), rng.random(5)
    b, old = a, a * 1
    a += a
    a *= 3
    a -= spc.tensor(dense, format="csc")
    a /= 2.0
    a **= 2
    assert a is b and a.is_sparse
    np.testing.assert_allclose(a.to_numpy(), (dense * 5 / 2) ** 2)
    np.testing.assert_array_equal(old.to_numpy(), dense)
    a += x
    assert a is b and not a.is_sparse
    np.testing.assert_allclose(a.to_numpy(), (dense * 5 / 2) ** 2 + x)
    square = spc.tensor(np.eye(3), format="csr")
    square @= square * 2
    np.testing.assert_array_equal(square.to_numpy(), 2 * np.eye(3))
    y = np.ones((6, 5))
    y *= spc.asarray(dense)
    np.testing.assert_array_equal(y, dense)
    y += spc.tensor(dense, format="csr")
    np.testing.assert_array_equal(y, 2 * dense)
    with pytest.raises(TypeError, match="out="):
        a.sum(axis=0, out=[0])
    np.multiply(a, 0, out=a)
    assert not a.to_numpy().any()
    sums = spc.asarray(np.zeros(5))
    assert np.sum(b + 1, axis=0, out=sums) is sums and sums.to_numpy().tolist() == [6.0] * 5


def test_shapes_and_element_types_stay():
    a, f = spc.asarray(np.arange(6).reshape(2, 3)), spc.asarray(np.ones(3, np.float32))
    for made, change in [
        (a, lambda: a.__iadd__(0.5)), (a, lambda: a.__itruediv__(2)), (a, lambda: a.__iadd__(np.ones((2, 2, 3), int))), (a, lambda: a.__setitem__(0, [1, 2])),
        (a, lambda: a.__setitem__((0, 9), 1)), (a, lambda: a.__setitem__(0, 1j)), (f, lambda: f.__iadd__(np.complex64(1j))),
    ]:
        before = made.to_numpy().copy()
        with pytest.raises((TypeError, ValueError, IndexError)):
            change()
        assert np.array_equal(made.to_numpy(), before)
    assert a.__iadd__(object()) is NotImplemented
    f += np.ones(3)
    assert f.dtype == np.float32
    a[0] = 2.9
    assert a.to_numpy()[0].tolist() == [2, 2, 2]


def test_borrowed_arrays_are_not_written_to():
    x = np.zeros(4)
    t = spc.tensor(x)
    lent = t.values
    t[1] = 5
    t += 1
    assert not x.any() and not lent.any() and t.to_numpy().tolist() == [1, 6, 1, 1]
    # The memory that an assignment made is lent out as any.
    t[0] = 3
    view = t.to_numpy()
    t[0] = 4
    assert view[0] == 3 and t[0] == 4
    s = t.reshape(4)
    waiting = s + 1
    t.values[2] = 50
    assert waiting.to_numpy().tolist() == [5, 7, 2, 2] and s[2] == 50


def test_huge_arrays_take_assignments():
    a = spc.tensor((([5, 2_000_000], [7, 2_000_000]), [1.0, 2.0]), shape=(3_000_000, 3_000_000))
    a[5, 7] = 3
    a[1_000_000:, 1_000_000:] = 0
    a[2, [3, 4]] = [5, 6]
    a[:5, 10:] = spc.tensor((([1], [2]), [9.0]), shape=(5, 2_999_990))
    assert a.nnz == 4 and [a[5, 7], a[2, 3], a[2, 4], a[1, 12]] == [3, 5, 6, 9]
    v = spc.tensor((([1 << 40],), [1.0]), shape=(1 << 41,))
    v[1 << 39] = 2
    v[v > 1.5] = 4
    assert v.nnz == 2 and v[1 << 39] == 4


def test_writing_one_element_after_another_copies_once():
    n = 200_000
    a = spc.asarray(np.zeros(n))
    a[0] = 1
    memory = a._written
    for place in range(1, 1000):
        a[place] = a[place - 1] + 1
    assert a._written is memory and a[999] == 1000
    assert float(a.sum()) == 500_500


def test_arrays_become_expressions_that_wait(rng):
    dense, factor = data(rng, (30, 20), "float64", 0.2), rng.random((30, 20))
    a, u = spc.tensor(dense, format="csr"), spc.asarray(factor)
    b = a
    a *= u
    a += a
    assert b._node is not None
    u[:] = 0
    np.testing.assert_allclose(b.to_numpy(), 2 * dense * factor)
    assert b.is_sparse and not u.to_numpy().any()
