"""What the paper says about choosing S, judged by the flat part of the U, and what must come out on its own files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor

import numpy as np

from sparsedp.arrays import Floats
from studies.paper.choosing_sparsity.measuring import DECODERS, PAPERS, SHARE, SMALLER_SHARE
from studies.paper.data import PAPER_DATA
from studies.paper.deciding import Answer, every, judged, listed, mean_interval, of_files, percent, told
from studies.paper.experiment import Claim, Expectation, Judgement, Outcome, Outcomes, Verdict

# ---- the U of one decoder on one data set, its flat part, and how good the picks are

FLAT = 1.25
"""The flat part of the U: where the mean error is at most so many times the least."""
TINY, HUGE = 1e-300, 1e300
ENDS = (5, 95)
"""Percentiles of the picks that are shown."""


@dataclass(frozen=True)
class Curve:
    """Mean errors on a grid of S; between them both are interpolated on log scales, beyond them nothing is known.

    The least of many means with noise in them is biased low, and the flat part a little too narrow for it.
    """

    sparsities: Floats
    means: Floats
    lows: Floats
    """The lower ends of the means' 95 % intervals, no lower than the least run; of a single run nothing is known."""
    highs: Floats

    @property
    def best(self) -> int:
        """The S of the grid with the least mean error."""
        return int(self.sparsities[self.means.argmin()])

    @property
    def least(self) -> float:
        """That error."""
        return float(self.means.min())

    def over_least(self, sparsities: Floats) -> Floats:
        """The error at each S over the least; infinite outside the grid."""
        return self._over_least(sparsities, self.means)

    def ends(self, sparsities: Floats) -> tuple[Floats, Floats]:
        """The same with the ends of the intervals at each S in place of the means."""
        return self._over_least(sparsities, self.lows), self._over_least(sparsities, self.highs)

    def _over_least(self, sparsities: Floats, errors: Floats) -> Floats:
        at = np.log(sparsities)
        over = np.interp(at, np.log(self.sparsities), np.log(errors / self.least), left=np.inf, right=np.inf)
        return np.asarray(np.exp(over))

    @property
    def flat(self) -> tuple[int, int]:
        """The first and the last S of the flat part."""
        every = np.arange(self.sparsities[0], self.sparsities[-1] + 1)
        within = every[self.over_least(every) <= FLAT]
        return int(within[0]), int(within[-1])


def curve_of(outcome: Outcome) -> Curve:
    """Of a finished job of errors."""
    runs = outcome.found["errors"]
    means, lows, highs = (np.array(ends) for ends in zip(*(mean_interval(of) for of in runs), strict=True))
    lows = np.maximum(lows, [min(of) for of in runs])
    if min(map(len, runs)) < 2:
        lows, highs = np.full(means.shape, TINY), np.full(means.shape, HUGE)
    return Curve(np.array(outcome.found["sparsities"], dtype=np.float64), means, lows, highs)


@dataclass(frozen=True)
class Quality:
    """How good the private choice is, judged by the curve of the decoder that its constants are for."""

    curve: Curve
    candidates: Floats
    law: Floats
    picks: Floats

    @property
    def failing(self) -> float:
        """The exact probability of an S outside the flat part."""
        return float(self.law[self.curve.over_least(self.candidates) > FLAT].sum())

    @property
    def failing_ends(self) -> tuple[float, float]:
        """The least and the most that it can be, for all that the runs of the curve tell."""
        low, high = (float(self.law[over > FLAT].sum()) for over in self.curve.ends(self.candidates))
        return low, high

    @property
    def missed_ends(self) -> tuple[float, float]:
        """The same of the share of the picks."""
        low, high = (float(np.mean(over > FLAT)) for over in self.curve.ends(self.picks))
        return low, high

    @property
    def cost_ends(self) -> tuple[float, float]:
        """The same of the error at the picked S over the least, on average."""
        low, high = (float(np.mean(over)) for over in self.curve.ends(self.picks))
        return low, high

    @property
    def missed(self) -> float:
        """The share of the picks outside it."""
        return float(np.mean(self.curve.over_least(self.picks) > FLAT))

    @property
    def mean_over_least(self) -> float:
        """The error at the picked S over the least, on average over the picks."""
        return float(np.mean(self.curve.over_least(self.picks)))

    @property
    def middle(self) -> tuple[int, int, int]:
        """The 5th, 50th and 95th percentile of the picks."""
        low, median, high = np.percentile(self.picks, (ENDS[0], 50, ENDS[1]), method="inverted_cdf")
        return int(low), int(median), int(high)


