"""The laws of noise: their figures against sums in high precision, their quantiles, and their descriptions."""

from __future__ import annotations

import json
from fractions import Fraction
from math import inf, isclose, isqrt, log

import mpmath
import pytest

from goodness_of_fit import SCALES
from sparsedp.errors import InvalidInput, UnknownName
from sparsedp.laws import ContinualCounterLaw, DiscreteGaussianLaw, DiscreteLaplaceLaw, LayersLaw, noise_law_from

TINY_TO_HUGE = [Fraction(1, 300), Fraction(1, 40), *SCALES, Fraction(10**15), Fraction(10**40)]


def ratio(scale: Fraction) -> mpmath.mpf:
    return mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)


@pytest.mark.parametrize("scale", [Fraction(1, 40), Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(20)])
def test_moments_are_sums_over_the_support(scale: Fraction) -> None:
    law = DiscreteLaplaceLaw(scale)
    support = range(-900, 901)
    assert isclose(sum(law.pmf(x) for x in support), 1, rel_tol=1e-12)
    assert isclose(sum(x**2 * law.pmf(x) for x in support), law.variance, rel_tol=1e-11)
    assert isclose(sum(x**4 * law.pmf(x) for x in support), law.fourth_moment, rel_tol=1e-11)


@pytest.mark.parametrize("scale", TINY_TO_HUGE)
def test_figures_are_accurate_at_every_scale(scale: Fraction) -> None:
    law = DiscreteLaplaceLaw(scale)
    with mpmath.workdps(120):
        q = ratio(scale)
        near = 3 * int(scale) + 2
        expected = {
            "variance": 2 * q / (1 - q) ** 2,
            "fourth": 2 * q * (1 + 10 * q + q * q) / (1 - q) ** 4,
            "pmf": (1 - q) / (1 + q) * q**near,
            "cdf": q**near / (1 + q),
        }
        found = {
            "variance": law.variance,
            "fourth": law.fourth_moment,
            "pmf": law.pmf(-near),
            "cdf": law.cdf(-near),
        }
        for name, value in found.items():
            # Beyond the smallest normal float only the order of magnitude can be held.
            tolerance = 1e-13 if abs(expected[name]) > 1e-300 else 1e-2
            assert isclose(value, float(expected[name]), rel_tol=tolerance, abs_tol=1e-320), name


def test_the_law_is_not_the_continuous_one() -> None:
    assert round(DiscreteLaplaceLaw(Fraction(1)).variance / 2, 2) == 0.92
    assert round(DiscreteLaplaceLaw(Fraction(1, 2)).variance * 2, 2) == 0.72


@pytest.mark.parametrize("scale", [Fraction(1, 10**400), Fraction(10**400)])
def test_scales_beyond_floats_give_limits_not_errors(scale: Fraction) -> None:
    law = DiscreteLaplaceLaw(scale)
    small = scale < 1
    assert law.variance == (0 if small else inf)
    assert law.fourth_moment == (0 if small else inf)
    assert law.pmf(0) == (1 if small else 0)
    assert law.cdf(-1) == (0 if small else 0.5)


@pytest.mark.parametrize("scale", SCALES)
def test_neighbouring_values_differ_by_the_promised_factor(scale: Fraction) -> None:
    law = DiscreteLaplaceLaw(scale)
    assert isclose(log(law.pmf(4) / law.pmf(5)), 1 / scale, rel_tol=1e-6)
    assert law.pmf(-5) == law.pmf(5)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("level", [1e-6, 0.013, 0.3, 0.5, 0.51, 0.77, 0.95, 0.999999])
def test_a_quantile_is_the_least_value_that_reaches_its_level(scale: Fraction, level: float) -> None:
    law = DiscreteLaplaceLaw(scale)
    x = law.quantile(level)
    step = max(1, int(scale / 10**6))
    assert law.cdf(x) >= level - 1e-12
    assert law.cdf(x - step) < level


def test_a_description_gives_the_law_back() -> None:
    law = DiscreteLaplaceLaw(Fraction(7, 2))
    assert law.describe() == {"name": "discrete_laplace", "scale": "7/2"}
    assert noise_law_from(law.describe()) == law


