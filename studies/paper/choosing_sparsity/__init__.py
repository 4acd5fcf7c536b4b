"""Choosing S: the error against the sparsity, and how often the private choice picks each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from studies.paper.choosing_sparsity.claims import CLAIMS, FLAT, NEGLIGIBLE, SHOWN, curve_of, expect, quality_of, small
from studies.paper.choosing_sparsity.measuring import DECODERS, PAPERS, SHARE, jobs, measure
from studies.paper.data import PAPER_DATA
from studies.paper.deciding import mean_interval, panel_title
from studies.paper.drawing import LOOKS, VERMILION, Look, canvas, legend_below, save
from studies.paper.experiment import Experiment, Numbers, Outcome, Outcomes, Picture

# ---- tables


def tabulate(outcomes: Outcomes) -> list[Numbers]:
    """The private choice beside the best one in hindsight, and what the paper's words would pick."""
    return [
        Numbers(
            f"The private choice among S ≤ n/16 at ε = 1, of which a share chooses and the rest measures (Haar). The "
            f"flat part of the U is where the mean error is at most {FLAT} times the least, which is the least of many "
            "means with noise in them and so biased low; all decoders have Hadamard rows here. “Missed” is the exact "
            "probability of a pick outside it, “cost” the error at the picked S over the least, on average.",
            (
                "data",
                "decoder",
                "share",
                "best S",
                "least error",
                "zeros",
                "flat part",
                "picks: median [5 %, 95 %]",
                "missed",
                "cost",
            ),
            tuple(_row(outcomes, one) for one in outcomes.where(part="picks")),
        ),
        Numbers(
            "The same scores over all S from 1 to n, as the paper has it: the likeliest S, its probability, and the "
            "samples k = ⌈2·S·log₂(n/S)⌉ that it would take.",
            ("data", "n", "likeliest S", "probability", "P(S ≤ n/16)", "k"),
            tuple(
                (
                    one.settings["data"],
                    f"{one.found['cells']:,}",
                    f"{one.found['likeliest']:,}",
                    f"{one.found['probability']:.5f}",
                    small(one.found["within_candidates"]),
                    f"{one.found['rows']}",
                )
                for one in outcomes.where(part="literal")
            ),
        ),
    ]


def _row(outcomes: Outcomes, one: Outcome) -> tuple[str, ...]:
    data, decoder, share = (one.settings[name] for name in ("data", "decoder", "share"))
    quality = quality_of(outcomes, data, decoder, share)
    first, last = quality.curve.flat
    low, median, high = quality.middle
    return (
        data,
        SHOWN[decoder],
        share,
        f"{quality.curve.best}",
        f"{quality.curve.least:,.0f}",
        f"{one.found['norm']:,.0f}",
        f"{first}–{last}",
        f"{median} [{low}, {high}]",
        small(quality.failing),
        f"{quality.mean_over_least:.2f}",
    )


# ---- the U of every data set, and under it how often the private choice picked each S

LOOK_OF = {"cosamp": "compressive", "basis_pursuit": "compressive bp", "vamp_tree": "compressive tree"}
BOUND = Look("the paper's u(D, S), CoSaMP's constants", VERMILION, "", (0, (1, 1)), width=1.4)
MARGIN = 1.35
"""The lower panels reach so many times beyond the flat part and the picks."""


def draw(outcomes: Outcomes, folder: Path) -> list[Picture]:
    """Two rows of panels: errors above, picks below, on a larger scale of S."""
    figure, axes = canvas(2, len(PAPER_DATA), height=3.5)
    for column, data in enumerate(PAPER_DATA):
        _errors(axes[0, column], outcomes.where(data=data))
        _picks(axes[1, column], outcomes.where(data=data))
    axes[0, 0].set_ylabel("‖D − D*‖₂ (records)")
    axes[1, 0].set_ylabel("share of the runs")
    legend_below(figure, axes, columns=3)
    picks = next(iter(outcomes.where(part="picks")))
    caption = (
        f"Above: the error against S at ε = {picks.settings['epsilon']}, of which 0.9 measures (Haar; mean of the runs "
        "and its 95 % interval, whose lower end is cut at the least run). All three decoders have randomised Hadamard "
        "rows here, “the paper's” too. Grey: the flat part of CoSaMP's U, within "
        f"{FLAT} of its least error, which is biased low as the least of many noisy means. Below, at a "
        f"larger scale: which S the private choice picked with the other 0.1 in {picks.settings['runs']:,} runs (bars: "
        "with the constants of CoSaMP; hollow marks: of the other two decoders), and the exact law of the pick (lines)."
    )
    return [Picture(save(figure, folder / "choosing-sparsity.png"), caption)]


