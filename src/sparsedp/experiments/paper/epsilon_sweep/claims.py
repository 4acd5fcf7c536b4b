"""What the paper says about its comparison, and what must come out on its own files."""

from __future__ import annotations

from sparsedp.experiments.paper.claim import Claim, Expectation
from sparsedp.experiments.paper.data import PAPER_DATA
from sparsedp.experiments.paper.data_names import of_files, times
from sparsedp.experiments.paper.epsilon_sweep.contenders import RIVALS
from sparsedp.experiments.paper.epsilon_sweep.judging.accuracy_claims import judge_experiments_justify
from sparsedp.experiments.paper.epsilon_sweep.judging.advantage import Sweep
from sparsedp.experiments.paper.epsilon_sweep.judging.over_cells import (
    judge_advantage_grows_with_cells,
    judge_lead_shrinks_with_cells,
    judge_small_data,
)
from sparsedp.experiments.paper.epsilon_sweep.judging.over_epsilon import (
    RIVAL,
    advantages,
    falls,
    judge_exception,
    judge_grows_as_epsilon_falls,
    judge_slightly_worse,
)
from sparsedp.experiments.paper.epsilon_sweep.judging.overall import (
    judge_cannot_compete,
    judge_much_more_accurate,
    judge_order_of_magnitude,
)
from sparsedp.experiments.paper.epsilon_sweep.judging.universality import (
    judge_adjacent,
    judge_arbitrary,
    judge_ranges_only,
    judge_sparse_data,
    judge_universal,
    judge_very_close,
)
from sparsedp.experiments.paper.epsilon_sweep.measuring import SMALL
from sparsedp.experiments.paper.outcomes import Outcomes

CLAIMS = (
    Claim(
        "Abstract",
        "Extensive experiments using real datasets justify our accuracy claims.",
        judge_experiments_justify,
    ),
    Claim(
        "Section 1",
        "The compressive sensing mechanism allows us to use less noise than previous synopsis proposals under certain "
        "conditions, and provides much more accurate statistical query results after decoding.",
        judge_much_more_accurate,
    ),
    Claim(
        "Section 1",
        "Unlike previous methods that focus on specific classes of queries, the compressive sensing mechanism is "
        "universal, supporting all possible queries on the decoded noisy data.",
        judge_universal,
    ),
    Claim(
        "Section 1",
        "We show that the compressive mechanism improves the accuracy of the result statistics by up to an order of "
        "magnitude, in both theoretical analysis as well as empirical studies.",
        judge_order_of_magnitude,
    ),
    Claim(
        "Section 2.1",
        "In contrast, our compressive sensing mechanism can handle arbitrary statistical queries.",
        judge_arbitrary,
    ),
    Claim(
        "Section 2.1",
        "However, neither the Haar wavelet transform nor tree structure can be generalized to answer other queries in "
        "a private and accurate way.",
        judge_ranges_only,
    ),
    Claim(
        "Section 4",
        "Since D* must be very close to D, utility can be guaranteed for any query.",
        judge_very_close,
    ),
    Claim(
        "Section 5.3",
        "In fact, many natural data sets have a sparse representation, and that is one reason why compressed sensing "
        "has been so widely used since its invention.",
        judge_sparse_data,
    ),
    Claim(
        "Section 7.1.2",
        "Overall, the Laplacian and HRMS mechanisms cannot compete with the compressive mechanism […]",
        judge_cannot_compete,
    ),
    Claim(
        "Section 7.1.2",
        "[…] and as ε becomes smaller, the compressive mechanism's advantage becomes larger.",
        judge_grows_as_epsilon_falls,
    ),
    Claim(
        "Section 7.1.2",
        "The exception is that for ε = 1, the Laplacian mechanism is better than the compressive mechanism.",
        judge_exception,
    ),
    Claim(
        "Section 7.1.2",
        "This is because our data set is small, and thus √n is not much larger than S log(n/S).",
        judge_small_data,
    ),
    Claim(
        "Section 7.1.2",
        "Combined with the reconstruction errors, the compressive mechanism is slightly worse than the Laplacian "
        "mechanism.",
        judge_slightly_worse,
    ),
    Claim(
        "Section 7.1.2",
        "As n becomes larger, from 11342 in Figure 4(a), 2¹⁵ = 32768 in Figure 4(b), to 2¹⁶ = 65536 in Figure 4(c), "
        "the advantage of the Laplacian mechanism for the case ε = 1 becomes smaller and smaller.",
        judge_lead_shrinks_with_cells,
    ),
    Claim(
        "Section 7.1.2",
        "For other choices of ε, the advantage of the compressive mechanism becomes larger and larger as n increases.",
        judge_advantage_grows_with_cells,
    ),
    Claim(
        "Section 7.2",
        "This is an appropriate choice because the three data sets of Hay, Rastogi, Miklau and Suciu have the property "
        "that every two adjacent elements in a file are very close to each other.",
        judge_adjacent,
    ),
)


def expect(outcomes: Outcomes) -> list[Expectation]:
    """Three things on the paper's files, all of Compressive with the paper's CoSaMP and i.i.d. signs.

    `SMALL` is the ε from which on it must be ahead of both.
    """
    if not of_files(outcomes, PAPER_DATA):
        return []
    sweep = Sweep(outcomes)
    lead = 1 / sweep.ratio("social_network", "1", RIVAL).value
    small = [epsilon for epsilon in sweep.epsilons if float(epsilon) <= SMALL]
    least = {
        name: min(sweep.ratio(name, epsilon, rival).value for rival in RIVALS for epsilon in small)
        for name in PAPER_DATA
    }
    ratios = {name: advantages(sweep, name) for name in PAPER_DATA}
    return [
        Expectation(
            "Laplace ahead of Compressive (CoSaMP) at ε = 1 on social_network",
            f"Laplace's error is {times(lead)} times smaller",
            lead > 1,
        ),
        Expectation(
            f"Compressive (CoSaMP) ahead of Laplace and of HRMS for ε ≤ {SMALL} on all three",
            "the least ratio of errors is " + ", ".join(f"{times(ratio)} ({name})" for name, ratio in least.items()),
            all(ratio > 1 for ratio in least.values()),
        ),
        Expectation(
            "the advantage of Compressive (CoSaMP) over Laplace grows as ε falls on all three: it is larger at the "
            "smallest ε than at ε = 1, and at no ε less than at a larger one (beyond the 95 % intervals of all pairs)",
            "; ".join(f"{name} {', '.join(map(str, of))}" for name, of in ratios.items()),
            all(not falls(of) and of[-1].compared_with(of[0]) > 0 for of in ratios.values()),
        ),
    ]
