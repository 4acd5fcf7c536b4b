"""The sweep as tables."""

from __future__ import annotations

from sparsedp.experiments.paper.data_names import panel_title
from sparsedp.experiments.paper.epsilon_sweep.contenders import JUDGED, RIVALS
from sparsedp.experiments.paper.epsilon_sweep.hindsight import KNOWN
from sparsedp.experiments.paper.epsilon_sweep.judging.advantage import Sweep
from sparsedp.experiments.paper.epsilon_sweep.pictures import HINDSIGHT, look_of
from sparsedp.experiments.paper.experiment import Numbers
from sparsedp.experiments.paper.outcomes import Outcomes


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
        tuple(row for data in names for row in _advantages(sweep, data)),
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


def _advantages(sweep: Sweep, data: str) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for rival in (*RIVALS, "zeros"):
        ratios = [sweep.ratio(data, epsilon, rival) for epsilon in sweep.epsilons]
        rows.append((data, look_of(rival).label, *(ratio.with_ends for ratio in ratios)))
    chosen = [sweep.runs(data, JUDGED, epsilon, "sparsities") for epsilon in sweep.epsilons]
    rows.append((data, "S", *(f"{min(one)} – {max(one)}" for one in chosen)))
    return rows
