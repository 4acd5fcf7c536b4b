"""The judges of what the paper says about choosing S."""

from __future__ import annotations

from collections.abc import Callable
from math import floor

import numpy as np

from sparsedp.experiments.paper.choosing_sparsity.judging.flat_part import FLAT, Quality, curve_of, quality_of
from sparsedp.experiments.paper.choosing_sparsity.measuring import DECODERS, PAPERS, SHARE, SMALLER_SHARE
from sparsedp.experiments.paper.claim import Judgement, Verdict
from sparsedp.experiments.paper.data import PAPER_DATA
from sparsedp.experiments.paper.data_names import listed, percent, told
from sparsedp.experiments.paper.deciding import Answer, every, judged
from sparsedp.experiments.paper.outcomes import Outcome, Outcomes

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
