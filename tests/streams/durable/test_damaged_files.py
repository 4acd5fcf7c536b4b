"""Files that are cut short, damaged, foreign or out of reach: one sentence, and the file stays as it is."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from durable_streams import COUNTERS, KINDS, kept

import sparsedp as sdp
from sparsedp.streams.durable._schema import APPLICATION_ID, FORMAT
from sparsedp.streams.durable._sealing import LABEL


def made(path: Path, kind: str, ticks: int = 20) -> Path:
    with sdp.open_stream(path, KINDS[kind](epsilon=1)) as stream:
        stream.observe_many(np.arange(ticks))
    return path


def refused(path: Path, complaint: str = "") -> None:
    """With a stream to begin or without: nothing is begun over what is there, and nothing is left beside it."""
    content = path.read_bytes() if path.is_file() else None
    for stream in (None, sdp.ContinualAdaptive(epsilon=1)):
        with pytest.raises(sdp.BadFile) as caught:
            sdp.open_stream(path, stream)
        message = str(caught.value)
        assert complaint in message
        assert str(path) in message
        assert message.endswith(".")
        assert "\n" not in message
    if content is not None:
        assert path.read_bytes() == content
        assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("kind", KINDS)
def test_every_prefix_of_a_file_is_refused(kind: str, tmp_path: Path) -> None:
    content = made(tmp_path / "cases.stream", kind).read_bytes()
    (tmp_path / "cases.stream").unlink()
    sizes = {0, 1, 15, 16, 99, 100, 511, 512, 4095, 4096, 4097, len(content) - 4096, len(content) - 1}
    for size in sorted(sizes | set(range(0, len(content), 1500))):
        (tmp_path / "cut.stream").write_bytes(content[:size])
        refused(tmp_path / "cut.stream")


def test_random_bytes_are_refused(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    for size in (1, 100, 5000):
        (tmp_path / "cases.stream").write_bytes(random.bytes(size))
        refused(tmp_path / "cases.stream", "stream is not a ")


def test_bytes_that_were_overwritten_do_not_crash(tmp_path: Path) -> None:
    """Damage inside pages may go unnoticed, as in any such file, but whatever is said is said in our words."""
    random = np.random.default_rng(2)
    content = made(tmp_path / "cases.stream", "totals", ticks=600).read_bytes()
    refusals = 0
    for number in range(60):
        path = tmp_path / f"damaged {number}.stream"
        damaged = bytearray(content)
        start = int(random.integers(100, len(content) - 200))
        damaged[start : start + 200] = random.bytes(200)
        path.write_bytes(damaged)
        try:
            with sdp.open_stream(path) as stream:
                stream.observe_many([1, 2, 3], at=0)
                stream.observe(1)
                stream.release()
        except sdp.SparsedpError:
            refusals += 1
    assert refusals


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_database_of_somebody_else_is_left_alone(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "theirs.db"
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode = {mode}")
    connection.execute("CREATE TABLE stream (description TEXT, ticks INTEGER, private INTEGER)")
    connection.commit()
    connection.close()
    refused(path, "is not a sparsedp stream; give the path of one")


def test_a_ledger_that_says_it_is_a_stream_is_left_alone(tmp_path: Path) -> None:
    """SQLite would turn it into a file with a log, before anybody sees that its tables are others."""
    path = tmp_path / "budget.db"
    sdp.open_ledger(path).declare("visits", epsilon=1)
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        database.execute(f"PRAGMA user_version = {FORMAT}")
    refused(path, "it may be damaged or of another kind")


def test_a_later_format_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path / "cases.stream", "adaptive")
    changed(path, "PRAGMA user_version = 2")
    refused(path, "is a stream of format 2, this version reads 1; update sparsedp")


def changed(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


DAMAGE = {
    "no description": "UPDATE stream SET description = NULL",
    "not JSON": "UPDATE stream SET description = '{'",
    "a list": "UPDATE stream SET description = '[]'",
    "nothing described": "UPDATE stream SET description = '{}'",
    "settings that are a list": "UPDATE stream SET description = json_set(description, '$.settings', json('[]'))",
    "totals at no tick": "UPDATE stream SET description = json_set(description, '$.settings.totals_every', 0)",
    "no row": "DELETE FROM stream",
    "no table": "DROP TABLE stream",
    "a tick is missing": "DELETE FROM counts WHERE tick = 3",
    "the first tick is missing": "DELETE FROM counts WHERE tick = 0",
    "a tick too few": "DELETE FROM counts WHERE tick = 19",
    "a total is missing": "DELETE FROM totals WHERE number = 0",
    "a count is text": "UPDATE counts SET count = 'many' WHERE tick = 3",
    "a count is no whole number": "UPDATE counts SET count = 0.5 WHERE tick = 3",
    "a count is beyond numbers": "UPDATE counts SET count = 1e300 WHERE tick = 3",
    "a total is a blob": "UPDATE totals SET total = x'00ff' WHERE number = 0",
    "the state is missing": "DELETE FROM sealed",
    "the state is the other one": "UPDATE sealed SET slot = 1 - slot + 10",
    "the state is too short": "UPDATE sealed SET version = x'00'",
    "the state is no blob": "UPDATE sealed SET version = 'text'",
    "the state is a number": "UPDATE sealed SET version = 5",
    "no states": "DROP TABLE sealed",
    "no key": "DROP TABLE key",
    "another key": "UPDATE key SET place = zeroblob(1088)",
}


@pytest.mark.parametrize("statement", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_stream_with_parts_missing_is_refused(tmp_path: Path, statement: str) -> None:
    path = made(tmp_path / "cases.stream", "totals")
    with sdp.open_stream(path) as stream:
        stream.observe(1)  # what only the tick before published is not sealed with the state any more
    changed(path, statement)
    with pytest.raises(sdp.BadFile, match=r"damaged or cut short|does not know|no such table"):
        sdp.open_stream(path)
    # It was let go of: another connection can have it.
    changed(path, "SELECT 1")


def test_a_description_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path / "cases.stream", "adaptive")
    with sdp.open_stream(path) as stream:
        description = stream.describe()
    later: list[dict[str, object]] = [{"stream": "continual_future"}, {"settings": {"novelty": 1}}, {"terms": {}}]
    for changes in later:
        changed(path, f"UPDATE stream SET description = '{json.dumps({**description, **changes})}'")  # noqa: S608
        refused(path, "describes a stream that this version does not know; update sparsedp")


PATHS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a folder": (lambda folder: folder, "is a folder"),
    "in a missing folder": (lambda folder: folder / "missing" / "cases.stream", "there is no folder"),
    "under a file": (lambda folder: folder / "file" / "cases.stream", "Not a directory"),
    "a name too long": (lambda folder: folder / ("long" * 100), "File name too long"),
    "a pipe": (lambda folder: folder / "pipe", "is a device or a pipe"),
    "a device": (lambda _: "/dev/null", "is a device or a pipe"),
    "a link to nothing": (lambda folder: folder / "link", "File exists"),
    "a null character": (lambda folder: f"{folder}/a\0b", "path is not the name of a file"),
    "a number": (lambda _: 5, "path is of type int"),
    "nothing": (lambda _: None, "path is of type NoneType"),
}


@pytest.mark.parametrize(("path", "complaint"), PATHS.values(), ids=PATHS.keys())
def test_paths_that_lead_nowhere(tmp_path: Path, path: Callable[[Path], object], complaint: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(sdp.SparsedpError) as caught:
        sdp.open_stream(path(tmp_path), sdp.ContinualAdaptive(epsilon=1))  # type: ignore[arg-type]
    assert complaint in str(caught.value)
    assert sorted(os.listdir(tmp_path)) == before


def test_a_missing_file_needs_a_stream_to_begin(tmp_path: Path) -> None:
    with pytest.raises(sdp.BadFile, match=r"There is no file .*; give the stream to begin there"):
        sdp.open_stream(tmp_path / "cases.stream")
    assert not os.listdir(tmp_path)


AS_SOMEBODY = """
import os, sys
import sparsedp as sdp
sdp.ContinualAdaptive(epsilon=1).observe(1)
sdp.open_stream, sdp.BadFile  # imported now, for nobody may read where they come from
if os.getuid() == 0:
    os.setgroups([])
    os.setuid(65534)