def quality_of(outcomes: Outcomes, data: str, decoder: str, share: str) -> Quality:
    """Of the picks with that share of the budget; the curve is the one measured."""
    found = outcomes.only(part="picks", data=data, decoder=decoder, share=share).found
    curve = curve_of(outcomes.only(part="errors", data=data, decoder=decoder))
    candidates, law, picks = (np.array(found[name], dtype=np.float64) for name in ("candidates", "law", "picks"))
    return Quality(curve, candidates, law, picks)


# ---- judges

NEGLIGIBLE = 0.01
"""The paper's "with high probability" is at least 0.99."""
MOST_MISSED = 0.1
"""Of the picks may be outside the flat part."""
NEARLY = 1.1
"""What "works very well" may cost: the error at the picked S over the least, on average."""

OF_THE_LEMMA = ("cosamp", "basis_pursuit")
SHOWN = {"cosamp": "CoSaMP", "basis_pursuit": "basis pursuit", "vamp_tree": "our decoder"}


def judge_any_sparsity(outcomes: Outcomes) -> Judgement:
    """Over all of [1, n] the pick must be as good as over the candidates that we allow."""
    literal = {name: outcomes.only(part="literal", data=name).found for name in PAPER_DATA}
    parts = [f"S = {one['likeliest']:,} of n = {one['cells']:,} ({name})" for name, one in literal.items()]
    probability = floor(1e4 * min(one["probability"] for one in literal.values())) / 1e4
    rows = max(one["rows"] for one in literal.values())
    restricted = qualities(outcomes)
    measured = (
        f"S·log(n/S) falls to 0 as S nears n; over all of [1, n] the mechanism picks {listed(parts)}, each with a "
        f"probability of at least {probability}, and with k(S) = {rows} samples at most. Over S ≤ n/16 the same scores "
        f"pick {listed([f'{one.middle[1]}' for one in restricted.values()])} (medians); the least errors are at "
        f"{listed([f'{one.curve.best}' for one in restricted.values()])}."
    )
    measured = told(outcomes, PAPER_DATA, measured)
    few = at_most(restricted, MOST_MISSED, lambda one: one.failing_ends)
    if not few:
        return judged(few, measured)
    if all(one["within_candidates"] >= 1 - MOST_MISSED for one in literal.values()):
        return Judgement(Verdict.HOLDS, measured)
    return Judgement(Verdict.HOLDS_ONLY, measured, "for S up to n/16, well before S·log(n/S) falls again")


def judge_failure_probability(outcomes: Outcomes) -> Judgement:
    """Failing is to pick an S whose error is not in the flat part; its probability is exact."""
    literal = [outcomes.only(part="literal", data=name).found for name in PAPER_DATA]
    found = qualities(outcomes)
    parts = [f"{small(one.failing)} ({name})" for name, one in found.items()]
    measured = (
        f"with S ≤ n/16, {SHARE} of ε = 1 and CoSaMP, the exact probability of an S "
        f"whose mean error is more than {FLAT} times the least is {listed(parts)}. (“Negligible”: up to {NEGLIGIBLE}; "
        f"from {MOST_MISSED} on the claim fails.)"
    )
    measured = told(outcomes, PAPER_DATA, measured)
    few, none = (at_most(found, most, lambda one: one.failing_ends) for most in (MOST_MISSED, NEGLIGIBLE))
    if not few:
        return judged(few, measured)
    if none and all(one["within_candidates"] >= 1 - NEGLIGIBLE for one in literal):
        return Judgement(Verdict.HOLDS, measured)
    worst = max(one.failing for one in found.values())
    only = "for S up to n/16" if none else f"for S up to n/16, and misses with probability {worst:.2f}"
    return Judgement(Verdict.HOLDS_ONLY, measured, only)


