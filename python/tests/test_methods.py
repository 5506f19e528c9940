"""The kernels of examples/methods.ti, each beside SciPy, scikit-learn or NumPy."""

import pathlib
import re

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.csgraph as csgraph

import spc

FILE = pathlib.Path(__file__).parents[2] / "examples" / "methods.ti"
pytestmark = pytest.mark.skipif(not FILE.exists(), reason="there are no sources")


def method(name):
    kernels = re.split(r"\n(?=fn |///)", FILE.read_text())
    return spc.kernel(next(text for text in kernels if f"fn {name}(" in text))


def graph(rng, n, density, symmetric=False):
    A = scipy.sparse.random_array((n, n), density=density, rng=rng)
    A = A + A.T if symmetric else A
    return scipy.sparse.csr_array(A)


def positive_definite(rng, n):
    A = graph(rng, n, 0.03, symmetric=True)
    return scipy.sparse.csr_array(A + scipy.sparse.diags_array(np.asarray(abs(A).sum(axis=1)) + 1.0))


def test_page_rank(rng):
    links = scipy.sparse.csr_array(graph(rng, 200, 0.02) > 0, dtype=float)
    x, rounds = method("page_rank")(links, 0.85, 1e-13)
    dense = links.toarray()
    degree = dense.sum(axis=0)
    P = np.where(degree > 0, dense / np.maximum(degree, 1), 1 / 200)
    values, vectors = np.linalg.eig(0.85 * P + 0.15 / 200)
    first = np.real(vectors[:, np.argmax(np.real(values))])
    np.testing.assert_allclose(x, first / first.sum(), atol=1e-11)
    assert 10 < int(rounds) < 300


def test_graphs(rng):
    A = graph(rng, 300, 0.006)
    inf = csgraph.dijkstra(A, indices=3, unweighted=True)
    source = np.arange(300) == 3
    level, _ = method("bfs")(scipy.sparse.csr_array(A > 0), source)
    np.testing.assert_array_equal(level, np.where(np.isinf(inf), -1, inf).astype(int))
    d, _ = method("shortest_paths")(A, np.where(source, 0, np.inf))
    np.testing.assert_allclose(d, csgraph.dijkstra(A, indices=3))
    sparse = graph(rng, 300, 0.003, symmetric=True)
    label, _ = method("components")(scipy.sparse.csr_array(sparse > 0))
    count, expected = csgraph.connected_components(sparse)
    least = np.array([np.flatnonzero(expected == component)[0] for component in range(count)])
    np.testing.assert_array_equal(label, least[expected])


def test_label_propagation(rng):
    A = graph(rng, 80, 0.1, symmetric=True)
    known = np.zeros((80, 3))
    known[[0, 1, 2], [0, 1, 2]] = 1
    F, _ = method("label_propagation")(A, known, 1e-14)
    P = A.toarray() / A.toarray().sum(axis=1, keepdims=True)
    expected = known.copy()
    expected[3:] = np.linalg.solve(np.eye(77) - P[3:, 3:], P[3:, :3] @ known[:3])
    np.testing.assert_allclose(F, expected, atol=1e-9)


def test_power_iteration(rng):
    A = positive_definite(rng, 60)
    value, x, _ = method("power_iteration")(A, rng.random(60), 1e-9)
    expected = np.linalg.eigvalsh(A.toarray())[-1]
    np.testing.assert_allclose(float(value), expected)
    np.testing.assert_allclose(A @ x, expected * x, atol=1e-7)


@pytest.mark.parametrize("name", ["conjugate_gradients", "bicgstab", "jacobi"])
def test_solvers(rng, name):
    A = positive_definite(rng, 150)
    if name != "conjugate_gradients":
        A = scipy.sparse.csr_array(A + graph(rng, 150, 0.01) * 0.1)
    b = rng.standard_normal(150)
    x, rounds = method(name)(A, b, 1e-22 if name != "jacobi" else 1e-13)
    np.testing.assert_allclose(x, scipy.sparse.linalg.spsolve(scipy.sparse.csc_array(A), b), atol=1e-9)
    assert int(rounds) > 1


def test_k_means(rng):
    X = rng.standard_normal((120, 2)) + 6 * rng.integers(0, 3, 120)[:, None]
    C, cluster, _ = method("k_means")(X, X[:3].copy())
    centers = X[:3].copy()
    for _ in range(100):
        nearest = ((X[:, None] - centers[None]) ** 2).sum(axis=2).argmin(axis=1)
        centers = np.array([X[nearest == c].mean(axis=0) if (nearest == c).any() else centers[c] for c in range(3)])
    np.testing.assert_array_equal(cluster, nearest)
    np.testing.assert_allclose(C, centers)


def test_sinkhorn(rng):
    K = scipy.sparse.csr_array(graph(rng, 40, 0.2) + scipy.sparse.eye_array(40))
    P, _ = method("sinkhorn")(K, 1e-12)
    P = P.to_scipy()
    np.testing.assert_allclose(P.sum(axis=0), 1, atol=1e-8)
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-8)
    assert P.nnz == K.nnz


def test_belief_propagation(rng):
    # A tree of seven vertices, where beliefs are the marginals.
    edges = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)]
    src = np.array([a for a, _ in edges] + [b for _, b in edges])
    dst = np.array([b for _, b in edges] + [a for a, _ in edges])
    back = np.concatenate([np.arange(6, 12), np.arange(6)])
    field = rng.standard_normal((7, 2))
    pair = rng.standard_normal((6, 2, 2))
    coupling = np.concatenate([pair, pair.transpose(0, 2, 1)])
    belief, rounds = method("belief_propagation")(src, dst, back, field, coupling, 1e-12)
    marginal = np.zeros((7, 2))
    for states in np.ndindex(*(2,) * 7):
        weight = np.exp(sum(field[v, s] for v, s in enumerate(states)))
        weight *= np.exp(sum(pair[e, states[a], states[b]] for e, (a, b) in enumerate(edges)))
        marginal[np.arange(7), states] += weight
    marginal /= marginal.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.exp(belief), marginal, atol=1e-10)
    assert int(rounds) < 12
