"""The tutorials run, print what their pages show, and find what was planted in their made-up data."""

from __future__ import annotations

import runpy
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tutorial_pages import SCRIPTS, Tutorial, shown_as_printed

import sparsedp as sdp


def made_up(name: str) -> dict[str, Any]:
    """The generator of a tutorial's data, and what it planted."""
    return runpy.run_path(str(SCRIPTS / f"{name}.py"))


def test_daily_cases(tmp_path: Path) -> None:
    tutorial = Tutorial("daily_cases")
    printed, out = tutorial.run(tmp_path, "--picture", "cases.png")
    shown_as_printed(tutorial, printed)
    assert "The same numbers, day for day: True" in printed
    assert (tmp_path / "cases.png").read_bytes().startswith(b"\x89PNG")
    cases = made_up("synthetic_cases")["notifications"]().drop_duplicates("patient_id")
    truth = cases["reported"].value_counts().reindex(pd.date_range("2025-09-01", periods=364), fill_value=0).to_numpy()
    daily = sdp.open_release(out / "daily.parquet")
    # Laplace noise of scale 10 on every day, once: neither less nor much more.
    assert 10 < np.std(daily.values - truth) < 19.5
    assert abs(daily.values.sum() - truth.sum()) < 7 * 14.2 * np.sqrt(truth.size)
    ledger = sdp.open_ledger(out / "ledger.db", "influenza notifications")
    assert len(ledger.entries) == 1
    assert str(ledger.remaining) == "ε = 0.9"
    with closing(sqlite3.connect(out / "cases.stream")) as file:
        assert file.execute("select count(*) from counts").fetchone() == (364,)


def test_network_trace(tmp_path: Path) -> None:
    tutorial = Tutorial("network_trace")
    smaller = 'sdp.preview(sdp.Domain.parse(["hour:0..11", "port:0..9"]),'  # of the week itself it takes seconds
    printed, out = tutorial.run(tmp_path, "--picture", "trace.png", cheaper=("sdp.preview(week,", smaller))
    shown_as_printed(tutorial, printed)
    assert (tmp_path / "trace.png").read_bytes().startswith(b"\x89PNG")
    for hour in range(3, 8):
        assert f"2026-03-05T0{hour} h, port 445" in printed
    assert "port 3389" not in printed  # one subscriber's scan is not to be found
    published = sdp.open_release(out / "flows.release.parquet")
    assert published.guarantee.neighbours.contribution == 10
    assert str(published.spent) == "ε = 1"


def test_the_raw_trace_shows_both_events() -> None:
    trace = made_up("synthetic_trace")
    flows, ports, start = trace["flows"](), trace["PORTS"], trace["FIRST_HOUR"]
    hour = ((flows["started"].to_numpy() - start) / np.timedelta64(1, "h")).astype(int)
    table = np.zeros((trace["HOURS"], len(ports)))
    np.add.at(table, (hour, np.searchsorted(ports, flows["port"])), 1)
    namespace: dict[str, Any] = {"np": np}
    source = Tutorial("network_trace").script
    start_of = source.index("def low_rank")
    exec(source[start_of : source.index("\n\n\n", start_of)], namespace)  # noqa: S102  # the script's own function
    surprise = table - namespace["low_rank"](table, 3)
    largest = {tuple(np.unravel_index(cell, table.shape)) for cell in np.argsort(surprise, axis=None)[-17:]}
    worm, scan = (places(trace[event]) for event in ("WORM", "LONE_SCANNER"))
    assert worm <= largest
    assert len(scan & largest) >= 9


def places(event: tuple[int, slice]) -> set[tuple[int, int]]:
    """The cells of a planted event."""
    port, hours = event
    return {(hour, port) for hour in range(hours.start, hours.stop)}


def test_allele_counts(tmp_path: Path) -> None:
    tutorial = Tutorial("allele_counts")
    printed, out = tutorial.run(tmp_path, "--picture", "alleles.png", cheaper=("(16, 128, 1024)", "(16,)"))
    shown_as_printed(tutorial, printed)
    assert (tmp_path / "alleles.png").read_bytes().startswith(b"\x89PNG")
    study = made_up("synthetic_genomes")
    people = study["genotypes"]()
    for site in study["SNPS"]:
        release = sdp.open_release(out / f"{site}.parquet")
        truth = people.groupby(["status", site]).size().to_numpy().reshape(2, 3)
        assert release.stderr is not None
        assert np.abs((release.values - truth) / release.stderr).max() < 6
        assert ("associated" in line_of(printed, site)) >= (site == "rs1004")
    ledger = sdp.open_ledger(out / "ledger.db", "study of 2026")
    assert len(ledger.entries) == len(study["SNPS"])


def test_census(tmp_path: Path) -> None:
    tutorial = Tutorial("census")
    printed, out = tutorial.run(tmp_path, "--picture", "census.png")
    shown_as_printed(tutorial, printed)
    assert (tmp_path / "census.png").read_bytes().startswith(b"\x89PNG")
    made = made_up("synthetic_census")
    people = made["residents"]()
    published = sdp.open_release(out / "census.release.parquet")
    towns = published.marginal("town")
    sizes = people["town"].value_counts()[[town for region in made["REGIONS"].values() for town in region]]
    assert towns.stderr is not None
    assert np.abs((towns.values - sizes.to_numpy()) / towns.stderr).max() < 6
    coast, valley, hills = (int(line_of(printed, f"{region} ")[7:].split("%")[0]) for region in made["REGIONS"])
    assert min(coast, hills) > valley + 5  # what was planted
    assert "age × town" in printed
    assert line_of(printed, "age × town").endswith("noise")
    assert str(sdp.open_ledger(out / "ledger.db", "census").remaining) == "ε = 0.9"


def line_of(printed: str, site: str) -> str:
    return next(line for line in printed.splitlines() if line.startswith(site))
