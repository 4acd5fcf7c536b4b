"""The same records give the same counts, whatever holds them."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.dataset as pa_dataset
import pyarrow.parquet as pq
import pytest
from slow_count import slow_count

from sparsedp.axes import Calendar, Categories
from sparsedp.axes.domain import Domain
from sparsedp.errors import BadFile, InvalidInput
from sparsedp.ingest import count

KEY = b"sixteen  letters"
DOMAIN = Domain([Calendar("day", "2024-01-01", "1d", 31), Categories("sex", ["F", "M"])])
RNG = np.random.default_rng(11)
ROWS = 3000
TABLE = pa.table(
    {
        "note": [f'line\n"{i}", and more' for i in range(ROWS)],
        "patient": pa.array([None if i % 50 == 0 else int(i) for i in RNG.integers(1, 400, ROWS)], pa.int64()),
        "sex": pa.array([["F", "M", "X", None][i] for i in RNG.integers(0, 4, ROWS)]),
        "day": pa.array(np.datetime64("2023-12-30T00:00:00") + RNG.integers(0, 3_000_000, ROWS), pa.timestamp("us")),
        "amount": RNG.integers(0, 1000, ROWS) / 10,
    }
)
RECORDS = TABLE.select(["patient", "sex", "day"]).to_pylist()
EXPECTED = slow_count(RECORDS, DOMAIN, "patient", 3, KEY)


def counted(source: Any, **options: Any) -> Any:
    return count(source, DOMAIN, privacy_unit="patient", max_contributions=3, key=KEY, **options).values


def parts(rows: int = ROWS, into: int = 3) -> list[pa.Table]:
    return [TABLE.slice(start, rows // into) for start in range(0, rows, rows // into)]


def parquet_file(folder: Path) -> Any:
    pq.write_table(TABLE, folder / "visits.parquet", row_group_size=500)
    return folder / "visits.parquet"


def parquet_folder(folder: Path) -> Any:
    (folder / "deep").mkdir()
    first, second, third = parts()
    pq.write_table(first, folder / "a.parquet")
    # Another order, another width, one column more; a name that DuckDB would take for a pattern.
    narrow = second.select(["amount", "day", "sex", "patient"]).append_column("more", pa.nulls(len(second)))
    pq.write_table(
        narrow.set_column(3, "patient", narrow["patient"].cast(pa.int32())), folder / "deep" / "b[1]*.parquet"
    )
    pq.write_table(third, folder / "c.PARQUET")
    (folder / "_SUCCESS").write_text("not data")
    (folder / "notes.txt").write_text("nor this")
    (folder / ".hidden.parquet").write_text("nor this")
    return str(folder)


def parquet_glob(folder: Path) -> Any:
    parquet_folder(folder)
    return f"{folder}/**/*.[pP]*"


def hive_folder(folder: Path) -> Any:
    """As Spark writes it: the sex is in the names of the folders."""
    pa_dataset.write_dataset(TABLE, folder, format="parquet", partitioning=["sex"], partitioning_flavor="hive")
    return folder


def csv_file(folder: Path) -> Any:
    pa_csv.write_csv(TABLE, folder / "visits.csv")
    return folder / "visits.csv"


def csv_folder(folder: Path) -> Any:
    first, second, third = parts()
    pa_csv.write_csv(first, folder / "a.csv")
    pa_csv.write_csv(second.select(["sex", "day", "note", "patient"]), folder / "b.csv")
    pa_csv.write_csv(third, folder / "c.csv")
    packed = folder / "c.csv.gz"
    packed.write_bytes(gzip.compress((folder / "c.csv").read_bytes()))
    (folder / "c.csv").unlink()
    return folder


def pandas_csv(folder: Path) -> Any:
    """With gaps the patients are floats, and written as such; as text they are still one person each."""
    TABLE.to_pandas().drop(columns="note").to_csv(folder / "visits.csv", index=False)
    return folder / "visits.csv"


def pandas_frame(_: Path) -> Any:
    return TABLE.to_pandas()


def pandas_objects(_: Path) -> Any:
    """Columns of Python objects; a column of dictionaries is nobody's business."""
    frame = TABLE.to_pandas().assign(extra=[{}] * ROWS)
    frame["sex"] = frame["sex"].astype(object)
    frame["day"] = frame["day"].astype(object)
    frame["patient"] = frame["patient"].astype("Int64")
    return frame


