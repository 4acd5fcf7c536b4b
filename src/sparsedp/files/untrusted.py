"""Text that strangers wrote: read within bounds, and shown so that it can do nothing to a terminal.

Whoever opens a published file takes in names, labels and descriptions that somebody else chose. Here is what every
reader and every printer of them uses.
"""

from __future__ import annotations

import json
import re
import sqlite3
from typing import Any

_LEAST_WORK, _WORK_A_BYTE = 1_000_000, 64
"""Steps of SQLite's machine that reading a database may take: a row has a few bytes, and takes a few steps."""

_STEPS = 1000

_MOST_NESTED = 50
"""Of lists and objects within one another: what the library writes has a dozen."""

_MOST_DIGITS = 400
"""Of a whole number in JSON; budgets and scales are texts, which have a parser of their own."""

_NESTING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.DOTALL)

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# Control characters (a terminal takes U+009B for ESC [, too), marks that turn the direction of writing, further line
# ends, and halves of characters.

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str) -> str:
    """The text with everything escaped that would not be shown but obeyed: colours, cursor moves, new lines.

    >>> printable("north\\x1b[2K\\rsigned by the Ministry")
    'north\\\\x1b[2K\\\\rsigned by the Ministry'
    """
    return _UNSAFE.sub(_escaped, text)


def printable_json(text: str) -> str:
    """The same for a JSON document, which stays one with the same content; the line ends between entries stay."""
    return _UNSAFE.sub(lambda found: "\n" if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text)


def _escaped(found: re.Match[str]) -> str:
    character, code = found[0], ord(found[0])
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def document(text: str | bytes) -> Any:
    """What a JSON document says; `ValueError` if it is none, or is made to exhaust whoever reads it.

    Python's own reader ends in a RecursionError when lists are nested deep, which this measures first.
    """
    if not isinstance(text, str | bytes):
        raise ValueError("not text")
    written = text.decode() if isinstance(text, bytes) else text  # what is not UTF-8 is a ValueError
    depth = 0
    for found in _NESTING.finditer(written):
        depth += 1 if found[0] in "[{" else -1 if found[0] in "]}" else 0
        if depth > _MOST_NESTED:
            raise ValueError("nested too deep")
    said = json.loads(written, parse_int=_whole)
    if "\\ud" in written.lower():
        json.dumps(said, ensure_ascii=False).encode()  # half of a character is a ValueError, too
    return said


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError("a number of too many digits")
    return int(digits)


def statements_in(connection: sqlite3.Connection) -> list[str]:
    """Every table, index, trigger and view of a SQLite database, as the statements that make them, sorted.

    Asked before anything else of it: what is called a table may be a view that never ends, and a trigger does what it
    likes when a row is written.
    """
    found = connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    return sorted(str(sql) for (sql,) in found)


def work_at_most(connection: sqlite3.Connection, size: int) -> None:
    """End any statement, with an error, once all of them have taken more steps than a database of `size` bytes needs.

    Pages of a file can be made to lead to one another in circles, or to be reached along many paths.
    """
    left = [(_LEAST_WORK + _WORK_A_BYTE * size) // _STEPS]

    def spent() -> bool:
        left[0] -= 1
        return left[0] < 0

    connection.set_progress_handler(spent, _STEPS)
