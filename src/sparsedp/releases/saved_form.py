"""What a saved release looks like: the columns that say where each cell is, and the description beside them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.axes.domain import RECORDS
from sparsedp.errors import InvalidInput, SparsedpError
from sparsedp.estimation.bounds import Bounds
from sparsedp.files.columns_file import Column, Contents, Packed
from sparsedp.files.signatures import Signature, SigningKey
from sparsedp.releases.claims import UNUSABLE
from sparsedp.releases.uncertainty import CellErrors, Uncertainty, bounds_of, expected_ends, kept_in_file

if TYPE_CHECKING:
    from sparsedp.releases.release import Release


SYNOPSIS = "synopsis"
"""Under this name the synopsis is embedded."""

COUNTS = "counts"
"""Under this name that of the counts beside sums is embedded in the synopsis of these."""


def published(release: Release) -> tuple[str, ...]:
    """The columns that hold what was published, the estimates and their errors; all others say where."""
    own = release.quantity.column, "stderr"
    return own if release.counts is None else (*own, *COUNTED)


COUNTED = "count", "count_stderr"
"""The columns of the counts beside sums."""


def places(release: Release) -> dict[str, Column]:
    """Which cell each row is for: the axes' columns, the ticks and their times, or plain numbers."""
    if release.domain is not None:
        return release.domain.columns()
    numbers = np.arange(len(release), dtype=np.int64)
    if release.time is None:
        return {"cell": numbers}
    return {"tick": numbers} if release.time.start is None else {"tick": numbers, "time": release.times}


def columns(release: Release) -> dict[str, Column]:
    """All columns of the file."""
    found = dict(places(release))
    names = zip(published(release)[::2], published(release)[1::2], strict=True)
    for (estimates, errors), each in zip(names, (release, release.counts), strict=False):
        if each is not None:
            found[estimates] = each.values.ravel()
            found |= {} if each.stderr is None else {errors: each.stderr.ravel()}
    return found


def columns_in_utc(release: Release) -> tuple[str, ...]:
    """Those of the columns that hold times in UTC."""
    if release.domain is not None:
        return release.domain.utc
    return ("time",) if release.time is not None and release.time.utc else ()


def description(release: Release) -> dict[str, Any]:
    """Everything that is not in a column, for the file's metadata."""
    return {
        "guarantee": release.guarantee.describe(),
        "spent": release.spent.describe(),
        "mechanism": release.mechanism,
        "noise": release.noise,
        "recovery": release.recovery,
        "written_by": release.written_by,
        **({} if release.time is None else {"time": release.time.describe()}),
        **({} if release.domain is None else {"domain": release.domain.describe()}),
        **({"nonnegative": True} if release.nonnegative else {}),
        **({} if release.quantity == RECORDS else {"quantity": release.quantity.describe()}),
        **({} if release.plan is None else {"plan": dict(release.plan)}),
        **({} if release.record is None else {"record": dict(release.record)}),
        **({} if release.summed_to is None else {"summed_to": list(release.summed_to)}),
        **({} if release.cut is None else {"cut": {**release.cut.describe(), "statement": str(release.cut)}}),
        **kept_in_file(release.uncertainty),
        **({} if release.counts is None else {"counts": _beside(release.counts)}),
    }


def _beside(counts: Release) -> dict[str, Any]:
    """What the description says of counts beside sums, in so far as it is not said of the sums."""
    return {name: fact for name, fact in description(counts).items() if name not in ("domain", "written_by")}


def contents(release: Release, columns: dict[str, Column]) -> Contents:
    """The whole file. The synopsis is in it where questions about many cells need it, and it is not too large."""
    packed = _synopsis(release)
    embedded = {} if packed is None else {SYNOPSIS: packed}
    found = Contents("release", columns, description(release), columns_in_utc(release), embedded)
    return found.carrying(release.signature)


def to_save(release: Release, columns: dict[str, Column]) -> Contents:
    """The same, and a warning if a signature cannot come along, because another version wrote the file it was in."""
    found = contents(release, columns)
    if found.signature is None and release.signature is not None:
        warnings.warn("The release is saved as this version writes it, without its signature.", stacklevel=3)
    return found


