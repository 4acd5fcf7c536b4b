"""Every moment at which a process can be killed, one after the other: what the next one finds is as it should be.

Where SQLite's own writes cannot be watched, because this Python has it built in, fewer moments are met; none is skipped
that can be.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from crash_states import CrashState, recorded
from durable_streams import COUNTERS, KINDS, LOUD, kept, numbers_of, raw_count
from hidden_integers import found_in, telling
from page_images import page_images
from quick_folder import quick_folder
from told_history import running_sums

import sparsedp as sdp
from sparsedp.streams import Stream
from sparsedp.streams.durable._sealing import LABEL

BATCHES = (1, 2, 600, 1, 5, 1)
"""How many ticks at a time: one of them fills several pages, so that the file grows."""

TICKS = sum(BATCHES)


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as place:
        yield place


def states_of(path: Path, kind: str) -> tuple[list[CrashState], dict[int, dict[str, object]]]:
    """Run a stream from its first tick to its close; its crash states, and what it remembered after each batch."""
    remembered = {}
    with sdp.open_stream(path, KINDS[kind](epsilon=LOUD)) as stream:
        remembered[0] = kept(stream)
        with recorded(path, lambda: max(remembered)) as states:
            for batch in BATCHES:
                first = stream.ticks
                stream.observe_many([raw_count(tick) for tick in range(first, first + batch)], at=first)
                remembered[stream.ticks] = kept(stream)
            stream.close()
    return states, remembered


@pytest.mark.parametrize("kind", KINDS)
def test_every_state_is_opened_and_goes_on(kind: str, folder: Path) -> None:
    states, remembered = states_of(folder / "cases.stream", kind)
    exact = {raw_count(tick) for tick in range(TICKS)} | set(running_sums()[:TICKS])
    for number, state in enumerate(states):
        path = state.laid_out(folder / f"state {number}") / "cases.stream"
        assert not found_in(page_images(path), exact)
        with sdp.open_stream(path) as stream:
            assert stream.ticks >= state.acknowledged
            assert kept(stream) == remembered[stream.ticks]
            images = page_images(path)
            assert {image.file for image in images} == {path.name}
            assert not found_in(images, exact | numbers_gone(remembered, stream))
            stream.observe_many([1, 2, 3], at=stream.ticks)


def numbers_gone(remembered: dict[int, dict[str, object]], stream: Stream) -> set[int]:
    """Every number of every state of the counters that the stream went through, but for the present one's."""
    return telling(numbers_of(list(remembered.values())) - numbers_of(kept(stream)))


@pytest.mark.parametrize("kind", COUNTERS)
def test_at_no_moment_can_two_versions_be_read(kind: str, folder: Path) -> None:
    """Before anything is opened: one key, no state in the clear, and nothing published that was not committed."""
    states, remembered = states_of(folder / "cases.stream", kind)
    assert sum(state.coming == "write the key" for state in states) == len(BATCHES)
    in_states, published = (
        numbers_of([each[part] for each in remembered.values()]) for part in ("counters", "published")
    )
    for number, state in enumerate(states):
        path = state.laid_out(folder / f"state {number}") / "cases.stream"
        images = page_images(path)
        assert sum(image.content.count(LABEL) for image in images) == 1
        assert not found_in(images, telling(in_states - published))
        with sdp.open_stream(path) as stream:
            later = published - numbers_of(kept(stream)["published"])
        assert not found_in(images, telling(later))
