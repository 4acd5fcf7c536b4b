"""The compressive mechanism against Laplace, HRMS and others, from ε = 1 down to 10⁻⁵, in the Haar basis."""

from __future__ import annotations

from math import ceil, isfinite
from pathlib import Path
from typing import Any

from sparsedp.decoders.registry import decoder_for
from sparsedp.mechanisms.selection.sparsity_choice import constants_for
from studies.paper.deciding import mean_interval, panel_title
from studies.paper.drawing import BLACK, BLUE, GREEN, LOOKS, PURPLE, VERMILION, Look, canvas, legend_below, save
from studies.paper.epsilon_sweep.advantage import Sweep
from studies.paper.epsilon_sweep.claims import CLAIMS, expect
from studies.paper.epsilon_sweep.measuring import FLOOR, JUDGED, KNOWN, RIVALS, jobs, measure
from studies.paper.experiment import Experiment, Numbers, Outcomes, Picture

# ---- errors against ε, a panel for each data set; and what is left of the advantage beside zeros

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


# ---- tables


def tabulate(outcomes: Outcomes) -> list[Numbers]:
    """For each data set the errors; then the advantage of the paper's mechanism, and sums over ranges."""
    sweep, names = Sweep(outcomes), outcomes.values("data")
    columns = tuple(f"ε = {epsilon}" for epsilon in sweep.epsilons)
    errors = [
        Numbers(
            f"{panel_title(outcomes.only(part='facts', data=data))}: the mean of ‖D − D*‖₂, and in brackets with "
            f"negative cells set to 0.{f' {HINDSIGHT}'.rstrip() if KNOWN in sweep.mechanisms else ''}",
            ("mechanism", *columns),
            tuple((look_of(mechanism).label, *_cells(sweep, data, mechanism)) for mechanism in sweep.mechanisms),
        )
        for data in names
    ]
    advantage = Numbers(
        "The error of a rival over that of Compressive with CoSaMP, with its 95 % interval; and the S that was chosen "
        "(least – most).",
        ("data", "", *columns),
        tuple(row for data in names for row in _advantage_rows(sweep, data)),
    )
    ranges = Numbers(
        "The root mean square error of sums over 2,000 random ranges, as released.",
        ("data", "mechanism", *columns),
        tuple(
            (
                data,
                look_of(name).label,
                *(f"{sweep.mean(data, name, one, 'range_errors'):,.0f}" for one in sweep.epsilons),
            )
            for data in names
            for name in sweep.mechanisms
        ),
    )
    return [*errors, advantage, ranges]


def _cells(sweep: Sweep, data: str, mechanism: str) -> list[str]:
    """Both errors at every ε."""
    return [
        f"{sweep.mean(data, mechanism, epsilon):,.0f} ({sweep.mean(data, mechanism, epsilon, 'clipped_errors'):,.0f})"
        for epsilon in sweep.epsilons
    ]


def _advantage_rows(sweep: Sweep, data: str) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for rival in (*RIVALS, "zeros"):
        ratios = [sweep.ratio(data, epsilon, rival) for epsilon in sweep.epsilons]
        rows.append((data, look_of(rival).label, *(ratio.with_ends for ratio in ratios)))
    chosen = [sweep.runs(data, JUDGED, epsilon, "sparsities") for epsilon in sweep.epsilons]
    rows.append((data, "S", *(f"{min(one)} – {max(one)}" for one in chosen)))
    return rows


# ---- the experiment

COMMON = (
    "Compressive chooses S with 0.1 of ε and measures with the rest, as the paper does. The paper gives no constants; "
    "those in use, of k = ⌈C·S·log₂(n/S)⌉ and u(D, S) = C₂·‖x − x_S‖₁/√S + C₄·S·log₂(n/S)/ε, are {constants}. “The "
    "paper's” has i.i.d. signs "
    "and is judged with CoSaMP; basis pursuit is its other decoder. “Our decoder” is what this library prefers, with "
    "randomised Hadamard rows. All noise is exact discrete Laplace noise. What the paper leaves out are the last two: "
    "publishing zeros, and publishing the noisy total spread evenly. One is *ahead* of another where the 95 % interval "
    "of the ratio of their mean errors says so."
)


def common(basis: str) -> str:
    """What both sweeps have in common, with the constants that `Compressive` goes by in this basis."""
    decoders = {"CoSaMP": "cosamp", "basis pursuit": "basis_pursuit", "our decoder": decoder_for("auto", basis)}
    parts = []
    for shown, decoder in decoders.items():
        in_use = constants_for(decoder, basis)
        weights = (in_use.rows_constant, in_use.tail_weight, in_use.noise_weight)
        parts.append(f"{', '.join(f'{float(weight):.3g}' for weight in weights)} ({shown})")
    return COMMON.format(constants=f"C, C₂ and C₄ = {'; '.join(parts)}")


EXPERIMENT = Experiment(
    name="epsilon-sweep",
    title="Compressive against Laplace and HRMS",
    about=(
        "The paper's main figure: ε from 1 down to 10⁻⁵ in the Haar basis; beside its data, the flights. "
        f"{common('haar')}"
    ),
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=CLAIMS,
    expect=expect,
)
