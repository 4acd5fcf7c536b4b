"""What a saved release looks like: the columns that say where each cell is, and the description beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.columns_file import Column, Contents, Packed
from sparsedp.quantity import RECORDS
from sparsedp.releases.origin import MOST_EMBEDDED
from sparsedp.releases.uncertainty import kept_in_file

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

SYNOPSIS = "synopsis"
"""Under this name the synopsis is embedded."""


def published(release: Release) -> tuple[str, str]:
    """The columns that hold what was published, the estimates and their errors; all others say where."""
    return release.quantity.column, "stderr"


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
    estimates, errors = published(release)
    found: dict[str, Column] = {**places(release), estimates: release.values.ravel()}
    return found if release.stderr is None else {**found, errors: release.stderr.ravel()}


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
        **kept_in_file(release.uncertainty),
    }


def contents(release: Release, columns: dict[str, Column]) -> Contents:
    """The whole file. The synopsis is in it where questions about many cells need it, and it is not too large."""
    packed = _synopsis(release)
    embedded = {} if packed is None else {SYNOPSIS: packed}
    return Contents("release", columns, description(release), columns_in_utc(release), embedded)


def _synopsis(release: Release) -> Packed | None:
    if release.synopsis is None or release.uncertainty is None or kept_in_file(release.uncertainty):
        return None
    packed = release.synopsis.packed()
    return packed if len(packed.content) <= MOST_EMBEDDED else None
