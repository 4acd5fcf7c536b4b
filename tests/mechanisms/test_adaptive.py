"""Adaptive: what is drawn costs exactly the budget, layers hold every cell once, and sums are exact."""

from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from recording_sampler import Draw, RecordingSampler

import sparsedp as sdp
from sparsedp.arrays import Ints
from sparsedp.estimation.errors.errors import LayerErrors
from sparsedp.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw, LayersLaw
from sparsedp.mechanisms import _private_tree, adaptive
from sparsedp.mechanisms._adaptive_shares import ROWS
from sparsedp.mechanisms._private_tree import COST
from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.noise.coins import Chances
from sparsedp.noise.samplers import SAMPLERS
from sparsedp.noise.source import NoiselessSource, SeededSource
from sparsedp.sensing.group_sums import GroupSums

BUDGETS = [sdp.Budget(epsilon="3/7"), sdp.Budget(rho="0.3"), sdp.Budget(epsilon="0.7", delta="1e-8")]
EVERY_BUDGET = pytest.mark.parametrize("budget", BUDGETS, ids=str)
EVERY_WORKLOAD = pytest.mark.parametrize("workload", ROWS)
SIZES = [1, 2, 3, 255, 256, 257]


def flat(n: int) -> Ints:
    """One step, in the middle of a block."""
    return np.where(np.arange(n) < 2 * n // 5, 40_000, 7)


def rough(n: int) -> Ints:
    """Spikes in every block."""
    return np.where(np.arange(n) % 4 == 0, 10**6, 0)


def even(n: int) -> Ints:
    """No cell stands out."""
    return 50 + np.arange(n) % 3


TABLES: dict[str, Ints] = {
    **{f"even {n}": even(n) for n in (256, 257)},
    **{f"flat {n}": flat(n) for n in SIZES},
    **{f"rough {n}": rough(n) for n in (256, 257)},
    "matrix": np.add.outer(np.arange(20) * 100, flat(17)),
    "rough matrix": rough(20 * 17).reshape(20, 17),
    "cube": flat(6 * 7 * 9).reshape(6, 7, 9),
}
EVERY_TABLE_OF_BLOCKS = pytest.mark.parametrize(
    "counts",
    [table for name, table in TABLES.items() if name != "cube"],
    ids=[name for name in TABLES if name != "cube"],
)
"""Tables of three axes are measured by marginals, which have tests of their own."""
EVERY_TABLE = pytest.mark.parametrize("counts", TABLES.values(), ids=TABLES.keys())


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> RecordingSampler:
    sampler = RecordingSampler()
    monkeypatch.setitem(SAMPLERS, "recording", sampler)
    return sampler


@pytest.fixture
def decays(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of the trees that were grown, one for every depth."""
    seen: list[int] = []

    def watched(scores: Ints, decay: int) -> Chances:
        seen.append(decay)
        return _private_tree.chances_of(scores, decay)

    monkeypatch.setattr(adaptive, "chances_of", watched)
    return seen


def cost(noise: tuple[str, Fraction], distance: int) -> Fraction:
    """ε under Laplace noise, ρ under Gaussian, of values that neighbours change by `distance` in L1, so in L2 too."""
    kind, parameter = noise
    return Fraction(distance**2) / (2 * parameter) if kind == "gaussian" else distance / parameter


def values_by_noise(draws: list[Draw]) -> Counter[tuple[str, Fraction]]:
    """How many values got noise of which kind and width: layers in turns ask for it several times."""
    found: Counter[tuple[str, Fraction]] = Counter()
    for draw in draws:
        found[draw.kind, draw.parameter] += draw.values
    return found


def noises(synopsis: sdp.Synopsis) -> list[tuple[str, Fraction]]:
    """Of each layer, as stated."""
    assert isinstance(synopsis.law, LayersLaw)
    return [
        ("laplace", layer.scale) if isinstance(layer, DiscreteLaplaceLaw) else ("gaussian", layer.variance_parameter)
        for layer in synopsis.law.layers
    ]


@EVERY_BUDGET
@EVERY_WORKLOAD
@EVERY_TABLE_OF_BLOCKS
def test_what_is_drawn_costs_the_budget(
    counts: Ints, workload: str, budget: sdp.Budget, recorder: RecordingSampler, decays: list[int]
) -> None:
    """From what was asked of sampler and coins alone: phases add up to the budget, as stated and as drawn."""
    synopsis = Adaptive(workload).measure(
        counts, epsilon=budget, contribution=3, neighbours="replace_one", sampler="recording"
    )
    guarantee, distance = synopsis.guarantee, 6
    assert guarantee.neighbours.distance == distance
    assert guarantee.spent == budget
    total = guarantee.total.rho or guarantee.total.epsilon
    assert budget.delta or total == (budget.rho or budget.epsilon)
    looks = [expense for expense in guarantee.expenses if expense.purpose != "measure"]
    sensing = synopsis.sensing
    assert isinstance(sensing, GroupSums)
    drawn = values_by_noise(recorder.draws)
    for noise, starts in zip(noises(synopsis), sensing.starts, strict=True):
        drawn[noise] -= len(starts)
    seen = [noise for noise, left in drawn.items() for _ in range(left)]
    assert len(seen) == bool(looks), "one number is looked at"
    assert min(drawn.values()) == 0
    paid = sum((cost(noise, distance) for noise in [*noises(synopsis), *seen]), Fraction(0))
    assert bool(decays) == (len(looks) == 2)
    if decays:
        assert looks[1].purpose == "find where the cells are flat"
        assert len(set(decays)) == 1, "one decay for all depths of the tree"
        share = looks[1].budget.rho or looks[1].budget.epsilon
        assert share is not None
        # The ε of the tree; under ρ, what is ε-private is ε²/2-zCDP. A whole decay is rounded up, by one at most.
        least, most = (COST * distance / (decays[0] - step) for step in (0, 1))
        exact = float(share) if looks[1].budget.rho is None else (2 * float(share)) ** 0.5
        assert float(least) <= exact * (1 + 1e-9)
        assert float(most) >= exact * (1 - 1e-9)
        paid += share
    assert paid == total


@EVERY_BUDGET
@EVERY_WORKLOAD
@EVERY_TABLE_OF_BLOCKS
def test_layers_have_the_stated_laws_and_hold_every_cell_once(
    counts: Ints, workload: str, budget: sdp.Budget, recorder: RecordingSampler
) -> None:
    synopsis = Adaptive(workload).measure(counts, epsilon=budget, contribution=2, sampler="recording")
    sensing, law = synopsis.sensing, synopsis.law
    assert isinstance(sensing, GroupSums)
    assert isinstance(law, LayersLaw)
    measuring = [expense.budget for expense in synopsis.guarantee.expenses if expense.purpose == "measure"]
    for paid, layer in zip(measuring, law.layers, strict=True):
        if paid.epsilon is not None:
            assert layer == DiscreteLaplaceLaw(2 / paid.epsilon)
        else:
            assert paid.rho is not None
            assert layer == DiscreteGaussianLaw(4 / (2 * paid.rho))
    matrix = sensing.materialize()
    for groups in np.split(matrix, np.cumsum([len(starts) for starts in sensing.starts])[:-1]):
        assert (groups.sum(axis=0) == 1).all()
    np.testing.assert_array_equal(synopsis.values, matrix @ counts.reshape(-1))
    drawn = values_by_noise(recorder.draws)
    for noise, starts in zip(noises(synopsis), sensing.starts, strict=True):
        drawn[noise] -= len(starts)
    assert min(drawn.values()) == 0, "every layer has noise of its law"
    looked_at = any(expense.purpose == adaptive.STANDS_OUT for expense in synopsis.guarantee.expenses)
    assert drawn.total() == looked_at, "and one number may have been looked at"


def chosen_groups(synopsis: sdp.Synopsis) -> list[int] | None:
    assert isinstance(synopsis.sensing, GroupSums)
    return next((layer for layer in synopsis.sensing.layers if isinstance(layer, list)), None)


@pytest.mark.parametrize("n", [1024, 1025])
@pytest.mark.parametrize("workload", ["any", "ranges"])
def test_flat_cells_are_grouped_and_rough_ones_are_not(workload: str, n: int) -> None:
    groups = chosen_groups(Adaptive(workload).measure(flat(n), epsilon=1, source=NoiselessSource()))
    assert groups is not None
    assert len(groups) < n / 10
    assert chosen_groups(Adaptive(workload).measure(rough(n), epsilon=1, source=NoiselessSource())) is None
    assert chosen_groups(Adaptive("cells").measure(flat(n), epsilon=1)) is None
    assert chosen_groups(Adaptive(workload).measure(flat(255), epsilon=1)) is None


def test_cells_are_measured_where_they_stand_out_in_many_places() -> None:
    """In "any": in few places only, they are found, and those around them measured cell by cell."""
    (groups,) = layers_of(np.full(512, 50))
    assert isinstance(groups, list)
    assert len(groups) < 4
    once, often = np.full(512, 50), np.full(512, 50)
    once[100] += 10_000
    (alone,) = layers_of(once)
    assert isinstance(alone, list)
    assert {100, 101, 102, 103} <= set(alone)
    assert len(alone) < 24
    often[::40] += 10_000
    assert layers_of(often)[0] == 1


def layers_of(counts: Ints) -> list[int | list[int]]:
    """Of "any", where the looks see the cells as they are."""
    sensing = Adaptive("any").measure(counts, epsilon="0.5", source=NoiselessSource()).sensing
    assert isinstance(sensing, GroupSums)
    return sensing.layers


@EVERY_WORKLOAD
@EVERY_TABLE
def test_counts_stay_counts(counts: Ints, workload: str) -> None:
    release = Adaptive(workload).release(counts * 0, epsilon="0.5", source=SeededSource(counts.size))
    assert release.values.shape == counts.shape
    assert release.values.min() >= 0.0
    assert release.nonnegative
    signed = Adaptive(workload).release(-counts - 50, epsilon="0.5", negative=True, source=SeededSource(2))
    assert signed.values.mean() < -30
    assert not signed.nonnegative


@pytest.mark.parametrize("budget", BUDGETS[::2], ids=str)
@EVERY_WORKLOAD
def test_a_synopsis_comes_back_from_its_file(workload: str, budget: sdp.Budget, tmp_path: Path) -> None:
    for name in ("flat 257", "rough 256", "matrix"):
        synopsis = Adaptive(workload).measure(TABLES[name], epsilon=budget)
        again = sdp.open_synopsis(synopsis.save(tmp_path / "x.synopsis"))
        assert (again.plan, again.law, again.guarantee) == (synopsis.plan, synopsis.law, synopsis.guarantee)
        assert again.private
        np.testing.assert_array_equal(again.values, synopsis.values)
        release = synopsis.recover()
        np.testing.assert_array_equal(again.recover().values, release.values)
        opened = sdp.open_release(release.save(tmp_path / "x.parquet"))
        np.testing.assert_array_equal(opened.values, release.values)
        assert opened.spent == budget


@EVERY_WORKLOAD
@pytest.mark.parametrize("budget", [sdp.Budget(epsilon=10**6), sdp.Budget(rho=10**6)], ids=str)
def test_a_huge_budget_gives_the_table_back(workload: str, budget: sdp.Budget) -> None:
    """Noise whose variance is zero in floating point must not be divided by."""
    for counts in TABLES.values():
        values = Adaptive(workload).release(counts, epsilon=budget).values
        if workload == "cells":
            np.testing.assert_allclose(values, counts, atol=1e-6)
        assert values.sum() == pytest.approx(counts.sum(), rel=1e-6)


@pytest.mark.parametrize("workload", ["any", "ranges"])
@pytest.mark.parametrize("end", [0, 4095])
def test_a_pile_at_an_end_is_found_and_its_interval_holds(
    workload: str, end: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """300 of 1,000 amounts are zero, or as large as can be: too few for the tree to come down to it by itself."""
    counts = np.bincount(np.random.default_rng(3).exponential(300, 700).astype(np.int64), minlength=4096)[:4096]
    counts[0] += 300
    if end:
        counts = counts[::-1].copy()

    def end_cells() -> tuple[float, float]:
        releases = [Adaptive(workload).release(counts, epsilon="0.1", source=SeededSource(seed)) for seed in range(40)]
        held = [
            release.interval(end, 0.95).low <= counts[end] <= release.interval(end, 0.95).high for release in releases
        ]
        for release in releases:
            errors = getattr(release.uncertainty, "expected", None)
            assert isinstance(errors, LayerErrors)
            groups = errors._fit.layers[0]
            if release.values[end] > 150 and {end, end + 1} <= {*groups.starts.tolist(), 4096}:
                assert release.stderr is not None
                assert release.stderr[end] >= 0.999 * np.sqrt(groups.variances[-1 if end else 0]), (
                    "it has the noise of its own sum"
                )
        return float(np.mean([release.values[end] > 150 for release in releases])), float(np.mean(held))

    found, held = end_cells()
    assert found > 0.7
    assert held > 0.7
    monkeypatch.setattr(adaptive, "down_to_the_ends", lambda starts, n: starts)
    assert end_cells()[0] < 0.3


@pytest.mark.parametrize("workload", ["any", "ranges"])
def test_cutting_the_groups_at_the_ends_costs_even_rows_little(workload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums over ranges: each is cut once in 64 times."""
    counts = np.random.default_rng(4).poisson(0.25, 4096)
    lows, highs = np.sort(np.random.default_rng(5).integers(0, 4097, (2, 500)), axis=0)

    def error() -> float:
        off = []
        for seed in range(60):
            release = Adaptive(workload).release(counts, epsilon="0.1", source=SeededSource(seed))
            before = np.concatenate([[0.0], np.cumsum(release.values - counts)])
            off.append(((before[highs] - before[lows]) ** 2).mean())
        return float(np.mean(off))

    cut = error()
    monkeypatch.setattr(adaptive, "down_to_the_ends", lambda starts, n: starts)
    assert cut < 1.2 * error()
