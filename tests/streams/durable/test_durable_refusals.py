"""Bad ticks and bad times: one clear sentence, the stream as it was before, nothing drawn and nothing spent."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from durable_streams import KINDS, kept
from quick_folder import quick_folder

import sparsedp as sdp
from sparsedp.errors import InvalidInput, SparsedpError
from sparsedp.noise.source import KEY_BYTES, RandomSource
from sparsedp.streams import Stream

SECRET = 987_654_321
HORIZON = 20


class CountedSource(RandomSource):
    """Says how often it was asked."""

    def __init__(self) -> None:
        self.draws = 0

    def key(self) -> bytes:
        self.draws += 1
        return self.draws.to_bytes(KEY_BYTES, "little")


BAD_TICKS: dict[str, tuple[Callable[[Stream], object], str]] = {
    "half": (lambda stream: stream.observe(SECRET + 0.5), "value is not a whole number"),
    "nan": (lambda stream: stream.observe(float("nan")), "value is not finite"),
    "text": (lambda stream: stream.observe(str(SECRET)), "value is"),
    "nothing": (lambda stream: stream.observe(None), "value is"),
    "negative": (lambda stream: stream.observe(-SECRET), "value is negative"),
    "huge": (lambda stream: stream.observe(2**63), "value is beyond 64-bit integers"),
    "a list": (lambda stream: stream.observe([SECRET]), "value is of type list"),
    "half among many": (lambda stream: stream.observe_many([SECRET, 0.5]), "values is not whole numbers everywhere"),
    "nan among many": (lambda stream: stream.observe_many([SECRET, float("nan")]), "values is not finite everywhere"),
    "no values": (lambda stream: stream.observe_many([]), "values is empty"),
    "half, again": (lambda stream: stream.observe(0.5, at=0), "value is not a whole number"),
    "before the first": (lambda stream: stream.observe(SECRET, at=-1), "at is -1"),
    "between two": (lambda stream: stream.observe(SECRET, at=1.5), "at is 1.5"),
    "not a time": (lambda stream: stream.observe(SECRET, at="noon"), "at is a time, and these ticks have no calendar"),
    "far ahead": (
        lambda stream: stream.observe(SECRET, at=stream.ticks + 9),
        "before which 9 ticks are missing; check",
    ),
    "one left out": (
        lambda stream: stream.observe_many([SECRET], at=stream.ticks + 1),
        "before which 1 tick is missing",
    ),
    "beyond numbers": (lambda stream: stream.observe(SECRET, at=2**70), "tick is beyond number"),
}

BEYOND: dict[str, Callable[[Stream], object]] = {
    "by number": lambda stream: stream.observe(SECRET, at=HORIZON, fill=HORIZON),
    "by many": lambda stream: stream.observe_many([SECRET] * (HORIZON + 1 - stream.ticks)),
    "by many from before": lambda stream: stream.observe_many([SECRET] * (HORIZON + 1), at=0),
    "by a gap": lambda stream: stream.observe_many([SECRET] * 3, at=HORIZON - 2, fill=HORIZON),
}


def short(kind: str, **terms: Any) -> Stream:
    return KINDS[kind](**terms) if kind == "adaptive" else KINDS[kind](horizon=HORIZON, **terms)


@pytest.fixture(params=[0, 5], ids=["before the first tick", "after five"])
def begun(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(params=KINDS)
def stream(request: pytest.FixtureRequest, begun: int) -> Iterator[Stream]:
    terms = {"epsilon": 1, "ledger": sdp.Ledger(epsilon=10), "source": CountedSource()}
    kept_as = short(request.param, **terms)
    with quick_folder() as folder, sdp.open_stream(folder / "cases.stream", kept_as) as opened:
        if begun:
            opened.observe_many(np.arange(begun))
        yield opened


def refused(stream: Stream, call: Callable[[Stream], object], complaint: str) -> None:
    """The call fails with one sentence that quotes nothing private, and changes, draws and spends nothing."""
    assert stream._terms.ledger is not None
    assert isinstance(stream._terms.source, CountedSource)
    before = kept(stream), stream._terms.ledger.entries, stream._terms.source.draws
    with pytest.raises(SparsedpError) as caught:
        call(stream)
    message = str(caught.value)
    assert complaint in message
    assert str(SECRET) not in message
    assert message.endswith(".")
    assert "\n" not in message
    assert (kept(stream), stream._terms.ledger.entries, stream._terms.source.draws) == before
    stream.observe(1, at=stream.ticks)
    assert stream.ticks == before[0]["ticks"] + 1
    assert len(stream._terms.ledger.entries) == 1


@pytest.mark.parametrize(("call", "complaint"), BAD_TICKS.values(), ids=BAD_TICKS.keys())
def test_bad_ticks(stream: Stream, call: Callable[[Stream], object], complaint: str) -> None:
    refused(stream, call, complaint)


@pytest.mark.parametrize("call", BEYOND.values(), ids=BEYOND.keys())
def test_beyond_the_horizon(stream: Stream, call: Callable[[Stream], object]) -> None:
    if stream.horizon is None:
        call(stream)
        assert stream.ticks > HORIZON
    else:
        refused(stream, call, "tick is beyond number 19, the last one; 20 ticks are the horizon")


def test_a_time_off_the_schedule(tmp_path: Path) -> None:
    hourly = sdp.ContinualAdaptive(epsilon=1, start="2026-01-01", every="1h", source=CountedSource())
    with sdp.open_stream(tmp_path / "cases.stream", hourly) as stream:
        for wrong in ("2025-12-31T23:00", "2026-01-01T00:30", "2026-01-01T00:00Z"):
            with pytest.raises(sdp.InvalidInput, match="at is"):
                stream.observe(1, at=wrong)
        assert stream.ticks == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_budget_is_debited_once_in_a_streams_life(kind: str, tmp_path: Path) -> None:
    ledger = sdp.Ledger(epsilon=1)
    path = tmp_path / "cases.stream"
    for _ in range(3):
        with sdp.open_stream(path, short(kind, epsilon=1, ledger=ledger)) as stream:
            stream.observe_many([1, 2])
            stream.release()
    assert len(ledger.entries) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_budget_that_is_too_small_begins_nothing(kind: str, tmp_path: Path) -> None:
    source = CountedSource()
    terms = {"epsilon": 1, "ledger": sdp.Ledger(epsilon="0.9"), "source": source}
    with pytest.raises(sdp.BudgetExceeded):
        sdp.open_stream(tmp_path / "cases.stream", short(kind, **terms))
    assert source.draws == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_closed_stream_says_so(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "cases.stream"
    stream = sdp.open_stream(path, short(kind, epsilon=1))
    stream.observe(3)
    before = kept(stream)
    stream.close()
    stream.close()
    with pytest.raises(SparsedpError):
        stream.observe(4)
    with sdp.open_stream(path) as stream:
        assert kept(stream) == before


def test_a_closed_stream_takes_nothing_and_spends_nothing_more(tmp_path: Path) -> None:
    ledger = sdp.Ledger(epsilon=1)
    stream = sdp.open_stream(tmp_path / "a.stream", sdp.ContinualAdaptive(epsilon=1, ledger=ledger))
    stream.close()
    for attempt in (lambda: stream.observe(1), lambda: stream.observe_many([1]), stream.release):
        with pytest.raises(InvalidInput, match="stream is closed; open its file with"):
            attempt()
    assert len(ledger.entries) == 1
    stream.close()
    assert stream.ticks == 0


def test_what_was_left_to_the_library_may_be_left_again(tmp_path: Path) -> None:
    """Another version may choose another seed, other rows, or rarer totals: the file's own hold."""
    first = sdp.open_stream(tmp_path / "c.stream", sdp.ContinualCompressive(epsilon=1, horizon=64, rows=7, seed=3))
    first.close()
    with sdp.open_stream(tmp_path / "c.stream", sdp.ContinualCompressive(epsilon=1, horizon=64)) as again:
        assert again.describe() == first.describe()
    with pytest.raises(InvalidInput, match="rows is 8"):
        sdp.open_stream(tmp_path / "c.stream", sdp.ContinualCompressive(epsilon=1, horizon=64, rows=8))
    totals = sdp.ContinualAdaptive(epsilon=1, horizon=64, totals="0.3", totals_every=2)
    sdp.open_stream(tmp_path / "t.stream", totals).close()
    with sdp.open_stream(tmp_path / "t.stream", sdp.ContinualAdaptive(epsilon=1, horizon=64, totals="0.3")) as again:
        assert again.describe() == totals.describe()
