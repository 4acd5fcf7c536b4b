"""A stream that ever took noise from a test source says so for ever: in the object, the file, the release."""

from pathlib import Path

import pytest
from durable_streams import KINDS

import sparsedp as sdp
from sparsedp.noise.source import NoiselessSource, RandomSource, SeededSource, SystemSource


class Pretender(SystemSource):
    """No subclass of the real source is the real source."""


@pytest.mark.parametrize("kind", KINDS)
def test_real_noise_is_private(kind: str, tmp_path: Path) -> None:
    with sdp.open_stream(tmp_path / "cases.stream", KINDS[kind](epsilon=1)) as stream:
        stream.observe(1)
        assert stream.private
        assert stream.release().private
    with sdp.open_stream(tmp_path / "cases.stream") as stream:
        assert stream.private


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "source", [SeededSource(1), NoiselessSource(), Pretender()], ids=lambda each: type(each).__name__
)
def test_a_test_source_is_remembered(kind: str, source: RandomSource, tmp_path: Path) -> None:
    path = tmp_path / "cases.stream"
    with sdp.open_stream(path, KINDS[kind](epsilon=1, source=source)) as stream:
        stream.observe(1)
        assert not stream.private
    for given in (None, KINDS[kind](epsilon=1)):
        with sdp.open_stream(path, given) as stream:
            stream.observe(1)
            assert not stream.private
            assert not stream.synopsis().guarantee.private
            assert not stream.release().private


@pytest.mark.parametrize("kind", KINDS)
def test_once_is_enough(kind: str, tmp_path: Path) -> None:
    """Real noise before and after does not mend it; opening with a test source is taken for use, whatever follows."""
    path = tmp_path / "cases.stream"
    with sdp.open_stream(path, KINDS[kind](epsilon=1)) as stream:
        stream.observe(1)
        assert stream.private
    sdp.open_stream(path, KINDS[kind](epsilon=1, source=SeededSource(1))).close()
    with sdp.open_stream(path) as stream:
        assert not stream.private


def test_an_opening_that_was_refused_marks_nothing(tmp_path: Path) -> None:
    path = tmp_path / "cases.stream"
    sdp.open_stream(path, sdp.ContinualAdaptive(epsilon=1)).close()
    with pytest.raises(sdp.InvalidInput):
        sdp.open_stream(path, sdp.ContinualAdaptive(epsilon=2, source=SeededSource(1)))
    with sdp.open_stream(path) as stream:
        assert stream.private
