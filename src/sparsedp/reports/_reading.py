"""How to read the charts of a page, and what its ranges do not tell."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from sparsedp.axes import Axis, Bins, Calendar, Integers
from sparsedp.errors import InvalidInput
from sparsedp.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw, LayersLaw, TicksAndTotalsLaw, noise_law_from
from sparsedp.releases.queries import place_in_words, shown_place
from sparsedp.reports._views import LEVEL, View, axes_of
from sparsedp.reports.grouping import MICROSECONDS
from sparsedp.reports.words import rounded

if TYPE_CHECKING:
    from sparsedp.releases.release import Release


# How to read the page, for readers who have never seen a number with a range.

_MOST_NAMED = 8
_RANGES = {
    "line": "in a line chart it is the shaded band",
    "bars": "in a bar chart it is the thin line at the end of each bar",
    "lines": "in a chart of several lines it is the shaded band of each",
    "heat": "in a heat map it is told when you choose a square",
}
_NOISE_FADED = (
    "In a heat map the eye finds a pattern in any noise. So a square stands out only as far as its range says that it "
    "must: where its difference from its row and column could be noise, it has the colour that these lead one to "
    "expect. “The value, plain” shows the numbers as they are."
)


def reading(release: Release, views: list[View], left_out: list[str]) -> list[str]:
    """How to read the chart, for this release."""
    parts = []
    kinds = list(dict.fromkeys(kind for view in views for kind in view.kinds))
    if release.uncertainty is None:
        parts.append(
            "Each value is an estimate: noise was added to protect people. The way these numbers were worked out "
            "says nothing of how far they are off, so no ranges are drawn."
        )
    else:
        parts.append(
            "Each value is an estimate: noise was added to protect people. It comes with a range, and the true value "
            "lies within it in about 95 of 100 releases like this one. "
            f"{_first_up('; '.join(_RANGES[kind] for kind in kinds))}."
        )
        parts.append("Two values whose ranges overlap may well be equal. Do not read a story into such differences.")
        if "heat" in kinds:
            parts.append(_NOISE_FADED)
        parts += what_ranges_miss(release)
        parts += at_odds(release)
    counted = release.guarantee.neighbours.counted
    if counted is not None and counted.unit is not None:
        most = f"{counted.records:,} record{'s' if counted.records > 1 else ''}"
        parts.append(
            f"The numbers are of the records that were counted: of one person at most {most} that lie within the "
            "axes. Where people have more, totals are smaller than those of all records."
        )
    if (release.values < 0).any():
        begin = " Their ranges begin at them; true values are at least zero." if release.nonnegative else ""
        parts.append(f"Values below zero are no mistake: noise took them there, and sums stay right this way.{begin}")
    elif release.nonnegative:
        parts.append("True values cannot be below zero, and so no range is.")
    if (release.values % 1 != 0).any():
        parts.append("Values need not be whole numbers: they are best estimates, not counts.")
    if left_out:
        more = " and more" if len(left_out) > _MOST_NAMED else ""
        parts.append(f"There was no room on this page for {', '.join(left_out[:_MOST_NAMED])}{more}: ask the file.")
    return parts


MOST_ASKED, MOST_TOLD = 300, 3
"""Sums of a page that are held against what was measured; and those that are told."""

SLACK = 1e-6
"""Of a range: rounding may take a value so far out of it."""


def at_odds(release: Release) -> list[str]:
    """Which sums along an axis differ from what was measured by more than noise explains: smoothing moved them."""
    if release.domain is None or release.uncertainty is None:
        return []
    along = {axis.name: axis.length for axis in release.domain.axes}
    along |= {
        f"{axis.name}.{name}": coarse.axis.length
        for axis in release.domain.axes
        for name, coarse in axis.coarsenings.items()
    }
    asked = [name for name, length in along.items() if length <= MOST_ASKED // len(along)]
    level = 1 - (1 - LEVEL) / max(sum(along[name] for name in asked), 1)
    found: list[tuple[float, str]] = []
    try:
        for name in asked:
            sums = release if release.domain.names == (name,) else release.marginal(name)
            for place, value in enumerate(sums.values.tolist()):
                sure = sums.interval(place, level, "guaranteed")
                beyond = max(sure.low - value, value - sure.high)
                if beyond > SLACK * (sure.high - sure.low):
                    shown = f"{shown_place(place_in_words(sums, (place,)))} ({rounded(value, value)} here, "
                    found.append((beyond, f"{shown}{rounded(sure.estimate, sure.estimate)} as measured)"))
    except InvalidInput:  # what was measured is not known, or does not say
        return []
    if not found:
        return []
    told = [text for _, text in sorted(found, reverse=True)[:MOST_TOLD]]
    more = f", and {len(found) - MOST_TOLD:,} more" if len(found) > MOST_TOLD else ""
    return [
        f"Smoothing moved some sums further than noise explains: {'; '.join(told)}{more}. There trust what was "
        "measured: ask for guaranteed ranges."
    ]


def _first_up(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def finer_than_shown(release: Release, shown: int) -> str | None:
    """What to say where the page shows sums of cells only."""
    if shown >= len(release):
        return None
    return (
        f"The release has {len(release):,} cells, too many for one page: it shows sums of neighbouring cells, "
        f"at most {shown:,} at a time. Every cell is in the file."
    )


# Where ranges can miss the truth: what smoothing hides, in plain words and with the number that it takes.

_SMOOTHING = frozenset(
    {"layers", "layers_keeping_sums", "signed_layers", "signed_layers_keeping_sums", "shrinkage", "fused_shrinkage"}
)
"""Recoveries that take what cells share with their neighbours for the truth, and the rest for noise."""
DEVIATIONS = 6
"""A rule of thumb: of lone cells with fewer deviations of the noise on one cell, many are smoothed away."""
_REPEATS = 4
"""A pattern that fits less often into an axis does not repeat."""


def what_ranges_miss(release: Release) -> list[str]:
    """Sentences about lone cells and repeating patterns; none where nothing was smoothed, or no ranges are drawn."""
    if release.uncertainty is None or release.recovery.get("name") not in _SMOOTHING:
        return []
    parts = [_lone_cells(release), _repeating_patterns(axes_of(release))]
    return [part for part in parts if part]


def _lone_cells(release: Release) -> str | None:
    """What one cell must hold more than its surroundings to be seen."""
    if release.summed_to is not None or len(release) == 1:
        return None
    begin = "Estimates were smoothed: numbers that look alike were taken together, which removes noise."
    if not _cells_were_measured(release):
        return (
            f"{begin} Some of them were measured in groups only. A single number that stands alone in its group is "
            "spread over it, and its range may not hold it."
        )
    noise = _noise_on_one_cell(release)
    if not noise:
        return None
    least = DEVIATIONS * noise
    return (
        f"{begin} A single number that stands alone, less than about {rounded(least, least)} above its surroundings, "
        "may be taken for noise, and its range may not hold it."
    )


def _repeating_patterns(axes: Sequence[Axis]) -> str | None:
    """Weekdays and the like: small from one cell to the next, and large in sums."""
    times = [axis for axis in axes if isinstance(axis, Calendar) and _has_weeks(axis)]
    if times:
        return (
            "Patterns that repeat can be smoothed away, too: a sum over all Mondays may be off by more than its range. "
            "To publish such a pattern, make it an axis of its own, such as the day of the week."
        )
    numbers = [axis for axis in axes if isinstance(axis, Bins | Integers) and axis.length >= 10 * _REPEATS]
    if numbers:
        return (
            "Patterns that repeat can be smoothed away, too: a sum over every tenth "
            f"cell of “{numbers[0].name}” may be off by more than its range."
        )
    return None


def _noise_on_one_cell(release: Release) -> float | None:
    """The standard deviation of the noise that one cell was measured with, in the unit of the values."""
    law = noise_law_from(release.noise)
    if isinstance(law, LayersLaw):
        law = law.finest
    if isinstance(law, TicksAndTotalsLaw):
        law = law.ticks
    if not isinstance(law, DiscreteLaplaceLaw | DiscreteGaussianLaw) or not np.isfinite(law.variance):
        return None
    return sqrt(law.variance) * float(release.quantity.resolution)


def _cells_were_measured(release: Release) -> bool:
    """Whether every cell was measured by itself, and not only sums of several."""
    layers = release.recovery.get("stats", {}).get("layers")
    first = layers[0] if isinstance(layers, list) and layers else None  # whoever wrote the file
    return not isinstance(first, int) or first >= len(release)


def _has_weeks(axis: Calendar) -> bool:
    """Whether its cells are days or parts of them, over a few weeks."""
    (times,) = axis.columns().values()
    moments = times.astype(np.int64)
    if len(moments) < 2 or moments[1] - moments[0] > MICROSECONDS["d"]:
        return False
    return bool(moments[-1] - moments[0] >= 7 * _REPEATS * MICROSECONDS["d"])
