"""From layers to cells: the table's own order, the noise of every level, sums that are kept, and no negative cell."""

import tracemalloc
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from dense_layers import dense_groups, haar_matrix, least_squares

from sparsedp.arrays import Floats, Ints
from sparsedp.errors import InvalidInput
from sparsedp.estimation.estimator import Fit, _shrunk_parts, estimate, fit_layers
from sparsedp.estimation.groups import shrink_groups
from sparsedp.estimation.least_squares import Layer, fuse, noise_by_level
from sparsedp.estimation.shrinkage.frame import fits, shrink
from sparsedp.estimation.shrinkage.isolated_spikes import beside_isolated_spikes
from sparsedp.laws import DiscreteLaplaceLaw, LayersLaw
from sparsedp.noise.discrete_laplace import discrete_laplace
from sparsedp.noise.source import SeededSource
from sparsedp.sensing.base import Direct
from sparsedp.sensing.group_sums import GroupSums

layers = estimate
signed_layers = partial(estimate, nonnegative=False)
layers_keeping_sums = partial(estimate)
signed_layers_keeping_sums = partial(estimate, nonnegative=False)

CHOSEN = [0, 64, 96, 100, 104, 112, 128]
PARTS = sorted({0, 32, 48, *range(64, 128), 128, *range(192, 256, 4)})
SENSINGS = {
    "one cell": GroupSums(1, [1]),
    "two cells": GroupSums(2, [1, 2]),
    "cells": GroupSums(200, [1]),
    "ladder": GroupSums(256, [1, 16, 256]),
    "ragged": GroupSums(200, [1, 16, 200]),
    "groups": GroupSums(200, [CHOSEN, [0, 96]]),
    "cells and groups": GroupSums(200, [1, CHOSEN]),
    "table": GroupSums(240, [1, 16, 240], [3, 8, 10], [False, True, True]),
    "names": GroupSums(60, [1, 60], [60], [False]),
    "grid": GroupSums(256, [PARTS, 64, 256], [16, 16]),
    "busy blocks": GroupSums(200, [[*range(32), *range(32, 128, 16), *range(128, 144), 144, 160, 176, 192], 16, 200]),
    "groups of a table": GroupSums(256, [[0, 64, 96, 128], [0, 128]], [16, 16]),
    "ragged grid": GroupSums(210, [[part for part in PARTS if part < 210], 64, 210], [6, 5, 7]),
}
EVERY_SENSING = pytest.mark.parametrize("sensing", SENSINGS.values(), ids=SENSINGS.keys())


def law_of(sensing: GroupSums, *scales: Fraction | int) -> LayersLaw:
    given = scales or range(3, 3 + len(sensing.starts))
    return LayersLaw(tuple(DiscreteLaplaceLaw(Fraction(scale)) for scale in given))


def measured(sensing: GroupSums, counts: Ints, law: LayersLaw, seed: int) -> Ints:
    source = SeededSource(seed)
    values = sensing.apply(counts)
    noise = [
        discrete_laplace(Fraction(layer.scale), len(starts), source)  # type: ignore[union-attr]  # all are Laplace here
        for layer, starts in zip(law.layers, sensing.starts, strict=True)
    ]
    return values + np.concatenate(noise)


def off_in_deviations(fit: Fit, layer: int) -> Floats:
    """How far the sums of a layer's groups are from the best linear estimate, in deviations of what is unsure in it."""
    groups = fit.layers[layer]
    return np.asarray(np.abs(np.add.reduceat(fit.estimate, groups.starts) - groups.sums) / np.sqrt(groups.variances))


@pytest.mark.parametrize("sizes", [[1], [1, 64], [1, 4, 64], [1, 2, 16, 64], [1, 16, 16]])
def test_the_noise_of_every_level_is_that_of_the_fused_cells(sizes: list[int]) -> None:
    """Exact for blocks of 2^k cells, against the dense covariance of the best linear unbiased estimate."""
    sensing = GroupSums(64, sizes)
    law = LayersLaw(tuple(DiscreteLaplaceLaw(Fraction(scale)) for scale in (3, 7, 2, 5)[: len(sizes)]))
    fused = fuse(sensing, np.zeros(sensing.rows, np.int64), law)
    variances, total_variance = noise_by_level(sensing, law, fused)
    _, covariance = least_squares(dense_groups(sensing), law, len(sizes))
    details, level_of = haar_matrix(6)
    exact = np.diag(details @ covariance @ details.T)
    np.testing.assert_allclose(exact, np.append(variances, total_variance)[level_of], rtol=1e-7)


