"""Whatever is wrong: one sentence with its remedy, nothing half-written, and nothing spent unless it is said."""

import os
import resource
import signal
import sqlite3
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from cli_terminal import in_own_folder, ok, refused, run
from visit_records import ISSUE, write_visits

import sparsedp as sdp
from sparsedp import ingest, reports
from sparsedp.cli import _files, _options, _release_run, _running
from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.publishing import run as carrying_out
from sparsedp.releases.release import Release

PAID = ("--epsilon", "0.5", "--ledger", "budget.db", "-o", "visits.release.parquet")
RELEASE = ("release", *ISSUE, *PAID)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)
    write_visits()
    ok("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "2")


def spends() -> list[Any]:
    found: list[Any] = ok("ledger", "show", "budget.db", "--json").json["data_sets"][0]["spends"]
    return found


def files() -> set[str]:
    return {path.name for path in Path().iterdir()}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("missing.parquet", *ISSUE[1:]), "missing.parquet"),
        (("text.parquet", *ISSUE[1:]), "text.parquet"),
        (("visits.parquet", "--by", "sx:F,M", "--unit", "patient_id"), "sx"),
        (("visits.parquet", "--by", "sex:F,M", "--unit", "patient"), "patient"),
        (("visits.parquet", "--by", "a:1..1000000", "--by", "b:1..1000000", "--unit", "patient_id"), "coarser"),
        (("visits.parquet", "--by", "sex:auto", "--unit", "patient_id"), "declare"),
        (("visits.parquet", "--by", "sex", "--unit", "patient_id"), "sex"),
        (("visits.parquet", "--by", "sex:F,M", "--unit", "patient_id", "--max-contributions", "0"), "0"),
        (("visits.parquet", "--by", "sex:F,M", "--unit", "patient_id", "--neighbours", "neither"), "neither"),
        (("visits.parquet", "--by", "sex:F,M", "--unit", "patient_id", "--outside", "age=clamp"), "age"),
        (("visits.parquet", "--by", "sex:F,M", "--unit", "patient_id", "--clamp", "5"), "low..high"),
    ],
)
def test_records_and_declarations_that_do_not_fit(arguments: tuple[str, ...], says: str) -> None:
    Path("text.parquet").write_text("no Parquet at all, patient 4711")
    before = files()
    sentence = refused("release", *arguments, *PAID)
    assert says in sentence
    assert "4711" not in sentence
    assert spends() == []
    assert files() == before


def test_text_where_numbers_are_declared_is_dropped_in_silence() -> None:
    Path("visits.csv").write_text("patient_id,age\np1,ninety\np2,30\n")
    ended = ok("release", "visits.csv", "--by", "age:0..120/40", "--unit", "patient_id", *PAID)
    assert "ninety" not in ended.text + ended.errors
    assert "1 record" not in (ended.text + ended.errors).replace("at most 1 record", "")


def test_places_that_cannot_be_written() -> None:
    places = {
        "no/such/folder.parquet": "There is no folder",
        ".": "is a folder",
        "x.json": ".parquet",
        "/dev/null": "a device",
    }
    for output, says in places.items():
        assert says in refused(*RELEASE[:-2], "-o", output, "--overwrite")
    assert spends() == []


def test_a_ledger_that_is_read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() == 0:
        # The superuser writes everywhere: the next best thing is a ledger that SQLite itself may only read.
        monkeypatch.setattr(sqlite3, "connect", _read_only(sqlite3.connect))
    else:
        Path("budget.db").chmod(0o400)
    sentence = refused(*RELEASE)
    assert "budget.db" in sentence
    assert "Nothing was spent" in sentence
    assert not Path("visits.release.parquet").exists()


def _read_only(connect: Any) -> Any:
    def connected(*arguments: Any, **settings: Any) -> Any:
        connection = connect(*arguments, **settings)
        connection.execute("PRAGMA query_only = ON")
        return connection

    return connected


def test_a_ledger_that_is_locked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_options, "WAIT", 0.1)
    other = sqlite3.connect("budget.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        sentence = refused(*RELEASE)
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert "in use by another process" in sentence
    assert spends() == []
    assert not Path("visits.release.parquet").exists()


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "sparsedp", *arguments]


