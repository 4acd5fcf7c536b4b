"""Who is compared, that each publishes what it should, and how it is measured and kept."""

import csv
import pickle
from pathlib import Path

import numpy as np
import pytest

from sparsedp.arrays import Ints
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.mechanisms import MECHANISMS
from studies.accuracy.comparison import Results
from studies.accuracy.measuring import (
    BYSTANDERS,
    MODES,
    OURS,
    RIVALS,
    Case,
    Configured,
    Uniform,
    Zeros,
    measure_all,
    tasks_for,
)
from studies.metrics import cell_error, range_error

TABLE = np.arange(64).reshape(8, 8)


def test_every_other_mechanism_is_a_rival() -> None:
    assert {rival.mechanism for rival in RIVALS} == set(MECHANISMS) - {"adaptive"}
    names = [contender.name for contender in (*OURS.values(), *RIVALS, *BYSTANDERS)]
    assert len(set(names)) == len(names)


def test_ours_are_the_three_workloads() -> None:
    assert tuple(OURS) == MODES
    for mode, contender in OURS.items():
        assert contender.mechanism == "adaptive"
        assert dict(contender.settings) == {"workload": mode}
        assert contender.exists == ("adaptive" in MECHANISMS)


@pytest.mark.parametrize("contender", [*RIVALS, *BYSTANDERS], ids=lambda contender: contender.name)
def test_a_release_has_the_shape_of_the_counts_and_is_afresh(contender: Configured) -> None:
    sent = pickle.loads(pickle.dumps(contender))
    assert sent == contender
    for counts in (TABLE, TABLE.reshape(-1)):
        first, second = (sent.publish(counts, "0.5") for _ in range(2))
        assert first.shape == counts.shape
        assert contender.name in ("zeros", "uniform") or not np.array_equal(first, second)


def test_a_table_comes_back_in_place() -> None:
    values = RIVALS[0].publish(TABLE * 10**6, "10")
    assert np.allclose(values, TABLE * 10**6, atol=100)


def test_the_bystanders() -> None:
    assert not Zeros().publish(TABLE, "1").any()
    for _ in range(20):
        values = Uniform().publish(TABLE, "1000")
        assert np.unique(values).tolist() == [pytest.approx(TABLE.sum() / 64)]
    spread = [Uniform().publish(TABLE * 1000, "0.1").sum() - TABLE.sum() * 1000 for _ in range(300)]
    # Discrete Laplace of scale 10: standard deviation 14.1, known to within a sixth from 300 draws.
    assert 10 < np.std(spread) < 19
    assert min(Uniform().publish(np.zeros(4, dtype=np.int64), "0.01").min() for _ in range(20)) >= 0


CASES = [Case("ramp", 64, "0.5"), Case("ramp", 128, "0.5")]
LAPLACE = Configured("laplace", "laplace")


def ramp(case: Case) -> Ints:
    return np.arange(case.total, dtype=np.int64)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_every_contender_is_measured_in_every_case(workers: int) -> None:
    tasks = tasks_for(CASES, [LAPLACE, Zeros()], 3, counts_of=ramp)
    results = Results(measure_all(tasks, workers=workers))
    assert sorted(results.cases) == CASES
    for case in CASES:
        counts = ramp(case)
        zeros = results.errors(case, "zeros")
        cells, ranges = (error(counts, np.zeros(case.total)) for error in (cell_error, range_error))
        assert zeros.tolist() == [[cells, ranges, cells, ranges]] * 3
        noisy = results.errors(case, "laplace")
        # Sums of squares of whole numbers can agree by chance; beside them, errors of 2,000 ranges cannot.
        assert np.unique(noisy, axis=0).shape[0] == 3
        assert np.all(noisy[:, 2] <= noisy[:, 0])
        # Noise of scale 2 on every cell: ‖noise‖₂ is near √(8·cells).
        assert 0.4 < noisy[:, 0].mean() / np.sqrt(8 * case.total) < 2


def test_one_run_has_no_interval() -> None:
    with pytest.raises(InvalidInput, match="runs"):
        tasks_for(CASES, [LAPLACE], 1, counts_of=ramp)


def test_the_public_inputs_are_the_default() -> None:
    (task,) = tasks_for([Case("sine", 1000, "1")], [Zeros()], 2)
    assert task.counts.sum() == 1000
    assert task.counts.size == 4096


def test_results_come_back_from_their_file(tmp_path: Path) -> None:
    results = Results(measure_all(tasks_for(CASES, [LAPLACE, Uniform()], 2, counts_of=ramp)))
    path = results.save(tmp_path / "new" / "accuracy.json")
    again = Results.read(path)
    assert again.cases == results.cases
    assert again.runs(CASES[0], "laplace") == 2
    assert again.runs(CASES[0], "nobody") == 0
    assert np.array_equal(again.errors(CASES[1], "uniform"), results.errors(CASES[1], "uniform"))
    assert again.only(CASES[1:]).cases == CASES[1:]
    assert [file.name for file in path.parent.iterdir()] == ["accuracy.json"]


def test_another_file_is_refused(tmp_path: Path) -> None:
    for text in ("{", "{}", '{"errors": [{}]}', "[]"):
        (tmp_path / "accuracy.json").write_text(text)
        with pytest.raises(BadFile, match="not a file of accuracy results"):
            Results.read(tmp_path / "accuracy.json")


def test_the_summary_has_means_and_intervals(tmp_path: Path) -> None:
    results = Results(measure_all(tasks_for(CASES, [LAPLACE, Zeros()], 4, counts_of=ramp)))
    path = results.save_summary(tmp_path / "accuracy.csv", ["laplace"])
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert len(rows) == 4
    first = rows[0]
    assert (first["input"], first["total"], first["mechanism"], first["runs"]) == ("ramp", "64", "laplace", "4")
    assert float(first["cells"]) == pytest.approx(results.errors(CASES[0], "laplace")[:, 0].mean(), rel=1e-5)
    assert float(first["ranges_low"]) < float(first["ranges"]) < float(first["ranges_high"])
