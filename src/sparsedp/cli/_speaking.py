"""What a command says: results on standard output, everything else on standard error; colour only on a terminal.

Much of it was written by others: labels, names, purposes. All of it goes through here, where whatever a terminal would
obey instead of showing it is escaped. Tables are drawn by rich on a terminal, and plainly aligned for everything else.
"""

from __future__ import annotations

import csv
import json
import math
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, time
from typing import Any

from sparsedp.files.untrusted import printable, printable_json


def show(text: str) -> None:
    """A line of a result, on standard output."""
    sys.stdout.write(f"{printable(text)}\n")


def show_lines(text: str) -> None:
    """Several lines of a result, none of which a stranger wrote whole."""
    for line in text.split("\n"):
        show(line)


def show_json(document: Any) -> None:
    """One JSON document on standard output; what is not a number is null."""
    plain_text = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    text = json.dumps(_plain(document), ensure_ascii=plain_text, indent=2, allow_nan=False)
    sys.stdout.write(f"{printable_json(text)}\n")


def note(text: str) -> None:
    """A remark beside the result, on standard error."""
    sys.stderr.write(f"sparsedp: {printable(text)}\n")


def warn(text: str) -> None:
    """A remark that must not be overlooked: red on a terminal."""
    sys.stderr.write(f"{coloured(f'sparsedp: {printable(text)}', sys.stderr)}\n")
    sys.stderr.flush()


def coloured(text: str, stream: Any) -> str:
    """Bold red where the stream is a terminal and NO_COLOR is not set."""
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[1;31m{text}\x1b[0m"


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """What the library warns of is for the person at the terminal, without the line of code that said it."""

    def shown(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if category is UserWarning:
            note(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = shown
        yield


def _plain(value: Any) -> Any:
    """Nothing but what JSON has: budgets and paths as text, numbers as numbers, times in ISO form."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes):
        return [_plain(entry) for entry in value]
    if hasattr(value, "tolist"):  # numpy's arrays and numbers; its times become dates
        return _plain(value.tolist())
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def listed(words: Iterable[str]) -> str:
    """a, b and c."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


# Rows and columns: drawn by rich on a terminal, plainly aligned for everything else.

_MIDNIGHT = time()
_MOST_ON_A_TERMINAL = 50
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
    for row in rows[:_MOST_ON_A_TERMINAL]:
        table.add_row(*(_field(entry) for entry in row))
    console = Console(file=sys.stdout, markup=False, emoji=False, highlight=False)
    console.print(table)
    if len(rows) > _MOST_ON_A_TERMINAL:
        console.print(f"… and {len(rows) - _MOST_ON_A_TERMINAL:,} more rows: pipe the output, or ask for --csv.")


def show_csv(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """The same as CSV, for other programs: full numbers, empty where there is none; on a terminal it can do nothing."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    for row in ([*headings], *rows):
        entries = [_plain(entry) for entry in row]
        writer.writerow(
            [entry if entry is None or isinstance(entry, int | float) else printable(str(entry)) for entry in entries]
        )


def _field(entry: Any) -> str:
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
    lines = [list(map(printable, headings)), *([_field(entry) for entry in row] for row in rows)]
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
        if times and all(isinstance(entry, datetime) and entry.time() == _MIDNIGHT for entry in times):
            columns[place] = [None if entry is None else entry.date() for entry in column]
    return [list(row) for row in zip(*columns, strict=True)]


def _numeric(entries: Iterable[Any]) -> bool:
    found = [entry for entry in entries if entry is not None]
    return bool(found) and all(isinstance(entry, int | float) and not isinstance(entry, bool) for entry in found)
