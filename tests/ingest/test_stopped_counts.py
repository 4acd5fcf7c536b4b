"""Raw records that were on disk are gone when a count ends: by a signal at once, by a kill with the next count."""

import fcntl
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sparsedp.ingest import count

PROGRAM = Path(__file__).with_name("endless_count.py")
TABLE = pa.table({"who": ["a", "b"], "age": [1, 2]})


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def spilled(temporary: Path, *how: str, **settings: Any) -> subprocess.Popen[str]:
    """A count under way, with records on disk."""
    environment = {**os.environ, "TMPDIR": str(temporary), "SPARSEDP_MEMORY": "100MB", "SPARSEDP_THREADS": "1"}
    command = [sys.executable, str(PROGRAM), *how]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **settings
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "spilled\n"
    return process


def files(temporary: Path) -> Iterator[Path]:
    return (path for path in temporary.rglob("*") if path.is_file())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_program_without_handlers_ends_as_ever_but_leaves_nothing(number: int, temporary: Path) -> None:
    process = spilled(temporary)
    assert any("storage" in path.name for path in files(temporary))
    process.send_signal(number)
    output, errors = process.communicate()
    assert (process.returncode, output, errors) == (-number, "", "")
    assert not list(temporary.iterdir())


def test_a_program_with_a_handler_of_its_own_keeps_it(temporary: Path) -> None:
    process = spilled(temporary, "handled")
    process.send_signal(signal.SIGTERM)
    output, errors = process.communicate()
    assert (process.returncode, errors) == (0, "")
    assert output == f"stopped by {signal.SIGTERM.value} [] True\n"


def test_what_a_program_ignores_is_ignored(temporary: Path) -> None:
    def ignoring() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    process = spilled(temporary, "once", preexec_fn=ignoring)
    process.send_signal(signal.SIGHUP)
    assert process.communicate() == ("", "")
    assert process.returncode == 0


def test_files_are_for_their_owner_alone_whatever_the_umask(temporary: Path) -> None:
    process = spilled(temporary, umask=0)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in files(temporary)}
    process.terminate()
    process.communicate()
    assert modes == {0o600}


def test_what_a_kill_left_goes_with_the_next_count_and_a_live_one_stays(temporary: Path) -> None:
    killed, alive = spilled(temporary), spilled(temporary)
    killed.kill()
    killed.communicate()
    assert len(list(temporary.iterdir())) == 2
    count(TABLE, ["age:0..9"], privacy_unit="who")
    (left,) = temporary.iterdir()
    assert list(files(left))
    alive.kill()
    alive.communicate()
    count(TABLE, ["age:0..9"], privacy_unit="who")
    assert not list(temporary.iterdir())


def test_only_what_is_surely_left_behind_is_swept(temporary: Path, tmp_path: Path) -> None:
    """Not through a link, not without a lock, not while the lock is held, and no other folders."""

    def folder(path: Path, *, lock: bool = True) -> Path:
        (path / "records").mkdir(parents=True)
        (path / "records" / "rows").touch()
        if lock:
            (path / "lock").touch()
        return path

    stale = folder(temporary / "sparsedp-stale")
    elsewhere = folder(tmp_path / "elsewhere")
    (stale / "records" / "link").symlink_to(elsewhere)
    linked = temporary / "sparsedp-linked"
    linked.symlink_to(elsewhere)
    begun = folder(temporary / "sparsedp-begun", lock=False)
    held = folder(temporary / "sparsedp-held")
    other = folder(temporary / "another-program")
    guarded = folder(temporary / "sparsedp-guarded", lock=False)
    (guarded / "lock").symlink_to(elsewhere / "lock")
    (temporary / "sparsedp-file").touch()
    with open(held / "lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        count(TABLE, ["age:0..9"], privacy_unit="who")
    assert not stale.exists()
    for kept in (elsewhere, linked, begun, held, other, guarded):
        assert (kept / "records" / "rows").exists()
    assert (elsewhere / "lock").exists()
    assert (temporary / "sparsedp-file").exists()


def test_a_second_signal_does_not_cut_the_clearing_away_short(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def impatient(number: int, _: Any) -> None:
        raise InterruptedError(number)

    before = signal.signal(signal.SIGTERM, impatient)
    removed: list[str] = []
    remove = os.rmdir

    def once_more(path: Any, **settings: Any) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        removed.append(str(path))
        remove(path, **settings)

    monkeypatch.setattr(os, "rmdir", once_more)
    try:
        with pytest.raises(InterruptedError):
            count(TABLE, ["age:0..9"], privacy_unit="who")
        assert signal.getsignal(signal.SIGTERM) is impatient
    finally:
        signal.signal(signal.SIGTERM, before)
    assert removed
    assert not list(temporary.iterdir())
