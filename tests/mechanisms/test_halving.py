"""The chances of halving: what the table costs, found from its whole numbers; and coins of just these chances."""

from decimal import localcontext
from fractions import Fraction
from itertools import pairwise
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sparsedp.mechanisms import _private_tree
from sparsedp.mechanisms._private_tree import COST, DECAYS, KNOTS, chances, chances_of, decay_for
from sparsedp.noise.coins import ONE, toss
from sparsedp.noise.source import BitStream, NoiselessSource, SeededSource

TABLE = chances()


def supremum(table: tuple[int, ...]) -> Fraction:
    """The bound of private_tree.md: the largest of finitely many fractions."""
    steps = [(after - before) * KNOTS for before, after in pairwise(table)]
    halves = [Fraction(step, before) for step, before in zip(steps, table, strict=False)]
    leaves = [Fraction(step, ONE - after) for step, after in zip(steps, table[1:], strict=True)]
    largest = halves.copy()
    for knot in reversed(range(len(steps) - 1)):
        largest[knot] = max(largest[knot], largest[knot + 1])
    # Sums over every 64th, from the end; rounded upwards, because exact sums of a thousand fractions take long.
    above = [Fraction(0)] * (len(steps) + KNOTS)
    for knot in reversed(range(len(steps))):
        above[knot] = above[knot + KNOTS] + largest[knot].limit_denominator(10**15) + Fraction(1, 10**15)
    return max(max(halves[j], leaves[j]) + above[j + KNOTS] for j in range(len(steps)))


def test_the_table_costs_what_is_stated() -> None:
    assert len(TABLE) == DECAYS * KNOTS + 1
    assert all(before <= after for before, after in pairwise(TABLE))
    assert log(4) < supremum(TABLE) <= COST
    assert supremum(TABLE) > COST - Fraction(1, 200), "the stated cost is not rounded up by much"


def test_a_steeper_table_costs_more() -> None:
    """Half the knots for the same rise: the bound doubles, and the check notices it."""
    assert supremum((*TABLE[::2], *[TABLE[-1]] * (len(TABLE) // 2))) > COST


def test_the_table_is_the_formula() -> None:
    def chance(t: float) -> float:
        if t >= 1:
            return 1 - exp(-1.06 * (min(t, DECAYS) - 1)) / 2
        product = 0.5 * exp(-log(4) * (1 - t))
        for m in range(1, DECAYS):
            product *= chance(1 + m) / chance(t + m)
        return product

    np.testing.assert_allclose(np.array(TABLE) / ONE, [chance(j / KNOTS) for j in range(len(TABLE))], rtol=1e-12)
    assert TABLE[0] / ONE == pytest.approx(0.25)
    assert TABLE[KNOTS] == ONE // 2


def test_the_table_is_the_same_in_any_decimal_context() -> None:
    chances.cache_clear()
    with localcontext(prec=6):
        assert chances() == TABLE


@pytest.mark.parametrize(
    ("distance", "epsilon", "decay"),
    [
        (1, Fraction(1), 2),
        (1, Fraction(7, 5), 1),
        (4, Fraction(1, 2), 12),
        (1, Fraction(100), 1),
        (3, Fraction(1, 7), 30),
    ],
)
def test_the_decay_is_rounded_up(distance: int, epsilon: Fraction, decay: int) -> None:
    assert decay_for(distance, epsilon) == decay
    assert COST * distance / decay <= epsilon


def exact_chance(score: int, decay: int) -> Fraction:
    """By the definition: a straight line between knots."""
    place = min(Fraction(score, decay), Fraction(DECAYS)) * KNOTS
    knot = min(int(place), DECAYS * KNOTS - 1)
    return Fraction(TABLE[knot]) + (place - knot) * (TABLE[knot + 1] - TABLE[knot])


@given(
    st.integers(1, 2**33) | st.sampled_from([1, 2, 63, 64, 65, 2**31 - 1, 2**31, 2**31 + 1, 2**50]),
    st.lists(st.fractions(0, 20), min_size=1, max_size=20),
)
def test_chances_are_exact(decay: int, places: list[Fraction]) -> None:
    scores = np.array([int(place * decay) for place in places], np.int64)
    found = chances_of(scores, decay)
    for score, units, left in zip(scores.tolist(), found.whole.tolist(), found.rest.tolist(), strict=True):
        assert units + Fraction(left, decay) == exact_chance(score, decay)
        assert 0 <= left < decay


def p_value(scores: int, decay: int, of: int) -> float:
    """Of 20,000 coins of one score, under the chance of another."""
    fell = int(toss(chances_of(np.full(20_000, scores), decay), SeededSource(5)).sum())
    return float(stats.binomtest(fell, 20_000, float(exact_chance(of, decay)) / ONE).pvalue)


@pytest.mark.parametrize("score", [0, 3, 7, 10, 18, 44])
def test_coins_have_their_chances(score: int) -> None:
    assert p_value(score, 10, score) > 1e-3
    assert p_value(score, 10, score + 4) < 1e-3


class SameDigits(BitStream):
    """A stream whose first digits are those of the chance at score 5 of decay 7; then what it is given."""

    def __init__(self, later: int) -> None:
        super().__init__(bytes(32))
        self.later = later

    def fill(self, words: "np.typing.NDArray[np.unsignedinteger]") -> None:
        whole, _ = _private_tree._chance_of(5, 7)
        words.fill((whole ^ (ONE >> 1)) << 2)

    def bits(self, count: int) -> int:
        return self.later >> (64 - count)


@pytest.mark.parametrize(("share", "falls"), [(0.0, True), (0.99, True), (1.01, False)])
def test_ties_are_settled_by_more_digits(share: float, falls: bool) -> None:
    _, rest = _private_tree._chance_of(5, 7)
    assert 0 < rest < 7

    class Source(SeededSource):
        def draw(self) -> "Tied":  # type: ignore[override]  # as a context
            return Tied()

    class Tied:
        def __enter__(self) -> BitStream:
            return SameDigits(int(share * rest / 7 * 2**64))

        def __exit__(self, *_: object) -> None: ...

    assert toss(chances_of(np.array([5]), 7), Source(1)).tolist() == [falls]


def test_without_noise_what_is_halved_more_often_than_not_is_halved() -> None:
    scores = np.array([0, 6, 7, 8, 10**6])
    assert toss(chances_of(scores, 7), NoiselessSource()).tolist() == [False, False, True, True, True]
