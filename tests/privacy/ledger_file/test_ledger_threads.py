"""Threads share a ledger file, and other handles on it do no harm; a ledger is opened anew, not copied."""

import copy
import pickle
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from ledger_places import TENTH, memory_folder

from sparsedp.errors import BudgetExceeded, PrivateSide
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


OTHER = """
import sys
from sparsedp.errors import BadFile
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger_file import open_ledger
try:
    open_ledger(sys.argv[1], "visits", wait=0.1).debit(Budget(epsilon="0.1"), "at the same time")
except BadFile as refusal:
    print(refusal)
"""


def test_a_copy_made_in_the_middle_does_not_let_another_process_in() -> None:
    """Closing any handle on a file drops the process's POSIX locks on it, SQLite's included."""
    with memory_folder() as folder:
        ledger = open_ledger(folder / "budget.db").declare("visits", epsilon=1)
        said = []

        def copy_and_try(point: str) -> None:
            if point == "before the commit":
                ledger.path.read_bytes()
                # Not a fork: that would have SQLite's own memory of the lock.
                command = [sys.executable, "-c", OTHER, str(ledger.path)]
                said.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

        ledger._store.reached = copy_and_try
        ledger.debit(TENTH, "first")
        assert len(said) == 1
        assert "in use by another process" in said[0]
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
