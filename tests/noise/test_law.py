"""The discrete Laplace law's figures against sums over its support and high-precision formulas."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isclose, log

import mpmath
import pytest

from goodness_of_fit import SCALES
from sparsedp.errors import InvalidInput, UnknownName
from sparsedp.noise.law import DiscreteLaplaceLaw, noise_law_from

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
