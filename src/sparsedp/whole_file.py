"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from sparsedp.errors import BadFile


def written_whole(target: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Let `write` fill a file that appears as `target` only once it is complete and on disk.

    An older file of that name stays until then, and stays for good if anything goes wrong.
    """
    scratch = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with open(scratch, "xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, target)
    except OSError as error:
        scratch.unlink(missing_ok=True)
        raise BadFile(f"Could not write {target}: {error.strerror or error}; nothing was left half-written.") from None
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise
