"""Rows and columns: drawn by rich on a terminal, plainly aligned for everything else."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime, time
from typing import Any

from sparsedp.cli.speaking import plain, show
from sparsedp.untrusted import printable

MIDNIGHT = time()
MOST_ON_A_TERMINAL = 50
"""Rows; more would push what matters off the screen."""


def show_table(headings: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None) -> None:
    """A table for people; on a terminal its first rows. Days are shown without their midnights."""
    rows = _days_alone(rows)
    if not sys.stdout.isatty():
        _show_aligned(headings, rows, title)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title and printable(title), title_justify="left")
    numeric = [_numeric(row[place] for row in rows) for place in range(len(headings))]
    for heading, number in zip(headings, numeric, strict=True):
        table.add_column(printable(heading), justify="right" if number else "left")
    for row in rows[:MOST_ON_A_TERMINAL]:
        table.add_row(*(field(entry) for entry in row))
    console = Console(file=sys.stdout, markup=False, emoji=False, highlight=False)
    console.print(table)
    if len(rows) > MOST_ON_A_TERMINAL:
        console.print(f"… and {len(rows) - MOST_ON_A_TERMINAL:,} more rows: pipe the output, or ask for --csv.")


def show_csv(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """The same as CSV, for other programs: full numbers, empty where there is none; on a terminal it can do nothing."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    for row in ([*headings], *rows):
        entries = [plain(entry) for entry in row]
        writer.writerow(
            [entry if entry is None or isinstance(entry, int | float) else printable(str(entry)) for entry in entries]
        )


def field(entry: Any) -> str:
    """An entry as people read it."""
    if entry is None:
        return ""
    if isinstance(entry, bool):
        return "yes" if entry else "no"
    if isinstance(entry, float):
        return number(entry)
    return f"{entry:,}" if isinstance(entry, int) else printable(str(entry))


def number(value: float) -> str:
    """Six digits that matter, never an exponent where people would not write one: 0.0512, 1,204.3, 5,303,460."""
    return f"{value:,.6g}" if not 1e6 <= abs(value) < 1e15 else f"{value:,.0f}"


def _show_aligned(headings: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None) -> None:
    lines = [list(map(printable, headings)), *([field(entry) for entry in row] for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(headings))]
    numeric = [_numeric(row[place] for row in rows) for place in range(len(headings))]
    if title:
        show(title)
    for line in lines:
        parts = zip(line, widths, numeric, strict=True)
        show("  ".join(text.rjust(width) if number else text.ljust(width) for text, width, number in parts).rstrip())


def _days_alone(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Columns of times that are all at midnight become columns of days."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    for place, column in enumerate(columns):
        times = [entry for entry in column if entry is not None]
        if times and all(isinstance(entry, datetime) and entry.time() == MIDNIGHT for entry in times):
            columns[place] = [None if entry is None else entry.date() for entry in column]
    return [list(row) for row in zip(*columns, strict=True)]


def _numeric(entries: Iterable[Any]) -> bool:
    found = [entry for entry in entries if entry is not None]
    return bool(found) and all(isinstance(entry, int | float) and not isinstance(entry, bool) for entry in found)
