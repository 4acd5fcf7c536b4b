"""Adaptive from end to end: the noise has the law that is stated, and neighbours cannot be told apart beyond ε."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import chain
from math import log, sqrt

import numpy as np
import pytest
from scipy import stats

import sparsedp as sdp
from goodness_of_fit import uniform_if_true
from sparsedp.arrays import Ints
from sparsedp.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw, IndependentLaw, LayersLaw
from sparsedp.mechanisms import _adaptive_shares, _transcript, adaptive
from sparsedp.mechanisms._private_tree import decay_for
from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.mechanisms.terms import Terms
from sparsedp.noise.source import SeededSource
from sparsedp.sensing.group_sums import GroupSums

Table = Sequence[int] | Sequence[Sequence[int]]


def wider(law: IndependentLaw, factor: Fraction) -> IndependentLaw:
    if isinstance(law, DiscreteLaplaceLaw):
        return DiscreteLaplaceLaw(law.scale * factor)
    return DiscreteGaussianLaw(law.variance_parameter * factor**2)


@pytest.mark.parametrize("budget", [sdp.Budget(epsilon=1), sdp.Budget(rho="0.5")], ids=str)
@pytest.mark.parametrize(("workload", "shape"), [("cells", 256), ("any", 256), ("ranges", 256), ("any", (16, 16))])
def test_the_noise_of_every_layer_has_the_stated_law(
    workload: str, shape: int | tuple[int, int], budget: sdp.Budget
) -> None:
    """Accepts the stated law, layer by layer, and rejects it 25 % off either way. Steps: groups are chosen."""
    source, jitter = SeededSource(30), np.random.default_rng(31)
    counts = np.repeat((40 if shape == 256 else 1) + 300 * np.arange(8), 32).reshape(shape)
    drawn: dict[tuple[int, IndependentLaw], list[Ints]] = {}
    for _ in range(20 if workload == "cells" else 300 if shape == 256 else 60):
        synopsis = Adaptive(workload).measure(counts, epsilon=budget, source=source)
        sensing, law = synopsis.sensing, synopsis.law
        assert isinstance(sensing, GroupSums)
        assert isinstance(law, LayersLaw)
        noise = sensing.split((synopsis.values - sensing.apply(counts.reshape(-1))).astype(np.float64))
        for place, (values, layer) in enumerate(zip(noise, law.layers, strict=True)):
            drawn.setdefault((place, layer), []).append(values.astype(np.int64))
    for factor in (Fraction(1), Fraction(5, 4), Fraction(3, 4)):
        by_layer: dict[int, list[float]] = {}
        for (place, layer), of_layer in drawn.items():
            by_layer.setdefault(place, [])
            by_layer[place] += uniform_if_true(np.concatenate(of_layer), wider(layer, factor), jitter)
        assert (p_value(list(chain(*by_layer.values()))) > 1e-3) == (factor == 1)
        if factor == 1:
            assert all(stats.kstest(uniforms, "uniform").pvalue > 1e-3 for uniforms in by_layer.values())


def p_value(uniforms: list[float]) -> float:
    return float(stats.chisquare(np.histogram(uniforms, bins=8, range=(0, 1))[0]).pvalue)


def measured_loss(
    mechanism: Adaptive, tables: tuple[Table, Table], epsilon: Fraction, event: Callable[[sdp.Synopsis], bool]
) -> tuple[float, float]:
    """log P(event | first) − log P(event | second) from 1,000 releases of each, and its standard error."""
    source = SeededSource(17)
    often = []
    for table in tables:
        counts = np.array(table)
        happened = [event(mechanism.measure(counts, epsilon=epsilon, source=source)) for _ in range(1000)]
        often.append(1 + sum(happened))  # one more than there were, so that none is not infinitely few
    return log(often[0] / often[1]), sqrt(sum(1 / count for count in often))


def all_above(values: Ints) -> bool:
    return bool(values[0] >= 1 and values[-1] >= 1)


def test_measured_loss_of_a_small_table() -> None:
    """The event for which the loss is ε itself: the changed cell and the total both come out above zero."""
    tables, epsilon = ([1] + [0] * 15, [0] * 16), Fraction(1)
    assert Adaptive().measure(tables[0], epsilon=1).sensing.rows == 17
    loss, error = measured_loss(Adaptive(), tables, epsilon, lambda synopsis: all_above(synopsis.values))
    assert abs(loss - epsilon) < 4 * error
    with pytest.MonkeyPatch.context() as patch:
        honest = _transcript.layer_noise
        patch.setattr(_transcript, "layer_noise", lambda terms, share, purpose: honest(terms, share * 2, purpose))
        patch.setattr(Terms, "guarantee", lambda self, expenses: None)
        loss, error = measured_loss(Adaptive(), tables, epsilon, lambda synopsis: all_above(synopsis.values))
    assert loss > epsilon + 4 * error, "half the noise is found out"


@pytest.fixture
def no_table_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_adaptive_shares, "LEAST_CELLS", 1)


@pytest.mark.usefixtures("no_table_is_too_small")
def test_measured_loss_of_a_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """All layers of a table of sixteen cells: the part, the block and the total that hold the changed cell."""
    tables, epsilon = ([[1, 0, 0, 0]] + [[0] * 4] * 3, [[0] * 4] * 4), Fraction(1)
    monkeypatch.setattr(_adaptive_shares, "SMALL_BLOCK", 4)

    def event(synopsis: sdp.Synopsis) -> bool:
        assert isinstance(synopsis.sensing, GroupSums)
        assert [len(starts) for starts in synopsis.sensing.starts[1:]] == [4, 1]
        return all(layer[0] >= 1 for layer in synopsis.sensing.split(synopsis.values.astype(np.float64)))

    loss, error = measured_loss(Adaptive(), tables, epsilon, event)
    assert 0.8 * epsilon < loss < epsilon + 4 * error
    honest = _transcript.layer_noise
    monkeypatch.setattr(_transcript, "layer_noise", lambda terms, share, purpose: honest(terms, share * 2, purpose))
    monkeypatch.setattr(Terms, "guarantee", lambda self, expenses: None)
    loss, error = measured_loss(Adaptive(), tables, epsilon, event)
    assert loss > epsilon + 4 * error, "half the noise is found out"


@pytest.mark.usefixtures("no_table_is_too_small")
def test_measured_loss_with_a_look() -> None:
    """Both looks and the sums together, on 16 cells: whether they were halved, and what the first half came out as."""
    tables, epsilon = ([2] + [1] * 15, [1] * 16), Fraction(1, 2)

    def event(synopsis: sdp.Synopsis) -> bool:
        assert isinstance(synopsis.sensing, GroupSums)
        starts = synopsis.sensing.layers[0]
        if not isinstance(starts, list) or 8 not in starts:
            return False
        return bool(synopsis.values[: starts.index(8)].sum() >= 9)

    loss, error = measured_loss(Adaptive("ranges"), tables, epsilon, event)
    assert 0.3 * epsilon < loss < epsilon + 4 * error
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adaptive, "decay_for", lambda distance, share: decay_for(distance, share * 16))
        loss, error = measured_loss(Adaptive("ranges"), tables, epsilon, event)
    assert loss > epsilon + 4 * error, "a tree with a sixteenth of the decay is found out"
