"""`python -m studies`, with the made-up experiment for the paper's."""

import dataclasses
from pathlib import Path

import made_up_experiment as made_up
import pytest

from sparsedp.errors import UnknownName
from studies.paper import command
from studies.paper.command import main
from studies.paper.experiment import Expectation, Experiment


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def chosen(names: list[str]) -> list[Experiment]:
        if names not in ([], ["made-up"]):
            raise UnknownName("experiment", names[0], ["made-up"])
        return [made_up.EXPERIMENT]

    monkeypatch.setattr(command, "chosen", chosen)


def test_everything_is_written_and_the_exit_code_is_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--smoke", "--workers", "1"]) == 0
    out = Path("out/experiments")
    assert {path.name for path in out.iterdir()} == {"jobs", "paper", "paper.md", "index.html"}
    assert {path.name for path in (out / "paper").iterdir()} == {"made-up.json", "made-up.png"}
    said = capsys.readouterr().out
    assert "6 of 6 jobs" in said
    assert "met" in said
    assert "4 claims: 4 hold only" in said


def test_pages_are_drawn_again_from_results_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    main(["--smoke", "--workers", "1"])
    first = Path("out/experiments/paper.md").read_text()
    monkeypatch.setattr(command, "outcomes_of", None)
    page = ["--results", "out/experiments/paper", "--page", "docs/paper.md", "--out", "elsewhere"]
    assert main(page) == 0
    assert Path("docs/paper.md").read_text() == first
    before = Path("docs/paper/made-up.json").stat().st_mtime_ns
    assert main(["--results", "docs/paper", "--page", "docs/paper.md", "--out", "elsewhere"]) == 0
    assert Path("docs/paper/made-up.json").stat().st_mtime_ns == before


def test_an_expectation_that_is_missed_is_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missed = [Expectation("that it is more", "less", False)]
    hopeful = dataclasses.replace(made_up.EXPERIMENT, expect=lambda outcomes: missed)
    monkeypatch.setattr(command, "chosen", lambda names: [hopeful])
    assert main(["--smoke", "--workers", "1"]) == 1
    assert "MISSED" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--only", "squares"], "squares"),
        (["--results", "nowhere"], "made-up.json"),
        (["--page", "a.md", "--only", "made-up"], "--only"),
        (["--out", "/proc/no-such/place"], "/proc/no-such"),
        (["--out", __file__], "test_experiments_command.py"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert said in printed.err.replace("\n", " ")
    assert "Traceback" not in printed.err
    assert printed.out == ""


@pytest.mark.parametrize("workers", ["0", "-1", "two", "1.5", "", "²"])
def test_workers_are_a_whole_number(workers: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--workers", workers])
    assert ended.value.code == 2
    assert "whole number from 1 on" in capsys.readouterr().err


def test_results_that_lack_something_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--smoke", "--workers", "1"])
    results = Path("out/experiments/paper/made-up.json")
    results.write_text(results.read_text().replace('"square"', '"cube"'))
    assert main(["--results", "out/experiments/paper", "--out", "elsewhere"]) == 2
    assert "results of made-up lack something" in capsys.readouterr().err.replace("\n", " ")


def test_little_and_much_effort_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--smoke", "--full"])
    assert "not allowed with" in capsys.readouterr().err


def test_ctrl_c_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "outcomes_of", interrupted)
    assert main(["--smoke"]) == 130
    assert "the same command goes on from here" in capsys.readouterr().out
