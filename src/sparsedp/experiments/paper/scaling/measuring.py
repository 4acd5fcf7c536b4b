"""The jobs: errors against n, against ε, against S, at the hardest size of the signal, and on dense inputs."""

from __future__ import annotations

from fractions import Fraction
from math import log, sqrt

from sparsedp.arrays import Integers
from sparsedp.experiments.metrics import cell_error
from sparsedp.experiments.paper.effort import Effort
from sparsedp.experiments.paper.experiment import Origins
from sparsedp.experiments.paper.outcomes import Found, Settings
from sparsedp.experiments.paper.scaling.contenders import EVERY, ROWS_CONSTANT, THRESHOLD, publish
from sparsedp.experiments.paper.scaling.signals import SIZE, dense_counts, sparse_counts
from sparsedp.experiments.paper.scaling.work import measure_work
from sparsedp.experiments.paper.seeds import chance_of, noise_of, seed_of
from sparsedp.mechanisms.selection.candidates import rows_for

SPARSITY = 8
EPSILON = "1"
BUDGETS = ["1", "0.5", "0.2", "0.1", "0.05", "0.03", "0.01", "0.003", "0.001", "0.0003", "0.0001"]
RUN_CELLS = 2**19
"""A job has as many runs as make up this many cells, within limits."""

OFTEN = ("compressive", "compressive tree")
FADING = ("compressive", "compressive tree", THRESHOLD)
"""The contenders that lose coefficients which are too small, and are worst just there."""

SIZES = [0.7, 0.85, 1.0, 1.15]
"""Of the details, in units of what stands out among n coefficients of noise."""


def jobs(effort: Effort, origins: Origins) -> list[Settings]:
    """No data set has a part in it."""
    return [*_sparse_jobs(effort), *_dense_jobs(effort), *_work_jobs(effort)]


