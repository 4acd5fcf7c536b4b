"""What the paper says of how errors and costs grow, in the static case, judged by fitted laws."""

from __future__ import annotations

from math import hypot

import numpy as np
from scipy import stats

from studies.paper.deciding import (
    LEVEL,
    Answer,
    Series,
    Slope,
    at_most,
    every,
    judged,
    mean_interval,
    near,
    power_law,
)
from studies.paper.experiment import Claim, Judgement, Outcomes, Verdict
from studies.paper.scaling.laws import (
    LOSSLESS,
    Growth,
    growth_of,
    hardest_over_cells,
    over_cells,
    over_epsilon,
    over_sparsity,
    rows_at,
    series_over,
    sparsity_of,
    without_root,
)
from studies.paper.scaling.measuring import THRESHOLD

# ---- error bounds: Table 1, its lemma, and what is said of other mechanisms

ROOM, FAR = 0.1, 0.25
"""How far an exponent may be off the one that is claimed, and how far above a bound: logarithms look like powers."""

TELLS_LOGARITHMS = 1.0
"""With a wider interval of the power of log(n/S) it cannot be told which law fits."""
MOST_LOGARITHMS = 2.0
HIGH_PROBABILITY = 0.99
"""The paper's."""
SAMPLES = 2.0
"""The error of nearly every run is to be at most so many times k/ε."""
SAME = 1.5
"""Of the largest over the smallest of errors that are all alike."""
RISES = 1.5
NO_LOGARITHM = 0.4
"""A power of n that is above it is no logarithm."""


def grows_logarithmically(growth: Growth) -> Answer:
    """No faster than log n.

    That is a power of log(n/S) up to 1, or growth that a straight line in log n fits at least as well as a power of n:
    over ten doublings a + b·log n looks like a power above 1 where a is negative.
    """
    within = at_most(growth.in_log, 1 + FAR)
    straight = growth.misfits["a + b·log n"] <= growth.misfits["a power of n"]
    if within is True or not straight:
        return within
    return True if growth.in_log.high - growth.in_log.low <= TELLS_LOGARITHMS else None


def logarithmic(outcomes: Outcomes, mechanism: str) -> Answer:
    """At the worst size of the signal too."""
    return every(*(grows_logarithmically(growth_of(outcomes, mechanism, worst=worst)) for worst in (False, True)))


def _in_words(outcomes: Outcomes) -> str:
    """How the paper's mechanism grows."""
    strong, worst = growth_of(outcomes, "compressive"), growth_of(outcomes, "compressive", worst=True)
    pursuit = growth_of(outcomes, "compressive bp")
    sizes = over_cells(outcomes, "compressive").x
    return (
        f"CoSaMP's error grows like log(n/S)^{strong.in_log} on strong signals and log(n/S)^{worst.in_log} on the "
        f"hardest, basis pursuit's like log(n/S)^{pursuit.in_log} (n from 2^{np.log2(sizes[0]):.0f} to "
        f"2^{np.log2(sizes[-1]):.0f}, S = {sparsity_of(outcomes)})."
    )


def judge_reduction(outcomes: Outcomes) -> Judgement:
    """√n for noise on the cells, log n for noise on the samples."""
    laplace = growth_of(outcomes, "laplace")
    ends = [over_cells(outcomes, name).centre for name in ("laplace", "compressive", THRESHOLD)]
    worst = hardest_over_cells(outcomes, "compressive").centre
    measured = (
        f"Laplace grows like n^{laplace.in_n}; {_in_words(outcomes)} Errors at the largest n: Laplace "
        f"{ends[0][-1]:,.0f}, Compressive {ends[1][-1]:,.0f}, on the hardest signals {worst[-1]:,.0f}; at the smallest "
        f"{ends[0][0]:,.0f}, {ends[1][0]:,.0f} and {worst[0]:,.0f}. Laplace noise on the cells and a threshold in the "
        f"same basis leave {ends[2][-1]:.1f} on strong signals"
    )
    measured += ": the gain is the sparsity's, not the projection's." if ends[2][-1] < ends[1][-1] else "."
    return judged(every(near(laplace.in_n, 0.5, ROOM), logarithmic(outcomes, "compressive")), measured)


