"""Growth: the experiment runs whole, can be repeated, counts what it says it counts; and the judges."""

from __future__ import annotations

from collections.abc import Callable
from math import log2, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparsedp.bases.haar import Haar
from sparsedp.noise.source import NoiselessSource
from studies.paper.deciding import Series
from studies.paper.experiment import Claim, Effort, Outcome, Outcomes, Verdict
from studies.paper.running import timed
from studies.paper.scaling import EXPERIMENT, claims
from studies.paper.scaling.laws import growth, rows_at
from studies.paper.scaling.measuring import EVERY, SIZE, measure, publish, sparse_counts, thresholded


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    return Outcomes(timed(measure, settings) for settings in EXPERIMENT.jobs(Effort.SMOKE, {}))


@pytest.mark.slow
def test_the_experiment_runs_whole(outcomes: Outcomes, tmp_path: Path) -> None:
    pictures = EXPERIMENT.draw(outcomes, tmp_path)
    assert [picture.path.name for picture in pictures] == ["scaling.png", "scaling-limits.png"]
    assert all(picture.path.stat().st_size > 10_000 for picture in pictures)
    assert [len(numbers.rows) for numbers in EXPERIMENT.tabulate(outcomes)] == [11, 8, 9]
    for claim in EXPERIMENT.claims:
        assert claim.judge(outcomes).measured


@pytest.mark.slow
def test_a_job_can_be_repeated(outcomes: Outcomes) -> None:
    of_each_kind = {(one.settings["part"], one.settings.get("mechanism", "")): one for one in outcomes}
    for outcome in of_each_kind.values():
        assert measure(outcome.settings) == outcome.found


def test_every_job_is_listed_once() -> None:
    for effort in Effort:
        listed = [repr(sorted(settings.items())) for settings in EXPERIMENT.jobs(effort, {})]
        assert len(listed) == len(set(listed))


@pytest.mark.parametrize(("cells", "sparsity"), [(2**8, 8), (2**10, 1), (2**12, 64), (2**16, 128)])
def test_counts_are_whole_non_negative_and_exactly_sparse(cells: int, sparsity: int) -> None:
    counts = sparse_counts(cells, sparsity, np.random.default_rng(1))
    assert counts.min() >= 0
    coefficients = Haar(cells).analyze(counts.astype(np.float64))
    sizes = np.sort(np.abs(coefficients))[::-1]
    assert sizes[0] == pytest.approx(SIZE * np.sqrt(cells))
    np.testing.assert_allclose(sizes[1:sparsity], SIZE)
    np.testing.assert_allclose(sizes[sparsity:], 0, atol=1e-6)


@pytest.mark.parametrize("name", ["compressive", "compressive bp", "laplace", "laplace threshold", "hierarchical"])
def test_without_noise_nothing_is_lost(name: str) -> None:
    counts = sparse_counts(2**9, 6, np.random.default_rng(2))
    published = publish(name, counts, sparsity=6, epsilon="1", seed=3, source=NoiselessSource())
    # The decoders believe in noise of scale k: basis pursuit shrinks by as much.
    assert np.linalg.norm(published.cells - counts) < 0.01 * np.linalg.norm(counts - counts.mean())


def test_the_threshold_keeps_the_total_and_what_stands_out() -> None:
    cells = np.zeros(256)
    cells[:128] = 1000.0
    cells[7] += 1.0
    kept = thresholded(cells, deviation=1.0)
    assert kept.sum() == pytest.approx(cells.sum())
    assert len(np.unique(np.rint(kept * 1000))) == 2


@pytest.mark.slow
def test_additions_are_counted_as_products_times_their_cost(outcomes: Outcomes) -> None:
    for one in outcomes.where(part="work"):
        n, found = one.settings["cells"], one.found
        cost = n * (np.log2(n) if one.settings["sensing"] == "hadamard" else found["rows"])
        assert found["additions"] == found["products"] * cost
        assert found["products"] > 4
        assert 3 <= found["vectors"] <= 40


Law = Callable[..., float]
CELLS = [2**e for e in range(10, 21, 2)]


def ideal(name: str, n: float, epsilon: float = 1.0, s: float = 8) -> float:
    """Errors as the paper has them."""
    if name.startswith("compressive"):
        return 3 * s * log2(n / s) / epsilon
    if name in ("laplace", "hierarchical", "privelet"):
        return sqrt(2 * n) / epsilon * (1 if name == "laplace" else log2(n))
    return 4 * sqrt(s) / epsilon


def runs(error: float) -> list[float]:
    return [0.99 * error, 1.01 * error]


