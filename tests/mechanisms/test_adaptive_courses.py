"""Every course that events can take in Adaptive, whatever the looks see: the shares add up to the budget, exactly."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.arrays import Integers
from sparsedp.mechanisms import adaptive
from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.mechanisms.adaptive_shares import ROWS
from sparsedp.sensing.group_sums import GroupSums

N = 1024
GROUPS = {
    "one": [0],
    "some": [0, 512, 768, 776, 780, 784, 800],
    "many": list(range(0, N, 16)),
    "small": list(range(0, N, 4)),
}
COURSES = list(product((0.0, 0.12, 0.3, 0.9), (-50.0, 1e6), GROUPS))


def courses(
    shape: tuple[int, ...], workload: str, budget: sdp.Budget, counts: Integers | None = None
) -> list[sdp.Synopsis]:
    """A synopsis for everything that the looks may have seen."""
    found = []
    table = np.ones(shape, np.int64) if counts is None else counts.reshape(shape)
    for rough, out, groups in COURSES:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(adaptive, "rough_share", lambda *_, seen=rough: seen)
            patch.setattr(adaptive, "standing_out", lambda *_, seen=out: seen)
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
    assert len(kinds) >= {"any": 4, "ranges": 2, "cells": 1}[workload], "courses were left out"


def test_what_is_not_looked_at_is_not_paid_for() -> None:
    """Cells that stand out are not looked for where nearly all is rough."""
    for (rough, _, _), synopsis in zip(COURSES, courses((N,), "any", sdp.Budget(epsilon=1)), strict=True):
        purposes = [each.purpose for each in synopsis.guarantee.expenses]
        assert ("see whether cells stand out" in purposes) == (rough < 0.5)


def test_small_groups_are_measured_cell_by_cell_where_nothing_stands_out() -> None:
    starts: Integers | None = None
    for (rough, out, groups), synopsis in zip(COURSES, courses((N,), "any", sdp.Budget(epsilon=1)), strict=True):
        if (rough, out, groups) == (0.0, -50.0, "some"):
            assert isinstance(synopsis.sensing, GroupSums)
            starts = synopsis.sensing.starts[0]
    assert starts is not None
    assert starts.tolist() == [0, 512, 768, 776, 777, 778, 779, 780, 781, 782, 783, 784, 800]


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


@pytest.mark.parametrize("look", ["rough_share", "standing_out"])
def test_a_look_is_measured_in_units_that_are_public(look: str, monkeypatch: pytest.MonkeyPatch) -> None:
    units = []

    def seen(row: Integers, unit: float, add: object) -> float:
        units.append(unit)
        return 0.0

    monkeypatch.setattr(adaptive, "rough_share", seen if look == "rough_share" else lambda *_: 0.0)
    monkeypatch.setattr(adaptive, "standing_out", seen if look == "standing_out" else lambda *_: 1e6)
    for counts in (np.zeros(N, np.int64), np.full(N, 2**40), 7 * np.arange(N) ** 3 + 1):
        Adaptive().measure(counts, epsilon=1)
    assert len(set(units)) == 1
    assert len(units) == 3


def test_groups_alone_are_not_measured_where_cells_are_known_to_be_zero() -> None:
    """A group's sum would be spread over them, and lost."""
    counts = 10 * (np.arange(N) % 2 == 0)
    known = sdp.Constraints(zeros=counts == 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adaptive, "rough_share", lambda *_: 0.0)
        patch.setattr(adaptive, "standing_out", lambda *_: 0.0)
        purposes = [
            [each.purpose for each in Adaptive().measure(counts, epsilon=1, constraints=each).guarantee.expenses]
            for each in (None, known)
        ]
    assert "see whether cells stand out" in purposes[0]
    assert "see whether cells stand out" not in purposes[1]
