"""What the paper claims of the growth of errors in streams (its Table 2), and of the costs, judged by fitted laws."""

from __future__ import annotations

import numpy as np

from studies.paper.continual.claims import shown
from studies.paper.deciding import Answer, Series, Slope, at_most, every, judged, near, power_law, times
from studies.paper.experiment import Claim, Judgement, Outcomes, Verdict
from studies.paper.stream_scaling.measuring import RARE

# ---- laws: exponents with intervals, and which of two laws the points are nearer to

VARIED = {"horizon": "horizon", "time": "ticks", "epsilon": "epsilon", "sparsity": "pieces"}
"""The setting that a part varies."""

DISTINCT = 2.0
"""How many times as far from the points one law must be for the other to be called the better one."""


class Points(Series):
    """A series over ticks, which may also grow like a power of their logarithm."""

    @property
    def in_logarithm(self) -> Series:
        """Over 1 + log₂ x. The paper's noises are Lap((1 + log T)/ε); in the long run the 1 does not matter."""
        return self.against((1 + np.log2(self.x)).tolist())

    @property
    def logarithmic(self) -> Slope:
        """q of c·(1 + log₂ x)^q."""
        return self.in_logarithm.power

    @property
    def nearer(self) -> str:
        """The law that fits better, if one does."""
        power, logarithm = self.misfit, self.in_logarithm.misfit
        if power > DISTINCT * logarithm:
            return "a power of 1 + log T"
        return "a power of T" if logarithm > DISTINCT * power else "either"


def points(outcomes: Outcomes, part: str, mechanism: str, key: str = "errors") -> Points:
    """What was measured of one stream in one part: its errors, or what else its jobs found."""
    rows = outcomes.where(part=part, mechanism=mechanism)
    found = {float(row.settings[VARIED[part]]): tuple(row.found[key]) for row in rows}
    rising = sorted(found)
    return Points(tuple(rising), tuple(found[x] for x in rising))


# ---- judges, and the sentences

SLOWLY = 1 / 3
"""An exponent that lies below this with its whole interval is not that of √T: what is left may be logarithms."""

ROOM = 0.05
"""What an exponent may exceed a bound by: fits over a finite range bend a little."""

LOGARITHM = 0.2
"""The same for exponents of 1 + log T: at these T, log^1.5 T looks like (1 + log T)^1.63."""

FIXED_SPARSITY = "for a sparsity that does not grow"
PAPERS_NOISE = "with the noise that guarantees kε"
STREAMS = ("cmco", "cmco paper")


def judge_theorem(outcomes: Outcomes) -> Judgement:
    """At every t of one horizon, and at T for every horizon; then for every S."""
    in_time = {name: points(outcomes, "time", name).power for name in STREAMS}
    in_horizon = {name: points(outcomes, "horizon", name) for name in STREAMS}
    measured = (
        f"With the noise of ε the error grows like t^{in_time['cmco']} at fixed T, and like "
        f"(1 + log T)^{in_horizon['cmco'].logarithmic} or T^{in_horizon['cmco'].power} (nearer to the points: "
        f"{in_horizon['cmco'].nearer}){_beside_the_bound(in_horizon['cmco'].logarithmic)}. With the paper's noise, "
        f"which spends kε: t^{in_time['cmco paper']}, (1 + log T)^{in_horizon['cmco paper'].logarithmic} or "
        f"T^{in_horizon['cmco paper'].power}. {_in_steps(outcomes)}"
    )
    slow = {name: every(_slow(in_time[name]), _slow(in_horizon[name].power)) for name in STREAMS}
    return _for_every_sparsity(slow, _steady(outcomes), measured)


