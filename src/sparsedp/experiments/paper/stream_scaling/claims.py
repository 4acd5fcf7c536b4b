"""What the paper claims of the growth of errors in streams (its Table 2), and of the costs, judged."""

from __future__ import annotations

import numpy as np

from sparsedp.experiments.paper.claim import Claim, Judgement, Verdict
from sparsedp.experiments.paper.continual.tables import shown
from sparsedp.experiments.paper.fits import power_law
from sparsedp.experiments.paper.outcomes import Outcomes
from sparsedp.experiments.paper.stream_scaling.laws import points
from sparsedp.experiments.paper.stream_scaling.measuring import RARE

SLOWLY = 1 / 3
"""An exponent that lies below this with its whole interval is not that of √T: what is left may be logarithms."""

ROOM = 0.05
"""What an exponent may exceed a bound by: fits over a finite range bend a little."""

LOGARITHM = 0.2
"""The same for exponents of 1 + log T: at these T, log^1.5 T looks like (1 + log T)^1.63."""

WITHIN = "within log^1.5 T"
UP_TO_LOGARITHMS = "up to further logarithms, which Õ leaves out, and for a sparsity that does not grow"
PAPERS_NOISE = "with the noise that guarantees kε"


def judge_theorem(outcomes: Outcomes) -> Judgement:
    """At every t of one horizon, and at T for every horizon."""
    against_t = {name: points(outcomes, "time", name).power for name in ("cmco", "cmco paper")}
    against_horizon = {name: points(outcomes, "horizon", name) for name in against_t}
    in_steps = points(outcomes, "sparsity", "cmco").power
    beyond = WITHIN
    if against_horizon["cmco"].logarithmic.low > 1.5 + LOGARITHM:
        beyond = "more than log^1.5 T, by logarithms if the first law is the right one"
    measured = (
        f"With the noise of ε the error grows like t^{against_t['cmco']} at fixed T, and like "
        f"(1 + log T)^{against_horizon['cmco'].logarithmic} or T^{against_horizon['cmco'].power} (nearer to the "
        f"points: {against_horizon['cmco'].nearer}): {beyond}. k counters share ε, so that it grows like S^{in_steps}, "
        f"too. With the paper's noise, which spends kε: t^{against_t['cmco paper']}, "
        f"(1 + log T)^{against_horizon['cmco paper'].logarithmic} or T^{against_horizon['cmco paper'].power}."
    )
    slow = {name: max(against_t[name].high, against_horizon[name].power.high) < SLOWLY for name in against_t}
    if slow["cmco"] and beyond != WITHIN:
        return Judgement(Verdict.HOLDS_ONLY, measured, UP_TO_LOGARITHMS)
    return _either(slow["cmco"], slow["cmco paper"], measured)


def judge_cmco_row(outcomes: Outcomes) -> Judgement:
    """The row of the table: in T and in ε."""
    in_horizon = {name: points(outcomes, "horizon", name) for name in ("cmco", "cmco paper")}
    in_epsilon = {name: points(outcomes, "epsilon", name).power for name in in_horizon}
    words = {"cmco": "With the noise of ε", "cmco paper": "with the paper's, which spends kε"}
    measured = "; ".join(
        f"{said}: (1 + log T)^{in_horizon[name].logarithmic} or T^{in_horizon[name].power} (nearer to the points: "
        f"{in_horizon[name].nearer}), and ε^{in_epsilon[name]}"
        for name, said in words.items()
    )
    right = {
        name: in_horizon[name].power.high < SLOWLY and abs(in_epsilon[name].value + 1) <= ROOM for name in in_horizon
    }
    if right["cmco"] and in_horizon["cmco"].logarithmic.low > 1.5 + LOGARITHM:
        return Judgement(Verdict.HOLDS_ONLY, f"{measured}.", UP_TO_LOGARITHMS)
    return _either(right["cmco"], right["cmco paper"], f"{measured}.")


def judge_differences(outcomes: Outcomes) -> Judgement:
    """In t, within one horizon."""
    slope = points(outcomes, "time", "difference").power
    measured = f"At fixed T the error of the differences grows like t^{slope}."
    return Judgement(Verdict.HOLDS if slope.low <= 0.5 + ROOM else Verdict.DOES_NOT_HOLD, measured)


