"""What the paper says about choosing S, and what must come out on its own files."""

from __future__ import annotations

from sparsedp.experiments.paper.choosing_sparsity.judging.flat_part import FLAT
from sparsedp.experiments.paper.choosing_sparsity.judging.judges import (
    MOST_MISSED,
    SHOWN,
    judge_any_sparsity,
    judge_bound,
    judge_failure_probability,
    judge_in_practice,
    judge_small_share,
    judge_thousand_runs,
    qualities,
)
from sparsedp.experiments.paper.choosing_sparsity.judging.tail import judge_exponential_tail
from sparsedp.experiments.paper.choosing_sparsity.measuring import DECODERS
from sparsedp.experiments.paper.claim import Claim, Expectation
from sparsedp.experiments.paper.data import PAPER_DATA
from sparsedp.experiments.paper.data_names import of_files, percent
from sparsedp.experiments.paper.outcomes import Outcomes

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
