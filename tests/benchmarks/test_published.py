"""Mechanisms of others as we wrote them to be compared with: their parts by definition, and the comparison runs."""

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}


Rivals = Callable[[str], ModuleType]


@pytest.fixture
def rivals(monkeypatch: pytest.MonkeyPatch) -> Rivals:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return lambda name: importlib.import_module(f"rivals.{name}")


@pytest.fixture
def rival(rivals: Rivals) -> ModuleType:
    return rivals("dawa")


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


def test_the_curve_goes_from_cell_to_cell(rivals: Rivals) -> None:
    rival = rivals("curve")
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


def test_p_hp_cuts_where_counts_change_and_keeps_flat_ones_together(rivals: Rivals) -> None:
    rival = rivals("p_hp")
    row = np.random.default_rng(2).integers(0, 20, 9).astype(np.float64)
    lower, upper = rival.distances_of_halves(row)
    for place in range(1, 9):
        assert lower[place - 1] == pytest.approx(np.abs(row[:place] - row[:place].mean()).sum())
        assert upper[place - 1] == pytest.approx(np.abs(row[place:] - row[place:].mean()).sum())
    counts = np.repeat([0, 5000, 200], [600, 24, 400])
    values = rival.Php().publish(counts, "1")
    assert np.abs(values - counts).mean() < 5
    assert len(np.unique(values)) < 30
    assert values.min() >= 0
    assert rival.Php().publish(counts.reshape(32, 32), "1").shape == (32, 32)


def test_ahp_clusters_what_is_about_as_high(rivals: Rivals) -> None:
    rival = rivals("ahp")
    row = np.sort(np.concatenate([np.zeros(50), np.full(30, 1000.0), np.full(20, 5000.0)]))
    assert rival.clusters(row, 100.0).tolist() == [0, 50, 80]
    assert rival.clusters(row, 1e12).tolist() == [0]
    counts = np.zeros(1024, np.int64)
    counts[[3, 500, 800]] = 4000
    values = rival.Ahp().publish(counts, "1")
    assert np.abs(values - counts)[[3, 500, 800]].max() < 60
    assert np.delete(values, [3, 500, 800]).std() < 3
    assert rival.Ahp().publish(counts.reshape(32, 32), "1").shape == (32, 32)


def test_dpcube_cuts_the_grid_into_boxes(rivals: Rivals) -> None:
    rival = rivals("dpcube")
    table = np.zeros((24, 40))
    table[11:22, 22:33] = 10.0
    parts = rival.parts(table, 1.0)
    covered = np.zeros_like(table)
    for part in parts:
        covered[part] += 1
        assert np.ptp(table[part]) == 0
    assert (covered == 1).all()
    assert len(parts) < 8
    assert len(rival.parts(table, 1e9)) == 1
    counts = 500 * (table > 0).astype(np.int64)
    assert np.abs(rival.DpCube().publish(counts, "1") - counts).mean() < 5
    row = np.repeat([0, 300, 0], [33, 55, 12])
    assert np.abs(rival.DpCube().publish(row, "1") - row).mean() < 5


@pytest.mark.slow
def test_the_command_compares() -> None:
    command = [sys.executable, str(BENCHMARKS / "bench_published.py"), "--workers", "1", "--runs", "2"]
    command += ["--inputs", "steps", "--settings", "10³, ε = 0.1", "10⁶, ε = 0.1"]
    run = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "times the error of the best of the seven in each case, geometric mean of 2 cases" in run.stdout
    assert "None of the paper's files is among the inputs." in run.stdout


def test_ours_are_over_the_best_of_theirs(rivals: Rivals, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given errors of two runs each: the product's best is a single mechanism, and its ranges may be unclipped."""
    bench = importlib.import_module("bench_published")
    case = bench.Case("nettrace", 10**3, "0.1")
    errors = {name: [1000.0, 1000.0, 1000.0, 1000.0] for name in bench.SEVEN}
    errors |= {"DAWA": [90.0, 10.0, 50.0, 12.0], "AHP": [40.0, 100.0, 40.0, 90.0]}
    errors |= {ours.name: [30.0, 20.0, 1.0, 1.0] for ours in bench.OURS.values()}
    found = [bench.Measured(case, name, np.array([row, row])) for name, row in errors.items()]
    ratios = {mode: by_case[case] for mode, by_case in bench.ratios(found).items()}
    assert {mode: (ratio.score.value, ratio.best) for mode, ratio in ratios.items()} == {
        "any": (pytest.approx(30 * 20 / (50 * 10)), "DAWA"),
        "cells": (pytest.approx(30 / 40), "AHP"),
        "ranges": (pytest.approx(20 / 10), "DAWA"),
    }
    assert "1 above 1.1" in bench.verdicts(bench.ratios(found)).splitlines()[-1]
    dawa = bench.NAMES.index("DAWA")
    row = bench.fidelity(found).splitlines()[2].split(" | ")
    assert row[2 + dawa].startswith(f"{50 / bench.FIGURES['nettrace', 10**3, 'cells'][dawa]:.2f}")
