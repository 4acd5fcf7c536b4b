"""Scalar and tree-structured denoisers: posterior means of coefficients under sparse priors, for message passing."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.jit import kernel

# The Bernoulli–Gaussian prior: each coefficient is zero, or Gaussian with a variance common to all.

LARGEST_EXPONENT = 40.0
"""Log-odds are clamped here: e⁻⁴⁰ is far below what a double-precision mean can tell from zero."""


class BernoulliGaussian:
    """P(x ≠ 0) = `activity`, x ~ N(0, `energy`) then; both are refitted by one step of EM at every look."""

    def __init__(self, activity: float, energy: float) -> None:
        self.activity = activity
        self.energy = energy

    def denoise(self, looks: Floats, variance: float) -> tuple[Floats, float]:
        """E[x | looks] where looks = x + N(0, variance), and its mean derivative (posterior variance / variance)."""
        estimate = np.empty(len(looks))
        active, energy, spread = _posterior(looks, variance, self.activity, self.energy, estimate)
        least = 0.5 / len(looks)
        self.activity = min(max(active / len(looks), least), 1.0 - least)
        # Where nothing is active the energy is anybody's guess: keep the last one.
        self.energy = max(energy / active, 1e-300) if active > 1e-12 else self.energy
        return estimate, spread / (len(looks) * variance)


@kernel
def active_odds(square: float, offset: float, gain: float) -> float:
    """Odds of "active" given the squared look: exp(clamped(offset + gain·square)), without a library call.

    A degree-7 polynomial at 1/256 of the exponent, squared eight times: relative error below 10⁻⁸ on the clamped
    range, and a loop around it is vectorised, which one around `exp` is not.
    """
    exponent = offset + gain * square
    exponent = exponent if exponent < LARGEST_EXPONENT else LARGEST_EXPONENT
    exponent = exponent if exponent > -LARGEST_EXPONENT else -LARGEST_EXPONENT
    t = exponent * (1.0 / 256.0)
    power = 1.0 / 120.0 + t * (1.0 / 720.0 + t * (1.0 / 5040.0))
    power = 1.0 + t * (1.0 + t * (0.5 + t * (1.0 / 6.0 + t * (1.0 / 24.0 + t * power))))
    power *= power
    power *= power
    power *= power
    power *= power
    power *= power
    power *= power
    power *= power
    return power * power


@kernel
def _posterior(
    looks: Floats, variance: float, activity: float, energy: float, estimate: Floats
) -> tuple[float, float, float]:
    """Write the posterior means; return Σ P(active), Σ E[x²] and Σ Var[x]."""
    shrink = energy / (energy + variance)
    within = shrink * variance
    offset = log(activity / (1.0 - activity)) - 0.5 * np.log1p(energy / variance)
    gain = 0.5 * shrink / variance
    block = 512
    chances = np.empty(block)
    active = second = spread = 0.0
    for start in range(0, len(looks), block):
        part = looks[start : start + block]
        out = estimate[start : start + block]
        for i in range(len(part)):
            odds = active_odds(part[i] * part[i], offset, gain)
            # numpy's division: Python's checks for zero at every step, and that loop is not vectorised.
            chances[i] = np.divide(odds, 1.0 + odds)
            out[i] = chances[i] * shrink * part[i]
        for i in range(len(part)):
            mean = shrink * part[i]
            square = chances[i] * (mean * mean + within)
            active += chances[i]
            second += square
            spread += square - out[i] * out[i]
    return active, second, spread


def starting_activity(sparsity: int, size: int) -> float:
    """S of the coefficients, kept away from none and all."""
    return min(max(sparsity / size, 1.0 / (2 * size)), 0.5)


def starting_energy(observed: Floats, noise_variance: float, sparsity: int) -> float:
    """What ‖y‖² has beyond the noise, shared by S coefficients (the columns of A have unit norm).

    Never less than the standard deviation of that difference: a signal that faint cannot be told from none.
    """
    rows = len(observed)
    beyond = float(observed @ observed) - rows * noise_variance
    return max(beyond, noise_variance * sqrt(2.0 * rows), 1e-300) / sparsity


# A hidden Markov tree on Haar coefficients: a coefficient is likely to matter where its parent does.
#
# Each detail is off (zero) or on (Gaussian). A jump in the counts turns on the details of all the intervals around it,
# a path from the root to a leaf, and larger ones further up: P(on | parent on), P(on | parent off) and the variance
# when on differ by level. One sum-product sweep up and one down give every P(on | all looks) exactly.

PSEUDO_COUNT = 3.0
"""How many coefficients the pooled figures count for at each level: coarse levels have few of their own."""


class HiddenMarkovTree:
    """Prior on the N = 2^L Haar coefficients in heap order, refitted by one step of EM at every look.

    The total (index 0) is not shrunk: counts have one, and one coefficient tells nothing about its own prior.
    """

    def __init__(self, size: int, sparsity: int, energy: float) -> None:
        self.levels = size.bit_length() - 1
        per_level = max(sparsity / max(self.levels, 1), 0.5)
        width = 2.0 ** np.arange(self.levels)
        # An even share of the S coefficients for every level, and variances halving from level to level.
        shares = np.minimum(width, per_level)
        self.energy = np.asarray(
            (energy * sparsity / float(np.sum(shares / width)) if self.levels else 1.0) / width, np.float64
        )
        self.stay = np.full(self.levels, 0.5)
        self.start = np.minimum(0.25, per_level / width * 0.1)
        self.root = 0.5

    def denoise(self, looks: Floats, variance: float) -> tuple[Floats, float]:
        """E[x | looks] where looks = x + N(0, variance), and its mean derivative (posterior variance / variance)."""
        estimate = np.empty(len(looks))
        counts = np.zeros((self.levels, 5))
        spread = _sweep(looks, variance, self.energy, self.stay, self.start, self.root, estimate, counts)
        if self.levels:
            self._refit(counts, variance)
        return estimate, spread / (len(looks) * variance)

    def _refit(self, counts: Floats, variance: float) -> None:
        """Maximise the expected log-likelihood, with the levels pooled by `PSEUDO_COUNT`."""
        on, second, parent_on, both_on, parent_off_on = counts.T
        width = 2.0 ** np.arange(self.levels)
        pooled = max(float(np.sum(second * width)) / max(float(np.sum(on)), 1e-9), 1e-300)
        self.energy = (second + PSEUDO_COUNT * pooled / width) / (on + PSEUDO_COUNT)
        stay = (float(both_on.sum()) + 1.0) / (float(parent_on.sum()) + 2.0)
        self.stay = np.clip((both_on + PSEUDO_COUNT * stay) / (parent_on + PSEUDO_COUNT), 1e-6, 1 - 1e-6)
        parent_off = np.maximum(width - parent_on, 0.0)
        start = float(parent_off_on[1:].sum()) / max(float(parent_off[1:].sum()), 1.0)
        pulled = (parent_off_on + PSEUDO_COUNT * start) / (parent_off + PSEUDO_COUNT)
        self.start = np.minimum(np.clip(pulled, 1e-9, 0.5), self.stay)
        self.root = min(max((float(on[0]) + 0.5) / 2.0, 1e-3), 1 - 1e-3)


@kernel
def _sweep(
    looks: Floats,
    variance: float,
    energy: Floats,
    stay: Floats,
    start: Floats,
    root: float,
    estimate: Floats,
    counts: Floats,
) -> float:
    """Write the posterior means and, a row a level, Σ P(on), Σ E[x²], Σ P(parent on), Σ P(both on), Σ P(only it on).

    `evidence[i]` is the likelihood ratio on : off of all looks in the subtree of i; `chance[i]` is P(on | all looks).
    Returns Σ Var[x].
    """
    size = len(looks)
    estimate[0] = looks[0]
    spread = variance
    evidence = np.empty(size)
    for level in range(len(energy) - 1, -1, -1):
        first = 1 << level
        ratio = energy[level] / variance
        offset = -0.5 * np.log1p(ratio)
        gain = 0.5 * ratio / ((1.0 + ratio) * variance)
        own = evidence[first : 2 * first]
        part = looks[first : 2 * first]
        for i in range(first):
            own[i] = active_odds(part[i] * part[i], offset, gain)
        if level + 1 < len(energy):
            a, b = stay[level + 1], start[level + 1]
            below = evidence[2 * first : 4 * first]
            for i in range(first):
                left, right = below[2 * i], below[2 * i + 1]
                on = (1.0 - a + a * left) * (1.0 - a + a * right)
                off = (1.0 - b + b * left) * (1.0 - b + b * right)
                own[i] = min(max(own[i] * np.divide(on, off), 1e-60), 1e60)
    chance = np.empty(size)
    for level in range(len(energy)):
        first = 1 << level
        shrink = energy[level] / (energy[level] + variance)
        within = shrink * variance
        a, b = stay[level], start[level]
        sums = counts[level]
        for i in range(first, 2 * first):
            if level == 0:
                parent = 0.0
                after_off = root * evidence[i] / (1.0 - root + root * evidence[i])
                after_on = after_off
            else:
                parent = chance[i >> 1]
                after_on = a * evidence[i] / (1.0 - a + a * evidence[i])
                after_off = b * evidence[i] / (1.0 - b + b * evidence[i])
            both = parent * after_on
            alone = (1.0 - parent) * after_off
            p = both + alone
            chance[i] = p
            mean = shrink * looks[i]
            square = p * (mean * mean + within)
            estimate[i] = p * mean
            spread += square - estimate[i] * estimate[i]
            sums[0] += p
            sums[1] += square
            sums[2] += parent
            sums[3] += both
            sums[4] += alone
    return spread
