"""The private choice of S as `Compressive(sparsity="auto")` makes it, drawn many times, and its exact law."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sparsedp.arrays import Floats, Integers
from sparsedp.bases import basis_from
from sparsedp.experiments.paper.choosing_sparsity.scores import Shares, paper_scores
from sparsedp.experiments.paper.outcomes import Found, Settings
from sparsedp.experiments.paper.seeds import noise_of
from sparsedp.mechanisms.selection.candidates import SMALLEST_RATIO, spread
from sparsedp.mechanisms.selection.candidates import sparsity_candidates as candidates_for
from sparsedp.mechanisms.selection.sparsity_choice import FORMS, PublicTerms, constants_for
from sparsedp.mechanisms.selection.tail_scores import tail_scores
from sparsedp.noise.exponential import draw_index
from sparsedp.noise.source import RandomSource
from sparsedp.privacy.budget import Budget

FORM = "scaled"
"""The paper's: each score over its own sensitivity."""


@dataclass(frozen=True)
class Choice:
    """The candidates with their exponents, which are exact: S is picked with probability ∝ exp(−exponent)."""

    candidates: tuple[int, ...]
    exponents: list[Fraction]

    @property
    def law(self) -> Floats:
        """The probability of every candidate."""
        least = min(self.exponents)
        weights = np.exp([-float(exponent - least) for exponent in self.exponents])
        return np.asarray(weights / weights.sum())

    def pick(self, source: RandomSource) -> int:
        """One run of the exponential mechanism."""
        return self.candidates[draw_index(self.exponents, source)]


def choice_of(counts: Integers, basis: str, decoder: str, shares: Shares) -> Choice:
    """What `choose_sparsity` draws from, so that a thousand draws need not compute the scores a thousand times."""
    constants = constants_for(decoder, basis)
    candidates = candidates_for(counts.size, constants.rows_constant)
    tails = tail_scores(basis_from(basis, counts.size), counts, candidates, distance=1)
    terms = PublicTerms(counts.size, candidates, shares.choosing, Budget(epsilon=shares.measuring), 1, constants)
    return Choice(candidates, FORMS[FORM](tails, terms))


def picks(settings: Settings, counts: Integers, shares: Shares) -> Found:
    """The candidates, the exact law and the picked S of every run."""
    choice = choice_of(counts, settings["basis"], settings["decoder"], shares)
    source = noise_of(settings)
    picked = [choice.pick(source) for _ in range(settings["runs"])]
    return {"candidates": list(choice.candidates), "law": choice.law.tolist(), "picks": picked}


def literal_pick(settings: Settings, counts: Integers, shares: Shares) -> Found:
    """The law over all of [1, n] that the paper's words describe: where its mass is, and the rows that S would take.

    `rows` is ⌈C·S·log₂(n/S)⌉ of the likeliest S, with nothing that keeps it from being 0.
    """
    constants = constants_for(settings["decoder"], settings["basis"])
    law = paper_scores(counts, settings["basis"], constants, shares.measuring).law(shares.choosing)
    likeliest = int(law.argmax()) + 1
    rows = constants.rows_constant * spread(counts.size, likeliest)
    up_to = np.cumsum(law)
    return {
        "likeliest": likeliest,
        "probability": float(law.max()),
        "quantiles": [int(np.searchsorted(up_to, level)) + 1 for level in (0.05, 0.5, 0.95)],
        "within_candidates": float(law[: counts.size // SMALLEST_RATIO].sum()),
        "rows": -(-rows.numerator // rows.denominator),
    }
