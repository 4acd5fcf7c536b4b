"""The file of a stream that a command goes on with, or begins."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sparsedp.cli.interruption import Interrupted
from sparsedp.errors import BadFile

if TYPE_CHECKING:
    from sparsedp.privacy.ledger import Ledger
    from sparsedp.streams.base import Stream

AN_EMPTY_STREAM = 2**17
"""Bytes: more than a new stream's file and its log need."""


@contextmanager
def the_stream(file: str) -> Iterator[Stream]:
    """The stream in the file, which must exist: one begun by accident would be another budget."""
    from sparsedp.streams.durable import open_stream

    if not os.path.exists(file):
        begin = f"`sparsedp stream init {shlex.quote(file)} --epsilon 0.5 --ledger budget.db`"
        raise BadFile(f"There is no stream {file}; check the path, or begin one: {begin}.")
    with open_stream(file) as stream:
        yield stream


def begin(path: Path, stream: Stream, ledger: Ledger | None) -> None:
    """Make the stream's file; with a ledger, once the debit is committed and not before.

    A file that could be observed is a draw of noise: killed at whatever point, none is left that was not paid for. What
    can be known to fail is tried before the debit.
    """
    from sparsedp.streams.durable import open_stream

    spent, described = stream.spent, stream.describe()
    relation = stream.guarantee.neighbours.relation
    _try_writing(path)
    before = _entries(ledger)
    try:
        if ledger is not None:
            spend = ledger.debit(spent, f"{stream.name} stream", relation=relation, parameters=described)
        open_stream(path, stream).close()
        if ledger is not None:
            ledger.deliver(spend, hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest())
    except KeyboardInterrupt:
        # The debit may have been committed in the moment before: the ledger knows.
        raise Interrupted(_outcome(path, spent.amount, debited=_entries(ledger) > before)) from None
    except BadFile as error:
        if _entries(ledger) == before:
            raise
        raise BadFile(f"{error} {_outcome(path, spent.amount, debited=True)}") from None


def _entries(ledger: Ledger | None) -> int:
    return 0 if ledger is None else len(ledger.entries)


def _try_writing(path: Path) -> None:
    """See that there is room for a new stream, with a file that could never be one."""
    probe = path.absolute().with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        with open(probe, "xb") as file:
            file.write(bytes(AN_EMPTY_STREAM))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise BadFile(f"Could not create {path}: {error.strerror or error}. Nothing was spent.") from None
    finally:
        probe.unlink(missing_ok=True)


def _outcome(path: Path, amount: str, *, debited: bool) -> str:
    if path.exists():
        return f"The stream {path} was begun{f', and {amount} is spent on it' if debited else ''}."
    if not debited:
        return "No stream was begun and nothing was spent."
    return f"{amount} was already debited and stays spent, but there is no stream; beginning it again debits it again."