def judge_bound(outcomes: Outcomes) -> Judgement:
    """The measured mean error must stay below u(D, S) at every S; the lemma is about two of the decoders."""
    ratios, answers = {}, {}
    for decoder in DECODERS:
        ends = [_over_bound(outcomes.only(part="errors", data=name, decoder=decoder)) for name in PAPER_DATA]
        ratios[decoder] = max(mean for mean, _, _ in ends)
        answers[decoder] = every(*(True if high <= 1 else (False if low > 1 else None) for _, low, high in ends))
    shown = listed([f"{ratio:.2f} with {SHOWN[decoder]}" for decoder, ratio in ratios.items()])
    measured = (
        f"the paper does not give C₂ and C₄. With those that the choice goes by (for "
        f"CoSaMP C₂ = 1, C₄ = 2√2), the mean error over u(D, S) is at most {shown}, over all S up to n/16."
    )
    measured = told(outcomes, PAPER_DATA, measured)
    if answers[PAPERS] and not all(answers[decoder] is not False for decoder in OF_THE_LEMMA):
        return Judgement(Verdict.HOLDS_ONLY, measured, "with CoSaMP")
    return judged(every(*(answers[decoder] for decoder in OF_THE_LEMMA)), measured)


def _over_bound(one: Outcome) -> tuple[float, float, float]:
    """The mean error over the bound where it is largest, and the same of both ends of its interval."""
    curve, bounds = curve_of(one), np.array(one.found["bounds"])
    mean, low, high = (float((errors / bounds).max()) for errors in (curve.means, curve.lows, curve.highs))
    return mean, low, high


def judge_small_share(outcomes: Outcomes) -> Judgement:
    """A hundredth of the budget must choose as well as a tenth. What is said of ε → 0 is not refuted at one ε."""
    by_share = {share: qualities(outcomes, share) for share in (SHARE, SMALLER_SHARE)}
    parts = []
    for share, found in by_share.items():
        picked = [f"{name} {one.middle[0]}–{one.middle[2]}, {percent(1 - one.missed)}" for name, one in found.items()]
        parts.append(f"with {share} ε {'; '.join(picked)}")
    measured = (
        f"the 5–95 % of the picks at ε = 1, and how many have a mean error within {FLAT} of the least ("
        f"{percent(1 - MOST_MISSED)} are asked for): {listed(parts)}. One ε says nothing against an asymptotic "
        "analysis, only what its constants are worth."
    )
    measured = told(outcomes, PAPER_DATA, measured)
    good = {share: at_most(found, MOST_MISSED, lambda one: one.missed_ends) for share, found in by_share.items()}
    if all(good.values()):
        return Judgement(Verdict.HOLDS, measured)
    if good[SHARE] and good[SMALLER_SHARE] is False:
        only = f"asymptotically: at ε = 1 the choice is good with {SHARE} ε, and with {SMALLER_SHARE} ε it is not"
        return Judgement(Verdict.HOLDS_ONLY, measured, only)
    return Judgement(Verdict.UNDECIDED, measured)


def judge_thousand_runs(outcomes: Outcomes) -> Judgement:
    """The drawn picks, as the paper's figure shows them."""
    found = qualities(outcomes)
    parts = [
        f"{name} S = {one.middle[1]} [{one.middle[0]}, {one.middle[2]}], {percent(one.missed)} outside the "
        f"flat part {one.curve.flat[0]}–{one.curve.flat[1]}"
        for name, one in found.items()
    ]
    runs = len(next(iter(found.values())).picks)
    measured = f"{runs:,} runs over S ≤ n/16 with CoSaMP's constants, median [5 %, 95 %]: {'; '.join(parts)}."
    measured += f" (Flat: a mean error within {FLAT} of the least; negligible: {percent(NEGLIGIBLE)} at most; too "
    measured += f"many: more than {percent(MOST_MISSED)}.)"
    measured = told(outcomes, PAPER_DATA, measured)
    few, none = (at_most(found, most, lambda one: one.missed_ends) for most in (MOST_MISSED, NEGLIGIBLE))
    if few and none is False:
        worst = max(one.missed for one in found.values())
        return Judgement(Verdict.HOLDS_ONLY, measured, f"if {percent(worst)} of misses are negligible")
    return judged(every(few, none), measured)


