"""Files that a command reads and writes; `-` is standard input or output."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sparsedp.errors import BadFile, InvalidInput

STANDARD = "-"


@contextmanager
def to_read(path: str, ending: str = ".parquet") -> Iterator[Path]:
    """A published file to read, by its path; what comes from standard input is kept in a file meanwhile."""
    if path != STANDARD:
        yield Path(path)
        return
    if sys.stdin.isatty():
        raise InvalidInput("standard input", "a terminal", "pipe a file into it, as in `… < visits.release.parquet`")
    with tempfile.TemporaryDirectory(prefix="sparsedp-") as folder:
        spool = Path(folder) / f"standard-input{ending}"
        with open(spool, "xb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield spool


@contextmanager
def to_write(path: str, ending: str, *, overwrite: bool = False, binary: bool = True) -> Iterator[Path]:
    """Where to write a file; `-` sends it to standard output once it is complete."""
    check_output(path, overwrite=overwrite, binary=binary)
    if path != STANDARD:
        yield Path(path)
        return
    with tempfile.TemporaryDirectory(prefix="sparsedp-") as folder:
        spool = Path(folder) / f"standard-output{ending}"
        yield spool
        send(spool)


def send(path: Path) -> None:
    """Copy a complete file to standard output."""
    sys.stdout.flush()
    with open(path, "rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def check_output(
    path: str,
    *,
    overwrite: bool = False,
    binary: bool = True,
    instead: str = "give another name, or say --overwrite",
) -> None:
    """Refuse an output that could not be written, before anything is read or spent for it.

    `instead`: what to do where there is a file already.
    """
    if path == STANDARD:
        if binary and sys.stdout.isatty():
            raise InvalidInput(
                "output", "a terminal, and this is not text", "name a file with -o, or pipe the output somewhere"
            )
        return
    target = Path(path)
    if target.is_dir():
        raise BadFile(f"{target} is a folder; give the name of a file in it.")
    if target.exists() and not target.is_file():
        raise BadFile(f"{target} is a device or a pipe; name a file, or - for standard output.")
    if target.exists() and not overwrite:
        raise BadFile(f"{target} exists already; {instead}.")
    folder = target.parent
    if not folder.is_dir():
        raise BadFile(f"There is no folder {folder} to write {target.name} in; make it first.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise BadFile(f"The folder {folder} is not yours to write in; give another place for {target.name}.")


def check_endings(path: str, endings: tuple[str, ...], option: str = "output") -> None:
    """Refuse a name, given with `option`, whose ending promises another kind of file."""
    if path != STANDARD and Path(path).suffix.lower() not in endings:
        ending = Path(path).suffix
        given = f"a name ending in {ending}" if ending else "a name without an ending"
        raise InvalidInput(option, given, f"end it in {' or '.join(endings)}")
