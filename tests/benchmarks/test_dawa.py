"""DAWA as we wrote it to be compared with: its parts by definition, and the comparison runs."""

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def rival(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("rivals.dawa")


def partitions(n: int) -> list[list[int]]:
    """All ways to cut n cells into buckets of powers of two: where they begin."""
    if n == 0:
        return [[]]
    widths = [1 << k for k in range(n.bit_length()) if 1 << k <= n]
    return [[*before, n - width] for width in widths for before in partitions(n - width)]


def test_costs_are_distances_from_the_mean(rival: ModuleType) -> None:
    row = np.random.default_rng(1).integers(0, 20, 13).astype(np.float64)
    found = rival.deviations(row)
    assert found.shape == (4, 13)
    for level, last in np.ndindex(found.shape):
        cells = row[max(last + 1 - 2**level, 0) : last + 1]
        fits = len(cells) == 2**level
        assert found[level, last] == pytest.approx(np.abs(cells - cells.mean()).sum() if fits else 0.0)


def test_the_partition_is_the_cheapest_of_all(rival: ModuleType) -> None:
    for seed in range(20):
        costs = np.random.default_rng(seed).exponential(size=(4, 11))

        def price(starts: list[int], costs: np.ndarray[tuple[int, int], np.dtype[np.float64]] = costs) -> float:
            ends = [*starts[1:], 11]
            return float(
                sum(costs[(end - start).bit_length() - 1, end - 1] for start, end in zip(starts, ends, strict=True))
            )

        found = rival.cheapest_partition(costs).tolist()
        assert price(found) == pytest.approx(min(map(price, partitions(11))))


def test_the_curve_goes_from_cell_to_cell(rival: ModuleType) -> None:
    cells = rival.hilbert_curve((16, 16))
    assert sorted(cells.tolist()) == list(range(256))
    assert (np.abs(np.diff(cells // 16)) + np.abs(np.diff(cells % 16)) == 1).all()
    with pytest.raises(ValueError, match="square table"):
        rival.hilbert_curve((16, 32))


def test_flat_counts_come_out_flat_and_a_high_cell_alone(rival: ModuleType) -> None:
    counts = np.full(1024, 3)
    counts[700] = 5000
    values = rival.Dawa().publish(counts, "1")
    assert abs(values[700] - 5000) < 60
    assert np.abs(np.delete(values, 700) - 3).mean() < 3
    table = rival.Dawa().publish(counts.reshape(32, 32), "1")
    assert table.shape == (32, 32)
    assert abs(table[700 // 32, 700 % 32] - 5000) < 60


def test_the_command_compares() -> None:
    command = [sys.executable, str(BENCHMARKS / "bench_dawa.py"), "--runs", "2", "--workers", "1", "--inputs", "steps"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "times DAWA's error, geometric mean of 6 cases" in run.stdout
    assert "None of the paper's files is among the inputs." in run.stdout
