"""Adaptive by marginals: what is measured follows from the noisy total, and every branch costs the budget."""

from fractions import Fraction
from itertools import combinations, product
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import sparsedp as sdp
from sparsedp.arrays import Ints
from sparsedp.errors import InvalidInput
from sparsedp.laws import DiscreteLaplaceLaw, LayersLaw
from sparsedp.mechanisms import mechanism_named, name_and_settings
from sparsedp.mechanisms._marginal_layers import (
    CELLS_OF,
    TOTAL,
    as_asked,
    departures,
    divided,
    layers_of_order,
    marginal,
    planned,
    whole_table,
    worth_measuring,
)
from sparsedp.mechanisms._marginals import MarginalTranscript
from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.mechanisms.terms import Terms, checked_terms
from sparsedp.noise.source import SeededSource
from sparsedp.sensing.group_sums import GroupSums
from sparsedp.sensing.marginals import ALL, CELLS, Marginals

SHAPES = [(4, 3, 5), (12, 8, 6, 5, 4), (2, 2, 2, 2, 2, 2, 2), (3, 1, 4), (365, 12, 6), (9,), (30, 40)]
TOTALS = [-1e9, 0.0, 100.0, 1e4, 1e6, 1e12]


def deviation(share: Fraction) -> float:
    return 1 / float(share)


def gaussian_deviation(share: Fraction) -> float:
    return 1 / sqrt(share)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("gaussian", "with_cells"), list(product([False, True], repeat=2)))
def test_shares_add_up_to_the_budget_whatever_the_total(
    shape: tuple[int, ...], gaussian: bool, with_cells: bool
) -> None:
    found = set()
    for total in TOTALS:
        of_share = gaussian_deviation if gaussian else deviation
        shares = planned(shape, total, of_share, with_cells=with_cells, gaussian=gaussian)
        assert sum(shares.values()) == 1 - TOTAL
        assert min(shares.values()) > 0
        layers = [layer for order in shares for layer in layers_of_order(shape, order)]
        assert len(shape) == 1 or len(set(layers)) == len(layers)
        assert whole_table(shape) not in layers
        for order, share in shares.items():
            of_order = divided(shape, layers_of_order(shape, order), share, gaussian=gaussian)
            assert sum(each for _, each in of_order) == share
        found.add(tuple(sorted(shares.items())))
    assert len(found) > 1 or sum(side > 1 for side in shape) < 3, "the total decides"


def test_asked_marginals_add_up_to_the_budget() -> None:
    for asked in ([[0]], [[0, 1], [2]], [[0, 1, 2], [1, 2], [1]], [[0, 1], [1, 0]]):
        shares = as_asked((4, 3, 5), [marginal((4, 3, 5), axes) for axes in asked], 1 - TOTAL, gaussian=False)
        assert sum(share for _, share in shares) == 1 - TOTAL
        assert len({layer for layer, _ in shares}) == len(shares)


def test_scores_choose_layers_and_spend_what_there_is() -> None:
    shape, share = (12, 8, 6, 5), Fraction(1, 3)
    layers = layers_of_order(shape, 2)
    for scores in ([1e6, 0, 0, 0, 0, 0], [0] * 6, [-5] * 6, [1e6] * 6, [1e300, 0, 3, 2, 1, 0]):
        shares = worth_measuring(shape, layers, np.array(scores, float), share, deviation, gaussian=False)
        assert sum(each for _, each in shares) == share
        assert {layer for layer, _ in shares} <= set(layers)
    alone = worth_measuring(shape, layers, np.array([1e6, 0, 0, 0, 0, 0.0]), share, deviation, gaussian=False)
    assert alone == [(layers[0], share)]


@given(
    hnp.arrays(np.int64, (3, 4, 2), elements=st.integers(-(2**63), 2**63 - 1)),
    hnp.arrays(np.int64, (3, 4, 2), elements=st.integers(-3, 3)),
    st.integers(0, 2**20),
)
def test_a_score_moves_by_no_more_than_the_table_does(one: Ints, moved: Ints, seed: int) -> None:
    """Whatever wraps: sums beyond 64 bits, and differences from the expected ones."""
    expected = np.random.default_rng(seed).exponential(10.0 ** (seed % 19), (3, 4, 2))
    layers = [layer for order in (1, 2, CELLS_OF) for layer in layers_of_order((3, 4, 2), order)]
    with np.errstate(over="ignore"):
        other = one + moved
    first, second = (departures((3, 4, 2), layers, each.reshape(-1), expected) for each in (one, other))
    assert np.abs(first - second).max() <= np.abs(moved).sum()


