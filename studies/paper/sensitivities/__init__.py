"""How much one record moves what the paper puts noise on: the samples, and the scores that S is chosen by."""

from __future__ import annotations

from pathlib import Path

from studies.paper.drawing import BLUE, GREEN, GREY, VERMILION, Look, canvas, legend_below, save
from studies.paper.experiment import Experiment, Numbers, Outcomes, Picture
from studies.paper.sensitivities.claims import CLAIMS
from studies.paper.sensitivities.measuring import jobs, measure

# ---- tables


def tabulate(outcomes: Outcomes) -> list[Numbers]:
    """Columns of both ensembles, and the law of the choice."""
    columns = tuple(
        (
            one.settings["ensemble"],
            f"{one.found['rows']:,}",
            f"{one.found['least']:,} … {one.found['largest']:,}",
            f"{one.found['scale_times_epsilon']:,.0f}/ε",
        )
        for one in outcomes.where(part="columns")
    )
    choices = tuple(
        (one.settings["basis"], one.settings["epsilon"], f"{one.found['largest']:.4f}")
        for one in outcomes.where(part="choice")
    )
    return [
        Numbers(
            "A record more, on rows of ±1 (the paper's, times √k): how far ‖Φ D‖₁ moves, and the scale of the noise.",
            ("ensemble", "k", "moves by", "scale of the noise"),
            columns,
        ),
        Numbers(
            "A record more: the largest |log P(S | D) − log P(S | D′)| of the private choice of S, over all S.",
            ("basis", "ε of the choice", "largest"),
            choices,
        ),
    ]


# ---- how far one record moves ‖x‖₁, against the number of cells

LOOKS = {
    "identity": Look("standard basis", GREEN, "^"),
    "haar": Look("Haar", BLUE, "s"),
    "cosine": Look("cosine", VERMILION, "o"),
}


def draw(outcomes: Outcomes, folder: Path) -> list[Picture]:
    """One panel: measured marks, and the bounds in use as lines."""
    figure, axes = canvas(1, 1, width=6.4, height=3.6)
    axis = axes[0, 0]
    for basis, look in LOOKS.items():
        rows = outcomes.where(part="row sums", basis=basis)
        cells = [row.settings["cells"] for row in rows]
        axis.plot(cells, [row.found["largest"] for row in rows], **look.style(linestyle="none"))
        bounds = [row.found["bound"] for row in rows]
        axis.plot(cells, bounds, color=look.colour, linestyle="-", linewidth=1, zorder=1)
    axis.plot([], [], color=GREY, linestyle="-", linewidth=1, label="the bound in use")
    axis.set(xscale="log", yscale="log", xlabel="cells n", ylabel="‖x‖₁ moves by at most (records)")
    axis.set_xscale("log", base=2)
    legend_below(figure, axes, columns=4)
    path = save(figure, folder / "sensitivities.png")
    caption = (
        "How far one record moves ‖x‖₁, and with it the score u(D, S)·√S: a constant in the Haar and the standard "
        "basis, but 0.9·√n in the cosine basis."
    )
    return [Picture(path, caption)]


# ---- the experiment

EXPERIMENT = Experiment(
    name="sensitivities",
    title="What one record moves",
    about=(
        "A record is added to a cell, and what the paper puts noise on is computed again, without noise: the samples "
        "Φ D of both ensembles, ‖x‖₁ in three bases, and the law of the private choice of S (the paper's form, "
        "CoSaMP's constants, counts with four plateaus)."
    ),
    jobs=jobs,
    measure=measure,
    draw=draw,
    tabulate=tabulate,
    claims=CLAIMS,
)
