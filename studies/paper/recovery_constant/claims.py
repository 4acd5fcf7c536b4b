"""What the paper says of recovery: one bound, two decoders."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from studies.paper.deciding import Answer, Slope, at_most, every, judged, mean_interval, near, percent, power_law
from studies.paper.experiment import Claim, Judgement, Outcome, Outcomes, Verdict

PAPERS = {"cosamp": "CoSaMP", "basis_pursuit": "basis pursuit"}
"""The paper's two decoders."""

IN_REACH = 0.3
"""‖e‖₂/‖x‖₂ up to which the support can be found: beyond it an error is limited by ‖x‖₂, not by the noise."""

A_CONSTANT = 10.0
"""A ratio to the right side of the bound that is never above this is called a constant."""

LINEAR = 0.05
TELLING = 0.3
"""The widest interval that is taken to say that an error is linear."""

EXACTLY = 1e-4
"""Of ‖x‖₂: basis pursuit stops at a relative tolerance of a few millionths."""

SAME_POWER = 0.15


def noise_ratios(outcomes: Iterable[Outcome], decoder: str) -> list[float]:
    """‖x − x*‖₂/θ, run by run: what C₃ has to be at least."""
    pairs = [(one.found["errors"][decoder], one.found["noises"]) for one in outcomes]
    return [error / noise for errors, noises in pairs for error, noise in zip(errors, noises, strict=True)]


def tail_ratios(outcomes: Iterable[Outcome], decoder: str) -> list[float]:
    """‖x − x*‖₂ without noise over ‖x − x_S‖₁/√S: what C₂ has to be at least."""
    pairs = [(one.found["errors"][decoder], one.found["tails"]) for one in outcomes]
    return [error / tail for errors, tails in pairs for error, tail in zip(errors, tails, strict=True)]


def in_reach(outcomes: Outcomes, **settings: str) -> list[Outcome]:
    """The problems with noise that leaves the support visible."""
    return [one for one in outcomes.where(part="noise", **settings) if one.settings["level"] <= IN_REACH]


def slope_in_noise(outcomes: Outcomes, decoder: str, **settings: str) -> Slope:
    """How ‖x − x*‖₂ grows with θ."""
    found = in_reach(outcomes, **settings)
    return power_law(
        [float(np.mean(one.found["noises"])) for one in found], [one.found["errors"][decoder] for one in found]
    )


def _linear(outcomes: Outcomes, *decoders: str) -> Answer:
    kinds = outcomes.where(part="noise").values("noise")
    slopes = [slope_in_noise(outcomes, decoder, noise=noise) for decoder in decoders for noise in kinds]
    return every(*(near(slope, 1, LINEAR, width=TELLING) for slope in slopes))


def _constants(outcomes: Outcomes, decoder: str) -> tuple[float, float]:
    """The largest ratios seen: to the noise, and to the tail."""
    c3 = max(noise_ratios(outcomes.where(part="noise"), decoder))
    return c3, max(tail_ratios(outcomes.where(part="tail"), decoder))


def judge_bound(outcomes: Outcomes) -> Judgement:
    """The error must be linear in θ, and the ratios bounded, for both of the paper's decoders."""
    parts, answers = [], [_linear(outcomes, *PAPERS)]
    for decoder, name in PAPERS.items():
        slope = slope_in_noise(outcomes, decoder, noise="laplace")
        usual = mean_interval(noise_ratios(in_reach(outcomes, noise="laplace"), decoder))
        c3, c2 = _constants(outcomes, decoder)
        answers.append(max(c3, c2) <= A_CONSTANT)
        parts.append(
            f"{name}: error like θ^{slope}, C₃ = {usual[0]:.2f} [{usual[1]:.2f}, {usual[2]:.2f}] for Laplace noise and "
            f"up to {c3:.2f} for the worst noise tried, C₂ up to {c2:.2f}"
        )
    few = outcomes.where(part="rows").values("constant")[0]
    worst = max(max(noise_ratios(outcomes.where(part="rows", constant=few), decoder)) for decoder in PAPERS)
    constant = outcomes.where(part="noise").values("constant")[0]
    measured = f"With C = {constant}: {'; '.join(parts)}. With C = {few} the ratio to θ reaches {worst:.1f}."
    return judged(every(*answers), measured)


def judge_same_bound(outcomes: Outcomes) -> Judgement:
    """Both must obey the bound; which one is ahead depends on the problem."""
    shares = {}
    for part in ("noise", "rows", "tail"):
        pairs = [
            pair
            for one in outcomes.where(part=part)
            for pair in zip(*(one.found["errors"][decoder] for decoder in PAPERS), strict=True)
        ]
        shares[part] = float(np.mean([greedy < convex for greedy, convex in pairs]))
    constants = {name: _constants(outcomes, decoder) for decoder, name in PAPERS.items()}
    shown = "; ".join(f"{name} C₃ ≤ {c3:.2f} and C₂ ≤ {c2:.2f}" for name, (c3, c2) in constants.items())
    linear = _linear(outcomes, *PAPERS)
    measured = (
        f"On the same problems {_said_of_linear(linear)}, with {shown}. Which error is smaller depends on the problem: "
        f"CoSaMP's, told the true S, on {percent(shares['noise'])} of the sparse signals in noise; that of basis "
        f"pursuit, which shrinks what it finds, on {percent(1 - shares['tail'])} of those that are only compressible."
    )
    return judged(every(linear, max(max(pair) for pair in constants.values()) <= A_CONSTANT), measured)