def judge_in_practice(outcomes: Outcomes) -> Judgement:
    """What choosing S privately costs, for each decoder with its own constants."""
    costs = {
        decoder: {name: one.mean_over_least for name, one in qualities(outcomes, decoder=decoder).items()}
        for decoder in DECODERS
    }
    parts = [f"{SHOWN[decoder]} {', '.join(f'{cost:.2f}' for cost in by.values())}" for decoder, by in costs.items()]
    measured = (
        f"the error at the picked S over the error at the best S in hindsight, on "
        f"average ({', '.join(PAPER_DATA)}): {'; '.join(parts)}. Candidates are S ≤ n/16. (“Very well”: up to "
        f"{NEARLY}, with CoSaMP.)"
    )
    measured = told(outcomes, PAPER_DATA, measured)
    found = qualities(outcomes)
    well, at_all = (at_most(found, most, lambda one: one.cost_ends) for most in (NEARLY, FLAT))
    if at_all and not well:
        worst = max(one.cost_ends[1] for one in found.values())
        return Judgement(Verdict.HOLDS_ONLY, measured, f"within a factor of {worst:.2f} of the best S")
    return judged(every(well, at_all) if at_all is not False else False, measured)


def at_most(found: dict[str, Quality], most: float, ends: Callable[[Quality], tuple[float, float]]) -> Answer:
    """Whether something is at most so much on every data set."""
    between = [ends(one) for one in found.values()]
    return every(*(True if high <= most else (False if low > most else None) for low, high in between))


def qualities(outcomes: Outcomes, share: str = SHARE, decoder: str = PAPERS) -> dict[str, Quality]:
    """Of every data set, by its name."""
    return {name: quality_of(outcomes, name, decoder, share) for name in PAPER_DATA}


def small(probability: float) -> str:
    """Odds of one in a thousand and less are not told apart."""
    return f"{probability:.3f}" if probability >= 0.001 else "below 0.001"


# ---- of the exponential mechanism in general: u of what it picks

RARE = (0.1, 0.01, 0.001)
STEADY = 2.0
"""The next tenth of a probability may be so many times as far out as the one before: in an exponential tail, once."""


@dataclass(frozen=True)
class Tail:
    """u of every candidate over the least, and its exact probability."""

    over_least: Floats
    law: Floats

    def beyond(self, factor: float) -> float:
        """The probability of a u of more than so many times the least."""
        return float(self.law[self.over_least > factor].sum())

    def reached(self, probability: float) -> float:
        """The factor that is exceeded with at most this probability."""
        order = np.argsort(self.over_least)
        above = 1 - np.cumsum(self.law[order])
        return float(self.over_least[order][np.argmax(above <= probability)])

    @property
    def exponential(self) -> bool:
        """Whether rare distances are no farther out than in an exponential tail, about."""
        first, second, third = (self.reached(probability) for probability in RARE)
        return third - second <= STEADY * max(second - first, first - 1)


def tail_of(outcomes: Outcomes, data: str) -> Tail:
    """With CoSaMP's constants; u is interpolated between the S of the curve's grid, on log scales."""
    picks = outcomes.only(part="picks", data=data, decoder=PAPERS, share=SHARE).found
    grid = outcomes.only(part="errors", data=data, decoder=PAPERS).found
    candidates, law = np.array(picks["candidates"], dtype=np.float64), np.array(picks["law"])
    scores = np.exp(np.interp(np.log(candidates), np.log(grid["sparsities"]), np.log(grid["bounds"])))
    return Tail(scores / scores.min(), law)


