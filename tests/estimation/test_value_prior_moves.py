"""Shrunk cells moved towards the values that cells in such neighbourhood have."""

from collections.abc import Callable
from fractions import Fraction
from math import inf

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.arrays import Floats, Ints, Mask
from sparsedp.estimation import estimator
from sparsedp.estimation.shrinkage import _chunks, value_prior
from sparsedp.estimation.shrinkage.frame import shrink
from sparsedp.estimation.shrinkage.value_prior import (
    FADES,
    FEWEST_FOR_VALUES,
    HIGHEST,
    WIDTHS,
    ValuePrior,
    towards_value_prior,
)
from sparsedp.laws import DiscreteLaplaceLaw
from sparsedp.noise.source import SeededSource
from sparsedp.sensing.group_sums import GroupSums

LAW = DiscreteLaplaceLaw(Fraction(10))
DEVIATION = LAW.variance**0.5


def rough(shape: tuple[int, ...], seed: int = 0) -> Ints:
    """Two cells of three are empty, the others have some hundred records: no smooth course."""
    random = np.random.default_rng(seed)
    return random.poisson(np.where(random.random(shape) < 0.67, 0.0, 90.0))


def noisy(counts: Ints, seed: int = 1) -> Floats:
    random = np.random.default_rng(seed)
    return np.asarray((counts + np.round(random.laplace(0, 10, counts.shape)))[None], np.float64)


def off(found: Floats, counts: Ints) -> float:
    return float(np.linalg.norm(found[0] - counts))


def test_rough_counts_come_out_nearer() -> None:
    counts = rough((4096,))
    observed = noisy(counts)
    shrunk = shrink(observed[0], LAW)[None]
    assert off(towards_value_prior(observed, shrunk, LAW), counts) < 0.8 * off(shrunk, counts)


def test_so_do_those_of_tables() -> None:
    counts = rough((64, 64))
    observed = noisy(counts)
    assert off(towards_value_prior(observed, observed, LAW), counts) < 0.7 * off(observed, counts)


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
        shrunk = shrink(observed[0], LAW)[None]
        before += off(shrunk, counts)
        after += off(towards_value_prior(observed, shrunk, LAW), counts)
    assert after < 1.03 * before


@pytest.mark.parametrize("shape", [(1000,), (70, 45), (9, 10, 11)])
def test_the_sums_of_boxes_stay(shape: tuple[int, ...]) -> None:
    observed = noisy(rough(shape))
    change = towards_value_prior(observed, observed, LAW)[0] - observed[0]
    assert np.abs(change).max() > 1.0
    width = WIDTHS[min(len(shape) - 1, 2)]
    for axis, side in enumerate(shape):
        change = np.add.reduceat(change, np.arange(0, side, width), axis=axis)
    np.testing.assert_allclose(change, 0.0, atol=1e-6)


def test_cells_that_were_not_measured_stay_and_teach_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = rough((2048,))
    observed = noisy(counts)
    measured = np.arange(2048)[None] % 256 < 128
    found = towards_value_prior(observed, observed, LAW, measured)
    assert (found == observed)[~measured].all()
    assert (found != observed)[measured].any()
    taught: list[Floats] = []
    original = ValuePrior.learn

    def learn(counts: Floats, *, gaussian: bool, surely: int) -> ValuePrior:
        taught.append(counts)
        return original(counts, gaussian=gaussian, surely=surely)

    monkeypatch.setattr(ValuePrior, "learn", learn)
    towards_value_prior(observed, observed, LAW, measured)
    assert taught[0][0].sum() == (measured & (observed < HIGHEST * DEVIATION)).sum()


def test_large_counts_stay_and_do_not_swallow_the_others() -> None:
    counts = rough((4096,))
    counts[1000] = 10**18
    observed = noisy(counts)
    found = towards_value_prior(observed, observed, LAW)
    assert found[0, 1000] == observed[0, 1000]
    counts[1000] = 0
    observed[0, 1000] = 0.0
    calm = towards_value_prior(observed, observed, LAW)
    far = np.abs(np.arange(4096) - 1000) > 128
    assert np.abs(found - calm)[0, far].mean() < 0.02 * DEVIATION


def test_cells_just_below_the_large_ones_hardly_move() -> None:
    """They fade out, so that no cell jumps when a unit of noise makes it a large one."""
    observed = noisy(rough((4096,)))
    edges = np.arange(2048, 4096, 32)
    moved = []
    for height in (HIGHEST - 0.01, HIGHEST - 0.5 * FADES):
        observed[0, edges] = height * DEVIATION
        shrunk = observed.copy()
        shrunk[0, edges] -= 5.0 * DEVIATION
        change = (towards_value_prior(observed, shrunk, LAW) - shrunk)[0]
        moved.append(np.abs(change[edges]).mean() / DEVIATION)
    assert moved[0] < 0.2 < moved[1]


