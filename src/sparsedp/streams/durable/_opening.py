"""Open a durable stream, or begin one, which its ledger pays for before there is a file.

Whoever has a stream's file can draw noise. So the order is: try what can be known to fail; debit the ledger; create the
file, complete, with the debit written in it; tell the ledger that it is delivered. If the process is killed between the
debit and the file, the budget is spent and there is no stream. That is safe, and the next attempt says so before it
debits again, for nobody can prove to the ledger that no noise was drawn. No file ever exists that its ledger has not
paid for, so it can be opened later without the ledger.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparsedp import validate
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.mechanisms.base import spent_already
from sparsedp.noise.source import RandomSource
from sparsedp.privacy.ledger import Ledger, Spend
from sparsedp.streams.adaptive import ContinualAdaptive
from sparsedp.streams.base import Stream
from sparsedp.streams.compressive import ContinualCompressive
from sparsedp.streams.difference import ContinualDifference
from sparsedp.streams.durable._schema import create
from sparsedp.streams.durable._stream_file import StreamFile

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

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
        return _stream_in(file, target, stream)
    except BaseException:
        file.close()
        raise


def _stream_in(file: StreamFile, path: Path, given: Stream | None) -> Stream:
    try:
        stored, paid = stream_from(file.description), payment_in(file.description)
    except (KeyError, TypeError, AttributeError, InvalidInput):
        raise BadFile(f"{path} describes a stream that this version does not know; update sparsedp.") from None
    if given is not None:
        _check_same(given, stored)
        stored = stream_from(file.description, source=given._terms.source, ledger=given._terms.ledger)
        paid = reconcile(file, paid, path, stored)
        given.close()  # two streams of the same people would be two draws
    if not stored.private and file.private:
        file.mark_not_private()
    stored._resume_from(file, private=file.private, record=None if paid is None else paid.record)
    return stored


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


def _check_same(given: Stream, stored: Stream) -> None:
    """Refuse settings that differ from the file's; those that the caller did not choose may."""
    wanted, found = _flat(given), _flat(stored)
    for name in wanted | found:
        if name not in given._defaulted and wanted.get(name) != found.get(name):
            remedy = f"it has {name} {found.get(name)!r} for as long as it lives: leave it so, or begin another file"
            raise InvalidInput(name, f"{wanted.get(name)!r}, which is not what the stream in the file has", remedy)


def _flat(stream: Stream) -> dict[str, Any]:
    described = stream.describe()
    return {"stream": described["stream"], **described["terms"], **described["settings"]}


# Payment: the debit is committed before there is a file, and the file says which one it was.


EMPTY_STREAM_BYTES = 2**17
"""Bytes: more than a new stream's file and its log need."""

_WAIT, _PAUSE = 10.0, 0.005


@dataclass(frozen=True)
class Payment:
    """What a file knows of its debit: the ledger's line for it, and its random name."""

    record: Mapping[str, str]
    token: str

    @classmethod
    def by(cls, ledger: Ledger, spend: Spend) -> Payment:
        """This spend of this ledger."""
        return cls(ledger.record(spend), spend.token)

    def describe(self) -> dict[str, Any]:
        """As `payment_in` takes it back."""
        return {"record": dict(self.record), "token": self.token}


def payment_in(description: Mapping[str, Any]) -> Payment | None:
    """What a file says of its debit; None if no ledger has paid, or the file is of a version that did not say."""
    said = description.get("paid")
    if said is None:
        return None
    record = {name: said["record"][name] for name in ("data_set", "spend", *said["record"])}
    if not all(isinstance(text, str) for text in (*record, *record.values(), said["token"])):
        raise TypeError("a record is made of texts")
    return Payment(record, said["token"])


def begin(path: Path, stream: Stream) -> bool:
    """Make the file of a new stream, paid for by its ledger if it has one; False if there is a file of that name.

    Of several processes that begin the same file, one debits and makes it.
    """
    with _folder_lock(path.absolute().parent):
        if path.exists():
            return False
        if path.is_symlink():
            raise BadFile(f"Could not create {path}: File exists, a link that leads nowhere; give another path.")
        _check_writable(path, "nothing was left half-written" if stream._terms.ledger is None else "nothing was spent")
        _make(path, stream)
    return True


