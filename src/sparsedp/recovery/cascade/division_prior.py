"""How a sum of counts may divide between two parts of a whole: a mixture of even, uneven, and nearly all in one.

In terms of the share u of the left part if both parts were equally wide: u = ½ exactly, or symmetric Beta laws, from
narrow ones about ½ to those with all their weight near 0 and 1. Of parts of other widths, the odds of the share are
those of u times the odds of the widths. All is tabulated: laws are told by their distribution functions on a grid that
is fine near 0.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betainc

from sparsedp.arrays import Floats
from sparsedp.jit import kernel

EXPONENTS = (30.0, 4.0, 1.0, 0.2, 0.02)
"""Of the Beta laws, a share to the left being as likely as to the right; beside them ½ exactly, which comes first."""

LAWS = 1 + len(EXPONENTS)

STEPS = 1024
"""Of the grid, from 0 to ½."""

_HALF = 0.5**0.25

SHARES: Floats = (np.linspace(0.0, _HALF, STEPS + 1)) ** 4
"""The grid: even steps in the fourth root."""

DISTRIBUTIONS: Floats = np.stack([np.zeros(STEPS + 1)] + [betainc(a, a, SHARES) for a in EXPONENTS])
"""Of each law up to each point of the grid; zeros for ½ exactly, which is no density. Beyond ½, by symmetry."""


@kernel
def as_if_equally_wide(share: float, width: float) -> float:
    """The share u that makes a part of this share of the width have that `share` of the sum."""
    if share <= 0.0:
        return 0.0
    if share >= 1.0:
        return 1.0
    odds = share * (1.0 - width)
    return odds / (odds + width * (1.0 - share))


@kernel
def place_of(share: float) -> tuple[int, float, bool]:
    """Where on the grid a share is: the point before it, how far it is to the next, and whether it was mirrored."""
    mirrored = share > 0.5
    place = np.sqrt(np.sqrt(1.0 - share if mirrored else share)) * (STEPS / _HALF)
    before = min(int(place), STEPS - 1)
    return before, place - before, mirrored


@kernel
def chance_up_to(distribution: Floats, share: float) -> float:
    """The value of a tabulated distribution, symmetric about ½, that need not sum to 1."""
    before, beyond, mirrored = place_of(share)
    chance = distribution[before] * (1.0 - beyond) + distribution[before + 1] * beyond
    return 2.0 * distribution[STEPS] - chance if mirrored else chance
