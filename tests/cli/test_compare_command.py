"""Two releases side by side, and a release beside the truth."""

from pathlib import Path

import pytest
from cli_terminal import in_own_folder, ok, refused, run
from visit_records import write_visits

from sparsedp.cli._project import TEMPLATE

SOURCE = "visits.parquet"
UNIT = ("--unit", "patient_id", "--max-contributions", "3")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)
    write_visits()
    for path in ("first.parquet", "second.parquet"):
        declared = ("--by", "sex:F,M", *UNIT, "--epsilon", "1", "--no-ledger")
        ok("release", SOURCE, *declared, "-o", path)


def test_two_releases() -> None:
    ended = ok("compare", "first.parquet", "second.parquet", "--json")
    assert ended.json["not_private"] is False
    assert ended.json["mean_absolute_difference"] >= 0
    assert ended.errors == ""
    assert "NOT PRIVATE" not in ok("compare", "first.parquet", "second.parquet").text


def test_the_notice_is_seen_once_and_goes_into_a_file_too() -> None:
    arguments = ("compare", "first.parquet", "--truth", SOURCE, *UNIT)
    seen = run(*arguments, terminal=True)
    assert seen.errors.count("NOT PRIVATE") == 1
    assert "\x1b[1;31msparsedp: NOT PRIVATE" in seen.errors
    assert "NOT PRIVATE" not in seen.text
    assert "root mean square" in seen.text
    kept = run(*arguments)
    assert kept.text.count("NOT PRIVATE") == 1
    assert kept.errors.count("NOT PRIVATE") == 1
    assert "\x1b" not in kept.errors
    ended = ok(*arguments, "--json")
    assert ended.json["not_private"] is True
    assert "NOT PRIVATE" in ended.errors


def test_what_the_project_file_decides_is_told() -> None:
    Path("sparsedp.toml").write_text(TEMPLATE)
    ended = ok("compare", "first.parquet", "--truth", SOURCE)
    assert "from sparsedp.toml: unit = patient_id, max_contributions = 3." in ended.errors
    only = ok("compare", "first.parquet", "--truth", SOURCE, "--unit", "age")
    assert "from sparsedp.toml: max_contributions = 3." in only.errors
    assert "sparsedp.toml" not in ok("compare", "first.parquet", "--truth", SOURCE, *UNIT).errors


def test_one_thing_to_compare_with() -> None:
    assert "compare with another release" in refused("compare", "first.parquet")
    assert "given beside --truth" in refused("compare", "first.parquet", "second.parquet", "--truth", SOURCE)
    assert "only one of the two" in refused("compare", "-", "-")