def pandas_categories(_: Path) -> Any:
    frame = TABLE.to_pandas()
    return frame.assign(sex=frame["sex"].astype("category"), patient=frame["patient"].astype("Int64"))


def arrow_reader(_: Path) -> Any:
    return pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches(max_chunksize=100))


def arrow_dataset(folder: Path) -> Any:
    return pa_dataset.dataset(parquet_file(folder))


def polars_frame(_: Path) -> Any:
    return pl.from_arrow(TABLE)


def polars_lazy(folder: Path) -> Any:
    return pl.scan_parquet(parquet_file(folder)).filter(pl.col("amount") >= 0)


def record_batch(_: Path) -> Any:
    return TABLE.combine_chunks().to_batches()[0]


class Stream:
    """Any other library's table: it has an Arrow stream, and that is all that is known of it."""

    def __arrow_c_stream__(self, requested: object = None) -> object:
        return TABLE.__arrow_c_stream__(requested)


def other_stream(_: Path) -> Any:
    return Stream()


SOURCES = [
    lambda _: TABLE, parquet_file, parquet_folder, parquet_glob, hive_folder, csv_file, csv_folder, arrow_reader,
    arrow_dataset, polars_frame, polars_lazy, record_batch, other_stream, pandas_objects, pandas_categories,
]  # fmt: skip


@pytest.mark.parametrize("made", SOURCES, ids=lambda made: getattr(made, "__name__", ""))
def test_every_source_gives_the_same_counts(made: Callable[[Path], Any], tmp_path: Path) -> None:
    # Notes have several lines, which CSV has to declare.
    options: Any = {"csv": {"multiline": True}} if made in (csv_file, csv_folder) else {}
    found = counted(made(tmp_path), **options)
    if options:
        # People are text there, and others of their records are kept.
        expected = count(TABLE, DOMAIN, privacy_unit=None).values.tolist()
        assert count(made(tmp_path), DOMAIN, privacy_unit=None, **options).values.tolist() == expected
        assert found.sum() == EXPECTED.sum()
    else:
        assert found.tolist() == EXPECTED.tolist()


@pytest.mark.parametrize("made", [pandas_frame, pandas_csv], ids=lambda made: made.__name__)
def test_gaps_of_pandas_are_nobody(made: Callable[[Path], Any], tmp_path: Path) -> None:
    found = counted(made(tmp_path))
    assert found.sum() == EXPECTED.sum()
    assert (found <= count(TABLE, DOMAIN, privacy_unit=None).values).all()


def test_several_columns_are_one_person_together() -> None:
    table = pa.table({"house": [1, 1, 1, 2, None, 1], "person": ["a", "a", "b", "a", "a", None], "sex": ["F"] * 6})
    domain = Domain([Categories("sex", ["F"])])
    assert count(table, domain, privacy_unit=["house", "person"]).values.tolist() == [3]
    assert count(table, domain, privacy_unit="house").values.tolist() == [2]
    assert count(table, domain, privacy_unit=("person", "house", "person"), max_contributions=9).values.tolist() == [4]


@pytest.mark.parametrize(
    ("people", "different"),
    [
        (["1", "01", "1 ", "1", None], 3),
        (["é", "e\u0301", "x\0y", "x\0z", ""], 5),
        (np.array([0.0, -0.0, np.nan, 1.5, np.inf]), 3),
        (np.array([0, 2**64 - 1, 2**64 - 2, 0], dtype=np.uint64), 3),
        (np.array([2**53, 2**53 + 1, 2**53]), 2),
        (pa.array([1, 2, 1], pa.timestamp("ns", "Europe/Berlin")), 2),
        (pa.array([1, 2, 1], pa.date32()), 2),
        (pa.array([b"\xff", b"\xfe", b"\xff"]), 2),
        (pa.array([True, False, None]), 2),
        (pa.array([100, 10, 100]).cast(pa.decimal128(22, 3)), 2),
    ],
)
def test_people_are_told_apart_by_what_they_are(people: Any, different: int) -> None:
    table = pa.table({"who": people, "sex": ["F"] * len(people)})
    assert count(table, Domain([Categories("sex", ["F"])]), privacy_unit="who").values.tolist() == [different]


