"""The jobs: the exact law of ‖e‖₂, draws of the noise that the mechanism adds, and the moments that there are not."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, sqrt

import numpy as np

from sparsedp.arrays import Floats
from sparsedp.noise.discrete_laplace import discrete_laplace
from studies.paper.data import noise_of
from studies.paper.experiment import Effort, Found, Origins, Settings

# ---- the law of ‖e‖₂² for Laplace noise, between two bounds, and the bounds on it that a proof can use

POINTS = 2**19
"""Of the grid: with 256 rows the two bounds of a probability of one tenth differ by 2 % of it."""

PAPER, CORRECTED = 2, 5
"""What stands under the root of `bound`: the paper's, and what Chebyshev's inequality gives."""


def bound(rows: int, delta: float, under_root: int) -> float:
    """2·(k + √(c·k/δ)): the bound on Y = ‖e‖₂² in units of λ².

    Chebyshev: P(Y − E Y ≥ t) ≤ Var Y/t², with E Y = 2k and Var Y = 20k. That is δ for t = √(20k/δ) = 2·√(5k/δ).
    """
    return 2 * (rows + sqrt(under_root * rows / delta))


def most_by_moments(delta: float, under_root: int) -> float:
    """The most that P(Y ≥ bound) can be for a law of which only E Y = 2k and Var Y = 20k are known.

    Cantelli: P(Y ≥ E Y + t) ≤ Var Y/(Var Y + t²), reached by a law of two values. Here t² = 4·c·k/δ.
    """
    return 20 / (20 + 4 * under_root / delta)


class SumOfSquares:
    """Y/λ² = X₁² + … + X_k² on a grid from 0 to `most`, where P(Xᵢ² > t) = exp(−√t): squares of Laplace noise.

    Every square is rounded down to the grid. So Y lies above the sum J of what is left by k steps at most, and J's law,
    which is a k-fold convolution, gives two numbers between which every probability of Y lies.
    """

    def __init__(self, rows: int, most: float, points: int = POINTS) -> None:
        self.rows = rows
        self.step = most / points
        square = np.diff(-np.expm1(-np.sqrt(self.step * np.arange(points + 1))))
        self.below = np.cumsum(_folded(square, rows))

    def exceedance(self, level: float) -> tuple[float, float]:
        """Two bounds of P(Y > level), the lower first."""
        place = level / self.step
        return self._from(ceil(place)), self._from(floor(place - self.rows) + 1)

    def quantile(self, delta: float) -> tuple[float, float]:
        """Two bounds of the level that Y exceeds with probability δ."""
        place = int(np.searchsorted(self.below, 1 - delta))
        return place * self.step, (place + self.rows) * self.step

    def _from(self, place: int) -> float:
        """P(J ≥ place)."""
        return 1.0 if place <= 0 else 1.0 - float(self.below[min(place, len(self.below)) - 1])


def _folded(law: Floats, times: int) -> Floats:
    """The law of the sum of `times` such numbers, as far as the grid goes."""
    size = 1 << (2 * len(law) - 1).bit_length()

    def folded(first: Floats, second: Floats) -> Floats:
        whole = np.fft.irfft(np.fft.rfft(first, size) * np.fft.rfft(second, size), size)
        return np.maximum(whole[: len(law)], 0.0)

    power, result = law, None
    while True:
        if times & 1:
            result = power if result is None else folded(result, power)
        times >>= 1
        if not times:
            return law if result is None else result
        power = folded(power, power)


def worst_on_integers(rows: int, scale: float, least_delta: float) -> tuple[float, float]:
    """The largest P(Y > the paper's bound)/δ for discrete Laplace noise of this scale s on integers, and that δ.

    Y is a whole number, so P(Y > bound) jumps where the bound passes one: just above the δ with bound = y, the
    probability is P(Y ≥ y). All of these are looked at, for δ from `least_delta` to 1.
    """
    top = ceil(scale**2 * bound(rows, least_delta, PAPER)) + 1
    ratio = np.exp(-1 / scale)
    sizes = np.arange(floor(sqrt(top)) + 1)
    square = np.zeros(top + 1)
    square[sizes**2] = (1 - ratio) / (1 + ratio) * np.where(sizes == 0, 1.0, 2.0) * ratio**sizes
    law = square
    for _ in range(rows - 1):
        law = np.convolve(law, square)[: top + 1]
    above = 1 - np.concatenate([[0.0], np.cumsum(law)[:-1]])
    excess = np.arange(top + 1) / (2 * scale**2) - rows
    deltas = np.where(excess > 0, 2 * rows / np.maximum(excess, 1e-9) ** 2, np.inf)
    ratios = np.where((deltas >= least_delta) & (deltas < 1), above / deltas, 0.0)
    place = int(ratios.argmax())
    return float(ratios[place]), float(deltas[place])


def log_moment_integral(rate: float, end: float) -> float:
    """log ∫₀ᴿ exp(s·x² − x) dx by the trapezoid rule: the moment-generating function of X² at s, cut off at R."""
    x = np.linspace(0.0, end, 200_001)
    exponents = rate * x**2 - x
    top = float(exponents.max())
    return top + float(np.log(np.trapezoid(np.exp(exponents - top), x)))


# ---- the jobs

EPSILON = "0.1"
DELTAS = [0.5, 0.2, 0.1, 0.05, 0.02, 0.01]
LEAST_DELTA = 1e-3
BATCHES = 20
RATES = [-0.1, 0.01, 0.1, 1.0]
SCALES = (0.05, 4.0)
ENDS = [250, 500, 1000]


def jobs(effort: Effort, origins: Origins) -> list[Settings]:
    """No data set has a part in it."""
    exact = effort.pick(smoke=[1, 8], quick=[1, 2, 4, 8, 16, 32, 64, 128, 256], full=[*range(1, 17), 32, 64, 128, 256])
    drawn = effort.pick(smoke=[1, 8], quick=[1, 4, 16, 64, 256], full=[1, 4, 16, 64, 256, 1024])
    values = effort.pick(smoke=20_000, quick=4_000_000, full=20_000_000)
    points = effort.pick(smoke=2**14, quick=2**19, full=2**20)
    deltas = effort.pick(smoke=9, quick=61, full=181)
    listed: list[Settings] = [{"part": "exact", "rows": k, "points": points, "deltas": deltas} for k in exact]
    listed += [
        {"part": "draws", "rows": k, "epsilon": EPSILON, "draws": BATCHES * max(50, values // k // BATCHES)}
        for k in drawn
    ]
    listed += [
        {"part": "integers", "rows": k, "scales": effort.pick(smoke=20, quick=200, full=1000)}
        for k in effort.pick(smoke=[1], quick=[1, 2, 4], full=[1, 2, 3, 4, 6, 8])
    ]
    return [*listed, {"part": "moments", "rates": RATES, "ends": ENDS}]


def measure(settings: Settings) -> Found:
    """One job of any part."""
    return PARTS[settings["part"]](settings)


def _exact(settings: Settings) -> Found:
    """For a range of δ: two bounds of the probability of more noise than a bound allows, and of the true quantile."""
    rows = settings["rows"]
    law = SumOfSquares(rows, bound(rows, LEAST_DELTA, CORRECTED), settings["points"])
    deltas = np.geomspace(LEAST_DELTA, 0.9, settings["deltas"]).tolist()
    return {
        "deltas": deltas,
        "paper": [list(law.exceedance(bound(rows, delta, PAPER))) for delta in deltas],
        "corrected": [list(law.exceedance(bound(rows, delta, CORRECTED))) for delta in deltas],
        "quantiles": [list(law.quantile(delta)) for delta in deltas],
    }


def _draws(settings: Settings) -> Found:
    """Y = ‖e‖₂² of the noise that is really added, in units of λ² = k/ε²; e is the integer noise divided by √k."""
    rows, draws = settings["rows"], settings["draws"]
    scale = rows / Fraction(settings["epsilon"])
    squares = []
    for batch in range(BATCHES):
        noise = discrete_laplace(scale, draws // BATCHES * rows, noise_of(settings, batch))
        squares.append(np.sum((noise / float(scale)).reshape(-1, rows) ** 2, axis=1))
    every = np.concatenate(squares)
    return {
        "means": [float(batch.mean()) for batch in squares],
        "variances": [float(batch.var(ddof=1)) for batch in squares],
        "deltas": DELTAS,
        "above_paper": [int(np.sum(every > bound(rows, delta, PAPER))) for delta in DELTAS],
        "above_corrected": [int(np.sum(every > bound(rows, delta, CORRECTED))) for delta in DELTAS],
        "quantiles": [float(np.quantile(every, 1 - delta)) for delta in DELTAS],
    }


def _integers(settings: Settings) -> Found:
    """The same for noise on integers, whose scale k/ε matters: the worst over scales, small ones included."""
    scales = np.geomspace(*SCALES, settings["scales"]).tolist()
    worst = [worst_on_integers(settings["rows"], scale, LEAST_DELTA) for scale in scales]
    ratio, delta, scale = max((ratio, delta, scale) for (ratio, delta), scale in zip(worst, scales, strict=True))
    return {"ratio": ratio, "delta": delta, "scale": scale}


def _moments(settings: Settings) -> Found:
    """The integral that would be E exp(s·X²), cut off further and further out."""
    return {"logs": [[log_moment_integral(rate, end) for end in settings["ends"]] for rate in settings["rates"]]}


PARTS = {"exact": _exact, "draws": _draws, "integers": _integers, "moments": _moments}
