"""What a stream says it protects, and what it is charged."""

from fractions import Fraction

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.errors import BudgetExceeded
from sparsedp.noise.source import SeededSource
from sparsedp.streams._counters import ticks_between_totals


def test_spent_says_whether_an_event_or_a_person_is_protected() -> None:
    event = sdp.ContinualAdaptive(epsilon="0.5")
    assert str(event.spent) == "ε = 0.5 for one event, so m times as much for a person with m events"
    person = sdp.ContinualAdaptive(epsilon="0.5", unit="person", contribution=30)
    assert str(person.spent) == "ε = 0.5 for one person over the whole stream"
    person.observe(3)
    assert str(person.release().spent) == str(person.spent)
    assert "at most 30 in total over the whole stream (promised by the caller)" in str(person.guarantee)
    assert person.spent == sdp.Budget(epsilon="0.5")
    assert person.noise_law.scale == Fraction(60)


def test_pan_privacy_is_stated() -> None:
    assert "any number of times" in str(sdp.ContinualAdaptive(epsilon=1).guarantee)
    for stream in (
        sdp.ContinualAdaptive(epsilon=1, totals="0.1", horizon=9),
        sdp.ContinualDifference(epsilon=1, horizon=9),
        sdp.ContinualCompressive(epsilon=1, horizon=9),
        sdp.ContinualCounter(epsilon=1, horizon=9),
    ):
        assert "state once" in str(stream.guarantee)


def test_the_papers_calibration_states_and_is_charged_what_it_guarantees() -> None:
    ledger = sdp.Ledger(epsilon=20)
    stream = sdp.ContinualCompressive(
        epsilon="0.1", horizon=1000, rows=64, sparsity=4, calibration="paper", ledger=ledger
    )
    assert stream.epsilon == Fraction(1, 10)
    assert stream.spent == sdp.Budget(epsilon="6.4")
    stream.observe(1)
    assert ledger.spent == sdp.Budget(epsilon="6.4")
    assert stream.synopsis().spent == sdp.Budget(epsilon="6.4")


def test_the_budget_is_taken_once_and_before_the_noise() -> None:
    ledger = sdp.Ledger(epsilon=1)
    drawn = []

    class Watching(SeededSource):
        def key(self) -> bytes:
            drawn.append(ledger.spent)
            return super().key()

    stream = sdp.ContinualDifference(epsilon="0.6", horizon=10, ledger=ledger, source=Watching(1))
    for count in range(5):
        stream.observe(count)
    assert len(drawn) == 5
    assert set(drawn) == {sdp.Budget(epsilon="0.6")}
    second = sdp.ContinualDifference(epsilon="0.6", horizon=10, ledger=ledger, source=Watching(2))
    with pytest.raises(BudgetExceeded):
        second.observe(1)
    assert second.ticks == 0
    assert len(drawn) == 5


def test_test_sources_are_marked() -> None:
    stream = sdp.ContinualAdaptive(epsilon=1, source=SeededSource(1))
    stream.observe(1)
    assert not stream.private
    assert not stream.release().private
    assert "NOT PRIVATE" in repr(stream)
    assert sdp.ContinualAdaptive(epsilon=1).private


def test_replacing_is_twice_the_noise() -> None:
    assert sdp.ContinualAdaptive(epsilon=1, neighbours="replace_one").noise_law.scale == 2
    assert sdp.ContinualDifference(epsilon=1, horizon=4, neighbours="replace_one").noise_law.scale == 6


@pytest.mark.parametrize(("horizon", "share"), [(1, "0.5"), (2, "0.1"), (100, "0.3"), (32768, "0.3"), (2**20, "0.01")])
def test_totals_come_at_powers_of_two_within_the_horizon(horizon: int, share: str) -> None:
    every = ticks_between_totals(horizon, Fraction(share))
    assert 1 <= every <= horizon
    assert every & (every - 1) == 0


def test_totals_make_long_sums_accurate() -> None:
    """At the cost of single ticks: that is the bargain."""
    horizon = 1 << 14
    counts = np.random.default_rng(0).poisson(5, horizon)
    plain: list[float] = []
    with_totals: list[float] = []
    for seed in range(12):
        alone = sdp.ContinualAdaptive(epsilon="0.1", source=SeededSource(seed))
        both = sdp.ContinualAdaptive(epsilon="0.1", totals="0.3", horizon=horizon, source=SeededSource(seed))
        for stream, errors in ((alone, plain), (both, with_totals)):
            stream.observe_many(counts)
            errors.append(stream.release().range_sum(0, horizon) - counts.sum())
    assert np.std(with_totals) < 0.6 * np.std(plain)
