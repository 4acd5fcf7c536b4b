"""A refusal names the option that was typed, not one that the library would have called it by; nothing is spent."""

import builtins
from pathlib import Path
from typing import Any

import pytest
from cli_terminal import in_own_folder, ok, refused, run
from visit_records import write_visits

import sparsedp as sdp

SEX = ("--by", "sex:F,M")
UNIT = ("--unit", "patient_id")
PAID = ("--epsilon", "0.5", "--ledger", "budget.db", "-o", "out.parquet")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)
    write_visits()
    write_visits("visits.csv")
    ok("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "2")


def nothing_spent() -> bool:
    return not ok("ledger", "show", "budget.db", "--json").json["data_sets"][0]["spends"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((*SEX, "--unit", "nope"), "--unit is 'nope', which is not known; "),
        ((*SEX, *UNIT, "--unit", "nope"), "--unit is 'nope', which is not known; "),
        (("--by", "nope:0..23", *UNIT), "--by is 'nope', which is not known; "),
        ((*SEX, *UNIT, "--column", "sex=nope"), "--column is 'nope', which is not known; "),
        ((*SEX, *UNIT, "--column", "nope=sex"), "--column is 'nope', which is not known; choose one of sex."),
        ((*SEX, *UNIT, "--outside", "nope=clamp"), "--outside is 'nope', which is not known; choose one of sex."),
        ((*SEX, *UNIT, "--outside", "sex=nope"), "--outside sex is 'nope'; "),
        ((*SEX, *UNIT, "--value", "nope", "--clamp", "0..1", "--resolution", "1"), "--value is 'nope', which "),
        ((*SEX, *UNIT, "--delimiter", ";"), "--delimiter is given, and the records are not CSV; leave it out"),
        ((*SEX, *UNIT, "--date-format", "%d.%m.%Y"), "--date-format is given, and the records are not CSV; leave"),
        ((*SEX, *UNIT, "--decimal", "x"), "--decimal is 'x'; "),
        ((*SEX, *UNIT, "--delimiter", ";;"), "--delimiter is not one plain character; give one, such as ; or '."),
        ((*SEX, *UNIT, "--report", "r.txt"), "--report is a name ending in .txt; end it in .html or .htm."),
        ((*SEX, *UNIT, "--no-ledger"), "--ledger is given beside --no-ledger; leave one of the two out."),
    ],
)
def test_releases(options: tuple[str, ...], says: str) -> None:
    assert refused("release", "visits.parquet", *options, *PAID).startswith(f"sparsedp: {says}")
    assert nothing_spent()
    assert not Path("out.parquet").exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((*SEX, "--unit", "nope"), "--unit is 'nope', and the first line of visits.csv"),
        (("--by", "nope:0..23", *UNIT), "--by is 'nope', and the first line of visits.csv"),
    ],
)
def test_releases_of_csv(options: tuple[str, ...], says: str) -> None:
    sentence = refused("release", "visits.csv", *options, *PAID)
    assert sentence.startswith(f"sparsedp: {says}")
    assert "; check the spelling, the separator (--delimiter ';') and that" in sentence


def test_what_the_project_file_says_is_said_of_it() -> None:
    Path("sparsedp.toml").write_text('[data]\noutside = {nope = "clamp"}\n')
    sentence = refused("release", "visits.parquet", *SEX, *UNIT, *PAID)
    assert "outside in the project file is 'nope', which is not known; choose one of sex." in sentence


def test_no_ledger_sets_the_project_files_aside() -> None:
    Path("sparsedp.toml").write_text('[privacy]\nledger = "budget.db"\n')
    ok("release", "visits.parquet", *SEX, *UNIT, "--epsilon", "0.5", "--no-ledger", "-o", "out.parquet")
    assert nothing_spent()


def test_streams_have_one_ledger_or_none() -> None:
    sentence = refused("stream", "init", "v.stream", "--epsilon", "0.5", "--ledger", "budget.db", "--no-ledger")
    assert "--ledger is given beside --no-ledger" in sentence
    assert not Path("v.stream").exists()
    assert nothing_spent()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--box", "nope=1"), "--box is 'nope', which is not known; choose one of hour, sex."),
        (("--marginal", "nope"), "--marginal is 'nope', which is not known; choose one of hour, sex."),
        (("--marginal", "sex,nope"), "--marginal is 'nope', which is not known; "),
        (("--mean", "--axis", "nope"), "--axis is 'nope', which is not known; "),
        (("--top", "0"), "--top is 0; give a whole number of at least 1."),
    ],
)
def test_queries(options: tuple[str, ...], says: str) -> None:
    sdp.release([[1, 2], [3, 4]], epsilon=1, domain=["sex:F,M", "hour:0..1"]).save("small.parquet")
    assert refused("query", "small.parquet", *options).startswith(f"sparsedp: {says}")


def test_comparisons_with_the_truth() -> None:
    sdp.release([1, 2], epsilon=1, domain="sex:F,M").save("small.parquet")
    truth = ("compare", "small.parquet", "--truth", "visits.parquet")
    assert "sparsedp: --unit is 'nope', which is not known" in run(*truth, "--unit", "nope").errors
    assert "sparsedp: --column is 'nope', which is not known" in run(*truth, "--column", "nope=sex").errors
    sdp.release([1, 2], epsilon=1, domain="nope:F,M").save("other.parquet")
    assert "sparsedp: column is 'nope', which is not known" in run(truth[0], "other.parquet", *truth[2:]).errors


def test_files_of_streams_and_of_data_sets() -> None:
    ok("stream", "init", "v.stream", "--epsilon", "0.5", "--no-ledger")
    ok("stream", "observe", "v.stream", given="1\n2\n3\n")
    says = "--output is a name ending in .txt; give one ending in .parquet or .csv"
    assert says in refused("stream", "publish", "v.stream", "-o", "e.txt")
    sentence = refused("stream", "publish", "v.stream", "--recovery", "nope", "-o", "e.parquet")
    assert "--recovery is 'nope', which is not known; leave it out for the best estimate, or say direct" in sentence
    assert "fused" not in sentence
    assert "file is a name ending in .txt" in refused("datasets", "export", "e.txt")


@pytest.mark.parametrize("command", [("release", "visits.parquet", "--max-contributions"), ("query", "x", "--top")])
def test_a_number_that_is_none_is_quoted(command: tuple[str, ...]) -> None:
    sentence = refused(*command, "many", code=2)
    assert command[-1] in sentence
    assert "'many' is not a" in sentence
    assert "Input should be" not in sentence


def test_a_file_that_may_not_be_read_is_not_called_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    sdp.release([1, 2], epsilon=1).save("small.parquet")
    real = builtins.open

    def closed(file: Any, *arguments: Any, **settings: Any) -> Any:
        if str(file) == "small.parquet":
            raise PermissionError(13, "Permission denied")
        return real(file, *arguments, **settings)

    monkeypatch.setattr(builtins, "open", closed)
    sentence = refused("query", "small.parquet", "--total")
    assert sentence == "sparsedp: small.parquet cannot be read: Permission denied; check who may read it.\n"
