"""Pictures for the page on accuracy; drawn with matplotlib, which the `demo` extra brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.experiments.accuracy.cases import EPSILON, setting_name
from sparsedp.experiments.accuracy.comparison import Comparison
from sparsedp.experiments.accuracy.contenders import Contender
from sparsedp.experiments.accuracy.scores import METRIC_OF_MODE
from sparsedp.experiments.accuracy.tables import SHOWN
from sparsedp.experiments.accuracy.verdicts import MEAN_TARGET, WORST_TARGET, mean_ratios, modes_of

TOTAL = 10**5
DPI = 130


def draw_ratios(comparisons: Sequence[Comparison], path: Path) -> Path:
    """One panel a mode: the ratio to the best other mechanism in every case, and each input's mean as a bar."""
    plt = _pyplot()
    import matplotlib as mpl

    modes = modes_of(comparisons)
    inputs = list(dict.fromkeys(comparison.case.input for comparison in comparisons))
    settings = list(dict.fromkeys(comparison.case.setting for comparison in comparisons))
    size = (1.5 + 3.6 * len(modes), 1.6 + 0.27 * len(inputs))
    figure, axes = plt.subplots(1, len(modes), figsize=size, sharey=True, squeeze=False, layout="constrained")
    for axis, mode in zip(axes[0], modes, strict=True):
        of_mode = [comparison for comparison in comparisons if comparison.mode == mode]
        for name, mean in mean_ratios(of_mode).items():
            axis.plot([mean.value] * 2, inputs.index(name) + np.array([-0.35, 0.35]), color="0.3", linewidth=2.5)
        for number, setting in enumerate(settings):
            chosen = [comparison for comparison in of_mode if comparison.case.setting == setting]
            ratios = [comparison.ratio.value for comparison in chosen]
            rows = [inputs.index(comparison.case.input) for comparison in chosen]
            axis.scatter(ratios, rows, s=22, color=plt.get_cmap("viridis")(number / len(settings)), label=setting)
        for limit, style in ((MEAN_TARGET, ":"), (1, "-"), (WORST_TARGET, "--")):
            axis.axvline(limit, color="0.6", linewidth=0.8, linestyle=style)
        axis.set_xscale("log")
        axis.xaxis.set_major_locator(mpl.ticker.LogLocator(subs=(1, 2, 5)))
        axis.xaxis.set_major_formatter("{x:g}")
        axis.xaxis.set_minor_formatter("")
        axis.set_title(f'workload="{mode}": {SHOWN[METRIC_OF_MODE[mode]]}', loc="left", fontsize=10)
        axis.set_xlabel("ratio to the best other mechanism")
    axes[0][0].set_yticks(range(len(inputs)), inputs)
    axes[0][0].invert_yaxis()
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=len(settings), fontsize=9)
    return _save(plt, figure, path)


def draw_releases(inputs: Mapping[str, Integers], contenders: Sequence[Contender], path: Path) -> Path:
    """Rows of inputs: the counts, then one release by each contender at ε = 0.1, on the counts' scale."""
    plt = _pyplot()
    columns = 1 + len(contenders)
    size = (3.2 * columns, 0.8 + 1.9 * len(inputs))
    figure, axes = plt.subplots(len(inputs), columns, figsize=size, squeeze=False, layout="constrained")
    for row, (name, counts) in zip(axes, inputs.items(), strict=True):
        shown: list[tuple[str, Floats]] = [(name, counts.astype(np.float64))]
        shown += [(contender.name, contender.publish(counts, EPSILON)) for contender in contenders]
        for axis, (title, values) in zip(row, shown, strict=True):
            _draw_cells(axis, values, counts)
            axis.set_title(title, loc="left", fontsize=10)
    total = setting_name(next(iter(inputs.values())).sum(), EPSILON)
    figure.suptitle(f"Counts, and one release of each mechanism: {total}", fontsize=12)
    return _save(plt, figure, path)


def _draw_cells(axis: Any, values: Floats, counts: Integers) -> None:
    # The largest cells would flatten all others: the scale ends where a fraction of the cells goes on.
    top = max(1.0, float(np.quantile(counts, 0.999)))
    if counts.ndim == 2:
        axis.imshow(np.sqrt(np.maximum(values, 0)), vmin=0, vmax=np.sqrt(top), cmap="viridis")
        axis.set_axis_off()
    else:
        axis.plot(values, color="tab:blue", linewidth=0.5)
        axis.set_ylim(-0.15 * top, 1.1 * top)


def _pyplot() -> Any:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def _save(plt: Any, figure: Any, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=DPI)
    plt.close(figure)
    return path
