"""CMCO against the continual mechanism: the error of every prefix of a stream, and what each of them spends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from studies.paper.continual.claims import CLAIMS, CMCO, OTHERS, Panel, expect, last_error, panels, shown, stream_in
from studies.paper.continual.measuring import DECODERS, jobs, measure
from studies.paper.drawing import LOOKS, canvas, legend_below, save
from studies.paper.experiment import Experiment, Numbers, Outcomes, Picture

# ---- tables: the figure's last moments, the choice of S, and what is lost


def tabulate(outcomes: Outcomes) -> list[Numbers]:
    """Errors at T, the choice of S, and privacy."""
    return [_last_errors(outcomes), _choices(outcomes), _noises(outcomes), _losses(outcomes)]


def _last_errors(outcomes: Outcomes) -> Numbers:
    others = [f"{name}: {'nothing' if name == OTHERS['zeros'] else 'ε'}" for name in OTHERS.values()]
    cmco = [
        f"{name}, {decoder}: {'ε' if mechanism == 'cmco' else 'kε'}"
        for mechanism, name in CMCO.items()
        for decoder in DECODERS.values()
    ]
    rows = tuple(
        (
            panel.named,
            panel.power,
            *(shown(last_error(outcomes, panel, mechanism)) for mechanism in OTHERS),
            *(_with_choice(outcomes, panel, mechanism, decoder) for mechanism in CMCO for decoder in DECODERS),
        )
        for panel in panels(outcomes)
    )
    caption = "‖D − D*‖₂ at t = T, mean of the runs, with what each stream spends; of CMCO with the chosen S and its k."
    return Numbers(caption, ("data", "ε", *others, *cmco), rows)


def _with_choice(outcomes: Outcomes, panel: Panel, mechanism: str, decoder: str) -> str:
    found = stream_in(outcomes, panel, mechanism, decoder).found
    error = last_error(outcomes, panel, mechanism, decoder)
    return f"{shown(error)} (S = {found['sparsity']}, k = {found['rows']:,})"


def _choices(outcomes: Outcomes) -> Numbers:
    rows = []
    for panel in panels(outcomes):
        difference = last_error(outcomes, panel, "difference")
        for mechanism, name in CMCO.items():
            tried = stream_in(outcomes, panel, mechanism).found["tried"]
            errors = [f"S = {one['sparsity']}: {shown(float(np.mean(one['errors'])))}" for one in tried]
            rows.append((panel.named, panel.power, name, "; ".join(errors), shown(difference)))
    caption = (
        "Choosing S in hindsight, CoSaMP: the error at t = T of the runs that S was chosen by, for every candidate."
    )
    return Numbers(caption, ("data", "ε", "stream", "error", "continual mechanism"), tuple(rows))


def _noises(outcomes: Outcomes) -> Numbers:
    rows = []
    for one in outcomes.where(part="noise"):
        found, limit = one.found, (1 + one.found["levels"]) ** 1.5
        sizes = (shown(found[name]) for name in ("cmco paper", "static", "cmco"))
        rows.append((f"{one.settings['horizon']:,}", f"{found['rows']:,}", f"{limit:.0f}", *sizes))
    caption = (
        "Standard deviation of the noise on a sample (entries ±1/√k, ε = 1, S = 32): one publication by Algorithm 1 "
        "beside the last of T publications by CMCO. Where k > (1 + L)^1.5 the paper's CMCO claims to need less."
    )
    headings = ("T", "k", "(1 + L)^1.5", "CMCO, the paper's", "Algorithm 1, once", "CMCO, correct")
    return Numbers(caption, headings, tuple(rows))


def _losses(outcomes: Outcomes) -> Numbers:
    names = {**OTHERS, **CMCO}
    rows = tuple(
        (
            names[one.settings["mechanism"]],
            f"{one.settings['rows']}",
            one.settings["epsilon"],
            f"{one.found['stated']:g}",
            f"{one.found['worst']:g}",
            f"{max(0.0, one.found['measured']):.2f}",
            f"{one.found['measurable']:.2f}",
        )
        for one in outcomes.where(part="loss")
    )
    caption = (
        "Streams of a single tick, without and with one record: the log of the largest likelihood ratio, exactly, and "
        "what an attack proves of it by runs, with 99.9 % confidence (it cannot prove more than the last column)."
    )
    headings = ("stream", "counters", "ε asked for", "ε stated", "ε lost, exactly", "proven by runs", "provable")
    return Numbers(caption, headings, rows)


# ---- the paper's figure: error over time, ε from row to row, data sets from column to column

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


# ---- the experiment

EXPERIMENT = Experiment(
    name="continual",
    title="CMCO against the continual mechanism",
    about=(
        "The paper's data sets as streams, a cell a tick, and the error ‖D_t − D*_t‖₂ of every prefix at moments from "
        "T/64 to T. The paper does not say which S it gave CMCO. Here CMCO gets the one with the least error at T "
        "among S = 1 … 64 (the paper's noise) or 1 … 16 (the correct noise, with which more only cost; fewer "
        "candidates in quick runs), for each data set and ε; it is chosen in hindsight, in CMCO's favour, with noise "
        "and signs of its own, and nothing is charged for it. k = ⌈2·S·log₂(T/S)⌉ for CoSaMP, the paper's decoder, "
        "by which the claims are judged; our own (`vamp_tree`, k = ⌈¾·S·log₂(T/S)⌉) is in the first table. *Spends*: "
        '`calibration="paper"` gives each of the k counters the whole ε, as published, and so guarantees kε; the '
        "correct calibration shares ε among them (proof: `streams/compressive.md`). *Noise once per tick* is the "
        "simplest stream that spends ε: Laplace noise on every tick, published as it is; ContinualAdaptive is that "
        "with a recovery."
    ),
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=CLAIMS,
    expect=expect,
)
