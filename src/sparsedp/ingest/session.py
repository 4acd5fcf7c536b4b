"""A DuckDB of its own for one count: bounded memory, a private place to spill to, no network, nothing kept.

The place is a folder `sparsedp-…` among the temporary files: in it the file `lock`, held by the process that counts,
and the folder `records`, where DuckDB spills raw rows. It is removed when the count ends, by a result, an error or a
signal; what a kill or a power cut leaves is removed by the next count of the same user.

Ctrl-C, SIGTERM and SIGHUP are treated alike. Handlers are the program's own: what is put in their place here is there
for one block, in the main thread, where alone Python runs handlers, and is taken away again. Signals that the program
ignores stay ignored.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import struct
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from sparsedp.errors import BadFile, InvalidInput, SparsedpError

if TYPE_CHECKING:
    import duckdb


try:
    import fcntl
except ImportError:  # Windows, where nothing is swept
    fcntl = None  # type: ignore[assignment]


T = TypeVar("T")

_MEMORY, _THREADS = "SPARSEDP_MEMORY", "SPARSEDP_THREADS"
"""Environment variables: how much memory counting may use, such as 4GB, and how many threads."""

_PREFIX = "sparsedp-"
"""How the names of our temporary folders begin."""

_LOCK, _RECORDS = "lock", "records"

_MEGABYTE = 1_000_000
_LEAST, _USUAL, _MOST = 100, 256, 1_000
"""Megabytes: ever at least, by default at least where the machine has four times as much, and by default at most."""

_A_THREAD, _A_CORE = 100, 128
"""Megabytes: what a thread needs, and what is taken by default for each core."""


@contextmanager
def session() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that lives for one count. What does not fit in memory goes to a folder that only its owner may open,
    and the folder goes when the count is over, however it ends; what killed counts have left goes first."""
    import duckdb

    memory = memory_limit()
    with _ended_in_order(), _private_folder() as folder:
        connection = duckdb.connect(
            config={
                "memory_limit": f"{memory // _MEGABYTE}MB",
                "threads": threads(memory),
                "temp_directory": folder,
                "preserve_insertion_order": False,
                "enable_external_file_cache": False,
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
                # A join looks labels up: the records, of unknown number, are never the side that is held in memory.
                "disabled_optimizers": "join_order,build_side_probe_side",
            }
        )
        try:
            connection.execute("SET enable_progress_bar = false")  # it would be drawn on standard output
            yield connection
        finally:
            connection.close()


@contextmanager
def _private_folder() -> Iterator[str]:
    """A folder for records, inside one whose lock this process holds as long as it lives."""
    _sweep()
    # A TMPDIR that cannot be written to is refused: Python would take another folder, on a disk that nobody chose.
    outer = _made(tempfile.mkdtemp, prefix=_PREFIX, dir=os.environ.get("TMPDIR") or None)  # mode 0700
    records = os.path.join(outer, _RECORDS)
    lock = None
    try:
        lock = _locked(outer)
        _made(os.mkdir, records, 0o700)
        _for_its_owner_alone(records)
        yield records
    finally:
        with _undisturbed():
            # The records first: where they cannot be removed, the lock stays beside them, and a later sweep can.
            shutil.rmtree(records, ignore_errors=True)
            if not os.path.lexists(records):
                shutil.rmtree(outer, ignore_errors=True)
            if lock is not None:
                os.close(lock)


def _made(make: Callable[..., T], *arguments: Any, **settings: Any) -> T:
    try:
        return make(*arguments, **settings)
    except OSError:
        pass
    raise SparsedpError("There is no folder for temporary files that can be written to; set TMPDIR to one.")


def _locked(folder: str) -> int | None:
    """The folder's lock file, held; the system lets go of it when the process ends, even by a kill.

    It gets its name when it is held already, so that nobody can find it free in between. None where there are no such
    locks: then nobody will sweep the folder.
    """
    if fcntl is None:
        return None
    unnamed = os.path.join(folder, f"{_LOCK}.new")
    handle = _made(os.open, unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rename(unnamed, os.path.join(folder, _LOCK))
    except OSError:
        os.close(handle)
        return None
    return handle


def _for_its_owner_alone(folder: str) -> None:
    """Files that are made in the folder get the mode 0600, whatever the umask.

    DuckDB makes them with 0666, and a process has one umask for all its threads: it is not ours to change. A default
    access list of the folder takes the umask's place, for this folder alone. Where there is no such thing, the folder
    above, which nobody else may enter, has to do.
    """
    if hasattr(os, "setxattr"):
        entries = ((0x01, 0o6), (0x04, 0o0), (0x20, 0o0))  # its owner, its group, others
        packed = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry, 0xFFFFFFFF) for entry in entries)
        with suppress(OSError):
            os.setxattr(folder, "system.posix_acl_default", packed)


