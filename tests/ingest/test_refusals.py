"""What cannot be counted is refused in one sentence about public facts; nothing of the records is in it."""

import io
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sparsedp.axes import Integers
from sparsedp.axes.domain import Domain
from sparsedp.errors import BadFile, InvalidInput, SparsedpError
from sparsedp.ingest import count

DOMAIN = Domain([Integers("age", 0, 9)])
TABLE = pa.table({"who": [1, 2], "age": [3, 4]})


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"domain": None}, "domain is missing; declare the cells.*never read off the data"),
        ({"domain": "auto"}, "domain is 'auto'; declare the cells.*never read off the data"),
        ({"domain": 5}, "domain is of type int"),
        ({"max_contributions": 0}, "max_contributions is 0"),
        ({"max_contributions": -3}, "max_contributions is -3"),
        ({"max_contributions": 10**9}, "max_contributions is 1000000000"),
        ({"max_contributions": 1.5}, "max_contributions is 1.5"),
        ({"privacy_unit": None, "max_contributions": 2}, "every record is another person"),
        ({"privacy_unit": ""}, "privacy_unit is empty"),
        ({"privacy_unit": []}, "privacy_unit is empty"),
        ({"privacy_unit": 5}, "privacy_unit is of type int"),
        ({"privacy_unit": ["who", None]}, "privacy_unit is of type list"),
        ({"privacy_unit": "whom"}, "column is 'whom', which is not known; did you mean 'who'"),
        ({"columns": {"age": "years"}}, "column is 'years', which is not known"),
        ({"columns": {"height": "age"}}, "'height', which is not known"),
        ({"columns": {"age": 5}}, r"columns\['age'\] is of type int"),
        ({"columns": "age"}, "columns is of type str"),
        ({"key": b"short"}, "key is not 16 bytes"),
        ({"key": 5}, "key is not 16 bytes"),
    ],
)
def test_arguments(given: dict[str, Any], complaint: str) -> None:
    options: dict[str, Any] = {"domain": DOMAIN, "privacy_unit": "who", **given}
    with pytest.raises(InvalidInput, match=complaint):
        count(TABLE, **options)


def test_the_unit_has_to_be_said() -> None:
    with pytest.raises(TypeError, match="privacy_unit"):
        count(TABLE, DOMAIN)  # type: ignore[call-arg]


def test_axes_and_texts_will_do_for_a_domain() -> None:
    expected = count(TABLE, DOMAIN, privacy_unit="who").values.tolist()
    for domain in (Integers("age", 0, 9), [Integers("age", 0, 9)], "age:0..9", ["age:0..9"]):
        assert count(TABLE, domain, privacy_unit="who").values.tolist() == expected


@pytest.mark.parametrize("source", [5, None, [1, 2], {"who": [1]}, b"visits.csv", object])
def test_sources_that_are_none(source: Any) -> None:
    with pytest.raises(InvalidInput, match="source is of type"):
        count(source, DOMAIN, privacy_unit="who")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("missing.parquet", "There is no file"),
        ("missing/", "There is no file"),
        ("*.parquet", "No file matches"),
        ("empty_folder", "has no records in it"),
        ("not.parquet", "is not a Parquet file"),
        ("cut.parquet", "is not a Parquet file"),
        ("zero.parquet", "is not a Parquet file"),
        ("notes.txt", "does not say what it is"),
        ("both", "both Parquet and CSV"),
        ("", "an empty path"),
        ("s3://bucket/visits.parquet", "an address on a network"),
        ("https://example.org/visits.csv", "an address on a network"),
    ],
)
def test_files(name: str, complaint: str, tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "cut.parquet")
    whole = (tmp_path / "cut.parquet").read_bytes()
    (tmp_path / "cut.parquet").unlink()
    (tmp_path / "empty_folder" / "deep").mkdir(parents=True)
    (tmp_path / "both").mkdir()
    (tmp_path / "both" / "a.parquet").write_bytes(whole)
    (tmp_path / "both" / "a.csv").write_text("who,age\n")
    if not name.startswith("*"):
        (tmp_path / "cut.parquet").write_bytes(whole[:-20])
        (tmp_path / "not.parquet").write_text("who,age\n1,2\n")
        (tmp_path / "zero.parquet").write_bytes(b"")
    (tmp_path / "notes.txt").write_text("who,age\n1,2\n")
    source = name if not name or "://" in name else str(tmp_path / name)
    with pytest.raises((BadFile, InvalidInput), match=complaint) as raised:
        count(source, DOMAIN, privacy_unit="who")
    assert raised.value.__context__ is None
    assert str(raised.value).count("; ") <= 2


