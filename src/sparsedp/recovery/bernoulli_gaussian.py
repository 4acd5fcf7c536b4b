"""The Bernoulli–Gaussian prior: each coefficient is zero, or Gaussian with a variance common to all."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.jit import kernel

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
