"""The parser must find what is hidden, wherever it is hidden; and without the scrub it must find second versions."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest
from durable_streams import COUNTERS, KINDS, LOUD, kept, numbers_of, raw_count
from hidden_integers import found_in, telling, widths_of
from page_images import files_of, page_images

import sparsedp as sdp
from sparsedp.streams import Stream
from sparsedp.streams._counters import CounterState
from sparsedp.streams.durable import _sealing
from sparsedp.streams.durable._sealing import LABEL

SECRET = 0x2B5A_91C3_7F04_66E1
OTHERS = [raw_count(tick) for tick in range(50)]


def places_of(path: Path, value: int) -> set[str]:
    found = found_in(page_images(path), [value, *OTHERS])
    assert not set(found) - {value}
    return found.get(value, set())


def leaky_database(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA journal_mode = {mode}")
    connection.execute("PRAGMA secure_delete = OFF")
    connection.execute("CREATE TABLE t (number INTEGER PRIMARY KEY, value)")
    return connection


@pytest.mark.parametrize("value", [2**25 + 77, 2**38 + 12345, -(2**30) - 5, SECRET, -SECRET])
@pytest.mark.parametrize("form", ["integer", "blob", "text", "real"])
def test_a_stored_value_is_found(tmp_path: Path, value: int, form: str) -> None:
    stored = {
        "integer": value,
        "blob": np.array([1, value, 2], "<i8").tobytes(),
        "text": f"it was {value}, really",
        "real": float(value),
    }
    connection = leaky_database(tmp_path / "x.db", "DELETE")
    connection.execute("INSERT INTO t VALUES (1, ?)", (stored[form],))
    connection.close()
    assert places_of(tmp_path / "x.db", value) == {"x.db: page, table leaf, page 2"}


@pytest.mark.parametrize("value", [100, 128, -128, -129, 2**15, 2**23, 2**31, 2**47, 2**63 - 1, -(2**63)])
def test_widths_are_those_of_sqlite(tmp_path: Path, value: int) -> None:
    connection = leaky_database(tmp_path / "x.db", "DELETE")
    connection.execute("INSERT INTO t VALUES (1, ?)", (value,))
    connection.close()
    page = page_images(tmp_path / "x.db")[1].content
    cell = int.from_bytes(page[8:10], "big")
    assert page[cell] == 3 + widths_of(np.array([value]))[0], "a record is a header of three bytes and the integer"


def test_a_deleted_row_is_found_in_unallocated_space(tmp_path: Path) -> None:
    connection = leaky_database(tmp_path / "x.db", "DELETE")
    connection.execute("INSERT INTO t VALUES (1, 5), (2, ?)", (SECRET,))
    connection.execute("DELETE FROM t WHERE number = 2")
    connection.close()
    assert places_of(tmp_path / "x.db", SECRET) == {"x.db: page, table leaf, page 2"}


def test_a_dropped_table_is_found_in_the_freelist(tmp_path: Path) -> None:
    connection = leaky_database(tmp_path / "x.db", "DELETE")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(i, bytes(300)) for i in range(100)])
    connection.execute("INSERT INTO t VALUES (100, ?)", (SECRET,))
    connection.execute("DROP TABLE t")
    connection.close()
    assert {place.split(", ")[1] for place in places_of(tmp_path / "x.db", SECRET)} == {"freelist leaf"}


def test_an_overflow_page_is_read(tmp_path: Path) -> None:
    connection = leaky_database(tmp_path / "x.db", "DELETE")
    connection.execute("INSERT INTO t VALUES (1, ?)", (bytes(6000) + SECRET.to_bytes(8, "little") + bytes(100),))
    connection.close()
    assert {place.split(", ")[1] for place in places_of(tmp_path / "x.db", SECRET)} == {"overflow or unused"}


def test_frames_of_the_log_are_read(tmp_path: Path) -> None:
    connection = leaky_database(tmp_path / "x.db", "WAL")
    connection.execute("INSERT INTO t VALUES (1, ?)", (SECRET,))
    connection.execute("UPDATE t SET value = 5")
    (found,) = places_of(tmp_path / "x.db", SECRET)
    assert found.endswith("committed, page 2")
    assert found.startswith("x.db-wal: frame")
    connection.execute("PRAGMA wal_checkpoint(RESTART)")
    connection.execute("INSERT INTO t VALUES (2, 6)")
    (found,) = places_of(tmp_path / "x.db", SECRET)
    assert found.endswith("stale, page 2"), "the new log overwrote its first frame alone"
    connection.close()


def test_uncommitted_frames_are_read(tmp_path: Path) -> None:
    connection = leaky_database(tmp_path / "x.db", "WAL")
    connection.execute("PRAGMA cache_size = 10")
    connection.execute("BEGIN")
    connection.execute("INSERT INTO t VALUES (0, ?)", (SECRET,))
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(i, bytes(1000)) for i in range(1, 100)])
    assert all("uncommitted" in place for place in places_of(tmp_path / "x.db", SECRET))
    assert places_of(tmp_path / "x.db", SECRET)
    connection.execute("ROLLBACK")
    connection.close()


def test_a_journal_is_read(tmp_path: Path) -> None:
    connection = leaky_database(tmp_path / "x.db", "PERSIST")
    connection.execute("INSERT INTO t VALUES (1, ?)", (SECRET,))
    connection.execute("BEGIN")
    connection.execute("PRAGMA cache_spill = 1")
    connection.execute("PRAGMA cache_size = 10")
    connection.execute("UPDATE t SET value = 5")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(i, bytes(1000)) for i in range(2, 100)])
    assert any(place.startswith("x.db-journal: journal record") for place in places_of(tmp_path / "x.db", SECRET))
    connection.execute("COMMIT")
    connection.close()
    # The end of a transaction in this mode overwrites the header of the journal and leaves its pages.
    assert places_of(tmp_path / "x.db", SECRET) == {"x.db-journal: journal without a header, page 0"}


def test_files_beside_it_are_read(tmp_path: Path) -> None:
    (tmp_path / ".x.db.0123").write_bytes(b"abc" + SECRET.to_bytes(8, "big"))
    (tmp_path / "y.db").write_bytes(SECRET.to_bytes(8, "big"))
    assert places_of(tmp_path / "x.db", SECRET) == {".x.db.0123: unknown, page 0"}


def test_every_byte_is_in_an_image(tmp_path: Path) -> None:
    connection = leaky_database(tmp_path / "x.db", "WAL")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(i, bytes(300)) for i in range(100)])
    images = page_images(tmp_path / "x.db")
    frames = sum(image.place.startswith("frame") for image in images)
    total = sum(file.stat().st_size for file in files_of(tmp_path / "x.db") if not file.name.endswith("-shm"))
    shared = sum(image.file.endswith("-shm") for image in images)
    assert shared <= 1
    assert total == sum(len(image.content) for image in images if not image.file.endswith("-shm")) + 24 * frames
    connection.close()


def observed(stream: Stream) -> set[int]:
    """Observe some ticks; every number that was in the counters' state before, and is neither in it nor published."""
    seen: set[int] = set()
    for tick in range(21):
        seen |= numbers_kept(stream, "counters")
        stream.observe(raw_count(tick), at=tick)
    return seen - numbers_kept(stream, "counters") - numbers_kept(stream, "published")


