"""The laws, drawn: errors against n, ε and S; the hardest signals; and inputs that are not sparse."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from sparsedp.experiments.paper.drawing import BLUE, GREY, LOOKS, VERMILION, Look, canvas, save
from sparsedp.experiments.paper.experiment import Picture
from sparsedp.experiments.paper.fits import Slope, mean_interval
from sparsedp.experiments.paper.outcomes import Outcomes
from sparsedp.experiments.paper.scaling.contenders import DECODERS, EVERY, THRESHOLD
from sparsedp.experiments.paper.scaling.judging.laws import Series, series_over
from sparsedp.experiments.paper.scaling.judging.reading import (
    hardest_over_cells,
    over_cells,
    over_epsilon,
    over_sparsity,
    sparsity_of,
)
from sparsedp.experiments.paper.scaling.signals import SIZE

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
    figure, axes = canvas(1, 3, width=5.4, height=5.6)
    sparsity = sparsity_of(outcomes)
    for name in EVERY:
        cells = over_cells(outcomes, name)
        compressive = name in DECODERS
        against = cells.against([float(np.log2(n / sparsity)) for n in cells.x]) if compressive else cells
        _series(axes[0, 0], cells, LOOK_OF[name], _label(name, "log(n/S)" if compressive else "n", against.slope()))
        axes[0, 0].plot(cells.x, against.fitted(), color=LOOK_OF[name].colour, linewidth=0.8)
        safe = over_epsilon(outcomes, name, safe=True)
        _series(axes[0, 1], over_epsilon(outcomes, name), LOOK_OF[name], _label(name, "ε", safe.slope()))
        axes[0, 1].plot(safe.x, safe.fitted(), color=LOOK_OF[name].colour, linewidth=0.8)
        wide = over_sparsity(outcomes, name)
        _series(axes[0, 2], wide, LOOK_OF[name], _label(name, "S", wide.slope()))
        axes[0, 2].plot(wide.x, wide.fitted(), color=LOOK_OF[name].colour, linewidth=0.8)
    floor = SIZE * sqrt(sparsity - 1)
    axes[0, 1].axhline(floor, **Look("publish the mean in every cell", GREY, "", ":", 2.0).style())
    cells_fixed = int(outcomes.where(part="epsilon").values("cells")[0])
    budget = outcomes.where(part="cells").values("epsilon")[0]
    for axis, label, title in (
        (axes[0, 0], "cells n", f"S = {sparsity}, ε = {budget}"),
        (axes[0, 1], "ε", f"n = {cells_fixed:,}, S = {sparsity}"),
        (axes[0, 2], "sparsity S", f"n = {cells_fixed:,}, ε = {budget}"),
    ):
        axis.set_title(f"synthetic, {title}", loc="left")
        axis.set(xscale="log", yscale="log", xlabel=label, ylabel="‖D − D*‖₂ (records)")
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), fontsize=10, frameon=False)
    for axis in (axes[0, 0], axes[0, 2]):
        axis.set_xscale("log", base=2)
    axes[0, 1].invert_xaxis()
    caption = (
        "Errors on synthetic counts with exactly S Haar coefficients, all of the same size whatever n is. Thin lines "
        "are the fitted laws, whose exponents with 95 % intervals are in the legends (in ε, where every detail stands "
        "out clearly). Privacy gets stronger to the right in the middle panel: below ε ≈ 0.01 the details are lost in "
        "the noise of a random projection, and even the mean in every cell is a better answer than CoSaMP's, which "
        "publishes S coefficients of noise. Marks are geometric means, bars their 95 % intervals."
    )
    return Picture(save(figure, folder / "scaling.png"), caption)


def _label(name: str, variable: str, slope: Slope) -> str:
    shown = f"({variable})" if "/" in variable else variable
    return f"{SHORT[name]}: {shown}^{slope}"


def _series(axis: Any, series: Series, look: Look, label: str) -> None:
    ends = [mean_interval(np.log(runs).tolist()) for runs in series.errors]
    centre = np.exp([mean for mean, _, _ in ends])
    bars = [centre - np.exp([low for _, low, _ in ends]), np.exp([high for _, _, high in ends]) - centre]
    axis.errorbar(series.x, centre, yerr=bars, elinewidth=0.8, **look.style(label=label, linestyle=look.dash))


def _limits(outcomes: Outcomes, folder: Path) -> Picture:
    figure, axes = canvas(1, 3, width=5.2, height=4.4)
    sparsity = sparsity_of(outcomes)
    _hardest(axes[0, 0], outcomes, sparsity)
    dense = outcomes.where(part="dense")
    most, cells = dense.where(series="fixed").values("most")[0], dense.where(series="counts").values("cells")[0]
    looks = {
        "two thirds": Look("S = n^(2/3)", VERMILION, "o"),
        "fixed": Look(f"S = {dense.where(series='fixed').values('sparsity')[0]}", BLUE, "s", "--"),
    }
    for name, look in looks.items():
        series = series_over(dense.where(series=name), "cells")
        _series(axes[0, 1], series, look, f"{look.label}: n^{series.slope()}")
    n = np.array(series.x)
    mean_answer = Look("publish the mean in every cell", GREY, "", ":", 2.0)
    axes[0, 1].plot(n, most / np.sqrt(12) * np.sqrt(n), **mean_answer.style())
    axes[0, 1].plot(n, n ** (2 / 3), **Look("n^(2/3)/ε, the paper's", GREY, "", "-", 1.0).style())
    axes[0, 1].set_title(f"random counts up to {most}, ε = 1", loc="left")
    counts = series_over(dense.where(series="counts"), "most")
    _series(axes[0, 2], counts, looks["two thirds"], "S = n^(2/3)")
    sizes = np.array(counts.x)
    axes[0, 2].plot(sizes, np.sqrt(cells * sizes * (sizes + 2) / 12), **mean_answer.style())
    axes[0, 2].axhline(cells ** (2 / 3), **Look("n^(2/3)/ε, the paper's", GREY, "", "-", 1.0).style())
    axes[0, 2].set_title(f"random counts, n = {cells:,}, ε = 1", loc="left")
    for axis, label, unit in (
        (axes[0, 0], "log₂(n/S)", "ε·‖D − D*‖₂ (records)"),
        (axes[0, 1], "cells n", "‖D − D*‖₂ (records)"),
        (axes[0, 2], "largest count", "‖D − D*‖₂ (records)"),
    ):
        axis.set(xscale="log", yscale="log", xlabel=label, ylabel=unit)
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize=10, frameon=False)
    axes[0, 1].set_xscale("log", base=2)
    places = [int(np.log2(n / sparsity)) for n in hardest_over_cells(outcomes, "compressive").x]
    axes[0, 0].set_xticks(places, [str(place) for place in places])
    axes[0, 0].set_xticks([], minor=True)
    caption = (
        "Left: the same signals with strong details (solid) and with details of the size that is hardest for each "
        "mechanism (dashed), against log₂(n/S), to which the rows are proportional; the exponents are of that. Middle "
        "and right: counts that are sparse in no basis. The error is above the paper's n^(2/3)/ε by a logarithm, and "
        "grows with the counts themselves."
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
            _series(axis, series, styled, f"{SHORT[name]}, {kind}: {series.slope()}")
    axis.set_title(f"synthetic, S = {sparsity}", loc="left")
