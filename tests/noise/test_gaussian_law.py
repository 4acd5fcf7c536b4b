"""The discrete Gaussian law's figures against plain sums over its support in high precision."""

from __future__ import annotations

from fractions import Fraction
from math import isclose, isqrt, log

import mpmath
import pytest

from sparsedp.errors import InvalidInput
from sparsedp.noise.gaussian_law import DiscreteGaussianLaw
from sparsedp.noise.law import noise_law_from

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


def test_the_law_is_not_the_continuous_one() -> None:
    assert 2e-7 < 1 - DiscreteGaussianLaw(Fraction(1)).variance < 2.2e-7
    assert round(DiscreteGaussianLaw(Fraction(1, 4)).variance * 4, 2) == 0.86
    assert round(DiscreteGaussianLaw(Fraction(1, 9)).variance * 9, 2) == 0.20


@pytest.mark.parametrize("variance", VARIANCES)
def test_the_variance_never_exceeds_its_parameter(variance: Fraction) -> None:
    assert 0 < DiscreteGaussianLaw(variance).variance <= variance


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(5), Fraction(10**6)])
def test_neighbouring_values_differ_by_the_promised_factor(variance: Fraction) -> None:
    law = DiscreteGaussianLaw(variance)
    assert isclose(log(law.pmf(2) / law.pmf(5)), 21 / (2 * variance), rel_tol=1e-9)


@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("level", [1e-9, 0.013, 0.3, 0.5, 0.51, 0.77, 0.95, 0.999999])
def test_a_quantile_is_the_least_value_that_reaches_its_level(variance: Fraction, level: float) -> None:
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


def test_a_description_gives_the_law_back() -> None:
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
