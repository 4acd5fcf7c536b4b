"""Records that are not as they were declared: a sentence, or a release of what is left; never a trace."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_terminal import in_own_folder, ok, refused

import sparsedp as sdp

PAID = ("--epsilon", "0.5", "--ledger", "budget.db", "-o", "x.release.parquet")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)
    ok("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "2")


def spent() -> int:
    return len(ok("ledger", "show", "budget.db", "--json").json["data_sets"][0]["spends"])


def write(table: pa.Table, form: str) -> str:
    if form == "parquet":
        pq.write_table(table, "x.parquet")
    else:
        pa.csv.write_csv(table, "x.csv")
    return f"x.{form}"


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_an_empty_table_is_published_as_any_other_if_that_is_declared(form: str) -> None:
    """Whether there are records at all is then nobody's business but the noise's; else it is their owner's."""
    schema = pa.schema([("id", pa.string()), ("sex", pa.string())])
    source = write(schema.empty_table(), form)
    asked = ("release", source, "--by", "sex:F,M", "--unit", "id", "--mechanism", "laplace", *PAID)
    assert "source is without a single row" in refused(*asked)
    assert spent() == 0
    ok(*asked, "--allow-empty")
    # Noise of scale 2: this far off once in e^−25.
    assert all(abs(value) < 50 for value in sdp.open_release("x.release.parquet"))


def test_an_empty_file_names_no_columns() -> None:
    Path("x.csv").write_bytes(b"")
    assert "x.csv" in refused("release", "x.csv", "--by", "sex:F,M", "--unit", "id", *PAID)
    Path("x.parquet").write_bytes(b"")
    assert "x.parquet" in refused("release", "x.parquet", "--by", "sex:F,M", "--unit", "id", *PAID)
    assert spent() == 0


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_records_of_nobody_are_dropped_in_silence(form: str) -> None:
    source = write(pa.table({"id": pa.array(["a", *[None] * 5000]), "sex": ["F"] * 5001}), form)
    ended = ok("release", source, "--by", "sex:F,M", "--unit", "id", "--mechanism", "laplace", *PAID)
    assert abs(sdp.open_release("x.release.parquet").values[0]) < 50
    assert "5000" not in ended.text + ended.errors
    assert "5,000" not in ended.text + ended.errors


@pytest.mark.parametrize(
    ("by", "says"),
    [
        ("at:2024-01-01..2024-01-31/1d@Europe/Berln", "Europe/Berln"),
        ("at:2024-01-01..2024-01-31/1d@+25:00", "+25:00"),
        ("at:2024-01-01..2024-01-31/1d", "timezone"),
    ],
)
def test_a_time_zone_that_does_not_fit(by: str, says: str) -> None:
    """A zone that there is not; and, of records in UTC, a calendar that does not say whose clock it is."""
    instants = pa.array([1704067200000000], pa.timestamp("us", tz="UTC"))
    source = write(pa.table({"id": ["a"], "at": instants}), "parquet")
    sentence = refused("release", source, "--by", by, "--unit", "id", *PAID)
    assert says in sentence.replace("time zone", "timezone")
    assert "1704067200" not in sentence
    assert "2024-01-01 00:00" not in sentence
    assert spent() == 0
    assert not Path("x.release.parquet").exists()


def test_a_zone_that_is_named_is_understood() -> None:
    instants = pa.array([1704065400000000] * 4000, pa.timestamp("us", tz="UTC"))  # 31 December, half past eleven
    source = write(pa.table({"id": [str(one) for one in range(4000)], "at": instants}), "parquet")
    by = "at:2024-01-01..2024-01-02/1d@Europe/Berlin"
    ok("release", source, "--by", by, "--unit", "id", "--mechanism", "laplace", *PAID)
    assert sdp.open_release("x.release.parquet").values[0] > 3900