AS_ANOTHER = """
import os, sys
import sparsedp as sdp
import sparsedp.ingest
if os.geteuid() == 0:
    os.setuid(65534)
try:
    sdp.count(sys.argv[1], sdp.Domain.parse("age:0..9"), privacy_unit="who")
except sdp.BadFile as error:
    print(error)
"""


def test_a_file_that_may_not_be_read() -> None:
    """By whoever runs this; root, who may read everything, becomes somebody else for it."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        path = Path(name) / "a.parquet"
        pq.write_table(TABLE, path)
        path.chmod(0)
        ran = subprocess.run([sys.executable, "-c", AS_ANOTHER, path], capture_output=True, text=True, check=True)
    assert ran.stdout == f"The file {path} may not be read by you; ask its owner, or change its permissions.\n"


def test_files_that_do_not_fit_together(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    pq.write_table(TABLE.rename_columns(["who", "years"]), tmp_path / "b.parquet")
    with pytest.raises(InvalidInput, match=r"column is 'age', which is not known.*b\.parquet are who, years"):
        count(tmp_path, DOMAIN, privacy_unit="who")
    for others in (["1", "2"], [1.0, 2.0]):
        pq.write_table(pa.table({"who": others, "age": [1, 2]}), tmp_path / "b.parquet")
        with pytest.raises(InvalidInput, match=r"column 'who' is .* in one file and .* in another"):
            count(tmp_path, DOMAIN, privacy_unit="who")


def test_a_damaged_parquet_says_nothing_of_its_records(tmp_path: Path) -> None:
    pq.write_table(pa.table({"who": ["secret"] * 5000, "age": range(5000)}), tmp_path / "a.parquet", compression="zstd")
    content = bytearray((tmp_path / "a.parquet").read_bytes())
    content[30 : len(content) // 2] = b"\xaa" * (len(content) // 2 - 30)
    (tmp_path / "a.parquet").write_bytes(content)
    with pytest.raises(BadFile, match="could not be read to the end") as raised:
        count(tmp_path / "a.parquet", DOMAIN, privacy_unit="who")
    assert "secret" not in str(raised.value)
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None


def test_two_columns_of_one_name() -> None:
    twice = pa.table([[1], [2], [3]], names=["who", "age", "age"])
    frame = pd.DataFrame([[1, 2, 3]], columns=["who", "age", "age"])
    for source in (twice, frame):
        with pytest.raises(InvalidInput, match="two columns named 'age'"):
            count(source, DOMAIN, privacy_unit="who")


def test_a_reader_that_fails_is_not_quoted() -> None:
    def batches() -> Any:
        yield TABLE.to_batches()[0]
        raise ValueError("secret patient 17")

    reader = pa.RecordBatchReader.from_batches(TABLE.schema, batches())
    failing = pl.DataFrame({"who": [1], "age": ["secret patient 17"]}).lazy().with_columns(pl.col("age").cast(pl.Int64))
    for source in (reader, failing):
        with pytest.raises(SparsedpError, match="could not be read to the end") as raised:
            count(source, DOMAIN, privacy_unit="who")
        assert "secret" not in str(raised.value)
        assert raised.value.__context__ is None


def test_an_arrow_column_that_points_beyond_its_memory_is_refused() -> None:
    """Arrow does not check what it reads from a file, and would read on in somebody else's memory."""
    sink = io.BytesIO()
    table = pa.table({"region": ["north", "south-east"]})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    ends, beyond = (np.array([0, 5, last], np.int32).tobytes() for last in (15, 2**30))
    assert sink.getvalue().count(ends) == 1
    read = pa.ipc.open_stream(sink.getvalue().replace(ends, beyond)).read_all()
    with pytest.raises(BadFile, match="could not be read to the end"):
        count(read, ["region:north,south"], privacy_unit=None)
    # What is no text is nobody's matter but its own record's.
    odd = pa.array([b"F", b"\xff", b"M"]).view(pa.string())
    assert count(pa.table({"sex": odd}), ["sex:F,M"], privacy_unit=None).values.tolist() == [1, 1]
