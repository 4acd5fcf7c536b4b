"""What the paper says of the noise ‖e‖₂, in the proof of its error bound."""

from __future__ import annotations

from studies.paper.deciding import mean_interval
from studies.paper.experiment import Claim, Found, Judgement, Outcomes, Verdict
from studies.paper.noise_norm.measuring import PAPER, most_by_moments

CLOSE = 0.03
"""How far a figure may be off what it should be, beside its interval: noise is on integers, and grids are coarse."""

ALLOWED = 4 * PAPER
"""Var Y over kλ⁴ from which Chebyshev's inequality gives the paper's bound: P(Y − E Y ≥ t) ≤ Var Y/t², t² = 8kλ⁴/δ."""

STEP_DELTA = 0.1
"""The δ at which a law of two values shows that the paper's bound does not follow from mean and variance."""


def worst(found: Found, key: str) -> tuple[float, float, float]:
    """The largest P(Y > bound)/δ, between two bounds, and the δ that has it."""
    ratios = [
        (low / delta, high / delta, delta) for (low, high), delta in zip(found[key], found["deltas"], strict=True)
    ]
    return max(ratios, key=lambda ratio: ratio[1])


def judge_moments(outcomes: Outcomes) -> Judgement:
    """Var X² = E X⁴ − (E X²)² = 24 − 4 for Laplace noise of scale one."""
    parts, right = [], True
    for one in outcomes.where(part="draws"):
        k = one.settings["rows"]
        mean, variance = (mean_interval(one.found[name]) for name in ("means", "variances"))
        for (_, low, high), expected in ((mean, 2 * k), (variance, 20 * k)):
            right &= low <= expected * (1 + CLOSE) and high >= expected * (1 - CLOSE)
        parts.append(f"{mean[0] / k:.3f} and {variance[0] / k:.2f} (k = {k:,})")
    measured = f"E Y/(kλ²) and Var Y/(kλ⁴) over the mechanism's own discrete noise: {', '.join(parts)}."
    return Judgement(Verdict.HOLDS if right else Verdict.DOES_NOT_HOLD, measured)


def judge_chebyshev(outcomes: Outcomes) -> Judgement:
    """The step needs 20 ≤ 4·c under the root; the inequality may be true all the same."""
    exact = list(outcomes.where(part="exact"))
    (_, high, delta), k = max(
        ((worst(one.found, "paper"), one.settings["rows"]) for one in exact), key=lambda pair: pair[0][1]
    )
    drawn = [(mean_interval(one.found["variances"]), one.settings["rows"]) for one in outcomes.where(part="draws")]
    follows = all(high <= ALLOWED * rows for (_, _, high), rows in drawn)
    variance = max(mean / rows for (mean, _, _), rows in drawn)
    step = f"Chebyshev's inequality gives this where Var Y ≤ {ALLOWED}kλ⁴; in draws it is up to {variance:.2f}kλ⁴."
    if not follows:
        two_values = most_by_moments(STEP_DELTA, PAPER)
        step += (
            " From 20kλ⁴ it gives √(5k/δ) in place of √(2k/δ): a law of two values with this mean and variance exceeds "
            f"the paper's bound with probability {two_values:.3f} at δ = {STEP_DELTA}."
        )
    rows = [one.settings["rows"] for one in exact]
    ratio, on_integers = max(
        ((one.found["ratio"], one) for one in outcomes.where(part="integers")), key=lambda pair: float(pair[0])
    )
    found = (
        f"For Laplace noise itself P(Y > bound)/δ, computed exactly, is at most {high:.2f} (k = {k}, δ = {delta:.3f}; "
        f"k from {min(rows)} to {max(rows)}, δ from 0.001 to 0.9), and for noise on integers {ratio:.2f} (k = "
        f"{on_integers.settings['rows']}, ε = {on_integers.settings['rows'] / on_integers.found['scale']:.1f})"
    )
    if max(high, ratio) > 1:
        return Judgement(Verdict.DOES_NOT_HOLD, f"{step} {found}: the inequality fails.")
    if follows:
        return Judgement(Verdict.HOLDS, f"{step} {found}.")
    return Judgement(
        Verdict.HOLDS_ONLY,
        f"{step} {found}: the inequality is true there, but not for the reason given.",
        "as a fact about Laplace noise, not by Chebyshev's inequality, whose constant is 5 in place of 2",
    )


