"""The figure's last moments as numbers, the choice of S, and what is lost."""

from __future__ import annotations

import numpy as np

from sparsedp.experiments.paper.continual.measuring import DECODERS
from sparsedp.experiments.paper.continual.reading import SUPERSCRIPTS, Panel, last_error, panels, stream_in
from sparsedp.experiments.paper.experiment import Numbers
from sparsedp.experiments.paper.outcomes import Outcomes

OTHERS = {
    "zeros": "publish zeros",
    "difference": "continual mechanism (differences)",
    "plain": "noise once per tick, as published",
    "continual adaptive": "ContinualAdaptive",
}
CMCO = {"cmco": "CMCO, correct", "cmco paper": "CMCO, the paper's"}


def tabulate(outcomes: Outcomes) -> list[Numbers]:
    """Errors at T, the choice of S, and privacy."""
    return [_last_errors(outcomes), _choices(outcomes), _noises(outcomes), _losses(outcomes)]


def shown(number: float) -> str:
    """Three digits, or all before the point of numbers below a million."""
    if number >= 1e6:
        digits, power = f"{number:.2e}".split("e")
        return f"{digits}·10{str(int(power)).translate(SUPERSCRIPTS)}"
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _last_errors(outcomes: Outcomes) -> Numbers:
    others = [f"{name}: {'nothing' if name == OTHERS['zeros'] else 'ε'}" for name in OTHERS.values()]
    cmco = [
        f"{name}, {decoder}: {'ε' if mechanism == 'cmco' else 'kε'}"
        for mechanism, name in CMCO.items()
        for decoder in DECODERS.values()
    ]
    rows = tuple(
        (
            panel.named,
            panel.power,
            *(shown(last_error(outcomes, panel, mechanism)) for mechanism in OTHERS),
            *(_with_choice(outcomes, panel, mechanism, decoder) for mechanism in CMCO for decoder in DECODERS),
        )
        for panel in panels(outcomes)
    )
    caption = "‖D − D*‖₂ at t = T, mean of the runs, with what each stream spends; of CMCO with the chosen S and its k."
    return Numbers(caption, ("data", "ε", *others, *cmco), rows)


def _with_choice(outcomes: Outcomes, panel: Panel, mechanism: str, decoder: str) -> str:
    found = stream_in(outcomes, panel, mechanism, decoder).found
    error = last_error(outcomes, panel, mechanism, decoder)
    return f"{shown(error)} (S = {found['sparsity']}, k = {found['rows']:,})"


def _choices(outcomes: Outcomes) -> Numbers:
    rows = []
    for panel in panels(outcomes):
        difference = last_error(outcomes, panel, "difference")
        for mechanism, name in CMCO.items():
            tried = stream_in(outcomes, panel, mechanism).found["tried"]
            errors = [f"S = {one['sparsity']}: {shown(float(np.mean(one['errors'])))}" for one in tried]
            rows.append((panel.named, panel.power, name, "; ".join(errors), shown(difference)))
    caption = (
        "Choosing S in hindsight, CoSaMP: the error at t = T of the runs that S was chosen by, for every candidate."
    )
    return Numbers(caption, ("data", "ε", "stream", "error", "continual mechanism"), tuple(rows))


def _noises(outcomes: Outcomes) -> Numbers:
    rows = []
    for one in outcomes.where(part="noise"):
        found, limit = one.found, (1 + one.found["levels"]) ** 1.5
        sizes = (shown(found[name]) for name in ("cmco paper", "static", "cmco"))
        rows.append((f"{one.settings['horizon']:,}", f"{found['rows']:,}", f"{limit:.0f}", *sizes))
    caption = (
        "Standard deviation of the noise on a sample (entries ±1/√k, ε = 1, S = 32): one publication by Algorithm 1 "
        "beside the last of T publications by CMCO. Where k > (1 + L)^1.5 the paper's CMCO claims to need less."
    )
    headings = ("T", "k", "(1 + L)^1.5", "CMCO, the paper's", "Algorithm 1, once", "CMCO, correct")
    return Numbers(caption, headings, tuple(rows))


def _losses(outcomes: Outcomes) -> Numbers:
    names = {**OTHERS, **CMCO}
    rows = tuple(
        (
            names[one.settings["mechanism"]],
            f"{one.settings['rows']}",
            one.settings["epsilon"],
            f"{one.found['stated']:g}",
            f"{one.found['worst']:g}",
            f"{max(0.0, one.found['measured']):.2f}",
            f"{one.found['measurable']:.2f}",
        )
        for one in outcomes.where(part="loss")
    )
    caption = (
        "Streams of a single tick, without and with one record: the log of the largest likelihood ratio, exactly, and "
        "what an attack proves of it by runs, with 99.9 % confidence (it cannot prove more than the last column)."
    )
    headings = ("stream", "counters", "ε asked for", "ε stated", "ε lost, exactly", "proven by runs", "provable")
    return Numbers(caption, headings, rows)
