"""What the paper claims about privacy in the static case."""

from __future__ import annotations

from math import log

from studies.paper.experiment import Claim, Judgement, Outcomes, Verdict

CONSTANT = 0.05
"""What grows with a smaller power of n than this is called a constant."""


def judge_privacy(outcomes: Outcomes) -> Judgement:
    """The noise must have the scale Δ/ε: k/ε on ±1 entries."""
    rows = list(outcomes.where(part="columns"))
    right = all(one.found["scale_times_epsilon"] >= one.found["largest"] for one in rows)
    shown = ", ".join(
        f"{one.settings['ensemble']}: {one.found['largest']:,} at k = {one.found['rows']:,}" for one in rows
    )
    measured = (
        f"On ±1 entries a record moves ‖Φ D‖₁ by exactly k ({shown}), and the noise that is drawn has the scale k/ε, "
        "which is the paper's Lap(√k/ε) in its scaling: exact integers, exact noise. The proof is beside the mechanism."
    )
    return Judgement(Verdict.HOLDS if right else Verdict.DOES_NOT_HOLD, measured)


def judge_sensitivity_of_samples(outcomes: Outcomes) -> Judgement:
    """Δ_g = √k on ±1/√k entries is k on ±1."""
    rows = list(outcomes.where(part="columns"))
    exact = all(one.found["least"] == one.found["largest"] == one.found["rows"] for one in rows)
    moved = ", ".join(
        f"{one.found['largest']:,} at k = {one.found['rows']:,} ({one.settings['ensemble']})" for one in rows
    )
    return Judgement(
        Verdict.HOLDS if exact else Verdict.DOES_NOT_HOLD,
        f"A record in any of the sampled cells moves the sums of ±1 by {moved}: k, which is √k after scaling by 1/√k.",
    )


def judge_sensitivity_of_scores(outcomes: Outcomes) -> Judgement:
    """C₅ is a constant where the row sums of the basis are bounded."""
    parts, exponents = [], {}
    for basis in outcomes.where(part="row sums").values("basis"):
        rows = list(outcomes.where(part="row sums", basis=basis))
        sizes, moves = ([one.settings["cells"] for one in rows], [one.found["largest"] for one in rows])
        exponents[basis] = log(moves[-1] / moves[0]) / log(sizes[-1] / sizes[0])
        parts.append(f"{basis} {moves[-1]:.4g} at n = {sizes[-1]:,}")
    measured = f"C₅ is C₂ times the largest Σᵢ|ψᵢ[j]| of the basis: {', '.join(parts)}."
    growing = [basis for basis, exponent in exponents.items() if exponent > CONSTANT]
    if not growing:
        return Judgement(Verdict.HOLDS, measured)
    if "haar" in growing:
        return Judgement(Verdict.DOES_NOT_HOLD, measured)
    grows = ", ".join(f"{basis}: n^{exponents[basis]:.2f}" for basis in growing)
    kept = " and ".join(basis for basis in exponents if basis not in growing)
    breach = f"{measured} Elsewhere it grows ({grows}), and noise for a constant would be a breach."
    return Judgement(
        Verdict.HOLDS_ONLY, breach, f"in bases with bounded row sums: {kept}, but not {', '.join(growing)}"
    )


def judge_choice(outcomes: Outcomes) -> Judgement:
    """No S may become more than e^ε times as probable."""
    rows = list(outcomes.where(part="choice"))
    private = all(one.found["largest"] <= float(one.settings["epsilon"]) for one in rows)
    shown = ", ".join(f"{one.found['largest']:.4f} ({one.settings['basis']})" for one in rows)
    allowed = rows[0].settings["epsilon"]
    measured = (
        f"With exact scores and each basis's own C₅, a record more changes the log-probability of any S by at most "
        f"{shown}, where ε = {allowed} allows {allowed}. Dividing by a Δ that depends on S is private, but what it "
        "makes likely is a small √S·u(S), not a small u(S)."
    )
    return Judgement(Verdict.HOLDS if private else Verdict.DOES_NOT_HOLD, measured)


def judge_queries(outcomes: Outcomes) -> Judgement:
    """Questions must cost nothing."""
    (one,) = outcomes.where(part="queries")
    before, after = one.found["left_after_the_release"], one.found["left_after_the_queries"]
    measured = (
        f"After a release the ledger has {before} left, and after {one.settings['queries']:,} random linear queries "
        f"of it {after}. Recovery and queries are functions of the noisy samples alone: they see no counts."
    )
    return Judgement(Verdict.HOLDS if before == after else Verdict.DOES_NOT_HOLD, measured)


CLAIMS = (
    Claim(
        "Section 4",
        "The universal mechanism does not have this problem, as any system based on a universal mechanism always "
        "satisfies ε-differential privacy, no matter how many queries are asked.",
        judge_queries,
    ),
    Claim("Section 5.2, Lemma 4", "The compressive mechanism satisfies ε-differential privacy.", judge_privacy),
    Claim("Appendix A", "The sensitivity of g is Δ_g = √k.", judge_sensitivity_of_samples),
    Claim(
        "Section 5.3",
        "We calculate that the sensitivity of u(D, S), ∀S ∈ [1, n], is Δ = C₅/√S, where C₅ is a constant.",
        judge_sensitivity_of_scores,
    ),
    Claim(
        "Section 5.3",
        "Accordingly, the exponential mechanism outputs S with probability proportional to e^(−εu(S)/(2Δ)) […]; "
        "satisfies ε-differential privacy",
        judge_choice,
    ),
)
