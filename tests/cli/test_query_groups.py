"""Groups of cells from the shell: boxes, margins, largest sums, means, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from cli_terminal import in_own_folder, ok, refused

import sparsedp as sdp

RNG = np.random.default_rng(5)
DOMAIN = sdp.Domain(
    [
        sdp.Calendar("t", "2024-01-01", "6h", 4 * 60),
        sdp.Categories("county", {"north": ["a", "b"], "south": ["c"]}, levels=["state"]),
        sdp.Integers("age", 0, 5, bands=[0, 2]),
    ]
)
COUNTS = RNG.integers(50, 90, DOMAIN.shape)
DAYS = COUNTS.reshape(60, 4, 3, 6)
"""1 January 2024 was a Monday."""

NAME = "visits.release.parquet"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)
    sdp.release(COUNTS, epsilon=10_000, domain=DOMAIN, mechanism="laplace").save(NAME)


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        (["t.weekday=Sat"], DAYS[5::7].sum()),
        (["t.weekday=Sat,Sun"], DAYS[5::7].sum() + DAYS[6::7].sum()),
        (["t.weekday=Mon..Fri"], sum(DAYS[day::7].sum() for day in range(5))),
        (["t.weekday=Sat", "t=2024-01"], DAYS[5:31:7].sum()),
        (["t.hour_of_day=6..12"], DAYS[:, 1:3].sum()),
        (["t.hour_of_day=18"], DAYS[:, 3].sum()),
        (["t.month=2024-02"], DAYS[31:].sum()),
        (["t.week=2024-01-08..2024-01-15"], DAYS[7:21].sum()),
        (["t.week=2024-W02..2024-W03"], DAYS[7:21].sum()),
        (["county.state=north", "age.band=2..5"], COUNTS[:, :2, 2:].sum()),
        (["county=north"], COUNTS[:, :2].sum()),
        (["age.band=0..1,2..5"], COUNTS.sum()),
        (["county=c", "county.state=north"], 0),
    ],
    ids=str,
)
def test_boxes(box: list[str], expected: int) -> None:
    options = [part for each in box for part in ("--box", each)]
    found = ok("query", NAME, *options, "--json").json
    assert found["estimate"] == pytest.approx(expected, abs=1)
    assert found["low"] <= found["estimate"] <= found["high"]
    assert ok("query", NAME, *options).text.startswith(", ".join(box))


def test_margins() -> None:
    rows = ok("query", NAME, "--marginal", "t.weekday,county.state", "--json").json
    assert [(row["t.weekday"], row["county.state"]) for row in rows[:3]] == [
        ("Mon", "north"),
        ("Mon", "south"),
        ("Tue", "north"),
    ]
    assert rows[0]["estimate"] == pytest.approx(DAYS[::7, :, :2].sum(), abs=1)
    assert rows[0]["low"] <= rows[0]["estimate"] <= rows[0]["high"]
    months = ok("query", NAME, "--marginal", "t.month", "--marginal", "age.band", "--json").json
    assert [(row["t.month"], row["age.band"]) for row in months[:2]] == [("2024-01", "0..1"), ("2024-01", "2..5")]
    assert "t.weekday" in ok("query", NAME, "--marginal", "t.weekday").text.splitlines()[0]
    assert ok("query", NAME, "--marginal", "t.weekday", "--csv").text.startswith("t.weekday,estimate,low,high,stderr")


def test_the_largest_of_a_margin() -> None:
    weeks = DAYS[:56].reshape(8, -1).sum(axis=1)
    found = ok("query", NAME, "--top", "2", "--marginal", "t.week", "--json").json
    assert len(found) == 2
    assert found[0]["estimate"] == pytest.approx(weeks.max(), abs=1)
    wide = ok("query", NAME, "--top", "2", "--marginal", "t.week", "--simultaneous", "--json").json
    assert wide[0]["low"] <= found[0]["low"]
    assert "ask one" in refused("query", NAME, "--total", "--marginal", "t.week")


def test_along_a_coarsening() -> None:
    shares = ok("query", NAME, "--cdf", "--axis", "t.month", "--json").json
    assert shares[0]["share"] == pytest.approx(DAYS[:31].sum() / DAYS.sum(), abs=1e-3)
    assert "mean of age" in ok("query", NAME, "--mean", "--axis", "age").text
    assert ok("query", NAME, "--median", "--axis", "t.week", "--json").json["estimate"].startswith("2024-0")


def test_sql() -> None:
    sql = "select t_weekday, sum(count) as visits from grouped where county_state = 'north' group by 1 order by 1"
    found = ok("query", NAME, sql, "--json").json
    assert [row["t_weekday"] for row in found] == ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    assert found[5]["visits"] == pytest.approx(DAYS[5::7, :, :2].sum(), abs=1)
    assert ok("query", NAME, sql).text.splitlines()[1].split()[0] == "Mon"
    assert "Mon" in ok("query", NAME, sql, "--csv").text
    assert "whose columns are t, county, age, count" in refused("query", NAME, "select wekday from grouped")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--box", "t.wekday=Sat"], "--box is 't.wekday', which is not known; did you mean 't.weekday'?"),
        (["--box", "t.weekday=Samstag"], "t.weekday is 'Samstag', which is not known;"),
        (["--box", "t.weekday=Fri..Mon"], "--box is 'Fri..Mon' on the axis t.weekday; Fri comes after Mon: turn them"),
        (["--box", "weekday=Sat"], "--box is 'weekday', which is not known;"),
        (["--box", "county.state=nrth"], "county.state is 'nrth', which is not known; did you mean 'north'?"),
        (["--marginal", "t.weekdy"], "--marginal is 't.weekdy', which is not known; did you mean 't.weekday'?"),
        (["--marginal", "t.weekday,t.weekday"], "axes is named twice; name each axis once"),
        (["--mean", "--axis", "t.weekday"], "axis is 't.weekday', whose labels are no numbers; choose one of t, age"),
        (["--mean", "--axis", "t.wekday"], "axis is 't.wekday', which is not known; did you mean 't.weekday'?"),
    ],
    ids=str,
)
def test_refusals(options: list[str], said: str) -> None:
    assert said in refused("query", NAME, *options)
