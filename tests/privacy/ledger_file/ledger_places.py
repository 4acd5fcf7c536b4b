"""What the tests of ledger files share: a folder that is quick to write to, and a synopsis that costs nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sparsedp.privacy.budget import Budget

_MEMORY = Path("/dev/shm")  # noqa: S108

TENTH = Budget(epsilon="0.1")


@contextmanager
def memory_folder() -> Iterator[Path]:
    """In memory where there is such a place: a killed process leaves the same there as on a disk."""
    with TemporaryDirectory(dir=_MEMORY if os.access(_MEMORY, os.W_OK) else None) as name:
        yield Path(name)


class NoisySynopsis:
    """Saves itself whole or not at all, as a synopsis does."""

    def __init__(self, content: str = "noisy integers") -> None:
        self.content = content

    def save(self, path: str | os.PathLike[str]) -> Path:
        target = Path(path)
        scratch = target.with_name(f".{target.name}")
        scratch.write_text(self.content)
        os.replace(scratch, target)
        return target


class UnsavableSynopsis:
    """Meets a full disk."""

    def save(self, path: str | os.PathLike[str]) -> Path:
        raise OSError(28, "No space left on device")