@pytest.mark.parametrize("step", [2, 4])
def test_cells_that_repeat_teach_too(step: int) -> None:
    """In tables so large that some cells teach: those are not of the same columns in every line."""
    counts = np.zeros((512, 512), np.int64)
    counts[:, 1::step] = rough((512, 512 // step))
    for shape in ((512, 512), (512 * 512,)):
        observed = noisy(counts.reshape(shape))
        assert off(towards_value_prior(observed, observed, LAW), counts.reshape(shape)) < 0.7 * off(
            observed, counts.reshape(shape)
        )


def test_counts_that_are_all_alike_stay_so() -> None:
    """A value between two that the prior has is not taken for both of them."""
    for count in (50, 97, 160, 333):
        observed = noisy(np.full(8192, count))
        shrunk = shrink(observed[0], LAW)[None]
        assert (towards_value_prior(observed, shrunk, LAW) - shrunk).std() < 0.02 * DEVIATION


def test_few_small_cells_among_very_many_large_ones_still_teach() -> None:
    """They are not passed over by a stride through all cells."""
    counts = np.full((512, 512), 10**5)
    counts[:, 1:9:2] = rough((512, 4))
    observed = noisy(counts.reshape(-1))
    found = towards_value_prior(observed, observed, LAW)
    moved = (found != observed).reshape(counts.shape)
    assert np.isfinite(found).all()
    assert moved[:, 1:9:2].mean() > 0.5
    assert not moved[:, ::2].any()


@pytest.mark.parametrize("law", [DiscreteLaplaceLaw(Fraction(1, 4)), DiscreteLaplaceLaw(Fraction(10**200))])
def test_nothing_is_learnt_from_noise_that_is_mostly_nothing_or_beyond_numbers(law: DiscreteLaplaceLaw) -> None:
    assert law.variance < 1 or law.variance == inf
    observed = np.random.default_rng(5).poisson(1.0, (1, 4096)).astype(np.float64)
    assert (observed < HIGHEST * law.variance**0.5).sum() > FEWEST_FOR_VALUES
    assert towards_value_prior(observed, observed, law) is observed


def test_where_nothing_can_be_learnt_nothing_changes() -> None:
    observed = noisy(rough((512,)))
    large = observed + 10**6
    assert towards_value_prior(large, large, LAW) is large
    few = observed[:, : FEWEST_FOR_VALUES - 1]
    assert towards_value_prior(few, few, LAW) is few
    apart = observed.reshape(-1, 1)
    assert towards_value_prior(apart, apart, LAW) is apart


def test_the_threads_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    observed = noisy(rough((150_000,)))
    found = towards_value_prior(observed, observed, LAW)
    monkeypatch.setattr(_chunks, "THREADS", 1)
    np.testing.assert_array_equal(towards_value_prior(observed, observed, LAW), found)


@pytest.mark.parametrize("shape", [(1024,), (32, 32)])
def test_counts_that_may_be_negative_are_not_moved(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    counts = rough(shape)
    mechanism = sdp.Adaptive("cells")

    def released(*, negative: bool) -> Floats:
        found = mechanism.release(counts, epsilon="0.1", source=SeededSource(3), negative=negative).values
        return np.asarray(found, np.float64)

    before = {negative: released(negative=negative) for negative in (False, True)}
    monkeypatch.setattr(estimator, "towards_value_prior", lambda observed, shrunk, *_: shrunk)
    assert (released(negative=True) == before[True]).all()
    assert (released(negative=False) != before[False]).any()


def in_places(shape: tuple[int, ...]) -> Ints:
    """A few busy places, in which cells are measured, among others that are measured in groups."""
    counts = np.zeros(shape, np.int64)
    counts[tuple(slice(0, side // 4) for side in shape)] = rough(tuple(side // 4 for side in shape)) * 20
    return counts


@pytest.mark.parametrize(
    ("workload", "counts"),
    [
        ("cells", rough((40, 56))),
        ("any", in_places((64, 64))),
        ("any", in_places((4096,))),
    ],
    ids=["cells of a table", "parts of a table", "parts of a row"],
)
def test_cells_reach_it_in_their_places(workload: str, counts: Ints, monkeypatch: pytest.MonkeyPatch) -> None:
    """With their noise, and marked if they were measured by themselves; what comes out is used."""
    given = []

    def recorded(
        observed: Floats, shrunk: Floats, law: DiscreteLaplaceLaw, measured: Mask | None, period: int | None = None
    ) -> Floats:
        given.append((observed, measured))
        return np.asarray(shrunk + 1000.0 * (np.arange(shrunk.size).reshape(shrunk.shape) % 7 == 0))

    synopsis = sdp.Adaptive(workload).measure(counts, epsilon="0.1", source=SeededSource(4))
    plain = synopsis.recover().values
    monkeypatch.setattr(estimator, "towards_value_prior", recorded)
    moved = synopsis.recover().values
    (observed, measured), *_ = given
    sensing = synopsis.plan.sensing
    assert isinstance(sensing, GroupSums)
    sizes = np.diff(sensing.starts[0], append=counts.size)
    alone = sensing.out_of_row(np.repeat(sizes == 1, sizes).astype(np.float64)).reshape(counts.shape) > 0
    if measured is None:
        assert alone.all()
        measured = np.ones((1, *counts.shape), np.bool_)
    else:
        assert 0 < alone.sum() < counts.size
    np.testing.assert_array_equal(measured.reshape(counts.shape), alone)
    # Noise is all that observed cells are off by, where they were measured by themselves.
    off_by = (observed.reshape(counts.shape) - counts)[alone]
    assert 5.0 < off_by.std() < 40.0
    raised = (np.arange(counts.size).reshape(counts.shape) % 7 == 0)[alone]
    change = (moved - plain)[alone]
    assert change[raised].mean() > change[~raised].mean() + 300.0


def test_very_large_tables_stay_and_rows_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """To save time."""
    table, row = noisy(rough((64, 64))), noisy(rough((4096,)))
    monkeypatch.setattr(value_prior, "LARGEST_TABLE", 4096)
    assert towards_value_prior(table, table, LAW) is table
    assert (towards_value_prior(row, row, LAW) != row).any()
    monkeypatch.setattr(value_prior, "LARGEST_TABLE", 4097)
    assert (towards_value_prior(table, table, LAW) != table).any()
