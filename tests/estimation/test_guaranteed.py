"""Guaranteed intervals beside plain linear algebra, and beside the truth; likely ones beside both."""

from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import sparsedp as sdp
from repeatable_noise import noise_from
from sparsedp.arrays import Floats, Ints
from sparsedp.estimation.guaranteed import measured_sums
from sparsedp.estimation.least_squares import drawn_noise
from sparsedp.laws import ContinualCounterLaw, DiscreteGaussianLaw, DiscreteLaplaceLaw, IndependentLaw, LayersLaw
from sparsedp.sensing.base import Direct
from sparsedp.sensing.group_sums import GroupSums
from sparsedp.sensing.integer_haar import IntegerHaar, IntegerHaarTable
from sparsedp.sensing.marginals import ALL, CELLS, Marginals
from sparsedp.sensing.running_totals import RunningTotals
from sparsedp.sensing.tree import Tree

CHANCE = np.random.default_rng(4)
NARROW, WIDE, NORMAL = (
    DiscreteLaplaceLaw(Fraction(2)),
    DiscreteLaplaceLaw(Fraction(9)),
    DiscreteGaussianLaw(Fraction(30)),
)


def layers(*laws: IndependentLaw) -> LayersLaw:
    return LayersLaw(laws)


PAIRS = Marginals(
    (4, 3, 5),
    [(CELLS, CELLS, ALL), (CELLS, ALL, CELLS), (ALL, CELLS, CELLS), (CELLS, ALL, ALL), (ALL, ALL, ALL)],
    (True, False, True),
)
WEEKS = Marginals(
    (14, 3), [((0, 1, 2, 3, 4, 5, 6) * 2, CELLS), ((0,) * 7 + (1,) * 7, CELLS), (CELLS, ALL)], (True, False)
)

MEASURED: dict[str, tuple[Any, Any]] = {
    "cells": (Direct(20), NARROW),
    "cells, Gaussian": (Direct(20), NORMAL),
    "tree": (Tree(20), WIDE),
    "tree of three": (Tree(25, 3), WIDE),
    "differences": (IntegerHaar(16), WIDE),
    "differences, padded": (IntegerHaar(11), NORMAL),
    "differences of a table": (IntegerHaarTable((3, 8, 5), (False, True, True)), WIDE),
    "layers": (GroupSums(30, [1, 4, 30]), layers(NARROW, WIDE, NORMAL)),
    "groups": (GroupSums(32, [[0, 4, 8, 16], [0]]), layers(NARROW, WIDE)),
    "marginals": (PAIRS, layers(NARROW, WIDE, NORMAL, NARROW, WIDE)),
    "marginals and cells": (
        Marginals((4, 3, 5), [*PAIRS.layers, (CELLS,) * 3], (True,) * 3),
        layers(NARROW, WIDE, NORMAL, NARROW, WIDE, WIDE),
    ),
    "rhythms": (WEEKS, layers(NARROW, NARROW, WIDE)),
}


def variances(sensing: Any, law: Any) -> Floats:
    if not isinstance(law, LayersLaw):
        return np.full(sensing.rows, law.variance)
    parts = sensing.split(np.zeros(sensing.rows))
    return np.concatenate([np.full(part.size, one.variance) for part, one in zip(parts, law.layers, strict=True)])


