"""What smoothing took away without a trace: seasons that the noisy cells do not show are expected all the same."""

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.estimation.errors import oversmoothing
from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.noise.source import SeededSource

DOMAIN = sdp.Domain.parse(["day:0..364", "shop:a,b,c"])


def seasons() -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """A year of three shops, with 5 % more in its high season each; noise nearly hides a day."""
    days = 2 * np.pi * np.arange(365)[:, None] / 365 + np.arange(3)
    return np.random.default_rng(1).poisson(220 + 10 * np.sin(days))


def score(workload: str) -> float:
    """The mean square of the errors of stretches of one to six months, in standard errors."""
    counts, random, scores = seasons(), np.random.default_rng(2), []
    for seed in range(8):
        synopsis = Adaptive(workload).measure(
            counts, domain=DOMAIN, epsilon=1, contribution=100, source=SeededSource(seed)
        )
        release = synopsis.recover()
        for _ in range(12):
            first, length = random.integers(0, 180), random.integers(30, 180)
            weights = np.zeros(counts.shape)
            weights[first : first + length, random.integers(3)] = 1.0
            found = release.interval(weights, 0.95, "expected")
            error = float((weights * (release.values - counts)).sum())
            scores.append((error * 3.92 / (found.high - found.low)) ** 2)
    return float(np.mean(scores))


@pytest.mark.parametrize("workload", ["any", pytest.param("cells", marks=pytest.mark.slow)])
def test_seasons_below_the_noise_are_expected(workload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0.35 < score(workload) < 1.3
    monkeypatch.setattr(oversmoothing, "UNEVEN", 0.0)
    assert score(workload) > 1.2, "without that expectation intervals are too short"
