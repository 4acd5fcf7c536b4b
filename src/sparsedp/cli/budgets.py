"""The ledger that pays for a command: found by its file and, where there are several, its data set."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from sparsedp.errors import BadFile, InvalidInput, UnknownName

if TYPE_CHECKING:
    from sparsedp.privacy.ledger_file import DataSetLedger, LedgerFile


WAIT = 10.0
"""Seconds to wait for another process that has the ledger in hand."""


def ledger_named(typed: str | None, *, no_ledger: bool, otherwise: str | None = None) -> str | None:
    """The ledger's file; None only where it was said that there is none.

    `otherwise`: the project file's, which --no-ledger sets aside.
    """
    if typed is not None and no_ledger:
        raise InvalidInput("ledger", "given beside --no-ledger", "leave one of the two out")
    path = otherwise if typed is None else typed
    if no_ledger:
        return None
    if path is None:
        remedy = (
            "name the ledger that pays, such as --ledger budget.db, so that all releases of these people together "
            "stay within one total; or say --no-ledger if you keep count of it elsewhere"
        )
        raise InvalidInput("ledger", "missing", remedy)
    return path


def the_books(path: str) -> LedgerFile:
    """The ledger file at `path`, which must exist: a ledger made by accident would be a second budget."""
    from sparsedp.privacy.ledger_file import open_ledger

    if not Path(path).exists():
        raise BadFile(f"There is no ledger {path}; check the path, or begin one: {how_to_begin(path)}.")
    return open_ledger(path, wait=WAIT)


def the_ledger(path: str, dataset: str | None, about: str = "") -> DataSetLedger:
    """The ledger of the data set; if none is named, of the only one there is.

    `about`: the file it is wanted for, after which a data set could be named.
    """
    named = dataset or Path(about).name.partition(".")[0] or None
    if not Path(path).exists():
        raise BadFile(f"There is no ledger {path}; check the path, or begin one: {how_to_begin(path, named)}.")
    books = the_books(path)
    names = books.names
    if not names:
        raise BadFile(f"The ledger {path} has no data set yet; declare one: {how_to_begin(path, named)}.")
    if dataset is None:
        if len(names) > 1:
            raise InvalidInput("dataset", "missing", f"say whose budget it is: --dataset {' or '.join(names)}")
        return books[names[0]]
    if dataset not in names:
        remedy = f"the ledger {path} has {', '.join(names)}; to declare another: {how_to_begin(path, dataset)}"
        raise UnknownName("dataset", dataset, names, remedy)
    return books[dataset]


def how_to_begin(path: str, dataset: str | None = None) -> str:
    """The command that declares a data set, ready to run once the total is right."""
    name = shlex.quote(dataset) if dataset is not None else "NAME"
    return f"`sparsedp ledger init {shlex.quote(path)} --dataset {name} --epsilon 2`"
