"""Coarse levels at fewer shifts: the seam between frames, and the same answer as with all shifts but for little."""

from fractions import Fraction

import numpy as np
import pytest

from sparsedp.arrays import Floats
from sparsedp.estimation.shrinkage import _chunks, row
from sparsedp.estimation.shrinkage._chunks import Chunks
from sparsedp.estimation.shrinkage._row_contrasts import mirrored_sums
from sparsedp.estimation.shrinkage.mixture_prior import (
    CLASSES,
    COLUMNS,
    DENSITY,
    GRID,
    REMOVED,
    LevelPrior,
    Population,
    vague_weights,
)
from sparsedp.estimation.shrinkage.row import Pyramid, between_pairs, pair_sums, shrink_row
from sparsedp.laws import DiscreteLaplaceLaw
from sparsedp.noise.discrete_laplace import discrete_laplace
from sparsedp.noise.source import SeededSource

LAW = DiscreteLaplaceLaw(Fraction(20))
DEVIATION = float(np.sqrt(LAW.variance))


@pytest.fixture
def few_shifts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short inputs go through many frames."""
    monkeypatch.setattr(row, "ALL_SHIFTS", 64)
    monkeypatch.setattr(row, "COARSEST", 64)


def believing(share: float, smooth: float) -> tuple[LevelPrior, Population]:
    """Priors that remove the same share of every coefficient."""
    tables = np.zeros((CLASSES, len(GRID), COLUMNS))
    tables[:, :, REMOVED], tables[:, :, DENSITY] = share, 1.0
    population = Population(vague_weights(), tables)
    return LevelPrior(population, population, np.full(CLASSES, smooth)), population


def removed(cells: Floats, share: float, smooth: float) -> tuple[Floats, int]:
    levels = (2 * len(cells)).bit_length() - 1
    frames = Pyramid(cells, 0.0, np.full(levels, 4.0), Chunks(None))
    prior, windows = believing(share, smooth)
    return frames.remove([prior] * levels, windows), frames.doublings


@pytest.mark.parametrize("n", [2, 3, 5, 8, 21, 32, 64, 77, 160, 600, 601, 1025, 4093])
@pytest.mark.parametrize("smooth", [0.0, 0.5, 1.0])
@pytest.mark.usefixtures("few_shifts")
def test_removing_everything_leaves_the_mean_and_removing_nothing_nothing(n: int, smooth: float) -> None:
    cells = np.random.default_rng(n).normal(0, 5, n)
    everything, doublings = removed(cells, 1.0, smooth)
    assert doublings == max(0, (n - 1).bit_length() - 6)
    np.testing.assert_allclose(everything - everything.mean(), cells - cells.mean(), atol=1e-9)
    np.testing.assert_array_equal(removed(cells, 0.0, 0.0)[0], 0.0)


@pytest.mark.parametrize(("n", "pairs"), [(40, 20), (40, 22), (41, 23), (43, 24)])
def test_windows_between_pairs_follow_from_the_pairs_and_the_cells_at_the_edges(n: int, pairs: int) -> None:
    level, cells = 3, np.random.default_rng(n).normal(0, 5, n)
    sums = mirrored_sums(cells, 0.0, 8)
    coarse, even = pair_sums(sums, n, pairs, 8), np.arange(pairs + 1) + 8
    means = (coarse[even + 2] - coarse[even - 2]) / 4
    odd = np.arange(1, n + 1, 2) + 8
    details = (2 * sums[odd] - sums[odd - 1] - sums[odd + 1]) / 2
    out = np.empty(n + 1)
    between_pairs(means, details, level, n, out, 0, n + 1)
    gaps = np.arange(n + 1) + 8
    np.testing.assert_allclose(out, (sums[gaps + 4] - sums[gaps - 4]) / 8, atol=1e-12)


def signals(n: int) -> dict[str, Floats]:
    generator, t = np.random.default_rng(7), np.arange(n)
    steps = np.repeat(generator.integers(0, 8, n // 250 + 1), 250)[:n] * DEVIATION
    bumps = sum(
        h * DEVIATION * np.exp(-(((t - c) / w) ** 2)) for h, c, w in [(3, 999, 20), (2, 3000, 300), (4, 5000, 90)]
    )
    spikes = np.where(generator.random(n) < 0.01, generator.exponential(200, n), 0.0)
    return {
        "steps": steps,
        "bumps": np.asarray(bumps),
        "sine": DEVIATION * np.sin(t / 60),
        "spikes": spikes,
        "powers": 20.0 * n / (t + 1),
        "rough": generator.gamma(0.5, 4 * DEVIATION, n),
    }


def look(counts: Floats, seed: int, fused: bool) -> tuple[Floats, Floats]:
    """Noisy counts and the variances of their details; fused: with as good a look at the sums of 16 cells."""
    n = len(counts)
    noise = discrete_laplace(Fraction(20), n, SeededSource(seed)).astype(np.float64)
    observed, variances = counts + noise, np.full(14, LAW.variance)
    if fused:
        sums = counts.reshape(-1, 16).sum(axis=1) + discrete_laplace(Fraction(80), n // 16, SeededSource(seed + 1))
        observed += np.repeat(sums - observed.reshape(-1, 16).sum(axis=1), 16) / 32
        variances[4:] /= 2
    return observed, variances


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("name", list(signals(100)))
def test_as_accurate_as_with_all_shifts(name: str, fused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    counts, errors = np.round(signals(16 * 515)[name]), []
    for most in (1 << 15, 1 << 10):
        monkeypatch.setattr(row, "ALL_SHIFTS", most)
        monkeypatch.setattr(row, "COARSEST", 1 << 9)
        error = 0.0
        for seed in range(0, 8, 2):
            observed, variances = look(counts, seed, fused)
            error += float(np.sum((shrink_row(observed, LAW, variances).value - counts) ** 2))
        errors.append(np.sqrt(error))
    assert errors[0] != errors[1]
    assert errors[1] == pytest.approx(errors[0], rel=0.02)


@pytest.mark.parametrize("n", [1 << 16, 70_001])
def test_the_result_does_not_depend_on_the_number_of_threads(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.repeat(np.arange(n // 100 + 1.0) % 7, 100)[:n] * 60
    observed = (counts + discrete_laplace(Fraction(20), n, SeededSource(1))).astype(np.float64)
    values = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(_chunks, "THREADS", threads)
        monkeypatch.setattr(_chunks, "CHUNK", 1 << 13)
        values.append(shrink_row(observed, LAW).value)
    np.testing.assert_array_equal(values[0], values[1])
    np.testing.assert_array_equal(values[0], values[2])
    assert values[0].sum() == pytest.approx(observed.sum(), rel=1e-9)


@pytest.mark.usefixtures("few_shifts")
def test_reversed_counts_have_the_reversed_answer() -> None:
    noise = discrete_laplace(Fraction(20), 1024, SeededSource(2)).astype(np.float64)
    observed = np.where(np.arange(1024) < 333, 200.0, 500.0) + noise
    there, back = shrink_row(observed, LAW).value, shrink_row(observed[::-1], LAW).value[::-1]
    np.testing.assert_allclose(there, back, rtol=0, atol=1e-6)
