"""What the paper claims of CMCO's privacy and utility, judged."""

from __future__ import annotations

from sparsedp.experiments.paper.claim import Claim, Expectation, Judgement, Verdict
from sparsedp.experiments.paper.continual.reading import (
    SIGNIFICANT,
    Panel,
    last_error,
    least_ratio,
    panels,
    said_of_data,
    stream_in,
)
from sparsedp.experiments.paper.continual.tables import shown
from sparsedp.experiments.paper.outcomes import Outcomes

ROUNDING = 1 + 1e-9


def judge_counter_privacy(outcomes: Outcomes) -> Judgement:
    """One counter of one tick, exactly; longer ones by the proof."""
    one = outcomes.where(part="loss", mechanism="difference").only()
    epsilon, found = float(one.settings["epsilon"]), one.found
    measured = (
        f"At ε = {epsilon:g} the worst view of a stream of one tick is e^{found['worst']:g} times as likely with a "
        f"record as without, exactly; runs prove {max(0.0, found['measured']):.2f}. For every T: the proof in "
        "`streams/counter.md`, given that the noise of a segment is erased when the segment ends."
    )
    holds = max(found["worst"], found["measured"]) <= epsilon * ROUNDING
    return Judgement(Verdict.HOLDS if holds else Verdict.DOES_NOT_HOLD, measured)


def judge_cmco_privacy(outcomes: Outcomes) -> Judgement:
    """The paper's calibration, then the correct one."""
    paper, correct = (outcomes.where(part="loss", mechanism=name).only() for name in ("cmco paper", "cmco"))
    epsilon, rows = float(paper.settings["epsilon"]), paper.settings["rows"]
    measured = (
        f"{rows} counters, ε = {epsilon:g}, a stream of one tick: with the paper's noise some view is "
        f"e^{paper.found['worst']:g} times as likely with a record as without (runs prove "
        f"{max(0.0, paper.found['measured']):.2f}; {paper.found['measurable']:.2f} is all that so few can prove). With "
        f"the correct noise: e^{correct.found['worst']:g} (runs prove {max(0.0, correct.found['measured']):.2f}). "
        "Proof for every T: `streams/compressive.md`."
    )
    if paper.found["worst"] <= epsilon * ROUNDING:
        return Judgement(Verdict.HOLDS, measured)
    if max(correct.found["worst"], correct.found["measured"]) <= epsilon * ROUNDING:
        only = "with k times the noise, so that the k counters share ε; as published it guarantees kε and nothing less"
        return Judgement(Verdict.HOLDS_ONLY, measured, only)
    return Judgement(Verdict.DOES_NOT_HOLD, measured)


def judge_proof(outcomes: Outcomes) -> Judgement:
    """Whether the proof's noise is even as large as that of one publication."""
    rows = list(outcomes.where(part="noise"))
    compared = ", ".join(
        f"{one.found['cmco paper']:.3g} against {one.found['static']:.3g} (T = {one.settings['horizon']:,}, "
        f"k = {one.found['rows']:,})"
        for one in rows
    )
    measured = (
        "Every counter is private by itself, but all k see the same record, so that their budgets add up. The noise "
        f"shows it: in units of 1/ε a sample has {compared} for T publications by the proof's CMCO against one by "
        "Algorithm 1, at the same ε."
    )
    enough = all(one.found["cmco paper"] >= one.found["static"] for one in rows)
    return Judgement(Verdict.HOLDS if enough else Verdict.DOES_NOT_HOLD, measured)


def judge_utility(outcomes: Outcomes) -> Judgement:
    """The continual mechanism's error over CMCO's: at the moment where that is least, in every panel."""
    every = panels(outcomes)
    paper, correct = (
        [least_ratio(outcomes, panel, "difference", name) for panel in every] for name in ("cmco paper", "cmco")
    )
    at_last = [last_error(outcomes, panel, "difference") / last_error(outcomes, panel, "cmco") for panel in every]
    chosen = sorted({stream_in(outcomes, panel, "cmco").found["sparsity"] for panel in every})
    below = _below_zeros(outcomes, "cmco", "cosamp")
    measured = (
        f"{said_of_data(outcomes)}At the moment where it is least, the continual mechanism's error is "
        f"{shown(min(paper))} to {shown(max(paper))} times that of CMCO with the paper's noise, which spends kε, over "
        f"{len(every)} panels. With the noise of ε and the best S in hindsight (S = {_listed(chosen)}) it is "
        f"{shown(min(correct))} to {shown(max(correct))} times CMCO's, and {shown(min(at_last))} to "
        f"{shown(max(at_last))} times at t = T, where CMCO's is below that of publishing zeros in {len(below)} panels."
    )
    if min(correct) >= SIGNIFICANT and below:
        return Judgement(Verdict.HOLDS, measured)
    late = f"with S = {_listed(chosen)} in hindsight and late in the stream"
    if all(_share_of_zeros(outcomes, panel, name) > 1 for panel in every for name in ("cmco", "difference")):
        late += ", where both are worse than publishing zeros"
    if min(paper) >= SIGNIFICANT:
        only = "with the noise that guarantees kε"
        return Judgement(Verdict.HOLDS_ONLY, measured, f"{only}, or {late}" if min(at_last) >= SIGNIFICANT else only)
    return Judgement(Verdict.DOES_NOT_HOLD, measured)


