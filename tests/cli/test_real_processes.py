"""Ctrl-C and other signals, a terminal and a full disk, for real."""

import os
import pty
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_terminal import in_own_folder, ok
from real_process import ENTRY, PATIENCE, await_open, await_text, started
from visit_records import ISSUE, write_visits

import sparsedp as sdp

PAID = ("--epsilon", "0.5", "--ledger", "budget.db", "-o", "visits.release.parquet")
RELEASE = ("release", *ISSUE, *PAID)
MILLIONS = 4_000_000


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)
    ok("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "2")


def spends() -> list[Any]:
    found: list[Any] = ok("ledger", "show", "budget.db", "--json").json["data_sets"][0]["spends"]
    return found


def test_interrupted_while_millions_of_records_are_counted() -> None:
    draw = np.random.default_rng(1)
    people = pa.array(draw.integers(0, MILLIONS, MILLIONS))
    pq.write_table(pa.table({"id": people, "day": pa.array(draw.integers(0, 366, MILLIONS))}), "millions.parquet")
    process = started("release", "millions.parquet", "--by", "day:0..365", "--unit", "id", *PAID)
    await_open(process, "millions.parquet")
    time.sleep(0.1)  # well into the second or so that it takes
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=PATIENCE)
    assert errors.decode() == "sparsedp: Interrupted. Nothing was spent and nothing was written.\n"
    assert process.returncode == 130
    assert output == b""
    assert spends() == []
    assert {path.name for path in Path().iterdir()} == {"budget.db", "millions.parquet"}


STOPPED_AFTER_THE_DEBIT = """
import sys, time
from sparsedp.cli import main
from sparsedp.mechanisms.adaptive import Adaptive

def waiting(*_, **__):
    print("debited", flush=True)
    time.sleep(600)

Adaptive._measured = waiting
sys.exit(main(sys.argv[1:]))
"""


def test_interrupted_after_the_debit() -> None:
    write_visits()
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPED_AFTER_THE_DEBIT, *RELEASE], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"debited\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert errors.startswith(b"sparsedp: Interrupted. ")
    assert b"stays spent" in errors
    assert errors.count(b"\n") == 1
    assert [spend["state"] for spend in spends()] == ["debited"]
    assert not Path("visits.release.parquet").exists()


def test_progress_is_shown_on_a_terminal_and_taken_away_again() -> None:
    """Records that are slow to come are what takes so long here, whatever the machine."""
    terminal, theirs = pty.openpty()
    process = started("release", "-", *ISSUE[1:], *PAID, stdin=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    assert process.stdin is not None
    process.stdin.write(b"patient_id,day,sex\n")
    process.stdin.flush()
    try:
        heard = await_text(terminal, b" s")
        assert b"sparsedp: counting" in heard
        assert b"\n" not in heard.replace(b"\r\n", b"")
        output, _ = process.communicate(b"p1,2024-01-01,F\n", timeout=PATIENCE)
        assert process.returncode == 0
        assert b"\r\x1b[2K" in await_text(terminal, b"\r\x1b[2K")
    finally:
        os.close(terminal)
    assert b"Wrote visits.release.parquet" in output
    assert b"counting" not in output


def room_for(size: int) -> Any:
    def limited() -> None:
        """As on a full disk, but for the signal, which is not sent there."""
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    return limited


def test_a_disk_with_room_for_the_debit_and_the_measurement_but_not_for_the_release() -> None:
    """The release is by far the larger file: its numbers are not whole any more."""
    write_visits()
    cells = ("--by", "day:2024-01-01..2024-12-31/1d", "--by", "age:0..99", "--mechanism", "hierarchical")
    command = ("release", "visits.parquet", *cells, "--unit", "patient_id", "--epsilon", "0.5", "--ledger", "budget.db")
    subprocess.run([ENTRY, *command, "-o", "first.parquet"], capture_output=True, check=True)
    (measurement,) = Path("budget.db.synopses").iterdir()
    needed = max(measurement.stat().st_size, 2 * Path("budget.db").stat().st_size)
    size = (needed + Path("first.parquet").stat().st_size) // 2
    second = (*command, "-o", "second.parquet")
    ended = subprocess.run([ENTRY, *second], capture_output=True, text=True, check=False, preexec_fn=room_for(size))
    assert ended.returncode == 1
    assert "ε = 0.5" in ended.stderr
    assert "stays spent" in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert [spend["state"] for spend in spends()] == ["delivered", "stored"]
    assert not Path("second.parquet").exists()
    Path("visits.parquet").unlink()  # it is not read again
    again = subprocess.run([ENTRY, *second], capture_output=True, text=True, check=True)
    assert "nothing more is spent" in again.stderr
    assert [spend["state"] for spend in spends()] == ["delivered", "delivered"]
    assert spends()[1]["release"] == sdp.open_release("second.parquet").digest


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_asked_to_stop_it_stops_as_after_ctrl_c_and_leaves_no_record_behind(number: int) -> None:
    Path("temporary").mkdir()
    environment = {**os.environ, "TMPDIR": str(Path("temporary").absolute())}
    process = started("release", "-", *ISSUE[1:], *PAID, stdin=subprocess.PIPE, env=environment)
    assert process.stdin is not None
    process.stdin.write(b"patient_id,day,sex\n" + b"p1,2024-01-01,F\n" * (1 << 17))
    process.stdin.flush()
    deadline = time.monotonic() + PATIENCE
    while not list(Path("temporary").glob("sparsedp-*/records")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    output, errors = process.communicate(timeout=PATIENCE)
    assert errors.decode() == "sparsedp: Interrupted. Nothing was spent and nothing was written.\n"
    assert (process.returncode, output) == (128 + number, b"")
    assert not list(Path("temporary").iterdir())
    assert spends() == []