def _make(path: Path, stream: Stream) -> None:
    ledger, spend = stream._terms.ledger, None
    if ledger is not None:
        spend = _debited(path, stream, ledger)
    with spent_already(spend):
        paid = None if ledger is None or spend is None else Payment.by(ledger, spend).describe()
        create(path, {**stream.describe(), "paid": paid}, stream._logs, counters=stream._state is not None)
        if ledger is not None and spend is not None:
            ledger.deliver(spend, _digest(stream))


def reconcile(file: StreamFile, paid: Payment | None, path: Path, stream: Stream) -> Payment | None:
    """The file is there, and `stream` may have a ledger: refuse another than the one that paid, or let it pay now.

    A file that no ledger has paid for is debited late, when it is opened with one: what it has published was spent
    already. (Files of earlier versions do not say who paid. Those with ticks were debited with the first of them.)
    """
    ledger = stream._terms.ledger
    if ledger is None:
        return paid
    if paid is not None:
        _recognise(ledger, paid, path, stream)
        return paid
    if "paid" not in file.description and file.ticks:
        return None
    spend = _debited(path, stream, ledger)
    with spent_already(spend):
        paid = Payment.by(ledger, spend)
        file.rewrite_description({**file.description, "paid": paid.describe()})
        ledger.deliver(spend, _digest(stream))
    return paid


def _recognise(ledger: Ledger, paid: Payment, path: Path, stream: Stream) -> None:
    for spend in ledger.entries:
        if spend.token == paid.token:
            if spend.state == "debited":  # whoever began it was stopped before the ledger took note
                ledger.deliver(spend, _digest(stream))
            return
    which = f"spend {paid.record['spend'][:40]} of {paid.record['data_set'][:40]!r}"
    given = f"not the one that paid for {path}: {which}"
    raise InvalidInput("ledger", given, "give that one, or leave it out: nothing more is debited")


def request_for(path: Path) -> str:
    """By which the ledger knows the debits for a stream at this place."""
    return hashlib.sha256(b"stream at " + os.fsencode(os.path.abspath(path))).hexdigest()


def _debited(path: Path, stream: Stream, ledger: Ledger) -> Spend:
    request = request_for(path)
    before = ledger.unfinished(request)
    if before is not None:
        warnings.warn(
            f"An earlier beginning of {path} debited {before.budget.amount} and was stopped before it had a stream. "
            "What it debited stays spent, and this one spends again.",
            stacklevel=6,
        )
    relation = stream.guarantee.neighbours.relation
    purpose, parameters = f"{stream.name} stream", stream.describe()
    return ledger.debit(stream.spent, purpose, relation=relation, parameters=parameters, request=request)


def _digest(stream: Stream) -> str:
    """What the ledger keeps of a stream: it has paid for whatever will be published in it."""
    return hashlib.sha256(json.dumps(stream.describe(), sort_keys=True).encode()).hexdigest()


def _check_writable(path: Path, outcome: str) -> None:
    """See that there is room for a new stream, with a file that could never be one."""
    probe = path.absolute().with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        with open(probe, "xb") as file:
            file.write(bytes(EMPTY_STREAM_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        reason = f"there is no folder {path.parent}" if missing else error.strerror or error
        raise BadFile(f"Could not create {path}: {reason}; {outcome}.") from None
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)


@contextmanager
def _folder_lock(folder: Path) -> Iterator[None]:
    """One process at a time begins streams in a folder: of two that begin the same one, only one shall pay.

    Where folders cannot be locked, or somebody else keeps this one locked, both may pay; one makes the file.
    """
    handle = None
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY) if fcntl is not None else None
    try:
        if handle is not None:
            _lock(handle)
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _lock(handle: int) -> None:
    deadline = time.monotonic() + _WAIT
    while time.monotonic() < deadline:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(_PAUSE)
        except OSError:
            return
