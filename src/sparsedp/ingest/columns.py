"""The columns of the records as queries see them: what they hold, in words, and how their text is written."""

from __future__ import annotations

from dataclasses import dataclass

from sparsedp.errors import InvalidInput

WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
"""DuckDB's names of the whole numbers that a BIGINT holds; UBIGINT is apart."""


@dataclass(frozen=True)
class SourceColumn:
    """A column of the source under the short name that queries use, with the name that people gave it."""

    sql: str
    type: str
    """As DuckDB names it; dates and times are whole numbers to it."""
    kind: str
    """What the column holds, in words."""
    given: str
    point: str = "."
    """What stands before the decimals of numbers in text."""
    date_format: str | None = None
    """How times in text are written; None is ISO 8601."""

    @property
    def digits(self) -> tuple[int, int]:
        """Of a decimal: all digits, and those after the point."""
        width, scale = self.type.removeprefix("DECIMAL(").removesuffix(")").split(",")
        return int(width), int(scale)

    def refuse(self, wanted: str) -> InvalidInput:
        """A complaint about the column's type, which is public: it is the same whoever is in the data."""
        return InvalidInput(f"column {self.given!r}", f"a column of {self.kind}", wanted)
