"""A line on the terminal for anything that takes longer than two seconds; silent in scripts and logs."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 2.0
"""Seconds of silence before a person is told what is going on."""


@contextmanager
def stage(what: str) -> Iterator[None]:
    """Show `what` with a moving dot and the seconds so far, on standard error, when it is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    display = Progress(*columns, console=Console(stderr=True), transient=True)
    display.add_task(f"sparsedp: {what}", total=None)
    timer = threading.Timer(PATIENCE, display.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        display.stop()
