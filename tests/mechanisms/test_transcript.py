"""A layer measured in turns is that layer measured at once: every cell has noise of its law, and none has it twice."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import sparsedp as sdp
from goodness_of_fit import fit_p_value
from sparsedp.arrays import Ints
from sparsedp.mechanisms._transcript import Transcript
from sparsedp.mechanisms.terms import checked_terms
from sparsedp.noise.samplers import SAMPLERS
from sparsedp.noise.source import SeededSource

N, SHARE = 30_000, Fraction(1, 2)


def layers_of(row: Ints, source: SeededSource) -> Transcript:
    return Transcript(row, checked_terms("0.1", None, None, 1, "add_remove", None, "sparsedp", source), signed=False)


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


@pytest.mark.parametrize("starts", [[0, 2, 2], [0, 3, 1], [0, 2, 1, 3], [1, 2]])
def test_groups_that_share_a_cell_are_refused_before_noise_is_drawn(starts: list[int]) -> None:
    layers = layers_of(np.arange(4), SeededSource(2))
    with pytest.raises(RuntimeError, match="measured again"):
        layers.measure(np.array(starts), SHARE)
    assert layers.terms.source.key() == SeededSource(2).key(), "nothing was drawn"
    assert not layers.values


@pytest.mark.parametrize(
    ("measured", "starts", "refused"),
    [
        ([True, False, False, False], [0, 2, 3], True),  # a group that begins with the cell
        ([False, True, True, False], [0, 3], True),  # one that holds two of them
        ([False, True, True, False], [0, 1, 2, 3], False),
        ([False, True, True, True], [0, 1, 2, 3], False),
        ([False, False, True, True], [0, 2, 3], False),
    ],
)
def test_no_cell_is_measured_twice(measured: list[bool], starts: list[int], refused: bool) -> None:
    layers = layers_of(np.arange(4), SeededSource(2))
    layer = layers.in_turns(SHARE)
    cells = layer.cells(np.array(measured))
    with pytest.raises(ValueError, match="read-only"):
        cells[0] = 5
    if refused:
        with pytest.raises(RuntimeError, match="measured again"):
            layer.finish(np.array(starts))
        assert not layers.values
        return
    assert len(layer.finish(np.array(starts))) == len(starts)
    with pytest.raises(RuntimeError, match="measured again"):
        layer.finish(np.array(starts))
    with pytest.raises(RuntimeError, match="measured again"):
        layer.cells(np.array(measured))


class Replayed:
    """A sampler that keeps what noise is added to; and then, on other counts, adds what makes the same come out."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.draws: list[tuple[Fraction, Ints, Ints]] = []
        self.again: list[tuple[Fraction, Ints, Ints]] | None = None
        self.loss = Fraction(0)

    def check(self, source: object) -> None:
        """Any source will do: none is used."""

    def effective_scale(self, scale: Fraction) -> Fraction:
        return scale

    effective_variance = effective_scale

    def add_noise(self, values: Ints, scale: Fraction, source: object) -> None:
        noise = np.rint(self.random.laplace(0, float(scale), len(values))).astype(np.int64)
        self._add(values, scale, noise, lambda off: Fraction(int(np.abs(off).sum())) / scale)

    def add_gaussian(self, values: Ints, variance: Fraction, source: object) -> None:
        noise = np.rint(self.random.normal(0, float(variance) ** 0.5, len(values))).astype(np.int64)
        self._add(values, variance, noise, lambda off: Fraction(int((off**2).sum())) / (2 * variance))

    def _add(self, values: Ints, width: Fraction, noise: Ints, cost: Callable[[Ints], Fraction]) -> None:
        if self.again is None:
            self.draws.append((width, values.copy(), values + noise))
            values += noise
            return
        before, given, came_out = self.again.pop(0)
        assert (before, len(given)) == (width, len(values)), "what is asked for depends on what came out alone"
        self.loss += cost(values - given)
        values[:] = came_out


SHAPES = [(40, 40), (31, 67), (3, 500), (12, 11, 13)]
BUDGETS = [sdp.Budget(epsilon="1/10"), sdp.Budget(epsilon=2), sdp.Budget(rho="1/50")]


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("workload", ["any", "ranges", "cells"])
def test_the_loss_along_any_course_is_within_the_budget(
    workload: str, budget: sdp.Budget, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exactly: the same outputs on neighbours, whatever was decided on the way, and what each of them costs. A loss
    that is reached says that noise for less would not do.
    """
    most, in_turns = Fraction(0), 0
    whole = Fraction(budget.rho or budget.epsilon or 0)
    for seed in range(60):
        sampler = Replayed(seed)
        monkeypatch.setitem(SAMPLERS, "replayed", sampler)
        shape = SHAPES[seed % len(SHAPES)]
        scale = 10.0 ** sampler.random.uniform(1, 4) * sampler.random.exponential(
            size=(shape[0], *[1] * len(shape[1:]))
        )
        counts = sampler.random.poisson(scale * (sampler.random.random(shape) < sampler.random.uniform(0.02, 0.5)))
        other = counts.copy()
        # As far apart as neighbours may be: six records, in one cell or in several.
        for place in sampler.random.integers(0, counts.size if seed % 2 else 9, 6):
            other.flat[place] += sampler.random.choice([-1, 1])
        if seed % 3 == 0:
            other = counts.copy()
            other.flat[counts.argmax()] += 6
        np.maximum(other, 0, out=other)
        one, two = (
            _replayed(sampler, workload, table, budget, replay) for table, replay in ((counts, False), (other, True))
        )
        assert not sampler.again
        assert one.sensing == two.sensing
        assert one.guarantee == two.guarantee
        assert (one.values == two.values).all()
        assert sampler.loss <= whole
        most = max(most, sampler.loss / whole)
        in_turns += len({width for width, *_ in sampler.draws}) < len(sampler.draws)
    assert most > Fraction(9, 10)
    assert in_turns > 5 or workload == "cells"


def _replayed(sampler: Replayed, workload: str, table: Ints, budget: sdp.Budget, replay: bool) -> sdp.Synopsis:
    sampler.again = list(sampler.draws) if replay else None
    return sdp.Adaptive(workload).measure(
        table, epsilon=budget, contribution=3, neighbours="replace_one", sampler="replayed"
    )
