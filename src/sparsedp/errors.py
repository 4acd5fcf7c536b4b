"""Every error a user can meet, in one tree.

    SparsedpError
    ├── InvalidInput (also a ValueError)   an argument that cannot be used; nothing was spent
    │   └── UnknownName                    a name that is not in a registry; the nearest one is offered
    ├── BudgetExceeded                     the ledger has less left than was asked for; nothing was spent
    ├── PrivateSide                        an attempt to save, send or print what is not yet noise-protected
    └── BadFile                            a file that is missing, foreign, damaged or of a later version
        └── NotSigned                      a file that the key which was named has not signed

Messages are one sentence with its remedy. They never quote a private value: for counts they say what is wrong
with them, not what or where it is.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from sparsedp.files.untrusted import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sparsedp.privacy.budget import Budget


LONGEST_SHOWN = 100
"""Of what was given, in a message: axes have no longer names."""


def shortened(text: str, most: int = LONGEST_SHOWN) -> str:
    """A text, or the beginning of it and an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


class SparsedpError(Exception):
    """The root of the tree: catch this to catch everything the library raises on purpose.

    A message may quote names and labels of a file that a stranger wrote: what a terminal would obey is escaped.
    """

    def __init__(self, *words: str) -> None:
        super().__init__(*map(printable, words))


class InvalidInput(SparsedpError, ValueError):
    """An argument that cannot be used: which one, what was given, and what would do."""

    def __init__(self, argument: str, given: str, remedy: str) -> None:
        self.argument = argument
        self.given = given
        self.remedy = remedy
        super().__init__(f"{argument} is {given}; {remedy}.")


class UnknownName(InvalidInput):
    """A name that no registry knows; the nearest known name is offered."""

    def __init__(self, argument: str, name: str, known: Iterable[str], remedy: str = "") -> None:
        names = sorted(known)
        near = get_close_matches(name, names, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]!r}? " if near else ""
        super().__init__(
            argument, f"{shortened(name)!r}, which is not known", hint + (remedy or f"choose one of {', '.join(names)}")
        )
        self.known = names


class BudgetExceeded(SparsedpError):
    """The ledger has less left than was asked for; nothing was spent."""

    def __init__(self, requested: Budget, remaining: Budget | None) -> None:
        self.requested = requested
        self.remaining = remaining
        super().__init__(
            f"The budget would be exceeded: {requested.amount} was asked for and "
            f"{remaining.amount if remaining else 'nothing'} is left; "
            "ask for less. Nothing was spent."
        )


class PrivateSide(SparsedpError, TypeError):
    """An attempt to save, send or print something that is not yet noise-protected."""


class BadFile(SparsedpError):
    """A file that is missing, foreign, damaged or written by a later version."""


class NotSigned(BadFile):
    """A file that nobody has signed, or another key than the one that was named."""
