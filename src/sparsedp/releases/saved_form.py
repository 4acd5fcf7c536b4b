"""What a saved release looks like: the columns that say where each cell is, and the description beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.columns_file import Column
from sparsedp.releases.uncertainty import kept_in_file

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

PUBLISHED = ("count", "stderr")
"""The columns that hold what was published; all others say where."""


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
    published: dict[str, Column] = {"count": release.values.ravel()}
    if release.stderr is not None:
        published["stderr"] = release.stderr.ravel()
    return {**places(release), **published}


def columns_in_utc(release: Release) -> tuple[str, ...]:
    """Those of the columns that hold times in UTC."""
    if release.domain is not None:
        return release.domain.utc
    return ("time",) if release.time is not None and release.time.utc else ()


def description(release: Release) -> dict[str, Any]:
    """Everything that is not in a column, for the file's metadata."""
    return {
        "guarantee": release.guarantee.describe(),
        "mechanism": release.mechanism,
        "noise": release.noise,
        "recovery": release.recovery,
        **({} if release.time is None else {"time": release.time.describe()}),
        **({} if release.domain is None else {"domain": release.domain.describe()}),
        **({"nonnegative": True} if release.nonnegative else {}),
        **kept_in_file(release.uncertainty),
    }
