"""The laws, drawn: errors against n, ε and S; the hardest signals; and inputs that are not sparse."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from sparsedp.experiments.paper.drawing import BLUE, GREY, LOOKS, VERMILION, Look, canvas, save
from sparsedp.experiments.paper.experiment import Picture
from sparsedp.experiments.paper.fits import mean_interval
from sparsedp.experiments.paper.outcomes import Outcomes
from sparsedp.experiments.paper.scaling.contenders import DECODERS, EVERY, THRESHOLD
from sparsedp.experiments.paper.scaling.judging.laws import series_over
from sparsedp.experiments.paper.scaling.judging.reading import (
    hardest_over_cells,
    over_cells,
    over_epsilon,
    over_sparsity,
    sparsity_of,
)
from sparsedp.experiments.paper.scaling.signals import SIZE
from sparsedp.experiments.paper.series import Series

LOOK_OF = {**LOOKS, THRESHOLD: Look("Laplace, then a threshold", BLUE, "x", ":")}
SHORT = {
    "compressive": "Compressive, CoSaMP",
    "compressive bp": "Compressive, basis pursuit",
    "compressive tree": "Compressive, our decoder",
    "laplace": "Laplace",
    THRESHOLD: "Laplace + threshold",
    "hierarchical": "Hierarchical",
    "privelet": "Privelet",
    "adaptive": "Adaptive (ours)",
}


def draw(outcomes: Outcomes, folder: Path) -> list[Picture]:
    """Two figures."""
    return [_laws(outcomes, folder), _limits(outcomes, folder)]


def _laws(outcomes: Outcomes, folder: Path) -> Picture:
    figure, axes = canvas(2, 2, width=5.8, height=4.2)
    by_cells, by_budget, by_sparsity, legend = axes.flat
    sparsity = sparsity_of(outcomes)
    for name in EVERY:
        look = LOOK_OF[name]
        cells, wide = over_cells(outcomes, name), over_sparsity(outcomes, name)
        budgets, safe = over_epsilon(outcomes, name), over_epsilon(outcomes, name, safe=True)
        in_log = cells.against([float(np.log2(n / sparsity)) for n in cells.x]) if name in DECODERS else cells
        base = "log(n/S)" if name in DECODERS else "n"
        label = f"{SHORT[name]}:\n{base}^{in_log.power}, ε^{safe.power}, S^{wide.power}"
        for axis, series in ((by_cells, cells), (by_budget, budgets), (by_sparsity, wide)):
            _series(axis, series, look, label)
        for axis, x, fit in ((by_cells, cells.x, in_log), (by_budget, safe.x, safe), (by_sparsity, wide.x, wide)):
            axis.plot(x, fit.fitted(), color=look.colour, linewidth=0.8)
    floor = SIZE * sqrt(sparsity - 1)
    by_budget.axhline(floor, **Look("publish the mean in every cell", GREY, "", ":", 2.0).style())
    cells_fixed = int(outcomes.where(part="epsilon").values("cells")[0])
    budget = outcomes.where(part="cells").values("epsilon")[0]
    for axis, label, title in (
        (by_cells, "cells n", f"S = {sparsity}, ε = {budget}"),
        (by_budget, "ε", f"n = {cells_fixed:,}, S = {sparsity}"),
        (by_sparsity, "sparsity S", f"n = {cells_fixed:,}, ε = {budget}"),
    ):
        axis.set_title(f"synthetic, {title}", loc="left")
        axis.set(xscale="log", yscale="log", xlabel=label, ylabel="‖D − D*‖₂ (records)")
    for axis in (by_cells, by_sparsity):
        axis.set_xscale("log", base=2)
    by_budget.invert_xaxis()
    legend.set_axis_off()
    legend.legend(*by_budget.get_legend_handles_labels(), loc="center left", fontsize=10, frameon=False)
    caption = (
        "Errors on synthetic counts with exactly S Haar coefficients, all of the same size whatever n is; Compressive "
        "with Hadamard rows, whatever the decoder. Thin lines are the fitted laws, whose exponents with 95 % intervals "
        "are in the legend (in ε, where every detail stands out clearly). Privacy gets stronger to the right in the "
        f"second panel. {_lost(outcomes, floor)} Marks are geometric means, bars their 95 % intervals."
    )
    return Picture(save(figure, folder / "scaling.png"), caption)


def _lost(outcomes: Outcomes, floor: float) -> str:
    """From which ε on the mean in every cell is a better answer than CoSaMP's."""
    series = over_epsilon(outcomes, "compressive")
    worse = [epsilon for epsilon, error in zip(series.x, series.centre, strict=True) if error > floor]
    if not worse:
        return "CoSaMP is better than the mean in every cell at every ε that was tried."
    return (
        f"CoSaMP's error is above that of the mean in every cell at ε = {', '.join(f'{one:g}' for one in worse)}, "
        "where the details are lost in the noise of the projection."
    )


