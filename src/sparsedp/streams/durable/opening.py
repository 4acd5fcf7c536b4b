"""Open a durable stream, or begin one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sparsedp import validate
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.noise.source import RandomSource
from sparsedp.privacy.ledger import Ledger
from sparsedp.streams.adaptive import ContinualAdaptive
from sparsedp.streams.base import Stream
from sparsedp.streams.compressive import ContinualCompressive
from sparsedp.streams.difference import ContinualDifference
from sparsedp.streams.durable.payment import begin, paid_in, settle
from sparsedp.streams.durable.stream_file import StreamFile

DURABLE = {stream.name: stream for stream in (ContinualAdaptive, ContinualCompressive, ContinualDifference)}
"""The streams that a file can hold, by the name in its description. (`ContinualCounter` keeps no log, so a tick that is
delivered again could not be answered; `ContinualDifference` is the durable counter.)"""


def open_stream(path: str | os.PathLike[str], stream: Stream | None = None, *, log_lost: bool = False) -> Stream:
    """The stream in the file at `path`, ready to go on; if there is no such file, `stream` is begun in a new one.

    >>> import sparsedp as sdp, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with sdp.open_stream(f"{folder.name}/cases.stream", sdp.ContinualAdaptive(epsilon="0.5")) as stream:
    ...     published = stream.observe(12)
    >>> with sdp.open_stream(f"{folder.name}/cases.stream") as stream:
    ...     stream.ticks
    1
    >>> folder.cleanup()

    A tick is on disk before `observe` returns. A tick that is delivered again, by its number or time (`at=`), returns
    what was published the first time and counts nothing. One process at a time can have the file open. A `stream`
    given for a file that exists must have the same settings: they cannot change while it lives. The stream that is
    given is used up: go on with the one that is returned.

    A ledger pays when the file is begun: it is debited before there is a file, which keeps the ledger's line for it, so
    that it can be opened later without a ledger. Stopped between the two, the budget is spent and there is no stream.
    With another ledger than the one that paid it is not opened; one that was begun without a ledger is debited when it
    is first opened with one.

    `log_lost`: open a file that was not closed although its log is missing. Ticks that were in the log alone are
    gone; if they are delivered again, they are published a second time, at the cost of another ε for each of them.
    """
    target = _checked_path(path)
    if stream is not None:
        _check_stream(stream)
    if not _exists(target):
        if stream is None:
            remedy = "give the stream to begin there, such as sparsedp.ContinualAdaptive(epsilon=…), or check the path"
            raise BadFile(f"There is no file {target}; {remedy}.")
        begin(target, stream)
    file = StreamFile.open(target, log_lost=log_lost)
    try:
        return _rebuilt(file, target, stream)
    except BaseException:
        file.close()
        raise


def _rebuilt(file: StreamFile, path: Path, given: Stream | None) -> Stream:
    try:
        kept, paid = stream_from(file.description), paid_in(file.description)
    except (KeyError, TypeError, AttributeError, InvalidInput):
        raise BadFile(f"{path} describes a stream that this version does not know; update sparsedp.") from None
    if given is not None:
        _check_same(given, kept)
        kept = stream_from(file.description, source=given._terms.source, ledger=given._terms.ledger)
        paid = settle(file, paid, path, kept)
        given.close()  # two streams of the same people would be two draws
    if not kept.private and file.private:
        file.mark_not_private()
    kept._keep_in(file, private=file.private, record=None if paid is None else paid.record)
    return kept


def stream_from(
    description: dict[str, Any], *, source: RandomSource | None = None, ledger: Ledger | None = None
) -> Stream:
    """A stream, not yet begun, with the settings that `describe` described."""
    kind: Any = DURABLE[description["stream"]]
    made: Stream = kind(**description["settings"], **description["terms"], source=source, ledger=ledger)
    return made


def _checked_path(path: object) -> Path:
    return validate.file_path("path", path, "give the path of a stream's file")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise BadFile(f"{path} cannot be reached: {error.strerror}; check the path and who may read it.") from None


def _check_stream(stream: Any) -> None:
    if not isinstance(stream, Stream) or stream.name not in DURABLE:
        names = ", ".join(kind.__name__ for kind in DURABLE.values())
        raise InvalidInput("stream", f"of type {type(stream).__name__}", f"give one of {names}")
    if stream.ticks:
        raise InvalidInput("stream", "one that has begun", "give one without ticks: those it has are not moved")


def _check_same(given: Stream, kept: Stream) -> None:
    """Refuse settings that differ from the file's; those that the caller did not choose may."""
    wanted, found = _flat(given), _flat(kept)
    for name in wanted | found:
        if name not in given._defaulted and wanted.get(name) != found.get(name):
            remedy = f"it has {name} {found.get(name)!r} for as long as it lives: leave it so, or begin another file"
            raise InvalidInput(name, f"{wanted.get(name)!r}, which is not what the stream in the file has", remedy)


def _flat(stream: Stream) -> dict[str, Any]:
    described = stream.describe()
    return {"stream": described["stream"], **described["terms"], **described["settings"]}
