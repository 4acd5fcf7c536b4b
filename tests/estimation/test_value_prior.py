"""A prior of the values that cells have, learnt from noisy ones."""

from math import sqrt

import numpy as np
import pytest

from sparsedp.arrays import Floats
from sparsedp.estimation.shrinkage.value_prior import (
    BIN_WIDTH,
    BINS,
    HIGHEST,
    LOWEST,
    VALUES,
    ValuePrior,
    bin_of,
    likelihood_of,
)

MIDDLES = LOWEST + BIN_WIDTH * (np.arange(BINS) + 0.5)


def noise(random: np.random.Generator, count: int, *, gaussian: bool) -> Floats:
    return random.normal(size=count) if gaussian else random.laplace(0, sqrt(0.5), count)


def counted(heights: Floats) -> Floats:
    counts = np.zeros((1, BINS))
    for height in heights:
        counts[0, bin_of(height)] += 1
    return counts


@pytest.mark.parametrize("gaussian", [False, True])
def test_the_chances_of_bins_are_those_of_the_noise(gaussian: bool) -> None:
    likelihood = likelihood_of(gaussian)
    within = VALUES < HIGHEST - 9
    np.testing.assert_allclose(likelihood[:, within].sum(axis=0), 1.0, atol=1e-5)
    spread = (likelihood[:, within] * (MIDDLES[:, None] - VALUES[within]) ** 2).sum(axis=0)
    np.testing.assert_allclose(spread, 1.0, atol=0.02)
    heights = 2.0 + noise(np.random.default_rng(1), 100_000, gaussian=gaussian)
    nearest = np.abs(VALUES - 2.0).argmin()
    seen = counted(heights - 2.0 + VALUES[nearest])[0] / 100_000
    assert np.abs(seen - likelihood[:, nearest]).sum() < 0.05


@pytest.mark.parametrize("gaussian", [False, True])
def test_posterior_means_are_nearly_those_of_the_true_prior(gaussian: bool) -> None:
    """Most cells are empty, the others have six deviations."""
    random = np.random.default_rng(2)
    truth = np.where(random.random(20_000) < 0.7, 0.0, 6.0)
    heights = truth + noise(random, 20_000, gaussian=gaussian)
    learned = ValuePrior.learn(counted(heights), gaussian=gaussian)
    likelihood = likelihood_of(gaussian)
    empty, full = likelihood[:, 0], likelihood[:, np.abs(VALUES - 6.0).argmin()]
    exact = 6.0 * 0.3 * full / (0.7 * empty + 0.3 * full)
    places = np.array([bin_of(height) for height in heights])
    assert np.mean((learned.mean[0, places] - exact[places]) ** 2) < 0.02
    assert learned.trust[0] > 0.99
    np.testing.assert_allclose(learned.density[0] * BIN_WIDTH, 0.7 * empty + 0.3 * full, atol=0.01)


@pytest.mark.parametrize("cells", [300, 4096, 100_000])
def test_noise_alone_teaches_no_values(cells: int) -> None:
    for seed in range(5):
        learned = ValuePrior.learn(counted(noise(np.random.default_rng(seed), cells, gaussian=False)), gaussian=False)
        assert learned.trust.max() < 0.2


def test_a_kind_of_few_cells_is_taken_for_one_of_all() -> None:
    heights = noise(np.random.default_rng(4), 4000, gaussian=False)
    heights[:2000] += 8.0
    few = np.array([-0.3, -0.3])
    counts = np.concatenate([counted(heights), counted(few), counted(heights[:2000])])
    learned = ValuePrior.learn(counts, gaussian=False)
    np.testing.assert_allclose(learned.mean[1, 10:150], learned.mean[0, 10:150], atol=2.0)
    assert learned.trust[1] < 0.1
    assert learned.mean[2, bin_of(4.0)] > learned.mean[0, bin_of(4.0)] + 1.0


def test_all_cells_together_are_learnt_as_if_there_were_no_kinds() -> None:
    heights = noise(np.random.default_rng(6), 4000, gaussian=False)
    heights[:1000] += 3.0
    alone = ValuePrior.learn(counted(heights), gaussian=False)
    beside = ValuePrior.learn(np.concatenate([counted(heights), counted(heights[:900])]), gaussian=False)
    np.testing.assert_array_equal(beside.mean[0], alone.mean[0])


@pytest.mark.parametrize("value", [0.05, 3.17, 9.0, 17.4])
def test_one_value_is_enough_for_cells_that_are_alike(value: float) -> None:
    """Also if it lies between two values of the prior."""
    heights = value + noise(np.random.default_rng(7), 50_000, gaussian=False)
    assert ValuePrior.learn(counted(heights), gaussian=False).trust.max() < 0.05


def test_bins_hold_everything() -> None:
    assert bin_of(-1e300) == bin_of(LOWEST) == bin_of(float("-inf")) == 0
    assert bin_of(HIGHEST) == bin_of(1e6) == BINS - 1
    assert bin_of(0.01) == int(-LOWEST / BIN_WIDTH)
