"""Adaptive by marginals: what is measured follows from the noisy total, and every branch costs the budget."""

from fractions import Fraction
from itertools import product
from math import sqrt
from typing import Any

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.arrays import Ints
from sparsedp.errors import InvalidInput
from sparsedp.laws import DiscreteLaplaceLaw, LayersLaw
from sparsedp.mechanisms import mechanism_named, name_and_settings
from sparsedp.mechanisms._marginal_layers import TOTAL, as_asked, by_order, whole_table
from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.noise.source import SeededSource
from sparsedp.sensing.group_sums import GroupSums
from sparsedp.sensing.marginals import ALL, CELLS, Marginals

SHAPES = [(4, 3, 5), (12, 8, 6, 5, 4), (2, 2, 2, 2, 2, 2, 2), (3, 1, 4), (365, 12, 6)]
TOTALS = [-1e9, 0.0, 100.0, 1e4, 1e6, 1e12]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("gaussian", "with_cells"), list(product([False, True], repeat=2)))
def test_shares_add_up_to_the_budget_whatever_the_total(
    shape: tuple[int, ...], gaussian: bool, with_cells: bool
) -> None:
    found = set()
    for total in TOTALS:
        shares = by_order(shape, total, lambda share: 1 / float(share), gaussian=gaussian, with_cells=with_cells)
        assert sum(share for _, share in shares) == 1 - TOTAL
        assert min(share for _, share in shares) > 0
        layers = [layer for layer, _ in shares]
        assert len(set(layers)) == len(layers)
        assert whole_table(shape) not in layers
        found.add(tuple(layers))
    assert len(found) > 1 or not with_cells or shape == (3, 1, 4), "the total decides"


def test_asked_marginals_add_up_to_the_budget() -> None:
    for asked in ([[0]], [[0, 1], [2]], [[0, 1, 2], [1, 2], [1]], [[0, 1], [1, 0]]):
        shares = as_asked((4, 3, 5), asked)
        assert sum(share for _, share in shares) == 1 - TOTAL
        assert len({layer for layer, _ in shares}) == len(shares)


def table(total: int = 3000) -> Ints:
    return np.random.default_rng(4).multinomial(total, np.full(60, 1 / 60)).reshape(4, 3, 5)


DOMAIN = sdp.Domain.parse(["a:p,q,r,s", "b:x,y,z", "c:1..5"])


@pytest.mark.parametrize("workload", ["any", "marginals", [("a", "b"), ("c",)]], ids=str)
@pytest.mark.parametrize("budget", [sdp.Budget(epsilon="3/7"), sdp.Budget(rho="2/9")], ids=str)
def test_the_synopsis_states_what_was_paid(workload: Any, budget: sdp.Budget) -> None:
    synopsis = Adaptive(workload).measure(table(), domain=DOMAIN, epsilon=budget)
    assert isinstance(synopsis.sensing, Marginals)
    paid = [Fraction(each.budget.rho or each.budget.epsilon or 0) for each in synopsis.guarantee.expenses]
    assert sum(paid) == (budget.rho or budget.epsilon)
    assert len(paid) == len(synopsis.sensing.layers)
    assert isinstance(synopsis.law, LayersLaw)
    for share, law in zip(paid, synopsis.law.layers, strict=True):
        if isinstance(law, DiscreteLaplaceLaw):
            assert law.scale == 1 / share
        else:
            assert law.variance_parameter == 1 / (2 * share)


def test_nothing_but_the_noisy_total_decides_what_is_measured() -> None:
    """Tables that differ in every cell but not in their total, with the same noise: the same layers."""
    one, other = np.zeros((8, 6, 10), np.int64), np.full((8, 6, 10), 10, np.int64)
    one[0, 0, 0] = other.sum()
    found = [Adaptive().measure(each, epsilon=1, source=SeededSource(3)).sensing for each in (one, other, 0 * one)]
    assert found[0] == found[1]
    assert [(CELLS, CELLS, CELLS) in each.layers for each in found if isinstance(each, Marginals)] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize("epsilon", ["0.5", "4"])
