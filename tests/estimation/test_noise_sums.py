"""Quantiles of sums of noise: equal to a plain convolution, and to the law's own for one term."""

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from sparsedp.arrays import Floats
from sparsedp.estimation.least_squares import drawn_noise
from sparsedp.estimation.noise_sums import NoiseSum
from sparsedp.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw, IndependentLaw

LEVELS = [0.5, 0.75, 0.95, 0.975, 0.999, 1 - 1e-6]


def quantile(law: IndependentLaw, weights: Floats, level: float) -> float:
    return NoiseSum.of((law, weights)).quantile(level)


def convolved(law: IndependentLaw, factors: list[int]) -> npt.NDArray[np.float64]:
    """The probabilities of all sums, by adding one term after the other; the middle one is that of 0."""
    far = law.quantile(1 - 1e-14)
    one = np.array([law.pmf(x) for x in range(-far, far + 1)])
    total = np.ones(1)
    for factor in factors:
        spread = np.zeros(2 * far * factor + 1)
        spread[::factor] = one
        total = np.convolve(total, spread)
    return total


LAWS: list[IndependentLaw] = [
    DiscreteLaplaceLaw(Fraction(1, 5)),
    DiscreteLaplaceLaw(Fraction(1)),
    DiscreteLaplaceLaw(Fraction(17, 2)),
    DiscreteGaussianLaw(Fraction(1, 10)),
    DiscreteGaussianLaw(Fraction(9)),
]


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("factors", [[1], [1, 1], [1, 1, 1, 1, 1, 1, 1], [1, 2, 5], [3, 3, 7]])
def test_it_is_the_quantile_of_the_convolution(law: IndependentLaw, factors: list[int]) -> None:
    probabilities = convolved(law, factors)
    at_most = np.cumsum(probabilities)
    for level in LEVELS:
        # A level that is hit exactly may be rounded either way.
        low, high = (int(np.searchsorted(at_most, level + e)) - len(probabilities) // 2 for e in (-1e-12, 1e-12))
        found = quantile(law, np.array(factors) / 10, level) * 10
        assert low - 1e-9 <= found <= max(high, 0) + 1e-9


@pytest.mark.parametrize("law", [law for law in LAWS if law.variance < 10], ids=repr)
def test_odd_weights_are_a_little_wide(law: IndependentLaw) -> None:
    """100, 61 and 41 have no common step on the grid; the plain convolution has."""
    factors = [100, 61, 41]
    at_most = np.cumsum(convolved(law, factors))
    for level in LEVELS[1:]:
        exact = int(np.searchsorted(at_most, level)) - len(at_most) // 2
        assert exact - 1e-6 <= quantile(law, np.array(factors, dtype=float), level) <= 1.03 * exact + 1.6


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(200)])
def test_one_term_has_the_laws_own_quantile(scale: Fraction) -> None:
    law = DiscreteLaplaceLaw(scale)
    for level in LEVELS[1:]:
        assert quantile(law, np.ones(1), level) == law.quantile(level)


def test_a_wide_law_is_stretched() -> None:
    """Against the continuous law of two terms, whose tail is (2 + x)·exp(−x)/4 in units of the scale."""
    for scale in (Fraction(1000), Fraction(10**9)):
        x = quantile(DiscreteLaplaceLaw(scale), np.ones(2), 0.975) / float(scale)
        assert (2 + x) * np.exp(-x) / 4 == pytest.approx(0.025, rel=0.01)


def test_many_light_weights_beside_a_heavy_one() -> None:
    """They are nearly normal together; the heavy one is not."""
    law = DiscreteLaplaceLaw(Fraction(20))
    weights = np.concatenate([[300.5], np.ones(20_000)])
    noise = np.random.default_rng(3).laplace(scale=20, size=200_000) * 300.5
    noise += np.random.default_rng(4).normal(scale=np.sqrt(20_000 * law.variance), size=200_000)
    assert quantile(law, weights, 0.975) == pytest.approx(np.quantile(noise, 0.975), rel=0.03)


def _laplace(scale: float | str) -> DiscreteLaplaceLaw:
    return DiscreteLaplaceLaw(Fraction(scale))


SEVERAL: dict[str, list[tuple[IndependentLaw, list[float]]]] = {
    "narrow and wide": [(_laplace(1), [1.0]), (_laplace(10), [0.3])],
    "odd weights": [(_laplace("1.28"), [1.0, 0.37, 0.81])],
    "two wide ones": [(_laplace(20), [0.7, 0.7, 0.2]), (_laplace(100), [0.1])],
    "Laplace and Gaussian": [(_laplace(5), [1.0]), (DiscreteGaussianLaw(Fraction(50)), [1.0, 0.5])],
    "many light, one heavy": [(_laplace("1.3"), [0.6] * 64), (_laplace(6), [0.4])],
    "mostly zero": [(_laplace("1/4"), [1.0, 1.7]), (_laplace(3), [0.05] * 5)],
    "huge": [(_laplace(2**28), [1.0, 0.5]), (_laplace(2**20), [1.0])],
}


@pytest.mark.parametrize("terms", SEVERAL.values(), ids=SEVERAL.keys())
def test_terms_of_several_laws(terms: list[tuple[IndependentLaw, list[float]]]) -> None:
    """Beside 200,000 draws: no less than the level, and hardly more where nothing is discrete."""
    runs, generator = 200_000, np.random.default_rng(5)
    drawn = sum(
        (weight * drawn_noise(law, runs, generator) for law, weights in terms for weight in weights), np.zeros(runs)
    )
    noise = NoiseSum.of(*((law, np.array(weights)) for law, weights in terms))
    assert noise.variance == pytest.approx(drawn.var(), rel=0.03)
    for level in (0.9, 0.975, 0.995):
        spread = 4 * np.sqrt(level * (1 - level) / runs)
        reach = noise.quantile(level)
        assert np.mean(drawn <= reach * (1 + 1e-9)) >= level - spread
        assert np.mean(drawn < 0.95 * reach) <= level + spread
        assert np.mean(drawn <= 0.7 * reach) < level - spread


def test_weights_that_are_counted_are_as_good_as_repeated() -> None:
    law, other = _laplace(3), _laplace(30)
    repeated = NoiseSum.of((law, np.repeat([1.0, -2.5], [40, 3])), (other, np.ones(1)))
    counted = NoiseSum(((law, np.array([1.0, 2.5]), np.array([40.0, 3.0])), (other, np.ones(1), np.ones(1))))
    assert counted.variance == pytest.approx(repeated.variance)
    assert counted.quantile(0.975) == pytest.approx(repeated.quantile(0.975))
    assert counted.times(2.0).quantile(0.975) == pytest.approx(2.0 * counted.quantile(0.975), rel=0.01)


def test_no_noise_has_no_reach() -> None:
    assert NoiseSum(()).quantile(0.975) == 0.0
    assert NoiseSum.of((_laplace(3), np.zeros(4))).quantile(0.975) == 0.0
