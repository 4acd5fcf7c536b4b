"""The columns of the records as DuckDB names their types, sorted into the few kinds that matter for counting."""

from __future__ import annotations

from dataclasses import dataclass

from sparsedp.errors import InvalidInput

WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
KINDS = {
    **dict.fromkeys((*WHOLE, "UBIGINT"), "whole numbers"),
    "BOOLEAN": "truth values",
    "FLOAT": "floats",
    "DOUBLE": "floats",
    "VARCHAR": "text",
    "DATE": "dates",
    "TIMESTAMP": "times",
    "TIMESTAMP_NS": "times",
    "TIMESTAMP WITH TIME ZONE": "times with a timezone",
    "BLOB": "bytes",
}
"""Type → what people call it. Decimals, whose type has digits in it, are looked at apart."""


@dataclass(frozen=True)
class SourceColumn:
    """A column of the source under the short name that queries use, with the name that people gave it."""

    sql: str
    type: str
    given: str

    @property
    def known(self) -> bool:
        """Whether the type is one of those that queries are written for."""
        return self.type in KINDS or self.type.startswith("DECIMAL")

    @property
    def kind(self) -> str:
        """What the column holds, in words."""
        return KINDS.get(self.type, "decimals")

    @property
    def digits(self) -> tuple[int, int]:
        """Of a decimal: all digits, and those after the point."""
        width, scale = self.type.removeprefix("DECIMAL(").removesuffix(")").split(",")
        return int(width), int(scale)

    def refuse(self, wanted: str) -> InvalidInput:
        """A complaint about the column's type, which is public: it is the same whoever is in the data."""
        return InvalidInput(f"column {self.given!r}", f"a column of {self.kind}", wanted)
