"""Threads share a ledger file, and other handles on it do no harm; a ledger is opened anew, not copied."""

import copy
import os
import pickle
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from killed_spender import exit_code, forked
from ledger_places import TENTH, memory_folder

from sparsedp.errors import BadFile, BudgetExceeded, PrivateSide
from sparsedp.privacy.ledger_file import open_ledger


def test_racing_threads_cannot_overspend() -> None:
    with memory_folder() as folder:
        ledger = open_ledger(folder / "budget.db").declare("visits", epsilon=1)

        def take(_: int) -> bool:
            try:
                ledger.debit(TENTH, "race")
            except BudgetExceeded:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(take, range(40))) == 10
        assert ledger.spent == ledger.total


@pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX locks, and a second process")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_copy_made_in_the_middle_does_not_let_another_process_in() -> None:
    """Closing any handle on a file drops the process's POSIX locks on it, SQLite's included."""
    with memory_folder() as folder:
        ledger = open_ledger(folder / "budget.db").declare("visits", epsilon=1)
        met = []

        def other() -> None:
            try:
                open_ledger(ledger.path, "visits", wait=0.1).debit(TENTH, "at the same time")
            except BadFile as refusal:
                os._exit(7 if "in use by another process" in str(refusal) else 1)

        def copy_and_try(point: str) -> None:
            if point == "before the commit":
                ledger.path.read_bytes()
                met.append(exit_code(forked(other)))

        ledger._store.reached = copy_and_try
        ledger.debit(TENTH, "first")
        assert met == [7]
        assert len(ledger.entries) == 1


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_it_is_opened_there_not_copied(duplicate: object, tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "budget.db").declare("visits", epsilon=1)
    assert callable(duplicate)
    with pytest.raises(PrivateSide, match="open it there by its path and name"):
        duplicate(ledger)


def test_a_debit_is_seen_by_everyone_when_it_returns(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "budget.db").declare("visits", epsilon=1)
    ledger.debit(TENTH, "first")
    file = sqlite3.connect(tmp_path / "budget.db")
    assert file.execute("SELECT number, epsilon, state FROM spends").fetchall() == [(1, "1/10", "debited")]
    file.close()
