"""The look of all figures: colours that the colour-blind can tell apart, and a mark and a dash for greyscale."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparsedp.files.whole_file import written_whole

DPI = 130


@dataclass(frozen=True)
class Look:
    """How one contender is drawn, in every figure alike."""

    label: str
    colour: str
    marker: str = ""
    dash: str | tuple[int, tuple[int, ...]] = "-"
    width: float = 1.6

    def style(self, **other: Any) -> dict[str, Any]:
        """Keywords for matplotlib's `plot`."""
        style = {"label": self.label, "color": self.colour, "marker": self.marker or None, "markersize": 5}
        return {**style, "linestyle": self.dash, "linewidth": self.width, **other}


# Okabe and Ito's colours, in an order whose lightness differs from neighbour to neighbour.
BLACK, BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE, GREY = (
    "#000000",
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#56B4E9",
    "#CC79A7",
    "#808080",
)

LOOKS = {
    "compressive": Look("Compressive, CoSaMP (the paper's)", VERMILION, "o"),
    "compressive bp": Look("Compressive, basis pursuit (the paper's)", ORANGE, "v", "--"),
    "compressive tree": Look("Compressive, our decoder", PURPLE, "D", "-."),
    "laplace": Look("Laplace", BLUE, "s"),
    "hierarchical": Look("Hierarchical (HRMS)", GREEN, "^"),
    "privelet": Look("Privelet", SKY, "P", "--"),
    "adaptive": Look("Adaptive (ours)", BLACK, "*", width=2.2),
    "zeros": Look("publish zeros", GREY, "", ":"),
    "uniform": Look("publish the total, spread evenly", GREY, "", (0, (6, 2))),
    "cmco": Look("CMCO, correct: spends ε", VERMILION, "o"),
    "cmco paper": Look("CMCO, the paper's: spends kε", ORANGE, "v", "--"),
    "difference": Look("continual mechanism (differences)", GREEN, "^"),
    "continual adaptive": Look("ContinualAdaptive (ours)", BLACK, "*", width=2.2),
}
"""Every contender of the paper's figures by name."""


def canvas(rows: int, columns: int, *, width: float = 4.2, height: float = 3.4, **options: Any) -> tuple[Any, Any]:
    """A figure and its two-dimensional array of panels; letters stay readable at half the size."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context({"font.size": 11, "axes.titlesize": 11, "legend.fontsize": 10, "axes.labelsize": 11}):
        size = (width * columns, height * rows + 0.6)
        figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained", **options)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(True, which="major", color="0.9", linewidth=0.6)
        axis.set_axisbelow(True)
    return figure, axes


def legend_below(figure: Any, axes: Any, columns: int = 4) -> None:
    """One legend for all panels, under them; every label once."""
    entries: dict[str, Any] = {}
    for axis in axes.flat:
        handles, labels = axis.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    below = {"loc": "outside lower center", "ncols": columns, "frameon": False, "fontsize": 10}
    figure.legend(entries.values(), entries.keys(), **below)


def save(figure: Any, path: Path) -> Path:
    """Write the figure and let go of it. No date and no version in the file: the same results, the same bytes."""
    import matplotlib.pyplot as plt

    path.parent.mkdir(parents=True, exist_ok=True)
    written_whole(path, lambda file: figure.savefig(file, format="png", dpi=DPI, metadata={"Software": None}))
    plt.close(figure)
    return path
