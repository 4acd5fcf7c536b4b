"""Error estimates of layers: for every shape of sums, consistent with one another, and of the right size."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from dense_layers import haar_matrix
from test_layers_recover import SENSINGS, law_of, measured

from sparsedp.estimation.errors import bootstrap
from sparsedp.estimation.errors.errors import LayerErrors
from sparsedp.estimation.errors.haar_details import cell_variances, details, means_under, noise_of_details
from sparsedp.estimation.estimator import estimate, fit_layers
from sparsedp.laws import DiscreteGaussianLaw, LayersLaw
from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.noise.source import SeededSource
from sparsedp.releases.error_models import MeasuredErrors
from sparsedp.sensing.group_sums import GroupSums

layers = estimate
signed_layers = partial(estimate, nonnegative=False)

EVERY_SENSING = pytest.mark.parametrize("sensing", SENSINGS.values(), ids=SENSINGS.keys())
STEPS = np.repeat([3, 40, 0, 12], 1024)


def errors_of(sensing: GroupSums, seed: int = 1) -> LayerErrors:
    counts = np.random.default_rng(seed).poisson(8, sensing.n)
    law = law_of(sensing)
    found = layers(sensing, measured(sensing, counts, law, seed), law).uncertainty
    assert isinstance(found, LayerErrors)
    return found


@EVERY_SENSING
def test_the_error_of_a_cell_is_the_same_however_it_is_asked_for(sensing: GroupSums) -> None:
    errors = errors_of(sensing)
    stderr = errors.stderr()
    assert stderr.shape == sensing.shape
    assert np.isfinite(stderr).all()
    assert (stderr > 0).all()
    for cell in {0, sensing.n // 2, sensing.n - 1}:
        weights = np.zeros(sensing.n)
        weights[cell] = -2.0
        shaped = weights.reshape(sensing.shape)
        assert errors.variance(shaped) == pytest.approx(4 * stderr.reshape(-1)[cell] ** 2)
        low, high = errors.interval(shaped, 0.0, 0.95)
        ends = [end.reshape(-1)[cell] for end in errors.cell_intervals(0.95)]
        assert (high - low) == pytest.approx(2 * (ends[1] - ends[0]))


@EVERY_SENSING
def test_intervals_grow_with_the_level_and_hold_the_estimate(sensing: GroupSums) -> None:
    errors = errors_of(sensing)
    one, some = np.zeros(sensing.n), np.ones(sensing.n)
    one[0] = 1.0
    for weights in (one, some):
        before = (5.0, 5.0)
        for level in (0.5, 0.9, 0.99, 0.999999):
            low, high = errors.interval(weights.reshape(sensing.shape), 5.0, level)
            assert low <= before[0] <= 5.0 <= before[1] <= high
            before = (low, high)


def test_the_same_synopsis_has_the_same_errors() -> None:
    sensing = SENSINGS["ladder"]
    assert np.array_equal(errors_of(sensing).stderr(), errors_of(sensing).stderr())


def test_asking_for_nothing_has_no_error() -> None:
    assert errors_of(SENSINGS["ladder"]).variance(np.zeros(256)) == 0.0


@pytest.mark.parametrize("gaussian", [False, True])
def test_cells_that_nothing_was_taken_from_have_the_errors_of_their_noise(gaussian: bool) -> None:
    """Cells without an order are not smoothed. Signed, so that none is cut at zero."""
    sensing = SENSINGS["names"]
    counts = np.random.default_rng(0).integers(-(10**6), 10**6, sensing.n)
    law = LayersLaw((DiscreteGaussianLaw(Fraction(900)),) * 2) if gaussian else law_of(sensing, 20, 20)
    values = sensing.apply(counts) + np.rint(np.random.default_rng(1).normal(0, 25, sensing.rows)).astype(np.int64)
    found = signed_layers(sensing, values, law).uncertainty.stderr()
    assert np.mean(found**2) / law.finest.variance == pytest.approx(1.1, abs=0.2)


@pytest.mark.parametrize(
    ("sensing", "scales"),
    [
        (GroupSums(64, [1, [0, 16, 24, 32]]), (20, 30)),
        pytest.param(
            GroupSums(64, [[*range(0, 16, 2), *range(16, 32), *range(32, 64, 4)], 16, 64]),
            (20, 30, 50),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["groups of 16, 8, 8 and 32 cells above cells", "parts of blocks"],
)
def test_the_noise_of_details_is_that_of_the_fused_row(sensing: GroupSums, scales: tuple[int, ...]) -> None:
    """Against the noise itself: fused zeros, many times."""
    law = law_of(sensing, *scales)
    empty = np.zeros(64, np.int64)
    fits = [fit_layers(sensing, measured(sensing, empty, law, seed), law, shrinks=False) for seed in range(400)]
    noise = noise_of_details(fits[0])
    ratios = (np.mean([details(fit.fused) ** 2 for fit in fits], axis=0) / noise)[noise > 1e-6]
    assert np.abs(ratios - 1).max() < 0.4
    assert ratios.mean() == pytest.approx(1, abs=0.03)


def test_variances_of_cells_follow_from_those_of_details() -> None:
    variances = np.random.default_rng(0).uniform(1, 2, 16)
    rows, levels = haar_matrix(4)
    of_rows = np.concatenate([variances[16 >> level : 32 >> level] for level in range(1, 5)] + [variances[:1]])
    assert len(levels) == len(of_rows)
    assert cell_variances(variances, 16) == pytest.approx((rows.T**2) @ of_rows)
    assert means_under(np.arange(8.0)).tolist() == [3.5, 3.5, 1.5, 5.5, 0.5, 2.5, 4.5, 6.5]


def test_counts_that_scatter_below_the_noise_are_not_taken_for_their_mean() -> None:
    """Flat estimates of Poisson counts, whose scatter no recovery can see."""
    counts = np.random.default_rng(5).poisson(4, 4096)
    means = []
    for seed in range(8):
        release = Adaptive("any").release(counts, epsilon="0.1", source=SeededSource(seed))
        assert release.stderr is not None
        means.append(float(release.stderr.mean()))
    assert min(means) >= 2.0
    assert np.mean(means) <= 3.0


@pytest.mark.parametrize("workload", ["cells", "any", "ranges"])
def test_a_release_has_errors_of_its_own_size(workload: str) -> None:
    counts = np.random.default_rng(6).poisson(STEPS)
    release = Adaptive(workload).release(counts, epsilon="0.1", source=SeededSource(2))
    assert release.stderr is not None
    made = np.sqrt(np.mean((release.values - counts) ** 2))
    assert 0.8 * made < np.sqrt(np.mean(release.stderr**2)) < 2 * made
    assert release.interval(2500).low == 0.0
    whole = release.interval((0, 4096))
    assert whole.low < counts.sum() < whole.high


def test_a_long_row_learns_from_blocks_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    sensing = GroupSums(4096, [1, 16, 256, 4096])
    law = law_of(sensing, 10, 40, 40, 40)
    values = measured(sensing, np.random.default_rng(6).poisson(STEPS), law, 3)
    whole = layers(sensing, values, law).uncertainty.stderr()
    for name, value in {"LONG_ROW": 2048, "BOOTSTRAP_BLOCK": 256, "BOOTSTRAP_BLOCKS": 8}.items():
        monkeypatch.setattr(bootstrap, name, value)
    part = layers(sensing, values, law).uncertainty.stderr()
    assert not np.array_equal(whole, part)
    assert np.mean(part**2) == pytest.approx(np.mean(whole**2), rel=0.3)


def test_blocks_keep_groups_and_cut_them_at_their_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "BOOTSTRAP_BLOCK", 16)
    monkeypatch.setattr(bootstrap, "BOOTSTRAP_BLOCKS", 2)
    sensing = GroupSums(64, [[0, 8, 16, 32, 48, 52, 56], [0, 32]])
    shorter, row = bootstrap._blocks(sensing, np.arange(64.0))
    assert row.tolist() == [*range(16), *range(48, 64)]
    assert shorter.layers == [[0, 8, 16, 20, 24], [0, 16]]


def test_noise_of_nearly_nothing_leaves_errors_that_are_numbers() -> None:
    sensing = SENSINGS["ladder"]
    law = law_of(sensing, *[Fraction(1, 10**4)] * 3)
    found = layers(sensing, sensing.apply(np.arange(256)), law).uncertainty
    assert np.isfinite(found.stderr()).all()
    assert np.isfinite(found.variance(np.ones(256)))


def test_where_intervals_begin_at_zero_all_that_they_miss_is_above() -> None:
    """So they end sooner than if counts might be negative, which would be missed on both sides; and they hold."""
    random = np.random.default_rng(4)
    held = []
    for seed in range(3):
        counts = random.poisson(np.where(np.arange(2048) < 1024, 0.3, 60))
        measured = Adaptive("cells").release(counts, epsilon="0.5", source=SeededSource(seed)).uncertainty
        assert isinstance(measured, MeasuredErrors)
        errors = measured.expected
        assert isinstance(errors, LayerErrors)
        low, high = errors.cell_intervals(0.95)
        held.append(np.mean((counts >= low) & (counts <= high)))
        both_sides = LayerErrors(replace(errors._fit, nonnegative=False), errors._refit).cell_intervals(0.95)[1]
        assert (high[:1000] - both_sides[:1000]).mean() < -0.1
        assert (high <= both_sides + 1e-9).all()
        assert (high == both_sides)[1024:].mean() > 0.9
        found = [errors.cell_intervals(level)[1] for level in (0.5, 0.8, 0.81, 0.9, 0.95, 0.99)]
        assert all((wider >= narrower).all() for narrower, wider in pairwise(found))
    assert np.mean(held) > 0.94


def test_where_everything_came_out_as_zero_there_may_be_records_all_the_same() -> None:
    """Bootstrap samples are empty then, and have no errors."""
    counts = np.zeros(200, np.int64)
    counts[::60] = 1
    release = Adaptive("cells").release(counts, epsilon="0.5", source=SeededSource(10))
    assert release.stderr is not None
    assert (release.values == 0.0).any()
    assert (release.stderr > 0.0).all()