def test_the_noise_has_the_stated_scale(epsilon: str) -> None:
    """Accepts the stated scale of every layer together, and rejects it a tenth off either way."""
    counts, squares, many = table(), 0.0, 0
    source = SeededSource(9)
    for _ in range(150):
        synopsis = Adaptive().measure(counts, epsilon=epsilon, source=source)
        assert isinstance(synopsis.sensing, Marginals)
        assert isinstance(synopsis.law, LayersLaw)
        residual = synopsis.values - synopsis.sensing.apply(counts.reshape(-1))
        for part, law in zip(synopsis.sensing.split(residual), synopsis.law.layers, strict=True):
            squares += float((part**2).sum()) / law.variance
            many += part.size
    off = sqrt(5 / many)  # of a mean of squares of Laplace noise
    assert abs(squares / many - 1) < 4 * off < 0.1


def test_neighbours_move_each_layer_by_no_more_than_they_differ() -> None:
    one, source = table(), SeededSource(3)
    other = one.copy()
    other[1, 2, 3] += 1
    first = Adaptive("marginals").measure(one, epsilon=2, source=source)
    sensing = first.sensing
    assert isinstance(sensing, Marginals)
    moved = sensing.split(sensing.apply(other.reshape(-1)) - sensing.apply(one.reshape(-1)))
    assert [int(np.abs(part).sum()) for part in moved] == [1] * len(sensing.layers)


def test_what_is_not_for_marginals_is_measured_as_before() -> None:
    zeros = sdp.Constraints(zeros=table() < 0)
    for synopsis in (
        Adaptive("cells").measure(table(), epsilon=1),
        Adaptive("ranges").measure(table(), epsilon=1),
        Adaptive().measure(table(), epsilon=1, negative=True),
        Adaptive().measure(table(), epsilon=1, constraints=zeros),
        Adaptive().measure(table().reshape(12, 5), epsilon=1),
        Adaptive("marginals").measure(table().reshape(-1), epsilon=1),
    ):
        assert isinstance(synopsis.sensing, GroupSums)
    assert isinstance(Adaptive("marginals").measure(table().reshape(12, 5), epsilon=1).sensing, Marginals)


def test_a_list_measures_what_will_be_asked() -> None:
    synopsis = Adaptive([("a", "b")]).measure(table(), domain=DOMAIN, epsilon=1)
    assert isinstance(synopsis.sensing, Marginals)
    assert set(synopsis.sensing.layers) == {
        (ALL, ALL, ALL),
        (CELLS, CELLS, ALL),
        (CELLS, ALL, ALL),
        (ALL, CELLS, ALL),
    }


def test_marginals_may_be_named_in_a_text() -> None:
    by_text = Adaptive("a * b,c")
    assert by_text == Adaptive([("a", "b"), ("c",)]) == Adaptive((["a", "b"], "c"))
    assert by_text.workload_text == "a*b,c"
    assert mechanism_named("adaptive:a*b,c") == by_text
    assert name_and_settings(by_text) == "adaptive:a*b,c"
    assert eval(repr(by_text)) == by_text  # noqa: S307


@pytest.mark.parametrize(
    "workload", ["both", "a*,b", ",a", 3, None, [], [()], [("a", 3)], [("a", "a")], {"a": "b"}], ids=str
)
def test_what_is_no_workload_is_refused(workload: Any) -> None:
    with pytest.raises(InvalidInput, match="workload"):
        Adaptive(workload)


def test_an_axis_that_there_is_none_of_is_refused_before_the_debit() -> None:
    ledger = sdp.Ledger(epsilon=1)
    with pytest.raises(InvalidInput, match="workload"):
        Adaptive([("a", "age")]).measure(table(), domain=DOMAIN, epsilon=1, ledger=ledger)
    with pytest.raises(InvalidInput, match="workload"):
        Adaptive([("a",)]).measure(table(), epsilon=1, ledger=ledger)
    assert not ledger.entries


def test_a_file_keeps_it(tmp_path: Any) -> None:
    release = sdp.release(table(), domain=DOMAIN, epsilon=1, mechanism=Adaptive("marginals"))
    release.save(tmp_path / "x.parquet")
    again = sdp.open_release(tmp_path / "x.parquet")
    assert (again.values == release.values).all()
    synopsis = Adaptive([("a", "b")]).measure(table(), domain=DOMAIN, epsilon=1)
    synopsis.save(tmp_path / "x.synopsis")
    np.testing.assert_array_equal(
        sdp.open_synopsis(tmp_path / "x.synopsis").recover().values, synopsis.recover().values
    )
