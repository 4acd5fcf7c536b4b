"""How many records people have: one person is in one bin, the noise is what was paid for, and the rule weighs well."""

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodness_of_fit import fit_p_value
from sparsedp.errors import InvalidInput
from sparsedp.ingest import counted
from sparsedp.ingest.contributions import OF_A_BOUND, OF_A_CHOICE, Look, best_bound, checked_share
from sparsedp.ingest.request import AUTO, Request
from sparsedp.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from sparsedp.mechanisms.terms import Terms, checked_terms
from sparsedp.privacy.budget import asked_for
from sparsedp.releases.cut import MOST_RECORDS, first_numbers, last_numbers, possible_bounds

TABLE = ["hour:0..3"]


def people_of(records: list[tuple[int, int | None]], bound: int | str) -> Any:
    """Of rows of a person and an hour."""
    rows = pa.table({"who": pa.array([w for w, _ in records], pa.int64()), "hour": pa.array([h for _, h in records])})
    asked = Request.of(rows, TABLE, privacy_unit="who", max_contributions=bound)
    return asked, counted(asked).people


ROWS = st.lists(st.tuples(st.integers(0, 5), st.sampled_from([0, 1, 3, 4, 9, None])), min_size=1, max_size=60)


@settings(max_examples=40, deadline=None)
@given(records=ROWS, whom=st.integers(0, 5), bound=st.sampled_from([1, 2, 5, AUTO]))
def test_removing_a_person_moves_one_bin_by_one(
    records: list[tuple[int, int | None]], whom: int, bound: int | str
) -> None:
    others = [record for record in records if record[0] != whom] or [(99, None)]
    asked, everybody = people_of(records, bound)
    _, without = people_of(others, bound)
    readable = sum(w == whom and hour in (0, 1, 3) for w, hour in records)
    moved = everybody - without
    assert np.abs(moved).sum() == (readable > 0)
    if readable:
        firsts = np.array(asked.bins)
        assert firsts[moved == 1] == firsts[firsts <= readable].max()


@pytest.mark.parametrize("bound", [1, 3, 8, 100, 333, 2**19 + 7, MOST_RECORDS, None])
def test_bins_are_apart_and_end_with_the_bound(bound: int | None) -> None:
    firsts, lasts = np.array(first_numbers(bound)), last_numbers(bound)
    assert firsts[0] == 1
    assert (firsts[1:] == lasts[:-1] + 1).all()
    assert (lasts >= firsts).all()
    assert bound is None or bound in lasts
    assert len(firsts) < 120


def terms(budget: dict[str, Any], neighbours: str = "add_remove", contribution: int = 7) -> Terms:
    return checked_terms(asked_for(**budget), None, None, contribution, neighbours, None, "sparsedp", None)


@pytest.mark.parametrize(("neighbours", "changes"), [("add_remove", 1), ("replace_one", 2)])
@pytest.mark.parametrize("contribution", [1, 7, 1000])
def test_the_noise_is_that_of_one_bin_whatever_the_bound(neighbours: str, changes: int, contribution: int) -> None:
    pure = Look.of(terms({"epsilon": "1/2"}, neighbours, contribution), Fraction(1, 50)).noise
    assert pure.law == DiscreteLaplaceLaw(Fraction(100 * changes))
    assert pure.expense.budget.epsilon == Fraction(1, 100)
    square = Look.of(terms({"rho": "1/2"}, neighbours, contribution), Fraction(1, 50)).noise
    assert square.law == DiscreteGaussianLaw(Fraction(50 * changes))
    assert square.expense.budget.rho == Fraction(1, 100)


def test_what_is_drawn_has_that_law_and_no_narrower_one() -> None:
    look = Look.of(terms({"epsilon": 1}), Fraction(1, 4))
    bins = len(first_numbers(3))
    zeros = np.zeros(bins, np.int64)
    drawn = np.array([look.measured(zeros, 3).people for _ in range(1000)]).reshape(-1)
    assert fit_p_value(drawn, Fraction(4)) > 1e-6
    assert fit_p_value(drawn, Fraction(3)) < 1e-6
    assert (zeros == 0).all()


@pytest.mark.parametrize(
    ("share", "chosen", "found"),
    [
        (None, False, OF_A_BOUND),
        (None, True, OF_A_CHOICE),
        ("0", False, 0),
        (0.02, False, OF_A_BOUND),
        ("1/3", True, Fraction(1, 3)),
    ],
)
def test_shares(share: Any, chosen: bool, found: Fraction) -> None:
    assert checked_share(share, chosen=chosen) == found


@pytest.mark.parametrize(
    ("share", "chosen"), [("1", False), (-0.1, False), ("much", False), ("0", True), (True, False)]
)
def test_shares_that_are_none(share: Any, chosen: bool) -> None:
    with pytest.raises(InvalidInput, match="cut_share"):
        checked_share(share, chosen=chosen)


# ---- the rule, on numbers without noise to speak of


def chosen_for(records: Any, *, cells: int = 100, noise_of_one: float = 1.0, most: int = MOST_RECORDS) -> int:
    places = np.searchsorted(np.array(first_numbers()), np.asarray(records), side="right") - 1
    sizes = np.bincount(places, minlength=len(first_numbers()))
    return best_bound(sizes.tolist(), 1e-6, cells, noise_of_one, most)


def test_equal_people_keep_all_they_have() -> None:
    assert chosen_for(np.full(10_000, 7)) == 7
    assert chosen_for(np.full(10_000, 19)) == 19


def test_a_few_heavy_people_are_cut() -> None:
    assert chosen_for([*[3] * 10_000, 5000, 5000]) == 3


def test_more_noise_means_a_lower_bound_and_more_people_a_higher_one() -> None:
    records = np.random.default_rng(1).geometric(0.05, 20_000)
    bounds = [chosen_for(records, noise_of_one=noise) for noise in (0.1, 1.0, 10.0, 100.0)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] > 2 * bounds[-1]
    assert chosen_for(np.tile(records, 10)) > chosen_for(records)


def test_the_rule_finds_the_least_of_what_it_weighs() -> None:
    records = np.random.default_rng(2).integers(1, 9, 5000)  # bins that are exact
    errors = {bound: (np.maximum(records - bound, 0).sum() / 100) ** 2 + (25 * bound) ** 2 for bound in range(1, 9)}
    assert chosen_for(records, noise_of_one=25) == min(errors, key=lambda bound: errors[bound])


def test_bounds_are_those_that_there_are() -> None:
    assert chosen_for([1]) == 1
    assert chosen_for([2**19] * 1000, noise_of_one=1e-9) in possible_bounds()
    assert chosen_for([2**19] * 1000, noise_of_one=1e-9, most=50) <= 50
    nobody = best_bound([0] * len(first_numbers()), 800.0, 10, 1.0, MOST_RECORDS)
    assert nobody == 1
