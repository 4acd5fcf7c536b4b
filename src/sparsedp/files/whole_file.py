"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from sparsedp.errors import BadFile, InvalidInput


def written_whole(target: Path, write: Callable[[BinaryIO], Any], *, replacing: bool = True) -> Path:
    """The file appears under its name only once it is complete and on disk; an older one of that name stays until then.

    A link is followed: what it points to is replaced, and the link stays. Without `replacing`, a file that has come to
    be there meanwhile is left as it is.
    """
    try:
        place = target.resolve()
        if place.is_symlink():  # where Python resolves circles without a word
            raise OSError(0, "its links go round in circles")
        if place.is_dir():
            raise IsADirectoryError(0, "there is a folder of that name")
        if place.exists() and not place.is_file():
            raise OSError(0, "it is a device or a pipe, which a file would take the place of")
        if not place.parent.is_dir():
            raise FileNotFoundError(0, f"there is no folder {place.parent}")
    except (OSError, RuntimeError) as error:  # links that go round in circles are a RuntimeError
        raise _not_written(target, error) from None
    scratch = place.with_name(f".sparsedp.{secrets.token_hex(8)}.part")
    try:
        with open(scratch, "xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        if replacing:
            os.replace(scratch, place)
        else:
            os.link(scratch, place)
            scratch.unlink()
    except FileExistsError:
        _remove(scratch)
        raise BadFile(f"Could not write {target}: another file has come to be there; it was left as it is.") from None
    except OSError as error:
        _remove(scratch)
        raise _not_written(target, error) from None
    except BaseException:
        _remove(scratch)
        raise
    _settle(place.parent)
    return target


def _not_written(target: Path, error: Exception) -> BadFile:
    reason = getattr(error, "strerror", None) or error
    return BadFile(f"Could not write {target}: {reason}; nothing was left half-written.")


def _remove(scratch: Path) -> None:
    with suppress(OSError):
        scratch.unlink(missing_ok=True)


def _settle(folder: Path) -> None:
    """So that the new name survives a power failure too. Not every system lets a folder be written through."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# Where pages and pictures are written, all or nothing.


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
