"""Where pages and pictures are written, all or nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from sparsedp.errors import BadFile, InvalidInput
from sparsedp.whole_file import written_whole


def checked_target(path: object, endings: Sequence[str], reason: str) -> Path:
    """The path of a file with one of the endings, in a folder that exists."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidInput("path", f"of type {type(path).__name__}", "give the path of a file")
    target = Path(os.fsdecode(path))
    shown = " or ".join(endings[:-1]) + f" or {endings[-1]}" if len(endings) > 1 else endings[0]
    if target.suffix.lower() not in endings:
        given = f"a name ending in {target.suffix}" if target.suffix else "a name without an ending"
        raise InvalidInput("path", given, f"give one ending in {shown}: {reason}")
    if "\0" in str(target):
        raise InvalidInput("path", "not the name of a file", "give the path of a file")
    if target.is_dir():
        raise BadFile(f"{target} is a folder; give the path of a file in it.")
    if not target.parent.is_dir():
        raise BadFile(f"There is no folder {target.parent} to write {target.name} into; make it, or check the path.")
    return target


def write_whole(target: Path, content: bytes) -> Path:
    """The file appears under its name only once it is complete and on disk."""
    written_whole(target, lambda file: file.write(content))
    return target
