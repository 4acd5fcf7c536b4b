"""The jobs: errors against n, against ε, against S, at the hardest size of the signal, and on dense inputs; costs."""

from __future__ import annotations

import gc
import tracemalloc
from dataclasses import dataclass, field
from fractions import Fraction
from math import log, sqrt

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.bases.haar import Haar
from sparsedp.decoders.problem import SparseProblem
from sparsedp.decoders.registry import DECODERS
from sparsedp.mechanisms import MECHANISMS
from sparsedp.mechanisms.compressive import Compressive
from sparsedp.mechanisms.laplace import Laplace
from sparsedp.mechanisms.selection.sparsity_choice import SelectionConstants, rows_for
from sparsedp.noise.source import RandomSource
from studies.metrics import cell_error
from studies.paper.data import chance_of, noise_of, seed_of
from studies.paper.experiment import Effort, Found, Origins, Settings

# ---- mechanisms as calls: counts in, an estimate and the size of what was published out

ROWS_CONSTANT = Fraction(2)
"""C of k = C·S·log₂(n/S), for every decoder alike."""

DECODER_OF = {"compressive": "cosamp", "compressive bp": "basis_pursuit", "compressive tree": "vamp_tree"}
THRESHOLD = "laplace threshold"
EVERY = (*DECODER_OF, "laplace", THRESHOLD, "hierarchical", "privelet", "adaptive")


@dataclass(frozen=True)
class Published:
    """The estimate of every cell, and how many noisy numbers it was made of."""

    cells: Floats
    numbers: int


def publish(
    name: str, counts: Ints, *, sparsity: int, epsilon: str | Fraction, seed: int, source: RandomSource
) -> Published:
    """One release by the contender of that name; the compressive ones are told the true sparsity."""
    if name in DECODER_OF:
        mechanism = compressive(DECODER_OF[name], sparsity, seed)
        synopsis = mechanism.measure(counts, epsilon=epsilon, source=source)
    elif name == THRESHOLD:
        synopsis = Laplace().measure(counts, epsilon=epsilon, source=source)
        return Published(thresholded(synopsis.values.astype(np.float64), sqrt(synopsis.noise_variance)), counts.size)
    else:
        synopsis = MECHANISMS[name]().measure(counts, epsilon=epsilon, source=source)
    return Published(synopsis.recover().values, synopsis.values.size)


def compressive(decoder: str, sparsity: int, seed: int, sensing: str = "hadamard") -> Compressive:
    """Algorithm 1 with a known S and k = 2·S·log₂(n/S)."""
    constants = SelectionConstants(rows_constant=ROWS_CONSTANT)
    return Compressive(sensing=sensing, sparsity=sparsity, recovery=decoder, constants=constants, seed=seed)


def thresholded(noisy: Floats, deviation: float) -> Floats:
    """The Haar coefficients of noisy cells that exceed σ·ln n, and the total: hard thresholding, known since 1994.

    The difference of two Laplace variables exceeds √2·σ·ln n with a probability of (1 + ln n)/n², so that none of n
    coefficients of noise is likely to.
    """
    basis = Haar(noisy.size)
    coefficients = basis.analyze(noisy)
    small = np.abs(coefficients) <= deviation * log(noisy.size)
    small[0] = False
    coefficients[small] = 0.0
    return basis.synthesize(coefficients)


# ---- counts with a known number of Haar coefficients, of the same size whatever the number of cells

SIZE_BITS = 14
SIZE = 2**SIZE_BITS
"""The size a of every detail coefficient, in records; at ε = 1 it is 500 to 2,000 standard deviations of its noise."""


def sparse_counts(cells: int, sparsity: int, chance: np.random.Generator) -> Ints:
    """Whole, non-negative counts with exactly S Haar coefficients: the total, and S − 1 details of ±a.

    A detail of w cells adds a/√w to one half of them and takes it from the other: whole for w = 4, 16, 64, … up to
    a². The widths are drawn evenly, then the places. Every cell stands at a before, so that none falls below zero:
    one detail of each width takes less than a/2 + a/4 + … from a cell.
    """
    levels = min(cells.bit_length() - 1, 2 * SIZE_BITS) // 2
    coefficients = np.zeros(cells)
    coefficients[0] = SIZE * sqrt(cells)
    while np.count_nonzero(coefficients) < sparsity:
        of_this_width = cells // 4 ** int(chance.integers(1, levels + 1))
        place = of_this_width + int(chance.integers(of_this_width))
        coefficients[place] = coefficients[place] or SIZE * chance.choice([-1.0, 1.0])
    return np.rint(Haar(cells).synthesize(coefficients)).astype(np.int64)


def dense_counts(cells: int, most: int, chance: np.random.Generator) -> Ints:
    """Counts from 0 to `most` that have nothing to do with one another: sparse in no basis."""
    return chance.integers(0, most + 1, cells)


# ---- what a recovery costs, counted and not timed


@dataclass(frozen=True)
class CountedProblem(SparseProblem):
    """A sparse problem that notes every product with Φ or its transpose."""

    products: list[str] = field(default_factory=list)

    def forward(self, coefficients: Floats) -> Floats:
        """A x."""
        self.products.append("forward")
        return super().forward(coefficients)

    def adjoint(self, values: Floats) -> Floats:
        """Aᵀ y."""
        self.products.append("adjoint")
        return super().adjoint(values)


def measure_work(settings: Settings) -> Found:
    """Products, additions and the peak of memory, in vectors of n numbers, of one recovery.

    A product with Hadamard rows is n·log₂ n additions, with stored signs n·k.
    """
    cells, sparsity = settings["cells"], settings["sparsity"]
    counts = sparse_counts(cells, sparsity, chance_of(settings))
    mechanism = compressive(settings["decoder"], sparsity, seed_of(settings, "matrix"), settings["sensing"])
    synopsis = mechanism.measure(counts, epsilon=settings["epsilon"], source=noise_of(settings))
    plan, sensing = synopsis.plan.recovery, synopsis.sensing
    decode = DECODERS[settings["decoder"]]
    # Once before it is measured: compiling and importing take memory too, but only the first time.
    decode(plan.problem(sensing, synopsis.values, synopsis.law))
    gc.collect()
    tracemalloc.start()
    rebuilt = type(sensing)(**{key: value for key, value in sensing.describe().items() if key != "name"})
    problem = CountedProblem(**vars(plan.problem(rebuilt, synopsis.values, synopsis.law)))
    decode(problem)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    levels = (cells - 1).bit_length()
    additions = cells * (levels if settings["sensing"] == "hadamard" else sensing.rows)
    return {
        "rows": sensing.rows,
        "products": len(problem.products),
        "additions": len(problem.products) * additions,
        "vectors": round(peak / (8 * cells)),
    }


# ---- the jobs

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


def counts_of(settings: Settings, run: int) -> Ints:
    """The input of a run: the same for every mechanism."""
    if settings["part"] == "dense":
        what = {"input": "dense", "cells": settings["cells"], "most": settings["most"]}
        return dense_counts(settings["cells"], settings["most"], chance_of(what, run))
    what = {"input": "sparse", "cells": settings["cells"], "sparsity": settings["sparsity"]}
    return sparse_counts(settings["cells"], settings["sparsity"], chance_of(what, run))


def _error(settings: Settings, run: int, counts: Ints, epsilon: str | Fraction) -> tuple[float, int]:
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
