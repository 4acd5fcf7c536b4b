"""One process, one opening at a time; forked children do no harm; what a path leads to is what is scrubbed."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from durable_streams import COUNTERS, KINDS, LOUD, kept, numbers_of, raw_count
from hidden_integers import found_in
from page_images import page_images

import sparsedp as sdp
from sparsedp.streams.durable import _schema, _sealing, _stream_file


def run(program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Another process; `sdp`, `os`, `sys` and the path are there."""
    head = "import os, sys, signal\nimport sparsedp as sdp\npath = sys.argv[1]\n"
    command = [sys.executable, "-c", head + program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


OPEN_ELSEWHERE = """
try:
    print(sdp.open_stream(path).ticks)
except sdp.BadFile as error:
    print(error)
"""


def test_a_second_opening_is_refused_wherever_it_is(tmp_path: Path) -> None:
    path = tmp_path / "cases.stream"
    refusal = f"{path} is in use, by another process or by this one; close it there first."
    with sdp.open_stream(path, sdp.ContinualAdaptive(epsilon=1)) as stream:
        stream.observe(1)
        with pytest.raises(sdp.BadFile) as caught:
            sdp.open_stream(path)
        assert str(caught.value) == refusal
        # The opening that was refused has not let go of the lock of the first: another process is still kept out.
        assert run(OPEN_ELSEWHERE, path).stdout.strip() == refusal
        stream.observe(2)
        assert stream.ticks == 2
    assert run(OPEN_ELSEWHERE, path).stdout.strip() == "2"
    with sdp.open_stream(path) as stream:
        assert stream.ticks == 2


def test_a_file_that_another_process_took_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cases.stream"
    with sdp.open_stream(path, sdp.ContinualAdaptive(epsilon=1)) as stream:
        stream.observe(1)
    content = path.read_bytes()
    # As if the file had appeared after this process looked for it.
    monkeypatch.setattr("sparsedp.streams.durable._opening._exists", lambda _: False)
    with sdp.open_stream(path, sdp.ContinualAdaptive(epsilon=1)) as stream:
        assert stream.ticks == 1
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["cases.stream"]


FORKS = """
from sparsedp.streams.durable import _schema
if sys.argv[2] == "unguarded":
    _schema.forget_in_forks = lambda _: None
stream = sdp.open_stream(path, sdp.ContinualAdaptive(epsilon=1))
stream.observe(1)
if os.fork() == 0:
    if sys.argv[3] == "closes":
        stream.close()
    if sys.argv[3] == "drops":
        del stream
    sys.exit(0)
os.wait()
print([stream.observe(5) for _ in range(3)], flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("how", ["exits", "closes", "drops"])
def test_a_forked_child_that_ends_does_not_harm_its_parent(tmp_path: Path, how: str) -> None:
    ended = run(FORKS, tmp_path / "cases.stream", "guarded", how)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    with sdp.open_stream(tmp_path / "cases.stream") as stream:
        assert stream.ticks == 4
        assert stream.observe_many([0, 0, 0], at=1).tolist() == json.loads(ended.stdout)


def test_without_the_guard_a_child_takes_the_log_from_its_parent(tmp_path: Path) -> None:
    """So the guard is needed; and that the log is gone is noticed before anything more is acknowledged."""
    ended = run(FORKS, tmp_path / "cases.stream", "unguarded", "exits")
    assert ended.returncode == 1
    assert "its log is not beside it" in ended.stderr
    assert not ended.stdout


USED_IN_A_CHILD = """
stream = sdp.open_stream(path, sdp.ContinualAdaptive(epsilon=1))
stream.observe(1)
for use in (lambda: stream.observe(2), lambda: stream.release(), lambda: sdp.open_stream(path)):
    if os.fork() == 0:
        try:
            use()
        except sdp.SparsedpError as error:
            print(type(error).__name__, flush=True)
        os._exit(0)
    os.wait()
print(stream.ticks)
"""


def test_a_forked_child_cannot_use_it(tmp_path: Path) -> None:
    lines = run(USED_IN_A_CHILD, tmp_path / "cases.stream").stdout.split()
    assert lines == ["PrivateSide", "PrivateSide", "BadFile", "1"]


@pytest.mark.parametrize("kind", COUNTERS)
@pytest.mark.parametrize("way", ["link", "relative"])
def test_the_log_is_overwritten_however_the_file_was_named(
    tmp_path: Path, kind: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "here").mkdir()
    real = tmp_path / "there" / "cases.stream"
    sdp.open_stream(real, KINDS[kind](epsilon=LOUD)).close()
    monkeypatch.chdir(real.parent)
    (tmp_path / "here" / "link.stream").symlink_to(real)
    overwritten = []
    overwrite = _sealing._overwrite

    def seen(log: Path, size: int) -> None:
        overwritten.append((log, size > 0))
        overwrite(log, size)

    with sdp.open_stream("cases.stream" if way == "relative" else tmp_path / "here" / "link.stream") as stream:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(_sealing, "_overwrite", seen)
        stream.observe(raw_count(0))
        stream.close()
        assert overwritten == [(real.resolve().with_name("cases.stream-wal"), True)]
        assert not found_in(page_images(real), [raw_count(0)])


def test_the_second_name_that_a_killed_creator_left_is_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "cases.stream"
    with sdp.open_stream(path, sdp.ContinualAdaptive(epsilon=1)) as stream:
        stream.observe(1)
        before = kept(stream)
    os.link(path, tmp_path / ".cases.stream.0123456789abcdef")
    os.link(path, tmp_path / "copy.stream")
    with pytest.raises(sdp.BadFile, match="more than one name"):
        sdp.open_stream(path)
    assert sorted(os.listdir(tmp_path)) == ["cases.stream", "copy.stream"]
    (tmp_path / "copy.stream").unlink()
    with sdp.open_stream(path) as stream:
        assert kept(stream) == before


def test_a_copy_of_the_file_in_this_process_does_not_let_another_one_in(tmp_path: Path) -> None:
    """Closing any handle on a file drops SQLite's own lock on it."""
    path = tmp_path / "cases.stream"
    with sdp.open_stream(path, sdp.ContinualAdaptive(epsilon=1)) as stream:
        stream.observe(1)
        path.read_bytes()
        shutil.copyfile(path, tmp_path / "copy")
        tried = run("sdp.open_stream(path)", path)
        assert "is in use" in tried.stderr
        stream.observe(2)
    assert run("print(sdp.open_stream(path).ticks)", path).stdout == "2\n"


@pytest.mark.parametrize("kind", COUNTERS)
def test_neither_a_closed_stream_nor_a_forked_child_keeps_a_version_of_the_state(tmp_path: Path, kind: str) -> None:
    stream = sdp.open_stream(tmp_path / "cases.stream", KINDS[kind](epsilon=LOUD))
    stream.observe(raw_count(0))
    assert numbers_of(kept(stream)["counters"]) != {0}
    child = os.fork()
    if child == 0:
        state = stream._state
        os._exit(0 if state is not None and not state.count.any() and not state.above.any() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    state = stream._state
    assert state is not None
    assert state.count.any()
    stream.close()
    assert not state.count.any()
    assert not state.above.any()
    assert not state.latest.any()


LOST = """
stream = sdp.open_stream(path, sdp.ContinualAdaptive(epsilon=1))
stream.observe_many([1, 2, 3])
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_file_whose_log_is_missing_is_not_taken_for_whole(tmp_path: Path) -> None:
    path, log = tmp_path / "cases.stream", tmp_path / "cases.stream-wal"
    run(LOST, path)
    log.rename(tmp_path / "log")
    with pytest.raises(sdp.BadFile, match=r"was not closed, and its log cases\.stream-wal is missing"):
        sdp.open_stream(path)
    (tmp_path / "log").rename(log)
    with sdp.open_stream(path) as stream:
        assert stream.ticks == 3
    run(LOST, path)
    log.unlink()
    with sdp.open_stream(path, log_lost=True) as stream:
        assert stream.ticks == 3


@pytest.mark.parametrize("end", ["", "del stream", "raise KeyError", "sys.exit(3)"])
def test_a_stream_that_nobody_closed_is_closed_when_it_is_gone(tmp_path: Path, end: str) -> None:
    path = tmp_path / "cases.stream"
    run(f"stream = sdp.open_stream(path, sdp.ContinualAdaptive(epsilon=1))\nstream.observe(1)\n{end}", path)
    assert os.listdir(tmp_path) == ["cases.stream"]
    with sdp.open_stream(path) as stream:
        assert stream.ticks == 1


@pytest.mark.parametrize("way", ["deleted", "moved"])
def test_a_file_that_went_away_is_noticed(tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_stream_file, "CHECKED_EVERY", 0.0)
    path = tmp_path / "cases.stream"
    stream = sdp.open_stream(path, sdp.ContinualAdaptive(epsilon=1))
    stream.observe(1)
    if way == "deleted":
        path.unlink()
    else:
        path.rename(tmp_path / "elsewhere")
    with pytest.raises(sdp.BadFile, match="was moved or deleted while the stream was open"):
        stream.observe(2)


def test_the_stream_that_was_given_is_used_up(tmp_path: Path) -> None:
    given = sdp.ContinualDifference(epsilon=1, horizon=9)
    with sdp.open_stream(tmp_path / "cases.stream", given) as stream, pytest.raises(sdp.InvalidInput, match="closed"):
        given.observe(1)
    assert stream.ticks == 0


def test_a_log_that_was_removed_is_noticed_before_a_tick_is_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_stream_file, "CHECKED_EVERY", 0.0)
    stream = sdp.open_stream(tmp_path / "cases.stream", sdp.ContinualAdaptive(epsilon=1))
    stream.observe(1)
    (tmp_path / "cases.stream-wal").unlink()
    with pytest.raises(sdp.BadFile, match="its log"):
        stream.observe(2)
    stream.close()
    with sdp.open_stream(tmp_path / "cases.stream") as stream:
        assert stream.ticks == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("failing", ["in_use = 0", "in_use = 1", "SELECT description"])
def test_a_close_or_an_opening_that_fails_leaves_a_file_that_opens(
    tmp_path: Path, kind: str, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cases.stream"
    execute = _schema._Connection.execute

    def full(self: sqlite3.Connection, statement: str, *arguments: Any) -> sqlite3.Cursor:
        if failing in statement:
            raise sqlite3.OperationalError("database or disk is full")
        return execute(self, statement, *arguments)

    stream = sdp.open_stream(path, KINDS[kind](epsilon=LOUD))
    stream.observe(raw_count(0))
    with monkeypatch.context() as patched:
        patched.setattr(_schema._Connection, "execute", full)
        stream.close()
        if failing != "in_use = 0":
            with pytest.raises(sdp.BadFile, match="disk is full"):
                sdp.open_stream(path)
    with sdp.open_stream(path) as stream:
        assert stream.ticks == 1


@pytest.mark.parametrize("kind", COUNTERS)
def test_a_forked_child_finds_no_state_in_what_is_not_yet_written(tmp_path: Path, kind: str) -> None:
    with sdp.open_stream(tmp_path / "cases.stream", KINDS[kind](epsilon=LOUD)) as stream:
        stream.observe_many([raw_count(tick) for tick in range(3)])
        store: Any = stream._store
        assert store._pending.counter.size == 0
