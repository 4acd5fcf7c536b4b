"""The benchmark of intervals runs on one small input, writes its page, and rejects intervals that are too narrow."""

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SMALL = ["--inputs", "chain of 3", "--mechanisms", "Laplace", "--workers", "1"]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("bench_coverage")


def test_one_small_input_is_measured_kept_and_written(
    bench: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, kept = tmp_path / "page.md", tmp_path / "kept.jsonl"
    page.write_text("# Page\n\n<!-- begin: families-unbiased -->\n<!-- end: families-unbiased -->\n")
    arguments = [*SMALL, "--runs", "2", "--keep", str(kept), "--write", str(page)]
    bench.main(arguments)
    first = capsys.readouterr().out
    assert "2-way marginal entries" in first
    assert len(kept.read_text().splitlines()) == 2
    assert re.search(r"^\| total \| 2 \| 2 \|", page.read_text(), re.MULTILINE)
    bench.main(arguments)
    assert capsys.readouterr().out == first
    assert len(kept.read_text().splitlines()) == 2


def test_intervals_that_are_too_narrow_are_rejected(bench: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    alone = [*SMALL, "--kinds", "guaranteed", "--totals", "10⁵", "--budgets", "ρ = 0.5"]
    assert bench.main([*alone, "--runs", "24", "--scale", "0.6"]) == 1
    assert "MISSED: guaranteed, ≥ 94.5 %" in capsys.readouterr().out
    bench.main([*alone, "--runs", "4", "--scale", "1.4"])
    assert "met: guaranteed, ≥ 94.5 %" in capsys.readouterr().out


def test_what_does_not_apply_is_said(bench: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["--inputs", "four weeks", "--mechanisms", "stream"]) == 1
    assert "applies" in capsys.readouterr().out


def test_mechanisms_totals_and_budgets_take_turns(bench: ModuleType) -> None:
    population = bench.populations()["chain of 3"]
    every = bench.tasks_of(population, bench.options(["--runs", "240"]))
    turns = {(task.mechanism, task.total, task.budget) for task in every}
    assert len(turns) == 5 * 4 * 6
    assert [task.number for task in every] == list(range(240))
