"""What counts as a finding: raw errors, hangs, deaths, secrets that got out, and traces of what was refused.

A door is one call of the library or one command line. It is done, refused (an error of our own tree, or an exit code
that says so), or it raised something else. What a refused door leaves behind must be what it found.
"""

from __future__ import annotations

import hashlib
import os
import re
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECRET_TEXT = "Zyx7Canary"  # noqa: S105
SECRET_NUMBER = 918_273_645
SECRETS = tuple(form.encode() for form in (SECRET_TEXT, str(SECRET_NUMBER), f"{SECRET_NUMBER:,}"))
"""In ids, labels, amounts and counts: they may be in what was given, and nowhere else."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What a terminal obeys: all but tab and line feed."""


@dataclass(frozen=True)
class Finding:
    """Something that must not happen, and where; findings with the same signature are one."""

    what: str
    where: str
    details: str = ""

    @property
    def signature(self) -> str:
        """What it is known by."""
        return f"{self.what}: {self.where}"


def raised(error: BaseException) -> Finding:
    """An error that is not of our tree."""
    words = "".join(traceback.format_exception(error))[-6000:]
    return Finding("raw error", f"{type(error).__name__} at {place_of(error)}", words)


def place_of(error: BaseException) -> str:
    """The innermost of our own lines that it came through."""
    ours = [
        frame for frame in traceback.extract_tb(error.__traceback__) if f"{os.sep}sparsedp{os.sep}" in frame.filename
    ]
    if not ours:
        return "no line of ours"
    last = ours[-1]
    return f"{last.filename.rpartition(f'{os.sep}sparsedp{os.sep}')[2]}:{last.lineno} ({last.name})"


def with_secrets(what: str, where: str, content: bytes) -> list[Finding]:
    """Secrets in what was said or written."""
    for secret in SECRETS:
        place = content.find(secret)
        if place >= 0:
            shown = content[max(place - 200, 0) : place + 60].decode(errors="backslashreplace")
            return [Finding(f"secret in {what}", where, shown)]
    return []


def with_controls(where: str, text: str) -> list[Finding]:
    """Signs that a terminal obeys, in what is printed for people."""
    found = _CONTROLS.search(text)
    if found is None:
        return []
    shown = text[max(found.start() - 200, 0) : found.end() + 60]
    return [Finding("control characters printed", where, repr(shown))]


# ---- folders: what was there before and after

State = dict[str, str]
"""By path, what is there: of a file its digest."""


def state_of(folder: Path) -> State:
    """Everything below a folder."""
    found: State = {}
    _look(str(folder), "", found)
    return found


def _look(folder: str, within: str, found: State) -> None:
    # Twice for every door, so without the comfort of `Path.rglob`, which took longer than many a door.
    with os.scandir(folder) as entries:
        for entry in entries:
            name = f"{within}{entry.name}"
            if entry.is_symlink():
                found[name] = f"link to {os.readlink(entry.path)}"
            elif entry.is_dir():
                found[name] = "folder"
                _look(entry.path, f"{name}/", found)
            elif entry.is_file():
                with open(entry.path, "rb", buffering=0) as file:
                    found[name] = hashlib.sha256(_content(file.read())).hexdigest()
            else:
                found[name] = "other"


def _content(file: bytes) -> bytes:
    """Of a database, all but how SQLite writes it: the kind of its journal, and counters of its own."""
    if not file.startswith(b"SQLite format 3\0"):
        return file
    return file[:18] + file[20:24] + file[28:92] + file[100:]


def changes(before: State, after: State, but: Iterable[str] = ()) -> list[str]:
    """What came, went or changed, in words; `but`: files that may change, with others beside them that come and go."""
    aside = tuple(but)
    words = []
    for name in sorted(before.keys() | after.keys()):
        how = "written" if name not in before else "lost" if name not in after else "changed"
        excused = aside and name.startswith(aside) and not (how == "lost" and name in aside and "-" not in name)
        if before.get(name) != after.get(name) and not excused:
            words.append(f"{name} {how}")
    return words


def written_secrets(folder: Path, before: State) -> list[Finding]:
    """Secrets in files that were not given."""
    findings: list[Finding] = []
    for name, now in state_of(folder).items():
        path = folder / name
        if before.get(name) == now or not path.is_file():
            continue
        ending = "".join(path.suffixes[-2:]) or path.name
        for content in (name.encode(errors="replace"), path.read_bytes(), _unpacked(path)):
            findings += with_secrets("a file written", ending, content)
    return findings


def _unpacked(path: Path) -> bytes:
    """What a Parquet file holds, for its bytes are compressed."""
    if path.suffix != ".parquet":
        return b""
    import pyarrow.parquet as pq

    try:
        table: Any = pq.read_table(path, use_threads=False)
    except Exception:
        return b""
    return f"{table.schema.metadata} {table.to_pydict()}".encode(errors="replace")