def judge_compressive_row(outcomes: Outcomes) -> Judgement:
    """log n, and 1/ε."""
    strong, worst = growth_of(outcomes, "compressive"), growth_of(outcomes, "compressive", worst=True)
    safe, whole = over_epsilon(outcomes, "compressive", safe=True), over_epsilon(outcomes, "compressive")
    laws = ", ".join(f"{law} {misfit:.0%}" for law, misfit in worst.misfits.items())
    measured = (
        f"{_in_words(outcomes)} As powers of n these are {strong.in_n} and {worst.in_n}; the hardest ones are "
        f"{worst.intercept:.0f} + {worst.per_doubling:.1f}·log₂ n over ε, and so far are their means off each law: "
        f"{laws}. Against ε, from {max(safe.x):g} to {min(safe.x):g}: ε^{safe.power}"
    )
    jump = _jump(whole, safe)
    measured += f"; below, ε·error rises {jump:.1f}-fold, as coefficients are lost." if jump > RISES else "."
    return judged(every(logarithmic(outcomes, "compressive"), near(safe.power, -1, ROOM)), measured)


def _jump(whole: Series, safe: Series) -> float:
    """How far ε·error rises at most above what it is where recovery is safe."""
    scaled = whole.centre * np.array(whole.x)
    return float(scaled.max() / np.mean(safe.centre * np.array(safe.x)))


def judge_laplace_row(outcomes: Outcomes) -> Judgement:
    """√n and 1/ε."""
    in_n, in_epsilon = growth_of(outcomes, "laplace").in_n, over_epsilon(outcomes, "laplace").power
    answer = every(near(in_n, 0.5, ROOM), near(in_epsilon, -1, ROOM))
    return judged(answer, f"Laplace: n^{in_n} and ε^{in_epsilon}.")


def judge_tree_rows(outcomes: Outcomes) -> Judgement:
    """√n times a power of log n, and 1/ε."""
    parts, answers = [], []
    for name in ("hierarchical", "privelet"):
        plain, hidden = growth_of(outcomes, name).in_n, without_root(outcomes, name).power
        in_epsilon = over_epsilon(outcomes, name).power
        answers += [at_most(plain, 0.5 + FAR), at_most(hidden, MOST_LOGARITHMS), near(in_epsilon, -1, ROOM)]
        parts.append(f"{name} n^{plain} as a plain power, √n·(log n)^{hidden}, ε^{in_epsilon}")
    measured = f"{'; '.join(parts)}. Õ is taken to hide (log n)^{MOST_LOGARITHMS:g} at most."
    return judged(every(*answers), measured)


def judge_with_high_probability(outcomes: Outcomes) -> Judgement:
    """O(log n/ε) in 99 % of the runs: ε·error over k must stay below one number."""
    parts, below, runs = [], 0, 0
    for one in outcomes.where(part="often", mechanism="compressive"):
        k = rows_at(one.settings["cells"], one.settings["sparsity"])
        ratios = np.array(one.found["errors"]) / k
        below, runs = below + int(np.sum(ratios <= SAMPLES)), runs + ratios.size
        parts.append(f"{np.quantile(ratios, HIGH_PROBABILITY):.2f} (n = {one.settings['cells']:,})")
    low, high = stats.binomtest(below, runs).proportion_ci(LEVEL)
    often: Answer = True if low >= HIGH_PROBABILITY else (False if high < HIGH_PROBABILITY else None)
    measured = (
        f"On strong signals only: ε·‖D − D*‖₂/k, below which 99 % of the runs at each n are: {', '.join(parts)}; at "
        f"most {SAMPLES:g} in {below:,} of all {runs:,} (a share of {low:.3f} at least). On the hardest there are too "
        f"few runs to see 99 % of them, only how they grow: {_in_words(outcomes)}"
    )
    return judged(every(often, logarithmic(outcomes, "compressive")), measured)


def judge_universal(outcomes: Outcomes) -> Judgement:
    """The bound for any input of the class: the hardest size decides; S is a constant of the class."""
    slope = over_sparsity(outcomes, "compressive").power
    sparsity = sparsity_of(outcomes)
    worst = hardest_over_cells(outcomes, "compressive")
    constants = [error / np.log2(n) for error, n in zip(worst.centre, worst.x, strict=True)]
    measured = (
        f"Privacy: see the sensitivities. Error on the hardest signals with S = {sparsity}: {min(constants):.0f} to "
        f"{max(constants):.0f} times log₂(n)/ε; {_in_words(outcomes)} With S the constant grows like S^{slope}: "
        "databases are in one class only if one S does for all of them, however many cells they have."
    )
    return judged(logarithmic(outcomes, "compressive"), measured)


