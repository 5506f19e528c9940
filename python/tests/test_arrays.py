"""Arrays: random expressions against NumPy, and what each kind of operation promises."""

import os
import pickle
import threading
import warnings

import numpy as np
import pytest
import scipy.sparse

import spc

# More programs, and others, for a machine with time: SPC_ARRAY_PROGRAMS=10000 SPC_ARRAY_SEED=7 pytest test_arrays.py
PROGRAMS = int(os.environ.get("SPC_ARRAY_PROGRAMS", "300"))
SEED = int(os.environ.get("SPC_ARRAY_SEED", np.random.SeedSequence().entropy % 2**32))
PART = 25
REFUSED = (TypeError, ValueError, IndexError, OverflowError)

DTYPES = ["float64", "float32", "int64", "int32", "int8", "uint8", "uint64", "bool", "complex128", "complex64", "float16"]
FORMATS = {1: ["csf"], 2: ["csr", "csc", "coo", "dcsr", "csf"], 3: ["csf", "coo", "[dense, compressed, compressed]"]}
UNARY = [np.negative, np.absolute, np.square, np.sqrt, np.exp, np.log1p, np.sin, np.floor, np.rint, np.sign, np.isnan, np.logical_not, np.cos, np.conjugate,
         np.invert, np.expm1, np.tanh, np.cbrt, np.trunc, np.real, np.imag]
BINARY = [np.add, np.subtract, np.multiply, np.true_divide, np.maximum, np.minimum, np.floor_divide, np.remainder, np.less, np.greater_equal, np.equal,
          np.not_equal, np.logical_and, np.logical_or, np.bitwise_and, np.bitwise_xor, np.hypot, np.power]


def data(rng, shape, dtype, density=0.4):
    values = rng.integers(-4, 5, shape) if np.dtype(dtype).kind not in "ub" else rng.integers(0, 5, shape)
    made = np.where(rng.random(shape) < density, values, 0)
    if np.dtype(dtype).kind in "fc":
        made = made * 0.5
    if np.dtype(dtype).kind == "c":
        made = made + 1j * np.where(made != 0, rng.integers(-2, 3, shape), 0)
    return np.asarray(made).astype(dtype)


def both(rng, shape, dtype=None):
    """An array of ours, sparse or dense, and the same of NumPy's."""
    dense = data(rng, shape, dtype or rng.choice(DTYPES))
    kind = rng.integers(4)
    if not shape or kind == 0:
        return spc.asarray(dense), dense
    t = spc.tensor(dense, format=str(rng.choice(FORMATS[len(shape)])))
    if kind == 1 and dense.dtype.kind in "if" and dense.dtype != np.float16:
        # The same entries with another fill value.
        fill = dense.dtype.type(rng.integers(1, 4))
        t = t.eliminate_zeros()
        t, dense = spc.Array(t._storage.with_fill(fill.item())), np.where(dense == 0, fill, dense)
    return t, dense


def shape_of(rng, order):
    return tuple(int(rng.choice([0, 1, 2, 3, 4, 5], p=[0.04, 0.16, 0.2, 0.2, 0.2, 0.2])) for _ in range(order))


def steps(rng, pool):
    """A random operation on what is there, as a function of an array of either kind."""
    number = rng.integers(len(pool))
    shape = pool[number][1].shape
    order = len(shape)
    axis = int(rng.integers(order)) if order else None
    axes = [None, axis, tuple(range(order))][rng.integers(3)]
    keepdims = bool(rng.integers(2))
    kind = rng.integers(16)
    if kind <= 2:
        ufunc = UNARY[rng.integers(len(UNARY))]
        return number, None, ufunc
    if kind <= 6:
        ufunc = BINARY[rng.integers(len(BINARY))]
        others = [place for place, (_, dense, _) in enumerate(pool) if _fits(shape, dense.shape)]
        if not others or rng.random() < 0.2:
            scalar = [2, 0.5, True, np.float32(3), -1][rng.integers(5)]
            return (number, None, lambda x: ufunc(x, scalar)) if rng.integers(2) else (number, None, lambda x: ufunc(scalar, x))
        return number, others[rng.integers(len(others))], ufunc
    if kind <= 8:
        name = str(rng.choice(["sum", "prod", "max", "min", "any", "all", "mean", "var", "std"]))
        return number, None, lambda x: getattr(np, name)(x, axis=axes, keepdims=keepdims)
    if kind == 9:
        name = str(rng.choice(["argmax", "argmin"]))
        return number, None, lambda x: getattr(np, name)(x, axis=axis, keepdims=keepdims)
    if kind == 10:
        others = [place for place, (_, dense, _) in enumerate(pool) if order and dense.ndim and shape[-1] == dense.shape[-2 if dense.ndim > 1 else 0]
                  and _fits(shape[:-2], dense.shape[:-2])]
        if others:
            return number, others[rng.integers(len(others))], np.matmul
        return number, None, lambda x: np.tensordot(x, x, axes=([], [])) if x.ndim < 2 else np.tensordot(x, x, axes=([0], [0]))
    if kind == 11:
        permuted = tuple(map(int, rng.permutation(order)))
        choices = [lambda x: np.transpose(x, permuted), lambda x: np.reshape(x, (-1,)), lambda x: np.expand_dims(x, int(rng_fixed)),
                   lambda x: np.squeeze(x), lambda x: np.broadcast_to(x, (2, *x.shape))]
        rng_fixed = rng.integers(order + 1)
        return number, None, choices[rng.integers(len(choices))]
    if kind == 12 and order:
        shift = int(rng.integers(-3, 4))
        choices = [lambda x: np.roll(x, shift, axis), lambda x: np.flip(x, axis), lambda x: np.sort(x, axis=axis), lambda x: np.repeat(x, 2, axis),
                   lambda x: np.cumsum(x, axis=axis), lambda x: np.concatenate([x, x], axis), lambda x: np.stack([x, x], axis), lambda x: np.diff(x, axis=axis)]
        return number, None, choices[rng.integers(len(choices))]
    if kind == 13 and order >= 2:
        choices = [lambda x: np.tril(x, 1), lambda x: np.triu(x, -1), lambda x: np.diagonal(x), lambda x: np.trace(x), lambda x: np.swapaxes(x, 0, -1)]
        return number, None, choices[rng.integers(len(choices))]
    if kind == 14 and order:
        index = index_of(rng, shape)
        return number, None, lambda x: x[index]
    others = [place for place, (_, dense, _) in enumerate(pool) if dense.shape == shape]
    dtype = str(rng.choice(["float64", "float32", "complex128", "bool", "int64"]))
    if rng.integers(2):
        return number, others[rng.integers(len(others))], lambda x, y: np.where(x != 0, x, y)
    return number, None, lambda x: x.astype(dtype) if x.dtype.kind in "biu" or dtype[0] in "fcb" and x.dtype.kind != "c" else abs(x)


