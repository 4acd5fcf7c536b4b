"""Judges of what the mechanism costs, of the size of synopses, and of inputs that are not sparse."""

from __future__ import annotations

import numpy as np

from sparsedp.experiments.paper.claim import Judgement, Verdict
from sparsedp.experiments.paper.fits import Slope, power_law
from sparsedp.experiments.paper.outcomes import Outcomes
from sparsedp.experiments.paper.scaling.judging.bounds import CLOSE, FAR, near
from sparsedp.experiments.paper.scaling.judging.laws import series_over
from sparsedp.experiments.paper.scaling.judging.reading import LOSSLESS, growth_of, over_cells, sparsity_of

NEARLY_LINEAR = 1.2
"""n·log n and n·log² n look like powers of n up to this, for n from a thousand to a million."""

BY_THE_COUNTS = 0.9


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
    parts, holds = [], True
    for sensing, decoder in (("hadamard", "cosamp"), ("hadamard", "vamp_tree"), ("bernoulli", "cosamp")):
        time, space = (
            trend_of_work(outcomes, key, sensing=sensing, decoder=decoder) for key in ("additions", "vectors")
        )
        holds &= time.value <= NEARLY_LINEAR and space.value <= NEARLY_LINEAR
        parts.append(f"{sensing} and {decoder}: additions n^{time}, memory n^{space}")
    last = list(outcomes.where(part="work", sensing="hadamard", decoder="cosamp"))[-1]
    measured = (
        f"Counted, not timed. {'; '.join(parts)}. With Hadamard rows a release of n = {last.settings['cells']:,} cells "
        f"takes {last.found['products']} products of n·log₂ n additions and {last.found['vectors']} vectors of n "
        "numbers. With i.i.d. signs, as in Algorithm 1, both have a factor k, which is logarithmic only as long as S "
        "is a constant."
    )
    return Judgement(Verdict.HOLDS if holds else Verdict.DOES_NOT_HOLD, measured)


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
    holds = near(slope, 1) and growth.in_log.low <= 1
    return Judgement(Verdict.HOLDS if holds else Verdict.DOES_NOT_HOLD, measured)


def judge_lossless(outcomes: Outcomes) -> Judgement:
    """Size and budget: the size is linear; the budget that keeps an error is not."""
    sizes, budgets = {}, {}
    for name in LOSSLESS:
        cells, numbers = numbers_of(outcomes, name)
        sizes[name] = power_law(cells, [[number] for number in numbers]).value
        # The error is inversely proportional to ε: what it grows like at one ε, the budget grows like at one error.
        budgets[name] = over_cells(outcomes, name).slope()
    linear = all(abs(size - 1) <= CLOSE for size in sizes.values())
    as_linear = all(abs(budget.value - 1) <= CLOSE for budget in budgets.values())
    shown = ", ".join(f"{name} n^{sizes[name]:.2f} numbers, budget n^{budgets[name]}" for name in LOSSLESS)
    measured = (
        f"{shown}, where the budget is the ε that keeps ‖D − D*‖₂ the same as n grows. To keep the noise on each "
        "published number the same it is constant (Laplace) or grows like 1 + log₂ n (trees, wavelets)."
    )
    if linear and as_linear:
        return Judgement(Verdict.HOLDS, measured)
    if linear:
        return Judgement(
            Verdict.HOLDS_ONLY, measured, "for the size; the budget grows like √n at most, up to logarithms"
        )
    return Judgement(Verdict.DOES_NOT_HOLD, measured)


def judge_any_input(outcomes: Outcomes) -> Judgement:
    """n^(2/3)/ε with S = n^(2/3), but only as long as the counts are bounded."""
    dense = outcomes.where(part="dense")
    growing = series_over(dense.where(series="two thirds"), "cells")
    counts = series_over(dense.where(series="counts"), "most")
    slope = growing.slope()
    ratios = [error / n ** (2 / 3) for error, n in zip(growing.centre, growing.x, strict=True)]
    late = _late_slope(counts.x, counts.centre.tolist())
    most = dense.where(series="two thirds").values("most")[0]
    measured = (
        f"Random counts up to {most}, S = n^(2/3): the error grows like n^{slope}, from {ratios[0]:.0f} to "
        f"{ratios[-1]:.0f} times n^(2/3)/ε; the logarithm in the rows is left out of the paper's bound. And it is no "
        f"bound for any input: at n = {dense.where(series='counts').values('cells')[0]:,} the error grows with the "
        f"counts, from {counts.centre[0]:,.0f} for those up to {counts.x[0]:,.0f} to {counts.centre[-1]:,.0f} for "
        f"those up to {counts.x[-1]:,.0f}, in the end like their {late:.2f}-th power, whatever ε is."
    )
    unbounded = late >= BY_THE_COUNTS
    if slope.low > 2 / 3 + FAR:
        return Judgement(Verdict.DOES_NOT_HOLD, measured)
    if unbounded:
        return Judgement(
            Verdict.HOLDS_ONLY, measured, "for counts below a fixed bound, with S = n^(2/3) and up to logarithms"
        )
    return Judgement(Verdict.HOLDS, measured)


def _late_slope(x: list[float], errors: list[float]) -> float:
    """The power of the last two points."""
    return float(np.log(errors[-1] / errors[-2]) / np.log(x[-1] / x[-2]))


def judge_not_sparse(outcomes: Outcomes) -> Judgement:
    """O(n/√S + θ) on dense inputs of bounded counts, and far from D it is."""
    found = list(outcomes.where(part="dense", series="fixed"))
    series = series_over(outcomes.where(part="dense", series="fixed"), "cells")
    sparsity, most = found[0].settings["sparsity"], found[0].settings["most"]
    slope = series.slope()
    flat = [most / np.sqrt(12) * np.sqrt(n) for n in series.x]
    counts = series_over(outcomes.where(part="dense", series="counts"), "most")
    late = _late_slope(counts.x, counts.centre.tolist())
    measured = (
        f"Random counts up to {most}, S = {sparsity}: the error grows like n^{slope}, slower than the bound's n, and "
        f"is {series.centre[-1] / flat[-1]:.2f} times that of publishing the mean in every cell (n = "
        f"{series.x[-1]:,.0f}): nothing of the input is recovered. With larger counts it grows like their "
        f"{late:.2f}-th power."
    )
    if slope.low > 1:
        return Judgement(Verdict.DOES_NOT_HOLD, measured)
    if late >= BY_THE_COUNTS:
        return Judgement(Verdict.HOLDS_ONLY, measured, "for counts below a fixed bound")
    return Judgement(Verdict.HOLDS, measured)
