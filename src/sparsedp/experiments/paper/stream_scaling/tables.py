"""Exponents beside the paper's bounds, and the numbers behind them."""

from __future__ import annotations

from sparsedp.experiments.paper.continual.tables import CMCO, OTHERS, shown
from sparsedp.experiments.paper.experiment import Numbers
from sparsedp.experiments.paper.outcomes import Outcomes
from sparsedp.experiments.paper.stream_scaling.laws import Points, points

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