for path in sys.argv[1:]:
    try:
        sdp.open_stream(path, sdp.ContinualAdaptive(epsilon=1)).observe(5)
    except sdp.BadFile as error:
        print(error)
"""


def test_files_that_one_may_not_write(tmp_path: Path) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        path = made(folder / "cases.stream", "adaptive")
        (folder / "closed").mkdir(mode=0o000)
        path.chmod(0o444)
        folder.chmod(0o555)
        content = path.read_bytes()
        command = [sys.executable, "-c", AS_SOMEBODY, f"{path}", f"{folder}/new.stream", f"{folder}/closed/x.stream"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        folder.chmod(0o755)
        assert len(lines) == 3, done.stderr
        assert lines[0].startswith(f"Could not open {path}: ")
        assert lines[1] == f"Could not create {folder}/new.stream: Permission denied; nothing was left half-written."
        assert lines[2].startswith(f"{folder}/closed/x.stream cannot be reached: Permission denied")
        assert path.read_bytes() == content
        path.chmod(0o644)
        (folder / "closed").chmod(0o755)
        with sdp.open_stream(path) as stream:
            assert kept(stream)["ticks"] == 20


@pytest.mark.parametrize("kind", COUNTERS)
def test_a_key_that_was_zeroed_does_not_begin_the_stream_anew(tmp_path: Path, kind: str) -> None:
    path = made(tmp_path / "cases.stream", kind)
    with sdp.open_stream(path) as stream:
        stream.observe(1)
    content = path.read_bytes()
    start = -(-(content.index(LABEL) + len(LABEL)) // 512) * 512
    assert any(content[start : start + 48])
    path.write_bytes(content[:start] + bytes(48) + content[start + 48 :])
    with pytest.raises(sdp.BadFile, match="damaged or cut short"):
        sdp.open_stream(path)
