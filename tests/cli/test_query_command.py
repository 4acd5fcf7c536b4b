"""Questions to a release from the shell."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from cli_terminal import in_own_folder, ok, refused, run
from daily_visits import daily_visits

import sparsedp as sdp


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
    by_sex = ok("query", release, "--marginal", "sex", "--json").json
    assert [row["sex"] for row in by_sex] == ["F", "M"]


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