def judge_cmco_row(outcomes: Outcomes) -> Judgement:
    """The row of the table: in T and in ε; then for every S."""
    in_horizon = {name: points(outcomes, "horizon", name) for name in STREAMS}
    in_epsilon = {name: points(outcomes, "epsilon", name).power for name in STREAMS}
    words = {"cmco": "With the noise of ε", "cmco paper": "with the paper's, which spends kε"}
    parts = "; ".join(
        f"{said}: (1 + log T)^{in_horizon[name].logarithmic} or T^{in_horizon[name].power} (nearer to the points: "
        f"{in_horizon[name].nearer}){_beside_the_bound(in_horizon[name].logarithmic)}; and ε^{in_epsilon[name]}"
        for name, said in words.items()
    )
    right = {name: every(_slow(in_horizon[name].power), near(in_epsilon[name], -1, ROOM)) for name in STREAMS}
    return _for_every_sparsity(right, _steady(outcomes), f"{parts}. {_in_steps(outcomes)}")


def _slow(slope: Slope) -> Answer:
    return at_most(slope, SLOWLY, width=0.0)


def _beside_the_bound(exponent: Slope) -> str:
    """What the power of 1 + log T says of log^1.5 T, which Õ takes any power for."""
    return {
        True: "",
        False: ", where the exponent of 1 + log T exceeds 1.5",
        None: ", too few points to tell whether the exponent of 1 + log T exceeds 1.5",
    }[at_most(exponent, 1.5 + LOGARITHM)]


def _steady(outcomes: Outcomes) -> dict[str, Answer]:
    """Whether the error stays as it is when S grows."""
    return {name: at_most(points(outcomes, "sparsity", name).power, ROOM) for name in STREAMS}


def _in_steps(outcomes: Outcomes) -> str:
    correct, paper = (points(outcomes, "sparsity", name).power for name in STREAMS)
    return f"Against S, at fixed T: S^{correct} with the noise of ε, S^{paper} with the paper's."


def _for_every_sparsity(right: dict[str, Answer], steady: dict[str, Answer], measured: str) -> Judgement:
    """The bound has no S in it: an error that grows with S keeps it for a fixed S only."""
    for name, noise in (("cmco", []), ("cmco paper", [PAPERS_NOISE])):
        if right[name] is False:
            continue
        if right[name] is None or steady[name] is None:
            return Judgement(Verdict.UNDECIDED, measured)
        only = noise if steady[name] else [*noise, FIXED_SPARSITY]
        return Judgement(Verdict.HOLDS_ONLY if only else Verdict.HOLDS, measured, " and ".join(only))
    return Judgement(Verdict.DOES_NOT_HOLD, measured)


def judge_differences(outcomes: Outcomes) -> Judgement:
    """In t, within one horizon."""
    slope = points(outcomes, "time", "difference").power
    measured = f"At fixed T the error of the differences grows like t^{slope}."
    return judged(at_most(slope, 0.5 + ROOM), measured)


def judge_continual_row(outcomes: Outcomes) -> Judgement:
    """In T at t = T, over log^1.5 T, and in ε."""
    measured_in = points(outcomes, "horizon", "difference")
    logarithms = 1 + np.log2(measured_in.x)
    over_bound, over_one = measured_in.over(logarithms**1.5).power, measured_in.over(logarithms).power
    in_epsilon = points(outcomes, "epsilon", "difference").power
    shared = ""
    if near(over_one, 0.5, ROOM):
        shared = ": neighbouring totals share most of their noises, so that √log T of the bound is not needed"
    measured = (
        f"At t = T the error grows like T^{measured_in.power}; divided by (1 + log T)^1.5, like T^{over_bound}; "
        f"divided by 1 + log T, like T^{over_one}{shared}. Against ε: ε^{in_epsilon}."
    )
    return judged(every(at_most(over_bound, 0.5 + ROOM), near(in_epsilon, -1, ROOM)), measured)