def judge_laplace_theta(outcomes: Outcomes) -> Judgement:
    """All runs must be within a constant of √n/ε, from both sides."""
    series = over_cells(outcomes, "laplace")
    ratios = [error / np.sqrt(n) for n, errors in zip(series.x, series.errors, strict=True) for error in errors]
    slope = growth_of(outcomes, "laplace").in_n
    measured = (
        f"‖D − D*‖₂/√n at ε = 1 lies between {min(ratios):.3f} and {max(ratios):.3f} in all {len(ratios)} runs, from "
        f"n = {series.x[0]:,.0f} to {series.x[-1]:,.0f}, and grows like n^{slope}. (Asked for: the largest at most "
        f"{SAME} times the smallest.)"
    )
    return judged(every(max(ratios) <= SAME * min(ratios), near(slope, 0.5, ROOM)), measured)


def judge_no_other(outcomes: Outcomes) -> Judgement:
    """The mechanisms that the paper names are not universal; a threshold on the Laplace mechanism may be."""
    named = {name: growth_of(outcomes, name).in_n for name in LOSSLESS}
    strong, worst = growth_of(outcomes, THRESHOLD), growth_of(outcomes, THRESHOLD, worst=True)
    constant = hardest_over_cells(outcomes, THRESHOLD).centre[-1]
    against = hardest_over_cells(outcomes, "compressive").centre[-1]
    threshold = logarithmic(outcomes, THRESHOLD)
    is_it = {True: "which is O(log n/ε)", False: "which is not O(log n/ε)", None: "which may or may not be O(log n/ε)"}
    measured = (
        f"Those the paper names: {', '.join(f'{name} n^{slope}' for name, slope in named.items())}. The Laplace "
        "mechanism followed by hard thresholding in the same basis (Donoho and Johnstone 1994), ε-private as well, "
        f"grows like log(n/S)^{strong.in_log} on strong signals and log(n/S)^{worst.in_log} on the hardest, "
        f"{is_it[threshold]}, with {constant:,.0f} where Compressive has {against:,.0f} at the largest n."
    )
    others = every(*(_no_logarithm(slope) for slope in named.values()))
    if others is not True:
        return judged(others, measured)
    if threshold:
        return Judgement(
            Verdict.HOLDS_ONLY, measured, "for the mechanisms as published, without any processing of their output"
        )
    return judged(None if threshold is None else True, measured)


def _no_logarithm(slope: Slope) -> Answer:
    """Whether it is a power of n for sure."""
    if slope.low > NO_LOGARITHM:
        return True
    return False if slope.high < NO_LOGARITHM else None


# ---- what the mechanism costs, and the size of synopses

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


# ---- inputs that are not sparse

BY_THE_COUNTS = 0.9
"""An error that grows with this power of the largest count at least has no bound that is the same for all inputs."""


def judge_any_input(outcomes: Outcomes) -> Judgement:
    """n^(2/3)/ε with S = n^(2/3), but only as long as the counts are bounded."""
    dense = outcomes.where(part="dense")
    growing = series_over(dense.where(series="two thirds"), "cells")
    counts = series_over(dense.where(series="counts"), "most")
    slope, late = growing.power, late_slope(counts)
    ratios = [error / n ** (2 / 3) for error, n in zip(growing.centre, growing.x, strict=True)]
    most = dense.where(series="two thirds").values("most")[0]
    bounded, unbounded = at_most(slope, 2 / 3 + FAR), grows_with_counts(late)
    measured = (
        f"Random counts up to {most}, S = n^(2/3): the error grows like n^{slope}, from {ratios[0]:.0f} to "
        f"{ratios[-1]:.0f} times n^(2/3)/ε (up to n^{2 / 3 + FAR:.2f} is put down to the logarithm in the rows, which "
        f"the paper's bound leaves out). At n = {dense.where(series='counts').values('cells')[0]:,} it goes from "
        f"{counts.centre[0]:,.0f} for counts up to {counts.x[0]:,.0f} to {counts.centre[-1]:,.0f} for those up to "
        f"{counts.x[-1]:,.0f}, in the end like their {late}-th power"
    )
    measured += ": no bound for any input." if unbounded else "."
    if bounded and unbounded:
        only = "for counts below a fixed bound, with S = n^(2/3) and up to logarithms"
        return Judgement(Verdict.HOLDS_ONLY, measured, only)
    return judged(every(bounded, _not(unbounded)), measured)


