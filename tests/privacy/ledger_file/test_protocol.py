"""Debit, noise, synopsis, release: what each step leaves for the next run, and what it says when it fails."""

import hashlib
import os
from pathlib import Path

import pytest
from ledger_places import TENTH, NoisySynopsis, UnsavableSynopsis

from sparsedp.errors import BadFile, InvalidInput
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger import STATES, Ledger
from sparsedp.privacy.ledger_file import DataSetLedger, open_ledger


@pytest.fixture
def ledger(tmp_path: Path) -> DataSetLedger:
    return open_ledger(tmp_path / "budget.db").declare("visits", epsilon=1)


def test_a_run_from_debit_to_delivery(ledger: DataSetLedger) -> None:
    spend = ledger.debit(TENTH, "laplace, 3 cells", request="table")
    assert (spend.state, spend.synopsis_path) == ("debited", None)
    settled = ledger.settle(spend, NoisySynopsis())
    assert settled.state == "stored"
    assert settled.synopsis_path is not None
    assert settled.synopsis_path.parent == ledger.path.with_name("budget.db.synopses")
    assert settled.synopsis_digest == hashlib.sha256(b"noisy integers").hexdigest()
    delivered = ledger.deliver(spend, "digest of the release")
    assert (delivered.state, delivered.release_digest) == ("delivered", "digest of the release")
    assert delivered.synopsis_digest == settled.synopsis_digest
    (kept,) = ledger.entries
    assert kept.state == "delivered"
    assert set(STATES) == {"debited", "stored", "delivered"}
    assert ledger.deliver(spend, "digest of the release").state == "delivered", "said twice, it is the same"
    with pytest.raises(InvalidInput, match="spend is number 1, which was delivered; its digest is on record"):
        ledger.deliver(spend, "another")
    with pytest.raises(InvalidInput, match="which is delivered; a spend pays for one synopsis"):
        ledger.settle(spend, NoisySynopsis("more noise"))


@pytest.mark.parametrize("first", ["parent", "child"])
def test_of_a_process_and_its_fork_one_has_the_synopsis(ledger: DataSetLedger, first: str) -> None:
    """One debit pays for one noise, whoever comes first; the other writes nothing."""
    spend = ledger.debit(TENTH, "laplace, 3 cells")
    if first == "parent":
        ledger.settle(spend, NoisySynopsis("the parent's"))
    child = os.fork()
    if child == 0:
        code = 1
        try:
            ledger.settle(spend, NoisySynopsis("the child's"))
            code = 0
        except InvalidInput:
            code = 2
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if first == "child":
        with pytest.raises(InvalidInput, match="which is stored; a spend pays for one synopsis"):
            ledger.settle(spend, NoisySynopsis("the parent's"))
    assert code == (2 if first == "parent" else 0)
    (kept,) = (ledger.stored(entry) for entry in ledger.entries)
    assert kept.synopsis_path is not None
    assert kept.synopsis_path.read_text() == f"the {first}'s"


def test_the_folder_of_synopses_is_its_owners(ledger: DataSetLedger) -> None:
    ledger.settle(ledger.debit(TENTH, "first"), NoisySynopsis())
    assert ledger.path.with_name("budget.db.synopses").stat().st_mode & 0o777 == 0o700


def test_the_next_run_finds_what_there_is(ledger: DataSetLedger) -> None:
    assert ledger.unfinished("table") is None
    first = ledger.debit(TENTH, "first", request="table")
    found = ledger.unfinished("table")
    assert found is not None
    assert (found.number, found.state, found.synopsis_path) == (first.number, "debited", None)
    assert ledger.unfinished("another table") is None
    ledger.settle(first, NoisySynopsis())
    ledger.debit(TENTH, "second, which died at once", request="table")
    found = ledger.unfinished("table")
    assert found is not None
    assert found.synopsis_path is not None
    assert (found.number, found.synopsis_path.read_text()) == (first.number, "noisy integers"), "free before paid"
    ledger.deliver(found, "digest")
    found = ledger.unfinished("table")
    assert found is not None
    assert (found.number, found.synopsis_path) == (2, None)
    ledger.deliver(ledger.settle(ledger.debit(TENTH, "third", request="table"), NoisySynopsis()), "digest 3")
    assert ledger.unfinished("table") is None, "the newest run is done, so nothing is waited for"


def test_what_is_stored_is_not_forgotten_when_a_later_one_is_delivered(ledger: DataSetLedger) -> None:
    first = ledger.settle(ledger.debit(TENTH, "first", request="table"), NoisySynopsis())
    ledger.deliver(ledger.settle(ledger.debit(TENTH, "second", request="table"), NoisySynopsis()), "digest 2")
    found = ledger.unfinished("table")
    assert found is not None
    assert (found.number, found.synopsis_path) == (first.number, first.synopsis_path)