def test_a_score_is_the_distance_of_a_layer_from_what_is_expected() -> None:
    counts, expected = table(), np.full((4, 3, 5), 49.6)
    (found,) = departures((4, 3, 5), [(CELLS, ALL, CELLS)], counts.reshape(-1), expected).tolist()
    assert found == np.abs(counts.sum(axis=1) - 149).sum()


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
    measured = [each.purpose == "measure" for each in synopsis.guarantee.expenses]
    paid = [each for each, of_layer in zip(paid, measured, strict=True) if of_layer]
    assert len(paid) == len(synopsis.sensing.layers)
    assert isinstance(synopsis.law, LayersLaw)
    for share, law in zip(paid, synopsis.law.layers, strict=True):
        if isinstance(law, DiscreteLaplaceLaw):
            assert law.scale == 1 / share
        else:
            assert law.variance_parameter == 1 / (2 * share)


def test_nothing_but_noisy_numbers_decides_what_is_measured() -> None:
    """Tables that differ, and stand-ins that add nothing to the same noisy answers: the same layers."""
    one, other = np.zeros((8, 6, 10), np.int64), np.full((8, 6, 10), 10, np.int64)
    one[0, 0, 0] = other.sum()
    found = [Adaptive().measure(each, epsilon="0.001", source=SeededSource(3)).sensing for each in (one, other)]
    assert found[0] == found[1], "where nothing is seen, no table differs from another"


@pytest.mark.parametrize("budget", [sdp.Budget(epsilon="20"), sdp.Budget(rho="50")], ids=str)
def test_scores_are_paid_for(budget: sdp.Budget) -> None:
    """Each moves by the neighbours' distance, so all of them together by as many times that."""
    counts = table(60_000)
    large = np.random.default_rng(4).multinomial(10**5, np.full(2400, 1 / 2400)).reshape(10, 8, 6, 5)
    synopsis = Adaptive("marginals").measure(large, rho="0.5", source=SeededSource(1))
    assert [each for each in synopsis.guarantee.expenses if "model" in each.purpose]
    transcript = MarginalTranscript(counts.reshape(-1), (4, 3, 5), (True,) * 3, ((), (), ()), _terms(budget, 3))
    transcript.measure([(whole_table((4, 3, 5)), Fraction(1, 2))])
    layers = layers_of_order((4, 3, 5), 2)
    expected = np.full((4, 3, 5), counts.sum() / 60)
    exact = departures((4, 3, 5), layers, counts.reshape(-1), expected)
    share, drawn = Fraction(1, 10), []
    for _ in range(300):
        drawn.append(transcript.scores(layers, share, expected) - exact)
    # Three scores, three records a person.
    variance = 2.0 * (3 * 3 / (20 * 0.1)) ** 2 if budget.rho is None else 3 * 3**2 / (2 * 50 * 0.1)
    found = float(np.var(np.array(drawn), axis=0).mean())
    assert 0.8 < found / variance < 1.3, "the stated scale, and not one a third off"


def test_scores_cost_no_more_than_it_takes_to_see_them() -> None:
    """The more records, the less; and nothing where their noise would hide them."""
    counts, layers, left = table(60_000), layers_of_order((4, 3, 5), 2), Fraction(1, 2)
    spent = []
    for total in (10.0, 1e4, 1e9):
        terms = _terms(sdp.Budget(epsilon="1/2"), 1)
        transcript = MarginalTranscript(counts.reshape(-1), (4, 3, 5), (True,) * 3, ((), (), ()), terms)
        transcript.measure([(whole_table((4, 3, 5)), Fraction(1, 4))])
        found = transcript.scores_if_seen(layers, total, left)
        spent.append(transcript.spent - Fraction(1, 4))
        assert (found is None) == (spent[-1] == 0)
    assert spent == [0, left / 25, left / 1000]


def _terms(budget: sdp.Budget, contribution: int) -> Terms:
    return checked_terms(budget, None, None, contribution, "add_remove", None, "sparsedp", SeededSource(2))


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