def queries(cells: int) -> list[Floats]:
    chance = np.random.default_rng(5)
    ones = [np.ones(cells), np.eye(cells)[cells // 3], (np.arange(cells) < cells // 2) * 1.0]
    return [*ones, chance.integers(0, 2, cells) * 1.0, chance.normal(size=cells)]


@pytest.mark.parametrize("name", MEASURED)
def test_they_are_generalised_least_squares(name: str) -> None:
    """On the whole matrix, with the weights that are fixed: the same estimate with the same variance."""
    sensing, law = MEASURED[name]
    phi, spread = sensing.materialize().astype(float), variances(sensing, law)
    values = CHANCE.integers(-50, 50, sensing.rows)
    measured = measured_sums(sensing, values, law, np.zeros(sensing.n))
    assert measured is not None
    for wanted in queries(sensing.n):
        normal = phi.T @ (phi / spread[:, None])
        combined = phi @ np.linalg.lstsq(normal, wanted, rcond=1e-12)[0] / spread
        bounds = measured.bounds(wanted)
        determined = bool(np.allclose(phi.T @ combined, wanted, atol=1e-8))
        assert (bounds.exact is not None) == determined
        if bounds.exact is not None:
            assert bounds.exact.value == pytest.approx(combined @ values, abs=1e-6)
            assert bounds.exact.noise.variance == pytest.approx(combined**2 @ spread, rel=1e-6)


@pytest.mark.parametrize("name", MEASURED)
@given(data=st.data())
def test_without_noise_the_answer_is_between(name: str, data: st.DataObject) -> None:
    sensing, law = MEASURED[name]
    counts = np.array(data.draw(st.lists(st.integers(0, 9), min_size=sensing.n, max_size=sensing.n)), np.int64)
    wanted = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=sensing.n, max_size=sensing.n)), np.float64)
    measured = measured_sums(sensing, sensing.apply(counts), law, counts.astype(np.float64))
    assert measured is not None
    bounds, truth = measured.bounds(wanted), float(wanted @ counts)
    assert bounds.below or bounds.exact
    assert all(one.value <= truth + 1e-6 for one in bounds.below)
    assert all(one.value >= truth - 1e-6 for one in bounds.above)


def noisy(sensing: Any, law: Any, exact: Ints, chance: np.random.Generator) -> Ints:
    if not isinstance(law, LayersLaw):
        return np.asarray(exact + drawn_noise(law, len(exact), chance).astype(np.int64))
    parts = sensing.split(np.zeros(sensing.rows))
    noise = [drawn_noise(one, part.size, chance) for part, one in zip(parts, law.layers, strict=True)]
    return np.asarray(exact + np.concatenate(noise).astype(np.int64))


RUNS = 1500


@pytest.mark.parametrize("name", ["cells", "tree", "differences, padded", "layers", "groups", "marginals", "rhythms"])
def test_they_hold_and_narrower_ones_do_not(name: str) -> None:
    sensing, law = MEASURED[name]
    chance = np.random.default_rng(6)
    counts = chance.poisson(3.0, sensing.n)
    asked = queries(sensing.n)[:3]
    exact, held, tight = sensing.apply(counts), np.zeros(3), np.zeros(3)
    determined = np.zeros(3, np.bool_)
    for _ in range(RUNS):
        measured = measured_sums(sensing, noisy(sensing, law, exact, chance), law, np.zeros(sensing.n))
        assert measured is not None
        for place, wanted in enumerate(asked):
            bounds, truth = measured.bounds(wanted), float(wanted @ counts)
            low, high = bounds.interval(0.9)
            held[place] += low - 1e-9 <= truth <= high + 1e-9
            middle, half = (low + high) / 2, 0.7 * (high - low) / 2
            tight[place] += middle - half <= truth <= middle + half
            determined[place] = bounds.exact is not None
    spread = 4 * np.sqrt(0.9 * 0.1 / RUNS)
    assert (held / RUNS >= 0.9 - spread).all()
    assert (tight[determined] / RUNS < 0.9 - spread).all()
    assert determined.any()


def test_a_counters_totals_share_their_noise() -> None:
    """Beside the covariance of all totals, written out: one term for ever, and one for each level's segment."""
    law, ticks = ContinualCounterLaw(Fraction(3), 4), 13
    measured = measured_sums(RunningTotals(ticks), CHANCE.integers(0, 9, ticks), law, np.zeros(ticks))
    assert measured is not None
    places = np.arange(ticks)
    shared = np.ones((ticks, ticks)) + sum(
        (places[:, None] >> level == places >> level).astype(float) for level in range(law.levels)
    )
    for wanted in queries(ticks):
        over_totals = np.linalg.solve(np.tri(ticks).T, wanted)
        exact = measured.bounds(wanted).exact
        assert exact is not None
        assert exact.noise.variance == pytest.approx(law.term.variance * over_totals @ shared @ over_totals)


