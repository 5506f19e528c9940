"""Estimators of scikit-learn take what kernels give, and give what kernels take."""

import numpy as np
import pytest
import scipy.sparse
from conftest import matrix

import spc

pytest.importorskip("sklearn")


@pytest.fixture
def features(rng):
    """A product of sparse matrices, and the same by SciPy."""
    a, b = matrix(rng, shape=(60, 40), density=0.1), matrix(rng, shape=(40, 30), density=0.2)
    return spc.einsum("ij,jk->ik", a, b, format="csr"), (a @ b).tocsc().tocsr()


@pytest.mark.parametrize("algorithm", ["arpack", "randomized"])
def test_a_truncated_svd(features, algorithm):
    from sklearn.decomposition import TruncatedSVD

    ours, theirs = features
    made = TruncatedSVD(3, algorithm=algorithm, random_state=1)
    want = made.fit_transform(theirs)
    np.testing.assert_allclose(np.abs(made.fit_transform(ours.to_scipy())), np.abs(want), rtol=1e-6, atol=1e-8)
    # What it gives is an input again.
    components = np.ascontiguousarray(made.components_)
    np.testing.assert_allclose(spc.einsum("ik,rk->ir", ours, components), theirs @ components.T)


def estimators():
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.neighbors import KNeighborsClassifier

    return [LogisticRegression(solver="liblinear"), Ridge(solver="sparse_cg", tol=1e-12), Ridge(solver="lsqr", tol=1e-12), SGDClassifier(random_state=1), MultinomialNB(),
            KNeighborsClassifier(3), RandomForestClassifier(5, random_state=1)]


@pytest.mark.parametrize("number", range(7))
@pytest.mark.parametrize("way", ["csr", "csc", "coo", "dense"])
def test_estimators(rng, features, number, way):
    ours, theirs = features
    target = (theirs.sum(1) > np.median(theirs.sum(1))).astype("int64")
    given = ours.to_numpy() if way == "dense" else ours.to(way).to_scipy()
    want = theirs.toarray() if way == "dense" else theirs.asformat(way)
    values = ours.values.copy()
    found = estimators()[number].fit(given, target).predict(given)
    np.testing.assert_allclose(found, estimators()[number].fit(want, target).predict(want), rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(ours.values, values)
    np.testing.assert_array_equal(ours.to_numpy(), theirs.toarray())


def test_scalers_and_distances(features):
    from sklearn.cluster import DBSCAN
    from sklearn.preprocessing import MaxAbsScaler, normalize

    ours, theirs = features
    scaled = MaxAbsScaler().fit_transform(ours.to_scipy())
    np.testing.assert_allclose(spc.einsum("ij->j", scaled), MaxAbsScaler().fit_transform(theirs).sum(0))
    rows = normalize(ours.to_scipy())
    cosine = spc.einsum("D(i,j) = A(i,k) * B(j,k)", A=rows, B=rows)
    labels = DBSCAN(eps=0.4, metric="precomputed").fit_predict(np.clip(1 - cosine, 0, None))
    np.testing.assert_array_equal(labels, DBSCAN(eps=0.4, metric="cosine").fit_predict(theirs))


def test_a_step_of_a_pipeline(features):
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    _, theirs = features
    square = spc.kernel("B(i,j) = A(i,j) * A(i,j)", A="csr", B="csr")
    steps = make_pipeline(FunctionTransformer(lambda a: square(a).to_scipy(), accept_sparse=True), Ridge(solver="lsqr", tol=1e-12))
    target = theirs.sum(1)
    want = Ridge(solver="lsqr", tol=1e-12).fit(theirs * theirs, target).predict(theirs * theirs)
    np.testing.assert_allclose(steps.fit(theirs, target).predict(theirs), want, rtol=1e-6)
