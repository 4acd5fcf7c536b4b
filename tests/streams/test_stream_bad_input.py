"""What a stream refuses: in one sentence, with nothing spent and the stream as it was."""

import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sparsedp as sdp
from sparsedp.errors import InvalidInput, PrivateSide, SparsedpError
from sparsedp.noise.source import NoiselessSource
from sparsedp.streams import _store

BAD_VALUES: list[Any] = [
    float("nan"),
    float("inf"),
    1.5,
    -1,
    2**63,
    -(2**70),
    "12",
    None,
    [1],
    [1, 2],
    Decimal("1.5"),
    1j,
    Ellipsis,
    np.float64(2.5),
    np.array([3, 4]),
]
BAD_ARRAYS: list[Any] = [[], [1, None], [1.5], ["a"], [[1, 2], [3, 4]], [1, -1], float("nan"), "12", [2.0**60]]


@pytest.mark.parametrize("value", BAD_VALUES, ids=repr)
def test_a_bad_value_is_one_sentence_and_nothing_happens(value: Any) -> None:
    ledger = sdp.Ledger(epsilon=1)
    stream = sdp.ContinualDifference(epsilon="0.5", horizon=10, ledger=ledger)
    with pytest.raises(InvalidInput) as caught:
        stream.observe(value)
    assert_plain(caught.value, "value")
    assert ledger.spent is None
    assert stream.ticks == 0


@pytest.mark.parametrize("values", BAD_ARRAYS, ids=repr)
def test_a_bad_batch_is_refused_whole(values: Any) -> None:
    stream = sdp.ContinualAdaptive(epsilon=1, source=NoiselessSource())
    stream.observe(7)
    with pytest.raises(InvalidInput) as caught:
        stream.observe_many(values)
    assert_plain(caught.value, "values")
    assert stream.ticks == 1
    assert stream.release("direct").values.tolist() == [7]


def assert_plain(error: InvalidInput, argument: str) -> None:
    text = str(error)
    assert text.startswith(f"{argument} is ")
    assert text.count("\n") == 0
    assert len(text) < 200
    for private in ("1.5", "2.5", "12'", "nan", "9223372036854775808"):
        assert private not in text.replace("resolution", "")


def test_values_that_are_whole_are_taken_in_every_form() -> None:
    stream = sdp.ContinualAdaptive(epsilon=1, source=NoiselessSource())
    for value in (3, 3.0, np.int32(3), np.uint64(3), np.float32(3), np.array(3), True + 2):
        assert stream.observe(value) == 3


