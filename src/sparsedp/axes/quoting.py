"""Names and labels in a text that describes an axis: as they are where that is plain, else in double quotes."""

from __future__ import annotations

import re

from sparsedp.errors import InvalidInput

AUTOMATIC = frozenset({"auto", "automatic", "data", "infer", "inferred", "detect", "bins", "quantiles", "?", "*"})
"""Wishes for cells that are read off the data; a label of that name alone is written in quotes."""


def quoted_name(name: str) -> str:
    """A name before its colon."""
    return quoted(name) if re.search(r'[:"]', name) else name


def quoted_label(label: str) -> str:
    """A label in a list of them."""
    plain = re.fullmatch(r"[^\W\d]([\w -]*\w)?", label) and label.isprintable() and label.lower() not in AUTOMATIC
    return label if plain else quoted(label)


def quoted(text: str) -> str:
    """In double quotes, each of its own written twice."""
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


_QUOTED = r'\s*"((?:[^"]|"")*)"\s*'
_PART = re.compile(rf"(?:{_QUOTED}|([^\",]*))(,|$)", re.DOTALL)


def leading_quoted(text: str) -> tuple[str, str] | None:
    """A quoted text at the very front, and what follows it; None where there is none, or it does not end."""
    found = re.match(_QUOTED, text)
    return (found[1].replace('""', '"'), text[found.end() :]) if found else None


def listed(text: str) -> list[tuple[str, bool]]:
    """The parts of a list between its commas, each with whether it was quoted; a comma may follow the last.

    Raises InvalidInput on a quote that does not end, or that begins or ends within a part.
    """
    parts: list[tuple[str, bool]] = []
    place = 0
    while place < len(text) or not parts:
        found = _PART.match(text, place)
        if found is None:
            raise _loose_quote()
        parts.append((found[2].strip(), False) if found[1] is None else (found[1].replace('""', '"'), True))
        place = found.end()
    return parts


def _loose_quote() -> InvalidInput:
    remedy = 'put the whole label in double quotes and write its own twice: "a ""quoted"" word, and a comma"'
    return InvalidInput("labels", "a list with a double quote out of place", remedy)
