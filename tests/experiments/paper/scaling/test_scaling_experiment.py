"""Growth: the experiment runs whole, can be repeated, and counts what it says it counts."""

from pathlib import Path

import numpy as np
import pytest

from sparsedp.bases.haar import Haar
from sparsedp.experiments.paper.effort import Effort
from sparsedp.experiments.paper.outcomes import Outcomes
from sparsedp.experiments.paper.running import timed
from sparsedp.experiments.paper.scaling.contenders import publish, thresholded
from sparsedp.experiments.paper.scaling.definition import EXPERIMENT
from sparsedp.experiments.paper.scaling.measuring import measure
from sparsedp.experiments.paper.scaling.signals import SIZE, sparse_counts
from sparsedp.noise.source import NoiselessSource


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
