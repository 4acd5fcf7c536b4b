"""Streams from the shell: begun once, observed from standard input, published any number of times."""

import json
import sqlite3
from pathlib import Path

import pytest
from cli_terminal import in_own_folder, ok, refused, run

import sparsedp as sdp


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)


def begin(*arguments: str) -> None:
    ok("stream", "init", *arguments, "--no-ledger")


TWO_HOURS = "2026-01-01T00:00,120\n2026-01-01T01:00,98\n"


@pytest.fixture
def stream() -> str:
    begin("visits.stream", "--epsilon", "0.5", "--start", "2026-01-01", "--every", "1h")
    return "visits.stream"


def test_a_stream_is_begun_observed_and_published(stream: str) -> None:
    assert "2 new ticks" in ok("stream", "observe", stream, given=TWO_HOURS).text
    assert ok("stream", "status", stream, "--json").json["next"] == "2026-01-01 02:00"
    ok("stream", "publish", stream, "-o", "hours.parquet")
    release = sdp.open_release("hours.parquet")
    assert len(release) == 2
    assert str(release.spent.epsilon) == "1/2"


@pytest.mark.parametrize(
    "lines",
    [
        TWO_HOURS,
        "time,count\n" + TWO_HOURS,
        "day,count\n" + TWO_HOURS,
        '"Date of visit", "Count"\n' + TWO_HOURS,
        "120\n98\n",
        "count\n120\n98\n\n\n",
        '{"time": "2026-01-01T00:00", "count": 120}\n{"time": "2026-01-01T01:00", "count": 98}\n',
        '{"count": 120}\n{"count": 98}',
    ],
)
def test_every_form_of_lines_is_read(stream: str, lines: str) -> None:
    found = ok("stream", "observe", stream, "--json", given=lines).json
    assert found["new"] == 2
    assert [entry["time"] for entry in found["published"]] == ["2026-01-01 00:00", "2026-01-01 01:00"]
    # Noise of scale 2: this far off once in e^−25.
    assert abs(found["published"][0]["count"] - 120) < 50


def test_a_tick_delivered_again_is_counted_once(stream: str) -> None:
    first = ok("stream", "observe", stream, "--json", given=TWO_HOURS).json
    again = ok("stream", "observe", stream, "--json", given=TWO_HOURS).json
    assert again["new"] == 0
    assert again["published"] == first["published"]


def test_following_answers_each_line_as_it_comes(stream: str) -> None:
    lines = ok("stream", "observe", stream, "--follow", given="120\n98\n").text.splitlines()
    assert [line.split(",")[0] for line in lines] == ["2026-01-01 00:00", "2026-01-01 01:00"]


A_COUNT = "73519"


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        (f"120\n{A_COUNT}.5\n", "line 2 is without a whole number"),
        (f"2026-01-01T00:00,120\n{A_COUNT},1\n", "line 2 is without a time of the schedule"),
        (f"{A_COUNT},2026-01-01T00:00\n", "line 1 is without a time of the schedule"),
        (f"120\n\n{A_COUNT}\n", "line 2 is empty"),
        (f"1,2,{A_COUNT}\n", "line 1 is of more than two fields"),
        (f'{{"visits": {A_COUNT}}}\n', "line 1 is JSON with other fields"),
        (f'{{"count": {A_COUNT}\n', "line 1 is not JSON"),
        ('{"count": ' * 3000, "line 1 is not JSON"),
        (f"120\n2026-01-01T01:00,{A_COUNT}\n", "line 2 is of another form"),
        (f"2026-01-01T00:00,120\n2026-01-01T00:00,{A_COUNT}\n", "line 2 is at the same time"),
        (f"2026-01-01T00:00,120\n2026-01-01T01:00,1\n2026-01-01T00:00,{A_COUNT}\n", "line 3 is earlier"),
        (f"2026-01-01T00:00,1\n2026-03-01T00:00,{A_COUNT}\n", "line 2 is a tick before which 1,415 ticks are missing"),
        (f"2026-01-01T00:00,1\n2026-01-01T02:00,{A_COUNT}\n", "line 2 is a tick before which 1 tick is missing"),
        (f"2026-01-01T00:00,1\n2026-01-01T02:00,{A_COUNT}\n", "or say --fill 1 if nothing happened then"),
        (f"day,visits\n2026-01-01T00:00,{A_COUNT}\n", "line 1 is a heading without `count`"),
        (f"none\n{A_COUNT}\n", "line 1 is a heading without `count`"),
        (f"1\n-{A_COUNT}\n", "line 2 is a count below zero"),
        (f"1\n{A_COUNT}{A_COUNT}{A_COUNT}{A_COUNT}\n", "line 2 is a count too large"),
        (f"\xff{A_COUNT}\n".encode("latin-1"), "line 1 is not text"),
    ],
)
def test_a_bad_line_is_refused_by_its_number_and_nothing_is_taken_in(
    stream: str, lines: str | bytes, what: str
) -> None:
    sentence = refused("stream", "observe", stream, given=lines)
    assert what in sentence
    assert A_COUNT not in sentence
    assert ok("stream", "status", stream, "--json").json["ticks"] == 0


