"""The shrinkage against plain noise, a threshold, and the mean, on counts of many kinds from faint to plain noise."""

from fractions import Fraction

import numpy as np
import pytest

from sparsedp.arrays import Floats
from sparsedp.bases.haar import haar_analyze, haar_synthesize
from sparsedp.datasets.flights import hourly_departures
from sparsedp.estimation.shrinkage.frame import shrink
from sparsedp.laws import DiscreteLaplaceLaw
from sparsedp.noise.discrete_laplace import discrete_laplace
from sparsedp.noise.source import SeededSource


def jumps(n: int, count: int) -> Floats:
    """Steps of heights 10 … 2000, up or down as they leave room."""
    generator = np.random.default_rng(1)
    places = np.sort(generator.choice(np.arange(1, n), count, replace=False))
    heights = generator.permutation(np.geomspace(10, 2000, count))
    counts, level = np.full(n, 500.0), 500.0
    for place, height in zip(places, heights, strict=True):
        level += height if level < height or generator.random() < 0.5 else -height
        counts[place:] = level
    return np.round(counts)


def signals() -> dict[str, Floats]:
    generator = np.random.default_rng(2)
    n = 2048
    powers = np.floor(np.minimum(1e6, 20 * n / np.arange(1, n + 1)))
    spikes = np.zeros(n)
    spikes[generator.choice(n, 30, replace=False)] = np.minimum(50 + 50 * generator.pareto(1.0, 30), 20_000)
    return {
        "steps": jumps(n, 8),
        "sine": np.round(500 + 400 * np.sin(np.arange(n) * 6 * np.pi / n)),
        "spikes": np.round(spikes),
        "powers sorted": powers,
        "powers shuffled": generator.permutation(powers),
        "poisson": generator.poisson(100, n).astype(float),
        "white": generator.integers(0, 10_000, 1000).astype(float),
        "zeros": np.zeros(n),
        "flights": hourly_departures().astype(float),
    }


SIGNALS = signals()


def threshold(observed: Floats, variance: float) -> Floats:
    """The reference: decimated Haar, details below √(2 ln N) standard deviations set to zero."""
    size = 1 << (len(observed) - 1).bit_length()
    padded, coefficients, value = np.zeros(size), np.empty(size), np.empty(len(observed))
    padded[: len(observed)] = observed
    haar_analyze(padded, coefficients)
    coefficients[1:][np.abs(coefficients[1:]) < np.sqrt(2 * np.log(size) * variance)] = 0.0
    haar_synthesize(coefficients, value)
    return value


def squared_errors(counts: Floats, scale: Fraction, draws: int) -> dict[str, float]:
    law = DiscreteLaplaceLaw(scale)
    found = {"plain": 0.0, "threshold": 0.0, "mean": 0.0, "shrink": 0.0}
    for seed in range(draws):
        observed = counts + discrete_laplace(scale, len(counts), SeededSource(seed + 200)).astype(float)
        answers = {
            "plain": observed,
            "threshold": threshold(observed, law.variance),
            "mean": np.full(len(counts), observed.mean()),
            "shrink": shrink(observed, law),
        }
        for name, answer in answers.items():
            found[name] += float(np.sum((answer - counts) ** 2))
    return found


@pytest.mark.parametrize("name", list(SIGNALS))
@pytest.mark.parametrize("scale", ["1/4", "1", "10", "100", "1000", "1000000"])
def test_never_worse_than_plain_noise_nor_than_a_threshold(name: str, scale: str) -> None:
    errors = squared_errors(SIGNALS[name], Fraction(scale), 2)
    assert errors["shrink"] <= 1.01**2 * errors["plain"]
    assert errors["shrink"] <= 1.01**2 * errors["threshold"]


@pytest.mark.parametrize("name", ["zeros", "poisson", "flights", "sine"])
def test_at_overwhelming_noise_little_worse_than_the_mean(name: str) -> None:
    draws, scale = 12, Fraction(10**5)
    errors = squared_errors(SIGNALS[name], scale, draws)
    beyond = (errors["shrink"] - errors["mean"]) / draws / DiscreteLaplaceLaw(scale).variance
    # On average, a few cells' worth of noise, out of thousands.
    assert beyond < 6


def test_piecewise_constant_counts() -> None:
    errors = squared_errors(jumps(32768, 20), Fraction(10), 2)
    assert errors["shrink"] < 0.1**2 * errors["plain"]
    assert errors["shrink"] < 0.6**2 * errors["threshold"]


def test_smooth_counts() -> None:
    errors = squared_errors(SIGNALS["sine"], Fraction(10), 3)
    assert errors["shrink"] < 0.35**2 * errors["plain"]
