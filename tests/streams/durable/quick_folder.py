"""A folder for tests that commit often: in memory where there is such a place, so that no time goes by in waiting."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

_MEMORY = Path("/dev/shm")  # noqa: S108


@contextmanager
def quick_folder() -> Iterator[Path]:
    """A killed process leaves the same there as on a disk; what a power failure leaves is not tested here."""
    with TemporaryDirectory(dir=_MEMORY if os.access(_MEMORY, os.W_OK) else None) as name:
        yield Path(name)
