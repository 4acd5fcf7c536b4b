"""How nearly the sensing keeps the length of sparse vectors: the restricted-isometry constant, sampled and searched."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from studies.paper.deciding import percent
from studies.paper.drawing import BLACK, BLUE, GREEN, GREY, PURPLE, SKY, VERMILION, Look, canvas, legend_below, save
from studies.paper.experiment import Experiment, Numbers, Outcomes, Picture
from studies.paper.isometry.claims import CLAIMS, ENOUGH, MECHANISM_CONSTANT, constant_needed, over_permuted, trend
from studies.paper.isometry.measuring import jobs, measure

# ---- tables

FAMILIES = ("random", "neighbours", "paths", "searched")


def tabulate(outcomes: Outcomes) -> list[Numbers]:
    """Every pair at every k, and the laws."""
    rows = []
    for one in outcomes.where(part="rows"):
        shown = [
            f"{np.mean(one.found[name]):.2f} (≤ {max(one.found[name]):.2f})" if name in one.found else "–"
            for name in FAMILIES
        ]
        settings = one.settings
        rows.append(
            (settings["ensemble"], settings["basis"], str(settings["constant"]), f"{one.found['rows']:,}", *shown)
        )
    laws = []
    for part in ("rows", "cells", "sparsity"):
        of_part = outcomes.where(part=part)
        setting = "constant" if part == "rows" else part
        for ensemble in of_part.values("ensemble"):
            for basis in of_part.where(ensemble=ensemble).values("basis"):
                pair = of_part.where(ensemble=ensemble, basis=basis)
                constant = constant_needed(pair) if part == "rows" else inf
                needed = "–" if constant == inf else f"{constant:.0f}"
                slopes = [str(trend(pair, setting, key)) for key in ("random", "searched")]
                laws.append((ensemble, basis, {"cells": "n", "sparsity": "S"}.get(part, "C"), *slopes, needed))
    settings = next(iter(outcomes.where(part="rows"))).settings
    about = f"n = {settings['cells']:,}, S = {settings['sparsity']}, {settings['matrices']} matrices"
    return [
        Numbers(
            f"Lower bounds of δ₂S, mean (and largest) over the matrices: {about}, {settings['supports']} supports of "
            "each family. *neighbours*: finest Haar coefficients in a row; *paths*: those around single cells.",
            ("ensemble", "basis", "C", "k", "random supports", "neighbours", "paths", "searched"),
            tuple(rows),
        ),
        Numbers(
            "The exponent of δ₂S in C, in n and in S, and the C at which the searched one would reach √2 − 1.",
            ("ensemble", "basis", "against", "random supports", "searched", "C needed"),
            tuple(laws),
        ),
    ]


# ---- the constants against the rows, the cells and the sparsity

ENSEMBLES = {
    "bernoulli": ("i.i.d. ±1 in Haar (the paper's)", VERMILION, "o"),
    "hadamard": ("Hadamard in Haar, cells permuted (ours)", BLUE, "s"),
    "unshuffled": ("Hadamard in Haar, cells not permuted", GREEN, "^"),
}
BASES = {
    "identity": ("i.i.d. ±1 in the standard basis", BLACK, "v"),
    "haar": ENSEMBLES["bernoulli"],
    "cosine": ("i.i.d. ±1 in cosine", PURPLE, "P"),
}
KINDS = {"searched": ("over supports found by search", "-"), "random": ("over random supports", "--")}
TICKS = (0.1, 0.2, 0.5, 1, 2, 5)


def draw(outcomes: Outcomes, folder: Path) -> list[Picture]:
    """Four panels: against k by ensemble and by basis, against n and against S."""
    figure, axes = canvas(2, 2, width=5.6, height=3.5)
    rows = outcomes.where(part="rows")
    settings = next(iter(rows)).settings
    cells, sparsity = settings["cells"], settings["sparsity"]
    about = f"n = {cells:,}, S = {sparsity}"
    for ensemble in ENSEMBLES:
        _both(axes[0, 0], rows.where(ensemble=ensemble, basis="haar"), "rows", ENSEMBLES[ensemble])
    _theory(axes[0, 0], rows, sparsity)
    for axis in axes[0]:
        _in_use(axis, rows)
    axes[0, 0].set_title(f"Haar basis, {about}", loc="left")
    for basis in BASES:
        _both(axes[0, 1], rows.where(ensemble="bernoulli", basis=basis), "rows", BASES[basis])
    axes[0, 1].set_title(f"i.i.d. ±1 in three bases, {about}", loc="left")
    constant = next(iter(outcomes.where(part="cells"))).settings["constant"]
    for axis, part, title in (
        (axes[1, 0], "cells", f"k = {constant}·S·log₂(n/S), Haar, S = {sparsity}"),
        (axes[1, 1], "sparsity", f"k = {constant}·S·log₂(n/S), Haar, n = {_cells(outcomes, 'sparsity'):,}"),
    ):
        for ensemble in ("bernoulli", "hadamard"):
            _both(axis, outcomes.where(part=part, ensemble=ensemble), part, ENSEMBLES[ensemble])
        axis.set_title(title, loc="left")
    for axis, label in zip(axes.flat, ("rows k", "rows k", "cells n", "sparsity S"), strict=True):
        axis.set_yscale("log")
        axis.set_xscale("log", base=2)
        axis.set(xlabel=label, ylabel="δ₂S, from below")
        axis.set(ylim=(0.07, 7.5), yticks=TICKS, yticklabels=map(str, TICKS))
        axis.set_yticks([], minor=True)
        axis.axhline(ENOUGH, **Look("√2 − 1: enough for basis pursuit", GREY, "", ":", 2.0).style())
    for kind, dash in KINDS.values():
        axes[0, 0].plot([], [], **Look(kind, GREY, "", dash).style())
    legend_below(figure, axes, columns=3)
    least, most = _seen_by_chance(outcomes)
    caption = (
        "Lower bounds of the restricted-isometry constant δ₂S of Φ Ψ: the largest |σ² − 1| over random supports "
        "(dashed) and over those that a search finds (solid). Top: against k. Bottom: against n and against S, with k "
        f"in proportion to S·log(n/S). Random supports see {percent(least)} to {percent(most)} of what the search "
        f"finds. Hadamard rows in Haar have {over_permuted(outcomes, 'unshuffled'):.2f} times the δ₂S without the "
        "permutation of the cells."
    )
    return [Picture(save(figure, folder / "isometry.png"), caption)]


def _cells(outcomes: Outcomes, part: str) -> int:
    return int(outcomes.where(part=part).values("cells")[0])


def _both(axis: Any, outcomes: Outcomes, against: str, look: tuple[str, str, str]) -> None:
    name, colour, marker = look
    for key, (_, dash) in KINDS.items():
        found = sorted(
            (one.found["rows"] if against == "rows" else one.settings[against], one.found[key]) for one in outcomes
        )
        x, deltas = [x for x, _ in found], [values for _, values in found]
        label = name if key == "searched" else "_"
        axis.plot(x, [np.mean(d) for d in deltas], **Look(label, colour, marker, dash).style())
        axis.fill_between(x, [min(d) for d in deltas], [max(d) for d in deltas], color=colour, alpha=0.15, linewidth=0)


def _theory(axis: Any, rows: Outcomes, sparsity: int) -> None:
    """What random columns must have."""
    ends = [one.found["rows"] for one in rows]
    k = np.geomspace(min(ends), max(ends), 50)
    ratio = 2 * sparsity / k
    axis.plot(k, 2 * np.sqrt(ratio) + ratio, **Look("(1 + √(2S/k))² − 1", GREY, "", "-.", 2.0).style())


def _in_use(axis: Any, rows: Outcomes) -> None:
    """Where the mechanism is."""
    used = [one.found["rows"] for one in rows.where(constant=MECHANISM_CONSTANT)]
    if used:
        look = Look(f"k of C = {MECHANISM_CONSTANT}, as the mechanism has it", SKY, "", (0, (3, 1, 1, 1)), 2.0)
        axis.axvline(used[0], **look.style(zorder=1.5))


def _seen_by_chance(outcomes: Outcomes) -> tuple[float, float]:
    """The least and the largest share of the searched δ₂S that random supports have."""
    shares = [float(np.mean(one.found["random"]) / np.mean(one.found["searched"])) for one in outcomes]
    return min(shares), max(shares)


# ---- the experiment

EXPERIMENT = Experiment(
    name="isometry",
    title="Restricted isometry of the sensing",
    about=(
        "δ₂S is the largest |σ² − 1| over the singular values σ of *all* sets of 2S columns of A = Φ Ψ; nobody can go "
        "through all of them, so what is measured is a lower bound: the largest over random sets, over sets that Haar "
        "suggests, and over those that a search (the truncated power method) finds. Rows k = C·S·log₂(n/S), of i.i.d. "
        "±1/√k (the paper's), of a randomised Hadamard matrix as this library uses it, and of one without the "
        "permutation of the cells. No data set has a part in it."
    ),
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=CLAIMS,
)
