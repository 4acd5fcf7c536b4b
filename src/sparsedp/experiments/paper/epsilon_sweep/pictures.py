"""Errors against ε, a panel for each data set; and what is left of the advantage beside zeros."""

from __future__ import annotations

from math import ceil, isfinite
from pathlib import Path
from typing import Any

from sparsedp.experiments.paper.data_names import panel_title
from sparsedp.experiments.paper.drawing import (
    BLACK,
    BLUE,
    GREEN,
    LOOKS,
    PURPLE,
    VERMILION,
    Look,
    canvas,
    legend_below,
    save,
)
from sparsedp.experiments.paper.epsilon_sweep.contenders import FLOOR
from sparsedp.experiments.paper.epsilon_sweep.hindsight import KNOWN
from sparsedp.experiments.paper.epsilon_sweep.judging.advantage import Sweep
from sparsedp.experiments.paper.experiment import Picture
from sparsedp.experiments.paper.fits import mean_interval
from sparsedp.experiments.paper.outcomes import Outcomes

LOOK_OF_DATA = {
    "social_network": Look("social_network", BLUE, "s"),
    "search_logs": Look("search_logs", VERMILION, "o", "--"),
    "nettrace": Look("nettrace", BLACK, "^", "-."),
    "flights": Look("flights", PURPLE, "D", ":"),
    "tcptrace": Look("tcptrace", GREEN, "P"),
}

LOOK_OF_KNOWN = Look("Compressive, CoSaMP, best S known (not private)", VERMILION, "x", (0, (3, 1, 1, 1)), width=1.2)

HINDSIGHT = (
    "“Best S known” differs from the judged CoSaMP in more than S: it has Hadamard rows instead of i.i.d. signs, and "
    "its S was chosen by the same runs that are shown. "
)


def look_of(mechanism: str) -> Look:
    """How a contender is drawn, and what it is called."""
    return LOOK_OF_KNOWN if mechanism == KNOWN else LOOKS[mechanism]


def draw(outcomes: Outcomes, folder: Path) -> list[Picture]:
    """The sweep in the Haar basis."""
    return draw_sweep("epsilon-sweep", outcomes, folder)


def draw_sweep(name: str, outcomes: Outcomes, folder: Path) -> list[Picture]:
    """The figures of any sweep, the files named after it."""
    return [_errors(name, outcomes, folder), _advantages(name, outcomes, folder)]


def _errors(name: str, outcomes: Outcomes, folder: Path) -> Picture:
    sweep, names = Sweep(outcomes), outcomes.values("data")
    figure, axes = canvas(ceil(len(names) / 2), 2, width=5.6, height=3.9)
    for axis, data in zip(axes.flat, names, strict=False):
        for mechanism in sweep.mechanisms:
            _one(axis, sweep, data, mechanism)
        title = panel_title(outcomes.only(part="facts", data=data))
        axis.set(xscale="log", yscale="log", xlabel="privacy budget ε", ylabel="‖D − D*‖₂ (records)", title=title)
    legend_below(figure, axes, columns=3)
    about = "; ".join(outcomes.found("about", part="facts", data=data) for data in names)
    caption = (
        "The error of every mechanism against ε, both scales logarithmic: the mean of the runs and its 95 % interval, "
        "its lower end cut at the least of the runs, as released, with negative cells left as they are. The grey lines "
        "are the errors of publishing nothing, or next to nothing: what is above them is worth nothing. "
        f"{HINDSIGHT if KNOWN in sweep.mechanisms else ''}Data: {about}."
    )
    return Picture(save(figure, folder / f"{name}.png"), caption)


def _one(axis: Any, sweep: Sweep, data: str, mechanism: str) -> None:
    look = look_of(mechanism)
    every = [sweep.runs(data, mechanism, epsilon) for epsilon in sweep.epsilons]
    means, lows, highs = zip(*(mean_interval(runs) for runs in every), strict=True)
    budgets = [float(epsilon) for epsilon in sweep.epsilons]
    axis.plot(budgets, means, **look.style())
    # A mean of few runs with a heavy tail has an interval that reaches below 0: it is cut at the least of the runs.
    lows = tuple(max(low, min(runs)) for low, runs in zip(lows, every, strict=True))
    axis.fill_between(budgets, lows, highs, color=look.colour, alpha=0.15, linewidth=0)


def _advantages(name: str, outcomes: Outcomes, folder: Path) -> Picture:
    sweep = Sweep(outcomes)
    figure, axes = canvas(1, 2, width=5.6, height=3.6)
    budgets = [float(epsilon) for epsilon in sweep.epsilons]
    titles = {
        "laplace": "Laplace's error / Compressive's (CoSaMP)",
        FLOOR: "the error of zeros / Compressive's (CoSaMP)",
    }
    for axis, (rival, title) in zip(axes.flat, titles.items(), strict=True):
        for data in outcomes.values("data"):
            look = LOOK_OF_DATA[data]
            ratios = [sweep.ratio(data, epsilon, rival) for epsilon in sweep.epsilons]
            label = panel_title(outcomes.only(part="facts", data=data))
            axis.plot(budgets, [ratio.value for ratio in ratios], **look.style(label=label))
            # Of single runs nothing is known: no band.
            lows, highs = zip(*(one.ends if isfinite(one.half) else (one.value,) * 2 for one in ratios), strict=True)
            axis.fill_between(budgets, lows, highs, color=look.colour, alpha=0.15, linewidth=0)
        axis.axhline(1, color="0.3", linewidth=1)
        axis.set(xscale="log", yscale="log", xlabel="privacy budget ε", ylabel="ratio", title=title)
    legend_below(figure, axes, columns=2)
    caption = (
        "Compressive with the paper's decoder, CoSaMP: ahead of Laplace where the ratio on the left is above 1, ahead "
        "of publishing zeros where the one on the right is. The paper's claims are about the left panel; where the "
        "right one is below 1, a lead is worth nothing. Bands are 95 % intervals."
    )
    return Picture(save(figure, folder / f"{name}-advantage.png"), caption)