def test_names_may_be_anything(tmp_path: Path) -> None:
    names = ['say "hi"; drop table x', "select", "größe 1", "u0", "it's"]
    table = pa.table({name: ["F", "M"] for name in names})
    pq.write_table(table, tmp_path / "a.parquet")
    pa_csv.write_csv(table, tmp_path / "a.csv")
    for source in (table, tmp_path / "a.parquet", tmp_path / "a.csv"):
        for name in names:
            found = count(source, Domain([Categories("x", ["M"])]), privacy_unit=names[0], columns={"x": name})
            assert found.values.tolist() == [1], name
    assert count(table, Domain([Categories("select", ["M", "F"])]), privacy_unit="select").values.tolist() == [1, 1]


def test_capital_letters_are_others(tmp_path: Path) -> None:
    pq.write_table(pa.table({"Age": ["x"], "age": ["y"]}), tmp_path / "a.parquet")
    for name, cell in (("Age", 0), ("age", 1)):
        found = count(tmp_path / "a.parquet", Domain([Categories(name, ["x", "y"])]), privacy_unit=None).values
        assert found.argmax() == cell
    with pytest.raises(InvalidInput, match="capital letters count, and there is 'Age'"):
        count(tmp_path / "a.parquet", Domain([Categories("AGE", ["x"])]), privacy_unit=None)


def test_the_name_of_a_folder_is_a_column(tmp_path: Path) -> None:
    for place, rows in (("a%20b", 2), ("__HIVE_DEFAULT_PARTITION__", 1)):
        (tmp_path / f"place={place}").mkdir()
        pq.write_table(pa.table({"sex": ["F"] * rows}), tmp_path / f"place={place}" / "part.parquet")
    place_axis, sex = Categories("place", ["a b", "c"]), Categories("sex", ["F", "M"])
    assert count(tmp_path, Domain([sex]), privacy_unit=None).values.tolist() == [3, 0]
    assert count(tmp_path, Domain([place_axis]), privacy_unit=None).values.tolist() == [2, 0]
    assert count(tmp_path, Domain([sex, place_axis]), privacy_unit=None).values.tolist() == [[2, 0], [0, 0]]
    assert count(tmp_path, Domain([sex]), privacy_unit="place").values.tolist() == [1, 0]


def test_a_lazy_frame_of_an_old_polars_is_told_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pl, "__version__", "1.34.0")
    with pytest.raises(InvalidInput, match=r"LazyFrame of polars 1\.34\.0; install polars 1\.37 or later, or give"):
        counted(polars_lazy(tmp_path))


def test_an_empty_table_is_all_zeros(tmp_path: Path) -> None:
    empty = TABLE.slice(0, 0)
    pq.write_table(empty, tmp_path / "empty.parquet")
    (tmp_path / "empty.csv").write_text("patient,sex,day")
    frames = [empty.to_pandas(), pl.from_arrow(empty), pl.DataFrame(pl.from_arrow(empty)).lazy()]
    for source in (empty, tmp_path / "empty.parquet", tmp_path / "empty.csv", *frames):
        assert not counted(source).any()


def test_a_parquet_file_whose_columns_have_no_names_in_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "names.parquet"
    pq.write_table(pa.table({"patient": ["a"], "sexsex": ["F"], "day": ["2024-01-01"]}), path)
    path.write_bytes(path.read_bytes().replace(b"sexsex", b"se\xffsex"[:6]))
    with pytest.raises(BadFile, match="not a Parquet file, or is damaged"):
        counted(path)