def judge_continual_row(outcomes: Outcomes) -> Judgement:
    """In T at t = T, over log^1.5 T, and in ε."""
    measured_in = points(outcomes, "horizon", "difference")
    logarithms = 1 + np.log2(measured_in.x)
    over_bound, over_one = measured_in.over(logarithms**1.5).power, measured_in.over(logarithms).power
    in_epsilon = points(outcomes, "epsilon", "difference").power
    measured = (
        f"At t = T the error grows like T^{measured_in.power}; divided by (1 + log T)^1.5, like T^{over_bound}; "
        f"divided by 1 + log T, like T^{over_one}: neighbouring totals share most of their noises, so that √log T of "
        f"the bound is not needed. Against ε: ε^{in_epsilon}."
    )
    holds = over_bound.low <= 0.5 + ROOM and abs(in_epsilon.value + 1) <= ROOM
    return Judgement(Verdict.HOLDS if holds else Verdict.DOES_NOT_HOLD, measured)


def judge_comparison(outcomes: Outcomes) -> Judgement:
    """From which horizon on CMCO is ahead, on a stream that is exactly as sparse as it is told."""
    difference = points(outcomes, "horizon", "difference")
    errors = dict(zip(difference.x, difference.means, strict=True))
    ratios = {}
    for name in ("cmco", "cmco paper"):
        cmco = points(outcomes, "horizon", name)
        ratios[name] = {x: errors[x] / mean for x, mean in zip(cmco.x, cmco.means, strict=True)}
    plain = points(outcomes, "horizon", "plain")
    first, last = min(ratios["cmco"]), max(ratios["cmco"])
    at_last = shown(dict(zip(plain.x, plain.means, strict=True))[last])
    measured = (
        f"On steps, with S known, the differences have {shown(ratios['cmco'][first])} times CMCO's error at "
        f"T = {first:,.0f} and {shown(ratios['cmco'][last])} times at T = {last:,.0f} with the noise of ε; "
        f"{shown(ratios['cmco paper'][first])} and {shown(ratios['cmco paper'][last])} times with the paper's, which "
        f"spends kε. Noise once per tick, with no decoder at all, has {at_last} at T = {last:,.0f}, against CMCO's "
        f"{shown(errors[last] / ratios['cmco'][last])}."
    )
    if min(ratios["cmco"].values()) > 1:
        return Judgement(Verdict.HOLDS, measured)
    ahead = [x for x in ratios["cmco"] if all(ratios["cmco"][later] > 1 for later in ratios["cmco"] if later >= x)]
    if ahead:
        only = f"from T = {min(ahead):,.0f} on, for streams that are exactly sparse with S known"
        return Judgement(Verdict.HOLDS_ONLY, measured, only)
    return _either(False, min(ratios["cmco paper"].values()) > 1, measured)


def judge_totals(outcomes: Outcomes) -> Judgement:
    """The counter's running totals: their size, and their rare large errors."""
    totals, rare = (points(outcomes, "horizon", "difference", key) for key in ("total", "rare total"))
    constants = rare.means / (np.log2(1 / RARE) * np.log2(rare.x) ** 1.5)
    measured = (
        f"Over all ticks the totals' error grows like (1 + log T)^{totals.logarithmic}, "
        f"where the law of the noise says √2·(1 + log T)^1.5/ε. With β = {RARE:g} the constant before "
        f"log(1/β)·log^1.5(T)/ε is {constants.min():.2f} to {constants.max():.2f} for T from {rare.x[0]:,.0f} to "
        f"{rare.x[-1]:,.0f}."
    )
    holds = totals.logarithmic.low <= 1.5 + LOGARITHM and power_law(rare.x, [[one] for one in constants]).low <= ROOM
    return Judgement(Verdict.HOLDS if holds else Verdict.DOES_NOT_HOLD, measured)


def judge_noise(outcomes: Outcomes) -> Judgement:
    """‖v − v*‖₂ against T, and against S, on which the bound depends by log k only."""
    names = ("cmco", "cmco paper")
    in_horizon = {name: points(outcomes, "horizon", name, "noise").logarithmic for name in names}
    in_steps = {name: points(outcomes, "sparsity", name, "noise").power for name in names}
    measured = (
        f"With the paper's noise ‖v − v*‖₂ grows like (1 + log T)^{in_horizon['cmco paper']} and "
        f"S^{in_steps['cmco paper']}; with that of ε, k times as large, like (1 + log T)^{in_horizon['cmco']} and "
        f"S^{in_steps['cmco']}."
    )
    # log k is log S and log log T at most: an exponent of S that is not 0 exceeds it.
    right = {name: in_horizon[name].low <= 1.5 + LOGARITHM and in_steps[name].low <= ROOM for name in names}
    return _either(right["cmco"], right["cmco paper"], measured)


