"""SQL at the command line: the limits of memory and time hold for the whole process, whatever the engine is doing."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparsedp.cli.answers import Answer
from sparsedp.cli.exit_codes import ExitCode
from sparsedp.cli.speaking import note

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

GRACE = 2.0
"""Seconds for the engine to stop when it is asked to; then the process ends."""

BESIDE = 2**29
"""Bytes of address space that threads and libraries may take beside what a question uses."""


def sql_answer(release: Release, text: str, tables: Mapping[str, Any], *, memory: str, seconds: str) -> Answer:
    """What SQL over the release, and public tables beside it, finds."""
    from sparsedp.releases.sql import checked_seconds

    with _ended_after(checked_seconds(seconds)):
        found = release.sql(text, tables=tables, memory=memory, seconds=seconds)
        return Answer(found.columns, found.fetchall())


@contextmanager
def within_memory(release: Release, memory: str) -> Iterator[None]:
    """The question, its answer, and the printing of it."""
    from sparsedp import validate
    from sparsedp.releases.sql import too_large

    most = validate.bytes_of("memory", memory)
    release.to_arrow()  # before the limit, which is the question's
    try:
        with _address_space(2 * most + BESIDE):
            yield
    except MemoryError:
        raise too_large(most) from None


@contextmanager
def _address_space(more: int) -> Iterator[None]:
    """Let the process grow by so much and no further, where the system can say how large it is."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    except (ImportError, OSError, ValueError):
        yield
        return
    wanted = pages * resource.getpagesize() + more
    least = min(each for each in (wanted, soft, hard) if each != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_AS, (least, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    """A step of the engine that cannot be stopped does not outlive the question."""

    def end() -> None:
        note(f"--seconds is {seconds:g}, and the query takes longer; give more, or ask for less.")
        sys.stderr.flush()
        os._exit(ExitCode.REFUSED)

    timer = threading.Timer(seconds + GRACE, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
