"""The trace LBL-CONN-7, in the format of its archive, by five minutes."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from sparsedp.datasets import connection_trace
from sparsedp.datasets.connection_trace import CELLS, FILES, connections, trace_file
from sparsedp.errors import BadFile

START = 748_162_800
"""Midnight of 16 September 1993 in Berkeley, in seconds since 1970."""


def row(begun: float, flags: str = "L") -> str:
    return f"{begun:.6f} 1.5 smtp 2429 ? 7 192.0.2.1 SF {flags}\n"


def rows(start: float) -> bytes:
    """Six connections, not in order: three in the first cell, one in the third, one in the last, one after it."""
    begun = (2.4, 299.999999, 0, 600, CELLS * 300 - 0.5, CELLS * 300 + 10)
    text = "".join(row(start + each) for each in begun[::-1])
    return text.replace(" SF L\n", " REJ\n", 1).encode()


@pytest.mark.parametrize("start", [0, START])
@pytest.mark.parametrize("packed", [False, True])
def test_connections_fall_in_the_five_minutes_in_which_they_began(tmp_path: Path, start: int, packed: bool) -> None:
    path = tmp_path / "trace"
    path.write_bytes(gzip.compress(rows(start)) if packed else rows(start))
    counts = connections(path)
    assert counts.shape == (8640,)
    assert counts.dtype == np.int64
    assert {int(cell): int(counts[cell]) for cell in np.flatnonzero(counts)} == {0: 3, 2: 1, 8639: 1}


def test_cells_are_the_clocks(tmp_path: Path) -> None:
    """Five minutes that begin with the clock's, not with the first connection."""
    (tmp_path / "trace").write_text(row(START + 299) + row(START + 301))
    assert connections(tmp_path / "trace")[:3].tolist() == [1, 1, 0]


@pytest.mark.parametrize("name", FILES)
def test_the_folder_may_hold_it_under_each_of_its_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("SPARSEDP_DATA", str(tmp_path))
    assert trace_file() is None
    with pytest.raises(BadFile, match=r"There is no .*lbl-conn-7\.red; get the trace LBL-CONN-7 from https://ita"):
        connections()
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(gzip.compress(rows(0)) if name.endswith(".gz") else rows(0))
    assert trace_file() == tmp_path / name
    assert connections().sum() == 5


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"2.5 1 smtp 1 1 1 2\n", "rows that cannot be read"),
        (b"2.5 1 smtp 1 1 1 2 SF L more\n", "rows that cannot be read"),
        (b"? 1 smtp 1 1 1 2 SF L\n", "rows that cannot be read"),
        (b"nan 1 smtp 1 1 1 2 SF L\n", "rows that cannot be read"),
        (b"inf 1 smtp 1 1 1 2 SF L\n", "rows that cannot be read"),
        (b"-1 1 smtp 1 1 1 2 SF L\n", "rows that cannot be read"),
        (b"1e300 1 smtp 1 1 1 2 SF L\n", "rows that cannot be read"),
        (b"\x00" * 100_000, "rows that cannot be read"),
        (row(0).encode() + row(31 * 86_400).encode(), "spread over more than 30 days"),
        (gzip.compress(rows(0), mtime=0)[:-12], "damaged or was cut short"),
        (gzip.compress(rows(0), mtime=0)[:12] + b"\xff" * 40, "damaged or was cut short"),
        (b"\x1f\x9d\x90rest", "`gzip -dc` or `uncompress` can"),
    ],
)
def test_what_is_not_the_trace_is_refused_in_a_sentence(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "lbl-conn-7.red"
    path.write_bytes(content)
    with pytest.raises(BadFile) as error:
        connections(path)
    assert says in str(error.value)
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("limit", "line"), [("MOST_ROWS", row(0).encode()), ("MOST_ROWS", b"\n"), ("MOST_BYTES", row(0).encode())]
)
def test_a_small_file_that_unpacks_to_a_huge_one_is_not_read_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, line: bytes
) -> None:
    path = tmp_path / "lbl-conn-7.red.gz"
    most = 100 if limit == "MOST_ROWS" else 100 * len(line)
    monkeypatch.setattr(connection_trace, limit, most)
    path.write_bytes(gzip.compress(row(0).encode() + line * 99))
    assert connections(path).sum() >= 1
    path.write_bytes(gzip.compress(row(0).encode() + line * 100 + b"no row"))
    with pytest.raises(BadFile, match=r"is not LBL-CONN-7: it is far larger than that; get the trace"):
        connections(path)


def test_the_limits_leave_room_for_the_trace() -> None:
    assert connection_trace.MOST_ROWS > 606_497
    assert connection_trace.MOST_BYTES > 606_497 * 100


def test_a_trace_that_may_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="Is a directory"):
        connections(tmp_path)


def test_thirty_days_of_five_minutes() -> None:
    assert connection_trace.CELLS == 30 * 24 * 12
