"""Laws that every stream obeys, with the test-only source that makes no noise."""

from typing import Any

import numpy as np
import pytest
from every_stream import STREAMS, exact_values, recovered
from hypothesis import given, settings
from hypothesis import strategies as st

import sparsedp as sdp
from sparsedp.errors import InvalidInput, PrivateSide
from sparsedp.noise.source import NoiselessSource, SeededSource
from sparsedp.streams import Stream

EVERY = pytest.mark.parametrize("name", STREAMS)


@EVERY
@given(extra=st.integers(0, 300), seed=st.integers(0, 2**32))
@settings(max_examples=4)
def test_without_noise_every_prefix_is_exact(name: str, extra: int, seed: int) -> None:
    """For every t ≤ 200 and a random horizon: what is published, and, where the prefix is sparse, what is recovered."""
    generator = np.random.default_rng(seed)
    steps = np.sort(generator.choice(np.arange(1, 200), 2, replace=False))
    counts = np.repeat(generator.integers(0, 1000, 3), np.diff([0, *steps, 200]))
    stream = STREAMS[name](200 + extra, NoiselessSource())
    for t in range(1, 201):
        stream.observe(int(counts[t - 1]))
        np.testing.assert_array_equal(stream.synopsis().values, exact_values(stream, counts[:t]))
        if t % 9 == 1 and (t <= 24 or "compressive" not in name):
            np.testing.assert_allclose(recovered(stream), counts[:t], atol=1e-3)
    assert stream.ticks == 200


@EVERY
@given(
    batches=st.lists(st.integers(0, 30), min_size=1, max_size=8),
    gaps=st.lists(st.integers(0, 5), min_size=8, max_size=8),
)
@settings(max_examples=15)
def test_many_at_once_equal_one_by_one(name: str, batches: list[int], gaps: list[int]) -> None:
    """Batches, single ticks and gaps that are filled with zeros come to the same."""
    together, single = STREAMS[name](300, NoiselessSource()), STREAMS[name](300, NoiselessSource())
    generator = np.random.default_rng(len(batches))
    for batch, gap in zip(batches, gaps, strict=False):
        counts = generator.integers(0, 1000, batch)
        if not batch:
            continue
        at = together.ticks + gap
        many = together.observe_many(counts, at=at, fill=gap)
        for _ in range(gap):
            single.observe(0)
        one_by_one = [single.observe(int(count)) for count in counts]
        assert together.ticks == single.ticks == at + batch
        if many is None:
            assert one_by_one == [None] * batch
        else:
            np.testing.assert_array_equal(many, one_by_one)
    if together.ticks:
        np.testing.assert_array_equal(together.synopsis().values, single.synopsis().values)


@EVERY
def test_many_at_once_and_one_by_one_have_the_same_noise_law(name: str) -> None:
    def spread(single: bool) -> float:
        ends = []
        for seed in range(150):
            stream = _noisy(name, seed)
            if single:
                for _ in range(8):
                    stream.observe(0)
            else:
                stream.observe_many(np.zeros(8, np.int64))
            ends.append(stream.synopsis().values)
        return float(np.mean(np.square(np.array(ends, float))))

    assert spread(single=True) == pytest.approx(spread(single=False), rel=0.35)


def _noisy(name: str, seed: int) -> Stream:
    source = SeededSource(seed)
    if name == "difference":
        return sdp.ContinualDifference(epsilon=1, horizon=8, source=source)
    if name.startswith("compressive"):
        calibration = "paper" if "paper" in name else "correct"
        return sdp.ContinualCompressive(
            epsilon=1, horizon=8, rows=3, sparsity=1, seed=1, calibration=calibration, source=source
        )
    if name == "adaptive":
        return sdp.ContinualAdaptive(epsilon=1, source=source)
    return sdp.ContinualAdaptive(epsilon=1, totals="0.5", horizon=8, totals_every=2, source=source)


@EVERY
def test_a_release_is_free_repeatable_and_has_times(name: str) -> None:
    ledger = sdp.Ledger(epsilon="1e12")
    stream = _with(name, ledger=ledger, start="2026-01-01", every="1d")
    assert ledger.spent is None
    stream.observe_many([3, 0, 4])
    first = stream.release()
    assert ledger.spent == stream.spent == first.spent
    stream.observe(5, at="2026-01-05", fill=1)
    second = stream.release()
    assert ledger.spent == stream.spent
    assert len(first) == 3
    assert len(second) == 5
    assert str(second.times[4])[:10] == "2026-01-05"
    np.testing.assert_array_equal(stream.release().values, second.values)


@EVERY
def test_the_synopsis_of_a_stream_can_be_stored(name: str, tmp_path: pytest.TempPathFactory) -> None:
    stream = _with(name, start="2026-01-01T00:00Z", every="1h")
    stream.observe_many(np.arange(20))
    synopsis = stream.synopsis()
    opened = sdp.open_synopsis(synopsis.save(f"{tmp_path}/stream.synopsis"))
    assert (opened.law, opened.guarantee, opened.time) == (synopsis.law, synopsis.guarantee, synopsis.time)
    np.testing.assert_array_equal(opened.recover().values, stream.release().values)
    release = sdp.open_release(stream.release().save(f"{tmp_path}/stream.parquet"))
    assert release.guarantee == stream.guarantee
    np.testing.assert_array_equal(release.times, stream.release().times)


def _with(name: str, **terms: Any) -> Stream:
    """The stream of that name with other terms, made from its own settings."""
    made = STREAMS[name](64, NoiselessSource())
    kind: Any = type(made)
    again: Stream = kind(**{"epsilon": "1e9", "source": NoiselessSource(), **terms, **made._settings()})
    return again


@EVERY
def test_settings_describe_the_stream(name: str) -> None:
    assert _with(name).describe() == STREAMS[name](64, NoiselessSource()).describe()
    assert repr(_with(name)).startswith("Continual")


@EVERY
def test_a_stream_cannot_be_copied_or_sent(name: str) -> None:
    import copy
    import pickle

    stream = STREAMS[name](64, NoiselessSource())
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(PrivateSide, match="two versions"):
            attempt(stream)
        if stream._state is not None:
            with pytest.raises(PrivateSide, match="two versions"):
                attempt(stream._state)


@EVERY
def test_nothing_to_release_before_the_first_tick(name: str) -> None:
    with pytest.raises(InvalidInput, match="without a single tick"):
        STREAMS[name](64, NoiselessSource()).release()


def test_counters_in_vectors_equal_single_counters() -> None:
    counts = np.random.default_rng(1).integers(0, 50, (40, 3))
    together = sdp.ContinualCounter(epsilon=1, horizon=40, counters=3, source=NoiselessSource())
    np.testing.assert_array_equal(together.observe_many(counts), np.cumsum(counts, axis=0))
    single = sdp.ContinualCounter(epsilon=1, horizon=40, source=NoiselessSource())
    assert [single.observe(int(count)) for count in counts[:, 0]] == np.cumsum(counts[:, 0]).tolist()
    np.testing.assert_array_equal(together.release().values, counts.sum(axis=0))
