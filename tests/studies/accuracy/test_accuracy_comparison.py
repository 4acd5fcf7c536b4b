"""Means, ratios and intervals against plain formulas; verdicts on errors whose answers are plain to see."""

import math

import numpy as np
import pytest

from studies.accuracy.comparison import (
    FIGURES,
    NAMES,
    Results,
    Score,
    as_published,
    at_their_best,
    best_published,
    compare,
    compare_with_published,
    exactly,
    geometric_mean,
    mean_ratios,
    published_verdicts,
    score,
    verdicts,
)
from studies.accuracy.measuring import EPSILON, SETTINGS, Case, Configured, Measured, cases_of, setting_name


def test_a_score_is_the_mean_with_students_interval() -> None:
    errors = np.array([[1.0, 10.0], [2.0, 10.0], [3.0, 10.0]])
    cells = score(errors, "cells")
    assert cells.value == pytest.approx(2)
    # The standard error is 1/√3; relative to the mean it is half of that; t₀.₉₇₅ with 2 degrees of freedom is 4.303.
    assert cells.factor == pytest.approx(math.exp(4.3027 / 2 / math.sqrt(3)), rel=1e-4)
    assert cells.low < cells.value < cells.high
    ranges = score(errors, "ranges")
    assert [ranges.value, ranges.factor, ranges.margin] == pytest.approx([10, 1, 0])


def test_the_product_counts_the_correlation() -> None:
    together = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    opposed = together * [1, 0] + together[::-1] * [0, 1]
    assert score(together, "product").value == pytest.approx(score(opposed, "product").value) == pytest.approx(40)
    assert score(together, "product").variance == pytest.approx(4 * score(together, "cells").variance)
    assert score(opposed, "product").variance == pytest.approx(0)


def test_ratios_and_geometric_means() -> None:
    ratio = Score(math.log(6), 0.03, 9).over(Score(math.log(2), 0.01, 4))
    assert [ratio.value, ratio.variance, ratio.freedom] == pytest.approx([3, 0.04, 4])
    mean = geometric_mean([Score(math.log(2), 0.04, 4), Score(math.log(8), 0.04, 4)])
    assert [mean.value, mean.variance] == pytest.approx([4, 0.02])
    against_a_figure = Score(math.log(6), 0.03, 9).over(exactly(3))
    assert against_a_figure.freedom == 9
    assert against_a_figure.value == pytest.approx(2)


def test_intervals_cover() -> None:
    generator = np.random.default_rng(0)
    hits = 0
    for _ in range(1000):
        ours, theirs = generator.gamma(9, 2, size=(20, 2)), generator.gamma(9, 1, size=(20, 2))
        ratio = score(ours, "product").over(score(theirs, "product"))
        hits += ratio.low <= 4 <= ratio.high
    assert 930 <= hits <= 975


def test_others_are_judged_at_their_best_and_ours_as_published() -> None:
    clipping_helps = np.array([[5.0, 9.0, 4.0, 7.0], [5.0, 9.0, 4.0, 9.5]])
    assert at_their_best(clipping_helps).tolist() == [[4.0, 7.0], [4.0, 9.5]]
    assert as_published(clipping_helps).tolist() == [[5.0, 9.0], [5.0, 9.0]]
    clipping_hurts = clipping_helps[:, [0, 3, 2, 1]]
    assert at_their_best(clipping_hurts).tolist() == [[4.0, 7.0], [4.0, 9.5]]


OURS = {mode: Configured(f"ours {mode}", "laplace") for mode in ("any", "cells", "ranges")}
CASE = Case("steps", 10**3, EPSILON)


def measured(case: Case, **errors: tuple[float, float]) -> list[Measured]:
    """Three runs of each, one of them 10 % above and one 10 % below; clipping changes nothing."""
    scatter = np.array([[0.9], [1.0], [1.1]])
    return [Measured(case, name.replace("_", " "), scatter * [*pair, *pair]) for name, pair in errors.items()]


def all_measured(case: Case = CASE, ours: tuple[float, float] = (50, 40)) -> list[Measured]:
    return measured(
        case,
        ours_any=ours,
        ours_cells=ours,
        ours_ranges=ours,
        laplace=(100, 100),
        privelet=(400, 20),
        compressive=(90, 150),
        zeros=(60, 1000),
        uniform=(70, 30),
    )


def results(case: Case = CASE, ours: tuple[float, float] = (50, 40)) -> Results:
    return Results(all_measured(case, ours))