def _sparse_jobs(effort: Effort) -> list[Settings]:
    exponents = effort.pick(smoke=[8, 9, 10], quick=list(range(10, 21)), full=list(range(10, 21)))
    fading = effort.pick(smoke=[8, 9, 10], quick=list(range(10, 21, 2)), full=list(range(10, 21)))
    often = effort.pick(smoke=[8], quick=[10, 12, 14], full=[10, 12, 14, 16])
    budgets = effort.pick(smoke=["1", "0.3", "0.1"], quick=BUDGETS, full=BUDGETS)
    sparsities = effort.pick(smoke=[2, 4, 8], quick=[2, 4, 8, 16, 32, 64, 128], full=[2, 4, 8, 16, 32, 64, 128])
    fewest, most = effort.pick(smoke=(2, 2), quick=(4, 16), full=(16, 64))

    def runs(cells: int, at_most: int) -> int:
        """More where they are cheap: with few coefficients the error of a run is off by a quarter of itself."""
        return min(at_most, max(fewest, RUN_CELLS // cells))

    fixed = {"sparsity": SPARSITY, "epsilon": EPSILON}
    listed: list[Settings] = [
        {"part": "cells", "mechanism": name, "cells": 2**e, "runs": runs(2**e, most), **fixed}
        for name in EVERY
        for e in exponents
    ]
    many = effort.pick(smoke=4, quick=200, full=600)
    listed += [
        {"part": "often", "mechanism": name, "cells": 2**e, "runs": many, **fixed} for name in OFTEN for e in often
    ]
    listed += [
        {
            "part": "fading",
            "mechanism": name,
            "cells": 2**e,
            "sizes": SIZES,
            "runs": runs(2**e, most),
            "sparsity": SPARSITY,
        }
        for name in FADING
        for e in fading
    ]
    size = {"cells": effort.pick(smoke=2**9, quick=2**14, full=2**16), "runs": effort.pick(smoke=2, quick=8, full=20)}
    listed += [
        {"part": "epsilon", "mechanism": name, "epsilon": epsilon, "sparsity": SPARSITY, **size}
        for name in EVERY
        for epsilon in budgets
    ]
    listed += [
        {"part": "sparsity", "mechanism": name, "epsilon": EPSILON, "sparsity": s, **size}
        for name in EVERY
        for s in sparsities
    ]
    return listed


def _dense_jobs(effort: Effort) -> list[Settings]:
    """S = n^(2/3), as the paper's n^(2/3) needs, and a fixed S; then larger and larger counts."""
    exponents = effort.pick(smoke=[8, 9, 10], quick=[10, 11, 12, 13, 14, 15, 16], full=[10, 11, 12, 13, 14, 15, 16, 17])
    bounds = effort.pick(smoke=[1, 100], quick=[1, 10, 100, 1000, 10_000, 100_000], full=[10**e for e in range(7)])
    fixed = {"part": "dense", "epsilon": EPSILON, "runs": effort.pick(smoke=2, quick=4, full=20)}
    growing: list[Settings] = [
        {**fixed, "series": series, "cells": 2**e, "sparsity": s, "most": 10}
        for e in exponents
        for series, s in (("two thirds", round(2 ** (2 * e / 3))), ("fixed", SPARSITY))
    ]
    cells = 2 ** exponents[len(exponents) // 2]
    return growing + [
        {**fixed, "series": "counts", "cells": cells, "sparsity": round(cells ** (2 / 3)), "most": most}
        for most in bounds
    ]


def _work_jobs(effort: Effort) -> list[Settings]:
    # Where there are fewer cells, memory is not vectors but odds and ends.
    hadamard = effort.pick(smoke=[13, 14, 15], quick=[13, 14, 16, 18, 20], full=[13, 14, 15, 16, 17, 18, 19, 20])
    bernoulli = effort.pick(smoke=[13, 14, 15], quick=[13, 14, 15], full=[13, 14, 15, 16])
    fixed = {"part": "work", "epsilon": EPSILON, "sparsity": SPARSITY}
    listed = [
        {**fixed, "sensing": "hadamard", "decoder": decoder, "cells": 2**e}
        for decoder in ("cosamp", "vamp_tree")
        for e in hadamard
    ]
    return listed + [{**fixed, "sensing": "bernoulli", "decoder": "cosamp", "cells": 2**e} for e in bernoulli]


def measure(settings: Settings) -> Found:
    """One job of any part."""
    if settings["part"] == "work":
        return measure_work(settings)
    if settings["part"] == "fading":
        return _fading(settings)
    errors, numbers = [], 0
    for run in range(settings["runs"]):
        counts = counts_of(settings, run)
        error, numbers = _error(settings, run, counts, settings["epsilon"])
        errors.append(error)
    return {"errors": errors, "numbers": numbers}


def counts_of(settings: Settings, run: int) -> Integers:
    """The input of a run: the same for every mechanism."""
    if settings["part"] == "dense":
        what = {"input": "dense", "cells": settings["cells"], "most": settings["most"]}
        return dense_counts(settings["cells"], settings["most"], chance_of(what, run))
    what = {"input": "sparse", "cells": settings["cells"], "sparsity": settings["sparsity"]}
    return sparse_counts(settings["cells"], settings["sparsity"], chance_of(what, run))


def _error(settings: Settings, run: int, counts: Integers, epsilon: str | Fraction) -> tuple[float, int]:
    name = settings.get("mechanism", "compressive")
    seed, source = seed_of(settings, "matrix", run), noise_of(settings, run)
    published = publish(name, counts, sparsity=settings["sparsity"], epsilon=epsilon, seed=seed, source=source)
    return cell_error(counts, published.cells), published.numbers


def _fading(settings: Settings) -> Found:
    """ε·‖D − D*‖₂ where the details hardly stand out; making ε smaller makes them smaller against the noise.

    Only their ratio matters, so that this is what ε = 1 would give on details of another size.
    """
    cells, name = settings["cells"], settings["mechanism"]
    if name == THRESHOLD:
        numbers, stands_out = 1, log(cells)
    else:
        numbers, stands_out = rows_for(cells, settings["sparsity"], ROWS_CONSTANT), sqrt(2 * log(cells))
    scaled, budgets = [], []
    for size in settings["sizes"]:
        epsilon = Fraction(f"{size * stands_out * sqrt(2 * numbers) / SIZE:.6f}")
        errors = [_error(settings, run, counts_of(settings, run), epsilon)[0] for run in range(settings["runs"])]
        scaled.append([float(epsilon) * error for error in errors])
        budgets.append(float(epsilon))
    return {"scaled_errors": scaled, "epsilons": budgets}