def _errors(axis: Any, outcomes: Outcomes) -> None:
    for decoder in DECODERS:
        one = outcomes.only(part="errors", decoder=decoder)
        look = LOOKS[LOOK_OF[decoder]]
        sparsities = one.found["sparsities"]
        means, lows, highs = zip(*(mean_interval(runs) for runs in one.found["errors"]), strict=True)
        least = [min(runs) for runs in one.found["errors"]]
        axis.fill_between(sparsities, np.maximum(lows, least), highs, color=look.colour, alpha=0.25, linewidth=0)
        axis.plot(sparsities, means, **look.style(markersize=4, markevery=_every(sparsities)))
    papers = outcomes.only(part="errors", decoder=PAPERS)
    axis.plot(papers.found["sparsities"], papers.found["bounds"], **BOUND.style())
    axis.axhline(papers.found["norm"], **LOOKS["zeros"].style())
    axis.axvspan(
        *curve_of(papers).flat, color="0.85", zorder=0, label=f"flat part of CoSaMP's U, within {FLAT} of its least"
    )
    axis.set(xscale="log", yscale="log", xlabel="sparsity S", title=panel_title(papers))


def _every(sparsities: list[int]) -> list[int]:
    """Places of marks that are an even distance apart on the log scale, however fine the grid is there."""
    wanted = np.geomspace(sparsities[0], sparsities[-1], 12)
    return sorted({int(np.abs(np.log(np.array(sparsities) / one)).argmin()) for one in wanted})


def _picks(axis: Any, outcomes: Outcomes) -> None:
    reached: list[float] = []
    for decoder in DECODERS:
        quality = quality_of(outcomes, outcomes.values("data")[0], decoder, SHARE)
        look = LOOKS[LOOK_OF[decoder]]
        values, counts = np.unique(quality.picks, return_counts=True)
        shares = counts / counts.sum()
        likely = quality.law > quality.law.max() / 100
        axis.plot(quality.candidates[likely], quality.law[likely], **look.style(marker="", label=None))
        if decoder == PAPERS:
            axis.axvspan(*quality.curve.flat, color="0.85", zorder=0)
            axis.bar(values, shares, width=0.85, color=look.colour, alpha=0.5, linewidth=0)
            reached += [*quality.curve.flat]
        else:
            hollow = {"markerfacecolor": "white", "linestyle": "none", "markersize": 4, "label": None}
            axis.plot(values, shares, **look.style(**hollow))
        reached += [values[0], values[-1]]
    axis.set(xscale="log", xlim=(min(reached) / MARGIN, max(reached) * MARGIN), ylim=(0, None), xlabel="picked S")
    _plain_ticks(axis)


def _plain_ticks(axis: Any) -> None:
    """Less than two decades are readable in plain numbers only."""
    import matplotlib as mpl

    axis.xaxis.set_major_locator(mpl.ticker.LogLocator(subs=(1, 2, 5)))
    axis.xaxis.set_major_formatter("{x:g}")
    axis.xaxis.set_minor_formatter("")


# ---- the experiment

EXPERIMENT = Experiment(
    name="choosing-sparsity",
    title="Choosing S",
    about=(
        "The paper's figure on the sparsity: ε = 1, of which 0.1 chooses S by the exponential mechanism and 0.9 "
        "measures, in the Haar basis. Every decoder has the constants that `Compressive` gives it: for CoSaMP the "
        "paper's form with C₂ = 1, C₄ = 2√2 and k = ⌈2·S·log₂(n/S)⌉ rows; the paper gives none. S is chosen exactly as "
        '`Compressive(sparsity="auto")` does, among candidates S ≤ n/16. The rows of Φ here are randomised Hadamard '
        "ones, where the paper has i.i.d. signs: fast where S is large, ±1 as well, and not compared with i.i.d. signs "
        f"here. The *flat part* of the U is where the mean error is at most {FLAT} times the least; a choice is called "
        f"near-optimal there, and its failure negligible up to a probability of {NEGLIGIBLE}."
    ),
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=CLAIMS,
    expect=expect,
)
