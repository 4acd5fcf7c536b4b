"""The paper's figure: error over time, ε from panel row to panel row, data sets from column to column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sparsedp.experiments.paper.continual.reading import Panel, panels, stream_in
from sparsedp.experiments.paper.drawing import LOOKS, canvas, legend_below, save
from sparsedp.experiments.paper.experiment import Picture
from sparsedp.experiments.paper.outcomes import Outcomes

SERIES = ("difference", "cmco", "cmco paper", "continual adaptive", "zeros")

CAPTION = (
    "‖D_t − D*_t‖₂ over time, mean of the runs; bands reach from the lowest to the highest run. Both lines of CMCO use "
    "CoSaMP, the paper's decoder, and the S with the least error at T among several, chosen in hindsight. The orange "
    "line is not a competitor at the same ε: it spends kε, with the k that stands above each panel. A line above the "
    "dotted one is worse than publishing nothing but zeros (which are exact until the first record comes)."
)


def draw(outcomes: Outcomes, folder: Path) -> list[Picture]:
    """One figure, a panel for every data set and ε."""
    every = panels(outcomes)
    rows = list(dict.fromkeys(panel.epsilon for panel in every))
    columns = list(dict.fromkeys(panel.data for panel in every))
    figure, axes = canvas(len(rows), len(columns), width=4.4, height=3.5, sharey="row")
    for panel in every:
        axis = axes[rows.index(panel.epsilon), columns.index(panel.data)]
        _draw_panel(axis, outcomes, panel)
        if panel.data == columns[0]:
            axis.set_ylabel("‖D_t − D*_t‖₂ (records)")
        if panel.epsilon == rows[-1]:
            axis.set_xlabel("t (ticks observed)")
    legend_below(figure, axes, columns=3)
    return [Picture(save(figure, folder / "continual.png"), CAPTION)]


def _draw_panel(axis: Any, outcomes: Outcomes, panel: Panel) -> None:
    for mechanism in SERIES:
        found = stream_in(outcomes, panel, mechanism).found
        moments, errors = found["moments"], np.array(found["errors"])
        means = errors.mean(axis=1)
        # A stream without records so far is exactly what zeros say, and an error of 0 is nowhere on a log scale.
        axis.plot(moments, np.where(means > 0, means, np.nan), **LOOKS[mechanism].style())
        axis.fill_between(
            moments, errors.min(axis=1), errors.max(axis=1), color=LOOKS[mechanism].colour, alpha=0.15, linewidth=0
        )
    axis.set(xscale="log", yscale="log")
    paper, correct = (stream_in(outcomes, panel, mechanism).found for mechanism in ("cmco paper", "cmco"))
    axis.set_title(
        f"{panel.named}, ε = {panel.power}\n"
        f"CMCO, the paper's: S = {paper['sparsity']}, spends {paper['rows']:,}·ε; correct: S = {correct['sparsity']}",
        fontsize=10,
    )