@pytest.mark.parametrize("value", [7, 7.0])
def test_negative_values_where_they_are_allowed(value: float) -> None:
    stream = sdp.ContinualAdaptive(epsilon=1, negative=True, source=NoiselessSource())
    assert stream.observe(-value) == -7


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sdp.ContinualAdaptive(), "epsilon"),
        (lambda: sdp.ContinualAdaptive(epsilon=0), "epsilon is 0"),
        (lambda: sdp.ContinualAdaptive(epsilon="x"), "epsilon"),
        (lambda: sdp.ContinualAdaptive(epsilon=1, contribution=0), "contribution is 0"),
        (lambda: sdp.ContinualAdaptive(epsilon=1, unit="household"), "unit is 'household'"),
        (lambda: sdp.ContinualAdaptive(epsilon=1, negative="no"), "negative"),  # type: ignore[arg-type]
        (lambda: sdp.ContinualAdaptive(epsilon=1, start="2026-01-01"), "every"),
        (lambda: sdp.ContinualAdaptive(epsilon=1, horizon=5), "horizon is 5"),
        (lambda: sdp.ContinualAdaptive(epsilon=1, totals_every=4), "totals_every is 4"),
        (lambda: sdp.ContinualAdaptive(epsilon=1, totals="0.3"), "horizon is missing"),
        (lambda: sdp.ContinualAdaptive(epsilon=1, totals=1, horizon=9), "totals is 1"),
        (lambda: sdp.ContinualAdaptive(epsilon=1, totals="0.3", horizon=9, totals_every=3), "power of two"),
        (lambda: sdp.ContinualAdaptive(epsilon=1, totals="0.3", horizon=9, totals_every=16), "totals_every is 16"),
        (lambda: sdp.ContinualDifference(epsilon=1, horizon=0), "horizon is 0"),
        (lambda: sdp.ContinualDifference(epsilon=1, horizon=2.5), "horizon is 2.5"),  # type: ignore[arg-type]
        (lambda: sdp.ContinualDifference(epsilon="1e-60", horizon=8), "64-bit"),
        (lambda: sdp.ContinualCounter(epsilon=1, horizon=4, counters=0), "counters is 0"),
        (lambda: sdp.ContinualCompressive(epsilon=1, horizon=4, sparsity=5), "sparsity is 5"),
        (lambda: sdp.ContinualCompressive(epsilon=1, horizon=99, rows=0), "rows is 0"),
        (lambda: sdp.ContinualCompressive(epsilon=1, horizon=99, calibration="papr"), "did you mean 'paper'"),
        (lambda: sdp.ContinualCompressive(epsilon=1, horizon=99, basis="cosine", recovery="vamp_tree"), "vamp_tree"),
        (lambda: sdp.ContinualCompressive(epsilon=1, horizon=99, seed=-1), "seed is -1"),
        (lambda: sdp.ContinualAdaptive(epsilon=1, ledger=3), "ledger"),  # type: ignore[arg-type]
        (lambda: sdp.ContinualAdaptive(epsilon=1, source=3), "source"),  # type: ignore[arg-type]
    ],
)
def test_bad_settings_are_one_sentence(make: Callable[[], object], words: str) -> None:
    with pytest.raises(SparsedpError, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_the_horizon_ends_the_stream_and_leaves_it_as_it_was() -> None:
    stream = sdp.ContinualDifference(epsilon=1, horizon=5, source=NoiselessSource())
    stream.observe_many([1, 2, 3])
    with pytest.raises(InvalidInput, match="5 ticks are the horizon"):
        stream.observe_many([1, 2, 3])
    with pytest.raises(InvalidInput, match="5 ticks are the horizon"):
        stream.observe(1, at=5)
    assert stream.ticks == 3
    assert stream.observe_many([4, 5]).tolist() == [10, 15]
    with pytest.raises(InvalidInput, match="beyond number 4"):
        stream.observe(1)


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (1, "tick 2026-01-02 00:00, which is in the past"),
        (-1, "at is -1"),
        (2.5, "at"),
        ("yesterday", "at"),
        ("2025-12-31", "before"),
        ("2026-01-05T06:00", "at"),
        ("2026-01-02", "in the past"),
        (10**4, "say fill=9997 if nothing happened"),
        (True, "at"),
    ],
)
def test_a_bad_tick_is_refused(at: Any, words: str) -> None:
    stream = sdp.ContinualAdaptive(epsilon=1, start="2026-01-01", every="1d", source=NoiselessSource())
    stream.observe_many([1, 2, 3])
    with pytest.raises(InvalidInput, match=words):
        stream.observe(9, at=at)
    assert stream.ticks == 3


def test_vectors_for_counters_are_checked() -> None:
    counter = sdp.ContinualCounter(epsilon=1, horizon=9, counters=3)
    for bad in ([1, 2], 5, [1, 2, None], [[1, 2, 3]]):
        with pytest.raises(InvalidInput, match="value"):
            counter.observe(bad)
    for bad in ([1, 2, 3], [[1, 2]], [[1, 2, 3], [1]], []):
        with pytest.raises(InvalidInput, match="values"):
            counter.observe_many(bad)
    assert counter.ticks == 0


