"""The oracle of coverage: its weights and its law by definition, and what the library says beside it."""

from fractions import Fraction

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from studies.exact_noise import ExactIntervals, characteristic


@pytest.mark.parametrize("law", [DiscreteLaplaceLaw(Fraction(3, 2)), DiscreteGaussianLaw(Fraction(1, 2))])
def test_the_transform_is_the_sum_over_all_values(law: DiscreteLaplaceLaw | DiscreteGaussianLaw) -> None:
    places = np.linspace(-9, 9, 41)
    summed = sum(law.pmf(x) * np.cos(places * x) for x in range(-80, 81))
    np.testing.assert_allclose(characteristic(law, places), summed, atol=1e-9)


def test_one_cell_has_the_quantile_of_its_noise() -> None:
    counts = np.full(8, 1000)
    exact = ExactIntervals.of(sdp.Laplace().measure(counts, epsilon="0.1"))
    assert exact is not None
    weights = np.zeros(8)
    weights[3] = 1.0
    expected = 2 * DiscreteLaplaceLaw(Fraction(10)).quantile(0.975)
    assert exact.width(weights, 0.95) == pytest.approx(expected, rel=0.03)


def test_a_part_of_a_group_has_no_exact_interval() -> None:
    synopsis = sdp.Adaptive([("a",)]).measure(np.full((4, 4), 50), epsilon=1, domain=["a:0..3", "b:0..3"])
    exact = ExactIntervals.of(synopsis)
    assert exact is not None
    row, cell = np.zeros((4, 4)), np.zeros((4, 4))
    row[1], cell[1, 2] = 1.0, 1.0
    assert exact.width(row, 0.95) is not None
    assert exact.width(cell, 0.95) is None


@pytest.mark.parametrize("mechanism", [sdp.Hierarchical(), sdp.Privelet(), sdp.Adaptive("marginals")])
def test_the_library_is_as_narrow(mechanism: sdp.Hierarchical | sdp.Privelet | sdp.Adaptive) -> None:
    counts = np.full((6, 5), 10**4)
    synopsis = mechanism.measure(counts, epsilon="0.1")
    release, exact = synopsis.recover(), ExactIntervals.of(synopsis)
    assert exact is not None
    weights = np.zeros(counts.shape)
    weights[1:4, 2:] = 1.0
    guaranteed = release.interval(weights, kind="guaranteed")
    assert guaranteed.high - guaranteed.low == pytest.approx(exact.width(weights, 0.95), rel=0.02)
