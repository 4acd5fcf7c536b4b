"""Every course that events can take in Adaptive, whatever the looks see: the shares add up to the budget, exactly."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.arrays import Integers
from sparsedp.mechanisms import adaptive
from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.mechanisms.adaptive_layers import GAUSSIAN, LAPLACE, regular_layers
from sparsedp.mechanisms.adaptive_shares import ROWS, TABLES, shares_for
from sparsedp.sensing.group_sums import GroupSums

N = 1024
GROUPS = {
    "one": [0],
    "some": [0, 512, 768, 776, 780, 784, 800],
    "many": list(range(0, N, 16)),
    "small": list(range(0, N, 4)),
}
COURSES = list(product((-50.0, 1e6), (-50.0, 1e6), GROUPS))


def courses(
    shape: tuple[int, ...], workload: str, budget: sdp.Budget, counts: Integers | None = None
) -> list[sdp.Synopsis]:
    """A synopsis for everything that the looks may have seen."""
    found = []
    table = np.ones(shape, np.int64) if counts is None else counts.reshape(shape)
    for out, many, groups in COURSES:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(adaptive, "standing_out", lambda *_, seen=out: seen)
            patch.setattr(adaptive, "records", lambda *_, seen=many: seen)
            patch.setattr(adaptive, "flat_groups", lambda *_, seen=groups: np.array(GROUPS[seen], np.int64))
            found.append(Adaptive(workload).measure(table, epsilon=budget))
    return found


@pytest.mark.parametrize("shape", [(N,), (32, 32)])
@pytest.mark.parametrize("workload", ROWS)
@pytest.mark.parametrize("budget", [sdp.Budget(epsilon="3/7"), sdp.Budget(rho="2/9")], ids=str)
def test_every_course_costs_the_budget(shape: tuple[int, ...], workload: str, budget: sdp.Budget) -> None:
    kinds = set()
    for synopsis in courses(shape, workload, budget):
        expenses = synopsis.guarantee.expenses
        paid = [Fraction(each.budget.rho or each.budget.epsilon or 0) for each in expenses]
        assert min(paid) > 0
        assert sum(paid) == (budget.rho or budget.epsilon)
        assert isinstance(synopsis.sensing, GroupSums)
        kinds.add((tuple(each.purpose for each in expenses), isinstance(synopsis.sensing.layers[0], int)))
    least = 1 if workload == "cells" else 3 if len(shape) == 1 else 4
    assert len(kinds) >= least, "courses were left out"


def test_small_groups_are_measured_cell_by_cell() -> None:
    found = dict(zip(COURSES, courses((N,), "any", sdp.Budget(epsilon=1)), strict=True))
    sensing = found[-50.0, -50.0, "some"].sensing
    assert isinstance(sensing, GroupSums)
    assert sensing.starts[0].tolist() == [0, 512, 768, 776, 777, 778, 779, 780, 781, 782, 783, 784, 800]


@pytest.mark.parametrize("workload", ROWS)
def test_nothing_but_the_looks_decides_what_is_measured(workload: str) -> None:
    """The same looks, very different counts: the same groups, the same noise, the same expenses."""
    budget = sdp.Budget(epsilon="3/7")
    rows = [np.zeros(N, np.int64), np.full(N, 2**40), 7 * np.arange(N) ** 3 + 1]
    plain, *others = (courses((N,), workload, budget, row) for row in rows)
    for other in others:
        for one, two in zip(plain, other, strict=True):
            assert one.sensing == two.sensing
            assert one.law == two.law
            assert one.guarantee == two.guarantee


def test_the_look_is_measured_in_units_that_are_public(monkeypatch: pytest.MonkeyPatch) -> None:
    units = []

    def seen(row: Integers, unit: float, add: object) -> float:
        units.append(unit)
        return 0.0

    monkeypatch.setattr(adaptive, "standing_out", seen)
    for counts in (np.zeros(N, np.int64), np.full(N, 2**40), 7 * np.arange(N) ** 3 + 1):
        Adaptive().measure(counts, epsilon=1)
    assert len(set(units)) == 1
    assert len(units) == 3


def test_groups_are_not_looked_for_where_cells_are_known_to_be_zero() -> None:
    """A group's sum would be spread over them, and lost."""
    counts = 10 * (np.arange(N) % 2 == 0)
    known = sdp.Constraints(zeros=counts == 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adaptive, "standing_out", lambda *_: 0.0)
        purposes = [
            {each.purpose for each in Adaptive().measure(counts, epsilon=1, constraints=each).guarantee.expenses}
            for each in (None, known)
        ]
    assert purposes == [{"see whether cells stand out", "find where the cells are flat", "measure"}, {"measure"}]


@pytest.mark.parametrize("workload", ["any", "ranges"])
@pytest.mark.parametrize("budget", [sdp.Budget(epsilon=1), sdp.Budget(rho=1)], ids=str)
def test_regular_layers_are_those_of_the_kind_of_noise(workload: str, budget: sdp.Budget) -> None:
    found = dict(zip(COURSES, courses((N,), workload, budget), strict=True))[1e6, -50.0, "one"].sensing
    assert isinstance(found, GroupSums)
    by_power = [[size for size, _ in regular_layers(N, ROWS[workload], power)] for power in (LAPLACE, GAUSSIAN)]
    assert by_power[0] != by_power[1]
    assert found.layers == by_power[budget.rho is not None]


@pytest.mark.parametrize("workload", ["any", "ranges"])
@pytest.mark.parametrize("shape", [(N,), (8 * N,), (64, 64)], ids=str)
def test_the_threshold_is_the_stated_one(
    workload: str, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    n = int(np.prod(shape))
    threshold = shares_for(workload, shape, (True,) * len(shape)).stands_out_from(n)
    monkeypatch.setattr(adaptive, "records", lambda *_: 0.0)
    for seen, grouped in ((np.nextafter(threshold, 0), True), (threshold, False)):
        monkeypatch.setattr(adaptive, "standing_out", lambda *_, seen=seen: seen)
        sensing = Adaptive(workload).measure(np.zeros(shape, np.int64), epsilon=1).sensing
        assert isinstance(sensing, GroupSums)
        assert isinstance(sensing.layers[0], list) == grouped


@pytest.mark.parametrize("workload", ["any", "ranges"])
def test_tables_with_plenty_of_records_are_measured_in_regular_layers(
    workload: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = TABLES[workload]
    threshold = shares.are_plenty_from(64 * 64)
    monkeypatch.setattr(adaptive, "standing_out", lambda *_: 0.0)
    for seen, grouped in ((np.nextafter(threshold, 0), True), (threshold, False)):
        monkeypatch.setattr(adaptive, "records", lambda *_, seen=seen: seen)
        synopsis = Adaptive(workload).measure(np.zeros((64, 64), np.int64), epsilon=1)
        assert isinstance(synopsis.sensing, GroupSums)
        assert isinstance(synopsis.sensing.layers[0], list) == grouped
        first = next(each for each in synopsis.guarantee.expenses if each.purpose == "measure").budget.epsilon
        assert grouped or first == (1 - 2 * shares.look) * shares.calm


def test_rows_are_not_counted() -> None:
    def refused(*_: object) -> float:
        raise AssertionError("a look that is not needed")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adaptive, "records", refused)
        for workload in ROWS:
            Adaptive(workload).measure(np.zeros(N, np.int64), epsilon=1)
