"""Slopes and their intervals."""

import numpy as np

from sparsedp.experiments.paper.fits import mean_interval, power_law

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