def judge_exponential_tail(outcomes: Outcomes) -> Judgement:
    """Near the least u with probability almost 1, on every data set."""
    tails = {name: tail_of(outcomes, name) for name in PAPER_DATA}
    parts = [
        f"{name} {', '.join(f'{tail.reached(rare):.2f}' for rare in RARE)}, more than {FLAT} with probability "
        f"{tail.beyond(FLAT):.3f}"
        for name, tail in tails.items()
    ]
    measured = (
        "as the paper uses it to choose S: u(D, S) of the pick over the least among S ≤ n/16, exceeded with "
        f"probability {', '.join(map(str, RARE))} at most: {'; '.join(parts)}. Each u(S) is divided by its own "
        f"sensitivity there, ∝ 1/√S, and so it is u(S)·√S that is made small. (“Approximately optimal”: within {FLAT}; "
        f"“almost 1”: {percent(1 - NEGLIGIBLE)}.)"
    )
    measured = told(outcomes, PAPER_DATA, measured)
    good = [name for name, tail in tails.items() if tail.exponential and tail.beyond(FLAT) <= NEGLIGIBLE]
    if len(good) == len(tails):
        return Judgement(Verdict.HOLDS, measured)
    if good:
        return Judgement(Verdict.HOLDS_ONLY, measured, f"on {listed(good)}")
    return Judgement(Verdict.DOES_NOT_HOLD, measured)


# ---- the sentences

CLAIMS = (
    Claim(
        "Section 3.3",
        "The distance of an answer from the best answer, which has the smallest u, exhibits an exponential tail and "
        "with probability almost 1, the exponential mechanism outputs an object with an approximately optimal value.",
        judge_exponential_tail,
    ),
    Claim(
        "Section 5.3",
        "S could be any element in [1, n] (if we require the compressive mechanism to work for all possible D ∈ ℝⁿ) "
        "[…]",
        judge_any_sparsity,
    ),
    Claim(
        "Section 5.3",
        "The right hand side of (1) [u(D, S) = C₂||x − x_S||₁/√S + C₄ S log(n/S)/ε] is the upper bound on the error "
        "according to Lemma 1 (with θ instantiated).",
        judge_bound,
    ),
    Claim(
        "Section 5.3",
        "Accordingly, the exponential mechanism […] ensures the near-optimality of S with truly negligible failure "
        "probability.",
        judge_failure_probability,
    ),
    Claim(
        "Section 5.3",
        "If the total privacy budget is ε, we may choose to distribute a small part (say, 0.1ε or 0.01ε) to the "
        "exponential mechanism. In this case, the analysis of the compressive mechanism remains unchanged (recall that "
        "we analyze the error in an asymptotic way).",
        judge_small_share,
    ),
    Claim(
        "Section 7.1.1",
        "Figure 3(d) through Figure 3(f) display the result of the exponential mechanism, explicitly supporting our "
        "claim that the exponential mechanism chooses a near-optimal S with truly negligible failure probability.",
        judge_thousand_runs,
    ),
    Claim(
        "Section 7.1.1",
        "These experiments show that the exponential mechanism works very well in practice and returns a near-optimal "
        "S.",
        judge_in_practice,
    ),
)


def expect(outcomes: Outcomes) -> list[Expectation]:
    """S within the flat part on all three files, for each decoder with the constants that made its choice."""
    if not of_files(outcomes, PAPER_DATA):
        return []
    expected = []
    for decoder in DECODERS:
        found = qualities(outcomes, decoder=decoder)
        parts = [
            f"{name} {percent(1 - one.missed)} (picks {one.middle[0]}–{one.middle[2]}, flat {one.curve.flat[0]}–"
            f"{one.curve.flat[1]})"
            for name, one in found.items()
        ]
        what = (
            f"S within the flat part of the U on all three, {SHOWN[decoder]}: at least {percent(1 - MOST_MISSED)} of "
            f"the picks have a mean error within {FLAT} of the least (which, as the least of many means with noise in "
            "them, is biased low, and so makes this stricter)"
        )
        met = all(one.missed <= MOST_MISSED for one in found.values())
        expected.append(Expectation(what, ", ".join(parts), met))
    return expected
