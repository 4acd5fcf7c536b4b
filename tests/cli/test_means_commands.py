"""Counts beside sums, and means, from the shell."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from cli_terminal import in_own_folder, ok, refused
from visit_records import visits

import sparsedp as sdp

RELEASE = (
    *("release", "visits.parquet", "--by", "sex:F,M", "--by", "age:[0,25,50,75,100]", "--unit", "patient_id"),
    *("--max-contributions", "3", "--value", "amount", "--epsilon", "1"),
)
SUMS = ("--clamp", "0..500", "--resolution", "0.01", "--with-counts")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)
    pq.write_table(visits(), "visits.parquet")


def test_counts_beside_sums_and_their_means() -> None:
    ok("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "1")
    paid = ("--ledger", "budget.db", "-o", "a.parquet")
    dry = ok(*RELEASE, *SUMS, *paid, "--dry-run")
    assert "Would publish total amount and the count of the same records" in dry.text
    assert ok(*RELEASE, *SUMS, *paid, "--dry-run", "--json").json["counts_share"] == "1/4"
    assert ok(*RELEASE, *SUMS, *paid, "--counts-share", "0.3", "--dry-run", "--json").json["counts_share"] == "3/10"
    done = ok(*RELEASE, *SUMS, *paid, "--report", "a.html")
    assert "changes the sums by at most 1500 in total" in done.text
    assert "beside them, the counts by at most 3" in done.text
    assert "left nothing" in ok("ledger", "show", "budget.db").text
    assert ok("inspect", "a.parquet", "--json").json["holds"] == "total amount, and count of its records"

    by_sex = ok("query", "a.parquet", "--mean", "--by", "sex", "--json").json
    assert [row["sex"] for row in by_sex] == ["F", "M"]
    for row in by_sex:
        assert 0 <= row["low"] <= row["estimate"] <= row["high"] <= 500
    text = ok("query", "a.parquet", "--mean", "--by", "sex,age").text
    assert text.splitlines()[0].split() == ["sex", "age", "estimate", "low", "high", "level"]
    assert "says nothing of what clamping changed" in text.splitlines()[-1]
    assert len(ok("query", "a.parquet", "--mean", "--by", "sex", "--by", "age", "--csv").text.splitlines()) == 9
    sure = ok("query", "a.parquet", "--mean", "--by", "sex", "--kind", "guaranteed", "--json").json
    assert [row["sex"] for row in sure] == ["F", "M"]
    assert ok("query", "a.parquet", "--mean", "--kind", "guaranteed").text.startswith("mean amount: ")
    whole = ok("query", "a.parquet", "--mean")
    assert whole.text.startswith("mean amount: ")
    assert "clamped to 0 to 500" in whole.text
    sql = "select sex, sum(amount) / sum(count) as mean from release group by sex order by sex"
    assert [row["mean"] for row in ok("query", "a.parquet", sql, "--json").json] == pytest.approx(
        [row["estimate"] for row in by_sex]
    )
    table = "select sex, mean, low, high from means('sex')"
    assert [row["low"] for row in ok("query", "a.parquet", table, "--json").json] == [row["low"] for row in by_sex]
    page = Path("a.html").read_text()
    assert "Mean amount" in page
    assert "and of how many records it is the sum" in page


def test_what_is_wrong_is_told_in_a_sentence_and_nothing_is_spent() -> None:
    ok("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "1")
    paid = ("--ledger", "budget.db", "-o", "a.parquet")
    without_value = [word for word in RELEASE if word not in ("--value", "amount")]
    assert "with-counts is given without a value" in refused(*without_value, "--with-counts", *paid)
    assert "--clamp 0..500" in refused(*RELEASE, "--with-counts", *paid)
    assert "clamp is from 500 to 0" in refused(*RELEASE, "--clamp", "500..0", "--resolution", "1", *paid)
    assert "counts-share is 1.5" in refused(*RELEASE, *SUMS, "--counts-share", "1.5", *paid)
    alone = refused(*RELEASE, *SUMS[:-1], "--counts-share", "0.5", *paid)
    assert "counts-share is given without with_counts" in alone
    assert not Path("a.parquet").exists()
    assert sdp.open_ledger("budget.db", "visits").spent is None


def test_questions_that_do_not_go_together() -> None:
    ok(*RELEASE, *SUMS, "--no-ledger", "-o", "a.parquet")
    ok(*RELEASE, *SUMS[:-1], "--no-ledger", "-o", "sums.parquet")
    assert "it goes with --mean alone" in refused("query", "a.parquet", "--total", "--by", "sex")
    assert "given beside --axis" in refused("query", "a.parquet", "--mean", "--axis", "age", "--by", "sex")
    assert "did you mean 'sex'" in refused("query", "a.parquet", "--mean", "--by", "sx")
    assert "one of sums alone" in refused("query", "sums.parquet", "--mean", "--by", "sex")


def test_the_project_file_may_ask_for_both() -> None:
    Path("sparsedp.toml").write_text(
        """
[data]
source = "visits.parquet"
unit = "patient_id"
by = ["sex:F,M"]
value = "amount"
clamp = [0, 500]
resolution = "0.01"
with_counts = true

[privacy]
epsilon = 1
counts_share = 0.2
"""
    )
    assert ok("release", "--no-ledger", "--dry-run", "--json").json["counts_share"] == "1/5"
    # Another value on the command line sets all of it aside.
    other = ok(
        "release", "--no-ledger", "--value", "age", "--clamp", "0..99", "--resolution", "1", "--dry-run", "--json"
    )
    assert other.json["counts_share"] is None