def _said_of_linear(linear: Answer) -> str:
    return {
        True: "both errors are linear in θ",
        False: "not both errors are linear in θ",
        None: "it is not clear that both errors are linear in θ",
    }[linear]


def judge_convex(outcomes: Outcomes) -> Judgement:
    """Close to x in noise it must be; the problem solved is a convex one."""
    ratios = noise_ratios(outcomes.where(part="noise"), "basis_pursuit")
    measured = (
        f"Basis pursuit was off by {np.median(ratios):.2f}·θ in the median and {max(ratios):.2f}·θ at most. But what "
        "it solves, min ‖x*‖₁ subject to ‖A x* − y*‖₂ ≤ θ, is a convex programme, as Appendix D says; combinatorial "
        "would be to count the coefficients. No run can change this part of the verdict, which is about a word."
    )
    if max(ratios) > A_CONSTANT:
        return Judgement(Verdict.DOES_NOT_HOLD, measured)
    return Judgement(Verdict.HOLDS_ONLY, measured, "for a convex optimization problem, not a combinatorial one")


def judge_reconstruction(outcomes: Outcomes) -> Judgement:
    """Exactly without noise, approximately with it."""
    exact = {
        name: max(
            error / np.sqrt(one.settings["sparsity"])
            for one in outcomes.where(part="exact")
            for error in one.found["errors"][decoder]
        )
        for decoder, name in PAPERS.items()
    }
    rows = next(iter(outcomes.where(part="exact"))).found["rows"]
    cells = outcomes.where(part="exact").values("cells")[0]
    shown = " and ".join(f"{error:.0e} ({name})" for name, error in exact.items())
    measured = (
        f"S-sparse signals of n = {cells:,} cells from k = {rows:,} samples without noise: off by at most {shown} of "
        "their length; with noise, see Lemma 1."
    )
    return Judgement(Verdict.HOLDS if max(exact.values()) <= EXACTLY else Verdict.DOES_NOT_HOLD, measured)


def judge_compressible_tail(outcomes: Outcomes) -> Judgement:
    """‖x − x_S‖₁ ≤ p/(1 − p)·S^(1 − 1/p): the integral above the sum."""
    parts, holds = [], True
    for power in outcomes.where(part="tail").values("power"):
        constants = [
            one.found["tails"][0] * one.settings["sparsity"] ** (0.5 - 1 + 1 / power)
            for one in outcomes.where(part="tail", power=power)
        ]
        allowed = power / (1 - power)
        holds &= max(constants) <= allowed
        parts.append(f"{max(constants):.2f} (at most p/(1 − p) = {allowed:.2f}) for p = {power:g}")
    measured = f"‖x − x_S‖₁·S^(1/p − 1) of |x₍ᵢ₎| = i^(−1/p): {', '.join(parts)}."
    return Judgement(Verdict.HOLDS if holds else Verdict.DOES_NOT_HOLD, measured)


def judge_corollary(outcomes: Outcomes) -> Judgement:
    """Without noise, the error must fall with S at least as fast as S^(1/2 − 1/p)."""
    linear = _linear(outcomes, *PAPERS)
    parts, answers = [], [linear]
    for power in outcomes.where(part="tail").values("power"):
        found = list(outcomes.where(part="tail", power=power))
        slopes = {
            decoder: power_law(
                [one.settings["sparsity"] for one in found], [one.found["errors"][decoder] for one in found]
            )
            for decoder in PAPERS
        }
        wanted = 0.5 - 1 / power
        answers += [at_most(slope, wanted + SAME_POWER) for slope in slopes.values()]
        shown = ", ".join(f"{PAPERS[decoder]} {slope}" for decoder, slope in slopes.items())
        parts.append(f"p = {power:g}: {wanted:.2f}, measured {shown}")
    measured = f"The power of S without noise: {'; '.join(parts)}. In noise, {_said_of_linear(linear)}."
    return judged(every(*answers), measured)


CLAIMS = (
    Claim(
        "Section 3.2",
        "The rather complex decoding process exactly or approximately reconstructs the original data from the "
        "compressed samples.",
        judge_reconstruction,
    ),
    Claim(
        "Section 3.2",
        "A compressible vector x can be well approximated by an S-sparse vector in the sense that "
        "||x − x_S||₁ ≤ C_p·R·S^(1−1/p) for some constant C_p.",
        judge_compressible_tail,
    ),
    Claim(
        "Section 3.2",
        "Candes, Romberg and Tao prove the remarkable and surprising result that by solving a combinatorial "
        "optimization problem, the recovered answer x* ∈ ℝⁿ can be close enough to x even in the presence of unknown "
        "perturbations.",
        judge_convex,
    ),
    Claim(
        "Section 3.2",
        "Needell and Tropp prove essentially the same error bound using a greedy algorithm.",
        judge_same_bound,
    ),
    Claim(
        "Section 3.2, Lemma 1",
        "Suppose A satisfies RIP and ||e||₂ ≤ θ. Then ||x − x*||₂ ≤ C₂||x − x_S||₁/√S + C₃θ, for some constants C₂ and "
        "C₃.",
        judge_bound,
    ),
    Claim(
        "Section 3.2, Corollary 1",
        "Suppose that A satisfies RIP and ||e||₂ ≤ θ. Then ||D − D*||₂ = O(S^(1/2−1/p) + θ) for some constant S ≪ n "
        "and p ∈ (0,1).",
        judge_corollary,
    ),
)
