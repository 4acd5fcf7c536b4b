"""Questions to a release from the shell."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_terminal import in_own_folder, ok, refused, run
from daily_visits import daily_visits

import sparsedp as sdp
from sparsedp.cli import _answers
from sparsedp.releases.uncertainty import CellErrors


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)


TOTAL = 366 * 2 * 100 + 400


@pytest.fixture
def release() -> str:
    return daily_visits()


def test_sql(release: str) -> None:
    sql = "select sex, sum(count) as visits from release group by sex order by sex"
    assert ok("query", release, sql, "--json").json == [
        {"sex": "F", "visits": pytest.approx(37000, abs=1)},
        {"sex": "M", "visits": pytest.approx(36600, abs=1)},
    ]
    rows = list(csv.reader(io.StringIO(ok("query", release, sql, "--csv").text)))
    assert rows[0] == ["sex", "visits"]
    assert float(rows[1][1]) == pytest.approx(37000, abs=1)
    lines = ok("query", release, sql).text.splitlines()
    assert lines[0].split() == ["sex", "visits"]
    assert lines[1].split() == ["F", "37,000"]


def test_sql_from_standard_input_and_the_release_too(release: str) -> None:
    sql = "select count(*) as cells from release"
    assert ok("query", release, "-", "--json", given=sql).json == [{"cells": 732}]
    assert ok("query", "-", sql, "--json", given=Path(release).read_bytes()).json == [{"cells": 732}]
    assert "only one of the two" in refused("query", "-", "-", given=sql)


def test_all_rows_are_printed_unless_it_is_a_terminal(release: str) -> None:
    assert len(ok("query", release, "select * from release").text.splitlines()) == 733
    ended = run("query", release, "select * from release", terminal=True)
    assert "and 682 more rows" in ended.text


@pytest.mark.parametrize(
    ("question", "estimate"),
    [
        (["--total"], TOTAL),
        (["--box", "day=2024-07-01", "--box", "sex=F"], 500),
        (["--box", "day=2024-03-01..2024-03-31", "--box", "sex=F"], 3100),
        (["--box", "day=2024-03", "--box", "sex=F,M"], 6200),
        (["--box", "day=2024-02..2024-03"], 12000),
        (["--box", "day=2024"], TOTAL),
    ],
)
def test_sums_with_intervals(release: str, question: list[str], estimate: float) -> None:
    found = ok("query", release, *question, "--json").json
    assert found["estimate"] == pytest.approx(estimate, abs=1)
    assert found["low"] <= found["estimate"] <= found["high"]
    assert found["level"] == 0.95
    assert f"{estimate:,}" in ok("query", release, *question).text


def test_other_questions(release: str) -> None:
    assert ok("query", release, "--quantile", "0.5", "--axis", "day", "--json").json["estimate"].startswith("2024-07-0")
    assert ok("query", release, "--mean", "--axis", "day", "--json").json["estimate"].startswith("2024-07")
    (first, *_) = ok("query", release, "--top", "3", "--json").json
    assert first["day"].startswith("2024-07-01")
    assert first["estimate"] == pytest.approx(500, abs=1)
    shares = ok("query", release, "--cdf", "--axis", "day", "--json").json
    assert shares[-1]["share"] == pytest.approx(1)
    median = ok("query", release, "--median", "--axis", "day", "--json").json
    assert median["estimate"] == ok("query", release, "--quantile", "0.5", "--axis", "day", "--json").json["estimate"]
    assert ok("query", release, "--median", "--axis", "day").text.startswith("median of day: 2024-07-0")


def test_a_marginal_has_errors() -> None:
    domain = sdp.Domain.parse(["month:2024-01..2024-12/1mo", "sex:F,M", "age:[0,18,65]"])
    counts = np.arange(48).reshape(domain.shape)
    sdp.release(counts, epsilon=100, domain=domain, mechanism="laplace").save("x.parquet")
    rows = ok("query", "x.parquet", "--marginal", "sex,month", "--json").json
    assert rows == ok("query", "x.parquet", "--marginal", "sex", "--marginal", "month", "--json").json
    assert [(row["sex"], row["month"]) for row in rows[:2]] == [("F", "2024-01"), ("F", "2024-02")]
    sums = sdp.open_release("x.parquet").marginal("sex", "month")
    assert rows[13] == {
        "sex": "M",
        "month": "2024-02",
        "estimate": sums.values[1, 1],
        "low": sums.interval((1, 1)).low,
        "high": sums.interval((1, 1)).high,
        "stderr": sums.stderr[1, 1] if sums.stderr is not None else None,
    }
    (header, first, *_) = ok("query", "x.parquet", "--marginal", "age").text.splitlines()
    assert header.split() == ["age_left", "age_right", "estimate", "low", "high", "stderr"]
    assert first.split()[:2] == ["0", "18"]
    whole = ok("query", "x.parquet", "--marginal", "month,sex,age", "--json").json
    assert [row["estimate"] for row in whole] == sdp.open_release("x.parquet").values.ravel().tolist()
    assert "did you mean 'month'" in refused("query", "x.parquet", "--marginal", "mont,sex")


def test_the_ends_of_many_sums_follow_from_their_standard_errors(release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = ok("query", release, "--marginal", "day", "--json").json
    monkeypatch.setattr(_answers, "WORK", 1)
    normal = ok("query", release, "--marginal", "day", "--json").json
    assert [row["stderr"] for row in normal] == [row["stderr"] for row in exact]
    assert normal[5]["high"] - normal[5]["estimate"] == pytest.approx(1.96 * normal[5]["stderr"], rel=1e-3)
    assert normal[5]["day"] == "2024-01-06"


def test_the_mean_of_bins_says_what_it_takes_them_for() -> None:
    domain = sdp.Domain.parse(["age:0..100/10", "hour:0..23"])
    sdp.release(np.full(domain.shape, 9), epsilon=100, domain=domain, mechanism="laplace").save("x.parquet")
    assert ok("query", "x.parquet", "--mean", "--axis", "age").text.endswith("(bins count as their midpoints)\n")
    assert "midpoints" not in ok("query", "x.parquet", "--mean", "--axis", "hour").text


def test_the_largest_cells_say_what_their_ranges_are_worth() -> None:
    release = daily_visits(epsilon="0.5")
    alone = ok("query", release, "--top", "2").text
    assert "2024-07-01 " in alone
    assert "00:00:00" not in alone
    assert "named beforehand" in alone
    together = ok("query", release, "--top", "2", "--simultaneous").text
    assert "All ranges hold at once, in 95 % of releases" in together
    (one, *_), (all_of_them, *_) = (
        ok("query", release, "--top", "1", *more, "--json").json for more in ((), ("--simultaneous",))
    )
    assert all_of_them["low"] < one["low"] < one["high"] < all_of_them["high"]
    assert "goes with --top" in refused("query", release, "--total", "--simultaneous")


def test_without_known_errors_there_is_an_estimate_alone() -> None:
    stream = sdp.ContinualCompressive(epsilon=10**6, horizon=48, sparsity=2, start="2026-01-01", every="1h")
    stream.observe_many([10] * 48)
    stream.release().save("hours.parquet")
    for question, estimate in {
        "--total": 480.0,
        "--box time=2026-01-02": 240.0,
        "--mean": "2026-01-02T00:00:00",
        "--median": "2026-01-02T00:00:00",
    }.items():
        found = ok("query", "hours.parquet", *question.split(), "--json").json
        assert found["estimate"] == (pytest.approx(estimate, abs=1) if isinstance(estimate, float) else estimate)
        assert (found["low"], found["high"]) == (None, None)
        assert "(error not known)" in ok("query", "hours.parquet", *question.split()).text
    assert ok("query", "hours.parquet", "--top", "1", "--json").json[0]["high"] is None
    assert "errors of this release are not known" in ok("query", "hours.parquet", "--top", "1").text
    assert ok("query", "hours.parquet", "--cdf", "--json").json[0]["low"] is None


def test_errors_that_are_known_of_single_cells_alone() -> None:
    release = sdp.release([5, 6, 7, 8], epsilon=1000, mechanism="laplace")
    replace(release, uncertainty=CellErrors(np.ones(4)), synopsis=None).save("x.parquet")
    assert ok("query", "x.parquet", "--total", "--json").json["low"] is None
    assert ok("query", "x.parquet", "--box", "cell=1", "--json").json["low"] == pytest.approx(6 - 1.96, abs=0.1)


def test_public_tables_are_joined(release: str) -> None:
    Path("pop.csv").write_text("sex,people\nF,370\nM,366\n")
    pq.write_table(pa.table({"sex": ["F", "M"], "word": ["women", "men"]}), "words.parquet")
    sql = (
        "select word, sum(count) / any_value(people) as rate from release join pop using (sex) "
        "join words using (sex) group by word order by word"
    )
    tables = ("--with", "pop=pop.csv", "--with", "words=words.parquet")
    assert ok("query", release, sql, *tables, "--json").json == [
        {"word": "men", "rate": pytest.approx(100, abs=1)},
        {"word": "women", "rate": pytest.approx(100, abs=1)},
    ]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("release=pop.csv", "release is the release"),
        ("my pop=pop.csv", "--with is given with a name that is no identifier"),
        ("pop=missing.csv", "There is no file missing.csv"),
        ("pop=pop.txt", "ends in .csv or .parquet"),
        ("pop=text.parquet", "not a readable Parquet file"),
        ("pop=ragged.csv", "not a readable CSV file"),
        ("pop", "write it as NAME="),
        ("pop=.", "--with"),
    ],
)
def test_public_tables_that_cannot_be_read(release: str, given: str, says: str) -> None:
    Path("pop.csv").write_text("sex,people\nF,370\nM,366\n")
    Path("text.parquet").write_text("no Parquet")
    Path("ragged.csv").write_text("a,b\n1,2,3\n")
    assert says in refused("query", release, "select 1", "--with", given)


def test_public_tables_go_with_sql_alone(release: str) -> None:
    assert "goes with SQL" in refused("query", release, "--total", "--with", "pop=pop.csv")


def test_boxes_on_the_other_axes() -> None:
    domain = sdp.Domain(
        [sdp.Integers("hour", 0, 23), sdp.Bins("age", [0, 18, 65, 120]), sdp.Categories("code", [1, 2])]
    )
    sdp.release(np.full(domain.shape, 10), epsilon=1000, domain=domain, mechanism="laplace").save("x.parquet")

    def ask(*boxes: str) -> float:
        options = [word for box in boxes for word in ("--box", box)]
        return float(round(ok("query", "x.parquet", *options, "--json").json["estimate"]))

    assert ask("hour=0..5", "age=18..65", "code=1") == 60
    assert ask("hour=3,4,5", "age=70", "code=1,2") == 60
    assert "did you mean 'age'" in refused("query", "x.parquet", "--box", "agee=18..65")
    assert "give a number" in refused("query", "x.parquet", "--box", "hour=noon")
    assert "say it once" in refused("query", "x.parquet", "--box", "hour=1", "--box", "hour=2")
    assert "write it as" in refused("query", "x.parquet", "--box", "hour")


def test_boxes_of_a_stream_and_of_plain_cells() -> None:
    with sdp.open_stream("v.stream", sdp.ContinualAdaptive(epsilon=1000, start="2026-01-01", every="1h")) as stream:
        stream.observe_many([10] * 48)
        stream.release("direct").save("hours.parquet")
    assert round(ok("query", "hours.parquet", "--box", "time=2026-01-02..2026-01-02", "--json").json["estimate"]) == 240
    box = "time=2026-01-01T06:00..2026-01-01T12:00"
    assert round(ok("query", "hours.parquet", "--box", box, "--json").json["estimate"]) == 60
    sdp.release([5, 6, 7, 8], epsilon=1000, mechanism="laplace").save("plain.parquet")
    assert round(ok("query", "plain.parquet", "--box", "cell=1..2", "--json").json["estimate"]) == 13
    assert "--box cell=from..to" in refused("query", "plain.parquet", "--box", "day=1")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "question is missing"),
        (["--total", "--mean"], "question is given 2 times"),
        (["select 1", "--total"], "question is given 2 times"),
        (["select * from visits"], "release"),
        (["drop table release"], "SELECT"),
        (["select * from read_csv('/etc/passwd')"], "refused"),
        (["--quantile", "2", "--axis", "day"], "1"),
        (["--total", "--axis", "day"], "--axis is given for total"),
        (["--total", "--level", "1.5"], "level"),
        (["--total", "--csv", "--json"], "--csv is given beside --json"),
    ],
)
def test_refusals(release: str, arguments: list[str], says: str) -> None:
    assert says in refused("query", release, *arguments)


def test_files_that_are_no_releases(release: str) -> None:
    assert "There is no file" in refused("query", "missing.parquet", "--total")
    Path("text.parquet").write_text("no Parquet")
    assert "not a readable Parquet file" in refused("query", "text.parquet", "--total")
    whole = Path(release).read_bytes()
    Path("cut.parquet").write_bytes(whole[: len(whole) // 2])
    refused("query", "cut.parquet", "--total")
    assert "not a readable Parquet file" in refused("query", "-", "--total", given="nothing")


def test_boxes_of_weeks_end_with_the_last_day_that_is_named() -> None:
    """A week that is named by its last day ends there, and none is added."""
    counts = np.arange(53) + 100
    domain = sdp.Calendar.between("week", "2024-01-01", "2025-01-05", "1w")
    sdp.release(counts, epsilon=1000, mechanism="laplace", domain=domain).save("weeks.parquet")

    def ask(box: str) -> int:
        return round(float(ok("query", "weeks.parquet", "--box", f"week={box}", "--json").json["estimate"]))

    march = counts[9:13].sum()
    assert ask("2024-03-04..2024-03-31") == ask("2024-03-04..2024-03-25") == ask("2024-W10..2024-W13") == march
    assert ask("2024-03-04..2024-03-10") == ask("2024-03-04..2024-03-04") == counts[9]
    assert ask("2024-01-01..2025-01-05") == counts.sum()
    for box, says in (
        ("2024-03-04..2024-03-29", "where no cell ends; give 2024-03-24 or 2024-03-31, which is then included"),
        ("2024-03-25..2024-03-29", "where no cell ends; give 2024-03-31, which is then included"),
        ("2024-03-06..2024-03-31", "nearest tick is 2024-03-04"),
        ("2024-03-04..2025-01-12", "after the last cell; give a time up to 2025-01-05"),
        ("2023-12-04..2023-12-31", "before the first tick; give 2024-01-01"),
        ("2024-03-11..2024-03-10", "ends before it starts"),
    ):
        assert says in refused("query", "weeks.parquet", "--box", f"week={box}")


def test_the_largest_along_an_axis_are_asked_of_its_table() -> None:
    daily_visits()
    said = refused("query", "visits.release.parquet", "--top", "3", "--axis", "sex")
    assert "--top COUNT --marginal sex" in said
    assert len(ok("query", "visits.release.parquet", "--top", "3", "--marginal", "sex", "--json").json) == 2
