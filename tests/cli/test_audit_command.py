"""`sparsedp audit` from the shell."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from cli_terminal import run

from sparsedp.arrays import Ints
from sparsedp.noise import samplers
from sparsedp.noise.discrete_laplace import add_discrete_laplace
from sparsedp.noise.source import RandomSource

PROJECT = """
[data]
source = "nowhere.csv"
unit = "who"
max_contributions = 2
by = ["age:0..80/10", "sex:F,M"]

[privacy]
epsilon = 1
mechanism = "laplace"
"""
QUICK = ("--replays", "40", "--runs", "0", "--jobs", "1")


def test_a_table_and_a_verdict(tmp_path: Path) -> None:
    page = tmp_path / "audit.md"
    ended = run("audit", "laplace", "--rho", "0.5", "--by", "hour:0..23", *QUICK, "-o", str(page))
    assert ended.code == 0, ended.errors
    assert ended.text.splitlines()[-1] == "All 3 checks held."
    assert "laplace, 24 cells  ρ = 0.5  40 times  0.5 of 0.5" in ended.text
    assert "| laplace, 24 cells | ρ = 0.5 | 40 times | 0.5 of 0.5 | p = " in page.read_text()


def test_what_exceeds_its_bound_ends_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def narrow(values: Ints, scale: Fraction, source: RandomSource) -> None:
        honest(values, scale / 2, source)

    honest = add_discrete_laplace
    monkeypatch.setattr(samplers, "add_discrete_laplace", narrow)
    ended = run("audit", "laplace", "--epsilon", "1", *QUICK, "--json")
    assert ended.code == 1
    found = json.loads(ended.output)
    assert not found["passed"]
    assert [each["check"] for each in found["findings"] if not each["held"]] == ["noise"]


def test_the_order_of_a_project_file_without_its_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sparsedp.toml").write_text(PROJECT)
    ended = run("audit", *QUICK, "--json")
    assert ended.code == 0, ended.errors
    found = json.loads(ended.output)["findings"]
    assert [each["check"] for each in found] == ["bound", "sampling", "replay", "loss", "noise"]
    assert found[0]["allowed"] == 2
    assert "8×2 cells, c = 2" in found[2]["what"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sparsedp.toml"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "missing, and there is no sparsedp.toml here"),
        (("laplcae",), "laplcae"),
        (("laplace", "--epsilon", "nan"), "epsilon"),
        (("--all", "--epsilon", "1"), "--all"),
        (("laplace", "--runs", "-5"), "runs"),
        (("laplace", "-o", "nowhere/audit.md"), "nowhere"),
        (("--project", "nowhere.toml"), "There is no project file nowhere.toml"),
    ],
)
def test_bad_input_gets_one_sentence(
    words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run("audit", *words)
    assert ended.code == 1
    assert said in ended.errors
    assert len(ended.errors.strip().splitlines()) == 1
    assert not ended.output


def test_an_order_whose_bound_is_chosen(tmp_path: Path) -> None:
    project = tmp_path / "sparsedp.toml"
    project.write_text(PROJECT.replace("max_contributions = 2", 'max_contributions = "auto"'))
    ended = run("audit", "--project", str(project), *QUICK)
    assert ended.code == 0, ended.errors
    assert "what a bound cuts, auto a person" in " ".join(ended.text.split())
    assert "All 8 checks held." in ended.text