def _sweep() -> None:
    """Remove what counts have left that were killed, of this user alone."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(os.environ.get("TMPDIR") or tempfile.gettempdir()) as found:
        left = [entry.path for entry in found if entry.name.startswith(_PREFIX)]
        for path in left:
            with suppress(OSError), _undisturbed():
                _remove_if_left(path)


def _remove_if_left(path: str) -> None:
    """Remove a folder of ours if nobody holds its lock; an OSError where it is not ours, or somebody does.

    No link is followed, and everything is done inside the folder that was looked at, whatever its name leads to by
    then. A folder without a lock is left alone: it may be about to get one.
    """
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if os.fstat(folder).st_uid != os.geteuid():
            return
        lock = os.open(_LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(FileNotFoundError):
                shutil.rmtree(_RECORDS, dir_fd=folder)
            os.unlink(_LOCK, dir_fd=folder)
            os.rmdir(path)
        finally:
            os.close(lock)
    finally:
        os.close(folder)


def memory_limit() -> int:
    """In bytes: what the environment says, else 128 MB a core, 256 MB at least and 1 GB at most, and at most a quarter
    of the machine's. It has nothing to do with the number of records."""
    given = os.environ.get(_MEMORY)
    if not given:
        usual = min(_MOST, max(_USUAL, _A_CORE * _cores())) * _MEGABYTE
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4 * usual
        return max(_LEAST * _MEGABYTE, min(usual, machine // 4))
    parts = re.fullmatch(r"\s*([0-9]{1,6}(?:\.[0-9]{1,3})?) ?(MB|GB)\s*", given, re.IGNORECASE)
    size = int(float(parts[1]) * _MEGABYTE) * {"MB": 1, "GB": 1000}[parts[2].upper()] if parts else 0
    if size < _LEAST * _MEGABYTE:
        raise InvalidInput(_MEMORY, repr(given[:40]), f'set it to a size of at least {_LEAST} MB, such as "2GB"')
    return size


def threads(memory: int) -> int:
    """What the environment says, else as many as the machine has, as long as each has some memory to work in."""
    given = os.environ.get(_THREADS)
    if given:
        if not given.isdecimal() or not 1 <= int(given) <= 1024:
            raise InvalidInput(_THREADS, repr(given[:40]), "set it to a number of threads, such as 4")
        return int(given)
    return max(1, min(_cores(), memory // (_A_THREAD * _MEGABYTE)))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def guarded(call: Callable[[], T]) -> T:
    """Call the engine; if it gives up, say so without its own words, which may quote a record."""
    result: T | None = None
    failure: SparsedpError | None = None
    with _interrupts() as noticed:
        try:
            result = call()
        except SparsedpError as error:
            failure = error
        except Exception as error:
            failure = _in_our_words("out of memory" if isinstance(error, MemoryError) else str(error))
    noticed.check()
    # Raised here, after the handlers, so that not even the chain of exceptions holds the engine's words.
    if failure is not None:
        raise failure
    return cast(T, result)


def _in_our_words(words: str) -> SparsedpError:
    known = words.lower()
    if "out of memory" in known or "could not allocate" in known:
        return SparsedpError(
            f"Counting ran out of memory; let it use more by setting {_MEMORY}, such as {_MEMORY}=4GB."
        )
    if "could not write file" in known or "no space left" in known or "max_temp_directory_size" in known:
        return SparsedpError(
            f"The disk ran full while records were sorted in {tempfile.gettempdir()}; free some space, or set TMPDIR "
            "to a folder on a larger disk."
        )
    return BadFile(
        "The records could not be read to the end; check that the files open in another program and that nobody "
        "is writing to them. What exactly is wrong is not said here, for it may quote a record."
    )


# Signals that ask a process to stop, while an engine runs and raw records may be on disk.

_STOPS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""A terminal's, a system's and a lost terminal's way to ask a process to stop."""

_Handler = Callable[[int, FrameType | None], Any]


class Stopped(BaseException):
    """The process was told to end, and will, as soon as what is under way is cleared away."""


class Interrupts:
    """What the program's own handlers have raised, which is not to be lost."""

    def __init__(self) -> None:
        self._raised: BaseException | None = None

    def note(self, raised: BaseException) -> None:
        """A handler has raised this."""
        self._raised = self._raised or raised

    def check(self) -> None:
        """Raise it again, free of what else went wrong after it."""
        if self._raised is not None:
            raise self._raised.with_traceback(None) from None


@contextmanager
def _interrupts() -> Iterator[Interrupts]:
    """Notice such signals in the block: engines catch what handlers raise, and report it as an error of their own.

    The program's own handlers are called as ever.
    """
    noticed = Interrupts()

    def noting(handler: _Handler) -> _Handler:
        def on_signal(number: int, frame: FrameType | None) -> None:
            try:
                handler(number, frame)
            except BaseException as raised:
                noticed.note(raised)
                raise

        return on_signal

    with _instead({number: noting(before) for number, before in _handlers().items() if callable(before)}):
        yield noticed


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """A signal that would end the process at once ends it after the block, which is left by an exception."""
    came: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        raise Stopped

    try:
        with _instead({number: stop for number, before in _handlers().items() if before == signal.SIG_DFL}):
            yield
    finally:
        for number in came[:1]:
            signal.raise_signal(number)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """A signal that comes in the block is as if it came after it: for clearing away, which has to be done whole."""
    came: list[int] = []
    wait = {number: lambda number, _: came.append(number) for number in _handlers()}
    try:
        with _instead(wait):
            yield
    finally:
        for number in dict.fromkeys(came):
            signal.raise_signal(number)


def _handlers() -> dict[int, Any]:
    """What the program does about each such signal, where it is known and we may change it; not what it ignores."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    known = {number: signal.getsignal(number) for number in _STOPS}
    return {number: handler for number, handler in known.items() if handler not in (None, signal.SIG_IGN)}


@contextmanager
def _instead(handlers: dict[int, _Handler]) -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in handlers}
    try:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        yield
    finally:
        for number, their_own in before.items():
            signal.signal(number, their_own)