def test_bad_descriptions_and_scales_are_refused() -> None:
    with pytest.raises(UnknownName, match="discrete_laplace"):
        noise_law_from({"name": "discrete_laplase", "scale": "1"})
    with pytest.raises(InvalidInput, match="scale"):
        noise_law_from({"name": "discrete_laplace", "scale": "-1"})
    with pytest.raises(InvalidInput, match="level"):
        DiscreteLaplaceLaw(Fraction(1)).quantile(1)


@pytest.mark.parametrize("scale", ["1e-400", "1e80", "1e400"])
@pytest.mark.parametrize("name", ["discrete_laplace", "continual_counter"])
def test_scales_of_no_budget_are_not_read(name: str, scale: str) -> None:
    """Of a file: recovery would divide by what is zero in floating point, or count what is not a number."""
    with pytest.raises(InvalidInput, match="scale"):
        noise_law_from({"name": name, "scale": scale, "levels": 3})


# Around 1/6 and 2²⁰ the formulas change.
SUMMABLE = [
    Fraction(1, 100),
    Fraction(1, 7),
    Fraction(1, 6),
    Fraction(1, 5),
    Fraction(1),
    Fraction(22, 7),
    Fraction(1000),
    Fraction(2**20),
    Fraction(2**20 + 1),
]
VARIANCES = [*SUMMABLE, Fraction(10**12), Fraction(2**110)]


def weight(x: int, variance: Fraction) -> mpmath.mpf:
    return mpmath.exp(-mpmath.mpf(x * x * variance.denominator) / (2 * variance.numerator))


@pytest.mark.parametrize("variance", SUMMABLE)
def test_figures_are_sums_over_the_support(variance: Fraction) -> None:
    law, deviation = DiscreteGaussianLaw(variance), isqrt(int(variance)) + 1
    reach = 9 * deviation + 40
    with mpmath.workdps(40):
        weights = [weight(x, variance) for x in range(reach)]
        total = 2 * mpmath.fsum(weights) - 1
        second = 2 * mpmath.fsum(x**2 * w for x, w in enumerate(weights)) / total
        fourth = 2 * mpmath.fsum(x**4 * w for x, w in enumerate(weights)) / total
        assert isclose(law.variance, second, rel_tol=1e-14)
        assert isclose(law.fourth_moment, fourth, rel_tol=1e-14)
        for x in (0, 1, deviation, 4 * deviation):
            assert isclose(law.pmf(x), weights[x] / total, rel_tol=1e-13)
            assert law.pmf(-x) == law.pmf(x)
        for start in (1, 2, deviation, 4 * deviation):
            tail = mpmath.fsum(weights[start:]) / total
            assert isclose(law.cdf(-start), tail, rel_tol=1e-13)
            assert isclose(law.cdf(start - 1), 1 - tail, rel_tol=1e-13)


@pytest.mark.parametrize("variance", [Fraction(2**20), Fraction(2**20 + 1)])
def test_a_far_tail_keeps_its_digits(variance: Fraction) -> None:
    start = 30 * 1024
    with mpmath.workdps(40):
        total = mpmath.sqrt(2 * mpmath.pi * int(variance))
        tail = mpmath.fsum(weight(x, variance) for x in range(start, start + 2500)) / total
        assert isclose(DiscreteGaussianLaw(variance).cdf(-start), tail, rel_tol=1e-12)


@pytest.mark.parametrize("deviation", [10**9, 2**55])
def test_a_wide_law_is_nearly_the_normal_one(deviation: int) -> None:
    law = DiscreteGaussianLaw(Fraction(deviation**2))
    assert law.variance == deviation**2
    assert isclose(law.fourth_moment, 3.0 * deviation**4, rel_tol=1e-15)
    for multiple in (1, 3, 8):
        normal = mpmath.ncdf(-mpmath.mpf(multiple * deviation) / deviation)
        assert isclose(law.cdf(-multiple * deviation), normal, rel_tol=10 * multiple / deviation + 1e-13)


