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


def courses(shape: tuple[int, ...], workload: str, budget: sdp.Budget) -> list[sdp.Synopsis]:
    """A synopsis for everything that the looks may have seen."""
    found = []
    for rough, out, groups in COURSES:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(adaptive, "rough_share", lambda *_, seen=rough: seen)
            patch.setattr(adaptive, "standing_out", lambda *_, seen=out: seen)
            patch.setattr(adaptive, "flat_groups", lambda *_, seen=groups: np.array(GROUPS[seen], np.int64))
            found.append(Adaptive(workload).measure(np.ones(shape, np.int64), epsilon=budget))
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
