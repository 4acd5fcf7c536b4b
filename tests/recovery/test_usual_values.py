"""Shrunk cells moved towards the values that cells in such surroundings have."""

from collections.abc import Callable
from fractions import Fraction
from math import inf

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.arrays import Floats, Integers
from sparsedp.noise.law import DiscreteLaplaceLaw
from sparsedp.noise.source import SeededSource
from sparsedp.recovery.layers import recover
from sparsedp.recovery.shrinkage import gap_chunks, usual_values
from sparsedp.recovery.shrinkage.shrink import shrink
from sparsedp.recovery.shrinkage.usual_values import FEWEST, WIDTHS, towards_usual_values
from sparsedp.recovery.shrinkage.value_prior import MOST, ValuePrior

LAW = DiscreteLaplaceLaw(Fraction(10))
DEVIATION = LAW.variance**0.5


def rough(shape: tuple[int, ...], seed: int = 0) -> Integers:
    """Two cells of three are empty, the others have some hundred records: no smooth course."""
    random = np.random.default_rng(seed)
    return random.poisson(np.where(random.random(shape) < 0.67, 0.0, 90.0))


def noisy(counts: Integers, seed: int = 1) -> Floats:
    random = np.random.default_rng(seed)
    return np.asarray((counts + np.round(random.laplace(0, 10, counts.shape)))[None], np.float64)


def off(found: Floats, counts: Integers) -> float:
    return float(np.linalg.norm(found[0] - counts))


def test_rough_counts_come_out_nearer() -> None:
    counts = rough((4096,))
    observed = noisy(counts)
    shrunk = shrink(observed[0], LAW).value[None]
    assert off(towards_usual_values(observed, shrunk, LAW), counts) < 0.8 * off(shrunk, counts)


def test_so_do_those_of_tables() -> None:
    counts = rough((64, 64))
    observed = noisy(counts)
    assert off(towards_usual_values(observed, observed, LAW), counts) < 0.7 * off(observed, counts)