def _fits(a, b):
    try:
        return len(np.broadcast_shapes(a, b)) <= 3
    except ValueError:
        return False


def index_of(rng, shape):
    """Whole numbers, slices, None, an ellipsis, arrays of numbers and of truth values."""
    parts = []
    for extent in shape:
        kind = rng.integers(6)
        if kind == 0 and extent:
            parts.append(int(rng.integers(-extent, extent)))
        elif kind <= 2:
            begin, end, step = rng.integers(-extent - 1, extent + 2, 3)
            parts.append(slice(int(begin), int(end), int(step) or None))
        elif kind == 3 and extent:
            parts.append(rng.integers(-extent, extent, rng.integers(4)) if rng.integers(2) else rng.integers(-extent, extent, (2, 3)))
        elif kind == 4:
            parts.append(rng.random(extent) < 0.5)
        else:
            parts.append(slice(None))
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    if len(arrays) > 1:
        # Of several arrays, the shapes have to fit: only the first one stays.
        parts = [part if not isinstance(part, np.ndarray) or part is arrays[0] else slice(None) for part in parts]
    if rng.random() < 0.3:
        parts.insert(int(rng.integers(len(parts) + 1)), None)
    if rng.random() < 0.3:
        parts = parts[:-1] + [...] if not isinstance(parts[-1], np.ndarray) else parts
    return tuple(parts)


TOLERANCES = {"float16": 2e-2, "float32": 2e-4, "complex64": 2e-4}


def tolerance_of(array):
    return TOLERANCES.get(str(array.dtype), 1e-9)


def compare(found, want, tolerance, text):
    if isinstance(found, np.generic):
        found = spc.asarray(found)
    assert isinstance(found, spc.Array), text
    want = np.asarray(want)
    assert found.shape == want.shape and found.dtype == want.dtype, (text, found.shape, want.shape, found.dtype, want.dtype)
    assert type(found.fill) is want.dtype.type, text
    with np.errstate(all="ignore"):
        made = found.to_numpy()
        # A zero that is not stored has no sign, so neither has what is divided by it.
        if want.dtype.kind == "f":
            made, want = (np.where(np.isinf(each), np.inf, each).astype(want.dtype) for each in (made, want))
        np.testing.assert_allclose(made, want, rtol=tolerance, atol=tolerance, err_msg=text)
    if found.is_sparse:
        (coordinates, values) = found.entries()
        assert len(values) == found.nnz and all(len(mode) == found.nnz for mode in coordinates), text


def run(seed):
    """A program of some operations, of which each may use the results of those before."""
    rng = np.random.default_rng(seed)
    shape = shape_of(rng, int(rng.choice([1, 2, 2, 2, 3])))
    pool = [both(rng, shape) for _ in range(2)]
    pool.append(both(rng, shape[1:] if rng.integers(2) else (1, *shape[1:])))
    pool.append(both(rng, shape[::-1]))
    pool = [(found, want, tolerance_of(want)) for found, want in pool]
    said = []
    for _ in range(int(rng.integers(1, 6))):
        first, second, step = steps(rng, pool)
        operands = [pool[first], *([pool[second]] if second is not None else [])]
        described = f"seed {seed}: {said} then {getattr(step, '__name__', step)} of {[(dense.dtype.str, dense.shape, ours.is_sparse) for ours, dense, _ in operands]}"
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                want = step(*(dense for _, dense, _ in operands))
        except REFUSED as error:
            # What NumPy refuses, arrays of ours refuse, in the operation or when a value is needed.
            with pytest.raises(REFUSED):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    step(*(ours for ours, _, _ in operands)).compute()
                pytest.fail(f"{described}: NumPy says {error}")
            continue
        want = np.asarray(want)
        tolerance = max(tolerance_of(want), *(each for _, _, each in operands))
        if want.size > 4000 or want.ndim > 3 or want.dtype not in spc._convert.NAMES:
            continue
        # Infinities and NaN beside missing zeros: docs/reference/infinities.md.
        if want.dtype.kind in "fc" and not np.isfinite(want).all() and not all(np.isfinite(dense).all() for _, dense, _ in operands):
            continue
        # No format names a complex fill value, and products say so.
        if step is np.matmul and any(ours.is_sparse and not spc._convert.is_named(ours.fill) for ours, _, _ in operands):
            continue
        # And of a missing zero that is divided by a stored one.
        if step is np.true_divide and len(operands) == 2 and np.isnan(want).any() and operands[0][0].is_sparse and not operands[1][0].is_sparse:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = step(*(ours for ours, _, _ in operands))
            said.append(getattr(step, "__name__", "?"))
            if rng.integers(2):
                compare(found, want, tolerance, described)
        if want.dtype.kind in "fc" and not np.isfinite(want).all() or np.abs(want.astype(complex)).max(initial=0) > 1e6:
            compare(found, want, tolerance, described)
            continue
        if isinstance(found, np.generic):
            continue
        pool.append((found, want, tolerance))
    for found, want, tolerance in pool:
        compare(found, want, tolerance, f"seed {seed}: {said}")


