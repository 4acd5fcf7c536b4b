"""What is to be published: which records, on which terms, by what, and where it goes; checked before any is read."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import sqrt
from pathlib import Path
from typing import Protocol

from sparsedp import validate
from sparsedp.constraints import Constraints
from sparsedp.counts import Counts
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.files.columns_file import OTHER_FORMATS
from sparsedp.files.signatures import SigningKey
from sparsedp.ingest import clamps
from sparsedp.ingest.clamps import ClampLook
from sparsedp.ingest.contributions import NOTHING, Look, checked_share
from sparsedp.ingest.request import Request
from sparsedp.mechanisms import Mechanism
from sparsedp.mechanisms.base import public_knowledge
from sparsedp.mechanisms.terms import Terms, checked_terms
from sparsedp.plan import Plan
from sparsedp.privacy.budget import Budget
from sparsedp.privacy.guarantee import Expense
from sparsedp.privacy.ledger import Ledger
from sparsedp.releases.cut import Cut, possible_bounds
from sparsedp.releases.release import Release
from sparsedp.releases.release_file import open_release
from sparsedp.validate import Number


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
    share: Fraction = NOTHING
    """Of the budget: for a look at how many records people have."""
    clamp_share: Fraction = NOTHING
    """Of the budget: for a look at how large values are, which chooses what they are clamped to."""

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
        cut_share: Number | None = None,
        clamp_share: Number | None = None,
    ) -> Order:
        """The order, or what is wrong with it. Whom it is promised to follows from how the records are counted."""
        share = checked_share(cut_share, chosen=request.chosen)
        of_clamp = clamps.checked_share(clamp_share, chosen=request.clamp_is_chosen)
        if share + of_clamp >= 1:
            raise InvalidInput("clamp_share", "all that cut_share leaves", "leave some of the budget for the sums")
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
        if request.clamp_is_chosen:
            beside = None if terms.counts is None else terms.counts.neighbours
            terms = replace(terms, announced=terms.neighbours.announced(beside, clamp_is_chosen=True))
        order = cls(request, terms, mechanism, delivery, constraints, sign, allow_empty, share, of_clamp)
        _ = order.looked  # refused now, if its noise would be too wide
        if request.clamp_is_chosen:
            return order._with_the_widest_clamp()
        return order._with_the_greatest_bound() if request.chosen else order

    def _with_the_greatest_bound(self) -> Order:
        """The same, with the greatest bound that a look may choose for this budget: a public fact."""
        *more, least = (one for one in reversed(possible_bounds()) if one <= self.request.max_contributions)
        for bound in more:
            with suppress(InvalidInput):
                order = self.with_bound(bound)
                order.checked_plan()
                return order
        return self.with_bound(least)

    def with_bound(self, bound: int) -> Order:
        """The same, once a look has chosen the bound: the rest is counted, promised and measured for that."""
        return self._asking(self.request.with_bound(bound))

    def _with_the_widest_clamp(self) -> Order:
        """The same, with the widest clamp that a look may choose for this budget: a public fact."""
        assert self.request.amounts is not None  # noqa: S101  # there are values to clamp
        widest = self.request.amounts.highest
        while widest > 1:
            with suppress(InvalidInput):
                order = self.clamped_to(-widest, widest)
                order.checked_plan()
                return order
            widest //= 2
        return self.clamped_to(-1, 1)

    def clamped_to(self, lowest: int, highest: int) -> Order:
        """The same, once a look has chosen what values are clamped to, in whole steps."""
        return self._asking(self.request.clamped_to(lowest, highest))

    def _asking(self, request: Request) -> Order:
        whom = replace(self.terms.neighbours, contribution=request.contribution, counted=request.counted)
        terms = replace(self.terms, neighbours=whom)
        if terms.counts is not None:
            alone = request.of_counts
            terms = terms.with_counts(alone.contribution, alone.counted, terms.counts.share)
        return replace(self, request=request, terms=terms)

    @property
    def look(self) -> Look | None:
        """At how many records people have, if there is a share for it, and people to look at."""
        return Look.of(self.terms, self.share) if self.share and self.request.privacy_unit is not None else None

    @property
    def clamp_look(self) -> ClampLook | None:
        """At how large values are, if what they are clamped to is to be chosen."""
        request = self.request
        return ClampLook.of(self.terms, request.max_contributions, self.clamp_share) if self.clamp_share else None

    @property
    def looked(self) -> tuple[Expense, ...]:
        """What the looks cost."""
        return tuple(look.noise.expense for look in (self.look, self.clamp_look) if look is not None)

    def checked_plan(self) -> Plan | None:
        """What is refused from public facts alone is refused here; the plan, unless it takes a private choice."""
        cells = self.request.domain
        return self.mechanism.checked(cells.size, self.terms.beside(self.looked), cells)

    def cut_of(self, counts: Counts) -> Cut | None:
        """What the look finds, once it is paid for: what the bound cut, and which bound, if that is to be chosen."""
        request, look = self.request, self.look
        if look is None or counts.people is None:
            return None
        most = request.max_contributions
        if not request.chosen:
            return look.measured(counts.people, most)
        distance = self.terms.neighbours.distance
        law = self.terms.beside(self.looked).noise(distance, distance**2).law
        noise_of_one = self.mechanism.felt * sqrt(law.variance) / request.contribution  # a record counts as its most
        return look.chosen(counts.people, request.domain.size, noise_of_one, most)

    def clamp_of(self, counts: Counts) -> tuple[int, int] | None:
        """What the look at values chooses, once it is paid for: the bounds, in whole steps."""
        look, amounts, records = self.clamp_look, self.request.amounts, self.request.max_contributions
        if look is None or amounts is None or counts.sizes is None:
            return None
        distance = records * self.terms.neighbours.times
        law = self.terms.beside(self.looked).parts[0].noise(distance, distance**2).law
        return look.chosen(counts.sizes, sqrt(law.variance), amounts.highest)

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
            "max_contributions": request.bound,
            "columns": request.axis_columns,
            "outside": repr(request.outside),
            "amounts": repr(request.amounts),
            "dialect": repr(request.dialect),
            "budget": self.terms.budget.describe(),
            "mechanism": self.mechanism.chosen,
            "neighbours": self.terms.neighbours.relation,
            "constraints": None if self.constraints is None else self.constraints.describe(),
        }
        if self.clamp_share:
            facts["clamp"] = f"auto, {self.clamp_share}"
        if self.terms.counts is not None:
            facts["counts"] = str(self.terms.counts.share)
        if request.privacy_unit is not None and self.share != checked_share(None, chosen=request.chosen):
            facts["cut_share"] = str(self.share)  # what nobody chose was not asked for in earlier versions
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
