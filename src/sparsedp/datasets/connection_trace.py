"""The trace LBL-CONN-7 as a histogram: TCP connections by the five minutes in which they began.

The paper's tcptrace has 7,865 entries made from it; how is not known. Here the cells are five minutes of the clock,
30 days of them from the five minutes of the earliest connection on: 8,640 cells. What begins after them is left out.
"""

from __future__ import annotations

import gzip
import os
import zlib
from array import array
from pathlib import Path
from typing import BinaryIO

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.datasets.data_folder import data_folder, folder_to_read
from sparsedp.errors import BadFile

NAME = "tcptrace"
ABOUT = "TCP connections of 30 days by the 5 minutes in which they began (LBL-CONN-7; the paper's cut is not known)"
CITATION = "V. Paxson's trace LBL-CONN-7 of the Internet Traffic Archive, which says what to cite"
_PAGE = "https://ita.ee.lbl.gov/html/contrib/LBL-CONN-7.html"
FILES = (
    "lbl-conn-7.red",
    "lbl-conn-7.red.gz",
    "lbl-conn-7",
    "lbl-conn-7.gz",
    "lbl-conn-7/lbl-conn-7.red",
)
"""What the file may be called: as the archive packs it, unpacked, or compressed again."""

_SECONDS_A_CELL, _SECONDS_A_DAY, _DAYS = 300, 86_400, 30
CELLS = _DAYS * _SECONDS_A_DAY // _SECONDS_A_CELL
_LEAST_COLUMNS, _MOST_COLUMNS = 8, 9
"""Begin, duration, protocol, bytes each way, both hosts, how it ended; and flags, where there are any."""
_LONGEST_LINE = 1000
MOST_ROWS, MOST_BYTES = 1_000_000, 1 << 28
"""Where reading stops, unpacked: the trace has 606,497 rows, about 50 MB. A small packed file can hold far more."""
_GZIP, _COMPRESS = b"\x1f\x8b", b"\x1f\x9d"


def trace_file(folder: Path | None = None) -> Path | None:
    """The trace in the folder, if it is there."""
    folder = folder or folder_to_read()
    return next((folder / name for name in FILES if os.path.isfile(folder / name)), None)


def how_to_get() -> str:
    """Where the trace is and what to call it: nobody has published a checksum of it, so it is not downloaded."""
    return f"get the trace LBL-CONN-7 from {_PAGE}, unpack it and put it in {data_folder()} as {FILES[0]}"


def connections(path: Path | None = None) -> Ints:
    """The connections of each of the 8,640 cells."""
    path = path or trace_file()
    if path is None:
        raise BadFile(f"There is no {data_folder() / FILES[0]}; {how_to_get()}.")
    try:
        with open(path, "rb") as file:
            begun = _times(file, path)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or "it is damaged or was cut short"
        raise BadFile(f"Could not read {path}: {reason}; {how_to_get()}.") from None
    if begun.size == 0:
        raise BadFile(f"{path} is empty; {how_to_get()}.")
    cells = (begun // _SECONDS_A_CELL).astype(np.int64)
    cells -= cells.min()
    if cells.max() >= CELLS + _SECONDS_A_DAY // _SECONDS_A_CELL:
        raise BadFile(f"{path} is not LBL-CONN-7: its times spread over more than {_DAYS} days; {how_to_get()}.")
    return np.bincount(cells[cells < CELLS], minlength=CELLS).astype(np.int64)


def _times(file: BinaryIO, path: Path) -> Floats:
    """When every connection began, in seconds: since 1970 or since any other moment, cells come out the same."""
    start = file.read(2)
    file.seek(0)
    if start == _COMPRESS:
        raise BadFile(f"{path} is packed in a way that Python cannot undo; `gzip -dc` or `uncompress` can.")
    lines = gzip.GzipFile(fileobj=file) if start == _GZIP else file
    begun = array("d")
    rows = size = 0
    while line := lines.readline(_LONGEST_LINE):
        rows, size = rows + 1, size + len(line)
        if rows > MOST_ROWS or size > MOST_BYTES:
            raise BadFile(f"{path} is not LBL-CONN-7: it is far larger than that; {how_to_get()}.")
        columns = line.split()
        if not columns:
            continue
        if not _LEAST_COLUMNS <= len(columns) <= _MOST_COLUMNS:
            raise _unreadable(path)
        try:
            begun.append(float(columns[0]))
        except ValueError:
            raise _unreadable(path) from None
    times = np.frombuffer(begun, dtype=np.float64)
    # Beyond 2^53 seconds neighbouring cells could no longer be told apart.
    if not np.all((times >= 0) & (times < 2.0**53)):
        raise _unreadable(path)
    return times


def _unreadable(path: Path) -> BadFile:
    return BadFile(
        f"{path} has rows that cannot be read: each must hold {_LEAST_COLUMNS} or {_MOST_COLUMNS} columns with spaces "
        f"between them, the first a time in seconds; {how_to_get()}."
    )
