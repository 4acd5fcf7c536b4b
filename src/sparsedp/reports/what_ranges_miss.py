"""Where ranges can miss the truth: what smoothing hides, in plain words and with the number that it takes."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from sparsedp.axes import Axis, Bins, Calendar, Integers
from sparsedp.noise.gaussian_law import DiscreteGaussianLaw
from sparsedp.noise.law import DiscreteLaplaceLaw, LayersLaw, TicksAndTotalsLaw, noise_law_from
from sparsedp.reports.figures import rounded
from sparsedp.reports.time_groups import MICROSECONDS
from sparsedp.reports.views import axes_of

if TYPE_CHECKING:
    from sparsedp.releases.release import Release

SMOOTHING = frozenset(
    {"layers", "layers_keeping_sums", "signed_layers", "signed_layers_keeping_sums", "shrinkage", "fused_shrinkage"}
)
"""Recoveries that take what cells share with their neighbours for the truth, and the rest for noise."""
DEVIATIONS = 6
"""A rule of thumb: of lone cells with fewer deviations of the noise on one cell, many are smoothed away."""
REPEATS = 4
"""A pattern that fits less often into an axis does not repeat."""


def what_ranges_miss(release: Release) -> list[str]:
    """Sentences about lone cells and repeating patterns; none where nothing was smoothed, or no ranges are drawn."""
    if release.uncertainty is None or release.recovery.get("name") not in SMOOTHING:
        return []
    parts = [lone_cells(release), repeating_patterns(axes_of(release))]
    return [part for part in parts if part]


def lone_cells(release: Release) -> str | None:
    """What one cell must hold more than its surroundings to be seen."""
    if release.summed_to is not None or len(release) == 1:
        return None
    begin = "Estimates were smoothed: numbers that look alike were taken together, which removes noise."
    if not cells_were_measured(release):
        return (
            f"{begin} Some of them were measured in groups only. A single number that stands alone in its group is "
            "spread over it, and its range may not hold it."
        )
    noise = noise_on_one_cell(release)
    if not noise:
        return None
    least = DEVIATIONS * noise
    return (
        f"{begin} A single number that stands alone, less than about {rounded(least, least)} above its surroundings, "
        "may be taken for noise, and its range may not hold it."
    )


def repeating_patterns(axes: Sequence[Axis]) -> str | None:
    """Weekdays and the like: small from one cell to the next, and large in sums."""
    times = [axis for axis in axes if isinstance(axis, Calendar) and _has_weeks(axis)]
    if times:
        return (
            "Patterns that repeat can be smoothed away, too: a sum over all Mondays may be off by more than its range. "
            "To publish such a pattern, make it an axis of its own, such as the day of the week."
        )
    numbers = [axis for axis in axes if isinstance(axis, Bins | Integers) and axis.length >= 10 * REPEATS]
    if numbers:
        return (
            "Patterns that repeat can be smoothed away, too: a sum over every tenth "
            f"cell of “{numbers[0].name}” may be off by more than its range."
        )
    return None


def noise_on_one_cell(release: Release) -> float | None:
    """The standard deviation of the noise that one cell was measured with, in the unit of the values."""
    law = noise_law_from(release.noise)
    if isinstance(law, LayersLaw):
        law = law.finest
    if isinstance(law, TicksAndTotalsLaw):
        law = law.ticks
    if not isinstance(law, DiscreteLaplaceLaw | DiscreteGaussianLaw) or not np.isfinite(law.variance):
        return None
    return sqrt(law.variance) * float(release.quantity.resolution)


def cells_were_measured(release: Release) -> bool:
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
    return bool(moments[-1] - moments[0] >= 7 * REPEATS * MICROSECONDS["d"])