def test_threads_take_turns() -> None:
    stream = sdp.ContinualDifference(epsilon=1, horizon=4000, source=NoiselessSource())
    workers = [threading.Thread(target=lambda: [stream.observe(1) for _ in range(500)]) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert stream.ticks == 2000
    assert stream.release().values.tolist() == [1] * 2000


def test_a_stream_interrupted_inside_a_tick_gives_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    stream = sdp.ContinualDifference(epsilon=1, horizon=9)
    stream.observe(1)
    with monkeypatch.context() as patched:
        patched.setattr("sparsedp.streams._counters._run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            stream.observe(1)
    with pytest.raises(PrivateSide, match="interrupted"):
        stream.observe(1)


def test_a_signal_handler_cannot_get_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a signal came while a tick is being counted, and its handler used the stream."""
    for stream in (
        sdp.ContinualDifference(epsilon=1, horizon=9, source=NoiselessSource()),
        sdp.ContinualAdaptive(epsilon=1, source=NoiselessSource()),
    ):
        stream.observe(1)
        for owner, method in ((stream, "_advance"), (stream._store, "commit")):
            plain = getattr(owner, method)

            def interrupted(*arguments: Any, stream: sdp.Stream = stream, plain: Any = plain) -> Any:
                for use in (lambda: stream.observe(5), stream.release, stream.close):
                    with pytest.raises(PrivateSide, match="in the middle of a tick"):
                        use()
                return plain(*arguments)

            with monkeypatch.context() as patched:
                patched.setattr(owner, method, interrupted)
                stream.observe(2)
        assert stream.observe(3) in (8, 3)
        assert stream.ticks == 4


@pytest.mark.parametrize("stage", ["_Log.write", "MemoryStore.commit"])
def test_a_tick_interrupted_in_memory_leaves_no_second_version(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = sdp.ContinualAdaptive(epsilon=1, source=NoiselessSource())
    stream.observe(1)
    owner, method = stage.split(".")
    kind = getattr(_store, owner)
    plain = getattr(kind, method)

    def stopped(*arguments: Any) -> None:
        if stage == "_Log.write":
            plain(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(kind, method, stopped)
        with pytest.raises(KeyboardInterrupt):
            stream.observe(77)
    store: Any = stream._store
    assert 77 not in store._logs["count"]._room
    assert [stream.observe(2), stream.observe(3)] == [2, 3]
    assert stream.release("direct").values.tolist() == [1, 2, 3]


def test_masked_counts_are_refused() -> None:
    masked = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    with pytest.raises(InvalidInput, match="masked"):
        sdp.ContinualCounter(epsilon=1, horizon=4, counters=2).observe_many(masked)
    hidden: list[Any] = [np.ma.array(7, mask=True), np.ma.masked]
    for value in hidden:
        with pytest.raises(InvalidInput, match="masked"):
            sdp.ContinualAdaptive(epsilon=1).observe(value)


def test_an_unknown_argument_is_named() -> None:
    with pytest.raises(InvalidInput, match="eps is not an argument of this stream; every stream takes epsilon, "):
        sdp.ContinualAdaptive(eps=1)  # type: ignore[call-arg]


def test_a_series_is_taken_at_its_times() -> None:
    days = pd.date_range("2026-01-03", periods=4)
    stream = sdp.ContinualAdaptive(epsilon=1, start="2026-01-01", every="1d", source=NoiselessSource())
    with pytest.raises(InvalidInput, match="before which 2 ticks are missing; check it, or say fill=2"):
        stream.observe_many(pd.Series([5, 6, 7, 8], index=days))
    assert stream.ticks == 0
    stream.observe_many(pd.Series([5, 6, 7, 8], index=days), fill=2)
    assert stream.release("direct").values.tolist() == [0, 0, 5, 6, 7, 8]
    with pytest.raises(InvalidInput, match="not one tick after another"):
        stream.observe_many(pd.Series([1, 2], index=[days[3] + pd.Timedelta(days=1), days[3] + pd.Timedelta(days=9)]))
    with pytest.raises(InvalidInput, match="at is not where the series begins"):
        stream.observe_many(pd.Series([1], index=[days[3] + pd.Timedelta(days=1)]), at=9)
    stream.observe_many(pd.Series([9, 10]))
    assert stream.ticks == 8


def test_a_gap_must_be_meant() -> None:
    stream = sdp.ContinualAdaptive(epsilon=1, start="2026-01-01", every="1d", source=NoiselessSource())
    stream.observe(1)
    with pytest.raises(InvalidInput, match=r"2035-01-02 00:00, before which 3,287 ticks are missing; .* fill=3287"):
        stream.observe(2, at="2035-01-02")
    assert stream.ticks == 1
    stream.observe(2, at="2035-01-02", fill=3287)
    assert stream.ticks == 3289
