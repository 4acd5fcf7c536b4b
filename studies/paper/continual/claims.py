"""What the paper claims of CMCO's privacy and utility, judged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from studies.paper.deciding import called, judged, listed, times, told
from studies.paper.experiment import Claim, Expectation, Judgement, Outcome, Outcomes, Verdict

# ---- finding one's way in the outcomes: panels, and the streams in them

SIGNIFICANT = 2.0
"""How many times as large an error must be to be called significantly worse."""

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

OTHERS = {
    "zeros": "publish zeros",
    "difference": "continual mechanism (differences)",
    "plain": "noise once per tick, as published",
    "continual adaptive": "ContinualAdaptive",
}
CMCO = {"cmco": "CMCO, correct", "cmco paper": "CMCO, the paper's"}


@dataclass(frozen=True)
class Panel:
    """One data set at one ε."""

    data: str
    origin: str
    epsilon: str

    @property
    def named(self) -> str:
        """The data set, and where it is from."""
        return called(self.data, self.origin)

    @property
    def power(self) -> str:
        """ε as the paper writes it."""
        return "10" + f"{round(np.log10(float(self.epsilon)))}".translate(SUPERSCRIPTS)


def panels(outcomes: Outcomes) -> list[Panel]:
    """Row by row."""
    seen = outcomes.where(part="error")
    found = [Panel(one.settings["data"], one.settings["origin"], one.settings["epsilon"]) for one in seen]
    return list(dict.fromkeys(found))


def stream_in(outcomes: Outcomes, panel: Panel, mechanism: str, decoder: str = "cosamp") -> Outcome:
    """One stream's errors in a panel; `decoder` is for CMCO, which has two."""
    asked = outcomes.where(part="error", mechanism=mechanism, **vars(panel))
    return (asked.where(decoder=decoder) if mechanism.startswith("cmco") else asked).only()


def last_error(outcomes: Outcomes, panel: Panel, mechanism: str, decoder: str = "cosamp") -> float:
    """‖D − D*‖₂ at t = T, mean over runs."""
    return float(np.mean(stream_in(outcomes, panel, mechanism, decoder).found["errors"][-1]))


def least_ratio(outcomes: Outcomes, panel: Panel, mechanism: str, other: str) -> float:
    """How many times as large the first one's error is as the other's, at the moment where that is least."""
    first, second = (np.mean(stream_in(outcomes, panel, name).found["errors"], axis=1) for name in (mechanism, other))
    return float((first / second).min())


def told_of_panels(outcomes: Outcomes, measured: str) -> str:
    """A sentence about all panels, with a warning where the data are not the paper's."""
    return told(outcomes, list(dict.fromkeys(panel.data for panel in panels(outcomes))), measured)


def shown(number: float) -> str:
    """Three digits, or all before the point of numbers below a million."""
    if number >= 1e6:
        digits, power = f"{number:.2e}".split("e")
        return f"{digits}·10{str(int(power)).translate(SUPERSCRIPTS)}"
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


# ---- judges, and the sentences

ROUNDING = 1 + 1e-9


def judge_counter_privacy(outcomes: Outcomes) -> Judgement:
    """One counter of one tick, exactly; longer ones by the proof."""
    one = outcomes.where(part="loss", mechanism="difference").only()
    epsilon, found = float(one.settings["epsilon"]), one.found
    measured = (
        "By proof for every T, and for an intruder who sees the state: `streams/counter.md`, given that the noise of a "
        f"segment is erased when the segment ends. Measured for what one tick publishes: at ε = {epsilon:g} the worst "
        f"view is e^{found['worst']:g} times as likely with a record as without, exactly; runs prove "
        f"{max(0.0, found['measured']):.2f}."
    )
    return judged(max(found["worst"], found["measured"]) <= epsilon * ROUNDING, measured)


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
    """What all counters together lose, each of which is private by itself; noise for illustration."""
    one = outcomes.where(part="loss", mechanism="cmco paper").only()
    epsilon, rows, worst = float(one.settings["epsilon"]), one.settings["rows"], one.found["worst"]
    compared = ", ".join(
        f"{other.found['cmco paper']:.3g} against {other.found['static']:.3g} (T = {other.settings['horizon']:,}, "
        f"k = {other.found['rows']:,})"
        for other in outcomes.where(part="noise")
    )
    measured = (
        f"All k counters see the same record. With the proof's noise each of {rows} loses ε = {epsilon:g} at most, "
        f"and together they lose {worst:g}, exactly, at the worst view of one tick. For comparison, in units of 1/ε a "
        f"sample has noise of {compared} for T publications by the proof's CMCO against one by Algorithm 1, which adds "
        "the budgets up."
    )
    return judged(worst <= epsilon * ROUNDING, measured)