def made_up(
    error: Law = ideal,
    hardest: Law = lambda name, n: 2 * ideal(name, n) if name.startswith("compressive") else 2 * log2(n),
    numbers: Law = lambda name, n: rows_at(n, 8) if name.startswith("compressive") else n,
    whole: Law = lambda n, most: 3 * n ** (2 / 3) + most * sqrt(n),
    fixed: Law = lambda n: 30 * sqrt(n),
    additions: Law = lambda n: 50 * n * log2(n),
) -> Outcomes:
    listed: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for name in EVERY:
        for n in CELLS:
            settings = {"part": "cells", "mechanism": name, "cells": n, "sparsity": 8, "epsilon": "1"}
            listed.append((settings, {"errors": runs(error(name, n)), "numbers": numbers(name, n)}))
        for epsilon in ("1", "0.3", "0.1", "0.03"):
            settings = {"part": "epsilon", "mechanism": name, "cells": 2**14, "sparsity": 8, "epsilon": epsilon}
            listed.append((settings, {"errors": runs(error(name, 2**14, epsilon=float(epsilon)))}))
        for s in (2, 4, 8, 16):
            settings = {"part": "sparsity", "mechanism": name, "cells": 2**14, "sparsity": s, "epsilon": "1"}
            listed.append((settings, {"errors": runs(error(name, 2**14, s=s))}))
    for name in ("compressive", "compressive tree", "laplace threshold"):
        for n in CELLS:
            found = {"scaled_errors": [runs(0.5 * hardest(name, n)), runs(hardest(name, n))]}
            listed.append(({"part": "fading", "mechanism": name, "cells": n}, found))
    for n in (2**10, 2**12):
        settings = {"part": "often", "mechanism": "compressive", "cells": n, "sparsity": 8, "runs": 200}
        # Few coefficients, and so errors below the bound's: k of them.
        listed.append((settings, {"errors": (0.1 * np.array([error("compressive", n)] * 200)).tolist()}))
    for n in CELLS[:4]:
        common = {"part": "dense", "cells": n, "most": 1}
        listed.append(({**common, "series": "two thirds", "sparsity": 100}, {"errors": runs(whole(n, 1))}))
        listed.append(({**common, "series": "fixed", "sparsity": 8}, {"errors": runs(fixed(n))}))
    for most in (1, 10**4, 10**5):
        settings = {"part": "dense", "series": "counts", "cells": 2**13, "most": most, "sparsity": 400}
        listed.append((settings, {"errors": runs(whole(2**13, most))}))
    for sensing, decoder in (("hadamard", "cosamp"), ("hadamard", "vamp_tree"), ("bernoulli", "cosamp")):
        for n in CELLS[2:]:
            settings = {"part": "work", "sensing": sensing, "decoder": decoder, "cells": n, "sparsity": 8}
            listed.append((settings, {"products": 50, "additions": additions(n), "vectors": 8, "rows": 100}))
    return Outcomes(Outcome(settings, found, 0.0) for settings, found in listed)


def compressive_like(law: Callable[[float], float]) -> Law:
    def error(name: str, n: float, epsilon: float = 1.0, s: float = 8) -> float:
        return law(n) / epsilon * s if name.startswith("compressive") else ideal(name, n, epsilon, s)

    return error


def all_like(law: Callable[[float], float]) -> Law:
    return lambda name, n, epsilon=1.0, s=8: law(n) / epsilon


ROOT = compressive_like(lambda n: 0.1 * sqrt(n))
STUCK = all_like(lambda n: 40.0)


@pytest.mark.parametrize(
    "judge",
    [
        claims.judge_reduction,
        claims.judge_compressive_row,
        claims.judge_laplace_row,
        claims.judge_tree_rows,
        claims.judge_with_high_probability,
        claims.judge_universal,
        claims.judge_laplace_theta,
        claims.judge_complexity,
        claims.judge_size_of_sample,
    ],
)
def test_the_papers_laws_hold(judge: Any) -> None:
    assert judge(made_up()).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("judge", "outcomes"),
    [
        (claims.judge_reduction, made_up(error=ROOT)),
        (claims.judge_reduction, made_up(hardest=lambda name, n: 0.5 * sqrt(n))),
        (claims.judge_reduction, made_up(error=STUCK)),
        (claims.judge_compressive_row, made_up(error=ROOT)),
        (
            claims.judge_compressive_row,
            made_up(error=lambda name, n, epsilon=1.0, s=8: ideal(name, n, epsilon**0.5, s)),
        ),
        (claims.judge_laplace_row, made_up(error=STUCK)),
        (claims.judge_tree_rows, made_up(error=lambda name, n, epsilon=1.0, s=8: n / epsilon)),
        (claims.judge_with_high_probability, made_up(error=compressive_like(lambda n: 100 * log2(n / 8)))),
        (claims.judge_universal, made_up(hardest=lambda name, n: 0.5 * sqrt(n))),
        (claims.judge_laplace_theta, made_up(error=STUCK)),
        (claims.judge_complexity, made_up(additions=lambda n: n**1.5)),
        (claims.judge_size_of_sample, made_up(numbers=lambda name, n: n)),
        (claims.judge_lossless, made_up(numbers=lambda name, n: 100)),
        (claims.judge_any_input, made_up(whole=lambda n, most: n * most)),
        (claims.judge_not_sparse, made_up(fixed=lambda n: n**1.5)),
        (claims.judge_no_other, made_up(error=STUCK)),
    ],
)
def test_other_laws_do_not(judge: Any, outcomes: Outcomes) -> None:
    assert judge(outcomes).verdict is Verdict.DOES_NOT_HOLD