def judge_effectiveness(outcomes: Outcomes) -> Judgement:
    """Whether CMCO tells more than zeros do, at t = T."""
    every = panels(outcomes)
    below = {name: _below_zeros(outcomes, name, "cosamp") for name in ("cmco", "cmco paper")}
    ours = _below_zeros(outcomes, "cmco", "auto")
    best = max(every, key=lambda panel: _share_of_zeros(outcomes, panel, "cmco paper") ** -1)
    measured = (
        f"{said_of_data(outcomes)}At t = T the error is below that of publishing zeros in {len(below['cmco'])} of "
        f"{len(every)} panels with the noise of ε (in {len(ours)} with our decoder), and in {len(below['cmco paper'])} "
        f"with the paper's noise, which spends kε: at best {shown(last_error(outcomes, best, 'cmco paper'))} against "
        f"{shown(last_error(outcomes, best, 'zeros'))} ({best.data}, ε = {best.power}). ContinualAdaptive, which "
        f"spends ε, has {shown(last_error(outcomes, best, 'continual adaptive'))} there."
    )
    if len(below["cmco"]) == len(every):
        return Judgement(Verdict.HOLDS, measured)
    if below["cmco"]:
        return Judgement(Verdict.HOLDS_ONLY, measured, f"of CMCO, at ε = {_powers(below['cmco'])}")
    if below["cmco paper"]:
        only = f"of CMCO, at ε = {_powers(below['cmco paper'])} and with the noise that guarantees kε"
        return Judgement(Verdict.HOLDS_ONLY, measured, only)
    return Judgement(Verdict.DOES_NOT_HOLD, measured)


def expect(outcomes: Outcomes) -> list[Expectation]:
    """On the paper's files: its figure comes out with its noise, and there is a better stream that spends only ε."""
    every = [panel for panel in panels(outcomes) if panel.origin == "file"]
    expectations = []
    for name, what in {
        "cmco paper": "CMCO with the paper's noise (kε) is ahead of the continual mechanism at every moment",
        "continual adaptive": "ContinualAdaptive is ahead of the continual mechanism at every moment",
    }.items():
        ratios = [least_ratio(outcomes, panel, "difference", name) for panel in every]
        if ratios:
            measured = f"by a factor of {shown(min(ratios))} or more, over {len(every)} panels"
            expectations.append(Expectation(what, measured, min(ratios) > 1))
    return expectations


def _share_of_zeros(outcomes: Outcomes, panel: Panel, mechanism: str, decoder: str = "cosamp") -> float:
    return last_error(outcomes, panel, mechanism, decoder) / last_error(outcomes, panel, "zeros")


def _below_zeros(outcomes: Outcomes, mechanism: str, decoder: str) -> list[Panel]:
    return [panel for panel in panels(outcomes) if _share_of_zeros(outcomes, panel, mechanism, decoder) < 1]


def _listed(numbers: list[int]) -> str:
    return " or ".join(str(number) for number in numbers)


def _powers(every: list[Panel]) -> str:
    return ", ".join(dict.fromkeys(panel.power for panel in every))


CLAIMS = (
    Claim(
        "Section 3.3, Lemma 3", "The continual mechanism provides ε-differential pan-privacy.", judge_counter_privacy
    ),
    Claim("Section 6.2, Theorem 2", "CMCO is ε-differentially pan-private […]", judge_cmco_privacy),
    Claim(
        "Section 7",
        "This section illustrates the effectiveness of the compressive mechanism and CMCO by experimental results on "
        "real data sets.",
        judge_effectiveness,
    ),
    Claim(
        "Section 7.1.3",
        "[…] the continual mechanism has significantly lower utility than the compressive mechanism under continual "
        "observation.",
        judge_utility,
    ),
    Claim(
        "Appendix C",
        "The ε-differential pan-privacy of CMCO is straightforward: at time t, we estimate Σⱼ₌₁ᵗ uⱼ[i] in an "
        "ε-differentially pan-private way and any operation after this step preserves pan-privacy.",
        judge_proof,
    ),
)
