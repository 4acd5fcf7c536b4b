"""Adaptive on tables with a calendar: by weekdays and months where these explain what cells cannot show."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsedp as sdp
from sparsedp.arrays import Ints
from sparsedp.estimation.log_linear import fit_log_linear
from sparsedp.laws import DiscreteLaplaceLaw, LayersLaw
from sparsedp.mechanisms import _marginals
from sparsedp.mechanisms._marginal_layers import axes_alone, coarsenings_of, is_rhythm, unexplained
from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.noise.source import SeededSource
from sparsedp.sensing.group_sums import GroupSums
from sparsedp.sensing.marginals import ALL, CELLS, Marginals
from sparsedp.synopsis import Synopsis

YEAR = sdp.Domain.parse(["day:2024-01-01..2024-12-29/1d"])
WARDS = sdp.Domain.parse(["day:2024-01-01..2024-12-29/1d", "ward:a,b,c"])
DAYS = np.arange(364)
BUDGETS = [sdp.Budget(epsilon="1/10"), sdp.Budget(rho="1/200"), sdp.Budget(epsilon="1/5", delta="1/1000000")]


def weekly(many: float) -> Ints:
    """Days with so many records in the mean, a fifth of them at weekends."""
    return np.random.default_rng(1).poisson(many * np.where(DAYS % 7 < 5, 1.3, 0.25)).astype(np.int64)


def bursts() -> Ints:
    """As many records, but nearly all of them on twenty days of no week or month."""
    chance = np.random.default_rng(2)
    found = chance.poisson(np.full(364, 1.0)).astype(np.int64)
    found[chance.permutation(364)[:20]] += 300
    return found


def paid(synopsis: Synopsis, budget: sdp.Budget) -> Fraction:
    """Which part of the budget all expenses together were."""
    spent = [each.budget.rho or each.budget.epsilon or Fraction(0) for each in synopsis.guarantee.expenses]
    return sum(spent, Fraction(0)) / (budget.rho_spent or budget.epsilon or 1)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("domain", [YEAR, WARDS], ids=["days", "days by wards"])
def test_a_week_that_explains_the_days_is_measured(domain: sdp.Domain, budget: sdp.Budget) -> None:
    counts = np.stack([weekly(30)] * (domain.size // 364), axis=1).reshape(domain.shape)
    synopsis = Adaptive().measure(counts, domain=domain, epsilon=budget, source=SeededSource(1))
    assert isinstance(synopsis.sensing, Marginals)
    assert sum(map(is_rhythm, synopsis.sensing.layers)) >= 2, "alone, and beside the other axis or a second time"
    assert paid(synopsis, budget) == 1


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("domain", [YEAR, WARDS], ids=["days", "days by wards"])
def test_days_that_stand_out_are_measured_as_without_a_calendar(domain: sdp.Domain, budget: sdp.Budget) -> None:
    counts = np.stack([bursts()] * (domain.size // 364), axis=1).reshape(domain.shape)
    synopsis = Adaptive().measure(counts, domain=domain, epsilon=budget, source=SeededSource(1))
    assert isinstance(synopsis.sensing, GroupSums)
    assert isinstance(synopsis.law, LayersLaw)
    measured = [each for each in synopsis.guarantee.expenses if each.purpose == "measure"]
    assert len(measured) > len(synopsis.law.layers), "what was looked at is paid for, though it is not published"
    assert paid(synopsis, budget) == 1


@pytest.mark.parametrize("seen", [0.0, 1e9])
@pytest.mark.parametrize("off", [None, 0.0, 1e18])
def test_every_branch_costs_the_budget(seen: float, off: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_marginals.MarginalTranscript, "rhythm", lambda _: seen)
    if off is not None:
        monkeypatch.setattr(_marginals, "unexplained", lambda *_: off)
    else:
        monkeypatch.setattr(_marginals, "MOST_SCORE_NOISE", 0.0)
    for budget in BUDGETS:
        synopsis = Adaptive().measure(weekly(30), domain=YEAR, epsilon=budget)
        assert paid(synopsis, budget) == 1
        assert isinstance(synopsis.sensing, Marginals) == (seen > 0.0 and off != 1e18)


@pytest.mark.parametrize("workload", ["any", "marginals"])
@pytest.mark.parametrize(("many", "off"), [(30, 0.0), (30, 1e18), (30, None), (1, None), (10**6, None)])
def test_of_three_axes_what_was_looked_at_is_published_too(
    workload: str, many: int, off: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every branch costs the budget, and nothing of it is thrown away."""
    domain = sdp.Domain.parse(["day:2024-01-01..2024-12-29/1d", "ward:a,b", "sex:F,M"])
    counts = np.broadcast_to(weekly(many)[:, None, None], domain.shape).copy()
    if off is not None:
        monkeypatch.setattr(_marginals, "unexplained", lambda *_: off)
    for budget in BUDGETS:
        synopsis = Adaptive(workload).measure(counts, domain=domain, epsilon=budget)
        assert paid(synopsis, budget) == 1
        assert isinstance(synopsis.sensing, Marginals)
        assert isinstance(synopsis.law, LayersLaw)
        measured = [each for each in synopsis.guarantee.expenses if each.purpose == "measure"]
        assert len(measured) == len(synopsis.law.layers)
        beside_all = any(is_rhythm(layer) and ALL not in layer for layer in synopsis.sensing.layers)
        if off is not None:
            assert beside_all == (off == 0.0)