def _little_room() -> None:
    """No file may grow beyond the ledger: as on a full disk, but for the signal, which is not sent there."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, resource.RLIM_INFINITY))


def test_a_full_disk() -> None:
    ended = subprocess.run(command(*RELEASE), capture_output=True, text=True, check=False, preexec_fn=_little_room)
    assert ended.returncode == 1
    assert ended.stderr.startswith("sparsedp: ")
    assert ended.stderr.count("\n") == 1
    assert not Path("visits.release.parquet").exists()
    assert ("stays spent" in ended.stderr) == (spends() != [])


def test_interrupted_while_the_records_are_read() -> None:
    process = subprocess.Popen(
        command("release", "-", *ISSUE[1:], *PAID),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    # Far more than a pipe holds: once all of it is written, most of it has been read.
    process.stdin.write(b"patient_id,day,sex\n" + b"p1,2024-01-01,F\n" * 500_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output == b""
    assert errors.decode() == "sparsedp: Interrupted. Nothing was spent and nothing was written.\n"
    assert spends() == []


def test_an_interruption_that_a_library_swallows_stops_the_command_before_the_debit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted = ingest.counted

    def swallowing(*arguments: Any, **settings: Any) -> Any:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return counted(*arguments, **settings)

    monkeypatch.setattr(carrying_out, "counted", swallowing)
    assert refused(*RELEASE, code=130) == "sparsedp: Interrupted. Nothing was spent and nothing was written.\n"
    assert spends() == []


@pytest.mark.parametrize("place", ["the report", "the last words", "the CSV file"])
def test_interrupted_when_all_is_paid_for_the_sentence_is_true(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    extra: tuple[str, ...] = ()
    with monkeypatch.context() as patched:
        if place == "the report":
            patched.setattr(reports, "write_report", stopped)
            extra = ("--report", "visits.html")
        elif place == "the last words":
            patched.setattr(_release_run, "_tell", stopped)
        else:
            patched.setattr(_files, "write_csv", stopped)
            extra = ("-o", "visits.csv")
        sentence = refused(*RELEASE, *extra, code=130)
    assert "Nothing was spent" not in sentence
    (spend,) = spends()
    if place == "the CSV file":
        assert "stays spent" in sentence
        assert spend["state"] == "stored"
        assert not Path("visits.csv").exists()
        ok(*RELEASE, *extra)  # the same command again: sent from what is stored, for free
        assert Path("visits.csv").exists()
        assert len(spends()) == 1
    else:
        assert "ε = 0.5 is spent, and the release is visits.release.parquet" in sentence
        assert spend["state"] == "delivered"


def test_interrupted_after_the_debit_and_before_the_measurement_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Adaptive, "_measured", stopped)
        sentence = refused(*RELEASE, code=130)
    assert "stays spent" in sentence
    assert "Nothing was spent" not in sentence
    assert len(spends()) == 1
    ended = run(*RELEASE)
    assert ended.code == 0
    assert "debited ε = 0.5" in ended.errors
    assert "left no measurement" in ended.errors
    assert len(spends()) == 2


def test_interrupted_before_the_file_is_written_and_resumed_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Release, "save", stopped)
        assert "stays spent" in refused(*RELEASE, code=130)
    assert not Path("visits.release.parquet").exists()
    Path("visits.parquet").unlink()  # it is not read again
    ok(*RELEASE)
    (spend,) = spends()
    assert spend["state"] == "delivered"
    assert spend["release"] == sdp.open_release("visits.release.parquet").digest


def test_an_interruption_that_cannot_be_raised_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a weak reference's callback, where Python tells of what it cannot raise."""
    told: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: told.append(lost.exc_type))

    class Raising:
        def __init__(self, error: type[BaseException]) -> None:
            self.error = error

        def __del__(self) -> None:
            raise self.error

    with _running._watched():
        for error in (KeyboardInterrupt, ValueError):
            Raising(error)
    assert told == [ValueError]
