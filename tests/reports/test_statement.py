"""The promise in plain words: right numbers, rounded to the safe side, and nobody left out."""

from fractions import Fraction
from math import exp
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparsedp as sdp
from sparsedp.privacy.conversion import delta_of
from sparsedp.privacy.guarantee import Expense, Guarantee
from sparsedp.privacy.neighbours import Neighbours
from sparsedp.releases.uncertainty import Interval
from sparsedp.reports._statement import USUAL_DELTA, not_promised, promise_in_words
from sparsedp.reports.words import chance, factor, one_in, other_chance, plain, with_error


def promise(budget: dict[str, Any], **neighbours: Any) -> str:
    expense = Expense("measure", sdp.Budget(**budget))
    return " ".join(promise_in_words(Guarantee((expense,), Neighbours(**neighbours), private=True)))


def test_what_epsilon_means_for_one_person() -> None:
    words = promise({"epsilon": "0.5"})
    assert "at most a factor of 1.65: from 50 % to no more than 62.3 % and no less than 37.7 %" in words
    assert "whether your records are in these data" in words
    assert "weak" not in words
    assert "weak" in promise({"epsilon": 8})


def test_replacing_a_person_is_another_question() -> None:
    words = promise({"epsilon": 1}, relation="replace_one", invariant=True)
    assert "which of two things your records say" in words
    assert "Some totals were declared public beforehand" in words


def test_events_are_less_than_people() -> None:
    words = promise({"epsilon": "0.1"}, unit="event", contribution=2)
    assert "one event of yours" in words
    assert "one event, which changes the numbers by at most 2 in total" in words
    assert f"with ten of them the factor is up to {factor(Fraction(1))}" in words
    assert "over the whole stream" in promise({"epsilon": "0.1"}, unit="person")


def test_a_bound_that_was_enforced_says_by_what() -> None:
    counted = {"unit": ["patient_id"], "records": 3, "resolution": "1/100"}
    words = promise({"epsilon": 1}, contribution=150_000, counted=counted)
    assert "all records with the same patient_id" in words
    assert "at most 3 records were counted" in words
    assert "by at most 1,500 in total" in words
    each = promise({"epsilon": 1}, counted={"unit": None, "records": 1})
    assert "every record is another person's" in each


def test_delta_is_a_slack_and_rho_is_told_as_both() -> None:
    assert "1 in 1,000,000,000" in promise({"epsilon": 1, "delta": "1e-9"})
    words = promise({"rho": "0.1"})
    assert "ρ = 0.1" in words
    assert "1 in 1,000,000" in words
    told = float(words.split("ε = ")[1].split(";")[0])
    # Rounded to four digits: what follows from ρ is δ of a millionth there.
    assert float(delta_of("0.1", told * 1.001)) <= USUAL_DELTA


def test_a_seeded_release_promises_nothing() -> None:
    guarantee = Guarantee((Expense("measure", sdp.Budget(epsilon=1)),), Neighbours(), private=False)
    (words,) = promise_in_words(guarantee)
    assert "Do not publish" in words
    assert not_promised(guarantee) == []


def test_intruders_are_named() -> None:
    guarantee = Guarantee((Expense("x", sdp.Budget(epsilon=1)),), Neighbours(unit="event"), True, "any")
    assert "any number of times" in promise_in_words(guarantee)[-1]


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=90))
def test_odds_are_never_told_smaller_than_they_may_be(epsilon: Fraction) -> None:
    assert float(factor(epsilon).replace(",", "")) >= exp(float(epsilon)) * (1 - 1e-6)
    limit = 100 / (1 + exp(-float(epsilon)))
    if chance(epsilon) != "nearly 100 %":
        assert float(chance(epsilon).removesuffix(" %")) >= limit - 1e-6
        assert float(other_chance(epsilon).removesuffix(" %")) <= 100 - limit + 1e-6


def test_enormous_amounts_do_not_overflow() -> None:
    assert factor(Fraction(10**6)) == "more than 10^434294"
    assert chance(Fraction(10**6)) == "nearly 100 %"
    assert other_chance(Fraction(10**6)) == "nearly 0 %"
    assert one_in(Fraction(1, 10**30)) == "1 in 10^30"


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        ((1178, 1290, 1234), "1,234 ± 56"),
        ((336_719, 336_833, 336_776), "336,776 ± 57"),
        ((335_542, 338_010, 336_776), "336,800 ± 1,200"),
        ((149.21e6, 154.79e6, 152.0e6), "152.0 ± 2.8 million"),
        ((0, 9.1e6, 2.0e6), "2.0 (0.0 to 9.1) million"),
        ((1_234_555, 1_234_579, 1_234_567), "1,234,567 ± 12"),
        ((-3e9, 3e9, 0), "0.0 ± 3.0 billion"),
        ((90.03, 109.97, 100), "100 ± 10"),
        ((1.5, 2.5, 2), "2.00 ± 0.50"),
        ((0, 30, 5), "5 (0 to 30)"),
        ((7, 7, 7), "7 (exact)"),
        ((float("-inf"), float("inf"), 1234.5678), "1,234.57 (error not known)"),
    ],
)
def test_numbers_are_no_finer_than_they_are_known(ends: tuple[float, float, float], shown: str) -> None:
    assert with_error(Interval(*ends, level=0.95)) == shown


def test_plain_numbers() -> None:
    assert [plain(number) for number in (0, 1_234_567, 0.5, -2.25)] == ["0", "1,234,567", "0.5", "-2.25"]
