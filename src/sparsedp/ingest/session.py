"""A DuckDB of its own for one count: bounded memory, a private place to spill to, no network, nothing kept."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar, cast

from sparsedp.errors import BadFile, InvalidInput, SparsedpError
from sparsedp.ingest.interrupts import interrupts

if TYPE_CHECKING:
    import duckdb

T = TypeVar("T")

MEMORY, THREADS = "SPARSEDP_MEMORY", "SPARSEDP_THREADS"
"""Environment variables: how much memory counting may use, such as 4GB, and how many threads."""

_MEGABYTE = 1_000_000
_LEAST, _USUAL, _MOST = 100, 256, 1_000
"""Megabytes: ever at least, by default at least where the machine has four times as much, and by default at most."""

_A_THREAD, _A_CORE = 100, 128
"""Megabytes: what a thread needs, and what is taken by default for each core."""


@contextmanager
def session() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that lives for one count. What does not fit in memory goes to a folder that only its owner may open,
    and the folder goes when the count is over, however it ends."""
    import duckdb

    memory = memory_limit()
    folder = _private_folder()
    try:
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
            yield connection
        finally:
            connection.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _private_folder() -> str:
    try:
        return tempfile.mkdtemp(prefix="sparsedp-")  # mode 0700
    except OSError:
        pass
    raise SparsedpError("There is no folder for temporary files that can be written to; set TMPDIR to one.")


def memory_limit() -> int:
    """In bytes: what the environment says, else 128 MB a core, 256 MB at least and 1 GB at most, and at most a quarter
    of the machine's. It has nothing to do with the number of records."""
    given = os.environ.get(MEMORY)
    if not given:
        usual = min(_MOST, max(_USUAL, _A_CORE * _cores())) * _MEGABYTE
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4 * usual
        return max(_LEAST * _MEGABYTE, min(usual, machine // 4))
    parts = re.fullmatch(r"\s*([0-9]{1,6}(?:\.[0-9]{1,3})?) ?(MB|GB)\s*", given, re.IGNORECASE)
    size = int(float(parts[1]) * _MEGABYTE) * {"MB": 1, "GB": 1000}[parts[2].upper()] if parts else 0
    if size < _LEAST * _MEGABYTE:
        raise InvalidInput(MEMORY, repr(given[:40]), f'set it to a size of at least {_LEAST} MB, such as "2GB"')
    return size


def threads(memory: int) -> int:
    """What the environment says, else as many as the machine has, as long as each has some memory to work in."""
    given = os.environ.get(THREADS)
    if given:
        if not given.isdecimal() or not 1 <= int(given) <= 1024:
            raise InvalidInput(THREADS, repr(given[:40]), "set it to a number of threads, such as 4")
        return int(given)
    return max(1, min(_cores(), memory // (_A_THREAD * _MEGABYTE)))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def guarded(call: Callable[[], T]) -> T:
    """Call the engine; if it gives up, say so without its own words, which may quote a record."""
    result: T | None = None
    failure: SparsedpError | None = None
    with interrupts() as noticed:
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
        return SparsedpError(f"Counting ran out of memory; let it use more by setting {MEMORY}, such as {MEMORY}=4GB.")
    if "could not write file" in known or "no space left" in known or "max_temp_directory_size" in known:
        return SparsedpError(
            f"The disk ran full while records were sorted in {tempfile.gettempdir()}; free some space, or set TMPDIR "
            "to a folder on a larger disk."
        )
    return BadFile(
        "The records could not be read to the end; check that the files open in another program and that nobody "
        "is writing to them. What exactly is wrong is not said here, for it may quote a record."
    )
