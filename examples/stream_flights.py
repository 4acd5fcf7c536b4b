"""Publish the hourly departures of a year while they happen: a durable stream, stopped and resumed on the way.

The errors printed here compare with the raw data: an owner may look at them, but they are not private themselves.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.table import Table

import sparsedp as sdp
from sparsedp.datasets.flights import hourly_departures

EPSILON = "0.1"
OUT = Path("out")
FILE = OUT / "flights.stream"
MOMENTS = ("2013-02-01", "2013-07-04", "2014-01-01")
WINDOW = 24 * 14


def main() -> None:
    OUT.mkdir(exist_ok=True)
    console = Console(width=100 if not Console().is_terminal else None)
    truth = hourly_departures()
    FILE.unlink(missing_ok=True)  # these flights are public; a stream of private counts is begun once, for ever
    sdp.open_stream(FILE, sdp.ContinualAdaptive(epsilon=EPSILON, start="2013-01-01", every="1h")).close()
    table = Table(title="What could be published at each moment (errors for the owner only: not private)")
    for heading in ("until", "hours", "‖D − D*‖₂, noisy hours", "recovered", "flights in the last week", "in truth"):
        table.add_column(heading, justify="left" if heading == "until" else "right")
    releases = []
    for moment in MOMENTS:
        # Opened anew each time, as a new process would: the file goes on where it stopped.
        with sdp.open_stream(FILE) as stream:
            stop = hours_until(moment)
            for first, day in itertools.groupby(range(stream.ticks, stop), key=lambda hour: hour // 24):
                stream.observe_many(truth[list(day)], at=first * 24)
            stream.observe_many(truth[stop - 24 : stop], at=stop - 24)  # a day delivered twice is counted once
            release = stream.release()
            noisy = stream.release("direct")
        released = truth[: len(release)]
        week = release.range_sum(stop - 168, stop)
        errors = (np.linalg.norm(released - published.values) for published in (noisy, release))
        table.add_row(
            moment, f"{stop:,}", *(f"{error:,.0f}" for error in errors), f"{week:,.0f}", f"{released[-168:].sum():,}"
        )
        releases.append(release)
    console.print(table)
    saved = releases[-1].save(OUT / "flights.stream.parquet")
    console.print(f"{releases[-1]!r}")
    picture = draw(truth, releases, OUT / "stream.png")
    console.print(f"Spent on the whole stream: {releases[-1].spent}.")
    console.print(f"The stream is {FILE} (SQLite), its last release {saved}, the picture {picture}.")


def hours_until(moment: str) -> int:
    return int((np.datetime64(moment) - np.datetime64("2013-01-01")) / np.timedelta64(1, "h"))


def draw(truth: np.ndarray, releases: list[sdp.Release], path: Path) -> Path:
    """One panel a moment: its last fortnight, as it could be published then."""
    figure, axes = plt.subplots(len(releases), 1, figsize=(9, 2.1 * len(releases)), layout="constrained")
    for axis, release in zip(axes, releases, strict=True):
        last = slice(len(release) - WINDOW, len(release))
        times = release.times[last]
        axis.fill_between(times, truth[last], step="mid", color="0.82", label="truth")
        axis.step(times, release.values[last], where="mid", color="tab:blue", linewidth=1.1, label="published")
        moment = release.times[-1].astype("datetime64[D]")
        axis.set_title(f"as it could be published at the end of {moment}", loc="left", fontsize=10)
        axis.set_xticks(times[::48], [str(time.astype("datetime64[D]")) for time in times[::48]], fontsize=8)
        axis.set_ylabel("flights an hour")
    axes[0].legend(loc="upper right", ncols=2, fontsize=9)
    figure.suptitle(f"Hourly departures, published while they happen, ε = {EPSILON} for one flight", fontsize=12)
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return path


if __name__ == "__main__":
    main()
