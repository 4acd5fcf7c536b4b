"""The jobs: the exact law of ‖e‖₂, draws of the noise that the mechanism adds, and the moments that there are not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sparsedp.experiments.paper.effort import Effort
from sparsedp.experiments.paper.experiment import Origins
from sparsedp.experiments.paper.noise_norm.law import (
    CORRECTED,
    PAPER,
    SumOfSquares,
    bound,
    log_moment_integral,
    worst_on_integers,
)
from sparsedp.experiments.paper.outcomes import Found, Settings
from sparsedp.experiments.paper.seeds import noise_of
from sparsedp.noise.discrete_laplace import discrete_laplace

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
