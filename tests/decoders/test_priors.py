"""The two priors against their definitions: every configuration enumerated, derivatives by differences."""

from itertools import product

import numpy as np
import pytest

from sparsedp.decoders._denoisers import BernoulliGaussian, HiddenMarkovTree, active_odds


def density(x: float, variance: float) -> float:
    return float(np.exp(-(x**2) / (2 * variance)) / np.sqrt(2 * np.pi * variance))


def test_odds_are_an_exponential() -> None:
    for exponent in np.linspace(-39, 39, 79):
        assert active_odds(1.0, 0.0, exponent) == pytest.approx(np.exp(exponent), rel=1e-8)


def test_bernoulli_gaussian_is_the_posterior_mean_and_learns_by_em() -> None:
    looks = np.array([0.1, -2.0, 5.0, 0.7, -0.3])
    prior = BernoulliGaussian(0.2, 4.0)
    estimate, slope = prior.denoise(looks, 0.5)
    on = np.array([0.2 * density(r, 4.5) / (0.2 * density(r, 4.5) + 0.8 * density(r, 0.5)) for r in looks])
    means = looks * 4.0 / 4.5
    np.testing.assert_allclose(estimate, on * means, rtol=1e-7)
    within = 4.0 * 0.5 / 4.5
    assert slope == pytest.approx(np.mean(on * (within + means**2) - (on * means) ** 2) / 0.5, rel=1e-7)
    assert prior.activity == pytest.approx(on.mean(), rel=1e-7)
    assert prior.energy == pytest.approx((on * (within + means**2)).sum() / on.sum(), rel=1e-7)


@pytest.mark.parametrize("make", [lambda: BernoulliGaussian(0.3, 2.0), lambda: HiddenMarkovTree(8, 3, 6.0)])
def test_slope_is_the_mean_derivative(make: object) -> None:
    assert callable(make)
    looks = np.random.default_rng(0).normal(size=8) * 2
    step, slope = 1e-5, make().denoise(looks, 0.7)[1]
    total = 0.0
    for place in range(8):
        nudge = np.zeros(8)
        nudge[place] = step
        total += (make().denoise(looks + nudge, 0.7)[0] - make().denoise(looks - nudge, 0.7)[0])[place] / (2 * step)
    assert slope == pytest.approx(total / 8, rel=1e-5)


def test_tree_equals_the_sum_over_all_configurations() -> None:
    size, variance = 8, 0.8
    looks = np.random.default_rng(1).normal(size=size) * 1.5
    prior = HiddenMarkovTree(size, 3, 6.0)
    prior.stay, prior.start, prior.root = np.array([0.5, 0.7, 0.6]), np.array([0.1, 0.2, 0.05]), 0.4
    prior.energy = np.array([5.0, 3.0, 1.0])
    energy, stay, start = prior.energy.copy(), prior.stay.copy(), prior.start.copy()
    level = [int(np.log2(i)) for i in range(1, size)]
    means, total = np.zeros(size), 0.0
    for states in product((0, 1), repeat=size - 1):
        weight = 1.0
        for i in range(1, size):
            on, depth = states[i - 1], level[i - 1]
            chance = 0.4 if i == 1 else (stay if states[i // 2 - 1] else start)[depth]
            weight *= (chance if on else 1 - chance) * density(looks[i], variance + energy[depth] * on)
        total += weight
        for i in range(1, size):
            e = energy[level[i - 1]]
            means[i] += weight * states[i - 1] * looks[i] * e / (e + variance)
    means /= total
    means[0] = looks[0]
    np.testing.assert_allclose(prior.denoise(looks, variance)[0], means, rtol=1e-6)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_the_smallest_trees(size: int) -> None:
    estimate, slope = HiddenMarkovTree(size, 1, 1.0).denoise(np.full(size, 2.0), 0.5)
    assert estimate[0] == 2.0
    assert np.isfinite(estimate).all()
    assert 0 < slope <= 1 + 1e-12