@EVERY_SENSING
def test_cells_come_out_where_they_were(sensing: GroupSums) -> None:
    """With next to no noise every cell comes back in its own place; groups come back with their sums."""
    counts = np.random.default_rng(1).permutation(sensing.n).astype(np.int64)
    for tiny in (Fraction(1, 60), Fraction(1, 10**6)):
        law = law_of(sensing, *[tiny] * len(sensing.starts))
        for recover in (layers, signed_layers):
            found = recover(sensing, sensing.apply(counts), law).value
            sums = np.add.reduceat(sensing.in_a_row(counts), sensing.starts[0])
            np.testing.assert_allclose(
                np.add.reduceat(sensing.in_a_row(found), sensing.starts[0]), sums, rtol=1e-9, atol=1e-6
            )


@EVERY_SENSING
def test_counts_are_never_negative_and_signed_values_may_be(sensing: GroupSums) -> None:
    law = law_of(sensing)
    for seed in range(4):
        values = measured(sensing, np.zeros(sensing.n, np.int64), law, seed)
        found = layers(sensing, values, law).value
        assert found.shape == (sensing.n,)
        assert found.min() >= 0.0
    low = measured(sensing, np.full(sensing.n, -1000), law, 1)
    assert layers(sensing, low, law).value.max() < 1e-9
    assert signed_layers(sensing, low, law).value.max() < -500


@pytest.mark.parametrize("name", ["groups", "cells and groups"])
def test_chosen_groups_have_the_sums_of_their_own_shrinkage(name: str) -> None:
    sensing = SENSINGS[name]
    law = law_of(sensing)
    values = measured(sensing, np.random.default_rng(2).poisson(30, 200), law, 3)
    fit = fit_layers(sensing, values, law, nonnegative=False)
    chosen = next(layer for layer in fit.layers if layer.starts.tolist() == CHOSEN)
    expected = shrink_groups(chosen.starts, chosen.sums, chosen.variances, 200)
    np.testing.assert_allclose(np.add.reduceat(fit.estimate, CHOSEN), expected)
    assert fit.estimate.sum() == pytest.approx(chosen.sums.sum())


def test_blocks_keep_their_sums() -> None:
    sensing = SENSINGS["ragged"]
    law = law_of(sensing)
    values = measured(sensing, np.random.default_rng(3).poisson(5, 200), law, 3)
    kept = signed_layers_keeping_sums(sensing, values, law).value
    blocks = fuse(sensing, values, law)[1]
    np.testing.assert_allclose(np.add.reduceat(kept, blocks.starts), blocks.sums)
    assert (kept == signed_layers(sensing, values, law).value).all(), "whatever the name in the synopsis"
    assert layers_keeping_sums(sensing, values, law).value.min() >= 0.0


def test_groups_without_cells_are_flat_beside_steps_and_keep_the_total_nearly() -> None:
    sensing = SENSINGS["groups"]
    law = law_of(sensing)
    values = measured(sensing, np.repeat([0, 9, 0, 3], [64, 32, 32, 72]), law, 5)
    fit = fit_layers(sensing, values, law, nonnegative=True)
    groups = np.split(fit.estimate, CHOSEN[1:])
    assert np.ptp(groups[1]) == 0.0, "a peak"
    assert max(np.ptp(group) for group in groups) < 0.1
    assert off_in_deviations(fit, -1).max() < 0.5


def test_shrinking_takes_noise_away() -> None:
    sensing = SENSINGS["ladder"]
    law = law_of(sensing, 5, 5, 5)
    truth = np.repeat([0, 200, 30, 0], 64)
    worse = 0.0
    for seed in range(5):
        fit = fit_layers(sensing, measured(sensing, truth, law, seed), law, nonnegative=True)
        worse = max(worse, float(np.linalg.norm(fit.estimate - truth) / np.linalg.norm(fit.fused - truth)))
    assert worse < 0.6


