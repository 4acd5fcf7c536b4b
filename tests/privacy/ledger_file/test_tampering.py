"""Whoever edits the file by mistake is stopped by it; whoever gets past that is noticed when it is read."""

import sqlite3
from pathlib import Path

import pytest
from ledger_places import TENTH

from sparsedp.errors import BadFile
from sparsedp.privacy.ledger_file import DataSetLedger, open_ledger
from sparsedp.privacy.ledger_file.store import STATEMENTS

EDITS = {
    "a debit given back": "DELETE FROM spends",
    "a smaller charge": "UPDATE spends SET charged_epsilon = '1/1000'",
    "another amount": "UPDATE spends SET epsilon = '1/1000'",
    "another time": "UPDATE spends SET time = ''",
    "a state that goes back": "UPDATE spends SET state = 'debited'",
    "an unknown state": "UPDATE spends SET state = 'refunded'",
    "a larger total": "UPDATE data_sets SET epsilon = '100'",
    "a data set less": "DELETE FROM data_sets",
    "another identity": "UPDATE ledger SET identity = 'x'",
    "a line replaced": "INSERT OR REPLACE INTO spends SELECT * FROM spends",
    "a number left out": "INSERT INTO spends SELECT 9, data_set, time, purpose, relation, protects, epsilon, delta,"
    " rho, charged_epsilon, charged_delta, charged_rho, parameters, request, 'other', state, NULL, NULL FROM spends",
}
"""What a person with an SQLite shell may try."""


@pytest.fixture
def ledger(tmp_path: Path) -> DataSetLedger:
    made = open_ledger(tmp_path / "budget.db").declare("visits", epsilon=1)
    made.debit(TENTH, "first")
    return made


def edit(path: Path, *statements: str) -> None:
    file = sqlite3.connect(path, isolation_level=None)
    try:
        for statement in statements:
            file.execute(statement)
    finally:
        file.close()


@pytest.mark.parametrize("mistake", EDITS)
def test_the_file_itself_refuses_mistakes(mistake: str, ledger: DataSetLedger) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        edit(ledger.path, EDITS[mistake])
    assert ledger.spent == TENTH


@pytest.mark.parametrize(
    "forgery",
    [
        "UPDATE spends SET charged_epsilon = '1/1000'",
        "UPDATE spends SET charged_epsilon = 'nothing'",
        "UPDATE spends SET charged_epsilon = '-5'",
        "UPDATE spends SET epsilon = '1/0'",
        "UPDATE spends SET epsilon = '1e300000000'",
        "UPDATE spends SET charged_epsilon = '1e-300000000'",
        "UPDATE spends SET epsilon = hex(zeroblob(1000000))",
        "UPDATE spends SET parameters = replace(hex(zeroblob(100000)), '0', '[')",
        """UPDATE spends SET parameters = '{"cells": ' || replace(hex(zeroblob(5000)), '0', '9') || '}'""",
        "UPDATE data_sets SET epsilon = '1e300000000'",
        "UPDATE spends SET parameters = '{'",
        "UPDATE spends SET parameters = '3'",
        "UPDATE data_sets SET epsilon = '100'",
        "UPDATE spends SET number = 7",
        "UPDATE spends SET purpose = x'ff'",
        "DELETE FROM ledger",
    ],
)
def test_what_gets_past_that_is_noticed(forgery: str, ledger: DataSetLedger) -> None:
    """The triggers are taken away, the line is changed, and they are put back as they were."""
    triggers = [sql for sql in STATEMENTS if sql.startswith("CREATE TRIGGER")]
    edit(ledger.path, *(f"DROP TRIGGER {sql.split()[2]}" for sql in triggers), forgery, *triggers)
    with pytest.raises(BadFile, match=r"changed by another program; restore the newest copy.* Nothing was spent\."):
        ledger.debit(TENTH, "second")


def test_a_limit_that_does_not_give_its_total_is_noticed(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "budget.db").declare("mixed", epsilon=1, delta="1e-6", composition="zcdp")
    (trigger,) = [sql for sql in STATEMENTS if "totals_are_final" in sql]
    edit(ledger.path, "DROP TRIGGER totals_are_final", "UPDATE data_sets SET limit_rho = '1'", trigger)
    with pytest.raises(BadFile, match="changed by another program"):
        open_ledger(ledger.path, "mixed")
    with pytest.raises(BadFile, match="changed by another program"):
        ledger.debit(TENTH, "on the larger limit")


def test_a_file_that_was_put_into_write_ahead_mode_comes_back(ledger: DataSetLedger) -> None:
    edit(ledger.path, "PRAGMA journal_mode = WAL")
    assert ledger.debit(TENTH, "second").number == 2
    assert [file.name for file in ledger.path.parent.iterdir()] == ["budget.db"]


def test_a_schema_that_is_no_text_is_damage(ledger: DataSetLedger) -> None:
    """SQLite then quotes what Python cannot read."""
    content = ledger.path.read_bytes()
    ledger.path.write_bytes(content.replace(b"CREATE TABLE spends", b"CREATE XABLE\xffspends"))
    with pytest.raises(BadFile, match=r"changed by another program; restore the newest copy.* Nothing was spent\."):
        ledger.debit(TENTH, "second")
