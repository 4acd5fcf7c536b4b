"""Judges of what is said about inputs that are not sparse."""

from __future__ import annotations

from math import hypot

import numpy as np

from sparsedp.experiments.paper.claim import Judgement, Verdict
from sparsedp.experiments.paper.deciding import Answer, at_most, every, judged
from sparsedp.experiments.paper.fits import Slope, mean_interval
from sparsedp.experiments.paper.outcomes import Outcomes
from sparsedp.experiments.paper.scaling.judging.bounds import FAR
from sparsedp.experiments.paper.scaling.judging.laws import series_over
from sparsedp.experiments.paper.series import Series

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