def numbers_kept(stream: Stream, part: str) -> set[int]:
    return telling(numbers_of(kept(stream)[part]))


@pytest.mark.parametrize("kind", COUNTERS)
def test_no_state_of_a_counter_is_on_disk_in_the_clear(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "cases.stream"
    with sdp.open_stream(path, KINDS[kind](epsilon=LOUD)) as stream:
        states = observed(stream) | numbers_kept(stream, "counters")
        published = numbers_kept(stream, "published")
        for _ in range(2):
            images = page_images(path)
            assert len(states) > 20
            assert not found_in(images, states - published | {raw_count(tick) for tick in range(21)})
            assert sum(image.content.count(LABEL) for image in images) == 1
            stream.close()
    assert set(found_in(images, published)) == published
    assert {image.file for image in images} == {"cases.stream"}


@pytest.mark.parametrize("kind", COUNTERS)
def test_without_the_seal_more_than_one_version_is_found(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the parser would see it."""

    class Plain:
        def __init__(self, _: bytes) -> None: ...

        def encrypt(self, _: bytes, plain: bytes, __: None) -> bytes:
            return plain

    path = tmp_path / "cases.stream"
    with sdp.open_stream(path, KINDS[kind](epsilon=LOUD)) as stream:
        monkeypatch.setattr(_sealing, "AESGCM", Plain)
        earlier = observed(stream)
        assert found_in(page_images(path), earlier)


def test_a_version_is_unsealed_by_its_own_key_alone() -> None:
    state = CounterState(3, 2)
    state.count[:] = [1, -2, 3]
    version = _sealing.version_of(state, 7, 5, 1, {"count": np.array([4, 5]), "total": np.array([6])})
    key, sealed = _sealing.seal(version)
    other_key, other = _sealing.seal(version)
    assert key != other_key
    assert sealed != other
    found = _sealing.unseal(key, sealed)
    assert (found.ticks, found.first, found.gap) == (7, 5, 1)
    assert {name: entries.tolist() for name, entries in found.published.items()} == {"count": [4, 5], "total": [6]}
    again = CounterState(3, 2)
    found.put_into(again)
    assert again.count.tolist() == [1, -2, 3]
    assert again.ticks == 7
    damaged = bytes([sealed[0] ^ 1]) + sealed[1:]
    for wrong_key, wrong in ((other_key, sealed), (key, other), (key, damaged), (key, b"")):
        with pytest.raises(ValueError, match="does not fit its key"):
            _sealing.unseal(wrong_key, wrong)
