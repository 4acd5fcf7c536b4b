"""What the library says of arguments is said of options."""

from pathlib import Path

import pytest
from cli_terminal import in_own_folder, ok, refused
from visit_records import write_visits

from sparsedp.cli._app import in_shell_words
from sparsedp.errors import BadFile, InvalidInput

OPTIONS = {
    "epsilon": "--epsilon",
    "max_contributions": "--max-contributions",
    "unit": "--unit",
    "clamp": "--clamp",
    "output": "--output",
    "overwrite": "--overwrite",
    "resolution": "--resolution",
    "delta": "--delta",
    "quantile": "--quantile",
}


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (
            InvalidInput("epsilon", "missing", "give epsilon=, or rho=, or epsilon= with delta="),
            "--epsilon is missing; give --epsilon, or rho=, or --epsilon with --delta.",
        ),
        (
            InvalidInput("max_contributions", "0", "such as resolution=\"0.01\" or epsilon='0.5'"),
            "--max-contributions is 0; such as --resolution 0.01 or --epsilon 0.5.",
        ),
        (InvalidInput("to", "x", "or overwrite=True (--overwrite)"), "--output is x; or --overwrite."),
        (InvalidInput("privacy_unit", "missing", "or clamp=(0, 500)"), "--unit is missing; or --clamp 0..500."),
        (InvalidInput("cells", "x", "ask for a `quantile` or `box`"), "cells is x; ask for a --quantile or `box`."),
        (BadFile("There is no file epsilon.csv of my_epsilon=3."), "There is no file epsilon.csv of my_epsilon=3."),
        (BadFile('Say `declare("x", epsilon=2)`.'), 'Say `declare("x", epsilon=2)`.'),
        (BadFile("Say `epsilon=2`, or --unit=3."), "Say `--epsilon 2`, or --unit=3."),
    ],
)
def test_only_arguments_that_are_options_are_put_in_other_words(error: InvalidInput | BadFile, says: str) -> None:
    assert in_shell_words(error, OPTIONS) == says


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--epsilon", "0"), "--epsilon is 0; give a number above zero."),
        ((), "--epsilon is missing; give --epsilon, or --rho, or --epsilon with --delta."),
        (
            ("--epsilon", "1", "--clamp", "0..5"),
            "--clamp is given without a value; name the column to sum: --value amount.",
        ),
        (
            ("--epsilon", "1", "--value", "amount"),
            "--value is given without --clamp and --resolution; declare the bounds of one record's value and what "
            "values are rounded to: --clamp 0..500 --resolution 0.01.",
        ),
        (
            ("--epsilon", "1", "--value", "amount", "--clamp", "0..5"),
            "--value is given without --resolution; declare what values are rounded to: --resolution 0.01.",
        ),
        (("--epsilon", "1", "--max-contributions", "0"), "--max-contributions is 0"),
    ],
)
def test_errors_of_a_release_name_its_options(arguments: tuple[str, ...], says: str) -> None:
    write_visits()
    sentence = refused(
        "release", "visits.parquet", "--by", "sex:F,M", "--unit", "patient_id", "--no-ledger", *arguments
    )
    assert says in sentence


def test_errors_of_the_other_commands_do() -> None:
    ok("ledger", "init", "b.db", "--dataset", "visits", "--epsilon", "1")
    said = refused("ledger", "init", "b.db", "--dataset", "x", "--epsilon", "1", "--composition", "zcdp")
    assert "give --delta too" in said
    assert "--level is 2" in refused("compare", write_release("a.parquet"), "a.parquet", "--level", "2")
    assert "--shape is 'odd'" in refused(
        "preview", "--by", "x:1..3", "--epsilon", "1", "--total", "9", "--shape", "odd"
    )


def write_release(path: str) -> str:
    import sparsedp as sdp

    sdp.release([1, 2, 3], epsilon=1, mechanism="laplace").save(path)
    return path
