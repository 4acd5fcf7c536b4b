"""What is in a file, from the shell."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_terminal import in_own_folder, ok, refused
from daily_visits import daily_visits

import sparsedp as sdp


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)


def test_a_release() -> None:
    path = daily_visits()
    facts = ok("inspect", path, "--json").json
    assert facts["kind"] == "release"
    assert facts["number_of_cells"] == 732
    assert facts["digest"] == sdp.open_release(path).digest
    assert facts["integrity"].startswith("undamaged, not authenticated")
    assert facts["spent"] == {"epsilon": "1000"}
    text = ok("inspect", path).text
    assert "visits.release.parquet is a release." in text
    assert "Differentially private with ε = 1000" in text
    assert ok("inspect", "-", "--json", given=Path(path).read_bytes()).json["digest"] == facts["digest"]


def test_the_groups_that_may_be_asked_for() -> None:
    path = daily_visits()
    groups = {"day.weekday": 7, "day.month_of_year": 12, "day.week": 53, "day.month": 12}
    assert ok("inspect", path, "--json").json["groups"] == groups
    words = "groups: day.weekday 7; day.month_of_year 12; day.week 53; day.month 12"
    assert words in ok("inspect", path).text
    for name, number in groups.items():
        assert len(ok("query", path, "--marginal", name, "--json").json) == number
    sdp.release([[1, 2]], epsilon=1, domain=["x:a,", "y:b,c"]).save("plain.parquet")
    assert ok("inspect", "plain.parquet", "--json").json["groups"] is None
    assert "groups" not in ok("inspect", "plain.parquet").text


def test_a_changed_release_is_not_vouched_for() -> None:
    path = daily_visits()
    table = pq.read_table(path)
    table = table.set_column(2, "count", pa.array([0.0] * table.num_rows))
    pq.write_table(table, path)
    assert "digest" in refused("inspect", path)


def test_a_synopsis_a_stream_a_ledger_and_a_project_file() -> None:
    sdp.Laplace().measure([1, 2, 3], epsilon=1).save("x.synopsis")
    assert ok("inspect", "x.synopsis", "--json").json["number_of_values"] == 3
    sdp.open_stream("x.stream", sdp.ContinualAdaptive(epsilon=1)).close()
    assert ok("inspect", "x.stream", "--json").json["stream"] == "continual_adaptive"
    ok("ledger", "init", "x.db", "--dataset", "visits", "--epsilon", "2")
    assert ok("inspect", "x.db", "--json").json["data_sets"]["visits"]["left"] == "ε = 2"
    assert "visits (total ε = 2" in ok("inspect", "x.db").text
    ok("init")
    assert ok("inspect", "sparsedp.toml", "--json").json["unit"] == "patient_id"


def test_what_is_none_of_ours() -> None:
    pq.write_table(pa.table({"patient": ["a"]}), "records.parquet")
    assert "was not written by sparsedp" in refused("inspect", "records.parquet")
    Path("notes.txt").write_text("hello")
    assert "is no file of sparsedp" in refused("inspect", "notes.txt")
    assert "No such file" in refused("inspect", "missing")
    assert "is a folder" in refused("inspect", ".")
    Path("cut.parquet").write_bytes(b"PAR1" + bytes(100))
    assert "not a readable Parquet file" in refused("inspect", "cut.parquet")
