"""The demo does what the README promises, on the real data."""

import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import sparsedp as sdp
from sparsedp.datasets.flights import HOURS_OF_2013, hourly_departures

EXAMPLES = Path(__file__).parent.parent / "examples"


def run_example(name: str, folder: Path) -> str:
    run = subprocess.run(
        [sys.executable, EXAMPLES / name],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.slow
def test_the_demo_publishes_with_every_mechanism(tmp_path: Path) -> None:
    kept = tmp_path / "out" / "flights.release.parquet"  # what `make demo` wrote is not replaced
    kept.parent.mkdir()
    kept.write_text("of the other demo")
    printed = run_example("publish_flights.py", tmp_path)
    assert kept.read_text() == "of the other demo"
    for name in ("publish zeros", *sdp.MECHANISMS):
        assert name in printed
    releases = len(sdp.MECHANISMS) + 2
    assert f"Spent on these flights so far: ε = {Decimal(releases) / 10}" in printed
    release = sdp.open_release(tmp_path / "out" / "hourly-flights.release.parquet")
    assert release.private
    assert release.spent == sdp.Budget(epsilon="0.1")
    assert len(release) == HOURS_OF_2013
    assert (tmp_path / "out" / "flights.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_stream_demo_publishes_while_the_year_goes_on(tmp_path: Path) -> None:
    printed = run_example("stream_flights.py", tmp_path)
    for moment in ("2013-02-01", "2013-07-04", "2014-01-01"):
        assert moment in printed
    with sdp.open_stream(tmp_path / "out" / "flights.stream") as stream:
        assert stream.ticks == HOURS_OF_2013
        assert stream.private
    release = sdp.open_release(tmp_path / "out" / "flights.stream.parquet")
    assert str(release.times[-1]).startswith("2013-12-31T23")
    assert release.spent == sdp.Budget(epsilon="0.1")
    assert (tmp_path / "out" / "stream.png").read_bytes().startswith(b"\x89PNG")


def test_the_flights_are_the_known_ones() -> None:
    departures = hourly_departures()
    assert departures.shape == (HOURS_OF_2013,)
    assert departures.sum() == 328_521
    assert departures.dtype == np.int64
    assert departures[:5].tolist() == [0, 0, 0, 0, 0]
    assert departures[5] == 6
