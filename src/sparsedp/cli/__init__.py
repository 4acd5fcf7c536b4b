"""The command line: `sparsedp release`, `query`, `report`, `stream`, `ledger` and the others, one family a file.

Modules here load nothing heavy when they are imported: a command brings in what it needs when it runs, so that
`sparsedp --help` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code, for `sys.exit`."""
    try:
        from sparsedp.cli._running import run

        return run(arguments)
    except KeyboardInterrupt:  # before or after the command: while it runs, it says itself what was done
        sys.stderr.write("sparsedp: Interrupted.\n")
        return 130
