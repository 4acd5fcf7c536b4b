"""From which height on a single cell stands out in a release: lone cells are planted and looked for."""

from __future__ import annotations

from math import ceil

import numpy as np

from sparsedp.arrays import Integers
from sparsedp.domain import Domain
from sparsedp.noise.source import RandomSource
from sparsedp.previews.factors import ASKED_FOR
from sparsedp.previews.setting import Setting

ERRORS = 3
"""So many standard errors make a difference that is not chance."""
LOOKS = 6
"""Lone cells looked at, for one height."""
SPREAD = 100
"""At most one in so many cells is planted: more would no longer be lone."""
HEIGHTS = tuple(ERRORS * 2 ** (quarter / 4) for quarter in range(-4, 13))
"""Tried heights in units of the plain noise: quarter octaves from one and a half deviations to 24."""


def least_that_stands_out(
    setting: Setting, domain: Domain, counts: Integers, cell_error: float, source: RandomSource
) -> float | None:
    """The least height that a cell must have over what is expected there to be seen more often than not.

    Seen: published at least three standard errors, and at least half of its height, above what was there without it.
    None if even the greatest height tried is not seen: the mechanism takes lone cells for noise.
    """
    noise = setting.plain_noise(ASKED_FOR)
    heights = sorted({ceil(noise * height) or 1 for height in HEIGHTS})
    least, most = 0, len(heights)
    while least < most:
        middle = (least + most) // 2
        if _seen(heights[middle], setting, domain, counts, cell_error, source):
            most = middle
        else:
            least = middle + 1
    return None if least == len(heights) else float(heights[least])


def _seen(
    height: int, setting: Setting, domain: Domain, counts: Integers, cell_error: float, source: RandomSource
) -> bool:
    generator = np.random.default_rng(height)
    planted = min(LOOKS, max(1, counts.size // SPREAD))
    needed = max(ERRORS * cell_error, height / 2)
    found = looked = 0
    while looked < LOOKS:
        places = generator.choice(counts.size, planted, replace=False)
        changed = counts.reshape(-1).copy()
        changed[places] += height
        values = setting.publish(changed.reshape(counts.shape), domain, source, ASKED_FOR).reshape(-1)
        found += int(np.sum(values[places] - counts.reshape(-1)[places] >= needed))
        looked += planted
    return 2 * found >= looked
