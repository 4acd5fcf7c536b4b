"""What a bound cut, from noisy numbers of people: intervals that hold, words, and files."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sparsedp.errors import InvalidInput
from sparsedp.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw, IndependentLaw
from sparsedp.releases.cut import MOST_RECORDS, Cut, first_numbers, possible_bounds

LAPLACE = DiscreteLaplaceLaw(Fraction(50))
QUIET = DiscreteLaplaceLaw(Fraction(1, 10))


def sizes(records: Any, bound: int | None) -> np.ndarray[Any, np.dtype[np.int64]]:
    places = np.searchsorted(np.array(first_numbers(bound)), np.asarray(records), side="right") - 1
    return np.bincount(places, minlength=len(first_numbers(bound))).astype(np.int64)


def cut_of(records: Any, bound: int, law: IndependentLaw = QUIET, noise: Any = 0) -> Cut:
    return Cut(bound, tuple((sizes(records, bound) + noise).tolist()), law)


def true_share(records: Any, bound: int) -> float:
    numbers = np.asarray(records)
    return float(np.maximum(numbers - bound, 0).sum() / numbers.sum())


def zipf(chance: np.random.Generator) -> Any:
    return np.minimum(chance.zipf(1.8, 20_000), 3000)


def equal(chance: np.random.Generator) -> Any:
    return np.full(20_000, 12)


def a_few_heavy(chance: np.random.Generator) -> Any:
    return np.append(chance.integers(1, 5, 20_000), np.full(20, 2000))


POPULATIONS: list[Callable[[np.random.Generator], Any]] = [zipf, equal, a_few_heavy]


@pytest.mark.parametrize("records", POPULATIONS)
@pytest.mark.parametrize("bound", [1, 5, 12, 40])
def test_without_noise_the_share_is_held_closely(records: Any, bound: int) -> None:
    people = records(np.random.default_rng(3))
    cut, truth = cut_of(people, bound), true_share(people, bound)
    assert cut.low <= truth <= cut.likely_high <= cut.high
    assert cut.low <= cut.estimate <= cut.likely_high
    assert abs(cut.estimate - truth) < 0.1
    assert cut.likely_high - cut.low < 0.3


@pytest.mark.parametrize("records", POPULATIONS)
@pytest.mark.parametrize("law", [LAPLACE, DiscreteGaussianLaw(Fraction(2500))], ids=repr)
def test_the_truth_is_held_as_often_as_is_said(records: Any, law: IndependentLaw) -> None:
    """At a level of one half, where a wrong interval shows after few draws; the noise is the same in every run."""
    chance = np.random.default_rng(4)
    people = records(chance)
    truth, bins, held = true_share(people, 5), len(first_numbers(5)), 0
    for _ in range(24):
        draw = chance.laplace(0, 50, bins) if law is LAPLACE else chance.normal(0, 50, bins)
        cut = cut_of(people, 5, law, np.rint(draw).astype(np.int64)).at(0.5)
        held += cut.low <= truth <= cut.high
    assert held >= 12


def test_noise_that_is_wider_than_is_said_shows() -> None:
    """The same with ten times the noise that the law tells: the intervals are wrong then, and the test would see it."""
    chance = np.random.default_rng(5)
    people = np.append(chance.integers(1, 9, 20_000), np.full(4000, 30))
    truth, bins = true_share(people, 5), len(first_numbers(5))
    held = {
        factor: sum(
            cut.low <= truth <= cut.high_if(30)
            for cut in (
                cut_of(people, 5, LAPLACE, np.rint(chance.laplace(0, 50 * factor, bins)).astype(np.int64)).at(0.9)
                for _ in range(20)
            )
        )
        for factor in (1, 10)
    }
    assert held[1] >= 16
    assert held[10] < 15


def test_few_people_with_very_many_records_are_never_ruled_out() -> None:
    """What cannot be told from noise is within `high`, and not within `likely_high`, which says so."""
    light = np.random.default_rng(6).integers(1, 5, 20_000)
    heavy = np.append(light, np.full(40, 100_000))
    noise = np.rint(np.random.default_rng(7).laplace(0, 50, len(first_numbers(5)))).astype(np.int64)
    cut = cut_of(heavy, 5, LAPLACE, noise)
    assert cut.low <= true_share(heavy, 5) <= cut.high
    assert cut.likely_high < true_share(heavy, 5)
    assert cut.seen < 100_000
    assert f"if nobody has more than {cut.seen:,}" in str(cut)
    assert "more if a few have far more" in str(cut)


def test_what_is_known_of_people_makes_the_upper_end_lower() -> None:
    people = np.random.default_rng(8).integers(1, 21, 50_000)
    noise = np.rint(np.random.default_rng(9).laplace(0, 50, len(first_numbers(5)))).astype(np.int64)
    cut = cut_of(people, 5, LAPLACE, noise)
    known = cut.high_if(20)
    assert true_share(people, 5) <= known < cut.high
    assert cut.high_if(5) == 0
    for wrong in (0, 2.5, 2**22):
        with pytest.raises(InvalidInput):
            cut.high_if(wrong)  # type: ignore[arg-type]


def test_a_higher_level_is_wider() -> None:
    people = np.random.default_rng(10).geometric(0.1, 30_000)
    cut = cut_of(people, 5, LAPLACE)
    wide = cut.at("0.999")
    assert wide.low < cut.low < cut.estimate < cut.likely_high < wide.likely_high
    assert replace(cut, chosen=False) == cut
    with pytest.raises(InvalidInput):
        cut.at(1)


def test_too_little_to_tell() -> None:
    nobody = cut_of([1], 5, LAPLACE)
    assert nobody.low == 0
    assert nobody.high > 0.999
    assert "cannot be told" in str(nobody)


def test_in_words() -> None:
    people = [3] * 500_000 + [9] * 50_000
    assert str(cut_of(people, 5)) == (
        "About 11 % of the records were left out by the bound of 5 a person: 10 to 13 % if nobody has more than 12; "
        "at most 13 % whatever they have."
    )


def test_a_chosen_bound_is_trusted_less() -> None:
    people = np.random.default_rng(11).geometric(0.05, 50_000)
    bins = tuple(sizes(people, None).tolist())
    chosen, given = Cut(19, bins, LAPLACE, chosen=True), cut_of(people, 19, LAPLACE)
    assert chosen.low < given.low < true_share(people, 19) < given.likely_high < chosen.likely_high
    with pytest.raises(InvalidInput, match="ends no bin"):
        Cut(17, bins, LAPLACE, chosen=True)
    assert 19 in possible_bounds()


@pytest.mark.parametrize("law", [LAPLACE, DiscreteGaussianLaw(Fraction(7, 3))], ids=repr)
def test_described_and_back(law: IndependentLaw) -> None:
    cut = cut_of([1, 2, 3, 900], 5, law)
    assert Cut.from_description(json.loads(json.dumps(cut.describe()))) == cut
    assert json.loads(json.dumps(cut.facts()))["bound"] == 5


@pytest.mark.parametrize(
    "spoilt",
    [
        {"people": [1, 2]},
        {"people": "x"},
        {"people": [True] * len(first_numbers(5))},
        {"people": [2**63] * len(first_numbers(5))},
        {"bound": 0},
        {"bound": MOST_RECORDS + 1},
        {"noise": {"name": "layers", "layers": [LAPLACE.describe()]}},
        {"chosen": 1},
        {"noise": 5},
    ],
    ids=str,
)
def test_descriptions_that_are_none(spoilt: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Cut.from_description({**cut_of([1], 5).describe(), **spoilt})


@pytest.mark.parametrize("bound", [1, 7, 300, MOST_RECORDS])
def test_every_bound_and_extreme_numbers_have_answers(bound: int) -> None:
    bins = len(first_numbers(bound))
    for number in (-(2**63), -1000, 0, 2**62, 2**63 - 1):
        cut = Cut(bound, (number,) * bins, LAPLACE)
        assert 0 <= cut.low <= cut.estimate <= cut.likely_high <= cut.high <= 1
        assert str(cut)