def test_each_mode_meets_the_best_other_at_its_own_metric() -> None:
    found = {comparison.mode: comparison for comparison in compare(results(), OURS)}
    assert {mode: comparison.rival.name for mode, comparison in found.items()} == {
        "any": "privelet",  # 400·20 is the least product, though neither of its errors with the others' would be
        "cells": "compressive",
        "ranges": "privelet",
    }
    assert found["any"].ratio.value == pytest.approx(2000 / 8000)
    assert found["cells"].ratio.value == pytest.approx(50 / 90)
    assert found["ranges"].ratio.value == pytest.approx(2)
    assert {mode: comparison.bystander.name for mode, comparison in found.items()} == {
        "any": "uniform",
        "cells": "zeros",
        "ranges": "uniform",
    }
    assert found["ranges"].bystander_ratio.value == pytest.approx(40 / 30)


def test_ours_are_never_a_rival_and_lone_cases_are_left_out() -> None:
    alone = Results(measured(CASE, ours_cells=(1, 1), zeros=(2, 2), uniform=(2, 2)))
    assert compare(alone, OURS) == []
    stand_in = {"cells": Configured("laplace", "laplace")}
    (only,) = compare(results(), stand_in)
    assert only.rival.name == "compressive"


def test_verdicts_name_what_is_missed() -> None:
    found = verdicts(compare(results(), OURS))
    missed = [(verdict.mode, verdict.target) for verdict in found if not verdict.met]
    assert missed == [("ranges", 0.9), ("ranges", 1.1), ("ranges", 1.1), ("ranges", 1.3)]
    lines = [str(verdict) for verdict in found]
    assert any("ranges: steps, 10³, ε = 0.1 beside privelet: 2.000" in line and "MISSED" in line for line in lines)
    assert any(line.startswith("cells") and line.endswith("target 0.9: met") for line in lines)


def test_a_verdict_says_when_the_runs_do_not_separate() -> None:
    (mean, *_) = verdicts(compare(results(ours=(80, 100)), {"cells": OURS["cells"]}))
    assert mean.met
    assert not mean.separated
    assert str(mean).endswith("target 0.9: met, not separated by these runs")


def test_all_cases_above_the_limit_are_listed_and_otherwise_the_worst() -> None:
    cases = cases_of(["steps", "sine"], [(10**3, EPSILON), (10**5, EPSILON)])
    several = Results(
        one for case, cells in zip(cases, (20, 200, 30, 300), strict=True) for one in all_measured(case, (cells, 10))
    )
    comparisons = compare(several, {"cells": OURS["cells"]})
    above = [verdict.claim for verdict in verdicts(comparisons) if verdict.target == 1.1]
    assert above == [
        "the worst input over its cases, sine",
        "sine, 10⁵, ε = 0.1 beside compressive",
        "steps, 10⁵, ε = 0.1 beside compressive",
    ]
    assert mean_ratios(comparisons)["sine"].value == pytest.approx((30 * 300) ** 0.5 / 90)


def test_the_published_figures() -> None:
    assert all(len(figures) == len(NAMES) for figures in FIGURES.values())
    case = Case("search_logs", 10**6, EPSILON)
    best = {metric: best_published(case, metric) for metric in ("cells", "ranges", "product")}
    assert {metric: found and (found.name, round(found.score.value)) for metric, found in best.items()} == {
        "cells": ("Laplace", 782),
        "ranges": ("HB", 198),
        "product": ("Laplace", 782 * 546),
    }
    assert best_published(Case("search_logs", 10**6, "1"), "cells") is None
    assert best_published(CASE, "cells") is None


def test_ours_beside_the_published_ones() -> None:
    assert compare_with_published(results(), OURS) == []
    comparisons = compare_with_published(results(Case("nettrace", 10**3, EPSILON)), OURS)
    assert [comparison.ratio.value for comparison in comparisons] == pytest.approx([2000 / 56 / 34, 50 / 56, 40 / 34])
    missed = [verdict.mode for verdict in published_verdicts(comparisons) if not verdict.met]
    assert missed == ["any", "any", "ranges", "ranges"]


def test_cases_are_the_stated_ones() -> None:
    assert len(cases_of(["a", "b"])) == 12
    assert {(total, epsilon) for total, epsilon in SETTINGS if epsilon != "0.1"} == {(10**5, "1"), (10**5, "0.01")}
    assert setting_name(10**6, "0.1") == "10⁶, ε = 0.1"
    assert setting_name(1500, "1") == "1,500, ε = 1"
