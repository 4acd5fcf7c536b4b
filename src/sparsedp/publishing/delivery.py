"""Where a release goes: checked before anything is spent, and written once, whole."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Protocol

from sparsedp.errors import BadFile, InvalidInput
from sparsedp.files.columns_file import OTHER_FORMATS
from sparsedp.releases.release import Release
from sparsedp.releases.release_file import open_release


class Delivery(Protocol):
    """A place for one release."""

    @property
    def name(self) -> str:
        """By which an order that was interrupted is known again."""

    def check(self) -> None:
        """Refuse what could not be written now; nothing is spent yet."""

    def has(self, release: Release) -> bool:
        """Whether this very release is there already."""

    def write(self, release: Release) -> None:
        """Bring it there, whole."""


class FileDelivery:
    """A Parquet file; one that exists is not replaced unless `overwrite` says so."""

    def __init__(self, to: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        if not isinstance(to, str | os.PathLike):
            raise InvalidInput("to", f"of type {type(to).__name__}", "give the path of the file to write")
        self._target = Path(os.fsdecode(to))
        self._overwrite = overwrite

    @property
    def name(self) -> str:
        """The whole path."""
        return str(self._target.absolute())

    def check(self) -> None:
        """See that a file can be written there.

        That can change while records are counted. The budget is not lost then either: the measurement is kept beside
        the ledger, and the same order goes on from there.
        """
        target = self._target
        if target.suffix.lower() in OTHER_FORMATS:
            raise InvalidInput("to", f"a name ending in {target.suffix}", "give one ending in .parquet")
        if target.is_dir():
            raise InvalidInput("to", f"the folder {target}", "give the path of a file in it")
        folder = target.resolve().parent  # a link may lead elsewhere
        if not folder.is_dir():
            raise InvalidInput("to", f"in the folder {folder}, which does not exist", "make it first")
        if target.exists() and not self._overwrite:
            raise InvalidInput("to", f"{target}, which exists", "give another name, or overwrite=True (--overwrite)")
        if target.exists() and not target.is_file():
            raise InvalidInput("to", f"{target}, which is a device or a pipe", "give the path of a file")
        self._try_writing(folder)

    def has(self, release: Release) -> bool:
        """Whether the file is there and holds it, signed by the same key."""
        try:
            found = open_release(self._target) if self._target.is_file() else None
        except BadFile:
            return False
        return found is not None and (found.digest, _signer(found)) == (release.digest, _signer(release))

    def write(self, release: Release) -> None:
        """Write the file, all or nothing; never over one that has come to be there since it was checked."""
        try:
            release.save(self._target, replacing=self._overwrite)
        except BadFile as error:
            if self._target.is_file() and not self._overwrite:
                error.add_note("The same order with overwrite=True (--overwrite) puts it there, and spends nothing.")
            raise

    def _try_writing(self, folder: Path) -> None:
        probe = folder / f".sparsedp.{secrets.token_hex(8)}.part"
        try:
            with open(probe, "xb") as file:
                file.write(b"\0")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise BadFile(f"Could not write {self._target}: {error.strerror or error}; nothing was spent.") from None
        finally:
            probe.unlink(missing_ok=True)


def _signer(release: Release) -> bytes | None:
    return None if release.signature is None else release.signature.public_key
