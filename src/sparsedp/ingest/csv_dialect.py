"""How CSV files are written: declared, never guessed, for a guess would look at the data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sparsedp import validate
from sparsedp.errors import InvalidInput

ENCODINGS = {
    "utf-8": "utf-8",
    "utf8": "utf-8",
    "latin-1": "latin-1",
    "latin1": "latin-1",
    "iso-8859-1": "latin-1",
    "cp1252": "cp1252",
    "windows-1252": "cp1252",
}
DATE_PARTS = "dmYyjHIMSfp"
"""What may follow the % of a date format: numbers, and AM or PM. Names of months are of some language, zones of some
law."""

_WANTED = (
    'give csv={"delimiter": ";"}, with "quote", "decimal", "date_format", "encoding" and "multiline" where they are '
    "needed"
)


@dataclass(frozen=True)
class Dialect:
    """How fields are told apart and what is in them. A file named .tsv has tabs unless something else is said."""

    delimiter: str | None = None
    quote: str = '"'
    decimal: str = "."
    encoding: str = "utf-8"
    date_format: str | None = None
    date_formats: Mapping[str, str] = field(default_factory=dict)
    """By the names of columns, where they differ; other columns are as ISO 8601 says."""
    multiline: bool = False
    """Whether a field between quotes may hold line ends. A stray quote then takes other people's records with it."""

    def of(self, file: str) -> str:
        """The delimiter of a file."""
        return self.delimiter or ("\t" if ".tsv" in file.lower()[-8:] else ",")

    def written(self, column: str) -> dict[str, Any]:
        """How numbers and times in a column are written."""
        return {"point": self.decimal, "date_format": self.date_formats.get(column, self.date_format)}


def dialect_of(declared: object) -> Dialect:
    """From `csv={"delimiter": ";"}`; None is a comma, double quotes, a decimal point, ISO 8601 and UTF-8."""
    if declared is None:
        return Dialect()
    if not isinstance(declared, Mapping):
        raise InvalidInput("csv", f"of type {type(declared).__name__}", _WANTED)
    given: dict[str, Any] = {}
    for name, value in declared.items():
        if name not in ("delimiter", "quote", "decimal", "encoding", "date_format", "multiline"):
            raise InvalidInput("csv", f"a setting for {str(name)[:40]!r}", _WANTED)
        if name == "date_format":
            given |= _date_formats(value)
        elif name == "encoding":
            given["encoding"] = _encoding(value)
        elif name == "decimal":
            if value not in (".", ","):
                raise InvalidInput("csv['decimal']", repr(value)[:40], 'give "." or ","')
            given["decimal"] = value
        elif name == "multiline":
            given["multiline"] = validate.yes_or_no("csv['multiline']", value)
        else:
            if not isinstance(value, str) or len(value) != 1 or value in "\r\n" or not value.isascii():
                raise InvalidInput(f"csv[{name!r}]", "not one plain character", "give one, such as ; or '")
            given[str(name)] = value
    dialect = Dialect(**given)
    if dialect.delimiter == dialect.quote:
        raise InvalidInput("csv", "one character for both delimiter and quote", _WANTED)
    return dialect


def _encoding(value: object) -> str:
    known = ENCODINGS.get(value.lower().replace("_", "-")) if isinstance(value, str) else None
    if known is None:
        raise InvalidInput("csv['encoding']", repr(value)[:40], 'give "utf-8", "latin-1" or "cp1252"')
    return known


def _date_formats(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {"date_formats": {str(column): _date_format(value[column]) for column in sorted(value, key=str)}}
    return {"date_format": _date_format(value)}


def _date_format(value: object) -> str:
    """A format of which each part is known, and which says a day at least."""
    wanted = 'give a format such as "%d.%m.%Y" or "%m/%d/%Y %I:%M %p", or one for each column: {"day": "%d.%m.%Y"}'
    if not isinstance(value, str):
        raise InvalidInput("csv['date_format']", f"of type {type(value).__name__}", wanted)
    parts = set(re.findall("%(.?)", value))
    named = bool(parts & set("Yy")) and ({"d", "m"} <= parts or "j" in parts)
    if not named or not parts <= set(DATE_PARTS) or not value.isascii() or not value.isprintable():
        raise InvalidInput("csv['date_format']", repr(value)[:40], wanted)
    return value