def judge_comparison(outcomes: Outcomes) -> Judgement:
    """From which horizon on CMCO is ahead, on a stream that is exactly as sparse as it is told."""
    difference = points(outcomes, "horizon", "difference")
    errors = dict(zip(difference.x, difference.centre, strict=True))
    ratios = {}
    for name in ("cmco", "cmco paper"):
        cmco = points(outcomes, "horizon", name)
        ratios[name] = {x: errors[x] / mean for x, mean in zip(cmco.x, cmco.centre, strict=True)}
    plain = points(outcomes, "horizon", "plain")
    first, last = min(ratios["cmco"]), max(ratios["cmco"])
    at_last = shown(dict(zip(plain.x, plain.centre, strict=True))[last])
    measured = (
        f"On steps, with S known, the differences have {times(ratios['cmco'][first])} times CMCO's error at "
        f"T = {first:,.0f} and {times(ratios['cmco'][last])} times at T = {last:,.0f} with the noise of ε; "
        f"{times(ratios['cmco paper'][first])} and {times(ratios['cmco paper'][last])} times with the paper's, which "
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
    constants = rare.centre / (np.log2(1 / RARE) * np.log2(rare.x) ** 1.5)
    measured = (
        f"Over all ticks the totals' error grows like (1 + log T)^{totals.logarithmic}, "
        f"where the law of the noise says √2·(1 + log T)^1.5/ε. With β = {RARE:g} the constant before "
        f"log(1/β)·log^1.5(T)/ε is {constants.min():.2f} to {constants.max():.2f} for T from {rare.x[0]:,.0f} to "
        f"{rare.x[-1]:,.0f}."
    )
    in_horizon = power_law(rare.x, [[one] for one in constants])
    return judged(every(at_most(totals.logarithmic, 1.5 + LOGARITHM), at_most(in_horizon, ROOM)), measured)


def judge_noise(outcomes: Outcomes) -> Judgement:
    """‖v − v*‖₂ against T, and against S, on which the bound depends by log k only."""
    in_horizon = {name: points(outcomes, "horizon", name, "noise").logarithmic for name in STREAMS}
    in_steps = {name: points(outcomes, "sparsity", name, "noise").power for name in STREAMS}
    measured = (
        f"With the paper's noise ‖v − v*‖₂ grows like (1 + log T)^{in_horizon['cmco paper']} and "
        f"S^{in_steps['cmco paper']}; with that of ε, k times as large, like (1 + log T)^{in_horizon['cmco']} and "
        f"S^{in_steps['cmco']}."
    )
    # log k is log S and log log T at most: an exponent of S that is not 0 exceeds it.
    correct, paper = (
        every(at_most(in_horizon[name], 1.5 + LOGARITHM), at_most(in_steps[name], ROOM)) for name in STREAMS
    )
    return _either(correct, paper, measured)


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
    return judged(every(at_most(seconds, 1 + ROOM), at_most(size, 1 + ROOM)), measured)


def judge_storage(outcomes: Outcomes) -> Judgement:
    """The numbers in the state."""
    found = outcomes.where(part="cost").only().found
    rows, levels = found["rows"], found["levels"]
    measured = (
        f"The state that a stream begins with has {found['state']:,} integers; k·(2 + L) is {rows * (2 + levels):,}, "
        f"with k = {rows} and L = {levels}: for each counter a noisy sum, the noises of the open segments, and what "
        "was published last. Ticks add none by construction: they overwrite these (`streams/_counters.py`)."
    )
    return judged(found["state"] <= rows * (2 + levels), measured)


def _either(correct: Answer, paper: Answer, measured: str) -> Judgement:
    """As it stands if it holds with the noise of ε; else perhaps with the paper's."""
    if correct is False and paper:
        return Judgement(Verdict.HOLDS_ONLY, measured, PAPERS_NOISE)
    return judged(paper if correct is False else correct, measured)


CLAIMS = (
    Claim(
        "Section 3.3, Lemma 3",
        "At each time t ∈ [1, T], with probability at least 1 − β, |Σ*_t − Σ_t| = O(log(1/β)·log^1.5(T)/ε).",
        judge_totals,
    ),
    Claim(
        "Section 6.1",
        "What we store at each time t is just what is stored for the k ε-differentially pan-private continual "
        "mechanisms, namely k noisy sums and some independent noise […]",
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