def judge_not_sparse(outcomes: Outcomes) -> Judgement:
    """O(n/√S + θ) on dense inputs of bounded counts, and how far from D that is."""
    found = list(outcomes.where(part="dense", series="fixed"))
    series = series_over(outcomes.where(part="dense", series="fixed"), "cells")
    sparsity, most = found[0].settings["sparsity"], found[0].settings["most"]
    slope, late = series.power, late_slope(series_over(outcomes.where(part="dense", series="counts"), "most"))
    over_mean = series.centre[-1] / (most / np.sqrt(12) * np.sqrt(series.x[-1]))
    bounded, unbounded = at_most(slope, 1.0), grows_with_counts(late)
    measured = (
        f"Random counts up to {most}, S = {sparsity}: the error grows like n^{slope}, the bound like n; it is "
        f"{over_mean:.2f} times that of publishing the mean in every cell (n = {series.x[-1]:,.0f})"
    )
    measured += ": nothing of the input is recovered. " if over_mean >= 1 else ". "
    measured += f"With larger counts it grows like their {late}-th power."
    if bounded and unbounded:
        return Judgement(Verdict.HOLDS_ONLY, measured, "for counts below a fixed bound")
    return judged(every(bounded, _not(unbounded)), measured)


def late_slope(series: Series) -> Slope:
    """The power of the last two points, with an interval from the scatter of their runs."""
    (before, low, _), (last, lower, _) = (mean_interval(np.log(runs).tolist()) for runs in series.errors[-2:])
    apart = float(np.log(series.x[-1] / series.x[-2]))
    value, half = (last - before) / apart, hypot(before - low, last - lower) / apart
    return Slope(value, value - half, value + half)


def grows_with_counts(late: Slope) -> Answer:
    """Whether the error is in proportion to the counts in the end."""
    if late.low >= BY_THE_COUNTS:
        return True
    return False if late.high < BY_THE_COUNTS else None


def _not(answer: Answer) -> Answer:
    return None if answer is None else not answer


# ---- the sentences

_TABLE = "Error bounds (in terms of ||D − D*||₂) for the identity query:"

CLAIMS = (
    Claim(
        "Abstract",
        "In this paper, we show that the amount of noise is significantly reduced from O(√n) to O(log(n)), when the "
        "noise insertion procedure is carried on the synopsis samples instead of the original database.",
        judge_reduction,
    ),
    Claim(
        "Section 1",
        "Consequently, the size of these synopses, as well as the privacy budget they require, grow linearly with the "
        "size of the dataset.",
        judge_lossless,
    ),
    Claim("Section 3.2", "The sampling process reduces the data size from O(n) to O(log n).", judge_size_of_sample),
    Claim(
        "Section 3.2, Corollary 2",
        "Suppose A satisfies RIP and ||e||₂ ≤ θ. If D has no sparse representation, then ||D − D*||₂ = O(n/√S + θ).",
        judge_not_sparse,
    ),
    Claim(
        "Section 3.2",
        "Finally, we remark that the time complexity and the space complexity of compressed sensing are both Õ(n).",
        judge_complexity,
    ),
    Claim(
        "Section 4",
        "The Laplacian mechanism is not a universal mechanism, as it introduces too much error. Suppose we use it to "
        "answer the identity query for D, producing D*. With high probability ||D − D*||₂ = Θ(√n/ε) (by using a "
        "Chernoff-like argument).",
        judge_laplace_theta,
    ),
    Claim(
        "Section 4", "Nor is any other known ε-differentially private randomized mechanism universal.", judge_no_other
    ),
    Claim("Section 4, Table 1", f"{_TABLE} Compressive Mechanism, O(log n/ε)", judge_compressive_row),
    Claim("Section 4, Table 1", f"{_TABLE} Laplacian Mechanism, O(√n/ε)", judge_laplace_row),
    Claim("Section 4, Table 1", f"{_TABLE} [Privelet, HRMS], Õ(√n/ε)", judge_tree_rows),
    Claim("Section 5.2, Lemma 5", "With high probability, ||D − D*||₂ = O(log(n)/ε).", judge_with_high_probability),
    Claim(
        "Section 5.2, Theorem 1",
        "The compressive mechanism is a universal mechanism with respect to databases with a sparse representation.",
        judge_universal,
    ),
    Claim(
        "Section 5.3",
        "In other words, for any input D ∈ ℝⁿ we guarantee ||D* − D||₂ = O(n^(2/3)/ε) (from Corollary 2), while for "
        "D ∈ X, ||D* − D||₂ ≤ O(log(n)/ε) with high probability.",
        judge_any_input,
    ),
    Claim(
        "Section 5.3",
        "The time and space complexity of the compressive mechanism are both Õ(n).",
        judge_complexity,
    ),
)
