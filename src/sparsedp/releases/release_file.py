"""Opening the file of a release: undamaged, free of contradictions, and able to answer as before it was saved."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.axes.domain import RECORDS, Domain, Quantity
from sparsedp.axes.schedule import Schedule
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.files.columns_file import Column, Contents, Packed, contents_of, open_contents
from sparsedp.files.signatures import check_signer
from sparsedp.laws import noise_law_from
from sparsedp.privacy.guarantee import Guarantee
from sparsedp.releases import saved_form
from sparsedp.releases.claims import UNUSABLE, check_counts, check_look, check_promise, embedded_needs, release_needs
from sparsedp.releases.cut import Cut
from sparsedp.releases.release import Release
from sparsedp.releases.saved_form import RecoveredErrors
from sparsedp.releases.uncertainty import CellErrors, Uncertainty, uncertainty_from
from sparsedp.sensing import SENSINGS, sensing_from
from sparsedp.synopsis import Synopsis, synopsis_of
from sparsedp.validate import named
from sparsedp.version import __version__

if TYPE_CHECKING:
    from sparsedp.files.signatures import Public


_DICTS = ("noise", "recovery", "plan", "record", "counts", "cut")
_FIELDS: dict[str, type] = {**dict.fromkeys(_DICTS, dict), "summed_to": list}
"""What the description of a release has to be made of, where it has it."""

_FARTHEST = 1e150
"""Estimates are far smaller; the squares of larger ones would be no numbers."""


def open_release(
    path: str | os.PathLike[str], *, signer: Public | None = None, memory: str | int | None = None
) -> Release:
    """A saved release, checked against its digest, its own privacy statement and its signature, if it has one.

    `signer`: the public key that must have signed it: its file, its text or an object. Any other file is refused.
    Without, a file that anybody has signed is opened, or nobody: `release.signature` says who.

    The digest tells damage, not forgery. The promise must follow from the noise that the file describes, and agree with
    the synopsis in it. `memory`: how much the release may take ("8GB"); left out, 2 GB or 64 times the size of the
    file, whichever is more. A file that claims more, or other than as many rows as it describes cells, is refused
    before they are read.
    With the synopsis in the file it answers everything as before it was saved; it is recovered once, when a question
    first needs that. Without, the file keeps each cell's standard error, and all where the cells' errors are
    independent.
    """
    contents = open_contents(path, "release", release_needs, memory=memory)
    try:
        release = _from_file(contents, memory)
        places = saved_form.places(release)
    except UNUSABLE:
        raise BadFile(
            f"{path} is a sparsedp release with fields missing; it was not written by this library."
        ) from None
    named = contents.columns.keys() - set(saved_form.published(release))
    beside = release.counts
    if named != places.keys() or not all(_same(contents.columns[name], places[name]) for name in places):
        raise BadFile(f"{path} has columns that disagree with {release.span}; it was not written by this library.")
    if not _states_its_promise(contents.description, release.guarantee):
        raise BadFile(f"{path} states another promise than its figures give; it was not written by this library.")
    try:
        check_counts(release, beside)
        for each in (release, *(() if beside is None else (beside,))):
            _check_noise(each)
            if isinstance(each.synopsis, StoredSynopsis):
                each.synopsis.check_agrees(each)
    except InvalidInput as error:
        raise BadFile(f"{path} contradicts itself: its {error}") from None
    # The digest as it was found: a file of an earlier version has another one.
    return saved_form.as_found(release, contents, check_signer(contents.signature, signer, f"{path}"))


class StoredSynopsis:
    """A synopsis as a file of a release holds it: undamaged, and not recovered before that is needed."""

    def __init__(self, packed: Packed, memory: str | int | None = None) -> None:
        self._packed, self._memory = packed, memory
        self._contents = contents_of(packed, saved_form.SYNOPSIS, embedded_needs, memory=memory)

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

    @property
    def counts(self) -> StoredSynopsis | None:
        """That of the counts beside sums."""
        packed = self._contents.embedded.get(saved_form.COUNTS)
        return None if packed is None else StoredSynopsis(packed, self._memory)

    def check_agrees(self, release: Release) -> None:
        """Refuse to be of another release: with another promise, other noise, or another plan.

        One that this version cannot open is kept, and never used: it vouches for nothing.
        """
        try:
            synopsis = self.opened()
        except BadFile as error:
            if not self._is_known:
                return
            raise InvalidInput("synopsis", f"of no use ({error})", "it was not written by this library") from None
        whole = release.summed_to is None
        facts = {
            "promise": (synopsis.guarantee, release.guarantee),
            "noise": (synopsis.law.describe(), release.noise),
            "mechanism": (synopsis.mechanism, release.mechanism),
            "quantity": (synopsis.quantity, release.quantity),
            "counts": (synopsis.counts is None, release.counts is None),
            "cut": (synopsis.cut, release.cut),
            "time": (synopsis.time, release.time) if whole else (None, None),
            "domain": (synopsis.domain, release.domain) if whole else (None, None),
            "plan": (_plan(synopsis), _plan(synopsis) if release.plan is None else release.plan),
        }
        for name, (within, said) in facts.items():
            if within != said:
                raise InvalidInput(name, "another one than that of the synopsis in it", "one of the two is forged")

    @property
    def _is_known(self) -> bool:
        """Whether this version knows such a plan at all."""
        sensing = self._contents.description.get("sensing")
        name = sensing.get("name") if isinstance(sensing, Mapping) else None
        return not isinstance(name, str) or name in SENSINGS


def _plan(synopsis: Synopsis) -> dict[str, Any]:
    return {name: fact for name, fact in synopsis.plan.describe().items() if name != "domain"}


def _check_noise(release: Release) -> None:
    """The promise against the noise, as far as the file says what was measured."""
    check_look(release.guarantee, release.cut)
    plan, law = release.plan, None
    with suppress(*UNUSABLE):
        law = noise_law_from(release.noise)
    if law is None:
        return  # the release of another mechanism than ours, which says nothing that could be compared
    try:
        sensing = sensing_from(plan["sensing"]) if plan is not None and "sensing" in plan else None
    except (*UNUSABLE, BadFile):
        sensing = None
    check_promise(release.guarantee, law, sensing, release.quantity)


def _from_file(contents: Contents, memory: str | int | None) -> Release:
    description, columns = contents.description, contents.columns
    embedded = contents.embedded.get(saved_form.SYNOPSIS)
    synopsis = None if embedded is None else StoredSynopsis(embedded, memory)
    release = _described(description, columns, synopsis)
    if "counts" not in description:
        return release
    shared = {name: description[name] for name in ("domain", "written_by") if name in description}
    estimates, errors = saved_form.COUNTED
    renamed = {RECORDS.column: columns[estimates], **({"stderr": columns[errors]} if errors in columns else {})}
    counts = None if synopsis is None else synopsis.counts
    return replace(release, counts=_described({**description["counts"], **shared}, renamed, counts))


def _described(
    description: Mapping[str, Any], columns: Mapping[str, Column], synopsis: StoredSynopsis | None
) -> Release:
    """The release of these columns."""
    for name, kind in _FIELDS.items():
        if not isinstance(description.get(name, kind()), kind):
            raise InvalidInput(name, f"of type {type(description[name]).__name__}", "give a file as it was written")
    recovery = description["recovery"]
    if not isinstance(recovery.get("name", ""), str) or not isinstance(recovery.get("stats", {}), dict):
        raise InvalidInput("recovery", "described in another way", "give a file as it was written")
    quantity = Quantity.from_description(description["quantity"]) if "quantity" in description else RECORDS
    values = columns[quantity.column].astype(np.float64, copy=True)
    if not (np.abs(values) < _FARTHEST).all():
        raise InvalidInput("values", "beyond any count", "give a file as it was written")
    release = Release(
        values=values,
        guarantee=Guarantee.from_description(description["guarantee"]),
        mechanism=named("mechanism", description["mechanism"]),
        noise=description["noise"],
        recovery=description["recovery"],
        time=Schedule.from_description(description["time"]) if "time" in description else None,
        domain=Domain.from_description(description["domain"]) if "domain" in description else None,
        nonnegative=description.get("nonnegative") is True,
        quantity=quantity,
        record=description.get("record"),
        synopsis=synopsis,
        plan=description.get("plan"),
        summed_to=tuple(description["summed_to"]) if "summed_to" in description else None,
        cut=Cut.from_description(description["cut"]) if "cut" in description else None,
        written_by=named("written_by", description.get("written_by", "sparsedp")),
    )
    if "stderr" not in columns:
        return release
    errors = columns["stderr"].astype(np.float64, copy=True).reshape(release.shape)
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