def test_the_gaussian_law_is_not_the_continuous_one() -> None:
    assert 2e-7 < 1 - DiscreteGaussianLaw(Fraction(1)).variance < 2.2e-7
    assert round(DiscreteGaussianLaw(Fraction(1, 4)).variance * 4, 2) == 0.86
    assert round(DiscreteGaussianLaw(Fraction(1, 9)).variance * 9, 2) == 0.20


@pytest.mark.parametrize("variance", VARIANCES)
def test_the_variance_never_exceeds_its_parameter(variance: Fraction) -> None:
    assert 0 < DiscreteGaussianLaw(variance).variance <= variance


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(5), Fraction(10**6)])
def test_neighbouring_values_differ_by_the_promised_gaussian_factor(variance: Fraction) -> None:
    law = DiscreteGaussianLaw(variance)
    assert isclose(log(law.pmf(2) / law.pmf(5)), 21 / (2 * variance), rel_tol=1e-9)


@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("level", [1e-9, 0.013, 0.3, 0.5, 0.51, 0.77, 0.95, 0.999999])
def test_a_gaussian_quantile_is_the_least_value_that_reaches_its_level(variance: Fraction, level: float) -> None:
    law = DiscreteGaussianLaw(variance)
    x = law.quantile(level)
    step = max(1, isqrt(int(variance)) // 10**6)
    assert law.cdf(x) >= level - 1e-15
    assert law.cdf(x - step) < level


def test_a_level_that_a_value_just_reaches_is_its_own() -> None:
    law = DiscreteGaussianLaw(Fraction(9))
    assert [law.quantile(law.cdf(x)) for x in range(-6, 0)] == list(range(-6, 0))


def test_a_tiny_variance_gives_limits_not_errors() -> None:
    law = DiscreteGaussianLaw(Fraction(1, 10**400))
    assert (law.variance, law.fourth_moment, law.pmf(0), law.pmf(1)) == (0, 0, 1, 0)
    assert (law.cdf(-1), law.cdf(0), law.quantile(1e-300), law.quantile(0.9)) == (0, 1, 0, 0)
    assert DiscreteGaussianLaw(Fraction(1)).cdf(-(10**400)) == 0


def test_a_description_gives_the_gaussian_law_back() -> None:
    law = DiscreteGaussianLaw(Fraction(7, 2))
    assert law.describe() == {"name": "discrete_gaussian", "variance_parameter": "7/2"}
    assert noise_law_from(law.describe()) == law


@pytest.mark.parametrize("variance", [0, -1, "nan", None, 2**110 + 1])
def test_bad_variances_are_refused(variance: object) -> None:
    with pytest.raises(InvalidInput, match="variance"):
        DiscreteGaussianLaw(variance)  # type: ignore[arg-type]


@pytest.mark.parametrize("level", [0, 1, -0.5])
def test_bad_levels_are_refused(level: float) -> None:
    with pytest.raises(InvalidInput, match="level"):
        DiscreteGaussianLaw(Fraction(1)).quantile(level)


CELLS, TOTAL = DiscreteLaplaceLaw(Fraction(10, 7)), DiscreteGaussianLaw(Fraction(25, 3))


def test_a_description_gives_the_layers_back() -> None:
    law = LayersLaw((CELLS, TOTAL))
    assert noise_law_from(json.loads(json.dumps(law.describe()))) == law
    assert law != LayersLaw((TOTAL, CELLS))
    assert law.finest == CELLS


@pytest.mark.parametrize("inside", [[ContinualCounterLaw(Fraction(1), 3)], [CELLS, LayersLaw((CELLS,))]])
def test_layers_have_independent_noise(inside: list[ContinualCounterLaw | LayersLaw]) -> None:
    with pytest.raises(InvalidInput, match="choose one of discrete_gaussian, discrete_laplace"):
        noise_law_from({"name": "layers", "layers": [law.describe() for law in inside]})


@pytest.mark.parametrize("layers", [[], "aaa", None, {}])
def test_there_are_layers(layers: object) -> None:
    with pytest.raises(InvalidInput, match="noise law is without layers"):
        noise_law_from({"name": "layers", "layers": layers})
