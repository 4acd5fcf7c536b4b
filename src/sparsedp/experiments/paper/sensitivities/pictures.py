"""How far one record moves ‖x‖₁, against the number of cells."""

from __future__ import annotations

from pathlib import Path

from sparsedp.experiments.paper.drawing import BLUE, GREEN, GREY, VERMILION, Look, canvas, legend_below, save
from sparsedp.experiments.paper.experiment import Picture
from sparsedp.experiments.paper.outcomes import Outcomes

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
