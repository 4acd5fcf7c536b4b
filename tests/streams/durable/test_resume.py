"""A stream that was closed and opened again, however often, equals one that never stopped."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from durable_streams import KINDS, kept
from hypothesis import given
from hypothesis import strategies as st
from quick_folder import quick_folder

import sparsedp as sdp
from sparsedp.noise.source import NoiselessSource, SeededSource
from sparsedp.streams import Stream
from sparsedp.streams.durable._opening import stream_from

HORIZON = 70
"""Short, so that segments of every level begin and end."""

counts = st.integers(0, 2**62)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("observe"), counts),
        st.tuples(st.just("observe_many"), st.lists(counts, min_size=1, max_size=20)),
        st.tuples(st.just("gap"), st.integers(1, 9)),
        st.tuples(st.just("again"), st.tuples(st.integers(1, 12), st.integers(1, 15))),
        st.tuples(st.just("reopen"), st.none()),
    ),
    max_size=14,
)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with quick_folder() as place:
        yield place


class Pair:
    """A durable stream and one in memory that is given every tick once."""

    def __init__(self, path: Path, kind: str, durable: Stream, memory: Stream) -> None:
        self.path, self.kind = path, kind
        self.memory = memory
        self.durable = sdp.open_stream(path, durable)
        self.results: list[int] = []
        self.filled: set[int] = set()

    def go(self, what: str, given: object) -> None:
        getattr(self, what)(given)
        assert kept(self.durable) == kept(self.memory)

    def observe(self, value: int) -> None:
        if self.room >= 1:
            durable, memory = self.durable.observe(value), self.memory.observe(value)
            assert durable == memory
            self.results += [] if memory is None else [memory]

    def observe_many(self, values: list[int]) -> None:
        if self.room >= len(values):
            self._same(self.durable.observe_many(values), self.memory.observe_many(values))

    def gap(self, length: int) -> None:
        if self.room > length:
            at = self.durable.ticks + length
            self.filled |= set(range(self.durable.ticks, at))
            known = self.memory.observe_many([0] * length + [7])
            if known is not None:
                self.results += known[:-1].tolist()
            self._same(self.durable.observe_many([7], at=at, fill=length), None if known is None else known[-1:])

    def again(self, given: tuple[int, int]) -> None:
        """Deliver some of the last ticks again, with new ones after them if there are more."""
        back, length = given
        first = max(0, self.durable.ticks - back)
        new = max(0, first + length - self.durable.ticks)
        if new > self.room or (first == self.durable.ticks and not new):
            return
        values = [3] * length
        if self.filled & set(range(first, min(first + length, self.durable.ticks))):
            with pytest.raises(sdp.InvalidInput, match="was published as zero"):
                self.durable.observe_many(values, at=first)
            return
        fresh = self.memory.observe_many(values[-new:]) if new else np.empty(0, np.int64)
        if fresh is not None:
            self.results += fresh.tolist()
        redelivered = self.durable.observe_many(values, at=first)
        if redelivered is not None:
            assert redelivered.tolist() == self.results[first : first + length]

    def reopen(self, _: None) -> None:
        self.durable.close()
        self.durable = sdp.open_stream(self.path, KINDS[self.kind](**self.terms))

    @property
    def terms(self) -> dict[str, object]:
        terms: dict[str, object] = {"epsilon": self.durable.epsilon, "source": self.durable._terms.source}
        return terms if self.durable.horizon is None else {**terms, "horizon": self.durable.horizon}

    @property
    def room(self) -> int:
        return HORIZON - self.durable.ticks

    def _same(self, durable: np.ndarray | None, memory: np.ndarray | None) -> None:
        if memory is None:
            assert durable is None
        else:
            assert durable is not None
            assert durable.tolist() == memory.tolist()
            self.results += memory.tolist()


def short(kind: str, **terms: object) -> Stream:
    return KINDS[kind](**terms) if kind == "adaptive" else KINDS[kind](horizon=HORIZON, **terms)


def run(pair: Pair, path: Path, history: list[tuple[str, object]]) -> None:
    try:
        for what, given_ in history:
            pair.go(what, given_)
        if pair.durable.ticks:
            assert np.array_equal(pair.durable.synopsis().values, pair.memory.synopsis().values)
        assert pair.durable.describe() == pair.memory.describe()
    finally:
        pair.durable.close()
        path.unlink()


@pytest.mark.parametrize("kind", KINDS)
@given(history=steps)
def test_without_noise(kind: str, folder: Path, history: list[tuple[str, object]]) -> None:
    path = folder / f"{kind}.stream"
    streams = [short(kind, epsilon=1, source=NoiselessSource()) for _ in range(2)]
    run(Pair(path, kind, *streams), path, history)


@pytest.mark.parametrize("kind", KINDS)
@given(history=steps, seed=st.integers(0, 2**32))
def test_with_the_same_draws(kind: str, folder: Path, history: list[tuple[str, object]], seed: int) -> None:
    """The source goes on where it was; only the keys of noise that was drawn were taken from it."""
    path = folder / f"{kind}.stream"
    streams = [short(kind, epsilon="0.001", source=SeededSource(seed)) for _ in range(2)]
    run(Pair(path, kind, *streams), path, history)


@pytest.mark.parametrize("kind", KINDS)
def test_an_estimate_does_not_depend_on_where_the_stream_is_kept(kind: str, tmp_path: Path) -> None:
    values = np.repeat([3, 40, 0, 9], 16)
    memory = short(kind, epsilon=2, source=SeededSource(5))
    memory.observe_many(values)
    with sdp.open_stream(tmp_path / "cases.stream", short(kind, epsilon=2, source=SeededSource(5))) as durable:
        durable.observe_many(values)
        expected, found = memory.release(), durable.release()
    with sdp.open_stream(tmp_path / "cases.stream") as again:
        for release in (found, again.release()):
            assert np.array_equal(release.values, expected.values)
            assert release.spent == expected.spent
            assert release.private == expected.private


def test_ticks_by_time(tmp_path: Path) -> None:
    path = tmp_path / "cases.stream"
    daily = {"epsilon": "0.5", "start": "2026-01-01", "every": "1d"}
    with sdp.open_stream(path, sdp.ContinualAdaptive(**daily)) as stream:  # type: ignore[arg-type]
        first = stream.observe(12, at="2026-01-01")
        third = stream.observe(9, at="2026-01-03", fill=1)
    with sdp.open_stream(path) as stream:
        assert stream.ticks == 3
        assert stream.observe(12, at="2026-01-01") == first
        assert stream.observe(500, at="2026-01-03") == third, "whatever its value is said to be now"
        assert stream.ticks == 3
        assert stream.release().times[-1] == np.datetime64("2026-01-03")


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_draws_of_new_ticks_take_from_the_source(kind: str, tmp_path: Path) -> None:
    """Opening, redelivery and releases draw nothing."""
    source = SeededSource(8)
    path = tmp_path / "cases.stream"
    with sdp.open_stream(path, short(kind, epsilon=1, source=source)) as stream:
        stream.observe_many([1, 2, 3])
    left = source._generator.bit_generator.state
    with sdp.open_stream(path, short(kind, epsilon=1, source=source)) as stream:
        stream.observe_many([1, 2, 3], at=0)
        stream.observe(3, at=2)
        stream.release()
    assert source._generator.bit_generator.state == left


TERMS = {"epsilon": "1/2", "contribution": 1, "unit": "event", "neighbours": "add_remove", "negative": False}
WRITTEN_BEFORE: dict[str, dict[str, object]] = {
    "hourly ticks from 2026-01-01 00:00 UTC": {"start": "2026-01-01T00:00:00+00:00", "every": "1h"},
    "ticks every 15 minutes from 2026-01-01 00:00": {"start": "2026-01-01T00:00:00", "every": "15min"},
    "ticks every 1500 milliseconds from 1999-12-31 23:59": {"start": "1999-12-31T23:59:00", "every": "1500ms"},
    "ticks numbered from 0": {"start": None, "every": None},
}
"""How files describe a schedule: those of earlier versions must open."""


@pytest.mark.parametrize("words", WRITTEN_BEFORE)
def test_a_description_that_was_written_before(words: str) -> None:
    terms = {**TERMS, **WRITTEN_BEFORE[words], "sampler": "sparsedp"}
    description = {"stream": "continual_adaptive", "terms": terms, "settings": {}}
    with stream_from(description) as stream:
        assert words in repr(stream)
        assert stream.describe() == description
        stream.observe(1)
        synopsis = stream.synopsis()
        assert synopsis._contents.description["time"] == WRITTEN_BEFORE[words]
        assert str(synopsis.time) == words
