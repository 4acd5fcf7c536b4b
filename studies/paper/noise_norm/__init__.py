"""How large the noise ‖e‖₂ of the compressive mechanism is, against the bound that the paper takes from Chebyshev."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from studies.paper.deciding import mean_interval
from studies.paper.drawing import BLACK, BLUE, GREEN, GREY, ORANGE, VERMILION, Look, canvas, legend_below, save
from studies.paper.experiment import Experiment, Numbers, Outcomes, Picture
from studies.paper.noise_norm.claims import CLAIMS, worst
from studies.paper.noise_norm.measuring import CORRECTED, PAPER, bound, jobs, measure, most_by_moments

# ---- tables


def tabulate(outcomes: Outcomes) -> list[Numbers]:
    """Moments, and the worst δ of both bounds."""
    moments = []
    for one in outcomes.where(part="draws"):
        k = one.settings["rows"]
        means, variances = (mean_interval(one.found[name]) for name in ("means", "variances"))
        moments.append(
            (
                f"{k:,}",
                f"{one.settings['draws']:,}",
                "{:.4f} [{:.4f}, {:.4f}]".format(*(mean / k for mean in means)),
                "{:.2f} [{:.2f}, {:.2f}]".format(*(variance / k for variance in variances)),
            )
        )
    bounds = []
    for one in outcomes.where(part="exact"):
        row = [f"{one.settings['rows']:,}"]
        for key, under_root in (("paper", PAPER), ("corrected", CORRECTED)):
            low, high, delta = worst(one.found, key)
            row += [f"{low:.3f} … {high:.3f}", f"{delta:.3f}", f"{most_by_moments(delta, under_root) / delta:.2f}"]
        bounds.append(tuple(row))
    headings = ("P/δ, paper's bound", "at δ =", "most by moments", "P/δ, Chebyshev's", "at δ =", "most by moments")
    return [
        Numbers(
            "E Y/(kλ²) and Var Y/(kλ⁴) of the drawn noise, Y = ‖e‖₂²; the paper has 2 and 20.",
            ("k", "draws", "E Y/(kλ²)", "Var Y/(kλ⁴)"),
            tuple(moments),
        ),
        Numbers(
            "The largest P(Y > bound)/δ over δ from 10⁻³ to 0.9, exactly, between two bounds; 1 is what is claimed. "
            "Beside it the most that a law with the same mean and variance can reach at that δ.",
            ("k", *headings),
            tuple(bounds),
        ),
    ]


# ---- how often the noise exceeds its bounds, and how far below them it stays

SERIES = (
    Look("", VERMILION, "o", "-"),
    Look("", BLUE, "s", "--"),
    Look("", GREEN, "^", "-."),
    Look("", ORANGE, "D", (0, (6, 2))),
    Look("", BLACK, "P", ":"),
)


def draw(outcomes: Outcomes, folder: Path) -> list[Picture]:
    """Three panels: P(Y > bound)/δ for both bounds, and quantiles beside the bounds."""
    figure, axes = canvas(1, 3, width=4.6, height=3.6)
    exact, drawn = outcomes.where(part="exact"), outcomes.where(part="draws")
    looks = _looks([rows for rows in exact.values("rows") if rows in drawn.values("rows")])
    for axis, key, under_root, title in (
        (axes[0, 0], "paper", PAPER, "the paper's bound, 2λ²(k + √(2k/δ))"),
        (axes[0, 1], "corrected", CORRECTED, "Chebyshev's bound, 2λ²(k + √(5k/δ))"),
    ):
        _exceedance(axis, exact, drawn, looks, key, under_root)
        axis.set_title(title, loc="left")
    axes[0, 1].sharey(axes[0, 0])
    _quantiles(axes[0, 2], exact, drawn, looks)
    legend_below(figure, axes, columns=4)
    most = max(worst(one.found, "paper")[1] for one in exact)
    caption = (
        "Left and middle: the probability that ‖e‖₂² exceeds a bound, over the δ that the bound allows; lines are "
        "exact, marks are drawn with the mechanism's own discrete noise at ε = 0.1. The black line is what is claimed. "
        "The grey one is the most that a law with this mean and this variance can do: above 1 on the left, so that "
        f"the paper's bound does not follow from them. Laplace noise itself has {most:.2f}·δ there at most. Right: "
        "the level that the noise really exceeds with probability δ, beside the two bounds for one k."
    )
    return [Picture(save(figure, folder / "noise-norm.png"), caption)]


def _looks(rows: list[int]) -> dict[int, Look]:
    kept = [rows[round(place)] for place in np.linspace(0, len(rows) - 1, min(len(rows), len(SERIES)))]
    return {k: replace(series, label=f"Laplace noise, k = {k}") for k, series in zip(kept, SERIES, strict=False)}


def _exceedance(axis: Any, exact: Outcomes, drawn: Outcomes, looks: dict[int, Look], key: str, under_root: int) -> None:
    deltas = np.geomspace(1e-3, 0.9, 60)
    most = [most_by_moments(delta, under_root) / delta for delta in deltas]
    axis.plot(deltas, most, **Look("most for this mean and variance", GREY, "", "-", 2.4).style())
    axis.plot([1e-3, 1], [1, 1], **Look("what is claimed", BLACK, "", "-", 1.0).style())
    for k, look in looks.items():
        found = exact.only(rows=k).found
        ratios = [np.mean(ends) / delta for ends, delta in zip(found[key], found["deltas"], strict=True)]
        axis.plot(found["deltas"], ratios, **look.style(marker=None))
        one = drawn.only(rows=k)
        shares = [above / one.settings["draws"] for above in one.found[f"above_{key}"]]
        kept = [(d, share / d) for d, share in zip(one.found["deltas"], shares, strict=True) if share]
        axis.plot(*zip(*kept, strict=True), **look.style(linestyle="none"))
    axis.set(xscale="log", yscale="log", xlabel="δ", ylabel="P(‖e‖₂² > bound) / δ", ylim=(2e-3, 4))


def _quantiles(axis: Any, exact: Outcomes, drawn: Outcomes, looks: dict[int, Look]) -> None:
    for k, look in looks.items():
        found = exact.only(rows=k).found
        levels = [np.sqrt(np.mean(ends) / k) for ends in found["quantiles"]]
        axis.plot(found["deltas"], levels, **look.style(marker=None))
        one = drawn.only(rows=k)
        axis.plot(one.found["deltas"], np.sqrt(np.array(one.found["quantiles"]) / k), **look.style(linestyle="none"))
        axis.plot([], [], **look.style())
    deltas, k = np.geomspace(1e-3, 0.9, 60), sorted(looks)[len(looks) // 2]
    for under_root, colour, dash, label in (
        (PAPER, GREY, "--", f"the paper's bound, k = {k}"),
        (CORRECTED, GREY, ":", f"Chebyshev's bound, k = {k}"),
    ):
        bounds = [np.sqrt(bound(k, delta, under_root) / k) for delta in deltas]
        axis.plot(deltas, bounds, **Look(label, colour, "", dash, 2.0).style())
    axis.set(xscale="log", yscale="log", xlabel="δ", ylabel="‖e‖₂, in units of k/ε", ylim=(0.9, 12))
    axis.set_title("level exceeded with probability δ", loc="left")
    axis.set_yticks([1, 2, 3, 5, 10], ["1", "2", "3", "5", "10"])
    axis.set_yticks([], minor=True)


# ---- the experiment

EXPERIMENT = Experiment(
    name="noise-norm",
    title="How large the noise is, and the Chebyshev bound",
    about=(
        "Y = ‖e‖₂² for k independent Laplace terms of scale λ = √k/ε, against the bound that the paper's proof uses. "
        "Its law is computed on a fine grid, with every square rounded down, which gives two numbers between which "
        "each probability lies; beside it, draws of the mechanism's own noise, which is discrete Laplace of scale k/ε "
        "on the integer sums, divided by √k. No data set has a part in it."
    ),
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=CLAIMS,
)
