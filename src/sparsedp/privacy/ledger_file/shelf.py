"""The folder beside a ledger where synopses are stored: nothing in it but what is noise-protected already."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

from sparsedp.errors import BadFile
from sparsedp.privacy.ledger import Storable
from sparsedp.privacy.ledger_file.store import sync_folder
from sparsedp.privacy.spend import Spend


class Shelf:
    """One file for each spend, named by its number and its random token; it is there whole, or it is not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place_of(self, spend: Spend) -> Path:
        """Where the synopsis of a spend is, or will be."""
        return self.folder / f"{spend.number}-{spend.token}.synopsis"

    def put(self, spend: Spend, synopsis: Storable) -> str:
        """Store a synopsis; it is on disk when this returns. Its digest."""
        place = self.place_of(spend)
        try:
            if not self.folder.is_dir():
                self.folder.mkdir(mode=0o700)
                sync_folder(self.folder.parent)
            synopsis.save(place)
            sync_folder(self.folder)
            return digest_of(place)
        except OSError as error:
            raise BadFile(f"Could not write {place}: {error.strerror or 'the system refuses'}.") from None

    def found(self, spend: Spend) -> Spend:
        """The spend with the place of its synopsis, if that is there and is as it was stored."""
        place = self.place_of(spend)
        try:
            whole = spend.synopsis_digest in (None, digest_of(place))
        except OSError:
            whole = False
        return replace(spend, synopsis_path=place if whole else None)


def digest_of(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
