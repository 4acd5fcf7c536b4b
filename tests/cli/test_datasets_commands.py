"""Real records to try things on."""

from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from cli_terminal import in_own_folder, ok, refused

from sparsedp.datasets.flights import hourly_departures


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)


def test_the_flights_are_all_there() -> None:
    ok("datasets", "export", "flights.parquet")
    table = pq.read_table("flights.parquet")
    assert table.num_rows == 336_776
    assert {"day", "hour", "time_hour", "origin", "carrier", "tailnum", "dep_delay"} <= set(table.column_names)
    departed = table.filter(pc.is_valid(table["dep_delay"]))
    days = departed["day"].to_numpy() - np.datetime64("2013-01-01")
    hours = days.astype(np.int64) * 24 + departed["hour"].to_numpy()
    assert np.array_equal(np.bincount(hours, minlength=8760), hourly_departures())


def test_the_name_of_the_file_is_no_data_sets_name() -> None:
    assert "Wrote f.parquet: every flight" in ok("datasets", "export", "f.parquet").text
    assert pq.read_metadata("f.parquet").num_rows == 336_776
    assert ok("datasets", "export", "-").text.startswith('"day","hour"')


def test_csv_and_names() -> None:
    found = ok("datasets", "export", "all.csv", "--name", "flights", "--json").json
    assert found == {"data_set": "flights", "file": "all.csv", "unit": "tailnum"}
    assert pyarrow.csv.read_csv("all.csv").num_rows == 336_776
    assert [each["name"] for each in ok("datasets", "list", "--json").json] == ["flights"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("f.parquet", "--name", "fligths"), "did you mean 'flights'?"),
        (("flights.json",), "end it in .parquet or .csv"),
        (("no/flights.parquet",), "There is no folder"),
        (("-", "--json"), "only one of the two"),
        (("there.csv", "--name", "flights"), "exists already"),
    ],
)
def test_refusals(arguments: tuple[str, ...], says: str) -> None:
    Path("there.csv").write_text("precious")
    assert says in refused("datasets", "export", *arguments)
    assert [path.name for path in Path().iterdir()] == ["there.csv"]
