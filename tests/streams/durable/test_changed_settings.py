"""The settings of a stream in a file stay as they are; whoever asks for others is told which, and nothing happens."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from durable_streams import kept

import sparsedp as sdp
from sparsedp.streams import Stream

Settings = dict[str, Any]

TERMS: Settings = {"epsilon": "0.5", "start": "2026-01-01", "every": "1d"}
TOTALS: Settings = {"epsilon": 1, "totals": "0.3", "horizon": 16, "totals_every": 2}
COMPRESSIVE: Settings = {"epsilon": 1, "horizon": 16, "sparsity": 2, "rows": 4, "seed": 3}

CHANGES: list[tuple[str, type[Stream], Settings, Settings]] = [
    ("epsilon", sdp.ContinualAdaptive, TERMS, {"epsilon": "0.51"}),
    ("contribution", sdp.ContinualAdaptive, TERMS, {"contribution": 2}),
    ("unit", sdp.ContinualAdaptive, TERMS, {"unit": "person"}),
    ("neighbours", sdp.ContinualAdaptive, TERMS, {"neighbours": "replace_one"}),
    ("negative", sdp.ContinualAdaptive, TERMS, {"negative": True}),
    ("sampler", sdp.ContinualAdaptive, TERMS, {"sampler": "opendp"}),
    ("start", sdp.ContinualAdaptive, TERMS, {"start": "2026-01-02"}),
    ("every", sdp.ContinualAdaptive, TERMS, {"every": "1h"}),
    ("start", sdp.ContinualAdaptive, TERMS, {"start": None, "every": None}),
    ("horizon", sdp.ContinualDifference, {"epsilon": 1, "horizon": 16}, {"horizon": 17}),
    ("totals", sdp.ContinualAdaptive, {"epsilon": 1}, TOTALS),
    ("totals", sdp.ContinualAdaptive, TOTALS, {"totals": None, "horizon": None, "totals_every": None}),
    ("totals", sdp.ContinualAdaptive, TOTALS, {"totals": "0.31"}),
    ("horizon", sdp.ContinualAdaptive, TOTALS, {"horizon": 15}),
    ("totals_every", sdp.ContinualAdaptive, TOTALS, {"totals_every": 1}),
    ("horizon", sdp.ContinualCompressive, COMPRESSIVE, {"horizon": 15}),
    ("sparsity", sdp.ContinualCompressive, COMPRESSIVE, {"sparsity": 3}),
    ("rows", sdp.ContinualCompressive, COMPRESSIVE, {"rows": 5}),
    ("seed", sdp.ContinualCompressive, COMPRESSIVE, {"seed": 4}),
    ("basis", sdp.ContinualCompressive, COMPRESSIVE, {"basis": "cosine"}),
    ("recovery", sdp.ContinualCompressive, COMPRESSIVE, {"recovery": "cosamp"}),
    ("calibration", sdp.ContinualCompressive, COMPRESSIVE, {"calibration": "paper"}),
]


def refused(path: Path, present: Callable[[], Stream], changed: Stream, name: str) -> None:
    with sdp.open_stream(path, present()) as stream:
        stream.observe(3)
        before = kept(stream)
    content = path.read_bytes()
    with pytest.raises(sdp.InvalidInput, match=f"^{name} is .*, which is not what the stream in the file has; it has"):
        sdp.open_stream(path, changed)
    assert path.read_bytes() == content
    with sdp.open_stream(path, present()) as stream:
        assert kept(stream) == before
        stream.observe(4)


@pytest.mark.parametrize(("name", "kind", "present", "change"), CHANGES, ids=[each[0] for each in CHANGES])
def test_changed_settings(name: str, kind: Any, present: Settings, change: Settings, tmp_path: Path) -> None:
    refused(tmp_path / "cases.stream", lambda: kind(**present), kind(**present | change), name)


def test_every_setting_is_among_the_changes() -> None:
    described = sdp.ContinualAdaptive(**TERMS).describe()["terms"]
    for kind, settings in ((sdp.ContinualAdaptive, TOTALS), (sdp.ContinualCompressive, COMPRESSIVE)):
        described |= kind(**settings).describe()["settings"]
    assert set(described) == {name for name, *_ in CHANGES}


def test_another_stream(tmp_path: Path) -> None:
    changed = sdp.ContinualDifference(epsilon=1, horizon=16)
    refused(tmp_path / "cases.stream", lambda: sdp.ContinualAdaptive(epsilon=1), changed, "stream")


def test_a_seed_that_was_left_to_chance_is_taken_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "cases.stream"
    first = sdp.ContinualCompressive(epsilon=1, horizon=16, rows=4)
    sdp.open_stream(path, first).close()
    with sdp.open_stream(path, sdp.ContinualCompressive(epsilon=1, horizon=16, rows=4)) as stream:
        assert stream.describe() == first.describe()


def test_a_stream_that_has_begun_is_not_taken(tmp_path: Path) -> None:
    begun = sdp.ContinualAdaptive(epsilon=1)
    begun.observe(3)
    with pytest.raises(sdp.InvalidInput, match="stream is one that has begun; give one without ticks"):
        sdp.open_stream(tmp_path / "cases.stream", begun)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("wrong", [sdp.ContinualCounter(epsilon=1, horizon=9), sdp.Laplace(), "adaptive", 5])
def test_what_is_no_durable_stream_is_not_taken(tmp_path: Path, wrong: Any) -> None:
    with pytest.raises(sdp.InvalidInput, match=r"stream is of type .*; give one of ContinualAdaptive"):
        sdp.open_stream(tmp_path / "cases.stream", wrong)
    assert not list(tmp_path.iterdir())
