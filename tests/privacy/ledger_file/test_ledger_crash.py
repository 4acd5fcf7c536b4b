"""Killed at every step, and at random moments: no noise without a committed debit, and nothing is charged that was not.

Two processes that race for the last of a budget: one wins, and the other is told what is left.
"""

import os
import random
import signal
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from killed_spender import REQUEST, exit_code, forked, spend_until_killed
from ledger_places import memory_folder

from sparsedp.errors import BudgetExceeded
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger_file import open_ledger

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

KILLS = 64
RACES = 20

AFTER: dict[str, tuple[str | None, bool, bool]] = {
    "before the debit": (None, False, False),
    "before the commit": (None, False, False),
    "debited": ("debited", False, False),
    "noise drawn": ("debited", True, False),
    "synopsis written": ("debited", True, True),
    "stored": ("stored", True, True),
    "delivered": ("delivered", True, True),
}
"""By where a run is killed: the state of its spend, whether noise was drawn, and whether its synopsis is there."""


@pytest.fixture
def folder() -> Iterator[Path]:
    with memory_folder() as place:
        yield place


def told_by(path: Path, verb: str) -> list[str]:
    """The tokens of what was drawn, or released; a last line may be cut short by the kill."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [line.split()[1] for line in lines if line.startswith(verb) and line.endswith("\n")]


@pytest.mark.parametrize("point", AFTER)
def test_killed_at_every_step(point: str, folder: Path) -> None:
    path, told = folder / "budget.db", folder / "told"
    open_ledger(path).declare("visits", epsilon=1)
    child = forked(lambda: spend_until_killed(path, told, "1", "0.6", die_at=point))
    assert exit_code(child) == -signal.SIGKILL
    state, drawn, stored = AFTER[point]
    ledger = open_ledger(path, "visits")
    assert [entry.state for entry in ledger.entries] == ([] if state is None else [state])
    assert told_by(told, "drew") == ([ledger.entries[0].token] if drawn else [])
    assert ledger.remaining == Budget(epsilon="1" if state is None else "0.4")
    found = ledger.unfinished(REQUEST)
    assert (found is not None) == (state in ("debited", "stored"))
    assert (found is not None and found.synopsis_path is not None) == (stored and state != "delivered")
    # The next run delivers what is stored at no cost, or is refused if it must pay again and cannot.
    again = forked(lambda: spend_until_killed(path, told, "1", "0.6", die_at="delivered"))
    if (found is None or found.synopsis_path is not None) and state != "delivered":
        assert exit_code(again) == -signal.SIGKILL
        assert [entry.state for entry in ledger.entries] == ["delivered"]
        return
    deadline = time.monotonic() + 20
    while "refused" not in told.read_text() if told.exists() else True:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    os.kill(again, signal.SIGKILL)
    assert exit_code(again) == -signal.SIGKILL
    assert len(ledger.entries) == 1


def test_killed_at_random_moments(folder: Path) -> None:
    path, told = folder / "budget.db", folder / "told"
    chance, amount = random.Random(5), Budget(epsilon="0.01")  # noqa: S311
    takes = seconds_of_a_run(folder / "timed")
    deadline = time.monotonic() + 120
    kills = 0
    while kills < KILLS or (len(told_by(told, "drew")) <= KILLS and time.monotonic() < deadline):
        kills += 1
        child = forked(lambda: spend_until_killed(path, told, "3", "0.01"))
        time.sleep(chance.uniform(0.5, 3.5) * takes)
        os.kill(child, signal.SIGKILL)
        assert exit_code(child) == -signal.SIGKILL
        if not path.exists() or path.stat().st_size == 0:
            continue
        # What was drawn is looked up by plain SQL, too: committed, whatever our own reading makes of it.
        file = sqlite3.connect(path)
        committed = {token for (token,) in file.execute("SELECT token FROM spends")} if has_spends(file) else set()
        file.close()
        drawn = told_by(told, "drew")
        assert set(drawn) <= committed, "noise without a committed debit"
        assert len(set(drawn)) == len(drawn), "two draws on one debit"
    ledger = open_ledger(path, "visits")
    drawn, released = told_by(told, "drew"), set(told_by(told, "released"))
    assert len(drawn) > KILLS, "the spenders were killed before they got to work"
    assert ledger.spent is not None
    assert ledger.spent.epsilon is not None
    assert ledger.spent.epsilon >= len(drawn) * (amount.epsilon or 0)
    assert ledger.total.covers(ledger.spent)
    assert {entry.token for entry in ledger.entries if entry.state == "delivered"} <= released <= set(drawn)
    lost = [entry for entry in ledger.entries if entry.state == "debited"]
    assert lost, "no kill met a run between its debit and its synopsis"
    names = {file.name for file in folder.iterdir()}
    assert names <= {"budget.db", "budget.db-journal", "budget.db.synopses", "told", "timed"}


def seconds_of_a_run(folder: Path) -> float:
    """How long a process takes to its first delivery: slow disks and busy machines see the same kills."""
    folder.mkdir()
    started = time.perf_counter()
    exit_code(forked(lambda: spend_until_killed(folder / "b.db", folder / "t", "1", "0.5", die_at="delivered")))
    return time.perf_counter() - started


def has_spends(file: sqlite3.Connection) -> bool:
    return file.execute("SELECT 1 FROM sqlite_schema WHERE name = 'spends'").fetchone() is not None


def test_two_processes_race_for_the_last_of_it(folder: Path) -> None:
    wins = []
    for race in range(RACES):
        path = folder / f"budget {race}.db"
        open_ledger(path).declare("visits", epsilon=1)
        hold, start = os.pipe()

        def spend(path: Path = path, hold: int = hold) -> None:
            ledger = open_ledger(path, "visits")
            os.read(hold, 1)
            try:
                ledger.debit(Budget(epsilon="0.6"), "the larger part")
            except BudgetExceeded as refusal:
                said = "ε = 0.6 was asked for and ε = 0.4 is left" in str(refusal)
                os._exit(7 if said and refusal.remaining == Budget(epsilon="0.4") else 3)

        children = [forked(spend), forked(spend)]
        os.write(start, b"go")
        wins.append([exit_code(child) for child in children])
        os.close(hold)
        os.close(start)
        assert sorted(wins[-1]) == [0, 7]
        assert open_ledger(path, "visits").spent == Budget(epsilon="0.6")


def test_many_processes_begin_it_together(folder: Path) -> None:
    """All declare and spend at once: one file, one total, and not a tenth more than it."""

    def work() -> None:
        ledger = open_ledger(folder / "budget.db", wait=30).declare("visits", epsilon=1)
        for _ in range(5):
            try:
                ledger.debit(Budget(epsilon="0.1"), "a tenth")
            except BudgetExceeded:
                os._exit(0)

    children = [forked(work) for _ in range(6)]
    assert [exit_code(child) for child in children] == [0] * 6
    ledger = open_ledger(folder / "budget.db", "visits")
    assert ledger.spent == ledger.total
    assert [entry.number for entry in ledger.entries] == list(range(1, 11))


def test_a_forked_child_spends_from_the_same_total(folder: Path) -> None:
    ledger = open_ledger(folder / "budget.db").declare("visits", epsilon=1)
    ledger.debit(Budget(epsilon="0.5"), "parent")

    def child() -> None:
        ledger.debit(Budget(epsilon="0.4"), "child")

    assert exit_code(forked(child)) == 0
    with pytest.raises(BudgetExceeded, match=r"ε = 0\.1 is left"):
        ledger.debit(Budget(epsilon="0.4"), "parent again")
