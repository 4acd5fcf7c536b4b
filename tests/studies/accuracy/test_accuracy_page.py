"""The generated parts of a page, and the command that writes them."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from sparsedp.errors import BadFile
from studies.accuracy.measuring import Configured
from studies.accuracy.page import marked, write_parts

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "bench_accuracy.py"
STAND_INS = {
    "any": Configured("stand-in any", "hierarchical", (("branching", 64),)),
    "cells": Configured("stand-in cells", "laplace"),
    "ranges": Configured("stand-in ranges", "hierarchical", (("branching", 8),)),
}


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_accuracy", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_what_stands_outside_the_markers_is_kept(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# By hand\n\n{marked('one', 'old')}\n\nwhy\n\n{marked('two')}\nend\n")
    new = "new \\1"
    expected = f"# By hand\n\n{marked('one', new)}\n\nwhy\n\n{marked('two', 'too')}\nend\n"
    for _ in range(2):
        write_parts(page, {"one": new, "two": "too", "three": "not asked for"})
        assert page.read_text() == expected


def test_a_new_page_has_every_part(tmp_path: Path) -> None:
    page = write_parts(tmp_path / "docs" / "page.md", {"one": "1", "two": "2"})
    assert marked("one", "1") in page.read_text()
    assert marked("two", "2") in page.read_text()


def test_a_page_without_markers_or_with_unknown_ones_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    for text, reason in (("by hand", "has no markers"), (marked("other"), "asks for other")):
        page.write_text(text)
        with pytest.raises(BadFile, match=reason):
            write_parts(page, {"one": "1"})
        assert page.read_text() == text


@pytest.mark.slow
def test_the_command_measures_compares_and_writes(
    bench: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "docs" / "accuracy.md"
    few = ["--quick", "--inputs", "steps", "blobs", "--workers", "1", "--runs", "2"]
    assert bench.main([*few, "--write", str(page)], STAND_INS) == 1  # stand-ins miss the targets
    printed = capsys.readouterr().out
    text = page.read_text()
    for name in ("runs", "verdicts", "ratios", "published", "inputs", "errors"):
        assert f"<!-- begin: {name} -->" in text
    for shown in ("stand-in any", "hierarchical, by 16", "zeros", "uniform", "steps", "10³, ε = 0.1", "MISSED"):
        assert shown in text
        assert shown in printed
    for picture in ("accuracy-ratios.png", "accuracy-releases.png"):
        assert (page.parent / picture).read_bytes().startswith(b"\x89PNG")
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["accuracy-quick.csv", "accuracy-quick.json"]

    # Comparing again needs no runs and says the same.
    assert bench.main([*few, "--no-runs", "--modes", "cells"], STAND_INS) == 1
    again = capsys.readouterr().out
    verdicts = [line for line in printed.splitlines() if line.startswith("cells:")]
    assert verdicts == [line for line in again.splitlines() if line.startswith("cells:")]
    assert not [line for line in again.splitlines() if line.startswith("any:")]


def test_keeping_the_others_measures_ours_alone(bench: ModuleType, tmp_path: Path) -> None:
    arguments = ["--quick", "--inputs", "sine", "--runs", "2", "--results", str(tmp_path / "a.json")]
    ours = {"cells": STAND_INS["cells"]}
    cases = bench.cases_of(["sine"], bench.QUICK_SETTINGS)
    everything = bench.tasks_to_run(bench.options(arguments, ours), cases, ours, bench.Results())
    assert len(everything) == 2 * (1 + len(bench.RIVALS) + len(bench.BYSTANDERS))
    known = bench.Results(bench.measure_all([task for task in everything if task.contender.name == "laplace"]))
    kept = bench.tasks_to_run(bench.options([*arguments, "--keep-others"], ours), cases, ours, known)
    assert {task.contender.name for task in everything} - {task.contender.name for task in kept} == {"laplace"}
    more = bench.tasks_to_run(bench.options([*arguments, "--keep-others", "--runs", "3"], ours), cases, ours, known)
    assert len(more) == len(everything)


def test_without_ours_there_is_nothing_to_compare(
    bench: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--quick", "--inputs", "sine", "nettrace", "--no-runs", "--results", str(tmp_path / "a.json")]
    assert bench.main(arguments, {"cells": Configured("absent", "no such mechanism")}) == 0
    assert "Nothing of ours was measured" in capsys.readouterr().out
