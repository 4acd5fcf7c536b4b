"""Beginning a stream: who pays, and that no stream is ever there that nobody has paid for."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_terminal import in_own_folder, ok, refused, run

HOURLY = ("--start", "2026-01-01", "--every", "1h", "--ledger", "budget.db")
BEGIN = ("stream", "init", "one.stream", "--epsilon", "0.7", *HOURLY)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)
    ok("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "1")


def spends() -> list[Any]:
    found: list[Any] = ok("ledger", "show", "budget.db", "--json").json["data_sets"][0]["spends"]
    return found


def files() -> set[str]:
    return {path.name for path in Path().iterdir()}


def test_the_whole_budget_is_debited_when_it_begins() -> None:
    ok(*BEGIN)
    (spend,) = spends()
    assert spend["charged"] == {"epsilon": "7/10"}
    assert spend["state"] == "delivered"
    assert "a stream, hourly ticks from 2026-01-01 00:00" in ok("ledger", "show", "budget.db").text
    assert "ε = 0.3 is left" in refused("stream", "init", "two.stream", "--epsilon", "0.7", *HOURLY, code=3)
    assert files() == {"budget.db", "one.stream"}


def test_without_a_ledger_only_if_it_is_said() -> None:
    assert "--no-ledger" in refused("stream", "init", "one.stream", "--epsilon", "0.7")
    ended = run("stream", "init", "one.stream", "--epsilon", "0.7", "--no-ledger")
    assert ended.code == 0
    assert "in no ledger" in ended.errors


def test_a_person_has_a_contribution() -> None:
    assert "--contribution is missing" in refused(*BEGIN, "--unit", "person")
    assert "one person" in ok(*BEGIN, "--unit", "person", "--contribution", "30").text


KILLED = """
import os, signal, sys
from sparsedp.cli import main
from sparsedp.privacy.ledger_file import DataSetLedger
from sparsedp.streams import durable

def killed(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

debit = DataSetLedger.debit

def killed_after(*arguments, **settings):
    debit(*arguments, **settings)
    killed()

place = sys.argv.pop(1)
if place == "in place of the debit":
    DataSetLedger.debit = killed
elif place == "after the debit":
    DataSetLedger.debit = killed_after
else:
    DataSetLedger.deliver = killed
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("place", "paid", "begun"),
    [
        ("in place of the debit", False, False),
        ("after the debit", True, False),
        ("in place of the delivery", True, True),
    ],
)
def test_killed_wherever_it_is_no_stream_is_left_that_was_not_paid_for(place: str, paid: bool, begun: bool) -> None:
    ended = subprocess.run([sys.executable, "-c", KILLED, place, *BEGIN], capture_output=True, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert len(spends()) == paid
    # Under its own name or a hidden one.
    left = files() - {"budget.db", "budget.db-journal"}
    assert left == ({"one.stream"} if begun else set())
    if begun:
        ok("stream", "observe", "one.stream", given="3\n")


def test_what_fails_after_the_debit_says_that_it_stays_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "link", failing)
        patched.setattr(os, "rename", failing)
        sentence = refused(*BEGIN)
    assert "ε = 0.7 was already debited and stays spent, but there is no stream" in sentence
    assert len(spends()) == 1


def test_what_an_earlier_beginning_has_paid_in_vain_is_said_before_it_is_paid_again() -> None:
    begin = ("stream", "init", "one.stream", "--epsilon", "0.4", *HOURLY)
    subprocess.run([sys.executable, "-c", KILLED, "after the debit", *begin], capture_output=True, check=False)
    ended = run(*begin)
    assert ended.code == 0
    assert "An earlier beginning of one.stream debited ε = 0.4" in ended.errors
    assert ended.errors.count("\n") == 1
    assert len(spends()) == 2


def test_the_stream_and_its_releases_say_what_paid() -> None:
    ok(*BEGIN)
    assert "spend 1 of visits" in ok("stream", "status", "one.stream").text
    assert ok("stream", "status", "one.stream", "--json").json["ledger"]["spend"] == "1"
    ok("stream", "observe", "one.stream", given="3\n")
    ok("stream", "publish", "one.stream", "-o", "one.release.parquet")
    assert ok("inspect", "one.release.parquet", "--json").json["ledger"]["data_set"] == "visits"
    ok("stream", "init", "two.stream", "--epsilon", "1", "--no-ledger")
    assert "in no ledger that this file knows of" in ok("stream", "status", "two.stream").text


def test_what_can_be_known_to_fail_fails_before_the_debit(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", _full)
        assert "No space left on device; nothing was spent." in refused(*BEGIN)
    assert spends() == []
    assert files() == {"budget.db"}


def _full(_: int) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(("place", "paid"), [("debit", False), ("deliver", True)])
def test_interrupted_it_says_what_was_done(place: str, paid: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from sparsedp.privacy.ledger_file import DataSetLedger

    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(DataSetLedger, place, stopped)
        sentence = refused(*BEGIN, code=130)
    assert ("The stream one.stream was begun, and ε = 0.7 is spent on it." in sentence) == paid
    assert ("No stream was begun and nothing was spent." in sentence) != paid
    assert len(spends()) == paid
