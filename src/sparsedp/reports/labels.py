"""What the points of a picture are called, one by one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sparsedp.reports.grouping import Grouping
from sparsedp.reports.moments_in_words import in_words


def labels_of(grouping: Grouping) -> list[str]:
    """A label for each point, in order."""
    scale = grouping.scale
    if scale["kind"] == "category":
        return list(scale["labels"])
    if scale["kind"] == "bins":
        edges = scale["edges"]
        return [_bin(low, high) for low, high in pairwise(edges)]
    if scale["kind"] == "number":
        if "bounds" not in scale:
            return [str(scale["first"] + place) for place in range(scale["length"])]
        bounds = scale["bounds"]
        return [f"{low} to {high - 1}" for low, high in pairwise(bounds)]
    times = scale.get("times") or [scale["first"] + place * scale["step"] for place in range(scale["length"])]
    moments = np.rint(np.asarray(times, dtype=np.float64) * 1000).astype(np.int64).astype("datetime64[us]")
    return [in_words(moment, scale["unit"]) for moment in moments]


def _bin(low: float | None, high: float | None) -> str:
    if low is None:
        return "any" if high is None else f"under {high:g}"
    return f"{low:g} and more" if high is None else f"{low:g} to {high:g}"