def test_a_synopsis_written_but_not_recorded_is_found(ledger: DataSetLedger) -> None:
    spend = ledger.debit(TENTH, "killed in between", request="table")

    def stop(point: str) -> None:
        if point == "synopsis written":
            raise KeyboardInterrupt

    ledger._store.reached = stop
    with pytest.raises(KeyboardInterrupt):
        ledger.settle(spend, NoisySynopsis())
    again = open_ledger(ledger.path, "visits")
    found = again.unfinished("table")
    assert found is not None
    assert found.state == "debited"
    assert found.synopsis_path is not None
    delivered = again.deliver(found, "digest")
    assert delivered.synopsis_digest == hashlib.sha256(b"noisy integers").hexdigest()


@pytest.mark.parametrize("harm", ["deleted", "changed"])
def test_a_synopsis_that_is_not_as_it_was_stored_is_not_offered(harm: str, ledger: DataSetLedger) -> None:
    spend = ledger.settle(ledger.debit(TENTH, "first", request="table"), NoisySynopsis())
    assert spend.synopsis_path is not None
    if harm == "deleted":
        spend.synopsis_path.unlink()
    else:
        spend.synopsis_path.write_text("other integers")
    found = ledger.unfinished("table")
    assert found is not None
    assert (found.state, found.synopsis_path) == ("stored", None)


def test_a_synopsis_of_another_ledger_is_not_taken_for_its_own(ledger: DataSetLedger) -> None:
    """The ledger was lost and begun anew beside the old folder: the numbers are the same, the spends are not."""
    ledger.settle(ledger.debit(TENTH, "first", request="table"), NoisySynopsis())
    ledger.path.unlink()
    with pytest.raises(BadFile, match=r"no ledger .*, but its synopses are there, in budget\.db\.synopses: put"):
        open_ledger(ledger.path).declare("visits", epsilon=1)
    ledger.path.touch()
    with pytest.raises(BadFile, match="but its synopses are there"):
        open_ledger(ledger.path).declare("visits", epsilon=1)
    synopses = ledger.path.with_name("budget.db.synopses").rename(ledger.path.with_name("aside"))
    anew = open_ledger(ledger.path).declare("visits", epsilon=1)
    synopses.rename(ledger.path.with_name("budget.db.synopses"))
    spend = anew.debit(TENTH, "first", request="table")
    found = anew.unfinished("table")
    assert found is not None
    assert (found.number, found.synopsis_path) == (1, None)
    assert spend.number == 1


def test_a_synopsis_that_cannot_be_stored(ledger: DataSetLedger) -> None:
    spend = ledger.debit(TENTH, "first", request="table")
    with pytest.raises(BadFile, match=r"Could not write .*: No space left.*\. Spend 1 stays spent; .*in memory"):
        ledger.settle(spend, UnsavableSynopsis())
    assert ledger.spent == TENTH
    assert ledger.deliver(spend, "the release was written all the same").synopsis_digest is None


def test_a_spend_of_another_ledger_is_refused(ledger: DataSetLedger) -> None:
    theirs = Ledger(epsilon=1).debit(TENTH, "in memory")
    with pytest.raises(InvalidInput, match="spend is number 1, which this ledger does not hold"):
        ledger.settle(theirs, NoisySynopsis())
    with pytest.raises(InvalidInput, match="which this ledger does not hold"):
        ledger.deliver(theirs, "digest")


def test_the_ledgers_line_is_as_it_was_right_after_the_spend(ledger: DataSetLedger) -> None:
    first = ledger.debit(Budget(epsilon="0.4"), "first")
    line = ledger.record(first)
    assert {name: line[name] for name in ("data_set", "spend", "charged", "total", "spent", "left")} == {
        "data_set": "visits",
        "spend": "1",
        "charged": "ε = 0.4",
        "total": "ε = 1",
        "spent": "ε = 0.4",
        "left": "ε = 0.6",
    }
    last = ledger.debit(Budget(epsilon="0.6"), "the rest")
    assert ledger.record(first) == line
    assert (ledger.record(last)["spent"], ledger.record(last)["left"]) == ("ε = 1", "nothing")


def test_in_memory_the_same_calls_do() -> None:
    ledger = Ledger(epsilon=1)
    spend = ledger.debit(TENTH, "first", parameters={"cells": 3}, request="table")
    assert (spend.number, spend.budget, spend.time[-1]) == (1, TENTH, "Z")
    assert ledger.deliver(ledger.settle(spend, UnsavableSynopsis()), "digest") == spend
    assert ledger.unfinished("table") is None
    line = ledger.record(spend)
    assert (line["data_set"], line["left"]) == ("unnamed (a ledger in memory)", "ε = 0.9")
