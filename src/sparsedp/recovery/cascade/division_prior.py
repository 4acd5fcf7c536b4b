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
"""Of each law up to each point of the grid; zeros for ½ exactly, which is no density. They are symmetric."""


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
def place_of(share: float) -> tuple[int, float]:
    """Where on the grid a share up to ½ is, the last point if it is more: the point before, and how far to the next."""
    place = np.sqrt(np.sqrt(min(share, 0.5))) * (STEPS / _HALF)
    before = min(int(place), STEPS - 1)
    return before, place - before


@kernel
def chance_up_to(distribution: Floats, share: float) -> float:
    """The value of a tabulated distribution at a share; up to ½, if that is more."""
    before, beyond = place_of(share)
    return float(distribution[before] + beyond * (distribution[before + 1] - distribution[before]))
