"""The layout of the mass: every slab covers its part of the curve, checked in plain rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from exact_exponential import exp_minus
from hypothesis import given
from hypothesis import strategies as st

from sparsedp.laws import DiscreteGaussianLaw
from sparsedp.noise.coins import Rational
from sparsedp.noise.discrete_gaussian import GUIDE_BITS, HEIGHT_BITS, GaussianTable, Scaled, gaussian_table

VARIANCES = [
    Fraction(1, 10**6),
    Fraction(1, 100),
    Fraction(1, 3),
    Fraction(1),
    Fraction(355, 113),
    Fraction(1000),
    Fraction(64**2 - 1),
    Fraction(64**2),
    Fraction(10**12),
    Fraction(10**18, 7),
    Fraction(2**110),
]
BITS = 200
positive_variances = st.builds(
    lambda exponent, digits: Fraction(10) ** exponent * digits / 1000,
    st.integers(-6, 32),
    st.integers(1000, 9999),
)


def sizes(table: GaussianTable) -> list[int]:
    ends = [0, *(int(end) for end in table.ends)]
    return [end - start for start, end in pairwise(ends)]


def curve(table: GaussianTable, magnitude: int) -> tuple[Fraction, Fraction]:
    """Bounds on the height 2·width·unit·exp(−y²/2σ²) of a magnitude in its slab."""
    low, high = exp_minus(magnitude * magnitude / (2 * table.variance), BITS)
    return table.factor * low, table.factor * high


def some_slabs(table: GaussianTable) -> list[int]:
    return sorted(
        {slab for slab in (1, 2, 3, table.tail // 2, table.tail - 2, table.tail - 1) if 1 <= slab < table.tail}
    )


@pytest.mark.parametrize("variance", VARIANCES)
def test_every_slab_covers_its_part_of_the_curve_and_hardly_more(variance: Fraction) -> None:
    table = GaussianTable(variance)
    assert sizes(table)[0] == table.unit
    for slab in some_slabs(table):
        first = int(table.starts[slab])
        low, high = curve(table, first)
        assert high <= sizes(table)[slab] < low + 2
        lowest, highest = curve(table, first + table.width - 1)
        following, _ = curve(table, first + table.width)
        assert int(table.certain[slab]) <= lowest
        assert int(table.certain[slab]) > (following if table.width > 1 else highest) - 2
        assert abs(Fraction(float(table.heights[slab])) - low) <= low / 2**52


@pytest.mark.parametrize("variance", VARIANCES)
def test_the_tail_is_covered_by_its_slab(variance: Fraction) -> None:
    table = GaussianTable(variance)
    start = table.tail_start
    low, high = exp_minus(start * start / (2 * variance), BITS)
    ratio_low, ratio_high = exp_minus(start / variance, BITS)
    mass_low, mass_high = 2 * table.unit * low / (1 - ratio_low), 2 * table.unit * high / (1 - ratio_high)
    assert mass_high <= sizes(table)[table.tail] < mass_low + 2
    share_low, share_high = table.tail_height().enclose(150)
    assert share_low <= mass_high * 2**150 / 2**HEIGHT_BITS
    assert share_high >= mass_low * 2**150 / 2**HEIGHT_BITS
    assert share_high - share_low <= 2


@given(positive_variances)
def test_the_layout_at_any_variance(variance: Fraction) -> None:
    table = GaussianTable(variance)
    assert table.width & (table.width - 1) == 0
    assert table.width == 1 or 32**2 * table.width**2 <= variance < 64**2 * table.width**2
    assert table.tail_start**2 >= 64 * variance
    assert table.tail_start == 1 or (table.tail_start - table.width) ** 2 < 64 * variance
    assert table.starts.tolist() == [0, *range(1, table.tail_start, table.width)]
    assert table.tail == table.starts.size == table.heights.size == len(sizes(table)) - 2
    assert min(sizes(table)) >= 1
    assert sum(sizes(table)) == 2**HEIGHT_BITS
    # What the proof of the kernel's margin takes for granted.
    assert (table.heights[1:] > 2**10).all()
    assert table.width <= 2**50
    # Little is lost: to the room within slabs, and to rounding the unit where deviations are widest.
    accepted = table.unit / DiscreteGaussianLaw(variance).pmf(0) / 2**HEIGHT_BITS
    assert 0.96 < accepted <= 1 + 1e-12


@given(positive_variances, st.integers(0, 2**HEIGHT_BITS - 1))
def test_the_guide_never_points_past_the_slab(variance: Fraction, number: int) -> None:
    table = gaussian_table(variance)
    slab, above = table.slab_of(number)
    assert 0 <= above < sizes(table)[slab]
    assert sum(sizes(table)[:slab]) + above == number
    assert table.guide[number >> (HEIGHT_BITS - GUIDE_BITS)] <= slab


def test_most_numbers_are_found_where_the_guide_points() -> None:
    for variance in (Fraction(1), Fraction(63**2), Fraction(10**12)):
        table = gaussian_table(variance)
        steps = np.diff(table.guide.astype(int), append=table.tail)
        assert steps.mean() < 0.2


@pytest.mark.parametrize("factor", [1, 3, 2**63, 3 * 2**70])
def test_a_scaled_probability_is_enclosed(factor: int) -> None:
    share = Fraction(1, 3 * 2**12)
    for bits in (1, 63, 200):
        low, high = Scaled(Rational(share), factor).enclose(bits)
        assert low <= share * factor * 2**bits / 2**HEIGHT_BITS <= high
        assert high - low <= 2


def test_a_table_is_made_once_a_variance() -> None:
    assert gaussian_table(Fraction(11, 3)) is gaussian_table(Fraction(22, 6))
