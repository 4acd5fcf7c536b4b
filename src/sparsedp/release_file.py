"""Opening the file of a release: verified, and able to answer as before, for its synopsis may be in it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.columns_file import Column, Contents, Packed, contents_of, open_contents
from sparsedp.domain import Domain
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.privacy.guarantee import Guarantee
from sparsedp.quantity import RECORDS, Quantity
from sparsedp.releases import saved_form
from sparsedp.releases.claimed_size import check_claimed_size, check_embedded_size
from sparsedp.releases.origin import RecoveredErrors
from sparsedp.releases.release import Release
from sparsedp.releases.uncertainty import CellErrors, Uncertainty, uncertainty_from
from sparsedp.synopsis import Synopsis, synopsis_of
from sparsedp.time_axis import TimeAxis
from sparsedp.version import __version__


def open_release(path: str | os.PathLike[str]) -> Release:
    """A saved release, checked against its digest and its own privacy statement.

    A file with other than as many rows as it describes cells is refused before they are read.
    With the synopsis in the file it answers everything as before it was saved; it is recovered once, when a question
    first needs that. Without, the file keeps each cell's standard error, and all where the cells' errors are
    independent.
    """
    check_claimed_size(path)
    contents = open_contents(path, "release")
    try:
        release = _from_file(contents)
    except (KeyError, TypeError, AttributeError, InvalidInput):
        raise BadFile(
            f"{path} is a sparsedp release with fields missing; it was not written by this library."
        ) from None
    places = saved_form.places(release)
    named = contents.columns.keys() - set(saved_form.published(release))
    if named != places.keys() or not all(_same(contents.columns[name], places[name]) for name in places):
        raise BadFile(f"{path} has columns that disagree with {release.span}; it was not written by this library.")
    if not _states_its_promise(contents.description, release.guarantee):
        raise BadFile(f"{path} states another promise than its figures give; it was not written by this library.")
    release.__dict__["digest"] = contents.digest  # as a file of an earlier version has it, too
    return release


class StoredSynopsis:
    """A synopsis as a file of a release holds it: verified, and not looked at before it is needed."""

    def __init__(self, packed: Packed) -> None:
        check_embedded_size(packed.content)
        self._packed = packed
        self._contents = contents_of(packed, saved_form.SYNOPSIS)

    @property
    def digest(self) -> str:
        """That of the synopsis, had it been saved."""
        return self._packed.digest

    def packed(self) -> Packed:
        """The bytes as they were found."""
        return self._packed

    def opened(self) -> Synopsis:
        """The synopsis itself."""
        return synopsis_of(self._contents, "The file of this release")

    def recover(self, recovery: str | None = None) -> Release:
        """Estimate every cell, by the planned recovery or another."""
        return self.opened().recover(recovery)


def _from_file(contents: Contents) -> Release:
    description = contents.description
    quantity = Quantity.from_description(description["quantity"]) if "quantity" in description else RECORDS
    embedded = contents.embedded.get(saved_form.SYNOPSIS)
    release = Release(
        values=contents.columns[quantity.column].astype(np.float64, copy=True),
        guarantee=Guarantee.from_description(description["guarantee"]),
        mechanism=description["mechanism"],
        noise=description["noise"],
        recovery=description["recovery"],
        time=TimeAxis.from_description(description["time"]) if "time" in description else None,
        domain=Domain.from_description(description["domain"]) if "domain" in description else None,
        nonnegative=description.get("nonnegative") is True,
        quantity=quantity,
        record=description.get("record"),
        synopsis=None if embedded is None else StoredSynopsis(embedded),
        plan=description.get("plan"),
        summed_to=tuple(description["summed_to"]) if "summed_to" in description else None,
        written_by=description.get("written_by", "sparsedp"),
    )
    if "stderr" not in contents.columns:
        return release
    errors = contents.columns["stderr"].astype(np.float64, copy=True).reshape(release.shape)
    return replace(release, uncertainty=_errors(release, description.get("uncertainty"), errors))


def _errors(release: Release, described: Mapping[str, Any] | None, errors: Floats) -> Uncertainty:
    known = uncertainty_from(described, errors)
    synopsis, axes = release.synopsis, release.summed_to
    if synopsis is None or not isinstance(known, CellErrors):
        return known

    def recovered() -> Release:
        again = synopsis.recover(release.recovery["name"])
        return again if axes is None else again.marginal(*axes)

    return RecoveredErrors(recovered, release.values, errors)


def _states_its_promise(description: Mapping[str, Any], guarantee: Guarantee) -> bool:
    """Whether the words and the amount are those of the figures; words of other versions may be other words."""
    spent = description.get("spent", guarantee.spent.describe())
    stated = description["guarantee"].get("statement")
    same_words = description.get("written_by") != f"sparsedp {__version__}" or stated == str(guarantee)
    return bool(spent == guarantee.spent.describe()) and same_words


def _same(column: Column, other: Column) -> bool:
    return column.dtype == other.dtype and np.array_equal(column, other)
