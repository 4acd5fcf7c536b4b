"""Publish a year of hourly flight departures at ε = 0.1 with every mechanism; compare with the truth; draw it.

The errors printed here compare with the raw data: an owner may look at them, but they are not private themselves.
"""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

import sparsedp as sdp
from sparsedp.datasets.flights import hourly_departures

EPSILON = "0.1"
PUBLISHED = "adaptive"
OUT = Path("out")
FORTNIGHT = slice(24 * 182, 24 * 196)  # 2 to 15 July: quiet nights, busy days, a holiday


def main() -> None:
    console = Console(width=100 if not Console().is_terminal else None)
    truth = hourly_departures()
    console.print(f"[bold]Flights leaving New York, {truth.size:,} hours of 2013, ε = {EPSILON} for one flight[/bold]")
    ledger = sdp.Ledger(epsilon=1)
    releases = publish_with_every_mechanism(truth, ledger)
    console.print(error_table(truth, releases))
    console.print(f"Spent on these flights so far: {ledger.spent}; left of the ledger's total: {ledger.remaining}.")
    # Which release to publish was settled beforehand: picking the one nearest to the truth would not be private.
    saved = releases[PUBLISHED][0].save(OUT / "hourly-flights.release.parquet")
    published = sdp.open_release(saved)
    console.print(f"{published!r}")
    week = slice(24 * 181, 24 * 188)
    answer, true_answer = published.range_sum(week.start, week.stop), truth[week].sum()
    interval = releases[PUBLISHED][0].interval((week.start, week.stop))
    console.print(
        f"Flights in the first week of July: about {answer:,.0f}, likely {interval.low:,.0f} to {interval.high:,.0f} "
        f"(in truth, for the owner: {true_answer:,})"
    )
    picture = draw(truth, releases, OUT / "flights.png")
    console.print(f"The {PUBLISHED} release is in {saved}; the picture is {picture}.")


def publish_with_every_mechanism(
    truth: npt.NDArray[np.int64], ledger: sdp.Ledger
) -> dict[str, tuple[sdp.Release, float]]:
    mechanisms = {name: mechanism() for name, mechanism in sdp.MECHANISMS.items()}
    mechanisms["hierarchical, by 16"] = sdp.Hierarchical(branching=16)
    mechanisms["compressive, cosine"] = sdp.Compressive(basis="cosine")
    releases = {}
    for name, mechanism in sorted(mechanisms.items()):
        mechanism.release(np.zeros(truth.size, dtype=np.int64), epsilon=1)  # compiles the kernels, once, untimed
        started = time.perf_counter()
        release = mechanism.release(truth, epsilon=EPSILON, ledger=ledger)
        releases[name] = release, time.perf_counter() - started
    return releases


def error_table(truth: npt.NDArray[np.int64], releases: dict[str, tuple[sdp.Release, float]]) -> Table:
    table = Table(title="Errors of one run against the truth (for the owner only: not private)")
    table.add_column("mechanism")
    for heading in ("‖D − D*‖₂", "typical error of a range", "seconds"):
        table.add_column(heading, justify="right")
    zeros = np.zeros(truth.size)
    table.add_row("publish zeros", f"{cell_error(truth, zeros):,.0f}", f"{range_error(truth, zeros):,.0f}", "")
    for name, (release, seconds) in releases.items():
        errors = cell_error(truth, release.values), range_error(truth, release.values)
        table.add_row(name, *(f"{error:,.0f}" for error in errors), f"{seconds:.3f}")
    return table


def cell_error(truth: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> float:
    return float(np.linalg.norm(truth - values))


def range_error(truth: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> float:
    """The root mean square error of the sums over 2,000 random ranges of hours."""
    first, last = np.sort(np.random.default_rng(0).integers(0, truth.size + 1, size=(2000, 2)), axis=1).T
    errors = np.concatenate([[0.0], np.cumsum(values - truth)])
    return float(np.sqrt(np.mean((errors[last] - errors[first]) ** 2)))


def draw(truth: npt.NDArray[np.int64], releases: dict[str, tuple[sdp.Release, float]], path: Path) -> Path:
    """One panel a mechanism, a fortnight of July: the truth as a grey area, the release as a line."""
    figure, axes = plt.subplots(len(releases), 1, figsize=(9, 1.75 * len(releases)), sharex=True, layout="constrained")
    days = np.arange(truth.size)[FORTNIGHT] / 24 - 181 + 1
    for axis, (name, (release, _)) in zip(axes, releases.items(), strict=True):
        axis.fill_between(days, truth[FORTNIGHT], step="mid", color="0.82", label="truth")
        axis.step(days, release.values[FORTNIGHT], where="mid", color="tab:blue", linewidth=1.1, label="published")
        error = cell_error(truth, release.values)
        axis.set_title(f"{name}: ‖D − D*‖₂ = {error:,.0f} over the year", loc="left", fontsize=10)
        axis.axhline(0, color="0.6", linewidth=0.6)
        low, high = np.percentile(release.values[FORTNIGHT], [1, 99])
        axis.set_ylim(min(low, -10) * 1.1, max(high, float(truth.max())) * 1.1)
        axis.set_ylabel("flights an hour")
    axes[0].legend(loc="upper right", ncols=2, fontsize=9)
    axes[-1].set_xlabel("day of July 2013")
    figure.suptitle(
        f"Hourly departures, published once at ε = {EPSILON} for one flight (vertical scales differ)", fontsize=12
    )
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return path


if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    main()
