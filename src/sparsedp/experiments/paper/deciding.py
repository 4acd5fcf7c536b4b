"""Whether an exponent keeps a bound: yes, no, or that these runs cannot tell."""

from __future__ import annotations

from sparsedp.experiments.paper.claim import Judgement, Verdict
from sparsedp.experiments.paper.fits import Slope

Answer = bool | None
"""None where the interval holds both answers."""

DECISIVE = 0.5
"""The exponents in question (of 1, √x, x; of log, log^1.5) are halves apart: a wider interval tells none of them."""


def at_most(slope: Slope, bound: float, *, width: float = DECISIVE) -> Answer:
    """Yes if the exponent is within the bound, with its whole interval or with one that is no wider than `width`."""
    if slope.value <= bound and (slope.high <= bound or slope.high - slope.low <= width):
        return True
    return False if slope.low > bound else None


def near(slope: Slope, exponent: float, room: float, *, width: float = DECISIVE) -> Answer:
    """Yes if the exponent is this one, to within `room`, and its interval no wider than `width`."""
    if abs(slope.value - exponent) <= room and slope.high - slope.low <= width:
        return True
    return False if slope.low > exponent + room or slope.high < exponent - room else None


def every(*answers: Answer) -> Answer:
    """No if one of them is no; else yes, unless one is not known."""
    if any(answer is False for answer in answers):
        return False
    return True if all(answers) else None


def judged(answer: Answer, measured: str) -> Judgement:
    """Holds, does not hold, or is not decided."""
    verdicts = {True: Verdict.HOLDS, False: Verdict.DOES_NOT_HOLD, None: Verdict.UNDECIDED}
    return Judgement(verdicts[answer], measured)
