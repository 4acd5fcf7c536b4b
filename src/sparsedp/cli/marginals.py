"""`sparsedp query --marginal`: the table of some axes, every sum with its error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.cli.answers import Answer
from sparsedp.cli.places import word

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

WORK = 2**22
"""Cells that may be looked at for the intervals of all sums together; beyond it they follow from standard errors."""


def marginal_answer(release: Release, names: Sequence[str], level: str) -> Answer:
    """The sums over all other axes: estimate, low, high, stderr."""
    whole = release.domain is not None and tuple(names) == tuple(release.domain.names)
    sums = release if whole else release.marginal(*names)
    columns = _places(sums)
    places = list(zip(*columns.values(), strict=True))
    estimates = sums.values.ravel().tolist()
    if sums.stderr is None:
        rows: list[tuple[Any, ...]] = [
            (*at, cell, None, None, None) for at, cell in zip(places, estimates, strict=True)
        ]
    else:
        ends = _ends(sums, len(release), level)
        found = zip(places, estimates, ends, sums.stderr.ravel().tolist(), strict=True)
        rows = [(*at, cell, low, high, error) for at, cell, (low, high), error in found]
    return Answer((*columns, "estimate", "low", "high", "stderr"), rows)


def _places(sums: Release) -> dict[str, list[Any]]:
    """The columns that say where each sum is, in the order of the cells."""
    from sparsedp.releases.saved_form import published

    table = sums.to_arrow()
    kept = [name for name in table.column_names if name not in published(sums)]
    axes = {} if sums.domain is None else {axis.name: axis for axis in sums.domain.axes}
    return {name: [word(axes.get(name), at) for at in table[name].to_pylist()] for name in kept}


def _ends(sums: Release, cells: int, level: str) -> list[tuple[float, float]]:
    """The interval of every sum; of very many, by the normal law alone."""
    from sparsedp.releases.mapped_errors import cost
    from sparsedp.releases.uncertainty import checked_level, normal_quantile, possible_ends

    if len(sums) * cost(sums.known_errors, cells) <= WORK:
        asked = [place if len(place) > 1 else place[0] for place in np.ndindex(*sums.shape)]
        found = [sums.interval(place, level) for place in asked]
        return [(each.low, each.high) for each in found]
    assert sums.stderr is not None  # noqa: S101  # where errors are known, so are those of single cells
    half = normal_quantile(checked_level(level)) * sums.stderr
    low, high = sums.values - half, sums.values + half
    if sums.nonnegative:
        low, high = possible_ends(low, high, sums.values)
    return list(zip(low.ravel().tolist(), high.ravel().tolist(), strict=True))