def test_only_layers_are_taken() -> None:
    law = DiscreteLaplaceLaw(Fraction(1))
    for sensing, noise in ((Direct(4), LayersLaw((law,))), (GroupSums(4, [1]), law)):
        for recover in (layers, signed_layers):
            with pytest.raises(InvalidInput, match="it needs layers of group sums"):
                recover(sensing, np.zeros(4, np.int64), noise)


def test_a_law_a_layer_is_needed() -> None:
    sensing = GroupSums(16, [1, 16])
    with pytest.raises(InvalidInput, match="noise law is of 1 layers; give one for each of 2"):
        layers(sensing, np.zeros(17, np.int64), law_of(sensing, 3))


@pytest.mark.parametrize("sides", [(2,) * 14, (3,) * 8, (4,) * 7], ids=str)
def test_many_short_axes_need_no_more_room_than_their_cells(sides: tuple[int, ...]) -> None:
    """A frame of boxes would have many times as many gaps as cells: these are shrunk along the curve."""
    n = int(np.prod(sides))
    sensing = GroupSums(n, [1, 16, n], sides)
    assert sensing.is_table
    assert not fits(sides)
    law = law_of(sensing)
    values = measured(sensing, np.full(n, 50), law, 1)
    tracemalloc.start()
    estimate = layers_keeping_sums(sensing, values, law).value
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 600 * n + 10**7
    assert np.abs(estimate - 50).mean() < 3


@pytest.mark.parametrize("sizes", [[1, 16, 1536], [1, 1536]], ids=str)
def test_tables_are_shrunk_in_boxes_and_keep_the_sums_of_blocks(sizes: list[int]) -> None:
    """As the frame shrinks the measured cells, but for what gives every block its fused sum."""
    sensing = GroupSums(32 * 48, sizes, (32, 48))
    law = law_of(sensing)
    truth = np.add.outer(np.arange(32), 3 * (np.arange(48) > 20)).reshape(-1)
    values = measured(sensing, truth, law, 5)
    cells = sensing.out_of_row(sensing.split(values.astype(np.float64))[0]).reshape(32, 48)
    fused = fuse(sensing, values, law)[1]
    in_boxes = sensing.in_a_row(
        beside_isolated_spikes(cells, law.finest, lambda table: shrink(table, law.finest)).reshape(-1)
    )
    for recovery in (signed_layers, signed_layers_keeping_sums):
        found = sensing.in_a_row(recovery(sensing, values, law).value)
        np.testing.assert_allclose(np.add.reduceat(found, fused.starts), fused.sums, atol=1e-6)
        change = found - in_boxes
        for start, end in zip(fused.starts, np.append(fused.starts[1:], sensing.n), strict=True):
            np.testing.assert_allclose(change[start:end], change[start], atol=1e-6)


def test_tables_on_both_sides_of_an_unordered_axis_are_shrunk_apart() -> None:
    sensing = GroupSums(20 * 3 * 24, [1], (20, 3, 24), (True, False, True))
    law = law_of(sensing, 3)
    truth = np.zeros((20, 3, 24), np.int64)
    truth[:, 1] = 1000
    values = measured(sensing, truth.reshape(-1), law, 6)
    cells = sensing.out_of_row(values.astype(np.float64)).reshape(20, 3, 24)
    found = signed_layers(sensing, values, law).value.reshape(20, 3, 24)
    for name in range(3):
        alone = beside_isolated_spikes(cells[:, name].copy(), law.finest, lambda table: shrink(table, law.finest))
        np.testing.assert_allclose(found[:, name], alone, atol=1e-6)


GRIDS = pytest.mark.parametrize("name", ["grid", "ragged grid"])


@GRIDS
def test_blocks_of_a_grid_keep_their_fused_sums(name: str) -> None:
    """Those that may be negative; of counts far above the noise the prior has little to say but that they are even."""
    sensing = SENSINGS[name]
    law = law_of(sensing)
    counts = np.random.default_rng(4).poisson(900, sensing.n)
    fit = fit_layers(sensing, measured(sensing, counts, law, 5), law, nonnegative=False)
    np.testing.assert_allclose(np.add.reduceat(fit.estimate, fit.layers[1].starts), fit.layers[1].sums)
    counts[:64] *= 4
    counts[64:128] *= 2
    fit = fit_layers(sensing, measured(sensing, counts, law, 5), law)
    assert off_in_deviations(fit, 1).max() < 0.3


