"""What a command says: results on standard output, everything else on standard error; colour only on a terminal.

Much of it was written by others: labels, names, purposes. All of it goes through here, where whatever a terminal would
obey instead of showing it is escaped.
"""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sparsedp.untrusted import printable, printable_json


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
    text = json.dumps(plain(document), ensure_ascii=plain_text, indent=2, allow_nan=False)
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


def plain(value: Any) -> Any:
    """Nothing but what JSON has: budgets and paths as text, numbers as numbers, times in ISO form."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes):
        return [plain(entry) for entry in value]
    if hasattr(value, "tolist"):  # numpy's arrays and numbers; its times become dates
        return plain(value.tolist())
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def listed(words: Iterable[str]) -> str:
    """a, b and c."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