def test_gaps_are_filled_as_far_as_was_said_and_it_is_told(stream: str) -> None:
    lines = "2026-01-01T00:00,1\n2026-01-10T00:00,2\n"
    refused("stream", "observe", stream, "--fill", "200", given=lines)
    found = ok("stream", "observe", stream, "--fill", "215", "--json", given=lines).json
    assert (found["ticks"], found["new"], found["filled"]) == (217, 2, 215)
    said = ok("stream", "observe", stream, "--fill", "4", given="2026-01-10T05:00,2\n").text
    assert "1 new tick, 4 filled with 0; now 222 ticks" in said


def test_following_refuses_a_gap_too(stream: str) -> None:
    ended = run("stream", "observe", stream, "--follow", given="2026-01-01T00:00,1\n2026-01-01T03:00,2\n")
    assert ended.code == 1
    assert "line 2 is a tick before which 2 ticks are missing" in ended.errors
    assert ok("stream", "status", stream, "--json").json["ticks"] == 1


def test_nothing_is_taken_in_beyond_the_horizon() -> None:
    begin("short.stream", "--epsilon", "1", "--kind", "difference", "--horizon", "4")
    assert "after the last tick" in refused("stream", "observe", "short.stream", given="0,1\n1,1\n4,1\n")
    assert "horizon" in refused("stream", "observe", "short.stream", given="1\n" * 5)
    assert ok("stream", "status", "short.stream", "--json").json["ticks"] == 0
    ok("stream", "observe", "short.stream", "--fill", "1", given="0,1\n2,1\n3,1\n")
    assert ok("stream", "status", "short.stream", "--json").json["next"] is None


def test_streams_of_the_other_kinds() -> None:
    begin("totals.stream", "--epsilon", "1", "--kind", "difference", "--horizon", "100")
    assert ok("stream", "observe", "totals.stream", "--json", given="0,5\n1,6\n").json["ticks"] == 2
    begin("small.stream", "--epsilon", "1", "--kind", "compressive", "--horizon", "64")
    found = ok("stream", "observe", "small.stream", "--json", given="5\n6\n").json
    assert [entry["count"] for entry in found["published"]] == [None, None]
    other = ("stream", "init", "x.stream", "--epsilon", "1", "--no-ledger", "--kind")
    assert "needs it" in refused(*other, "difference")
    assert "use difference" in refused(*other, "counter")
    assert "did you mean 'adaptive'" in refused(*other, "adaptiv")
    assert not Path("x.stream").exists()


def test_a_stream_that_exists_is_left_alone_and_nothing_is_spent(stream: str) -> None:
    ok("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "1")
    sentence = refused("stream", "init", stream, "--epsilon", "0.5", "--ledger", "budget.db")
    assert "exists already" in sentence
    assert "--overwrite" not in sentence
    assert ok("ledger", "show", "budget.db", "--json").json["data_sets"][0]["spends"] == []


def test_no_raw_count_can_be_given_as_an_argument(stream: str) -> None:
    assert "unexpected" in refused("stream", "observe", stream, A_COUNT, code=2).lower()


def test_published_as_csv_on_standard_output(stream: str) -> None:
    ok("stream", "observe", stream, given=TWO_HOURS)
    ended = run("stream", "publish", stream, "--recovery", "direct", "--format", "csv", "-o", "-")
    assert ended.text.splitlines()[0].replace('"', "").startswith("tick,time,count")
    assert len(ended.text.splitlines()) == 3


def test_what_is_not_a_stream_is_refused() -> None:
    Path("visits.stream").write_text("no stream")
    assert "stream file" in refused("stream", "observe", "visits.stream", given="1\n")
    for command in ("status", "observe"):
        sentence = refused("stream", command, "missing.stream")
        assert "begin one: `sparsedp stream init missing.stream --epsilon 0.5 --ledger budget.db`" in sentence
    with sqlite3.connect("other.db") as database:
        database.execute("CREATE TABLE cases (patient TEXT)")
    database.close()
    assert "not a sparsedp stream" in refused("stream", "status", "other.db")


def test_json_lines_when_following(stream: str) -> None:
    lines = ok("stream", "observe", stream, "--follow", "--json", given="120\n98\n").text.splitlines()
    assert [json.loads(line)["tick"] for line in lines] == [0, 1]