@pytest.mark.parametrize("part", range((PROGRAMS + PART - 1) // PART))
def test_random_programs_as_numpy(part):
    for number in range(part * PART, (part + 1) * PART):
        try:
            run(SEED + number)
        except Exception as error:
            raise AssertionError(f"test_arrays.run({SEED + number})") from error


@pytest.fixture
def pair(rng):
    """A sparse array, and the same dense."""
    dense = data(rng, (30, 20), "float64", 0.2)
    return spc.tensor(dense, format="csr"), dense


def test_a_sampled_product_is_one_loop_without_the_dense_product(rng):
    rows, columns = 200_000, 100_000
    places = rng.integers(0, rows, 50_000), rng.integers(0, columns, 50_000)
    a = spc.tensor((list(places), rng.random(50_000)), shape=(rows, columns))
    given_u, given_v = rng.random((rows, 4)), rng.random((columns, 4))
    u, v = spc.asarray(given_u), spc.asarray(given_v)
    y = (a * (u @ v.T)).sum(axis=1)
    assert y.explain().splitlines()[0] == "R(i) = sum(j)((A(i,j) * sum(k)(B(i,k) * C(j,k))))"
    (i, j), values = a.entries()
    want = np.bincount(i, values * (given_u[i] * given_v[j]).sum(1), minlength=rows)
    # Of the dense product, one column alone would have 1.6 MB, and all 160 GB.
    np.testing.assert_allclose(y.to_numpy(), want)
    # So it is for each of several expressions that have the product, and for its transpose.
    product = u @ v.T
    each = (given_u[i] * given_v[j]).sum(1)
    below = np.bincount(j, values * each, minlength=columns)
    for found in [(a * product).sum(axis=0), (a.T * product.T).sum(axis=1), (a * (product * 2)).sum(axis=0) / 2]:
        np.testing.assert_allclose(found.to_numpy(), below)
    np.testing.assert_allclose((np.exp(product) * a).sum(axis=0).to_numpy(), np.bincount(j, values * np.exp(each), minlength=columns))
    # Arrays that borrow NumPy's memory are copied where the product is larger than they are.
    z = (a * (spc.tensor(given_u) @ spc.tensor(given_v).T)).sum(axis=1)
    np.testing.assert_allclose(z.to_numpy(), want)


def test_an_expression_waits_and_its_kernel_is_kept(rng, pair):
    t, dense = pair
    for scale in [1, 2]:
        other = spc.tensor(data(rng, (30 * scale, 20), "float64"), format="csr")
        expression = ((other * 2 - other * other) @ spc.asarray(np.ones(20))).compute
        plans = len(spc._expression._PLANS)
        expression()
        assert len(spc._expression._PLANS) == plans + (scale == 1)
    assert (t @ t.T).explain().splitlines()[0] == "R(i,j) = sum(k)(A(i,k) * A(j,k))"
    twice = t * t * t
    assert "by NumPy" in twice.explain() and "NumPy" in spc.asarray(dense).T.explain() and "by NumPy" in np.maximum(t, other[:30]).explain()
    assert twice.shape == (30, 20) and twice.dtype == np.float64 and "expression" in repr(twice)
    assert twice.nnz == t.nnz and "expression" not in repr(twice)
    np.testing.assert_allclose(twice.to_numpy(), dense**3)
    assert "nothing to compute" in twice.explain()


def test_what_is_used_twice_is_computed_once(pair):
    t, dense = pair
    y = t @ spc.asarray(np.ones(20))
    a, b = y * 2, y + 1
    a.compute(), b.compute()
    assert y._node is None
    np.testing.assert_allclose(a.to_numpy() + b.to_numpy(), 3 * dense.sum(1) + 1)
    # A long chain is computed in parts.
    x = t
    for _ in range(200):
        x = x * 0.5 + t
    np.testing.assert_allclose(x.to_numpy(), dense * 2)


def changes(x, t):
    """Ways to write to the memory of a vector, or of a tensor of it."""
    yield lambda: x.__setitem__(slice(None), 7)
    yield lambda: t.values.__setitem__(slice(None), 7)
    yield lambda: t.to_numpy().__setitem__(slice(None), 7)
    yield lambda: np.asarray(t).__setitem__(slice(None), 7)
    yield lambda: np.from_dlpack(t).__setitem__(slice(None), 7)


@pytest.mark.parametrize("size", [20, 400_000])
@pytest.mark.parametrize("number", range(5))
def test_no_later_change_of_an_operand_is_seen(number, size):
    for borrowed in [True, False]:
        x = np.ones(size)
        t = spc.tensor(x) if borrowed else spc.asarray(x)
        a = spc.tensor((([0, 1], [2, 3]), [1.0, 1.0]), shape=(2, size))
        waiting = [t + 1, a @ t, a * t, (a * x).sum(axis=1), a @ x, t.sum(), np.reshape(t, (2, -1)), t[2:]]
        want = [x + 1, np.ones(2), a.to_numpy(), np.ones(2), np.ones(2), float(size), np.ones((2, size // 2)), np.ones(size - 2)]
        list(changes(x, t))[number]()
        for found, expected in zip(waiting, want):
            np.testing.assert_array_equal(found.to_numpy(), expected)
        seen = 7 if borrowed or number else 1
        assert (t + 1).to_numpy()[2] == seen + 1 and (a @ t).to_numpy()[0] == seen


def test_values_that_are_written_are_seen_by_what_comes_later(pair):
    t, dense = pair
    before, after = t * 2, None
    t.values[:] = 1
    after = t * 2
    t.values[:] = 3
    np.testing.assert_array_equal(before.to_numpy(), dense * 2)
    np.testing.assert_array_equal(after.to_numpy(), (dense != 0) * 2.0)
    np.testing.assert_array_equal((t + t).to_numpy(), (dense != 0) * 6.0)
    # So it is of an operand that was an expression itself.
    inner = t * 2
    outer = inner + 1
    inner.values[:] = 0
    assert outer.to_numpy().max() == 7 and (inner + 1).to_numpy().max() == 1
    # The transpose has memory of its own.
    turned = t.T.compute()
    t.values[:] = 9
    assert turned.to_numpy().max() == 3


def test_fill_values(pair):
    t, dense = pair
    for found, fill in [(np.exp(t), 1), (t + 1, 1), (t >= 0, True), (t == t, True), (t != t, False), (np.cos(t) - 1, 0), (1 - t, 1), (t * 2, 0),
                        (np.exp(t) * t, 0), (np.logical_not(t), True), (t.astype(bool), False), (np.ones_like(t), 1), (np.full_like(t, 3), 3)]:
        assert found.is_sparse and found.fill == fill and found.fill_value == fill and found.nnz <= t.nnz
    with np.errstate(all="ignore"):
        quotient, want = t / 0, dense / 0
    assert np.isnan(quotient.fill) and quotient.nnz == t.nnz
    np.testing.assert_array_equal(quotient.to_numpy(), want)
    assert np.isnan(quotient.sum()) and np.isnan(quotient.max(axis=1).to_numpy()).all() and (quotient[:, 3].to_numpy()[0] != 0)
    np.testing.assert_array_equal((quotient + 1).to_numpy(), want + 1)
    shifted = t + 1j
    assert shifted.fill == 1j and shifted.is_sparse
    np.testing.assert_array_equal(shifted.to_numpy(), dense + 1j)
    np.testing.assert_array_equal((shifted * 2).to("coo")[3].to_numpy(), (dense[3] + 1j) * 2)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(shifted)).to_numpy(), dense + 1j)
    assert shifted.sum().item() == pytest.approx((dense + 1j).sum())
    # In a product, what differs from the fill value is visited, and no more: all would be 10**12 elements.
    large = spc.tensor((([5, 10**6 - 1], [7, 3]), [1.0, 2.0]), shape=(10**6, 10**6))
    found = (np.exp(large) @ np.full(10**6, 0.5)).to_numpy()
    np.testing.assert_allclose(found[[0, 5, -1]], [5e5, 5e5 + (np.e - 1) / 2, 5e5 + (np.exp(2) - 1) / 2])
    plans = None
    for mean in [0.5, 0.25, 0.75]:
        np.testing.assert_allclose(((t - mean) ** 2).sum(axis=1).to_numpy(), ((dense - mean) ** 2).sum(1))
        np.testing.assert_allclose(np.einsum("ij,kj,k->i", t - mean, t + 1, np.arange(30.0)).to_numpy(), (dense - mean) @ (dense + 1).T @ np.arange(30))
        plans = plans or len(spc._expression._PLANS)
    assert len(spc._expression._PLANS) == plans, "kernels do not depend on fill values"
    counted = (t + 1).astype("int8") @ np.ones(20, bool)
    assert counted.dtype == np.int8
    np.testing.assert_array_equal(counted.to_numpy(), (dense + 1).astype("int8") @ np.ones(20, bool))
    # A kernel reads what a format can name, and says what it can't.
    np.testing.assert_allclose((np.exp(t) @ np.ones(20)).to_numpy(), np.exp(dense) @ np.ones(20))
    np.testing.assert_allclose(spc.einsum("ij->i", np.exp(t)), np.exp(dense).sum(1))
    np.testing.assert_allclose((shifted @ np.ones(20)).to_numpy(), (dense + 1j) @ np.ones(20))
    for wrong in [lambda: spc.einsum("ij->i", shifted), lambda: (quotient @ np.ones(20)).compute(), shifted.to_scipy, shifted.to_torch]:
        with pytest.raises((ValueError, TypeError, ImportError), match="not stored are|torch"):
            wrong()


@pytest.mark.parametrize("format", ["bcsr(4)", "ell", "dia", "skyline", "alto", "hicoo(4)"])
def test_values_that_are_no_entries_are_of_no_matter(rng, format):
    dense = data(rng, (13, 11), "float64", 0.3)
    t = spc.tensor(dense, format=format)
    for call in [lambda x: np.exp(x), lambda x: np.exp(x).sum(), lambda x: (x + 1).sum(axis=0), lambda x: x.max(axis=1), lambda x: x * x + x, lambda x: x[2:5, ::2],
                 lambda x: (x - 2).mean(), lambda x: np.log1p(abs(x)) @ np.ones(11), lambda x: x > 0, lambda x: x.T]:
        np.testing.assert_allclose(call(t).to_numpy(), call(dense))


def test_names_of_numpy_mean_what_they_mean_there():
    x = np.array([0.5, 1.5, 2.5, -0.5, np.nan, 0, 3])
    whole = np.array([7, -7, 0, 5, -1, 0, 3])
    for t, w in [(spc.tensor(x, format="csf"), spc.tensor(whole, format="csf")), (spc.asarray(x), spc.asarray(whole))]:
        np.testing.assert_array_equal(np.round(t).to_numpy(), np.round(x))
        assert np.isnan(t.max()) and np.isnan(t.min()) and int(t.argmax()) == 4 and np.nanmax(t) == 3
        np.testing.assert_array_equal(np.maximum(t, 1).to_numpy(), np.maximum(x, 1))
        with np.errstate(all="ignore"):
            for ufunc in [np.floor_divide, np.remainder, np.true_divide]:
                np.testing.assert_array_equal(ufunc(w, 3).to_numpy(), ufunc(whole, 3))
                np.testing.assert_array_equal(ufunc(w, -2).to_numpy(), ufunc(whole, -2))
                np.testing.assert_array_equal(ufunc(w, w).to_numpy(), ufunc(whole, whole))
        assert (w / 2).dtype == np.float64 and (w // 2).dtype == np.int64
        assert divmod(w, 3)[1].to_numpy().tolist() == [1, 2, 0, 2, 2, 0, 0]
        for part, want in zip(np.modf(t), np.modf(x)):
            np.testing.assert_array_equal(part.to_numpy(), want)


def test_indices_beyond_32_bits():
    columns = np.array([2**33, 5, 2**40])
    t = spc.tensor((([1, 2, 3], columns), [1.0, 2.0, 3.0]), shape=(10, 2**41))
    assert (2 * t)[1, 2**33] == 2 and (t + t)[3, 2**40] == 6 and t.T[5, 2] == 2
    np.testing.assert_array_equal((t @ t.T).to_numpy().diagonal()[1:4], [1, 4, 9])
    np.testing.assert_array_equal(t.sum(axis=1).to_numpy()[:4], [0, 1, 2, 3])
    for across in [t.sum(axis=0), t.max(axis=0), t.mean(axis=0) * 10]:
        assert across.shape == (2**41,) and across.is_sparse and across[2**40] == 3 and across[7] == 0
    assert pickle.loads(pickle.dumps(t))[3, 2**40] == 3 and t.to("coo")[2, 5] == 2 and np.concatenate([t, t])[12, 5] == 2
    assert t.reshape(2**41, 10).shape == (2**41, 10) and t[:, 2**33].to_numpy()[1] == 1 and t.sum() == 6
    with pytest.raises(ValueError, match="dense levels"):
        t.T.to("csr")


def test_elements_iteration_and_equality(pair):
    t, dense = pair
    assert type(t[3, 4]) is np.float64 and t[3, 4] == dense[3, 4] and t.item(3, 4) == dense[3, 4] and len(t) == 30
    assert [row.shape for row in t] == [(20,)] * 30 and [float(each) for each in t[2]] == dense[2].tolist()
    assert dense.max() in t and 99.5 not in t and (t == dense).all() and not (t != dense).any()
    assert [each.shape for each in reversed(t)] == [(20,)] * 30
    total = t.sum()
    assert f"{total:.2f}" == f"{dense.sum():.2f}" and float(total) == pytest.approx(dense.sum()) and repr(total).startswith("<spc.Array float64")
    assert range((t > 0).sum()) == range(int((dense > 0).sum())) and bool(total == total)
    np.testing.assert_array_equal(t.set((0, slice(None)), 5).to_numpy()[0], [5] * 20)
    np.testing.assert_array_equal(t.set(t < 0, 0).to_numpy(), np.where(dense < 0, 0, dense))
    changed = dense.copy()
    changed[::2, [1, 1, 3]] = np.arange(3)
    np.testing.assert_array_equal(t.set((slice(None, None, 2), [1, 1, 3]), np.arange(3)).to_numpy(), changed)
    assert t.prune(1).nnz == (abs(dense) > 1).sum() and (t * 0).eliminate_zeros().nnz == 0
    assert t.density == pytest.approx((dense != 0).mean()) and t.coords.shape == (2, t.nnz)


@pytest.mark.parametrize("subscripts, shapes", [
    ("ij,jk,kl->il", [(3, 4), (4, 5), (5, 2)]), ("ii->i", [(4, 4)]), ("ijk,kji->", [(2, 3, 4), (4, 3, 2)]), ("...j,j", [(2, 3, 4), (4,)]),
    ("ij,kj", [(3, 4), (5, 4)]), ("i,j->ij", [(3,), (4,)]), ("ijk,jr,kr->ir", [(3, 4, 5), (4, 2), (5, 2)]), ("ij,ij->ij", [(3, 4), (1, 4)]),
    ("ii", [(4, 4)]), ("ijj->i", [(2, 3, 3)]),
])
@pytest.mark.parametrize("dtype", ["float64", "int32", "complex128", "bool"])
def test_einsum_of_arrays(rng, subscripts, shapes, dtype):
    dense = [data(rng, shape, dtype) for shape in shapes]
    want = np.einsum(subscripts, *dense)
    for given in [[spc.tensor(each, format="csf") for each in dense], [spc.tensor(dense[0], format="csf"), *dense[1:]]]:
        found = np.einsum(subscripts, *given)
        assert found.dtype == want.dtype and found.shape == want.shape
        np.testing.assert_allclose(found.to_numpy(), want)


def test_products(rng, pair):
    t, dense = pair
    other = data(rng, (20, 3), "float32")
    for call in [lambda a, b: a @ b, np.dot, lambda a, b: np.tensordot(a, b, 1), lambda a, b: np.inner(a, b.T), lambda a, b: np.outer(a[0], b),
                 lambda a, b: np.kron(a[:3, :4], b[:2]), lambda a, b: np.vecdot(a[:3], b.T), lambda a, b: np.linalg.matrix_power(a.T @ a, 3),
                 lambda a, b: np.linalg.norm(a), lambda a, b: np.linalg.norm(a, 1), lambda a, b: np.linalg.norm(a, axis=1)]:
        want = call(dense, other)
        for found in [call(t, spc.tensor(other, format="csr")), call(t, other)]:
            assert found.dtype == want.dtype and found.shape == np.shape(want)
            np.testing.assert_allclose(found.to_numpy(), want, rtol=1e-6)
    with pytest.raises(ValueError, match="one extent"):
        t @ t
    with pytest.raises(ValueError):
        t + spc.tensor(other)


def test_results_are_sparse_where_patterns_say_so(rng, pair):
    t, dense = pair
    x = np.ones(20)
    for found, format in [(t + t, "[dense, compressed]"), (t @ t.T, "[dense, compressed]"), (t * dense, "[dense, compressed]"), (t * x, "[dense, compressed]"),
                          (t / (dense + 9), "[dense, compressed]"), (t @ dense.T, "[dense, dense]"), (t + dense, "[dense, dense]"), (t.sum(axis=0), "[dense]"),
                          (np.where(t > 0, t, 0), "[dense, compressed]"), (np.where(t > 0, dense, 0), "[dense, compressed]"), (t[2:5], "[dense, compressed]"),
                          (np.stack([t, t]), "[compressed, compressed, compressed]"), (np.stack([t, t]).sum(axis=0), "[dense, compressed]"),
                          (np.concatenate([t, dense]), "[dense, dense]"), (t.astype("f4"), "[dense, compressed]"), (t > 0, "[dense, compressed]")]:
        assert found.format == format, found


def test_solvers_and_operators(rng):
    from scipy.sparse.linalg import cg, svds

    dense = data(rng, (30, 30), "float64", 0.1)
    a = spc.tensor(dense @ dense.T + 30 * np.eye(30), format="csr")
    x, info = cg(a, np.ones(30), rtol=1e-10)
    assert info == 0
    np.testing.assert_allclose((a @ x).to_numpy(), np.ones(30), atol=1e-6)
    np.testing.assert_allclose(svds(a, k=2)[1], np.sort(np.linalg.svd(a.to_numpy())[1])[-2:])
    c = spc.tensor(dense * (1 + 2j), format="csr")
    np.testing.assert_allclose(c.rmatvec(np.arange(30) * 1j), (dense * (1 - 2j)).T @ (np.arange(30) * 1j))


def test_reductions_without_nan(rng):
    dense = data(rng, (6, 5), "float64")
    dense[1, 2] = dense[4, 4] = np.nan
    t = spc.tensor(dense, format="csr")
    for name in ["nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd", "nanargmax", "nanargmin", "nancumsum"]:
        for axis in [None, 0, 1]:
            function = getattr(np, name)
            np.testing.assert_allclose(function(t, axis=axis).to_numpy(), function(dense, axis=axis), err_msg=name)


def test_padding(pair):
    t, dense = pair
    for width, value in [(1, 0), (((1, 0), (0, 2)), 0), (2, np.nan)]:
        found = np.pad(t, width, constant_values=value)
        assert found.is_sparse
        np.testing.assert_array_equal(found.to_numpy(), np.pad(dense, width, constant_values=value))
    with pytest.raises(TypeError, match="to_numpy"):
        np.pad(t, 1, mode="edge")


def test_duck_arrays_of_xarray_and_dask(pair):
    t, dense = pair
    xarray = pytest.importorskip("xarray")
    ours, theirs = (xarray.DataArray(each, dims=("a", "b")) for each in (t, dense))
    for call in [lambda x: x.sum("a"), lambda x: x.mean("b"), lambda x: x.std("a"), lambda x: 2 * x + x, lambda x: x.isel(a=slice(1, 9)).T, lambda x: np.exp(x),
                 lambda x: x.where(x > 1), lambda x: xarray.concat([x, x], "a"), lambda x: x.shift(a=1), lambda x: x.max(), lambda x: x.dot(x)]:
        found = call(ours)
        assert isinstance(found.data, spc.Array)
        np.testing.assert_allclose(found.data.to_numpy(), call(theirs).data)
    dask = pytest.importorskip("dask.array")
    lazy = dask.from_array(t, chunks=(10, 7), asarray=False)
    np.testing.assert_allclose((lazy @ lazy.T + np.exp(lazy).sum()).compute().to_numpy(), dense @ dense.T + np.exp(dense).sum())


def test_numpy_writes_results_into_its_own_arrays(pair):
    t, dense = pair
    out = np.ones((30, 20))
    out += t
    np.testing.assert_array_equal(out, dense + 1)
    assert np.add(t, dense, out=out) is out and np.array_equal(out, 2 * dense)
    np.testing.assert_array_equal(np.sum(t, axis=0, where=dense > 1, initial=2).to_numpy(), np.sum(dense, axis=0, where=dense > 1, initial=2))
    np.testing.assert_array_equal(np.max(t, axis=0, initial=0).to_numpy(), np.max(dense, axis=0, initial=0))


def test_threads_compute_one_expression(pair):
    t, dense = pair
    for _ in range(20):
        expression, wrong = (t * 2 + t) @ spc.asarray(np.ones(20)), []

        def work(expression=expression, wrong=wrong):
            if not np.allclose(expression.to_numpy(), 3 * dense.sum(1)):
                wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_expressions_in_forked_processes(pair):
    t, dense = pair
    expression = (t * 2) @ spc.asarray(np.ones(20))
    with spc._array._LOCKS.expressions:
        child = os.fork()
        if child == 0:
            os._exit(0 if np.allclose(expression.to_numpy(), 2 * dense.sum(1)) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_namespace_of_the_standard(pair):
    t, dense = pair
    xp = t.__array_namespace__()
    assert xp is spc.array_api and xp.__array_api_version__ in xp.VERSIONS
    np.testing.assert_allclose(xp.sum(xp.multiply(t, t), axis=0).to_numpy(), (dense * dense).sum(0))
    assert xp.zeros((3, 4), sparse=True).nnz == 0 and xp.eye(3, k=1, sparse=True).to_numpy().tolist() == np.eye(3, k=1).tolist()
    values, counts = xp.unique_counts(t)
    np.testing.assert_array_equal(values.to_numpy(), np.unique(dense))
    np.testing.assert_array_equal(counts.to_numpy(), np.unique(dense, return_counts=True)[1])
    inverse = xp.unique_inverse(t).inverse_indices
    np.testing.assert_array_equal(inverse.to_numpy(), np.unique(dense, return_inverse=True)[1].reshape(dense.shape))
    assert xp.isin(t, xp.asarray([0.5])).is_sparse and t.to_device("cpu") is t and xp.result_type(t, xp.float32) == np.float64
    with pytest.raises(ValueError, match="versions?"):
        t.__array_namespace__(api_version="1999.01")


@pytest.mark.parametrize("library", ["pandas", "polars", "dict"])
def test_tables(library):
    columns = {"shop": ["Oslo", "Rome", "Oslo", "Oslo"], "day": [3, 1, 1, 3], "price": [3.0, 2.5, 1.0, 2.0]}
    table = columns if library == "dict" else pytest.importorskip(library).DataFrame(columns)
    sales = spc.from_table(table, keys=["shop", "day"], values="price")
    assert sales.names == ("shop", "day") and list(sales.labels["shop"]) == ["Oslo", "Rome"] and sales["Oslo", 3] == 5 and sales["Rome", 3] == 0
    assert sales.sum("day")["Oslo"] == 6 and float(sales.sum().array) == 8.5 and sales.select(shop="Rome")[1] == 2.5
    assert sales.max("shop").labels.keys() == {"day"} and spc.from_table(table, keys=["shop"])["Oslo"] == 3
    assert sales.mean("day")["Oslo"] == 3 and float(sales.min().array) == 0
    pytest.importorskip("pandas")
    assert sorted(sales.to_pandas("price").itertuples(index=False)) == [("Oslo", 1, 1.0), ("Oslo", 3, 5.0), ("Rome", 1, 2.5)]
    for wrong, message in [(lambda: sales["Paris", 1], "Paris"), (lambda: sales["Oslo"], "2 labels"), (lambda: sales.sum("town"), "town"),
                           (lambda: spc.from_table(table, keys=["town"]), "town")]:
        with pytest.raises(KeyError, match=message):
            wrong()
    with pytest.raises(ValueError, match="more than once"):
        spc.from_table(table, keys=["shop", "day"], values="price", duplicates="refuse")
    with pytest.raises(TypeError, match="numbers"):
        spc.from_table(table, keys=["day"], values="shop")
    with pytest.raises(ValueError, match="missing"):
        spc.from_table({"a": [1.0, np.nan]}, keys=["a"])


def test_long_chains_of_products_are_computed_in_parts(rng):
    dense = data(rng, (6, 6), "float64") / 4
    t, v, want = spc.tensor(dense, format="csr"), spc.asarray(np.ones(6)), np.ones(6)
    for _ in range(40):
        v, want = v @ t + t[0], want @ dense + dense[0]
    np.testing.assert_allclose(v.to_numpy(), want)


def test_indices_as_numpy(rng):
    dense = rng.integers(1, 9, (2, 3, 4)) * (rng.random((2, 3, 4)) < 0.6)
    for t in [spc.tensor(dense, format="coo"), spc.tensor(dense, format="csf")]:
        # Arrays with an ellipsis between them are no neighbours, also if that is no mode.
        for index in [(slice(None), 1, ..., [0, 2]), (1, ..., [0, 2]), (..., 1, [0, 2]), (1, None, [0, 2]), ([0, 1], ..., [True, False, True, False])]:
            compare(t[index], dense[index], 0, str(index))
            changed, want = t.copy(), dense.copy()
            changed[index] = want[index] = np.arange(dense[index].size).reshape(dense[index].shape)
            compare(changed, want, 0, str(index))
        with pytest.raises(IndexError, match="shapes"):
            t[[0, 1, 1], [0, 1]]
    mask = scipy.sparse.csr_array(dense[0] > 4)
    matrix = spc.tensor(dense[0], format="csr")
    compare(matrix[mask], dense[0][dense[0] > 4], 0, "a mask of SciPy's")
    matrix[mask] = 0
    compare(matrix, np.where(dense[0] > 4, 0, dense[0]), 0, "a mask of SciPy's")


def test_orders_of_elements_and_other_functions(rng):
    dense = data(rng, (3, 4, 2), "float64")
    t = spc.tensor(dense, format="csf")
    for order in ["C", "F"]:
        compare(t.flatten(order), dense.flatten(order), 0, order)
        compare(np.ravel(t, order), np.ravel(dense, order), 0, order)
        compare(t.reshape(4, 6, order=order), dense.reshape(4, 6, order=order), 0, order)
        compare(np.reshape(t, (2, -1), order=order), np.reshape(dense, (2, -1), order=order), 0, order)
    for xp, fp in [([-1, 0, 1], [3.0, 0.0, 2.0]), ([-1, 0, 1], [3.0, 1j, 2.0])]:
        compare(np.interp(t, xp, fp), np.interp(dense, xp, fp), 1e-12, "interp")
    compare(np.einsum("ijk,ijl->kl", t, t, dtype="float32"), np.einsum("ijk,ijl->kl", dense, dense).astype("float32"), 1e-5, "einsum")
    nan = spc.Array(spc.tensor(np.array([0.0, 1.0, 0.0, 2.0]), format="csf").eliminate_zeros()._storage.with_fill(np.nan))
    assert spc.array_api.unique_values(nan).shape == (4,) and np.unique(nan).shape == (3,)
    for wrong in [lambda: t.swapaxes(0, 3), lambda: np.where(t > 0, t), lambda: spc.array_api.vecdot(t, t[0], axis=0)]:
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(TypeError):
        np.repeat(t, 1.5)


@pytest.mark.parametrize("dtype", ["float64", "int8", "bool", "complex128", "float16"])
@pytest.mark.parametrize("format", ["csr", "[dense, compressed(u64, pos = u64)]", "csc"])
def test_parts_of_rows(rng, dtype, format):
    dense = data(rng, (40, 70), dtype, 0.3)
    dense[7] = 0
    # A row that is searched, where short ones are counted.
    dense[8] = np.ones(70, dtype)
    t = spc.tensor(dense, format=format).eliminate_zeros()
    filled = (t + t.dtype.type(1)).compute() if dtype not in ("bool", "float16") else t
    for a in [t, filled]:
        want = a.to_numpy()
        for index in [
            slice(3, 9), slice(9, 3), slice(None, None, -1), slice(8, 9), [5, 5, -1, 8], [], np.arange(40) % 3 == 0, (slice(2, 30), slice(10, 60)),
            (slice(None), slice(69, None)), (slice(None), slice(0, 0)), ([8, 7, 3], slice(5, 20)), (slice(None, None, 2), slice(1, 5)), (slice(0, 0), slice(5, 9)),
            (np.array([39, 0], np.int8), slice(None)), (slice(-5, None), slice(-5, None)),
        ]:
            compare(a[index], want[index], 0, str(index))
        for k in [-100, -2, 0, 1, 69, 100]:
            compare(np.tril(a, k), np.tril(want, k), 0, f"tril {k}")
            compare(np.triu(a, k), np.triu(want, k), 0, f"triu {k}")
        compare(np.concatenate([a, a[:0], a[8:9], a]), np.concatenate([want, want[8:9], want]), 0, "concatenate")
        compare(np.concatenate([a, a.to("coo")]), np.concatenate([want, want]), 0, "concatenate")
        for turned in [a.T.to("csr"), a.T.compute().to("csr"), a.to("csc").T.to("csc"), a.to("csr").to("csc").T]:
            compare(turned, want.T, 0, "transposed")
            turned[0, 0] = 1
        np.testing.assert_array_equal(a.to_numpy(), want)
    with pytest.raises(IndexError):
        t[[40]]


def test_huge_matrices_have_parts():
    a = spc.tensor((([5, 2_000_000], [7, 2_000_000]), [1.0, 2.0]), shape=(3_000_000, 2_100_000))
    assert a[1_999_999:, 1_000_000:].nnz == 1 and a[:6].nnz == 1 and np.tril(a, -1).nnz == 0 and a.T.to("csr")[7, 5] == 1
    assert np.concatenate([a, a]).shape == (6_000_000, 2_100_000) and a[[2_000_000, 5]].to_scipy().indices.tolist() == [2_000_000, 7]
