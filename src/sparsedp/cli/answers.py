"""Answers of a release, for people, as CSV or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sparsedp.cli.speaking import show, show_json
from sparsedp.cli.tables import number, show_csv, show_table

if TYPE_CHECKING:
    from sparsedp.releases.positions import TimeInterval
    from sparsedp.releases.uncertainty import Interval

INTERVAL = ("estimate", "low", "high", "level")


class Answer:
    """Rows under headings, a sentence that says the same to people where there is one, and a remark for them."""

    def __init__(
        self,
        headings: Sequence[str],
        rows: Sequence[Sequence[Any]],
        sentence: str | None = None,
        remark: str | None = None,
    ) -> None:
        self.headings, self.rows = list(headings), [list(row) for row in rows]
        self.sentence, self.remark = sentence, remark

    def show(self, *, as_json: bool, as_csv: bool) -> None:
        """Print it: a single answer is one JSON object, rows are a list of them."""
        if as_json:
            entries = [dict(zip(self.headings, row, strict=True)) for row in self.rows]
            show_json(entries[0] if self.sentence is not None else entries)
            return
        if as_csv:
            show_csv(self.headings, self.rows)
            return
        if self.sentence is not None:
            show(self.sentence)
        else:
            show_table(self.headings, self.rows)
        if self.remark is not None:
            show(self.remark)


def one_interval(question: str, found: Interval | TimeInterval, *, known: bool, remark: str = "") -> Answer:
    """One number and where the truth lies, if its error is `known`."""
    where = f"({_word(found.low)} to {_word(found.high)}, at {100 * found.level:g} %)" if known else "(error not known)"
    sentence = f"{question}: {_word(found.estimate)} {where}{f' {remark}' if remark else ''}"
    return Answer(("question", *INTERVAL), [(question, *fields(found, known=known))], sentence)


def fields(found: Any, *, known: bool) -> tuple[Any, ...]:
    """An interval under the headings `INTERVAL`; without ends where its error is not known."""
    return found.estimate, found.low if known else None, found.high if known else None, found.level


def _word(at: Any) -> str:
    if isinstance(at, datetime):
        return at.strftime("%Y-%m-%d %H:%M").removesuffix(" 00:00") + (" UTC" if at.tzinfo is not None else "")
    return number(at) if isinstance(at, float) else str(at)
