"""Models of decompositions: what one asks of them beside their elements."""

import numpy as np
import pytest

import spc


@pytest.fixture
def x(rng):
    """A tensor with a few entries."""
    dense = np.where(rng.random((7, 6, 5)) < 0.4, rng.random((7, 6, 5)), 0)
    return spc.tensor(dense, format="csf"), dense


@pytest.fixture
def cp(rng):
    return spc.CP(np.array([2.0, -3.0, 0.5]), [rng.standard_normal((extent, 3)) for extent in (7, 6, 5)], [None, 0.25, None], "iterations")


@pytest.fixture
def tucker(x):
    return spc.tucker(x[0], ranks=[3, 2, 2])


def test_models_are_asked_for_elements_norms_and_fits(rng, x, cp, tucker):
    t, dense = x
    assert cp.fit == 0.25 and cp.rank == 3 and tucker.ranks == (3, 2, 2)
    for model in [cp, tucker]:
        whole = model.to_numpy()
        places = [rng.integers(0, extent, (2, 9)) for extent in model.shape]
        assert model.shape == (7, 6, 5)
        np.testing.assert_allclose(model.at(places), whole[tuple(places)])
        np.testing.assert_allclose(model.at([3, places[1], 0]), whole[3, places[1], 0])
        np.testing.assert_allclose(model.norm(), np.linalg.norm(whole))
        for given in [t, dense]:
            np.testing.assert_allclose(model.fit_of(given), 1 - np.linalg.norm(dense - whole) / np.linalg.norm(dense))
        with pytest.raises(ValueError, match="shape"):
            model.fit_of(dense[1:])
        with pytest.raises(ValueError, match="modes"):
            model.at(places[1:])
    np.testing.assert_allclose(tucker.fit_of(t), tucker.fit)
    np.testing.assert_allclose(spc.cp_als(t, 2, iterations=9).fit_of(t), spc.cp_als(t, 2, iterations=9).fit, atol=1e-6)
    weights, factors = cp
    core, matrices = tucker
    assert weights is cp.weights and factors is cp.factors and core is tucker.core and matrices is tucker.factors


def test_components_are_normalized_arranged_and_given_signs(cp):
    whole = cp.to_numpy()
    for made in [cp.normalized(), cp.normalized(1), cp.normalized(np.inf), cp.normalized(into=1), cp.arranged(), cp.arranged([2, 0, 1]), cp.fixed_signs(),
                 cp.arranged().fixed_signs()]:
        np.testing.assert_allclose(made.to_numpy(), whole)
        assert made.fits == cp.fits
    one = cp.normalized()
    assert (one.weights > 0).all()
    for factor in one.factors:
        np.testing.assert_allclose(np.linalg.norm(factor, axis=0), 1)
    assert (np.diff(cp.arranged().weights) <= 0).all() and cp.arranged([2, 0, 1]).weights.tolist() == [0.5, 2.0, -3.0]
    assert (cp.normalized(into=1).weights == 1).all()
    signs = [[column[np.argmax(abs(column))] < 0 for column in factor.T] for factor in cp.fixed_signs().factors]
    assert np.sum(signs, axis=0).max() <= 1
    # A component of zeros stays one.
    empty = spc.CP(np.array([1.0]), [np.zeros((3, 1)), np.ones((2, 1))], [], "")
    assert not empty.normalized().to_numpy().any() and not empty.normalized().weights.any()


def test_models_are_compared(rng, cp):
    other = cp.arranged([1, 2, 0]).normalized(into=2)
    score, pairs = cp.score(other)
    assert pairs == [2, 0, 1]
    np.testing.assert_allclose(score, 1)
    halved = spc.CP(cp.weights / 2, cp.factors, [], "")
    np.testing.assert_allclose(cp.score(halved)[0], 0.5)
    np.testing.assert_allclose(cp.score(halved, penalizes_weights=False)[0], 1)
    random = spc.CP(cp.weights, [rng.standard_normal(factor.shape) for factor in cp.factors], [], "")
    assert 0 <= cp.score(random)[0] < 0.5
    with pytest.raises(ValueError, match="components"):
        cp.score(spc.CP(cp.weights[:1], [factor[:, :1] for factor in cp.factors], [], ""))


def test_a_core_of_another_tensor(x, tucker):
    t, dense = x
    want = np.einsum("ijk,ia,jb,kc->abc", dense, *tucker.factors)
    np.testing.assert_allclose(tucker.project(t), want, atol=1e-12)
    np.testing.assert_allclose(tucker.project(dense), want, atol=1e-12)
    np.testing.assert_allclose(tucker.project(t), tucker.core, atol=1e-12)
