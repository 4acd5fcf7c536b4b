"""Judges of the error bounds: Table 1, its lemma, and what is said of other mechanisms."""

from __future__ import annotations

import numpy as np
from scipy import stats

from sparsedp.experiments.paper.claim import Judgement, Verdict
from sparsedp.experiments.paper.deciding import Answer, at_most, every, judged, near
from sparsedp.experiments.paper.fits import LEVEL, Slope
from sparsedp.experiments.paper.outcomes import Outcomes
from sparsedp.experiments.paper.scaling.contenders import THRESHOLD
from sparsedp.experiments.paper.scaling.judging.laws import Growth, rows_at
from sparsedp.experiments.paper.scaling.judging.reading import (
    LOSSLESS,
    growth_of,
    hardest_over_cells,
    over_cells,
    over_epsilon,
    over_sparsity,
    sparsity_of,
    without_root,
)
from sparsedp.experiments.paper.series import Series

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
