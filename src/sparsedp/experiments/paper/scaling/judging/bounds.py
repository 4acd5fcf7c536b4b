"""Judges of the error bounds: Table 1, its lemma, and what is said of other mechanisms."""

from __future__ import annotations

import numpy as np

from sparsedp.experiments.paper.claim import Judgement, Verdict
from sparsedp.experiments.paper.fits import Slope
from sparsedp.experiments.paper.outcomes import Outcomes
from sparsedp.experiments.paper.scaling.contenders import THRESHOLD
from sparsedp.experiments.paper.scaling.judging.laws import Series, rows_at
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

CLOSE, FAR = 0.05, 0.25
"""How far an exponent may be off without a look at its interval, and how far within a wide one."""

MOST_LOGARITHMS = 2.0
HIGH_PROBABILITY = 0.99
"""The paper's."""


def near(slope: Slope, exponent: float) -> bool:
    """Whether the exponent is in the interval or close to the value."""
    off = abs(slope.value - exponent)
    return off <= CLOSE or (slope.holds(exponent) and off <= FAR)


def logarithmic(outcomes: Outcomes, mechanism: str) -> bool:
    """No faster than log n, at the worst size of the signal too.

    That is a power of log(n/S) up to 1, or growth that a straight line in log n fits at least as well as a power of n:
    over ten doublings a + b·log n looks like a power above 1 where a is negative.
    """
    for worst in (False, True):
        growth = growth_of(outcomes, mechanism, worst=worst)
        straight = growth.misfits["a + b·log n"] <= growth.misfits["a power of n"]
        if not (straight or (growth.in_log.low <= 1 and growth.in_log.value <= 1 + FAR)):
            return False
    return True


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
        f"{ends[0][0]:,.0f}, {ends[1][0]:,.0f} and {worst[0]:,.0f}. The gain is the sparsity's, not the projection's: "
        f"Laplace noise on the cells and a threshold in the same basis leave {ends[2][-1]:.1f}."
    )
    holds = near(laplace.in_n, 0.5) and logarithmic(outcomes, "compressive")
    return Judgement(Verdict.HOLDS if holds else Verdict.DOES_NOT_HOLD, measured)


def judge_compressive_row(outcomes: Outcomes) -> Judgement:
    """log n, and 1/ε."""
    strong, worst = growth_of(outcomes, "compressive"), growth_of(outcomes, "compressive", worst=True)
    safe, every = over_epsilon(outcomes, "compressive", safe=True), over_epsilon(outcomes, "compressive")
    laws = ", ".join(f"{law} {misfit:.0%}" for law, misfit in worst.misfits.items())
    measured = (
        f"{_in_words(outcomes)} As powers of n these are {strong.in_n} and {worst.in_n}; the hardest ones are "
        f"{worst.intercept:.0f} + {worst.per_doubling:.1f}·log₂ n over ε, and how far the means are off each law says "
        f"which it is: {laws}. Against ε, from {max(safe.x):g} to {min(safe.x):g}: ε^{safe.slope()}; below, the "
        f"coefficients are lost in the noise, and ε·error rises {_jump(every, safe):.1f}-fold, to its hardest."
    )
    holds = logarithmic(outcomes, "compressive") and near(safe.slope(), -1)
    return Judgement(Verdict.HOLDS if holds else Verdict.DOES_NOT_HOLD, measured)


def _jump(every: Series, safe: Series) -> float:
    """How far ε·error rises at most above what it is where recovery is safe."""
    scaled = every.centre * np.array(every.x)
    return float(scaled.max() / np.mean(safe.centre * np.array(safe.x)))


def judge_laplace_row(outcomes: Outcomes) -> Judgement:
    """√n and 1/ε."""
    in_n, in_epsilon = growth_of(outcomes, "laplace").in_n, over_epsilon(outcomes, "laplace").slope()
    measured = f"Laplace: n^{in_n} and ε^{in_epsilon}."
    return Judgement(Verdict.HOLDS if near(in_n, 0.5) and near(in_epsilon, -1) else Verdict.DOES_NOT_HOLD, measured)


def judge_tree_rows(outcomes: Outcomes) -> Judgement:
    """√n times a power of log n, and 1/ε."""
    parts, holds = [], True
    for name in ("hierarchical", "privelet"):
        plain, hidden = growth_of(outcomes, name).in_n, without_root(outcomes, name).slope()
        in_epsilon = over_epsilon(outcomes, name).slope()
        holds &= plain.value < 0.5 + FAR and -CLOSE <= hidden.value <= MOST_LOGARITHMS and near(in_epsilon, -1)
        parts.append(f"{name} n^{plain} as a plain power, √n·(log n)^{hidden}, ε^{in_epsilon}")
    return Judgement(Verdict.HOLDS if holds else Verdict.DOES_NOT_HOLD, f"{'; '.join(parts)}.")


