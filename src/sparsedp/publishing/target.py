"""Where a release is to be written: checked before anything is spent."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from sparsedp.columns_file import OTHER_FORMATS
from sparsedp.errors import BadFile, InvalidInput


def checked_target(to: object, *, overwrite: bool) -> Path:
    """The path, if a file can be written there now; otherwise one sentence, and nothing is spent.

    That can change while the records are counted. The budget is not lost then either: the synopsis is kept beside the
    ledger, and the same call goes on from there.
    """
    if not isinstance(to, str | os.PathLike):
        raise InvalidInput("to", f"of type {type(to).__name__}", "give the path of the file to write")
    target = Path(to)
    if target.suffix.lower() in OTHER_FORMATS:
        raise InvalidInput("to", f"a name ending in {target.suffix}", "give one ending in .parquet")
    if target.is_dir():
        raise InvalidInput("to", f"the folder {target}", "give the path of a file in it")
    if not target.parent.is_dir():
        raise InvalidInput("to", f"in the folder {target.parent}, which does not exist", "make it first")
    if target.exists() and not overwrite:
        raise InvalidInput("to", f"{target}, which exists", "give another name, or overwrite=True (--overwrite)")
    _try_writing(target)
    return target


def _try_writing(target: Path) -> None:
    probe = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with open(probe, "xb") as file:
            file.write(b"\0")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise BadFile(f"Could not write {target}: {error.strerror or error}; nothing was spent.") from None
    finally:
        probe.unlink(missing_ok=True)
