"""The noise that is drawn follows its law, agrees with the plain version and OpenDP's; 5 % off is noticed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import opendp.prelude as dp
import pytest
from plain_discrete_gaussian import plain_discrete_gaussian
from scipy import stats

from goodness_of_fit import counts_in_bins
from sparsedp.arrays import Ints
from sparsedp.laws import DiscreteGaussianLaw
from sparsedp.noise.discrete_gaussian import discrete_gaussian
from sparsedp.noise.source import SeededSource

DEVIATIONS = [Fraction(1, 2), Fraction(1), Fraction(10, 3), Fraction(50), Fraction(1000), Fraction(10**6)]
HUGE = [Fraction(10**9), Fraction(2**54)]
SIZE = 400_000
PLAIN_SIZE = 2000
OPENDP_SIZE = 50_000
ACCEPT = 1e-4
# OpenDP cannot be seeded, so chance decides anew in every run: once in a hundred thousand runs it may be unlucky.
ACCEPT_UNSEEDED = 1e-6
OFF_BY_5_PERCENT = [Fraction(100, 105), Fraction(105, 100)]
OFF_BY_20_PERCENT = [Fraction(5, 6), Fraction(6, 5)]


def edges_of(law: DiscreteGaussianLaw) -> list[int]:
    return sorted({law.quantile(level) for level in np.linspace(0, 1, 25)[1:-1].tolist()})


def fit_p_value(sample: Ints, variance: Fraction) -> float:
    law = DiscreteGaussianLaw(variance)
    edges = edges_of(law)
    expected = np.diff([0.0, *(law.cdf(edge) for edge in edges), 1.0]) * sample.size
    return float(stats.chisquare(counts_in_bins(sample, edges), expected).pvalue)


def same_law_p_value(sample: Ints, other: Ints, variance: Fraction) -> float:
    edges = edges_of(DiscreteGaussianLaw(variance))
    table = np.array([counts_in_bins(sample, edges), counts_in_bins(other, edges)])
    return float(stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue)


def opendp_gaussian(deviation: Fraction, size: int) -> Ints:
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    # The float is what OpenDP takes; it is within a unit in the last place of the deviation.
    measurement = dp.m.make_gaussian(*space, scale=float(deviation))
    return np.array(measurement(np.zeros(size, dtype=np.int64)), dtype=np.int64)


@pytest.mark.parametrize("deviation", DEVIATIONS + HUGE)
def test_samples_follow_the_exact_law(deviation: Fraction) -> None:
    sample = discrete_gaussian(deviation**2, SIZE, SeededSource(31))
    assert fit_p_value(sample, deviation**2) > ACCEPT
    law = DiscreteGaussianLaw(deviation**2)
    spread = np.sqrt((law.fourth_moment - law.variance**2) / SIZE)
    assert abs(np.mean(sample.astype(float) ** 2) - law.variance) < 4 * spread
    assert abs(sample.astype(float).mean()) < 4 * np.sqrt(law.variance / SIZE)


@pytest.mark.parametrize("factor", OFF_BY_5_PERCENT)
@pytest.mark.parametrize("deviation", DEVIATIONS + HUGE)
def test_a_deviation_off_by_5_percent_is_rejected(deviation: Fraction, factor: Fraction) -> None:
    variance = (deviation * factor) ** 2
    sample = discrete_gaussian(variance, SIZE, SeededSource(32))
    assert fit_p_value(sample, variance) > ACCEPT
    assert fit_p_value(sample, deviation**2) < ACCEPT


def cell_by_cell_p_value(sample: Ints, law: DiscreteGaussianLaw, reach: int) -> float:
    """Every magnitude up to the reach with its sign is a cell of its own; the rest is one more."""
    inside = sample[np.abs(sample) <= reach]
    seen = np.append(np.bincount(inside + reach, minlength=2 * reach + 1), sample.size - inside.size)
    likely = [law.pmf(x) for x in range(-reach, reach + 1)]
    expected = np.append(likely, 1 - sum(likely)) * sample.size
    return float(stats.chisquare(seen, expected).pvalue)


@pytest.mark.parametrize(("deviation", "reach"), [(Fraction(1, 3), 1), (Fraction(7, 2), 11), (Fraction(63), 180)])
def test_every_value_has_its_probability(deviation: Fraction, reach: int) -> None:
    sample = discrete_gaussian(deviation**2, 2_000_000, SeededSource(34))
    assert cell_by_cell_p_value(sample, DiscreteGaussianLaw(deviation**2), reach) > ACCEPT
    assert cell_by_cell_p_value(sample, DiscreteGaussianLaw(deviation**2 * Fraction(103, 100)), reach) < ACCEPT


def test_every_value_within_a_slab_has_its_probability() -> None:
    # Slabs are 16 wide here. Were the height within a slab ignored, the law would be a staircase.
    law, reach = DiscreteGaussianLaw(Fraction(600**2)), 1500
    sample = discrete_gaussian(law.variance_parameter, 4_000_000, SeededSource(35))
    assert cell_by_cell_p_value(sample, law, reach) > ACCEPT
    stairs = np.where(sample == 0, 0, np.sign(sample) * ((np.abs(sample) - 1) // 16 * 16 + 1))
    stairs += np.sign(sample) * np.random.default_rng(1).integers(0, 16, sample.size)
    assert cell_by_cell_p_value(stairs, law, reach) < ACCEPT


@pytest.mark.parametrize("deviation", DEVIATIONS)
def test_samples_agree_with_the_plain_version(deviation: Fraction) -> None:
    plain = np.array(plain_discrete_gaussian(deviation**2, PLAIN_SIZE, SeededSource(36)))
    assert same_law_p_value(discrete_gaussian(deviation**2, SIZE, SeededSource(37)), plain, deviation**2) > ACCEPT
    for factor in OFF_BY_20_PERCENT:
        off = discrete_gaussian((deviation * factor) ** 2, SIZE, SeededSource(38))
        assert same_law_p_value(off, plain, deviation**2) < ACCEPT


@pytest.mark.parametrize("deviation", DEVIATIONS)
def test_samples_agree_with_opendp(deviation: Fraction) -> None:
    theirs = opendp_gaussian(deviation, OPENDP_SIZE)
    ours = discrete_gaussian(deviation**2, SIZE, SeededSource(39))
    assert same_law_p_value(ours, theirs, deviation**2) > ACCEPT_UNSEEDED
    for factor in OFF_BY_20_PERCENT:
        off = discrete_gaussian((deviation * factor) ** 2, SIZE, SeededSource(40))
        assert same_law_p_value(off, theirs, deviation**2) < ACCEPT_UNSEEDED


def test_values_are_uncorrelated_and_bits_fair() -> None:
    sample = discrete_gaussian(Fraction(10**18), SIZE, SeededSource(41))
    low: npt.NDArray[np.int64] = np.bincount(sample & 15, minlength=16)
    assert stats.chisquare(low).pvalue > ACCEPT
    for lag in (1, 2, 7):
        assert abs(np.corrcoef(sample[:-lag].astype(float), sample[lag:].astype(float))[0, 1]) < 5 / np.sqrt(SIZE)
