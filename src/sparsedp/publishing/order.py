"""What is to be published: which records, on which terms, by what, and where it goes; checked before any is read."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

from sparsedp import validate
from sparsedp.constraints import Constraints
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.files.columns_file import OTHER_FORMATS
from sparsedp.files.signatures import SigningKey
from sparsedp.ingest.request import Request
from sparsedp.mechanisms import Mechanism
from sparsedp.mechanisms.base import public_knowledge
from sparsedp.mechanisms.terms import Terms, checked_terms
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.ledger import Ledger
from sparsedp.releases.release import Release
from sparsedp.releases.release_file import open_release


@dataclass(frozen=True, eq=False, repr=False)
class Order:
    """Records, counted so, published by that mechanism on those terms, and brought there."""

    request: Request
    terms: Terms
    mechanism: Mechanism
    delivery: Delivery
    constraints: Constraints | None = None
    sign: SigningKey | None = None
    allow_empty: bool = False
    """Whether records of which not one comes into the table are published all the same, or refused before the debit."""

    @classmethod
    def of(
        cls,
        request: Request,
        budget: Budget,
        mechanism: Mechanism,
        delivery: Delivery,
        *,
        ledger: Ledger | None,
        neighbours: str = "add_remove",
        constraints: Constraints | None = None,
        sign: SigningKey | None = None,
        counts_share: object = None,
        allow_empty: bool = False,
    ) -> Order:
        """The order, or what is wrong with it. Whom it is promised to follows from how the records are counted."""
        cells, negative = request.domain, request.negative
        invariant = public_knowledge(constraints, cells.size, cells, request.quantity, negative=negative)
        terms = checked_terms(
            budget,
            None,
            None,
            request.contribution,
            neighbours,
            ledger,
            "sparsedp",
            None,
            invariant,
            request.counted,
        )
        if request.with_counts:
            alone = request.of_counts
            terms = terms.with_counts(alone.contribution, alone.counted, counts_share)
        elif counts_share is not None:
            raise InvalidInput("counts_share", "given without with_counts", "ask for counts beside the sums as well")
        return cls(request, terms, mechanism, delivery, constraints, sign, allow_empty)

    @cached_property
    def identity(self) -> str:
        """By which the ledger knows an order again that was interrupted.

        A hash of public facts: what was declared, and the name of the source; never of content, nor of what is drawn
        anew in every run: a seed that was left out, which a stored measurement has with it. Records in a file are
        known by its name, wherever their release goes. Of data in memory, or that are piped in, only the type is known
        by name; which they are is told by the place they go to.
        """
        request = self.request
        facts = {
            "source": request.file or type(request.source).__name__,
            "domain": request.domain.describe(),
            "unit": request.privacy_unit,
            "max_contributions": request.max_contributions,
            "columns": request.axis_columns,
            "outside": repr(request.outside),
            "amounts": repr(request.amounts),
            "dialect": repr(request.dialect),
            "budget": self.terms.budget.describe(),
            "mechanism": self.mechanism.chosen,
            "neighbours": self.terms.neighbours.relation,
            "constraints": None if self.constraints is None else self.constraints.describe(),
        }
        if self.terms.counts is not None:
            facts["counts"] = str(self.terms.counts.share)
        if request.file is None:
            facts["to"] = self.delivery.name
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


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