@GRIDS
def test_a_grid_keeps_its_total_nearly_without_negative_cells(name: str) -> None:
    sensing = SENSINGS[name]
    law = law_of(sensing)
    for seed in range(5):
        counts = np.random.default_rng(seed).poisson(0.3, sensing.n)
        fit = fit_layers(sensing, measured(sensing, counts, law, seed), law)
        assert fit.estimate.min() >= 0.0
        assert off_in_deviations(fit, -1).max() < 0.8


def test_parts_that_are_cells_are_shrunk_as_cells_are() -> None:
    """A block of even counts, cell by cell: their noise is mostly removed; without, they come back."""
    sensing = SENSINGS["grid"]
    counts = np.full(256, 40)
    errors = []
    for scale in (8, Fraction(1, 60)):
        law = law_of(sensing, scale, scale, scale)
        fit = fit_layers(sensing, measured(sensing, counts, law, 6), law)
        block = fit.estimate[64:128]
        errors.append(float(np.sqrt(((block - 40) ** 2).mean())))
    assert errors[0] < 0.4 * 8 * np.sqrt(2)
    assert errors[1] < 1e-6


@pytest.mark.parametrize("sides", [(64, 64), (4096,)], ids=["table", "row"])
def test_a_pile_in_the_first_cell_is_not_shrunk_towards_the_parts_beside_it(sides: tuple[int, ...]) -> None:
    """The cells on the way to the first one are too few to be shrunk as cells are; all layers together know better."""
    starts = [0, 1, 2, 4, 8, 16, 32, 64, 128, 192, *range(256, 4096, 256)]
    sensing = GroupSums(4096, [starts, 256, 4096], sides)
    law = law_of(sensing, 13, 50, 500)
    counts = np.zeros(4096, np.int64)
    counts[0], counts[16:40] = 200, 10
    found = [fit_layers(sensing, measured(sensing, counts, law, seed), law).estimate[0] for seed in range(20)]
    assert np.sqrt(np.mean(np.square(np.array(found) - 200.0))) < 1.3 * 13 * np.sqrt(2)


def test_blocks_of_cells_are_one_group_beside_parts_of_others() -> None:
    """Where counts may be negative: as their sums with their own noise, and not as their cells."""
    random = np.random.default_rng(8)
    parts = Layer(np.array([0, 4, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20]), random.normal(30, 20, 12), np.full(12, 9.0))
    blocks = Layer(np.array([0, 8, 16]), random.normal(100, 50, 3), np.array([5.0, 7.0, 6.0]))
    alone = np.isin(np.arange(12), range(2, 10))
    found = _shrunk_parts(parts, blocks, alone, 24)
    merged = np.array([0, 4, 8, 16, 20])
    sums = np.array([*parts.sums[:2], blocks.sums[1], *parts.sums[10:]])
    expected = shrink_groups(merged, sums, np.array([9.0, 9.0, 7.0, 9.0, 9.0]), 24)
    np.testing.assert_allclose(found[~alone], expected[[0, 1, 3, 4]])


def test_parts_of_a_grid_slope_as_those_around_do() -> None:
    """A plane, of which blocks and parts are known well: nearer than flat parts by far."""
    across = np.add.outer(np.arange(32), 2 * np.arange(32)).astype(np.int64)
    sensing = GroupSums(1024, [list(range(0, 1024, 16)), 64, 1024], [32, 32])
    law = law_of(sensing, 1, 1, 1)
    found = layers(sensing, measured(sensing, across.reshape(-1), law, 7), law).value.reshape(32, 32)
    inner = (slice(4, -4), slice(4, -4))
    flat = np.repeat(np.repeat(across.reshape(8, 4, 8, 4).mean(axis=(1, 3)), 4, 0), 4, 1)
    assert np.abs(found - across)[inner].mean() < 0.2 * np.abs(flat - across)[inner].mean()


@pytest.mark.parametrize("finest", [2, 64])
def test_blocks_without_cells_are_refused(finest: int) -> None:
    sensing = GroupSums(64, [finest])
    with pytest.raises(InvalidInput, match="at the finest"):
        fit_layers(sensing, np.zeros(sensing.rows, np.int64), law_of(sensing))