BLOCKS = GroupSums(64, [[*range(16), *range(16, 64, 8)], 16, 64])


def test_blocks_that_decided_have_one_weight() -> None:
    """Whichever parts a block has, its noisy sum weighs as much as that of any other."""
    assert BLOCKS.in_parts_of_blocks
    law = layers(NARROW, WIDE, WIDE)
    values = np.zeros(BLOCKS.rows, np.int64)
    wanted, found = np.ones(64), []
    for block in range(4):
        alone = values.copy()
        alone[len(BLOCKS.starts[0]) + block] = 1
        measured = measured_sums(BLOCKS, alone, law, np.zeros(64))
        assert measured is not None
        exact = measured.bounds(wanted).exact
        assert exact is not None
        found.append(exact.value)
    np.testing.assert_allclose(found, found[0])
    assert 0.0 < found[0] < 1.0


def test_random_projections_give_none() -> None:
    release = sdp.release(np.arange(64), epsilon=1, mechanism=sdp.Compressive(sparsity=4, seed=1))
    with pytest.raises(sdp.InvalidInput, match="without an estimate of its error"):
        release.interval(3, kind="guaranteed")


# Releases: the three kinds beside one another, and after whatever is done with a release.

TABLE = sdp.Domain(
    [sdp.Categories("region", list("abcd")), sdp.Bins("age", list(range(9))), sdp.Categories("sex", ["F", "M"])]
)
COUNTS = np.random.default_rng(1).integers(0, 40, TABLE.shape)
ASKED: list[object] = [
    {},
    {"region": "b"},
    {"age": (2, 6), "sex": "M"},
    (1, 2, 0),
    np.linspace(-1, 1, 64).reshape(TABLE.shape),
]


@cache
def released(mechanism: str) -> sdp.Release:
    with noise_from(f"{__name__}.{mechanism}"):
        return sdp.release(COUNTS, epsilon="0.3", domain=TABLE, mechanism=mechanism)


MECHANISMS = ["adaptive", "adaptive:marginals", "adaptive:cells", "laplace", "hierarchical", "privelet"]


@pytest.mark.parametrize(("mechanism", "query"), list(product(MECHANISMS, range(len(ASKED)))))
def test_likely_is_within_guaranteed_and_holds_what_is_plausible(mechanism: str, query: int) -> None:
    release, asked = released(mechanism), ASKED[query]
    likely, sure, narrow = (
        release.interval(asked, level, kind)
        for level, kind in ((0.95, "likely"), (0.95, "guaranteed"), (0.8, "guaranteed"))
    )
    assert (likely.kind, sure.kind) == ("likely", "guaranteed")
    assert likely.estimate == pytest.approx(release.interval(asked, kind="expected").estimate)
    if sure.low < likely.estimate < sure.high:
        assert sure.low - 1e-9 <= likely.low
        assert likely.high <= sure.high + 1e-9
    assert likely.low <= narrow.low + 1e-9
    assert narrow.high - 1e-9 <= likely.high
    assert str(sure).endswith("guaranteed")
    assert str(likely).endswith("at 0.95")


@pytest.mark.parametrize("mechanism", ["adaptive", "adaptive:marginals", "laplace"])
def test_marginals_and_files_know_as_much(mechanism: str, tmp_path: Path) -> None:
    release = released(mechanism)
    marginal = release.marginal("sex", "region")
    opened = sdp.open_release(release.save(tmp_path / "release.parquet"))
    for kind in ("likely", "guaranteed", "expected"):
        whole = release.interval({"sex": "M", "region": "c"}, kind=kind)
        for other in (
            marginal.interval(("M", "c"), kind=kind),
            opened.interval({"sex": "M", "region": "c"}, kind=kind),
        ):
            assert (other.low, other.high) == pytest.approx((whole.low, whole.high), rel=1e-6)