def judge_chernoff(outcomes: Outcomes) -> Judgement:
    """E exp(s·X²) = ∫ exp(s·x² − x) dx must grow without end for every s > 0."""
    (one,) = outcomes.where(part="moments")
    ends, growing, settled = one.settings["ends"], True, True
    parts = []
    for rate, logs in zip(one.settings["rates"], one.found["logs"], strict=True):
        if rate > 0:
            growing &= logs[-1] - logs[-2] > 1
            parts.append(f"from e^{logs[0]:.0f} to e^{logs[-1]:.0f} for s = {rate:g}")
        else:
            settled &= abs(logs[-1] - logs[-2]) < CLOSE
    measured = (
        f"∫₀ᴿ exp(s·x² − x) dx goes, with R from {ends[0]} to {ends[-1]}, {', '.join(parts)}: the exponent is positive "
        f"beyond x = 1/s, however small s > 0 is. For s < 0 it {'settles' if settled else 'does not settle'}."
    )
    return Judgement(Verdict.HOLDS if growing and settled else Verdict.DOES_NOT_HOLD, measured)


def judge_order(outcomes: Outcomes) -> Judgement:
    """‖e‖₂·ε·δ^¼/k must stay below a constant, whatever k and δ."""
    largest, where = 0.0, (0, 0.0)
    for one in outcomes.where(part="exact"):
        k = one.settings["rows"]
        for delta, (_, high) in zip(one.found["deltas"], one.found["quantiles"], strict=True):
            constant = (high / k) ** 0.5 * delta**0.25
            if constant > largest:
                largest, where = constant, (k, delta)
    at_most = 2.0
    first, last = (list(outcomes.where(part="exact"))[place] for place in (0, -1))
    least = first.found["deltas"][0]
    growth = [(one.found["quantiles"][0][1] / one.settings["rows"]) ** 0.5 for one in (first, last)]
    measured = (
        f"The level that ‖e‖₂ exceeds with probability δ is at most {largest:.2f}·k/(ε·δ^¼) (k = {where[0]}, δ = "
        f"{where[1]:.3f}). At δ = {least:g}, where 1/δ^¼ is {least**-0.25:.1f}, it is {growth[0]:.2f}·k/ε for "
        f"k = {first.settings['rows']} and {growth[1]:.2f}·k/ε for k = {last.settings['rows']}."
    )
    return Judgement(Verdict.HOLDS if largest <= at_most else Verdict.DOES_NOT_HOLD, measured)


def judge_noise_of_rows(outcomes: Outcomes) -> Judgement:
    """‖e‖₂·ε/k must stay below a constant as k grows, with probability 0.99."""
    levels = {}
    for one in outcomes.where(part="draws"):
        level = one.found["quantiles"][one.found["deltas"].index(0.01)]
        levels[one.settings["rows"]] = (level / one.settings["rows"]) ** 0.5
    falling = max(levels.values()) <= 1.1 * next(iter(levels.values()))
    shown = ", ".join(f"{level:.2f} (k = {k:,})" for k, level in levels.items())
    measured = f"‖e‖₂·ε/k, exceeded in 1 % of the draws: {shown}; ‖e‖₂ = √(2k)·λ would be √2."
    return Judgement(Verdict.HOLDS if falling else Verdict.DOES_NOT_HOLD, measured)


CLAIMS = (
    Claim(
        "Section 5.3",
        "[…] since k = Θ(S log(n/S)) and ||e||₂ = O(k/ε), S also affects the encoding (adding noise) results.",
        judge_noise_of_rows,
    ),
    Claim("Appendix B", "We can compute that E(Y) = 2kλ² and that Var(Y) = 20kλ⁴.", judge_moments),
    Claim(
        "Appendix B",
        "By the Chebyshev inequality, Prob(|Y| ≤ 2λ²(k + √(2k/δ))) ≥ 1 − δ.",
        judge_chebyshev,
    ),
    Claim(
        "Appendix B",
        "The Chernoff bound cannot be applied, as the integral defining the moment-generating function of Y does not "
        "converge unconditionally in a neighborhood of 0.",
        judge_chernoff,
    ),
    Claim(
        "Appendix B",
        "Along with the fact that ||e||₂ = √Y, we see that with probability at least 1 − δ, ||e||₂ = O(k/(ε δ^(1/4))).",
        judge_order,
    ),
)
