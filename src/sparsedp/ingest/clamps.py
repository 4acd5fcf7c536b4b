"""How large values are, measured with a share of the budget: which bounds to clamp them to.

Guarantee: as private as its share of the budget says, whatever the values. Proof: `ingest/clamps.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np

from sparsedp import validate
from sparsedp.arrays import Floats, Ints, Mask
from sparsedp.errors import InvalidInput
from sparsedp.ingest.bounding import DOUBLES
from sparsedp.mechanisms.terms import CalibratedNoise, Terms

PURPOSE = "see how large values are"
"""What the look is paid for."""

USUAL_SHARE = Fraction(1, 20)
"""Of the budget, if none is given."""

STRAY = 0.01
"""How often a bin may be taken for one with values in it and has none."""


def checked_share(share: object, *, chosen: bool) -> Fraction:
    """The share of the budget that the look takes; 0 where the clamp is given."""
    if not chosen and share is not None:
        raise InvalidInput("clamp_share", "given beside bounds", 'leave it out: it pays for clamp="auto"')
    if not chosen:
        return Fraction(0)
    return USUAL_SHARE if share is None else validate.share("clamp_share", share)


@dataclass(frozen=True)
class ClampLook:
    """The noise for the numbers of records by bins: a person's records are in one each."""

    noise: CalibratedNoise

    @classmethod
    def of(cls, terms: Terms, records: int, share: Fraction) -> ClampLook:
        """What that share of the budget buys where people have at most so many records, or the refusal of a budget that
        is too small.
        """
        changes = records * terms.neighbours.times
        return cls(terms.noise(changes, changes**2, share, PURPOSE))

    def chosen(self, bins: Ints, noise_of_one: float, most: int) -> tuple[int, int]:
        """The bounds in whole steps, once it is paid for; `noise_of_one`: as for `best_clamp`."""
        if bins.shape != (2 * DOUBLES,):
            raise RuntimeError("Values were counted in other bins than are measured.")
        noisy = bins.copy()
        self.noise.add_to(noisy)
        threshold = self.noise.law.quantile(1 - STRAY / (2 * DOUBLES))
        return best_clamp(noisy.astype(np.float64), threshold, noise_of_one, most)


# The rule: a function of the noisy numbers and of public facts alone.


def best_clamp(noisy: Floats, threshold: float, noise_of_one: float, most: int) -> tuple[int, int]:
    """The least and the largest value, in whole steps, for which noise and what clamping takes off the sum of all make
    the least error.

    Values are believed to be in a bin, and in those below it, if more than `threshold` are seen there; if in none, in
    the fullest. `noise_of_one` is the deviation of the noise of one number where values go up to one step: it grows in
    proportion. No bound is beyond `most`.
    """
    above, below = noisy[:DOUBLES], noisy[DOUBLES:]
    ends = 2.0 ** np.arange(DOUBLES)
    middles = np.where(ends == 1, 1.0, 0.75 * ends)
    seen = [_outermost(side > threshold) for side in (above, below)]
    if seen == [0.0, 0.0]:
        fullest = int(np.argmax(noisy))
        seen[fullest // DOUBLES] = float(ends[fullest % DOUBLES])
    largest = min(max(seen), float(most))
    tried = ends[ends <= largest]
    errors = []
    for end in tried:
        lost = sum(
            float(np.maximum(middles - end, 0.0) @ np.where(ends <= one, np.maximum(side, 0.0), 0.0))
            for side, one in zip((above, below), seen, strict=True)
        )
        errors.append(sqrt(lost**2 + (noise_of_one * end) ** 2))
    best = float(tried[int(np.argmin(errors))])
    return -int(min(best, seen[1])), int(min(best, seen[0]))


def _outermost(seen: Mask) -> float:
    """The end of the last bin that is seen; 0 if none is."""
    places = np.flatnonzero(seen)
    return float(2.0 ** places[-1]) if len(places) else 0.0
