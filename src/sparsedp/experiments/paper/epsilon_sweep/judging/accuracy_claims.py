"""Whether the experiments justify what the paper says about accuracy: the judges of those sentences, taken together."""

from __future__ import annotations

from sparsedp.experiments.paper.claim import Judgement, Verdict
from sparsedp.experiments.paper.data import PAPER_DATA
from sparsedp.experiments.paper.data_names import listed, told
from sparsedp.experiments.paper.epsilon_sweep.judging.over_cells import (
    judge_advantage_grows_with_cells,
    judge_lead_shrinks_with_cells,
)
from sparsedp.experiments.paper.epsilon_sweep.judging.over_epsilon import judge_grows_as_epsilon_falls
from sparsedp.experiments.paper.epsilon_sweep.judging.overall import (
    judge_cannot_compete,
    judge_much_more_accurate,
    judge_order_of_magnitude,
)
from sparsedp.experiments.paper.outcomes import Outcomes

ACCURACY = {
    "“much more accurate”": judge_much_more_accurate,
    "“up to an order of magnitude”": judge_order_of_magnitude,
    "“cannot compete”": judge_cannot_compete,
    "larger as ε falls": judge_grows_as_epsilon_falls,
    "Laplace's lead smaller as n grows": judge_lead_shrinks_with_cells,
    "larger as n grows": judge_advantage_grows_with_cells,
}
"""What is said of the accuracy of the static mechanism."""


def judge_experiments_justify(outcomes: Outcomes) -> Judgement:
    """All of them hold, or none does, or some do under a condition."""
    verdicts = {what: judge(outcomes) for what, judge in ACCURACY.items()}
    shown = "; ".join(f"{what}: {judgement.in_words}" for what, judgement in verdicts.items())
    measured = told(outcomes, PAPER_DATA, f"what it says of accuracy in the static case came out here as: {shown}.")
    given = {judgement.verdict for judgement in verdicts.values()}
    if len(given) == 1 and given != {Verdict.HOLDS_ONLY}:
        return Judgement(given.pop(), measured)
    if given <= {Verdict.HOLDS, Verdict.UNDECIDED} or given == {Verdict.DOES_NOT_HOLD, Verdict.UNDECIDED}:
        return Judgement(Verdict.UNDECIDED, measured)
    good, some = (
        [what for what, judgement in verdicts.items() if judgement.verdict is verdict]
        for verdict in (Verdict.HOLDS, Verdict.HOLDS_ONLY)
    )
    parts = [listed(good)] if good else []
    parts += [f"under its condition for {listed(some)}"] if some else []
    return Judgement(Verdict.HOLDS_ONLY, measured, f"for {'; '.join(parts)}".replace("for under", "under"))
