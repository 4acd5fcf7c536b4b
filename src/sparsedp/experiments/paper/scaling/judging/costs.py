"""Judges of what the mechanism costs, and of the size of synopses."""

from __future__ import annotations

import numpy as np

from sparsedp.experiments.paper.claim import Judgement, Verdict
from sparsedp.experiments.paper.deciding import at_most, every, judged, near
from sparsedp.experiments.paper.fits import Slope, power_law
from sparsedp.experiments.paper.outcomes import Outcomes
from sparsedp.experiments.paper.scaling.judging.bounds import ROOM, grows_logarithmically
from sparsedp.experiments.paper.scaling.judging.reading import LOSSLESS, growth_of, over_cells, sparsity_of

NEARLY_LINEAR = 1.2
"""n·log n and n·log² n look like powers of n up to this, for n from a thousand to a million."""


def trend_of_work(outcomes: Outcomes, key: str, **settings: str) -> Slope:
    """The power of n with which a cost grows."""
    found = [(one.settings["cells"], one.found[key]) for one in outcomes.where(part="work", **settings)]
    costs = [[cost * (cells if key == "vectors" else 1)] for cells, cost in found]
    return power_law([cells for cells, _ in found], costs)


def numbers_of(outcomes: Outcomes, mechanism: str) -> tuple[list[int], list[int]]:
    """n, and how many noisy numbers are published."""
    found = list(outcomes.where(part="cells", mechanism=mechanism))
    return [one.settings["cells"] for one in found], [one.found["numbers"] for one in found]


def judge_complexity(outcomes: Outcomes) -> Judgement:
    """Additions and memory must grow like n, up to logarithms."""
    parts, answers = [], []
    for sensing, decoder in (("hadamard", "cosamp"), ("hadamard", "vamp_tree"), ("bernoulli", "cosamp")):
        time, space = (
            trend_of_work(outcomes, key, sensing=sensing, decoder=decoder) for key in ("additions", "vectors")
        )
        answers += [at_most(time, NEARLY_LINEAR), at_most(space, NEARLY_LINEAR)]
        parts.append(f"{sensing} and {decoder}: additions n^{time}, memory n^{space}")
    last = list(outcomes.where(part="work", sensing="hadamard", decoder="cosamp"))[-1]
    measured = (
        f"Counted, not timed. {'; '.join(parts)}. With Hadamard rows a release of n = {last.settings['cells']:,} cells "
        f"takes {last.found['products']} products of n·log₂ n additions and {last.found['vectors']} vectors of n "
        "numbers. With i.i.d. signs, as in Algorithm 1, both have a factor k, which is logarithmic only as long as S "
        f"is a constant. (Õ(n): up to n^{NEARLY_LINEAR}, which is what n·log² n looks like here.)"
    )
    return judged(every(*answers), measured)


def judge_size_of_sample(outcomes: Outcomes) -> Judgement:
    """k must grow like log n, and what is recovered from it stay good."""
    cells, numbers = numbers_of(outcomes, "compressive")
    sparsity = sparsity_of(outcomes)
    slope = power_law([float(np.log2(n / sparsity)) for n in cells], [[k] for k in numbers])
    growth = growth_of(outcomes, "compressive")
    measured = (
        f"From n = {cells[0]:,} to {cells[-1]:,} the samples grow from {numbers[0]:,} to {numbers[-1]:,}, like "
        f"log(n/S)^{slope.value:.2f}, and the error of what is recovered from them like log(n/S)^{growth.in_log}."
    )
    return judged(every(near(slope, 1, ROOM), grows_logarithmically(growth)), measured)


def judge_lossless(outcomes: Outcomes) -> Judgement:
    """Size and budget: that the size is linear is counted; the budget is the one that keeps an error."""
    sizes, budgets = {}, {}
    for name in LOSSLESS:
        cells, numbers = numbers_of(outcomes, name)
        sizes[name] = power_law(cells, [[number] for number in numbers]).value
        # The error is inversely proportional to ε: what it grows like at one ε, the budget grows like at one error.
        budgets[name] = over_cells(outcomes, name).power
    linear = all(abs(size - 1) <= ROOM for size in sizes.values())
    as_linear = every(*(near(budget, 1, ROOM) for budget in budgets.values()))
    shown = ", ".join(f"{name} n^{sizes[name]:.2f} numbers, budget n^{budgets[name]}" for name in LOSSLESS)
    measured = (
        f"{shown}, where the budget is the ε that keeps ‖D − D*‖₂ the same as n grows. By their definition, to keep "
        "the noise on each published number the same it is constant (Laplace) or grows like 1 + log₂ n (trees, "
        "wavelets)."
    )
    if linear and as_linear is False:
        least, most = (end(budget.value for budget in budgets.values()) for end in (min, max))
        only = f"for the size; the budget grows like n^{least:.2f} to n^{most:.2f}"
        return Judgement(Verdict.HOLDS_ONLY, measured, only)
    return judged(every(linear, as_linear), measured)
