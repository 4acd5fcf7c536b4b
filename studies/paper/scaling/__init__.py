"""Table 1 as measured laws: how the errors grow with the cells, with 1/ε and with the sparsity."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from studies.paper.deciding import Series, mean_interval
from studies.paper.drawing import BLUE, GREY, LOOKS, VERMILION, Look, canvas, save
from studies.paper.experiment import Experiment, Numbers, Outcomes, Picture
from studies.paper.scaling.claims import CLAIMS, FAR, ROOM
from studies.paper.scaling.laws import (
    BOUNDS,
    growth_of,
    hardest_over_cells,
    over_cells,
    over_epsilon,
    over_sparsity,
    series_over,
    sparsity_of,
    without_root,
)
from studies.paper.scaling.measuring import DECODER_OF, EVERY, SIZE, THRESHOLD, jobs, measure

# ---- Table 1 with measurements in it, and what things cost

NAMES = {
    **{name: look.label for name, look in LOOKS.items()},
    "compressive": "Compressive, CoSaMP (Hadamard rows)",
    "compressive bp": "Compressive, basis pursuit (Hadamard rows)",
    "compressive tree": "Compressive, our decoder (Hadamard rows)",
    THRESHOLD: "Laplace, then a threshold in Haar",
}


def tabulate(outcomes: Outcomes) -> list[Numbers]:
    """The laws in n, those in ε and S, and costs."""
    return [_in_cells(outcomes), _in_budget_and_sparsity(outcomes), _costs(outcomes)]


def _in_cells(outcomes: Outcomes) -> Numbers:
    rows = []
    for name, bound in BOUNDS.items():
        rows.append((NAMES[name], bound, *_law(outcomes, name, worst=False)))
        if name in outcomes.where(part="fading").values("mechanism"):
            rows.append((f"{NAMES[name]}, hardest signal", bound, *_law(outcomes, name, worst=True)))
    n = over_cells(outcomes, "laplace").x
    return Numbers(
        f"Table 1 as measured: powers of n and of log₂(n/S) that fit best from n = {n[0]:,.0f} to {n[-1]:,.0f}, with "
        f"95 % intervals, S = {sparsity_of(outcomes)}, ε = 1 (hardest signal: ε·error, at the size of the details that "
        "is worst for the mechanism). *off by*: how far the means are from each of the three laws. *p*: of "
        "√n·(log n)^p, the logarithms that Õ hides. The laws are of geometric means, which hide rare runs that are far "
        "off: beside the mean at the largest n stand its largest run, and how many times its mean a run was at most, "
        "over all n. The paper has i.i.d. signs where Compressive has Hadamard rows here.",
        (
            "mechanism",
            "the paper's bound",
            "power of n",
            "power of log(n/S)",
            "a + b·log₂ n",
            "off by, in turn",
            "p",
            "error at the largest n",
            "largest run there",
            "largest run over its mean",
        ),
        tuple(rows),
    )


def _law(outcomes: Outcomes, name: str, *, worst: bool) -> tuple[str, ...]:
    growth = growth_of(outcomes, name, worst=worst)
    series = hardest_over_cells(outcomes, name) if worst else over_cells(outcomes, name)
    hidden = str(without_root(outcomes, name).power) if name in ("hierarchical", "privelet", "laplace") else "–"
    return (
        str(growth.in_n),
        str(growth.in_log),
        f"{growth.intercept:,.0f} + {growth.per_doubling:,.1f}·log₂ n",
        ", ".join(f"{misfit:.0%}" for misfit in growth.misfits.values()),
        hidden,
        f"{series.centre[-1]:,.1f}",
        f"{max(series.errors[-1]):,.1f}",
        f"{series.largest_over_centre:.2f}",
    )


def _in_budget_and_sparsity(outcomes: Outcomes) -> Numbers:
    rows = []
    for name in BOUNDS:
        safe = over_epsilon(outcomes, name, safe=True)
        slopes = (str(safe.power), str(over_sparsity(outcomes, name).power))
        every = over_epsilon(outcomes, name)
        rows.append((NAMES[name], *slopes, f"{every.centre[0]:,.0f}", f"{every.centre[-1]:,.0f}"))
    epsilon = over_epsilon(outcomes, "laplace", safe=True).x
    budgets = over_epsilon(outcomes, "laplace").x
    return Numbers(
        f"The power of ε, from ε = {max(epsilon):g} to {min(epsilon):g}, where every detail stands out, and the power "
        f"of S at ε = 1; n = {outcomes.where(part='epsilon').values('cells')[0]:,}. Beside them the errors at the "
        "ends of the whole range.",
        ("mechanism", "power of ε", "power of S", f"error at ε = {min(budgets):g}", f"error at ε = {max(budgets):g}"),
        tuple(rows),
    )


def _costs(outcomes: Outcomes) -> Numbers:
    rows = tuple(
        (
            one.settings["sensing"],
            one.settings["decoder"],
            f"{one.settings['cells']:,}",
            f"{one.found['rows']:,}",
            f"{one.found['products']:,}",
            f"{one.found['additions']:.2e}",
            f"{one.found['vectors']:,}",
        )
        for one in outcomes.where(part="work")
    )
    return Numbers(
        "What one recovery costs, counted: products with Φ or Φᵀ, additions in them, and the peak of memory in vectors "
        "of n numbers.",
        ("sensing", "decoder", "n", "k", "products", "additions", "vectors"),
        rows,
    )


# ---- the laws, drawn: errors against n, ε and S; the hardest signals; and inputs that are not sparse

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
        in_log = cells.against([float(np.log2(n / sparsity)) for n in cells.x]) if name in DECODER_OF else cells
        base = "log(n/S)" if name in DECODER_OF else "n"
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
    for name in (*DECODER_OF, THRESHOLD):
        for worst, dash, kind in ((False, "-", "strong"), (True, "--", "hardest")):
            if worst and name not in outcomes.where(part="fading").values("mechanism"):
                continue
            series = hardest_over_cells(outcomes, name) if worst else over_cells(outcomes, name)
            series = series.against([float(np.log2(n / sparsity)) for n in series.x])
            look = LOOK_OF[name]
            styled = Look("", look.colour, look.marker, dash, look.width)
            _series(axis, series, styled, f"{SHORT[name]}, {kind}: {series.power}")
    axis.set_title(f"synthetic, S = {sparsity}", loc="left")


# ---- the experiment

EXPERIMENT = Experiment(
    name="scaling",
    title="Table 1 as measured laws",
    about=(
        "Synthetic counts with exactly S coefficients in the Haar basis, whatever n is: a total, and S − 1 details of "
        "±16,384 at random scales and places. It is the *size of the coefficients* that is held fixed, as the "
        "class of S-sparse databases means it. Counts of fixed height would have coefficients that grow like √n, and "
        "be ever easier; a fixed number of records in ever more cells would be ever more coefficients (a single "
        "occupied cell has 1 + log₂ n of them). Compressive is told S and takes k = 2·S·log₂(n/S) Hadamard rows with "
        "every decoder. Strong signals are those at ε = 1; the *hardest* are those whose details hardly stand out from "
        "the noise, found by varying ε, as only the ratio matters. *Laplace, then a threshold* is the Laplace "
        "mechanism and hard thresholding of its output in the Haar basis. Dense inputs are random counts. No data set "
        "has a part in it. The paper gives no constants and has i.i.d. signs; those are compared in what they cost "
        f"alone. An exponent is taken for the one claimed within {ROOM}, and for at most a bound up to {FAR} above it, "
        "as logarithms look like small powers; where its 95 % interval holds both answers, the claim is not decided."
    ),
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=CLAIMS,
)