def judge_costs(outcomes: Outcomes) -> Judgement:
    """Seconds and bytes of a release, against t."""
    found = outcomes.where(part="cost").only().found
    seconds, size = (
        power_law(found["moments"], [[one] for one in found[key]]) for key in ("release_seconds", "release_bytes")
    )
    ticks = found["observe_seconds"]
    measured = (
        f"From t = {found['moments'][0]:,} to {found['moments'][-1]:,} a release takes time ∝ t^{seconds} (CoSaMP) and "
        f"memory ∝ t^{size}; the dearest ticks take {max(ticks) / min(ticks):.2f} times as long as the cheapest. Each "
        "is multiplied by k, which is O(log T) while S is a constant. "
        "The signs are k·t bits of a public stream; long ones are drawn again, part by part, not kept."
    )
    holds = max(seconds.low, size.low) <= 1 + ROOM
    return Judgement(Verdict.HOLDS if holds else Verdict.DOES_NOT_HOLD, measured)


def judge_storage(outcomes: Outcomes) -> Judgement:
    """The numbers in the state."""
    found = outcomes.where(part="cost").only().found
    rows, levels = found["rows"], found["levels"]
    measured = (
        f"The state holds {found['state']:,} integers, k·(2 + L) with k = {rows} and L = {levels}, before the first "
        "tick and after the last: for each counter a noisy sum, the noises of the open segments, and what was "
        "published last."
    )
    holds = found["state"] <= rows * (2 + levels)
    return Judgement(Verdict.HOLDS if holds else Verdict.DOES_NOT_HOLD, measured)


def _either(correct: bool, paper: bool, measured: str) -> Judgement:
    """As it stands if it holds with the noise of ε; else perhaps with the paper's."""
    if correct:
        return Judgement(Verdict.HOLDS, measured)
    if paper:
        return Judgement(Verdict.HOLDS_ONLY, measured, PAPERS_NOISE)
    return Judgement(Verdict.DOES_NOT_HOLD, measured)


CLAIMS = (
    Claim(
        "Section 3.3, Lemma 3",
        "At each time t ∈ [1, T], with probability at least 1 − β, |Σ*_t − Σ_t| = O(log(1/β)·log^1.5(T)/ε).",
        judge_totals,
    ),
    Claim(
        "Section 6.1",
        "What we store at each time t is just what is stored for the k ε-differentially pan-private continual "
        "mechanisms, namely k noisy sums and some independent noise",
        judge_storage,
    ),
    Claim(
        "Section 6.2, Theorem 2",
        "[…] for each time t ∈ [1,T], ||D*_t − D_t||₂ = Õ(log^1.5(T)/ε) with high probability.",
        judge_theorem,
    ),
    Claim(
        "Section 6.3",
        "Calculations show that with high probability, ||D_t − D*_t||₂ = Õ(√t·log^1.5(T)/ε) […]",
        judge_differences,
    ),
    Claim("Section 6.3", "[…] indicating the performance is not as good as that of CMCO.", judge_comparison),
    Claim(
        "Section 6.3",
        "Second, the time and space complexity of CMCO are both Õ(t + log(n)) at each time t ∈ [1,T].",
        judge_costs,
    ),
    Claim(
        "Section 6.3, Table 2",
        "Error bounds comparison (in terms of ||D_t − D*_t||₂) for answering the identity query at time t. CMCO: "
        "Õ(log^1.5(T)/ε)",
        judge_cmco_row,
    ),
    Claim(
        "Section 6.3, Table 2",
        "Error bounds comparison (in terms of ||D_t − D*_t||₂) for answering the identity query at time t. Continual "
        "Mechanism: Õ(√t·log^1.5(T)/ε)",
        judge_continual_row,
    ),
    Claim(
        "Appendix C",
        "Along with the Chebyshev inequality, we have that with probability at least 1 − β − δ, ||v_t − v*_t||₂ = "
        "O(log(k/β)·log^1.5(T)/(ε·δ^(1/4))).",
        judge_noise,
    ),
)
