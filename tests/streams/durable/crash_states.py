"""Every state in which a crash could leave a stream's files: a copy of them before each thing that SQLite does to them.

Random kills seldom meet the moment between two writes; here each of them is met. SQLite lets the system calls of its
file layer be replaced, so `recorded` puts itself before those that change a file.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from page_images import files_of

from sparsedp.streams.durable._sealing import ExclusiveLock

_WRITE = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64)
_TRUNCATE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int64)
_UNLINK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)
_SET_CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_FUNCTIONS_BEFORE_SET_CALL = 13


class _FileLayer(ctypes.Structure):
    """The head of SQLite's `sqlite3_vfs`, up to `xSetSystemCall`."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("file_size", ctypes.c_int),
        ("longest_path", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("others", ctypes.c_void_p * _FUNCTIONS_BEFORE_SET_CALL),
        ("set_call", ctypes.c_void_p),
    )


@dataclass(frozen=True)
class CrashState:
    """The files' contents by name, how many ticks had been acknowledged, and what SQLite was about to do."""

    files: dict[str, bytes]
    acknowledged: int
    coming: str

    def laid_out(self, folder: Path) -> Path:
        """Put the files there as a crash would have left them."""
        folder.mkdir()
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        return folder


@contextmanager
def recorded(path: Path, acknowledged: Callable[[], int]) -> Iterator[list[CrashState]]:
    """The states that the stream's files go through meanwhile."""
    states: list[CrashState] = []

    def record(coming: str) -> None:
        files = {file.name: file.read_bytes() for file in files_of(path)}
        states.append(CrashState(files, acknowledged(), coming))

    def write(file: int, buffer: int, size: int, offset: int) -> int:
        record("write")
        return os.pwrite(file, ctypes.string_at(buffer, size), offset)

    def truncate(file: int, size: int) -> int:
        log = path.with_name(path.name + "-wal")
        record("cut the log" if log.exists() and os.path.samestat(log.stat(), os.fstat(file)) else "cut the file")
        os.ftruncate(file, size)
        return 0

    def unlink(name: bytes) -> int:
        record("remove a file")
        os.unlink(name)
        return 0

    def write_key(lock: ExclusiveLock, start: int, content: bytes) -> None:
        record("write the key")
        plain_write(lock, start, content)

    plain_write = ExclusiveLock.write
    calls = {"pwrite": _WRITE(write), "pwrite64": _WRITE(write), "ftruncate": _TRUNCATE(truncate)}
    with _replaced({**calls, "unlink": _UNLINK(unlink)}), pytest.MonkeyPatch.context() as patched:
        patched.setattr(ExclusiveLock, "write", write_key)
        yield states
    record("nothing more")


@contextmanager
def _replaced(calls: dict[str, Any]) -> Iterator[None]:
    name = ctypes.util.find_library("sqlite3")
    if name is None:
        # SQLite is part of this Python, out of reach: the moments before each key is written are recorded all the same.
        yield
        return
    library = ctypes.CDLL(name)
    library.sqlite3_vfs_find.restype = ctypes.POINTER(_FileLayer)
    layer = library.sqlite3_vfs_find(b"unix")
    set_call = _SET_CALL(layer.contents.set_call)
    for call, replacement in calls.items():
        set_call(ctypes.addressof(layer.contents), call.encode(), ctypes.cast(replacement, ctypes.c_void_p))
    try:
        yield
    finally:
        for call in calls:
            set_call(ctypes.addressof(layer.contents), call.encode(), None)
