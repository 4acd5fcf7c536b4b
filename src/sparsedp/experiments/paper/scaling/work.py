"""What a recovery costs, counted and not timed: products with Φ, the additions in them, and memory."""

from __future__ import annotations

import gc
import tracemalloc
from dataclasses import dataclass, field

from sparsedp.arrays import Floats
from sparsedp.experiments.paper.outcomes import Found, Settings
from sparsedp.experiments.paper.scaling.contenders import compressive
from sparsedp.experiments.paper.scaling.signals import sparse_counts
from sparsedp.experiments.paper.seeds import chance_of, noise_of, seed_of
from sparsedp.recovery.problem import SparseProblem
from sparsedp.recovery.registry import DECODERS


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
