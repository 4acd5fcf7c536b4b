"""What the paper says of how errors and costs grow, in the static case."""

from __future__ import annotations

from sparsedp.experiments.paper.claim import Claim
from sparsedp.experiments.paper.scaling.judging.bounds import (
    judge_compressive_row,
    judge_laplace_row,
    judge_laplace_theta,
    judge_no_other,
    judge_reduction,
    judge_tree_rows,
    judge_universal,
    judge_with_high_probability,
)
from sparsedp.experiments.paper.scaling.judging.costs import judge_complexity, judge_lossless, judge_size_of_sample
from sparsedp.experiments.paper.scaling.judging.dense import judge_any_input, judge_not_sparse

_TABLE = "Error bounds (in terms of ||D − D*||₂) for the identity query:"

CLAIMS = (
    Claim(
        "Abstract",
        "In this paper, we show that the amount of noise is significantly reduced from O(√n) to O(log(n)), when the "
        "noise insertion procedure is carried on the synopsis samples instead of the original database.",
        judge_reduction,
    ),
    Claim(
        "Section 1",
        "Consequently, the size of these synopses, as well as the privacy budget they require, grow linearly with the "
        "size of the dataset.",
        judge_lossless,
    ),
    Claim("Section 3.2", "The sampling process reduces the data size from O(n) to O(log n).", judge_size_of_sample),
    Claim(
        "Section 3.2, Corollary 2",
        "Suppose A satisfies RIP and ||e||₂ ≤ θ. If D has no sparse representation, then ||D − D*||₂ = O(n/√S + θ).",
        judge_not_sparse,
    ),
    Claim(
        "Section 3.2",
        "Finally, we remark that the time complexity and the space complexity of compressed sensing are both Õ(n).",
        judge_complexity,
    ),
    Claim(
        "Section 4",
        "The Laplacian mechanism is not a universal mechanism, as it introduces too much error. Suppose we use it to "
        "answer the identity query for D, producing D*. With high probability ||D − D*||₂ = Θ(√n/ε) (by using a "
        "Chernoff-like argument).",
        judge_laplace_theta,
    ),
    Claim(
        "Section 4", "Nor is any other known ε-differentially private randomized mechanism universal.", judge_no_other
    ),
    Claim("Section 4, Table 1", f"{_TABLE} Compressive Mechanism, O(log n/ε)", judge_compressive_row),
    Claim("Section 4, Table 1", f"{_TABLE} Laplacian Mechanism, O(√n/ε)", judge_laplace_row),
    Claim("Section 4, Table 1", f"{_TABLE} [Privelet, HRMS], Õ(√n/ε)", judge_tree_rows),
    Claim("Section 5.2, Lemma 5", "With high probability, ||D − D*||₂ = O(log(n)/ε).", judge_with_high_probability),
    Claim(
        "Section 5.2, Theorem 1",
        "The compressive mechanism is a universal mechanism with respect to databases with a sparse representation.",
        judge_universal,
    ),
    Claim(
        "Section 5.3",
        "In other words, for any input D ∈ ℝⁿ we guarantee ||D* − D||₂ = O(n^(2/3)/ε) (from Corollary 2), while for "
        "D ∈ X, ||D* − D||₂ ≤ O(log(n)/ε) with high probability.",
        judge_any_input,
    ),
    Claim(
        "Section 5.3",
        "The time and space complexity of the compressive mechanism are both Õ(n).",
        judge_complexity,
    ),
)
