"""A layer measured in turns is that layer measured at once: every cell has noise of its law, and none has it twice."""

from fractions import Fraction
from math import log, sqrt

import numpy as np
import pytest

from goodness_of_fit import fit_p_value
from sparsedp.arrays import Integers
from sparsedp.mechanisms.measured_layers import MeasuredLayers
from sparsedp.mechanisms.terms import checked_terms
from sparsedp.noise.source import SeededSource

N, SHARE = 30_000, Fraction(1, 2)


def layers_of(row: Integers, source: SeededSource) -> MeasuredLayers:
    return MeasuredLayers(
        row, checked_terms("0.1", None, None, 1, "add_remove", None, "sparsedp", source), signed=False
    )


def test_noise_has_the_same_law_in_every_turn() -> None:
    row = np.random.default_rng(1).integers(0, 50, N)
    layers = layers_of(row, SeededSource(1))
    layer, cells = layers.in_turns(SHARE), np.arange(N)
    first = layer.cells(cells < 10_000).copy()
    second = layer.cells((cells < 5_000) | ((cells >= 20_000) & (cells < 25_000))).copy()
    assert (second[:10_000] == first[:10_000]).all(), "what was measured stays as it is"
    assert not first[10_000:].any()
    starts = np.concatenate([cells[:10_000], cells[10_000:20_000:2], cells[20_000:25_000], cells[25_000::4]])
    sums = layer.finish(starts)
    assert (sums[:10_000] == first[:10_000]).all()
    assert (sums[15_000:20_000] == second[20_000:25_000]).all()
    noise = sums - np.add.reduceat(row, starts)
    for turn in (noise[:10_000], noise[15_000:20_000], np.concatenate([noise[10_000:15_000], noise[20_000:]])):
        assert fit_p_value(turn, Fraction(20)) > 1e-4
        assert fit_p_value(turn, Fraction(17)) < 1e-4
    assert layers.values[0] is sums
    assert layers.groups[0] is starts
    (paid,) = (noise.expense.budget.epsilon for noise in layers.noises)
    assert paid == Fraction(1, 20), "once for all turns"


@pytest.mark.parametrize(
    ("starts", "why"),
    [([0, 2, 3], "a group that begins with the cell"), ([0, 3], "one that holds it"), ([0, 1, 2, 3], "")],
)
def test_no_cell_is_measured_twice(starts: list[int], why: str) -> None:
    layer = layers_of(np.arange(4), SeededSource(2)).in_turns(SHARE)
    layer.cells(np.array([False, bool(why) and "holds" in why, not why or "begins" not in why, False]))
    layer.cells(np.array(["begins" in why, False, False, False]))
    if why:
        with pytest.raises(RuntimeError, match="nothing is measured twice"):
            layer.finish(np.array(starts))
    else:
        assert len(layer.finish(np.array(starts))) == 4


def test_measured_loss_of_turns_that_depend_on_one_another() -> None:
    """Neighbours differ in a cell that is measured in the first turn or in the second, as the noise of another one
    says; the loss of the likeliest event to tell them apart is that of one measurement, not of two.
    """
    events, runs, source = [], 4000, SeededSource(3)
    for count in (1, 0):
        happened = 0
        for _ in range(runs):
            layer = layers_of(np.array([count, 5, 0, 0]), source).in_turns(Fraction(1))
            coin = layer.cells(np.array([False, True, False, False]))[1] >= 5
            layer.cells(np.array([coin, False, False, False]))
            happened += int(layer.finish(np.arange(4))[0] >= 1)
        events.append(happened)
    loss, error = log(events[0] / events[1]), sqrt(1 / events[0] + 1 / events[1])
    assert loss < 0.1 + 4 * error
    assert error < 0.04