def test_intervals_of_all_cells_are_those_of_each() -> None:
    marginal = released("adaptive").marginal("region")
    found = marginal.intervals(0.9, "guaranteed")
    each = [marginal.interval(cell, 0.9, "guaranteed") for cell in range(4)]
    assert found.low.tolist() == [one.low for one in each]
    assert found.high.tolist() == [one.high for one in each]
    assert found.estimate.tolist() == [one.estimate for one in each]
    at_once = marginal.intervals(0.9, "guaranteed", simultaneous=True)
    assert at_once.low.tolist() == [marginal.interval(cell, 0.975, "guaranteed").low for cell in range(4)]
    assert (at_once.high > found.high).all()


def test_shares_at_once_are_wider() -> None:
    release = sdp.release(np.random.default_rng(2).integers(20, 60, 30), epsilon=1)
    alone, together = release.cdf(), release.cdf(simultaneous=True)
    assert all(one.high - one.low <= other.high - other.low for one, other in zip(alone, together, strict=True))
    assert together[10].high - together[10].low > alone[10].high - alone[10].low


def test_what_is_publicly_known_has_no_noise() -> None:
    zeros = np.zeros(TABLE.shape, np.bool_)
    zeros[0, 0, 0] = True
    counts = np.where(zeros, 0, COUNTS)
    known = sdp.Constraints(totals={"region": counts.sum(axis=(1, 2))}, zeros=zeros)
    for mechanism in ("adaptive", "laplace"):
        release = sdp.release(counts, epsilon="0.5", domain=TABLE, constraints=known, mechanism=mechanism)
        for query, truth in (({"region": "b"}, counts[1].sum()), ({}, counts.sum()), ((0, 0, 0), 0)):
            found = release.interval(query, kind="guaranteed")
            assert (found.low, found.high) == pytest.approx((truth, truth))
        unknown = release.interval({"sex": "F"}, kind="guaranteed")
        assert unknown.low < unknown.high


def test_a_group_bounds_its_cells_from_both_sides() -> None:
    law = layers(NARROW)
    values = np.array([100, 7])
    measured = measured_sums(GroupSums(12, [[0, 8]]), values, law, np.zeros(12))
    assert measured is not None
    reach = NARROW.quantile(0.975)
    assert measured.bounds(np.eye(12)[2]).interval(0.95) == (0.0, 100.0 + reach)
    assert measured.bounds(np.eye(12)[2] - np.eye(12)[9]).interval(0.95)[0] <= -7.0
    signed = measured_sums(GroupSums(12, [[0, 8]]), values, law, np.zeros(12), nonnegative=False)
    assert signed is not None
    assert signed.bounds(np.eye(12)[2]).interval(0.95) == (-np.inf, np.inf)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(sdp.InvalidInput, match=r"kind is 'sure'.* choose one of expected, guaranteed, likely"):
        released("adaptive").interval(0, kind="sure")


def test_a_file_without_its_synopsis_cannot_guarantee(tmp_path: Path) -> None:
    release = released("adaptive")
    kept = sdp.Release(
        release.values,
        release.guarantee,
        release.mechanism,
        release.noise,
        release.recovery,
        domain=TABLE,
        uncertainty=release.uncertainty,
        nonnegative=True,
    )
    opened = sdp.open_release(kept.save(tmp_path / "cells.parquet"))
    assert opened.interval((0, 0, 0)).high > 0
    with pytest.raises(sdp.InvalidInput, match="kind is 'guaranteed'"):
        opened.interval((0, 0, 0), kind="guaranteed")


@pytest.mark.parametrize(("failing", "worst"), [(0.05, 0.112), (0.01, 0.026)])
def test_the_worst_that_decisions_can_do(failing: float, worst: float) -> None:
    """The integral of theorem 3 in guaranteed.md, with the weight that is worst for every noise of the first layer."""
    end = norm.isf(failing / 2)
    noise, weights = np.linspace(0, end, 4001), np.linspace(0, 1, 400)[:, None]
    left = np.sqrt(np.maximum(1 - weights**2, 1e-300))
    fails = norm.sf((end - weights * noise) / left) + norm.sf((end + weights * noise) / left)
    found = 2 * norm.sf(end) + 2 * np.trapezoid(fails.max(axis=0) * norm.pdf(noise), noise)
    assert found == pytest.approx(worst, abs=0.0006)
    assert found < failing * (1 + np.log(1 / failing))
