"""What the page's script draws: plain numbers and labels, no finer than they are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.reports.bands import LEVEL, Banded
from sparsedp.reports.figures import decimals_for
from sparsedp.reports.view import Picture, View

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

SPARE_DIGITS = 1
"""More decimals than two digits of the error, so that sums of what is shown stay right."""


def chart_data(release: Release, views: list[View], title: str) -> dict[str, Any]:
    """A JSON-able description of every view."""
    return {
        "title": title,
        "quantity": str(release.quantity),
        "column": release.quantity.column,
        "level": LEVEL,
        "views": [_view(view) for view in views],
    }


def _view(view: View) -> dict[str, Any]:
    return {
        "kinds": list(view.kinds),
        "title": view.title,
        "opens": view.opens,
        "pictures": [_picture(picture) for picture in view.pictures],
    }


def _picture(picture: Picture) -> dict[str, Any]:
    banded = picture.banded
    digits = _digits(banded)
    found: dict[str, Any] = {
        "name": picture.groupings[-1].name,
        "axes": [{**grouping.scale, "partial": list(grouping.partial)} for grouping in picture.groupings],
        "values": _numbers(banded.values, digits),
    }
    if banded.why_not is not None:
        found["note"] = banded.why_not
    if banded.low is not None and banded.high is not None:
        found |= {"low": _numbers(banded.low, digits), "high": _numbers(banded.high, digits)}
    return found


def _digits(banded: Banded) -> int:
    half = banded.half_width
    known = np.zeros(0) if half is None else half[np.isfinite(half) & (half > 0)]
    if known.size:
        return decimals_for(float(known.min())) + SPARE_DIGITS
    # Without an error, about six digits of the greatest value.
    greatest = float(np.abs(banded.values).max(initial=0.0))
    return decimals_for(greatest / 1e4) if greatest else 0


def _numbers(values: Floats, digits: int) -> list[float | int | None]:
    rounded = np.round(values.ravel(), digits)
    if digits == 0 or (rounded == np.rint(rounded)).all():
        return [int(value) if np.isfinite(value) else None for value in rounded.tolist()]
    return [value if np.isfinite(value) else None for value in rounded.tolist()]