def judge_one_counter(outcomes: Outcomes) -> Judgement:
    """The counters' noise is made for a change of 1/√k: then one of them loses ε at most, and k of them kε."""
    one = outcomes.where(part="loss", mechanism="cmco paper").only()
    epsilon, rows = float(one.settings["epsilon"]), one.settings["rows"]
    each = one.found["worst"] / rows
    measured = (
        f"By construction: every entry of Φ is ±1/√k, and m_i differs where D_t does. Noise that is made for a change "
        f"of 1/√k loses {each:g} a counter at the worst view of one tick, exactly (k = {rows}, ε = {epsilon:g}); more "
        "than ε would be a larger change."
    )
    return judged(each <= epsilon * ROUNDING, measured)


def judge_utility(outcomes: Outcomes) -> Judgement:
    """The continual mechanism's error over CMCO's: at the moment where that is least, in every panel."""
    every = panels(outcomes)
    paper, correct = (
        [least_ratio(outcomes, panel, "difference", name) for panel in every] for name in ("cmco paper", "cmco")
    )
    at_last = [last_error(outcomes, panel, "difference") / last_error(outcomes, panel, "cmco") for panel in every]
    sparsities = sorted({stream_in(outcomes, panel, "cmco").found["sparsity"] for panel in every})
    chosen = f"S = {listed([str(sparsity) for sparsity in sparsities], joined_by='or')}"
    below = _below_zeros(outcomes, "cmco", "cosamp")
    measured = told_of_panels(
        outcomes,
        f"at the moment where it is least, the continual mechanism's error is {times(min(paper))} to "
        f"{times(max(paper))} times that of CMCO with the paper's noise, which spends kε, over {len(every)} panels. "
        f"With the noise of ε and the best S in hindsight ({chosen}) it is {times(min(correct))} to "
        f"{times(max(correct))} times CMCO's, and {times(min(at_last))} to {times(max(at_last))} times at t = T, "
        f"where CMCO's is below that of publishing zeros in {len(below)} panels.",
    )
    if min(correct) >= SIGNIFICANT and below:
        return Judgement(Verdict.HOLDS, measured)
    late = f"with {chosen} in hindsight and late in the stream"
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
    best = min(every, key=lambda panel: _share_of_zeros(outcomes, panel, "cmco paper"))
    measured = told_of_panels(
        outcomes,
        f"of CMCO: at t = T the error is below that of publishing zeros in {len(below['cmco'])} of {len(every)} panels "
        f"with the noise of ε (in {len(ours)} with our decoder), and in {len(below['cmco paper'])} with the paper's "
        f"noise, which spends kε: at best {shown(last_error(outcomes, best, 'cmco paper'))} against "
        f"{shown(last_error(outcomes, best, 'zeros'))} ({best.data}, ε = {best.power}). ContinualAdaptive, which "
        f"spends ε, has {shown(last_error(outcomes, best, 'continual adaptive'))} there. Of the compressive mechanism: "
        "see the sweep over ε.",
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
            measured = f"by a factor of {times(min(ratios))} or more, over {len(every)} panels"
            expectations.append(Expectation(what, measured, min(ratios) > 1))
    return expectations


def _share_of_zeros(outcomes: Outcomes, panel: Panel, mechanism: str, decoder: str = "cosamp") -> float:
    return last_error(outcomes, panel, mechanism, decoder) / last_error(outcomes, panel, "zeros")


def _below_zeros(outcomes: Outcomes, mechanism: str, decoder: str) -> list[Panel]:
    return [panel for panel in panels(outcomes) if _share_of_zeros(outcomes, panel, mechanism, decoder) < 1]


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
    Claim(
        "Appendix C",
        "For two neighboring inputs D_t, D'_t ∈ ℝᵗ with ||D_t − D'_t||₁ ≤ 1, their corresponding m_i, m'_i ∈ ℝᵗ "
        "satisfies ||m_i − m'_i||₁ ≤ 1/√k.",
        judge_one_counter,
    ),
)
