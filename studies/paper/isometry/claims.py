"""What the paper says of the restricted isometry of Φ and of Φ Ψ."""

from __future__ import annotations

from math import inf, log2, sqrt

import numpy as np

from studies.paper.deciding import Slope, at_most, every, power_law
from studies.paper.experiment import Claim, Judgement, Outcomes, Verdict

ENOUGH = sqrt(2) - 1
"""Basis pursuit is proven to be stable where δ₂S is below this (Candès 2008)."""

FLAT = 0.15
"""What grows with a smaller power than this is called constant: a search is the better, the more it can choose from."""

AS_GOOD = 1.25
SEARCHED = "as far as a search finds"
FROM_BELOW = "a search from below can refute this, not prove it, and so few matrices say nothing of the probability"
MECHANISM_CONSTANT = 2
"""C of the rows that the mechanism does best with under CoSaMP, as in the other experiments."""


def trend(outcomes: Outcomes, setting: str, key: str = "searched") -> Slope:
    """How δ changes with a setting."""
    found = sorted((one.settings[setting], one.found[key]) for one in outcomes)
    return power_law([x for x, _ in found], [deltas for _, deltas in found])


def constant_needed(outcomes: Outcomes, key: str = "searched") -> float:
    """The C at which the fitted law of δ reaches ENOUGH: none, if δ does not fall."""
    slope = trend(outcomes, "constant", key).value
    if slope >= 0:
        return inf
    logs = [np.mean(np.log(one.found[key])) - slope * np.log(one.settings["constant"]) for one in outcomes]
    return float(np.exp((np.log(ENOUGH) - np.mean(logs)) / slope))


def mean_delta(outcomes: Outcomes, key: str = "searched") -> float:
    """The mean over the matrices of the one outcome there is."""
    (one,) = outcomes
    return float(np.mean(one.found[key]))


def judge_bernoulli(outcomes: Outcomes) -> Judgement:
    """δ must fall with C, and at one C stay the same whatever n and S."""
    rows = outcomes.where(part="rows", ensemble="bernoulli", basis="identity")
    fall = trend(rows, "constant")
    growth = {name: trend(outcomes.where(part=name, ensemble="bernoulli"), name) for name in ("cells", "sparsity")}
    constant = next(iter(outcomes.where(part="cells"))).settings["constant"]
    needed = constant_needed(rows)
    measured = (
        f"By search, {_matrices(rows)}: δ₂S falls like C^{fall}; with k = {constant}·S·log₂(n/S) it changes, in Haar, "
        f"like n^{growth['cells']} and S^{growth['sparsity']}. δ₂S < √2 − 1 takes {_at_least(needed)} (n = "
        f"{rows.values('cells')[0]:,}, S = {rows.values('sparsity')[0]}); random supports alone would say "
        f"{_at_least(constant_needed(rows, 'random'))}. But {FROM_BELOW}."
    )
    answer = every(at_most(fall, 0.0, width=0.0), *(at_most(slope, FLAT) for slope in growth.values()))
    if answer:
        return Judgement(Verdict.HOLDS_ONLY, measured, f"{SEARCHED}, with {_at_least(needed)}")
    return Judgement(Verdict.UNDECIDED if answer is None else Verdict.DOES_NOT_HOLD, measured)


def _at_least(constant: float) -> str:
    return "more than any C, as δ₂S does not fall" if constant == inf else f"C ≥ {constant:.0f}"


def _matrices(outcomes: Outcomes) -> str:
    return f"{outcomes.values('matrices')[0]} matrices a point"


