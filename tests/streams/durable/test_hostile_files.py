"""Stream files that somebody made to keep whoever opens them busy for ever: refused at once, in a sentence."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

import sparsedp as sdp

PAGE = 4096
ENDLESS = "WITH RECURSIVE more(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM more)"


def made(path: Path) -> Path:
    with sdp.open_stream(path, sdp.ContinualAdaptive(epsilon=1)) as stream:
        stream.observe(12)
    return path


def changed(path: Path, *statements: str) -> None:
    file = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        file.execute(statement)
    file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()


def a_view_for_the_description(path: Path) -> None:
    columns = "max(i) AS description, 1 AS private, 0 AS in_use"
    endless = f"CREATE VIEW stream AS {ENDLESS} SELECT {columns} FROM more"  # noqa: S608
    changed(path, "DROP TABLE stream", endless)


def a_view_for_the_counts(path: Path) -> None:
    endless = f"CREATE VIEW counts AS {ENDLESS} SELECT i AS tick, i AS count FROM more"  # noqa: S608
    changed(path, "DROP TABLE counts", endless)


def a_trigger(path: Path) -> None:
    endless = f"INSERT INTO gaps {ENDLESS} SELECT i, i FROM more"  # noqa: S608
    changed(path, f"CREATE TRIGGER busy AFTER UPDATE ON stream BEGIN {endless}; END")


def a_generated_column(path: Path) -> None:
    changed(path, "ALTER TABLE stream ADD COLUMN more GENERATED ALWAYS AS (hex(zeroblob(900000000)))")


def a_description_nested_deep(path: Path) -> None:
    changed(path, "UPDATE stream SET description = replace(hex(zeroblob(100000)), '0', '[')")


def pages_that_lead_to_one_another(path: Path) -> None:
    """A table of twelve levels whose pages each name the next one three hundred times: 300¹² rows in 60 KB."""
    changed(path, "PRAGMA journal_mode = DELETE")
    content = bytearray(path.read_bytes())
    first = len(content) // PAGE + 1
    for level in range(12):
        below = (first + level + 1).to_bytes(4, "big")
        cells = [below + bytes([0x81, number % 128]) for number in range(300)]
        begins = [PAGE - 6 * (place + 1) for place in range(300)]
        head = bytes([5, 0, 0]) + len(cells).to_bytes(2, "big") + begins[-1].to_bytes(2, "big") + bytes(1) + below
        page = head + b"".join(begin.to_bytes(2, "big") for begin in begins)
        content += page + bytes(begins[-1] - len(page)) + b"".join(reversed(cells))
    leaf = bytes([4, 1, 2, 1, 5, 0])  # a row of two columns: the tick, which is its number, and 5
    content += bytes(
        [13, 0, 0, 0, 1, *(PAGE - len(leaf)).to_bytes(2, "big"), 0, *(PAGE - len(leaf)).to_bytes(2, "big")]
    )
    content += bytes(PAGE - 10 - len(leaf)) + leaf
    content[28:32] = (len(content) // PAGE).to_bytes(4, "big")
    path.write_bytes(content)
    elsewhere = f"UPDATE sqlite_schema SET rootpage = {first} WHERE name = 'counts'"  # noqa: S608
    changed(path, "PRAGMA writable_schema = ON", elsewhere)


HOSTILE = [
    a_view_for_the_description,
    a_view_for_the_counts,
    a_trigger,
    a_generated_column,
    a_description_nested_deep,
    pages_that_lead_to_one_another,
]


@pytest.mark.parametrize("attack", HOSTILE)
def test_a_file_without_end_is_refused(attack: Callable[[Path], None], tmp_path: Path) -> None:
    path = made(tmp_path / "cases.stream")
    attack(path)
    with pytest.raises(sdp.BadFile) as caught:
        sdp.open_stream(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
