"""Functions of JAX: values and gradients beside jax.numpy, compiled and batched."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from jax.experimental.sparse import BCOO, BCSR  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import spc  # noqa: E402
import spc.jax  # noqa: E402


@pytest.fixture(autouse=True)
def double():
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def dense(rng, *shape):
    return jnp.asarray(rng.random(shape))


def pattern(rng, rows=5, columns=4):
    return jnp.asarray(rng.random((rows, columns)) * (rng.random((rows, columns)) < 0.5))


def of(kind, plain):
    """A matrix of JAX's, and one with other values."""
    if kind == "BCSR":
        A = BCSR.fromdense(plain)
        return A, lambda data: BCSR((data, A.indices, A.indptr), shape=A.shape)
    A = BCOO.fromdense(plain)
    if kind == "shuffled":
        order = np.random.default_rng(1).permutation(A.nse)
        A = BCOO((A.data[order], A.indices[order]), shape=A.shape)
    return A, lambda data: BCOO((data, A.indices), shape=A.shape)


@pytest.mark.parametrize("kind", ["BCOO", "BCSR", "shuffled"])
def test_a_product_and_its_gradients(rng, kind):
    op = spc.jax.op("Y(i,r) = A(i,j) * X(j,r)")
    plain, X = pattern(rng), dense(rng, 4, 3)
    A, made = of(kind, plain)
    np.testing.assert_allclose(op(A, X), plain @ X)
    np.testing.assert_allclose(jax.jit(op)(A, X), plain @ X)
    check_grads(lambda data, X: op(made(data), X), (A.data, X), order=2, modes=["rev"])
    found = jax.jit(jax.grad(lambda data, X: (op(made(data), X) ** 2).sum(), (0, 1)))(A.data, X)
    wanted = jax.grad(lambda data, X: ((made(data).todense() @ X) ** 2).sum(), (0, 1))(A.data, X)
    for got, want in zip(found, wanted):
        np.testing.assert_allclose(got, want)


@pytest.mark.parametrize("kind", ["BCOO", "BCSR", "shuffled"])
def test_results_with_the_entries_of_an_input(rng, kind):
    op = spc.jax.op("S(i,j) = A(i,j) * Q(i,k) * K(j,k)", S="like A")
    plain, Q, K = pattern(rng), dense(rng, 5, 3), dense(rng, 4, 3)
    A, made = of(kind, plain)
    S = jax.jit(op)(A, Q, K)
    assert type(S) is type(A)
    np.testing.assert_allclose(S.todense(), plain * (Q @ K.T))
    check_grads(lambda data, Q, K: op(made(data), Q, K).data, (A.data, Q, K), order=2, modes=["rev"])


def test_duplicate_entries_and_padding(rng):
    op, X = spc.jax.op("Y(i,r) = A(i,j) * X(j,r)"), dense(rng, 4, 3)
    indices = jnp.array([[1, 2], [0, 1], [1, 2], [5, 4]])
    data = jnp.array([1.0, 2.0, 3.0, 4.0])

    def run(data):
        return op(BCOO((data, indices), shape=(5, 4)), X)

    np.testing.assert_allclose(run(data), BCOO((data, indices), shape=(5, 4)).todense() @ X)
    check_grads(run, (data,), order=1, modes=["rev"])
    assert jax.grad(lambda data: run(data).sum())(data)[3] == 0
    with pytest.raises(Exception, match="duplicate"):
        spc.jax.op("S(i,j) = 2 * A(i,j)", S="like A")(BCOO((data, indices), shape=(5, 4))).data.block_until_ready()


def test_arrays_of_indices(rng):
    op = spc.jax.op("y(dst(e),r) += w(e) * x(src(e),r)")
    src, dst = jnp.array([0, 2, 1, 1, 3]), jnp.array([1, 4, 0, 1, 1])

    @jax.jit
    def run(w, x):
        return op(w=w, x=x, src=src, dst=dst, extents={"dst": 6})

    w, x = dense(rng, 5), dense(rng, 4, 3)
    np.testing.assert_allclose(run(w, x), jnp.zeros((6, 3)).at[dst].add(w[:, None] * x[src]))
    check_grads(run, (w, x), order=2, modes=["rev"])
    with pytest.raises(TypeError, match="extents="):
        op(w=w, x=x, src=src, dst=dst)


def test_vmap_numbers_and_several_results(rng):
    op = spc.jax.op("fn both(x: dense, alpha: f64) -> (y: dense, s: f64) { y(i) = alpha * exp(x(i)); s = sum(i)(x(i) * x(i)); }")
    x = dense(rng, 6, 4)
    y, s = jax.vmap(lambda x: op(x, 2))(x)
    np.testing.assert_allclose(y, 2 * jnp.exp(x))
    np.testing.assert_allclose(s, (x * x).sum(1))
    check_grads(op, (x[0], 0.5), order=2, modes=["rev"])
    found = jax.vmap(jax.grad(lambda x: op(x, 2)[0].sum()))(x)
    np.testing.assert_allclose(found, 2 * jnp.exp(x))


def test_only_wanted_gradients_are_computed(rng):
    op = spc.jax.op("Y(i,r) = 3 * A(i,j) * X(j,r)")
    A = BCOO.fromdense(pattern(rng))
    jax.grad(lambda X: op(A, X).sum())(dense(rng, 4, 3))
    (flat,) = op._flats.values()
    assert [by for by, _ in flat._gradients] == [("X",)]


def test_single_precision_and_refusals(rng):
    op = spc.jax.op("y(i) = A(i,j) * x(j)")
    A, x = pattern(rng).astype("float32"), dense(rng, 4).astype("float32")
    assert op(BCOO.fromdense(A), x).dtype == jnp.float32
    with pytest.raises(TypeError, match="bfloat16"):
        op(A, x.astype("bfloat16"))
    with pytest.raises(TypeError, match="like"):
        spc.jax.op("C(i,k) = A(i,j) * B(j,k)", C="csr")(BCOO.fromdense(A), A.T)