def signed(release: Release, key: SigningKey) -> Release:
    """The release with the signature of its file; refused if the file that it came from says something else."""
    found = contents(release, columns(release)).signed(key)
    if release.digest != found.digest:
        remedy = "save it, and sign what you open again: its digest will be another one"
        raise InvalidInput("release", "from a file that another version wrote", remedy)
    return as_found(release, found)


def as_found(release: Release, found: Contents, signature: Signature | None = None) -> Release:
    """The release with the digest and the signature of its file."""
    known = replace(release)
    known.__dict__.update(digest=found.digest, signature=signature or found.signature)
    return known


def _synopsis(release: Release) -> Packed | None:
    if release.synopsis is None or release.uncertainty is None or kept_in_file(release.uncertainty):
        return None
    packed = release.synopsis.packed()
    return packed if len(packed.content) <= MOST_EMBEDDED else None


def verified_synopsis(release: Release) -> Recoverable | None:
    """What the release was recovered from, if that gives all of it: the promise, the cells and their errors.

    The words of the version that wrote it, a ledger's line and how many steps the recovery took may be other ones.
    """
    if release.synopsis is None:
        return None
    try:
        again = release.synopsis.recover(release.recovery["name"])
        again = again if release.summed_to is None else again.marginal(*release.summed_to)
    except (SparsedpError, KeyError, TypeError, ValueError, ArithmeticError):
        return None
    return release.synopsis if _alike(release, again) else None


def _alike(release: Release | None, again: Release | None) -> bool:
    if release is None or again is None:
        return release is again
    aside = ("written_by", "record", "recovery", "counts")
    said, known = (
        {name: fact for name, fact in description(each).items() if name not in aside} for each in (release, again)
    )
    if said != known or release.shape != again.shape or not same(release.values, again.values):
        return False
    errors, expected = release.stderr, again.stderr
    if errors is None or expected is None:
        return errors is expected and _alike(release.counts, again.counts)
    return same(errors, expected) and _alike(release.counts, again.counts)


# What a release was recovered from, as far as a release needs to know: it can be packed, and recovered again.

MOST_EMBEDDED = 16 * 2**20
"""A packed synopsis of more bytes does not travel in the file of a release: every reader reads it with the footer."""

SAME = 1e-6
"""Recoveries of one synopsis on two machines may differ by so much of the largest cell, and are the same."""


class Recoverable(Protocol):
    """A synopsis, or the bytes of one."""

    @property
    def digest(self) -> str:
        """That of its file."""

    def packed(self) -> Packed:
        """A file of it, in memory."""

    def recover(self, recovery: str | None = None) -> Release:
        """Estimate every cell, by the planned recovery or another."""


class RecoveredErrors:
    """The errors of a release from a file: those of its cells are in it; for all else it is recovered again.

    That happens once, and only when such a question is asked. If the recovery does not give the values that the file
    holds, the errors of its cells are all that is known, and a question that needs more is told why.
    """

    def __init__(self, recover: Callable[[], Release], values: Floats, errors: Floats) -> None:
        self._recover, self._values, self._cells = recover, values, errors

    @cached_property
    def _found(self) -> Uncertainty:
        try:
            again = self._recover()
        except (SparsedpError, *UNUSABLE):
            return CellErrors(self._cells, "the synopsis in its file cannot be recovered by this version")
        known = again.uncertainty
        if known is None:
            return CellErrors(self._cells)
        if again.shape != self._values.shape or not self._same(again.values):
            return CellErrors(self._cells, "the synopsis in its file gives other values than the file has")
        return known

    def known(self) -> Uncertainty:
        """The errors that the recovery gives."""
        return self._found

    def _same(self, values: Floats) -> bool:
        return same(values, self._values)

    def variance(self, weights: Floats) -> float:
        """The mean squared error of Σ weights·cells."""
        return self._found.variance(weights)

    def interval(self, weights: Floats, estimate: float, level: float) -> tuple[float, float]:
        """As before the release was saved."""
        return expected_ends(self._found, weights, estimate, level)

    def bounds(self, weights: Floats, estimate: float) -> Bounds | None:
        """As before the release was saved."""
        return bounds_of(self._found, weights, estimate)

    def stderr(self) -> Floats:
        """As the file has them."""
        return self._cells


def same(values: Floats, others: Floats) -> bool:
    """Whether two machines may have made these of one synopsis."""
    apart = float(np.abs(values - others).max(initial=0.0))
    return apart <= SAME * max(1.0, float(np.abs(others).max(initial=0.0)))