def _series(axis: Any, series: Series, look: Look, label: str) -> None:
    ends = [mean_interval(np.log(runs).tolist()) for runs in series.errors]
    centre = np.exp([mean for mean, _, _ in ends])
    bars = [centre - np.exp([low for _, low, _ in ends]), np.exp([high for _, _, high in ends]) - centre]
    axis.errorbar(series.x, centre, yerr=bars, elinewidth=0.8, **look.style(label=label, linestyle=look.dash))


def _limits(outcomes: Outcomes, folder: Path) -> Picture:
    figure, axes = canvas(2, 2, width=5.8, height=4.2)
    weak, legend, by_cells, by_counts = axes.flat
    sparsity = sparsity_of(outcomes)
    _hardest(weak, outcomes, sparsity)
    dense = outcomes.where(part="dense")
    most, cells = dense.where(series="fixed").values("most")[0], dense.where(series="counts").values("cells")[0]
    looks = {
        "two thirds": Look("S = n^(2/3)", VERMILION, "o"),
        "fixed": Look(f"S = {dense.where(series='fixed').values('sparsity')[0]}", BLUE, "s", "--"),
    }
    for name, look in looks.items():
        series = series_over(dense.where(series=name), "cells")
        _series(by_cells, series, look, f"{look.label}: n^{series.power}")
    n = np.array(series.x)
    mean_answer = Look("publish the mean in every cell", GREY, "", ":", 2.0)
    by_cells.plot(n, most / np.sqrt(12) * np.sqrt(n), **mean_answer.style())
    by_cells.plot(n, n ** (2 / 3), **Look("n^(2/3)/ε, the paper's", GREY, "", "-", 1.0).style())
    by_cells.set_title(f"random counts up to {most}, ε = 1", loc="left")
    counts = series_over(dense.where(series="counts"), "most")
    _series(by_counts, counts, looks["two thirds"], "S = n^(2/3)")
    sizes = np.array(counts.x)
    by_counts.plot(sizes, np.sqrt(cells * sizes * (sizes + 2) / 12), **mean_answer.style())
    by_counts.axhline(cells ** (2 / 3), **Look("n^(2/3)/ε, the paper's", GREY, "", "-", 1.0).style())
    by_counts.set_title(f"random counts, n = {cells:,}, ε = 1", loc="left")
    for axis, label, unit in (
        (weak, "log₂(n/S)", "ε·‖D − D*‖₂ (records)"),
        (by_cells, "cells n", "‖D − D*‖₂ (records)"),
        (by_counts, "largest count", "‖D − D*‖₂ (records)"),
    ):
        axis.set(xscale="log", yscale="log", xlabel=label, ylabel=unit)
    for axis in (by_cells, by_counts):
        axis.legend(loc="upper left", fontsize=10, frameon=False)
        low, high = axis.get_ylim()
        axis.set_ylim(low, high * (high / low) ** 0.45)  # room for the legend
    by_cells.set_xscale("log", base=2)
    legend.set_axis_off()
    legend.legend(*weak.get_legend_handles_labels(), loc="center left", fontsize=10, frameon=False)
    places = [int(np.log2(n / sparsity)) for n in hardest_over_cells(outcomes, "compressive").x]
    weak.set_xticks(places, [str(place) for place in places])
    weak.set_xticks([], minor=True)
    caption = (
        "Above: the same signals with strong details (solid) and with details of the size that is hardest for each "
        "mechanism (dashed), against log₂(n/S), to which the rows are proportional; the exponents are of that. Below: "
        "Compressive with CoSaMP on counts that are sparse in no basis, against n and against the largest count, "
        "beside the paper's n^(2/3)/ε. Compressive has Hadamard rows."
    )
    return Picture(save(figure, folder / "scaling-limits.png"), caption)


def _hardest(axis: Any, outcomes: Outcomes, sparsity: int) -> None:
    for name in (*DECODERS, THRESHOLD):
        for worst, dash, kind in ((False, "-", "strong"), (True, "--", "hardest")):
            if worst and name not in outcomes.where(part="fading").values("mechanism"):
                continue
            series = hardest_over_cells(outcomes, name) if worst else over_cells(outcomes, name)
            series = series.against([float(np.log2(n / sparsity)) for n in series.x])
            look = LOOK_OF[name]
            styled = Look("", look.colour, look.marker, dash, look.width)
            _series(axis, series, styled, f"{SHORT[name]}, {kind}: {series.power}")
    axis.set_title(f"synthetic, S = {sparsity}", loc="left")