def test_days_that_are_seen_are_measured_one_by_one() -> None:
    synopsis = Adaptive().measure(weekly(3000), domain=YEAR, epsilon=1, source=SeededSource(1))
    assert isinstance(synopsis.sensing, GroupSums)
    assert paid(synopsis, sdp.Budget(epsilon=1)) == 1


def test_weekdays_come_out_nearer_and_intervals_hold_them() -> None:
    counts = np.stack([weekly(many) for many in (60, 40, 20)], axis=1)
    true = np.stack([counts[day::7].sum(axis=0) for day in range(7)])
    source, off, plain, held = SeededSource(5), 0.0, 0.0, []
    for _ in range(12):
        release = Adaptive().release(counts, domain=WARDS, epsilon="0.05", source=source)
        found = release.marginal("day.weekday", "ward")
        away = np.abs(found.values.reshape(7, 3) - true)
        off += float(away.sum())
        held.append((away <= 1.96 * np.asarray(found.stderr).reshape(7, 3)).mean())
        cells = Adaptive().release(counts, epsilon="0.05", source=source).values.reshape(364, 3)
        plain += float(np.abs(np.stack([cells[day::7].sum(axis=0) for day in range(7)]) - true).sum())
    assert off < plain / 2
    assert np.mean(held) > 0.9


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=40), st.floats(0, 1e9), st.floats(0, 1e9))
def test_what_is_unexplained_is_a_number_of_records(rates: list[float], departure: float, noise: float) -> None:
    found = unexplained(departure, np.array(rates), noise)
    assert 0.0 <= found <= departure


def test_scatter_as_of_independent_records_is_explained() -> None:
    chance, rates = np.random.default_rng(4), np.array([0.0, 1e-12, 0.2, 0.5, 1.0, 3.7, 40.0, 2500.0] * 500)
    counts = chance.poisson(rates)
    departure = float(np.abs(counts - np.rint(rates)).sum())
    assert unexplained(departure, rates, 0.0) < 0.05 * departure
    assert unexplained(departure + 5000.0, rates, 0.0) == pytest.approx(5000.0, rel=0.2)


def test_axes_alone_are_in_stretches_rhythms_and_cells() -> None:
    coarsenings = coarsenings_of(WARDS, WARDS.shape)
    layers = axes_alone(WARDS.shape, coarsenings, 1e5, 500.0)
    assert (ALL, CELLS) in layers
    assert all(sum(one != ALL for one in layer) == 1 for layer in layers)
    assert {is_rhythm(layer) for layer in layers} == {True, False}


def test_a_layer_that_is_measured_twice_counts_with_both() -> None:
    sensing = Marginals((6,), [(CELLS,), (CELLS,)], (True,))
    law = LayersLaw((DiscreteLaplaceLaw(Fraction(1)), DiscreteLaplaceLaw(Fraction(2))))
    one, other = np.full(6, 1000), np.full(6, 1060)
    model = fit_log_linear(sensing, np.concatenate([one, other]), law)
    weight = law.layers[1].variance / (law.layers[0].variance + law.layers[1].variance)
    assert model.observed[0] == pytest.approx(weight * 1000 + (1 - weight) * 1060)
    assert len(model.lattice.layers) == 2, "the cells, once, and their total"
