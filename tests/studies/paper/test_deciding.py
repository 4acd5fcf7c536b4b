"""Slopes and their intervals; exponents that keep a bound, break it, or leave it open."""

import math

import numpy as np
import pytest

from studies.paper.deciding import Answer, Slope, at_most, every, judged, mean_interval, near, power_law
from studies.paper.experiment import Verdict

SIZES = [2.0**power for power in range(10, 21)]


def test_an_exact_power_law_is_found_exactly() -> None:
    slope = power_law(SIZES, [[3 * size**0.5] * 4 for size in SIZES])
    assert np.isclose(slope.value, 0.5)
    assert slope.holds(slope.value)
    assert not slope.holds(0.51)
    assert str(power_law(SIZES, [[size] for size in SIZES])) == "1.00 [1.00, 1.00]"


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    held = 0
    for seed in range(400):
        noise = np.random.default_rng(seed).normal(0, 0.2, (len(SIZES), 3))
        held += power_law(SIZES, [list(size**0.5 * np.exp(row)) for size, row in zip(SIZES, noise, strict=True)]).holds(
            0.5
        )
    assert 0.91 <= held / 400 <= 0.99


def test_means_have_students_interval() -> None:
    mean, low, high = mean_interval([1.0, 2.0, 3.0])
    assert mean == 2
    assert np.isclose(high - mean, 4.302652729911275 / np.sqrt(3))
    assert np.isclose(mean - low, high - mean)
    assert mean_interval([7.0]) == (7, 7, 7)


@pytest.mark.parametrize(
    ("slope", "answer"),
    [
        (Slope(0.2, 0.1, 0.3), True),
        (Slope(0.45, 0.3, 0.6), True),  # holds both answers, but is narrow
        (Slope(-2.0, -9.0, 0.4), True),  # wide, but below with all of it
        (Slope(0.45, -24.0, 26.0), None),
        (Slope(0.55, 0.45, 0.65), None),
        (Slope(0.7, 0.6, 0.8), False),
        (Slope(0.4, math.nan, math.nan), None),  # two points have no interval
    ],
)
def test_a_bound_on_an_exponent(slope: Slope, answer: Answer) -> None:
    assert at_most(slope, 0.5) is answer


@pytest.mark.parametrize(
    ("slope", "answer"),
    [
        (Slope(1.02, 0.9, 1.1), True),
        (Slope(1.0, -1.0, 3.0), None),
        (Slope(1.2, 0.9, 1.4), None),
        (Slope(1.2, 1.1, 1.3), False),
        (Slope(0.5, 0.4, 0.6), False),
        (Slope(1.0, math.nan, math.nan), None),
    ],
)
def test_an_exponent_that_should_be_one(slope: Slope, answer: Answer) -> None:
    assert near(slope, 1.0, 0.05) is answer


def test_a_no_weighs_more_than_not_knowing() -> None:
    assert every(True, True) is True
    assert every(True, None) is None
    assert every(None, False, True) is False
    verdicts = [judged(answer, "").verdict for answer in (True, False, None)]
    assert verdicts == [Verdict.HOLDS, Verdict.DOES_NOT_HOLD, Verdict.UNDECIDED]
