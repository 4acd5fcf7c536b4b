"""How a command ends, for scripts to act on."""

from __future__ import annotations

from enum import IntEnum

from sparsedp.errors import BudgetExceeded, SparsedpError


class ExitCode(IntEnum):
    """The exit codes of `sparsedp`; they are documented in `sparsedp --help` and do not change."""

    DONE = 0
    REFUSED = 1
    USAGE = 2
    BUDGET_EXCEEDED = 3
    UNEXPECTED = 70
    HUNG_UP = 129
    INTERRUPTED = 130
    READER_GONE = 141
    TERMINATED = 143


MEANINGS = {
    ExitCode.DONE: "done",
    ExitCode.REFUSED: "refused: a file, a value or the data cannot be used; the message says what would do",
    ExitCode.USAGE: "the command line was not understood",
    ExitCode.BUDGET_EXCEEDED: "the ledger has less left than was asked for; nothing was spent",
    ExitCode.UNEXPECTED: "an error of sparsedp itself",
    ExitCode.HUNG_UP: "interrupted by SIGHUP: its terminal went away; what was done is cleared up as after Ctrl-C",
    ExitCode.INTERRUPTED: "interrupted with Ctrl-C; the message says whether the budget was spent",
    ExitCode.READER_GONE: "the program that read the output went away",
    ExitCode.TERMINATED: "interrupted by SIGTERM; what was done is cleared up as after Ctrl-C",
}


def code_of(error: SparsedpError) -> ExitCode:
    """How a command ends that the library refuses."""
    return ExitCode.BUDGET_EXCEEDED if isinstance(error, BudgetExceeded) else ExitCode.REFUSED
