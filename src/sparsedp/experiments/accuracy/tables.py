"""The comparisons as Markdown tables, for the page on accuracy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sparsedp.experiments.accuracy.cases import Case
from sparsedp.experiments.accuracy.comparison import Comparison
from sparsedp.experiments.accuracy.contenders import BYSTANDERS, RIVALS, Configured
from sparsedp.experiments.accuracy.published import PublishedComparison
from sparsedp.experiments.accuracy.results import Results
from sparsedp.experiments.accuracy.scores import (
    METRIC_OF_MODE,
    Score,
    as_published,
    at_their_best,
    geometric_mean,
    score,
)
from sparsedp.experiments.accuracy.verdicts import WORST_TARGET, Verdict, mean_ratios, modes_of
from sparsedp.experiments.inputs import INPUTS

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
