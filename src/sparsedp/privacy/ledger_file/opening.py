"""Open a ledger file, or one data set's ledger in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import overload

from sparsedp import validate
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.privacy.ledger_file.books import LedgerFile
from sparsedp.privacy.ledger_file.data_set import DataSetLedger
from sparsedp.privacy.ledger_file.store import LedgerStore

WAIT = 10.0
"""Seconds that an operation waits for another process to finish its own, which takes milliseconds."""


@overload
def open_ledger(path: str | os.PathLike[str], dataset: None = None, *, wait: float = WAIT) -> LedgerFile: ...


@overload
def open_ledger(path: str | os.PathLike[str], dataset: str, *, wait: float = WAIT) -> DataSetLedger: ...


def open_ledger(
    path: str | os.PathLike[str], dataset: str | None = None, *, wait: float = WAIT
) -> LedgerFile | DataSetLedger:
    """The budgets in the file at `path`: all of them, or the ledger of the data set that is named.

    >>> import sparsedp as sdp, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> books = open_ledger(f"{folder.name}/budget.db")
    >>> visits = books.declare("visits", epsilon=2)
    >>> release = sdp.release([12, 5, 7], epsilon="0.5", ledger=visits)
    >>> str(open_ledger(f"{folder.name}/budget.db", "visits").remaining)
    'ε = 1.5'
    >>> folder.cleanup()

    The file is made by the first `declare`, never by opening. `wait`: seconds to wait for other processes.
    """
    if not isinstance(path, str | os.PathLike) or "\0" in str(path) or not str(path):
        raise InvalidInput("path", "not the path of a file", "give the path of a ledger, such as 'budget.db'")
    seconds = float(validate.positive("wait", wait))
    target = Path(path)
    try:
        books = LedgerFile(LedgerStore(target, seconds))
        exists = target.exists()
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "its links lead nowhere"
        raise BadFile(f"{target} cannot be reached: {reason}; check the path and who may read it.") from None
    if dataset is not None:
        return books[dataset]
    if exists and (target.is_dir() or target.stat().st_size):
        books.names  # noqa: B018  # what cannot be used is refused at once
    return books