def judge_any_basis(outcomes: Outcomes) -> Judgement:
    """δ of Φ Ψ must be as small as that of Φ."""
    parts, ratios = [], {}
    for ensemble in ("bernoulli", "hadamard"):
        standard = outcomes.where(part="rows", ensemble=ensemble, basis="identity")
        for basis in ("haar", "cosine"):
            pairs = [
                mean_delta(outcomes.where(part="rows", ensemble=ensemble, basis=basis, constant=constant))
                / mean_delta(standard.where(constant=constant))
                for constant in standard.values("constant")
            ]
            ratios[ensemble, basis] = float(np.exp(np.mean(np.log(pairs))))
            parts.append(f"{ensemble} in {basis} {ratios[ensemble, basis]:.2f}")
    unshuffled = over_permuted(outcomes, "unshuffled")
    measured = (
        f"δ₂S, by search, over that in the standard basis, mean over k: {', '.join(parts)}. Hadamard rows without a "
        f"permutation of the cells have {unshuffled:.2f} times the δ₂S in Haar that they have with it. But "
        f"{FROM_BELOW}."
    )
    if all(ratio <= AS_GOOD for ratio in ratios.values()):
        return Judgement(Verdict.HOLDS_ONLY, measured, SEARCHED)
    return Judgement(Verdict.DOES_NOT_HOLD, measured)


def over_permuted(outcomes: Outcomes, ensemble: str) -> float:
    """How many times the δ₂S of permuted Hadamard rows an ensemble has in Haar, mean over k."""
    haar = outcomes.where(part="rows", basis="haar")
    logs = [
        np.log(mean_delta(haar.where(ensemble=ensemble, constant=constant)))
        - np.log(mean_delta(haar.where(ensemble="hadamard", constant=constant)))
        for constant in haar.where(ensemble=ensemble).values("constant")
    ]
    return float(np.exp(np.mean(logs)))


def judge_at_the_rows_in_use(outcomes: Outcomes) -> Judgement:
    """The proof needs δ₂S ≪ 1 at the k whose noise the mechanism pays for."""
    haar = outcomes.where(part="rows", ensemble="bernoulli", basis="haar")
    in_use = haar.where(constant=MECHANISM_CONSTANT)
    searched, sampled = mean_delta(in_use), mean_delta(in_use, "random")
    needed = constant_needed(haar)
    cells, sparsity = haar.values("cells")[0], haar.values("sparsity")[0]
    most = cells / (sparsity * log2(cells / sparsity))
    isometry = "" if searched < ENOUGH else ", too large for it" if searched < 1 else ": no isometry at all"
    measured = (
        f"With C = {MECHANISM_CONSTANT}, which suits CoSaMP under pure ε, δ₂S of i.i.d. signs in Haar is at least "
        f"{searched:.2f} by search ({sampled:.2f} on random supports){isometry}. δ₂S < √2 − 1 takes "
        f"{_at_least(needed)}, where n = {cells:,} has room for {most:.0f}, and the noise grows in proportion to C. "
        f"But {FROM_BELOW}."
    )
    if searched < ENOUGH:
        return Judgement(Verdict.HOLDS_ONLY, measured, SEARCHED)
    if at_most(trend(haar, "constant"), 0.0, width=0.0) is None:
        return Judgement(Verdict.UNDECIDED, measured)
    if needed > most:
        return Judgement(Verdict.DOES_NOT_HOLD, measured)
    only = f"with {_at_least(needed)}, about {needed / MECHANISM_CONSTANT:.0f} times the rows, {SEARCHED}"
    return Judgement(Verdict.HOLDS_ONLY, measured, only)


CLAIMS = (
    Claim(
        "Section 3.2",
        "For example, with probability 1 − exp(−k), a random matrix Φ formed by sampling independent and identically "
        "distributed (i.i.d.) entries from a symmetric Bernoulli distribution, more precisely "
        "Prob(Φ(i,j) = ±1/√k) = 1/2, satisfies RIP, provided that k ≥ C·S log(n/S), where C is some constant.",
        judge_bernoulli,
    ),
    Claim(
        "Section 3.2",
        "It is not hard to verify that A = ΦΨ ∈ ℝ^(k×n) also satisfies RIP with overwhelming probability 1 − exp(−k), "
        "where k = Θ(S log(n/S)), for any fixed orthonormal basis Ψ ∈ ℝ^(n×n).",
        judge_any_basis,
    ),
    Claim(
        "Appendix B",
        "Recall that with probability at least 1 − exp(−k), A = ΦΨ ∈ ℝ^(k×n) satisfies RIP.",
        judge_at_the_rows_in_use,
    ),
)