def judge_with_high_probability(outcomes: Outcomes) -> Judgement:
    """O(log n/ε) in 99 % of the runs: ε·error over k must stay below one number."""
    parts, often = [], True
    for one in outcomes.where(part="often", mechanism="compressive"):
        k = rows_at(one.settings["cells"], one.settings["sparsity"])
        ratios = np.array(one.found["errors"]) / k
        often &= float(np.mean(ratios <= 2)) >= HIGH_PROBABILITY
        parts.append(f"{np.quantile(ratios, HIGH_PROBABILITY):.2f} (n = {one.settings['cells']:,})")
    runs = outcomes.where(part="often").values("runs")[0]
    measured = f"ε·‖D − D*‖₂/k, below which 99 % of {runs} runs are: {', '.join(parts)}. {_in_words(outcomes)}"
    holds = often and logarithmic(outcomes, "compressive")
    return Judgement(Verdict.HOLDS if holds else Verdict.DOES_NOT_HOLD, measured)


def judge_universal(outcomes: Outcomes) -> Judgement:
    """The bound for any input of the class: the hardest size decides; S is a constant of the class."""
    series = over_sparsity(outcomes, "compressive")
    slope = series.slope()
    sparsity = sparsity_of(outcomes)
    worst = hardest_over_cells(outcomes, "compressive")
    constants = [error / np.log2(n) for error, n in zip(worst.centre, worst.x, strict=True)]
    measured = (
        f"Privacy: see the sensitivities. Error on the hardest signals with S = {sparsity}: {min(constants):.0f} to "
        f"{max(constants):.0f} times log₂(n)/ε. The constant is the class's: with S it grows like S^{slope}, so "
        "databases are in one class only if one S does for all of them, however many cells they have."
    )
    return Judgement(Verdict.HOLDS if logarithmic(outcomes, "compressive") else Verdict.DOES_NOT_HOLD, measured)


def judge_laplace_theta(outcomes: Outcomes) -> Judgement:
    """All runs must be within a constant of √n/ε, from both sides."""
    series = over_cells(outcomes, "laplace")
    ratios = [error / np.sqrt(n) for n, errors in zip(series.x, series.errors, strict=True) for error in errors]
    measured = (
        f"‖D − D*‖₂/√n at ε = 1 lies between {min(ratios):.3f} and {max(ratios):.3f} in all {len(ratios)} runs, from "
        f"n = {series.x[0]:,.0f} to {series.x[-1]:,.0f}: √2 for continuous noise, a little less for integers."
    )
    holds = max(ratios) <= 1.5 * min(ratios) and near(growth_of(outcomes, "laplace").in_n, 0.5)
    return Judgement(Verdict.HOLDS if holds else Verdict.DOES_NOT_HOLD, measured)


def judge_no_other(outcomes: Outcomes) -> Judgement:
    """The mechanisms that the paper names are not universal; a threshold on the Laplace mechanism is."""
    named = {name: growth_of(outcomes, name).in_n for name in LOSSLESS}
    strong, worst = growth_of(outcomes, THRESHOLD), growth_of(outcomes, THRESHOLD, worst=True)
    constant = hardest_over_cells(outcomes, THRESHOLD).centre[-1]
    against = hardest_over_cells(outcomes, "compressive").centre[-1]
    shown = ", ".join(f"{name} n^{slope}" for name, slope in named.items())
    measured = (
        f"True of those the paper names: {shown}. But the Laplace mechanism followed by hard thresholding in the same "
        f"basis (Donoho and Johnstone 1994), which is ε-private as well, grows like log(n/S)^{strong.in_log} on strong "
        f"signals and log(n/S)^{worst.in_log} on the hardest: O(log n/ε), with {constant:,.0f} where Compressive has "
        f"{against:,.0f} at the largest n."
    )
    others = all(slope.low > 0.4 for slope in named.values())
    if not others:
        return Judgement(Verdict.DOES_NOT_HOLD, measured)
    if logarithmic(outcomes, THRESHOLD) and constant < against:
        return Judgement(
            Verdict.HOLDS_ONLY, measured, "for the mechanisms as published, without any processing of their output"
        )
    return Judgement(Verdict.HOLDS, measured)


def judge_bound_in_sparsity(outcomes: Outcomes) -> Judgement:
    """C₄·S·log₂(n/S)/ε must be above the errors for one C₄; it grows with S no faster than S itself."""
    parts, holds = [], True
    for name, label in (("compressive", "CoSaMP"), ("compressive bp", "basis pursuit")):
        series = over_sparsity(outcomes, name)
        cells = outcomes.where(part="sparsity").values("cells")[0]
        spread = [s * float(np.log2(cells / s)) for s in series.x]
        slope = series.against(spread).slope()
        constants = [max(errors) / wide for errors, wide in zip(series.errors, spread, strict=True)]
        holds &= series.slope().low <= 1 + CLOSE and max(constants) <= 10
        parts.append(
            f"{label}: (S·log(n/S))^{slope}, or S^{series.slope()}, and C₄ = {max(constants):.2f} is above every run"
        )
    epsilon = over_epsilon(outcomes, "compressive", safe=True).slope()
    measured = f"Against S at n = {cells:,}: {'; '.join(parts)}. Against ε (CoSaMP): ε^{epsilon}."
    return Judgement(Verdict.HOLDS if holds and near(epsilon, -1) else Verdict.DOES_NOT_HOLD, measured)
