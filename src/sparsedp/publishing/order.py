"""What is to be published, checked before any record is read or anything is spent."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sparsedp import validate
from sparsedp.constraints import Constraints
from sparsedp.counts import Counts
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.files.columns_file import OTHER_FORMATS
from sparsedp.ingest import count
from sparsedp.ingest.request import Request, request_of
from sparsedp.mechanisms import Mechanism
from sparsedp.privacy.budget import Asked, Budget
from sparsedp.privacy.neighbours import RELATIONS, Counted, Neighbours
from sparsedp.releases.release import Release
from sparsedp.releases.release_file import open_release
from sparsedp.validate import one_of


@dataclass(frozen=True)
class Order:
    """Which records, counted how (the arguments of `sparsedp.count`), published by what, for how much."""

    source: Any
    counting: Mapping[str, Any]
    mechanism: Mechanism
    asked: Asked
    neighbours: str = "add_remove"
    constraints: Constraints | None = None

    def __post_init__(self) -> None:
        one_of("neighbours", self.neighbours, RELATIONS)
        if self.constraints is not None and not isinstance(self.constraints, Constraints):
            given = f"of type {type(self.constraints).__name__}"
            raise InvalidInput("constraints", given, "give a sparsedp.Constraints")
        self._declared()

    @property
    def relation(self) -> str:
        """Between which neighbours it will be promised: beside public totals people can only be replaced."""
        return "replace_one" if self._invariant else self.neighbours

    @property
    def budget(self) -> Budget:
        """What will be debited, and whom it is counted for."""
        counted = Counted(self._counting().privacy_unit, 1)
        return self.asked.budget.counted_for(
            Neighbours(1, self.relation, invariant=self._invariant, counted=counted).whom
        )

    @property
    def _invariant(self) -> bool:
        return self.constraints is not None and self.constraints.is_invariant

    def counts(self) -> Counts:
        """The records counted. PRIVATE."""
        return count(self.source, **self.counting)

    def request(self, to: str) -> str:
        """What identifies an order that goes to the place `to`, so that an interrupted one is known again.

        A hash of public facts: what was declared, and the name of the source; never of content, nor of what is drawn
        anew in every run: a seed that was left out, which a stored measurement has with it. Records in a file are
        known by its name, wherever their release goes. Of data in memory, or that are piped in, only the type is known
        by name; which they are is told by the place they go to.
        """
        facts = {"source": self._source_name or type(self.source).__name__, **self._declared()}
        if self._source_name is None:
            facts["to"] = to
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    @property
    def is_of_a_file(self) -> bool:
        """Whether the source has a name by which an interrupted order is known, wherever its release goes."""
        return self._source_name is not None

    @property
    def _source_name(self) -> str | None:
        if not isinstance(self.source, str | os.PathLike):
            return None
        return os.path.abspath(os.fsdecode(self.source))

    def _counting(self) -> Request:
        given = self.counting
        return request_of(
            given.get("domain"),
            given.get("privacy_unit"),
            given.get("max_contributions", 1),
            given.get("columns"),
            given.get("outside", "drop"),
            given.get("value"),
            given.get("clamp"),
            given.get("resolution"),
            given.get("csv"),
            None,
        )

    def _declared(self) -> dict[str, Any]:
        counted = self._counting()
        return {
            "domain": counted.domain.describe(),
            "unit": counted.privacy_unit,
            "max_contributions": counted.max_contributions,
            "columns": counted.axis_columns,
            "outside": repr(counted.outside),
            "amounts": repr(counted.amounts),
            "dialect": repr(counted.dialect),
            "budget": self.asked.budget.describe(),
            "mechanism": self.mechanism.chosen,
            "neighbours": self.relation,
            "constraints": None if self.constraints is None else self.constraints.describe(),
        }


# Where a release goes: checked before anything is spent, and written once, whole.


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
        self._target = validate.file_path("to", to, "give the path of the file to write")
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
        try:
            folder = target.resolve().parent  # a link may lead elsewhere
        except (OSError, RuntimeError):
            raise InvalidInput("to", f"{target}, whose links lead nowhere", "give the path of a file") from None
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
