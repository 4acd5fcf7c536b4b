"""Ctrl-C at any line of a run: the debit is there or it is not, `unfinished` tells which, and the ledger goes on."""

from pathlib import Path
from shutil import copy

import pytest
from ledger_places import NoisySynopsis, memory_folder

from interrupted_lines import interrupted_at
from sparsedp.privacy import ledger_file
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger_file import DataSetLedger, open_ledger

PACKAGE = str(Path(ledger_file.__file__).parent)
LINES = 120
"""At least so many lines of a run must have been interrupted, or the interruptions do not reach it."""


def run(ledger: DataSetLedger, request: str, drawn: list[str]) -> None:
    spend = ledger.debit(Budget(epsilon="0.001"), "test", request=request)
    drawn.append(spend.token)
    ledger.settle(spend, NoisySynopsis(spend.token))
    ledger.deliver(spend, "digest")


# What a line opened and its interruption left open is closed when it is forgotten, with a warning.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
# Interrupted between opening a connection and keeping it, nobody is left to close it but Python itself, which says so.
@pytest.mark.filterwarnings("ignore:unclosed database:ResourceWarning")
def test_interrupted_at_every_line() -> None:
    with memory_folder() as folder:
        declared = open_ledger(folder / "declared.db").declare("visits", epsilon=1).path
        line, went_through = 0, False
        while not went_through:
            line += 1
            # A ledger of its own for each: a run over more spends has more lines.
            ledger = open_ledger(copy(declared, folder / f"{line}.db"), "visits", wait=1)
            drawn: list[str] = []
            try:
                with interrupted_at(line, PACKAGE):
                    run(ledger, "table", drawn)
                went_through = True
            except KeyboardInterrupt:
                pass
            entries = ledger.entries
            assert len(entries) <= 1
            assert set(drawn) <= {entry.token for entry in entries}
            found = ledger.unfinished("table")
            assert (found is None) == (not entries or entries[0].state == "delivered")
            if found is not None and found.synopsis_path is not None:
                assert found.synopsis_path.read_text() == drawn[0]
                assert ledger.deliver(found, "digest").state == "delivered"
            ledger.debit(Budget(epsilon="0.001"), "it goes on")
        assert line > LINES
