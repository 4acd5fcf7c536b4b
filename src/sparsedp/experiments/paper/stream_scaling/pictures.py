"""Four panels: error against T, t, ε and S, with the fitted laws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from sparsedp.experiments.paper.drawing import LOOKS, SKY, Look, canvas, save
from sparsedp.experiments.paper.experiment import Picture
from sparsedp.experiments.paper.fits import LEVEL
from sparsedp.experiments.paper.outcomes import Outcomes
from sparsedp.experiments.paper.stream_scaling.laws import Points, points

SERIES = {**LOOKS, "plain": Look("noise once per tick, as published", SKY, "s", "-.")}
SLOW = ("cmco", "cmco paper", "continual adaptive")
"""Those whose error is said, or seen, to grow like a power of log T."""

PANELS = {
    "horizon": ("against the horizon T, at t = T", "T (ticks)"),
    "time": ("against the time t, T fixed", "t (ticks observed)"),
    "epsilon": ("against ε, T fixed", "ε asked for"),
    "sparsity": ("against S, T fixed", "S (steps of the stream)"),
}
LETTERS = {"horizon": "T", "time": "t", "epsilon": "ε", "sparsity": "S"}

CAPTION = (
    "‖D_t − D*_t‖₂ on a stream of a few high steps, as many as CMCO's S: geometric means of the runs with 95 % "
    "intervals, and the fitted laws (thin lines), whose exponents, with 95 % intervals, are in the legends. Both "
    "lines of CMCO use CoSaMP; the orange one spends kε."
)


def draw(outcomes: Outcomes, folder: Path) -> list[Picture]:
    """One figure."""
    figure, axes = canvas(2, 2, width=6.2, height=5.0)
    figure.get_layout_engine().set(h_pad=0.12)
    for axis, (part, (title, label)) in zip(axes.flat, PANELS.items(), strict=True):
        shown = outcomes.where(part=part)
        for mechanism in shown.values("mechanism"):
            _draw_series(axis, points(shown, part, mechanism), part, mechanism)
        axis.set(xscale="log", yscale="log", xlabel=label, ylabel="‖D_t − D*_t‖₂ (records)")
        if part == "sparsity":
            axis.set_xscale("log", base=2)
            sizes = shown.values("pieces")
            axis.set_xticks(sizes, [str(size) for size in sizes])
        axis.set_title(f"error {title}{_fixed(shown, part)}")
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), frameon=False, fontsize=10)
    return [Picture(save(figure, folder / "stream-scaling.png"), CAPTION)]


def _draw_series(axis: Any, measured: Points, part: str, mechanism: str) -> None:
    look, letter = SERIES[mechanism], LETTERS[part]
    logarithmic = part == "horizon" and mechanism in SLOW
    law = f"(1 + log {letter})^{measured.logarithmic}" if logarithmic else f"{letter}^{measured.power}"
    means = measured.centre
    style = look.style(label=f"{look.label}: ∝ {law.replace('-', '−')}", linestyle="none")
    axis.errorbar(measured.x, means, yerr=_interval(measured), elinewidth=1, capsize=2, **style)
    axis.plot(
        measured.x,
        (measured.in_logarithm if logarithmic else measured).fitted(),
        color=look.colour,
        linestyle=look.dash,
        linewidth=1,
    )


def _interval(measured: Points) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Below and above the geometric mean: Student's interval of the mean logarithm."""
    below, above = [], []
    for mean, runs in zip(measured.centre, measured.errors, strict=True):
        half = float(stats.t.ppf((1 + LEVEL) / 2, len(runs) - 1)) * float(stats.sem(np.log(runs)))
        below.append(mean - mean * np.exp(-half))
        above.append(mean * np.exp(half) - mean)
    return np.array([below, above])


def _fixed(shown: Outcomes, part: str) -> str:
    horizon = f"T = {shown.values('horizon')[0]:,}"
    pieces, epsilon = f"S = {shown.values('pieces')[0]}", f"ε = {shown.values('epsilon')[0]}"
    fixed = {
        "horizon": (pieces, epsilon),
        "time": (horizon, pieces, epsilon),
        "epsilon": (horizon, pieces),
        "sparsity": (horizon, epsilon),
    }[part]
    return f" ({', '.join(fixed)})"
