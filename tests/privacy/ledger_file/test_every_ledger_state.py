"""Every state in which a crash could leave the file, one before each write of SQLite: what was acknowledged is there.

Random kills seldom meet the moment between two writes; here each of them is met.
"""

import importlib
from pathlib import Path

import pytest
from ledger_places import TENTH, NoisySynopsis, memory_folder

from sparsedp.privacy.ledger_file import open_ledger

STATES = 60
"""At least so many moments are met where SQLite's writes can be watched; with one built into Python, fewer."""


def test_no_acknowledged_debit_is_lost_at_any_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "streams" / "durable"))
    recorded = importlib.import_module("crash_states").recorded
    with memory_folder() as folder:
        path = folder / "budget.db"
        acknowledged: list[str] = []
        ledger = open_ledger(path).declare("visits", epsilon=1)
        with recorded(path, lambda: len(acknowledged)) as states:
            for purpose in ("short", "long" * 3000):
                spend = ledger.debit(TENTH, purpose)
                acknowledged.append(spend.token)
                ledger.deliver(ledger.settle(spend, NoisySynopsis()), "digest")
        assert len(states) > STATES or {state.coming for state in states} == {"nothing more"}
        for number, state in enumerate(states):
            found = open_ledger(state.laid_out(folder / f"state {number}") / "budget.db", "visits")
            tokens = [entry.token for entry in found.entries]
            # The debit that is under way is taken back or there; those that were acknowledged are there in any case.
            assert acknowledged[: state.acknowledged] == tokens[: state.acknowledged]
            assert len(tokens) - state.acknowledged in (0, 1)
            assert found.debit(TENTH, "it goes on").number == len(tokens) + 1
