"""Answers of a release, for people, as CSV or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sparsedp.cli.speaking import show, show_json
from sparsedp.cli.tables import number, show_csv, show_table

if TYPE_CHECKING:
    from sparsedp.releases.positions import TimeInterval
    from sparsedp.releases.uncertainty import Interval

INTERVAL = ("estimate", "low", "high", "level")


class Answer:
    """Rows under headings, and a sentence that says the same to people where there is one."""

    def __init__(self, headings: Sequence[str], rows: Sequence[Sequence[Any]], sentence: str | None = None) -> None:
        self.headings, self.rows, self.sentence = list(headings), [list(row) for row in rows], sentence

    def show(self, *, as_json: bool, as_csv: bool) -> None:
        """Print it: a single answer is one JSON object, rows are a list of them."""
        if as_json:
            entries = [dict(zip(self.headings, row, strict=True)) for row in self.rows]
            show_json(entries[0] if self.sentence is not None else entries)
        elif as_csv:
            show_csv(self.headings, self.rows)
        elif self.sentence is not None:
            show(self.sentence)
        else:
            show_table(self.headings, self.rows)


def one_interval(question: str, found: Interval | TimeInterval) -> Answer:
    """One number and where the truth lies."""
    sentence = f"{question}: {_words(found)}"
    return Answer(("question", *INTERVAL), [(question, *_fields(found))], sentence)


def _fields(found: Any) -> tuple[Any, ...]:
    return found.estimate, found.low, found.high, found.level


def _words(found: Any) -> str:
    low, high, estimate = (
        number(bound) if isinstance(bound, float) else str(bound) for bound in (found.low, found.high, found.estimate)
    )
    return f"{estimate} ({low} to {high}, at {100 * found.level:g} %)"
