"""The page on accuracy: its generated parts, the comparisons as Markdown tables, and pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.errors import BadFile
from studies.accuracy.comparison import (
    MEAN_TARGET,
    METRIC_OF_MODE,
    WORST_TARGET,
    Comparison,
    PublishedComparison,
    Results,
    Score,
    Verdict,
    as_published,
    at_their_best,
    geometric_mean,
    mean_ratios,
    modes_of,
    score,
)
from studies.accuracy.measuring import BYSTANDERS, EPSILON, RIVALS, Case, Configured, Contender, setting_name
from studies.inputs import INPUTS

# ---- generated parts in a page by hand: what stands between two markers is replaced, all else is kept

_PART = re.compile(r"(<!-- begin: (?P<name>[a-z-]+) -->\n).*?(<!-- end: (?P=name) -->)", re.DOTALL)


def marked(name: str, text: str = "") -> str:
    """A part of a page, between its markers."""
    return f"<!-- begin: {name} -->\n{text}\n<!-- end: {name} -->"


def write_parts(page: Path, parts: Mapping[str, str]) -> Path:
    """Put each part between its markers; a page that is not there yet is made of all of them.

    A page may leave parts out. It may not ask for one that nobody made.
    """
    if not page.exists():
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("# Accuracy\n\n" + "\n\n".join(marked(name, text) for name, text in parts.items()) + "\n")
        return page
    text = page.read_text()
    asked = [found["name"] for found in _PART.finditer(text)]
    unknown = [name for name in asked if name not in parts]
    if unknown or not asked:
        wanted = f"asks for {', '.join(unknown)}" if unknown else "has no markers"
        raise BadFile(f"{page} {wanted}; the parts are {', '.join(f'<!-- begin: {name} -->' for name in parts)}.")
    page.write_text(_PART.sub(lambda found: f"{found[1]}{parts[found['name']]}\n{found[3]}", text))
    return page


# ---- tables

SHOWN = {"cells": "cells", "ranges": "ranges", "product": "cells × ranges"}


def verdict_list(found: Iterable[Verdict]) -> str:
    """One line a verdict."""
    return "\n".join(f"- {verdict}" for verdict in found)


def ratio_tables(comparisons: Sequence[Comparison]) -> str:
    """A table a mode: inputs down, settings across; the ratio, the interval's half width, and who the best other is."""
    return "\n\n".join(_ratio_table(mode, comparisons) for mode in modes_of(comparisons))


def _ratio_table(mode: str, comparisons: Sequence[Comparison]) -> str:
    by_case = {comparison.case: comparison for comparison in comparisons if comparison.mode == mode}
    settings = list(dict.fromkeys(case.setting for case in by_case))
    means = mean_ratios(list(by_case.values()))
    rows = []
    for name, mean in means.items():
        entries = {case.setting: _against(comparison) for case, comparison in by_case.items() if case.input == name}
        rows.append([name, *(entries.get(setting, "") for setting in settings), with_margin(mean)])
    overall = geometric_mean([comparison.ratio for comparison in by_case.values()])
    columns = [
        geometric_mean([comparison.ratio for case, comparison in by_case.items() if case.setting == setting])
        for setting in settings
    ]
    rows.append(["*geometric mean*", *(with_margin(column) for column in columns), f"**{with_margin(overall)}**"])
    title = f'**`workload="{mode}"`**: {SHOWN[METRIC_OF_MODE[mode]]}, ratio to the best other mechanism'
    return f"{title}\n\n{markdown(['input', *settings, 'geometric mean'], rows)}"


def _against(comparison: Comparison) -> str:
    shown = with_margin(comparison.ratio)
    return f"{f'**{shown}**' if comparison.ratio.value > WORST_TARGET else shown} ({comparison.rival.name})"


def published_table(comparisons: Sequence[PublishedComparison]) -> str:
    """Each mode beside the best of the seven published mechanisms."""
    rows = [
        [
            comparison.mode,
            comparison.case.input,
            comparison.case.setting,
            SHOWN[METRIC_OF_MODE[comparison.mode]],
            f"{comparison.ours.value:,.0f}",
            f"{comparison.best.score.value:,.0f} ({comparison.best.name})",
            with_margin(comparison.ratio),
        ]
        for comparison in comparisons
    ]
    return markdown(["mode", "input", "total", "metric", "ours", "best of the seven", "ratio"], rows)


def error_table(results: Results, ours: Mapping[str, Configured], cases: Iterable[Case]) -> str:
    """Every mean error, cells / ranges, with the half widths of their intervals in percent."""
    cases = list(cases)
    our_names = [contender.name for contender in ours.values()]
    ordered = [*our_names, *(contender.name for contender in (*RIVALS, *BYSTANDERS))]
    names = [name for name in ordered if any(results.runs(case, name) for case in cases)]
    rows = []
    for case in cases:
        entries = [_errors(results, case, name, name in our_names) for name in names]
        rows.append([case.input, case.setting, *entries])
    return markdown(["input", "total", *names], rows)


def _errors(results: Results, case: Case, name: str, is_ours: bool) -> str:
    if not results.runs(case, name):
        return ""
    errors = results.errors(case, name)
    judged = as_published(errors) if is_ours else at_their_best(errors)
    scores = [score(judged, metric) for metric in ("cells", "ranges")]
    return " / ".join(f"{one.value:,.0f}" for one in scores) + " ± " + " / ".join(_percent(one) for one in scores)


def input_table(names: Iterable[str]) -> str:
    """What each input is."""
    return markdown(["input", "what it is"], [[name, INPUTS[name].about] for name in names])


def markdown(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def with_margin(one: Score) -> str:
    """A ratio and half the width of its interval."""
    return f"{one.value:.2f} ± {one.margin:.2f}"


def _percent(one: Score) -> str:
    return f"{100 * one.margin / one.value:.0f} %"


# ---- pictures: drawn with matplotlib, which the `demo` extra brings

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


def draw_releases(inputs: Mapping[str, Ints], contenders: Sequence[Contender], path: Path) -> Path:
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


def _draw_cells(axis: Any, values: Floats, counts: Ints) -> None:
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