SMOOTH: dict[str, Callable[[Floats], Floats]] = {
    "wave": lambda x: 150 + 100 * np.sin(9 * x),
    "steps": lambda x: np.floor(8 * x) * 20,
    "faint": lambda x: 0 * x + 0.3,
    "hill": lambda x: 200 * np.exp(-(((x - 0.5) / 0.1) ** 2)),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_counts_hardly_change(name: str) -> None:
    before = after = 0.0
    for seed in range(4):
        counts = np.random.default_rng(seed).poisson(SMOOTH[name](np.linspace(0, 1, 4096)))
        observed = noisy(counts, seed + 10)
        shrunk = shrink(observed[0], LAW).value[None]
        before += off(shrunk, counts)
        after += off(towards_usual_values(observed, shrunk, LAW), counts)
    assert after < 1.03 * before


@pytest.mark.parametrize("shape", [(1000,), (70, 45), (9, 10, 11)])
def test_the_sums_of_boxes_stay(shape: tuple[int, ...]) -> None:
    observed = noisy(rough(shape))
    change = towards_usual_values(observed, observed, LAW)[0] - observed[0]
    assert np.abs(change).max() > 1.0
    width = WIDTHS[min(len(shape) - 1, 2)]
    for axis, side in enumerate(shape):
        change = np.add.reduceat(change, np.arange(0, side, width), axis=axis)
    np.testing.assert_allclose(change, 0.0, atol=1e-6)


def test_cells_that_were_not_measured_stay_and_teach_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = rough((2048,))
    observed = noisy(counts)
    measured = np.arange(2048)[None] % 256 < 128
    found = towards_usual_values(observed, observed, LAW, measured)
    assert (found == observed)[~measured].all()
    assert (found != observed)[measured].any()
    taught: list[Floats] = []
    original = ValuePrior.learn

    def learn(counts: Floats, *, gaussian: bool) -> ValuePrior:
        taught.append(counts)
        return original(counts, gaussian=gaussian)

    monkeypatch.setattr(ValuePrior, "learn", learn)
    towards_usual_values(observed, observed, LAW, measured)
    assert taught[0][0].sum() == (measured & (observed < MOST * DEVIATION)).sum()


def test_large_counts_stay_and_do_not_swallow_the_others() -> None:
    counts = rough((4096,))
    counts[1000] = 10**14
    observed = noisy(counts)
    found = towards_usual_values(observed, observed, LAW)
    assert found[0, 1000] == observed[0, 1000]
    counts[1000] = 0
    observed[0, 1000] = 0.0
    calm = towards_usual_values(observed, observed, LAW)
    far = np.abs(np.arange(4096) - 1000) > 128
    assert np.abs(found - calm)[0, far].mean() < 0.1 * DEVIATION


def test_few_small_cells_among_very_many_large_ones_still_teach() -> None:
    """They are not passed over by a stride through all cells."""
    counts = np.full((512, 512), 10**5)
    counts[:, 1:9:2] = rough((512, 4))
    observed = noisy(counts.reshape(-1))
    found = towards_usual_values(observed, observed, LAW)
    moved = (found != observed).reshape(counts.shape)
    assert np.isfinite(found).all()
    assert moved[:, 1:9:2].mean() > 0.5
    assert not moved[:, ::2].any()


def test_the_kind_of_a_cell_does_not_depend_on_its_own_noise() -> None:
    heights = noisy(rough((4096,)))[:, :1024] / DEVIATION
    chunks = gap_chunks.Chunks(None)
    before = usual_values._Cells(heights, (1, 4, 16), None, chunks)
    other = heights.copy()
    other[0, 500] += 3.0
    after = usual_values._Cells(other, (1, 4, 16), None, chunks)
    assert (before.kinds[:, 500] == after.kinds[:, 500]).all()
    assert (before.kinds != after.kinds).any()  # of its neighbours


def test_cells_move_as_bayes_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the same mixture written with arrays: how likely values and deviations are, and how often."""
    heights = noisy(rough((700,))) / DEVIATION
    cells = usual_values._Cells(heights, (1, 4), None, gap_chunks.Chunks(None))
    found: dict[str, Floats] = {}
    shares_of = usual_values._shares

    def shares(densities: Floats) -> Floats:
        found["densities"], found["shares"] = densities, shares_of(densities)
        return found["shares"]

    priors: list[ValuePrior] = []
    learn = ValuePrior.learn
    monkeypatch.setattr(usual_values, "_shares", shares)

    def remembered(counts: Floats, *, gaussian: bool) -> ValuePrior:
        priors.append(learn(counts, gaussian=gaussian))
        return priors[0]

    monkeypatch.setattr(ValuePrior, "learn", remembered)
    shrunk = 0.5 * cells.heights
    change = cells.change(1.0, shrunk)
    chances = found["shares"][:, None] * found["densities"]
    bins = np.array([usual_values.bin_of(height) for height in cells.heights[cells.learning]])
    kinds = np.stack([np.zeros(len(cells.heights), int), *(1 + 8 * at + cells.kinds[at] for at in range(2))])
    kinds = kinds[:, cells.learning]
    values = chances[:3]
    mean = (values * priors[0].mean[kinds, bins]).sum(axis=0) / values.sum(axis=0)
    trusted = (values * priors[0].trust[kinds, bins]).sum(axis=0) / chances.sum(axis=0)
    fading = np.minimum((MOST - cells.heights[cells.learning]) / usual_values.FADES, 1.0)
    expected = usual_values.MOST_WEIGHT * fading * trusted * (mean - shrunk[cells.learning])
    np.testing.assert_allclose(change[cells.learning], expected, atol=1e-6)
    assert (change[~cells.learning] == 0.0).all()
    np.testing.assert_allclose(found["shares"].sum(), 1.0)


@pytest.mark.parametrize("law", [DiscreteLaplaceLaw(Fraction(1, 4)), DiscreteLaplaceLaw(Fraction(10**200))])
def test_where_nothing_can_be_learnt_nothing_changes(law: DiscreteLaplaceLaw) -> None:
    assert law.variance < 1 or law.variance == inf
    observed = noisy(rough((512,)))
    assert towards_usual_values(observed, observed, law) is observed
    large = observed + 10**6
    assert towards_usual_values(large, large, LAW) is large
    few = observed[:, : FEWEST - 1]
    assert towards_usual_values(few, few, LAW) is few
    apart = observed.reshape(-1, 1)
    assert towards_usual_values(apart, apart, LAW) is apart


def test_the_threads_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    observed = noisy(rough((150_000,)))
    found = towards_usual_values(observed, observed, LAW)
    monkeypatch.setattr(gap_chunks, "THREADS", 1)
    np.testing.assert_array_equal(towards_usual_values(observed, observed, LAW), found)


def test_tables_that_differ_on_an_unordered_axis_are_apart() -> None:
    """What is next to a cell in memory is not next to it."""
    observed = np.concatenate([noisy(np.full(600, level), level) for level in (0, 200)])
    kinds = usual_values._Cells(observed / DEVIATION, (4,), None, gap_chunks.Chunks(None)).kinds.reshape(2, -1)
    assert kinds[0].max() <= 1
    assert kinds[1].min() >= 2


def test_counts_that_may_be_negative_are_not_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = rough((1024,))
    mechanism = sdp.Adaptive("cells")

    def released(*, negative: bool) -> Floats:
        found = mechanism.release(counts, epsilon="0.1", source=SeededSource(3), negative=negative).values
        return np.asarray(found, np.float64)

    before = {negative: released(negative=negative) for negative in (False, True)}
    monkeypatch.setattr(recover, "towards_usual_values", lambda observed, shrunk, law, measured: shrunk)
    assert (released(negative=True) == before[True]).all()
    assert (released(negative=False) != before[False]).any()
