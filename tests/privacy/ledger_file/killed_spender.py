"""A process that spends as fast as it can, tells what it draws, and is killed: at a named point, or at any moment.

What it tells goes to a file of lines: bytes that were written outlive the process, however it ends. A line is written
between the debit and the synopsis, where noise would be drawn.
"""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable
from pathlib import Path

from ledger_places import NoisySynopsis

from sparsedp.errors import BudgetExceeded
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger_file import open_ledger

REQUEST = "the table"


def forked(work: Callable[[], None]) -> int:
    """A process of its own that does this and nothing else."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return child


def exit_code(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()


def spend_until_killed(path: Path, told: Path, total: str, amount: str, *, die_at: str = "") -> None:
    """Resume what is unfinished, then debit, draw, store, deliver; again and again, until nothing is left."""
    file = os.open(told, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    ledger = open_ledger(path).declare("visits", epsilon=total)
    ledger._store.reached = lambda point: die() if point == die_at else None
    while True:
        spend = ledger.unfinished(REQUEST)
        if spend is None or spend.synopsis_path is None:
            try:
                spend = ledger.debit(Budget(epsilon=amount), "laplace, 3 cells", request=REQUEST)
            except BudgetExceeded:
                os.write(file, b"refused\n")
                signal.pause()
                continue
            os.write(file, f"drew {spend.token}\n".encode())
            if die_at == "noise drawn":
                die()
            spend = ledger.settle(spend, NoisySynopsis(spend.token))
        if spend.synopsis_path is None or spend.synopsis_path.read_text() != spend.token:
            raise AssertionError("the synopsis is not the one that was drawn")
        os.write(file, f"released {spend.token}\n".encode())
        ledger.deliver(spend, f"release of {spend.token}")
