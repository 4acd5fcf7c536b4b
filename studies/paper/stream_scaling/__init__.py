"""How the errors of streams grow with the horizon, with time, with 1/ε and with the sparsity: Table 2, measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from studies.paper.continual.claims import CMCO, OTHERS, shown
from studies.paper.deciding import LEVEL
from studies.paper.drawing import LOOKS, SKY, Look, canvas, save
from studies.paper.experiment import Experiment, Numbers, Outcomes, Picture
from studies.paper.stream_scaling.claims import CLAIMS, Points, points
from studies.paper.stream_scaling.measuring import jobs, measure

# ---- exponents beside the paper's bounds, and the numbers behind them

NAMES = {**OTHERS, **CMCO}
LETTERS = {"horizon": "T", "time": "t", "epsilon": "ε", "sparsity": "S"}
BOUNDS = {"cmco": "Õ(log^1.5(T)/ε)", "cmco paper": "Õ(log^1.5(T)/ε)", "difference": "Õ(√t·log^1.5(T)/ε)"}
"""Table 2; it was meant for the paper's noise."""


def tabulate(outcomes: Outcomes) -> list[Numbers]:
    """The fitted laws, errors against T, and costs."""
    return [_laws(outcomes), _errors(outcomes), _costs(outcomes)]


def spends(mechanism: str) -> str:
    """What a stream really guarantees when it is asked for ε."""
    return "kε" if mechanism == "cmco paper" else "ε"


def _laws(outcomes: Outcomes) -> Numbers:
    rows = []
    for part in LETTERS:
        for mechanism in outcomes.where(part=part).values("mechanism"):
            error = points(outcomes, part, mechanism)
            rows.append(_law(f"error, against {LETTERS[part]}", mechanism, error, part, BOUNDS.get(mechanism, "")))
    for part in ("horizon", "sparsity"):
        for mechanism in CMCO:
            noise = points(outcomes, part, mechanism, "noise")
            bound = "O(log(k)·log^1.5(T)/ε)"
            rows.append(_law(f"‖v − v*‖₂, against {LETTERS[part]}", mechanism, noise, part, bound))
    totals = points(outcomes, "horizon", "difference", "total")
    rows.append(_law("running totals, against T", "difference", totals, "horizon", "O(log^1.5(T)/ε)"))
    caption = (
        "Fitted exponents with 95 % intervals. Against T there are two laws; beside them, how far the points are from "
        "each (root mean square), and which is nearer, if one is twice as near as the other. "
        "v: the samples, entries ±1/√k."
    )
    headings = ("what", "stream", "spends", "x^p", "(1 + log x)^q", "distances", "nearer", "the paper's bound")
    return Numbers(caption, headings, tuple(rows))


def _law(what: str, mechanism: str, measured: Points, part: str, bound: str) -> tuple[str, ...]:
    first = (what, NAMES[mechanism], spends(mechanism), str(measured.power))
    if part != "horizon":
        return (*first, "", "", "", bound)
    distances = f"{100 * measured.misfit:.1f} % and {100 * measured.in_logarithm.misfit:.1f} %"
    return (*first, str(measured.logarithmic), distances, measured.nearer, bound)


def _errors(outcomes: Outcomes) -> Numbers:
    streams = outcomes.where(part="horizon").values("mechanism")
    measured = {mechanism: points(outcomes, "horizon", mechanism) for mechanism in streams}
    means = {name: dict(zip(one.x, one.centre, strict=True)) for name, one in measured.items()}
    horizons = sorted({x for one in measured.values() for x in one.x})
    rows = tuple(
        (f"{horizon:,.0f}", *(shown(means[name][horizon]) if horizon in means[name] else "" for name in streams))
        for horizon in horizons
    )
    headings = ("T", *(f"{NAMES[name]}: {spends(name)}" for name in streams))
    return Numbers("‖D − D*‖₂ at t = T, geometric mean of the runs, with what each stream spends.", headings, rows)


def _costs(outcomes: Outcomes) -> Numbers:
    one = outcomes.where(part="cost").only()
    found = one.found
    rows = tuple(
        (f"{t:,}", f"{1000 * seconds:.1f}", f"{size / 1000:,.0f}", f"{1e6 * tick:.1f}", f"{found['state']:,}")
        for t, seconds, size, tick in zip(
            found["moments"], found["release_seconds"], found["release_bytes"], found["observe_seconds"], strict=True
        )
    )
    caption = (
        f"What CMCO costs after t of T = {one.settings['horizon']:,} ticks (S = {one.settings['pieces']}, "
        f"k = {found['rows']}): CPU time of one core here, and memory, of a release; time of a tick; numbers in the "
        "state, k·(2 + L). The one table that differs from machine to machine."
    )
    return Numbers(caption, ("t", "release, ms", "memory, kB", "a tick, µs", "state"), rows)


# ---- four panels: error against T, t, ε and S, with the fitted laws

SERIES = {**LOOKS, "plain": Look("noise once per tick, as published", SKY, "s", "-.")}
SLOW = ("cmco", "cmco paper", "continual adaptive")
"""Those whose error is said, or seen, to grow like a power of log T."""

PANELS = {
    "horizon": ("against the horizon T, at t = T", "T (ticks)"),
    "time": ("against the time t, T fixed", "t (ticks observed)"),
    "epsilon": ("against ε, T fixed", "ε asked for"),
    "sparsity": ("against S, T fixed", "S (steps of the stream)"),
}

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


# ---- the experiment

EXPERIMENT = Experiment(
    name="stream-scaling",
    title="Table 2: how the errors of streams grow",
    about=(
        "Streams of S equal pieces with heights up to ten million (S = 8 unless it is varied): at most S Haar "
        "coefficients, however long the stream, and CMCO is told S. So high that every step is found; what remains is "
        "the noise that comes through. One thing is varied at a time: T, at t = T and ε = 1; t within one horizon, the "
        "pieces ending at t; ε; S. CMCO is decoded by CoSaMP with k = ⌈2·S·log₂(T/S)⌉ rows. Exponents are fitted by "
        "least squares to the means of the logarithms, with Student's intervals; where the paper's bound is a power of "
        "log T, that law is fitted too. Over the range of T that can be run the two are close together, and the table "
        "says which one is nearer. The data are the same everywhere: no file is needed."
    ),
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=CLAIMS,
)