CALENDAR = sdp.Domain.parse(["day:2024-01-01..2024-06-30/1d", "ward:a,b,c"])


@pytest.mark.parametrize("epsilon", ["0.02", "1"])
def test_a_table_of_days_is_measured_by_stretches_and_rhythms_where_days_are_not_seen(epsilon: str) -> None:
    counts = np.random.default_rng(2).poisson(20, (182, 3)).astype(np.int64)
    synopsis = Adaptive("marginals").measure(counts, domain=CALENDAR, epsilon=epsilon, source=SeededSource(4))
    paid = sum(Fraction(each.budget.epsilon or 0) for each in synopsis.guarantee.expenses)
    assert paid == Fraction(epsilon)
    sensing = synopsis.sensing
    assert isinstance(sensing, Marginals)
    if epsilon == "1":
        assert (CELLS, CELLS) in sensing.layers
        return
    groups = {len(set(layer[0])) for layer in sensing.layers if isinstance(layer[0], tuple)}
    assert groups == {6, 7}, "months and weekdays"
    release = synopsis.recover()
    assert release.marginal("day.weekday", "ward").values.shape == (7, 3)


def test_groups_of_axes_may_be_asked() -> None:
    counts = np.random.default_rng(2).poisson(20, (182, 3)).astype(np.int64)
    synopsis = Adaptive([("day.weekday", "ward"), ("day.month", "day.weekday")]).measure(
        counts, domain=CALENDAR, epsilon=1
    )
    assert isinstance(synopsis.sensing, Marginals)
    assert max(shape[0] for shape in synopsis.sensing.shapes) == 42
    with pytest.raises(InvalidInput, match=r"workload is .*day\.moon"):
        Adaptive([("day.moon",)]).measure(counts, domain=CALENDAR, epsilon=1)


GROUPED = ["county:north(a,b,c),south(d,e)", "one:0..0"]


@pytest.mark.parametrize("workload", ["marginals", [("one",)], [("county.group", "one")]], ids=str)
@pytest.mark.parametrize("many", [1, 10**6])
def test_a_single_axis_and_its_groups_are_measured_with_all_of_the_budget(workload: Any, many: int) -> None:
    """The only marginal of one axis is its cells, and that of an axis of one cell is the total."""
    counts = np.full((5, 1), many, np.int64)
    for budget in (sdp.Budget(epsilon="1/3"), sdp.Budget(rho="1/7")):
        synopsis = Adaptive(workload).measure(counts, domain=GROUPED, epsilon=budget)
        assert synopsis.guarantee.spent.amount == budget.amount
        assert synopsis.recover().total().estimate >= 0


def test_too_many_marginals_are_refused_before_the_debit() -> None:
    names, ledger = [f"a{number}" for number in range(20)], sdp.Ledger(epsilon=1)
    domain = sdp.Domain.parse([f"{name}:0,1" for name in names])
    with pytest.raises(InvalidInput, match=r"workload is 1,140 marginals, .* 1,160; give fewer: 999"):
        Adaptive(list(combinations(names, 3))).measure(np.zeros(domain.shape), domain=domain, epsilon=1, ledger=ledger)
    assert not ledger.entries


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
    odd = [Adaptive(one) for one in ([("a*b",)], [("a", "b,c")], [("any",)], [("a",)], "any")]
    assert len({each.chosen for each in (*odd, by_text)}) == 6, "or one order would be taken for another"
    assert [eval(repr(each)) for each in odd] == odd  # noqa: S307


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


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("sex**age", r"sex\*\*age, which has a gap; name the axes"),
        ("age*", "has a gap"),
        (",", "has a gap"),
        ("sex", "say any, cells, ranges or marginals, or name the marginals"),
        ("sex*sex", r"sex\*sex, with an axis twice"),
        ("a*" + "x" * 10_000 + "*a", "…, with an axis twice"),
    ],
)
def test_workloads_in_words_are_refused_in_words(given: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as refusal:
        Adaptive(given)
    assert len(str(refusal.value)) < 300


def test_one_axis_alone_is_written_with_a_comma() -> None:
    assert Adaptive("age,") == Adaptive([("age",)])
    assert Adaptive([("age",)]).workload_text == "age,"
    assert mechanism_named(name_and_settings(Adaptive([("age",)]))) == Adaptive([("age",)])
