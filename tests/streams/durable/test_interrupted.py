"""An interruption (Ctrl-C) at any line of a tick: the tick is there or it is not, and the stream goes on."""

from pathlib import Path

import pytest
from durable_streams import KINDS, LOUD, kept, numbers_of, raw_count
from hidden_integers import found_in, telling
from page_images import page_images
from quick_folder import quick_folder
from told_history import running_sums, signed_64

import sparsedp as sdp
from interrupted_lines import interrupted_at
from sparsedp.streams import Stream, base

STREAMS = str(Path(base.__file__).parent)
TAKEN_BACK = 30
"""At least so many lines of a tick must have been interrupted, or the interruptions do not reach it."""


def first_noise(stream: Stream) -> int | None:
    """What the count holds beside the exact sum: it never changes, or a tick was counted twice or not at all."""
    state = stream._state
    if state is None or stream.ticks == 0 or isinstance(stream, sdp.ContinualCompressive):
        return None
    return signed_64(int(state.count[0]) - running_sums()[stream.ticks - 1])


# What a line opened and its interruption left open is closed when it is forgotten, with a warning.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_interrupted_at_every_line(kind: str) -> None:
    with quick_folder() as folder:
        path = folder / "cases.stream"
        stream = sdp.open_stream(path, KINDS[kind](epsilon=LOUD))
        stream.observe(raw_count(0))
        noise, line, went_through = first_noise(stream), 0, False
        while not went_through:
            line += 1
            tick, before = stream.ticks, kept(stream)
            try:
                with interrupted_at(line, STREAMS):
                    stream.observe(raw_count(tick), at=tick)
                went_through = True
            except KeyboardInterrupt:
                assert stream.ticks in (tick, tick + 1)
                assert stream.ticks > tick or kept(stream) == before
            assert first_noise(stream) == noise
            now = kept(stream)
            gone = telling(numbers_of(before) - numbers_of(now)) | {raw_count(tick)}
            assert not found_in(page_images(path), gone)
        assert line > TAKEN_BACK
        stream.close()
        with sdp.open_stream(path) as stream:
            assert kept(stream) == now
