"""The counters' state against the definition: what is published, and that nothing else is remembered."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_counter import PlainCounter

from sparsedp.arrays import Ints
from sparsedp.streams._counters import CounterState, beginning_within, levels_for


def scripted(noises: Ints) -> Callable[[Ints], None]:
    """Adds the given noises in their order, a row each."""
    used = 0

    def add_noise(values: Ints) -> None:
        nonlocal used
        rows = values.reshape(-1, noises.shape[1])
        rows += noises[used : used + len(rows)]
        used += len(rows)

    return add_noise


def decoded(state: CounterState) -> Ints:
    """Each level's own noise, from the sums that the state holds."""
    higher = np.vstack((state.above[1:], np.zeros((1, state.above.shape[1]), np.int64)))
    return np.where(state.above.any(axis=1, keepdims=True), state.above - higher, 0)


@given(
    horizon=st.integers(1, 200),
    every=st.integers(1, 9),
    counters=st.integers(1, 4),
    batches=st.lists(st.integers(1, 40), min_size=1, max_size=12),
    seed=st.integers(0, 2**32),
)
def test_equals_the_definition_and_keeps_open_segments_alone(
    horizon: int, every: int, counters: int, batches: list[int], seed: int
) -> None:
    generator = np.random.default_rng(seed)
    levels = levels_for(horizon, every)
    noises = generator.integers(-(10**9), 10**9, (2 * horizon + levels + 2, counters))
    values = generator.integers(-(10**6), 10**6, (horizon, counters))
    state, plain = CounterState(counters, levels, every), PlainCounter(counters, levels, every, noises)
    add_noise = scripted(noises)
    for batch in batches:
        part = values[state.ticks : state.ticks + batch]
        if not len(part):
            break
        expected = [row for row in map(plain.observe, part) if row is not None]
        np.testing.assert_array_equal(state.advance(part, add_noise), np.reshape(expected, (-1, counters)))
        assert state.ticks == plain.ticks
        np.testing.assert_array_equal(state.count, plain.start + plain.sum)
        still_open = plain.open_noises()
        for level, noise in enumerate(decoded(state)):
            np.testing.assert_array_equal(noise, still_open.get(level, 0))
        if expected:
            np.testing.assert_array_equal(state.latest, expected[-1])


@given(first=st.integers(0, 300), length=st.integers(0, 300), levels=st.integers(0, 10))
def test_the_number_of_noises_is_that_of_the_segments(first: int, length: int, levels: int) -> None:
    counted = sum(number % 2**level == 0 for number in range(first, first + length) for level in range(levels))
    assert beginning_within(first, first + length, levels) == counted
    assert counted <= 2 * length + levels


def test_levels_are_the_logarithm_rounded_up() -> None:
    assert [levels_for(horizon) for horizon in (1, 2, 3, 4, 5, 8, 9, 1024, 1025)] == [0, 1, 2, 2, 3, 3, 4, 10, 11]
    assert levels_for(8, every=8) == 1  # a count seen inside the only block must not give away the rest of it
    assert levels_for(64, every=8) == 3


def test_keeping_the_last_sums_alone_is_the_same_state() -> None:
    values = np.random.default_rng(1).integers(0, 100, (37, 3))
    noises = np.random.default_rng(2).integers(-50, 50, (200, 3))
    kept, skipped = CounterState(3, 6), CounterState(3, 6)
    last = kept.advance(values, scripted(noises))[-1]
    skipped.skip_to_last(values, scripted(noises))
    for name in ("count", "above", "latest"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(skipped, name))
    np.testing.assert_array_equal(skipped.latest, last)


def test_sums_wrap_around() -> None:
    state = CounterState(1, 1)
    big = np.full((2, 1), 2**62, np.int64)
    published = state.advance(big, scripted(np.zeros((9, 1), np.int64)))
    assert published[:, 0].tolist() == [2**62, -(2**63)]


def test_an_interruption_does_not_pass_for_a_state_between_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    state = CounterState(1, 3)
    state.advance(np.ones((3, 1), np.int64), scripted(np.zeros((9, 1), np.int64)))
    monkeypatch.setattr("sparsedp.streams._counters._run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        state.advance(np.ones((1, 1), np.int64), scripted(np.zeros((9, 1), np.int64)))
    assert state.ticks == -1