def shaky(law: Law) -> Law:
    """Up and down by a factor of twenty from one n to the next: no law can be told from it."""
    return lambda name, n, epsilon=1.0, s=8: law(name, n, epsilon, s) / (20 if int(log2(n)) % 4 else 1)


SHAKY = made_up(
    error=shaky(ideal),
    hardest=lambda name, n: shaky(ideal)(name, n),
    whole=lambda n, most: n ** (2 / 3) * (5 if int(log2(n)) % 4 else 1),
    fixed=lambda n: sqrt(n) * (9 if int(log2(n)) % 4 else 1),
    additions=lambda n: n * (5 if int(log2(n)) % 4 else 1),
)


@pytest.mark.parametrize("claim", EXPERIMENT.claims, ids=lambda claim: claim.judge.__name__)
def test_what_cannot_be_told_is_not_decided(claim: Claim) -> None:
    assert claim.judge(SHAKY).verdict is Verdict.UNDECIDED


def test_a_few_runs_do_not_show_a_high_probability() -> None:
    outcomes = made_up()
    for one in outcomes.where(part="often"):
        one.found["errors"] = one.found["errors"][:20]
    assert claims.judge_with_high_probability(outcomes).verdict is Verdict.UNDECIDED


def test_two_points_tell_no_law() -> None:
    few = Outcomes(one for one in made_up() if one.settings["part"] != "cells" or one.settings["cells"] in CELLS[:2])
    with np.errstate(all="ignore"):
        assert claims.judge_laplace_row(few).verdict is Verdict.UNDECIDED


def test_words_follow_what_came_out() -> None:
    assert "no bound for any input" in claims.judge_any_input(made_up()).measured
    bounded = made_up(whole=lambda n, most: 3 * n ** (2 / 3))
    assert "no bound" not in claims.judge_any_input(bounded).measured
    assert "is O(log n/ε)" in claims.judge_no_other(made_up()).measured
    no_help = made_up(hardest=lambda name, n: ideal(name, n) if name.startswith("compressive") else sqrt(n))
    assert "which is not O(log n/ε)" in claims.judge_no_other(no_help).measured
    assert claims.judge_lossless(made_up()).only.startswith("for the size; the budget grows like n^0.50 to n^0.")
    useful = made_up(fixed=lambda n: 0.1 * sqrt(n))
    assert "nothing of the input" in claims.judge_not_sparse(made_up()).measured
    assert "nothing of the input" not in claims.judge_not_sparse(useful).measured


def test_other_mechanisms_are_universal_only_if_a_threshold_makes_them_so() -> None:
    assert claims.judge_no_other(made_up()).verdict is Verdict.HOLDS_ONLY
    no_help = made_up(hardest=lambda name, n: ideal(name, n) if name.startswith("compressive") else sqrt(n))
    assert claims.judge_no_other(no_help).verdict is Verdict.HOLDS


def test_the_budget_of_lossless_synopses() -> None:
    assert claims.judge_lossless(made_up()).verdict is Verdict.HOLDS_ONLY
    linear = made_up(error=lambda name, n, epsilon=1.0, s=8: n / epsilon)
    assert claims.judge_lossless(linear).verdict is Verdict.HOLDS


def test_inputs_of_any_size_are_not_covered() -> None:
    for judge in (claims.judge_any_input, claims.judge_not_sparse):
        assert judge(made_up()).verdict is Verdict.HOLDS_ONLY
        assert judge(made_up(whole=lambda n, most: 3 * n ** (2 / 3))).verdict is Verdict.HOLDS


def test_laws_are_told_apart() -> None:
    straight = growth(Series([float(n) for n in CELLS], [runs(-50 + 20 * log2(n)) for n in CELLS]), 8)
    assert straight.best == "a + b·log n"
    one_far_off = Series([1.0, 2.0], [[1.0, 1.0], [1.0, 1.0, 1.0, 16.0]])
    assert one_far_off.largest_over_centre == pytest.approx(8.0)
    assert (straight.intercept, straight.per_doubling) == pytest.approx((-50, 20), rel=1e-2)
    root = growth(Series([float(n) for n in CELLS], [runs(sqrt(n)) for n in CELLS]), 8)
    assert root.best == "a power of n"
    assert root.in_n.value == pytest.approx(0.5)
    power = growth(Series([float(n) for n in CELLS], [runs(log2(n / 8) ** 0.5) for n in CELLS]), 8)
    assert power.best == "a power of log(n/S)"
    assert power.in_log.value == pytest.approx(0.5)
